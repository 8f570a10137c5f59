"""Steps of an equivalence proof: each maps a form to one of equal optimum, or to its dual.

A step is a `ProofStep`. Its method `apply` checks the conditions of the step in rational
numbers, and raises a ValueError that names the condition if one is violated. `rules`
and `renaming` propose steps; a proof consists of steps that `apply` has accepted.

References
----------
S. Boyd, L. Vandenberghe, Convex Optimization, sections 4.1.3 (equivalent problems) and
5.2 (the dual problem).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from equimargin.formulations.programs.extras import flint
from equimargin.proofs.equivalence.steps.form import Form, semidefinite_for_all, zeros
from equimargin.proofs.equivalence.steps.quotients import divisor, nonnegative, positive


@dataclass(frozen=True)
class ProofStep(ABC):
    """Step of an equivalence proof, before the comparison of the two forms."""

    @abstractmethod
    def apply(self, form: Form) -> Form:
        """Return the form after the step.

        Parameters
        ----------
        form : Form
            Form before the step.

        Raises
        ------
        ValueError
            If a condition of the step is violated.
        """

    def mapped(self, number: Callable[[Any], Any]) -> Self:
        """Return the step with mapped numbers; indices stay.

        Parameters
        ----------
        number : callable
            Map from a number of the step to the new number.
        """
        named = ((part.name, getattr(self, part.name)) for part in fields(self))
        return replace(
            self,
            **{name: number(v) for name, v in named if v is not None and not isinstance(v, int)},
        )


@dataclass(frozen=True)
class Elimination(ProofStep):
    """Elimination of a variable by an equation; the variable's bounds become inequalities."""

    equation: int
    unknown: int

    def apply(self, form: Form) -> Form:
        row = form.E[self.equation]
        pivot = divisor(row[self.unknown])
        _require(pivot != 0, f"variable {self.unknown} is not in equation {self.equation}")
        a, c = row / -pivot, form.e[[self.equation]] / pivot
        a[self.unknown] = a[self.unknown] * 0
        return form.substituted(self.unknown, a, c).without_equation(self.equation)


@dataclass(frozen=True)
class PartialMinimization(ProofStep):
    """Minimisation over a variable that is in no row, by its optimality condition.

    A variable that is not in the objective either is dropped.
    """

    unknown: int

    def apply(self, form: Form) -> Form:
        k = self.unknown
        _require(form.in_rows(k) == 0, f"variable {k} is in a row")
        curvature = divisor(form.H[k, k])
        if curvature == 0:
            _require(
                not form.in_objective(k),
                f"the objective has no least value over variable {k} alone",
            )
            return form.without(k)
        _require(positive(curvature), f"the objective is not convex in variable {k}")
        a = form.H[k] / -curvature
        a[k] = a[k] * 0
        return form.substituted(k, a, form.g[[k]] / -curvature)


@dataclass(frozen=True)
class DominatedColumn(ProofStep):
    """Fixing at 0 of a variable in no row but x >= 0, if the objective never decreases in x.

    References
    ----------
    E. D. Andersen, K. D. Andersen, Presolving in linear programming (1995): dominated
    columns.
    """

    unknown: int

    def apply(self, form: Form) -> Form:
        k = self.unknown
        rows = form.find_bounds(k)
        at_zero = (
            form.in_rows(k) == len(rows) == 1 and _at_least_zero(form, k) and form.f[rows[0]] == 0
        )
        _require(at_zero, f"variable {k} has another row than x >= 0")
        steep = [j for j in range(form.n) if j != k and form.H[k, j] != 0]
        rising = nonnegative(form.g[k]) and nonnegative(form.H[k, k])
        rising = rising and all(
            nonnegative(form.H[k, j]) and _at_least_zero(form, j) for j in steep
        )
        _require(rising, f"the objective may decrease in variable {k}")
        return form.without(k).without_inequalities(*rows)


