"""What a solver hands back: a point, why it stopped, and what the point proves."""

from __future__ import annotations

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
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, Point
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import LISTED_PAIRS, Signed
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers
from equimargin.solvers.problem_file import packed, read, unpacked, write
from equimargin.solvers.ray import FarkasRay

SOLUTION_FORMAT = "equimargin solution 1"
"""Name of the format of a solution's file. The number counts the changes of its layout."""
SOLUTION_FIELDS_IN_JSON = ("solver", "status", "reason", "iterations", "seconds")
"""Fields of a solution that its file holds as JSON."""


class Status(StrEnum):
    """How a run ended, as its solver says. It is reported and never believed."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    NUMERICAL_FAILURE = "numerical_failure"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    STATIONARY = "stationary"
    FINISHED = "finished"

    @property
    def sentence(self) -> str:
        """What the status says, for a person."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.OPTIMAL: "The requested accuracy was reached.",
    Status.INFEASIBLE: "No point satisfies the constraints.",
    Status.UNBOUNDED: "The objective has no bound.",
    Status.TIME_LIMIT: "The time limit ended the run; the best point so far is returned.",
    Status.ITERATION_LIMIT: "The iteration limit ended the run; the best point so far is returned.",
    Status.NUMERICAL_FAILURE: "Double precision allowed no further progress; the best point so far is returned.",
    Status.UNSUPPORTED: "The solver does not take this kind of problem.",
    Status.TOO_LARGE: "The problem is too large for this way of solving it.",
    Status.STATIONARY: "A stationary point of a problem that is not convex; no optimum is claimed.",
    Status.FINISHED: "The solver ended of itself, and its point does not prove the requested accuracy.",
}


Callback = Callable[[int, float, float, CanonicalPoint], Any]
"""What a run calls at every check of the gap, with (iterations, lower, upper, point). The bounds are those of the point, in float64. The
point is to be read and not to be written. A true return ends the run.
"""


@dataclass(frozen=True)
class Limits:
    """Limits that stop a run.

    Attributes
    ----------
    tol : float
        Relative gap that is enough.
    max_iter : int or None
        Maximum of the solver's own iterations; None is its default.
    time_limit : float or None
        Seconds of wall time; None is no limit.
    callback : callable or None
        Called with (iterations, lower, upper, point) at every check of the gap; a true return
        ends the run.
    n_jobs : int
        Threads that a solver may use.
    has_successor : bool
        True if another solver takes the problem where this one makes slow progress.
    """

    tol: float = 1e-6
    max_iter: int | None = None
    time_limit: float | None = None
    callback: Callback | None = None
    n_jobs: int = 1
    has_successor: bool = False


class RunOptions(TypedDict, total=False):
    """The limits of a run as keyword arguments: `Limits` without a callback."""

    tol: float
    max_iter: int | None
    time_limit: float | None
    n_jobs: int


def checked(
    tol: object,
    max_iter: object,
    time_limit: object,
    callback: Callback | None = None,
    n_jobs: object = 1,
) -> Limits:
    """Limits as callers hand them in.

    Raises
    ------
    ValueError
        What is no number, or not positive; steps or threads that are not whole.
    """
    steps = None if max_iter is None else check_count(max_iter, "max_iter")
    seconds = None if time_limit is None else positive(time_limit, "time_limit")
    return Limits(positive(tol, "tol"), steps, seconds, callback, check_count(n_jobs, "n_jobs"))


