"""Pictures of a page as lists of SVG elements, which the template escapes.

A picture is PICTURE_WIDTH units wide, and scaled to the width of its place on the page;
on a telephone a unit is about a pixel. Shapes, line patterns or labels distinguish what
colours distinguish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from equimargin.proofs import Agreement
from equimargin.report.pages.scales import Scale

PICTURE_WIDTH = 400.0
"""Width of a picture in its units, about the pixels across a telephone."""
RADIUS = 3.6
"""Units from the centre of a symbol to its edge."""
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
"""Paths of the symbols, in radii from the centre."""
STROKES = ("cross", "plus")
"""Symbols that consist of strokes only."""
SYMBOLS = (
    *((shape, filled) for filled in (True, False) for shape in SHAPES if shape not in STROKES),
    *((shape, False) for shape in STROKES),
)
"""Symbols distinct without colours, as pairs of shape and True if filled."""
OF_AGREEMENT = {
    Agreement.AGREES: ("circle", True),
    Agreement.INACCURATE: ("up", False),
    Agreement.DISAGREES: ("cross", False),
    Agreement.FAILED: ("diamond", False),
    Agreement.SKIPPED: ("plus", False),
}
"""Symbol of every agreement."""


@dataclass(frozen=True)
class Element:
    """SVG element."""

    tag: str
    """Name of the element."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    """Attributes by name."""
    text: str = ""
    """Text content."""
    title: str = ""
    """Text that a pointer on the element shows."""
    children: Sequence[Element] = ()
    """Nested elements."""


@dataclass(frozen=True)
class Picture:
    """Picture with a text alternative."""

    width: ClassVar[float] = PICTURE_WIDTH
    """Width in units."""
    id: str
    """Name on the page."""
    title: str
    """Subject."""
    description: str
    """Content as text."""
    height: float
    """Height in units."""
    elements: Sequence[Element]
    """Elements from back to front."""
    caption: str = ""
    """Explanation below it."""
    legend: Sequence[tuple[Element, str]] = ()
    """Symbols, each with a word."""


def symbol(
    kind: tuple[str, bool], x: float, y: float, style: str, title: str = "", radius: float = RADIUS
) -> Element:
    """Return a symbol at a position.

    Parameters
    ----------
    kind : tuple of (str, bool)
        Shape, and True if filled; one of SYMBOLS.
    x : float
        Horizontal position of the centre.
    y : float
        Vertical position of the centre, from the top.
    style : str
        Class of the colour.
    title : str, default ""
        Text that a pointer shows.
    radius : float, default RADIUS
        Radius in picture units.

    Returns
    -------
    Element
        SVG path.
    """
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
    """Return a text whose base line begins or ends at a position.

    Parameters
    ----------
    words : str
        Text.
    x : float
        Horizontal position.
    y : float
        Vertical position, from the top.
    style : str, default ""
        Class of the text.
    anchor : str, default "start"
        "start", "middle" or "end".
    title : str, default ""
        Text that a pointer shows.

    Returns
    -------
    Element
        SVG text.
    """
    attributes: dict[str, str | float] = {
        "x": round(x, 2),
        "y": round(y, 2),
        "text-anchor": anchor,
        "class": style,
    }
    return Element("text", attributes, words, title)


def line(x1: float, y1: float, x2: float, y2: float, style: str, title: str = "") -> Element:
    """Return a straight line.

    Parameters
    ----------
    x1, y1, x2, y2 : float
        Endpoints.
    style : str
        Class of the line.
    title : str, default ""
        Text that a pointer shows.

    Returns
    -------
    Element
        SVG line.
    """
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
    """Return a polyline through points.

    Parameters
    ----------
    points : sequence of tuple of (float, float)
        Positions (x, y).
    style : str
        Class of the line.
    title : str, default ""
        Text that a pointer shows.

    Returns
    -------
    Element
        SVG polyline.
    """
    places = " ".join(f"{round(x, 2)},{round(y, 2)}" for x, y in points)
    return Element("polyline", {"points": places, "class": f"curve {style}"}, title=title)


def across(scale: Scale, top: float, bottom: float, name: str) -> Iterator[Element]:
    """Yield a horizontal axis below a picture, with its grid lines and its name.

    Parameters
    ----------
    scale : Scale
        Horizontal scale.
    top, bottom : float
        Vertical range of the picture.
    name : str
        Name of the axis.

    Yields
    ------
    Element
        SVG element.
    """
    last = -math.inf
    for x, words in sorted(scale.ticks()):
        yield line(x, top, x, bottom, "grid")
        if x - last >= 5.5 * (len(words) + 1):
            yield text(words, x, bottom + 13, "tick", "middle")
            last = x
    yield text(name, (scale.start + scale.end) / 2, bottom + 28, "name", "middle")


def upwards(scale: Scale, left: float, right: float, name: str) -> Iterator[Element]:
    """Yield a vertical axis at the left of a picture, with its grid lines and its name.

    Parameters
    ----------
    scale : Scale
        Vertical scale.
    left, right : float
        Horizontal range of the picture.
    name : str
        Name of the axis.

    Yields
    ------
    Element
        SVG element.
    """
    for y, words in scale.ticks():
        yield line(left, y, right, y, "grid")
        yield text(words, left - 5, y + 3.5, "tick", "end")
    yield text(name, 2, 12, "name")
