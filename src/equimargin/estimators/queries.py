"""Queries and weights of the rows of a ranking, as data have them, and what features of a query can tell about its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from equimargin.data.columns.roles import QUERY_NAMES
from equimargin.formulations import MarginProblem
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.formulations.problem.labels import queries, relevances
from equimargin.formulations.problem.limits import check_float64_range
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs

COLUMN = "qid"
"""The name of the column of a table that holds the queries, as XGBoost has it."""


def split_column(X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
    """Features, and the queries: as given, or else the column "qid" of a table, which then is no feature.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features; a table may have the column.
    qid : ArrayLike | None of shape (m,)
        Queries, or None.

    Raises
    ------
    ValueError
        Queries given twice, or a column of another name that seems to hold them.
    """
    names = list(getattr(X, "columns", ()))
    doubtful = [
        name
        for name in names
        if isinstance(name, str) and name != COLUMN and name.lower() in QUERY_NAMES
    ]
    if doubtful:
        raise ValueError(
            f"the column {doubtful[0]!r} of X seems to hold the queries, and would be a "
            f"feature; name it {COLUMN!r}, or pass it as "
            f"{COLUMN} and leave it out of X (a feature needs another name)"
        )
    if COLUMN not in names:
        return X, qid
    if qid is not None:
        raise ValueError(
            f"queries are given twice, as qid and as the column {COLUMN!r} of X; leave one "
            f"of them out"
        )
    return X[[name for name in names if name != COLUMN]], np.asarray(X[COLUMN])


def query_of_rows(qid: ArrayLike | None, m: int) -> Index:
    """The query 0, 1, ... of every row, (m,); None is a single query."""
    return np.zeros(m, dtype=np.int64) if qid is None else queries(qid, m)[1]


def weighted_accuracy(y: ArrayLike, f: Array, query: Index, v: Array) -> float:
    """Pairwise accuracy whose pairs count v_i v_j, as in `weighted_pairs`, at most ten million of them.

    Parameters
    ----------
    y : array-like of shape (n,)
        relevances.
    f : ndarray of shape (n,)
        scores.
    query : Index of shape (n,)
        Queries 0, 1, ....
    v : ndarray of shape (n,)
        Weights, at least 0.

    Returns
    -------
    The share of the weights whose pairs f orders rightly, one half of those of ties; NaN without a pair of positive weight.
    """
    pairs = LabelledPairs(relevances(y, len(f), "y"), query)
    i, j = pairs.preferred, pairs.other
    weights = v[i] * v[j]
    total = float(weights.sum())
    return float(weights @ (np.sign(f[i] - f[j]) + 1)) / (2 * total) if total > 0 else float("nan")


def weighted_pairs(problem: MarginProblem, v: Array, mean: bool) -> MarginProblem:
    """The ranking problem whose pairs have the products of their points' weights.

        weight_ij = v_i v_j,      divided by their sum over the pairs of the query where the mean is asked for

    So a weight of 2 is the same as two copies of the row, and a weight of 0 the same as none.

    Parameters
    ----------
    problem : MarginProblem
        Of `ranking`, of weights 1.
    v : ndarray of shape (m,)
        Finite weights, at least 0.
    mean : bool
        Whether a query counts the mean of its pairs' losses.

    Returns
    -------
    The problem, its pairs swept over still where all weights within a query are equal, or 0, and listed elsewhere.
    """
    rows = problem.rows
    assert isinstance(rows, LabelledPairs)
    query, unused = rows.query.copy(), np.flatnonzero(v == 0)
    query[unused] = rows.groups + np.arange(len(unused))  # a query of its own has no pair
    used = LabelledPairs(rows.y, query)
    top = np.zeros(used.groups)
    np.maximum.at(top, query, v)
    pairs: Pairs
    weights: NDArray[np.float64]
    total: NDArray[np.float64]
    if np.array_equal(v, top[query]):
        pairs, weights, total = used, top**2, np.asarray(top**2 * used.pairs_of)
    else:
        pairs = used.listed()
        weights = np.asarray(v[pairs.preferred] * v[pairs.other])
        groups = query[pairs.preferred]
        total = np.bincount(groups, weights, used.groups).astype(np.float64)[groups]
    if mean:
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    check_float64_range(pairs, problem.C, problem.phi, weights)
    return replace(problem, rows=pairs, weights=weights)


class QueryDocumentFeatures(TransformerMixin, BaseEstimator):
    """Features of a query together with a document: those of the document, and their products with those of the query.

        Phi(q, d) = (d, q_1 d, ..., q_k d),      <Phi(q, d), Phi(r, e)> = <d, e> (1 + <q, r>)

    A ranking compares documents of one query. So a feature that all of them share cancels in every pair, Phi(q, d) - Phi(q, e), and a
    linear ranking of the columns as they are ignores the query. With the products the weight of a document's feature is an affine
    function of the query: w = w_0 + q_1 w_1 + ... + q_k w_k.

    Parameters
    ----------
    query : Sequence[int] | Sequence[str]
        The columns of X that describe the query, by number or by name; all others
        describe the document. () keeps X as it is.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As in scikit-learn.

    `make_pipeline(QueryDocumentFeatures(["length"]), MarginRanker())` learns from it.

    Source: W, feature space, which asks for a map Phi(q, d) and leaves it open; P, section 3, "joint representations of queries
    and web pages".
    """

    def __init__(self, query: Sequence[int] | Sequence[str] = ()) -> None:
        self.query = query

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the columns.

        Parameters
        ----------
        X : array-like of shape (n, k + m)
            Queries and documents, dense, sparse or a table.
        y : object
            Not used.

        Returns
        -------
        The transformer itself.

        Raises
        ------
        ValueError
            A query that is no list; a column that X does not have, or that is named
            twice; no column left for the documents.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self._query = self._columns()
        self._document = np.setdiff1d(np.arange(self.n_features_in_), self._query)
        if not len(self._document):
            raise ValueError(
                "query names all columns of X, and none is left to describe the documents"
            )
        return self

    def transform(self, X: Any) -> Features:
        """Phi of every row.

        Parameters
        ----------
        X : array-like of shape (n, k + m)
            Queries and documents.

        Returns
        -------
        (n, m (1 + k)) features, sparse where X is.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        documents = X[:, self._document]
        if is_sparse(X):
            return sp.hstack(
                [documents] + [documents.multiply(X[:, [column]]) for column in self._query],
                format="csr",
            )
        return np.hstack([documents] + [documents * X[:, [column]] for column in self._query])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features: that of a document's column, or "query document" of a product.

        Parameters
        ----------
        input_features : Any
            The names of the columns of X, where it is no table; None: those of `fit`,
            or x0, x1, ...
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        products = [f"{names[q]} {names[d]}" for q in self._query for d in self._document]
        return np.array([*names[self._document], *products], dtype=object)

    def _columns(self) -> Index:
        """The columns of the query by their numbers."""
        if isinstance(self.query, str) or not isinstance(self.query, Sequence | np.ndarray):
            raise ValueError(
                f"query must be a list of columns, as [0] or ['length'], not "
                f"{format_value(self.query)}"
            )
        known = list(getattr(self, "feature_names_in_", ()))
        columns = [known.index(column) if column in known else column for column in self.query]
        for given, column in zip(self.query, columns, strict=True):
            if (
                isinstance(column, bool)
                or not isinstance(column, int | np.integer)
                or not 0 <= column < self.n_features_in_
            ):
                raise ValueError(
                    f"query names the column {given!r}, which X with its "
                    f"{self.n_features_in_} columns does not have"
                )
        if len(set(columns)) < len(columns):
            raise ValueError(f"query names a column twice: {list(self.query)}")
        return np.array(columns, dtype=np.int64)