def counted(number: int, noun: str) -> str:
    """A number of things in words, such as 1 iteration or 2,000 iterations."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class AnySolution:
    """What every solver hands back, whatever kind of problem it solves.

    Parameters
    ----------
    solver : str
        Its name.
    status, reason
        Why it stopped.
    iterations : int | None
        Of the solver's own kind, None where it counts none.
    seconds : float
        Of wall time.
    """

    solver: str
    status: Status
    reason: str
    iterations: int | None
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Solution(AnySolution):
    """A solver's answer to a problem.

    Parameters
    ----------
    problem : Problem
        What was solved.
    solver : str
        Its name.
    point : CanonicalPoint
        The best point found.
    status, reason
        Why it stopped.
    iterations : int | None
        Of the solver's own kind, None where it counts none.
    seconds : float
        Of wall time.
    trajectory : tuple[Any, ...]
        What an iteration left behind, one named tuple each, where the solver keeps
        them.
    ray : FarkasRay | None
        The proof that no function meets the hard rows, where the solver has found it.
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
        """The proven interval of the point, which gets multipliers made from its f where it has none."""
        return interval(self.problem, self._both_sides)

    @property
    def lower(self) -> float:
        """Proven lower bound of the optimum."""
        return self.interval.lower

    @property
    def upper(self) -> float:
        """Proven upper bound of the optimum."""
        return self.interval.upper

    @property
    def relative_gap(self) -> float:
        """Float64 primal minus dual of the point, over S = max(|primal|, |dual|, 1e-4 P(0))."""
        return relative_gap(*self._values, self.problem.scale)

    @property
    def value(self) -> float:
        """The primal objective at the point, float64."""
        return self._values[0]

    @property
    def ok(self) -> bool:
        """Whether the requested accuracy was reached."""
        return self.status is Status.OPTIMAL

    @property
    def dual(self) -> AnyMultipliers | None:
        """The multipliers of the rows, (p,): alpha, implicit for pairs that nobody lists, or the u of a linear program.

        They are made from f where the point has none, and None where none can be made.
        """
        return self._both_sides.multipliers

    @cached_property
    def beta(self) -> Array | None:
        """Coefficients of f = sum_i beta_i k(x_i, .), (m,)."""
        function = self._function
        return (
            function.beta
            if function.beta is not None or function.alpha is None
            else self.problem.rows.rdot(function.alpha)
        )

    @cached_property
    def w(self) -> Array | None:
        """f = w.x for a linear kernel, (d,), followed by the constant of f where the bias is penalised; None for any other kernel."""
        if self._function.w is not None:
            return self._function.w
        Z = explicit(self.problem.kernel, self.problem.X)
        return None if Z is None else Z.rdot(self._coefficients)

    @cached_property
    def bias_interval(self) -> tuple[AnyBias, AnyBias]:
        """All b that are best for the point's f, in the project's sign f(x) + b: (T,) each of T > 1 thresholds."""
        return self.problem.best_bias(self._f)

    @property
    def bias(self) -> AnyBias:
        """The point's b, or the middle of `bias_interval`; (T,) of T > 1 thresholds."""
        if self._function.b is not None:
            return self._function.b
        lower, upper = self.bias_interval
        return (lower + upper) / 2

    def decision_function(self, X: Any) -> Array:
        """f(x) + b; of an ordinal regression f(x), which its thresholds -b cut into levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        (n,) decision values: positive for the class +1, the regression's prediction, or the ranking score.

        Raises
        ------
        ValueError
            Points of another shape, or a table whose columns are named otherwise, or in
            another order, than the training points'.
        """
        points = new_points(X, self.problem.X, self.problem.feature_names)
        Z = explicit(self.problem.kernel, points)
        if self.w is not None and Z is not None:
            f = Z @ self.w
        else:
            f = self.problem.kernel.block(points, self.problem.X) @ self._coefficients
        return np.asarray(f if isinstance(self.problem.rows, Levels) else f + self.bias)

    def predict(self, X: Any) -> Array:
        """The labels -1 and +1 of a classification, +1 where f(x) + b = 0; the decision values of a regression or a ranking.

        Of an ordinal regression it is the level: the number of thresholds with f(x) + b_k >= 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        (n,) labels, targets or scores.

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
        """What is the same for every function within `eps` of the optimum: signs, orders, and where multipliers are.

        Parameters
        ----------
        eps : float
            By how much an objective may exceed the optimum, in its units.

        Raises
        ------
        ValueError
            A linear program, which may have many optimal functions; an eps below 0.
        """
        return stability(self.problem, self._both_sides, eps)

    def sensitivity(self) -> Sensitivity:
        """Between which the derivatives of the optimal value lie: in C, in the weight of each row, in the target t of each row.

        Raises
        ------
        ValueError
            As in `stability`; hard rows, pairs too many to be listed.
        """
        return sensitivity(self.stability())

    def stable_predict(self, X: Any) -> Signs:
        """The labels -1 and +1 that every optimum predicts, and 0 where they are not proven to be the same.

        Parameters
        ----------
        X : array-like of shape (n, d)
            points.

        Raises
        ------
        ValueError
            As in `decision_function`; a problem that is no classification, or a linear
            program; a given Gram matrix.
        """
        if not isinstance(self.problem.rows, Signed):
            raise ValueError(
                f"a {self.problem.family} problem predicts no labels; "
                f"stability().decisions(X) bounds its values"
            )
        return self.stability().signs(X)

    def save(self, file: str | Path) -> None:
        """Write an NPZ file without pickles, the problem with the solution, whole or not at all; `load` reads it.

        The trajectory and the ray are left out. Multipliers of pairs that were never stored are stored one by one; of more than ten
        million pairs they are left out, and the solution that is read has no lower bound.

        Parameters
        ----------
        file : str | Path
            Where to write; what is there is replaced.
        """
        words, arrays = packed(self.problem)
        words |= {name: getattr(self, name) for name in SOLUTION_FIELDS_IN_JSON}
        own = self.point.multipliers
        stored = None if own is None or self.problem.p > LISTED_PAIRS else np.asarray(own)
        parts = vars(self.point.with_multipliers(stored))
        arrays |= {
            f"point_{name}": np.asarray(part) for name, part in parts.items() if part is not None
        }
        write(file, SOLUTION_FORMAT, words, arrays)

    @classmethod
    def load(cls, file: str | Path) -> Solution:
        """Read what `save` wrote.

        Parameters
        ----------
        file : str | Path
            That it wrote.  Nothing of it is run, and nothing is believed of the
            solution but its own words.

        Raises
        ------
        ValueError
            A file that is none of these, with what is wrong in a sentence.
        FileNotFoundError
            No file.
        """
        return read(file, SOLUTION_FORMAT, "solution", cls._made)

    @classmethod
    def _made(cls, words: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Solution:
        """The solution that a file holds."""
        problem = unpacked(words, arrays)
        point = _point(
            problem,
            {
                name.removeprefix("point_"): v
                for name, v in arrays.items()
                if name.startswith("point_")
            },
        )
        solver, status, reason, counted, seconds = (words[name] for name in SOLUTION_FIELDS_IN_JSON)
        iterations = None if counted is None else int(counted)
        return cls(
            problem, str(solver), point, Status(status), str(reason), iterations, float(seconds)
        )

    def __repr__(self) -> str:
        """One line: the problem, the solver and how it ended."""
        steps = "" if self.iterations is None else f"{counted(self.iterations, 'iteration')}, "
        return (
            f"<Solution by {self.solver}: {self.status} after {steps}{self.seconds:.3g} s; of "
            f"{self.problem!r}>"
        )

    @property
    def _coefficients(self) -> Array:
        if self.beta is None:
            raise ValueError("the solution has no coefficients: the solver returned no point")
        return self.beta

    @cached_property
    def _both_sides(self) -> CanonicalPoint:
        """The point with multipliers of its own or made from its f."""
        return (
            self.point
            if self.point.has_multipliers
            else complete(self.problem, self.point).both_sides
        )

    @cached_property
    def _function(self) -> Point:
        """The point's function and bias, whatever kind of problem it is of."""
        return self.problem.function(self.point)

    @cached_property
    def _f(self) -> Array:
        Z = explicit(self.problem.kernel, self.problem.X)
        return self.problem.gram @ self._coefficients if Z is None or self.w is None else Z @ self.w

    @cached_property
    @np.errstate(all="ignore")  # a value that overflows leaves an infinite gap
    def _values(self) -> tuple[float, float]:
        return self.problem.values(self._both_sides)


