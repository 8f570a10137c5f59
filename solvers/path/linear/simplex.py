"""The parametric simplex method along the path of a one-norm program, from one basis to the next.

    min  lambda c'x + 1'xi    s.t.  B x + xi >= 1,  x, xi >= 0          c = 1;  a free bias is one more column of B, s, which costs nothing
    max  1'u                  s.t.  B'u <= lambda c,  0 <= u <= 1

A basis has columns J and as many rows E, whose margins are 1: with M = B[E, J]

    x_J = M^-1 1,     u = 1 on the rows L with slack,  0 on the rows beyond the margin,     u_E = M^-T (lambda c - B[L]'1)_J,
    reduced costs  d = lambda c - B'u,     and with  p = M^-T c_J,  s = c - B[E]'p     u_E - t p  and  d - t s  at lambda - t.

As lambda falls the basis stays optimal until a reduced cost falls below 0, so that its
column enters, or an entry of u_E leaves [0, 1], so that its row leaves E. x then jumps
along an edge, until an x_j is 0 or another row meets its margin; x is constant in
between. M is kept as its QR factors, which lose and gain a row and a column with a
pivot (`factor.py`). B is never formed: a product with it is one with K and one with A.
What rounding takes from (B[L]'1)_J is kept beside it, because an error e of it makes
the reduced cost of a column j wrong by up to |M^-1 B[E, j]| e, which is thousands of
times e. So is what rounding takes from lambda: where two events nearly coincide, u_E
goes from 0 to 1 within a billionth of it.

Several rows or columns may be due at once. The right-hand side 1 is perturbed by random
numbers of size PERTURBATION for the choice of what leaves; every pivot then lowers the
sum of slacks, and no basis comes twice. What is written down is computed with 1 itself.
Where a nearly singular M magnifies the perturbation its basis may be far from optimal
for 1, and the perturbed x is written down if it costs less: the perturbation changes
the optimum by at most p times PERTURBATION.

Source: T. Gass, T. Saaty, The computational algorithm for the parametric objective
function (1955); S. Rosset, J. Zhu, Piecewise linear regularized solution paths (2007),
for the paths; the linear programs are those of T (94)-(96), (102)-(104).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import fast, jit, part
from equimargin.solvers.path.linear.factor import (
    Factors,
    Index,
    add_column,
    add_row,
    clear,
    dot,
    drop_column,
    drop_row,
    solved,
)
from equimargin.solvers.path.linear.near import AffineRows, RowsNearEnds, first, least, misplaced

PERTURBATION = 3e-10
"""Size of the random numbers that are added to the right-hand side 1, without a unit: well above what rounding makes of a margin, and so
small that kernel values of 4e-11 still decide which rows have slack.
"""
NEGLIGIBLE = 1e-11
"""Entries of a pivot's row or column that count as 0, in the unit of K."""
ROUNDING_OF_SLOPES = 4e-15
"""What rounding may make of the slope s of a reduced cost, over the sum of |p|. The columns of many pairs are combinations of those of J at
equal cost, so that their s is 0; by rounding they would enter and leave for ever.
"""
BETWEEN_FACTORISATIONS = 60
"""Pivots after which M is factorised anew, and margins are computed anew."""

RUNNING, ENDED, SINGULAR = 0, 1, 2
"""What a round of pivots ended with: more are possible, lambda_min was reached, or no step is possible in float64."""
SHORTEST = 1e-12
"""Length of the shortest interval of lambda that is written down, over lambda."""
NEXT_TO_0 = 1e-14
"""Lambda over the largest sum of terms in an entry of B'1, up to which it counts as 0: rounding puts events at lambda = 0 there."""


class LinearPathProgram(NamedTuple):
    """The numbers of a program; the points of a row, and of a column over rows, end with the origin, whose kernel values are 0.

    Parameters
    ----------
    K : ndarray of shape (m + 1, m + 1)
    rows : AffineRows
        Row r of B x is sign_r (f(x_i) - f(x_j)), and s_r b more.
    columns : AffineRows
        f of column k is sign_k (k(x_i, .) - k(x_j, .)).

    A function has m + 2 entries: its values at the points and at the origin, and last its bias. That of a sum over rows is the sum of s.
    """

    K: Array
    rows: AffineRows
    columns: AffineRows


