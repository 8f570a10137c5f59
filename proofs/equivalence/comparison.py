"""Two problems at one instance: their exact optima, and a reason why these are equal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from equimargin.formulations.programs import Reading
from equimargin.proofs.equivalence.parameters import ForAllData, reason_for_all_data
from equimargin.proofs.equivalence.reason import Reason, find_reason
from equimargin.proofs.equivalence.stated import RefusalError, StatedProgram, Statement, stated
from equimargin.solvers.exact.program.clock import Clock

RELATIVELY_APART = Fraction(1, 10**7)
"""Optima that are nearer than this, over the larger one, may differ by the roundings of numbers that a problem computes in floats."""
APART = Fraction(1, 10**10)
"""Optima that are nearer than this, in units of the objective, may differ by such roundings too."""
LARGEST = 150
"""Unknowns and rows together of the largest program of which a reason is sought: a dense normal form of it takes about ten seconds."""
Value = Fraction | float
"""An exact optimum, or an infinity that an exact ray proves; a float is always infinite."""


@dataclass(frozen=True, eq=False)
class InstanceComparison:
    """Comparison of two problems at one instance.

    Attributes
    ----------
    data : object
        The instance.
    values : tuple of 2 Fraction or float, or None
        The optima of both; None where one of them is not known.
    reason : Reason | None
        Reason or None Reason of their equality, where one is sought and found.
    for_all_data : ForAllData | None
        ForAllData or None A reason that holds for all values of the parameters.
    undecided : str
        Why an optimum is not known; empty where both are.
    unsought : str
        Why no reason was sought for equal finite optima; empty where one was.
    refused : bool
        True if a formulation is not stated for such data, so that there is nothing to decide.
    rounding : float
        How far roundings of what was declared may move the optima apart, where they are apart.
    values_read : frozenset[str]
        Frozenset of str Parameters whose values are read while a problem is built: no
        reason holds for all of them.
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
        """True if the optima differ by more than roundings in what was declared can make them differ."""
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
    """Return the exact optima of two problems at an instance, and where they are equal and finite a reason.

    Parameters
    ----------
    data : Any
        What both take.
    a, b : Statement
        Ids of formulations, or functions of data.
    reading : Reading
        How floats are read.
    clock : Clock
        The time limit.
    explain : bool
        Whether a reason is sought.

    Raises
    ------
    KeyError
        An unknown id.
    TypeError
        A function that returns no cvxpy problem.
    OutOfTime
        The time is up.
    """
    try:
        first, second = stated(a, data, reading, clock), stated(b, data, reading, clock)
        values = first.optimum, second.optimum
    except ValueError as why:
        return InstanceComparison(
            data, None, undecided=str(why), refused=isinstance(why, RefusalError)
        )
    found = InstanceComparison(
        data, values, rounding=first.rounding + second.rounding if apart(*values) else 0.0
    )
    if not explain or not found.equal or not found.finite:
        return found
    unsought = _unsought(first) or _unsought(second)
    if unsought:
        return replace(found, unsought=unsought)
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
    """Return why no reason is sought for a problem, "" where one is."""
    if stated.affine is None:
        return "a value map is not affine, or rounds"
    return (
        f"a program has more than {LARGEST} unknowns and rows"
        if sum(stated.form.shape) > LARGEST
        else ""
    )


def apart(one: Value, other: Value, rounding: float = 0.0) -> bool:
    """Return True if two optima differ, and by more than roundings may."""
    if isinstance(one, float) or isinstance(other, float):
        return one != other
    return (
        abs(one - other) > max(RELATIVELY_APART * max(abs(one), abs(other)), APART)
        and abs(one - other) > rounding
    )
