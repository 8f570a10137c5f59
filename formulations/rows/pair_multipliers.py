"""Implicit multipliers of pairs: of a smooth loss, of sets of pairs, and of few pairs.

They have three forms: the derivative of a smooth loss at some f, feasible by
construction; the multipliers (2.8) of Kuo, Lee and Lin, convex combinations of the
indicators of sets k of violated pairs; and nonzero multipliers of a few pairs, as an
active-set method returns them.

    alpha_ij = c phi'(u_ij)
    alpha_ij = c sum of mu_k over the sets k that contain (i, j)
    alpha_ij of a few pairs, 0 of all other pairs

Their sums and A'alpha come from counts on a grid (`pair_sweeps.py`). Each has a bound
on its rounding, so that they prove lower bounds.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.numeric.rounding import SMALLEST, UNIT, gamma_n, round_toward
from equimargin.formulations.rows.base import Multipliers, RowMultipliers, Rows
from equimargin.formulations.rows.counted import BELOW_ALL_PAIRS, CountedPairs, PairSums
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs
from equimargin.formulations.rows.loss import Loss

HALF = 2**32 - 1
"""Mask of the lower half of an integer; sums of the halves do not overflow."""


class ImplicitMultipliers(Multipliers):
    """Multipliers of all pairs that are never stored.

    Their dual terms come with bounds on the rounding of every sum.
    """

    rows: CountedPairs

    @property
    def shape(self) -> tuple[int]:
        """Shape (p,) of the multipliers."""
        return (self.rows.p,)

    def feasible(self, rows: Rows, phi: Loss, costs: Array, biased: bool) -> ImplicitMultipliers:
        if not self.rows.same(rows):
            raise ValueError("the multipliers belong to other pairs than the problem's")
        return self.within_box(phi, costs)

    @abstractmethod
    def within_box(self, phi: Loss, costs: Array) -> ImplicitMultipliers:
        """Return multipliers close to these that are feasible for the hinge or its square.

        If a query's cost is infinite, all nonnegative multipliers are feasible. Its
        multipliers, computed at a finite cost, are then unchanged.

        Parameters
        ----------
        phi : Loss
            Loss.
        costs : ndarray of shape (groups,)
            Costs c.
        """

    @abstractmethod
    def sum(self) -> float:
        """Return the sum of alpha."""

    @abstractmethod
    def largest(self, chosen: NDArray[np.bool_]) -> float:
        """Return an upper bound of the multipliers of pairs of the chosen queries.

        Parameters
        ----------
        chosen : ndarray of bool of shape (queries,)
            True for the chosen queries.

        Returns
        -------
        float
            Bound; 0 if the queries have no pairs.
        """

    def gain(self) -> float:
        return self.sum()

    def at(self, preferred: int, other: int) -> float:
        """Return alpha of one pair.

        Parameters
        ----------
        preferred : int
            Index of the preferred point.
        other : int
            Index of the other point.

        Raises
        ------
        ValueError
            If the first point is not preferred to the other.
        """
        rows = self.rows
        if (
            rows.query[preferred] != rows.query[other]
            or not rows.level[preferred] > rows.level[other]
        ):
            raise ValueError(f"point {preferred} is not preferred to point {other}")
        return self._of_pair(preferred, other)

    @abstractmethod
    def _of_pair(self, preferred: int, other: int) -> float:
        """Return alpha of an existing pair."""

    @abstractmethod
    def to_array(self) -> Array:
        """Return alpha, (p,), in the order of explicit pairs.

        Raises
        ------
        ValueError
            If there are more pairs than can be listed explicitly.
        """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_array() if dtype is None else self.to_array().astype(dtype)


AnyMultipliers = Array | ImplicitMultipliers
"""Multipliers of the rows, (p,), in an array or implicit."""


class PairMultipliers(ImplicitMultipliers):
    """Multipliers alpha_ij = c phi'(u_ij) of all pairs at some f, for a smooth loss.

    They are feasible by construction, and never stored.

    Parameters
    ----------
    slacks : PairSums
        Sums over the pairs at f.
    phi : Loss
        Loss.

    Attributes
    ----------
    high, low : int
        Thresholds 1 + width and high - top / slope of the margin, in units of the
        slacks' grid; low is rounded up, so that no multiplier exceeds c top.
    """

    def __init__(self, slacks: PairSums, phi: Loss) -> None:
        if isinstance(phi.width, np.ndarray):
            raise ValueError("implicit pairs need one loss width for all")
        self.rows, self.slacks, self.phi = slacks.rows, slacks, phi
        self.high = slacks.on_grid(1.0 + phi.width)
        self.low = (
            BELOW_ALL_PAIRS
            if phi.top == np.inf
            else self.high - int(np.floor(phi.top / phi.slope / slacks.unit))
        )

    def within_box(self, phi: Loss, costs: Array) -> PairMultipliers:
        slacks, own = self.slacks, self.phi
        costs = _finite(costs, slacks.all_costs)
        if not np.array_equal(costs[slacks.rows.queries], slacks.costs):
            slacks = slacks.at_costs(costs)
        elif own.top <= phi.top:
            return self
        return PairMultipliers(slacks, replace(own, top=min(own.top, phi.top)))

    def loss(self) -> float:
        """Return the sum of c phi(u)."""
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        return float(self.phi.slope / 2 * (self.slacks.costs @ (high.square - low.square)))

    def sum(self) -> float:
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        return float(self.phi.slope * (self.slacks.costs @ (high.total - low.total)))

    def largest(self, chosen: NDArray[np.bool_]) -> float:
        _, margins = self.rows.least_margins(self.slacks.f)
        bounds = self.slacks.costs * self.phi.derivative(1.0 - margins)
        return float(bounds[chosen[self.rows.queries]].max(initial=0.0))

    def ridge(self, costs: Array) -> float:
        own, wanted = self.slacks.costs, costs[self.rows.queries]
        shares = np.divide(own, wanted, out=np.ones(len(own)), where=(wanted != own) & (wanted > 0))
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        beyond = (
            2 * (self.high - self.low) * self.slacks.unit * low.total
            if self.low > BELOW_ALL_PAIRS
            else 0.0
        )
        squares = (own * shares) @ (high.square - low.square - beyond)
        return float(self.phi.slope**2 * squares) / 4

    def pull(self) -> Array:
        return self.slacks.pulled(self.high, self.low, self.phi.slope)

    def pull_error(self) -> float:
        pull = self.pull()
        return float(round_toward(8 * UNIT * np.abs(pull).sum() + len(pull) * SMALLEST, 1))

    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        # The first number bounds the difference of both terms; the second is 0.
        slacks, slope = self.slacks, self.phi.slope
        value = float(slacks.costs @ self._totals())
        error = gamma_n(len(slacks.costs) + 32) * value
        if not phi.is_bounded:
            hard = np.isinf(costs[0])
            soft = slacks.at_costs(np.where(hard, 0.0, slacks.all_costs))
            ridge = self.ridge(np.where(hard, np.inf, slacks.all_costs))
            error += (
                slope**2 * (soft.square_error(self.high) + soft.square_error(self.low))
                + 32 * UNIT * ridge
            )
            value -= ridge
        # Underflow of a product with a cost, times the factor that follows.
        underflow = 4 * (1 + slope) ** 2 * (len(slacks.costs) + 4) * SMALLEST
        error += 16 * UNIT * abs(value) + underflow
        return float(round_toward(value - way * error, -way)), 0.0

    def _totals(self) -> Array:
        """Return the sum of alpha / c of every query, from an exact sum of integers.

        `sum` subtracts two rounded sums, whose errors a large slope would multiply.

            sum over pairs of u = 1/2 sum over points t of tau degree_t - 2 z_t balance_t
        """
        slacks, z = self.slacks, self.slacks.points.z
        twice = np.zeros_like(z)
        for tau, sign in ((self.high, 1), (self.low, -1)):
            sums = slacks.within(tau)
            twice += sign * (np.int64(tau) * sums.degree - 2 * z * sums.balance)
        first = slacks.rows.starts[:-1]
        coarse, fine = np.add.reduceat(twice >> 32, first), np.add.reduceat(twice & HALF, first)
        coarse, fine = coarse + (fine >> 32), fine & HALF
        return np.asarray(self.phi.slope * (slacks.unit / 2 * (coarse * 2.0**32 + fine)))

    def _of_pair(self, preferred: int, other: int) -> float:
        u = 1.0 - self.slacks.f[preferred] + self.slacks.f[other]
        cost = self.slacks.costs[self.rows.place[preferred]]
        return float(cost * self.phi.derivative(np.array([u]))[0])

    def to_array(self) -> Array:
        rows, f = self.slacks.rows, self.slacks.f
        i, j = rows.preferred, rows.other
        return np.asarray(self.slacks.costs[rows.place[i]] * self.phi.derivative(1.0 - f[i] + f[j]))


@dataclass(frozen=True, eq=False)
class PairSubset:
    """Subset of the pairs with margin below 1 at some f.

    Parameters
    ----------
    rows : CountedPairs
        All pairs.
    one : int
        Margin 1 in units of the grid.
    z : ndarray of int of shape (m,)
        f minus the median of its query, in units of the grid.
    balance : ndarray of int of shape (m,)
        A'1, exact.
    pairs : ndarray of int of shape (queries,)
        Number of pairs in the subset, for every query that has pairs.
    """

    rows: CountedPairs
    one: int
    z: Index
    balance: Index
    pairs: Index

    def listed(self) -> NDArray[np.bool_]:
        """Return a mask of the pairs, (p,), by the comparison that the sweeps use."""
        return np.asarray(self.z[self.rows.preferred] - self.one < self.z[self.rows.other])


class MixedMultipliers(ImplicitMultipliers):
    """Multipliers alpha_ij = c times the sum of mu_k over the subsets k of the pair.

    These are the multipliers (2.8) of Kuo, Lee and Lin, feasible for the hinge.

    Parameters
    ----------
    rows : CountedPairs
        All pairs.
    mu : ndarray of shape (k,)
        Weights >= 0 with sum at most 1; scaled down if rounding makes the sum larger.
    subsets : sequence of PairSubset of length k
        Subsets of the pairs.
    costs : ndarray of shape (queries,)
        Costs c of the pairs of a query.
    """

    def __init__(
        self, rows: CountedPairs, mu: Array, subsets: Sequence[PairSubset], costs: Array
    ) -> None:
        total = math.fsum(mu.tolist())
        self.rows, self.subsets, self.all_costs = rows, subsets, costs
        self.mu = mu if total < 1.0 else mu * ((1 - 8 * UNIT) / total)

    def within_box(self, phi: Loss, costs: Array) -> MixedMultipliers:
        costs = _finite(costs, self.all_costs)
        return (
            self
            if np.array_equal(costs, self.all_costs)
            else MixedMultipliers(self.rows, self.mu, self.subsets, costs)
        )

    def sum(self) -> float:
        costs = self.all_costs[self.rows.queries]
        return float(
            sum(
                mu * float(costs @ subset.pairs)
                for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True)
            )
        )

    def largest(self, chosen: NDArray[np.bool_]) -> float:
        return float(
            self.all_costs[chosen & (self.rows.pairs_of > 0)].max(initial=0.0)
        ) * math.fsum(self.mu.tolist())

    def ridge(self, costs: Array) -> float:
        return RowMultipliers(self.rows, self.to_array()).ridge(costs)

    def pull(self) -> Array:
        return self._pulled

    @cached_property
    def _pulled(self) -> Array:
        pull = np.zeros(self.rows.m)
        for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True):
            pull += mu * subset.balance
        return pull * self.all_costs[self.rows.query]

    def pull_error(self) -> float:
        products = len(self.mu) * float(self.all_costs.max(initial=0.0)) + 2
        rounding = gamma_n(len(self.mu) + 8) * 2.02 * self.sum()
        return float(
            round_toward(
                rounding + 4 * (self.rows.m + len(self.all_costs)) * products * SMALLEST, 1
            )
        )

    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        # As in `PairMultipliers`, the first number bounds the difference.
        gain, ridge = self.sum(), 0.0
        added = len(self.mu) + len(self.rows.queries)
        if not phi.is_bounded:
            if self.rows.p > LISTED_PAIRS:
                return -way * np.inf, 0.0
            ridge = self.ridge(np.where(np.isinf(costs[0]), np.inf, self.all_costs))
            added += self.rows.p
        underflow = 4 * (added + 4) * (1 + float(self.all_costs.max(initial=0.0))) * SMALLEST
        error = gamma_n(added + 16) * (gain + ridge) + underflow
        return float(round_toward(gain - ridge - way * error, -way)), 0.0

    def _of_pair(self, preferred: int, other: int) -> float:
        share = 0.0
        for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True):
            share += mu * bool(subset.z[preferred] - subset.one < subset.z[other])
        return float(self.all_costs[self.rows.query[preferred]]) * share

    def to_array(self) -> Array:
        alpha = np.zeros(self.rows.p)
        for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True):
            alpha += mu * subset.listed()
        return self.rows.spread(self.all_costs) * alpha


class FewMultipliers(ImplicitMultipliers):
    """Multipliers of a few pairs; those of all other pairs are 0.

    Parameters
    ----------
    rows : CountedPairs
        All pairs.
    preferred, other : ndarray of int of shape (k,)
        Points of the few pairs, each pair once.
    alpha : ndarray of shape (k,)
        Multipliers of the few pairs.
    """

    def __init__(self, rows: CountedPairs, preferred: Index, other: Index, alpha: Array) -> None:
        order = np.lexsort((other, preferred))
        self.rows, self.alpha = rows, alpha[order]
        self.few = Pairs(preferred, other, rows.m)

    @property
    def points(self) -> Index:
        """Points of the pairs, each once, in ascending order."""
        return self.few.touched

    def get_costs(self, costs: Array) -> Array:
        """Return the cost c of each of the few pairs.

        Parameters
        ----------
        costs : ndarray of shape (queries,)
            Costs of the queries.

        Returns
        -------
        ndarray of shape (k,)
            Costs of the pairs.
        """
        return np.asarray(costs[self.rows.query[self.few.preferred]])

    def _row_by_row(self, alpha: Array) -> RowMultipliers:
        return RowMultipliers(self.few, alpha)

    def within_box(self, phi: Loss, costs: Array) -> FewMultipliers:
        box = phi.box(self.get_costs(costs))
        return FewMultipliers(
            self.rows,
            self.few.preferred,
            self.few.other,
            round_to_dyadic_grid(self.alpha, box, self.few.s),
        )

    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        least, most = costs
        return self._row_by_row(self.alpha).proven(
            phi, (self.get_costs(least), self.get_costs(most)), way
        )

    def sum(self) -> float:
        return self._row_by_row(self.alpha).gain()

    def largest(self, chosen: NDArray[np.bool_]) -> float:
        return float(self.alpha[chosen[self.rows.query[self.few.preferred]]].max(initial=0.0))

    def ridge(self, costs: Array) -> float:
        return self._row_by_row(self.alpha).ridge(self.get_costs(costs))

    def pull(self) -> Array:
        return self.few.combined(self.alpha)

    def pull_error(self) -> float:
        return 0.0

    def _of_pair(self, preferred: int, other: int) -> float:
        return float(
            self.alpha[(self.few.preferred == preferred) & (self.few.other == other)].sum()
        )

    def to_array(self) -> Array:
        rows, m = self.rows, self.rows.m
        alpha = np.zeros(rows.p)
        places = np.searchsorted(
            rows.preferred * m + rows.other, self.few.preferred * m + self.few.other
        )
        alpha[places] = self.alpha
        return alpha


def _finite(costs: Array, own: Array) -> Array:
    """Replace infinite costs, (groups,), by the multipliers' own finite ones."""
    return np.where(np.isinf(costs), own, costs)
