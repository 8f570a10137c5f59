"""Search for the most violated hard rows, without a list of all rows.

A row is identified by its key: the point of a classification, and preferred * m + other
for a pair. Labelled pairs are implicit. A sweep over the levels of each query compares
the lowest values of f on a level with the highest values on all levels below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index, dense
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs, Signed
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, FewMultipliers
from equimargin.formulations.rows.pair_sweeps import Level

POINTS_OF_A_LEVEL = 4
"""Number of points of lowest f on a level that the search for violated pairs compares.

They are compared with as many points of highest f on all levels below.
"""
FOUND_PAIRS = 200_000
"""Maximum number of violated pairs that one sweep collects.

The worst are selected among these; the worst of all is always included.
"""


@dataclass(frozen=True, eq=False)
class RowSubset:
    """Selection of k rows of A.

    (A f)_r = sign f_first - f_second for pairs, and sign f_first for rows with one
    entry.

    Parameters
    ----------
    first : Index of shape (k,)
        First points.
    second : Index of shape (k,), or None
        Second points; None if the rows have one entry.
    sign : ndarray of shape (k,)
        Signs; ones for pairs.
    """

    first: Index
    second: Index | None
    sign: Array

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, index: Index) -> RowSubset:
        return RowSubset(
            self.first[index], None if self.second is None else self.second[index], self.sign[index]
        )

    def joined(self, other: RowSubset) -> RowSubset:
        """Return these rows followed by others.

        Parameters
        ----------
        other : RowSubset
            Rows to append.
        """
        second = (
            None
            if self.second is None or other.second is None
            else np.concatenate([self.second, other.second])
        )
        return RowSubset(
            np.concatenate([self.first, other.first]),
            second,
            np.concatenate([self.sign, other.sign]),
        )

    @property
    def points(self) -> Index:
        """Distinct points of the rows, in increasing order."""
        return np.unique(
            self.first if self.second is None else np.concatenate([self.first, self.second])
        )

    def combined(self, alpha: Array, m: int) -> Array:
        """Return A'alpha, (m,).

        Parameters
        ----------
        alpha : ndarray of shape (k,)
            Multipliers of the rows.
        m : int
            Number of points.
        """
        beta = np.asarray(np.bincount(self.first, self.sign * alpha, m), dtype=np.float64)
        return (
            beta if self.second is None else np.asarray(beta - np.bincount(self.second, alpha, m))
        )

    def features(self, Z: Explicit) -> Array:
        """Return A Z, (k, q).

        Parameters
        ----------
        Z : Explicit
            Features of the points.
        """
        own = np.asarray(dense(Z.rows(self.first)), dtype=np.float64)
        return (
            self.sign[:, None] * own
            if self.second is None
            else own - np.asarray(dense(Z.rows(self.second)))
        )


class HardRows(ABC):
    """Hard rows of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias, of classified points or of pairs.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.m = problem, problem.m

    @abstractmethod
    def least_margin(self, f: Array) -> float:
        """Return the minimum margin (A f)_r of all hard rows.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Function values.
        """

    @abstractmethod
    def violated(self, f: Array, below: float, most: int) -> Index:
        """Return the keys of the most violated rows, the most violated one included.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Function values.
        below : float
            Margin below which a row counts as violated.
        most : int
            Maximum number of rows.
        """

    @abstractmethod
    def take(self, keys: Index) -> RowSubset:
        """Return the rows of these keys.

        Parameters
        ----------
        keys : Index
            Keys of hard rows.
        """

    @abstractmethod
    def multipliers(self, keys: Index, alpha: Array) -> AnyMultipliers:
        """Return multipliers of all rows, (p,), which are 0 outside of these hard rows.

        Parameters
        ----------
        keys : Index
            Keys of hard rows.
        alpha : ndarray of shape (k,)
            Their multipliers.
        """

    @abstractmethod
    def support(self, alpha: AnyMultipliers) -> tuple[Index, Array]:
        """Return the keys of hard rows with a positive multiplier, and these multipliers.

        Parameters
        ----------
        alpha : multipliers of shape (p,)
            Multipliers of all rows.
        """


