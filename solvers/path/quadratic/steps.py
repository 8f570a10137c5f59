"""Compiled steps from one breakpoint of a path to the next, without Python in between.

1. At a breakpoint compute the gaps, let rows that have reached their bounds leave W,
and write the breakpoint down.
2. Find the direction.
3. Decrease lambda until a row of W reaches a bound, or the residual of another row
vanishes.

`walk` continues until Python must decide: a gap is too large, a page is full, a
direction takes long, or the path ends.

Source: the steps of `parametric_qp.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.jit import (
    ENTRY_IN_NUMPY,
    brief,
    brief_by,
    fast,
    in_numpy,
    part,
)
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.path.quadratic.active_set import (
    SOLVES_BETWEEN_CLOCKS,
    Differences,
    Points,
    State,
    Subproblem,
    WorkingSetFactor,
    add,
    copy,
    leave,
    minimise,
    refactor,
    system_work,
)
from equimargin.solvers.path.quadratic.program import (
    DOUBT,
    NOISE,
    SMALLEST_DIVISOR,
    TIE,
    Breakpoint,
    GapData,
    PathIterate,
    PointState,
    RowConditions,
    judge,
    judgement_work,
)
from equimargin.solvers.path.quadratic.trace import BreakpointKind, Page

SAME_SLOPE = 1e-10
"""Slope of a direction, of size 1 as the targets are, that counts as zero."""
AT_BOUND = 1e-13
"""Fraction of its weight within which an alpha is set to a bound."""
SHUT = 1e-15
"""Relative width at which an interval of the bias counts as a point, due to rounding."""
VANISHING = 1e-9
"""Fraction of g and of the weights at which a segment counts as leading to lambda = 0.

Extrapolated to lambda = 0, g must be below this fraction of its present size, and no
alpha outside its bounds by more than this fraction of its weight.
"""
VANISHING_FEATURES = 1e-13
"""Fraction of g, and of lambda, at which a segment in features counts as leading to 0.

Directions computed from features are accurate at any scale.
"""
VANISHING_LAMBDA = 1e-11
"""Fraction of lambda below which the next breakpoint counts as 0, with a Gram matrix."""
BREAKPOINTS_BETWEEN_SUMS = 16
"""Breakpoints between two sums A'alpha over all rows.

In between, A'alpha is updated along the directions.
"""
DRIFTED_GAP = 1e-12
"""Relative gap with rounding above which A'alpha is summed over all rows at once."""
BREAKPOINTS_BETWEEN_FACTORS = 200
"""Breakpoints between two fresh Cholesky factors.

Each update in between adds a rounding error.
"""
SAME_LAMBDA = 1e-13
"""Fraction of lambda by which it must decrease to count as progress."""
STUCK_BREAKPOINTS = 50
"""Breakpoints in a row without progress that end the path.

Float64 cannot separate their events.
"""
SYSTEMS_PER_BREAKPOINT = 3.0
"""Linear systems that a direction takes, roughly; most take two or three."""
ITERATION_IN_PYTHON = 0.12
"""Cost of an iteration of the walk uncompiled, relative to the entries of `brief`.

It took 0.1 to 0.3e-6 s for 20 to 200 points, and an entry takes 1.5e-6 s.
"""
ENTER, ZERO, WEIGHT = (int(kind) for kind in BreakpointKind)
"""Codes of the events of a row."""


class WalkStart(IntEnum):
    """Task at which `walk` starts.

    Attributes
    ----------
    JUDGE
        Compute the gaps of the current point.
    SETTLE
        Release rows at bounds; the point is certified.
    WRITE
        Write the point down.
    DIRECT
        Find the direction.
    GO
        Take the step along the direction.
    """

    JUDGE = 0
    SETTLE = 1
    WRITE = 2
    DIRECT = 3
    GO = 4


class Pause(IntEnum):
    """Reason for which `walk` returns.

    Attributes
    ----------
    NOTED
        All requested breakpoints are written, or lambda_min is reached. Continue with
        DIRECT.
    FULL
        The page is full. Continue with SETTLE and a new page.
    DOUBTFUL
        A gap is too large. Continue with SETTLE once it is not.
    SLOW
        The direction takes longer. Continue with GO once it is found.
    STUCK
        Lambda does not decrease any more.
    LAST
        The direction leads to lambda = 0.
    """

    NOTED = 0
    FULL = 1
    DOUBTFUL = 2
    SLOW = 3
    STUCK = 4
    LAST = 5


