"""Commands `list`, `show`, `graph` and `atlas` on formulations and their relations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equimargin.cli.options.names import choices, match_prefix
from equimargin.cli.options.shared import MarkdownOption, PluginOption
from equimargin.cli.output.errors import report_errors
from equimargin.cli.output.files import check_writable, writing
from equimargin.cli.output.waiting import WaitingBar

if TYPE_CHECKING:
    from equimargin.formulations import Kernel
    from equimargin.solvers.backends.table import Backend

_ARROWS = {
    "equivalence": "<->",
    "strong equivalence": "<=>",
    "rescaling": "<~>",
    "relaxation": "<=",
    "not equivalent": "=/=",
}
"""Sign between two related formulations in a list, by the kind of the relation."""
OFTEN_MEANT = (
    "svm.soft",
    "svm.l2",
    "svm.hard",
    "rank.l1",
    "rank.l2",
    "rank.hard",
    "svr.l1",
    "svr.l2",
    "svr.hard",
)
"""Families suggested first for an unknown name."""
SHOWN_SEED = 1
"""Seed of the sample data that `show` prints for a family."""
CONTENTS = {
    "data": "data sets, of the package or to fetch",
    "families": "optimisation problems, each with its formulations",
    "formulations": "equations of these problems, each with its source",
    "solvers": "specialised solvers, and backends, installed or not",
    "kernels": "kernels",
    "links": "relations between formulations",
    "plugins": "loaded plug-ins, with their origin",
}
"""Subjects of `list`, with the contents of each."""


def list_(  # prose-ok: param-section
    subject: Annotated[
        str | None,
        typer.Argument(
            parser=lambda text: match_prefix(text, [*CONTENTS]),
            metavar="[SUBJECT]",
            help=f"{choices(CONTENTS).capitalize()}; by default a list of these.",
        ),
    ] = None,
    markdown: MarkdownOption = None,
    plugin: PluginOption = None,
) -> None:
    """List data, families, solvers and more.

    Entries of plug-ins are listed with their origin.
    """
    with report_errors(), writing(markdown) as write:
        check_writable(markdown)
        entries = [*(CONTENTS.items() if subject is None else _listing(subject))]
        if markdown is not None:
            from equimargin.formulations.markdown import markdown_table

            names = ("name", "content" if subject is None else CONTENTS[subject])
            write(markdown, markdown_table(names, entries, words=names))
            return
        width = max((len(name) for name, _ in entries), default=0)
        for name, text in entries:
            typer.echo(f"{name:{width}s}  {text}".rstrip())


def show(  # prose-ok: param-section
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a formulation, family, solver or kernel.")
    ],
    plugin: PluginOption = None,
) -> None:
    """Show a formulation with its equation, source and links.

    Families, solvers and kernels have a page too.
    """
    with report_errors():
        typer.echo(_page(id))


def graph(  # prose-ok: param-section
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Output file: .svg, .png or .pdf, or .dot for graphviz."
        ),
    ],
) -> None:
    """Draw the families and the links between their formulations."""
    with report_errors():
        check_writable(file)
        from equimargin.draw.graph import draw

        draw(file)


def atlas(  # prose-ok: param-section
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Output folder, new or empty.")],
    pyodide: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of npm's package pyodide, to check certificates in a browser.",
        ),
    ] = None,
    plugin: PluginOption = None,
) -> None:
    """Write linked pages of all families, for a browser.

    Each formulation has its equation, code, links, theorems and dual; one page checks
    certificates.
    """
    with report_errors():
        from equimargin.atlas import write_atlas

        with WaitingBar("writing the pages"):
            count = write_atlas(folder, pyodide)
        typer.echo(f"{count} pages; begin with {folder / 'index.html'}")


def _listing(subject: str) -> Iterator[tuple[str, str]]:
    from equimargin.formulations import FAMILIES, REGISTRY

    # Imported per subject: only the tables of the requested one are loaded.
    if subject == "data":
        from equimargin.data import BUNDLED

        yield from ((name, f"{text} ({task})") for name, (text, task) in BUNDLED.items())
        yield from _public_data()
    elif subject == "plugins":
        from equimargin.own.plugins import LOADED

        if not LOADED:
            yield (
                "none",
                "--plugin MODULE loads one; those that installed packages name in their entry "
                "points are loaded by themselves",
            )
        for plugin in LOADED.values():
            yield (
                plugin.module,
                f"{plugin.origin}: not loaded, {plugin.failure}"
                if plugin.failure
                else plugin.origin,
            )
    elif subject == "kernels":
        from equimargin.formulations.kernels.registry import KERNELS

        for name, made in KERNELS.items():
            yield name, (made.__doc__ or "").partition("\n")[0] + _origin(made.__module__)
    elif subject == "families":
        for family in FAMILIES:
            entries = [entry for entry in REGISTRY.values() if entry.family == family]
            names = ", ".join(entry.id for entry in entries if not entry.control)
            yield family, names + _origin(entries[0].module)
    elif subject == "formulations":
        for entry in REGISTRY.values():
            sources = "; ".join(map(str, entry.sources))
            yield (
                entry.id,
                sources + (" [negative control]" if entry.control else "") + _origin(entry.module),
            )
    elif subject == "solvers":
        yield from _solvers()
    else:
        from equimargin.formulations import links

        for link in links.LINKS:
            yield (
                f"{link.a} {_ARROWS[link.kind]} {link.b}",
                f"[{link.kind}; {link.status}] {link.statement}",
            )


def _public_data() -> Iterator[tuple[str, str]]:
    """Yield the public data sets, those that are not fetched with the command for it."""
    from equimargin.data.sets.published import PUBLIC, is_fetched

    for name, known in PUBLIC.items():
        here = "fetched" if is_fetched(name) else f"equimargin data fetch {name}"
        yield name, f"{known.text} ({known.task or 'programs'}; {here})"


def _solvers() -> Iterator[tuple[str, str]]:
    """Yield all solvers: those of comparisons, those that run if named, and missing ones."""
    from equimargin.solvers import BACKENDS, SOLVERS
    from equimargin.solvers.backends.installed import installed_backends, missing_backends

    yield from ((name, "backend of cvxpy, which comparisons run") for name in BACKENDS)
    yield from (
        (solver.name, solver.algorithm + _origin(solver.module)) for solver in SOLVERS.values()
    )
    for name, backend in installed_backends().items():
        if name not in BACKENDS:
            yield name, f"backend of {backend.origin}, which runs if named"
    for name, command in missing_backends():
        yield name, f"not installed: {command}"


def _origin(module: str) -> str:
    """Return the origin of a registered object in brackets; empty for the package's own."""
    from equimargin.own.plugins import describe_origin

    origin = describe_origin(module)
    return f"   [{origin}]" if origin else ""


