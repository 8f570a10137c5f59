"""Tables as text, a row a line, with commas, semicolons or tabs between the fields."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from equimargin.data.columns import floats, position, queries_of, query_column, targets_of
from equimargin.data.formats.header import has_header
from equimargin.data.table import Table
from equimargin.data.words import DataError, listed, one_line, shown


def read_csv(path: Path, content: bytes, task: str | None, target: str | None, query: str | None, header: bool | None) -> Table:
    lines, columns = _records(path, content)
    if header is None:
        header = has_header(path, lines[0], columns, {target, query})
    names = [f"column {at}" for at in range(1, len(columns) + 1)]
    if header:
        names = _names(path, lines[0], [column[0] for column in columns])
        lines, columns = lines[1:], [column[1:] for column in columns]
        if not lines:
            raise DataError(f"{path}: there is no row below the header; supply at least one")
    query_at = query_column(path, names, target, query)
    rest = [at for at in range(len(names)) if at != query_at]
    targets = rest[-1:] if target is None else [position(path, names, target, "target")]
    if query_at in targets:
        raise DataError(f"{path}: column {shown(target)} is named as target and as query; name two different columns")
    features = [at for at in rest if at not in targets]
    if not features:
        raise DataError(f"{path}: there is no feature column beside {listed(names)}; supply at least one")
    (target_at,) = targets
    if task is None and query_at is not None:
        task = "ranking"
    y = targets_of(path, names[target_at], lines, columns[target_at], task)
    X = np.empty((len(lines), len(features)))
    for j, at in enumerate(features):
        X[:, j] = floats(path, names[at], lines, columns[at], "correct it or drop the column")
    qid = None if query_at is None else queries_of(path, lines, columns[query_at])
    return Table(X, y, qid, columns=tuple(names[at] for at in features), header=header)


def _records(path: Path, content: bytes) -> tuple[list[int], list[tuple[str, ...]]]:
    """Return the line numbers of the rows, the first one included, and their fields column by column."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: the text is not UTF-8; save the file as UTF-8") from None
    lines: list[int] = []
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        for fields in reader:
            if fields:
                lines.append(reader.line_num)
                rows.append([field.strip() for field in fields])
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {one_line(error)}; correct the quotes or the line") from None
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}, line {line}: the row has {len(row)} fields and the first row {len(rows[0])}; correct the line")
    return lines, list(zip(*rows, strict=True))


def _delimiter(text: str) -> str:
    header = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0])
    return max(",\t;", key=header.count)


def _names(path: Path, line: int, header: list[str]) -> list[str]:
    if "" in header:
        at = header.index("") + 1
        raise DataError(f"{path}, line {line}: column {at} has no name; name it, or drop it if it only counts the rows")
    return header
