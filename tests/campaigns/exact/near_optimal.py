"""Random functions near the optimum, against proven properties of all such functions.

`Solution.stability(eps)` states properties of all functions whose objective exceeds the
optimum by at most eps, proven from one approximate solution. The objective P of a
random f at its best biases is computed in rationals, and eps = P - optimum. The
properties must hold for f with its smallest and its largest best bias, and for the
exact optimum with its smallest and its largest optimal bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf

import numpy as np

from campaigns.exact.nightly import Definition
from equimargin.formulations import MarginProblem
from equimargin.formulations.bounds.sensitivity import Sensitivity
from equimargin.formulations.bounds.stability import Stability
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers import ExactOptimum, exact_optimum, solve
from equimargin.solvers.exact.active_set import Ends
from equimargin.solvers.exact.sensitivity import Cost, Parameter, Target, Weight, exact_sensitivity

TOLERANCES = (0.3, 1e-2, 1e-5, 1e-9)
"""Relative gaps of the approximate solutions."""
SIZES = (Fraction(1, 2**30), Fraction(1, 2**10), Fraction(1, 16), Fraction(1))
"""Distances of functions from the optimal one; one function of each is drawn."""
FAR = Fraction(1000)
"""Distance of the tried best bias from the finite end if the other end is infinite."""


def wrong_bounds(problem: MarginProblem, number: Sequence[int]) -> Iterator[str]:
    """Yield the proven properties of near-optimal functions that fail for one of them."""
    rng = np.random.default_rng([*number, 2])
    solution = solve(problem, tol=float(rng.choice(TOLERANCES)), time_limit=20.0)
    exact, at = exact_optimum(problem), Definition(problem)
    assert exact.value is not None
    ball, found = solution.stability(), solution.stability().rows()
    yield from _outside(ball, at, list(exact.beta), exact.bias, "the optimum")
    for alpha, c, where in zip(exact.alpha, at.c, found.tolist(), strict=True):
        if (where == -1 and alpha != 0) or (
            where == 1 and (alpha == 0 or not (at.squared or alpha == c))
        ):
            yield "a multiplier of the optimum that is not where it was said to be"
    if not any(c is None for c in at.c):
        yield from _wrong_intervals(solution.sensitivity(), exact, problem, rng)
    for size in SIZES:
        change = rng.integers(-8, 9, problem.m) * rng.integers(0, 2, problem.m)
        beta = [v + size * int(d) for v, d in zip(exact.beta, change, strict=True)]
        f = at.times_K(beta)
        low, high = best_bias(at, f)
        b = low if low is not None else high if high is not None else Fraction(0)
        norm2 = sum((v * w for v, w in zip(beta, f, strict=True)), Fraction(0))
        value = at.primal_of(f, norm2, b)
        assert value is not None
        eps = np.nextafter(float(value - exact.value), inf)
        yield from _outside(
            solution.stability(eps), at, beta, (low, high), f"a function within {eps:.2g}"
        )


def _wrong_intervals(
    intervals: Sensitivity, exact: ExactOptimum, problem: MarginProblem, rng: np.random.Generator
) -> Iterator[str]:
    """Yield the intervals of derivatives that do not contain the exact ones.

    The derivatives are those in C, in a target, and in the weight of a single row.
    """
    r = int(rng.integers(max(problem.p, 1)))
    asked: list[tuple[Parameter, float, float]] = [(Cost(), *intervals.cost)]
    if problem.p and not isinstance(problem.rows, Tube):
        asked.append((Target(r), intervals.targets[0][r], intervals.targets[1][r]))
    if (
        problem.p
        and problem.rows.groups == problem.p
        and not isinstance(problem.rows, LabelledPairs)
    ):
        asked.append((Weight(r), intervals.weights[0][r], intervals.weights[1][r]))
    for parameter, low, high in asked:
        value = exact_sensitivity(problem, parameter, optimum=exact).value
        if any(
            side is not None and not (below(low, side) and below(side, high))
            for side in (value.left, value.right)
        ):
            yield f"the derivative in {parameter} is not within [{low!r}, {high!r}]"


def _outside(
    ball: Stability, at: Definition, beta: list[Fraction], bias: Ends, what: str
) -> Iterator[str]:
    """Yield the proven properties that fail for a function at its best biases."""
    f, m = at.times_K(beta), at.m
    low, high = bias
    ends = [
        low if low is not None else (high or Fraction(0)) - FAR,
        high if high is not None else (low or Fraction(0)) + FAR,
    ]
    least, most = ball.decisions()
    signs, rows = ball.signs().tolist(), ball.rows().tolist()
    for b in ends:
        values = [v + b for v in f]
        if any(
            not below(one, v) or not below(v, other)
            for v, one, other in zip(values, least, most, strict=True)
        ):
            yield f"{what} has a value outside its bounds"
        if any(sign * v < 0 or (sign and v == 0) for sign, v in zip(signs, values, strict=True)):
            yield f"{what} has another sign"
        slacks = [t - v - b * s for t, v, s in zip(at.t, at.dot(f), at.s, strict=True)]
        if any(c != 0 and where * u < 0 for where, u, c in zip(rows, slacks, at.c, strict=True)):
            yield f"{what} has a slack of another sign"
    i, j = np.divmod(np.arange(m * m), m)
    orders = ball.orders(i, j).tolist()
    if any(
        sign and sign * (f[one] - f[other]) <= 0
        for one, other, sign in zip(i, j, orders, strict=True)
    ):
        yield f"{what} has two points in another order"


def below(one: float | Fraction, other: float | Fraction) -> bool:
    """Return True if one <= other, exactly, for Fractions and possibly infinite floats."""
    return (
        one == -inf
        or other == inf
        or (one != inf and other != -inf and Fraction(one) <= Fraction(other))
    )


def best_bias(at: Definition, f: Sequence[Fraction]) -> Ends:
    """Return the ends of the interval of b with minimal sum of losses; None is infinite.

    They follow from the slopes of the sum at its breakpoints.
    """
    if not any(at.s):
        return Fraction(0), Fraction(0)
    rows = [
        (s * (t - v), s, c) for t, v, s, c in zip(at.t, at.dot(f), at.s, at.c, strict=True) if c
    ]
    kinks = sorted({v for v, _, _ in rows})
    if not kinks:
        return None, None
    kinks = [kinks[0] - 1, *kinks, kinks[-1] + 1]

    def slope(b: Fraction, side: int) -> Fraction:
        """Return the derivative of the sum of losses at b, to the left (-1) or right (1)."""
        open_rows = ((v, s, c) for v, s, c in rows if s * (v - b) > 0 or (v == b and s == -side))
        return sum(
            (-s * c * (2 * abs(v - b) if at.squared else 1) for v, s, c in open_rows), Fraction(0)
        )

    inside = [b for b in kinks if slope(b, -1) <= 0 <= slope(b, 1)]
    if not inside:
        left = max(b for b in kinks if slope(b, 1) < 0)
        right = min(b for b in kinks if slope(b, -1) > 0)
        root = left + (right - left) * slope(left, 1) / (slope(left, 1) - slope(right, -1))
        return root, root
    return (None if inside[0] == kinks[0] else inside[0]), (
        None if inside[-1] == kinks[-1] else inside[-1]
    )
