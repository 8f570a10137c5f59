"""Proven ends of the optimum of a program in floats, from a point and from multipliers.

    min 1/2 x'Px + q'x + c   s.t.   h - Gx in {0} x R+ x cones,   lower <= x <= upper

For every x and every z of the dual cone, and r = P x + q + G'z, weak duality gives

    c - 1/2 x'Px - h'z + sum_j min {r_j t : lower_j <= t <= upper_j}  <=  optimum,

if P is positive semidefinite. Every feasible x gives an upper end. Sums of products are
rounded once (`exact_sums`), and all other operations outward, so that the ends hold for
the program of the given floats.

References
----------
A. Neumaier, O. Shcherbina, Safe bounds in linear and mixed-integer linear programming,
Mathematical Programming 99 (2004).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.exact_sums import (
    LOST_BY_UNDERFLOW,
    add_once,
    split_products,
    sum_rows,
)
from equimargin.formulations.numeric.rounding import (
    UNIT,
    add_rounded,
    multiply_rounded,
    round_toward,
    sqrt_rounded,
)
from equimargin.formulations.programs.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Ball:
    """Floats near an exact vector: |exact - middle| <= radius, entry by entry.

    Parameters
    ----------
    middle : ndarray of shape (k,)
        Floats.
    radius : ndarray of shape (k,)
        Bounds of the distances; zeros if the floats are meant.
    """

    middle: Array
    radius: Array

    @classmethod
    def point(cls, middle: Array) -> Ball:
        """Return the ball of a single vector.

        Parameters
        ----------
        middle : ndarray of shape (k,)
            Floats.
        """
        return cls(middle, np.zeros(len(middle)))


@np.errstate(all="ignore")
def lower_end(form: StandardForm, x: Ball, z: Ball, settled: Index | None = None) -> float:
    """Return a proven lower bound of the optimum, -inf if x and z prove none.

    Parameters
    ----------
    form : StandardForm
        Program whose P is positive semidefinite.
    x : Ball of shape (n,)
        Any point.
    z : Ball of shape (r,)
        Multipliers of the rows; those of inequalities are at least 0.
    settled : ndarray of shape (s,), optional
        Columns at which r is 0 for the exact x and z.
    """
    rows = slice(form.zero, form.zero + form.nonneg)
    if not (np.isfinite(x.middle).all() and np.isfinite(z.middle).all()):
        return -math.inf
    if (z.middle[rows] - z.radius[rows] < 0).any() or not _in_cones(form, z.middle, z.radius):
        return -math.inf
    pull = form.G.T.tocsr()
    r, errors = sum_rows(form.q, (form.P, x.middle), (pull, z.middle))
    errors = _up(errors, *_spread(form.P, x.radius), *_spread(pull, z.radius))
    below, above = round_toward(r - errors, -1), round_toward(r + errors, 1)
    exact = errors == 0
    below[exact], above[exact] = r[exact], r[exact]
    terms = np.min(
        [
            multiply_rounded(end, bound, -1)
            for end in (below, above)
            for bound in (form.lower, form.upper)
        ],
        axis=0,
    )
    if settled is not None:
        terms[settled] = 0.0
    quadratic, slip = _quadratic(form, x.middle)
    gain, error = split_products(-form.h, z.middle)
    spread = _change(form, np.zeros(len(form.q)), x) + _dot(np.abs(form.h), z.radius)
    lost = slip + LOST_BY_UNDERFLOW * len(gain) + 2 * spread
    value = add_once(
        [
            form.offset,
            -lost,
            *terms.tolist(),
            *(-quadratic).tolist(),
            *gain.tolist(),
            *error.tolist(),
        ]
    )
    return -math.inf if math.isnan(value) else float(round_toward(value, -1))


@np.errstate(all="ignore")
def upper_end(form: StandardForm, x: Ball, settled: Index | None = None) -> float:
    """Return a proven upper bound of the optimum, inf if x is not proven to be feasible.

    Parameters
    ----------
    form : StandardForm
        Program.
    x : Ball of shape (n,)
        Point.
    settled : ndarray of int, optional
        Rows whose slack is 0 at the exact x.
    """
    middle, radius = x.middle, x.radius
    if not np.isfinite(middle).all():
        return math.inf
    least = np.where(radius == 0, middle, round_toward(middle - radius, -1))
    most = np.where(radius == 0, middle, round_toward(middle + radius, 1))
    if (least < form.lower).any() or (most > form.upper).any():
        return math.inf
    slack, errors = sum_rows(form.h, (form.G, middle), way=-1)
    errors = _up(errors, *_spread(form.G, radius))
    if settled is not None:
        slack[settled], errors[settled] = 0.0, 0.0
    equations, rows = slice(0, form.zero), slice(form.zero, form.zero + form.nonneg)
    if slack[equations].any() or errors[equations].any():
        return math.inf
    # A NaN fails the test.
    if not (slack[rows] >= errors[rows]).all() or not _in_cones(form, slack, errors):
        return math.inf
    quadratic, slip = _quadratic(form, middle)
    cost, error = split_products(form.q, middle)
    lost = slip + LOST_BY_UNDERFLOW * len(cost) + 2 * _change(form, form.q, x)
    value = add_once([form.offset, lost, *quadratic.tolist(), *cost.tolist(), *error.tolist()])
    return math.inf if math.isnan(value) else float(round_toward(value, 1))


def _quadratic(form: StandardForm, x: Array) -> tuple[Array, float]:
    """Return numbers whose sum is 1/2 x'Px, and a bound of the error of their exact sum."""
    if form.P.nnz == 0:
        return np.zeros(0), 0.0
    left = np.repeat(x, np.diff(form.P.indptr))
    right = x[form.P.indices]
    p, e = split_products(form.P.data, left)
    first, second = split_products(p, right)
    third = e * right
    slip = _dot(np.abs(e), np.abs(right)) * 2 * UNIT
    slip += LOST_BY_UNDERFLOW * len(p) * (2 + float(np.abs(right).max(initial=0.0)))
    # Half of x'Px, and not P / 2: half of the smallest float is 0.
    return np.concatenate([first, second, third]) / 2, slip