class ListedRows(HardRows):
    """Hard rows that are classified points or explicit pairs.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    """

    def __init__(self, problem: MarginProblem) -> None:
        super().__init__(problem)
        rows = problem.rows
        self.rows = np.flatnonzero(np.isinf(problem.costs))
        if isinstance(rows, Pairs):
            self._all = RowSubset(rows.preferred, rows.other, np.ones(rows.p))
            keys = rows.preferred * self.m + rows.other
        else:
            keys = np.arange(self.m)
            self._all = RowSubset(keys, None, rows.s)
        self._taken, self.keys = self._all[self.rows], keys[self.rows]
        self._order = np.argsort(self.keys, kind="stable")

    def _margins(self, f: Array) -> Array:
        taken = self._taken
        own = taken.sign * f[taken.first]
        return own if taken.second is None else np.asarray(own - f[taken.second])

    def _places(self, keys: Index) -> Index:
        """Return the positions of keys among the hard rows, the first of duplicates."""
        return np.asarray(self._order[np.searchsorted(self.keys, keys, sorter=self._order)])

    def least_margin(self, f: Array) -> float:
        return float(self._margins(f).min(initial=np.inf))

    def violated(self, f: Array, below: float, most: int) -> Index:
        margins = self._margins(f)
        places = np.flatnonzero(margins < below)
        if len(places) > most:
            places = places[np.argpartition(margins[places], most)[:most]]
        return np.unique(self.keys[places])

    def take(self, keys: Index) -> RowSubset:
        return self._taken[self._places(keys)]

    def multipliers(self, keys: Index, alpha: Array) -> Array:
        all_rows = np.zeros(self.problem.p)
        all_rows[self.rows[self._places(keys)]] = alpha
        return all_rows

    def support(self, alpha: AnyMultipliers) -> tuple[Index, Array]:
        own = np.asarray(alpha)[self.rows]
        places = np.flatnonzero(own > 0)
        keys, first = np.unique(self.keys[places], return_index=True)
        return keys, own[places[first]]


