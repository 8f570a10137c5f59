"""Proven intervals of derivatives of the optimal value.

They are narrow at good solutions and agree with differences; unsupported cases raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification, linear, rbf
from equimargin.solvers import solve


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [linear(), rbf(0.3)], ids=str)
def test_the_intervals_are_narrow_and_hold_differences_of_proven_optima(
    kernel: Any, loss: Any
) -> None:
    """V(C) is concave: its derivative lies between the slopes of chords on both sides.

    So is V in a weight.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, weight, step = np.sign(X[:, 0] + rng.normal(size=60)), rng.choice([0.5, 1.0], 60), 0.01

    def solved(C: float, weight: Any = weight) -> Any:
        return solve(classification(X, y, C, kernel, loss, sample_weight=weight), tol=1e-11)

    here = solved(1.0)
    found = here.sensitivity()
    assert found.cost[1] - found.cost[0] <= 1e-2 * found.cost[1]
    left, right = solved(1.0 - step), solved(1.0 + step)
    assert (right.lower - here.upper) / step <= found.cost[1]
    assert found.cost[0] <= (here.upper - left.lower) / step
    for r in range(0, 60, 12):
        more, less = weight.copy(), weight.copy()
        more[r], less[r] = more[r] + step, less[r] - step
        assert (solved(1.0, more).lower - here.upper) / step <= found.weights[1][r]
        assert found.weights[0][r] <= (here.upper - solved(1.0, less).lower) / step
    low, high = found.targets
    alpha = here.dual
    assert (low <= alpha + 1e-4).all()
    assert (alpha <= high + 1e-4).all()
    assert (high - low <= 1e-2).mean() >= 0.8


def test_a_row_that_costs_nothing_has_a_multiplier_of_0_and_counts_for_nothing() -> None:
    """The derivative in its weight is its loss."""
    problem = classification(
        [[1.0], [2.0]], [1.0, -1.0], 0.5, linear(), bias=False, sample_weight=[1.0, 0.0]
    )
    found = solve(problem, tol=1e-13).sensitivity()
    assert found.targets[1][1] == 0.0
    assert found.cost == pytest.approx((0.5, 0.5), abs=1e-5)
    assert found.weights[0][1] == pytest.approx(1.0, abs=1e-5)


def test_hard_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="hard rows have no derivative"):
        solve(classification([[0.0], [1.0]], [-1.0, 1.0], np.inf, linear())).sensitivity()
