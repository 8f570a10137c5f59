"""Docstrings in reStructuredText, with plain text protected from its markup.

An entry of a section, `name : type` with its indented text, becomes an item of a list.
Other indented lines and examples stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECTION = re.compile(r"^(Parameters|Returns|Raises|Attributes|Yields)$")
"""Headings of sections that consist of entries."""
HEADING = re.compile(r"^(References|Notes|See Also|Examples)$")
"""Headings of sections that consist of text."""
HEAD = re.compile(r"^([\w*]+(?:, [\w*]+)*)(?: : (.+))?$")
"""The first line of an entry: names, and their type."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite every docstring that autodoc reads."""
    app.connect("autodoc-process-docstring", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def rewrite(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Replace the lines of a docstring by reStructuredText."""
    lines[:] = list(restructured(lines))


def restructured(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a docstring in reStructuredText."""
    in_section = False
    for empty, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        if empty:
            yield ""
        elif SECTION.match(block[0]) and len(block) > 1 and set(block[1]) == {"-"}:
            in_section = True
            yield from (f"**{block[0]}**", "", *items(block[2:]))
        elif HEADING.match(block[0]) and len(block) > 1 and set(block[1]) == {"-"}:
            in_section = False
            yield from (f"**{block[0]}**", "", *restructured(block[2:]))
        elif block[0].lstrip().startswith(">>>"):
            yield from (line.strip() for line in block)
        elif block[0].startswith(" ") and not in_section:
            yield from ("::", "", *(f"    {line}" for line in block), "")
        elif any(line.startswith(" ") for line in block):
            yield from (f"| {escaped(line.strip())}" for line in block)
        else:
            in_section = False
            yield from map(escaped, block)


def items(block: list[str]) -> Iterator[str]:
    """Yield the entries of a section as items of a list."""
    for entry in re.split(r"\n(?!\s)", "\n".join(block)):
        head, *rest = entry.splitlines()
        text = escaped(" ".join(line.strip() for line in rest))
        if named := HEAD.match(head):
            names, kind = named.groups()
            head = f"``{names}``" + (f" ({escaped(kind)})" if kind else "")
        else:
            head = escaped(head)
        yield f"* {head}: {text}" if text else f"* {head}"


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
