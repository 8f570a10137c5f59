"""A problem in integers. Every float is a dyadic rational, and so a problem in floats with a rational kernel is a rational problem.

    K = Z / unit,   t = T / unit,   1 / (2 c) = D / unit          Z, T, D integer, one unit for all

Linear and polynomial kernels, with an intercept or without, are evaluated exactly; a
given Gram matrix is the given numbers. Costs are the exact products C x weight, targets
of a tube the exact differences y - epsilon and -y - epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.gram import proven_shift
from equimargin.formulations.kernels.kernel import (
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    precomputed,
)
from equimargin.formulations.numeric.arrays import Array, Features, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import regular_solution
from equimargin.solvers.exact.program.semidefinite import has_no_negative_eigenvalue

Integers = NDArray[Any]
"""An array of Python's integers."""
Fractions = NDArray[Any]
"""An array of Fractions."""
CHARACTERISTIC_POINTS = 60
"""Points of the largest given matrix whose characteristic polynomial is computed, in a second or two in which no interrupt is noticed.

A larger one is left to Rump's test.
"""


def given_gram(problem: Problem) -> Problem:
    """The same problem with its float64 Gram matrix as the given one: how a problem with an RBF kernel gets an exact optimum.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.

    Returns
    -------
    Its kernel is `precomputed()`; whatever shift the matrix needs is part of the problem. A linear program needs none.
    """
    K = problem.gram.dense
    K = (K + K.T) / 2
    shift = 0.0 if isinstance(problem, OneNormProblem) else proven_shift(K)
    return replace(problem, X=K, kernel=precomputed(), shift=shift, feature_names=None)


@dataclass(frozen=True, eq=False)
class IntegerProblem:
    """A problem in integers.

    Parameters
    ----------
    K : Integers of shape (m, m)
        Z.
    unit : int
        The denominator.
    index, entry : NDArray[np.int64] of shape (p, k)
        The points of a row and their entries in A, k = 1 or 2.
    t : Integers of shape (p,)
        T.
    s : Integers of shape (p,)
        Signs of the bias, zeros without one.
    ridge : Integers of shape (p,)
        D, 0 where alpha_r^2 costs nothing.
    box : list[Fraction | None] of shape (p,)
        Upper ends of alpha, Fractions, None where there is none.
    """

    K: Integers
    unit: int
    index: NDArray[np.int64]
    entry: NDArray[np.int64]
    t: Integers
    s: Integers
    ridge: Integers
    box: list[Fraction | None]

    @property
    def m(self) -> int:
        """Number of points."""
        return len(self.K)

    @property
    def p(self) -> int:
        """Number of rows."""
        return len(self.index)

    @cached_property
    def biased(self) -> bool:
        """Whether there is a bias: then every row has a sign."""
        return bool(self.s.any())

    @cached_property
    def targets(self) -> Fractions:
        """t, (p,), as Fractions."""
        return as_fractions([Fraction(v, self.unit) for v in self.t])

    @cached_property
    def _matrix(self) -> Any:
        from flint import fmpz_mat

        return fmpz_mat(self.m, self.m, self.K.ravel().tolist())

    def product(self, beta: Integers) -> Integers:
        """Z beta, (m,), for integers beta (m,)."""
        from flint import fmpz_mat

        return as_integers((self._matrix * fmpz_mat(self.m, 1, beta.tolist())).entries())

    def pulled(self, alpha: Fractions) -> Fractions:
        """Return A'alpha, (m,), for Fractions alpha (p,)."""
        values, den = to_common_denominator(alpha)
        return as_fractions([Fraction(v, den) for v in self.rdot(values).tolist()])

    def values(self, beta: Fractions) -> Fractions:
        """Return K beta, (m,), for Fractions beta (m,)."""
        integers, den = to_common_denominator(beta)
        return as_fractions([Fraction(v, den * self.unit) for v in self.product(integers).tolist()])

    def times(self, M: Integers) -> Integers:
        """M Z, (k, m), for integers M (k, m)."""
        from flint import fmpz_mat

        return as_integers(
            (fmpz_mat(*M.shape, M.ravel().tolist()) * self._matrix).entries()
        ).reshape(M.shape)

    def dot(self, f: Integers) -> Integers:
        """A f, (p,), for integers or Fractions f (m,)."""
        return np.asarray((self.entry * f[self.index]).sum(axis=1))

    def rdot(self, alpha: Integers) -> Integers:
        """A'alpha, (m,), for alpha (p,)."""
        beta, used = np.zeros(self.m, dtype=object), np.flatnonzero(alpha)
        np.add.at(beta, self.index[used], self.entry[used] * alpha[used, None])
        return beta

    def block(self, rows: Any, columns: Any) -> Integers:
        """The integers of (A K A' + diag(1 / (2 c)))[rows, columns], (r, c)."""
        H: Integers = np.zeros((len(rows), len(columns)), dtype=object)
        for i, a in zip(self.index[rows].T, self.entry[rows].T, strict=True):
            for j, b in zip(self.index[columns].T, self.entry[columns].T, strict=True):
                H += np.multiply.outer(a, b) * self.K[np.ix_(i, j)]
        return H + np.where(np.equal.outer(rows, columns), self.ridge[columns], 0)


