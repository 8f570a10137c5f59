"""The command line: the program `equimargin` and its commands."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import TYPE_CHECKING

from equimargin.cli.output.ending import (
    INTERRUPTED,
    UNREAD,
    UNWRITTEN,
    error_sentence,
    read_no_more,
)

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    Ctrl-C while it starts, and an output that cannot be written, end it without a traceback, too.
    """
    signal.signal(signal.SIGTERM, _as_ctrl_c)  # also while all else is imported
    status: str | int | None
    if sys.stdout is None:  # closed, as by >&-
        sys.exit(_unwritten(OSError(errno.EBADF, os.strerror(errno.EBADF))))
    try:
        # here, because an interrupt may come while this is imported
        from equimargin.cli.app import main as run

        run()
        status = 0
    except SystemExit as ended:
        status = ended.code
    except KeyboardInterrupt:
        status = _ended("interrupted", INTERRUPTED)
    except OSError as error:
        status = _unwritten(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        status = status or _unwritten(error)
        read_no_more(sys.stdout)
    sys.exit(status)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Interrupt this process as Ctrl-C does, also where Ctrl-C is ignored, as in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _unwritten(error: OSError) -> int:
    """Return the exit status of an output that failed; say so unless its reader is gone."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    return _ended(error_sentence(error), UNWRITTEN)


def _ended(sentence: str, status: int) -> int:
    print(f"equimargin: {sentence}", file=sys.stderr)
    return status
