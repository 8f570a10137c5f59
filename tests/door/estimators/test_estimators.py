"""Estimators against scikit-learn on real data and against each other.

Bounds, routing, pickles and messages are checked as well.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from equimargin.estimators import (
    MarginClassifier,
    MarginClassifierPathCV,
    MarginRanker,
    MarginRankerPathCV,
    MarginRegressor,
    MarginRegressorPathCV,
    OneNormRanker,
    ranking_scorer,
)
from equimargin.formulations import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    polynomial,
    ranking,
    rbf,
)
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.problem.construct import make_family_problem
from equimargin.formulations.rows.listed import Pairs
from equimargin.metrics import kendall_tau, ndcg, pairwise_accuracy
from equimargin.selection import make_folds
from equimargin.solvers import solve
from narrow import as_a

Array = NDArray[np.float64]


def scaled(X: Array) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


@pytest.fixture(scope="module")
def cancer() -> tuple[Array, NDArray[Any]]:
    """Return two named classes."""
    data = load_breast_cancer()
    return scaled(data.data), data.target_names[data.target]


@pytest.fixture(scope="module")
def wine() -> tuple[Array, NDArray[Any]]:
    """Return three named classes."""
    data = load_wine()
    return scaled(data.data), np.array(["barolo", "grignolino", "barbera"])[data.target]


@pytest.fixture(scope="module")
def documents() -> tuple[Array, Array, NDArray[Any]]:
    """Return three levels in twelve queries with mixed rows."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(180, 4)), rng.permutation(np.repeat(np.arange(12), 15))
    return X, np.digitize(X[:, 0] - X[:, 1] + rng.normal(size=180), [-1.0, 1.0]).astype(float), qid


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": "auto"},
        {"kernel": "poly", "coef0": 1.0, "degree": 2},
    ],
)
def test_two_classes_are_those_of_svc(cancer: Any, kernel: dict[str, Any]) -> None:
    X, y = cancer
    ours, theirs = (
        MarginClassifier(2.0, **kernel).fit(X, y),
        SVC(C=2.0, tol=1e-8, **kernel).fit(X, y),
    )
    assert ours.classes_.tolist() == theirs.classes_.tolist() == ["benign", "malignant"]
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()
    f = theirs.decision_function(X)
    beta = theirs.dual_coef_[0]
    slack = np.maximum(1 - np.where(y == "malignant", f, -f), 0)
    objective = beta @ (f[theirs.support_] - theirs.intercept_) / 2 + 2.0 * slack.sum()
    lower, upper = ours.objective_bounds_
    assert lower <= objective * (1 + 1e-12)
    assert objective == pytest.approx(upper, rel=1e-5)
    assert 0 <= upper - lower <= 2e-8 * upper
    assert ours.duality_gap_ <= 1e-8
    assert ours.status_ == "optimal"


def test_a_weighted_class_is_that_of_svc(cancer: Any) -> None:
    X, y = cancer
    weights = np.random.default_rng(0).uniform(size=len(y))
    for class_weight in ("balanced", {"benign": 3.0}):
        ours = MarginClassifier(kernel=rbf(0.03), class_weight=class_weight).fit(X, y, weights)
        theirs = SVC(gamma=0.03, class_weight=class_weight, tol=1e-8).fit(X, y, weights)
        if class_weight != "balanced":  # scikit-learn's balance ignores sample_weight.
            np.testing.assert_allclose(
                ours.decision_function(X), theirs.decision_function(X), atol=1e-3
            )
    by_hand = np.where(y == "benign", 2.0, 0.5)
    given = MarginClassifier(class_weight={"benign": 2.0, "malignant": 0.5}).fit(X, y)
    np.testing.assert_allclose(given.coef_, MarginClassifier().fit(X, y, by_hand).coef_, atol=1e-6)


def test_class_weights_leave_the_kernel_alone(cancer: Any) -> None:
    X, y = cancer
    for class_weight in ("balanced", {"benign": 5.0}):
        ours = MarginClassifier(kernel="rbf", class_weight=class_weight).fit(X, y)
        theirs = SVC(class_weight=class_weight, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-3
        )


