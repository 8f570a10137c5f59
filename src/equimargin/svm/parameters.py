"""Parameters that all classes of scikit-learn's names share, and their meaning here."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

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
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    "break_ties": ["boolean"],
}
"""Constraints of the parameters of `SVC` and `SVR` alone."""
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
