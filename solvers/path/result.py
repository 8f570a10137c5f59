"""A regularisation path as an object that answers at any lambda: its breakpoints, and straight lines between them.

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
from equimargin.solvers.problem_file import is_number, packed, read, unpacked, write
from equimargin.solvers.solution import Solution, Status

PATH_FORMAT = "equimargin regularization path 3"
"""Name of the format of a path's file. The number counts the changes of its layout."""
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
"""Arrays of a path that its file holds under their own names."""
ARRAYS_OF_ALPHA = ("first", "starts", "rows", "values")
"""Arrays of the path's `Alphas`, which its file holds as alpha_first and so on."""
INTEGER_ARRAYS = (
    "margins",
    "event_breakpoints",
    "event_rows",
    "event_kinds",
    "alpha_starts",
    "alpha_rows",
)
"""Arrays of the file whose entries are integers; all others are float64."""
FIELDS_IN_JSON = ("level", "stopped", "complete", "seconds")
"""Fields of a path that its file holds as JSON."""
SMALLEST_LAMBDA = 1e-300
"""lambda below which a path gives no answers: its inverse, the cost C, comes too near to the largest float."""
OPTIMAL_GAP = 1e-8
"""Relative gap, rounding included, up to which an answer of a path is called optimal. The command `path` fails where one is larger."""


class Event(NamedTuple):
    """A row that comes into the margin set or goes out of it.

    Parameters
    ----------
    lam : float
        lambda.
    kind : str
        "enter", or "zero" and "weight": out of it with alpha = 0, with alpha = weight.
    row : int
        Of the problem.
    """

    lam: float
    kind: str
    row: int


class Alphas(Sequence[Array]):
    """alpha at every breakpoint, (p,) each, kept as what changes.

    Parameters
    ----------
    first : ndarray of shape (p,)
        The first one.
    starts : NDArray[np.int64] of shape (T + 1,)
        And rows, values : (changes,): from breakpoint t - 1 to t alpha changes at
        rows[starts[t]:starts[t + 1]] at most, to values.
    """

    def __init__(
        self, first: Array, starts: NDArray[np.int64], rows: NDArray[np.int32], values: Array
    ) -> None:
        self.first, self.starts, self.rows, self.values = first, starts, rows, values
        self._last: tuple[int, Array] = (-1, first)

    @classmethod
    def of(cls, first: Array, changes: NDArray[np.int64], rows: Index, values: Array) -> Alphas:
        """From how many changes there are at every breakpoint, (T,), and which, one after the other."""
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
        alpha[self.rows[changed]] = self.values[
            changed
        ]  # of a row's several values the last one stays
        self._last = t, alpha
        return alpha.copy()

    def __iter__(self) -> Iterator[Array]:
        return (self[t] for t in range(len(self)))


