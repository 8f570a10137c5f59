"""Regularisation path, evaluated at any lambda: breakpoints, and linear interpolation.

g(lambda) = lambda f(lambda) and alpha(lambda) are piecewise linear in lambda. Above the
first breakpoint lambda_0, alpha is constant and f(lambda) = (lambda_0 / lambda)
f(lambda_0). A path can be written to a file and read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.kernels.features import new_points
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Signed
from equimargin.solvers.path.function import FunctionForm, claimed
from equimargin.solvers.path.quadratic.trace import BreakpointKind
from equimargin.solvers.path.stored import check_arrays, read_fields
from equimargin.solvers.problem_file import packed, read, unpacked, write
from equimargin.solvers.solution import Solution, Status

PATH_FORMAT = "equimargin regularization path 3"
"""Format name of a path's file; the number counts the changes of its layout."""
ARRAYS_OF_PATH = (
    "lambdas",
    "betas",
    "w",
    "values_at_anchor",
    "gaps",
    "midpoint_gaps",
    "margins",
    "event_breakpoints",
    "event_rows",
    "event_kinds",
)
"""Arrays of a path that its file contains under their own names."""
ARRAYS_OF_ALPHA = ("first", "starts", "rows", "values")
"""Arrays of the path's `Alphas`, which its file contains as alpha_first etc."""
INTEGER_ARRAYS = (
    "margins",
    "event_breakpoints",
    "event_rows",
    "event_kinds",
    "alpha_starts",
    "alpha_rows",
)
"""Arrays of the file whose entries are integers; all others are float64."""
NUMBERS_IN_JSON = ("level", "seconds")
"""Numbers of a path that its file contains as JSON, with `stopped` and `complete`."""
SMALLEST_LAMBDA = 1e-300
"""Smallest lambda for which a path gives solutions.

The inverse of a smaller one, the cost C, is too near to the largest float.
"""
OPTIMAL_GAP = 1e-8
"""Relative gap, rounding included, up to which a path's solution is called optimal.

The command `path` fails if a gap is larger.
"""


class Event(NamedTuple):
    """Row that enters the margin set or leaves it.

    Parameters
    ----------
    lam : float
        lambda.
    kind : str
        "enter", or "zero" and "weight" for a row that leaves with alpha = 0 or alpha =
        weight.
    row : int
        Row number of the problem.
    """

    lam: float
    kind: str
    row: int


class Alphas(Sequence[Array]):
    """alpha at every breakpoint, shape (p,) each, stored as its changes.

    Parameters
    ----------
    first : ndarray of shape (p,)
        alpha before the changes of the first breakpoint.
    starts : NDArray[np.int64] of shape (T + 1,)
        Starts of the changes of each breakpoint.
    rows, values : ndarray of shape (changes,)
        From breakpoint t - 1 to t alpha changes only at rows[starts[t]:starts[t + 1]],
        where it becomes values[starts[t]:starts[t + 1]].
    """

    def __init__(
        self, first: Array, starts: NDArray[np.int64], rows: NDArray[np.int32], values: Array
    ) -> None:
        self.first, self.starts, self.rows, self.values = first, starts, rows, values
        self._last: tuple[int, Array] = (-1, first)

    @classmethod
    def of(cls, first: Array, changes: NDArray[np.int64], rows: Index, values: Array) -> Alphas:
        """Return the sequence from the changes of each breakpoint.

        Parameters
        ----------
        first : ndarray of shape (p,)
            alpha before the changes of the first breakpoint.
        changes : NDArray[np.int64] of shape (T,)
            Number of changes at every breakpoint.
        rows, values : ndarray of shape (changes,)
            Rows that change, and their new values, breakpoint by breakpoint.
        """
        return cls(
            first,
            np.concatenate([[0], np.cumsum(changes, dtype=np.int64)]),
            rows.astype(np.int32),
            values,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> Array: ...

    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...

    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self[t] for t in range(*index.indices(len(self)))]
        t = range(len(self))[index]
        before, alpha = self._last if self._last[0] <= t else (-1, self.first)
        alpha = alpha.copy()
        changed = slice(self.starts[before + 1], self.starts[t + 1])
        # If a row occurs several times, its last value is assigned.
        alpha[self.rows[changed]] = self.values[changed]
        self._last = t, alpha
        return alpha.copy()

    def __iter__(self) -> Iterator[Array]:
        return (self[t] for t in range(len(self)))


