"""Upper bounds where f has large errors, against exact values of all possible f.

The errors that `evaluate` finds are of rounding size, and other roundings hide their
effect. Here an evaluation with errors as large as the margins takes their place. The
exact values are rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    interval,
    ranking,
    ranking_from_pairs,
    regression,
)
from equimargin.formulations.bounds.evaluate import Evaluation
from equimargin.formulations.bounds.intervals import inner_interval
from equimargin.formulations.numeric.arrays import Array
from oracles.rationals import Vector, apply, exact_loss, exact_rows, fractions, inner

NORM2 = Fraction(3, 8)
"""Squared norm |f|^2 of the functions, a float; known, as only errors of f are tested."""
seeds = st.integers(0, 2**32 - 1)


def upper_bounds(
    problem: MarginProblem, f: Array, error: Array, b: float
) -> tuple[Fraction, Fraction]:
    """Return the upper ends of the inner and of the proven interval.

    The function differs from f (m,) by at most `error` (m,).
    """
    at, point = Evaluation(f, error, float(NORM2), 0.0), Point(beta=np.zeros(problem.m), b=b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equimargin.formulations.bounds.intervals.evaluate", lambda *_: at)
        return Fraction(inner_interval(problem, point).upper), Fraction(
            interval(problem, point).upper
        )


def total_loss(problem: MarginProblem, u: Vector) -> Fraction:
    """Return C sum_r loss(u_r), with equal costs C."""
    return Fraction(problem.C) * sum((exact_loss(problem, v) for v in u), Fraction(0))


LISTED: dict[str, Callable[[], MarginProblem]] = {
    "points": lambda: classification(np.ones((4, 1)), [1.0, -1.0, 1.0, -1.0], 0.5),
    "points, huberised": lambda: classification(
        np.ones((4, 1)), [1.0, -1.0, 1.0, -1.0], 0.5, loss="huberised_hinge", delta=0.7
    ),
    "tube": lambda: regression(
        np.ones((4, 1)), [0.3, -1.7, 2.9, 0.1], 2.0, 0.1, loss="squared_hinge"
    ),
    "pairs": lambda: ranking_from_pairs(np.ones((4, 1)), [(0, 1), (1, 2), (2, 3), (0, 3)], 1.0),
    "pairs by labels": lambda: ranking(np.ones((4, 1)), [0, 1, 1, 2], C=4.0, loss="squared_hinge"),
}


@pytest.mark.parametrize("rows", LISTED)
@given(seeds)
def test_rows_count_the_errors_of_their_points_once(rows: str, seed: int) -> None:
    """A row adds the errors of its points, and otherwise roundings only.

    The errors range from far below f to far above it.
    """
    problem, r = LISTED[rows](), np.random.default_rng(seed)
    f, b = (
        r.normal(size=problem.m) * 10.0 ** r.integers(-3, 4),
        float(r.normal()) if problem.bias else 0.0,
    )
    error = r.random(problem.m) * 10.0 ** r.integers(-6, 7)
    A, t, s = exact_rows(problem)
    middle = [
        target - margin - Fraction(b) * sign
        for target, margin, sign in zip(t, apply(A, fractions(f)), s, strict=True)
    ]
    absolute = [[abs(a) for a in row] for row in A]
    off, reach = apply(absolute, fractions(error)), apply(absolute, fractions(np.abs(f)))
    least, most = (
        NORM2 / 2 + total_loss(problem, [u + way * e for u, e in zip(middle, off, strict=True)])
        for way in (-1, 1)
    )
    inside, proven = upper_bounds(problem, f, error, b)
    sizes = [
        abs(target) + size + abs(Fraction(b)) + e
        for target, size, e in zip(t, reach, off, strict=True)
    ]
    rounding = Fraction(1, 10**12) * (total_loss(problem, sizes) + 1)
    assert inside <= least <= inside + rounding
    assert most <= proven <= most + rounding


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@given(seeds)
def test_swept_pairs_count_the_errors_of_their_points(loss: Any, seed: int) -> None:
    """One query is hard and one is soft.

    f is multiplied until the hard margins are certainly met; the soft pairs lose as
    much as they may. The soft pairs are in the wrong order, so that a multiple larger
    than needed loses more. The error counts 1.01 times, which leaves a margin for
    roundings.
    """
    query, r = np.array([0, 0, 0, 1, 1, 1]), np.random.default_rng(seed)
    f, error = (
        np.r_[np.cumsum(r.uniform(0.5, 1.5, 3)), 2.0, r.uniform(-1.0, 1.0, 2)],
        float(r.uniform(0.01, 0.2)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equimargin.formulations.rows.labelled.MANY", -1)
        problem = ranking(
            np.ones((6, 1)),
            [0, 1, 2, 0, 1, 1],
            query,
            2.0,
            loss=loss,
            query_weight={0: inf, 1: 1.0},
        )
        inside, proven = upper_bounds(problem, f, np.full(6, error), 0.0)
    (A, _, _), costs = exact_rows(problem), problem.costs
    must, may = np.flatnonzero(np.isinf(costs)), np.flatnonzero(np.isfinite(costs))

    def value(g: Vector) -> Fraction:
        hard, soft = ([inner(A[row], g) for row in rows.tolist()] for rows in (must, may))
        factor = max(Fraction(1), 1 / min(hard))
        return factor**2 * NORM2 / 2 + total_loss(problem, [1 - factor * margin for margin in soft])

    def values(off: Fraction) -> list[Fraction]:
        return [
            value([v + sign * off for v, sign in zip(fractions(f), signs, strict=True)])
            for signs in product((-1, 1), repeat=6)
        ]

    assert inside <= min(values(Fraction(error)))
    assert (
        max(values(Fraction(error)))
        <= proven
        <= max(values(Fraction(1.01) * Fraction(error))) * (1 + Fraction(1, 10**9))
    )
