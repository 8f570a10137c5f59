"""Dual active-set method of Goldfarb and Idnani for the hard margin of a pool of rows.

    max over alpha >= 0    1'alpha - 1/2 |A'alpha|_K^2

The state is a set S of independent active rows, their multipliers alpha_S >= 0 and the
f of least norm with A_S f = 1. Let phi_r be row r in feature space, G = A K A', and g_s
= G_sn. A row n whose margin is 1 - u, u > 0, enters along

    alpha_S -= t r,  alpha_n += t,    r = G_S^-1 g,    z = phi_n - sum r_s phi_s,
    t = min( min_{r_s > 0} alpha_s / r_s,  u / |z|^2 )

If the first term is the smaller, the row that attains it leaves S, and row n takes a
further step. The dual value increases with every row that enters, so that no S occurs
twice. If z = 0 and no r_s > 0, then (-r, 1) is a ray along which the dual is unbounded:
no f satisfies these rows.

References
----------
D. Goldfarb, A. Idnani. A numerically stable dual method for solving strictly convex
quadratic programs. 1983.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.hard.face import Face

STALE_STEPS = 50
"""Consecutive steps without progress that end the run.

Progress is a larger dual value or a smaller violation. One row enters per step.
"""
NEGLIGIBLE = 1e-12
"""Fraction of the largest |r_s| up to which an r_s counts as 0."""


class FloatRay(NamedTuple):
    """Ray computed in floats: rows of the pool, and their weights >= 0."""

    rows: list[int]
    weights: Array


@dataclass(eq=False)
class Ascent:
    """State of the method on a pool.

    Parameters
    ----------
    face : Face
        Active rows.
    alpha : ndarray of shape (s,)
        Multipliers of the active rows.
    steps : int
        Number of rows that have entered.
    ray : FloatRay | None
        Ray, if the rows have one.
    """

    face: Face
    alpha: Array
    steps: int = 0
    ray: FloatRay | None = None

    def climb(self, tol: float, most: int, out_of_time: Callable[[], bool]) -> None:
        """Add violated rows until the pool is satisfied or a limit stops the run.

        Parameters
        ----------
        tol : float
            Largest violation allowed; the margins of the rows are at least 1.
        most : int
            Maximum number of rows that enter, over all calls.
        out_of_time : callable
            Returns True after the time limit.
        """
        stale, best, least = 0, -np.inf, np.inf
        while self.steps < most and stale < STALE_STEPS and not out_of_time():
            margins = self.face.margins(self.alpha)
            n = int(np.argmin(margins)) if len(margins) else -1
            violation = 1.0 - float(margins[n]) if n >= 0 else 0.0
            if violation <= tol or n in self.face.S:
                return
            # On the face 1'alpha = |f|^2, so that the dual value is half of 1'alpha.
            value = float(self.alpha.sum())
            stale = 0 if value > best * (1 + 1e-15) or violation < 0.9 * least else stale + 1
            best, least = max(best, value), min(least, violation)
            self.steps += 1
            if not self._enter(n, violation, out_of_time):
                return
            self.alpha = drop_negative_multipliers(self.face)

    def _enter(self, n: int, u: float, out_of_time: Callable[[], bool]) -> bool:
        """Make row n active; return False after a ray, an overflow or the time limit."""
        face, alpha, own = self.face, self.alpha, 0.0
        while not out_of_time():
            r, square, flat = face.towards(n)
            falling = r > NEGLIGIBLE * np.abs(r).max(initial=0.0)
            ratios = _ratios(alpha, r, falling)
            place = int(np.argmin(ratios)) if len(ratios) else -1
            first = float(ratios[place]) if place >= 0 else np.inf
            if flat and not np.isfinite(first):
                self.ray = FloatRay([*face.S, n], np.append(np.maximum(-r, 0.0), 1.0))
                return False
            full = np.inf if flat else u / square
            step = min(first, full)
            # u / square overflows where an entry of K is subnormal.
            if not np.isfinite(step):
                return False
            alpha, own = alpha - step * r, own + step
            if full <= first:
                face.append(n)
                self.alpha = np.append(alpha, own)
                return True
            u -= 0.0 if flat else step * square
            face.drop(place)
            alpha = np.delete(alpha, place)
            self.alpha = np.maximum(alpha, 0.0)
        return False


def drop_negative_multipliers(face: Face) -> Array:
    """Drop active rows until no multiplier is negative; return the multipliers.

    Multipliers are negative only by rounding.

    Parameters
    ----------
    face : Face
        Face, modified in place.

    Returns
    -------
    ndarray of shape (s,)
        Multipliers of the remaining active rows.
    """
    alpha = face.multipliers()
    while len(alpha) and alpha.min() < 0.0:
        face.drop(int(np.argmin(alpha)))
        alpha = face.multipliers()
    return alpha


def _ratios(alpha: Array, r: Array, falling: NDArray[np.bool_]) -> Array:
    """Return alpha_s / r_s where the multiplier decreases, inf elsewhere."""
    ratios = np.full(len(r), np.inf)
    np.divide(np.maximum(alpha, 0.0), r, out=ratios, where=falling)
    return ratios
