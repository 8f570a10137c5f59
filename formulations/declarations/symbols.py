"""Symbols of an equation, from which a formulation makes a cvxpy problem.

A formulation of a canonical problem is a function of its `Symbols`: X, K, A, y, c are
arrays, and C is a cvxpy parameter. The function is called twice. In the problem that
backends solve, K is L L', and K v becomes L w with an additional variable w = L'v,
because a singular or badly scaled K would cost accuracy. In the published formula, K is
the Gram matrix itself, and no variable is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import AnyBias, Point
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.rows.listed import Tube

__all__ = [
    "COSTS",
    "HARD_AT_0",
    "DeclarationValues",
    "KernelMatrix",
    "Symbols",
    "cp",
    "maximize",
    "minimize",
    "reciprocal",
]


def reciprocal(v: Any) -> Any:
    """Return 1 / v for v >= 0, and inf at 0.

    Parameters
    ----------
    v : float
        Number, at least 0.

    Returns
    -------
    float
        Reciprocal.
    """
    return 1 / v if v > 0 else np.inf


COSTS: Mapping[str, Callable[[Any], Any]] = {
    "C": lambda v: v,
    "1/C": reciprocal,
    "lambda": reciprocal,
    "1/lambda": lambda v: v,
}
"""Maps between C and the value of a parameter, by its name; each is its own inverse."""
HARD_AT_0 = "1/C"
"""Name of the one parameter that may be 0.

