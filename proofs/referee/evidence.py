"""Evidence of one answer, before the comparison with other answers.

Evidence has four parts: the run that gave the answer, the answer's objective value
(`Claim`), the bounds that its point proves, and its accuracy. All figures are absolute,
in units of the family's objective, unless their docstring says otherwise. Parts that an
answer does not have are None.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers.ray import FarkasRay
from equimargin.solvers.solution import Status

LIBRARIES = {"cvxpy", "hypothesis", "numpy", "scipy", "sklearn"}
"""Folders of libraries whose source lines are not reported for an exception.

The line of the user's function that called the library is more helpful.
"""
Side = Literal["f", "alpha"]
"""Part of a point: the function with its bias, or the multipliers."""


@dataclass(frozen=True)
class Run:
    """Run of a backend or of a specialised solver, with the status that it reported.

    The reported status is no evidence of optimality.
    """

    family: str
    """Id of the family of the requested optimum."""
    formulation: str | None
    """Id of the declared formulation; None for a specialised solver."""
    solver: str
    """Name of the backend or of the solver."""
    control: bool
    """True if the formulation is a negative control, which is not equivalent on purpose.

    The answer then proves no bound and is no disagreement.
    """
    status: Status
    """Status of the run as reported by the solver."""
    reason: str
    """Reported reason of the status, as a sentence."""
    skipped: bool = False
    """True if the run did not take place."""
    raised: str = ""
    """Exception that ended the run, with its source line; empty if none did."""
    compile_seconds: float | None = None
    """Wall seconds of declaring and compiling; None if nothing is compiled."""
    solve_seconds: float | None = None
    """Wall seconds of solving; None if nothing was solved."""
    iterations: int | None = None
    """Iterations as the solver counts them; None if it does not."""
    library: str = ""
    """Name of the library that a specialised solver called, such as that of a backend.

    It is empty if the solver's own code computed the answer.
    """

    @property
    def claims_the_end(self) -> bool:
        """True if a specialised solver reports an optimal or finished run.

        By this status the solver reports its point as optimal.
        """
        return self.formulation is None and self.status in (Status.OPTIMAL, Status.FINISHED)

    @property
    def witness(self) -> str:
        """Name of the code that computed the answer; answers of one code are one source."""
        return self.library or self.solver

    @property
    def name(self) -> str:
        """Name of the run in sentences."""
        return f"{self.formulation or 'solver'} by {self.solver}"


@dataclass(frozen=True)
class Claim:
    """Objective value of an answer as the optimum, and its numerical accuracy."""

    value: float
    """Declared objective on the family's scale; inf or -inf if a verified ray proves it."""
    mismatch: float = 0.0
    """Largest difference between the declared and the published formula at the answer.

    It is the maximum of three differences: |declared - published| objective, and the
    violations of the declared and of the published constraints, times their multipliers.
    """
    cancellation: float = 0.0
    """Rounding error of the quadratic term in `value`."""
    reach: float | None = None
    """Change of the objective up to the end of a verified ray; None if there is no ray."""
    infeasible: bool = False
    """True if the answer proves that no point is feasible."""

    @property
    def of_ray(self) -> bool:
        """True if the value is that of a verified ray."""
        return self.reach is not None


@dataclass(frozen=True)
class PointProof:
    """Bounds of the optimum that the point of an answer proves, whatever its value."""

    supplied: CanonicalPoint = field(repr=False, compare=False)
    """Canonical point of the family's problem: f, b and alpha as the answer supplied them."""
    proven: Interval
    """Interval that the point proves once it is made feasible; rounded outward."""
    inner: Interval
    """Interval of the feasible point, with every rounding counted inward.

    Exact arithmetic would not prove a narrower interval.
    """
    lp_multiplier_side: Side | None = None
    """Part of the point that a linear program's multipliers supply; otherwise None.

    This part is not tested for near-optimality.
    """
    derived_lower: float = -np.inf
    """Lower bound proven by multipliers that equimargin derived from the answer's f.

    -inf if the answer has multipliers, or none could be derived.
    """
    own: Interval | None = None
    """Proven interval of the formulation's own optimum, or of a solver's value.

    It is on the family's scale, and not None only for families without a canonical
    point. `proven` is then the interval of the family's first formulation, and `supplied`
    is empty.
    """
    stated_rounding: float = 0.0
    """Bound on the difference of values that rounded numbers cause.

    These are the numbers of the answer's formulation, of the family's first formulation,
    and of a solver's point.
    """
    difference: float = 0.0
    """Difference of the formulation's exact optimum from that of the family's first one.

    It is 0 if the optima are equal, or one is not known exactly.
    """

    @property
    def has_f(self) -> bool:
        """True if the answer supplied a function."""
        return self.supplied.has_function

    @property
    def has_alpha(self) -> bool:
        """True if the answer supplied multipliers."""
        return self.supplied.has_multipliers

    @property
    def rounding(self) -> float:
        """Largest rounding error in a bound of `proven` whose part of the point is supplied."""
        sides = (
            (self.has_f, self.proven.upper, self.inner.upper),
            (self.has_alpha, self.inner.lower, self.proven.lower),
        )
        return max(
            (
                larger - smaller
                for supplied, larger, smaller in sides
                if supplied and larger > smaller
            ),
            default=0.0,
        )


