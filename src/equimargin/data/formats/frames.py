"""Data frames of pandas and polars, tables of pyarrow, and Parquet files.

Every column becomes a NumPy array. None of these packages is required: a frame is any
object with column names, columns, and `to_numpy()` of a column. Lazy frames, and
relations of databases, are collected by narwhals first.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
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
from equimargin.option_text import format_option

NO_VALUE: Final = ("NoneType", "NAType", "NaTType")
"""Types of missing entries, including those of pandas."""

INDEX: Final = "__index_level_"
"""Prefix of the names under which pandas writes row labels to a Parquet file."""


def is_frame(source: Any) -> bool:
    """Return True if a source is a table with named columns; lazy frames are none.

    Parameters
    ----------
    source : object
        Source of data.
    """
    kind = type(source)
    return (
        hasattr(kind, "__getitem__")
        and hasattr(kind, "shape")
        and (hasattr(kind, "column_names") or hasattr(kind, "columns"))
    )


def collected(source: Any) -> Any:
    """Collect a lazy frame of polars, a relation of DuckDB, or another that narwhals knows.

    Any other source is returned unchanged.

    Parameters
    ----------
    source : object
        Source of data.

    Returns
    -------
    object
        Frame, or the source.

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
    # Repeated names are allowed: `_column` distinguishes them by position.
    except narwhals.exceptions.DuplicateError:
        return source
    if not isinstance(frame, narwhals.LazyFrame):
        return source
    try:
        return frame.collect().to_native()
    # A query may raise any exception.
    except Exception as error:
        raise DataError(
            f"{name_frame(source)}: its rows cannot be collected ({one_line(error)})"
        ) from None


def name_frame(frame: Any) -> str:
    """Return the name of a frame's type for messages: "pandas DataFrame".

    Parameters
    ----------
    frame : object
        Data frame.

    Returns
    -------
    str
        Package and class.
    """
    kind = type(frame)
    return f"{kind.__module__.partition('.')[0]} {kind.__name__}"


def read_frame(frame: Any, request: Request) -> Columns:
    """Read a data frame; its rows are counted from 0, and row labels are no column.

    Parameters
    ----------
    frame : data frame
        Frame of pandas, polars or pyarrow.
    request : Request
        Options of `load`.

    Returns
    -------
    Columns
        Columns of the frame.

    Raises
    ------
    DataError
        If an option does not apply, or a column has another type.
    """
    return _read(name_frame(frame), frame, request)


def read_parquet(file: File, request: Request) -> Columns:
    """Read a Parquet file through pyarrow.

    Parameters
    ----------
    file : File
        File in memory.
    request : Request
        Options of `load`.

    Returns
    -------
    Columns
        Columns of the table.

    Raises
    ------
    DataError
        If pyarrow is missing or cannot read the file.
    """
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise DataError(
            f"{file.where}: pyarrow, which reads Parquet files, is not installed; install "
            f"it (pip install 'equimargin[tables]') or save the table as CSV"
        ) from None
    try:
        table = read_table(io.BytesIO(file.content))
    # pyarrow has a dozen exceptions for a damaged file.
    except Exception as error:
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
    columns = [_column(frame, keys, at) for at in range(len(keys))]
    entries = tuple(
        _entries(where, name, column, name in request.drop)
        for name, column in zip(names, columns, strict=True)
    )
    rows = len(entries[0]) if entries else 0
    if not rows:
        raise DataError(
            f"{where}: there are {rows} rows and {len(names)} columns; supply at least one "
            f"row and two columns"
        )
    orders = _orders(columns)
    return Columns(where, names, entries, "row", range(rows), na=request.na, orders=orders)


def _column(frame: Any, keys: list[Any], at: int) -> Any:
    """Return a column by name, or by position if several have the name.

    Pandas and pyarrow allow repeated names.
    """
    if keys.count(keys[at]) == 1 or not (hasattr(frame, "iloc") or hasattr(frame, "column_names")):
        return frame[keys[at]]
    return frame.iloc[:, at] if hasattr(frame, "iloc") else frame.column(at)


def _orders(columns: Sequence[Any]) -> dict[int, tuple[str, ...]]:
    """Return the categories of the ordered Categoricals of pandas, by index of the column."""
    kinds: list[Any] = [getattr(column, "dtype", None) for column in columns]
    return {
        at: tuple(dict.fromkeys(str(category).strip() for category in kind.categories))
        for at, kind in enumerate(kinds)
        if getattr(kind, "ordered", False)
    }


def _entries(where: str, name: str, column: Any, dropped: bool) -> Entries:
    # pandas returns a frame for a repeated name.
    if len(getattr(column, "shape", (0,))) > 1:
        raise DataError(f"{where}: several columns are named {shown(name)}; rename all but one")
    values = np.asarray(column.to_numpy())
    to_list = getattr(column, "to_pylist", None) or getattr(column, "to_list", None)
    if to_list and values.dtype == np.float64 and (np.abs(values) >= EXACT_INTEGERS).any():
        # Next to missing entries, arrays of polars and pyarrow round whole numbers;
        # their lists are exact.
        values = np.array(to_list(), dtype=object)
    return np.zeros(len(values)) if dropped else read_entries(where, name, values)


def read_entries(where: str, name: str, values: NDArray[Any]) -> Entries:
    """Convert an array to the entries of a column.

    Parameters
    ----------
    where : str
        Name of the table in messages.
    name : str
        Name of the column.
    values : ndarray of shape (m,)
        Values of the column.

    Returns
    -------
    Entries
        Numbers or text.

    Raises
    ------
    DataError
        If the values are neither numbers nor text.
    """
    if values.dtype.kind in "bf":
        # A long double outside the float64 range becomes inf, which is refused later.
        with np.errstate(over="ignore"):
            return values.astype(np.float64)
    if values.dtype.kind in "iu":
        fits = not len(values) or int(values.max()) <= np.iinfo(np.int64).max
        return values.astype(np.int64) if fits else tuple(map(str, values.tolist()))
    if values.dtype.kind in "OTU":
        return _of_objects(where, name, values.tolist())
    raise _no_entries(where, name, f"{values.dtype}, not numbers or text")


def _of_objects(where: str, name: str, values: Sequence[Any]) -> Entries:
    """Convert Python objects that are all text or all numbers, except for missing ones."""
    absent = [
        type(value).__name__ in NO_VALUE or (isinstance(value, float) and value != value)
        for value in values
    ]
    present = [value for value, missing in zip(values, absent, strict=True) if not missing]
    # Whole numbers from 2**53 on become text, because float64 rounds them.
    if present and all(isinstance(value, str) for value in present):
        return tuple(
            "" if missing else value.strip() for value, missing in zip(values, absent, strict=True)
        )
    for value in present:
        if not isinstance(value, Real | Decimal):
            raise _no_entries(
                where,
                name,
                "both text and numbers"
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
        f"{where}, column {shown(name)}: holds {kind}; convert it or leave it out "
        f"({format_option('drop', name)})"
    )
