"""Why two programs have one optimum: steps that lead from each to one and the same form, verified number by number.

    the first program --steps--> a form  =  renamed and scaled  =  a form <--steps-- the second program

The steps of a side may begin with its value map and with its Lagrangian dual, so that a reason may say that the second is the dual of the
first, that both have the same dual, or that both are the same program in other unknowns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from equimargin.proofs.sameness.form import Form
from equimargin.proofs.sameness.moves import Dualised, Move, Renamed, Twin, Valued, mapped
from equimargin.proofs.sameness.renaming import Coloured, Search
from equimargin.proofs.sameness.rules import CHOICES, Choice, normal
from equimargin.solvers.exact.program.clock import Clock

SHOWN_SCALES = 4
"""Scales that a sentence lists at most."""


@dataclass(frozen=True)
class Reason:
    """Steps from two programs to forms that are one, number by number.

    first, second : the steps of either side.  renamed : how the last form of the first is that of the second.
    """

    first: tuple[Move, ...] = field(repr=False)
    second: tuple[Move, ...] = field(repr=False)
    renamed: Renamed = field(repr=False)

    @property
    def kind(self) -> str:
        """The reason in a few words, without its numbers."""
        dual = (_dualised(self.first), _dualised(self.second))
        if not self.renamed.order and not self.renamed.rows:
            return "Closed form: no constraint is left, and every unknown is minimised out"
        return {
            (False, False): "The two are one program",
            (True, True): "Their Lagrangian duals are one program",
            (True, False): "B is the Lagrangian dual of A",
            (False, True): "A is the Lagrangian dual of B",
        }[dual]

    def __str__(self) -> str:
        """The reason with what is renamed and scaled."""
        said = []
        if list(self.renamed.order) != list(range(len(self.renamed.order))):
            said.append("unknowns are renamed")
        scales = sorted({abs(s) for s in self.renamed.scales})
        if any(s != 1 for s in scales):
            said.append(f"unknowns are scaled by {_some(scales)}")
        for name, steps in (("A", self.first), ("B", self.second)):
            said += [f"the objective of {name} is {_valued(step)}" for step in steps if isinstance(step, Valued)]
        return self.kind + (f" ({', '.join(said)})" if said else "")

    def mapped(self, number: Callable[[Any], Any]) -> Reason:
        """The reason with other numbers in its steps."""
        first, second = (tuple(mapped(step, number) for step in steps) for steps in (self.first, self.second))
        return Reason(first, second, self.renamed.mapped(number))

    def holds(self, first: Form, second: Form) -> bool:
        """Whether every step applies to the two forms, and whether the last forms are one.

        Raises
        ------
        ValueError : a step does not apply; NotANumber where it does not hold for all values of the parameters.
        """
        return self.renamed.holds(after(first, self.first), after(second, self.second))


def after(form: Form, steps: Sequence[Move]) -> Form:
    """The form after some steps."""
    for step in steps:
        form = step.apply(form)
    return form


def find_reason(
    first: Form,
    second: Form,
    opposite: bool,
    clock: Clock,
    values: tuple[Valued | None, Valued | None] = (None, None),
    twins: tuple[Twin | None, Twin | None] = (None, None),
) -> Reason | None:
    """A reason why the optimum of the first form is that of the second, or minus it; None where none was found.

    Parameters
    ----------
    first, second : convex.  opposite : whether the optima are each other's negatives, as those of a minimisation and a maximisation are.
    clock : the time limit.  values : value maps of the objectives.
    twins : the forms in parameters, where the steps of the reason must hold for all their values.

    Raises
    ------
    OutOfTime : the time is up.
    """
    sides = [_Side(*side, clock) for side in zip((first, second), twins, values, strict=True)]
    duals = ((True, False), (False, True)) if opposite else ((False, False), (True, True))
    tried: set[tuple[Any, ...]] = set()  # other choices often make the same forms
    for choices in sorted(((a, b) for a in CHOICES for b in CHOICES), key=_effort):
        for dual in duals:
            one, other = (side.normal(d, choice) for side, d, choice in zip(sides, dual, choices, strict=True))
            if one is None or other is None:
                continue
            renamed = None if (one.steps, other.steps) in tried else Search(one.coloured, other.coloured, clock).run()
            tried.add((one.steps, other.steps))
            if renamed is not None:
                return Reason(one.steps, other.steps, renamed)
    return None


@dataclass(frozen=True, eq=False)
class _Normal:
    coloured: Coloured
    steps: tuple[Move, ...]


@dataclass(eq=False)
class _Side:
    """A form with its normal forms, each computed once."""

    form: Form
    twin: Twin | None
    value: Valued | None
    clock: Clock
    known: dict[tuple[bool, Choice], _Normal | None] = field(default_factory=dict)

    def normal(self, dual: bool, choice: Choice) -> _Normal | None:
        """The normal form of the program or of its dual; None where the twin has no dual for all values of the parameters."""
        if (dual, choice) not in self.known:
            self.known[dual, choice] = self._found(dual, choice)
        return self.known[dual, choice]

    def _found(self, dual: bool, choice: Choice) -> _Normal | None:
        begun: list[Move] = [] if self.value is None else [self.value]
        begun += [Dualised()] if dual else []
        try:
            twin = None if self.twin is None else replace(self.twin, form=after(self.twin.form, begun))
        except ValueError:
            return None
        form, steps = normal(after(self.form, begun), choice, self.clock, twin)
        return _Normal(Coloured(form), (*begun, *steps))


def _effort(choices: tuple[Choice, Choice]) -> tuple[Any, ...]:
    """Simple reasons first: without equations solved for bounded unknowns, then with the same choice on both sides."""
    return sum(choice != "none" for choice in choices), choices[0] != choices[1], choices


def _dualised(steps: Sequence[Move]) -> bool:
    return any(isinstance(step, Dualised) for step in steps)


def _valued(step: Valued) -> str:
    """What a value map does to an objective."""
    moved = f"moved by {step.offset}"
    if step.factor == 1:
        return moved
    return f"multiplied by {step.factor}" + (f" and {moved}" if step.offset != 0 else "")


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:SHOWN_SCALES])) + (", ..." if len(values) > SHOWN_SCALES else "")
