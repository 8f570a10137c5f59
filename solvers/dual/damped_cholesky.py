"""Cholesky factor of a matrix that may be singular or, by rounding, indefinite.

    H + damping diag(unit) = L L'

The damping is the first of an increasing list for which a factor exists. H is singular
if points outnumber dimensions. If kernel values are large relative to their
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
    """Cholesky factor (n, n), in one triangle of a matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Matrix whose triangle is the factor.
    lower : bool
        True if the factor is the lower triangle.
    """

    matrix: NDArray[Any]
    lower: bool

    def solve(self, v: Array) -> Array:
        """Solve a linear system in the precision of the factor.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Right-hand side.

        Returns
        -------
        ndarray of shape (n,)
            Solution, float64.
        """
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
    """Return the factor for the first damping that has one, or None.

    Parameters
    ----------
    fresh : callable
        Returns H (n, n) in Fortran order, written anew because an attempt overwrites
        it; its diagonal is ignored.
    diagonal : ndarray of shape (n,)
        Diagonal of H.
    unit : float or ndarray of shape (n,)
        Increase of the diagonal at a damping of 1.
    dampings : iterable of float
        Dampings, in increasing order.
    lower : bool
        True to read the lower triangle of H, False the upper one.
    out_of_time : callable
        Returns True to stop before the next damping.

    Returns
    -------
    CholeskyFactor or None
        Factor; None if no damping has one, or time is out.
    """
    for damping in dampings:
        H = fresh()
        H.flat[:: len(H) + 1] = diagonal + damping * unit
        factor, wrong = _lapack("potrf", H.dtype)(H, lower=lower, overwrite_a=True, clean=False)
        # An H with NaN may have a factor with NaN.
        if not wrong and math.isfinite(factor.diagonal().sum()):
            return CholeskyFactor(factor, lower)
        if out_of_time():
            break
    return None


@cache
def _lapack(name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """Return a LAPACK function for float32 or float64.

    scipy's `cho_solve` takes longer than the solution of a small system.
    """
    from scipy.linalg import lapack

    function: Callable[..., Any] = getattr(lapack, ("s" if dtype == np.float32 else "d") + name)
    return function