def test_a_class_without_weight_takes_no_part_in_a_balance(wine: Any) -> None:
    X, y = wine
    there = y != "barolo"
    weighted = MarginClassifier(class_weight="balanced").fit(X, y, there.astype(float))
    alone = MarginClassifier(class_weight="balanced").fit(X[there], y[there])
    # Rows 0 and 2 are against barolo, the second class, with rows of weight 0.
    np.testing.assert_allclose(weighted.coef_[[0, 2]], 0, atol=1e-9)
    np.testing.assert_allclose(weighted.coef_[1], alone.coef_[0], atol=1e-6)


def test_many_classes_are_those_of_svc_with_its_ties_broken(wine: Any) -> None:
    X, y = wine
    ours = MarginClassifier(0.5, kernel="rbf").fit(X, y)
    theirs = SVC(C=0.5, tol=1e-8, break_ties=True, decision_function_shape="ovr").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.predict(X)[0] == y[0]
    straight, libsvm = (
        MarginClassifier(0.5).fit(X, y),
        SVC(C=0.5, kernel="linear", tol=1e-8).fit(X, y),
    )
    # scikit-learn's sign is positive for the first class.
    np.testing.assert_allclose(-straight.coef_, libsvm.coef_, atol=1e-4)
    np.testing.assert_allclose(-straight.intercept_, libsvm.intercept_, atol=1e-3)
    assert [len(alpha) for alpha in straight.dual_] == [107, 119, 130]


def test_a_penalised_bias_is_that_of_linear_svc(cancer: Any) -> None:
    X, y = cancer
    ours = MarginClassifier(0.1, loss="squared_hinge", bias="penalized").fit(X, y)
    theirs = LinearSVC(C=0.1, dual=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert MarginClassifier(bias=False).fit(X, y).intercept_.tolist() == [0.0]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_regression_is_that_of_svr(kernel: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = scaled(X)
    ours, theirs = (
        MarginRegressor(10.0, epsilon=5.0, kernel=kernel).fit(X, y),
        SVR(C=10.0, epsilon=5.0, kernel=kernel, tol=1e-6).fit(X, y),
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-2)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-4)
    assert ours.dual_.shape == (2 * len(y),)


def test_a_ranking_is_a_classification_of_differences(documents: Any) -> None:
    X, y, qid = documents
    rows = as_a(Pairs, ranking(X, y, qid).rows)
    D = X[rows.preferred] - X[rows.other]
    signs = np.where(np.arange(len(D)) % 2, 1, -1)
    theirs = LinearSVC(C=0.1, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-10).fit(
        D * signs[:, None], signs
    )
    ours = MarginRanker(0.1, loss="squared_hinge", tol=1e-10).fit(X, y, qid)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-5)
    assert ours.n_queries_ == 12
    assert ours.score(X, y, qid) == pairwise_accuracy(y, X @ ours.coef_, qid).mean
    names = np.array([f"query {q}" for q in qid])
    np.testing.assert_array_equal(
        MarginRanker(0.1, loss="squared_hinge", tol=1e-10).fit(X, y, names).coef_, ours.coef_
    )


def test_one_norm_rankers_are_those_linear_programs(documents: Any) -> None:
    X, y, qid = documents
    pairs = OneNormRanker(over="pairs", kernel=rbf(0.5)).fit(X, y, qid)
    found = solve(one_norm_ranking(X, y, qid, kernel=rbf(0.5)))
    lower, upper = pairs.objective_bounds_
    assert lower <= found.upper
    assert found.lower <= upper <= found.upper * (1 + 1e-6)
    points = OneNormRanker(kernel="rbf").fit(X, y, qid)
    assert 0 < len(points.support_) < len(X)
    assert points.support_vectors_.shape == (len(points.support_), 4)
    assert points.score(X, y, qid) > 0.7


