"""Regularisation paths: other solvers at breakpoints, document P, and degenerate data."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from signal import SIGINT, raise_signal
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from campaigns import nightly_bounds_path as bounds
from campaigns import nightly_path as nightly
from campaigns.exact.nightly import Definition
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    Point,
    classification,
    declare,
    interval,
    linear,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    rbf,
    regression,
)
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric import jit
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.solvers import (
    RegularizationPath,
    Status,
    exact_optimum,
    regularization_path,
    solve,
    solve_declaration,
)
from equimargin.solvers.path.function import balanced, without_offset
from equimargin.solvers.path.quadratic import steps
from equimargin.solvers.path.quadratic.active_set import (
    Differences,
    PathWorkingSet,
    State,
    Subproblem,
    squared_lengths,
)
from equimargin.solvers.path.quadratic.trace import BREAKPOINTS_PER_PAGE, BreakpointKind
from equimargin.solvers.path.result import Alphas
from equimargin.testing import sample_problem
from narrow import as_a, present

FAMILIES = ("svm.soft", "svm.nobias", "svr.l1", "rank.l1")


def sample(family: str, kernel: Kernel | None = None) -> MarginProblem:
    """Return a small problem of a family that has a path."""
    return as_a(MarginProblem, sample_problem(family, kernel))


def paths(kernel: Kernel | None = None) -> list[RegularizationPath]:
    """Return a path of each family, on well-behaved points."""
    return [regularization_path(sample(family, kernel or rbf(0.4))) for family in FAMILIES]


def scattered(n: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points and a noisy score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


# Other solvers.


@pytest.mark.slow
@pytest.mark.parametrize("kind", nightly.KINDS)
def test_other_solvers_agree_at_every_breakpoint(kind: str) -> None:
    """Proven intervals of the path's point and of another solver intersect.

    The other solver is coordinate descent or SMO; both intervals are narrow.
    """
    compared, instances, most = 0, *((80, 12) if kind == "ranking" else (60, 25))
    for number in range(instances):
        problem = nightly.drawn(kind, 77, number, most)
        path = regularization_path(problem, 1e-2 * nightly.unit(problem))
        assert path.complete, (number, path.stopped)
        for lam in path.lambdas[path.lambdas > 0].tolist():
            at = path.at(lam)
            other = solve(problem.with_cost(1 / lam))
            both = at.interval.intersected(other.interval)
            assert both.lower <= both.upper, (number, lam)
            assert at.interval.relative_width <= 1e-7, (number, lam)
            assert at.relative_gap <= 1e-8, (number, lam)
            compared += 1
    assert compared >= 3 * instances


@pytest.mark.parametrize(
    ("family", "formulation"),
    [("svm.soft", "svm.soft.dual"), ("svr.l1", "svr.l1.dual"), ("rank.l1", "rank.l1.dual")],
)
def test_clarabel_agrees(family: str, formulation: str) -> None:
    path = regularization_path(sample(family, rbf(0.4)))
    for lam in (path.lambdas[0] * np.array([2.0, 0.7, 0.1, 0.01])).tolist():
        problem = path.problem.with_cost(1 / lam)
        declaration = declare(formulation, problem)
        answer = solve_declaration(declaration, "CLARABEL")
        theirs, ours = interval(problem, present(answer.point)), path.at(lam).interval
        both = theirs.intersected(ours)
        assert both.lower <= both.upper
        assert max(theirs.relative_width, ours.relative_width) <= 1e-6


def test_the_answer_anywhere_is_the_optimum() -> None:
    """The proven interval is narrow above and at lambda_0, between breakpoints, at the end."""
    for path in paths():
        inner = np.geomspace(path.lambdas[0], max(path.lambdas[-1], 1e-4), 9).tolist()
        for lam in (1e6 * path.lambdas[0], *inner):
            solution = path.at(lam)
            assert solution.problem.C * lam == pytest.approx(1.0)
            assert solution.status is Status.OPTIMAL
            assert solution.interval.relative_width <= 1e-8
            alpha = as_a(np.ndarray, solution.dual)
            assert (alpha >= 0).all()
            assert (alpha <= path.problem.unit_weights / lam * (1 + 1e-12)).all()


# Nightly checks.


@pytest.mark.slow
@pytest.mark.parametrize("kind", nightly.KINDS)
def test_nasty_paths_hold_what_they_say(kind: str) -> None:
    """No gap exceeds 1e-8 in extended precision, and every early stop is explained."""
    for number in range(150 if kind == "ranking" else 100):
        found = nightly.followed(nightly.drawn(kind, 1, number), 1e-6)
        assert found.gap <= nightly.SILENT, found
        assert found.excused, found


def test_the_judge_sees_a_wrong_path() -> None:
    """A wrong multiplier, coefficient or bias makes the gap large.

    A multiplier outside of its bounds makes it infinite.
    """
    path = regularization_path(sample("svm.soft", rbf(0.4)))
    assert nightly.worst(path)[0] <= 1e-9
    for name in ("betas", "values_at_anchor"):
        assert nightly.worst(replace(path, **{name: getattr(path, name) * 1.01}))[0] > 1e-6
    shifted = Alphas(
        path.alphas.first, path.alphas.starts, path.alphas.rows, path.alphas.values * 0.99
    )
    assert nightly.worst(replace(path, alphas=shifted))[0] > 1e-6
    outside = Alphas(
        path.alphas.first * 1.5, path.alphas.starts, path.alphas.rows, path.alphas.values
    )
    assert nightly.worst(replace(path, alphas=outside))[0] == np.inf


def test_the_nightly_table_says_what_it_found() -> None:
    lines: list[str] = []
    assert nightly.CAMPAIGN.main(["--examples", "10", "--seed", "2"], lines.append) == 0
    assert [line.split()[0] for line in lines] == [*nightly.KINDS, "14"]
    failed = nightly.trial_of(nightly.Found(4, 1e-3, 0.5, False, False, "Linear()", "why", 0.1))
    assert len(failed.said) == 2
    assert "0.5" in failed.said[0]


def test_near_lambda_0_the_judge_is_exact() -> None:
    """Some multipliers leave exactly nothing of f at 0.

    Extended precision took the rounding of their products for a gap of 4e-8.
    """
    assert nightly.followed(nightly.drawn("ranking", 424242424, 502)).gap <= 1e-9
    problem = nightly.drawn("ranking", 424242424, 502)
    path = regularization_path(problem, 1e-5 * nightly.unit(problem))
    assert path.lambdas[-1] == 0.0
    for share in (1.0, 1e-4, 1e-8, 1e-10):
        assert path.at(share * float(path.lambdas[-2])).relative_gap <= 1e-9


# Reported accuracies.


@pytest.mark.slow
def test_claims_hold_against_exact_optima() -> None:
    """Every `gaps`, `midpoint_gaps` and `at` is within ten times the claim and 1e-12.

    Offsets are up to 1e7, columns of any scale.
    """
    lines: list[str] = []
    assert bounds.CAMPAIGN.main(["--seed", "1", "--examples", "120"], lines.append) == 0, lines
    assert " 0 failures" in lines[-1]


def test_the_campaign_sees_a_false_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reported gaps are 0 where the functions are moved a little."""
    follow = regularization_path

    def boasting(*arguments: Any) -> RegularizationPath:
        path = as_a(RegularizationPath, follow(*arguments))
        off = {name: getattr(path, name) * (1 + 1e-5) for name in ("betas", "w")}
        return replace(path, gaps=path.gaps * 0.0, midpoint_gaps=path.midpoint_gaps * 0.0, **off)

    monkeypatch.setattr(bounds, "regularization_path", boasting)
    lines: list[str] = []
    assert bounds.CAMPAIGN.main(["--seed", "1", "--examples", "10"], lines.append) == 1
    assert any("above the optimum" in line and "breakpoint at" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["classification", "regression", "ranking", "wide", "sparse", "precomputed"]
)
def test_an_offset_of_all_points_changes_no_answer(kind: str) -> None:
    """With a linear kernel 4e6 away from 0 the lambdas stay unchanged.

    The result of `at` has its reported accuracy.
    """
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(5.0, 2.0, (24, 40 if kind == "wide" else 3)), 6)
    score = X[:, 0] - 5.0 + rng.normal(size=24)
    offset = 2.0**12 if kind == "precomputed" else 2.0**22

    def problem(X: np.ndarray) -> MarginProblem:
        if kind == "regression":
            return regression(X, score, epsilon=0.2)
        if kind == "ranking":
            return ranking(X, np.digitize(score, [-1.0, 1.0]))
        y = np.where(score > 0, 1.0, -1.0)
        if kind == "precomputed":
            return classification(X @ X.T, y, kernel=precomputed())
        return classification(sparse.csr_array(X) if kind == "sparse" else X, y)

    first = float(regularization_path(problem(X), max_events=1).lambdas[0])
    near, far = (
        regularization_path(problem(np.round((X + by) * 2.0**20) / 2.0**20), 0.2 * first)
        for by in (0.0, offset)
    )
    assert far.complete
    k = min(len(near), len(far), 12)
    np.testing.assert_allclose(
        far.lambdas[:k], near.lambdas[:k], rtol=1e-4 if kind == "precomputed" else 1e-5
    )
    for t, lam in enumerate(far.lambdas[far.lambdas > 0].tolist()):
        at = far.at(lam)
        assert at.status is Status.OPTIMAL
        assert at.relative_gap <= 1e-8
        problem_at, point = as_a(MarginProblem, at.problem), as_a(Point, at.point)
        excess = bounds.primal_value(Definition(problem_at), point) - at.interval.lower
        claim = min(at.relative_gap, float(far.gaps[t]))
        assert float(excess) / at.interval.scale <= 10 * (claim + at.interval.relative_width)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.3)])
