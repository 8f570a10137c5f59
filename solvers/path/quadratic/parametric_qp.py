"""Path of a box-constrained quadratic program: every breakpoint, each with its gap.

    alpha(lambda) = argmin  1/2 |A'alpha|_K^2 - lambda t'alpha
                    s.t.  0 <= alpha <= w,  [ s'alpha = 0 ]

g = K A'alpha is unique, continuous and piecewise linear in lambda, and some alpha is
continuous and piecewise linear, too. With residuals r = A g + b s - lambda t, which are
>= 0 where alpha_r = 0 and <= 0 where alpha_r = w_r, the direction d =
-d(alpha)/d(lambda) at a breakpoint is

    argmin  1/2 |A'd|_K^2 + t'd
    s.t.  d_r >= 0 where alpha_r = 0, <= 0 where alpha_r = w_r,
          over the rows with r_r = 0,  [ s'd = 0 ]

Rows at a bound with r_r = 0 are called tied. The direction is the projection of -g /
lambda onto the cone that they define: it exists for any number of tied rows, and any
rank of K. No tied row can violate its conditions before the next breakpoint, so that no
step has length 0. If no row is strictly inside its bounds the optimal b form an
interval, and the next breakpoint is where its ends meet.

Source: document P, section 5; T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, JMLR 5
(2004); L. Gunter, J. Zhu, Neural Computation 19 (2007).
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.path.budget import Budget, PathStop, StepLimit
from equimargin.solvers.path.quadratic import steps
from equimargin.solvers.path.quadratic.active_set import PathWorkingSet, State, Subproblem
from equimargin.solvers.path.quadratic.program import (
    CERTIFIED_GAP,
    DOUBTED_GAP,
    WORTH_CORRECTING,
    Breakpoint,
    Gaps,
    PathIterate,
    PointState,
    QuadraticPathProgram,
    collect,
    judge,
    least,
)
from equimargin.solvers.path.quadratic.steps import (
    SAME_SLOPE,
    VANISHING,
    Ahead,
    Counts,
    Pause,
    SavedBreakpoint,
    Walk,
    WalkStart,
    WorkingSetState,
    closing,
)
from equimargin.solvers.path.quadratic.trace import BREAKPOINTS_PER_PAGE, PathTrace

CORRECTIONS = 4
"""Maximum number of Newton steps at a breakpoint.

The first uses the current factor, the second a fresh one.
"""
CORRECTED_SHARE = 0.9
"""Fraction of the previous gap that a Newton step must undercut to be kept.

With an ill-conditioned working set the step may only add noise.
"""
SAME_TARGET = 1e-15
"""Difference of two targets, of size 1, that counts as zero.

The rounding of y - epsilon must make no breakpoints.
"""
HELD_DOWN_TO_0 = 1e-20
"""Fraction of lambda down to which the gap must be certified to extend the path to 0.

Smaller lambdas are of no use.
"""
START_SOLVES = 2
"""Minimisations of |A'alpha|_K at the start.