@pytest.mark.parametrize("per_query", ["sum", "mean"])
@pytest.mark.parametrize("even", [True, False])
def test_a_weight_of_a_document_is_its_number_of_copies(
    documents: Any, per_query: Any, even: bool
) -> None:
    X, y, qid = documents
    copies = (qid % 3 if even else np.random.default_rng(1).integers(0, 3, len(y))).astype(float)
    assert not copies.all()
    again = np.repeat(np.arange(len(y)), copies.astype(int))
    weighted = MarginRanker(per_query=per_query, kernel="rbf").fit(X, y, qid, sample_weight=copies)
    copied = MarginRanker(per_query=per_query, kernel="rbf").fit(X[again], y[again], qid[again])
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), atol=2e-4)
    score = copied.score(X[again], y[again], qid[again])
    assert copied.score(X, y, qid, sample_weight=copies) == pytest.approx(score, abs=1e-12)
    lower, upper = weighted.objective_bounds_
    assert lower <= copied.objective_bounds_[1]
    assert copied.objective_bounds_[0] <= upper


def test_gamma_by_name_is_that_of_svc(cancer: Any) -> None:
    X, y = cancer
    for matrix in (X + 3.0, sparse.csr_array(X + 3.0)):
        by_name = as_a(RBF, MarginClassifier(kernel="rbf").fit(matrix, y)._functions.kernel)
        assert by_name.gamma == pytest.approx(SVC().fit(X + 3.0, y)._gamma, rel=1e-12)
    constant = MarginClassifier(kernel="rbf").fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert constant._functions.kernel == rbf(1.0)
    assert MarginClassifier(kernel=polynomial(3), gamma="nothing").fit(
        X, y
    )._functions.kernel == polynomial(3)


def test_a_gram_matrix_and_a_sparse_one_are_the_same(cancer: Any) -> None:
    X, y = cancer
    few, rest = X[:200], X[200:300]
    dense = MarginClassifier(kernel=rbf(0.1)).fit(few, y[:200])
    thin = MarginClassifier(kernel=rbf(0.1)).fit(sparse.csr_matrix(few), y[:200])
    given = MarginClassifier(kernel="precomputed").fit(rbf_kernel(few, gamma=0.1), y[:200])
    for other in (
        thin.decision_function(sparse.csc_array(rest)),
        given.decision_function(rbf_kernel(rest, few, gamma=0.1)),
    ):
        np.testing.assert_allclose(dense.decision_function(rest), other, atol=1e-4)
    by_hand = rbf_kernel(rest, dense.support_vectors_, 0.1) @ dense.dual_coef_[0]
    assert np.ptp(dense.decision_function(rest) - by_hand) < 1e-9  # the bias


@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"time_limit": 1e-9}])
def test_an_early_stop_is_a_warning_and_keeps_the_best_point(
    cancer: Any, limit: dict[str, Any]
) -> None:
    X, y = cancer
    with pytest.warns(
        ConvergenceWarning, match=r"limit ended the run; the best point so far is returned\. smo: "
    ):
        early = MarginClassifier(100.0, kernel="rbf", **limit).fit(X, y)
    assert (
        early.status_
        == {"max_iter": "iteration_limit", "time_limit": "time_limit"}[next(iter(limit))]
    )
    lower, upper = MarginClassifier(100.0, kernel="rbf").fit(X, y).objective_bounds_
    assert early.objective_bounds_[0] <= lower
    assert upper <= early.objective_bounds_[1] < np.inf
    assert early.duality_gap_ > early.tol  # a fast machine may be close when the clock is read
    assert early.predict(X).shape == y.shape


def test_a_hard_margin_that_cannot_be_met_is_an_error(cancer: Any) -> None:
    X, y = cancer
    with pytest.raises(
        ValueError, match="the problem has no solution: no f satisfies the hard rows"
    ):
        MarginClassifier(np.inf).fit(X[:, :2], y)


def test_a_pickle_has_what_prediction_needs(cancer: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1500) > 1
    fitted = MarginClassifier(kernel="rbf").fit(X, y)
    text = pickle.dumps(fitted)
    assert len(text) < len(fitted.support_) * (6 + 1 + 1) * 8 + 4000
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert again.objective_bounds_ == fitted.objective_bounds_
    assert again.duality_gap_ == fitted.duality_gap_
    assert fitted.dual_.shape == (1500,)
    with pytest.raises(
        AttributeError, match="dual_ is excluded from a pickled or copied estimator"
    ):
        _ = again.dual_
    ranker = MarginRanker(1e-3).fit(X, np.round(X[:, 0] + rng.normal(size=1500)))
    # 900,000 pairs; a linear kernel needs w, and support_ has the rows
    assert len(pickle.dumps(ranker)) < 1500 * 8 + 4000
    assert ranker.dual_.shape[0] > 500_000


