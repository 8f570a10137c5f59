"""The whole regularisation path of a hinge: its solutions at every lambda = 1 / C, exactly, from one breakpoint to the next.

    min  1/2 alpha' A K A' alpha - lambda t'alpha    s.t.  0 <= alpha <= weight,  [ s'alpha = 0 ]
    f = (1 / lambda) sum_i (A'alpha)_i k(x_i, .)

alpha and g = lambda f are piecewise linear in lambda, f is affine in 1 / lambda in between. Ranking has no bias; rows of one point are
differences with a further point, the origin (`parametric_qp.py`). Kernel, targets and weights are scaled by powers of two, and where a
constant in f makes no difference K is centred, so that all numbers have size 1 and differences of kernel values lose least.

Source: document P, section 5, for ranking; Hastie, Rosset, Tibshirani, Zhu (2004) for classification; Gunter, Zhu (2007) for regression.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels import STORED_ROWS, Array
from equimargin.formulations.labelled_pairs import LISTED
from equimargin.formulations.problem import MarginProblem
from equimargin.formulations.rows import Pairs, Signed, Tube
from equimargin.solvers.active_set import Differences, Index
from equimargin.solvers.parametric_qp import OutOfTime, ParametricQP
from equimargin.solvers.path_trace import Trace
from equimargin.solvers.regularization_path import Alphas, RegularizationPath


def regularization_path(
    problem: MarginProblem,
    lambda_min: float = 1e-4,
    max_events: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[int, float, float], Any] | None = None,
) -> RegularizationPath:
    """All solutions of a hinge's problem for lambda = 1 / C from infinity down to lambda_min.

    Parameters
    ----------
    problem : a MarginProblem with the hinge, its C ignored: classification with or without a bias, regression, ranking by labels or pairs.
    lambda_min : >= 0, in the units of lambda = 1 / C, that of P (6) and (8); at 0 the path goes on to its very end.
    max_events : breakpoints at most.  time_limit : seconds.
    callback : called with (breakpoints, lambda, gap) at every breakpoint; a true return ends the path.

    Returns
    -------
    RegularizationPath : the breakpoints, each with its gap, and why they end where they do.

    Raises
    ------
    ValueError : a problem that has no such path, in a sentence; a limit that is not positive.

    Source: document P, section 5, with its Algorithm 1 replaced by steps along projections.
    """
    reason = refusal(problem)
    if reason:
        raise ValueError(f"regularization_path does not take this {problem.family} problem: {reason}")
    if not 0 <= lambda_min < np.inf:
        raise ValueError(f"lambda_min must be a finite number that is at least 0, not {lambda_min}")
    if max_events is not None and not isinstance(max_events, Integral):
        raise ValueError(f"max_events must be a whole number, not {max_events!r}")
    if (max_events is not None and max_events < 1) or (time_limit is not None and not time_limit > 0):
        raise ValueError("max_events and time_limit must be positive")
    return _Scaled(problem).path(lambda_min, max_events, time_limit, callback)


def refusal(problem: Any) -> str | None:
    """Why a problem has no path, or None."""
    if not isinstance(problem, MarginProblem) or problem.loss != "hinge":
        return "paths are of the hinge"
    if problem.hard.any():
        return "rows of infinite weight have no share of C"
    if not problem.convex:
        return "the kernel matrix is not positive semidefinite"
    if problem.m > STORED_ROWS:
        return f"{problem.m:,} points, more than the {STORED_ROWS:,} whose Gram matrix is kept"
    if problem.p > LISTED:
        return f"{problem.p:,} pairs, more than the {LISTED:,} that are listed one by one"
    if not np.isfinite(problem.gram.dense).all():
        return "kernel values are beyond all floats"
    return None


class _Scaled:
    """A problem in numbers of size 1.

    used : (p',) the rows that cost anything.  kernel, target, weight : the units of K, t and the weights.  mean : (m,) row means of K where
    it was centred, else 0.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.used: Index = np.flatnonzero(problem.unit_weights > 0)
        K, self.mean = problem.gram.dense, np.zeros(problem.m, dtype=np.longdouble)
        if problem.bias or problem.rows.invariant:
            K, self.mean = _centred(K)
        self.kernel = _power(float(K.diagonal().mean()))
        self.t, self.w = problem.rows.t[self.used], problem.unit_weights[self.used]
        self.target, self.weight = _power(float(np.abs(self.t).max(initial=0.0))), _power(float(self.w.max(initial=0.0)))
        self.differences = self._differences(K / self.kernel)

    def _differences(self, K: Array) -> Differences:
        """The rows; those of one point are differences with the origin, the last point."""
        m, rows = self.problem.m, self.problem.rows
        if isinstance(rows, Pairs):
            i, j, s = rows.preferred[self.used], rows.other[self.used], np.zeros(len(self.used))
        else:
            assert isinstance(rows, Signed | Tube)
            sign, point = rows.s[self.used], self.used % m
            i, j = np.where(sign > 0, point, m), np.where(sign > 0, m, point)
            s = sign if self.problem.bias else np.zeros(len(self.used))
            K = np.pad(K + self.problem.bias, (0, 1))
            K[m, :], K[:, m] = 0.0, 0.0
        q = np.maximum((K[i, i] - K[i, j]) - (K[j, i] - K[j, j]), 0.0)
        return Differences(np.ascontiguousarray(K), i.astype(np.uint32), j.astype(np.uint32), s, q)

    def norm2(self, beta: Array) -> float:
        """|sum_i beta_i k(x_i, .)|^2 in extended precision where there is one: what is left of f where that is next to 0."""
        v, Z = beta[: self.problem.m].astype(np.longdouble), self.problem.explicit
        if Z is not None:
            w = np.array([column.astype(np.longdouble) @ v for column in Z.dense.T], dtype=np.longdouble)
            return float(w @ w + Z.constant * v.sum() ** 2) / self.kernel
        products = [row.astype(np.longdouble) @ v for row in self.problem.gram.dense]
        return abs(float(v @ np.array(products, dtype=np.longdouble))) / self.kernel

    @property
    def unit(self) -> float:
        """Of lambda."""
        return self.kernel * self.weight / self.target

    def path(
        self, lambda_min: float, max_events: int | None, time_limit: float | None, callback: Callable[[int, float, float], Any] | None
    ) -> RegularizationPath:
        """Follow it, and take its numbers back to the problem's."""
        problem, started = self.problem, time.perf_counter()

        def over() -> bool:
            return time_limit is not None and time.perf_counter() - started > time_limit

        def listen(breakpoints: int, lam: float, gap: float) -> bool:
            return callback is not None and bool(callback(breakpoints, lam * self.unit, gap))

        level = sum(problem.with_cost(1.0).best_bias(np.zeros(problem.m))) / 2
        spread = float(np.abs(self.mean - self.mean.mean()).max(initial=0.0)) / self.kernel
        qp = ParametricQP(self.differences, self.t / self.target, self.w / self.weight, problem.bias, over, self.norm2, spread)
        try:
            qp.start(level / self.target)
            trace = qp.follow(lambda_min / self.unit, listen, max_events)
        except OutOfTime:
            trace = Trace(qp.alpha)
        return self._named(trace, level, time.perf_counter() - started)

    def _named(self, trace: Trace, level: float, seconds: float) -> RegularizationPath:
        problem = self.problem
        alpha = np.zeros(problem.p)
        alpha[self.used] = trace.alpha * self.weight
        betas = np.reshape(trace.betas, (len(trace.betas), len(self.differences.K)))[:, : problem.m] * self.weight
        biases = np.zeros(len(trace.biases))
        if problem.bias:  # centring takes the mean of g from g, and the constant in K adds to it what 1'beta is but for rounding
            constant = betas.astype(np.longdouble) @ (self.kernel - self.mean)
            biases += np.array(trace.biases) * self.kernel * self.weight + constant
        changed = [self.used[rows].astype(np.int32) for rows in trace.rows]
        return RegularizationPath(
            problem,
            lambdas=np.array(trace.lambdas) * self.unit,
            alphas=Alphas.of(alpha, changed, [values * self.weight for values in trace.values]),
            betas=betas,
            biases=biases,
            level=float(level),
            gaps=np.array(trace.gaps),
            midpoint_gaps=np.array(trace.midpoint_gaps),
            margins=np.array(trace.margins, dtype=np.int64),
            event_breakpoints=np.repeat(np.arange(len(trace.event_rows)), [len(rows) for rows in trace.event_rows]),
            event_rows=self.used[np.concatenate([np.zeros(0, dtype=np.intp), *trace.event_rows])],
            event_kinds=np.concatenate([np.zeros(0, dtype=np.int8), *trace.event_kinds]),
            stopped=trace.stopped.value,
            complete=trace.stopped.complete,
            seconds=seconds,
        )


def _centred(K: Array) -> tuple[Array, NDArray[np.longdouble]]:
    """K of the points' differences from their mean, and the means of its rows, in extended precision where there is one."""
    mean = K.mean(axis=1, dtype=np.longdouble)
    others, centred = mean - mean.mean(), np.empty_like(K)
    for i, row in enumerate(K):  # one by one: extended numbers are large
        centred[i] = row - mean[i] - others
    return centred, mean


def _power(size: float) -> float:
    """The power of two nearest to a size, 1 for 0."""
    return float(2.0 ** np.rint(np.log2(size))) if size > 0 else 1.0
