"""Kernels, rows, and primal and dual values of a point, in exact rationals.

Tests compare proven bounds with these values.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations import (
    Kernel,
    MarginProblem,
    OneNormProblem,
    Problem,
)
from equimargin.formulations.kernels.chi2 import Chi2
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.kernel import (
    RBF,
    Intercept,
    Linear,
    Multiple,
    Polynomial,
    Product,
    Sum,
)
from equimargin.formulations.kernels.laplacian import Laplacian
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube

Matrix = list[list[Fraction]]
Vector = list[Fraction]
HIGH = Context(prec=60)
SLACK = Fraction(1, 10**9)


# Exact values.


def fractions(values: Any) -> Vector:
    """Return the exact values of floats, as fractions."""
    return [Fraction(float(v)) for v in np.asarray(values, dtype=np.float64).ravel()]


def rational(values: Any) -> Any:
    """Return the exact values of floats as fractions, in an array of the same shape."""
    return np.vectorize(Fraction, otypes=[object])(values)


def inner(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def exponential(exponent: Fraction) -> Fraction:
    """Return exp to 60 digits, and 0 below the smallest double."""
    if exponent < -750:
        return Fraction(0)
    return Fraction(
        HIGH.exp(HIGH.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    )


def root(square: Fraction) -> Fraction:
    """Return the square root to 60 digits."""
    return Fraction(HIGH.sqrt(HIGH.divide(Decimal(square.numerator), Decimal(square.denominator))))


def entry(kernel: Kernel, x: Vector, z: Vector) -> Fraction:
    """Return k(x, z); exponentials and roots have 60 digits."""
    if isinstance(kernel, Intercept):
        return entry(kernel.kernel, x, z) + 1
    if isinstance(kernel, Linear):
        return inner(x, z)
    if isinstance(kernel, Polynomial):
        return (Fraction(kernel.gamma) * inner(x, z) + Fraction(kernel.coef0)) ** kernel.degree
    if isinstance(kernel, Sum):
        return entry(kernel.first, x, z) + entry(kernel.second, x, z)
    if isinstance(kernel, Product):
        return entry(kernel.first, x, z) * entry(kernel.second, x, z)
    if isinstance(kernel, Multiple):
        return Fraction(kernel.factor) * entry(kernel.kernel, x, z)
    if isinstance(kernel, Laplacian | Chi2):
        terms = [
            abs(a - b) if isinstance(kernel, Laplacian) else (a - b) ** 2 / (a + b)
            for a, b in zip(x, z, strict=True)
            if a != b
        ]
        return exponential(-Fraction(kernel.gamma) * sum(terms, Fraction(0)))
    assert isinstance(kernel, RBF | Exponential)
    difference = [a - b for a, b in zip(x, z, strict=True)]
    square = inner(difference, difference)
    return exponential(
        -Fraction(kernel.gamma) * (square if isinstance(kernel, RBF) else root(square))
    )


def gram(kernel: Kernel, X: Any) -> Matrix:
    """Return K, (m, m)."""
    points = [fractions(row) for row in X]
    return [[entry(kernel, x, z) for z in points] for x in points]


def exact_rows(problem: Problem) -> tuple[Matrix, Vector, Vector]:
    """Return A, t and s from labels, targets and pairs."""
    rows, m = problem.rows, problem.m
    zero = [Fraction(0)] * m

    def row(**entries: int) -> Vector:
        return [Fraction(entries.get(f"e{i}", 0)) for i in range(m)]

    if isinstance(rows, Signed):
        y = fractions(rows.y)
        return (
            [[y[i] if i == j else zero[j] for j in range(m)] for i in range(m)],
            [Fraction(1)] * m,
            y,
        )
    if isinstance(rows, Tube):
        y, epsilon = fractions(rows.y), Fraction(rows.epsilon)
        above = [row(**{f"e{i}": 1}) for i in range(m)]
        below = [row(**{f"e{i}": -1}) for i in range(m)]
        t = [v - epsilon for v in y] + [-v - epsilon for v in y]
        return above + below, t, [Fraction(1)] * m + [Fraction(-1)] * m
    if isinstance(rows, Levels):
        y = fractions(rows.y)
        s = [Fraction(1 if y[i] > k else -1) for k in range(rows.T) for i in range(m)]
        return [row(**{f"e{r % m}": int(s[r])}) for r in range(len(s))], [Fraction(1)] * len(s), s
    assert isinstance(rows, Pairs)
    A = [
        row(**{f"e{i}": 1, f"e{j}": -1})
        for i, j in zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)
    ]
    return A, [Fraction(1)] * len(A), [Fraction(0)] * len(A)


def apply(M: Matrix, v: Vector) -> Vector:
    return [inner(row, v) for row in M]


def transposed(M: Matrix, v: Vector, size: int) -> Vector:
    return [sum((M[r][i] * v[r] for r in range(len(M))), Fraction(0)) for i in range(size)]


def exact_costs(problem: Problem) -> Vector:
    """Return the finite costs c_r = C weight_r, exactly."""
    if problem.weights is None:
        return [Fraction(problem.C)] * problem.p
    return [Fraction(problem.C) * Fraction(weight) for weight in problem.unit_weights.tolist()]


def exact_bias(b: Any) -> Vector:
    """Return a bias, or thresholds, as fractions."""
    return [Fraction(float(v)) for v in np.atleast_1d(0.0 if b is None else b)]


def exact_primal(
    problem: MarginProblem, f: Vector, norm2: Fraction, b: Fraction | Vector
) -> Fraction:
    """Return the primal value 1/2 |f|^2 + C sum_r loss(t_r - (A f)_r - b s_r).

    With several thresholds b is a vector, of which row r uses its threshold.
    """
    A, t, s = exact_rows(problem)
    bias = b if isinstance(b, list) else [b]
    k = [r // problem.m if len(bias) > 1 else 0 for r in range(len(A))]
    losses = [
        exact_loss(problem, t[r] - inner(A[r], f) - (bias[k[r]] * s[r] if problem.bias else 0))
        for r in range(len(A))
    ]
    return norm2 / 2 + inner(exact_costs(problem), losses)


def exact_loss(problem: MarginProblem, u: Fraction) -> Fraction:
    """Return loss(u), the huberised hinge by its three pieces."""
    if problem.delta is None:
        v = max(Fraction(0), u)
        return v if problem.loss == "hinge" else v * v
    slope, z = Fraction(1 / (2 * problem.delta)), u + Fraction(problem.delta)
    return Fraction(0) if z <= 0 else slope * z * z / 2 if slope * z <= 1 else z - 1 / (2 * slope)


def exact_dual(problem: MarginProblem, alpha: Vector) -> tuple[Fraction, Fraction]:
    """Return the dual value and the sum of the absolute values of its terms.

    The value is t'alpha - 1/2 alpha'AKA'alpha [- |alpha|^2 / (4 C)].
    """
    A, t, _ = exact_rows(problem)
    beta = transposed(A, alpha, problem.m)
    norm2 = inner(beta, apply(gram(problem.kernel, problem.X), beta))
    ridge = Fraction(0)
    gain = inner(t, alpha)
    if problem.delta is not None:
        twice_slope = 2 * Fraction(1 / (2 * problem.delta))
        ridge = sum(
            (
                a * a / (twice_slope * c)
                for a, c in zip(alpha, exact_costs(problem), strict=True)
                if a
            ),
            Fraction(0),
        )
        gain += Fraction(problem.delta) * sum(alpha, Fraction(0))
    if problem.loss == "squared_hinge":
        ridge = sum(
            (a * a / (4 * c) for a, c in zip(alpha, exact_costs(problem), strict=True) if a),
            Fraction(0),
        )
    return gain - norm2 / 2 - ridge, sum(
        (abs(a * b) for a, b in zip(t, alpha, strict=True)), Fraction(0)
    ) + norm2 / 2 + ridge


def size_of_terms(problem: Problem, beta: Vector, costs: Vector, b: Fraction | Vector) -> Fraction:
    """Return a bound of the sum of the absolute values of the primal value's terms."""
    A, t, _ = exact_rows(problem)
    X = np.abs(problem.X)
    K = gram(problem.kernel, X)
    size = [abs(v) for v in beta]
    reach, most = apply(K, size), max(map(abs, b if isinstance(b, list) else [b]))
    rows = [
        abs(t[r]) + sum((abs(a) * f for a, f in zip(A[r], reach, strict=True)), Fraction(0)) + most
        for r in range(len(A))
    ]
    power = 2 if getattr(problem, "loss", "hinge") == "squared_hinge" else 1
    return inner(size, reach) + inner(costs, [v**power for v in rows]) + sum(size, Fraction(0))


