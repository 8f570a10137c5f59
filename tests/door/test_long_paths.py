"""Paths of exponential length, counted in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from equimargin.formulations import ranking
from equimargin.solvers import exact_path
from equimargin.testing.long_paths import (
    LEVEL,
    classification_with_a_long_path,
    ranking_with_a_long_path,
)


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 5, 6])
def test_preferences_have_two_to_their_number_breakpoints(pairs: int) -> None:
    problem = ranking_with_a_long_path(pairs)
    assert problem.p == pairs
    assert problem.weights is None
    path = exact_path(problem)
    assert len(path.breakpoints) == 2**pairs - 1
    near = [C for C in path.breakpoints if abs(1 / C - LEVEL) <= 1]
    assert len(near) == 2 ** (pairs - 1) - 1


@pytest.mark.parametrize("points", [2, 3, 4, 5])
def test_weighted_points_have_three_to_their_number_over_two(points: int) -> None:
    problem = classification_with_a_long_path(points)
    assert problem.p == points
    path = exact_path(problem)
    assert len(path.breakpoints) == (3 ** (points - 1) - 1) // 2


def test_no_two_pieces_have_the_same_rows_at_0_inside_and_at_the_upper_bound() -> None:
    """So the number of pieces is at most 3^p."""
    path = exact_path(classification_with_a_long_path(4))
    sides = set()
    for piece in path.pieces:
        C = 2 * piece.low if piece.high is None else (piece.low + piece.high) / 2
        box = [C * Fraction(w) for w in path.problem.unit_weights.tolist()]
        sides.add(tuple((a > 0) + (a == end) for a, end in zip(path.alpha(C), box, strict=True)))
    assert len(sides) == len(path.pieces) == 14


def test_drawn_data_have_a_few() -> None:
    rng = np.random.default_rng(0)
    path = exact_path(ranking(rng.normal(size=(8, 3)), np.arange(8) < 7))
    assert len(path.breakpoints) <= 3 * 7
