"""Search for the smallest instance on which two problems differ."""

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
    """Search for an instance on which two problems differ.

    Parameters
    ----------
    compare : callable
        Returns the comparison of the problems at an instance; raises OutOfTime.
    finite : bool
        True if both optima must be finite.

    Attributes
    ----------
    looked_at, equal : int
        Numbers of instances with two known optima, and with equal optima.
    undecided : Counter of str
        Numbers of the other instances, by reason.
    in_time : bool
        False once the time limit is exceeded.
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
        """Return True if the two problems differ at an instance.

        Results are cached, so that repeated calls agree; after the time limit the
        result is False.

        Parameters
        ----------
        instance : object
            Data of the problems.

        Returns
        -------
        bool
            True if they differ.
        """
        name = key(instance)
        if name not in self._known:
            self._known[name] = self._differs(instance)
        return self._known[name]

    def run(self, data: Any, examples: int, seed: int) -> InstanceComparison | None:
        """Return the smallest instance found on which the problems differ, or None.

        Parameters
        ----------
        data : SearchStrategy
            Hypothesis strategy.
        examples : int
            Maximum number of instances drawn until one is found.
        seed : int
            Seed of the draws.

        Returns
        -------
        InstanceComparison or None
            Comparison at the instance.
        """
        from hypothesis import Phase, find, settings
        from hypothesis.errors import HypothesisException

        from equimargin.own.instances import unhurried

        options = settings(unhurried(examples), phases=[Phase.generate, Phase.shrink])
        # Raised if no instance was found, or if the time limit changed a result: the
        # best instance is known nevertheless.
        with suppress(HypothesisException):
            find(data, self.separates, settings=options, random=Random(seed))
        return self._best

    def _differs(self, instance: Any) -> bool:
        if not self.in_time:
            return False
        try:
            comparison = self.compare(instance)
        except OutOfTime:
            self.in_time = False
            return False
        if comparison.values is None:
            self.undecided[comparison.undecided] += 1
            return False
        self.looked_at += 1
        self.equal += comparison.equal
        if not comparison.apart or (self.finite and not comparison.finite):
            return False
        if self._best is None or size(instance) <= size(self._best.data):
            self._best = comparison
        return True
