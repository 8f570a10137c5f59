"""Surrogate regret against exact optima at single costs and every sign pattern."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.draw.regret_plot import draw_regret
from equimargin.formulations import classification, ranking, ranking_from_pairs, rbf
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.proofs import PairCount, SurrogateRegret, surrogate_regret
from equimargin.proofs.rankings.surrogate_regret import excess, root_above
from equimargin.solvers import exact_optimum, exact_path, given_gram, regularization_path
from equimargin.solvers.exact.numbers import as_fractions, integral
from narrow import present
from oracles.brute_force import least_by_sign_patterns

TIED = ranking(
    [[0.0, 3.0], [0.0, -3.0], [1.0, 1.0], [-3.0, 0.0], [-1.0, 1.0], [1.0, -3.0]],
    [0, 0, 1, 0, 1, 1],
)
"""Ranking whose optima leave a pair tied on a whole segment."""


def sides(problem: MarginProblem) -> list[Fraction]:
    """Return f_i - f_j of every pair at the exact optimum."""
    at = exact_optimum(problem)
    numbers = integral(problem)
    rows: Any = problem.rows
    f = numbers.values(numbers.pulled(as_fractions(list(at.alpha))))
    pairs = zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)
    return [f[i] - f[j] for i, j in pairs]


def differences(problem: MarginProblem) -> list[list[Fraction]]:
    rows: Any = problem.rows
    pairs = zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)
    return [[Fraction(v) for v in problem.X[i] - problem.X[j]] for i, j in pairs]


def middles(curve: SurrogateRegret) -> list[float]:
    """Return a float C between every two steps, and one above all."""
    ends = [*curve.steps, 2 * curve.steps[-1] + 1 if curve.high is None else curve.high]
    return [C for C in (float((a + b) / 2) for a, b in pairwise(ends)) if C > 0]


@settings(max_examples=15)
@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=2, max_size=6))
def test_an_exact_curve_is_that_of_exact_optima_and_sign_patterns(
    points: list[tuple[int, int, int]],
) -> None:
    problem: Any = ranking(
        np.array([p[:2] for p in points], dtype=float), [p[2] > 0 for p in points]
    )
    curve = surrogate_regret(exact_path(problem))
    assert curve.exact
    least = least_by_sign_patterns(differences(problem))
    assert curve.fewest == (least, least)
    for C in [*middles(curve), *(float(s) for s in curve.steps if s > 0 and float(s) == s)]:
        wrong = np.array([side <= 0 for side in sides(problem.with_cost(C))], dtype=bool)
        assert curve.misranked(C) == (wrong.sum(), wrong.sum())
        assert curve.regret(C) == (wrong.sum() - least,) * 2
        assert all((flags == wrong).all() for flags in curve.pairs(C))


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_a_curve_of_a_float_path_contains_the_exact_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 2)) if rng.integers(2) else rng.integers(-2, 3, (7, 2)).astype(float)
    y = rng.integers(0, 3, 7)
    y[:2] = 0, 1
    problem: Any = ranking(X, y)
    path = regularization_path(problem)
    right, wide = surrogate_regret(exact_path(problem)), surrogate_regret(path)
    for C in [*middles(right), *map(float, wide.steps), *(1 / path.lambdas[path.lambdas > 0])]:
        if wide.high is not None and wide.high < C:
            continue
        least, most = wide.misranked(C)
        assert least <= right.misranked(C).least <= most
        surely, possibly = wide.pairs(C)
        assert (surely.sum(), possibly.sum()) == (least, most)
        assert (right.pairs(C)[0][surely]).all()
        assert not (right.pairs(C)[0] & ~possibly).any()
    assert wide.fewest == right.fewest


def test_a_tie_of_an_optimum_is_misordered_and_not_proven_in_floats() -> None:
    right, wide = (surrogate_regret(path(TIED)) for path in (exact_path, regularization_path))
    C = 0.08
    assert 0 in sides(TIED.with_cost(C))
    assert right.misranked(C).least == right.misranked(C).most
    assert wide.misranked(C).least < wide.misranked(C).most
    assert right.exact
    assert not wide.exact


def test_at_the_cost_of_zero_all_pairs_are_tied_and_just_above_it_few_are() -> None:
    for path in (exact_path(TIED), regularization_path(TIED)):
        curve = surrogate_regret(path)
        assert curve.low == 0
        assert curve.misranked(0) == (TIED.p, TIED.p)
        assert curve.misranked(1e-12).most < TIED.p


def test_a_constant_f_misorders_all_pairs_at_every_cost() -> None:
    for problem in (ranking([[0.0], [0.0], [0.0]], [0, 1, 1]), ranking([[0.0], [1.0]], [1, 1])):
        for path in (exact_path(problem), regularization_path(problem)):
            curve = surrogate_regret(path)
            assert (curve.high, curve.exact) == (None, True)
            assert curve.misranked(1e9) == curve.fewest == (problem.p, problem.p)


def test_an_f_of_the_path_may_be_the_best_known_one() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 3))
    problem: Any = ranking(X, np.round(X @ [1.0, 0.5, 0.0] + rng.normal(size=12)))
    curve = surrogate_regret(regularization_path(problem, lambda_min=0.1), seconds=1e-6)
    assert not curve.search.proven
    best = min(count.most for count in curve.after_steps)
    assert curve.fewest == (curve.search.lower, min(best, curve.search.least))
    assert best < curve.search.least
    right: Any = surrogate_regret(exact_path(TIED))
    found = replace(right.search, least=right.search.lower + 1)
    assert not found.proven
    assert replace(right, search=found).exact
    assert excess(PairCount(3, 5), PairCount(2, 4)) == (0, 3)


def test_no_f_of_the_path_may_be_the_best_one() -> None:
    X = [[1.0], [0.0], [1.0], [0.0], [0.0], [3.0]]
    problem = ranking_from_pairs(X, [(0, 1), (2, 3), (4, 5)])
    for path in (exact_path(problem), regularization_path(problem)):
        curve = surrogate_regret(path)
        assert curve.fewest == (1, 1)
        assert curve.regret(0.001) == (1, 1)


def test_pairs_with_queries_weights_and_a_given_gram_matrix() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 2))
    pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)]
    problem: Any = given_gram(
        ranking_from_pairs(X, pairs, kernel=rbf(1.0), pair_weight=[1.0, 0.5, 2.0, 0.25, 1.0])
    )
    curve = surrogate_regret(exact_path(problem))
    # With an RBF kernel on different points only the cycle has a misordered pair.
    assert curve.fewest == (1, 1)
    for C in middles(curve):
        wrong = sum(side <= 0 for side in sides(problem.with_cost(C)))
        assert curve.misranked(C) == (wrong, wrong)


def test_what_is_no_path_of_a_ranking_is_a_sentence() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    cases: list[tuple[Any, str]] = [
        (exact_path(classification(X, [1, -1, 1])), "must be that of a ranking"),
        (regularization_path(ranking(X, [0, 1, 2], kernel=rbf(1.0))), "`given_gram`"),
        (exact_path(TIED, max_pieces=1), "the exact path is incomplete, because"),
    ]
    for path, message in cases:
        with pytest.raises(ValueError, match=message):
            surrogate_regret(path)
    with pytest.raises(ValueError, match="must be that of a ranking"):
        surrogate_regret(TIED)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seconds must be a positive number, not 'x'"):
        surrogate_regret(exact_path(TIED), "x")  # type: ignore[arg-type]
    # In floats the sum of the differences is 0, and so is f; in exact numbers it is 1.
    cancelling = ranking([[1e100], [2e100], [1.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="to infinity are not optimal in exact numbers"):
        surrogate_regret(regularization_path(cancelling))
    given: Any = given_gram(ranking(np.eye(9), np.arange(9), kernel=rbf(1.0)))
    with pytest.raises(ValueError, match=r"does not suffice .* give more seconds"):
        surrogate_regret(regularization_path(given), 1e-9)
    right = exact_path(TIED)
    doubled = [replace(piece, slope=tuple(2 * v for v in piece.slope)) for piece in right.pieces]
    with pytest.raises(ValueError, match="not in their bounds"):
        surrogate_regret(replace(right, pieces=tuple(doubled)))
    curve = surrogate_regret(exact_path(TIED, 1, 2))
    for C in (0.5, 3):
        with pytest.raises(ValueError, match="C must be from 1 to 2"):
            curve.misranked(C)


def test_a_wrong_path_proves_less_and_nothing_wrong() -> None:
    right = exact_path(TIED)
    halved = [
        replace(
            piece,
            constant=tuple(v / 2 for v in piece.constant),
            slope=tuple(v / 2 for v in piece.slope),
        )
        for piece in right.pieces[:-1]
    ]
    last = present(halved[-1].high)
    wide = surrogate_regret(replace(right, pieces=tuple(halved), high=last))
    exact = surrogate_regret(right)
    for C in [C for C in middles(exact) if last > C]:
        least, most = wide.misranked(C)
        assert least <= exact.misranked(C).least <= most
    assert any(count.least < count.most for count in wide.after_steps)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_chord_of_a_path_proves_less_and_nothing_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem: Any = ranking(rng.integers(-3, 4, (9, 2)).astype(float), rng.permutation(9) // 3)
    right = exact_path(problem)
    exact = surrogate_regret(right)
    # Both ends are optimal, and the multipliers in between are not.
    low, high = right.breakpoints[0], right.breakpoints[-1]
    start, end = (as_fractions(list(right.alpha(C))) for C in (low, high))
    slope = (end - start) / (high - low)
    chord = replace(
        right.pieces[0], low=low, high=high, constant=tuple(start - low * slope), slope=tuple(slope)
    )
    wide = surrogate_regret(replace(right, low=low, high=high, pieces=(chord,)))
    inside = [C for C in middles(exact) if low < C < high]
    for C in inside:
        least, most = wide.misranked(C)
        assert least <= exact.misranked(C).least <= most
    line = wide.segments[0]
    counts = [(int((line.margins(Fraction(C)) <= 0).sum()), exact.misranked(C)[0]) for C in inside]
    assert any(count != true for count, true in counts)


def test_roots_are_rounded_up() -> None:
    for value in (
        Fraction(0),
        Fraction(2),
        Fraction(1, 3),
        Fraction(1, 10**300),
        Fraction(10**300),
    ):
        root = root_above(value)
        assert value <= root**2 <= value * Fraction(1 + 1e-15)


def test_a_curve_is_drawn(tmp_path: Path) -> None:
    paths = (exact_path(TIED), regularization_path(TIED), exact_path(TIED, 1, 2))
    # The float of 1/3 is below it.
    for path in (*paths, exact_path(TIED, Fraction(1, 3))):
        curve = surrogate_regret(path)
        file = tmp_path / f"{float(curve.low)}_{curve.exact}.svg"
        draw_regret(curve, file, "regret")
        assert "regret" in file.read_text()
    with pytest.raises(ValueError, match="no breakpoint above C = 0"):
        draw_regret(
            surrogate_regret(exact_path(ranking([[0.0], [0.0]], [0, 1]))), tmp_path / "a.svg"
        )
