"""Margin problem, the canonical shape of every published quadratic program.

    min over f in H, b in R^T
        1/2 |f|^2 + sum_r c_r loss( t_r - (A f)_r - (S b)_r )
    max over alpha
        t'alpha - 1/2 alpha' A K A' alpha
                            [ - sum_r alpha_r^2 / (4 c_r): squared hinge ]
        S'alpha = 0,  0 <= alpha <= c
                            [ alpha >= 0: squared hinge, or c_r = inf ]

T is 0 without a bias, 1 with one, and the number of thresholds of an ordinal
regression. Each row has one threshold at most. loss is the hinge (u)_+, its square, or
the huberised hinge of `rows/loss.py`, whose dual has both box constraints and a
quadratic term. c_r = C x weight_r, and f = sum_i beta_i k(x_i, .) with beta = A' alpha
at the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import cost
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.base import (
    CanonicalProblem,
    check_point_parts,
    wrong_point_type_error,
)
from equimargin.formulations.problem.bias import (
    bounded_smooth_bias,
    finite_interval,
    hinge_bias,
    squared_hinge_bias,
)
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.limits import check_float64_range, too_large_in_features
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.base import Multipliers, ridge
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.formulations.rows.loss import Loss, make_loss
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers

SPAN_TOLERANCE = 1e-12
"""Fraction of the largest eigenvalue of K below which eigenvalues are dropped.

