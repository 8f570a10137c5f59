"""The two canonical shapes of every printed problem, and the constructors of the public way in.

    MarginProblem     min over f in H, b in R     1/2 |f|^2 + sum_r c_r loss( t_r - (A f)_r - b s_r )
                      max over alpha              t'alpha - 1/2 alpha' A K A' alpha  [ - sum_r alpha_r^2 / (4 c_r): squared hinge ]
                                                  s'alpha = 0,  0 <= alpha <= c      [ alpha >= 0: squared hinge, or c_r = inf ]
    OneNormProblem    min over x >= 0             1'x + C sum_r ( 1 - (B x)_r )_+
                      max over u                  1'u   s.t.  B'u <= 1,  0 <= u <= C

loss is the hinge (u)_+ or its square, c_r = C x weight_r, and f = sum_i beta_i k(x_i, .) with beta = A' alpha at the optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.arguments import array, choice, cost, factors, finite_cost, number, reals, shown
from equimargin.formulations.features import Explicit, column_names, explicit
from equimargin.formulations.kernels import Array, Features, Gram, Intercept, Kernel, Precomputed, linear, proven_shift, squared_norms
from equimargin.formulations.labelled_pairs import ImplicitMultipliers, LabelledPairs
from equimargin.formulations.labels import numbers, queries
from equimargin.formulations.rounding import SMALLEST, UNIT, products_within
from equimargin.formulations.rows import Pairs, Rows, Signed, Tube, ridge, weighed

Loss = Literal["hinge", "squared_hinge"]
LOSSES: tuple[Loss, ...] = ("hinge", "squared_hinge")
Bias = bool | Literal["penalized"]
SPAN = 1e-12
"""Eigenvalues of K below this fraction of the largest are not part of the features L of K = L L'."""
LARGEST_KERNEL = 2.0**1020
"""The largest |x_i|^2 and |K_ij|: differences of four of them are below 2^1024, where float64 ends."""
LARGEST = float(np.finfo(np.float64).max)
"""The largest float64."""
LARGEST_TARGET = 2.0**500
"""The largest t_r, about 3e150: losses and |f|^2 hold squares of it, and sums of some millions of them are below 2^1024."""


@dataclass(frozen=True, eq=False)
class Point:
    """A canonical point: a function f, its bias b, and multipliers alpha of the rows, each where there is one.

    w : (q,) f = w.z, only where the kernel has explicit features z: linear, with an intercept or without.
    beta : (m,) f = sum_i beta_i k(x_i, .).  b : the bias, f(x) + b is the decision.
    alpha : (p,) one a row.  For a OneNormProblem beta is its x >= 0 and alpha its u.
    """

    w: Array | None = None
    beta: Array | None = None
    b: float | None = None
    alpha: Array | None = None

    @property
    def has_function(self) -> bool:
        """Whether the point brings an f of its own."""
        return self.w is not None or self.beta is not None