def integral(problem: Problem) -> IntegerProblem:
    """A problem's numbers in integers.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem with a rational kernel; for the latter t = 1 and
        the box is C.
    """
    K, denominator = gram_in_integers(problem.kernel, problem.X, problem.shift or 0.0)
    rows, p = problem.rows, problem.p
    A = rows.matrix
    k = 1 if p == 0 else A.nnz // p
    t, s = _targets(problem), problem.bias_signs
    if isinstance(problem, OneNormProblem):
        box: list[Fraction | None] = [Fraction(problem.C)] * p
        ridge = [Fraction(0)] * p
    else:
        costs = _costs(problem)
        box = [cost if problem.loss == "hinge" or cost == 0 else None for cost in costs]
        ridge = [1 / (2 * cost) if problem.squared and cost else Fraction(0) for cost in costs]
    unit = lcm(denominator, *{v.denominator for v in t}, *{v.denominator for v in ridge})
    return IntegerProblem(
        K * (unit // denominator),
        unit,
        A.indices.reshape(p, k).astype(np.int64),
        A.data.reshape(p, k).astype(np.int64),
        as_integers([v.numerator * (unit // v.denominator) for v in t]),
        as_integers(s.astype(np.int64).tolist()),
        as_integers([v.numerator * (unit // v.denominator) for v in ridge]),
        box,
    )


def as_integers(values: Any) -> Integers:
    """A list of integers of any kind as an array of Python's own."""
    array = np.empty(len(values), dtype=object)
    array[:] = [int(v) for v in values]
    return array


def fractions(size: int) -> Fractions:
    """Zeros, as Fractions."""
    return as_fractions([Fraction(0)] * size)


def as_fractions(values: Sequence[Fraction]) -> Fractions:
    """An array of Fractions."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def to_common_denominator(values: Fractions) -> tuple[Integers, int]:
    """Integers and their smallest common denominator."""
    den = lcm(*{v.denominator for v in values})
    return as_integers(
        [v.numerator * (den // v.denominator) if v else 0 for v in values.tolist()]
    ), den


def to_dyadic(M: Array) -> tuple[Integers, int]:
    """Integers Z and a power of two with M = Z / power exactly; M any shape, finite."""
    mantissa, exponent = np.frexp(M)
    Z = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.where(Z == 0, 1, Z & -Z)
    exponent = np.where(
        Z == 0,
        0,
        exponent.astype(np.int64) - 53 + np.log2(lowest.astype(np.float64)).astype(np.int64),
    )
    places = max(-int(exponent.min(initial=0)), 0)
    return (Z // lowest).astype(object) << (exponent + places).astype(object), 1 << places


def solve_integer_system(matrix: Integers, right: Sequence[int], clock: Clock) -> list[Fraction]:
    """Return the solution of a system of integers.

    Parameters
    ----------
    matrix : Integers of shape (n, n)
    right : Sequence[int] of shape (n,)
    clock : Clock
        The time limit.

    Raises
    ------
    ZeroDivisionError
        A singular matrix.
    OutOfTime
        It would take too long.
    """
    from flint import fmpz_mat

    bits = max((int(v).bit_length() for v in matrix.ravel()), default=0)
    return regular_solution(fmpz_mat(*matrix.shape, matrix.ravel().tolist()), right, bits, clock)


def null_vector(matrix: Integers) -> list[int] | None:
    """Return the whole numbers v >= 0 with matrix v = 0, not all 0, if these are one vector and its multiples; None otherwise."""
    from flint import fmpz_mat

    rows, columns = matrix.shape
    basis, nullity = fmpz_mat(rows, columns, [int(v) for v in matrix.ravel()]).nullspace()
    if nullity != 1:
        return None
    vector = [int(basis[k, 0]) for k in range(columns)]
    sign = 1 if sum(vector) > 0 else -1
    if min(sign * v for v in vector) < 0:
        return None
    shared = gcd(*vector)
    return [sign * v // shared for v in vector]


def semidefinite(problem: Problem, numbers: IntegerProblem, clock: Clock) -> str:
    """Return the reason, in words, why K is known to be positive semidefinite.

    Parameters
    ----------
    problem : Problem
        Problem with a rational kernel.
    numbers : IntegerProblem
        Its numbers.
    clock : Clock
        Time limit.

    Raises
    ------
    ValueError
        A given matrix that is not, or of which it is not proved.
    OutOfTime
        The proof would take too long.
    """
    if isinstance(problem, OneNormProblem):
        return "a linear program asks nothing of K"
    if not problem.kernel.given:
        return f"the {problem.kernel.name} kernel is positive semidefinite by construction"
    if problem.m <= CHARACTERISTIC_POINTS:
        if not has_no_negative_eigenvalue(numbers.K.tolist(), clock):
            raise ValueError(
                "the Gram matrix is not positive semidefinite: the problem is not convex, "
                "no optimum is claimed"
            )
        return (
            "the signs of the exact characteristic polynomial of the given matrix alternate, so "
            "that no eigenvalue is negative"
        )
    if proven_shift(problem.gram.dense) != 0.0:
        raise ValueError(
            f"the Gram matrix of {problem.m} points is not proved positive semidefinite: "
            f"Rump's test does not pass"
        )
    return (
        "the given matrix passes Rump's test, a Cholesky factorisation with a bound on its rounding"
    )


def gram_in_integers(kernel: Kernel, X: Features, shift: float) -> tuple[Integers, int]:
    """Integers and a denominator of K."""
    if isinstance(kernel, Intercept):
        K, unit = gram_in_integers(kernel.kernel, X, shift)
        return K + unit, unit
    Z, unit = to_dyadic(dense(X))
    if isinstance(kernel, Precomputed):
        exact = Fraction(shift)
        common = lcm(unit, exact.denominator)
        K = Z * (common // unit)
        K[np.diag_indices(len(K))] += int(exact * common)
        return K, common
    K, unit = _products(Z), unit**2
    if isinstance(kernel, Polynomial):
        gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)
        common = lcm(unit * gamma.denominator, coef0.denominator)
        K, unit = (
            (K * int(gamma * common / unit) + int(coef0 * common)) ** kernel.degree,
            common**kernel.degree,
        )
    elif not isinstance(kernel, Linear):
        raise TypeError(
            f"{kernel!r} is said to be rational in `exact_limits`, and its values are not "
            f"computed here"
        )
    return K, unit


def _products(Z: Integers) -> Integers:
    """Z Z'."""
    from flint import fmpz_mat

    matrix = fmpz_mat(*Z.shape, Z.ravel().tolist())
    return as_integers((matrix * matrix.transpose()).entries()).reshape(len(Z), len(Z))


def _targets(problem: Problem) -> list[Fraction]:
    """t, exactly."""
    if not isinstance(problem.rows, Tube):
        return [Fraction(1)] * problem.p
    epsilon, y = Fraction(problem.rows.epsilon), [Fraction(v) for v in problem.rows.y.tolist()]
    return [v - epsilon for v in y] + [-v - epsilon for v in y]


def _costs(problem: MarginProblem) -> list[Fraction | None]:
    """c = C x weight, exactly: None where infinite, 0 for weight 0 even there."""
    weights = problem.unit_weights.tolist()
    hard = np.isinf(problem.C)
    exact = {
        w: Fraction(0)
        if w == 0
        else None
        if hard or np.isinf(w)
        else Fraction(problem.C) * Fraction(w)
        for w in set(weights)
    }
    return [exact[w] for w in weights]


def finite_costs(problem: MarginProblem) -> list[Fraction]:
    """c = C x weight, (p,), exactly, of a problem without hard rows."""
    return [cost for cost in _costs(problem) if cost is not None]
