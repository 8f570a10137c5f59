"""The steps from one breakpoint of a path to the next, compiled: nothing of Python runs between two breakpoints that are as expected.

At a breakpoint the gaps are computed, rows that have come to their bounds leave W, the
breakpoint is written down, and the direction is found. lambda then falls until a row of
W comes to a bound, or until the residual of another one comes to 0.

`walk` goes on until something is to be decided: a gap that is too large, a page that is
full, a direction that takes long, the end.

Source: `parametric_qp.py`, whose steps these are.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.path.quadratic.active_set import (
    SOLVES_BETWEEN_CLOCKS,
    Differences,
    Index,
    Mask,
    Points,
    State,
    Subproblem,
    WorkingSetFactor,
    add,
    copy,
    leave,
    minimise,
    refactor,
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
)
from equimargin.solvers.path.quadratic.trace import BreakpointKind, Page

SAME_SLOPE = 1e-10
"""Slope of a direction, of size 1 as the targets are, that counts as none."""
AT_BOUND = 1e-13
"""Share of its weight by which an alpha may be away from a bound and be put there."""
SHUT = 1e-15
"""Share of its ends by which an interval of the bias may be open and count as shut: the rounding of the ends."""
VANISHING = 1e-9
"""Share of g and of the weights. A segment leads to lambda = 0 if there g would be below this share of what it is, and no alpha would be
outside its box by more than this share of its weight.
"""
VANISHING_FEATURES = 1e-13
"""Share of g, and of lambda, below which a segment leads to 0 where g is made of features: their directions are accurate at any scale."""
VANISHING_LAMBDA = 1e-11
"""Share of lambda below which the next breakpoint is taken to be 0, where g is computed from a Gram matrix."""
BREAKPOINTS_BETWEEN_SUMS = 16
"""Breakpoints between two sums A'alpha over all rows; in between, A'alpha is moved along the directions."""
DRIFTED_GAP = 1e-12
"""Relative gap, rounding included, above which A'alpha is summed over all rows at once."""
BREAKPOINTS_BETWEEN_FACTORS = 200
"""Breakpoints between two fresh Cholesky factors: the updates in between add a rounding each."""
SAME_LAMBDA = 1e-13
"""Share of lambda by which it must fall between two breakpoints to count as progress."""
STUCK_BREAKPOINTS = 50
"""Breakpoints in a row without progress after which the path ends: their events are too close for float64 to tell apart."""
ENTER, ZERO, WEIGHT = (int(kind) for kind in BreakpointKind)
"""What is written of an event."""


class WalkStart(IntEnum):
    """Where `walk` goes on.

    JUDGE : at a point that is to be judged.  SETTLE : at one that is certified.  WRITE : where it is to be written down.
    DIRECT : with the direction.  GO : with the step along it.
    """

    JUDGE = 0
    SETTLE = 1
    WRITE = 2
    DIRECT = 3
    GO = 4


class Pause(IntEnum):
    """Why `walk` returns.

    NOTED : as many breakpoints as asked for are written, or lambda_min is reached: go on with DIRECT.
    FULL : the page is: go on with SETTLE and a new one.  DOUBTFUL : a gap is too large: go on with SETTLE once it is not.
    SLOW : the direction takes longer: go on with GO once it is found.
    STUCK : lambda does not fall any more.  LAST : the direction leads to lambda = 0.
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
"""No pause."""


class WorkingSetState(NamedTuple):
    """The working set that the last segment was followed with; the arrays change in place.

    Parameters
    ----------
    rows : Index of shape (capacity,)
        Of which the first size[0] are in it.
    size : Index of shape (1,)
    inside : Mask of shape (p,)
        Whether a row is in it.
    """

    rows: Index
    size: Index
    inside: Mask


class Ahead(NamedTuple):
    """The next breakpoint; the arrays change in place.

    Parameters
    ----------
    lam, b : ndarray of shape (1,)
        Its lambda and b.
    place : Index of shape (1,)
        In the working set, of the row that comes to a bound there; -1 if none does.
    """

    lam: Array
    b: Array
    place: Index


class SavedBreakpoint(NamedTuple):
    """A breakpoint to come back to; the arrays change in place.

    Parameters
    ----------
    there : Mask of shape (1,)
        Whether there is one.
    lam, b : ndarray of shape (1,)
    alpha : ndarray of shape (p,)
    v : ndarray of shape (k,)
    """

    there: Mask
    lam: Array
    b: Array
    alpha: Array
    v: Array


class Counts(NamedTuple):
    """What is counted on the way; the arrays, (1,), change in place.

    Parameters
    ----------
    candidates : Index
        Of the cone.
    written : Index
        Breakpoints so far.
    stuck : Index
        Breakpoints in a row without progress, so far.
    """

    candidates: Index
    written: Index
    stuck: Index


class Walk(NamedTuple):
    """A walk along the path of a program: what it goes by, and what changes in place.

    Parameters
    ----------
    of, rows, facts
        The program.
    W : WorkingSetFactor
        The rows strictly inside their bounds that determine alpha, with their factor.
    cone : Subproblem
        What the last direction minimises, of whose candidates the first ones count.
    direction : State
        That minimum, -d/d(lambda) of alpha, v, g and b.
    at : PathIterate
        The point that the walk has reached.
    found : PointState
        What is known of it.
    ahead : Ahead
        The next one.
    before : Breakpoint
        The breakpoint that was left last; of the first one, itself.
    kept : SavedBreakpoint
        That breakpoint in full, where the path may have to end with its segment.
    moved : WorkingSetState
        The working set of the last segment.
    counts : Counts
        of breakpoints.
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