In the second one the slopes are small, and so is their rounding.
"""
SETTLED_SLOPE = 1e-13
"""Fraction of the largest slope at the start below which a slope counts as zero."""


def followed(program: QuadraticPathProgram, level: float, budget: Budget) -> PathTrace:
    """Return the path of a program from lambda = infinity down to lambda_min.

    Double precision and the limits may end it earlier.

    Parameters
    ----------
    program : QuadraticPathProgram
        Program.
    level : float
        Value b / lambda at which sum_r w_r (t_r - b / lambda s_r)_+ is minimal; any
        number without a bias.
    budget : Budget
        Limits of the path.

    Returns
    -------
    PathTrace
        Breakpoints, events and the reason for the end.
    """
    walk = ParametricQP(program, level, budget)
    try:
        walk.begin()
        walk.trace.stopped = walk.rest() if walk.at.lam[0] <= 0.0 else walk.follow()
    except StepLimit:
        walk.trace.stopped = PathStop.TIME
    return walk.trace


class ParametricQP:
    """Walk along the path of a program.

    Parameters
    ----------
    program, level, budget
        As in `followed`; they do not change.

    Attributes
    ----------
    W : PathWorkingSet
        Rows strictly inside their bounds that determine alpha, with their factor.
    on : Walk
        Data and state of the compiled steps.
    at : PathIterate
        Current point, which is part of `on`.
    trace : PathTrace
        Recorded breakpoints.
    """

    def __init__(self, program: QuadraticPathProgram, level: float, budget: Budget) -> None:
        self.program, self.level, self.budget = program, level, budget
        self.at = at = PathIterate.at_weights(program)
        self.W = PathWorkingSet(program.of)
        p, (n, k), capacity = len(program.rows.t), program.of.E.shape, len(self.W.factor.rows)
        self.on = Walk(
            program.of,
            program.rows,
            program.facts,
            self.W.factor,
            cone=Subproblem(program.rows.t, np.zeros(p), np.zeros(p), np.zeros(p, np.intp)),
            direction=State.at_0(program.of),
            at=at,
            found=PointState(np.zeros(4), np.zeros(3), np.zeros(p, np.intp), np.zeros(1, np.intp)),
            ahead=Ahead(np.zeros(1), np.zeros(1), np.zeros(1, np.intp)),
            before=Breakpoint(np.zeros(1), at.alpha.copy(), at.r.copy()),
            kept=SavedBreakpoint(
                np.zeros(1, np.bool_), np.zeros(1), np.zeros(1), np.zeros(p), np.zeros(k)
            ),
            moved=WorkingSetState(
                np.zeros(capacity, np.intp), np.zeros(1, np.intp), np.zeros(p, np.bool_)
            ),
            counts=Counts(np.zeros(1, np.intp), np.zeros(1, np.intp), np.zeros(1, np.intp)),
        )
        self.trace = PathTrace(at.alpha, n, k if program.of.explicit else 0, capacity)

    # The beginning.

    def begin(self) -> None:
        """Find alpha for all large lambda, and the lambda and b at which it first changes.

        Lambda is 0 if alpha never changes. Rows with t_r > level s_r are at w, those
        with t_r < level s_r at 0, and those with equality minimise |A'alpha|_K.
        Without a bias all rows are at w.
        """
        program, rows, at = self.program, self.program.rows, self.at
        excess = rows.t - self.level * program.of.s
        excess[np.abs(excess) <= SAME_TARGET] = 0.0
        undecided = np.flatnonzero(excess == 0.0)
        at.alpha[:] = np.where(excess > 0.0, rows.w, 0.0)
        if len(undecided):
            self._fill(undecided)
        collect(program.of.i, program.of.j, at.alpha, at.beta)
        at.v[:] = program.lifted(at.beta)
        self._judged()
        c = 0.0
        for _ in range(START_SOLVES if len(undecided) else 0):
            c = self._settle(undecided)
        at.side[:] = np.where(self.W.factor.inside, 0.0, np.where(at.alpha > 0.0, -1.0, 1.0))
        y = program.of.between(at.g)
        if float(np.abs(at.g).max(initial=0.0)) <= 4 * max(
            self.on.found.rounding.g, program.lifting_noise(at)
        ):
            at.lam[0], at.b[0] = 0.0, 0.0
        elif program.balanced and not self.W.size:
            at.lam[0], at.b[0] = closing(program.of, rows.t, at.side, at.g)
        else:
            at.lam[0] = float(
                np.divide(
                    y + c * program.of.s, excess, out=np.zeros(len(y)), where=excess != 0.0
                ).max(initial=0.0)
            )
            at.b[0] = at.lam[0] * self.level + c
        self._judged()

    def _fill(self, undecided: Index) -> None:
        """Make s'alpha = 0 by raising alpha of these rows to w in turn, the last in part.

        Only rows of one sign are raised.
        """
        s, w, alpha = self.program.of.s, self.program.rows.w, self.at.alpha
        missing = -float(s @ alpha)
        for sign in (1.0, -1.0):
            rows = undecided[s[undecided] == sign]
            if sign * missing > 0.0:
                total = np.cumsum(w[rows])
                alpha[rows] = np.clip(sign * missing - (total - w[rows]), 0.0, w[rows])

    def _settle(self, undecided: Index) -> float:
        """Minimise |A'alpha|_K over these rows; return the multiplier of the fixed s'alpha."""
        rows, at = self.program.rows, self.at
        c, direction = self.program.of.between(at.g), self.on.direction
        alpha = at.alpha.copy()
        for row in undecided[(alpha[undecided] > 0.0) & (alpha[undecided] < rows.w[undecided])]:
            self.W.add(int(row))
        tol = SETTLED_SLOPE * (float(np.abs(c).max(initial=0.0)) or 1.0)
        level = self.W.minimise(
            Subproblem(c, -alpha, rows.w - alpha, undecided), tol, direction, self.budget.look
        )
        at.alpha[:] = np.clip(alpha + direction.x, 0.0, rows.w)
        at.v[:] += direction.v
        direction.clear(undecided)
        self._judged()
        steps.leave_bounds(self.W.factor, rows.w, at, np.empty_like(self.W.factor.rows))
        return level

    # Along the path.

    def follow(self) -> PathStop:
        """Go from breakpoint to breakpoint, and return the reason for the end."""
        on, at, budget, trace = self.on, self.at, self.budget, self.trace
        if at.lam[0] < budget.lambda_min:
            at.b[0] += (budget.lambda_min - at.lam[0]) * self.level
            at.lam[0] = budget.lambda_min
        on.before.lam[0] = at.lam[0]
        self._judged()
        on.before.alpha[:], on.before.r[:] = at.alpha, at.r
        # Multiplications at a breakpoint: a product with E, and a few per row.
        task, work = WalkStart.JUDGE, self.program.of.E.size + 10 * len(at.alpha)
        while True:
            until = trace.page.filled.item() + budget.next_look(len(trace), work) - len(trace)
            pause, _ = steps.walk(on, trace.page, int(task), budget.lambda_min, until)
            match Pause(pause):
                case Pause.NOTED:
                    if len(trace) == 1:
                        trace.alpha = at.alpha.copy()
                    stop = budget.spent(len(trace), at.lam.item(), on.found.gaps.gap)
                    if stop is not None:
                        return stop
                    task = WalkStart.DIRECT
                case Pause.FULL:
                    budget.look()
                    trace.turn()
                    task = WalkStart.SETTLE
                case Pause.DOUBTFUL:
                    if not self._corrected().certified:
                        return self._back_to(on.kept) if on.kept.there[0] else PathStop.GAP
                    task = WalkStart.SETTLE
                case Pause.SLOW:
                    cone = on.cone._replace(
                        candidates=on.cone.candidates[: on.counts.candidates.item()]
                    )
                    self.W.minimise(cone, SAME_SLOPE, on.direction, budget.look)
                    task = WalkStart.GO
                case Pause.STUCK:
                    return PathStop.STUCK
                case Pause.LAST:
                    return self._end()

    def _judged(self) -> Gaps:
        """Return the gaps here and half way from the previous breakpoint, computed afresh.

        g of v and b, the residuals and the tied rows are recomputed.
        """
        on = self.on
        judge(on.of, on.rows, on.facts, on.at, on.before, on.found, True)
        return on.found.gaps

    def _corrected(self) -> Gaps:
        """Take Newton steps to zero residuals over W while the gap falls; return the gaps."""
        at, gaps = self.at, self.on.found.gaps
        for attempt in range(CORRECTIONS):
            if gaps.final <= WORTH_CORRECTING or not self.W.size:
                break
            if attempt == 1:
                self.W.refactored()
            alpha, v, b = at.alpha[self.W.members].copy(), at.v.copy(), at.b.copy()
            self._newton_step()
            new = self._judged()
            if new.gap < CORRECTED_SHARE * gaps.gap:
                gaps = new
                continue
            at.alpha[self.W.members], at.v[:], at.b[:] = alpha, v, b
            gaps = self._judged()
            if attempt:
                break
        return gaps

    def _newton_step(self) -> None:
        """Solve for zero residuals over W, with s'alpha = 0 if the program requires it."""
        at, rows = self.at, self.W.members
        # Q_WW d + level s = -r, with s'd = -s'alpha; beta at the origin is -s'alpha.
        missing = -at.r[rows]
        if self.program.balanced:
            s = self.program.of.s[rows]
            level = float((s @ self.W.solve(missing) - at.beta[-1]) / (s @ self.W.solve(s)))
            missing -= level * s
            at.b[0] += level
        at.alpha[rows] = np.clip(
            at.alpha[rows] + self.W.solve(missing), 0.0, self.program.rows.w[rows]
        )
        if self.program.of.explicit:
            at.v[:] += self.W.lifted(missing)

    # The end.

    def rest(self) -> PathStop:
        """Write down the single point of a path whose f is b alone.

        The point is valid down to the lambda at which |A'alpha|_K^2, zero within
        rounding error, makes the relative gap DOUBTED_GAP.
        """
        program, at, lambda_min = self.program, self.at, self.budget.lambda_min
        rows = program.rows
        size = max(
            float(rows.w @ np.maximum(rows.t - self.level * program.of.s, 0.0)),
            least(1.0, program.facts.p0),
        )
        norm2 = float(
            at.v @ at.v
            if program.of.explicit
            else np.abs(at.g).max(initial=0.0) * np.abs(at.beta).sum()
        )
        held = norm2 / (2 * DOUBTED_GAP * size)
        lam = max(lambda_min, held) if held > 0.0 else 0.0
        at.lam[0], at.b[0] = lam, lam * self.level
        at.beta[:], at.v[:] = 0.0, 0.0
        gap = norm2 / (2 * size * lam) if lam > 0.0 else 0.0
        self._write(Gaps(gap, gap, gap, gap))
        return PathStop.CONSTANT if held <= lambda_min else PathStop.GAP

    def _write(self, gaps: Gaps) -> None:
        """Write the current point down, with these gaps."""
        self.on.found.numbers[:] = gaps
        if self.trace.page.filled[0] == BREAKPOINTS_PER_PAGE:
            self.trace.turn()
        steps.walk(self.on, self.trace.page, int(WalkStart.WRITE), self.budget.lambda_min, 0)

    def _back_to(self, kept: SavedBreakpoint) -> PathStop:
        """Return to the saved breakpoint, the last one left, and end the path there.

        The next breakpoint, far nearer to 0, is below the range of float64.
        """
        at = self.at
        at.lam[:], at.b[:], at.alpha[:], at.v[:] = kept.lam, kept.b, kept.alpha, kept.v
        self._judged()
        return self._end()

    def _end(self) -> PathStop:
        """Follow the last segment, of constant f, down to lambda = 0 if the gap allows.

        A'alpha is 0 at lambda = 0 within rounding error. Half the square of the
        remainder adds to the gap, which is relative to lambda: it limits how far down
        the segment can be followed.
        """
        program, at, lambda_min = self.program, self.at, self.budget.lambda_min
        alpha_0, upper = self._alpha_at_0(), at.lam.item()
        left, loss = program.half_norm2(alpha_0), float(program.rows.w @ np.maximum(-at.r, 0.0))
        # The factor 2 leaves half of CERTIFIED_GAP for the rest of the gap.
        held = 2 * left / (CERTIFIED_GAP * max(loss, least(upper, program.facts.p0)))
        above_0, before = max(lambda_min, held * upper), self.trace.last_doubt
        for lam in [0.0, above_0] if held <= HELD_DOWN_TO_0 else [above_0] if held <= 1.0 else []:
            share, alpha = lam / upper, alpha_0.copy()
            alpha[self.W.members] = (
                share * at.alpha[self.W.members] + (1 - share) * alpha_0[self.W.members]
            )
            gap, doubt = self._gap_at(share, alpha, left, loss)
            gaps = Gaps(gap, doubt, max(gap, before), gap)
            if gaps.certified_here:
                at.lam[0], at.alpha[:] = lam, alpha
                for part in (at.b, at.beta, at.v):
                    part *= share
                self._write(gaps)
                return (
                    PathStop.ZERO
                    if lam == 0.0
                    else PathStop.REACHED
                    if lam <= lambda_min
                    else PathStop.GAP
                )
        return PathStop.GAP

    def _alpha_at_0(self) -> Array:
        """Return alpha at lambda = 0, shape (p,), to which the direction leads.

        With features it is corrected over W, so that A'alpha is minimal.
        """
        program, at, rows = self.program, self.at, self.W.members
        w, last = program.rows.w[rows], at.alpha[rows] + at.lam[0] * self.on.direction.x[rows]
        alpha = at.alpha.copy()
        alpha[rows] = np.where(
            last <= VANISHING * w, 0.0, np.where(last >= (1 - VANISHING) * w, w, last)
        )
        if program.of.explicit:
            beta = np.zeros_like(at.beta)
            collect(program.of.i, program.of.j, alpha, beta)
            inside = (alpha[rows] > 0.0) & (alpha[rows] < w)
            alpha[rows] -= np.where(inside, self.W.multipliers(program.lifted(beta)), 0.0)
        return alpha

    def _gap_at(self, share: float, alpha: Array, left: float, loss: float) -> tuple[float, float]:
        """Return the gap, and the gap plus its rounding, at a fraction of lambda.

        The point is on the last segment.

        Parameters
        ----------
        share : float
            Fraction of lambda at the upper end.
        alpha : ndarray of shape (p,)
            Multipliers at the point.
        left : float
            1/2 |A'alpha|^2 at lambda = 0.
        loss : float
            Loss at the upper end of the segment.
        """
        program, at, w, facts = self.program, self.at, self.program.rows.w, self.program.facts
        gap, doubt = (
            float(
                alpha @ np.maximum(at.r + noise, 0.0) + (w - alpha) @ np.maximum(noise - at.r, 0.0)
            )
            for noise in (0.0, self.on.found.rounding.handed_out)
        )
        size = max(loss + share * program.squared_norm(at) / 2, least(at.lam[0], facts.p0))
        gap, doubt = gap / size, (doubt - gap) / max(size, least(at.lam[0], facts.handed.p0))
        off = (
            ((1 - share) * np.sqrt(left) + share * np.sqrt(at.apart[0] / 2)) ** 2 / (share * size)
            if share
            else 0.0
        )
        return gap + off, gap + off + doubt
