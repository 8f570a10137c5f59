"""Cutting planes for the 1-slack form: constraints, and optima of other solvers.

Constraints are compared with explicit pairs, optima also with Clarabel.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from equimargin.formulations.bounds.intervals import inner_interval, interval
from equimargin.formulations.declarations.formulation import declare
from equimargin.formulations.kernels.kernel import linear, polynomial, rbf, sigmoid
from equimargin.formulations.problem.choices import Bias
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows import labelled as labelled_pairs
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.loss import HINGE, SQUARED_HINGE
from equimargin.formulations.rows.pair_multipliers import MixedMultipliers
from equimargin.solvers import Status, solve, solve_declaration
from equimargin.solvers.dual import cutting_plane
from equimargin.solvers.dual.qp_on_simplex import maximum
from equimargin.testing import margin_problems, sample_problem
from narrow import as_a, present
from optima import noisy_levels, reached, same_optimum

checked = partial(reached, "cutting_plane")

KERNELS = [linear(), rbf(0.2), polynomial(2, 0.5, 1.0)]


def ranked(C: float = 1.0, kernel: Any = None, **options: Any) -> MarginProblem:
    """Return a ranking problem with the hinge."""
    return ranking(*noisy_levels(), C, kernel, **options)


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_ranking(kernel: Any, C: float) -> None:
    problem = ranked(C, kernel)
    same_optimum(checked(problem, 1e-8), solve(problem, "huber", tol=1e-8))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_huge_cost(kernel: Any) -> None:
    same_optimum(checked(ranked(1e6, kernel)), solve(ranked(1e6, kernel), "huber"))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_clarabel_agrees(kernel: Any) -> None:
    problem = sample_problem("rank.l1", kernel)
    solution = checked(problem, 1e-9)
    assert solution.value == pytest.approx(
        solve_declaration(declare("rank.oneslack", problem)).objective, rel=1e-6
    )
    assert solution.value == pytest.approx(
        solve_declaration(declare("rank.l1.primal", problem)).objective, rel=1e-6
    )


def test_rows_of_any_kind() -> None:
    """The form constrains the rows only to the hinge.

    A classification without a free bias has it, too.
    """
    X, y, _ = noisy_levels()
    biases: tuple[Bias, ...] = (False, "penalized")
    for bias in biases:
        problem = classification(X, np.where(y > 0, 1.0, -1.0), 1.0, bias=bias)
        same_optimum(checked(problem, 1e-8), solve(problem, "coordinate_descent", tol=1e-8))


def test_queries_weigh_and_pairs_are_listed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = noisy_levels()
    for options in ({"per_query": "mean"}, {"query_weight": {0: 0.0, 1: 3.0}}):
        problem = ranked(1.0, **options)
        same_optimum(checked(problem, 1e-8), solve(problem, "coordinate_descent", tol=1e-8))
    rows = as_a(LabelledPairs, ranked().rows)
    listed = checked(ranking_from_pairs(X, np.column_stack([rows.preferred, rows.other])), 1e-8)
    array = [checked(ranked(1.0, kernel), 1e-8) for kernel in KERNELS]
    same_optimum(listed, array[0])
    assert isinstance(array[0].dual, np.ndarray)
    monkeypatch.setattr(labelled_pairs, "MANY", 0)
    for kernel, one_by_one in zip(KERNELS, array, strict=True):
        many = checked(ranked(1.0, kernel), 1e-8)
        assert isinstance(many.dual, MixedMultipliers)
        asked = [many.dual.at(i, j) for i, j in zip(rows.preferred, rows.other, strict=True)]
        np.testing.assert_allclose(asked, many.dual.to_array(), rtol=1e-14)
        same_optimum(many, one_by_one)
        assert one_by_one.lower == pytest.approx(many.lower, rel=1e-9)


def test_ten_million_pairs_and_more() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    problem = ranking(X, X[:, 0] + rng.normal(size=6000), None, 1e-6)
    assert problem.p > 1.7e7
    checked(problem, 1e-6)


@given(st.integers(0, 10_000), st.booleans())
def test_the_sweeps_subset_is_the_listed_one(seed: int, ties: bool) -> None:
    """Counts, A'c and the explicit pairs agree exactly, on margins of exactly 1 too."""
    rng = np.random.default_rng(seed)
    f = rng.normal(size=20)
    if ties:
        f = np.round(2 * f) / 2
    rows = LabelledPairs(rng.integers(0, 4, 20).astype(float), rng.integers(0, 3, 20))
    costs = rng.choice([0.0, 0.5, 1.0, 3.0], rows.groups)
    slacks = rows.slacks(f, costs)
    subset = slacks.violated()
    here = subset.listed()
    listed = rows.listed()
    assert subset.pairs.sum() == here.sum()
    assert (subset.balance == listed.rdot(here.astype(float))).all()
    if ties:
        assert (here == (1.0 - listed.dot(f) > 0)).all()
    alpha = rows.mixed(np.array([0.25, 0.5]), [subset, rows.slacks(-f, costs).violated()], costs)
    assert (alpha.to_array() <= rows.spread(costs)).all()
    assert rows.multipliers(alpha).gain() == pytest.approx(alpha.to_array().sum())
    assert rows.rdot(alpha) == pytest.approx(listed.rdot(alpha.to_array()))
    assert alpha.ridge(costs) == pytest.approx(
        listed.multipliers(alpha.to_array()).ridge(rows.spread(costs))
    )
    # The hinge is the linear dual term of the subset minus its transposed product with f.
    whole = rows.mixed(np.ones(1), [subset], costs)
    assert slacks.hinge() == pytest.approx(whole.sum() - whole.pull() @ f)


