"""Page of all links, with their maps, theorems and counterexamples."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from equimargin.atlas.markdown import code, folded, formulation, place_of_link, plain
from equimargin.formulations import links
from equimargin.formulations.links.kinds import Equivalence, Link, NotEquivalent
from equimargin.proofs import theorems
from equimargin.report.pages.link_graph import KINDS


def links_page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Links between formulations",
        "",
        "What each kind of link states about two formulations, and about their optima.",
        "",
    )
    for kind, drawn in KINDS.items():
        members = [link for link in links.LINKS if link.kind == kind]
        summary = (inspect.getdoc(type(members[0])) or "").partition("\n\n")[0]
        yield from (f"## {kind.capitalize()}", "", plain(summary), "")
        for link in members:
            title = f"{plain(link.a)} {drawn.sign} {plain(link.b)}"
            yield from (f"({place_of_link(link)})=", f"### {title}", "", *_link(link, drawn.sign))


def proof(link: Link) -> str:
    """Return sentences on the evidence of a link.

    Parameters
    ----------
    link : Link
        Link of the table.
    """
    sentences = []
    if link.theorem:
        file, _, name = link.theorem.partition(".")
        sentences.append(
            f"Theorem [`{name}`](#theorem-{link.theorem}), `proofs/rocq/{file}.v`, line "
            f"{theorems.find_line(link.theorem)}."
        )
    if isinstance(link, NotEquivalent):
        a, b = (f"{value:.10g}" for value in link.values)
        sentences.append(
            f"On the counterexample the optimum of {plain(link.a)} is {a}, and that of "
            f"{plain(link.b)} is {b}."
        )
    return " ".join(sentences) or "Its evidence is numerical: no theorem is machine-checked."


def _link(link: Link, sign: str) -> Iterator[str]:
    yield from (f"{formulation(link.a)} {sign} {formulation(link.b)}: {plain(link.statement)}", "")
    if link.conditions != "always":
        yield from (f"It holds for {plain(link.conditions)}.", "")
    if isinstance(link, Equivalence):
        for one, other, way in ((link.a, link.b, link.forward), (link.b, link.a, link.backward)):
            if summary := (inspect.getdoc(way) or "").partition("\n")[0]:
                yield f"* {plain(one)} to {plain(other)}: {plain(summary)}"
        yield ""
    yield from (proof(link), "")
    if link.theorem:
        yield from code(theorems.statement(link.theorem), "coq")
    if isinstance(link, NotEquivalent):
        yield from folded(
            "Show the counterexample", code("\n\n".join(map(_data, link.counterexample())))
        )


def _data(problem: Any) -> str:
    """Return a small problem with its data in full."""
    rows = problem.rows
    given = [] if rows.y is None else [f"y = {rows.y.tolist()}"]
    lines = [
        repr(problem),
        f"X = {problem.X.tolist()}",
        *given,
        f"A = {rows.matrix.toarray().tolist()}   (its rows are the margins)",
        f"t = {rows.t.tolist()}   (their targets)",
        f"s = {rows.s.tolist()}   (the signs of the bias)",
    ]
    return "\n".join(lines)
