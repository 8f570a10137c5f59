"""A quadratic program that depends on a parameter lambda, a point of its path of solutions, and how far that point is from optimal.

    alpha(lambda) = argmin  1/2 |A'alpha|_K^2 - lambda t'alpha    s.t.  0 <= alpha <= w,  [ s'alpha = 0 ]

Rows of A are differences of two points (`active_set.py`). For a bias b there is one more point, the origin, at which g is -b. A row that
belongs to one point is its difference with the origin, and K carries a constant at all points but the origin.

With g = K A'alpha and residuals r = A g + b s - lambda t, of which r >= 0 where alpha_r = 0 and r <= 0 where alpha_r = w_r, the duality gap
has no terms that cancel:

    gap(alpha, g, b) = sum_r alpha_r (r_r)_+ + (w_r - alpha_r) (-r_r)_+  +  1/2 |g - K A'alpha|^2

It is convex between breakpoints, and is computed half way, too. `doubt` is the gap with the rounding of r counted against it.

g is computed as E v. With a Gram matrix v = beta = A'alpha. With features v is f itself, moved by directions and corrections of its own.
Where K is large over lambda, the f of the rounded multipliers is a little off v; half the squared distance of both is part of the gap.

Source: document P, section 5; Fenchel's inequality row by row for the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from equimargin.formulations.bounds.intervals import SIZE_FLOOR
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.path.active_set import Differences, Index, Points, product

CERTIFIED_GAP = 1e-9
"""Relative gap, as computed, that every breakpoint and every midpoint of a path stays below. The path ends where it cannot."""
DOUBTED_GAP = 1e-8
"""Relative gap that every breakpoint stays below once the rounding of g and b is taken against it."""
SMALLEST_DIVISOR = 1e-300
"""Number that stands in for 0 where something is divided by what may be 0 or below float64."""
TIED_RESIDUAL = 1e-12
"""Residual, over lambda, below which a row at a bound counts as tied: it may move from this breakpoint on."""
MEASURED_ROWS = np.uintp(256)
"""Rows that `measure` takes at a time: few enough to be in the first-level cache still when its next loop reads them."""


class Rows(NamedTuple):
    """What the program asks of each row.

    i, j : (p,) points: A g = g_i - g_j.  s : (p,) signs of the bias, all 0 without one.  t : (p,) targets, of size 1 at most.
    w : (p,) weights, > 0.
    """

    i: Points
    j: Points
    s: Array
    t: Array
    w: Array


class HandedOut(NamedTuple):
    """What the rounding of a returned answer depends on.

    centre : (k,) and offset, of the targets: b - centre'v + offset lambda is the bias that is returned.
    p0 : P(0) of the targets with their offset.
    """

    centre: Array
    offset: float
    p0: float


class Rounding(NamedTuple):
    """About how far numbers at a point of the path are off.

    g : an entry of g.  handed_out : a residual of the returned function.  tie : the residual up to which a row is tied.
    """

    g: float
    handed_out: float
    tie: float


class Gaps(NamedTuple):
    """Relative gaps at a point of the path.

    gap : as computed.  doubt : the gap with the rounding of the returned answer counted against it.
    middle : the gap half way from the breakpoint before.
    final : the gap over the loss alone, which is what gaps are relative to near lambda = 0 if the same f stays best down to there.
    """

    gap: float
    doubt: float
    middle: float
    final: float

    @property
    def certified_here(self) -> bool:
        """Whether the gaps at the point itself are as small as they must be."""
        return self.gap <= CERTIFIED_GAP and self.doubt <= DOUBTED_GAP

    @property
    def certified(self) -> bool:
        """Whether the gap half way is as small, too."""
        return self.certified_here and self.middle <= CERTIFIED_GAP


class Measured(NamedTuple):
    """What is known of a point of the path.

    gaps, rounding : of the point.  tied : (k,) rows at a bound whose residuals are 0 but for rounding.
    """

    gaps: Gaps
    rounding: Rounding
    tied: Index


class Breakpoint(NamedTuple):
    """lambda, and alpha and r there, (p,)."""

    lam: float
    alpha: Array
    r: Array


@dataclass(eq=False, slots=True)
class Iterate:
    """A point of the path.

    lam, b : lambda and lambda times the bias.
    alpha : (p,) multipliers.  side : (p,) 1 where alpha is at 0, -1 where it is at w, 0 for the rows of the working set.
    r : (p,) residuals, those of the last `Program.measured`.
    beta : (n,) A'alpha.  v : (k,) the function, as E has it.  g : (n,) E v, and -b at the origin.
    room : (p,) where `Program.measured` collects the tied rows.
    apart : |v - Z'A'alpha|^2 with features Z, 0 with a Gram matrix.
    """

    lam: float
    b: float
    alpha: Array
    side: Array
    r: Array
    beta: Array
    v: Array
    g: Array
    room: Index
    apart: float = 0.0

    @classmethod
    def at_weights(cls, program: Program) -> Self:
        """lambda = 0 and alpha = w, before anything is computed."""
        (n, k), w = program.of.E.shape, program.rows.w
        return cls(0.0, 0.0, w.copy(), -np.ones(len(w)), np.zeros(len(w)), np.zeros(n), np.zeros(k), np.zeros(n), np.zeros(len(w), np.intp))

    @property
    def breakpoint(self) -> Breakpoint:
        """A copy of what the next gap half way depends on."""
        return Breakpoint(self.lam, self.alpha.copy(), self.r.copy())

    def written_over(self, before: Breakpoint) -> Breakpoint:
        """That copy in the arrays of another breakpoint, which is lost: large arrays are not allocated at every breakpoint."""
        before.alpha[:], before.r[:] = self.alpha, self.r
        return Breakpoint(self.lam, before.alpha, before.r)


@dataclass(frozen=True, eq=False)
class Program:
    """The program; nothing of it changes along the path.

    of : the differences. With a bias the last point is the origin, whose row of E is 0.  rows : what is asked of them.
    balanced : whether s'alpha = 0.  norm2 : |sum_i beta_i k(x_i, .)|^2 of coefficients (n,) that nearly cancel.
    lost : how far an entry of K is off, and how far the means are apart that centring took from K. g is off by the first times the sum of
    |beta| and by the second times the sum of beta.
    handed : what the rounding of a returned answer depends on. Gaps are relative to P(0) of the targets without their offset, their
    rounding to P(0) of the targets with it.
    """

    of: Differences
    rows: Rows
    balanced: bool
    norm2: Callable[[Array], float]
    lost: tuple[float, float]
    handed: HandedOut

    @cached_property
    def p0(self) -> float:
        """The loss of f = 0, or of b alone, whichever is less."""
        return min(float(self.rows.w @ np.maximum(self.rows.t, 0.0)) or self.handed.p0, self.handed.p0)

    @cached_property
    def largest(self) -> Array:
        """The largest |E| of each column, (k,)."""
        return np.asarray(np.abs(self.of.E).max(axis=0, initial=0.0))

    @cached_property
    def entry_noise(self) -> float:
        """About how far an entry of the Gram matrix and its products are off."""
        return 2 * UNIT * max(float(self.largest.max(initial=0.0)), self.lost[1]) + self.lost[0]

    def least(self, lam: float, p0: float) -> float:
        """What a relative gap is divided by at least, P(0) being p0; it is no division by 0 where all is below float64."""
        return max(SIZE_FLOOR * (lam * p0), SMALLEST_DIVISOR)

    def lifted(self, beta: Array) -> Array:
        """v of coefficients beta."""
        return np.asarray(self.of.E.T @ beta) if self.of.explicit else beta

    def evaluate(self, at: Iterate, afresh: bool = True) -> None:
        """Compute g of v and b. With a Gram matrix v is computed first, from alpha where it is to be afresh; with features beta is."""
        if self.of.explicit:
            collect(self.rows.i, self.rows.j, at.alpha, at.beta)
            apart = at.v - self.lifted(at.beta)
            at.apart = float(apart @ apart)
        elif afresh:
            collect(self.rows.i, self.rows.j, at.alpha, at.beta)
            at.v[:] = at.beta
        else:
            at.beta[:] = at.v
        product(self.of.E, at.v, at.g)
        if self.balanced:
            at.g[-1] = -at.b

    def noise(self, at: Iterate) -> float:
        """About how far an entry of g is off, as computed."""
        if self.of.explicit:
            return 2 * UNIT * float(self.largest @ np.abs(at.v))
        off = abs(float(at.beta[-1])) if self.balanced else 0.0
        return self.entry_noise * float(np.abs(at.beta).sum()) + self.lost[1] * off

    def lifting_noise(self, at: Iterate) -> float:
        """About how far an entry of g is off where v was summed over all coefficients; 0 with a Gram matrix, whose v is beta."""
        return 2 * UNIT * float(self.largest @ self.largest) * float(np.abs(at.beta).sum()) if self.of.explicit else 0.0

    def squared_norm(self, at: Iterate) -> float:
        """|g|^2. What the origin adds is 0 up to rounding, and left out."""
        if self.of.explicit:
            return float(at.v @ at.v)
        return float(at.beta @ at.g) - (float(at.beta[-1] * at.g[-1]) if self.balanced else 0.0)

    def half_norm2(self, alpha: Array) -> float:
        """1/2 |A'alpha|^2 of multipliers whose f nearly vanishes."""
        beta = np.zeros(self.of.E.shape[0])
        collect(self.rows.i, self.rows.j, alpha, beta)
        return self.norm2(beta) / 2

    def measured(self, at: Iterate, before: Breakpoint) -> Measured:
        """The gaps at a point and half way from the breakpoint before, and the tied rows; the residuals go into at.r."""
        lam, middle = at.lam, (at.lam + before.lam) / 2
        noise = self.noise(at)
        bias = at.b - float(self.handed.centre @ at.v) + lam * self.handed.offset if self.balanced else 0.0
        rounding = Rounding(noise, noise + UNIT * lam + 2 * UNIT * abs(bias), max(TIED_RESIDUAL * lam, noise))
        here = Breakpoint(lam, at.alpha, at.r)
        sums = measure(self.rows, here, before, at.side, at.g, rounding.handed_out, rounding.tie, at.room)
        gap_of_rows, doubt_of_rows, loss, middle_gap, middle_loss, ties = sums
        norm2 = self.squared_norm(at)
        gap = gap_of_rows + (at.apart / 2 + (abs(float(at.beta[-1] * at.g[-1])) if self.balanced else 0.0))
        least = self.least(lam, self.p0)
        size = max(loss + norm2 / 2, least)
        doubt = gap / size + (doubt_of_rows - gap_of_rows) / max(size, self.least(lam, self.handed.p0))
        middle_size = max(middle_loss + norm2 / 2, self.least(middle, self.p0))
        gaps = Gaps(gap / size, doubt, middle_gap / middle_size, gap / max(loss, least))
        return Measured(gaps, rounding, at.room[:ties].copy())


