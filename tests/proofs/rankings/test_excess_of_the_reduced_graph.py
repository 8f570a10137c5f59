"""Functions of the reduced graph and their excess, against rational paths and all choices."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from equimargin.formulations import (
    MarginProblem,
    interval,
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.formulations.numeric.arrays import Array
from equimargin.proofs import ReducedExcess, least_reduced_excess, reduced_excess
from equimargin.solvers import exact_optimum, solve
from narrow import present
from oracles.reduced_graph import excess_by_choice, excess_of_weights

NEAR = 1e-6
"""Maximum distance of a proven excess from the exact one of the path, in floats, relative to
the optimum over all pairs plus this excess, or to 1."""


def drawn(seed: int) -> tuple[Array, list[int], list[int], Fraction]:
    """Return up to eight points of a grid, their levels and queries, and a cost."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 9))
    X = rng.integers(-3, 4, (m, int(rng.integers(1, 3)))).astype(float)
    y = rng.integers(0, 3, m)
    qid = rng.integers(0, 2, m) if seed % 3 == 0 else np.zeros(m, dtype=int)
    return X, y.tolist(), qid.tolist(), Fraction(int(rng.integers(1, 9)), 4)


def noisy(seed: int, m: int, levels: list[float], **options: Any) -> MarginProblem:
    """Return a ranking by noisy levels of a linear function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.digitize(X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=m), levels)
    return ranking(X, y, C=1.0, **options)


def is_near(found: ReducedExcess, exact: Fraction) -> bool:
    """Return True if the proven excess is the exact one of a path, in floats."""
    size = max(found.optimum[0] + float(exact), 1.0)
    return bool(abs(found.excess[0] - float(exact)) <= NEAR * size)


def assert_proven(
    found: ReducedExcess, X: Array, y: list[int], qid: list[int], C: Fraction
) -> None:
    """Assert in rationals that the function that is returned has at most the excess."""
    w = present(found.functions[0].w)
    assert excess_of_weights(w, X, y, qid, C) <= Fraction(float(found.excess[0]))


@pytest.mark.parametrize(
    "seeds",
    [
        (*range(20), 1311, 1672),
        *(pytest.param(range(k, k + 45), marks=pytest.mark.slow) for k in (20, 65)),
        pytest.param((1080, 1325, 1496, 1968), marks=pytest.mark.slow),
    ],
)
def test_best_choice_is_that_of_all_choices_in_rationals(seeds: Iterable[int]) -> None:
    """Seeds above 1000 have their best function beyond kappa C on the path."""
    for seed in seeds:
        X, y, qid, C = drawn(seed)
        problem = ranking(X, y, qid, float(C))
        if not problem.p:
            continue
        exact, found = excess_by_choice(X, y, qid, C), least_reduced_excess(problem)
        own, least = exact[tuple(found.maximum.tolist())], min(exact.values())
        assert (found.exhaustive, found.tried) == (True, len(exact))
        assert is_near(found, own), seed
        assert is_near(found, least), seed
        assert_proven(found, X, y, qid, C)


@pytest.mark.slow
def test_each_choice_has_its_exact_excess() -> None:
    for seed in range(300, 330):
        X, y, qid, C = drawn(seed)
        problem = ranking(X, y, qid, float(C))
        for choice, exact in excess_by_choice(X, y, qid, C).items() if problem.p else ():
            found = reduced_excess(problem, np.isin(np.arange(len(y)), choice))
            assert tuple(found.maximum.tolist()) == choice
            assert is_near(found, exact)
            assert_proven(found, X, y, qid, C)


def test_a_function_in_floats_may_have_less_than_the_excess_of_the_path() -> None:
    """The bound is one of the function that is returned, which is not exactly on the path."""
    X = np.array([[0, -2], [-4096, -1], [-12288, -2], [12288, 1], [-4096, -1]], dtype=float)
    y, C, qid = [0, 0, 0, 2, 0], Fraction(32), [0] * 5
    found = reduced_excess(ranking(X, y, C=float(C)), [0, 0, 1, 0, 0])
    exact = excess_by_choice(X, y, qid, C)[2,]
    assert float(exact) == pytest.approx(131 / 6, rel=1e-15)
    assert 1e10 < found.reached < np.inf
    assert is_near(found, exact)
    assert_proven(found, X, y, qid, C)


def test_a_cost_has_the_same_function_beside_others() -> None:
    problem = noisy(2, 20, [-0.7, 0.7])
    both, one = reduced_excess(problem, costs=[4.0, 0.5, 0.5]), reduced_excess(problem, costs=0.5)
    assert both.costs.tolist() == [0.5, 0.5, 4.0]
    assert both.excess[:2].tolist() == [one.excess[0]] * 2
    assert both.reduced_costs[:2].tolist() == [one.reduced_costs[0]] * 2


def test_coefficients_of_equal_points_are_summed_in_what_is_returned() -> None:
    """`interval` evaluates the rounded sums."""
    problem = noisy(2, 10, [0.0], kernel=rbf(0.5))
    twice = ranking(
        np.vstack([problem.X, problem.X]), [*problem.rows.y] * 2, C=1.0, kernel=rbf(0.5)
    )
    beta = present(reduced_excess(twice).functions[0].beta)
    assert beta.any()
    assert not beta[10:].any()


def test_excess_is_that_of_the_reduced_optimum_at_its_cost() -> None:
    """The point is the optimum of the reduced pairs, by another solver."""
    for kernel in (None, rbf(0.5)):
        problem = noisy(2, 20, [-0.7, 0.7], kernel=kernel)
        found = reduced_excess(problem)
        edges = reduced_preferences(problem.rows.y)
        at = ranking_from_pairs(problem.X, edges, float(found.reduced_costs[0]), kernel)
        other = solve(at, tol=1e-12)
        function = found.functions[0]
        f = (
            problem.X @ present(function.w)
            if kernel is None
            else problem.gram.dense @ present(function.beta)
        )
        assert other.decision_function(problem.X) == pytest.approx(f, abs=1e-4)
        value = interval(problem, function).upper
        full = solve(problem, tol=1e-12)
        assert found.excess[0] == pytest.approx(value - full.lower, abs=1e-9)


def test_excess_between_two_costs_is_below_its_bound() -> None:
    """The bound between costs holds for exact optima, and is not far above the ends."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (7, 2)).astype(float), [0, 0, 0, 1, 1, 2, 2]
    costs = np.geomspace(0.05, 2.0, 8)
    found = reduced_excess(ranking(X, y), costs=costs)
    for k, (low, high) in enumerate(pairwise(costs)):
        for C in np.linspace(low, high, 5):
            problem = ranking(X, y, C=float(C))
            optimum = float(present(exact_optimum(problem).value))
            values = [interval(problem, f).upper for f in found.functions[k : k + 2]]
            assert min(values) - optimum <= found.between[k] + 1e-9
            assert reduced_excess(problem).excess[0] <= found.between[k] + 1e-9
    assert (found.between >= np.minimum(found.excess[:-1], found.excess[1:])).all()
    for own, excess, optimum in zip(found.relative, found.excess, found.optimum, strict=True):
        assert Fraction(own) >= Fraction(excess) / Fraction(optimum)
        assert own == pytest.approx(excess / optimum, rel=1e-15)


