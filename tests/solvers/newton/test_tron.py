"""Trust-region Newton method: steps and radii by the paper's rules, and optima.

Optima are compared with the other solvers and Clarabel.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from equimargin.formulations.declarations.formulation import declare
from equimargin.formulations.kernels.kernel import linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows import labelled as labelled_pairs
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import SOLVERS, Status, registry, solve, solve_declaration
from equimargin.solvers.newton import tron
from equimargin.solvers.progress import STALE_CHECKS
from equimargin.testing import margin_problems, sample_problem
from narrow import as_a, present
from optima import CANCER, LABELS, SCALED, noisy_levels, reached, same_optimum

checked = partial(reached, "tron")

KERNELS = [linear(), rbf(0.2), polynomial(2, 0.5, 1.0)]


def signed(X: Any, y: Any, C: float = 1.0, bias: Any = False, **options: Any) -> MarginProblem:
    """Return a classification with the squared hinge and no free bias."""
    return classification(X, y, C, loss="squared_hinge", bias=bias, **options)


def ranked(C: float = 1.0, kernel: Any = None, **options: Any) -> MarginProblem:
    """Return a ranking problem with the squared hinge."""
    return ranking(*noisy_levels(), C, kernel, "squared_hinge", **options)


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("bias", [False, "penalized"])
def test_classification(bias: Any, C: float) -> None:
    problem = signed(SCALED, LABELS, C, bias)
    same_optimum(checked(problem, 1e-9), solve(problem, "newton", tol=1e-9))


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_ranking(kernel: Any, C: float) -> None:
    problem = ranked(C, kernel)
    same_optimum(checked(problem, 1e-8), solve(problem, "coordinate_descent", tol=1e-8))
    same_optimum(checked(problem, 1e-8), solve(problem, "newton", tol=1e-8))


@pytest.mark.parametrize("C", [100.0, 1e6])
def test_large_costs_of_a_linear_ranking(C: float) -> None:
    same_optimum(checked(ranked(C), 1e-8), solve(ranked(C), "newton", tol=1e-8))


@pytest.mark.parametrize("kernel", [linear(), rbf(0.4)], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(
    ("family", "form"), [("rank.l2", "rank.l2.primal"), ("svm.nobias_l2", "svm.nobias_l2.dual")]
)
def test_clarabel_agrees(family: str, form: str, kernel: Any) -> None:
    problem = sample_problem(family, kernel)
    solution = checked(problem, 1e-9)
    assert solution.value == pytest.approx(
        solve_declaration(declare(form, problem)).objective, rel=1e-6
    )


def test_every_rule_of_the_radius() -> None:
    """The rules are Lin, Weng and Keerthi's three intervals, and an interpolation.

    The interpolation chooses within them; good steps to the boundary have a rule, too.
    """
    # After a bad step, a is below sigma_1.
    assert tron.resized(1.0, 1.0, -1.0, -3.0, 0.5, True) == 0.25
    # Here a = 1 / (2 (0.1 + 1)).
    assert tron.resized(1.0, 0.9, -1.0, -0.1, 0.5, False) == pytest.approx(0.9 / 2.2)
    # The interval ends at sigma_2 Delta.
    assert tron.resized(1.0, 2.0, -1.0, -0.1, 0.5, False) == 0.5
    # With rho = 0.2, a = 1 / 1.8 is truncated at sigma_2 Delta.
    assert tron.resized(1.0, 1.0, -1.0, 0.1, 0.5, True) == 0.5
    # Truncation from below is at sigma_1 Delta.
    assert tron.resized(1.0, 0.1, -1.0, 0.1, 0.5, False) == 0.25
    # Here rho = 0.5.
    assert tron.resized(1.0, 1.0, -1.0, 0.25, 0.5, True) == pytest.approx(2 / 3)
    assert tron.resized(1.0, 0.1, -1.0, 0.25, 0.5, False) == 0.25
    # With rho = 1 the region never shrinks.
    assert tron.resized(1.0, 0.1, -1.0, 0.5, 0.5, False) == 1.0
    # It grows to the maximum after a step to the boundary.
    assert tron.resized(1.0, 1.0, -1.0, 0.5, 0.5, True) == 4.0
    # Without a minimum on the line, sigma_3 applies.
    assert tron.resized(1.0, 1.0, -1.0, 1.1, 0.5, False) == 4.0


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), st.floats(0.01, 1.0))
def test_the_boundary_is_met(numbers: list[float], share: float) -> None:
    s, d, radius = np.array(numbers[:2]), np.array(numbers[2:]) + 2.0, 2.0
    s *= share
    tau = tron.to_the_boundary(s, d, radius)
    assert tau >= 0
    assert np.linalg.norm(s + tau * d) == pytest.approx(radius, rel=1e-9)


@pytest.mark.parametrize(
    "problem",
    [ranked(), ranked(1.0, rbf(0.5)), signed(SCALED, LABELS, 1.0, "penalized")],
    ids=["w", "beta", "signed"],
)
def test_what_the_method_sees(problem: MarginProblem) -> None:
    """fun, grad and hess_vec agree with the published objective and its differences.

    The gap is half the squared norm of v - A'alpha.
    """
    rng = np.random.default_rng(1)
    n = problem.m if problem.explicit is None else problem.explicit.q
    v, s = 0.1 * rng.normal(size=n), rng.normal(size=n)
    at, step = (
        tron.objective(problem, Point(beta=v) if problem.explicit is None else Point(w=v)),
        1e-6,
    )
    K = problem.gram.dense if problem.explicit is None else problem.explicit.stored
    M = K if problem.explicit is None else np.eye(n)
    u = problem.rows.t - problem.rows.dot(K @ v)
    assert at.fun == pytest.approx(v @ M @ v / 2 + problem.C * (np.maximum(u, 0) ** 2).sum())
    ahead, behind = at.moved(step * s), at.moved(-step * s)
    assert at.grad @ s == pytest.approx((ahead.fun - behind.fun) / (2 * step), rel=1e-6)
    assert at.hess_vec(s) == pytest.approx(
        (ahead.grad - behind.grad) / (2 * step), rel=1e-4, abs=1e-4 * np.abs(at.hess_vec(s)).max()
    )
    delta = v - at.pull
    assert at.fun - at.dual == pytest.approx(delta @ M @ delta / 2)


def test_a_truncated_step_is_a_newton_step_within_its_residual() -> None:
    at = tron.objective(ranked(), None)
    s, r, products, bounded = tron.truncated_step(at, np.inf, lambda: False)
    assert not bounded
    assert r == pytest.approx(-at.grad - at.hess_vec(s), abs=1e-8 * float(np.linalg.norm(at.grad)))
    assert np.linalg.norm(r) <= 0.1 * np.linalg.norm(at.grad)
    short, r, fewer, bounded = tron.truncated_step(at, float(np.linalg.norm(s)) / 2, lambda: False)
    assert bounded
    assert np.linalg.norm(short) == pytest.approx(np.linalg.norm(s) / 2)
    assert r == pytest.approx(
        -at.grad - at.hess_vec(short), abs=1e-8 * float(np.linalg.norm(at.grad))
    )
    assert 1 <= fewer <= products
    still, _, none, _ = tron.truncated_step(at, 1.0, lambda: True)
    assert (none, np.abs(still).max()) == (0, 0.0)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.2)], ids=lambda kernel: kernel.name)
def test_the_function_never_rises_along_the_trajectory(kernel: Any) -> None:
    """There is one record per iteration; f never rises, and the last one ends the run."""
    solution = checked(ranked(10.0, kernel), 1e-8)
    steps = solution.trajectory
    assert [step.iteration for step in steps] == list(range(present(solution.iterations) + 1))
    values, products = [step.value for step in steps], [step.products for step in steps]
    assert values[0] == pytest.approx(solution.problem.scale)
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert all(after > before for before, after in pairwise(products))
    assert min(step.gap for step in steps) <= 1e-8
    assert all(step.radius > 0 for step in steps)


def test_a_step_is_taken_only_where_the_function_falls() -> None:
    """K (4.19) and after it: f falls, or the point stays.

    Then the next step is sought in a smaller region.
    """
    steps = solve(ranked(100.0, rbf(0.2)), "tron", max_iter=20).trajectory
    stayed = [(before, after) for before, after in pairwise(steps) if after.value == before.value]
    assert all(after.value <= before.value for before, after in pairwise(steps))
    assert 0 < len(stayed) < len(steps) / 2
    assert all(after.radius < before.radius for before, after in stayed)


def test_queries_weigh_and_pairs_are_listed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = noisy_levels()
    for options in ({"per_query": "mean"}, {"query_weight": {0: 0.0, 1: 3.0}}):
        problem = ranked(1.0, **options)
        same_optimum(checked(problem, 1e-9), solve(problem, "coordinate_descent", tol=1e-9))
    rows = as_a(Pairs, ranked().rows)
    listed = ranking_from_pairs(
        X, np.column_stack([rows.preferred, rows.other]), 1.0, loss="squared_hinge"
    )
    same_optimum(checked(listed, 1e-9), checked(ranked(), 1e-9))
    array = checked(ranked(), 1e-9)
    assert isinstance(array.dual, np.ndarray)
    listing = [checked(ranked(1.0, kernel), 1e-8) for kernel in KERNELS]
    monkeypatch.setattr(labelled_pairs, "MANY", 0)
    for kernel, one_by_one in zip(KERNELS, listing, strict=True):
        same_optimum(checked(ranked(1.0, kernel), 1e-8), one_by_one)
    many = checked(ranked(), 1e-9)
    assert not isinstance(many.dual, np.ndarray)
    same_optimum(many, array)
    assert checked(ranked(), 1e-9, warm_start=many).iterations == 0


def test_ten_million_pairs_and_more() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    problem = ranking(X, X[:, 0] + rng.normal(size=6000), None, 1e-6, loss="squared_hinge")
    assert problem.p > 1.7e7
    assert checked(problem, 1e-8).dual.sum() > 0  # type: ignore[union-attr]


def test_sparse_features_and_a_given_gram_matrix() -> None:
    thin = np.where(np.abs(SCALED) > 0.7, SCALED, 0.0)
    same_optimum(
        checked(signed(thin, LABELS), 1e-9), checked(signed(sparse.csr_array(thin), LABELS), 1e-9)
    )
    X, y, qid = noisy_levels()
    given_gram = ranking(X @ X.T, y, qid, 0.01, precomputed(), "squared_hinge")
    same_optimum(checked(given_gram, 1e-8), checked(ranked(0.01), 1e-8))


def test_nasty_data() -> None:
    X, y, qid = noisy_levels()
    # There are no pairs.
    assert checked(ranking(X, np.ones(60), qid, loss="squared_hinge")).value == 0.0
    assert checked(signed(SCALED, LABELS, sample_weight=np.zeros(len(LABELS)))).value == 0.0
    assert checked(signed(np.zeros((3, 2)), [1.0, 1.0, -1.0])).value == pytest.approx(3.0)
    # Equal points have different levels.
    both = ranking(np.vstack([X, X]), np.concatenate([y, -y]), None, 1.0, loss="squared_hinge")
    same_optimum(checked(both, 1e-9), solve(both, "newton", tol=1e-9))
    grid = np.round(X)
    same_optimum(
        checked(ranking(grid, y, qid, loss="squared_hinge"), 1e-9),
        solve(ranking(grid, y, qid, loss="squared_hinge"), tol=1e-9),
    )
    checked(signed(SCALED, np.ones(len(LABELS))))


@pytest.mark.parametrize("kernel", [linear(), rbf(0.2)], ids=lambda kernel: kernel.name)
def test_warm_start(kernel: Any) -> None:
    problem = ranked(10.0, kernel)
    solution = checked(problem, 1e-9)
    assert present(checked(problem, 1e-9, warm_start=solution).iterations) <= 1
    assert present(checked(problem, 1e-8, warm_start=Point(alpha=solution.dual)).iterations) <= 5
    assert present(checked(problem, 1e-8, warm_start=Point(beta=solution.beta)).iterations) <= 5
    same_optimum(
        checked(problem.with_cost(1.0), 1e-9, warm_start=solution),
        checked(problem.with_cost(1.0), 1e-9),
    )
    with pytest.raises(
        ValueError,
        match=r"the point's alpha must be a multiplier for each row, .* is of shape \(3,\)",
    ):
        solve(problem, "tron", warm_start=Point(alpha=np.zeros(3)))


def test_limits_return_the_best_point_and_a_reason() -> None:
    problem = signed(CANCER.data, LABELS)
    one = solve(problem, "tron", max_iter=1)
    assert (one.status, one.iterations, len(one.trajectory)) == (Status.ITERATION_LIMIT, 1, 2)
    assert "limit of 1 iteration:" in one.reason
    assert solve(problem, "tron", time_limit=1e-6).status is Status.TIME_LIMIT
    assert "callback" in solve(problem, "tron", callback=lambda *_: True).reason
    unreachable = solve(ranked(), "tron", tol=1e-18)
    # A gap of exactly 0 happens.
    assert unreachable.status in (
        Status.NUMERICAL_FAILURE,
        Status.OPTIMAL,
    )
    assert unreachable.interval.relative_width < 1e-9


@pytest.mark.parametrize(
    ("X", "bias", "most"),
    [(CANCER.data, False, 200), (CANCER.data, "penalized", 200), (SCALED, False, 80)],
    ids=["raw", "raw, penalized", "scaled"],
)
def test_the_region_grows_where_it_is_in_the_way(X: Any, bias: Any, most: int) -> None:
    """At C = 1e5 it took 350 to 470 steps, most of them to the boundary of a region.

    The region grew by a few per cent each time.
    """
    assert present(checked(signed(X, LABELS, 1e5, bias), 1e-8).iterations) <= most


def test_steep_kinks_make_the_published_method_crawl() -> None:
    """A step to a tenth of the gradient puts rows in and out of the Hessian.

    It takes more steps than the limit. The run ends at its limit and says so, and its
    interval is true. With more steps it arrives. f falls with every step, the gap does
    not fall for hundreds of them: the convergence monitor once took that for no
    progress.
    """
    problem = signed(SCALED, LABELS, 1e6, "penalized")
    short, right = solve(problem, "tron", tol=1e-8), solve(problem, "newton", tol=1e-8)
    assert (short.status, right.status) == (Status.ITERATION_LIMIT, Status.OPTIMAL)
    assert "limit of 1,000 iterations" in short.reason
    same_optimum(short, right)
    long = checked(problem, 1e-8, max_iter=20_000)
    gaps = [step.gap for step in long.trajectory]
    lower = [k for k in range(1, len(gaps)) if gaps[k] < 0.95 * min(gaps[:k])]
    assert max(b - a for a, b in pairwise([0, *lower])) > 10 * STALE_CHECKS
    same_optimum(long, right)


def test_a_small_cost_of_large_kernel_values_is_a_large_cost() -> None:
    """C x K_ii is 6e4 here at C = 1e-3, within the limits that the README states.

    The run ends short, says so, and its interval is true.
    """
    problem = signed(SCALED[:200], LABELS[:200], 1e-3, kernel=polynomial(3, 1.0, 1.0))
    short, right = solve(problem, "tron"), solve(problem, "newton")
    assert (short.status, right.status) == (Status.ITERATION_LIMIT, Status.OPTIMAL)
    assert "limit of 1,000 iterations" in short.reason
    same_optimum(short, right)


def test_a_kink_90000_times_as_steep_on_one_side() -> None:
    """The region shrank to nothing at it, and grew by a few per cent a step.

    It could have been sixteen times as large.
    """
    X = np.array([[0.0, 0, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 2]])
    problem = signed(X, -np.ones(5), kernel=polynomial(3, 1.0, 1.0))
    same_optimum(checked(problem), solve(problem, "newton"))


def test_refusals_and_auto() -> None:
    assert "kink" in str(tron.REQUIREMENTS.refusal(classification(SCALED, LABELS, bias=False)))
    assert "linear program" in str(
        tron.REQUIREMENTS.refusal(one_norm_ranking(SCALED[:9], LABELS[:9]))
    )
    assert "hard rows" in str(tron.REQUIREMENTS.refusal(signed(SCALED, LABELS, np.inf)))
    assert "a bias, which is free" in str(
        tron.REQUIREMENTS.refusal(signed(SCALED, LABELS, bias=True))
    )
    assert "semidefinite" in str(
        tron.REQUIREMENTS.refusal(signed(SCALED, LABELS, kernel=sigmoid()))
    )
    many = np.random.default_rng(0).normal(size=(6001, 1))
    only = signed(many, np.sign(many[:, 0]), kernel=rbf())
    assert next(registry._automatic(only)).name == "newton"
    assert registry._willing(only, "tron") is SOLVERS["tron"]


@pytest.mark.parametrize("family", ["svm.nobias_l2", "rank.l2"])
def test_any_small_problem(family: str) -> None:
    """Degenerate data at moderate scales: the linear kernel reaches the optimum.

    With any other kernel the interval is true.
    """

    @given(margin_problems(family, max_points=9, tails=False))
    def check(problem: MarginProblem) -> None:
        if tron.REQUIREMENTS.refusal(problem) is not None:
            return
        if problem.explicit is not None:
            same_optimum(checked(problem, 1e-7), solve(problem, "newton", tol=1e-7))
        else:
            same_optimum(solve(problem, "tron", max_iter=50), solve(problem, "newton"))

    check()
