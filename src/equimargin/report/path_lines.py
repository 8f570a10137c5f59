"""Curves of a regularisation path over lambda: coefficients or decision values.

Between breakpoints they are drawn as straight lines; breakpoints too dense to be seen
are reduced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.path import AnyPath, OneNormPath, RegularizationPath

ACROSS = 500
"""Number of lambdas on a curve; one with many more breakpoints is reduced to columns."""
LINES = 120
"""Maximum number of curves; of more training points, an even selection over the labels."""


def ends(path: AnyPath) -> tuple[float, float]:
    """Return the largest and the smallest lambda to draw, which are distinct.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    tuple of (float, float)
        Largest and smallest lambda.

    Raises
    ------
    ValueError
        If the path has no lambda above 0.
    """
    above = path.lambdas[path.lambdas > 0]
    if not len(above):
        raise ValueError(f"there is no lambda to draw: {path.stopped}")
    high, low = float(above[0]), float(above[-1])
    return (high, low) if high > low else (2 * high, low / 2)


def lambdas(path: AnyPath, number: int = ACROSS) -> Array:
    """Return the decreasing lambdas of a curve, evenly spaced in the logarithm.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.
    number : int, default ACROSS
        Number of lambdas.

    Returns
    -------
    ndarray of shape (number,)
        Lambdas within the path.
    """
    high, low = ends(path)
    return np.clip(
        np.geomspace(min(high, path.lambdas[0]), low, number), path.lambdas[-1], path.lambdas[0]
    )


def coefficients(path: AnyPath, lams: Array) -> Array | None:
    """Return w at some lambdas, for a linear kernel with at most LINES features.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.
    lams : ndarray
        Lambdas.

    Returns
    -------
    ndarray of shape (len(lams), d) or None
        Coefficients; None for other problems.
    """
    Z = explicit(path.problem.kernel, path.problem.X)
    if not isinstance(path.problem.kernel, Linear) or Z is None or Z.d > LINES:
        return None
    if isinstance(path, OneNormPath):
        pieces = [path.piece(lam) for lam in lams.tolist()]
        return np.array([Z.rdot(beta) for beta in path.betas[pieces].toarray()])
    return _along(
        path, path.w if path.w.size else np.array([Z.rdot(beta) for beta in path.betas]), lams
    )


def between_breakpoints(path: AnyPath) -> str:
    """Return a sentence on f between two breakpoints.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    str
        Sentence.
    """
    still = isinstance(path, OneNormPath)
    return (
        "f is constant between two breakpoints."
        if still
        else "Between two breakpoints lambda f is linear in lambda."
    )


def roundings_of_gaps(path: AnyPath) -> str:
    """Return a note: gaps include their rounding errors, or are computed in float64.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    str
        Phrase that follows "relative gap".
    """
    return "in float64" if isinstance(path, OneNormPath) else "rounding included"


def training_scores(path: AnyPath, lams: Array) -> Array:
    """Return f + b at the training points at some lambdas.

    The median is subtracted if only differences of scores matter, as in a ranking.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.
    lams : ndarray
        Lambdas.

    Returns
    -------
    ndarray of shape (len(lams), m)
        Scores.
    """
    if isinstance(path, OneNormPath):
        values = path.decision_function(path.problem.X, lams)
    else:
        values = _along(path, path.g + path.biases[:, None], lams)
    return (
        values - np.median(values, axis=1, keepdims=True) if path.problem.rows.invariant else values
    )


def margins(path: AnyPath) -> tuple[Array, NDArray[Any]]:
    """Return the number of rows in the margin set, as a step function of lambda.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Lambdas, and numbers of rows.
    """
    above = path.lambdas[path.lambdas > 0]
    numbers = path.margins[: len(above)]
    return thinned(path, np.repeat(above, 2)[1:], np.repeat(numbers, 2)[:-1])


def labels(path: AnyPath) -> Array:
    """Return the label, target or relevance of every training point; 0 if there is none.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    ndarray of shape (m,)
        Labels.
    """
    return np.asarray(getattr(path.problem.rows, "y", np.zeros(path.problem.m)), dtype=np.float64)


def spread(y: Array, number: int = LINES) -> NDArray[np.intp]:
    """Return at most a given number of training points, evenly selected over their labels.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Labels.
    number : int, default LINES
        Maximum number of points.

    Returns
    -------
    ndarray
        Indices of the points.
    """
    return (
        np.arange(len(y))
        if len(y) <= number
        else np.argsort(y, kind="stable")[np.linspace(0, len(y) - 1, number).astype(np.intp)]
    )


def thinned(path: AnyPath, lams: Array, values: NDArray[Any]) -> tuple[Array, NDArray[Any]]:
    """Reduce a curve to the minimum and maximum of every column that can be seen.

    Parameters
    ----------
    path : AnyPath
        Regularisation path, all of which is drawn.
    lams : ndarray
        Lambdas of the curve.
    values : ndarray
        Values at these lambdas.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Lambdas and values of the reduced curve.
    """
    if len(lams) <= 4 * ACROSS:
        return lams, values
    high, low = ends(path)
    column = np.floor(ACROSS * np.log(high / lams) / np.log(high / low)).astype(np.int64)
    starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    # `fmin` and `fmax` ignore NaN, an undefined score, if its column has other values.
    extremes = np.stack(
        [np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)], axis=1
    )
    return np.repeat(lams[starts], 2), extremes.ravel()


def _along(path: RegularizationPath, lines: Array, lams: Array) -> Array:
    """Interpolate lines, (T, k), between breakpoints in lambda, and divide them by lambda."""
    return (
        np.stack([np.interp(lams, path.lambdas[::-1], line[::-1]) for line in lines.T], axis=1)
        / lams[:, None]
    )
