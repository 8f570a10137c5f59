"""Exit statuses, and the end of output that cannot be written.

The module imports nothing that takes time.
"""

from __future__ import annotations

import os
from typing import IO, Any

INTERRUPTED = 130
"""Exit status after an interrupt, as a shell reports it after Ctrl-C."""
UNREAD = 141
"""Exit status after output to a pipe without a reader, as a shell reports SIGPIPE."""
UNWRITTEN = 2
"""Exit status if the output cannot be written, as on a full disk."""


def error_sentence(error: OSError) -> str:
    """Return the message of a system error; without a file name it concerns the output.

    Parameters
    ----------
    error : OSError
        Error of the system.
    """
    return (
        str(error)
        if error.filename or not error.strerror
        else f"the output cannot be written: {error.strerror}"
    )


def read_no_more(out: IO[Any]) -> None:
    """Discard the remaining output of a stream, including its buffer.

    Parameters
    ----------
    out : IO
        Stream without a reader, or one that cannot be written.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
