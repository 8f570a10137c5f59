"""Newton's method on the nonzero weights of a `SparseWeightProblem`.

With the signs s of the nonzero weights F and the rows I of positive slacks,

    g = s - 2 X_IF' C_I r_I,    H = 2 X_IF' C_I X_IF,    w_F <- w_F - t H^-1 g

with the t in [0, 1] of the smallest objective, at which a weight may be 0. If neither
signs nor rows change, t = 1 gives the minimum over w_F.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.solvers.dual.damped_cholesky import damped_factor
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem
from equimargin.solvers.threads import one_thread

LARGEST_FACE = 4096
"""Maximum number of nonzero weights, for a matrix H of 128 MiB."""
DAMPINGS = (1e-9, 1e-7, 1e-5)
"""Increases of the diagonal of H, relative to it.

H is singular if columns depend on each other. The rounding errors of g, about 1e-16,
then move w by about 1e-7 along the set of optima; a damping of 1e-14 would move it by
1e-2.
"""
FACTORISATION_SPEED = 20
"""Multiplications of a factorisation in the time of one of a sweep."""
PRODUCT_WORK = 4
"""Work of a product with H, in multiplications of sweeps per stored entry."""
MIN_PRODUCTS = 10
"""Minimum number of affordable products for a step."""
MAX_STEPS = 50
"""Maximum number of steps; most runs need fewer than ten."""


@dataclass(eq=False)
class WeightIterate:
    """Weights w (d,) and residuals y - X w (m,), which change together."""

    w: Array
    residuals: Array


def minimise_on_face(
    problem: SparseWeightProblem, at: WeightIterate, work: float, out_of_time: Callable[[], bool]
) -> float:
    """Decrease the objective over the nonzero weights, in place.

    Parameters
    ----------
    problem : SparseWeightProblem
        Problem.
    at : WeightIterate
        Iterate.
    work : float
        Work that may be spent, in multiplications of sweeps. A step needs conjugate
        gradients if the matrix H costs more than is left.
    out_of_time : callable
        Returns True if the run must end.

    Returns
    -------
    float
        Work left.
    """
    for _ in range(MAX_STEPS):
        face = np.flatnonzero(at.w)
        product = PRODUCT_WORK * (_entries(problem.X) * len(face)) / max(problem.X.shape[1], 1)
        if not len(face) or work < MIN_PRODUCTS * product or out_of_time():
            break
        columns, w = problem.X[:, face], at.w[face]
        active = problem.costs * (problem.y * at.residuals > 0)
        gradient = np.sign(w) - 2 * (columns.T @ (active * at.residuals))
        squares = columns.power(2) if is_sparse(columns) else columns**2
        diagonal = np.asarray(squares.T @ (2 * active))
        # A weight without an active row is 0 at the minimum, whatever the others are.
        flat = diagonal == 0
        gradient[flat], diagonal[flat] = 0.0, 1.0
        matrix = _matrix_work(columns) / FACTORISATION_SPEED
        if matrix <= work:
            work -= matrix
            solution = _solve_by_factor(columns, 2 * active, diagonal, gradient)
        else:
            most = int(work / product)
            solution, products = _solve_by_products(columns, 2 * active, diagonal, gradient, most)
            work -= products * product
        direction = np.where(flat, -w, -solution)
        if not (np.isfinite(direction).all() and _step(problem, columns, direction, at, face)):
            break
        settled = len(face) == np.count_nonzero(at.w) and np.array_equal(
            active > 0, problem.costs * (problem.y * at.residuals > 0) > 0
        )
        if settled:
            break
    return work


def _entries(columns: Features) -> int:
    """Return the number of stored entries, at least 1."""
    return max(int(columns.nnz if is_sparse(columns) else columns.size), 1)


def _matrix_work(columns: Features) -> float:
    """Return the multiplications of H and its factor; inf if it is too large."""
    n = columns.shape[1]
    return _entries(columns) * n / 2 + n**3 / 6 if n <= LARGEST_FACE else np.inf


def _solve_by_factor(
    columns: Features, curvatures: Array, diagonal: Array, gradient: Array
) -> Array:
    """Return H^-1 g; zeros if H has no factor."""
    with one_thread():
        if is_sparse(columns):
            scaled = columns.copy()
            scaled.data = scaled.data * curvatures[scaled.indices]
            H = (columns.T @ scaled).toarray(order="F")
        else:
            rows = np.flatnonzero(curvatures)
            scaled = np.sqrt(curvatures[rows])[:, None] * columns[rows]
            H = np.asfortranarray(scaled.T @ scaled)
        factor = damped_factor(lambda: H.copy(order="F"), diagonal, diagonal, DAMPINGS)
        return np.zeros(len(gradient)) if factor is None else factor.solve(gradient)


def _solve_by_products(
    columns: Features, curvatures: Array, diagonal: Array, gradient: Array, most: int
) -> tuple[Array, int]:
    """Return approximately H^-1 g by conjugate gradients, and the number of products."""
    solution, residual = np.zeros(len(gradient)), gradient.copy()
    scaled = residual / diagonal
    search, square = scaled, residual @ scaled
    # g is relative to the 1 of the norm: near the optimum the tolerance decreases.
    target = square * min(0.01, float(np.abs(gradient).max()))
    products = 0
    while products < most and square > target:
        products += 1
        image = columns.T @ (curvatures * (columns @ search)) + DAMPINGS[0] * diagonal * search
        length = square / (search @ image)
        solution += length * search
        residual = residual - length * image
        scaled = residual / diagonal
        square, before = residual @ scaled, square
        search = scaled + square / before * search
    return solution, products


def _step(
    problem: SparseWeightProblem,
    columns: Features,
    direction: Array,
    at: WeightIterate,
    face: Index,
) -> bool:
    """Minimise along a direction, up to a step of 1; return True if the iterate moves."""
    w = at.w[face]
    change = columns @ direction
    length = _exact_length(
        w, direction, problem.costs, problem.y * at.residuals, problem.y * change
    )
    moved = w + length * direction
    # Rounded, a weight whose sign changes at this length may be just above or below 0.
    moved[(w * direction < 0) & (-w / direction == length)] = 0.0
    at.w[face] = moved
    at.residuals = at.residuals - columns @ (moved - w)
    return length > 0


def _exact_length(w: Array, d: Array, costs: Array, margins: Array, e: Array) -> float:
    """Return the t in [0, 1] that minimises sum |w + t d| + sum_i c_i max(0, v_i - t e_i)^2.

    Between breakpoints, where a weight changes its sign or a row its activity, the
    derivative is A + B t.

    Parameters
    ----------
    w, d : ndarray of shape (n,)
        Nonzero weights and their direction.
    costs : ndarray of shape (m,)
        Costs c.
    margins, e : ndarray of shape (m,)
        v = 1 - y_i x_i.w and its decrease.
    """
    active = costs * (margins > 0)
    A = np.sign(w) @ d - 2 * active @ (e * margins)
    B = 2 * active @ (e * e)
    flips = np.flatnonzero(w * d < 0)
    # Rows that become inactive or active, in this direction.
    rows = np.flatnonzero((costs > 0) & (np.where(margins > 0, e, -e) > 0))
    at = np.concatenate([-w[flips] / d[flips], margins[rows] / e[rows]])
    sign = np.where(margins[rows] > 0, 1.0, -1.0)
    of_rows = 2 * sign * costs[rows] * e[rows]
    rise = np.concatenate([2 * np.abs(d[flips]), of_rows * margins[rows]])
    bend = np.concatenate([np.zeros(len(flips)), -of_rows * e[rows]])
    order = np.argsort(at)
    order = order[: np.searchsorted(at[order], 1.0, side="right")]
    ends = np.append(at[order], 1.0)
    A = A + np.append(0.0, np.cumsum(rise[order]))
    B = B + np.append(0.0, np.cumsum(bend[order]))
    # Interval k ends at ends[k]. In the first one whose derivative becomes positive, the
    # minimum is inside, or at its start, where the derivative jumps.
    rising = np.flatnonzero(A + B * ends >= 0)
    if not len(rising):
        return 1.0
    k = rising[0]
    start = ends[k - 1] if k else 0.0
    return float(start if A[k] + B[k] * start >= 0 else -A[k] / B[k])