@dataclass(frozen=True, eq=False)
class OnPath(Solution):
    """Solution of a path at one lambda.

    Parameters
    ----------
    gap : float
        Relative gap, computed without terms that cancel, plus all rounding errors.
    """

    gap: float = field(kw_only=True)

    @property
    def relative_gap(self) -> float:
        """Primal minus dual of the point, over S, in extended precision, plus rounding."""
        return self.gap


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """All solutions of a hinge problem for lambda = 1 / C from infinity to lambdas[-1].

    Parameters
    ----------
    problem : MarginProblem
        Problem of the path; its C is ignored.
    lambdas : ndarray of shape (T,)
        Breakpoints, decreasing, in the units of P (6): lambda = 1 / C. Above the first
        alpha does not change; 0 may be the last.
    alphas : Alphas
        T arrays (p,) in [0, weight], those of P (8): the dual solution at C = 1 /
        lambda is alpha / lambda.
    betas : ndarray of shape (T, m)
        Coefficients of g = lambda f = sum_i beta_i k(x_i, .).
    w : ndarray of shape (T, q)
        g = w.z with the features z of a linear kernel, if there are no more features
        than points; (T, 0) otherwise. Solutions have this w, because the f of the
        rounded alpha may have a larger error.
    values_at_anchor : ndarray of shape (T,)
        g + lambda b at the anchor of `function.py`, less lambda times the offset of the
        targets, which `biases` adds; one of the optimal values if b is not unique, and
        0 without a bias.
    level : float
        d(lambda b) / d(lambda) above lambda_0.
    gaps : ndarray of shape (T,)
        Relative gaps of the results of `at` at the breakpoints, plus an estimate of all
        rounding errors.
    midpoint_gaps : ndarray of shape (T - 1,)
        The gaps half way to the next breakpoint.
    margins : NDArray[np.int64] of shape (T,)
        Number of rows in the margin set on the way to the next breakpoint.
    event_breakpoints, event_rows, event_kinds : array of shape (E,)
        See `events`.
    stopped : str
        Reason for the end, as a sentence.
    complete : bool
        True if no part of the path is missing.
    seconds : float
        Wall time in seconds.
    """

    problem: MarginProblem
    lambdas: Array
    alphas: Alphas
    betas: Array
    w: Array
    values_at_anchor: Array
    level: float
    gaps: Array
    midpoint_gaps: Array
    margins: NDArray[np.int64]
    event_breakpoints: NDArray[np.int64]
    event_rows: NDArray[np.int64]
    event_kinds: NDArray[np.int8]
    stopped: str
    complete: bool
    seconds: float

    def __len__(self) -> int:
        return len(self.lambdas)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Events of the path: rows that enter or leave the margin set."""
        names = [kind.name.lower() for kind in BreakpointKind]
        listed = zip(
            self.lambdas[self.event_breakpoints].tolist(),
            self.event_kinds.tolist(),
            self.event_rows.tolist(),
            strict=True,
        )
        return tuple(Event(lam, names[kind], row) for lam, kind, row in listed)

    @cached_property
    def centred(self) -> FunctionForm:
        """Form in which the path's functions are returned."""
        return FunctionForm(self.problem)

    @property
    def _functions(self) -> Array:
        """g as stored, shape (T, k)."""
        return self.w if self.centred.explicit else self.betas

    @cached_property
    def biases(self) -> Array:
        """lambda b at the breakpoints, shape (T,); 0 without a bias."""
        return self._biases(self.lambdas)

    @cached_property
    def g(self) -> Array:
        """lambda f at the training points and breakpoints, shape (T, m), without the bias."""
        here = self.centred.at(self.problem.X, self._functions, self.values_at_anchor)
        return here - self._biases(np.zeros(len(self)))[:, None]

    @cached_property
    def bias(self) -> Array:
        """b at the breakpoints, shape (T,).

        At lambda = 0 it is that of the previous breakpoint, below which f does not
        change.
        """
        b = np.divide(self.biases, self.lambdas, out=np.zeros(len(self)), where=self.lambdas > 0)
        if len(b) > 1 and self.lambdas[-1] == 0:
            b[-1] = b[-2]
        return b

    def bias_interval(self, lam: float) -> tuple[float, float]:
        """Return the interval of all optimal b at lambda.

        Parameters
        ----------
        lam : float
            Lambda > 0, at least lambdas[-1].
        """
        return self.at(lam).bias_interval

    def at(self, lam: float) -> Solution:
        """Return the solution at C = 1 / lambda.

        Parameters
        ----------
        lam : float
            Lambda > 0, at least lambdas[-1].

        Returns
        -------
        Solution
            Solution of the problem with that C. Its multipliers are in [0, weight /
            lambda], and its interval is proven, as for every solver. If alpha does not
            vanish at lambda = 0, the rounding error of A'alpha there is divided by
            lambda: f is unchanged, but from about 1e-20 lambda_0 downwards the
            multipliers prove no lower bound, and the status shows this.

        Raises
        ------
        ValueError
            If the path does not reach lambda.
        """
        parts = self._parts(lam)
        lam = float(lam)
        problem = self.problem.with_cost(1 / lam)
        alpha = np.sum([share * self.alphas[t] for share, t in parts], axis=0) / lam
        point = self.centred.handed(*self._function(parts, lam), np.minimum(alpha, problem.costs))
        f = self.centred.values(point)
        summed = [
            (share / lam, self._functions[t], self.problem.rows.rdot(self.alphas[t]))
            for share, t in parts
        ]
        rounded = np.sqrt(f.norm2) + self.centred.radius * sum(
            rate * float(np.abs(beta).sum()) for rate, _, beta in summed
        )
        # The distance |g - sum_i (A'alpha)_i k(x_i, .)| is the norm of an affine function
        # between breakpoints, hence convex in lambda.
        apart = (
            sum(rate * self.centred.apart(v, beta) for rate, v, beta in summed) + 4 * UNIT * rounded
        )
        gap = claimed(problem, self.centred.rows, point, f, apart)
        status = Status.OPTIMAL if gap <= OPTIMAL_GAP else Status.NUMERICAL_FAILURE
        reason = (
            f"lambda = {lam:.6g} on the path, at a relative gap of {gap:.1e}, rounding included"
        )
        return OnPath(
            problem, "path", point, status, reason, parts[0][1] + 1, self.seconds, gap=gap
        )

    def values(self, X: Any) -> Array:
        """Return lambda (f(x) + b) at the breakpoints, shape (T, n).

        It is linear in lambda in between.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Raises
        ------
        ValueError
            If the shape of the points differs.
        """
        points = new_points(X, self.problem.X, self.problem.feature_names)
        return self.centred.at(
            points, self._functions, self.values_at_anchor + self.lambdas * self.centred.offset
        )

    def decision_function(self, X: Any, lam: ArrayLike) -> Array:
        """Return f(x) + b at lambda, shape (n,); (k, n) for an array of k lambdas.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.
        lam : float or ndarray of shape (k,)
            Lambda > 0, at least lambdas[-1].

        Raises
        ------
        ValueError
            If the path does not reach a lambda, or the shape of X or lam is wrong.
        """
        lams = check_lambdas(lam)
        points = new_points(X, self.problem.X, self.problem.feature_names)
        functions = [self._function(self._parts(one), one) for one in np.atleast_1d(lams).tolist()]
        V = np.array([v for v, _ in functions]).reshape(len(functions), self._functions.shape[1])
        f = self.centred.at(
            points, V, np.array([value for _, value in functions]) + self.centred.offset
        )
        return f if lams.ndim else np.asarray(f[0])

    def predict(self, X: Any, lam: ArrayLike) -> Array:
        """Return labels -1 and +1, regression values or ranking scores.

        Shapes are those of `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.
        lam : float or ndarray of shape (k,)
            Lambda > 0, at least lambdas[-1].
        """
        f = self.decision_function(X, lam)
        return np.where(f >= 0, 1.0, -1.0) if isinstance(self.problem.rows, Signed) else f

    def save(self, file: str | Path) -> None:
        """Write the problem and the path to an NPZ file without pickles; `load` reads it.

        The file is written completely or not at all.

        Parameters
        ----------
        file : str or Path
            Path of the file.
        """
        words, arrays = packed(self.problem)
        words |= {name: getattr(self, name) for name in (*NUMBERS_IN_JSON, "stopped", "complete")}
        arrays |= {name: getattr(self, name) for name in ARRAYS_OF_PATH} | {
            f"alpha_{name}": getattr(self.alphas, name) for name in ARRAYS_OF_ALPHA
        }
        write(file, PATH_FORMAT, words, arrays)

    @classmethod
    def load(cls, file: str | Path) -> RegularizationPath:
        """Read a path that `save` wrote.

        Parameters
        ----------
        file : str or Path
            Path of the file.

        Raises
        ------
        ValueError
            If the file is not a valid path; the message describes the fault.
        FileNotFoundError
            If the file does not exist.
        """
        return read(file, PATH_FORMAT, "regularisation path", cls._made)

    @classmethod
    def _made(cls, words: dict[str, Any], arrays: dict[str, Any]) -> RegularizationPath:
        """Return the path that a file contains."""
        problem = unpacked(words, arrays)
        if not isinstance(problem, MarginProblem) or problem.loss != "hinge" or problem.hard.any():
            raise ValueError("the problem must have hinge loss and finite weights")
        _fitting(arrays, problem)
        alphas = Alphas(*(arrays[f"alpha_{name}"] for name in ARRAYS_OF_ALPHA))
        return cls(
            problem,
            alphas=alphas,
            **{name: arrays[name] for name in ARRAYS_OF_PATH},
            **read_fields(words, *NUMBERS_IN_JSON),
        )

    def _parts(self, lam: float) -> list[tuple[float, int]]:
        """Return the breakpoints around lambda as (share, number) for interpolation.

        Above the first breakpoint only the first one is returned.
        """
        lam = check_lambda(lam, self.lambdas, self.stopped)
        if lam >= self.lambdas[0]:
            return [(1.0, 0)]
        t = int(np.searchsorted(-self.lambdas, -lam, side="right")) - 1
        if t + 1 == len(self) or lam == self.lambdas[t]:
            return [(1.0, t)]
        # This form is exact as lambda approaches 0.
        share = float((lam - self.lambdas[t + 1]) / (self.lambdas[t] - self.lambdas[t + 1]))
        return [(share, t), (1 - share, t + 1)]

    def _biases(self, lambdas: Array) -> Array:
        """Return lambda b, shape (T,), with the targets' offset multiplied by `lambdas`."""
        handed = zip(self._functions, self.values_at_anchor.tolist(), lambdas.tolist(), strict=True)
        return np.array(
            [
                self.centred.handed(v, value, self.alphas.first, lam).b or 0.0
                for v, value, lam in handed
            ]
        )

    def _function(self, parts: list[tuple[float, int]], lam: float) -> tuple[Array, float]:
        """Return f as stored, shape (k,), and f + b less the offset at the anchor."""
        v = np.sum([share * self._functions[t] for share, t in parts], axis=0)
        rise = (self.level - self.centred.offset) * max(lam - self.lambdas[0], 0.0)
        value = float(sum(share * self.values_at_anchor[t] for share, t in parts)) + rise
        return v / lam, value / lam


