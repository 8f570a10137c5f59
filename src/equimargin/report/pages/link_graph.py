"""The graph of the links between the formulations that were compared, as arcs at the left of their names.

A link is a pattern of its line and a sign in its middle, by its kind. A line never crosses a name: names are at the right of all arcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from equimargin.formulations import REGISTRY
from equimargin.formulations.links.kinds import Link
from equimargin.formulations.links.table import LINKS
from equimargin.proofs import Agreement
from equimargin.report.pages.drawing import OF_AGREEMENT, Element, Picture, cut, symbol, text
from equimargin.report.view import FamilyView

SIGNS = {"equivalence": "=", "strong equivalence": "≡", "rescaling": "∝", "relaxation": "≤", "not equivalent": "≠"}
"""The sign of a link by its kind."""
WORDS = {
    "equivalence": "equal optima, with maps of optimal points",
    "strong equivalence": "every feasible point maps to one of the same value",
    "rescaling": "the same problem on another scale",
    "relaxation": "the one optimum bounds the other",
    "not equivalent": "optima differ on a counterexample",
}
"""What a kind of link means."""
ROW, HEAD = 18.0, 24.0
"""Units in height of a formulation and of the name of a family."""
NAMES = 190.0
"""Units from the left at which names begin."""
LETTERS = 30
"""Letters of a name that have room."""
DEEPEST = 236.0
"""Units that the control points of an arc are at the left of the names at most; its middle is three quarters of that away."""
CAPTION = (
    "Arcs are links, each with the sign of its kind. The symbol before a formulation is what the referee says of its answers. "
    "One in italics is a control, which is wrong on purpose or a look-alike."
)
"""How the graph is read."""
SEVERITY = (Agreement.DISAGREES, Agreement.FAILED, Agreement.INACCURATE, Agreement.AGREES, Agreement.SKIPPED)
"""Agreements, the one that a reader must see most first."""


@dataclass(frozen=True)
class Graph:
    """The picture, and its links in words."""

    picture: Picture
    """The picture."""
    links: Sequence[tuple[str, str, str, str, str]]
    """From, kind, to, statement, and theorem or another proof, of every link."""


def link_graph(families: Sequence[FamilyView]) -> Graph | None:
    """Return the graph of the formulations of some families; None where they have no links."""
    compared = list(dict.fromkeys(family.id for family in families))
    ids = [entry.id for name in compared for entry in REGISTRY.values() if entry.family == name]
    links = [link for link in LINKS if link.a in ids and link.b in ids and link.a != link.b]
    if not links:
        return None
    worst: dict[str, Agreement] = {}
    for answer in (answer for family in families for answer in family.answers):
        id = answer.run.formulation or ""
        worst[id] = min(worst.get(id, Agreement.SKIPPED), answer.agreement, key=SEVERITY.index)
    places, elements, height = _names(compared, ids, worst)
    elements = [*_arcs(links, places), *elements]
    kinds = [kind for kind in SIGNS if any(link.kind == kind for link in links)]
    legend = [(text(SIGNS[kind], 8, 12, "sign", "middle"), f"{kind}: {WORDS[kind]}") for kind in kinds]
    said = "; ".join(f"{link.a} {SIGNS[link.kind]} {link.b}" for link in links)
    picture = Picture("links", "Links between the formulations", said, height, elements, CAPTION, legend)
    return Graph(picture, [(link.a, link.kind, link.b, link.statement, link.status) for link in links])


def _names(families: Sequence[str], ids: Sequence[str], worst: Mapping[str, Agreement]) -> tuple[dict[str, float], list[Element], float]:
    """Return heights of the formulations, their names with those of their families, and the whole height."""
    places: dict[str, float] = {}
    elements = []
    y = 0.0
    for family in families:
        y += HEAD
        elements.append(text(family, NAMES, y - 5, "head"))
        for id in (id for id in ids if REGISTRY[id].family == family):
            places[id] = y + ROW / 2
            agreement = worst.get(id, Agreement.SKIPPED)
            elements.append(symbol(OF_AGREEMENT[agreement], NAMES + 6, places[id], str(agreement), f"{id}: {agreement}"))
            style = "row control" if REGISTRY[id].control else "row"
            elements.append(text(cut(id, LETTERS), NAMES + 16, places[id] + 3.5, style, title=id))
            y += ROW
    return places, elements, y + 8


def _arcs(links: Sequence[Link], places: Mapping[str, float]) -> Iterator[Element]:
    """Yield the arcs, the longest below; of several between the same two formulations each lies further out than the one before."""
    longest = max(abs(places[link.a] - places[link.b]) for link in links)
    seen: dict[frozenset[str], int] = {}
    signs = []
    for link in sorted(links, key=lambda link: -abs(places[link.a] - places[link.b])):
        before = seen[frozenset((link.a, link.b))] = seen.get(frozenset((link.a, link.b)), -1) + 1
        top, bottom = sorted((places[link.a], places[link.b]))
        out = min(30 + (DEEPEST - 60) * sqrt((bottom - top) / longest) + 26 * before, DEEPEST)
        x, kind = NAMES - 2, link.kind.replace(" ", "-")
        said = f"{link.a} {SIGNS[link.kind]} {link.b}: {link.statement}"
        path = f"M{x} {round(top, 2)}C{round(x - out, 2)} {round(top, 2)} {round(x - out, 2)} {round(bottom, 2)} {x} {round(bottom, 2)}"
        yield Element("path", {"d": path, "class": f"arc {kind}"}, title=said)
        signs.append(text(SIGNS[link.kind], x - 0.75 * out, (top + bottom) / 2 + 4, f"sign {kind}", "middle", said))
    yield from signs