JUDGE, SETTLE, WRITE, DIRECT, GO = (int(task) for task in WalkStart)
NOTED, FULL, DOUBTFUL, SLOW, STUCK, LAST = (int(pause) for pause in Pause)
GOING = -1
"""Code for no pause."""


class WorkingSetState(NamedTuple):
    """Working set of the last segment; the arrays change in place.

    Parameters
    ----------
    rows : Index of shape (capacity,)
        Rows, in the first size[0] places.
    size : Index of shape (1,)
        Number of rows.
    inside : Mask of shape (p,)
        True for rows of the working set.
    """

    rows: Index
    size: Index
    inside: Mask


class Ahead(NamedTuple):
    """Next breakpoint; the arrays change in place.

    Parameters
    ----------
    lam, b : ndarray of shape (1,)
        Its lambda and b.
    place : Index of shape (1,)
        Position in W of the row that reaches a bound there; -1 if none does.
    """

    lam: Array
    b: Array
    place: Index


class SavedBreakpoint(NamedTuple):
    """Saved breakpoint to which the path may return; the arrays change in place.

    Parameters
    ----------
    there : Mask of shape (1,)
        True if a breakpoint is saved.
    lam, b : ndarray of shape (1,)
        Its lambda and b.
    alpha : ndarray of shape (p,)
        Multipliers.
    v : ndarray of shape (k,)
        Function, as in `PathIterate`.
    """

    there: Mask
    lam: Array
    b: Array
    alpha: Array
    v: Array


class Counts(NamedTuple):
    """Counters of a walk; the arrays of shape (1,) change in place.

    Parameters
    ----------
    candidates : Index
        Candidates of the cone.
    written : Index
        Breakpoints so far.
    stuck : Index
        Breakpoints in a row without progress, so far.
    """

    candidates: Index
    written: Index
    stuck: Index


class Walk(NamedTuple):
    """Data and state of a walk along the path of a program.

    Parameters
    ----------
    of, rows, facts
        Program.
    W : WorkingSetFactor
        Rows strictly inside their bounds that determine alpha, with their factor.
    cone : Subproblem
        Subproblem of the last direction; counts.candidates is its number of candidates.
    direction : State
        Its minimum, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        Current point.
    found : PointState
        Gaps, rounding errors and tied rows of the current point.
    ahead : Ahead
        Next breakpoint.
    before : Breakpoint
        Previous breakpoint; the first one is its own predecessor.
    kept : SavedBreakpoint
        Previous breakpoint in full, if the path may have to end with its segment.
    moved : WorkingSetState
        Working set of the last segment.
    counts : Counts
        Counters.
    """

    of: Differences
    rows: RowConditions
    facts: GapData
    W: WorkingSetFactor
    cone: Subproblem
    direction: State
    at: PathIterate
    found: PointState
    ahead: Ahead
    before: Breakpoint
    kept: SavedBreakpoint
    moved: WorkingSetState
    counts: Counts


def _walk_work(result: tuple[int, int], on: Walk, *others: object) -> float:
    """Return the work of `walk` uncompiled, in iterations of a Python loop.

    The arguments are the result and the arguments of `walk`.
    """
    p, candidates = len(on.rows.t), on.counts.candidates.item()
    systems = SYSTEMS_PER_BREAKPOINT * system_work(on.of, on.W, candidates)
    return (
        ITERATION_IN_PYTHON
        * result[1]
        * (systems + judgement_work(on.of, p) + ENTRY_IN_NUMPY * 10.0 * p)
    )


