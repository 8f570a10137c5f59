"""What is written down along a regularisation path: breakpoints, what happens to rows there, and why it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.path.active_set import Index, Mask
from equimargin.solvers.path.program import Gaps, Iterate


class Kind(IntEnum):
    """What happens to a row at a breakpoint: it enters the margin set, or leaves it for alpha = 0 or for alpha = weight."""

    ENTER = 0
    ZERO = 1
    WEIGHT = 2


class Stop(StrEnum):
    """Why a path ended, as a sentence about the last breakpoint."""

    REACHED = "lambda_min was reached"
    ZERO = "lambda = 0 was reached: f is the same from the breakpoint before on"
    CONSTANT = "f is the same constant at every lambda"
    CALLBACK = "the callback ended the path early"
    LIMIT = "the limit of events ended the path early"
    TIME = "the time limit ended the path early"
    PRECISION = "double precision ended the path early: gaps of 1e-9 can no longer be held below"
    STUCK = "events too close for double precision ended the path early"

    @property
    def complete(self) -> bool:
        """Whether nothing of the path is missing."""
        return self in (Stop.REACHED, Stop.ZERO, Stop.CONSTANT)


@dataclass(eq=False)
class Trace:
    """What a path leaves behind: every list has one entry for each breakpoint.

    alpha : (p,) at the first breakpoint.  explicit : whether `functions` is kept.  stopped : why the path ends.
    lambdas, biases : lambda, and lambda times b.  betas, functions : A'alpha, and v where that is in features.
    gaps : relative, rounding included.  midpoint_gaps : those half way from the breakpoint before, which the first one has not.
    computed : the last gap without its rounding.
    rows, values : which rows may have moved since the breakpoint before, and alpha there.
    margins : how many rows are in the working set on the way to the next breakpoint.
    event_rows, event_kinds : the rows that came into the working set there or left it, and which `Kind` each of these events is.
    """

    alpha: Array
    explicit: bool
    stopped: Stop = Stop.TIME
    lambdas: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    betas: list[Array] = field(default_factory=list)
    functions: list[Array] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    midpoint_gaps: list[float] = field(default_factory=list)
    computed: float = 0.0
    rows: list[NDArray[np.int32]] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    margins: list[int] = field(default_factory=list)
    event_rows: list[Index] = field(default_factory=list)
    event_kinds: list[NDArray[np.int8]] = field(default_factory=list)

    def note(self, at: Iterate, gaps: Gaps, moved: Index, margin: int) -> None:
        """Write a breakpoint down.

        moved : (k,) rows that may have moved.  margin : how many rows are in the working set.
        """
        if self.lambdas:
            self.midpoint_gaps.append(gaps.middle + max(gaps.doubt - gaps.gap, self.gaps[-1] - self.computed))
        self.computed = gaps.gap
        self.lambdas.append(at.lam)
        self.biases.append(at.b)
        self.betas.append(at.beta.copy())
        if self.explicit:
            self.functions.append(at.v.copy())
        self.gaps.append(gaps.doubt)
        self.rows.append(moved.astype(np.int32))
        self.values.append(at.alpha[moved])
        self.margins.append(margin)

    def log(self, was: Index, was_inside: Mask, now: Index, side: Array) -> None:
        """Write down which rows entered the working set at the last breakpoint, and which left it.

        Parameters
        ----------
        was, now : the working set before and after, as rows.  was_inside : (p,) whether a row was in it before.
        side : (p,) as of the `Iterate` after.
        """
        self.margins[-1] = len(now)
        left, entered = was[side[was] != 0.0], now[~was_inside[now]]
        kinds = np.empty(len(left) + len(entered), dtype=np.int8)
        kinds[: len(left)] = np.where(side[left] > 0.0, int(Kind.ZERO), int(Kind.WEIGHT))
        kinds[len(left) :] = int(Kind.ENTER)
        self.event_rows.append(np.concatenate([left, entered]))
        self.event_kinds.append(kinds)
