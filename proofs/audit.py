"""Audits: proven distance of a third-party model from the optimum of its problem.

    excess = 1/2 |f|^2 + sum_r c_r loss(u_r) - optimum

f and b are the model's own, without any repair. Their objective is computed with a
bound on its rounding error. The optimum lies in the intersection of the intervals that
a solver and the model's own multipliers prove. The excess therefore has a proven lower
and a proven upper bound.

A file may contain rounded features of support vectors, which then differ from the rows
of the data. Such vectors become further points of the problem, of weight 0: the optimum
is unchanged, and f is the function that the file defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval
from equimargin.formulations.numeric.arrays import Array, dense, is_sparse
from equimargin.formulations.problem.choices import Bias
from equimargin.formulations.problem.construct import (
    classification,
    make_margin_problem,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Tube
from equimargin.proofs.foreign_models import Model, of_estimator
from equimargin.solvers.registry import solve

EXCESS_OVER_COST = 1e-9
"""Largest excess of a dual coefficient over its row's cost that counts as rounding.

It is relative to the cost. A larger excess contradicts C.
"""
LARGEST_IMBALANCE = 1e-6
"""Largest |sum of the dual coefficients| over the sum of their absolute values.

A larger ratio contradicts a free bias.
"""
FEATURE_ROUNDING = 1e-7
"""Largest relative difference between a feature of a support vector and its row's.

LIBSVM writes features with 8 digits. A larger difference shows that the model was
trained on other data. Within this difference a support vector is matched to its row;
f is not affected.
"""


@dataclass(frozen=True, eq=False)
class Audit:
    """Proven statements on a model.

    Attributes
    ----------
    source : str
        Kind of the model, as text.
    problem : MarginProblem
        Problem that it claims to solve.
    point : Point
        The model's f, b and, if it has them, multipliers: those of the rows, then those of
        support vectors that equal no row.
    objective : Interval
        Interval of the model's objective value.
    optimum : Interval
        Proven interval of the problem's optimum.
    own : Interval
        Interval of the optimum that the model proves by itself, without any solver;
        lower = -inf if it has no multipliers.
    assumed : str
        Assumptions on the problem that the model's file does not state, as text.
    vectors : str
        Agreement of a file's support vectors with the rows of the data, as a sentence; empty
        if the model lists the indices of its rows.
    """

    source: str
    problem: MarginProblem
    point: Point
    objective: Interval
    optimum: Interval
    own: Interval
    assumed: str = ""
    vectors: str = ""

    @property
    def excess(self) -> tuple[float, float]:
        """Lower and upper bound of the excess over the optimum, in units of the objective."""
        return max(
            self.objective.lower - self.optimum.upper, 0.0
        ), self.objective.upper - self.optimum.lower

    @property
    def relative_excess(self) -> tuple[float, float]:
        """Bounds of the excess over S = max(|lower|, |upper|, 1e-4 P(0)).

        lower and upper bound the optimum, and P(0) is the objective at f = 0.
        """
        return self.excess[0] / self.optimum.size, self.excess[1] / self.optimum.size

    @property
    def own_relative_excess(self) -> float:
        """Upper bound of the excess over S by the model's multipliers alone; inf without any."""
        return (self.own.upper - self.own.lower) / self.optimum.size

    def __str__(self) -> str:
        alone = (
            f"; its own multipliers, without a solver, prove at most "
            f"{_rounded(self.own_relative_excess, 2, ROUND_CEILING)}"
        )
        own = alone if np.isfinite(self.own.lower) else ""
        vectors = f"; {self.vectors}" if self.vectors else ""
        assumed = f"; assumed, as its file does not say it: {self.assumed}" if self.assumed else ""
        return (
            f"{self.source}, {self.problem.family}, C={self.problem.C:g}: this model is "
            f"proven to be {_range(*self.excess, 4)} "
            f"above the optimum of the problem it claims to solve, which is in "
            f"[{_rounded(self.optimum.lower, 8, ROUND_FLOOR)}, "
            f"{_rounded(self.optimum.upper, 8, ROUND_CEILING)}] (relative: "
            f"{_range(*self.relative_excess, 2)}{own}){vectors}{assumed}"
        )


