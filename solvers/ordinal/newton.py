"""Newton's method on w and all thresholds, for a kernel with explicit features.

It covers squared slacks, hinges, and ordered thresholds.

    min over w, b    1/2 |w|^2 + p'b + sum_r c_r phi_r(u_r) + sum_k psi_k(b_k - b_{k+1}),
                     u_ik = margin - s_ik (w.x_i - b_k)

    c_r phi_r'(u) = min((a_r + sigma_r u)_+, top_r),       psi_k'(u) = (m_k + tau u)_+

phi_r is the loss of row r, and psi_k the penalty of the order b_k <= b_{k+1}. Squared
slacks are smooth: for them always a = 0, sigma = 2 c and top = inf. A hinge has the top
c. The hinge and the order's exact penalty are nondifferentiable at 0, and are smoothed
around the current multipliers a and m. At each minimum the derivatives replace the
multipliers, and sigma and tau grow: this is the method of multipliers, as in
`newton/huber.py`. Initially a = sigma, which gives Huber's function, and m = 0.

The Hessian depends on a point only through the sum D of the sigma of its rows on a
curved piece, so that a step costs as much as in a classification of the points. With
these sigma as a matrix A, of one row per point and one column per threshold,

    H = [ I + Z' D Z    -Z' A               ]
        [ -A' Z         diag(A' 1) + order  ]

References
----------
O. L. Mangasarian. A finite Newton method for classification. Optimization Methods and
Software 17 (2002).

R. T. Rockafellar. Augmented Lagrangians and applications of the proximal point
algorithm in convex programming. Mathematics of Operations Research 1 (1976).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.dual.damped_cholesky import damped_factor
from equimargin.solvers.ordinal.machine import OrdinalProblem
from equimargin.solvers.ordinal.smoothed import LossSmoothing

SEARCHES = 60
"""Maximum number of derivative evaluations in a line search.

The derivative is piecewise linear, and Newton's method on it needs three to six.
"""
FLAT = 1e-3
"""Fraction of a step's initial derivative at which the line search stops."""
DAMPINGS = (1e-13, 1e-11, 1e-9, 1e-6, 1e-3)
"""Relative shifts of the Hessian's diagonal, tried until Cholesky succeeds.

For thresholds they are relative to the largest curvature in a threshold. The Hessian is
singular if a threshold has no row on a curved piece, or only the order couples
thresholds.
"""


@dataclass(frozen=True)
class _Place:
    """Point w, b with its values f (n,)."""

    w: Array
    b: Array
    f: Array


@dataclass(frozen=True)
class _View:
    """Smoothed losses and their derivatives at a point.

    Parameters
    ----------
    G : ndarray of shape (T, n)
        Signed derivatives of the rows.
    m : ndarray of shape (T - 1,)
        Derivatives of the order's penalties.
    gradient : ndarray of shape (q + T,)
        Gradient in w and b.
    primal : float
        Objective at w and the thresholds b made monotone.
    smoothing : float
        Part of the gap due to the smoothing.
    rest : float
        Part of the gap due to the gradient.
    """

    G: Array
    m: Array
    gradient: Array
    primal: float
    smoothing: float
    rest: float


class Watch(Protocol):
    """Monitor of a run that assesses its points and decides when to stop."""

    def over(
        self, G: Array, w: Array, b: Array, values: tuple[float, float], iterations: int
    ) -> bool:
        """Record a point; return True if the run is over.

        Parameters
        ----------
        G : ndarray of shape (n, T)
            Signed multipliers.
        w : ndarray of shape (q,)
            Weights.
        b : ndarray of shape (T,)
            Ordered thresholds.
        values : tuple[float, float]
            Primal and dual objective, -inf if unknown.
        iterations : int
            Iterations so far.
        """


def newton(machine: OrdinalProblem, run: Watch) -> None:
    """Minimise the objective of ordinal regression by Newton's method in features.

    Parameters
    ----------
    machine : OrdinalProblem
        Problem to solve.
    run : Watch
        Monitor that records points and ends the run.
    """
    Z, steps, least = machine.Z, 0, np.inf
    at, phi = _Place(np.zeros(Z.q), np.zeros(machine.T), np.zeros(Z.m)), LossSmoothing.of(machine)
    while True:
        seen = _look(machine, phi, at)
        promised = seen.smoothing + seen.rest
        worthwhile, least = machine.squared or promised < least, min(promised, least)
        G = _balanced(seen.G.T) if worthwhile and not machine.ordered else seen.G.T
        dual = _dual(machine, seen, G) if worthwhile else -np.inf
        if run.over(G, at.w, np.maximum.accumulate(at.b), (seen.primal, dual), steps):
            return
        if seen.rest <= seen.smoothing and not machine.squared:
            phi = phi.centred(seen.G, seen.m)
            seen = _look(machine, phi, at)
        step = -_solved(machine, phi, at, seen.gradient)
        at, steps = _moved(machine, phi, at, step, float(seen.gradient @ step)), steps + 1


