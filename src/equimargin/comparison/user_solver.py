"""Solvers passed to `compare` as objects."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.user_functions import kept_from_quitting
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.solvers import Limits, Solution, Solver


@dataclass(frozen=True, eq=False)
class UserSolver:
    """A solver of the user whose attributes are read once, because properties may fail.

    Attributes
    ----------
    name, algorithm, families, reference, library
        As in `Solver`.
    solver : Solver
        The solver itself.
    """

    name: str
    algorithm: str
    families: tuple[str, ...]
    reference: bool
    library: str
    solver: Solver

    @classmethod
    def of(cls, solver: object) -> UserSolver:
        """Read the attributes of a solver.

        Parameters
        ----------
        solver : object
            What was passed in place of a name.

        Raises
        ------
        ValueError
            If it is no solver, or an attribute cannot be read.
        """
        try:
            with kept_from_quitting():
                if isinstance(solver, Solver):
                    library = str(getattr(solver, "library", ""))
                    return cls(solver.name, solver.algorithm, tuple(solver.families), solver.reference, library, solver)
        except Exception as failure:  # a property of the user's may fail in any way
            kind = type(solver).__name__
            raise ValueError(f"a solver of the class {kind} has an attribute that cannot be read: {what_was_raised(failure)}") from failure
        raise ValueError(f"{format_value(solver)} is no solver: a function is entered by @solver and asked for by its name")

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return what the problem lacks for the solver, or None.

        Parameters
        ----------
        problem : AnyProblem
            Problem of a family.
        """
        return self.solver.refusal(problem)

    def run(self, problem: AnyProblem, limits: Limits, warm_start: object) -> Solution:
        """Solve a problem that is not refused.

        Parameters
        ----------
        problem : AnyProblem
            Problem of a family.
        limits : Limits
            Accuracy and time limit.
        warm_start : object
            Point to start from, or None.
        """
        return self.solver.run(problem, limits, warm_start)