def test_only_a_linear_kernel_has_coefficients(cancer: Any) -> None:
    X, y = cancer
    straight, curved = MarginClassifier().fit(X, y), MarginClassifier(kernel="rbf").fit(X, y)
    np.testing.assert_allclose(
        straight.decision_function(X), X @ straight.coef_[0] + straight.intercept_[0]
    )
    assert not hasattr(curved, "coef_")
    assert not hasattr(straight, "dual_coef_")
    assert not hasattr(straight, "support_vectors_")
    with pytest.raises(NotFittedError):
        _ = MarginClassifier().coef_
    with pytest.raises(NotFittedError):
        _ = MarginClassifier().dual_


def test_tables_keep_their_names(documents: Any) -> None:
    pandas = pytest.importorskip(
        "pandas", reason="pandas is not installed: it is not needed but by those who have tables"
    )
    X, y, qid = documents
    table = pandas.DataFrame(X, columns=["title", "body", "links", "age"])
    fitted = MarginRanker().fit(table, pandas.Series(y), pandas.Series(qid))
    assert fitted.feature_names_in_.tolist() == ["title", "body", "links", "age"]
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(table[["body", "title", "links", "age"]])
    with_queries = table.assign(qid=qid)
    by_column = MarginRanker().fit(with_queries, y)
    assert by_column.n_features_in_ == 4
    np.testing.assert_array_equal(by_column.coef_, fitted.coef_)
    np.testing.assert_array_equal(by_column.predict(with_queries), fitted.predict(table))
    assert by_column.score(with_queries, y) == fitted.score(table, y, qid)
    with pytest.raises(ValueError, match="queries are given twice"):
        MarginRanker().fit(with_queries, y, qid)
    # XGBoost's recipe, without routing
    scores = cross_val_score(MarginRanker(), with_queries, y, cv=GroupKFold(3), groups=qid)
    assert (scores > 0.7).all()
    classifier = MarginClassifier().fit(
        table, pandas.Series(y).map({0.0: "bad", 1.0: "fair", 2.0: "good"})
    )
    assert classifier.classes_.tolist() == ["bad", "fair", "good"]


def test_a_search_routes_queries_and_keeps_them_whole(documents: Any, routing: None) -> None:
    X, y, qid = documents
    folds = GroupKFold(3).set_split_request(groups="qid")
    scorers = {
        "ndcg": ranking_scorer("ndcg", k=5),
        "tau": ranking_scorer("kendall_tau"),
        "pairs": ranking_scorer("pairwise_accuracy"),
    }
    search = GridSearchCV(
        MarginRanker(),
        {"C": [0.01, 0.1]},
        cv=folds,
        scoring=scorers,
        refit="ndcg",
        error_score="raise",
    )
    search.fit(X, y, qid=qid)
    training, held_out = next(GroupKFold(3).split(X, y, qid))
    assert not set(qid[training]) & set(qid[held_out])
    ranker = MarginRanker(0.01).fit(X[training], y[training], qid[training])
    f, where = ranker.predict(X[held_out]), (y[held_out], qid[held_out])
    found = {name: search.cv_results_[f"split0_test_{name}"][0] for name in scorers}
    wanted = {
        "ndcg": ndcg(where[0], f, where[1], k=5),
        "tau": kendall_tau(where[0], f, where[1]),
        "pairs": pairwise_accuracy(where[0], f, where[1]),
    }
    assert found == {name: metric.mean for name, metric in wanted.items()}
    own = GridSearchCV(MarginRanker(), {"C": [0.01, 0.1]}, cv=folds, error_score="raise").fit(
        X, y, qid=qid
    )
    np.testing.assert_array_equal(
        own.cv_results_["mean_test_score"], search.cv_results_["mean_test_pairs"]
    )
    assert own.score(X, y, qid=qid) == own.best_estimator_.score(X, y, qid)
    piped = GridSearchCV(
        make_pipeline(StandardScaler(), MarginRanker()),
        {"marginranker__C": [0.01]},
        cv=folds,
        error_score="raise",
    )
    assert piped.fit(X, y, qid=qid).best_score_ > 0.7


