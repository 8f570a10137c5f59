"""Data at the edge: a bundled set or a file becomes finite arrays, or one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.bundled import BUNDLED, bundled
from equimargin.data.files import content_of, kind_of
from equimargin.data.formats.delimited import read_csv
from equimargin.data.formats.npz import read_npz
from equimargin.data.formats.svmlight import read_svmlight
from equimargin.data.loaded import Data
from equimargin.data.table import Table
from equimargin.data.words import DataError, listed

TASKS: Final = ("classification", "regression", "ranking")
"""What can be learned from data."""


def load(
    source: str | os.PathLike[str],
    *,
    task: str | None = None,
    target: str | None = None,
    query: str | None = None,
    like: Data | None = None,
    header: bool | None = None,
) -> Data:
    """Load a bundled data set by its name, or a svmlight/LETOR, CSV or NPZ file.

    Parameters
    ----------
    source : a name in BUNDLED, or a path.  A plain string equal to a bundled name means the bundled set, so that a stray file
        never changes a result; write "./xor" or Path("xor") for a file of that name.
    task : "classification", "regression" or "ranking".  Default: that of the bundled set; for a file, ranking if it has queries,
        classification if its target takes exactly two values, else regression.
    target : the target column of a CSV file, by its name; by default the last one that is not the query.
    query : the query column of a CSV file; by default the one named qid or query, if any.
    like : data to be joined by further rows: of its task, features and classes.  Columns of a CSV file may come in another order, the
        last features of a svmlight file may be absent, and of two classes one; target, query and header say nothing of what is no CSV file.
    header : whether the first row of a CSV file holds the names of the columns; by default what it looks like, which `Data.header` tells.

    Returns
    -------
    Data.  For classification the smaller of the two labels becomes -1, the larger +1 (text labels: in sorted order).  A svmlight
    file with an index 0 anywhere counts its features from 0, otherwise from 1.

    Raises
    ------
    DataError : unreadable or malformed input, a value that is not finite, no rows, no features, rows with and without a query,
        a target that does not fit the task, a first row that may be names as well as data, or features and classes other than those of
        `like`.
    """
    task = task if like is None else like.task
    if task is not None and task not in TASKS:
        raise DataError(f"there is no task {task!r}; choose one of {', '.join(TASKS)}")
    if isinstance(source, str) and source in BUNDLED:
        if like is None and (target, query, header) != (None, None, None):
            raise DataError(f"{source}: target, query and header are about a CSV file, and this data set is bundled; leave them out")
        return _for_task(source, source, bundled(source), task or BUNDLED[source][1], like)
    path = Path(source)
    return _for_task(path.name, str(path), _table(path, task, target, query, like, header), task, like)


def _for_task(name: str, where: str, table: Table, task: str | None, like: Data | None) -> Data:
    X, y, qid, columns, first, header = table
    if 0 in X.shape:
        raise DataError(f"{where}: there are {X.shape[0]} rows and {X.shape[1]} features; supply at least one of each")
    if like is not None:
        X = _features_like(where, X, columns, like)
        columns = None if columns is None else like.columns
    levels, classes = np.unique(y), None
    if task is None:
        task = "ranking" if qid is not None else "classification" if len(levels) == 2 else "regression"
    if task == "classification":
        known = None if like is None else like.classes
        if known is None and len(levels) != 2:
            raise DataError(f"{where}: {_class_count(levels)}")
        classes = known or (levels[0].item(), levels[1].item())
        if not set(levels.tolist()) <= set(classes):
            raise DataError(f"{where}: the classes are {listed(levels.tolist())} and not {listed(classes)}; supply rows of these alone")
        y = np.where(y == classes[1], 1.0, -1.0)
    return Data(name, X, y, qid, task, columns, first, classes, header)


def _features_like(where: str, X: Any, columns: tuple[str, ...] | None, like: Data) -> Any:
    """X in the features of other data: by name where both have names, else by place."""
    d = like.X.shape[1]
    if X.shape[1] != d:
        raise DataError(f"{where} has {X.shape[1]} features and {like.name} {d}; supply the same")
    if columns is None or like.columns is None or columns == like.columns:
        return X
    if sorted(columns) != sorted(like.columns) or len(set(columns)) < d:
        raise DataError(
            f"{where}: the feature columns are {listed(columns)} and those of {like.name} {listed(like.columns)}; supply the same"
        )
    return X[:, [columns.index(name) for name in like.columns]]


def _class_count(levels: NDArray[Any]) -> str:
    values = listed(levels.tolist())
    if len(levels) == 1:
        return f"the target has one class ({values}), and one class cannot be classified; supply rows of two classes"
    remedy = "keep two of them" if levels.dtype.kind == "U" else 'keep two of them or use the task "regression" or "ranking"'
    return f"the target has {len(levels)} classes ({values}), and classification takes two; {remedy}"


def _table(path: Path, task: str | None, target: str | None, query: str | None, like: Data | None, header: bool | None) -> Table:
    content = content_of(path)
    kind = kind_of(path, content)
    if kind == "CSV":
        return read_csv(path, content, task, target, query, header)
    if like is None and (target, query, header) != (None, None, None):
        raise DataError(f"{path}: target, query and header are about a CSV file, and this is a {kind} file; leave them out")
    return read_npz(path, content) if kind == "NPZ" else read_svmlight(path, content, like)
