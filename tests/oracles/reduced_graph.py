"""Excess of the reduced graph of document P, in rational numbers.

The graph is built as the document describes it, and its path is that of `exact_path`. The
minimum of the objective over all pairs along the path is computed from its definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from equimargin.formulations import ranking, ranking_from_pairs
from equimargin.solvers import exact_optimum
from equimargin.solvers.exact.path import exact_path

Line = tuple[Fraction, Fraction]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return a'b."""
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def levels_below_the_highest(y: Sequence[int], qid: Sequence[int]) -> list[list[int]]:
    """Return the points of each level of a query but its highest one."""
    return [
        [i for i in range(len(y)) if (qid[i], y[i]) == (q, level)]
        for q in sorted(set(qid))
        for level in sorted({y[i] for i in range(len(y)) if qid[i] == q})[:-1]
    ]


def edges_of(y: Sequence[int], qid: Sequence[int], maxima: Sequence[int]) -> list[tuple[int, int]]:
    """Return Figure 3: maximum to the rest of its level, next level to the maximum."""
    found = []
    for top in maxima:
        own = [i for i in range(len(y)) if qid[i] == qid[top]]
        above = min(y[i] for i in own if y[i] > y[top])
        found += [(top, i) for i in own if y[i] == y[top] and i != top]
        found += [(i, top) for i in own if y[i] == above]
    return sorted(found)


def excess_by_choice(
    X: Any, y: Sequence[int], qid: Sequence[int], C: Fraction
) -> dict[tuple[int, ...], Fraction]:
    """Return the least excess over all costs of the reduced problem, by choice of maxima."""
    points = [[Fraction(v) for v in row] for row in X.tolist()]
    K = [[dot(a, b) for b in points] for a in points]
    optimum = exact_optimum(ranking(X, y, qid, float(C))).value
    assert optimum is not None
    pairs = [
        (i, j) for i, j in product(range(len(y)), repeat=2) if qid[i] == qid[j] and y[i] > y[j]
    ]
    return {
        maxima: min(
            _least_on_piece(low, high, beta, K, pairs, C)
            for low, high, beta in _pieces(X, edges_of(y, qid, maxima))
        )
        - optimum
        for maxima in product(*levels_below_the_highest(y, qid))
    }


def excess_of_weights(
    w: Any, X: Any, y: Sequence[int], qid: Sequence[int], C: Fraction
) -> Fraction:
    """Return the excess over all pairs of the function w.x of floats w."""
    optimum = exact_optimum(ranking(X, y, qid, float(C))).value
    assert optimum is not None
    weights = [Fraction(v) for v in w.tolist()]
    f = [dot(weights, [Fraction(v) for v in row]) for row in X.tolist()]
    losses = (
        max(1 - f[i] + f[j], Fraction(0))
        for i, j in product(range(len(y)), repeat=2)
        if qid[i] == qid[j] and y[i] > y[j]
    )
    return dot(weights, weights) / 2 + C * sum(losses, Fraction(0)) - optimum


def _pieces(
    X: Any, edges: list[tuple[int, int]]
) -> Iterator[tuple[Fraction, Fraction | None, list[Line]]]:
    """Yield the segments of the path: ends, and beta as constant and slope."""
    path = exact_path(ranking_from_pairs(X, edges), 0, None)
    assert path.complete, path.stopped
    for piece in path.pieces:
        beta = [(Fraction(0), Fraction(0)) for _ in range(len(X))]
        for (i, j), a, d in zip(edges, piece.constant, piece.slope, strict=True):
            beta[i] = beta[i][0] + a, beta[i][1] + d
            beta[j] = beta[j][0] - a, beta[j][1] - d
        yield piece.low, piece.high, beta


def _least_on_piece(
    low: Fraction,
    high: Fraction | None,
    beta: list[Line],
    K: list[list[Fraction]],
    pairs: list[tuple[int, int]],
    C: Fraction,
) -> Fraction:
    f = [(dot(row, [a for a, _ in beta]), dot(row, [d for _, d in beta])) for row in K]
    slacks = [(1 - f[i][0] + f[j][0], f[j][1] - f[i][1]) for i, j in pairs]

    def objective(t: Fraction) -> Fraction:
        norm2 = dot([a + t * d for a, d in beta], [a + t * d for a, d in f])
        losses = (max(u + t * v, Fraction(0)) for u, v in slacks)
        return norm2 / 2 + C * sum(losses, Fraction(0))

    kinks = {-u / v for u, v in slacks if v and -u / v > low and (high is None or -u / v < high)}
    ends = sorted({low, *kinks, *([] if high is None else [high])})
    # Beyond the last kink the objective is one parabola more.
    ends = [*ends, ends[-1] + 1] if high is None else ends
    tried = list(map(objective, ends))
    for k, (a, b) in enumerate(pairwise(ends)):
        middle = (a + b) / 2
        at = [objective(a), objective(middle), objective(b)]
        bend = 2 * (at[0] - 2 * at[1] + at[2])
        if bend > 0:
            lowest = a + (b - a) * (3 * at[0] - 4 * at[1] + at[2]) / (2 * bend)
            if a < lowest and (lowest < b or (high is None and k == len(ends) - 2)):
                tried.append(objective(lowest))
    return min(tried)
