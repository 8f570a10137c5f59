"""Pairwise coupling: probabilities p of k classes from those of every two classes.

r_ij is the probability of i against j, with r_ij + r_ji = 1.

    coupling.wlw       min over p, 1'p = 1     sum over i < j of (r_ji p_i - r_ij p_j)^2

The constraint p >= 0 is unnecessary: it holds at the optimum. The coupling of Hastie
and Tibshirani, reference [13] of Yu and Kim, and Platt's sigmoid have logarithms, whose
optima are not proven: `equimargin.solvers.probability` solves them, and tests compare
its results with cvxpy.

References
----------
T.-F. Wu, C.-J. Lin, R. C. Weng, Probability estimates for multi-class classification by
pairwise coupling, JMLR 5 (2004).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.declarations.checks import needing
from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array

TITLE = (
    "Wu, Lin, Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling "
    "(2004)"
)
TOO_SURE = 1e-7
"""Minimum distance from 0 and 1 of a probability of two classes, as in LIBSVM.

Probabilities closer to 0 or 1 are no estimates; they are clipped.
"""
NO_SUM = 1e-12
"""Maximum |r_ij + r_ji - 1|."""


def _drawn() -> Any:
    """Return a strategy of three or four classes, with eighths as probabilities."""
    # Imported here: hypothesis is needed only if data are generated.
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: st.DrawFn) -> Data:
        k = draw(st.integers(3, 4))
        r = np.full((k, k), 0.5)
        for i, j in combinations(range(k), 2):
            r[i, j] = draw(st.integers(1, 7)) / 8
            r[j, i] = 1 - r[i, j]
        return {"r": r}

    return drawn()


def of_every_two(r: ArrayLike) -> Array:
    """Return the probabilities of every two classes, clipped for coupling.

    No probability is closer to 0 or 1 than 1e-7, and the diagonal is 0.

    Parameters
    ----------
    r : array-like of shape (..., k, k)
        Probabilities, as in `wlw`.

    Returns
    -------
    ndarray of shape (..., k, k)
        Clipped probabilities.

    Raises
    ------
    ValueError
        If r has another shape or a number outside [0, 1], or r_ij + r_ji is not 1.
    """
    R = check_reals(r, "r").copy()
    if R.ndim < 2 or R.shape[-1] != R.shape[-2] or R.shape[-1] < 2:
        raise ValueError(
            f"r must be square matrices of two classes or more, not of shape {R.shape}"
        )
    off_diagonal = ~np.eye(R.shape[-1], dtype=bool)
    if not ((R >= 0) & (R <= 1))[..., off_diagonal].all():
        raise ValueError("r must hold probabilities, numbers from 0 to 1")
    if (np.abs(R + np.swapaxes(R, -1, -2) - 1) > NO_SUM)[..., off_diagonal].any():
        raise ValueError("r_ij + r_ji must be 1 for every two classes")
    return np.where(off_diagonal, np.clip(R, TOO_SURE, 1 - TOO_SURE), 0.0)


def _check_pairs(value: Any, name: str, data: Data) -> None:
    if np.ndim(value) != 2:
        raise ValueError(f"{name} must be a square matrix, not of shape {np.shape(value)}")
    of_every_two(value)


wlw = Family(
    "coupling.wlw", Source("Wu 2004", "(20)", TITLE), data=_drawn, check=needing(r=_check_pairs)
)
"""r (k, k), the probability of i if only i and j are possible.

The diagonal does not matter.
"""


def _differences(d: Data) -> np.ndarray:
    """Return M (k (k - 1) / 2, k), with a row for every i < j.

    The row has r_ji in column i and -r_ij in column j.
    """
    r = np.asarray(d["r"], dtype=np.float64)
    pairs = list(combinations(range(len(r)), 2))
    M = np.zeros((len(pairs), len(r)))
    for row, (i, j) in enumerate(pairs):
        M[row, i], M[row, j] = r[j, i], -r[i, j]
    return M


def _primal(M: np.ndarray, *more: Any) -> cp.Problem:
    p = cp.Variable(M.shape[1], name="p")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(M @ p)), [cp.sum(p) == 1, *(bound(p) for bound in more)]
    )


@wlw.formulation("primal", latex=r"\min_{1'p = 1} \sum_{i<j} (r_{ji} p_i - r_{ij} p_j)^2")
def primal(d: Data) -> cp.Problem:
    """min over p, 1'p = 1, of   sum over i < j of (r_ji p_i - r_ij p_j)^2."""
    return _primal(_differences(d))


@wlw.formulation("nonnegative")
def nonnegative(d: Data) -> cp.Problem:
    """The same with p >= 0, which changes nothing."""
    return _primal(_differences(d), lambda p: p >= 0)


@wlw.formulation("dual", latex=r"\max \nu - \tfrac14 |u|^2,\; M'u = \nu 1")
def dual(d: Data) -> cp.Problem:
    """max nu - 1/4 |u|^2
    s.t.   sum over j of u_ij r_ji = nu for every i, where u_ji = -u_ij.
    """
    M = _differences(d)
    u, nu = cp.Variable(len(M), name="u"), cp.Variable(name="nu")
    return cp.Problem(
        cp.Maximize(nu - cp.sum_squares(u) / 4), [M.T @ u == nu * np.ones(M.shape[1])]
    )


@wlw.formulation("swapped", control=True)
def swapped(d: Data) -> cp.Problem:
    """r_ij p_i - r_ji p_j, with the two probabilities of a pair exchanged."""
    return _primal(_differences({"r": np.asarray(d["r"]).T}))


@wlw.formulation("first_method", control=True)
def first_method(d: Data) -> cp.Problem:
    """Their first method, which looks alike:
    (k - 1) p_i = sum over j != i of r_ij (p_i + p_j), p >= 0, 1'p = 1,
    in least squares.
    """
    r = np.asarray(d["r"], dtype=np.float64) * (1 - np.eye(len(d["r"])))
    k = len(r)
    p = cp.Variable(k, name="p")
    residuals = (k - 1) * p - r @ p - cp.multiply(r.sum(axis=1), p)
    return cp.Problem(cp.Minimize(cp.sum_squares(residuals)), [cp.sum(p) == 1, p >= 0])
