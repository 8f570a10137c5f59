"""Text tables with one row per line, separated by commas, semicolons, tabs or spaces.

A line that begins with # is a remark, with two exceptions. The last such line above the
rows holds the column names if it has as many fields as a row and the row below it holds
no names, as numpy.savetxt writes it. Below the first row, if the separator is not white
space, such a line with as many fields as the first row is a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.columns import Columns
from equimargin.data.columns.roles import QUERY_NAMES
from equimargin.data.formats.files import EXCEL_SEPARATOR, REMARK, File
from equimargin.data.formats.header import are_years, has_header
from equimargin.data.table import Request
from equimargin.data.tasks import EXACT_INTEGERS
from equimargin.data.words import DataError, is_finite, number, one_line, pointed
from equimargin.option_text import format_option

SEPARATORS: Final = {"tab": "\t", "\\t": "\t", "whitespace": " ", "space": " "}
"""Names of separators that are hard to write on a command line.

A space denotes any white space.
"""


HEAD: Final = 100
"""Lines of a long numeric table from which the header is inferred."""

QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<![^,;\t])'[^']*'(?![^,;\t\r\n])")
"""Text in quotes; single quotes count only if they enclose a whole field."""


class Records(NamedTuple):
    """Rows of a text, including the first.

    Attributes
    ----------
    lines : list of int
        Line numbers of the rows.
    columns : list of tuple of str
        Fields, column by column.
    remark : tuple of (int, list of str) or None
        Line number and fields of the remark that may hold names.
    remarks : list of int
        Line numbers of all remarks.
    """

    lines: list[int]
    columns: list[tuple[str, ...]]
    remark: tuple[int, list[str]] | None
    remarks: list[int]


def read_delimited(file: File, request: Request, whitespace: bool) -> Columns:
    """Read a table with one row per line.

    Parameters
    ----------
    file : File
        File of the table.
    request : Request
        Options of `load`.
    whitespace : bool
        True if only white space can separate the fields.

    Returns
    -------
    Columns
        Columns of the table.

    Raises
    ------
    DataError
        If the text cannot be split into rows of equal length, or lacks names.
    """
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{file.where}, line {line}: the text is not UTF-8; save the file as UTF-8"
        ) from None
    # A StringIO takes twice the time to find the lines of the text.
    lines_of_text = io.TextIOWrapper(io.BytesIO(file.content), "utf-8").readlines()
    sep, declared = request.sep, EXCEL_SEPARATOR.match(text)
    if declared:
        sep, text, lines_of_text[0] = sep or declared[1], "\n" + text[declared.end() :], "\n"
    separator = _asked_separator(file.where, sep, request.decimal)
    separator = separator or (
        " " if whitespace else _seen_separator(lines_of_text, request.decimal)
    )
    numbers = _numbers(file.where, lines_of_text, separator, request)
    if numbers is not None:
        return numbers
    records = _records(file.where, text, separator)
    lines, columns = records.lines, records.columns
    if sep is None and len(columns) == 1:
        _check_one_field(file.where, columns[0])
    named = _names(file.where, records, request)
    if named is None:
        names = [f"column {at}" for at in range(1, len(columns) + 1)]
    else:
        names = _all_named(file.where, *named, request)
        if named[0] == lines[0]:
            lines, columns = lines[1:], [column[1:] for column in columns]
        if not lines:
            raise DataError(f"{file.where}: there is no row below the header; supply at least one")
    notes = _notes(records.remarks, None if named is None else named[0])
    return Columns(
        file.where,
        tuple(names),
        tuple(columns),
        "line",
        lines,
        named is not None,
        decimal=request.decimal,
        na=request.na,
        notes=notes,
    )


def _numbers(where: str, lines: list[str], separator: str, request: Request) -> Columns | None:
    """Read a table of finite numbers by numpy; None if the general reader must read it.

    The first lines give the names and the width. Left to the general reader: words for
    missing entries, ids of rows, categories, queries with decimals, and errors.
    """
    like = request.like
    gaps_are_numbers = any(map(is_finite, request.na))
    encoded = like is not None and bool(like.origin.categories)
    if (
        len(lines) <= HEAD
        or request.decimal != "."
        or gaps_are_numbers
        or request.has_no_target
        or encoded
    ):
        return None
    try:
        records = _records(where, "".join(lines[:HEAD]), separator)
        named = _names(where, records, request)
    except DataError:
        return None
    names = (
        [f"column {at}" for at in range(1, len(records.columns) + 1)] if named is None else named[1]
    )
    # Whether years are names depends on all rows, which only the general reader has.
    years = named is None and are_years([number(column[0]) or 0.0 for column in records.columns])
    if len(names) == 1 or "" in names or years:
        return None
    skipped = (
        records.lines[0]
        if named is not None and named[0] == records.lines[0]
        else records.lines[0] - 1
    )
    X = _by_numpy(lines[skipped:], separator)
    if (
        X is None
        or X.shape != (len(lines) - skipped, len(names))
        or not _are_whole(X, names, request)
    ):
        return None
    notes = _notes(records.remarks, None if named is None else named[0])
    lines_of_rows = range(skipped + 1, len(lines) + 1)
    return Columns(
        where,
        tuple(names),
        tuple(np.asfortranarray(X).T),
        "line",
        lines_of_rows,
        named is not None,
        na=request.na,
        notes=notes,
    )


def _are_whole(X: NDArray[np.float64], names: list[str], request: Request) -> bool:
    """Return True if all possible query columns are named and hold whole numbers."""
    asked = {request.query, None if request.like is None else request.like.origin.query} - {
        None,
        "",
    }
    queries = [at for at, name in enumerate(names) if name in asked or name.lower() in QUERY_NAMES]
    return asked <= {*names} and not (X[:, queries] % 1).any()


def _by_numpy(lines: list[str], separator: str) -> NDArray[np.float64] | None:
    """Return rows of numbers below 2^53 in absolute value, or None."""
    try:
        X = np.loadtxt(
            lines, delimiter=None if separator == " " else separator, comments=None, ndmin=2
        )
    except ValueError:
        return None
    return X if (np.abs(X) < EXACT_INTEGERS).all() else None


def _asked_separator(where: str, sep: str | None, decimal: str) -> str | None:
    if sep is None:
        return None
    separator = SEPARATORS.get(sep, sep)
    if len(separator) != 1 or separator in '\r\n"+-' or separator.isalnum() or separator == decimal:
        raise DataError(
            f"{where}: {sep!r} cannot separate fields; give tab, whitespace or one character that "
            f"occurs in no number"
        )
    return separator


def _seen_separator(lines: list[str], decimal: str) -> str:
    """Return the most frequent mark of the first line that contains one.

    White space is returned if the only mark is the decimal comma.
    """
    marks = [mark for mark in ",\t;" if mark != decimal]
    for line in lines:
        bare = "" if line.lstrip().startswith("#") else QUOTED.sub("", line)
        mark = max(marks, key=bare.count)
        if mark in bare:
            return mark
    return " " if decimal == "," else marks[0]


def _records(where: str, text: str, separator: str) -> Records:
    """Split a text into rows by the first quote character that gives equal numbers of fields.

    Raises
    ------
    DataError
        If no quote character does; the error is that of the first one.
    """
    likely, *others = _quotes(text, separator)
    try:
        return _split(where, text, separator, likely)
    except DataError:
        for other in others:
            with suppress(DataError):
                return _split(where, text, separator, other)
        raise


def _split(where: str, text: str, separator: str, quote: str) -> Records:
    """Separate rows from remarks, and split them into fields.

    Raises
    ------
    DataError
        If there is no row, if quotes are open, or if rows differ in length.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    remarks: dict[int, list[str]] = {}
    # True while a quoted field continues on the next line.
    within = False

    def source() -> Iterator[str]:
        nonlocal within
        for place, line in enumerate(io.StringIO(text, newline=""), start=1):
            left = line
            if line.lstrip().startswith("#") and not within:
                fields = _fields(line, separator)
                if separator == " " or not rows or len(fields) != len(rows[0]):
                    remarks[place], left = _uncommented(fields, separator), "\n"
            within = True
            yield " ".join(REMARK.sub("", left).split()) + "\n" if separator == " " else left

    reader = csv.reader(source(), delimiter=separator, quotechar=quote, strict=True)
    try:
        for fields in reader:
            within = False
            if fields:
                lines.append(reader.line_num)
                rows.append([field.strip() for field in fields])
    except csv.Error as error:
        raise DataError(
            f"{where}, line {reader.line_num}: {one_line(error)}; correct the quotes or the line"
        ) from None
    if not rows:
        raise DataError(f"{where}: the file holds no row but comments; supply at least one")
    _check_widths(where, lines, [len(row) for row in rows])
    fitting = [
        (place, fields)
        for place, fields in remarks.items()
        if place < lines[0] and len(fields) == len(rows[0])
    ]
    return Records(
        lines, list(zip(*rows, strict=True)), fitting[-1] if fitting else None, list(remarks)
    )


