"""Optima of one and two points in closed form, in rational numbers.

They are the reference for proven intervals and exact optima. In most of these problems
the multipliers are a d for one direction d, and with D = |A'd|_K^2,

    max  t a - 1/2 (D + r) a^2   s.t.  0 <= a <= c
    a = min(c, t / (D + r)),   0 where t <= 0,   unbounded where D + r = 0, c = inf

    one point, no bias        t = 1    D = K_11                   r = 1 / (2 c_1)
    one pair of a ranking     t = 1    D = K_ii + K_jj - 2 K_ij   r = 1 / (2 c)
    two classes, with a bias  t = 2    D = K_11 + K_22 - 2 K_12   c = min(c_1, c_2)
                                       r = 1 / (2 c_1) + 1 / (2 c_2)
    a tube of two points      t = |y_1 - y_2| - 2 epsilon, the rest as two classes

r is for the squared hinge, where c is infinite, and 0 otherwise. Two points without a
bias have two multipliers: each is 0, at its upper bound or in between, and one of these
nine cases satisfies all conditions of the optimum. One pair of a linear program has
u = min(C, 1 / largest entry of B), with the dual constraint B'u <= 1. Any other problem
of one or two points has the optimum 0, which its bias attains.

The values of an RBF and a Laplacian kernel are enclosed by ball arithmetic; the optimum
decreases as the distance of x and z increases, for any labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import inf
from typing import Any

from campaigns.exact.nightly import kernel_matrix
from equimargin.formulations import Kernel, MarginProblem, OneNormProblem, Problem
from equimargin.formulations.kernels.kernel import RBF, Intercept, Linear, Polynomial, Precomputed
from equimargin.formulations.kernels.laplacian import Laplacian
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from narrow import present
from oracles.rationals import entry, fractions

EXPONENTIAL_BITS = 8000
"""Precision of an exponential, in bits.

It is more than twice the binary places of the smallest gamma |x - z|^2 of floats.
"""
SMALLEST_EXPONENT = 5000
"""Largest x for which exp(-x) is computed; for a larger x it is in [0, 2^-7000]."""

Cost = Fraction | None
"""Number; None is infinity."""
Matrix = list[list[Fraction]]
Found = tuple[Cost, list[Fraction]]
"""Optimum, None for infinity, and multipliers that attain it."""
ZERO = Fraction(0)


@dataclass(frozen=True)
class ClosedForm:
    """Bounds lower <= optimum <= upper, equal except for an exponential; None is infinity.

    The multipliers `alpha`, shape (p,), have one of them as their dual value.
    """

    lower: Cost
    upper: Cost
    alpha: list[Fraction]


def closed_form(problem: Problem) -> ClosedForm | None:
    """Return the optimum of a problem of one or two points, or of one pair.

    None for a larger problem, and for a nonconvex one.
    """
    of_pairs = isinstance(problem.rows, Pairs)
    small = problem.p <= 1 if of_pairs else problem.m <= 2
    if not small or not problem.convex or not _closed(problem.kernel):
        return None
    ends = [
        _optimum(problem, _matrix(problem, end))
        for end in ((0, 1) if _rounded(problem.kernel) else (0,))
    ]
    values = [value for value, _ in ends]
    infinite = None in values
    known = [value for value in values if value is not None]
    return ClosedForm(min(known) if known else None, None if infinite else max(known), ends[0][1])


# Kernels.


def kernel_value(kernel: Kernel, x: list[Fraction], z: list[Fraction], end: int) -> Fraction:
    """Return k(x, z), or the lower (0) or upper (1) end of its enclosure."""
    if isinstance(kernel, Intercept):
        return kernel_value(kernel.kernel, x, z, end) + 1
    if isinstance(kernel, RBF | Laplacian):
        differences = [abs(a - b) for a, b in zip(x, z, strict=True)]
        power = 2 if isinstance(kernel, RBF) else 1
        distance = sum((difference**power for difference in differences), ZERO)
        return exponential(Fraction(kernel.gamma) * distance)[end]
    return entry(kernel, x, z)


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return an enclosure of exp(-x), x >= 0, within [0, 1]."""
    from flint import arb, ctx, fmpq

    if x == 0:
        return Fraction(1), Fraction(1)
    if x > SMALLEST_EXPONENT:
        return ZERO, Fraction(1, 2**7000)
    before, ctx.prec = ctx.prec, EXPONENTIAL_BITS
    try:
        ball = (-arb(fmpq(x.numerator, x.denominator))).exp()
        low, high = (_dyadic(*end.man_exp()) for end in (ball.lower(), ball.upper()))
    finally:
        ctx.prec = before
    return max(low, ZERO), min(high, Fraction(1))


