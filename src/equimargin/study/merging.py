"""Merge of the databases of a study whose parts were run in several places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from equimargin.solvers.problem_file import whole
from equimargin.study.database import Database
from equimargin.study.summary import common_interval

DISAGREES = "disagrees"
"""Agreement of an answer that is wrong."""
Rows = list[tuple[Path, dict[str, Any]]]
"""Rows of one answer, each with its database."""


def merge(parts: Sequence[str | Path], file: str | Path) -> int:
    """Write the requests and answers of several databases into a new one.

    Equal answers are one: the first that is not late or failed, else the first. Leases are
    not merged, so that a part may still be running.

    Parameters
    ----------
    parts : sequence of str or Path
        Databases, at least two.
    file : str or Path
        Database to write, whole or not at all.

    Returns
    -------
    int
        Number of answers that several parts have.

    Raises
    ------
    ValueError
        If there are fewer than two parts, the file exists, or two rows of one answer
        contradict each other.
    StudyError
        If a part cannot be read, or the file cannot be written.
    """
    paths, target = [Path(part) for part in parts], Path(file)
    if len(paths) < 2:
        raise ValueError("a merge needs two databases at least; name those of all parts")
    if target.exists():
        raise ValueError(f"{target} exists already; name a new file for the merged study")
    # SQLite would write the pages of an earlier database of this name into the new one.
    for rest in (Path(f"{target.resolve()}-{kind}") for kind in ("wal", "shm", "journal")):
        if rest.exists():
            raise ValueError(
                f"{rest} is left of an earlier database {target}; remove it, or name another file "
                f"for the merged study"
            )
    about: list[dict[str, str]] = []
    requests: dict[str, dict[str, Any]] = {}
    rows: dict[str, Rows] = {}
    provenances: dict[str, dict[str, Any]] = {}
    for path in paths:
        # Answers first: what they refer to is not deleted while the part is running.
        with Database(path) as opened:
            for row in opened.answers():
                rows.setdefault(row["key"], []).append((path, row))
            provenances |= opened.provenances()
            for request in opened.requests():
                known = requests.setdefault(request["key"], request)
                known["deaths"] = max(known["deaths"], request["deaths"])
            about.append(opened.about())
    _refuse_contradictions(rows, target)
    plans = dict.fromkeys(each.get("plan", "") for each in about)
    described = about[0] | {"plan": "\n".join(plans)}
    with whole(target) as new, Database(new, writes=True) as merged:
        merged.fill(described, list(requests.values()), [*map(_best, rows.values())], provenances)
    return sum(len(found) > 1 for found in rows.values())


def _best(found: Rows) -> dict[str, Any]:
    """Return the first row that is an answer, else the first."""
    return max((row for _, row in found), key=_is_answer)


def _is_answer(row: dict[str, Any]) -> bool:
    """Return True if a row has solved its problem, rightly or not."""
    return bool(row["ok"]) or row["agreement"] == DISAGREES


def _refuse_contradictions(rows: Mapping[str, Rows], file: Path) -> None:
    """Raise a ValueError if rows of one answer contradict each other."""
    against = [
        (first, other)
        for found in rows.values()
        for first, other in combinations(found, 2)
        if _contradict(first[1], other[1])
    ]
    if not against:
        return
    (one, row), (two, other) = against[0]
    count = f"{len(against)} answer{'s' * (len(against) != 1)}"
    names = ("family", "formulation", "solver", "data", "seed", "kernel", "C")
    terms = ", ".join(f"{name} {row[name]}" for name in names if row[name] is not None)
    raise ValueError(
        f"{one} and {two} contradict each other on {count}, and {file} is not written; the first "
        f"is {terms}: {_told(row)} in {one}, {_told(other)} in {two}; run it again, and find out "
        f"which machine or version is wrong"
    )


def _contradict(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return True if two rows of one answer cannot both be right.

    They contradict each other if their proven bounds do not meet, or if both are answers
    and only one disagrees with its own bounds, or only one has a value, as of an
    infeasible problem.
    """
    interval = common_interval([row, other])
    told = [(each["agreement"] == DISAGREES, each["value"] is None) for each in (row, other)]
    return interval.lower > interval.upper or (
        _is_answer(row) and _is_answer(other) and told[0] != told[1]
    )


def _told(row: dict[str, Any]) -> str:
    """Return the result of a row as text."""
    ends = (
        ("-inf" if row["lower"] is None else f"{row['lower']:.10g}"),
        ("inf" if row["upper"] is None else f"{row['upper']:.10g}"),
    )
    value = "no value" if row["value"] is None else f"{row['value']:.10g}"
    return f"{value} ({row['status']}, {row['agreement']}) with bounds [{ends[0]}, {ends[1]}]"
