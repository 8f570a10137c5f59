"""Search for a renaming with scales, x_j = s_j z_k, that maps one form to another.

It is found by colour refinement and backtracking, and then verified. The colour of a
variable or of a row consists of properties independent of order and scale, and is
refined until it distinguishes no more of them. With L_j, the square of a length that
scales with the variable, such as the distance between its bounds or 1 / sqrt(H_jj),
these numbers do not depend on the scale:

    g_j^2 L_j,   H_ij^2 L_i L_j,   F_rj^2 L_j / f_r^2.

References
----------
B. D. McKay, Practical graph isomorphism (1981), for the refinement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np

from equimargin.formulations.programs.extras import flint
from equimargin.proofs.equivalence.steps.form import Form, zeros
from equimargin.proofs.equivalence.steps.moves import Renaming
from equimargin.solvers.exact.program.clock import Clock

NODES = 300
"""Maximum number of partial renamings of a search.

Most renamings are found with as many as there are variables.
"""
ROUNDS = 8
"""Maximum number of refinements of the colours, which are mostly stable after three."""
END = -1
"""Key of the right-hand side in a dictionary of a row, whose other keys are variables."""
Row = tuple[tuple[tuple[int, Any], ...], Any]
"""Inequality: pairs of variable and coefficient, in order, and the right-hand side."""


@dataclass(frozen=True, eq=False)
class ColourRefinement:
    """Form with properties that no renaming changes."""

    form: Form

    @cached_property
    def ends(self) -> list[tuple[Any, Any]]:
        """Lower and upper bound of every variable, None without one."""
        bounds: list[tuple[Any, Any]] = [(None, None)] * self.form.n
        for r in np.flatnonzero(self.form.bounds).tolist():
            k = int(np.flatnonzero(self.form.F[r] != 0)[0])
            (low, high), end = bounds[k], self.form.f[r] / self.form.F[r, k]
            bounds[k] = (low, end) if self.form.F[r, k] > 0 else (end, high)
        return bounds

    @cached_property
    def squares(self) -> list[Any]:
        """Squared length L_j of every variable, as in the module; None if it has no length."""
        form, squares = self.form, []
        for k, (low, high) in enumerate(self.ends):
            if low is not None and high is not None and high != low:
                squares.append((high - low) ** 2)
            elif form.H[k, k] != 0:
                squares.append(1 / form.H[k, k])
            else:
                squares.append(None if form.g[k] == 0 else 1 / form.g[k] ** 2)
        return squares

    @cached_property
    def rows(self) -> set[Row]:
        """Inequalities, each divided by the absolute value of its first coefficient."""
        used = [np.flatnonzero(row != 0).tolist() for row in self.form.F]
        return {
            scaled_row({k: self.form.F[r, k] for k in used[r]}, end)
            for r, end in enumerate(self.form.f)
        }

    @cached_property
    def rows_of(self) -> list[list[dict[int, Any]]]:
        """Inequalities of every variable: coefficients by variable, right-hand side by END."""
        rows: list[list[dict[int, Any]]] = [[] for _ in range(self.form.n)]
        for row, end in zip(self.form.F, self.form.f, strict=True):
            used = np.flatnonzero(row != 0).tolist()
            for k in used:
                rows[k].append({**{j: row[j] for j in used}, END: end})
        return rows

    @cached_property
    def colours(self) -> tuple[list[int], list[int]]:
        """Colours of the variables, and of the inequalities that are not bounds."""
        unknowns = [hash(self._own(k)) for k in range(self.form.n)]
        rows = [r for r in range(len(self.form.f)) if not self.form.bounds[r]]
        entries = {r: self._entries(r) for r in rows}
        pairs = [self._pairs(k) for k in range(self.form.n)]
        signs = {r: _sign(self.form.f[r]) for r in rows}
        # A round hashes every row by its variables, then every variable by its rows.
        for _ in range(ROUNDS):
            kinds = len(set(unknowns))
            seen = {
                r: hash(
                    (signs[r], tuple(sorted(hash((v, unknowns[k])) for k, v in entries[r].items())))
                )
                for r in rows
            }
            unknowns = [
                hash(
                    (
                        unknowns[k],
                        tuple(sorted(hash((v, unknowns[j])) for j, v in pairs[k].items())),
                        tuple(
                            sorted(hash((seen[r], entries[r][k])) for r in rows if k in entries[r])
                        ),
                    )
                )
                for k in range(self.form.n)
            ]
            if len(set(unknowns)) == kinds:
                break
        return unknowns, sorted(seen.values())

    def _own(self, k: int) -> tuple[Any, ...]:
        low, high = self.ends[k]
        g, square = self.form.g[k], self.squares[k]
        ways = sorted((low is not None, high is not None))
        cost = None if square is None else g * g * square
        in_equations = int((self.form.E[:, k] != 0).sum() > 0)
        return (
            *ways,
            cost,
            _sign(g) * (1 if low is not None else -1 if high is not None else _sign(g)),
            in_equations,
        )

    def _pairs(self, k: int) -> dict[int, Any]:
        """Return H_kj^2 L_k L_j by variable j; None for an unknown length."""
        row, pairs = self.form.H[k], {}
        for j in np.flatnonzero(row != 0).tolist():
            known = self.squares[j] is not None and self.squares[k] is not None
            pairs[j] = row[j] ** 2 * self.squares[j] * self.squares[k] if known else None
        return pairs

    def _entries(self, r: int) -> dict[int, Any]:
        """Return F_rk^2 L_k / f_r^2 by variable k.

        If f_r = 0, f_r^2 is replaced by the sum of all F_rk^2 L_k. None if a length is unknown.
        """
        row, end = self.form.F[r], self.form.f[r]
        used = np.flatnonzero(row != 0).tolist()
        sizes: dict[int, Any] = {
            k: None if self.squares[k] is None else row[k] ** 2 * self.squares[k] for k in used
        }
        unit: Any = None
        if end != 0:
            unit = end**2
        elif None not in sizes.values():
            unit = sum(sizes.values(), flint.fmpq(0))
        return {k: None if unit is None or v is None else v / unit for k, v in sizes.items()}


@dataclass(eq=False)
class RenamingSearch:
    """Search for a renaming of one form to another.

    Parameters
    ----------
    first, second : ColourRefinement
        Forms of equal shape.
    clock : Clock
        Time limit.
    nodes : int
        Number of partial renamings tried.
    """

    first: ColourRefinement
    second: ColourRefinement
    clock: Clock
    nodes: int = field(default=0, init=False)

    def run(self) -> Renaming | None:
        """Return the renaming, or None if none was found.

        Raises
        ------
        OutOfTime
            If the time is up.
        """
        p, q = self.first.form, self.second.form
        if p.shape != q.shape or p.constant != q.constant:
            return None
        (mine, my_rows), (theirs, their_rows) = self.first.colours, self.second.colours
        if Counter(mine) != Counter(theirs) or my_rows != their_rows:
            return None
        order = sorted(range(p.n), key=lambda k: (mine.count(mine[k]), k))
        return self._extended(order, {}, {})

    def _extended(
        self, order: Sequence[int], to: dict[int, int], scales: dict[int, Any]
    ) -> Renaming | None:
        self.nodes += 1
        if self.nodes > NODES:
            return None
        self.clock.ask("the search for a renaming")
        if len(to) == len(order):
            n = len(order)
            return verified(
                self.first.form,
                self.second.form,
                tuple(to[k] for k in range(n)),
                tuple(scales[k] for k in range(n)),
            )
        # Candidates have the colour of variable j; the one of equal index goes first.
        j, taken = order[len(to)], set(to.values())
        same = [
            k
            for k, colour in enumerate(self.second.colours[0])
            if colour == self.first.colours[0][j] and k not in taken
        ]
        for k in sorted(same, key=lambda k: (k != j, k)):
            for s in self._scales(j, k):
                if self._fits(j, k, s, to, scales):
                    renaming = self._extended(order, {**to, j: k}, {**scales, j: s})
                    if renaming is not None or self.nodes > NODES:
                        return renaming
        return None

    def _fits(self, j: int, k: int, s: Any, to: dict[int, int], scales: dict[int, Any]) -> bool:
        """Return True if x_j = s z_k agrees with the objective and the renamed variables."""
        p, q = self.first.form, self.second.form
        if p.g[j] * s != q.g[k] or p.H[j, j] * s * s != q.H[k, k]:
            return False
        if any(p.H[j, i] * s * scales[i] != q.H[k, other] for i, other in to.items()):
            return False
        known = {**to, j: k, END: END}
        factors = {**scales, j: s, END: 1}
        whole = (row for row in self.first.rows_of[j] if row.keys() <= known.keys())
        images = ({known[i]: v * factors[i] for i, v in row.items()} for row in whole)
        return all(scaled_row(image, image.pop(END)) in self.second.rows for image in images)

    def _scales(self, j: int, k: int) -> Iterator[Any]:
        """Yield the scales s for which x_j = s z_k fits the bounds and lengths of both."""
        (low, high), (other_low, other_high) = self.first.ends[j], self.second.ends[k]
        one, other = self.first.squares[j], self.second.squares[k]
        if one is not None and other is not None:
            size = root(one / other)
            sizes = [] if size is None else [size]
        else:
            sizes = self._sizes_by_rows(j, k) if (one is None) == (other is None) else []
        for size in sizes:
            if (low is None, high is None) == (other_low is None, other_high is None):
                yield size
            if (low is None, high is None) == (other_high is None, other_low is None):
                yield -size

    def _sizes_by_rows(self, j: int, k: int) -> list[Any]:
        """Return candidate sizes of scales: 1, and ratios of coefficients in rows.

        They are for variables without a length.
        """
        sizes: list[Any] = [flint.fmpq(1)]
        for M, N in (
            (self.first.form.F, self.second.form.F),
            (self.first.form.E, self.second.form.E),
        ):
            for a in np.flatnonzero(M[:, j] != 0)[:2]:
                sizes += [abs(N[b, k] / M[a, j]) for b in np.flatnonzero(N[:, k] != 0)]
        return list(dict.fromkeys(sizes))


def scaled_row(entries: dict[int, Any], end: Any) -> Row:
    """Return the inequality divided by the absolute value of its first coefficient.

    Parameters
    ----------
    entries : dict of int to number
        Coefficients, by variable.
    end : flint.fmpq
        Right-hand side.
    """
    ordered = sorted(entries.items())
    size = abs(ordered[0][1]) if ordered else 1
    return tuple((k, v / size) for k, v in ordered), end / size


def verified(
    first: Form, second: Form, order: tuple[int, ...], scales: tuple[Any, ...]
) -> Renaming | None:
    """Return the complete renaming if it maps the first form to the second, or None.

    Parameters
    ----------
    first : Form
        First form.
    second : Form
        Second form.
    order : tuple of int
        Index of the new variable for each variable.
    scales : tuple of numbers
        Scale of each variable.
    """
    one = first.renamed(order, scales)
    rows = _rows_onto(one, second)
    equations, back = _combinations(one, second), _combinations(second, one)
    if rows is None or equations is None or back is None:
        return None
    renaming = Renaming(order, scales, rows, equations, back)
    return renaming if renaming.holds(first, second) else None


def _rows_onto(one: Form, second: Form) -> tuple[tuple[int, Any], ...] | None:
    """Return, for each inequality of `one`, the one of `second` that is a multiple of it.

    The result is pairs of index and factor, or None if an inequality has no such partner.
    """
    known = {}
    for r, (row, end) in enumerate(zip(second.F, second.f, strict=True)):
        size = _size(row, end)
        known[(*(row / size), end / size)] = (r, size)
    pairs = []
    for row, end in zip(one.F, one.f, strict=True):
        size = _size(row, end)
        name = (*(row / size), end / size)
        if name not in known:
            return None
        r, unit = known[name]
        pairs.append((r, size / unit))
    return tuple(pairs)


def _size(row: Any, end: Any) -> Any:
    """Return the absolute value of the first nonzero number of an inequality."""
    return next((abs(v) for v in (*row, end) if v != 0), flint.fmpq(1))


def _combinations(these: Form, those: Form) -> tuple[tuple[Any, ...], ...] | None:
    """Return M such that the equations of `these` are M times those of `those`, or None."""
    height, width = those.E.shape
    left = np.hstack([those.E, those.e[:, None], zeros(height, height)])
    left[np.arange(height), width + 1 + np.arange(height)] = flint.fmpq(1)
    # Gauss-Jordan elimination of [E e I], whose last block records the row operations.
    pivots: list[tuple[int, int]] = []
    for k in range(width + 1):
        done = len(pivots)
        pivot = next((r for r in range(done, height) if left[r, k] != 0), None)
        if pivot is None:
            continue
        left[[done, pivot]] = left[[pivot, done]]
        left[done] = left[done] / left[done, k]
        for i in range(height):
            if i != done:
                left[i] = left[i] - left[done] * left[i, k]
        pivots.append((done, k))
    combinations = []
    for row, end in zip(these.E, these.e, strict=True):
        rest, by = np.append(row, end), zeros(height)
        for r, k in pivots:
            by = by + left[r, width + 1 :] * rest[k]
            rest = rest - left[r, : width + 1] * rest[k]
        if (rest != 0).any():
            return None
        combinations.append(tuple(by))
    return tuple(combinations)


def root(v: Any) -> Any:
    """Return the rational square root of a positive number, or None.

    Parameters
    ----------
    v : flint.fmpq
        Positive number.
    """
    a, b = isqrt(int(v.p)), isqrt(int(v.q))
    return flint.fmpq(a, b) if a * a == int(v.p) and b * b == int(v.q) else None


def _sign(v: Any) -> int:
    return int(v > 0) - int(v < 0)