def test_sizes_of_queries_are_their_qid(documents: Any) -> None:
    X, y, qid = documents
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    group = np.unique(qid, return_counts=True)[1]
    by_qid, by_group = MarginRanker().fit(X, y, qid), MarginRanker().fit(X, y, group=group)
    np.testing.assert_array_equal(by_group.coef_, by_qid.coef_)
    assert by_group.n_queries_ == len(group)
    assert (
        by_group.score(X, y, group=group)
        == by_qid.score(X, y, qid)
        != by_qid.score(X, y, group=[len(y)])
    )
    of_sparse = OneNormRanker().fit(sparse.csr_array(X), y, group=group.tolist())
    assert of_sparse.n_queries_ == len(group)
    wrong: Any
    for wrong, message in (
        (
            {"group": group[1:]},
            f"sizes in group add up to .* and X has {len(y)} rows; in cross",
        ),
        ({"group": [0, len(y)]}, "group must be the sizes of the queries, whole numbers from 1"),
        ({"group": [[len(y)]]}, "group must be the sizes of the queries"),
        ({"group": ["a"]}, "group must hold numbers, not 'a'"),
        ({"group": group, "qid": qid}, "queries are given twice, as qid and as group; leave one"),
    ):
        for call in (MarginRanker().fit, by_qid.score):
            with pytest.raises(ValueError, match=message):
                call(X, y, **wrong)


@pytest.mark.parametrize("ranker", [MarginRanker(), OneNormRanker()])
def test_rows_without_a_pair_are_refused(ranker: Any, documents: Any) -> None:
    X, y, qid = documents
    with pytest.raises(ValueError, match=r"^No preference pairs: within every query"):
        ranker.fit(X, qid, qid)
    with pytest.raises(ValueError, match=r"^No preference pairs"):
        ranker.fit(X, y, qid, sample_weight=np.arange(len(y)) == 0)


def test_scores_without_the_queries_of_the_fit_are_refused(documents: Any) -> None:
    X, y, qid = documents
    fitted = MarginRanker().fit(X, y, qid)
    for score in (fitted.score, lambda X, y: ranking_scorer("ndcg")(fitted, X, y)):
        with pytest.raises(
            ValueError,
            match=r"fitted with 12 queries, and its score needs qid, too; .* sklearn\.set_config",
        ):
            score(X, y)
    piped = make_pipeline(StandardScaler(), MarginRanker()).fit(X, y, marginranker__qid=qid)
    with pytest.raises(ValueError, match="needs qid"):
        ranking_scorer("mean_ndcg")(piped, X, y)
    assert MarginRanker().fit(X, y).score(X, y) > 0.7
    with pytest.raises(
        ValueError, match="there is no ranking metric 'auc'; choose one of ndcg, average"
    ):
        ranking_scorer("auc")


def test_c_along_the_path_is_the_best_of_all(cancer: Any) -> None:
    X, y = cancer[0][:120], cancer[1][:120]
    fitted = MarginClassifierPathCV(kernel=rbf(0.1), cv=3).fit(X, y)
    signs = np.where(y == "malignant", 1.0, -1.0)
    folds = make_folds(signs, None, "classification", 3)

    def right(C: float) -> float:
        count = 0
        for fold in folds:
            f = solve(
                classification(X[fold.training], signs[fold.training], C, rbf(0.1)), tol=1e-10
            ).decision_function(X[fold.validation])
            count += int(((f >= 0) == (signs[fold.validation] > 0)).sum())
        return count / len(y)

    assert right(fitted.C_) == fitted.best_score_
    assert all(right(C) <= fitted.best_score_ for C in np.geomspace(1e-2, 1e3, 12))
    low, high = fitted.C_interval_
    assert low <= fitted.C_ <= high
    by_hand = MarginClassifier(fitted.C_, kernel=rbf(0.1)).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), by_hand.decision_function(X), atol=1e-4)
    assert fitted.classes_.tolist() == ["benign", "malignant"]


