"""Quadratic program whose constraints are equations and inequalities, bounds included.

    min 1/2 x'Hx + g'x + constant   s.t.   E x = e,   F x <= f

A substitution therefore treats bounds as any row. Numbers are `flint.fmpq`. They may
also be quotients of polynomials in the parameters of a problem (`quotients`): a step of
an equivalence proof that applies to these holds for all values of the parameters, or
for all positive values of some of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.semidefinite import semidefinite

Numbers = NDArray[Any]
"""Array of rational numbers, of polynomials with rational coefficients, or of quotients.

numpy interprets a single polynomial as the sequence of its coefficients. A polynomial
that multiplies an array is therefore passed as an array of one element.
"""


@dataclass(frozen=True, eq=False)
class Form:
    """min 1/2 x'Hx + g'x + constant  s.t.  E x = e,  F x <= f.

    Parameters
    ----------
    H : Numbers of shape (n, n)
        Symmetric matrix of the quadratic term.
    g : Numbers of shape (n,)
        Linear term.
    E : Numbers of shape (equations, n)
        Matrix of the equations.
    e : Numbers of shape (equations,)
        Right-hand side of the equations.
    F : Numbers of shape (inequalities, n)
        Matrix of the inequalities.
    f : Numbers of shape (inequalities,)
        Right-hand side of the inequalities.
    names : tuple of str
        Names of the variables if they are shown.
    """

    H: Numbers
    g: Numbers
    constant: Any
    E: Numbers
    e: Numbers
    F: Numbers
    f: Numbers
    names: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.g)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of variables, equations and inequalities."""
        return self.n, len(self.e), len(self.f)

    @cached_property
    def bounds(self) -> NDArray[np.bool_]:
        """Mask of the inequalities with one variable only, (inequalities,)."""
        mask: NDArray[np.bool_] = (self.F != 0).sum(axis=1) == 1
        return mask

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Mask of the variables that have a bound, (n,)."""
        mask: NDArray[np.bool_] = (self.F[self.bounds] != 0).any(axis=0)
        return mask

    def find_bounds(self, k: int) -> list[int]:
        """Return the indices of the inequalities with variable k only.

        Parameters
        ----------
        k : int
            Index of the variable.
        """
        return [int(r) for r in np.flatnonzero(self.bounds & (self.F[:, k] != 0))]

    def in_rows(self, k: int) -> int:
        """Return the number of equations and inequalities with variable k.

        Parameters
        ----------
        k : int
            Index of the variable.
        """
        return int((self.E[:, k] != 0).sum() + (self.F[:, k] != 0).sum())

    def in_objective(self, k: int) -> bool:
        """Return True if the objective depends on variable k.

        Parameters
        ----------
        k : int
            Index of the variable.
        """
        return bool(self.g[k] != 0 or (self.H[k] != 0).any())

    def without(self, k: int) -> Form:
        """Return the form without variable k, which is set to 0.

        Parameters
        ----------
        k : int
            Index of the variable.
        """
        rest = [j for j in range(self.n) if j != k]
        names = self.names[:k] + self.names[k + 1 :]
        return replace(
            self,
            H=self.H[np.ix_(rest, rest)],
            g=self.g[rest],
            E=self.E[:, rest],
            F=self.F[:, rest],
            names=names,
        )

    def without_equation(self, r: int) -> Form:
        """Return the form without an equation.

        Parameters
        ----------
        r : int
            Index of the equation.
        """
        return replace(self, E=np.delete(self.E, r, 0), e=np.delete(self.e, r))

    def without_inequalities(self, *rows: int) -> Form:
        """Return the form without some of its inequalities.

        Parameters
        ----------
        *rows : int
            Indices of the inequalities.
        """
        return replace(self, F=np.delete(self.F, rows, 0), f=np.delete(self.f, rows))

    def substituted(self, k: int, a: Numbers, c: Numbers) -> Form:
        """Return the form after the substitution x_k = a'x + c, without variable k.

        Parameters
        ----------
        k : int
            Index of the variable.
        a : Numbers of shape (n,)
            Coefficients, with a_k = 0.
        c : Numbers of shape (1,)
            Constant.
        """

        def columns(M: Numbers) -> Numbers:
            return M + np.multiply.outer(M[:, k], a)

        g = self.g + self.H[:, k] * c
        made = Form(
            columns(columns(self.H).T),
            g + a * g[k : k + 1],
            self.constant + self.g[k] * c[0] + self.H[k, k] * c[0] * c[0] / 2,
            columns(self.E),
            self.e - self.E[:, k] * c,
            columns(self.F),
            self.f - self.F[:, k] * c,
            self.names,
        )
        return made.without(k)

    def shifted(self, k: int, by: Any) -> Form:
        """Return the form in z, where x_k is z_k plus an offset.

        Parameters
        ----------
        k : int
            Index of the variable.
        by : flint.fmpq or Quotient
            Offset.
        """
        return replace(
            self,
            g=self.g + self.H[:, k] * by,
            constant=self.constant + self.g[k] * by + self.H[k, k] * by * by / 2,
            e=self.e - self.E[:, k] * by,
            f=self.f - self.F[:, k] * by,
        )

    def renamed(self, order: tuple[int, ...], scales: tuple[Any, ...]) -> Form:
        """Return the form in z with x_j = scales_j z_k, k = order_j.

        Parameters
        ----------
        order : tuple of int
            Index of the new variable for each variable.
        scales : tuple of numbers
            Scale of each variable.
        """
        source = np.argsort(order)
        s = array(scales)[source]
        H = self.H[np.ix_(source, source)] * np.multiply.outer(s, s)
        names = tuple(self.names[k] for k in source) if self.names else ()
        return replace(
            self,
            H=H,
            g=self.g[source] * s,
            E=self.E[:, source] * s,
            F=self.F[:, source] * s,
            names=names,
        )


def semidefinite_for_all(H: Numbers) -> bool:
    """Return True if H is proven positive semidefinite for all values of the parameters.

    H is a sum of monomials times matrices of numbers. If every exponent is even and
    every matrix semidefinite, so is H.

    Parameters
    ----------
    H : Numbers
        Symmetric matrix.
    """
    parts: dict[tuple[int, ...], dict[tuple[int, int], Fraction]] = {}
    for (i, j), v in np.ndenumerate(H):
        terms = [((), v)] if isinstance(v, flint.fmpq) else v.terms()
        for exponents, factor in terms:
            powers = exponents if any(exponents) else ()
            parts.setdefault(powers, {})[i, j] = fraction(factor)
    return all(
        _semidefinite(part, len(H)) and not any(k % 2 for k in powers)
        for powers, part in parts.items()
    )


def _semidefinite(entries: dict[tuple[int, int], Fraction], n: int) -> bool:
    rows = tuple({j: v for (r, j), v in entries.items() if r == i and v != 0} for i in range(n))
    try:
        semidefinite(Matrix(rows, n), Clock(inf))
    except ValueError:
        return False
    return True


def make_form(program: Program) -> Form:
    """Return a program without second-order cones as a form.

    Parameters
    ----------
    program : Program
        Program.

    Raises
    ------
    ValueError
        If the program has second-order cones.
    """
    if program.cones:
        raise ValueError("a program with second-order cones has no form with rows alone")
    P, A, G = dense(program.P), dense(program.A), dense(program.G)
    return Form(P, array(program.q), rational(program.c), A, array(program.b), G, array(program.h))


def rational(v: Fraction | int) -> Any:
    """Return a fraction as a flint number.

    Parameters
    ----------
    v : Fraction or int
        Number.
    """
    return flint.fmpq(v.numerator, v.denominator)


def fraction(v: Any) -> Fraction:
    """Return a flint number as a fraction.

    Parameters
    ----------
    v : flint.fmpq
        Number.
    """
    return Fraction(int(v.p), int(v.q))


def dense(M: Matrix) -> Numbers:
    """Return a sparse matrix of fractions as an array of flint numbers.

    Parameters
    ----------
    M : Matrix
        Matrix.
    """
    made = zeros(M.height, M.width)
    for i, row in enumerate(M.rows):
        for j, v in row.items():
            made[i, j] = rational(v)
    return made


def array(values: Any) -> Numbers:
    """Return numbers as a vector; fractions and integers become flint numbers.

    Parameters
    ----------
    values : sequence of Fraction, int or flint number
        Numbers.
    """
    made = zeros(len(values))
    for i, v in enumerate(values):
        made[i] = rational(v) if isinstance(v, Fraction | int) else v
    return made


def zeros(*shape: int) -> Numbers:
    """Return an array of zeros.

    Parameters
    ----------
    *shape : int
        Lengths of the axes.
    """
    return np.full(shape, flint.fmpq(0), dtype=object)