@pytest.mark.parametrize("offset", [1e6, -1.6e9])
def test_an_offset_of_all_targets_changes_no_answer(kernel: Kernel, offset: float) -> None:
    """The bias absorbs it: lambdas and functions stay, and b changes by the offset.

    The result of `at` has its reported accuracy.
    """
    X, score = scattered(24)
    # Adding the offset to these scores is exact.
    score = np.round(score * 2.0**18) / 2.0**18
    near, far = (
        regularization_path(regression(X, score + by, epsilon=0.125, kernel=kernel), 1e-2)
        for by in (0.0, offset)
    )
    assert near.complete
    assert far.complete
    np.testing.assert_allclose(far.lambdas, near.lambdas, rtol=1e-6)
    np.testing.assert_allclose(far.g, near.g, rtol=1e-6, atol=1e-6)
    for lam in [2 * far.lambdas[0], *far.lambdas[far.lambdas > 0][::5], 0.7 * far.lambdas[0]]:
        at, other = far.at(float(lam)), near.at(float(lam) * (1 + 1e-9))
        assert at.status is Status.OPTIMAL
        assert at.bias == pytest.approx(other.bias + offset, abs=1e-5)
        assert float(at.interval.relative_width) <= 1e-8
        np.testing.assert_allclose(
            far.decision_function(X, lam), at.decision_function(X), atol=1e-5
        )
        optimum = (
            exact_optimum(at.problem, start=at.point).value if isinstance(kernel, Linear) else None
        )
        if optimum is not None:
            problem, point = as_a(MarginProblem, at.problem), as_a(Point, at.point)
            excess = bounds.primal_value(Definition(problem), point) - optimum
            assert (
                0
                <= excess
                <= 10 * at.relative_gap * max(abs(float(optimum)), 1e-4 * at.problem.scale)
            )


