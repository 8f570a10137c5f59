"""Parameters that all classes of scikit-learn's names share, and their meaning here."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight

from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array

GAPS = 1e-12, 1e-8
"""Smallest and largest relative gap that a `tol` demands.

float64 allows little less than the first; the second is the default of `MarginClassifier`.
"""
COMMON: dict[str, list[Any]] = {
    "C": [Interval(Real, 0.0, None, closed="right")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "random_state": ["random_state"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
}
"""Constraints of parameters by name, in scikit-learn's form."""
KERNEL: dict[str, list[Any]] = {
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "epsilon": [Interval(Real, 0.0, None, closed="left")],
    "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    "break_ties": ["boolean"],
}
"""Constraints of the parameters of the machines with a kernel alone."""
LINEAR: dict[str, list[Any]] = {
    "penalty": [StrOptions({"l1", "l2"})],
    "dual": ["boolean", StrOptions({"auto"})],
    "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "epsilon": [Interval(Real, 0.0, None, closed="left")],
    "C": [Interval(Real, 0.0, None, closed="neither")],
}
"""Constraints of the parameters of `LinearSVC` and `LinearSVR` alone."""


def find_gap(tol: float) -> float:
    """Return the relative gap to reach for scikit-learn's `tol`.

    scikit-learn's `tol` is an error of decision values, which is about the root of the
    relative gap.

    Parameters
    ----------
    tol : float
        Tolerance, above 0.
    """
    return min(max(tol**2, GAPS[0]), GAPS[1])


def weigh_classes(
    class_weight: object, classes: ArrayLike, y: ArrayLike, sample_weight: Array | None = None
) -> Array:
    """Return the factors of C by class, as scikit-learn's classes of these names have them.

    Parameters
    ----------
    class_weight : mapping, "balanced" or None
        Parameter of the classifier.
    classes : array-like of shape (k,)
        Labels, sorted.
    y : array-like of shape (m,)
        Label of every row.
    sample_weight : ndarray of shape (m,) or None
        Weights that "balanced" counts; None counts rows.

    Raises
    ------
    ValueError
        If a factor is negative or NaN, or a label of the mapping is unknown.
    """
    if class_weight is None:
        return np.ones(len(np.asarray(classes)))
    with np.errstate(divide="ignore"):
        factors = compute_class_weight(
            class_weight, classes=classes, y=y, sample_weight=sample_weight
        )
    if isinstance(class_weight, str):
        # "balanced" has inf for a class whose rows all weigh 0: 0 is as good, and a number.
        factors = np.where(np.isinf(factors), 0.0, factors)
    wrong = np.flatnonzero(~(factors >= 0))
    if len(wrong):
        raise ValueError(
            f"class_weight must have factors of at least 0, not {factors[wrong[0]]:g} for class "
            f"{format_value(np.asarray(classes)[wrong[0]])}; a class of factor 0 is excluded"
        )
    return np.asarray(factors)
