"""Multipliers on a dyadic grid: exactly feasible, and close to the original values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.formulations.numeric.dyadic import on_grid_by_threshold, round_to_dyadic_grid

ENTRIES = st.tuples(
    st.one_of(st.floats(0, 1), st.sampled_from([-1.0, np.nan, np.inf])),
    st.sampled_from([0.0, 0.3, 1.0, np.inf]),
    st.sampled_from([-1.0, 0.0, 1.0]),
)


@given(st.lists(ENTRIES, max_size=30), st.sampled_from([1e-300, 1e-9, 1.0, 1e250]))
@example([(0.01, 0.3, 0.0), (0.7, np.inf, -1.0), (0.0, 0.3, 1.0), (0.0, 1.0, -1.0)], 1.0)
def test_multipliers_are_exactly_feasible(
    entries: list[tuple[float, float, float]], scale: float
) -> None:
    alpha, box, s = (
        (np.array(column, dtype=float) for column in zip(*entries, strict=True))
        if entries
        else (np.zeros(0),) * 3
    )
    repaired = round_to_dyadic_grid(scale * alpha, scale * box, s)
    assert (repaired >= 0).all()
    assert (repaired <= scale * box).all()
    assert (
        sum(
            (
                Fraction(a) * Fraction(sign)
                for a, sign in zip(repaired.tolist(), s.tolist(), strict=True)
            ),
            Fraction(0),
        )
        == 0
    )
    assert Fraction(float(repaired.sum())) == sum(map(Fraction, repaired.tolist()), Fraction(0))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([1e-200, 1.0, 1e200]))
def test_balanced_multipliers_hardly_move(seed: int, pairs: int, scale: float) -> None:
    r = np.random.default_rng(seed)
    alpha = scale * np.repeat(r.uniform(0.1, 1, pairs), 2)
    repaired = round_to_dyadic_grid(alpha, np.full(2 * pairs, scale), np.tile([1.0, -1.0], pairs))
    assert np.abs(repaired - alpha).max() <= 2**-49 * alpha.sum()


@given(
    st.lists(st.tuples(ENTRIES, st.integers(0, 2)), min_size=1, max_size=30),
    st.sampled_from([1e-300, 1e-9, 1.0, 1e250]),
)
def test_multipliers_are_feasible_for_every_threshold(
    entries: list[tuple[tuple[float, float, float], int]], scale: float
) -> None:
    alpha, box, s = (
        np.array(column, dtype=float) for column in zip(*(row for row, _ in entries), strict=True)
    )
    k = np.array([threshold for _, threshold in entries])
    repaired = on_grid_by_threshold(scale * alpha, scale * box, s, k, 3)
    assert (repaired >= 0).all()
    assert (repaired <= scale * box).all()
    exact = [
        Fraction(a) * Fraction(sign) for a, sign in zip(repaired.tolist(), s.tolist(), strict=True)
    ]
    for threshold in range(3):
        assert (
            sum(
                (value for value, at in zip(exact, k.tolist(), strict=True) if at == threshold),
                Fraction(0),
            )
            == 0
        )
    assert Fraction(float(repaired.sum())) == sum(map(Fraction, repaired.tolist()), Fraction(0))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_one_threshold_moves_multipliers_as_little_as_the_bias(seed: int, pairs: int) -> None:
    r = np.random.default_rng(seed)
    alpha, s = np.repeat(r.uniform(0.1, 1, pairs), 2), np.tile([1.0, -1.0], pairs)
    repaired = on_grid_by_threshold(
        alpha, np.ones(2 * pairs), s, np.zeros(2 * pairs, dtype=np.int64), 1
    )
    assert np.abs(repaired - alpha).max() <= 2**-49 * alpha.sum()
