"""Bounds for families without a canonical point: one rational program per formulation.

The optimum of a formulation is proven from its standard form, without any answer, and is
compared with that of the family's first formulation. A backend's value is compared with
the optimum of its formulation. A specialised solver's value is the objective of its
point, completed to an exactly feasible one.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem.point import Point
from equimargin.proofs.program.proven_optimum import ProvenOptimum, above, optimum, stated_rounding
from equimargin.proofs.program.worth import worth
from equimargin.proofs.referee.bounds import Bounds
from equimargin.proofs.referee.evidence import Claim, Evidence, PointProof, Run, SolveAccuracy
from equimargin.proofs.referee.mismatch import claim_of_ray, mismatch
from equimargin.proofs.referee.rays import extract_ray
from equimargin.proofs.referee.residuals import own_residual
from equimargin.solvers.backends.solve import Answer
from equimargin.solvers.program_solution import ProgramSolution
from equimargin.solvers.solution import Status


class RationalProgram(Bounds):
    """Bounds of the optimum of a user-defined problem, by programs in rational numbers.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family, with the true data.
    """

    def __init__(self, problem: ProgramProblem) -> None:
        self.problem = problem

    @property
    def scale(self) -> float:
        """`ProvenOptimum.size` of the family's first formulation; 1 if not known.

        It is a thousandth of the sum of the absolute terms of the objective at the optimum.
        """
        known = self._known
        return 1.0 if known is None else known.size

    @property
    def constant(self) -> float:
        """Constant part of the first formulation's objective, on the family's scale, or 0."""
        known = self._known
        return 0.0 if known is None else known.constant

    @property
    def doubt(self) -> str:
        """Note that the first formulation's value map computes in floats; otherwise empty."""
        known = self._known
        return "" if known is None else known.doubt

    @property
    def _known(self) -> ProvenOptimum | None:
        try:
            return optimum(self.problem)
        except Exception:
            # A user's function may fail in any way: every answer then reports the error.
            return None

    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        own = optimum(self.problem, answer.declaration.id)
        point = self._proof(own.interval, answer.declaration.id)
        point = replace(point, difference=_difference(own.exact, optimum(self.problem).exact))
        if point.difference:
            run = replace(
                run,
                reason=f"{run.reason}; not equal: its exact optimum differs from that of the "
                f"family's first formulation by {point.difference:.1e}",
            )
        claim = self._claim(answer)
        if claim is None:
            return Evidence(run, point=point)
        accuracy = None
        if own.is_known:
            accuracy = SolveAccuracy(_distance(claim.value, own.interval), 0.0)
        elif answer.raw is not None:
            accuracy = SolveAccuracy(*own_residual(answer.raw.form, answer.raw.x, answer.raw.z))
        return Evidence(run, claim, point, accuracy)

    def of_solution(self, run: Run, solution: ProgramSolution) -> Evidence:
        if solution.status is not Status.OPTIMAL:
            return Evidence(run)
        try:
            value = worth(self.problem, solution)
        except ValueError as wrong:
            return Evidence(replace(run, status=Status.NUMERICAL_FAILURE, reason=str(wrong)))
        proof = self._proof(value.interval, solution.formulation, value.rounding)
        run = replace(run, reason=value.reason)
        return Evidence(
            run,
            Claim(value.interval.upper),
            proof,
            SolveAccuracy(solution.accuracy * proof.proven.size, 0.0),
        )

    def _proof(self, own: Interval, formulation: str | None, rounding: float = 0.0) -> PointProof:
        """Return the bounds of an answer, and those of the family's first formulation.

        Parameters
        ----------
        own : Interval
            Interval of the optimum of the answer's formulation, or of a solver's value.
        formulation : str or None
            Id of the formulation whose variables the answer gives; None if it gives none.
        rounding : float
            Error of the value because the numbers of the point are rounded.
        """
        definition = optimum(self.problem).interval
        return PointProof(
            Point(),
            definition,
            definition,
            own=own,
            stated_rounding=stated_rounding(self.problem, formulation) + rounding,
        )

    def _claim(self, answer: Answer) -> Claim | None:
        """Return the optimum that a backend claims, by a verified ray or values, if any."""
        ray = extract_ray(answer)
        if ray is not None and ray.proves:
            return replace(claim_of_ray(answer, ray), infeasible=not optimum(self.problem).feasible)
        if answer.reading is None:
            return None
        printed = self.problem.formulations[answer.declaration.id].printed
        return Claim(answer.value, 0.0 if printed is None else mismatch(answer, answer.reading))


def _difference(own: Fraction | None, due: Fraction | None) -> float:
    """Return the difference of two exact optima, rounded up; 0 if one is not known.

    Even the smallest difference is returned.
    """
    return 0.0 if own is None or due is None or own == due else above(abs(own - due))


def _distance(value: float, proven: Interval) -> float:
    """Return the distance of a value from the proven interval of its formulation's optimum."""
    return (
        0.0
        if value in (proven.lower, proven.upper)
        else max(proven.lower - value, value - proven.upper, 0.0)
    )
