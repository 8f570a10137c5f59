"""Loading of data from any source as finite arrays with one target per row.

Faults raise DataError, whose message states the place, the reason and a remedy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Final, Unpack

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.assignment import assign_roles
from equimargin.data.columns.columns import Columns
from equimargin.data.formats.delimited import read_delimited
from equimargin.data.formats.files import File, detect_format, open_source
from equimargin.data.formats.frames import collected, is_frame, name_frame, read_frame, read_parquet
from equimargin.data.formats.npz import read_npz
from equimargin.data.formats.svmlight import read_svmlight
from equimargin.data.loaded import CATEGORICAL, Data, Origin
from equimargin.data.pairs.table import read_pairs
from equimargin.data.sets.bundled import BUNDLED, bundled
from equimargin.data.sets.published import PUBLIC, read_set
from equimargin.data.table import ReadOptions, Request, Table
from equimargin.data.tasks import TASKS, infer_task, open_question
from equimargin.data.words import MISSING, DataError, exact_integer, listed, number, shown
from equimargin.option_text import format_option

CHOICES: Final = {
    "decimal": (".", ","),
    "missing": (None, "drop", "mean"),
    "categorical": (None, *CATEGORICAL),
    "best": (None, "highest", "lowest"),
}
"""Accepted values of the options with a fixed list."""

ABOUT_LABELS: Final = ("best",)
"""Options about labels, which apply to every format."""

ABOUT_ARRAYS: Final = ("target", "query", "weight", "drop", "missing", "na", *ABOUT_LABELS)
"""Options about columns of a table that also apply to the arrays of an NPZ archive."""

RANK_NAMES: Final = {"rank", "place", "position"}
"""Words in the name of a target, in lower case, whose lowest number is usually the best."""

NAME_WORD: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""Word in a name such as finish_rank, finishRank or RANK."""


def load(
    source: Any,
    *,
    task: str | None = None,
    like: Data | None = None,
    preferences: Any = None,
    levels: Sequence[str | float] | None = None,
    **how: Unpack[ReadOptions],
) -> Data:
    """Load a data set by name, a file (svmlight/LETOR, text table, NPZ, Parquet) or a frame.

    Parameters
    ----------
    source : str, path-like or data frame
        Name in BUNDLED, name in PUBLIC of a set that `fetch` has fetched, path, "-" for
        standard input, frame of pandas, polars or pyarrow, or anything that narwhals
        collects: a lazy frame, a relation of DuckDB. A string equal to such a name
        denotes that set, so that a stray file never changes a result; write "./xor" or
        Path("xor") for a file of that name.
        Files may be compressed with gzip, bzip2 or xz.
    task : str, optional
        "classification", "regression", "ranking", "ordinal", or "unsupervised" for
        rows without a target. Default: that of the named set; for a file, ranking if
        it has queries, classification if its target takes exactly two values, else
        regression; ordinal if levels are given. A target of one value has no default.
    like : Data, optional
        Data that the rows extend: task, features and classes are those of `like`.
        Columns of a table may come in another order, the last features of a svmlight
        file may be absent, as may one of the two classes; options about tables are
        ignored for other formats. Missing entries are filled with the means of `like`.
    preferences : str, path-like or data frame, optional
        Pairs of rows that replace the target: a path or a frame with the columns
        preferred,other[,query][,weight]. They refer to rows by the data's column `id`,
        or by their numbers from 0 without one. Target or weight columns recognised by
        name are then dropped.
    levels : sequence of (str or float), optional
        Labels of an ordinal regression from the lowest to the highest; by default those
        that occur, in the order of an ordered pandas Categorical, numbers ascending.
    target, query, weight : str, optional
        Names of the columns of these roles; by default those with a usual name (see
        `equimargin.data.columns.roles`), and the last column as the target. With an
        empty name for query or weight, no column has that role.
    drop : str or sequence of str, optional
        Names of columns to drop.
    header : bool, optional
        True if the first row of a text holds the column names; by default inferred, see
        `Data.header`. Without names, columns are "column 1", "column 2", ..., by
        position.
    sep : str, optional
        Separator of the fields of a text: one character, "tab" or "whitespace"; by
        default inferred from the first row.
    decimal : str, default "."
        Decimal point of a text, "." or ",".
    missing : {"drop", "mean"}, optional
        Treatment of missing entries (empty, NA, N/A, nan, null, none, ?, - and ., in
        any column and any case). None refuses them; "drop" excludes their rows; "mean"
        gives features the mean of their column.
    na : str or sequence of str, optional
        Words for a missing entry in place of these; an empty entry is always missing.
        na="" keeps a class named "none". A number among them, such as -999, is compared
        as a number.
    categorical : {"one-hot", "codes", "drop"}, optional
        Treatment of columns that hold only words. None refuses them; "one-hot" makes an
        indicator of every word, "codes" the position of the word, from 0, in alphabetical
        order or that of an ordered pandas Categorical, and "drop" removes them.
    best : {"highest", "lowest"}, optional
        "lowest" if 1 is the best label of a ranking, as for places in a race; y then
        holds the highest label minus the labels, 0 for the last place. By default
        higher labels are better.

    Returns
    -------
    Data
        Loaded data. In a classification the smaller of the two labels becomes -1, the
        larger +1 (text labels: in sorted order). A svmlight file with an index 0
        anywhere counts its features from 0, otherwise from 1.

    Raises
    ------
    DataError
        If the input is unreadable or malformed, has a value that is not finite, no
        rows, no features, rows with and without a query, a target that does not fit the
        task, a first row that may be names or data, or features and classes other than
        those of `like`; if options do not fit the format; or if preferences refer to
        rows that do not exist.
    """
    request = _request(task, like, preferences is not None, levels, how)
    if [given for given in (source, preferences) if isinstance(given, str)] == ["-", "-"]:
        raise DataError(
            "data and preferences cannot both come from standard input (-); name a file for "
            "one of them"
        )
    if isinstance(source, str) and source in BUNDLED:
        _check_options(source, request, "this data set is bundled", ABOUT_LABELS)
        name, where, table = source, source, bundled(source)
        request = replace(request, task=request.task or BUNDLED[source][1])
    elif isinstance(source, str | os.PathLike):
        if isinstance(source, str) and source in PUBLIC:
            file = File(source, source, "", read_set(source))
            request = replace(request, task=request.task or PUBLIC[source].task)
        else:
            file = open_source(source)
        name, where, table = file.name, file.where, _table(file, request)
    elif is_frame(frame := collected(source)):
        name = where = name_frame(frame)
        table = assign_roles(read_frame(frame, request), request)
    else:
        kind = type(source).__name__
        raise DataError(
            f"{kind} is no source of data; give a name, a path or a data frame (arrays go "
            f"straight into the problem's constructor)"
        )
    data = _for_task(name, where, table, request)
    if preferences is None:
        return _with_notice(data, table.y, request)
    pairs, weights = read_pairs(
        _preferences(preferences), table, len(table.y) + table.origin.left_out
    )
    return replace(data, pairs=pairs, pair_weight=weights)