@dataclass(frozen=True, eq=False)
class MarginProblem:
    """1/2 |f|^2 + sum_r c_r loss(t_r - (A f)_r - b s_r) over f in the kernel's space and b.

    Parameters
    ----------
    X : (m, d) features.  kernel : k.  rows : A, t, s.  C : cost of a unit of loss, in (0, inf]; inf is the hard margin.
    loss : "hinge" or "squared_hinge".  bias : whether b is free; False holds it at 0.
    weights : (groups,) factors of C in [0, inf], row by row, or query by query where pairs come from labels. The problem's costs are
    the exact products C x weight: proven bounds, exact optima and certificates hold for them; `costs` has them rounded.
    shift : added to the diagonal of a precomputed Gram; None if it is indefinite.
    feature_names : (d,) of the columns of X, where it came as a table; f is then evaluated at tables of the same columns alone.

    Source: the catalogue's canonical shape; documents T (23)-(28), (64)-(73), (84)-(89); K (1.2), (2.3), (2.4); P (6), (8).
    """

    X: Features
    kernel: Kernel
    rows: Rows
    C: float = 1.0
    loss: Loss = "hinge"
    bias: bool = True
    weights: Array | None = None
    shift: float | None = 0.0
    feature_names: tuple[str, ...] | None = None

    @property
    def m(self) -> int:
        """Number of points."""
        return self.rows.m

    @property
    def p(self) -> int:
        """Number of rows."""
        return self.rows.p

    @property
    def family(self) -> str:
        """The id of the formulations with this optimum."""
        kind = "hard" if np.isinf(self.C) else "l2" if self.loss == "squared_hinge" else "l1"
        if isinstance(self.rows, Pairs):
            return f"rank.{kind}"
        if isinstance(self.rows, Tube):
            return f"svr.{kind}"
        if self.bias:
            return "svm." + {"l1": "soft"}.get(kind, kind)
        return {"hard": "svm.nobias_hard", "l1": "svm.nobias", "l2": "svm.nobias_l2"}[kind]

    @property
    def convex(self) -> bool:
        """Whether K is positive semidefinite: by theory, or proved for a precomputed one."""
        return self.kernel.positive_semidefinite and self.shift is not None

    @cached_property
    def gram(self) -> Gram:
        """K as an operator."""
        return Gram(self.kernel, self.X, self.shift or 0.0)

    @cached_property
    def explicit(self) -> Explicit | None:
        """Z (m, q) with K = Z Z' where the kernel has such features without computing any, None otherwise."""
        return explicit(self.kernel, self.X)

    @cached_property
    def unit_weights(self) -> Array:
        """weight_r, (p,), ones where none were given."""
        return np.ones(self.p) if self.weights is None else self.rows.spread(self.weights)

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """Which rows have an infinite weight, (p,)."""
        return np.isinf(self.unit_weights)

    @cached_property
    def soft_weights(self) -> Array:
        """weight_r where it is finite, 0 on the hard rows, (p,): what multiplies the slacks in an objective."""
        return np.where(self.hard, 0.0, self.unit_weights)

    @cached_property
    def inverse_root_weights(self) -> Array:
        """1 / sqrt(weight_r), (p,), 0 for weight 0 (its multiplier is 0) and for hard rows: what scales alpha in a squared hinge's dual."""
        roots = np.zeros(self.p)
        np.divide(1.0, np.sqrt(self.unit_weights), out=roots, where=self.unit_weights > 0)
        return roots

    @cached_property
    def group_costs(self) -> Array:
        """c of the rows of every group, (groups,), C x weight; 0 for weight 0 even where C = inf, and for a group without rows."""
        w = self._used_weights
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self.C * w if np.isfinite(self.C) else np.where(w > 0, np.inf, 0.0))

    @cached_property
    def group_costs_within(self) -> tuple[Array, Array]:
        """The ends, (groups,) each, between which the exact products C x weight lie; infinite both only where a row is hard."""
        return products_within(np.asarray(self.C), self._used_weights)

    @property
    def _used_weights(self) -> Array:
        """The weight of every group, (groups,), 0 for one without rows."""
        return self.rows.used(np.ones(self.rows.groups) if self.weights is None else self.weights)

    @cached_property
    def costs(self) -> Array:
        """c_r, (p,)."""
        return self.rows.spread(self.group_costs)

    @cached_property
    def box(self) -> Array:
        """Upper ends of alpha, (p,): c for the hinge; inf for the squared hinge, 0 where the row costs nothing."""
        return self.costs if self.loss == "hinge" else np.where(self.costs > 0, np.inf, 0.0)

    @cached_property
    def exact_box(self) -> Array:
        """Upper ends of alpha, (p,), not above the exact products C x weight, which `box` has rounded to nearest."""
        ends = self.rows.spread(self.group_costs_within[0])
        return ends if self.loss == "hinge" else np.where(ends > 0, np.inf, 0.0)

    @cached_property
    def bias_signs(self) -> Array:
        """s_r, (p,): zeros where there is no bias."""
        return self.rows.s if self.bias else np.zeros(self.p)

    def with_cost(self, C: float) -> MarginProblem:
        """The same problem at another C."""
        C = cost(C)
        _within_float64(self.rows, C, self.loss, self.weights)
        return replace(self, C=C)

    def slack(self, f: Array, b: float) -> Array:
        """u_r = t_r - (A f)_r - b s_r, (p,), the slack that each row needs; f : (m,)."""
        u: Array = self.rows.t - self.rows.dot(f) - b * self.bias_signs
        return u

    def losses(self, u: Array) -> Array:
        """c_r loss(u_r), (p,); inf where a hard row is violated."""
        return weighed(self.costs, u, self.squared)

    @property
    def swept(self) -> bool:
        """Whether sums over the rows are taken by sweeps alone: they are many, and none must be met."""
        return self.rows.many and bool(np.isfinite(self.group_costs).all())

    @property
    def squared(self) -> bool:
        """Whether the loss is the squared hinge."""
        return self.loss == "squared_hinge"

    def primal(self, f: Array, norm2: float, b: float) -> float:
        """1/2 |f|^2 + sum_r c_r loss(u_r) in float64; f : (m,) values at the points, norm2 : |f|^2."""
        return norm2 / 2 + self.rows.total_loss(self.squared, self.group_costs, f, b, self.bias)

    def dual(self, alpha: Any, norm2: float) -> float:
        """t'alpha - 1/2 |A'alpha|_K^2 [- sum_r alpha_r^2 / (4 c_r)] in float64; alpha : (p,), norm2 : |A'alpha|_K^2."""
        ridge = self.rows.ridge(alpha, self.group_costs) if self.squared else 0.0
        return self.rows.gain(alpha) - norm2 / 2 - ridge

    def dual_ridge(self, alpha: Array) -> Array:
        """alpha_r^2 / (4 c_r), (p,), for the squared hinge; zeros for the hinge."""
        return ridge(alpha, self.costs) if self.squared else np.zeros(self.p)

    def norm2(self, beta: Array) -> float:
        """|f|^2 of f = sum_i beta_i k(x_i, .), beta (m,), in float64."""
        if self.explicit is None:
            return float(beta @ (self.gram @ beta))
        w = self.explicit.rdot(beta)
        return float(w @ w)

    @cached_property
    def scale(self) -> float:
        """P(0) = sum_r c_r loss(t_r), the primal value at f = 0, b = 0, over the finite costs: what relative figures fall back on."""
        return self.rows.scale(self.squared, np.where(np.isfinite(self.group_costs), self.group_costs, 0.0))

    def best_bias(self, f: Array) -> tuple[float, float]:
        """The interval of b that minimises sum_r c_r loss(t_r - (A f)_r - b s_r), in the project's sign; (0, 0) without a bias.

        Hinge: piecewise linear in b, breakpoints (t_r - (A f)_r) s_r, where the slope crosses 0. Squared hinge: the root of a
        piecewise-linear derivative. Hard rows: the interval all of them allow (its middle, twice, if there is none).
        """
        if not self.bias:
            return 0.0, 0.0
        signed = self.bias_signs
        active = (signed != 0) & (self.costs > 0)
        if not active.any():
            return 0.0, 0.0
        s, c = signed[active], self.costs[active]
        breakpoints = (self.rows.t - self.rows.dot(f))[active] * s
        low = float(breakpoints[(s > 0) & np.isinf(c)].max(initial=-np.inf))
        high = float(breakpoints[(s < 0) & np.isinf(c)].min(initial=np.inf))
        soft = np.isfinite(c)
        b = (-np.inf, np.inf)
        if soft.any():
            find = _hinge_bias if self.loss == "hinge" else _squared_hinge_bias
            b = find(breakpoints[soft], s[soft], c[soft])
        if low > high:
            return (low + high) / 2, (low + high) / 2
        lower, upper = float(np.clip(b[0], low, high)), float(np.clip(b[1], low, high))
        return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) else _finite_end(lower, upper)

    def bias_at(self, f: Array) -> float:
        """The middle of `best_bias(f)`."""
        lower, upper = self.best_bias(f)
        return (lower + upper) / 2

    def repaired(self, alpha: Any) -> Any:
        """Multipliers close to these with s'alpha = 0 and 0 <= alpha <= C x weight (alpha = 0 there, where weight is 0) exactly.

        They are on a grid on which A'alpha is exact in float64.

        Parameters
        ----------
        alpha : (p,) any numbers; NaN counts as 0. Those of pairs too many to be looked at one by one are cut off at their costs.

        Returns
        -------
        alpha : (p,) multiples of a power of two; all zeros if the equality cannot be met.
        """
        if self.swept and isinstance(alpha, ImplicitMultipliers):
            if not alpha.rows.same(self.rows):
                raise ValueError("these multipliers are of other pairs than the problem's")
            return alpha.within_box(self.squared, self.group_costs_within[0])
        return on_grid(np.asarray(alpha), self.exact_box, self.bias_signs)

    @property
    def features_error(self) -> float:
        """About |K - L L'|_2 for the features L: the largest eigenvalue they leave out, and the rounding of the decomposition."""
        return 0.0 if self.explicit is not None else self._spectrum[2]

    @cached_property
    def _spectrum(self) -> tuple[Array, Array, float]:
        """The features of K, their scales, and what they miss of K."""
        values, vectors = np.linalg.eigh(self.gram.dense)
        largest = max(float(values.max(initial=0.0)), 0.0)
        kept = values > SPAN * largest
        missed = float(np.abs(values[~kept]).max(initial=0.0)) + 16 * UNIT * largest
        if not kept.any():  # K = 0: one column of zeros, because cvxpy refuses squares of empty variables
            return np.zeros((self.m, 1)), np.ones(1), missed
        return vectors[:, kept], np.sqrt(values[kept]), missed

    def features(self) -> Features:
        """Z (m, q) where the kernel has explicit features, otherwise L (m, r) with K = L L', so that w is f in a basis of the span."""
        if self.explicit is not None:
            return self.explicit.stored
        vectors, roots, _ = self._spectrum
        return vectors * roots

    def point_of_w(self, w: Array, b: float | None = None, alpha: Array | None = None) -> Point:
        """The canonical point of f = w . features; w : (q,) or (r,)."""
        if self.explicit is not None:
            return Point(w=w, b=b, alpha=alpha)
        vectors, roots, _ = self._spectrum
        return Point(beta=vectors @ (w / roots), b=b, alpha=alpha)


