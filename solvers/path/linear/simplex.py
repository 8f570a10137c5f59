"""Parametric simplex method along the path of a one-norm program.

    min  lambda c'x + w'xi    s.t.  B x + xi >= 1,  x, xi >= 0
    max  1'u                  s.t.  B'u <= lambda c,  0 <= u <= w

c = 1; a free bias is one more column of B, s, of cost 0. The weights w of the rows are
positive. A basis has columns J and as many rows E, whose margins are 1: with
M = B[E, J]

    x_J = M^-1 1,     u = w on the rows L with slack,  0 on the rows beyond the margin,
    u_E = M^-T (lambda c - B[L]'w_L)_J,   reduced costs  d = lambda c - B'u,
    and with  p = M^-T c_J,  s = c - B[E]'p     u_E - t p  and  d - t s  at lambda - t.

As lambda decreases the basis stays optimal until a reduced cost becomes negative, so
that its column enters, or an entry of u_E leaves [0, w], so that its row leaves E. x
then jumps along an edge, until an x_j is 0 or another row meets its margin; x is
constant in between. M is stored as its QR factors, which lose and gain a row and a
column with a pivot (`factor.py`). B is never formed: a product with it is one with K
and one with A. The rounding error of (B[L]'w_L)_J is stored with it, because an error e
makes the reduced cost of a column j wrong by up to |M^-1 B[E, j]| e, which is thousands
of times e. The rounding error of lambda is stored, too: where two events nearly
coincide, u_E goes from 0 to w within a billionth of lambda.

Several rows or columns may be due at once. The right-hand side 1 is perturbed by random
numbers of size PERTURBATION for the choice of the leaving variable; every pivot then
lowers the weighted sum of slacks, and no basis occurs twice. The recorded x is computed with 1
itself. If a nearly singular M magnifies the perturbation its basis may be far from
optimal for 1, and the perturbed x is recorded if it costs less: the perturbation
changes the optimum by at most the sum of w times PERTURBATION.

Source: T. Gass, T. Saaty, The computational algorithm for the parametric objective
function (1955); S. Rosset, J. Zhu, Piecewise linear regularized solution paths (2007),
for the paths; the linear programs are those of T (94)-(96), (102)-(104).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import fast, jit, part
from equimargin.solvers.path.linear.factor import (
    Factors,
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
"""Size of the random perturbations of the right-hand side 1, dimensionless.

Well above the rounding error of a margin, and so small that kernel values of 4e-11
still decide which rows have slack.
"""
NEGLIGIBLE = 1e-11
"""Size, in the unit of K, up to which an entry of a pivot's row or column counts as 0."""
ROUNDING_OF_SLOPES = 4e-15
"""Rounding error of the slope s of a reduced cost, relative to the sum of |p|.

The columns of many pairs are combinations of those of J at equal cost, so that their s
is 0; by rounding they would enter and leave indefinitely.
"""
BETWEEN_FACTORISATIONS = 60
"""Pivots between two fresh factorisations of M."""

RUNNING, ENDED, SINGULAR = 0, 1, 2
"""Results of a round of pivots.

More pivots are possible, lambda_min was reached, or no step is possible in float64.
"""
SHORTEST = 1e-12
"""Length of the shortest recorded interval of lambda, relative to lambda."""
NEXT_TO_0 = 1e-14
"""Lambda, relative to the largest sum of terms in an entry of B'1, that counts as 0.

Rounding errors move events from lambda = 0 up to there.
"""


class LinearPathProgram(NamedTuple):
    """Data of a program.

    Rows, and columns over rows, are differences of points, of which the last one is the
    origin, with kernel values 0. A function has m + 2 entries: its values at the points
    and at the origin, and last its bias. In a sum over rows, the last is the sum of s.

    Parameters
    ----------
    K : ndarray of shape (m + 1, m + 1)
        Kernel values.
    rows : AffineRows
        Row r of B x is sign_r (f(x_i) - f(x_j)) + s_r b.
    columns : AffineRows
        f of column k is sign_k (k(x_i, .) - k(x_j, .)).
    w : ndarray of shape (p,)
        Weights of the rows, positive.
    """

    K: Array
    rows: AffineRows
    columns: AffineRows
    w: Array