def audit(
    model: Any,
    X: Any,
    y: ArrayLike,
    C: float | None = None,
    epsilon: float | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-9,
    time_limit: float = 60.0,
    nearest_rows: bool = False,
) -> Audit:
    """Return the proven distance of a model from the optimum of the problem that it claims.

    Parameters
    ----------
    model : estimator or Model
        Fitted scikit-learn SVC, SVR or LinearSVC, a pipeline that ends in one, a
        parameter search whose best estimator is one, or a Model of `foreign_models`.
    X : array-like of shape (m, d)
        Training features, as passed to the model or its pipeline; the Gram matrix for a
        precomputed kernel.
    y : array-like of shape (m,)
        Two labels, of which the larger is positive, or targets.
    C, epsilon : float, optional
        Parameters of the problem, if the model does not have them.
    sample_weight : array-like of shape (m,), optional
        Factors of C.
    tol : float, default 1e-09
        Relative tolerance of the solver that brackets the optimum.
    time_limit : float, default 60.0
        Time limit of that solver, in seconds.
    nearest_rows : bool, default False
        True to replace a rounded support vector of a file by the nearest row of X, as
        in the training. By default f is the function of the vectors in the file.

    Raises
    ------
    ValueError
        If C or epsilon is missing, or contradicted by the model; if the coefficients
        contradict C or the labels; if support vectors are not rows of X (in a file
        without indices of rows, up to 1e-7 relative); or as the problem's constructor.
    """
    known = model if isinstance(model, Model) else of_estimator(model)
    C = _agreed("C", known.claimed.C, C)
    if not np.isfinite(C):
        raise ValueError(
            "C must be finite; a hard-margin model in floating point has no objective value"
        )
    problem = _problem(known, known.features(X), y, C, epsilon, sample_weight)
    # A linear model has w alone; any other has the coefficients of its support vectors.
    if known.coefficients is None:
        whole, point, vectors = problem, _linear_point(known, problem), ""
    else:
        weighed = (
            np.arange(problem.m)
            if sample_weight is None
            else np.flatnonzero(np.asarray(sample_weight) > 0)
        )
        whole, point, vectors = _expansion(known, problem, weighed, nearest_rows)
    proven, inner = (
        interval(whole, point),
        inner_interval(whole, Point(w=point.w, beta=point.beta, b=point.b)),
    )
    solution = solve(problem, tol=tol, time_limit=time_limit)
    optimum = solution.interval if point.alpha is None else solution.interval.intersected(proven)
    objective = Interval(inner.upper, proven.upper, problem.scale)
    return Audit(known.source, problem, point, objective, optimum, proven, known.assumed, vectors)


def _range(least: float, most: float, digits: int) -> str:
    """Return one number if both ends round to it, otherwise both ends, rounded outward."""
    if (number := f"{least:.{digits}g}") == f"{most:.{digits}g}":
        return number
    return (
        f"between {_rounded(least, digits, ROUND_FLOOR)} and "
        f"{_rounded(most, digits, ROUND_CEILING)}"
    )


def _rounded(value: float, digits: int, direction: str) -> str:
    """Return a number as text of that many digits, rounded in that direction."""
    rounded = Context(prec=digits, rounding=direction).create_decimal_from_float(value)
    return f"{float(rounded):.{digits}g}"


def _problem(
    model: Model,
    X: Any,
    y: ArrayLike,
    C: float,
    epsilon: float | None,
    sample_weight: ArrayLike | None,
) -> MarginProblem:
    """Return the problem that the model claims to solve, with the caller's parameters."""
    targets, claimed = np.asarray(y), model.claimed
    if claimed.task == "regression":
        half_width = _agreed("epsilon", claimed.epsilon, epsilon)
        return make_margin_problem(
            "regression",
            X,
            targets,
            C,
            claimed.kernel,
            claimed.loss,
            half_width,
            sample_weight=sample_weight,
        )
    if epsilon is not None:
        raise ValueError("epsilon belongs to regression, and this is a model for classification")
    # The larger of two labels is the positive class.
    labels = np.unique(targets)
    if len(labels) != 2:
        raise ValueError(f"the model has two classes and the data {len(labels)}")
    signs = np.where(targets == labels[1], 1.0, -1.0)
    of_class = np.where(signs > 0, claimed.class_weight[1], claimed.class_weight[0])
    weights = of_class * (1.0 if sample_weight is None else np.asarray(sample_weight))
    if claimed.constant is not None and claimed.extra_features:
        X = _appended(X, claimed.constant)
    bias: Bias = True if claimed.free_bias else "penalized" if claimed.constant == 1.0 else False
    given = None if (weights == 1.0).all() else weights
    return make_margin_problem(
        "classification", X, signs, C, claimed.kernel, claimed.loss, bias=bias, sample_weight=given
    )


