"""How far a study is, and what its answers prove together, problem by problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equimargin.formulations.bounds.intervals import Interval

OF_PROBLEM = (
    "data",
    "digest",
    "task",
    "sample",
    "scale",
    "seed",
    "epsilon",
    "kernel",
    "C",
    "family",
)
"""What answers to one problem have in common."""

OF_DATA = ("data", "digest", "task", "sample", "scale", "epsilon")
"""What answers on one data set, sampled and scaled in one way, have in common."""
DIGITS_SHOWN = 8
"""Hexadecimal digits of a digest that a person reads: two data sets of a study share them once in four thousand million times."""


def data_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What OF_DATA lists, of a row."""
    return tuple(row[name] for name in OF_DATA)


def labels(sets: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """What data sets are called, each by its `data_key`: by its name, and where others have the same one by what tells it from them."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in dict.fromkeys(sets):
        groups.setdefault(each[0], []).append(dict(zip(OF_DATA, each, strict=True)))
    found = {}
    for name, group in groups.items():
        differing = [what for what in OF_DATA[1:] if len({row[what] for row in group}) > 1]
        for row in group:
            told = [_told(what, row[what]) for what in differing]
            found[data_key(row)] = f"{name} ({', '.join(told)})" if told else name
    return found


def _told(what: str, value: Any) -> str:
    """What tells a data set from others of its name, in words."""
    if what == "scale":
        return "scaled" if value else "not scaled"
    if what == "sample":
        return "all rows" if value is None else f"sample {value}"
    if what == "epsilon":
        return "no epsilon" if value is None else f"epsilon {value:g}"
    return f"digest {value[:DIGITS_SHOWN]}" if what == "digest" else str(value)


@dataclass(frozen=True)
class Progress:
    """How far a study is.

    Parameters
    ----------
    sets : list[dict[str, Any]]
        Of every data set how many answers are asked for, answered, leased, solved,
        failed and skipped.
    holders : list[dict[str, Any]]
        The processes that are at work, with the answers that each has leased.
    seconds_left : float | None
        About how long it takes still; None where nobody is at work, or too little is
        done yet.
    """

    sets: list[dict[str, Any]]
    holders: list[dict[str, Any]]
    seconds_left: float | None = None

    def total(self, what: str) -> int:
        """The sum over all data sets."""
        return sum(row[what] for row in self.sets)

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return self.total("answered") == self.total("asked")

    @property
    def sentence(self) -> str:
        """How far it is, in words."""
        parts = (
            f"{self.total('solved')} solved, {self.total('failed')} failed, "
            f"{self.total('skipped')} skipped"
        )
        said = f"{self.total('answered')} of {self.total('asked')} answers: {parts}"
        if self.complete:
            return said
        if not self.holders:
            return f"{said}; nobody is at work on it"
        many = f"{len(self.holders)} process{'es' if len(self.holders) > 1 else ''} at work"
        return f"{said}; {many}" + (
            "" if self.seconds_left is None else f", about {duration(self.seconds_left)} left"
        )


@dataclass(frozen=True)
class StudiedProblem:
    """A problem of a study, and what its answers prove of its optimum together.

    Parameters
    ----------
    terms : dict[str, Any]
        What OF_PROBLEM lists, by name.
    interval : Interval
        The intersection of the intervals of all answers.
    answers : list[dict[str, Any]]
        Their records.
    """

    terms: dict[str, Any]
    interval: Interval
    answers: list[dict[str, Any]]

    @property
    def solved(self) -> list[dict[str, Any]]:
        """The answers that solved it, the fastest first."""
        return sorted(
            (row for row in self.answers if row["ok"]), key=lambda row: row["cpu_seconds"]
        )

    @property
    def against(self) -> bool:
        """Whether proven bounds contradict each other, or the value of an answer is far from what its own point proves."""
        return self.interval.lower > self.interval.upper or any(
            row["agreement"] == "disagrees" for row in self.answers
        )


def group_by_problem(records: Sequence[dict[str, Any]]) -> list[StudiedProblem]:
    """The problems of records, each with its own."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in records:
        groups.setdefault(tuple(row[name] for name in OF_PROBLEM), []).append(row)
    return [
        StudiedProblem(dict(zip(OF_PROBLEM, terms, strict=True)), _common(rows), rows)
        for terms, rows in groups.items()
    ]


def _common(rows: Sequence[dict[str, Any]]) -> Interval:
    """The intersection of the intervals of some answers."""
    lower = max((row["lower"] for row in rows if row["lower"] is not None), default=float("-inf"))
    upper = min((row["upper"] for row in rows if row["upper"] is not None), default=float("inf"))
    return Interval(lower, upper)


def duration(seconds: float) -> str:
    """A time as people say it."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}s"
    return f"{seconds:.0f} s"