def closing(rows: Rows, side: Array, y: Array) -> tuple[float, float]:
    """The largest lambda at which the interval of b shuts while alpha stays as it is, and the b there; lambda = 0 if it never does.

    The width's negative is convex in lambda, so that Newton's method from 0 ends at its first root.

    Parameters
    ----------
    side : (p,) as of an `Iterate`, nowhere 0.  y : (p,) A g.
    """
    s, t, lam = rows.s, rows.t, 0.0
    from_below = s * side > 0.0
    for _ in range(len(y) + 2):
        ends = s * (lam * t - y)
        low = np.where(from_below, ends, -np.inf)
        high = np.where(from_below, np.inf, ends)
        a, b = int(np.argmax(low)), int(np.argmin(high))
        if not np.isfinite(low[a]) or not np.isfinite(high[b]):
            middle = low[a] if np.isfinite(low[a]) else high[b]
            return 0.0, float(middle)
        if low[a] <= high[b] + 1e-15 * (abs(low[a]) + abs(high[b])):
            break
        slope = s[a] * t[a] - s[b] * t[b]
        if not slope < 0.0:
            break
        lam += (low[a] - high[b]) / -slope
    return float(lam), float((low[a] + high[b]) / 2)


@fast
def collect(i: Points, j: Points, alpha: Array, beta: Array) -> None:
    """beta = A'alpha."""
    for a in range(beta.size):
        beta[a] = 0.0
    for k in range(alpha.size):
        beta[i[k]] += alpha[k]
        beta[j[k]] -= alpha[k]


