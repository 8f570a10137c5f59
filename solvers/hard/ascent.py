"""The dual active-set method of Goldfarb and Idnani for the hard margin of a pool of rows.

    max over alpha >= 0    1'alpha - 1/2 |A'alpha|_K^2

It keeps independent active rows S, multipliers alpha_S >= 0 and the least f with A_S
f = 1. A row n that f violates by u enters along

    alpha_S -= t r,  alpha_n += t,      r = G_S^-1 g,  z = phi_n - sum r_s phi_s,      t = min( min_{r_s > 0} alpha_s / r_s,  u / |z|^2 )

If the first is the smaller, that row leaves, and n goes on. The dual value rises with
every row that enters, so that no S comes twice. If z = 0 and no r_s > 0, then -r and 1
are a ray along which the dual has no end: no f meets these rows.

Source: D. Goldfarb, A. Idnani, A numerically stable dual method for solving strictly
convex quadratic programs (1983).
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
"""Rows that enter, one after the other, without a larger dual value or a smaller violation: then double precision shows no progress."""
NEGLIGIBLE = 1e-12
"""Share of the largest |r_s| up to which an r_s counts as 0."""


class FloatRay(NamedTuple):
    """A ray as double precision tells it: rows of the pool, and their weights >= 0."""

    rows: list[int]
    weights: Array


@dataclass(eq=False)
class Ascent:
    """The state of the method on a pool.

    Parameters
    ----------
    face : Face
        Its active rows.
    alpha : ndarray of shape (s,)
        Their multipliers.
    steps : int
        How many rows have entered.
    ray : FloatRay | None
        Where there is one.
    """

    face: Face
    alpha: Array
    steps: int = 0
    ray: FloatRay | None = None

    def climb(self, tol: float, most: int, out_of_time: Callable[[], bool]) -> None:
        """Go on until no row of the pool is violated by more than `tol`, `most` rows have entered, or nothing moves any more."""
        stale, best, least = 0, -np.inf, np.inf
        while self.steps < most and stale < STALE_STEPS and not out_of_time():
            margins = self.face.margins(self.alpha)
            n = int(np.argmin(margins)) if len(margins) else -1
            violation = 1.0 - float(margins[n]) if n >= 0 else 0.0
            if violation <= tol or n in self.face.S:
                return
            value = float(self.alpha.sum())
            stale = 0 if value > best * (1 + 1e-15) or violation < 0.9 * least else stale + 1
            best, least = max(best, value), min(least, violation)
            self.steps += 1
            if not self._enter(n, violation, out_of_time):
                return
            self.alpha = drop_negative_multipliers(self.face)

    def _enter(self, n: int, u: float, out_of_time: Callable[[], bool]) -> bool:
        """Make row n an active one; false if it is the last row of a ray, or there is no time."""
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
    """The multipliers of a face, (s,), all >= 0: rows whose multiplier is negative, which only rounding leaves there, are dropped."""
    alpha = face.multipliers()
    while len(alpha) and alpha.min() < 0.0:
        face.drop(int(np.argmin(alpha)))
        alpha = face.multipliers()
    return alpha


def _ratios(alpha: Array, r: Array, falling: NDArray[np.bool_]) -> Array:
    """alpha_s / r_s where the multiplier falls, inf elsewhere."""
    ratios = np.full(len(r), np.inf)
    np.divide(np.maximum(alpha, 0.0), r, out=ratios, where=falling)
    return ratios
