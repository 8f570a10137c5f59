"""Ranking by relevance: a row for each pair of one query with different labels.

The pairs are implicit unless an explicit list is required. Counts and sums are in
`counted.py`, slacks in `pair_slacks.py`, and multipliers of implicit pairs in
`pair_multipliers.py`.
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
"""Problem size, in pairs, up to which intervals are tightened pair by pair.

Sums over more pairs use sweeps.
"""


class LabelledPairs(CountedPairs):
    """Rows f(x_i) - f(x_j) >= 1 for every i and j of one query with y_i > y_j.

    The orientation is that of Kuo, Lee and Lin, Large-scale kernel RankSVM.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Relevance grades.
    query : ndarray of int of shape (m,), or None
        Queries 0, 1, ..., or None for a single query.
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
        return PairSlacks(self, f, costs)
