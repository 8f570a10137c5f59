"""The solutions of a box-constrained quadratic program along a parameter: every breakpoint, each with its gap.

    alpha(lambda) = argmin  1/2 |A'alpha|_K^2 - lambda t'alpha    s.t.  0 <= alpha <= w,  [ s'alpha = 0 ]

g = K A'alpha is unique, continuous and piecewise linear in lambda, and alpha can be chosen to be so, too. With residuals r = A g + b s -
lambda t, which are >= 0 where alpha_r = 0 and <= 0 where alpha_r = w_r, the direction d = -d(alpha)/d(lambda) at a breakpoint is

    argmin  1/2 |A'd|_K^2 + t'd    s.t.  d_r >= 0 where alpha_r = 0, <= 0 where alpha_r = w_r,  over the rows with r_r = 0,  [ s'd = 0 ]

This is the projection of -g / lambda onto the cone of the tied rows: it exists however many rows are tied, and whatever the rank of K. No
row that is tied can leave its cone before the next breakpoint, so that no step has length 0. Where no row is strictly inside its bounds the
bias is an interval, and the next breakpoint is where its ends meet.

Source: document P, section 5; T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, JMLR 5 (2004); L. Gunter, J. Zhu, Neural Computation 19 (2007).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.path.active_set import Index, State, Subproblem, WorkingSet
from equimargin.solvers.path.program import (
    CERTIFIED_GAP,
    DOUBTED_GAP,
    Gaps,
    Iterate,
    Measured,
    Program,
    Rounding,
    closing,
    collect,
    first_crossing,
)
from equimargin.solvers.path.trace import Stop, Trace

WORTH_CORRECTING = 1e-10
"""Relative gap above which a breakpoint is corrected by Newton's method: a tenth of what is certified, so that gaps do not build up."""
CORRECTIONS = 4
"""Newton steps at a breakpoint, at most. The first uses the factor as it is, the second a fresh one."""
CORRECTED_SHARE = 0.9
"""Share of the gap before that a Newton step must get below to be kept: where the working set is ill conditioned it may only add noise."""
SAME_TARGET = 1e-15
"""Difference of two targets, of size 1, that counts as none: the rounding of y - epsilon must make no breakpoints."""
SAME_SLOPE = 1e-10
"""Slope of a direction, of size 1 as the targets are, that counts as none."""
AT_BOUND = 1e-13
"""Share of its weight by which an alpha may be away from a bound and be put there."""
VANISHING = 1e-9
"""Share of g and of the weights. A segment leads to lambda = 0 if there g would be below this share of what it is, and no alpha would be
outside its box by more than this share of its weight."""
VANISHING_FEATURES = 1e-13
"""Share of g, and of lambda, below which a segment leads to 0 where g is made of features: their directions are accurate at any scale."""
VANISHING_LAMBDA = 1e-11
"""Share of lambda below which the next breakpoint is taken to be 0, where g is computed from a Gram matrix."""
HELD_DOWN_TO_0 = 1e-20
"""Share of lambda. A path whose gap can be held down to it is handed out down to lambda = 0: no lambda below is of any use."""
BREAKPOINTS_BETWEEN_SUMS = 16
"""Breakpoints between two sums A'alpha over all rows; in between, A'alpha is moved along the directions."""
DRIFTED_GAP = 1e-12
"""Relative gap, rounding included, above which A'alpha is summed over all rows at once."""
BREAKPOINTS_BETWEEN_FACTORS = 200
"""Breakpoints between two fresh Cholesky factors: the updates in between add a rounding each."""
START_SOLVES = 2
"""Minimisations of |A'alpha|_K at the start: in the second one the slopes are small, and so is their rounding."""
SETTLED_SLOPE = 1e-13
"""Share of the largest slope at the start below which a slope counts as none."""
SAME_LAMBDA = 1e-13
"""Share of lambda by which it must fall between two breakpoints to count as progress."""
STUCK_BREAKPOINTS = 50
"""Breakpoints in a row without progress after which the path ends: their events are too close for float64 to tell apart."""