@brief_by(_walk_work)
@fast
def walk(on: Walk, page: Page, task: int, lambda_min: float, until: int) -> tuple[int, int]:
    """Run from a task on until the page has `until` breakpoints or Python must decide.

    Parameters
    ----------
    on, page : Walk, Page
        State of the walk, and the page to be written; both change in place.
    task : int
        `WalkStart` at which to start.
    lambda_min : float
        Lambda at which the path ends.
    until : int
        Number of breakpoints on the page at which to return.

    Returns
    -------
    pause : int
        The `Pause`.
    written : int
        Number of breakpoints written.
    """
    first = page.filled[0]
    of, rows, facts, W, cone, direction, at, found, ahead, before, kept, moved, counts = on
    while True:
        if task == JUDGE:
            afresh = (
                found.numbers[DOUBT] > DRIFTED_GAP
                or counts.written[0] % BREAKPOINTS_BETWEEN_SUMS == 0
            )
            # v is summed anew now and then, as its updates accumulate rounding errors.
            if not judge(of, rows, facts, at, before, found, afresh):
                return DOUBTFUL, page.filled[0] - first
            task = SETTLE
        if task == SETTLE:
            if page.filled[0] == page.lam.size:
                return FULL, page.filled[0] - first
            settle(W, rows.w, direction, at, found, cone.candidates, counts.candidates)
            task = WRITE
        if task == WRITE:
            write(W, at, found, moved, counts, page)
            if page.filled[0] >= until or at.lam[0] <= lambda_min:
                return NOTED, page.filled[0] - first
            task = DIRECT
        if task == DIRECT:
            choose(W, at.side, cone, counts)
            problem = Subproblem(
                cone.c, cone.lower, cone.upper, cone.candidates[: counts.candidates[0]]
            )
            if not minimise(of, W, problem, direction, SAME_SLOPE, SOLVES_BETWEEN_CLOCKS):
                return SLOW, page.filled[0] - first
        log(W, at.side, moved, page)
        left = look_ahead(of, rows, facts, W, direction, at, found, ahead, lambda_min)
        pause = halted(at.lam[0], ahead.lam[0], counts)
        if pause != GOING:
            return pause, page.filled[0] - first
        keep(at, kept, of.explicit and left <= VANISHING)
        step(of, W, rows.w, direction, at, ahead, before, counts)
        task = JUDGE


# At a breakpoint.


@part
def settle(
    W: WorkingSetFactor,
    w: Array,
    direction: State,
    at: PathIterate,
    found: PointState,
    candidates: Index,
    some: Index,
) -> None:
    """Clear the last direction, and let rows that have reached their bounds leave W.

    The candidates become these rows and the tied ones.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    w : ndarray of shape (p,)
        Weights.
    direction : State
        Direction, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        Current point.
    found : PointState
        Gaps, rounding errors and tied rows of the point.
    candidates : Index of shape (p,)
        Candidates of the next direction; written.
    some : Index of shape (1,)
        Number of candidates; changes in place.
    """
    x, banned, tied, ties = direction.x, direction.banned, found.tied, found.ties[0]
    for k in range(some[0]):
        r = candidates[k]
        x[r], banned[r] = 0.0, False
    add(direction.v, -1.0, direction.v)
    add(direction.g, -1.0, direction.g)
    direction.level[0] = 0.0
    for k in range(ties):
        candidates[k] = tied[k]
    some[0] = ties + leave_bounds(W, w, at, candidates[ties:])


@part
def choose(W: WorkingSetFactor, side: Array, cone: Subproblem, counts: Counts) -> None:
    """Add the rows of W to the candidates; one at 0 may only rise, at w only fall.

    The other candidates are tied or have left W.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    side : ndarray of shape (p,)
        Sides of the rows, as in `PathIterate`.
    cone : Subproblem
        Subproblem of the direction; written.
    counts : Counts
        Counters of the walk.
    """
    lower, upper, candidates, rows, some, size = (
        cone.lower,
        cone.upper,
        cone.candidates,
        W.rows,
        counts.candidates[0],
        W.size[0],
    )
    for k in range(size):
        candidates[some + k] = rows[k]
    counts.candidates[0] = some + size
    for k in range(some + size):
        r = candidates[k]
        lower[r] = 0.0 if side[r] > 0.0 else -np.inf
        upper[r] = 0.0 if side[r] < 0.0 else np.inf


@brief
@fast
def leave_bounds(W: WorkingSetFactor, w: Array, at: PathIterate, left: Index) -> int:
    """Let the rows whose alpha has reached a bound leave W; return their number.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    w : ndarray of shape (p,)
        Weights.
    at : PathIterate
        Current point.
    left : Index of shape (capacity,)
        The rows that leave are written into the first places.

    Returns
    -------
    int
        Number of rows that leave.
    """
    some = 0
    for place in range(W.size[0] - 1, -1, -1):
        r = W.rows[place]
        low = at.alpha[r] <= AT_BOUND * w[r]
        if low or at.alpha[r] >= (1 - AT_BOUND) * w[r]:
            at.side[r] = 1.0 if low else -1.0
            at.alpha[r] = 0.0 if low else w[r]
            leave(W, place)
            left[some] = r
            some += 1
    return some


