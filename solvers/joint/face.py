"""Newton's method on a face: the shares that are not 0, the others fixed.

    max over D  h.D - 1/2 |X'D|^2    s.t.  rows of D sum to 0,  D = 0 outside the face

Sweeps are slow if many shares that are not 0 depend on each other. In every point the
largest share is eliminated by the sum to 0. The maximiser of the damped objective over
the others is then a linear system. It is followed up to the first share that becomes 0,
or further with a projection onto the simplices if that is better; that share leaves the
face, and the system is solved again. No step decreases the dual objective.

References
----------
J. Nocedal, S. Wright, Numerical Optimization, sections 16.5, without the release of
constraints, and 16.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Features, Mask, dense
from equimargin.solvers.dual.newton_on_face import count_affordable_factorisations, factor_face
from equimargin.solvers.joint.problem import JointPoint, JointProblem

LINE_TRIALS = 8
"""Number of steps along a direction that are tried, up to the whole of it."""


class Face(NamedTuple):
    """Points with two shares or more that are not 0.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, q)
        Points.
    S : ndarray of shape (n, k)
        Shares.
    h : ndarray of shape (n, k)
        Derivatives of the dual objective.
    """

    X: Features
    S: Array
    h: Array

    @property
    def free(self) -> Mask:
        """True for the shares that are not 0."""
        return self.S > 0.0

    def measure_gain(self, S: Array) -> float:
        """Return the increase of the dual objective at other shares.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Shares.
        """
        move = S - self.S
        image = self.X.T @ move
        return float(np.vdot(self.h, move)) - float(np.vdot(image, image)) / 2

    def move_to(self, S: Array) -> Face:
        """Return the face of other shares.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Shares.
        """
        # W changes by minus X'D.
        return Face(self.X, S, self.h - np.asarray(self.X @ (self.X.T @ (S - self.S))))


def ascend_on_face(
    problem: JointProblem, point: JointPoint, work: int, out_of_time: Callable[[], bool]
) -> Array | None:
    """Return shares of a dual value that is no smaller; None if they cost too much.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    point : JointPoint
        Point to start at.
    work : int
        Multiplications that a long computation may cost.
    out_of_time : callable
        Returns True if the run must end.
    """
    extra = np.count_nonzero(point.S, axis=1) - 1
    rows = np.flatnonzero(extra > 0)
    most = count_affordable_factorisations(int(extra[rows].sum()), work)
    if not most:
        return None
    face, ends = Face(problem.X[rows], point.S[rows], point.h[rows]), False
    while most > 0 and not ends and not out_of_time():
        move = _direction(face, out_of_time)
        best, ends = _best(face, move)
        face, most = face.move_to(best), most - 1
    shares = point.S.copy()
    shares[rows] = face.S
    return shares


def _direction(face: Face, out_of_time: Callable[[], bool]) -> Array:
    """Return the maximiser on the face minus the shares, damped; 0 without a factor."""
    rows, largest, others = np.arange(len(face.S)), face.S.argmax(axis=1), face.free
    others[rows, largest] = False
    i, r = np.nonzero(others)
    own, X, move = largest[i], face.X[i], np.zeros_like(face.S)
    # Coordinate (i, r) is x_i in w_r and minus x_i in the class of the largest share.
    signs = np.subtract(r[:, None] == r, r[:, None] == own, dtype=np.float64)
    signs -= np.subtract(own[:, None] == r, own[:, None] == own, dtype=np.float64)
    factor = factor_face(dense(X @ X.T) * signs, out_of_time) if len(i) else None
    if factor is not None:
        move[i, r] = factor.solve(face.h[i, r] - face.h[i, own])
        move[rows, largest] = -move.sum(axis=1)
    return move


def _best(face: Face, move: Array) -> tuple[Array, bool]:
    """Return the best shares along a direction, and True if the face ends there.

    It ends at its maximiser, or where the direction leads nowhere.
    """
    if (face.S + move >= 0.0).all():
        trials, whole = [face.S + move], True
    else:
        room = np.full_like(move, np.inf)
        np.divide(face.S, -move, out=room, where=move < 0.0)
        step, whole = float(room.min()), False
        # Shares that stop the step are exactly 0 after it.
        trials = [np.where(room <= step, 0.0, np.maximum(face.S + step * move, 0.0))]
        costs, outside = face.S.sum(axis=1), np.where(face.free, 0.0, -np.inf)
        for longer in np.geomspace(step, 1.0, LINE_TRIALS)[1:]:
            trials.append(project_on_simplices(face.S + longer * move + outside, costs))
    gains = [face.measure_gain(S) for S in trials]
    best = int(np.argmax(gains))
    return (trials[best], whole) if gains[best] > 0.0 else (face.S, True)


def project_on_simplices(Z: Array, costs: Array) -> Array:
    """Return the projection of every row onto {s >= 0, sum s = c}.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Rows; entries of -inf are excluded.
    costs : ndarray of shape (n,)
        Sums c, above 0.
    """
    ordered, count = -np.sort(-Z, axis=1), np.arange(1, Z.shape[1] + 1)
    tau = (np.cumsum(ordered, axis=1) - costs[:, None]) / count
    # The last entry above its threshold counts; the first one always is.
    last = np.where(ordered > tau, count, 1).max(axis=1) - 1
    return np.asarray(np.maximum(Z - tau[np.arange(len(Z)), last][:, None], 0.0))
