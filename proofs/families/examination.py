"""How answers to problems of families that somebody brings are examined: by the proven optimum of what each answers to.

A declaration is judged by its own optimum, which is proven from its standard form and from no answer. What a backend states is compared
with that. A solver's answer is judged by what its completed point is worth.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.problem.point import Point
from equimargin.proofs.families.optimum import above
from equimargin.proofs.families.problem import OwnProblem
from equimargin.proofs.families.solution import OwnSolution
from equimargin.proofs.referee.evidence import Accuracy, Claim, Evidence, PointProof, Run
from equimargin.proofs.referee.examination import claim_of_ray, examine, examine_solution, mismatch, run_of
from equimargin.proofs.referee.rays import ray_of
from equimargin.proofs.referee.residuals import own_residual
from equimargin.solvers.backends.solve import Answer


@examine.register
def _examine(problem: OwnProblem, answer: Answer, control: bool = False) -> Evidence:
    run = run_of(problem, answer, control)
    if run.skipped:
        return Evidence(run)
    optimum = problem.optimum(answer.declaration.id)
    point = _proof(problem, optimum.interval, answer.declaration.id)
    point = replace(point, difference=_difference(optimum.exact, problem.optimum().exact))
    if point.difference:
        run = replace(run, reason=f"{run.reason}; not equal: its exact optimum differs from the definition's by {point.difference:.1e}")
    claim = _claim(problem, answer)
    if claim is None:
        return Evidence(run, point=point)
    if optimum.is_known:
        return Evidence(run, claim, point, Accuracy(_distance(claim.value, optimum.interval), 0.0))
    if answer.raw is None:
        return Evidence(run, claim, point)
    return Evidence(run, claim, point, Accuracy(*own_residual(answer.raw.form, answer.raw.x, answer.raw.z)))


@examine_solution.register
def _examine_solution(problem: OwnProblem, solution: OwnSolution) -> Evidence:
    run = Run(
        problem.family,
        None,
        solution.solver,
        False,
        solution.status,
        solution.reason,
        solve_seconds=solution.seconds,
        iterations=solution.iterations,
    )
    if solution.worth is None:
        return Evidence(run)
    proof = _proof(problem, solution.worth, solution.formulation, solution.rounding)
    return Evidence(run, Claim(solution.value), proof, Accuracy(solution.accuracy * proof.proven.size, 0.0))


def _difference(own: Fraction | None, due: Fraction | None) -> float:
    """Return the difference of two exact optima, rounded up, however little of it the referee minds; 0 where one is not known."""
    return 0.0 if own is None or due is None or own == due else above(abs(own - due))


def _proof(problem: OwnProblem, own: Interval, formulation: str | None, rounding: float = 0.0) -> PointProof:
    """What is proven of an answer's own optimum or value, beside what is proven of the definition's.

    formulation : of which the answer gives values, by its id; None where it gives none.  rounding : of the numbers of its point.
    """
    definition = problem.optimum().interval
    return PointProof(Point(), definition, definition, own=own, stated_rounding=problem.rounding(formulation) + rounding)


def _claim(problem: OwnProblem, answer: Answer) -> Claim | None:
    """What a backend says of the optimum: by its values, or by a ray that proves what it says; None where it says nothing."""
    ray = ray_of(answer)
    if ray is not None and ray.proves:
        return replace(claim_of_ray(answer, ray), infeasible=not problem.optimum().feasible)
    if answer.reading is None:
        return None
    printed = problem.formulations[answer.declaration.id].printed
    return Claim(answer.value, 0.0 if printed is None else mismatch(answer, answer.reading))


def _distance(value: float, proven: Interval) -> float:
    """How far a value is from what is proven of its own problem."""
    return 0.0 if value in (proven.lower, proven.upper) else max(proven.lower - value, value - proven.upper, 0.0)