def slack(problem: Problem) -> Fraction:
    """Return the distance that a bound may have from the exact value.

    It is relative to the sum of the absolute values of the terms, and larger where
    |x - z|^2 of an RBF kernel cancels.
    """
    gamma = problem.kernel.gamma if isinstance(problem.kernel, RBF) else 0.0
    return SLACK * (1 + Fraction(gamma * float(np.abs(problem.X).max()) ** 2))


def is_positive_semidefinite(K: Matrix) -> bool:
    """Return True if exact symmetric elimination finds K positive semidefinite.

    Every pivot must be >= 0, and the column below a zero pivot zero.
    """
    K = [row[:] for row in K]
    n = len(K)
    for k in range(n):
        if K[k][k] < 0 or (K[k][k] == 0 and any(K[i][k] != 0 for i in range(k, n))):
            return False
        for i in range(k + 1, n):
            if K[i][k] != 0:
                ratio = K[i][k] / K[k][k]
                for j in range(k + 1, n):
                    K[i][j] -= ratio * K[k][j]
    return True


def exact_margins(problem: OneNormProblem, x: Vector, b: Fraction = Fraction(0)) -> Vector:
    """Return B x + b s."""
    A, _, s = exact_rows(problem)
    beta = x if problem.over == "points" else transposed(A, x, problem.m)
    return [
        v + b * sign
        for v, sign in zip(apply(A, apply(gram(problem.kernel, problem.X), beta)), s, strict=True)
    ]


def exact_prices(problem: OneNormProblem, u: Vector) -> Vector:
    """Return B'u."""
    A, _, _ = exact_rows(problem)
    prices = apply(gram(problem.kernel, problem.X), transposed(A, u, problem.m))
    return prices if problem.over == "points" else apply(A, prices)
