"""Whole regularisation paths of many degenerate problems, judged independently.

    python -m campaigns nightly_path --seed 1 --examples 10000

The gap at both ends, at a third and in the middle of every segment is computed in
extended precision, without code of the solver. For every five rankings there are a
classification with a bias and a regression. Points are on integer grids, with
duplicates, ties, cycles of preferences and repeated pairs; kernels are linear,
polynomial and RBF; scales go from 1e-8 to 1e8, and targets up to 1e7 times their spread
from 0. Exit status 1 if a relative gap exceeds 1e-8 (a silent failure), if more than
2 % of the paths stop early, or if a path stops early although its kernel matrix is
regular and no two of its events nearly coincide.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from campaigns.runner import Campaign, Check, Trial, at_most
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    classification,
    linear,
    polynomial,
    ranking,
    ranking_from_pairs,
    rbf,
    regression,
)
from equimargin.formulations.kernels.kernel import Linear, Polynomial
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.listed import Pairs, Tube
from equimargin.solvers import RegularizationPath, regularization_path
from oracles.rationals import rational

SILENT = 1e-8
"""Maximum relative gap of a point on a path."""
EARLY = 0.02
"""Maximum share of the paths that stop early."""
REGULAR, APART = 1e8, 1e-10
"""Maximum condition of K, and minimum relative distance of events, of a regular path.

