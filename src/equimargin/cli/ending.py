"""Exit statuses, and what becomes of an output that cannot be written; nothing here takes time to import."""

from __future__ import annotations

import os
from typing import IO, Any

INTERRUPTED = 130
"""The exit status of what was interrupted, as a shell gives it after Ctrl-C."""
UNREAD = 141
"""The exit status of what was printed to a pipe that nobody reads, as a shell gives it for SIGPIPE."""
UNWRITTEN = 2
"""The exit status of what was printed and cannot be written, as on a full disk."""


def said_of(error: OSError) -> str:
    """Return the sentence of an error of the system; one that names no file is of the output."""
    return str(error) if error.filename or not error.strerror else f"the output cannot be written: {error.strerror}"


def read_no_more(out: IO[Any]) -> None:
    """Let an output that nobody reads, or that cannot be written, go nowhere, with what is still to be flushed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
