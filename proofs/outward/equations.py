"""Solutions of independent linear equations near any point, enclosed in floats.

With positive weights, C is the matrix of the equations E v = e with column j times
weight_j and with rows of length near 1. If C C' - s I is positive definite, then every
point v has a solution whose entries differ from it by at most

    weight_j |e - E v| / sqrt(s),

the residual being scaled like the rows of C. All columns of positive weight take part,
and so s is far larger than with a basis.

References
----------
S. M. Rump, Verification of positive definiteness, BIT 46 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.exact_sums import sum_rows
from equimargin.formulations.numeric.rounding import SMALLEST, UNIT, gamma_n
from equimargin.proofs.outward.convexity import is_definite
from equimargin.proofs.outward.ends import Ball

MAX_EQUATIONS = 3000
"""Maximum number of equations: their factor is dense."""
POWER_STEPS = 15
"""Steps of the power method towards the smallest eigenvalue."""
SHARES = (0.5, 0.1, 0.01)
"""Shares of the estimate of the smallest eigenvalue that are tried as s."""
LOST = 1e-150
"""Bound of what squares, products and scaled entries lose by underflow."""
CORRECTIONS = 2
"""Number of steps towards the solution."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations E v = e, whose solutions near any point are known to exist.

    Parameters
    ----------
    E : sparse array of shape (k, n)
        Matrix in CSR form.
    e : ndarray of shape (k,)
        Right-hand side.
    weight : ndarray of shape (n,)
        Relative changes of the variables, powers of two or 0.
    C : sparse array of shape (k, n)
        Scaled matrix.
    lengths : ndarray of shape (k,)
        Scale of every row, a power of two.
    factor : tuple
        Cholesky factor of C C'.
    smallest : float
        Proven lower bound s of the eigenvalues of C C'.
    """

    E: Any
    e: Array
    weight: Array
    C: Any
    lengths: Array
    factor: Any
    smallest: float

    @classmethod
    @np.errstate(all="ignore")
    def factored(cls, E: Any, e: Array, weight: Array) -> Equations | None:
        """Return the equations, or None if they are not proven to be independent.

        Parameters
        ----------
        E : sparse array of shape (k, n)
            Matrix in CSR form.
        e : ndarray of shape (k,)
            Right-hand side.
        weight : ndarray of shape (n,)
            Relative changes of the variables, powers of two or 0.
        """
        from scipy import sparse
        from scipy.linalg import LinAlgError, cho_factor

        k = len(e)
        if k == 0:
            return cls(E, e, weight, E, np.zeros(0), None, 1.0)
        if k > MAX_EQUATIONS:
            return None
        # Powers of two make C exact.
        scaled = sparse.csr_array(E * weight[None, :])
        lengths = power_of_two(np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()))
        if not ((lengths > 0) & np.isfinite(lengths)).all():
            return None
        C = sparse.csr_array(scaled.multiply(1 / lengths[:, None]))
        gram = (C @ C.T).toarray()
        try:
            factor = cho_factor(gram, check_finite=False)
        except LinAlgError:
            return None
        smallest = _smallest_eigenvalue(gram, C, factor)
        return None if smallest is None else cls(E, e, weight, C, lengths, factor, smallest)

    @np.errstate(all="ignore")
    def nearest(self, v: Array) -> Array:
        """Return a point near v that nearly solves the equations.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Point.
        """
        from scipy.linalg import cho_solve

        if not len(self.e):
            return v
        for _ in range(CORRECTIONS):
            residual = sum_rows(self.e, (self.E, v), way=-1)[0] / self.lengths
            v = v + self.weight * (self.C.T @ cho_solve(self.factor, residual, check_finite=False))
        return v

    @np.errstate(all="ignore")
    def ball(self, v: Array) -> Ball:
        """Return a ball around v that contains a solution of the equations.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Point.
        """
        if not len(self.e):
            return Ball.point(v)
        residual, errors = sum_rows(self.e, (self.E, v), way=-1)
        sizes = (np.abs(residual) + errors) / self.lengths
        if not residual.any() and not errors.any():
            return Ball.point(v)
        # The sum of the squares, its root and the quotient are rounded, or underflow.
        norm = float(np.linalg.norm(sizes)) + len(sizes) * LOST
        distance = norm / np.sqrt(self.smallest)
        radius = self.weight * (distance * (1 + (len(sizes) + 16) * 2 * UNIT))
        return Ball(v, np.where(self.weight > 0, radius + SMALLEST, 0.0))


def power_of_two(v: Array) -> Array:
    """Return the largest powers of two that are at most v; v itself for 0 and inf.

    Parameters
    ----------
    v : ndarray
        Numbers >= 0.
    """
    # `exp2` may round, `ldexp` is exact.
    return np.where(np.isinf(v), v, np.where(v > 0, np.ldexp(1.0, np.frexp(v)[1] - 1), 0.0))


def _smallest_eigenvalue(gram: Array, C: Any, factor: Any) -> float | None:
    """Return a proven lower bound of the eigenvalues of C C', near gram, or None."""
    from scipy.linalg import cho_solve

    k, u = len(gram), np.random.default_rng(0).normal(size=len(gram))
    for _ in range(POWER_STEPS):
        u = cho_solve(factor, u / np.linalg.norm(u), check_finite=False)
    terms = int(np.diff(C.indptr).max(initial=0))
    # |gram - C C'| <= gamma |C||C'|, whose norm is at most the sum of the squares of C.
    error = gamma_n(terms + 2) * float((C.data**2).sum()) * (1 + (C.nnz + 2) * UNIT) + C.nnz * LOST
    for share in SHARES:
        shift = share / float(np.linalg.norm(u))
        lowered = gram.copy()
        lowered[np.diag_indices(k)] -= shift
        # The diagonal is rounded once.
        least = shift - error - 2 * UNIT * float(gram.diagonal().max())
        if least > shift / 2 and is_definite(lowered):
            return float(least * (1 - 4 * UNIT))
    return None
