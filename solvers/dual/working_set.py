"""Working sets of SMO: their choice, their block of K, and the compiled pair steps.

The one-sided slopes of the objective in a_k are G_k + rise_k if a_k grows and G_k +
fall_k if it shrinks. A pair step increases a_i and decreases a_j by the same delta.
Point i has the least slope to rise, and j the largest gain (G_j + fall_j - G_i -
rise_i)^2 / curvature. Up to ONE_SET points form one working set. With more points, the
set contains violators and the free points. It changes when points outside
violate optimality by too much; then its block of K is recomputed where it has changed.

References
----------
R.-E. Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information
for training support vector machines. JMLR 6 (2005), 1889-1918, rule WSS 2.

T. Joachims. Making large-scale SVM learning practical (1999), for the sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import as_python, brief_by, fast, in_numpy, jit
from equimargin.formulations.numeric.vector_loops import first_at_least, larger
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers.dual.newton_on_face import FaceFactor, FaceMatrix, factor_face
from equimargin.solvers.dual.smo_problem import NEVER, OptimalityState, SeparablePart
from equimargin.solvers.products.kept_tiles import kept
from equimargin.solvers.products.tiles import Block, Tiles, add_rows, tiles

ONE_SET = 2048
"""Largest problem, in points, that is a single working set.

Its block of K, 16 MB in float32, is computed only once.
"""
SMALLEST_SET = 512
"""Minimum size of a working set in points, without the free ones.

Applies unless the set is all points.
"""
POINTS_PER_PLACE = 20
"""Ratio of the points of the problem to those of a working set, without the free ones.

With 10 a block takes more time than it saves in rounds, and with 40 there are too many
rounds.
"""
LARGEST_SET = {np.dtype(np.float32): 6000, np.dtype(np.float64): 2000}
"""Maximum size of a working set in points, by precision.

A set without some of the free points changes in every round, and its block is
recomputed each time: blocks of up to 144 MB pay off.
"""
CROWD = 4
"""Ratio of violators to places beyond which not only the worst are selected.

With 4 a machine with many points at the bound takes a third of the rounds, and one with
few takes as many as with the worst alone (measured).
"""
RENEWED_PART = 3
"""Ratio of a set's points to its new ones below which the whole block is recomputed.

Above it, only the rows and columns of the new points are recomputed.
"""


@dataclass(frozen=True)
class RoundCosts:
    """Work of the parts of a round on a device, in units of `WorkCounter`, and limits.

    Work is counted, not timed, so that equal runs take equal decisions.

    Parameters
    ----------
    pair_step : int
        Overhead of a pair step. The two passes over the working set come on top.
    steps_per_point : int
        Pair steps that a round may always take, per point of the working set. Updating
        the gradient outside the set costs as much as several of them.
    outside_entry : float
        Work of an entry of K outside the working set.
    face : int
        Overhead of a Newton attempt. Its matrix and its factorisations come on top.
    face_entry : float
        Work of an entry of the matrix of the free points, and of a pass over it.
    factorisation : int
        Overhead of a factorisation.
    cubes : int
        Ratio of n^3 to the work of factorising n points.
    max_face : int
        Number of free points above which Newton steps are skipped.
    """

    pair_step: int
    steps_per_point: int
    outside_entry: float
    face: int
    face_entry: float
    factorisation: int
    cubes: int
    max_face: int


PROCESSOR_COSTS = RoundCosts(
    pair_step=600,
    steps_per_point=5,
    outside_entry=4,
    face=600_000,
    face_entry=8,
    factorisation=200_000,
    cubes=36,
    max_face=4000,
)
"""Work of a round on a processor (measured).

Factorising the matrix of more than `max_face` free points would take seconds.
"""
POINT_IN_PYTHON, PAIR_STEP_IN_PYTHON = 5.0, 20.0
"""Cost of pair steps that run uncompiled, in iterations of a Python loop.