def _linear_point(model: Model, problem: MarginProblem) -> Point:
    """Return the point of a linear model; the weight of an appended constant is part of w."""
    constant, w = model.claimed.constant, model.w
    assert w is not None
    d = problem.X.shape[1] - model.claimed.extra_features
    if len(w) > d:
        raise ValueError(f"the model has {len(w)} weights and the data {d} features")
    bias = [] if constant is None else [model.b / constant]
    return Point(
        w=np.concatenate([w, np.zeros(d - len(w)), bias]),
        b=model.b if model.claimed.free_bias else 0.0,
    )


def _expansion(
    model: Model, problem: MarginProblem, weighed: NDArray[np.int64], nearest_rows: bool
) -> tuple[MarginProblem, Point, str]:
    """Return the problem with all support vectors, the point, and a sentence on the vectors."""
    assert model.coefficients is not None
    n = len(model.coefficients)
    if model.support is not None:
        support, vectors = _numbered(model, model.support, problem, weighed), None
    else:
        vectors = _as_wide_as(problem, model.vectors)
        support = _matched(model, vectors, problem)
    if len(np.unique(support)) < n:
        raise ValueError("two support vectors are one row of the data")
    places, whole, sentence = support.copy(), problem, ""
    if vectors is not None:
        rounded = np.flatnonzero((vectors != _dense(problem.X[support])).any(axis=1))
        sentence = _said_of_vectors(n, len(rounded), nearest_rows)
        if len(rounded) and not nearest_rows:
            places[rounded], whole = (
                problem.m + np.arange(len(rounded)),
                _with_points(problem, vectors[rounded]),
            )
    coefficient_of_row, beta = np.zeros(whole.m), np.zeros(whole.m)
    coefficient_of_row[support], beta[places] = model.coefficients, model.coefficients
    _check_coefficients(coefficient_of_row, alpha := _multipliers(coefficient_of_row, whole), whole)
    return whole, Point(beta=beta, b=model.b, alpha=alpha), sentence


def _said_of_vectors(n: int, rounded: int, nearest_rows: bool) -> str:
    """Return a sentence on the rounded ones among the n support vectors of a file."""
    if not rounded:
        return "every support vector of its file equals a row of the data"
    audited = "are taken to be those rows" if nearest_rows else "are audited as the file has them"
    return (
        f"{rounded} of {n} support vectors of its file differ from their rows of the data, by "
        f"rounding, and {audited}"
    )


def _with_points(problem: MarginProblem, vectors: Array) -> MarginProblem:
    """Return the problem with further points, whose rows have weight 0."""
    rows, none = problem.rows, np.zeros(len(vectors))
    weights = np.concatenate(
        [np.ones(problem.m) if problem.weights is None else problem.weights[: problem.m], none]
    )
    X = np.vstack([_dense(problem.X), vectors])
    if isinstance(rows, Tube):
        return regression(
            X,
            np.concatenate([rows.y, none]),
            problem.C,
            rows.epsilon,
            problem.kernel,
            problem.loss,
            weights,
        )
    signs = np.concatenate([rows.y, none + 1])
    return classification(X, signs, problem.C, problem.kernel, problem.loss, problem.bias, weights)


def _multipliers(coefficients: Array, problem: MarginProblem) -> Array:
    """Return the multipliers alpha, (p,), of the points' coefficients."""
    if isinstance(problem.rows, Tube):
        return np.concatenate([np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)])
    alpha: Array = problem.rows.y * coefficients
    return alpha


