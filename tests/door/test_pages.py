"""Pages of the documentation, followed from an empty folder.

Their Python runs, and their commands print the output shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pages
from places import HANG, ROOT

DOCS = ROOT / "docs"
WRITTEN = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if any(
        block.language in ("python", "console")
        for block in pages.blocks(page.read_text(encoding="utf-8"))
    )
    and page.relative_to(DOCS).parts[0] != "atlas"
    and "api" not in page.parts
    and page.relative_to(ROOT).as_posix()
    not in (*pages.FOLLOWED_AS_BUILT, pages.FOLLOWED_WITH_A_PACKAGE)
]
"""Handwritten pages with code to run."""


@pytest.mark.slow
@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_is_followed_from_an_empty_folder(page: Path, tmp_path: Path) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    modules = f"{ROOT / 'src'}:{ROOT / 'examples'}"
    environment = os.environ | {
        "PYTHONPATH": modules,
        "PATH": programs,
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "80",
    }
    command = [sys.executable, "-W", "error", str(ROOT / "tests" / "pages.py"), str(page)]
    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_wrong_page_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    right = "```python\nprint('one', 2)\n```\n\n```text\none 2\n```\n"
    page.write_text(right, encoding="utf-8")
    assert list(pages.follow(page)) == []
    for wrong in (
        right.replace("one 2", "two 2"),
        right.replace("one 2", "one 3"),
        right.replace("print", "prin"),
        "```console\n$ false\n```\n",
        "```sh\nrm x\n```\n",
    ):
        page.write_text(wrong, encoding="utf-8")
        assert len(list(pages.follow(page))) == 1, wrong


def test_every_family_is_told_from_the_others() -> None:
    """The page that asks which problem is yours names every family."""
    from oracles.own_entries import own_families

    page = (DOCS / "which.md").read_text(encoding="utf-8")
    assert set(own_families()) <= set(re.findall(r"`(?:[^`<]* <family-)?([\w.]+)>?`", page))