def _request(
    task: str | None,
    like: Data | None,
    ranked_by_pairs: bool,
    levels: Sequence[str | float] | None,
    how: ReadOptions,
) -> Request:
    """Return the options with their defaults, after checking that they are consistent."""
    task = (
        like.task
        if like is not None
        else "ordinal"
        if task is None and levels is not None
        else task
    )
    if levels is not None and task != "ordinal":
        raise DataError(
            f"levels are those of an ordinal regression, and the task is {task}; choose one of them"
        )
    if task is not None and task not in TASKS:
        raise DataError(f"there is no task {task!r}; choose one of {', '.join(TASKS)}")
    if ranked_by_pairs and task not in (None, "ranking"):
        raise DataError(f"preferences rank rows, and the task is {task}; choose one of them")
    if how.get("best") is not None:
        if task not in (None, "ranking"):
            raise DataError(
                f"best is about the labels of a ranking, and the task is {task}; choose one of them"
            )
        task = "ranking"
        known = (like.origin.best or "highest") if like is not None else how["best"]
        if how["best"] != known:
            raise DataError(
                f"best is {how['best']!r}, and the {known} label is the best in the data that "
                f"these rows extend; leave best out"
            )
    if task == "unsupervised" and how.get("target"):
        raise DataError("unsupervised rows have no target; leave target or the task out")
    for name in ("target", "weight", "best"):
        if ranked_by_pairs and how.get(name):
            raise DataError(
                f"preferences take the place of a target and of weights; leave {name} out"
            )
    for name, values in CHOICES.items():
        if name in how and how[name] not in values:  # type: ignore[literal-required]
            given_value = repr(how[name])  # type: ignore[literal-required]
            raise DataError(
                f"there is no {name} {given_value}; choose one of "
                f"{listed([value for value in values if value])}"
            )
    given = {**how, "drop": _words(how.get("drop"))}
    given |= {
        role: None if how.get(role) is None else str(how[role])
        for role in ("target", "query", "weight")
    }
    given["na"] = (
        MISSING
        if how.get("na") is None
        else tuple(dict.fromkeys(["", *(word.strip().lower() for word in _words(how["na"]))]))
    )
    unknown = set(given) - {field.name for field in fields(Request)}
    if unknown:
        raise TypeError(f"load() has no argument {sorted(unknown)[0]!r}")
    ordered = tuple(map(str, levels or ()))
    task = "ranking" if ranked_by_pairs else task
    return Request(
        task=task,
        like=like,
        ranked_by_pairs=ranked_by_pairs,
        levels=ordered,
        **given,  # type: ignore[arg-type]
    )