It multiplies the squared multipliers of a dual, and at 0 gives the hard margin's dual.
All other parameters multiply slacks, multipliers or the norm, or bound multipliers: at
0 the problem would be outside its family.
"""


def minimize(objective: Any, /, **constraints: Any) -> cp.Problem:
    """Make the problem min objective s.t. constraints, which keep their names.

    Parameters
    ----------
    objective : cvxpy.Expression
        Objective.
    **constraints : cvxpy.Constraint or None
        Constraints, by the names of their multipliers; None is skipped.

    Returns
    -------
    cvxpy.Problem
        Minimisation with labelled constraints.

    Raises
    ------
    ValueError
        If a constraint has no variable, so that it is true or false.
    """
    return cp.Problem(cp.Minimize(objective), _labelled(constraints))


def maximize(objective: Any, /, **constraints: Any) -> cp.Problem:
    """Make the problem max objective s.t. constraints, which keep their names.

    Parameters
    ----------
    objective : cvxpy.Expression
        Objective.
    **constraints : cvxpy.Constraint or None
        Constraints, by the names of their multipliers; None is skipped.

    Returns
    -------
    cvxpy.Problem
        Maximisation with labelled constraints.

    Raises
    ------
    ValueError
        If a constraint has no variable, so that it is true or false.
    """
    return cp.Problem(cp.Maximize(objective), _labelled(constraints))


def _labelled(constraints: Mapping[str, Any]) -> list[cp.Constraint]:
    present = {
        name: constraint for name, constraint in constraints.items() if constraint is not None
    }
    for name, constraint in present.items():
        if not isinstance(constraint, cp.Constraint):
            raise ValueError(
                f"the constraint {name} is {constraint!r}, and has no variable: leave it "
                f"out, or write None where it does not apply"
            )
    return [constraint.set_label(name) for name, constraint in present.items()]


class Symbols:
    """Symbols of an equation, in one declaration of a canonical problem.

    Attributes
    ----------
    problem : MarginProblem or OneNormProblem
        Declared problem.
    as_printed : bool
        True if K is the Gram matrix and `let` adds no variable.
    C : float
        Cost; `parameter("C")` is the cvxpy parameter of this value.
    definitions : dict of str to cvxpy.Expression
        Expressions defined by `let`, by the name of the variable.
    """

    def __init__(self, problem: Problem, as_printed: bool = False) -> None:
        self.problem, self.as_printed, self.C = problem, as_printed, problem.C
        self.definitions: dict[str, Any] = {}
        self.defining: list[Any] = []
        self.cost: tuple[str, Callable[[Any], Any]] | None = None

    @property
    def m(self) -> int:
        """Number of points."""
        return self.problem.m

    @property
    def p(self) -> int:
        """Number of rows: points, pairs, or both sides of every point's tube."""
        return self.problem.p

    @cached_property
    def X(self) -> Any:
        """Features, shape (m, q); a factor L of K = L L' if the kernel has none."""
        return self.margin_problem.features()

    @cached_property
    def A(self) -> Any:
        """Sparse rows, shape (p, m).

        A row has the label at its point, or +1 at the preferred point and -1 at the
        other.
        """
        return self.problem.rows.matrix

    @property
    def T(self) -> int:
        """Number of thresholds."""
        return self.margin_problem.T

    @cached_property
    def S(self) -> Any:
        """Sparse signs, shape (p, T): the sign of a row in the column of its threshold."""
        return self.margin_problem.S

    @cached_property
    def K(self) -> KernelMatrix:
        """Gram matrix, shape (m, m), in products `K @ v` and `K.quad(v)`."""
        return KernelMatrix(self)

    @property
    def y(self) -> Array:
        """Labels or targets, shape (m,)."""
        return np.asarray(self.problem.rows.y)

    @property
    def epsilon(self) -> float:
        """Half the width of a regression's tube."""
        if not isinstance(self.problem.rows, Tube):
            raise ValueError("a regression problem is needed")
        return self.problem.rows.epsilon

    @property
    def c(self) -> Array:
        """Weights of C, shape (p,); 0 for hard rows.

        A hard row has no slack, and so no cost.
        """
        return self.problem.soft_weights

    @property
    def inverse_root_c(self) -> Array:
        """1 / sqrt(weight), shape (p,); 0 where the weight is 0 or infinite."""
        return self.margin_problem.inverse_root_weights

    @property
    def inverse_c(self) -> Array:
        """1 / weight, shape (p,); 0 where the weight is 0 or infinite."""
        weights = self.problem.unit_weights
        return np.divide(1.0, weights, out=np.zeros(self.p), where=weights > 0)

    @property
    def slope(self) -> float:
        """Second derivative of the loss where it is a parabola."""
        return self.margin_problem.phi.slope

    @property
    def width(self) -> float:
        """The delta >= 0 with loss 0 exactly for slacks u <= -delta."""
        return float(self.margin_problem.phi.width)

    def phi(self, u: Any) -> Any:
        """Return the loss of slacks u, entry by entry.

        Parameters
        ----------
        u : cvxpy.Expression
            Affine expression.

        Returns
        -------
        cvxpy.Expression
            Convex expression in the shape of u.
        """
        phi = self.margin_problem.phi
        shifted = u + phi.width if phi.shifts else u
        if not phi.is_smooth:
            return phi.top * cp.pos(shifted)
        if not phi.is_bounded:
            return phi.slope / 2 * cp.square(cp.pos(shifted))
        # Huber's function of the distance to the middle of the parabola, plus a line:
        # cvxpy does not compile huber(pos(u)) to a quadratic program.
        half = phi.top / phi.slope / 2
        return phi.top / 2 * (shifted - half / 2) + phi.slope / 2 * cp.huber(shifted - half, half)

    @property
    def hard(self) -> NDArray[np.bool_]:
        """True for rows of infinite weight, shape (p,)."""
        return self.problem.hard

    @property
    def soft(self) -> NDArray[np.bool_]:
        """True for rows of finite weight, shape (p,)."""
        return ~self.problem.hard

    @property
    def unweighted(self) -> NDArray[np.bool_]:
        """True for rows of weight 0, shape (p,)."""
        return np.asarray(self.problem.unit_weights == 0)

    @property
    def margin_problem(self) -> MarginProblem:
        """The problem, which must have margins and a norm of w."""
        if not isinstance(self.problem, MarginProblem):
            raise ValueError(
                f"{self.problem.family} is a linear program: it has neither features X, nor a "
                f"norm of w"
            )
        return self.problem

    def parameter(self, name: str, of: Callable[[Any], Any] | None = None) -> cp.Parameter:
        """Make the cvxpy parameter of the cost.

        Parameters
        ----------
        name : str
            Key of COSTS.
        of : callable or None
            Map from C to the value of the parameter, its own inverse; None for the map
            in COSTS.

        Returns
        -------
        cvxpy.Parameter
            Nonnegative parameter, with its value.
        """
        self.cost = name, of or COSTS[name]
        return cp.Parameter(nonneg=True, name=name, value=self.cost[1](self.C))

    def at_cost(self, C: Any) -> Symbols:
        """Return these symbols with another cost.

        Parameters
        ----------
        C : float
            Cost.

        Returns
        -------
        Symbols
            Shallow copy.
        """
        result = copy(self)
        result.C = C
        return result

    def at_parameters(self, parameters: Mapping[str, Any]) -> Symbols:
        """Return the symbols at the cost of a parameter, or unchanged without one.

        Parameters
        ----------
        parameters : mapping of str to float
            Parameter values, by name.

        Returns
        -------
        Symbols
            Symbols at that cost.
        """
        if self.cost is None or self.cost[0] not in parameters:
            return self
        name, to_C = self.cost
        return self.at_cost(to_C(parameters[name]))

    def no_slack(self, xi: Any) -> Any:
        """Return the constraint that the slacks of hard rows are 0.

        Parameters
        ----------
        xi : cvxpy.Variable of shape (p,)
            Slacks.

        Returns
        -------
        cvxpy.Constraint or None
            None if no row is hard.
        """
        return xi[self.hard] == 0 if self.hard.any() else None

    def let(self, name: str, expression: Any) -> Any:
        """Define a variable, as in "where g = K beta"; as published, return the expression.

        Parameters
        ----------
        name : str
            Name of the variable and of the constraint that defines it.
        expression : cvxpy.Expression
            Affine expression of other variables.

        Returns
        -------
        cvxpy.Expression
            New variable, or the expression.
        """
        self.definitions[name] = expression
        if self.as_printed:
            return expression
        unknown = cp.Variable(expression.shape, name=name)
        self.defining.append((unknown == expression).set_label(name))
        return unknown

    def point(self, w: Any, b: Any = 0.0, alpha: Any = None) -> Point:
        """Return the canonical point of f(x) = w.z, with z the features of x.

        Parameters
        ----------
        w : ndarray of shape (q,)
            Coefficients of the features X.
        b : float or ndarray of shape (T,)
            Bias, with the sign of f + b; an array for T > 1 thresholds.
        alpha : ndarray of shape (p,), or None
            Multipliers of the rows.

        Returns
        -------
        Point
            Canonical point.
        """
        return self.margin_problem.point_of_w(w, self.bias(b), alpha)

    def bias(self, b: Any) -> AnyBias:
        """Return b in the form of a canonical point.

        Parameters
        ----------
        b : float or ndarray of shape (T,)
            Bias, or thresholds.

        Returns
        -------
        float or ndarray of shape (T,)
            Float for one threshold, an array for more.
        """
        return (
            np.asarray(b, dtype=np.float64)
            if self.T > 1
            else np.asarray(b, dtype=np.float64).item()
        )


