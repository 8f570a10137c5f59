"""Products K v of the compiled loop, against ball arithmetic.

The oracle computes exp(-gamma |x - z|^2) and its sums in balls of FLINT (`arb`), whose
centres have 400 bits, from the floats as exact numbers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equimargin.formulations import (
    Kernel,
    MarginProblem,
    Point,
    classification,
    interval,
    linear,
    ranking,
    ranking_from_pairs,
    rbf,
    regression,
)
from equimargin.formulations.bounds import evaluate
from equimargin.formulations.bounds.intervals import prepare_intervals
from equimargin.formulations.kernels import multiplier
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.multiplier import GAMMAS, multiply
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.numeric.rows_by_panel import ROWS
from equimargin.formulations.numeric.vector_loops import (
    LOWEST_POWER,
    POWER_UNITS,
    power_of_two,
)
from equimargin.formulations.programs import program_from_arrays
from equimargin.solvers import solve
from equimargin.solvers.exact.program import Optimum, program_optimum
from narrow import as_a
from oracles.rationals import gram

SIZES = st.sampled_from([1e-320, 1e-300, 1e-162, 1e-150, 1e-20, 1e-3, 1.0, 1e3, 1e20, 1e150])
"""Scales at which squares, exponents or products underflow or overflow, and others."""


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the compiled loop for small products, too, and 400 bits in balls."""
    monkeypatch.setattr(multiplier, "COMPILED_ENTRIES", 0)
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


