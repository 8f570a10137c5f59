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


class ActivePairs(NamedTuple):
    """Pairs of a point and a class that were not shrunk.

    Parameters
    ----------
    classes : ndarray of shape (m, k)
        Classes of every point, those not shrunk first.
    counts : ndarray of shape (m,)
        Number of the classes of every point that were not shrunk.
    """

    classes: NDArray[np.int32]
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
    (codes, costs, curvatures), (starts, columns, entries, d) = points, X
    classes, counts = pairs
    h, z, thin = np.empty(S.shape[1]), np.empty(S.shape[1]), columns.size > 0
    kept, violation, share = 0, 0.0, 0.0
    for place in range(order.size):
        i = order[place]
        n, first, stop = counts[i], starts[i], starts[i + 1]
        # h_r = w_r.x_i + [r != y_i]
        for a in range(n):
            h[a] = 0.0 if classes[i, a] == codes[i] else 1.0
        for e in range(first, stop):
            j = columns[e] if thin else e - first
            for a in range(n):
                h[a] += entries[e] * W[j, classes[i, a]]
        high, low, mean = -np.inf, np.inf, 0.0
        for a in range(n):
            s = S[i, classes[i, a]]
            high, mean = larger(high, h[a]), mean + s * h[a]
            if s > 0.0:
                low = smaller(low, h[a])
        violation = larger(violation, high - low)
        share += costs[i] * high - mean
        # Shrink classes: move them behind the others.
        a = 0
        while a < n:
            if h[a] < low - margin and S[i, classes[i, a]] == 0.0:
                n -= 1
                classes[i, a], classes[i, n] = classes[i, n], classes[i, a]
                h[a] = h[n]
            else:
                a += 1
        counts[i] = n
        if n < 2:
            continue
        order[kept], kept = i, kept + 1
        if high <= low:
            continue
        # The largest h is subtracted: a constant changes no projection, only rounding.
        step = omega / curvatures[i]
        for a in range(n):
            z[a] = S[i, classes[i, a]] + step * (h[a] - high)
        tau, moved = _threshold(z, n, costs[i]), 0
        # Classes that change come first, and h becomes minus the change. As moved <= a,
        # no entry of z that is needed later loses its class.
        for a in range(n):
            r = classes[i, a]
            new = larger(z[a] - tau, 0.0)
            change, S[i, r] = S[i, r] - new, new
            if change != 0.0:
                classes[i, a], classes[i, moved] = classes[i, moved], r
                h[moved], moved = change, moved + 1
        for e in range(first, stop):
            j = columns[e] if thin else e - first
            for a in range(moved):
                W[j, classes[i, a]] += entries[e] * h[a]
    return kept, violation, share


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
