"""Formulation: a function from data to a cvxpy problem; registry of all formulations."""

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
from equimargin.formulations.programs.standard_form import constraint_names
from equimargin.formulations.registry import Registry


@dataclass(frozen=True, eq=False)
class Formulation:
    """Problem as an equation states it, for all data of its family.

    "Data" are the arguments of its functions: `Symbols` of a canonical problem, a copy
    of the data of any other.

    Attributes
    ----------
    id : str
        Dotted name, unique among the formulations.
    name : str
        Name within the family.
    family : str
        Id of the family whose optimum it has.
    sources : tuple of Source
        Publications of the equation.
    stated : callable
        Map from data to the cvxpy problem.
    latex : str
        Equation in LaTeX.
    carries : {'function', 'multipliers', 'own'}
        "function" if its variables are f, "multipliers" if they are alpha, "own" if
        they are neither.
    control : bool
        True for a misprint or a negative control, whose declared outcome is a
        disagreement; the family's verdict excludes it.
    applies : callable or None
        Map from data to the reason why this formulation cannot declare them, as a
        sentence or refusal, or None.
    in_features : bool
        True if it is in w alone, and needs no Gram matrix if the kernel has explicit
        features.
    value : callable
        Map from a value of its objective, and data, to the value of the family's
        objective; monotone in the value.
    to_canonical : callable or None
        Map from values of its variables, and data, to the family's point: a canonical
        point, or values of the definition's variables by name.
    from_canonical : callable or None
        Inverse map. Variables that the equation defines by others are excluded.
    printed : callable or None
        Map from values of its variables and parameters, and data, to the formula's
        value; None if that is the value of the cvxpy problem.
    reading : Reading
        Interpretation of the floats of the compiled problem.
    edition : int
        Number of registrations of its id. Results of one edition do not hold for the
        next: a notebook cell may have run again.
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
        """Id and edition, the key of stored results."""
        return self.id, self.edition

    @property
    def module(self) -> str:
        """Module of its function, whose import registers it."""
        return self.stated.__module__

    @property
    def unknowns(self) -> str:
        """Name of its kind of variables, equal for all formulations in them."""
        return self.id if self.carries == "own" else self.carries

    @property
    def statement(self) -> str:
        """Equation as text and symbols, from its function's docstring."""
        return cleandoc(self.stated.__doc__ or "")

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return the reason why this formulation cannot declare a problem, or None.

        Parameters
        ----------
        problem : AnyProblem
            Problem of any family.

        Returns
        -------
        Refusal or None
            None if the problem can be declared.
        """
        if problem.family != self.family:
            return Refusal(f"{self.id} declares {self.family}, this problem is {problem.family}")
        undeclarable = (
            problem.undeclarable_in_features if self.in_features else problem.undeclarable
        )
        if undeclarable is not None or self.applies is None:
            return undeclarable
        reason = self.applies(formulation_data(problem))
        return reason if reason is None or isinstance(reason, Refusal) else Refusal(str(reason))

    def make_problem(self, data: Any) -> cp.Problem:
        """Return the cvxpy problem at these data.

        Parameters
        ----------
        data : Symbols or object
            Data of the formulation's function.

        Returns
        -------
        cvxpy.Problem
            Convex problem with named variables, parameters and constraints.

        Raises
        ------
        ValueError
            If the function returns no cvxpy problem, or one that is not convex, has
            integer or complex variables, or two variables, parameters or constraints of
            one name.
        """
        problem = self.stated(data)
        # A user-defined function may return anything; check all that its use requires.
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
            duplicates = {name for name in names if names.count(name) > 1}
            if duplicates:
                raise ValueError(
                    f"{self.id} has two {kind} called {min(duplicates)!r}: give each a unique "
                    f"name, as in cp.Variable(n, name='w')"
                )
        if problem.is_mixed_integer():
            raise ValueError(f"{self.id} has integer variables; only convex problems are supported")
        complex_names = [
            variable.name() for variable in problem.variables() if variable.is_complex()
        ]
        if complex_names:
            raise ValueError(
                f"{self.id} has the complex variable {complex_names[0]!r}: write its real and "
                f"imaginary parts as two variables"
            )
        if not (isinstance(data, Symbols) and data.as_printed) and not problem.is_dcp():
            raise ValueError(
                f"{self.id} is not written by cvxpy's rules of convex programs (DCP), so "
                f"that no optimum can be claimed"
            )
        return problem

    def program(self, data: Any) -> Program:
        """Return the program in rational numbers at these data, with columns by variable.

        cvxpy replaces a variable that has an attribute, such as nonneg=True. An equal
        variable without attributes is then added, and its columns are those of the
        name.

        Parameters
        ----------
        data : object
            Data of the formulation's function.

        Returns
        -------
        Program
            Program in rational numbers.

        Raises
        ------
        ValueError
            As in `make_problem`, or if it is no quadratic, linear or second-order cone
            program.
        """
        problem = self.make_problem(data)
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

        Parameters
        ----------
        problem : AnyProblem
            Problem of the formulation's family.

        Returns
        -------
        Declaration
            Declaration with the problem's data.

        Raises
        ------
        ValueError
            As in `make_problem` and `AnyProblem.admit`.
        """
        problem.admit(self.id)
        data = formulation_data(problem)
        stated, formula = self.make_problem(data), PrintedFormula(self, problem)
        symbols = data if isinstance(data, Symbols) else None

        def recover(declared: Declaration) -> CanonicalPoint:
            if symbols is None or self.to_canonical is None:
                return Point()
            values = DeclarationValues(declared.values, declared.multiplier)
            point: CanonicalPoint = self.to_canonical(
                values, symbols.at_parameters(declared.parameter_values)
            )
            return point

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
    """Published formula of a formulation, with variables of its own.

    Its evaluation therefore changes no declaration.
    """

    def __init__(self, entry: Formulation, problem: AnyProblem) -> None:
        self.entry, self.problem = entry, problem
        self._stated: tuple[Any, cp.Problem] | None = None
        self._evaluating = Lock()

    @property
    def stated(self) -> tuple[Any, cp.Problem]:
        """Data, and the cvxpy problem with the Gram matrix itself."""
        if self._stated is None:
            data = formulation_data(self.problem, as_printed=True)
            self._stated = data, self.entry.make_problem(data)
        return self._stated

    def value_at(self, values: Mapping[str, Any]) -> FormulaValue:
        """Evaluate the formula and its constraints.

        Parameters
        ----------
        values : mapping of str to float or ndarray
            Values of its variables and parameters, by name.

        Returns
        -------
        FormulaValue
            Objective and violations.
        """
        data, problem = self.stated
        if self.entry.printed is not None:
            return self.entry.printed(values, data)
        # The lock: threads share the variables.
        with self._evaluating:
            _assign([*problem.variables(), *problem.parameters()], values)
            violations = map(_violation, problem.constraints)
            return FormulaValue(
                float(problem.objective.expr.value),
                dict(zip(constraint_names(problem), violations, strict=True)),
            )

    def express(self, completed: Any) -> dict[str, Array]:
        """Return values of the variables at a completed canonical point.

        Parameters
        ----------
        completed : CompletedPoint
            Point with its function and multipliers.

        Returns
        -------
        dict of str to ndarray
            Values by name, those of defined variables included.
        """
        if self.entry.from_canonical is None:
            return {}
        data, _ = self.stated
        values = dict(self.entry.from_canonical(completed, data.at_cost(completed.problem.C)))
        with self._evaluating:
            for name, expression in data.definitions.items():
                _assign(expression.variables(), values)
                values[name] = expression.value
        return values


