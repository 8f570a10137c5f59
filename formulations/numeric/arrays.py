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
