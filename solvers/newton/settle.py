"""Final phase for a smoothed hinge: solve for curved-piece rows, others fixed.

Near the optimum these are the rows on or close to the margin. Sweeps over them
(`sweeps.py`) solve many problems without a bias; Newton's method on the free ones among
them (`newton_on_face.py`) solves the rest.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.dual.newton_on_face import LARGEST_FACE, maximise_on_face
from equimargin.solvers.dual.sweeps import SweepIterate, solve_restricted
from equimargin.solvers.newton.base import LossAtIterate
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.threads import one_thread

SETTLING_SWEEPS = 5
"""Cost limit of sweeps over rows of the curved piece, in sweeps of one row per point."""
SETTLED_SHARE = 0.5
"""Share of the requested gap that curved-piece rows may add at the end of their sweeps."""
FREE_ROWS_PER_COLUMN = 2
"""Maximum number of free rows per feature for Newton's method on the face.

Optima in general position have at most one.
"""
FEWEST_FACTORISATIONS = 6
"""Number of factorisations that Newton's method on the face may always take."""
FACTORISATION_PRODUCTS = 8
"""Maximum cost of further factorisations, in products with the features."""


def settle_curved_rows(
    problem: MarginProblem,
    Z: Explicit,
    R: Array,
    seen: LossAtIterate,
    progress: DualConvergenceMonitor,
) -> bool:
    """Solve for the rows on the curved piece, and evaluate the multipliers.

    Parameters
    ----------
    problem : MarginProblem
        Problem with listed rows.
    Z : Explicit of shape (m, q)
        Features, with a column of ones for a free bias.
    R : ndarray of shape (q,)
        0 in that column, else 1.
    seen : LossAtIterate
        Loss at an iterate of these features.
    progress : DualConvergenceMonitor
        Convergence monitor.

    Returns
    -------
    bool
        True if the run is over.
    """
    D = seen.rows.D
    if not isinstance(D, np.ndarray):
        return False
    rows, inside = problem.rows, np.flatnonzero(D)
    if not 0 < len(inside) <= Z.m:
        return False
    alpha, w = seen.rows.alpha.copy(), R * seen.pull
    if problem.bias:
        alpha = problem.repaired(alpha)
        w = R * Z.rdot(rows.rdot(alpha))
    else:
        Y, t, box = rows.take(Z, inside), rows.t[inside], problem.box[inside]
        enough, most = (
            SETTLED_SHARE * progress.limits.tol * progress.primal,
            SETTLING_SWEEPS * Z.m // len(inside),
        )
        at = SweepIterate(alpha[inside], w)
        alpha[inside], w, reached = solve_restricted(
            Y, t, box, at, enough, most, lambda: progress.out_of_time
        )
        if reached:
            return progress.show(alpha, seen.at.steps)
    free = inside[(alpha[inside] > 0) & (alpha[inside] < problem.box[inside])]
    if not 0 < len(free) <= min(FREE_ROWS_PER_COLUMN * Z.q, LARGEST_FACE):
        return False
    alpha[free] = _on_the_face(problem, Z, R, free, alpha, w, progress)
    return progress.show(alpha, seen.at.steps)


def _on_the_face(
    problem: MarginProblem,
    Z: Explicit,
    R: Array,
    free: Index,
    alpha: Array,
    w: Array,
    progress: DualConvergenceMonitor,
) -> Array:
    """Return the multipliers (k,) of the free rows after Newton's method on the face.

    w (q,) belongs to all multipliers alpha (p,).
    """
    signs = problem.bias_signs[free] if problem.bias else np.ones(len(free))
    c = signs * problem.box[free]
    K, u = _face(problem, Z, R, free, alpha, w)
    bounds = np.minimum(c, 0.0), np.maximum(c, 0.0)
    most = FEWEST_FACTORISATIONS + FACTORISATION_PRODUCTS * Z.m * Z.q // len(free) ** 3
    H = signs[:, None] * K * signs
    with one_thread():
        return signs * maximise_on_face(
            H,
            signs * u,
            signs * alpha[free],
            *bounds,
            problem.bias,
            most,
            lambda: progress.out_of_time,
        )


def _face(
    problem: MarginProblem, Z: Explicit, R: Array, free: Index, alpha: Array, w: Array
) -> tuple[Array, Array]:
    """Return A K A' of the free rows, (k, k), and their slacks, (k,), without a bias.

    If the features are computed from the kernel, both are computed by the kernel
    itself: the features omit some of it.
    """
    rows = problem.rows
    if problem.explicit is None:
        A = rows.matrix[free]
        return A @ (A @ problem.gram.dense).T, rows.t[free] - A @ (problem.gram @ rows.rdot(alpha))
    Y = rows.take(Z, free)
    K = Y @ (Y * R).T if isinstance(Y, np.ndarray) else (Y @ Y.multiply(R).T.tocsr()).toarray()
    return K, rows.t[free] - Y @ w
