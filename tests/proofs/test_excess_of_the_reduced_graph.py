"""Proven excess of the reduced graph, against rational paths and all choices of maxima."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import (
    MarginProblem,
    interval,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.point import Point
from equimargin.proofs import least_reduced_excess, reduced_excess
from equimargin.solvers import exact_optimum, solve
from narrow import present
from oracles.reduced_graph import excess_by_choice

PROVEN = 1e-7
"""Maximum distance of a proven excess from the exact one, relative to the optimum or 1."""


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


@pytest.mark.parametrize(
    "seeds",
    [range(20), *(pytest.param(range(k, k + 45), marks=pytest.mark.slow) for k in (20, 65))],
)
def test_best_choice_is_that_of_all_choices_in_rationals(seeds: range) -> None:
    for seed in seeds:
        X, y, qid, C = drawn(seed)
        problem = ranking(X, y, qid, float(C))
        if not problem.p:
            continue
        exact, found = excess_by_choice(X, y, qid, C), least_reduced_excess(problem)
        own, least = exact[tuple(found.maximum.tolist())], min(exact.values())
        assert found.exhaustive
        assert found.tried == len(exact)
        assert own <= Fraction(found.excess[0])
        assert found.excess[0] <= float(least) + PROVEN * max(found.optimum[0], 1.0), seed


@pytest.mark.slow
def test_each_choice_has_its_exact_excess() -> None:
    for seed in range(300, 330):
        X, y, qid, C = drawn(seed)
        problem = ranking(X, y, qid, float(C))
        for choice, exact in excess_by_choice(X, y, qid, C).items() if problem.p else ():
            found = reduced_excess(problem, np.isin(np.arange(len(y)), choice))
            assert tuple(found.maximum.tolist()) == choice
            assert exact <= Fraction(found.excess[0])
            assert found.excess[0] <= float(exact) + PROVEN * max(found.optimum[0], 1.0)


def test_excess_is_that_of_the_reduced_optimum_at_its_cost() -> None:
    """The point is the optimum of the reduced pairs, by another solver."""
    for kernel in (None, rbf(0.5)):
        problem = noisy(2, 20, [-0.7, 0.7], kernel=kernel)
        found = reduced_excess(problem)
        edges = reduced_preferences(problem.rows.y)
        at = ranking_from_pairs(problem.X, edges, float(found.reduced_costs[0]), kernel)
        other = solve(at, tol=1e-12)
        f = problem.gram.dense @ found.betas[0]
        assert other.decision_function(problem.X) == pytest.approx(f, abs=1e-4)
        value = interval(problem, Point(beta=found.betas[0])).upper
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
            values = [interval(problem, Point(beta=beta)).upper for beta in found.betas[k : k + 2]]
            assert min(values) - optimum <= found.between[k] + 1e-9
            assert reduced_excess(problem).excess[0] <= found.between[k] + 1e-9
    assert (found.between >= np.minimum(found.excess[:-1], found.excess[1:])).all()
    assert found.relative.tolist() == (found.excess / found.optimum).tolist()


def test_reduced_graph_does_not_hurt_if_the_active_pairs_are_its_edges() -> None:
    """At f* a maximum is 1 above its level, and pairs with a multiplier are edges."""
    X = np.array([[0.0], [-3.0], [-2.0], [1.0], [4.0]])
    problem = ranking(X, [0, 0, 0, 1, 1], C=2.0)
    assert reduced_excess(problem, [1, 0, 0, 0, 0]).excess[0] <= 1e-12
    assert reduced_excess(problem, [0, 1, 0, 0, 0]).excess[0] > 1e-3
    assert least_reduced_excess(problem).maximum.tolist() == [0]


def test_choice_of_the_maxima_decides_the_excess() -> None:
    """P section 4 leaves the maxima open: the first ones cost 2.5 optima, the best 1e-6."""
    problem = noisy(2, 30, [-0.7, 0.7])
    first, best = reduced_excess(problem), least_reduced_excess(problem)
    assert first.relative[0] > 2.5
    assert best.relative[0] < 1e-6
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
    with pytest.raises(ValueError, match="costs"):
        reduced_excess(ranking(X, [0, 1, 2]), costs=[1.0, 0.0])
    with pytest.raises(ValueError, match="at least one cost"):
        reduced_excess(ranking(X, [0, 1, 2]), costs=[])
    with pytest.raises(ValueError, match="maximum"):
        reduced_excess(ranking(X, [0, 1, 2]), [1.0, 2.0])
    with pytest.raises(ValueError, match="seconds"):
        least_reduced_excess(ranking(X, [0, 1, 2]), seconds=0.0)
