"""Files of the graph of all formulations and relations, for `equimargin graph`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from equimargin.formulations import FAMILIES
from equimargin.formulations.programs.extras import OptionalModule
from equimargin.report.pages.drawing import PICTURE_WIDTH, Element, Picture
from equimargin.report.pages.link_graph import KINDS, draw_links, family_members, links_between
from equimargin.report.pages.rendering import drawn
from equimargin.solvers.problem_file import whole

CODES = {"M": 1, "L": 2, "Q": 3, " ": 3}
"""matplotlib's codes of the points of a path, by the letters of SVG."""
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
"""First line of an SVG file."""
UNITS = 50.0
"""Picture units per inch."""


def draw(file: Path) -> None:
    """Write the graph: graphviz's language for .dot, a drawing for .svg, .png and .pdf.

    Parameters
    ----------
    file : Path
        File to write.

    Raises
    ------
    ValueError
        If the name has another suffix.
    """
    if file.suffix not in (".svg", ".png", ".pdf", ".dot"):
        raise ValueError(f"{file}: the name must end in .svg, .png, .pdf or .dot")
    with whole(file) as part:
        if file.suffix == ".dot":
            part.write_text(_dot(), encoding="utf-8")
        elif file.suffix == ".svg":
            part.write_text(XML + drawn(draw_links(tuple(FAMILIES)), "svg"), encoding="utf-8")
        else:
            _plot(draw_links(tuple(FAMILIES)), part)


def _dot() -> str:
    """Return the graph in graphviz's language, with a cluster per family."""
    lines = [
        "graph equimargin {",
        "  rankdir=LR; node [shape=box, fontname=Helvetica, fontsize=10]; compound=true;",
    ]
    for family in FAMILIES:
        lines.append(
            f'  subgraph "cluster_{family}" {{ label="{family}"; fontname="Helvetica-Bold";'
        )
        lines += [
            f'    "{entry.id}"{" [color=gray, fontcolor=gray]" if entry.control else ""};'
            for entry in family_members(family)
        ]
        lines.append("  }")
    for link in links_between(tuple(FAMILIES)):
        style = "dashed" if KINDS[link.kind].dashes else "solid"
        tooltip = link.statement.replace('"', "'")
        lines.append(
            f'  "{link.a}" -- "{link.b}" [color="{KINDS[link.kind].color}", style={style}, '
            f'tooltip="{tooltip}"];'
        )
    return "\n".join([*lines, "}", ""])


def _plot(picture: Picture, file: Path) -> None:
    """Write the lines and the texts of a picture by matplotlib."""
    Figure = OptionalModule("matplotlib.figure").Figure
    PathPatch = OptionalModule("matplotlib.patches").PathPatch
    Line = OptionalModule("matplotlib.path").Path

    figure = Figure(figsize=(PICTURE_WIDTH / UNITS, picture.height / UNITS))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, PICTURE_WIDTH), ylim=(picture.height, 0))
    axes.axis("off")
    for element in _leaves(picture.elements):
        at: dict[str, Any] = dict(element.attributes)
        if element.tag == "path":
            points = re.findall(r"([MLQ ])(-?[\d.]+) (-?[\d.]+)", at["d"])
            line = Line(
                [(float(x), float(y)) for _, x, y in points],
                [CODES[letter] for letter, _, _ in points],
            )
            dashes = (
                [float(length) for length in at["stroke-dasharray"].split()]
                if at["stroke-dasharray"] != "none"
                else None
            )
            axes.add_patch(
                PathPatch(
                    line,
                    fill=False,
                    edgecolor=at["stroke"],
                    linestyle=(0, dashes) if dashes else "-",
                )
            )
        else:
            given = {
                "size": at["font-size"] * 72 / UNITS,
                "weight": at.get("font-weight"),
                "style": at.get("font-style"),
            }
            box = (
                {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
                if at["class"] == "sign"
                else None
            )
            side = {"start": "left", "middle": "center", "end": "right"}[at["text-anchor"]]
            axes.text(at["x"], at["y"], element.text, horizontalalignment=side, bbox=box, **given)
    figure.savefig(file)


def _leaves(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the lines and the texts of elements, back to front."""
    for element in elements:
        yield from _leaves(element.children) if element.children else (element,)