class LabelledRows(HardRows):
    """Hard rows that are the labelled pairs of queries of infinite cost.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    """

    def __init__(self, problem: MarginProblem) -> None:
        super().__init__(problem)
        assert isinstance(problem.rows, LabelledPairs)
        self.pairs = problem.rows
        self.hard = np.isinf(problem.group_costs)
        self._used = self.hard[self.pairs.queries]

    @property
    def strict(self) -> bool:
        """True if all points of every hard query have different labels.

        Neighbours then imply all other pairs.
        """
        return bool((np.diff(self.pairs.starts) == self.pairs.levels)[self._used].all())

    def neighbours(self) -> Index:
        """Return the keys of the pairs of neighbouring points of strict orders."""
        pairs = self.pairs
        active, query = pairs.active, pairs.query[pairs.active]
        kept = (query[1:] == query[:-1]) & self.hard[query[1:]]
        return np.asarray(active[1:][kept] * self.m + active[:-1][kept])

    def least_margin(self, f: Array) -> float:
        return self.pairs.least_margin(f, self.hard)

    def violated(self, f: Array, below: float, most: int) -> Index:
        worst, margins = self.pairs.least_margins(f)
        worst = worst[self._used & (margins < below)]
        near = np.empty((FOUND_PAIRS, 2), dtype=np.int64)
        pairs = self.pairs
        f = np.ascontiguousarray(f, dtype=np.float64)
        count = _near(
            pairs.active, pairs.level, pairs.starts, self._used, f, POINTS_OF_A_LEVEL, below, near
        )
        near = near[:count]
        if count > most:
            z = f[near[:, 0]] - f[near[:, 1]]
            near = near[np.argpartition(z, most)[:most]]
        if len(worst) > most:
            z = f[worst[:, 0]] - f[worst[:, 1]]
            worst = worst[np.argpartition(z, most)[:most]]
        both = np.concatenate([worst, near])
        return np.unique(both[:, 0] * self.m + both[:, 1])

    def take(self, keys: Index) -> RowSubset:
        return RowSubset(keys // self.m, keys % self.m, np.ones(len(keys)))

    def multipliers(self, keys: Index, alpha: Array) -> AnyMultipliers:
        few = FewMultipliers(self.pairs, keys // self.m, keys % self.m, alpha)
        return few if self.problem.rows.many else few.to_array()

    def support(self, alpha: AnyMultipliers) -> tuple[Index, Array]:
        if isinstance(alpha, FewMultipliers):
            few, values = alpha.few, alpha.alpha
        else:
            few, values = Pairs(self.pairs.preferred, self.pairs.other, self.m), np.asarray(alpha)
        kept = (values > 0) & self.hard[self.pairs.query[few.preferred]]
        return few.preferred[kept] * self.m + few.other[kept], values[kept]


def hard_rows(problem: MarginProblem) -> HardRows:
    """Return the hard rows of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias, of classified points or of pairs.
    """
    return LabelledRows(problem) if isinstance(problem.rows, LabelledPairs) else ListedRows(problem)


def can_price_rows(problem: MarginProblem) -> bool:
    """Return True if the rows are classified points or pairs.

    Parameters
    ----------
    problem : MarginProblem
        Problem to check.
    """
    return isinstance(problem.rows, Signed | Pairs)


@jit
def _near(
    points: Index,
    level: Level,
    starts: Index,
    used: NDArray[np.bool_],
    f: Array,
    take: int,
    below: float,
    out: Index,
) -> int:
    """Write the pairs of margin less than `below` to `out`, and return their number.

    At most n pairs are written. The `take` points of lowest f of each level are
    compared with the `take` points of highest f of all levels below.

    Parameters
    ----------
    points : Index of shape (n,)
        Points by query and level.
    level : Level of shape (m,)
        Level of every point.
    starts : Index of shape (queries + 1,)
        Start of each query in `points`.
    used : ndarray of shape (queries,)
        True for the queries to search.
    f : ndarray of shape (m,)
        Function values.
    take : int
        Number of points of lowest, and of highest, f.
    below : float
        Upper bound of the margin.
    out : Index of shape (n, 2)
        Pairs found, written in place.
    """
    found, low, high = 0, np.empty(take, dtype=np.int64), np.empty(take, dtype=np.int64)
    for q in range(starts.size - 1):
        highest, start = 0, starts[q]
        while used[q] and start < starts[q + 1]:
            lowest, end = 0, start
            while end < starts[q + 1] and level[points[end]] == level[points[start]]:
                lowest = _sorted_in(low, lowest, points[end], f, 1.0)
                end += 1
            # Compare the level's lowest points with the highest of all levels below.
            for a in range(lowest):
                for b in range(highest):
                    if f[low[a]] - f[high[b]] < below and found < out.shape[0]:
                        out[found, 0], out[found, 1] = low[a], high[b]
                        found += 1
            for k in range(start, end):
                highest = _sorted_in(high, highest, points[k], f, -1.0)
            start = end
    return found


@jit
def _sorted_in(kept: Index, size: int, point: int, f: Array, way: float) -> int:
    """Insert a point into those kept, sorted by way * f; return the new number.

    The point of largest way * f is dropped if the capacity is exhausted.
    """
    if size == kept.size:
        if way * f[point] >= way * f[kept[size - 1]]:
            return size
        size -= 1
    place = size
    while place > 0 and way * f[kept[place - 1]] > way * f[point]:
        kept[place] = kept[place - 1]
        place -= 1
    kept[place] = point
    return size + 1
