"""Result of a solver: point, status and proven bounds."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.bounds.given import parse_point
from equimargin.formulations.bounds.intervals import Interval, interval, relative_size
from equimargin.formulations.bounds.sensitivity import Sensitivity, sensitivity
from equimargin.formulations.bounds.stability import Signs, Stability, stability
from equimargin.formulations.kernels.features import explicit, new_points
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.numeric.arguments import check_count, format_value, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, Point
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import LISTED_PAIRS, Signed
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, ImplicitMultipliers
from equimargin.solvers.problem_file import packed, read, unpacked, write
from equimargin.solvers.ray import FarkasRay

SOLUTION_FORMAT = "equimargin solution 1"
"""Format name of a solution's file; the number counts the changes of its layout."""
SHORTEST_LIMIT = 1e-3
"""Minimum time limit in seconds of a solver that follows another one."""
SHOWN_POINTS = 2_000
"""Maximum number of points for which a notebook computes the interval of a solution."""
SOLUTION_FIELDS_IN_JSON = ("solver", "status", "reason", "iterations", "seconds")
"""Fields of a solution that its file stores as JSON."""


PROCESSOR = "cpu"
"""Device of a run that names none."""
HOST = "host"
"""Device on which the method of a card runs with numpy, for tests; undocumented."""
DEVICES = re.compile(rf"{PROCESSOR}|{HOST}|cuda(:\d{{1,3}})?")
"""Names of devices."""


class Status(StrEnum):
    """Status of a run as its solver reports it; proofs never rely on it."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    CALLBACK = "callback"
    NUMERICAL_FAILURE = "numerical_failure"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    STATIONARY = "stationary"
    FINISHED = "finished"

    @property
    def sentence(self) -> str:
        """Meaning of the status, as a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.OPTIMAL: "The requested accuracy was reached.",
    Status.INFEASIBLE: "No point satisfies the constraints.",
    Status.UNBOUNDED: "The objective has no bound.",
    Status.TIME_LIMIT: "The time limit ended the run; the best point so far is returned.",
    Status.ITERATION_LIMIT: "The iteration limit ended the run; the best point so far is returned.",
    Status.CALLBACK: "The callback ended the run; the best point so far is returned.",
    Status.NUMERICAL_FAILURE: "Double precision allowed no further progress; "
    "the best point so far is returned.",
    Status.UNSUPPORTED: "The solver does not take this kind of problem.",
    Status.TOO_LARGE: "The problem is too large for this method.",
    Status.STATIONARY: "A stationary point of a problem that is not convex; no optimum is claimed.",
    Status.FINISHED: "The solver stopped on its own, "
    "and its point does not prove the requested accuracy.",
}


Callback = Callable[[int, float, float, CanonicalPoint], Any]
"""Function called at every check of the gap with (iterations, lower, upper, point).

The bounds are those of the point, in float64. The point is read-only. A true return
value ends the run.
"""


@dataclass(frozen=True)
class Limits:
    """Limits that stop a run.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int or None
        Maximum number of the solver's iterations; None for its default.
    time_limit : float or None
        Wall time in seconds; None is no limit.
    callback : callable or None
        Called with (iterations, lower, upper, point) at every check of the gap; a true
        return value ends the run with `Status.CALLBACK`.
    n_jobs : int
        Threads that a solver may use.
    has_successor : bool
        True if another solver continues if this one makes slow progress.
    device : str
        Device of the run: "cpu", or "cuda" or "cuda:1" for a graphics card.
    """

    tol: float = 1e-6
    max_iter: int | None = None
    time_limit: float | None = None
    callback: Callback | None = None
    n_jobs: int = 1
    has_successor: bool = False
    device: str = PROCESSOR

    def ended(self, status: Status) -> bool:
        """Return True if a limit or the callback of the caller ended a run.

        The solver's own iteration limit is none of the caller's.

        Parameters
        ----------
        status : Status
            Status of the run.
        """
        by_iterations = status is Status.ITERATION_LIMIT and self.max_iter is not None
        return by_iterations or status in (Status.TIME_LIMIT, Status.CALLBACK)

    def left(self, seconds: float, iterations: int = 0) -> Limits:
        """Return the limits of a run that continues another one.

        Parameters
        ----------
        seconds : float
            Wall time so far in seconds.
        iterations : int, default 0
            Iterations so far.
        """
        return replace(
            self,
            time_limit=self.time_limit and max(self.time_limit - seconds, SHORTEST_LIMIT),
            max_iter=self.max_iter and max(self.max_iter - iterations, 1),
        )


