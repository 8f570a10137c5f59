"""The parametric simplex method along the path of a one-norm program, from one basis to the next.

    min  lambda c'x + 1'xi    s.t.  B x + xi >= 1,  x, xi >= 0          c = 1;  a free bias is one more column of B, s, which costs nothing
    max  1'u                  s.t.  B'u <= lambda c,  0 <= u <= 1

A basis has columns J and as many rows E, whose margins are 1: with M = B[E, J]

    x_J = M^-1 1,     u = 1 on the rows L with slack,  0 on the rows beyond the margin,     u_E = lambda p - q,
    p = M^-T c_J,     q = M^-T (B[L]'1)_J,     reduced costs  lambda s_j - o_j,   s = c - B[E]'p,   o = B[L]'1 - B[E]'q.

As lambda falls the basis stays optimal until a reduced cost falls below 0, so that its column enters, or an entry of u_E leaves [0, 1], so
that its row leaves E. x then jumps along an edge, until an x_j is 0 or another row meets its margin; x is constant in between. M is kept as
its QR factors, which lose and gain a row and a column with a pivot (`factor.py`). B is never formed: a product with it is one with K and
one with A.

Several rows or columns may be due at once. The right-hand side 1 is perturbed by random numbers of size PERTURBATION for the choice of what
leaves; every pivot then lowers the sum of slacks, and no basis comes twice. What is written down is computed with 1 itself.

Source: T. Gass, T. Saaty, The computational algorithm for the parametric objective function (1955); S. Rosset, J. Zhu, Piecewise linear
regularized solution paths (2007), for the paths; the linear programs are those of T (94)-(96), (102)-(104).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.solvers.path.linear.factor import Index, add_column, add_row, drop_column, drop_row, solved, solved_transposed

PERTURBATION = 1e-9
"""Size of the random numbers that are added to the right-hand side 1, without a unit: well above what rounding makes of a margin."""
NEGLIGIBLE = 1e-11
"""Entries of a pivot's row or column that count as 0, in the unit of K."""
BETWEEN_FACTORISATIONS = 60
"""Pivots after which M is factorised anew, and margins are computed anew."""

RUNNING, ENDED, SINGULAR = 0, 1, 2
"""What a round of pivots ended with: more are possible, lambda_min was reached, or no step is possible in float64."""
SHORTEST = 1e-12
"""Length of the shortest interval of lambda that is written down, over lambda."""


class Columns(NamedTuple):
    """The numbers of a program; the points of a row, and of a column over rows, end with the origin, whose kernel values are 0.

    K : (m + 1, m + 1).  i, j, sign : (p,) row r of B x is sign_r (f(x_i) - f(x_j)).
    ci, cj, csign : (n,) f of column k is csign_k (k(x_ci, .) - k(x_cj, .)).  s : (p,) the column of the bias; (0,) without one.
    """

    K: Array
    i: Index
    j: Index
    sign: Array
    ci: Index
    cj: Index
    csign: Array
    s: Array


class Basis(NamedTuple):
    """The present basis; the arrays change in place.

    J, E : (capacity,) columns, n for the bias, and rows.  size : (2,) how many rows and columns.  Q, R : (capacity, capacity) factors of M.
    low : (p,) which rows are in L.  place : (n + 1,) whether a column is in J.  tight : (p,) whether a row is in E.
    sums : (m + 1,) K A'1_L, and last the sum of s over L.  rhs : (p,) the perturbed 1.  margins : (p,) B x there.  lam : (1,) lambda.
    """

    J: Index
    E: Index
    size: Index
    Q: Array
    R: Array
    low: NDArray[np.bool_]
    place: NDArray[np.bool_]
    tight: NDArray[np.bool_]
    sums: Array
    rhs: Array
    margins: Array
    lam: Array


@jit
def _entry(of: Columns, r: int, k: int) -> float:
    """B[r, k]."""
    if k == len(of.ci):
        return float(of.s[r])
    a, b = of.ci[k], of.cj[k]
    return float(of.sign[r] * of.csign[k] * (of.K[of.i[r], a] - of.K[of.j[r], a] - of.K[of.i[r], b] + of.K[of.j[r], b]))


@jit
def _decision(of: Columns, basis: Basis, x: Array) -> Array:
    """f at the points for coefficients of the columns J, the origin's last entry being the bias, (m + 1,)."""
    f, bias, m = np.zeros(len(of.K)), 0.0, len(of.K) - 1
    for a in range(len(x)):
        k = basis.J[a]
        if k == len(of.ci):
            bias = x[a]
        else:
            f += (of.csign[k] * x[a]) * of.K[of.ci[k]]
            if of.cj[k] < m:
                f -= (of.csign[k] * x[a]) * of.K[of.cj[k]]
    f[m] = bias
    return f