@dataclass(frozen=True)
class ForcingConstraint(ProofStep):
    """Removal of an equation a'x = 0 with a > 0 or a < 0 and x >= 0, which implies x = 0.

    References
    ----------
    E. D. Andersen, K. D. Andersen, Presolving in linear programming (1995), section
    3.2.
    """

    equation: int

    def apply(self, form: Form) -> Form:
        row = form.E[self.equation]
        used = np.flatnonzero(row != 0).tolist()
        one_sign = all(positive(row[k]) for k in used) or all(positive(-row[k]) for k in used)
        _require(
            used and one_sign and form.e[self.equation] == 0,
            f"equation {self.equation} forces no variable to 0",
        )
        _require(
            all(_at_least_zero(form, k) for k in used),
            f"equation {self.equation} has a variable that may be below 0",
        )
        rest = form.without_equation(self.equation)
        for k in reversed(used):
            rest = rest.without(k)
        return rest


@dataclass(frozen=True)
class Projection(ProofStep):
    """Elimination of a variable that is in inequalities only, by Fourier-Motzkin.

    The new inequalities state that each lower bound is at most each upper bound.

    References
    ----------
    A. Schrijver, Theory of Linear and Integer Programming (1986), section 12.2
    (Fourier-Motzkin elimination).
    """

    unknown: int

    def apply(self, form: Form) -> Form:
        k, ends = self.unknown, form.F[:, self.unknown]
        _require(not (form.E[:, k] != 0).any(), f"variable {k} is in an equation")
        _require(not form.in_objective(k), f"the objective depends on variable {k}")
        used = np.flatnonzero(ends != 0).tolist()
        upper, lower = (
            [r for r in used if positive(ends[r])],
            [r for r in used if positive(-ends[r])],
        )
        _require(
            len(upper) + len(lower) == len(used), f"an inequality has no known sign at variable {k}"
        )
        pairs = [(r, q) for r in upper for q in lower]
        F = [form.F[r] / divisor(ends[r]) - form.F[q] / divisor(ends[q]) for r, q in pairs]
        f = [form.f[[r]] / divisor(ends[r]) - form.f[[q]] / divisor(ends[q]) for r, q in pairs]
        rest = form.without_inequalities(*used)
        return replace(rest, F=np.vstack([rest.F, *F]), f=np.concatenate([rest.f, *f])).without(k)


@dataclass(frozen=True)
class EmptyRow(ProofStep):
    """Removal of the equation 0 = 0."""

    equation: int

    def apply(self, form: Form) -> Form:
        empty = not (form.E[self.equation] != 0).any() and form.e[self.equation] == 0
        _require(empty, f"equation {self.equation} is not 0 = 0")
        return form.without_equation(self.equation)


@dataclass(frozen=True)
class RedundantConstraint(ProofStep):
    """Removal of an inequality without variables, or implied by another inequality.

    `times` > 0 is the multiple of the inequality `by` that implies it.
    """

    row: int
    by: int | None = None
    times: Any = None

    def apply(self, form: Form) -> Form:
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
class ImplicitEquality(ProofStep):
    """Replacement of the inequalities a'x <= f and -times a'x <= -times f by a'x = f."""

    row: int
    other: int
    times: Any

    def apply(self, form: Form) -> Form:
        opposite = not (form.F[self.other] + form.F[self.row] * self.times != 0).any()
        one_end = form.f[self.other] + form.f[self.row] * self.times == 0
        _require(positive(self.times) and opposite and one_end, "the inequalities are not opposite")
        made = replace(
            form, E=np.vstack([form.E, form.F[self.row]]), e=np.append(form.e, form.f[[self.row]])
        )
        return made.without_inequalities(self.row, self.other)


@dataclass(frozen=True)
class VariableShift(ProofStep):
    """Shift of a variable: x_k = z_k + `by`, with the new variable z_k."""

    unknown: int
    by: Any

    def apply(self, form: Form) -> Form:
        return form.shifted(self.unknown, self.by)


@dataclass(frozen=True)
class ObjectiveMap(ProofStep):
    """Multiplication of the objective by a positive factor, plus an offset: a value map."""

    factor: Any
    offset: Any

    def apply(self, form: Form) -> Form:
        _require(positive(self.factor), "the factor of an objective is positive")
        return replace(
            form,
            H=form.H * self.factor,
            g=form.g * self.factor,
            constant=form.constant * self.factor + self.offset,
        )


