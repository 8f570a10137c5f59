"""Optimal bias for a given f: the b that minimises the sum of losses."""

from __future__ import annotations

import math

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.loss import Loss


def hinge_bias(breakpoints: Array, s: Array, c: Array) -> tuple[float, float]:
    """Return the interval of b in which the slope of the hinge losses crosses 0.

    The slope is -sum_{s=+1} c + sum of c over the breakpoints below b.

    Parameters
    ----------
    breakpoints : ndarray of shape (p,)
        Values of b at which the slacks of the rows are 0.
    s : ndarray of shape (p,)
        Bias signs, -1 or +1.
    c : ndarray of shape (p,)
        Costs.

    Returns
    -------
    lower, upper : float
        Interval endpoints, which may be infinite.
    """
    order = breakpoints.argsort(kind="stable")
    passed = c[order].cumsum()
    # With one class, both sums are the total, but they may round differently.
    rising = min(float(c[s > 0].sum()), float(passed[-1]))
    noise = 1e-14 * float(passed[-1])
    first, last = (
        passed.searchsorted(rising - noise),
        passed.searchsorted(rising + noise, side="right"),
    )
    lower = breakpoints[order[first]] if rising > noise else -np.inf
    upper = breakpoints[order[last]] if last < len(order) else np.inf
    return float(lower), float(upper)


def squared_hinge_bias(breakpoints: Array, s: Array, c: Array) -> tuple[float, float]:
    """Return the roots of the derivative of the squared hinge losses in b.

    Up to a factor the derivative is nondecreasing and piecewise linear, with
    breakpoints v:

        g(b) = sum_{s=-1, b > v} c (b - v) - sum_{s=+1, b < v} c (v - b)

    Parameters
    ----------
    breakpoints : ndarray of shape (p,)
        Values of b at which the slacks of the rows are 0.
    s : ndarray of shape (p,)
        Bias signs, -1 or +1.
    c : ndarray of shape (p,)
        Costs.

    Returns
    -------
    lower, upper : float
        Interval endpoints, which may be infinite.
    """
    order = np.argsort(breakpoints, kind="stable")
    v, s, c = breakpoints[order], s[order], c[order]
    up, down = np.where(s > 0, c, 0.0), np.where(s < 0, c, 0.0)
    below, moment_below = np.cumsum(down), np.cumsum(down * v)
    above, moment_above = up.sum() - np.cumsum(up), (up * v).sum() - np.cumsum(up * v)
    g = below * v - moment_below - (moment_above - above * v)
    k = int(np.searchsorted(g, 0.0))
    if k == len(v):
        return float(v[-1]), np.inf
    if k == 0:
        return (float(v[0]), float(v[0])) if up.sum() > 0 else (-np.inf, float(v[0]))
    slope = below[k - 1] + above[k - 1]
    b = v[k - 1] - g[k - 1] / slope if slope > 0 else v[k]
    return float(b), float(b)


def bounded_smooth_bias(breakpoints: Array, s: Array, c: Array, phi: Loss) -> tuple[float, float]:
    """Return the roots of the derivative of a smooth loss that ends in a line.

    The derivative -sum_r c_r s_r phi'(s_r (v_r - b)), with breakpoints v, is
    nondecreasing and piecewise linear: a row adds c slope to its slope on an interval
    of length top / slope.

    Parameters
    ----------
    breakpoints : ndarray of shape (p,)
        Values of b at which the slacks of the rows are 0.
    s : ndarray of shape (p,)
        Bias signs, -1 or +1.
    c : ndarray of shape (p,)
        Costs.
    phi : Loss
        Loss.

    Returns
    -------
    lower, upper : float
        Interval endpoints, which may be infinite.
    """
    length = phi.top / phi.slope
    start = breakpoints + np.where(s > 0, phi.width - length, -phi.width)
    knots = np.concatenate([start, start + length])
    order = np.argsort(knots, kind="stable")
    knots, slopes = knots[order], phi.slope * np.cumsum(np.concatenate([c, -c])[order])
    g = np.cumsum(np.append(-phi.top * float(c[s > 0].sum()), slopes[:-1] * np.diff(knots)))
    noise = 1e-14 * phi.top * float(c.sum())
    first, last = int(np.searchsorted(g, -noise)), int(np.searchsorted(g, noise, side="right"))
    if g[0] >= -noise:
        return -np.inf, float(knots[last - 1])
    if first == len(g):
        return float(knots[-1]), np.inf
    if last > first:
        return float(knots[first]), float(knots[last - 1]) if last < len(g) else np.inf
    b = float(knots[first - 1] - g[first - 1] / slopes[first - 1])
    return b, b


def finite_interval(lower: float, upper: float) -> tuple[float, float]:
    """Return an interval with finite endpoints.

    Parameters
    ----------
    lower, upper : float
        Endpoints, which may be infinite.

    Returns
    -------
    lower, upper : float
        The finite endpoint twice if only one is finite, (0, 0) if neither is.
    """
    if math.isfinite(lower) and math.isfinite(upper):
        return lower, upper
    end = lower if math.isfinite(lower) else upper
    return (end, end) if math.isfinite(end) else (0.0, 0.0)
