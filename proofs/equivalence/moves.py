"""The steps of a reason: each turns a form into one of the same optimum, or into its dual, and refuses where it would not.

A step is data. `apply` checks its conditions in rational numbers and says in a sentence
which one is not met. Nothing here searches: `rules` and `renaming` propose steps, and a
reason is what went through here.

Source: S. Boyd, L. Vandenberghe, Convex Optimization, sections 4.1.3 (equivalent
problems) and 5.2 (the dual problem).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from flint import fmpq

from equimargin.proofs.equivalence.form import Form, semidefinite_for_all, zeros
from equimargin.proofs.equivalence.quotients import divisor, nonnegative, positive


@dataclass(frozen=True)
class Elimination:
    """Solve an equation for an unknown, and drop both; bounds of the unknown become rows."""

    equation: int
    unknown: int

    def apply(self, form: Form) -> Form:
        """Return the form without this equation and this unknown."""
        row = form.E[self.equation]
        pivot = divisor(row[self.unknown])
        _require(pivot != 0, f"unknown {self.unknown} is not in equation {self.equation}")
        a, c = row / -pivot, form.e[[self.equation]] / pivot
        a[self.unknown] = a[self.unknown] * 0
        return form.substituted(self.unknown, a, c).without_equation(self.equation)


@dataclass(frozen=True)
class PartialMinimization:
    """Minimise over an unknown that is in no row: by its optimality condition, or, where it has no cost, by leaving it out."""

    unknown: int

    def apply(self, form: Form) -> Form:
        """Return the minimum over this unknown."""
        k = self.unknown
        _require(form.in_rows(k) == 0, f"unknown {k} is in a row")
        curvature = divisor(form.H[k, k])
        if curvature == 0:
            _require(
                not form.in_objective(k), f"the objective has no least value over unknown {k} alone"
            )
            return form.without(k)
        _require(positive(curvature), f"the objective is not convex in unknown {k}")
        a = form.H[k] / -curvature
        a[k] = a[k] * 0
        return form.substituted(k, a, form.g[[k]] / -curvature)


@dataclass(frozen=True)
class DominatedColumn:
    """Fix at 0 an unknown that is at least 0 and in no other row, if the objective never decreases in it.

    Source: E. D. Andersen, K. D. Andersen, Presolving in linear programming (1995): dominated columns.
    """

    unknown: int

    def apply(self, form: Form) -> Form:
        """Return the form with the unknown at 0."""
        k = self.unknown
        rows = form.bounds_of(k)
        at_zero = (
            form.in_rows(k) == len(rows) == 1 and _at_least_zero(form, k) and form.f[rows[0]] == 0
        )
        _require(at_zero, f"unknown {k} has another row than x >= 0")
        steep = [j for j in range(form.n) if j != k and form.H[k, j] != 0]
        rising = nonnegative(form.g[k]) and nonnegative(form.H[k, k])
        rising = rising and all(
            nonnegative(form.H[k, j]) and _at_least_zero(form, j) for j in steep
        )
        _require(rising, f"the objective may decrease in unknown {k}")
        return form.without(k).without_inequalities(*rows)


@dataclass(frozen=True)
class ForcingConstraint:
    """Drop an equation a'x = 0 with a > 0 or a < 0 over unknowns x >= 0, and these unknowns, which are 0.

    Source: E. D. Andersen, K. D. Andersen, Presolving in linear programming (1995), section 3.2.
    """

    equation: int

    def apply(self, form: Form) -> Form:
        """Return the form with the unknowns of the equation at 0."""
        row = form.E[self.equation]
        used = np.flatnonzero(row != 0).tolist()
        one_sign = all(positive(row[k]) for k in used) or all(positive(-row[k]) for k in used)
        _require(
            used and one_sign and form.e[self.equation] == 0,
            f"equation {self.equation} forces no unknown to 0",
        )
        _require(
            all(_at_least_zero(form, k) for k in used),
            f"equation {self.equation} has an unknown that may be below 0",
        )
        rest = form.without_equation(self.equation)
        for k in reversed(used):
            rest = rest.without(k)
        return rest


@dataclass(frozen=True)
class Projection:
    """Project out an unknown without cost, in inequalities alone: each of its lower ends is at most each of its upper ends.

    Source: A. Schrijver, Theory of Linear and Integer Programming (1986), section 12.2 (Fourier-Motzkin elimination).
    """

    unknown: int

    def apply(self, form: Form) -> Form:
        """Return the form of the projection."""
        k, ends = self.unknown, form.F[:, self.unknown]
        _require(not (form.E[:, k] != 0).any(), f"unknown {k} is in an equation")
        _require(not form.in_objective(k), f"the objective depends on unknown {k}")
        used = np.flatnonzero(ends != 0).tolist()
        upper, lower = (
            [r for r in used if positive(ends[r])],
            [r for r in used if positive(-ends[r])],
        )
        _require(
            len(upper) + len(lower) == len(used), f"an inequality has no known sign at unknown {k}"
        )
        pairs = [(r, q) for r in upper for q in lower]
        F = [form.F[r] / divisor(ends[r]) - form.F[q] / divisor(ends[q]) for r, q in pairs]
        f = [form.f[[r]] / divisor(ends[r]) - form.f[[q]] / divisor(ends[q]) for r, q in pairs]
        rest = form.without_inequalities(*used)
        return replace(rest, F=np.vstack([rest.F, *F]), f=np.concatenate([rest.f, *f])).without(k)


@dataclass(frozen=True)
class EmptyRow:
    """Drop the equation 0 = 0."""

    equation: int

    def apply(self, form: Form) -> Form:
        """Return the form without the equation."""
        empty = not (form.E[self.equation] != 0).any() and form.e[self.equation] == 0
        _require(empty, f"equation {self.equation} says something")
        return form.without_equation(self.equation)


@dataclass(frozen=True)
class RedundantConstraint:
    """Drop an inequality that has no unknown, or that is a positive multiple of another one, no tighter."""

    row: int
    by: int | None = None
    times: Any = None

    def apply(self, form: Form) -> Form:
        """Return the form without the inequality."""
        left, end = form.F[self.row], form.f[self.row]
        if self.by is not None:
            _require(
                self.by != self.row and positive(self.times),
                "an inequality is implied by a positive multiple of another one",
            )
            left, end = left - form.F[self.by] * self.times, end - form.f[self.by] * self.times
        _require(
            not (left != 0).any() and nonnegative(end), f"inequality {self.row} is not implied"
        )
        return form.without_inequalities(self.row)


@dataclass(frozen=True)
class ImplicitEquality:
    """Make an equation of two opposite inequalities with one end, F x <= f and -times F x <= -times f."""

    row: int
    other: int
    times: Any

    def apply(self, form: Form) -> Form:
        """Return the form with the equation in place of both."""
        opposite = not (form.F[self.other] + form.F[self.row] * self.times != 0).any()
        one_end = form.f[self.other] + form.f[self.row] * self.times == 0
        _require(positive(self.times) and opposite and one_end, "the inequalities are not opposite")
        made = replace(
            form, E=np.vstack([form.E, form.F[self.row]]), e=np.append(form.e, form.f[[self.row]])
        )
        return made.without_inequalities(self.row, self.other)


@dataclass(frozen=True)
class VariableShift:
    """Shift an unknown: x_k = z_k + by."""

    unknown: int
    by: Any

    def apply(self, form: Form) -> Form:
        """Return the form in z."""
        return form.shifted(self.unknown, self.by)


@dataclass(frozen=True)
class ObjectiveMap:
    """Multiply the objective by a positive factor, and add an offset: the value map of the problem."""

    factor: Any
    offset: Any

    def apply(self, form: Form) -> Form:
        """Return the form with the other objective."""
        _require(positive(self.factor), "the factor of an objective is positive")
        return replace(
            form,
            H=form.H * self.factor,
            g=form.g * self.factor,
            constant=form.constant * self.factor + self.offset,
        )


@dataclass(frozen=True)
class LagrangianDual:
    """Take the Lagrangian dual, as a minimisation: its optimum is minus that of the form, where H is semidefinite and either is feasible.

    min  1/2 x'Hx + e'y + f'z - constant   s.t.   H x + E'y + F'z = -g,   z >= 0,   over those x that H has, y and z.

    An H of polynomials is semidefinite for all values of the parameters if it is a sum of squares of these times semidefinite matrices.
    """

    def apply(self, form: Form) -> Form:
        """Return the dual form."""
        curved = np.flatnonzero((form.H != 0).any(axis=0))
        x, y, z = len(curved), len(form.e), len(form.f)
        H, F = zeros(x + y + z, x + y + z), zeros(z, x + y + z)
        H[:x, :x] = form.H[np.ix_(curved, curved)]
        _require(
            semidefinite_for_all(form.H),
            "the quadratic term is not proven to be semidefinite for all values of the parameters",
        )
        F[np.arange(z), x + y + np.arange(z)] = fmpq(-1)
        E = np.hstack([form.H[:, curved], form.E.T, form.F.T])
        names = (*(form.names[k] for k in curved), *multiplier_names(form)) if form.names else ()
        return Form(
            H,
            np.concatenate([zeros(x), form.e, form.f]),
            -form.constant,
            E,
            -form.g,
            F,
            zeros(z),
            names,
        )


Move = (
    Elimination
    | PartialMinimization
    | DominatedColumn
    | ForcingConstraint
    | Projection
    | EmptyRow
    | RedundantConstraint
    | ImplicitEquality
    | VariableShift
    | ObjectiveMap
    | LagrangianDual
)
"""A step of a reason, before the two forms are compared."""


def multiplier_names(form: Form) -> tuple[str, ...]:
    """Return the names of the multipliers: y_1, y_2, ... of the equations, then z_1, z_2, ... of the inequalities."""
    return (
        *(f"y_{k + 1}" for k in range(len(form.e))),
        *(f"z_{k + 1}" for k in range(len(form.f))),
    )


def mapped(step: Move, number: Callable[[Any], Any]) -> Move:
    """Return a step with other numbers."""
    named = ((each.name, getattr(step, each.name)) for each in fields(step))
    return replace(
        step, **{name: number(v) for name, v in named if v is not None and not isinstance(v, int)}
    )


@dataclass(frozen=True, eq=False)
class Twin:
    """A form in parameters, beside the same form at some values of these.

    Parameters
    ----------
    form : Form
        Of quotients.
    number : Callable[[Any], Any]
        From a number of a step, which is one at those values, to the quotient that it
        is.
    """

    form: Form
    number: Callable[[Any], Any]

    def after(self, step: Move) -> Twin | None:
        """Return the twin after a step; None where it cannot take it."""
        try:
            return replace(self, form=mapped(step, self.number).apply(self.form))
        except ValueError:
            return None


@dataclass(frozen=True)
class Renaming:
    """A proof that two forms are one, number by number, with x_j = scales_j z_k, k = order_j.

    Parameters
    ----------
    rows : tuple[tuple[int, Any], ...]
        For every inequality of the first, the one of the second that it is, and by
        which positive factor.
    equations, back : tuple[tuple[Any, ...], ...]
        Matrices M with which the equations of the first are M times those of the
        second, and the other way round.
    """

    order: tuple[int, ...]
    scales: tuple[Any, ...]
    rows: tuple[tuple[int, Any], ...]
    equations: tuple[tuple[Any, ...], ...]
    back: tuple[tuple[Any, ...], ...]

    def holds(self, first: Form, second: Form) -> bool:
        """Return True if all numbers agree."""
        if (
            first.shape != second.shape
            or sorted(self.order) != list(range(first.n))
            or any(divisor(s) == 0 for s in self.scales)
        ):
            return False
        one = first.renamed(self.order, self.scales)
        objective = (
            _equal(one.H, second.H) and _equal(one.g, second.g) and one.constant == second.constant
        )
        return (
            bool(objective)
            and self._same_inequalities(one, second)
            and self._same_equations(one, second)
        )

    def mapped(self, number: Callable[[Any], Any]) -> Renaming:
        """Return the renaming with other numbers."""
        scales, rows = (
            tuple(map(number, self.scales)),
            tuple((r, number(factor)) for r, factor in self.rows),
        )
        equations, back = (
            tuple(tuple(map(number, row)) for row in M) for M in (self.equations, self.back)
        )
        return Renaming(self.order, scales, rows, equations, back)

    def _same_inequalities(self, one: Form, second: Form) -> bool:
        if sorted(r for r, _ in self.rows) != list(range(len(second.f))) or not all(
            positive(factor) for _, factor in self.rows
        ):
            return False
        sides = zip(one.F, one.f, self.rows, strict=True)
        return all(
            _equal(row, second.F[r] * factor) and end == second.f[r] * factor
            for row, end, (r, factor) in sides
        )

    def _same_equations(self, one: Form, second: Form) -> bool:
        for M, these, those in ((self.equations, one, second), (self.back, second, one)):
            for r, row in enumerate(M):
                left, end = zeros(one.n), fmpq(0)
                for v, other, by in zip(row, those.E, those.e, strict=True):
                    left, end = left + other * v, end + by * v
                if not _equal(left, these.E[r]) or end != these.e[r]:
                    return False
        return len(self.equations) == len(one.e) and len(self.back) == len(second.e)


def _at_least_zero(form: Form, k: int) -> bool:
    """Return True if an inequality says that unknown k is at least 0, or more."""
    return any(positive(-form.F[r, k]) and nonnegative(-form.f[r]) for r in form.bounds_of(k))


def _equal(a: Any, b: Any) -> bool:
    return not (a != b).any()


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
