"""Problem of two classes, as a part of one problem of all points."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.rows.listed import Signed

P = TypeVar("P", MarginProblem, OneNormProblem, MarginProblem | OneNormProblem)


def restrict_to_pair(
    whole: P, negative: NDArray[np.bool_], positive: NDArray[np.bool_], part: str = ""
) -> P:
    """Return the problem of two disjoint sets of points, in the order of the points.

    A principal submatrix of K is positive semidefinite if K is, so that the part of a
    given matrix has the diagonal shift of the whole.

    Parameters
    ----------
    whole : MarginProblem or OneNormProblem
        Classification of all points, whose labels do not matter.
    negative, positive : ndarray of bool of shape (m,)
        Points of the labels -1 and +1.
    part : str, default ""
        Names of the two classes.
    """
    points = np.flatnonzero(positive | negative)
    X = whole.X[np.ix_(points, points)] if whole.kernel.given else whole.X[points]
    names = whole.feature_names
    # The columns of a given matrix are the points.
    if names is not None and whole.kernel.given:
        names = tuple(names[point] for point in points)
    rows = Signed(np.where(positive[points], 1.0, -1.0))
    weights = None if whole.weights is None else whole.weights[points]
    return replace(whole, X=X, rows=rows, feature_names=names, part=part, weights=weights)
