"""Queries and weights of ranking data, and products of query and document features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import (
    _check_feature_names_in,
    _num_samples,
    check_is_fitted,
    validate_data,
)

from equimargin.data.columns.roles import QUERY_NAMES
from equimargin.formulations import MarginProblem
from equimargin.formulations.numeric.arguments import check_reals, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.formulations.problem.labels import queries, relevances
from equimargin.formulations.problem.limits import check_float64_range
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs

COLUMN = "qid"
"""Name of the column of a table that holds the queries, as in XGBoost."""


def split_column(
    X: Any, qid: ArrayLike | None, group: ArrayLike | None = None
) -> tuple[Any, ArrayLike | None]:
    """Split off the queries that are a column of a table.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features; a table may have a column "qid".
    qid : array-like of shape (m,) or None
        Queries; None uses the column "qid", if there is one.
    group : array-like of shape (q,) or None
        Numbers of rows of the queries, which are contiguous; in place of qid.

    Returns
    -------
    tuple of array-like and array-like or None
        Features without the column, and the queries.

    Raises
    ------
    ValueError
        If queries are given twice, a column of another name seems to hold them, or the
        sizes do not add up to the rows.
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
    _check_given_once({COLUMN: qid is not None, "group": group is not None}, COLUMN in names)
    if group is not None:
        return X, repeat_sizes(group, _num_samples(X))
    if COLUMN not in names:
        return X, qid
    return X[[name for name in names if name != COLUMN]], np.asarray(X[COLUMN])


def _check_given_once(arguments: dict[str, bool], column: bool) -> None:
    """Raise if queries are given by two arguments, or by one and a column."""
    ways = [name for name, given in arguments.items() if given]
    ways += [f"the column {COLUMN!r} of X"] if column else []
    if len(ways) > 1:
        raise ValueError(
            f"queries are given twice, as {' and as '.join(ways)}; leave one of them out"
        )


def repeat_sizes(group: ArrayLike, m: int) -> Index:
    """Return the query 0, 1, ... of every row, from the sizes of contiguous queries.

    Parameters
    ----------
    group : array-like of shape (q,)
        Numbers of rows of the queries, in the order of the rows.
    m : int
        Number of all rows.

    Returns
    -------
    ndarray of shape (m,)
        Query numbers.

    Raises
    ------
    ValueError
        If the sizes are not whole numbers of at least 1 that add up to the rows.
    """
    sizes = check_reals(group, "group")
    if sizes.ndim != 1 or not ((sizes >= 1) & (sizes <= m) & (sizes == np.floor(sizes))).all():
        raise ValueError(
            f"group must be the sizes of the queries, whole numbers from 1 to the {m} rows of "
            f"X, not {format_value(sizes.tolist())}; pass the query of every row as qid"
        )
    if sizes.sum() != m:
        raise ValueError(
            f"the sizes in group add up to {sizes.sum():.0f}, and X has {m} rows; in "
            f"cross-validation, pass qid=numpy.repeat(numpy.arange(len(group)), group), which "
            f"can be split"
        )
    return np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))


def query_of_rows(qid: ArrayLike | None, m: int) -> Index:
    """Return the query number 0, 1, ... of every row.

    Parameters
    ----------
    qid : array-like of shape (m,) or None
        Queries; None is a single query.
    m : int
        Number of rows.

    Returns
    -------
    ndarray of shape (m,)
        Query numbers.
    """
    return np.zeros(m, dtype=np.int64) if qid is None else queries(qid, m)[1]


def weighted_accuracy(y: ArrayLike, f: Array, query: Index, v: Array) -> float:
    """Return the pairwise accuracy with pair weights v_i v_j, as in `weighted_pairs`.

    At most ten million pairs are accepted.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances.
    f : ndarray of shape (n,)
        Scores.
    query : ndarray of shape (n,)
        Query numbers 0, 1, ....
    v : ndarray of shape (n,)
        Weights of the rows, at least 0.

    Returns
    -------
    float
        Weight of correctly ordered pairs plus half that of ties, relative to the weight
        of all pairs; NaN without a pair of positive weight.
    """
    pairs = LabelledPairs(relevances(y, len(f), "y"), query)
    i, j = pairs.preferred, pairs.other
    weights = v[i] * v[j]
    total = float(weights.sum())
    return float(weights @ (np.sign(f[i] - f[j]) + 1)) / (2 * total) if total > 0 else float("nan")


