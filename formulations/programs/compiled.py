"""A cvxpy problem as a program in rational numbers, as cvxpy compiles it."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.programs.from_arrays import matrix, vector
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.formulations.programs.reading import Reading, read
from equimargin.formulations.programs.standard_form import find_columns, make_standard_form


def compile_program(problem: Any, reading: Reading = "exact") -> Program:
    """The standard form of a cvxpy problem in rational numbers.

    Parameters
    ----------
    problem : Any
        cvxpy.Problem, a quadratic, linear or second-order cone program, its parameters
        set.
    reading : Reading
        How floats are read: "exact" as the dyadic numbers that they are, "fractions" as
        simple fractions where they are near one.

    Returns
    -------
    Program
        `.columns` says where the problem's variables are in x, column by column;
        `.stated` turns a value into the problem's own.

    Raises
    ------
    ValueError
        A problem that cvxpy does not compile to such a program, with integers, or with
        a parameter that is not set; a number that is not finite.
    """
    data, chain, inverse = _compiled(problem)
    form = make_standard_form(data, inverse)
    n, low, high = (
        len(form.q),
        np.flatnonzero(np.isfinite(form.lower)).tolist(),
        np.flatnonzero(np.isfinite(form.upper)).tolist(),
    )
    G, h = matrix(form.G, len(form.h), n, "G", reading), vector(form.h, reading)
    bounds = (*({j: Fraction(-1)} for j in low), *({j: Fraction(1)} for j in high))
    ends = (*vector(-form.lower[low], reading), *vector(form.upper[high], reading))
    variables = {variable.name(): variable for variable in problem.variables()}
    if len(variables) < len(problem.variables()):
        raise ValueError("two variables have the same name: give each a name of its own")
    return Program(
        _symmetric(matrix(form.P, n, n, "P", reading)),
        vector(form.q, reading),
        G.part(range(form.zero)),
        h[: form.zero],
        Matrix((*bounds, *G.rows[form.zero :]), n),
        (*ends, *h[form.zero :]),
        read(form.offset, reading),
        form.cones,
        problem.objective.NAME == "maximize",
        find_columns(variables, data, chain),
        reading,
    )


def _compiled(problem: Any) -> tuple[Any, Any, Any]:
    """cvxpy's conic form of a problem without integers, exponential, power and semidefinite cones, its chain and its inverse data."""
    unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
    if unset:
        raise ValueError(
            f"the parameter{'s' * (len(unset) > 1)} {', '.join(unset)} of the problem must "
            f"have a value first"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cvxpy's, of its own parts
            data, chain, inverse = _with_an_unknown(problem).get_problem_data(
                "CLARABEL", solver_opts={}
            )
    except Exception as reason:  # cvxpy's reductions end in errors of many kinds
        said = " ".join(str(reason).split())[:200] or type(reason).__name__
        raise ValueError(f"cvxpy does not compile the problem: {said}") from reason
    if any(
        unknown.attributes["boolean"] or unknown.attributes["integer"]
        for unknown in data["param_prob"].variables
    ):
        raise ValueError(
            "the problem is not convex: cvxpy compiles a part of it, such as a FiniteSet, "
            "to integer unknowns"
        )
    others = [
        name
        for name, sizes in vars(data["dims"]).items()
        if name not in ("zero", "nonneg", "soc") and sizes
    ]
    if others:
        raise ValueError(
            f"the problem is no quadratic, linear or second-order cone program: cvxpy "
            f"compiles it to cones '{others[0]}'"
        )
    return data, chain, inverse


def _with_an_unknown(problem: Any) -> Any:
    """The problem, with an unknown on which nothing depends where it has none: cvxpy compiles no problem without unknowns."""
    if problem.variables():
        return problem
    return cp.Problem(
        type(problem.objective)(problem.objective.expr + 0 * cp.Variable()), problem.constraints
    )


def _symmetric(P: Matrix) -> Matrix:
    """(P + P') / 2, which has the same x'Px: cvxpy's own P is symmetric up to rounding."""
    rows = []
    for row, column in zip(P.rows, P.transposed.rows, strict=True):
        halves = {
            j: (row.get(j, Fraction(0)) + column.get(j, Fraction(0))) / 2 for j in {*row, *column}
        }
        rows.append({j: v for j, v in halves.items() if v != 0})
    return Matrix(tuple(rows), P.width)