@part
def write(
    W: WorkingSetFactor,
    at: PathIterate,
    found: PointState,
    moved: WorkingSetState,
    counts: Counts,
    page: Page,
) -> None:
    """Write a breakpoint down.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    at : PathIterate
        Current point.
    found : PointState
        Gaps, rounding errors and tied rows of the point.
    moved : WorkingSetState
        Working set of the last segment.
    counts : Counts
        Counters of the walk.
    page : Page
        Page to be written.
    """
    k = page.filled[0]
    page.lam[k], page.b[k], page.margins[k] = at.lam[0], at.b[0], W.size[0]
    copy(page.beta[k], at.beta)
    copy(page.v[k], at.v)
    copy(page.gaps[k], found.numbers)
    end, size, changed, rows, values, alpha = (
        page.ends[k - 1] if k > 0 else 0,
        moved.size[0],
        moved.rows,
        page.rows,
        page.values,
        at.alpha,
    )
    for place in range(size):
        rows[end + place], values[end + place] = changed[place], alpha[changed[place]]
    page.ends[k] = end + size
    page.event_ends[k] = page.event_ends[k - 1] if k > 0 else 0
    page.filled[0] = k + 1
    counts.written[0] += 1


@part
def log(W: WorkingSetFactor, side: Array, moved: WorkingSetState, page: Page) -> None:
    """Set the side of the rows of W to 0, and write down the changes of W.

    These are the rows that entered W at the last breakpoint, or left it.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    side : ndarray of shape (p,)
        Sides of the rows, as in `PathIterate`.
    moved : WorkingSetState
        Working set of the last segment.
    page : Page
        Page to be written.
    """
    rows, kinds, was, now, inside, size = (
        page.event_rows,
        page.event_kinds,
        moved.rows,
        W.rows,
        moved.inside,
        W.size[0],
    )
    k = page.filled[0] - 1
    end = page.event_ends[k]
    for place in range(size):
        side[now[place]] = 0.0
    for place in range(moved.size[0]):
        r = was[place]
        if side[r] != 0.0:
            rows[end], kinds[end] = r, ZERO if side[r] > 0.0 else WEIGHT
            end += 1
    for place in range(size):
        if not inside[now[place]]:
            rows[end], kinds[end] = now[place], ENTER
            end += 1
    page.event_ends[k], page.margins[k] = end, size
    for place in range(moved.size[0]):
        inside[was[place]] = False
    for place in range(size):
        was[place], inside[now[place]] = now[place], True
    moved.size[0] = size


# To the next one.


@part
def halted(lam: float, then: float, counts: Counts) -> int:
    """Return the `Pause` if lambda stalls or reaches 0, else GOING.

    Parameters
    ----------
    lam : float
        Lambda of the current point.
    then : float
        Lambda of the next breakpoint.
    counts : Counts
        Counters; `stuck` is updated.
    """
    counts.stuck[0] = counts.stuck[0] + 1 if then >= lam * (1 - SAME_LAMBDA) else 0
    if counts.stuck[0] > STUCK_BREAKPOINTS:
        return STUCK
    return LAST if then == 0.0 else GOING