@fast
def walk(on: Walk, page: Page, task: int, lambda_min: float, until: int) -> int:
    """Go on with a `WalkStart` until there are `until` breakpoints on the page or something is to be decided; the `Pause`."""
    of, rows, facts, W, cone, direction, at, found, ahead, before, kept, moved, counts = on
    while True:
        if task == JUDGE:
            afresh = (
                found.numbers[DOUBT] > DRIFTED_GAP
                or counts.written[0] % BREAKPOINTS_BETWEEN_SUMS == 0
            )
            if not judge(of, rows, facts, at, before, found, afresh):
                return DOUBTFUL
            task = SETTLE
        if task == SETTLE:
            if page.filled[0] == page.lam.size:
                return FULL
            settle(W, rows.w, direction, at, found, cone.candidates, counts.candidates)
            task = WRITE
        if task == WRITE:
            write(W, at, found, moved, counts, page)
            if page.filled[0] >= until or at.lam[0] <= lambda_min:
                return NOTED
            task = DIRECT
        if task == DIRECT:
            choose(W, at.side, cone, counts)
            problem = Subproblem(
                cone.c, cone.lower, cone.upper, cone.candidates[: counts.candidates[0]]
            )
            if not minimise(of, W, problem, direction, SAME_SLOPE, SOLVES_BETWEEN_CLOCKS):
                return SLOW
        log(W, at.side, moved, page)
        left = look_ahead(of, rows, facts, W, direction, at, found, ahead, lambda_min)
        pause = halted(at.lam[0], ahead.lam[0], counts)
        if pause != GOING:
            return pause
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
    """Forget the last direction, and let rows that have come to their bounds leave W. The candidates, (p,), are these and the tied rows.

    Parameters
    ----------
    some : Index of shape (1,)
        How many of the candidates count.
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
    """Let the rows of W be candidates, too, beside those that are tied or have left it, and bound each by its side."""
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


@fast
def leave_bounds(W: WorkingSetFactor, w: Array, at: PathIterate, left: Index) -> int:
    """Let the rows whose alpha has come to a bound leave W, and write them into the first places of `left`; how many they are."""
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
    """Write a breakpoint down."""
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
    """Put the rows of W on no side, and write down which of them entered it at the last breakpoint, and which left it."""
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
    """The `Pause` where lambda does not fall any more, or to 0; GOING where the walk goes on."""
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
    """The next breakpoint along the direction: lambda_min if that comes first, 0 if there is none before it. Returns `left_at_0`."""
    x, lam, alpha, w, inside = direction.x, at.lam[0], at.alpha, rows.w, W.rows
    rise, room, place = direction.level[0], np.inf, -1
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
    """The breakpoint at which the interval of the bias shuts, or lambda_min if it comes first: with an empty W nothing else moves."""
    end, b = closing(of, rows.t, at.side, at.g)
    if end < lambda_min:
        share = (at.lam[0] - lambda_min) / (at.lam[0] - end)
        end, b = lambda_min, at.b[0] + share * (b - at.b[0])
    ahead.lam[0], ahead.b[0] = end, b


@fast
def first_crossing(
    i: Points, j: Points, t: Array, rate: Array, side: Array, r: Array, tie: float, step: float
) -> float:
    """How far lambda falls, at most by `step`, until a row at a bound that is not tied becomes so.

    Parameters
    ----------
    i, j : Points of shape (p,)
        As of `Differences`.
    t : ndarray of shape (p,)
        As of `RowConditions`.
    rate : ndarray of shape (n,)
        -dg/d(lambda), with that of -b at the origin.
    """
    for k in range(r.size):
        away, closing_in = side[k] * r[k], -side[k] * (rate[i[k]] - rate[j[k]] + t[k])
        room = (
            away / larger(closing_in, SMALLEST_DIVISOR) + (away < tie) / SMALLEST_DIVISOR
        )  # no branches, so that it vectorises
        step = smaller(step, room)
    return step


@fast
def closing(of: Differences, t: Array, side: Array, g: Array) -> tuple[float, float]:
    """The largest lambda at which the interval of b shuts while alpha stays as it is, and the b there; lambda = 0 if it never does.

    The width's negative is convex in lambda, so that Newton's method from 0 ends at its first root.

    Parameters
    ----------
    t : ndarray of shape (p,)
        As of `RowConditions`.
    side : ndarray of shape (p,)
        As of an `PathIterate`, nowhere 0.
    g : ndarray of shape (n,)
        Which is not read at the origin.
    """
    s, lam, low, high = of.s, 0.0, 0.0, 0.0
    for _ in range(s.size + 2):
        low, high, lowest, highest = -np.inf, np.inf, -1, -1
        for r in range(s.size):
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
    """The share of g that would be left at lambda = 0 if the direction were kept, less its noise; infinite if alpha left its box."""
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
    """Keep the breakpoint in full if it may be the last one: f may stay the same, and the next breakpoint be out of float64's reach."""
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
    """Go to the next breakpoint, where g is not computed yet."""
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
