"""Face of the hard dual: a pool's active rows, factorised, and its least-norm f.

    f = argmin { |f| : A_S f = 1 },   alpha_S = G_S^-1 1,   G = A K A'

With explicit features, (A_S Z)' is stored as Q R. This does not square the condition
number, whereas Gram matrices of total orders lose all digits. With a kernel, a Cholesky
factor of G_S is stored, and multipliers are refined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief
from equimargin.formulations.numeric.rounding import UNIT

FIRST_CAPACITY = 64
"""Initial capacity of a factor in active rows; it doubles when exhausted."""
ROUNDED_PIVOT = 8.0
"""Pivot up to which a row counts as dependent, in units of the rounding of K_ii."""
REFINEMENTS = 3
"""Number of iterative refinements of the multipliers of a kernel's face."""


class Face(ABC):
    """Active rows of a pool of k rows.

    Attributes
    ----------
    S : list[int]
        Active rows, in the order of the factor.
    """

    def __init__(self) -> None:
        self.S: list[int] = []
        self._R = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))
        self._Q = np.zeros((0, FIRST_CAPACITY))

    @property
    def R(self) -> Array:
        """Triangular factor of shape (s, s): R'R = G_S."""
        return self._R[: len(self.S), : len(self.S)]

    @abstractmethod
    def towards(self, n: int) -> tuple[Array, float, bool]:
        """Return the projection of row n on the active rows.

        Parameters
        ----------
        n : int
            Row of the pool.

        Returns
        -------
        r : ndarray of shape (s,)
            Coefficients G_S^-1 g.
        square : float
            |z|^2 of z = phi_n - sum r_s phi_s.
        flat : bool
            True if z is within rounding error of 0.
        """

    @abstractmethod
    def append(self, n: int) -> None:
        """Make row n, independent of the active rows, the last active one.

        Parameters
        ----------
        n : int
            Row of the pool.
        """

    @abstractmethod
    def restart(self, S: list[int]) -> None:
        """Factorise anew, with a maximal independent part of these rows active.

        Parameters
        ----------
        S : list[int]
            Rows of the pool.
        """

    @abstractmethod
    def multipliers(self) -> Array:
        """Return alpha_S, (s,), of either sign."""

    @abstractmethod
    def margins(self, alpha: Array) -> Array:
        """Return the margins of all rows of the pool, (k,), at the f of the face.

        Parameters
        ----------
        alpha : ndarray
            Multipliers of the active rows.
        """

    def take_over(self, face: Face) -> None:
        """Set the active rows and factor to those of another face.

        Parameters
        ----------
        face : Face
            Face whose pool is the beginning of this face's pool.
        """
        self.S, self._R, self._Q = face.S, face._R, face._Q

    def drop(self, place: int) -> None:
        """Remove the active row at a position.

        Parameters
        ----------
        place : int
            Position in S.
        """
        _drop(self._R, self._Q, place, len(self.S))
        self.S.pop(place)

    def _solve(self, v: Array, transposed: bool) -> Array:
        """Return R^-1 v, or R^-T v."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.R, v, trans=int(transposed), check_finite=False))

    def _grow(self) -> None:
        """Increase the capacity if it does not suffice for one more active row."""
        if len(self.S) < len(self._R):
            return
        size = 2 * len(self._R)
        R, Q = np.zeros((size, size)), np.zeros((len(self._Q), size))
        R[: len(self._R), : len(self._R)] = self._R
        Q[:, : len(self._R)] = self._Q
        self._R, self._Q = R, Q


class FeatureFace(Face):
    """Face with the factorisation D_S' = Q R, for explicit features.

    Parameters
    ----------
    D : ndarray of shape (k, q)
        Rows A Z of the pool.
    """

    def __init__(self, D: Array) -> None:
        super().__init__()
        self.D = D
        self._sizes = np.sqrt(np.einsum("ij,ij->i", D, D))
        self._Q = np.zeros((D.shape[1], FIRST_CAPACITY))

    @property
    def Q(self) -> Array:
        """Orthonormal columns, shape (q, s)."""
        return self._Q[:, : len(self.S)]

    def _projected(self, n: int) -> tuple[Array, Array]:
        """Return the coefficients of a row in Q, and the remainder.

        Two passes of Gram-Schmidt suffice.
        """
        d = self.D[n]
        c = self.Q.T @ d
        z = d - self.Q @ c
        again = self.Q.T @ z
        return c + again, z - self.Q @ again

    def towards(self, n: int) -> tuple[Array, float, bool]:
        c, z = self._projected(n)
        r = self._solve(c, False) if self.S else c
        size = float(np.sqrt(z @ z))
        noise = 16 * UNIT * (self._sizes[n] + np.abs(r) @ self._sizes[self.S])
        return r, size**2, size <= noise

    def append(self, n: int) -> None:
        c, z = self._projected(n)
        self._grow()
        s, size = len(self.S), float(np.sqrt(z @ z))
        self._R[:s, s], self._R[s, s], self._Q[:, s] = c, size, z / size
        self.S.append(n)

    def restart(self, S: list[int]) -> None:
        self.S = []
        for n in S:
            if not self.towards(n)[2]:
                self.append(n)

    @property
    def w(self) -> Array:
        """Least-norm w with margins of 1 on the active rows, shape (q,)."""
        if not self.S:
            return np.zeros(self.D.shape[1])
        w = self.Q @ self._solve(np.ones(len(self.S)), True)
        return np.asarray(w + self.Q @ self._solve(1.0 - self.D[self.S] @ w, True))

    def multipliers(self) -> Array:
        if not self.S:
            return np.zeros(0)
        v = self.Q.T @ self.w
        return self._solve(v, False)

    def margins(self, alpha: Array) -> Array:
        return np.asarray(self.D @ self.w)


class KernelFace(Face):
    """Face with a Cholesky factor of G_S.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        Matrix A K A' of the pool.
    scale : float
        Largest K_ii, in units of which the entries of G are rounded.
    """

    def __init__(self, G: Array, scale: float) -> None:
        super().__init__()
        self.G, self.scale = G, scale
        self._H = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))

    @property
    def H(self) -> Array:
        """Gram matrix G_S of the active rows, shape (s, s)."""
        return self._H[: len(self.S), : len(self.S)]

    def take_over(self, face: Face) -> None:
        super().take_over(face)
        assert isinstance(face, KernelFace)
        self._H = face._H

    def drop(self, place: int) -> None:
        s = len(self.S)
        self._H[:s, place : s - 1] = self._H[:s, place + 1 : s].copy()
        self._H[place : s - 1, :s] = self._H[place + 1 : s, :s].copy()
        super().drop(place)

    def _grow(self) -> None:
        super()._grow()
        if len(self._H) < len(self._R):
            H = np.zeros_like(self._R)
            H[: len(self._H), : len(self._H)] = self._H
            self._H = H

    def towards(self, n: int) -> tuple[Array, float, bool]:
        own = float(self.G[n, n])
        if not self.S:
            return np.zeros(0), max(own, 0.0), own <= ROUNDED_PIVOT * UNIT * self.scale
        g = self.G[self.S, n]
        r = self._solve(self._solve(g, True), False)
        r = r + self._solve(self._solve(g - self.H @ r, True), False)
        square = own - float(g @ r)
        noise = ROUNDED_PIVOT * UNIT * self.scale * (1.0 + float(np.abs(r).sum()))
        return r, max(square, 0.0), square <= noise

    def append(self, n: int) -> None:
        self._grow()
        s, g = len(self.S), self.G[self.S, n]
        c = self._solve(g, True) if s else np.zeros(0)
        self._H[:s, s], self._H[s, :s], self._H[s, s] = g, g, self.G[n, n]
        self._R[:s, s] = c
        self._R[s, s] = np.sqrt(max(float(self.G[n, n] - c @ c), np.finfo(np.float64).tiny))
        self.S.append(n)

    def restart(self, S: list[int]) -> None:
        from scipy.linalg.lapack import dpstrf

        self.S = []
        if not S:
            return
        R, order, rank, _ = dpstrf(self.G[np.ix_(S, S)], tol=ROUNDED_PIVOT * UNIT * self.scale)
        while len(self._R) <= rank:
            self.S = list(range(len(self._R)))
            self._grow()
        self._R[:rank, :rank] = np.triu(R[:rank, :rank])
        self.S = [S[k - 1] for k in order[:rank].tolist()]
        self._H[:rank, :rank] = self.G[np.ix_(self.S, self.S)]

    def multipliers(self) -> Array:
        if not self.S:
            return np.zeros(0)
        alpha = np.zeros(len(self.S))
        for _ in range(1 + REFINEMENTS):
            alpha = alpha + self._solve(self._solve(1.0 - self.H @ alpha, True), False)
        return alpha

    def margins(self, alpha: Array) -> Array:
        every = np.zeros(len(self.G))
        every[self.S] = alpha
        return np.asarray(self.G @ every)


@brief
def _drop(R: Array, Q: Array, place: int, size: int) -> None:
    """Remove column `place` of R, where D' = Q R, by Givens rotations.

    R is (size, size), Q is (q, size); both are modified in place.
    """
    for j in range(place, size - 1):
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    # Rotate rows j, j + 1 of R, and columns j, j + 1 of Q, so that R[j + 1, j] becomes
    # 0:
    #     (r_j, r_j+1) <- (c r_j + s r_j+1, c r_j+1 - s r_j),   (c, s) = (a, b) / |(a, b)|
    for j in range(place, size - 1):
        a, b = R[j, j], R[j + 1, j]
        length = np.hypot(a, b)
        cosine, sine = (a / length, b / length) if length > 0 else (1.0, 0.0)
        for column in range(j, size - 1):
            a, b = R[j, column], R[j + 1, column]
            R[j, column], R[j + 1, column] = cosine * a + sine * b, cosine * b - sine * a
        for i in range(Q.shape[0]):
            a, b = Q[i, j], Q[i, j + 1]
            Q[i, j], Q[i, j + 1] = cosine * a + sine * b, cosine * b - sine * a
    for i in range(size):
        R[i, size - 1], R[size - 1, i] = 0.0, 0.0
