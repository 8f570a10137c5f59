"""Verified certificates of infeasibility and unboundedness returned by a backend.

    unbounded     x with Px = 0, -Gx in the cone, x in its bounds' directions, q'x < 0
    infeasible    z in the dual cone with G'z = 0 and h'z < 0 (Farkas)

A ray is scaled so that its largest entry is 1. In floating point its conditions hold
only to a tolerance, so that a ray is followed only for a finite length: at any optimum,
rounding alone makes directions that resemble short rays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import max_or_inf
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.solvers.backends.solve import Answer
from equimargin.solvers.solution import Status

RAY_TOLERANCE = 1e-6
"""Largest violation of a ray's conditions, over the objective's gain along the ray.

A ray with a larger violation proves nothing.
"""
SMALLEST_RAY = 1e-300
"""Smallest divisor of a ray, in the unit of its entries.

A ray of zeros is divided by it, and stays a ray of zeros.
"""


@dataclass(frozen=True)
class Ray:
    """Backend's ray, scaled to a largest entry of 1; figures are per unit of length."""

    gain: float
    """Gain of the objective, in the units of the backend's problem."""
    violation: float
    """Distance of the direction from its cone (unbounded), or of G'z from 0 (infeasible)."""
    deviation: float
    """Violation of the other conditions: Px = 0 and the bounds of the variables."""
    curvature: float
    """x'Px, which ends the gain at gain^2 / (2 curvature)."""
    size: float
    """Largest entry of the right-hand side with which the violation is compared."""

    @property
    def proves(self) -> bool:
        """True if it proves the backend's status."""
        return bool(
            self.gain > 0 and max(self.violation, self.deviation) <= RAY_TOLERANCE * self.gain
        )

    @property
    def reach(self) -> float:
        """Gain of the objective along the ray until it ends.

        It ends where its curvature reverses the gain, or where its conditions are
        violated by RAY_TOLERANCE of their size.
        """
        turn = self.gain**2 / (2 * self.curvature) if self.curvature > 0 else np.inf
        return min(
            turn,
            RAY_TOLERANCE * (1 + self.size) * self.gain / self.violation
            if self.violation > 0
            else np.inf,
        )


def extract_ray(answer: Answer) -> Ray | None:
    """Return the ray with which the backend certifies its status.

    Parameters
    ----------
    answer : Answer
        Answer of the backend.

    Returns
    -------
    Ray or None
        None if it has none, or one of another shape.
    """
    if answer.raw is None:
        return None
    form, x, z = answer.raw.form, answer.raw.primal_ray, answer.raw.dual_ray
    if answer.status is Status.UNBOUNDED and x is not None and x.shape == form.q.shape:
        return _primal_ray(form, x)
    if answer.status is Status.INFEASIBLE and z is not None and z.shape == form.h.shape:
        return _dual_ray(form, z)
    return None


def _primal_ray(form: StandardForm, x: Array) -> Ray:
    x = x / max(max_or_inf(np.abs(x)), SMALLEST_RAY)
    Px, s = form.P @ x, -(form.G @ x)
    below, above = (
        np.minimum(x[np.isfinite(form.lower)], 0.0),
        np.maximum(x[np.isfinite(form.upper)], 0.0),
    )
    deviation = max(max_or_inf(np.abs(v)) for v in (Px, below, above))
    return Ray(
        -float(form.q @ x),
        max_or_inf(np.abs(s - form.on_cone(s))),
        deviation,
        float(x @ Px),
        max_or_inf(np.abs(form.h)),
    )


def _dual_ray(form: StandardForm, z: Array) -> Ray:
    z = form.on_dual_cone(z)
    z = z / max(max_or_inf(np.abs(z)), SMALLEST_RAY)
    return Ray(
        -float(form.h @ z), max_or_inf(np.abs(form.G.T @ z)), 0.0, 0.0, max_or_inf(np.abs(form.q))
    )