def _words(given: Any) -> tuple[str, ...]:
    """Return one or several names as text."""
    if given is None:
        return ()
    return (
        tuple(map(str, given))
        if np.iterable(given) and not isinstance(given, str)
        else (str(given),)
    )


def _check_options(where: str, request: Request, what: str, known: tuple[str, ...] = ()) -> None:
    """Refuse options about the columns of a table for other formats.

    With `like` they are ignored: its rows may have come in another format.
    """
    given = [name for name in request.about_tables if name not in known]
    if given and request.like is None:
        are, them = ("are options", "them") if len(given) > 1 else ("is an option", "it")
        raise DataError(
            f"{where}: {' and '.join(given)} {are} about the columns of a table, and "
            f"{what}; leave {them} out"
        )


def _table(file: File, request: Request) -> Table:
    kind = detect_format(file, request.sep, request.decimal)
    if kind in ("NPZ", "svmlight"):
        _check_options(
            file.where,
            request,
            f"this is a file of {kind}",
            ABOUT_ARRAYS if kind == "NPZ" else ABOUT_LABELS,
        )
        return read_npz(file, request) if kind == "NPZ" else read_svmlight(file, request)
    return assign_roles(
        read_parquet(file, request)
        if kind == "Parquet"
        else read_delimited(file, request, kind == "white space"),
        request,
    )


def _preferences(source: Any) -> Columns:
    if not isinstance(source, str | os.PathLike):
        frame = collected(source)
        if not is_frame(frame):
            raise DataError(
                f"{type(source).__name__} is no source of preferences; give a path or a data frame"
            )
        return read_frame(frame, Request())
    file = open_source(source)
    kind = detect_format(file)
    if kind == "Parquet":
        return read_parquet(file, Request())
    return read_delimited(file, Request(header=True), kind == "white space")


def _for_task(name: str, where: str, table: Table, request: Request) -> Data:
    X, y, like = table.X, table.y, request.like
    # Further rows (`like`) take columns, means, classes and levels from the first data.
    if 0 in X.shape:
        raise DataError(
            f"{where}: there are {X.shape[0]} rows and {X.shape[1]} features; supply at "
            f"least one of each"
        )
    columns = table.columns
    if like is not None:
        X = _features_like(where, X, columns, like)
        columns = None if columns is None else like.columns
    origin = table.origin
    if request.missing == "mean" and isinstance(X, np.ndarray):
        X, origin = _filled(where, X, columns, origin, None if like is None else like.origin.means)
    levels, classes, task = np.unique(y), None, request.task or _inferred_task(where, table)
    best = request.best if like is None else like.origin.best
    if task == "classification":
        known = None if like is None else like.classes
        if known is None and len(levels) < 2:
            raise DataError(
                f"{where}: the target has one class ({listed(levels.tolist())}), and one class "
                f"cannot be classified; supply rows of two classes or more"
            )
        classes = known or tuple(levels.tolist())
        if not set(levels.tolist()) <= set(classes):
            raise DataError(
                f"{where}: the classes are {listed(levels.tolist())} and not "
                f"{listed(classes)}; supply rows of these alone"
            )
        y = _places(where, y, classes)
        y = 2 * y - 1 if len(classes) == 2 else y
    elif task == "ordinal":
        classes = like.classes if like is not None else _levels(where, levels, request, table)
        y = _places(where, y, classes or ())
    elif best == "lowest":
        worst = float(y.max()) if like is None else like.origin.worst
        y, origin = _rounded_labels(y, task, replace(origin, worst=worst))
    elif y.dtype == object:
        y, origin = _rounded_labels(y, task, origin)
    return Data(
        name,
        X,
        y,
        table.qid,
        task,
        columns,
        table.first,
        classes,
        table.weight,
        origin=replace(origin, best=best),
    )


def _inferred_task(where: str, table: Table) -> str:
    try:
        return infer_task(table.y, table.qid is not None)
    except ValueError as reason:
        out = table.origin.left_out
        rows = f" ({out} with missing entries are left out)" if out else ""
        raise DataError(
            f"{where}: the target {reason}{rows}; supply rows with other values, name "
            f"another target column or the task, such as regression"
        ) from None


def _with_notice(data: Data, y: NDArray[Any], request: Request) -> Data:
    """Return the data with a question or notice on an ambiguous target."""
    origin, name = data.origin, data.origin.target or ""
    if request.task is None and data.task == "regression":
        origin = replace(
            origin,
            question=open_question(
                y, format_option("task", "classification"), format_option("task", "ordinal")
            ),
        )
    elif (
        data.task == "ranking"
        and origin.best is None
        and RANK_NAMES & {*map(str.lower, NAME_WORD.findall(name))}
    ):
        lowest = format_option("best", "lowest")
        note = f"the highest `{name}` is the best ({lowest} where 1 is)"
        origin = replace(origin, notes=(*origin.notes, note))
    return replace(data, origin=origin)