def _change(form: StandardForm, q: Array, x: Ball) -> float:
    """Return a bound of the change of 1/2 x'Px + q'x within a ball."""
    if not x.radius.any():
        return 0.0
    gradient, errors = sum_rows(q, (form.P, x.middle))
    (largest,) = _spread(form.P, x.radius)
    return _dot(_up(np.abs(gradient), errors), x.radius) + _dot(x.radius, largest)


def _spread(M: Any, radius: Array) -> tuple[Array, ...]:
    """Return a bound of |M| radius, or nothing if all radii are 0."""
    if not radius.any():
        return ()
    terms = (M != 0) @ (radius > 0).astype(np.float64)
    sizes = abs(M) @ radius
    return (sizes * (1 + (terms + 2) * 2 * UNIT) + terms * LOST_BY_UNDERFLOW,)


def _up(first: Array, *others: Array) -> Array:
    total = first
    for other in others:
        total = add_rounded(total, other, 1)
    return np.asarray(total)


def _dot(u: Array, v: Array) -> float:
    """Return an upper bound of u'v for nonnegative u and v; 0 if every product is 0."""
    terms = int(np.count_nonzero((u != 0) & (v != 0)))
    return float(u @ v) * (1.0 + (terms + 4) * 2 * UNIT) + terms * LOST_BY_UNDERFLOW


def _in_cones(form: StandardForm, v: Array, errors: Array) -> bool:
    """Return True if every vector within errors of v is in the second-order cones."""
    start = form.zero + form.nonneg
    for size in form.cones:
        rows = slice(start, start + size)
        least = -add_rounded(-v[start], errors[start], 1)
        largest = _up(np.abs(v[rows]), errors[rows])[1:]
        squares = _dot(largest, largest)
        if not (least >= 0 and least >= sqrt_rounded(squares, 1)):
            return False
        start += size
    return True