def exact(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def errors(
    gamma: float, X: np.ndarray, support: Any, v: np.ndarray
) -> tuple[list[Any], np.ndarray]:
    """Return |f computed - K v|, as balls, and the bounds."""
    f, error = computed(gamma, X, np.asarray(support), v)
    points, v_exact = [[exact(t) for t in x] for x in X.tolist()], [exact(t) for t in v.tolist()]
    g, off = exact(gamma), []
    for i, x in enumerate(points):
        total = arb(0)
        for j, factor in zip(support, v_exact, strict=True):
            square = sum(((a - b) ** 2 for a, b in zip(x, points[j], strict=True)), fmpq(0))
            total += arb(factor) * (-arb(g * square)).exp()
        off.append(abs(arb(exact(float(f[i]))) - total))
    return off, error


def computed(
    gamma: float, X: np.ndarray, support: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    products = multiply(rbf(gamma), X, support, v[None])
    assert products is not None
    return products[0][0], products[1][0]


def holds(off: list[Any], error: np.ndarray) -> bool:
    return all(a <= arb(exact(e)) for a, e in zip(off, error.tolist(), strict=True))


@pytest.mark.parametrize(
    ("m", "n", "d"), [(1, 1, 1), (63, 5, 2), (64, 6, 20), (65, 7, 3), (130, 13, 54), (9, 9, 300)]
)
@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_product_of_random_points_is_within_its_bound(m: int, n: int, d: int, gamma: float) -> None:
    """Panels and blocks of rows are full, incomplete, or single."""
    rng = np.random.default_rng(m)
    X, v = rng.normal(size=(m, d)), rng.uniform(-1.0, 1.0, n)
    off, error = errors(gamma / d, X, rng.permutation(m)[:n], v)
    assert holds(off, error)


@settings(max_examples=200)
@given(st.data())
def test_product_at_any_scale_is_within_its_bound(data: st.DataObject) -> None:
    """Points may coincide, and coefficients cancel; a product that is refused has no bound."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    m, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    n = data.draw(st.integers(1, m))
    X = rng.integers(-3, 4, (m, d)) * data.draw(SIZES) + data.draw(
        st.sampled_from([0.0, 1.0, 1e8])
    ) * data.draw(SIZES)
    v = rng.normal(size=n) * data.draw(SIZES)
    if data.draw(st.booleans()):
        v[0] -= v.sum()
    gamma = float(np.clip(data.draw(st.floats(0.1, 10.0)) * data.draw(SIZES), *GAMMAS))
    largest = float(np.abs(X).max())
    if 5.0 * d * largest * largest in (0.0, np.inf):
        assert multiply(rbf(gamma), X, np.arange(n), v[None]) is None
        return
    assert holds(*errors(gamma, X, np.arange(n), v))


@pytest.mark.parametrize("distance", [0.0, 1e-170, 1e-8, 26.6, 26.61, 27.3, 30.0, 1e100])
def test_entry_of_two_points_is_within_its_bound(distance: float) -> None:
    """exp(-distance^2) is 1, almost 1, almost the smallest value of the loop, or below it."""
    X = np.array([[0.0, 1.0], [distance, 1.0]])
    for v in (1.0, 1e300, 1e-300):
        assert holds(*errors(1.0, X, [1], np.array([v])))


def test_bound_with_large_coefficients_that_cancel_is_small() -> None:
    """|v|_1 is 1e16 and K v about 1: the error is below 20 u |v|_1, and so is its bound."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[1::2] = X[::2] + 1e-16 * X[::2]
    v = np.where(np.arange(40) % 2 == 0, 1.0, -1.0) * np.repeat(rng.uniform(1e14, 1e15, 20), 2)
    off, error = errors(0.5, X, np.arange(40), v)
    assert holds(off, error)
    assert error.max() < 20 * 2.0**-53 * np.abs(v).sum()


def test_bound_does_not_grow_with_the_number_of_coefficients() -> None:
    """The points coincide: the bound is 1.05 (ROWS + 6) u |v|_1 for any number of them."""
    for n in (6, 600, 6_000):
        v = np.full(n, 0.1)
        f, error = computed(1.0, np.ones((n, 1)), np.arange(n), v)
        truth = n * exact(0.1)
        assert abs(exact(float(f[0])) - truth) <= exact(float(error[0]))
        assert error[0] <= 1.06 * (ROWS + POWER_UNITS + 3) * 2.0**-53 * n * 0.1


def test_a_bound_a_hundred_times_too_wide_is_noticed() -> None:
    """Some error of few summands exceeds a fiftieth of its bound, with and without distance."""
    rng = np.random.default_rng(1)
    for gamma, d in ((1e-3, 1), (1.0, 1), (50.0, 3)):
        X = rng.uniform(size=(200, d))
        off, error = errors(gamma, X, [0], np.ones(1))
        ratios = [float(a) / e for a, e in zip(off, error.tolist(), strict=True)]
        assert 0.02 < max(ratios) <= 1.0


def test_bound_is_below_that_of_the_matrix_product() -> None:
    rng = np.random.default_rng(2)
    for d, gamma in ((5, 0.2), (20, 0.05), (54, 1 / 54), (200, 1 / 200), (20, 5.0), (20, 1e-3)):
        X, v = rng.normal(size=(300, d)), rng.normal(size=300)
        by_loop = Gram(rbf(gamma), X).product(v)
        by_matrix = Gram(rbf(gamma), X, multiplier=lambda *_: None).product(v)
        assert (by_loop[1] <= by_matrix[1]).all()
        assert (abs(by_loop[0] - by_matrix[0]) <= by_loop[1] + by_matrix[1]).all()


# The exponential.


def powers(x: np.ndarray) -> np.ndarray:
    result = np.empty_like(x)
    _write_powers(x, result)
    return result


@jit
def _write_powers(x: Any, result: Any) -> None:
    for k in range(x.shape[0]):
        result[k] = power_of_two(x[k])


def test_power_of_two_is_within_its_bound() -> None:
    """Powers of any size, at whole numbers and next to them, and where n = rint(x) changes."""
    rng = np.random.default_rng(0)
    halves = np.arange(LOWEST_POWER + 0.5, 1.0)
    x = np.concatenate(
        [
            rng.uniform(-1.0, 0.0, 2000),
            rng.uniform(LOWEST_POWER, 0.0, 2000),
            -(10.0 ** rng.uniform(-320, 0, 500)),
            *(
                np.nextafter(numbers, way)
                for numbers in (halves, halves + 0.5)
                for way in (-2e3, 1)
            ),
            halves,
        ]
    )
    x = x[(x <= 0.5) & (x >= LOWEST_POWER)]
    units = [
        float(abs(arb(exact(p)) / arb(2) ** arb(exact(t)) - 1)) * 2.0**53
        for p, t in zip(powers(x).tolist(), x.tolist(), strict=True)
    ]
    assert 1.0 < max(units) < POWER_UNITS


def test_power_of_two_at_whole_numbers_is_exact_and_below_the_range_constant() -> None:
    x = np.array([0.0, -0.0, -1.0, -1020.0, LOWEST_POWER, -1022.0, -1e300, -np.inf])
    assert powers(x).tolist() == [2.0 ** max(t, LOWEST_POWER) for t in x.tolist()]


# The products for which the loop is used.


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (linear(), np.ones((2, 1))),
        (rbf(1e151), np.ones((2, 1))),
        (rbf(1e-151), np.ones((2, 1))),
        (rbf(1.0), np.array([[1e154], [-1e154]])),
        (rbf(1.0), np.ones((2, 1), dtype=np.longdouble)),
        (rbf(1.0), np.ones((2, 0))),
    ],
)
def test_products_without_a_bound_are_refused(kernel: Kernel, X: np.ndarray) -> None:
    assert multiply(kernel, X, np.array([0]), np.ones((1, 1))) is None


