"""Completed points: a canonical point that has only a function, or only multipliers, gets the other side from the one it has.

The variables of a formulation are a function or multipliers. Multipliers are completed
by the function f = A'alpha, a function is completed by `recover_multipliers`, and both
by the best b and the least slacks. The variables of every formulation of a family can
then be read off one canonical point. Every quantity is computed once, when it is first
asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, overload

import numpy as np

from equimargin.formulations.bounds.given import parse_point
from equimargin.formulations.bounds.multipliers_from_f import recover_multipliers
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers


class CompletedPoint(ABC):
    """The quantities that a completed point of either canonical shape has."""

    point: CanonicalPoint
    """The point as it was handed in."""

    @property
    def both_sides(self) -> CanonicalPoint:
        """The point with the multipliers that were made from its f, where it has none of its own."""
        return self.point if self.derived is None else self.point.with_multipliers(self.derived)

    @property
    @abstractmethod
    def derived(self) -> Array | None:
        """Multipliers made from f, (p,); None where the point brings its own, where none can be made, and for a linear program."""

    @property
    @abstractmethod
    def of_multipliers(self) -> CompletedPoint | None:
        """The point that the multipliers make without the function; None where there are none, and for a linear program."""

    @property
    @abstractmethod
    def quadratic_error(self) -> float:
        """How far 1/2 beta'K beta may be off, in units of the objective, when it is computed as printed or as declared."""


class Completion(CompletedPoint):
    """A canonical point of a margin problem with every quantity that a formulation's variables are made of.

    Parameters
    ----------
    problem : MarginProblem
        MarginProblem.
    point : Point
        With a function, with multipliers, or both.
    """

    point: Point

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
            Z = dense(Z)
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
    def b(self) -> AnyBias:
        """The bias in the project's sign, f(x) + b; (T,) of T > 1 thresholds."""
        return self.problem.bias_at(self.f) if self.point.b is None else self.point.b

    @cached_property
    def u(self) -> Array:
        """u_r = t_r - (A f)_r - (S b)_r, (p,)."""
        return self.problem.slack(self.f, self.b)

    @cached_property
    def xi(self) -> Array:
        """The least slacks (u)_+, (p,)."""
        return np.maximum(self.u, 0.0)

    @cached_property
    def alpha(self) -> Array:
        """Multipliers, (p,), made from f where the point has none."""
        if self._multipliers is None:
            raise ValueError("too many rows lie on the margin to make multipliers from f")
        return np.asarray(self._multipliers)

    @cached_property
    def derived(self) -> Array | None:
        """Multipliers made from f, (p,); None where the point brings its own, or none can be made."""
        if self.point.alpha is not None or not self.point.has_function:
            return None
        return recover_multipliers(self.problem, self.point)

    @property
    def _multipliers(self) -> AnyMultipliers | None:
        return self.derived if self.point.alpha is None else self.point.alpha

    @property
    def of_multipliers(self) -> Completion | None:
        """The point that alpha makes, f = A'alpha; None where there is no alpha, or alpha belongs to other rows."""
        alpha = self._multipliers
        return (
            None
            if alpha is None or alpha.shape != (self.problem.p,)
            else Completion(self.problem, Point(alpha=alpha))
        )

    @cached_property
    def quadratic_error(self) -> float:
        """How far 1/2 beta'K beta may be off, for the point's own beta and for beta = A'alpha, whichever is worse.

        The printed formula has the entries of K, which are rounded. The declaration has features L, which leave out K - L L'. That moves
        the optimum by at most 1/2 beta'(K - L L')beta, at the multipliers of the true or of the declared problem.
        """
        alpha, gram, lost = self._multipliers, self.problem.gram, self.problem.features_error
        betas = [
            beta
            for beta in (self.point.beta, None if alpha is None else self.problem.rows.rdot(alpha))
            if beta is not None
        ]
        return max(
            (
                float(np.abs(beta) @ gram.product(beta)[1]) + lost * float(beta @ beta) / 2
                for beta in betas
            ),
            default=0.0,
        )


class OneNormCompletion(CompletedPoint):
    """A point of a linear program: x and b with their least slacks, and the multipliers u. Neither side gives the other.

    Parameters
    ----------
    problem : OneNormProblem
        OneNormProblem.
    point : OneNormPoint
        With x, with u, or both.
    """

    point: OneNormPoint
    derived = None
    of_multipliers = None
    quadratic_error = 0.0

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
    def b(self) -> float:
        """The bias: the best one where the point has none."""
        return self.problem.bias_at(self.f) if self.point.b is None else self.point.b

    @cached_property
    def xi(self) -> Array:
        """The least slacks (1 - A f - b s)_+, (p,)."""
        return np.maximum(
            1.0 - self.problem.rows.dot(self.f) - self.b * self.problem.bias_signs, 0.0
        )


@overload
def complete(problem: MarginProblem, given: Any) -> Completion: ...


@overload
def complete(problem: OneNormProblem, given: Any) -> OneNormCompletion: ...


def complete(problem: Problem, given: Any) -> Completion | OneNormCompletion:
    """A point of a problem with all that follows from it: w, beta, f, b, the least slacks, and multipliers made from f where it has none.

    >>> from equimargin.formulations import classification, complete, interval
    >>> problem = classification([[0.0], [2.0]], [-1, 1])
    >>> whole = complete(problem, ([1.0], -1.0))  # w and b, as somebody else's program found them
    >>> whole.alpha, whole.f
    (array([0.5, 0.5]), array([0., 2.]))
    >>> interval(problem, whole.both_sides).relative_width < 1e-12
    True

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    given : Any
        w (q,) of a linear kernel, the tuple (w, b), a mapping with one of "w", "beta"
        (m,) and "f" (m,), and "b" and "alpha" (p,) if they are known, or a canonical
        point. Of a linear program x (size,), or a mapping with "x", "u" (p,) or both,
        and "b".

    Returns
    -------
    Completion or OneNormCompletion
        `.point` is the canonical point as it was handed in, `.both_sides` that with
        `.derived` multipliers.

    Raises
    ------
    ValueError
        What is no point of the problem, with what was expected. The numbers of a
        canonical point are taken as they are.

    Source: the stationarity conditions of T (23)-(28), K (3.13), for the multipliers.
    """
    point = (
        problem.own_point(given)
        if isinstance(given, CanonicalPoint)
        else parse_point(problem, given)
    )
    if isinstance(problem, OneNormProblem):
        return OneNormCompletion(problem, problem.own_point(point))
    return Completion(problem, problem.own_point(point))