@dataclass(frozen=True, eq=False)
class OnPath(Solution):
    """A path's solution at one lambda.

    Parameters
    ----------
    gap : float
        Relative, measured without terms that cancel, with all rounding against it.
    """

    gap: float = field(kw_only=True)

    @property
    def relative_gap(self) -> float:
        """Primal minus dual of the point, over S, in extended precision, with the rounding of that counted against it."""
        return self.gap


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """All solutions of a hinge's problem for lambda = 1 / C from infinity down to lambdas[-1].

    Parameters
    ----------
    problem : MarginProblem
        Whose path it is; its C means nothing.
    lambdas : ndarray of shape (T,)
        Breakpoints, decreasing, in the units of P (6): lambda = 1 / C. Above the first
        alpha does not change; 0 may be the last.
    alphas : Alphas
        T arrays (p,) in [0, weight], those of P (8): the problem's dual at
        C = 1 / lambda is alpha / lambda.
    betas : ndarray of shape (T, m)
        Coefficients of g = lambda f = sum_i beta_i k(x_i, .).
    w : ndarray of shape (T, q)
        g = w.z with the features z of a linear kernel, where they are no more than the
        points; (T, 0) otherwise. Where there is a w, it is what is returned: the f of
        the rounded alpha may be off by more.
    values_at_anchor : ndarray of shape (T,)
        g + lambda b at the anchor of `function.py`, less lambda times the offset of the
        targets, which `biases` adds; one of the best where they are an interval, 0
        without a bias.
    level : float
        d(lambda b) / d(lambda) above lambda_0.
    gaps, midpoint_gaps : ndarray of shape (T,)
        And (T - 1,) relative gaps at the breakpoints and half way to the next one:
        those of what `at` returns, with an estimate of all rounding counted against it.
    margins : NDArray[np.int64] of shape (T,)
        How many rows are in the margin set on the way to the next breakpoint.
    event_breakpoints, event_rows, event_kinds : array of shape (E,)
        See `events`.
    stopped : str
        Why it ends, in a sentence.
    complete : bool
        Whether nothing of it is missing.
    seconds : float
        Of wall time.
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
        """What happens to which row at which lambda."""
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
        """The form in which its functions are returned."""
        return FunctionForm(self.problem)

    @property
    def _functions(self) -> Array:
        """g as it is kept, (T, k)."""
        return self.w if self.centred.explicit else self.betas

    @cached_property
    def biases(self) -> Array:
        """lambda b at the breakpoints, (T,); 0 without a bias."""
        return self._biases(self.lambdas)

    @cached_property
    def g(self) -> Array:
        """lambda f at the training points, without the bias, at the breakpoints, (T, m)."""
        here = self.centred.at(self.problem.X, self._functions, self.values_at_anchor)
        return here - self._biases(np.zeros(len(self)))[:, None]

    @cached_property
    def bias(self) -> Array:
        """b at the breakpoints, (T,); at lambda = 0 that of the breakpoint before, from where f does not change."""
        b = np.divide(self.biases, self.lambdas, out=np.zeros(len(self)), where=self.lambdas > 0)
        if len(b) > 1 and self.lambdas[-1] == 0:
            b[-1] = b[-2]
        return b

    def bias_interval(self, lam: float) -> tuple[float, float]:
        """All b that are best at lambda."""
        return self.at(lam).bias_interval

    def at(self, lam: float) -> Solution:
        """The solution at C = 1 / lambda.

        Parameters
        ----------
        lam : float
            > 0, at least lambdas[-1].

        Returns
        -------
        Solution
            Of the problem with that C. Its multipliers are in [0, weight / lambda], and
            its interval is proven as that of any
        solver's answer. Where alpha does not vanish at lambda = 0, what float64 leaves of A'alpha there is divided by lambda: f stays what
        it is, but from about 1e-20 lambda_0 downwards the multipliers prove no lower bound, and the status says so.

        Raises
        ------
        ValueError
            A lambda that the path does not reach.
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
        # |g - sum_i (A'alpha)_i k(x_i, .)| is convex in lambda between breakpoints, as all norms of straight lines are.
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
        """lambda (f(x) + b) at the breakpoints, (T, n), linear in lambda in between.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Raises
        ------
        ValueError
            Points of another shape.
        """
        points = new_points(X, self.problem.X, self.problem.feature_names)
        return self.centred.at(
            points, self._functions, self.values_at_anchor + self.lambdas * self.centred.offset
        )

    def decision_function(self, X: Any, lam: ArrayLike) -> Array:
        """f(x) + b at lambda, (n,); (k, n) for k of them.

        Parameters
        ----------
        X : Any
            As in `values`.
        lam : ArrayLike
            > 0, at least lambdas[-1], a number or (k,).

        Raises
        ------
        ValueError
            A lambda that the path does not reach, X or lam of another shape.
        """
        lams = np.asarray(lam, dtype=np.float64)
        if lams.ndim > 1:
            raise ValueError(
                f"lam must be a number or a list of numbers; its shape is {lams.shape}"
            )
        points = new_points(X, self.problem.X, self.problem.feature_names)
        functions = [self._function(self._parts(one), one) for one in np.atleast_1d(lams).tolist()]
        V = np.array([v for v, _ in functions]).reshape(len(functions), self._functions.shape[1])
        f = self.centred.at(
            points, V, np.array([value for _, value in functions]) + self.centred.offset
        )
        return f if lams.ndim else np.asarray(f[0])

    def predict(self, X: Any, lam: ArrayLike) -> Array:
        """Labels -1 and +1 of a classification, values of a regression, scores of a ranking; shapes as of `decision_function`."""
        f = self.decision_function(X, lam)
        return np.where(f >= 0, 1.0, -1.0) if isinstance(self.problem.rows, Signed) else f

    def save(self, file: str | Path) -> None:
        """Write an NPZ file without pickles, the problem with the path, whole or not at all; `load` reads it."""
        words, arrays = packed(self.problem)
        words |= {name: getattr(self, name) for name in FIELDS_IN_JSON}
        arrays |= {name: getattr(self, name) for name in ARRAYS_OF_PATH} | {
            f"alpha_{name}": getattr(self.alphas, name) for name in ARRAYS_OF_ALPHA
        }
        write(file, PATH_FORMAT, words, arrays)

    @classmethod
    def load(cls, file: str | Path) -> RegularizationPath:
        """Read what `save` wrote.

        Raises
        ------
        ValueError
            A file that is none of these, with what is wrong in a sentence.
        FileNotFoundError
            No file.
        """
        return read(file, PATH_FORMAT, "regularisation path", cls._made)

    @classmethod
    def _made(cls, words: dict[str, Any], arrays: dict[str, Any]) -> RegularizationPath:
        """The path that a file holds."""
        problem = unpacked(words, arrays)
        if not isinstance(problem, MarginProblem) or problem.loss != "hinge" or problem.hard.any():
            raise ValueError("its problem is no hinge's, or has rows of infinite weight")
        _fitting(arrays, problem)
        alphas = Alphas(*(arrays[f"alpha_{name}"] for name in ARRAYS_OF_ALPHA))
        return cls(
            problem,
            alphas=alphas,
            **{name: arrays[name] for name in ARRAYS_OF_PATH},
            **_told(words),
        )

    def _parts(self, lam: float) -> list[tuple[float, int]]:
        """The breakpoints around lambda, as (share, number), whose shares sum up to what is there; the first one alone above it."""
        if not len(self):
            raise ValueError(f"the path has no breakpoint: {self.stopped}")
        lam = check_number(
            lam,
            "lambda",
            f"finite and at least {SMALLEST_LAMBDA:g}",
            lambda v: SMALLEST_LAMBDA <= v < np.inf,
        )
        if lam < self.lambdas[-1]:
            raise ValueError(
                f"the path ends at lambda = {self.lambdas[-1]:.6g}, above {lam:.6g}: {self.stopped}"
            )
        if lam >= self.lambdas[0]:
            return [(1.0, 0)]
        t = int(np.searchsorted(-self.lambdas, -lam, side="right")) - 1
        if t + 1 == len(self) or lam == self.lambdas[t]:
            return [(1.0, t)]
        share = float(
            (lam - self.lambdas[t + 1]) / (self.lambdas[t] - self.lambdas[t + 1])
        )  # exact where lambda nears 0
        return [(share, t), (1 - share, t + 1)]

    def _biases(self, lambdas: Array) -> Array:
        """lambda b at the breakpoints, (T,), with the offset of the targets multiplied by `lambdas`, (T,)."""
        handed = zip(self._functions, self.values_at_anchor.tolist(), lambdas.tolist(), strict=True)
        return np.array(
            [
                self.centred.handed(v, value, self.alphas.first, lam).b or 0.0
                for v, value, lam in handed
            ]
        )

    def _function(self, parts: list[tuple[float, int]], lam: float) -> tuple[Array, float]:
        """f as it is kept, (k,), and its value at the anchor with the bias, less the offset."""
        v = np.sum([share * self._functions[t] for share, t in parts], axis=0)
        rise = (self.level - self.centred.offset) * max(lam - self.lambdas[0], 0.0)
        value = float(sum(share * self.values_at_anchor[t] for share, t in parts)) + rise
        return v / lam, value / lam


