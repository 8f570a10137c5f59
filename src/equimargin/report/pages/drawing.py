"""Pictures of a page as lists of elements of SVG, which the template writes with everything escaped.

A picture is PICTURE_WIDTH units wide and as wide as its place on the page, so that it is drawn about in its own size on a telephone.
Whatever a colour says is also said by a shape or by the pattern of a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from equimargin.proofs import Agreement
from equimargin.report.pages.scales import Linear, Logarithmic, Signed

Scale = Linear | Logarithmic | Signed

PICTURE_WIDTH = 400.0
"""Units in which a picture is drawn: about the pixels that a telephone has across."""
RADIUS = 3.6
"""Units from the middle of a symbol to its edge."""
POLYGONS = {
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "diamond": [(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)],
    "up": [(0, -1.1), (1.1, 0.85), (-1.1, 0.85)],
    "down": [(0, 1.1), (1.1, -0.85), (-1.1, -0.85)],
    "left": [(-1.1, 0), (0.85, -1.1), (0.85, 1.1)],
    "right": [(1.1, 0), (-0.85, -1.1), (-0.85, 1.1)],
}
"""Corners of the symbols that are polygons, in radii from the middle."""
STROKES = {
    "cross": "M-1-1L1 1M-1 1L1-1",
    "plus": "M-1.2 0H1.2M0-1.2V1.2",
}
"""Paths of the symbols that are strokes only, in radii from the middle."""
SYMBOLS = (
    *((shape, filled) for filled in (True, False) for shape in ("circle", "square", "up", "diamond", "down", "right", "left")),
    *((shape, False) for shape in STROKES),
)
"""Symbols that are told apart without colours, each a shape and whether it is filled."""
OF_AGREEMENT = {
    Agreement.AGREES: ("circle", True),
    Agreement.INACCURATE: ("up", False),
    Agreement.DISAGREES: ("cross", False),
    Agreement.FAILED: ("diamond", False),
    Agreement.SKIPPED: ("plus", False),
}
"""The symbol of every agreement."""


@dataclass(frozen=True)
class Element:
    """An element of SVG.

    tag : its name.  attributes : by their names.  text, children : what it holds.  title : what a pointer on it shows.
    """

    tag: str
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    text: str = ""
    title: str = ""
    children: Sequence[Element] = ()


@dataclass(frozen=True)
class Picture:
    """A picture with the words for those who do not see it.

    id : its name on the page.  title : what it is of.  description : what it shows.  height : in units.
    elements : from the lowest to the highest.  caption : how it is read, below it.  legend : symbols, each with a word.
    """

    id: str
    title: str
    description: str
    height: float
    elements: Sequence[Element]
    caption: str = ""
    legend: Sequence[tuple[Element, str]] = ()

    @property
    def width(self) -> float:
        """Its width in units."""
        return PICTURE_WIDTH


def symbol(kind: tuple[str, bool], x: float, y: float, style: str, title: str = "", radius: float = RADIUS) -> Element:
    """A symbol around a place.

    Parameters
    ----------
    kind : one of SYMBOLS.  style : the class that gives it its colour.
    """
    shape, filled = kind
    attributes: dict[str, str | float] = {"class": f"symbol {'filled' if filled else 'hollow'} {style}"}
    if shape == "circle":
        return Element("circle", attributes | {"cx": rounded(x), "cy": rounded(y), "r": radius}, title=title)
    if shape in STROKES:
        place = f"translate({rounded(x)} {rounded(y)}) scale({radius})"
        return Element("path", attributes | {"d": STROKES[shape], "transform": place}, title=title)
    corners = " ".join(f"{rounded(x + radius * u)},{rounded(y + radius * v)}" for u, v in POLYGONS[shape])
    return Element("polygon", attributes | {"points": corners}, title=title)


def text(words: str, x: float, y: float, style: str = "", anchor: str = "start", title: str = "") -> Element:
    """Words whose base line begins, or ends, at a place."""
    attributes: dict[str, str | float] = {"x": rounded(x), "y": rounded(y), "text-anchor": anchor, "class": style}
    return Element("text", attributes, words, title)


def line(x1: float, y1: float, x2: float, y2: float, style: str, title: str = "") -> Element:
    """A straight line."""
    return Element("line", {"x1": rounded(x1), "y1": rounded(y1), "x2": rounded(x2), "y2": rounded(y2), "class": style}, title=title)


def curve(points: Sequence[tuple[float, float]], style: str, title: str = "") -> Element:
    """A line through points."""
    places = " ".join(f"{rounded(x)},{rounded(y)}" for x, y in points)
    return Element("polyline", {"points": places, "class": f"curve {style}"}, title=title)


def across(scale: Scale, top: float, bottom: float, name: str) -> Iterator[Element]:
    """A horizontal scale below a picture, with its lines from top to bottom, and its name below."""
    last = -math.inf
    for x, words in sorted(scale.ticks()):
        yield line(x, top, x, bottom, "grid")
        if x - last >= 5.5 * (len(words) + 1):
            yield text(words, x, bottom + 13, "tick", "middle")
            last = x
    yield text(name, (scale.start + scale.end) / 2, bottom + 28, "name", "middle")


def upwards(scale: Scale, left: float, right: float, name: str) -> Iterator[Element]:
    """A vertical scale at the left of a picture, with its lines from left to right, and its name at the top of the picture."""
    for y, words in scale.ticks():
        yield line(left, y, right, y, "grid")
        yield text(words, left - 5, y + 3.5, "tick", "end")
    yield text(name, 2, 12, "name")


def cut(words: str, letters: int) -> str:
    """Words, or as much of them as has room."""
    return words if len(words) <= letters else f"{words[: letters - 1]}…"


def rounded(value: float) -> float:
    """A place to a hundredth of a unit."""
    return round(value, 2)
