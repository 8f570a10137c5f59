"""The pages of the reference, made of the registries: what is entered there has its place here without anybody writing it.

`pages()` gives every page's text in MyST by its path below `reference/`; nothing of Sphinx is needed for that.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from docstrings import escaped
from typer.testing import CliRunner

from equimargin.cli.app import app as program
from equimargin.data import BUNDLED
from equimargin.formulations import REGISTRY, families, links
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.own.plugins import origin_of
from equimargin.solvers import BACKENDS, SOLVERS

PUBLIC = {
    "equimargin": "The door: one function, which compares.",
    "equimargin.data": "Files and data frames become arrays.",
    "equimargin.formulations": "What is minimised.",
    "equimargin.solvers": "How, fast; exactly; along the path.",
    "equimargin.proofs": "Why to believe it.",
    "equimargin.estimators": "The problems as scikit-learn's estimators.",
    "equimargin.distributed": "Linear problems beyond one machine.",
    "equimargin.selection": "The best cost and the best kernel.",
    "equimargin.metrics": "What a ranking is worth.",
    "equimargin.boundaries": "Ranks from scores.",
    "equimargin.adapters": "Programs of others as solvers.",
    "equimargin.equivalence": "Are two problems one?",
    "equimargin.own": "Families, solvers and kernels of your own.",
    "equimargin.testing": "Strategies and judges for tests of your own.",
}
"""The modules that people import from, each with what it is for."""
SUBJECTS = {
    "Classification": ("svm.",),
    "Regression": ("svr.",),
    "Ranking": ("rank.", "rvm"),
    "Ordinal regression": ("ord.",),
    "Probabilities of classes": ("coupling.",),
    "Families of the field": ("",),
}
"""The subjects in which families are listed: how the names of their families begin."""
ARROWS = {"equivalence": "↔", "strong equivalence": "⇔", "rescaling": "∝", "relaxation": "≤", "not equivalent": "≠"}
"""The sign between two linked formulations, by the kind of the link."""


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx reads its sources."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "reference", pages()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write every page that is not there as it should be: an unchanged page is not read again."""
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """All pages by their paths below `reference/`."""
    made = {
        "families/index.md": _families(),
        "links.md": _links(),
        "solvers.md": _solvers(),
        "commands.md": _commands(),
        "kernels.md": _kernels(),
        "data.md": _data(),
        "api/index.md": _modules(),
    }
    made |= {f"families/{family}.md": _family(family) for family in shown_families()}
    made |= {f"api/{module}.md": _module(module) for module in PUBLIC}
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def shown_families() -> list[str]:
    """The families of the project, and of what comes along with it."""
    return [family for family in families() if members(family)]


def is_ours(module: str) -> bool:
    """Whether a module is the project's own: plug-ins that happen to be installed have no place here."""
    return module.startswith("equimargin.")


