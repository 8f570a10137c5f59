"""Registry of kernels by name, for the command line, studies and the estimators.

A kernel is registered by a decorator:

    @kernel("both")
    @dataclass(frozen=True)
    class Both(Kernel):
        gamma: float = 1.0
        def block(self, X, Z): return linear().block(X, Z) + rbf(self.gamma).block(X, Z)
        ...

Proofs about the kernel rely on its `rounding` and `diagonal_bound`; `Kernel` specifies
these bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from inspect import isabstract
from typing import Any, TypeVar

import numpy as np

from equimargin.formulations.kernels.kernel import (
    RBF,
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from equimargin.formulations.numeric.arguments import check_choice, format_value
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.formulations.registry import Registry

K = TypeVar("K", bound=type[Kernel])
KERNELS: Registry[type[Kernel]] = Registry("kernel")
"""All kernels by name; those of scikit-learn have its names."""
PARAMETERS = ("gamma", "degree", "coef0")
"""Permitted names of kernel parameters, as in options and arguments."""
for made in (Linear, Polynomial, RBF, Sigmoid, Precomputed):
    KERNELS.enter(made.sklearn_name, made, made.__module__)
RESERVED = (Polynomial.name, Intercept.name)
"""Names in certificates and files that no registered kernel may have."""


def kernel(name: str) -> Callable[[K], K]:
    """Register a kernel: a frozen dataclass whose fields are among gamma, degree and coef0.

    Parameters
    ----------
    name : str
        Unique name of lower-case letters, digits and underscores.

    Returns
    -------
    callable
        Class decorator.

    Raises
    ------
    ValueError
        If the name is taken or has other characters, or the class is no dataclass
        derived from `Kernel` alone, has other fields or lacks methods.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"the name of a kernel is lower-case letters, digits and underscores, not "
            f"{format_value(name)}"
        )

    def enter(made: K) -> K:
        if name in RESERVED:
            raise ValueError(f"a kernel {name!r} is registered already; take another name")
        if not (isinstance(made, type) and _has_abstract_bases(made) and is_dataclass(made)):
            raise ValueError(
                f"the kernel {name} must be a dataclass with Kernel, and no kernel of the "
                f"project, as its base"
            )
        if isabstract(made):
            raise ValueError(
                f"the kernel {name} has no {', '.join(sorted(made.__abstractmethods__))}"
            )
        invalid = [field.name for field in fields(made) if field.name not in PARAMETERS]
        if invalid:
            raise ValueError(
                f"the kernel {name} has the parameter {invalid[0]}; it may have "
                f"{', '.join(PARAMETERS)}"
            )
        KERNELS.enter(name, made, made.__module__)
        made.name = name
        return made

    return enter


def _has_abstract_bases(made: type) -> bool:
    """Return True if a class derives from `Kernel`, and from no class that is a kernel."""
    bases = [base for base in made.__bases__ if issubclass(base, Kernel)]
    return bool(bases) and all(map(isabstract, bases))


def kernel_class(name: str) -> type[Kernel]:
    """Return the class of a kernel by its name.

    Parameters
    ----------
    name : str
        Name of a kernel.

    Returns
    -------
    type of Kernel
        Registered class.

    Raises
    ------
    ValueError
        If no kernel has the name.
    """
    if not isinstance(name, str) or called(name) not in KERNELS:
        names = ", ".join(map(repr, KERNELS))
        raise ValueError(
            f"kernel must be {names} or a kernel of equimargin.formulations, not "
            f"{format_value(name)}"
        )
    return KERNELS[called(name)]


def called(name: str) -> str:
    """Return the registered name of a kernel: "poly" for "polynomial".

    Parameters
    ----------
    name : str
        Name of a kernel.

    Returns
    -------
    str
        Key of `KERNELS`, if there is one.
    """
    return Polynomial.sklearn_name if name == Polynomial.name else name