def _look(machine: OrdinalProblem, phi: LossSmoothing, at: _Place) -> _View:
    sums, m = phi.at(at.f, at.b), phi.order(at.b)
    by_w, by_b = (
        at.w - machine.Z.rdot(sums.beta),
        machine.push + sums.G.sum(axis=1) + np.append(m, 0.0) - np.append(0.0, m),
    )
    primal = float(at.w @ at.w) / 2 + sums.loss + float(machine.push @ np.maximum.accumulate(at.b))
    smoothing = sums.blur + float(np.abs(m * (at.b[:-1] - at.b[1:])).sum())
    rest = float(by_w @ by_w) / 2 + float(np.abs(by_b) @ (1 + np.abs(at.b)))
    return _View(sums.G, m, np.concatenate([by_w, by_b]), primal, smoothing, rest)


def _balanced(G: Array) -> Array:
    """Return signed multipliers (n, T) with columns that sum to 0.

    In every column either the positive or the negative entries are scaled down.
    """
    up, down = np.maximum(G, 0.0).sum(axis=0), np.maximum(-G, 0.0).sum(axis=0)
    least = np.minimum(up, down)
    scale = [np.divide(least, side, out=np.zeros_like(side), where=side > 0) for side in (up, down)]
    return np.asarray(np.where(G > 0, G * scale[0], G * scale[1]))


def _dual(machine: OrdinalProblem, seen: _View, G: Array) -> float:
    """Return the dual value of balanced multipliers G (n, T).

    For ordered thresholds it is the primal value minus the parts of the gap.
    """
    if machine.ordered:
        return seen.primal - seen.smoothing - seen.rest
    v, ridge = machine.Z.rdot(G.sum(axis=1)), 0.5 / machine.C if machine.squared else 0.0
    return float(np.abs(G).sum()) - float(v @ v) / 2 - float((ridge * G * G).sum()) / 2


def _moved(
    machine: OrdinalProblem, phi: LossSmoothing, at: _Place, step: Array, start: float
) -> _Place:
    """Return the minimiser of the smoothed objective along a step of negative slope."""
    Z = machine.Z
    dw, db = step[: Z.q], step[Z.q :]
    df = Z @ dw
    low, high, left, right, part = 0.0, np.inf, start, 0.0, 1.0
    for _ in range(SEARCHES):
        f, b = at.f + part * df, at.b + part * db
        first, second = phi.along(f, b, df, db)
        slope, curved = (
            float(dw @ (at.w + part * dw)) + float(machine.push @ db) + first,
            float(dw @ dw) + second,
        )
        if abs(slope) <= FLAT * -start:
            break
        if slope < 0:
            low, left, right = part, slope, right / 2
        else:
            high, left, right = part, left / 2, slope
        part = part - slope / curved if curved > 0 else np.inf
        if not low < part < high:
            part = (low * right - high * left) / (right - left) if high < np.inf else 2 * low
    return _Place(at.w + part * dw, at.b + part * db, at.f + part * df)


def _solved(machine: OrdinalProblem, phi: LossSmoothing, at: _Place, gradient: Array) -> Array:
    """Return H^-1 gradient, for the Hessian H of the rows on a curved piece."""
    Z, A = machine.Z, phi.curvature(at.f, at.b)
    D = A.sum(axis=0)
    index = np.flatnonzero(D)
    H = np.zeros((Z.q + machine.T,) * 2, order="F")
    H[: Z.q, : Z.q] = Z.gram(index, D[index])
    H[np.arange(Z.q), np.arange(Z.q)] += 1
    H[: Z.q, Z.q :] = -(Z.rows(index).T @ A[:, index].T)
    H[Z.q :, : Z.q] = H[: Z.q, Z.q :].T
    pulls = phi.tau * (phi.order(at.b) > 0)
    H[Z.q :, Z.q :] = (
        np.diag(A.sum(axis=1) + np.append(pulls, 0.0) + np.append(0.0, pulls))
        - np.diag(pulls, 1)
        - np.diag(pulls, -1)
    )
    diagonal = H.diagonal().copy()
    unit = np.append(diagonal[: Z.q], np.full(machine.T, diagonal[Z.q :].max() or 1.0))
    factor = damped_factor(lambda: H.copy(order="F"), diagonal, unit, DAMPINGS)
    return gradient if factor is None else factor.solve(gradient)
