"""Derivations: output of their examples, uniqueness claims, and names."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pages
from equimargin.equivalence.instances import drawn, small_problems
from equimargin.formulations import FAMILIES, REGISTRY, MarginProblem, links
from equimargin.formulations.declarations.family import program_families
from equimargin.formulations.problem.base import AnyProblem
from equimargin.proofs import OptimalRanges, optimal_ranges
from ledger import claims
from oracles.own_entries import own_families
from places import HANG, ROOT

TEXTS = ROOT / "src" / "equimargin" / "atlas" / "derivations"
FILES = sorted(TEXTS.glob("*.md"))
UNKNOWNS = r"((?:`\w+`(?:, | and )?)+)"
SAID = re.compile(
    rf"^- ((?:`[\w.]+`(?:, )?)+):(?: {UNKNOWNS} always[;.])?(?: {UNKNOWNS} not always\.)?$",
    re.MULTILINE,
)
"""Line on uniqueness: formulations, unknowns always unique, and not always unique."""
DRAWS = 6
"""Number of instances of a family for uniqueness checks, besides those of its page."""
LINES = [
    (file.stem, *found)
    for file in FILES
    for found in SAID.findall(file.read_text(encoding="utf-8"))
]


def names(text: str) -> list[str]:
    """Return the texts between backticks."""
    return re.findall(r"`([\w.]+)`", text)


@cache
def followed(page: str) -> tuple[list[tuple[str, str]], dict[str, AnyProblem]]:
    """Return the expected and the real output of a page's examples, and their problems.

    The problems are listed by name.
    """
    session: dict[str, Any] = {}
    found, printed = [], ""
    for block in pages.blocks((TEXTS / f"{page}.md").read_text(encoding="utf-8")):
        if block.language == "python":
            said = io.StringIO()
            with redirect_stdout(said):
                exec(compile(block.text, page, "exec", dont_inherit=True), session)
            printed = said.getvalue()
        else:
            found.append((block.text, printed))
    return found, {name: made for name, made in session.items() if isinstance(made, AnyProblem)}


def weighted_equally(problem: Any, family: str) -> AnyProblem:
    """Return the problem without weights; slacks of rows of weight 0 cost nothing."""
    if family in program_families():
        return program_families()[family](
            {name: value for name, value in problem.items() if name != "weights"}
        )
    assert isinstance(problem, AnyProblem)
    return replace(problem, weights=None) if isinstance(problem, MarginProblem) else problem


@cache
def instances(family: str) -> list[AnyProblem]:
    """Return drawn problems of a family."""
    return [
        weighted_equally(problem, family)
        for problem in drawn(small_problems(family), 3 * DRAWS, 1)[:DRAWS]
    ]


def optima(id: str, some: Iterable[AnyProblem]) -> Iterator[OptimalRanges]:
    """Yield the optimal ranges of a formulation at the problems with an exact optimum."""
    for problem in some:
        with suppress(ValueError):
            yield optimal_ranges(id, problem)


@cache
def of_examples(id: str) -> list[OptimalRanges]:
    """Return the optimal ranges of a formulation at the examples of its page."""
    return list(optima(id, followed(REGISTRY[id].family)[1].values()))


@cache
def of_all(id: str) -> list[OptimalRanges]:
    """Return a formulation's optimal ranges at its page's examples and drawn problems."""
    return [*of_examples(id), *optima(id, instances(REGISTRY[id].family))]


def test_every_family_has_its_page() -> None:
    assert {file.stem for file in FILES} == {*own_families(), "duality"}


@pytest.mark.parametrize("family", own_families())
def test_a_page_has_every_part(family: str) -> None:
    headings = re.findall(
        r"^### (.*)$", (TEXTS / f"{family}.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert headings[0].startswith("The problem")
    assert any("dual" in heading for heading in headings)
    assert headings[-2:] == ["Conditions", "What is unique"]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_prints_what_the_page_says(file: Path) -> None:
    found, _ = followed(file.stem)
    assert found != []
    for said, printed in found:
        assert said == printed


@pytest.mark.slow
@pytest.mark.parametrize("family", own_families())
def test_every_unknown_of_every_form_is_spoken_of(family: str) -> None:
    text = (TEXTS / f"{family}.md").read_text(encoding="utf-8")
    spoken = {
        id: {*names(always), *names(some)}
        for page, ids, always, some in LINES
        if page == family
        for id in names(ids)
    }
    assert len(re.findall(r"^- `.* always\.$", text, re.MULTILINE)) == sum(
        page == family for page, *_ in LINES
    )
    for entry in REGISTRY.values():
        if entry.family == family and not entry.control:
            # Names of derived quantities, such as g = K beta.
            defined = set(re.findall(r"\b(\w+) = ", entry.statement))
            unknowns = {name for known in of_all(entry.id) for name in known}
            assert unknowns, f"{entry.id} has no exact optimum at any instance"
            assert unknowns - spoken[entry.id] <= defined | {"w", "v", "g"}, entry.id


@pytest.mark.slow
@pytest.mark.parametrize(("page", "ids", "always", "some"), LINES, ids=lambda value: value)
def test_what_is_called_unique_is_unique(page: str, ids: str, always: str, some: str) -> None:
    unknowns = {id: {name for known in of_all(id) for name in known} for id in names(ids)}
    assert {*names(always), *names(some)} <= set.union(*unknowns.values())
    for id in names(ids):
        for known in of_all(id):
            assert [
                name for name in names(always) if name in known and not known.unique(name)
            ] == [], known
        for name in set(names(some)) & unknowns[id]:
            moved = [known for known in of_examples(id) if name in known and not known.unique(name)]
            assert moved, f"no example of the page moves {name} of {id}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_page_names_what_there_is(file: Path) -> None:
    text = re.sub(
        r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    unknowns = {
        name
        for page, _, always, some in LINES
        if page == file.stem
        for name in names(always) + names(some)
    }
    assert {
        name
        for name in re.findall(r"`([^`]+)`", text)
        if name not in {*REGISTRY, *FAMILIES, *unknowns}
    } == set()
    rows = {row.id for row in claims()}
    assert {
        f"{document}.{number}"
        for document, number in re.findall(r"\b([TPKO]) \(([A-Z]?\.?\d[\d.]*)\)", text)
    } <= rows
    # The letter of the document precedes a number.
    assert re.findall(r"(?<![TPKO] )\(\d+\)", re.sub(r"\$.*?\$", "", text)) == []


@pytest.fixture(scope="module")
def built() -> dict[str, str]:
    """Return the pages, built in a separate process without other tests' registrations."""
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'examples'}:{ROOT / 'docs' / '_extensions'}"
    }
    imports = (
        "import json; from equimargin.atlas.pages import pages; from ledger_rows import "
        "write_ledger_rows"
    )
    code = f"{imports}; print(json.dumps(pages(write_ledger_rows)))"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=HANG,
    ).stdout
    return dict(json.loads(said))


