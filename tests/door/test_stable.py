"""Lists of stable and of renamed names on their pages, compared with the code."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any

import pytest

from equimargin.cli.app import FORMER, app
from equimargin.data import BUNDLED
from equimargin.formulations import FAMILIES, REGISTRY
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.report.records import SCHEMA_VERSION
from equimargin.solvers import BACKENDS, SOLVERS
from equimargin.study.database import SCHEMA
from places import ROOT

REFERENCE = ROOT / "docs" / "reference"
CODE = re.compile(r"`([^`]+)`")
COMMON = {0, 2, 130, 141}
"""Exit statuses with one meaning in every command."""
FORMAT = re.compile(r'"(equimargin(?: [a-z-]+)+ \d+|equimargin-certificate/\d+)"')
"""Text of a source that names a format of files."""


def section(page: str, heading: str) -> str:
    """Return the text below a heading of the second level."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the rows of all tables of a section, without their heads."""
    lines = section(page, heading).splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line, following in pairwise([*lines, ""])
        if line.startswith("| ") and not following.startswith("| ---")
    ]
    return [row for row in cells if row[0] != "---"]


def test_every_stable_name_is_public_in_its_module() -> None:
    listed = dict(rows("stable.md", "Python"))
    tree = ast.parse((ROOT / "docs" / "_extensions" / "reference.py").read_text(encoding="utf-8"))
    public = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC"
    )
    assert [CODE.findall(module) for module in listed] == [[name] for name in public]
    for cell, names in listed.items():
        module = import_module(CODE.findall(cell)[0])
        stable = CODE.findall(names)
        assert stable, cell
        assert set(stable) <= set(getattr(module, "__all__", vars(module))), cell
        assert all(hasattr(module, name) for name in stable), cell


def test_every_stable_id_is_registered() -> None:
    families = {CODE.findall(cell)[0]: CODE.findall(ids) for cell, ids in rows("stable.md", "Ids")}
    assert len(families) > 30
    assert set(families) <= set(FAMILIES)
    names = [(family, name) for family, names in families.items() for name in names]
    assert len(names) > 100
    for family, name in names:
        assert f"{family}.{name}" in REGISTRY or name in REGISTRY, (family, name)
    registries: Mapping[str, Any] = {
        "Solvers": SOLVERS,
        "Backends": BACKENDS,
        "Kernels": KERNELS,
        "Bundled data": BUNDLED,
    }
    for name, registry in registries.items():
        paragraph = section("stable.md", "Ids").partition(f"\n{name}: ")[2].partition("\n\n")[0]
        assert len(CODE.findall(paragraph)) > 3, name
        assert set(CODE.findall(paragraph)) <= set(registry), name


def stated(command: Callable[..., Any]) -> set[int] | None:
    """Return the exit statuses that the help of a command states; None if it states none."""
    said = re.search(r"Exit status:.*", inspect.getdoc(command) or "", re.DOTALL)
    return {int(number) for number in re.findall(r"[:;]\s+(\d+)\s", said[0])} if said else None


def constants() -> dict[str, set[int]]:
    """Return the constants that are documented as exit statuses, by module."""
    found: dict[str, set[int]] = {}
    for file in sorted((ROOT / "src" / "equimargin" / "cli").rglob("*.py")):
        for status in re.findall(
            r'^[A-Z_]+ = (\d+)\n"""Exit status ', file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            found.setdefault(file.stem, set()).add(int(status))
    return found


def test_exit_statuses_are_those_of_the_page() -> None:
    table = rows("stable.md", "Exit statuses")
    assert {int(row[0]) for row in table if row[0].isdigit()} == COMMON
    listed = {
        name: {int(number) for number in re.findall(r"(\d+): ", meaning)}
        for names, meaning in table
        for name in CODE.findall(names)
    }
    groups = {str(group.name): group.typer_instance for group in app.registered_groups}
    commands = {
        f"{group} {entry.name}".strip(): entry.callback
        for group, entries in {"": app, **groups}.items()
        if entries is not None
        for entry in entries.registered_commands
        if entry.callback
    }
    assert set(listed) == set(commands)
    of_module = constants()
    assert of_module.pop("ending") <= COMMON
    # The misprints of `errata` are an option of `same`.
    assert of_module.pop("errata") <= listed["same"]
    for name, command in commands.items():
        module = inspect.unwrap(command).__module__.rpartition(".")[2]
        said, own = stated(command), of_module.get(module, set())
        assert listed[name] == (own if said is None else said - COMMON), name
        assert own <= set().union(*listed.values()), name


def test_deprecated_commands_are_those_of_the_page() -> None:
    paragraph = section("stable.md", "Deprecation").partition("Deprecated at present:")[2]
    for command in FORMER:
        assert f"`{command.__name__}`" in paragraph
    assert len(CODE.findall(paragraph)) == 2 * len(FORMER)


def test_formats_of_files_are_those_of_the_page() -> None:
    listed = {row[0].strip("`") for row in rows("stable.md", "Formats of files")}
    found = {
        name
        for folder in ("formulations", "solvers", "proofs", "src")
        for file in (ROOT / folder).rglob("*.py")
        for name in FORMAT.findall(file.read_text(encoding="utf-8"))
    }
    found |= {f"schema` {SCHEMA_VERSION}", f"user_version` {SCHEMA}"}
    found |= {
        json.loads((files(package) / "schema.json").read_text(encoding="utf-8"))["$id"]
        for package in ("equimargin.report", "equimargin.proofs.certificates", "equimargin.study")
    }
    assert listed == found


def test_every_new_name_is_imported_and_no_old_one_is() -> None:
    table = rows("renamed.md", "Python")
    assert len(table) > 70
    for before, now in table:
        (old,), (new,) = CODE.findall(before), CODE.findall(now)
        resolve_name(new if new.startswith("ledger.") else f"equimargin.{new}")
        with pytest.raises((ImportError, AttributeError)):
            resolve_name(f"equimargin.{old}")


def test_renamed_commands_and_solvers_exist() -> None:
    names = {str(entry.name) for entry in app.registered_commands}
    for _, now in rows("renamed.md", "Commands"):
        assert set(re.findall(r"`equimargin ([a-z-]+)", now)) <= names
    for before, now in rows("renamed.md", "Solvers"):
        assert set(CODE.findall(now)) <= set(SOLVERS)
        assert not set(CODE.findall(before)) & set(SOLVERS)
