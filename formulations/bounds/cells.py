"""Proven gap on a cell of costs and widths of an RBF kernel, from its four corners.

Per unit of cost the objectives of a margin problem are, with lambda = 1 / C and the
multipliers alpha = C a,

    u = lambda / 2 |f|^2 + sum_r w_r loss(t_r - (A f)_r - (S b)_r)
    l = t'a - a' A K A' a / (2 lambda) - sum_r w_r loss*(a_r / w_r)

The constraints of a, 0 <= a <= w and S'a = 0, depend neither on lambda nor on gamma.
Convex combinations of the a of the corners are therefore feasible on all of the cell.
The cell uses the combination that is bilinear in lambda and gamma, and the function f
with coefficients C A'a. Three facts bound the relative gap on the whole cell by finitely
many numbers.

1. For fixed a and f, u is linear in lambda and l is concave, so that (u - l) / u is
   largest at the ends of a slice of costs on which they are fixed.
2. Every entry exp(-gamma d) of K is a polynomial in gamma, interpolated at equally
   spaced nodes, up to an error that does not depend on d.
3. In Bernstein form a polynomial is a convex combination of its coefficients. By
   Jensen's inequality the losses of f are at most the same combination of the losses of
   the coefficients, each with a bias of its own.

`docs/explanation/map.md` has the proofs. All bounds are rounded outward.

References
----------
J. Giesen, M. Jaggi, S. Laue, Approximating parameterized convex optimization problems,
ACM Transactions on Algorithms 9 (2012), for piecewise constant points along a parameter.
G. Farin, Curves and Surfaces for CAGD (2002), sections 5.1 and 6.10, for Bernstein forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from equimargin.formulations.bounds.evaluate import Evaluation, inner_error, kernel_product
from equimargin.formulations.bounds.intervals import OUTWARD, SIZE_FLOOR, losses_above
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import (
    UNIT,
    add_rounded,
    divide_rounded,
    gamma_n,
    multiply_rounded,
    round_toward,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import AnyBias, Point

DEGREE = 8
"""Degree of the polynomials in gamma that interpolate the entries of the kernel."""
SHARE_STEPS = 2.0**20
"""Denominator of the shares of two costs, whose differences from 1 are floats."""
SLOP = gamma_n(128)
"""Relative rounding error of sums of at most 40 products that have 3 factors each."""


class CellCorner:
    """Multipliers per unit of cost that are exactly feasible at every cost and gamma.

    Parameters
    ----------
    problem : MarginProblem
        Problem at any cost.
    alpha : ndarray of shape (p,)
        Multipliers of this problem.
    """

    # A row without cost has the quotient 0 / 0, which counts as 0.
    @np.errstate(all="ignore")
    def __init__(self, problem: MarginProblem, alpha: Array) -> None:
        unit = problem.with_cost(1.0)
        self.a: Array = unit.repaired(alpha / problem.C)
        multipliers = unit.rows.multipliers(self.a)
        self.gain = multipliers.proven(unit.phi, unit.group_costs_within, OUTWARD)[0]
        self.g = unit.gram.merged(multipliers.pull())


@dataclass(frozen=True, eq=False)
class GammaStrip:
    """Range of gamma, and the Bernstein coefficients of K_gamma g on it.

    Parameters
    ----------
    problem : MarginProblem
        Problem with an RBF kernel and finite weights.
    low, high : float
        Ends of the range, 0 < low < high.
    """

    problem: MarginProblem
    low: float
    high: float
    _known: dict[CellCorner, tuple[Array, Array, Array, Array]] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> list[MarginProblem]:
        """Problems of unit cost at the nodes of gamma, the first and last at the ends."""
        gammas = np.linspace(self.low, self.high, DEGREE + 1).tolist()
        return [replace(self.problem, C=1.0, kernel=RBF(gamma)) for gamma in gammas]

    @cached_property
    def remainder(self) -> float:
        """Upper bound of the error of an interpolated entry of the kernel.

        With N = DEGREE + 1 equally spaced nodes h / DEGREE apart it is (h / DEGREE)^N
        times a derivative over 4 N, and that derivative, d^N exp(-gamma d), is at most
        (N / (e gamma))^N.
        """
        N = DEGREE + 1
        steps = (self.high - self.low) / (DEGREE * self.low)
        return float((steps * N / math.e) ** N / (4 * N) * (1 + 1e-12))

    @property
    def shift(self) -> float:
        """Upper bound of the change of an entry of the kernel by the rounding of a node."""
        return 4 * UNIT * self.high / self.low

    def values(self, corner: CellCorner) -> tuple[Array, Array, Array, Array]:
        """Return K g at the nodes and its Bernstein coefficients, each with its error.

        Parameters
        ----------
        corner : CellCorner
            Multipliers, with g = A'a.

        Returns
        -------
        values, errors, coefficients, their errors : ndarray of shape (DEGREE + 1, m)
            The error of the coefficients includes the interpolation.
        """
        if corner not in self._known:
            pairs = [kernel_product(node, corner.g) for node in self.nodes]
            f, error = np.array([v for v, _ in pairs]), np.array([e for _, e in pairs])
            size = float(np.abs(corner.g).sum())
            T = to_bernstein()
            off = np.abs(T) @ (error + SLOP * np.abs(f) + self.shift * size)
            off += self.remainder * size
            self._known[corner] = f, error, T @ f, off * (1 + SLOP)
        return self._known[corner]

    def inner(self, one: CellCorner, other: CellCorner) -> Array:
        """Return upper bounds of the Bernstein coefficients of g'K h, (DEGREE + 1,).

        Parameters
        ----------
        one, other : CellCorner
            Multipliers, with g = A'a of the one and h of the other.
        """
        f, error = self.values(other)[:2]
        q = f @ one.g
        off = [inner_error(one.g, np.abs(v), e) for v, e in zip(f, error, strict=True)]
        T, size = to_bernstein(), float(np.abs(one.g).sum()) * float(np.abs(other.g).sum())
        slack = np.abs(T) @ (np.array(off) + SLOP * np.abs(q) + self.shift * size)
        slack += self.remainder * size
        return np.asarray(T @ q + slack * (1 + SLOP))


@dataclass(frozen=True)
class CellBound:
    """Bounds on all of a cell, proven by its corners.

    Attributes
    ----------
    gap : float
        Upper bound of the relative gap of `cell_point` on the cell; inf from 1 on.
    lower, upper : float
        Bounds of the optimum on the cell, in units of the objective.
    along_cost, along_gamma : float
        Largest relative gap at the two ends of gamma, and in the two outer slices of
        costs: the larger one says which direction to split.
    """

    gap: float
    lower: float
    upper: float
    along_cost: float
    along_gamma: float


UNKNOWN = CellBound(math.inf, -math.inf, math.inf, 0.0, math.inf)
"""Bound that proves nothing, of a cell to split along gamma."""


@dataclass(frozen=True)
class CostSlice:
    """Range of costs with one share of the corners at the higher cost.

    Parameters
    ----------
    low, high : float
        Ends of the range of costs.
    cost : float
        Factor of the function f = cost A'a.
    share : float
        Share of the corners at the higher cost, from 0 to 1.
    """

    low: float
    high: float
    cost: float
    share: float


def cost_slices(low: float, high: float, eps: float) -> list[CostSlice]:
    """Return the slices of a cell, whose ratios of costs are at most exp(sqrt(eps)).

    The gap of an optimum at the ends of its slice is then at most
    (exp(sqrt(eps) / 2) - 1)^2, about eps / 4.

    Parameters
    ----------
    low, high : float
        Range of costs.
    eps : float
        Target of the relative gap.
    """
    count = max(1, math.ceil((math.log(high) - math.log(low)) / math.sqrt(eps)))
    ends = np.geomspace(low, high, count + 1)
    ends[0], ends[-1] = low, high
    middles = np.sqrt(ends[:-1]) * np.sqrt(ends[1:])
    shares = (1 / low - 1 / middles) / (1 / low - 1 / high)
    shares = np.clip(np.rint(shares * SHARE_STEPS) / SHARE_STEPS, 0.0, 1.0)
    return [
        CostSlice(*numbers)
        for numbers in zip(
            ends[:-1].tolist(), ends[1:].tolist(), middles.tolist(), shares.tolist(), strict=True
        )
    ]


# An overflow gives an infinite bound, which proves nothing.
@np.errstate(all="ignore")
def cell_bound(
    strip: GammaStrip,
    slices: list[CostSlice],
    corners: tuple[CellCorner, ...],
    is_over: Callable[[], bool] = lambda: False,
) -> CellBound:
    """Bound the relative gap and the optimum on a cell.

    Parameters
    ----------
    strip : GammaStrip
        Range of gamma.
    slices : list of CostSlice
        Slices of the range of costs.
    corners : tuple of CellCorner
        Those at (low, low), (high, low), (low, high) and (high, high) of (cost, gamma).
    is_over : callable
        Returns True if the time is up, asked before every slice; `UNKNOWN` is then returned.
    """
    unit = strip.nodes[0]
    floor = max(1e-300, SIZE_FLOOR * unit.scale)
    pairs = {
        (i, j): (strip.inner(corners[i], corners[j]), _ridge(unit, corners[i], corners[j]))
        for i in range(4)
        for j in range(i, 4)
    }
    gaps, lower, upper = [], math.inf, -math.inf
    for part in slices:
        if is_over():
            return UNKNOWN
        q, ridge = _squares(pairs, part.share)
        ends = np.array([[part.low], [part.high]])
        norm2 = multiply_rounded(multiply_rounded(q, part.cost, 1), part.cost, 1)
        u = add_rounded(divide_rounded(norm2, 2 * ends, 1), _losses(strip, part, corners), 1)
        price = add_rounded(multiply_rounded(q, ends / 2, 1), ridge, 1)
        least = add_rounded(_mixed_gains(corners, part.share), -price, -1)
        gap = np.maximum(add_rounded(u, -least, 1), 0.0)
        # Both ends of a slice are divided by u, or both by the smallest S.
        gaps.append(divide_rounded(gap, u if u.min() >= floor else floor, 1).max(axis=0))
        lower = min(lower, float(multiply_rounded(ends, least, -1).min()))
        upper = max(upper, float(multiply_rounded(ends, u, 1).max()))
    table = np.nan_to_num(np.array(gaps), nan=np.inf, posinf=np.inf)
    along_cost, along_gamma = float(table[:, [0, -1]].max()), float(table[[0, -1]].max())
    largest = float(table.max())
    # From 1 on l may be negative, and (u - l) / u is then no bound of the relative gap.
    if not largest < 1.0:
        largest = math.inf
    if not np.isfinite(table).all():
        lower, upper = -math.inf, math.inf
    return CellBound(largest, lower, upper, along_cost, along_gamma)


def cell_point(
    problem: MarginProblem,
    part: CostSlice,
    height: float,
    corners: tuple[CellCorner, ...],
    b: AnyBias = None,
) -> Point:
    """Return the point of a cell whose relative gap `cell_bound` bounds.

    Parameters
    ----------
    problem : MarginProblem
        Problem at a cost of the slice and a gamma of the cell.
    part : CostSlice
        Slice of the cost.
    height : float
        (gamma - low) / (high - low) in the cell's range of gamma.
    corners : tuple of CellCorner
        Corners as in `cell_bound`.
    b : float or ndarray of shape (T,), optional
        Bias; by default the best one, which the interval takes.
    """
    x, y = part.share, height
    weights = ((1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y)
    a = np.sum([w * corner.a for w, corner in zip(weights, corners, strict=True)], axis=0)
    g = np.sum([w * corner.g for w, corner in zip(weights, corners, strict=True)], axis=0)
    return Point(beta=part.cost * g, b=b, alpha=problem.C * a)


@cache
def to_bernstein() -> Array:
    """Return the matrix from values at equally spaced nodes to Bernstein coefficients."""
    n = DEGREE
    rows: list[list[Fraction]] = [
        [Fraction(math.comb(n, k) * i**k * (n - i) ** (n - k), n**n) for k in range(n + 1)]
        + [Fraction(int(i == j)) for j in range(n + 1)]
        for i in range(n + 1)
    ]
    A = np.array(rows, dtype=object)
    # The matrix of Bernstein polynomials is totally positive: no pivot is 0.
    for i in range(n + 1):
        A[i] /= A[i, i]
        others = np.arange(n + 1) != i
        A[others] -= np.outer(A[others, i], A[i])
    return A[:, n + 1 :].astype(np.float64)


@cache
def _product_weights(n: int, d: int) -> Array:
    """Return W (d + 1, n + d + 1, n + 1) of products of Bernstein forms.

    sum_j B_j^d(y) p_j(y), with polynomials p_j of degree n and coefficients c_j, has the
    coefficients sum_j W_j c_j. Those of a row of W, over all j, sum to 1.
    """
    W = np.zeros((d + 1, n + d + 1, n + 1))
    for j in range(d + 1):
        for i in range(n + 1):
            W[j, i + j, i] = math.comb(n, i) * math.comb(d, j) / math.comb(n + d, i + j)
    return W


def _times_bernstein(*polynomials: Array) -> Array:
    """Return the coefficients of sum_j B_j(y) p_j(y)."""
    W = _product_weights(len(polynomials[0]) - 1, len(polynomials) - 1)
    return np.asarray(sum(w @ c for w, c in zip(W, polynomials, strict=True)))


def _raised(*polynomials: Array) -> Array:
    """Return upper bounds of the coefficients of sum_j B_j(y) p_j(y)."""
    off = SLOP * _times_bernstein(*map(np.abs, polynomials))
    return np.asarray(round_toward(_times_bernstein(*polynomials) + off * (1 + SLOP), 1))


def _ridge(unit: MarginProblem, one: CellCorner, other: CellCorner) -> Array:
    """Return an upper bound of the quadratic dual term of two multipliers, as coefficients."""
    if not unit.phi.is_smooth:
        return np.zeros(DEGREE + 1)
    least = unit.rows.spread(unit.group_costs_within[0])
    shares = np.divide(one.a, least, out=np.zeros(unit.p), where=one.a > 0)
    total = float((shares * other.a).sum()) / (2 * unit.phi.slope)
    return np.full(DEGREE + 1, total * (1 + 2 * gamma_n(unit.p + 8)))


def _squares(inner: dict[tuple[int, int], tuple[Array, Array]], x: float) -> tuple[Array, Array]:
    """Return upper bounds of the coefficients of g'K g, and of the quadratic dual term.

    The multipliers are those of the share x, linear in gamma.
    """
    low, high = ((0, 1 - x), (1, x)), ((2, 1 - x), (3, x))
    bounds = []
    for which in range(2):
        forms = []
        for one, other in ((low, low), (low, high), (high, high)):
            terms = [v * w * inner[min(i, j), max(i, j)][which] for i, v in one for j, w in other]
            forms.append(np.sum(terms, axis=0) + SLOP * np.sum(np.abs(terms), axis=0))
        bounds.append(_raised(*forms))
    return bounds[0], bounds[1]


def _mixed_gains(corners: tuple[CellCorner, ...], x: float) -> Array:
    """Return lower bounds of the coefficients of t'a, (DEGREE + 3,)."""
    gains = np.array([corner.gain for corner in corners])
    heights = np.linspace(0.0, 1.0, DEGREE + 3)
    weights = np.outer(1 - heights, [1 - x, x, 0, 0]) + np.outer(heights, [0, 0, 1 - x, x])
    off = SLOP * (weights @ np.abs(gains))
    return np.asarray(round_toward(weights @ gains - off * (1 + SLOP), -1))


def _losses(strip: GammaStrip, part: CostSlice, corners: tuple[CellCorner, ...]) -> Array:
    """Return upper bounds of the coefficients of the losses, (DEGREE + 3,)."""
    unit, x = strip.nodes[0], part.share
    known = [strip.values(corner)[2:] for corner in corners]
    f, error = (
        part.cost * _times_bernstein(*((1 - x) * v[i] + x * v[i + 1] for i in (0, 2)))
        for v in ([c for c, _ in known], [e + SLOP * np.abs(c) for c, e in known])
    )
    losses = [
        losses_above(unit, Evaluation(v, e, 0.0, 0.0), unit.bias_at(v))
        for v, e in zip(f, error * (1 + SLOP), strict=True)
    ]
    return _raised(np.array(losses), np.array(losses))
