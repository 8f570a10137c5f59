"""The graph of the links as an arc diagram: formulations in a column, by subject and family, and an arc to the right for every link.

Names stand to the left of all arcs, so that no arc runs through one. Every name leads to its page, and every arc to its link there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from equimargin.formulations import REGISTRY, families
from equimargin.formulations.links.kinds import Link

SUBJECTS = {
    "svm": "Classification",
    "svr": "Regression",
    "rank": "Ranking",
    "rvm": "Ranking",
    "ord": "Ordinal regression",
    "coupling": "Probabilities of several classes",
}
"""The subject of a family, by the beginning of its id."""
OTHERS = "Other problems of the field"
"""The subject of all other families."""
ROW = 20
"""Pixels from one formulation to the next."""
HEADING = 30
"""Pixels of the line above a family's first formulation."""
NAMES = 300
"""Pixels that the names take in width."""
LANE = 7
"""Pixels between two arcs that pass the same row."""


class Row(NamedTuple):
    """A name in the column: of a subject, a family or a formulation.

    name : the id, or the subject.  kind : "subject", "family", "formulation" or "control".  y : pixels from the top.
    """

    name: str
    kind: str
    y: int


class Arc(NamedTuple):
    """A link between two rows.

    link : of the table.  path : the line, in SVG.
    """

    link: Link
    path: str


class Diagram(NamedTuple):
    """The arc diagram, in pixels; names end where `names` says."""

    names: int
    rows: list[Row]
    arcs: list[Arc]
    width: int
    height: int


def subject_of(family: str) -> str:
    """The subject under which a family stands."""
    return SUBJECTS.get(family.partition(".")[0], OTHERS)


def by_subject() -> dict[str, list[str]]:
    """All families, by subject."""
    order = [*dict.fromkeys(SUBJECTS.values()), OTHERS]
    placed = {subject: [family for family in families() if subject_of(family) == subject] for subject in order}
    return {subject: found for subject, found in placed.items() if found}


def diagram(chosen: Iterable[str], links: Sequence[Link]) -> Diagram:
    """The arc diagram of some families.

    Parameters
    ----------
    chosen : ids of families.  links : the table; those with an end outside these families, or with two equal ends, are left out.
    """
    wanted = set(chosen)
    rows, y = [], 0
    for subject, names in by_subject().items():
        inside = [family for family in names if family in wanted]
        if inside and len(wanted) > 1:
            y += HEADING
            rows.append(Row(subject, "subject", y))
        for family in inside:
            y += HEADING
            rows.append(Row(family, "family", y))
            for entry in sorted((entry for entry in REGISTRY.values() if entry.family == family), key=lambda entry: entry.control):
                y += ROW
                rows.append(Row(entry.id, "control" if entry.control else "formulation", y))
    places = {row.name: row.y for row in rows if row.kind in ("formulation", "control")}
    drawn = [link for link in links if link.a != link.b and link.a in places and link.b in places]
    arcs, lanes = _routed(drawn, places)
    return Diagram(NAMES, rows, arcs, NAMES + LANE * (lanes + 2), y + ROW)


def _routed(links: Sequence[Link], places: dict[str, int]) -> tuple[list[Arc], int]:
    """Every arc in the nearest lane in which none that overlaps runs, the short arcs first; and how many lanes there are."""
    taken: list[list[tuple[int, int]]] = []
    arcs = []
    for link in sorted(links, key=lambda link: abs(places[link.a] - places[link.b])):
        top, bottom = sorted((places[link.a], places[link.b]))
        lane = next((k for k, spans in enumerate(taken) if all(bottom < low or top > high for low, high in spans)), len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((top, bottom))
        x, bend = NAMES + LANE * (lane + 1), min(LANE, (bottom - top) // 2)
        path = f"M{NAMES} {top} H{x - bend} Q{x} {top} {x} {top + bend} V{bottom - bend} Q{x} {bottom} {x - bend} {bottom} H{NAMES}"
        arcs.append(Arc(link, path))
    return arcs, len(taken)
