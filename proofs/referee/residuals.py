"""How well a backend solved its own problem, computed from the vectors that it returned and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import max_or_inf
from equimargin.formulations.programs.standard_form import StandardForm


class Residual(NamedTuple):
    """How far raw vectors x and z are from a solution of their standard form; inf where vectors are missing."""

    objective_error: float
    """About the error of the objective, in its units: |p - d| + |z|'|r_p| + |x|'|r_d| + 1/2 r_d' diag(P)^-1 r_d."""
    normwise: float
    """The largest relative residual, without a unit; unlike the first it is not 0 at x = z = 0."""


def own_residual(
    form: StandardForm, x: Array | None, z: Array | None, sizes: Array | None = None
) -> Residual:
    """The residual of a backend's vectors: r_p of the rows, r_d of the stationarity, and the gap of the values p and d.

    Parameters
    ----------
    form : StandardForm
        The problem as the backend was given it.
    x : Array | None of shape (n,)
        unknowns.
    z : Array | None of shape (r,)
        multipliers.
    sizes : Array | None of shape (n,)
        Those of x and of the optimum, as far as they are known; |x| by default.
    """
    if x is None or z is None or x.shape != form.q.shape or z.shape != form.h.shape:
        return Residual(np.inf, np.inf)
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return Residual(np.inf, np.inf)
    sizes = np.abs(x) if sizes is None else sizes
    s = form.h - form.G @ x
    primal_residual = s - form.on_cone(s)
    z = form.on_dual_cone(z)
    Px = form.P @ x
    dual_residual = Px + form.q + form.G.T @ z
    primal = form.objective(x)
    dual = -float(x @ Px) / 2 - float(form.h @ z) + form.offset
    for bound, sign in (
        (form.lower, 1.0),
        (form.upper, -1.0),
    ):  # bounds on variables are not rows: their multipliers are in the residual
        finite = np.isfinite(bound)
        multiplier = np.where(finite, np.maximum(0.0, sign * dual_residual), 0.0)
        dual_residual = dual_residual - sign * multiplier
        dual += sign * float(multiplier[finite] @ bound[finite])
        outside = np.where(finite, np.maximum(0.0, sign * (np.where(finite, bound, 0.0) - x)), 0.0)
        primal_residual = np.append(primal_residual, outside)
        z = np.append(z, multiplier)
    normwise = max(
        max_or_inf(np.abs(primal_residual)) / (1 + max_or_inf(np.abs(form.h))),
        max_or_inf(np.abs(dual_residual)) / (1 + max_or_inf(np.abs(form.q))),
        abs(primal - dual) / (1 + abs(primal)),
    )
    curved = form.P.diagonal() > 0
    second_order = float((dual_residual[curved] ** 2 / form.P.diagonal()[curved]).sum()) / 2
    first_order = (
        abs(primal - dual)
        + float(np.abs(z) @ np.abs(primal_residual))
        + float(sizes @ np.abs(dual_residual))
    )
    return Residual(first_order + second_order, normwise)
