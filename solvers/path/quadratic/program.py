"""Parametric quadratic program in lambda, points of its path, and their duality gaps.

    alpha(lambda) = argmin  1/2 |A'alpha|_K^2 - lambda t'alpha
                    s.t.  0 <= alpha <= w,  [ s'alpha = 0 ]

Rows of A are differences of two points (`active_set.py`). For a bias b there is one
more point, the origin, at which g is -b. A row that belongs to one point is its
difference with the origin, and K includes a constant at all points except the origin.

With g = K A'alpha and residuals r = A g + b s - lambda t, of which r >= 0 where alpha_r
= 0 and r <= 0 where alpha_r = w_r, the duality gap has no terms that cancel:

    gap(alpha, g, b) = sum_r alpha_r (r_r)_+ + (w_r - alpha_r) (-r_r)_+  +  1/2 |g - K
    A'alpha|^2

It is convex between breakpoints, and is also computed half way. `doubt` is the gap plus
the rounding error of r.

g is computed as E v. With a Gram matrix v = beta = A'alpha. With features v is f
itself, which has directions and corrections of its own. If K is large relative to
lambda, the f of the rounded multipliers differs slightly from v; half the squared
distance of both is part of the gap.

Source: document P, section 5; Fenchel's inequality row by row for the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from equimargin.formulations.bounds.intervals import SIZE_FLOOR
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import (
    ENTRY_IN_NUMPY,
    brief,
    brief_for,
    fast,
    in_numpy,
    part,
)
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.numeric.vector_loops import larger
from equimargin.solvers.path.quadratic.active_set import Differences, Points, product

CERTIFIED_GAP = 1e-9
"""Maximum relative gap, as computed, of the breakpoints and midpoints of a path.

The path ends where this cannot be met.
"""
WORTH_CORRECTING = 1e-10
"""Relative gap above which a breakpoint is corrected by Newton's method.

A tenth of the certified gap, so that gaps do not accumulate.
"""
DOUBTED_GAP = 1e-8
"""Maximum relative gap of a breakpoint plus the rounding errors of g and b."""
SMALLEST_DIVISOR = 1e-300
"""Replacement of a divisor that may be 0 or below the float64 range."""
TIED_RESIDUAL = 1e-12
"""Residual, over lambda, below which a row at a bound counts as tied.

The alpha of a tied row may change from this breakpoint on.
"""
MEASURED_ROWS = np.uintp(256)
"""Rows that `measure` processes at a time.

Few enough to be in the first-level cache still when its next loop reads them.
"""
JUDGEMENT_IN_PYTHON = 300.0
"""Cost of `judge` uncompiled, in iterations of a Python loop.

