"""Tables as text, a row a line, with commas, semicolons, tabs or other white space between the fields."""

from __future__ import annotations

import csv
import io
import re
import shlex
from typing import Final

from equimargin.data.columns import Columns
from equimargin.data.files import REMARK, File
from equimargin.data.formats.header import has_header
from equimargin.data.table import Request
from equimargin.data.words import DataError, one_line

SEPARATORS: Final = {"tab": "\t", "\\t": "\t", "whitespace": " ", "space": " "}
"""Names for separators that are awkward to write on a command line; a space means any white space."""

NUMBER_WITH_COMMA: Final = re.compile(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?")
"""A field in which a comma may be the decimal point."""

COMMA_FOR_POINT: Final = str.maketrans(",.", ".,")
"""A decimal comma becomes a point, and a point, which then only groups digits, a comma, which no number has."""


def read_delimited(file: File, request: Request, whitespace: bool) -> Columns:
    """Read a table with a row a line; `whitespace`: nothing but white space is there to separate the fields."""
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file.where}, line {line}: the text is not UTF-8; save the file as UTF-8") from None
    separator = _asked_separator(file.where, request) or (" " if whitespace else _seen_separator(text, request.decimal))
    lines, columns = _records(file.where, text, separator, request.decimal == ",")
    header, like = request.header, request.like
    if header is None:
        asked = {request.target, request.query, request.weight, *request.drop} - {None, ""}
        if like is not None and like.origin.header:
            asked.add(like.origin.target)
        commas = separator != "," and request.decimal != "," and "," in text  # of numbers, as it seems: their refusal says what to do
        seen = [tuple(map(_pointed, column)) for column in columns] if commas else columns
        header = has_header(file.where, lines[0], seen, asked)
    names = [f"column {at}" for at in range(1, len(columns) + 1)]
    if header:
        names = [column[0] or name for column, name in zip(columns, names, strict=True)]
        for at, column in enumerate(columns):
            if not column[0] and names[at] not in request.drop:
                raise DataError(
                    f"{file.where}, line {lines[0]}: column {at + 1} has no name; name it, or drop it if it only counts the rows "
                    f"(--drop {shlex.quote(names[at])})"
                )
        lines, columns = lines[1:], [column[1:] for column in columns]
        if not lines:
            raise DataError(f"{file.where}: there is no row below the header; supply at least one")
    return Columns(file.where, tuple(names), tuple(columns), "line", lines, header)


def _asked_separator(where: str, request: Request) -> str | None:
    if request.sep is None:
        return None
    separator = SEPARATORS.get(request.sep, request.sep)
    if len(separator) != 1 or separator in '\r\n"+-' or separator.isalnum() or separator == request.decimal:
        raise DataError(f"{where}: {request.sep!r} cannot separate fields; give one character that stands in no number, tab or whitespace")
    return separator


def _seen_separator(text: str, decimal: str) -> str:
    """The mark that the first row holds most often."""
    first = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0])
    return max([mark for mark in ",\t;" if mark != decimal], key=first.count)


def _records(where: str, text: str, separator: str, comma: bool) -> tuple[list[int], list[tuple[str, ...]]]:
    """Return the line numbers of the rows, the first one included, and their fields column by column."""
    lines: list[int] = []
    rows: list[list[str]] = []
    source = io.StringIO(text, newline="")
    spaced = (" ".join(REMARK.sub("", line).split()) + "\n" for line in source)
    reader = csv.reader(spaced if separator == " " else source, delimiter=separator, strict=True)
    try:
        for fields in reader:
            if fields:
                lines.append(reader.line_num)
                rows.append([_pointed(field.strip()) if comma else field.strip() for field in fields])
    except csv.Error as error:
        raise DataError(f"{where}, line {reader.line_num}: {one_line(error)}; correct the quotes or the line") from None
    if not rows:
        raise DataError(f"{where}: the file holds no row but comments; supply at least one")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise DataError(f"{where}, line {line}: the row has {len(row)} fields and the first row {len(rows[0])}; correct the line")
    return lines, list(zip(*rows, strict=True))


def _pointed(field: str) -> str:
    return field.translate(COMMA_FOR_POINT) if NUMBER_WITH_COMMA.fullmatch(field) else field
