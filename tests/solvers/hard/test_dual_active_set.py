"""Hard margins without a bias: optima against exact ones, and rays.

Rays are checked by separate arithmetic; some problems have too many pairs to list.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from equimargin.formulations import (
    MarginProblem,
    classification,
    linear,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    rbf,
)
from equimargin.formulations.kernels.kernel import Intercept
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.pair_multipliers import FewMultipliers
from equimargin.solvers import Solution, Status, exact_optimum, solve
from equimargin.solvers.exact_limits import refusal
from equimargin.solvers.hard import pricing, spaces
from equimargin.solvers.hard.dual_active_set import REQUIREMENTS
from equimargin.solvers.hard.exact_ray import exact_ray
from equimargin.solvers.hard.pricing import hard_rows
from equimargin.solvers.registry import SOLVERS
from equimargin.testing import margin_problems
from narrow import as_a, present

Draws = np.random.Generator


def degenerate(rng: Draws) -> MarginProblem | None:
    """Sample a small degenerate problem; return None if it has no row.

    It has equal points, tied labels, several queries, contradictions or margins near 0.
    """
    n, d = int(rng.integers(2, 16)), int(rng.integers(1, 6))
    X = rng.integers(-3, 4, (n, d)).astype(float) if rng.random() < 0.6 else rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    score, kind = X @ rng.normal(size=d), int(rng.integers(0, 4))
    kernel: Any = [
        linear(),
        linear(),
        rbf(0.5),
        polynomial(2, 1.0, 1.0),
        precomputed(),
        Intercept(linear()),
    ][int(rng.integers(0, 6))]
    features = X @ X.T if kernel.given else X
    task = int(rng.integers(0, 3))
    if task == 0:
        y = [
            np.round(score, 1),
            rng.integers(0, 3, n),
            np.round(score + 1e-3 * rng.normal(size=n)),
            np.round(score),
        ][kind]
        return ranking(
            features, y, rng.integers(0, 3, n) if rng.random() < 0.3 else None, np.inf, kernel
        )
    if task == 1:
        y = np.where(
            score + (0.5 if kind == 1 else 0.0) * rng.normal(size=n) > (0.3 if kind == 0 else 0.0),
            1.0,
            -1.0,
        )
        return classification(features, y, np.inf, kernel, bias=False)
    pairs = rng.integers(0, n, (int(rng.integers(1, 3 * n)), 2))
    if kind != 1:
        pairs = np.where((score[pairs[:, 0]] > score[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return ranking_from_pairs(features, pairs, np.inf, kernel) if len(pairs) else None


def cancels(problem: MarginProblem, found: Solution) -> bool:
    """Return True if the ray's weights are positive and sum to 0 in the kernel's space.

    They belong to rows of the problem; the sum is in Fractions, or point by point.
    """
    ray = present(found.ray)
    beta: dict[int, int] = {}
    for row, weight in zip(ray.rows, ray.weights, strict=True):
        signs = (1, -1) if len(row) == 2 else (int(problem.rows.y[row[0]]),)
        if len(row) == 2 and problem.rows.y is not None:
            higher, lower = row
            assert problem.rows.y[higher] > problem.rows.y[lower]
            query = as_a(LabelledPairs, problem.rows).query
            assert query[higher] == query[lower]
        assert weight > 0
        for point, sign in zip(row, signs, strict=True):
            beta[point] = beta.get(point, 0) + sign * weight
    if problem.kernel.name == "rbf":
        at: dict[tuple[float, ...], int] = {}
        for point, value in beta.items():
            place = tuple((problem.X[point] + 0.0).tolist())
            at[place] = at.get(place, 0) + value
        return not any(at.values())
    return all(
        sum(value * entry(problem, point, other) for point, value in beta.items()) == 0
        for other in beta
    )


def entry(problem: MarginProblem, i: int, j: int) -> Fraction:
    """Return K_ij in rationals."""
    if problem.kernel.given:
        return Fraction(float(problem.X[i, j])) + (Fraction(problem.gram.shift) if i == j else 0)
    product = sum(
        (
            Fraction(float(a)) * Fraction(float(b))
            for a, b in zip(problem.X[i], problem.X[j], strict=True)
        ),
        Fraction(0),
    )
    if problem.kernel.name == "polynomial":
        return (product + 1) ** 2
    return product + 1 if problem.kernel.name == "intercept" else product


@pytest.mark.parametrize("seed", range(60))
def test_degenerate_problems_have_exact_optima_or_exact_rays(seed: int) -> None:
    """Reported optima have the requested accuracy, and infeasible problems a ray.

    Only optima above 1e11 may be unknown.
    """
    problem = degenerate(np.random.default_rng(seed))
    if problem is None or refusal(problem) is not None or not problem.p:
        return
    exact = exact_optimum(problem)
    found = solve(problem, "dual_active_set")
    if found.status is Status.NUMERICAL_FAILURE:
        assert exact.value is not None
        assert exact.value > 1e11
        return
    assert found.status is exact.status
    if found.status is Status.INFEASIBLE:
        assert cancels(problem, found)
        assert found.lower > 1e9
        return
    assert found.lower <= float(present(exact.value)) * (1 + 1e-15)
    assert float(present(exact.value)) * (1 - 1e-15) <= found.upper
    assert found.interval.relative_width < 2e-6


@pytest.mark.parametrize("seed", range(30))
def test_an_rbf_kernel_meets_every_order_without_a_circle(seed: int) -> None:
    """Queries on nine places, some of them shared.

    Infeasible if and only if preferences, followed from place to place, lead back.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X, y, qid = (
        rng.integers(0, 3, (n, 2)).astype(float),
        rng.integers(0, 3, n),
        rng.integers(0, 3, n),
    )
    problem = ranking(X, y, qid, np.inf, rbf(1.0))
    places = [tuple(x) for x in X.tolist()]
    better = {
        (places[i], places[j])
        for i in range(n)
        for j in range(n)
        if y[i] > y[j] and qid[i] == qid[j]
    }
    reached = set(better)
    while more := {(a, d) for a, b in reached for c, d in better if b == c} - reached:
        reached |= more
    found = solve(problem, "dual_active_set")
    circle = any(a == b for a, b in reached)
    assert found.status is (Status.INFEASIBLE if circle else Status.OPTIMAL)
    if circle:
        assert cancels(problem, found)
        assert found.lower > 1e50
    else:
        assert found.interval.relative_width < 2e-6