def _check_coefficients(beta: Array, alpha: Array, problem: MarginProblem) -> None:
    """Raise a ValueError if the coefficients are not those of feasible multipliers."""
    if (excess := float((alpha - problem.costs * (1 + EXCESS_OVER_COST)).max(initial=0.0))) > 0:
        worst = int(np.argmax(alpha - problem.costs))
        raise ValueError(
            f"C = {problem.C:g} is contradicted: the dual coefficient of a row is "
            f"{alpha[worst]:.9g}, {excess:.3g} above its cost"
        )
    if (alpha < -EXCESS_OVER_COST * problem.costs).any():
        raise ValueError(
            "the labels are contradicted: a dual coefficient has the sign of the other class"
        )
    if abs(float(beta.sum())) > LARGEST_IMBALANCE * float(np.abs(beta).sum()):
        raise ValueError(
            "the dual coefficients do not sum to 0: the model has no free bias, or is not "
            "of these rows"
        )


def _numbered(
    model: Model, support: NDArray[np.int64], problem: MarginProblem, weighed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the indices of the support vectors in the data.

    scikit-learn counts only rows of positive sample weight.
    """
    outside = support[(support < 0) | (support >= problem.m)]
    if len(outside):
        raise ValueError(
            f"a support vector is row {int(outside[0])} of the data, which have {problem.m} rows"
        )
    if model.vectors is None:
        if len(weighed) < problem.m:
            raise ValueError(
                "the rows of the support vectors are unknown if a sample weight is 0; leave those "
                "rows out of the data"
            )
        return support
    vectors = _dense(model.vectors)
    if vectors.shape[1] != problem.X.shape[1]:
        raise ValueError(
            f"the model has {vectors.shape[1]} features and the data {problem.X.shape[1]}"
        )
    for rows in (weighed, np.arange(problem.m)):
        if support.max(initial=-1) < len(rows) and np.array_equal(
            _dense(problem.X[rows[support]]), vectors
        ):
            return rows[support]
    raise ValueError(
        "the support vectors are not the rows of the data with their numbers: the model is of "
        "other data, or of scaled data; pass the data of its training"
    )


def _as_wide_as(problem: MarginProblem, vectors: Any) -> Array:
    """Return support vectors with all features of the data; absent ones are 0."""
    n, d = vectors.shape[0], problem.X.shape[1]
    if vectors.shape[1] > d:
        raise ValueError(f"the model has {vectors.shape[1]} features and the data {d}")
    return np.hstack([_dense(vectors), np.zeros((n, d - vectors.shape[1]))])


def _matched(model: Model, vectors: Array, problem: MarginProblem) -> NDArray[np.int64]:
    """Return the index of the nearest row to each support vector; a row is used only once.

    Rows whose label fits the sign of the coefficient are preferred.
    """
    assert model.coefficients is not None
    X = _dense(problem.X)
    free, support = np.ones(problem.m, dtype=bool), np.zeros(len(vectors), dtype=np.int64)
    for k, (z, coefficient) in enumerate(zip(vectors, model.coefficients, strict=True)):
        near = free & (np.abs(X - z) <= FEATURE_ROUNDING * np.abs(z)).all(axis=1)
        fitting = (
            near & (problem.rows.y * coefficient > 0)
            if model.claimed.task == "classification"
            else near
        )
        if not near.any():
            raise ValueError(
                f"support vector {k + 1} of {len(vectors)} is no row of the data: the model is "
                f"of other data, or of scaled data; pass the data of its training"
            )
        candidates = np.flatnonzero(fitting if fitting.any() else near)
        support[k] = candidates[int(np.argmin(np.abs(X[candidates] - z).sum(axis=1)))]
        free[support[k]] = False
    return support


def _agreed(name: str, known: float | None, given: float | None) -> float:
    """Return a parameter of the model or of the caller; raise a ValueError if they differ."""
    if known is None and given is None:
        raise ValueError(f"{name} is missing: the model does not have it; pass {name}")
    if known is not None and given is not None and known != given:
        raise ValueError(
            f"{name} differs: the model has {float(known)!r}, and {float(given)!r} was passed"
        )
    return float(known if given is None else given)  # type: ignore[arg-type]


def _dense(A: Any) -> Array:
    """Return features of any kind as a dense array of float64."""
    return np.asarray(dense(A), dtype=np.float64)


def _appended(X: Any, constant: float) -> Any:
    """Return X with an appended column whose entries are the constant."""
    if is_sparse(X):
        from scipy import sparse

        return sparse.hstack([X, np.full((X.shape[0], 1), constant)]).tocsr()
    return np.column_stack([np.asarray(X), np.full(len(X), constant)])