def test_paths_choose_for_regressions_rankings_and_every_two_classes(
    wine: Any, documents: Any
) -> None:
    X, y, qid = documents
    regressor: Any = MarginRegressorPathCV(cv=3, epsilon=0.2).fit(X, y)
    assert regressor.curve_.metric == "mean_squared_error"
    assert regressor.best_score_ == regressor.curve_.scores.min()
    ranker = MarginRankerPathCV(cv=3, lambda_min=1.0).fit(X[:90], y[:90], qid=qid[:90])
    assert ranker.score(X, y, qid) > 0.7
    assert ranker.objective_bounds_[0] > 0
    every_two = OneVsOneClassifier(MarginClassifierPathCV(cv=3, lambda_min=0.1)).fit(
        wine[0][::2], wine[1][::2]
    )
    assert every_two.score(wine[0][1::2], wine[1][1::2]) > 0.9


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_classes_share_the_c_with_the_best_votes_of_all(wine: Any, penalty: Any) -> None:
    X, y = wine[0][::2], wine[1][::2]
    kernel = rbf(0.2)
    fitted = MarginClassifierPathCV(penalty=penalty, kernel=kernel, cv=2, lambda_min=0.1).fit(X, y)
    assert len(fitted.dual_) == len(fitted.dual_coef_) == 3
    labels, codes = np.unique(y, return_inverse=True)
    family = "svm.onenorm" if penalty == "l1" else None

    def votes(C: float, training: Any, X_new: Any) -> Any:
        f = []
        for i, j in combinations(range(3), 2):
            rows = training[np.isin(codes[training], (i, j))]
            signs = np.where(codes[rows] == j, 1.0, -1.0)
            problem = make_family_problem(family, "classification", X[rows], signs, kernel)
            f.append(solve(problem.with_cost(C), tol=1e-10).decision_function(X_new))
        counts = np.zeros((len(X_new), 3))
        for (i, j), values in zip(combinations(range(3), 2), f, strict=True):
            counts[:, j] += values >= 0
            counts[:, i] += values < 0
        return counts, np.column_stack(f)

    folds = make_folds(codes, None, "classification", 2)

    def right(C: float) -> float:
        count = 0
        for fold in folds:
            counts, _ = votes(C, fold.training, X[fold.validation])
            assert (np.sort(counts)[:, -1] > np.sort(counts)[:, -2]).all(), "a tie of votes"
            count += int((counts.argmax(axis=1) == codes[fold.validation]).sum())
        return count / len(codes)

    assert right(fitted.C_) == fitted.best_score_
    assert all(right(C) <= fitted.best_score_ for C in np.geomspace(0.05, 9.9, 5))
    counts, f = votes(fitted.C_, np.arange(len(codes)), X)
    np.testing.assert_allclose(fitted._evaluated(X), f, atol=1e-4)
    np.testing.assert_array_equal(fitted.predict(X), labels[counts.argmax(axis=1)])


@pytest.mark.slow
def test_of_costs_that_are_all_alike_the_usual_one_is_taken() -> None:
    """Equal points have the same constant at every C, with either penalty.

    The path of "l1" is followed to 1 / lambda_min.
    """
    X, y = np.ones((20, 2)), np.repeat([1, -1], [14, 6])
    assert MarginClassifierPathCV(penalty="l2").fit(X, y).C_ == 1.0
    fitted = MarginClassifierPathCV(penalty="l1", lambda_min=1e-3).fit(X, y)
    assert (fitted.C_, fitted.C_interval_, fitted.best_score_) == (1.0, (0.0, 1000.0), 0.7)
    short = MarginClassifierPathCV(penalty="l1", lambda_min=4.0).fit(X, y)
    assert (short.C_, short.C_interval_) == (0.25, (0.0, 0.25))