class PathBasis(NamedTuple):
    """Present basis; the arrays change in place.

    Parameters
    ----------
    J, E : Index of shape (capacity,)
        Columns, n for the bias, and rows.
    M : Factors
        Their matrix and its factors.
    rows : RowsNearEnds
        Distances of the margins to the perturbed 1, and the way of the rows: 1 in L, 0
        in E, -1 beyond the margin.
    columns : RowsNearEnds
        Reduced costs, and the way of the columns other than the bias: 0 in J, 1
        elsewhere.
    total : ndarray of shape (1,)
        Sum of w over L.
    pull : ndarray of shape (m + 2,)
        A'w_L, and last the sum of w s over L.
    sums, rests : ndarray of shape (m + 2,)
        K A'w_L, and last the sum of w s over L; and their rounding errors.
    lam : ndarray of shape (2,)
        lambda, and its rounding error.
    bound : ndarray of shape (1,)
        Lower bound that u proves at the last recorded end; infinity before.
    next_to_0 : float
        Lambda up to which events count as events at 0.
    """

    J: Index
    E: Index
    M: Factors
    rows: RowsNearEnds
    columns: RowsNearEnds
    total: Array
    pull: Array
    sums: Array
    rests: Array
    lam: Array
    bound: Array
    next_to_0: float


@fast
def _add_line(h: Array, factor: float, K: Array, i: int, j: int) -> None:
    """Add factor (k(x_i, .) - k(x_j, .)) to h."""
    p, q = np.uint64(i), np.uint64(j)
    for k in range(K.shape[1]):
        h[k] += factor * (K[p, k] - K[q, k])


@jit
def _combined(K: Array, lines: AffineRows, numbers: Index, y: Array) -> Array:
    """Return the sum of the functions of lines times y, shape (m + 2,), without a bias."""
    h, i, j, sign = np.zeros(len(K) + 1), lines.i, lines.j, lines.sign
    for a in range(len(y)):
        k = numbers[a]
        if k < len(i):
            _add_line(h, sign[k] * y[a], K, i[k], j[k])
    return h


@jit
def _decision(of: LinearPathProgram, J: Index, x: Array) -> Array:
    """Return the function of coefficients of the columns J, shape (m + 2,)."""
    f, bias = _combined(of.K, of.columns, J, x), len(of.columns.i)
    for a in range(len(x)):
        f[-1] += x[a] if J[a] == bias else 0.0
    return f


@jit
def _price(columns: AffineRows, g: Array, k: int) -> float:
    """Return the entry of column k in B'u for a sum over rows."""
    return float(
        g[-1] if k == len(columns.i) else columns.sign[k] * (g[columns.i[k]] - g[columns.j[k]])
    )


@jit
def _reduced(g: Array, sums: Array, rests: Array, lam: float) -> Array:
    """Return the function whose distances are the reduced costs at lambda.

    Its entries are the sums over L plus those over E, given in g, and last -lambda.
    """
    for i in range(len(g) - 1):
        g[i] = sums[i] + (rests[i] + g[i])
    g[-1] = -lam
    return g


@jit
def _halves(a: float) -> tuple[float, float]:
    """Return two numbers of at most 26 bits with the sum a, by Veltkamp's splitting."""
    far = 134217729.0 * a
    high = far - (far - a)
    return high, a - high


@jit
def _add_term(sums: Array, rests: Array, i: int, new: float, rest: float) -> None:
    """Add `new` + `rest` to sums[i], and the rounding to rests[i]."""
    # TwoSum: total plus the rounding is sums[i] + new exactly.
    total = sums[i] + new
    part = total - sums[i]
    rests[i] += (sums[i] - (total - part)) + (new - part) + rest
    sums[i] = total


