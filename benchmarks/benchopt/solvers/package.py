"""Packages of the leaderboard by name; their options are in `trust/packages.toml`."""

from benchmark_utils import fits, runs
from benchopt import BaseSolver

PACKAGES = {package.name: package for package in runs.packages()}
LOOSEST = 0.1
"""First tolerance that a package gets.

benchopt begins with a tolerance of 3e38, and goes on with 1.
"""


class Solver(BaseSolver):
    """Package at the tolerances of benchopt, each in the package's own measure."""

    name = "package"
    requirements = tuple(
        f"pip::{name}" for name in dict.fromkeys(package.package for package in PACKAGES.values())
    )
    parameters = {"package": list(PACKAGES)}  # noqa: RUF012 - benchopt wants plain containers
    sampling_strategy = "tolerance"

    def skip(self, X, y, C, gamma, problem):
        """Return True, with the reason, if a package is missing or does not take the problem."""
        package = PACKAGES[self.package]
        if not package.present:
            return True, f"{package.package} is not installed"
        refused = problem not in package.problems
        return refused, f"{self.package} does not take it" if refused else None

    def set_objective(self, X, y, C, gamma, problem):
        """Set the problem to solve."""
        self.given = {"X": X, "y": y, "C": C, "loss": problem.split()[1], "gamma": gamma}
        self.options = PACKAGES[self.package].problems[problem]

    def warm_up(self):
        """Fit once outside of the clock, so that no kernel is compiled on it."""
        self.run(1.0)

    def run(self, tolerance):
        """Fit."""
        task = fits.Task(**self.given, tol=LOOSEST * min(tolerance, 1.0), options=self.options)
        self.fit = fits.FITS[PACKAGES[self.package].fit](task)
        self.raw = self.fit.run()

    def get_result(self):
        """Return the model, without regard to the status that its package reports."""
        model = self.fit.read(self.raw, "", False)
        return {"w": model.w, "beta": model.beta, "b": model.b}
