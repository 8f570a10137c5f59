"""scikit-learn's checks of estimators: all of them, with no expected failures.

Where weights are compared with copies of rows, decision values must agree to 1e-7; of a
squared hinge that takes a gap of 1e-14.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from equimargin.estimators import (
    MarginClassifier,
    MarginClassifierPathCV,
    MarginRanker,
    MarginRankerPathCV,
    MarginRegressor,
    MarginRegressorPathCV,
    OneNormRanker,
    OrdinalClassifier,
    PairwiseCoupling,
    QueryDocumentFeatures,
)
from equimargin.formulations import rbf
from equimargin.svm import SVC
from places import HANG, ROOT

ESTIMATORS = [
    MarginClassifier(),
    MarginClassifier(kernel="rbf"),
    MarginClassifier(kernel="poly", degree=2, coef0=1.0),
    MarginClassifier(kernel="precomputed"),
    MarginClassifier(kernel=rbf(0.5), loss="squared_hinge", bias="penalized", tol=1e-14),
    MarginClassifier(bias="penalized"),
    MarginRegressor(),
    MarginRegressor(kernel="rbf"),
    MarginRanker(),
    MarginRanker(kernel="rbf", loss="squared_hinge", per_query="mean"),
    OneNormRanker(),
    OneNormRanker(over="pairs"),
    OrdinalClassifier(),
    OrdinalClassifier(kernel="rbf", loss="hinge", tol=1e-13),
    OrdinalClassifier(loss="hinge", tol=1e-12),
    OrdinalClassifier(kernel="poly", degree=2, gamma=0.01, coef0=1.0, C=0.1, tol=1e-14),
    MarginClassifierPathCV(cv=2, lambda_min=0.1),
    MarginClassifierPathCV(kernel="rbf", cv=2, lambda_min=0.1),
    MarginRegressorPathCV(cv=2, lambda_min=0.1),
    MarginRegressorPathCV(kernel="rbf", cv=2, lambda_min=0.1),
    MarginRankerPathCV(cv=2, lambda_min=10.0),
    QueryDocumentFeatures(),
    MarginClassifierPathCV(penalty="l1", cv=2, lambda_min=0.1),
    MarginRankerPathCV(penalty="l1", cv=2, lambda_min=10.0),
]


WITH_UNWEIGHTED_POINTS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "a point of weight 0 has no pairs, and f may contain it nevertheless",
)
"""Checks beyond the guarantees of a ranker whose function is a sum over the points."""


def failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks that an estimator does not pass, with the reasons."""
    points = isinstance(estimator, OneNormRanker) and estimator.over == "points"
    return WITH_UNWEIGHTED_POINTS if points else {}


every_check: pytest.MarkDecorator = parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=failed_checks
)


def is_made_indefinite(estimator: Any, check: Any) -> bool:
    """Return True if the check subtracts the mean entry from a Gram matrix.

    The difference has an eigenvalue far below 0.
    """
    return (
        bool(get_tags(estimator).input_tags.pairwise)
        and check.func.__name__ == "check_positive_only_tag_during_fit"
    )


@pytest.mark.filterwarnings("ignore:the labels are words:UserWarning")
@every_check
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    with (
        pytest.warns(ConvergenceWarning, match="not convex")
        if is_made_indefinite(estimator, check)
        else nullcontext()
    ):
        check(estimator)


NOT_OF_SIGMOIDS = {
    name: reason
    for names, reason in (
        (
            ("check_classifiers_train",),
            "where two classes are about as probable, the sigmoid may prefer another than "
            "the sign does",
        ),
        (
            (
                "check_sample_weight_equivalence_on_dense_data",
                "check_sample_weight_equivalence_on_sparse_data",
            ),
            "copies of a row may come into several folds, and a row of weight 2 comes into one",
        ),
    )
    for name in names
}
"""Checks beyond the guarantees of Platt's sigmoids, in scikit-learn's SVC too."""


def not_of_sigmoids(estimator: Any) -> dict[str, str]:
    """Return the checks that probabilities do not promise; PairwiseCoupling predicts by them."""
    apart = {"check_classifiers_train"} if isinstance(estimator, PairwiseCoupling) else set()
    return {name: reason for name, reason in NOT_OF_SIGMOIDS.items() if name not in apart}


checks_with_probabilities: pytest.MarkDecorator = parametrize_with_checks(
    [
        MarginClassifier(probability=True),
        SVC(gamma=0.5, probability=True),
        PairwiseCoupling(SVC(gamma=0.5)),
        PairwiseCoupling(LogisticRegression(), method="bradley_terry"),
    ],
    expected_failed_checks=not_of_sigmoids,
)


@pytest.mark.filterwarnings("ignore:the `probability` parameter is deprecated")
@checks_with_probabilities
def test_the_checks_pass_with_probabilities_but_for_what_these_do_not_promise(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.slow
def test_the_check_of_arrays_of_other_kinds_passes() -> None:
    """scikit-learn skips it unless the variable is set before SciPy is imported."""
    code = (
        "from equimargin.estimators import *\n"
        "from inspect import signature\n"
        "from sklearn.utils.estimator_checks import check_array_api_input as check\n"
        "options = {'array_namespace': 'numpy', 'expect_only_array_outputs': False}\n"
        "known = {k: v for k, v in options.items() if k in signature(check).parameters}\n"
        "for kind in (MarginClassifier, MarginRegressor, MarginRanker, OneNormRanker, "
        "OrdinalClassifier):\n"
        "    check(kind.__name__, kind(), **known)\n"
        "print('passed')"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": str(ROOT / "src")}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=HANG
    )
    assert (answer.returncode, answer.stdout) == (0, "passed\n"), answer.stderr