@jit
def _add(sums: Array, rests: Array, factor: float, K: Array, row: int) -> None:
    """Add a factor times a row of K to sums, and the rounding to `rests`."""
    a, b = _halves(factor)
    for i in range(K.shape[1]):
        new = factor * K[row, i]
        # TwoProduct: new plus the last argument is the exact product.
        c, d = _halves(K[row, i])
        _add_term(sums, rests, i, new, b * d - (((new - a * c) - b * c) - a * d))


@jit
def add_products(of: LinearPathProgram, basis: PathBasis, pull: Array) -> None:
    """Add K times a pull, and last its sum, to the sums, with the rounding in `rests`.

    Parameters
    ----------
    of, basis : LinearPathProgram, PathBasis
        Program and basis; the basis changes in place.
    pull : ndarray of shape (m + 2,)
        Sum over rows, as in the basis.
    """
    for i in range(len(of.K) - 1):
        if pull[i] != 0.0:
            _add(basis.sums, basis.rests, pull[i], of.K, i)
    _add_term(basis.sums, basis.rests, len(pull) - 1, pull[-1], 0.0)


@jit
def _toggle(of: LinearPathProgram, basis: PathBasis, r: int) -> None:
    """Move row r into L, or out of L."""
    way, i, j, sign = (
        -1.0 if basis.rows.way[r] == 1.0 else 1.0,
        of.rows.i[r],
        of.rows.j[r],
        of.rows.sign[r],
    )
    basis.rows.way[r] = way
    change = way * of.w[r]
    factor, bias = change * sign, change * of.rows.s[r]
    basis.total[0] += change
    basis.pull[i] += factor
    basis.pull[j] -= factor
    basis.pull[-1] += bias
    _add(basis.sums, basis.rests, factor, of.K, i)
    if j < len(of.K) - 1:
        _add(basis.sums, basis.rests, -factor, of.K, j)
    _add_term(basis.sums, basis.rests, len(basis.sums) - 1, bias, 0.0)


@jit
def _without(entries: Index, number: int, length: int) -> None:
    """Remove one of the first `length` entries; those after it move up by one."""
    for a in range(number, length - 1):
        entries[a] = entries[a + 1]


@jit
def _column(of: LinearPathProgram, E: Index, k: int, size: int) -> Array:
    """Return the entries of column k of B in the rows E."""
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
    """Return the entries of row r of B in the columns J."""
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
    """Set the way of a column that leaves or joins J; the bias has no reduced cost."""
    if k < len(basis.columns.way):
        basis.columns.way[k] = way


@part
def _drop(basis: PathBasis, number: int) -> None:
    """Remove a column of J."""
    _set_free(basis, basis.J[number], 1.0)
    _without(basis.J, number, basis.M.size[1])
    drop_column(basis.M, number)


@part
def _join(of: LinearPathProgram, basis: PathBasis, k: int) -> None:
    """Add column k to J."""
    column = _column(of, basis.E, k, basis.M.size[0])
    basis.J[basis.M.size[1]] = k
    _set_free(basis, k, 0.0)
    add_column(basis.M, column)


@part
def _release(basis: PathBasis, number: int) -> None:
    """Remove a row of E."""
    basis.rows.way[basis.E[number]] = -1.0
    _without(basis.E, number, basis.M.size[0])
    drop_row(basis.M, number)


@part
def _tighten(of: LinearPathProgram, basis: PathBasis, r: int) -> None:
    """Add row r to E."""
    row = _row(of, basis.J, r, basis.M.size[1])
    basis.E[basis.M.size[0]], basis.rows.way[r] = r, 0.0
    add_row(basis.M, row)


@jit
def _solution(M: Factors, right: Array) -> Array:
    """Return M^-1 right."""
    return solved(M, right, np.zeros(len(right)), False)


@jit
def _entries(of: Array, numbers: Index, size: int) -> Array:
    """Return the entries of an array at the first `size` of some indices."""
    entries = np.empty(size)
    for e in range(size):
        entries[e] = of[numbers[e]]
    return entries


