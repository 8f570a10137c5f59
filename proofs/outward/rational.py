"""Points in rational numbers that prove an interval of a program in floats.

The multipliers of bounds on variables, and of rows of one variable, are the residual
r = P x + q + G'z in rational numbers: no other number of the answer is changed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.compiled import program_of_form
from equimargin.formulations.programs.from_arrays import vector
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Vector
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.enclosure.interval import Enclosure, enclosure
from equimargin.proofs.enclosure.lower import Dual

NARROW = 1e-9
"""Relative width at which no further points in rational numbers are sought."""


def exact_enclosure(form: StandardForm, x: Array, z: Array, seconds: float) -> Enclosure:
    """Return an interval whose ends points in rational numbers prove.

    Parameters
    ----------
    form : StandardForm
        Program.
    x : ndarray of shape (n,)
        Point.
    z : ndarray of shape (r,)
        Multipliers of the rows.
    seconds : float
        Time limit of the points near x and z, if these do not prove both ends.

    Raises
    ------
    ValueError
        If P is not proven to be positive semidefinite.
    """
    program, rows = program_of_form(form), z[form.zero :]
    # The rows of G begin with the bounds on variables.
    padded = np.append(np.zeros(len(program.h) - len(rows)), rows)
    point = tuple(Fraction(v) for v in x.tolist())
    dual = _dual(program, point, vector(z[: form.zero], "exact"), vector(padded, "exact"))
    primal = point if program.is_feasible(point) else None
    known = Enclosure(
        program,
        -inf if dual is None else program.dual_objective(*dual),
        inf if primal is None else program.objective(primal),
        "nothing" if dual is None else "residual",
        "nothing" if primal is None else "residual",
        dual,
        primal,
        "",
    )
    # x and z may prove an end that is better than those of the points near them.
    both = dual is not None and primal is not None
    if both and known.upper - known.lower <= NARROW * abs(float(known.upper)):
        return known
    near = enclosure(program, (x, z[: form.zero], padded), seconds=seconds)
    if near.lower > known.lower:
        known = replace(known, lower=near.lower, dual=near.dual, lower_by=near.lower_by)
    if near.upper < known.upper:
        known = replace(known, upper=near.upper, primal=near.primal, upper_by=near.upper_by)
    return known


def _dual(program: Program, x: Vector, y: Vector, z: Vector) -> Dual | None:
    """Return x, y and z with multipliers of single rows that remove the residual, or None."""
    inequalities = range(program.inequalities)
    single = {i for i in inequalities if len(program.G.rows[i]) == 1}
    numbers = [Fraction(0) if i in single else v for i, v in enumerate(z)]
    numbers = [max(v, Fraction(0)) if i in inequalities else v for i, v in enumerate(numbers)]
    # The tightest row of one variable on each side, by the variable.
    ends: dict[tuple[int, bool], list[tuple[Fraction, int]]] = {}
    for i in single:
        ((j, a),) = program.G.rows[i].items()
        ends.setdefault((j, a > 0), []).append((program.h[i] / abs(a), i))
    for j, r in enumerate(program.residual(x, y, numbers)):
        if r != 0:
            if (j, r < 0) not in ends:
                return None
            _, i = min(ends[j, r < 0])
            numbers[i] = abs(r) / abs(program.G.rows[i][j])
    dual = x, y, tuple(numbers)
    return dual if program.is_dual_feasible(*dual) else None
