"""Derivatives of exact optima against difference quotients with steps 2^-80 and 2^-120.

The problem is made from its definition, one of its numbers is changed by a rational
step, and the new optimum is computed by exact pivots from multipliers of 0. Only the
data and the initial optimum are shared with the code of the derivatives. On a smooth
piece the error of a difference quotient decreases with the step, so that at the smaller
step it must be almost 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np

from campaigns.exact.nightly import Definition, kernel_matrix
from equimargin.formulations import MarginProblem
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact.active_set import ActiveSet, Ends, check_optimality
from equimargin.solvers.exact.numbers import IntegerProblem, as_integers, integral
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.sensitivity import (
    Cost,
    ExactSensitivity,
    Feature,
    OneSidedDerivatives,
    Parameter,
    Target,
    Weight,
)
from oracles.rationals import entry, fractions

STEPS = (Fraction(1, 2**80), Fraction(1, 2**120))
"""Steps, in the units of the changed number.

In data of few digits the larger step is far below the length of a smooth piece.
"""
FALL = Fraction(1, 2**20)
"""Maximum error of a difference quotient at the smaller step, over that at the larger.

On a smooth piece the ratio is 2^-40.
"""
RIGHT = Fraction(1, 2**30)
"""Maximum error of a difference quotient at the smaller step, over 1 + the derivative."""

Vector = Sequence[Fraction]


@dataclass(frozen=True)
class Optimum:
    """Optimum of a problem.

    Parameters
    ----------
    value : Fraction
        Optimal value.
    f : list[Fraction]
        Values of f at the points, shape (m,).
    at_new : list[Fraction]
        Values of f at new points, shape (n,).
    bias : Ends
        Ends of the interval of optimal b.
    """

    value: Fraction
    f: list[Fraction]
    at_new: list[Fraction]
    bias: Ends


def optimum_at(
    problem: MarginProblem, parameter: Parameter, step: Fraction, new: Sequence[Vector]
) -> Optimum:
    """Return the optimum of the problem with one number increased by a step.

    All optimality conditions are checked in rationals.
    """
    at = Definition(problem)
    X = [fractions(row) for row in dense(problem.X)]
    c, t = [v or Fraction(0) for v in at.c], list(at.t)
    if isinstance(parameter, Cost):
        c = [v * (1 + step / Fraction(problem.C)) for v in c]
    elif isinstance(parameter, Weight):
        alone = np.zeros(problem.rows.groups)
        alone[parameter.index] = 1.0
        c = [
            v + step * (w or Fraction(0))
            for v, w in zip(c, Definition(replace(problem, weights=alone)).c, strict=True)
        ]
    elif isinstance(parameter, Target):
        i = parameter.index
        for r, sign in (
            ((i, 1), (problem.m + i, -1)) if isinstance(problem.rows, Tube) else ((i, 1),)
        ):
            t[r] += sign * step
    elif isinstance(parameter, Feature):
        X[parameter.point][parameter.column] += step
    K = kernel_matrix(problem.kernel, X, Fraction(problem.gram.shift))
    numbers = _in_integers(problem, K, t, c)
    state = ActiveSet(numbers, Clock(inf))
    state.start(state.alpha, [])
    assert state.run() is None
    low, high = state.bias() if numbers.biased else (Fraction(0), Fraction(0))
    value = check_optimality(
        numbers, state.alpha, low if low is not None else high if high is not None else Fraction(0)
    )
    beta = at.rdot(list(state.alpha))
    f = [sum((k * v for k, v in zip(row, beta, strict=True)), Fraction(0)) for row in K]
    at_new = [
        sum((v * entry(problem.kernel, [*z], x) for v, x in zip(beta, X, strict=True)), Fraction(0))
        for z in new
    ]
    return Optimum(value, f, at_new, (low, high))


def wrong_derivatives(found: ExactSensitivity, new: Any = None) -> Iterator[str]:
    """Yield the contradictions between derivatives and differences of exact optima."""
    problem: Any = found.optimum.problem
    points = [] if new is None else [fractions(row) for row in new]
    here = optimum_at(problem, found.parameter, Fraction(0), points)
    unique = here.bias[0] is not None and here.bias[0] == here.bias[1]
    for way, side in ((-1, "left"), (1, "right")):
        if getattr(found.value, side) is None:
            moving = found.parameter
            if not (
                way < 0
                and isinstance(moving, Weight)
                and problem.weights is not None
                and problem.weights[moving.index] == 0
            ):
                yield f"no derivative to the {side}"
            continue
        there = [optimum_at(problem, found.parameter, way * step, points) for step in STEPS]
        yield from _wrong(
            f"the value to the {side}", found.value, side, way, here.value, [v.value for v in there]
        )
        for i, sides in enumerate((*found.f, *found.at_new)):
            moved = [(v.f + v.at_new)[i] for v in there]
            yield from _wrong(
                f"f at point {i} to the {side}", sides, side, way, (here.f + here.at_new)[i], moved
            )
        yield from _wrong_bias(found, side, way, here, there, unique)


def _wrong_bias(
    found: ExactSensitivity, side: str, way: int, here: Optimum, there: list[Optimum], unique: bool
) -> Iterator[str]:
    ends = [[v.bias[k] for v in there] for k in (0, 1)]
    closed = all(end is not None for pair in ends for end in pair)
    if getattr(found.bias, side) is None:
        if unique and closed and ends[0] == ends[1]:
            yield f"no derivative of a unique bias to the {side}"
        return
    if not unique or not closed:
        yield f"a derivative to the {side} of a bias that is not unique"
        return
    for pair in ends:
        after = [end or Fraction(0) for end in pair]
        yield from _wrong(
            f"the bias to the {side}", found.bias, side, way, here.bias[0] or Fraction(0), after
        )


def _wrong(
    what: str,
    sides: OneSidedDerivatives,
    side: str,
    way: int,
    before: Fraction,
    after: list[Fraction],
) -> Iterator[str]:
    derivative = getattr(sides, side)
    errors = [
        abs((v - before) / (way * step) - derivative) for v, step in zip(after, STEPS, strict=True)
    ]
    if errors[1] > FALL * errors[0] or errors[1] > RIGHT * (1 + abs(derivative)):
        yield (
            f"{what}: {float(derivative)!r} is not the limit of differences, off by "
            f"{float(errors[0]):.1e} and {float(errors[1]):.1e}"
        )


def _in_integers(
    problem: MarginProblem, K: list[list[Fraction]], t: list[Fraction], c: list[Fraction]
) -> IntegerProblem:
    """Return the problem in integers, from its Gram matrix, targets and finite costs."""
    ridge = [1 / (2 * v) if problem.squared and v else Fraction(0) for v in c]
    unit = lcm(
        *(v.denominator for row in K for v in row),
        *(v.denominator for v in t),
        *(v.denominator for v in ridge),
    )
    flat = as_integers([v * unit for row in K for v in row])
    return replace(
        integral(problem),
        K=flat.reshape(problem.m, problem.m),
        unit=unit,
        t=as_integers([v * unit for v in t]),
        ridge=as_integers([v * unit for v in ridge]),
        box=[v if not problem.squared or v == 0 else None for v in c],
    )
