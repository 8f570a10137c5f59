"""What the columns of a table are: the target, the query, and features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import DataError, integer, listed, number, shown


def query_column(path: Path, header: list[str], target: str | None, query: str | None) -> int | None:
    if query is not None:
        return position(path, header, query, "query")
    named = [at for at, name in enumerate(header) if name.lower() in ("qid", "query") and name != target]
    if len(named) > 1:
        raise DataError(f"{path}: columns {listed([header[at] for at in named])} could each be the query; say which with query")
    return named[0] if named else None


def position(path: Path, header: list[str], name: str, role: str) -> int:
    if name not in header:
        raise DataError(f"{path}: there is no column {shown(name)} to be the {role}; the columns are {listed(header)}")
    if header.count(name) > 1:
        raise DataError(f"{path}: {header.count(name)} columns are named {shown(name)}, the {role}; rename all but one")
    return header.index(name)


def targets_of(path: Path, column: str, lines: list[int], texts: Sequence[str], task: str | None) -> NDArray[Any]:
    levels = set(texts)
    words = "" not in levels and all(number(level) is None for level in levels)
    if words and (task == "classification" or (task is None and len(levels) == 2)):
        return np.array(texts)
    return floats(path, column, lines, texts, "correct it or name another target column")


def floats(path: Path, column: str, lines: list[int], texts: Sequence[str], remedy: str) -> NDArray[np.float64]:
    values = []
    for line, text in zip(lines, texts, strict=True):
        value = number(text)
        if value is None or not math.isfinite(value):
            raise DataError(f"{path}, line {line}, column {shown(column)}: {shown(text)} is not a finite number; {remedy}")
        values.append(value)
    return np.array(values)


def queries_of(path: Path, lines: list[int], texts: Sequence[str]) -> NDArray[np.int64]:
    if "" in texts:
        raise DataError(f"{path}, line {lines[texts.index('')]}: this row has no query and others have one; give every row a query")
    numbers = [number for text in texts if (number := integer(text)) is not None]
    if len(numbers) < len(texts):  # not all are integers: number them by first appearance
        first = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        numbers = [first[text] for text in texts]
    return np.array(numbers, dtype=np.int64)
