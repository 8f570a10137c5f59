"""Array types, and the distinction of sparse arrays from dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Features = Any
"""Features (m, d) in float64: an ndarray or a scipy CSR array."""
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


def is_sparse(X: Any) -> bool:
    """Return True for a sparse array or matrix of scipy, of any format.

    scipy is not imported for the check.

    Parameters
    ----------
    X : array-like
        Array to check.
    """
    return hasattr(X, "tocsr")


def dense(X: Any) -> Array:
    """Return an array as an ndarray.

    Parameters
    ----------
    X : array-like or sparse array
        Array to convert.
    """
    return np.asarray(X.toarray() if is_sparse(X) else X)


def canonical(X: Any) -> Any:
    """Return sparse features as CSR rows with every column once, in ascending order.

    Duplicate entries are summed in a copy. The flag `has_canonical_format` of X may
    refer to earlier entries, and is not used.

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
