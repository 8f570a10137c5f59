"""All of a canonical point: what one side of it leaves open, from the other side.

A formulation carries a function or multipliers. f = A'alpha completes multipliers, `dual_from` completes a function, the best b and the
least slacks complete both; so one canonical point says what the variables of every formulation of its family are.
"""

from __future__ import annotations

from functools import cached_property
from typing import overload

import numpy as np

from equimargin.formulations.bounds.multipliers_from_f import dual_from
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point


class Completion:
    """A canonical point of a margin problem with every quantity that a formulation's variables are made of.

    Parameters
    ----------
    problem : MarginProblem.  point : with a function, with multipliers, or both.
    """

    def __init__(self, problem: MarginProblem, point: Point) -> None:
        self.problem, self.point = problem, point

    @cached_property
    def w(self) -> Array:
        """f in the problem's features, (q,) or (r,)."""
        if self.point.w is not None:
            return self.point.w
        return np.asarray(self.problem.features().T @ self.beta)

    @cached_property
    def beta(self) -> Array:
        """Coefficients of f = sum_i beta_i k(x_i, .), (m,)."""
        if self.point.beta is not None:
            return self.point.beta
        if self.point.w is not None:
            Z = self.problem.features()
            Z = Z.toarray() if hasattr(Z, "toarray") else Z
            return np.asarray(np.linalg.lstsq(Z.T, self.point.w, rcond=None)[0])
        if self.point.alpha is None:
            raise ValueError("the point has neither a function nor multipliers")
        return self.problem.rows.rdot(self.point.alpha)

    @cached_property
    def f(self) -> Array:
        """f at the points, (m,)."""
        Z = self.problem.explicit
        return Z @ self.w if Z is not None else self.problem.gram @ self.beta

    @cached_property
    def b(self) -> float:
        """The bias in the project's sign, f(x) + b."""
        return self.problem.bias_at(self.f) if self.point.b is None else self.point.b

    @cached_property
    def u(self) -> Array:
        """u_r = t_r - (A f)_r - b s_r, (p,)."""
        return self.problem.slack(self.f, self.b)

    @cached_property
    def xi(self) -> Array:
        """The least slacks (u)_+, (p,)."""
        return np.maximum(self.u, 0.0)

    @cached_property
    def alpha(self) -> Array:
        """Multipliers, (p,), made from f where the point has none."""
        if self.point.alpha is not None:
            return self.point.alpha
        alpha = dual_from(self.problem, self.point)
        if alpha is None:
            raise ValueError("too many rows lie on the margin to make multipliers from f")
        return alpha


class OneNormCompletion:
    """A point of a linear program: x with its least slacks, and the multipliers u; neither side gives the other.

    Parameters
    ----------
    problem : OneNormProblem.  point : with x, with u, or both.
    """

    def __init__(self, problem: OneNormProblem, point: OneNormPoint) -> None:
        self.problem, self.point = problem, point

    @property
    def x(self) -> Array:
        """x >= 0, (size,)."""
        if self.point.x is None:
            raise ValueError("the point of the linear program has no primal side")
        return self.point.x

    @property
    def u(self) -> Array:
        """The multipliers u, (p,)."""
        if self.point.u is None:
            raise ValueError("the point of the linear program has no dual side")
        return self.point.u

    @cached_property
    def beta(self) -> Array:
        """Coefficients of f, (m,)."""
        return self.problem.coefficients(self.x)

    @cached_property
    def f(self) -> Array:
        """f at the points, (m,)."""
        return self.problem.gram @ self.beta

    @cached_property
    def xi(self) -> Array:
        """The least slacks (1 - A f)_+, (p,)."""
        return np.maximum(1.0 - self.problem.rows.dot(self.f), 0.0)


@overload
def complete(problem: MarginProblem, point: CanonicalPoint) -> Completion: ...


@overload
def complete(problem: OneNormProblem, point: CanonicalPoint) -> OneNormCompletion: ...


def complete(problem: Problem, point: CanonicalPoint) -> Completion | OneNormCompletion:
    """A canonical point with all that follows from it.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.  point : any canonical point of it.
    """
    if isinstance(problem, OneNormProblem):
        return OneNormCompletion(problem, problem.own_point(point))
    return Completion(problem, problem.own_point(point))