def test_gram_matrix_asks_its_multiplier_unless_it_is_stored() -> None:
    X, asked = np.random.default_rng(0).normal(size=(5, 2)), []

    def known(kernel: Kernel, X: Any, support: Any, V: Any) -> tuple[np.ndarray, np.ndarray]:
        asked.append((len(X), support.tolist(), V.tolist()))
        return np.zeros((len(V), len(X))), np.ones((len(V), len(X)))

    gram = Gram(rbf(1.0), X, multiplier=known)
    f, error = gram.product(np.array([0.0, 2.0, 0.0, 0.0, -1.0]))
    gram.part(np.arange(1, 3)).product(np.array([1.0, 0.0]))
    assert asked == [(5, [1, 4], [[2.0, -1.0]]), (2, [0], [[1.0]])]
    assert (f.tolist(), error.tolist()) == ([0.0] * 5, [1.0] * 5)
    assert gram.dense.shape == (5, 5)
    assert (gram.product(np.ones(5))[0] > 1.0).all()
    assert len(asked) == 2


def test_prepared_products_are_those_computed_one_by_one() -> None:
    """Coefficients that are 0 in one vector and not in another change no value."""
    rng = np.random.default_rng(4)
    X, v = rng.normal(size=(70, 3)), rng.normal(size=70)
    vectors = [v, np.where(np.arange(70) < 12, v, 0.0), 1e10 * v]
    together = Gram(rbf(0.5), X)
    together.prepare(*vectors)
    for vector in vectors:
        f, error = together.product(vector)
        alone, bound = Gram(rbf(0.5), X).product(vector)
        assert f.tolist() == alone.tolist()
        assert error == pytest.approx(bound, rel=1e-14)


def _counted(passes: list[int], *product: Any) -> Any:
    passes.append(len(product[-1]))
    return multiply(*product)


def test_both_sides_of_an_interval_are_computed_in_one_pass() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    for problem in (
        classification(X, np.sign(X[:, 0] + rng.normal(size=60)), 1.0, rbf(0.5)),
        regression(X, X[:, 0] + rng.normal(size=60), 1.0, 0.1, rbf(0.5)),
        ranking(X, np.arange(60) % 3, None, 0.1, rbf(0.5)),
    ):
        point, again = solve(problem, tol=1e-6).point, replace(problem)
        passes: list[int] = []
        again.gram.multiplier = partial(_counted, passes)
        assert interval(again, point).relative_width < 1e-5
        assert passes == [2]


def test_intervals_of_several_points_are_computed_in_one_pass() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 2))
    problem = classification(X, np.sign(X[:, 0] + rng.normal(size=60)), 1.0, rbf(0.5))
    points = [as_a(Point, solve(problem, tol=tol).point) for tol in (1e-3, 1e-9)]
    again, passes = replace(problem), list[int]()
    again.gram.multiplier = partial(_counted, passes)
    prepare_intervals(again, *points)
    for point in points:
        found, alone = interval(again, point), interval(replace(problem), point)
        assert (found.lower, found.upper) == pytest.approx((alone.lower, alone.upper), rel=1e-13)
    assert passes == [4]