def test_targets_far_apart_lose_nothing_by_centring() -> None:
    """Their offset is 0 where a difference would be rounded."""
    for y in ([1e-20, 1.0, 1.1], [3.0, -3.0, 3.0], [1e308, -1.7e308, 1.7e308]):
        assert without_offset(Tube(np.array(y), 0.5))[0] == 0.0
    offset, rows = without_offset(Tube(np.array([1e9 + 0.1, 1e9, 1.4e9]), 0.5))
    assert isinstance(rows, Tube)
    assert offset == 1e9 + 0.1
    assert [Fraction(v) + Fraction(offset) for v in rows.y] == [
        Fraction(1e9 + 0.1),
        Fraction(1e9),
        Fraction(1.4e9),
    ]


def test_an_answer_says_how_good_it_is() -> None:
    """`at` measures its result: a wrong function of the path has a large gap.

    It is not optimal, and its reason says so.
    """
    for path in paths(linear()) + paths():
        lam = float(path.lambdas[3])
        assert path.at(lam).status is Status.OPTIMAL
        wrong = replace(path, betas=path.betas * 1.001, w=path.w * 1.001).at(lam)
        assert wrong.relative_gap > 1e-8
        assert wrong.status is Status.NUMERICAL_FAILURE
        assert f"{wrong.relative_gap:.1e}" in wrong.reason


def credit(n: int = 400) -> MarginProblem:
    """Return data like the raw German credit data.

    An amount in the thousands stands next to ages, months, codes and yes or no.
    """
    rng = np.random.default_rng(0)
    amount, months = (
        np.round(np.exp(rng.normal(7.8, 0.8, n))),
        rng.choice([6, 12, 18, 24, 36, 48], n),
    )
    age, codes, bits = (
        rng.integers(19, 75, n),
        rng.integers(1, 5, (n, 7)),
        rng.integers(0, 2, (n, 14)),
    )
    X = np.column_stack([months, amount, age, codes, bits]).astype(float)
    score = (
        0.03 * months
        + 1e-4 * amount
        - 0.02 * age
        - 0.4 * codes[:, 0]
        + 0.3 * bits[:, 0]
        + rng.normal(0, 1.2, n)
    )
    return classification(X, np.where(score > np.quantile(score, 0.7), 1.0, -1.0))


def spill(n: int = 300, d: int = 30) -> MarginProblem:
    """Return data like the oil-spill data: columns from 1e-2 to 1e6, few positive points."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(n, d)) @ (np.eye(d) + 0.2 * rng.normal(size=(d, d)))
    X = np.round(np.exp(0.5 * Z) * 10.0 ** rng.uniform(-2, 6, d), 2)
    score = Z[:, :5].sum(axis=1) + rng.normal(size=n)
    return classification(X, np.where(score > np.quantile(score, 0.9), 1.0, -1.0))


def bundled(name: str) -> MarginProblem:
    """Return raw data of scikit-learn."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(
        return_X_y=True, **({"scaled": False} if name == "diabetes" else {})
    )
    return (
        regression(X, y, epsilon=10.0)
        if name == "diabetes"
        else classification(X, np.where(y == 1, 1.0, -1.0))
    )


@pytest.mark.parametrize("data", ["credit", "spill", "breast_cancer", "wine", "diabetes"])
def test_raw_columns_are_followed_far_down(data: str) -> None:
    """They are followed to 1e-8 of lambda_0, or as far as anything is left, and on to 0.

    At 1e-8 of lambda_0 the largest |x|^2 over lambda is up to 1e14.
    """
    problem = (
        {"credit": credit, "spill": spill}[data]() if data in ("credit", "spill") else bundled(data)
    )
    first = regularization_path(problem, max_events=1).lambdas[0]
    path = regularization_path(problem, 1e-8 * float(first))
    assert path.complete, path.stopped
    assert max(path.gaps.max(), path.midpoint_gaps.max()) <= 1e-8
    for lam in np.geomspace(path.lambdas[0], 1e-8 * path.lambdas[0], 12).tolist():
        at = path.at(lam)
        assert at.status is Status.OPTIMAL
        assert at.relative_gap <= 1e-8
    if data in ("wine", "credit"):
        at = path.at(1e-6 * float(first))
        other = solve(at.problem, tol=1e-8)
        both = at.interval.intersected(other.interval)
        assert other.ok
        assert both.lower <= both.upper


# Statements of document P.


def test_lambda_0_is_the_largest_margin_of_all_multipliers_at_one() -> None:
    """P 5.1: lambda_0 = max of PKP'1; above it alpha = 1 and f = K P'1 / lambda."""
    X, score = scattered()
    problem = ranking(X, np.digitize(score, [-0.5, 0.5]), kernel=rbf(1.0))
    path = regularization_path(problem)
    g = problem.gram.dense @ problem.rows.rdot(np.ones(problem.p))
    assert path.lambdas[0] == pytest.approx(problem.rows.dot(g).max(), rel=1e-12)
    np.testing.assert_array_equal(path.alphas[0], np.ones(problem.p))
    np.testing.assert_allclose(
        path.decision_function(X, 3 * path.lambdas[0]),
        g / (3 * path.lambdas[0]),
        rtol=1e-9,
        atol=1e-12,
    )


def test_f_is_affine_in_one_over_lambda_and_not_in_lambda() -> None:
    """P, theorem 1, corrected: between breakpoints g and alpha are affine in lambda.

    f is affine in 1 / lambda.
    """
    X, score = scattered()
    problem = ranking(X, np.digitize(score, [-0.5, 0.5]), kernel=rbf(1.0))
    path = regularization_path(problem)
    t = int(np.argmax(path.lambdas[:-2] / path.lambdas[1:-1]))
    above, below = path.lambdas[t : t + 2].tolist()

    def defect(middle: float) -> float:
        """Return the distance of f at `middle` from the mean of f at both ends.

        Another solver finds f at `middle`.
        """
        ends = (path.decision_function(X, above) + path.decision_function(X, below)) / 2
        other = solve(problem.with_cost(1 / middle), tol=1e-12).decision_function(X)
        return float(np.ptp(other - ends) / np.ptp(ends))

    assert defect(2 / (1 / above + 1 / below)) <= 1e-6
    assert defect((above + below) / 2) >= 1e-4


