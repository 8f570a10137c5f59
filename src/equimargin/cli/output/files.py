"""Files of a command: refused before the work where they cannot be written, and written whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from equimargin.cli.output.ending import read_no_more

STDOUT = Path("-")
"""The file name that stands for standard output, as in other Unix tools."""


@contextmanager
def printed_apart() -> Iterator[None]:
    """Send what a plug-in prints to standard error.

    Standard output is for the page or for a record.
    """
    with redirect_stdout(sys.stderr):
        yield


def check_writable(*paths: Path | None) -> None:
    """Refuse files that cannot be written, before the work is done."""
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
            raise ValueError(f"{file.name} is named for two files, and one would be lost; name two")


def _open_once(path: Path) -> None:
    """Open for writing what will be written after the work, and leave it as it is.

    Raises
    ------
    OSError
        It cannot be opened.
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
    """A function that writes text to one of the files, whole or not at all.

    Where standard output is one of them it holds that text alone: what is printed for a person goes to standard error. Where nobody reads
    standard output any more, files are written all the same.

    Raises
    ------
    BrokenPipeError
        At the end, where nobody has read standard output.
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
    """Standard output that takes what nobody reads.

    unread : whether somebody has closed the other end.
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
        """Hand on what was written."""
        with self._unbroken():
            self._out.flush()

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.unread = True
            read_no_more(self._out)