@dataclass(frozen=True)
class LagrangianDual(ProofStep):
    """Lagrangian dual, as a minimisation: its optimum is minus that of the form.

        min  1/2 x'Hx + e'y + f'z - constant   s.t.   H x + E'y + F'z = -g,   z >= 0

    The variables are y, z and those x_j with a nonzero column of H. H must be positive
    semidefinite. The form or its dual must be feasible, which `apply` does not check. An
    H with parameters is semidefinite for all their values if it is a sum of squares of
    monomials times semidefinite matrices.
    """

    def apply(self, form: Form) -> Form:
        curved = np.flatnonzero((form.H != 0).any(axis=0))
        x, y, z = len(curved), len(form.e), len(form.f)
        H, F = zeros(x + y + z, x + y + z), zeros(z, x + y + z)
        H[:x, :x] = form.H[np.ix_(curved, curved)]
        _require(
            semidefinite_for_all(form.H),
            "the quadratic term is not proven to be semidefinite for all values of the parameters",
        )
        F[np.arange(z), x + y + np.arange(z)] = flint.fmpq(-1)
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


def multiplier_names(form: Form) -> tuple[str, ...]:
    """Return the names of the multipliers: y_1, y_2, ... and then z_1, z_2, ...

    y are the multipliers of equations, z those of inequalities.

    Parameters
    ----------
    form : Form
        Form with equations and inequalities.
    """
    return (
        *(f"y_{k + 1}" for k in range(len(form.e))),
        *(f"z_{k + 1}" for k in range(len(form.f))),
    )


@dataclass(frozen=True, eq=False)
class Twin:
    """Form in parameters, to accompany a form at some values of the parameters.

    Parameters
    ----------
    form : Form
        Form whose numbers are quotients of polynomials in the parameters.
    number : callable
        Map from a number of a step, at those values, to the quotient with this value.
    """

    form: Form
    number: Callable[[Any], Any]

    def after(self, step: ProofStep) -> Twin | None:
        """Return the twin after a step; None if the step does not apply.

        Parameters
        ----------
        step : ProofStep
            Step.
        """
        try:
            return replace(self, form=step.mapped(self.number).apply(self.form))
        except ValueError:
            return None


@dataclass(frozen=True)
class Renaming:
    """Proof that two forms are equal, number by number, with x_j = scales_j z_k, k = order_j.

    Parameters
    ----------
    rows : tuple of (int, number)
        For every inequality of the first form: the inequality of the second form that
        is a positive multiple of it, and the factor.
    equations : tuple of rows
        Matrix M such that the equations of the first form are M times those of the
        second.
    back : tuple of rows
        Matrix M such that the equations of the second form are M times those of the
        first.
    """

    order: tuple[int, ...]
    scales: tuple[Any, ...]
    rows: tuple[tuple[int, Any], ...]
    equations: tuple[tuple[Any, ...], ...]
    back: tuple[tuple[Any, ...], ...]

    def holds(self, first: Form, second: Form) -> bool:
        """Return True if the renaming maps the first form to the second, number by number.

        Parameters
        ----------
        first : Form
            First form.
        second : Form
            Second form.
        """
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
        """Return the renaming with mapped numbers; indices stay.

        Parameters
        ----------
        number : callable
            Map from a number of the renaming to the new number.
        """
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
                left, end = zeros(one.n), flint.fmpq(0)
                for v, other, by in zip(row, those.E, those.e, strict=True):
                    left, end = left + other * v, end + by * v
                if not _equal(left, these.E[r]) or end != these.e[r]:
                    return False
        return len(self.equations) == len(one.e) and len(self.back) == len(second.e)


def _at_least_zero(form: Form, k: int) -> bool:
    """Return True if an inequality implies that variable k is at least 0."""
    return any(positive(-form.F[r, k]) and nonnegative(-form.f[r]) for r in form.find_bounds(k))


def _equal(a: Any, b: Any) -> bool:
    return not (a != b).any()


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
