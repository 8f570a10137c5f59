"""Graph of the links: names of formulations, and their relations as arcs at the right.

A link has a line pattern, and a sign in its middle, by its kind. Overlapping arcs run
in separate lanes, and none crosses a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from equimargin.formulations import REGISTRY, Formulation
from equimargin.formulations.links.kinds import Link
from equimargin.formulations.links.table import LINKS
from equimargin.proofs import Agreement
from equimargin.report.pages.drawing import (
    OF_AGREEMENT,
    PICTURE_WIDTH,
    Element,
    Picture,
    symbol,
    text,
)
from equimargin.report.view import FamilyView
from equimargin.report.words import cut


class Kind(NamedTuple):
    """Style of a kind of link.

    Parameters
    ----------
    sign : str
        Sign in the middle of its line.
    meaning : str
        Relation of the two optima.
    color : str
        Colour, visible on white and on black.
    dashes : str
        Lengths of dashes and gaps, in picture units; "" for a solid line.
    """

    sign: str
    meaning: str
    color: str
    dashes: str


KINDS = {
    "equivalence": Kind("=", "equal optima, with maps of optimal points", "#3a7fc0", ""),
    "strong equivalence": Kind(
        "≡", "equal values, with maps of feasible points", "#2b955a", "12 2"
    ),
    "rescaling": Kind("∝", "the same problem on another scale", "#9468c4", "8 3 2 3"),
    "relaxation": Kind("≤", "one optimum bounds the other", "#b07d2b", "5 4"),
    "not equivalent": Kind("≠", "optima differ on a counterexample", "#d6494e", "1.5 3"),
}
"""Style of each kind of link."""
SUBJECTS = {
    "svm": "Classification",
    "svr": "Regression",
    "rank": "Ranking",
    "rvm": "Ranking",
    "ord": "Ordinal regression",
    "coupling": "Probabilities of several classes",
}
"""Subject of a family, by the prefix of its id."""
OTHERS = "Other problems of the field"
"""Subject of all other families."""
ROW, HEAD = 18.0, 24.0
"""Height of a formulation, and of the name of a family or a subject, in picture units."""
NAMES = 212.0
"""Position, from the left, at which names end and arcs begin, in picture units."""
LETTERS = 32
"""Number of letters of a name that fit."""
LANE = 14.0
"""Maximum distance of two lanes of arcs, in picture units."""
CAPTION = (
    "Arcs are links, each with the sign of its kind. The symbol after a formulation shows the "
    "worst agreement of its answers. A name in italics is a negative control, a formulation "
    "that is wrong on purpose or nonequivalent."
)
"""Explanation of the graph of a comparison."""
SEVERITY = (
    Agreement.DISAGREES,
    Agreement.FAILED,
    Agreement.INACCURATE,
    Agreement.AGREES,
    Agreement.SKIPPED,
)
"""Agreements, the gravest first."""
Address = Callable[[str | Link], str]
"""Function from a family, a formulation or a link to its address."""


def link_graph(families: Sequence[FamilyView]) -> Picture | None:
    """Return the graph of the formulations of some families; None without links.

    Parameters
    ----------
    families : sequence of FamilyView
        Views of the families.

    Returns
    -------
    Picture or None
        Picture.
    """
    compared = list(dict.fromkeys(family.id for family in families))
    return draw_links(compared, CAPTION, said=_said(families)) if links_between(compared) else None


def draw_links(
    families: Sequence[str],
    caption: str = "",
    said: Mapping[str, Agreement] | None = None,
    address: Address | None = None,
) -> Picture:
    """Draw the formulations of some families, and the links between them.

    Parameters
    ----------
    families : sequence of str
        Ids of the families.
    caption : str, default ""
        Text below the picture.
    said : mapping of str to Agreement, optional
        Gravest agreement of each formulation; None for a graph without answers.
    address : Address, optional
        Function to the address of a name or an arc; None for no hyperlinks.
    """
    # `y` is the lower edge of the rows drawn so far; arcs are drawn behind the names.
    places: dict[str, float] = {}
    elements, y, end = [], 0.0, NAMES - (6 if said is None else 18)
    subjects = by_subject(families)
    for subject, members in subjects.items():
        if len(subjects) > 1:
            y += HEAD
            elements.append(_word(subject, 0, y - 5, "head", font_size=14))
        for family in members:
            y += HEAD
            elements.append(
                _leading(_word(family, 8, y - 5, "head", title=family), address, family)
            )
            for entry in family_members(family):
                style, shown = "row control" if entry.control else "row", cut(entry.id, LETTERS)
                elements.append(
                    _leading(
                        _word(shown, end, y + ROW / 2 + 3.5, style, "end", title=entry.id),
                        address,
                        entry.id,
                    )
                )
                if said is not None:
                    agreement = said.get(entry.id, Agreement.SKIPPED)
                    mark = OF_AGREEMENT[agreement]
                    elements.append(
                        symbol(
                            mark, NAMES - 8, y + ROW / 2, str(agreement), f"{entry.id}: {agreement}"
                        )
                    )
                places[entry.id] = y + ROW / 2
                y += ROW
    links = links_between(families)
    elements = [*_arcs(links, places, address), *elements]
    for name in (name for name in KINDS if any(link.kind == name for link in links)):
        y += ROW
        elements += [
            _line([(8, y), (38, y)], name),
            _word(KINDS[name].sign, 23, y + 4, "sign", "middle", font_size=12),
        ]
        elements.append(_word(f"{name}: {KINDS[name].meaning}", 46, y + 3.5))
    words = "; ".join(f"{link.a} {KINDS[link.kind].sign} {link.b}" for link in links)
    return Picture("links", "Links between the formulations", words, y + ROW, elements, caption)


def by_subject(families: Sequence[str]) -> dict[str, list[str]]:
    """Group families by subject.

    Parameters
    ----------
    families : sequence of str
        Ids of the families.
    """
    groups: dict[str, list[str]] = {subject: [] for subject in (*SUBJECTS.values(), OTHERS)}
    for family in families:
        groups[SUBJECTS.get(family.partition(".")[0], OTHERS)].append(family)
    return {subject: members for subject, members in groups.items() if members}


def family_members(family: str) -> list[Formulation]:
    """Return the formulations of a family, negative controls last.

    Parameters
    ----------
    family : str
        Id of the family.
    """
    return sorted(
        (entry for entry in REGISTRY.values() if entry.family == family),
        key=lambda entry: entry.control,
    )


def links_between(families: Sequence[str]) -> list[Link]:
    """Return the links between two different formulations of some families.

    Parameters
    ----------
    families : sequence of str
        Ids of the families.
    """
    ids = {entry.id for entry in REGISTRY.values() if entry.family in families}
    return [link for link in LINKS if link.a in ids and link.b in ids and link.a != link.b]


def _said(families: Sequence[FamilyView]) -> Mapping[str, Agreement]:
    """Return the gravest agreement of the answers of every formulation."""
    gravest: dict[str, Agreement] = {}
    for answer in (answer for family in families for answer in family.answers):
        id = answer.run.formulation
        if id is not None:
            gravest[id] = min(
                gravest.get(id, Agreement.SKIPPED), answer.agreement, key=SEVERITY.index
            )
    return gravest


def _arcs(
    links: Sequence[Link], places: Mapping[str, float], address: Address | None
) -> Iterator[Element]:
    """Yield the arcs, longest first.

    Each has the nearest lane without an overlap; short arcs choose first.
    """
    lanes: list[list[tuple[float, float]]] = []
    routed = []
    for link in sorted(links, key=lambda link: abs(places[link.a] - places[link.b])):
        top, bottom = sorted((places[link.a], places[link.b]))
        lane = next(
            (
                k
                for k, spans in enumerate(lanes)
                if all(bottom < low or top > high for low, high in spans)
            ),
            len(lanes),
        )
        lanes[lane:] = lanes[lane:] or [[]]
        lanes[lane].append((top, bottom))
        routed.append((link, lane, top, bottom))
    step = min(LANE, (PICTURE_WIDTH - NAMES) / (len(lanes) + 1))
    for link, lane, top, bottom in reversed(routed):
        x = NAMES + step * (lane + 1)
        title = f"{link.kind}: {link.a} {KINDS[link.kind].sign} {link.b}. {link.statement}"
        path = [
            (NAMES, top),
            (x - 5, top),
            (x, top),
            (x, top + 5),
            (x, bottom - 5),
            (x, bottom),
            (x - 5, bottom),
            (NAMES, bottom),
        ]
        reach = [_line(path, link.kind, stroke_width=7, stroke_opacity=0)] if address else []
        sign = _word(
            KINDS[link.kind].sign, x, (top + bottom) / 2 + 4, "sign", "middle", font_size=12
        )
        yield _leading(
            Element("g", children=[*reach, _line(path, link.kind), sign], title=title),
            address,
            link,
        )


def _leading(element: Element, address: Address | None, to: str | Link) -> Element:
    """Wrap an element in a hyperlink if there is an address."""
    return (
        element
        if address is None
        else Element("a", {"href": address(to), "aria-label": element.title}, children=[element])
    )


def _word(
    words: str,
    x: float,
    y: float,
    style: str = "row",
    anchor: str = "start",
    title: str = "",
    font_size: float = 11,
) -> Element:
    """Return a text with its class, and attributes for pages without a style sheet."""
    drawn = text(words, x, y, style, anchor, title)
    looks: dict[str, str | float] = {
        "font-size": font_size,
        "font-weight": "bold" if style in ("head", "sign") else "normal",
    }
    looks["font-style"] = "italic" if style.endswith("control") else "normal"
    if style == "sign":
        looks |= {"stroke": "var(--ground, #fff)", "stroke-width": 3, "paint-order": "stroke"}
    return replace(drawn, attributes={**drawn.attributes, **looks})


def _line(points: Sequence[tuple[float, float]], kind: str, **more: float) -> Element:
    """Return a line through two points, or an arc through eight with rounded corners."""
    path = "".join(
        f"{letter}{round(x, 2)} {round(y, 2)}"
        for letter, (x, y) in zip("MLQ LQ L", points, strict=False)
    )
    drawn: dict[str, str | float] = {
        "d": path,
        "class": "arc",
        "fill": "none",
        "stroke": KINDS[kind].color,
        "stroke-width": 1.4,
    }
    drawn["stroke-dasharray"] = KINDS[kind].dashes or "none"
    return Element("path", drawn | {name.replace("_", "-"): value for name, value in more.items()})
