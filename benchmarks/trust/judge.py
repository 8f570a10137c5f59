"""Proven distance of a model above the optimum, and its false reports.

The distance is recomputed from the coefficients of the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations import MarginProblem, Point, classification, rbf
from equimargin.formulations.bounds import Interval, inner_interval, interval
from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.problem.choices import LOSSES
from equimargin.solvers import solve
from trust.instances import Array, Instance, gamma, pairs
from trust.runs import Run

TOL, PATIENCE = 1e-10, 60.0
"""Relative gap of the reference optimum, and its limit in wall seconds."""
FAR = 1e-2
"""Relative distance above the optimum above which an answer without a warning is wrong.

An answer at a package's loosest tolerance is exempt.
"""
FALSE = 1e-6
"""Relative error of a reported objective above which it is called false.

The error is proven; packages print six or seven digits.
"""


@dataclass(frozen=True)
class Judged:
    """Run with its proven figures.

    Parameters
    ----------
    excess : tuple[float, float] | None of shape (least, most)
        Relative distance of its model above the optimum; None where there is no model.
    stated : float | None
        (stated objective - optimum) / optimum, where it states one.
    wrong : str
        Its false reports, as text.
    """

    run: Run
    excess: tuple[float, float] | None
    stated: float | None
    wrong: str


@dataclass(frozen=True)
class Part:
    """Problem of two classes: its rows are those of the data set in `rows`."""

    problem: MarginProblem
    rows: Index


def parts_of(instance: Instance) -> list[Part]:
    """Return the problems of an instance, one for every pair of classes."""
    return parts(*instance.read(), instance.kernel, instance.loss, instance.C)


def parts(X: Any, y: Array, kernel: str, loss: str, C: float) -> list[Part]:
    """Return the problems of all pairs of classes; "linear" ones have no bias."""
    chosen = rbf(gamma(X)) if kernel == "rbf" else None
    known = LOSSES[LOSSES.index(loss)]
    return [
        Part(classification(X[rows], sign, C, chosen, known, bias=chosen is not None), rows)
        for rows, sign in pairs(y)
    ]


def optimum_of(parts: Sequence[Part]) -> Interval:
    """Return the proven interval of the sum of the optima."""
    return total(solve(part.problem, tol=TOL, time_limit=PATIENCE).interval for part in parts)


def total(intervals: Iterable[Interval]) -> Interval:
    """Return the interval of a sum, rounded outwards."""
    found = list(intervals)
    lower, upper = (
        np.nextafter(math.fsum(getattr(each, end) for each in found), towards)
        for end, towards in (("lower", -np.inf), ("upper", np.inf))
    )
    return Interval(float(lower), float(upper), math.fsum(each.scale for each in found))


def points_of(parts: Sequence[Part], model: Mapping[str, Any]) -> list[Point] | str:
    """Return the functions of a model, one for every problem, or its fault."""
    arrays = {name: np.atleast_1d(np.asarray(values, float)) for name, values in model.items()}
    n = 1 + max(int(part.rows.max()) for part in parts)
    size = {"w": parts[0].problem.X.shape[1], "beta": len(parts) * n, "b": len(parts)}
    for name, values in arrays.items():
        if values.size != size[name]:
            return f"its model has {values.size} coefficients, not {size[name]}"
        if not np.isfinite(values).all():
            return "its model is not finite"
    if "w" in arrays:
        return [Point(w=arrays["w"], b=float(arrays["b"][0]))]
    beta = arrays["beta"].reshape(len(parts), n)
    if any(np.delete(row, part.rows).any() for row, part in zip(beta, parts, strict=True)):
        return "the function of a pair of classes has coefficients of other classes"
    return [
        Point(beta=row[part.rows], b=float(b))
        for row, part, b in zip(beta, parts, arrays["b"], strict=True)
    ]


def distance(
    parts: Sequence[Part], optimum: Interval, points: Sequence[Point]
) -> tuple[Interval, tuple[float, float]]:
    """Return the proven intervals of a model's objective and of its relative distance.

    The distance is above the optimum.
    """
    objective = total(
        Interval(
            inner_interval(part.problem, point).upper,
            interval(part.problem, point).upper,
            part.problem.scale,
        )
        for part, point in zip(parts, points, strict=True)
    )
    return objective, (
        max(objective.lower - optimum.upper, 0.0) / optimum.size,
        (objective.upper - optimum.lower) / optimum.size,
    )


def judged(run: Run, parts: Sequence[Part], optimum: Interval) -> Judged:
    """Return the proven figures of a run."""
    if run.failure:
        return Judged(run, None, None, "")
    with np.load(run.file) as model:
        points = points_of(parts, model)
    if isinstance(points, str):
        return Judged(
            run, None, None, points if run.done is False else f"{points}, without a warning"
        )
    objective, excess = distance(parts, optimum, points)
    stated = None if run.claimed is None else (run.claimed - optimum.upper) / optimum.size
    return Judged(run, excess, stated, wrong(run, excess, objective.lower, optimum))


def wrong(run: Run, excess: tuple[float, float], objective: float, optimum: Interval) -> str:
    """Return the false reports of a run, as text.

    Parameters
    ----------
    excess : tuple[float, float]
        Relative distance above the optimum, at least and at most.
    objective : float
        Objective of its model, at least.
    """
    # excess[0], optimum.upper and optimum.lower are the bounds in favour of the
    # package.
    said = []
    if excess[0] > FAR and run.done is not False and not run.rough:
        said.append(
            f"{excess[0]:.2g} above the optimum "
            + ("and reported as solved" if run.done else "without a warning")
        )
    if run.claimed is not None:
        slack = FALSE * optimum.size
        if run.dual and run.claimed > optimum.upper + slack:
            said.append(
                f"states a dual objective of {run.claimed:.9g}, above the optimum "
                f"{optimum.upper:.9g}"
            )
        if not run.dual and run.claimed < optimum.lower - slack:
            said.append(
                f"states an objective of {run.claimed:.9g}, below the optimum {optimum.lower:.9g}"
            )
        elif not run.dual and abs(run.claimed - objective) > max(FAR * abs(objective), slack):
            said.append(f"states an objective of {run.claimed:.9g} for a model of {objective:.9g}")
    return "; ".join(said)
