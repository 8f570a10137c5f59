"""Active-set method for small quadratic programs over differences of two points.

    min  1/2 |A'x|_K^2 + c'x    s.t.  lower <= x <= upper,  [ s'x = 0 ],
         (A g)_r = g_i(r) - g_j(r),  lower <= 0 <= upper

All matrices may be singular. g = K A'x is computed as E v. With a Gram matrix, E = K
and v = A'x. With features Z, K = Z Z', E = Z and v = Z'A'x.

The working set W contains linearly independent rows, so that Q_WW has a Cholesky factor
L, where Q = A K A'. With the constraint s'x = 0, K includes a constant that makes them
independent together with the bias. A step solves for the minimum over W and goes there,
or as far as the bounds allow. Rows that reach their bounds leave W. If none does, the
row of the steepest slope outside W enters. A row that depends on W has slope 0 if c is
consistent, as it is for the tied rows of a breakpoint (rows at a bound with residual
0). Dependent rows need not enter.

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

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.jit import (
    ENTRY_IN_NUMPY,
    brief,
    brief_for,
    fast,
    in_numpy,
    part,
)

Points = NDArray[np.uint32]
"""Point numbers.

They are unsigned, so that compiled loops need not check for indices that count from the
end.
"""

SOLVES_BETWEEN_CLOCKS = np.intp(64)
"""Linear systems that the compiled function solves between two checks of the clock.

Typed, for the reason given at `NO_ROW`.
"""
SOLVES_PER_CANDIDATE = 20
"""Linear systems per candidate after which the method gives up.

In exact arithmetic it needs far fewer: only rounding can require more.
"""
DEPENDENT = 1e-12
"""Fraction of a row's squared norm outside the span of W at which the row is dependent.

For norms that are computed from a Gram matrix.
"""
DEPENDENT_FEATURES = 1e-24
"""Fraction of a row's squared norm outside the span of W at which the row is dependent.

For norms that are computed from features. It is smaller than with a Gram matrix,
because float64 loses digits of the row itself, and not of its square.
"""
SAME_BOUND = 1e-14
"""Fraction of a step within which two rows count as reaching their bounds together.

A few units of rounding. Both rows leave W.
"""
NO_ROW = np.intp(-1)
"""Row number for no row.

Typed: numba would compile the function once more for a literal -1.
"""
SYSTEM_IN_PYTHON = 100.0
"""Cost of a linear system uncompiled, in iterations of a Python loop.

The passes over the candidates, the products with E and the factor come on top.
"""


class Differences(NamedTuple):
    """Rows phi_i - phi_j of points.

    Parameters
    ----------
    E : ndarray of shape (n, k)
        Gram matrix, k = n, or features.
    explicit : bool
        True if E contains features.
    i, j : Points of shape (p,)
        Points of the rows.
    s : ndarray of shape (p,)
        Signs of the equality s'x = 0, all 0 without the equality.
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
        """Return A g, shape (p,).

        Parameters
        ----------
        g : ndarray of shape (n,)
            Values at the points.
        """
        return np.asarray(g[self.i] - g[self.j])


class Subproblem(NamedTuple):
    """Subproblem of the active-set method.

    Parameters
    ----------
    c : ndarray of shape (p,)
        Linear term.
    lower, upper : ndarray of shape (p,)
        Bounds.
    candidates : Index of shape (k,)
        Rows that may move, including W. The other arrays are read at these rows only.
    """

    c: Array
    lower: Array
    upper: Array
    candidates: Index


