"""Conformance check of solvers."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equimargin.formulations import Interval, MarginProblem, Problem, interval, sigmoid
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem import CanonicalPoint
from equimargin.own.instances import check_own_solver
from equimargin.proofs import Agreement, examine_solution, judge
from equimargin.solvers import SOLVERS, Limits, Refusal, Solution, Solver, Status
from equimargin.solvers.registry import RegisteredSolver, supports_family
from equimargin.testing.conforming import (
    KERNELS,
    conforming,
    declared_answers,
    require,
    solved_answers,
)
from equimargin.testing.families import CANONICAL
from equimargin.testing.problems import sample_problem

TOL = 1e-6
"""Relative width of the proven interval that `check_solver` requires."""
WITHIN = 1.1
"""Maximum ratio of proven width and tolerance: solvers stop by a float64 gap."""
SECONDS_OVER_TIME = 1.0
"""Seconds that a solver may exceed its time limit, in wall time and in CPU time.

A solver fails if both are longer: on a loaded machine the wall time alone is.
"""


@conforming()
def check_solver(solver: str | Solver) -> None:
    """Check a specialised solver on small problems of its families, with three kernels.

    Its interval must be as narrow as requested. It must agree with the declared
    formulations, obey `max_iter`, `time_limit` and a callback that stops it, say why it
    stopped, start from another solution, also one of a larger C, and give a reason if
    it does not support a problem. A function returned without multipliers must be as
    close to the optimum, of which the other answers prove a lower bound. A solver of a
    user-defined family is checked on data of the family's strategy
    (`equimargin.own.instances`).

    Parameters
    ----------
    solver : str or Solver
        Name in SOLVERS, or any `Solver` object, registered or not.

    Raises
    ------
    KeyError
        If the name is unknown.
    AssertionError
        If the check fails; the message describes the fault, the problem and the limits.
    """
    checked = SOLVERS[solver] if isinstance(solver, str) else solver
    if isinstance(checked, RegisteredSolver) and checked.requires.shape is ProgramProblem:
        return check_own_solver(checked)
    families = [family for family in CANONICAL if supports_family(checked, family)]
    unknown = [
        name
        for name in checked.families
        if not any(f"{family}.".startswith(f"{name}.") for family in FAMILIES)
    ]
    near = did_you_mean(unknown[0], list(FAMILIES)) if unknown else ""
    require(
        not unknown,
        f"{checked.name} declares {', '.join(unknown)}, and there is no such family{near}",
    )
    # A solver may support only problems with a row of infinite weight.
    taken = _taken(checked, families) or _taken(checked, families, hard=True)
    require(
        bool(taken),
        f"{checked.name} refuses a problem of every family that it is for "
        f"({', '.join(families) or checked.families})",
    )
    for sample in taken:
        sample.check()
    for family in families:
        _SolverTrial(checked, family, "sigmoid(0.5, -1.0)").claims_nothing_without_convexity()


def _taken(solver: Solver, families: Sequence[str], hard: bool = False) -> list[_SolverTrial]:
    """Return the sample problems of some families that a solver supports.

    With `hard`, the first row has infinite weight if each row has its own weight.
    """
    samples = [
        _SolverTrial(solver, family, kernel, seed, hard)
        for family in CANONICAL
        for seed, kernel in enumerate(KERNELS)
    ]
    return [sample for sample in samples if sample.is_taken() and sample.problem.family in families]


class _SolverTrial:
    """Solver under test on one problem."""

    def __init__(
        self, solver: Solver, family: str, kernel: str, seed: int = 0, hard: bool = False
    ) -> None:
        self.solver, self.name = solver, solver.name
        self.problem = sample_problem(family, KERNELS.get(kernel, sigmoid(0.5, -1.0)), seed)
        self.sample = (
            f"sample_problem({family!r}, {kernel}, "
            f"{seed}){' with its first row hard' if hard else ''}"
        )
        problem = self.problem
        if (
            hard
            and isinstance(problem, MarginProblem)
            and problem.delta is None
            and len(problem.group_costs) == problem.p
        ):
            self.problem = replace(
                problem, weights=np.where(np.arange(problem.p) == 0, np.inf, 1.0)
            )
        self.where = f"{family} with the {self.problem.kernel.name} kernel"
        self.seconds = 0.0
        """Duration of the last run, the smaller of wall and CPU seconds."""

    def is_taken(self) -> bool:
        """Return True if the solver supports the problem; a refusal must be text."""
        refusal = self.solver.refusal(self.problem)
        is_sentence = refusal is None or (
            isinstance(refusal, Refusal) and len(refusal.sentence.split()) > 1
        )
        family = self.problem.family
        require(
            is_sentence,
            f"{self.name} must refuse a problem of {family} with a Refusal in a sentence, "
            f"not with {str(refusal)!r}",
        )
        return refusal is None

    def check(self) -> None:
        """Check all requirements on a supported problem."""
        cold = self.reaches(self.problem, None, "")
        self.agrees(cold)
        self.obeys()
        self.reaches(self.problem, cold.point, ", started from its own solution")
        if not np.isinf(self.problem.C):
            cheaper = self.problem.with_cost(self.problem.C / 20)
            self.reaches(cheaper, cold.point, ", started from the solution of a larger C")

    def require(self, holds: bool, sentence: str, limits: Limits) -> None:
        """Raise AssertionError if a condition does not hold.

        The message ends with the limits of the run and the problem, so that it can be
        run again.
        """
        if not holds:
            raise AssertionError(f"{sentence} ({self._circumstances(limits)})")

    def _circumstances(self, limits: Limits) -> str:
        options = {
            "max_iter": limits.max_iter,
            "time_limit": limits.time_limit,
            "callback": limits.callback and "one that stops",
        }
        named = [
            f"tol={limits.tol:g}",
            *(f"{name}={value}" for name, value in options.items() if value is not None),
        ]
        return f"limits: {', '.join(named)}; problem: {self.sample} of equimargin.testing"

    def run(
        self, problem: Problem, limits: Limits, start: CanonicalPoint | None = None, how: str = ""
    ) -> Solution:
        """Return the solution, which must have a reason and claim nothing unproven.

        It must be a solution of the given problem.
        """
        where, started = self.where + how, _clocks()
        try:
            solution = self.solver.run(problem, limits, start)
        except Exception as failure:
            raised = f"{self.name} raises {type(failure).__name__} on {where}: {failure}"
            raise AssertionError(f"{raised} ({self._circumstances(limits)})") from failure
        self.seconds = float(np.min(_clocks() - started))
        self.require(
            isinstance(solution, Solution),
            f"{self.name} must return a Solution on {where}, not {type(solution).__name__}",
            limits,
        )
        self.require(
            solution.problem is problem,
            f"{self.name} returns the solution of another problem on {where}",
            limits,
        )
        self.require(
            bool(solution.reason.strip()),
            f"{self.name} gives no reason why it stopped on {where}",
            limits,
        )
        width = (
            self.width(solution) if solution.status is Status.OPTIMAL and problem.convex else 0.0
        )
        message = (
            f"{self.name} says optimal on {where}, but proves a relative width of {width:.1e} only"
        )
        self.require(width <= WITHIN * limits.tol, message, limits)
        return solution

    def width(self, found: Solution) -> float:
        """Return the relative width of the interval that a solution proves.

        For a function without multipliers, the other answers prove the lower bound.
        """
        problem, proven = found.problem, interval(found.problem, found.point)
        if found.point.has_multipliers or not problem.convex:
            return proven.relative_width
        others = [*declared_answers(problem), *solved_answers(problem, self.name)]
        lower = judge(problem.family, others, problem.scale).interval.lower
        return Interval(lower, max(proven.upper, lower), proven.scale).relative_width

    def reaches(self, problem: Problem, start: CanonicalPoint | None, how: str) -> Solution:
        """Return the solution at TOL, which must be proven."""
        limits = Limits(TOL)
        solution = self.run(problem, limits, start, how)
        width = self.width(solution)
        ended = solution.status is Status.OPTIMAL or (
            solution.status is Status.FINISHED and not solution.point.has_multipliers
        )
        ended_so = f"status {solution.status}, proven width {width:.1e}: {solution.reason}"
        sentence = f"{self.name} does not reach the optimum of {self.where}{how}: {ended_so}"
        self.require(ended and width <= WITHIN * TOL, sentence, limits)
        return solution

    def agrees(self, found: Solution) -> None:
        """Check that the answer agrees with the declared formulations."""
        problem = found.problem
        answers = [*declared_answers(problem), examine_solution(problem, found)]
        judgement = judge(problem.family, answers, problem.scale, 2 * TOL).judgements[-1]
        figures = f"error of its value {judgement.claim:.1e}, of its point {judgement.off:.1e}"
        agrees = judgement.agreement is Agreement.AGREES
        self.require(
            agrees,
            f"{self.name} {judgement.agreement} on {problem.family} ({figures})",
            Limits(TOL),
        )

    def obeys(self) -> None:
        """Check that one iteration, no time and a stopping callback each end a run."""
        family, limits = self.problem.family, Limits(TOL, max_iter=1)
        single = self.run(self.problem, limits)
        self.require(
            (single.iterations or 0) <= 1,
            f"{self.name} does {single.iterations} iterations on {family} where max_iter is 1",
            limits,
        )
        limits = Limits(TOL, time_limit=1e-6)
        self.run(self.problem, limits)
        late = (
            f"{self.name} goes on for {self.seconds:.1f} s on {family} where time_limit is 1e-6 s"
        )
        advice = (
            f"{SECONDS_OVER_TIME:g} s more is allowed: let it take `limits` after the problem, "
            f"and look at limits.time_limit"
        )
        self.require(self.seconds <= SECONDS_OVER_TIME, f"{late}; {advice}", limits)
        calls: list[tuple[int, float, float, CanonicalPoint]] = []
        limits = Limits(
            TOL,
            callback=lambda *shown: calls.append(shown) or True,  # type: ignore[func-returns-value]
        )
        solution = self.run(self.problem, limits)
        self.require(
            len(calls) == 1,
            f"{self.name} calls a callback that stops it {len(calls)} times on {family}, not once",
            limits,
        )
        self.require(
            solution.status in (Status.CALLBACK, Status.OPTIMAL),
            f"{self.name} has the status {solution.status!r} on {family} where the callback stops "
            f"it, not {Status.CALLBACK!r}",
            limits,
        )
        _, lower, upper, point = calls[0]
        right = lower <= upper * (1 + TOL) + TOL
        self.require(
            right,
            f"{self.name} passes the callback lower {lower} above upper {upper} on {family}",
            limits,
        )
        has_point_type = isinstance(point, type(self.problem.origin))
        self.require(
            has_point_type,
            f"{self.name} passes the callback no point of {family}, but {type(point).__name__}",
            limits,
        )

    def claims_nothing_without_convexity(self) -> None:
        """Check that no optimum is claimed for a nonconvex problem."""
        if (
            isinstance(self.problem, MarginProblem)
            and not np.isinf(self.problem.C)
            and self.is_taken()
        ):
            limits = Limits(TOL, time_limit=5.0)
            claims = self.run(self.problem, limits).status is Status.OPTIMAL
            self.require(
                not claims,
                f"{self.name} claims an optimum of {self.problem.family} with an indefinite kernel",
                limits,
            )


def _clocks() -> Array:
    """Return wall seconds, and CPU seconds of this process and its ended children."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])
