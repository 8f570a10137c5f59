"""Normal form of a program, reached when the rules propose no further step.

Equations are solved for free variables, the objective is minimised over variables that
are in no row, lower bounds are shifted to 0, slack variables are eliminated, and
redundant rows are removed. An equation may also be solved for a variable that has
bounds. The choice of this variable is free, so that a program has a normal form for each
of CHOICES; any two that agree prove equivalence.

If a proof must hold for all data, the form has some values of the parameters, and its
twin is the form in the parameters. Only steps that apply to both are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from equimargin.proofs.equivalence.steps.form import Form
from equimargin.proofs.equivalence.steps.moves import (
    DominatedColumn,
    Elimination,
    EmptyRow,
    ForcingConstraint,
    ImplicitEquality,
    PartialMinimization,
    Projection,
    ProofStep,
    RedundantConstraint,
    Twin,
    VariableShift,
)
from equimargin.proofs.equivalence.steps.quotients import positive
from equimargin.solvers.exact.program.clock import Clock

Choice = Literal["none", "costless", "costly", "first", "last", "projected"]
CHOICES: tuple[Choice, ...] = ("none", "costless", "costly", "first", "last", "projected")
"""Variables with bounds for which equations are solved.

"none"; "costless", not in the objective; "costly", the only one of its equation in the
linear term; "first" or "last" of the equation. "projected" is "none", and variables that
are in inequalities only are projected out.
"""
Rule = Callable[[Form], Iterator[ProofStep]]
"""Generator of proposed steps, the best one first; those that do not apply are skipped."""


def normal(
    form: Form, choice: Choice, clock: Clock, twin: Twin | None = None
) -> tuple[Form, tuple[ProofStep, ...]]:
    """Return the normal form of a form, and the steps that lead to it.

    Parameters
    ----------
    form : Form
        Any form.
    choice : Choice
        Bounded variables for which equations are solved.
    clock : Clock
        Time limit.
    twin : Twin, optional
        Form in parameters, if the steps must hold for all their values.

    Raises
    ------
    OutOfTime
        If the time is up.
    """
    steps: list[ProofStep] = []
    rules = [
        _free_solved,
        _said_once,
        _void,
        _opposite,
        _bounded_solved(choice),
        _at_zero,
        _forcing,
        _slack_solved,
        _zeroed,
        _minimised,
    ]
    rules += [_projected] if choice == "projected" else []
    while True:
        clock.ask("the normal form of a program")
        taken = next(_taken((step for rule in rules for step in rule(form)), form, twin), None)
        if taken is None:
            return form, tuple(steps)
        step, form, twin = taken
        steps.append(step)


def _taken(
    proposed: Iterable[ProofStep], form: Form, twin: Twin | None
) -> Iterator[tuple[ProofStep, Form, Twin | None]]:
    """Yield the steps that apply to a form and its twin, each with the new form and twin."""
    for step in proposed:
        with suppress(ValueError):
            after = step.apply(form)
            moved = None if twin is None else twin.after(step)
            if twin is None or moved is not None:
                yield step, after, moved


def _free_solved(form: Form) -> Iterator[ProofStep]:
    """Yield eliminations of a variable without bounds.

    Equations with a slack variable, which can become inequalities, are used last.
    """
    used = form.E != 0
    slack = used[:, form.bounded & (used.sum(axis=0) == 1)].any(axis=1)
    for r in np.argsort(slack, kind="stable"):
        free = np.flatnonzero(used[r] & ~form.bounded)
        if len(free):
            yield Elimination(int(r), int(min(free, key=lambda k: (abs(form.E[r, k]) != 1, k))))


def _bounded_solved(choice: Choice) -> Rule:
    def solved(form: Form) -> Iterator[ProofStep]:
        for r in range(len(form.e)):
            used = [int(k) for k in np.flatnonzero(form.E[r] != 0)]
            costly = [k for k in used if form.g[k] != 0]
            candidates = {
                "none": [],
                "costless": [k for k in used if not form.in_objective(k)],
                "costly": costly if len(costly) == 1 else [],
                "first": used,
                "last": used[::-1],
                "projected": [],
            }[choice]
            if candidates:
                yield Elimination(r, candidates[0])

    return solved


def _slack_solved(form: Form) -> Iterator[ProofStep]:
    """Yield eliminations of slack variables: in one equation, one bound, no objective."""
    for k in np.flatnonzero(form.bounded & ((form.E != 0).sum(axis=0) == 1)).tolist():
        if form.in_rows(k) == 2 and not form.in_objective(k):
            yield Elimination(int(np.flatnonzero(form.E[:, k] != 0)[0]), k)


def _void(form: Form) -> Iterator[ProofStep]:
    for r in range(len(form.e)):
        if form.e[r] == 0 and not (form.E[r] != 0).any():
            yield EmptyRow(r)


def _said_once(form: Form) -> Iterator[ProofStep]:
    """Yield removals of rows 0 <= f, f >= 0, and of all but the tightest of parallel rows."""
    tightest: dict[tuple[Any, ...], tuple[int, Any]] = {}
    for r, (row, end) in enumerate(zip(form.F, form.f, strict=True)):
        used = np.flatnonzero(row != 0)
        if len(used) == 0:
            if end >= 0:
                yield RedundantConstraint(r)
            continue
        size = abs(row[used[0]])
        direction = tuple(row / size)
        if direction not in tightest:
            tightest[direction] = (r, size)
            continue
        other, unit = tightest[direction]
        if end / size >= form.f[other] / unit:
            yield RedundantConstraint(r, other, size / unit)
        else:
            yield RedundantConstraint(other, r, unit / size)


def _opposite(form: Form) -> Iterator[ProofStep]:
    """Yield replacements of two opposite inequalities by an equation."""
    seen: dict[tuple[Any, ...], tuple[int, Any]] = {}
    for r, (row, end) in enumerate(zip(form.F, form.f, strict=True)):
        used = np.flatnonzero(row != 0)
        if len(used) == 0:
            continue
        size = abs(row[used[0]])
        seen[(*(row / size), end / size)] = (r, size)
        other, unit = seen.get((*(row / -size), end / -size), (r, size))
        if other != r:
            yield ImplicitEquality(r, other, unit / size)


def _at_zero(form: Form) -> Iterator[ProofStep]:
    """Yield shifts of a lower bound to 0, or of the upper one if there is no lower bound."""
    for k in np.flatnonzero(form.bounded).tolist():
        ends = {form.F[r, k] > 0: form.f[r] / form.F[r, k] for r in form.find_bounds(k)}
        end = ends.get(False, ends.get(True))
        if end != 0:
            yield VariableShift(k, end)


def _forcing(form: Form) -> Iterator[ProofStep]:
    for r in np.flatnonzero((form.E != 0).any(axis=1)).tolist():
        yield ForcingConstraint(r)


def _zeroed(form: Form) -> Iterator[ProofStep]:
    for k in np.flatnonzero(form.bounded).tolist():
        if form.in_rows(k) == 1:
            yield DominatedColumn(k)


def _minimised(form: Form) -> Iterator[ProofStep]:
    for k in np.flatnonzero(~form.bounded).tolist():
        if form.in_rows(k) == 0:
            yield PartialMinimization(k)


def _projected(form: Form) -> Iterator[ProofStep]:
    """Yield projections along a variable that do not increase the number of inequalities."""
    for k in range(form.n):
        ends = form.F[:, k][form.F[:, k] != 0]
        above = sum(bool(positive(end)) for end in ends)
        if above * (len(ends) - above) <= len(ends):
            yield Projection(k)
