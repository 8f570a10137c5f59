"""A formulation that somebody brings: a function from data to a cvxpy problem, and what else is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.declaration import Declaration, Formulation, Printed
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.reading import Reading
from equimargin.solvers.backends.stated_program import program_of


def unchanged(value: Any, data: Any) -> Any:
    """The value map of a formulation whose objective is the family's."""
    return value


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnFormulation(Formulation):
    """A formulation of a family that somebody brings; the first of a family is its definition.

    stated : from data to the cvxpy problem.  value : from a value of its objective, and data, to the family's scale; monotone in the value.
    reading : how the floats of the compiled program are read.
    recover : from the values of its variables, by name, and data to values of variables of the definition.  express : the way back.
    printed : from the values of its variables, and data, to the printed formula in numpy.
    prove : from data and seconds to a proven interval of the definition's optimum, on the
        family's scale and for every reading of the floats; or to None, where rational
        arithmetic proves the optimum. An error of this function is an error of the proof.
    edition : how often its id has been entered: what is known of one edition is not true of the next, as of a cell that is run again.
    """

    stated: Callable[[Any], Any]
    value: Callable[[Any, Any], Any] = unchanged
    reading: Reading = "fractions"
    recover: Callable[[Mapping[str, Any], Any], Mapping[str, Any]] | None = None
    express: Callable[[Mapping[str, Any], Any], Mapping[str, Any]] | None = None
    printed: Callable[[Mapping[str, Any], Any], Printed] | None = None
    prove: Callable[[Any, float], Interval | None] | None = None
    edition: int = 1

    @property
    def name(self) -> str:
        """Its name within the family."""
        return self.id.removeprefix(f"{self.family}.")

    @property
    def key(self) -> tuple[str, int]:
        """What it is remembered by."""
        return self.id, self.edition

    def problem_of(self, data: Any) -> Any:
        """The cvxpy problem at these data.

        Raises
        ------
        ValueError : what is no cvxpy problem, or one that is not convex, with integers or complex variables, or with two variables of one
            name.
        """
        import cvxpy as cp

        problem = self.stated(data)
        if not isinstance(problem, cp.Problem):
            raise ValueError(f"{self.id} must return a cvxpy.Problem, and returns a {type(problem).__name__}")
        names = [variable.name() for variable in problem.variables()]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"{self.id} has two variables called {min(twice)!r}: give each a name of its own, cp.Variable(n, name='w')")
        if problem.is_mixed_integer():
            raise ValueError(f"{self.id} has integer variables: only convex problems are judged")
        unreal = [variable.name() for variable in problem.variables() if variable.is_complex()]
        if unreal:
            raise ValueError(f"{self.id} has the complex variable {unreal[0]!r}: write its real and imaginary parts as two variables")
        if not problem.is_dcp():
            raise ValueError(f"{self.id} is not written by cvxpy's rules of convex programs (DCP), so that no optimum can be claimed")
        return problem

    def declaration(self, problem: Any) -> Declaration:
        """The declaration at the data of an own problem.

        Raises
        ------
        ValueError : what is no convex quadratic, linear or second-order cone program.
        """
        problem.program(self.id)
        stated = self.problem_of(problem.data)
        return Declaration(
            problem,
            stated.objective,
            {f"c{i}": constraint for i, constraint in enumerate(stated.constraints)},
            {variable.name(): variable for variable in stated.variables()},
            {},
            recover=lambda declared: Point(),
            express=lambda completed: {},
            printed=lambda values: Printed(float("nan")) if self.printed is None else self.printed(values, problem.data),
            value=lambda objective, parameters: float(self.value(objective, problem.data)),
        )

    def program(self, data: Any) -> Program:
        """The problem as a program in rational numbers, in which every variable has columns.

        cvxpy compiles a variable with an attribute, such as nonneg=True, to another one. It is then given a copy, which keeps its columns.
        """
        import cvxpy as cp

        problem = self.problem_of(data)
        program = program_of(problem, self.reading)
        hidden = [variable for variable in problem.variables() if variable.name() not in program.columns]
        if not hidden:
            return program
        copies = [(cp.Variable(variable.shape, name=f"copy of {variable.name()}"), variable) for variable in hidden]
        program = program_of(cp.Problem(problem.objective, [*problem.constraints, *(a == b for a, b in copies)]), self.reading)
        columns = {name.removeprefix("copy of "): columns for name, columns in program.columns.items()}
        return Program(**{**vars(program), "columns": columns})


def refusal_of_data(function: Callable[[Any], Any] | None) -> Callable[[AnyProblem], Any]:
    """The refusal of an own problem by what a user wrote: a function from data to a sentence, or None."""
    from equimargin.formulations.refusal import Refusal

    def refusal(problem: Any) -> Refusal | None:
        said = None if function is None else function(problem.data)
        return said if said is None or isinstance(said, Refusal) else Refusal(str(said))

    return refusal
