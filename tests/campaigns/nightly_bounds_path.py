"""Reported gaps of regularisation paths, against exact optima.

    python -m campaigns nightly_bounds_path --seed 1 --examples 2000

Paths are judged at breakpoints, at midpoints and at places in between. The problems are
small classifications with and without a bias, regressions and rankings, some with
weights, with linear and polynomial kernels and given Gram matrices; column scales go
from 1e-3 to 1e3, offsets up to 1e7, and targets up to 1e8 times their spread from 0.
The primal value of the point that `at` returns is computed in rationals from the
definition. Its excess over the optimum of `exact_optimum` may be at most 1e-12 plus ten
times the gap reported by `gaps`, `midpoint_gaps` and the solution. Exit status 1 if a
reported gap is too small, or on any exception.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from campaigns.exact.nightly import Definition
from campaigns.runner import At, Campaign, Check, Trial
from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    linear,
    polynomial,
    ranking,
    rbf,
    regression,
)
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arrays import dense
from equimargin.solvers import RegularizationPath, exact_optimum, regularization_path
from equimargin.solvers.exact.numbers import given_gram
from narrow import as_a, present
from oracles.rationals import fractions, inner

FACTOR, ALLOWED = 10, Fraction(1, 10**12)
"""Maximum excess of a point: a factor of its reported gap, plus a relative amount.

The amount is relative to S = max(|optimum|, 1e-4 P(0)).
"""
AT_MOST = 12
"""Maximum number of judged breakpoints, evenly spread, with points between them."""
LAMBDA_MIN = 1e-6
"""Minimum lambda of a path, relative to a scale.

The scale is the mean squared distance of the points from their mean, over the largest
target.
"""
KINDS = ("classification", "no bias", "regression", "ranking")


@dataclass(frozen=True)
class Judged:
    """Point of a path.

    Parameters
    ----------
    where : str
        Breakpoint, half way or between.
    lam : float
        Value of lambda.
    claim : float
        Reported relative gap.
    excess : Fraction
        True relative gap.
    """

    where: str
    lam: float
    claim: float
    excess: Fraction

    @property
    def holds(self) -> bool:
        """True if the reported gap holds."""
        return self.excess <= FACTOR * Fraction(self.claim) + ALLOWED


def drawn(seed: int, number: int) -> MarginProblem:
    """Draw an instance, with the seed and the number as seeds."""
    rng = np.random.default_rng([seed, number])
    kind = KINDS[int(rng.integers(len(KINDS)))]
    m, d = int(rng.integers(3, 13)), int(rng.integers(1, 6))
    X = rng.normal(size=(m, d)) if rng.integers(3) else rng.integers(-2, 3, (m, d)).astype(float)
    along = X @ rng.normal(size=d) + 0.3 * rng.normal(size=m)
    if rng.integers(2):
        X = X * 10.0 ** rng.integers(-3, 4, d)
    if rng.integers(4):
        X = X + rng.normal(size=d) * 10.0 ** rng.uniform(-1, 7)
    kernel: Kernel = [
        linear(),
        linear(),
        polynomial(2, float(1 / np.abs(X).max() ** 2), 1.0),
        rbf(0.5),
    ][int(rng.integers(4))]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], m) if rng.integers(4) == 0 else None
    if kind == "regression":
        scale = 10.0 ** rng.integers(-2, 4)
        offset = scale * rng.choice([0.0, 1.0, -1.0]) * 10.0 ** rng.uniform(0, 8)
        problem = regression(
            X, along * scale + offset, epsilon=0.1, kernel=kernel, sample_weight=weights
        )
    elif kind == "ranking":
        problem = ranking(X, np.digitize(along, [-0.5, 0.5]), kernel=kernel)
    else:
        y = np.where(along > np.median(along) * float(rng.integers(2)), 1.0, -1.0)
        problem = classification(
            X, y, kernel=kernel, bias=kind == "classification", sample_weight=weights
        )
    given = kernel == rbf(0.5) or rng.integers(6) == 0
    return given_gram(problem) if given else problem  # type: ignore[return-value]


def judged(path: RegularizationPath, rng: np.random.Generator) -> Iterator[Judged]:
    """Yield breakpoints, midpoints, points in between and one above the path.

    Each is compared with every gap reported for it.
    """
    T = len(path)
    for t in np.unique(np.linspace(0, T - 1, min(T, AT_MOST)).astype(int)).tolist():
        lam = float(path.lambdas[t])
        if lam > 0:
            yield from _at(path, lam, "breakpoint", float(path.gaps[t]))
        if t + 1 < T:
            below = float(path.lambdas[t + 1])
            yield from _at(path, (lam + below) / 2, "half way", float(path.midpoint_gaps[t]))
            share = float(10.0 ** rng.uniform(-6, 0)) if below == 0 else float(rng.uniform())
            yield from _at(path, below + share * (lam - below), "between", None)
    yield from _at(path, 3 * float(path.lambdas[0]) or 1.0, "above", None)


def _at(path: RegularizationPath, lam: float, where: str, claim: float | None) -> Iterator[Judged]:
    solution = path.at(lam)
    problem = as_a(MarginProblem, solution.problem)
    optimum = exact_optimum(problem, start=solution.point).value
    assert optimum is not None, "the exact optimum was not found"
    size = max(abs(optimum), Fraction(1e-4 * problem.scale))
    excess = (primal_value(Definition(problem), as_a(Point, solution.point)) - optimum) / size
    assert excess >= 0, "a point is better than the optimum"
    yield Judged(f"at, {where}", lam, solution.relative_gap, excess)
    if claim is not None:
        yield Judged(where, lam, claim, excess)


def primal_value(at: Definition, point: Point) -> Fraction:
    """Return 1/2 |f|^2 + sum_r c_r (t_r - (A f)_r - b s_r)_+ at the point's f and b."""
    if point.w is not None:
        w = fractions(point.w)
        f, norm2 = [inner(fractions(x), w) for x in dense(at.problem.X)], inner(w, w)
    else:
        beta = fractions(present(point.beta))
        f = at.times_K(beta)
        norm2 = inner(beta, f)
    return present(at.primal_of(f, norm2, Fraction(point.b or 0.0)))


def followed(problem: MarginProblem, at: At) -> Trial:
    """Return the complaints about the reported gaps of the path of an instance."""
    X = problem.X if not problem.kernel.given else np.ones((1, 1))
    unit = (
        float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean() or 1.0) / problem.rows.largest_target
    )
    path = regularization_path(problem, LAMBDA_MIN * unit)
    found = list(judged(path, at.rng(1))) if len(path) else []
    said = [
        f"{each.where} at lambda = {each.lam:.6g}: claims {each.claim:.1e}, is "
        f"{float(each.excess):.1e} above the optimum"
        for each in found
        if not each.holds
    ]
    allowed = [float(each.excess / (FACTOR * Fraction(each.claim) + ALLOWED)) for each in found]
    worst = {
        "above an optimum": max((float(each.excess) for each in found), default=0.0),
        "of what is allowed": max(allowed, default=0.0),
    }
    return Trial(
        said, Counter({"claims": len(found), "ended early": int(not path.complete)}), worst
    )


CAMPAIGN = Campaign(
    __name__,
    __doc__,
    lambda _: [Check("paths", followed, lambda at: drawn(at.seed, at.number))],
    100,
)