The passes over the points, and what numpy does, come on top.
"""


class RowConditions(NamedTuple):
    """Targets and weights of the rows.

    Parameters
    ----------
    t : ndarray of shape (p,)
        Targets, of size 1 at most.
    w : ndarray of shape (p,)
        Weights, > 0.
    """

    t: Array
    w: Array


class HandedOut(NamedTuple):
    """Constants that determine the rounding error of a returned solution.

    Parameters
    ----------
    centre : ndarray of shape (k,)
        Vector with which b - centre'v + offset lambda is the returned bias.
    offset : float
        Offset of the targets.
    p0 : float
        P(0) of the targets with their offset.
    """

    centre: Array
    offset: float
    p0: float


class Rounding(NamedTuple):
    """Estimated errors of quantities at a point of the path.

    Parameters
    ----------
    g : float
        Error of an entry of g.
    handed_out : float
        Error of a residual of the returned function.
    tie : float
        Residual up to which a row counts as tied.
    """

    g: float
    handed_out: float
    tie: float


class Gaps(NamedTuple):
    """Relative gaps at a point of the path.

    Parameters
    ----------
    gap : float
        Gap as computed.
    doubt : float
        Gap plus the rounding error of the returned solution.
    middle : float
        Gap half way from the previous breakpoint.
    final : float
        Gap over the loss alone, to which gaps are relative near lambda = 0 if f stays
        optimal down to there.
    """

    gap: float
    doubt: float
    middle: float
    final: float

    @property
    def certified_here(self) -> bool:
        """True if the gaps at the point itself are within their limits."""
        return self.gap <= CERTIFIED_GAP and self.doubt <= DOUBTED_GAP

    @property
    def certified(self) -> bool:
        """True if the gap half way is also within its limit."""
        return self.certified_here and self.middle <= CERTIFIED_GAP


GAP, DOUBT, MIDDLE, FINAL = (
    Gaps._fields.index(name) for name in ("gap", "doubt", "middle", "final")
)
"""Places of the gaps in an array."""
NOISE, HANDED_OUT, TIE = (Rounding._fields.index(name) for name in ("g", "handed_out", "tie"))
"""Places of the rounding errors in an array."""


class PointState(NamedTuple):
    """Gaps, rounding errors and tied rows of a point; the arrays change in place.

    Parameters
    ----------
    numbers : ndarray of shape (4,)
        Its `Gaps`.
    off : ndarray of shape (3,)
        Its `Rounding`.
    tied : Index of shape (p,)
        Rows, of which the first ties[0] are at a bound with zero residuals within
        rounding error.
    ties : Index of shape (1,)
        Number of tied rows.
    """

    numbers: Array
    off: Array
    tied: Index
    ties: Index

    @property
    def gaps(self) -> Gaps:
        """Gaps by name."""
        return Gaps(*self.numbers.tolist())

    @property
    def rounding(self) -> Rounding:
        """Rounding errors by name."""
        return Rounding(*self.off.tolist())


class Breakpoint(NamedTuple):
    """Lambda, shape (1,), with alpha and r, shape (p,)."""

    lam: Array
    alpha: Array
    r: Array


class PathIterate(NamedTuple):
    """Point of the path; the arrays change in place.

    Parameters
    ----------
    lam, b : ndarray of shape (1,)
        lambda and lambda times the bias.
    alpha : ndarray of shape (p,)
        Multipliers.
    side : ndarray of shape (p,)
        1 where alpha is at 0, -1 where it is at w, 0 for the rows of the working set.
    r : ndarray of shape (p,)
        Residuals, those of the last `judge`.
    beta : ndarray of shape (n,)
        A'alpha.
    v : ndarray of shape (k,)
        Function in the basis of E.
    g : ndarray of shape (n,)
        E v, and -b at the origin.
    apart : ndarray of shape (1,)
        |v - Z'A'alpha|^2 with features Z, 0 with a Gram matrix.
    """

    lam: Array
    b: Array
    alpha: Array
    side: Array
    r: Array
    beta: Array
    v: Array
    g: Array
    apart: Array

    @classmethod
    def at_weights(cls, program: QuadraticPathProgram) -> Self:
        """Return the point lambda = 0, alpha = w, before anything is computed.

        Parameters
        ----------
        program : QuadraticPathProgram
            Program.
        """
        (n, k), w = program.of.E.shape, program.rows.w
        return cls(
            np.zeros(1),
            np.zeros(1),
            w.copy(),
            -np.ones(len(w)),
            np.zeros(len(w)),
            np.zeros(n),
            np.zeros(k),
            np.zeros(n),
            np.zeros(1),
        )


class GapData(NamedTuple):
    """Constants of the gaps and of their rounding errors.

    Parameters
    ----------
    balanced : bool
        True if s'alpha = 0.
    largest : ndarray of shape (k,)
        Largest |E| of each column.
    entry_noise : float
        Estimated error of an entry of the Gram matrix and of its products.
    spread : float
        Maximum distance of the row means of K, which centring subtracts, from their
        mean.
    p0 : float
        Loss of f = 0, or of b alone, whichever is less.
    handed : HandedOut
        Constants of the rounding error of a returned solution.
    """

    balanced: bool
    largest: Array
    entry_noise: float
    spread: float
    p0: float
    handed: HandedOut


@dataclass(frozen=True, eq=False)
class QuadraticPathProgram:
    """Program; constant along the path.

    Parameters
    ----------
    of, rows : Differences, RowConditions
        Rows, and their targets and weights. With a bias the last point is the origin,
        whose row of E is 0.
    balanced : bool
        True if s'alpha = 0.
    norm2 : Callable[[Array], float]
        |sum_i beta_i k(x_i, .)|^2 of coefficients (n,) that nearly cancel.
    lost : tuple[float, float]
        Error of an entry of K, and `GapData.spread`. The error of g is the first times
        the sum of |beta| plus the second times the sum of beta.
    handed : HandedOut
        Constants of the rounding error of a returned solution. Gaps are relative to
        P(0) of the targets without their offset, their rounding to P(0) of the targets
        with it.
    """

    of: Differences
    rows: RowConditions
    balanced: bool
    norm2: Callable[[Array], float]
    lost: tuple[float, float]
    handed: HandedOut

    @cached_property
    def facts(self) -> GapData:
        """Constants of the gaps and of their rounding errors."""
        largest = np.asarray(np.abs(self.of.E).max(axis=0, initial=0.0))
        entry_noise = 2 * UNIT * max(float(largest.max(initial=0.0)), self.lost[1]) + self.lost[0]
        p0 = min(
            float(self.rows.w @ np.maximum(self.rows.t, 0.0)) or self.handed.p0, self.handed.p0
        )
        return GapData(self.balanced, largest, entry_noise, self.lost[1], p0, self.handed)

    def lifted(self, beta: Array) -> Array:
        """Return v of coefficients beta.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            Coefficients.
        """
        return np.asarray(self.of.E.T @ beta) if self.of.explicit else beta

    def lifting_noise(self, at: PathIterate) -> float:
        """Bound the error of an entry of g if v = E'beta is summed over all rows.

        It is 0 with a Gram matrix, whose v is beta.

        Parameters
        ----------
        `at` : PathIterate
            Current point.
        """
        largest = self.facts.largest
        return (
            2 * UNIT * float(largest @ largest) * float(np.abs(at.beta).sum())
            if self.of.explicit
            else 0.0
        )

    def squared_norm(self, at: PathIterate) -> float:
        """Return |g|^2 without the term of the origin, which is zero within rounding.

        Parameters
        ----------
        `at` : PathIterate
            Current point.
        """
        if self.of.explicit:
            return float(at.v @ at.v)
        return float(at.beta @ at.g) - (float(at.beta[-1] * at.g[-1]) if self.balanced else 0.0)

    def half_norm2(self, alpha: Array) -> float:
        """Return 1/2 |A'alpha|^2 of multipliers whose f nearly vanishes.

        Parameters
        ----------
        alpha : ndarray of shape (p,)
            Multipliers.
        """
        beta = np.zeros(self.of.E.shape[0])
        collect(self.of.i, self.of.j, alpha, beta)
        return self.norm2(beta) / 2


@fast
def least(lam: float, p0: float) -> float:
    """Return the smallest divisor of a relative gap, which is positive.

    Parameters
    ----------
    lam : float
        Lambda.
    p0 : float
        P(0).
    """
    return max(SIZE_FLOOR * (lam * p0), SMALLEST_DIVISOR)


@part
def evaluate(of: Differences, facts: GapData, at: PathIterate, afresh: bool) -> None:
    """Compute g from v and b, and beta.

    With features beta = A'alpha. With a Gram matrix beta = v, and if `afresh` both are
    first computed as A'alpha.

    Parameters
    ----------
    of, facts : Differences, GapData
        Rows as differences of points, and constants of the gap computation.
    at : PathIterate
        Current point.
    afresh : bool
        True to compute v from alpha with a Gram matrix.
    """
    beta, v = at.beta, at.v
    if of.explicit:
        collect(of.i, of.j, at.alpha, beta)
        lifted, apart = np.zeros(v.size), 0.0
        lift(of.E, beta, lifted)
        for e in range(v.size):
            apart += (v[e] - lifted[e]) ** 2
        at.apart[0] = apart
    # With a Gram matrix beta and v are equal: one is copied from the other.
    elif afresh:
        collect(of.i, of.j, at.alpha, beta)
        for a in range(v.size):
            v[a] = beta[a]
    else:
        for a in range(v.size):
            beta[a] = v[a]
    product(of, v, at.g)
    if facts.balanced:
        at.g[at.g.size - 1] = -at.b[0]


@part
def noise(of: Differences, facts: GapData, at: PathIterate) -> float:
    """Return the estimated error of an entry of g.

    Parameters
    ----------
    of, facts : Differences, GapData
        Rows as differences of points, and constants of the gap computation.
    at : PathIterate
        Current point.
    """
    total, off = 0.0, 0.0
    if of.explicit:
        for e in range(at.v.size):
            total += facts.largest[e] * abs(at.v[e])
        return 2 * UNIT * total
    for a in range(at.beta.size):
        total += abs(at.beta[a])
    if facts.balanced:
        off = abs(at.beta[at.beta.size - 1])
    return facts.entry_noise * total + facts.spread * off


def judgement_work(of: Differences, rows: int) -> float:
    """Return the work of `judge` uncompiled, in iterations of a Python loop.

    Parameters
    ----------
    `of` : Differences
        Rows as differences of points.
    rows : int
        Number of rows.
    """
    return JUDGEMENT_IN_PYTHON + 2.0 * len(of.E) + ENTRY_IN_NUMPY * (2.0 * of.E.size + 30.0 * rows)


@brief_for(lambda of, rows, *others: judgement_work(of, len(rows.t)))
@fast
def judge(
    of: Differences,
    rows: RowConditions,
    facts: GapData,
    at: PathIterate,
    before: Breakpoint,
    found: PointState,
    afresh: bool,
) -> bool:
    """Compute g and the residuals at a point, its gaps and the tied rows.

    The gap half way from the previous breakpoint is one of the gaps.

    Parameters
    ----------
    of, rows, facts : Differences, RowConditions, GapData
        Program.
    at : PathIterate
        Current point.
    before : Breakpoint
        Previous breakpoint.
    found : PointState
        Gaps, rounding errors and tied rows of the point.
    afresh : bool
        True to compute v from alpha first, with a Gram matrix.

    Returns
    -------
    bool
        True if all gaps are certified and too small for a correction to pay off.
    """
    evaluate(of, facts, at, afresh)
    lam, middle, bias = at.lam[0], (at.lam[0] + before.lam[0]) / 2, 0.0
    off = noise(of, facts, at)
    if facts.balanced:
        bias = at.b[0] + lam * facts.handed.offset
        for e in range(at.v.size):
            bias -= facts.handed.centre[e] * at.v[e]
    handed_out, tie = off + UNIT * lam + 2 * UNIT * abs(bias), max(TIED_RESIDUAL * lam, off)
    sums = measure(
        of,
        rows,
        Breakpoint(at.lam, at.alpha, at.r),
        before,
        at.side,
        at.g,
        handed_out,
        tie,
        found.tied,
    )
    gap_of_rows, doubt_of_rows, loss, middle_gap, middle_loss, ties = sums
    norm2, unbalanced, end = 0.0, 0.0, at.beta.size
    if facts.balanced:
        # The term of the origin in |g|^2 is zero within rounding error, and left out.
        end -= 1
        unbalanced = abs(at.beta[end] * at.g[end])
    if of.explicit:
        for e in range(at.v.size):
            norm2 += at.v[e] * at.v[e]
    else:
        for a in range(end):
            norm2 += at.beta[a] * at.g[a]
    gap = gap_of_rows + (at.apart[0] / 2 + unbalanced)
    smallest = least(lam, facts.p0)
    size = max(loss + norm2 / 2, smallest)
    found.off[NOISE], found.off[HANDED_OUT], found.off[TIE] = off, handed_out, tie
    found.numbers[GAP] = gap / size
    found.numbers[DOUBT] = gap / size + (doubt_of_rows - gap_of_rows) / max(
        size, least(lam, facts.handed.p0)
    )
    found.numbers[MIDDLE] = middle_gap / max(middle_loss + norm2 / 2, least(middle, facts.p0))
    found.numbers[FINAL] = gap / max(loss, smallest)
    found.ties[0] = ties
    doubt, half_way = found.numbers[DOUBT], found.numbers[MIDDLE]
    return bool(
        max(gap / size, half_way) <= CERTIFIED_GAP
        and doubt <= DOUBTED_GAP
        and found.numbers[FINAL] <= WORTH_CORRECTING
    )


@in_numpy(lambda E, beta, v: np.matmul(beta, E, out=v))
@part
def lift(E: Array, beta: Array, v: Array) -> None:
    """Compute v = E'beta.

    Parameters
    ----------
    E : ndarray of shape (n, k)
        Features.
    beta : ndarray of shape (n,)
        Coefficients.
    v : ndarray of shape (k,)
        Function, zero at first; written.
    """
    for a in range(beta.size):
        for e in range(v.size):
            v[e] += E[a, e] * beta[a]


def _collect_in_numpy(i: Points, j: Points, alpha: Array, beta: Array) -> None:
    beta[:] = np.bincount(i, alpha, len(beta)) - np.bincount(j, alpha, len(beta))


@brief
@in_numpy(_collect_in_numpy)
@fast
def collect(i: Points, j: Points, alpha: Array, beta: Array) -> None:
    """Compute beta = A'alpha.

    Parameters
    ----------
    i, j : Points of shape (p,)
        Points of the rows.
    alpha : ndarray of shape (p,)
        Multipliers.
    beta : ndarray of shape (n,)
        Coefficients; written.
    """
    for a in range(beta.size):
        beta[a] = 0.0
    for k in range(alpha.size):
        beta[i[k]] += alpha[k]
        beta[j[k]] -= alpha[k]


def _measure_in_numpy(
    of: Differences,
    rows: RowConditions,
    here: Breakpoint,
    before: Breakpoint,
    side: Array,
    g: Array,
    noise: float,
    tie: float,
    tied: Index,
) -> tuple[float, float, float, float, float, int]:
    def gap_and_loss(r: Array, alpha: Array, noise: float) -> tuple[float, float]:
        below = np.maximum(noise - r, 0.0)
        gap = alpha @ np.maximum(r + noise, 0.0) + (rows.w - alpha) @ below
        return float(gap), float(rows.w @ below)

    here.r[:] = of.between(g) - here.lam[0] * rows.t
    gap, loss = gap_and_loss(here.r, here.alpha, 0.0)
    doubt, _ = gap_and_loss(here.r, here.alpha, noise)
    half_way = (here.r + before.r) / 2, (here.alpha + before.alpha) / 2
    middle_gap, middle_loss = gap_and_loss(*half_way, 0.0)
    at = np.flatnonzero((side != 0.0) & (side * here.r < tie))
    tied[: len(at)] = at
    return gap, doubt, loss, middle_gap, middle_loss, len(at)


@in_numpy(_measure_in_numpy)
@fast
def measure(
    of: Differences,
    rows: RowConditions,
    here: Breakpoint,
    before: Breakpoint,
    side: Array,
    g: Array,
    noise: float,
    tie: float,
    tied: Index,
) -> tuple[float, float, float, float, float, int]:
    """Return sums over the rows of a point and of the point half way, times lambda.

    Parameters
    ----------
    of, rows : Differences, RowConditions
        Program.
    here : Breakpoint
        Point; its residuals are written into here.r.
    before : Breakpoint
        Previous breakpoint.
    side : ndarray of shape (p,)
        Sides, as in `PathIterate`.
    g : ndarray of shape (n,)
        Function values, with -b at the origin.
    noise : float
        Estimated error of a residual.
    tie : float
        Residual below which a row at a bound is tied.
    tied : Index of shape (p,)
        The tied rows at a bound are written into the first places.

    Returns
    -------
    gap, doubt, loss : float
        Gap of the point, that gap plus the effect of the noise, and the loss.
    middle_gap, middle_loss : float
        Gap and loss half way.
    ties : int
        Number of tied rows.
    """
    gap, doubt, loss, middle_gap, middle_loss, ties = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    # An unsigned length lets the loops vectorise.
    r, lam, n = here.r, here.lam[0], np.uintp(here.r.size)
    for start in range(np.uintp(0), n, MEASURED_ROWS):
        end, near = min(start + MEASURED_ROWS, n), 0.0
        for k in range(start, end):
            r[k] = g[of.i[k]] - g[of.j[k]] - lam * rows.t[k]
        for k in range(start, end):
            v, a, w = r[k], here.alpha[k], rows.w[k]
            above, below = larger(v, 0.0), larger(-v, 0.0)
            # gap: alpha_r (r_r)_+ + (w_r - alpha_r) (-r_r)_+; doubt: r_r plus or minus noise.
            gap += a * above + (w - a) * below
            doubt += a * larger(v + noise, 0.0) + (w - a) * larger(noise - v, 0.0)
            loss += w * below
            near = larger(near, side[k] * (side[k] * tie - v))
            v = 0.5 * (v + before.r[k])
            a = 0.5 * (a + before.alpha[k])
            above, below = larger(v, 0.0), larger(-v, 0.0)
            middle_gap += a * above + (w - a) * below
            middle_loss += w * below
        if near > 0.0:
            for k in range(start, end):
                if side[k] != 0.0 and side[k] * r[k] < tie:
                    tied[ties] = k
                    ties += 1
    return gap, doubt, loss, middle_gap, middle_loss, ties
