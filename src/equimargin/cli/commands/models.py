"""Commands on model files: `bound`, a proven interval, and `explain`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from equimargin.cli.options.shared import (
    JSONOption,
    MarkdownOption,
    ModelArgument,
    ProgramCertificateOption,
    check_positive,
    seconds_option,
)
from equimargin.cli.output.errors import exit_with, report_errors, without_warnings_of_trackers
from equimargin.cli.output.files import check_writable, writing
from equimargin.cli.output.screen import fitted
from equimargin.cli.output.waiting import WaitingBar

DISAGREE = 1
"""Exit status of several answers of which one does not agree."""
WIDE = 4
"""Exit status of an interval that is wider than requested."""
STATUS = {"feasible and bounded": 0, "infeasible": 1, "unbounded": 1, "undecided": 4}
"""Exit status of every verdict on the feasibility of a model."""


def bound(  # prose-ok: param-section
    model: ModelArgument,
    solution: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Solution file of HiGHS, lines of a name and a value, or JSON with x and y. "
            "Several are judged against each other.",
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Solver of what the solution file lacks, any in capitals of `list solvers`; "
            "CLARABEL by default. Several are judged against each other.",
        ),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            metavar="WIDTH", help="Relative width that suffices.", callback=check_positive
        ),
    ] = 1e-6,
    time_limit: Annotated[float, seconds_option("Time limit of the proof.")] = 60.0,
    json: JSONOption = None,
    markdown: MarkdownOption = None,
    certificate: ProgramCertificateOption = None,
) -> None:
    """Prove an interval of the optimum of any program.

    MODEL is a linear or convex quadratic program, and any solver may have solved it.

    The interval is proven: every rounding error is included, and no status of a solver
    is used. A bad solution gives a wide interval, not a false one. Integer variables
    are refused.

    Several solvers or solutions give one table: each answer's proven distance from the
    optimum, its violations, and a verdict. Their answers agree within WIDTH.

    Exit status: 0 the interval is as narrow as requested, and several answers agree; 1
    one of several answers does not agree; 2 bad usage or input; 4 the interval is wider.
    """
    with report_errors(), writing(json, markdown, certificate) as write:
        from equimargin.judging import AnswerVerdict, judge
        from equimargin.program_bound import bound as bound_program
        from equimargin.solution_file import read_solution

        check_writable(json, markdown, certificate)
        without_warnings_of_trackers()
        solvers = solver or []
        solutions = {str(file): read_solution(file) for file in solution or []}
        with WaitingBar("solving, and proving the interval"):
            if max(len(solvers), len(solutions)) > 1:
                answers: dict[str, Any] = {name: x for name, (x, _) in solutions.items()}
                judgement = judge(model, solvers, answers, agree_tol=width, seconds=time_limit)
                text, record, found = str(judgement), judgement.to_dict(), judgement.bound
                verdicts, table = {a.verdict for a in judgement.answers}, judgement.to_markdown
            else:
                name = next(iter(solvers), None)
                x, y = next(iter(solutions.values()), (None, None))
                found = bound_program(model, x, y, solver=name, width=width, seconds=time_limit)
                text = str(found)
                record, verdicts, table = found.record(), set(), found.to_markdown
        typer.echo(fitted(text))
        if json is not None:
            write(json, dumps(record, indent=2))
        if markdown is not None:
            write(markdown, table())
        if certificate is not None:
            write(certificate, dumps(found.certificate(time_limit), separators=(",", ":")))
        disagree = verdicts - {AnswerVerdict.AGREES, AnswerVerdict.UNDECIDED}
    exit_with(DISAGREE if disagree else 0 if found.width <= width else WIDE)


def explain(  # prose-ok: param-section
    model: ModelArgument,
    time_limit: Annotated[float, seconds_option("Time limit.")] = 60.0,
    json: JSONOption = None,
    certificate: ProgramCertificateOption = None,
) -> None:
    """Name the constraints that make a model infeasible.

    MODEL is a linear or convex quadratic program. If no point is feasible, the
    constraints are named that contradict each other, with their lines, and for each a
    point that satisfies all others of them. If the objective is unbounded, a feasible
    point and a direction are given. Everything is proven in rational numbers. Integer
    variables are refused.

    Exit status: 0 the model is feasible and bounded; 1 it is infeasible or unbounded; 2
    bad usage or input; 4 undecided.
    """
    with report_errors(), writing(json, certificate) as write:
        from equimargin.explanation import explain as explain_program

        check_writable(json, certificate)
        with WaitingBar("seeking a proof"):
            found = explain_program(model, seconds=time_limit)
        typer.echo(fitted(found.text))
        if json is not None:
            write(json, dumps(found.record(), indent=2))
        if certificate is not None:
            write(certificate, dumps(found.certificate(), separators=(",", ":")))
    exit_with(STATUS[found.verdict])
