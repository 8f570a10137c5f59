"""Problems in integers: floats are dyadic, so rational kernels give rational problems.

    K = Z / unit,   t = T / unit,   1 / (2 c) = D / unit       Z, T, D integer, one unit

Linear and polynomial kernels, with or without an intercept, are evaluated exactly; a
precomputed Gram matrix is used as given. Costs are the exact products C x weight,
targets of a tube the exact differences y - epsilon and -y - epsilon.
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

from equimargin.formulations.kernels.given_matrix import proven_shift
from equimargin.formulations.kernels.kernel import (
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    precomputed,
)
from equimargin.formulations.numeric.arrays import Array, Features, dense
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.rational import over_common_denominator
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import regular_solution
from equimargin.solvers.exact.program.semidefinite import has_no_negative_eigenvalue

Integers = NDArray[Any]
"""Array of Python integers."""
Fractions = NDArray[Any]
"""Array of Fractions."""
CHARACTERISTIC_POINTS = 60
"""Points of the largest matrix whose characteristic polynomial is computed.

It takes a second or two, in which no interrupt is noticed. Larger matrices get Rump's
test.
"""


def given_gram(problem: Problem) -> Problem:
    """Return the problem with its float64 Gram matrix as a precomputed kernel.

    A problem with an RBF kernel thus gets an exact optimum.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.

    Returns
    -------
    MarginProblem or OneNormProblem
        Problem with the kernel `precomputed()`; a shift that the matrix needs is part
        of the problem. A linear program needs none.
    """
    K = problem.gram.dense
    K = (K + K.T) / 2
    shift = 0.0 if isinstance(problem, OneNormProblem) else proven_shift(K)
    return replace(problem, X=K, kernel=precomputed(), shift=shift, feature_names=None)


@dataclass(frozen=True, eq=False)
class IntegerProblem:
    """Problem in integers.

    Parameters
    ----------
    K : Integers of shape (m, m)
        Integers Z.
    unit : int
        Common denominator.
    index, entry : ndarray of shape (p, k)
        Points of a row and their entries in A, k = 1 or 2.
    t : Integers of shape (p,)
        Integers T.
    s : Integers of shape (p,)
        Signs of the bias, zeros without one.
    ridge : Integers of shape (p,)
        Integers D, 0 where alpha_r^2 has no cost.
    box : list[Fraction | None] of shape (p,)
        Upper bounds of alpha; None if infinite.
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
        """True if there is a bias; every row then has a sign."""
        return bool(self.s.any())

    @cached_property
    def targets(self) -> Fractions:
        """Targets t as Fractions, shape (p,)."""
        return as_fractions([Fraction(v, self.unit) for v in self.t])

    @cached_property
    def _matrix(self) -> Any:
        return flint.fmpz_mat(self.m, self.m, self.K.ravel().tolist())

    def product(self, beta: Integers) -> Integers:
        """Return Z beta, (m,).

        Parameters
        ----------
        beta : Integers of shape (m,)
            Coefficients.
        """
        return as_integers((self._matrix * flint.fmpz_mat(self.m, 1, beta.tolist())).entries())

    def pulled(self, alpha: Fractions) -> Fractions:
        """Return A'alpha, (m,).

        Parameters
        ----------
        alpha : Fractions of shape (p,)
            Multipliers.
        """
        values, den = to_common_denominator(alpha)
        return as_fractions([Fraction(v, den) for v in self.rdot(values).tolist()])

    def values(self, beta: Fractions) -> Fractions:
        """Return K beta, (m,).

        Parameters
        ----------
        beta : Fractions of shape (m,)
            Coefficients.
        """
        integers, den = to_common_denominator(beta)
        return as_fractions([Fraction(v, den * self.unit) for v in self.product(integers).tolist()])

    def times(self, M: Integers) -> Integers:
        """Return M Z, (k, m).

        Parameters
        ----------
        M : Integers of shape (k, m)
            Left factor.
        """
        return as_integers(
            (flint.fmpz_mat(*M.shape, M.ravel().tolist()) * self._matrix).entries()
        ).reshape(M.shape)

    def dot(self, f: Integers) -> Integers:
        """Return A f, (p,).

        Parameters
        ----------
        f : Integers or Fractions of shape (m,)
            Function values.
        """
        return np.asarray((self.entry * f[self.index]).sum(axis=1))

    def rdot(self, alpha: Integers) -> Integers:
        """Return A'alpha, (m,).

        Parameters
        ----------
        alpha : Integers or Fractions of shape (p,)
            Multipliers.
        """
        beta, used = np.zeros(self.m, dtype=object), np.flatnonzero(alpha)
        np.add.at(beta, self.index[used], self.entry[used] * alpha[used, None])
        return beta

    def block(self, rows: Any, columns: Any) -> Integers:
        """Return a block of A K A' + diag(1 / (2 c)) as integers, (r, c).

        Parameters
        ----------
        rows : array-like of shape (r,)
            Rows of the block.
        columns : array-like of shape (c,)
            Columns of the block.
        """
        H: Integers = np.zeros((len(rows), len(columns)), dtype=object)
        for i, a in zip(self.index[rows].T, self.entry[rows].T, strict=True):
            for j, b in zip(self.index[columns].T, self.entry[columns].T, strict=True):
                H += np.multiply.outer(a, b) * self.K[np.ix_(i, j)]
        return H + np.where(np.equal.outer(rows, columns), self.ridge[columns], 0)


