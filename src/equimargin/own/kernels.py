"""Kernels that somebody brings, by the names that the command line and the estimators take.

    @kernel("both")
    @dataclass(frozen=True)
    class Both(Kernel):
        gamma: float = 1.0
        def block(self, X, Z): return linear().block(X, Z) + rbf(self.gamma).block(X, Z)
        ...

Its `rounding` and `diagonal_bound` are what proofs about the kernel stand on: `Kernel` says what
they must bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from inspect import isabstract
from typing import Any, TypeVar

import numpy as np

from equimargin.formulations import Kernel, linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.kernels.kernel import RBF, Intercept, Linear, Polynomial, Precomputed, Sigmoid
from equimargin.formulations.numeric.arguments import choice, shown
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse

K = TypeVar("K", bound=type[Kernel])
KERNELS: dict[str, type[Kernel]] = {}
"""All kernels that were brought, by their names."""
PROJECT: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}
"""The project's own kernels, by scikit-learn's names."""
ALIASES = {Polynomial.name: "poly"}
"""Other names of these kernels."""
TAKEN = (*PROJECT, *ALIASES, Intercept.name)
"""Names that no other kernel may have."""
DEFAULTS: Mapping[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 0.0}
"""Parameters of kernels, with scikit-learn's defaults for the project's kernels."""
PARAMETERS = tuple(DEFAULTS)
"""The names of parameters that a kernel may have: these are what options and arguments give."""


def kernel(name: str) -> Callable[[K], K]:
    """Enter a kernel: a frozen dataclass whose fields are among gamma, degree and coef0.

    Parameters
    ----------
    name : of small letters, digits and underscores; of no other kernel.

    Raises
    ------
    ValueError
        A name that is taken or has other characters; another class, other fields, methods that are
        missing.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"the name of a kernel is small letters, digits and underscores, not {shown(name)}")

    def enter(made: K) -> K:
        if name in TAKEN or (name in KERNELS and KERNELS[name].__module__ != made.__module__):
            raise ValueError(f"a kernel {name!r} is entered already; take another name")
        if not (isinstance(made, type) and Kernel in made.__bases__ and is_dataclass(made)):
            raise ValueError(f"the kernel {name} must be a dataclass with Kernel, and no kernel of the project, as its base")
        if isabstract(made):
            raise ValueError(f"the kernel {name} has no {', '.join(sorted(made.__abstractmethods__))}")
        other = [field.name for field in fields(made) if field.name not in PARAMETERS]
        if other:
            raise ValueError(f"the kernel {name} has the parameter {other[0]}; it may have {', '.join(PARAMETERS)}")
        made.name = name
        KERNELS[name] = made
        return made

    return enter


def kernel_class(name: str) -> type[Kernel]:
    """Return the class of a kernel by its name.

    Parameters
    ----------
    name
        Name of a kernel of the project, as scikit-learn has it, or of one that was brought.

    Raises
    ------
    ValueError
        If no kernel has the name.
    """
    known = {**PROJECT, **KERNELS}
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"kernel must be {names} or a kernel of equimargin.formulations, not {shown(name)}")
    return known[name]


def parameters_of(name: str) -> list[str]:
    """Return the names of the parameters of a kernel, which are the fields of its class."""
    return [field.name for field in fields(kernel_class(name)) if field.name in PARAMETERS]


def made(name: str, given: Mapping[str, Any]) -> Kernel:
    """Return the user-defined kernel of a name with the given parameters.

    Other parameters have its own values.

    Raises
    ------
    ValueError
        If a parameter is given that it does not have, or one that it needs is not.
    """
    known = {field.name: field for field in fields(KERNELS[name])}
    wrong = [parameter for parameter in given if parameter not in known]
    if wrong:
        raise ValueError(f"the kernel {name} has no {wrong[0]}; it has {', '.join(known) or 'no parameters'}")
    missing = [parameter for parameter, field in known.items() if field.default is MISSING and parameter not in given]
    if missing:
        raise ValueError(f"the kernel {name} needs a {missing[0]}")
    return KERNELS[name](**given)


def named_kernel(kernel: str | Kernel, X: Features, weights: Array | None, given: Mapping[str, Any]) -> Kernel:
    """Return the kernel of a name for the points X, or the kernel that is given.

        linear  x.z        poly  (gamma x.z + coef0)^degree        rbf  exp(-gamma |x - z|^2)        sigmoid  tanh(gamma x.z + coef0)

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
        Parameters by name, scikit-learn's `DEFAULTS` where a parameter is missing. gamma is a
        positive number, "scale", 1 / (d var), or "auto", 1 / d; var is the variance of all entries
        of X with the weights of their rows, and gamma is 1 where it is 0. Parameters that a kernel
        of the project does not have are ignored.

    Raises
    ------
    ValueError
        If the name is unknown, or the parameters make no kernel.

    References
    ----------
    scikit-learn's `SVC`, whose variance ignores weights.
    """
    if isinstance(kernel, Kernel):
        return kernel
    chosen, parameters = kernel_class(kernel), {**DEFAULTS, **given} if kernel not in KERNELS else dict(given)
    if "gamma" in parameters_of(kernel) and isinstance(parameters.get("gamma"), str):
        parameters["gamma"] = _scaled(X, weights, parameters["gamma"])
    # The project's kernels pass over parameters that they do not have; user-defined ones refuse them.
    if kernel in KERNELS:
        return made(kernel, parameters)
    gamma, degree, coef0 = (parameters[name] for name in PARAMETERS)
    if chosen is RBF:
        return rbf(gamma)
    if chosen is Polynomial:
        return polynomial(degree, gamma, coef0)
    if chosen is Sigmoid:
        return sigmoid(gamma, coef0)
    return precomputed() if chosen is Precomputed else linear()


def _scaled(X: Features, weights: Array | None, gamma: str) -> float:
    """Return the number for which "scale" or "auto" stands."""
    if choice(gamma, "gamma", ("scale", "auto")) == "auto":
        return 1.0 / int(X.shape[1])
    mean = np.average(_row_sums(X), weights=weights) / X.shape[1]
    if is_sparse(X):
        spread = np.average(_row_sums(X.multiply(X)), weights=weights) - X.shape[1] * mean**2
    else:
        spread = np.average(_row_sums((X - mean) ** 2), weights=weights)
    return 1.0 / float(spread) if spread > 0 else 1.0


def _row_sums(X: Features) -> Array:
    return np.asarray(X.sum(axis=1)).ravel()
