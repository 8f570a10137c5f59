"""Metadata: one name, version, licence, description and address in all files."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace

import equimargin
import metadata
from places import ROOT

PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
RELEASED = metadata.Metadata(
    {
        "name": "tight",
        "version": "1.2.0",
        "license": "MIT",
        "requires-python": ">=3.12",
        "keywords": ["bounds", "duality"],
        "authors": [{"name": "The authors"}],
        "urls": {"Source": "https://example.org/tight", "Issues": "https://example.org/issues"},
    },
    "# tight\n\nIt is fast.\n\ntight is\na solver.\n\nMore.\n",
    "## Unreleased\n\n## [1.2.0] - 2027-03-04\n\n## [1.1.0] - 2027-02-01\n",
)
"""Metadata of a version with a date and an address."""


def test_citation_and_codemeta_are_written_from_this_pyproject() -> None:
    for name, text in metadata.read().to_files().items():
        stored = (ROOT / name).read_text(encoding="utf-8")
        assert stored == text, f"{name} differs from pyproject.toml; run: make metadata"


def test_name_version_licence_and_description_agree_in_all_files() -> None:
    project = tomllib.loads(PYPROJECT)["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = {key: json.loads(v) for key, v in re.findall(r'^([a-z-]+): (".*")$', citation, re.M)}
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert cited["title"] == codemeta["name"] == project["name"]
    assert cited["version"] == codemeta["version"] == project["version"] == equimargin.__version__
    assert cited["license"] == project["license"]
    assert codemeta["license"] == f"https://spdx.org/licenses/{project['license']}"
    assert cited["abstract"] == codemeta["description"]
    subject = project["description"].removeprefix("A ").partition(":")[0]
    assert subject in cited["abstract"]


def test_citation_of_a_release_has_its_date_and_address() -> None:
    assert RELEASED.to_citation() == (
        'cff-version: "1.2.0"\n'
        'message: "If you use equimargin in your research, please cite it as below."\n'
        'type: "software"\n'
        'title: "tight"\n'
        'abstract: "tight is a solver."\n'
        'version: "1.2.0"\n'
        'date-released: "2027-03-04"\n'
        'license: "MIT"\n'
        'repository-code: "https://example.org/tight"\n'
        "keywords:\n"
        '  - "bounds"\n'
        '  - "duality"\n'
        "authors:\n"
        '  - {"name": "The authors"}\n'
    )
    codemeta = json.loads(RELEASED.to_codemeta())
    assert codemeta["datePublished"] == "2027-03-04"
    assert codemeta["codeRepository"] == "https://example.org/tight"
    assert codemeta["issueTracker"] == "https://example.org/issues"


def test_citation_before_a_release_has_neither_date_nor_address() -> None:
    known = {key: entry for key, entry in RELEASED.project.items() if key != "urls"}
    early = replace(RELEASED, project=known | {"version": "1.3.0"})
    for text in early.to_files().values():
        assert not re.search("2027|example.org|date|repository-code|codeRepository|null", text)


def test_addresses_of_pyproject_are_filled_in_by_removing_a_comment() -> None:
    form = re.sub(r"^# (?=\[project\.urls\]|\w+ = \"https://HOST)", "", PYPROJECT, flags=re.M)
    project = tomllib.loads(form)["project"]
    assert project.keys() - tomllib.loads(PYPROJECT)["project"].keys() <= {"urls"}
    assert {"Source", "Issues"} <= project["urls"].keys()
