"""Progress of a study, and the joint bounds of its answers, problem by problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equimargin.formulations.bounds.intervals import Interval
from equimargin.report.words import duration

OF_DATA = ("data", "digest", "task", "sample", "scale", "epsilon")
"""Columns shared by answers on one data set with the same sampling and scaling."""
OF_PROBLEM = (*OF_DATA, "seed", "kernel", "C", "family")
"""Columns shared by answers to one problem."""
DIGITS_SHOWN = 8
"""Number of hexadecimal digits of a digest that are displayed.

Two different data sets share these digits with probability 2^-32.
"""


def data_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the columns OF_DATA of a row.

    Parameters
    ----------
    row : mapping
        Row.
    """
    return tuple(row[name] for name in OF_DATA)


def labels(sets: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Return the displayed names of data sets, by `data_key`.

    Data sets of equal name also get the columns in which they differ.

    Parameters
    ----------
    sets : iterable of tuple
        Values of `data_key`.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for key_values in dict.fromkeys(sets):
        groups.setdefault(key_values[0], []).append(dict(zip(OF_DATA, key_values, strict=True)))
    names = {}
    for name, group in groups.items():
        differing = [column for column in OF_DATA[1:] if len({row[column] for row in group}) > 1]
        for row in group:
            differences = [_told(column, row[column]) for column in differing]
            names[data_key(row)] = f"{name} ({', '.join(differences)})" if differences else name
    return names


def _told(what: str, value: Any) -> str:
    """Return a column in which data sets differ, as text."""
    if what == "scale":
        return "scaled" if value else "not scaled"
    if what == "sample":
        return "all rows" if value is None else f"sample {value}"
    if what == "epsilon":
        return "no epsilon" if value is None else f"epsilon {value:g}"
    return f"digest {value[:DIGITS_SHOWN]}" if what == "digest" else str(value)


@dataclass(frozen=True)
class Progress:
    """Progress of a study.

    Parameters
    ----------
    sets : list of dict
        Numbers of answers per data set: requested, answered, leased, solved, failed and
        skipped.
    holders : list of dict
        Running processes, with the numbers of their leases.
    seconds_left : float or None
        Estimate of the remaining time, in seconds; None if no process is running, or
        too few answers are done.
    """

    sets: list[dict[str, Any]]
    holders: list[dict[str, Any]]
    seconds_left: float | None = None

    def total(self, what: str) -> int:
        """Return the sum of a count over all data sets.

        Parameters
        ----------
        what : str
            Name of the count.
        """
        return sum(row[what] for row in self.sets)

    @property
    def complete(self) -> bool:
        """True if every answer has a row."""
        return self.total("answered") == self.total("asked")

    @property
    def sentence(self) -> str:
        """Progress as text."""
        parts = (
            f"{self.total('solved')} solved, {self.total('failed')} failed, "
            f"{self.total('skipped')} skipped"
        )
        text = f"{self.total('answered')} of {self.total('asked')} answers: {parts}"
        if self.complete:
            return text
        if not self.holders:
            return f"{text}; no process is running"
        running = f"{len(self.holders)} process{'es' if len(self.holders) > 1 else ''} running"
        return f"{text}; {running}" + (
            "" if self.seconds_left is None else f", about {duration(self.seconds_left)} left"
        )


@dataclass(frozen=True)
class StudiedProblem:
    """Problem of a study, with the joint bounds of its answers.

    Parameters
    ----------
    terms : dict
        Values of the columns OF_PROBLEM.
    interval : Interval
        Intersection of the intervals of all answers.
    answers : list of dict
        Records of the answers.
    """

    terms: dict[str, Any]
    interval: Interval
    answers: list[dict[str, Any]]

    @property
    def solved(self) -> list[dict[str, Any]]:
        """Answers that solved the problem, the fastest first."""
        return sorted(
            (row for row in self.answers if row["ok"]), key=lambda row: row["cpu_seconds"]
        )

    @property
    def against(self) -> bool:
        """True if proven bounds are inconsistent, or an answer disagrees with them.

        An answer disagrees if its value is far from what its own point proves.
        """
        return self.interval.lower > self.interval.upper or any(
            row["agreement"] == "disagrees" for row in self.answers
        )


def group_by_problem(records: Sequence[dict[str, Any]]) -> list[StudiedProblem]:
    """Group records by problem.

    Parameters
    ----------
    records : sequence of dict
        Answers.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in records:
        groups.setdefault(tuple(row[name] for name in OF_PROBLEM), []).append(row)
    return [
        StudiedProblem(dict(zip(OF_PROBLEM, terms, strict=True)), common_interval(rows), rows)
        for terms, rows in groups.items()
    ]


def common_interval(rows: Sequence[dict[str, Any]]) -> Interval:
    """Return the intersection of the intervals of some answers.

    Parameters
    ----------
    rows : sequence of dict
        Answers to one problem.
    """
    lower = max((row["lower"] for row in rows if row["lower"] is not None), default=float("-inf"))
    upper = min((row["upper"] for row in rows if row["upper"] is not None), default=float("inf"))
    return Interval(lower, upper)
