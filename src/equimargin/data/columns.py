"""What the columns of a table are: its target, its queries, the weights of its rows, and its features.

A role is asked for by name, or recognised by the name of a column, in any case:

    query     qid, query, query_id
    target    label, target, relevance or class; else y; else the last column that has no other role
    weight    sample_weight; weight, where the target or the query is recognised by its name, too: elsewhere it may well be a feature

Every value is checked here, and a bad one refused with its line and column.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.data.encoding import EncodedColumn, encode
from equimargin.data.loaded import Origin
from equimargin.data.table import Missing, Request, Table
from equimargin.data.tasks import EXACT_INTEGERS, exact_labels
from equimargin.data.words import MISSING, DataError, listed, number, pointed, shown, whole_number

QUERY_NAMES: Final = ("qid", "query", "query_id")
"""Names of a column, in lower case, that make it the query."""

TARGET_NAMES: Final = ("label", "target", "relevance", "class")
"""Names of a column, in lower case, that make it the target."""

FAINT_TARGET_NAME: Final = "y"
"""A name that makes a column the target where none of TARGET_NAMES is there: it may be a coordinate."""

WEIGHT_NAME: Final = "sample_weight"
"""The name of a column, in lower case, that makes it the weights of the rows."""

ID_NAME: Final = "id"
"""The name of a column, in lower case, that makes it what preferences call the rows, where preferences rank them."""

FAINT_WEIGHT_NAME: Final = "weight"
"""A name that makes a column the weights of the rows only beside a target or a query that is recognised by its name."""

GROUPED_DIGITS: Final = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?")
"""A number whose commas seem to group its digits, as in 1,234,567."""

T = TypeVar("T")
"""Type of what a column becomes."""

PLACE_NAME: Final = re.compile(r"column ([1-9][0-9]*)")
"""Name of a column by its place, from 1, unless a column has that name."""

Entries = Sequence[str] | NDArray[Any]
"""A column: text as in a file, or an array of int64 or of float64, in which NaN is a missing entry."""


@dataclass(frozen=True, eq=False)
class Columns:
    """A table column by column.

    where : how sentences call the table.  names : of the columns.  entries : as many columns.
    unit, numbers : how sentences call the rows: "line" 7, or "row" 3.  header : whether the names are the first row of a text; None of
    what is no text.  in_python : whether the table can only come from Python, so that options are keyword arguments.
    decimal : the decimal point of text.  na : the words that stand for a missing entry, in lower case.  notes : how the text was read.
    """

    where: str
    names: tuple[str, ...]
    entries: tuple[Entries, ...]
    unit: str
    numbers: Sequence[int]
    header: bool | None = None
    in_python: bool = False
    decimal: str = "."
    na: tuple[str, ...] = MISSING
    notes: tuple[str, ...] = ()

    def number(self, text: str) -> float | None:
        """The number that an entry is, or None."""
        return number(pointed(text) if self.decimal == "," else text)

    def gaps(self, at: int) -> NDArray[np.bool_]:
        """Which entries of a column are missing, (m,): NaN, one of the words, or a number that is one of them."""
        entries = self.entries[at]
        values = [value for word in self.na if (value := self.number(word)) is not None and not math.isnan(value)]
        if isinstance(entries, np.ndarray):
            missing = np.isnan(entries)
            return np.asarray(missing | np.isin(entries, values) if values else missing)
        absent = {entry for entry in set(entries) if entry.lower() in self.na or (values and self.number(entry) in values)}
        return np.array([entry in absent for entry in entries], dtype=np.bool_)

    def place(self, row: int, column: int) -> str:
        """Where an entry stands, in words."""
        return f"{self.where}, {self.unit} {self.numbers[row]}, column {shown(self.names[column])}"

    def option(self, name: str, value: str) -> str:
        """An option as it is written on the command line, or in Python."""
        if self.in_python:
            return f"{name}={[value]!r}" if name in ("drop", "na") else f"{name}={value!r}"
        return f"--{name} {shlex.quote(value)}"


class Roles(NamedTuple):
    """The places of the columns of each role, and how the target was found."""

    target: int | None
    target_by: str
    query: int | None
    weight: int | None
    features: list[int]
    dropped: list[int]
    id: int | None


def assign_roles(columns: Columns, request: Request) -> Table:
    """Give every column its role and its numbers.

    Raises
    ------
    DataError
        Columns that are not there or have two roles, no features, entries that are no finite
        numbers.
    """
    roles = _roles(columns, request)
    # Further rows are encoded as the data that they join.
    if request.like is not None:
        request = replace(request, categorical=request.like.origin.categorical)
    words = {at for at in roles.features if _holds_words(columns, at, request)}
    if request.categorical == "drop" and words:
        rest = [at for at in roles.features if at not in words]
        if not rest:
            raise DataError(f"{columns.where}: all feature columns hold words; encode them ({columns.option('categorical', 'one-hot')})")
        roles, words = (
            roles._replace(features=rest, dropped=sorted([*roles.dropped, *words])),
            set(),
        )
    if request.categorical is not None:
        _check_names_of_words(columns, roles.features, words)
    notes = (*columns.notes, *_notes(columns, roles, request.missing))
    ids = None if roles.id is None else _ids(columns, roles.id)
    columns, kept = _without_missing(columns, roles, request.missing)
    task = "ranking" if request.task is None and roles.query is not None else request.task
    m = len(columns.numbers)
    # Errors are collected: one message then names every column that needs a decision.
    read = Conversion(columns)
    y: NDArray[Any] | None = np.zeros(m) if roles.target is None else read(_target, roles.target, task)
    features = {at: read(_feature, at, request, at in words) for at in roles.features}
    qid = None if roles.query is None else read(_queries, roles.query)
    weight = None if roles.weight is None else read(_weights, roles.weight)
    if read.errors or y is None:
        raise _joined(columns, read.errors, words, request)
    blocks = [block for block in features.values() if block is not None]
    names = tuple(name for block in blocks for name in block.names)
    X = np.empty((m, len(names)))
    if blocks:
        np.concatenate([block.X for block in blocks], axis=1, out=X)
    origin = Origin(
        header=columns.header,
        target=None if roles.target is None else columns.names[roles.target],
        target_by=roles.target_by,
        query=None if roles.query is None else columns.names[roles.query],
        weight=None if roles.weight is None else columns.names[roles.weight],
        dropped=tuple(columns.names[at] for at in roles.dropped),
        left_out=0 if kept is None else int(np.count_nonzero(~kept)),
        notes=notes,
        categorical=request.categorical,
        categories={columns.names[at]: block.categories for at, block in features.items() if block is not None and block.categories},
    )
    return Table(X, y, qid, weight, names, kept=None if kept is None else np.flatnonzero(kept), origin=origin, ids=ids)


class MissingEntry(DataError):
    """Error of a missing entry where one is refused."""


class DecimalComma(DataError):
    """Error of a number with a decimal comma where points are expected."""


class Conversion:
    """Conversion of columns that keeps the errors, by the places of the columns."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.errors: dict[int, DataError] = {}

    def __call__(self, convert: Callable[..., T], at: int, *more: Any) -> T | None:
        """Return what a function makes of a column, or None if it refuses the column."""
        try:
            return convert(self.columns, at, *more)
        except DataError as error:
            self.errors[at] = error
            return None


