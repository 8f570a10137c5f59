"""Ranking by relevance: the rows are all pairs of points of one query with different labels. They are listed only if that is needed.

Counts and sums are in `counted.py`, slacks in `pair_slacks.py`, and multipliers of
pairs that are not listed in `pair_multipliers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.rows.counted import CountedPairs
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_multipliers import MixedMultipliers, PairSubset
from equimargin.formulations.rows.pair_slacks import PairSlacks

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

    def total_loss(self, phi: Loss, costs: Array, f: Array, b: float, signed: bool) -> float:
        if not self.many:
            return super().total_loss(phi, costs, f, b, signed)
        hard = np.isinf(costs)
        if not self.least_margin(f, hard) >= 1.0:
            return np.inf
        slacks = self.slacks(f, np.where(hard, 0.0, costs))
        return slacks.hinge() if phi.is_bounded else slacks.squared_hinge()

    def mixed(self, mu: Array, subsets: Sequence[PairSubset], costs: Array) -> MixedMultipliers:
        return MixedMultipliers(self, mu, subsets, costs)

    def part(self, points: Index) -> tuple[Any, Any]:
        part = LabelledPairs(self.y[points], self.query[points])
        return part, slice(part.groups)

    def slacks(self, f: Array, costs: Array) -> PairSlacks:
        """The slacks of all pairs at f.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Decision values.
        costs : ndarray of shape (queries,)
            c of the pairs of a query.
        """
        return PairSlacks(self, f, costs)
