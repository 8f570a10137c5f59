"""Kernels that somebody brings, by the names that the command line and the estimators take.

    @kernel("both")
    @dataclass(frozen=True)
    class Both(Kernel):
        gamma: float = 1.0
        def block(self, X, Z): return linear().block(X, Z) + rbf(self.gamma).block(X, Z)
        ...

Its `rounding` and `diagonal_bound` are what proofs about the kernel stand on: `Kernel` says what they must bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from inspect import isabstract
from typing import Any, TypeVar

from equimargin.formulations import Kernel, linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.kernels.kernel import RBF, Intercept, Linear, Polynomial, Precomputed, Sigmoid
from equimargin.formulations.numeric.arguments import did_you_mean, shown

K = TypeVar("K", bound=type[Kernel])
KERNELS: dict[str, type[Kernel]] = {}
"""All kernels that were brought, by their names."""
PROJECT: dict[str, type[Kernel]] = {made.name: made for made in (Linear, RBF, Polynomial, Sigmoid, Precomputed)}
"""The project's own kernels, by their names."""
TAKEN = (*PROJECT, Intercept.name, "poly")
"""Names that no other kernel may have."""
PARAMETERS = ("gamma", "degree", "coef0")
"""The names of parameters that a kernel may have: these are what options and arguments give."""


def kernel(name: str) -> Callable[[K], K]:
    """Enter a kernel: a frozen dataclass whose fields are among gamma, degree and coef0.

    Parameters
    ----------
    name : of small letters, digits and underscores; of no other kernel.

    Raises
    ------
    ValueError : a name that is taken or has other characters; another class, other fields, methods that are missing.
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


def parameters_of(name: str) -> list[str]:
    """The names of the parameters of a kernel that was brought."""
    return [field.name for field in fields(KERNELS[name])]


def made(name: str, given: dict[str, Any]) -> Kernel:
    """The kernel of a name with the parameters that are given; its own values for others.

    Raises
    ------
    ValueError : a parameter that it does not have, or one that it needs.
    """
    known = {field.name: field for field in fields(KERNELS[name])}
    wrong = [parameter for parameter in given if parameter not in known]
    if wrong:
        raise ValueError(f"the kernel {name} has no {wrong[0]}; it has {', '.join(known) or 'no parameters'}")
    missing = [parameter for parameter, field in known.items() if field.default is MISSING and parameter not in given]
    if missing:
        raise ValueError(f"the kernel {name} needs a {missing[0]}")
    return KERNELS[name](**given)


def of_features(name: str, d: int, given: Mapping[str, Any]) -> Kernel:
    """The kernel of a name for d features, the project's or one that was brought.

    Parameters
    ----------
    given : its parameters by name. Of the project's kernels gamma is 1/d by default, and 1 of polynomial, whose degree is 2 and whose coef0
        is 1; the coef0 of sigmoid is 0. Those that a kernel of the project does not have are ignored.

    Raises
    ------
    ValueError : an unknown name, a parameter that makes no kernel.
    """
    if name in KERNELS:
        return made(name, dict(given))
    if name not in PROJECT:
        raise ValueError(f"there is no kernel {name!r}{did_you_mean(name, [*PROJECT, *KERNELS])}")
    if name == RBF.name:
        return rbf(given.get("gamma", 1 / d))
    if name == Polynomial.name:
        return polynomial(int(given.get("degree", 2)), given.get("gamma", 1.0), given.get("coef0", 1.0))
    if name == Sigmoid.name:
        return sigmoid(given.get("gamma", 1 / d), given.get("coef0", 0.0))
    return precomputed() if name == Precomputed.name else linear()
