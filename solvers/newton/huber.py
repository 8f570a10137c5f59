"""Newton's method for margin problems with the hinge, whose kink is smoothed around the multipliers found so far.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi_r(u_r),    c_r phi_r'(u) = min((a_r + sigma_r u)_+, c_r),    u = t - A Z v

At its minimum (`newton.py`) alpha_r = c_r phi_r'(u_r) are feasible multipliers with v = Z'A'alpha but for the gradient, and

    gap(v, alpha) = 1/2 |R v - Z'A'alpha|^2  +  sum_r c_r (u_r)_+ - alpha_r u_r,

the gradient's share and the smoothing's. First a are the multipliers of a warm start, or c_r / 2, which is Huber's function; once the
gradient's share is the smaller, alpha takes the place of a and sigma grows: the method of multipliers. The curved piece need not shrink to
0 for the smoothing's share to do so, and the rows on it are hardly others at the next minimum, whereas Newton's method stalls on ever
narrower functions around 0.

Source: O. Chapelle, Training a support vector machine in the primal, Neural Computation 19 (2007), section 2, for Huber's function;
R. T. Rockafellar, Augmented Lagrangians and applications of the proximal point algorithm in convex programming, Mathematics of Operations
Research 1 (1976).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.losses import Smooth, huberised
from equimargin.formulations.rows.slacks import RowSlacks
from equimargin.solvers.dual import coordinate_descent
from equimargin.solvers.dual.newton_on_face import MOST_ROWS, climb
from equimargin.solvers.needs import Needs
from equimargin.solvers.newton.base import Descent
from equimargin.solvers.newton.in_features import MOST_COLUMNS, FeatureDescent
from equimargin.solvers.newton.newton import descent_for, on_a_part, unsuited_bias
from equimargin.solvers.newton.tall import tall
from equimargin.solvers.progress import Progress
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Solution

Index = NDArray[np.intp]

CURVED = 10
"""Rows on the first curved piece, a column of the features: several times as many as can lie on the margin."""
STIFFEST = 1e3
"""First sigma at most, times the mean K_ii: where costs are huge, multipliers are not."""
GROWTH = 2.0
"""Of sigma, from one minimum to the next."""
COLUMNS_A_SWEEP, FEWEST_SWEEPS, ROUGH = 20, 10, 0.01
"""One sweep of coordinate descent for so many columns, fewer where rows outnumber points, is worth a try; less than ten lead nowhere.
Near is such a gap."""
NEAR = 1e-3
"""Gap from which on the rows of the curved piece are settled among themselves."""
SWEPT, ENOUGH = 5, 0.5
"""By sweeps that visit them as often as so many sweeps would all points, until they add only so much of the gap asked for;"""
ROWS_A_COLUMN, FACES, PRODUCTS = 2, 6, 8
"""or, with so many free rows a column at most, by so many factorisations, or as many as cost so many products with the features."""
NARROWEST = 10
"""Widths tried at a start, of which each is a fraction of the one before."""
WORTH, PART = 100_000, 60
"""For features of so many entries a start is sought on some of the points: so many a column."""


NEEDS = Needs(
    MarginProblem,
    no_squared_hinge="has no kink to smooth",
    no_hard_rows="whose loss has no derivative",
    convex=True,
    also=unsuited_bias,
)


@solver(
    "huber",
    algorithm="Newton's method on a hinge whose kink is smoothed less and less, in the features of f",
    families=("svm.soft", "svm.nobias", "svr.l1", "rank.l1"),
    needs=NEEDS,
    first=tall,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Newton steps, with the smoothing centred anew at every minimum, until the gap is small enough."""
    progress = Progress("huber", problem, limits, limits.max_iter or 10_000)
    start = warm_start or _by_sweeps(problem, progress) or on_a_part(problem, _solve, limits, WORTH, PART)
    descent = descent_for(problem, start, by_row=not problem.rows.many)
    phi = _first(descent, descent.slacks) if isinstance(descent.slacks, RowSlacks) else _of_least_gap(descent)
    if descent.by_row and start is not None and start.alpha is not None:
        phi = _centred(problem.repaired(start.alpha), problem.costs, phi.slope)
    unit = float(np.abs(descent.slacks.u).mean()) if problem.bias and isinstance(descent.slacks, RowSlacks) else 0.0
    over = descent.show(progress, phi)
    while not over:
        if descent.gradient_share(unit) <= descent.smoothing_share():
            if progress.gap <= NEAR and _finish(descent, progress):
                break
            phi = _sharper(descent, phi)
            descent.look(phi)
        descent.step(phi, progress)
        over = descent.show(progress, phi)
    return progress.solution()


def _by_sweeps(problem: MarginProblem, progress: Progress) -> Point | None:
    """Where as many sweeps of coordinate descent lead as cost a step or two of Newton's method; None where that is not near."""
    Z = problem.explicit
    sweeps = 0 if Z is None else Z.m * min(Z.q, MOST_COLUMNS) // (COLUMNS_A_SWEEP * max(problem.p, 1))
    if sweeps < FEWEST_SWEEPS or coordinate_descent.NEEDS.refusal(problem):
        return None
    alpha = coordinate_descent.after_sweeps(problem, sweeps, progress)
    progress.show(alpha, 0)
    return Point(w=progress.shown.w, b=progress.shown.b, alpha=progress.shown.alpha) if progress.gap <= ROUGH else None