def _joined(columns: Columns, errors: Mapping[int, DataError], words: set[int], request: Request) -> DataError:
    """Return one error for all unusable columns, grouped by the option that decides."""
    places = sorted(errors)
    undecided = {
        f"words in {{}} ({columns.option('categorical', 'one-hot')}, codes or drop)": words if request.categorical is None else set(),
        f"missing entries in {{}} ({columns.option('missing', 'drop')}, or mean for features)": {
            at for at in places if isinstance(errors[at], MissingEntry) or (request.missing is None and columns.gaps(at).any())
        },
        f"decimal commas in {{}} ({columns.option('decimal', ',')})": {at for at in places if isinstance(errors[at], DecimalComma)},
    }
    parts = [what.format(", ".join(shown(columns.names[at]) for at in sorted(of))) for what, of in undecided.items() if of]
    others = [errors[at] for at in places if type(errors[at]) is DataError and not (at in words and request.categorical is None)]
    parts += [str(error).removeprefix(columns.where)[2:] for error in others]
    # A single error keeps its class and its own message.
    if len(errors) == len(parts) == 1:
        return errors[places[0]]
    what = f"{len(errors)} columns need a decision" if len(errors) > 1 else f"1 column needs {len(parts)} decisions"
    return DataError(f"{columns.where}: {what}: {'; '.join(parts)}")


