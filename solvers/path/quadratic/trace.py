"""Record of a regularisation path: breakpoints, events of rows, reason for its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.path.budget import PathStop
from equimargin.solvers.path.quadratic.program import DOUBT, GAP, MIDDLE, Gaps

BREAKPOINTS_PER_PAGE = 64
"""Breakpoints of a page.

Few enough that a short path takes little memory, many enough that pages rarely change.
"""


class BreakpointKind(IntEnum):
    """Event of a row at a breakpoint.

    ENTER: it enters the margin set. ZERO and WEIGHT: it leaves for alpha = 0 or alpha =
    weight.
    """

    ENTER = 0
    ZERO = 1
    WEIGHT = 2


class Page(NamedTuple):
    """Block of consecutive breakpoints; the first filled[0] of them are written.

    Parameters
    ----------
    filled : Index of shape (1,)
        Number of breakpoints.
    lam, b : ndarray of shape (size,)
        lambda, and lambda times b.
    beta, v : ndarray of shape (size, ...)
        A'alpha, and v if it is in features; no columns otherwise.
    gaps : ndarray of shape (size, 4)
        Gaps, as in `Gaps`.
    margins : NDArray[np.int64]
        Number of rows in the working set on the way to the next breakpoint.
    ends : Index
        Ends, in rows and values, of the changes up to a breakpoint.
    rows, values : ndarray
        Rows that may have moved since the previous breakpoint, and their alpha.
    event_ends : Index
        Ends, in event_rows and event_kinds, of the events up to a breakpoint.
    event_rows, event_kinds : ndarray
        Rows that entered or left the working set, and their `BreakpointKind`.
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
        """Return a page without breakpoints.

        Parameters
        ----------
        points : int
            Number of coefficients.
        columns : int
            Number of columns of the functions.
        capacity : int
            Maximum size of a working set.
        """
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
    """Record of a path.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Multipliers at the first breakpoint.
    points, columns, capacity : int
        Dimensions of the pages, as in `Page.empty`.
    stopped : PathStop
        Reason for the end of the path.
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
        """Page that is being written."""
        return self.pages[-1]

    def turn(self) -> None:
        """Begin a new page."""
        self.pages.append(Page.empty(self.points, self.columns, self.capacity))

    def __len__(self) -> int:
        return (len(self.pages) - 1) * BREAKPOINTS_PER_PAGE + self.page.filled.item()

    @property
    def last_doubt(self) -> float:
        """Gap, rounding included, of the breakpoint that was written last."""
        return float(self.page.gaps[self.page.filled.item() - 1, DOUBT])

    def of_all(self, name: str) -> Any:
        """Return an array that has an entry or a row per breakpoint, shape (T, ...).

        Parameters
        ----------
        name : str
            Field of `Page`.
        """
        return np.concatenate([getattr(page, name)[: page.filled.item()] for page in self.pages])

    def listed(self, ends: str, name: str) -> tuple[NDArray[np.int64], Any]:
        """Return the number of list entries of each breakpoint, and the list.

        Parameters
        ----------
        ends : str
            Field of `Page` with the ends.
        name : str
            Field of `Page` with the entries.

        Returns
        -------
        counts : ndarray of shape (T,)
            Number of entries of each breakpoint.
        entries : ndarray
            List.
        """
        counts = [
            np.diff(getattr(page, ends)[: page.filled.item()], prepend=0) for page in self.pages
        ]
        entries = [
            getattr(page, name)[: count.sum()]
            for page, count in zip(self.pages, counts, strict=True)
        ]
        return np.concatenate(counts), np.concatenate(entries)

    def gaps(self) -> tuple[Array, Array]:
        """Return relative gaps with their rounding, at breakpoints and half way.

        Returns
        -------
        at_breakpoints : ndarray of shape (T,)
            Gaps at the breakpoints.
        half_way : ndarray of shape (T - 1,)
            Gaps half way to the next breakpoint, with the larger rounding of both.
        """
        gaps = self.of_all("gaps")
        rounding = gaps[:, DOUBT] - gaps[:, GAP]
        return gaps[:, DOUBT], np.asarray(
            gaps[1:, MIDDLE] + np.maximum(rounding[1:], rounding[:-1])
        )
