"""Surrogate regret: pairs that the ranking SVM misorders beyond the least number.

    Q(C) = #{ r : (A f(C))_r <= 0 },    regret(C) = Q(C) - min over f of #{ r : (A f)_r <= 0 }

The ranking SVM minimises slacks, which bound the misordered pairs of problem (83) of Yu
and Kim (2012) from above. Both terms are proven, at every C of a path. Let alpha_0 at
C_0 and alpha_1 at C_1 be feasible multipliers, f_k = A'alpha_k, L_k its sum of weighted
slacks and g_k its gap. With all of them interpolated linearly by 0 <= t <= 1,

    gap of f_t at C_t  <=  (1 - t) g_0 + t g_1 + t (1 - t) c,
    c = (C_1 - C_0)(L_0 - L_1) - |f_1 - f_0|^2,        |f_t - f(C_t)|^2 <= gap

because slacks are convex and |f|^2 is quadratic. So a path in floats proves the side of
every pair whose margin is not within a small distance of 0, and an exact path, where g
and c are 0, proves all of them. g and c are computed in rational numbers.

References
----------
Document T (Yu and Kim), (83)-(86). The interpolated gap is that of the certificate of a
path (`certificates/path.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf, lcm, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Mask
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.exact.misranked import LeastMisranked, least_misranked
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    Integers,
    as_fractions,
    as_integers,
    fractions,
    integral,
    relative_weights,
    semidefinite,
    to_common_denominator,
)
from equimargin.solvers.exact.path.follow import check_path
from equimargin.solvers.exact.path.result import ExactPath, rational
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.path.result import SMALLEST_LAMBDA, RegularizationPath

JUST_BELOW = 2.0**-30
"""Relative distance from the first breakpoint, beyond the rounding of its lambda."""


class PairCount(NamedTuple):
    """Bounds of a number of pairs.

    Parameters
    ----------
    least, most : int
        Lower and upper bound, equal if the number is known.
    """

    least: int
    most: int


class Segment(NamedTuple):
    """Part of a path on which all margins are linear in C, and their proven error.

    Parameters
    ----------
    low, high : Fraction
        Ends of C; a high of None is infinity, and the margins are constant.
    unit : int
        Common denominator of the numbers below.
    start, end : Integers of shape (p,)
        Margins (A f)_r at both ends.
    error : Integers of shape (p,)
        Bounds of their distance from the margins of the optimum.
    """

    low: Fraction
    high: Fraction | None
    unit: int
    start: Integers
    end: Integers
    error: Integers

    def margins(self, C: Fraction) -> Fractions:
        """Return the margins at C in units of 1 / unit, (p,).

        Parameters
        ----------
        C : Fraction
            Cost from low to high.
        """
        t = Fraction(0) if self.high is None else (C - self.low) / (self.high - self.low)
        return np.asarray(self.start + t * (self.end - self.start))


@dataclass(frozen=True, eq=False)
class SurrogateRegret:
    """Proven numbers of misordered pairs along a path, and the least one of any f.

    Parameters
    ----------
    problem : MarginProblem
        Ranking; its C is ignored.
    segments : tuple[Segment, ...]
        Proven margins from the lowest C to the highest.
    steps : tuple[Fraction, ...] of shape (k,)
        C at which a number changes, in increasing order, the lowest C first.
    at_steps, after_steps : tuple[PairCount, ...] of shape (k,)
        Misordered pairs of the optimum at every step, and from there to the next one.
    search : LeastMisranked
        Search for the least number of misordered pairs.
    """

    problem: MarginProblem = field(repr=False)
    segments: tuple[Segment, ...] = field(repr=False)
    steps: tuple[Fraction, ...] = field(repr=False)
    at_steps: tuple[PairCount, ...] = field(repr=False)
    after_steps: tuple[PairCount, ...] = field(repr=False)
    search: LeastMisranked

    @property
    def low(self) -> Fraction:
        """Lowest C."""
        return self.segments[0].low

    @property
    def high(self) -> Fraction | None:
        """Highest C; None if infinite."""
        return self.segments[-1].high

    @property
    def exact(self) -> bool:
        """True if both bounds of the regret are equal at every C."""
        counts = (self.fewest, *self.at_steps, *self.after_steps)
        return all(count.least == count.most for count in counts)

    @property
    def fewest(self) -> PairCount:
        """Bounds of the least number of misordered pairs; an f of the path may attain it."""
        found = min(count.most for count in (*self.at_steps, *self.after_steps))
        return PairCount(self.search.lower, min(self.search.least, found))

    def misranked(self, C: Any) -> PairCount:
        """Return bounds of the number of pairs that the optimum at C misorders.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.

        Raises
        ------
        ValueError
            If C is outside of the path.
        """
        C = self._inside(C)
        place = bisect_right(self.steps, C) - 1
        return self.at_steps[place] if self.steps[place] == C else self.after_steps[place]

    def regret(self, C: Any) -> PairCount:
        """Return bounds of the surrogate regret at C.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.

        Raises
        ------
        ValueError
            If C is outside of the path.
        """
        return excess(self.misranked(C), self.fewest)

    def pairs(self, C: Any) -> tuple[Mask, Mask]:
        """Return which pairs the optimum at C misorders, in the order of `problem.rows`.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.

        Returns
        -------
        surely, possibly : ndarray of bool of shape (p,)
            True if the pair is proven to be misordered; False if it is proven to be
            ordered.

        Raises
        ------
        ValueError
            If C is outside of the path.
        """
        C = self._inside(C)
        segment = self.segments[bisect_right([segment.low for segment in self.segments], C) - 1]
        margins = segment.margins(C)
        return margins <= -segment.error, margins <= segment.error

    def _inside(self, C: Any) -> Fraction:
        cost = rational(C, "C")
        if self.low > cost or (self.high is not None and self.high < cost):
            raise ValueError(
                f"C must be from {float(self.low):g} to "
                f"{'infinity' if self.high is None else f'{float(self.high):g}'}, not {cost}"
            )
        return cost


def excess(count: PairCount, fewest: PairCount) -> PairCount:
    """Return bounds of the difference of two numbers of pairs, which is at least 0.

    Parameters
    ----------
    count, fewest : PairCount
        Bounds of the larger and of the smaller number.
    """
    return PairCount(max(count.least - fewest.most, 0), count.most - fewest.least)


def surrogate_regret(
    path: ExactPath | RegularizationPath, seconds: float = 60.0
) -> SurrogateRegret:
    """Return the proven surrogate regret of a ranking at every C of a path.

    With an exact path the numbers of misordered pairs, and the C at which they change,
    are exact. With a path in floats they are intervals, where a change is near.

    Parameters
    ----------
    path : ExactPath or RegularizationPath
        Path of a ranking, from `exact_path` or `regularization_path`.
    seconds : float
        Time limit in seconds for the least number of misordered pairs, which is an
        interval if the time does not suffice.

    Returns
    -------
    SurrogateRegret
        Step functions of C, from the lowest to the highest C of the path.

    Raises
    ------
    ValueError
        If the path is not that of a ranking of at most 5,000 pairs with a kernel of
        rational values, an exact path is incomplete, multipliers of the path are not
        feasible, or not optimal where it is constant up to infinity, or `seconds` is not
        positive or too short for the proof that a given Gram matrix has no negative
        eigenvalue.
    """
    positive(seconds, "seconds")
    problem = path.problem if isinstance(path, ExactPath | RegularizationPath) else None
    if not isinstance(problem, MarginProblem) or not isinstance(problem.rows, Pairs):
        raise ValueError(
            "surrogate_regret: the path must be that of a ranking, from exact_path or "
            "regularization_path"
        )
    check_path(problem)
    if isinstance(path, ExactPath) and not path.complete:
        raise ValueError(
            f"surrogate_regret: the exact path is incomplete, because {path.stopped}; pass the "
            f"path of `regularization_path`"
        )
    # The search comes first, because it refuses too many pairs at once.
    search, numbers = least_misranked(problem, seconds), integral(problem)
    try:
        semidefinite(problem, numbers, Clock(seconds))
    except OutOfTime as late:
        raise ValueError(f"surrogate_regret: {late}; give more seconds") from late
    proof = _Proof(numbers, relative_weights(problem))
    ends = _exact_ends(path) if isinstance(path, ExactPath) else _float_ends(path)
    segments = tuple(proof.segments(ends))
    steps = list(_steps(segments))
    return SurrogateRegret(
        problem,
        segments,
        tuple(C for C, _, _ in steps),
        tuple(at for _, at, _ in steps),
        tuple(after for _, _, after in steps),
        search,
    )


class _End(NamedTuple):
    """End of a segment: a cost, and multipliers at it."""

    C: Fraction
    alpha: Fractions


def _exact_ends(path: ExactPath) -> Iterator[tuple[_End, _End, bool]]:
    """Yield the ends of every segment, and True if it goes on to infinity.

    Its upper end is then any other C.
    """
    for piece in path.pieces:
        high = piece.low + 1 if piece.high is None else piece.high
        yield (
            _End(piece.low, piece.alpha(piece.low)),
            _End(high, piece.alpha(high)),
            piece.high is None,
        )


def _float_ends(path: RegularizationPath) -> Iterator[tuple[_End, _End, bool]]:
    """Yield the ends of every segment from C = 0, where alpha is 0."""
    weights = relative_weights(path.problem)
    first = as_fractions([Fraction(v) for v in path.alphas[0].tolist()])
    start, lambdas = _End(Fraction(0), fractions(len(first))), path.lambdas.tolist()
    if lambdas[0] == 0:
        yield start, _End(Fraction(1), first), True
        return
    # The float lambda_0 may lie below the breakpoint; a little above it the gap is 0.
    C = Fraction((1 - JUST_BELOW) / lambdas[0])
    ends = [start, _End(C, C * first)]
    for lam, scaled in zip(lambdas, path.alphas, strict=True):
        if lam >= SMALLEST_LAMBDA and (C := Fraction(1 / lam)) > ends[-1].C:
            alpha = as_fractions([Fraction(v) for v in (scaled / lam).tolist()])
            ends.append(_End(C, np.minimum(alpha, C * weights)))
    for low, high in pairwise(ends):
        yield low, high, False


class _Value(NamedTuple):
    """Function of multipliers: A'alpha, f and A f in integers, L and the gap.

    A'alpha is `beta` / `divisor`; f and A f are in units of 1 / `unit`.
    """

    divisor: int
    unit: int
    beta: Integers
    f: Integers
    margins: Integers
    loss: Fraction
    gap: Fraction


class _Proof:
    """Proof of the margins of a segment, from the multipliers at its ends."""

    def __init__(self, numbers: IntegerProblem, weights: Fractions) -> None:
        self.numbers, self.weights = numbers, to_common_denominator(weights)
        i, j = numbers.index.T if numbers.p else np.zeros((2, 0), dtype=np.int64)
        K = numbers.K
        squares = K[i, i] + K[j, j] - 2 * K[i, j]
        self.squares = [Fraction(square, numbers.unit) for square in squares.tolist()]

    def segments(self, ends: Iterable[tuple[_End, _End, bool]]) -> Iterator[Segment]:
        """Yield the proven segment between every two ends.

        Parameters
        ----------
        ends : iterable of (_End, _End, bool)
            Ends of the segments; True if a segment goes on to infinity.
        """
        last, value = None, None
        for low, high, endless in ends:
            a = value if last is low and value is not None else self._value(low)
            b = self._value(high)
            last, value = high, b
            yield self._segment((low, a), (high, b), endless)

    def _segment(
        self, start: tuple[_End, _Value], end: tuple[_End, _Value], endless: bool
    ) -> Segment:
        (low, a), (high, b) = start, end
        # |f_1 - f_0|^2, from the squares of both and their product.
        change = (
            Fraction(int((a.beta * a.f).sum()), a.divisor * a.unit)
            + Fraction(int((b.beta * b.f).sum()), b.divisor * b.unit)
            - 2 * Fraction(int((a.beta * b.f).sum()), a.divisor * b.unit)
        )
        curvature = (high.C - low.C) * (a.loss - b.loss) - change
        # t (1 - t) is at most 1/4.
        gap = max(a.gap, b.gap) + max(curvature, Fraction(0)) / 4
        if endless and (gap or change or not self._feasible(Fraction(1), high.alpha - low.alpha)):
            raise ValueError(
                f"surrogate_regret: the multipliers from C = {float(low.C):g} to infinity are not "
                f"optimal in exact numbers; pass the path of `exact_path`"
            )
        unit = lcm(a.unit, b.unit)
        return Segment(
            low.C,
            None if endless else high.C,
            unit,
            a.margins * (unit // a.unit),
            b.margins * (unit // b.unit),
            self._margin_errors(gap, unit),
        )

    def _value(self, end: _End) -> _Value:
        if not self._feasible(end.C, end.alpha):
            raise ValueError(
                f"surrogate_regret: the multipliers at C = {float(end.C):g} are not in their "
                f"bounds; follow the path again"
            )
        alpha, divisor = to_common_denominator(end.alpha)
        beta = self.numbers.rdot(alpha)
        f, unit = self.numbers.product(beta), divisor * self.numbers.unit
        margins = self.numbers.dot(f) if self.numbers.p else as_integers([])
        weights, share = self.weights
        loss = Fraction(int((weights * np.maximum(unit - margins, 0)).sum()), unit * share)
        # U - L = |f|^2 / 2 + C L - (1'alpha - |f|^2 / 2)
        square = Fraction(int((beta * f).sum()), divisor * unit)
        gap = square + end.C * loss - Fraction(int(alpha.sum()), divisor)
        return _Value(divisor, unit, beta, f, margins, loss, gap)

    def _feasible(self, C: Fraction, alpha: Fractions) -> bool:
        values, divisor = to_common_denominator(alpha)
        weights, share = self.weights
        most = C.numerator * divisor * weights
        return bool((values >= 0).all() and (C.denominator * share * values <= most).all())

    def _margin_errors(self, gap: Fraction, unit: int) -> Integers:
        """Return sqrt(gap) |phi(x_i) - phi(x_j)|, rounded up, in units of 1 / unit, (p,)."""
        if gap == 0:
            return as_integers([0] * len(self.squares))
        return as_integers([ceil(unit * root_above(gap * square)) for square in self.squares])


def root_above(value: Fraction) -> Fraction:
    """Return a number of at least the square root, and close to it.

    Parameters
    ----------
    value : Fraction
        Number of at least 0, within the range of float64.
    """
    above = nextafter(float(value), inf)
    return Fraction(nextafter(sqrt(above), inf)) if value else Fraction(0)


def _steps(segments: tuple[Segment, ...]) -> Iterator[tuple[Fraction, PairCount, PairCount]]:
    """Yield the C at which a number changes, and the numbers at it and after it."""
    before: PairCount | None = None
    for segment in segments:
        surely = _Crossings(segment, -segment.error)
        possibly = _Crossings(segment, segment.error)
        for C in sorted({segment.low, *surely.at, *possibly.at}):
            at, after = (
                PairCount(least, most)
                for least, most in zip(surely.counts(C), possibly.counts(C), strict=True)
            )
            if not before == at == after:
                yield C, at, after
            before = after
    last = segments[-1]
    if last.high is not None:
        at = PairCount(int((last.end <= -last.error).sum()), int((last.end <= last.error).sum()))
        if at != before:
            yield last.high, at, at


class _Crossings:
    """Numbers of the pairs of a segment with margins of at most a threshold.

    Parameters
    ----------
    segment : Segment
        Segment.
    thresholds : Integers of shape (p,)
        Thresholds of the pairs, in the segment's unit.
    """

    def __init__(self, segment: Segment, thresholds: Integers) -> None:
        start, end = segment.start - thresholds, segment.end - thresholds
        high = segment.low + 1 if segment.high is None else segment.high
        self.low = segment.low
        below: Mask = (start < 0) | ((start == 0) & (end <= 0))
        self.number_at, self.number = int((start <= 0).sum()), int(below.sum())
        # A falling margin is at its threshold at the crossing and below it afterwards.
        falls: Mask = (start > 0) & (end < 0)
        rises: Mask = (start < 0) & (end > 0)
        self.at: dict[Fraction, list[int]] = {}
        for r in np.flatnonzero(falls | rises).tolist():
            C = self.low + (high - self.low) * Fraction(start[r], start[r] - end[r])
            self.at.setdefault(C, [0, 0])[int(rises[r])] += 1

    def counts(self, C: Fraction) -> tuple[int, int]:
        """Return the numbers at C and after it; C must not decrease between calls.

        Parameters
        ----------
        C : Fraction
            Start of the segment, or a crossing of any threshold.
        """
        if self.low == C:
            return self.number_at, self.number
        fall, rise = self.at.get(C, (0, 0))
        at = self.number + fall
        self.number = at - rise
        return at, self.number