def test_c_along_the_path_of_the_one_norm_is_the_best_of_all(cancer: Any) -> None:
    X, y = cancer[0][:120], cancer[1][:120]
    fitted = MarginClassifierPathCV(penalty="l1", kernel=rbf(0.1), cv=3).fit(X, y)
    signs = np.where(y == "malignant", 1.0, -1.0)
    folds = make_folds(signs, None, "classification", 3)

    def right(C: float) -> float:
        count = 0
        for fold in folds:
            f = solve(
                one_norm_classification(X[fold.training], signs[fold.training], C, rbf(0.1)),
                tol=1e-10,
            )
            count += int(
                (
                    (f.decision_function(X[fold.validation]) >= 0) == (signs[fold.validation] > 0)
                ).sum()
            )
        return count / len(y)

    assert right(fitted.C_) == fitted.best_score_
    assert all(right(C) <= fitted.best_score_ for C in np.geomspace(1e-2, 1e3, 12))
    whole = solve(one_norm_classification(X, signs, fitted.C_, rbf(0.1)))
    assert fitted.objective_bounds_ == (whole.lower, whole.upper)
    quadratic = MarginClassifierPathCV(kernel=rbf(0.1), cv=3).fit(X, y)
    assert len(fitted.support_) < len(quadratic.support_)


def test_the_ranking_vector_machine_along_its_path(documents: Any) -> None:
    X, y, qid = documents
    ranker = MarginRankerPathCV(penalty="l1", kernel="rbf", gamma=0.2, cv=3, lambda_min=0.1).fit(
        X[:90], y[:90], qid=qid[:90]
    )
    by_hand = OneNormRanker(ranker.C_, kernel="rbf", gamma=0.2).fit(X[:90], y[:90], qid=qid[:90])
    assert ranker.objective_bounds_ == by_hand.objective_bounds_
    assert ranker.score(X[90:], y[90:], qid[90:]) > 0.6


def test_a_choice_from_parts_of_paths_says_so(cancer: Any) -> None:
    X, y = cancer[0][:120], cancer[1][:120]
    whole = MarginClassifierPathCV(kernel=rbf(0.1), cv=3).fit(X, y)
    assert whole.path_stopped_ == ""
    with pytest.warns(
        ConvergenceWarning, match=r"a larger one may be better: no lambda below .* limit of events"
    ):
        few = MarginClassifierPathCV(kernel=rbf(0.1), cv=3, max_events=3).fit(X, y)
    assert few.path_stopped_.endswith(
        "in 3 of 3 folds the limit of events ended the path early; the best is at this end"
    )
    assert few.best_score_ < whole.best_score_
    with pytest.warns(ConvergenceWarning, match="a larger one may be better"):
        # The paths of the folds have 73 to 79 events.
        enough = MarginClassifierPathCV(kernel=rbf(0.1), cv=3, max_events=78).fit(X, y)
    assert enough.path_stopped_.endswith("the best is above")
    # A path runs as Python or compiled, with other last digits: which one depends on the cache.
    assert pytest.approx(whole.C_, rel=1e-9) == enough.C_


def test_paths_take_the_splitters_of_scikit_learn(cancer: Any, documents: Any) -> None:
    X, y = cancer[0][:90], cancer[1][:90]

    def fitted(cv: Any) -> Any:
        return MarginClassifierPathCV(kernel=rbf(0.1), lambda_min=0.01, cv=cv).fit(X, y)

    shuffled = StratifiedKFold(3, shuffle=True, random_state=0)
    for cv in (
        shuffled,
        list(shuffled.split(X, y)),
        [(rows, ~rows) for rows in np.arange(90) % 3 != np.arange(3)[:, None]],
    ):
        assert fitted(cv).best_score_ > 0.9
    assert fitted(shuffled).C_ == fitted(3).C_
    assert fitted(None).C_ == fitted(5).C_ != fitted(3).C_
    X, y, qid = documents[0][:90], documents[1][:90], documents[2][:90]
    assert MarginRankerPathCV(cv=GroupKFold(3), lambda_min=1.0).fit(X, y, qid=qid).best_score_ > 0.6
    with (
        pytest.warns(UserWarning, match="groups"),
        pytest.raises(ValueError, match=r"fold 1 learns from query .* and holds it out, too"),
    ):
        MarginRankerPathCV(cv=KFold(3), lambda_min=1.0).fit(X, y, qid=qid)


