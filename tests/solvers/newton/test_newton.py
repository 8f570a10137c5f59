"""Newton's method: proven intervals, LIBLINEAR's optima, and difficult data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, make_classification
from sklearn.svm import LinearSVC, LinearSVR

from equimargin.formulations.kernels import features
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.kernels.kernel import rbf, sigmoid
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_ranking,
    ranking,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.formulations.rows.loss import SQUARED_HINGE, huberised_hinge
from equimargin.formulations.rows.pair_slacks import PairCurvature
from equimargin.solvers import solve
from equimargin.solvers.newton import hessian, newton
from equimargin.solvers.newton.hessian import TRIED_PRODUCTS, NewtonSystem
from equimargin.solvers.newton.start import MOST_POINTS, Subsample
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.solution import Limits, Status
from narrow import present
from optima import LABELS, SCALED, reached, same_optimum

checked = partial(reached, "newton")

DIABETES = load_diabetes()


def squared(X: Any, y: Any, C: float = 1.0, **options: Any) -> MarginProblem:
    """Return a classification with the squared hinge."""
    return classification(X, y, C, loss="squared_hinge", **options)


def test_classification_is_liblinears() -> None:
    problem = squared(SCALED, LABELS, 0.1, bias="penalized")
    model = LinearSVC(C=0.1, dual=False, tol=1e-10, max_iter=10_000, intercept_scaling=1).fit(
        SCALED, LABELS
    )
    w = np.append(model.coef_[0], model.intercept_)
    theirs = problem.primal(SCALED @ w[:-1] + w[-1], float(w @ w), 0.0)
    solution = checked(problem, 1e-10)
    assert solution.lower <= theirs * (1 + 1e-12)
    assert solution.upper <= theirs * (1 + 1e-10)
    assert solution.decision_function(SCALED) == pytest.approx(
        model.decision_function(SCALED), abs=1e-5
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 20.0])
def test_regression_is_liblinears(epsilon: float) -> None:
    X, y = DIABETES.data * 20, DIABETES.target - DIABETES.target.mean()
    problem = regression(X, y, 0.1, epsilon, loss="squared_hinge")
    model = LinearSVR(
        C=0.1,
        epsilon=epsilon,
        loss="squared_epsilon_insensitive",
        dual=False,
        tol=1e-10,
        max_iter=10_000,
        fit_intercept=False,
    ).fit(X, y)
    f = X @ model.coef_
    theirs = problem.primal(f, float(model.coef_ @ model.coef_), problem.bias_at(f))
    solution = checked(problem, 1e-10)
    # The other machine is trained without a bias, so its value is no better.
    assert solution.lower <= theirs * (1 + 1e-12)


def test_a_start_on_some_of_the_points_changes_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(3000, 10, n_informative=5, flip_y=0.05, random_state=0)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, 3000)
    problem = squared(X, np.where(y > 0, 1.0, -1.0), sample_weight=weights)
    cold = checked(problem, 1e-10)
    monkeypatch.setattr(
        newton, "SQUARED_HINGE_SUBSAMPLE", newton.SQUARED_HINGE_SUBSAMPLE._replace(entries=1)
    )
    warm = checked(problem, 1e-10)
    same_optimum(cold, warm)
    assert present(warm.iterations) < present(cold.iterations)
    score = X[:300] @ np.arange(10)
    checked(ranking(X[:300], np.digitize(score, [0.0]), None, 0.1, loss="squared_hinge"))
    monkeypatch.setattr(
        newton, "SQUARED_HINGE_SUBSAMPLE", Subsample(entries=1, points_per_feature=2)
    )
    # There are no pairs.
    checked(ranking(X[:300], np.digitize(score, [1e9]), None, 0.1, loss="squared_hinge"))


def test_refusals() -> None:
    assert "kink" in str(newton.REQUIREMENTS.refusal(classification(SCALED, LABELS)))
    assert "linear program" in str(
        newton.REQUIREMENTS.refusal(one_norm_ranking(SCALED[:9], LABELS[:9]))
    )
    assert "hard rows" in str(newton.REQUIREMENTS.refusal(squared(SCALED, LABELS, np.inf)))
    assert "semidefinite" in str(
        newton.REQUIREMENTS.refusal(squared(SCALED, LABELS, kernel=sigmoid()))
    )
    many = np.random.default_rng(0).normal(size=(MOST_POINTS + 1, 2))
    assert "1,001 points" in str(
        newton.REQUIREMENTS.refusal(squared(many, np.ones(len(many)), kernel=rbf()))
    )


def test_auto_takes_few_features_for_squares_and_many_points_as_well_for_the_hinge() -> None:
    tall, wide = np.random.default_rng(0).normal(size=(2000, 3)), SCALED[::15]
    for X, y, names in (
        (tall, np.sign(tall[:, 0]), ("newton", "huber")),
        (SCALED, LABELS, ("newton", "smo")),
        (wide, LABELS[::15], ("smo", "smo")),
    ):
        found = solve(squared(X, y)).solver, solve(classification(X, y)).solver
        assert found == names
    assert (
        solve(
            squared(tall, np.sign(tall[:, 0]), sample_weight=np.r_[np.inf, np.ones(1999)]), tol=1e-3
        ).solver
        == "smo"
    )


def test_a_penalised_bias_is_the_last_entry_of_w() -> None:
    problem = squared(SCALED, LABELS, bias="penalized")
    solution = checked(problem, 1e-10)
    assert solution.w is not None
    assert solution.w.shape == (SCALED.shape[1] + 1,)
    assert solution.decision_function(SCALED) == pytest.approx(
        SCALED @ solution.w[:-1] + solution.w[-1]
    )
    assert solution.decision_function(SCALED) == pytest.approx(
        problem.gram @ present(solution.beta), abs=1e-6
    )


ROWS: list[Rows] = [
    Signed(np.array([1.0, -1.0, -1.0, 1.0, 1.0])),
    Tube(np.array([0.3, -1.0, 2.0, 0.0, 0.5]), 0.2),
    Pairs(np.array([0, 1, 4, 4]), np.array([1, 2, 0, 3]), 5),
]


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: type(rows).__name__)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("few", [0, features.ENTRIES_WITHOUT_BLAS], ids=["by BLAS", "compiled"])
def test_what_an_optimiser_sees_of_the_rows(
    rows: Rows, constant: bool, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compared are loss, gradient, Hessian and weighted Gram matrix.

    The references are the explicit matrix A and differences.
    """
    monkeypatch.setattr(features, "ENTRIES_WITHOUT_BLAS", few)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 3)) * (rng.random((5, 3)) < 0.7)
    A, c, D = rows.matrix.toarray(), rng.uniform(0.5, 2.0, rows.p), rng.normal(size=rows.p)
    stored = np.column_stack([X, np.ones(5)]) if constant else X
    v = rng.normal(size=stored.shape[1])
    for X_given in (X, sparse.csr_array(X)):
        Z = Explicit(X_given, constant)
        assert Z.squares == pytest.approx((stored**2).sum(axis=1))
        curved = rows.curvature(D)
        assert curved.gram(Z) == pytest.approx(stored.T @ A.T @ np.diag(D) @ A @ stored)
        assert curved.gram(Z, single=True) == pytest.approx(
            stored.T @ A.T @ np.diag(D) @ A @ stored, abs=1e-5
        )
        assert curved.gram_product(Z, v) == pytest.approx(stored.T @ A.T @ (D * (A @ (stored @ v))))
    g, h = rng.normal(size=5), rng.normal(size=5)
    assert rows.slack(g) == pytest.approx(rows.t - A @ g)
    assert rows.s == pytest.approx(A @ np.ones(5))
    assert rows.curvature(D).hess_vec(h) == pytest.approx(A.T @ (D * (A @ h)))
    assert rows.curvature(D).weight() == pytest.approx(np.sum(np.abs(A).T @ D))
    assert rows.invariant is bool((A @ np.ones(5) == 0).all())
    for phi in (SQUARED_HINGE, huberised_hinge(0.7)):
        u, line, step = rows.slack(g), rows.slacks_by_row(g, c).along(h), 1e-6
        slacks = rows.slacks_by_row(g, c)
        seen = slacks.expanded(phi)
        change = line.to(step).expanded(phi).loss - line.to(-step).expanded(phi).loss
        assert line.slope(phi, 0.0) == pytest.approx(change / (2 * step), abs=1e-6)
        assert -rows.rdot(seen.alpha) @ h == pytest.approx(line.slope(phi, 0.0))
        bend = h @ rows.curvature(seen.D).hess_vec(h)
        assert line.curvature(phi, 0.0) == pytest.approx(phi.slope * bend)
        assert (
            slacks.hinge()
            == pytest.approx(c @ np.maximum(u, 0.0))
            == rows.slacks_by_row(g, c).hinge()
        )
        assert seen.loss == pytest.approx(c @ phi.value(u))
        assert seen.alpha == pytest.approx(c * phi.derivative(u))
        assert pytest.approx(c * phi.curved(u)) == seen.D
        # This is Fenchel's equality.
        assert seen.loss + seen.conjugate == pytest.approx(seen.alpha @ u)
    part, index = rows.part(np.array([0, 2, 4]))
    assert part.matrix.toarray() == pytest.approx(A[index][:, [0, 2, 4]])
    assert part.t == pytest.approx(rows.t[index])