@dataclass(frozen=True, eq=False)
class OneNormProblem:
    """1'x + C sum_r (1 - (B x)_r)_+ over x >= 0, a linear program.

    Parameters
    ----------
    X : (m, d) features.  kernel : k.  rows : the preference pairs, A (p, m).  C : cost of a unit of slack, finite.
    over : "points", B = A K and x = beta (m,), or "pairs", B = A K A' and x (p,).  shift, feature_names : as of a MarginProblem.

    Source: T (102)-(104) = K (2.10) over points; T (94)-(96) over pairs.
    """

    X: Features
    kernel: Kernel
    rows: Pairs
    C: float = 1.0
    over: Literal["points", "pairs"] = "points"
    shift: float | None = 0.0
    feature_names: tuple[str, ...] | None = None

    @property
    def m(self) -> int:
        """Number of points."""
        return self.rows.m

    @property
    def p(self) -> int:
        """Number of pairs."""
        return self.rows.p

    @property
    def size(self) -> int:
        """Number of unknowns x."""
        return self.m if self.over == "points" else self.p

    @property
    def family(self) -> str:
        """The id of the formulations with this optimum."""
        return "rvm" if self.over == "points" else "rank.onenorm"

    @property
    def convex(self) -> bool:
        """Always: a linear program asks nothing of K."""
        return True

    @cached_property
    def gram(self) -> Gram:
        """K as an operator."""
        return Gram(self.kernel, self.X, self.shift or 0.0)

    @cached_property
    def explicit(self) -> Explicit | None:
        """Z (m, q) with K = Z Z' where the kernel has such features without computing any, None otherwise."""
        return explicit(self.kernel, self.X)

    @property
    def scale(self) -> float:
        """P(0) = C p, the primal value at x = 0; C without pairs, where an optimum of 0 would leave no unit to measure answers in."""
        return self.C * max(self.p, 1)

    def with_cost(self, C: float) -> OneNormProblem:
        """The same problem at another C, finite."""
        C = finite_cost(C)
        _within_float64(self.rows, C)
        return replace(self, C=C)

    def coefficients(self, x: Array) -> Array:
        """beta of f = sum_i beta_i k(x_i, .), (m,)."""
        return x if self.over == "points" else self.rows.rdot(x)

    def dual(self, u: Array) -> float:
        """1'u in float64, u clipped to its box and divided by max(1, max B'u)."""
        u = np.clip(u, 0.0, self.C)
        prices = self.gram @ self.rows.rdot(u)
        prices = prices if self.over == "points" else self.rows.dot(prices)
        return float(u.sum() / max(1.0, float(prices.max(initial=0.0))))

    def primal(self, x: Array) -> float:
        """1'x + C sum_r (1 - (B x)_r)_+ in float64 at x >= 0."""
        margins = self.rows.dot(self.gram @ self.coefficients(x))
        return float(x.sum() + self.C * np.maximum(1.0 - margins, 0.0).sum())


