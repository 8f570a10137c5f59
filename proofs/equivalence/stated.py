"""A problem as it is stated, at given data: its program in rationals, its optimum, and the value map of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import inf, isnan
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
from equimargin.proofs.equivalence.form import Form, make_form, rational
from equimargin.proofs.equivalence.moves import ObjectiveMap
from equimargin.proofs.equivalence.values_read import values_read
from equimargin.proofs.program.rounding import image_of_move, moved_by_rounding
from equimargin.solvers.exact.program import (
    Infeasible,
    Optimum,
    Outcome,
    Unbounded,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock

Statement = str | Callable[[Any], Any]
"""A problem of data: the id of a formulation, or a function of data that returns a cvxpy problem, or a problem and its value map."""
SECONDS = 20.0
"""Seconds that one exact optimum may take: instances are small, and one that takes longer counts as undecided."""


class NoProblem(TypeError):
    """Raised where a function of data returns no cvxpy problem."""


class RefusalError(ValueError):
    """A formulation is not stated for these data, and says why."""


@dataclass(frozen=True, eq=False)
class StatedProgram:
    """A cvxpy problem at given data.

    Attributes
    ----------
    problem : cvxpy.Problem
        The problem.
    value : callable or None
        Map from its optimum to the number that is compared; None where that is the optimum.
    reading : Reading
        Interpretation of the floats.
    clock : Clock
        The time limit.
    values_read : frozenset[str]
        Frozenset of str Names of parameters whose values were read while the problem
        was built.
    """

    problem: Any
    value: Callable[[Any], Any] | None
    reading: Reading
    clock: Clock
    values_read: frozenset[str] = frozenset()

    @cached_property
    def program(self) -> Program:
        """The program in rationals; ValueError where there is none."""
        return compile_program(self.problem, self.reading)

    @cached_property
    def form(self) -> Form:
        """The program with rows alone; ValueError where it has second-order cones."""
        return make_form(self.program)

    @cached_property
    def outcome(self) -> Outcome:
        """Its exact optimum, an exact ray, or why neither is known."""
        self.clock.ask("an exact optimum")
        return program_optimum(self.program, min(SECONDS, self.clock.left))

    @cached_property
    def optimum(self) -> Fraction | float:
        """The exact optimum after the value map, or an infinity that an exact ray proves.

        Raises
        ------
        ValueError
            Nothing is proven; the sentence says why.
        """
        outcome = self.outcome
        if isinstance(outcome, Optimum):
            return self.mapped(self.program.stated(outcome.value))
        if isinstance(outcome, Infeasible | Unbounded):
            worst = inf if isinstance(outcome, Infeasible) else -inf
            return self.mapped(-worst if self.program.maximised else worst)
        raise ValueError(outcome.reason)

    def mapped(self, v: Any) -> Fraction | float:
        """Return the value map of a value; ValueError where that is no number."""
        if self.value is None:
            return v if isinstance(v, float) else Fraction(v)
        try:
            with kept_from_quitting():
                found = self.value(v)
        except Exception as reason:  # a user-defined map may raise any exception
            raise ValueError(f"the value map does not take {v}: {reason}") from None
        if isinstance(found, Fraction | int):
            return Fraction(found)
        if isnan(float(found)):
            raise ValueError(f"the value map makes no number of {v}")
        return float(found) if np.isinf(float(found)) else Fraction(float(found))

    @cached_property
    def rounding(self) -> float:
        """Bound on the move of an exact optimum by roundings of the program's numbers, after the value map; 0 of an infinite one."""
        if not isinstance(self.outcome, Optimum):
            return 0.0
        moved = moved_by_rounding(self.program, self.outcome.x, self.outcome.y, self.outcome.z)
        return image_of_move(self.mapped, self.program.stated(self.outcome.value), moved)

    @cached_property
    def affine(self) -> tuple[Fraction, Fraction] | None:
        """Slope and offset of the value map at the optimum and two more values; None where it is not affine, or rounds."""
        if self.value is None:
            return Fraction(1), Fraction(0)
        at = (
            self.program.stated(self.outcome.value)
            if isinstance(self.outcome, Optimum)
            else Fraction(1)
        )
        try:
            with kept_from_quitting():
                first, second, third = (self.value(at + k) for k in range(3))
        except Exception:  # as in `mapped`
            return None
        if (
            not all(isinstance(v, Fraction) for v in (first, second, third))
            or third - second != second - first
            or first == second
        ):
            return None
        return second - first, first - (second - first) * at

    @property
    def opposite(self) -> bool:
        """True if the value is minus the optimum of the form, up to its value map."""
        assert self.affine is not None
        return self.program.maximised == (self.affine[0] > 0)

    @property
    def valued(self) -> ObjectiveMap | None:
        """The step that gives the form's objective the scale of the value; None where it has that scale."""
        assert self.affine is not None
        slope, offset = self.affine
        if abs(slope) == 1 and offset == 0:
            return None
        return ObjectiveMap(rational(abs(slope)), rational(-offset if self.opposite else offset))


