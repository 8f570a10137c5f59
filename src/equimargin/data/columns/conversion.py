"""Conversion of table columns to numbers; bad values are refused with line and column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.columns import Columns
from equimargin.data.columns.encoding import EncodedColumn, encode
from equimargin.data.table import Request
from equimargin.data.tasks import EXACT_INTEGERS, MAX_LEVELS, exact_labels, may_be_classes
from equimargin.data.words import DataError, listed, number, pointed, shown, whole_number
from equimargin.option_text import format_option

GROUPED_DIGITS: Final = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?")
"""Number whose commas seem to group its digits, as in 1,234,567."""

T = TypeVar("T")
"""Type of a converted column."""


class MissingEntry(DataError):
    """Error of a missing entry that is not allowed."""


class DecimalComma(DataError):
    """Error of a number with a decimal comma where a point is expected."""


class Conversion:
    """Conversion of columns that collects the errors by column index."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.errors: dict[int, DataError] = {}

    def __call__(self, convert: Callable[..., T], at: int, *more: Any) -> T | None:
        """Convert a column; record the error and return None if that fails.

        Parameters
        ----------
        convert : callable
            Function of the columns, an index and further arguments.
        at : int
            Index of the column.
        *more : object
            Further arguments of `convert`.

        Returns
        -------
        T or None
            Converted column.
        """
        try:
            return convert(self.columns, at, *more)
        except DataError as error:
            self.errors[at] = error
            return None


def read_target(columns: Columns, at: int, task: str | None) -> NDArray[Any]:
    """Read the target: numbers, or labels as text.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    at : int
        Index of the column.
    task : str or None
        Task; None to infer it later.

    Returns
    -------
    ndarray of shape (m,)
        Numbers or text.

    Raises
    ------
    DataError
        If the entries do not fit the task.
    """
    entries, remedy = columns.entries[at], "correct it or"
    if not isinstance(entries, np.ndarray) and task in (None, "classification", "ordinal"):
        if columns.absent_among_words(at):
            raise _no_label(columns, int(np.flatnonzero(columns.gaps(at))[0]), at)
        levels = set(entries)
        words = columns.are_words(levels)
        # Words are labels if the task says so, or if there are few of them.
        if words and (task is not None or may_be_classes(len(levels), len(entries))):
            return np.array(entries)
        if words:
            named = f"say so ({format_option('task', 'classification')})"
            remedy = (
                f"if the {len(levels)} words of {len(entries)} rows are classes, "
                f"{named if len(levels) <= MAX_LEVELS else f'keep {MAX_LEVELS} of them'}; else"
            )
    y = _floats(
        columns, at, f"{remedy} name another target column ({format_option('target', 'COLUMN')})"
    )
    if task == "regression":
        return y
    try:
        labels = (
            entries.tolist()
            if isinstance(entries, np.ndarray)
            else map(pointed, entries)
            if columns.decimal == ","
            else entries
        )
        return exact_labels(labels, y)
    except ValueError as reason:
        raise DataError(
            f"{columns.where}: the target {shown(columns.names[at])} {reason}"
        ) from None


def _no_label(columns: Columns, row: int, at: int) -> MissingEntry:
    text = str(columns.entries[at][row])
    hint = (
        f"; if it is a label, name the words for missing entries ({format_option('na', '')}: "
        f"only empty ones)"
        if columns.number(text) is None and text
        else ""
    )
    return MissingEntry(
        f"{columns.place(row, at)}: {shown(text)} stands for a missing entry; give it a "
        f"label, or leave such rows out "
        f"({format_option('missing', 'drop')}){hint}"
    )


def read_weights(columns: Columns, at: int) -> NDArray[np.float64]:
    """Read the weights of the rows.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    at : int
        Index of the column.

    Returns
    -------
    ndarray of shape (m,)
        Weights, at least 0.

    Raises
    ------
    DataError
        If a weight is negative or not finite.
    """
    name = columns.names[at]
    weights = _floats(
        columns, at, f"correct it, or read the column as a feature ({format_option('weight', '')})"
    )
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        raise DataError(
            f"{columns.place(int(negative[0]), at)}: {weights[negative[0]]:g} is no weight, "
            f"which is at least 0; correct it, or read "
            f"{shown(name)} as a feature ({format_option('weight', '')})"
        )
    return weights


def read_feature(columns: Columns, at: int, request: Request, is_words: bool) -> EncodedColumn:
    """Read a feature, as one column or as the columns that encode its words.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    at : int
        Index of the column.
    request : Request
        Options of `load`.
    is_words : bool
        True if the column holds only words.

    Returns
    -------
    EncodedColumn
        Columns with their names.

    Raises
    ------
    DataError
        If an entry is no number and no known word.
    """
    name, fill = columns.names[at], request.missing == "mean"
    if not is_words or request.categorical is None:
        remedy = _feature_remedy(columns, at)
        remedy += (
            f", or encode words or leave them out "
            f"({format_option('categorical', 'one-hot')}, codes or drop)"
            if is_words
            else ""
        )
        return EncodedColumn((name,), _floats(columns, at, remedy, fill)[:, np.newaxis], ())
    words, gaps = [format_row_name(entry) for entry in columns.entries[at]], columns.gaps(at)
    known = None if request.like is None else request.like.origin.categories.get(name)
    # A missing entry is wrong unless it will be filled, a word if `like` lacks it.
    wrong = [
        row
        for row, word in enumerate(words)
        if (gaps[row] and not fill) or not (gaps[row] or known is None or word in known)
    ]
    if wrong:
        row = wrong[0]
        if gaps[row]:
            raise MissingEntry(
                f"{columns.place(row, at)}: {shown(words[row])} stands for a missing entry; "
                f"{_missing_hint(columns)}"
            )
        raise DataError(
            f"{columns.place(row, at)}: {shown(words[row])} is none of the categories "
            f"{listed(known or ())}; leave the row out"
        )
    try:
        return encode(name, words, gaps, request.categorical, known, columns.orders.get(at, ()))
    except DataError as reason:
        raise DataError(
            f"{columns.where}, column {shown(name)}: {reason}; drop it "
            f"({format_option('drop', name)})"
        ) from None


