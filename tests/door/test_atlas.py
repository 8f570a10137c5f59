"""The atlas has a page for everything that is registered, and every link inside it leads somewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.atlas import write_atlas
from equimargin.atlas.arcs import NAMES, diagram
from equimargin.atlas.duals import derivation, instance
from equimargin.atlas.formulation_page import address
from equimargin.atlas.spelling import letter, spelled
from equimargin.cli.app import app
from equimargin.formulations import REGISTRY, families, links
from equimargin.proofs import theorems
from equimargin.proofs.equivalence.duals import DUAL_OF, stated_form
from equimargin.solvers import SOLVERS
from oracles.own_entries import own_families
from places import ROOT


class Page(HTMLParser):
    """What a page refers to, the places that it has, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.refers: list[str] = []
        self.places: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.refers += [found[name] for name in ("href", "src") if name in found and not found[name].startswith("data:")]
        self.places += [found[name] for name in ("id", "name") if name in found and tag != "meta"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The atlas of what the project itself registers."""
    folder = tmp_path_factory.mktemp("atlas") / "atlas"
    write_atlas(folder)
    return folder


@pytest.fixture(scope="module")
def pages(atlas: Path) -> dict[Path, Page]:
    """Every page by its file."""
    return {file: Page(file.read_text(encoding="utf-8")) for file in sorted(atlas.rglob("*.html"))}


def test_the_page_on_certificates_says_what_to_do_without_python_in_the_browser(
    atlas: Path,
) -> None:
    text = (atlas / "certificates.html").read_text(encoding="utf-8")
    assert '<a href="checker.py" download>checker.py</a>' in text
    assert "python3 -I checker.py FILE" in text
    assert "it runs here, in this browser" not in text


def test_everything_has_its_page(atlas: Path) -> None:
    for id in REGISTRY:
        assert (atlas / "formulations" / f"{address(id)}.html").is_file()
    for id in families():
        text = (atlas / "families" / f"{address(id)}.html").read_text(encoding="utf-8")
        assert all(f">{solver.name}<" in text for solver in SOLVERS.values() if solver.takes(id))
    assert {file.stem for file in (atlas / "theorems").iterdir()} == set(theorems.names_of_files())


@pytest.mark.slow
def test_every_reference_leads_somewhere_inside(atlas: Path, pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        for reference in page.refers:
            assert not re.match(r"[a-z]+:|//", reference), f"{file} refers to {reference}"
            name, _, place = reference.partition("#")
            target = (file.parent / unquote(name)).resolve() if name else file
            assert target.is_file(), f"{file} refers to {reference}"
            assert target.is_relative_to(atlas.resolve())
            if place:
                assert place in pages[atlas / target.relative_to(atlas.resolve())].places, f"{file} refers to {reference}"


def test_no_page_has_a_place_twice(pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        assert len(page.places) == len(set(page.places)), file


def test_a_page_states_its_links_theorems_and_counterexamples(pages: dict[Path, Page], atlas: Path) -> None:
    for link in links.LINKS:
        text = "".join(pages[atlas / "formulations" / f"{address(link.a)}.html"].texts)
        assert link.statement in text
        if link.theorem:
            assert theorems.statement(link.theorem) in text
    wrong = "".join(pages[atlas / "formulations" / "svr.l1.dual.as_printed.html"].texts)
    assert "is worth 1, and svr.l1.dual is worth 0.5" in wrong
    assert "y = [" in wrong


def test_every_family_of_the_project_has_its_argument(atlas: Path) -> None:
    for id in own_families():
        text = (atlas / "families" / f"{address(id)}.html").read_text(encoding="utf-8")
        assert "<h2>The argument</h2>" in text, id
        assert "$" not in re.sub(r"<code>.*?</code>|<pre.*?</pre>", "", text, flags=re.DOTALL), f"{id}: an equation was not read"


def test_the_checker_is_the_projects_own(atlas: Path) -> None:
    assert (atlas / "checker.py").read_bytes() == (ROOT / "proofs" / "checker.py").read_bytes()


@pytest.mark.parametrize("primal", DUAL_OF)
def test_the_steps_end_at_the_declared_dual(primal: str) -> None:
    shown = derivation(primal)
    assert shown.agrees
    assert all(step.rule and step.program[0].startswith(r"\min") for step in shown.steps)


def test_a_program_is_spelled_with_the_names_of_its_declaration() -> None:
    lines = spelled(stated_form("svm.soft.primal", instance("svm.soft")), labels=True)
    assert lines[0] == r"\min\ \tfrac{1}{2} w_{1}^2 + \tfrac{1}{2} w_{2}^2 + \xi_{1} + \xi_{2} + \xi_{3}"
    assert lines[1] == r"z_{1}:\quad w_{2} - \xi_{1} - b \le -1"
    assert (letter("betabar_2"), letter("xihat"), letter("value_1")) == (r"\bar{\beta}_{2}", r"\hat{\xi}", r"\mathrm{value}_{1}")


def test_no_arc_runs_through_a_name_or_along_another() -> None:
    drawn = diagram(families(), links.LINKS)
    spans: dict[int, list[tuple[int, int]]] = {}
    for arc in drawn.arcs:
        numbers = [int(number) for number in re.findall(r"\d+", arc.path)]
        assert min(numbers[0], numbers[2], numbers[-1]) >= NAMES - 8
        x, top, bottom = numbers[3], numbers[1], numbers[-2]
        assert all(bottom < low or top > high for low, high in spans.setdefault(x, []))
        spans[x].append((top, bottom))
    names = [row.y for row in drawn.rows]
    assert np.diff(names).min() >= 20


def test_names_of_plug_ins_are_text_and_no_paths() -> None:
    assert address("../../x") == "..~2f..~2fx"
    assert address("<script>") == "~3cscript~3e"
    assert address("one_class.primal") == "one_class.primal"


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("mine", encoding="utf-8")
    answer = CliRunner().invoke(app, ["atlas", str(tmp_path)])
    assert answer.exit_code == 2
    assert "it is not empty; name a new folder" in answer.output
    assert [file.name for file in tmp_path.iterdir()] == ["own.txt"]


def test_a_folder_without_pyodide_is_named(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["atlas", str(tmp_path / "atlas"), "--pyodide", str(tmp_path)])
    assert answer.exit_code == 2
    assert "npm install pyodide" in answer.output
    assert not (tmp_path / "atlas").exists()
