"""Pair steps on a working set: which points make it up, their block of K, and the compiled loop over pairs.

Every point k has the slopes of the objective to both sides of a_k: G_k + rise_k if it
grows, G_k + fall_k if it shrinks. A pair step moves a_i up and a_j down by the same
delta. Point i is the one of least slope to rise, and j the one of largest gain
(G_j + fall_j - G_i - rise_i)^2 / curvature. Up to ONE_SET points are all in one working
set. Where there are more, the set is made of the worst violators and of the free
points. It changes when points outside of it violate optimality by too much, and then
its block of K is computed anew where it has changed.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information, JMLR 6 (2005), WSS 2; T. Joachims, Making large-scale SVM learning
practical (1999), for the sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import as_python, brief_by, fast, in_numpy, jit
from equimargin.formulations.numeric.vector_loops import first_at_least, larger
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers.dual.smo_problem import NEVER, Index, OptimalityState, SeparablePart
from equimargin.solvers.products.kept_tiles import kept
from equimargin.solvers.products.tiles import Block, Tiles, add_rows, tiles

ONE_SET = 2048
"""Points up to which all of them are one working set.

Its block of K, 16 MB in float32, is computed once and for all.
"""
SMALLEST_SET = 512
"""Points that a working set has at least beside the free ones, where it is not of all points."""
POINTS_PER_PLACE = 20
"""Points of the problem for every one that a working set has beside the free ones.

With 10 a block takes more time than it saves in rounds, and with 40 the rounds become
too many.
"""
LARGEST_SET = {np.dtype(np.float32): 6000, np.dtype(np.float64): 2000}
"""Points that a working set has at most in each precision.

A set that leaves out free points changes in every round, and its block is computed anew
each time: blocks of up to 144 MB are worth their memory.
"""
RENEWED_PART = 3
"""Points of a set for every new one, below which the block is computed anew as a whole,
not only in the rows and columns of these.
"""
POINT_IN_PYTHON, PAIR_STEP_IN_PYTHON = 5.0, 20.0
"""Cost of pair steps as Python, in entries of a loop in Python.