def _first(descent: Descent, slacks: RowSlacks) -> Smooth:
    """Huber's function on as many rows as are wanted on its curved piece, or a flatter one where the costs would make it stiff."""
    sizes = np.abs(slacks.u[slacks.c > 0])
    if not len(sizes):
        return huberised(1.0)
    wanted = CURVED * len(descent.v)
    last = min(wanted, len(sizes) - 1)
    width = (float(np.partition(sizes, last)[last]) or float(sizes.mean()) or 1.0) * max(1.0, wanted / len(sizes))
    stiffness = float(slacks.c.max()) * descent.mean_square
    return Smooth(min(1 / (2 * width), STIFFEST / stiffness) if stiffness > 0 else 1 / (2 * width), width, 1.0)


def _of_least_gap(descent: Descent) -> Smooth:
    """Huber's function as wide as makes the gap least where the descent starts: no wider than what its start was good for."""
    phi, least = huberised(1.0), np.inf
    for k in range(NARROWEST):
        narrower = huberised(GROWTH**-k)
        descent.look(narrower)
        gap = descent.gradient_share(0.0) + descent.smoothing_share()
        if gap >= least:
            break
        phi, least = narrower, gap
    return phi


def _sharper(descent: Descent, phi: Smooth) -> Smooth:
    """The next loss: centred at the multipliers found, or narrower around 0 where they are not listed."""
    if descent.by_row:
        return _centred(descent.alpha, descent.problem.costs, GROWTH * phi.slope)
    return huberised(1 / (2 * GROWTH * phi.slope))


def _finish(descent: Descent, progress: Progress) -> bool:
    """Settle the rows of the curved piece among themselves, the others held, by sweeps and by Newton's method on the face
    (`newton_on_face.py`).

    Whether that ends the run.
    """
    if not (descent.by_row and isinstance(descent, FeatureDescent)):
        return False
    problem, rows, inside = descent.problem, descent.rows, np.flatnonzero(descent.D)
    if not 0 < len(inside) <= descent.Z.m:
        return False
    alpha, w = descent.alpha.copy(), descent.R * descent.pull
    if problem.bias:
        alpha = problem.repaired(alpha)
        w = descent.R * descent.Z.rdot(rows.rdot(alpha))
    Y, t, box = rows.take(descent.Z, inside), rows.t[inside], problem.box[inside]
    if not problem.bias:
        enough, most = ENOUGH * progress.limits.tol * progress.primal, SWEPT * descent.Z.m // len(inside)
        alpha[inside], w, settled = coordinate_descent.swept(Y, t, box, alpha[inside], w, enough, most, lambda: progress.out_of_time)
        if settled:
            return progress.show(alpha, descent.steps)
    free = np.flatnonzero((alpha[inside] > 0) & (alpha[inside] < box))
    if not 0 < len(free) <= min(ROWS_A_COLUMN * descent.Z.q, MOST_ROWS):
        return False
    inside = inside[free]
    signs = problem.bias_signs[inside] if problem.bias else np.ones(len(inside))
    c = signs * box[free]
    K, u = _face(descent, inside, alpha, w)
    bounds = np.minimum(c, 0.0), np.maximum(c, 0.0)
    H = signs[:, None] * K * signs
    most = FACES + PRODUCTS * descent.Z.m * descent.Z.q // len(inside) ** 3
    alpha[inside] = signs * climb(H, signs * u, signs * alpha[inside], *bounds, problem.bias, most, lambda: progress.out_of_time)
    return progress.show(alpha, descent.steps)


def _face(descent: FeatureDescent, inside: Index, alpha: Array, w: Array) -> tuple[Array, Array]:
    """A K A' of some rows, (k, k), and their slacks, (k,), at multipliers alpha (p,), of which w (q,) is made; no bias.

    By the kernel itself where the features are computed from it, which leaves some of it out.
    """
    problem, rows = descent.problem, descent.rows
    if problem.explicit is None:
        A = rows.matrix[inside]
        return A @ (A @ problem.gram.dense).T, rows.t[inside] - A @ (problem.gram @ rows.rdot(alpha))
    Y = rows.take(descent.Z, inside)
    K = Y @ (Y * descent.R).T if isinstance(Y, np.ndarray) else (Y @ Y.multiply(descent.R).T.tocsr()).toarray()
    return K, rows.t[inside] - Y @ w


def _centred(alpha: Array, c: Array, slope: float) -> Smooth:
    """The smooth hinge of derivative alpha_r / c_r at u_r = 0."""
    width = np.zeros_like(alpha)
    np.divide(alpha, slope * c, out=width, where=c > 0)
    return Smooth(slope, width, 1.0)
