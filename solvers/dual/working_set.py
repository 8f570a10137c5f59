"""The two passes of a pair step over a working set, and which points make up the set.

Every point k has the slopes of the dual cost to both sides of a_k: G_k + rise_k if a_k grows, G_k + fall_k if it shrinks, with an infinite
share where it cannot. The pair moved is i of least slope to rise and j of largest gain (G_j + fall_j - G_i - rise_i)^2 / curvature.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information, JMLR 6 (2005), WSS 2; T. Joachims, Making
large-scale SVM learning practical (1999), for the sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.vector_loops import first_at_least, larger, smaller

Index = NDArray[np.intp]
NEVER = 1e30
"""In place of an infinite slope, which float32 sums would turn into NaN."""


@fast
def best_partner(G: Any, fall: Any, row: Any, diagonal: Any, slope: Any, curvature: Any, floor: Any, gain: Any) -> tuple[Any, Any]:
    """Who should fall while i rises, or -1, and the largest violation of any pair with i.

    G, fall, row, diagonal : (m,) slopes, K_i and K_kk + ridge.  slope, curvature : G_i + rise_i and K_ii + ridge of i.  floor : of the
    curvature of a pair.  gain : (m,) to work on.
    """
    worst, best = gain.dtype.type(-NEVER), gain.dtype.type(0.0)
    nothing, twice = gain.dtype.type(0.0), gain.dtype.type(2.0)
    for k in range(G.shape[0]):
        drop = G[k] + fall[k] - slope
        worst = larger(worst, drop)
        drop = larger(drop, nothing)
        gain[k] = drop * drop / larger(curvature + diagonal[k] - twice * row[k], floor)
        best = larger(best, gain[k])
    return (first_at_least(gain, best) if best > nothing else -1), worst


@fast
def moved(G: Any, rise: Any, row: Any, other: Any, step: Any, slopes: Any) -> Any:
    """Who is to rise next, after G <- G + step (K_i - K_j) in place; slopes : (m,) to work on."""
    least = G.dtype.type(-NEVER)
    for k in range(G.shape[0]):
        G[k] += step * (row[k] - other[k])
        slopes[k] = -(G[k] + rise[k])
        least = larger(least, slopes[k])
    return first_at_least(slopes, least)


@fast
def slopes(
    G: Array, a: Array, lower: Array, upper: Array, width: Array, ridge: Array, rise: Array, fall: Array, free: Any
) -> tuple[float, float, float]:
    """The slopes of every point to both sides, into `rise` and `fall`, and which points are free: where both are equal, into `free`.

    Returns the least slope to rise, the largest to fall, and the level between them at which the free points are on average.
    """
    least, most, total, count = NEVER, -NEVER, 0.0, 0
    for k in range(G.shape[0]):
        above, below = width[k] + ridge[1, k] * a[k], ridge[0, k] * a[k] - width[k]
        rise[k] = NEVER if a[k] >= upper[k] else G[k] + (above if a[k] >= 0.0 else below)
        fall[k] = -NEVER if a[k] <= lower[k] else G[k] + (above if a[k] > 0.0 else below)
        least, most = smaller(least, rise[k]), larger(most, fall[k])
        free[k] = rise[k] == fall[k]
        if free[k]:
            total += rise[k]
            count += 1
    level = total / count if count else 0.5 * (least + most)
    return least, most, larger(smaller(level, larger(least, most)), smaller(least, most))


@fast
def estimate(G: Array, a: Array, z: Array, width: Array, ridge: Array, costs: Array, level: float) -> tuple[float, float]:
    """The gap of f = K a with the bias -level, and the dual value."""
    gap, dual = 0.0, 0.0
    for k in range(G.size):
        dual += z[k] * a[k] - width[k] * abs(a[k]) - 0.5 * a[k] * (G[k] + z[k])
        for side in range(2):
            part = max(a[k], 0.0) if side == 1 else max(-a[k], 0.0)
            u = level - G[k] - width[k] if side == 1 else G[k] - width[k] - level
            c, r = costs[side, k], ridge[side, k]
            if c > 0.0:
                gap -= part * u
                if r > 0.0:
                    dual -= 0.5 * r * part**2
                    gap += 0.5 * max(u, 0.0) ** 2 / r + 0.5 * r * part**2
                elif u > 0.0:
                    gap += c * u
    return gap, dual


def choose(rise: Array, fall: Array, least: float, most: float, a: Array, free: Any, before: Index, size: int) -> Index:
    """A working set: the worst violators of both sides, half of the set or what the free points it had before leave, these, and who is next
    to violate.
    """
    half = max(size // 2, size - int(np.count_nonzero(free[before]))) // 2
    chosen = np.zeros(len(a), dtype=bool)
    for candidates, key in ((np.flatnonzero(rise < most), rise), (np.flatnonzero(fall > least), -fall)):
        if len(candidates) > half:
            candidates = candidates[np.argpartition(key[candidates], half)[:half]]
        chosen[candidates] = True
    kept = before[~chosen[before]]
    room = size - int(np.count_nonzero(chosen))
    if len(kept) > room:
        inside = free[kept]
        kept = np.concatenate([kept[inside], kept[~inside]])[:room]
    chosen[kept] = True
    rest, room = np.flatnonzero(~chosen), size - int(np.count_nonzero(chosen))
    if 0 < room < len(rest):
        slack = np.minimum(rise[rest] - least, most - fall[rest])
        chosen[rest[np.argpartition(slack, room)[:room]]] = True
    return np.flatnonzero(chosen)


def seated(W: Index, before: Index) -> tuple[Index, Index]:
    """The points of W, those that were in the set before in their places, and the places of the others."""
    order = np.full(len(W), -1)
    stay = np.flatnonzero(np.isin(before[: len(W)], W))
    order[stay] = before[stay]
    places = np.flatnonzero(order < 0)
    order[places] = np.setdiff1d(W, before[stay], assume_unique=True)
    return order, places


def violators_outside(rise: Array, fall: Array, level: float, margin: float, W: Index) -> bool:
    """Whether a point outside of the set W violates optimality at this level by more than a margin."""
    violating = (rise < level - margin) | (fall > level + margin)
    violating[W] = False
    return bool(violating.any())
