"""Exact regularisation path of a hinge problem: all optima in rational numbers.

    min  1/2 alpha' A K A' alpha - t'alpha    s.t.  0 <= alpha <= C weight,  [ s'alpha = 0 ]

alpha and f are piecewise linear in C = 1 / lambda, with rational breakpoints. The exact
optimum at one C determines the line on which alpha moves, and the interval on which
that line is optimal. The remaining intervals on both sides are treated likewise, from a
C near their middle. There are finitely many lines, and finitely many C whose optimum
does not determine one, so that the method terminates.

References
----------
Document P, section 5.

T. Hastie, S. Rosset, R. Tibshirani, J. Zhu. The entire regularization path for the
support vector machine. 2004.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.exact.active_set import ActiveSet, round_to_active_set
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    fractions,
    integral,
    relative_weights,
    semidefinite,
)
from equimargin.solvers.exact.optimum import FLOAT_SECONDS, FLOAT_SHARE, float_solution
from equimargin.solvers.exact.path.piece import ExactPiece, piece_around
from equimargin.solvers.exact.path.result import ExactPath, rational
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact_limits import refusal

MOST_PIECES = 10_000
"""Default maximum number of segments."""


class PathWarmStart(NamedTuple):
    """Optimal multipliers at a C > 0, from which pivots start at another C.

    Parameters
    ----------
    C : Fraction
        Cost C.
    alpha : Fractions of shape (p,)
        Multipliers.
    """

    C: Fraction
    alpha: Fractions


class UnsolvedInterval(NamedTuple):
    """Interval without segments so far, and an optimum near it.

    Parameters
    ----------
    low : Fraction
        Lower end.
    high : Fraction | None
        Upper end; None if infinite.
    near : PathWarmStart
        Optimum near the interval.
    """

    low: Fraction
    high: Fraction | None
    near: PathWarmStart


def exact_path(
    problem: MarginProblem,
    low: Any = 0,
    high: Any = None,
    time_limit: float | None = None,
    max_pieces: int = MOST_PIECES,
) -> ExactPath:
    """Return the regularisation path from low to high in rational numbers.

    It gives the exact optimum at every cost C.

        alpha(C) = constant + C slope,   f = sum_i (A'alpha)_i k(x_i, .),   on each segment

    Parameters
    ----------
    problem : MarginProblem
        MarginProblem with the hinge and a kernel of rational values; its C is ignored.
    low, high : int, float or Fraction
        Ends of C = 1 / lambda, 0 <= low < high; a high of None is infinity.
    time_limit : float or None
        Time limit in seconds; no linear system is started that may exceed it.
    max_pieces : int
        Maximum number of segments.

    Returns
    -------
    ExactPath
        Segments and breakpoints; if time or segments ran out, the segments found until
        then and the reason.

    Raises
    ------
    ValueError
        If the problem has no such path or is too large, or if ends or limits are
        invalid.

    References
    ----------
    Document P, section 5.
    """
    check_path(problem)
    problem = problem.proven
    ends = _interval_of_costs(low, high)
    max_pieces = check_count(max_pieces, "max_pieces")
    clock = Clock(inf if time_limit is None else positive(time_limit, "time_limit"))
    started = time.perf_counter()
    numbers, weights = integral(problem), relative_weights(problem)
    try:
        semidefinite(problem, numbers, clock)
        gaps = [UnsolvedInterval(*ends, _start(problem, numbers, weights, _inside(*ends), clock))]
        pieces, stopped = follow_gaps(numbers, weights, gaps, clock, max_pieces)
    except OutOfTime as spent:
        pieces, stopped = [], str(spent)
    return ExactPath(problem, *ends, tuple(pieces), stopped, time.perf_counter() - started)


def check_path(problem: Any) -> None:
    """Raise ValueError, with the reason, if a problem has no exact path.

    Parameters
    ----------
    problem : object
        Problem to check.
    """
    if not isinstance(problem, MarginProblem):
        raise ValueError(
            "an exact path needs a margin problem; for a one-norm problem use `regularization_path`"
        )
    if problem.loss != "hinge":
        raise ValueError(
            f"an exact path needs the hinge: the path of the {problem.phi.words} has "
            f"irrational breakpoints"
        )
    if np.isinf(problem.unit_weights).any():
        raise ValueError("rows of infinite weight have no share of C")
    refused = refusal(problem)
    if refused is not None:
        raise ValueError(str(refused))


def _interval_of_costs(low: Any, high: Any) -> tuple[Fraction, Fraction | None]:
    """Return the ends of C as Fractions, 0 <= low < high; None for a high of None or inf."""
    ends = (
        rational(low, "low"),
        None
        if high is None or (isinstance(high, float) and high == np.inf)
        else rational(high, "high"),
    )
    if ends[0] < 0:
        raise ValueError(f"low must be at least 0, not {low!r}")
    if ends[1] is not None and ends[1] <= ends[0]:
        raise ValueError(f"high must be above low = {low!r}, not {high!r}")
    return ends


def follow_gaps(
    numbers: IntegerProblem,
    weights: Fractions,
    gaps: Iterable[UnsolvedInterval],
    clock: Clock,
    max_pieces: int,
) -> tuple[list[ExactPiece], str]:
    """Return the segments in some intervals, in order, and why some are missing.

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers; its box is not used.
    weights : Fractions of shape (p,)
        Costs of the rows over C.
    gaps : iterable of UnsolvedInterval
        Intervals.
    clock : Clock
        Time limit.
    max_pieces : int
        Maximum number of segments.

    Returns
    -------
    pieces : list[ExactPiece]
        Segments.
    stopped : str
        Reason why segments are missing; empty if none is.
    """
    pieces, left = list[ExactPiece](), list(gaps)
    while left:
        gap = left.pop()
        if len(pieces) >= max_pieces:
            return _joined(pieces), f"there are more than {max_pieces:,} pieces"
        C = _inside(gap.low, gap.high)
        try:
            state = _optimal(numbers, weights, C, gap.near, clock)
            piece = _within(piece_around(state, weights, C), gap)
        except OutOfTime as spent:
            return _joined(pieces), str(spent)
        if piece.high is not None and piece.high != gap.high:
            near = PathWarmStart(piece.high, piece.alpha(piece.high))
            left.append(UnsolvedInterval(piece.high, gap.high, near))
        if piece.low != gap.low:
            near = PathWarmStart(piece.low, piece.alpha(piece.low))
            left.append(UnsolvedInterval(gap.low, piece.low, near))
        if piece.low != piece.high:
            pieces.append(piece)
    return _joined(pieces), ""


def _within(piece: ExactPiece, gap: UnsolvedInterval) -> ExactPiece:
    """Return the part of a segment that lies in an interval."""
    ends = [end for end in (piece.high, gap.high) if end is not None]
    return replace(piece, low=max(piece.low, gap.low), high=min(ends, default=None))


def _start(
    problem: MarginProblem, numbers: IntegerProblem, weights: Fractions, C: Fraction, clock: Clock
) -> PathWarmStart:
    """Return feasible multipliers at C near those of a float solution; 0 without one."""
    # Floats only propose a start; the pivots are exact.
    with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
        rounded = problem.with_cost(float(C))
        point = float_solution(rounded, min(FLOAT_SECONDS, FLOAT_SHARE * clock.left))
        return PathWarmStart(C, round_to_active_set(rounded, _boxed(numbers, weights, C), point)[0])
    return PathWarmStart(C, fractions(numbers.p))


def _boxed(numbers: IntegerProblem, weights: Fractions, C: Fraction) -> IntegerProblem:
    return replace(numbers, box=(C * weights).tolist())


def _optimal(
    numbers: IntegerProblem, weights: Fractions, C: Fraction, near: PathWarmStart, clock: Clock
) -> ActiveSet:
    """Return the state at the optimum of C, started from scaled multipliers of `near`."""
    state = ActiveSet(_boxed(numbers, weights, C), clock)
    alpha: Fractions = near.alpha * (C / near.C)
    depths = [min(a, C * w - a) for a, w in zip(alpha, weights, strict=True)]
    state.start(
        alpha, sorted((r for r, depth in enumerate(depths) if depth > 0), key=lambda r: -depths[r])
    )
    state.run()
    return state


def _inside(low: Fraction, high: Fraction | None) -> Fraction:
    """Return the simplest fraction in the middle half of an interval.

    Its denominator is the smallest possible, so that numbers stay short.
    """
    if high is None:
        return Fraction(2 * (low.numerator // low.denominator) + 1)
    quarter = (high - low) / 4
    return _simplest(low + quarter, high - quarter)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high], 0 < low <= high."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def _joined(pieces: list[ExactPiece]) -> list[ExactPiece]:
    """Return the segments in order, with neighbours on one line merged."""
    joined: list[ExactPiece] = []
    for piece in sorted(pieces, key=lambda piece: piece.low):
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.high == piece.low
            and (last.constant, last.slope) == (piece.constant, piece.slope)
        ):
            joined[-1] = replace(last, high=piece.high)
        else:
            joined.append(piece)
    return joined
