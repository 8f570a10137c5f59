"""Smallest sets that meet every one of some sets: found by HiGHS, and proven to be smallest by a search in integers.

    min 1'z    s.t.  sum over r in S of z_r >= 1 for every set S,  z binary

Source: G. Codato, M. Fischetti, Combinatorial Benders' cuts for mixed-integer linear
programming (2006), for the master problem.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.interrupt import interruptible

Sets = Sequence[frozenset[int]]
LOOK_EVERY = 1000
"""Steps of the search between two looks at the clock."""


def hitting_set(sets: Sets, clock: Clock) -> frozenset[int]:
    """A set that meets every one, a smallest one if HiGHS is right and has the time; its size proves nothing.

    Parameters
    ----------
    sets : Sets
        Not empty, each.
    clock : Clock
        What time is left.
    """
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not sets:
        return frozenset()
    elements = sorted(set().union(*sets))
    place = {element: at for at, element in enumerate(elements)}
    rows = [number for number, each in enumerate(sets) for _ in each]
    columns = [place[element] for each in sets for element in each]
    A = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sets), len(elements)))
    every = LinearConstraint(A, 1, np.inf)
    limits = {"time_limit": max(clock.left, 0.1)}
    ones = np.ones(len(elements))
    found = interruptible(
        lambda: milp(ones, integrality=ones, bounds=Bounds(0, 1), constraints=every, options=limits)
    )
    if found.x is None:
        return _greedy(sets)
    chosen = frozenset(elements[at] for at in np.flatnonzero(found.x > 0.5))
    return chosen if all(chosen & each for each in sets) else _greedy(sets)


def disjoint(sets: Sets) -> int:
    """The number of some disjoint ones among the sets, small ones first: no set of fewer elements meets all."""
    taken: set[int] = set()
    count = 0
    for each in sorted(sets, key=len):
        if not each & taken:
            taken |= each
            count += 1
    return count


def is_met_by_fewer(sets: Sets, size: int, clock: Clock) -> bool:
    """Whether a set of fewer than `size` elements meets every one: by branching on the elements of a set, in integers.

    Raises
    ------
    OutOfTime
        The search took too long; nothing is proven then.
    """
    steps = 0

    def met(left: list[frozenset[int]], budget: int) -> bool:
        nonlocal steps
        steps += 1
        if steps % LOOK_EVERY == 0:
            clock.ask("the proof that no smaller set meets all rays")
        if not left:
            return True
        if budget == 0 or not all(left) or disjoint(left) > budget:
            return False
        branched = min(left, key=len)
        refused: set[int] = set()
        for element in sorted(branched):
            if met([each - refused for each in left if element not in each], budget - 1):
                return True
            refused.add(element)
        return False

    return met(list(sets), size - 1) if size > 0 else False


def _greedy(sets: Sets) -> frozenset[int]:
    """A set that meets every one: again and again the element that is in most of those that are left."""
    left, chosen = list(sets), set[int]()
    while left:
        counts: dict[int, int] = {}
        for each in left:
            for element in each:
                counts[element] = counts.get(element, 0) + 1
        best = max(sorted(counts), key=lambda element: counts[element])
        chosen.add(best)
        left = [each for each in left if best not in each]
    return frozenset(chosen)
