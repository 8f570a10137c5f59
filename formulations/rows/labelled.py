"""Ranking by relevance: the rows are all pairs of points of one query with different labels. They are listed only if that is needed.

Counts and sums are in `counted.py`, slacks in `pair_slacks.py`, and multipliers of pairs that are not listed in `pair_multipliers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.rows.counted import CountedPairs
from equimargin.formulations.rows.pair_multipliers import MixedMultipliers, PairSubset
from equimargin.formulations.rows.pair_slacks import PairSlacks
from equimargin.formulations.rows.pair_sweeps import least_margins

MANY = 1_000_000
"""Pairs, at most, that are looked at one by one in order to prove a narrower interval. Sums over more pairs are taken by sweeps."""


class LabelledPairs(CountedPairs):
    """Ranking by relevance: f(x_i) - f(x_j) >= 1 for every i and j of one query with y_i > y_j (document K's orientation).

    Parameters
    ----------
    As in CountedPairs.
    """

    @property
    def many(self) -> bool:
        return self.p > MANY

    def total_loss(self, squared: bool, costs: Array, f: Array, b: float, signed: bool) -> float:
        if not self.many:
            return super().total_loss(squared, costs, f, b, signed)
        hard = np.isinf(costs)
        if not self.least_margin(f, hard) >= 1.0:
            return np.inf
        slacks = self.slacks(f, np.where(hard, 0.0, costs))
        return slacks.squared_hinge() if squared else slacks.hinge()

    def least_margins(self, f: Array) -> tuple[Index, Array]:
        """The pair with the least margin f_i - f_j of every query that has pairs, (k, 2), and these margins, (k,), in O(m).

        Parameters
        ----------
        f : (m,) decision values, no NaN.
        """
        pairs, margins = np.zeros((len(self.queries), 2), dtype=np.int64), np.full(len(self.queries), np.inf)
        least_margins(self.active, self.level, self.starts, np.ascontiguousarray(f, dtype=np.float64), pairs, margins)
        return pairs, margins

    def least_margin(self, f: Array, chosen: NDArray[np.bool_]) -> float:
        """The least margin f_i - f_j of all pairs of the chosen queries, (queries,); inf where they have none."""
        return float(self.least_margins(f)[1][chosen[self.queries]].min(initial=np.inf)) if chosen.any() else np.inf

    def mixed(self, mu: Array, subsets: Sequence[PairSubset], costs: Array) -> MixedMultipliers:
        return MixedMultipliers(self, mu, subsets, costs)

    def part(self, points: Index) -> tuple[Any, Any]:
        part = LabelledPairs(self.y[points], self.query[points])
        return part, slice(part.groups)

    def slacks(self, f: Array, costs: Array) -> PairSlacks:
        """The slacks of all pairs at f.

        Parameters
        ----------
        f : (m,) decision values.  costs : (queries,) c of the pairs of a query.
        """
        return PairSlacks(self, f, costs)
