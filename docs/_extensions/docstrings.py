"""Docstrings for numpydoc, with plain text protected from the markup of reStructuredText.

numpydoc reads the sections. Indented lines outside of their entries, such as equations,
and examples stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WITH_ENTRIES = ("Parameters", "Returns", "Raises", "Attributes", "Yields", "See Also")
"""Sections that consist of entries, `name : type` with indented text."""
TRAILING = re.compile(r"(?<=\w)_(?!\w)")
"""Underscore at the end of a name."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite every docstring that autodoc reads, before numpydoc does."""
    app.connect("autodoc-process-docstring", rewrite, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def rewrite(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Protect the lines of a docstring."""
    lines[:] = list(protected(lines))


def protected(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a docstring with their text in reStructuredText."""
    in_entries = False
    for empty, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        if empty:
            yield ""
            continue
        if len(block) > 1 and set(block[1]) == {"-"}:
            in_entries = block[0] in WITH_ENTRIES
            yield from block[:2]
            block = block[2:]
        yield from entries(block) if in_entries else text(block)


def entries(block: list[str]) -> Iterator[str]:
    """Yield lines of entries with types and texts protected."""
    for line in block:
        name, colon, kind = line.partition(" : ")
        # A name that ends in an underscore, such as that of an attribute, would be a link.
        head = name + colon + TRAILING.sub(r"\_", kind)
        yield escaped(line) if line.startswith(" ") else head


def text(block: list[str]) -> Iterator[str]:
    """Yield the lines of a paragraph, an example or an equation."""
    if block[0].lstrip().startswith(">>>"):
        yield from (line.strip() for line in block)
    elif block[0].startswith(" "):
        yield from ("::", "", *(f"    {line}" for line in block), "")
    elif any(line.startswith(" ") for line in block):
        yield from (f"| {escaped(line.strip())}" for line in block)
    else:
        yield from map(escaped, block)


def escaped(text: str) -> str:
    """Return a line with its code in double backticks, and markup characters escaped."""
    pieces = re.split(r"(`+[^`]+`+)", text)
    # Code ends only before a space or punctuation: a letter after it needs an empty escape.
    return "".join(
        f"``{piece.strip('`')}``" + "\\ " * behind[:1].isalnum()
        if piece.startswith("`")
        else re.sub(r"([*|_\\`])", r"\\\1", piece)
        for piece, behind in zip(pieces, [*pieces[1:], ""], strict=True)
    )