Problem = MarginProblem | OneNormProblem


def classification(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | None = None,
    loss: Loss = "hinge",
    bias: Bias = True,
    sample_weight: ArrayLike | None = None,
) -> MarginProblem:
    """Max-margin classification, min 1/2 |f|^2 + C sum_i weight_i loss(1 - y_i (f(x_i) + b)).

    Parameters
    ----------
    X : (m, d) features, or (m, m) Gram for `precomputed()`: an array, a sparse matrix, or a table, whose columns' names are kept.
    y : (m,) labels in {-1, +1}; one class alone is accepted.
    C : cost in (0, inf].  kernel : linear by default.  loss : "hinge" or "squared_hinge".
    bias : True (free), False (none), "penalized" (part of the norm: the kernel k + 1 without a bias).
    sample_weight : (m,) factors of C, in [0, inf].

    Raises
    ------
    ValueError : labels other than -1 and +1, shapes and types that do not fit, numbers that are not finite or too large for float64,
        C <= 0.

    Source: T (6)-(7), (23)-(28); K (2.3); the tutorial writes w.x - b, its b is minus ours.
    """
    X, kernel, names = _features(X, kernel)
    labels = numbers(y, X.shape[0], "y")
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError("classification: every label must be -1 or +1; encode the two classes so")
    if not isinstance(bias, bool | np.bool_) and not (isinstance(bias, str) and bias == "penalized"):
        raise ValueError(f"classification: bias must be True, False or 'penalized', not {shown(bias)}")
    shift = _shift(kernel, X)
    if bias == "penalized":
        kernel, bias = Intercept(kernel), False
    weights = None if sample_weight is None else factors(sample_weight, len(labels), "sample_weight")
    rows, C = Signed(labels), cost(C)
    chosen = choice(loss, "loss", LOSSES)
    _within_float64(rows, C, chosen, weights)
    return MarginProblem(X, kernel, rows, C, chosen, bool(bias), weights, shift, names)


