"""Primal-dual interior point method, for problems of few weights.

With z_ir = tau_i - h_ir >= 0 the conditions of an optimum are

    W = X'T,    sum_r S_ir = c_i,    S_ir z_ir = 0.

Newton's method for S_ir z_ir = mu has one linear system, in dW,

    (I + sum_i M_i (x) x_i x_i') dW = residual,    M_i = diag(D_i) - D_i D_i' / sum D_i,

with D = S / z. It takes 15 to 45 steps, where sweeps are thousands if features have
different units, or if there are many more points than weights.

References
----------
S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM Journal
on Optimization 2 (1992).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.joint.problem import JointProblem
from equimargin.solvers.threads import one_thread

STEPS = 60
"""Maximum number of steps."""
TO_BOUNDARY = 0.99
"""Share of the longest step inside the bounds that is taken."""
LARGEST_SYSTEM = 2000
"""Largest number of weights whose system is factorised."""


class _Iterate(NamedTuple):
    """Weights W (q, k), and above 0 z = tau - h and shares S, (m, k) both; or a move."""

    W: Array
    z: Array
    S: Array


def count_work(problem: JointProblem) -> float:
    """Return the multiplications of a usual run; inf if there are too many weights.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    """
    n = problem.X.shape[1] * problem.k
    return np.inf if n > LARGEST_SYSTEM else STEPS / 2 * (problem.features.m * n**2 / 2 + n**3 / 3)


def follow_central_path(problem: JointProblem) -> Iterator[tuple[Array, Array]]:
    """Yield feasible shares S (m, k) and weights W (q, k), step by step.

    Both converge to the optimum, and W to X'T. The path ends where float64 allows no
    step.

    Parameters
    ----------
    problem : JointProblem
        Problem of positive costs.
    """
    costs = problem.costs[:, None]
    at = _Iterate(
        np.zeros((problem.X.shape[1], problem.k)),
        np.where(problem.own, 2.0, 1.0),
        np.repeat(costs / problem.k, problem.k, axis=1),
    )
    for _ in range(STEPS):
        with one_thread():
            system = _System(problem, at)
        predicted = system.solve(-at.S * at.z)
        if predicted is None:
            return
        mu, after = (float((of.S * of.z).mean()) for of in (at, _moved(at, predicted, 1.0)))
        # Mehrotra's target: mu times the cube of its predicted reduction.
        target = mu * (after / mu) ** 3
        move = system.solve(target - at.S * at.z - predicted.S * predicted.z)
        if move is None:
            return
        at = _moved(at, move, TO_BOUNDARY)
        yield at.S * (costs / at.S.sum(axis=1, keepdims=True)), at.W


def _moved(at: _Iterate, move: _Iterate, share: float) -> _Iterate:
    """Return the iterate after a share of the longest step within the bounds, at most 1."""
    shrinking = max(float((-move.S / at.S).max()), float((-move.z / at.z).max()), share)
    return _Iterate(*(a + share / shrinking * b for a, b in zip(at, move, strict=True)))


class _System:
    """Newton's equations at an iterate.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    at : _Iterate
        Iterate.
    """

    def __init__(self, problem: JointProblem, at: _Iterate) -> None:
        self.problem, self.z, self.D = problem, at.z, at.S / at.z
        self.total = self.D.sum(axis=1, keepdims=True)
        self.residual = problem.combine(at.S) - at.W
        q, k = at.W.shape
        A, rows, share = np.eye(q * k), np.arange(len(at.S)), self.D / self.total
        # D_r - D_r^2 / sum D without cancellation: the others are summed.
        diagonal = share * (self.D @ (1.0 - np.eye(k)))
        for r in range(k):
            for s in range(r + 1):
                M = diagonal[:, r] if r == s else -share[:, r] * self.D[:, s]
                A[r * q : (r + 1) * q, s * q : (s + 1) * q] += problem.features.gram(rows, M)
        # The rows of a move sum to 0, and this changes none of those. Without it A is
        # singular to rounding for large costs: for equal columns of W it is I alone.
        A += np.kron(np.full((k, k), 1 / k), np.diag(np.diag(A).reshape(k, q).mean(axis=0)))
        self.factor: tuple[Array, bool] | None = None
        with suppress(np.linalg.LinAlgError, ValueError):
            self.factor = cho_factor(A, lower=True, overwrite_a=True)

    def solve(self, target: Array) -> _Iterate | None:
        """Return the move with S dz + z dS = target; None if float64 has none."""
        if self.factor is None or not np.isfinite(target).all():
            return None
        R = target / self.z
        sums = R.sum(axis=1, keepdims=True)
        right = self.residual - self.problem.X.T @ (R - self.D * (sums / self.total))
        dW = np.ascontiguousarray(cho_solve(self.factor, right.T.ravel()).reshape(right.T.shape).T)
        dh = np.asarray(self.problem.X @ dW)
        dz = (sums + (self.D * dh).sum(axis=1, keepdims=True)) / self.total - dh
        return _Iterate(dW, dz, R - self.D * dz)