class PathBasis(NamedTuple):
    """The present basis; the arrays change in place.

    Parameters
    ----------
    J, E : Index of shape (capacity,)
        columns, n for the bias, and rows.
    M : Factors
        Their matrix and its factors.
    rows : RowsNearEnds
        What the margins lack of the perturbed 1, and the way of the rows: 1 in L, 0 in
        E, -1 beyond the margin.
    columns : RowsNearEnds
        The reduced costs, and the way of the columns but that of the bias: 0 in J, 1
        elsewhere.
    many, weights : ndarray of shape (1,)
        How many rows L has, (m + 2,) A'1_L, and last the sum of s over L; all are whole
        numbers.
    sums, rests : ndarray of shape (m + 2,)
        K A'1_L, and last the sum of s over L; and what rounding takes from them.
    lam : ndarray of shape (2,)
        lambda, and what rounding takes from it.
    bound : ndarray of shape (1,)
        What u proves at the end that was written down last; infinity before.
    next_to_0 : float
        A lambda up to which events count as events at 0.
    """

    J: Index
    E: Index
    M: Factors
    rows: RowsNearEnds
    columns: RowsNearEnds
    many: Array
    weights: Array
    sums: Array
    rests: Array
    lam: Array
    bound: Array
    next_to_0: float


@fast
def _add_line(h: Array, factor: float, K: Array, i: int, j: int) -> None:
    """h <- h + factor (k(x_i, .) - k(x_j, .))."""
    p, q = np.uint64(i), np.uint64(j)
    for k in range(K.shape[1]):
        h[k] += factor * (K[p, k] - K[q, k])


@jit
def _combined(K: Array, lines: AffineRows, numbers: Index, y: Array) -> Array:
    """The sum of the functions of lines times y, (m + 2,), without a bias."""
    h, i, j, sign = np.zeros(len(K) + 1), lines.i, lines.j, lines.sign
    for a in range(len(y)):
        k = numbers[a]
        if k < len(i):
            _add_line(h, sign[k] * y[a], K, i[k], j[k])
    return h


@jit
def _decision(of: LinearPathProgram, J: Index, x: Array) -> Array:
    """The function of coefficients of the columns J, (m + 2,)."""
    f, bias = _combined(of.K, of.columns, J, x), len(of.columns.i)
    for a in range(len(x)):
        f[-1] += x[a] if J[a] == bias else 0.0
    return f


@jit
def _price(columns: AffineRows, g: Array, k: int) -> float:
    """What a sum over rows prices the column k."""
    return float(
        g[-1] if k == len(columns.i) else columns.sign[k] * (g[columns.i[k]] - g[columns.j[k]])
    )


@jit
def _reduced(g: Array, sums: Array, rests: Array, lam: float) -> Array:
    """The function of which the reduced costs at lambda are what is left: the sums over L and those over E, g, and last -lambda."""
    for i in range(len(g) - 1):
        g[i] = sums[i] + (rests[i] + g[i])
    g[-1] = -lam
    return g


@jit
def _add(sums: Array, rests: Array, factor: float, K: Array, row: int) -> None:
    """Add a power of 2, or its negative, times a row of K to sums, and to `rests` what rounding takes from these."""
    for i in range(K.shape[1]):
        new = factor * K[row, i]
        total = sums[i] + new
        part = total - sums[i]
        rests[i] += (sums[i] - (total - part)) + (new - part)
        sums[i] = total


@jit
def add_products(of: LinearPathProgram, basis: PathBasis) -> None:
    """Add K times the weights to the sums; a whole number is a sum of powers of 2, and a product with one is exact."""
    for i in range(len(of.K) - 1):
        left, power = int(abs(basis.weights[i])), np.sign(basis.weights[i])
        while left > 0:
            if left % 2 == 1:
                _add(basis.sums, basis.rests, power, of.K, i)
            left, power = left // 2, 2.0 * power
    basis.sums[-1] = basis.weights[-1]


@jit
def _toggle(of: LinearPathProgram, basis: PathBasis, r: int) -> None:
    """Row r comes into L, or goes out of it."""
    way, i, j, sign = (
        -1.0 if basis.rows.way[r] == 1.0 else 1.0,
        of.rows.i[r],
        of.rows.j[r],
        of.rows.sign[r],
    )
    basis.rows.way[r] = way
    basis.many[0] += way
    basis.weights[i] += way * sign
    basis.weights[j] -= way * sign
    basis.weights[-1] += way * of.rows.s[r]
    _add(basis.sums, basis.rests, way * sign, of.K, i)
    if j < len(of.K) - 1:
        _add(basis.sums, basis.rests, -way * sign, of.K, j)
    basis.sums[-1] = basis.weights[-1]