def regression(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    epsilon: float = 0.1,
    kernel: Kernel | None = None,
    loss: Loss = "hinge",
    sample_weight: ArrayLike | None = None,
) -> MarginProblem:
    """Epsilon-insensitive regression, min 1/2 |f|^2 + C sum_i weight_i loss(|y_i - f(x_i) - b| - epsilon).

    Parameters
    ----------
    X : (m, d) features.  y : (m,) targets.  C : cost in (0, inf].  epsilon : >= 0, in the units of y.  The rest as in `classification`.

    Raises
    ------
    ValueError : negative epsilon, shapes and types that do not fit, numbers that are not finite or too large for float64, C <= 0.

    Source: T (57)-(73).
    """
    X, kernel, names = _features(X, kernel)
    targets = numbers(y, X.shape[0], "y")
    half_width = number(epsilon, "regression: epsilon", "finite and at least 0", lambda v: 0 <= v < np.inf)
    with np.errstate(over="ignore"):
        tube = Tube(targets, half_width)
    weights = None if sample_weight is None else np.tile(factors(sample_weight, len(targets), "sample_weight"), 2)
    C = cost(C)
    chosen = choice(loss, "loss", LOSSES)
    _within_float64(tube, C, chosen, weights)
    return MarginProblem(X, kernel, tube, C, chosen, True, weights, _shift(kernel, X), names)


