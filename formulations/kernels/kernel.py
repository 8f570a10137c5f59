"""Kernels k(x, z), their sums and products, and bounds on the rounding of every entry.

Each kernel has a bound E with |computed K_ij - k(x_i, x_j)| <= E_ij at the floats x_i,
x_j. A proof about K beta therefore holds for the mathematical kernel, and not only for
the computed matrix. All values are computed in the precision of the features, which
is float64, or the platform's extended precision if a bound needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from equimargin.formulations.numeric.arguments import check_number, format_value
from equimargin.formulations.numeric.arrays import Array, Features, canonical, dense, is_sparse
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    UNIT,
    divide_rounded,
    find_unit,
    gamma_n,
    multiply_rounded,
    round_toward,
)

LARGEST_EXPANDED_EXPONENT = 30.0
"""Maximum gamma (|x|^2 + |z|^2) for which |x - z|^2 is |x|^2 - 2 x.z + |z|^2.

Above it this expansion loses digits of the exponent, and differences x - z do not.
"""


@dataclass(frozen=True)
class Kernel(ABC):
    """Kernel k(x, z) with its parameters.

    Sums and products of kernels are kernels, and so is a positive number times a kernel:
    `2.0 * rbf(0.1) + linear()`.
    """

    name: ClassVar[str]
    sklearn_name: ClassVar[str] = ""
    """scikit-learn's name, empty if it lacks the kernel.

    Options, estimators and studies use this name, or `name` if it is empty.
    """
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {}
    """scikit-learn's default parameters, for kernels found by name."""
    positive_semidefinite: ClassVar[bool] = True
    given: ClassVar[bool] = False
    """True if the features are the Gram matrix itself."""
    nonnegative: ClassVar[bool] = False
    """True if the kernel is defined only for features of at least 0."""
    __array_ufunc__: ClassVar[None] = None
    """None, so that a number of numpy times a kernel is a kernel and no array."""

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, Real):
            return Multiple(other, self)
        return NotImplemented

    __rmul__ = __mul__

    @abstractmethod
    def block(self, X: Features, Z: Features) -> Array:
        """Return k(x_i, z_j), shape (m, n).

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, d)
            Points x_i.
        Z : ndarray or sparse array of shape (n, d)
            Points z_j.

        Returns
        -------
        ndarray of shape (m, n)
            Entries of the kernel.
        """

    @abstractmethod
    def diagonal(self, X: Features) -> Array:
        """Return k(x_i, x_i).

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, d)
            Points x_i.

        Returns
        -------
        ndarray of shape (m,)
            Entries of the kernel.
        """

    @abstractmethod
    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Return an upper bound of E v; only rounding of the bound itself is ignored.

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, d)
            Points x_i.
        Z : ndarray or sparse array of shape (n, d)
            Points z_j.
        K : ndarray of shape (m, n)
            Computed block(X, Z).
        v : ndarray of shape (n,)
            Numbers, at least 0.

        Returns
        -------
        ndarray of shape (m,)
            Upper bound; NaN where nothing is known.
        """

    @abstractmethod
    def diagonal_bound(self, X: Features) -> Array:
        """Return an upper bound of |k(x_i, x_i)|.

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, d)
            Points x_i.

        Returns
        -------
        ndarray of shape (m,)
            Upper bounds.
        """

    def magnitude(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Return an upper bound of |K| v.

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, d)
            Points x_i.
        Z : ndarray or sparse array of shape (n, d)
            Points z_j.
        K : ndarray of shape (m, n)
            Computed block(X, Z).
        v : ndarray of shape (n,)
            Numbers, at least 0.

        Returns
        -------
        ndarray of shape (m,)
            Upper bound.
        """
        product: Array = np.abs(K) @ v
        return product


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x.z."""

    name = sklearn_name = "linear"

    def block(self, X: Features, Z: Features) -> Array:
        return dense(X @ Z.T)

    def diagonal(self, X: Features) -> Array:
        return squared_norms(X)

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        bound: Array = (
            gamma_n(X.shape[1] + 2, find_unit(K)) * _inner_sizes(X, Z, v)
            + X.shape[1] * SMALLEST * v.sum()
        )
        return bound

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(
            round_toward(
                (1 + gamma_n(X.shape[1] + 2)) * squared_norms(X) + 2 * X.shape[1] * SMALLEST, 1
            )
        )


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma x.z + coef0)^degree.

    Parameters
    ----------
    degree : int
        Exponent, at least 1.
    gamma : float
        Factor of x.z, positive and finite.
    coef0 : float
        Constant, nonnegative and finite.
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    name = "polynomial"
    sklearn_name = "poly"
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {"gamma": "scale", "degree": 3, "coef0": 0.0}

    def __post_init__(self) -> None:
        constant = "nonnegative and finite (it is no kernel otherwise)"
        set_number(self, "degree", "a positive integer", lambda v: v >= 1 and v == int(v), int)
        set_number(self, "gamma", "positive and finite", lambda v: 0 < v < np.inf)
        set_number(self, "coef0", constant, lambda v: 0 <= v < np.inf)

    def block(self, X: Features, Z: Features) -> Array:
        K: Array = self._base(X, Z) ** self.degree
        return K

    def diagonal(self, X: Features) -> Array:
        k: Array = (self.gamma * squared_norms(X) + self.coef0) ** self.degree
        return k

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        # The error of the base is gamma_{d+3} times the base at |x| and |z|, plus
        # (gamma d + 1) eta for underflow, which is u / 2 times the base if that is not
        # too small.
        bound: Array = (
            self.degree * gamma_n(X.shape[1] + 8, find_unit(K)) * self.magnitude(X, Z, K, v)
            + 16 * SMALLEST * v.sum()
        )
        return bound

    def magnitude(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        product: Array = (
            np.maximum(self._base(abs(X), abs(Z)), self._smallest_base(X)) ** self.degree @ v
        )
        return product

    def diagonal_bound(self, X: Features) -> Array:
        base = np.maximum(
            (1 + gamma_n(X.shape[1] + 8)) * (self.gamma * squared_norms(X) + self.coef0),
            2 * self._smallest_base(X),
        )
        return np.asarray(round_toward((1 + gamma_n(16)) * base**self.degree, 1) + 16 * SMALLEST)

    def _base(self, X: Features, Z: Features) -> Array:
        """Return gamma x.z + coef0, (m, n)."""
        base: Array = self.gamma * dense(X @ Z.T) + self.coef0
        return base

    def _smallest_base(self, X: Features) -> float:
        """Return the base above which the relative error of underflow is below u / 2."""
        return float(2 * (self.gamma * X.shape[1] + 1) * (SMALLEST / UNIT))


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """Base of the kernels exp(-gamma D(x, z)) of a distance D: k(x, x) = 1.

    Parameters
    ----------
    gamma : float
        Inverse scale, positive and finite.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        set_number(self, "gamma", "positive and finite", lambda v: 0 < v < np.inf)

    def diagonal(self, X: Features) -> Array:
        return np.ones(X.shape[0], X.dtype)

    def diagonal_bound(self, X: Features) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class RBF(DistanceKernel):
    """k(x, z) = exp(-gamma |x - z|^2).

    |x - z|^2 is expanded to |x|^2 - 2 x.z + |z|^2, which is one matrix product, or is
    computed from differences if the points are far from the origin.

    Parameters
    ----------
    gamma : float
        Inverse squared length scale, positive and finite.
    """

    name = sklearn_name = "rbf"
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {"gamma": "scale"}

    # An exponent that overflows gives an entry of 0.
    @np.errstate(over="ignore")
    def block(self, X: Features, Z: Features) -> Array:
        centred = _centred(X, Z)
        x, z = (squared_norms(points) for points in centred)
        if self._far(Z, x, z):
            return np.asarray(np.exp(-self.gamma * squared_distances(dense(X), Z)))
        K = dense(centred[0] @ centred[1].T)
        K *= 2.0
        # The norms are added first, so that k(X, X) is exactly symmetric.
        K -= x[:, None] + z[None, :]
        np.minimum(K, 0.0, out=K)
        K *= self.gamma
        return np.asarray(np.exp(K, out=K))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        # By expansion the error of |x - z|^2 is gamma_{d+10} (|x| + |z|)^2 <= 2
        # gamma_{d+10} (|x|^2 + |z|^2). By differences it is gamma_{d+6} times the
        # value, which is -log k / gamma, plus 3 d eta for underflow. The error of libm's exp is
        # 4 ulp, which are 4 eta below 2^-1022.
        unit, d, Kv = find_unit(K), X.shape[1], K @ v
        x, z = (squared_norms(points) for points in _centred(X, Z))
        reach = float(x.max(initial=0.0)) + float(z.max(initial=0.0))
        nearly = (10 * unit + (6 * self.gamma * d + 4) * SMALLEST) * Kv + (
            16 * v.sum() + len(v)
        ) * SMALLEST
        # No square or difference of squares has overflowed.
        is_finite = 4 * reach < np.inf
        bound: Array
        if is_finite and self._far(Z, x, z):
            spread = -K * np.log(K, where=K > 0, out=np.zeros_like(K))
            bound = 1.02 * gamma_n(d + 6, unit) * (np.maximum(spread, 0.0) @ v) + nearly
            return bound
        share = 2.02 * gamma_n(d + 10, unit)
        worst = share * self.gamma * reach
        # exp(e) - 1 is not close to e: only 0 <= k <= 1 is known.
        if not (is_finite and worst <= 1.0):
            return np.full(len(x), float(v.sum()) * 1.01)
        bound = np.exp(worst) * share * (self.gamma * x * Kv + K @ (self.gamma * z * v)) + nearly
        return bound

    def magnitude(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        product: Array = K @ v
        return product

    def _far(self, Z: Features, x: Array, z: Array) -> bool:
        """Return True if an expansion would lose digits.

        That is so for dense features far from their mean; x and z are their centred
        squared norms.
        """
        return (
            not is_sparse(Z)
            and not self.gamma * float(x.max(initial=0.0) + z.max(initial=0.0))
            <= LARGEST_EXPANDED_EXPONENT
        )


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(gamma x.z + coef0).

    It is not positive semidefinite in general, so that no optimum is proven with it.

    Parameters
    ----------
    gamma : float
        Factor of x.z, finite.
    coef0 : float
        Constant, finite.
    """

    gamma: float = 1.0
    coef0: float = 0.0

    name = sklearn_name = "sigmoid"
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {"gamma": "scale", "coef0": 0.0}

    def __post_init__(self) -> None:
        set_number(self, "gamma", "a finite number", lambda v: bool(np.isfinite(v)))
        set_number(self, "coef0", "a finite number", lambda v: bool(np.isfinite(v)))

    positive_semidefinite = False

    def block(self, X: Features, Z: Features) -> Array:
        return np.asarray(np.tanh(self.gamma * dense(X @ Z.T) + self.coef0))

    def diagonal(self, X: Features) -> Array:
        return np.asarray(np.tanh(self.gamma * squared_norms(X) + self.coef0))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        unit = find_unit(K)
        absolute = (abs(self.coef0) + 8) * unit + (abs(self.gamma) * X.shape[1] + 1) * SMALLEST
        slack: Array = (
            abs(self.gamma) * gamma_n(X.shape[1] + 4, unit) * _inner_sizes(X, Z, v)
            + absolute * v.sum()
        )
        return slack

    def diagonal_bound(self, X: Features) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Intercept(Kernel):
    """k(x, z) + 1: the functions contain a constant, and their norm includes it.

    Added to a linear kernel, it is the kernel of the features with a column of ones
    appended.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    """

    kernel: Kernel

    name = "intercept"

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """True if the kernel k is positive semidefinite."""
        return self.kernel.positive_semidefinite

    @property
    def given(self) -> bool:  # type: ignore[override]
        """True if the features of the kernel k are its Gram matrix."""
        return self.kernel.given

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """True if the kernel k is defined only for features of at least 0."""
        return self.kernel.nonnegative

    def block(self, X: Features, Z: Features) -> Array:
        return np.asarray(self.kernel.block(X, Z) + 1.0)

    def diagonal(self, X: Features) -> Array:
        return np.asarray(self.kernel.diagonal(X) + 1.0)

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        unit = find_unit(K)
        # Bound of |k|, from the computed k + 1.
        size = np.abs(K - 1.0) + 2 * unit * np.abs(K)
        bound: Array = self.kernel.rounding(X, Z, size, v) + 4 * unit * (np.abs(K) @ v + v.sum())
        return bound

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(round_toward(self.kernel.diagonal_bound(X) + 1.0, 1))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Given Gram matrix: X is the symmetric matrix itself, or new rows k(x_new, x_train)."""

    name = sklearn_name = "precomputed"
    given = True

    def block(self, X: Features, Z: Features) -> Array:
        return dense(X)

    def diagonal(self, X: Features) -> Array:
        return np.array(X.diagonal())

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        return np.zeros(X.shape[0])

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(np.abs(X.diagonal()))


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
        # The bounds of both parts, plus u |K| v for the sum.
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
        # With the bounds E_k and E_l of the parts, the error of k l before its rounding,
        # which adds u |K| + eta, is at most |k| E_l + (|l| + E_l) E_k. Of a positive
        # semidefinite kernel, |k(x, z)| is at most the root of k(x, x) k(z, z), and every
        # entry of E_l at most the sum of its row. In k l m the first kernel is a
        # product, which is bounded only once.
        if not self.positive_semidefinite:
            return np.full(len(K), np.nan)
        k, other = ((part, part.block(X, Z)) for part in self.parts)

        def error(part: tuple[Kernel, Array], weights: Array) -> Array:
            return part[0].rounding(X, Z, part[1], weights)

        (left, right), (x, z) = (
            [np.sqrt(part.diagonal_bound(points)) for points in (X, Z)] for part in self.parts
        )
        of_second = multiply_rounded(left, error(other, multiply_rounded(right, v, 1)), 1)
        # |l| + E_l is at most `sizes` times z_j.
        sizes = x + error(other, divide_rounded(1.0, z, 1))
        of_first = multiply_rounded(sizes, error(k, multiply_rounded(z, v, 1)), 1)
        product = 2 * find_unit(K) * (np.abs(K) @ v) + 2 * SMALLEST * v.sum()
        return np.asarray(of_first + of_second + product)

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
        # c times the kernel's bound, plus u |K| v + eta |v|_1.
        own = self.kernel.rounding(X, Z, self.kernel.block(X, Z), v)
        product = 2 * find_unit(K) * (np.abs(K) @ v) + SMALLEST * v.sum()
        return np.asarray(multiply_rounded(self.factor, own, 1) + product)

    def diagonal_bound(self, X: Features) -> Array:
        return np.asarray(multiply_rounded(self.factor, self.kernel.diagonal_bound(X), 1))


def linear() -> Linear:
    """Return the kernel x.z."""
    return Linear()


def polynomial(degree: int = 2, gamma: float = 1.0, coef0: float = 1.0) -> Polynomial:
    """Return the kernel (gamma x.z + coef0)^degree.

    It is positive semidefinite for gamma > 0 and coef0 >= 0.

    Parameters
    ----------
    degree : int
        Exponent, at least 1.
    gamma : float
        Factor of x.z.
    coef0 : float
        Constant.

    Returns
    -------
    Polynomial
        Kernel.

    Raises
    ------
    ValueError
        If degree < 1, gamma <= 0 or coef0 < 0.

    References
    ----------
    Document T, section 2.3.
    """
    return Polynomial(degree, gamma, coef0)


def rbf(gamma: float = 1.0) -> RBF:
    """Return the kernel exp(-gamma |x - z|^2).

    Parameters
    ----------
    gamma : float
        Inverse squared length scale.

    Returns
    -------
    RBF
        Kernel.

    Raises
    ------
    ValueError
        If gamma is not positive and finite.

    References
    ----------
    Document T, section 2.3.
    """
    return RBF(gamma)


def sigmoid(gamma: float = 1.0, coef0: float = 0.0) -> Sigmoid:
    """Return the kernel tanh(gamma x.z + coef0).

    Parameters
    ----------
    gamma : float
        Factor of x.z.
    coef0 : float
        Constant.

    Returns
    -------
    Sigmoid
        Kernel.

    Raises
    ------
    ValueError
        If a parameter is not finite.

    References
    ----------
    Document T, section 2.3.
    """
    return Sigmoid(gamma, coef0)


def precomputed() -> Precomputed:
    """Return the kernel whose features are the Gram matrix, (m, m)."""
    return Precomputed()


def set_number(
    kernel: Kernel,
    name: str,
    condition: str,
    is_met: Callable[[Any], bool],
    kind: type[float] | type[int] = float,
) -> None:
    """Check a parameter of a kernel, and store it as a number of a kind.

    Parameters
    ----------
    kernel : Kernel
        Kernel that has the parameter as an attribute.
    name : str
        Name of the parameter.
    condition : str
        Condition as text, for the message.
    is_met : callable
        Predicate of the number; True if it satisfies the condition.
    kind : type
        float or int.

    Raises
    ------
    ValueError
        If it is no number that satisfies the condition.
    """
    value = check_number(
        getattr(kernel, name),
        f"{kernel.name} kernel: {'the ' if kind is int else ''}{name}",
        condition,
        is_met,
    )
    object.__setattr__(kernel, name, kind(value))


def _inner_sizes(X: Features, Z: Features, v: Array) -> Array:
    """Return |X| |Z|'v, (m,), for v >= 0 of shape (n,).

    A term is added for underflow before the last product.
    """
    sizes: Array = abs(X) @ (abs(Z).T @ v + np.count_nonzero(v) * SMALLEST)
    return sizes


def bound_exponentials(K: Array, roundings: int, absolute: float, v: Array) -> Array:
    """Return an upper bound of E v for K = exp(-p), whose exponents p >= 0 have errors.

    The computed p is p (1 + a) + b with |a| <= gamma_n and |b| <= `absolute`. The error
    of libm's exp is 4 ulp, which are 4 eta below 2^-1022. For |e| <= 0.03, |exp(e) - 1|
    <= 1.02 |e|; if the error of p may be larger, only 0 <= k <= 1 is known.

    Parameters
    ----------
    K : ndarray of shape (m, n)
        Computed entries.
    roundings : int
        Number n of roundings of an exponent.
    absolute : float
        Bound of b.
    v : ndarray of shape (n,)
        Weights of the entries' errors, at least 0.

    Returns
    -------
    ndarray of shape (m,)
        Upper bound of E v.
    """
    unit = find_unit(K)
    share = gamma_n(roundings, unit)
    exponents = np.maximum(-np.log(K, where=K > 0, out=np.zeros_like(K)), 0.0)
    # Where K is 0 in float64, the exponent is above 745.
    if not share * max(float(exponents.max(initial=0.0)), 750.0) + absolute <= 0.02:
        return np.full(len(K), float(v.sum()) * 1.01)
    relative_error = 1.02 * (share * exponents + absolute) + 10 * unit
    bound: Array = (K * relative_error) @ v + (16 * v.sum() + len(v)) * SMALLEST
    return bound


def squared_distances(X: Array, Z: Array) -> Array:
    """Return |x_i - z_j|^2, computed from the differences.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Points x_i.
    Z : ndarray of shape (n, d)
        Points z_j.

    Returns
    -------
    ndarray of shape (m, n)
        Squared distances.
    """
    if X.dtype == np.float64:
        # Imported here: only these distances need scipy.spatial.
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(X, Z, "sqeuclidean"))
    squares = np.zeros((len(X), len(Z)), X.dtype)
    for k in range(X.shape[1]):
        squares += np.subtract.outer(X[:, k], Z[:, k]) ** 2
    return squares


def _centred(X: Features, Z: Features) -> tuple[Features, Features]:
    """Return X and Z with the mean of Z at the origin.

    There the expansion of |x - z|^2 loses the fewest digits. Sparse features are
    unchanged.
    """
    if is_sparse(Z) or is_sparse(X):
        return X, Z
    centre = Z.mean(axis=0)
    centred = Z - centre
    # If X is Z, one array serves both: BLAS then returns a symmetric product.
    return (centred if X is Z else X - centre), centred


def squared_norms(X: Features) -> Array:
    """Return |x_i|^2.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Points x_i.

    Returns
    -------
    ndarray of shape (m,)
        Squared norms.
    """
    if not is_sparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    # Duplicate entries are summed before they are squared.
    X = canonical(X)
    squares = type(X)((X.data * X.data, X.indices, X.indptr), shape=X.shape)
    return np.asarray(squares @ np.ones(X.shape[1]), dtype=np.float64)
