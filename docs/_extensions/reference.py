"""Pages of the reference, generated from the registries.

`pages()` returns the text of every page in MyST, by its path below `docs`, and does not
need Sphinx. The pages of families are those of the atlas.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from docstrings import escaped
from ledger_rows import write_ledger_rows
from typer.testing import CliRunner

from equimargin.atlas import pages as atlas
from equimargin.atlas.markdown import code, plain
from equimargin.atlas.writing import write_checker
from equimargin.cli.app import app as program
from equimargin.data import BUNDLED
from equimargin.data import PUBLIC as PUBLIC_SETS
from equimargin.formulations import FAMILIES
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.solvers import BACKENDS, SOLVERS

PUBLIC = {
    "equimargin": "`compare`: your data; `bound`, `judge`: programs of your own.",
    "equimargin.data": "Arrays from files and data frames; bundled and public data sets.",
    "equimargin.formulations": "Problems from arrays, and their formulations as cvxpy problems.",
    "equimargin.solvers": "Specialised solvers, backends, exact optima and regularisation paths.",
    "equimargin.proofs": "Proven intervals, audits, certificates and verdicts.",
    "equimargin.estimators": "scikit-learn estimators with proven bounds.",
    "equimargin.svm": "Support vector machines under scikit-learn's names.",
    "equimargin.distributed": "Linear problems beyond one machine.",
    "equimargin.selection": "Selection of the cost and the kernel.",
    "equimargin.metrics": "Scores of rankings, comparisons of two, and errors of levels.",
    "equimargin.boundaries": "Thresholds that turn scores into ranks.",
    "equimargin.adapters": "Third-party programs as solvers.",
    "equimargin.equivalence": "Proofs and counterexamples of the equivalence of two problems.",
    "equimargin.own": "User-defined families, solvers and kernels.",
    "equimargin.testing": "Hypothesis strategies and checks for your own tests.",
}
"""Public modules, each with its content."""


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx reads its sources.

    Examples that run in the build register formulations, which are not on these pages.
    """
    app.add_config_value("pyodide", "", "html")
    app.connect("builder-inited", lambda app: write(Path(app.srcdir), pages()), priority=100)
    app.connect("build-finished", check_in_browser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def check_in_browser(app: Any, failed: Exception | None) -> None:
    """Write the page that checks certificates in a browser.

    It contains Python for browsers if the option `pyodide` names its folder.
    """
    if failed is None and app.builder.format == "html":
        write_checker(
            Path(app.outdir) / "atlas", Path(app.config.pyodide) if app.config.pyodide else None
        )


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write every page that is missing or differs, so that Sphinx rereads no unchanged page."""
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return all pages by their paths below `docs`."""
    made = {
        "solvers.md": _solvers(),
        "commands.md": _commands(),
        "kernels.md": _kernels(),
        "data.md": _data(),
        "api/index.md": _modules(),
    }
    made |= {f"api/{module}.md": _module(module) for module in PUBLIC}
    found = {f"atlas/{name}": text for name, text in atlas.pages(write_ledger_rows).items()}
    inside = "\n".join(
        sorted(
            name.removeprefix("atlas/").removesuffix(".md")
            for name in found
            if name != "atlas/index.md"
        )
    )
    found["atlas/index.md"] += f"\n```{{toctree}}\n:hidden:\n\n{inside}\n```\n"
    return found | {f"reference/{name}": "\n".join(lines) + "\n" for name, lines in made.items()}


def is_ours(module: str) -> bool:
    """Return True for a module of the project, False for one of an installed plug-in."""
    return module.startswith("equimargin.")


def _solvers() -> Iterator[str]:
    yield from ("# Solvers and backends", "")
    yield (
        "A specialised solver takes a problem and returns a solution. A backend solves "
        "one formulation of a problem, declared as a cvxpy problem."
    )
    yield from (
        "`equimargin show NAME` prints an entry of this page.",
        "",
        "## Specialised solvers",
        "",
    )
    for solver in SOLVERS.values():
        if not is_ours(solver.module):
            continue
        yield from (f"(solver-{solver.name})=", f"### {solver.name}", "")
        yield from (plain(solver.algorithm[0].upper() + solver.algorithm[1:]) + ".", "")
        taken = [
            f"{{ref}}`{family} <family-{family}>`" for family in FAMILIES if solver.takes(family)
        ]
        yield from (f"**Families:** {', '.join(taken)}.", "")
        if solver.reference:
            yield from (
                "`solve` never chooses it unless you name it: it is for comparisons only.",
                "",
            )
        yield from code(inspect.getdoc(inspect.getmodule(solver.function)) or "")
    yield from ("## Backends", "")
    for name, backend in BACKENDS.items():
        cones = (
            "quadratic, linear and second-order cone programs"
            if backend.conic
            else "quadratic and linear programs"
        )
        where = (
            "every program"
            if backend.suited == "any"
            else f"{backend.suited} programs; on others only if `--solver {name}` names it"
        )
        yield from (
            f"(backend-{name})=",
            f"### {name}",
            "",
            f"Solves {cones}. A comparison runs it on {where}.",
            "",
        )
    yield from (
        "(backend-others)=",
        "### Others",
        "",
        "Any other solver of cvxpy, any of qpsolvers (`QPSOLVERS.NAME`) and your own run if they "
        "are named in full: `equimargin list solvers` has those that are installed, and those "
        "that can be. See {doc}`/how_to/judge_solvers`.",
        "",
    )


def _commands() -> Iterator[str]:
    yield from (
        "# Commands",
        "",
        "`equimargin COMMAND --help` prints the text below in a terminal.",
        "",
    )
    # A page of 1280 pixels shows code of 90 columns without a scroll bar.
    printed = CliRunner(env={"COLUMNS": "90", "TERM": "dumb", "NO_COLOR": "1"})
    names = [str(command.name) for command in program.registered_commands]
    for group in program.registered_groups:
        commands = group.typer_instance.registered_commands  # type: ignore[union-attr]
        names += [str(group.name), *(f"{group.name} {command.name}" for command in commands)]
    for name in names:
        said = printed.invoke(program, [*name.split(), "--help"], prog_name="equimargin").output
        label = name.replace(" ", "-")
        yield from (f"(command-{label})=", f"## equimargin {name}", "", *code(said.strip()))


def _kernels() -> Iterator[str]:
    yield from (
        "# Kernels",
        "",
        "Use `--kernel NAME` on the command line, `kernel=NAME` in an estimator.",
        "",
    )
    for name, made in KERNELS.items():
        if not is_ours(made.__module__):
            continue
        parameters = [
            field.name if field.default is MISSING else f"{field.name} = {field.default:g}"
            for field in fields(made)
        ]
        yield from (f"(kernel-{name})=", f"## {name}", "", *code(inspect.getdoc(made) or ""))
        yield from (
            f"**Parameters:** {', '.join(f'`{parameter}`' for parameter in parameters) or 'none'}.",
            "",
        )
        if not made.positive_semidefinite:
            yield from (
                "This kernel is not positive semidefinite: no optimum is proven with it.",
                "",
            )


def _data() -> Iterator[str]:
    yield from (
        "# Data sets",
        "",
        "Use `equimargin compare NAME` in a terminal, `equimargin.data.load(NAME)` in Python.",
        "",
    )
    yield from ("| name | rows and columns | task |", "| --- | --- | --- |")
    yield from (f"| `{name}` | {plain(text)} | {task} |" for name, (text, task) in BUNDLED.items())
    yield from ("", "`equimargin data fetch NAME` fetches a public set once:", "")
    yield from ("| name | rows and columns | task |", "| --- | --- | --- |")
    yield from (
        f"| [`{name}`]({known.page}) | {plain(known.text)} | {known.task or 'programs'} |"
        for name, known in PUBLIC_SETS.items()
    )


def _modules() -> Iterator[str]:
    yield from ("# Python", "", "| import from | content |", "| --- | --- |")
    yield from (f"| [{module}]({module}.md) | {said} |" for module, said in PUBLIC.items())
    yield from ("", "```{toctree}", ":hidden:", "", *PUBLIC, "```")


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    described = {
        (_home(other, public), public): other
        for other in reversed(PUBLIC)
        for public in public_names(other)
    }
    yield from (f"# {name}", "", "```{eval-rst}", f".. automodule:: {name}", "   :no-members:", "")
    for public in public_names(name):
        found, home = getattr(module, public), _home(name, public)
        first = described[home, public]
        if inspect.ismodule(found):
            said = (inspect.getdoc(found) or "").partition("\n")[0]
            yield from (
                f".. py:data:: {public}",
                "",
                f"   The module ``{name}.{public}``: {escaped(said)}",
                "",
            )
        elif first != name:
            yield from (
                f".. py:data:: {public}",
                "   :no-index:",
                "",
                f"   See :doc:`{first}`.",
                "",
            )
        elif inspect.isclass(found):
            yield from (f".. autoclass:: {name}.{public}", "   :members:", "")
        elif inspect.isfunction(found):
            yield from (f".. autofunction:: {name}.{public}", "")
        else:
            yield from (f".. autodata:: {home}.{public}", "   :no-value:", "")
    yield "```"


def public_names(name: str) -> list[str]:
    """Return the names in `__all__` of a module, else its functions and classes."""
    module = import_module(name)
    defined = [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", "") == name and not key.startswith("_")
    ]
    return [public for public in getattr(module, "__all__", defined) if not public.startswith("_")]


def class_addresses() -> dict[str, str]:
    """Return the full name of every public class by its name, for links from types."""
    return {
        public: f"{name}.{public}"
        for name in reversed(PUBLIC)
        for public in public_names(name)
        if inspect.isclass(getattr(import_module(name), public))
    }


def _home(name: str, public: str) -> str:
    """Return the module that defines a public name.

    For a constant this is the module that the import statement names.
    """
    found = getattr(import_module(name), public)
    if inspect.isclass(found) or inspect.isfunction(found):
        return found.__module__
    source = inspect.getsource(import_module(name))
    imports = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    return next(
        (str(node.module) for node in imports if public in [alias.name for alias in node.names]),
        name,
    )