The first is per point before the first step, and the second is per step.
"""


class WorkingSet:
    """The points of the next pair steps and their block of K, in one precision at a time.

    Parameters
    ----------
    exact, single : Tiles
        K in float64 and in float32, tile by tile.
    tiles
        The one of both that is in use.
    points : Index of shape (q,)
        The set, which outlives a change of precision.
    K : array-like of shape (q, q)
        Its block; None before it is computed in this precision.
    memory : Workspace
        Where the block is; of one run at a time.
    """

    def __init__(self, exact: Tiles, single: Tiles, memory: Workspace) -> None:
        self.exact, self.single, self.tiles, self.memory = exact, single, exact, memory
        self.points: Index = np.zeros(0, dtype=np.intp)
        self.K: Any = None

    @classmethod
    def of(cls, gram: Gram, unit: float, n_jobs: int, memory: Workspace) -> WorkingSet:
        """No points yet, of K / unit."""
        exact = tiles(gram, unit, n_jobs)
        return cls(*((exact, exact.single()) if gram.m <= ONE_SET else kept(exact, memory)), memory)

    @property
    def m(self) -> int:
        """How many points there are, in the set and outside."""
        return self.exact.gram.m

    @property
    def whole(self) -> bool:
        """Whether the set is of all points."""
        return self.m <= ONE_SET

    @property
    def in_float32(self) -> bool:
        """Whether float32 is in use."""
        return self.tiles is self.single

    @property
    def in_float64_whole(self) -> bool:
        """Whether the block is that of all points in float64: all of K."""
        return self.whole and self.K is not None and not self.in_float32

    def product(self, points: Index, v: Array) -> Array:
        """K[:, points] v / unit in float64, (m,), where the block is all of K."""
        f = np.zeros(self.m)
        add_rows(self.K, points, v, f, 0, self.m)
        return f

    def work_in(self, tiles: Tiles) -> None:
        """Take pair steps in the precision of `exact` or of `single`. A block in the other precision is forgotten."""
        self.tiles = tiles
        if self.K is not None and self.K.dtype != tiles.dtype:
            self.K = None

    def choose(self, look: OptimalityState) -> int:
        """Choose the set for the next pair steps. The present one stays as long as no point outside of it violates optimality by much.

        Returns the work that its block of K takes, in the units of `WorkCounter`.
        """
        if self.whole:
            if self.K is None:
                self.points = np.arange(self.m)
                self.K = self.tiles.block(
                    self.points,
                    self.points,
                    self.memory.array("set", (self.m, self.m), self.tiles.dtype),
                )
            return 0
        if self.K is not None:
            self.tiles.expect(
                int(np.count_nonzero((look.rise < look.level) | (look.fall > look.level)))
            )
            if not violators_outside(look, 0.1 * look.violation, self.points):
                return 0
        before = self.points
        wanted = max(self.m // POINTS_PER_PLACE, SMALLEST_SET) + int(np.count_nonzero(look.free))
        points = choose_working_set(
            look,
            before,
            min(
                wanted if wanted > 1.1 * len(before) else len(before), LARGEST_SET[self.tiles.dtype]
            ),
        )
        size = len(points)
        self.points, places = keep_positions(points, before)
        if self.K is None or len(before) != size or len(places) > size // RENEWED_PART:
            self.points, self.K = (
                points,
                None,
            )  # the memory of the old block is free for the new one
            self.K = self.tiles.block(
                points, points, self.memory.array("set", (size, size), self.tiles.dtype)
            )
            return 4 * size**2
        self.tiles.renew(self.K, self.points, places)
        return 8 * size * len(places)

    def face(self, points: Index) -> Block:
        """K at some points, (k, k), to write into."""
        if self.whole:
            return np.asarray(self.K[np.ix_(points, points)])
        return self.tiles.block(
            points, points, self.memory.array("face", (len(points), len(points)), self.tiles.dtype)
        )

    def follow(self, points: Index, change: Array, G: Array) -> int:
        """G <- G + K[:, points] change, in place; through the block where the points are `self.points` or all points are in it.

        Returns the work outside of the block, in the units of `WorkCounter`.
        """
        moved = np.flatnonzero(change)
        if self.whole:
            add_rows(self.K, points[moved], change[moved], G, 0, self.m)
            return 0
        if points is not self.points:
            self.tiles.add_product(points[moved], change[moved], G)
            return 3 * len(moved) * self.m
        inside, others = G[points], np.ones(self.m, dtype=bool)
        add_rows(self.K, moved, change[moved], inside, 0, len(points))
        others[points] = False
        G[points] = inside
        G[others] += self.tiles.product(points[moved], change[moved], np.flatnonzero(others))
        return 3 * len(moved) * (self.m - len(points))


def choose_working_set(look: OptimalityState, before: Index, size: int) -> Index:
    """The points of a new working set, in ascending order.

    They are the worst violators of both sides, the points of the set before, its free
    ones first, and those that are next to violate optimality. The violators take half
    of the set, or all that the free points of the set before leave of it.

    Parameters
    ----------
    look : OptimalityState
        At a.
    before : Index
        The set before.
    size : int
        How many points to choose.
    """
    rise, fall, free = look.rise, look.fall, look.free
    half = max(size // 2, size - int(np.count_nonzero(free[before]))) // 2
    taken = np.zeros(len(rise), dtype=bool)
    for candidates, key in (
        (np.flatnonzero(rise < look.most), rise),
        (np.flatnonzero(fall > look.least), -fall),
    ):
        if len(candidates) > half:
            candidates = candidates[np.argpartition(key[candidates], half)[:half]]
        taken[candidates] = True
    kept = before[~taken[before]]
    room = size - int(np.count_nonzero(taken))
    if len(kept) > room:
        inside = free[kept]
        kept = np.concatenate([kept[inside], kept[~inside]])[:room]
    taken[kept] = True
    rest, room = np.flatnonzero(~taken), size - int(np.count_nonzero(taken))
    if 0 < room < len(rest):
        slack = np.minimum(rise[rest] - look.least, look.most - fall[rest])
        taken[rest[np.argpartition(slack, room)[:room]]] = True
    return np.flatnonzero(taken)


def keep_positions(points: Index, before: Index) -> tuple[Index, Index]:
    """The points of a new set, with those that were in the set before in their old places, and the places of the others.

    Parameters
    ----------
    points : Index
        The new set, in ascending order, at least one point.
    before : Index
        The set before, in any order.
    """
    order, old = np.full(len(points), -1), before[: len(points)]
    at = np.minimum(np.searchsorted(points, old), len(points) - 1)
    stay = np.flatnonzero(points[at] == old)
    order[stay] = old[stay]
    places = np.flatnonzero(order < 0)
    order[places] = np.delete(points, at[stay])
    return order, places


def violators_outside(look: OptimalityState, margin: float, points: Index) -> bool:
    """Whether a point outside of the set violates optimality by more than a margin, at the level of the free points."""
    violating = (look.rise < look.level - margin) | (look.fall > look.level + margin)
    violating[points] = False
    return bool(violating.any())


@brief_by(lambda found, K, G, a, *others: POINT_IN_PYTHON * a.size + PAIR_STEP_IN_PYTHON * found[0])
@jit
def pair_steps(
    K: Any, G: Any, a: Array, sides: SeparablePart, floor: float, eps: float, steps: int
) -> tuple[int, float]:
    """Pair steps on a and G in place, until the violation is at most eps.

    Parameters
    ----------
    K : array-like of shape (q, q)
        The block of the set.
    G : array-like of shape (q,)
        Its gradient, in the precision of K.
    a : ndarray of shape (q,)
    sides : SeparablePart
        Of the set's points.
    floor : float
        The smallest curvature of a pair.
    eps : float
        Violation at which to end.
    steps : int
        To take at most.

    Returns
    -------
    How many steps were taken, and the violation.
    """
    lower, upper, width, ridge = sides
    rise, fall, curvature, work = (
        np.empty_like(G),
        np.empty_like(G),
        np.empty_like(G),
        np.empty_like(G),
    )
    diagonal = np.empty_like(a)
    for k in range(a.size):
        diagonal[k] = K[k, k]
        rise[k] = slope_up(a[k], upper[k], width[k], ridge[0, k], ridge[1, k])
        fall[k] = slope_down(a[k], lower[k], width[k], ridge[0, k], ridge[1, k])
        curvature[k] = diagonal[k] + (ridge[1, k] if a[k] > 0.0 else ridge[0, k])
    i: Any = apply_pair_step(G, rise, K[0], K[0], G.dtype.type(0.0), work)
    violation = np.inf
    for done in range(steps):
        if i >= a.size:  # all are NaN, of which none is the least
            return done, np.inf
        here = diagonal[i] + (ridge[1, i] if a[i] >= 0.0 else ridge[0, i])
        slope, own = G[i] + rise[i], fall[i]
        fall[
            i
        ] = -NEVER  # its curvature with itself is rounding only: it must not be its own partner
        j, worst = best_partner(
            G, fall, K[i], curvature, slope, G.dtype.type(here), G.dtype.type(floor), work
        )
        fall[i] = own
        violation = float(worst)
        if not violation > eps or not 0 <= j < a.size:
            return done, violation
        delta = float(G[j] + fall[j] - slope) / max(
            here + float(curvature[j]) - 2.0 * float(K[i, j]), floor
        )
        top, bottom = (upper[i] if a[i] >= 0.0 else 0.0), (lower[j] if a[j] <= 0.0 else 0.0)
        up, down = top - a[i], a[j] - bottom
        delta = min(delta, up, down)
        a[i] = (
            top if delta == up else a[i] + delta
        )  # an end is met exactly: rounding must not leave the point free
        a[j] = bottom if delta == down else a[j] - delta
        for k in (i, j):
            rise[k] = slope_up(a[k], upper[k], width[k], ridge[0, k], ridge[1, k])
            fall[k] = slope_down(a[k], lower[k], width[k], ridge[0, k], ridge[1, k])
            curvature[k] = diagonal[k] + (ridge[1, k] if a[k] > 0.0 else ridge[0, k])
        i = apply_pair_step(G, rise, K[i], K[j], G.dtype.type(delta), work)
    return steps, violation


@jit
def slope_up(a: float, upper: float, width: float, below: float, above: float) -> float:
    """The slope of the separable part where a grows; below, above : the ridge on both sides of 0."""
    if a >= upper:
        return NEVER
    return width + above * a if a >= 0.0 else below * a - width


@jit
def slope_down(a: float, lower: float, width: float, below: float, above: float) -> float:
    """The slope of the separable part where a shrinks; below, above : the ridge on both sides of 0."""
    if a <= lower:
        return -NEVER
    return width + above * a if a > 0.0 else below * a - width


def _partner_in_numpy(
    G: Any, fall: Any, row: Any, diagonal: Any, slope: Any, curvature: Any, floor: Any, gain: Any
) -> tuple[int, Any]:
    drop = G + fall - slope
    worst = np.fmax.reduce(drop, initial=-NEVER)
    gain[:] = np.fmax(drop, 0.0) ** 2 / np.fmax(curvature + diagonal - 2.0 * row, floor)
    best = np.fmax.reduce(gain, initial=0.0)
    return as_python(first_at_least)(gain, best) if best > 0.0 else -1, worst


@in_numpy(_partner_in_numpy)
@fast
def best_partner(
    G: Any, fall: Any, row: Any, diagonal: Any, slope: Any, curvature: Any, floor: Any, gain: Any
) -> tuple[Any, Any]:
    """The point that falls while i rises, or -1 where none should, and the largest violation of any pair with i.

    Parameters
    ----------
    G, fall, row, diagonal : array-like of shape (q,)
        The gradient, the slopes to fall, K_i, and K_kk + ridge_k.
    slope, curvature : Any
        G_i + rise_i and K_ii + ridge_i.
    floor : Any
        The smallest curvature of a pair.
    gain : array-like of shape (q,)
        To work on.
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


def _moved_in_numpy(G: Any, rise: Any, row: Any, other: Any, step: Any, slopes: Any) -> int:
    G += step * (row - other)
    slopes[:] = -(G + rise)
    first: int = as_python(first_at_least)(slopes, np.fmax.reduce(slopes, initial=-NEVER))
    return first


@in_numpy(_moved_in_numpy)
@fast
def apply_pair_step(G: Any, rise: Any, row: Any, other: Any, step: Any, slopes: Any) -> Any:
    """The point that rises next, after G <- G + step (K_i - K_j) in place.

    Parameters
    ----------
    G, rise, row, other : array-like of shape (q,)
        The gradient, the slopes to rise, K_i and K_j.
    step : Any
        delta.
    slopes : array-like of shape (q,)
        To work on.
    """
    least = G.dtype.type(-NEVER)
    for k in range(G.shape[0]):
        G[k] += step * (row[k] - other[k])
        slopes[k] = -(G[k] + rise[k])
        least = larger(least, slopes[k])
    return first_at_least(slopes, least)
