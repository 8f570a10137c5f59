"""Three steps of a Ranking SVM from clicks.

They are the features of a query and a document, the pairs of clicks, and the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from equimargin.data import preferences
from equimargin.data.pairs.clicks import Preferences
from equimargin.estimators import MarginRanker, QueryDocumentFeatures
from equimargin.formulations import rbf
from equimargin.metrics import rank_matrix
from places import example

Array = NDArray[np.float64]
columns = st.lists(st.integers(0, 4), unique=True, max_size=4)


def data(seed: int, m: int = 12) -> Array:
    return np.random.default_rng(seed).normal(size=(m, 5))


@given(columns, st.integers(0, 99))
def test_products_of_the_map_are_products_of_its_parts(query: list[int], seed: int) -> None:
    X = data(seed)
    phi = QueryDocumentFeatures(query).fit_transform(X)
    document = np.setdiff1d(range(5), query)
    assert phi.shape == (12, len(document) * (1 + len(query)))
    q, d = X[:, query], X[:, document]
    np.testing.assert_allclose(phi @ phi.T, (d @ d.T) * (1 + q @ q.T), atol=1e-12)


@given(columns, st.integers(0, 99))
def test_sparse_features_are_the_same_and_stay_sparse(query: list[int], seed: int) -> None:
    X = data(seed) * (np.random.default_rng(seed + 1).random((12, 5)) < 0.4)
    phi = QueryDocumentFeatures(query).fit(X)
    of_sparse = phi.transform(sp.csr_array(X))
    assert sp.issparse(of_sparse)
    np.testing.assert_array_equal(of_sparse.toarray(), phi.transform(X))


def test_the_features_are_named_by_their_columns() -> None:
    phi = QueryDocumentFeatures([1, 0]).fit(data(0))
    assert phi.get_feature_names_out().tolist() == [
        "x2",
        "x3",
        "x4",
        "x1 x2",
        "x1 x3",
        "x1 x4",
        "x0 x2",
        "x0 x3",
        "x0 x4",
    ]
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(data(0), columns=["age", "length", "title", "body", "links"])
    named = QueryDocumentFeatures(["length", "age"]).fit(table)
    np.testing.assert_array_equal(named.transform(table), phi.transform(data(0)))
    assert named.get_feature_names_out().tolist()[3] == "length title"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ([5], "query names the column 5, which X with its 5 columns does not have"),
        ([-1], "query names the column -1"),
        ([True], "query names the column True"),
        (["length"], "query names the column 'length'"),
        ([1, 1], r"query names a column twice: \[1, 1\]"),
        ([0, 1, 2, 3, 4], "none is left to describe the documents"),
        ("length", r"query must be a list of columns, as \[0\] or \['length'\], not 'length'"),
        (0, "query must be a list of columns"),
        (None, "query must be a list of columns"),
    ],
)
def test_columns_that_are_none_are_a_sentence(query: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        QueryDocumentFeatures(query).fit(data(0))


def test_a_feature_of_the_query_alone_changes_no_ranking() -> None:
    """It cancels in every pair, by Phi(q, c_i) - Phi(q, c_j) in W."""
    X, qid = data(3, 30), np.repeat(np.arange(6), 5)
    X[:, 0] = X[qid * 5, 0]
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.5])
    with_it, without = MarginRanker().fit(X, y, qid=qid), MarginRanker().fit(X[:, 1:], y, qid=qid)
    assert with_it.coef_[0] == pytest.approx(0, abs=1e-9)
    assert with_it.objective_bounds_ == pytest.approx(without.objective_bounds_, rel=1e-7)
    phi = make_pipeline(QueryDocumentFeatures([0]), MarginRanker())
    with config_context(enable_metadata_routing=True):
        phi.fit(X, y, qid=qid)
        assert phi.score(X, y, qid=qid) > with_it.score(X, y, qid=qid)


@pytest.mark.parametrize("kernel", ["linear", rbf(0.5)])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_preferences_of_all_pairs_are_the_ranking_of_relevances(kernel: Any, loss: Any) -> None:
    X, y = data(4), np.random.default_rng(5).integers(0, 3, 12)
    pairs = np.argwhere(rank_matrix(y))
    of_pairs = MarginRanker(C=0.7, kernel=kernel, loss=loss).fit_preferences(
        X, Preferences(pairs, np.ones(len(pairs)))
    )
    of_labels = MarginRanker(C=0.7, kernel=kernel, loss=loss).fit(X, y)
    assert max(a.objective_bounds_[0] for a in (of_pairs, of_labels)) <= min(
        a.objective_bounds_[1] for a in (of_pairs, of_labels)
    )
    assert of_pairs.predict(X) - of_pairs.predict(X)[0] == pytest.approx(
        of_labels.predict(X) - of_labels.predict(X)[0], abs=1e-3
    )


def test_an_impression_that_is_shown_twice_counts_twice() -> None:
    X, once = data(6), preferences(range(12), [3, 7])
    twice = MarginRanker(C=0.1).fit_preferences(X, once + once)
    assert twice.objective_bounds_ == pytest.approx(
        MarginRanker(C=0.2).fit_preferences(X, once).objective_bounds_, rel=1e-6
    )
    assert twice.n_queries_ == 1
    with pytest.raises(ValueError, match=r"every index must be in 0 \.\. 4"):
        MarginRanker().fit_preferences(X[:5], once)
    with pytest.raises(
        ValueError,
        match=r"preferences must be what .* makes of clicks, or Preferences\(pairs, weight\), not ",
    ):
        MarginRanker().fit_preferences(X, once.pairs)  # type: ignore[arg-type]


def test_a_table_with_queries_is_fitted_without_their_column() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(data(8), columns=list("abcde"))
    told = preferences(range(12), [3, 7])
    plain, with_queries = (
        MarginRanker().fit_preferences(table, told),
        MarginRanker().fit_preferences(table.assign(qid=1), told),
    )
    assert with_queries.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(with_queries.predict(table.assign(qid=1)), plain.predict(table))


def test_the_example_goes_from_clicks_to_an_order() -> None:
    found = example("ranking_from_clicks").main()
    assert found["with products"] > 0.9 > 0.6 > found["side by side"]
    assert -1e-9 <= found["excess of LinearSVC"] <= 1e-6
    assert found["place of the best document of the first new list"] <= 3
