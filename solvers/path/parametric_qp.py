"""The solutions of a box-constrained quadratic program along a parameter: every breakpoint, each with its gap.

    alpha(lambda) = argmin  1/2 |A'alpha|_K^2 - lambda t'alpha    s.t.  0 <= alpha <= w,  [ s'alpha = 0 ]

g = K A'alpha is unique, continuous and piecewise linear in lambda, alpha may be chosen so. With residuals r = A g + b s - lambda t, >= 0
where alpha_r = 0 and <= 0 where alpha_r = w_r, the direction -d(alpha)/d(lambda) at a breakpoint is

    argmin  1/2 |A'd|_K^2 + t'd    s.t.  d_r >= 0 where alpha_r = 0, <= 0 where alpha_r = w_r,  over the rows with r_r = 0,  [ s'd = 0 ]

the projection of -g / lambda onto the cone of the tied rows: it exists however many rows are tied and however singular Q is. No row that is
tied can leave its cone before the next breakpoint, so that no step has length 0. A bias is a point of its own, the origin, where g is -b:
a row of one point is its difference with that point. The bias of an empty margin set is an interval, which closes where its ends meet.

g = E v (`active_set.py`). Of a Gram matrix v = beta = A'alpha. Of features v is f itself, moved by directions and corrections of its own:
rounded multipliers, where K is large over lambda, are multipliers of an f that is a little off v, at a cost of half the squared distance.

Source: document P, section 5; T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, JMLR 5 (2004); L. Gunter, J. Zhu, Neural Computation 19 (2007).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equimargin.formulations.bounds.intervals import relative_size
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.path.active_set import Differences, Index, Points, State, WorkingSet, product
from equimargin.solvers.path.trace import Kind, Stop, Trace

CERTIFIED, DOUBTED = 1e-9, 1e-8
"""Relative gap that every breakpoint and midpoint has at most, as computed, and with the rounding of g and b taken against it."""
CORRECTED = 1e-10
"""Breakpoints with a larger gap are corrected."""
TIED = 1e-12
"""Rows whose residuals are below this, over lambda, are tied."""
ROUNDED = 1e-15
"""Targets that differ by no more than this are equal: the rounding of y - epsilon is none of the problem's breakpoints."""
SLOPE = 1e-10
"""Slopes below this are none."""
AT_BOUND = 1e-13
"""An alpha so near to a bound, over its weight, is at it."""
ENDED = 1e-11
"""A breakpoint at less than this share of lambda is at 0."""
VANISHING = 1e-9
"""A segment that would come to lambda = 0 with g no larger than this, over where it starts, and alpha so little outside, does."""
RESOLVED = 1e-13
"""In place of ENDED and, for g, of VANISHING where g is of features, whose directions are accurate however far columns are apart."""
NOTHING = 1e-20
"""Where the path can be held down to this share of lambda, it can be held to 0."""
AFRESH, SAFE = 16, 1e-12
"""Breakpoints between two sums A'alpha over all rows, while their rounding makes no larger a relative gap."""
REFACTORED = 200
"""Breakpoints between two fresh factors."""
SETTLED = 2
"""Times that the start is minimised: the second time from slopes that are small themselves, whose rounding is, too."""
STUCK = 50
"""Breakpoints in a row without progress that end the path."""
PIECE = np.uintp(256)
"""Rows that are searched for tied ones only if there are any."""
NONE = 1e-300
"""In place of 0, what is divided by."""


class Measured(NamedTuple):
    """Relative gaps: at a breakpoint, there with the rounding of what is handed out taken against it, and half way from the one before.

    final : the gap over the loss alone, which it is relative to where the same f is best down to lambda = 0.
    """

    gap: float
    doubt: float
    middle: float
    final: float

    @property
    def certified(self) -> bool:
        """Whether they are as small as they must be."""
        return self.gap <= CERTIFIED and self.doubt <= DOUBTED and self.middle <= CERTIFIED


class HandedOut(NamedTuple):
    """What rounding in handing an answer out depends on.

    centre, offset : (k,) and of the targets: b - centre'v + offset lambda is the bias.  p0 : P(0) of the targets with their offset.
    """

    centre: Array
    offset: float
    p0: float


