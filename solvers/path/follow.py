"""The whole regularisation path of a hinge: solutions at every lambda = 1 / C.

    min  1/2 alpha' A K A' alpha - lambda t'alpha    s.t.  0 <= alpha <= weight,  [ s'alpha = 0 ]
    f = (1 / lambda) sum_i (A'alpha)_i k(x_i, .)

alpha and g = lambda f are piecewise linear in lambda, and f is affine in 1 / lambda
between breakpoints. Ranking has no bias. A row of a single point is written as the
difference of that point and a further one, the origin (`program.py`).

Kernel, targets and weights are scaled by powers of two, so that all numbers have size
1. Where a constant in f makes no difference, K is centred, so that differences of
kernel values lose as few digits as possible. The common offset of the targets of a
regression with a bias is subtracted from them. A linear kernel with no more features
than points is represented by its features, any other kernel by its Gram matrix.

Source: document P, section 5, for ranking; Hastie, Rosset, Tibshirani, Zhu (2004) for
classification; Gunter, Zhu (2007) for regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arguments import check_count, check_number, positive
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs, Signed, Tube
from equimargin.solvers.path.budget import Budget
from equimargin.solvers.path.function import FunctionForm, balance
from equimargin.solvers.path.linear import follow as linear
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.quadratic.active_set import Differences, squared_lengths
from equimargin.solvers.path.quadratic.parametric_qp import followed
from equimargin.solvers.path.quadratic.program import HandedOut, QuadraticPathProgram, RowConditions
from equimargin.solvers.path.quadratic.trace import PathTrace
from equimargin.solvers.path.result import Alphas, RegularizationPath
from equimargin.solvers.requirements import Requirements


@overload
def regularization_path(
    problem: OneNormProblem,
    lambda_min: float = ...,
    max_events: int | None = ...,
    time_limit: float | None = ...,
    callback: Callable[[int, float, float], Any] | None = ...,
) -> OneNormPath: ...


@overload
def regularization_path(
    problem: MarginProblem,
    lambda_min: float = ...,
    max_events: int | None = ...,
    time_limit: float | None = ...,
    callback: Callable[[int, float, float], Any] | None = ...,
) -> RegularizationPath: ...


def regularization_path(
    problem: Problem,
    lambda_min: float = 1e-4,
    max_events: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[int, float, float], Any] | None = None,
) -> RegularizationPath | OneNormPath:
    """Compute all solutions of a hinge problem from lambda = infinity to lambda_min.

    lambda is 1 / C.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem
        MarginProblem with hinge loss, its C ignored: classification with or without a
        bias, regression, ranking by labels or pairs; or a OneNormProblem, whose path is
        piecewise constant.
    lambda_min : float
        Last lambda, >= 0, default 1e-4, in the units of lambda = 1 / C, as in document
        P (6) and (8); at 0 the path is complete.
    max_events : int | None
        Maximum number of breakpoints.
    time_limit : float | None
        Limit in seconds, without the compilation of functions.
    callback : Callable[[int, float, float], Any] | None
        Called with (breakpoints, lambda, gap) at every breakpoint; a true return value
        ends the path.

    Returns
    -------
    RegularizationPath or OneNormPath
        Breakpoints, or pieces of a one-norm program, each with its gap; and the reason
        for the end of the path.

    Raises
    ------
    ValueError
        If the problem has no such path, or a limit is not positive.

    Notes
    -----
    Source: document P, section 5, with its Algorithm 1 replaced by steps along
    projections.
    """
    reason = refusal(problem) or refusal(problem := problem.proven)
    if reason:
        raise ValueError(
            f"regularization_path does not take this {problem.family} problem: {reason}"
        )
    lambda_min = check_number(
        lambda_min, "lambda_min", "a finite number that is at least 0", lambda v: 0 <= v < np.inf
    )
    max_events = None if max_events is None else check_count(max_events, "max_events")
    time_limit = None if time_limit is None else positive(time_limit, "time_limit")
    budget = Budget(lambda_min, max_events, time_limit, callback)
    return (
        linear.followed(problem, budget)
        if isinstance(problem, OneNormProblem)
        else _ScaledProblem.of(problem).path(budget)
    )


REQUIREMENTS: dict[type, Requirements[Any]] = {
    kind: Requirements(
        kind, losses=("hinge",), convex=True, most_rows=LISTED_PAIRS, most_points=STORED_ROWS
    )
    for kind in (MarginProblem, OneNormProblem)
}


def refusal(problem: Any) -> Refusal | None:
    """Return the reason for which a problem has no path, or None.

    C does not matter.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem
        Problem.
    """
    if not isinstance(problem, OneNormProblem):
        if not isinstance(problem, MarginProblem) or problem.loss != "hinge":
            return Refusal("paths exist for the hinge loss only")
        if problem.hard.any():
            return Refusal("rows of infinite weight have no path, as C does not scale them")
    unmet = REQUIREMENTS[type(problem)].refusal(problem)
    if unmet is None and not np.isfinite(problem.gram.dense).all():
        return Refusal("kernel values are outside the float64 range")
    return unmet


@dataclass(frozen=True, eq=False)
class _ScaledProblem:
    """Problem scaled so that its numbers have size 1.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the path.
    centred : FunctionForm
        Form in which its functions are returned.
    used : Index
        Rows of positive weight, shape (p',); the path is that of these rows.
    t, w : ndarray of shape (p',)
        Their targets and weights.
    kernel, target, weight : float
        Units of K, t and the weights, powers of two; `kernel` is a power of four, so
        that features have a unit, too.
    function : float
        Unit of stored functions v, over that of the weights.
    differences : Differences
        Rows in these units.
    lost : tuple[float, float]
        Error of an entry of K, and `FunctionForm.spread`, in units of K.
    """

    problem: MarginProblem
    centred: FunctionForm
    used: Index
    t: Array
    w: Array
    kernel: float
    target: float
    weight: float
    function: float
    differences: Differences
    lost: tuple[float, float]

    @classmethod
    def of(cls, problem: MarginProblem) -> _ScaledProblem:
        """Return the scaled form of a problem that has a path."""
        centred, used = FunctionForm(problem), np.flatnonzero(problem.unit_weights > 0)
        E, lost = centred.matrix
        squares = (E * E).sum(axis=1) if centred.explicit else E.diagonal()
        # Computed squares are negative if the differences are below rounding error.
        left = max(float(squares.mean()), lost)
        kernel = _power(float(np.sqrt(left))) ** 2
        t, w = centred.rows.t[used], problem.unit_weights[used]
        target, weight = (
            _power(float(np.abs(t).max(initial=0.0))),
            _power(float(w.max(initial=0.0))),
        )
        function = float(np.sqrt(kernel)) if centred.explicit else 1.0
        differences = _differences(
            problem, centred.explicit, used, E / (function if centred.explicit else kernel)
        )
        return cls(
            problem,
            centred,
            used,
            t,
            w,
            kernel,
            target,
            weight,
            function,
            differences,
            (lost / kernel, centred.spread / kernel),
        )

    def norm2(self, beta: Array) -> float:
        """Return |sum_i beta_i k(x_i, .)|^2, in the unit of K.

        The terms of the sum nearly cancel.
        """
        return self.centred.norm2(beta[: self.problem.m]) / self.kernel

    @property
    def unit(self) -> float:
        """Unit of lambda."""
        return self.kernel * self.weight / self.target

    def path(self, budget: Budget) -> RegularizationPath:
        """Follow the path, and convert its numbers into the problem's own units."""
        problem = self.problem
        unit_cost = replace(problem.with_cost(1.0), rows=self.centred.rows)
        level = sum(unit_cost.best_bias(np.zeros(problem.m))) / 2
        centre, shift = np.zeros(self.differences.E.shape[1]), self.centred.shift
        centre[: len(shift)] = shift / (self.function if self.centred.explicit else self.kernel)
        weights = None if problem.weights is None else problem.weights / self.weight
        size = replace(problem, C=1.0, weights=weights).scale / self.target
        handed = HandedOut(centre, self.centred.offset / self.target, size)
        of = self.differences
        rows = RowConditions(self.t / self.target, self.w / self.weight)
        program = QuadraticPathProgram(of, rows, problem.bias, self.norm2, self.lost, handed)
        lambda_min = budget.lambda_min * self.target / self.weight / self.kernel
        trace = followed(
            program, level / self.target, replace(budget, lambda_min=lambda_min, unit=self.unit)
        )
        return self._named(trace, level, budget.seconds)

    def _named(self, trace: PathTrace, level: float, seconds: float) -> RegularizationPath:
        """Return the path of a trace, in the problem's own units and rows."""
        problem = self.problem
        alpha = np.zeros(problem.p)
        alpha[self.used] = trace.alpha * self.weight
        T, m, E, betas, lambdas = (
            len(trace),
            problem.m,
            self.differences.E,
            trace.of_all("beta"),
            trace.of_all("lam"),
        )
        V = trace.of_all("v") if self.centred.explicit else betas
        values = np.zeros(T)
        # With features only the constant in K is nonzero at the anchor; otherwise the
        # anchor is the first point.
        if problem.bias:
            constant = (
                V[:, -1]
                if self.centred.explicit
                else V @ E[0]
                if self.centred.features is None
                else V[:, :m].sum(axis=1)
            )
            values += (trace.of_all("b") + constant) * self.kernel * self.weight
        w = (
            V[:, : len(self.centred.centre)] * self.function * self.weight
            if self.centred.explicit
            else np.zeros((T, 0))
        )
        betas = betas[:, :m] * self.weight
        if self.centred.free and not self.centred.explicit:
            balance(betas)
        gaps, midpoint_gaps = trace.gaps()
        changes, rows = trace.listed("ends", "rows")
        events, event_rows = trace.listed("event_ends", "event_rows")
        return RegularizationPath(
            problem,
            lambdas=lambdas * self.unit,
            alphas=Alphas.of(
                alpha, changes, self.used[rows], trace.listed("ends", "values")[1] * self.weight
            ),
            betas=betas,
            w=w,
            values_at_anchor=values,
            level=float(level + self.centred.offset),
            gaps=gaps,
            midpoint_gaps=midpoint_gaps,
            margins=trace.of_all("margins"),
            event_breakpoints=np.repeat(np.arange(T), events),
            event_rows=self.used[event_rows],
            event_kinds=trace.listed("event_ends", "event_kinds")[1],
            stopped=trace.stopped.value,
            complete=trace.stopped.complete,
            seconds=seconds,
        )


def _differences(problem: MarginProblem, explicit: bool, used: Index, E: Array) -> Differences:
    """Return the rows `used` as differences of points.

    A row of one point is its difference with the origin, the last point; with a bias K
    includes a constant.
    """
    m, rows = problem.m, problem.rows
    if isinstance(rows, Pairs):
        i, j, s = rows.preferred[used], rows.other[used], np.zeros(len(used))
    else:
        assert isinstance(rows, Signed | Tube)
        sign, point = rows.s[used], used % m
        i, j = np.where(sign > 0, point, m), np.where(sign > 0, m, point)
        s = sign if problem.bias else np.zeros(len(used))
        if explicit:
            E = np.pad(np.column_stack([E, np.ones(m)]) if problem.bias else E, ((0, 1), (0, 0)))
        else:
            E = np.pad(E + problem.bias, (0, 1))
    E = np.ascontiguousarray(E)
    return Differences(
        E, explicit, i.astype(np.uint32), j.astype(np.uint32), s, squared_lengths(E, explicit, i, j)
    )


def _power(size: float) -> float:
    """Return the power of two nearest to a size, 1 for 0."""
    return float(2.0 ** np.rint(np.log2(size))) if size > 0 else 1.0
