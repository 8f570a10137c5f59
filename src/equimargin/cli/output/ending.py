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
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename} does not exist{_near(str(error.filename))}; check the name"
    if isinstance(error, IsADirectoryError) and error.filename:
        return f"{error.filename} is a folder; name a file"
    return (
        str(error)
        if error.filename or not error.strerror
        else f"the output cannot be written: {error.strerror}"
    )


def _near(path: str) -> str:
    """Return the file of the same folder with the most similar name, for a message."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        found = get_close_matches(name, os.listdir(folder or "."), 1, 0.8)
    except FileNotFoundError:
        return ", nor does its folder"
    except OSError:
        return ""
    return "".join(f" (there is {os.path.join(folder, each)})" for each in found)


def read_no_more(out: IO[Any]) -> None:
    """Discard the remaining output of a stream, including its buffer.

    Parameters
    ----------
    out : IO
        Stream without a reader, or one that cannot be written.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