@jit
def _without(entries: Index, number: int, length: int) -> None:
    """One of the first `length` entries goes; those after it move up by one."""
    for a in range(number, length - 1):
        entries[a] = entries[a + 1]


@jit
def _column(of: LinearPathProgram, E: Index, k: int, size: int) -> Array:
    """The entries of the column k of B in the rows E."""
    K, i, j, sign, s, column = of.K, of.rows.i, of.rows.j, of.rows.sign, of.rows.s, np.empty(size)
    if k == len(of.columns.i):
        for e in range(size):
            column[e] = s[E[e]]
        return column
    a, b, factor = of.columns.i[k], of.columns.j[k], of.columns.sign[k]
    for e in range(size):
        r = E[e]
        column[e] = factor * sign[r] * (K[i[r], a] - K[j[r], a] - K[i[r], b] + K[j[r], b])
    return column


@jit
def _row(of: LinearPathProgram, J: Index, r: int, size: int) -> Array:
    """The entries of the row r of B in the columns J."""
    K, i, j, sign, row = of.K, of.columns.i, of.columns.j, of.columns.sign, np.empty(size)
    a, b, factor, s = of.rows.i[r], of.rows.j[r], of.rows.sign[r], of.rows.s[r]
    for c in range(size):
        k = J[c]
        row[c] = (
            s
            if k == len(i)
            else factor * sign[k] * (K[a, i[k]] - K[b, i[k]] - K[a, j[k]] + K[b, j[k]])
        )
    return row


@part
def _set_free(basis: PathBasis, k: int, way: float) -> None:
    """A column leaves J, or joins it; that of the bias has no reduced cost."""
    if k < len(basis.columns.way):
        basis.columns.way[k] = way


@part
def _drop(basis: PathBasis, number: int) -> None:
    """A column of J goes."""
    _set_free(basis, basis.J[number], 1.0)
    _without(basis.J, number, basis.M.size[1])
    drop_column(basis.M, number)


@part
def _join(of: LinearPathProgram, basis: PathBasis, k: int) -> None:
    """Column k joins J."""
    column = _column(of, basis.E, k, basis.M.size[0])
    basis.J[basis.M.size[1]] = k
    _set_free(basis, k, 0.0)
    add_column(basis.M, column)


@part
def _release(basis: PathBasis, number: int) -> None:
    """A row of E goes."""
    basis.rows.way[basis.E[number]] = -1.0
    _without(basis.E, number, basis.M.size[0])
    drop_row(basis.M, number)


@part
def _tighten(of: LinearPathProgram, basis: PathBasis, r: int) -> None:
    """Row r joins E."""
    row = _row(of, basis.J, r, basis.M.size[1])
    basis.E[basis.M.size[0]], basis.rows.way[r] = r, 0.0
    add_row(basis.M, row)


@jit
def _solution(M: Factors, right: Array) -> Array:
    """M^-1 right."""
    return solved(M, right, np.zeros(len(right)), False)


@jit
def _entries(of: Array, numbers: Index, size: int) -> Array:
    """The first entries that some numbers name."""
    entries = np.empty(size)
    for e in range(size):
        entries[e] = of[numbers[e]]
    return entries


@jit
def _right(
    columns: AffineRows, J: Index, sums: Array, rests: Array, lam: Array, k: int
) -> tuple[Array, Array, Array]:
    """(lambda c - B[L]'1)_J, what rounding takes from it, and c_J."""
    costs, right, rest = np.empty(k), np.empty(k), np.empty(k)
    for a in range(k):
        costs[a] = 1.0 if J[a] < len(columns.i) else 0.0
        pull, cost = _price(columns, sums, J[a]), lam[0] * costs[a]
        right[a] = cost - pull
        part = right[a] - cost
        rest[a] = (
            (cost - (right[a] - part))
            - (pull + part)
            - _price(columns, rests, J[a])
            + lam[1] * costs[a]
        )
    return right, rest, costs


@part
def _multipliers(of: LinearPathProgram, basis: PathBasis) -> tuple[Array, Array]:
    """u_E, and p, by which it falls with lambda."""
    right, rest, costs = _right(
        of.columns, basis.J, basis.sums, basis.rests, basis.lam, basis.M.size[0]
    )
    return solved(basis.M, right, rest, True), solved(basis.M, costs, np.zeros(len(costs)), True)


@part
def _refactor(of: LinearPathProgram, basis: PathBasis) -> None:
    """Factorise M anew."""
    k = basis.M.size[0]
    clear(basis.M)
    for _ in range(k):
        add_row(basis.M, np.empty(0))
    for a in range(k):
        add_column(basis.M, _column(of, basis.E, basis.J[a], k))