class State(NamedTuple):
    """Iterate of the method; the arrays change in place.

    Parameters
    ----------
    x : ndarray of shape (p,)
        Variables.
    v : ndarray of shape (k,)
        Function, A'x or Z'A'x.
    g : ndarray of shape (n,)
        E v.
    level : ndarray of shape (1,)
        Multiplier of s'x = 0.
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
        """Return the state x = 0.

        Parameters
        ----------
        `of` : Differences
            Rows as differences of points.
        """
        (n, k), p = of.E.shape, len(of.i)
        return cls(np.zeros(p), np.zeros(k), np.zeros(n), np.zeros(1), np.zeros(p, dtype=np.bool_))

    def clear(self, rows: Index) -> None:
        """Reset to x = 0.

        Parameters
        ----------
        rows : Index
            All rows at which x is not 0, or which are banned.
        """
        self.x[rows], self.banned[rows] = 0.0, False
        self.v[:], self.g[:], self.level[:] = 0.0, 0.0, 0.0


class WorkingSetFactor(NamedTuple):
    """Rows of W and the Cholesky factor of Q_WW; the arrays change in place.

    Parameters
    ----------
    rows : Index of shape (capacity,)
        Rows, of which the first size[0] are in W.
    size : Index of shape (1,)
        Number of rows in W.
    inside : Mask of shape (p,)
        True for rows in W.
    L : ndarray of shape (capacity, capacity)
        Factor, in the lower triangle.
    B : ndarray of shape (capacity, k)
        Orthonormal rows with A_W Z = L B for features Z; (capacity, 0) with a Gram
        matrix.
    """

    rows: Index
    size: Index
    inside: Mask
    L: Array
    B: Array


class WorkingSetStep(NamedTuple):
    """Step of x over W, and its parts.

    Parameters
    ----------
    x : ndarray of shape (capacity,)
        Step, Q_WW^-1 times the negative slopes, less its component along s.
    half : ndarray of shape (capacity,)
        L'x, which moves v.
    signs : ndarray of shape (capacity,)
        L^-1 s_W.
    """

    x: Array
    half: Array
    signs: Array


def squared_lengths(E: Array, explicit: bool, i: Index, j: Index) -> Array:
    """Return |phi_i - phi_j|^2, shape (p,), from a Gram matrix or from features.

    Parameters
    ----------
    E, explicit, i, j
        As in `Differences`.
    """
    if not explicit:
        return np.asarray(np.maximum((E[i, i] - E[i, j]) - (E[j, i] - E[j, j]), 0.0))
    q = np.zeros(len(i))
    for column in E.T:
        q += (column[i] - column[j]) ** 2
    return q


class PathWorkingSet:
    """Working set W of a program's rows, with the solutions of its linear systems."""

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
        """Number of rows in W."""
        return self.factor.size.item()

    @property
    def members(self) -> Index:
        """Rows in W, shape (size,)."""
        return self.factor.rows[: self.factor.size.item()]

    def add(self, row: int) -> bool:
        """Let a row enter; return False if it depends on the rows of W.

        Parameters
        ----------
        row : int
            Row number.
        """
        return bool(enter(self.of, self.factor, row))

    def refactored(self) -> None:
        """Compute the factor afresh, without rows that turn out to be dependent."""
        refactor(self.of, self.factor)

    def solve(self, b: Array) -> Array:
        """Return Q_WW^-1 b, shape (size,).

        Parameters
        ----------
        b : ndarray of shape (size,)
            Right-hand side.
        """
        x = b.copy()
        forward(self.factor.L, self.size, x)
        backward(self.factor.L, self.size, x)
        return x

    def lifted(self, b: Array) -> Array:
        """Return Z'A_W'Q_WW^-1 b for features Z, shape (k,), as B'L^-1 b.

        Parameters
        ----------
        b : ndarray of shape (size,)
            Right-hand side.
        """
        y = b.copy()
        forward(self.factor.L, self.size, y)
        return np.asarray(self.factor.B[: self.size].T @ y)

    def multipliers(self, v: Array) -> Array:
        """Return the x, shape (size,), with Z'A_W'x nearest to v, as L'^-1 B v.

        For features Z.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Target.
        """
        x = np.asarray(self.factor.B[: self.size] @ v)
        backward(self.factor.L, self.size, x)
        return x

    def minimise(
        self, problem: Subproblem, tol: float, state: State, look: Callable[[], None]
    ) -> float:
        """Go to the minimum and return the multiplier of s'x = 0.

        SOLVES_PER_CANDIDATE limits the number of linear systems.

        Parameters
        ----------
        problem : Subproblem
            Subproblem whose candidates contain W.
        tol : float
            Slopes up to this size count as zero.
        state : State
            Cleared state; receives the minimum.
        look : Callable[[], None]
            Called every SOLVES_BETWEEN_CLOCKS systems; it may raise to end the run.

        Returns
        -------
        float
            Multiplier of s'x = 0.
        """
        most = SOLVES_PER_CANDIDATE * (len(problem.candidates) + SOLVES_BETWEEN_CLOCKS)
        for _ in range(1 + most // SOLVES_BETWEEN_CLOCKS):
            if minimise(self.of, self.factor, problem, state, tol, SOLVES_BETWEEN_CLOCKS):
                break
            look()
        return float(state.level[0])


def system_work(of: Differences, W: WorkingSetFactor, candidates: int) -> float:
    """Return the work of a linear system uncompiled, in iterations of a Python loop.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    candidates : int
        Number of rows that may move.
    """
    # Three triangular solves, and the rotations that remove a row.
    factor = 2.0 * W.size.item() ** 2
    return SYSTEM_IN_PYTHON + 2.0 * candidates + factor + ENTRY_IN_NUMPY * of.E.size


@brief_for(
    lambda of, W, problem, state, tol, most: most * system_work(of, W, len(problem.candidates))
)
@fast
def minimise(
    of: Differences,
    W: WorkingSetFactor,
    problem: Subproblem,
    state: State,
    tol: float,
    most: int | np.intp,
) -> bool:
    """Solve up to `most` systems towards the minimum; return True if it is reached.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    problem : Subproblem
        Subproblem whose candidates contain W.
    state : State
        Iterate; changes in place.
    tol : float
        Slopes up to this size count as zero.
    most : int
        Maximum number of systems.
    """
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
    """Solve for the minimum over W without bounds; return the change of the multiplier.

    The step does not change s'x, whose multiplier increases by the returned value.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    c : ndarray of shape (p,)
        Linear term.
    state : State
        Iterate; changes in place.
    step : WorkingSetStep
        Step; written.
    """
    rows, size, g, level = W.rows, W.size[0], state.g, state.level[0]
    x, half, signs = step.x, step.half, step.signs
    for k in range(size):
        r = rows[k]
        x[k] = -(g[of.i[r]] - g[of.j[r]] + c[r] + level * of.s[r])
    forward(W.L, size, x)
    # With b = -slopes, rise = s'Q^-1 b / s'Q^-1 s leaves s'x unchanged. Now x = L^-1 b.
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
    """Return the fraction of a step at which the first row of W reaches a bound, or 1.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor.
    problem : Subproblem
        Subproblem whose candidates contain W.
    x : ndarray of shape (p,)
        Variables.
    step : ndarray of shape (capacity,)
        Step of the rows of W.
    """
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
    """Take a fraction of a step; return True if a row reaches a bound and leaves W.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    problem : Subproblem
        Subproblem whose candidates contain W.
    state : State
        Iterate; changes in place.
    step : WorkingSetStep
        Step.
    rise : float
        Increase of the multiplier of s'x = 0 over the whole step.
    share : float
        Fraction of the step, in [0, 1].
    """
    x, v, banned, size, left = state.x, state.v, state.banned, W.size[0], False
    state.level[0] += share * rise
    # Bans prevent cycles of steps of length 0: a step that moves x lifts them.
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
    """Return the row outside W of the steepest slope, or NO_ROW if no slope exceeds `tol`.

    Slopes are divided by the length of the row. Banned rows, and rows that their bound
    stops, are excluded.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    problem : Subproblem
        Subproblem whose candidates contain W.
    state : State
        Iterate; changes in place.
    tol : float
        Slopes up to this size count as zero.
    """
    if W.size[0] == 0 and problem.candidates.size > 0 and of.s[problem.candidates[0]] != 0.0:
        return opposed(of, problem, state, tol)
    worst, entering, x, g, level = tol, NO_ROW, state.x, state.g, state.level[0]
    for r in problem.candidates:
        if not W.inside[r] and not state.banned[r]:
            # Slope of the Lagrangian in x_r: (A g + c + level s)_r.
            slope = g[of.i[r]] - g[of.j[r]] + problem.c[r] + level * of.s[r]
            size = abs(slope)
            if size > tol and (x[r] < problem.upper[r] if slope < 0.0 else x[r] > problem.lower[r]):
                size /= math.sqrt(of.q[r]) if of.q[r] > 0.0 else np.inf
                if entering < 0 or size > worst:
                    worst, entering = size, r
    return entering


@part
def opposed(of: Differences, problem: Subproblem, state: State, tol: float) -> np.intp:
    """Return the row that enters an empty W with s'x = 0, or NO_ROW.

    Two rows must move against each other; the returned row is one of them. Every row
    bounds the multiplier of s'x = 0 from below, from above or both. Two can move if a
    lower bound exceeds an upper one.

    Parameters
    ----------
    of, problem : Differences, Subproblem
        Rows as differences of points, and the subproblem.
    state : State
        Iterate; changes in place.
    tol : float
        Slopes up to this size count as zero.
    """
    low, high, lowest, x, g = -np.inf, np.inf, NO_ROW, state.x, state.g
    for r in problem.candidates:
        # Value of the multiplier at which the slope of row r is 0.
        end = -of.s[r] * (g[of.i[r]] - g[of.j[r]] + problem.c[r])
        rises, falls = x[r] < problem.upper[r], x[r] > problem.lower[r]
        if not state.banned[r] and (rises if of.s[r] > 0.0 else falls) and end > low:
            low, lowest = end, r
        if not state.banned[r] and (falls if of.s[r] > 0.0 else rises):
            high = min(high, end)
    return lowest if low > high + tol else NO_ROW


@in_numpy(lambda to, values: np.copyto(to, values[: len(to)]))
@fast
def copy(to: Array, values: Array) -> None:
    """Overwrite an array with as many of the first values as it has entries.

    Parameters
    ----------
    to, values : ndarray
        Destination and source.
    """
    for a in range(to.size):
        to[a] = values[a]


@in_numpy(lambda to, share, values: np.add(to, share * values, out=to))
@fast
def add(to: Array, share: float, values: Array) -> None:
    """Add share times values to an array.

    Parameters
    ----------
    to, values : ndarray
        Destination and summand.
    share : float
        Factor.
    """
    for a in range(to.size):
        to[a] += share * values[a]


@in_numpy(lambda of, v, out: np.matmul(of.E, v, out=out))
@fast
def product(of: Differences, v: Array, out: Array) -> None:
    """Compute out = E v.

    Of a Gram matrix, which is symmetric, only the rows at which v is not 0 are read,
    four at a time.

    Parameters
    ----------
    of, v : Differences, ndarray of shape (k,)
        Matrix and vector.
    out : ndarray of shape (n,)
        Product; written.
    """
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
    """Add four rows, times the entries of v at their places, to `out`.

    Parameters
    ----------
    first, second, third, fourth : ndarray of shape (n,)
        Rows.
    v : ndarray of shape (k,)
        Factors.
    places : Index of shape (4,)
        Places of the factors of the rows.
    out : ndarray of shape (n,)
        Sum; changes in place.
    """
    p, q, r, s = v[places[0]], v[places[1]], v[places[2]], v[places[3]]
    for a in range(out.size):
        out[a] += (p * first[a] + q * second[a]) + (r * third[a] + s * fourth[a])


@brief
@fast
def backward(L: Array, size: int, b: Array) -> None:
    """Overwrite b with L'^-1 b.

    Parameters
    ----------
    L : ndarray of shape (capacity, capacity)
        Lower triangle.
    size : int
        Number of rows.
    b : ndarray of shape (size,)
        Right-hand side; overwritten.
    """
    for a in range(size - 1, -1, -1):
        b[a] /= L[a, a]
        for e in range(a):
            b[e] -= L[a, e] * b[a]


@brief
@fast
def forward(L: Array, size: int, b: Array) -> None:
    """Overwrite b with L^-1 b.

    Parameters
    ----------
    L : ndarray of shape (capacity, capacity)
        Lower triangle.
    size : int
        Number of rows.
    b : ndarray of shape (size,)
        Right-hand side; overwritten.
    """
    for a in range(size):
        total = 0.0
        for e in range(a):
            total += L[a, e] * b[e]
        b[a] = (b[a] - total) / L[a, a]


@brief
@fast
def enter(of: Differences, W: WorkingSetFactor, row: int | np.intp) -> bool:
    """Let a row enter W; return False if it depends on the rows of W.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    row : int
        Row number.
    """
    size = W.size[0]
    if size >= W.rows.size:
        return False
    # New row of L: L^-1 Q_Wr, with the root of Q_rr - |L^-1 Q_Wr|^2 on the diagonal.
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
    """Append first - second to B, made orthogonal to its first `size` rows, twice.

    The new row is not normalised. Return its squared length.

    Parameters
    ----------
    first, second : ndarray of shape (k,)
        Minuend and subtrahend.
    B : ndarray of shape (capacity, k)
        Orthonormal rows; row `size` is written.
    size : int
        Number of rows.
    shares : ndarray of shape (capacity,)
        Products with these rows; the first `size` are written.
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
    """Remove the row at a place of W.

    The later rows of L move up. Rotations of its columns, and of the rows of B, make it
    triangular again.

    Parameters
    ----------
    W : WorkingSetFactor
        Working set and its factor; changes in place.
    place : int
        Position in W.
    """
    L, B, size = W.L, W.B, W.size[0]
    W.inside[W.rows[place]] = False
    cos, sin = np.empty(size), np.empty(size)
    for a in range(place, size - 1):
        W.rows[a] = W.rows[a + 1]
        for e in range(a + 2):
            L[a, e] = L[a + 1, e]
        # Givens rotations of columns e and e + 1 remove the entry right of the diagonal.
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


@brief
@fast
def refactor(of: Differences, W: WorkingSetFactor) -> None:
    """Compute the factor afresh, without rows that turn out to be dependent.

    Parameters
    ----------
    of, W : Differences, WorkingSetFactor
        Rows as differences of points, and the working set.
    """
    size = W.size[0]
    rows = W.rows[:size].copy()
    for row in rows:
        W.inside[row] = False
    W.size[0] = 0
    for row in rows:
        enter(of, W, row)
