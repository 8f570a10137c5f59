"""What is written down along a regularisation path: breakpoints, what happens to rows there, and why it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.path.budget import PathStop
from equimargin.solvers.path.quadratic.active_set import Index
from equimargin.solvers.path.quadratic.program import DOUBT, GAP, MIDDLE, Gaps

BREAKPOINTS_PER_PAGE = 64
"""Breakpoints that a page has room for: few enough that a short path takes little memory, many enough that pages are seldom turned."""


class BreakpointKind(IntEnum):
    """What happens to a row at a breakpoint: it enters the margin set, or leaves it for alpha = 0 or for alpha = weight."""

    ENTER = 0
    ZERO = 1
    WEIGHT = 2


class Page(NamedTuple):
    """Breakpoints one after another; of each array the first filled[0] entries, or rows, are written.

    Parameters
    ----------
    filled : Index of shape (1,)
    lam, b : Array
        lambda, and lambda times b.
    beta, v : Array
        A'alpha, and v where that is in features, else no columns.
    gaps : ndarray of shape (size, 4)
        As of `Gaps`.
    margins : NDArray[np.int64]
        How many rows are in the working set on the way to the next breakpoint.
    ends : Index
        Where the changes of a breakpoint end in rows and values, those before it among
        them: which rows may have moved since the breakpoint before, and alpha there.
    event_ends : Index
        Where its events end in event_rows and event_kinds: the rows that came into the
        working set there or left it, and which `BreakpointKind` each of these is.
    """

    filled: Index
    lam: Array
    b: Array
    beta: Array
    v: Array
    gaps: Array
    margins: NDArray[np.int64]
    ends: Index
    rows: NDArray[np.int32]
    values: Array
    event_ends: Index
    event_rows: NDArray[np.int32]
    event_kinds: NDArray[np.int8]

    @classmethod
    def empty(cls, points: int, columns: int, capacity: int) -> Self:
        """A page for coefficients of points, functions of columns, and working sets of at most `capacity` rows."""
        size = BREAKPOINTS_PER_PAGE
        changes, events = size * capacity, 2 * size * capacity
        return cls(
            np.zeros(1, np.intp),
            np.empty(size),
            np.empty(size),
            np.empty((size, points)),
            np.empty((size, columns)),
            np.empty((size, len(Gaps._fields))),
            np.empty(size, np.int64),
            np.empty(size, np.intp),
            np.empty(changes, np.int32),
            np.empty(changes),
            np.empty(size, np.intp),
            np.empty(events, np.int32),
            np.empty(events, np.int8),
        )


@dataclass(eq=False)
class PathTrace:
    """What a path leaves behind.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        At the first breakpoint.
    points, columns, capacity : int
        Of its pages.
    stopped : PathStop
        Why the path ends.
    """

    alpha: Array
    points: int
    columns: int
    capacity: int
    stopped: PathStop = PathStop.TIME

    def __post_init__(self) -> None:
        self.pages = [Page.empty(self.points, self.columns, self.capacity)]

    @property
    def page(self) -> Page:
        """The page that is being written."""
        return self.pages[-1]

    def turn(self) -> None:
        """Begin a new page."""
        self.pages.append(Page.empty(self.points, self.columns, self.capacity))

    def __len__(self) -> int:
        return (len(self.pages) - 1) * BREAKPOINTS_PER_PAGE + self.page.filled.item()

    @property
    def last_doubt(self) -> float:
        """The gap, rounding included, of the breakpoint that was written last."""
        return float(self.page.gaps[self.page.filled.item() - 1, DOUBT])

    def of_all(self, name: str) -> Any:
        """One of the arrays that have an entry or a row for each breakpoint, (T, ...)."""
        return np.concatenate([getattr(page, name)[: page.filled.item()] for page in self.pages])

    def listed(self, ends: str, name: str) -> tuple[NDArray[np.int64], Any]:
        """How many entries of a list each breakpoint has, (T,), and the list."""
        counts = [
            np.diff(getattr(page, ends)[: page.filled.item()], prepend=0) for page in self.pages
        ]
        entries = [
            getattr(page, name)[: count.sum()]
            for page, count in zip(self.pages, counts, strict=True)
        ]
        return np.concatenate(counts), np.concatenate(entries)

    def gaps(self) -> tuple[Array, Array]:
        """Relative gaps with their rounding: (T,) at the breakpoints; (T - 1,) half way to the next one, with the larger rounding."""
        gaps = self.of_all("gaps")
        rounding = gaps[:, DOUBT] - gaps[:, GAP]
        return gaps[:, DOUBT], np.asarray(
            gaps[1:, MIDDLE] + np.maximum(rounding[1:], rounding[:-1])
        )
