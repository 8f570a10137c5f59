"""Command `compare`: formulations and solvers on data of the user."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equimargin.cli.group import get_command
from equimargin.cli.options.families import brought
from equimargin.cli.options.names import flag
from equimargin.cli.options.posing import ProblemFields, posed
from equimargin.cli.options.reading import ReadFields
from equimargin.cli.options.requests import with_requests
from equimargin.cli.options.shared import (
    OUTPUT,
    CSVOption,
    DataArgument,
    HTMLOption,
    JSONOption,
    MarkdownOption,
    PluginOption,
)
from equimargin.cli.output.errors import (
    exit_interrupted,
    exit_with,
    report_errors,
    without_warnings_of_trackers,
)
from equimargin.cli.output.files import STDOUT, check_writable, printed_apart, writing
from equimargin.cli.output.screen import Screen
from equimargin.request import ComparisonRequest

if TYPE_CHECKING:
    from equimargin.report.comparison import Comparison


OptionalDataArgument = Annotated[str | None, *DataArgument.__metadata__]


BY_HAND = "by Ctrl-C or SIGTERM"
"""Cause of the end of a comparison that the user interrupted.

Other processes may still run then, unlike at the end of the total time.
"""


def _explain(asked: bool) -> None:
    if asked:
        from equimargin.report.words import EXPLANATION

        typer.echo(EXPLANATION, nl=False)
        raise typer.Exit


@with_requests
def compare(  # prose-ok: param-section
    context: typer.Context,
    data: OptionalDataArgument = None,
    *,
    reading: ReadFields,
    posing: ProblemFields,
    request: ComparisonRequest,
    draw: Annotated[
        int | None,
        typer.Option(
            metavar="SEED",
            min=0,
            help="Seed of sampled data for a user-defined family, in place of DATA.",
        ),
    ] = None,
    wide: Annotated[
        bool, flag("--wide", "Print a table of 150 columns, one line for each answer.", OUTPUT)
    ] = False,
    explain: Annotated[
        bool,
        flag(
            "--explain",
            "Explain the terms and marks of the report, and exit.",
            OUTPUT,
            callback=_explain,
            is_eager=True,
        ),
    ] = False,
    json: JSONOption = None,
    csv: CSVOption = None,
    markdown: MarkdownOption = None,
    html: HTMLOption = None,
    certify: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for a certificate of every family, FAMILY.json.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    plugin: PluginOption = None,
) -> None:
    """Compare formulations and solvers on your data.

    Every answer is checked: its error is computed anew, and the status that a solver
    reports is not used.

    A user-defined family, or one of `list families` beyond those of the task, is
    compared by name: --family ID with a table and --parameter NAME=VALUE, with a file of
    its own data, or with --draw SEED.

    Exit status: 0 every family agrees; 1 a family disagrees; 2 bad usage or input; 3
    nothing was solved; 4 a family is undecided; 130 interrupted by Ctrl-C or
    --total-time: the results so far are printed and written.
    """
    with report_errors(), writing(json, csv, markdown, html, certify) as write:
        check_writable(json, csv, markdown, html)
        _check_folder(certify)
        with _no_answer_yet(json, csv, markdown, html):
            own_problems = brought(context, data, reading, posing, draw)
            asked = own_problems or posed(_required(data), reading, posing)
            if request.jobs != 1:
                without_warnings_of_trackers()
            from equimargin.comparison import run_request

            controls = request.include_controls or names_control(request.formulations)
            with printed_apart():
                stream = run_request(asked.problems, replace(request, include_controls=controls))
            screen = Screen(wide)
            screen.headline(asked.headline)
            result = _followed(stream, screen)
        result = replace(result, data=asked.data, settings={**result.settings, **asked.settings})
        for file, text in (
            (json, result.to_json),
            (csv, result.to_csv),
            (markdown, result.to_markdown),
            (html, lambda: result.to_html(get_command(context))),
        ):
            if file is not None:
                write(file, text())
        screen.end(result)
        if certify is not None:
            with printed_apart():
                outcomes = result.certify(certify)
            for id, outcome in outcomes.items():
                typer.echo(
                    f"{id}: certificate {outcome}"
                    if isinstance(outcome, Path)
                    else f"{id}: no certificate: {outcome}"
                )
        if result.interrupted:
            files = _named(json, csv, markdown, html)
            written = f", written to {', '.join(files)}" if files else ""
            others_work = request.jobs != 1 and result.interrupted == BY_HAND
            exit_interrupted(
                f"interrupted ({result.interrupted}): {result.done} of {result.total} "
                f"answers{written}",
                others_work,
            )
    exit_with(result.exit_code)


def _required(data: str | None) -> str:
    """Return the argument DATA, which is optional for user-defined families only."""
    if data is None:
        raise ValueError("missing argument 'DATA'; see equimargin compare --help")
    return data


def _check_folder(certify: Path | None) -> None:
    """Create the folder of the certificates before the comparison runs."""
    if certify is None:
        return
    if certify == STDOUT:
        raise ValueError(
            "--certify must be a folder, for a file of every family, not standard output (-)"
        )
    try:
        certify.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"--certify: {certify} is not a folder") from None


def _named(*files: Path | None) -> list[str]:
    """Return the names of the files, without standard output."""
    return [str(file) for file in files if file not in (None, STDOUT)]


@contextmanager
def _no_answer_yet(*files: Path | None) -> Iterator[None]:
    """End the command at an interrupt with a message on the files that are not written.

    Interrupts after the first answer are handled elsewhere.
    """
    try:
        yield
    except KeyboardInterrupt:
        names = _named(*files)
        unwritten = (
            f"; {' and '.join(names)} {'is' if len(names) == 1 else 'are'} not written"
            if names
            else ""
        )
        exit_interrupted(f"interrupted before the first answer{unwritten}")


def _followed(stream: Iterator[Comparison], screen: Screen) -> Comparison:
    """Show every comparison of a stream, and return the last one.

    If an interrupt ends the stream, the latest comparison is returned.
    """
    with printed_apart():
        latest = next(stream)
    started = time.perf_counter() - latest.seconds
    try:
        with screen, printed_apart():
            screen.update(latest)
            for latest in stream:
                screen.update(latest)
    except KeyboardInterrupt:
        latest = replace(latest, interrupted=BY_HAND, seconds=time.perf_counter() - started)
    return latest


def names_control(patterns: str | Sequence[str]) -> bool:
    """Return True if a pattern is the full name of a negative control.

    Parameters
    ----------
    patterns : str or sequence of str
        Ids of formulations, or patterns with * and ?.
    """
    from equimargin.formulations import REGISTRY

    controls = {entry.id.lower() for entry in REGISTRY.values() if entry.control}
    return any(pattern.lower() in controls for pattern in patterns)
