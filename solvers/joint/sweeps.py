"""Compiled sweeps over the points: all shares of one point change at a time.

With q_i = |x_i|^2 a visit of point i maximises the dual objective over its shares,

    s_i  <-  projection of s_i + omega h_i / q_i on {s >= 0, sum s = c_i},  0 < omega < 2,

and w_r changes by minus the change of s_ir times x_i. The projection is z -> (z - tau)_+.
A class without a share in the cost of a point, whose h_ir is far below those of the
classes that have one, is shrunk: later sweeps skip the pair.

References
----------
S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A sequential dual
method for large scale multi-class linear SVMs, KDD 2008.

C. Michelot, A finite algorithm for finding the projection of a point onto the canonical
simplex of R^n, JOTA 50 (1986).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.products.swept_rows import StoredRows

Classes = NDArray[np.int32]


class ActivePairs(NamedTuple):
    """Pairs of a point and a class that were not shrunk.

    Parameters
    ----------
    classes : ndarray of shape (m, k)
        Classes of every point, those not shrunk first.
    counts : ndarray of shape (m,)
        Number of the classes of every point that were not shrunk.
    """

    classes: Classes
    counts: NDArray[np.int32]


class PointArrays(NamedTuple):
    """Class, cost and curvature of every point, (m,) each."""

    codes: Index
    costs: Array
    curvatures: Array


@fast
def sweep(
    order: Index,
    margin: float,
    omega: float,
    points: PointArrays,
    X: StoredRows,
    pairs: ActivePairs,
    S: Array,
    W: Array,
) -> tuple[int, float, float]:
    """Visit every point of `order` once; change shares and weights in place.

    Parameters
    ----------
    order : ndarray of shape (n,)
        Points to visit; afterwards those with two classes or more come first.
    margin : float
        Distance of h_ir below the classes that have a share, from which on a class
        without one is shrunk.
    omega : float
        Over-relaxation factor.
    points : PointArrays
        Data of the points.
    X : StoredRows
        Features.
    pairs : ActivePairs
        Pairs, changed in place.
    S : ndarray of shape (m, k)
        Shares, changed in place.
    W : ndarray of shape (q, k)
        Weights, changed in place.

    Returns
    -------
    kept : int
        Number of points with two classes or more.
    violation : float
        Largest distance of h_ir, of a class with a share, below the maximum.
    share : float
        Sum of the contributions to the gap when the points were visited.
    """
    classes, counts = pairs
    h, z = np.empty(S.shape[1]), np.empty(S.shape[1])
    kept, violation, share = 0, 0.0, 0.0
    for place in range(order.size):
        i = order[place]
        n, own, c = counts[i], points.codes[i], points.costs[i]
        _derive(X, i, classes[i], n, own, W, h)
        high, low, mean = _extremes(classes[i], n, S[i], h)
        violation, share = larger(violation, high - low), share + c * high - mean
        n = _shrink(classes[i], n, S[i], h, low - margin)
        counts[i] = n
        if n < 2:
            continue
        order[kept], kept = i, kept + 1
        if high <= low:
            continue
        # The largest h is subtracted: a constant changes no projection, only rounding.
        for a in range(n):
            z[a] = S[i, classes[i, a]] + omega / points.curvatures[i] * (h[a] - high)
        moved = _project(classes[i], n, c, z, S[i], h)
        _add(X, i, classes[i], moved, h, W)
    return kept, violation, share


@part
def _derive(X: StoredRows, i: int, of: Classes, n: int, own: int, W: Array, h: Array) -> None:
    """Set h_a = w_r.x_i + [r != y_i] for the first n classes r of a point."""
    starts, columns, entries, _ = X
    for a in range(n):
        h[a] = 0.0 if of[a] == own else 1.0
    first = starts[i]
    for e in range(first, starts[i + 1]):
        j = columns[e] if columns.size > 0 else e - first
        for a in range(n):
            h[a] += entries[e] * W[j, of[a]]


@part
def _add(X: StoredRows, i: int, of: Classes, n: int, factors: Array, W: Array) -> None:
    """Add factor_a x_i to w_r for the first n classes r of a point."""
    starts, columns, entries, _ = X
    first = starts[i]
    for e in range(first, starts[i + 1]):
        j = columns[e] if columns.size > 0 else e - first
        for a in range(n):
            W[j, of[a]] += entries[e] * factors[a]


@part
def _extremes(of: Classes, n: int, s: Array, h: Array) -> tuple[float, float, float]:
    """Return max h, min h of the classes with a share, and s.h."""
    high, low, mean = -np.inf, np.inf, 0.0
    for a in range(n):
        high, mean = larger(high, h[a]), mean + s[of[a]] * h[a]
        if s[of[a]] > 0.0:
            low = smaller(low, h[a])
    return high, low, mean


@part
def _shrink(of: Classes, n: int, s: Array, h: Array, bound: float) -> int:
    """Move classes without a share and of h below a bound to the end; count the rest."""
    a = 0
    while a < n:
        if h[a] < bound and s[of[a]] == 0.0:
            n -= 1
            of[a], of[n] = of[n], of[a]
            h[a] = h[n]
        else:
            a += 1
    return n


@part
def _project(of: Classes, n: int, c: float, z: Array, s: Array, change: Array) -> int:
    """Set s to the projection of z; return the number of classes that change.

    They come first, each with minus the change of s.
    """
    tau, moved = _threshold(z, n, c), 0
    for a in range(n):
        # As moved <= a, no entry of z that is needed later loses its class.
        r = of[a]
        new = larger(z[a] - tau, 0.0)
        if new != s[r]:
            of[a], of[moved] = of[moved], r
            change[moved], s[r] = s[r] - new, new
            moved += 1
    return moved


@part
def _threshold(z: Array, n: int, c: float) -> float:
    """Return tau with sum_a (z_a - tau)_+ = c over the first n entries.

    The classes above tau become fewer from round to round, until none is excluded.
    """
    above, tau = n + 1, -np.inf
    while True:
        count, total = 0, -c
        for a in range(n):
            if z[a] > tau:
                count, total = count + 1, total + z[a]
        if count >= above or count == 0:
            return tau
        above, tau = count, total / count
