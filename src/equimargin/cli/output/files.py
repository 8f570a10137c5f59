"""Output files of a command, checked before the work and written as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from equimargin.cli.output.ending import read_no_more

STDOUT = Path("-")
"""File name that denotes standard output, as in other Unix tools."""


@contextmanager
def printed_apart() -> Iterator[None]:
    """Send the output of plug-ins to standard error.

    Standard output is reserved for the report or a record.
    """
    with redirect_stdout(sys.stderr):
        yield


def check_writable(*paths: Path | None) -> None:
    """Refuse files that cannot be written, before the work starts.

    Parameters
    ----------
    *paths : Path or None
        Files; None and standard output need no check.

    Raises
    ------
    ValueError
        If a file cannot be written, or two outputs have one destination.
    """
    # Standard output is not opened; it may be requested once.
    named = [path for path in paths if path is not None and path != STDOUT]
    for path in named:
        try:
            _open_once(path)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror or error}") from None
    if paths.count(STDOUT) > 1:
        raise ValueError(
            "two records would go to standard output (-), which holds one; name a file for "
            "all but one"
        )
    files = [path.resolve() for path in named]
    for file in files:
        if files.count(file) > 1:
            raise ValueError(f"{file.name} is named for two outputs; name a file for each")


def _open_once(path: Path) -> None:
    """Open a future output file for writing, and leave it unchanged.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise OSError("it is a folder" if path.is_dir() else "its folder does not exist")
    if path.exists():
        with path.open("ab"):
            pass
    from equimargin.solvers.problem_file import whole

    with whole(path, keep=False):
        pass


@contextmanager
def writing(*paths: Path | None) -> Iterator[Callable[[Path, str], None]]:
    """Yield a function that writes a text to one of the files, whole or not at all.

    If standard output is one of them, it receives that text alone, and messages go to
    standard error. Files are written even if standard output has no reader any more.

    Parameters
    ----------
    *paths : Path or None
        Files of the command; None if not requested.

    Yields
    ------
    callable
        Function of a file and a text.

    Raises
    ------
    BrokenPipeError
        At the end, if standard output has no reader.
    """
    lasting = _Lasting(sys.stdout)
    out: Any = lasting if any(paths) else sys.stdout

    def write(path: Path, text: str) -> None:
        if path == STDOUT:
            out.write(text if text.endswith("\n") else f"{text}\n")
            return
        from equimargin.solvers.problem_file import whole

        with whole(path) as part:
            part.write_text(text, encoding="utf-8")

    with redirect_stdout(sys.stderr if STDOUT in paths else out):
        yield write
    if lasting.unread:
        raise BrokenPipeError


class _Lasting:
    """Standard output that remains writable without a reader.

    Attributes
    ----------
    unread : bool
        True if the reader has closed its end.
    """

    def __init__(self, out: Any) -> None:
        self._out, self.unread = out, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        """Write a text."""
        with self._unbroken():
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the output."""
        with self._unbroken():
            self._out.flush()

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.unread = True
            read_no_more(self._out)
