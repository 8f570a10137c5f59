"""Targets of the Makefile: `make help` lists all, in five groups, and pages name no other."""

from __future__ import annotations

import re
import subprocess

from pages import blocks
from places import HANG, ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
GROUPS = ["Use", "Check", "Prove", "Measure", "Release"]
COLUMNS = 100
"""Maximum columns of a line of `make help`."""


def test_help_lists_every_target_once_in_five_groups() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG,
    ).stdout.splitlines()
    headings = [line for line in listed if line and not line.startswith(" ")]
    assert [heading.partition(";")[0] for heading in headings] == GROUPS
    entries = [line.split(maxsplit=1) for line in listed if line.startswith(" ")]
    assert [entry for entry in entries if len(entry) != 2] == []
    assert sorted(name for name, _ in entries) == sorted(TARGETS)
    assert max(map(len, listed)) <= COLUMNS


def test_every_listed_target_is_phony() -> None:
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert sorted(phony[1].replace("\\\n", " ").split()) == sorted(TARGETS)


def test_pages_name_targets_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("docs/**/*.md")]
    named: dict[str, str] = {}
    for page in set(pages) - {ROOT / "CHANGELOG.md"}:
        text = page.read_text(encoding="utf-8")
        commands = re.findall(r"`make\s([^`]+)`", text)
        for block in blocks(text):
            commands += re.findall(r"^make ([^#\n]+)", block.text, re.MULTILINE)
        for command in commands:
            words = re.split("['\"]", command)[0].split()
            named |= {word: page.name for word in words if re.fullmatch("[a-z][a-z-]*", word)}
    assert {"check", "demo", "proofs"} <= named.keys()
    assert {word: page for word, page in named.items() if word not in TARGETS} == {}
