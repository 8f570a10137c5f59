"""Newton's method on a face of the box: free rows, the others fixed at their bounds.

    max  g'd - 1/2 d'H d    s.t.  lower <= x + d <= upper,  [ 1'd = 0 ]

1. Solve the equality-constrained system over the free rows. Rows that leave the box are
   fixed at their bounds, and the system is solved again for the others. The first
   candidate is the exact line search along this direction.
2. The second candidate follows the direction of the first system up to a bound and
   along it.
3. Take the better candidate.

No step therefore decreases the objective: a first-order method may call this method at
any time and continue from its result. On a face of few rows compiled code takes the
simpler steps along the direction of the free rows, each up to the first bound.

References
----------
J. Nocedal, S. Wright. Numerical Optimization, sections 16.5, without the release of
constraints, and 16.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief_by, in_numpy, jit
from equimargin.solvers.dual.damped_cholesky import damped_factor

FACE_DAMPINGS = {
    np.dtype(np.float32): tuple(10.0**k for k in range(-6, 2)),
    np.dtype(np.float64): tuple(10.0**k for k in range(-13, 2)),
}
"""Increases of the diagonal of H, relative to its mean, until H has a factor.

The first is about the rounding error of H.
"""
MOST_COMPILED_ROWS = 96
"""Largest face, in free rows, that compiled code solves in one call.

With so few rows, calls of numpy and LAPACK take several times as long.
"""
FACE_IN_NUMPY = 700.0
"""Cost of such a face in numpy, in iterations of a Python loop."""
LARGEST_FACE = 2000
"""Largest face, in free rows, that is factorised; larger ones are left to the caller."""
SMALL_FACE = 500
"""Largest face, in free rows, that always gets SMALL_FACE_SOLVES factorisations."""
SMALL_FACE_SOLVES = 50
"""Minimum number of factorisations of a small face.

They take milliseconds, and often end the run.
"""
FACTORISATION_SPEED = 180
"""n^3 divided by the first-order multiplications that take as long as a factorisation.

Measured for n rows, with multiplications in a first-order method's loops.
"""


class FaceFactor(Protocol):
    """Factor of a positive definite matrix."""

    def solve(self, v: Array) -> Array:
        """Solve a linear system.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Right-hand side.
        """


FaceMatrix = Any
"""Matrix of numpy or of a device, or an operator with the products and parts of one."""
Factorisation = Callable[[FaceMatrix, Callable[[], bool]], FaceFactor | None]
"""Function that returns the damped factor of a matrix, None without one or out of time."""


def factor_face(H: NDArray[Any], out_of_time: Callable[[], bool]) -> FaceFactor | None:
    """Return the factor of H + damping I; None if there is none, or time is out.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        Positive semidefinite matrix.
    out_of_time : callable
        Returns True if the run must end.
    """
    diagonal = H.diagonal()
    size = float(np.abs(diagonal).mean()) or 1.0
    return damped_factor(
        lambda: H.copy(order="F"), diagonal, size, FACE_DAMPINGS[H.dtype], True, out_of_time
    )


def count_affordable_factorisations(n: int, work: int) -> int:
    """Return how many factorisations of n free rows cost at most the given work.

    Parameters
    ----------
    n : int
        Number of free rows.
    work : int
        Multiplications in a first-order method's loops.
    """
    if not 2 <= n <= LARGEST_FACE:
        return 0
    return (SMALL_FACE_SOLVES if n <= SMALL_FACE else 0) + FACTORISATION_SPEED * work // n**3


def maximise_on_face(
    H: FaceMatrix,
    g: Array,
    x: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    most: int,
    out_of_time: Callable[[], bool],
    factor: Factorisation = factor_face,
) -> Array:
    """Increase the objective by Newton's method on the face.

    numpy's functions dispatch on the arrays, which may be those of a device if `factor`
    takes them.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        Positive semidefinite matrix, in the precision to use.
    g : ndarray of shape (n,)
        Gradient at x.
    x : ndarray of shape (n,)
        Initial point, strictly inside its bounds.
    lower : ndarray of shape (n,)
        Lower bounds, possibly infinite.
    upper : ndarray of shape (n,)
        Upper bounds, possibly infinite.
    balanced : bool
        True for the constraint 1'd = 0.
    most : int
        Maximum number of factorisations of H.
    out_of_time : callable
        Returns True if the run must end; called before every factorisation.
    factor : callable
        Factorises H and its parts.

    Returns
    -------
    ndarray of shape (n,)
        Point within its bounds; rows that reached a bound are exactly there. If
        `balanced`, 1'x is unchanged, within rounding error.
    """
    if len(x) <= MOST_COMPILED_ROWS and isinstance(H, np.ndarray):
        if not out_of_time():
            dampings = np.array(FACE_DAMPINGS[H.dtype])
            x = _climb(H.astype(np.float64), g, x, lower, upper, balanced, most, dampings)
        return np.clip(x, lower, upper)
    return _climb_by_blocks(H, g, x, lower, upper, balanced, most, out_of_time, factor)


def _climb_by_blocks(
    H: FaceMatrix,
    g: Array,
    x: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    most: int,
    out_of_time: Callable[[], bool],
    factor: Factorisation,
) -> Array:
    """Increase the objective by the steps of the module, many rows to bounds at a time."""
    x, g = x.copy(), g.copy()
    free = np.flatnonzero(np.ones_like(x))
    while most > 0 and len(free) > balanced and not out_of_time():
        inside = H if len(free) == len(x) else H[free][:, free]
        low, high = lower[free] - x[free], upper[free] - x[free]
        first, move, spent = _moves(inside, g[free], low, high, balanced, most, out_of_time, factor)
        most -= spent
        full = spent == 1 and move is first
        if not full:
            move = max(
                (
                    _best_step(inside, g[free], move) * move,
                    _bent(inside, g[free], first, low, high, balanced),
                ),
                key=lambda d: float(g[free] @ d - d @ (inside @ d) / 2),
            )
        move = np.clip(move, low, high)
        x[free] = np.where(
            move >= high, upper[free], np.where(move <= low, lower[free], x[free] + move)
        )
        if full:
            break
        g -= H[:, free] @ move
        free = free[(x[free] > lower[free]) & (x[free] < upper[free])]
    return np.clip(x, lower, upper)


def _moves(
    H: NDArray[Any],
    g: Array,
    low: Array,
    high: Array,
    balanced: bool,
    most: int,
    out_of_time: Callable[[], bool],
    factor: Factorisation,
) -> tuple[Array, Array, int]:
    """Return Newton's direction, a feasible one, and the number of factorisations.

    The second direction fixes rows that leave low .. high at the ends that they reach.
    """
    inside, move, spent = np.ones_like(g, dtype=bool), np.zeros_like(g), 0
    first = move
    while True:
        rest = np.flatnonzero(inside)
        held = -float(move[~inside].sum()) if balanced else None
        if spent == 0:
            move = first = _direction(H, g, held, out_of_time, factor)
        else:
            right = g[rest] - H[rest][:, ~inside] @ move[~inside]
            move[rest] = _direction(H[rest][:, rest], right, held, out_of_time, factor)
        spent += 1
        out = inside & ((move < low) | (move > high))
        if not out.any():
            return first, move, spent
        if spent == most or np.count_nonzero(inside & ~out) <= balanced or out_of_time():
            return first, _up_to_bound(move, low, high), spent
        move = np.where(out, np.clip(move, low, high), move)
        inside &= ~out


def _room(d: Array, low: Array, high: Array) -> Array:
    """Return each row's maximal step along d within low .. high, inf where d is 0."""
    moves = d != 0
    return np.where(moves, np.where(d > 0, high, low) / np.where(moves, d, 1.0), np.inf)