def test_where_nothing_is_to_choose_paths_fit_as_others_do() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    fitted = MarginRegressorPathCV().fit(X, np.full(20, 3.0))
    assert (fitted.C_, fitted.C_interval_, fitted.curve_) == (1.0, (0.0, np.inf), None)
    assert np.isnan(fitted.best_score_)
    assert "the same constant at every lambda" in fitted.path_stopped_
    np.testing.assert_allclose(fitted.predict(X), 3.0, atol=0.11)


WRONG = [
    (MarginClassifier(-1.0), "C must be a positive number or inf, not -1"),
    (
        MarginClassifier(kernel="cosine"),
        "kernel must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed', 'chi2', 'exponential', "
        "'laplacian' or a kernel of equimargin.formulations",
    ),
    (MarginClassifier(kernel="rbf", gamma="big"), "gamma must be 'scale' or 'auto', not 'big'"),
    (
        MarginClassifier(kernel="rbf", gamma=-1.0),
        "rbf kernel: gamma must be positive and finite, not -1",
    ),
    (
        MarginClassifier(loss="log"),  # type: ignore[arg-type]
        "loss must be 'hinge' or 'squared_hinge', not 'log'",
    ),
    (
        MarginClassifier(bias="no"),  # type: ignore[arg-type]
        "bias must be 'free', 'none', 'penalized', True or False, not 'no'",
    ),
    (MarginClassifier(solver="fast"), "unknown solver 'fast'"),
    (MarginClassifier(tol=0.0), "tol must be a positive number, not 0"),
    (MarginRegressor(epsilon=-1.0), "epsilon must be finite and at least 0, not -1"),
    (
        MarginRanker(per_query="most"),  # type: ignore[arg-type]
        "per_query must be 'sum' or 'mean', not 'most'",
    ),
    (
        OneNormRanker(over="queries"),  # type: ignore[arg-type]
        "over must be 'points' or 'pairs', not 'queries'",
    ),
    (OneNormRanker(np.inf), "C must be a positive finite number"),
    (MarginClassifierPathCV(cv=1), "2 folds or more, not 1"),
    (
        MarginClassifierPathCV(penalty="l0"),  # type: ignore[arg-type]
        "penalty must be 'l2' or 'l1', not 'l0'",
    ),
    (
        MarginClassifier(class_weight={0: -1.0}),
        "class_weight must be finite and at least 0, not -1 of class 0",
    ),
    (
        MarginClassifier(class_weight={1: np.inf}),
        "class_weight must be finite and at least 0, not inf of class 1",
    ),
    (
        MarginClassifier(class_weight={0: 0.0, 1: 0.0}),
        "needs two classes, but no row has a positive weight",
    ),
    (MarginRegressorPathCV(metric="accuracy"), "the metric 'accuracy' does not apply to a svr"),
]


@pytest.mark.parametrize(
    ("estimator", "words"),
    WRONG,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_wrong_is_said(estimator: Any, words: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=words):
        clone(estimator).fit(X, np.arange(20) % 2)


def test_wrong_data_are_said() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(
        ValueError, match="needs two classes, but all rows of positive weight are of one class, 'b'"
    ):
        MarginClassifier().fit(X, np.where(np.arange(20) % 2, "a", "b"), np.arange(20) % 2 == 0)
    with pytest.raises(ValueError, match="y must hold numbers, not 'good' at row 0"):
        MarginRanker().fit(X, np.array(["good"] * 20))
    with pytest.raises(ValueError, match="qid must have one entry for each of the 20 rows"):
        MarginRanker().fit(X, np.arange(20), qid=[1, 2])
    with pytest.raises(ValueError, match="metric of more than two classes must be 'auto' or"):
        MarginClassifierPathCV(metric="pairwise_accuracy").fit(X, np.arange(20) % 3)


def test_a_search_over_a_real_ranking_is_quiet(documents: Any, routing: None) -> None:
    X, y, qid = documents
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = GroupKFold(3).set_split_request(groups="qid")
        GridSearchCV(
            MarginRanker(), {"C": [1e-3, 1.0], "loss": ["hinge", "squared_hinge"]}, cv=folds
        ).fit(X, y, qid=qid)
