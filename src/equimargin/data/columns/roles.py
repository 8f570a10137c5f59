"""The roles of the columns of a table: its target, its queries, the weights of its rows, and its features.

A role is asked for by name, or recognised by the name of a column, in any case:

    query     qid, query, query_id
    target    label, target, relevance or class; else y; else the last column that has no other role
    weight    sample_weight; weight, where the target or the query is recognised by its name, too: elsewhere it may well be a feature
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from equimargin.data.columns.columns import Columns
from equimargin.data.table import Request
from equimargin.data.words import DataError, listed, shown

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

PLACE_NAME: Final = re.compile(r"column ([1-9][0-9]*)")
"""Name of a column by its place, from 1, unless a column has that name."""


class Roles(NamedTuple):
    """The places of the columns of each role, and how the target was found."""

    target: int | None
    target_by: str
    query: int | None
    weight: int | None
    features: list[int]
    dropped: list[int]
    id: int | None


def find_roles(columns: Columns, request: Request) -> Roles:
    """Return the places of the columns of each role, asked for or recognised."""
    names, like = columns.names, request.like
    dropped = [
        _position(columns, name, "dropped")
        for name in request.drop
        if like is None or name in names
    ]
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
        known = query is not None or (
            target is not None and names[target].lower() in (*TARGET_NAMES, FAINT_TARGET_NAME)
        )
        weight = _recognised(
            columns, "weight", (WEIGHT_NAME, FAINT_WEIGHT_NAME) if known else (WEIGHT_NAME,), free
        )
    id = _recognised(columns, "id", (ID_NAME,), free) if request.ranked_by_pairs else None
    if request.ranked_by_pairs:
        dropped += [at for at in (target, weight) if at is not None]
        target = weight = None
    elif target is None and free:
        target, target_by = free.pop(), "last"
    if not free:
        raise DataError(
            f"{columns.where}: there is no feature column beside {listed(names)}; supply at "
            f"least one"
        )
    return Roles(target, target_by, query, weight, free, dropped, id)


def _check_asked(columns: Columns, asked: Mapping[str, int | None], dropped: list[int]) -> None:
    """Refuse a column that was asked for in two roles."""
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
        raise DataError(
            f"{columns.where}: there is no column {shown(name)} to be {what}; the columns "
            f"are {listed(columns.names)}"
        )
    if len(places) > 1:
        which = " or ".join(
            columns.option("drop" if role == "dropped" else role, f"column {at + 1}")
            for at in places
        )
        raise DataError(
            f"{columns.where}: {len(places)} columns are named {shown(name)}, {what}; say "
            f"which by its place ({which})"
        )
    return places[0]


def _recognised(columns: Columns, role: str, names: Sequence[str], free: list[int]) -> int | None:
    """The place of the free column with one of the names, which is then no longer free."""
    found = [at for at in free if columns.names[at].lower() in names]
    if len(found) > 1:
        several = listed([columns.names[at] for at in found])
        first = columns.names[found[0]]
        example = columns.option(
            role, first if columns.names.count(first) == 1 else f"column {found[0] + 1}"
        )
        raise DataError(
            f"{columns.where}: columns {several} could each be the {role}; say which with "
            f"{role} ({example})"
        )
    if not found:
        return None
    free.remove(found[0])
    return found[0]
