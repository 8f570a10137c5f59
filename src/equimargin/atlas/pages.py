"""Markdown pages of `equimargin atlas` and of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from equimargin.atlas.family_page import Remarks, family_page, graph, written
from equimargin.atlas.links_page import links_page
from equimargin.atlas.markdown import address, code, formulation, plain
from equimargin.formulations import FAMILIES
from equimargin.proofs import theorems
from equimargin.report.pages.link_graph import by_subject, family_members


def pages(remarks: Remarks = lambda formulations: ()) -> dict[str, str]:
    """Return the Markdown of every page, by file.

    Parameters
    ----------
    remarks : Remarks, optional
        Function from a family's formulations to the last lines of its page.
    """
    made = {"index.md": _index(), "links.md": links_page(), "duality.md": _duality()}
    made |= {f"families/{address(family)}.md": family_page(family, remarks) for family in FAMILIES}
    made |= {f"theorems/{file}.md": _theorems(file) for file in theorems.names_of_files()}
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def _index() -> Iterator[str]:
    yield (files("equimargin.atlas") / "pages" / "index.md").read_text(encoding="utf-8")
    for subject, members in by_subject(tuple(FAMILIES)).items():
        yield from (
            f"## {subject}",
            "",
            "| family | formulations | negative controls |",
            "| --- | --- | --- |",
        )
        for family in members:
            entries = family_members(family)
            names = [
                ", ".join(formulation(entry.id) for entry in entries if entry.control is control)
                for control in (False, True)
            ]
            yield f"| [{plain(family)}](families/{address(family)}.md) | {names[0]} | {names[1]} |"
        yield ""
    yield from ("## The graph", "", graph(tuple(FAMILIES), ""), "", "## The theorems", "")
    yield ", ".join(f"[{file}](theorems/{file}.md)" for file in theorems.names_of_files())


def _duality() -> Iterator[str]:
    yield from (
        "(derivation-duality)=",
        "# Duality, from the beginning",
        "",
        written("duality").replace("\n### ", "\n## "),
    )


def _theorems(file: str) -> Iterator[str]:
    """Yield a file of theorems, with a place for each theorem."""
    yield from (
        f"# {file}.v",
        "",
        "Built and checked by Coq with `make proofs`; nothing is assumed.",
        "",
    )
    for part in re.split(r"^(?=Theorem )", theorems.read_theory(file), flags=re.MULTILINE):
        if name := re.match(r"Theorem (\w+)", part):
            yield f"(theorem-{file}.{name[1]})="
        yield from code(part, "coq")
