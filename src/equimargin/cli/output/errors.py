"""Error messages in place of tracebacks, and the end of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from equimargin.cli.output.ending import INTERRUPTED, UNREAD, error_sentence, read_no_more
from equimargin.option_text import format_in_command, write_options

OF_TRACKERS = "ignore:resource_tracker:UserWarning"
"""Filter for the warnings of multiprocessing's resource tracker.

It warns when it cleans up after stopped processes, which is no fault.
"""


SMALLER_DATA = "use fewer rows (--sample) or features (--drop)"
"""Advice if the memory is too small for the data."""


@contextmanager
def report_errors(for_memory: str = SMALLER_DATA) -> Iterator[None]:
    """Turn errors into a message and an exit status: 2 for bad input, 130 for an interrupt.

    Messages name options as written on the command line. If standard output has no
    reader any more, as behind `| head`, exit without a message.

    Parameters
    ----------
    for_memory : str, default SMALLER_DATA
        Advice if there is not enough memory.
    """
    try:
        with write_options(format_in_command):
            yield
    except BrokenPipeError:
        read_no_more(sys.stdout)
        _exit_at_once(UNREAD)
    except ValueError as error:
        _exit_usage_error(str(error))
    except OSError as error:
        _exit_usage_error(error_sentence(error))
    except ImportError as missing:
        if "pip install" not in str(missing):
            raise
        _exit_usage_error(str(missing))
    except MemoryError as error:
        size = error or "of unknown size"
        _exit_usage_error(f"there is not enough memory ({size}); {for_memory}")
    except KeyboardInterrupt:
        exit_interrupted("interrupted")


def exit_interrupted(sentence: str, at_once: bool = True) -> NoReturn:
    """Print a message and exit with status 130.

    An exit at once waits for no compiled code, and kills child processes.

    Parameters
    ----------
    sentence : str
        Message.
    at_once : bool, default True
        False to exit at once only if some computation of this process still runs.
    """
    typer.echo(f"equimargin: {sentence}", err=True)
    if at_once:
        _exit_at_once(INTERRUPTED)
    exit_with(INTERRUPTED)


def exit_with(status: int) -> NoReturn:
    """Exit with a status, at once if some computation still runs.

    Parameters
    ----------
    status : int
        Exit status.
    """
    from equimargin.solvers.interrupt import is_work_left

    if is_work_left():
        _exit_at_once(status)
    raise typer.Exit(status)


def without_warnings_of_trackers() -> None:
    """Suppress the warnings of the resource tracker about processes stopped by force."""
    known = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{known},{OF_TRACKERS}" if known else OF_TRACKERS


def _exit_at_once(status: int) -> NoReturn:
    import multiprocessing
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    # Windows has no SIGKILL; there any signal ends a process at once.
    number = signal.SIGTERM
    if sys.platform != "win32":
        number = signal.SIGKILL
    for process in multiprocessing.active_children():
        if process.pid is not None:
            os.kill(process.pid, number)
    os._exit(status)


def _exit_usage_error(sentence: str) -> NoReturn:
    """Print a message and exit with status 2."""
    typer.echo(f"equimargin: {sentence}", err=True)
    raise typer.Exit(2)
