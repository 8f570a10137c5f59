"""Program `equimargin`, the command line."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

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

    Ctrl-C during start-up and output that cannot be written end the program without a
    traceback.
    """
    # Set first, so that SIGTERM works during the imports.
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    status: str | int | None
    # Standard output is None if it is closed, as by `>&-`.
    if sys.stdout is None:
        sys.exit(_unwritten(OSError(errno.EBADF, os.strerror(errno.EBADF))))
    try:
        _app().main()
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


def _app() -> Any:
    """Return the module of the commands, or exit if typer is not installed."""
    try:
        # Imported here: an interrupt during this import ends without a traceback.
        from equimargin.cli import app
    except ModuleNotFoundError as missing:
        if missing.name != "typer":
            raise
        sys.exit(_ended("the command line needs typer: pip install 'equimargin[compare]'", 2))
    return app


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Interrupt this process as Ctrl-C does, even in the background, where it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _unwritten(error: OSError) -> int:
    """Return the exit status of failed output; print a message unless its reader is gone."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    return _ended(error_sentence(error), UNWRITTEN)


def _ended(sentence: str, status: int) -> int:
    print(f"equimargin: {sentence}", file=sys.stderr)
    return status
