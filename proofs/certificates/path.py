"""Certificate of a path: points and inequalities that prove a gap over a lambda range.

There are finitely many points, and an inequality for every two neighbours,

    e  <=  (1 - x) u + x v + x (1 - x) c        e = lambda^2 (U - L) - gap lambda^2 L,

with u and v the values of e at the two points, and x from 0 at one to 1 at the other.

The document is JSON, schema equimargin-certificate/3, described in `certificate.md`;
`checker.py` checks it without this package. Its points are breakpoints of a path that
was followed in floating point, as few as the claimed gap allows, with multipliers
rounded to a grid. All claimed numbers are computed with the checker's own functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import check_number, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.proofs import checker
from equimargin.proofs.certificates.problem import state
from equimargin.proofs.certificates.writing import document
from equimargin.solvers.path.result import SMALLEST_LAMBDA, RegularizationPath

GAP = 1e-3
"""Default of the claimed gap: a thousandth of the optimum."""
SHARE = 0.9
"""Share of the claimed gap that segments chosen in floating point may use.

The rest covers the rounding of multipliers to the grid, and float64 rounding.
"""
BITS_BELOW_THE_GAP = 12
"""Bits by which the first grid of the multipliers is finer than the claimed gap.

Both are relative to the largest weight.
"""
MORE_BITS = 10
"""Bits by which the grid is refined if the gap is not proved."""
MOST_BITS = 52
"""Bits of the finest grid: as many as a double has after its leading bit."""


class Stop(NamedTuple):
    """Point of the path: lambda, lambda alpha of shape (p,), and lambda times the bias."""

    lam: float
    alpha: Array
    bias: float


class GridStop(NamedTuple):
    """Point of the path on the grid: alpha in steps of the grid, and the checker's values."""

    steps: Array
    knot: checker.Knot


def path_certificate(
    path: RegularizationPath, low: float | None = None, high: float | None = None, gap: float = GAP
) -> dict[str, Any]:
    """Return the certificate of a path over a range of lambda, as plain values.

        U(lambda) <= (1 + gap) optimum(lambda)        for all lambda in [low, high]

    Parameters
    ----------
    path : RegularizationPath
        Path of a margin problem.
    low, high : float, optional
        Range of lambda, by default from the last breakpoint that is not 0 to the first
        one.
    gap : float, default GAP
        Largest excess of the objective over the optimum, > 0, relative to the optimum.

    Returns
    -------
    dict
        Certificate. The path may have floating-point errors smaller than the gap; the
        larger the gap, the fewer the points.

    Raises
    ------
    ValueError
        If the path has no breakpoint above 0, is that of a one-norm problem, does not
        reach the range, or does not prove the gap; if certificates cannot state the
        problem; or if the checker would reject the points as too many.
    """
    along = _Along.of(path, low, high)
    gap = positive(gap, "gap")
    judge = checker.read_problem(stated := state(path.problem.with_cost(1.0)))
    claimed = Fraction(gap)
    bits = min(MOST_BITS, max(0, math.ceil(-math.log2(gap))) + BITS_BELOW_THE_GAP)
    chosen = along.chosen(gap)
    while (proved := _Grid(along, judge, bits).proved(chosen, claimed)) is None:
        if bits == MOST_BITS:
            raise ValueError(
                f"the path does not prove a gap of {gap:g} at every lambda of the range; "
                f"ask for a larger one"
            )
        bits = min(MOST_BITS, bits + MORE_BITS)
    points, denominator = proved
    claim = {"from": along.lambdas[-1], "to": along.lambdas[0], "gap": gap}
    proof = {"path": {"denominator": denominator, "points": points}}
    return document(
        checker.PATH_SCHEMA, None, claim, checker.semidefiniteness(judge), stated, proof
    )


