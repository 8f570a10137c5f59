"""Verified certificates of infeasibility and unboundedness returned by a backend.

    unbounded     x with Px = 0, -Gx in the cone, q'x < 0, and x_j >= 0 (x_j <= 0) for
                  every finite lower (upper) bound
    infeasible    z in the dual cone with G'z = 0 and h'z < 0 (Farkas)

A ray is scaled so that its largest entry is 1. In floating point its conditions hold
only to a tolerance, so that it is valid only up to a finite length: near any optimum,
rounding alone produces directions that resemble short rays.
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
"""Smallest divisor in the scaling of a ray, so that a ray of zeros stays 0."""


@dataclass(frozen=True)
class Ray:
    """Properties of a backend's ray, per unit of length, for a largest entry of 1."""

    gain: float
    """Improvement of the objective, in the units of the backend's problem."""
    violation: float
    """Distance of the direction from its cone (unbounded), or of G'z from 0 (infeasible)."""
    deviation: float
    """Violation of the other conditions: Px = 0 and the bounds of the variables."""
    curvature: float
    """x'Px; if it is above 0, the gain is at most gain^2 / (2 curvature)."""
    size: float
    """Largest |entry| of the right-hand side with which the violation is compared."""

    @property
    def proves(self) -> bool:
        """True if it proves the backend's status."""
        return bool(
            self.gain > 0 and max(self.violation, self.deviation) <= RAY_TOLERANCE * self.gain
        )

    @property
    def reach(self) -> float:
        """Gain of the objective along the ray up to its end.

        A ray ends where its curvature reverses the gain, or where the violation of its
        conditions is RAY_TOLERANCE times 1 + size.
        """
        turn = self.gain**2 / (2 * self.curvature) if self.curvature > 0 else np.inf
        return min(
            turn,
            RAY_TOLERANCE * (1 + self.size) * self.gain / self.violation
            if self.violation > 0
            else np.inf,
        )


def extract_ray(answer: Answer) -> Ray | None:
    """Return the properties of the ray with which a backend certifies its status.

    Parameters
    ----------
    answer : Answer
        Answer of the backend.

    Returns
    -------
    Ray or None
        None if the answer has no ray, or one of another shape.
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
