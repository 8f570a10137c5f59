"""The path of a one-norm program as an object that answers at any lambda: pieces on each of which x is constant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.kernels.features import new_points
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.solvers.path.result import OPTIMAL_GAP, SMALLEST_LAMBDA
from equimargin.solvers.problem_file import packed, read, unpacked, write
from equimargin.solvers.solution import Solution, Status

FORMAT = "equimargin one-norm path 3"
"""Name of the format of a path's file. The number counts the changes of its layout."""
ARRAYS = {
    **dict.fromkeys(("lambdas", "values", "lower", "gaps"), "f"),
    **dict.fromkeys(("starts", "columns", "rows", "flips", "flipped_at"), "i"),
    "low": "b",
}
"""Arrays of a path that its file holds under their own names, and what they hold: floats, integers or truth values."""

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OneNormPath:
    """All solutions of a one-norm program for lambda = 1 / C from infinity down to lambdas[-1].

    x and b are piecewise constant in lambda, and jump from one piece to the next. The multipliers of the program at C are C u, where u is
    affine in lambda on every piece. At the end that two pieces share the x of both are optimal, and `at` returns that of the first.

    Parameters
    ----------
    problem : OneNormProblem
        Whose path it is; its C means nothing.
    lambdas : ndarray of shape (T,)
        The lower ends of the pieces, decreasing; the upper end of a piece is the lower
        one of the piece before, infinity of the first. 0 may be the last. Neighbouring
        pieces may have one x, and differ in the u.
    starts : Index of shape (T + 1,)
        Where the entries of every piece begin in the four arrays that follow.
    columns, values
        The entries of x that need not be 0, and of the bias, which has the number
        problem.size.
    rows, lower
        The rows on the margin, and their u at the lower end of the piece.
    low : NDArray[np.bool_] of shape (rows of the problem,)
        Which have u = 1 before the first flip.
    flips, flipped_at : Index
        rows whose u changes between 0 and 1, and before which piece.
    gaps : ndarray of shape (T,)
        The larger relative gap of the two ends of a piece, in float64; of its upper end
        alone where the lower one is 0. Rounding is not counted, which makes about 1e-15
        times lambdas[0] / lambda of it; what `at` returns has a proven interval.
    stopped : str
        Why it ends, in a sentence.
    complete : bool
        Whether nothing of it is missing.
    seconds : float
        Of wall time.
    """

    problem: OneNormProblem
    lambdas: Array
    starts: Index
    columns: Index
    values: Array
    rows: Index
    lower: Array
    low: NDArray[np.bool_]
    flips: Index
    flipped_at: Index
    gaps: Array
    stopped: str
    complete: bool
    seconds: float

    def __len__(self) -> int:
        return len(self.lambdas)

    @property
    def sizes(self) -> Index:
        """How many rows are on the margin, (T,): the size of the basis of every piece."""
        return np.diff(self.starts)

    @property
    def bias(self) -> Array:
        """b on the pieces, (T,); zeros without a bias."""
        return np.asarray(self._table[:, [self.problem.size]].toarray()[:, 0])

    @property
    def margins(self) -> Index:
        """How many rows are on the margin on the way to the next breakpoint, (T,)."""
        return np.append(self.sizes[1:], self.sizes[-1:])

    @property
    def midpoint_gaps(self) -> Array:
        """Bounds of the gaps half way between breakpoints, (T - 1,): the primal value is affine on a piece, and the dual one concave."""
        return self.gaps[1:]

    @cached_property
    def _table(self) -> Any:
        """x, and last b, on every piece, (T, size + 1), a scipy CSR array."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.values, self.columns, self.starts), shape=(len(self), self.problem.size + 1)
        )

    @property
    def betas(self) -> Any:
        """The coefficients of f = sum_i beta_i k(x_i, .) on the pieces, (T, m), a scipy CSR array."""
        x = self._table[:, : self.problem.size]
        return x if self.problem.over == "points" else (x @ self.problem.rows.matrix).tocsr()

    def functions(self, X: Any) -> Array:
        """f(x) + b on the pieces, (T, n).

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
        block = self.problem.kernel.block(
            new_points(X, self.problem.X, self.problem.feature_names), self.problem.X
        )
        return np.asarray(self.betas @ block.T) + self.bias[:, None]

    def piece(self, lam: float) -> int:
        """The number of the piece of lambda; raises ValueError where the path does not reach it."""
        if not len(self):
            raise ValueError(f"the path has no piece: {self.stopped}")
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
        return int(np.searchsorted(-self.lambdas, -lam))

    def at(self, lam: float) -> Solution:
        """The solution at C = 1 / lambda.

        Parameters
        ----------
        lam : float
            > 0, at least lambdas[-1].

        Returns
        -------
        Solution
            Of the problem with that C, with x, b and u; its interval is proven as that
            of any solver's answer. It is called optimal
        where the relative width of that is at most 1e-8, every rounding counted.

        Raises
        ------
        ValueError
            A lambda that the path does not reach.
        """
        t = self.piece(lam)
        problem = self.problem.with_cost(1 / float(lam))
        x, b = self._coefficients(t)
        point = OneNormPoint(
            x, self._multipliers(t, float(lam)) / float(lam), b if problem.bias else None
        )
        found = Solution(problem, "path", point, Status.OPTIMAL, "", t + 1, self.seconds)
        width = found.interval.relative_width  # the gap in float64 may be small by rounding alone
        status = Status.OPTIMAL if width <= OPTIMAL_GAP else Status.NUMERICAL_FAILURE
        return replace(
            found,
            status=status,
            reason=f"lambda = {float(lam):.6g} on the path, at a proven relative width of "
            f"{width:.1e}",
        )

    def decision_function(self, X: Any, lam: ArrayLike) -> Array:
        """f(x) + b at lambda, (n,); (k, n) for k of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.
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
        block = self.problem.kernel.block(points, self.problem.X)
        parts = [self._coefficients(self.piece(one)) for one in np.atleast_1d(lams).tolist()]
        f = np.array([block @ self.problem.coefficients(x) + b for x, b in parts])
        return f if lams.ndim else np.asarray(f[0])

    def save(self, file: str | Path) -> None:
        """Write an NPZ file without pickles, the problem with the path, whole or not at all; `load` reads it."""
        words, arrays = packed(self.problem)
        words |= {"stopped": self.stopped, "complete": self.complete, "seconds": self.seconds}
        write(
            file, FORMAT, words, arrays | {f"path_{name}": getattr(self, name) for name in ARRAYS}
        )

    @classmethod
    def load(cls, file: str | Path) -> OneNormPath:
        """Read what `save` wrote.

        Raises
        ------
        ValueError
            A file that is none of these, with what is wrong in a sentence.
        FileNotFoundError
            No file.
        """
        return read(file, FORMAT, "path of a one-norm program", cls._made)

    @classmethod
    def _made(cls, words: dict[str, Any], arrays: dict[str, Any]) -> OneNormPath:
        """The path that a file holds."""
        problem = unpacked(words, arrays)
        if not isinstance(problem, OneNormProblem):
            raise ValueError("its problem is no one-norm program")
        held = {name: arrays[f"path_{name}"] for name in ARRAYS}
        wrong = [
            name
            for name, kind in ARRAYS.items()
            if held[name].ndim != 1 or held[name].dtype.kind != kind
        ]
        T, entries = len(held["lambdas"]), len(held["values"])
        lengths = {
            "gaps": T,
            "starts": T + 1,
            "columns": entries,
            "rows": entries,
            "lower": entries,
            "low": problem.p,
        }
        wrong += [name for name, length in lengths.items() if len(held[name]) != length]
        if wrong:
            raise ValueError(f"its {wrong[0]} does not fit the others")
        return cls(
            problem,
            **held,
            stopped=words["stopped"],
            complete=words["complete"],
            seconds=words["seconds"],
        )

    def _coefficients(self, t: int) -> tuple[Array, float]:
        """x (size,) and b on a piece."""
        part = slice(self.starts[t], self.starts[t + 1])
        x = np.zeros(self.problem.size + 1)
        x[self.columns[part]] = self.values[part]
        return x[:-1], float(x[-1])

    def _multipliers(self, t: int, lam: float) -> Array:
        """u at lambda on a piece, (p,), between those of its two ends: feasible where both are. On the first piece u is constant."""
        if t == 0:
            return self._at_the_end(0)
        high, low = self.lambdas[t - 1], self.lambdas[t]
        share = (lam - low) / (high - low)
        return np.asarray(share * self._at_the_end(t - 1) + (1 - share) * self._at_the_end(t))

    def _at_the_end(self, t: int) -> Array:
        """u at the lower end of a piece, (p,)."""
        part, flips = slice(self.starts[t], self.starts[t + 1]), self.flips[self.flipped_at <= t]
        u: Array = (self.low ^ (np.bincount(flips, minlength=self.problem.p) % 2 == 1)).astype(
            np.float64
        )
        u[self.rows[part]] = self.lower[part]
        return u
