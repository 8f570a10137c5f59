"""Sums whose bits do not depend on the order of their terms.

The bits are equal for any partition, and the error is within the stated bound.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations.partitions.order_free import (
    SummationGrid,
    folded_rows,
    grid,
    products_by_row,
    split_integers,
)

SEEDS = st.integers(0, 2**32 - 1)
SCALES = st.sampled_from([1e-150, 1e-9, 1.0, 3.7e5, 1e120])


def terms(seed: int, n: int, scale: float) -> np.ndarray:
    """Return terms of all sizes up to the scale."""
    r = np.random.default_rng(seed)
    return np.asarray(scale * r.uniform(-1, 1, n) * 10.0 ** r.integers(-12, 1, n))


def folded(x: np.ndarray, cut: SummationGrid) -> list[float]:
    """Return the two sums of x (n,)."""
    sums: list[float] = folded_rows(x[:, None].copy(), np.ones(len(x)), cut)[:, 0].tolist()
    return sums


@given(SEEDS, st.integers(1, 60), SCALES)
def test_a_sum_has_the_same_bits_in_every_order_and_in_parts(
    seed: int, n: int, scale: float
) -> None:
    x, cut = terms(seed, n, scale), grid(scale, n)
    r = np.random.default_rng(seed)
    shuffled, k = r.permutation(x), int(r.integers(0, n + 1))
    whole = folded(x, cut)
    first, second = folded(shuffled[:k], cut), folded(shuffled[k:], cut)
    assert whole == [first[0] + second[0], first[1] + second[1]]


@given(SEEDS, st.integers(1, 60), SCALES)
def test_a_sum_is_as_near_as_it_says(seed: int, n: int, scale: float) -> None:
    x, cut = terms(seed, n, scale), grid(scale, n)
    high, low = folded(x, cut)
    exactly = sum(map(Fraction, x.tolist()), Fraction(0))
    assert abs(Fraction(high) + Fraction(low) - exactly) <= Fraction(float(cut.lost[0]))
    assert cut.lost[0] <= n * scale * 2.0**-80


@given(SEEDS, st.integers(1, 40), st.integers(1, 5), st.booleans())
def test_sums_of_rows_have_the_same_bits_in_every_order(
    seed: int, n: int, d: int, constant: bool
) -> None:
    r = np.random.default_rng(seed)
    X, beta = r.standard_t(2, size=(n, d)), r.uniform(-1, 1, n) * (r.random(n) < 0.8)
    cut = grid(np.append(np.abs(X).max(axis=0), np.ones(int(constant))), n)
    order, k = r.permutation(n), int(r.integers(0, n + 1))
    parts = [folded_rows(X[rows], beta[rows], cut) for rows in (order[:k], order[k:])]
    whole = folded_rows(X, beta, cut)
    assert np.array_equal(whole, parts[0] + parts[1])
    wanted = np.append(beta @ X, [beta.sum()] * constant)
    assert whole.sum(axis=0) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(SEEDS, st.integers(1, 11), st.integers(1, 9))
def test_a_row_has_the_same_product_wherever_it_is(seed: int, n: int, d: int) -> None:
    r = np.random.default_rng(seed)
    X, v = r.normal(size=(n, d)), r.normal(size=d + 1)
    whole = products_by_row(X, v, np.empty(n))
    assert np.array_equal(
        whole, np.concatenate([products_by_row(X[i : i + 1], v, np.empty(1)) for i in range(n)])
    )
    assert whole == pytest.approx(X @ v[:d] + v[d])


@given(st.lists(st.integers(-(2**52), 2**52), min_size=1, max_size=30))
def test_halves_of_integers_add_exactly(integers: list[int]) -> None:
    high, low = split_integers(np.array(integers, dtype=np.float64))
    assert int(math.fsum(high)) + int(math.fsum(low)) == sum(integers)
    assert (np.abs(low) <= 2.0**30).all()
    assert (high % 2.0**30 == 0).all()
