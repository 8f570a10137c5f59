"""Laplacian and chi-squared kernels, and sums, products and multiples of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC as PeerSVC

from equimargin.estimators import MarginClassifier
from equimargin.formulations import (
    REGISTRY,
    Kernel,
    chi2,
    classification,
    laplacian,
    linear,
    polynomial,
    precomputed,
    ranking,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.kernels.kernel import RBF, Linear, Multiple, Product, Sum
from equimargin.formulations.kernels.registry import KERNELS, named_kernel
from equimargin.formulations.kernels.registry import kernel as register
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers import SOLVERS, exact_optimum, solve
from equimargin.solvers.exact.numbers import given_gram
from equimargin.solvers.problem_file import packed, unpacked
from equimargin.svm import SVC
from narrow import present

RANDOM = np.random.default_rng(0)
X = RANDOM.exponential(size=(14, 3)) * (RANDOM.random((14, 3)) < 0.7)
Y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
FEW = {
    "laplacian": laplacian(0.7),
    "chi2": chi2(0.7),
    "sum": rbf(0.5) + 0.2 * linear(),
    "product": laplacian(0.4) * polynomial(2, 0.5, 1.0),
    "multiple": 2.5 * rbf(0.5),
}
every_kernel = pytest.mark.parametrize("kernel", FEW.values(), ids=FEW)


@every_kernel
@pytest.mark.parametrize(
    ("make", "more"),
    [
        (classification, {"y": Y}),
        (classification, {"y": Y, "loss": "squared_hinge", "bias": False}),
        (regression, {"y": X.sum(axis=1), "epsilon": 0.05}),
        (ranking, {"y": np.arange(14) % 4, "loss": "squared_hinge"}),
    ],
    ids=["hinge", "squared hinge", "regression", "ranking"],
)
def test_every_solver_proves_bounds_of_the_exact_optimum(
    make: Any, more: dict[str, Any], kernel: Kernel
) -> None:
    problem = make(X, C=1.5, kernel=kernel, **more)
    # The optimum is of the float matrix, which differs from the kernel's by rounding.
    exact = float(present(exact_optimum(given_gram(problem)).value))
    ran = {name for name, solver in SOLVERS.items() if solver.refusal(problem) is None}
    assert ran & {"smo", "newton"}
    for name in ran:
        found = solve(problem, name, tol=1e-9)
        proven = found.interval
        assert proven.lower * (1 - 1e-12) <= exact <= proven.upper * (1 + 1e-12), name
        assert proven.relative_width < 1e-7, name


@pytest.mark.parametrize(("make", "peer"), [(laplacian, laplacian_kernel), (chi2, chi2_kernel)])
def test_values_are_those_of_scikit_learn(make: Any, peer: Any) -> None:
    wide = np.abs(np.random.default_rng(1).normal(size=(150, 7)))
    assert make(0.3).block(wide[:20], wide) == pytest.approx(
        peer(wide[:20], wide, gamma=0.3), rel=1e-13
    )
    default = named_kernel(make(1.0).name, wide, None, {})
    assert default.block(wide, wide) == pytest.approx(peer(wide), rel=1e-13)


@pytest.mark.parametrize("kernel", [laplacian(0.7), chi2(0.7), FEW["sum"]], ids=str)
def test_sparse_points_have_the_values_of_dense_ones(kernel: Kernel) -> None:
    rows = sparse.csr_array(X)
    K = kernel.block(X, X[:9])
    for A, B in ((rows, rows[:9]), (rows, X[:9]), (X, rows[:9])):
        assert kernel.block(A, B) == pytest.approx(K, rel=1e-14)
    # Duplicates are summed before their distance is taken.
    twice = sparse.csr_array((np.ones(2), np.zeros(2, dtype=int), [0, 2]), shape=(1, 3))
    one = sparse.csr_array(np.zeros((1, 3)))
    assert kernel.block(twice, one) == kernel.block(twice.toarray(), one.toarray())
    found = solve(classification(rows, Y, 1.5, kernel), tol=1e-9)
    dense = solve(classification(X, Y, 1.5, kernel), tol=1e-9)
    assert found.upper == pytest.approx(dense.upper, rel=1e-8)
    assert found.decision_function(X) == pytest.approx(dense.decision_function(X), abs=1e-4)


def test_negative_features_are_refused_wherever_they_come_from() -> None:
    message = "^Negative values in data, .*: X holds -2; scale each feature"
    turned = X.copy()
    turned[3, 1] = -2.0
    kernel = rbf(1.0) * (2.0 * chi2(1.0))
    for points in (turned, sparse.csr_array(turned)):
        with pytest.raises(ValueError, match=message):
            classification(points, Y, kernel=kernel)
        with pytest.raises(ValueError, match=message):
            classification(points, Y, kernel=chi2(1.0), bias="penalized")
    fitted = SVC(kernel="chi2").fit(X, Y)
    with pytest.raises(ValueError, match=message):
        fitted.predict(turned)
    assert fitted.__sklearn_tags__().input_tags.positive_only


def test_differences_of_nonnegative_features_have_no_kernel() -> None:
    problem = ranking([[0.0], [1.0]], [0, 1], kernel=chi2())
    assert REGISTRY["rank.l1.primal"].refusal(problem) is None
    refusal = present(REGISTRY["rank.differences.dual"].refusal(problem))
    assert str(refusal).endswith("needs a kernel of features of either sign")


def test_kernels_are_combined_by_operators() -> None:
    k, other = rbf(0.5), laplacian(2.0)
    assert k + other == Sum(k, other)
    assert k * other == Product(k, other)
    assert 2 * k == k * 2.0 == np.float64(2.0) * k == Multiple(2.0, k)
    A, B = k.block(X, X[:5]), other.block(X, X[:5])
    combined = 2.0 * k * other + k
    assert combined.block(X, X[:5]) == pytest.approx(2.0 * A * B + A, rel=1e-14)
    assert not (k + sigmoid()).positive_semidefinite
    assert np.isnan((k * sigmoid()).rounding(X, X, A, np.ones(14))).all()
    with pytest.raises(TypeError, match="unsupported operand"):
        k + 1  # type: ignore[operator]
    for factor in (-1.0, 0, np.inf, True):
        with pytest.raises(ValueError, match="multiple kernel: factor must be positive and finite"):
            factor * k
    with pytest.raises(ValueError, match=r"kernels of points, .* not Precomputed\(\); add or mult"):
        k + precomputed()


@every_kernel
def test_a_file_keeps_the_kernel(kernel: Kernel) -> None:
    problem = classification(X, Y, 2.0, kernel, bias="penalized")
    assert unpacked(*packed(problem)).kernel == problem.kernel


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["Sum", ["RBF", 1.0], 3.0], "kernels of points"),
        (["Multiple", -1.0, ["RBF", 1.0]], "factor must be positive"),
        (["Product", ["RBF", 1.0], ["Precomputed"]], "kernels of points"),
        (["Composite"], "kernel 'Composite' is unknown"),
    ],
)
def test_a_file_with_parts_that_are_no_kernels_is_refused(text: list[Any], message: str) -> None:
    words, arrays = packed(classification(X, Y, 2.0, rbf(1.0) + linear()))
    with pytest.raises(ValueError, match=message):
        unpacked({**words, "kernel": text}, arrays)


def test_constructors_and_estimators_know_the_names() -> None:
    assert classification(X, Y, kernel="laplacian").kernel == laplacian(1 / 3)
    assert classification(X, Y, kernel="chi2").kernel == chi2(1.0)
    assert classification(X, Y, kernel="poly").kernel == polynomial(3, 1 / (3 * X.var()), 0.0)
    with pytest.raises(ValueError, match=r"kernel must be 'linear', 'poly', .*, not 'cosine'"):
        classification(X, Y, kernel="cosine")
    for kernel in ("laplacian", "chi2"):
        K = named_kernel(kernel, X, None, {"gamma": 0.5}).block(X, X)
        peer = PeerSVC(C=3.0, kernel="precomputed", tol=1e-10).fit(K, Y)
        for kind in (SVC, MarginClassifier):
            ours = kind(C=3.0, kernel=kernel, gamma=0.5, tol=1e-10).fit(X, Y)
            assert ours.decision_function(X) == pytest.approx(peer.decision_function(K), abs=1e-4)


def test_the_bound_of_a_long_product_evaluates_every_part_a_few_times() -> None:
    class Counted(RBF):
        calls = 0

        def rounding(self, *arguments: Any) -> Array:
            Counted.calls += 1
            return super().rounding(*arguments)

    kernel: Kernel = Counted(0.1)
    for _ in range(9):
        kernel = kernel * Counted(0.1)
    bound = kernel.rounding(X, X, kernel.block(X, X), np.ones(14))
    assert 0 < bound.max() < 1e-11
    assert Counted.calls == 19


@pytest.mark.parametrize("make", [laplacian, chi2])
def test_integers_have_the_values_of_floats(make: Any) -> None:
    whole = np.array([[0, 3], [2, 1]], dtype=np.uint8)
    for points in (whole, sparse.csr_array(whole)):
        assert (make(0.1).block(points, points) == make(0.1).block(1.0 * whole, 1.0 * whole)).all()


def test_a_variance_without_weights_gives_a_gamma_of_1() -> None:
    assert named_kernel("rbf", X, np.zeros(len(X)), {}) == rbf(1.0)


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_a_variance_outside_of_float64_gives_no_gamma(factor: float) -> None:
    with pytest.raises(ValueError, match=r"^gamma='scale' needs .*; multiply X by a constant, or"):
        classification(factor * X, Y, kernel="poly")


def test_kernel_values_outside_of_float64_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"or give the kernel smaller parameters$"):
        classification(X, Y, kernel=1e308 * rbf(1.0))


def test_a_plugin_of_nonnegative_features_has_its_tag_by_name() -> None:
    @register("histogram")
    @dataclass(frozen=True)
    class Histogram(Kernel):
        nonnegative = True
        block, diagonal, rounding = Linear.block, Linear.diagonal, Linear.rounding
        diagonal_bound = Linear.diagonal_bound

    try:
        for kernel in ("histogram", Histogram(), "chi2", linear() + chi2()):
            assert MarginClassifier(kernel=kernel).__sklearn_tags__().input_tags.positive_only
        for kernel in ("linear", "unknown", linear()):
            assert not MarginClassifier(kernel=kernel).__sklearn_tags__().input_tags.positive_only
    finally:
        KERNELS.forget("histogram")


def test_a_search_chooses_among_combined_kernels() -> None:
    kernels = [rbf(0.5) + linear(), laplacian(0.5) * polynomial(1)]
    search = GridSearchCV(SVC(), {"kernel": kernels}, cv=2).fit(X, Y)
    assert clone(search.best_estimator_).kernel in kernels
    lower, upper = search.best_estimator_.objective_bounds_
    assert 0 < lower <= upper < lower * (1 + 1e-6)


@pytest.mark.parametrize("kernel", [laplacian(1.0), FEW["sum"]], ids=str)
def test_a_card_refuses_a_kernel_that_it_lacks(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match=f"a {kernel.name} kernel, which a card does not compute"):
        solve(classification(X, Y, kernel=kernel), device="cuda")
