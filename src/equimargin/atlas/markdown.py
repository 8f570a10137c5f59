"""Markdown as the pages have it: text whose every letter stands for itself, equations, code, and names that lead to their places.

A place is a line `(name)=`, and `[text](#name)` leads to it from any page, as MyST has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from equimargin.formulations import REGISTRY, families
from equimargin.formulations.links.kinds import Link

FENCE = "````"
"""What stands around code: more backticks than code has."""


def plain(text: str) -> str:
    """Return text whose every letter stands for itself; what is between backticks stays code."""
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([\\*_{}\[\]<>$|#&`])", r"\\\1", piece) for piece in pieces)


def code(text: str, language: str = "text") -> list[str]:
    """Return lines that are shown as they are."""
    return [f"{FENCE}{language}", *text.splitlines(), FENCE, ""]


def equations(lines: Sequence[str]) -> list[str]:
    """Return equations in LaTeX, one below the other."""
    below = " \\\\\n".join(lines)
    return ["$$", below if len(lines) == 1 else f"\\begin{{array}}{{l}}\n{below}\n\\end{{array}}", "$$", ""]


def folded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines that a reader unfolds."""
    yield from (f"<details><summary>{summary}</summary>", "", *lines, "</details>", "")


def address(id: str) -> str:
    """Return an id as part of a file's name or of a place's: letters, digits, points, hyphens and underscores stay, others become ~code."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else f"~{ord(c):x}" for c in id)


def place(name: str) -> str:
    """Return the place of a name in HTML, as docutils has it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def place_of_link(link: Link) -> str:
    """Return the name of the place of a link."""
    return "link-" + "-".join(address(part.replace(" ", "-")) for part in (link.a, link.kind, link.b))


def formulation(id: str) -> str:
    """Return the name of a formulation, which leads to it."""
    return f"[{plain(id)}](#formulation-{address(id)})" if id in REGISTRY else f"`{id}`"


def with_names_linked(text: str) -> str:
    """Return a text in which the names of families and formulations between backticks lead to them; blocks of code stay as they are."""
    pieces = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(piece if piece.startswith("```") else re.sub(r"`([^`]+)`", _linked, piece) for piece in pieces)


def _linked(found: re.Match[str]) -> str:
    kind = "family" if found[1] in families() else "formulation" if found[1] in REGISTRY else ""
    return f"[{plain(found[1])}](#{kind}-{address(found[1])})" if kind else found[0]
