"""Minimum number of misranked pairs or vectors, and average precision, by enumeration.

No code is shared with solvers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import atan2

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

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


def least_by_sign_patterns(differences: Sequence[Vector]) -> int:
    """Return the minimum number of differences d with w.d <= 0, in any dimension.

    All sets of differences are tried in order of their size, until w.d > 0 is feasible
    for all others.
    """
    p = len(differences)
    return next(
        size
        for size in range(p + 1)
        for wrong in combinations(range(p), size)
        if all_positive([d for r, d in enumerate(differences) if r not in wrong])
    )


def all_positive(differences: Sequence[Vector]) -> bool:
    """Return True if some w has w.d > 0 for all differences, by Fourier and Motzkin.

    A coordinate is eliminated by adding every two inequalities in which its signs
    differ; the system is infeasible if 0 > 0 follows.
    """
    left = {tuple(map(Fraction, d)) for d in differences}
    for k in range(len(differences[0]) if differences else 0):
        above, below = [d for d in left if d[k] > 0], [d for d in left if d[k] < 0]
        sums = {
            tuple(-e[k] * a + d[k] * b for a, b in zip(d, e, strict=True))
            for d in above
            for e in below
        }
        left = {d for d in left if d[k] == 0} | sums
        if any(not any(d) for d in left):
            return False
    return True


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


def fewest_columns(B: NDArray[np.float64], C: float) -> int:
    """Return the fewest positive x of an optimum of min 1'x + C 1'xi, by all supports.

    The constraints are B x >= 1 - xi, x >= 0, xi >= 0, (94)-(96) and (102)-(104) of
    document T. HiGHS solves the program over each set of columns; the numbers are small
    integers, so that different optima are far apart.
    """
    p, size = B.shape

    def optimum(columns: Sequence[int]) -> float:
        A = np.hstack([-B[:, columns], -np.eye(p)])
        cost = np.append(np.ones(len(columns)), np.full(p, C))
        return float(linprog(cost, A_ub=A, b_ub=-np.ones(p)).fun) if p else 0.0

    least = optimum(range(size))
    return next(
        count
        for count in range(size + 1)
        if any(optimum(some) <= least + 1e-7 for some in combinations(range(size), count))
    )
