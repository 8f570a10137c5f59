"""Examination of one answer: value, point and accuracy, recomputed from its vectors.

The answer has stored the values of variables and parameters. Those in the declaration
are neither read nor written, because they may have changed since.
"""

from __future__ import annotations

from typing import Any

from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.proofs.referee.bounds import Bounds
from equimargin.proofs.referee.evidence import Evidence, Run
from equimargin.proofs.referee.rational_program import RationalProgram
from equimargin.proofs.referee.weak_duality import WeakDuality
from equimargin.solvers.backends.solve import Answer
from equimargin.solvers.solution import AnySolution, Status


def examine(problem: AnyProblem, answer: Answer, control: bool = False) -> Evidence:
    """Return the evidence of a backend's answer to a declaration.

    Parameters
    ----------
    problem : AnyProblem
        Problem of the family, with the true data.
    answer : Answer
        Answer of `solve_declaration`; its declaration may have been changed since.
    control : bool, default False
        True if the declaration is a negative control.
    """
    run = Run(
        problem.family,
        answer.declaration.id,
        answer.backend,
        control,
        answer.status,
        answer.reason,
        skipped=answer.raw is None and answer.status is Status.UNSUPPORTED,
        compile_seconds=answer.compile_seconds,
        solve_seconds=answer.solve_seconds,
        iterations=answer.iterations,
    )
    if run.skipped:
        return Evidence(run)
    return bounds_for(problem).of_answer(run, answer)


def examine_solution(problem: AnyProblem, solution: AnySolution) -> Evidence:
    """Return the evidence of a specialised solver's solution.

    The bounds are computed for `problem`, not for the problem in the solution.

    Parameters
    ----------
    problem : AnyProblem
        Problem of the family, with the true data.
    solution : AnySolution
        Solution of a specialised solver.
    """
    run = Run(
        problem.family,
        None,
        solution.solver,
        False,
        solution.status,
        solution.reason,
        solve_seconds=solution.seconds,
        iterations=solution.iterations,
    )
    return bounds_for(problem).of_solution(run, solution)


def bounds_for(problem: Any) -> Bounds:
    """Return the object that bounds a problem's optimum from answers.

    It uses weak duality for a canonical problem, and programs in rational numbers for
    any other.

    Parameters
    ----------
    problem : problem of any kind
        Problem of the family.

    Raises
    ------
    TypeError
        If the problem is neither canonical nor given by a family's data.
    """
    if isinstance(problem, Problem):
        return WeakDuality(problem)
    if isinstance(problem, ProgramProblem):
        return RationalProgram(problem)
    raise TypeError(
        f"no bounds can be proven for a {type(problem).__name__}; pass a canonical problem or a "
        f"ProgramProblem"
    )
