"""What is drawn of a regularisation path: its coefficients or decision values over lambda, as straight lines between few enough knots."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.path import AnyPath, OneNormPath, RegularizationPath

ACROSS = 500
"""Lambdas at which a line is drawn. A curve with many more knots is reduced to as many columns."""
LINES = 120
"""Lines, at most. If there are more points, the points that are drawn are spread evenly over the labels."""


def ends(path: AnyPath) -> tuple[float, float]:
    """The largest and the smallest lambda that are drawn, the one above the other.

    Raises
    ------
    ValueError
        A path without a lambda above 0.
    """
    above = path.lambdas[path.lambdas > 0]
    if not len(above):
        raise ValueError(f"there is no lambda to draw: {path.stopped}")
    high, low = float(above[0]), float(above[-1])
    return (high, low) if high > low else (2 * high, low / 2)


def lambdas(path: AnyPath, high: float, low: float, number: int = ACROSS) -> Array:
    """The lambdas of the path at which a line is drawn, falling, evenly spread over their logarithms."""
    return np.clip(
        np.geomspace(min(high, path.lambdas[0]), low, number), path.lambdas[-1], path.lambdas[0]
    )


def coefficients(path: AnyPath, lams: Array) -> Array | None:
    """The coefficients w at some lambdas, (len(lams), d), of a linear kernel with at most LINES features; None of any other."""
    Z = explicit(path.problem.kernel, path.problem.X)
    if not isinstance(path.problem.kernel, Linear) or Z is None or Z.d > LINES:
        return None
    if isinstance(path, OneNormPath):
        pieces = [path.piece(lam) for lam in lams.tolist()]
        return np.array([Z.rdot(beta) for beta in path.betas[pieces].toarray()])
    return along(
        path, path.w if path.w.size else np.array([Z.rdot(beta) for beta in path.betas]), lams
    )


def between_breakpoints(path: AnyPath) -> str:
    """What a function of the path does between two breakpoints, in a sentence."""
    still = isinstance(path, OneNormPath)
    return (
        "f stays as it is between two breakpoints."
        if still
        else "Between two breakpoints lambda f is a straight line of lambda."
    )


def roundings_of_gaps(path: AnyPath) -> str:
    """Whether the gaps of a path count the roundings of their computing."""
    return "in float64" if isinstance(path, OneNormPath) else "rounding included"


def training_scores(path: AnyPath, lams: Array) -> Array:
    """f + b at the training points at some lambdas, (len(lams), m); less their median where only differences of scores mean anything."""
    if isinstance(path, OneNormPath):
        values = path.decision_function(path.problem.X, lams)
    else:
        values = along(path, path.g + path.biases[:, None], lams)
    return (
        values - np.median(values, axis=1, keepdims=True) if path.problem.rows.invariant else values
    )


def margins(path: AnyPath) -> tuple[Array, NDArray[Any]]:
    """Return the number of rows in the margin set, as steps over lambda."""
    above = path.lambdas[path.lambdas > 0]
    return thinned(
        np.repeat(above, 2)[1:], np.repeat(path.margins[: len(above)], 2)[:-1], *ends(path)
    )


def labels(path: AnyPath) -> Array:
    """The label, target or relevance of every training point; 0 where there is none."""
    return np.asarray(getattr(path.problem.rows, "y", np.zeros(path.problem.m)), dtype=np.float64)


def spread(y: Array, number: int = LINES) -> NDArray[np.intp]:
    """At most a given number of training points, evenly spread over their labels."""
    return (
        np.arange(len(y))
        if len(y) <= number
        else np.argsort(y, kind="stable")[np.linspace(0, len(y) - 1, number).astype(np.intp)]
    )


def thinned(
    lams: Array, values: NDArray[Any], high: float, low: float
) -> tuple[Array, NDArray[Any]]:
    """No more knots than can be seen: the lowest and the highest of every column."""
    if len(lams) <= 4 * ACROSS:
        return lams, values
    column = np.floor(ACROSS * np.log(high / lams) / np.log(high / low)).astype(np.int64)
    starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    found = np.stack(
        [np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)], axis=1
    )
    return np.repeat(lams[starts], 2), found.ravel()


def along(path: RegularizationPath, lines: Array, lams: Array) -> Array:
    """Lines (T, k) between breakpoints, over lambda, at some lambdas, (len(lams), k)."""
    return (
        np.stack([np.interp(lams, path.lambdas[::-1], line[::-1]) for line in lines.T], axis=1)
        / lams[:, None]
    )