def test_a_hessian_of_rows_in_float32_is_that_in_float64_but_for_its_rounding() -> None:
    """Costs are of either size, equal or not.

    There are more rows than are gathered at a time, and a column of ones.
    """
    rng = np.random.default_rng(2)
    Z, index = (
        Explicit(rng.normal(size=(30_000, 10)), True),
        np.flatnonzero(rng.random(30_000) < 0.5),
    )
    for D in (np.full(len(index), 1e-3), rng.uniform(1.0, 1e3, len(index))):
        exact, single = (Z.gram(index, D, low) for low in (False, True))
        assert exact == pytest.approx(Z.rows(index).T @ (D[:, None] * Z.rows(index)))
        assert 0 < np.abs(single - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("bias", [False, True])
def test_the_last_factor_is_corrected_for_the_rows_that_have_changed(
    bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The corrected direction is that of a new factor.

    Problems are classes, and a tube, whose points have two rows each.
    """
    X, y = make_classification(160, 40, n_informative=20, random_state=3)
    of, corrected, compared = hessian.NewtonSystem._of_rows, hessian.NewtonSystem._corrected, []

    def beside_a_new_factor(system: hessian.NewtonSystem, seen: Any, D: Any) -> Any:
        solve, v = corrected(system, seen, D), -seen.G
        if solve is not None:
            fresh = hessian.NewtonSystem(system.problem, system.Z, system.R)
            progress = DualConvergenceMonitor("newton", system.problem, Limits(), 1)
            compared.append(
                (solve(v), of(fresh, seen, D, progress)(v), (D != present(system.factored).D).sum())
            )
        return solve

    monkeypatch.setattr(hessian.NewtonSystem, "_corrected", beside_a_new_factor)
    monkeypatch.setattr(hessian, "FEWEST_CORRECTED_COLUMNS", 2)
    monkeypatch.setattr(hessian, "COLUMNS_PER_CORRECTION", 1)
    for problem in (
        squared(X, 2.0 * y - 1.0, bias=bias),
        regression(X, X[:, 0] + y, 1.0, 0.1, loss="squared_hinge"),
    ):
        assert solve(problem, "newton", tol=1e-10).ok
    assert any(changed > 0 for *_, changed in compared)
    for near, new, _ in compared:
        assert near == pytest.approx(new, rel=1e-3, abs=1e-3 * np.abs(new).max())


@pytest.mark.parametrize(
    "d",
    [features.FEWEST_LOOPED_COLUMNS - 1, features.FEWEST_LOOPED_COLUMNS + 3],
    ids=["by BLAS", "compiled"],
)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 20])
def test_a_combination_of_points_is_that_of_those_with_a_coefficient(d: int, count: int) -> None:
    """This includes the remainder of points taken four at a time, and extended precision."""
    rng = np.random.default_rng(count)
    X, beta = rng.normal(size=(20, d)), np.zeros(20)
    beta[rng.permutation(20)[:count]] = rng.normal(size=count)
    for constant in (False, True):
        expected = np.append(X.T @ beta, beta.sum())[: d + constant]
        assert Explicit(X, constant).rdot(beta) == pytest.approx(expected, abs=1e-13)
        assert Explicit(X, constant).rdot(beta.astype(np.longdouble)).dtype == np.longdouble


def dependent(C: float, scale: float = 1.0, apart: float = 0.1) -> MarginProblem:
    """Return a ranking of 300 features that depend on 8 factors.

    Each feature also has noise of size `apart`.
    """
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(900, 8)) * np.geomspace(3, 0.3, 8)
    X = (
        scale
        * (factors @ rng.normal(size=(8, 300)) + apart * rng.normal(size=(900, 300)))
        * 10.0 ** rng.uniform(-0.5, 0.5, 300)
    )
    levels = np.digitize(factors @ rng.normal(size=8) + rng.normal(size=900), [-2.0, 0.0, 2.0])
    return ranking(X, levels, np.arange(900) % 60, loss="squared_hinge", C=C)


def noted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the steps of every later run.

    True and False are Hessians in float32 and float64; a pair is a call of conjugate
    gradients, its products and whether they were enough.
    """
    done: list[Any] = []
    gram, gradients = PairCurvature.gram, NewtonSystem._by_conjugate_gradients

    def formed(self: PairCurvature, Z: Any, single: bool = False) -> Any:
        done.append(single)
        return gram(self, Z, single)

    def called(self: NewtonSystem, *arguments: Any) -> Any:
        before = self.products
        s, enough = gradients(self, *arguments)
        done.append((self.products - before, enough))
        return s, enough

    monkeypatch.setattr(PairCurvature, "gram", formed)
    monkeypatch.setattr(NewtonSystem, "_by_conjugate_gradients", called)
    return done


@pytest.mark.parametrize("C", [1e-2, 1e-1])
def test_conjugate_gradients_give_way_to_a_hessian_where_they_are_slow(
    C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = noted(monkeypatch)
    checked(dependent(C), 1e-6)
    given_up = done.index((TRIED_PRODUCTS, False))
    assert all(enough for _, enough in done[:given_up])
    assert done[given_up + 1] is True
    assert len(done) > given_up + 2
    assert all(
        enough and products < 2 * TRIED_PRODUCTS for products, enough in done[given_up + 2 :]
    )


def test_a_hessian_in_float32_gives_way_to_one_in_float64_where_only_its_rounding_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hessian, "LARGEST_ROUGH", np.inf)
    done = noted(monkeypatch)
    solve(dependent(1e3, scale=1e6, apart=1e-5), "newton", max_iter=10)
    assert [step for step in done if isinstance(step, bool)][:2] == [True, False]


def test_a_diagonal_that_is_too_large_is_summed_in_float64_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = noted(monkeypatch)
    solve(dependent(1e3, scale=1e6), "newton", max_iter=10)
    assert next(step for step in done if isinstance(step, bool)) is False


@pytest.mark.parametrize("scale", [1e12, 3e18, 1e25])
def test_hessians_are_summed_in_float64_for_a_few_points_of_extreme_size(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    levels = np.digitize(X[:, 0] + rng.normal(size=2000), (-0.5, 0.5))
    X[[1, 2]] *= scale
    done = noted(monkeypatch)
    found = solve(ranking(X, levels, loss="squared_hinge"), "newton", max_iter=3)
    assert [step for step in done if isinstance(step, bool)]
    assert not any(step is True for step in done)
    assert found.reason
    assert np.isfinite(present(found.w)).all()


def test_directions_of_ascent_end_a_run_with_its_best_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NewtonSystem, "solve", lambda self, seen, progress: 1e-30 * seen.G)
    found = solve(squared(SCALED, LABELS), "newton")
    assert found.status is Status.NUMERICAL_FAILURE
    assert "no progress" in found.reason
    assert np.isfinite(present(found.w)).all()


def test_a_hessian_that_overflows_float32_gives_way_to_one_in_float64(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    levels = np.digitize(X[:, 0] + rng.normal(size=2000), (-0.5, 0.5))
    X[[1, 2]] *= 3e18
    monkeypatch.setattr(Explicit, "mean_square", lambda self: 60.0)
    done = noted(monkeypatch)
    found = solve(ranking(X, levels, loss="squared_hinge"), "newton", max_iter=3)
    assert [step for step in done if isinstance(step, bool)][:2] == [True, False]
    assert found.reason
    assert np.isfinite(present(found.w)).all()
