"""Newton's method on w and all thresholds together, for a kernel with explicit features: squared slacks, hinges, thresholds in order.

    min over w, b    1/2 |w|^2 + p'b + sum_r c_r phi_r(u_r) + sum_k psi_k(b_k - b_{k+1}),     u_ik = margin - s_ik (w.x_i - b_k)

    c_r phi_r'(u) = min((a_r + sigma_r u)_+, top_r),       psi_k'(u) = (m_k + tau u)_+

Squared slacks are smooth: there a = 0, sigma = 2 c and no top, for good. A hinge has the top c and a kink at 0, an order b_k <= b_{k+1} an
infinite one. Both are smoothed around the multipliers a and m found so far. At a minimum the derivatives take their places, and sigma and
tau grow: this is the method of multipliers, as in `newton/huber.py`. At first a and m are those of Huber's function.

The Hessian asks of a point only for the sum D of the sigma of its rows on a curved piece, so that a step costs what it costs in a
classification of the same points: with these sigma as a matrix A, one row a point and one column a threshold,

    H = [ I + Z' D Z    -Z' A               ]
        [ -A' Z         diag(A' 1) + order  ]

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002); R. T. Rockafellar,
Augmented Lagrangians and applications of the proximal point algorithm in convex programming, Mathematics of Operations Research 1 (1976).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.dual.damped_cholesky import damped_factor
from equimargin.solvers.ordinal.machine import AnyMachine, Machine, OrdinalFit, Run
from equimargin.solvers.solution import Limits

STEPS = 500
"""Newton steps of a run without a limit of its own: 10 are usual for squared slacks, 60 for hinges."""
SEARCHES = 60
"""Evaluations of the derivative along a step, at most: it is piecewise linear, and Newton's method on it needs three to six."""
FLAT = 1e-3
"""The part of the derivative at the start of a step that is 0 enough at its end."""
DAMPINGS = (1e-13, 1e-11, 1e-9, 1e-6, 1e-3)
"""What is added to the diagonal of the Hessian, relative to it, and to the largest curvature of a threshold where it is one of those.

No row of a threshold may be on a curved piece, and the order may tie thresholds to each other alone: then the Hessian is singular."""
STIFFEST = 1e3
"""The largest sigma at the start, times the mean K_ii: where costs are huge, multipliers are not."""
GROWTH = 4.0
"""Factor by which sigma and tau grow from one minimum to the next."""


@dataclass(frozen=True)
class _Smooth:
    """The smoothed losses: a, sigma and top (n, T) of the rows, m (T - 1,) and tau of the order; tau is 0 where none is asked for."""

    a: Array
    sigma: Array
    top: Array
    m: Array
    tau: float

    def rows(self, u: Array) -> Array:
        """The derivatives at u (n, T)."""
        return np.minimum(np.maximum(self.a + self.sigma * u, 0.0), self.top)

    def curvature(self, u: Array) -> Array:
        """The second derivatives at u (n, T)."""
        inner = self.a + self.sigma * u
        return np.where((inner >= 0) & (inner <= self.top) & (self.sigma > 0), self.sigma, 0.0)

    def order(self, b: Array) -> Array:
        """The derivatives of the order at b (T,): (T - 1,)."""
        return np.maximum(self.m + self.tau * (b[:-1] - b[1:]), 0.0)

    def centred(self, seen: _View) -> _Smooth:
        """The next losses: sharper, and around the multipliers found."""
        return _Smooth(np.abs(seen.G), GROWTH * self.sigma, self.top, seen.m, GROWTH * self.tau)


@dataclass(frozen=True)
class _Place:
    """A point w, b with its values f (n,) and slacks u (n, T)."""

    w: Array
    b: Array
    f: Array
    u: Array


@dataclass(frozen=True)
class _View:
    """What the smoothed losses are at a place.

    G : (n, T) signed derivatives of the rows.  m : (T - 1,) those of the order.  gradient : (q + T,), of w and of b.
    primal : the value at w and b, its thresholds in order.  smoothing : the part of the gap that the smoothed kinks make.
    rest : the part that the gradient makes.
    """

    G: Array
    m: Array
    gradient: Array
    primal: float
    smoothing: float
    rest: float


def newton(machine: AnyMachine, limits: Limits) -> OrdinalFit:
    """Solve a machine by Newton's method in features.

    Raises
    ------
    ValueError : a kernel without explicit features.
    """
    Z = machine.features
    if Z is None:
        raise ValueError("newton takes a linear kernel; smo takes every kernel")
    run, steps = Run(machine, limits, STEPS), 0
    at, phi = _at(machine, Z, np.zeros(Z.q), np.zeros(machine.thresholds)), _first(machine)
    while True:
        seen = _look(machine, Z, phi, at)
        if run.over(machine.balanced(seen.G), at.w, np.maximum.accumulate(at.b), _values(machine, Z, seen), steps):
            return run.fit()
        if seen.rest <= seen.smoothing and not machine.squared:
            phi = phi.centred(seen)
            seen = _look(machine, Z, phi, at)
        step = -_solved(machine, Z, phi, at, seen.gradient)
        part = _part(machine, Z, phi, at, step, float(seen.gradient @ step))
        at, steps = _at(machine, Z, at.w + part * step[: Z.q], at.b + part * step[Z.q :]), steps + 1


