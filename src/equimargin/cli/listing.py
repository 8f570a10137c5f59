"""The commands `list`, `show` and `graph`: formulations with their sources, and the links between them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from equimargin.cli.options import check_writable, sentences

_ARROWS = {"equivalence": "<->", "strong equivalence": "<=>", "rescaling": "<~>", "relaxation": "<=", "not equivalent": "=/="}
"""The sign between two linked formulations in a list, by the kind of the link."""


class Subject(StrEnum):
    """What can be listed."""

    FORMULATIONS = "formulations"
    SOLVERS = "solvers"
    LINKS = "links"
    FAMILIES = "families"
    DATA = "data"


def list_(subject: Annotated[Subject, typer.Argument(help="What to list.")]) -> None:
    """List formulations, solvers, links, families or bundled data."""
    entries = list(_listing(subject))
    width = max(len(name) for name, _ in entries)
    for name, text in entries:
        typer.echo(f"{name:{width}s}  {text}".rstrip())


def show(id: Annotated[str, typer.Argument(metavar="ID", help="Of a formulation, a family or a solver.")]) -> None:
    """Show a formulation with its equation, source, signs and links, or a family, or a solver."""
    with sentences():
        typer.echo(_page(id))


def graph(file: Annotated[Path, typer.Argument(metavar="FILE", help="To write: .svg or .png for a drawing, .dot for graphviz.")]) -> None:
    """Draw the families and the links between their formulations."""
    with sentences():
        check_writable(file)
        from equimargin.draw.graph import draw

        draw(file)


def _listing(subject: Subject) -> Iterator[tuple[str, str]]:
    from equimargin.formulations import REGISTRY, families

    if subject is Subject.DATA:
        from equimargin.data import BUNDLED

        yield from ((name, f"{text} ({task})") for name, (text, task) in BUNDLED.items())
    elif subject is Subject.FAMILIES:
        for family in families():
            yield family, ", ".join(entry.id for entry in REGISTRY.values() if entry.family == family and not entry.control)
    elif subject is Subject.FORMULATIONS:
        for entry in REGISTRY.values():
            yield entry.id, "; ".join(map(str, entry.sources)) + (" [control]" if entry.control else "")
    elif subject is Subject.SOLVERS:
        from equimargin.solvers import BACKENDS, SOLVERS

        yield from ((name, "cvxpy backend for declared problems") for name in BACKENDS)
        yield from ((solver.name, solver.algorithm) for solver in SOLVERS.values())
    else:
        from equimargin.formulations import links

        for link in links.LINKS:
            yield f"{link.a} {_ARROWS[link.kind]} {link.b}", f"[{link.kind}; {link.status}] {link.statement}"


def _page(id: str) -> str:
    from equimargin.formulations import DOCUMENTS, REGISTRY, families, links
    from equimargin.solvers import BACKENDS, SOLVERS

    if id in REGISTRY:
        entry = REGISTRY[id]
        lines = [f"{entry.id}   (family {entry.family})"]
        if entry.control:
            lines.append("A control: wrong on purpose or a look-alike, it must disagree.")
        lines += ["", entry.statement, "", f"LaTeX   {entry.latex}", "", "Printed in"]
        lines += [f"  {source}: {DOCUMENTS[source.document]}" for source in entry.sources]
        for link in links.of(id):
            other = link.b if link.a == id else link.a
            lines += ["", f"{link.kind.capitalize()}: {other}   [{link.status}]", f"  {link.statement}"]
            lines += [f"  Holds for {link.conditions}."] if link.conditions != "always" else []
            if isinstance(link, links.NotEquivalent):
                lines.append(f"  On the counterexample {link.a} is worth {link.values[0]:.6g}, {link.b} {link.values[1]:.6g}.")
        return "\n".join(lines)
    if id in families():
        return f"{id}\n" + "\n".join(f"  {entry.id}" for entry in REGISTRY.values() if entry.family == id)
    if id in SOLVERS:
        return f"{id}\n  {SOLVERS[id].algorithm}\n  for {', '.join(SOLVERS[id].families)}"
    if id in BACKENDS:
        return f"{id}\n  cvxpy backend for declared problems"
    raise ValueError(f"nothing is called {id!r}; see `equimargin list formulations`, `list families`, `list solvers`")
