"""The command line: the program `equimargin` and its commands."""

from __future__ import annotations

import sys

from equimargin.cli.ending import INTERRUPTED, UNREAD, UNWRITTEN, read_no_more

__all__ = ["main"]


def main() -> None:
    """Run the command line: also Ctrl-C while it starts, and an output that cannot be written, end it without a traceback."""
    status: str | int | None
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
    sys.exit(status)


def _unwritten(error: OSError) -> int:
    """Return the exit status of an output that failed; say so unless nobody reads it."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    return _ended(f"the output cannot be written: {error.strerror or error}", UNWRITTEN)


def _ended(sentence: str, status: int) -> int:
    print(f"equimargin: {sentence}", file=sys.stderr)
    return status