@jit
def _margin(of: Columns, f: Array, r: int) -> float:
    """(B x)_r from what `_decision` returns."""
    m = len(f) - 1
    far = f[of.j[r]] if of.j[r] < m else 0.0
    return float(of.sign[r] * (f[of.i[r]] - far) + (of.s[r] * f[m] if len(of.s) else 0.0))


@jit
def _sums(of: Columns, basis: Basis, y: Array) -> Array:
    """K A_E'y at the points, the origin's last entry being s_E'y, (m + 1,)."""
    g, m, balance = np.zeros(len(of.K)), len(of.K) - 1, 0.0
    for e in range(len(y)):
        r = basis.E[e]
        g += (of.sign[r] * y[e]) * of.K[of.i[r]]
        if of.j[r] < m:
            g -= (of.sign[r] * y[e]) * of.K[of.j[r]]
        balance += of.s[r] * y[e] if len(of.s) else 0.0
    g[m] = balance
    return g


@jit
def _price(of: Columns, g: Array, k: int) -> float:
    """The entry k of B'y from what `_sums` returns."""
    m = len(g) - 1
    if k == len(of.ci):
        return float(g[m])
    far = g[of.cj[k]] if of.cj[k] < m else 0.0
    return float(of.csign[k] * (g[of.ci[k]] - far))


@jit
def _toggle(of: Columns, basis: Basis, r: int) -> None:
    """Row r comes into L, or goes out of it."""
    m, way = len(of.K) - 1, -1.0 if basis.low[r] else 1.0
    basis.low[r] = not basis.low[r]
    basis.sums[:] += (way * of.sign[r]) * of.K[of.i[r]]
    if of.j[r] < m:
        basis.sums[:] -= (way * of.sign[r]) * of.K[of.j[r]]
    if len(of.s):
        basis.sums[m] += way * of.s[r]


@jit
def _drop(basis: Basis, number: int) -> None:
    """A column of J goes."""
    basis.place[basis.J[number]] = False
    for a in range(number, basis.size[1] - 1):
        basis.J[a] = basis.J[a + 1]
    drop_column(basis.Q, basis.R, basis.size, number)


@jit
def _join(of: Columns, basis: Basis, k: int) -> None:
    """Column k joins J."""
    column = np.empty(basis.size[0])
    for e in range(basis.size[0]):
        column[e] = _entry(of, basis.E[e], k)
    basis.J[basis.size[1]], basis.place[k] = k, True
    add_column(basis.Q, basis.R, basis.size, column)


@jit
def _release(basis: Basis, number: int) -> None:
    """A row of E goes."""
    basis.tight[basis.E[number]] = False
    for e in range(number, basis.size[0] - 1):
        basis.E[e] = basis.E[e + 1]
    drop_row(basis.Q, basis.R, basis.size, number)


@jit
def _tighten(of: Columns, basis: Basis, r: int) -> None:
    """Row r joins E."""
    row = np.empty(basis.size[1])
    for a in range(basis.size[1]):
        row[a] = _entry(of, r, basis.J[a])
    basis.E[basis.size[0]], basis.tight[r] = r, True
    add_row(basis.Q, basis.R, basis.size, row)


@jit
def _refined(of: Columns, basis: Basis, right: Array, transposed: bool) -> Array:
    """M^-1 right, or M^-T right, with one step of refinement."""
    k = basis.size[0]
    y = solved_transposed(basis.Q, basis.R, basis.size, right) if transposed else solved(basis.Q, basis.R, basis.size, right)
    rest = right.copy()
    for e in range(k):
        for a in range(k):
            v = _entry(of, basis.E[e], basis.J[a])
            if transposed:
                rest[a] -= v * y[e]
            else:
                rest[e] -= v * y[a]
    more = solved_transposed(basis.Q, basis.R, basis.size, rest) if transposed else solved(basis.Q, basis.R, basis.size, rest)
    return y + more


@jit
def _perturbed(basis: Basis) -> Array:
    """The perturbed right-hand side of the rows E."""
    right = np.empty(basis.size[0])
    for e in range(len(right)):
        right[e] = basis.rhs[basis.E[e]]
    return right


