"""A face of the hard dual: the rows that are active among those of a pool, factorised, and the least f that has margins of 1 on them.

    f = argmin { |f| : A_S f = 1 },   alpha_S = G_S^-1 1,   G = A K A'

With features the rows A Z of S are kept as Q R. That does not square their condition,
where Gram matrices of total orders leave no digit. With a kernel there is a Cholesky
factor of G_S, and multipliers are refined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief
from equimargin.formulations.numeric.rounding import UNIT

FIRST_CAPACITY = 64
"""Active rows that a factor has room for at first; it doubles when they are more."""
ROUNDED_PIVOT = 8.0
"""Pivot of a Gram matrix, in units of the rounding of K_ii, up to which a row counts as dependent."""
REFINEMENTS = 3
"""Steps of iterative refinement of the multipliers of a kernel's face."""


class Face(ABC):
    """Active rows of a pool of k rows.

    Parameters
    ----------
    S : list[int]
        The active rows, in the order of the factor.
    """

    def __init__(self) -> None:
        self.S: list[int] = []
        self._R = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))
        self._Q = np.zeros((0, FIRST_CAPACITY))

    @property
    def R(self) -> Array:
        """The triangular factor, (s, s): R'R = G_S."""
        return self._R[: len(self.S), : len(self.S)]

    @abstractmethod
    def towards(self, n: int) -> tuple[Array, float, bool]:
        """How row n lies to the active ones: r = G_S^-1 g, (s,); |z|^2 of z = phi_n - sum r_s phi_s; whether z is no more than rounding."""

    @abstractmethod
    def append(self, n: int) -> None:
        """Make row n, which does not depend on the active rows, the last active one."""

    @abstractmethod
    def restart(self, S: list[int]) -> None:
        """Factorise afresh, with those of these rows active that do not depend on the others."""

    @abstractmethod
    def multipliers(self) -> Array:
        """alpha_S, (s,), of either sign."""

    @abstractmethod
    def margins(self, alpha: Array) -> Array:
        """The margins of all rows of the pool, (k,), at the f of the face, whose multipliers are alpha."""

    def take_over(self, face: Face) -> None:
        """Make the active rows of another face, whose pool is the beginning of this one, the active ones here."""
        self.S, self._R, self._Q = face.S, face._R, face._Q

    def drop(self, place: int) -> None:
        """Take away the active row at this place."""
        _drop(self._R, self._Q, place, len(self.S))
        self.S.pop(place)

    def _solve(self, v: Array, transposed: bool) -> Array:
        """R^-1 v, or R^-T v."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.R, v, trans=int(transposed), check_finite=False))

    def _grow(self) -> None:
        """Make room for one more active row."""
        if len(self.S) < len(self._R):
            return
        size = 2 * len(self._R)
        R, Q = np.zeros((size, size)), np.zeros((len(self._Q), size))
        R[: len(self._R), : len(self._R)] = self._R
        Q[:, : len(self._R)] = self._Q
        self._R, self._Q = R, Q


class FeatureFace(Face):
    """A face by D_S' = Q R, for features.

    Parameters
    ----------
    D : ndarray of shape (k, q)
        The rows A Z of the pool.
    """

    def __init__(self, D: Array) -> None:
        super().__init__()
        self.D = D
        self._sizes = np.sqrt(np.einsum("ij,ij->i", D, D))
        self._Q = np.zeros((D.shape[1], FIRST_CAPACITY))

    @property
    def Q(self) -> Array:
        """(q, s) orthonormal columns."""
        return self._Q[:, : len(self.S)]

    def _projected(self, n: int) -> tuple[Array, Array]:
        """Coefficients in Q, and what is left of the row: by Gram-Schmidt twice, which is enough."""
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
        """f, (q,): the least w with margins of 1 on the active rows."""
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
    """A face by a Cholesky factor of G_S.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        A K A' of the pool.
    scale : float
        The largest K_ii, whose rounding the entries of G carry.
    """

    def __init__(self, G: Array, scale: float) -> None:
        super().__init__()
        self.G, self.scale = G, scale
        self._H = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))

    @property
    def H(self) -> Array:
        """G_S, (s, s)."""
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
    """Take a column out of R (size, size) of D' = Q R by Givens rotations, which Q (q, size) takes along."""
    for j in range(place, size - 1):
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
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
