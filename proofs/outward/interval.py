"""Proven interval of the optimum of a program in floats, from a nearly optimal answer.

    lower <= optimum <= upper

Three ways are tried in order of their price, each while the interval is too wide:

1. weak duality: the given point, if it is feasible, and the given multipliers, whose
   faults the bounds on the variables pay for (`ends`, `boxes`);
2. repair: points and multipliers near the given ones that satisfy the constraints
   exactly, with floats known to a small error, first with slack in the inequalities
   (`interior`), then on the active ones (`repair`);
3. rational numbers: points on the active face, or the exact optimum (`enclosure`).

The best end of each side is kept: bad points and multipliers give a wide interval, not
a false one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from typing import Literal

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.compiled import program_of_form
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.checker import outward
from equimargin.proofs.enclosure.interval import enclosure
from equimargin.proofs.outward.boxes import bounds_of_rows, implied_bounds
from equimargin.proofs.outward.convexity import prove_convexity
from equimargin.proofs.outward.ends import Ball, lower_end, upper_end
from equimargin.proofs.outward.interior import interior_multipliers, interior_points
from equimargin.proofs.outward.repair import repaired_multipliers, repaired_points
from equimargin.solvers.exact.program.clock import Clock

Way = Literal["weak duality", "repair", "rational numbers", "nothing"]
"""Way that proved an end; "nothing" if none did."""
WIDTH = 1e-9
"""Relative width at which no further way is tried."""
MAX_RATIONAL_SIZE = 1000
"""Maximum number of variables and rows together for rational numbers."""
SMALLEST_SCALE = 1e-300
"""Minimum size of the ends to which a width is relative."""


@dataclass(frozen=True)
class FormInterval:
    """Proven interval of the optimum of a program in floats.

    Parameters
    ----------
    form : StandardForm
        Program.
    lower, upper : float
        Ends, -inf and inf if not proven.
    lower_by, upper_by : Way
        Ways that proved the ends.
    convex : str
        Argument that the quadratic term is positive semidefinite.
    x : ndarray of shape (n,)
        Point near a feasible one that proves the upper end; the given one if none does.
    z : ndarray of shape (r,)
        Multipliers near those that prove the lower end; the given ones if none do.
    out_of_time : bool
        True if the time limit ended the search while the interval was too wide.
    """

    form: StandardForm = field(repr=False)
    lower: float
    upper: float
    lower_by: Way
    upper_by: Way
    convex: str
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    out_of_time: bool = False

    @property
    def width(self) -> float:
        """Difference of the ends over the larger of their sizes; inf if one is infinite."""
        if not np.isfinite(self.upper - self.lower):
            return inf
        scale = max(abs(self.lower), abs(self.upper), SMALLEST_SCALE)
        return max(self.upper - self.lower, 0.0) / scale


def form_interval(
    form: StandardForm,
    x: Array,
    z: Array,
    *,
    width: float = WIDTH,
    seconds: float = 60.0,
    rational: bool = True,
) -> FormInterval:
    """Return the interval of the optimum that points near x and z prove.

    Parameters
    ----------
    form : StandardForm
        Linear, quadratic or second-order cone program.
    x : ndarray of shape (n,)
        Nearly optimal point.
    z : ndarray of shape (r,)
        Nearly optimal multipliers of the rows: P x + q + G'z is about 0 at variables
        inside their bounds.
    width : float, default 1e-9
        Relative width at which no further way is tried.
    seconds : float, default 60.0
        Time limit in seconds; a step that has begun is finished.
    rational : bool, default True
        True to try rational numbers, too.

    Raises
    ------
    ValueError
        If P is not proven to be positive semidefinite.
    """
    clock = Clock(positive(seconds, "seconds"))
    bounded, kept = bounds_of_rows(form)
    convex, below = prove_convexity(bounded, clock)
    x, z = np.nan_to_num(x, posinf=0.0, neginf=0.0), np.nan_to_num(z, posinf=0.0, neginf=0.0)
    found = FormInterval(form, -inf, inf, "nothing", "nothing", convex, x, z)
    start = np.clip(x, bounded.lower, bounded.upper)
    found = _lowered(found, upper_end(form, Ball.point(start)), "weak duality", start)
    natural = form.on_dual_cone(z)
    for boxes in _boxes(below, found):
        value = lower_end(boxes, Ball.point(x), Ball.point(_inner(boxes, natural[kept])))
        found = _raised(found, value, "weak duality", natural)
    found = _repaired(found, bounded, below, kept, x, natural, width, clock)
    size = len(x) + len(form.h)
    if rational and below is bounded and found.width > width and size <= MAX_RATIONAL_SIZE:
        found = _in_rationals(found, x, natural, width, clock)
    return replace(found, out_of_time=found.width > width and clock.left <= 0)


def _boxes(form: StandardForm, found: FormInterval) -> Iterator[StandardForm]:
    """Yield the program, and if it has unbounded variables, with implied bounds."""
    yield form
    if np.isinf(form.lower).any() or np.isinf(form.upper).any():
        yield implied_bounds(form, found.upper)


def _repaired(
    found: FormInterval,
    bounded: StandardForm,
    below: StandardForm,
    kept: Index,
    x: Array,
    z: Array,
    width: float,
    clock: Clock,
) -> FormInterval:
    """Return an interval with ends that repair proves, until it is narrow enough."""
    for repair, program in (
        (_with_points_inside, bounded),
        (_with_multipliers, below),
        (_with_points_on_the_face, bounded),
    ):
        for better in repair(found, program, kept, x, z):
            found = better
            if found.width <= width or clock.left <= 0:
                return found
    return found


def _with_points_inside(
    found: FormInterval, bounded: StandardForm, kept: Index, x: Array, _: Array
) -> Iterator[FormInterval]:
    """Yield intervals with the upper ends of points inside the constraints."""
    return _with_points(found, kept, interior_points(bounded, x))


def _with_points_on_the_face(
    found: FormInterval, bounded: StandardForm, kept: Index, x: Array, z: Array
) -> Iterator[FormInterval]:
    """Yield intervals with the upper ends of points on the active constraints."""
    return _with_points(found, kept, repaired_points(bounded, x, z[kept]))


def _with_points(
    found: FormInterval, kept: Index, points: Iterator[tuple[float, Ball]]
) -> Iterator[FormInterval]:
    """Yield the interval with better and better upper ends."""
    for value, ball in points:
        # The rows of one variable have become bounds, rounded outward if not exact.
        if value < found.upper and _keeps_single_rows(found.form, kept, ball):
            found = _lowered(found, value, "repair", ball.middle)
        yield found


def _with_multipliers(
    found: FormInterval, bounded: StandardForm, kept: Index, x: Array, z: Array
) -> Iterator[FormInterval]:
    """Yield the interval with better and better lower ends."""
    *_, boxes = _boxes(bounded, found)
    inside = interior_multipliers(boxes, x, z[kept])
    for value, (_, Z) in chain(inside, repaired_multipliers(boxes, x, z[kept])):
        if value > found.lower:
            whole = z.copy()
            whole[kept] = Z.middle
            found = _raised(found, value, "repair", whole)
        yield found


def _keeps_single_rows(form: StandardForm, kept: Index, ball: Ball) -> bool:
    """Return True if a point satisfies the rows that became bounds."""
    single = np.setdiff1d(np.arange(len(form.h)), kept)
    part = replace(
        form,
        G=form.G[single],
        h=form.h[single],
        zero=int((single < form.zero).sum()),
        nonneg=int((single >= form.zero).sum()),
        cones=(),
    )
    return upper_end(part, ball) < inf


def _inner(form: StandardForm, z: Array) -> Array:
    """Return multipliers whose second-order cone parts certainly are in the dual cone."""
    inner, start = z.copy(), form.zero + form.nonneg
    for size in form.cones:
        norm = float(np.linalg.norm(inner[start + 1 : start + size]))
        inner[start] = max(inner[start], norm * (1 + (size + 8) * 2.0**-52))
        start += size
    return inner


def _in_rationals(
    found: FormInterval, x: Array, z: Array, width: float, clock: Clock
) -> FormInterval:
    """Return an interval with the ends that rational numbers prove within the time."""
    form = found.form
    program = program_of_form(form)
    rows = z[form.zero :]
    padded = np.append(np.zeros(len(program.h) - len(rows)), rows)
    given = (x, z[: form.zero], padded)
    for point in (given, None):
        if found.width <= width or clock.left <= 0:
            break
        try:
            proof = enclosure(program, point, seconds=clock.left / 2)
        except ValueError:
            # P is proven in floats already, and a proof in rational numbers takes too long.
            break
        found = _raised(found, outward(proof.lower, -1), "rational numbers", found.z)
        found = _lowered(found, outward(proof.upper, 1), "rational numbers", found.x)
    return found


def _lowered(found: FormInterval, upper: float, way: Way, x: Array) -> FormInterval:
    return replace(found, upper=upper, upper_by=way, x=x) if upper < found.upper else found


def _raised(found: FormInterval, lower: float, way: Way, z: Array) -> FormInterval:
    return replace(found, lower=lower, lower_by=way, z=z) if lower > found.lower else found