class RunOptions(TypedDict, total=False):
    """Limits of a run as keyword arguments: `Limits` without a callback."""

    tol: float
    max_iter: int | None
    time_limit: float | None
    n_jobs: int
    device: str


def checked(
    tol: object = 1e-6,
    max_iter: object = None,
    time_limit: object = None,
    callback: Callback | None = None,
    n_jobs: object = 1,
    device: object = PROCESSOR,
) -> Limits:
    """Validate limits passed by the user.

    Parameters
    ----------
    tol : object
        Relative gap; a positive number.
    max_iter : object
        Iteration limit; a positive whole number, or None.
    time_limit : object
        Seconds; a positive number, or None.
    callback : Callback or None
        Function called at every check of the gap.
    n_jobs : object
        Threads; a positive whole number.
    device : object
        "cpu", "cuda", or "cuda:" and the number of a card.

    Returns
    -------
    Limits
        The limits as numbers.

    Raises
    ------
    ValueError
        If a value is no number or not positive, steps or threads are not whole, or the
        device is none of these.
    """
    steps = None if max_iter is None else check_count(max_iter, "max_iter")
    seconds = None if time_limit is None else positive(time_limit, "time_limit")
    threads, place = check_count(n_jobs, "n_jobs"), check_device(device)
    return Limits(positive(tol, "tol"), steps, seconds, callback, threads, device=place)


def check_device(device: object) -> str:
    """Return the name of a device.

    Parameters
    ----------
    device : object
        "cpu", "cuda", or "cuda:" and the number of a card.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(device, str) and DEVICES.fullmatch(device):
        return device
    raise ValueError(
        f"device must be 'cpu', 'cuda' or 'cuda:1' for the second card, not {format_value(device)}"
    )


def counted(number: int, noun: str) -> str:
    """Format a count with its noun, such as 1 iteration or 2,000 iterations.

    Parameters
    ----------
    number : int
        Count.
    noun : str
        Singular.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class AnySolution:
    """Base class of the results of all solvers.

    Attributes
    ----------
    solver : str
        Name of the solver.
    status : Status
        Reason to stop.
    reason : str
        Reason to stop, as text.
    iterations : int or None
        Iterations, as the solver counts them; None if it counts none.
    seconds : float
        Wall time in seconds.
    """

    solver: str
    status: Status
    reason: str
    iterations: int | None
    seconds: float


class IntervalSolution(AnySolution, ABC):
    """Base class of the results whose point proves an interval."""

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """Interval of the optimum that the point proves."""

    @property
    def lower(self) -> float:
        """Proven lower bound of the optimum."""
        return self.interval.lower

    @property
    def upper(self) -> float:
        """Proven upper bound of the optimum."""
        return self.interval.upper

    @property
    def ok(self) -> bool:
        """True if the requested accuracy was reached."""
        return self.status is Status.OPTIMAL


