"""Segment of an exact path: a line of multipliers, and its interval of C.

    alpha(C) = alpha_0 + (C - C_0) d,   d_r = weight_r at the upper bound,   d_r = 0 at 0,
    H_TT d_T + s_T db = - (H d)_T of the others

with T the free rows, strictly inside. Every optimality condition is linear in C along
that line, so that the C at which the line is optimal are an interval. If no row is
strictly inside, b may be any number of an interval, whose lower end is the maximum and
whose upper end the minimum of some straight lines: the condition is that the lower end
does not exceed the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from equimargin.solvers.exact.active_set import ActiveSet, Ends
from equimargin.solvers.exact.numbers import Fractions, IntegerProblem, Integers, as_fractions

Line = tuple[Fraction, Fraction]
"""Value and its slope."""
Room = tuple[Fraction | None, Fraction | None]
"""Maximal decrease and maximal increase of C; None if unbounded."""


@dataclass(frozen=True, eq=False)
class ExactPiece:
    """Segment of a path on which one straight line of multipliers is optimal.

    Parameters
    ----------
    low, high : Fraction
        Ends, low <= C <= high; a high of None is infinity.
    constant, slope : tuple[Fraction, ...] of shape (p,)
        Multipliers alpha(C) = constant + C slope.
    f_constant, f_slope : tuple[Fraction, ...] of shape (m,)
        f of the training points, without the bias, is f_constant + C f_slope.
    bias : Line or None
        (b_0, b_1) of the unique optimal bias b_0 + C b_1 strictly inside the segment;
        None if the optimal b are an interval; (0, 0) without a bias.
    """

    low: Fraction
    high: Fraction | None
    constant: tuple[Fraction, ...] = field(repr=False)
    slope: tuple[Fraction, ...] = field(repr=False)
    f_constant: tuple[Fraction, ...] = field(repr=False)
    f_slope: tuple[Fraction, ...] = field(repr=False)
    bias: Line | None = field(repr=False)

    def holds(self, C: Fraction) -> bool:
        """Return True if C is in the segment, ends included.

        Parameters
        ----------
        C : Fraction
            Cost.
        """
        return self.low <= C and (self.high is None or self.high >= C)

    def alpha(self, C: Fraction) -> Fractions:
        """Return alpha(C), (p,).

        Parameters
        ----------
        C : Fraction
            Cost.
        """
        return as_fractions([a + C * d for a, d in zip(self.constant, self.slope, strict=True)])

    def f(self, C: Fraction) -> Fractions:
        """Return f of the training points at C, (m,), without the bias.

        Parameters
        ----------
        C : Fraction
            Cost.
        """
        return as_fractions([a + C * d for a, d in zip(self.f_constant, self.f_slope, strict=True)])

    def same_function(self, other: ExactPiece) -> bool:
        """Return True if both segments have equal f, and equal biases if unique.

        Parameters
        ----------
        other : ExactPiece
            Segment to compare.
        """
        return (self.f_constant, self.f_slope, self.bias) == (
            other.f_constant,
            other.f_slope,
            other.bias,
        )


def piece_around(state: ActiveSet, weights: Fractions, C: Fraction) -> ExactPiece:
    """Return the segment of the path through an optimum.

    Parameters
    ----------
    state : ActiveSet
        State at the optimum for the bounds C x weights.
    weights : Fractions of shape (p,)
        Costs of the rows over C.
    C : Fraction
        Cost, > 0.

    Returns
    -------
    ExactPiece
        Segment; only C itself at some of the finitely many C where a line begins.

    Raises
    ------
    ArithmeticError
        If the state is not optimal.
    """
    numbers, alpha = state.numbers, state.alpha
    d = state.direction(weights)
    f, df = numbers.values(numbers.pulled(alpha)), numbers.values(numbers.pulled(d))
    g = [
        (value - target, slope)
        for value, slope, target in zip(
            numbers.dot(f), numbers.dot(df), numbers.targets, strict=True
        )
    ]
    bias: Line | None = (Fraction(0), Fraction(0))
    if numbers.biased:
        first = state.T[0] if state.T else None
        bias = (
            None
            if first is None
            else (-numbers.s[first] * g[first][0], -numbers.s[first] * g[first][1])
        )
    if (numbers.s * alpha).sum() != 0 or (numbers.s * d).sum() != 0:
        raise ArithmeticError("the path violates s'alpha = 0")
    # C may move until a row reaches a bound, or no bias is optimal any more.
    rooms = list(_rooms(state, alpha, C * weights, d, weights)) + list(_dual_rooms(state, g, bias))
    left = min((room for room, _ in rooms if room is not None), default=C)
    right = min((room for _, room in rooms if room is not None), default=None)
    return ExactPiece(
        max(C - left, Fraction(0)),
        None if right is None else C + right,
        tuple(alpha - C * d),
        tuple(d),
        tuple(f - C * df),
        tuple(df),
        None if bias is None else (bias[0] - C * bias[1], bias[1]),
    )


def bias_lines(
    s: Integers, g: Sequence[Line], up: Integers, down: Integers
) -> tuple[list[Line], list[Line]]:
    """Return the lines below every optimal bias, and those above every optimal bias.

    Parameters
    ----------
    s : Integers of shape (p,)
        Signs of the bias.
    g : sequence of Line, of length p
        A f - t.
    up, down : ndarray of shape (p,)
        True for rows below their upper bound; True for rows above 0.
    """
    at = [(-q * value, -q * slope) for q, (value, slope) in zip(s.tolist(), g, strict=True)]
    return [at[r] for r in np.flatnonzero(np.where(s > 0, up, down))], [
        at[r] for r in np.flatnonzero(np.where(s > 0, down, up))
    ]


def best_biases(numbers: IntegerProblem, box: Fractions, alpha: Fractions, f: Fractions) -> Ends:
    """Return the endpoints of all optimal biases; None if infinite.

    (0, 0) without a bias.

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers; its box is not used.
    box : Fractions of shape (p,)
        Upper bounds.
    alpha : Fractions of shape (p,)
        Optimal multipliers.
    f : Fractions of shape (m,)
        Function values at the training points.
    """
    if not numbers.biased:
        return Fraction(0), Fraction(0)
    g = [(v - t, Fraction(0)) for v, t in zip(numbers.dot(f), numbers.targets, strict=True)]
    below, above = bias_lines(numbers.s, g, alpha < box, alpha > 0)
    return max((value for value, _ in below), default=None), min(
        (value for value, _ in above), default=None
    )


def _rooms(
    state: ActiveSet, alpha: Fractions, box: Fractions, d: Fractions, rise: Fractions
) -> Iterator[Room]:
    """Yield the maximal decrease and increase of C that keep an inner row inside."""
    for r in np.flatnonzero(state.rises & state.falls):
        yield _room(alpha[r], d[r])
        yield _room(box[r] - alpha[r], rise[r] - d[r])


def _dual_rooms(state: ActiveSet, g: Sequence[Line], bias: Line | None) -> Iterator[Room]:
    """Yield the maximal decrease and increase of C with an optimal bias.

    For it, g >= 0 at 0 and inside, and g <= 0 at the upper bound and inside.
    """
    up, down, s = state.rises, state.falls, state.numbers.s
    if bias is None:
        below, above = bias_lines(s, g, up, down)
        yield _until_they_cross(_mirrored(below), _mirrored(above)), _until_they_cross(below, above)
        return
    for r, (value, slope) in enumerate(g):
        value, slope = value + s[r] * bias[0], slope + s[r] * bias[1]
        if up[r]:
            yield _room(value, slope)
        if down[r]:
            yield _room(-value, -slope)


def _room(value: Fraction, slope: Fraction) -> Room:
    """Return the maximal decrease and increase of C that keep a line at least 0."""
    if value < 0:
        raise ArithmeticError("the conditions of the optimum do not hold")
    return value / slope if slope > 0 else None, -value / slope if slope < 0 else None


def _mirrored(lines: Sequence[Line]) -> list[Line]:
    return [(value, -slope) for value, slope in lines]


def _until_they_cross(below: Sequence[Line], above: Sequence[Line]) -> Fraction | None:
    """Return the largest step >= 0 before a line of `below` exceeds one of `above`.

    None if it is unbounded. Newton steps start from the steepest lines: the maximum
    minus the minimum is convex, and at most 0 at the step 0.
    """
    if not below or not above:
        return None
    if max(below)[0] > min(above)[0]:
        raise ArithmeticError("the conditions of the optimum do not hold")
    low, high = max(below, key=lambda line: line[::-1]), min(above, key=lambda line: line[::-1])
    if low[1] <= high[1]:
        return None
    while True:
        step = (high[0] - low[0]) / (low[1] - high[1])
        low = max(below, key=lambda line: line[0] + step * line[1])
        high = min(above, key=lambda line: line[0] + step * line[1])
        if low[0] + step * low[1] <= high[0] + step * high[1]:
            return step
