"""Preferences between the rows of a feature file: `preferred,other[,query][,weight]`.

Each row of the table is a pair. `preferred` and `other` are entries of the feature
file's column `id`, which then is no feature. Without that column they are row numbers,
counted from 0 without the header. Rows of two queries cannot be a pair, whether the
feature file has queries or this one. A weight is a factor of C in [0, inf], 1 without
the column; a pair of infinite weight is a hard constraint. Weights of repeated pairs
are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.columns import Columns
from equimargin.data.columns.conversion import encode_queries, format_row_name
from equimargin.data.table import Table
from equimargin.data.words import DataError, integer, listed, number, shown

NAMES: Final = ("preferred", "other", "query", "weight")
"""Columns of a preference file; the last two are optional."""


def read_pairs(
    columns: Columns, table: Table, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Read pairs of rows (preferred, other) and their weights.

    Pairs with an excluded row are dropped.

    Parameters
    ----------
    columns : Columns
        Preference file.
    table : Table
        Feature file.
    rows : int
        Number of rows of the feature file, including excluded ones.

    Returns
    -------
    tuple of (ndarray of shape (p, 2), ndarray of shape (p,) or None)
        Pairs and weights.

    Raises
    ------
    DataError
        If there are other columns, an entry is no row, a row is preferred to itself, a
        pair has two queries, or a weight is outside [0, inf].
    """
    # All pairs are checked; those of excluded rows are dropped afterwards.
    unknown = [name for name in columns.names if name.lower() not in NAMES]
    at = {name.lower(): place for place, name in enumerate(columns.names)}
    if unknown or not {"preferred", "other"} <= set(at) or len(at) < len(columns.names):
        raise DataError(
            f"{columns.where}: the columns are {listed(columns.names)} and must be "
            f"preferred,other[,query][,weight]"
        )
    row_of = None if table.ids is None else {name: row for row, name in enumerate(table.ids)}
    sides = [at[side] for side in NAMES[:2]]
    pairs = np.column_stack(
        [
            _rows(columns, side, rows) if row_of is None else _rows_by_id(columns, side, row_of)
            for side in sides
        ]
    )
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise DataError(
            f"{_line(columns, same[0])}: row {pairs[same[0], 0]} is preferred to itself; "
            f"correct or remove the line"
        )
    if "query" in at:
        _check_queries(columns, at["query"], pairs)
    weights = _weights(columns, at["weight"]) if "weight" in at else None
    if table.kept is not None:
        place = np.full(rows, -1)
        place[table.kept] = np.arange(len(table.kept))
        pairs = place[pairs]
        held = (pairs >= 0).all(axis=1)
        pairs, lines = pairs[held], np.flatnonzero(held)
        weights = None if weights is None else weights[held]
    else:
        lines = np.arange(len(pairs))
    if table.qid is not None:
        torn = np.flatnonzero(table.qid[pairs[:, 0]] != table.qid[pairs[:, 1]])
        if len(torn):
            raise DataError(
                f"{_line(columns, lines[torn[0]])}: the two rows are of different queries; "
                f"correct or remove the line"
            )
    return pairs, weights


def _rows(columns: Columns, at: int, rows: int) -> NDArray[np.int64]:
    """Return the rows that a column refers to by number, (p,)."""
    indices = []
    for pair, entry in enumerate(columns.entries[at]):
        row = (
            integer(entry)
            if isinstance(entry, str)
            else int(entry)
            if entry == entry // 1
            else None
        )
        if row is None or not 0 <= row < rows:
            raise DataError(
                f"{columns.place(pair, at)}: {shown(entry)} is no row; the rows are counted "
                f"from 0 to {rows - 1}"
            )
        indices.append(row)
    return np.array(indices, dtype=np.int64)


def _rows_by_id(columns: Columns, at: int, row_of: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the rows that a column refers to by id, (p,)."""
    indices = []
    for pair, entry in enumerate(columns.entries[at]):
        name = format_row_name(entry)
        if name not in row_of:
            raise DataError(
                f"{columns.place(pair, at)}: {shown(name)} is the id of no row; the feature "
                f"file's column `id` has them"
            )
        indices.append(row_of[name])
    return np.array(indices, dtype=np.int64)


def _check_queries(columns: Columns, at: int, pairs: NDArray[np.int64]) -> None:
    texts = [str(entry) for entry in columns.entries[at]]
    known: dict[int, tuple[int, str]] = {}
    for pair, (*query, rows) in enumerate(
        zip(encode_queries(texts).tolist(), texts, pairs.tolist(), strict=True)
    ):
        for row in rows:
            before, text = known.setdefault(row, tuple(query))
            if before != query[0]:
                raise DataError(
                    f"{columns.place(pair, at)}: row {row} is of query {shown(text)} in a "
                    f"line before; correct the line"
                )


def _weights(columns: Columns, at: int) -> NDArray[np.float64]:
    """Return the weights of the pairs, (p,)."""
    weights = []
    for pair, entry in enumerate(columns.entries[at]):
        weight = number(entry) if isinstance(entry, str) else float(entry)
        if weight is None or not weight >= 0:
            raise DataError(
                f"{columns.place(pair, at)}: {shown(entry)} is no weight of a pair; supply "
                f"a number from 0 to inf"
            )
        weights.append(weight)
    return np.array(weights)


def _line(columns: Columns, pair: int) -> str:
    return f"{columns.where}, {columns.unit} {columns.numbers[pair]}"
