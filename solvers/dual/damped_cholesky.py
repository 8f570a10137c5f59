"""Cholesky's factor of a matrix that may be singular, or that rounding may have made indefinite.

    H + damping diag(unit) = L L'

The damping is the first of a rising list for which there is a factor. H is singular
wherever points outnumber dimensions. Where kernel values are large beside their
differences, rounding may even have made its diagonal negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array


class CholeskyFactor(NamedTuple):
    """Cholesky's factor (n, n), in one triangle of a matrix."""

    matrix: NDArray[Any]
    lower: bool

    def solve(self, v: Array) -> Array:
        """The solution (n,) for a right-hand side (n,), computed in the factor's precision."""
        solve = _lapack("potrs", self.matrix.dtype)
        return np.asarray(
            solve(self.matrix, v.astype(self.matrix.dtype), lower=self.lower)[0], dtype=np.float64
        )


def damped_factor(
    fresh: Callable[[], NDArray[Any]],
    diagonal: NDArray[Any],
    unit: Array | float,
    dampings: Iterable[float],
    lower: bool = False,
    out_of_time: Callable[[], bool] = lambda: False,
) -> CholeskyFactor | None:
    """The factor for the first damping that allows one; None if none does, or when time is out.

    Parameters
    ----------
    fresh : Callable[[], NDArray[Any]]
        Writes H (n, n) anew, in Fortran's order, because an attempt overwrites it; its
        diagonal does not count.
    diagonal : NDArray[Any] of shape (n,)
        Of H.
    unit : Array | float of shape (n,)
        Or a number, what the diagonal grows by at a damping of 1.
    dampings : Iterable[float]
        In rising order.
    lower : bool
        Whether the lower triangle of H is read, and not the upper one.
    out_of_time : Callable[[], bool]
        Whether to end before the next damping.
    """
    for damping in dampings:
        H = fresh()
        H.flat[:: len(H) + 1] = diagonal + damping * unit
        factor, wrong = _lapack("potrf", H.dtype)(H, lower=lower, overwrite_a=True, clean=False)
        if not wrong and math.isfinite(
            factor.diagonal().sum()
        ):  # an H with NaN may have a factor with NaN
            return CholeskyFactor(factor, lower)
        if out_of_time():
            break
    return None


@cache
def _lapack(name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """LAPACK's function for float32 or float64; scipy's own `cho_solve` takes longer than the solution of a small system."""
    from scipy.linalg import lapack

    function: Callable[..., Any] = getattr(lapack, ("s" if dtype == np.float32 else "d") + name)
    return function
