"""Programs as users state them: a cvxpy problem, or a model file, with its own names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.programs.compiled import compile_with_values
from equimargin.formulations.programs.model_file import OptimisationModel
from equimargin.formulations.programs.standard_form import StandardForm, stated_constraints
from equimargin.program_bound import values_in_order
from equimargin.proofs.certificates.program_file import read_program_file
from equimargin.solvers.backends.solve import relative_violation

PointValues = Mapping[str, ArrayLike] | ArrayLike
"""Values of the variables by name; for a model file also in its order."""


class PointFigures(NamedTuple):
    """Objective and worst violation of a point, recomputed in float64."""

    objective: float
    """Stated objective."""
    violation: float
    """Largest entry of the violation of the worst constraint."""
    relative: float
    """Largest violation of a constraint, over 1 + its right-hand side."""
    constraint: str
    """Name of the worst constraint by its relative violation; empty if all hold."""


@dataclass(frozen=True, eq=False)
class JudgedProgram:
    """Program with the names and the objective that its user knows.

    Parameters
    ----------
    name : str
        Name of the program.
    form : StandardForm
        Program, as a minimisation.
    maximised : bool
        True if the stated objective is maximised.
    taken : str
        Reading of the numbers, which is not proven.
    to_values : callable
        Maps x of `form` to values of the variables by name.
    examine : callable
        Maps values of the variables to `PointFigures`; raises a ValueError if they do
        not fit the program.
    current : dict or None
        Values that the user's problem has, None if it is not solved.
    """

    name: str
    form: StandardForm
    maximised: bool
    taken: str
    to_values: Callable[[Array], dict[str, Array]]
    examine: Callable[[PointValues], PointFigures]
    current: dict[str, Array] | None = None


def state_program(problem: Any) -> JudgedProgram:
    """Return a cvxpy problem or a model file as a stated program.

    Parameters
    ----------
    problem : cvxpy.Problem, str or Path
        As in `bound`.

    Raises
    ------
    ValueError
        If it is neither, or not a linear, quadratic or second-order cone program.
    """
    if isinstance(problem, str | Path):
        model = read_program_file(Path(problem))
        return JudgedProgram(
            Path(problem).name,
            model.form,
            model.maximised,
            model.taken,
            lambda x: dict(zip(model.columns, x, strict=True)),
            partial(_examine_model, model),
        )
    form, to_values = compile_with_values(problem)
    values = _values(problem)
    return JudgedProgram(
        "the problem",
        form.tidied(),
        problem.objective.NAME == "maximize",
        "the program is cvxpy's standard form in doubles",
        to_values,
        partial(_examine_problem, problem),
        None if not values or any(value is None for value in values.values()) else values,
    )


def _values(problem: Any) -> dict[str, Any]:
    """Return the values of a problem's variables by name; None for a variable without one."""
    # cvxpy warns of dense values of sparse variables.
    with warnings.catch_warnings(action="ignore"):
        return {variable.name(): variable.value for variable in problem.variables()}


def _examine_model(model: OptimisationModel, values: PointValues) -> PointFigures:
    """Return the figures of a point of a model file."""
    form = model.form
    x = values_in_order(values, model.columns, "the point", "variables")  # type: ignore[arg-type]
    slack = form.h - form.G @ x
    rows = np.append(np.abs(slack - form.on_cone(slack)), 0.0)
    right = np.append(1 + np.abs(form.h), 1.0)
    # A row has one part, or two; the part -1 is the appended one, which holds.
    parts = [(rows[part], rows[part] / right[part]) for part in (model.above, model.below)]
    off = np.concatenate([*(part[0] for part in parts), form.lower - x, x - form.upper])
    ends = [np.where(np.isfinite(end), 1 + np.abs(end), 1.0) for end in (form.lower, form.upper)]
    relative = np.concatenate(
        [*(part[1] for part in parts), (form.lower - x) / ends[0], (x - form.upper) / ends[1]]
    )
    bounds = tuple(f"bounds of {name}" for name in model.columns)
    names = (*model.rows, *model.rows, *bounds, *bounds)
    objective = (-1.0 if model.maximised else 1.0) * form.objective(x)
    return _figures(objective, names, off, relative)


def _examine_problem(problem: Any, values: PointValues) -> PointFigures:
    """Return the figures of a cvxpy problem at values, and leave its own unchanged."""
    variables = {variable.name(): variable for variable in problem.variables()}
    given = _checked(values, variables)
    before = _values(problem)
    try:
        for name, value in given.items():
            # Not `value =`, which refuses values that violate attributes.
            variables[name].save_value(value)
        stated = stated_constraints(problem)
        with warnings.catch_warnings(action="ignore"):
            off = [np.max(c.violation(), initial=0.0) for c in stated.values()]
            relative = [relative_violation(c) for c in stated.values()]
            objective = float(problem.objective.value)
        return _figures(objective, tuple(stated), np.array(off), np.array(relative))
    finally:
        for name, variable in variables.items():
            variable.save_value(before[name])


def _checked(values: PointValues, variables: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return values of all variables in their shapes.

    Raises
    ------
    ValueError
        If a name is missing or unknown, a shape is wrong, or a number is not finite.
    """
    if not isinstance(values, Mapping) or set(values) != set(variables):
        names = ", ".join(variables)
        raise ValueError(f"the point must be a mapping with a value for each of {names}")
    given = {
        name: dense(value).astype(np.complex128 if variables[name].is_complex() else np.float64)
        for name, value in values.items()
    }
    for name, value in given.items():
        if value.shape != variables[name].shape:
            raise ValueError(
                f"the point gives {name} the shape {value.shape}, and the variable has "
                f"{variables[name].shape}"
            )
        if not np.isfinite(value).all():
            raise ValueError(f"the point gives {name} a number that is not finite")
        if variables[name].attributes["symmetric"] and not np.array_equal(value, value.T):
            raise ValueError(f"the point gives {name} a value that is not symmetric")
    return given


def _figures(objective: float, names: tuple[str, ...], off: Array, relative: Array) -> PointFigures:
    """Return the figures of a point from the violations of all constraints."""
    if not np.isfinite(objective):
        raise ValueError(f"the objective at the point is {objective}")
    # A NaN is worse than any number.
    relative = np.nan_to_num(relative, nan=np.inf)
    if not (relative > 0).any():
        return PointFigures(objective, 0.0, 0.0, "")
    worst = int(np.argmax(relative))
    return PointFigures(objective, float(off[worst]), float(relative[worst]), names[worst])