def _page(id: str) -> str:
    from equimargin.data.sets import SET_NAMES
    from equimargin.formulations import FAMILIES, REGISTRY
    from equimargin.formulations.kernels.registry import KERNELS
    from equimargin.formulations.numeric.arguments import did_you_mean
    from equimargin.solvers import BACKENDS, SOLVERS
    from equimargin.solvers.backends.installed import installed_backends, missing_backends

    known = {
        name.lower(): name
        for name in (*OFTEN_MEANT, *REGISTRY, *FAMILIES, *SOLVERS, *BACKENDS, *KERNELS)
    }
    # Names are matched ignoring case; a data set has no page.
    name = known.get(id.lower(), id)
    if name in REGISTRY:
        return "\n".join(_of_formulation(name))
    if name in FAMILIES:
        return "\n".join(_of_family(name))
    if name in SOLVERS:
        return "\n".join(_of_solver(name))
    if name in KERNELS:
        return "\n".join(_of_kernel(name, KERNELS[name]))
    if id in SET_NAMES:
        raise ValueError(
            f"{id} is a data set, which has no page; `equimargin list data` describes it"
        )
    # Looked up last, because this imports the solvers of cvxpy.
    backends, missing = installed_backends(), dict(missing_backends())
    if id.upper() in backends:
        return "\n".join(_of_backend(backends[id.upper()]))
    if id.upper() in missing:
        command = missing[id.upper()]
        return f"{id.upper()}   (a backend that is not installed)\n\nInstall   {command}"
    known |= {name.lower(): name for name in backends}
    everything = (
        "; all names are in `equimargin list formulations`, `list families`, `list solvers` and "
        "`list kernels`"
    )
    raise ValueError(f"unknown name {id!r}{did_you_mean(id, list(known.values())) or everything}")


def _of_kernel(name: str, made: type[Kernel]) -> Iterator[str]:
    """Yield the page of a kernel: definition, parameters and semidefiniteness."""
    from dataclasses import MISSING, fields
    from inspect import getdoc

    parameters = [
        field.name if field.default is MISSING else f"{field.name} = {field.default:g}"
        for field in fields(made)
    ]
    yield from (
        f"{name}   (a kernel)",
        "",
        getdoc(made) or "",
        f"Parameters   {', '.join(parameters) or 'none'}",
    )
    if not made.positive_semidefinite:
        yield "It is not positive semidefinite: no optimum is claimed with it."


def _of_formulation(id: str) -> Iterator[str]:
    """Yield the page of a formulation: equation, sources and relations."""
    from equimargin.formulations import REGISTRY, links

    entry = REGISTRY[id]
    yield f"{entry.id}   (family {entry.family})"
    if entry.control:
        yield "A negative control: wrong on purpose or nonequivalent, so that it must disagree."
    latex = [f"LaTeX   {entry.latex}", ""] if entry.latex else []
    statement = ["", entry.statement] if entry.statement else []
    yield from (*statement, "", *latex, "Published in")
    yield from (f"  {source}: {source.full}" for source in entry.sources)
    for link in links.of(id):
        other = link.b if link.a == id else link.a
        yield from (
            "",
            f"{link.kind.capitalize()}: {other}   [{link.status}]",
            f"  {link.statement}",
        )
        if link.conditions != "always":
            yield f"  Holds for {link.conditions}."
        if isinstance(link, links.NotEquivalent):
            yield (
                f"  On the counterexample the optimum of {link.a} is {link.values[0]:.6g}, that "
                f"of {link.b} {link.values[1]:.6g}."
            )


