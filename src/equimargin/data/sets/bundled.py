"""Data sets of the package: those of scikit-learn, truncated or relabelled, and XOR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from equimargin.data.table import Table

BUNDLED: Final[Mapping[str, tuple[str, str]]] = {
    "breast_cancer": ("569 x 30, malignant -1, benign +1", "classification"),
    "digits_even_odd": (
        "1,797 x 64 grey levels of handwritten digits, even +1, odd -1",
        "classification",
    ),
    "diabetes": ("442 x 10, disease progression after one year", "regression"),
    "diabetes_ranking": (
        "60 fixed rows of diabetes, the target is the relevance, one query: 1,767 pairs",
        "ranking",
    ),
    "diabetes_ranking_full": (
        "all 442 rows of diabetes, the target is the relevance, one query: 97,090 pairs",
        "ranking",
    ),
    "wine_ranking": (
        "178 x 13, the class is the relevance (2 above 1 above 0), one query: 10,429 pairs",
        "ranking",
    ),
    "iris": ("100 x 4, versicolor -1, virginica +1: no plane separates them", "classification"),
    "iris_ranking": (
        "150 x 4, the class is the relevance (virginica above versicolor above setosa), one "
        "query: 7,500 pairs",
        "ranking",
    ),
    "xor": ("4 x 2, +1 where the two signs differ: no line separates it", "classification"),
}
"""Name of each bundled data set: (one-line description, default task)."""

SUBSET_SEED: Final = 0
"""Seed of the 60 rows of diabetes_ranking."""


def bundled(name: str) -> Table:
    """Return the rows of a data set of the package or of scikit-learn.

    Parameters
    ----------
    name : str
        Key of BUNDLED.

    Returns
    -------
    Table
        Rows with their targets.
    """
    if name == "xor":
        corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        return Table(corners, -corners[:, 0] * corners[:, 1], None)
    from sklearn import datasets

    if name == "breast_cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        y = 2 * y - 1
    elif name == "digits_even_odd":
        X, y = datasets.load_digits(return_X_y=True)
        y = np.where(y % 2 == 0, 1, -1)
    elif name == "wine_ranking":
        X, y = datasets.load_wine(return_X_y=True)
    elif name.startswith("iris"):
        X, y = datasets.load_iris(return_X_y=True)
        if name == "iris":
            X, y = X[y > 0], 2 * y[y > 0] - 3
    else:
        X, y = datasets.load_diabetes(return_X_y=True)
    if name == "diabetes_ranking":
        rows = np.sort(np.random.RandomState(SUBSET_SEED).permutation(len(y))[:60])
        X, y = X[rows], y[rows]
    return Table(np.ascontiguousarray(X, dtype=np.float64), y.astype(np.float64), None)
