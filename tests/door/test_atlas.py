"""Atlas: a page for every registered item, and no broken internal link."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from equimargin.atlas import write_atlas
from equimargin.atlas.duals import dual_text, instance
from equimargin.atlas.markdown import address, place, plain
from equimargin.atlas.pages import pages
from equimargin.atlas.spelling import letter, spelled
from equimargin.atlas.writing import html
from equimargin.cli.app import app
from equimargin.formulations import FAMILIES, REGISTRY, links
from equimargin.proofs import theorems
from equimargin.proofs.equivalence.duals import DUAL_OF, stated_form
from equimargin.solvers import SOLVERS
from oracles.own_entries import own_families
from places import HANG, ROOT, find_module

CHECKER = find_module(ROOT / "docs" / "_extensions" / "check_links.py")
"""Link checker of the documentation."""


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the atlas of the registered items of the project."""
    folder = tmp_path_factory.mktemp("atlas") / "atlas"
    write_atlas(folder)
    return folder


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Return every page in Markdown without the backslashes of escapes."""
    return {name: text.replace("\\", "") for name, text in pages().items()}


def test_the_page_on_certificates_says_what_to_do_without_python_in_the_browser(
    atlas: Path,
) -> None:
    text = (atlas / "certificates.html").read_text(encoding="utf-8")
    assert '<a href="checker.py" download>checker.py</a>' in text
    assert "python3 -I checker.py FILE" in text
    assert "it runs here, in this browser" not in text


def test_everything_has_its_page(atlas: Path, texts: dict[str, str]) -> None:
    for id in FAMILIES:
        text, written = (
            texts[f"families/{address(id)}.md"],
            (atlas / "families" / f"{address(id)}.html").read_text(encoding="utf-8"),
        )
        assert all(f"* [{solver.name}](" in text for solver in SOLVERS.values() if solver.takes(id))
        for entry in (entry for entry in REGISTRY.values() if entry.family == id):
            assert (
                f'<div id="{place(f"formulation-{address(entry.id)}")}"></div>\n<h3>{entry.id}</h3>'
                in written
            )
    assert {file.stem for file in (atlas / "theorems").iterdir()} == set(theorems.names_of_files())


def test_every_reference_leads_somewhere_inside(atlas: Path) -> None:
    assert list(CHECKER.faults(atlas)) == []
    for file in atlas.rglob("*.html"):
        page = CHECKER.read(file)
        for reference in page.links + page.fetched:
            assert re.match(r"data:|(?![a-z]+:|//)", reference), f"{file} refers to {reference}"
            assert (
                (file.parent / unquote(reference.partition("#")[0]))
                .resolve()
                .is_relative_to(atlas.resolve())
            )


def test_no_page_has_a_place_twice(atlas: Path) -> None:
    for file in atlas.rglob("*.html"):
        places = re.findall(r' id="([^"]*)"', file.read_text(encoding="utf-8"))
        assert len(places) == len(set(places)), file


def test_the_page_of_links_has_statements_theorems_and_counterexamples(
    texts: dict[str, str],
) -> None:
    for link in links.LINKS:
        for page in ("links.md", f"families/{REGISTRY[link.a].family}.md"):
            assert " ".join(link.statement.split()) in texts[page]
            assert link.conditions == "always" or f"It holds for {link.conditions}." in texts[page]
        if link.theorem:
            assert theorems.statement(link.theorem).replace("\\", "") in texts["links.md"]
            file, _, name = link.theorem.partition(".")
            assert (
                f"(theorem-{link.theorem})=\n````coq\nTheorem {name}"
                in texts[f"theorems/{file}.md"]
            )
    assert (
        "the optimum of svr.l1.dual.as_printed is 1, and that of svr.l1.dual is 0.5"
        in texts["links.md"]
    )
    assert "\ny = [" in texts["links.md"]


def test_a_formulation_has_its_code_and_the_signs_of_its_multipliers(texts: dict[str, str]) -> None:
    for entry in REGISTRY.values():
        declared = f"def {inspect.unwrap(entry.stated).__name__}("
        assert (
            declared
            in texts[f"families/{address(entry.family)}.md"]
            .partition(f"\n### {entry.id}\n")[2]
            .partition("\n### ")[0]
        )
    soft = texts["families/svm.soft.md"]
    assert "| margin | an inequality: at least 0 |" in soft
    assert "| balance | an equation: of either sign |" in soft


def test_every_family_of_the_project_has_its_argument(atlas: Path) -> None:
    for id in own_families():
        text = (atlas / "families" / f"{address(id)}.html").read_text(encoding="utf-8")
        assert "<h2>The argument</h2>" in text, id
        assert "$" not in re.sub(r"<code>.*?</code>|<pre.*?</pre>", "", text, flags=re.DOTALL), (
            f"{id}: an equation was not read"
        )


def test_the_checker_is_the_projects_own(atlas: Path) -> None:
    assert (atlas / "checker.py").read_bytes() == (ROOT / "proofs" / "checker.py").read_bytes()


@pytest.mark.parametrize("primal", DUAL_OF)
def test_the_steps_end_at_the_declared_dual(primal: str) -> None:
    text = "\n".join(dual_text(primal))
    assert f"(#formulation-{DUAL_OF[primal]}): this is it, number by number" in text
    assert text.count("Step ") + 2 == text.count(r"\min\ ") == text.count(r"\begin{array}") >= 3
    assert f"(#formulation-{primal}), where the steps are" in "\n".join(dual_text(DUAL_OF[primal]))


def test_a_program_is_spelled_with_the_names_of_its_declaration() -> None:
    lines = spelled(stated_form("svm.soft.primal", instance("svm.soft")), labels=True)
    assert (
        lines[0]
        == r"\min\ \tfrac{1}{2} w_{1}^2 + \tfrac{1}{2} w_{2}^2 + \xi_{1} + \xi_{2} + \xi_{3}"
    )
    assert lines[1] == r"z_{1}:\quad w_{2} - \xi_{1} - b \le -1"
    assert (letter("betabar_2"), letter("xihat"), letter("value_1")) == (
        r"\bar{\beta}_{2}",
        r"\hat{\xi}",
        r"\mathrm{value}_{1}",
    )


def test_names_of_plug_ins_are_text_and_no_paths() -> None:
    assert address("../../x") == "..~2f..~2fx"
    assert address("<script>") == "~3cscript~3e"
    assert address("one_class.primal") == "one_class.primal"
    (shown,) = html({"x.md": plain("<b> $x$ [a](#b) | *c* `<i>` &lt;")}).values()
    assert shown == "<p>&lt;b&gt; $x$ [a](#b) | *c* <code>&lt;i&gt;</code> &amp;lt;</p>\n"


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


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['latex2mathml.converter'] = None\nfrom equimargin.cli import "
        "main\n"
    )
    program += f"sys.argv[1:] = ['atlas', {str(tmp_path / 'new')!r}]\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert ended.returncode == 2
    assert "pip install 'equimargin[atlas]'" in ended.stderr
    assert not (tmp_path / "new").exists()
