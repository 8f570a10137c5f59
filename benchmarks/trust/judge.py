"""Proven distance of a model above the optimum, and its false reports.

The distance is recomputed from the coefficients of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from equimargin.formulations import MarginProblem, Point, classification, rbf
from equimargin.formulations.bounds import Interval, inner_interval, interval
from equimargin.formulations.problem.choices import LOSSES
from equimargin.solvers import solve
from trust.instances import Instance, gamma
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


def problem_of(instance: Instance) -> MarginProblem:
    """Return the problem of an instance."""
    X, y = instance.read()
    kernel = rbf(gamma(X)) if instance.kernel == "rbf" else None
    return classification(
        X, y, instance.C, kernel, LOSSES[LOSSES.index(instance.loss)], bias=kernel is not None
    )


def optimum_of(problem: MarginProblem) -> Interval:
    """Return the proven interval of the optimum."""
    return solve(problem, tol=TOL, time_limit=PATIENCE).interval


def point_of(problem: MarginProblem, file: Path) -> Point | str:
    """Return the model of a file, or its fault."""
    with np.load(file) as parts:
        arrays = {name: np.asarray(parts[name], float) for name in parts.files}
    b = float(arrays.pop("b"))
    size = {"w": problem.X.shape[1], "beta": problem.m}
    for name, values in arrays.items():
        if values.shape != (size[name],):
            return f"its model has {values.size} coefficients, not {size[name]}"
        if not (np.isfinite(values).all() and np.isfinite(b)):
            return "its model is not finite"
    return Point(**arrays, b=b)


def distance(
    problem: MarginProblem, optimum: Interval, point: Point
) -> tuple[Interval, tuple[float, float]]:
    """Return the proven intervals of a model's objective and of its relative distance.

    The distance is above the optimum.
    """
    objective = Interval(
        inner_interval(problem, point).upper, interval(problem, point).upper, problem.scale
    )
    return objective, (
        max(objective.lower - optimum.upper, 0.0) / optimum.size,
        (objective.upper - optimum.lower) / optimum.size,
    )


def judged(run: Run, problem: MarginProblem, optimum: Interval) -> Judged:
    """Return the proven figures of a run."""
    if run.failure:
        return Judged(run, None, None, "")
    point = point_of(problem, run.file)
    if isinstance(point, str):
        return Judged(
            run, None, None, point if run.done is False else f"{point}, without a warning"
        )
    objective, excess = distance(problem, optimum, point)
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