@dataclass(frozen=True, eq=False, repr=False)
class Solution(IntervalSolution):
    """Result of a solver for a problem.

    Parameters
    ----------
    problem : Problem
        Problem that was solved.
    solver : str
        Name of the solver.
    point : CanonicalPoint
        Best point of the run.
    status : Status
        Reason to stop.
    reason : str
        Reason to stop, as text.
    iterations : int or None
        Iterations, as the solver counts them; None if it counts none.
    seconds : float
        Wall time in seconds.
    trajectory : tuple
        One named tuple per iteration; empty if the solver records none.
    ray : FarkasRay or None
        Proof that no function satisfies the hard rows, if the solver has one.
    """

    problem: Problem
    solver: str
    point: CanonicalPoint
    status: Status
    reason: str
    iterations: int | None
    seconds: float
    trajectory: tuple[Any, ...] = ()
    ray: FarkasRay | None = None

    @cached_property
    def interval(self) -> Interval:
        """Interval of the optimum that the point proves; recovers missing multipliers."""
        return interval(self.problem, self._both_sides)

    @property
    def relative_gap(self) -> float:
        """|primal - dual| over S = max(|primal|, |dual|, 1e-4 P(0)), float64."""
        return relative_gap(*self._values, self.problem.scale)

    @property
    def value(self) -> float:
        """Primal objective at the point, float64."""
        return self._values[0]

    @property
    def dual(self) -> AnyMultipliers | None:
        """Multipliers of the rows, shape (p,), or the u of a linear program.

        Implicit pairs have implicit multipliers, not an array. If the point has no
        multipliers, they are recovered from f; None if that is impossible.
        """
        return self._both_sides.multipliers

    @cached_property
    def beta(self) -> Array | None:
        """Coefficients of f = sum_i beta_i k(x_i, .), shape (m,)."""
        function = self._function
        return (
            function.beta
            if function.beta is not None or function.alpha is None
            else self.problem.rows.rdot(function.alpha)
        )

    @cached_property
    def w(self) -> Array | None:
        """Weights of f = w.x, shape (d,); None if the kernel is not linear.

        If the bias is penalised, the constant of f is one more entry at the end.
        """
        if self._function.w is not None:
            return self._function.w
        Z = explicit(self.problem.kernel, self.problem.X)
        return None if Z is None else Z.rdot(self._coefficients)

    @cached_property
    def bias_interval(self) -> tuple[AnyBias, AnyBias]:
        """Interval of optimal b for f; decision values are f(x) + b.

        Two arrays of shape (T,) for T > 1 thresholds.
        """
        return self.problem.best_bias(self._f)

    @property
    def bias(self) -> AnyBias:
        """b of the point, or the middle of `bias_interval`.

        An array of shape (T,) for T > 1 thresholds.
        """
        if self._function.b is not None:
            return self._function.b
        lower, upper = self.bias_interval
        return (lower + upper) / 2

    def decision_function(self, X: Any) -> Array:
        """Return f(x) + b; for ordinal regression f(x).

        The thresholds -b_k split the values f(x) into levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n,)
            Decision values: positive for the class +1, the regression's prediction, or
            the ranking score.

        Raises
        ------
        ValueError
            If the points are of another shape, or a table's columns differ in name or
            order from those of the training points.
        """
        points = new_points(X, self.problem.X, self.problem.feature_names)
        Z = explicit(self.problem.kernel, points)
        if self.w is not None and Z is not None:
            f = Z @ self.w
        else:
            f = self.problem.kernel.block(points, self.problem.X) @ self._coefficients
        return np.asarray(f if isinstance(self.problem.rows, Levels) else f + self.bias)

    def predict(self, X: Any) -> Array:
        """Predict labels or levels; decision values of a regression or a ranking.

        Labels are -1 and +1, the latter where f(x) + b = 0. The level of an ordinal
        regression is the number of thresholds with f(x) + b_k >= 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n,)
            Labels, levels, targets or scores.

        Raises
        ------
        ValueError
            As in `decision_function`.
        """
        f = self.decision_function(X)
        if isinstance(self.problem.rows, Levels):
            return np.asarray((f[:, None] + self.bias >= 0).sum(axis=1), dtype=np.float64)
        return np.where(f >= 0, 1.0, -1.0) if isinstance(self.problem.rows, Signed) else f

    def stability(self, eps: float = 0.0) -> Stability:
        """Return properties shared by all functions within `eps` of the optimum.

        They are signs and orders of decision values, and bounds on multipliers.

        Parameters
        ----------
        eps : float
            Excess of the objective over the optimum, in units of the objective.

        Returns
        -------
        Stability
            Proven properties.

        Raises
        ------
        ValueError
            If the problem is a linear program, which may have many optimal functions,
            or eps is below 0.
        """
        return stability(self.problem, self._both_sides, eps)

    def sensitivity(self) -> Sensitivity:
        """Return intervals of the optimal value's derivatives.

        The derivatives are with respect to C, and to the weight and target t_r of each
        row.

        Returns
        -------
        Sensitivity
            Intervals.

        Raises
        ------
        ValueError
            As in `stability`; if rows are hard, or pairs are too many to be listed.
        """
        return sensitivity(self.stability())

    def stable_predict(self, X: Any) -> Signs:
        """Predict labels that all optima share: -1 or +1, and 0 if not proven.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.

        Raises
        ------
        ValueError
            As in `decision_function`; if the problem is no classification, is a linear
            program, or has a given Gram matrix.
        """
        if not isinstance(self.problem.rows, Signed):
            raise ValueError(
                f"a {self.problem.family} problem predicts no labels; "
                f"stability().decisions(X) bounds its values"
            )
        return self.stability().signs(X)

    def save(self, file: str | Path) -> None:
        """Write problem and solution to an NPZ file, for `load`.

        The file has no pickles, and is written whole or not at all. The trajectory and
        the ray are not stored. Multipliers of implicit pairs are stored one by one, up
        to ten million pairs. Beyond, they are omitted, and the loaded solution has no
        lower bound.

        Parameters
        ----------
        file : str or Path
            File to write; an existing one is replaced.
        """
        words, arrays = packed(self.problem)
        words |= {name: getattr(self, name) for name in SOLUTION_FIELDS_IN_JSON}
        point = self.point
        if self.problem.p > LISTED_PAIRS and isinstance(point.multipliers, ImplicitMultipliers):
            point = point.with_multipliers(None)
        arrays |= {
            f"point_{name}": np.asarray(part)
            for name, part in vars(point).items()
            if part is not None
        }
        write(file, SOLUTION_FORMAT, words, arrays)

    @staticmethod
    def load(file: str | Path) -> Solution:
        """Read a file of `save`.

        Parameters
        ----------
        file : str or Path
            File that `save` wrote. Nothing in it is executed, and its bounds are
            recomputed.

        Returns
        -------
        Solution
            Stored solution.

        Raises
        ------
        ValueError
            If the file is not one of `save`; the message says what is wrong.
        FileNotFoundError
            If there is no file.
        """
        return read(file, SOLUTION_FORMAT, "solution", _make_solution)

    def __repr__(self) -> str:
        """Return one line: the problem, the solver and the status."""
        steps = "" if self.iterations is None else f"{counted(self.iterations, 'iteration')}, "
        return (
            f"<Solution by {self.solver}: {self.status} after {steps}{self.seconds:.3g} s; of "
            f"{self.problem!r}>"
        )

    def _repr_html_(self) -> str:
        """Return the run and its interval for a notebook.

        For more than SHOWN_POINTS points the interval is shown once it is computed.
        """
        figures = {
            "problem": repr(self.problem),
            "status": f"{self.status}: {self.reason or self.status.sentence}",
            "iterations": "not counted" if self.iterations is None else f"{self.iterations:,}",
            "seconds": f"{self.seconds:.3g}",
        }
        if "interval" in vars(self) or self.problem.m <= SHOWN_POINTS:
            figures |= self.interval.figures
        else:
            figures["interval"] = "not computed yet: .interval computes it"
        return notebook_html(f"Solution by {self.solver}", figures.items())

    @property
    def _coefficients(self) -> Array:
        if self.beta is None:
            raise ValueError("the solution has no coefficients: the solver returned no point")
        return self.beta

    @cached_property
    def _both_sides(self) -> CanonicalPoint:
        """Point with multipliers, its own or recovered from f."""
        return (
            self.point
            if self.point.has_multipliers
            else complete(self.problem, self.point).both_sides
        )

    @cached_property
    def _function(self) -> Point:
        """Function and bias of the point, for either kind of problem."""
        return self.problem.function(self.point)

    @cached_property
    def _f(self) -> Array:
        Z = explicit(self.problem.kernel, self.problem.X)
        return self.problem.gram @ self._coefficients if Z is None or self.w is None else Z @ self.w

    @cached_property
    @np.errstate(all="ignore")  # A value that overflows gives an infinite gap.
    def _values(self) -> tuple[float, float]:
        return self.problem.values(self._both_sides)


