"""Delta debugging of instances: the smallest one on which something still shows, sought greedily.

Samples of rows come first; then pieces are left out: rows, columns, digits, weights,
constants. A candidate is taken where it is simpler, by the length of its text, and
still shows the finding. The search ends, because no text can be shortened for ever.

Source: A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input
(2002).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equimargin.shrink.instance import Axis, Instance

SAMPLES = 3
"""Samples of each size that are tried before pieces are left out of the whole: on a large instance they find a small one soonest."""
SMALLEST_SAMPLE = 2
"""Rows of the smallest sample; a later one has twice as many."""


@dataclass(frozen=True)
class Reduction:
    """What a search has found.

    Parameters
    ----------
    instance : Instance
        The smallest one that shows the finding.
    tried : int
        How many were looked at.
    seconds : float
        That it took.
    complete : bool
        Whether nothing simpler that was to be tried shows it; the time was over
        otherwise.
    """

    instance: Instance
    tried: int
    seconds: float
    complete: bool


def reduced(instance: Instance, shows: Callable[[Instance], bool], seconds: float) -> Reduction:
    """The smallest instance that still shows what this one shows.

    Parameters
    ----------
    shows : Callable[[Instance], bool]
        Whether an instance shows it; one that raises an exception does not.
    seconds : float
        After which the best so far is taken.
    """
    return _Search(instance, shows, seconds).run()


class _Search:
    """A search at work: the best instance so far, and what was tried."""

    def __init__(
        self, instance: Instance, shows: Callable[[Instance], bool], seconds: float
    ) -> None:
        self._best, self._shows, self._started, self._seconds = (
            instance,
            shows,
            time.monotonic(),
            seconds,
        )
        self._seen = {instance.text}

    def run(self) -> Reduction:
        """Try all that is simpler, again and again until nothing is taken any more."""
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
        """Whether a candidate is simpler and shows the finding; it is the best one then.

        Raises
        ------
        TimeoutError
            The time is over.
        """
        if len(candidate.text) >= len(self._best.text) or candidate.text in self._seen:
            return False
        if time.monotonic() - self._started > self._seconds:
            raise TimeoutError
        self._seen.add(candidate.text)
        try:
            shown = self._shows(candidate)
        except Exception:  # what makes no problem, or is no longer what it was, shows nothing
            shown = False
        if shown:
            self._best = candidate
        return shown

    def _sample(self, axis: Axis) -> None:
        """Take the first sample of an axis that shows the finding, small ones first."""
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
        """Leave out pieces of an axis: halves, then quarters, down to single places."""
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
        """Take whatever is simpler in digits, weights and constants, one after the other."""
        for edit in self._best.edits():
            self._take(edit(self._best))