def _roles(columns: Columns, request: Request) -> Roles:
    names, like = columns.names, request.like
    dropped = [_position(columns, name, "dropped") for name in request.drop if like is None or name in names]
    asked = {role: _asked(columns, role, request) for role in ("target", "query", "weight")}
    _check_asked(columns, asked, dropped)
    free = [at for at in range(len(names)) if at not in (*dropped, *asked.values())]
    target, query, weight = asked["target"], asked["query"], asked["weight"]
    target_by = "name" if target is None else "asked"
    if query is None and request.query is None:
        query = _recognised(columns, "query", QUERY_NAMES, free)
    for recognised in (TARGET_NAMES, (FAINT_TARGET_NAME,)):
        if target is None:
            target = _recognised(columns, "target", recognised, free)
    if weight is None and request.weight is None:
        known = query is not None or (target is not None and names[target].lower() in (*TARGET_NAMES, FAINT_TARGET_NAME))
        weight = _recognised(columns, "weight", (WEIGHT_NAME, FAINT_WEIGHT_NAME) if known else (WEIGHT_NAME,), free)
    id = _recognised(columns, "id", (ID_NAME,), free) if request.ranked_by_pairs else None
    if request.ranked_by_pairs:
        dropped += [at for at in (target, weight) if at is not None]
        target = weight = None
    elif target is None and free:
        target, target_by = free.pop(), "last"
    if not free:
        raise DataError(f"{columns.where}: there is no feature column beside {listed(names)}; supply at least one")
    return Roles(target, target_by, query, weight, free, dropped, id)


def format_row_name(entry: str | float) -> str:
    """The name of a row, as text: whole numbers without a decimal point, whatever held them."""
    if isinstance(entry, str):
        return entry.strip()
    return str(int(entry)) if float(entry).is_integer() else repr(float(entry))


def _ids(columns: Columns, at: int) -> tuple[str, ...]:
    """The names of the rows, no two of them equal."""
    first: dict[str, int] = {}
    for row, name in enumerate(map(format_row_name, columns.entries[at])):
        if first.setdefault(name, row) != row:
            before = f"{columns.unit} {columns.numbers[first[name]]}"
            raise DataError(f"{columns.place(row, at)}: the id {shown(name)} is that of {before} already; make every id another")
    return tuple(first)


def _check_asked(columns: Columns, asked: Mapping[str, int | None], dropped: list[int]) -> None:
    """Refuse a column that was asked for in two roles."""
    for role, at in asked.items():
        others = [other for other, place in asked.items() if place == at and other != role]
        if at is not None and (others or at in dropped):
            what = f"as {role} and as {others[0]}; name two different columns" if others else f"as {role} and to be dropped; choose one"
            raise DataError(f"{columns.where}: column {shown(columns.names[at])} is named {what}")


def _asked(columns: Columns, role: str, request: Request) -> int | None:
    """The place of the column that was asked for in a role, or that has it in the data that are to be joined."""
    name = getattr(request, role)
    if request.like is not None:
        known = getattr(request.like.origin, role)
        name = known if known in columns.names and name is None else name
        if role == "weight" and name not in columns.names:
            return None
    return None if not name else _position(columns, name, role)


