"""Judge of solvers' answers to one program: distance from the optimum, and violations."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.program_bound import DEFAULT_SOLVER, ProgramBound, make_bound
from equimargin.proofs.outward import form_interval
from equimargin.proofs.referee.residuals import own_residual
from equimargin.report.words import PAGE_COLUMNS
from equimargin.solvers.backends.form import solve_form
from equimargin.stated_program import PointFigures, PointValues, StatedProgram, state_program

CURRENT = "values in the problem"
"""Name of the answer that a solved cvxpy problem has."""
COLUMNS = ("answer", "verdict", "objective", "distance at most", "worst violation")
"""Columns of the table."""
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


class AnswerVerdict(StrEnum):
    """Verdict on one answer."""

    AGREES = "agrees"
    FAR = "not within tolerance"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """Answer of one solver, recomputed from its point.

    Parameters
    ----------
    name : str
        Name of the solver, or of the passed answer.
    verdict : AnswerVerdict
        Verdict.
    reason : str
        Reason of the verdict, as a sentence.
    objective : float or None
        Stated objective at the point, in float64; None without a point.
    distance : float or None
        Proven upper bound on the distance of `objective` from the optimum; inf if none
        is proven.
    violation : float or None
        Largest violation of a constraint, in float64.
    constraint : str
        Name of that constraint, empty if all hold.
    seconds : float or None
        Wall seconds of the solver; None for a passed answer.
    values : mapping of str to ndarray, or None
        Values of the variables by name.
    """

    name: str
    verdict: AnswerVerdict
    reason: str
    objective: float | None = None
    distance: float | None = None
    violation: float | None = None
    constraint: str = ""
    seconds: float | None = None
    values: PointValues | None = field(default=None, repr=False)

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the row of the table."""
        if self.objective is None:
            return (self.name, str(self.verdict), "", "", "")
        place = f" in {self.constraint}" if self.constraint else ""
        return (
            self.name,
            str(self.verdict),
            f"{self.objective:.10g}",
            f"{self.distance:.1e}",
            f"{self.violation:.1e}{place}",
        )


@dataclass(frozen=True, eq=False)
class ProgramJudgement:
    """Answers to one program, and the proven interval of its optimum.

    Printing it shows a table.

    Parameters
    ----------
    bound : ProgramBound
        Interval that contains the optimum.
    answers : tuple of ProgramAnswer
        Answers in the order of the solvers, then those that were passed.
    tol : float
        Tolerance of the verdicts, relative to `scale`.
    """

    bound: ProgramBound
    answers: tuple[ProgramAnswer, ...]
    tol: float

    @property
    def agree(self) -> bool:
        """True if every answer agrees."""
        return all(answer.verdict is AnswerVerdict.AGREES for answer in self.answers)

    @property
    def notes(self) -> list[str]:
        """Sentences on the answers that do not agree, and on the tolerance."""
        others = [
            f"{answer.name}: {answer.reason}"
            for answer in self.answers
            if answer.verdict is not AnswerVerdict.AGREES
        ]
        return [
            *others,
            f"Tolerance {self.tol:g} of max(1, |optimum|), and of 1 + the right-hand side of a "
            f"constraint. The interval is proven; objectives and violations are recomputed in "
            f"float64, and no status of a solver is used.",
        ]

    def __str__(self) -> str:
        rows = [COLUMNS, *(answer.cells for answer in self.answers)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        statement, *notes = (
            fill(text, PAGE_COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
            for text in (self.bound.statement, *self.notes)
        )
        return "\n".join([statement, "", *table, "", *notes])

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
        rows = (
            "".join(f"<td>{escape(cell)}</td>" for cell in answer.cells) for answer in self.answers
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p>{escape(self.bound.statement)}</p><table><tr>{head}</tr>{body}</table>{notes}"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, infinite ones as text."""
        answers = [
            {key: _plain(v) for key, v in vars(answer).items() if key != "values"}
            for answer in self.answers
        ]
        return {
            "bound": self.bound.record(),
            "tol": self.tol,
            "agree": self.agree,
            "answers": answers,
        }

    def to_json(self) -> str:
        """Return the figures as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)


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

    A solver that fails, hangs or is not installed has no answer, with the reason. The
    status of a solver is not used, and the problem keeps its values.

    Parameters
    ----------
    problem : cvxpy.Problem, str or Path
        Linear, quadratic or second-order cone program, or its MPS, QPS or LP file.
    solvers : str or sequence of str
        Names of solvers, any that `equimargin list solvers` has as installed.
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
        not positive.
    OSError
        If the file cannot be opened.
    """
    for value, name in ((agree_tol, "agree_tol"), (tol, "tol"), (seconds, "seconds")):
        positive(value, name)
    program = state_program(problem)
    names = [solvers] if isinstance(solvers, str) else list(dict.fromkeys(solvers))
    runs = [_run(program, name, tol, seconds) for name in names]
    given = {} if program.current is None else {CURRENT: program.current}
    runs += [_Run(name, values) for name, values in (given | dict(answers or {})).items()]
    found = _interval(program, runs, agree_tol, seconds)
    judged = tuple(_judged(program, found, run, agree_tol) for run in runs)
    return ProgramJudgement(found, judged, agree_tol)


def _run(program: StatedProgram, name: str, tol: float, seconds: float) -> _Run:
    """Run a solver, and keep its point or the reason why it has none."""
    started = time.perf_counter()
    try:
        x, z = solve_form(program.form, name, seconds, tol)
    except ValueError as reason:
        return _Run(name, failure=str(reason), seconds=time.perf_counter() - started)
    return _Run(name, program.to_values(x), "", x, z, time.perf_counter() - started)


def _interval(
    program: StatedProgram, runs: Sequence[_Run], agree_tol: float, seconds: float
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


def _judged(program: StatedProgram, found: ProgramBound, run: _Run, tol: float) -> ProgramAnswer:
    """Return the answer of a run with its verdict."""
    try:
        if run.values is None:
            raise ValueError(run.failure)
        figures = program.examine(run.values)
    except ValueError as failure:
        return ProgramAnswer(
            run.name, AnswerVerdict.NO_ANSWER, f"no answer, because {failure}", seconds=run.seconds
        )
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
    allowed = tol * max(1.0, *ends, 0.0)
    if not figures.relative <= tol:
        return AnswerVerdict.INFEASIBLE, (
            f"it violates {figures.constraint} by {figures.violation:.1e}, "
            f"{figures.relative:.1e} of 1 + its right-hand side"
        )
    least = max(found.lower - figures.objective, figures.objective - found.upper)
    if not least <= allowed:
        return AnswerVerdict.FAR, f"its objective is at least {least:.1e} from the optimum"
    if far <= allowed:
        return AnswerVerdict.AGREES, f"its objective is at most {far:.1e} from the optimum"
    return AnswerVerdict.UNDECIDED, (
        f"its objective is within the proven interval, which is wider than {allowed:.1e}"
    )


def _plain(value: Any) -> Any:
    """Return a value for JSON, infinite numbers as text."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
