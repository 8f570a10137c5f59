"""All kernels by the names that the command line, studies and the estimators take, and how one is entered.

    @kernel("both")
    @dataclass(frozen=True)
    class Both(Kernel):
        gamma: float = 1.0
        def block(self, X, Z): return linear().block(X, Z) + rbf(self.gamma).block(X, Z)
        ...

Its `rounding` and `diagonal_bound` are what proofs about the kernel stand on: `Kernel`
says what they must bound.
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
"""All kernels, those of scikit-learn by its names."""
PARAMETERS = ("gamma", "degree", "coef0")
"""The names of parameters that a kernel may have: these are what options and arguments give."""
for made in (Linear, Polynomial, RBF, Sigmoid, Precomputed):
    KERNELS.enter(made.sklearn_name, made, made.__module__)
RESERVED = (Polynomial.name, Intercept.name)
"""Names in certificates and files that are none of these."""


def kernel(name: str) -> Callable[[K], K]:
    """Enter a kernel: a frozen dataclass whose fields are among gamma, degree and coef0.

    Parameters
    ----------
    name : str
        Of small letters, digits and underscores; of no other kernel.

    Raises
    ------
    ValueError
        A name that is taken or has other characters; another class, other fields, methods that are
        missing.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"the name of a kernel is small letters, digits and underscores, not "
            f"{format_value(name)}"
        )

    def enter(made: K) -> K:
        if name in RESERVED or (name in KERNELS and KERNELS.module_of(name) != made.__module__):
            raise ValueError(f"a kernel {name!r} is entered already; take another name")
        if not (isinstance(made, type) and Kernel in made.__bases__ and is_dataclass(made)):
            raise ValueError(
                f"the kernel {name} must be a dataclass with Kernel, and no kernel of the "
                f"project, as its base"
            )
        if isabstract(made):
            raise ValueError(
                f"the kernel {name} has no {', '.join(sorted(made.__abstractmethods__))}"
            )
        other = [field.name for field in fields(made) if field.name not in PARAMETERS]
        if other:
            raise ValueError(
                f"the kernel {name} has the parameter {other[0]}; it may have "
                f"{', '.join(PARAMETERS)}"
            )
        KERNELS.enter(name, made, made.__module__)
        made.name = name
        return made

    return enter


def kernel_class(name: str) -> type[Kernel]:
    """Return the class of a kernel by its name.

    Parameters
    ----------
    name
        Name of a kernel.

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
    """Return the name by which a kernel is entered: "poly" for "polynomial"."""
    return Polynomial.sklearn_name if name == Polynomial.name else name


def list_parameters(name: str) -> list[str]:
    """Return the names of the parameters of a kernel, which are the fields of its class."""
    return [field.name for field in fields(kernel_class(name)) if field.name in PARAMETERS]


def named_kernel(
    kernel: str | Kernel, X: Features, weights: Array | None, given: Mapping[str, Any]
) -> Kernel:
    """Return the kernel of a name for the points X, or the kernel that is given.

        linear  x.z        poly  (gamma x.z + coef0)^degree        rbf  exp(-gamma |x - z|^2)        sigmoid  tanh(gamma x.z + coef0)
        exponential  exp(-gamma |x - z|)

    The command line, studies and the estimators name kernels by this function.

    Parameters
    ----------
    kernel
        Name of a kernel, or what `linear`, `polynomial`, `rbf`, `sigmoid` or `precomputed` of
        `equimargin.formulations` returns, which has its own parameters.
    X : array of shape (m, d)
        Features.
    weights : array of shape (m,), optional
        Weights of the rows; None are ones.
    given
        Parameters by name; where one is missing, scikit-learn's default if it has the kernel, else
        that of the class. gamma is a positive number, "scale", 1 / (d var), or "auto", 1 / d; var
        is the variance of all entries of X with the weights of their rows, and gamma is 1 where it
        is 0.

    Raises
    ------
    ValueError
        If the name is unknown, the kernel does not have a parameter that is given, it needs one that
        is not, or the parameters make no kernel.

    References
    ----------
    scikit-learn's `SVC`, whose variance ignores weights.
    """
    if isinstance(kernel, Kernel):
        return kernel
    chosen = kernel_class(kernel)
    wrong = [name for name in given if name not in list_parameters(kernel)]
    if wrong:
        raise ValueError(
            f"the kernel {kernel} has no {wrong[0]}; it has "
            f"{', '.join(list_parameters(kernel)) or 'no parameters'}"
        )
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


def _scaled(X: Features, weights: Array | None, gamma: str) -> float:
    """Return the number for which "scale" or "auto" stands."""
    if check_choice(gamma, "gamma", ("scale", "auto")) == "auto":
        return 1.0 / int(X.shape[1])
    mean = np.average(_row_sums(X), weights=weights) / X.shape[1]
    if is_sparse(X):
        spread = np.average(_row_sums(X.multiply(X)), weights=weights) - X.shape[1] * mean**2
    else:
        spread = np.average(_row_sums((X - mean) ** 2), weights=weights)
    return 1.0 / float(spread) if spread > 0 else 1.0


def _row_sums(X: Features) -> Array:
    return np.asarray(X.sum(axis=1)).ravel()