class Record(NamedTuple):
    """What a round of pivots writes down of the bases that are optimal on an interval of lambda; the arrays change in place.

    Parameters
    ----------
    lam, gap : ndarray of shape (rounds,)
        The lower end, and the larger relative gap of the two ends.
    starts : Index of shape (rounds + 1,)
        Where the entries below begin.
    J, E, x, lower : array of shape (entries,)
        The basis, its x_J, and u_E at the lower end, in [0, 1].
    flips, at : Index of shape (2 rounds,)
        Rows that came into L or went out of it, and before which interval.
    tally : Index of shape (2,)
        Of intervals and of flips.
    """

    lam: Array
    gap: Array
    starts: Index
    J: Index
    E: Index
    x: Array
    lower: Array
    flips: Index
    at: Index
    tally: Index


@jit
def _row_due(u: Array, p: Array, limit: float) -> tuple[float, int]:
    """How far lambda falls until an entry of u_E leaves [0, 1], and its number in E; at most the limit, which comes with -1."""
    step, row = limit, -1
    for e in range(len(p)):
        room = max(u[e] if p[e] > 0.0 else 1.0 - u[e], 0.0)
        if abs(p[e]) > NEGLIGIBLE and room < step * abs(p[e]):
            step, row = room / abs(p[e]), e
    return step, row


@part
def _due(of: LinearPathProgram, basis: PathBasis, u: Array, p: Array) -> tuple[float, int, int]:
    """How far lambda falls until a column or a row is due, and the column, or the number of the row in E; -1 for the other."""
    lam = basis.lam[0]
    limit, row = _row_due(u, p, lam)
    slowest = NEGLIGIBLE + ROUNDING_OF_SLOPES * np.abs(p).sum()
    at, to = (
        _reduced(_combined(of.K, of.rows, basis.E, u), basis.sums, basis.rests, lam),
        _combined(of.K, of.rows, basis.E, -p),
    )
    to[-1] = 1.0
    step, column = first(basis.columns, at, to, slowest, limit)
    return step, column, row if column < 0 else -1


@jit
def _bound(low: float, u: Array, least_cost: float, lam: float) -> float:
    """What u proves at lambda: its sum divided by what the least reduced cost says of B'u; nothing is asked of it at lambda = 0.

    Parameters
    ----------
    low : float
        The number of rows in L.
    u : ndarray of shape (k,)
        Of the rows E.
    """
    return (low + u.sum()) / (1.0 - min(least_cost, 0.0) / lam) if lam > 0.0 else np.inf


@jit
def _cleared(J: Index, x: Array, bias: int) -> float:
    """Take from x_J what is below 0; the sum of what is left, all but the bias."""
    cost = 0.0
    for a in range(len(x)):
        if J[a] < bias:
            x[a] = max(x[a], 0.0)
            cost += x[a]
    return cost


@part
def _vertex(
    of: LinearPathProgram,
    basis: PathBasis,
    right: Array,
    lams: tuple[float, float],
    bounds: tuple[float, float],
) -> tuple[Array, float]:
    """x_J for a right-hand side of the rows E, without what is below 0, and the larger relative gap at two lambdas with these bounds.

    The sum of slacks is that of the rows L as if all had some, and what the rows that are misplaced in L, or outside of it, add to it.
    """
    x, gap = _solution(basis.M, right), 0.0
    cost = _cleared(basis.J, x, len(of.columns.i))
    f = _decision(of, basis.J, x)
    slack = basis.many[0] - dot(basis.weights, f) + misplaced(basis.rows, f)
    for end in range(2):
        primal = lams[end] * cost + slack
        gap = max(gap, (primal - bounds[end]) / primal if primal > 0.0 else 0.0)
    return x, gap