@dataclass(frozen=True)
class SolveAccuracy:
    """Residuals of a backend or solver in its own problem, recomputed from raw vectors."""

    residual: float | None = np.inf
    """Approximate error of the objective, also after auxiliary variables are eliminated.

    inf if there are no raw vectors. None for a function without multipliers, which has
    no residual: the error of its point relative to the family's interval is used instead.
    """
    normwise: float = np.inf
    """Largest relative residual, also after auxiliary variables are eliminated.

    inf if there are no raw vectors.
    """
    arithmetic: float = 0.0
    """Approximate rounding error of margins in any float64 solver, relative to row targets."""
    blur: float = 0.0
    """Error of the margins of hard rows in the declaration, which are 1, over the optimum.

    0 if no row is hard.
    """


@dataclass(frozen=True)
class Evidence:
    """Evidence of one answer: its run, value, point and accuracy."""

    run: Run
    """Run that gave the answer."""
    claim: Claim | None = None
    """Objective value; None without values of variables and without a verified ray."""
    point: PointProof | None = None
    """Bounds that the point proves; None without a point."""
    accuracy: SolveAccuracy | None = None
    """Residuals; None without values of variables and without a verified ray."""
    ray: FarkasRay | None = None
    """Integers by which a specialised solver proves the hard rows infeasible, unchanged."""

    @property
    def value(self) -> float:
        """Objective value on the family's scale; NaN without one."""
        return float("nan") if self.claim is None else self.claim.value


def worst(*figures: float) -> float:
    """Return the largest of the figures; inf if one is NaN, which `max` may ignore.

    Parameters
    ----------
    *figures : float
        Figures to compare.
    """
    return np.inf if any(np.isnan(figures)) else max(figures)


def skipped(
    family: str, formulation: str | None, solver: str, control: bool, status: Status, reason: str
) -> Evidence:
    """Return the evidence of a run that did not take place, with the reason.

    Parameters
    ----------
    family : str
        Id of the family.
    formulation : str or None
        Id of the declaration; None for a specialised solver.
    solver : str
        Name of the backend or of the solver.
    control : bool
        True if the declaration is wrong on purpose.
    status : Status
        Status of the run.
    reason : str
        Reason of the status, as a sentence.
    """
    return Evidence(Run(family, formulation, solver, control, status, reason, skipped=True))


def failed(
    family: str, formulation: str | None, solver: str, control: bool, failure: Exception
) -> Evidence:
    """Return the evidence of a run that ended in an exception.

    It has neither a value nor a point, and names the exception.

    Parameters
    ----------
    family, formulation, solver, control
        As in `skipped`.
    failure : Exception
        Exception of the run.
    """
    raised = what_was_raised(failure)
    reason = f"stopped by an exception: {raised}"
    return Evidence(
        Run(family, formulation, solver, control, Status.NUMERICAL_FAILURE, reason, raised=raised)
    )


def what_was_raised(failure: Exception) -> str:
    """Return an exception as text, with its file and line.

    The line is the one that raised it, or that called the library that raised it.

    Parameters
    ----------
    failure : Exception
        Exception of the run.
    """
    frames = traceback.extract_tb(failure.__traceback__)
    outside = [frame for frame in frames if not LIBRARIES & set(Path(frame.filename).parts)]
    last = (outside or frames)[-1]
    words = " ".join(f"{type(failure).__name__}: {failure}".split())
    return f"{words[:200]} ({Path(last.filename).name}, line {last.lineno})"