def finished(problem: Problem, solver: str, given: Any, limits: Limits, seconds: float) -> Solution:
    """Return the solution of a solver that returns only a point.

    The bounds that the point proves determine the status.

    Parameters
    ----------
    problem : Problem
        Problem that was solved.
    solver : str
        Name of the solver.
    given : Any
        Result of the solver, in a form that `complete` accepts.
    limits : Limits
        Limits of the run.
    seconds : float
        Wall time of the run.

    Returns
    -------
    Solution
        The point with the proven status.

    Raises
    ------
    ValueError
        If `given` is no point of the problem; the message names the solver and the
        expected forms.
    """
    try:
        point = parse_point(problem, given)
    except ValueError as wrong:
        raise ValueError(
            f"{solver} returns no point of this {problem.family} problem: {wrong}"
        ) from None
    solution = Solution(problem, solver, point, Status.FINISHED, "", None, seconds)
    width, is_late = (
        solution.interval.relative_width,
        limits.time_limit is not None and seconds > limits.time_limit,
    )
    reason = (
        f"it ended after {seconds:.3g} s with a proven relative width of {width:.2e}, "
        f"{limits.tol:.2g} was requested"
    )
    status = (
        Status.OPTIMAL if width <= limits.tol else Status.TIME_LIMIT if is_late else Status.FINISHED
    )
    return call_once(limits.callback, replace(solution, status=status, reason=reason))