@jit
def _refactor(of: Columns, basis: Basis) -> None:
    """Factorise M anew, and compute the sums over L and the margins anew."""
    k = basis.size[0]
    basis.size[0] = basis.size[1] = 0
    for _ in range(k):
        add_row(basis.Q, basis.R, basis.size, np.empty(0))
    column = np.empty(k)
    for a in range(k):
        for e in range(k):
            column[e] = _entry(of, basis.E[e], basis.J[a])
        add_column(basis.Q, basis.R, basis.size, column)
    weight, m = np.zeros(len(of.K)), len(of.K) - 1
    basis.sums[:] = 0.0
    for r in range(len(of.i)):
        if basis.low[r]:
            weight[of.i[r]] += of.sign[r]
            weight[of.j[r]] -= of.sign[r]
            basis.sums[m] += of.s[r] if len(of.s) else 0.0
    for i in range(m):
        if weight[i] != 0.0:
            basis.sums[:] += weight[i] * of.K[i]
    f = _decision(of, basis, _refined(of, basis, _perturbed(basis), False))
    for r in range(len(of.i)):
        basis.margins[r] = _margin(of, f, r)


class Record(NamedTuple):
    """What a round of pivots writes down of the bases that are optimal on an interval of lambda; the arrays change in place.

    lam, gap : (rounds,) the lower end, and the larger relative gap of the two ends.  starts : (rounds + 1,) where the entries below begin.
    J, E, x, p, q : (entries,) the basis, its x_J, and u_E = lambda p - q.  flips, at : (2 rounds,) rows that came into L or went out of it,
    and before which interval.  tally : (2,) of intervals and of flips.
    """

    lam: Array
    gap: Array
    starts: Index
    J: Index
    E: Index
    x: Array
    p: Array
    q: Array
    flips: Index
    at: Index
    tally: Index


@jit
def _due(of: Columns, basis: Basis, p: Array, q: Array) -> tuple[float, int, float, int, float]:
    """The largest lambda at which a column is due, and the column; the same of a row, by its number in E; and the least reduced cost."""
    gs, go, least = _sums(of, basis, p), _sums(of, basis, q), 0.0
    first, column, second, row = -np.inf, -1, -np.inf, -1
    lam = basis.lam[0]
    for k in range(len(of.ci)):
        s = 1.0 - _price(of, gs, k)
        o = _price(of, basis.sums, k) - _price(of, go, k)
        if lam < np.inf:
            least = min(least, lam * s - o)
        if not basis.place[k] and s > NEGLIGIBLE and o > first * s:
            first, column = o / s, k
    for e in range(len(p)):
        if p[e] > NEGLIGIBLE and q[e] / p[e] > second:
            second, row = q[e] / p[e], e
        elif p[e] < -NEGLIGIBLE and (1.0 + q[e]) / p[e] > second:
            second, row = (1.0 + q[e]) / p[e], e
    return first, column, second, row, least


@jit
def _relative_gap(basis: Basis, x: float, slack: float, p: Array, q: Array, least: float, lam: float) -> float:
    """Primal minus dual at lambda over the primal; u is clipped to [0, 1], and divided by what the least reduced cost says of B'u."""
    if lam <= 0.0 or lam == np.inf:
        return 0.0
    total = 0.0
    for r in range(len(basis.low)):
        total += basis.low[r]
    for e in range(len(p)):
        total += min(max(lam * p[e] - q[e], 0.0), 1.0)
    primal = lam * x + slack
    return (primal - total / (1.0 - least / lam)) / primal if primal > 0.0 else 0.0


@jit
def _written(of: Columns, basis: Basis, record: Record, x: Array, p: Array, q: Array, least: float, to: float) -> None:
    """Write down the interval from lambda down to `to`, if it has a length, with its gap; x is that of 1, not of the perturbed 1."""
    lam, t = basis.lam[0], record.tally[0]
    if lam - to <= SHORTEST * lam and lam < np.inf:
        return
    cost = 0.0
    for a in range(len(x)):
        if basis.J[a] < len(of.ci):
            x[a] = max(x[a], 0.0)
            cost += x[a]
    f, slack = _decision(of, basis, x), 0.0
    for r in range(len(of.i)):
        slack += max(1.0 - _margin(of, f, r), 0.0)
    upper, lower = _relative_gap(basis, cost, slack, p, q, least, lam), _relative_gap(basis, cost, slack, p, q, least, to)
    start = record.starts[t]
    for a in range(len(x)):
        record.J[start + a], record.E[start + a] = basis.J[a], basis.E[a]
        record.x[start + a], record.p[start + a], record.q[start + a] = x[a], p[a], q[a]
    record.lam[t], record.gap[t], record.starts[t + 1] = to, max(upper, lower), start + len(x)
    record.tally[0] = t + 1