The first value is per point before the first step, the second per step.
"""


Numbers = TypeVar("Numbers", bound=NDArray[Any])
"""Array of any type."""


class WorkingSet:
    """Points of the next pair steps and their block of K, in one precision at a time.

    Parameters
    ----------
    exact : Tiles
        K in float64, tile by tile.
    single : Tiles
        K in float32, tile by tile.
    memory : Workspace
        Memory of the block, for one run at a time.

    Attributes
    ----------
    tiles : Tiles
        The one of `exact` and `single` in use.
    points : ndarray of shape (q,)
        Working set; kept when the precision changes.
    K : ndarray of shape (q, q) or None
        Block of K; None until computed in this precision.
    costs : RoundCosts
        Work of the parts of a round.
    """

    costs = PROCESSOR_COSTS

    def __init__(self, exact: Tiles, single: Tiles, memory: Workspace) -> None:
        self.exact, self.single, self.tiles, self.memory = exact, single, exact, memory
        self.points: Index = np.zeros(0, dtype=np.intp)
        self.K: Any = None

    @classmethod
    def of(cls, gram: Gram, unit: float, n_jobs: int, memory: Workspace) -> WorkingSet:
        """Return an empty working set for K / unit.

        Parameters
        ----------
        gram : Gram
            Gram operator of K.
        unit : float
            Divisor of K.
        n_jobs : int
            Threads of the tiles.
        memory : Workspace
            Memory of the block.
        """
        exact = tiles(gram, unit, n_jobs)
        return cls(*((exact, exact.single()) if gram.m <= ONE_SET else kept(exact, memory)), memory)

    @property
    def m(self) -> int:
        """Number of all points, inside and outside the set."""
        return self.exact.gram.m

    @property
    def whole(self) -> bool:
        """True if the set is all points."""
        return self.m <= ONE_SET

    @property
    def in_float32(self) -> bool:
        """True if float32 is in use."""
        return self.tiles is self.single

    @property
    def has_fast_product(self) -> bool:
        """True if `product` is cheap: on a processor, if the block is all of K in float64."""
        return self.whole and self.K is not None and not self.in_float32

    def product(self, points: Index, v: Array) -> Array:
        """Return K[:, points] v / unit in float64, if `has_fast_product`.

        Parameters
        ----------
        points : ndarray of shape (k,)
            Indices of the points.
        v : ndarray of shape (k,)
            Coefficients.

        Returns
        -------
        ndarray of shape (m,)
            Product.
        """
        f = np.zeros(self.m)
        add_rows(self.K, points, v, f, 0, self.m)
        return f

    def placed(self, v: Numbers) -> Numbers:
        """Return numbers of all points as an array of the device of the run.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Numbers.
        """
        return v

    def pair_steps(
        self, G: Block, a: Array, sides: SeparablePart, floor: float, eps: float, steps: int
    ) -> tuple[int, float]:
        """Take pair steps on the set by its block, as the function `pair_steps` does.

        Parameters
        ----------
        G, a, sides, floor, eps, steps
            As in the function.

        Returns
        -------
        steps : int
            Number of steps taken.
        violation : float
            Violation of the last pair.
        """
        return pair_steps(self.K, G, a, sides, floor, eps, steps)

    def factor(self, H: Block, out_of_time: Callable[[], bool]) -> FaceFactor | None:
        """Return the damped factor of the matrix of free points, as `factor_face` does.

        Parameters
        ----------
        H : ndarray of shape (n, n)
            Matrix of the free points.
        out_of_time : callable
            Returns True if the run must end.
        """
        return factor_face(H, out_of_time)

    def work_in(self, tiles: Tiles) -> None:
        """Set the precision of the pair steps, and drop a block in the other precision.

        Parameters
        ----------
        tiles : Tiles
            `exact` or `single`.
        """
        self.tiles = tiles
        if self.K is not None and self.K.dtype != tiles.dtype:
            self.K = None

    def choose(self, look: OptimalityState) -> int:
        """Choose the set for the next pair steps.

        The present set stays if no point outside violates optimality by more than a
        tenth of the maximum violation.

        Parameters
        ----------
        look : OptimalityState
            Slopes at the current point.

        Returns
        -------
        int
            Work of computing the block of K, in units of `WorkCounter`.
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
            # Drop the old block first: the new one uses its memory.
            self.points, self.K = points, None
            self.K = self.tiles.block(
                points, points, self.memory.array("set", (size, size), self.tiles.dtype)
            )
            return 4 * size**2
        self.tiles.renew(self.K, self.points, places)
        return 8 * size * len(places)

    def newton_work(self, n: int) -> tuple[float, float]:
        """Return the work of a Newton attempt on a face, and of each of its factorisations.

        Parameters
        ----------
        n : int
            Number of free points.

        Returns
        -------
        once, each : float
            Work of the matrix and the gradient update, and that of a factorisation;
            inf if the face is too large.
        """
        costs = self.costs
        if n > costs.max_face:
            return math.inf, math.inf
        once = costs.face + int(costs.face_entry * n**2)
        once += 0 if self.whole else int(costs.outside_entry * n * self.m)
        return once, costs.factorisation + int(costs.face_entry * n**2) + n**3 // costs.cubes

    def newton_work_done(self, n: int) -> int:
        """Return the work that a Newton attempt counts for, without the gradient update.

        Parameters
        ----------
        n : int
            Number of free points.
        """
        return 4 * n**2

    def face(self, points: Index, ridge: Array) -> FaceMatrix:
        """Return the matrix of the free points, K + diag(ridge).

        Parameters
        ----------
        points : ndarray of shape (k,)
            Indices of the points.
        ridge : ndarray of shape (k,)
            Curvatures of the separable part.

        Returns
        -------
        ndarray of shape (k, k)
            Matrix in its own memory, or one that `factor` takes.
        """
        if self.whole:
            H = np.asarray(self.K[np.ix_(points, points)])
        else:
            k = len(points)
            H = self.tiles.block(
                points, points, self.memory.array("face", (k, k), self.tiles.dtype)
            )
        return with_diagonal(H, ridge)

    def follow(self, points: Index, change: Array, G: Array) -> int:
        """Add K[:, points] change to the gradient in place, by the block if possible.

        The block is used if `points` is `self.points` or the set is all points.

        Parameters
        ----------
        points : ndarray of shape (k,)
            Indices of the points that change.
        change : ndarray of shape (k,)
            Change of their variables.
        G : ndarray of shape (m,)
            Gradient, changed in place.

        Returns
        -------
        int
            Work outside of the block, in units of `WorkCounter`.
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


def with_diagonal(H: Block, ridge: Array) -> Block:
    """Return H + diag(ridge), in the memory of H.

    Parameters
    ----------
    H : ndarray of shape (k, k)
        Matrix in C order.
    ridge : ndarray of shape (k,)
        Numbers to add.
    """
    H.reshape(-1)[:: len(ridge) + 1] += ridge.astype(H.dtype)
    return H


def choose_working_set(look: OptimalityState, before: Index, size: int) -> Index:
    """Select a new working set.

    It contains violators, by slope to rise and by slope to fall, points of the previous
    set, free ones first, and last those closest to a violation. The violators take half
    of the places, or all that the free points of the previous set leave.

    Parameters
    ----------
    look : OptimalityState
        Slopes at the current point.
    before : ndarray of int
        Previous set.
    size : int
        Number of points to select.

    Returns
    -------
    ndarray of int
        Indices, in ascending order.
    """
    rise, fall, free = look.rise, look.fall, look.free
    half = max(size // 2, size - int(np.count_nonzero(free[before]))) // 2
    taken = np.zeros_like(free)
    for candidates, key, level in (
        (np.flatnonzero(rise < look.most), rise, look.level),
        (np.flatnonzero(fall > look.least), -fall, -look.level),
    ):
        if len(candidates) > half:
            candidates = choose_violators(candidates, key, level, half)
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


def choose_violators(candidates: Index, key: Array, level: float, n: int) -> Index:
    """Select n candidates: the worst or, of a crowd, some of every violation.

    The worst of many violators lie close together, and a few steps on them correct most
    of them. A crowd is therefore ranked, and its ranks are selected at equal distances,
    the worst among them.

    Parameters
    ----------
    candidates : ndarray of int
        Points that may be selected, more than n.
    key : ndarray of shape (m,)
        Slope of every point; the smaller, the worse.
    level : float
        Slope below which a point violates optimality.
    n : int
        Number of points to select.

    Returns
    -------
    ndarray of int
        Indices.
    """
    violators = candidates[key[candidates] < level]
    if len(violators) <= CROWD * n:
        return candidates[np.argpartition(key[candidates], n)[:n]]
    ranked = violators[np.argsort(key[violators])]
    # 0 .. n - 1 on the device of the arrays.
    places = np.flatnonzero(np.ones_like(ranked[:n]))
    return ranked[places * (len(ranked) - 1) // max(n - 1, 1)]


def keep_positions(points: Index, before: Index) -> tuple[Index, Index]:
    """Reorder a new set so that kept points stay in their old places.

    Parameters
    ----------
    points : ndarray of int
        New set, in ascending order, at least one point.
    before : ndarray of int
        Previous set, in any order.

    Returns
    -------
    order : ndarray of int
        The new set.
    places : ndarray of int
        Places of the points that were not in the previous set.
    """
    order, old = np.full(len(points), -1), before[: len(points)]
    at = np.minimum(np.searchsorted(points, old), len(points) - 1)
    stay = np.flatnonzero(points[at] == old)
    order[stay] = old[stay]
    places = np.flatnonzero(order < 0)
    order[places] = np.delete(points, at[stay])
    return order, places


def violators_outside(look: OptimalityState, margin: float, points: Index) -> bool:
    """Return True if a point outside the set violates optimality by more than a margin.

    Parameters
    ----------
    look : OptimalityState
        Slopes, and the level relative to which they violate.
    margin : float
        Violation that is tolerated.
    points : ndarray of int
        Working set.
    """
    violating = (look.rise < look.level - margin) | (look.fall > look.level + margin)
    violating[points] = False
    return bool(violating.any())


@brief_by(lambda found, K, G, a, *others: POINT_IN_PYTHON * a.size + PAIR_STEP_IN_PYTHON * found[0])
@jit
def pair_steps(
    K: Any, G: Any, a: Array, sides: SeparablePart, floor: float, eps: float, steps: int
) -> tuple[int, float]:
    """Take pair steps on a and G in place, until the violation is at most eps.

    Parameters
    ----------
    K : ndarray of shape (q, q)
        Block of the set.
    G : ndarray of shape (q,)
        Gradient, in the precision of K.
    a : ndarray of shape (q,)
        Variables.
    sides : SeparablePart
        Separable part at the set's points.
    floor : float
        Minimum curvature of a pair.
    eps : float
        Violation at which to stop.
    steps : int
        Maximum number of steps.

    Returns
    -------
    steps : int
        Number of steps taken.
    violation : float
        Violation of the last pair; inf if all slopes are NaN.
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
        if i >= a.size:  # All slopes are NaN: none is the least.
            return done, np.inf
        # Curvature of a_i where it grows, K_ii + ridge_i, and its slope G_i + rise_i.
        here = diagonal[i] + (ridge[1, i] if a[i] >= 0.0 else ridge[0, i])
        slope, own = G[i] + rise[i], fall[i]
        # Exclude i as its own partner: the curvature of (i, i) is rounding error.
        fall[i] = -NEVER
        j, worst = best_partner(
            G, fall, K[i], curvature, slope, G.dtype.type(here), G.dtype.type(floor), work
        )
        fall[i] = own
        violation = float(worst)
        if not violation > eps or not 0 <= j < a.size:
            return done, violation
        # delta = (G_j + fall_j - G_i - rise_i) / (K_ii + K_jj - 2 K_ij + ridges)
        delta = float(G[j] + fall[j] - slope) / max(
            here + float(curvature[j]) - 2.0 * float(K[i, j]), floor
        )
        # A step ends at a bound or at 0, where the separable part changes.
        top, bottom = (upper[i] if a[i] >= 0.0 else 0.0), (lower[j] if a[j] <= 0.0 else 0.0)
        up, down = top - a[i], a[j] - bottom
        delta = min(delta, up, down)
        # Set a bound exactly: with a rounding error the point would stay free.
        a[i] = top if delta == up else a[i] + delta
        a[j] = bottom if delta == down else a[j] - delta
        for k in (i, j):
            rise[k] = slope_up(a[k], upper[k], width[k], ridge[0, k], ridge[1, k])
            fall[k] = slope_down(a[k], lower[k], width[k], ridge[0, k], ridge[1, k])
            curvature[k] = diagonal[k] + (ridge[1, k] if a[k] > 0.0 else ridge[0, k])
        i = apply_pair_step(G, rise, K[i], K[j], G.dtype.type(delta), work)
    return steps, violation


