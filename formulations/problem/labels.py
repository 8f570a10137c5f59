"""Checks of labels, targets and queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import array, check_reals, format_value, is_number
from equimargin.formulations.numeric.arrays import Array, Index

EXACT_INTEGERS = 2.0**53
"""Size above which float64 does not distinguish all integers."""


def numbers(values: ArrayLike, m: int, name: str) -> Array:
    """Return a float64 copy of one finite number per row.

    Parameters
    ----------
    values : array-like of shape (m,)
        Numbers of any real type.
    m : int
        Number of rows.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (m,)
        Numbers.

    Raises
    ------
    ValueError
        If the shape is another one, or an entry is no number, NaN or infinite.
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
    """Return float64 numbers with the order and the ties of some values.

    Integers beyond 2**53, such as timestamps in nanoseconds, may be equal in float64
    and different as integers. Their ranks 0, 1, ... are returned in that case, and the
    values themselves in any other.

    Parameters
    ----------
    values : array-like of shape (m,)
        Numbers; their order alone counts.
    m : int
        Number of rows.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (m,)
        Numbers.

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
    """Return the names of the queries, ascending, and the query of every row.

    Parameters
    ----------
    qid : array-like of shape (m,)
        Names of the queries, as the values of `number_labels`.
    m : int
        Number of rows.
    """
    return number_labels(qid, m, "qid")


def number_labels(values: ArrayLike, m: int, name: str) -> tuple[NDArray[Any], Index]:
    """Return the different labels, ascending, and the position of every row's among them.

    Parameters
    ----------
    values : array-like of shape (m,)
        Labels, such as classes or names of queries: numbers alone or text alone.
    m : int
        Number of rows.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    labels : ndarray of shape (k,)
        Different labels.
    index : ndarray of int of shape (m,)
        Position 0, ..., k - 1 of every row's label.

    Raises
    ------
    ValueError
        If the shape is another one, or labels are neither all numbers nor all text, NaN
        or infinite.
    """
    labels = array(values, name)
    if labels.shape != (m,):
        raise ValueError(
            f"{name} must have one entry for each of the {m} rows; its shape is {labels.shape}"
        )
    # numpy's StringDType, text of variable length, may have missing entries.
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    text = labels.dtype.kind in "US" or (
        labels.dtype.kind == "O" and m > 0 and isinstance(labels[0], str)
    )
    if labels.dtype.kind not in "biufUS":
        for row, label in enumerate(labels):
            if labels.dtype.kind != "O" or not (
                isinstance(label, str) if text else is_number(label)
            ):
                raise ValueError(
                    f"{name} must hold numbers alone or text alone, not {format_value(label)} "
                    f"at row {row}"
                )
    if not text:
        numbers(labels, m, name)
    different, index = np.unique(labels, return_inverse=True)
    return different, index.astype(np.int64)
