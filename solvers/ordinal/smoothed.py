"""Smoothed losses of ordinal regression, each computed in one pass over the rows.

    c phi'(u) = min((a + sigma u)_+, top),    u_ik = margin - s_ik (f_i - b_k),
    psi_k'(v) = (m_k + tau v)_+,              v_k = b_k - b_{k+1}

A hinge has top = c, a squared slack top = inf. psi_k is the penalty of the order b_k <=
b_{k+1}. Arrays of problem rows have the shape (T, n): thresholds by points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.ordinal.machine import OrdinalProblem

STIFFEST = 1e3
"""Maximum of initial sigma x mean K_ii.

Huge costs do not imply huge multipliers.
"""
GROWTH = 4.0
"""Factor by which sigma and tau grow from one minimum to the next."""


@dataclass(frozen=True)
class SmoothedLosses:
    """Losses and their derivatives at a point.

    Parameters
    ----------
    G : ndarray of shape (T, n)
        Signed derivatives of the rows.
    beta : ndarray of shape (n,)
        Sums of G over the thresholds.
    loss : float
        Sum of the losses, not smoothed, with the thresholds made monotone.
    blur : float
        Sum over the rows of c u_+ - a u, a = |G|.
    """

    G: Array
    beta: Array
    loss: float
    blur: float


@dataclass(frozen=True)
class LossSmoothing:
    """Losses, smoothed around multipliers.

    Parameters
    ----------
    rows : ndarray of shape (4, T, n)
        Signs s, costs c, multipliers a and slopes sigma of the rows.
    margin : float
        Margin of the rows.
    squared : bool
        True if slacks are squared.
    m : ndarray of shape (T - 1,)
        Multipliers of the order.
    tau : float
        Slope of the order's penalty; 0 if no order is required.
    """

    rows: Array
    margin: float
    squared: bool
    m: Array
    tau: float

    @classmethod
    def of(cls, machine: OrdinalProblem) -> LossSmoothing:
        """Return the initial losses: squared slacks, which are smooth, or Huber's.

        Parameters
        ----------
        machine : OrdinalProblem
            Problem to solve.
        """
        S, C = machine.S.T, machine.C.T
        sigma = (
            2 * C
            if machine.squared
            else np.minimum(C / 2, STIFFEST / (float(machine.Z.squares.mean()) or 1.0))
        )
        rows = np.stack([S, C, np.zeros(C.shape) if machine.squared else sigma, sigma])
        return cls(
            rows,
            machine.margin,
            machine.squared,
            np.zeros(len(S) - 1),
            float(sigma.sum()) if machine.ordered else 0.0,
        )

    def centred(self, G: Array, m: Array) -> LossSmoothing:
        """Return the next, sharper losses, centred at new multipliers.

        Parameters
        ----------
        G : ndarray of shape (T, n)
            Signed multipliers of the rows.
        m : ndarray of shape (T - 1,)
            Multipliers of the order.
        """
        S, C, _, sigma = self.rows
        return replace(
            self, rows=np.stack([S, C, np.abs(G), GROWTH * sigma]), m=m, tau=GROWTH * self.tau
        )

    def at(self, f: Array, b: Array) -> SmoothedLosses:
        """Return the losses at function values and thresholds.

        Parameters
        ----------
        f : ndarray of shape (n,)
            Function values.
        b : ndarray of shape (T,)
            Thresholds.
        """
        G, sums = np.empty(self.rows.shape[1:]), np.zeros((3, len(f)))
        _derivatives(self.rows, self.margin, self.squared, f, b, np.maximum.accumulate(b), G, sums)
        return SmoothedLosses(G, sums[0], float(sums[1].sum()), float(sums[2].sum()))

    def along(self, f: Array, b: Array, df: Array, db: Array) -> tuple[float, float]:
        """Return first and second derivatives of losses and penalties along a direction.

        Parameters
        ----------
        f : ndarray of shape (n,)
            Function values.
        b : ndarray of shape (T,)
            Thresholds.
        df : ndarray of shape (n,)
            Direction in f.
        db : ndarray of shape (T,)
            Direction in b.
        """
        sums, falls = np.zeros((2, len(f))), db[:-1] - db[1:]
        _slopes(self.rows, self.margin, self.squared, f, b, df, db, sums)
        pulls = self.order(b)
        order = float(pulls @ falls), self.tau * float((pulls > 0) @ falls**2)
        return float(sums[0].sum()) + order[0], float(sums[1].sum()) + order[1]

    def curvature(self, f: Array, b: Array) -> Array:
        """Return the second derivatives of the rows, (T, n).

        Parameters
        ----------
        f : ndarray of shape (n,)
            Function values.
        b : ndarray of shape (T,)
            Thresholds.
        """
        A = np.empty(self.rows.shape[1:])
        _curvatures(self.rows, self.margin, self.squared, f, b, A)
        return A

    def order(self, b: Array) -> Array:
        """Return the derivatives of the order's penalty, (T - 1,).

        Parameters
        ----------
        b : ndarray of shape (T,)
            Thresholds.
        """
        return np.maximum(self.m + self.tau * (b[:-1] - b[1:]), 0.0)


@fast
def _derivatives(
    rows: Array,
    margin: float,
    squared: bool,
    f: Array,
    b: Array,
    order: Array,
    G: Array,
    sums: Array,
) -> None:
    """Write the signed derivatives to G (T, n), and add to sums (3, n).

    The sums of every point are those of the derivatives, the losses and c u_+ - a u.
    """
    beta, loss, blur = sums[0], sums[1], sums[2]
    for k in range(b.size):
        s, c, a, sigma, g = rows[0, k], rows[1, k], rows[2, k], rows[3, k], G[k]
        for i in range(f.size):
            # |g| = min((a + sigma u)_+, c), without the top c for squared slacks.
            u = margin - s[i] * (f[i] - b[k])
            alpha = larger(a[i] + sigma[i] * u, 0.0)
            alpha = alpha if squared else smaller(alpha, c[i])
            short = larger(margin - s[i] * (f[i] - order[k]), 0.0)
            g[i] = s[i] * alpha
            beta[i] += g[i]
            loss[i] += c[i] * (short * short if squared else short)
            blur[i] += c[i] * larger(u, 0.0) - alpha * u


@fast
def _slopes(
    rows: Array, margin: float, squared: bool, f: Array, b: Array, df: Array, db: Array, sums: Array
) -> None:
    """Add every point's first and second loss derivatives along df, db to sums (2, n)."""
    slope, curved = sums[0], sums[1]
    for k in range(b.size):
        s, c, a, sigma = rows[0, k], rows[1, k], rows[2, k], rows[3, k]
        for i in range(f.size):
            inner = a[i] + sigma[i] * (margin - s[i] * (f[i] - b[k]))
            alpha = larger(inner, 0.0)
            alpha = alpha if squared else smaller(alpha, c[i])
            # Along df, db: u' = -s (df - db_k), slope |g| u', curvature sigma u'^2 or 0.
            du = -s[i] * (df[i] - db[k])
            slope[i] += alpha * du
            curved[i] += sigma[i] * du * du if alpha == inner else 0.0


@fast
def _curvatures(rows: Array, margin: float, squared: bool, f: Array, b: Array, A: Array) -> None:
    """Write the second derivatives of the rows to A (T, n)."""
    for k in range(b.size):
        s, c, a, sigma, curved = rows[0, k], rows[1, k], rows[2, k], rows[3, k], A[k]
        for i in range(f.size):
            inner = a[i] + sigma[i] * (margin - s[i] * (f[i] - b[k]))
            alpha = larger(inner, 0.0)
            alpha = alpha if squared else smaller(alpha, c[i])
            # The second derivative is sigma where neither 0 nor the top c is active.
            curved[i] = sigma[i] if alpha == inner else 0.0
