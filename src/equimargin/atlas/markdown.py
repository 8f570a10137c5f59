"""Markdown of the pages: text, equations, code, and names of places.

A place is a line `(name)=`, and `[text](#name)` links to it from any page, as in MyST.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from equimargin.formulations import REGISTRY
from equimargin.formulations.links.kinds import Link

FENCE = "````"
"""Fence of a code block: more backticks than code contains."""


def plain(text: str) -> str:
    """Escape a text for Markdown, except between backticks.

    Parameters
    ----------
    text : str
        One or several lines.
    """
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([\\*_{}\[\]<>$|#&`])", r"\\\1", piece)
        for piece in pieces
    )


def code(text: str, language: str = "text") -> list[str]:
    """Return the lines of a code block.

    Parameters
    ----------
    text : str
        Code.
    language : str, default "text"
        Name of the language in Pygments.
    """
    return [f"{FENCE}{language}", *text.splitlines(), FENCE, ""]


def equations(lines: Sequence[str]) -> list[str]:
    """Return the lines of a block of equations, one below the other.

    Parameters
    ----------
    lines : sequence of str
        Equations in LaTeX.
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
        Line that is always visible.
    lines : sequence of str
        Folded lines.
    """
    yield from (f"<details><summary>{summary}</summary>", "", *lines, "</details>", "")


def address(id: str) -> str:
    """Return an id as part of the name of a file or a place.

    Parameters
    ----------
    id : str
        Id; letters, digits, dots, hyphens and underscores stay, others become ~code.
    """
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else f"~{ord(c):x}" for c in id)


def place(name: str) -> str:
    """Return the HTML name of a place, as docutils forms it.

    Parameters
    ----------
    name : str
        Name in Markdown.
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def place_of_link(link: Link) -> str:
    """Return the name of the place of a link.

    Parameters
    ----------
    link : Link
        Link of the table.
    """
    return "link-" + "-".join(
        address(part.replace(" ", "-")) for part in (link.a, link.kind, link.b)
    )


def formulation(id: str) -> str:
    """Return the name of a formulation as a link to it.

    Parameters
    ----------
    id : str
        Id of a formulation, or of another end of a link.
    """
    return f"[{plain(id)}](#formulation-{address(id)})" if id in REGISTRY else f"`{id}`"