class KernelMatrix:
    """K in an equation: the products K v and v'K v."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._unknowns: dict[int, Any] = {}

    @cached_property
    def _factor(self) -> Any:
        """L of K = L L', or None if a linear program has no L smaller than K.

        Some backends fail with K, and L and L' have fewer entries.
        """
        problem = self.symbols.problem
        if isinstance(problem, MarginProblem):
            return problem.features()
        return None if problem.factor is None else problem.factor.stored

    @property
    def diagonal(self) -> Array:
        """K_ii, shape (m,)."""
        return self.symbols.problem.gram.diagonal

    def __matmul__(self, v: Any) -> Any:
        """Return K v.

        Parameters
        ----------
        v : ndarray or cvxpy.Expression of shape (m,)
            Coefficients of the points.

        Returns
        -------
        ndarray or cvxpy.Expression of shape (m,)
            Product.
        """
        if not isinstance(v, cp.Expression):
            return self.symbols.problem.gram.dense @ v
        w = self._function_of(v)
        return (
            self.symbols.problem.gram.dense @ v
            if w is None or self.symbols.as_printed
            else self._factor @ w
        )

    def quad(self, v: Any) -> Any:
        """Return v'K v = |L'v|^2.

        Parameters
        ----------
        v : cvxpy.Expression of shape (m,)
            Coefficients of the points.

        Returns
        -------
        cvxpy.Expression
            Convex scalar expression.
        """
        w = self._function_of(v)
        if self.symbols.as_printed:
            return cp.sum(cp.multiply(v, self.symbols.problem.gram.dense @ v))
        return (
            cp.quad_form(v, cp.psd_wrap(self.symbols.problem.gram.dense))
            if w is None
            else cp.sum_squares(w)
        )

    def _function_of(self, v: Any) -> Any:
        """Return the variable w = L'v, made once for each v; None without a factor."""
        if self._factor is not None and v.id not in self._unknowns:
            name = "w" if not self._unknowns else f"w{len(self._unknowns) + 1}"
            self._unknowns[v.id] = self.symbols.let(name, self._factor.T @ v)
        return self._unknowns.get(v.id)


class DeclarationValues(Mapping[str, Any]):
    """Values of variables and parameters, by name, and multipliers of constraints.

    Parameters
    ----------
    values : mapping of str to ndarray
        Values by name.
    multiplier : callable
        Map from a constraint's name to its multiplier, or None.
    """

    def __init__(
        self, values: Mapping[str, Any], multiplier: Callable[[str], Array | None]
    ) -> None:
        self._values, self._multiplier = values, multiplier

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def multiplier(self, constraint: str, factor: Any = 1.0) -> Any:
        """Return a constraint's multiplier times a factor, with cvxpy's sign.

        Parameters
        ----------
        constraint : str
            Name of the constraint.
        factor : float
            Factor from the multiplier's scale to that of alpha.

        Returns
        -------
        ndarray or None
            None if the constraint has no multiplier.
        """
        value = self._multiplier(constraint)
        return None if value is None else value * factor