def _of_family(id: str) -> Iterator[str]:
    """Yield the page of a family.

    The page has the equation of the first formulation that is no negative control, all
    formulations, the solvers, and the relations to other families.
    """
    from equimargin.formulations import REGISTRY, links
    from equimargin.solvers import SOLVERS

    # Negative controls last: the first entry states the problem of the family.
    entries = sorted(
        (entry for entry in REGISTRY.values() if entry.family == id),
        key=lambda entry: entry.control,
    )
    latex = [f"LaTeX   {entries[0].latex}", ""] if entries[0].latex else []
    statement = ["", entries[0].statement] if entries[0].statement else []
    yield from (id, *statement, "", *latex, "Formulations")
    width = max(len(entry.id) for entry in entries) + 2
    for entry in entries:
        control = (
            "   [negative control: wrong on purpose, or nonequivalent]" if entry.control else ""
        )
        yield f"  {entry.id:{width}s}{'; '.join(map(str, entry.sources))}{control}".rstrip()
    yield from ("", "Specialised solvers")
    takers = [solver for solver in SOLVERS.values() if solver.takes(id)]
    never = " [a reference: auto never chooses it]"
    yield from (
        f"  {solver.name}: {solver.algorithm}{never if solver.reference else ''}"
        for solver in takers
    )
    if not takers:
        yield "  none; exact_optimum solves small problems"
    yield from _data_of(id)
    ids = {entry.id for entry in entries}
    others = [link for link in links.LINKS if (link.a in ids) != (link.b in ids)]
    if others:
        yield from ("", "Links to other families")
        yield from (
            f"  {link.a} {_ARROWS[link.kind]} {link.b}   [{link.kind}; {link.status}]"
            for link in others
        )
    yield from ("", "Documents")
    documents = {source.document: source.full for entry in entries for source in entry.sources}
    yield from (f"  {name}: {full}" for name, full in documents.items())


def _data_of(id: str) -> Iterator[str]:
    """Yield sample data of a user-defined family in the format of a JSON file.

    Nothing is yielded for other families, or if no data can be generated.
    """
    from equimargin.formulations.declarations.family import program_families

    family = program_families().get(id)
    if family is None or family.data is None:
        return
    try:
        from equimargin.own.data import in_json
        from equimargin.own.instances import drawn
    # Without hypothesis no data can be generated.
    except ImportError:
        return
    text = in_json(drawn(family, SHOWN_SEED))
    yield from (
        "",
        f"Data of --draw {SHOWN_SEED}, in the format of a JSON file",
        f"  {text}",
    )


def _of_solver(name: str) -> Iterator[str]:
    """Yield the page of a solver: algorithm, families, use by "auto" and documentation."""
    from inspect import getdoc, getmodule

    from equimargin.solvers import SOLVERS
    from equimargin.solvers.registry import DEVICE_SOLVERS

    entry = SOLVERS[name]
    order = [solver.name for solver in SOLVERS.values() if not solver.reference]
    yield from (
        f"{name}   (a specialised solver)",
        f"  {entry.algorithm}",
        "",
        f"For      {', '.join(entry.families)}",
    )
    if entry.reference:
        yield "auto     never chooses it: it is for comparison only"
    else:
        place = order.index(name)
        after = f"after {', '.join(order[:place])}" if place else "before all others"
        yield (
            f"auto     chooses it if it supports the problem, {after}; solvers that suit the "
            f"problem's size go first"
        )
    if name in DEVICE_SOLVERS:
        yield "Card     runs on an NVIDIA card if it is named: device='cuda', --device cuda"
    yield from (f"Source   {entry.module}", "", getdoc(getmodule(entry.function)) or "")


def _of_backend(backend: Backend) -> Iterator[str]:
    """Yield the page of a backend: its programs, and its role in comparisons."""
    from equimargin.solvers import BACKENDS

    name = backend.name
    if name not in BACKENDS:
        yield from (
            f"{name}   (a backend of {backend.origin})",
            f"  used by compare, bound and judge if named in full (--solver {name})",
            "  has no answer to a program that it does not take",
        )
        return
    cones = (
        "quadratic, linear and second-order cone programs"
        if backend.conic
        else "quadratic and linear programs"
    )
    where = (
        "every program"
        if backend.suited == "any"
        else f"{backend.suited} programs, on others only if named in full (--solver {name})"
    )
    yield from (
        f"{name}   (a cvxpy backend for declared problems)",
        f"  {cones}",
        f"  used by compare on {where}",
    )
    yield "  auto never chooses it: it solves declarations (solve_declaration), not problems"