def test_equations_16_and_17() -> None:
    """h from eta = (P_I K P_I')^-1 1 gives f on the next segment.

    It also gives the lambda at which a pair of that segment's end is on the margin.
    """
    X, score = scattered(12, seed=3)
    problem = ranking(X, score, kernel=rbf(1.0))
    path = regularization_path(problem)
    K, rows = problem.gram.dense, problem.rows
    P = rows.matrix.toarray()
    checked = crossed = 0
    for t in range(1, min(len(path) - 1, 60)):
        middle = (path.alphas[t] + path.alphas[t + 1]) / 2
        inside = (middle > 1e-9) & (middle < 1 - 1e-9)
        if not inside.any():
            continue
        eta = np.linalg.solve(P[inside] @ K @ P[inside].T, np.ones(inside.sum()))
        h = K @ P[inside].T @ eta
        lam, after, f = path.lambdas[t], path.lambdas[t + 1], path.g[t] / path.lambdas[t]
        np.testing.assert_allclose(
            (lam * f - lam * h + after * h) / after,
            path.g[t + 1] / after,
            atol=1e-7 * np.abs(f).max(),
        )
        checked += 1
        entering = path.event_rows[(path.event_breakpoints == t + 1) & (path.event_kinds == 0)]
        for r in entering.tolist():
            difference, slope = rows.dot(f)[r], rows.dot(h)[r]
            if abs(1 - slope) > 1e-6:
                assert lam * (difference - slope) / (1 - slope) == pytest.approx(after, rel=1e-7)
                crossed += 1
    assert checked >= 20
    assert crossed >= 5


def test_targets_that_differ_by_rounding_alone() -> None:
    """0.3 - 0.1 is not 0.2 in float64.

    The start must not take that for a breakpoint at lambda = 1e15.
    """
    problem = nightly.drawn("regression", 110, 132)
    path = regularization_path(problem, 1e-5 * nightly.unit(problem))
    assert path.lambdas[0] <= 1e6 * nightly.unit(problem)
    assert nightly.worst(path)[0] <= 1e-9


def test_four_pairs_on_a_margin_cycle() -> None:
    """Three ties force the fourth, so that P_I K P_I' is singular there.

    The published algorithm has no branch for it.
    """
    X = np.array([[0.0], [0.4], [1.1], [1.9]])
    path = regularization_path(
        ranking_from_pairs(X, [[0, 2], [0, 3], [1, 2], [1, 3]], kernel=rbf(1.0)), 0.0
    )
    assert path.complete
    assert nightly.worst(path)[0] <= 1e-9


def test_the_start_of_unequal_classes() -> None:
    """Above lambda_0 all of the smaller class is at 1, and b is the larger one's label.

    The larger class is as near to 1 as weights allow.
    """
    X, score = scattered(20)
    y = np.where(score > 0.8, 1.0, -1.0)
    problem = classification(X, y, kernel=rbf(1.0))
    path = regularization_path(problem)
    alpha, few = path.alphas[0], y == (1.0 if (y > 0).sum() < len(y) / 2 else -1.0)
    np.testing.assert_array_equal(alpha[few], 1.0)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)
    assert path.level == -y[few][0]
    assert path.at(1e7).interval.relative_width <= 1e-9


# Attributes and methods of a path.


def test_alphas_come_in_any_order() -> None:
    path = regularization_path(sample("rank.l1", rbf(0.4)))
    forward = list(path.alphas)
    assert len(forward) == len(path) == len(path.lambdas)
    for t in (len(path) - 1, 0, 3, 1, -2):
        np.testing.assert_array_equal(path.alphas[t], forward[t])
    assert len(path.alphas[1:4]) == 3
    forward[2][:] = 7.0
    assert path.alphas[2].max() <= 1.0
    with pytest.raises(IndexError):
        path.alphas[len(path)]


def test_multipliers_coefficients_and_events_belong_together() -> None:
    """A'alpha are the coefficients; the events give the margin set after each breakpoint."""
    for path in paths():
        inside: set[int] = set()
        for t, alpha in enumerate(path.alphas):
            if path.lambdas[t] == 0:
                continue
            np.testing.assert_allclose(path.problem.rows.rdot(alpha), path.betas[t], atol=1e-9)
            for k in np.flatnonzero(path.event_breakpoints == t):
                row, kind = int(path.event_rows[k]), path.events[k].kind
                assert path.events[k].lam == path.lambdas[t]
                if kind == "enter":
                    inside.add(row)
                else:
                    inside.remove(row)
                    bound = 0.0 if kind == "zero" else path.problem.unit_weights[row]
                    assert alpha[row] == pytest.approx(bound, abs=1e-9)
            if (path.event_breakpoints == t).any():
                assert len(inside) == path.margins[t] or t == len(path) - 1


@pytest.mark.parametrize("kernel", [linear(), rbf(0.4)], ids=["linear", "rbf"])
def test_decision_values(kernel: Kernel) -> None:
    """decision_function, values, g and at(lam) agree; predict has the labels."""
    X_new = np.random.default_rng(5).normal(size=(7, 2))
    for path in paths(kernel):
        X = path.problem.X
        X_new = np.random.default_rng(5).normal(size=(7, X.shape[1]))
        lams = np.array([2 * path.lambdas[0], path.lambdas[1], path.lambdas[0] / 3])
        f = path.decision_function(X_new, lams)
        assert f.shape == (3, 7)
        for lam, row in zip(lams.tolist(), f, strict=True):
            np.testing.assert_allclose(path.decision_function(X_new, lam), row)
            np.testing.assert_allclose(
                path.at(lam).decision_function(X_new), row, rtol=1e-9, atol=1e-9
            )
        np.testing.assert_allclose(
            path.values(X_new)[1] / path.lambdas[1], f[1], rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            path.values(X), path.g + path.biases[:, None], rtol=1e-9, atol=1e-9
        )
        labels = path.predict(X_new, lams)
        np.testing.assert_array_equal(
            labels, np.where(f >= 0, 1.0, -1.0) if path.problem.family.startswith("svm") else f
        )


