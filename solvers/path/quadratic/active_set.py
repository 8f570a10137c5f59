"""Small quadratic programs over rows that are differences of two points, by an active-set method that needs no matrix to be regular.

    min  1/2 |A'x|_K^2 + c'x    s.t.  lower <= x <= upper,  [ s'x = 0 ],      (A g)_r = g_i(r) - g_j(r),  lower <= 0 <= upper

g = K A'x is computed as E v. With a Gram matrix, E = K and v = A'x. With features Z,
K = Z Z', E = Z and v = Z'A'x.

The working set W holds rows that are linearly independent, so that Q_WW has a Cholesky
factor L, where Q = A K A'. Where s'x = 0 is asked for, K carries a constant that makes
them independent together with the bias. A step solves for the minimum over W and goes
there, or as far as the bounds allow. Rows that meet their bounds leave W. Where none
does, the row of the steepest slope outside W enters. A row that depends on W has no
slope where c is consistent, as it is for the rows that are tied at a breakpoint of a
path: these rows need not enter.

With features, A_W Z = L B with orthonormal rows B. Nothing is squared, so that a column
may be 1e10 times another one, and v moves by B'L^-1 c, which does not cancel as Z'A'x
may.

Source: C. Lawson, R. Hanson, Solving Least Squares Problems (1974), chapter 23, with
bounds of both signs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast, part

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Points = NDArray[np.uint32]
"""Numbers of points. They are unsigned, so that compiled loops need not look for indices that count from the end."""

SOLVES_BETWEEN_CLOCKS = np.intp(64)
"""Linear systems that the compiled kernel may solve before the time limit is looked at. It has a type, as `NO_ROW` has."""
SOLVES_PER_CANDIDATE = 20
"""Linear systems per candidate after which the method gives up. In exact arithmetic it needs far fewer: only rounding can ask for more."""
DEPENDENT = 1e-12
"""Share of a row's squared norm outside the span of W, computed from a Gram matrix, up to which the row counts as dependent on W."""
DEPENDENT_FEATURES = 1e-24
"""Share of a row's squared norm outside the span of W, computed from features, up to which the row counts as dependent on W. It is smaller
than with a Gram matrix, because float64 loses digits of the row itself, and not of its
square.
"""
SAME_BOUND = 1e-14
"""Share of a step by which two rows may differ in where they meet their bounds and still leave W together: a few units of rounding."""
NO_ROW = np.intp(-1)
"""Row number that stands for none. It has a type: for a literal -1 numba would compile the kernel that takes it once more."""


class Differences(NamedTuple):
    """Rows phi_i - phi_j of points.

    Parameters
    ----------
    E : ndarray of shape (n, k)
        The Gram matrix, k = n, or features.
    explicit : bool
        Whether E holds features.
    i, j : Points of shape (p,)
        points.
    s : ndarray of shape (p,)
        Signs of the equality s'x = 0, all 0 where there is none.
    q : ndarray of shape (p,)
        |phi_i - phi_j|^2.
    """

    E: Array
    explicit: bool
    i: Points
    j: Points
    s: Array
    q: Array

    def between(self, g: Array) -> Array:
        """A g, (p,)."""
        return np.asarray(g[self.i] - g[self.j])


class Subproblem(NamedTuple):
    """What is minimised.

    Parameters
    ----------
    c : ndarray of shape (p,)
        Linear term.
    lower, upper : ndarray of shape (p,)
        bounds.
    candidates : Index of shape (k,)
        The rows that may move, which hold W. The other arrays are not read at any other
        row.
    """

    c: Array
    lower: Array
    upper: Array
    candidates: Index


class State(NamedTuple):
    """The iterate of the method; the arrays change in place.

    Parameters
    ----------
    x : ndarray of shape (p,)
    v, g : ndarray of shape (k,)
        And (n,), g = E v.
    level : ndarray of shape (1,)
        The multiplier of s'x = 0.
    banned : Mask of shape (p,)
        Rows that may not enter W before x has moved.
    """

    x: Array
    v: Array
    g: Array
    level: Array
    banned: Mask

    @classmethod
    def at_0(cls, of: Differences) -> Self:
        """The state x = 0."""
        (n, k), p = of.E.shape, len(of.i)
        return cls(np.zeros(p), np.zeros(k), np.zeros(n), np.zeros(1), np.zeros(p, dtype=np.bool_))

    def clear(self, rows: Index) -> None:
        """Go back to x = 0.

        Parameters
        ----------
        rows : Index
            Where x is not 0, or a row is banned; nowhere else.
        """
        self.x[rows], self.banned[rows] = 0.0, False
        self.v[:], self.g[:], self.level[:] = 0.0, 0.0, 0.0