@fast
def measure(
    rows: Rows, here: Breakpoint, before: Breakpoint, side: Array, g: Array, noise: float, tie: float, tied: Index
) -> tuple[float, float, float, float, float, int]:
    """Sums over the rows of a point and of the point half way, all of them times lambda.

    Parameters
    ----------
    here : the point; its residuals are written into here.r.  side : (p,) as of an `Iterate`.  g : (n,) with -b at the origin.
    noise : how far a residual may be off.  tie : the residual below which a row at a bound is tied.
    tied : (p,) the rows at a bound that are tied are written into its first places.

    Returns
    -------
    The gap of the point, that gap with the noise against it, and its loss; the gap and the loss half way; how many rows are tied.
    """
    gap, doubt, loss, middle_gap, middle_loss, ties = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    r, n = here.r, np.uintp(here.r.size)  # unsigned, so that the loops vectorise
    for start in range(np.uintp(0), n, MEASURED_ROWS):
        end, near = min(start + MEASURED_ROWS, n), 0.0
        for k in range(start, end):
            r[k] = g[rows.i[k]] - g[rows.j[k]] - here.lam * rows.t[k]
        for k in range(start, end):
            v, a, w = r[k], here.alpha[k], rows.w[k]
            above, below = larger(v, 0.0), larger(-v, 0.0)
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


@fast
def first_crossing(i: Points, j: Points, t: Array, rate: Array, side: Array, r: Array, tie: float, step: float) -> float:
    """How far lambda falls, at most by `step`, until a row at a bound that is not tied becomes so.

    i, j, t : (p,) as of `Rows`.  rate : (n,) -dg/d(lambda), with that of -b at the origin.
    """
    for k in range(r.size):
        away, closing_in = side[k] * r[k], -side[k] * (rate[i[k]] - rate[j[k]] + t[k])
        room = away / larger(closing_in, SMALLEST_DIVISOR) + (away < tie) / SMALLEST_DIVISOR  # no branches, so that it vectorises
        step = smaller(step, room)
    return step
