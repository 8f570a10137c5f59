"""Answers of two problems at one instance: their optima, optimal points and multipliers.

Two problems may have equal optima and different optimal points, or equal points and
different multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import Formulation, formulation_data
from equimargin.formulations.declarations.symbols import DeclarationValues
from equimargin.proofs.equivalence.comparison import apart
from equimargin.proofs.equivalence.optimal_values import (
    are_optimal_multipliers,
    is_optimal_at,
    read_multipliers,
    read_variables,
)
from equimargin.proofs.equivalence.stated import StatedProgram
from equimargin.solvers.exact.program import Optimum

Kind = Literal["rejected", "optimum", "predictions", "multipliers"]
"""Kind of evidence: the problem is rejected, or a part of its answer is another."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of evidence, in the order of a table."""


def detected(
    right: StatedProgram, wrong: StatedProgram, of: SymbolRoles, sought: Collection[Kind] = KINDS
) -> set[Kind]:
    """Return the kinds of evidence that distinguish two problems at one instance.

    Parameters
    ----------
    right, wrong : StatedProgram
        Problems with equal names of variables and constraints.
    of : SymbolRoles
        Parts of an answer.
    sought : collection of str
        Kinds that are examined.

    Raises
    ------
    ValueError
        If an optimum is not known, or a test of the answers is undecided.
    OutOfTime
        If the time is up.
    """
    seen: set[Kind] = set()
    values = right.optimum, wrong.optimum
    if apart(*values) and apart(*values, right.rounding + wrong.rounding):
        seen.add("optimum")
    if isinstance(right.outcome, Optimum) and isinstance(wrong.outcome, Optimum):
        tests: dict[Kind, Callable[[StatedProgram, StatedProgram], bool]] = {
            of.of_variables: partial(_accepts_variables, variables=of.variables),
            of.of_constraints: _accepts_multipliers,
        }
        for kind, accepts in tests.items():
            if kind in sought and not (accepts(right, wrong) and accepts(wrong, right)):
                seen.add(kind)
    return seen


@dataclass(frozen=True)
class SymbolRoles:
    """Parts of a problem's answer.

    Parameters
    ----------
    variables : frozenset of str
        Variables that give the answer; the others, such as slacks, follow from them.
    in_multipliers : bool
        True if they are multipliers, so that those of its constraints give the function.
    """

    variables: frozenset[str]
    in_multipliers: bool

    @property
    def of_variables(self) -> Kind:
        """Kind of evidence of the variables."""
        return "multipliers" if self.in_multipliers else "predictions"

    @property
    def of_constraints(self) -> Kind:
        """Kind of evidence of the constraints' multipliers."""
        return "predictions" if self.in_multipliers else "multipliers"


def roles(entry: Formulation | None, right: StatedProgram, instance: Any) -> SymbolRoles:
    """Return the parts of the answer of a problem at an instance.

    The variables of a canonical formulation are those that its map to a canonical point
    reads; of any other problem they are all variables.

    Parameters
    ----------
    entry : Formulation or None
        Formulation; None for a function of data.
    right : StatedProgram
        Problem at the instance.
    instance : object
        Instance.
    """
    every = frozenset(_names(right))
    if entry is None or entry.to_canonical is None or not FAMILIES[entry.family].is_canonical:
        return SymbolRoles(every, False)
    read = _Reads({name: np.zeros(v.shape) for name, v in _variables(right).items()})
    # A map may need values of an optimum; it has read its variables before.
    with suppress(Exception):
        entry.to_canonical(read, formulation_data(instance))
    return SymbolRoles(frozenset(read.names) & every or every, entry.carries == "multipliers")


class _Reads(DeclarationValues):
    """Values by name, with a record of the names read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values, lambda name: None)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def _variables(right: StatedProgram) -> dict[str, Any]:
    return {variable.name(): variable for variable in right.problem.variables()}


def _accepts_variables(one: StatedProgram, other: StatedProgram, variables: frozenset[str]) -> bool:
    """Return True if this problem has an optimum at the variables of another one's."""
    first, second = _optima(one, other)
    if (
        _are_alike(one, other)
        and one.program.is_feasible(second.x)
        and one.program.objective(second.x) == first.value
    ):
        return True
    mine, theirs, values = _names(one), _names(other), read_variables(other.program, second)
    given = {
        mine[name]: values[theirs[name]]
        for name in variables
        if name in mine and theirs.get(name) in values
    }
    return is_optimal_at(one.program, first, given, one.clock.left)


def _accepts_multipliers(one: StatedProgram, other: StatedProgram) -> bool:
    """Return True if the multipliers of another problem's constraints are optimal in this one.

    A constraint that is missing has the multiplier 0. If inequalities have become
    equations, or equations inequalities, the sign of their multipliers is a matter of
    convention, and both are tried.
    """
    first, second = _optima(one, other)
    if _are_alike(one, other) and one.program.is_optimal(first.x, second.y, second.z):
        return True
    given, fixed, changed = read_multipliers(other.program, second), dict[str, Any](), set[str]()
    for name, place in one.program.rows.items():
        size = place.stop - place.start
        values = given.get(name, (Fraction(0),) * size)
        if len(values) == size:
            fixed[name] = values
            if _is_equation(other, name) not in (None, _is_equation(one, name)):
                changed.add(name)
    # A misprint changes one relation, so that all constraints of it share the sign.
    opposite = {name: [-v for v in fixed[name]] for name in changed}
    return any(
        are_optimal_multipliers(one.program, first, fixed | sign, one.clock.left)
        for sign in ([{}, opposite] if changed else [{}])
    )


def _optima(one: StatedProgram, other: StatedProgram) -> tuple[Optimum, Optimum]:
    first, second = one.outcome, other.outcome
    assert isinstance(first, Optimum)
    assert isinstance(second, Optimum)
    return first, second


def _are_alike(one: StatedProgram, other: StatedProgram) -> bool:
    """Return True if two programs have the same variables and constraints in the same places."""
    first, second = one.program, other.program
    sizes = [(p.n, len(p.b), len(p.h), p.cones) for p in (first, second)]
    columns = [
        {name: of.program.columns.get(own) for name, own in _names(of).items()}
        for of in (one, other)
    ]
    return sizes[0] == sizes[1] and columns[0] == columns[1] and first.rows == second.rows


def _names(of: StatedProgram) -> dict[str, str]:
    """Return the variables' names, by names that are equal in every call of a function.

    cvxpy numbers the variables without a name; they are identified by their order.
    """
    variables = sorted(of.problem.variables(), key=lambda variable: variable.id)
    unnamed = [v.name() for v in variables if v.name() == f"var{v.id}"]
    numbered = {name: f"unnamed {k} of {len(unnamed)}" for k, name in enumerate(unnamed, start=1)}
    return {numbered.get(v.name(), v.name()): v.name() for v in variables}


def _is_equation(of: StatedProgram, name: str) -> bool | None:
    """Return True if a constraint is an equation, None if there is none of this name."""
    place = of.program.rows.get(name)
    return None if place is None else place.stop <= len(of.program.b)
