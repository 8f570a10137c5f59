"""A formulation as a program in rational numbers."""

from __future__ import annotations

from typing import Any

from equimargin.formulations.formulation import Formulation
from equimargin.formulations.programs import Program
from equimargin.formulations.symbols import cp
from equimargin.solvers.backends.stated_program import program_of


def program_of_formulation(entry: Formulation, data: Any) -> Program:
    """A formulation at its data as a program in rational numbers, in which every variable has columns.

    cvxpy compiles a variable with an attribute, such as nonneg=True, to another one. It is then given a copy, which keeps its columns.
    """
    problem = entry.problem_of(data)
    program = program_of(problem, entry.reading)
    hidden = [variable for variable in problem.variables() if variable.name() not in program.columns]
    if not hidden:
        return program
    copies = [(cp.Variable(variable.shape, name=f"copy of {variable.name()}"), variable) for variable in hidden]
    program = program_of(cp.Problem(problem.objective, [*problem.constraints, *(a == b for a, b in copies)]), entry.reading)
    columns = {name.removeprefix("copy of "): columns for name, columns in program.columns.items()}
    return Program(**{**vars(program), "columns": columns})
