"""Checks of what data say of a row beside its features: a label or target, and the query that it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import array, check_reals, format_value, is_number
from equimargin.formulations.numeric.arrays import Array, Index

EXACT_INTEGERS = 2.0**53
"""Size from which on float64 does not distinguish all whole numbers."""


def numbers(values: ArrayLike, m: int, name: str) -> Array:
    """Values (m,) as float64, in an array of its own.

    Raises
    ------
    ValueError
        Another shape, what is no number, NaN, an infinite number; the message starts
        with `name`.
    """
    v = check_reals(values, name)
    if v.shape != (m,):
        raise ValueError(
            f"{name} must have one number for each of the {m} rows; its shape is {v.shape}"
        )
    if not np.isfinite(v).all():
        raise ValueError(
            f"{name} holds NaN or an infinite number at row "
            f"{int(np.flatnonzero(~np.isfinite(v))[0])}"
        )
    return v.copy()


def relevances(values: ArrayLike, m: int, name: str) -> Array:
    """Return float64 numbers of the order and ties of some values, (m,).

    Whole numbers beyond 2**53, such as timestamps in nanoseconds, may be equal in float64 and
    different as integers. Their places 0, 1, ... in ascending order are returned in that case,
    and the values themselves in any other.

    Parameters
    ----------
    values : array-like of shape (m,)
        Numbers; their order alone counts.
    m : int
        Number of rows.
    name : str
        Name of the argument, for messages.

    Raises
    ------
    ValueError
        As in `numbers`.
    """
    y = numbers(values, m, name)
    if not (np.abs(y) >= EXACT_INTEGERS).any():
        return y
    # A list of whole numbers of different sizes would become float64; as Python objects
    # they stay exact.
    given = values if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    distinct, place = np.unique(given, return_inverse=True)
    return place.astype(np.float64) if len(distinct) > len(np.unique(y)) else y


def queries(qid: ArrayLike, m: int) -> tuple[NDArray[Any], Index]:
    """The names of the queries, (q,) ascending, and the query 0, 1, ... of every row, (m,).

    Raises
    ------
    ValueError
        Another shape, names that are neither all numbers nor all text, NaN, an infinite
        number.
    """
    query = array(qid, "qid")
    if query.shape != (m,):
        raise ValueError(
            f"qid must have one entry for each of the {m} rows; its shape is {query.shape}"
        )
    if query.dtype.kind == "T":  # numpy's text of any length, which may have missing entries
        query = query.astype(object)
    text = query.dtype.kind in "US" or (
        query.dtype.kind == "O" and m > 0 and isinstance(query[0], str)
    )
    if query.dtype.kind not in "biufUS":
        for row, name in enumerate(query):
            if query.dtype.kind != "O" or not (isinstance(name, str) if text else is_number(name)):
                raise ValueError(
                    f"qid must hold numbers alone or text alone, not {format_value(name)} "
                    f"at row {row}"
                )
    if not text:
        numbers(query, m, "qid")
    names, index = np.unique(query, return_inverse=True)
    return names, index.astype(np.int64)