class WorkingSetFactor(NamedTuple):
    """The rows W and the Cholesky factor of Q_WW; the arrays change in place.

    Parameters
    ----------
    rows : Index of shape (capacity,)
        Of which the first size[0] are in W.
    size : Index of shape (1,)
    inside : Mask of shape (p,)
        Whether a row is in W.
    L : ndarray of shape (capacity, capacity)
        Its lower triangle.
    B : ndarray of shape (capacity, k)
        Orthonormal rows with A_W Z = L B, where E holds features Z; (capacity, 0) with
        a Gram matrix.
    """

    rows: Index
    size: Index
    inside: Mask
    L: Array
    B: Array


class WorkingSetStep(NamedTuple):
    """A step of x over W, and what it is made of.

    Parameters
    ----------
    x : ndarray of shape (capacity,)
        The step, Q_WW^-1 of minus the slopes, less its share along s.
    half : ndarray of shape (capacity,)
        L'x, which moves v.
    signs : ndarray of shape (capacity,)
        L^-1 s_W.
    """

    x: Array
    half: Array
    signs: Array


def squared_lengths(E: Array, explicit: bool, i: Index, j: Index) -> Array:
    """|phi_i - phi_j|^2, (p,), of a Gram matrix or of features."""
    if not explicit:
        return np.asarray(np.maximum((E[i, i] - E[i, j]) - (E[j, i] - E[j, j]), 0.0))
    q = np.zeros(len(i))
    for column in E.T:
        q += (column[i] - column[j]) ** 2
    return q


