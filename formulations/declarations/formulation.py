"""A formulation, a function from data to a cvxpy problem, and the registry of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import cleandoc
from threading import Lock
from typing import Any, Literal

import numpy as np

from equimargin.formulations.declarations.declaration import Declaration, FormulaValue, unchanged
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import DeclarationValues, Symbols, cp
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.programs import Program, Reading, compile_program
from equimargin.formulations.registry import Registry


@dataclass(frozen=True, eq=False)
class Formulation:
    """A problem as an equation prints it, for all data of its family.

    "Data" are what its functions take: `Symbols` of a canonical problem, a copy of the data of any other.

    Attributes
    ----------
    id : str
        Dotted name, of no other formulation.
    name : str
        Name within the family.
    family : str
        Id of the family whose optimum it has.
    sources : tuple of Source
        Where it is printed.
    stated : callable
        From data to the cvxpy problem.
    latex : str
        The equation.
    carries : Literal['function', 'multipliers', 'own']
        {"function", "multipliers", "own"} "function" if its variables are an f,
        "multipliers" if they are an alpha, "own" if no other formulation has them.
    control : bool
        True for a misprint or a negative control that is declared to come out as disagreeing;
        it is not counted in the family's verdict.
    applies : callable or None
        From data to a sentence or refusal, where they cannot be declared so, or None.
    in_features : bool
        True if it is in w alone, and needs no Gram matrix where the kernel has explicit
        features.
    value : callable
        From a value of its objective, and data, to the family's scale; monotone in the value.
    to_canonical : callable or None
        From values of its variables, and data, to the family's point: a canonical point, or
        values of the definition's variables by name.
    from_canonical : callable or None
        The inverse map. Unknowns that the equation defines by others are left out.
    printed : callable or None
        From values of its variables and parameters, and data, to the formula's value, where
        that is not the value of the cvxpy problem.
    reading : Reading
        Reading of the floats of the compiled problem.
    edition : int
        Number of times that its id has been entered. Results of one edition do not hold for the
        next, as where a cell of a notebook is run again.
    """

    id: str
    name: str
    family: str
    sources: tuple[Source, ...]
    stated: Callable[[Any], cp.Problem]
    latex: str = ""
    carries: Literal["function", "multipliers", "own"] = "own"
    control: bool = False
    applies: Callable[[Any], str | Refusal | None] | None = None
    in_features: bool = False
    value: Callable[[Any, Any], Any] = unchanged
    to_canonical: Callable[[Any, Any], Any] | None = None
    from_canonical: Callable[[Any, Any], Mapping[str, Any]] | None = None
    printed: Callable[[Mapping[str, Any], Any], FormulaValue] | None = None
    reading: Reading = "fractions"
    edition: int = 1

    @property
    def key(self) -> tuple[str, int]:
        """Its id and its edition, by which results are remembered."""
        return self.id, self.edition

    @property
    def module(self) -> str:
        """The module of its function, which enters it when it is imported."""
        return self.stated.__module__

    @property
    def unknowns(self) -> str:
        """A name that formulations in the same unknowns share."""
        return self.id if self.carries == "own" else self.carries

    @property
    def statement(self) -> str:
        """The equation in words and symbols, as its function states it."""
        return cleandoc(self.stated.__doc__ or "")

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return the reason why this problem cannot be declared so, or None."""
        if problem.family != self.family:
            return Refusal(f"{self.id} declares {self.family}, this problem is {problem.family}")
        undeclarable = (
            problem.undeclarable_in_features if self.in_features else problem.undeclarable
        )
        if undeclarable is not None or self.applies is None:
            return undeclarable
        said = self.applies(formulation_data(problem))
        return said if said is None or isinstance(said, Refusal) else Refusal(str(said))

    def problem_of(self, data: Any) -> cp.Problem:
        """Return the cvxpy problem at these data.

        Raises
        ------
        ValueError
            If the function returns no cvxpy problem, or one that is not convex, has integer or complex variables, or two
            variables, parameters or constraints of one name.
        """
        problem = self.stated(data)
        if not isinstance(problem, cp.Problem):
            raise ValueError(
                f"{self.id} must return a cvxpy.Problem, and returns a {type(problem).__name__}"
            )
        if isinstance(data, Symbols) and data.defining:
            problem = cp.Problem(problem.objective, [*problem.constraints, *data.defining])
        variables, parameters = (
            [leaf.name() for leaf in leaves]
            for leaves in (problem.variables(), problem.parameters())
        )
        for kind, names in (
            ("variables", variables),
            ("parameters", parameters),
            ("unknowns", [*variables, *parameters]),
            ("constraints", constraint_names(problem)),
        ):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(
                    f"{self.id} has two {kind} called {min(twice)!r}: give each a name of "
                    f"its own, as in cp.Variable(n, name='w')"
                )
        if problem.is_mixed_integer():
            raise ValueError(f"{self.id} has integer variables: only convex problems are judged")
        unreal = [variable.name() for variable in problem.variables() if variable.is_complex()]
        if unreal:
            raise ValueError(
                f"{self.id} has the complex variable {unreal[0]!r}: write its real and "
                f"imaginary parts as two variables"
            )
        if not (isinstance(data, Symbols) and data.as_printed) and not problem.is_dcp():
            raise ValueError(
                f"{self.id} is not written by cvxpy's rules of convex programs (DCP), so "
                f"that no optimum can be claimed"
            )
        return problem

    def program(self, data: Any) -> Program:
        """Return the program in rational numbers at these data, in which every variable has columns.

        cvxpy compiles a variable with an attribute, such as nonneg=True, to another one. It is
        then given a copy, which keeps its columns.

        Raises
        ------
        ValueError
            As `problem_of`, or if it is no quadratic, linear or second-order cone program.
        """
        problem = self.problem_of(data)
        program = compile_program(problem, self.reading)
        hidden = [
            variable for variable in problem.variables() if variable.name() not in program.columns
        ]
        if not hidden:
            return program
        copies = [
            (cp.Variable(variable.shape, name=f"copy of {variable.name()}"), variable)
            for variable in hidden
        ]
        program = compile_program(
            cp.Problem(problem.objective, [*problem.constraints, *(a == b for a, b in copies)]),
            self.reading,
        )
        return replace(
            program,
            columns={
                name.removeprefix("copy of "): columns for name, columns in program.columns.items()
            },
        )

    def declaration(self, problem: AnyProblem) -> Declaration:
        """Declare a problem of the family.

        Raises
        ------
        ValueError
            As `problem_of` and `AnyProblem.admit`.
        """
        problem.admit(self.id)
        data = formulation_data(problem)
        stated, formula = self.problem_of(data), PrintedFormula(self, problem)
        symbols = data if isinstance(data, Symbols) else None

        def recover(declared: Declaration) -> CanonicalPoint:
            if symbols is None or self.to_canonical is None:
                return Point()
            values = DeclarationValues(declared.values, declared.multiplier)
            found: CanonicalPoint = self.to_canonical(
                values, symbols.at_parameters(declared.parameter_values)
            )
            return found

        def value(objective: Any, parameters: Mapping[str, Any]) -> Any:
            if symbols is None:
                return float(self.value(objective, data))
            return self.value(objective, symbols.at_parameters(parameters))

        return Declaration(
            problem,
            stated.objective,
            dict(zip(constraint_names(stated), stated.constraints, strict=True)),
            {
                variable.name(): variable
                for variable in sorted(stated.variables(), key=lambda variable: variable.id)
            },
            {parameter.name(): parameter for parameter in stated.parameters()},
            to_canonical=recover,
            from_canonical=formula.express,
            printed=formula.value_at,
            value=unchanged if self.value is unchanged else value,
            id=self.id,
            statement=self.statement,
            cost=None if symbols is None or symbols.cost is None else symbols.cost[1],
        )