@part
def look_ahead(
    of: Differences,
    rows: RowConditions,
    facts: GapData,
    W: WorkingSetFactor,
    direction: State,
    at: PathIterate,
    found: PointState,
    ahead: Ahead,
    lambda_min: float,
) -> float:
    """Find the next breakpoint along the direction; return `left_at_0`.

    If the direction leads to lambda = 0, that is the next breakpoint. Otherwise
    lambda_min is, if it comes first.

    Parameters
    ----------
    of, rows, facts : Differences, RowConditions, GapData
        Program.
    W : WorkingSetFactor
        Working set and its factor.
    direction : State
        Direction, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        Current point.
    found : PointState
        Gaps, rounding errors and tied rows of the point.
    ahead : Ahead
        Next breakpoint; written.
    lambda_min : float
        Lambda at which the path ends.

    Returns
    -------
    float
        Fraction of g that would remain at lambda = 0.
    """
    x, lam, alpha, w, inside = direction.x, at.lam[0], at.alpha, rows.w, W.rows
    rise, room, place = direction.level[0], np.inf, -1
    # At the origin g is -b, which changes at the rate of the multiplier of s'x = 0.
    if facts.balanced:
        direction.g[at.g.size - 1] = -rise
    for k in range(W.size[0]):
        r = inside[k]
        if x[r] != 0.0:
            to_bound = (w[r] - alpha[r]) / x[r] if x[r] > 0.0 else -alpha[r] / x[r]
            if place < 0 or to_bound < room:
                room, place = to_bound, k
    fall = min(room, lam)
    crossing = first_crossing(of.i, of.j, rows.t, direction.g, at.side, at.r, found.off[TIE], fall)
    if crossing < fall or fall == lam:
        fall, place = crossing, -1
    end, share, near, left = (
        lam - fall,
        VANISHING,
        VANISHING_LAMBDA,
        left_at_0(rows.w, W, direction, at, found.off[NOISE]),
    )
    if of.explicit:
        share, near = VANISHING_FEATURES, VANISHING_FEATURES
    ahead.place[0] = -1
    if facts.balanced and W.size[0] == 0:
        shut(of, rows, at, ahead, lambda_min)
    elif left <= share or end <= near * lam:
        ahead.lam[0], ahead.b[0] = 0.0, 0.0
    elif end < lambda_min:
        ahead.lam[0], ahead.b[0] = lambda_min, at.b[0] + (lam - lambda_min) * rise
    else:
        ahead.lam[0], ahead.b[0], ahead.place[0] = end, at.b[0] + fall * rise, place
    return left


@part
def shut(
    of: Differences, rows: RowConditions, at: PathIterate, ahead: Ahead, lambda_min: float
) -> None:
    """Find where the bias interval shrinks to a point, at lambda_min or above.

    With an empty W only this interval changes with lambda.

    Parameters
    ----------
    of, rows : Differences, RowConditions
        Program.
    at : PathIterate
        Current point.
    ahead : Ahead
        Next breakpoint; written.
    lambda_min : float
        Lambda at which the path ends.
    """
    end, b = closing(of, rows.t, at.side, at.g)
    if end < lambda_min:
        share = (at.lam[0] - lambda_min) / (at.lam[0] - end)
        end, b = lambda_min, at.b[0] + share * (b - at.b[0])
    ahead.lam[0], ahead.b[0] = end, b


def _first_crossing_in_numpy(
    i: Points, j: Points, t: Array, rate: Array, side: Array, r: Array, tie: float, step: float
) -> float:
    away, closing_in = side * r, -side * (rate[i] - rate[j] + t)
    room = away / np.maximum(closing_in, SMALLEST_DIVISOR) + (away < tie) / SMALLEST_DIVISOR
    return float(room.min(initial=step))


@in_numpy(_first_crossing_in_numpy)
@fast
def first_crossing(
    i: Points, j: Points, t: Array, rate: Array, side: Array, r: Array, tie: float, step: float
) -> float:
    """Return the decrease of lambda at which the first row at a bound becomes tied.

    Rows that are tied already do not count.

    Parameters
    ----------
    i, j : Points of shape (p,)
        Points of the rows, as in `Differences`.
    t : ndarray of shape (p,)
        Targets, as in `RowConditions`.
    rate : ndarray of shape (n,)
        -dg/d(lambda), with that of -b at the origin.
    side, r : ndarray of shape (p,)
        Sides and residuals, as in `PathIterate`.
    tie : float
        Residual below which a row is tied.
    step : float
        Maximum decrease.
    """
    for k in range(r.size):
        away, closing_in = side[k] * r[k], -side[k] * (rate[i[k]] - rate[j[k]] + t[k])
        # The loop has no branches, so that it vectorises.
        room = away / larger(closing_in, SMALLEST_DIVISOR) + (away < tie) / SMALLEST_DIVISOR
        step = smaller(step, room)
    return step


