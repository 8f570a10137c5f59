"""Trust-region Newton method as published, for squared hinges without a free bias.

    min over w in R^q       1/2 w'w + sum_r c_r (u_r)_+^2,          u = t - A Z w
    min over beta in R^m    1/2 beta'K beta + sum_r c_r (u_r)_+^2,  u = t - A K beta

The first is for explicit features, the second for any other kernel. The method is that
of LIBLINEAR and of Kuo, Lee and Lin (2014), whose equations are cited: the second
problem is (3.13) with (2.9).

At the k-th iterate conjugate gradients solve the Newton equation H s = -g, (4.19): they
minimise q(s) = g's + 1/2 s'H s over |s| <= Delta_k, until |g + H s| <= 0.1 |g| or at
the boundary, where H is the generalised Hessian, (B.3). With rho = (f(v + s) - f(v)) /
q(s) the step is taken if rho > eta_0, and

    Delta_{k+1} in [sigma_1 min(|s|, Delta_k), sigma_2 Delta_k]    if rho <= eta_1
                   [sigma_1 Delta_k, sigma_3 Delta_k]              if eta_1 < rho < eta_2
                   [Delta_k, sigma_3 Delta_k]                      if rho >= eta_2

In its interval Delta_{k+1} is the point nearest to a |s|, where a is the minimum of the
parabola through f(v) and f(v + s) with the slope g's at v. If rho >= eta_2 and
|s| = Delta_k it is sigma_3 Delta_k instead, the rule of Hsia, Zhu and Lin (2017). That
rule saves steps if the region limits them, and costs steps if a kink lies behind its
boundary.

The run ends on the duality gap, which for alpha = 2 c (u)_+ is half the squared norm of
the difference of f and the f of alpha, whose coefficients are A'alpha, (3.16). There is
no preconditioner and no line search: this is the published method, for comparisons.
With large costs and steep kinks it is as slow as published.

References
----------
C.-J. Lin, R. C. Weng, S. S. Keerthi. Trust region Newton method for large-scale
logistic regression. JMLR 9 (2008), Algorithms 1 and 2, (10)-(13).

C.-J. Lin, J. J. Moré. Newton's method for large bound-constrained optimization
problems. SIAM J. Optimization 9 (1999), for a and the first radius.

C.-Y. Hsia, Y. Zhu, C.-J. Lin. A study on trust region update rules in Newton methods
for large-scale linear classification. ACML (2017), for steps to the boundary.

Document K (Kuo, Lee and Lin), section 4.1 and appendix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.loss import SQUARED_HINGE
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.products.gram_products import GramProducts
from equimargin.solvers.progress import VALUE_ROUNDING, DualConvergenceMonitor, initial_function
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution

ETA_0 = 1e-4
"""Minimum ratio rho of actual to predicted decrease of a step; the published value."""
ETA_1 = 0.25
"""Ratio rho up to which the region shrinks; the published value."""
ETA_2 = 0.75
"""Ratio rho from which the region does not shrink; the published value."""
SIGMA_1 = 0.25
"""Minimum factor of the radius; the published value."""
SIGMA_2 = 0.5
"""Maximum factor of the radius after a step with rho <= eta_1; the published value."""
SIGMA_3 = 4.0
"""Maximum factor of the radius after any other step; the published value."""
XI = 0.1
"""Residual of conjugate gradients relative to the gradient's norm; the published value."""
PRODUCTS_PER_VARIABLE = 10
"""Maximum number of Hessian products per variable in conjugate gradients.

Without rounding one would do.
"""
PREDICTION_NOISE = 1e-10
"""Predicted relative decrease of f up to which differences of f are rounding.

The decrease is then computed from the gradients.
"""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("squared_hinge",),
    why={"hinge": "has a kink"},
    no_bias="which is free, and not part of the norm",
    no_hard_rows="whose loss has no derivative",
    convex=True,
)


class IterationResult(NamedTuple):
    """Record of an iteration.

    Parameters
    ----------
    iteration : int
        Number of the iteration.
    products : int
        Number of Hessian products so far.
    value : float
        f.
    gap : float
        Relative gap.
    radius : float
        Radius of the trust region in the next iteration.
    """

    iteration: int
    products: int
    value: float
    gap: float
    radius: float


