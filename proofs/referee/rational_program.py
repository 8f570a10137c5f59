"""Bounds of any problem by programs in rational numbers, one per formulation.

A declaration is judged by its own optimum, which is proven from its standard form and
from no answer. The backend's statement is compared with that optimum. A solver's answer
is judged by the objective value of its completed point.
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
    """Bounds of a problem known by its data alone, by programs in rational numbers.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family, with the true data.
    """

    def __init__(self, problem: ProgramProblem) -> None:
        self.problem = problem

    @property
    def scale(self) -> float:
        """Thousandth of the sizes of the definition's terms at its optimum; 1 if not known.

        It is `ProvenOptimum.size`.
        """
        known = self._known
        return 1.0 if known is None else known.size

    @property
    def constant(self) -> float:
        """Constant of the definition, on the family's scale; 0 if not known."""
        known = self._known
        return 0.0 if known is None else known.constant

    @property
    def doubt(self) -> str:
        """Statement that the definition's value map computes in floats; empty if it does not."""
        known = self._known
        return "" if known is None else known.doubt

    @property
    def _known(self) -> ProvenOptimum | None:
        try:
            return optimum(self.problem)
        except Exception:
            # A user's function may fail in any way: every answer then says so.
            return None

    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        """Return the evidence of a backend's answer to a declaration.

        Parameters
        ----------
        run : Run
            Run that gave the answer.
        answer : Answer
            Answer of the backend.
        """
        own = optimum(self.problem, answer.declaration.id)
        point = self._proof(own.interval, answer.declaration.id)
        point = replace(point, difference=_difference(own.exact, optimum(self.problem).exact))
        if point.difference:
            run = replace(
                run,
                reason=f"{run.reason}; not equal: its exact optimum differs from the definition's "
                f"by {point.difference:.1e}",
            )
        claim = self._claim(answer)
        if claim is None:
            return Evidence(run, point=point)
        if own.is_known:
            return Evidence(
                run, claim, point, SolveAccuracy(_distance(claim.value, own.interval), 0.0)
            )
        if answer.raw is None:
            return Evidence(run, claim, point)
        return Evidence(
            run,
            claim,
            point,
            SolveAccuracy(*own_residual(answer.raw.form, answer.raw.x, answer.raw.z)),
        )

    def of_solution(self, run: Run, solution: ProgramSolution) -> Evidence:
        """Return the evidence of a specialised solver's solution.

        Parameters
        ----------
        run : Run
            Run that gave the answer.
        solution : ProgramSolution
            Solution of the solver.
        """
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
        """Return the bounds of an answer's own optimum or value, and those of the definition.

        Parameters
        ----------
        own : Interval
            Interval of the answer's own optimum or value.
        formulation : str or None
            Id of the formulation whose values the answer gives; None if it gives none.
        rounding : float
            Rounding of the numbers of its point.
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
        """Return a backend's claim on the optimum, by its values or a verified ray, or None."""
        ray = extract_ray(answer)
        if ray is not None and ray.proves:
            return replace(claim_of_ray(answer, ray), infeasible=not optimum(self.problem).feasible)
        if answer.reading is None:
            return None
        printed = self.problem.formulations[answer.declaration.id].printed
        return Claim(answer.value, 0.0 if printed is None else mismatch(answer, answer.reading))


def _difference(own: Fraction | None, due: Fraction | None) -> float:
    """Return the difference of two exact optima, rounded up; 0 if one is not known.

    It is returned however small it is.
    """
    return 0.0 if own is None or due is None or own == due else above(abs(own - due))


def _distance(value: float, proven: Interval) -> float:
    """Return the distance of a value from the proven interval of its own problem."""
    return (
        0.0
        if value in (proven.lower, proven.upper)
        else max(proven.lower - value, value - proven.upper, 0.0)
    )