def _up_to_bound(d: Array, low: Array, high: Array) -> Array:
    """Return the longest multiple of d, at most d itself, within low .. high.

    The rows that stop it are set exactly to their bounds: a row that is a rounding
    error short of its bound would stop the next step at once.
    """
    room = _room(d, low, high)
    step = min(1.0, float(room.min()))
    return np.where(room <= step, np.where(d > 0, high, low), step * d)


def _best_step(H: NDArray[Any], g: Array, d: Array) -> float:
    """Return argmax over 0 <= step <= 1 of step g'd - step^2 / 2 d'H d.

    0 if the objective does not increase along d.
    """
    slope, curvature = float(g @ d), float(d @ (H @ d))
    if slope <= 0.0:
        return 0.0
    return slope / curvature if slope < curvature else 1.0


def _bent(H: NDArray[Any], g: Array, d: Array, low: Array, high: Array, balanced: bool) -> Array:
    """Return d up to the first bound, or a multiple of it clipped to the bounds.

    The step doubles while the objective improves; rows stay at the bounds that they
    reach.
    """
    step = min(1.0, float(_room(d, low, high).min()))
    best = _up_to_bound(d, low, high)
    value = float(g @ best - best @ (H @ best) / 2)
    while step < 1.0:
        step *= 2.0
        move = np.clip(step * d, low, high)
        if balanced:
            inner = (move > low) & (move < high)
            move[inner] -= move.sum() / max(int(inner.sum()), 1)
            if (move > high).any() or (move < low).any() or not inner.any():
                break
        new = float(g @ move - move @ (H @ move) / 2)
        if not new > value:
            break
        best, value = move, new
    return best


def _direction(
    H: NDArray[Any],
    g: Array,
    total: float | None,
    out_of_time: Callable[[], bool],
    factorise: Factorisation,
) -> Array:
    """Return argmax g'd - 1/2 d'(H + damping I)d, [1'd = total].

    Without a factor of H, the shortest d with that sum.
    """
    factor = factorise(H, out_of_time)
    d = np.zeros_like(g) if factor is None else factor.solve(g)
    if total is not None:
        if factor is not None:
            normal = factor.solve(np.ones_like(g))
            # 0 if an iterative solver ran out of time.
            if float(normal.sum()) != 0.0:
                d += (total - d.sum()) / normal.sum() * normal
        d += (total - d.sum()) / len(d)
    return d