class OutOfTime(Exception):
    """The limits were reached inside a step."""


@dataclass(eq=False)
class Budget:
    """How far a path may go.

    lambda_min : where it ends.  most : breakpoints at most, or None.  over : whether the time is over; asked from time to time.
    listen : called with (breakpoints, lambda, gap) at every breakpoint; true ends the path.
    stuck : breakpoints in a row without progress, so far.
    """

    lambda_min: float
    most: int | None
    over: Callable[[], bool]
    listen: Callable[[int, float, float], bool]
    stuck: int = 0

    def look(self) -> None:
        """Look at the clock inside a step.

        Raises
        ------
        OutOfTime : the time is over.
        """
        if self.over():
            raise OutOfTime

    def spent(self, breakpoints: int, lam: float, gap: float) -> Stop | None:
        """Why to end at a breakpoint, or None."""
        asked = self.listen(breakpoints, lam, gap)
        if lam <= self.lambda_min:
            return Stop.REACHED
        if asked:
            return Stop.CALLBACK
        if breakpoints == self.most:
            return Stop.LIMIT
        return Stop.TIME if self.over() else None

    def is_stuck(self, lam: float, after: float) -> bool:
        """Whether lambda has not fallen for too long, with this step."""
        self.stuck = self.stuck + 1 if after >= lam * (1 - SAME_LAMBDA) else 0
        return self.stuck > STUCK_BREAKPOINTS


class Ahead(NamedTuple):
    """The next breakpoint.

    lam, b : its lambda and b.  place : in the working set, of the row that comes to a bound there; -1 if none does.
    """

    lam: float
    b: float
    place: int


class Kept(NamedTuple):
    """A breakpoint to come back to."""

    lam: float
    b: float
    alpha: Array
    v: Array


def followed(program: Program, level: float, budget: Budget) -> Trace:
    """The path of a program from lambda = infinity down to lambda_min, or as far as double precision and the limits allow.

    Parameters
    ----------
    level : the b / lambda at which sum_r w_r (t_r - b / lambda s_r)_+ is least; any number without a bias.
    """
    walk = ParametricQP(program, level, budget)
    trace = Trace(walk.at.alpha, program.of.explicit)
    try:
        walk.begin()
        trace.alpha = walk.at.alpha.copy()
        trace.stopped = walk.rest(trace) if walk.at.lam <= 0.0 else walk.follow(trace)
    except OutOfTime:
        trace.stopped = Stop.TIME
    return trace