def _position(columns: Columns, name: str, role: str) -> int:
    what = role if role == "dropped" else f"the {role}"
    places = [at for at, known in enumerate(columns.names) if known == name]
    by_place = PLACE_NAME.fullmatch(name)
    # "column 3" is the third one only where no column has that name.
    if not places and by_place and int(by_place[1]) <= len(columns.names):
        return int(by_place[1]) - 1
    if not places:
        raise DataError(f"{columns.where}: there is no column {shown(name)} to be {what}; the columns are {listed(columns.names)}")
    if len(places) > 1:
        which = " or ".join(columns.option("drop" if role == "dropped" else role, f"column {at + 1}") for at in places)
        raise DataError(f"{columns.where}: {len(places)} columns are named {shown(name)}, {what}; say which by its place ({which})")
    return places[0]


def _recognised(columns: Columns, role: str, names: Sequence[str], free: list[int]) -> int | None:
    """The place of the free column with one of the names, which is then no longer free."""
    found = [at for at in free if columns.names[at].lower() in names]
    if len(found) > 1:
        several = listed([columns.names[at] for at in found])
        first = columns.names[found[0]]
        example = columns.option(role, first if columns.names.count(first) == 1 else f"column {found[0] + 1}")
        raise DataError(f"{columns.where}: columns {several} could each be the {role}; say which with {role} ({example})")
    if not found:
        return None
    free.remove(found[0])
    return found[0]


def _notes(columns: Columns, roles: Roles, missing: Missing | None) -> list[str]:
    """Return sentences on what the user may have meant otherwise."""
    names = [columns.names[at] for at in roles.features if columns.names[at].lower() == FAINT_WEIGHT_NAME]
    given = [] if roles.id is None else [f"`{columns.names[roles.id]}` is what preferences call the rows"]
    notes = given + [f"`{name}` is a feature ({columns.option('weight', name)} makes it the weight of the rows)" for name in names]
    taken = [columns.names[at] for at in roles.features]
    notes += [f"{count} features are named `{name}`" for name, count in Counter(taken).items() if count > 1]
    for role in (roles.target, roles.query):
        # With the usual words for missing entries, one of them among words may have been a label.
        if role is not None and missing == "drop" and columns.na == MISSING:
            words = " and ".join(f"`{word}`" for word in _absent_among_words(columns, role) if word)
            option = columns.option("na", "")
            notes += [f"{words} of `{columns.names[role]}` left out as missing ({option} keeps it)"] if words else []
    return notes


def _absent_among_words(columns: Columns, at: int) -> list[str]:
    """The entries of a column that stand for missing ones where all others are words, which they might be as well."""
    entries = columns.entries[at]
    if isinstance(entries, np.ndarray):
        return []
    absent = {entry for entry, gap in zip(entries, columns.gaps(at).tolist(), strict=True) if gap}
    return sorted(absent) if _are_words(columns, set(entries) - absent) else []


def _are_words(columns: Columns, entries: set[str]) -> bool:
    return bool(entries) and all(columns.number(entry) is None for entry in entries)


def _without_missing(columns: Columns, roles: Roles, missing: Missing | None) -> tuple[Columns, NDArray[np.bool_] | None]:
    """The rows without a missing entry, and which rows these are, where such rows are to be left out."""
    if missing != "drop":
        return columns, None
    kept = np.ones(len(columns.numbers), dtype=np.bool_)
    for at in (*roles.features, roles.target, roles.query, roles.weight):
        if at is not None:
            kept &= ~columns.gaps(at)
    if not kept.any():
        raise DataError(f"{columns.where}: every row has a missing entry, so that none is left; drop the columns that are mostly empty")
    rows = np.flatnonzero(kept).tolist()
    entries = tuple(values[kept] if isinstance(values, np.ndarray) else [values[row] for row in rows] for values in columns.entries)
    return replace(columns, entries=entries, numbers=[columns.numbers[row] for row in rows]), kept