def check_lambda(lam: float, lambdas: Array, stopped: str) -> float:
    """Return a lambda as a float, if a path reaches it.

    Parameters
    ----------
    lam : float
        Lambda > 0, at least lambdas[-1].
    lambdas : ndarray of shape (T,)
        Breakpoints of the path, decreasing.
    stopped : str
        Reason for the end of the path, as a sentence.

    Raises
    ------
    ValueError
        If the path does not reach lambda.
    """
    if not len(lambdas):
        raise ValueError(f"the path has no breakpoint: {stopped}")
    lam = check_number(
        lam,
        "lambda",
        f"finite and at least {SMALLEST_LAMBDA:g}",
        lambda v: SMALLEST_LAMBDA <= v < np.inf,
    )
    if lam < lambdas[-1]:
        raise ValueError(f"the path ends at lambda = {lambdas[-1]:.6g}, above {lam:.6g}: {stopped}")
    return lam


def check_lambdas(lam: ArrayLike) -> Array:
    """Return one lambda or several as an array of at most one dimension.

    Parameters
    ----------
    lam : float or array-like of shape (k,)
        Lambdas.

    Raises
    ------
    ValueError
        If there are more dimensions.
    """
    lams = np.asarray(lam, dtype=np.float64)
    if lams.ndim > 1:
        raise ValueError(f"lam must be a number or a list of numbers; its shape is {lams.shape}")
    return lams


def _fitting(arrays: Mapping[str, NDArray[Any]], problem: MarginProblem) -> None:
    """Raise ValueError if arrays of a file do not fit each other or the problem."""
    centred = FunctionForm(problem)
    T, E, changes = arrays["lambdas"].size, arrays["event_rows"].size, arrays["alpha_rows"].size
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("lambdas", "values_at_anchor", "gaps", "margins"), (T,)),
        **dict.fromkeys(("event_breakpoints", "event_rows", "event_kinds"), (E,)),
        **dict.fromkeys(("alpha_rows", "alpha_values"), (changes,)),
        "betas": (T, problem.m),
        "w": (T, len(centred.centre) if centred.explicit else 0),
        "midpoint_gaps": (max(T - 1, 0),),
        "alpha_first": (problem.p,),
        "alpha_starts": (T + 1,),
    }
    kinds = dict.fromkeys(shapes, "f") | dict.fromkeys(INTEGER_ARRAYS, "i")
    ends = dict.fromkeys(("alpha_rows", "event_rows"), problem.p)
    ends |= {"event_breakpoints": T, "event_kinds": len(BreakpointKind)}
    check_arrays(arrays, kinds, shapes, ends, "alpha_starts", changes)