def integral(problem: Problem) -> IntegerProblem:
    """Return a problem in integers.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem with a rational kernel; for the latter t = 1.
    """
    problem = problem.proven
    K, denominator = gram_in_integers(problem.kernel, problem.X, problem.gram.shift)
    rows, p = problem.rows, problem.p
    A = rows.matrix
    k = 1 if p == 0 else A.nnz // p
    t, s = _targets(problem), problem.bias_signs
    costs, smooth = _costs(problem), problem.phi.is_smooth
    box = [None if smooth and cost != 0 else cost for cost in costs]
    ridge = [1 / (2 * cost) if smooth and cost else Fraction(0) for cost in costs]
    # One common denominator of K, t and the ridge.
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
    """Return an array of Python integers.

    Parameters
    ----------
    values : array-like of shape (n,)
        Integers of any type.
    """
    array = np.empty(len(values), dtype=object)
    array[:] = [int(v) for v in values]
    return array


def fractions(size: int) -> Fractions:
    """Return zeros, as Fractions.

    Parameters
    ----------
    size : int
        Number of zeros.
    """
    return as_fractions([Fraction(0)] * size)


def as_fractions(values: Sequence[Fraction]) -> Fractions:
    """Return an array of Fractions.

    Parameters
    ----------
    values : Sequence[Fraction]
        Fractions.
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def to_common_denominator(values: Fractions) -> tuple[Integers, int]:
    """Return Fractions as integers over their least common denominator.

    Parameters
    ----------
    values : Fractions of shape (n,)
        Fractions.
    """
    integers, den = over_common_denominator(values.tolist())
    return as_integers(integers), den


def to_dyadic(M: Array) -> tuple[Integers, int]:
    """Return integers Z and a power of two with M = Z / power exactly.

    Parameters
    ----------
    M : ndarray
        Finite floats, of any shape.
    """
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
    """Return the solution of a linear system of integers.

    Parameters
    ----------
    matrix : Integers of shape (n, n)
        Matrix.
    right : sequence of int, of length n
        Right-hand side.
    clock : Clock
        Time limit.

    Raises
    ------
    ZeroDivisionError
        If the matrix is singular.
    OutOfTime
        If the solution would take too long.
    """
    bits = max((int(v).bit_length() for v in matrix.ravel()), default=0)
    return regular_solution(
        flint.fmpz_mat(*matrix.shape, matrix.ravel().tolist()), right, bits, clock
    )


def null_vector(matrix: Integers) -> list[int] | None:
    """Return the smallest integers v >= 0, v != 0, with matrix v = 0.

    Parameters
    ----------
    matrix : Integers of shape (k, n)
        Matrix.

    Returns
    -------
    list[int] or None
        None if the null space is not spanned by one such v.
    """
    rows, columns = matrix.shape
    basis, nullity = flint.fmpz_mat(rows, columns, [int(v) for v in matrix.ravel()]).nullspace()
    if nullity != 1:
        return None
    vector = [int(basis[k, 0]) for k in range(columns)]
    sign = 1 if sum(vector) > 0 else -1
    if min(sign * v for v in vector) < 0:
        return None
    shared = gcd(*vector)
    return [sign * v // shared for v in vector]


def semidefinite(problem: Problem, numbers: IntegerProblem, clock: Clock) -> str:
    """Return the reason, as text, why K is known to be positive semidefinite.

    Parameters
    ----------
    problem : Problem
        Problem with a rational kernel.
    numbers : IntegerProblem
        Problem in integers.
    clock : Clock
        Time limit.

    Raises
    ------
    ValueError
        If a given matrix is not positive semidefinite, or the proof fails.
    OutOfTime
        If the proof would take too long.
    """
    if isinstance(problem, OneNormProblem):
        return "a linear program needs no condition on K"
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
    """Return K as integers and a denominator.

    Parameters
    ----------
    kernel : Kernel
        Rational kernel.
    X : array-like of shape (m, d)
        Points, or the Gram matrix of a precomputed kernel.
    shift : float
        Diagonal shift of a precomputed matrix.
    """
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
            f"{kernel!r} is rational according to `exact_limits`, but its exact values are not "
            f"implemented"
        )
    return K, unit


def _products(Z: Integers) -> Integers:
    """Return Z Z'."""
    matrix = flint.fmpz_mat(*Z.shape, Z.ravel().tolist())
    return as_integers((matrix * matrix.transpose()).entries()).reshape(len(Z), len(Z))


def _targets(problem: Problem) -> list[Fraction]:
    """Return t, exactly."""
    if not isinstance(problem.rows, Tube):
        return [Fraction(1)] * problem.p
    epsilon, y = Fraction(problem.rows.epsilon), [Fraction(v) for v in problem.rows.y.tolist()]
    return [v - epsilon for v in y] + [-v - epsilon for v in y]


def _costs(problem: Problem) -> list[Fraction | None]:
    """Return c = C x weight, exactly; None if infinite, 0 for a weight of 0 even then."""
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


def relative_weights(problem: Problem) -> Fractions:
    """Return the costs of the rows over C, (p,), exactly.

    Parameters
    ----------
    problem : Problem
        Problem with finite weights.
    """
    return as_fractions([Fraction(w) for w in problem.unit_weights.tolist()])


def finite_costs(problem: Problem) -> list[Fraction]:
    """Return c = C x weight, (p,), exactly.

    Parameters
    ----------
    problem : Problem
        Problem without hard rows.
    """
    return [cost for cost in _costs(problem) if cost is not None]
