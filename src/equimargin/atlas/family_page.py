"""What the atlas says of a family: its definition, its derivation, its formulations and solvers, and its links to other families."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from markupsafe import Markup

from equimargin.atlas.equations import html_of_markdown
from equimargin.formulations import REGISTRY, links
from equimargin.formulations.formulation import Formulation
from equimargin.formulations.links.kinds import Link
from equimargin.solvers import SOLVERS


class FamilyPage(NamedTuple):
    """The parts of the page.

    id : of the family.  definition : its first formulation.  entries : all formulations, controls last.
    solvers : the names of its solvers, and what each does.  outside : links with formulations of other families.
    derivation : the argument from the definition to the other forms, "" where none is written.
    """

    id: str
    definition: Formulation
    entries: list[Formulation]
    solvers: list[tuple[str, str]]
    outside: list[Link]
    derivation: Markup


def family_page(id: str) -> FamilyPage:
    """What is known of a family.

    Parameters
    ----------
    id : of the family.
    """
    entries = sorted((entry for entry in REGISTRY.values() if entry.family == id), key=lambda entry: entry.control)
    own = {entry.id for entry in entries}
    solvers = [(solver.name, solver.algorithm) for solver in SOLVERS.values() if solver.takes(id)]
    outside = [link for link in links.LINKS if (link.a in own) != (link.b in own)]
    return FamilyPage(id, entries[0], entries, solvers, outside, written(id))


def written(name: str) -> Markup:
    """A text of `derivations/`: the argument of a family, by its id, or "duality", which all of them use; empty where none is written."""
    file = files("equimargin.atlas") / "derivations" / f"{name}.md"
    return html_of_markdown(file.read_text(encoding="utf-8")) if file.is_file() else Markup("")
