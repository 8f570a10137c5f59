"""The specialised solvers by name, and the public `solve`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from equimargin.formulations.declaration import REGISTRY, TOO_LARGE
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.exact_limits import refusal as exact_refusal
from equimargin.solvers.lp.linear_program import entries
from equimargin.solvers.solution import Limits, Solution, checked


@dataclass(frozen=True)
class Solver:
    """A specialised solver: its name, its algorithm, the families it is for, and the module, below `equimargin.solvers`,
    of `refusal` and `_solve`.

    "svr" names all families of that kind. A `reference` is there to be compared with: "auto" never chooses it.
    The module is imported at the first use, so that listing solvers compiles nothing.
    """

    name: str
    module: str
    algorithm: str
    families: tuple[str, ...]
    reference: bool = False

    def takes(self, family: str) -> bool:
        """Whether problems of this family are what the solver is for."""
        return any(f"{family}.".startswith(f"{name}.") for name in self.families)

    def refusal(self, problem: Problem) -> str | None:
        """What the solver lacks for this problem, in a sentence, or None."""
        reason: str | None = self._module.refusal(problem)
        return reason

    @np.errstate(all="ignore")  # a point that overflows is told by its gap and its interval, which count that
    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Solve, whatever `refusal` says."""
        run: Callable[[Problem, Limits, Point | None], Solution] = self._module._solve
        return run(problem, limits, warm_start)

    @property
    def _module(self) -> Any:
        return import_module(f"equimargin.solvers.{self.module}")


NO_BIAS = ("svm.nobias", "svm.nobias_l2", "rank.l1", "rank.l2")
SOLVERS = {
    solver.name: solver
    for solver in (
        Solver(
            "smo",
            "dual.smo",
            "sequential minimal optimisation, second-order working sets: one entry a row, with a bias",
            ("svm.hard", "svm.soft", "svm.l2", "svr"),
        ),
        Solver("coordinate_descent", "dual.coordinate_descent", "dual coordinate descent: any rows without a bias", NO_BIAS),
        Solver(
            "newton",
            "newton.newton",
            "finite Newton method in the features of f, for the squared hinge",
            ("svm.l2", "svm.nobias_l2", "svr.l2", "rank.l2"),
        ),
        Solver(
            "huber",
            "newton.huber",
            "Newton's method on a hinge whose kink is smoothed less and less, in the features of f",
            ("svm.soft", "svm.nobias", "svr.l1", "rank.l1"),
        ),
        Solver(
            "tron",
            "newton.tron",
            "trust-region Newton method as published, for the squared hinge",
            ("svm.nobias_l2", "rank.l2"),
            reference=True,
        ),
        Solver(
            "linear_program", "lp.linear_program", "the dual simplex method of HiGHS on the whole linear program", ("rvm", "rank.onenorm")
        ),
        Solver(
            "column_generation",
            "lp.column_generation",
            "columns by their prices and pairs in groups, for linear programs",
            ("rvm", "rank.onenorm"),
        ),
        Solver("cutting_plane", "dual.cutting_plane", "cutting planes for the 1-slack form, for the hinge", ("rank.l1",)),
        Solver(
            "homotopy",
            "path.homotopy",
            "the whole regularisation path from lambda = infinity down to 1 / C, for the hinge",
            ("svm.soft", "svr.l1", "rank.l1"),
            reference=True,
        ),
    )
}


TALL = ("newton", "huber")
"""The solvers in f, which "auto" asks first where points are many and features are few, or pairs are many."""
MANY_POINTS, POINTS_A_FEATURE, FEW_FEATURES, PAIRS_A_POINT = 1000, 2, 2000, 3
DIRECT = {"points": 60_000, "pairs": 250_000}
"""Up to so many entries "auto" gives HiGHS the whole linear program, where that is faster: columns over pairs are many and much alike."""


def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: Solution | Point | None = None,
    callback: Callable[[int, float, float], Any] | None = None,
    n_jobs: int = 1,
) -> Solution:
    """Solve a problem with a specialised solver.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.  solver : a name of SOLVERS, or "auto": the first that takes the problem and is no reference,
        newton and huber being asked first where points are many and features are few, column_generation where a linear program is large.
    tol : relative gap to reach.  max_iter : of the solver's own iterations; None is its default.  time_limit : seconds.
    warm_start : a solution or point of a like problem to start from.  callback : called with (iterations, lower, upper); true ends the run.
    n_jobs : threads for a large problem, where the solver has any use for them.

    Returns
    -------
    Solution : always a point, a status and a reason, and the interval that the point proves.

    Raises
    ------
    ValueError : an unknown solver, one that does not take the problem (the sentence says what is missing and which would do), a
        tolerance, limit or number of threads that is not positive.
    """
    limits = checked(tol, max_iter, time_limit, callback, n_jobs)
    chosen = _choose(problem, solver)
    start = warm_start.point if isinstance(warm_start, Solution) else warm_start
    return chosen.run(problem, limits, start)


def _choose(problem: Problem, name: str) -> Solver:
    order = [*(SOLVERS[early] for early in _asked_first(problem)), *SOLVERS.values()]
    taking = (solver for solver in order if not solver.reference and solver.refusal(problem) is None)
    if name == "auto":
        chosen = next(taking, None)
        if chosen is None:
            reasons = "; ".join(f"{solver.name}: {solver.refusal(problem) or 'only by its name'}" for solver in SOLVERS.values())
            raise ValueError(f"auto finds no solver for this {problem.family} problem ({reasons}); {_advice(problem)}")
        return chosen
    if name not in SOLVERS:
        raise ValueError(f"unknown solver {name!r}; known: auto, {', '.join(SOLVERS)}")
    reason = SOLVERS[name].refusal(problem)
    if reason:
        raise ValueError(f"{name} does not take this {problem.family} problem: {reason}; {_advice(problem)}")
    return SOLVERS[name]


def _advice(problem: Problem) -> str:
    """What would take a problem: the solvers that do not refuse it, or its declarations, or exact arithmetic; else why nothing does."""
    solvers = [solver.name for solver in SOLVERS.values() if solver.refusal(problem) is None]
    if solvers:
        return f"try {', '.join(solvers)}"
    family = [entry for entry in REGISTRY.values() if entry.family == problem.family and not entry.control]
    refusals = {entry.id: entry.refusal(problem) for entry in family}
    declared = [id for id, reason in refusals.items() if reason is None]
    if declared:
        return f"no specialised solver takes it, but solve_declaration does: declare {' or '.join(declared)}"
    too_large = next((reason for reason in refusals.values() if reason and reason.startswith(TOO_LARGE)), None)
    undeclared = "nothing declares it" if too_large is None else f"it is {too_large}"
    if problem.convex and exact_refusal(problem) is None:
        return f"no specialised solver takes it and {undeclared}, but exact_optimum takes it"
    return f"no specialised solver takes it, and {undeclared}"


def _asked_first(problem: Problem) -> tuple[str, ...]:
    """The solvers that "auto" asks before all others: those for more rows, or more entries, than any solver should visit one by one."""
    if isinstance(problem, OneNormProblem):
        return ("column_generation",) if entries(problem) > DIRECT[problem.over] else ()
    Z = problem.explicit
    few = Z is not None and Z.q <= FEW_FEATURES and Z.m >= max(MANY_POINTS, POINTS_A_FEATURE * Z.q)
    return TALL if few or problem.p >= max(MANY_POINTS, PAIRS_A_POINT * problem.m) else ()
