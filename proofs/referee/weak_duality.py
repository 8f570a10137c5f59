"""Bounds by weak duality: a feasible point of a canonical problem proves an interval.

The interval contains the optimum and is computed in float64 with bounded rounding. A
missing part of an answer's point, f or alpha, is derived once from the other part, and
this completed point is used where both parts are needed.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations import REGISTRY
from equimargin.formulations.bounds.complete import CompletedPoint, complete
from equimargin.formulations.bounds.evaluate import relative_rounding_error
from equimargin.formulations.bounds.intervals import inner_interval, interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.proofs.referee.bounds import Bounds
from equimargin.proofs.referee.evidence import (
    Claim,
    Evidence,
    PointProof,
    Run,
    Side,
    SolveAccuracy,
    worst,
)
from equimargin.proofs.referee.mismatch import claim_of_ray, mismatch, spread, worth_of_all
from equimargin.proofs.referee.rays import RAY_TOLERANCE, extract_ray
from equimargin.proofs.referee.residuals import own_residual
from equimargin.solvers.backends.solve import Answer, BackendResult, BackendValues
from equimargin.solvers.solution import Solution

UNREACHABLE_NORM = 1e8
"""|f|^2 times the mean K_ii over the number of rows, without a unit.

If both the proven lower bound and an answer's value are larger in a hard family, the
problem counts as infeasible: its largest margin would be below 1e-4 / sqrt(p).
"""


class WeakDuality(Bounds):
    """Bounds of a canonical problem's optimum, by weak duality.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem of the family, with the true data.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem.proven

    @property
    def scale(self) -> float:
        """Primal objective at f = 0."""
        return self.problem.scale

    # Overflow needs no warning: its inf or NaN counts as inaccurate, or proves nothing.
    @np.errstate(all="ignore")
    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        problem = self.problem
        if answer.raw is None:
            return Evidence(run)
        ray = extract_ray(answer)
        if ray is not None and ray.proves:
            return Evidence(
                run,
                claim_of_ray(answer, ray),
                accuracy=SolveAccuracy(
                    arithmetic=relative_rounding_error(problem), blur=_blur(problem)
                ),
            )
        if answer.reading is None:
            return Evidence(run)
        point = _judged_point(problem, answer.problem, answer.reading.point)
        completed = complete(problem, point)
        accuracy = _accuracy(problem, answer, answer.raw, answer.reading, completed)
        proof = self._proof(point, completed, _lp_multiplier_side(problem, answer))
        # Without multipliers a point at which the value is infinite need not be optimal.
        solved = accuracy.residual is not None and accuracy.normwise <= RAY_TOLERANCE
        missed = answer.value == np.inf and solved
        claim = Claim(
            answer.value,
            mismatch=mismatch(answer, answer.reading),
            cancellation=completed.quadratic_error,
            infeasible=_unreachable(problem, answer.value, proof.proven.lower) or missed,
        )
        return Evidence(run, claim, proof, accuracy)

    @np.errstate(all="ignore")
    def of_solution(self, run: Run, solution: Solution) -> Evidence:
        # The accuracy is the gap of the point, and a point without multipliers has none.
        # Multipliers derived from its f may prove a lower bound of the family's optimum, and
        # never count against the answer.
        problem, point = self.problem, solution.point
        proof = self._proof(point, complete(problem, point))
        proven = proof.proven
        gap = max(proven.upper - proven.lower, 0.0) if proof.has_alpha else None
        # The solver's value is infinite if hard rows are violated by a rounding error; the
        # point made feasible has a finite value.
        value = min(solution.value, proven.upper)
        claim = Claim(
            value,
            cancellation=proven.upper - proof.inner.upper if np.isfinite(proven.upper) else 0.0,
            infeasible=_unreachable(problem, value, proven.lower),
        )
        return Evidence(
            run,
            claim,
            proof,
            SolveAccuracy(gap, 0.0, relative_rounding_error(problem, point.multipliers)),
            solution.ray,
        )

    def _proof(
        self, point: CanonicalPoint, completed: CompletedPoint, side: Side | None = None
    ) -> PointProof:
        """Return the bounds that a point proves; one is by multipliers derived from its f."""
        problem, derived = self.problem, completed.derived
        lower = (
            -np.inf
            if derived is None
            else interval(problem, problem.point(multipliers=derived)).lower
        )
        return PointProof(
            point, interval(problem, point), inner_interval(problem, point), side, lower
        )


