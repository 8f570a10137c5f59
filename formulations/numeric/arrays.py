"""The types of arrays that all of the package uses, and the one place that tells sparse arrays from dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Features = Any
"""(m, d) float64 features: an ndarray or a scipy CSR array."""
Index = NDArray[np.int64]


def is_sparse(X: Any) -> bool:
    """Whether this is a sparse array or matrix of scipy, of any format. scipy itself is not imported to find out."""
    return hasattr(X, "tocsr")


def dense(X: Any) -> Array:
    """The same numbers as an ndarray."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def canonical(X: Any) -> Any:
    """Return sparse features as CSR rows with every column once, in ascending order.

    Entries of one place are summed in a copy. The flag `has_canonical_format` of X may
    be of earlier entries, and is not used.

    Parameters
    ----------
    X : sparse array of shape (m, d)
        Features in any format of scipy.
    """
    rows = X.tocsr()
    fresh = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    if fresh.has_canonical_format:
        return fresh
    summed = fresh.copy()
    summed.sum_duplicates()
    return summed