A regular path must not stop early.
"""
SHARES = (0.0, 1 / 3, 1 / 2)
"""Places on every segment at which the path is judged, as fractions of its length."""
NEAR_0 = (1e-2, 1e-5, 1e-8)
"""Further places on a last segment to lambda = 0, relative to its upper end."""
LAMBDA_MIN = 1e-5
"""Minimum lambda of a path, times the largest target over the mean of K_ii."""
KINDS = ("ranking", "classification", "regression")


@dataclass(frozen=True)
class Found:
    """Path of a problem: breakpoints, worst relative gap and its lambda, reason of a stop.

    `excused` is True if an early stop is allowed.
    """

    breakpoints: int
    gap: float
    where: float
    complete: bool
    excused: bool
    kernel: str
    stopped: str
    reached: float


# Drawing.


def drawn(kind: str, seed: int, number: int, most: int = 30) -> MarginProblem:
    """Draw an instance of at most `most` points, with seed and number as seeds."""
    rng = np.random.default_rng([KINDS.index(kind), seed, number])
    X = _points(rng, most)
    scale, kernel = _kernel(rng)
    X = X * scale
    m = len(X)
    if kind == "classification":
        y = np.where(_score(rng, X) < rng.choice([-1.0, -0.5, 0.0]), 1.0, -1.0)
        return classification(X, y, kernel=kernel, sample_weight=_weights(rng, m))
    if kind == "regression":
        y = _score(rng, X) if rng.integers(2) else rng.integers(-3, 4, m).astype(float)
        epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0]))
        scale, weights = 10.0 ** rng.integers(-3, 4), _weights(rng, m)
        y = y * scale + scale * float(rng.choice([0.0, 0.0, 1e4, -1e7]))
        return regression(X, y, epsilon=epsilon, kernel=kernel, sample_weight=weights)
    pairs = _pairs(rng, m)
    if pairs is None:
        return ranking(
            X,
            rng.integers(0, int(rng.integers(2, 6)), m),
            rng.integers(0, 3, m),
            kernel=kernel,
            per_query="mean",
        )
    return ranking_from_pairs(X, pairs, kernel=kernel)


def _score(rng: np.random.Generator, X: Array) -> Array:
    """Draw scores: a random linear function of the points plus noise, or noise alone."""
    along = X @ rng.normal(size=X.shape[1])
    return along / (np.abs(along).max() or 1.0) * rng.integers(3) + rng.normal(size=len(X))


def _points(rng: np.random.Generator, most: int) -> Array:
    m, d = int(rng.integers(2, most + 1)), int(rng.integers(1, 4))
    shape = int(rng.integers(5))
    if shape == 0:
        return rng.integers(0, 3, (m, d)).astype(float)
    if shape == 1:
        return rng.integers(-2, 3, (m, d)).astype(float)
    if shape == 2:
        return rng.integers(0, 2, (m, d)).astype(float)
    X = rng.normal(size=(m, d))
    return X if shape == 3 else X[rng.integers(0, max(1, m // 2), m)]


def _kernel(rng: np.random.Generator) -> tuple[float, Kernel]:
    """Draw a kernel, and a factor for the points: 1 unless the kernel is linear."""
    which = int(rng.integers(7))
    if which < 2:
        return 1.0, linear()
    if which == 2:
        # K ranges from 1e-8 to 1e8.
        return 10.0 ** float(rng.integers(-4, 5)), linear()
    return 1.0, [polynomial(2), rbf(1.0), rbf(0.01), rbf(20.0)][which - 3]


def _weights(rng: np.random.Generator, m: int) -> Array | None:
    return rng.choice([0.0, 0.5, 1.0, 3.0], m) if rng.integers(4) == 0 else None


def _pairs(rng: np.random.Generator, m: int) -> Array | None:
    """Draw preferences (p, 2), with repetitions; None for labels in queries.

    They come from levels, from an order, or from a graph with or without cycles.
    """
    which = int(rng.integers(7))
    if which == 6:
        return None
    if which < 3:
        y = [rng.integers(0, 2, m), rng.integers(0, 4, m), rng.permutation(m)][which]
        i, j = np.nonzero(y[:, None] > y[None, :])
    elif which < 5:
        edges = np.triu(rng.random((m, m)) < 0.4, 1) if which == 3 else rng.random((m, m)) < 0.25
        np.fill_diagonal(edges, False)
        order = rng.permutation(m)
        i, j = np.nonzero(edges[np.ix_(order, order)])
    else:
        i, j = rng.integers(0, m, (2, int(rng.integers(1, 3 * m))))
        i, j = i[i != j], j[i != j]
        again = rng.integers(0, len(i), len(i) // 2) if len(i) else np.zeros(0, dtype=np.intp)
        i, j = np.concatenate([i, i[again]]), np.concatenate([j, j[again]])
    return np.stack([i, j], axis=1).astype(np.int64)


# Judging.


def worst(path: RegularizationPath) -> tuple[float, float]:
    """Return the largest relative gap at the places of SHARES, and its lambda.

    It is computed in extended precision, and near lambda = 0 in rationals. The primal
    value is that of the path's f and b, the dual one that of its multipliers.
    """
    problem, K, explicit = path.problem, _kernel_matrix(path.problem), path.w.shape[1] > 0
    lambdas, V, biases = (
        v.astype(np.longdouble)
        for v in (path.lambdas, path.w if explicit else path.betas, path.biases)
    )
    alphas = np.array(list(path.alphas), dtype=np.longdouble)
    # The path is constant in lambda, so that it can be judged at lambda = 1.
    if len(lambdas) == 1 and lambdas[0] == 0:
        lambdas, biases = lambdas + 1, biases + path.level
    found: list[NDArray[Any]] = [np.zeros(0)]
    at: list[NDArray[Any]] = [np.zeros(0)]
    ends = slice(None, -1) if lambdas[-1] == 0 else slice(None)
    if lambdas[-1] == 0 and len(lambdas) > 1:
        exact = rational_matrix(problem)
        for near in map(Fraction, NEAR_0):
            last = (rational(v[-2:].astype(np.float64)) for v in (lambdas, alphas, V, biases))
            found.append(
                np.array(
                    [
                        rational_gap(
                            problem, exact, explicit, *(v[1] + near * (v[0] - v[1]) for v in last)
                        )
                    ]
                )
            )
            at.append(float(near) * lambdas[-2:-1])
    for share in SHARES:
        if share:
            lam, alpha, v, b = (
                v[:-1] + np.longdouble(share) * (v[1:] - v[:-1])
                for v in (lambdas, alphas, V, biases)
            )
        else:
            lam, alpha, v, b = (v[ends] for v in (lambdas, alphas, V, biases))
        found.append(_relative_gaps(problem, K, explicit, lam, alpha, v, b))
        at.append(lam)
    gaps = np.concatenate(found)
    place = int(np.argmax(np.where(np.isnan(gaps), np.inf, gaps)))
    return float(gaps[place]), float(np.concatenate(at)[place])


def rational_matrix(problem: MarginProblem) -> Any:
    """Return K, (m, m), in Fractions.

    For a kernel with rational values they are exact, for any other float64 entries.
    """
    kernel = problem.kernel
    if isinstance(kernel, Linear | Polynomial):
        X = rational(problem.X)
        K = X @ X.T
        return (
            K
            if isinstance(kernel, Linear)
            else (Fraction(kernel.gamma) * K + Fraction(kernel.coef0)) ** kernel.degree
        )
    return rational(problem.gram.dense)


def rational_gap(
    problem: MarginProblem, K: Any, explicit: bool, lam: Fraction, alpha: Any, v: Any, b: Fraction
) -> float:
    """Return the relative gap at lambda, in Fractions.

    The multipliers are alpha (p,); g = lambda f has the coefficients v, and `b` is
    lambda times the bias. Multipliers outside their box make the gap infinite. Near
    lambda = 0 the terms of f may cancel so far that in extended precision rounding
    exceeds the gap.

    Parameters
    ----------
    explicit : bool
        True if v are coefficients of the columns of X.
    """
    s, w, t = (rational(v) for v in (problem.bias_signs, problem.unit_weights, problem.rows.t))
    g = (rational(problem.X) if explicit else K) @ v
    norm2 = v @ (v if explicit else g)
    u = lam * t - _dot(problem, g[None])[0] - s * b
    primal = w @ np.maximum(u, 0) + norm2 / 2
    beta = _rdot(problem, alpha[None])[0]
    dual = lam * (alpha @ t) - beta @ (K @ beta) / 2 - abs(b * (alpha @ s))
    if (alpha < 0).any() or (alpha > w).any():
        return np.inf
    return float((primal - dual) / max(primal, lam * Fraction(1e-4 * problem.with_cost(1.0).scale)))


def _kernel_matrix(problem: MarginProblem) -> Array:
    """Return K in extended precision: computed for a linear kernel, else from float64.

    For a kernel that is not linear, its float64 entries define the problem.
    """
    Z = problem.explicit
    if Z is None:
        return problem.gram.dense.astype(np.longdouble)
    X = Z.dense.astype(np.longdouble)
    return np.asarray(X @ X.T + Z.constant)


def _relative_gaps(
    problem: MarginProblem, K: Array, explicit: bool, lam: Array, alpha: Array, v: Array, b: Array
) -> Array:
    """Return the relative gaps (T,) at the lambdas; inf for alpha outside its box.

    A relative gap is primal minus dual over max(primal, 1e-4 primal at 0).
    """
    s, w, t = problem.bias_signs, problem.unit_weights, problem.rows.t
    f = v @ (problem.X.T if explicit else K) / lam[:, None]
    u = t - _dot(problem, f) - s * (b / lam)[:, None]
    primal = (w * np.maximum(u, 0)).sum(axis=1) + (v * (v / lam[:, None] if explicit else f)).sum(
        axis=1
    ) / 2
    beta = _rdot(problem, alpha)
    off = np.abs(b / lam * (alpha * s).sum(axis=1))
    dual = alpha @ t - (beta * (beta @ K)).sum(axis=1) / (2 * lam) - off
    feasible = ((alpha >= 0) & (alpha <= w)).all(axis=1)
    return np.where(
        feasible, (primal - dual) / np.maximum(primal, 1e-4 * problem.with_cost(1.0).scale), np.inf
    )


def _rdot(problem: MarginProblem, alpha: Array) -> Array:
    """Return A'alpha in the precision of alpha, (T, m)."""
    A = problem.rows.matrix.tocoo()
    beta = np.zeros((problem.m, len(alpha)), dtype=alpha.dtype)
    np.add.at(beta, A.col, A.data.astype(int).astype(alpha.dtype)[:, None] * alpha.T[A.row])
    return beta.T