def stated(statement: Statement, data: Any, reading: Reading, clock: Clock) -> StatedProgram:
    """Return a problem at given data.

    Parameters
    ----------
    statement : Statement
        A formulation's id, or a function of data.
    data : Any
        What it takes; a formulation takes a problem of its family, and one of a
        user-defined family takes its data.
    reading : Reading
        How floats are read.
    clock : Clock
        The time limit.

    Raises
    ------
    KeyError
        An unknown id.
    RefusalError
        data that the formulation refuses.
    ValueError
        A function that fails.
    NoProblem
        A function that returns something else.
    """
    posed = data
    if isinstance(statement, str):
        if statement not in REGISTRY:
            raise KeyError(f"unknown formulation {statement!r}")
        entry = REGISTRY[statement]
        posed = _posed(entry, data)
        refusal = _refusal(entry, posed)
        if refusal is not None:
            raise RefusalError(f"{statement} is not stated there: {refusal}")
    try:
        with kept_from_quitting(), values_read() as names:
            problem, value = _built(statement, posed, reading)
    except Exception as failure:  # a user-defined function may raise any exception
        raise ValueError(
            f"{name_statement(statement)} fails with {type(failure).__name__}: {failure}"
        ) from failure
    if not hasattr(problem, "get_problem_data"):
        raise NoProblem(
            f"{name_statement(statement)} returns no cvxpy problem, but {type(problem).__name__}"
        )
    return StatedProgram(problem, value, reading, clock, frozenset(names))


def _posed(entry: Formulation, data: Any) -> AnyProblem:
    """Return the problem of a formulation's family: the given one, that of the given data, or that of the data of another canonical one.

    Raises
    ------
    RefusalError
        If the family takes other data than the given problem has.
    """
    family = FAMILIES[entry.family]
    if isinstance(data, CanonicalProblem) and data.family != entry.family and family.is_canonical:
        try:
            moved: AnyProblem = family.with_data_of(data)
        except ValueError as reason:
            raise RefusalError(f"{entry.id} is not stated there: {reason}") from None
        return moved
    posed: AnyProblem = data if isinstance(data, AnyProblem) else family(data)
    return posed


def _refusal(entry: Formulation, posed: Any) -> Refusal | None:
    """Return why a formulation does not take data.

    Raises
    ------
    ValueError
        If the function of the refusal fails.
    """
    try:
        with kept_from_quitting():
            return entry.refusal(posed)
    except Exception as failure:  # as below
        raise ValueError(f"{entry.id} fails with {type(failure).__name__}: {failure}") from failure


def _built(
    statement: Statement, posed: Any, reading: Reading
) -> tuple[Any, Callable[[Any], Any] | None]:
    """Return the cvxpy problem, and its value map where it has one."""
    if not isinstance(statement, str):
        found = statement(posed)
        return found if isinstance(found, tuple) else (found, None)
    entry, data = REGISTRY[statement], formulation_data(posed)
    problem = entry.problem_of(data)
    if entry.value is unchanged:
        return problem, None
    return problem, partial(_valued, entry, data, problem, reading)


def name_statement(statement: Statement) -> str:
    """Return the id of a formulation, or the name of a function."""
    return (
        statement
        if isinstance(statement, str)
        else getattr(statement, "__qualname__", repr(statement))
    )


def exact_value(
    statement: Statement, data: Any, reading: Reading = "fractions", seconds: float = SECONDS
) -> Fraction | float:
    """Return the exact optimum of a problem at given data, after its value map, or an infinity that an exact ray proves.

    Parameters
    ----------
    statement, data, reading
        As in `stated`.
    seconds : float
        The time limit.

    Raises
    ------
    KeyError, ValueError, TypeError
        As `stated` does; a ValueError also where nothing is proven.
    """
    return stated(statement, data, reading, Clock(seconds)).optimum


def _valued(entry: Formulation, data: Any, problem: Any, reading: Reading, v: Any) -> Any:
    """Return a formulation's value map at its data; the parameters of a canonical one are read as the numbers of the program are."""
    if not isinstance(data, Symbols):
        return entry.value(v, data)
    values = {
        parameter.name(): parameter.value for parameter in problem.parameters()
    }  # read now: the problem does not depend on them
    rational = {
        name: read(float(at), reading) if np.ndim(at) == 0 else at for name, at in values.items()
    }
    return entry.value(v, data.at_parameters(rational))
