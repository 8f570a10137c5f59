"""The command line: the program `equimargin` and its commands."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]
INTERRUPTED = 130
"""The exit status of what was interrupted, as a shell gives it after Ctrl-C."""
UNREAD = 141
"""The exit status of what was printed to a pipe that nobody reads, as a shell gives it for SIGPIPE."""
UNWRITTEN = 2
"""The exit status of what was printed and cannot be written, as on a full disk."""


def main() -> None:
    """Run the command line: also Ctrl-C while it starts, and an output that cannot be written, end it without a traceback."""
    status: object
    try:
        from equimargin.cli.app import main as run  # here, because an interrupt may come while this is imported

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
    sys.exit(status)  # type: ignore[arg-type]


def read_no_more(out: object) -> None:
    """Let an output that nobody reads, or that cannot be written, go nowhere, with what is still to be flushed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())  # type: ignore[attr-defined]


def _unwritten(error: OSError) -> int:
    """Return the exit status of an output that failed; say so unless nobody reads it."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    return _ended(f"the output cannot be written: {error.strerror or error}", UNWRITTEN)


def _ended(sentence: str, status: int) -> int:
    print(f"equimargin: {sentence}", file=sys.stderr)
    return status