def _target(columns: Columns, at: int, task: str | None) -> NDArray[Any]:
    entries, remedy = columns.entries[at], "correct it or"
    if not isinstance(entries, np.ndarray) and task in (None, "classification", "ordinal"):
        if _absent_among_words(columns, at):
            raise _no_label(columns, int(np.flatnonzero(columns.gaps(at))[0]), at)
        levels = set(entries)
        words = _are_words(columns, levels)
        # Words are labels if the task says so, or if there are two of them.
        if words and (task in ("classification", "ordinal") or len(levels) == 2):
            return np.array(entries)
        if words:
            remedy = f"of labels a classification takes two, and these are {len(levels)}: supply rows of two of them, or"
    y = _floats(columns, at, f"{remedy} name another target column ({columns.option('target', 'COLUMN')})")
    if task == "regression":
        return y
    try:
        labels = entries.tolist() if isinstance(entries, np.ndarray) else map(pointed, entries) if columns.decimal == "," else entries
        return exact_labels(labels, y)
    except ValueError as reason:
        raise DataError(f"{columns.where}: the target {shown(columns.names[at])} {reason}") from None


def _no_label(columns: Columns, row: int, at: int) -> MissingEntry:
    text = str(columns.entries[at][row])
    hint = (
        f"; if it is a label, say what is missing instead ({columns.option('na', '')}: only what is empty)"
        if columns.number(text) is None and text
        else ""
    )
    return MissingEntry(
        f"{columns.place(row, at)}: {shown(text)} stands for a missing entry; give it a label, or leave such rows out "
        f"({columns.option('missing', 'drop')}){hint}"
    )


def _weights(columns: Columns, at: int) -> NDArray[np.float64]:
    name = columns.names[at]
    weights = _floats(columns, at, f"correct it, or read the column as a feature ({columns.option('weight', '')})")
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        raise DataError(
            f"{columns.place(int(negative[0]), at)}: {weights[negative[0]]:g} is no weight, which is at least 0; correct it, or read "
            f"{shown(name)} as a feature ({columns.option('weight', '')})"
        )
    return weights


def _holds_words(columns: Columns, at: int, request: Request) -> bool:
    """Return True for a feature of words alone, or of words in the data to be joined."""
    if request.like is not None:
        known = request.like.origin
        return columns.names[at] in (known.dropped if known.categorical == "drop" else known.categories)
    entries = columns.entries[at]
    if isinstance(entries, np.ndarray):
        return False
    present = {entry for entry, gap in zip(entries, columns.gaps(at).tolist(), strict=True) if not gap}
    return _are_words(columns, present) and all(number(pointed(entry)) is None for entry in present)


def _check_names_of_words(columns: Columns, features: list[int], words: set[int]) -> None:
    """Refuse a feature of words with the name of another feature.

    Further rows find their categories by that name.
    """
    counts = Counter(columns.names[at] for at in features)
    for at in sorted(words):
        if counts[columns.names[at]] > 1:
            name, drop = shown(columns.names[at]), columns.option("drop", f"column {at + 1}")
            raise DataError(
                f"{columns.where}: {counts[columns.names[at]]} features are named {name}, and one holds words to encode; "
                f"give them different names, or drop one ({drop})"
            )


def _feature(columns: Columns, at: int, request: Request, is_words: bool) -> EncodedColumn:
    """Return a feature as a column of numbers, or as those that encode its words."""
    name, fill = columns.names[at], request.missing == "mean"
    if not is_words or request.categorical is None:
        remedy = _feature_remedy(columns, at)
        remedy += f", or encode words or leave them out ({columns.option('categorical', 'one-hot')}, codes or drop)" if is_words else ""
        return EncodedColumn((name,), _floats(columns, at, remedy, fill)[:, np.newaxis], ())
    words, gaps = [format_row_name(entry) for entry in columns.entries[at]], columns.gaps(at)
    known = None if request.like is None else request.like.origin.categories.get(name)
    # A gap is wrong unless it is filled, a word only if the data to be joined do not have it.
    wrong = [row for row, word in enumerate(words) if (gaps[row] and not fill) or not (gaps[row] or known is None or word in known)]
    if wrong:
        row = wrong[0]
        if gaps[row]:
            raise MissingEntry(f"{columns.place(row, at)}: {shown(words[row])} stands for a missing entry; {_missing_hint(columns)}")
        raise DataError(f"{columns.place(row, at)}: {shown(words[row])} is none of the categories {listed(known or ())}; leave the row out")
    try:
        return encode(name, words, gaps, request.categorical, known)
    except DataError as reason:
        raise DataError(f"{columns.where}, column {shown(name)}: {reason}; drop it ({columns.option('drop', name)})") from None


