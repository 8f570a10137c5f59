"""All optimal points and multipliers of small strictly convex programs, by enumeration.

    min 1/2 sum_j p_j x_j^2 - q'x   s.t.   G x >= h, some rows with equality

Every set of tight rows gives one linear system in fractions. No code is shared with
solvers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Vector = Sequence[Fraction]


@dataclass(frozen=True)
class SmallProgram:
    """Program in fractions; `equations` are the indices of rows with equality."""

    p: Vector
    q: Vector
    G: Sequence[Vector]
    h: Vector
    equations: frozenset[int] = frozenset()

    def value(self, x: Vector) -> Fraction:
        """Return the objective at a point."""
        squares = sum((p * v * v / 2 for p, v in zip(self.p, x, strict=True)), Fraction(0))
        return squares - inner(self.q, x)

    def vertices(self) -> list[tuple[Vector, Vector]]:
        """Return all pairs of an optimal point and a vertex of the optimal multipliers."""
        n, found = len(self.q), list[tuple[Vector, Vector]]()
        rest = [i for i in range(len(self.h)) if i not in self.equations]
        for size in range(len(rest) + 1):
            for chosen in combinations(rest, size):
                tight = [*sorted(self.equations), *chosen]
                pair = self._pair(tight, n)
                if pair is not None and pair not in found:
                    found.append(pair)
        return found

    def is_regular(self, x: Vector) -> bool:
        """Return True if the rows that are tight at a point are independent.

        The optimal multipliers are then unique.
        """
        rows = enumerate(zip(self.G, self.h, strict=True))
        return self.are_independent([i for i, (row, end) in rows if inner(row, x) == end])

    def are_independent(self, rows: Iterable[int]) -> bool:
        """Return True if the rows are linearly independent."""
        chosen = [self.G[i] for i in rows]
        gram = [[inner(a, b) for b in chosen] for a in chosen]
        return solved(gram, [Fraction(0)] * len(chosen)) is not None

    def _pair(self, tight: list[int], n: int) -> tuple[Vector, Vector] | None:
        """Return the optimum at which the tight rows are the given ones, or None."""
        M = [[Fraction(0)] * (n + len(tight)) for _ in range(n + len(tight))]
        level = [*self.q, *(self.h[i] for i in tight)]
        for j in range(n):
            M[j][j] = self.p[j]
        for k, i in enumerate(tight):
            for j in range(n):
                M[j][n + k], M[n + k][j] = -self.G[i][j], self.G[i][j]
        solution = solved(M, level)
        if solution is None:
            return None
        x, z = solution[:n], [Fraction(0)] * len(self.h)
        for k, i in enumerate(tight):
            z[i] = solution[n + k]
        slack = [inner(row, x) - end for row, end in zip(self.G, self.h, strict=True)]
        inequalities = [i for i in range(len(self.h)) if i not in self.equations]
        if any(v < 0 for v in slack) or any(z[i] < 0 for i in inequalities):
            return None
        return tuple(x), tuple(z)


def inner(a: Vector, b: Vector) -> Fraction:
    """Return a'b."""
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def solved(M: Sequence[Vector], level: Vector) -> list[Fraction] | None:
    """Return the solution of M x = level by elimination; None if M is singular."""
    rows = [[*row, end] for row, end in zip(M, level, strict=True)]
    size = len(rows)
    for j in range(size):
        pivot = next((i for i in range(j, size) if rows[i][j] != 0), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(size):
            if i != j and rows[i][j] != 0:
                rows[i] = [v - rows[i][j] * w for v, w in zip(rows[i], rows[j], strict=True)]
    return [row[-1] for row in rows]