def _missing_hint(columns: Columns) -> str:
    return (
        f"{format_option('missing', 'drop')} leaves such rows out, "
        f"{format_option('missing', 'mean')} fills in means of features"
    )


def _feature_remedy(columns: Columns, at: int) -> str:
    return f"correct it or drop the column ({format_option('drop', columns.names[at])})"


def _floats(
    columns: Columns, at: int, remedy: str, fill: bool | None = None
) -> NDArray[np.float64]:
    """Convert a column to finite numbers of shape (m,).

    Parameters
    ----------
    fill : bool, optional
        True if missing entries are allowed, as NaN; None for a column that no mean can
        fill.
    """
    entries, gaps = columns.entries[at], columns.gaps(at)
    if isinstance(entries, np.ndarray):
        values = entries.astype(np.float64)
    else:
        values = np.array(
            [math.nan if value is None else value for value in map(columns.number, entries)]
        )
    values[gaps] = math.nan
    wrong = ~np.isfinite(values) & ~(gaps & bool(fill))
    if wrong.any():
        # A missing entry is reported only if no entry is bad: options that drop missing
        # entries must not hide bad ones.
        row = int(np.flatnonzero(wrong & ~gaps if (wrong & ~gaps).any() else wrong)[0])
        text = str(entries[row])
        hint = _comma_hint(columns, text)
        kind = DecimalComma if _has_decimal_comma(columns, text) else DataError
        if gaps[row]:
            kind = MissingEntry
            hint = (
                f"; {format_option('missing', 'drop')} leaves such rows out"
                if fill is None
                else f"; {_missing_hint(columns)}"
            )
        raise kind(
            f"{columns.place(row, at)}: {shown(text)} is not a finite number; {remedy}{hint}"
        )
    return values


def _comma_hint(columns: Columns, text: str) -> str:
    """Return a hint on a comma, or on a point if commas are decimal points."""
    if _has_decimal_comma(columns, text):
        return f"; if the comma is a decimal point, say so: {format_option('decimal', ',')}"
    if columns.header is not None and _groups_digits(columns, text):
        mark = "point" if columns.decimal == "," else "comma"
        return f"; write it without a {mark} if that groups its digits"
    return ""


def _has_decimal_comma(columns: Columns, text: str) -> bool:
    """Return True if an entry of a text is a number once its comma is a decimal point."""
    return (
        columns.header is not None
        and columns.decimal == "."
        and "," in text
        and number(text.replace(",", ".")) is not None
        and not _groups_digits(columns, text)
    )


def _groups_digits(columns: Columns, text: str) -> bool:
    """Return True if commas, or points where commas are decimal points, group digits."""
    return bool(GROUPED_DIGITS.fullmatch(pointed(text) if columns.decimal == "," else text))


def read_queries(columns: Columns, at: int) -> NDArray[np.int64]:
    """Read the queries as integers; every row must have one.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    at : int
        Index of the column.

    Returns
    -------
    ndarray of shape (m,)
        Queries.

    Raises
    ------
    DataError
        If a row has no query, or float64 does not distinguish the queries.
    """
    gaps = np.flatnonzero(columns.gaps(at))
    if len(gaps):
        place = f"{columns.where}, {columns.unit} {columns.numbers[gaps[0]]}"
        hint = (
            f"give every row a query, or leave such rows out ({format_option('missing', 'drop')})"
        )
        raise MissingEntry(f"{place}: this row has no query and others have one; {hint}")
    entries = columns.entries[at]
    if not isinstance(entries, np.ndarray):
        return encode_queries(
            [pointed(entry) for entry in entries] if columns.decimal == "," else entries
        )
    if entries.dtype == np.int64:
        return entries
    if not (np.abs(entries) < EXACT_INTEGERS).all():
        name = shown(columns.names[at])
        raise DataError(
            f"{columns.where}, column {name}: float64 does not distinguish queries from 2**53 "
            f"on; renumber them"
        )
    return encode_queries([repr(entry) for entry in entries.tolist()])


def encode_queries(queries: Iterable[str]) -> NDArray[np.int64]:
    """Encode queries as integers.

    Whole numbers are returned as they are, so that 1 equals 1.0. If a query is anything
    else, all are texts, numbered by first appearance.

    Parameters
    ----------
    queries : iterable of str
        Queries as text.

    Returns
    -------
    ndarray of shape (m,)
        Queries.
    """
    texts = list(queries)
    numbers = [value for text in texts if (value := whole_number(text)) is not None]
    if len(numbers) < len(texts):
        first = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        numbers = [first[text] for text in texts]
    return np.array(numbers, dtype=np.int64)


def format_row_name(entry: str | float) -> str:
    """Return the name of a row as text, whole numbers without a decimal point.

    Parameters
    ----------
    entry : str or float
        Entry of the column `id`, of any type.

    Returns
    -------
    str
        Name.
    """
    if isinstance(entry, str):
        return entry.strip()
    return str(int(entry)) if float(entry).is_integer() else repr(float(entry))
