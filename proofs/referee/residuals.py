"""Residual of a backend's raw vectors in the problem that it was given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import max_or_inf
from equimargin.formulations.programs.standard_form import StandardForm


class Residual(NamedTuple):
    """Residual of raw vectors x and z of a standard form; inf if vectors are missing."""

    objective_error: float
    """Approximate error |p - d| + |z|'|r_p| + |x|'|r_d| + e of the objective.

    p and d are the primal and the dual value, r_p and r_d the residuals of the rows and
    of stationarity, and e = 1/2 r_d' diag(P)^-1 r_d.
    """
    normwise: float
    """Largest relative residual; unlike `objective_error` it does not vanish at x = z = 0."""


def own_residual(
    form: StandardForm, x: Array | None, z: Array | None, sizes: Array | None = None
) -> Residual:
    """Return the residual of a backend's vectors.

    Parameters
    ----------
    form : StandardForm
        Problem as passed to the backend.
    x : ndarray or None of shape (n,)
        Variables.
    z : ndarray or None of shape (r,)
        Multipliers.
    sizes : ndarray or None of shape (n,)
        Estimates of the size of each variable, to be used instead of |x|.
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
    # Bounds on variables are not rows: their multipliers are in the residual.
    for bound, sign in ((form.lower, 1.0), (form.upper, -1.0)):
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
