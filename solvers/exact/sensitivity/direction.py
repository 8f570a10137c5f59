"""Derivatives of a problem's data: costs, targets and one moving point.

The problem moves along c + theta c', t + theta t', and a point whose feature vector is
phi + theta psi.

    psi = d phi(x) / d x_k,   <psi, phi(z)> = d k(x, z) / d x_k,
    <psi, psi> = d^2 k(x, z) / d x_k d z_k at z = x

For the linear kernel k(x, z) = x.z these are z_k and 1. For the polynomial kernel a^d,
a = gamma x.z + coef0, they are d gamma z_k a^(d-1) and d gamma a^(d-1) + d (d-1)
gamma^2 x_k^2 a^(d-2). A constant added to a kernel does not change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import Intercept, Kernel, Polynomial
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    as_fractions,
    fractions,
    relative_weights,
)
from equimargin.solvers.exact.sensitivity.parameters import Cost, Feature, Parameter, Target, Weight

ZERO = Fraction(0)


@dataclass(frozen=True, eq=False)
class MovedPoint:
    """Point whose feature x_k moves.

    Parameters
    ----------
    point : int
        Index of the point.
    entries : Fractions of shape (p,)
        Column of A of the point.
    first : Fractions of shape (m,)
        Products <psi, phi(x_j)>.
    square : Fraction
        Product <psi, psi>.
    bend : Fractions of shape (m,)
        Half the second derivatives of k(x, x_j) in x_k, the second point fixed.
    at_new : Fractions of shape (n,)
        Products <psi, phi(z)> at new points z.
    """

    point: int
    entries: Fractions
    first: Fractions
    square: Fraction
    bend: Fractions
    at_new: Fractions


@dataclass(frozen=True, eq=False)
class Direction:
    """Derivatives of a problem's data.

    Parameters
    ----------
    c : Fractions of shape (p,)
        Derivatives of the costs.
    t : Fractions of shape (p,)
        Derivatives of the targets.
    moved : MovedPoint or None
        Point whose feature moves, if one does.
    """

    c: Fractions
    t: Fractions
    moved: MovedPoint | None = None

    @property
    def reversed(self) -> Direction:
        """Opposite direction, with -psi for psi."""
        moved = self.moved
        if moved is not None:
            moved = replace(moved, first=-moved.first, at_new=-moved.at_new)
        return Direction(-self.c, -self.t, moved)


def direction(
    problem: MarginProblem,
    numbers: IntegerProblem,
    parameter: Parameter,
    new: Sequence[Sequence[Fraction]],
) -> Direction:
    """Return the direction of a problem when a parameter increases.

    Parameters
    ----------
    problem : MarginProblem
        Problem.
    numbers : IntegerProblem
        Problem in integers.
    parameter : Parameter
        Parameter of the problem.
    new : sequence of shape (n, d)
        New points.
    """
    rows, p = problem.rows, problem.p
    c, t = fractions(p), fractions(p)
    if isinstance(parameter, Cost):
        c = relative_weights(problem)
    elif isinstance(parameter, Weight):
        chosen = np.zeros(rows.groups)
        chosen[parameter.index] = 1.0
        c[np.flatnonzero(rows.spread(chosen))] = Fraction(problem.C)
    elif isinstance(parameter, Target):
        t[parameter.index] = Fraction(1)
        if isinstance(rows, Tube):
            t[problem.m + parameter.index] = Fraction(-1)
    else:
        return Direction(c, t, _moved(problem, numbers, parameter, new))
    return Direction(c, t)


def _moved(
    problem: MarginProblem,
    numbers: IntegerProblem,
    parameter: Feature,
    new: Sequence[Sequence[Fraction]],
) -> MovedPoint:
    X = rationals(dense(problem.X))
    x, k = X[parameter.point], parameter.column
    slopes = [_slopes(problem.kernel, x, z, k) for z in X]
    entries = fractions(problem.p)
    rows, places = np.nonzero(numbers.index == parameter.point)
    entries[rows] = as_fractions([Fraction(int(a)) for a in numbers.entry[rows, places]])
    return MovedPoint(
        parameter.point,
        entries,
        as_fractions([first for first, _, _ in slopes]),
        slopes[parameter.point][2],
        as_fractions([bend for _, bend, _ in slopes]),
        as_fractions([_slopes(problem.kernel, x, z, k)[0] for z in new]),
    )


def _slopes(
    kernel: Kernel, x: Sequence[Fraction], z: Sequence[Fraction], k: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return <psi, phi(z)>, half the second derivative, and the mixed derivative.

    These are d k(x, z) / d x_k, half of d^2 k(x, z) / d x_k^2, and d^2 k(x, z) / d x_k
    d z_k.
    """
    if isinstance(kernel, Intercept):
        return _slopes(kernel.kernel, x, z, k)
    if not isinstance(kernel, Polynomial):
        return z[k], ZERO, Fraction(1)
    gamma, d = Fraction(kernel.gamma), kernel.degree
    a = gamma * inner(x, z) + Fraction(kernel.coef0)
    slope = d * gamma * a ** (d - 1)
    curvature = d * (d - 1) * gamma**2 * a ** (d - 2) if d > 1 else ZERO
    return slope * z[k], curvature * z[k] ** 2 / 2, slope + curvature * x[k] * z[k]


def kernel_values(
    kernel: Kernel, x: Sequence[Fraction], X: Sequence[Sequence[Fraction]]
) -> list[Fraction]:
    """Return k(x, z) for the points z of X.

    Parameters
    ----------
    kernel : Kernel
        Linear or polynomial kernel.
    x : sequence of shape (d,)
        Point.
    X : sequence of shape (n, d)
        Points z.
    """
    if isinstance(kernel, Intercept):
        return [v + 1 for v in kernel_values(kernel.kernel, x, X)]
    values = [inner(x, z) for z in X]
    if isinstance(kernel, Polynomial):
        return [
            (Fraction(kernel.gamma) * v + Fraction(kernel.coef0)) ** kernel.degree for v in values
        ]
    return values


def inner(x: Iterable[Any], z: Iterable[Any]) -> Fraction:
    """Return x.z, exactly.

    Parameters
    ----------
    x, z : iterable of int or Fraction
        Vectors of equal length.
    """
    return sum((a * b for a, b in zip(x, z, strict=True) if a and b), ZERO)


def rationals(X: Any) -> list[list[Fraction]]:
    """Return floats as exact Fractions.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Floats.
    """
    return [[Fraction(v) for v in row] for row in X.tolist()]