def _dyadic(mantissa: Any, exponent: Any) -> Fraction:
    m, e = int(mantissa), int(exponent)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


def _closed(kernel: Kernel) -> bool:
    inner = kernel.kernel if isinstance(kernel, Intercept) else kernel
    return isinstance(inner, Linear | Polynomial | RBF | Laplacian | Precomputed)


def _rounded(kernel: Kernel) -> bool:
    return isinstance(kernel, RBF | Laplacian) or (
        isinstance(kernel, Intercept) and _rounded(kernel.kernel)
    )


def _matrix(problem: Problem, end: int) -> Matrix:
    """Return K, or the lower (0) or upper (1) end of its enclosure."""
    X, shift = [fractions(row) for row in dense(problem.X)], Fraction(problem.gram.shift)
    return kernel_matrix(problem.kernel, X, shift, partial(kernel_value, end=end))


# The cases.


def _optimum(problem: Problem, K: Matrix) -> Found:
    rows, p = problem.rows, problem.p
    if isinstance(rows, Pairs):
        if p == 0:
            return ZERO, []
        i, j = int(rows.preferred[0]), int(rows.other[0])
        if isinstance(problem, OneNormProblem):
            return _one_price(problem, K, i, j)
        return _one_multiplier(Fraction(1), _distance(K, i, j), *_cost(problem, 0))
    if isinstance(problem, OneNormProblem):
        return _prices_of_points(problem, K)
    if isinstance(rows, Tube):
        return _tube(problem, rows, K)
    assert isinstance(rows, Signed)
    if problem.bias:
        if problem.m == 1 or rows.y[0] == rows.y[1]:
            return ZERO, [ZERO] * p
        value, alpha = _one_multiplier(Fraction(2), _distance(K, 0, 1), *_both(problem, 0, 1))
        return value, alpha * 2
    if problem.m == 1:
        return _one_multiplier(Fraction(1), K[0][0], *_cost(problem, 0))
    return _two_multipliers(problem, K, int(rows.y[0] * rows.y[1]))


def _tube(problem: MarginProblem, rows: Tube, K: Matrix) -> Found:
    alpha = [ZERO] * problem.p
    if problem.m == 1:
        return ZERO, alpha
    y = [Fraction(v) for v in rows.y.tolist()]
    high, low = (0, 1) if y[0] > y[1] else (1, 0)
    target = y[high] - y[low] - 2 * Fraction(rows.epsilon)
    value, (a,) = _one_multiplier(target, _distance(K, 0, 1), *_both(problem, high, low + 2))
    alpha[high] = alpha[low + 2] = a
    return value, alpha


def _one_price(problem: OneNormProblem, K: Matrix, i: int, j: int) -> Found:
    C = present(_cost(problem, 0)[0])
    prices = (
        [_distance(K, i, j)]
        if problem.over == "rows"
        else [K[k][i] - K[k][j] for k in range(problem.m)]
    )
    u = min([C, *(1 / price for price in prices if price > 0)])
    return u, [u]


def _prices_of_points(problem: OneNormProblem, K: Matrix) -> Found:
    """Return the optimum of a one-norm problem of one point or two.

    With a bias the multipliers are equal if the labels differ, and 0 otherwise; without
    a bias they are a vertex of the feasible set.
    """
    y = [int(sign) for sign in problem.rows.s]
    C = [present(_cost(problem, r)[0]) for r in range(problem.p)]
    if not problem.bias and problem.m == 2:
        k = y[0] * y[1] * K[0][1]
        lines = [
            (K[0][0], k, Fraction(1)),
            (k, K[1][1], Fraction(1)),
            (Fraction(1), ZERO, C[0]),
            (ZERO, Fraction(1), C[1]),
        ]
        u = max(_corners([*lines, (Fraction(-1), ZERO, ZERO), (ZERO, Fraction(-1), ZERO)]), key=sum)
    elif not problem.bias:
        u = [min([*C, *(1 / price for price in (K[0][0],) if price > 0)])]
    elif problem.m == 1 or y[0] == y[1]:
        u = [ZERO] * problem.m
    else:
        u = [
            min([*C, *(1 / price for price in (K[0][0] - K[0][1], K[1][1] - K[0][1]) if price > 0)])
        ] * 2
    return sum(u, ZERO), u