@part
def _written(
    of: LinearPathProgram, basis: PathBasis, record: Record, lower: Array, to: float
) -> bool:
    """Write down the interval from lambda down to `to`, if it has a length, with its gap; false where M is singular.

    Parameters
    ----------
    lower : ndarray of shape (k,)
        u_E at `to`, in [0, 1]. At lambda u is that of the lower end before, which is
        feasible there as well.
    """
    lam, t = basis.lam[0], record.tally[0]
    if lam - to <= SHORTEST * lam:
        return True
    start, prices = record.starts[t], _combined(of.K, of.rows, basis.E, lower)
    least_cost = least(basis.columns, _reduced(prices, basis.sums, basis.rests, to))
    lams, bounds = (lam, to), (basis.bound[0], _bound(basis.many[0], lower, least_cost, to))
    x, gap = _vertex(of, basis, np.ones(len(lower)), lams, bounds)
    if gap > PERTURBATION:
        other, less = _vertex(of, basis, _entries(basis.rows.base, basis.E, len(x)), lams, bounds)
        if less < gap:
            x, gap = other, less
    for a in range(len(x)):
        record.J[start + a], record.E[start + a] = basis.J[a], basis.E[a]
        record.x[start + a], record.lower[start + a] = x[a], lower[a]
    record.lam[t], record.gap[t], record.starts[t + 1] = to, gap, start + len(x)
    record.tally[0], basis.bound[0] = t + 1, bounds[1]
    return bool(np.isfinite(x).all())


@part
def _flip(of: LinearPathProgram, basis: PathBasis, record: Record, r: int) -> None:
    """Row r comes into L, or goes out of it, which is written down."""
    _toggle(of, basis, r)
    record.flips[record.tally[1]], record.at[record.tally[1]] = r, record.tally[0]
    record.tally[1] += 1


@jit
def _column_met(J: Index, x: Array, way: Array, bias: int) -> tuple[float, int]:
    """The step along an edge at which the first x_J but the bias is 0, and its number; infinity and -1 if there is none."""
    step, leaving = np.inf, -1
    for a in range(len(x)):
        if J[a] < bias and way[a] < -NEGLIGIBLE and max(x[a], 0.0) < step * -way[a]:
            step, leaving = max(x[a], 0.0) / -way[a], a
    return step, leaving


@part
def _pivot(
    of: LinearPathProgram, basis: PathBasis, record: Record, column: int, row: int, p: Array
) -> bool:
    """Let a column enter, or a row of E go, whichever is not -1, and what meets its end first leave; whether anything does."""
    entering, up = column >= 0, column >= 0 or p[row] > 0.0
    size, J, bias = basis.M.size[0], basis.J, len(of.columns.i)
    right = -_column(of, basis.E, column, size) if entering else np.zeros(size)
    if not entering:
        right[row] = 1.0 if up else -1.0
    way, x = _solution(basis.M, right), _solution(basis.M, _entries(basis.rows.base, basis.E, size))
    step, leaving = _column_met(J, x, way, bias)
    f, to = _decision(of, J, x), _decision(of, J, way)
    if entering:
        _add_line(to, of.columns.sign[column], of.K, of.columns.i[column], of.columns.j[column])
    step, met = first(basis.rows, f, to, NEGLIGIBLE, step)
    if step == np.inf:
        return False
    gone = -1 if entering else basis.E[row]
    if met < 0:
        _drop(basis, leaving)
    if not entering:
        _release(basis, row)
    if met >= 0:
        if basis.rows.way[met] == 1.0:
            _flip(of, basis, record, met)
        _tighten(of, basis, met)
    if entering:
        _join(of, basis, column)
    elif not up:
        _flip(of, basis, record, gone)
    return True


@jit
def advance(of: LinearPathProgram, basis: PathBasis, record: Record, lambda_min: float) -> int:
    """Go on with the path for as many pivots as `record` has room for; ENDED or SINGULAR, or RUNNING if there may be more.

    Parameters
    ----------
    of : LinearPathProgram
        The program.
    basis : PathBasis
        Where the path is, which changes.
    record : Record
        What is written down.
    lambda_min : float
        Where the path ends.
    """
    record.tally[:] = 0
    for pivots in range(len(record.lam)):
        if pivots % BETWEEN_FACTORISATIONS == 0:
            _refactor(of, basis)
        u, p = _multipliers(of, basis)
        if not (np.isfinite(u).all() and np.isfinite(p).all()):
            return SINGULAR
        step, column, row = _due(of, basis, u, p)
        rounded = basis.lam[0] - step
        rest = ((basis.lam[0] - rounded) - step) + basis.lam[1]
        due = rounded + rest
        rest -= due - rounded
        if due <= max(lambda_min, basis.next_to_0):
            step, due, rest = basis.lam[0] - lambda_min, lambda_min, 0.0
        if not _written(of, basis, record, np.minimum(np.maximum(u - step * p, 0.0), 1.0), due):
            return SINGULAR
        basis.lam[0], basis.lam[1] = due, rest
        if due <= lambda_min:
            return ENDED
        if not _pivot(of, basis, record, column, row, p):
            return SINGULAR
    return RUNNING