def _levels(
    where: str, found: NDArray[Any], request: Request, table: Table
) -> tuple[float | str, ...]:
    """Return the labels of an ordinal regression from the lowest to the highest.

    Every one of them occurs in the data.
    """
    words, known = found.dtype.kind == "U", found.tolist()
    ordered = request.levels or _occurring(table.levels, known)
    if words and not ordered:
        example = known[:3] + ["..."] * (len(known) > 3)
        raise DataError(
            f"{where}: the labels are words ({listed(known)}), which have no order of their "
            f"own; name them from the lowest to the highest ({format_option('levels', example)})"
        )
    levels = (
        list(ordered)
        if words
        else [_level(level, known) for level in ordered]
        if ordered
        else known
    )
    if len(levels) != len(known) or {*levels} != {*known}:
        raise DataError(
            f"{where}: the labels are {listed(known)}, and the levels {listed(ordered)}; "
            f"name every label once, and no other"
        )
    if len(levels) < 2:
        raise DataError(
            f"{where}: all rows have the level {listed(levels)}; an ordinal regression "
            f"takes two levels or more"
        )
    return tuple(levels)


def _occurring(levels: tuple[str, ...], known: list[Any]) -> tuple[str, ...]:
    """Return the levels of an ordered target that occur among its labels."""
    return tuple(level for level in levels if level in known or _level(level, known) in known)


def _level(text: str, known: list[float]) -> float | None:
    """Return the number of a level, as an exact integer if a label equals it."""
    exact = exact_integer(text)
    return exact if exact in known else number(text)


def _rounded_labels(
    y: NDArray[Any], task: str, origin: Origin
) -> tuple[NDArray[np.float64], Origin]:
    """Return labels as float64, reversed if the lowest is the best.

    If a ranking would lose pairs by rounding, return their positions instead.
    """
    distinct, place = np.unique(y, return_inverse=True)
    rounded = y.astype(np.float64)
    if origin.worst is not None:
        place = len(distinct) - 1 - place
        with np.errstate(over="ignore"):
            rounded = origin.worst - rounded
    if task != "ranking" or (
        len(distinct) == len(np.unique(rounded)) and np.isfinite(rounded).all()
    ):
        return rounded, origin
    note = (
        f"labels from {distinct[0]} to {distinct[-1]} are ranked by their order, as float64 "
        f"does not distinguish them"
    )
    worst = None if origin.worst is None else np.inf
    return place.astype(np.float64), replace(origin, worst=worst, notes=(*origin.notes, note))


def _places(where: str, y: NDArray[Any], levels: tuple[float | str, ...]) -> NDArray[np.float64]:
    """Return the positions 0, 1, ... of labels among the levels."""
    unknown = sorted({*y.tolist()} - {*levels}, key=str)
    if unknown:
        raise DataError(
            f"{where}: the label {shown(unknown[0])} is none of the levels "
            f"{listed(levels)}; supply rows of these alone"
        )
    place = {level: float(at) for at, level in enumerate(levels)}
    return np.array([place[label] for label in y.tolist()])


def _filled(
    where: str,
    X: NDArray[np.float64],
    columns: tuple[str, ...] | None,
    origin: Origin,
    means: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], Origin]:
    """Replace NaN in X by the given means, or by those of its own columns."""
    missing = np.isnan(X)
    if means is None:
        counts = (~missing).sum(axis=0)
        if not counts.all():
            at = int(np.flatnonzero(counts == 0)[0])
            what = at if columns is None else shown(columns[at])
            raise DataError(
                f"{where}: column {what} has no entry, and so no mean; leave it out (drop)"
            )
        # Dividing before the sum avoids overflow.
        means = np.where(missing, 0.0, X / counts).sum(axis=0)
    return np.where(missing, means, X), replace(origin, filled=int(missing.sum()), means=means)


def _features_like(where: str, X: Any, columns: tuple[str, ...] | None, like: Data) -> Any:
    """Order the columns of X as other data: by name if both have names, else by position."""
    d = like.X.shape[1]
    if X.shape[1] != d:
        raise DataError(f"{where} has {X.shape[1]} features and {like.name} {d}; supply the same")
    if columns is None or like.columns is None or columns == like.columns:
        return X
    if sorted(columns) != sorted(like.columns) or len(set(columns)) < d:
        raise DataError(
            f"{where}: the feature columns are {listed(columns)} and those of {like.name} "
            f"{listed(like.columns)}; supply the same"
        )
    return X[:, [columns.index(name) for name in like.columns]]