They are excluded from the features L of K = L L'.
"""
SUFFIXES = {"hinge": "l1", "squared_hinge": "l2"}
"""Endings of soft-margin ids by loss name; other losses end ids with their name."""


@dataclass(frozen=True, eq=False, repr=False)
class MarginProblem(CanonicalProblem):
    """Problem min 1/2 |f|^2 + sum_r c_r loss(t_r - (A f)_r - (S b)_r) over f and b.

    f is a function in the kernel's space.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Features.
    kernel : Kernel
        Kernel k(x, z).
    rows : Rows
        Row operator A with targets t and thresholds S.
    C : float
        Cost per unit of loss, in (0, inf]; inf is the hard margin.
    loss : LossName
        "hinge", "squared_hinge", or "huberised_hinge" for classifications with a bias
        and without hard rows.
    bias : bool
        True if b is free; b = 0 otherwise.
    weights : ndarray of shape (groups,), or None
        Factors of C in [0, inf], one per row (of a tube, first the m rows above it,
        then the m below), one per query if pairs come from labels, or one per point
        with a level. The costs of the problem are the exact products C x weight: proven
        bounds, exact optima and certificates hold for these. `costs` are the rounded
        products.
    delta : float or None
        Half the width of the huberised hinge's parabola; None for other losses.
    shift : float, UnprovenShift or None
        As in `CanonicalProblem`.
    feature_names : tuple of str of length d, or None
        As in `CanonicalProblem`.
    part : str
        As in `AnyProblem`.

    References
    ----------
    `proofs/catalogue.md`, "The margin problem"; documents T (Yu and Kim), (23)-(28),
    (64)-(73), (84)-(89); K (Kuo, Lee and Lin), (1.2), (2.3), (2.4); P (Zapien et al.),
    (6), (8).
    """

    kind = "quadratic"

    loss: LossName = "hinge"
    bias: bool = True
    weights: Array | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        """Check that the loss and the bias suit the problem."""
        if isinstance(self.rows, Levels) and not self.bias:
            raise ValueError("bias must be True for ordinal regression: its thresholds are free")
        # Raises if loss and delta do not fit.
        make_loss(self.loss, self.delta)
        if self.delta is not None:
            if not (isinstance(self.rows, Signed) and self.bias):
                raise ValueError(
                    f"the {self.phi.words} is a loss of classifications with a free bias; "
                    f"take another loss"
                )
            if np.isinf(self.C) or self.hard.any():
                raise ValueError(
                    f"the {self.phi.words} has no hard rows: C and all weights must be finite"
                )

    @cached_property
    def phi(self) -> Loss:
        """Loss as an object."""
        return make_loss(self.loss, self.delta)

    @cached_property
    def family(self) -> str:
        """Id of the formulations with this optimum."""
        kind = "hard" if np.isinf(self.C) else SUFFIXES.get(self.loss, self.loss)
        if isinstance(self.rows, Levels):
            return "ord." + {"l1": "implicit", "l2": "implicit_l2"}.get(kind, kind)
        if isinstance(self.rows, Pairs):
            return f"rank.{kind}"
        if isinstance(self.rows, Tube):
            return f"svr.{'' if self.bias else 'nobias_'}{kind}"
        if self.bias:
            return "svm." + {"l1": "soft"}.get(kind, kind)
        return "svm." + {"l1": "nobias"}.get(kind, f"nobias_{kind}")

    @property
    def size(self) -> int:
        return self.m

    @property
    def convex(self) -> bool:
        """True if K is positive semidefinite, by theory or, if precomputed, proof."""
        return self.proven.has_gap

    @property
    def has_gap(self) -> bool:
        return self.kernel.positive_semidefinite and self.shift is not None

    @cached_property
    def inverse_root_weights(self) -> Array:
        """Scaling of alpha in a squared hinge's dual, shape (p,): 1 / sqrt(weight_r).

        0 for hard rows, and for weight 0, whose multiplier is 0.
        """
        roots = np.zeros(self.p)
        np.divide(1.0, np.sqrt(self.unit_weights), out=roots, where=self.unit_weights > 0)
        return roots

    @property
    def T(self) -> int:
        """Number of free thresholds: 0 without a bias, 1 with one."""
        return self.rows.T if self.bias else 0

    @cached_property
    def bias_signs(self) -> Array:
        """Bias signs s_r, shape (p,); zeros without a bias."""
        return self.rows.s if self.bias else np.zeros(self.p)

    @cached_property
    def S(self) -> Any:
        """Threshold operator S as a scipy CSR array, shape (p, T).

        It has s_r in the column of the row's threshold.
        """
        from scipy import sparse

        if not self.T:
            return sparse.csr_array((self.p, 0))
        columns = np.zeros(self.p, dtype=np.int64) if self.rows.k is None else self.rows.k
        return sparse.csr_array((self.rows.s, (np.arange(self.p), columns)), shape=(self.p, self.T))

    @property
    def origin(self) -> Point:
        """Point f = 0, with multipliers if the rows are few enough to be listed."""
        return Point(beta=np.zeros(self.m)) if self.rows.many else Point(alpha=np.zeros(self.p))

    def point(
        self,
        coefficients: Array | None = None,
        multipliers: AnyMultipliers | None = None,
        b: AnyBias = None,
    ) -> Point:
        return Point(beta=coefficients, b=b, alpha=multipliers)

    def own_point(self, point: CanonicalPoint) -> Point:
        if isinstance(point, Point):
            return check_point_parts(point, self)
        raise wrong_point_type_error(point, self, "Point(w or beta, b, alpha)")

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        weights = (
            {}
            if self.explicit is None
            else {"w": ((self.explicit.q,), "a weight for each feature")}
        )
        coefficients = ((self.m,), "a coefficient for each of the points")
        b = ((self.T,), "a number for each threshold") if self.T > 1 else ((), "a number")
        return weights | {
            "beta": coefficients,
            "b": b,
            "alpha": ((self.p,), "a multiplier for each row"),
        }

    def function(self, point: CanonicalPoint) -> Point:
        return self.own_point(point)

    def values(self, point: CanonicalPoint) -> tuple[float, float]:
        own = self.own_point(point)
        f, norm2 = self._evaluated(own)
        primal = self.primal(f, norm2, self.bias_at(f) if own.b is None else own.b)
        if own.alpha is None:
            return primal, -np.inf
        if own.has_function:
            norm2 = self.norm2(self.rows.rdot(own.alpha))
        return primal, self.dual(own.alpha, norm2)

    def _evaluated(self, point: Point) -> tuple[Array, float]:
        """Return f (m,) and |f|^2 of a point, from its function or multipliers."""
        if not (point.has_function or point.has_multipliers):
            raise ValueError(
                "the point has neither a function nor multipliers, so that it has no value"
            )
        Z, w = self.explicit, point.w
        beta = (
            self.rows.rdot(point.alpha)
            if point.alpha is not None and point.beta is None and w is None
            else point.beta
        )
        if Z is not None:
            w = Z.rdot(np.asarray(beta)) if w is None else w
            return Z @ w, float(w @ w)
        f = self.gram @ np.asarray(beta)
        return f, float(np.asarray(beta) @ f)

    def with_cost(self, C: float) -> MarginProblem:
        C = cost(C)
        check_float64_range(self.rows, C, self.phi, self.weights)
        return replace(self, C=C)

    def slack(self, f: Array, b: AnyBias) -> Array:
        """Return the slacks u_r = t_r - (A f)_r - (S b)_r of the rows.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.
        b : float or ndarray of shape (T,)
            Bias.

        Returns
        -------
        ndarray of shape (p,)
            Slacks.
        """
        u: Array = self.rows.t - self.rows.dot(f)
        if self.bias:
            u -= self.rows.offset(b)
        return u

    @property
    def squared(self) -> bool:
        """True if the loss is the squared hinge."""
        return self.loss == "squared_hinge"

    def primal(self, f: Array, norm2: float, b: AnyBias) -> float:
        """Return the primal objective 1/2 |f|^2 + sum_r c_r loss(u_r) in float64.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.
        norm2 : float
            |f|^2.
        b : float or ndarray of shape (T,)
            Bias.
        """
        return norm2 / 2 + self.rows.total_loss(self.phi, self.group_costs, f, b, self.bias)

    def dual(self, alpha: ArrayLike | Multipliers, norm2: float) -> float:
        """Return the dual objective in float64.

        It is t'alpha - 1/2 |A'alpha|_K^2 - sum_r c_r phi*(alpha_r / c_r).

        Parameters
        ----------
        alpha : array-like of shape (p,), or Multipliers
            Multipliers.
        norm2 : float
            |A'alpha|_K^2.
        """
        multipliers = self.rows.multipliers(alpha)
        if self.squared:
            conjugate = multipliers.ridge(self.group_costs)
        else:
            conjugate = (
                float(self.conjugate(np.asarray(alpha)).sum()) if self.phi.is_smooth else 0.0
            )
        return multipliers.gain() - norm2 / 2 - conjugate

    def conjugate(self, alpha: Array) -> Array:
        """Return c_r phi*(alpha_r / c_r) = alpha_r^2 / (2 slope c_r) - width alpha_r.

        Parameters
        ----------
        alpha : ndarray of shape (p,)
            Multipliers.

        Returns
        -------
        ndarray of shape (p,)
            Conjugate per row; zeros for the hinge.
        """
        phi = self.phi
        if not phi.is_smooth:
            return np.zeros(self.p)
        quadratic = ridge(alpha, self.costs) * (2 / phi.slope)
        return quadratic - phi.width * alpha if phi.shifts else quadratic

    def norm2(self, beta: Array) -> float:
        """Return |f|^2 of f = sum_i beta_i k(x_i, .) in float64.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients.
        """
        if self.explicit is None:
            return float(beta @ (self.gram @ beta))
        w = self.explicit.rdot(beta)
        return float(w @ w)

    @cached_property
    def scale(self) -> float:
        """P(0) = sum_r c_r loss(t_r), the primal objective at f = 0, b = 0.

        The sum is over finite costs. It is the unit of relative errors if the optimum
        is close to 0.
        """
        return self.rows.scale(
            self.phi, np.where(np.isfinite(self.group_costs), self.group_costs, 0.0)
        )

    def best_bias(self, f: Array) -> tuple[AnyBias, AnyBias]:
        """Return the interval of b that minimises the losses.

        These are sum_r c_r loss(t_r - (A f)_r - (S b)_r). b is that of f(x) + b.
        Hinge: piecewise linear in b, with breakpoints (t_r - (A f)_r) s_r; the interval
        is where the slope crosses 0. Smooth losses: the root of a piecewise-linear
        derivative. Hard rows: the interval that all of them allow (its midpoint, twice,
        if it is empty). The rows of each threshold have an interval.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.

        Returns
        -------
        lower, upper : float or ndarray of shape (T,)
            Interval endpoints, arrays for T > 1 thresholds; (0, 0) without a bias.
        """
        if not self.bias:
            return 0.0, 0.0
        margins = self.rows.t - self.rows.dot(f)
        if self.rows.k is None:
            return self._best_threshold(margins, *self._by_threshold[0])
        ends = np.array([self._best_threshold(margins, *rows) for rows in self._by_threshold])
        return ends[:, 0], ends[:, 1]

    def _best_threshold(
        self, margins: Array, active: Any, s: Array, c: Array, soft: Index
    ) -> tuple[float, float]:
        """Return the optimal interval of one threshold.

        The arguments are t - A f (p,), and the threshold's rows as in `_by_threshold`.
        """
        breakpoints = margins[active] * s
        if len(soft) == len(s):
            return finite_interval(*self._best_of_soft(breakpoints, s, c))
        low = float(breakpoints[(s > 0) & np.isinf(c)].max(initial=-np.inf))
        high = float(breakpoints[(s < 0) & np.isinf(c)].min(initial=np.inf))
        b = self._best_of_soft(breakpoints[soft], s[soft], c[soft])
        if low > high:
            return (low + high) / 2, (low + high) / 2
        return finite_interval(min(max(b[0], low), high), min(max(b[1], low), high))

    def _best_of_soft(self, breakpoints: Array, s: Array, c: Array) -> tuple[float, float]:
        """Return the interval of b with the minimum losses of rows of finite costs."""
        if not len(s):
            return -np.inf, np.inf
        if self.delta is not None:
            return bounded_smooth_bias(breakpoints, s, c, self.phi)
        return (hinge_bias if self.loss == "hinge" else squared_hinge_bias)(breakpoints, s, c)

    @cached_property
    def _by_threshold(self) -> list[tuple[Any, Array, Array, Index]]:
        """Rows, signs, costs and finite-cost rows that define each optimal threshold.

        The costs are relative to the largest weight: a threshold depends on their
        ratios alone, and products with C may underflow.
        """
        k = self.rows.k
        if k is None and self.weights is None and np.isfinite(self.C):
            # All rows have the bias, at equal finite costs.
            return [(slice(None), self.bias_signs, np.ones(self.p), np.arange(self.p))]
        active = (self.bias_signs != 0) & ~self.free
        return [
            self._costs_of(active if k is None else active & (k == threshold))
            for threshold in range(self.T)
        ]

    def _costs_of(self, active: NDArray[np.bool_]) -> tuple[Any, Array, Array, Index]:
        rows = slice(None) if active.all() else np.flatnonzero(active)
        weights, soft = self.unit_weights[rows], np.flatnonzero(np.isfinite(self.costs[rows]))
        shares = np.full(len(weights), np.inf)
        shares[soft] = weights[soft] / weights[soft].max(initial=0.0)
        return rows, self.bias_signs[rows], shares, soft

    @overload
    def repaired(self, alpha: Multipliers) -> Any: ...

    @overload
    def repaired(self, alpha: ArrayLike) -> Array: ...

    def repaired(self, alpha: ArrayLike | Multipliers) -> Array | Multipliers:
        """Return multipliers close to these that are exactly dual feasible.

        S'alpha = 0 and 0 <= alpha <= C x weight hold exactly. The upper bound is that
        of the loss: infinite for the squared hinge, and 0 if the weight is 0. An array
        is returned as an array on a grid on which A'alpha is exact in float64.
        Multipliers of implicit pairs are truncated at their costs, and stay implicit if
        sums over the pairs use sweeps only.

        Parameters
        ----------
        alpha : array-like of shape (p,), or Multipliers
            Multipliers; NaN counts as 0.

        Returns
        -------
        ndarray of shape (p,), or implicit multipliers
            Multiples of a power of two; all zeros if the equality is infeasible.
        """
        multipliers = self.rows.multipliers(alpha if self.rows.many else np.asarray(alpha))
        return multipliers.feasible(self.rows, self.phi, self.group_costs_within[0], self.bias)

    @property
    def undeclarable_in_features(self) -> Refusal | None:
        """Reason why no formulation in w alone declares the problem, or None.

        Explicit features need no Gram matrix.
        """
        refusal = self.undeclarable
        if refusal is None or not refusal.too_large or self.explicit is None:
            return refusal
        return too_large_in_features(self.p, self.explicit.stored.shape[1])

    @property
    def features_error(self) -> float:
        """Estimate of |K - L L'|_2 for the features L.

        It consists of the largest eigenvalue that they exclude, and the rounding of the
        decomposition.
        """
        return 0.0 if self.explicit is not None else self._spectrum[2]

    @cached_property
    def _spectrum(self) -> tuple[Array, Array, float]:
        """Eigenvectors of K, roots of the eigenvalues, and error of the features L.

        The error is an estimate of |K - L L'|_2.
        """
        values, vectors = np.linalg.eigh(self.gram.dense)
        largest = max(float(values.max(initial=0.0)), 0.0)
        is_kept = values > SPAN_TOLERANCE * largest
        missed = float(np.abs(values[~is_kept]).max(initial=0.0)) + 16 * UNIT * largest
        # K = 0: return a column of zeros, because cvxpy rejects squares of empty
        # variables.
        if not is_kept.any():
            return np.zeros((self.m, 1)), np.ones(1), missed
        return vectors[:, is_kept], np.sqrt(values[is_kept]), missed

    def features(self) -> Features:
        """Return explicit features Z (m, q), or else L (m, r) with K = L L'.

        w are the coordinates of f in a basis of the span of the points.
        """
        if self.explicit is not None:
            return self.explicit.stored
        vectors, roots, _ = self._spectrum
        return vectors * roots

    def point_of_w(self, w: Array, b: AnyBias = None, alpha: AnyMultipliers | None = None) -> Point:
        """Return the canonical point of f = w . features.

        Parameters
        ----------
        w : ndarray of shape (q,) or (r,)
            Weights of the features.
        b : float, ndarray of shape (T,), or None
            Bias.
        alpha : AnyMultipliers of shape (p,), or None
            Multipliers of the rows.
        """
        if self.explicit is not None:
            return Point(w=w, b=b, alpha=alpha)
        vectors, roots, _ = self._spectrum
        return Point(beta=vectors @ (w / roots), b=b, alpha=alpha)