class OutOfTime(Exception):
    """The limits were reached inside a step."""


def _least(at_0: float) -> float:
    """What relative gaps are divided by at least, at_0 the value of f = 0; it is no division by 0 where all is below float64."""
    return max(relative_size(at_0), NONE)


class ParametricQP:
    """The program and where its path is.

    differences : the rows; with a bias the last point is the origin, whose row of E is 0, and K carries a constant elsewhere.
    t, w : (p,) targets, of size 1 at most, and weights, > 0.  over : asked from time to time whether to end.
    norm2 : |sum_i beta_i k(x_i, .)|^2 of coefficients (n,) that leave next to nothing.
    lost : of an entry of K and of what centring took from it, times the sum of |beta| and of beta: how far g is off at least.
    handed : how an answer is handed out. Gaps are over P(0) of what is left of the targets, the rounding of that over P(0) itself.
    """

    def __init__(
        self,
        differences: Differences,
        t: Array,
        w: Array,
        balanced: bool,
        over: Callable[[], bool],
        norm2: Callable[[Array], float],
        lost: tuple[float, float],
        handed: HandedOut,
    ) -> None:
        self.of, self.t, self.w, self.balanced, self.over, self.norm2 = differences, t, w, balanced, over, norm2
        self.spread, self.handed = lost[1], handed
        (n, k), p = differences.E.shape, len(t)
        self.p0 = min(float(w @ np.maximum(t, 0.0)) or handed.p0, handed.p0)
        self.largest = np.abs(differences.E).max(axis=0, initial=0.0)
        self.entry = 2 * UNIT * max(float(self.largest.max(initial=0.0)), lost[1]) + lost[0]
        self.W = WorkingSet(differences)
        self.state = State((n, k), p)
        self.alpha, self.side = w.copy(), -np.ones(p)
        self.r, self.before, self.alpha_before = np.zeros(p), np.zeros(p), w.copy()
        self.beta, self.v, self.g, self.b, self.apart = np.zeros(n), np.zeros(k), np.zeros(n), 0.0, 0.0
        self.lam, self.before_lam, self.level, self.doubt = 0.0, 0.0, 0.0, 1.0
        self.left: tuple[float, float, Array, Array] | None = None  # lambda, b, alpha, v, where lambda = 0 may be next
        self.tied = np.zeros(p, dtype=np.intp)
        self.ties = 0
        self.lower, self.upper = np.zeros(p), np.zeros(p)
        self.cleared, self.were, self.steps = self.tied[:0], np.zeros(p, dtype=np.bool_), 0

    # The beginning.

    def start(self, level: float) -> None:
        """alpha for all large lambda, and the lambda and b at which it ends; 0 where it never does.

        level : the b / lambda at which sum_r w_r (t_r - b / lambda s_r)_+ is least: rows beyond it are at w, short of it at 0, and those
        just there minimise |A'alpha|_K. Without a bias all rows are at w.
        """
        self.level = level
        excess = self.t - level * self.of.s
        excess[np.abs(excess) <= ROUNDED] = 0.0
        undecided = np.flatnonzero(excess == 0.0)
        self.alpha = np.where(excess > 0.0, self.w, 0.0)
        if len(undecided):
            self._fill(undecided)
        collect(self.of.i, self.of.j, self.alpha, self.beta)
        self.v[:] = self._lifted(self.beta)
        self._evaluate()
        c = 0.0
        for _ in range(SETTLED if len(undecided) else 0):
            c = self._settle(undecided)
        self.side = np.where(self.W.inside, 0.0, np.where(self.alpha > 0.0, -1.0, 1.0))
        y = self.g[self.of.i] - self.g[self.of.j]
        if float(np.abs(self.g).max(initial=0.0)) <= 4 * max(self._noise(), self._lifting()):
            self.lam, self.b = 0.0, 0.0
        elif self.balanced and not self.W.size:
            self.lam, self.b = self.closing(y)
        else:
            self.lam = float(np.divide(y + c * self.of.s, excess, out=np.zeros(len(y)), where=excess != 0.0).max(initial=0.0))
            self.b = self.lam * level + c
        self._evaluate()

    def _fill(self, undecided: Index) -> None:
        """s'alpha = 0 from these rows, of one sign, one after the other; the last one in part."""
        s = self.of.s
        missing = -float(s @ self.alpha)
        for sign in (1.0, -1.0):
            rows = undecided[s[undecided] == sign]
            if sign * missing > 0.0:
                total = np.cumsum(self.w[rows])
                self.alpha[rows] = np.clip(sign * missing - (total - self.w[rows]), 0.0, self.w[rows])

    def _settle(self, undecided: Index) -> float:
        """Minimise |A'alpha|_K over these rows, s'alpha kept; the multiplier of that."""
        c = self.g[self.of.i] - self.g[self.of.j]
        alpha = self.alpha.copy()
        inner = undecided[(alpha[undecided] > 0.0) & (alpha[undecided] < self.w[undecided])]
        for row in inner:
            self.W.add(int(row))
        scale = float(np.abs(c).max(initial=0.0)) or 1.0
        self.W.minimise(c, -alpha, self.w - alpha, undecided, 1e-13 * scale, self.state, self._look)
        self.alpha = np.clip(alpha + self.state.x, 0.0, self.w)
        self.v += self.state.v
        level = self.state.level
        self.state.clear(undecided)
        self._evaluate()
        self._leave_bounds()
        return level

    def closing(self, y: Array) -> tuple[float, float]:
        """The largest lambda below this one at which the interval of b shuts, while alpha stays as it is, and that b; 0 if it never does.

        y : (p,) A g.  The width's negative is convex in lambda, so that Newton's method from 0 ends at its first root.
        """
        s, lam = self.of.s, 0.0
        from_below = s * self.side > 0.0
        for _ in range(len(y) + 2):
            ends = s * (lam * self.t - y)
            low = np.where(from_below, ends, -np.inf)
            high = np.where(from_below, np.inf, ends)
            a, b = int(np.argmax(low)), int(np.argmin(high))
            if not np.isfinite(low[a]) or not np.isfinite(high[b]):
                middle = low[a] if np.isfinite(low[a]) else high[b]
                return 0.0, float(middle)
            if low[a] <= high[b] + 1e-15 * (abs(low[a]) + abs(high[b])):
                break
            slope = s[a] * self.t[a] - s[b] * self.t[b]
            if not slope < 0.0:
                break
            lam += (low[a] - high[b]) / -slope
        return float(lam), float((low[a] + high[b]) / 2)

    # Along the path.

    def follow(self, lambda_min: float, listen: Callable[[int, float, float], bool], most: int | None) -> Trace:
        """From where `start` left it down to lambda_min, or as far as double precision and the limits allow."""
        trace = Trace(self.alpha.copy())
        if self.lam <= 0.0:
            self._rest(trace, lambda_min)
            return trace
        if self.lam < lambda_min:
            self.lam, self.b = lambda_min, self.b + (lambda_min - self.lam) * self.level
            self._evaluate()
        moved, was, stuck = self.W.members.copy(), np.zeros(0, dtype=np.intp), 0
        self._measured()
        self._remember()
        try:
            while True:
                found = self._measured()
                if found.final > CORRECTED:
                    moved = np.union1d(moved, self.W.members)
                    found = self._corrected(found)
                if not found.certified:
                    trace.stopped = Stop.PRECISION
                    if self.left is not None:
                        self._return(self.left)
                        self._end(trace, was, lambda_min)
                    return trace
                self._leave_bounds()
                self._note(trace, moved, found)
                stop = self._over(lambda_min, len(trace.lambdas) == most, listen(len(trace.lambdas), self.lam, found.gap))
                if stop is not None:
                    trace.stopped = stop
                    return trace
                rise = self._direct()
                self._log(trace, was)
                moved = was = self.W.members.copy()
                end, b, place = self._next(rise, lambda_min)
                stuck = stuck + 1 if end >= self.lam * (1 - 1e-13) else 0
                if stuck > STUCK:
                    trace.stopped = Stop.STUCK
                    return trace
                if end == 0.0:
                    self._end(trace, moved, lambda_min)
                    return trace
                may_end = self.of.explicit and self._vanishes(VANISHING)
                self.left = (self.lam, self.b, self.alpha.copy(), self.v.copy()) if may_end else None
                self._step(end, b, place)
        except OutOfTime:
            return trace

    def _over(self, lambda_min: float, limit: bool, asked: bool) -> Stop | None:
        """Why to end at this breakpoint, or None."""
        if self.lam <= lambda_min:
            return Stop.REACHED
        if asked:
            return Stop.CALLBACK
        return Stop.LIMIT if limit else Stop.TIME if self.over() else None

    def _rest(self, trace: Trace, lambda_min: float) -> None:
        """f is b alone at every lambda, as far down as |A'alpha|_K is known to be 0 well enough."""
        size = max(float(self.w @ np.maximum(self.t - self.level * self.of.s, 0.0)), _least(self.p0))
        norm2 = float(self.v @ self.v if self.of.explicit else np.abs(self.g).max(initial=0.0) * np.abs(self.beta).sum())
        held = norm2 / (2 * DOUBTED * size)
        trace.stopped = Stop.CONSTANT if held <= lambda_min else Stop.PRECISION
        self.lam = max(lambda_min, held) if held > 0.0 else 0.0
        self.b = self.lam * self.level
        self.beta[:], self.v[:] = 0.0, 0.0
        gap = norm2 / (2 * size * self.lam) if self.lam > 0.0 else 0.0
        self._note(trace, self.tied[:0], Measured(gap, gap, gap, gap))

    def _look(self) -> None:
        if self.over():
            raise OutOfTime

    def _noise(self) -> float:
        """About how far an entry of g is off, as computed."""
        if self.of.explicit:
            return 2 * UNIT * float(self.largest @ np.abs(self.v))
        off = abs(float(self.beta[-1])) if self.balanced else 0.0
        return self.entry * float(np.abs(self.beta).sum()) + self.spread * off

    def _lifting(self) -> float:
        """About how far an entry of g is off where v was summed over all coefficients."""
        return 2 * UNIT * float(self.largest @ self.largest) * float(np.abs(self.beta).sum()) if self.of.explicit else 0.0

    def _evaluate(self, afresh: bool = True) -> None:
        """g of v and b; first, of a Gram matrix and where it is to be taken afresh, v of alpha."""
        if self.of.explicit:
            collect(self.of.i, self.of.j, self.alpha, self.beta)
            apart = self.v - self._lifted(self.beta)
            self.apart = float(apart @ apart)
        elif afresh:
            collect(self.of.i, self.of.j, self.alpha, self.beta)
            self.v[:] = self.beta
        else:
            self.beta[:] = self.v
        product(self.of.E, self.v, self.g)
        if self.balanced:
            self.g[-1] = -self.b

    def _lifted(self, beta: Array) -> Array:
        """v of coefficients."""
        return np.asarray(self.of.E.T @ beta) if self.of.explicit else beta

    def _remember(self) -> None:
        """Keep the breakpoint that is left: of itself it is the middle, too."""
        self.before_lam = self.lam
        self.alpha_before[:], self.before[:] = self.alpha, self.r

    def _measured(self) -> Measured:
        """The gaps here and half way from the breakpoint before; residuals and the rows that are tied, on the way."""
        lam, middle = self.lam, (self.lam + self.before_lam) / 2
        self.noise = self._noise()
        self.tolerance = max(TIED * lam, self.noise)
        rows, before = (self.of.i, self.of.j, self.t, self.w), (self.alpha_before, self.before)
        here = self.g, lam, self.alpha, self.side
        bias = self.b - float(self.handed.centre @ self.v) + lam * self.handed.offset if self.balanced else 0.0
        self.rounding = self.noise + UNIT * lam + 2 * UNIT * abs(bias)
        *sums, self.ties = measure(*rows, *here, *before, self.rounding, self.tolerance, self.r, self.tied)
        gap, doubt, loss, middle_gap, middle_loss = sums
        norm2 = self._norm2()
        off = self.apart / 2 + (abs(float(self.beta[-1] * self.g[-1])) if self.balanced else 0.0)
        doubt, gap = doubt - gap, gap + off
        least = _least(lam * self.p0)
        size = max(loss + norm2 / 2, least)
        self.doubt = gap / size + doubt / max(size, _least(lam * self.handed.p0))
        middle_size = max(middle_loss + norm2 / 2, _least(middle * self.p0))
        return Measured(gap / size, self.doubt, middle_gap / middle_size, gap / max(loss, least))

    def _corrected(self, found: Measured) -> Measured:
        """Newton's steps to residuals 0 over W, as long as the gap falls: where W is ill conditioned they may only add noise."""
        for attempt in range(4):
            if found.final <= CORRECTED or not self.W.size:
                break
            if attempt == 1:
                self.W.refactored()
            rows = self.W.members
            kept, v, b, missing = self.alpha[rows].copy(), self.v.copy(), self.b, -self.r[rows]
            if self.balanced:
                s = self.of.s[rows]
                level = float((s @ self.W.solve(missing) - self.beta[-1]) / (s @ self.W.solve(s)))
                missing, self.b = missing - level * s, b + level
            self.alpha[rows] = np.clip(kept + self.W.solve(missing), 0.0, self.w[rows])
            if self.of.explicit:
                self.v += self.W.lifted(missing)
            self._evaluate()
            new = self._measured()
            if not new.gap < 0.9 * found.gap:
                self.alpha[rows], self.v, self.b = kept, v, b
                self._evaluate()
                self._measured()
                if attempt:
                    break
            else:
                found = new
        return found

    def _leave_bounds(self) -> None:
        """Rows of W whose alpha has come to a bound leave."""
        rows = self.W.members
        low = self.alpha[rows] <= AT_BOUND * self.w[rows]
        high = self.alpha[rows] >= (1 - AT_BOUND) * self.w[rows]
        self.side[rows] = np.where(low, 1.0, np.where(high, -1.0, 0.0))
        self.alpha[rows] = np.where(low, 0.0, np.where(high, self.w[rows], self.alpha[rows]))
        for place in np.flatnonzero(low | high)[::-1]:
            self.tied[self.ties] = rows[place]
            self.ties += 1
            self.W.drop(int(place))

    def _direct(self) -> float:
        """The direction, into `state`; that of b."""
        rows = np.concatenate([self.tied[: self.ties], self.W.members])
        side = self.side[rows]
        self.lower[rows] = np.where(side > 0.0, 0.0, -np.inf)
        self.upper[rows] = np.where(side < 0.0, 0.0, np.inf)
        self.state.clear(self.cleared)
        self.cleared = rows
        self.W.minimise(self.t, self.lower, self.upper, rows, SLOPE, self.state, self._look)
        self.side[self.W.members] = 0.0
        return self.state.level

    def _next(self, rise: float, lambda_min: float) -> tuple[float, float, int]:
        """The next breakpoint's lambda and b, and the place in W of the row that comes to a bound there, -1 if none does."""
        if self.balanced and not self.W.size:
            end, b = self.closing(self.g[self.of.i] * (self.of.s > 0) - self.g[self.of.j] * (self.of.s < 0))
            if end < lambda_min:
                share = (self.lam - lambda_min) / (self.lam - end)
                return lambda_min, self.b + share * (b - self.b), -1
            return end, b, -1
        rows = self.W.members
        x, alpha, w = self.state.x[rows], self.alpha[rows], self.w[rows]
        if self.balanced:
            self.state.g[-1] = -rise
        room = np.full(len(rows), np.inf)
        np.divide(np.where(x > 0.0, w - alpha, -alpha), x, out=room, where=x != 0.0)
        place = int(np.argmin(room)) if len(rows) else -1
        step = min(float(room.min(initial=np.inf)), self.lam)
        crossing = first_crossing(self.of.i, self.of.j, self.t, self.state.g, self.side, self.r, self.tolerance, step)
        if crossing < step or step == self.lam:
            step, place = crossing, -1
        end = self.lam - step
        share, ended = (RESOLVED, RESOLVED) if self.of.explicit else (VANISHING, ENDED)
        if self._vanishes(share) or end <= ended * self.lam:
            return 0.0, 0.0, -1
        if end < lambda_min:
            end, place = lambda_min, -1
        return end, self.b + (self.lam - end) * rise, place

    def _vanishes(self, share: float) -> bool:
        """Whether g at lambda = 0 would be no larger than this share of what it is, with alpha in its box, if the direction were kept."""
        rows = self.W.members
        w, last = self.w[rows], self.alpha[rows] + self.lam * self.state.x[rows]
        if (last < -VANISHING * w).any() or (last > (1 + VANISHING) * w).any():
            return False
        return bool(np.abs(self.g + self.lam * self.state.g).max() <= share * np.abs(self.g).max() + 10 * self.noise)

    def _return(self, left: tuple[float, float, Array, Array]) -> None:
        """Back to the breakpoint that was left last: the next one, so much nearer to 0, is out of float64's reach."""
        self.lam, self.b, self.alpha[:], self.v[:] = left
        self._evaluate()
        self._measured()

    def _step(self, end: float, b: float, place: int) -> None:
        """Along the direction to lambda = end, where the row at a place of W, if any, is at its bound."""
        self._remember()
        rows = self.W.members
        x = self.state.x[rows]
        self.alpha[rows] = np.clip(self.alpha[rows] + (self.lam - end) * x, 0.0, self.w[rows])
        if place >= 0:
            self.alpha[rows[place]] = 0.0 if x[place] < 0.0 else self.w[rows[place]]
        self.v += (self.lam - end) * self.state.v
        self.lam, self.b, self.steps = end, b, self.steps + 1
        if self.steps % REFACTORED == 0:
            self.W.refactored()
        self._evaluate(self.doubt > SAFE or self.steps % AFRESH == 0)

    def _end(self, trace: Trace, moved: Index, lambda_min: float) -> None:
        """The last segment, along which f is constant: to lambda = 0, or to lambda_min, where a gap relative to less can be held.

        What is left of A'alpha at 0 adds half its square to the gap, which is relative to lambda: that says how far down it holds.
        """
        rows, w, lam, norm2 = self.W.members, self.w[self.W.members], self.lam, self._norm2()
        last = self.alpha[rows] + lam * self.state.x[rows]
        ends = self.alpha.copy()
        ends[rows] = np.where(last <= VANISHING * w, 0.0, np.where(last >= (1 - VANISHING) * w, w, last))
        if self.of.explicit:
            beta = np.zeros_like(self.beta)
            collect(self.of.i, self.of.j, ends, beta)
            inside = (ends[rows] > 0.0) & (ends[rows] < w)
            ends[rows] -= np.where(inside, self.W.multipliers(self._lifted(beta)), 0.0)
        left, loss = self._left(ends), float(self.w @ np.maximum(-self.r, 0.0))
        held = 2 * left / (CERTIFIED * max(loss, _least(lam * self.p0)))  # half of what is certified is for the rest
        above_0 = max(lambda_min, held * lam)
        for end in [0.0, above_0] if held <= NOTHING else [above_0] if held <= 1.0 else []:
            alpha, share = ends.copy(), end / lam
            alpha[rows] = share * self.alpha[rows] + (1 - share) * ends[rows]
            size = max(loss + share * norm2 / 2, _least(lam * self.p0))
            gap, doubt = (
                float(alpha @ np.maximum(self.r + noise, 0.0) + (self.w - alpha) @ np.maximum(noise - self.r, 0.0))
                for noise in (0.0, self.rounding)
            )
            gap, doubt = gap / size, (doubt - gap) / max(size, _least(lam * self.handed.p0))
            off = ((1 - share) * np.sqrt(left) + share * np.sqrt(self.apart / 2)) ** 2 / (share * size) if share else 0.0
            gap, doubt = gap + off, gap + off + doubt
            if gap <= CERTIFIED and doubt <= DOUBTED:
                self.lam, self.alpha, self.b = end, alpha, share * self.b
                self.beta, self.v = share * self.beta, share * self.v
                self._note(trace, moved, Measured(gap, doubt, max(gap, trace.gaps[-1]), gap))
                trace.stopped = Stop.ZERO if not end else Stop.REACHED if end <= lambda_min else Stop.PRECISION
                return
        trace.stopped = Stop.PRECISION

    def _left(self, alpha: Array) -> float:
        """1/2 |A'alpha|^2 of multipliers other than the path's."""
        beta = np.zeros_like(self.beta)
        collect(self.of.i, self.of.j, alpha, beta)
        return self.norm2(beta) / 2

    def _norm2(self) -> float:
        """|g|^2; of what the origin adds, 0 up to rounding, nothing."""
        if self.of.explicit:
            return float(self.v @ self.v)
        return float(self.beta @ self.g) - (float(self.beta[-1] * self.g[-1]) if self.balanced else 0.0)

    def _note(self, trace: Trace, moved: Index, found: Measured) -> None:
        """Write a breakpoint down."""
        if trace.lambdas:
            trace.midpoint_gaps.append(found.middle + max(found.doubt - found.gap, trace.gaps[-1] - trace.computed))
        trace.computed = found.gap
        trace.lambdas.append(self.lam)
        trace.betas.append(self.beta.copy())
        if self.of.explicit:
            trace.functions.append(self.v.copy())
        trace.biases.append(self.b)
        trace.gaps.append(found.doubt)
        trace.rows.append(moved.astype(np.int32))
        trace.values.append(self.alpha[moved])
        trace.margins.append(self.W.size)

    def _log(self, trace: Trace, was: Index) -> None:
        """Which rows entered the margin set at this breakpoint, and which left it."""
        rows = self.W.members
        trace.margins[-1] = len(rows)
        self.were[was] = True
        left, entered = was[self.side[was] != 0.0], rows[~self.were[rows]]
        self.were[was] = False
        kinds = np.full(len(left) + len(entered), int(Kind.ENTER), dtype=np.int8)
        kinds[: len(left)] = np.where(self.side[left] > 0.0, int(Kind.ZERO), int(Kind.WEIGHT))
        trace.event_rows.append(np.concatenate([left, entered]))
        trace.event_kinds.append(kinds)


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
    i: Points,
    j: Points,
    t: Array,
    w: Array,
    g: Array,
    lam: float,
    alpha: Array,
    side: Array,
    alpha_before: Array,
    before: Array,
    noise: float,
    tolerance: float,
    r: Array,
    tied: Index,
) -> tuple[float, float, float, float, float, int]:
    """Gap, gap with the noise against it and loss, gap and loss half way, all times lambda, into r the residuals, and into `tied` the rows
    at a bound that are tied, whose number comes last.
    """
    gap, doubt, loss, middle_gap, middle_loss, ties = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    n = np.uintp(r.size)  # unsigned, so that the loops vectorise
    for start in range(np.uintp(0), n, PIECE):
        end, near = min(start + PIECE, n), 0.0
        for k in range(start, end):
            r[k] = g[i[k]] - g[j[k]] - lam * t[k]
        for k in range(start, end):
            v = r[k]
            above, below = larger(v, 0.0), larger(-v, 0.0)
            a, rest = alpha[k], w[k] - alpha[k]
            gap += a * above + rest * below
            doubt += a * larger(v + noise, 0.0) + rest * larger(noise - v, 0.0)
            loss += w[k] * below
            near = larger(near, side[k] * (side[k] * tolerance - v))
            v = 0.5 * (v + before[k])
            a = 0.5 * (a + alpha_before[k])
            above, below = larger(v, 0.0), larger(-v, 0.0)
            middle_gap += a * above + (w[k] - a) * below
            middle_loss += w[k] * below
        if near > 0.0:
            for k in range(start, end):
                if side[k] != 0.0 and side[k] * r[k] < tolerance:
                    tied[ties] = k
                    ties += 1
    return gap, doubt, loss, middle_gap, middle_loss, ties


@fast
def first_crossing(i: Points, j: Points, t: Array, rate: Array, side: Array, r: Array, tolerance: float, step: float) -> float:
    """How far lambda falls, at most by `step`, until a row that is not tied is."""
    for k in range(r.size):
        away, closing = side[k] * r[k], -side[k] * (rate[i[k]] - rate[j[k]] + t[k])
        step = smaller(step, away / larger(closing, NONE) + (away < tolerance) / NONE)  # one expression, so that it vectorises
    return step