class PathWorkingSet:
    """The working set W of a program's rows, with what can be solved by its factor."""

    def __init__(self, of: Differences) -> None:
        self.of = of
        k, p = of.E.shape[1], len(of.i)
        capacity = min(k + 1, p) + 1
        rows, size, inside = (
            np.zeros(capacity, dtype=np.intp),
            np.zeros(1, dtype=np.intp),
            np.zeros(p, dtype=np.bool_),
        )
        self.factor = WorkingSetFactor(
            rows,
            size,
            inside,
            np.zeros((capacity, capacity)),
            np.zeros((capacity, k if of.explicit else 0)),
        )

    @property
    def size(self) -> int:
        """How many rows are in W."""
        return self.factor.size.item()

    @property
    def members(self) -> Index:
        """The rows in W, (size,)."""
        return self.factor.rows[: self.factor.size.item()]

    def add(self, row: int) -> bool:
        """Let a row enter; False where it depends on those that are in."""
        return bool(enter(self.of, self.factor, row))

    def refactored(self) -> None:
        """Compute the factor afresh; rows that turn out to be dependent leave."""
        refactor(self.of, self.factor)

    def solve(self, b: Array) -> Array:
        """Q_WW^-1 b, (size,)."""
        x = b.copy()
        forward(self.factor.L, self.size, x)
        backward(self.factor.L, self.size, x)
        return x

    def lifted(self, b: Array) -> Array:
        """Z'A_W'Q_WW^-1 b with features Z, (k,), as B'L^-1 b."""
        y = b.copy()
        forward(self.factor.L, self.size, y)
        return np.asarray(self.factor.B[: self.size].T @ y)

    def multipliers(self, v: Array) -> Array:
        """x with Z'A_W'x nearest to v (k,), with features Z, (size,), as L'^-1 B v."""
        x = np.asarray(self.factor.B[: self.size] @ v)
        backward(self.factor.L, self.size, x)
        return x

    def minimise(
        self, problem: Subproblem, tol: float, state: State, look: Callable[[], None]
    ) -> float:
        """Go to the minimum, or to where SOLVES_PER_CANDIDATE ends, and return the multiplier of s'x = 0.

        Parameters
        ----------
        problem : Subproblem
            Whose candidates hold W.
        tol : float
            Slopes of at most that count as none.
        state : State
            Cleared; what is found goes into it.
        look : Callable[[], None]
            Called every SOLVES_BETWEEN_CLOCKS systems; it may raise to end the run.
        """
        most = SOLVES_PER_CANDIDATE * (len(problem.candidates) + SOLVES_BETWEEN_CLOCKS)
        for _ in range(1 + most // SOLVES_BETWEEN_CLOCKS):
            if minimise(self.of, self.factor, problem, state, tol, SOLVES_BETWEEN_CLOCKS):
                break
            look()
        return float(state.level[0])


@fast
def minimise(
    of: Differences,
    W: WorkingSetFactor,
    problem: Subproblem,
    state: State,
    tol: float,
    most: int | np.intp,
) -> bool:
    """Solve at most `most` systems towards the minimum over the candidates, in place; whether it is reached."""
    capacity = W.rows.size
    step = WorkingSetStep(np.empty(capacity), np.empty(capacity), np.empty(capacity))
    for _ in range(most):
        if W.size[0] > 0:
            rise = solve_over(of, W, problem.c, state, step)
            share = first_bound(W, problem, state.x, step.x)
            if advance(of, W, problem, state, step, rise, share):
                continue
        entering = steepest(of, W, problem, state, tol)
        if entering < 0:
            return True
        if not enter(of, W, entering):
            state.banned[entering] = True
    return False


@part
def solve_over(
    of: Differences, W: WorkingSetFactor, c: Array, state: State, step: WorkingSetStep
) -> float:
    """The step to the minimum over W without its bounds, s'x kept, into `step`; by how much the multiplier of s'x = 0 rises."""
    rows, size, g, level = W.rows, W.size[0], state.g, state.level[0]
    x, half, signs = step.x, step.half, step.signs
    for k in range(size):
        r = rows[k]
        x[k] = -(g[of.i[r]] - g[of.j[r]] + c[r] + level * of.s[r])
    forward(W.L, size, x)
    rise = 0.0
    if of.s[rows[0]] != 0.0:
        top, bottom = 0.0, 0.0
        for k in range(size):
            signs[k] = of.s[rows[k]]
        forward(W.L, size, signs)
        for k in range(size):
            top += signs[k] * x[k]
            bottom += signs[k] * signs[k]
        rise = top / bottom
        for k in range(size):
            x[k] = x[k] - rise * signs[k] if size > 1 else 0.0
    for k in range(size):
        half[k] = x[k]
    backward(W.L, size, x)
    return rise


@part
def first_bound(W: WorkingSetFactor, problem: Subproblem, x: Array, step: Array) -> float:
    """The share of a step, in [0, 1], after which the first row of W meets its bound; 1 where none does."""
    share, lower, upper = 1.0, problem.lower, problem.upper
    for k in range(W.size[0]):
        r, way = W.rows[k], step[k]
        if way < 0.0 and x[r] + way < lower[r]:
            share = min(share, (lower[r] - x[r]) / way)
        elif way > 0.0 and x[r] + way > upper[r]:
            share = min(share, (upper[r] - x[r]) / way)
    return max(share, 0.0)


@part
def advance(
    of: Differences,
    W: WorkingSetFactor,
    problem: Subproblem,
    state: State,
    step: WorkingSetStep,
    rise: float,
    share: float,
) -> bool:
    """Go this share of a step, and let the rows that meet their bounds leave W; whether any does."""
    x, v, banned, size, left = state.x, state.v, state.banned, W.size[0], False
    state.level[0] += share * rise
    if share > 0.0:
        for r in problem.candidates:
            banned[r] = False
    if of.explicit:
        for e in range(v.size):
            for k in range(size):
                v[e] += share * step.half[k] * W.B[k, e]
    for k in range(size - 1, -1, -1):
        r, way = W.rows[k], step.x[k]
        end = problem.lower[r] if way < 0.0 else problem.upper[r]
        if share < 1.0 and way != 0.0 and (end - x[r]) / way <= share * (1 + SAME_BOUND):
            x[r] = end
            banned[r] = banned[r] or share == 0.0
            leave(W, k)
            left = True
        else:
            x[r] += share * way
    if not of.explicit:
        for a in range(v.size):
            v[a] = 0.0
        for r in problem.candidates:
            v[of.i[r]] += x[r]
            v[of.j[r]] -= x[r]
    product(of, v, state.g)
    return left


@part
def steepest(
    of: Differences, W: WorkingSetFactor, problem: Subproblem, state: State, tol: float
) -> np.intp:
    """The row outside W with the steepest slope, over its length, along which it may move; NO_ROW where no slope exceeds `tol`."""
    if W.size[0] == 0 and problem.candidates.size > 0 and of.s[problem.candidates[0]] != 0.0:
        return opposed(of, problem, state, tol)
    worst, entering, x, g, level = tol, NO_ROW, state.x, state.g, state.level[0]
    for r in problem.candidates:
        if not W.inside[r] and not state.banned[r]:
            slope = g[of.i[r]] - g[of.j[r]] + problem.c[r] + level * of.s[r]
            size = abs(slope)
            if size > tol and (x[r] < problem.upper[r] if slope < 0.0 else x[r] > problem.lower[r]):
                size /= math.sqrt(of.q[r]) if of.q[r] > 0.0 else np.inf
                if entering < 0 or size > worst:
                    worst, entering = size, r
    return entering


@part
def opposed(of: Differences, problem: Subproblem, state: State, tol: float) -> np.intp:
    """The row that enters an empty W where s'x = 0: two rows move against each other, and this is one of them; NO_ROW where there are none.

    Every row bounds the multiplier of s'x = 0 from below, from above or both. Two can move where a lower bound exceeds an upper one.
    """
    low, high, lowest, x, g = -np.inf, np.inf, NO_ROW, state.x, state.g
    for r in problem.candidates:
        end = -of.s[r] * (g[of.i[r]] - g[of.j[r]] + problem.c[r])
        rises, falls = x[r] < problem.upper[r], x[r] > problem.lower[r]
        if not state.banned[r] and (rises if of.s[r] > 0.0 else falls) and end > low:
            low, lowest = end, r
        if not state.banned[r] and (falls if of.s[r] > 0.0 else rises):
            high = min(high, end)
    return lowest if low > high + tol else NO_ROW


@fast
def copy(to: Array, values: Array) -> None:
    """Write values over an array of the same length, or of a shorter one."""
    for a in range(to.size):
        to[a] = values[a]


@fast
def add(to: Array, share: float, values: Array) -> None:
    """to += share * values."""
    for a in range(to.size):
        to[a] += share * values[a]


@fast
def product(of: Differences, v: Array, out: Array) -> None:
    """out = E v. Of a Gram matrix, which is symmetric, only the rows at which v is not 0 are read, four at a time."""
    if of.explicit:
        for a in range(out.size):
            total = 0.0
            for b in range(v.size):
                total += of.E[a, b] * v[b]
            out[a] = total
        return
    for a in range(out.size):
        out[a] = 0.0
    read, some = np.empty(4, np.intp), 0
    for b in range(v.size):
        if v[b] != 0.0:
            read[some] = b
            some += 1
        if some == 4:
            add_four(of.E[read[0]], of.E[read[1]], of.E[read[2]], of.E[read[3]], v, read, out)
            some = 0
    for k in range(some):
        row, share = of.E[read[k]], v[read[k]]
        for a in range(out.size):
            out[a] += share * row[a]


@part
def add_four(
    first: Array, second: Array, third: Array, fourth: Array, v: Array, places: Index, out: Array
) -> None:
    """out += four rows, times the entries of v at their places."""
    p, q, r, s = v[places[0]], v[places[1]], v[places[2]], v[places[3]]
    for a in range(out.size):
        out[a] += (p * first[a] + q * second[a]) + (r * third[a] + s * fourth[a])


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
def enter(of: Differences, W: WorkingSetFactor, row: int | np.intp) -> bool:
    """Let a row enter W; False where it depends on the rows that are in."""
    size = W.size[0]
    if size >= W.rows.size:
        return False
    a, b, new = of.i[row], of.j[row], W.L[size]
    if of.explicit:
        left, share = orthogonal(of.E[a], of.E[b], W.B, size, new), DEPENDENT_FEATURES
    else:
        for k in range(size):
            c, d = of.i[W.rows[k]], of.j[W.rows[k]]
            new[k] = (of.E[a, c] - of.E[b, c]) - (of.E[a, d] - of.E[b, d])
        forward(W.L, size, new)
        left, share = of.q[row], DEPENDENT
        for k in range(size):
            left -= new[k] * new[k]
    if not left > share * of.q[row]:
        return False
    new[size] = math.sqrt(left)
    for e in range(W.B.shape[1]):
        W.B[size, e] /= new[size]
    W.rows[size], W.inside[row], W.size[0] = row, True, size + 1
    return True


@fast
def orthogonal(first: Array, second: Array, B: Array, size: int, shares: Array) -> float:
    """Make first - second orthogonal to the first `size` rows of B, twice, write it behind them, and return its squared length.

    Parameters
    ----------
    shares : Array
        Its products with these rows, the first `size` of which are written.
    """
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
def leave(W: WorkingSetFactor, place: int) -> None:
    """Let the row at a place of W leave.

    The later rows of L move up. Rotations of its columns, and of the rows of B, make it triangular again.
    """
    L, B, size = W.L, W.B, W.size[0]
    W.inside[W.rows[place]] = False
    cos, sin = np.empty(size), np.empty(size)
    for a in range(place, size - 1):
        W.rows[a] = W.rows[a + 1]
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
    W.size[0] = size - 1


@fast
def refactor(of: Differences, W: WorkingSetFactor) -> None:
    """Compute the factor afresh; rows that turn out to be dependent leave."""
    size = W.size[0]
    rows = W.rows[:size].copy()
    for row in rows:
        W.inside[row] = False
    W.size[0] = 0
    for row in rows:
        enter(of, W, row)
