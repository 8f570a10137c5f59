"""Platt's sigmoid, which turns decision values into probabilities.

    min over A, B    sum_i weight_i ( log(1 + exp(A f_i + B)) - (1 - t_i) (A f_i + B) )
    P(second class | f) = 1 / (1 + exp(A f + B))

t_i = (n2 + 1) / (n2 + 2) in the second class and 1 / (n1 + 2) in the first. With these
targets, unlike 1 and 0, the minimum is attained even for separable classes. f_i must be
values of points that were held out when f was trained.

Source: J. Platt, Probabilistic outputs for support vector machines (2000); H.-T. Lin,
C.-J. Lin, R. C. Weng, A note on Platt's probabilistic outputs for support vector
machines (2007), for Newton's method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from equimargin.formulations.numeric.arguments import check_weights
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.labels import numbers

STEPS = 200
"""Maximum number of Newton steps.

A dozen are usual. With outlying values each step only decreases the objective by about
the same amount.
"""
SMALLEST_STEP = 1e-12
"""Fraction of a Newton step at which the line search ends: no smaller one changes a float."""
SUFFICIENT = 1e-4
"""Fraction of the decrease predicted by the slope that a step must attain."""
RIDGE = 1e-12
"""Term added to the diagonal of the Hessian, relative to its largest entry.

It matters where all f_i are equal.
"""


class PlattSigmoid(NamedTuple):
    """Sigmoid P(second class | f) = 1 / (1 + exp(A f + B)).

    Parameters
    ----------
    A : float
        Slope; negative if larger values indicate the second class.
    B : float
        Offset.
    value : float
        Minimum of the objective.
    gradient : float
        Larger of the derivatives in A max |f_i| and in B, in absolute value and over
        the sum of the weights.
    """

    A: float
    B: float
    value: float
    gradient: float

    def __call__(self, f: ArrayLike) -> Array:
        """Return the probability of the second class at values f.

        Parameters
        ----------
        f : array-like of shape (n,)
            Decision values.
        """
        return np.asarray(expit(-(self.A * np.asarray(f, dtype=np.float64) + self.B)))


def platt(f: ArrayLike, second: ArrayLike, weight: ArrayLike | None = None) -> PlattSigmoid:
    """Fit the sigmoid by Newton's method with a line search.

    Parameters
    ----------
    f : array-like of shape (n,)
        Decision values of held-out points.
    second : array-like of shape (n,)
        1 or true in the second class, 0 or false in the first.
    weight : array-like of shape (n,) or None
        Finite factors of the terms, at least 0; the counts n1 and n2 are their sums.

    Returns
    -------
    PlattSigmoid
        Sigmoid, optimal within rounding error; with A = 0 if all f are equal.

    Raises
    ------
    ValueError
        If shapes do not fit, numbers are not finite, or no value or no positive weight
        is given.

    References
    ----------
    Platt (2000), sections 2.1 and 2.2; Lin, Lin and Weng (2007).
    """
    n = np.asarray(f).size
    if n == 0:
        raise ValueError("f is empty: a sigmoid needs one decision value at least")
    values, of_second = (
        numbers(f, n, "f"),
        numbers(np.asarray(second, dtype=np.float64), n, "second") > 0,
    )
    w = np.ones(n) if weight is None else check_weights(weight, n, "weight")
    if not (np.isfinite(w).all() and w.sum() > 0):
        raise ValueError("weight must be finite, and above 0 somewhere")
    n1, n2 = float(w[~of_second].sum()), float(w[of_second].sum())
    first = np.where(of_second, 1 / (n2 + 2), (n1 + 1) / (n1 + 2))  # 1 - t
    unit = float(np.abs(values).max()) or 1.0
    Z = np.column_stack([values / unit, np.ones(n)])
    at = np.array([0.0, np.log((n1 + 1) / (n2 + 1))])

    def value(at: Array) -> float:
        z = Z @ at
        return float(w @ (np.logaddexp(0.0, z) - first * z))

    now = value(at)
    # With equal values B is the log odds of the targets' mean, and A = 0.
    if np.ptp(values[w > 0]) == 0:
        Z[:, 0] = 0.0
    for _ in range(STEPS):
        p = expit(Z @ at)
        gradient = Z.T @ (w * (p - first))
        H = Z.T @ (Z * (w * p * (1 - p))[:, None])
        step = -np.linalg.solve(
            H + np.eye(2) * max(RIDGE * float(H.max()), np.finfo(float).tiny), gradient
        )
        slope, share = float(gradient @ step), 1.0
        while (
            share >= SMALLEST_STEP
            and not value(at + share * step) < now + SUFFICIENT * share * slope
        ):
            share /= 2
        if share < SMALLEST_STEP:
            break
        at = at + share * step
        now = value(at)
    largest = float(np.abs(Z.T @ (w * (expit(Z @ at) - first))).max() / w.sum())
    return PlattSigmoid(float(at[0]) / unit, float(at[1]), now, largest)