@jit
def _flip(of: Columns, basis: Basis, record: Record, r: int) -> None:
    """Row r comes into L, or goes out of it, which is written down."""
    _toggle(of, basis, r)
    record.flips[record.tally[1]], record.at[record.tally[1]] = r, record.tally[0]
    record.tally[1] += 1


@jit
def _edge(of: Columns, basis: Basis, way: Array, entering: int) -> tuple[Array, float, int]:
    """How margins change along an edge, and the step at which the first row meets its margin, and the row; -1 for none.

    way : (k,) how x_J changes.  entering : the column that enters, or -1.
    """
    f = _decision(of, basis, way)
    if entering >= 0:
        f += of.csign[entering] * of.K[of.ci[entering]]
        if of.cj[entering] < len(f) - 1:
            f -= of.csign[entering] * of.K[of.cj[entering]]
    rise, step, met = np.empty(len(of.i)), np.inf, -1
    for r in range(len(rise)):
        rise[r] = _margin(of, f, r)
        if basis.tight[r]:
            continue
        left = basis.rhs[r] - basis.margins[r]
        if basis.low[r] and rise[r] > NEGLIGIBLE and max(left, 0.0) < step * rise[r]:
            step, met = max(left, 0.0) / rise[r], r
        elif not basis.low[r] and rise[r] < -NEGLIGIBLE and min(left, 0.0) > step * rise[r]:
            step, met = min(left, 0.0) / rise[r], r
    return rise, step, met


@jit
def _pivot(of: Columns, basis: Basis, record: Record, column: int, row: int, p: Array) -> bool:
    """Let a column enter, or a row of E go, whichever is not -1, and what meets its end first leave; whether anything does."""
    k, entering = basis.size[0], column >= 0
    right, up = np.zeros(k), entering or p[row] > 0.0
    for e in range(k):
        right[e] = -_entry(of, basis.E[e], column) if entering else 0.0
    if not entering:
        right[row] = 1.0 if up else -1.0
    way = _refined(of, basis, right, False)
    x = _refined(of, basis, _perturbed(basis), False)
    rise, step, met = _edge(of, basis, way, column)
    leaving = -1
    for a in range(k):
        if basis.J[a] < len(of.ci) and way[a] < -NEGLIGIBLE and max(x[a], 0.0) < step * -way[a]:
            step, leaving = max(x[a], 0.0) / -way[a], a
    if step == np.inf:
        return False
    basis.margins[:] += step * rise
    gone = -1 if entering else basis.E[row]
    if leaving >= 0:
        _drop(basis, leaving)
    if not entering:
        _release(basis, row)
    if leaving < 0:
        if basis.low[met]:
            _flip(of, basis, record, met)
        _tighten(of, basis, met)
    if entering:
        _join(of, basis, column)
    elif not up:
        _flip(of, basis, record, gone)
    return True


@jit
def advance(of: Columns, basis: Basis, record: Record, lambda_min: float) -> int:
    """Go on with the path for as many pivots as `record` has room for; ENDED or SINGULAR, or RUNNING if there may be more.

    Parameters
    ----------
    of : the program.  basis : where the path is, which changes.  record : what is written down.  lambda_min : where the path ends.
    """
    record.tally[:] = 0
    for pivots in range(len(record.lam)):
        if pivots % BETWEEN_FACTORISATIONS == 0:
            _refactor(of, basis)
        k = basis.size[0]
        costs, pulls = np.empty(k), np.empty(k)
        for a in range(k):
            costs[a] = 1.0 if basis.J[a] < len(of.ci) else 0.0
            pulls[a] = _price(of, basis.sums, basis.J[a])
        p, q, x = _refined(of, basis, costs, True), _refined(of, basis, pulls, True), _refined(of, basis, np.ones(k), False)
        first, column, second, row, least = _due(of, basis, p, q)
        due = min(max(first, second), basis.lam[0])
        if not (np.isfinite(x).all() and np.isfinite(p).all() and np.isfinite(q).all()):
            return SINGULAR
        _written(of, basis, record, x, p, q, least, max(due, lambda_min))
        basis.lam[0] = max(due, lambda_min)
        if due <= lambda_min:
            return ENDED
        if not _pivot(of, basis, record, column if first >= second else -1, row, p):
            return SINGULAR
    return RUNNING
