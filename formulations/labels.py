"""What data say of their rows beside the features, checked: a number each, and the query each belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.kernels import Array

Index = NDArray[np.int64]


def numbers(values: ArrayLike, m: int, name: str) -> Array:
    """Values (m,) as float64.

    Raises
    ------
    ValueError : another shape, NaN, an infinite number; the message starts with `name`.
    """
    v = np.asarray(values, dtype=np.float64)
    if v.shape != (m,):
        raise ValueError(f"{name} must have one number for each of the {m} rows; its shape is {v.shape}")
    if not np.isfinite(v).all():
        raise ValueError(f"{name} holds NaN or an infinite number at row {int(np.flatnonzero(~np.isfinite(v))[0])}")
    return v


def queries(qid: ArrayLike, m: int) -> tuple[NDArray[Any], Index]:
    """The names of the queries, (q,) ascending, and the query 0, 1, ... of every row, (m,).

    Raises
    ------
    ValueError : another shape, NaN, an infinite number.
    """
    query = np.asarray(qid)
    if query.shape != (m,):
        raise ValueError(f"qid must have one entry for each of the {m} rows; its shape is {query.shape}")
    if query.dtype.kind == "f" and not np.isfinite(query).all():
        raise ValueError(f"qid holds NaN or an infinite number at row {int(np.flatnonzero(~np.isfinite(query))[0])}")
    names, index = np.unique(query, return_inverse=True)
    return names, index.astype(np.int64)
