"""Small quadratic programs over rows that are differences of two points, by an active-set method that needs no matrix to be regular.

    min  1/2 |A'x|_K^2 + c'x    s.t.  lower <= x <= upper,  [ s'x = 0 ],      (A g)_r = g_i(r) - g_j(r),  lower <= 0 <= upper

g = K A'x is computed as E v: of a Gram matrix, E = K and v = A'x; of features Z, K = Z Z', E = Z and v = Z'A'x. The rows of the working set
W are linearly independent, so that Q_WW, Q = A K A', has a Cholesky factor L; where s'x = 0, K carries a constant that makes them so with
their bias. Of features, A_W Z = L B with orthonormal rows B: nothing is squared, so that a column may be 1e10 times another, and v moves by
B'L^-1 c, which does not cancel as Z'A'x may. A step leads to the minimum over W, or as far as the bounds allow; the rows that meet them
leave W, and the one of the worst slope enters. A row that depends on W has no slope where c is consistent, as it is for rows that are tied
at a breakpoint of a path, so that it never has to enter.

Source: C. Lawson, R. Hanson, Solving Least Squares Problems (1974), chapter 23, with bounds of both signs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Points = NDArray[np.uint32]
"""Unsigned, so that compiled loops need not look for indices from the end."""

STEPS = 64
"""Solves between two looks at the clock."""
PATIENCE = 20
"""So many solves a candidate are more than rounding can ask for."""
DEPENDENT = 1e-12
"""Share of its squared norm that is left of a row that is in the span of others, computed from a Gram matrix."""
PARALLEL = 1e-24
"""The same share, computed from features: the square of what float64 leaves of a row itself."""


class Differences(NamedTuple):
    """Rows phi_i - phi_j of points.

    E : (n, k) the Gram matrix, k = n, or features.  explicit : whether features.  i, j : (p,) points.  s : (p,) signs of the equality
    s'x = 0, all 0 where there is none.  q : (p,) |phi_i - phi_j|^2.
    """

    E: Array
    explicit: bool
    i: Points
    j: Points
    s: Array
    q: Array


def squared_lengths(E: Array, explicit: bool, i: Index, j: Index) -> Array:
    """|phi_i - phi_j|^2, (p,), of a Gram matrix or of features."""
    if not explicit:
        return np.asarray(np.maximum((E[i, i] - E[i, j]) - (E[j, i] - E[j, j]), 0.0))
    q = np.zeros(len(i))
    for column in E.T:
        q += (column[i] - column[j]) ** 2
    return q


class WorkingSet:
    """Independent rows W and the Cholesky factor of Q_WW.

    rows : (capacity,) of which the first `size` count.  L : (capacity, capacity) lower triangle.  inside : (p,) whether a row is in W.
    B : (capacity, k) orthonormal rows with A_W Z = L B, of features; (capacity, 0) of a Gram matrix.
    """

    def __init__(self, differences: Differences) -> None:
        self.of = differences
        k = differences.E.shape[1]
        capacity = min(k + 1, len(differences.i)) + 1
        self.rows: Index = np.zeros(capacity, dtype=np.intp)
        self.L: Array = np.zeros((capacity, capacity))
        self.B: Array = np.zeros((capacity, k if differences.explicit else 0))
        self.inside: Mask = np.zeros(len(differences.i), dtype=np.bool_)
        self.size = 0

    @property
    def members(self) -> Index:
        """The rows in W, (size,)."""
        return self.rows[: self.size]

    def add(self, row: int) -> bool:
        """Let a row enter; False where it depends on those that are in."""
        entered = append(*self.of, self.L, self.B, self.rows, self.size, self.inside, row)
        self.size += entered
        return bool(entered)

    def drop(self, place: int) -> None:
        """Let the row at a place of W leave."""
        delete(self.L, self.B, self.rows, self.size, self.inside, place)
        self.size -= 1

    def refactored(self) -> None:
        """Compute the factor afresh; rows that turn out to be dependent leave."""
        rows = self.members.copy()
        self.inside[rows], self.size = False, 0
        for row in rows:
            self.add(int(row))

    def solve(self, b: Array) -> Array:
        """Q_WW^-1 b, (size,)."""
        x = b.copy()
        forward(self.L, self.size, x)
        backward(self.L, self.size, x)
        return x

    def lifted(self, b: Array) -> Array:
        """Z'A_W'Q_WW^-1 b of features Z, (k,), as B'L^-1 b."""
        y = b.copy()
        forward(self.L, self.size, y)
        return np.asarray(self.B[: self.size].T @ y)

    def multipliers(self, v: Array) -> Array:
        """x with Z'A_W'x nearest to v (k,), of features Z, (size,), as L'^-1 B v."""
        x = np.asarray(self.B[: self.size] @ v)
        backward(self.L, self.size, x)
        return x

    def minimise(self, c: Array, lower: Array, upper: Array, candidates: Index, tol: float, state: State, look: Callable[[], None]) -> None:
        """Go to the minimum over the candidates, (k,), which hold W, or to where PATIENCE ends.

        tol : slopes of up to that count as none.  state : cleared, what is found goes into it.  look : called every STEPS solves.
        """
        program, where = (c, lower, upper, candidates, state.banned), (state.x, state.v, state.g)
        for _ in range(1 + PATIENCE * (len(candidates) + STEPS) // STEPS):
            self.size, state.level, reached = minimise(
                *self.of, *program, self.L, self.B, self.rows, self.size, self.inside, *where, state.level, tol, STEPS
            )
            if reached:
                break
            look()


class State:
    """Where an active-set method is.

    x : (p,).  v, g : (k,) and (n,), g = E v.  level : the multiplier of s'x = 0.  banned : (p,) rows that may not enter before x moves.
    """

    def __init__(self, shape: tuple[int, int], p: int) -> None:
        self.x, self.v, self.g, self.level = np.zeros(p), np.zeros(shape[1]), np.zeros(shape[0]), 0.0
        self.banned = np.zeros(p, dtype=np.bool_)

    def clear(self, rows: Index) -> None:
        """Back to x = 0, which was other than 0 or banned at these rows only."""
        self.x[rows], self.banned[rows] = 0.0, False
        self.v[:], self.g[:], self.level = 0.0, 0.0, 0.0


@fast
def product(E: Array, v: Array, out: Array) -> None:
    """out = E v."""
    for a in range(out.size):
        total = 0.0
        for b in range(v.size):
            total += E[a, b] * v[b]
        out[a] = total


@fast
def backward(L: Array, size: int, b: Array) -> None:
    """b <- L'^-1 b, in place."""
    for a in range(size - 1, -1, -1):
        b[a] /= L[a, a]
        for e in range(a):
            b[e] -= L[a, e] * b[a]


@fast
def forward(L: Array, size: int, b: Array) -> None:
    """b <- L^-1 b, in place."""
    for a in range(size):
        total = 0.0
        for e in range(a):
            total += L[a, e] * b[e]
        b[a] = (b[a] - total) / L[a, a]


@fast
def append(
    E: Array, explicit: bool, i: Points, j: Points, s: Array, q: Array, L: Array, B: Array, rows: Index, size: int, inside: Mask, row: int
) -> bool:
    """Let a row enter W; False where it depends on the rows that are in."""
    if size >= L.shape[0]:
        return False
    a, b, new = i[row], j[row], L[size]
    if explicit:
        left, share = orthogonal(E[a], E[b], B, size, new), PARALLEL
    else:
        for k in range(size):
            c, d = i[rows[k]], j[rows[k]]
            new[k] = (E[a, c] - E[b, c]) - (E[a, d] - E[b, d])
        forward(L, size, new)
        left, share = q[row], DEPENDENT
        for k in range(size):
            left -= new[k] * new[k]
    if not left > share * q[row]:
        return False
    new[size] = math.sqrt(left)
    for e in range(B.shape[1]):
        B[size, e] /= new[size]
    rows[size], inside[row] = row, True
    return True


@fast
def orthogonal(first: Array, second: Array, B: Array, size: int, shares: Array) -> float:
    """Put first - second without its shares in the rows of B, taken out twice, behind these; the square of its length."""
    rest = B[size]
    for e in range(rest.size):
        rest[e] = first[e] - second[e]
    for k in range(size):
        shares[k] = 0.0
    for _ in range(2):
        for k in range(size):
            share = 0.0
            for e in range(rest.size):
                share += B[k, e] * rest[e]
            shares[k] += share
            for e in range(rest.size):
                rest[e] -= share * B[k, e]
    left = 0.0
    for e in range(rest.size):
        left += rest[e] * rest[e]
    return left


@fast
def delete(L: Array, B: Array, rows: Index, size: int, inside: Mask, place: int) -> None:
    """Let the row at a place of W leave: the factor's later rows move up, and rotations of its columns, and of the rows of B, make it
    triangular again.
    """
    inside[rows[place]] = False
    cos, sin = np.empty(size), np.empty(size)
    for a in range(place, size - 1):
        rows[a] = rows[a + 1]
        for e in range(a + 2):
            L[a, e] = L[a + 1, e]
        left = L[a, place]
        for e in range(place, a):
            right = L[a, e + 1]
            L[a, e] = cos[e] * left + sin[e] * right
            left = cos[e] * right - sin[e] * left
        right = L[a, a + 1]
        length = math.sqrt(left * left + right * right)
        cos[a], sin[a] = left / length, right / length
        L[a, a] = length
        for e in range(B.shape[1]):
            above, below = B[a, e], B[a + 1, e]
            B[a, e] = cos[a] * above + sin[a] * below
            B[a + 1, e] = cos[a] * below - sin[a] * above


@fast
def minimise(
    E: Array,
    explicit: bool,
    i: Points,
    j: Points,
    s: Array,
    q: Array,
    c: Array,
    lower: Array,
    upper: Array,
    candidates: Index,
    banned: Mask,
    L: Array,
    B: Array,
    rows: Index,
    size: int,
    inside: Mask,
    x: Array,
    v: Array,
    g: Array,
    level: float,
    tol: float,
    most: int,
) -> tuple[int, float, bool]:
    """At most so many solves towards the minimum over the candidates, in place; the size of W, the level, and whether it is reached."""
    u, y, z = np.empty(L.shape[0]), np.empty(L.shape[0]), np.empty(L.shape[0])
    balanced = candidates.size > 0 and s[candidates[0]] != 0.0
    for _ in range(most):
        if size > 0:
            for k in range(size):
                r = rows[k]
                u[k] = -(g[i[r]] - g[j[r]] + c[r] + level * s[r])
            forward(L, size, u)
            rise = 0.0
            if balanced:
                top, bottom = 0.0, 0.0
                for k in range(size):
                    z[k] = s[rows[k]]
                forward(L, size, z)
                for k in range(size):
                    top += z[k] * u[k]
                    bottom += z[k] * z[k]
                rise = top / bottom
                for k in range(size):
                    u[k] = u[k] - rise * z[k] if size > 1 else 0.0
            for k in range(size):
                y[k] = u[k]
            backward(L, size, u)
            step = 1.0
            for k in range(size):
                r = rows[k]
                if u[k] < 0.0 and x[r] + u[k] < lower[r]:
                    step = min(step, (lower[r] - x[r]) / u[k])
                elif u[k] > 0.0 and x[r] + u[k] > upper[r]:
                    step = min(step, (upper[r] - x[r]) / u[k])
            step = max(step, 0.0)
            level += step * rise
            if step > 0.0:
                for r in candidates:
                    banned[r] = False
            if explicit:
                for e in range(v.size):
                    for k in range(size):
                        v[e] += step * y[k] * B[k, e]
            left = False
            for k in range(size - 1, -1, -1):
                r = rows[k]
                end = lower[r] if u[k] < 0.0 else upper[r]
                if step < 1.0 and u[k] != 0.0 and (end - x[r]) / u[k] <= step * (1 + 1e-14):
                    x[r] = end
                    banned[r] = banned[r] or step == 0.0
                    delete(L, B, rows, size, inside, k)
                    size -= 1
                    left = True
                else:
                    x[r] += step * u[k]
            if not explicit:
                for a in range(v.size):
                    v[a] = 0.0
                for r in candidates:
                    v[i[r]] += x[r]
                    v[j[r]] -= x[r]
            product(E, v, g)
            if left:
                continue
        worst, entering, low, high, lowest = tol, -1, -np.inf, np.inf, -1
        if size == 0 and balanced:
            for r in candidates:
                if not banned[r]:
                    end = -s[r] * (g[i[r]] - g[j[r]] + c[r])
                    if (x[r] < upper[r] if s[r] > 0.0 else x[r] > lower[r]) and end > low:
                        low, lowest = end, r
                    if x[r] > lower[r] if s[r] > 0.0 else x[r] < upper[r]:
                        high = min(high, end)
            if low > high + tol:
                entering = lowest
        else:
            for r in candidates:
                if not inside[r] and not banned[r]:
                    slope = g[i[r]] - g[j[r]] + c[r] + level * s[r]
                    size_of = abs(slope)
                    if size_of > tol and (x[r] < upper[r] if slope < 0.0 else x[r] > lower[r]):
                        size_of /= math.sqrt(q[r]) if q[r] > 0.0 else np.inf
                        if entering < 0 or size_of > worst:
                            worst, entering = size_of, r
        if entering < 0:
            return size, level, True
        if append(E, explicit, i, j, s, q, L, B, rows, size, inside, entering):
            size += 1
        else:
            banned[entering] = True
    return size, level, False
