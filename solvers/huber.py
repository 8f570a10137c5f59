"""Newton's method for margin problems with the hinge, whose kink is smoothed around the multipliers found so far.

    alpha_r  <-  clip(a_r + sigma_r u_r, 0, c_r)    at the minimum of    1/2 v'R v + sum_r c_r phi_r(u_r),    c_r phi_r'(u) = clip(a_r + sigma_r u, 0, c_r)

First a_r = c_r / 2: phi_r is Huber's function of width delta = c_r / (2 sigma_r). Then a are the multipliers of the last minimum and sigma
grows: the width need not go to 0 for the slacks of the rows on the margin to do so, and the rows on the curved piece hardly change from one
minimum to the next, where those of ever narrower functions around 0 would. It is the method of multipliers for u <= xi, xi >= 0; each minimum
is Newton's (`newton.py`), ended once the gradient's share of the gap is a small part of the smoothing's,

    gap(v, alpha) = 1/2 |R v - Z'A'alpha|^2  +  sum_r c_r (u_r)_+ - alpha_r u_r.

Source: O. Chapelle, Training a support vector machine in the primal, Neural Computation 19 (2007), for Huber's function; R. T. Rockafellar,
Augmented Lagrangians and applications of the proximal point algorithm in convex programming, Mathematics of Operations Research 1 (1976).
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.losses import Smooth, huberised
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.solvers.newton import Descent, on_a_part, unsuited
from equimargin.solvers.progress import Progress
from equimargin.solvers.solution import Limits, Solution

START = 0.5
"""First width, over the mean slack at the start."""
STIFF = 1e3
GROWTH = 4.0
"""Of sigma, from one minimum to the next."""
SHARE = 1.0
"""A minimum is found when the gradient's share of the gap is at most this much of the smoothing's."""


def refusal(problem: Problem) -> str | None:
    """Why this problem is not for Huber's function, in a sentence, or None."""
    if isinstance(problem, MarginProblem) and problem.loss == "squared_hinge":
        return "the squared hinge has a derivative: newton"
    return unsuited(problem)


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Newton steps to the minimum of the smoothed objective, the multipliers there; until the gap is small enough."""
    assert isinstance(problem, MarginProblem)
    progress = Progress("huber", problem, limits, limits.max_iter or 10_000)
    descent = Descent(problem, warm_start or on_a_part(problem, _solve, limits))
    size = float(np.abs(descent.u).mean()) if problem.p else 1.0
    size = size or 1.0
    stiffest = STIFF / (float(descent.c.max(initial=0.0)) * (float(problem.gram.diagonal.mean()) or 1.0) or 1.0)
    phi = Smooth(min(0.5 / (START*size), stiffest), START*size, 1.0)
    over = descent.show(progress, phi)
    while not over:
        smoothing = float(descent.c @ np.maximum(descent.u, 0.0) - descent.alpha @ descent.u)
        gradient = float(descent.R * descent.G @ descent.G) / 2 + size * float(np.abs(descent.G[descent.R == 0]).sum())
        if TRACE: print(f"  it {descent.steps} slope {phi.slope:.1e} gap {progress.gap:.2e} inner {gradient:.2e} smoothing {smoothing:.2e} F {np.count_nonzero(descent.D)}")
        if gradient <= SHARE * smoothing:
            phi = _centred(GROWTH * phi.slope, descent)
            descent.look(phi)
        descent.step(phi, progress)
        over = descent.show(progress, phi)
    return progress.solution()
TRACE = False

def _centred(slope: float, descent: Descent) -> Smooth:
    """The smooth hinge with derivative alpha_r / c_r at u = 0."""
    width = np.zeros_like(descent.alpha)
    np.divide(descent.alpha, slope * descent.c, out=width, where=descent.c > 0)
    return Smooth(slope, width, 1.0)
