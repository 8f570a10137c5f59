"""Minimum number of misranked pairs, and average precision, by enumeration.

No code is shared with solvers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import atan2

Vector = Sequence[Fraction]


def least_by_directions(differences: Sequence[Vector]) -> int:
    """Return the minimum number of differences d with w.d <= 0 over all w.

    The differences lie in the plane, (p, 2). The signs of all w.d are constant while
    the direction of w is between two neighbouring normals of differences.
    """
    some = [(d[0], d[1]) for d in differences if any(d)]
    either = {(-b, a) for a, b in some} | {(b, -a) for a, b in some}
    normals = sorted(either, key=lambda normal: atan2(float(normal[1]), float(normal[0])))
    between = [(a[0] + b[0], a[1] + b[1]) for a, b in pairwise([*normals, *normals[:1]])]
    tried = [*between, *((Fraction(a), Fraction(b)) for a, b in product((-1, 0, 1), repeat=2))]
    return min(sum(d[0] * w[0] + d[1] * w[1] <= 0 for d in differences) for w in tried)


def least_by_orders(pairs: Sequence[tuple[int, int]]) -> int:
    """Return the minimum number of misordered pairs over all orders of the points.

    A pair is (preferred, other); a pair of equal points is always misordered.
    """
    places = sorted({place for pair in pairs for place in pair})
    orders = (dict(zip(places, order, strict=True)) for order in permutations(range(len(places))))
    return min((sum(f[i] <= f[j] for i, j in pairs) for f in orders), default=0)


def least_precision(relevant: int, inversions: int, irrelevant: int) -> Fraction:
    """Return the minimum average precision of all rankings with a number of inversions.

    An inversion is a pair of a relevant document below an irrelevant one.
    """
    found = []
    for places in combinations(range(relevant + irrelevant), relevant):
        if sum(place - k for k, place in enumerate(places)) == inversions:
            found.append(
                sum((Fraction(k + 1, place + 1) for k, place in enumerate(places)), Fraction(0))
                / relevant
            )
    return min(found)