@pytest.mark.parametrize("kernel", [linear(), rbf(0.4)], ids=["linear", "rbf"])
def test_points_and_lambdas_of_another_shape_are_refused(kernel: Kernel) -> None:
    X, score = scattered()
    path = regularization_path(classification(X, np.where(score > 0, 1.0, -1.0), kernel=kernel))
    wrong = (
        X[:, :1],
        np.column_stack([X, X]),
        X[0],
        X[None],
        X[:, :1].tolist(),
        sparse.csr_array(X[:, :1]),
    )
    for points in wrong:
        for ask in (
            path.values,
            path.at(1.0).decision_function,
            lambda V: path.predict(V, 1.0),
            lambda V: path.decision_function(V, [1.0]),
        ):
            with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
                ask(points)
    with pytest.raises(ValueError, match="lam must be a number or a list of numbers"):
        path.decision_function(X, np.ones((2, 2)))
    assert path.decision_function(X, []).shape == (0, 30)
    assert path.decision_function(X[:0], [1.0]).shape == (1, 0)


def test_a_sparse_gram_matrix_is_a_gram_matrix() -> None:
    X, score = scattered()
    K = X @ X.T
    path = regularization_path(
        classification(sparse.csr_array(K), np.where(score > 0, 1.0, -1.0), kernel=precomputed())
    )
    np.testing.assert_array_equal(
        path.decision_function(sparse.csr_array(K[:4]), 1.0), path.decision_function(K[:4], 1.0)
    )
    np.testing.assert_array_equal(precomputed().diagonal(sparse.csr_array(K)), np.diag(K))


def test_the_bias_is_in_its_interval() -> None:
    for family in ("svm.soft", "svr.l1"):
        path = regularization_path(sample(family, rbf(0.4)))
        for t in range(0, len(path), 5):
            lam = float(path.lambdas[t])
            if lam > 0:
                low, high = path.bias_interval(lam)
                assert low - 1e-7 <= path.bias[t] <= high + 1e-7


def test_a_bias_that_is_an_interval() -> None:
    """x = 0 (+), x = 1 (-): without support vectors in between b is not unique.

    Every b of an interval is best, until both are on the margin.
    """
    problem = classification([[0.0], [1.0]], [1.0, -1.0], C=0.1)
    path = regularization_path(problem, 0.0)
    assert path.lambdas[0] == pytest.approx(0.5)
    np.testing.assert_allclose(path.bias_interval(10.0), (-0.9, 1.0))
    assert nightly.worst(path)[0] <= 1e-12


@pytest.mark.parametrize("weights", [None, [0.0, 2.0, 0.5, 1.0] * 5])
def test_weights_are_the_boxes(weights: list[float] | None) -> None:
    X, score = scattered(20)
    path = regularization_path(
        regression(X, score, epsilon=0.2, kernel=rbf(1.0), sample_weight=weights)
    )
    w = path.problem.unit_weights
    assert all((alpha >= 0).all() and (alpha <= w).all() for alpha in path.alphas)
    assert max(alpha.max() for alpha in path.alphas) == w.max()
    assert path.at(0.1).interval.relative_width <= 1e-8


@pytest.mark.parametrize(
    "problem",
    [
        ranking([[0.0], [1.0]], [1, 1]),
        ranking([[1.0], [1.0]], [1, 0]),
        ranking_from_pairs([[0.0], [1.0]], [[0, 1], [1, 0]]),
        classification([[0.0], [1.0]], [1.0, 1.0]),
        classification([[2.0], [2.0]], [1.0, -1.0]),
        classification([[0.0], [0.0]], [1.0, -1.0], bias=False),
        classification([[1.0], [2.0]], [1.0, -1.0], sample_weight=[0.0, 0.0]),
        regression([[0.0], [1.0]], [0.3, 0.3], epsilon=0.5),
        regression([[0.0], [1.0]], [2.0, 2.0], epsilon=0.0),
        regression([[3.0]], [2.0]),
    ],
    ids=[
        "no pairs",
        "equal points",
        "cycle",
        "one class",
        "one point",
        "at 0",
        "weightless",
        "all in the tube",
        "constant",
        "single",
    ],
)
def test_paths_without_breakpoints(problem: MarginProblem) -> None:
    """f is b alone: one entry, the same result at every lambda, and it is the optimum."""
    path = regularization_path(problem)
    assert path.complete
    assert len(path) == 1
    for lam in (1e-3, 1.0, 1e3):
        assert path.at(lam).interval.relative_width <= 1e-9
        np.testing.assert_allclose(
            path.at(lam).decision_function(problem.X) - path.at(lam).bias, 0.0, atol=1e-12
        )


def test_the_end_at_lambda_0() -> None:
    """Separable: the hard margin's f from some lambda on, alpha in proportion to lambda.

    Otherwise alpha(0) is feasible, f constant.
    """
    X, score = scattered(15)
    separable = regularization_path(
        classification(X, np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)), 0.0
    )
    assert separable.lambdas[-1] == 0.0
    np.testing.assert_array_equal(separable.alphas[-1], 0.0)
    hard = solve(separable.problem.with_cost(np.inf), tol=1e-9)
    np.testing.assert_allclose(
        present(separable.at(separable.lambdas[-2] / 7).w), present(hard.w), rtol=1e-4
    )
    noisy = regularization_path(ranking(X, score, kernel=linear()), 0.0)
    assert noisy.lambdas[-1] == 0.0
    np.testing.assert_allclose(
        noisy.decision_function(X, noisy.lambdas[-2] / 7),
        noisy.decision_function(X, noisy.lambdas[-2]),
        rtol=1e-9,
    )