def test_reduced_graph_does_not_hurt_if_the_active_pairs_are_its_edges() -> None:
    """At f* a maximum is 1 above its level, and pairs with a multiplier are edges."""
    X = np.array([[0.0], [-3.0], [-2.0], [1.0], [4.0]])
    problem = ranking(X, [0, 0, 0, 1, 1], C=2.0)
    assert reduced_excess(problem, [1, 0, 0, 0, 0]).excess[0] <= 1e-12
    assert reduced_excess(problem, [0, 1, 0, 0, 0]).excess[0] > 1e-3
    best = least_reduced_excess(problem)
    assert (best.maximum.tolist(), best.reached) == ([0], np.inf)


def test_choice_of_the_maxima_decides_the_excess() -> None:
    """P section 4 leaves the maxima open: the first ones cost 2.5 optima, the best 1e-6."""
    problem = noisy(2, 30, [-0.7, 0.7])
    first, best = reduced_excess(problem), least_reduced_excess(problem)
    assert first.relative[0] > 2.5
    assert best.relative[0] < 1e-6
    assert best.reached > 1e6 * best.reduced_costs[0]
    assert not best.exhaustive
    f = solve(problem).decision_function(problem.X)
    highest = reduced_excess(problem, f)
    assert best.relative[0] < highest.relative[0] < 0.1


def test_weights_of_queries_are_those_of_their_edges() -> None:
    """Two copies of a query have the excess of one of weight 2."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (5, 2)).astype(float), [0, 0, 0, 1, 1]
    twice = ranking(np.vstack([X, X]), [*y, *y], [0] * 5 + [1] * 5, 0.5)
    double = ranking(X, y, C=0.5, query_weight={0: 2.0})
    assert reduced_excess(twice).excess == pytest.approx(reduced_excess(double).excess, abs=1e-8)


def test_a_time_limit_leaves_the_first_choice() -> None:
    found = least_reduced_excess(noisy(2, 20, [0.0]), seconds=1e-9)
    assert (found.tried, found.exhaustive) == (1, False)


def test_points_that_are_all_the_same_have_no_excess() -> None:
    found = least_reduced_excess(ranking(np.ones((3, 2)), [0, 1, 2]))
    assert found.excess[0] == pytest.approx(0.0, abs=1e-12)
    assert found.reduced_costs[0] == 0.0


def test_problems_without_a_reduced_graph_are_refused() -> None:
    X = np.eye(3)
    for problem, message in (
        (ranking_from_pairs(X, [[0, 1]]), "a ranking by relevances with hinge loss"),
        (ranking(X, [0, 1, 2], loss="squared_hinge"), "a ranking by relevances with hinge loss"),
        (ranking(X, [0, 1, 2], C=np.inf), "no hard rows"),
        (ranking(X, [1, 1, 1]), "there is no pair"),
    ):
        with pytest.raises(ValueError, match=message):
            reduced_excess(problem)
    for other in (one_norm_ranking(X, [0, 1, 2]), None):
        with pytest.raises(ValueError, match="a ranking by relevances with hinge loss"):
            reduced_excess(cast(Any, other))
    for costs in ([1.0, 0.0], [1.0, np.inf], "a", [None]):
        with pytest.raises(ValueError, match="every entry of costs must be a positive, finite"):
            reduced_excess(ranking(X, [0, 1, 2]), costs=cast(Any, costs))
    with pytest.raises(ValueError, match="at least one cost"):
        reduced_excess(ranking(X, [0, 1, 2]), costs=[])
    with pytest.raises(ValueError, match="maximum"):
        reduced_excess(ranking(X, [0, 1, 2]), [1.0, 2.0])
    with pytest.raises(ValueError, match="seconds"):
        least_reduced_excess(ranking(X, [0, 1, 2]), seconds=0.0)
