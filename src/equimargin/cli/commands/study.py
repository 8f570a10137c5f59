"""Commands `study`, an experiment that is stored answer by answer, and `study merge`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin.cli.group import get_command
from equimargin.cli.options.names import flag, named
from equimargin.cli.options.shared import (
    CSVOption,
    HTMLOption,
    MarkdownOption,
    PluginOption,
    load_plugins,
    output_option,
)
from equimargin.cli.output.errors import (
    exit_interrupted,
    exit_with,
    report_errors,
    without_warnings_of_trackers,
)
from equimargin.cli.output.files import STDOUT, check_writable, printed_apart, writing
from equimargin.cli.output.screen import columns, console, unread_output_kept
from equimargin.cli.output.waiting import is_drawn
from equimargin.report.words import PAGE_COLUMNS

if TYPE_CHECKING:
    from equimargin.study.database import Database
    from equimargin.study.executors import Executor
    from equimargin.study.results import Study
    from equimargin.study.summary import Progress

SECONDS_BETWEEN_LOOKS = 0.5
"""Seconds between two reads of the database for a terminal; no user reads more often."""
SECONDS_BETWEEN_LINES = 60.0
"""Seconds between two lines if standard output is no terminal: about 1000 a day in a log."""
ENDING = ".sqlite"
"""Suffix of the database of a plan."""
HEAD_OF_DATABASES = b"SQLite format 3\0"
"""First bytes of every SQLite database."""
WITH_OTHERS = 4
"""Exit status if other processes have leased the missing answers."""


def study(  # prose-ok: param-section
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Plan (a TOML file), or, to look at a study, its database."
        ),
    ],
    resume: Annotated[
        bool,
        flag("--resume", "Run the missing answers, also while other processes do."),
    ] = False,
    database: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Database; by default FILE with the suffix .sqlite.",
        ),
    ] = None,
    executor: Annotated[
        str,
        named(
            ("local", "joblib", "dask"),
            "Executor of the answers: {} (this process, processes of this machine, a Dask "
            "cluster).",
        ),
    ] = "local",
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Processes of joblib, or of a Dask cluster of this machine; by default one per "
            "processor.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of a running Dask cluster, such as tcp://10.0.0.1:8786.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory limit of an answer without the data, such as 500M or 2G; by default none.",
        ),
    ] = None,
    status: Annotated[
        bool,
        flag("--status", "Show the progress and run nothing; in a terminal until the study ends."),
    ] = False,
    html: HTMLOption = None,
    csv: CSVOption = None,
    markdown: MarkdownOption = None,
    parquet: Annotated[
        Path | None, output_option("Parquet file of the answers; needs pyarrow.")
    ] = None,
) -> None:
    """Run an experiment from a TOML file, and store every answer.

    --status, --html, --csv, --markdown and --parquet show or write the answers so far,
    and run nothing.
    """
    with report_errors():
        where = _database_of(file) if database is None else database
        if status or html or csv or markdown or parquet:
            from equimargin.study import Study

            # Options of a run are refused here: they would have no effect.
            if (
                resume
                or executor != "local"
                or jobs is not None
                or scheduler is not None
                or memory is not None
            ):
                raise ValueError(
                    "--status, --html, --csv, --markdown and --parquet run nothing: leave out the "
                    "options of a run, or give two commands"
                )
            _keep_apart((html, csv, markdown, parquet), (file, where))
            _show(Study(where), html, csv, markdown, parquet, get_command(context))
            if status:
                _follow(Study(where))
            return
        load_plugins(None)
        _run(file, where, resume, _executor(executor, jobs, scheduler, memory))


def study_merge(  # prose-ok: param-section
    parts: Annotated[
        list[Path], typer.Argument(metavar="DATABASE", help="Databases of the parts.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Merged database, a new file.")
    ],
    plugin: PluginOption = None,
) -> None:
    """Merge the databases of a study's parts.

    The parts may be of one plan, or of plans that divide its lists. An answer that
    several parts have is one. If its rows contradict each other, nothing is written,
    and a sentence names both. `study PLAN --database FILE --resume` runs what is
    missing.

    Exit status: 0 the database is written; 2 bad usage or input, or a contradiction.
    """
    with report_errors():
        from equimargin.study import Study
        from equimargin.study.merging import merge

        several = merge(parts, output)
        typer.echo(
            f"{output}: {Study(output).progress().sentence}; {several} of them in several parts"
        )


def _database_of(file: Path) -> Path:
    """Return the database of a study, by the name of its plan or by its own."""
    return file if _is_database(file) else file.with_suffix(ENDING)


def _is_database(file: Path) -> bool:
    """Return True if a file is a database, by its first bytes."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(HEAD_OF_DATABASES)) == HEAD_OF_DATABASES


def _keep_apart(written: Sequence[Path | None], kept: Sequence[Path]) -> None:
    """Refuse to overwrite a study.

    Raises
    ------
    ValueError
        If a file to write is the plan, the database or a side file of SQLite.
    """
    beside = [path.with_name(path.name + end) for path in kept for end in ("", "-wal", "-shm")]
    for path in written:
        if path is not None and path.resolve() in [other.resolve() for other in beside]:
            raise ValueError(
                f"{path} is the study itself, and would be lost: name another file to write"
            )


def _show(
    study: Study,
    html: Path | None,
    csv: Path | None,
    markdown: Path | None,
    parquet: Path | None,
    command: str,
) -> None:
    """Write the results of a study so far."""
    check_writable(html, csv, markdown, parquet)
    if parquet == STDOUT:
        raise ValueError("--parquet must be a file, not standard output (-)")
    with writing(html, csv, markdown) as write:
        if html is not None:
            write(html, study.to_html(command))
        if csv is not None:
            write(csv, study.to_csv())
        if markdown is not None:
            write(markdown, study.to_markdown())
    if parquet is not None:
        study.to_parquet(parquet)


