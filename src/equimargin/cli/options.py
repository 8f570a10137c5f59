"""The parts that commands share: options for data and a kernel, errors in sentences instead of tracebacks, and files written whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from equimargin.cli.ending import INTERRUPTED, UNREAD, error_sentence, read_no_more

if TYPE_CHECKING:
    pass


DATA, PROBLEM, OUTPUT = "Data", "Problem", "Output"
"""The panels of the help in which the options of `compare`, `shrink` and `path` stand, beside those of the request."""


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Bundled name (see `list data`), file (svmlight/LETOR, CSV, TSV, any table as text, NPZ, Parquet; gz, bz2, xz), or - "
        "for standard input.",
    ),
]


JSONOption = Annotated[
    Path | None,
    typer.Option("--json", "--output", metavar="FILE", help="JSON file of all figures; - for standard output.", rich_help_panel=OUTPUT),
]

HTMLOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Page for a browser; - for standard output.", rich_help_panel=OUTPUT)]


def load_plugins(names: list[str] | None) -> list[str] | None:
    """Load the plug-ins of installed packages, then those that are named."""
    with report_errors(), printed_apart():
        from equimargin.own.plugins import load, load_installed

        for sentence in load_installed():
            typer.echo(f"equimargin: {sentence}", err=True)
        for name in names or []:
            load(name)
    return names


PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        callback=load_plugins,
        is_eager=True,
        help="Module, or file ending in .py, whose import enters families, kernels and solvers; may be given again.",
    ),
]

STDOUT = Path("-")
"""The file name that stands for standard output, as in other Unix tools."""
OF_TRACKERS = "ignore:resource_tracker:UserWarning"
"""The filter of the warnings of multiprocessing's resource tracker: that it clears up after ended processes is no user's concern."""

NO_PAIRS = "No preference pairs: within every query all rows have the same label, so there is nothing to rank."
"""What a command prints for a ranking without pairs."""


@contextmanager
def printed_apart() -> Iterator[None]:
    """Send what a plug-in prints to standard error.

    Standard output is for the page or for a record.
    """
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def report_errors() -> Iterator[None]:
    """End with a sentence instead of a traceback: exit status 2 after bad input, 130 after an interrupt.

    Where nobody reads standard output any more, as behind `| head`, end without a word, as programs do then.
    """
    try:
        yield
    except BrokenPipeError:
        read_no_more(sys.stdout)
        _exit_at_once(UNREAD)
    except ValueError as error:
        exit_usage_error(str(error))
    except OSError as error:
        exit_usage_error(error_sentence(error))
    except ImportError as missing:
        if "hypothesis" not in str(missing):
            raise
        exit_usage_error("drawing data needs hypothesis: pip install hypothesis")
    except MemoryError as error:
        exit_usage_error(f"the memory is not enough ({error or 'no word on how much'}); take fewer rows (--sample) or features (--drop)")
    except KeyboardInterrupt:
        exit_interrupted("interrupted")


def exit_interrupted(sentence: str) -> NoReturn:
    """Print a sentence and exit at once with status 130, without waiting for compiled code in this process or in its children."""
    typer.echo(f"equimargin: {sentence}", err=True)
    _exit_at_once(INTERRUPTED)


def exit_after_interrupt(sentence: str, others_work: bool) -> NoReturn:
    """Exit with status 130, at once if any work goes on that nobody waits for, be it in other processes (others_work)."""
    typer.echo(f"equimargin: {sentence}", err=True)
    if others_work:
        _exit_at_once(INTERRUPTED)
    exit_with(INTERRUPTED)


def exit_with(status: int) -> NoReturn:
    """Exit with a status, at once if any work goes on that nobody waits for."""
    from equimargin.solvers.interrupt import is_work_left

    if is_work_left():
        _exit_at_once(status)
    raise typer.Exit(status)


def without_warnings_of_trackers() -> None:
    """Let the process that clears up behind other processes do so without a word where these are ended by force."""
    known = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{known},{OF_TRACKERS}" if known else OF_TRACKERS


def _exit_at_once(status: int) -> NoReturn:
    import multiprocessing
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    for process in multiprocessing.active_children():
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
    os._exit(status)


def exit_usage_error(sentence: str) -> NoReturn:
    """Exit with status 2."""
    typer.echo(f"equimargin: {sentence}", err=True)
    raise typer.Exit(2)


def check_writable(*paths: Path | None) -> None:
    """Refuse files that cannot be written, before the work is done."""
    named = [path for path in paths if path is not None and path != STDOUT]
    for path in named:
        try:
            _open_once(path)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror or error}") from None
    if paths.count(STDOUT) > 1:
        raise ValueError("two records would go to standard output (-), which holds one; name a file for all but one")
    files = [path.resolve() for path in named]
    for file in files:
        if files.count(file) > 1:
            raise ValueError(f"{file.name} is named for two files, and one would be lost; name two")


def _open_once(path: Path) -> None:
    """Open for writing what will be written after the work, and leave it as it is.

    Raises
    ------
    OSError : it cannot be opened.
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise OSError("it is a folder" if path.is_dir() else "its folder does not exist")
    if path.exists():
        with path.open("ab"):
            pass
    from equimargin.solvers.problem_file import whole

    with whole(path, keep=False):
        pass


@contextmanager
def writing(*paths: Path | None) -> Iterator[Callable[[Path, str], None]]:
    """A function that writes text to one of the files, whole or not at all.

    Where standard output is one of them it holds that text alone: what is printed for a person goes to standard error. Where nobody reads
    standard output any more, files are written all the same.

    Raises
    ------
    BrokenPipeError : at the end, where nobody has read standard output.
    """
    lasting = _Lasting(sys.stdout)
    out: Any = lasting if any(paths) else sys.stdout

    def write(path: Path, text: str) -> None:
        if path == STDOUT:
            out.write(text if text.endswith("\n") else f"{text}\n")
            return
        from equimargin.solvers.problem_file import whole

        with whole(path) as part:
            part.write_text(text, encoding="utf-8")

    with redirect_stdout(sys.stderr if STDOUT in paths else out):
        yield write
    if lasting.unread:
        raise BrokenPipeError


class _Lasting:
    """Standard output that takes what nobody reads.

    unread : whether somebody has closed the other end.
    """

    def __init__(self, out: Any) -> None:
        self._out, self.unread = out, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        """Write a text."""
        with self._unbroken():
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        with self._unbroken():
            self._out.flush()

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.unread = True
            read_no_more(self._out)
