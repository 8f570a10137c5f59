"""Page of a family: definition, argument, graph and formulations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.resources import files
from textwrap import dedent
from typing import Any

from equimargin.atlas.duals import dual_text, multipliers
from equimargin.atlas.links_page import proof
from equimargin.atlas.markdown import (
    address,
    code,
    equations,
    folded,
    formulation,
    place,
    place_of_link,
    plain,
)
from equimargin.formulations import FAMILIES, REGISTRY, Formulation, links
from equimargin.formulations.links.kinds import Link
from equimargin.own.plugins import describe_origin
from equimargin.report.pages.link_graph import draw_links, family_members
from equimargin.report.pages.rendering import drawn
from equimargin.solvers import SOLVERS

Remarks = Callable[[Sequence[Formulation]], Iterable[str]]
"""Function from a family's formulations to the last lines of its page."""


def family_page(family: str, remarks: Remarks) -> Iterator[str]:
    """Yield the lines of the page of a family.

    Parameters
    ----------
    family : str
        Id of the family.
    remarks : Remarks
        Function from the family's formulations to the last lines of the page.
    """
    entries = family_members(family)
    yield from (f"(family-{address(family)})=", f"# {plain(family)}", "")
    if origin := describe_origin(entries[0].module):
        yield from (f"*Origin:* {plain(origin)}.", "")
    yield from _equation(entries[0])
    if argument := written(family):
        yield from (
            "## The argument",
            "",
            "If you do not know the Lagrangian, begin with [duality](#derivation-duality).",
            "",
            argument,
        )
    yield from ("## Its formulations", "", graph([family], "../"), "")
    for entry in entries:
        yield from _formulation(entry)
    yield from ("## Its solvers", "", *_solvers(family), "", "## Documents", "")
    documents = {source.document: source.full for entry in entries for source in entry.sources}
    yield from (f"* {plain(name)}: {plain(full)}" for name, full in documents.items())
    yield from ("", *remarks(entries))


def written(name: str) -> str:
    """Return a text of `derivations/`, with links from ids; empty if there is none.

    Parameters
    ----------
    name : str
        Id of a family, or "duality".
    """
    file = files("equimargin.atlas") / "derivations" / f"{name}.md"
    pieces = re.split(
        r"(^```.*?^```$)",
        file.read_text(encoding="utf-8") if file.is_file() else "",
        flags=re.DOTALL | re.MULTILINE,
    )
    return "".join(
        piece if piece.startswith("```") else re.sub(r"`([^`]+)`", _linked, piece)
        for piece in pieces
    )


def _linked(found: re.Match[str]) -> str:
    kind = "family" if found[1] in FAMILIES else "formulation" if found[1] in REGISTRY else ""
    return f"[{plain(found[1])}](#{kind}-{address(found[1])})" if kind else found[0]


def graph(shown: Sequence[str], root: str) -> str:
    """Return the HTML graph of some families, with hyperlinks from names and arcs.

    Parameters
    ----------
    shown : sequence of str
        Ids of the families.
    root : str
        Relative path from the page to the folder of all pages, "" or "../".
    """

    def way(to: str | Link) -> str:
        if isinstance(to, Link):
            return f"{root}links.html#{place(place_of_link(to))}"
        kind, family = ("formulation", REGISTRY[to].family) if to in REGISTRY else ("family", to)
        return f"{root}families/{address(family)}.html#{place(f'{kind}-{address(to)}')}"

    caption = (
        "A line is a link, with the sign of its kind. Names in italics are negative controls. "
        "Names and lines are hyperlinks to their pages."
    )
    return drawn(draw_links(shown, caption, address=way))


def _equation(entry: Formulation) -> Iterator[str]:
    if entry.latex:
        yield from equations([entry.latex])
    if entry.statement:
        yield from code(entry.statement)


def _formulation(entry: Formulation) -> Iterator[str]:
    """Yield a formulation: equation, sources, multipliers, links, code and dual."""
    yield from (f"(formulation-{address(entry.id)})=", f"### {plain(entry.id)}", "")
    if entry.control:
        yield from (
            "*A negative control:* a misprint, or a nonequivalent problem. It must disagree.",
            "",
        )
    yield from _equation(entry)
    function = inspect.unwrap(entry.stated)
    file = function.__module__.removeprefix("equimargin.").replace(".", "/")
    sources = "; ".join(plain(str(source)) for source in entry.sources)
    yield from (f"Printed in {sources}. Declared by `{file}.py`, `{function.__name__}`.", "")
    if signs := multipliers(entry):
        yield from (
            "| constraint | its multiplier |",
            "| --- | --- |",
            *(f"| {plain(name)} | {sign} |" for name, sign in signs),
            "",
        )
    for link in links.of(entry.id):
        other = link.b if link.a == entry.id else link.a
        where = "" if link.conditions == "always" else f" It holds for {plain(link.conditions)}."
        yield (
            f"* [{link.kind}](#{place_of_link(link)}) with {formulation(other)}: "
            f"{plain(link.statement)}{where} {proof(link)}"
        )
    parts = (dedent(inspect.getsource(part)) for part in (function, *_called(function)))
    yield from (
        "",
        *folded("Its declaration in cvxpy", code("\n\n".join(parts), "python")),
        *dual_text(entry.id),
    )


def _called(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Yield the private functions of the same module that a function calls."""
    module = import_module(function.__module__)
    for name in dict.fromkeys(re.findall(r"\b(_\w+)\(", inspect.getsource(function))):
        callee = vars(module).get(name)
        if inspect.isfunction(callee) and callee.__module__ == function.__module__:
            yield callee


def _solvers(family: str) -> Iterator[str]:
    takers = [solver for solver in SOLVERS.values() if solver.takes(family)]
    yield from (
        f"* [{plain(solver.name)}](#solver-{address(solver.name)}): {plain(solver.algorithm)}"
        for solver in takers
    )
    if not takers:
        yield "None specialised; `exact_optimum` solves small problems."