@jit
def slope_up(a: float, upper: float, width: float, below: float, above: float) -> float:
    """Return the slope of the separable part where a grows.

    Parameters
    ----------
    a : float
        Variable.
    upper : float
        Upper bound.
    width : float
        Half width of the tube.
    below : float
        Ridge below 0.
    above : float
        Ridge above 0.
    """
    if a >= upper:
        return NEVER
    return width + above * a if a >= 0.0 else below * a - width


@jit
def slope_down(a: float, lower: float, width: float, below: float, above: float) -> float:
    """Return the slope of the separable part where a shrinks.

    Parameters
    ----------
    a : float
        Variable.
    lower : float
        Lower bound.
    width : float
        Half width of the tube.
    below : float
        Ridge below 0.
    above : float
        Ridge above 0.
    """
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
    """Return the partner j of largest gain, or -1, and the largest violation with i.

    Parameters
    ----------
    G : ndarray of shape (q,)
        Gradient.
    fall : ndarray of shape (q,)
        Slopes to fall.
    row : ndarray of shape (q,)
        K_i.
    diagonal : ndarray of shape (q,)
        K_kk + ridge_k.
    slope : float
        G_i + rise_i.
    curvature : float
        K_ii + ridge_i.
    floor : float
        Minimum curvature of a pair.
    gain : ndarray of shape (q,)
        Scratch.
    """
    worst, best = gain.dtype.type(-NEVER), gain.dtype.type(0.0)
    nothing, twice = gain.dtype.type(0.0), gain.dtype.type(2.0)
    for k in range(G.shape[0]):
        # gain_k = (G_k + fall_k - G_i - rise_i)_+^2 / (K_ii + K_kk - 2 K_ik + ridges)
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
    """Update G <- G + step (K_i - K_j) in place; return the next i, of least slope.

    Parameters
    ----------
    G : ndarray of shape (q,)
        Gradient.
    rise : ndarray of shape (q,)
        Slopes to rise.
    row : ndarray of shape (q,)
        K_i.
    other : ndarray of shape (q,)
        K_j.
    step : float
        delta.
    slopes : ndarray of shape (q,)
        Scratch.
    """
    least = G.dtype.type(-NEVER)
    for k in range(G.shape[0]):
        G[k] += step * (row[k] - other[k])
        # The minimum of G + rise as the maximum of its negative.
        slopes[k] = -(G[k] + rise[k])
        least = larger(least, slopes[k])
    return first_at_least(slopes, least)