@pytest.mark.slow
def test_the_documentation_has_every_page_with_its_links_and_rows(built: dict[str, str]) -> None:
    assert {name.split("/")[-1] for name in built} >= {file.name for file in FILES}
    plain = {page: text.replace("\\", "") for page, text in built.items()}
    for entry in REGISTRY.values():
        if entry.family in own_families():
            assert f"(formulation-{entry.id})=" in plain[f"families/{entry.family}.md"]
    for link in links.LINKS:
        for id in {link.a, link.b} & set(REGISTRY):
            assert link.statement in plain[f"families/{REGISTRY[id].family}.md"]
            assert link.theorem.partition(".")[2] in plain[f"families/{REGISTRY[id].family}.md"]
    assert "**T.26**, misprint" in plain["families/svm.soft.md"]


def test_the_files_that_a_page_names_are_there(built: dict[str, str]) -> None:
    for page, text in built.items():
        for path in re.findall(r"`([\w./]+\.(?:py|v|md))`", text):
            assert (ROOT / path).is_file(), (page, path)
        for path, name in re.findall(r"`([\w./]+\.py)`, `(\w+)`", text):
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), (page, path, name)
        for theorem, path, line in re.findall(
            r"Theorem \[`(\w+)`\]\(\S+\), `([\w./]+)`, line (\d+)", text
        ):
            assert (
                (ROOT / path)
                .read_text(encoding="utf-8")
                .splitlines()[int(line) - 1]
                .startswith(f"Theorem {theorem}")
            ), (page, theorem)
