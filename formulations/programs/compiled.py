"""Conversion of a cvxpy problem, or of its standard form, to a program in rational numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.programs.from_arrays import matrix, vector
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.formulations.programs.reading import Reading, read
from equimargin.formulations.programs.standard_form import (
    StandardForm,
    find_columns,
    find_rows,
    make_standard_form,
)

COMPILED_FOR = "CLARABEL"
"""Solver of cvxpy in whose standard form a problem is compiled."""
CONE_FUNCTIONS = {
    "exp": "exp, log, entr and other functions of exponentials",
    "psd": "semidefinite matrices and functions of eigenvalues",
    "p3d": "powers, or with powers that are approximated (approx=True)",
}
"""Functions of the cones that are refused, by cvxpy's names of the cones."""


def compile_program(problem: Any, reading: Reading = "exact") -> Program:
    """Return the standard form of a cvxpy problem in rational numbers.

    Parameters
    ----------
    problem : cvxpy.Problem
        Quadratic, linear or second-order cone program; its parameters are set.
    reading : Reading
        Interpretation of floats: "exact" as dyadic numbers, "fractions" as simple
        fractions if they are close to one.

    Returns
    -------
    Program
        `.columns` has the places of the problem's variables in x, column by column, and
        `.rows` those of its constraints; `.stated` converts an objective value to that
        of the stated problem.

    Raises
    ------
    ValueError
        If cvxpy does not compile the problem to such a program, it has integers, a
        parameter is not set, or a number is not finite.
    """
    form, columns, places = compile_form(problem)
    program = program_of_form(form, reading)
    added = len(program.b) + len(program.h) - len(form.h)
    return replace(
        program,
        maximised=problem.objective.NAME == "maximize",
        columns=columns,
        rows={
            name: place
            if place.stop <= form.zero
            else slice(place.start + added, place.stop + added)
            for name, place in places.items()
        },
    )


def program_of_form(form: StandardForm, reading: Reading = "exact") -> Program:
    """Return a program in floats as one in rational numbers.

    Parameters
    ----------
    form : StandardForm
        Program; its bounds on variables become the first rows of G, lower ones first.
    reading : Reading
        Interpretation of floats, as in `compile_program`.
    """
    n, low = len(form.q), np.flatnonzero(np.isfinite(form.lower))
    high = np.flatnonzero(np.isfinite(form.upper))
    G, h = matrix(form.G, len(form.h), n, "G", reading), vector(form.h, reading)
    bounds = (
        *({j: Fraction(-1)} for j in low.tolist()),
        *({j: Fraction(1)} for j in high.tolist()),
    )
    ends = (*vector(-form.lower[low], reading), *vector(form.upper[high], reading))
    return Program(
        _symmetric(matrix(form.P, n, n, "P", reading)),
        vector(form.q, reading),
        G.part(range(form.zero)),
        h[: form.zero],
        Matrix((*bounds, *G.rows[form.zero :]), n),
        (*ends, *h[form.zero :]),
        read(form.offset, reading),
        form.cones,
        reading=reading,
    )


def compile_form(problem: Any) -> tuple[StandardForm, dict[str, slice], dict[str, slice]]:
    """Return the standard form of a cvxpy problem in floats, with places of its names.

    Parameters
    ----------
    problem : cvxpy.Problem
        As in `compile_program`.

    Returns
    -------
    form : StandardForm
        Program, as a minimisation, with the names of its variables' entries.
    columns : dict of str to slice
        Places of the problem's variables in x, column by column.
    rows : dict of str to slice
        Places of the problem's constraints among the rows.

    Raises
    ------
    ValueError
        As in `compile_program`.
    """
    data, chain, inverse = _compiled(problem)
    return *_named_form(problem, data, chain, inverse), find_rows(problem, data)


def _named_form(
    problem: Any, data: Any, chain: Any, inverse: Any
) -> tuple[StandardForm, dict[str, slice]]:
    """Return the standard form with names of its variables' entries, and their places."""
    variables = {variable.name(): variable for variable in problem.variables()}
    if len(variables) < len(problem.variables()):
        raise ValueError("two variables have the same name: give each a name of its own")
    form, columns = make_standard_form(data, inverse), find_columns(variables, data, chain)
    names = [f"(auxiliary {j})" for j in range(len(form.q))]
    for name, place in columns.items():
        names[place] = entry_names(name, variables[name].shape, place.stop - place.start)
    return replace(form, names=tuple(names)), columns


