"""Small instances at which two similar formulations have different optima."""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import linear, rbf
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem


def ordered_pair(*x: float, kernel: Any = None) -> MarginProblem:
    """Return the ranking of two points on a line, the first preferred, C = 1.

    Parameters
    ----------
    *x : float
        Positions of the two points.
    kernel : Kernel or None
        Kernel k; None for the default of `ranking`.

    Returns
    -------
    MarginProblem
        Ranking of one pair.
    """
    return ranking(np.array(x)[:, None], np.array([1.0, 0.0]), None, 1.0, kernel)


def one_norm_pair() -> OneNormProblem:
    """Return the ranking of 0, preferred, and 1; RBF kernel, one variable per pair."""
    return one_norm_ranking(np.array([[0.0], [1.0]]), np.array([1.0, 0.0]), None, 1.0, rbf(1.0))


def rvm_pair() -> OneNormProblem:
    """Return the ranking of 1, preferred, and 2; linear kernel, one variable per point."""
    return ranking_vector_machine(np.array([[1.0], [2.0]]), np.array([1.0, 0.0]))


def rvm_reversed() -> OneNormProblem:
    """Return the ranking of 2, preferred, and 1; linear kernel, one variable per point."""
    return ranking_vector_machine(np.array([[2.0], [1.0]]), np.array([1.0, 0.0]))


def far_outlier() -> OneNormProblem:
    """Return the classification of -1 twice against 1, with the outlier -2 in the class of 1.

    The points lie on a line, the kernel is linear, and there is one variable per point.
    """
    return one_norm_classification(
        np.array([[-2.0], [-1.0], [-1.0], [1.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    )


def figure_three() -> MarginProblem:
    """Return the ranking of the positive point 2 above the negative points 0 and 3."""
    return ranking(np.array([[0.0], [3.0], [2.0]]), np.array([0.0, 0.0, 1.0]), None, 1.0)


def levels_out_of_order() -> MarginProblem:
    """Return the ordinal regression of 0, 1, 2 with the levels 0, 2, 1."""
    return ordinal(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0]))


def level_targets(loss: Any) -> MarginProblem:
    """Return the regression of the targets -2 and 2 at x = 0, where f is the bias alone.

    Parameters
    ----------
    loss : LossName
        Loss of the regression.

    Returns
    -------
    MarginProblem
        Regression with epsilon = 0.5 and C = 1.
    """
    return regression(np.zeros((2, 1)), np.array([-2.0, 2.0]), 1.0, 0.5, linear(), loss)


def two_points(bias: bool) -> MarginProblem:
    """Return the classification of x = 1 against x = 2.

    Parameters
    ----------
    bias : bool
        True for a classifier with a bias.

    Returns
    -------
    MarginProblem
        Classification with C = 1.
    """
    return classification(
        np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]), 1.0, linear(), "hinge", bias
    )


def alternating() -> MarginProblem:
    """Return the classification of 0 and 1 against 2 on a line, with a bias."""
    return classification(np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0]), 1.0)


def alternating_ranking() -> MarginProblem:
    """Return the ranking of 2, preferred, above 0 and 1 on a line."""
    return ranking(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 0.0, 1.0]), None, 1.0)


def one_class_differences() -> MarginProblem:
    """Return the classification of the difference of ordered_pair(1, 0) as class +1."""
    return classification(np.array([[1.0]]), np.array([1.0]), 1.0)


def sloped_targets() -> MarginProblem:
    """Return the regression of the targets -1 and 1 at x = -1 and 1, with epsilon = 0."""
    return regression(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), 1.0, 0.0)


def moved_by_three() -> MarginProblem:
    """Return the hard classification of 1 and 2 against 5: -2, -1 and 2 moved by 3."""
    return classification(np.array([[1.0], [2.0], [5.0]]), np.array([-1.0, -1.0, 1.0]), np.inf)


def weakly_complementary() -> MarginProblem:
    """Return the hard classification of three points in the plane, all on the margin.

    One of them has the multiplier 0.
    """
    return classification(
        np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0]), np.inf
    )


def squared_pair() -> MarginProblem:
    """Return the ranking of 1, preferred, and 0; squared hinge, C = 2."""
    return ranking(
        np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), None, 2.0, linear(), "squared_hinge"
    )
