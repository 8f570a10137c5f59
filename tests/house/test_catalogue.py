"""Catalogue: the forms of the registry with sources; the errata name existing forms."""

from __future__ import annotations

import re

import pytest

from equimargin.formulations import REGISTRY
from oracles.own_entries import PRINTED
from places import ROOT

CATALOGUE = (ROOT / "proofs" / "catalogue.md").read_text(encoding="utf-8")
ERRATA = (ROOT / "proofs" / "errata.md").read_text(encoding="utf-8")
NAMES_IN_TABLES = sorted(
    {
        name
        for line in ERRATA.splitlines()
        if line.startswith("|")
        for name in re.findall(r"`([^`]+)`", line)
    }
)


def rows(section: str) -> list[list[str]]:
    """Return the cells of the table below a heading of the catalogue, without its head."""
    lines = [
        line
        for line in CATALOGUE.split(f"\n## {section}\n")[1].split("\n## ")[0].splitlines()
        if line.startswith("| `")
    ]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_catalogue_lists_every_form_with_its_family_source_and_variables() -> None:
    expected = {
        (entry.id, entry.family, "; ".join(map(str, entry.sources)), entry.carries)
        for entry in PRINTED.values()
        if not entry.control
    }
    assert {tuple(row) for row in rows("Families and their published forms")} == expected


def test_the_catalogue_lists_every_negative_control() -> None:
    expected = {
        (entry.id, entry.family, "; ".join(map(str, entry.sources)))
        for entry in PRINTED.values()
        if entry.control
    }
    assert {tuple(row) for row in rows("Negative controls")} == expected


@pytest.mark.parametrize("name", NAMES_IN_TABLES)
def test_what_the_errata_name_exists(name: str) -> None:
    if name.startswith("test_"):
        assert any(
            f"def {name}(" in file.read_text(encoding="utf-8")
            for file in (ROOT / "tests").rglob("test_*.py")
        )
        return
    file = ROOT / "proofs" / "rocq" / f"{name.split('.')[0]}.v"
    stated = (
        re.findall(
            r"^(?:Theorem|Lemma|Corollary)\s+(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
        )
        if file.exists()
        else []
    )
    assert (
        name in REGISTRY
        or name in {entry.family for entry in REGISTRY.values()}
        or name.split(".")[-1] in stated
    )
