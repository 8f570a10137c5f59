"""Delta debugging of instances: a greedy search for a smaller one.

Samples of rows come first; then parts are removed: rows, columns, digits, weights,
constants. A candidate is accepted if its text is shorter and it still shows the
finding. The search terminates, since no text can be shortened indefinitely.

References
----------
A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input (2002).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equimargin.shrink.instance import Axis, Instance

SAMPLES = 3
"""Number of samples of each size that are tried before parts are removed.

On a large instance they find a small one soonest.
"""
SMALLEST_SAMPLE = 2
"""Initial sample size in rows; every later one is twice as large."""


@dataclass(frozen=True)
class Reduction:
    """Result of a search.

    Parameters
    ----------
    instance : Instance
        Smallest instance found that shows the finding.
    tried : int
        Number of candidates tried.
    seconds : float
        Duration of the search, in seconds.
    complete : bool
        True if no simpler candidate shows the finding, False if the search timed out.
    """

    instance: Instance
    tried: int
    seconds: float
    complete: bool


def reduced(instance: Instance, shows: Callable[[Instance], bool], seconds: float) -> Reduction:
    """Return the smallest instance found that shows a finding.

    Parameters
    ----------
    instance : Instance
        Instance that shows the finding.
    shows : callable
        Returns True if an instance shows the finding; an exception counts as False.
    seconds : float
        Time limit in seconds, after which the best instance so far is returned.

    Returns
    -------
    Reduction
        Result of the search.
    """
    return _Search(instance, shows, seconds).run()


class _Search:
    """State of a search: the best instance so far, and the candidates tried."""

    def __init__(
        self, instance: Instance, shows: Callable[[Instance], bool], seconds: float
    ) -> None:
        self._best, self._shows = instance, shows
        self._started, self._seconds = time.monotonic(), seconds
        self._seen = {instance.text}

    def run(self) -> Reduction:
        """Try all simpler candidates until none is accepted."""
        complete = True
        try:
            for axis in self._best.axes:
                self._sample(axis)
            before = ""
            while before != self._best.text:
                before = self._best.text
                for axis in self._best.axes:
                    self._cut(axis)
                self._simplify()
        except TimeoutError:
            complete = False
        return Reduction(
            self._best, len(self._seen) - 1, time.monotonic() - self._started, complete
        )

    def _take(self, candidate: Instance) -> bool:
        """Accept a candidate if it is simpler and shows the finding; return True if so.

        Raises
        ------
        TimeoutError
            If the time limit is exceeded.
        """
        if len(candidate.text) >= len(self._best.text) or candidate.text in self._seen:
            return False
        if time.monotonic() - self._started > self._seconds:
            raise TimeoutError
        self._seen.add(candidate.text)
        try:
            shown = self._shows(candidate)
        # A candidate that makes no valid problem does not show the finding.
        except Exception:
            shown = False
        if shown:
            self._best = candidate
        return shown

    def _sample(self, axis: Axis) -> None:
        """Accept the first sample of an axis that shows the finding, smallest first."""
        count, rng = self._best.length(axis), np.random.default_rng(0)
        size = SMALLEST_SAMPLE
        while size <= count // 2:
            for _ in range(SAMPLES):
                if self._take(
                    self._best.keeping(axis, np.sort(rng.choice(count, size, replace=False)))
                ):
                    return
            size *= 2

    def _cut(self, axis: Axis) -> None:
        """Remove parts of an axis: halves, then quarters, down to single places."""
        size = self._best.length(axis) // 2
        while size >= 1:
            start = 0
            while start < self._best.length(axis):
                count = self._best.length(axis)
                kept = np.r_[0:start, min(start + size, count) : count]
                if not (len(kept) and self._take(self._best.keeping(axis, kept))):
                    start += size
            size //= 2

    def _simplify(self) -> None:
        """Accept simpler digits, weights and constants, one after the other."""
        for edit in self._best.edits():
            self._take(edit(self._best))
