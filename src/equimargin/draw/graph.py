"""The drawing of the families and of the links between their formulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equimargin.formulations import REGISTRY, families
from equimargin.formulations.links.kinds import Link
from equimargin.formulations.links.table import LINKS
from equimargin.solvers.problem_file import whole

STYLES: dict[str, tuple[str, Any]] = {
    "equivalence": ("#1b5e8c", "solid"),
    "strong equivalence": ("#1b7a43", "solid"),
    "rescaling": ("#7b4fa6", "solid"),
    "relaxation": ("#b07d2b", "dashed"),
    "not equivalent": ("#b3282d", "dotted"),
}
"""Colour and style of the line of a link, by the kind of the link."""
COLUMNS = 4
"""Number of columns in which families are drawn side by side."""
ROW = 0.42
"""Inches that a formulation takes in height."""
WIDTH = 4.8
"""Inches that a family takes in width."""


def draw(file: Path) -> None:
    """Write the graph: graphviz's language for .dot, a drawing for .svg, .png and .pdf.

    Raises
    ------
    ValueError : another ending.
    """
    if file.suffix not in (".svg", ".png", ".pdf", ".dot"):
        raise ValueError(f"{file}: the name must end in .svg, .png, .pdf or .dot")
    with whole(file) as part:
        if file.suffix == ".dot":
            part.write_text(dot(), encoding="utf-8")
        else:
            _drawing(part)


def dot() -> str:
    """The graph in graphviz's language, a cluster a family."""
    lines = ["graph equimargin {", "  rankdir=LR; node [shape=box, fontname=Helvetica, fontsize=10]; compound=true;"]
    for family in families():
        members = [entry for entry in REGISTRY.values() if entry.family == family]
        lines.append(f'  subgraph "cluster_{family}" {{ label="{family}"; fontname="Helvetica-Bold";')
        lines += [f'    "{entry.id}"{" [color=gray, fontcolor=gray]" if entry.control else ""};' for entry in members]
        lines.append("  }")
    for link in _drawn():
        color, style = STYLES[link.kind]
        lines.append(f'  "{link.a}" -- "{link.b}" [color="{color}", style={style}, tooltip="{link.statement.replace(chr(34), chr(39))}"];')
    return "\n".join([*lines, "}", ""])


def _drawn() -> list[Link]:
    """The links between two different formulations."""
    return [link for link in LINKS if link.a != link.b and link.b in REGISTRY]


def _drawing(file: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    places, boxes, height = _layout()
    figure = Figure(figsize=(COLUMNS * WIDTH, height + 1.3))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, COLUMNS * WIDTH)
    axes.set_ylim(-height - 0.6, 0.7)
    axes.axis("off")
    for family, (x, y, tall) in boxes.items():
        axes.add_patch(
            FancyBboxPatch((x, y - tall), WIDTH - 0.8, tall, boxstyle="round,pad=0.05", facecolor="#f4f5f7", edgecolor="#c9ccd3")
        )
        axes.text(x + 0.1, y - 0.25, family, fontsize=11, fontweight="bold", va="center")
    for link in _drawn():
        color, style = STYLES[link.kind]
        (x1, y1), (x2, y2) = sorted((places[link.a], places[link.b]), key=lambda place: (place[0], -place[1]))
        bend = 0.35 if x1 == x2 else 0.12  # within a column always to the left, where nothing is written
        axes.add_patch(
            FancyArrowPatch(
                (x1, y1), (x2, y2), arrowstyle="-", connectionstyle=f"arc3,rad={bend}", color=color, linestyle=style, lw=1.1, alpha=0.8
            )
        )
    for id, (x, y) in places.items():
        axes.plot([x], [y], "o", color="#333333", markersize=3)
        axes.text(x + 0.1, y, id, fontsize=8.5, va="center", color="#8a8f98" if REGISTRY[id].control else "#16181d")
    handles = [Line2D([], [], color=color, linestyle=style, label=kind) for kind, (color, style) in STYLES.items()]
    axes.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False, fontsize=9)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def _layout() -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float, float]], float]:
    """Where each formulation stands, each family's box (left, top, height), and the whole height; families fill the shortest column."""
    depth = [0.0] * COLUMNS
    places, boxes = {}, {}
    for family in sorted(families(), key=lambda name: -sum(entry.family == name for entry in REGISTRY.values())):
        members = sorted((entry for entry in REGISTRY.values() if entry.family == family), key=lambda entry: entry.control)
        column = depth.index(min(depth))
        left, top, tall = column * WIDTH + 0.4, -depth[column], 0.5 + ROW * len(members)
        boxes[family] = (left, top, tall)
        for k, entry in enumerate(members):
            places[entry.id] = (left + 1.0, top - 0.55 - ROW * k)
        depth[column] += tall + 0.35
    return places, boxes, max(depth)