def _violation(constraint: cp.Constraint) -> Any:
    """Return lhs - rhs of lhs <= rhs, and |lhs - rhs| of an equation.

    A strictly satisfied inequality has a negative value.
    """
    return (
        constraint.expr.value
        if isinstance(constraint, cp.constraints.Inequality)
        else constraint.violation()
    )


def _assign(leaves: list[Any], values: Mapping[str, Any]) -> None:
    for leaf in leaves:
        # `leaf.value = ...` would raise for a negative value of a nonneg parameter.
        leaf.save_value(np.asarray(values[leaf.name()], dtype=np.float64))


def formulation_data(problem: AnyProblem, as_printed: bool = False) -> Any:
    """Return the symbols of a canonical problem, or a copy of the data of any other.

    Parameters
    ----------
    problem : AnyProblem
        Any problem.
    as_printed : bool
        True if K of the symbols is the Gram matrix itself.

    Returns
    -------
    Symbols or object
        Data of a formulation's function.
    """
    return (
        Symbols(problem, as_printed)  # type: ignore[arg-type]
        if isinstance(problem, CanonicalProblem)
        else problem.data  # type: ignore[attr-defined]
    )


REGISTRY: Registry[Formulation] = Registry("formulation")
"""All formulations that can be declared, by their ids."""


def declare(id: str, problem: AnyProblem) -> Declaration:
    """Declare a formulation as a cvxpy problem over the data of a problem.

    Parameters
    ----------
    id : str
        Key of REGISTRY.
    problem : AnyProblem
        Problem of the formulation's family.

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
        near = REGISTRY.suggestion(id) or "; `equimargin list` has all of them"
        raise KeyError(f"unknown formulation {id!r}{near}")
    refusal = REGISTRY[id].refusal(problem)
    if refusal is not None:
        raise ValueError(str(refusal))
    return REGISTRY[id].declaration(problem.proven)