def _fitting(arrays: Mapping[str, NDArray[Any]], problem: MarginProblem) -> None:
    """Raise ValueError where arrays of a file do not fit each other or the problem."""
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
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} is of shape {arrays[name].shape}, not {shape}")
        kind = arrays[name].dtype
        if not (kind.kind == "i" if name in INTEGER_ARRAYS else kind == np.float64):
            raise ValueError(f"{name} is of type {kind}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    if not (np.diff(arrays["lambdas"]) <= 0).all() or (arrays["lambdas"] < 0).any():
        raise ValueError("lambdas do not decrease")
    starts = arrays["alpha_starts"]
    if starts[0] != 0 or starts[-1] != changes or (np.diff(starts) < 0).any():
        raise ValueError("alpha_starts do not say which changes belong to which breakpoint")
    for name, end in (
        ("alpha_rows", problem.p),
        ("event_rows", problem.p),
        ("event_breakpoints", T),
        ("event_kinds", len(BreakpointKind)),
    ):
        if not ((arrays[name] >= 0) & (arrays[name] < end)).all():
            raise ValueError(f"{name} must be in 0 .. {end - 1}")


def _told(words: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a file holds as JSON; ValueError where one is of another kind."""
    told = {name: words[name] for name in FIELDS_IN_JSON}
    for name in ("level", "seconds"):
        if not (is_number(told[name]) and np.isfinite(told[name])):
            raise ValueError(f"{name} is no finite number: {told[name]!r}")
    if not isinstance(told["stopped"], str) or not isinstance(told["complete"], bool):
        raise ValueError("stopped and complete do not say how it ended")
    return told
