"""Kernels that are sums, products and multiples of other kernels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.kernel import Kernel, set_number
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    find_unit,
    multiply_rounded,
    round_toward,
)


@dataclass(frozen=True)
class Composite(Kernel):
    """Base of the kernels that are computed from kernels of points, their parts."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]:
        """Kernels of which this one consists."""

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, Kernel) or part.given:
                raise ValueError(
                    f"the parts of a combined kernel must be kernels of points, such as rbf(), not "
                    f"{format_value(part)}; add or multiply Gram matrices before you pass them"
                )

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """True if all parts are positive semidefinite."""
        return all(part.positive_semidefinite for part in self.parts)

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """True if a part is defined only for features of at least 0."""
        return any(part.nonnegative for part in self.parts)


@dataclass(frozen=True)
class Sum(Composite):
    """k(x, z) + l(x, z) of two kernels, as `first + second` makes it.

    Parameters
    ----------
    first, second : Kernel
        Kernels k and l of points.

    Raises
    ------
    ValueError
        If one of them is none.
    """

    first: Kernel
    second: Kernel

    name = "sum"

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.first, self.second

    def block(self, X: Features, Z: Features) -> Array:
        return np.asarray(self.first.block(X, Z) + self.second.block(X, Z))

    def diagonal(self, X: Features) -> Array:
        return np.asarray(self.first.diagonal(X) + self.second.diagonal(X))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Bound E v by the bounds of both parts, plus u |K| v for the sum.

        Parameters
        ----------
        X, Z : ndarray or sparse array of shape (n, d) and (m, d)
            Points.
        K : ndarray of shape (n, m)
            Computed entries of the sum.
        v : ndarray of shape (m,)
            Weights of the entries' errors, at least 0.

        Returns
        -------
        ndarray of shape (n,)
            Upper bound of E v.
        """
        bound = 2 * find_unit(K) * (np.abs(K) @ v)
        for part in self.parts:
            bound = bound + part.rounding(X, Z, part.block(X, Z), v)
        return np.asarray(bound)

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(
            round_toward(self.first.diagonal_bound(X) + self.second.diagonal_bound(X), 1)
        )


@dataclass(frozen=True)
class Product(Composite):
    """k(x, z) l(x, z) of two kernels, as `first * second` makes it.

    It is positive semidefinite if both kernels are (Schur's product theorem).

    Parameters
    ----------
    first, second : Kernel
        Kernels k and l of points.

    Raises
    ------
    ValueError
        If one of them is none.
    """

    first: Kernel
    second: Kernel

    name = "product"

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.first, self.second

    def block(self, X: Features, Z: Features) -> Array:
        return np.asarray(self.first.block(X, Z) * self.second.block(X, Z))

    def diagonal(self, X: Features) -> Array:
        return np.asarray(self.first.diagonal(X) * self.second.diagonal(X))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Bound E v by the bounds E_k and E_l of the parts.

        The error of k l before its rounding, which adds u |K| + eta, is at most |k| E_l
        + |l| E_k + E_k E_l. Of a positive semidefinite kernel, |k(x, z)| is at most the
        root of k(x, x) k(z, z), and every entry of E_k at most the sum of its row.

        Parameters
        ----------
        X, Z : ndarray or sparse array of shape (n, d) and (m, d)
            Points.
        K : ndarray of shape (n, m)
            Computed entries of the product.
        v : ndarray of shape (m,)
            Weights of the entries' errors, at least 0.

        Returns
        -------
        ndarray of shape (n,)
            Upper bound of E v; NaN if a part is not positive semidefinite.
        """
        if not self.positive_semidefinite:
            return np.full(len(K), np.nan)
        k, other = ((part, part.block(X, Z)) for part in self.parts)

        def error(part: tuple[Kernel, Array], weights: Array) -> Array:
            return part[0].rounding(X, Z, part[1], weights)

        def times(part: tuple[Kernel, Array], second: tuple[Kernel, Array]) -> Array:
            """Return a bound of the first part's |entries| times the errors of the second."""
            left, right = (np.sqrt(part[0].diagonal_bound(points)) for points in (X, Z))
            return np.asarray(
                multiply_rounded(left, error(second, multiply_rounded(right, v, 1)), 1)
            )

        both = multiply_rounded(error(k, np.ones(len(v))), error(other, v), 1)
        product = 2 * find_unit(K) * (np.abs(K) @ v) + 2 * SMALLEST * v.sum()
        return np.asarray(times(k, other) + times(other, k) + both + product)

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(
            multiply_rounded(self.first.diagonal_bound(X), self.second.diagonal_bound(X), 1)
        )


@dataclass(frozen=True)
class Multiple(Composite):
    """c k(x, z), as `c * kernel` makes it.

    Parameters
    ----------
    factor : float
        Factor c, positive and finite.
    kernel : Kernel
        Kernel k of points.

    Raises
    ------
    ValueError
        If the factor is no such number, or the kernel none.
    """

    factor: float
    kernel: Kernel

    name = "multiple"

    def __post_init__(self) -> None:
        set_number(self, "factor", "positive and finite", lambda v: 0 < v < np.inf)
        super().__post_init__()

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def block(self, X: Features, Z: Features) -> Array:
        return np.asarray(self.factor * self.kernel.block(X, Z))

    def diagonal(self, X: Features) -> Array:
        return np.asarray(self.factor * self.kernel.diagonal(X))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Bound E v by c times the kernel's bound, plus u |K| v + eta |v|_1.

        Parameters
        ----------
        X, Z : ndarray or sparse array of shape (n, d) and (m, d)
            Points.
        K : ndarray of shape (n, m)
            Computed entries of c k.
        v : ndarray of shape (m,)
            Weights of the entries' errors, at least 0.

        Returns
        -------
        ndarray of shape (n,)
            Upper bound of E v.
        """
        own = self.kernel.rounding(X, Z, self.kernel.block(X, Z), v)
        product = 2 * find_unit(K) * (np.abs(K) @ v) + SMALLEST * v.sum()
        return np.asarray(multiply_rounded(self.factor, own, 1) + product)

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(multiply_rounded(self.factor, self.kernel.diagonal_bound(X), 1))