def ranking(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    C: float = 1.0,
    kernel: Kernel | None = None,
    loss: Loss = "hinge",
    per_query: Literal["sum", "mean"] = "sum",
    query_weight: Mapping[Any, float] | None = None,
) -> MarginProblem:
    """RankSVM, min 1/2 |f|^2 + C sum over pairs (i preferred to j) of weight_ij loss(1 - f(x_i) + f(x_j)).

    Parameters
    ----------
    X : (m, d) features.  y : (m,) relevances, higher is better.  qid : (m,) queries; pairs are within a query. No pair at all is accepted.
    per_query : "sum" of the losses of a query's pairs, or their "mean".  query_weight : factor of C for a query, in [0, inf]; 1 if absent.

    Raises
    ------
    ValueError : shapes and types that do not fit, numbers that are not finite or too large for float64, C <= 0, a negative weight.

    Source: T (84)-(86), K (1.2), (2.4), P (6), (8).
    """
    X, kernel, names = _features(X, kernel)
    rows, asked = _pairs(X, y, qid)
    weights = _query_weights(rows, asked, per_query, query_weight)
    C = cost(C)
    chosen = choice(loss, "loss", LOSSES)
    _within_float64(rows, C, chosen, weights)
    return MarginProblem(X, kernel, rows, C, chosen, False, weights, _shift(kernel, X), names)


def ranking_from_pairs(X: Any, pairs: ArrayLike, C: float = 1.0, kernel: Kernel | None = None, loss: Loss = "hinge") -> MarginProblem:
    """RankSVM over given preferences.

    Parameters
    ----------
    X : (m, d) features.  pairs : (p, 2) integers, (preferred, other).

    Raises
    ------
    ValueError : an index outside 0 .. m - 1, a point preferred to itself.

    Source: P (6), its set of preferences.
    """
    X, kernel, names = _features(X, kernel)
    given = array(pairs, "ranking_from_pairs: pairs")
    if given.size and (given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer)):
        raise ValueError(
            f"ranking_from_pairs: pairs must be integers of shape (p, 2), (preferred, other); they are {given.dtype} {given.shape}"
        )
    listed = given.astype(np.int64).reshape(-1, 2)
    if listed.size and not (listed.min() >= 0 and listed.max() < X.shape[0]):
        raise ValueError(f"ranking_from_pairs: every index must be in 0 .. {X.shape[0] - 1}")
    if (listed[:, 0] == listed[:, 1]).any():
        raise ValueError("ranking_from_pairs: a point cannot be preferred to itself")
    rows = Pairs(listed[:, 0], listed[:, 1], X.shape[0])
    C = cost(C)
    chosen = choice(loss, "loss", LOSSES)
    _within_float64(rows, C, chosen)
    return MarginProblem(X, kernel, rows, C, chosen, False, None, _shift(kernel, X), names)


def ranking_vector_machine(
    X: Any, y: ArrayLike, qid: ArrayLike | None = None, C: float = 1.0, kernel: Kernel | None = None
) -> OneNormProblem:
    """Ranking vector machine, min 1'beta + C sum over pairs (1 - (A K beta)_r)_+ over beta >= 0.

    Parameters
    ----------
    As in `ranking`; C finite.

    Raises
    ------
    ValueError : as in `ranking`, and C = inf.

    Source: T (102)-(104), K (2.10).
    """
    X, kernel, names = _features(X, kernel)
    rows, C = _pairs(X, y, qid)[0], finite_cost(C)
    _within_float64(rows, C)
    return OneNormProblem(X, kernel, rows, C, "points", _shift(kernel, X), names)


def one_norm_ranking(X: Any, y: ArrayLike, qid: ArrayLike | None = None, C: float = 1.0, kernel: Kernel | None = None) -> OneNormProblem:
    """One-norm ranking, min 1'x + C sum over pairs (1 - (A K A' x)_r)_+ over x >= 0, one unknown a pair.

    Parameters
    ----------
    As in `ranking`; C finite.

    Raises
    ------
    ValueError : as in `ranking`, and C = inf.

    Source: T (94)-(96), with phi_ij = phi_i - phi_j.
    """
    X, kernel, names = _features(X, kernel)
    rows, C = _pairs(X, y, qid)[0], finite_cost(C)
    _within_float64(rows, C)
    return OneNormProblem(X, kernel, rows, C, "pairs", _shift(kernel, X), names)


