"""Proven excess of functions of the reduced graph over all pairs, and choice of its maxima.

P(C, f) = 1/2 |f|^2 + C L(f) is the objective over all pairs, with optimum P*(C). The
reduced graph of document P has a path of optima, f_t at its cost t. The excess of the
choice of its maxima is the least excess along this path,

    E(C) = min over t of P(C, f_t) - P*(C) >= 0.

It is approximated: the path is followed in floats, to its end or as far as double
precision allows. f_t is linear in t between two breakpoints, so that P(C, f_t) is convex
there, and its minimum is searched segment by segment. The function f that is found is,
within rounding, on the path, and

    P(C, f) - P*(C)

is bounded from above: P(C, f), rounded up, less a proven lower bound of P*(C). The bound
is one of the excess of f, which is returned. It is none of E(C): f is not exactly on the
path, and P(C, f) may be below P(C, f_t) for all t.

Between two costs, P(C, f) is linear in C for a fixed f, and P* is concave, as a minimum
of linear functions. So the line through two lower bounds of P* is a lower bound between
them, and the excess of f is at most the larger one of its bounds at the two costs.

References
----------
Document P (Zapien et al.), section 4 and Figure 3, which leaves the maxima open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations import interval, reduced_preferences
from equimargin.formulations.bounds.evaluate import coefficients, make_point
from equimargin.formulations.numeric.arguments import positive, positive_finite
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import divide_rounded
from equimargin.formulations.problem.labels import numbers
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import RegularizationPath, regularization_path, solve
from equimargin.solvers.exact.program.clock import Clock

MAX_CHOICES = 100
"""Maximum number of choices of maxima that are all tried."""
FULL_TOL = 1e-10
"""Relative gap requested of the optimum over all pairs, which is part of every excess."""
GOLDEN = (5**0.5 - 1) / 2
"""Ratio of the lengths of two successive intervals of a golden-section search."""
NEAR_END = 1e-6
"""Distance from an end of [0, 1] at which a function is compared with the end."""
STEPS = 40
"""Number of steps of a golden-section search."""


@dataclass(frozen=True, eq=False)
class ReducedExcess:
    """Functions of the reduced graph with given maxima, and their proven excess.

    A function is, within rounding, an optimum of the reduced problem: the best one found
    on its path.

    Parameters
    ----------
    problem : MarginProblem
        Ranking over all pairs.
    maximum : Index of shape (k,)
        Maximum of each level of a query but its highest one, by query, then level.
    costs : ndarray of shape (T,)
        Costs C of the problem over all pairs, in ascending order.
    reduced_costs : ndarray of shape (T,)
        Costs of the problem over the reduced pairs at which the functions are, within
        rounding, optima.
    functions : tuple[Point, ...]
        Function of each cost: w of a kernel with explicit features, beta of any other.
    optimum : ndarray of shape (T,)
        Proven lower bounds of the optimum over all pairs.
    excess : ndarray of shape (T,)
        Proven upper bounds of the excess of each function at its cost.
    between : ndarray of shape (T - 1,)
        Proven upper bounds, at all costs from each cost to the next, of the excess of one
        of the two costs' functions.
    reached : float
        Reduced cost up to which the path was followed; inf at its end, finite if double
        precision ended it early.
    tried : int
        Number of choices of maxima that were compared.
    exhaustive : bool
        True if these are all choices.
    """

    problem: MarginProblem = field(repr=False)
    maximum: Index
    costs: Array
    reduced_costs: Array
    functions: tuple[Point, ...] = field(repr=False)
    optimum: Array
    excess: Array
    between: Array
    reached: float
    tried: int = 1
    exhaustive: bool = False

    @property
    def relative(self) -> Array:
        """Proven upper bounds of the excess over the optimum, (T,); inf if it may be 0."""
        with np.errstate(all="ignore"):
            rounded_up: Array = divide_rounded(self.excess, self.optimum, 1)
        return rounded_up


def reduced_excess(
    problem: MarginProblem,
    maximum: ArrayLike | None = None,
    costs: ArrayLike | None = None,
) -> ReducedExcess:
    """Return functions of the reduced graph with given maxima, and their proven excess.

    Parameters
    ----------
    problem : MarginProblem
        Ranking by relevances with hinge loss and finite costs.
    maximum : array-like of shape (m,), or None
        Scores that choose the maxima, as in `reduced_preferences`; None for the first
        points.
    costs : array-like of shape (T,), or None
        Finite costs C > 0 of the problem over all pairs; None for that of the problem.

    Returns
    -------
    ReducedExcess
        Functions, and bounds of their excess with every rounding counted.

    Raises
    ------
    ValueError
        If the problem is no such ranking or has no pair, the scores do not fit, or there
        is no cost or one that is not positive and finite.

    References
    ----------
    Document P (Zapien et al.), section 4.
    """
    full = _FullProblem(problem, costs)
    scores = np.zeros(problem.m) if maximum is None else numbers(maximum, problem.m, "maximum")
    return full.excess(full.highest(scores))


def least_reduced_excess(problem: MarginProblem, seconds: float = 60.0) -> ReducedExcess:
    """Return the tried choice of maxima with the least proven excess at the problem's cost.

    Up to 100 choices are all tried. Of more, the maxima of the optimum over all pairs
    are improved, one level at a time.

    Parameters
    ----------
    problem : MarginProblem
        Ranking by relevances with hinge loss and finite costs.
    seconds : float, default 60.0
        Time limit in seconds, checked before each choice but the first.

    Returns
    -------
    ReducedExcess
        Function of the best choice and its excess, with the number of choices that were tried.

    Raises
    ------
    ValueError
        If the problem is no such ranking or has no pair, or the time limit is not
        positive.

    References
    ----------
    Document P (Zapien et al.), section 4.
    """
    clock = Clock(positive(seconds, "seconds"))
    full = _FullProblem(problem, None)
    choices = prod(map(len, full.levels))
    known: dict[tuple[int, ...], ReducedExcess] = {}
    for choice in product(*full.levels) if choices <= MAX_CHOICES else _improved(full, known):
        if known and clock.left <= 0:
            break
        if choice not in known:
            known[choice] = full.excess(choice)
    best = min(known.values(), key=lambda found: found.excess[0])
    return replace(best, tried=len(known), exhaustive=len(known) == choices)


def _improved(
    full: _FullProblem, known: dict[tuple[int, ...], ReducedExcess]
) -> Iterator[tuple[int, ...]]:
    """Yield choices until no change of one maximum improves the best known one.

    The first is by the f of the optimum over all pairs; the points of a level follow in
    the order of this f.
    """
    best = full.highest(full.f)
    yield best
    levels = [sorted(level, key=lambda i: -full.f[i]) for level in full.levels]
    improved = True
    while improved:
        improved = False
        for place, level in enumerate(levels):
            for point in level:
                choice = (*best[:place], point, *best[place + 1 :])
                yield choice
                if known[choice].excess[0] < known[best].excess[0]:
                    best, improved = choice, True


class _FullProblem:
    """Problem over all pairs at some costs, with proven lower bounds of its optima.

    Parameters
    ----------
    problem : MarginProblem
        Ranking by relevances.
    costs : array-like of shape (T,), or None
        Costs.

    Attributes
    ----------
    problems : list[MarginProblem]
        The problem at each cost.
    levels : list[list[int]]
        Points of each level of a query but its highest one.
    optimum : ndarray of shape (T,)
        Lower bounds of the optima.
    f : ndarray of shape (m,)
        Function of the solution at the largest cost, at the points.
    """

    def __init__(self, problem: MarginProblem, costs: ArrayLike | None) -> None:
        rows = getattr(problem, "rows", None)
        if (
            not isinstance(problem, MarginProblem)
            or not isinstance(rows, LabelledPairs)
            or problem.loss != "hinge"
        ):
            raise ValueError(
                "the excess of the reduced graph needs a ranking by relevances with hinge "
                "loss; make it by `ranking`"
            )
        if np.isinf(problem.C) or problem.hard.any():
            raise ValueError("the reduced graph has no hard rows; give finite costs and weights")
        if not problem.p:
            raise ValueError("there is no pair: every query has points of one relevance only")
        given = np.ravel(np.asarray(problem.C if costs is None else costs, dtype=object))
        if not given.size:
            raise ValueError("costs must have at least one cost; give one, or None")
        self.problem = problem
        self.costs = np.sort([positive_finite(C, "every entry of costs") for C in given])
        self.problems = [problem.with_cost(float(C)) for C in self.costs]
        self.levels: list[list[int]] = [
            np.flatnonzero((rows.query == q) & (rows.y == y)).tolist()
            for q in np.unique(rows.query)
            for y in np.unique(rows.y[rows.query == q])[:-1]
        ]
        solutions = [solve(at, tol=FULL_TOL) for at in self.problems]
        # The objective is nowhere negative.
        self.optimum = np.maximum([solution.lower for solution in solutions], 0.0)
        self.f = solutions[-1].decision_function(problem.X)

    def highest(self, scores: Array) -> tuple[int, ...]:
        """Return the first point with the largest score of each level.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Scores.
        """
        return tuple(level[int(np.argmax(scores[level]))] for level in self.levels)

    def excess(self, choice: Sequence[int]) -> ReducedExcess:
        """Return the functions of a choice of maxima, and their proven excess.

        Parameters
        ----------
        choice : Sequence[int]
            Point of each level.
        """
        path = _ReducedPath(self.problem, choice)
        reduced_costs = [path.best(problem) for problem in self.problems]
        functions = tuple(map(path.function, reduced_costs))
        cells = [[k, k + 1] for k in range(len(functions) - 1)]
        return ReducedExcess(
            self.problem,
            np.array(choice),
            self.costs,
            np.array(reduced_costs),
            functions,
            self.optimum,
            np.concatenate([self._bounds(f, [k]) for k, f in enumerate(functions)]),
            np.array([min(self._bounds(functions[k], ends).max() for k in ends) for ends in cells]),
            path.reached,
        )

    def _bounds(self, function: Point, at: list[int]) -> Array:
        """Return proven upper bounds of the excess of a function at some of the costs.

        Parameters
        ----------
        function : Point
            Function.
        at : list[int]
            Places of the costs.
        """
        upper = np.array([interval(self.problems[k], function).upper for k in at])
        rounded_up: Array = np.nextafter(upper - self.optimum[at], np.inf)
        return rounded_up


class _ReducedPath:
    """Optima of the reduced problem for all costs, linear in the cost between breakpoints.

    Parameters
    ----------
    problem : MarginProblem
        Ranking by relevances.
    choice : Sequence[int]
        Maximum of each level.

    Attributes
    ----------
    costs : ndarray of shape (T,)
        Costs of the breakpoints, from 0 on.
    betas : ndarray of shape (T, m)
        Coefficients at the breakpoints.
    f : ndarray of shape (T, m)
        Values at the points and breakpoints.
    reached : float
        Cost up to which the path was followed; inf if no part of it is missing.
    """

    def __init__(self, problem: MarginProblem, choice: Sequence[int]) -> None:
        rows = problem.rows
        assert isinstance(rows, LabelledPairs)
        chosen = np.isin(np.arange(problem.m), choice)
        edges = reduced_preferences(rows.y, rows.query, chosen)
        weights = None if problem.weights is None else problem.weights[rows.query[edges[:, 0]]]
        pairs = Pairs(edges[:, 0], edges[:, 1], problem.m)
        path = regularization_path(replace(problem, rows=pairs, weights=weights), 0.0)
        assert isinstance(path, RegularizationPath)
        self._path = path
        # Below the first breakpoint f is proportional to the cost. At lambda = 0 it is that
        # of the last breakpoint before, because the optima are bounded.
        lam, origin = path.lambdas[path.lambdas > 0, None], np.zeros(problem.m)
        self.costs = np.append(0.0, 1 / lam)
        self.reached = np.inf if path.complete else float(self.costs[-1])
        self.betas = np.vstack([origin, path.betas[: len(lam)] / lam])
        self.f = np.vstack([origin, path.g[: len(lam)] / lam])

    def function(self, t: float) -> Point:
        """Return the function at a cost, with those numbers by which `interval` evaluates it.

        Parameters
        ----------
        t : float
            Cost, at most that of the last breakpoint.
        """
        problem, explicit = self._path.problem, self._path.problem.explicit
        if t == 0:
            return make_point(problem, np.zeros(problem.m if explicit is None else explicit.q))
        point = self._path.at(max(1 / t, float(self._path.lambdas[-1]))).point
        assert isinstance(point, Point)
        v = coefficients(problem, point)
        return make_point(problem, v if explicit is not None else problem.gram.merged(v))

    def best(self, problem: MarginProblem) -> float:
        """Return the cost of the least objective over all pairs that is found.

        Parameters
        ----------
        problem : MarginProblem
            Ranking over all pairs at its cost.
        """
        last = len(self.costs) - 1

        def within(values: Array, t: int, share: float) -> Any:
            return (1 - share) * values[t] + share * values[min(t + 1, last)]

        def objective(t: int, share: float) -> float:
            beta, f = within(self.betas, t, share), within(self.f, t, share)
            return problem.primal(f, float(beta @ f), 0.0)

        shares = [_golden_section(partial(objective, t)) for t in range(last + 1)]
        t = min(range(last + 1), key=lambda t: objective(t, shares[t]))
        return float(within(self.costs, t, shares[t]))


def _golden_section(function: Callable[[float], float]) -> float:
    """Return nearly the minimiser of a convex function on [0, 1]."""
    # Most segments have it at an end, where the function does not decrease inwards.
    if function(NEAR_END) >= function(0.0):
        return 0.0
    if function(1.0 - NEAR_END) >= function(1.0):
        return 1.0
    low, high = 0.0, 1.0
    left, right = high - GOLDEN, low + GOLDEN
    at_left, at_right = function(left), function(right)
    for _ in range(STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2