def _quotes(text: str, separator: str) -> list[str]:
    """Return the possible quote characters, most likely first.

    The single quote comes first if it encloses a field of the first two rows, and last
    if it encloses one elsewhere.
    """
    rows = (
        line
        for line in io.StringIO(text, newline=None)
        if line.strip() and not line.lstrip().startswith("#")
    )
    first = list(islice(rows, 2))
    mark = r"\s" if separator == " " else re.escape(separator)
    single = re.compile(rf"(?:^|{mark})[^\S\n]*'[^'\n]*'[^\S\n]*(?:{mark}|$)", re.MULTILINE)
    if any(map(single.search, first)) and not any('"' in line for line in first):
        return ["'", '"']
    return ['"', "'"] if single.search(text) else ['"']


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields of a single line."""
    if separator == " ":
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=separator))]


def _uncommented(fields: list[str], separator: str) -> list[str]:
    """Return the fields of a remark without #; a field # stays, except in white space."""
    first = fields[0].lstrip("#").strip()
    if first:
        return [first, *fields[1:]]
    return fields[1:] if separator == " " else fields


def _check_widths(where: str, lines: list[int], widths: list[int]) -> None:
    """Refuse rows whose number of fields differs from the first."""
    odd = next((at for at, width in enumerate(widths) if width != widths[0]), None)
    if odd is None:
        return
    if widths[0] == 1 and len(widths) > 2 and len(set(widths[1:])) == 1:
        raise DataError(
            f"{where}, line {lines[0]}: this row has 1 field and all below it {widths[1]}; "
            f"remove the line if it is a title"
        )
    counted = "1 field" if widths[odd] == 1 else f"{widths[odd]} fields"
    raise DataError(
        f"{where}, line {lines[odd]}: the row has {counted} and the first row {widths[0]}; "
        f"correct the line"
    )


