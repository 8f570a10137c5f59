"""Path of a one-norm program, evaluated at any lambda; x is constant on each piece."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.kernels.features import new_points
from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.solvers.path.result import OPTIMAL_GAP, check_lambda, check_lambdas
from equimargin.solvers.path.stored import check_arrays, read_fields
from equimargin.solvers.problem_file import packed, read, unpacked, write
from equimargin.solvers.solution import Solution, Status

FORMAT = "equimargin one-norm path 3"
"""Format name of a path's file; the number counts the changes of its layout."""
ARRAYS = {
    **dict.fromkeys(("lambdas", "values", "lower", "gaps"), "f"),
    **dict.fromkeys(("starts", "columns", "rows", "flips", "flipped_at"), "i"),
    "low": "b",
}
"""Names of the arrays in a path's file, and their kind: float, integer or bool."""


@dataclass(frozen=True, eq=False)
class OneNormPath:
    """All solutions of a one-norm program for lambda = 1 / C from infinity to lambdas[-1].

    x and b are piecewise constant in lambda, and jump from one piece to the next. The
    multipliers of the program at C are C u, where u is affine in lambda on every piece.
    At a lambda where two pieces meet, the x of both are optimal, and `at` returns that
    of the first.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the path; its C is ignored.
    lambdas : ndarray of shape (T,)
        Lower ends of the pieces, decreasing; the upper end of a piece is the lower one
        of the previous piece, infinity for the first. 0 may be the last. Neighbouring
        pieces may have equal x and different u.
    starts : Index of shape (T + 1,)
        Start of the entries of every piece in the four arrays that follow.
    columns, values
        Column numbers and values of the entries of x that may be nonzero, and of the
        bias, which has the number problem.size.
    rows, lower
        Rows on the margin, and their u at the lower end of the piece.
    low : Mask of shape (rows of the problem,)
        True for rows of which u is the weight before the first flip.
    flipped_at, flips : Index
        Pieces before which a u changes between 0 and the weight, and the rows of these u.
    gaps : ndarray of shape (T,)
        Larger relative gap of the two ends of a piece, in float64; of its upper end
        alone where the lower one is 0. Rounding errors, about 1e-15 lambdas[0] /
        lambda, are not included; the result of `at` has a proven interval.
    stopped : str
        Reason for the end, as a sentence.
    complete : bool
        True if no part of the path is missing.
    seconds : float
        Wall time in seconds.
    """

    problem: OneNormProblem
    lambdas: Array
    starts: Index
    columns: Index
    values: Array
    rows: Index
    lower: Array
    low: Mask
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
        """Number of rows on the margin, shape (T,): the size of the basis of every piece."""
        return np.diff(self.starts)

    @property
    def bias(self) -> Array:
        """b on the pieces, shape (T,); zeros without a bias."""
        return np.asarray(self._table[:, [self.problem.size]].toarray()[:, 0])

    @property
    def margins(self) -> Index:
        """Number of rows on the margin on the way to the next breakpoint, shape (T,)."""
        return np.append(self.sizes[1:], self.sizes[-1:])

    @property
    def midpoint_gaps(self) -> Array:
        """Bounds of the gaps half way between breakpoints, shape (T - 1,).

        The primal value is affine on a piece, and the dual one concave.
        """
        return self.gaps[1:]

    @cached_property
    def _table(self) -> Any:
        """x, and last b, on every piece, a scipy CSR array of shape (T, size + 1)."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.values, self.columns, self.starts), shape=(len(self), self.problem.size + 1)
        )

    @property
    def betas(self) -> Any:
        """Coefficients of f = sum_i beta_i k(x_i, .) on the pieces, a CSR array (T, m)."""
        x = self._table[:, : self.problem.size]
        return x if self.problem.over == "points" else (x @ self.problem.rows.matrix).tocsr()

    def functions(self, X: Any) -> Array:
        """Return f(x) + b on the pieces, shape (T, n).

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
        block = self.problem.kernel.block(
            new_points(X, self.problem.X, self.problem.feature_names), self.problem.X
        )
        return np.asarray(self.betas @ block.T) + self.bias[:, None]

    def piece(self, lam: float) -> int:
        """Return the number of the piece of lambda.

        Parameters
        ----------
        lam : float
            Lambda > 0, at least lambdas[-1].

        Raises
        ------
        ValueError
            If the path does not reach lambda.
        """
        lam = check_lambda(lam, self.lambdas, self.stopped)
        return int(np.searchsorted(-self.lambdas, -lam))

    def at(self, lam: float) -> Solution:
        """Return the solution at C = 1 / lambda.

        Parameters
        ----------
        lam : float
            Lambda > 0, at least lambdas[-1].

        Returns
        -------
        Solution
            Solution of the problem with that C, with x, b and u; its interval is
            proven, as for every solver. The status is optimal if the relative width of
            the interval, with every rounding included, is at most 1e-8.

        Raises
        ------
        ValueError
            If the path does not reach lambda.
        """
        t = self.piece(lam)
        problem = self.problem.with_cost(1 / float(lam))
        x, b = self._coefficients(t)
        point = OneNormPoint(
            x, self._multipliers(t, float(lam)) / float(lam), b if problem.bias else None
        )
        solution = Solution(problem, "path", point, Status.OPTIMAL, "", t + 1, self.seconds)
        # The gap in float64 may be small by rounding alone: use the proven width.
        width = solution.interval.relative_width
        status = Status.OPTIMAL if width <= OPTIMAL_GAP else Status.NUMERICAL_FAILURE
        return replace(
            solution,
            status=status,
            reason=f"lambda = {float(lam):.6g} on the path, at a proven relative width of "
            f"{width:.1e}",
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
        block = self.problem.kernel.block(points, self.problem.X)
        parts = [self._coefficients(self.piece(one)) for one in np.atleast_1d(lams).tolist()]
        f = np.array([block @ self.problem.coefficients(x) + b for x, b in parts])
        return f if lams.ndim else np.asarray(f[0])

    def save(self, file: str | Path) -> None:
        """Write the problem and the path to an NPZ file without pickles; `load` reads it.

        The file is written completely or not at all.

        Parameters
        ----------
        file : str or Path
            Path of the file.
        """
        words, arrays = packed(self.problem)
        words |= {"stopped": self.stopped, "complete": self.complete, "seconds": self.seconds}
        write(
            file, FORMAT, words, arrays | {f"path_{name}": getattr(self, name) for name in ARRAYS}
        )

    @classmethod
    def load(cls, file: str | Path) -> OneNormPath:
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
        return read(file, FORMAT, "path of a one-norm program", cls._made)

    @classmethod
    def _made(cls, words: dict[str, Any], arrays: dict[str, Any]) -> OneNormPath:
        """Return the path that a file contains."""
        problem = unpacked(words, arrays)
        if not isinstance(problem, OneNormProblem):
            raise ValueError("the problem must be a one-norm program")
        fields = {name: arrays[f"path_{name}"] for name in ARRAYS}
        T, entries, flips = (fields[name].size for name in ("lambdas", "values", "flips"))
        shapes = {
            **dict.fromkeys(("lambdas", "gaps"), (T,)),
            **dict.fromkeys(("columns", "values", "rows", "lower"), (entries,)),
            **dict.fromkeys(("flips", "flipped_at"), (flips,)),
            "starts": (T + 1,),
            "low": (problem.p,),
        }
        ends = dict.fromkeys(("rows", "flips"), problem.p)
        ends |= {"columns": problem.size + 1, "flipped_at": T + 1}
        check_arrays(fields, ARRAYS, shapes, ends, "starts", entries)
        return cls(problem, **fields, **read_fields(words, "seconds"))

    def _coefficients(self, t: int) -> tuple[Array, float]:
        """Return x, shape (size,), and b on a piece."""
        part = slice(self.starts[t], self.starts[t + 1])
        x = np.zeros(self.problem.size + 1)
        x[self.columns[part]] = self.values[part]
        return x[:-1], float(x[-1])

    def _multipliers(self, t: int, lam: float) -> Array:
        """Return u at lambda on a piece, shape (p,), interpolated between its two ends.

        It is feasible where both ends are. On the first piece u is constant.
        """
        if t == 0:
            return self._at_the_end(0)
        high, low = self.lambdas[t - 1], self.lambdas[t]
        share = (lam - low) / (high - low)
        return np.asarray(share * self._at_the_end(t - 1) + (1 - share) * self._at_the_end(t))

    def _at_the_end(self, t: int) -> Array:
        """Return u at the lower end of a piece, shape (p,)."""
        part, flips = slice(self.starts[t], self.starts[t + 1]), self.flips[self.flipped_at <= t]
        has_slack = self.low ^ (np.bincount(flips, minlength=self.problem.p) % 2 == 1)
        u: Array = np.where(has_slack, self.problem.unit_weights, 0.0)
        u[self.rows[part]] = self.lower[part]
        return u