def finished(problem: Problem, solver: str, given: Any, limits: Limits, seconds: float) -> Solution:
    """The solution of a solver that hands back a point and says nothing of it: what the point proves says how the run ended.

    Parameters
    ----------
    problem : Problem
        That it got.
    solver : str
        Its name.
    given : Any
        What it returned, as `complete` takes it.
    limits : Limits
        Of the run.
    seconds : float
        That it took.

    Raises
    ------
    ValueError
        What is no point of the problem, with the solver's name and what was expected.
    """
    try:
        point = parse_point(problem, given)
    except ValueError as wrong:
        raise ValueError(
            f"{solver} returns no point of this {problem.family} problem: {wrong}"
        ) from None
    found = Solution(problem, solver, point, Status.FINISHED, "", None, seconds)
    if limits.callback is not None:
        limits.callback(0, found.lower, found.upper, found.point)
    width, late = (
        found.interval.relative_width,
        limits.time_limit is not None and seconds > limits.time_limit,
    )
    reason = (
        f"it ended after {seconds:.3g} s with a proven relative width of {width:.2e}, "
        f"{limits.tol:.0e} was asked"
    )
    status = (
        Status.OPTIMAL if width <= limits.tol else Status.TIME_LIMIT if late else Status.FINISHED
    )
    return replace(found, status=status, reason=reason)


def _point(problem: Problem, parts: dict[str, NDArray[Any]]) -> CanonicalPoint:
    """The point of a file, which fits its problem.

    Raises
    ------
    ValueError
        Numbers of another type or shape, or that are not finite; a part that points of
        this shape do not have.
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
    """(primal - dual) / S with S = max(|primal|, |dual|, 1e-4 P(0)); 0 where they are equal, inf where one is missing. scale : P(0)."""
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return float("inf")
    return 0.0 if primal == dual else max(primal - dual, 0.0) / relative_size(scale, primal, dual)
