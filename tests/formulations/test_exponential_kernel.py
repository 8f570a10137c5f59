"""Exponential kernel, a third kernel in one file: name, bounds, solutions, files."""

from __future__ import annotations

import numpy as np
import pytest

from equimargin import compare
from equimargin.estimators import MarginClassifier
from equimargin.formulations import classification, exponential, ranking
from equimargin.formulations.kernels.registry import KERNELS, named_kernel
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.exact.numbers import given_gram
from equimargin.solvers.problem_file import packed, unpacked
from narrow import present

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(12, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    "problem",
    [
        classification(X, Y, 2.0, exponential(0.7)),
        ranking(X, np.arange(12) // 3, C=0.5, kernel=exponential(2.0)),
    ],
)
def test_all_answers_agree(problem: object) -> None:
    found = compare(problem)
    assert found.agree, str(found)


def test_an_interval_holds_the_exact_optimum_of_the_gram_matrix() -> None:
    problem = classification(X, Y, 2.0, exponential(0.7))
    proven = solve(problem, "smo", tol=1e-10).interval
    # The optimum is of the float matrix, which differs from the kernel's by rounding.
    exact = float(present(exact_optimum(given_gram(problem)).value))
    assert proven.lower * (1 - 1e-12) <= exact <= proven.upper * (1 + 1e-12)
    assert proven.relative_width < 1e-9


def test_it_is_the_exponential_of_the_distance() -> None:
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert exponential(0.3).block(X, X) == pytest.approx(np.exp(-0.3 * distances), rel=1e-14)


def test_an_estimator_takes_it_by_name() -> None:
    from sklearn.metrics.pairwise import pairwise_distances
    from sklearn.svm import SVC

    ours = MarginClassifier(C=3.0, kernel="exponential", gamma=0.5, tol=1e-10).fit(X, Y)
    peer = SVC(C=3.0, kernel=lambda a, b: np.exp(-0.5 * pairwise_distances(a, b)), tol=1e-10).fit(
        X, Y
    )
    assert ours.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-6)


def test_a_file_keeps_it() -> None:
    assert unpacked(*packed(classification(X, Y, 2.0, exponential(0.7)))).kernel == exponential(0.7)


def test_it_has_a_name_and_one_parameter() -> None:
    assert list(KERNELS)[:6] == ["linear", "poly", "rbf", "sigmoid", "precomputed", "chi2"]
    assert named_kernel("exponential", X, None, {"gamma": "auto"}) == exponential(0.5)
    with pytest.raises(ValueError, match=r"^the kernel exponential has no degree; it has gamma$"):
        named_kernel("exponential", X, None, {"degree": 2})
    with pytest.raises(
        ValueError, match=r"^exponential kernel: gamma must be positive and finite, not 0$"
    ):
        exponential(0)
