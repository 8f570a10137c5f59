"""Programs with the names that the user gave their constraints and variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.programs.compiled import compile_form, entry_names
from equimargin.formulations.programs.model_lines import Lines, Side, find_lines
from equimargin.formulations.programs.standard_form import (
    StandardForm,
    constraint_names,
    distinct_names,
)
from equimargin.proofs.certificates.program_file import read_program_file
from equimargin.proofs.feasibility import LinearConstraints

MAX_TERMS = 8
"""Maximum number of terms of a constraint that are shown."""


@dataclass(frozen=True, eq=False)
class ExplainedProgram:
    """Program in standard form with the user's names.

    Parameters
    ----------
    name : str
        Name of the program.
    form : StandardForm
        Program, as a minimisation.
    maximised : bool
        True if the user maximises minus the objective of `form`.
    taken : str
        Reading of the numbers, which is not proven.
    rows : tuple of str
        Names of the rows of `form`.
    reversed : ndarray of bool
        True for rows of `form` that the user states with the opposite signs, as >=.
    lines : callable
        Function that returns the lines of the file.
    default : str
        Origin of bounds that have no line.
    """

    name: str
    form: StandardForm
    maximised: bool
    taken: str
    rows: tuple[str, ...]
    reversed: NDArray[np.bool_]
    lines: Callable[[], Lines]
    default: str

    def title(self, constraints: LinearConstraints, k: int) -> tuple[Side, str]:
        """Return the kind of a constraint, and the name of its row or variable.

        Parameters
        ----------
        constraints : LinearConstraints
            Linear constraints of `form`.
        k : int
            Constraint.
        """
        if k < constraints.rows:
            return "row", self.rows[k]
        k -= constraints.rows
        if k < len(constraints.low):
            return "lower bound", self.form.names[constraints.low[k]]
        return "upper bound", self.form.names[constraints.high[k - len(constraints.low)]]

    def is_reversed(self, constraints: LinearConstraints, k: int) -> bool:
        """Return True if the user states constraint k with the opposite signs, as >=.

        Parameters
        ----------
        constraints : LinearConstraints
            Linear constraints of `form`.
        k : int
            Constraint.
        """
        if k < constraints.rows:
            return bool(self.reversed[k])
        return k < constraints.rows + len(constraints.low)

    def text(self, constraints: LinearConstraints, k: int) -> str:
        """Return a constraint as an equation or inequality in the user's names.

        Parameters
        ----------
        constraints : LinearConstraints
            Linear constraints of `form`.
        k : int
            Constraint.
        """
        sign = -1.0 if self.is_reversed(constraints, k) else 1.0
        part = slice(constraints.C.indptr[k], constraints.C.indptr[k + 1])
        terms = list(
            zip(
                constraints.C.indices[part].tolist(),
                (sign * constraints.C.data[part]).tolist(),
                strict=True,
            )
        )
        relation = "=" if k < constraints.equations else "<=" if sign > 0 else ">="
        # Adding 0 removes the sign of a 0.
        end = float(sign * constraints.c[k]) + 0.0
        return f"{combination(terms, self.form.names)} {relation} {plain(end)}"


def combination(terms: list[tuple[int, float]], names: tuple[str, ...]) -> str:
    """Return a linear combination of variables as text.

    Parameters
    ----------
    terms : list of tuple
        Variables and their coefficients.
    names : tuple of str
        Names of all variables.
    """
    parts = []
    for j, v in terms[:MAX_TERMS]:
        size = "" if abs(v) == 1 else f"{plain(abs(v))} "
        parts.append(f"{'-' if v < 0 else '+'} {size}{names[j]}")
    text = " ".join(parts).removeprefix("+ ") or "0"
    left = len(terms) - MAX_TERMS
    return f"{text} + ... ({left} more terms)" if left > 0 else text


def plain(v: float) -> str:
    """Return a float in the fewest digits that denote it, without a trailing .0.

    Parameters
    ----------
    v : float
        Number.
    """
    return repr(v).removesuffix(".0")


def state_model(path: Path) -> ExplainedProgram:
    """Return the program of a model file.

    Parameters
    ----------
    path : Path
        File of `read_program_file`.

    Raises
    ------
    ValueError, OSError
        As in `read_program_file`.
    """
    model = read_program_file(path)
    names = np.full(len(model.form.h), "", dtype=object)
    is_reversed = np.zeros(len(model.form.h), dtype=np.bool_)
    for rows, ends in ((model.above, False), (model.below, True)):
        own = rows >= 0
        names[rows[own]] = np.array(model.rows, dtype=object)[own]
        is_reversed[rows[own]] = ends
    return ExplainedProgram(
        path.name,
        model.form,
        model.maximised,
        model.taken,
        tuple(names.tolist()),
        is_reversed,
        lambda: find_lines(path),
        "default of the format",
    )


def state_problem(problem: Any) -> ExplainedProgram:
    """Return the program of a cvxpy problem.

    Parameters
    ----------
    problem : cvxpy.Problem
        Linear, quadratic or second-order cone program.

    Raises
    ------
    ValueError
        If the problem is none, or cvxpy does not compile it to such a program.
    """
    form, _, places = compile_form(problem)
    form = form.tidied()
    if not all(np.isfinite(part).all() for part in (form.P.data, form.q, form.G.data, form.h)):
        raise ValueError(
            "the problem has a number that is inf or nan; mend it, or leave out a constraint "
            "with an infinite end"
        )
    rows = [f"{i} (added by cvxpy)" for i in range(len(form.h))]
    for (name, place), constraint in zip(places.items(), _placed(problem, places), strict=True):
        rows[place] = entry_names(name, constraint.shape, place.stop - place.start)
    # cvxpy writes x >= 1 as 1 - x <= 0.
    largest = np.asarray(form.G.max(axis=1).todense()).ravel() if len(form.h) else np.zeros(0)
    is_reversed = (largest <= 0) & (np.arange(len(form.h)) >= form.zero)
    return ExplainedProgram(
        "the problem",
        form,
        problem.objective.NAME == "maximize",
        "the program is cvxpy's standard form in doubles",
        tuple(rows),
        is_reversed,
        dict,
        "",
    )


def _placed(problem: Any, places: dict[str, slice]) -> list[Any]:
    """Return the constraints that have places, in the order of the places."""
    names = distinct_names(constraint_names(problem))
    by_name = dict(zip(names, problem.constraints, strict=True))
    return [by_name[name] for name in places]
