"""Uniqueness rules of the pages, against the exact ranges of all optima.

The instances are drawn.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import classification, ordinal, regression
from equimargin.formulations.documents.ordered_thresholds import explicit
from equimargin.formulations.field.one_class import one_class
from equimargin.proofs import OptimalRanges, optimal_ranges
from narrow import present

COSTS = st.sampled_from([0.125, 0.5, 2.0])
POINTS = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=2, max_size=4)


def values(known: OptimalRanges, name: str) -> list[Fraction]:
    """Return the minimal values of the entries of an unknown."""
    return [present(ends.low) for ends in known[name]]


def scores(known: OptimalRanges, X: Any) -> list[Fraction]:
    """Return w.x of every point."""
    return [
        sum(
            (w * Fraction(float(v)) for w, v in zip(values(known, "w"), x, strict=True)),
            Fraction(0),
        )
        for x in X
    ]


def both_ways_cost(margins: list[Fraction], sides: list[int]) -> bool:
    """Return True if shifting the threshold costs in both directions.

    That is: more rows of each side have a margin of at most 1 than rows of the other
    one have a margin below 1.
    """

    def costs(side: int) -> bool:
        mine = sum(m <= 1 for m, s in zip(margins, sides, strict=True) if s == side)
        return mine > sum(m < 1 for m, s in zip(margins, sides, strict=True) if s == -side)

    return costs(1) and costs(-1)


@given(POINTS, COSTS, st.data())
def test_the_bias_of_a_soft_margin(x: list[tuple[int, int]], C: float, data: st.DataObject) -> None:
    X, y = np.array(x, dtype=float), [1, -1, *(data.draw(st.sampled_from([-1, 1])) for _ in x[2:])]
    known = optimal_ranges("svm.soft.primal", classification(X, y, C=C))
    b = present(known["b"][0].low)
    margins = [s * (f - b) for f, s in zip(scores(known, X), y, strict=True)]
    assert known.unique("b") == both_ways_cost(margins, y)


@pytest.mark.slow
@given(POINTS, COSTS, st.sampled_from([0.0, 0.5, 1.0]), st.data())
def test_the_bias_of_regressions(
    x: list[tuple[int, int]], C: float, epsilon: float, data: st.DataObject
) -> None:
    X, y = np.array(x, dtype=float), [float(data.draw(st.integers(-2, 2))) for _ in x]
    known = optimal_ranges("svr.l1.primal", regression(X, y, C=C, epsilon=epsilon))
    b, width = present(known["b"][0].low), Fraction(epsilon)
    residuals = [Fraction(target) - f - b for f, target in zip(scores(known, X), y, strict=True)]
    up = sum(r <= -width for r in residuals) > sum(r > width for r in residuals)
    down = sum(r >= width for r in residuals) > sum(r < -width for r in residuals)
    assert known.unique("b") == (up and down)
    flat = max(y) - min(y) < 2 * epsilon
    assert (
        optimal_ranges(
            "svr.l2.primal", regression(X, y, C=C, epsilon=epsilon, loss="squared_hinge")
        ).unique("b")
        != flat
    )
    try:
        within = optimal_ranges("svr.hard.primal", regression(X, y, C=np.inf, epsilon=epsilon))
    except ValueError:
        return  # no function stays within the tube
    assert within.unique("b") != flat


@pytest.mark.slow
@given(st.lists(st.integers(0, 4), min_size=3, max_size=4), COSTS, st.data())
def test_thresholds(x: list[int], C: float, data: st.DataObject) -> None:
    X, y = (
        np.array(x, dtype=float)[:, None],
        np.array([2, *(data.draw(st.integers(0, 2)) for _ in x[1:])]),
    )
    soft, squared = (
        optimal_ranges(f"{problem.family}.primal", problem)
        for problem in (ordinal(X, y, C), ordinal(X, y, C, loss="squared_hinge"))
    )
    near = optimal_ranges("ord.explicit.primal", explicit({"X": X, "y": y, "C": C}))
    for k in range(2):
        sides = [1 if level > k else -1 for level in y]
        if soft["b"][k].low is not None:
            margins = [
                s * (f - present(soft["b"][k].low))
                for f, s in zip(scores(soft, X), sides, strict=True)
            ]
            assert soft["b"][k].unique == both_ways_cost(margins, sides)
        assert squared["b"][k].unique == (gap(squared, X, sides) <= 2)
    low, high = near["b"]
    if None not in (low.low, low.high, high.low, high.high) and present(low.high) < present(
        high.low
    ):
        for k, ends in enumerate((low, high)):
            beside = [i for i, level in enumerate(y) if level in (k, k + 1)]
            sides = [1 if y[i] > k else -1 for i in beside]
            f = scores(near, X)
            margins = [s * (f[i] - present(ends.low)) for i, s in zip(beside, sides, strict=True)]
            assert ends.unique == both_ways_cost(margins, sides)
    try:
        known = optimal_ranges("ord.hard.primal", ordinal(X, y, np.inf))
    except ValueError:
        return  # no w ranks the points
    for k in range(2):
        assert known["b"][k].unique == (gap(known, X, [1 if level > k else -1 for level in y]) == 2)


def gap(known: OptimalRanges, X: Any, sides: list[int]) -> float | Fraction:
    """Return the minimal score above a threshold minus the maximal one below it.

    It is inf where a side is empty.
    """
    f = scores(known, X)
    above, below = ([v for v, s in zip(f, sides, strict=True) if s == side] for side in (1, -1))
    return min(above) - max(below) if above and below else np.inf


@given(POINTS, st.sampled_from([0.25, 0.5, 0.75, 1.0]))
def test_the_offset_of_one_class(x: list[tuple[int, int]], nu: float) -> None:
    X = np.array(x, dtype=float)
    known = optimal_ranges("one_class.primal", one_class({"X": X, "nu": nu}))
    rho, f, share = present(known["rho"][0].low), scores(known, X), Fraction(nu) * len(x)
    assert known.unique("rho") == (sum(v < rho for v in f) < share < sum(v <= rho for v in f))
