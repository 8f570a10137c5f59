"""Completion of a point: f from its multipliers, or multipliers from its f.

The variables of a formulation are those of a function f, or multipliers alpha.
Multipliers are completed by f = A'alpha, a function by `recover_multipliers`, and both
by the best b and the minimal slacks. The variables of every formulation of a family can
then be computed from one canonical point. Every quantity is computed once, at its first
use.
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
    """Quantities of a completed point of either canonical shape."""

    point: CanonicalPoint
    """The point as passed by the user."""

    @property
    def both_sides(self) -> CanonicalPoint:
        """The point, with multipliers recovered from its f if it has none."""
        return self.point if self.derived is None else self.point.with_multipliers(self.derived)

    @property
    @abstractmethod
    def derived(self) -> Array | None:
        """Multipliers recovered from f, (p,).

        None if the point has its own, if none can be recovered, and for a linear program.
        """

    @property
    @abstractmethod
    def of_multipliers(self) -> CompletedPoint | None:
        """The point that the multipliers alone define.

        None if there are no multipliers, and for a linear program.
        """

    @property
    @abstractmethod
    def quadratic_error(self) -> float:
        """Maximum error of 1/2 beta'K beta in published formulas and in declarations."""


class Completion(CompletedPoint):
    """Canonical point of a margin problem, with the variables that formulations may have.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with a function, with multipliers, or both.
    """

    point: Point

    def __init__(self, problem: MarginProblem, point: Point) -> None:
        self.problem, self.point = problem, point

    @cached_property
    def w(self) -> Array:
        """f as w in the problem's features, (q,) or (r,)."""
        if self.point.w is not None:
            return self.point.w
        return np.asarray(self.problem.features().T @ self.beta)

    @cached_property
    def beta(self) -> Array:
        """Coefficients of f = sum_i beta_i k(x_i, .), (m,)."""
        if self.point.beta is not None:
            return self.point.beta
        if self.point.w is not None:
            Z = dense(self.problem.features())
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
        """Bias in the project's sign, f(x) + b; (T,) for T > 1 thresholds."""
        return self.problem.bias_at(self.f) if self.point.b is None else self.point.b

    @cached_property
    def u(self) -> Array:
        """u_r = t_r - (A f)_r - (S b)_r, (p,)."""
        return self.problem.slack(self.f, self.b)

    @cached_property
    def xi(self) -> Array:
        """Minimal slacks (u)_+, (p,)."""
        return np.maximum(self.u, 0.0)

    @cached_property
    def alpha(self) -> Array:
        """Multipliers, (p,), recovered from f if the point has none."""
        if self._multipliers is None:
            raise ValueError("too many rows lie on the margin to recover multipliers from f")
        return np.asarray(self._multipliers)

    @cached_property
    def derived(self) -> Array | None:
        """Multipliers recovered from f, (p,).

        None if the point has its own, or none can be recovered.
        """
        if self.point.alpha is not None or not self.point.has_function:
            return None
        return recover_multipliers(self.problem, self.point)

    @property
    def _multipliers(self) -> AnyMultipliers | None:
        return self.derived if self.point.alpha is None else self.point.alpha

    @property
    def of_multipliers(self) -> Completion | None:
        """The point that alpha defines, f = A'alpha.

        None if there is no alpha, or alpha belongs to other rows.
        """
        alpha = self._multipliers
        return (
            None
            if alpha is None or alpha.shape != (self.problem.p,)
            else Completion(self.problem, Point(alpha=alpha))
        )

    @cached_property
    def quadratic_error(self) -> float:
        """Maximum error of 1/2 beta'K beta, for the point's own beta and for beta = A'alpha.

        The published formula uses the entries of K, which are rounded. The declaration
        uses features L, and omits K - L L'. This moves the optimum by at most
        1/2 beta'(K - L L')beta, at the multipliers of the true or of the declared problem.
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
    """Point of a linear program: x and b with their minimal slacks, and the multipliers u.

    Neither part is computed from the other.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the point.
    point : OneNormPoint
        Point with x, with u, or both.
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
            raise ValueError("the point of the linear program has no variables x")
        return self.point.x

    @property
    def u(self) -> Array:
        """Multipliers u, (p,)."""
        if self.point.u is None:
            raise ValueError("the point of the linear program has no multipliers u")
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
        """Bias; the best one if the point has none."""
        return self.problem.bias_at(self.f) if self.point.b is None else self.point.b

    @cached_property
    def xi(self) -> Array:
        """Minimal slacks (1 - A f - b s)_+, (p,)."""
        return np.maximum(
            1.0 - self.problem.rows.dot(self.f) - self.b * self.problem.bias_signs, 0.0
        )


@overload
def complete(problem: MarginProblem, given: Any) -> Completion: ...


@overload
def complete(problem: OneNormProblem, given: Any) -> OneNormCompletion: ...


def complete(problem: Problem, given: Any) -> Completion | OneNormCompletion:
    """Complete a point: w, beta, f, b, the minimal slacks, and multipliers recovered from f.

    Multipliers that the point has are unchanged.

    >>> from equimargin.formulations import classification, complete, interval
    >>> problem = classification([[0.0], [2.0]], [-1, 1])
    >>> whole = complete(problem, ([1.0], -1.0))  # w and b of a third-party solver
    >>> whole.alpha, whole.f
    (array([0.5, 0.5]), array([0., 2.]))
    >>> interval(problem, whole.both_sides).relative_width < 1e-12
    True

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    given : array-like, tuple, mapping or CanonicalPoint
        w (q,) of a linear kernel, the tuple (w, b), a mapping with one of "w", "beta" (m,)
        and "f" (m,), and "b" and "alpha" (p,) if they are known, or a canonical point. For
        a linear program x (size,), or a mapping with "x", "u" (p,) or both, and "b".

    Returns
    -------
    Completion or OneNormCompletion
        `.point` is the canonical point as passed; `.both_sides` also has the `.derived`
        multipliers if it has none.

    Raises
    ------
    ValueError
        If `given` is no point of the problem; the message states the expected form. The
        values of a canonical point are used unchanged.

    References
    ----------
    Documents T (23)-(28) and K (3.13), the stationarity conditions, for the multipliers.
    """
    point = given if isinstance(given, CanonicalPoint) else parse_point(problem, given)
    if isinstance(problem, OneNormProblem):
        return OneNormCompletion(problem, problem.own_point(point))
    return Completion(problem, problem.own_point(point))