def _look(machine: AnyMachine, Z: Explicit, phi: _Smooth, at: _Place) -> _View:
    alpha, m = phi.rows(at.u), phi.order(at.b)
    G, falls = machine.S * alpha, at.b[:-1] - at.b[1:]
    by_w, by_b = at.w - Z.rdot(G.sum(axis=1)), machine.push + G.sum(axis=0) + np.append(m, 0.0) - np.append(0.0, m)
    b = np.maximum.accumulate(at.b)
    primal = float(at.w @ at.w) / 2 + machine.losses(at.f, b) + float(machine.push @ b)
    smoothing = float((machine.C * np.maximum(at.u, 0.0) - alpha * at.u).sum() + np.abs(m * falls).sum())
    rest = float(by_w @ by_w) / 2 + float(np.abs(by_b) @ (1 + np.abs(at.b)))
    return _View(G, m, np.concatenate([by_w, by_b]), primal, smoothing, rest)


def _values(machine: AnyMachine, Z: Explicit, seen: _View) -> tuple[float, float]:
    """(primal, dual): the dual value of balanced multipliers, or what the parts of the gap leave."""
    if not isinstance(machine, Machine):
        return seen.primal, seen.primal - seen.smoothing - seen.rest
    G = machine.balanced(seen.G)
    v = Z.rdot(G.sum(axis=1))
    return seen.primal, float(np.abs(G).sum()) - float(v @ v) / 2 - float((machine.ridge[:, None] * G * G).sum()) / 2


def _first(machine: AnyMachine) -> _Smooth:
    """The losses at the start."""
    n, T = machine.S.shape
    if machine.squared:
        return _Smooth(np.zeros((n, T)), 2 * machine.C, np.full((n, T), np.inf), np.zeros(T - 1), 0.0)
    stiff = STIFFEST / machine.gram.mean_diagonal
    sigma = np.minimum(machine.C / 2, stiff)
    return _Smooth(sigma * 1.0, sigma, machine.C, np.zeros(T - 1), float(sigma.sum()) if machine.ordered else 0.0)


def _at(machine: AnyMachine, Z: Explicit, w: Array, b: Array) -> _Place:
    f = Z @ w
    return _Place(w, b, f, machine.margin - machine.S * (f[:, None] - b))


def _part(machine: AnyMachine, Z: Explicit, phi: _Smooth, at: _Place, step: Array, start: float) -> float:
    """Where along a step, on which the derivative is below 0 at the start, the smoothed objective is least."""
    dw, db = step[: Z.q], step[Z.q :]
    du, gap = -machine.S * ((Z @ dw)[:, None] - db), db[:-1] - db[1:]
    low, high, left, right, part = 0.0, np.inf, start, 0.0, 1.0
    for _ in range(SEARCHES):
        u, b = at.u + part * du, at.b + part * db
        slope = float(dw @ (at.w + part * dw)) + float(machine.push @ db) + float((phi.rows(u) * du).sum()) + float(phi.order(b) @ gap)
        if abs(slope) <= FLAT * -start:
            break
        if slope < 0:
            low, left, right = part, slope, right / 2
        else:
            high, left, right = part, left / 2, slope
        curved = float(dw @ dw) + float((phi.curvature(u) * du * du).sum()) + phi.tau * float(((phi.order(b) > 0) * gap * gap).sum())
        part = part - slope / curved if curved > 0 else np.inf
        if not low < part < high:
            part = (low * right - high * left) / (right - left) if high < np.inf else 2 * low
    return part


def _solved(machine: AnyMachine, Z: Explicit, phi: _Smooth, at: _Place, gradient: Array) -> Array:
    """H^-1 times the gradient, with the Hessian H of the rows on a curved piece."""
    A = phi.curvature(at.u)
    D = A.sum(axis=1)
    index = np.flatnonzero(D)
    H = np.zeros((Z.q + machine.thresholds,) * 2, order="F")
    H[: Z.q, : Z.q] = Z.gram(index, D[index])
    H[np.arange(Z.q), np.arange(Z.q)] += 1
    H[: Z.q, Z.q :] = -np.stack([Z.rdot(column) for column in A.T], axis=1)
    H[Z.q :, : Z.q] = H[: Z.q, Z.q :].T
    pulls = phi.tau * (phi.order(at.b) > 0)
    H[Z.q :, Z.q :] = np.diag(A.sum(axis=0) + np.append(pulls, 0.0) + np.append(0.0, pulls)) - np.diag(pulls, 1) - np.diag(pulls, -1)
    diagonal = H.diagonal().copy()
    unit = np.append(diagonal[: Z.q], np.full(machine.thresholds, diagonal[Z.q :].max() or 1.0))
    factor = damped_factor(lambda: H.copy(order="F"), diagonal, unit, DAMPINGS)
    return gradient if factor is None else factor.solve(gradient)
