"""The exact path of a hinge's problem: every optimum at every C, in rational numbers.

    min  1/2 alpha' A K A' alpha - t'alpha    s.t.  0 <= alpha <= C weight,  [ s'alpha = 0 ]

alpha and f are piecewise linear in C = 1 / lambda, with rational breakpoints. The exact
optimum at one C says on which line alpha moves, and how far that line is optimal; what
is left of the interval on both sides is filled in the same way, from a C near its
middle. There are finitely many lines, and finitely many C at which an optimum does not
say which, so that this ends.

Source: document P, section 5; Hastie, Rosset, Tibshirani, Zhu, The entire
regularization path for the support vector machine (2004).
"""

from __future__ import annotations

import time
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
    as_fractions,
    fractions,
    integral,
    semidefinite,
)
from equimargin.solvers.exact.optimum import FLOAT_SECONDS, FLOAT_SHARE, float_solution
from equimargin.solvers.exact.path.piece import ExactPiece, piece_around
from equimargin.solvers.exact.path.result import ExactPath, rational
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact_limits import refusal

MOST_PIECES = 10_000
"""Pieces at most, unless another number is given."""


class PathWarmStart(NamedTuple):
    """Optimal multipliers at a C > 0, from which pivots begin at another C."""

    C: Fraction
    alpha: Fractions


class UnsolvedInterval(NamedTuple):
    """An interval without pieces as yet, up to `high`, or without end, and an optimum near it."""

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
    """The whole regularisation path in rational numbers: every optimum at every cost C from low to high.

        alpha(C) = constant + C slope,   f = sum_i (A'alpha)_i k(x_i, .),   on each of finitely many pieces

    Parameters
    ----------
    problem : MarginProblem
        A MarginProblem with the hinge whose kernel has rational values; its C is
        ignored.
    low, high : Any
        The ends of C = 1 / lambda, 0 <= low < high, integers, floats or Fractions; a
        high of None is infinity.
    time_limit : float | None
        Seconds; no linear system is begun that may take longer.
    max_pieces : int
        Pieces at most.

    Returns
    -------
    ExactPath
        Its pieces and breakpoints; where time or pieces were spent, the pieces found
        until then and a sentence.

    Raises
    ------
    ValueError
        A problem that has no such path or is too large, in a sentence; wrong ends or
        limits.

    Source: document P, section 5.
    """
    check_path(problem)
    ends = interval_of_costs(low, high)
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
    """Raise ValueError where a problem has no exact path here, with the reason."""
    if not isinstance(problem, MarginProblem):
        raise ValueError(
            "an exact path is of a problem with a margin; of a one-norm problem there is "
            "`regularization_path`"
        )
    if problem.loss != "hinge":
        raise ValueError(
            f"an exact path is of the hinge: that of the {problem.phi.words} has "
            f"breakpoints that are no rational numbers"
        )
    if np.isinf(problem.unit_weights).any():
        raise ValueError("rows of infinite weight have no share of C")
    refused = refusal(problem)
    if refused is not None:
        raise ValueError(str(refused))


def interval_of_costs(low: Any, high: Any) -> tuple[Fraction, Fraction | None]:
    """The ends of C as Fractions; a high of None or inf is None.

    Raises
    ------
    ValueError
        Ends that are not numbers, 0 <= low < high.
    """
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


def relative_weights(problem: MarginProblem) -> Fractions:
    """The costs of the rows over C, (p,), as Fractions."""
    return as_fractions([Fraction(w) for w in problem.unit_weights.tolist()])


def follow_gaps(
    numbers: IntegerProblem,
    weights: Fractions,
    gaps: list[UnsolvedInterval],
    clock: Clock,
    max_pieces: int,
) -> tuple[list[ExactPiece], str]:
    """The pieces in some intervals, in their order, and why there are no more: an empty sentence where they are all.

    Parameters
    ----------
    numbers : IntegerProblem
        The problem in integers, whose box is not read.
    weights : Fractions of shape (p,)
        Fractions.
    gaps : list[UnsolvedInterval]
        The intervals.
    clock : Clock
        The time limit.
    max_pieces : int
        Pieces at most.
    """
    pieces, gaps = list[ExactPiece](), list(gaps)
    while gaps:
        gap = gaps.pop()
        if len(pieces) >= max_pieces:
            return _joined(pieces), f"there are more than {max_pieces:,} pieces"
        C = _inside(gap.low, gap.high)
        try:
            state = _optimal(numbers, weights, C, gap.near, clock)
            piece = _within(piece_around(state, weights, C), gap)
        except OutOfTime as spent:
            return _joined(pieces), str(spent)
        if piece.high is not None and piece.high != gap.high:
            gaps.append(
                UnsolvedInterval(
                    piece.high, gap.high, PathWarmStart(piece.high, piece.alpha(piece.high))
                )
            )
        if piece.low != gap.low:
            gaps.append(
                UnsolvedInterval(
                    gap.low, piece.low, PathWarmStart(piece.low, piece.alpha(piece.low))
                )
            )
        if piece.low != piece.high:
            pieces.append(piece)
    return _joined(pieces), ""


def _within(piece: ExactPiece, gap: UnsolvedInterval) -> ExactPiece:
    """The part of a piece that lies in a gap."""
    ends = [end for end in (piece.high, gap.high) if end is not None]
    return replace(piece, low=max(piece.low, gap.low), high=min(ends, default=None))


def _start(
    problem: MarginProblem, numbers: IntegerProblem, weights: Fractions, C: Fraction, clock: Clock
) -> PathWarmStart:
    """Feasible multipliers at C near those of a float solution; 0 where there is none."""
    with (
        suppress(ArithmeticError, ValueError),
        np.errstate(all="ignore"),
    ):  # floats only propose where to begin
        rounded = problem.with_cost(float(C))
        point = float_solution(rounded, min(FLOAT_SECONDS, FLOAT_SHARE * clock.left))
        return PathWarmStart(C, round_to_active_set(rounded, _boxed(numbers, weights, C), point)[0])
    return PathWarmStart(C, fractions(numbers.p))


def _boxed(numbers: IntegerProblem, weights: Fractions, C: Fraction) -> IntegerProblem:
    return replace(numbers, box=(C * weights).tolist())


def _optimal(
    numbers: IntegerProblem, weights: Fractions, C: Fraction, near: PathWarmStart, clock: Clock
) -> ActiveSet:
    """The state at the optimum of one C, from the multipliers of another one in proportion."""
    state = ActiveSet(_boxed(numbers, weights, C), clock)
    alpha: Fractions = near.alpha * (C / near.C)
    depths = [min(a, C * w - a) for a, w in zip(alpha, weights, strict=True)]
    state.start(
        alpha, sorted((r for r, depth in enumerate(depths) if depth > 0), key=lambda r: -depths[r])
    )
    state.run()
    return state


def _inside(low: Fraction, high: Fraction | None) -> Fraction:
    """The fraction of the smallest denominator in the middle half of an interval, so that numbers stay short."""
    if high is None:
        return Fraction(2 * (low.numerator // low.denominator) + 1)
    quarter = (high - low) / 4
    return _simplest(low + quarter, high - quarter)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the smallest denominator in [low, high], 0 < low <= high."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def _joined(pieces: list[ExactPiece]) -> list[ExactPiece]:
    """The pieces in their order; neighbours on the same line are one."""
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