def test_a_lambda_min_above_lambda_0() -> None:
    """One entry at lambda_min: alpha has not changed yet."""
    for path in paths():
        start = 3 * float(path.lambdas[0])
        short = regularization_path(path.problem, start)
        assert short.lambdas.tolist() == pytest.approx([start])
        np.testing.assert_array_equal(short.alphas[0], path.alphas[0])
        assert short.at(start).interval.relative_width <= 1e-9
        assert short.complete


def test_kernels_features_and_a_penalised_bias() -> None:
    """A kernel, its Gram matrix and sparse features give one path."""
    X, score = scattered(20)
    y = np.where(score > 0, 1.0, -1.0)
    dense = regularization_path(classification(X, y, kernel=linear()))
    for other in (
        classification(X @ X.T, y, kernel=precomputed()),
        classification(sparse.csr_array(X), y, kernel=linear()),
    ):
        path = regularization_path(other)
        np.testing.assert_allclose(path.lambdas[:20], dense.lambdas[:20], rtol=1e-6)
    penalized = regularization_path(classification(X, y, kernel=polynomial(2), bias="penalized"))
    assert penalized.at(0.01).interval.relative_width <= 1e-8
    assert not penalized.biases.any()


# Limits.


def test_what_is_written_does_not_depend_on_the_pauses() -> None:
    """A callback that pauses at every breakpoint changes nothing, over several pages.

    Events add up to the sizes of the margin set.
    """
    X, score = scattered(120)
    for problem in (
        ranking(X[:40], score[:40], kernel=rbf(1.0)),
        classification(X, np.where(score > 0, 1.0, -1.0), kernel=rbf(1.0)),
    ):
        path = regularization_path(problem)
        paused = regularization_path(problem, callback=lambda *_: False)
        assert len(path) > 3 * BREAKPOINTS_PER_PAGE
        for name in (
            "lambdas",
            "betas",
            "values_at_anchor",
            "gaps",
            "midpoint_gaps",
            "margins",
            "event_rows",
            "event_kinds",
        ):
            np.testing.assert_array_equal(getattr(paused, name), getattr(path, name))
        np.testing.assert_array_equal(np.array(list(paused.alphas)), np.array(list(path.alphas)))
        steps = np.where(path.event_kinds == BreakpointKind.ENTER, 1, -1)
        sizes = np.cumsum(np.bincount(path.event_breakpoints, steps, len(path)))
        np.testing.assert_array_equal(sizes[:-1], path.margins[:-1])
        for limit in (BREAKPOINTS_PER_PAGE, BREAKPOINTS_PER_PAGE + 1):
            assert len(regularization_path(problem, max_events=limit)) == limit


@pytest.mark.parametrize("digits", [0, 8])
def test_balanced_coefficients_cancel(digits: int) -> None:
    """Their sum, in rational arithmetic, is a rounding of the smallest; the others stay."""
    rng = np.random.default_rng(0)
    beta = rng.normal(size=1000) * 10.0 ** rng.integers(0, digits + 1, 1000)
    found = balanced(beta)
    smallest = int(np.abs(beta).argmin())
    assert abs(sum((Fraction(value) for value in found.tolist()), Fraction(0))) <= Fraction(
        1, 2**52
    ) * abs(Fraction(found[smallest]))
    assert np.flatnonzero(found != beta).tolist() == [smallest]


def big() -> MarginProblem:
    """Return a ranking whose path takes long."""
    X, score = scattered(300)
    return ranking(X, score, kernel=rbf(1.0))


def test_limits_end_a_path_with_a_reason_and_what_was_found() -> None:
    problem = big()
    full = regularization_path(problem, max_events=40)
    assert len(full) == 40
    assert "limit of events" in full.stopped
    assert not full.complete
    assert full.at(float(full.lambdas[20])).interval.relative_width <= 1e-8
    with pytest.raises(ValueError, match=r"the path ends at lambda .* the limit of events"):
        full.at(float(full.lambdas[-1]) / 2)
    limited = regularization_path(problem, time_limit=1e-3)
    assert "time limit" in limited.stopped
    if not len(limited):
        with pytest.raises(ValueError, match="no breakpoint"):
            limited.at(1.0)
    seen: list[tuple[int, float, float]] = []

    def third(breakpoints: int, lam: float, gap: float) -> bool:
        seen.append((breakpoints, lam, gap))
        return breakpoints == 3

    asked = regularization_path(problem, callback=third)
    assert "callback" in asked.stopped
    assert [count for count, _, _ in seen] == [1, 2, 3]
    np.testing.assert_allclose([lam for _, lam, _ in seen], asked.lambdas)


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_and_a_time_limit_are_heard() -> None:
    """Both act within a second of CPU time, which other processes do not lengthen.

    The start of a large classification is included.
    """
    X, score = scattered(1500)
    problems = [big(), classification(X, np.where(score > 1.0, 1.0, -1.0), kernel=rbf(5.0))]
    for problem in problems:
        started = time.process_time()
        regularization_path(problem, time_limit=0.3)
        assert time.process_time() - started <= 3.0
        timer = threading.Timer(0.3, raise_signal, [SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            regularization_path(problem)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            classification([[0.0], [1.0]], [1.0, -1.0], loss="squared_hinge"),
            "paths exist for the hinge loss only",
        ),
        (
            classification([[0.0], [1.0]], [1.0, -1.0], sample_weight=[1.0, np.inf]),
            "infinite weight",
        ),
        (
            classification([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0], kernel=precomputed()),
            "not positive semidefinite",
        ),
        (classification(np.zeros((7000, 1)), np.ones(7000)), "7,000 points"),
    ],
)
def test_what_has_no_path_is_refused(problem: MarginProblem, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        regularization_path(problem)


@pytest.mark.parametrize(
    "options",
    [
        {"lambda_min": -1.0},
        {"lambda_min": np.nan},
        {"lambda_min": np.inf},
        {"max_events": 0},
        {"max_events": 2.5},
        {"max_events": "3"},
        {"time_limit": 0.0},
    ],
)
def test_bad_limits_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        regularization_path(sample("rank.l1"), **options)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf, 1e-12])
def test_a_lambda_that_is_not_on_the_path_is_refused(lam: float) -> None:
    path = regularization_path(big(), max_events=5)
    for ask in (
        path.at,
        path.bias_interval,
        lambda lam: path.decision_function(path.problem.X, lam),
    ):
        with pytest.raises(ValueError, match="lambda"):
            ask(lam)


