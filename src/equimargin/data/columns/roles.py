"""Roles of table columns: target, queries, weights of the rows, and features.

A role is requested by column name, or recognised by the name, ignoring case:

    query     qid, query, query_id
    target    label, target, relevance or class; else y; else the last column without
              another role
    weight    sample_weight; weight, if the target or the query is recognised by its
              name, too: elsewhere it may well be a feature
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from equimargin.data.columns.columns import Columns
from equimargin.data.table import Request
from equimargin.data.words import DataError, listed, shown
from equimargin.option_text import format_option

QUERY_NAMES: Final = ("qid", "query", "query_id")
"""Names, in lower case, of a column that holds queries."""

TARGET_NAMES: Final = ("label", "target", "relevance", "class")
"""Names, in lower case, of a column that holds targets."""

FAINT_TARGET_NAME: Final = "y"
"""Name of a target column if none of TARGET_NAMES occurs; it may be a coordinate."""

WEIGHT_NAME: Final = "sample_weight"
"""Name, in lower case, of a column that holds weights of the rows."""

ID_NAME: Final = "id"
"""Name, in lower case, of the column with the row ids that preferences use."""

FAINT_WEIGHT_NAME: Final = "weight"
"""Name of a weight column if a target or query column is recognised by its name."""

PLACE_NAME: Final = re.compile(r"column ([1-9][0-9]*)")
"""Name of a column by position, from 1, unless a column has that name."""


class Roles(NamedTuple):
    """Indices of the columns of each role, and the source of the target."""

    target: int | None
    target_by: str
    query: int | None
    weight: int | None
    features: list[int]
    dropped: list[int]
    id: int | None


def find_roles(columns: Columns, request: Request) -> Roles:
    """Return the requested or recognised columns of each role.

    Parameters
    ----------
    columns : Columns
        Table column by column.
    request : Request
        Options of `load`.

    Returns
    -------
    Roles
        Indices of the columns.

    Raises
    ------
    DataError
        If a column does not exist or is ambiguous, or no feature is left.
    """
    names, like = columns.names, request.like
    dropped = [
        _position(columns, name, "dropped")
        for name in request.drop
        if like is None or name in names
    ]
    asked = {role: _asked(columns, role, request) for role in ("target", "query", "weight")}
    _check_asked(columns, asked, dropped)
    # Roles are taken from the free columns in this order: query, target, weight, id.
    free = [at for at in range(len(names)) if at not in (*dropped, *asked.values())]
    target, query, weight = asked["target"], asked["query"], asked["weight"]
    target_by = "name" if target is None else "asked"
    if query is None and request.query is None:
        query = _recognised(columns, "query", QUERY_NAMES, free)
    for recognised in (TARGET_NAMES, (FAINT_TARGET_NAME,)):
        if target is None:
            target = _recognised(columns, "target", recognised, free)
    if weight is None and request.weight is None:
        known = query is not None or (
            target is not None and names[target].lower() in (*TARGET_NAMES, FAINT_TARGET_NAME)
        )
        weight = _recognised(
            columns, "weight", (WEIGHT_NAME, FAINT_WEIGHT_NAME) if known else (WEIGHT_NAME,), free
        )
    id = _recognised(columns, "id", (ID_NAME,), free) if request.ranked_by_pairs else None
    if request.has_no_target:
        unused = (target, weight if request.ranked_by_pairs else None)
        dropped += [at for at in unused if at is not None]
        target, weight = None, None if request.ranked_by_pairs else weight
    elif target is None and free:
        target, target_by = free.pop(), "last"
    if not free:
        raise DataError(
            f"{columns.where}: there is no feature column in addition to {listed(names)}; "
            f"supply at least one"
        )
    return Roles(target, target_by, query, weight, free, dropped, id)


def _check_asked(columns: Columns, asked: Mapping[str, int | None], dropped: list[int]) -> None:
    """Refuse a column that is requested in two roles."""
    for role, at in asked.items():
        others = [other for other, place in asked.items() if place == at and other != role]
        if at is not None and (others or at in dropped):
            what = (
                f"as {role} and as {others[0]}; name two different columns"
                if others
                else f"as {role} and to be dropped; choose one"
            )
            raise DataError(f"{columns.where}: column {shown(columns.names[at])} is named {what}")


def _asked(columns: Columns, role: str, request: Request) -> int | None:
    """Return the requested column of a role, or the column of that role in `like`."""
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
        raise DataError(
            f"{columns.where}: there is no column {shown(name)} to be {what}; the columns "
            f"are {listed(columns.names)}"
        )
    if len(places) > 1:
        options = " or ".join(
            format_option("drop" if role == "dropped" else role, f"column {at + 1}")
            for at in places
        )
        raise DataError(
            f"{columns.where}: {len(places)} columns are named {shown(name)}, {what}; choose "
            f"one by position ({options})"
        )
    return places[0]


def _recognised(columns: Columns, role: str, names: Sequence[str], free: list[int]) -> int | None:
    """Return the free column with one of the names, and remove it from the free ones."""
    matches = [at for at in free if columns.names[at].lower() in names]
    if len(matches) > 1:
        several = listed([columns.names[at] for at in matches])
        first = columns.names[matches[0]]
        example = format_option(
            role, first if columns.names.count(first) == 1 else f"column {matches[0] + 1}"
        )
        raise DataError(
            f"{columns.where}: columns {several} could each be the {role}; choose one with "
            f"{role} ({example})"
        )
    if not matches:
        return None
    free.remove(matches[0])
    return matches[0]
