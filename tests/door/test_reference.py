"""Reference: an entry for every name that a user can write.

The lists of the command line are looked up on the pages.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from places import HANG, ROOT, find_module

EXTENSIONS = ROOT / "docs" / "_extensions"
PLACES = {
    "formulations": "formulation-{}",
    "families": "family-{}",
    "solvers": "solver-{}",
    "kernels": "kernel-{}",
}
"""Name of the anchor of each item printed by `equimargin list`, by subject."""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the text of every page of the reference, built anew in a separate process.

    The text is that for Sphinx.
    """
    code = "import json, reference; print(json.dumps(reference.pages()))"
    return dict(json.loads(python("-c", code)))


def python(*arguments: str) -> str:
    """Return the output of Python with the package and the docs' extensions."""
    path = f"{ROOT / 'src'}:{ROOT / 'examples'}:{EXTENSIONS}"
    environment = os.environ | {"PYTHONPATH": path, "COLUMNS": "400"}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=HANG,
    ).stdout


def listed(subject: str) -> list[str]:
    """Return the names that the command line lists of a subject, in every environment."""
    lines = python("-m", "equimargin", "list", subject).splitlines()
    of_this_environment = ("which runs if named", "not installed: ")
    return [
        line.split()[0] for line in lines if not any(part in line for part in of_this_environment)
    ]


def test_code_with_a_letter_behind_it_is_valid_markup() -> None:
    code = "import docstrings; print(docstrings.escaped('for `Problem`s, `a` and `b`:'))"
    assert python("-c", code) == "for ``Problem``\\ s, ``a`` and ``b``:\n"


def test_titles_of_the_examples_are_underlined_to_their_end() -> None:
    for file in sorted((ROOT / "examples").rglob("*.py")):
        lines = (ast.get_docstring(ast.parse(file.read_text())) or "").splitlines()
        if len(lines) > 1 and set(lines[1]) == {"="}:
            assert len(lines[1]) >= len(lines[0]), file


@pytest.mark.slow
@pytest.mark.parametrize("subject", PLACES)
def test_what_is_listed_has_one_place(pages: dict[str, str], subject: str) -> None:
    places = re.findall(r"^\((\S+)\)=$", "\n".join(pages.values()), re.MULTILINE)
    names = listed(subject)
    assert len(names) > 4
    for name in names:
        wanted = {PLACES[subject].format(name)} | (
            {f"backend-{name}"} if subject == "solvers" else set()
        )
        assert len([place for place in places if place in wanted]) == 1, name


@pytest.mark.slow
def test_every_link_has_its_sentence(pages: dict[str, str]) -> None:
    lines = python("-m", "equimargin", "list", "links").splitlines()
    assert pages["atlas/links.md"].count("\n### ") == len(lines) > 50
    for line in lines:
        statement = re.sub(r"\W+", " ", line.partition("] ")[2])
        assert statement in re.sub(r"\W+", " ", pages["atlas/links.md"].replace("\\", "")), line


def test_the_help_of_commands_fits_its_page(pages: dict[str, str]) -> None:
    assert max(map(len, pages["reference/commands.md"].splitlines())) <= 90


@pytest.mark.slow
def test_every_command_and_option_is_there(pages: dict[str, str]) -> None:
    commands = re.findall(
        r"^│ ([a-z-]+(?: [a-z]+)?)  ",
        python("-m", "equimargin", "--help").partition(" Commands ")[2],
        re.MULTILINE,
    )
    assert len(commands) > 8
    assert "study merge" in commands
    for command in commands:
        assert f"(command-{command.replace(' ', '-')})=" in pages["reference/commands.md"]
        for option in re.findall(
            r"^│ [* ]*(--[a-z0-9-]+)",
            python("-m", "equimargin", *command.split(), "--help"),
            re.MULTILINE,
        ):
            assert option in pages["reference/commands.md"]


def test_every_bundled_data_set_is_there(pages: dict[str, str]) -> None:
    for name in listed("data"):
        assert f"`{name}`" in pages["reference/data.md"]


def test_every_public_name_is_there(pages: dict[str, str]) -> None:
    """Names are read from the sources.

    A module with `__all__` or named in the README has its page.
    """
    for page, text in pages.items():
        if (name := re.fullmatch(r"reference/api/(equimargin.*)\.md", page)) is None:
            continue
        folder = ROOT / "src" / name[1].replace(".", "/")
        source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        for public in names_of(source.read_text(encoding="utf-8")):
            assert re.search(rf"^\.\. \S+:: (?:\S+\.)?{public}$", text, re.MULTILINE), (
                name[1],
                public,
            )
    imported = re.findall(
        r"^from (equimargin\S*) import",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert {f"reference/api/{module}.md" for module in imported} <= set(pages)


def names_of(source: str) -> list[str]:
    """Return `__all__` or, without one, the public functions and classes."""
    tree = ast.parse(source).body
    for node in tree:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
    return [
        node.name
        for node in tree
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    checker = find_module(EXTENSIONS / "check_links.py")
    assert checker.main(tmp_path) == 1
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">x</a><a href="https://example.org">y</a><p id="here">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here">x</a><p id="there">', encoding="utf-8")
    assert checker.main(tmp_path) == 0
    for wrong in (
        '<a href="c.html">',
        '<a href="a.html#nowhere">',
        '<script src="https://example.org/x.js">',
        '<img src="x.png">',
    ):
        (tmp_path / "c2.html").write_text(wrong, encoding="utf-8")
        assert len(list(checker.faults(tmp_path))) == 1, wrong
