"""One-sided derivatives of an exact optimum, in rational numbers.

While a parameter moves, the optimum follows a smooth segment; at a breakpoint it passes
from one to another, and its left and right derivatives differ. Those of the value
follow from Danskin's theorem,

    V' = min over optimal b of sum_r c'_r loss(u_r)
         + max over optimal alpha of sum_r alpha_r (t'_r - A_ri df(x) / dx_k),

which is the sum of losses if C moves. Those of f follow from a linear system inside a
segment, or a quadratic program at a breakpoint (`tangent`, `degenerate`).

References
----------
J. M. Danskin. The theory of max-min. 1966.

A. Shapiro. Sensitivity analysis of nonlinear programs. 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import new_points
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.solvers.exact.numbers import IntegerProblem, as_fractions, finite_costs, integral
from equimargin.solvers.exact.optimum import ExactOptimum, exact_optimum
from equimargin.solvers.exact.sensitivity.base import SensitivityBase, followed_bias
from equimargin.solvers.exact.sensitivity.degenerate import by_quadratic_program, with_gain
from equimargin.solvers.exact.sensitivity.direction import (
    ZERO,
    Direction,
    direction,
    inner,
    kernel_values,
    rationals,
)
from equimargin.solvers.exact.sensitivity.parameters import Parameter, Weight, check_parameter
from equimargin.solvers.exact.sensitivity.tangent import Tangent
from equimargin.solvers.solution import Status

DEFAULT_SECONDS = 60.0
"""Default time limit, in seconds, of each program of a degenerate derivative."""


@dataclass(frozen=True)
class OneSidedDerivatives:
    """Left and right derivative of a number.

    Parameters
    ----------
    left, right : Fraction or None
        Derivatives; None if there is none, or the number is not unique.
    """

    left: Fraction | None
    right: Fraction | None

    @property
    def kink(self) -> bool:
        """True if both exist and differ."""
        return self.left is not None and self.right is not None and self.left != self.right


@dataclass(frozen=True, eq=False)
class ExactSensitivity:
    """Derivatives of an exact optimum in one parameter of its problem.

    Parameters
    ----------
    optimum : ExactOptimum
        Exact optimum.
    parameter : Parameter
        Parameter.
    value : OneSidedDerivatives
        Derivatives of the optimal value.
    f : tuple[OneSidedDerivatives, ...]
        Derivatives of f at the training points, (m,); at a moving point, of f at its
        moving position.
    at_new : tuple[OneSidedDerivatives, ...]
        Derivatives of f at the new points, (n,).
    bias : OneSidedDerivatives
        Derivatives of b; None in it if the optimal b is not unique.
    regular : bool
        True if one linear system gave both the left and the right derivatives.
    """

    optimum: ExactOptimum = field(repr=False)
    parameter: Parameter
    value: OneSidedDerivatives
    f: tuple[OneSidedDerivatives, ...] = field(repr=False)
    at_new: tuple[OneSidedDerivatives, ...] = field(repr=False)
    bias: OneSidedDerivatives
    regular: bool

    @property
    def kink(self) -> bool:
        """True if the value, f or the bias has different left and right derivatives."""
        return any(sides.kink for sides in (self.value, self.bias, *self.f, *self.at_new))


def exact_sensitivity(
    problem: Problem,
    parameter: Parameter,
    new: Any = None,
    optimum: ExactOptimum | None = None,
    time_limit: float | None = None,
) -> ExactSensitivity:
    """Return the left and right derivatives of the optimal value, f and the bias.

    Parameters
    ----------
    problem : Problem
        MarginProblem with finite costs, within the limits of `exact_optimum`.
    parameter : Parameter
        Parameter: Cost(), Weight(k), Target(i) or Feature(i, k).
    new : array-like of shape (n, d)
        Further points at which f is differentiated; not for a precomputed Gram matrix.
    optimum : ExactOptimum or None
        Exact optimum of the problem, if known.
    time_limit : float or None
        Time limit, in seconds, of the optimum, and of each program at a breakpoint.

    Returns
    -------
    ExactSensitivity
        Derivatives; none to the left of a weight of 0, which cannot decrease.

    Raises
    ------
    ValueError
        If the problem is a linear program or has hard rows, lacks the parameter, or is
        not the problem of the optimum.
    ArithmeticError
        If no optimum is found within the limits.

    References
    ----------
    J. M. Danskin. The theory of max-min. 1966.

    A. Shapiro. Sensitivity analysis of nonlinear programs. 1988.
    """
    if not isinstance(problem, MarginProblem):
        raise ValueError(
            "derivatives need a margin problem: a linear program may have many optimal functions"
        )
    if np.isinf(problem.costs).any():
        raise ValueError(
            "rows that must be met have no derivative in general, as a change may make them "
            "infeasible; give finite costs"
        )
    problem = problem.proven
    check_parameter(problem, parameter)
    seconds = DEFAULT_SECONDS if time_limit is None else positive(time_limit, "time_limit")
    points = _new_points(problem, new)
    if optimum is None:
        optimum = exact_optimum(problem, time_limit)
    elif optimum.problem is not problem:
        raise ValueError("the optimum must be that of `problem`, not of another problem")
    if optimum.status is not Status.OPTIMAL:
        raise ArithmeticError(f"derivatives need an exact optimum: {optimum.reason}")
    numbers = integral(problem)
    base = _base(problem, numbers, optimum)
    way = direction(problem, numbers, parameter, points)
    K = [kernel_values(problem.kernel, x, rationals(dense(problem.X))) for x in points]
    right, regular = _side(base, way, K, seconds)
    # At a regular optimum both derivatives are equal. A weight of 0 has no left one.
    left = right
    if (
        isinstance(parameter, Weight)
        and problem.weights is not None
        and problem.weights[parameter.index] == 0
    ):
        left = [None] * len(right)
    elif not regular:
        left = [None if v is None else -v for v in _side(base, way.reversed, K, seconds)[0]]
    value, bias, *f = map(OneSidedDerivatives, left, right)
    return ExactSensitivity(
        optimum, parameter, value, tuple(f[: problem.m]), tuple(f[problem.m :]), bias, regular
    )


def _new_points(problem: MarginProblem, new: Any) -> list[list[Fraction]]:
    if new is None:
        return []
    if problem.kernel.given:
        raise ValueError("f of a precomputed Gram matrix is not known at new points")
    return rationals(dense(new_points(new, problem.X, problem.feature_names)))


def _base(
    problem: MarginProblem, numbers: IntegerProblem, optimum: ExactOptimum
) -> SensitivityBase:
    c, alpha, beta = map(as_fractions, (finite_costs(problem), optimum.alpha, optimum.beta))
    f = numbers.values(beta)
    return SensitivityBase(numbers, problem.squared, c, alpha, beta, f, optimum.bias)


def _side(
    base: SensitivityBase, way: Direction, K: Sequence[Sequence[Fraction]], seconds: float
) -> tuple[list[Fraction | None], bool]:
    """Return the derivatives along a direction; True if one linear system gave them.

    In order: of the value, of the bias (None if it is not unique), of f at the points,
    and of f at the new points. K (n, m) has the kernel values at the new points.
    """
    b, losses, unique = followed_bias(base, way)
    tangent = Tangent(base, way, base.slacks(b), base.alpha > 0, base.alpha < base.c)
    moved, gain, face = way.moved, ZERO, None
    coefficient = ZERO if moved is None else base.beta[moved.point]
    alpha = tangent.by_linear_system()
    regular = alpha is not None
    if alpha is None:
        tangent, face = with_gain(tangent, seconds)
        gain = ZERO if face is None else face.gain
        alpha, coefficient = by_quadratic_program(tangent, face, seconds)
    beta = base.numbers.pulled(alpha)
    f = base.numbers.values(beta)
    at_new = as_fractions([inner(row, beta.tolist()) for row in K])
    if moved is not None:
        f, at_new = f + coefficient * moved.first, at_new + coefficient * moved.at_new
    bias = (
        tangent.bias(alpha, f)
        if base.numbers.biased and unique
        else None
        if base.numbers.biased
        else ZERO
    )
    if moved is not None:
        f[moved.point] += tangent.slope
    return [losses + base.alpha @ tangent.g + gain, bias, *f, *at_new], regular