def test_mixtures_are_feasible_and_their_bounds_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of mu that rounding has above 1 is brought below it.

    The sums in rationals are within the bounds.
    """
    monkeypatch.setattr(labelled_pairs, "MANY", 0)
    rng = np.random.default_rng(0)
    problem = ranked(0.1, per_query="mean")
    rows = as_a(LabelledPairs, problem.rows)
    subsets = [rows.slacks(rng.normal(size=60), problem.group_costs).violated() for _ in range(30)]
    mu = rng.uniform(size=30)
    for scale in (1.0, 1.5, 0.3):
        alpha = rows.mixed(scale * mu / mu.sum(), subsets, problem.group_costs)
        exact_mu = [Fraction(m) for m in alpha.mu.tolist()]
        assert sum(exact_mu) <= 1
        assert float(sum(exact_mu)) >= min(scale, 1.0) * (1 - 1e-14)
        cost = [Fraction(c) for c in rows.spread(problem.group_costs).tolist()]
        here = [subset.listed() for subset in subsets]
        exact = [
            cost[r] * sum((m for m, s in zip(exact_mu, here, strict=True) if s[r]), Fraction(0))
            for r in range(rows.p)
        ]
        assert all(a <= c for a, c in zip(exact, cost, strict=True))
        pulled = [Fraction(0)] * rows.m
        for i, j, a in zip(rows.preferred.tolist(), rows.other.tolist(), exact, strict=True):
            pulled[i], pulled[j] = pulled[i] + a, pulled[j] - a
        error = sum(
            abs(Fraction(v) - e) for v, e in zip(alpha.pull().tolist(), pulled, strict=True)
        )
        assert error <= alpha.pull_error() <= 1e-12 * float(sum(exact))
        costs = problem.group_costs_within
        assert (
            alpha.proven(HINGE, costs, 1.0)[0] <= sum(exact) <= alpha.proven(HINGE, costs, -1.0)[0]
        )
        squares = sum((a * a / (4 * c) for a, c in zip(exact, cost, strict=True) if c), Fraction(0))
        assert (
            alpha.proven(SQUARED_HINGE, costs, 1.0)[0]
            <= sum(exact) - squares
            <= alpha.proven(SQUARED_HINGE, costs, -1.0)[0]
        )
        outer, inner = (
            interval(problem, Point(alpha=alpha)),
            inner_interval(problem, Point(alpha=alpha)),
        )
        assert outer.lower < inner.lower <= outer.lower + 1e-9 * outer.size
    dearer = problem.with_cost(0.2)
    assert dearer.repaired(alpha).sum() == pytest.approx(2 * alpha.sum())
    # These are below C x weight exactly, which `group_costs` has rounded.
    within = problem.repaired(alpha)
    assert within.sum() == pytest.approx(alpha.sum(), rel=1e-14)
    weights = present(problem.weights).tolist()
    assert all(
        Fraction(v) <= Fraction(0.1) * Fraction(w)
        for v, w in zip(within.all_costs.tolist(), weights, strict=True)
    )
    assert problem.repaired(within) is within


@pytest.mark.parametrize("kernel", [linear(), rbf(0.2)], ids=lambda kernel: kernel.name)
def test_the_bounds_close_in_along_the_trajectory(kernel: Any) -> None:
    """Each round records its bounds, which close in from both sides.

    Idle constraints are excluded, and at most one more than the features is active.
    """
    solution = checked(ranked(10.0, kernel), 1e-8)
    rounds = solution.trajectory
    assert [r.iteration for r in rounds] == list(range(present(solution.iterations) + 1))
    assert all(b.lower >= a.lower * (1 - 1e-12) and b.upper <= a.upper for a, b in pairwise(rounds))
    assert all(r.active <= r.constraints <= r.iteration for r in rounds)
    assert rounds[-1].gap <= 1e-8
    if solution.w is not None:
        assert all(r.active <= len(solution.w) + 1 for r in rounds[-5:])
    if present(solution.iterations) > 3 * cutting_plane.ROUNDS_BEFORE_DROP:
        assert rounds[-1].constraints < solution.iterations


def test_idle_constraints_change_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = checked(ranked(10.0), 1e-8)
    monkeypatch.setattr(cutting_plane, "ROUNDS_BEFORE_DROP", 5)
    dropped = checked(ranked(10.0), 1e-8)
    same_optimum(kept, dropped)
    assert max(r.constraints for r in dropped.trajectory) < max(
        r.constraints for r in kept.trajectory
    )


def test_nasty_data() -> None:
    X, y, qid = noisy_levels()
    # There are no pairs.
    assert checked(ranking(X, np.ones(60), qid)).value == 0.0
    assert checked(ranked(1.0, query_weight={0: 0.0, 1: 0.0, 2: 0.0})).value == 0.0
    assert checked(ranking(np.zeros((3, 2)), [1.0, 1.0, 2.0])).value == pytest.approx(2.0)
    # Equal points have different levels.
    both = ranking(np.vstack([X, X]), np.concatenate([y, -y]))
    same_optimum(checked(both, 1e-8), solve(both, "huber", tol=1e-8))
    grid = ranking(np.round(X), y, qid)
    same_optimum(checked(grid, 1e-8), solve(grid, "huber", tol=1e-8))
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    same_optimum(
        checked(ranking(sparse.csr_array(thin), y, qid), 1e-8), checked(ranking(thin, y, qid), 1e-8)
    )


@pytest.mark.parametrize("kernel", [linear(), rbf(0.2)], ids=lambda kernel: kernel.name)
def test_warm_start(kernel: Any) -> None:
    problem = ranked(1.0, kernel)
    solution = checked(problem, 1e-9)
    for start in (solution.point, Point(alpha=solution.dual), Point(beta=solution.beta)):
        warm = checked(problem, 1e-6, warm_start=start)
        assert warm.trajectory[0].upper <= solution.value * (1 + 1e-6)
    same_optimum(
        checked(problem.with_cost(0.1), 1e-8, warm_start=solution),
        checked(problem.with_cost(0.1), 1e-8),
    )
    with pytest.raises(
        ValueError,
        match=r"the point's alpha must be a multiplier for each row, .* is of shape \(3,\)",
    ):
        solve(problem, "cutting_plane", warm_start=Point(alpha=np.zeros(3)))


def test_limits_return_the_best_point_and_a_reason() -> None:
    problem = ranked(100.0)
    one = solve(problem, "cutting_plane", max_iter=1)
    assert (one.status, one.iterations, len(one.trajectory)) == (Status.ITERATION_LIMIT, 1, 2)
    assert "limit of 1 iteration:" in one.reason
    assert np.isfinite([one.lower, one.upper]).all()
    assert solve(problem, "cutting_plane", time_limit=1e-6).status is Status.TIME_LIMIT
    assert "callback" in solve(problem, "cutting_plane", callback=lambda *_: True).reason
    unreachable = solve(ranked(), "cutting_plane", tol=1e-18)
    assert unreachable.status in (Status.NUMERICAL_FAILURE, Status.OPTIMAL)
    assert unreachable.interval.relative_width < 1e-9


def test_refusals() -> None:
    X, y, qid = noisy_levels()
    assert "square" in str(
        cutting_plane.REQUIREMENTS.refusal(ranking(X, y, qid, loss="squared_hinge"))
    )
    assert "linear program" in str(cutting_plane.REQUIREMENTS.refusal(one_norm_ranking(X, y, qid)))
    assert "hard rows" in str(cutting_plane.REQUIREMENTS.refusal(ranked(np.inf)))
    assert "a bias, which is free" in str(
        cutting_plane.REQUIREMENTS.refusal(classification(X, np.where(y > 0, 1.0, -1.0)))
    )
    assert "semidefinite" in str(cutting_plane.REQUIREMENTS.refusal(ranked(1.0, sigmoid())))
    assert solve(ranked()).solver == "coordinate_descent"


@given(margin_problems("rank.l1", max_points=9, tails=False))
def test_any_small_problem(problem: MarginProblem) -> None:
    """The optimum is reached on degenerate data of moderate scale, with every kernel."""
    if cutting_plane.REQUIREMENTS.refusal(problem) is None:
        same_optimum(checked(problem, 1e-8), solve(problem, "coordinate_descent", tol=1e-8))


@given(
    st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 3), st.sampled_from([1e-6, 1.0, 1e6])
)
def test_quadratic_programs_over_the_simplex(seed: int, k: int, rank: int, scale: float) -> None:
    """No feasible point on a grid is better, and the gradient proves it.

    Singular and zero matrices are included.
    """
    rng = np.random.default_rng(seed)
    P = np.round(rng.normal(size=(k, rank)), 1) * scale
    G, b = P @ P.T, rng.normal(size=k) * scale**2 * rng.choice([1.0, 0.0, 100.0])
    start = rng.multinomial(3, np.ones(k) / k) / 3
    x = maximum(G, b, start, 0.0, lambda: False)
    value = b @ x - x @ G @ x / 2
    size = float(np.abs(G).max() + np.abs(b).max()) + 1e-300
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1.0, abs=1e-14)
    g = b - G @ x
    assert float(g.max() - g @ x) <= 1e-9 * size
    for corner in product(range(4), repeat=k):
        if sum(corner) == 3:
            y = np.array(corner) / 3
            assert b @ y - y @ G @ y / 2 <= value + 1e-9 * size


def test_a_constraint_that_is_kept_already_is_no_progress() -> None:
    """The most violated constraint is found repeatedly.

    C K leaves float64 no digits here.
    """
    x = [
        1.0246379171401465,
        0.9605127104502799,
        -0.9420600262841961,
        0.5112972199543138,
        0.058,
        0.2887,
        0.1619,
    ]
    pairs = [[2, 0], [3, 5], [6, 2], [5, 6], [6, 0], [0, 4], [3, 2], [0, 2]]
    solution = solve(
        ranking_from_pairs(1e85 * np.array(x)[:, None], pairs, C=5.77),
        "cutting_plane",
        tol=1e-16,
        time_limit=20,
    )
    assert present(solution.iterations) < 1000
    assert solution.lower <= solution.upper
