"""Rows or columns near distance 0; others are skipped until f has moved far enough.

    left_r(h) = base_r - (sign_r (h_i - h_j) + s_r h_last),        way_r left_r >= 0,   s in [-1, 1]

is the distance of the margin of row r to 1, where h is the function at the points, 0 at
the origin, and last the bias; or the reduced cost of column r, where last is -lambda.
When h becomes g no left_r changes by more than the spread of g - h, its largest value
less its smallest one, including that of the origin, plus the absolute change of the
last entry. A row reaches distance 0 only after the spread has reached its distance.
Therefore only listed rows are examined, those whose distance was at most the reach of
the list when it was made. When the spread exceeds the reach, a new list is made from
all rows; each time the reach is halved or doubled, so that examining lists costs about
as much as making them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller

PROVEN = 0.99
"""Fraction of a list's reach that a function may move.

The remainder is far more than the rounding error of a function.
"""
LEAST_REACH = 1e-9
"""Minimum reach of a list, relative to the size of the function.

A hundred thousand times the rounding error of a function.
"""


class AffineRows(NamedTuple):
    """Coefficients of affine functionals: the rows of a program, or its columns.

    Arrays of shape (p,), with the names of the module's formula; s is 1 for the
    columns.
    """

    i: Index
    j: Index
    sign: Array
    s: Array


class RowsNearEnds(NamedTuple):
    """Rows or columns, and the list of those near distance 0; the arrays change in place.

    Parameters
    ----------
    lines, base : AffineRows, ndarray of shape (p,)
        Coefficients of the distances.
    way : ndarray of shape (p,)
        1 or -1, the sign of the distance; 0 for the basis, whose distances are 0.
    listed : Index of shape (p,)
        Numbers of the listed rows, increasing, in the first counts[0] places.
    at : ndarray of shape (m + 2,)
        Function at which the list was made.
    counts : Index of shape (2,)
        Number of listed rows, and of single rows examined since the list was made.
    reach : ndarray of shape (2,)
        Maximum distance of listed rows: of a list for several steps, and of the present
        list, which may be for one step.
    least_reach : float
        Minimum reach of a list for several steps.
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
    """Return rows or columns without a list.

    Parameters
    ----------
    lines, base, way, least_reach
        As in `RowsNearEnds`.
    points : int
        Number of points, m.
    """
    listed, counts, reach = (
        np.zeros(len(way), dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.array([1.0, -1.0]),
    )
    return RowsNearEnds(lines, base, way, listed, np.zeros(points + 2), counts, reach, least_reach)


@fast
def _spread(h: Array, to: Array, step: float, at: Array) -> float:
    """Return the largest change of a row's distance between h + step to and `at`."""
    low, high, last = 0.0, 0.0, len(h) - 1
    for k in range(last):
        change = h[k] + step * to[k] - at[k]
        low, high = smaller(low, change), larger(high, change)
    return float(high - low + abs(h[last] + step * to[last] - at[last]))


@fast
def _listing(of: AffineRows, base: Array, way: Array, h: Array, reach: float, listed: Index) -> int:
    """List all rows with a distance of at most `reach`; return their number."""
    i, j, sign, s, last, count = of.i.view(np.uint64), of.j.view(np.uint64), of.sign, of.s, h[-1], 0
    for r in range(np.uint64(len(base))):
        left = base[r] - (sign[r] * (h[i[r]] - h[j[r]]) + s[r] * last)
        # Few rows are listed, so that this branch is predicted.
        if way[r] * left <= reach:
            listed[count] = r
            count += 1
    return count


@part
def _make(of: RowsNearEnds, h: Array, reach: float) -> None:
    """Make the list of all rows with a distance of at most `reach`."""
    count = _listing(of.lines, of.base, of.way, h, reach, of.listed)
    for k in range(len(h)):
        of.at[k] = h[k]
    of.counts[0], of.counts[1], of.reach[1] = count, 0, reach


@part
def _look(of: RowsNearEnds, h: Array) -> int:
    """Make the list valid for a function; return the number of rows to examine."""
    rows, looks = len(of.base), of.counts[1]
    if _spread(h, h, 0.0, of.at) > PROVEN * of.reach[1] or looks > rows:
        # Examining a listed row takes about twice as long as passing a row while listing.
        of.reach[0] = max(
            of.reach[0] * (2.0 if 2 * looks < rows else 0.5),
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
    """Return the result of `first` for the listed rows."""
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
    """Return the smallest step t at which a row's distance at h + t to is 0, and the row.

    A row of negative distance has t = 0.

    Parameters
    ----------
    of, h : RowsNearEnds, ndarray of shape (m + 2,)
        Rows, and a function.
    to : ndarray of shape (m + 2,)
        Direction of the function.
    slowest : float
        Rows whose distance decreases at most at this rate are skipped.
    limit : float
        Maximum step; returned, with row -1, if no row reaches distance 0 before it.

    Returns
    -------
    step : float
        Step.
    row : int
        Row number, or -1.
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
        # This list is long, and the step exceeds its reach: make a new one next time.
        of.reach[1] = -1.0
    return step, row


@fast
def _least_listed(of: AffineRows, base: Array, listed: Index, h: Array) -> float:
    """Return the result of `least` for the listed rows."""
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
    """Return the minimum of 0 and the distances of rows whose way is 0 or 1.

    Parameters
    ----------
    of, h : RowsNearEnds, ndarray of shape (m + 2,)
        Rows, and a function.
    """
    count = _look(of, h)
    return _least_listed(of.lines, of.base, of.listed[:count], h)


@fast
def _misplaced_listed(of: AffineRows, way: Array, w: Array, listed: Index, h: Array) -> float:
    """Return the result of `misplaced` for the listed rows."""
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
        total += w[r] * larger(-lack if way[r] > 0.0 else lack, 0.0)
    return total


@part
def misplaced(of: RowsNearEnds, w: Array, h: Array) -> float:
    """Return the weighted violation of rows that are misplaced with respect to margin 1.

    A row of way 1 must have a margin of at most 1, any other row one of at least 1.

    Parameters
    ----------
    of, w : RowsNearEnds, ndarray of shape (p,)
        Rows, and their weights.
    h : ndarray of shape (m + 2,)
        Function.
    """
    count = _look(of, h)
    return _misplaced_listed(of.lines, of.way, w, of.listed[:count], h)