def _features(X: Any, kernel: Kernel | None) -> tuple[Features, Kernel, tuple[str, ...] | None]:
    """X as float64, dense or CSR, the kernel, and the names of the columns."""
    kernel, names = linear() if kernel is None else kernel, column_names(X)
    if not isinstance(kernel, Kernel):
        raise ValueError(f"kernel must be what linear(), polynomial(), rbf(), sigmoid() or precomputed() returns, not {shown(kernel)}")
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        values = reals(X.data, "X")
        X = X.astype(np.float64)
    else:
        X = values = np.ascontiguousarray(reals(X, "X"))
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must have two dimensions and at least one row and one column; its shape is {X.shape}")
    if not np.isfinite(values).all():
        raise ValueError("X holds NaN or an infinite number; remove or replace such rows first")
    if kernel.given:
        X = X.toarray() if hasattr(X, "toarray") else X
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel needs the square Gram matrix; this one is {X.shape[0]} x {X.shape[1]}")
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(X).max(axis=1) if kernel.given else np.maximum(squared_norms(X), np.abs(kernel.diagonal(X)))
    if not sizes.max() <= LARGEST_KERNEL:
        row = int(np.flatnonzero(~(sizes <= LARGEST_KERNEL))[0])
        what = "the Gram matrix has entries" if kernel.given else "the square of its length, or its kernel value, is"
        raise ValueError(f"X is too large for float64 at row {row}: {what} above {LARGEST_KERNEL:.1e}; divide X by a constant")
    asymmetry = float(np.abs(X - X.T).max()) if kernel.given else 0.0
    if asymmetry > 0:
        raise ValueError(
            f"the precomputed Gram matrix is not symmetric (largest difference {asymmetry:.3g}); pass (K + K.T) / 2 if that is meant"
        )
    return X, kernel, names


def _within_float64(rows: Rows, C: float, loss: Loss = "hinge", weights: Array | None = None) -> None:
    """Refuse numbers that float64 cannot hold; the features are looked at by `_features`.

    Raises
    ------
    ValueError : a target above LARGEST_TARGET, a margin t_r, a cost C x weight or a sum P(0) of losses that is no float64.
    """
    tube = isinstance(rows, Tube)
    if tube and not (rows.t.max() <= LARGEST_TARGET and np.isfinite(rows.t).all()):
        outlier = float(rows.y[np.abs(rows.y).argmax()])
        raise ValueError(f"y is too large for float64: {outlier:.3g} is a target, {LARGEST_TARGET:.1e} the limit; divide y and epsilon")
    largest = 1.0 if weights is None else float(weights.max(initial=0.0, where=np.isfinite(weights)))
    if np.isfinite(C) and not np.isfinite(C * largest):
        raise ValueError(f"C = {C:g} times the weight {largest:g} is too large for float64; rows that must be met have weight inf")
    worst = max(float(rows.t.max()), 0.0) if tube else 1.0
    if np.isfinite(C) and not np.isfinite(C * largest * worst * (worst if loss == "squared_hinge" else 1.0) * rows.p):
        raise ValueError(f"C = {C:g} is too large for float64: {rows.p:,} losses of f = 0 may add up to more than {LARGEST:.1e}")


def _pairs(X: Features, y: ArrayLike, qid: ArrayLike | None) -> tuple[LabelledPairs, NDArray[Any]]:
    """The pairs, and the names of the queries; 0 is that of the only one."""
    m = X.shape[0]
    relevance = numbers(y, m, "y")
    names, index = (np.zeros(1, dtype=np.int64), None) if qid is None else queries(qid, m)
    return LabelledPairs(relevance, index), names


def _query_weights(rows: LabelledPairs, names: NDArray[Any], per_query: str, query_weight: Mapping[Any, float] | None) -> Array | None:
    """Weights of the pairs of every query, (queries,), or None where all are 1."""
    mean = choice(per_query, "ranking: per_query", ("sum", "mean")) == "mean"
    if not mean and query_weight is None:
        return None
    weights = np.ones(rows.groups)
    if query_weight is not None:
        if not isinstance(query_weight, Mapping):
            raise ValueError(f"ranking: query_weight must map queries to factors of C, not be {shown(query_weight)}")
        unknown = set(query_weight) - set(names.tolist())
        if unknown:
            raise ValueError(f"ranking: query_weight names queries that are not in qid: {sorted(unknown, key=str)[:5]}")
        weights = factors([query_weight.get(name, 1.0) for name in names.tolist()], len(names), "ranking: the values of query_weight")
    return weights / np.maximum(rows.pairs_of, 1) if mean else weights


