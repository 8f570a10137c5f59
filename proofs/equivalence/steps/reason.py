"""Equivalence proofs of two programs: steps from each to one common form.

    first program --steps--> form  =  renamed and scaled  =  form <--steps-- second program

The steps are verified number by number. The steps from a program may begin with its
value map and with its Lagrangian dual. A proof may thus show that the second program is
the dual of the first, that both have the same dual, or that both are the same program
in other variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from equimargin.proofs.equivalence.steps.form import Form
from equimargin.proofs.equivalence.steps.moves import (
    LagrangianDual,
    ObjectiveMap,
    ProofStep,
    Renaming,
    Twin,
)
from equimargin.proofs.equivalence.steps.renaming import ColourRefinement, RenamingSearch
from equimargin.proofs.equivalence.steps.rules import CHOICES, Choice, normal
from equimargin.solvers.exact.program.clock import Clock

SHOWN_SCALES = 4
"""Maximum number of scales that a sentence lists."""


@dataclass(frozen=True)
class Reason:
    """Equivalence proof: steps from two programs to forms that a renaming identifies.

    Parameters
    ----------
    first, second : tuple[ProofStep, ...]
        Steps from the first and from the second program.
    renaming : Renaming
        Renaming that maps the last form of the first program to that of the second.
    """

    first: tuple[ProofStep, ...] = field(repr=False)
    second: tuple[ProofStep, ...] = field(repr=False)
    renaming: Renaming = field(repr=False)

    @property
    def kind(self) -> str:
        """Kind of the proof as a sentence, without numbers."""
        dual = (_is_dual(self.first), _is_dual(self.second))
        if not self.renaming.order and not self.renaming.rows:
            return "Closed form: no constraint is left, and every variable is minimised out"
        return {
            (False, False): "The two are one program",
            (True, True): "Their Lagrangian duals are one program",
            (True, False): "B is the Lagrangian dual of A",
            (False, True): "A is the Lagrangian dual of B",
        }[dual]

    def __str__(self) -> str:
        """Return the kind of the proof, with its renaming, scales and value maps."""
        details = []
        if list(self.renaming.order) != list(range(len(self.renaming.order))):
            details.append("variables are renamed")
        scales = sorted({abs(s) for s in self.renaming.scales})
        if any(s != 1 for s in scales):
            details.append(f"variables are scaled by {_some(scales)}")
        for name, steps in (("A", self.first), ("B", self.second)):
            details += [
                f"the objective of {name} is {_valued(step)}"
                for step in steps
                if isinstance(step, ObjectiveMap)
            ]
        return self.kind + (f" ({', '.join(details)})" if details else "")

    def mapped(self, number: Callable[[Any], Any]) -> Reason:
        """Return the proof with mapped numbers in its steps.

        Parameters
        ----------
        number : callable
            Map from a number of a step to the new number.
        """
        first, second = (
            tuple(step.mapped(number) for step in steps) for steps in (self.first, self.second)
        )
        return Reason(first, second, self.renaming.mapped(number))

    def holds(self, first: Form, second: Form) -> bool:
        """Return True if every step applies, and the renaming maps one last form to the other.

        Parameters
        ----------
        first : Form
            First program.
        second : Form
            Second program.

        Raises
        ------
        ValueError
            If a step does not apply; NotANumber, a ValueError, if it does not apply for
            all values of the parameters.
        """
        return self.renaming.holds(after(first, self.first), after(second, self.second))


def after(form: Form, steps: Sequence[ProofStep]) -> Form:
    """Return the form after some steps.

    Parameters
    ----------
    form : Form
        Form before the steps.
    steps : sequence of ProofStep
        Steps, in order.
    """
    for step in steps:
        form = step.apply(form)
    return form


def find_reason(
    first: Form,
    second: Form,
    opposite: bool,
    clock: Clock,
    values: tuple[ObjectiveMap | None, ObjectiveMap | None] = (None, None),
    twins: tuple[Twin | None, Twin | None] = (None, None),
) -> Reason | None:
    """Return a proof that the optima of two forms are equal or opposite, or None.

    Parameters
    ----------
    first, second : Form
        Convex forms.
    opposite : bool
        True if the optima are each other's negatives, as those of a minimisation and a
        maximisation are.
    clock : Clock
        Time limit.
    values : tuple[ObjectiveMap or None, ObjectiveMap or None], default (None, None)
        Value maps of the objectives.
    twins : tuple[Twin or None, Twin or None], default (None, None)
        Forms in parameters, if the steps of the proof must hold for all their values.

    Raises
    ------
    OutOfTime
        If the time is up.
    """
    sides = [_Side(*side, clock) for side in zip((first, second), twins, values, strict=True)]
    duals = ((True, False), (False, True)) if opposite else ((False, False), (True, True))
    # Different choices often lead to equal forms.
    tried: set[tuple[Any, ...]] = set()
    for choices in sorted(((a, b) for a in CHOICES for b in CHOICES), key=_effort):
        for dual in duals:
            one, other = (
                side.normal(d, choice) for side, d, choice in zip(sides, dual, choices, strict=True)
            )
            if one is None or other is None or (one.steps, other.steps) in tried:
                continue
            tried.add((one.steps, other.steps))
            renaming = RenamingSearch(one.coloured, other.coloured, clock).run()
            if renaming is not None:
                return Reason(one.steps, other.steps, renaming)
    return None


@dataclass(frozen=True, eq=False)
class _Normal:
    coloured: ColourRefinement
    steps: tuple[ProofStep, ...]


@dataclass(eq=False)
class _Side:
    """Form with its normal forms, each computed once."""

    form: Form
    twin: Twin | None
    value: ObjectiveMap | None
    clock: Clock
    known: dict[tuple[bool, Choice], _Normal | None] = field(default_factory=dict)

    def normal(self, dual: bool, choice: Choice) -> _Normal | None:
        """Return the normal form of the program or of its dual.

        None if the twin has no dual for all values of the parameters.
        """
        if (dual, choice) not in self.known:
            self.known[dual, choice] = self._found(dual, choice)
        return self.known[dual, choice]

    def _found(self, dual: bool, choice: Choice) -> _Normal | None:
        begun: list[ProofStep] = [] if self.value is None else [self.value]
        begun += [LagrangianDual()] if dual else []
        try:
            twin = (
                None if self.twin is None else replace(self.twin, form=after(self.twin.form, begun))
            )
        except ValueError:
            return None
        form, steps = normal(after(self.form, begun), choice, self.clock, twin)
        return _Normal(ColourRefinement(form), (*begun, *steps))


def _effort(choices: tuple[Choice, Choice]) -> tuple[Any, ...]:
    """Return the sort key of two choices: "none" first, then equal choices for both."""
    return sum(choice != "none" for choice in choices), choices[0] != choices[1], choices


def _is_dual(steps: Sequence[ProofStep]) -> bool:
    return any(isinstance(step, LagrangianDual) for step in steps)


def _valued(step: ObjectiveMap) -> str:
    """Return the effect of a value map on an objective, as text."""
    moved = f"moved by {step.offset}"
    if step.factor == 1:
        return moved
    return f"multiplied by {step.factor}" + (f" and {moved}" if step.offset != 0 else "")


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:SHOWN_SCALES])) + (
        ", ..." if len(values) > SHOWN_SCALES else ""
    )
