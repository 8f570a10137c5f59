"""Proven objective value of a solver's solution of a user-defined problem.

The problem's formulations are programs in rational numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.proofs.program.completion import completed
from equimargin.proofs.program.proven_optimum import scaled
from equimargin.proofs.program.rounding import image_of_move
from equimargin.solvers.program_solution import ProgramSolution

LEAST_MOVE = 1e-6
"""Largest accepted change of a value v, over 1 + |v|, that makes the point feasible.

A solver that declares a lower accuracy may need a change as large as that.
"""


@dataclass(frozen=True)
class Worth:
    """Objective value of a solution, on the family's scale.

    Attributes
    ----------
    interval : Interval
        Bounds of the value.
    reason : str
        Source of the bounds, as text.
    rounding : float
        Possible error of the value because the point's numbers are rounded.
    """

    interval: Interval
    reason: str
    rounding: float = 0.0


def worth(problem: ProgramProblem, solution: ProgramSolution) -> Worth:
    """Return the objective value of the best feasible point near a solution's values.

    Parameters
    ----------
    problem : ProgramProblem
        Problem with the true data; the problem in the solution is not used.
    solution : ProgramSolution
        Solution with a value or a point.

    Raises
    ------
    ValueError
        If no point near the values is feasible, or the values do not fit the variables.
    """
    if solution.formulation is None:
        return Worth(Interval(solution.value, solution.value), solution.reason)
    entry, data = problem.formulations[solution.formulation], problem.data
    program = problem.program(entry.id)
    point = completed(program, solution.values, problem.seconds)
    if point.moved > max(LEAST_MOVE, solution.accuracy):
        raise ValueError(
            f"the values of {entry.name} are feasible only after a change by "
            f"{point.moved:.1e}, relative to 1 + |value|"
        )
    stated = program.stated(point.objective)
    image = scaled(lambda value: entry.value(value, data), stated)
    left = [name for name in program.columns if name not in solution.values]
    how = f"its point of {entry.name} is {'exactly ' if image.exact is not None else ''}feasible"
    moved = f" after a change by {point.moved:.1e}" if point.moved else ""
    ours = (
        f"; it gives no {' and no '.join(left)}, for which the best values are taken"
        if left
        else ""
    )
    rounding = image_of_move(lambda value: entry.value(value, data), stated, point.hidden)
    return Worth(
        Interval(image.lower, image.upper),
        f"{how}{moved}{ours}{image.doubt and '; '}{image.doubt}",
        rounding,
    )