def _shift(kernel: Kernel, X: Features) -> float | None:
    return proven_shift(X) if isinstance(kernel, Precomputed) else 0.0


def _hinge_bias(breakpoints: Array, s: Array, c: Array) -> tuple[float, float]:
    """Where the slope -sum_{s=+1} c + sum of c over the breakpoints passed crosses 0."""
    order = np.argsort(breakpoints, kind="stable")
    slope = np.cumsum(c[order]) - c[s > 0].sum()
    noise = 1e-14 * c.sum()
    first = int(np.searchsorted(slope, -noise))
    last = int(np.searchsorted(slope, noise, side="right"))
    at = breakpoints[order]
    lower = at[first] if c[s > 0].sum() > noise else -np.inf
    upper = at[last] if last < len(at) else np.inf
    return float(lower), float(upper)


def _squared_hinge_bias(breakpoints: Array, s: Array, c: Array) -> tuple[float, float]:
    """The root of g(b) = sum_{s=-1, b > v} c (b - v) - sum_{s=+1, b < v} c (v - b), nondecreasing and piecewise linear."""
    order = np.argsort(breakpoints, kind="stable")
    v, s, c = breakpoints[order], s[order], c[order]
    up, down = np.where(s > 0, c, 0.0), np.where(s < 0, c, 0.0)
    below, moment_below = np.cumsum(down), np.cumsum(down * v)
    above, moment_above = up.sum() - np.cumsum(up), (up * v).sum() - np.cumsum(up * v)
    g = below * v - moment_below - (moment_above - above * v)
    k = int(np.searchsorted(g, 0.0))
    if k == len(v):
        return float(v[-1]), np.inf
    if k == 0:
        return (float(v[0]), float(v[0])) if up.sum() > 0 else (-np.inf, float(v[0]))
    slope = below[k - 1] + above[k - 1]
    b = v[k - 1] - g[k - 1] / slope if slope > 0 else v[k]
    return float(b), float(b)


def _finite_end(lower: float, upper: float) -> tuple[float, float]:
    """An interval that is open to one side, shut at its finite end."""
    end = lower if np.isfinite(lower) else upper
    return (end, end) if np.isfinite(end) else (0.0, 0.0)


def on_grid(alpha: Array, box: Array, s: Array) -> Array:
    """Multipliers with 0 <= alpha <= box and s'alpha = 0 exactly, on a dyadic grid so coarse that any sum of them is exact in float64.

    Parameters
    ----------
    alpha : (p,) any numbers; what is not finite counts as 0.  box : (p,) upper ends.  s : (p,) signs in {-1, 0, 1}.
    """
    p = len(alpha)
    alpha = np.clip(np.nan_to_num(alpha, nan=0.0, posinf=0.0, neginf=0.0), 0.0, box)
    with np.errstate(over="ignore"):
        top, total = float(alpha.max(initial=0.0)), float(alpha.sum())
        if not 0 < total < np.inf:
            return np.zeros(p)
        unit = max(2.0 ** (np.floor(np.log2(total)) - 50), SMALLEST)  # the total is below 2^51 units, and below 2^53 after any balancing
        ends = np.floor(np.minimum(box / unit, 4 * (top / unit))).astype(np.int64)
    steps = np.clip(np.rint(alpha / unit).astype(np.int64), 0, ends)
    signs = s.astype(np.int64)
    steps -= _balance(steps, ends, signs)
    return steps * unit if int(steps @ signs) == 0 else np.zeros(p)


def _balance(steps: NDArray[np.int64], ends: NDArray[np.int64], s: NDArray[np.int64]) -> NDArray[np.int64]:
    """What to take from `steps` so that s'steps = 0, from the rows with most room on both sides first."""
    excess = int(steps @ s)
    if excess == 0:
        return np.zeros_like(steps)
    direction = int(np.sign(excess))
    room = np.where(s == direction, steps, np.where(s == -direction, ends - steps, 0))
    order = np.argsort(-np.minimum(steps, ends - steps), kind="stable")
    taken = np.zeros_like(steps)
    before = np.concatenate([[0], np.cumsum(room[order])[:-1]])
    taken[order] = np.clip(abs(excess) - before, 0, room[order])
    return taken * s * direction