def _check_one_field(where: str, column: tuple[str, ...]) -> None:
    """Refuse a table of one column that seems to have an unusual separator."""
    marks = {mark for mark in column[0] if not mark.isalnum() and mark not in "\"'.+-_#"}
    for mark in sorted(marks):
        if len({field.count(mark) for field in column}) == 1:
            separator = "whitespace" if mark.isspace() else mark
            raise DataError(
                f"{where}: every row is one field; if {mark!r} separates fields, say so: "
                f"{format_option('sep', separator)}"
            )


def _names(where: str, records: Records, request: Request) -> tuple[int, list[str]] | None:
    """Return the line number and the fields of the column names, or None.

    They are the first row, or the remark above it.

    Raises
    ------
    DataError
        If the first row may be names or data.
    """
    if request.header is False:
        return None
    columns, like = records.columns, request.like
    # In this order: a row with a requested name, the option `header`, the look of the rows.
    first = records.lines[0], [column[0] for column in columns]
    asked = {request.target, request.query, request.weight, *request.drop} - {None, ""}
    if like is not None and like.origin.header:
        asked.add(like.origin.target)
    for candidate in (first, records.remark):
        if candidate is not None and not asked.isdisjoint(candidate[1]):
            return candidate
    if request.header and records.remark is None:
        return first
    looks = has_header(_as_they_look(columns, request.decimal), request.na)
    if looks:
        return first
    if looks is None and records.remark is None:
        raise DataError(
            f"{where}, line {first[0]}: the first row may be column names or data; add "
            f"{format_option('header', True)} or {format_option('header', False)}"
        )
    return records.remark


def _as_they_look(columns: list[tuple[str, ...]], decimal: str) -> list[tuple[str, ...]]:
    """Return the columns with decimal points for commas, even without the option.

    Commas without the option are refused later, with a remedy.
    """
    if decimal == "," or not any("," in field for column in columns for field in column):
        return [tuple(map(pointed, column)) for column in columns] if decimal == "," else columns
    return [
        tuple(pointed(field) if number(field) is None else field for field in column)
        for column in columns
    ]


def _all_named(where: str, line: int, fields: list[str], request: Request) -> list[str]:
    """Return the names of all columns; refuse unnamed ones unless they are dropped."""
    names = [field or f"column {at}" for at, field in enumerate(fields, start=1)]
    unnamed = [
        name
        for field, name in zip(fields, names, strict=True)
        if not field and name not in request.drop
    ]
    if unnamed:
        have, them = ("has", "it") if len(unnamed) == 1 else ("have", "them")
        only = "it only counts the rows" if len(unnamed) == 1 else "they are empty"
        drop = format_option("drop", unnamed)
        raise DataError(
            f"{where}, line {line}: {', '.join(unnamed)} {have} no name; name {them}, or "
            f"drop {them} if {only} ({drop})"
        )
    return names


def _notes(remarks: list[int], named: int | None) -> tuple[str, ...]:
    """Return sentences on the lines that begin with #."""
    skipped = [line for line in remarks if line != named]
    notes = [f"the names are behind the # of line {named}"] if named in remarks else []
    if skipped:
        what = (
            f"line {skipped[0]} is a remark"
            if len(skipped) == 1
            else f"{len(skipped)} lines are remarks"
        )
        notes.append(f"{what} (#)")
    return tuple(notes)