def test_sides_with_coefficients_of_other_points_take_a_pass_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of the lower bound has the points with a multiplier alone."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 2))
    problem = classification(X, np.sign(X[:, 0] + rng.normal(size=60)), 1.0, rbf(0.5))
    alpha, beta = rng.random(60), rng.normal(size=60) / 10
    alpha[20:], beta[:40] = 0.0, 0.0
    point = Point(alpha=alpha, beta=beta)
    expected = interval(problem, point)
    monkeypatch.setattr(evaluate, "STORED_ROWS", 10)
    again, sizes = replace(problem), list[tuple[int, int]]()

    def counted(kernel: Kernel, X: Any, support: Any, V: Any) -> Any:
        sizes.append((len(X), len(V)))
        return multiply(kernel, X, support, V)

    again.gram.multiplier = counted
    found = interval(again, point)
    assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), rel=1e-13)
    used = np.count_nonzero(problem.repaired(alpha))
    assert sizes == [(used, 1), (60, 1)]
    assert used <= 20


def test_points_of_no_row_take_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond STORED_ROWS a product has the points of the pairs alone."""
    monkeypatch.setattr(evaluate, "STORED_ROWS", 10)
    X = np.random.default_rng(6).normal(size=(60, 2))
    problem = ranking_from_pairs(X, [(i, i + 1) for i in range(0, 30, 2)], 1.0, rbf(0.5))
    point, again = solve(problem, tol=1e-6).point, replace(problem)
    points: list[int] = []

    def counted(kernel: Kernel, X: Any, support: Any, V: Any) -> Any:
        points.append(len(X))
        return multiply(kernel, X, support, V)

    again.gram.multiplier = counted
    assert interval(again, point).relative_width < 1e-5
    assert points == [30, 30]


def test_interval_by_the_loop_contains_that_of_extended_precision_and_is_as_narrow() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, 1.0, -1.0)
    problem = classification(X, y, 10.0, rbf(0.25))
    point = as_a(Point, solve(problem, tol=1e-9).point)
    again = classification(X, y, 10.0, rbf(0.25))
    again.gram.multiplier = lambda *_: None
    by_loop, by_matrix = interval(problem, point), interval(again, point)
    assert max(by_loop.lower, by_matrix.lower) <= min(by_loop.upper, by_matrix.upper)
    assert by_loop.relative_width <= by_matrix.relative_width + 1e-10
    assert interval(problem, Point(alpha=point.alpha)).relative_width < 1e-8


def machine_with_optimum(seed: int) -> tuple[MarginProblem, Fraction]:
    """Return a machine of 4 to 9 points and its optimum, from the dual program in rationals.

    The entries of K have 60 digits, far more than the ends of an interval.
    """
    rng = np.random.default_rng(seed)
    m, d, C = int(rng.integers(4, 10)), int(rng.integers(1, 6)), float(10.0 ** rng.uniform(-2, 4))
    X, y = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-2, 2), rng.choice([-1.0, 1.0], m)
    problem = classification(X, y, C, rbf(float(10.0 ** rng.uniform(-3, 1))))
    K, signs = gram(problem.kernel, X), [Fraction(v) for v in y.tolist()]
    P = [[a * b * K[i][j] for j, b in enumerate(signs)] for i, a in enumerate(signs)]
    bounds = [*(-np.eye(m)).tolist(), *np.eye(m).tolist()]
    program = program_from_arrays(P, [-1] * m, [signs], [0], bounds, [0] * m + [C] * m)
    return problem, -as_a(Optimum, program_optimum(program)).value


@pytest.mark.parametrize("seed", range(20))
def test_exact_optimum_of_a_machine_is_in_its_interval(seed: int) -> None:
    problem, optimum = machine_with_optimum(seed)
    # Otherwise extended precision would replace the products of the loop.
    vars(problem.gram)["extended"] = None
    solution = solve(problem, tol=1e-12)
    proven = solution.interval
    assert Fraction(proven.lower) <= optimum <= Fraction(proven.upper)
    assert proven.relative_width <= max(2 * solution.relative_gap, 1e-9)


@pytest.mark.slow
def test_bound_holds_on_a_processor_without_fused_operations() -> None:
    """There every product is rounded before it is added."""
    names = "test_product_of_random_points or power_of_two or large_coefficients"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        names,
    ]
    environment = os.environ | {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    subprocess.run(command, env=environment, check=True, timeout=600)


@example(1)
@given(st.integers(1, 4))
def test_sum_of_features_in_panels_of_any_width(d: int) -> None:
    """Equal points have entries of exactly 1 at any position of a panel."""
    X = np.tile(np.random.default_rng(d).normal(size=d), (70, 1))
    f, _ = computed(3.0, X, np.array([69]), np.ones(1))
    assert f.tolist() == [1.0] * 70
