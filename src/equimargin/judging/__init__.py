"""Judge of solvers' answers to one program: distance from the optimum, and violations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.judging.answer import AnswerVerdict, ProgramAnswer
from equimargin.judging.judgement import ProgramJudgement
from equimargin.judging.stated import JudgedProgram, PointFigures, PointValues, state_program
from equimargin.program_bound import DEFAULT_SOLVER, ProgramBound, make_bound
from equimargin.proofs.outward import form_interval
from equimargin.proofs.referee.residuals import own_residual
from equimargin.solvers.backends.process import PROCESS

__all__ = ["AnswerVerdict", "ProgramAnswer", "ProgramJudgement", "judge"]

CURRENT = "values in the problem"
"""Name of the answer that a solved cvxpy problem has."""
WIDTH_RATIO = 0.1
"""Relative width of the interval that is sought, over the tolerance."""


class _Run(NamedTuple):
    """Point of a solver, or passed by the user, before it is examined."""

    name: str
    values: PointValues | None = None
    failure: str = ""
    x: Array | None = None
    z: Array | None = None
    seconds: float | None = None


def judge(
    problem: Any,
    solvers: str | Sequence[str] = (),
    answers: Mapping[str, PointValues] | None = None,
    *,
    agree_tol: float = 1e-6,
    tol: float = 1e-8,
    seconds: float = 60.0,
) -> ProgramJudgement:
    """Run several solvers on one program, and judge their answers by proven bounds.

    The solvers run in a process of their own. One that fails, crashes, hangs or is not
    installed has no answer, with the reason. The status of a solver is not used, and
    the problem keeps its values.

    Parameters
    ----------
    problem : cvxpy.Problem, str or Path
        Linear, quadratic or second-order cone program, or its file, as in `bound`.
    solvers : str or sequence of str
        Names of solvers, any in capitals that `equimargin list solvers` has as installed.
    answers : mapping of str to answer, optional
        Further answers by name: each a mapping of the variables' names to values, or
        for a file also an array in its order. A solved cvxpy problem has its own.
    agree_tol : float, default 1e-6
        Relative tolerance of the verdicts.
    tol : float, default 1e-8
        Tolerance of the solvers whose options are in equimargin's table; others keep
        their defaults.
    seconds : float, default 60.0
        Time limit of each solver and of the proof, in seconds.

    Returns
    -------
    ProgramJudgement
        Verdict on every answer; printing it shows a table.

    Raises
    ------
    ValueError
        If the program is not read, compiled or proven to be convex, or an argument is
        not positive, or no text where a solver is named.
    OSError
        If the file cannot be opened.
    """
    for value, name in ((agree_tol, "agree_tol"), (tol, "tol"), (seconds, "seconds")):
        positive(value, name)
    names = _names(solvers)
    program = state_program(problem)
    given = {} if program.current is None else {CURRENT: program.current}
    runs = [_run(program, name, tol, seconds) for name in names]
    runs += [_Run(name, values) for name, values in (given | dict(answers or {})).items()]
    found = _interval(program, runs, agree_tol, seconds)
    judged = tuple(_judged(program, found, run, agree_tol) for run in runs)
    return ProgramJudgement(found, judged, agree_tol)


def _names(solvers: Any) -> list[str]:
    """Return the names of solvers without repetitions."""
    named = [solvers] if isinstance(solvers, str) else solvers
    if not isinstance(named, Iterable):
        raise ValueError(f"solvers must be names, such as ['CLARABEL', 'HIGHS'], not {named!r}")
    names = list(named)
    wrong = next((name for name in names if not isinstance(name, str)), "")
    if not isinstance(wrong, str):
        raise ValueError(f"a solver is named by text, such as 'CLARABEL', not {wrong!r}")
    return list(dict.fromkeys(names))


def _run(program: JudgedProgram, name: str, tol: float, seconds: float) -> _Run:
    """Run a solver, and keep its point or the reason why it has none."""
    try:
        x, z, taken = PROCESS.solve_form(program.form, name, seconds, tol)
    except ValueError as reason:
        return _Run(name, failure=str(reason))
    return _Run(name, program.to_values(x), "", x, z, taken)


def _interval(
    program: JudgedProgram, runs: Sequence[_Run], agree_tol: float, seconds: float
) -> ProgramBound:
    """Return the interval of the solver with the smallest residuals, or of DEFAULT_SOLVER."""
    form, width = program.form, WIDTH_RATIO * agree_tol
    solved = [(run.x, run.z) for run in runs if run.x is not None and run.z is not None]
    zeros = (np.zeros(len(form.q)), np.zeros(len(form.h)))
    best = min(solved, key=lambda pair: own_residual(form, *pair).normwise, default=zeros)
    found = form_interval(form, *best, width=width, seconds=seconds)
    if found.width > width and DEFAULT_SOLVER not in {run.name.upper() for run in runs}:
        other = _run(program, DEFAULT_SOLVER, width, seconds)
        if other.x is not None and other.z is not None:
            again = form_interval(form, other.x, other.z, width=width, seconds=seconds)
            found = min(found, again, key=lambda interval: interval.width)
    return make_bound(program.name, found, program.maximised, program.taken)


def _judged(program: JudgedProgram, found: ProgramBound, run: _Run, tol: float) -> ProgramAnswer:
    """Return the answer of a run with its verdict."""
    try:
        if run.values is None:
            raise ValueError(run.failure or "there is no point; pass a value for each variable")
        figures = program.examine(run.values)
    except ValueError as failure:
        reason = f"no answer, because {failure}"
        return ProgramAnswer(run.name, AnswerVerdict.NO_ANSWER, reason, seconds=run.seconds)
    far = max(figures.objective - found.lower, found.upper - figures.objective)
    verdict, reason = _verdict(figures, found, far, tol)
    return ProgramAnswer(
        run.name,
        verdict,
        reason,
        figures.objective,
        far,
        figures.violation,
        figures.constraint,
        run.seconds,
        run.values,
    )


def _verdict(
    figures: PointFigures, found: ProgramBound, far: float, tol: float
) -> tuple[AnswerVerdict, str]:
    """Return the verdict on a point, and its reason."""
    ends = [abs(end) for end in (found.lower, found.upper) if np.isfinite(end)]
    allowed = tol * max([1.0, *ends])
    if not figures.relative <= tol:
        return AnswerVerdict.INFEASIBLE, (
            f"it violates {figures.constraint} by {format_upper(figures.violation, 2)}, "
            f"{format_upper(figures.relative, 2)} of 1 + its right-hand side"
        )
    least = max(found.lower - figures.objective, figures.objective - found.upper)
    if not least <= allowed:
        distance = format_lower(least, 2)
        return AnswerVerdict.FAR, f"its objective is at least {distance} from the optimum"
    if far <= allowed:
        distance = format_upper(far, 2)
        return AnswerVerdict.AGREES, f"its objective is at most {distance} from the optimum"
    return AnswerVerdict.UNDECIDED, (
        f"its objective is within the proven interval, which is wider than {allowed:.2g}"
    )