def weighted_pairs(problem: MarginProblem, v: Array, mean: bool) -> MarginProblem:
    """Return the ranking problem with the products of row weights as pair weights.

        weight_ij = v_i v_j,    divided by their sum over the query's pairs if `mean`

    So a weight of 2 equals two copies of the row, and a weight of 0 removes it.

    Parameters
    ----------
    problem : MarginProblem
        Problem of `ranking`, with weights 1.
    v : ndarray of shape (m,)
        Weights of the rows, finite and at least 0.
    mean : bool
        True if a query counts the mean of its pairs' losses.

    Returns
    -------
    MarginProblem
        Weighted problem; pairs stay implicit if all weights within a query are equal or
        0, and are explicit otherwise.
    """
    rows = problem.rows
    assert isinstance(rows, LabelledPairs)
    query, unused = rows.query.copy(), np.flatnonzero(v == 0)
    # A row of weight 0 becomes the only row of a new query, and so has no pair.
    query[unused] = rows.groups + np.arange(len(unused))
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
    """Features of query-document pairs: document features and query-document products.

        Phi(q, d) = (d, q_1 d, ..., q_k d),
        <Phi(q, d), Phi(r, e)> = <d, e> (1 + <q, r>)

    A ranking compares documents of one query. So a feature that all of them share
    cancels in every difference Phi(q, d) - Phi(q, e), and a linear ranking of the
    original columns ignores the query. With the products, the weight of a document's
    feature is an affine function of the query: w = w_0 + q_1 w_1 + ... + q_k w_k.

    Parameters
    ----------
    query : sequence of int or sequence of str, default ()
        Columns of X that describe the query, by number or by name; all others describe
        the document. () leaves X unchanged.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X was a table.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), feature space, which requires a map
    Phi(q, d) and leaves it open; document P (Zapien et al.), section 3, "joint
    representations of queries and web pages".

    Examples
    --------
    `make_pipeline(QueryDocumentFeatures(["length"]), MarginRanker())` learns from the
    length of the query.
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
            Ignored.

        Returns
        -------
        QueryDocumentFeatures
            Fitted transformer.

        Raises
        ------
        ValueError
            If `query` is not a list, names a column that X does not have, names one
            twice, or leaves no column for the documents.
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
        """Return Phi of every row.

        Parameters
        ----------
        X : array-like of shape (n, k + m)
            Queries and documents.

        Returns
        -------
        ndarray or sparse array of shape (n, m (1 + k))
            Features, sparse if X is.
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
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the columns of X, if it is not a table; None uses those of `fit`,
            or x0, x1, ....

        Returns
        -------
        ndarray of str
            Column name of a document's feature, "query document" of a product.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        products = [f"{names[q]} {names[d]}" for q in self._query for d in self._document]
        return np.array([*names[self._document], *products], dtype=object)

    def _columns(self) -> Index:
        """Return the numbers of the columns that describe the query."""
        if isinstance(self.query, str) or not isinstance(self.query, Sequence | np.ndarray):
            raise ValueError(
                f"query must be a list of columns, as [0] or ['length'], not "
                f"{format_value(self.query)}"
            )
        names = list(getattr(self, "feature_names_in_", ()))
        columns = [names.index(column) if column in names else column for column in self.query]
        for name, column in zip(self.query, columns, strict=True):
            if (
                isinstance(column, bool)
                or not isinstance(column, int | np.integer)
                or not 0 <= column < self.n_features_in_
            ):
                raise ValueError(
                    f"query names the column {name!r}, which X with its "
                    f"{self.n_features_in_} columns does not have"
                )
        if len(set(columns)) < len(columns):
            raise ValueError(f"query names a column twice: {list(self.query)}")
        return np.array(columns, dtype=np.int64)
