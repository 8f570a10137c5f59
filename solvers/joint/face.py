"""Conjugate gradients on a face: the shares that are not 0, the others fixed.

    max over D  h.D - 1/2 |X'D|^2    s.t.  rows of D sum to 0,  D = 0 outside the face

Sweeps are slow if many shares that are not 0 depend on each other. The maximiser on the
face is approximated by conjugate gradients, preconditioned by |x_i|^2, and followed up
to the first share that becomes 0, or projected onto the simplices if that is better.

References
----------
J. J. More, G. Toraldo, On the solution of large quadratic programming problems with
bound constraints, SIAM Journal on Optimization 1 (1991).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Features, Mask
from equimargin.solvers.joint.problem import JointPoint, JointProblem

REDUCTION = 1e-12
"""Reduction of the gradient on the face at which conjugate gradients end."""
FLAT = 1e-14
"""Curvature along a direction, relative to that of its points alone, that counts as 0."""
LINE_TRIALS = 8
"""Number of projected steps, each half of the one before."""


class Face(NamedTuple):
    """Points with two shares or more that are not 0.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, q)
        Points.
    S : ndarray of shape (n, k)
        Shares.
    free : ndarray of shape (n, k)
        True for the shares that are not 0.
    curvatures : ndarray of shape (n, 1)
        Squared norms of the points, above 0.
    """

    X: Features
    S: Array
    free: Mask
    curvatures: Array

    def project(self, G: Array) -> Array:
        """Return G without the mean of its free entries, row by row; 0 elsewhere.

        Parameters
        ----------
        G : ndarray of shape (n, k)
            Gradient.
        """
        G = np.where(self.free, G, 0.0)
        mean = G.sum(axis=1, keepdims=True) / np.maximum(self.free.sum(axis=1, keepdims=True), 1)
        return np.where(self.free, G - mean, 0.0)


def ascend_on_face(
    problem: JointProblem,
    point: JointPoint,
    curvatures: Array,
    most: int,
    out_of_time: Callable[[], bool],
) -> Array:
    """Return shares of a larger dual value, or those of the point.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    point : JointPoint
        Point to start at.
    curvatures : ndarray of shape (m,)
        Squared norms of the points, above 0.
    most : int
        Maximum number of steps of conjugate gradients, in all rounds together.
    out_of_time : callable
        Returns True if the run must end.
    """
    free = point.S > 0.0
    rows = np.flatnonzero(free.sum(axis=1) > 1)
    X, S, h = problem.X[rows], point.S[rows], point.h[rows]
    while most > 0 and len(rows) and not out_of_time():
        face = Face(X, S, S > 0.0, curvatures[rows, None])
        move, steps = _direction(face, h, most)
        most -= steps
        best, gain, full = _best(face, h, move)
        if not gain > 0.0:
            break
        # W = X'T, and T changes by minus the change of S.
        h, S = h - np.asarray(X @ (X.T @ (best - S))), best
        if full:
            break
    shares = point.S.copy()
    shares[rows] = S
    return shares


def _direction(face: Face, h: Array, most: int) -> tuple[Array, int]:
    """Return an ascent direction, and the number of steps of conjugate gradients."""
    move, gradient = np.zeros_like(h), face.project(h)
    scaled = gradient / face.curvatures
    direction, square = scaled, float(np.vdot(gradient, scaled))
    first = square
    for step in range(most):
        if not square > REDUCTION**2 * first:
            return move, step
        image = face.X.T @ direction
        curvature = float(np.vdot(image, image))
        if curvature <= FLAT * float(np.vdot(direction, face.curvatures * direction)):
            # Along a flat direction the objective grows up to the end of the face. As
            # rows sum to 0, this multiple of the direction leaves the face.
            far = h.shape[1] * float(face.S.max()) / float(np.abs(direction).max())
            return (far * direction if step == 0 else move), step + 1
        move = move + square / curvature * direction
        gradient = gradient - square / curvature * face.project(np.asarray(face.X @ image))
        scaled = gradient / face.curvatures
        square, last = float(np.vdot(gradient, scaled)), square
        direction = scaled + square / last * direction
    return move, most


def _best(face: Face, h: Array, move: Array) -> tuple[Array, float, bool]:
    """Return the best of some shares along a direction, its gain, and True if all of it."""

    def gain(S: Array) -> float:
        change = S - face.S
        image = face.X.T @ change
        return float(np.vdot(h, change)) - float(np.vdot(image, image)) / 2

    if (face.S + move >= 0.0).all():
        S = face.S + move
        return S, gain(S), True
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(move < 0.0, -face.S / move, np.inf)
    step = float(room.min())
    trials = [np.where(room <= step, 0.0, np.maximum(face.S + step * move, 0.0))]
    costs = face.S.sum(axis=1)
    trials += [
        project_on_simplices(np.where(face.free, face.S + 0.5**t * move, -np.inf), costs)
        for t in range(LINE_TRIALS)
        if 0.5**t > step
    ]
    gains = [gain(S) for S in trials]
    best = int(np.argmax(gains))
    return trials[best], gains[best], False


def project_on_simplices(Z: Array, costs: Array) -> Array:
    """Return the projection of every row onto {s >= 0, sum s = c}.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Rows; entries of -inf stay 0.
    costs : ndarray of shape (n,)
        Sums c, above 0.
    """
    ordered = -np.sort(-Z, axis=1)
    count = np.arange(1, Z.shape[1] + 1)
    with np.errstate(invalid="ignore"):
        tau = (np.cumsum(ordered, axis=1) - costs[:, None]) / count
        # The last entry above its threshold; the first one always is.
        last = np.where(ordered > tau, count, 1).max(axis=1) - 1
    S: Array = np.maximum(Z - tau[np.arange(len(Z)), last][:, None], 0.0)
    return S
