"""Newton's method on a face: at its end no row inside its bounds can gain."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.formulations.numeric.jit import compile_eagerly
from equimargin.solvers.dual import newton_on_face
from equimargin.solvers.dual.newton_on_face import _best_step, maximise_on_face
from optima import cpu_limit

BOTH_WAYS = pytest.mark.parametrize("compiled", [0, 96], ids=["numpy", "compiled"])
"""Largest face of the compiled steps: none, or all of these tests."""


def climb(compiled: int, *arguments: object) -> np.ndarray:
    """Return the end of a climb."""
    with mock.patch.object(newton_on_face, "MOST_COMPILED_ROWS", compiled), compile_eagerly():
        return maximise_on_face(*arguments)  # type: ignore[arg-type]


@BOTH_WAYS
@pytest.mark.parametrize("balanced", [False, True], ids=["free", "balanced"])
@given(st.integers(0, 2**32 - 1))
@example(5040)
def test_it_ends_at_the_optimum_of_the_rows_inside(
    balanced: bool, compiled: int, seed: int
) -> None:
    """The end is within the bounds, keeps 1'x, and does not decrease the objective.

    The gradient over the rows inside is 0, or equal for all of them.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    B = rng.normal(size=(n, n + 5))
    H, g, x = (
        B @ B.T,
        10.0 ** rng.uniform(-1, 2) * rng.normal(size=n),
        rng.uniform(0.01, 0.99, size=n),
    )
    lower, upper = np.zeros(n), np.where(rng.random(n) < 0.3, np.inf, 1.0)
    end = climb(compiled, H, g, x, lower, upper, balanced, 50, lambda: False)
    d = end - x
    assert ((lower <= end) & (end <= upper)).all()
    assert g @ d - d @ H @ d / 2 >= -1e-12 * np.abs(g).max()
    assert not balanced or abs(d.sum()) <= 1e-12 * (1 + np.abs(end).max())
    inside = (lower < end) & (end < upper)
    gradient = (g - H @ d)[inside]
    level = gradient.mean() if balanced and inside.any() else 0.0
    assert np.abs(gradient - level).max(initial=0.0) <= 1e-9 * np.abs(g).max()


def test_a_direction_that_falls_without_curvature_is_not_taken() -> None:
    """Near 0 the square of the direction underflows (found by the properties of svr.l1)."""
    assert _best_step(np.zeros((2, 2)), np.array([1e-200, 0.0]), np.array([-1.0, 0.0])) == 0.0


@BOTH_WAYS
@pytest.mark.parametrize("balanced", [False, True], ids=["free", "balanced"])
@given(st.integers(0, 2**32 - 1))
def test_a_matrix_that_rounding_has_spoilt_ends_the_climb(
    balanced: bool, compiled: int, seed: int
) -> None:
    """Differences of large kernel values may leave noise, negative diagonals included.

    x stays inside, and the objective does not fall.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    noise = 10.0 ** rng.uniform(-8, 8) * rng.integers(-3, 4, size=(n, n))
    H, g, x = (
        noise + noise.T - rng.choice([0.0, 10.0]) * np.eye(n),
        rng.normal(size=n),
        rng.uniform(0.01, 0.99, size=n),
    )
    with cpu_limit(20):
        end = climb(compiled, H, g, x, np.zeros(n), np.ones(n), balanced, 50, lambda: False)
    d = end - x
    assert ((end >= 0) & (end <= 1)).all()
    assert g @ d - d @ H @ d / 2 >= -1e-12 * (np.abs(g).max() + np.abs(H).max())
    assert not balanced or abs(d.sum()) <= 1e-12


@BOTH_WAYS
def test_a_matrix_of_no_numbers_leads_nowhere(compiled: int) -> None:
    x = np.array([0.2, 0.7])
    with cpu_limit(20):
        end = climb(
            compiled,
            np.full((2, 2), np.nan),
            np.ones(2),
            x,
            np.zeros(2),
            np.ones(2),
            False,
            50,
            lambda: False,
        )
    assert end.tolist() == x.tolist()


def test_the_clock_is_asked_between_two_dampings() -> None:
    asked: list[int] = []

    def out_of_time() -> bool:
        asked.append(1)
        return len(asked) == 3

    climb(
        0,
        -1e9 * np.eye(2),
        np.ones(2),
        np.array([0.2, 0.7]),
        np.zeros(2),
        np.ones(2),
        False,
        50,
        out_of_time,
    )
    assert len(asked) == 3
