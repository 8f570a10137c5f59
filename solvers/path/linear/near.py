"""Which rows, or columns, of a program are near their ends. The others need no look while no function has moved as far as they are away.

    left_r(h) = base_r - (sign_r (h_i - h_j) + s_r h_last),        way_r left_r >= 0,   s in [-1, 1]

is what the row r has left of its margin, where h is the function at the points, 0 at
the origin, and last the bias; or what the column r has left of its price, where last is
-lambda. When h becomes g no left_r changes by more than the spread of g - h, its
largest value less its smallest one, that of the origin among them, and the size of the
change of the last. So the rows of which more is left at some h are not due before the
spread reaches that, and only those of a list are looked at. A list is made anew when
the function has left its reach, which means a look at all rows; each time the reach is
halved or doubled, so that the looks at a list cost about as much as making it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.path.linear.factor import Index

PROVEN = 0.99
"""Share of a list's reach that a function may move: what is left of it is far more than what rounding makes of a function."""
LEAST_REACH = 1e-9
"""The smallest reach of a list, over the size of the function: a hundred thousand times what rounding makes of it."""


class AffineRows(NamedTuple):
    """What rises by how much with a function: (p,) each, the rows of a program, or its columns. s is 1 for the columns."""

    i: Index
    j: Index
    sign: Array
    s: Array


class RowsNearEnds(NamedTuple):
    """Rows or columns, and the list of those near their ends; the arrays change in place.

    Parameters
    ----------
    lines, base : array of shape (p,)
        What is left of each of them.
    way : ndarray of shape (p,)
        1 or -1, the sign of what is left; 0 where that is 0 for the basis.
    listed : Index of shape (p,)
        Their numbers on the list, increasing, of which the first count.
    at : ndarray of shape (m + 2,)
        The function of the list.
    counts : Index of shape (2,)
        How many are on the list, and the looks at single ones since it was made.
    reach : ndarray of shape (2,)
        What is left, at most, of those on a list that is made to last, and of those on
        the present one.
    least_reach : float
        Of a list that is made to last.
    """

    lines: AffineRows
    base: Array
    way: Array
    listed: Index
    at: Array
    counts: Index
    reach: Array
    least_reach: float