@jit
def _right(
    columns: AffineRows, J: Index, sums: Array, rests: Array, lam: Array, k: int
) -> tuple[Array, Array, Array]:
    """Return (lambda c - B[L]'w_L)_J, as in the module, its error, and c_J."""
    costs, right, rest = np.empty(k), np.empty(k), np.empty(k)
    for a in range(k):
        costs[a] = 1.0 if J[a] < len(columns.i) else 0.0
        pull, cost = _price(columns, sums, J[a]), lam[0] * costs[a]
        right[a] = cost - pull
        # TwoSum: right[a] + rest[a] = cost - pull, with the stored rounding errors.
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
    """Return u_E, and p, the rate at which u_E decreases as lambda does."""
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
    """Bases of a round of pivots that are optimal on an interval of lambda.

    The arrays change in place.

    Parameters
    ----------
    lam, gap : ndarray of shape (rounds,)
        Lower end, and the larger relative gap of the two ends.
    starts : Index of shape (rounds + 1,)
        Start of the entries below.
    J, E, x, lower : array of shape (entries,)
        The basis, its x_J, and u_E at the lower end, in [0, w].
    flips, at : Index of shape (2 rounds,)
        Rows that entered or left L, and the interval before which they did.
    tally : Index of shape (2,)
        Numbers of intervals and of flips.
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
def _row_due(u: Array, p: Array, w: Array, limit: float) -> tuple[float, int]:
    """Return the decrease of lambda at which a u_E leaves [0, w], and its number.

    If none does before the limit, return the limit and -1.
    """
    step, row = limit, -1
    for e in range(len(p)):
        room = max(u[e] if p[e] > 0.0 else w[e] - u[e], 0.0)
        if abs(p[e]) > NEGLIGIBLE and room < step * abs(p[e]):
            step, row = room / abs(p[e]), e
    return step, row


@part
def _due(
    of: LinearPathProgram, basis: PathBasis, u: Array, p: Array, w: Array
) -> tuple[float, int, int]:
    """Return the decrease of lambda at which a column or row is due, and both numbers.

    The number of a row is its place in E. Only one of both is due; the other number is
    -1.
    """
    lam = basis.lam[0]
    limit, row = _row_due(u, p, w, lam)
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
    """Return the lower bound at lambda by u, scaled to be feasible.

    u is divided by a factor that follows from the least reduced cost of B'u. At lambda
    = 0 the bound is infinite, so that no gap is counted.

    Parameters
    ----------
    low : float
        Sum of w over L.
    u : ndarray of shape (k,)
        Multipliers of the rows E.
    """
    return (low + u.sum()) / (1.0 - min(least_cost, 0.0) / lam) if lam > 0.0 else np.inf


@jit
def _cleared(J: Index, x: Array, bias: int) -> float:
    """Set negative entries of x_J to 0; return the sum of all but the bias."""
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
    """Return x_J >= 0 for a right-hand side of the rows E, and the larger relative gap.

    The gaps are those at two lambdas with these bounds. The weighted sum of slacks is
    that of 1 less the margin over L, plus the violations that `misplaced` returns.
    """
    x, gap = _solution(basis.M, right), 0.0
    cost = _cleared(basis.J, x, len(of.columns.i))
    f = _decision(of, basis.J, x)
    slack = basis.total[0] - dot(basis.pull, f) + misplaced(basis.rows, of.w, f)
    for end in range(2):
        primal = lams[end] * cost + slack
        gap = max(gap, (primal - bounds[end]) / primal if primal > 0.0 else 0.0)
    return x, gap


@part
def _written(
    of: LinearPathProgram, basis: PathBasis, record: Record, lower: Array, to: float
) -> bool:
    """Record the interval from lambda down to `to`, if any; return False if M is singular.

    Parameters
    ----------
    lower : ndarray of shape (k,)
        u_E at `to`, in [0, w]. At lambda u is that of the previous lower end, which is
        feasible there as well.
    """
    lam, t = basis.lam[0], record.tally[0]
    if lam - to <= SHORTEST * lam:
        return True
    start, prices = record.starts[t], _combined(of.K, of.rows, basis.E, lower)
    least_cost = least(basis.columns, _reduced(prices, basis.sums, basis.rests, to))
    lams, bounds = (lam, to), (basis.bound[0], _bound(basis.total[0], lower, least_cost, to))
    x, gap = _vertex(of, basis, np.ones(len(lower)), lams, bounds)
    if gap > PERTURBATION:
        other, less = _vertex(of, basis, _entries(basis.rows.base, basis.E, len(x)), lams, bounds)
        if less < gap:
            x, gap = other, less
    if not np.isfinite(x).all():
        return False
    for a in range(len(x)):
        record.J[start + a], record.E[start + a] = basis.J[a], basis.E[a]
        record.x[start + a], record.lower[start + a] = x[a], lower[a]
    record.lam[t], record.gap[t], record.starts[t + 1] = to, gap, start + len(x)
    record.tally[0], basis.bound[0] = t + 1, bounds[1]
    return True


@part
def _flip(of: LinearPathProgram, basis: PathBasis, record: Record, r: int) -> None:
    """Move row r into L, or out of L, and record the flip."""
    _toggle(of, basis, r)
    record.flips[record.tally[1]], record.at[record.tally[1]] = r, record.tally[0]
    record.tally[1] += 1


@jit
def _column_met(J: Index, x: Array, way: Array, bias: int) -> tuple[float, int]:
    """Return the step along an edge at which the first x_J is 0, and its number.

    The bias is excluded. If there is none, return infinity and -1.
    """
    step, leaving = np.inf, -1
    for a in range(len(x)):
        if J[a] < bias and way[a] < -NEGLIGIBLE and max(x[a], 0.0) < step * -way[a]:
            step, leaving = max(x[a], 0.0) / -way[a], a
    return step, leaving


@part
def _pivot(
    of: LinearPathProgram, basis: PathBasis, record: Record, column: int, row: int, p: Array
) -> bool:
    """Exchange a column or row of the basis; return False if no variable leaves.

    Either a column enters or a row of E leaves, whichever is not -1. In exchange, the
    first column whose x becomes 0 leaves, or the first row whose margin becomes 1
    enters.
    """
    entering, up = column >= 0, column >= 0 or p[row] > 0.0
    size, J, bias = basis.M.size[0], basis.J, len(of.columns.i)
    right = -_column(of, basis.E, column, size) if entering else np.zeros(size)
    if not entering:
        right[row] = 1.0 if up else -1.0
    way, x = _solution(basis.M, right), _solution(basis.M, _entries(basis.rows.base, basis.E, size))
    # Ratio test: the first x_J that becomes 0, or the first row that meets its margin.
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
    """Follow the path for as many pivots as `record` can contain.

    Parameters
    ----------
    of, basis : LinearPathProgram, PathBasis
        Program and current basis; the basis changes in place.
    record : Record
        Record; written.
    lambda_min : float
        Lambda at which the path ends.

    Returns
    -------
    int
        ENDED or SINGULAR, or RUNNING if more pivots are possible.
    """
    record.tally[:] = 0
    for pivots in range(len(record.lam)):
        if pivots % BETWEEN_FACTORISATIONS == 0:
            _refactor(of, basis)
        u, p = _multipliers(of, basis)
        if not (np.isfinite(u).all() and np.isfinite(p).all()):
            return SINGULAR
        w = _entries(of.w, basis.E, len(u))
        step, column, row = _due(of, basis, u, p, w)
        # lambda - step as the sum of two floats, `due` and `rest`.
        rounded = basis.lam[0] - step
        rest = ((basis.lam[0] - rounded) - step) + basis.lam[1]
        due = rounded + rest
        rest -= due - rounded
        if due <= max(lambda_min, basis.next_to_0):
            step, due, rest = basis.lam[0] - lambda_min, lambda_min, 0.0
        if not _written(of, basis, record, np.minimum(np.maximum(u - step * p, 0.0), w), due):
            return SINGULAR
        basis.lam[0], basis.lam[1] = due, rest
        if due <= lambda_min:
            return ENDED
        if not _pivot(of, basis, record, column, row, p):
            return SINGULAR
    return RUNNING