def _blur(problem: Problem) -> float:
    """Return the error of the declaration's hard margins at the optimal f, over the optimum v.

    The declaration has L L' in place of K, where L lacks small eigenvalues and is in
    floats. That changes a margin by |a'(K - L L') beta|, where a row a and
    beta = A'alpha have norms of at most sqrt(2) and sqrt(2) 1'alpha, and 1'alpha = 2 v.
    If the change is below 1, feasible hard rows are feasible in the declaration, too;
    otherwise a backend that finds the declaration infeasible may be right.
    """
    if not (isinstance(problem, MarginProblem) and np.isinf(problem.group_costs).any()):
        return 0.0
    return 4.0 * (
        problem.features_error + UNIT * float(np.abs(problem.gram.diagonal).max(initial=0.0))
    )


def _accuracy(
    problem: Problem,
    answer: Answer,
    raw: BackendResult,
    reading: BackendValues,
    completed: CompletedPoint,
) -> SolveAccuracy:
    """Return the residual of the backend's problem, at least that of auxiliary variables.

    Without the backend's multipliers the error of its point takes the residual's place.
    """
    arithmetic = relative_rounding_error(problem, reading.point.multipliers)
    if raw.x is not None and raw.z is None:
        return SolveAccuracy(None, reading.eliminated, arithmetic)
    residual, normwise = own_residual(
        raw.form, raw.x, raw.z, _sizes(problem, answer, raw, reading, completed)
    )
    missed = worth_of_all(reading, reading.eliminated_violations)
    residual = worst(
        residual,
        abs(reading.eliminated_objective - reading.objective),
        missed,
        _unrolled(answer, raw, reading),
    )
    return SolveAccuracy(
        spread(answer, residual),
        max(normwise, reading.eliminated),
        arithmetic,
    )


def _sizes(
    problem: Problem,
    answer: Answer,
    raw: BackendResult,
    reading: BackendValues,
    completed: CompletedPoint,
) -> Array | None:
    """Return the larger of |x_i| in the answer and in the point of the answer's multipliers.

    In a flat direction of the objective x_i may be much smaller than at the optimum.
    """
    declared, alpha = answer.problem, reading.point.multipliers
    # A declaration may have other rows than its answer has multipliers.
    if raw.x is None or (alpha is not None and alpha.shape != (declared.p,)):
        return None
    own = (completed if declared is problem else complete(declared, reading.point)).of_multipliers
    if own is None:
        return None
    sizes, values = np.abs(raw.x), {**reading.values, **answer.declaration.from_canonical(own)}
    for name, columns in raw.columns.items():
        sizes[columns] = np.maximum(sizes[columns], np.abs(np.ravel(values[name], order="F")))
    return sizes


def _unrolled(answer: Answer, raw: BackendResult, reading: BackendValues) -> float:
    """Return the difference of the declared objective and the backend's objective at its x.

    It is inf without an x. cvxpy may replace a term by auxiliary variables: for example
    it adds y with y = R alpha, and minimises 1/2 |y|^2 / C. If 1 / C is large, y can be
    accurate and alpha not, although the equation holds to the backend's last digit.
    """
    if raw.x is None or raw.x.shape != raw.form.q.shape:
        return np.inf
    sign = 1.0 if answer.declaration.objective.NAME == "minimize" else -1.0
    return abs(sign * raw.form.objective(raw.x) - reading.objective)


def _judged_point(problem: Problem, declared: Problem, point: CanonicalPoint) -> CanonicalPoint:
    """Return an answer's point as a point of the family's problem.

    A negative control may be declared for another kind of problem.
    """
    if problem.kind == declared.kind:
        return point
    return problem.point(declared.function(point).beta, point.multipliers)


def _lp_multiplier_side(problem: Problem, answer: Answer) -> Side | None:
    """Return the part of a linear program's point that the declaration's multipliers give.

    The other part is given by the variables of the declaration.
    """
    if problem.kind != "linear":
        return None
    return "f" if REGISTRY[answer.declaration.id].carries == "multipliers" else "alpha"


def _unreachable(problem: Problem, claimed: float, proven: float) -> bool:
    """Return True if value and lower bound of a hard problem make it count as infeasible."""
    if not np.isinf(problem.group_costs).any():
        return False
    return all(
        bound * problem.gram.mean_diagonal >= UNREACHABLE_NORM * problem.p
        for bound in (claimed, proven)
    )
