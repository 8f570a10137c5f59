"""Comparison of two problems at one instance: exact optima, and a proof of equivalence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from equimargin.formulations.programs import Reading
from equimargin.proofs.equivalence.parameters import ForAllData, reason_for_all_data
from equimargin.proofs.equivalence.stated import RefusalError, StatedProgram, Statement, stated
from equimargin.proofs.equivalence.steps.reason import Reason, find_reason
from equimargin.solvers.exact.program.clock import Clock

RELATIVELY_APART = Fraction(1, 10**7)
"""Largest difference of two optima, over the larger one, that roundings may explain.

The roundings are those of numbers that a problem computes in floats.
"""
APART = Fraction(1, 10**10)
"""Largest difference of two optima, in objective units, that such roundings may explain."""
LARGEST = 150
"""Largest program for which a proof is sought, as variables plus rows.

A dense normal form of that size takes about ten seconds.
"""
Value = Fraction | float
"""Exact optimum, or an infinity that an exact ray proves; a float is always infinite."""


@dataclass(frozen=True, eq=False)
class InstanceComparison:
    """Comparison of two problems at one instance.

    Attributes
    ----------
    data : object
        Instance.
    values : tuple of 2 Fraction or float, or None
        Optima of both; None if one of them is not known.
    reason : Reason or None
        Equivalence proof, if one is sought and found.
    for_all_data : ForAllData or None
        Equivalence proof for all values of the parameters.
    undecided : str
        Reason why an optimum is not known; empty if both are.
    unsought : str
        Reason why no proof was sought for equal finite optima; empty if one was.
    refused : bool
        True if a formulation cannot be declared for such data: nothing is to be compared.
    rounding : float
        Bound on the difference of the optima that roundings of declared numbers cause; 0 if
        the optima do not differ.
    values_read : frozenset of str
        Parameters whose values are read while a problem is built: no proof holds for all
        their values.
    """

    data: Any
    values: tuple[Value, Value] | None
    reason: Reason | None = field(default=None, repr=False)
    for_all_data: ForAllData | None = field(default=None, repr=False)
    undecided: str = ""
    unsought: str = ""
    refused: bool = False
    rounding: float = 0.0
    values_read: frozenset[str] = frozenset()

    @property
    def apart(self) -> bool:
        """True if the optima differ by more than roundings of the declared numbers explain."""
        return self.values is not None and apart(*self.values, self.rounding)

    @property
    def equal(self) -> bool:
        """True if both optima are known and equal."""
        return self.values is not None and self.values[0] == self.values[1]

    @property
    def finite(self) -> bool:
        """True if both optima are known and finite."""
        return self.values is not None and not any(isinstance(v, float) for v in self.values)


def compare_at(
    data: Any, a: Statement, b: Statement, reading: Reading, clock: Clock, explain: bool = True
) -> InstanceComparison:
    """Return the exact optima of two problems at an instance, and a proof of equivalence.

    Parameters
    ----------
    data : object
        Data of both.
    a, b : Statement
        Ids of formulations, or functions of data.
    reading : Reading
        Interpretation of the floats.
    clock : Clock
        Time limit.
    explain : bool, default True
        True to seek a proof if the optima are equal and finite.

    Raises
    ------
    KeyError
        If an id is unknown.
    TypeError
        If a function returns no cvxpy problem.
    OutOfTime
        If the time is up.
    """
    try:
        first, second = stated(a, data, reading, clock), stated(b, data, reading, clock)
        values = first.optimum, second.optimum
    except ValueError as why:
        return InstanceComparison(
            data, None, undecided=str(why), refused=isinstance(why, RefusalError)
        )
    comparison = InstanceComparison(
        data, values, rounding=first.rounding + second.rounding if apart(*values) else 0.0
    )
    if not explain or not comparison.equal or not comparison.finite:
        return comparison
    unsought = _unsought(first) or _unsought(second)
    if unsought:
        return replace(comparison, unsought=unsought)
    for_all = reason_for_all_data(first, second, clock)
    valued = first.valued, second.valued
    reason = (
        find_reason(first.form, second.form, first.opposite != second.opposite, clock, valued)
        if for_all is None
        else for_all.here
    )
    return InstanceComparison(
        data, values, reason, for_all, values_read=first.values_read | second.values_read
    )


def _unsought(stated: StatedProgram) -> str:
    """Return the reason why no proof is sought for a problem, or ""."""
    if stated.affine is None:
        return "a value map is not affine, or rounds"
    return (
        f"a program has more than {LARGEST} variables and rows"
        if sum(stated.form.shape) > LARGEST
        else ""
    )


def apart(one: Value, other: Value, rounding: float = 0.0) -> bool:
    """Return True if two optima differ, and by more than roundings may explain.

    Parameters
    ----------
    one : Value
        First optimum.
    other : Value
        Second optimum.
    rounding : float, default 0.0
        Difference that other roundings explain.
    """
    if isinstance(one, float) or isinstance(other, float):
        return one != other
    return (
        abs(one - other) > max(RELATIVELY_APART * max(abs(one), abs(other)), APART)
        and abs(one - other) > rounding
    )
