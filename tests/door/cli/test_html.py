"""The page of `compare --html`: whole, readable by anybody and without style, and nothing in it runs or is loaded."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.compare import Comparison
from equimargin.compare import compare as run
from equimargin.formulations import classification, polynomial
from places import ROOT

RUN = CliRunner()
EMPTY = {"meta"}
"""Elements without an end."""
LOADING = {"src", "href", "srcset", "data", "action", "background", "poster", "style"}
"""Attributes that may load something, or that a policy of style sheets does not reach."""
EVIL = "<script>alert('&')</script>"
CHOSEN = ("--family", "svm.soft", "--solver", "CLARABEL", "--solver", "smo")


@dataclass
class Element:
    """An element as it was parsed."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text and that of what is in it, in order."""
        return " ".join("".join(self.parts).split())

    def all(self, tag: str) -> list[Element]:
        """All elements of a tag below it."""
        found = [child for child in self.children if child.tag == tag]
        return found + [deeper for child in self.children for deeper in child.all(tag)]

    def everything(self) -> list[Element]:
        """All elements below it."""
        return [each for child in self.children for each in (child, *child.everything())]


class Reader(HTMLParser):
    """Reads a document in which every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, [element.tag for element in self.open]
        self.root = self.open[0]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attributes))
        self.open[-1].children.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.parts.append(data if element.tag in ("", "td", "th", "p", "li", "title", "h1", "h2", "caption") else f"{data} ")


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Two families of points that four labels cannot separate, controls included: answers that agree, disagree and are skipped."""
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]), np.array([-1.0, 1, 1, -1, -1])
    problems = [classification(X, y, 0.1, polynomial(2, 1, 1), loss) for loss in ("hinge", "squared_hinge")]
    return run(problems, include_controls=True)


@pytest.fixture(scope="module")
def page(found: Comparison) -> Element:
    """Its page."""
    return Reader(found.to_html()).root


def test_it_is_one_page_in_a_language_with_a_title_and_nothing_to_load_or_run(found: Comparison, page: Element) -> None:
    text = found.to_html()
    assert text.startswith("<!doctype html>\n")
    assert text.isascii()
    (html,) = page.all("html")
    assert html.attributes == {"lang": "en"}
    (title,) = page.all("title")
    assert title.text == "2 families: 2 agree - equimargin compare"
    assert len(page.all("h1")) == len(page.all("main")) == 1
    for element in page.everything():
        assert element.tag not in {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
        assert not LOADING & element.attributes.keys()
        assert not [name for name in element.attributes if name.startswith("on")]
    (style,) = page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    assert "@media print" in style.text


def test_every_answer_is_a_row_with_its_mark_and_its_word(found: Comparison, page: Element) -> None:
    tables = [table for table in page.all("table") if "All answers" in table.all("caption")[0].text]
    assert len(tables) == len(found.families)
    rows = [row for table in tables for row in table.all("tbody")[0].all("tr")]
    assert len(rows) == len(found.answers)
    marks = {"agrees": "✓", "inaccurate": "≈", "disagrees": "✗", "failed": "!", "skipped": "-"}
    for row, answer in zip(rows, found.answers, strict=True):
        heads = [head.text for head in tables[0].all("thead")[0].all("th")]
        cells = dict(zip(heads, [cell.text for cell in row.children], strict=True))
        assert cells["formulation"].removesuffix(" (control)") == (answer["formulation"] or "specialised solver")
        assert cells["solver"] == answer["solver"]
        assert cells["agreement"] == f"{marks[answer['agreement']]} {answer['agreement']}"
        if answer["agreement"] != "skipped":
            assert float(cells["claim"]) == pytest.approx(answer["value"], rel=1e-9)
            assert float(cells["solve s"]) == pytest.approx(answer["solve_seconds"], abs=1e-3)
    assert {answer["agreement"] for answer in found.answers} >= {"agrees", "disagrees"}


def test_tables_say_what_their_heads_are_for(page: Element) -> None:
    for table in page.all("table"):
        assert len(table.all("caption")) == 1
        assert {head.attributes["scope"] for head in table.all("thead")[0].all("th")} == {"col"}
        for row in table.all("tbody")[0].all("tr"):
            assert [child.tag for child in row.children] == ["th"] + ["td"] * (len(row.children) - 1)
            assert row.children[0].attributes["scope"] == "row"


def test_it_says_what_the_terminal_says(found: Comparison, page: Element) -> None:
    heads = [head.text for head in page.all("h2")]
    printed = " ".join(str(found).split())
    for family in found.families:
        assert f"{family.id}: {str(family.verdict).upper()}" in heads
        optimum = next(text.text for text in page.all("p") if text.text.startswith("optimum"))
        assert optimum in printed
    sentences = [" ".join(element.text.split()) for element in (*page.all("p"), *page.all("li"))]
    for begin in ("Specialised solvers, the fastest first:", "2 families: 2 agree;", "HIGHS on quadratic programs"):
        assert any(sentence.startswith(begin) for sentence in sentences)
    settings = {row.children[0].text: row.children[1].text for row in page.all("table")[-1].all("tbody")[0].all("tr")}
    assert settings["tol"] == "1e-08"
    assert settings["patient"] == "no"
    assert {"Python", "equimargin", "numpy", "clarabel", "cvxpy"} <= settings.keys()


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    data, file = tmp_path / "a&b <i>.csv", tmp_path / "page.html"
    with data.open("w", newline="") as stream:
        csv.writer(stream).writerows([["a", EVIL, "label"], *([i % 3, i * i % 5, (EVIL, '"><b>ham')[i % 2]] for i in range(12))])
    result = RUN.invoke(app, ["compare", str(data), "--drop", EVIL, *CHOSEN, "--html", str(file)])
    assert result.exit_code == 0, result.output
    root = Reader(file.read_text()).root
    (said,) = (text.text for text in root.all("p") if "12 rows" in text.text)
    assert said.startswith("a&b <i>.csv: classification, 12 rows: target `label`")
    assert f'"><b>ham is -1, {EVIL} is +1' in said
    assert f"dropped: {EVIL}" in said
    assert not {"script", "b", "i"} & {element.tag for element in root.everything()}
    settings = {row.children[0].text: row.children[1].text for row in root.all("table")[-1].all("tbody")[0].all("tr")}
    assert (settings["C"], settings["seed"], settings["kernel"], settings["loss"]) == ("1.0", "0", "name linear", "none")


def test_it_is_opened_before_the_work_and_written_with_what_there_is(tmp_path: Path) -> None:
    refused = RUN.invoke(app, ["compare", "xor", "--html", str(tmp_path / "missing" / "page.html")])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot be written: its folder does not exist" in refused.stderr
    file = tmp_path / "page.html"
    cut = RUN.invoke(app, ["compare", "xor", *CHOSEN, "--total-time", "1e-9", "--html", str(file)])
    assert cut.exit_code == 130
    assert f"written to {file}" in cut.stderr
    root = Reader(file.read_text()).root
    (marked,) = (text for text in root.all("p") if text.attributes.get("class") == "interrupted")
    assert "interrupted: the total time of 1e-09 s is over; 0 of " in marked.text
    assert "svm.soft: 3 missing" in [head.text for head in root.all("h2")]
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_it_goes_to_a_pipe_of_any_encoding() -> None:
    command = [sys.executable, "-m", "equimargin", "compare", "xor", *CHOSEN, "--html", "-"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (title,) = Reader(answer.stdout).root.all("title")
    assert title.text == "xor, 1 family: 1 agree - equimargin compare"
    assert "svm.soft" in answer.stderr
