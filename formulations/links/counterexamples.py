"""The small instances on which two formulations that look alike have different optima."""

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
    """The first point on a line preferred to the second, C = 1."""
    return ranking(np.array(x)[:, None], np.array([1.0, 0.0]), None, 1.0, kernel)


def one_norm_pair() -> OneNormProblem:
    """The point 0 preferred to the point 1, RBF kernel, one unknown a pair."""
    return one_norm_ranking(np.array([[0.0], [1.0]]), np.array([1.0, 0.0]), None, 1.0, rbf(1.0))


def rvm_pair() -> OneNormProblem:
    """The point 1 preferred to the point 2, linear kernel, one unknown a point."""
    return ranking_vector_machine(np.array([[1.0], [2.0]]), np.array([1.0, 0.0]))


def rvm_reversed() -> OneNormProblem:
    """The point 2 preferred to the point 1, linear kernel, one unknown a point."""
    return ranking_vector_machine(np.array([[2.0], [1.0]]), np.array([1.0, 0.0]))


def far_outlier() -> OneNormProblem:
    """-1 twice against 1 on a line, and the outlier -2 in the class of 1, linear kernel, one unknown a point."""
    return one_norm_classification(
        np.array([[-2.0], [-1.0], [-1.0], [1.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    )


def figure_three() -> MarginProblem:
    """Positive 2, negatives 0 and 3."""
    return ranking(np.array([[0.0], [3.0], [2.0]]), np.array([0.0, 0.0, 1.0]), None, 1.0)


def levels_out_of_order() -> MarginProblem:
    """0, 1, 2 of the levels 0, 2, 1."""
    return ordinal(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0]))


def level_targets(loss: Any) -> MarginProblem:
    """Targets -2 and 2 at one point: no slope helps."""
    return regression(np.zeros((2, 1)), np.array([-2.0, 2.0]), 1.0, 0.5, linear(), loss)


def two_points(bias: bool) -> MarginProblem:
    """x = 1 and x = 2 in two classes."""
    return classification(
        np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]), 1.0, linear(), "hinge", bias
    )


def alternating() -> MarginProblem:
    """0 and 1 against 2 on a line, with a bias."""
    return classification(np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0]), 1.0)


def alternating_ranking() -> MarginProblem:
    """2 preferred to 0 and 1 on a line."""
    return ranking(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 0.0, 1.0]), None, 1.0)


def one_class_differences() -> MarginProblem:
    """The difference of ordered_pair(1, 0), all of class +1, with a bias."""
    return classification(np.array([[1.0]]), np.array([1.0]), 1.0)


def sloped_targets() -> MarginProblem:
    """Targets equal to the features, -1 and 1, without a tube."""
    return regression(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), 1.0, 0.0)


def moved_by_three() -> MarginProblem:
    """-2 and -1 against 2, moved by 3."""
    return classification(np.array([[1.0], [2.0], [5.0]]), np.array([-1.0, -1.0, 1.0]), np.inf)


def weakly_complementary() -> MarginProblem:
    """Three points in the plane, all on the margin, of which one has the multiplier 0."""
    return classification(
        np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0]), np.inf
    )


def squared_pair() -> MarginProblem:
    """The point 1 preferred to the point 0, squared hinge, C = 2."""
    return ranking(
        np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), None, 2.0, linear(), "squared_hinge"
    )