@dataclass(frozen=True, eq=False)
class _Along:
    """Candidate points of a path, by decreasing lambda: range ends, breakpoints between.

    Parameters
    ----------
    lambdas, numbers : list of length N
        Each lambda, and the index of its breakpoint; None at an end of the range.
    ends : dict[float, Stop]
        Points at the ends of the range, by their lambda.
    gains : ndarray of shape (N,)
        t'alpha of each candidate.
    pulls : ndarray of shape (N, m)
        A'alpha of each candidate.
    lowest : dict[int, float]
        Cache of `lower`.
    """

    path: RegularizationPath
    lambdas: list[float]
    numbers: list[int | None]
    ends: dict[float, Stop]
    gains: Array
    pulls: Array
    lowest: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, path: RegularizationPath, low: float | None, high: float | None) -> _Along:
        """Return the candidates in a range; raise a ValueError if the range is not valid."""
        if not isinstance(path, RegularizationPath):
            raise ValueError("the path of a one-norm problem has no certificate")
        inside = path.lambdas[path.lambdas >= SMALLEST_LAMBDA]
        if not len(inside):
            raise ValueError(f"the path has no breakpoint above 0: {path.stopped}")
        low = (
            float(inside[-1])
            if low is None
            else check_number(
                low, "the low end of the range", "finite and positive", lambda v: 0 < v < np.inf
            )
        )
        high = (
            float(inside[0])
            if high is None
            else check_number(high, "the high end of the range", "finite", lambda v: v < np.inf)
        )
        if not low <= high:
            raise ValueError(f"the range from {low:g} to {high:g} is empty")
        rows, between = (
            path.problem.rows,
            np.flatnonzero((path.lambdas < high) & (path.lambdas > low)),
        )
        # Several breakpoints may have one lambda: the last of them is used.
        between = between[np.append(np.diff(path.lambdas[between]) < 0, True)[: len(between)]]
        ends = {lam: cls._end(path, lam) for lam in (high, low)}
        first, *last = [(rows.t @ end.alpha, rows.rdot(end.alpha)) for end in ends.values()]
        gains, pulls = zip(
            first, *((rows.t @ path.alphas[k], path.betas[k]) for k in between), *last, strict=True
        )
        numbers = [None, *between.tolist(), *([None] if last else [])]
        lambdas = [high, *path.lambdas[between].tolist(), *([low] if last else [])]
        return cls(path, lambdas, numbers, ends, np.array(gains), np.array(pulls))

    @staticmethod
    def _end(path: RegularizationPath, lam: float) -> Stop:
        """Return the point of the path at any lambda."""
        point = path.at(lam)
        assert point.dual is not None
        return Stop(lam, np.asarray(point.dual) * lam, (point.bias or 0.0) * lam)

    def __getitem__(self, k: int) -> Stop:
        t = self.numbers[k]
        return (
            self.ends[self.lambdas[k]]
            if t is None
            else Stop(self.lambdas[k], self.path.alphas[t], float(self.path.biases[t]))
        )

    def lower(self, k: int) -> float:
        """Return lambda^2 L at the k-th candidate."""
        if k not in self.lowest:
            self.lowest[k] = (
                self.lambdas[k] * float(self.gains[k]) - self.path.problem.norm2(self.pulls[k]) / 2
            )
        return self.lowest[k]

    def near(self, i: int, j: int, gap: float) -> bool:
        """Return True if in float64 the gap from candidate i to j is within its SHARE.

        The certificate then needs no point between them.
        """
        product = (self.lambdas[i] - self.lambdas[j]) * float(self.gains[i] - self.gains[j])
        curvature = (1 + gap) * product - (1 + gap / 2) * self.path.problem.norm2(
            self.pulls[i] - self.pulls[j]
        )
        first, second = (-SHARE * gap * self.lower(k) for k in (i, j))
        rest = curvature + first + second
        return rest <= 0 or rest * rest <= 4 * first * second

    def chosen(self, gap: float) -> list[int]:
        """Return the indices of few candidates, each as far from the last as the gap allows.

        The first and the last candidate are among them.
        """
        last, chosen, step = len(self.lambdas) - 1, [0], 1
        while (i := chosen[-1]) < last:
            good, bad = i + 1, last + 1
            while bad - good > 1:
                ahead = i + step if good < i + step < bad else (good + bad) // 2
                if self.near(i, ahead, gap):
                    good, step = ahead, 2 * step
                else:
                    bad = ahead
            step = max(1, good - i)
            chosen.append(good)
        return chosen


