"""Exit statuses, and the end of an output that cannot be written.

Nothing here takes time to import.
"""

from __future__ import annotations

import os
from typing import IO, Any

INTERRUPTED = 130
"""The exit status of what was interrupted, as a shell gives it after Ctrl-C."""
UNREAD = 141
"""The exit status after output to a pipe without a reader, as a shell has it for SIGPIPE."""
UNWRITTEN = 2
"""The exit status of what was printed and cannot be written, as on a full disk."""


def error_sentence(error: OSError) -> str:
    """Return the sentence of an error of the system; one that names no file is of the output.

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
    """Send an output without a reader nowhere, with all that is still to be flushed.

    Parameters
    ----------
    out : IO
        Output without a reader, or one that cannot be written.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
