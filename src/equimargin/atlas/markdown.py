"""The Markdown of the pages: text, equations, code, and names of places.

A place is a line `(name)=`, and `[text](#name)` leads to it from any page, as MyST has
both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from equimargin.formulations import REGISTRY
from equimargin.formulations.links.kinds import Link

FENCE = "````"
"""What stands around code: more backticks than code has."""


def plain(text: str) -> str:
    """Return text whose every letter stands for itself.

    Parameters
    ----------
    text : str
        A line, or several; what is between backticks stays code.
    """
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([\\*_{}\[\]<>$|#&`])", r"\\\1", piece)
        for piece in pieces
    )


def code(text: str, language: str = "text") -> list[str]:
    """Return lines of code.

    Parameters
    ----------
    text : str
        The lines, shown as they are.
    language : str
        The name that Pygments has for it.
    """
    return [f"{FENCE}{language}", *text.splitlines(), FENCE, ""]


def equations(lines: Sequence[str]) -> list[str]:
    """Return equations, one below the other.

    Parameters
    ----------
    lines : Sequence[str]
        The equations in LaTeX.
    """
    below = " \\\\\n".join(lines)
    return [
        "$$",
        below if len(lines) == 1 else f"\\begin{{array}}{{l}}\n{below}\n\\end{{array}}",
        "$$",
        "",
    ]


def folded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines that a reader unfolds.

    Parameters
    ----------
    summary : str
        The line that is always seen.
    lines : Sequence[str]
        The others.
    """
    yield from (f"<details><summary>{summary}</summary>", "", *lines, "</details>", "")


def address(id: str) -> str:
    """Return an id as part of the name of a file or a place.

    Parameters
    ----------
    id : str
        Letters, digits, points, hyphens and underscores of it stay; others become ~code.
    """
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else f"~{ord(c):x}" for c in id)


def place(name: str) -> str:
    """Return the name of a place in HTML, as docutils has it.

    Parameters
    ----------
    name : str
        The name in Markdown.
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def place_of_link(link: Link) -> str:
    """Return the name of the place of a link.

    Parameters
    ----------
    link : Link
        One of the table.
    """
    return "link-" + "-".join(
        address(part.replace(" ", "-")) for part in (link.a, link.kind, link.b)
    )


def formulation(id: str) -> str:
    """Return the name of a formulation, which leads to it.

    Parameters
    ----------
    id : str
        That of a formulation, or of a link's end that is none.
    """
    return f"[{plain(id)}](#formulation-{address(id)})" if id in REGISTRY else f"`{id}`"