def call_once(callback: Callback | None, solution: Solution) -> Solution:
    """Call the callback with the result of a solver that shows no point before.

    Parameters
    ----------
    callback : Callback or None
        Callback of the run.
    solution : Solution
        Result.

    Returns
    -------
    Solution
        The result, with the status of a callback that returns True before the requested
        accuracy: no other solver then continues.
    """
    if callback is None:
        return solution
    ends = callback(solution.iterations or 0, solution.lower, solution.upper, solution.point)
    if not ends or solution.status is Status.OPTIMAL:
        return solution
    reason = f"the callback ended the run: {solution.reason}"
    return replace(solution, status=Status.CALLBACK, reason=reason)


def _make_solution(words: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Solution:
    """Return the solution of a file."""
    problem = unpacked(words, arrays)
    parts = {
        name.removeprefix("point_"): values
        for name, values in arrays.items()
        if name.startswith("point_")
    }
    point = _point(problem, parts)
    solver, status, reason, steps, seconds = (words[name] for name in SOLUTION_FIELDS_IN_JSON)
    iterations = None if steps is None else int(steps)
    return Solution(
        problem, str(solver), point, Status(status), str(reason), iterations, float(seconds)
    )


def _point(problem: Problem, parts: dict[str, NDArray[Any]]) -> CanonicalPoint:
    """Return the point of a file, checked against its problem.

    Raises
    ------
    ValueError
        If numbers have another type or shape or are not finite, or a part does not
        belong to points of this kind.
    """
    own = type(problem.origin)
    for name, values in parts.items():
        if name not in own.__dataclass_fields__:
            raise ValueError(f"a point of a {problem.family} problem has no {name}")
        if values.dtype != np.float64 or not np.isfinite(values).all():
            raise ValueError(f"the point's {name} must be finite numbers of float64")
    fields: dict[str, Any] = dict(parts)
    return problem.own_point(own(**fields))


def relative_gap(primal: float, dual: float, scale: float) -> float:
    """Return |primal - dual| / S with S = max(|primal|, |dual|, 1e-4 P(0)).

    A dual value above the primal one is rounding error, by weak duality. Its excess
    counts as gap, because float64 does not resolve the optimum more accurately.

    Parameters
    ----------
    primal : float
        Primal value.
    dual : float
        Dual value.
    scale : float
        P(0), the objective at f = 0.

    Returns
    -------
    float
        Relative gap; 0 for equal values, inf if a value is not finite.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)):
        return math.inf
    return 0.0 if primal == dual else abs(primal - dual) / relative_size(scale, primal, dual)
