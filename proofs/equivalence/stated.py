"""Declared problem with given data: its program in rationals, optimum, and value map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from inspect import signature
from math import inf, isinf, isnan, nan
from typing import Any

import numpy as np

from equimargin.formulations.declarations.declaration import unchanged
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import REGISTRY, Formulation, formulation_data
from equimargin.formulations.declarations.symbols import Symbols
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.programs import Program, Reading, compile_program, read
from equimargin.proofs.equivalence.steps.form import Form, make_form, rational
from equimargin.proofs.equivalence.steps.moves import ObjectiveMap
from equimargin.proofs.equivalence.values_read import values_read
from equimargin.proofs.program.rounding import image_of_move, moved_by_rounding
from equimargin.solvers.exact.program import (
    Infeasible,
    Optimum,
    Outcome,
    UnboundedProgram,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock

Statement = str | Formulation | Callable[..., Any]
"""Declaration: a formulation, its id, or a function with data or no parameters.

A function returns a cvxpy problem, or a pair of a problem and its value map.
"""
SECONDS = 20.0
"""Time limit of one exact optimum, in seconds.

Instances are small, and one that takes longer counts as undecided.
"""


class NoProblem(TypeError):
    """A function of data returned something other than a cvxpy problem."""


class RefusalError(ValueError):
    """A formulation cannot be declared for the given data; the message has the reason."""


@dataclass(frozen=True, eq=False)
class StatedProgram:
    """cvxpy problem with given data.

    Attributes
    ----------
    problem : cvxpy.Problem
        Problem.
    value : callable or None
        Value map, from the optimum to the number that is compared; None for the identity.
    reading : Reading
        Interpretation of the floats.
    clock : Clock
        Time limit.
    values_read : frozenset of str
        Names of parameters whose values were read while the problem was built.
    """

    problem: Any
    value: Callable[[Any], Any] | None
    reading: Reading
    clock: Clock
    values_read: frozenset[str] = frozenset()

    @cached_property
    def program(self) -> Program:
        """Program in rationals; ValueError if the problem is no such program."""
        return compile_program(self.problem, self.reading)

    @cached_property
    def form(self) -> Form:
        """Program as a `Form`; ValueError if it has second-order cones."""
        return make_form(self.program)

    @cached_property
    def outcome(self) -> Outcome:
        """Exact optimum, exact ray, or the reason why neither is known."""
        self.clock.ask("an exact optimum")
        return program_optimum(self.program, min(SECONDS, self.clock.left))

    @cached_property
    def optimum(self) -> Fraction | float:
        """Exact optimum after the value map, or an infinity that an exact ray proves.

        Raises
        ------
        ValueError
            If nothing is proven; the message has the reason.
        """
        outcome = self.outcome
        if isinstance(outcome, Optimum):
            return self.mapped(self.program.stated(outcome.value))
        if isinstance(outcome, Infeasible | UnboundedProgram):
            worst = inf if isinstance(outcome, Infeasible) else -inf
            return self.mapped(-worst if self.program.maximised else worst)
        raise ValueError(outcome.reason)

    def mapped(self, v: Any) -> Fraction | float:
        """Return the image of a value under the value map.

        Parameters
        ----------
        v : Fraction or float
            Value.

        Raises
        ------
        ValueError
            If the result is no number.
        """
        if self.value is None:
            return v if isinstance(v, float) else Fraction(v)
        try:
            with kept_from_quitting():
                image = self.value(v)
        except Exception as reason:
            # A user-defined map may raise any exception.
            raise ValueError(f"the value map fails for {v}: {reason}") from None
        if isinstance(image, Fraction | int):
            return Fraction(image)
        try:
            number = float(image)
        except (TypeError, ValueError):
            number = nan
        if isnan(number):
            raise ValueError(f"the value map returns no number for {v}")
        return number if isinf(number) else Fraction(number)

    @cached_property
    def rounding(self) -> float:
        """Bound on the change of the mapped optimum by roundings of the program's numbers.

        It is 0 if the optimum is infinite or not known.
        """
        if not isinstance(self.outcome, Optimum):
            return 0.0
        moved = moved_by_rounding(self.program, self.outcome.x, self.outcome.y, self.outcome.z)
        return image_of_move(self.mapped, self.program.stated(self.outcome.value), moved)

    @cached_property
    def affine(self) -> tuple[Fraction, Fraction] | None:
        """Slope and offset of the value map; None if it is not affine, or computes in floats.

        They are computed from its results at v, v + 1 and v + 2: v is the optimum, or 1.
        """
        if self.value is None:
            return Fraction(1), Fraction(0)
        optimum = (
            self.program.stated(self.outcome.value)
            if isinstance(self.outcome, Optimum)
            else Fraction(1)
        )
        try:
            with kept_from_quitting():
                first, second, third = (self.value(optimum + k) for k in range(3))
        except Exception:
            # A user-defined map may raise any exception.
            return None
        if (
            not all(isinstance(v, Fraction) for v in (first, second, third))
            or third - second != second - first
            or first == second
        ):
            return None
        return second - first, first - (second - first) * optimum

    @property
    def opposite(self) -> bool:
        """True if the compared value decreases as the optimum of the minimised form increases."""
        assert self.affine is not None
        return self.program.maximised == (self.affine[0] > 0)

    @property
    def valued(self) -> ObjectiveMap | None:
        """Step that applies the value map, up to sign, to the form; None for the identity."""
        assert self.affine is not None
        slope, offset = self.affine
        if abs(slope) == 1 and offset == 0:
            return None
        return ObjectiveMap(rational(abs(slope)), rational(-offset if self.opposite else offset))


def stated(statement: Statement, data: Any, reading: Reading, clock: Clock) -> StatedProgram:
    """Return the declared problem with given data.

    Parameters
    ----------
    statement : Statement
        Formulation or its id, or function of data.
    data : object
        Argument of the function, if it has one; or a problem of the formulation's
        family; or the data of a user-defined family.
    reading : Reading
        Interpretation of the floats.
    clock : Clock
        Time limit.

    Raises
    ------
    KeyError
        If an id is unknown.
    RefusalError
        If the formulation rejects the data.
    ValueError
        If a function fails.
    NoProblem
        If a function does not return a cvxpy problem.
    """
    posed, entry = data, find_formulation(statement)
    if entry is not None:
        posed = _posed(entry, data)
        refusal = _refusal(entry, posed)
        if refusal is not None:
            raise RefusalError(f"{entry.id} cannot be declared for these data: {refusal}")
    chosen = statement if entry is None else entry
    assert not isinstance(chosen, str)
    try:
        with kept_from_quitting(), values_read() as names:
            problem, value = _built(chosen, posed, reading)
    except Exception as failure:
        # A user-defined function may raise any exception.
        raise ValueError(
            f"{name_statement(statement)} fails with {type(failure).__name__}: {failure}"
        ) from failure
    if not hasattr(problem, "get_problem_data"):
        raise NoProblem(
            f"{name_statement(statement)} returns no cvxpy problem, but {type(problem).__name__}"
        )
    return StatedProgram(problem, value, reading, clock, frozenset(names))


def find_formulation(statement: Statement) -> Formulation | None:
    """Return the formulation of an id, the given formulation, or None for a function.

    Parameters
    ----------
    statement : Statement
        Formulation or its id, or function of data.

    Raises
    ------
    KeyError
        If an id is unknown.
    """
    if not isinstance(statement, str):
        return statement if isinstance(statement, Formulation) else None
    if statement not in REGISTRY:
        raise KeyError(f"unknown formulation {statement!r}")
    return REGISTRY[statement]


def _posed(entry: Formulation, data: Any) -> AnyProblem:
    """Return a problem of a formulation's family: `data` itself, or one made from it.

    `data` may also be a canonical problem of another family. Raise a RefusalError if the
    family needs data that this problem does not have.
    """
    family = FAMILIES[entry.family]
    if isinstance(data, CanonicalProblem) and data.family != entry.family and family.is_canonical:
        try:
            moved: AnyProblem = family.with_problem_data(data)
        except ValueError as reason:
            raise RefusalError(f"{entry.id} cannot be declared for these data: {reason}") from None
        return moved
    posed: AnyProblem = data if isinstance(data, AnyProblem) else family(data)
    return posed


def _refusal(entry: Formulation, posed: Any) -> Refusal | None:
    """Return the reason why a formulation rejects a problem, or None.

    Raise a ValueError if the formulation's own test raises an exception.
    """
    try:
        with kept_from_quitting():
            return entry.refusal(posed)
    except Exception as failure:
        # A user-defined function may raise any exception.
        raise ValueError(f"{entry.id} fails with {type(failure).__name__}: {failure}") from failure


def _built(
    statement: Formulation | Callable[..., Any], posed: Any, reading: Reading
) -> tuple[Any, Callable[[Any], Any] | None]:
    """Return the cvxpy problem, and its value map if it has one."""
    if not isinstance(statement, Formulation):
        result = statement(posed) if takes_data(statement) else statement()
        return result if isinstance(result, tuple) else (result, None)
    entry, data = statement, formulation_data(posed)
    problem = entry.make_problem(data)
    if entry.value is unchanged:
        return problem, None
    return problem, partial(_valued, entry, data, problem, reading)


def takes_data(statement: Statement) -> bool:
    """Return True unless a problem is a function without parameters.

    Parameters
    ----------
    statement : Statement
        Formulation or its id, or function.
    """
    if isinstance(statement, str | Formulation):
        return True
    try:
        return bool(signature(statement).parameters)
    # Some functions in C have no signature.
    except (TypeError, ValueError):
        return True


def name_statement(statement: Statement) -> str:
    """Return the id of a formulation, or the name of a function.

    Parameters
    ----------
    statement : Statement
        Id of a formulation, or function of data.
    """
    if isinstance(statement, Formulation):
        return statement.id
    return (
        statement
        if isinstance(statement, str)
        else getattr(statement, "__qualname__", repr(statement))
    )


def exact_value(
    statement: Statement, data: Any, reading: Reading = "fractions", seconds: float = SECONDS
) -> Fraction | float:
    """Return the exact mapped optimum of a problem, or an infinity that an exact ray proves.

    Parameters
    ----------
    statement : Statement
        Id of a formulation, or function of data.
    data : object
        Data, as in `stated`.
    reading : Reading, default "fractions"
        Interpretation of the floats.
    seconds : float, default SECONDS
        Time limit in seconds.

    Raises
    ------
    KeyError, ValueError, TypeError
        As in `stated`; a ValueError also if nothing is proven.
    """
    return stated(statement, data, reading, Clock(seconds)).optimum


def _valued(entry: Formulation, data: Any, problem: Any, reading: Reading, v: Any) -> Any:
    """Return the image of v under a formulation's value map.

    Parameters of a canonical problem become rationals by `reading`, like its program.
    """
    if not isinstance(data, Symbols):
        return entry.value(v, data)
    # `values_read` omits these reads: the problem is already built.
    values = {parameter.name(): parameter.value for parameter in problem.parameters()}
    rational = {
        name: read(float(at), reading) if np.ndim(at) == 0 else at for name, at in values.items()
    }
    return entry.value(v, data.at_parameters(rational))
