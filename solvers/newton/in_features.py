"""Newton's method in the features of f: v = (w, b), with the system of `hessian.py`.

Z are the features, with a column of ones for a free bias. R = diag(1, ..., 1, r) gives
|f|^2 = v'R v; r is 0 for a free bias, and 1 for the constant of a penalised one. The
gradient is R v - Z'A'alpha.

For a kernel without explicit features, features are computed from K. They omit a
negligible part of K; the objective values are therefore computed by the kernel itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.slacks import Line, Slacks
from equimargin.solvers.newton.base import LossAtIterate, Move, NewtonIterate, Unknowns
from equimargin.solvers.newton.hessian import NewtonSystem, stored
from equimargin.solvers.newton.settle import settle_curved_rows
from equimargin.solvers.progress import DualConvergenceMonitor, initial_function
from equimargin.solvers.threads import one_thread


@dataclass(frozen=True, eq=False)
class Weights(Unknowns):
    """Variables v = (w, b).

    Parameters
    ----------
    Z : Explicit of shape (m, q)
        Features.
    R : ndarray of shape (q,)
        Diagonal R of the module's formula.
    system : NewtonSystem
        Newton's system in these features.
    """

    Z: Explicit
    R: Array
    system: NewtonSystem

    @classmethod
    def of(cls, problem: MarginProblem, by_row: bool) -> Self:
        """Return the variables for features that are explicit or computed from K.

        Parameters
        ----------
        problem : MarginProblem
            Problem to solve.
        by_row : bool
            True to evaluate pairs of labels one by one.
        """
        if problem.explicit is None:
            # If other programs use the cores, several threads spend ten times as long
            # waiting for each other.
            with one_thread():
                Z = Explicit(problem.features(), problem.bias)
        else:
            own = problem.explicit
            X, constant = stored(own.X, problem.rows), own.constant or problem.bias
            # The same dense features have their squares already; for sparse ones, a run
            # may store a dense copy, which must not outlive it.
            shared = not own.sparse and X is own.X and constant == own.constant
            Z = own if shared else Explicit(X, constant)
        R = np.ones(Z.q)
        R[Z.q - problem.bias :] = 0.0
        return cls(problem, by_row, Z, R, NewtonSystem(problem, Z, R))

    @cached_property
    def features(self) -> int:
        """Number of entries of v without a free bias."""
        return self.Z.q - self.problem.bias

    def start(self, point: Point) -> NewtonIterate:
        problem, Z, free = self.problem, self.Z, self.features
        v, f = np.zeros(Z.q), np.zeros(Z.m)
        function = initial_function(point, problem)
        v[:free] = function if problem.explicit is not None else Z.rdot(function)[:free]
        if v.any():
            f = Z @ v
        # The point may be that of a problem with a bias, even if this one has none.
        own = point.b if problem.bias else None
        b = problem.bias_at(f) if own is None or not np.isfinite(own) else own
        v[free:] = b
        return NewtonIterate(v, self.R * v, self.slacks_at(f + b))

    def look(
        self, at: NewtonIterate, phi: Loss, last: LossAtIterate | None = None
    ) -> LossAtIterate:
        rows = at.slacks.expanded(phi)
        pull = self._pull(rows.alpha, last)
        G = at.image - pull
        return LossAtIterate(at, phi, rows, pull, G, G)

    def _pull(self, alpha: Any, last: LossAtIterate | None) -> Array:
        """Return Z'A'alpha, as an update of the last one if few multipliers have changed.

        Most multipliers of a hinge stay at their bounds, and the product skips zeros.
        """
        rows = self.problem.rows
        if last is not None and isinstance(alpha, np.ndarray):
            change = alpha - last.rows.alpha
            if 2 * np.count_nonzero(change) < np.count_nonzero(alpha):
                return np.asarray(last.pull + self.Z.rdot(rows.rdot(change)))
        return self.Z.rdot(rows.rdot(alpha))

    def show(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        problem, at, free = self.problem, seen.at, self.features
        if problem.explicit is None:
            return self._show_by_kernel(seen, progress)
        (loss, conjugate), alpha, pull, w = self.sums(seen), seen.rows.alpha, seen.pull, at.v[:free]
        if problem.bias:
            alpha = problem.repaired(alpha)
            pull, conjugate = (
                self.Z.rdot(problem.rows.rdot(alpha)),
                float(problem.conjugate(alpha).sum()),
            )
        primal = float(w @ w) / 2 + loss
        dual = (
            problem.rows.multipliers(alpha).gain()
            - float(pull[:free] @ pull[:free]) / 2
            - conjugate
        )
        point = Point(w=w, b=float(at.v[free]) if problem.bias else 0.0, alpha=alpha)
        return progress.weigh(point, primal, dual, at.steps, at.moved)

    def _show_by_kernel(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        """Pass a point to the monitor with both values computed by the kernel.

        Its f is that of A'alpha if the features omit too much of the f of v.
        """
        problem, at, free, gram = self.problem, seen.at, self.features, self.problem.gram
        alpha, b = problem.repaired(seen.rows.alpha), float(at.v[free]) if problem.bias else 0.0
        point, pulled = problem.point_of_w(at.v[:free], b, alpha), problem.rows.rdot(alpha)
        beta = np.zeros(problem.m) if point.beta is None else point.beta
        f, f_alpha = gram @ beta, gram @ pulled
        primal, dual = (
            problem.primal(f, float(beta @ f), b),
            problem.dual(alpha, float(pulled @ f_alpha)),
        )
        b_alpha = problem.bias_at(f_alpha)
        primal_alpha = problem.primal(f_alpha, float(pulled @ f_alpha), b_alpha)
        if primal_alpha < primal:
            point, primal = Point(beta=pulled, b=b_alpha, alpha=alpha), primal_alpha
        return progress.weigh(point, primal, dual, at.steps, at.moved)

    def move(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Move:
        s = self.system.solve(seen, progress)
        return Move(
            s, self.Z @ s, float(seen.at.image @ s), float(self.R * s @ s), float(seen.G @ s)
        )

    def arrive(self, v: Array, line: Line, t: float) -> tuple[Array, Slacks]:
        return self.R * v, line.to(t)

    def gradient_share(self, seen: LossAtIterate, unit: float) -> float:
        free, G = self.R == 0.0, seen.G
        return float(G[~free] @ G[~free]) / 2 + unit * float(np.abs(G[free]).sum())

    def settle(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        return self.by_row and settle_curved_rows(self.problem, self.Z, self.R, seen, progress)