def plain(text: str) -> str:
    """Text whose every letter stands for itself in Markdown; what is between backticks stays code."""
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([\\*_{}\[\]<>$|#])", r"\\\1", piece) for piece in pieces)


def literal(text: str) -> list[str]:
    """Lines that are shown as they are."""
    return ["```text", *text.splitlines(), "```", ""]


def members(family: str) -> list[Any]:
    """The formulations of a family that are the project's or come with it, controls last."""
    entries = [entry for entry in REGISTRY.values() if entry.family == family and is_ours(entry.module)]
    return sorted(entries, key=lambda entry: entry.control)


def _families() -> Iterator[str]:
    yield from ("# Families and their formulations", "")
    yield "A family is a problem with an optimum of its own. Its formulations are different ways to write it down, and have that optimum."
    yield from ("*Controls* are wrong on purpose, or only look alike: they have another one, and must be found out.", "")
    left = shown_families()
    for subject, begins in SUBJECTS.items():
        here = [family for family in left if family.startswith(begins)]
        left = [family for family in left if family not in here]
        yield from (f"## {subject}", "", "| family | formulations | controls |", "| --- | --- | --- |")
        for family in here:
            entries = members(family)
            names = [[formulation_link(entry.id) for entry in entries if entry.control is control] for control in (False, True)]
            yield f"| [{family}]({family}.md) | {', '.join(names[0])} | {', '.join(names[1])} |"
        yield ""
    yield from ("```{toctree}", ":hidden:", "", *shown_families(), "```")


def formulation_link(id: str) -> str:
    """A link to a formulation, from wherever it is."""
    return f"{{ref}}`{id} <formulation-{id}>`" if id in REGISTRY else f"`{id}`"


def _family(family: str) -> Iterator[str]:
    entries = members(family)
    yield from (f"(family-{family})=", f"# {family}", "")
    if origin := origin_of(entries[0].module):
        yield from (f"*Where it comes from:* {plain(origin)}.", "")
    takers = [solver for solver in SOLVERS.values() if solver.takes(family) and is_ours(solver.module)]
    names = ", ".join(f"{{ref}}`{solver.name} <solver-{solver.name}>`" for solver in takers)
    yield from (f"**Specialised solvers:** {names or 'none; `exact_optimum` takes small problems'}.", "")
    for entry in entries:
        yield from _formulation(entry)
    yield from ("## Documents", "")
    documents = {source.document: source.full for entry in entries for source in entry.sources}
    yield from (f"* {plain(name)}: {plain(full)}" for name, full in documents.items())


def _formulation(entry: Any) -> Iterator[str]:
    """A formulation: its equation, where it is printed, and its links."""
    yield from (f"(formulation-{entry.id})=", f"## {entry.id}", "")
    if entry.control:
        yield from ("*A control:* wrong on purpose, or a look-alike. It must disagree.", "")
    if entry.latex:
        yield from ("$$", entry.latex, "$$", "")
    if entry.statement:
        yield from literal(entry.statement)
    yield from (f"Printed in {'; '.join(plain(str(source)) for source in entry.sources)}.", "")
    for link in links.of(entry.id):
        other = link.b if link.a == entry.id else link.a
        yield f"* {{ref}}`{link.kind} <link-{slug(link)}>` with {formulation_link(other)}: {plain(link.statement)}"
    yield ""


def slug(link: Any) -> str:
    """The name of a link on its page."""
    return f"{link.a}-{link.kind.replace(' ', '-')}-{link.b.replace(' ', '-')}"


def _links() -> Iterator[str]:
    yield from ("# Links between formulations", "")
    yield "What each kind of link states about two formulations, and about their optima. The theorems stand in `proofs/rocq`,"
    yield from ("as file.name; `make proofs` has Coq check them. `equimargin graph FILE.svg` draws all links.", "")
    for kind, sign in ARROWS.items():
        example = next(link for link in links.LINKS if link.kind == kind)
        said = (inspect.getdoc(type(example)) or "").partition("\n\n")[0]
        yield from (f"## {kind.capitalize()}", "", plain(said), "")
        for link in links.LINKS:
            if link.kind == kind:
                yield from (f"(link-{slug(link)})=", f"### {link.a} {sign} {link.b}", "")
                yield from (f"{formulation_link(link.a)} {sign} {formulation_link(link.b)}: {plain(link.statement)}", "")
                if link.conditions != "always":
                    yield from (f"It holds for {plain(link.conditions)}.", "")
                if isinstance(link, links.NotEquivalent):
                    a, b = (f"{value:.6g}" for value in link.values)
                    yield from (f"On the counterexample {plain(link.a)} is worth {a}, and {plain(link.b)} {b}.", "")
                yield from (plain(link.status[0].upper() + link.status[1:]) + ".", "")


def _solvers() -> Iterator[str]:
    yield from ("# Solvers and backends", "")
    yield "A specialised solver takes a problem and returns a point of it. A backend takes the declaration of a formulation, by cvxpy."
    yield from ("`equimargin show NAME` prints what stands here.", "", "## Specialised solvers", "")
    for solver in SOLVERS.values():
        if not is_ours(solver.module):
            continue
        yield from (f"(solver-{solver.name})=", f"### {solver.name}", "")
        yield from (plain(solver.algorithm[0].upper() + solver.algorithm[1:]) + ".", "")
        taken = [f"{{ref}}`{family} <family-{family}>`" for family in shown_families() if solver.takes(family)]
        yield from (f"**For** {', '.join(taken)}.", "")
        if solver.reference:
            yield from ("`auto` never takes it: it is there to be compared with.", "")
        yield from literal(inspect.getdoc(inspect.getmodule(solver.function)) or "")
    yield from ("## Backends", "")
    for name, backend in BACKENDS.items():
        cones = "quadratic, linear and second-order cone programs" if backend.conic else "quadratic and linear programs"
        where = "every program" if backend.suited == "any" else f"{backend.suited} programs; on others only by its name, `--solver {name}`"
        yield from (f"(backend-{name})=", f"### {name}", "", f"Takes {cones}. It is compared on {where}.", "")


def _commands() -> Iterator[str]:
    yield from ("# Commands", "", "The program is `equimargin`; `equimargin COMMAND --help` prints what stands here.", "")
    printed = CliRunner(env={"COLUMNS": "110", "TERM": "dumb", "NO_COLOR": "1"})
    for command in program.registered_commands:
        name = str(command.name)
        said = printed.invoke(program, [name, "--help"], prog_name="equimargin").output
        yield from (f"(command-{name})=", f"## equimargin {name}", "", *literal(said.strip()))


def _kernels() -> Iterator[str]:
    yield from ("# Kernels", "", "`--kernel NAME` on the command line, `kernel=NAME` of estimators.", "")
    for name, made in KERNELS.items():
        if not is_ours(made.__module__):
            continue
        parameters = [field.name if field.default is MISSING else f"{field.name} = {field.default:g}" for field in fields(made)]
        yield from (f"(kernel-{name})=", f"## {name}", "", *literal(inspect.getdoc(made) or ""))
        yield from (f"**Parameters:** {', '.join(f'`{parameter}`' for parameter in parameters) or 'none'}.", "")
        if not made.positive_semidefinite:
            yield from ("It is not positive semidefinite: no optimum is claimed with it.", "")


def _data() -> Iterator[str]:
    yield from ("# Bundled data", "", "`equimargin compare NAME` on the command line, `equimargin.data.load(NAME)` in Python.", "")
    yield from ("| name | rows and columns | task |", "| --- | --- | --- |")
    yield from (f"| `{name}` | {plain(text)} | {task} |" for name, (text, task) in BUNDLED.items())


def _modules() -> Iterator[str]:
    yield from ("# Python", "", "| import from | what for |", "| --- | --- |")
    yield from (f"| [{module}]({module}.md) | {said} |" for module, said in PUBLIC.items())
    yield from ("", "```{toctree}", ":hidden:", "", *PUBLIC, "```")


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    described = {(_home(other, public), public): other for other in reversed(PUBLIC) for public in public_names(other)}
    yield from (f"# {name}", "", "```{eval-rst}", f".. automodule:: {name}", "   :no-members:", "")
    for public in public_names(name):
        found, home = getattr(module, public), _home(name, public)
        first = described[home, public]
        if inspect.ismodule(found):
            said = (inspect.getdoc(found) or "").partition("\n")[0]
            yield from (f".. py:data:: {public}", "", f"   The module ``{name}.{public}``: {escaped(said)}", "")
        elif first != name:
            yield from (f".. py:data:: {public}", "   :no-index:", "", f"   The one of :doc:`{first}`.", "")
        elif inspect.isclass(found):
            yield from (f".. autoclass:: {name}.{public}", "   :members:", "")
        elif inspect.isfunction(found):
            yield from (f".. autofunction:: {name}.{public}", "")
        else:
            yield from (f".. autodata:: {home}.{public}", "   :no-value:", "")
    yield "```"


def public_names(name: str) -> list[str]:
    """What a module offers: its `__all__`, else the functions and classes that it defines."""
    module = import_module(name)
    defined = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == name and not key.startswith("_")]
    return [public for public in getattr(module, "__all__", defined) if not public.startswith("_")]


def _home(name: str, public: str) -> str:
    """The module that a public name comes from: a constant is described where it is written."""
    found = getattr(import_module(name), public)
    if inspect.isclass(found) or inspect.isfunction(found):
        return found.__module__
    source = inspect.getsource(import_module(name))
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module]
    return next((str(node.module) for node in imports if public in [alias.name for alias in node.names]), name)