def entry_names(name: str, shape: tuple[int, ...], size: int) -> list[str]:
    """Return the names of the entries of an array, column by column as in cvxpy.

    Parameters
    ----------
    name : str
        Name of the array.
    shape : tuple of int
        Shape of the array.
    size : int
        Number of entries in the standard form. If the shape has another number of
        entries, a name ends in the number of its row.
    """
    if size == 1:
        return [name]
    if int(np.prod(shape)) != size:
        return [f"{name}, row {k}" for k in range(size)]
    indices = np.unravel_index(np.arange(size), shape, order="F")
    return [f"{name}[{', '.join(map(str, index))}]" for index in zip(*indices, strict=True)]


def compile_with_values(
    problem: Any,
) -> tuple[StandardForm, Callable[[Array], dict[str, Array]]]:
    """Return the standard form of a cvxpy problem, and its variables' values at a point.

    Parameters
    ----------
    problem : cvxpy.Problem
        As in `compile_program`.

    Returns
    -------
    form : StandardForm
        Program, as a minimisation, with the names of its variables' entries.
    values : callable
        Maps x, of shape (n,), to the values of the problem's variables by name.

    Raises
    ------
    ValueError
        As in `compile_program`.
    """
    data, chain, inverse = _compiled(problem)

    def values(x: Array) -> dict[str, Array]:
        # cvxpy has sparse values of diagonal variables.
        known = chain.invert(as_result(x), inverse).primal_vars
        return {variable.name(): dense(known[variable.id]) for variable in problem.variables()}

    return _named_form(problem, data, chain, inverse)[0], values


def as_result(x: Array, z: Array | None = None, objective: float = 0.0) -> SimpleNamespace:
    """Return a point and multipliers as a result of COMPILED_FOR, which cvxpy unpacks.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Point.
    z : ndarray of shape (r,), optional
        Multipliers of the rows.
    objective : float, default 0.0
        Objective of the standard form.
    """
    return SimpleNamespace(
        status="Solved", x=x, z=z, obj_val=objective, solve_time=None, iterations=None
    )


def _compiled(problem: Any) -> tuple[Any, Any, Any]:
    """Return cvxpy's conic form of a problem, its chain and its inverse data.

    The problem must be without integers, exponential, power and semidefinite cones.
    """
    if not isinstance(problem, cp.Problem):
        raise ValueError(
            f"{problem!r:.60} is no problem; pass a cvxpy.Problem, or the path of a model file "
            f"to `bound`, `explain` or `judge`"
        )
    unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
    if unset:
        raise ValueError(
            f"the parameter{'s' * (len(unset) > 1)} {', '.join(unset)} of the problem must "
            f"have a value first"
        )
    if problem.is_mixed_integer():
        raise ValueError(
            "the problem has integer or boolean variables, and only continuous ones are "
            "supported; for the relaxation, declare them without these attributes"
        )
    # cvxpy's reductions raise errors of many types.
    try:
        with warnings.catch_warnings():
            # Warnings of cvxpy about its own code are irrelevant here.
            warnings.simplefilter("ignore")
            data, chain, inverse = _with_an_unknown(problem).get_problem_data(
                COMPILED_FOR, solver_opts={}
            )
    except Exception as reason:
        text = " ".join(str(reason).split())[:200] or type(reason).__name__
        raise ValueError(f"cvxpy does not compile the problem: {text}") from reason
    if any(
        unknown.attributes["boolean"] or unknown.attributes["integer"]
        for unknown in data["param_prob"].variables
    ):
        raise ValueError(
            "the problem is not convex: cvxpy compiles a part of it, such as a FiniteSet, "
            "to integer variables"
        )
    others = [
        name
        for name, sizes in vars(data["dims"]).items()
        if name not in ("zero", "nonneg", "soc") and sizes
    ]
    if others:
        raise ValueError(
            f"the problem is no quadratic, linear or second-order cone program: cvxpy "
            f"compiles it to cones '{others[0]}'; state it without "
            f"{CONE_FUNCTIONS.get(others[0], 'the functions that need them')}"
        )
    return data, chain, inverse


def _with_an_unknown(problem: Any) -> Any:
    """Return the problem, with an irrelevant variable if it has none.

    cvxpy compiles no problem without variables.
    """
    if problem.variables():
        return problem
    return cp.Problem(
        type(problem.objective)(problem.objective.expr + 0 * cp.Variable()), problem.constraints
    )


def _symmetric(P: Matrix) -> Matrix:
    """Return (P + P') / 2, which has the same x'Px.

    cvxpy's P is symmetric within rounding error.
    """
    rows = []
    for row, column in zip(P.rows, P.transposed.rows, strict=True):
        halves = {
            j: (row.get(j, Fraction(0)) + column.get(j, Fraction(0))) / 2 for j in {*row, *column}
        }
        rows.append({j: v for j, v in halves.items() if v != 0})
    return Matrix(tuple(rows), P.width)
