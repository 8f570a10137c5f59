"""Minimum hitting sets, found by HiGHS and proven minimal by a search in integers.

    min 1'z    s.t.  sum over r in S of z_r >= 1 for every set S,  z binary

`fewest` generates the sets: an oracle finds a point without some elements, or an
obstruction, elements of which every point has one. The number of elements of a point is
therefore at least the size of the minimum hitting set of all obstructions. A minimum
hitting set of the known ones is the next candidate.

References
----------
G. Codato, M. Fischetti. Combinatorial Benders' cuts for mixed-integer linear
programming. 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from equimargin.formulations.programs.rational import Vector
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.interrupt import interruptible

Sets = Sequence[frozenset[int]]
T = TypeVar("T")


class Obstruction(NamedTuple):
    """Elements of which every point has one.

    Parameters
    ----------
    elements : tuple[int, ...]
        Elements.
    multipliers : Vector
        Their multipliers in the proof, all nonzero.
    """

    elements: tuple[int, ...]
    multipliers: Vector


class Candidate(NamedTuple, Generic[T]):
    """Elements of a point, and the point.

    Parameters
    ----------
    elements : tuple[int, ...]
        Elements.
    point : T
        Point.
    """

    elements: tuple[int, ...]
    point: T


@dataclass(frozen=True, eq=False)
class Fewest(Generic[T]):
    """Point of the fewest elements that is known, and the proof of a lower bound.

    Parameters
    ----------
    best : Candidate
        Point and its elements.
    lower : int
        Lower bound on the number of elements of every point.
    obstructions : tuple[Obstruction, ...]
        Proof of `lower`.
    reason : str
        Reason for stopping, as a sentence; empty if the bounds are equal.
    """

    best: Candidate[T]
    lower: int
    obstructions: tuple[Obstruction, ...]
    reason: str


Oracle = Callable[[Sequence[int], Clock], Obstruction | Candidate[T]]
"""Oracle of elements to avoid: a point without them, or an obstruction of them alone."""


def fewest(
    best: Candidate[T],
    size: int,
    oracle: Oracle[T],
    clock: Clock,
    known: Iterable[Obstruction] = (),
) -> Fewest[T]:
    """Return a point of the fewest elements, with a proof.

    Parameters
    ----------
    best : Candidate
        Any point.
    size : int
        Number of elements, 0, ..., size - 1.
    oracle : Oracle
        Oracle; every result is exact.
    clock : Clock
        Time limit; if it ends the search, the best known bounds are returned.
    known : iterable of Obstruction
        Initial obstructions.
    """
    found = {frozenset(obstruction.elements): obstruction for obstruction in known}
    try:
        while True:
            guess = hitting_set(list(found), clock)
            before = len(found)
            best = min(
                best,
                _obstructions_beside(guess, size, oracle, found, clock),
                key=lambda point: len(point.elements),
            )
            if len(found) == before or len(best.elements) <= disjoint(list(found)):
                break
        if not is_met_by_fewer(list(found), len(best.elements), clock):
            return Fewest(best, len(best.elements), tuple(found.values()), "")
        # HiGHS returns a set that is not a smallest one mostly when its time ends.
        clock.ask("a smallest set that hits all sets")
        reason = "the smallest set that HiGHS found is not the smallest one"
    except OutOfTime as late:
        reason = str(late)
    return Fewest(best, packing(list(found)), tuple(found.values()), reason)


def _obstructions_beside(
    guess: frozenset[int],
    size: int,
    oracle: Oracle[T],
    found: dict[frozenset[int], Obstruction],
    clock: Clock,
) -> Candidate[T]:
    """Collect obstructions outside of a guess; return a point without the other elements.

    Each search excludes the element of largest multiplier of every previous obstruction.
    """
    left = [element for element in range(size) if element not in guess]
    while True:
        clock.ask("another obstruction")
        result = oracle(left, clock)
        if isinstance(result, Candidate):
            return result
        found[frozenset(result.elements)] = result
        places = range(len(result.elements))
        heaviest = result.elements[max(places, key=lambda at: abs(result.multipliers[at]))]
        left = [element for element in left if element != heaviest]


def hitting_set(sets: Sets, clock: Clock) -> frozenset[int]:
    """Return a hitting set, of minimum size if HiGHS is correct and has enough time.

    Its minimality is not proven here.

    Parameters
    ----------
    sets : Sets
        Nonempty sets.
    clock : Clock
        Remaining time.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not sets:
        return frozenset()
    elements, A = _incidence(sets)
    hits_every = LinearConstraint(A, 1, np.inf)
    limits = {"time_limit": max(clock.left, 0.1)}
    ones = np.ones(len(elements))
    result = interruptible(
        lambda: milp(
            ones, integrality=ones, bounds=Bounds(0, 1), constraints=hits_every, options=limits
        )
    )
    if result.x is None:
        return _greedy(sets)
    # HiGHS computes in floats: a result that does not hit every set is replaced.
    chosen = frozenset(elements[k] for k in np.flatnonzero(result.x > 0.5))
    return chosen if all(chosen & subset for subset in sets) else _greedy(sets)


