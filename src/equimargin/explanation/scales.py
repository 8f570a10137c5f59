"""Sizes of the numbers of a program, and the violations that float64 can decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.explanation.stated import ExplainedProgram
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.proofs.checker import outward
from equimargin.proofs.feasibility import LinearConstraints


@dataclass(frozen=True)
class MagnitudeRange:
    """Smallest and largest size of the nonzero numbers of a part of a program.

    Parameters
    ----------
    part : str
        Part of the program.
    smallest, largest : float
        Sizes.
    smallest_place, largest_place : str
        Rows and variables of numbers with these sizes.
    """

    part: str
    smallest: float
    largest: float
    smallest_place: str
    largest_place: str

    @property
    def ratio(self) -> float:
        """Largest size over the smallest; inf if it is beyond float64."""
        return self.largest / self.smallest


def measure_scales(stated: ExplainedProgram) -> tuple[MagnitudeRange, ...]:
    """Return the ranges of the matrix, right-hand sides, bounds and costs.

    Parts without a nonzero number are left out.

    Parameters
    ----------
    stated : ExplainedProgram
        Program.
    """
    form, names = stated.form, stated.form.names
    G, P = form.G.tocoo(), form.P.tocoo()

    def row(i: int) -> str:
        return f"row {stated.rows[i]}"

    n = len(form.q)
    bounds = np.concatenate([form.lower, form.upper])
    parts = (
        ("matrix", G.data, lambda k: f"{row(G.row[k])}, {names[G.col[k]]}"),
        ("right-hand sides", form.h, row),
        (
            "bounds",
            np.where(np.isfinite(bounds), bounds, 0.0),
            lambda k: f"{'lower' if k < n else 'upper'} bound of {names[k % n]}",
        ),
        ("costs", form.q, lambda k: names[k]),
        ("quadratic costs", P.data, lambda k: f"{names[P.row[k]]}, {names[P.col[k]]}"),
    )
    return tuple(_range(part, numbers, place) for part, numbers, place in parts if numbers.any())


def _range(part: str, numbers: Array, place: Any) -> MagnitudeRange:
    sizes = np.where(numbers == 0, np.nan, np.abs(numbers))
    least, most = int(np.nanargmin(sizes)), int(np.nanargmax(sizes))
    return MagnitudeRange(
        part, float(sizes[least]), float(sizes[most]), str(place(least)), str(place(most))
    )


def rounding_of_rows(
    constraints: LinearConstraints, members: list[int], point: Mapping[int, Fraction]
) -> float:
    """Return a bound on the rounding error of C x - c in float64, the largest of some rows.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    members : list of int
        Rows.
    point : mapping of int to Fraction
        Nonzero entries of x.
    """
    rows, c = constraints.C[members], constraints.c[members]
    x = np.zeros(constraints.C.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        x[list(point)] = [outward(abs(v), 1) for v in point.values()]
        sizes = abs(rows) @ x + np.abs(c)
        return float(np.max((np.diff(rows.indptr) + 2) * UNIT * sizes, initial=0.0))
