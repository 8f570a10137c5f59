"""The search for the smallest instance on which two problems differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from equimargin.equivalence.instances import key, size
from equimargin.proofs.equivalence import InstanceComparison
from equimargin.solvers.exact.program.clock import OutOfTime


@dataclass(eq=False)
class CounterexampleSearch:
    """A search for an instance on which two problems differ.

    Parameters
    ----------
    compare : Callable[[Any], InstanceComparison]
        What is known of the problems at an instance; it raises OutOfTime.
    finite : bool
        Whether both optima must be finite.
    looked_at : int
        Instances whose optima are both known.
    equal : int
        Those on which they are equal.
    undecided : Counter[str]
        The others, by their reasons.
    """

    compare: Callable[[Any], InstanceComparison]
    finite: bool = False
    looked_at: int = field(default=0, init=False)
    equal: int = field(default=0, init=False)
    undecided: Counter[str] = field(default_factory=Counter, init=False)
    in_time: bool = field(default=True, init=False)
    _known: dict[bytes | int, bool] = field(default_factory=dict, init=False, repr=False)
    _best: InstanceComparison | None = field(default=None, init=False, repr=False)

    def separates(self, instance: Any) -> bool:
        """Return True if the two problems differ there; asked twice it says the same, and nothing differs once the time is up."""
        name = key(instance)
        if name not in self._known:
            self._known[name] = self._differs(instance)
        return self._known[name]

    def run(self, data: Any, examples: int, seed: int) -> InstanceComparison | None:
        """Return the smallest instance found on which the problems differ, or None.

        Parameters
        ----------
        data : Any
            A hypothesis strategy.
        examples : int
            Instances that are drawn at most before one is found.
        seed : int
            Of the draws.
        """
        from hypothesis import Phase, find, settings
        from hypothesis.errors import HypothesisException

        from equimargin.own.instances import unhurried

        how = settings(unhurried(examples), phases=[Phase.generate, Phase.shrink])
        with suppress(
            HypothesisException
            # none was found, or the time limit changed an answer: the best one is known
            # all the same
        ):
            find(data, self.separates, settings=how, random=Random(seed))
        return self._best

    def _differs(self, instance: Any) -> bool:
        if not self.in_time:
            return False
        try:
            found = self.compare(instance)
        except OutOfTime:
            self.in_time = False
            return False
        if found.values is None:
            self.undecided[found.undecided] += 1
            return False
        self.looked_at += 1
        self.equal += found.equal
        if not found.apart or (self.finite and not found.finite):
            return False
        if self._best is None or size(instance) <= size(self._best.data):
            self._best = found
        return True