def _climb_in_numpy(
    H: Array,
    g: Array,
    x: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    most: int,
    dampings: Array,
) -> Array:
    return _climb_by_blocks(H, g, x, lower, upper, balanced, most, lambda: False, factor_face)


@brief_by(lambda end, *arguments: FACE_IN_NUMPY)
@in_numpy(_climb_in_numpy)
@jit
def _climb(
    H: Array,
    g: Array,
    x: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    most: int,
    dampings: Array,
) -> Array:
    """Return the end of steps along the direction of the free rows, each up to a bound.

    The arguments are those of `maximise_on_face`, with the dampings of the diagonal.
    """
    x, g, free, n = x.copy(), g.copy(), np.arange(x.size), x.size
    U, d, e, moves = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    for _ in range(most):
        if n <= balanced or not _factorised(H, free[:n], dampings, U):
            break
        _newton_direction(U, g, free[:n], balanced, d[:n], e[:n])
        room, step = _step_sizes(H, g, x, lower, upper, free[:n], d)
        # `not >` also ends the steps at a NaN.
        if not step > 0.0:
            break
        count, n = n, _advance(x, lower, upper, free[:n], d, step, moves)
        if room >= 1.0 or n == count:
            break
        for k in range(n):
            for j in range(x.size):
                g[free[k]] -= H[free[k], j] * moves[j]
    return x


@jit
def _newton_direction(
    U: Array, g: Array, free: NDArray[np.int64], balanced: bool, d: Array, e: Array
) -> None:
    """Write the maximiser over the free rows to d; e is scratch."""
    for k in range(d.size):
        d[k], e[k] = g[free[k]], 1.0
    _solve_factorised(U, d)
    if balanced:
        _solve_factorised(U, e)
        d -= d.sum() / e.sum() * e
        d -= d.sum() / d.size


@jit
def _step_sizes(
    H: Array, g: Array, x: Array, lower: Array, upper: Array, free: NDArray[np.int64], d: Array
) -> tuple[float, float]:
    """Return the step to the first bound, at most 1, and to the maximum before it."""
    room, slope, curvature = 1.0, 0.0, 0.0
    for k in range(free.size):
        i = free[k]
        slope += g[i] * d[k]
        for j in range(free.size):
            curvature += d[k] * H[i, free[j]] * d[j]
        if d[k] != 0.0:
            room = min(room, ((upper[i] if d[k] > 0.0 else lower[i]) - x[i]) / d[k])
    if not slope > 0.0:
        return room, 0.0
    return room, min(room, slope / curvature if curvature > 0.0 else np.inf)


@jit
def _advance(
    x: Array,
    lower: Array,
    upper: Array,
    free: NDArray[np.int64],
    d: Array,
    step: float,
    moves: Array,
) -> int:
    """Take a step, write it to `moves`, and move the rows that stay free to the front.

    Returns their number.
    """
    n = 0
    moves[:] = 0.0
    for k in range(free.size):
        i = free[k]
        bound = upper[i] if d[k] > 0.0 else lower[i]
        if d[k] != 0.0 and (bound - x[i]) / d[k] <= step:
            # Exactly at the bound: short of it by rounding, the row would stay free.
            moves[i], x[i] = bound - x[i], bound
        else:
            moves[i] = step * d[k]
            x[i] += moves[i]
            free[n], n = i, n + 1
    return n


@jit
def _factorised(H: Array, free: NDArray[np.int64], dampings: Array, U: Array) -> bool:
    """Write the factor of H[free, free] with the first sufficient damping to U, by rows.

    H + damping I = U'U. False without a factor.
    """
    n, size = free.size, 0.0
    for k in range(n):
        size += abs(H[free[k], free[k]]) / n
    for damping in dampings:
        for k in range(n):
            for j in range(k, n):
                U[k, j] = H[free[k], free[j]]
            U[k, k] += damping * (size if size > 0.0 else 1.0)
        for k in range(n):
            # `not >` rejects a NaN, too.
            if not 0.0 < U[k, k] < np.inf:
                break
            root = np.sqrt(U[k, k])
            for j in range(k, n):
                U[k, j] /= root
            for i in range(k + 1, n):
                factor = U[k, i]
                for j in range(i, n):
                    U[i, j] -= factor * U[k, j]
        else:
            return True
    return False


@jit
def _solve_factorised(U: Array, d: Array) -> None:
    """Solve U'U x = d in place."""
    for k in range(d.size):
        d[k] /= U[k, k]
        for j in range(k + 1, d.size):
            d[j] -= U[k, j] * d[k]
    for k in range(d.size - 1, -1, -1):
        for j in range(k + 1, d.size):
            d[k] -= U[k, j] * d[j]
        d[k] /= U[k, k]
