"""Pictures of a page as lists of elements of SVG, which the template writes with everything escaped.

A picture is PICTURE_WIDTH units wide and as wide as its place on the page, so that it
is drawn about in its own size on a telephone. Whatever a colour says is also said by a
shape or by the pattern of a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from equimargin.proofs import Agreement
from equimargin.report.pages.scales import Scale

PICTURE_WIDTH = 400.0
"""Units in which a picture is drawn: about the pixels that a telephone has across."""
RADIUS = 3.6
"""Units from the middle of a symbol to its edge."""
SHAPES = {
    "circle": "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
    "square": "M-.85-.85H.85V.85H-.85Z",
    "up": "M0-1.1L1.1 .85H-1.1Z",
    "diamond": "M0-1.2L1.2 0L0 1.2L-1.2 0Z",
    "down": "M0 1.1L1.1-.85H-1.1Z",
    "right": "M1.1 0L-.85-1.1V1.1Z",
    "left": "M-1.1 0L.85-1.1V1.1Z",
    "cross": "M-1-1L1 1M-1 1L1-1",
    "plus": "M-1.2 0H1.2M0-1.2V1.2",
}
"""Paths of the symbols, in radii from the middle."""
STROKES = ("cross", "plus")
"""Symbols that are strokes only."""
SYMBOLS = (
    *((shape, filled) for filled in (True, False) for shape in SHAPES if shape not in STROKES),
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
    """An element of SVG."""

    tag: str
    """Its name."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    """Its attributes by their names."""
    text: str = ""
    """Text inside."""
    title: str = ""
    """Words that a pointer on it shows."""
    children: Sequence[Element] = ()
    """Elements inside."""


@dataclass(frozen=True)
class Picture:
    """A picture with the words for those who do not see it."""

    width: ClassVar[float] = PICTURE_WIDTH
    """Width in units."""
    id: str
    """Its name on the page."""
    title: str
    """Its subject."""
    description: str
    """Its content in words."""
    height: float
    """Height in units."""
    elements: Sequence[Element]
    """Elements from the lowest to the highest."""
    caption: str = ""
    """Explanation below it."""
    legend: Sequence[tuple[Element, str]] = ()
    """Symbols, each with a word."""


def symbol(
    kind: tuple[str, bool], x: float, y: float, style: str, title: str = "", radius: float = RADIUS
) -> Element:
    """Return a symbol, one of SYMBOLS, around a place, with the class of its colour."""
    shape, filled = kind
    place = f"translate({round(x, 2)} {round(y, 2)}) scale({radius})"
    attributes = {
        "d": SHAPES[shape],
        "transform": place,
        "class": f"symbol {'filled' if filled else 'hollow'} {style}",
    }
    return Element("path", attributes, title=title)


def text(
    words: str, x: float, y: float, style: str = "", anchor: str = "start", title: str = ""
) -> Element:
    """Return words whose base line begins, or ends, at a place."""
    attributes: dict[str, str | float] = {
        "x": round(x, 2),
        "y": round(y, 2),
        "text-anchor": anchor,
        "class": style,
    }
    return Element("text", attributes, words, title)


def line(x1: float, y1: float, x2: float, y2: float, style: str, title: str = "") -> Element:
    """Return a straight line."""
    return Element(
        "line",
        {
            "x1": round(x1, 2),
            "y1": round(y1, 2),
            "x2": round(x2, 2),
            "y2": round(y2, 2),
            "class": style,
        },
        title=title,
    )


def curve(points: Sequence[tuple[float, float]], style: str, title: str = "") -> Element:
    """Return a line through points."""
    places = " ".join(f"{round(x, 2)},{round(y, 2)}" for x, y in points)
    return Element("polyline", {"points": places, "class": f"curve {style}"}, title=title)


def across(scale: Scale, top: float, bottom: float, name: str) -> Iterator[Element]:
    """Yield a horizontal scale below a picture, with its lines and its name."""
    last = -math.inf
    for x, words in sorted(scale.ticks()):
        yield line(x, top, x, bottom, "grid")
        if x - last >= 5.5 * (len(words) + 1):
            yield text(words, x, bottom + 13, "tick", "middle")
            last = x
    yield text(name, (scale.start + scale.end) / 2, bottom + 28, "name", "middle")


def upwards(scale: Scale, left: float, right: float, name: str) -> Iterator[Element]:
    """Yield a vertical scale at the left of a picture, with its lines and its name."""
    for y, words in scale.ticks():
        yield line(left, y, right, y, "grid")
        yield text(words, left - 5, y + 3.5, "tick", "end")
    yield text(name, 2, 12, "name")
