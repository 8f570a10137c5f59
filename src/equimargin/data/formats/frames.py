"""Data frames of pandas and polars, tables of pyarrow, and Parquet files: columns with names, each of which becomes a NumPy array.

None of these packages is needed: a frame is whatever has names of columns, a column for
each, and `to_numpy()` of a column. Lazy frames, and relations of databases, are
collected by narwhals first.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.columns import Columns, Entries
from equimargin.data.formats.files import File
from equimargin.data.table import Request
from equimargin.data.tasks import EXACT_INTEGERS
from equimargin.data.words import DataError, one_line, shown

NO_VALUE: Final = ("NoneType", "NAType", "NaTType")
"""Types of what stands for a missing entry, among them those of pandas."""

INDEX: Final = "__index_level_"
"""How the names begin under which pandas writes its row labels to a Parquet file."""


def is_frame(source: Any) -> bool:
    """Whether a source of data is a table with named columns, which are there: those of a lazy frame are not."""
    kind = type(source)
    return (
        hasattr(kind, "__getitem__")
        and hasattr(kind, "shape")
        and (hasattr(kind, "column_names") or hasattr(kind, "columns"))
    )


def collected(source: Any) -> Any:
    """Return the rows of a lazy frame of polars, a relation of DuckDB or any other that narwhals knows; another source as it is.

    Raises
    ------
    DataError
        If the rows cannot be collected.
    """
    try:
        import narwhals
    except ImportError:
        return source
    try:
        frame = narwhals.from_native(source, pass_through=True)
    except (
        narwhals.exceptions.DuplicateError
    ):  # names that come twice are told apart by their places here
        return source
    if not isinstance(frame, narwhals.LazyFrame):
        return source
    try:
        return frame.collect().to_native()
    except Exception as error:  # a query may fail in any way
        raise DataError(
            f"{name_frame(source)}: its rows cannot be collected ({one_line(error)})"
        ) from None


def name_frame(frame: Any) -> str:
    """How sentences call a frame, which has no name of its own: "pandas DataFrame"."""
    kind = type(frame)
    return f"{kind.__module__.partition('.')[0]} {kind.__name__}"


def read_frame(frame: Any, request: Request) -> Columns:
    """Read a data frame; its rows are counted from 0, and labels of rows are no column."""
    return replace(_read(name_frame(frame), frame, request), in_python=True)


def read_parquet(file: File, request: Request) -> Columns:
    """Read a Parquet file through pyarrow."""
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise DataError(
            f"{file.where}: pyarrow, which reads Parquet files, is not installed; install "
            f"it (pip install pyarrow) or save the table as CSV"
        ) from None
    try:
        table = read_table(io.BytesIO(file.content))
    except Exception as error:  # pyarrow has a dozen errors for a damaged file
        raise DataError(
            f"{file.where}: cannot be read as Parquet ({one_line(error)}); the file is damaged"
        ) from None
    labels = [name for name in table.column_names if name.startswith(INDEX)]
    return _read(file.where, table.drop_columns(labels), request)


def _read(where: str, frame: Any, request: Request) -> Columns:
    for option in ("header", "sep", "decimal"):
        if option in request.about_tables:
            raise DataError(
                f"{where}: {option} is about text, and this table has names and numbers "
                f"already; leave it out"
            )
    keys = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    names = tuple(str(key) for key in keys)
    entries = tuple(
        _entries(where, names[at], _column(frame, keys, at), names[at] in request.drop)
        for at in range(len(keys))
    )
    rows = len(entries[0]) if entries else 0
    if not rows:
        raise DataError(
            f"{where}: there are {rows} rows and {len(names)} columns; supply at least one "
            f"row and two columns"
        )
    return Columns(where, names, entries, "row", range(rows), na=request.na)


def _column(frame: Any, keys: list[Any], at: int) -> Any:
    """Return a column by its name, or by its place where several have the name.

    Pandas and pyarrow allow that.
    """
    if keys.count(keys[at]) == 1 or not (hasattr(frame, "iloc") or hasattr(frame, "column_names")):
        return frame[keys[at]]
    return frame.iloc[:, at] if hasattr(frame, "iloc") else frame.column(at)


def _entries(where: str, name: str, column: Any, dropped: bool) -> Entries:
    # what pandas answers for a name that two columns have
    if len(getattr(column, "shape", (0,))) > 1:
        raise DataError(f"{where}: several columns are named {shown(name)}; rename all but one")
    values = np.asarray(column.to_numpy())
    to_list = getattr(column, "to_pylist", None) or getattr(column, "to_list", None)
    if to_list and values.dtype == np.float64 and (np.abs(values) >= EXACT_INTEGERS).any():
        # polars and pyarrow round whole numbers next to missing entries; their lists
        # are exact.
        values = np.array(to_list(), dtype=object)
    return np.zeros(len(values)) if dropped else read_entries(where, name, values)


def read_entries(where: str, name: str, values: NDArray[Any]) -> Entries:
    """The entries of a column that is an array, (m,).

    Raises
    ------
    DataError
        Of a type that is neither numbers nor text.
    """
    if values.dtype.kind == "b" or values.dtype.kind == "f":
        # a long double beyond float64 becomes inf, which is refused later
        with np.errstate(over="ignore"):
            return values.astype(np.float64)
    if values.dtype.kind in "iu":
        fits = not len(values) or int(values.max()) <= np.iinfo(np.int64).max
        return values.astype(np.int64) if fits else tuple(map(str, values.tolist()))
    if values.dtype.kind in "OTU":
        return _of_objects(where, name, values.tolist())
    raise _no_entries(where, name, f"{values.dtype}, not numbers or text")


def _of_objects(where: str, name: str, values: Sequence[Any]) -> Entries:
    """A column of Python objects: all text, or all numbers, but for missing entries."""
    absent = [
        type(value).__name__ in NO_VALUE or (isinstance(value, float) and value != value)
        for value in values
    ]
    present = [value for value, missing in zip(values, absent, strict=True) if not missing]
    if present and all(isinstance(value, str) for value in present):
        return tuple(
            "" if missing else value.strip() for value, missing in zip(values, absent, strict=True)
        )
    for value in present:
        if not isinstance(value, Real | Decimal):
            raise _no_entries(
                where,
                name,
                "text beside numbers"
                if isinstance(value, str)
                else f"{type(value).__name__}, not numbers or text",
            )
    if all(isinstance(value, Integral) for value in present) and any(
        abs(value) >= EXACT_INTEGERS for value in present
    ):
        return tuple(
            "" if missing else str(int(value))
            for value, missing in zip(values, absent, strict=True)
        )
    return np.array(
        [np.nan if missing else float(value) for value, missing in zip(values, absent, strict=True)]
    )


def _no_entries(where: str, name: str, kind: str) -> DataError:
    return DataError(
        f"{where}, column {shown(name)}: holds {kind}; convert it or leave it out (drop=[{name!r}])"
    )