# Files.


def stored() -> list[RegularizationPath]:
    X, score = scattered(12)
    y = np.where(score > 0, 1.0, -1.0)
    problems = [
        classification(X, y, kernel=rbf(1.0), sample_weight=np.linspace(0.0, 2.0, 12)),
        classification(sparse.csr_array(X), y, kernel=polynomial(2), bias="penalized"),
        classification(X @ X.T, y, kernel=precomputed()),
        regression(X, score, epsilon=0.1),
        ranking(X, np.digitize(score, [0.0]), np.arange(12) % 2, kernel=rbf(1.0), per_query="mean"),
        ranking_from_pairs(X, [[0, 1], [3, 2], [0, 1]]),
    ]
    return [regularization_path(problem) for problem in problems]


def test_a_path_comes_back_from_its_file(tmp_path: Path) -> None:
    for number, path in enumerate(stored()):
        file = tmp_path / f"{number}.path"
        path.save(file)
        back = RegularizationPath.load(file)
        for name in (
            "lambdas",
            "betas",
            "w",
            "values_at_anchor",
            "gaps",
            "midpoint_gaps",
            "margins",
            "event_rows",
        ):
            np.testing.assert_array_equal(getattr(back, name), getattr(path, name))
        assert all(np.array_equal(a, b) for a, b in zip(back.alphas, path.alphas, strict=True))
        assert (back.stopped, back.complete, back.level, back.events) == (
            path.stopped,
            path.complete,
            path.level,
            path.events,
        )
        lam = float(path.lambdas[0]) / 2
        # Sums of arrays at other addresses may round otherwise.
        assert back.at(lam).value == pytest.approx(path.at(lam).value, rel=1e-12)
        np.testing.assert_allclose(
            back.decision_function(path.problem.X, lam),
            path.decision_function(path.problem.X, lam),
            1e-12,
            1e-12,
        )


def test_a_bad_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path, file = stored()[0], tmp_path / "path.npz"
    path.save(file)
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(str(arrays["about"]))

    def refused(said: str, **changed: object) -> None:
        kept = {name: value for name, value in (arrays | changed).items() if value is not None}
        np.savez(file, **kept)
        with pytest.raises(ValueError, match=rf"no regularisation path: .*{said}"):
            RegularizationPath.load(file)

    refused("'lambdas' is missing", lambdas=None)
    refused("shape", lambdas=path.lambdas[1:])
    refused("decrease", lambdas=path.lambdas[::-1])
    refused("finite", betas=np.full_like(path.betas, np.nan))
    refused("must be in", alpha_rows=arrays["alpha_rows"] + 100)
    refused("must be in", event_kinds=arrays["event_kinds"] + 3)
    refused("without a decrease", alpha_starts=arrays["alpha_starts"][::-1])
    refused("finite numbers", X=np.full_like(path.problem.X, np.inf))
    refused("do not fit", y=np.zeros(12))
    refused("weights", weights=-np.ones(12))
    refused("format", about=np.array(json.dumps(about | {"format": "other"})))
    refused("unknown", about=np.array(json.dumps(about | {"kernel": ["Path"]})))
    refused("no numbers", about=np.array(json.dumps(about | {"kernel": ["RBF", "1"]})))
    for word in about:
        refused(
            f"'{word}' is missing",
            about=np.array(
                json.dumps({name: value for name, value in about.items() if name != word})
            ),
        )
    for said, changed in (
        ("level is no finite number", {"level": "x"}),
        ("level is no finite number", {"level": None}),
        ("seconds is no finite number", {"seconds": True}),
        ("complete true or false", {"complete": "no"}),
        ("stopped must be a string", {"stopped": 5}),
        ("must have hinge loss", {"loss": "squared_hinge"}),
        ("gamma must be positive", {"kernel": ["RBF", -1]}),
        ("degree must be", {"kernel": ["Polynomial", 2.5, 1.0, 1.0]}),
        ("", {"kernel": ["RBF", 1.0, 2.0]}),
        ("", {"kernel": 5}),
        ("C must be", {"C": -1}),
        ("C must be", {"C": np.nan}),
        ("shift must be", {"shift": "0"}),
        ("bias", {"bias": 1}),
        ("square, symmetric and dense", {"kernel": ["Precomputed"]}),
    ):
        refused(said, about=np.array(json.dumps(about | changed)))
    for name, kind in (
        ("alpha_starts", float),
        ("alpha_rows", float),
        ("event_rows", float),
        ("event_kinds", bool),
        ("margins", float),
        ("lambdas", complex),
        ("lambdas", str),
        ("betas", np.float32),
        ("X", complex),
        ("y", int),
        ("weights", np.float32),
    ):
        refused(f"{name} is of type", **{name: arrays[name].astype(kind)})
    refused("shape", lambdas=np.array(3.0))
    refused("", about=np.array("{"))
    refused("", X=np.array([{}], dtype=object))
    path.save(file)
    content = file.read_bytes()
    for damaged in (
        content[: len(content) // 2],
        content[:500] + bytes(200) + content[700:],
        b"no archive",
        b"",
    ):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="no regularisation path"):
            RegularizationPath.load(file)
    file.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="no regularisation path"):
        RegularizationPath.load(file)
    with pytest.raises(FileNotFoundError):
        RegularizationPath.load(tmp_path / "none.npz")


