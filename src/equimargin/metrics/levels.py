"""Error of predicted levels, averaged over the levels rather than over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import format_value, is_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.labels import number_labels


def average_mean_absolute_error(
    y: ArrayLike, predicted: ArrayLike, levels: Sequence[Any] | NDArray[Any] | None = None
) -> float:
    """Return AMAE, the mean over the levels of the mean absolute error of their rows.

        AMAE = 1/L sum over the levels k of y of 1/m_k sum_(i : y_i = k) |h_i - k|

    h_i is the place of the predicted level, and m_k the number of rows of level k. A
    level without a row in y has no error, and L does not count it. A rule that predicts
    the most frequent level always has a small mean absolute error on imbalanced data,
    and a large AMAE.

    Parameters
    ----------
    y : array-like of shape (n,)
        True levels.
    predicted : array-like of shape (n,)
        Predicted levels.
    levels : sequence or None
        All levels from the lowest to the highest, such as `levels_` of an
        `OrdinalClassifier`: the distance is one per step. None requires numbers, and
        their differences are the distances.

    Returns
    -------
    float
        AMAE, at least 0.

    Raises
    ------
    ValueError
        If there is no row, shapes do not fit, labels are text and `levels` is None, or a
        label is none of the levels.

    References
    ----------
    S. Baccianella, A. Esuli, F. Sebastiani, Evaluation measures for ordinal regression,
    ISDA (2009), equation 3.

    Examples
    --------
    >>> average_mean_absolute_error([0, 0, 0, 2], [0, 0, 0, 0])  # (0 + 2) / 2
    1.0

    `make_scorer(average_mean_absolute_error, greater_is_better=False, levels=levels)`
    of scikit-learn makes a scorer for a search.
    """
    n = np.size(y)
    if n == 0:
        raise ValueError("y is empty: an error needs one row at least")
    level = number_labels(y, n, "y")[1]
    number_labels(predicted, n, "predicted")
    error = np.abs(_place(predicted, "predicted", levels) - _place(y, "y", levels))
    return float((np.bincount(level, error) / np.bincount(level)).mean())


def _place(labels: ArrayLike, name: str, levels: Sequence[Any] | NDArray[Any] | None) -> Array:
    """Return the place of every label among the levels, or the label itself."""
    given = np.asarray(labels)
    if levels is None:
        if not is_number(given[0]):
            raise ValueError(
                f"{name} holds the label {format_value(given[0])}, which is no number; pass "
                f"levels, from the lowest to the highest"
            )
        return given.astype(np.float64)
    known = np.asarray(levels).tolist()
    place = {level: float(at) for at, level in enumerate(known)}
    if len(place) < len(known):
        raise ValueError(f"levels must name every level once, and are {format_value(known)}")
    for label in given.tolist():
        if label not in place:
            raise ValueError(
                f"{name} holds the label {format_value(label)}, which is none of the levels "
                f"{format_value(known)}; add it to levels in its place"
            )
    return np.array([place[label] for label in given.tolist()])
