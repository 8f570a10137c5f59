"""Result of a solver for a `ProgramProblem`: an objective value, or variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, isnan
from numbers import Real
from typing import Any

import numpy as np

from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.solution import AnySolution, Status


@dataclass(frozen=True, eq=False)
class ProgramSolution(AnySolution):
    """Result of a solver for a `ProgramProblem`, not yet checked.

    Attributes
    ----------
    problem : ProgramProblem
        Problem that was solved.
    solver : str
        Name of the solver.
    status : Status
        Reason to stop.
    reason : str
        Reason to stop, as text.
    iterations : int or None
        Iterations, as the solver counts them; None if it counts none.
    seconds : float
        Wall time in seconds.
    accuracy : float
        Accuracy that the solver declares, relative to the size of the optimum.
    value : float
        Reported objective value of the family's first formulation; NaN if variable
        values are given.
    values : mapping of str to array
        Values of variables by name; empty if none are given.
    formulation : str or None
        Id of the formulation with these variables.
    """

    problem: ProgramProblem
    solver: str
    status: Status
    reason: str
    iterations: int | None
    seconds: float
    accuracy: float
    value: float = float("nan")
    values: Mapping[str, Any] = field(default_factory=dict)
    formulation: str | None = None


def solved(
    problem: ProgramProblem,
    solver: str,
    function: Callable[[], Any],
    accuracy: float,
    seconds: float | None,
) -> ProgramSolution:
    """Run a solving function under a time limit and interpret its result.

    Parameters
    ----------
    problem : ProgramProblem
        Problem to solve.
    solver : str
        Name of the solver.
    function : callable
        Returns an objective value of the family's first formulation, or values of its
        variables by name, or the name of another formulation and values of that one's
        variables; or a ProgramSolution.
    accuracy : float
        Relative accuracy that the solver declares.
    seconds : float or None
        Time limit; None for no limit.

    Returns
    -------
    ProgramSolution
        Result, or the reason of a failure.
    """
    started = run_seconds()

    def ended(status: Status, reason: str, *found: Any) -> ProgramSolution:
        taken = run_seconds() - started
        return ProgramSolution(problem, solver, status, reason, None, taken, accuracy, *found)

    try:
        answer = interruptible(function, seconds=inf if seconds is None else seconds)
    except TimeoutError as late:
        return ended(Status.TIME_LIMIT, f"given up: {late}")
    if isinstance(answer, ProgramSolution):
        return answer
    try:
        value, values, formulation = _read(problem, answer)
    except ValueError as wrong:
        return ended(Status.NUMERICAL_FAILURE, str(wrong))
    reason = "" if formulation else "the solver gives a value without a point"
    return ended(Status.OPTIMAL, reason, value, values, formulation)


def _read(problem: ProgramProblem, answer: Any) -> tuple[float, Mapping[str, Any], str | None]:
    """Return the objective value, variable values and formulation id of a result.

    Raises
    ------
    ValueError
        If the result has none of the forms listed in `solved`.
    """
    if isinstance(answer, Real | np.floating) and not isinstance(answer, bool):
        if isnan(answer):
            raise ValueError("the value is not a number")
        return float(answer), {}, None
    entry, values = problem.definition, answer
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str):
        named = {entry.name: entry for entry in problem.formulations.values()}
        if answer[0] not in named:
            raise ValueError(
                f"there is no formulation {answer[0]!r}; the family has {', '.join(named)}"
            )
        entry, values = named[answer[0]], answer[1]
    if not isinstance(values, Mapping):
        raise ValueError(
            f"a solver returns a number, a mapping of variables to values, or (formulation, "
            f"mapping), not a {type(answer).__name__}"
        )
    return float("nan"), values, entry.id
