"""Lines of TREC's files: fields separated by white space, one document a line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from equimargin.data.formats.files import open_source
from equimargin.data.words import DataError, shown

Value = TypeVar("Value")


def read_lines(
    source: str | os.PathLike[str],
    fields: Sequence[str],
    value: Callable[[list[str]], Value],
) -> Iterator[tuple[str, str, Value]]:
    """Yield query, document and value of every line of a file, or of a compressed one.

    Parameters
    ----------
    source : str or os.PathLike[str]
        Path, or "-" for standard input.
    fields : sequence of str
        Names of the fields of a line, with "query" first and "document" third.
    value : callable
        Function of the fields that returns a value or raises ValueError with the reason.

    Raises
    ------
    DataError
        If the file cannot be read, a line has another number of fields or an invalid
        value, or a query has a document twice.
    """
    # `Path.exists` raises an error for a name that is too long, such as a file's text.
    if source != "-" and not os.path.exists(source):
        raise DataError(f"{source}: there is no such file; check the path")
    file = open_source(source)
    first: dict[tuple[str, str], int] = {}
    for number, raw in enumerate(file.content.split(b"\n"), start=1):
        where = f"{file.where}, line {number}"
        try:
            # Bytes are split at ASCII white space alone, as trec_eval does.
            words = [word.decode("utf-8") for word in raw.split()]
        except UnicodeDecodeError:
            raise DataError(f"{where}: the text is not UTF-8; save the file as UTF-8") from None
        if not words:
            continue
        if len(words) != len(fields):
            raise DataError(
                f"{where}: {len(words)} fields instead of {len(fields)}; a line is "
                f"{' '.join(fields)}"
            )
        if b"\0" in raw:
            raise DataError(f"{where}: the line holds a NUL character; remove it")
        line = first.setdefault((words[0], words[2]), number)
        if line != number:
            raise DataError(
                f"{where}: query {shown(words[0])} has the document {shown(words[2])} in line "
                f"{line}, too; remove one of the lines"
            )
        try:
            found = value(words)
        except ValueError as reason:
            raise DataError(f"{where}: {reason}") from None
        yield words[0], words[2], found


def write_lines(path: str | os.PathLike[str], lines: Iterable[Sequence[object]]) -> None:
    """Write lines of fields that are separated by spaces.

    Parameters
    ----------
    path : str or os.PathLike[str]
        File to write.
    lines : iterable of sequence
        Fields of every line.
    """
    from equimargin.solvers.problem_file import whole

    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    with whole(Path(path)) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def check_names(values: Sequence[Any] | NDArray[Any], name: str, n: int) -> tuple[str, ...]:
    """Return names as text, which a file can hold.

    Parameters
    ----------
    values : sequence of str or of int
        Names; other numbers have no unique text: 301 in a column of floats is "301.0".
    name : str
        Name of the argument.
    n : int
        Required number of names.

    Raises
    ------
    DataError
        If there are none, more or fewer, or one is of another type, is empty or has white
        space.
    """
    given = tuple(values)
    if len(given) != n:
        raise DataError(f"{name} has {len(given)} entries, and must have one for each of {n} rows")
    if n == 0:
        raise DataError(f"{name} is empty; supply at least one row")
    for entry in given:
        if not isinstance(entry, str | Integral) or isinstance(entry, bool):
            raise DataError(
                f"{name} holds {shown(entry)}, which is neither text nor a whole number; "
                f"convert the names to one of them"
            )
        if not _is_name(str(entry)):
            raise DataError(
                f"{name} holds {shown(entry)}; a name in TREC's files is text without white "
                f"space and NUL characters, and not empty"
            )
    return tuple(map(str, given))


def check_unique(query: Sequence[str], document: Sequence[str]) -> None:
    """Raise if a query has a document twice.

    Parameters
    ----------
    query, document : sequence of str
        Names of the rows.

    Raises
    ------
    DataError
        If a query has a document twice.
    """
    seen: set[tuple[str, str]] = set()
    for pair in zip(query, document, strict=True):
        if pair in seen:
            raise DataError(
                f"query {shown(pair[0])} has the document {shown(pair[1])} twice; remove one row"
            )
        seen.add(pair)


def _is_name(text: str) -> bool:
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return raw.split() == [raw] and b"\0" not in raw
