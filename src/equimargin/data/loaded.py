"""What data are once they are loaded: finite rows with a target each, which can be scaled and sampled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import DataError, is_finite

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Data:
    """Finite numeric rows with one target each, loaded for one task.

    Parameters
    ----------
    name : the bundled name, or the name of the file.
    X : (m, d) features; dense, or CSR where a svmlight file fills less than a tenth of its cells.
    y : (m,) targets: -1 and +1 for classification, any number for regression, relevance (higher is better) for ranking.
    qid : (m,) query of each row, or None where the data has no queries (in ranking: all rows are one query).
    task : "classification", "regression" or "ranking".
    columns : the names of the features, of a CSV file alone.  header : whether these are its first row; without a header they are
        "column 1", "column 2", ..., by their places in the file.  first : the index of the first one, of a svmlight file alone.
    classes : the two labels that are -1 and +1 here, of a classification alone.
    """

    name: str
    X: NDArray[np.float64] | csr_array
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None
    task: str
    columns: tuple[str, ...] | None = None
    first: int | None = None
    classes: tuple[float | str, float | str] | None = None
    header: bool | None = None

    @property
    def header_note(self) -> str:
        """How the first row of a CSV file was read, in words, where somebody might have meant it otherwise; else nothing."""
        if self.header is False:
            return "first row read as data (--header reads it as column names)"
        if self.header and any(map(is_finite, self.columns or ())):
            return "first row read as column names (--no-header reads it as data)"
        return ""

    def scaled(self, by: Data | None = None) -> Data:
        """Bring every feature to a common scale.

        Parameters
        ----------
        by : data of the same features, dense or CSR as these are, whose means, deviations and largest values are taken; by default these.

        Returns
        -------
        Data whose columns have mean 0 and standard deviation 1 (constant columns become 0); a CSR matrix is divided by the
        largest absolute value of each column and not centred, so that it stays sparse.
        """
        reference = (by or self).X
        if isinstance(self.X, np.ndarray):
            return replace(self, X=_standardised(self.X, reference))
        X = self.X.copy()
        X.data /= _divisor(abs(reference).max(axis=0).toarray().ravel())[X.indices]
        return replace(self, X=X)

    def sampled(self, n: int, seed: int) -> Data:
        """Take a random subset of the rows, in file order; a larger n with the same seed only adds rows, up to the class rule.

        Parameters
        ----------
        n : number of rows, at least 1; all rows are kept if there are no more than n.
        seed : the same seed takes the same rows.

        Returns
        -------
        Data of n rows drawn without replacement.  Classification keeps a row of each class from n = 2 on.  Ranking takes whole
        queries in shuffled order and cuts the last one, at random rows of it, to reach n.

        Raises
        ------
        DataError : n is less than 1.
        """
        if n < 1:
            raise DataError(f"{self.name}: cannot sample {n} rows; ask for at least 1")
        if n >= len(self.y):
            return self
        # RandomState, unlike default_rng, promises the same stream in every NumPy release: a sample is part of a reported result.
        random = np.random.RandomState(seed)
        order = random.permutation(len(self.y))
        if self.task == "ranking" and self.qid is not None:
            queries, query = np.unique(self.qid, return_inverse=True)
            place = random.permutation(len(queries))[query]
            order = order[np.argsort(place[order], kind="stable")]
        rows = order[:n]
        if self.task == "classification" and n > 1:
            rows = _both_classes(self.y, order, n)
        rows = np.sort(rows)
        return replace(self, X=self.X[rows], y=self.y[rows], qid=None if self.qid is None else self.qid[rows])


def _standardised(X: NDArray[np.float64], reference: Any) -> NDArray[np.float64]:
    # Dividing first keeps huge values from overflowing; subtracting the smallest makes a constant column exactly 0, where
    # (X - mean) / std would blow up the rounding error of the mean.
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


def _both_classes(y: NDArray[np.float64], order: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    rows = order[:n].copy()
    other = order[y[order] != y[rows[0]]]
    if other.size and np.all(y[rows] == y[rows[0]]):
        rows[-1] = other[0]
    return rows