# The active set.


@pytest.mark.parametrize("explicit", [False, True], ids=["gram", "features"])
@pytest.mark.parametrize("balanced", [False, True], ids=["free", "balanced"])
def test_the_active_set_ends_at_the_minimum(balanced: bool, explicit: bool) -> None:
    """The end is feasible, and no row has a slope that it could follow.

    Singular matrices and rows that meet their bounds at once are included.
    """
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 8)), int(rng.integers(2, 20))
        B = rng.integers(-2, 3, (n, int(rng.integers(1, n + 1)))).astype(float)
        K = np.zeros((n + 1, n + 1))
        K[:n, :n] = B @ B.T + balanced
        i = rng.integers(0, n, p)
        j, s = np.full(p, n), np.ones(p) * balanced
        if not balanced:
            j = (i + rng.integers(1, n, p)) % n if n > 2 else 1 - i
        q = K[i, i] + K[j, j] - 2 * K[i, j]
        E = np.zeros((n + 1, B.shape[1] + balanced))
        E[:n] = np.column_stack([B, np.ones((n, int(balanced)))])
        E = E if explicit else K
        np.testing.assert_array_equal(squared_lengths(E, explicit, i, j), q)
        of = Differences(E, explicit, i.astype(np.uint32), j.astype(np.uint32), s, q)
        A = np.zeros((p, n + 1))
        A[np.arange(p), i] += 1.0
        A[np.arange(p), j] -= 1.0
        # The system is consistent: dependent rows have no separate slope.
        c = A @ K @ rng.integers(-2, 3, n + 1)
        lower, upper = -rng.integers(0, 3, p).astype(float), rng.integers(0, 3, p).astype(float)
        state, W = State.at_0(of), PathWorkingSet(of)
        W.minimise(Subproblem(c, lower, upper, np.arange(p)), 1e-9, state, lambda: None)
        x = state.x
        assert (x >= lower).all()
        assert (x <= upper).all()
        assert not balanced or abs(x.sum()) <= 1e-9
        slopes = A @ K @ A.T @ x + c
        up, down = slopes[x < upper - 1e-12], slopes[x > lower + 1e-12]
        if balanced:
            assert down.max(initial=-np.inf) <= up.min(initial=np.inf) + 1e-7, seed
        else:
            assert up.min(initial=0.0) >= -1e-7, seed
            assert down.max(initial=0.0) <= 1e-7, seed


def test_answers_near_lambda_0_are_as_good_as_all_others() -> None:
    """Between two breakpoints neither end's share is a difference from 1 that cancels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    path = regularization_path(regression(X, X[:, 0] + 0.1 * rng.normal(size=40), kernel=rbf(1.0)))
    assert path.lambdas[-1] == 0.0
    for lam in (1e-6, 1e-9, 1e-12, 1e-15):
        assert path.at(lam).relative_gap <= 1e-9
    with pytest.raises(ValueError, match="lambda must be finite and at least 1e-300"):
        path.at(1e-310)


@pytest.mark.parametrize("kernel", [linear(), rbf(1.0)])
def test_a_complete_path_answers_at_every_lambda(kernel: Kernel) -> None:
    """It answers down to 1e-300 without a warning: optimal where alpha vanishes at 0.

    Elsewhere a gap too large is announced.
    """
    X, score = scattered()
    separable = regularization_path(
        classification(X, np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0), kernel=kernel), 0.0
    )
    mixed = regularization_path(classification(X, np.where(score > 0, 1.0, -1.0)), 0.0)
    for path in (separable, mixed):
        assert path.lambdas[-1] == 0.0
        last = path.at(path.lambdas[-2]).decision_function(X)
        for lam in (1e-12, 1e-20, 1e-60, 1e-200, 1e-300):
            at = path.at(lam)
            np.testing.assert_allclose(at.decision_function(X), last, rtol=1e-9, atol=1e-9)
            assert (at.relative_gap <= 1e-8) == (at.status is Status.OPTIMAL)
            assert (at.interval.relative_width <= 1e-8) == (at.status is Status.OPTIMAL)
            assert at.status is Status.OPTIMAL or (path is mixed and lam < 1e-20)


@pytest.mark.parametrize("kind", ["ranking", "regression", "no bias"])
def test_what_is_left_of_f_at_0_says_how_far_down_a_path_can_be_held(kind: str) -> None:
    """A column of 1e6 stands next to columns of 1.

    The multipliers at 0 leave an f of 1e-9 of that, which is much where lambda is
    small.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=40)
    X[:, 2] *= 1e6
    problem = {
        "ranking": lambda: ranking(X[:15], y[:15]),
        "regression": lambda: regression(X, y),
        "no bias": lambda: classification(X, np.sign(y), bias=False),
    }[kind]()
    path = regularization_path(problem)
    # Without a bias the last two breakpoints are 1e10 apart.
    assert path.complete == (kind != "no bias")
    for lam in np.geomspace(path.lambdas[-1] or 1e-4, path.lambdas[0], 20).tolist():
        assert path.at(lam).relative_gap <= 1e-8


def test_kernel_values_beyond_all_floats_are_refused() -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        # No constructor makes this problem.
        problem = MarginProblem(
            np.array([[1e160], [-1e160]]), linear(), Signed(np.array([1.0, -1.0]))
        )
        with pytest.raises(ValueError, match="kernel values are outside the float64 range"):
            regularization_path(problem)


def test_a_hundred_short_paths_take_less_work_than_compiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work, walk = [], steps.walk

    def noted(*arguments: Any) -> tuple[int, int]:
        result = walk(*arguments)
        work.append(steps._walk_work(result, *arguments))
        return result

    monkeypatch.setattr(steps, "walk", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    path = regularization_path(classification(X, y, kernel=rbf(0.2)), 1e-2)
    assert path.complete
    assert 0 < 100 * sum(work) < jit.ENTRIES_PER_BYTE * jit._size(walk)
