"""Exact leave-one-out error of a classification at every C, as a step function.

    E(C) = #{ i : y_i (f_-i(x_i) + b_-i) < 0 },      (f_-i, b_-i) optimal without point i

If a point's multiplier is 0 on a whole segment, f stays optimal without the point.
Otherwise the path without the point, that is with a weight of 0, is followed. On every
segment the value of the excluded point is linear in C, and its roots are the steps of
E. As an optimal bias need not be unique, E has two bounds: the number of points on the
wrong side for every optimal bias, and that of points on the wrong side, or of value 0,
for some optimal bias.

References
----------
O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee. Choosing multiple parameters for
support vector machines. 2002, section 3 (points with a multiplier of 0).
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Signed
from equimargin.solvers.exact.active_set import balance
from equimargin.solvers.exact.numbers import Fractions, IntegerProblem, integral, relative_weights
from equimargin.solvers.exact.path.follow import (
    MOST_PIECES,
    PathWarmStart,
    UnsolvedInterval,
    check_path,
    exact_path,
    follow_gaps,
)
from equimargin.solvers.exact.path.piece import ExactPiece, Line, best_biases, bias_lines
from equimargin.solvers.exact.path.result import ExactPath, rational
from equimargin.solvers.exact.program.clock import Clock


class Mistakes(NamedTuple):
    """Number of points on the wrong side of the optimum without them.

    Parameters
    ----------
    least : int
        Points on the wrong side for every optimal bias.
    most : int
        Points on the wrong side, or of value 0, for some optimal bias.
    """

    least: int
    most: int


@dataclass(frozen=True, eq=False)
class LeaveOneOutPath:
    """Leave-one-out error of a classification for C from low to high, in rationals.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the error; its C is ignored.
    low, high : Fraction
        Ends of C; a high of None is infinity.
    steps : tuple[Fraction, ...] of shape (k,)
        C at which the error may change, in increasing order, low first.
    at_steps, after_steps : tuple[Mistakes, ...] of shape (k,)
        Error at every step, and from there to the next one.
    unchanged : Fraction
        Fraction of (point, segment) pairs for which removing the point provably changes
        nothing.
    stopped : str
        Reason why there is no error, as a sentence; empty if there is one.
    seconds : float
        Wall time in seconds.
    """

    problem: MarginProblem = field(repr=False)
    low: Fraction
    high: Fraction | None
    steps: tuple[Fraction, ...] = field(repr=False)
    at_steps: tuple[Mistakes, ...] = field(repr=False)
    after_steps: tuple[Mistakes, ...] = field(repr=False)
    unchanged: Fraction
    stopped: str
    seconds: float

    def at(self, C: Any) -> Mistakes:
        """Return the error at C.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.

        Raises
        ------
        ValueError
            If C is outside of the path, or the error was not computed.
        """
        C = rational(C, "C")
        place = bisect_right(self.steps, C) - 1
        if place < 0 or (self.high is not None and self.high < C):
            raise ValueError(
                f"there is no leave-one-out error at C = {C}"
                + (f": {self.stopped}" if self.stopped else "")
            )
        return self.at_steps[place] if self.steps[place] == C else self.after_steps[place]


def exact_leave_one_out(
    problem: MarginProblem, low: Any = 0, high: Any = None, time_limit: float | None = None
) -> LeaveOneOutPath:
    """Return the leave-one-out error of a classification at every C from low to high.

        E(C) = #{ i : y_i (f_-i(x_i) + b_-i) < 0 },      (f_-i, b_-i) optimal without point i

    Parameters
    ----------
    problem : MarginProblem
        Classification with the hinge and a kernel of rational values; its C is ignored.
    low, high : int, float or Fraction
        Ends of C, as in `exact_path`.
    time_limit : float or None
        Time limit in seconds, for everything.

    Returns
    -------
    LeaveOneOutPath
        Error as a step function; without steps, with the reason, if time ran out.

    Raises
    ------
    ValueError
        If the problem is no classification, or as in `exact_path`.
    """
    check_path(problem)
    if not isinstance(problem.rows, Signed):
        raise ValueError("a leave-one-out error needs a classification")
    clock, started = (
        Clock(inf if time_limit is None else positive(time_limit, "time_limit")),
        time.perf_counter(),
    )
    path = exact_path(problem, low, high, time_limit)
    numbers, weights, stopped = integral(problem), relative_weights(problem), path.stopped
    states, same = [list[_State]() for _ in range(problem.p)], 0
    for i in range(0 if stopped else problem.p):
        point = _Point(numbers, weights, i)
        pieces, unchanged, stopped = point.pieces(path, clock)
        if stopped:
            break
        states[i] = list(point.states(pieces))
        same += unchanged
    steps, at, after = _summed([] if stopped else states)
    share = Fraction(same, max(problem.p * len(path.pieces), 1))
    spent = time.perf_counter() - started
    return LeaveOneOutPath(
        problem, path.low, path.high, tuple(steps), tuple(at), tuple(after), share, stopped, spent
    )


class _State(NamedTuple):
    """State of one point at a C and after it: on the wrong side (1) or not (0)."""

    C: Fraction
    at: Mistakes
    after: Mistakes


class _Point:
    """Excluded point, which has the weight 0."""

    def __init__(self, numbers: IntegerProblem, weights: Fractions, i: int) -> None:
        self.numbers, self.weights, self.i = numbers, weights.copy(), i
        self.weights[i] = Fraction(0)

    def pieces(self, path: ExactPath, clock: Clock) -> tuple[list[ExactPiece], int, str]:
        """Return the path without the point, and the number of unchanged segments.

        The last value is the reason why segments are missing, empty if none is.
        """
        if not clock.left:
            return [], 0, f"the time limit of {clock.seconds:.3g} s does not suffice for all points"
        kept, moved = list[ExactPiece](), list[ExactPiece]()
        for piece in path.pieces:
            unchanged = piece.constant[self.i] == piece.slope[self.i] == 0
            (kept if unchanged else moved).append(piece)
        gaps = self._gaps(moved)
        new, stopped = follow_gaps(self.numbers, self.weights, gaps, clock, MOST_PIECES)
        return sorted([*kept, *new], key=lambda piece: piece.low), len(kept), stopped

    def _gaps(self, pieces: Sequence[ExactPiece]) -> Iterator[UnsolvedInterval]:
        """Yield the intervals covered by these segments, with feasible multipliers.

        In them, the multiplier of the point is 0.
        """
        first = 0
        for last, piece in enumerate(pieces):
            if last + 1 < len(pieces) and pieces[last + 1].low == piece.high:
                continue
            C = piece.low + 1 if piece.high is None else piece.high
            alpha = piece.alpha(C)
            alpha[self.i] = Fraction(0)
            if self.numbers.biased:
                balance(self.numbers, alpha)
            yield UnsolvedInterval(pieces[first].low, piece.high, PathWarmStart(C, alpha))
            first = last + 1

    def states(self, pieces: Sequence[ExactPiece]) -> Iterator[_State]:
        """Yield the initial state, and the states at which the point changes its side."""
        before: Mistakes | None = None
        for piece in pieces:
            beginnings = [piece.low, *sorted(set(self._roots(piece)))]
            for C, following in zip(beginnings, [*beginnings[1:], piece.high], strict=True):
                at = self._side(piece, C)
                after = self._side(piece, C + 1 if following is None else (C + following) / 2)
                if not before == at == after:
                    yield _State(C, at, after)
                before = after
        if pieces and pieces[-1].high is not None:
            at = self._side(pieces[-1], pieces[-1].high)
            yield _State(pieces[-1].high, at, at)

    def _roots(self, piece: ExactPiece) -> Iterator[Fraction]:
        """Yield the C inside a segment at which the point's value may be 0.

        The bias is at an end of its interval.
        """
        f = piece.f_constant[self.i], piece.f_slope[self.i]
        for value, slope in self._biases(piece):
            constant, rate = f[0] + value, f[1] + slope
            root = -constant / rate if rate != 0 else piece.low
            if piece.low < root and (piece.high is None or root < piece.high):
                yield root

    def _biases(self, piece: ExactPiece) -> list[Line]:
        """Return the lines in C of the endpoints of all optimal biases."""
        if piece.bias is not None:
            return [piece.bias]
        f, df = (
            np.asarray(self.numbers.dot(np.array(v, dtype=object)))
            for v in (piece.f_constant, piece.f_slope)
        )
        g = [(v - t, dv) for v, dv, t in zip(f, df, self.numbers.targets, strict=True)]
        slope = np.array(piece.slope, dtype=object)
        below, above = bias_lines(
            self.numbers.s, g, (slope == 0) & (self.weights > 0), (slope != 0) & (self.weights > 0)
        )
        return [*below, *above]

    def _side(self, piece: ExactPiece, C: Fraction) -> Mistakes:
        """Return the point's mistakes at C: both numbers are 0 or 1."""
        f = piece.f(C)
        low, high = best_biases(self.numbers, C * self.weights, piece.alpha(C), f)
        value = f[self.i]
        if self.numbers.entry[self.i, 0] > 0:
            return Mistakes(high is not None and value + high < 0, low is None or value + low <= 0)
        return Mistakes(low is not None and value + low > 0, high is None or value + high >= 0)


def _summed(
    states: Sequence[Sequence[_State]],
) -> tuple[list[Fraction], list[Mistakes], list[Mistakes]]:
    """Return the C at which points change sides, and the errors at and after each C."""
    changes: defaultdict[Fraction, list[tuple[int, _State]]] = defaultdict(list)
    for i, own in enumerate(states):
        for state in own:
            changes[state.C].append((i, state))
    now = [Mistakes(0, 0)] * len(states)
    steps, at, after = sorted(changes), list[Mistakes](), list[Mistakes]()
    for C in steps:
        here = now.copy()
        for i, state in changes[C]:
            here[i], now[i] = state.at, state.after
        at.append(_total(here))
        after.append(_total(now))
    return steps, at, after


def _total(sides: Sequence[Mistakes]) -> Mistakes:
    return Mistakes(sum(side.least for side in sides), sum(side.most for side in sides))