def list_parameters(name: str) -> list[str]:
    """Return the parameter names of a kernel, the fields of its class.

    Parameters
    ----------
    name : str
        Name of a kernel.

    Returns
    -------
    list of str
        Names among `PARAMETERS`.
    """
    return [field.name for field in fields(kernel_class(name)) if field.name in PARAMETERS]


def named_kernel(
    kernel: str | Kernel, X: Features, weights: Array | None, given: Mapping[str, Any]
) -> Kernel:
    """Return the kernel of a name for the points X, or the given kernel.

        linear       x.z                     poly       (gamma x.z + coef0)^degree
        rbf          exp(-gamma |x - z|^2)   sigmoid    tanh(gamma x.z + coef0)
        exponential  exp(-gamma |x - z|)     laplacian  exp(-gamma sum_j |x_j - z_j|)
        chi2         exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), for x, z >= 0

    The constructors of problems, the command line, studies and the estimators find
    kernels by this function.

    Parameters
    ----------
    kernel : str or Kernel
        Name of a kernel, or a kernel, such as the result of `rbf` or `laplacian` of
        `equimargin.formulations`, which has its own parameters.
    X : ndarray or sparse array of shape (m, d)
        Features.
    weights : ndarray of shape (m,), or None
        Weights of the rows; None are ones.
    given : mapping of str to float or str
        Parameters by name. A missing one has scikit-learn's default if scikit-learn has
        the kernel (gamma is "scale" for poly, rbf and sigmoid, "auto" for laplacian and
        1 for chi2), else the default of the class. gamma is a positive number, "scale"
        for 1 / (d var), or "auto" for 1 / d; var is the variance of all entries of X,
        with the weights of their rows, and gamma is 1 if var or every weight is 0.

    Returns
    -------
    Kernel
        Kernel with its parameters.

    Raises
    ------
    ValueError
        If the name is unknown, the kernel lacks a given parameter or needs a missing
        one, or a value is invalid.

    References
    ----------
    scikit-learn's `SVC`, whose variance ignores weights.
    """
    if isinstance(kernel, Kernel):
        return kernel
    chosen = kernel_class(kernel)
    unknown = [name for name in given if name not in list_parameters(kernel)]
    if unknown:
        raise ValueError(
            f"the kernel {kernel} has no {unknown[0]}; it has "
            f"{', '.join(list_parameters(kernel)) or 'no parameters'}"
        )
    # Given values precede scikit-learn's defaults, which precede those of the class.
    parameters = {**chosen.sklearn_defaults, **given}
    missing = [
        field.name
        for field in fields(chosen)
        if field.default is MISSING and field.name not in parameters
    ]
    if missing:
        raise ValueError(f"the kernel {kernel} needs a {missing[0]}")
    if isinstance(parameters.get("gamma"), str):
        parameters["gamma"] = _scaled(X, weights, parameters["gamma"])
    return chosen(**parameters)


@np.errstate(over="ignore", invalid="ignore")
def _scaled(X: Features, weights: Array | None, gamma: str) -> float:
    """Return the value of gamma for "scale" or "auto"."""
    if check_choice(gamma, "gamma", ("scale", "auto")) == "auto":
        return 1.0 / int(X.shape[1])
    if weights is not None and not weights.any():
        return 1.0
    mean = np.average(_row_sums(X), weights=weights) / X.shape[1]
    if is_sparse(X):
        spread = np.average(_row_sums(X.multiply(X)), weights=weights) - X.shape[1] * mean**2
    else:
        spread = np.average(_row_sums((X - mean) ** 2), weights=weights)
    if spread <= 0:
        return 1.0
    if not 0 < 1.0 / float(spread) < np.inf:
        raise ValueError(
            f"gamma='scale' needs a variance of X within float64, not {spread / X.shape[1]:g}; "
            f"multiply X by a constant, or give gamma as a number"
        )
    return 1.0 / float(spread)


def _row_sums(X: Features) -> Array:
    return np.asarray(X.sum(axis=1)).ravel()
