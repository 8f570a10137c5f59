"""Conjugate gradients for the systems of a face whose matrix has no room or no factor.

    (K + diag(ridge)) d = v    at n free points

A product takes one pass over the entries of K, which are computed and not stored. The
preconditioner is that of Nystroem: with s of the points as landmarks, B = K[:, s] and
S = K[s, s],

    P  =  B S^-1 B' + mu I,    P^-1  =  (I - B (mu S + B'B)^-1 B') / mu,

with mu the mean of what is left of the diagonal. Runs end after a fixed number of
steps, at the time limit, or when the preconditioned residual is small: an early end
gives a direction in which the objective still increases.

References
----------
J. Nocedal, S. Wright. Numerical Optimization, algorithm 5.3.

C. Williams, M. Seeger. Using the Nystroem method to speed up kernel machines (2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.dual.newton_on_face import FaceFactor, Factorisation
from equimargin.solvers.products.tiles import Tiles

MOST_STEPS = 100
"""Maximum number of steps for one system; each takes a product."""
STEPS_EXPECTED = 30
"""Steps assumed when an attempt is compared with pair steps."""
RESIDUAL = 1e-4
"""Reduction of the preconditioned residual at which a run ends."""
LANDMARKS = 1024
"""Maximum number of landmarks; B takes 8 MB for 1,000 points."""
FEWEST_LANDMARKS = 16
"""Number of landmarks below which a large face is left to pair steps."""
ARRAYS_OF_LANDMARKS = 4
"""Arrays of the size of B in memory at a time."""
SMALLEST_REST = 1e-8
"""Minimum of mu, relative to the mean of the diagonal."""


@dataclass(frozen=True)
class ImplicitFace:
    """K[rows, columns], with a ridge on the diagonal of K, as an operator.

    It has the products and the parts of a matrix that `maximise_on_face` takes.

    Parameters
    ----------
    tiles : Tiles
        K, in the precision of the products.
    ridge : ndarray of shape (m,)
        Ridge of every point.
    rows, columns : ndarray of int
        Points.
    """

    tiles: Tiles
    ridge: Array
    rows: Index
    columns: Index

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> ImplicitFace:
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        return ImplicitFace(self.tiles, self.ridge, self.rows[rows], self.columns[columns])

    def __matmul__(self, v: Array) -> Array:
        own = np.zeros_like(self.ridge)
        own[self.columns] = v
        f = self.tiles.product(self.columns, v, self.rows)
        image: Array = f + (self.ridge * own)[self.rows]
        return image


@dataclass(frozen=True)
class ConjugateGradients:
    """Solver of a face's systems, in the place of its Cholesky factor.

    Parameters
    ----------
    H : ImplicitFace
        Matrix.
    B : ndarray of shape (n, s)
        K at the points and the landmarks.
    inner : FaceFactor
        Factor of mu S + B'B.
    rest : float
        mu.
    out_of_time : callable
        Returns True if the run must end.
    """

    H: ImplicitFace
    B: Any
    inner: FaceFactor
    rest: float
    out_of_time: Callable[[], bool]

    @classmethod
    def of(
        cls,
        H: ImplicitFace,
        diagonal: Array,
        landmarks: int,
        factor: Factorisation,
        out_of_time: Callable[[], bool],
    ) -> ConjugateGradients | None:
        """Return the solver of a face's systems; None out of time.

        Parameters
        ----------
        H : ImplicitFace
            Square matrix.
        diagonal : ndarray of shape (m,)
            Diagonal of K.
        landmarks : int
            Maximum number of landmarks.
        factor : callable
            Factorises a matrix of the landmarks.
        out_of_time : callable
            Returns True if the run must end.
        """
        n, places = len(H), np.flatnonzero(np.ones_like(H.rows[:landmarks]))
        # At equal distances: the order of the points says nothing about them.
        places = places * n // len(places)
        points = H.rows[places]
        B = H.tiles.block(H.rows, points).astype(np.float64)
        S = B[places]
        factor_of_S = factor(S, out_of_time)
        if factor_of_S is None:
            return None
        own, size = diagonal[H.rows], float(abs(diagonal).mean())
        left = float((own - (B * factor_of_S.solve(B.T).T).sum(axis=1)).mean())
        rest = float(H.ridge[H.rows].mean()) + max(left, SMALLEST_REST * size)
        inner = factor(rest * S + B.T @ B, out_of_time)
        return None if inner is None else cls(H, B, inner, rest, out_of_time)

    def solve(self, v: Array) -> Array:
        """Return an approximate solution of H d = v.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Right-hand side.
        """
        d, residual = np.zeros_like(v), v.copy()
        step = z = self._preconditioned(residual)
        size = first = float(residual @ z)
        for _ in range(MOST_STEPS):
            if not size > RESIDUAL**2 * first or self.out_of_time():
                break
            image = self.H @ step
            curvature = float(step @ image)
            if not 0.0 < curvature < math.inf:
                break
            d += size / curvature * step
            residual -= size / curvature * image
            z = self._preconditioned(residual)
            size, before = float(residual @ z), size
            step = z + size / before * step
        return d

    def _preconditioned(self, v: Array) -> Array:
        w: Array = (v - self.B @ self.inner.solve(self.B.T @ v)) / self.rest
        return w


def count_landmarks(spare: float, m: int) -> int:
    """Return the landmarks for which a device has memory.

    Parameters
    ----------
    spare : float
        Bytes that are free.
    m : int
        Number of points, of which all may be free.
    """
    return int(min(LANDMARKS, max(spare, 0.0) / (8.0 * ARRAYS_OF_LANDMARKS * m)))