@given(margin_problems("rank.hard", max_points=8))
def test_what_it_says_of_any_ranking_is_proved(problem: MarginProblem) -> None:
    if REQUIREMENTS.refusal(problem) is not None:
        return
    found = solve(problem, "dual_active_set", time_limit=20)
    assert found.reason
    if found.ok:
        assert found.interval.relative_width < 1e-3
    if found.status is Status.INFEASIBLE:
        assert found.upper == np.inf


def test_more_pairs_than_anybody_lists() -> None:
    """4e8 pairs of levels have an optimum of a proven width.

    As many with noise are unsatisfiable, with a ray of all features and one.
    """
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30_000, 6)), rng.normal(size=6)
    found = solve(ranking(X, np.round(X @ w), None, np.inf), "dual_active_set")
    assert found.ok
    assert found.interval.relative_width < 2e-6
    assert present(found.w) @ w > 0
    noisy = ranking(X, np.round(X @ w + 0.3 * rng.normal(size=30_000)), None, np.inf)
    found = solve(noisy, "dual_active_set")
    assert found.status is Status.INFEASIBLE
    assert 2 <= len(present(found.ray)) <= 7
    assert cancels(noisy, found)
    assert found.lower > 1e12


@pytest.mark.parametrize("kernel", [rbf(1.0), rbf(0.1)], ids=str)
def test_a_total_order_by_its_neighbours(kernel: Any) -> None:
    """Block pivots on the chain of neighbours: the first round of all pairs adds nothing."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    found = solve(
        ranking(X, np.sin(X @ rng.normal(size=5)), None, np.inf, kernel), "dual_active_set"
    )
    assert found.ok
    assert len(found.trajectory) == 1
    assert found.interval.relative_width < 2e-6


def test_features_and_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    problem = ranking(X, np.round(2 * X @ rng.normal(size=4)), rng.integers(0, 2, 60), np.inf)
    by_features = solve(problem, "dual_active_set")
    monkeypatch.setattr(spaces, "MOST_FEATURES", 3)
    by_kernel = solve(problem, "dual_active_set")
    assert by_features.ok
    assert by_kernel.ok
    assert by_features.value == pytest.approx(by_kernel.value, rel=1e-6)


def test_a_start_and_a_query_that_costs_nothing() -> None:
    """A query of weight 0 contradicts the other one.

    A start of the solution's own multipliers needs no further row.
    """
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y, qid = X[:, 0].copy(), np.repeat([0, 1], 20)
    y[20:] = -y[20:]
    problem = ranking(X, y, qid, np.inf, query_weight={1: 0.0})
    found = solve(problem, "dual_active_set")
    assert found.ok
    again = solve(problem, "dual_active_set", warm_start=found)
    assert again.iterations == 0
    assert again.value == pytest.approx(found.value, rel=1e-9)
    assert solve(ranking(X, y, qid, np.inf), "dual_active_set").status is Status.INFEASIBLE


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_an_equal_pair_of_points_is_a_ray_of_rbf(kind: Any) -> None:
    """Sparse points were not checked, and the run ended as a numerical failure."""
    X = kind([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    found = solve(classification(X, [1, -1, -1], np.inf, rbf(1.0), bias=False), "dual_active_set")
    assert found.status is Status.INFEASIBLE
    assert present(found.ray).rows == ((0,), (2,))


def test_a_circle_of_many_points_is_followed_edge_by_edge() -> None:
    """The last of 20,000 points is equal to the first.

    The ray is a circle of all points, or any shorter one that is there.
    """
    m = 20_000
    X = np.arange(float(m))[:, None]
    X[-1] = X[0]
    chain = ranking_from_pairs(
        X, np.column_stack([np.arange(1, m), np.arange(m - 1)]), np.inf, rbf(1.0)
    )
    found = solve(chain, "dual_active_set")
    assert found.status is Status.INFEASIBLE
    ray = present(found.ray)
    assert sorted(ray.rows) == [(k + 1, k) for k in range(m - 1)]
    assert f"these {m - 1} hard rows together" in found.reason


def test_one_pair_of_equal_points_is_said_to_be_one() -> None:
    found = solve(ranking(np.ones((2, 1)), [0, 1], C=np.inf, kernel=rbf(1.0)), "dual_active_set")
    assert present(found.ray).rows == ((1, 0),)
    assert found.reason.startswith("no function satisfies this hard row: ")


def test_multipliers_of_more_pairs_than_are_kept_answer_for_each() -> None:
    X = np.random.default_rng(0).normal(size=(1500, 5))
    y = np.argsort(np.argsort(X @ np.ones(5)))
    found = solve(ranking(X, y, C=np.inf))
    alpha = as_a(FewMultipliers, found.dual)
    assert alpha.at(int(alpha.few.preferred[0]), int(alpha.few.other[0])) == alpha.alpha[0]
    assert alpha.at(int(np.argmax(y)), int(np.argmin(y))) == 0.0
    with pytest.raises(ValueError, match="is not preferred to"):
        alpha.at(int(np.argmin(y)), int(np.argmax(y)))


def test_no_pair_at_all() -> None:
    found = solve(ranking(np.eye(3), np.zeros(3), None, np.inf), "dual_active_set")
    assert (found.status, found.lower, found.upper) == (Status.OPTIMAL, 0.0, 0.0)


def test_a_step_that_overflows_is_a_numerical_failure() -> None:
    K = np.full((2, 2), 1e-320)
    problem = classification(K, [1, 1], C=np.inf, kernel=precomputed(), bias=False)
    assert solve(problem, "dual_active_set").status is Status.NUMERICAL_FAILURE
    assert exact_optimum(problem).status is Status.OPTIMAL


def test_limits_end_a_run() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 20))
    problem = ranking(X, X @ rng.normal(size=20), None, np.inf)
    assert solve(problem, "dual_active_set", max_iter=1).status is Status.ITERATION_LIMIT
    assert solve(problem, "dual_active_set", time_limit=1e-9).status is Status.TIME_LIMIT
    assert solve(problem, "dual_active_set", callback=lambda *_: True).status is Status.CALLBACK


def test_what_it_does_not_take() -> None:
    X, y = np.eye(2), [1, -1]
    refusals = {
        "there is a bias": classification(X, y, np.inf),
        "some rows are soft": classification(X, y, 1.0, bias=False, sample_weight=[np.inf, 1.0]),
    }
    for said, problem in refusals.items():
        assert said in str(SOLVERS["dual_active_set"].refusal(problem))


def test_the_worst_pairs_are_among_those_found() -> None:
    """Several queries and levels are compared with all pairs.

    A sweep that finds more pairs than it holds keeps the worst.
    """
    rng = np.random.default_rng(5)
    for _ in range(40):
        n = int(rng.integers(2, 30))
        y, qid, f = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(-4, 5, n) / 2
        problem = ranking(np.eye(n), y, qid, np.inf)
        rows = pricing.hard_rows(problem)
        listed = as_a(LabelledPairs, problem.rows)
        margins = f[listed.preferred] - f[listed.other]
        assert rows.least_margin(f) == margins.min(initial=np.inf)
        keys = rows.violated(f, 1.0, 5)
        taken = rows.take(keys)
        found = f[taken.first] - f[present(taken.second)]
        assert (found < 1.0).all()
        assert len(keys) == len(set(keys.tolist())) <= 10
        if (margins < 1.0).any():
            assert found.min() == margins.min()


@pytest.mark.parametrize("m", [100, 150])
def test_a_ray_is_one_of_the_matrix_with_its_proven_shift(m: int) -> None:
    """A larger matrix is proven late: its shift, too, makes two equal points differ."""
    X = np.random.default_rng(0).normal(size=(m, 2))
    X[1] = X[0]
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    problem = classification(X @ X.T, y, C=np.inf, kernel=precomputed(), bias=False)
    assert problem.proven.gram.shift > 0
    assert exact_ray(problem, hard_rows(problem).take(np.arange(2)), np.ones(2)) is None