class PrintedFormula:
    """A formulation as it is printed, with variables of its own, so that it changes no declaration."""

    def __init__(self, entry: Formulation, problem: AnyProblem) -> None:
        self.entry, self.problem = entry, problem
        self._stated: tuple[Any, cp.Problem] | None = None
        self._evaluating = Lock()

    @property
    def stated(self) -> tuple[Any, cp.Problem]:
        """Data, and the cvxpy problem with the Gram matrix itself."""
        if self._stated is None:
            data = formulation_data(self.problem, as_printed=True)
            self._stated = data, self.entry.problem_of(data)
        return self._stated

    def value_at(self, values: Mapping[str, Any]) -> FormulaValue:
        """Evaluate the formula and its constraints, at values of its variables and parameters."""
        data, problem = self.stated
        if self.entry.printed is not None:
            return self.entry.printed(values, data)
        with self._evaluating:  # threads share the variables
            _assign([*problem.variables(), *problem.parameters()], values)
            violations = map(_violation, problem.constraints)
            return FormulaValue(
                float(problem.objective.expr.value),
                dict(zip(constraint_names(problem), violations, strict=True)),
            )

    def express(self, completed: Any) -> dict[str, Array]:
        """Return values of the variables at a completed canonical point, defined ones included."""
        if self.entry.from_canonical is None:
            return {}
        data, _ = self.stated
        values = dict(self.entry.from_canonical(completed, data.at_cost(completed.problem.C)))
        with self._evaluating:
            for name, expression in data.definitions.items():
                _assign(expression.variables(), values)
                values[name] = expression.value
        return values


def constraint_names(problem: cp.Problem) -> list[str]:
    """Return the labels of a problem's constraints; c and its place for one that has none."""
    return [constraint.label or f"c{i}" for i, constraint in enumerate(problem.constraints)]


def _violation(constraint: cp.Constraint) -> Any:
    """Return lhs - rhs of lhs <= rhs, below 0 where it is met strictly, and |lhs - rhs| of an equation."""
    return (
        constraint.expr.value
        if isinstance(constraint, cp.constraints.Inequality)
        else constraint.violation()
    )


def _assign(leaves: list[Any], values: Mapping[str, Any]) -> None:
    for leaf in leaves:
        leaf.save_value(
            np.asarray(values[leaf.name()], dtype=np.float64)
        )  # as they are: `value` would refuse a negative parameter


def formulation_data(problem: AnyProblem, as_printed: bool = False) -> Any:
    """Return the symbols of a canonical problem, or a copy of the data of any other."""
    return Symbols(problem, as_printed) if isinstance(problem, CanonicalProblem) else problem.data  # type: ignore[arg-type, attr-defined]


REGISTRY: Registry[Formulation] = Registry("formulation")
"""All formulations that can be declared, by their ids."""


def declare(id: str, problem: AnyProblem) -> Declaration:
    """Declare a formulation as a cvxpy problem over the data of a problem.

    Parameters
    ----------
    id : str
        A key of REGISTRY.
    problem : AnyProblem
        A problem of the formulation's family.

    Returns
    -------
    Declaration
        Its attribute `problem` is the cvxpy problem, with its parameters set.

    Raises
    ------
    KeyError
        If the id is unknown.
    ValueError
        If the problem is of another family, not convex, or too large.
    """
    if id not in REGISTRY:
        raise KeyError(f"unknown formulation {id!r}; known: {', '.join(sorted(REGISTRY))}")
    refusal = REGISTRY[id].refusal(problem)
    if refusal is not None:
        raise ValueError(str(refusal))
    return REGISTRY[id].declaration(problem)
