"""The hard rows of a problem: which of them a function violates most, found without a list of all rows.

A row is known by its key: the point of a classification, and preferred * m + other of a
pair. Pairs of labels are never listed. One sweep over the points by query and level
keeps the highest values of f on the levels below, and meets them with the lowest of the
next level.
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
"""Points, at most, that a level shows at each of its ends: the lowest, and the highest among those of all levels below."""
FOUND_PAIRS = 200_000
"""Violated pairs, at most, that one sweep looks at: the worst are chosen among these, and the worst of all is always one of them."""


@dataclass(frozen=True, eq=False)
class RowSubset:
    """Some rows of A: (A f)_r = sign f_first - f_second for pairs, sign f_first where the rows have one entry.

    Parameters
    ----------
    first : Index of shape (k,)
        points.
    second : Index | None of shape (k,)
        points, None where the rows have one entry.
    sign : ndarray of shape (k,)
        Ones for pairs.
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
        """These rows and then the others."""
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
        """The points of the rows, each once and in order."""
        return np.unique(
            self.first if self.second is None else np.concatenate([self.first, self.second])
        )

    def combined(self, alpha: Array, m: int) -> Array:
        """A'alpha, (m,)."""
        beta = np.asarray(np.bincount(self.first, self.sign * alpha, m), dtype=np.float64)
        return (
            beta if self.second is None else np.asarray(beta - np.bincount(self.second, alpha, m))
        )

    def features(self, Z: Explicit) -> Array:
        """A Z, (k, q)."""
        own = np.asarray(dense(Z.rows(self.first)), dtype=np.float64)
        return (
            self.sign[:, None] * own
            if self.second is None
            else own - np.asarray(dense(Z.rows(self.second)))
        )


class HardRows(ABC):
    """The hard rows of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Without a bias, of classified points or of pairs.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.m = problem, problem.m

    @property
    @abstractmethod
    def any(self) -> bool:
        """Whether there are any."""

    @abstractmethod
    def least_margin(self, f: Array) -> float:
        """The least margin (A f)_r of all hard rows."""

    @abstractmethod
    def violated(self, f: Array, below: float, most: int) -> Index:
        """Keys of `most` rows at most whose margin is less than `below`, the least of all among them; (0,) where there is none."""

    @abstractmethod
    def take(self, keys: Index) -> RowSubset:
        """The rows of these keys."""

    @abstractmethod
    def multipliers(self, keys: Index, alpha: Array) -> AnyMultipliers:
        """Multipliers of all rows of the problem, (p,): these of these hard rows, 0 of all others."""

    @abstractmethod
    def support(self, alpha: AnyMultipliers) -> tuple[Index, Array]:
        """Keys of the hard rows with a multiplier above 0, and these multipliers."""


class ListedRows(HardRows):
    """Classified points, or pairs that were given one by one.

    Parameters
    ----------
    As in HardRows.
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

    @property
    def any(self) -> bool:
        return len(self.rows) > 0

    def _margins(self, f: Array) -> Array:
        taken = self._taken
        own = taken.sign * f[taken.first]
        return own if taken.second is None else np.asarray(own - f[taken.second])

    def _places(self, keys: Index) -> Index:
        """Where the rows of these keys are among the hard ones; the first of rows that are given twice."""
        return np.asarray(self._order[np.searchsorted(self.keys, keys, sorter=self._order)])

    def least_margin(self, f: Array) -> float:
        return float(self._margins(f).min(initial=np.inf))

    def violated(self, f: Array, below: float, most: int) -> Index:
        margins = self._margins(f)
        found = np.flatnonzero(margins < below)
        if len(found) > most:
            found = found[np.argpartition(margins[found], most)[:most]]
        return np.unique(self.keys[found])

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
    """The pairs of labels of queries whose cost is infinite.

    Parameters
    ----------
    As in HardRows.
    """

    def __init__(self, problem: MarginProblem) -> None:
        super().__init__(problem)
        assert isinstance(problem.rows, LabelledPairs)
        self.pairs = problem.rows
        self.hard = np.isinf(problem.group_costs)
        self._used = self.hard[self.pairs.queries]

    @property
    def any(self) -> bool:
        return bool(self._used.any())

    @property
    def strict(self) -> bool:
        """Whether no two points of a hard query have the same label, so that neighbours imply all other pairs."""
        return bool((np.diff(self.pairs.starts) == self.pairs.levels)[self._used].all())

    def neighbours(self) -> Index:
        """Keys of the pairs of neighbouring points of strict orders."""
        pairs = self.pairs
        active, query = pairs.active, pairs.query[pairs.active]
        kept = (query[1:] == query[:-1]) & self.hard[query[1:]]
        return np.asarray(active[1:][kept] * self.m + active[:-1][kept])

    def least_margin(self, f: Array) -> float:
        return self.pairs.least_margin(f, self.hard)

    def violated(self, f: Array, below: float, most: int) -> Index:
        worst, margins = self.pairs.least_margins(f)
        worst = worst[self._used & (margins < below)]
        found = np.empty((FOUND_PAIRS, 2), dtype=np.int64)
        pairs = self.pairs
        f = np.ascontiguousarray(f, dtype=np.float64)
        count = _near(
            pairs.active, pairs.level, pairs.starts, self._used, f, POINTS_OF_A_LEVEL, below, found
        )
        found = found[:count]
        if count > most:
            z = f[found[:, 0]] - f[found[:, 1]]
            found = found[np.argpartition(z, most)[:most]]
        if len(worst) > most:
            z = f[worst[:, 0]] - f[worst[:, 1]]
            worst = worst[np.argpartition(z, most)[:most]]
        both = np.concatenate([worst, found])
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
    """The hard rows of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Without a bias, of classified points or of pairs.
    """
    return LabelledRows(problem) if isinstance(problem.rows, LabelledPairs) else ListedRows(problem)


def can_price_rows(problem: MarginProblem) -> bool:
    """Whether its rows are classified points or pairs."""
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
    """Pairs of the used queries whose margin is less than `below` into `out`, (n, 2), as many as it holds; how many.

    Each level meets, by its `take` points of the lowest f, the `take` points of the highest f on all levels below.

    Parameters
    ----------
    points : Index of shape (n,)
        By query and level.
    level : Level of shape (m,)
        Of every point.
    starts : Index of shape (queries + 1,)
        Where each query begins.
    """
    found, low, high = 0, np.empty(take, dtype=np.int64), np.empty(take, dtype=np.int64)
    for q in range(starts.size - 1):
        highest, start = 0, starts[q]
        while used[q] and start < starts[q + 1]:
            lowest, end = 0, start
            while end < starts[q + 1] and level[points[end]] == level[points[start]]:
                lowest = _sorted_in(low, lowest, points[end], f, 1.0)
                end += 1
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
    """Put a point among those kept, sorted by way * f, where it belongs to the least; how many are kept then."""
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