def _missing_hint(columns: Columns) -> str:
    return f"{columns.option('missing', 'drop')} leaves such rows out, {columns.option('missing', 'mean')} fills in means of features"


def _feature_remedy(columns: Columns, at: int) -> str:
    return f"correct it or drop the column ({columns.option('drop', columns.names[at])})"


def _floats(columns: Columns, at: int, remedy: str, fill: bool | None = None) -> NDArray[np.float64]:
    """The numbers of a column, (m,), all finite.

    Parameters
    ----------
    fill : bool or None
        Whether missing entries, as NaN, are allowed; None of a column in which no mean can take
        their place.
    """
    entries, gaps = columns.entries[at], columns.gaps(at)
    if isinstance(entries, np.ndarray):
        values = entries.astype(np.float64)
    else:
        values = np.array([math.nan if value is None else value for value in map(columns.number, entries)])
    values[gaps] = math.nan
    wrong = ~np.isfinite(values) & ~(gaps & bool(fill))
    if wrong.any():
        # A missing entry is named only where no entry is bad: options leave missing ones out, and
        # must not hide the others.
        row = int(np.flatnonzero(wrong & ~gaps if (wrong & ~gaps).any() else wrong)[0])
        text = str(entries[row])
        hint = _comma_hint(columns, text)
        kind = DecimalComma if columns.option("decimal", ",") in hint else DataError
        if gaps[row]:
            kind = MissingEntry
            hint = f"; {columns.option('missing', 'drop')} leaves such rows out" if fill is None else f"; {_missing_hint(columns)}"
        raise kind(f"{columns.place(row, at)}: {shown(text)} is not a finite number; {remedy}{hint}")
    return values


def _comma_hint(columns: Columns, text: str) -> str:
    """What may be meant by the comma, or where commas are decimal points by the point, of what is no number in a text."""
    if columns.header is None:
        return ""
    mark = "point" if columns.decimal == "," else "comma"
    if GROUPED_DIGITS.fullmatch(pointed(text) if columns.decimal == "," else text):
        return f"; write it without a {mark} if that groups its digits"
    if columns.decimal == "." and "," in text and number(text.replace(",", ".")) is not None:
        return f"; if the comma is a decimal point, say so: {columns.option('decimal', ',')}"
    return ""


def _queries(columns: Columns, at: int) -> NDArray[np.int64]:
    """The queries as integers, (m,), where every row has one."""
    gaps = np.flatnonzero(columns.gaps(at))
    if len(gaps):
        place = f"{columns.where}, {columns.unit} {columns.numbers[gaps[0]]}"
        hint = f"give every row a query, or leave such rows out ({columns.option('missing', 'drop')})"
        raise MissingEntry(f"{place}: this row has no query and others have one; {hint}")
    entries = columns.entries[at]
    if not isinstance(entries, np.ndarray):
        return encode_queries([pointed(entry) for entry in entries] if columns.decimal == "," else entries)
    if entries.dtype == np.int64:
        return entries
    if not (np.abs(entries) < EXACT_INTEGERS).all():
        name = shown(columns.names[at])
        raise DataError(f"{columns.where}, column {name}: float64 does not tell queries from 2**53 on apart; renumber them")
    return encode_queries([repr(entry) for entry in entries.tolist()])


def encode_queries(queries: Iterable[str]) -> NDArray[np.int64]:
    """Queries as integers, (m,): as numbers where all are whole ones, so that 1 and 1.0 are the same; else as text, by first appearance."""
    texts = list(queries)
    numbers = [value for text in texts if (value := whole_number(text)) is not None]
    if len(numbers) < len(texts):
        first = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        numbers = [first[text] for text in texts]
    return np.array(numbers, dtype=np.int64)