def disjoint(sets: Sets) -> int:
    """Return the size of a disjoint subfamily, chosen greedily, small sets first.

    It is a lower bound on the size of every hitting set.

    Parameters
    ----------
    sets : Sets
        Sets.
    """
    taken: set[int] = set()
    count = 0
    for subset in sorted(sets, key=len):
        if not subset & taken:
            taken |= subset
            count += 1
    return count


def packing(sets: Sets) -> int:
    """Return a lower bound on the size of every hitting set, from a fractional packing.

        max sum_S y_S    s.t.  sum over S that contain r of y_S <= 1 for every r,  y >= 0

    This is the dual of the linear relaxation, so that every feasible y is a bound. HiGHS
    proposes y in floats; in rational numbers y is divided by its largest sum over an
    element, which makes it feasible.

    Parameters
    ----------
    sets : Sets
        Nonempty sets.
    """
    from scipy.optimize import linprog

    if not sets:
        return 0
    elements, A = _incidence(sets)
    result = interruptible(
        lambda: linprog(-np.ones(len(sets)), A_ub=A.T, b_ub=np.ones(len(elements)), method="highs")
    )
    if result.x is None:
        return disjoint(sets)
    shares = [Fraction(max(share, 0.0)) for share in result.x.tolist()]
    sums = dict.fromkeys(elements, Fraction(0))
    for subset, share in zip(sets, shares, strict=True):
        for element in subset:
            sums[element] += share
    largest = max(Fraction(1), *sums.values())
    return max(ceil(sum(shares, Fraction(0)) / largest), disjoint(sets))


def is_met_by_fewer(sets: Sets, size: int, clock: Clock) -> bool:
    """Return True if a hitting set of fewer than `size` elements exists.

    The search takes the elements of all singletons and branches on those of a smallest
    other set, in integers.

    Parameters
    ----------
    sets : Sets
        Sets to hit.
    size : int
        Number of elements to undercut.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the search took too long; nothing is proven then.
    """
    # The branches of every set on the way down; recursion would be as deep as a hitting set.
    open_branches: list[Iterator[tuple[list[frozenset[int]], int]]] = [
        iter([(list(sets), size - 1)])
    ]
    while open_branches:
        clock.ask("the proof that no smaller set hits all sets")
        branch = next(open_branches[-1], None)
        if branch is None:
            open_branches.pop()
            continue
        left, budget = branch
        forced = frozenset().union(*(subset for subset in left if len(subset) == 1))
        left, budget = [subset for subset in left if not subset & forced], budget - len(forced)
        if budget < 0 or not all(left) or disjoint(left) > budget:
            continue
        if not left:
            return True
        open_branches.append(_branches(left, budget))
    return False


def _branches(
    left: list[frozenset[int]], budget: int
) -> Iterator[tuple[list[frozenset[int]], int]]:
    """Yield the sets and the budget left by each element of a smallest set.

    The elements before it are excluded. An element whose sets all have the same earlier
    element is left out: that one can replace it.
    """
    excluded: set[int] = set()
    smallest = min(left, key=len)
    for element in sorted(smallest):
        if excluded & frozenset.intersection(*(subset for subset in left if element in subset)):
            excluded.add(element)
            continue
        beside = [subset for subset in left if element not in subset]
        yield [subset - excluded for subset in beside] if excluded else beside, budget - 1
        excluded.add(element)


def _incidence(sets: Sets) -> tuple[list[int], Any]:
    """Return the elements in order, and the sparse 0/1 matrix of sets times elements."""
    from scipy import sparse

    elements = sorted(set().union(*sets))
    place = {element: k for k, element in enumerate(elements)}
    rows = [number for number, subset in enumerate(sets) for _ in subset]
    columns = [place[element] for subset in sets for element in subset]
    shape = (len(sets), len(elements))
    return elements, sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _greedy(sets: Sets) -> frozenset[int]:
    """Return a hitting set, greedily: repeatedly the element in most of the sets left."""
    left, chosen = list(sets), set[int]()
    while left:
        counts: dict[int, int] = {}
        for subset in left:
            for element in subset:
                counts[element] = counts.get(element, 0) + 1
        best = max(sorted(counts), key=lambda element: counts[element])
        chosen.add(best)
        left = [subset for subset in left if best not in subset]
    return frozenset(chosen)
