"""Loaded data: finite rows with one target each, and their scaling and sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import DataError, format_label, is_finite, listed
from equimargin.option_text import format_option

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Categorical = Literal["one-hot", "codes", "drop"]
"""Treatment of columns of words: indicators, alphabetical positions, or removal."""

CATEGORICAL: Final = get_args(Categorical)
"""Names of these treatments."""

Best = Literal["highest", "lowest"]
"""Best end of a ranking's labels: the highest relevance, but the lowest place in a race."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Record of how data were read.

    Parameters
    ----------
    header : bool or None, optional
        True if the first row of the text was read as names, with or without #; None for
        other formats.
    target, query, weight : str or None
        Names of their columns.
    target_by : str, default ""
        Source of the target: "asked", "name" or "last" in a table; "format" if the
        format has a place for it; "" for a bundled set.
    dropped : tuple of str, default ()
        Names of the dropped columns.
    left_out : int, default 0
        Number of rows excluded for a missing entry.
    filled : int, default 0
        Number of filled entries.
    means : ndarray of shape (d,), optional
        Values that filled them.
    notes : tuple of str, default ()
        Sentences on columns that the user may have meant otherwise.
    categorical : Categorical or None, optional
        Encoding of the columns of words.
    categories : mapping of str to tuple of str, optional
        Words of each encoded column, by name, in the order of the encoding.
    best : Best or None, optional
        Best end of a ranking's labels.
    worst : float or None, optional
        Highest label if the lowest is the best; y holds worst - label, or the positions
        of the labels if it is infinite.
    numbered : bool, default False
        True if the index 0 of a svmlight file numbers the rows of a precomputed kernel,
        and is no feature.
    question : str, default ""
        Other meanings of the target if its task was guessed; empty if there are none.
    """

    header: bool | None = None
    target: str | None = None
    target_by: str = ""
    query: str | None = None
    weight: str | None = None
    dropped: tuple[str, ...] = ()
    left_out: int = 0
    filled: int = 0
    means: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    categorical: Categorical | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    best: Best | None = None
    worst: float | None = None
    numbered: bool = False
    question: str = ""


@dataclass(frozen=True, eq=False)
class Data:
    """Finite numeric rows with one target each, loaded for one task.

    Parameters
    ----------
    name : str
        Bundled name, or name of the file.
    X : ndarray or csr_array of shape (m, d)
        Features; CSR if a svmlight file fills less than a tenth of its cells.
    y : ndarray of shape (m,)
        Targets: -1 and +1 for classification, 0, ..., k - 1 if it has k > 2 classes,
        any number for regression, relevance (higher is better) for ranking, 0, ...,
        L - 1 for ordinal.
    qid : ndarray of shape (m,) or None
        Query of each row; None without queries, when a ranking is one query.
    task : str
        "classification", "regression", "ranking", "ordinal" or "unsupervised".
    columns : tuple of str, optional
        Names of the features of a table; without a header "column 1", "column 2", ...,
        by position in the file. None for other formats.
    first : int, optional
        Index of the first feature of a svmlight file; None for other formats.
    classes : tuple of (float or str), optional
        The two labels encoded as -1 and +1 in a classification, or the more labels
        encoded as 0, ..., k - 1; those encoded as 0, ..., L - 1 in an ordinal
        regression.
    weight : ndarray of shape (m,), optional
        Factors of the cost of each row, at least 0; None if all are 1.
    pairs : ndarray of shape (p, 2), optional
        Rows (preferred, other), if preferences rank the rows; y is then unused.
    pair_weight : ndarray of shape (p,), optional
        Factors of the cost of each pair, in [0, inf]; None if all are 1.
    origin : Origin
        Record of how the data were read.
    """

    name: str
    X: NDArray[np.float64] | csr_array
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None
    task: str
    columns: tuple[str, ...] | None = None
    first: int | None = None
    classes: tuple[float | str, ...] | None = None
    weight: NDArray[np.float64] | None = None
    pairs: NDArray[np.int64] | None = None
    pair_weight: NDArray[np.float64] | None = None
    origin: Origin = Origin()

    @property
    def header(self) -> bool | None:
        """True if the first row of a text held the column names; None for other formats."""
        return self.origin.header

    @property
    def header_note(self) -> str:
        """Sentence on how the first row of a text was read; empty if it is unambiguous."""
        if self.header is False:
            named = format_option("header", True)
            return f"first row read as data ({named} reads it as column names)"
        if self.header and any(map(is_finite, self.columns or ())):
            unnamed = format_option("header", False)
            return f"first row read as column names ({unnamed} reads it as data)"
        return ""

    @property
    def query_weight(self) -> dict[int, float] | None:
        """Weight of each query of a ranking, or None if all are 1.

        Raises
        ------
        DataError
            If the rows of a query differ in weight: a ranking weighs whole queries, not
            rows.
        """
        if self.weight is None:
            return None
        of_rows = np.zeros(len(self.y), dtype=np.int64) if self.qid is None else self.qid
        queries, first, place = np.unique(of_rows, return_index=True, return_inverse=True)
        uneven = np.flatnonzero(self.weight != self.weight[first][place])
        if len(uneven):
            raise DataError(
                f"{self.name}: rows of query {of_rows[uneven[0]]} differ in weight, and a "
                f"ranking weighs whole queries; give all rows "
                "of a query one weight, or read the column as a feature "
                f"({format_option('weight', '')})"
            )
        return dict(zip(queries.tolist(), self.weight[first].tolist(), strict=True))

    @property
    def weights(self) -> dict[str, Any]:
        """Weights of rows or queries as keyword arguments of the task's constructors."""
        return (
            {"query_weight": self.query_weight}
            if self.task == "ranking"
            else {"sample_weight": self.weight}
        )

    @property
    def has_many_classes(self) -> bool:
        """True for a classification into three classes or more."""
        return self.task == "classification" and self.classes is not None and len(self.classes) > 2

    def __repr__(self) -> str:
        return f"<Data {self.describe()}>"

    def describe(self, pairs: int | None = None) -> str:
        """Describe in a line how the data were read.

        The line has the target with its values and their signs, query, weight,
        features, and excluded rows and columns.

        Parameters
        ----------
        pairs : int, optional
            Number of preference pairs, if known.

        Returns
        -------
        str
            Text without a final period.
        """
        origin, d = self.origin, self.X.shape[1]
        roles = [part for part in (self._target_described(), self._query_described()) if part]
        roles += [] if origin.weight is None else [f"weight `{origin.weight}`"]
        if self.pair_weight is not None and len(self.pair_weight):
            roles += [
                f"weights of pairs ({self.pair_weight.min():g} to {self.pair_weight.max():g})"
            ]
        counts = f"{_counted(len(self.y), 'row')}" + (
            "" if pairs is None else f", {_counted(pairs, 'pair')}"
        )
        described = (
            f"{self.name}: {self.task}, {counts}{':' if roles else ','} "
            f"{', '.join([*roles, _counted(d, 'feature')])}"
        )
        # Columns come first, then words, rows and entries; doubts come last.
        notes = [f"dropped: {', '.join(origin.dropped)}"] if origin.dropped else []
        encoded = ", ".join(
            f"`{name}` ({_counted(len(words), 'word')})"
            for name, words in origin.categories.items()
        )
        notes += [f"{origin.categorical}: {encoded}"] if encoded else []
        notes += (
            [f"{_counted(origin.left_out, 'row')} with missing entries left out"]
            if origin.left_out
            else []
        )
        notes += (
            [f"{_counted(origin.filled, 'missing entry', 'missing entries')} filled with means"]
            if origin.filled
            else []
        )
        notes += (
            [self.header_note or "first row read as column names"]
            if origin.header is not None
            else []
        )
        notes += [*origin.notes, origin.question] if origin.question else origin.notes
        return "; ".join([described, *notes])

    def _target_described(self) -> str:
        """Return the target's name, its values and, unless named by the user, its source."""
        origin = self.origin
        has_none = self.pairs is not None or self.task == "unsupervised"
        if not origin.target_by or (origin.target is None and has_none):
            return ""
        name = "" if origin.target is None else f" `{origin.target}`"
        last = "the last column, " if origin.target_by == "last" else ""
        if origin.worst is not None:
            # y holds `worst` minus the label, so that its largest value is the lowest
            # label.
            worst = origin.worst if np.isfinite(origin.worst) else self.y.max()
            values = f"{worst - self.y.max():g} to {worst - self.y.min():g}, the lowest is the best"
        elif self.classes is None:
            values = f"{self.y.min():g} to {self.y.max():g}"
        elif self.task == "ordinal":
            values = " < ".join(map(format_label, self.classes))
        elif len(self.classes) > 2:
            values = f"{len(self.classes)} classes: {listed(self.classes, format_label)}"
        elif self.classes == (-1.0, 1.0):
            values = "-1, +1"
        else:
            negative, positive = map(format_label, self.classes)
            values = f"{negative} is -1, {positive} is +1"
        return f"target{name} ({last}{values})"

    def _query_described(self) -> str:
        if self.qid is None:
            return ""
        name = "" if self.origin.query is None else f" `{self.origin.query}`"
        return f"query{name} ({_counted(len(np.unique(self.qid)), 'query', 'queries')})"

    def scaled(self, by: Data | None = None) -> Data:
        """Standardise the features.

        Parameters
        ----------
        by : Data, optional
            Data with the same features, dense or CSR like this object, whose means,
            deviations and largest values are used; by default this object.

        Returns
        -------
        Data
            Data whose columns have mean 0 and standard deviation 1 (constant columns
            become 0). A CSR matrix is divided by the largest absolute value of each
            column and not centred, so that it stays sparse.
        """
        reference = (by or self).X
        if isinstance(self.X, np.ndarray):
            return replace(self, X=_standardised(self.X, reference))
        X = self.X.copy()
        X.data /= _divisor(abs(reference).max(axis=0).toarray().ravel())[X.indices]
        return replace(self, X=X)

    def sampled(self, n: int, seed: int) -> Data:
        """Take a random subset of the rows, in file order.

        With the same seed, the rows for a larger n include those for a smaller n.

        Parameters
        ----------
        n : int
            Number of rows, at least 1; all rows are kept if there are no more than n.
        seed : int
            Seed of the selection.

        Returns
        -------
        Data
            Data of n rows, sampled without replacement. Classification into k classes
            keeps a row of each class from n = k on. Ranking takes whole queries in
            shuffled order and truncates the last one, at random, to reach n.

        Raises
        ------
        DataError
            If n is less than 1, or if preferences rank the rows.
        """
        if n < 1:
            raise DataError(f"{self.name}: cannot sample {n} rows; ask for at least 1")
        if self.pairs is not None:
            raise DataError(
                f"{self.name}: rows with preferences cannot be sampled, for pairs would "
                f"lose a row; write fewer of both"
            )
        if n >= len(self.y):
            return self
        # RandomState, unlike default_rng, promises the same stream in every NumPy
        # release: a sample is part of a reported result.
        random = np.random.RandomState(seed)
        order = random.permutation(len(self.y))
        if self.task == "ranking" and self.qid is not None:
            queries, query = np.unique(self.qid, return_inverse=True)
            place = random.permutation(len(queries))[query]
            order = order[np.argsort(place[order], kind="stable")]
        rows = order[:n]
        if self.task == "classification" and n > 1:
            rows = _of_all_classes(self.y, order, n)
        rows = np.sort(rows)
        qid = None if self.qid is None else self.qid[rows]
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], qid=qid, weight=weight)


def _standardised(X: NDArray[np.float64], reference: Any) -> NDArray[np.float64]:
    # Dividing first keeps huge values from overflowing; subtracting the smallest makes
    # a constant column exactly 0, where (X - mean) / std would blow up the rounding
    # error of the mean.
    size = _divisor(np.abs(reference).max(axis=0))
    Z, R = X / size, reference / size
    for shift in (np.min, np.mean):
        by = shift(R, axis=0)
        Z -= by
        R -= by
    Z /= _divisor(R.std(axis=0))
    return Z


def _divisor(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(scale > 0, scale, 1.0)


def _of_all_classes(y: NDArray[np.float64], order: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Return the first row of every class, then the first others, n rows in all."""
    first = np.sort(np.unique(y[order], return_index=True)[1])
    return np.concatenate([order[first], np.delete(order, first)])[:n]


def _counted(number: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: "1 row", "1,797 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
