"""Inference of the task from the target, and exact labels."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import exact_integer, format_label, shown

TASKS: Final = ("classification", "regression", "ranking", "ordinal", "unsupervised")
"""Names of the tasks; "unsupervised" data have no target."""

MAX_LEVELS: Final = 20
"""Maximum number of distinct whole numbers that may be classes or levels."""

EXACT_INTEGERS: Final = 2.0**53
"""Bound from which float64 does not distinguish all whole numbers."""


def exact_labels(labels: Iterable[str | float], y: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels as float64, or as Python integers if float64 rounds one of them.

    They become integers only if all of them are written in digits.

    Parameters
    ----------
    labels : iterable of m str or numbers
        Labels as written, with a decimal point.
    y : ndarray of shape (m,)
        Labels in float64.

    Returns
    -------
    ndarray
        Labels of shape (m,), of float64 or of Python integers.

    Raises
    ------
    ValueError
        If two different labels are equal in float64 and not all labels are whole numbers in digits;
        the message lacks its subject, the target.
    """
    if not (np.abs(y) >= EXACT_INTEGERS).any():
        return y
    written = list(labels)
    exact = [Decimal(label) for label in written]
    if all(label == value for label, value in zip(exact, y.tolist(), strict=True)):
        return y
    integers = [exact_integer(str(label)) for label in written]
    if None not in integers:
        return np.array(integers, dtype=object)
    known: dict[float, Decimal] = {}
    for label, value in zip(exact, y.tolist(), strict=True):
        if known.setdefault(value, label) != label:
            raise ValueError(
                f"holds {known[value]} and {label}, which are {shown(value)} in float64; "
                f"subtract a number from all of them"
            )
    return y


def infer_task(y: NDArray[Any], has_queries: bool) -> str:
    """Return ranking for queries, classification for two values or words, else regression.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Numbers or text.
    has_queries : bool
        True if the rows are grouped in queries.

    Returns
    -------
    str
        Name of the task.

    Raises
    ------
    ValueError
        If all rows have one value, which is a class or a constant; the message lacks its subject,
        the target.
    """
    if has_queries:
        return "ranking"
    values = np.unique(y)
    if len(values) == 1:
        raise ValueError(
            f"is {format_label(values.tolist()[0])} in all {len(y)} rows, which is one "
            f"class or a constant"
        )
    return "classification" if len(values) == 2 or values.dtype.kind in "US" else "regression"


def open_question(y: NDArray[Any], classes: str, levels: str) -> str:
    """Return the question whether a few whole numbers are classes; empty for other targets.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Target without queries and without a named task.
    classes, levels : str
        Options that declare the numbers to be classes, or levels of an ordinal
        regression.

    Returns
    -------
    str
        Text without a final period.
    """
    values = np.unique(y)
    if (
        not len(values) > 2
        or not may_be_classes(len(values), len(y))
        or values.dtype.kind not in "iufO"
        or (values % 1 != 0).any()
    ):
        return ""
    return (
        f"{len(values)} distinct whole numbers: classes ({classes}), levels ({levels}) or numbers?"
    )


def may_be_classes(k: int, m: int) -> bool:
    """Return True if k distinct values in m rows may be classes without a named task.

    Parameters
    ----------
    k : int
        Number of distinct values.
    m : int
        Number of rows.
    """
    return k == 2 or k <= min(MAX_LEVELS, m - 1)
