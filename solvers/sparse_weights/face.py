"""Newton's method on the nonzero weights of a `SparseWeightProblem`.

With the signs s of the nonzero weights F and the rows I of positive slacks,

    g = s - 2 X_IF' C_I r_I,    H = 2 X_IF' C_I X_IF,    w_F <- w_F - step H^-1 g

A weight that would change its sign becomes 0. If neither signs nor rows change, the
step of length 1 gives the minimum over w_F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
MAX_STEPS = 20
"""Maximum number of steps; most runs need fewer than ten."""
MAX_HALVINGS = 20
"""Maximum number of halvings of a step."""
ROUNDING = 1e-15
"""Relative increase of the objective that counts as rounding."""


@dataclass(eq=False)
class WeightIterate:
    """Weights w (d,) and residuals y - X w (m,), which change together."""

    w: Array
    residuals: Array


def minimise_on_face(
    problem: SparseWeightProblem, at: WeightIterate, out_of_time: Callable[[], bool]
) -> None:
    """Decrease the objective over the nonzero weights, in place.

    Parameters
    ----------
    problem : SparseWeightProblem
        Problem.
    at : WeightIterate
        Iterate.
    out_of_time : callable
        Returns True if the run must end.
    """
    for _ in range(MAX_STEPS):
        face = np.flatnonzero(at.w)
        if not len(face) or out_of_time():
            return
        columns = problem.X[:, face]
        active = problem.costs * (problem.y * at.residuals > 0)
        direction = _newton_direction(columns, active, at, face)
        if direction is None or not _step(problem, columns, direction, at, face):
            return
        settled = len(face) == np.count_nonzero(at.w) and np.array_equal(
            active > 0, problem.costs * (problem.y * at.residuals > 0) > 0
        )
        if settled:
            return


def _newton_direction(
    columns: Features, active: Array, at: WeightIterate, face: Index
) -> Array | None:
    """Return -H^-1 g; None if H has no factor."""
    w = at.w[face]
    gradient = np.sign(w) - 2 * (columns.T @ (active * at.residuals))
    with one_thread():
        if is_sparse(columns):
            scaled = columns.copy()
            scaled.data = scaled.data * (2 * active)[scaled.indices]
            H = (columns.T @ scaled).toarray(order="F")
        else:
            rows = np.flatnonzero(active)
            scaled = np.sqrt(2 * active[rows])[:, None] * columns[rows]
            H = np.asfortranarray(scaled.T @ scaled)
        diagonal = H.diagonal().copy()
        unit = diagonal + np.finfo(np.float64).eps * diagonal.max()
        factor = damped_factor(lambda: H.copy(order="F"), diagonal, unit, DAMPINGS)
        return None if factor is None else -factor.solve(gradient)


def _step(
    problem: SparseWeightProblem,
    columns: Features,
    direction: Array,
    at: WeightIterate,
    face: Index,
) -> bool:
    """Move along a direction if that decreases the objective; return True if so."""
    w, before = at.w[face], problem.slacks(at.residuals)
    value = problem.primal(w, before)
    for length in _lengths(w, direction):
        moved = w + length * direction
        moved[moved * w <= 0] = 0.0
        residuals = at.residuals - columns @ (moved - w)
        after = problem.slacks(residuals)
        change = float((np.abs(moved) - np.abs(w)).sum()) + float(
            problem.costs @ ((after - before) * (after + before))
        )
        # A full step is the last one at the minimum, where its change is rounding.
        if change < 0 or (length == 1.0 and change <= ROUNDING * value):
            at.w[face], at.residuals = moved, residuals
            return True
    return False


def _lengths(w: Array, direction: Array) -> Iterator[float]:
    """Yield step lengths: 1, the one at which the first weight becomes 0, and halves."""
    yield 1.0
    crosses = w * direction < 0
    # Rounded up, so that the weight does become 0.
    first = np.nextafter(np.min(-w[crosses] / direction[crosses], initial=0.5), 1.0)
    for halvings in range(MAX_HALVINGS):
        yield float(first) * 0.5**halvings