def _follow(study: Study) -> None:
    """Show the progress of a study; in a terminal until no process runs it, or Ctrl-C."""
    try:
        with _screen() as show:
            while show(study.progress()) and study.progress().holders and sys.stdout.isatty():
                time.sleep(SECONDS_BETWEEN_LOOKS)
    except KeyboardInterrupt:
        return


def _executor(name: str, jobs: int | None, scheduler: str | None, memory: str | None) -> Executor:
    """Return the executor that the options describe.

    Raises
    ------
    ValueError
        If options exclude each other, or are no numbers of processes or of bytes.
    """
    # `joblib.cpu_count` counts the processors that this process may use.
    from joblib import cpu_count

    from equimargin.study.executors import local, of_dask, of_joblib
    from equimargin.study.memory import parse_bytes

    limit = None if memory is None else parse_bytes(memory)
    if scheduler is not None and name != "dask":
        raise ValueError(
            f"--scheduler is the address of a Dask cluster, and --executor is {name}; add "
            f"--executor dask"
        )
    if jobs is not None and (name == "local" or scheduler is not None):
        what = (
            "the local executor is one process"
            if scheduler is None
            else "the cluster has its own workers"
        )
        raise ValueError(f"--jobs does not apply: {what}; leave it out")
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs must be a number of processes, at least 1, not {jobs}")
    if name == "local" and limit is None:
        return local()
    without_warnings_of_trackers()
    many = jobs or cpu_count()
    if name == "dask":
        return of_dask(scheduler, many, limit)
    # With a memory limit the local executor is a process of its own, because a library
    # that finds no memory may end its process.
    return of_joblib(1 if name == "local" else many, limit)


def _run(file: Path, where: Path, resume: bool, executor: Executor) -> None:
    """Plan a study, and run the missing answers."""
    from equimargin.study.database import Database
    from equimargin.study.grid import grid
    from equimargin.study.plan import read_plan
    from equimargin.study.results import Study

    if _is_database(file):
        raise ValueError(
            f"{file} is the database of a study, whose plan is needed to run answers; give the "
            f"TOML file of the plan (--database {file})"
        )
    plan = read_plan(file)
    if where.resolve() == file.resolve():
        raise ValueError(
            f"{file} is the plan, and cannot be its own database; rename it, or name a "
            f"database (--database FILE)"
        )
    if not resume:
        _refuse_begun(where)
    asked = grid(plan)
    with Database(where, writes=True) as opened:
        opened.enter(plan.name, plan.text, asked)
        typer.echo(
            f"{plan.name}: {len(asked)} answer{'' if len(asked) == 1 else 's'}, kept in {where}"
        )
        _work(opened, executor, Study(where))
    progress = Study(where).progress()
    if not progress.complete:
        typer.echo(
            "The missing answers are leased by other processes; --status shows them, --resume "
            "runs what remains."
        )
        exit_with(WITH_OTHERS)


def _refuse_begun(where: Path) -> None:
    """Refuse to start a study twice.

    Raises
    ------
    ValueError
        If the study has answers already, or a process runs it.
    """
    from equimargin.study.results import Study

    # The file is empty if a process ended before it made the tables.
    if not where.exists() or where.stat().st_size == 0:
        return
    progress = Study(where).progress()
    if progress.total("answered") or progress.holders:
        advice = (
            "--resume runs the new answers of the plan"
            if progress.complete
            else "--resume runs the missing answers"
        )
        raise ValueError(
            f"{where} has {progress.sentence}; {advice}, and --database FILE begins anew in "
            f"another file"
        )


def _work(opened: Database, executor: Executor, study: Study) -> None:
    """Run the missing answers of a study, and show the progress."""
    from equimargin.study.run import run

    last = time.monotonic()
    often = SECONDS_BETWEEN_LOOKS if is_drawn(sys.stdout) else SECONDS_BETWEEN_LINES
    try:
        with _screen() as show:

            def heard() -> None:
                nonlocal last
                if time.monotonic() - last >= often:
                    last = time.monotonic()
                    show(study.progress())

            with printed_apart():
                run(opened, executor, heard)
            show(study.progress())
    except KeyboardInterrupt:
        exit_interrupted(f"interrupted; {study.progress().sentence}: --resume goes on")


@contextmanager
def _screen() -> Iterator[Callable[[Progress], bool]]:
    """Yield a function that shows the progress, and returns True while answers are missing.

    A terminal shows a table that is redrawn, other outputs one line per call.
    """
    out = console(columns(PAGE_COLUMNS))
    if not is_drawn(sys.stdout):

        def line(progress: Progress) -> bool:
            out.print(progress.sentence, soft_wrap=True)
            out.file.flush()
            return not progress.complete

        yield line
        return
    from rich.live import Live

    with unread_output_kept(), Live(console=out, auto_refresh=False) as live:

        def draw(progress: Progress) -> bool:
            live.update(_table(progress), refresh=True)
            return not progress.complete

        yield draw


def _table(progress: Progress) -> Any:
    """Return the table of the progress, one row per data set."""
    from rich.table import Table

    table = Table(expand=False, caption=progress.sentence, caption_justify="left")
    table.add_column("data", overflow="fold")
    for name in ("requested", "answered", "running", "solved", "failed", "skipped"):
        table.add_column(name, justify="right")
    for row in progress.sets:
        table.add_row(
            row["data"],
            *(
                str(row[name])
                for name in ("asked", "answered", "leased", "solved", "failed", "skipped")
            ),
        )
    return table