@dataclass(frozen=True, eq=False)
class _Grid:
    """Points of a path with multipliers on a grid, `bits` bits finer than the largest weight."""

    along: _Along
    judge: checker.Problem
    bits: int
    known: dict[int, GridStop] = field(default_factory=dict)

    @cached_property
    def problem(self) -> MarginProblem:
        return self.along.path.problem.with_cost(1.0)

    @cached_property
    def exponent(self) -> int:
        """Exponent e of the grid, whose steps are 2^e."""
        return math.frexp(float(self.problem.costs.max(initial=1.0)))[1] - self.bits

    def proved(self, chosen: list[int], gap: Fraction) -> tuple[list[dict[str, Any]], int] | None:
        """Return the listed points and their denominator; None if they do not prove the gap.

        Candidates are added between chosen ones where the gap is not proved.
        """
        kept, rest = chosen[:1], chosen[1:]
        if checker.excess(self.at(kept[0], len(chosen)).knot, gap) > 0:
            return None
        while rest:
            if self.joined(kept[-1], rest[0], len(kept) + len(rest), gap):
                kept.append(rest.pop(0))
            elif rest[0] - kept[-1] > 1:
                rest.insert(0, (kept[-1] + rest[0]) // 2)
            else:
                return None
        return list(self.points(kept)), 2 ** max(0, -self.exponent)

    def joined(self, i: int, j: int, count: int, gap: Fraction) -> bool:
        """Return True if the gap is proved from candidate i to j, and at j."""
        before, after = self.at(i, count).knot, self.at(j, count).knot
        first, second = checker.excess(before, gap), checker.excess(after, gap)
        rest = checker.curvature(self.judge.space, before, after, gap) + first + second
        return second <= 0 and (rest <= 0 or rest**2 <= 4 * first * second)

    def at(self, k: int, count: int) -> GridStop:
        """Return the k-th candidate on the grid; the certificate has `count` points."""
        if k not in self.known:
            lam, alpha, bias = self.along[k]
            steps = self.steps(alpha)
            used = np.flatnonzero(steps)
            times = 2 ** max(0, self.exponent)
            unit = 2 ** max(0, -self.exponent)
            multipliers = checker.Combination(
                used.tolist(), [int(step) * times for step in steps[used]], unit
            )
            exact, b = Fraction(lam), Fraction(bias if self.problem.bias else 0.0)
            self.check_size(count, [unit, *exact.as_integer_ratio(), *b.as_integer_ratio()])
            self.known[k] = GridStop(steps, checker.knot_of(self.judge, exact, b, multipliers))
        return self.known[k]

    def check_size(self, count: int, numbers: list[int]) -> None:
        """Raise a ValueError if the checker would reject the points as too much arithmetic."""
        try:
            checker.path_is_affordable(self.judge, count, numbers)
        except ValueError:
            raise ValueError(
                f"{count:,} points of {self.problem.p:,} rows are too much for the checker; "
                f"ask for a larger gap or a shorter range"
            ) from None

    def steps(self, alpha: Array) -> Array:
        """Return multipliers in steps of the grid, within their bounds and with s'alpha = 0."""
        box = np.floor(np.ldexp(self.problem.exact_box, -self.exponent))
        rounded = np.minimum(np.rint(np.ldexp(alpha, -self.exponent)), box)
        return round_to_dyadic_grid(rounded, box, self.problem.bias_signs)

    def points(self, kept: list[int]) -> Iterator[dict[str, Any]]:
        """Yield the points as a certificate lists them, each by its changes from the last."""
        before, times = np.zeros(self.problem.p), 2 ** max(0, self.exponent)
        for k in kept:
            lam, _, bias = self.along[k]
            steps = self.known[k].steps
            rows = np.flatnonzero(steps != before)
            numerators = [int(step) * times for step in steps[rows]]
            yield {
                "lambda": lam,
                "b": bias if self.problem.bias else 0,
                "rows": rows.tolist(),
                "numerators": numerators,
            }
            before = steps
