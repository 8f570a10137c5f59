"""Bounds by programs in rational numbers: of any problem, whose formulations' optima are proven one by one.

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
from equimargin.proofs.referee.bounds import Bounds
from equimargin.proofs.referee.evidence import Accuracy, Claim, Evidence, PointProof, Run
from equimargin.proofs.referee.mismatch import claim_of_ray, mismatch
from equimargin.proofs.referee.rays import ray_of
from equimargin.proofs.referee.residuals import own_residual
from equimargin.solvers.backends.solve import Answer


class RationalProgram(Bounds):
    """Bounds of a problem of which nothing but the data is known, by programs in rational numbers.

    Parameters
    ----------
    problem : OwnProblem
        The family's problem, with the true data.
    """

    def __init__(self, problem: OwnProblem) -> None:
        self.problem = problem

    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        """Return the evidence of a backend's answer to a declaration."""
        optimum = self.problem.optimum(answer.declaration.id)
        point = self._proof(optimum.interval, answer.declaration.id)
        point = replace(point, difference=_difference(optimum.exact, self.problem.optimum().exact))
        if point.difference:
            run = replace(run, reason=f"{run.reason}; not equal: its exact optimum differs from the definition's by {point.difference:.1e}")
        claim = self._claim(answer)
        if claim is None:
            return Evidence(run, point=point)
        if optimum.is_known:
            return Evidence(run, claim, point, Accuracy(_distance(claim.value, optimum.interval), 0.0))
        if answer.raw is None:
            return Evidence(run, claim, point)
        return Evidence(run, claim, point, Accuracy(*own_residual(answer.raw.form, answer.raw.x, answer.raw.z)))

    def of_solution(self, run: Run, solution: OwnSolution) -> Evidence:
        """Return the evidence of a specialised solver's solution."""
        if solution.worth is None:
            return Evidence(run)
        proof = self._proof(solution.worth, solution.formulation, solution.rounding)
        return Evidence(run, Claim(solution.value), proof, Accuracy(solution.accuracy * proof.proven.size, 0.0))

    def _proof(self, own: Interval, formulation: str | None, rounding: float = 0.0) -> PointProof:
        """Return the bounds of an answer's own optimum or value, beside those of the definition's.

        formulation : of which the answer gives values, by its id; None where it gives none.  rounding : of the numbers of its point.
        """
        definition = self.problem.optimum().interval
        return PointProof(Point(), definition, definition, own=own, stated_rounding=self.problem.rounding(formulation) + rounding)

    def _claim(self, answer: Answer) -> Claim | None:
        """Return a backend's claim on the optimum, by its values or by a verified ray; None where it makes none."""
        ray = ray_of(answer)
        if ray is not None and ray.proves:
            return replace(claim_of_ray(answer, ray), infeasible=not self.problem.optimum().feasible)
        if answer.reading is None:
            return None
        printed = self.problem.formulations[answer.declaration.id].printed
        return Claim(answer.value, 0.0 if printed is None else mismatch(answer, answer.reading))


def _difference(own: Fraction | None, due: Fraction | None) -> float:
    """Return the difference of two exact optima, rounded up, however little of it the referee minds; 0 where one is not known."""
    return 0.0 if own is None or due is None or own == due else above(abs(own - due))


def _distance(value: float, proven: Interval) -> float:
    """Return the distance of a value from the proven interval of its own problem."""
    return 0.0 if value in (proven.lower, proven.upper) else max(proven.lower - value, value - proven.upper, 0.0)
