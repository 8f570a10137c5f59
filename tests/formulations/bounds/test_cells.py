"""Bounds on cells of costs and gammas, against values from the definition."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification, rbf
from equimargin.formulations.bounds.cells import (
    DEGREE,
    CellCorner,
    GammaStrip,
    cell_bound,
    cell_point,
    cost_slices,
)
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import solve

NOISE = 1e-11
"""Relative rounding of the values from the definition."""
RNG = np.random.default_rng(8)
X = RNG.normal(size=(12, 2))
SQUARES = ((X[:, None] - X[None]) ** 2).sum(axis=2)
Y = np.where(X[:, 0] + RNG.normal(size=12) > 0, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.3, 3.0, 12)


def posed(loss: Any, C: float = 1.0, gamma: float = 1.0) -> MarginProblem:
    return classification(X, Y, C, rbf(gamma), loss, bias=False, sample_weight=WEIGHTS)


def corners(loss: Any, costs: Any, gammas: Any, tol: float = 1e-9) -> tuple[CellCorner, ...]:
    found = []
    for gamma in gammas:
        for C in costs:
            problem = posed(loss, C, gamma)
            point = problem.own_point(solve(problem, tol=tol).point)
            found.append(CellCorner(problem, np.asarray(point.alpha)))
    return tuple(found)


def primal_and_dual(loss: str, C: float, gamma: float, beta: Array, alpha: Array) -> Any:
    """Return both objectives of T's soft margins without a bias, from their equations."""
    K = np.exp(-gamma * SQUARES)
    short = np.maximum(1 - Y * (K @ beta), 0.0)
    v = Y * alpha
    price = 0.0 if loss == "hinge" else float((alpha**2 / (4 * C * WEIGHTS)).sum())
    power = 1 if loss == "hinge" else 2
    return (
        float(beta @ K @ beta / 2 + C * (WEIGHTS * short**power).sum()),
        float(alpha.sum() - v @ K @ v / 2 - price),
    )


@pytest.mark.parametrize("ratio", [1.2, 2.0, 5.0])
def test_bernstein_forms_contain_the_kernel_products(ratio: float) -> None:
    # At the distances around 9 / gamma the interpolation error is largest.
    strip = GammaStrip(posed("hinge"), 1.5, 1.5 * ratio)
    corner = corners("hinge", [10.0], [2.0])[0]
    coefficients, errors = strip.values(corner)[2:]
    upper = strip.inner(corner, corner)
    for y in np.linspace(0.0, 1.0, 41):
        K = np.exp(-(strip.low + y * (strip.high - strip.low)) * SQUARES)
        basis = np.array(
            [math.comb(DEGREE, k) * y**k * (1 - y) ** (DEGREE - k) for k in range(DEGREE + 1)]
        )
        apart = np.abs(basis @ coefficients - K @ corner.g)
        assert (apart <= basis @ errors + NOISE).all()
        assert corner.g @ K @ corner.g <= basis @ upper + NOISE
    assert errors.max() <= 1e-9 or ratio > 1.2


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("ratios", [(1.3, 1.1), (3.0, 1.5), (1.02, 1.9)])
def test_cell_bound_holds_at_points_of_the_cell(loss: str, ratios: tuple[float, float]) -> None:
    costs, gammas = (2.0, 2.0 * ratios[0]), (0.4, 0.4 * ratios[1])
    found = corners(loss, costs, gammas)
    slices = cost_slices(*costs, 1e-3)
    bound = cell_bound(GammaStrip(posed(loss), *gammas), slices, found)
    assert bound.gap < 0.5
    largest = 0.0
    for part in slices:
        for C in (part.low, math.sqrt(part.low * part.high), part.high):
            for height in np.linspace(0.0, 1.0, 9).tolist():
                gamma = gammas[0] + height * (gammas[1] - gammas[0])
                point = cell_point(posed(loss, C, gamma), part, height, found)
                alpha = np.asarray(point.alpha)
                assert (alpha >= 0).all()
                assert loss != "hinge" or (alpha <= C * WEIGHTS * (1 + NOISE)).all()
                u, lower = primal_and_dual(loss, C, gamma, np.asarray(point.beta), alpha)
                largest = max(largest, (u - lower) / u)
                assert bound.lower * (1 - NOISE) <= lower
                assert u <= bound.upper * (1 + NOISE)
    assert largest <= bound.gap + NOISE
    # The bound is no more than twice the gap that there is, and a rounding.
    assert bound.gap <= 2 * largest + 1e-6


def test_gap_is_infinite_from_one_on() -> None:
    # All multipliers at their bounds: at large costs the dual value is below 0.
    full = CellCorner(posed("hinge"), WEIGHTS)
    strip = GammaStrip(posed("hinge"), 0.1, 0.11)
    bound = cell_bound(strip, cost_slices(100.0, 200.0, 1e-2), (full,) * 4)
    assert bound.gap == np.inf
    assert bound.lower < 0 < bound.upper


def test_wide_range_of_costs_hurts_along_the_cost() -> None:
    costs, gammas = (0.01, 1000.0), (0.1, 0.1001)
    found = corners("hinge", costs, gammas)
    bound = cell_bound(GammaStrip(posed("hinge"), *gammas), cost_slices(*costs, 1e-2), found)
    assert 0.1 < bound.gap < 1.0
    assert bound.along_cost == bound.gap


def test_corners_without_multipliers_prove_only_the_value_at_0() -> None:
    zero = CellCorner(posed("hinge"), np.zeros(12))
    slices = cost_slices(1.0, 2.0, 1e-2)
    bound = cell_bound(GammaStrip(posed("hinge"), 1.0, 1.5), slices, (zero,) * 4)
    assert bound.gap == np.inf
    assert bound.lower == pytest.approx(0.0, abs=1e-9)
    assert bound.upper == pytest.approx(2.0 * WEIGHTS.sum())


def test_slices_cover_the_costs_and_are_narrow() -> None:
    slices = cost_slices(0.3, 40.0, 1e-2)
    assert slices[0].low == 0.3
    assert slices[-1].high == 40.0
    assert all(a.high == b.low for a, b in pairwise(slices))
    assert all(part.high / part.low <= math.exp(0.1) * (1 + 1e-9) for part in slices)
    # The share is linear in lambda = 1 / C.
    shares = [(1 / 0.3 - 1 / part.cost) / (1 / 0.3 - 1 / 40.0) for part in slices]
    assert [part.share for part in slices] == pytest.approx(shares, abs=1e-6)