def _dot(problem: MarginProblem, g: Array) -> Array:
    """Return A g, (T, p), for g (T, m)."""
    rows = problem.rows
    if isinstance(rows, Pairs):
        return g[:, rows.preferred] - g[:, rows.other]
    return np.asarray(rows.s.astype(int).astype(g.dtype) * np.tile(g, rows.p // rows.m))


def excused(path: RegularizationPath) -> bool:
    """Return True if an early stop is allowed.

    It is if the kernel matrix is nearly singular, or two events of the path nearly
    coincide.
    """
    lambdas = path.lambdas
    close = bool((np.diff(lambdas) > -APART * lambdas[:-1]).any())
    together = bool((np.bincount(path.event_breakpoints, minlength=1) > 1).any())
    return close or together or not np.linalg.cond(path.problem.gram.dense) <= REGULAR


def followed(problem: MarginProblem, lambda_min: float = LAMBDA_MIN) -> Found:
    """Follow the path of an instance, and judge it."""
    path = regularization_path(problem, lambda_min * unit(problem))
    gap, where = worst(path) if len(path) else (0.0, 0.0)
    reached = float(path.lambdas[-1] / max(path.lambdas[0], 1e-300)) if len(path) else np.inf
    excuse = path.complete or excused(path)
    return Found(
        len(path), gap, where, path.complete, excuse, str(problem.kernel), path.stopped, reached
    )


def judged(problem: MarginProblem, at: object) -> Trial:
    """Return the complaints about the path of an instance."""
    return trial_of(followed(problem))


def trial_of(found: Found) -> Trial:
    """Return the complaints about a path."""
    silent = not found.gap <= SILENT
    said = [
        f"a silent failure: relative gap {found.gap:.1e} at lambda = {found.where:.6g}, "
        f"{found.kernel}; {found.stopped}"
    ] * silent
    if not found.excused:
        said.append(
            f"stopped early at {found.reached:.1e} lambda_0, {found.kernel}; {found.stopped}"
        )
    early = (
        [] if found.complete else ["stopped early", f"early with {found.kernel}: {found.stopped}"]
    )
    counts = Counter({"breakpoints": found.breakpoints, **dict.fromkeys(early, 1)})
    return Trial(said, counts, {} if silent else {"gap": found.gap})


def unit(problem: MarginProblem) -> float:
    """Return the unit of lambda: the mean of K_ii over the largest target.

    For a regression the divisor is the largest distance of a target from the median,
    plus epsilon.
    """
    rows = problem.rows
    largest = (
        float(np.abs(rows.y - np.median(rows.y)).max() + rows.epsilon) or 1.0
        if isinstance(rows, Tube)
        else rows.largest_target
    )
    return float(problem.gram.diagonal.mean()) / largest


def checks(_: int) -> list[Check]:
    """Return the check of each kind; there are five times as many rankings."""
    few = partial(at_most, EARLY, "stopped early")
    return [
        Check(
            kind,
            judged,
            lambda at, kind=kind: drawn(kind, at.seed, at.number),  # type: ignore[misc]
            int if kind == "ranking" else lambda examples: max(examples // 5, 1),
            wrong=few,
        )
        for kind in KINDS
    ]


CAMPAIGN = Campaign(__name__, __doc__, checks, 100)