def _corners(lines: list[tuple[Fraction, Fraction, Fraction]]) -> Iterator[list[Fraction]]:
    """Yield the vertices of the set of (v, w) with a v + b w <= c for all (a, b, c)."""
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if a * e != b * d:
            v, w = (c * e - b * f) / (a * e - b * d), (a * f - c * d) / (a * e - b * d)
            if all(g * v + h * w <= i for g, h, i in lines):
                yield [v, w]


def _distance(K: Matrix, i: int, j: int) -> Fraction:
    return K[i][i] + K[j][j] - 2 * K[i][j]


def _cost(problem: Problem, r: int) -> tuple[Cost, Fraction]:
    """Return the upper bound of a row's multiplier, and the term added to the diagonal.

    The term is 1 / (2 c) for the squared hinge.
    """
    weight = 1.0 if problem.weights is None else float(problem.weights[_group(problem, r)])
    if weight == 0:
        return ZERO, ZERO
    if inf in (weight, problem.C):
        return None, ZERO
    c = Fraction(problem.C) * Fraction(weight)
    return (None, 1 / (2 * c)) if problem.phi.is_smooth else (c, ZERO)


def _group(problem: Problem, r: int) -> int:
    """Return the index of a row's weight: its own, or that of its pair's query."""
    if not isinstance(problem.rows, Pairs):
        return r
    assert problem.rows.query is not None
    return int(problem.rows.query[problem.rows.preferred[r]])


def _both(problem: MarginProblem, r: int, q: int) -> tuple[Cost, Fraction]:
    """Return the upper bound and the diagonal term of two equal multipliers."""
    (c, ridge), (d, other) = _cost(problem, r), _cost(problem, q)
    ends = [end for end in (c, d) if end is not None]
    return min(ends) if ends else None, ridge + other


def _one_multiplier(t: Fraction, D: Fraction, c: Cost, ridge: Fraction) -> Found:
    """Solve max t a - 1/2 (D + ridge) a^2 over 0 <= a <= c."""
    q = D + ridge
    if t <= 0 or c == 0:
        return ZERO, [ZERO]
    if q == 0:
        return (None, [Fraction(1)]) if c is None else (t * c, [c])
    a = t / q if c is None else min(t / q, c)
    return t * a - q * a**2 / 2, [a]


def _two_multipliers(problem: MarginProblem, K: Matrix, sign: int) -> Found:
    """Solve max a_1 + a_2 - 1/2 a'H a over two ranges.

    The solution is the case that meets every condition of the optimum.
    """
    (c, r), (d, q) = _cost(problem, 0), _cost(problem, 1)
    H, ends = [[K[0][0] + r, sign * K[0][1]], [sign * K[0][1], K[1][1] + q]], (c, d)
    for case in product(("free", "lower", "upper"), repeat=2):
        a = _stationary(H, ends, case)
        if a is not None and all(
            _optimal(1 - H[i][0] * a[0] - H[i][1] * a[1], a[i], ends[i]) for i in range(2)
        ):
            return (a[0] + a[1]) - (
                H[0][0] * a[0] ** 2 + 2 * H[0][1] * a[0] * a[1] + H[1][1] * a[1] ** 2
            ) / 2, a
    # No case is optimal: the dual is unbounded.
    return None, [ZERO, ZERO]


def _stationary(H: Matrix, ends: tuple[Cost, Cost], case: tuple[str, ...]) -> list[Fraction] | None:
    """Return multipliers at their bounds or, where free, with gradient 0.

    Return None if there is no such point, or more than one.
    """
    a, free = [ZERO, ZERO], [i for i in range(2) if case[i] == "free"]
    for i in range(2):
        if case[i] == "upper":
            end = ends[i]
            if end is None:
                return None
            a[i] = end
    if len(free) == 2:
        det = H[0][0] * H[1][1] - H[0][1] ** 2
        return [(H[1][1] - H[0][1]) / det, (H[0][0] - H[0][1]) / det] if det else None
    for i in free:
        if H[i][i] == 0:
            return None
        a[i] = (1 - H[i][1 - i] * a[1 - i]) / H[i][i]
    return a


def _optimal(gradient: Fraction, a: Fraction, end: Cost) -> bool:
    """Return True if a is within its bounds and its gradient 0 or pointing outwards."""
    if a < 0 or (end is not None and a > end):
        return False
    return gradient == 0 or (gradient < 0 and a == 0) or (gradient > 0 and a == end)