@solver(
    "tron",
    "svm.nobias_l2",
    "rank.l2",
    algorithm="trust-region Newton method as published, for the squared hinge",
    requires=REQUIREMENTS,
    reference=True,
)
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Take trust-region steps until the gap is small enough."""
    progress = DualConvergenceMonitor("tron", problem, limits, limits.max_iter or 1000)
    at = objective(problem, warm_start)
    radius, iteration, products = float(np.linalg.norm(at.grad)), 0, 0
    stops = progress.weigh(at.point, at.fun, at.dual, 0)
    trajectory = [IterationResult(0, 0, at.fun, progress.gap, radius)]
    while not stops:
        s, residual, spent, bounded = truncated_step(at, radius, lambda: progress.out_of_time)
        slope, length = float(at.grad @ s), float(np.linalg.norm(s))
        predicted = float(s @ residual - slope) / 2
        trial = at.moved(s)
        actual = (
            at.fun - trial.fun
            if predicted > PREDICTION_NOISE * at.fun
            else -float((at.grad + trial.grad) @ s) / 2
        )
        radius = resized(
            min(radius, length) if iteration == 0 else radius,
            length,
            slope,
            actual,
            predicted,
            bounded,
        )
        taken = actual > ETA_0 * predicted
        moved, at = taken and actual > VALUE_ROUNDING * at.fun, trial if taken else at
        iteration, products = iteration + 1, products + spent
        stops = progress.weigh(at.point, at.fun, at.dual, iteration, moved)
        trajectory.append(IterationResult(iteration, products, at.fun, progress.gap, radius))
    solution = progress.solution()
    assert solution.dual is not None
    return replace(
        solution,
        point=solution.point.with_multipliers(problem.repaired(solution.dual)),
        trajectory=tuple(trajectory),
    )


class TronStep(NamedTuple):
    """Step within the trust region.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Step.
    r : ndarray of shape (n,)
        Residual -g - H s.
    products : int
        Number of products with H.
    bounded : bool
        True if the step ends at the boundary.
    """

    s: Array
    r: Array
    products: int
    bounded: bool


def truncated_step(at: Objective, radius: float, out_of_time: Callable[[], bool]) -> TronStep:
    """Run conjugate gradients within the trust region.

    Parameters
    ----------
    at : Objective
        Objective at v.
    radius : float
        Delta.
    out_of_time : callable
        Returns True if the run must end; called before every product.

    Returns
    -------
    TronStep
        Step.

    References
    ----------
    Lin, Weng, Keerthi (2008), Algorithm 2.

    T. Steihaug. SIAM J. Numerical Analysis 20 (1983).
    """
    r = -at.grad
    s, d, r2 = np.zeros_like(r), r, float(r @ r)
    enough, products = XI**2 * r2, 0
    while r2 > enough and products < PRODUCTS_PER_VARIABLE * len(s) and not out_of_time():
        Hd = at.hess_vec(d)
        products += 1
        curvature = float(d @ Hd)
        if not curvature > 0:
            break
        step = r2 / curvature
        ahead = s + step * d
        if float(ahead @ ahead) >= radius**2:
            step = to_the_boundary(s, d, radius)
            return TronStep(s + step * d, r - step * Hd, products, True)
        s, r = ahead, r - step * Hd
        before, r2 = r2, float(r @ r)
        d = r + r2 / before * d
    return TronStep(s, r, products, False)


def to_the_boundary(s: Array, d: Array, radius: float) -> float:
    """Return tau >= 0 with |s + tau d| = radius.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Step with |s| <= radius.
    d : ndarray of shape (n,)
        Direction.
    radius : float
        Delta.
    """
    sd, dd, room = float(s @ d), float(d @ d), max(radius**2 - float(s @ s), 0.0)
    root = float(np.sqrt(sd**2 + dd * room))
    return room / (sd + root) if sd > 0 else (root - sd) / dd


def resized(
    radius: float, length: float, slope: float, actual: float, predicted: float, bounded: bool
) -> float:
    """Return the next radius.

    Parameters
    ----------
    radius : float
        Delta.
    length : float
        |s|.
    slope : float
        g's.
    actual : float
        Decrease of f.
    predicted : float
        Decrease of the model.
    bounded : bool
        True if s ends at the boundary, |s| = Delta.
    """
    # Parabola through f(v), f(v + s) with slope g's: minimum at a = -g's / (2 bend).
    bend = -actual - slope
    a = max(SIGMA_1, -slope / (2 * bend)) if bend > 0 else SIGMA_3
    if actual <= ETA_0 * predicted:
        return min(a * length, SIGMA_2 * radius)
    if actual <= ETA_1 * predicted:
        return max(SIGMA_1 * radius, min(a * length, SIGMA_2 * radius))
    wanted = min(a * length, SIGMA_3 * radius)
    if actual < ETA_2 * predicted:
        return max(SIGMA_1 * radius, wanted)
    return SIGMA_3 * radius if bounded else max(radius, wanted)


class Objective:
    """Objective at v (n,), immutable: value, gradient, Hessian products and dual value.

    Parameters
    ----------
    problem : MarginProblem
        Problem with squared hinges.
    v : ndarray of shape (n,)
        w of explicit features, or else beta, document K (3.13).
    K : callable
        Product with the Gram matrix, used instead of products with features.

    Attributes
    ----------
    fun : float
        Primal objective.
    alpha : ndarray of shape (p,)
        Multipliers 2 c (u)_+.
    """

    def __init__(self, problem: MarginProblem, v: Array, K: Callable[[Array], Array]) -> None:
        self.problem, self.v, self.K, self.Z = problem, v, K, problem.explicit
        g = K(v) if self.Z is None else self.Z @ v
        self.image = g if self.Z is None else v
        expansion = problem.rows.slacks(g, problem.group_costs).expanded(SQUARED_HINGE)
        self.alpha, self.D = expansion.alpha, expansion.D
        self.fun = float(v @ self.image) / 2 + expansion.loss

    @cached_property
    def pull(self) -> Array:
        """f of alpha in the form of v, shape (n,): Z'A'alpha or A'alpha."""
        beta = self.problem.rows.rdot(self.alpha)
        return beta if self.Z is None else self.Z.rdot(beta)

    @cached_property
    def pulled(self) -> Array:
        """Loss part of the negative gradient, shape (n,): Z'A'alpha or K A'alpha."""
        return self.K(self.pull) if self.Z is None else self.pull

    @cached_property
    def grad(self) -> Array:
        """Gradient, shape (n,)."""
        return self.image - self.pulled

    def hess_vec(self, s: Array) -> Array:
        """Return the product with the generalised Hessian.

        Parameters
        ----------
        s : ndarray of shape (n,)
            Vector.
        """
        D = self.problem.rows.curvature(self.D)
        if self.Z is None:
            return self.K(s + SQUARED_HINGE.slope * D.hess_vec(self.K(s)))
        return np.asarray(s + SQUARED_HINGE.slope * D.gram_product(self.Z, s))

    @property
    def dual(self) -> float:
        """Dual objective at alpha = 2 c (u)_+."""
        return self.problem.dual(self.alpha, float(self.pull @ self.pulled))

    @property
    def point(self) -> Point:
        """Point of f, as w or beta, and alpha."""
        w, beta = (None, self.v) if self.Z is None else (self.v, None)
        return Point(w=w, beta=beta, b=0.0, alpha=self.alpha)

    def moved(self, s: Array) -> Objective:
        """Return the objective at v + s.

        Parameters
        ----------
        s : ndarray of shape (n,)
            Step.
        """
        return Objective(self.problem, self.v + s, self.K)


def objective(problem: MarginProblem, start: Point | None) -> Objective:
    """Return the objective at the f of a warm start, or at 0.

    The f of a start with multipliers alone is theirs.

    Parameters
    ----------
    problem : MarginProblem
        Problem that satisfies REQUIREMENTS.
    start : Point or None
        Point of a similar problem.
    """
    stored = problem.explicit is not None or problem.m <= STORED_ROWS
    K = problem.gram.__matmul__ if stored else GramProducts(problem.gram, np.arange(problem.m))
    return Objective(problem, initial_function(start or Point(), problem), K)