class ParametricQP:
    """A walk along the path of a program.

    program, level, budget : as in `followed`; they stay as they are.
    at : the point that the walk has reached.  W : the rows strictly inside their bounds that determine alpha, with their factor.
    cone : what the last direction minimises.  direction : that minimum, -d/d(lambda) of alpha, v, g and b.
    before : the breakpoint that was left last; of the first one, itself.
    kept : that breakpoint in full where the path may have to end with its segment, or None.
    """

    def __init__(self, program: Program, level: float, budget: Budget) -> None:
        self.program, self.level, self.budget = program, level, budget
        self.at = Iterate.at_weights(program)
        self.W = WorkingSet(program.of)
        p = len(program.rows.t)
        self.cone = Subproblem(program.rows.t, np.zeros(p), np.zeros(p), np.zeros(0, dtype=np.intp))
        self.direction = State.at_0(program.of)
        self.before = self.at.breakpoint
        self.kept: Kept | None = None

    # The beginning.

    def begin(self) -> None:
        """Find alpha for all large lambda, and the lambda and b at which it ends; 0 where it never does.

        Rows whose targets are beyond `level` are at w, those short of it at 0, and those just there minimise |A'alpha|_K. Without a bias
        all rows are at w.
        """
        program, rows, at = self.program, self.program.rows, self.at
        excess = rows.t - self.level * rows.s
        excess[np.abs(excess) <= SAME_TARGET] = 0.0
        undecided = np.flatnonzero(excess == 0.0)
        at.alpha[:] = np.where(excess > 0.0, rows.w, 0.0)
        if len(undecided):
            self._fill(undecided)
        collect(rows.i, rows.j, at.alpha, at.beta)
        at.v[:] = program.lifted(at.beta)
        program.evaluate(at)
        c = 0.0
        for _ in range(START_SOLVES if len(undecided) else 0):
            c = self._settle(undecided)
        at.side[:] = np.where(self.W.factor.inside, 0.0, np.where(at.alpha > 0.0, -1.0, 1.0))
        y = at.g[rows.i] - at.g[rows.j]
        if float(np.abs(at.g).max(initial=0.0)) <= 4 * max(program.noise(at), program.lifting_noise(at)):
            at.lam, at.b = 0.0, 0.0
        elif program.balanced and not self.W.size:
            at.lam, at.b = closing(rows, at.side, y)
        else:
            at.lam = float(np.divide(y + c * rows.s, excess, out=np.zeros(len(y)), where=excess != 0.0).max(initial=0.0))
            at.b = at.lam * self.level + c
        program.evaluate(at)

    def _fill(self, undecided: Index) -> None:
        """Make s'alpha = 0 by these rows, of one sign, one after the other; the last one in part."""
        s, w, alpha = self.program.rows.s, self.program.rows.w, self.at.alpha
        missing = -float(s @ alpha)
        for sign in (1.0, -1.0):
            rows = undecided[s[undecided] == sign]
            if sign * missing > 0.0:
                total = np.cumsum(w[rows])
                alpha[rows] = np.clip(sign * missing - (total - w[rows]), 0.0, w[rows])

    def _settle(self, undecided: Index) -> float:
        """Minimise |A'alpha|_K over these rows, with s'alpha kept, and return the multiplier of that."""
        rows, at = self.program.rows, self.at
        c = at.g[rows.i] - at.g[rows.j]
        alpha = at.alpha.copy()
        for row in undecided[(alpha[undecided] > 0.0) & (alpha[undecided] < rows.w[undecided])]:
            self.W.add(int(row))
        tol = SETTLED_SLOPE * (float(np.abs(c).max(initial=0.0)) or 1.0)
        level = self.W.minimise(Subproblem(c, -alpha, rows.w - alpha, undecided), tol, self.direction, self.budget.look)
        at.alpha[:] = np.clip(alpha + self.direction.x, 0.0, rows.w)
        at.v += self.direction.v
        self.direction.clear(undecided)
        self.program.evaluate(at)
        self._leave_bounds()
        return level

    # Along the path.

    def follow(self, trace: Trace) -> Stop:
        """Go from breakpoint to breakpoint, and say why the walk ends."""
        at, budget = self.at, self.budget
        if at.lam < budget.lambda_min:
            at.lam, at.b = budget.lambda_min, at.b + (budget.lambda_min - at.lam) * self.level
            self.program.evaluate(at)
        moved, was, was_inside = self.W.members.copy(), np.zeros(0, dtype=np.intp), np.zeros(len(at.alpha), dtype=np.bool_)
        self._measured()
        self.before = at.written_over(self.before)
        while True:
            found = self._measured()
            if found.gaps.final > WORTH_CORRECTING:
                moved = np.union1d(moved, self.W.members)
                found = self._corrected(found)
            if not found.gaps.certified:
                return Stop.PRECISION if self.kept is None else self._back_to(self.kept, trace, was)
            left = self._leave_bounds()
            trace.note(at, found.gaps, moved, self.W.size)
            stop = budget.spent(len(trace.lambdas), at.lam, found.gaps.gap)
            if stop is not None:
                return stop
            self._direct(np.concatenate([found.tied, left, self.W.members]))
            moved = self.W.members.copy()
            trace.log(was, was_inside, moved, at.side)
            was, was_inside = moved, self.W.factor.inside.copy()
            ahead = self._ahead(found.rounding)
            if budget.is_stuck(at.lam, ahead.lam):
                return Stop.STUCK
            if ahead.lam == 0.0:
                return self._end(trace, moved, found.rounding)
            may_end = self.program.of.explicit and self._vanishes(VANISHING, found.rounding)
            self.kept = Kept(at.lam, at.b, at.alpha.copy(), at.v.copy()) if may_end else None
            self._step(ahead, found.gaps.doubt > DRIFTED_GAP, len(trace.lambdas))

    def _measured(self) -> Measured:
        """The gaps here and half way from the breakpoint before, and the tied rows. The residuals are computed anew."""
        return self.program.measured(self.at, self.before)

    def _corrected(self, found: Measured) -> Measured:
        """Take Newton's steps to residuals 0 over W as long as the gap falls."""
        at = self.at
        for attempt in range(CORRECTIONS):
            if found.gaps.final <= WORTH_CORRECTING or not self.W.size:
                break
            if attempt == 1:
                self.W.refactored()
            alpha, v, b = at.alpha[self.W.members].copy(), at.v.copy(), at.b
            self._newton_step()
            new = self._measured()
            if new.gaps.gap < CORRECTED_SHARE * found.gaps.gap:
                found = new
                continue
            at.alpha[self.W.members], at.v[:], at.b = alpha, v, b
            self.program.evaluate(at)
            found = self._measured()
            if attempt:
                break
        return found

    def _newton_step(self) -> None:
        """Solve for residuals 0 over W, with s'alpha = 0 where that is asked."""
        at, rows = self.at, self.W.members
        missing = -at.r[rows]
        if self.program.balanced:
            s = self.program.rows.s[rows]
            level = float((s @ self.W.solve(missing) - at.beta[-1]) / (s @ self.W.solve(s)))
            missing, at.b = missing - level * s, at.b + level
        at.alpha[rows] = np.clip(at.alpha[rows] + self.W.solve(missing), 0.0, self.program.rows.w[rows])
        if self.program.of.explicit:
            at.v += self.W.lifted(missing)
        self.program.evaluate(at)

    def _leave_bounds(self) -> Index:
        """Let the rows whose alpha has come to a bound leave W, and return them."""
        at, rows = self.at, self.W.members
        alpha, w = at.alpha[rows], self.program.rows.w[rows]
        low = alpha <= AT_BOUND * w
        places = (low | (alpha >= (1 - AT_BOUND) * w)).nonzero()[0][::-1]
        left, at_0 = rows[places], low[places]
        if len(left):
            at.side[left] = np.where(at_0, 1.0, -1.0)
            at.alpha[left] = np.where(at_0, 0.0, w[places])
        for place in places.tolist():
            self.W.drop(place)
        return left

    def _direct(self, rows: Index) -> None:
        """Find the direction over these rows: those of W and all that are tied."""
        side = self.at.side[rows]
        self.cone.lower[rows] = np.where(side > 0.0, 0.0, -np.inf)
        self.cone.upper[rows] = np.where(side < 0.0, 0.0, np.inf)
        self.direction.clear(self.cone.candidates)
        self.cone = Subproblem(self.cone.c, self.cone.lower, self.cone.upper, rows)
        self.W.minimise(self.cone, SAME_SLOPE, self.direction, self.budget.look)
        self.at.side[self.W.members] = 0.0

    def _ahead(self, rounding: Rounding) -> Ahead:
        """The next breakpoint along the direction: lambda_min if that comes first, 0 if there is none before it."""
        program, at, lambda_min, rows = self.program, self.at, self.budget.lambda_min, self.W.members
        if program.balanced and not len(rows):
            return self._shut()
        (i, j, _, t, w), x, alpha, rise = program.rows, self.direction.x[rows], at.alpha[rows], self.direction.level.item()
        if program.balanced:
            self.direction.g[-1] = -rise
        room = np.empty(len(rows))
        room.fill(np.inf)
        np.divide(np.where(x > 0.0, w[rows] - alpha, -alpha), x, out=room, where=x != 0.0)
        place = int(room.argmin()) if len(rows) else -1
        step = min(float(room[place]), at.lam) if len(rows) else at.lam
        crossing = first_crossing(i, j, t, self.direction.g, at.side, at.r, rounding.tie, step)
        if crossing < step or step == at.lam:
            step, place = crossing, -1
        end, explicit = at.lam - step, program.of.explicit
        near_0 = (VANISHING_FEATURES if explicit else VANISHING_LAMBDA) * at.lam
        if self._vanishes(VANISHING_FEATURES if explicit else VANISHING, rounding) or end <= near_0:
            return Ahead(0.0, 0.0, -1)
        if end < lambda_min:
            end, place = lambda_min, -1
        return Ahead(end, at.b + (at.lam - end) * rise, place)

    def _shut(self) -> Ahead:
        """The breakpoint at which the interval of the bias shuts, or lambda_min if it comes first: with an empty W nothing else moves."""
        rows, at, lambda_min = self.program.rows, self.at, self.budget.lambda_min
        end, b = closing(rows, at.side, at.g[rows.i] * (rows.s > 0) - at.g[rows.j] * (rows.s < 0))
        if end < lambda_min:
            share = (at.lam - lambda_min) / (at.lam - end)
            return Ahead(lambda_min, at.b + share * (b - at.b), -1)
        return Ahead(end, b, -1)

    def _vanishes(self, share: float, rounding: Rounding) -> bool:
        """Whether g at lambda = 0 would be no larger than this share of what it is, with alpha in its box, if the direction were kept."""
        at, rows = self.at, self.W.members
        w, last = self.program.rows.w[rows], at.alpha[rows] + at.lam * self.direction.x[rows]
        if (last < -VANISHING * w).any() or (last > (1 + VANISHING) * w).any():
            return False
        return bool(np.abs(at.g + at.lam * self.direction.g).max() <= share * np.abs(at.g).max() + 10 * rounding.g)

    def _step(self, ahead: Ahead, afresh: bool, steps: int) -> None:
        """Go to the next breakpoint.

        afresh : whether A'alpha is to be summed over all rows.  steps : how many there are with this one.
        """
        at, rows = self.at, self.W.members
        self.before = at.written_over(self.before)
        x, w, fall = self.direction.x[rows], self.program.rows.w[rows], at.lam - ahead.lam
        at.alpha[rows] = np.minimum(np.maximum(at.alpha[rows] + fall * x, 0.0), w)
        if ahead.place >= 0:
            at.alpha[rows[ahead.place]] = 0.0 if x[ahead.place] < 0.0 else w[ahead.place]
        at.v += fall * self.direction.v
        at.lam, at.b = ahead.lam, ahead.b
        if steps % BREAKPOINTS_BETWEEN_FACTORS == 0:
            self.W.refactored()
        self.program.evaluate(at, afresh or steps % BREAKPOINTS_BETWEEN_SUMS == 0)

    # The end.

    def rest(self, trace: Trace) -> Stop:
        """Write down the one point of a path whose f is b alone.

        It holds down to the lambda at which |A'alpha|_K^2, which is 0 but for rounding, makes a relative gap of DOUBTED_GAP.
        """
        program, at, lambda_min = self.program, self.at, self.budget.lambda_min
        rows = program.rows
        size = max(float(rows.w @ np.maximum(rows.t - self.level * rows.s, 0.0)), program.least(1.0, program.p0))
        norm2 = float(at.v @ at.v if program.of.explicit else np.abs(at.g).max(initial=0.0) * np.abs(at.beta).sum())
        held = norm2 / (2 * DOUBTED_GAP * size)
        at.lam = max(lambda_min, held) if held > 0.0 else 0.0
        at.b = at.lam * self.level
        at.beta[:], at.v[:] = 0.0, 0.0
        gap = norm2 / (2 * size * at.lam) if at.lam > 0.0 else 0.0
        trace.note(at, Gaps(gap, gap, gap, gap), np.zeros(0, dtype=np.intp), self.W.size)
        return Stop.CONSTANT if held <= lambda_min else Stop.PRECISION

    def _back_to(self, kept: Kept, trace: Trace, moved: Index) -> Stop:
        """Go back to the breakpoint that was left last and end there: the next one, far nearer to 0, is out of float64's reach."""
        at = self.at
        at.lam, at.b, at.alpha[:], at.v[:] = kept
        self.program.evaluate(at)
        return self._end(trace, moved, self._measured().rounding)

    def _end(self, trace: Trace, moved: Index, rounding: Rounding) -> Stop:
        """Follow the last segment, along which f is constant, down to lambda = 0, or as far as its gap can be held.

        A'alpha is 0 at lambda = 0 but for rounding. Half the square of what is left of it adds to the gap, which is relative to lambda: it
        says how far down the segment can be followed.
        """
        program, at, lambda_min = self.program, self.at, self.budget.lambda_min
        alpha_0 = self._alpha_at_0()
        left, loss = program.half_norm2(alpha_0), float(program.rows.w @ np.maximum(-at.r, 0.0))
        held = 2 * left / (CERTIFIED_GAP * max(loss, program.least(at.lam, program.p0)))  # the other half is for the rest of the gap
        above_0 = max(lambda_min, held * at.lam)
        for lam in [0.0, above_0] if held <= HELD_DOWN_TO_0 else [above_0] if held <= 1.0 else []:
            share, alpha = lam / at.lam, alpha_0.copy()
            alpha[self.W.members] = share * at.alpha[self.W.members] + (1 - share) * alpha_0[self.W.members]
            gap, doubt = self._gap_at(share, alpha, left, loss, rounding)
            gaps = Gaps(gap, doubt, max(gap, trace.gaps[-1]), gap)
            if gaps.certified_here:
                at.lam, at.b, at.alpha[:] = lam, share * at.b, alpha
                at.beta, at.v = share * at.beta, share * at.v
                trace.note(at, gaps, moved, self.W.size)
                return Stop.ZERO if lam == 0.0 else Stop.REACHED if lam <= lambda_min else Stop.PRECISION
        return Stop.PRECISION

    def _alpha_at_0(self) -> Array:
        """alpha at lambda = 0, (p,), where the direction leads. With features it is corrected over W, so that A'alpha is least."""
        program, at, rows = self.program, self.at, self.W.members
        w, last = program.rows.w[rows], at.alpha[rows] + at.lam * self.direction.x[rows]
        alpha = at.alpha.copy()
        alpha[rows] = np.where(last <= VANISHING * w, 0.0, np.where(last >= (1 - VANISHING) * w, w, last))
        if program.of.explicit:
            beta = np.zeros_like(at.beta)
            collect(program.rows.i, program.rows.j, alpha, beta)
            inside = (alpha[rows] > 0.0) & (alpha[rows] < w)
            alpha[rows] -= np.where(inside, self.W.multipliers(program.lifted(beta)), 0.0)
        return alpha

    def _gap_at(self, share: float, alpha: Array, left: float, loss: float, rounding: Rounding) -> tuple[float, float]:
        """The gap, and the gap with its rounding against it, of the point at this share of lambda on the last segment.

        Parameters
        ----------
        alpha : (p,) there.  left : 1/2 |A'alpha|^2 at lambda = 0.  loss : at the upper end of the segment.
        """
        program, at, w = self.program, self.at, self.program.rows.w
        gap, doubt = (
            float(alpha @ np.maximum(at.r + noise, 0.0) + (w - alpha) @ np.maximum(noise - at.r, 0.0))
            for noise in (0.0, rounding.handed_out)
        )
        size = max(loss + share * program.squared_norm(at) / 2, program.least(at.lam, program.p0))
        gap, doubt = gap / size, (doubt - gap) / max(size, program.least(at.lam, program.handed.p0))
        off = ((1 - share) * np.sqrt(left) + share * np.sqrt(at.apart / 2)) ** 2 / (share * size) if share else 0.0
        return gap + off, gap + off + doubt
