"""Errors as sentences in place of tracebacks, and how a command ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from equimargin.cli.output.ending import INTERRUPTED, UNREAD, error_sentence, read_no_more

OF_TRACKERS = "ignore:resource_tracker:UserWarning"
"""The filter of the warnings of multiprocessing's resource tracker: that it clears up after ended processes is no user's concern."""


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
        exit_usage_error(
            f"the memory is not enough ({error or 'no word on how much'}); take fewer rows "
            f"(--sample) or features (--drop)"
        )
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