@brief
@fast
def closing(of: Differences, t: Array, side: Array, g: Array) -> tuple[float, float]:
    """Return the lambda at which the interval of b shrinks to a point, and that b.

    alpha stays constant. Lambda is 0 if the interval never does. The negative width is
    convex in lambda, so that Newton's method from 0 ends at its first root.

    Parameters
    ----------
    of, t : Differences, ndarray of shape (p,)
        Rows as differences of points, and their targets.
    side : ndarray of shape (p,)
        Sides, as in `PathIterate`, nowhere 0.
    g : ndarray of shape (n,)
        Function values; the entry at the origin is not read.

    Returns
    -------
    lam, b : float
        Lambda and b.
    """
    s, lam, low, high = of.s, 0.0, 0.0, 0.0
    for _ in range(s.size + 2):
        low, high, lowest, highest = -np.inf, np.inf, -1, -1
        for r in range(s.size):
            # A row at alpha_r = 0 needs r_r >= 0 and one at w_r needs r_r <= 0: bounds of b.
            end = s[r] * (lam * t[r] - (g[of.i[r]] if s[r] > 0.0 else -g[of.j[r]]))
            if s[r] * side[r] > 0.0 and end > low:
                low, lowest = end, r
            if s[r] * side[r] < 0.0 and end < high:
                high, highest = end, r
        if lowest < 0 or highest < 0:
            return 0.0, low if lowest >= 0 else high
        if low <= high + SHUT * (abs(low) + abs(high)):
            break
        slope = s[lowest] * t[lowest] - s[highest] * t[highest]
        if not slope < 0.0:
            break
        lam += (low - high) / -slope
    return lam, (low + high) / 2


@part
def left_at_0(
    w: Array, W: WorkingSetFactor, direction: State, at: PathIterate, noise: float
) -> float:
    """Return the fraction of g that would remain at lambda = 0, less its noise.

    Infinite if an alpha would leave its bounds.

    Parameters
    ----------
    w : ndarray of shape (p,)
        Weights.
    W : WorkingSetFactor
        Working set and its factor.
    direction : State
        Direction, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        Current point.
    noise : float
        Error of an entry of g.
    """
    left, size, lam, g, slope, alpha, x, rows = (
        0.0,
        SMALLEST_DIVISOR,
        at.lam[0],
        at.g,
        direction.g,
        at.alpha,
        direction.x,
        W.rows,
    )
    for a in range(g.size):
        left = larger(left, abs(g[a] + lam * slope[a]))
        size = larger(size, abs(g[a]))
    share = (left - 10 * noise) / size
    for k in range(W.size[0]):
        r = rows[k]
        last = alpha[r] + lam * x[r]
        if last < -VANISHING * w[r] or last > (1 + VANISHING) * w[r]:
            share = np.inf
    return share


@part
def keep(at: PathIterate, kept: SavedBreakpoint, last: bool) -> None:
    """Save the breakpoint in full if it may be the last one.

    f may stay constant from here on, with the next breakpoint below the range of
    float64.

    Parameters
    ----------
    at, kept : PathIterate, SavedBreakpoint
        Current point, and the saved one to be written.
    last : bool
        True if the breakpoint may be the last one.
    """
    kept.there[0] = last
    if last:
        kept.lam[0], kept.b[0] = at.lam[0], at.b[0]
        copy(kept.alpha, at.alpha)
        copy(kept.v, at.v)


@part
def step(
    of: Differences,
    W: WorkingSetFactor,
    w: Array,
    direction: State,
    at: PathIterate,
    ahead: Ahead,
    before: Breakpoint,
    counts: Counts,
) -> None:
    """Move to the next breakpoint, without computing g there.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    w : ndarray of shape (p,)
        Weights.
    direction : State
        Direction, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        Current point.
    ahead : Ahead
        Next breakpoint.
    before : Breakpoint
        Previous breakpoint; written.
    counts : Counts
        Counters of the walk.
    """
    x, fall, alpha, rows, place = (
        direction.x,
        at.lam[0] - ahead.lam[0],
        at.alpha,
        W.rows,
        ahead.place[0],
    )
    before.lam[0] = at.lam[0]
    copy(before.alpha, alpha)
    copy(before.r, at.r)
    for k in range(W.size[0]):
        r = rows[k]
        alpha[r] = min(max(alpha[r] + fall * x[r], 0.0), w[r])
    if place >= 0:
        r = rows[place]
        alpha[r] = 0.0 if x[r] < 0.0 else w[r]
    add(at.v, fall, direction.v)
    at.lam[0], at.b[0] = ahead.lam[0], ahead.b[0]
    if counts.written[0] % BREAKPOINTS_BETWEEN_FACTORS == 0:
        refactor(of, W)
