"""Assignment of roles to the columns of a table, and their conversion to numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.columns import Columns
from equimargin.data.columns.conversion import (
    Conversion,
    DecimalComma,
    MissingEntry,
    format_row_name,
    read_feature,
    read_queries,
    read_target,
    read_weights,
)
from equimargin.data.columns.roles import FAINT_WEIGHT_NAME, Roles, find_roles
from equimargin.data.loaded import Origin
from equimargin.data.table import Missing, Request, Table
from equimargin.data.words import MISSING, DataError, number, pointed, shown
from equimargin.option_text import format_option


def assign_roles(columns: Columns, request: Request) -> Table:
    """Assign a role to every column, and convert it to numbers.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    request : Request
        Options of `load`.

    Returns
    -------
    Table
        Features and targets of the rows.

    Raises
    ------
    DataError
        If a column does not exist or has two roles, if there are no features, or if
        entries are not finite numbers.
    """
    roles = find_roles(columns, request)
    # Rows loaded with `like` are encoded as those of `like`.
    if request.like is not None:
        request = replace(request, categorical=request.like.origin.categorical)
    words = {at for at in roles.features if _holds_words(columns, at, request)}
    if request.categorical == "drop" and words:
        rest = [at for at in roles.features if at not in words]
        if not rest:
            raise DataError(
                f"{columns.where}: all feature columns hold words; encode them "
                f"({format_option('categorical', 'one-hot')})"
            )
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
    y: NDArray[Any] | None = (
        np.zeros(m) if roles.target is None else read(read_target, roles.target, task)
    )
    features = {at: read(read_feature, at, request, at in words) for at in roles.features}
    qid = None if roles.query is None else read(read_queries, roles.query)
    weight = None if roles.weight is None else read(read_weights, roles.weight)
    if read.errors or y is None:
        raise _joined(columns, read.errors, words, request)
    blocks = [block for block in features.values() if block is not None]
    names = tuple(name for block in blocks for name in block.names)
    X = np.concatenate([block.X for block in blocks], axis=1, out=np.empty((m, len(names))))
    target, query, weights = (
        None if at is None else columns.names[at]
        for at in (roles.target, roles.query, roles.weight)
    )
    origin = Origin(
        header=columns.header,
        target=target,
        target_by=roles.target_by,
        query=query,
        weight=weights,
        dropped=tuple(columns.names[at] for at in roles.dropped),
        left_out=0 if kept is None else int(np.count_nonzero(~kept)),
        notes=notes,
        categorical=request.categorical,
        categories={
            columns.names[at]: block.categories
            for at, block in features.items()
            if block is not None and block.categories
        },
    )
    return Table(
        X,
        y,
        qid,
        weight,
        names,
        kept=None if kept is None else np.flatnonzero(kept),
        origin=origin,
        ids=ids,
        levels=() if roles.target is None else columns.orders.get(roles.target, ()),
    )


def _joined(
    columns: Columns, errors: Mapping[int, DataError], words: set[int], request: Request
) -> DataError:
    """Return one error for all unusable columns, grouped by the option that is missing."""
    places = sorted(errors)
    undecided = {
        f"words in {{}} ({format_option('categorical', 'one-hot')}, codes or drop)": words
        if request.categorical is None
        else set(),
        f"missing entries in {{}} ({format_option('missing', 'drop')}, or mean for features)": {
            at
            for at in places
            if isinstance(errors[at], MissingEntry)
            or (request.missing is None and columns.gaps(at).any())
        },
        f"decimal commas in {{}} ({format_option('decimal', ',')})": {
            at for at in places if isinstance(errors[at], DecimalComma)
        },
    }
    parts = [
        what.format(", ".join(shown(columns.names[at]) for at in sorted(of)))
        for what, of in undecided.items()
        if of
    ]
    others = [
        errors[at]
        for at in places
        if type(errors[at]) is DataError and not (at in words and request.categorical is None)
    ]
    parts += [str(error).removeprefix(columns.where)[2:] for error in others]
    # A single error keeps its class and its own message.
    if len(errors) == len(parts) == 1:
        return errors[places[0]]
    what = (
        f"{len(errors)} columns need a decision"
        if len(errors) > 1
        else f"1 column needs {len(parts)} decisions"
    )
    return DataError(f"{columns.where}: {what}: {'; '.join(parts)}")


def _ids(columns: Columns, at: int) -> tuple[str, ...]:
    """Return the ids of the rows, which must be distinct."""
    first: dict[str, int] = {}
    for row, name in enumerate(map(format_row_name, columns.entries[at])):
        if first.setdefault(name, row) != row:
            before = f"{columns.unit} {columns.numbers[first[name]]}"
            raise DataError(
                f"{columns.place(row, at)}: {before} has the id {shown(name)}, too; give every "
                f"row a different id"
            )
    return tuple(first)


def _notes(columns: Columns, roles: Roles, missing: Missing | None) -> list[str]:
    """Return sentences on columns that the user may have meant otherwise."""
    names = [
        columns.names[at] for at in roles.features if columns.names[at].lower() == FAINT_WEIGHT_NAME
    ]
    given = (
        []
        if roles.id is None
        else [f"`{columns.names[roles.id]}` identifies the rows in preferences"]
    )
    notes = given + [
        f"`{name}` is a feature ({format_option('weight', name)} makes it the weight of the rows)"
        for name in names
    ]
    taken = [columns.names[at] for at in roles.features]
    notes += [
        f"{count} features are named `{name}`"
        for name, count in Counter(taken).items()
        if count > 1
    ]
    for role in (roles.target, roles.query):
        # In a column of words, a default word for missing entries, such as none, may be
        # a label.
        if role is not None and missing == "drop" and columns.na == MISSING:
            words = " and ".join(f"`{word}`" for word in columns.absent_among_words(role) if word)
            option = format_option("na", "")
            notes += (
                [f"{words} of `{columns.names[role]}` left out as missing ({option} keeps it)"]
                if words
                else []
            )
    return notes


def _without_missing(
    columns: Columns, roles: Roles, missing: Missing | None
) -> tuple[Columns, NDArray[np.bool_] | None]:
    """Return the rows without a missing entry and their mask; all and None unless "drop"."""
    if missing != "drop":
        return columns, None
    kept = np.ones(len(columns.numbers), dtype=np.bool_)
    for at in (*roles.features, roles.target, roles.query, roles.weight):
        if at is not None:
            kept &= ~columns.gaps(at)
    if not kept.any():
        raise DataError(
            f"{columns.where}: every row has a missing entry, so that none is left; drop "
            f"the columns that are mostly empty"
        )
    rows = np.flatnonzero(kept).tolist()
    entries = tuple(
        values[kept] if isinstance(values, np.ndarray) else [values[row] for row in rows]
        for values in columns.entries
    )
    return replace(columns, entries=entries, numbers=[columns.numbers[row] for row in rows]), kept


def _holds_words(columns: Columns, at: int, request: Request) -> bool:
    """Return True for a column of words; with `like`, if `like` encoded or dropped it."""
    if request.like is not None:
        known = request.like.origin
        return columns.names[at] in (
            known.dropped if known.categorical == "drop" else known.categories
        )
    entries = columns.entries[at]
    if isinstance(entries, np.ndarray):
        return False
    present = {
        entry for entry, gap in zip(entries, columns.gaps(at).tolist(), strict=True) if not gap
    }
    return columns.are_words(present) and all(number(pointed(entry)) is None for entry in present)


def _check_names_of_words(columns: Columns, features: list[int], words: set[int]) -> None:
    """Refuse a feature of words with the name of another feature.

    Rows loaded with `like` find their categories by that name.
    """
    counts = Counter(columns.names[at] for at in features)
    for at in sorted(words):
        if counts[columns.names[at]] > 1:
            name, drop = shown(columns.names[at]), format_option("drop", f"column {at + 1}")
            raise DataError(
                f"{columns.where}: {counts[columns.names[at]]} features are named {name}, "
                f"and one holds words to encode; "
                f"give them different names, or drop one ({drop})"
            )