def unlisted(
    lines: AffineRows, base: Array, way: Array, points: int, least_reach: float
) -> RowsNearEnds:
    """Rows or columns without a list as yet; the arguments are those of `RowsNearEnds`, and the number of points."""
    listed, counts, reach = (
        np.zeros(len(way), dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.array([1.0, -1.0]),
    )
    return RowsNearEnds(lines, base, way, listed, np.zeros(points + 2), counts, reach, least_reach)


@fast
def _spread(h: Array, to: Array, step: float, at: Array) -> float:
    """By how much what is left of a row differs between the functions h + step to and at, at most."""
    low, high, last = 0.0, 0.0, len(h) - 1
    for k in range(last):
        change = h[k] + step * to[k] - at[k]
        low, high = smaller(low, change), larger(high, change)
    return float(high - low + abs(h[last] + step * to[last] - at[last]))


@fast
def _listing(of: AffineRows, base: Array, way: Array, h: Array, reach: float, listed: Index) -> int:
    """List all of which at most `reach` is left; how many they are."""
    i, j, sign, s, last, count = of.i.view(np.uint64), of.j.view(np.uint64), of.sign, of.s, h[-1], 0
    for r in range(len(base)):
        left = base[r] - (sign[r] * (h[i[r]] - h[j[r]]) + s[r] * last)
        listed[count] = r
        count += 1 if way[r] * left <= reach else 0
    return count


@part
def _make(of: RowsNearEnds, h: Array, reach: float) -> None:
    """Make the list of all of which at most `reach` is left."""
    count = _listing(of.lines, of.base, of.way, h, reach, of.listed)
    for k in range(len(h)):
        of.at[k] = h[k]
    of.counts[0], of.counts[1], of.reach[1] = count, 0, reach


@part
def _look(of: RowsNearEnds, h: Array) -> int:
    """Let the list be one that holds for a function; how many are on it, which the caller then looks at."""
    rows, looks = len(of.base), of.counts[1]
    if _spread(h, h, 0.0, of.at) > PROVEN * of.reach[1] or looks > 2 * rows:
        of.reach[0] = max(
            of.reach[0] * (2.0 if looks < rows else 0.5),
            of.least_reach,
            LEAST_REACH * np.abs(h).max(),
        )
        _make(of, h, of.reach[0])
    of.counts[1] += of.counts[0]
    return int(of.counts[0])


@fast
def _soonest(
    of: AffineRows,
    base: Array,
    way: Array,
    listed: Index,
    h: Array,
    to: Array,
    slowest: float,
    limit: float,
) -> tuple[float, int]:
    """As `first`, of those on the list."""
    i, j, sign, s, last, end, step, row = (
        of.i.view(np.uint64),
        of.j.view(np.uint64),
        of.sign,
        of.s,
        h[-1],
        to[-1],
        limit,
        -1,
    )
    for number in range(len(listed)):
        r = np.uint64(listed[number])
        speed = way[r] * (sign[r] * (to[i[r]] - to[j[r]]) + s[r] * end)
        left = larger(way[r] * (base[r] - (sign[r] * (h[i[r]] - h[j[r]]) + s[r] * last)), 0.0)
        if speed > slowest and left < step * speed:
            step, row = left / speed, listed[number]
    return step, row


@part
def first(of: RowsNearEnds, h: Array, to: Array, slowest: float, limit: float) -> tuple[float, int]:
    """The least step t at which nothing is left of a row at h + t to, and the row; a row of which less than nothing is left has t = 0.

    Parameters
    ----------
    of : RowsNearEnds
        The rows.
    h, to : ndarray of shape (m + 2,)
        A function, and how it changes.
    slowest : float
        Rows whose way speed is at most this are not met.
    limit : float
        The step that counts; where no row is met before it, it is returned, with -1.
    """
    count = _look(of, h)
    step, row = _soonest(of.lines, of.base, of.way, of.listed[:count], h, to, slowest, limit)
    if (
        _spread(h, to, step, of.at) > PROVEN * of.reach[1]
        if step < np.inf
        else count < len(of.base)
    ):
        _make(of, h, _spread(h, to, step, h) / PROVEN if step < np.inf else np.inf)
        step, row = _soonest(
            of.lines, of.base, of.way, of.listed[: of.counts[0]], h, to, slowest, limit
        )
        of.reach[1] = -1.0  # it is long, and the step leaves it
    return step, row


@fast
def _least_listed(of: AffineRows, base: Array, listed: Index, h: Array) -> float:
    """As `least`, of those on the list."""
    i, j, sign, s, last, lowest = (
        of.i.view(np.uint64),
        of.j.view(np.uint64),
        of.sign,
        of.s,
        h[-1],
        0.0,
    )
    for number in range(len(listed)):
        r = np.uint64(listed[number])
        lowest = smaller(lowest, base[r] - (sign[r] * (h[i[r]] - h[j[r]]) + s[r] * last))
    return lowest


@part
def least(of: RowsNearEnds, h: Array) -> float:
    """The least that is left of anything whose way is 0 or 1, or 0 if that is less."""
    count = _look(of, h)
    return _least_listed(of.lines, of.base, of.listed[:count], h)


@fast
def _misplaced_listed(of: AffineRows, way: Array, listed: Index, h: Array) -> float:
    """As `misplaced`, of those on the list."""
    i, j, sign, s, last, total = (
        of.i.view(np.uint64),
        of.j.view(np.uint64),
        of.sign,
        of.s,
        h[-1],
        0.0,
    )
    for number in range(len(listed)):
        r = np.uint64(listed[number])
        lack = 1.0 - (sign[r] * (h[i[r]] - h[j[r]]) + s[r] * last)
        total += larger(-lack if way[r] > 0.0 else lack, 0.0)
    return total


@part
def misplaced(of: RowsNearEnds, h: Array) -> float:
    """The sum of what the margins of rows whose way is not 1 lack of 1, and of those whose way is 1 exceed it, where they do."""
    count = _look(of, h)
    return _misplaced_listed(of.lines, of.way, of.listed[:count], h)
