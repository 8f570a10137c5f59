"""Page of `compare --html`: complete, accessible, readable without style, and inert.

Nothing in a data file is run or loaded by the page.
"""

from __future__ import annotations

import csv
import os
import shlex
import subprocess
import sys
from base64 import b64encode
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.comparison import Comparison
from equimargin.comparison import compare as run
from equimargin.formulations import classification, polynomial
from places import HANG, ROOT

RUN = CliRunner()
WHOLE = {"", "td", "th", "p", "li", "title", "h1", "h2", "caption", "code", "script", "style"}
"""Elements whose parts are joined without a space.

Parts of other elements are joined with one.
"""
EMPTY = {"meta"}
"""Elements without an end tag."""
LOADING = {"src", "srcset", "data", "action", "background", "poster", "style"}
"""Attributes that may load a resource, or that a style-sheet policy does not cover."""
EVIL = "<script>alert('&')</script>"
CHOSEN = ("--family", "svm.soft", "--solver", "CLARABEL", "--solver", "smo")


@dataclass
class Element:
    """Parsed element."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Text of the element and its descendants, in order."""
        return " ".join("".join(self.parts).split())

    def all(self, tag: str) -> list[Element]:
        """Return all descendants with a tag."""
        found = [child for child in self.children if child.tag == tag]
        return found + [deeper for child in self.children for deeper in child.all(tag)]

    def everything(self) -> list[Element]:
        """Return all descendants."""
        return [each for child in self.children for each in (child, *child.everything())]


class Reader(HTMLParser):
    """Reader of a document in which every element is closed."""

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
            element.parts.append(data if element.tag in WHOLE else f"{data} ")


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Compare two families on points that no plane separates, controls included.

    Answers agree, disagree and are skipped.
    """
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]), np.array([-1.0, 1, 1, -1, -1])
    problems = [
        classification(X, y, 0.1, polynomial(2, 1, 1), loss) for loss in ("hinge", "squared_hinge")
    ]
    return run(problems, include_controls=True)


@pytest.fixture(scope="module")
def page(found: Comparison) -> Element:
    """Return the page of the comparison."""
    return Reader(found.to_html()).root


def test_the_head_says_the_kernel_and_the_cost(found: Comparison) -> None:
    settings = {**found.settings, "kernel": {"name": "rbf", "gamma": 0.5}, "C": 0.25}
    (header,) = Reader(replace(found, settings=settings).to_html()).root.all("header")
    assert "rbf kernel with gamma = 0.5, C = 0.25" in header.text


def test_it_is_one_page_in_a_language_with_a_title_and_nothing_to_load(
    found: Comparison, page: Element
) -> None:
    text = found.to_html()
    assert text.startswith("<!doctype html>\n")
    assert text.isascii()
    (html,) = page.all("html")
    assert html.attributes == {"lang": "en"}
    (title,) = page.all("head")[0].all("title")
    assert title.text == "2 families: 2 agree - equimargin compare"
    assert len(page.all("h1")) == len(page.all("main")) == 1
    for element in page.everything():
        assert element.tag not in {"link", "img", "iframe", "object", "embed", "form", "base"}
        assert not LOADING & element.attributes.keys()
        assert not [name for name in element.attributes if name.startswith("on")]
        assert (element.attributes.get("href") or "#").startswith("#")
    (style,), (script,) = page.all("style"), page.all("script")
    (policy,) = (
        each.attributes["content"] for each in page.all("meta") if "http-equiv" in each.attributes
    )
    assert policy is not None
    for element, source in ((style, "style-src"), (script, "script-src")):
        digest = b64encode(sha256("".join(element.parts).encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "url(" not in style.text
    assert "@import" not in style.text
    assert "@media print" in style.text


def of_caption(page: Element, words: str) -> Element:
    """Return the table whose caption begins with given words."""
    (table,) = (
        table for table in page.all("table") if table.all("caption")[0].text.startswith(words)
    )
    return table


def read(table: Element) -> list[dict[str, str]]:
    """Return the rows of a table as dictionaries by column head."""
    heads = [head.text for head in table.all("thead")[0].all("th")]
    return [
        dict(zip(heads, [cell.text for cell in row.children], strict=True))
        for body in table.all("tbody")
        for row in body.all("tr")
    ]


def test_every_answer_is_a_row_with_its_mark_and_its_word(found: Comparison, page: Element) -> None:
    rows = read(of_caption(page, "All answers"))
    assert len(rows) == len(found.answers)
    marks = {"agrees": "✓", "inaccurate": "≈", "disagrees": "✗", "failed": "!", "skipped": "-"}
    for cells, answer in zip(rows, found.answers, strict=True):
        assert cells["family"] == answer["family"]
        assert cells["formulation"].removesuffix(" (control)") == (
            answer["formulation"] or "specialised solver"
        )
        assert cells["solver"] == answer["solver"]
        assert cells["agreement"] == f"{marks[answer['agreement']]} {answer['agreement']}"
        if answer["agreement"] != "skipped":
            assert float(cells["value"]) == pytest.approx(answer["value"], rel=1e-9)
            assert float(cells["solve s"]) == pytest.approx(answer["solve_seconds"], abs=1e-3)
    assert {answer["agreement"] for answer in found.answers} >= {"agrees", "disagrees"}


def test_the_letters_of_sources_have_their_titles(page: Element) -> None:
    (legend,) = (
        each.text for each in page.all("p") if each.text.startswith("The source is a document")
    )
    assert "T Yu and Kim, SVM Tutorial" in " ".join(legend.split())
    assert "Herbrich" not in legend  # No answer has this source.


def test_cells_are_sorted_by_all_digits_that_there_are(found: Comparison, page: Element) -> None:
    keys = [
        row.children[4].attributes["data-key"]
        for row in of_caption(page, "All answers").all("tbody")[0].all("tr")
    ]
    assert [float(key) if key else None for key in keys] == [
        answer["value"] for answer in found.answers
    ]


def test_formulations_by_solvers_have_a_mark_for_every_answer(
    found: Comparison, page: Element
) -> None:
    family, seen = "", 0
    run = {answer["solver"] for answer in found.answers if answer["agreement"] != "skipped"}
    for row in read(of_caption(page, "A mark and the seconds")):
        name = row.pop("formulation").removesuffix(" (control)")
        family = name if name in {each.id for each in found.families} else family
        of_family = [answer for answer in found.answers if answer["family"] == family]
        answers = {
            each["solver"]: each
            for each in of_family
            if (each["formulation"] or family) in (name, f"{family}.{name}")
        }
        for solver, cell in row.items():
            said = answers[solver]["agreement"] if solver in answers else ""
            assert said in cell
            assert bool(said) is bool(cell)
            seen += bool(said)
    assert seen == sum(answer["solver"] in run for answer in found.answers)


def test_the_verdict_comes_first(found: Comparison, page: Element) -> None:
    (first, *_) = page.all("main")[0].children
    assert (first.attributes["id"], first.attributes["class"]) == ("verdict", "verdict agree")
    assert first.all("p")[0].text == "All 2 families agree."
    rows = read(of_caption(page, "The families"))
    assert [(row["family"], row["verdict"]) for row in rows] == [
        (family.id, "AGREE") for family in found.families
    ]
    for row, family in zip(rows, found.families, strict=True):
        assert family.interval.lower == pytest.approx(
            float(row["optimum"]), rel=10.0 ** (1 - int(row["digits"]))
        )


def test_pictures_have_a_title_a_description_and_shapes(found: Comparison, page: Element) -> None:
    pictures = [picture for picture in page.all("svg") if picture.attributes.get("role") == "img"]
    titles = [picture.all("title")[0].text for picture in pictures]
    assert titles == [
        "Time against proven width, of every answer",
        *(f"Proven intervals and reported values of {family.id}" for family in found.families),
        "Links between the formulations",
    ]
    for picture in pictures:
        named = {picture.all("title")[0].attributes["id"], picture.all("desc")[0].attributes["id"]}
        assert set((picture.attributes["aria-labelledby"] or "").split()) == named
        assert picture.all("desc")[0].text
    ids = [element.attributes["id"] for element in page.everything() if "id" in element.attributes]
    assert len(ids) == len(set(ids))


def test_tables_say_what_their_heads_are_for(page: Element) -> None:
    for table in page.all("table"):
        assert len(table.all("caption")) == 1
        assert {head.attributes["scope"] for head in table.all("thead")[0].all("th")} == {"col"}
        for row in (row for body in table.all("tbody") for row in body.all("tr")):
            assert [child.tag for child in row.children] == ["th"] + ["td"] * (
                len(row.children) - 1
            )
            assert row.children[0].attributes["scope"] == "row"


def test_it_says_what_the_terminal_says(found: Comparison, page: Element) -> None:
    printed = " ".join(str(found).split())
    for family in found.families:
        assert family.id in [head.text for head in page.all("h2")]
        optimum = next(text.text for text in page.all("p") if text.text.startswith("optimum"))
        assert optimum in printed
    sentences = [" ".join(element.text.split()) for element in (*page.all("p"), *page.all("li"))]
    given = sum(answer["agreement"] != "skipped" for answer in found.answers)
    for begin in (
        "Specialised solvers, the fastest first:",
        f"{given} answers in",
        "HIGHS on quadratic programs",
    ):
        assert any(sentence.startswith(begin) for sentence in sentences)
    settings = {row["setting"]: row["value"] for row in read(of_caption(page, "Settings"))}
    assert (settings["tol"], settings["patient"], settings["total_time"]) == (
        "1e-08",
        "no",
        "not given",
    )
    versions = {row["program"] for row in read(of_caption(page, "Versions"))}
    assert {"Python", "equimargin", "numpy", "clarabel", "cvxpy"} <= versions
    assert "It was run from Python; the settings below are the arguments." in sentences


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    data, file = tmp_path / "a&b <i>.csv", tmp_path / "page.html"
    with data.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [
                ["a", EVIL, "label"],
                *([i % 3, i * i % 5, (EVIL, '"><b>ham')[i % 2]] for i in range(12)),
            ]
        )
    result = RUN.invoke(app, ["compare", str(data), "--drop", EVIL, *CHOSEN, "--html", str(file)])
    assert result.exit_code == 0, result.output
    root = Reader(file.read_text()).root
    (said,) = (text.text for text in root.all("p") if "12 rows" in text.text)
    assert said.startswith("a&b <i>.csv: classification, 12 rows: target `label`")
    assert f'"><b>ham is -1, {EVIL} is +1' in said
    assert f"dropped: {EVIL}" in said
    assert not {"b", "i"} & {element.tag for element in root.everything()}
    assert len(root.all("script")) == 1
    settings = {row["setting"]: row["value"] for row in read(of_caption(root, "Settings"))}
    assert [settings[name] for name in ("C", "seed", "kernel", "loss")] == [
        "1.0",
        "0",
        "linear",
        "not given",
    ]
    (command,) = (element.text for element in root.all("code"))
    assert shlex.split(command) == [
        "equimargin",
        "compare",
        str(data),
        "--drop",
        EVIL,
        *CHOSEN,
        "--html",
        str(file),
    ]


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
    assert root.all("main")[0].children[0].attributes["class"] == "verdict unfinished"
    assert [(row["family"], row["verdict"]) for row in read(of_caption(root, "The families"))] == [
        ("svm.soft", "6 missing")
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.slow
def test_it_goes_to_a_pipe_of_any_encoding() -> None:
    command = [sys.executable, "-m", "equimargin", "compare", "xor", *CHOSEN, "--html", "-"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    answer = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=HANG
    )
    (title,) = Reader(answer.stdout).root.all("head")[0].all("title")
    assert title.text == "xor, 1 family: 1 agree - equimargin compare"
    assert "svm.soft" in answer.stderr


def test_a_path_has_its_page(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    command = ["path", "iris", "--lambda-min", "0.01", "--validate", "3", "--html", str(file)]
    result = RUN.invoke(app, command)
    assert result.exit_code == 0, result.output
    root = Reader(file.read_text()).root
    verdict = root.all("main")[0].children[0]
    assert verdict.attributes["class"] == "verdict agree"
    assert verdict.all("p")[0].text.startswith("The whole path is known from lambda = ")
    assert verdict.all("p")[1].text.startswith("The best accuracy on 3 folds is ")
    titles = [
        picture.all("title")[0].text
        for picture in root.all("svg")
        if picture.attributes.get("role") == "img"
    ]
    assert titles[:2] == ["Coefficients along the path", "Scores on 3 folds"]
    assert titles[2:] == ["Size of the margin set along the path", "Relative gaps along the path"]
    rows = read(of_caption(root, "All breakpoints"))
    lambdas = [float(row["lambda"]) for row in rows]
    assert lambdas == sorted(lambdas, reverse=True)
    assert all(float(row["gap"]) <= 1e-8 for row in rows)
    settings = {row["setting"]: row["value"] for row in read(of_caption(root, "Settings"))}
    assert (settings["validate"], settings["lambda_min"], settings["kernel"]) == (
        "3",
        "0.01",
        "linear",
    )
    assert [shlex.split(code.text) for code in root.all("code")] == [["equimargin", *command]]


def test_an_audit_has_its_page(tmp_path: Path) -> None:
    model, data, file = tmp_path / "<b>.npz", tmp_path / "rows.npz", tmp_path / "page.html"
    np.savez(model, kind="LinearSVC", intercept=[0.1], coef=[[0.5, -0.2]], C=1.0)
    np.savez(data, X=np.array([[0.0, 1], [1, 0], [2, 1], [3, 3]]), y=np.array([-1, 1, 1, -1]))
    command = ["audit", str(model), "--data", str(data), "--html", str(file)]
    result = RUN.invoke(app, command)
    assert result.exit_code == 0, result.output
    root = Reader(file.read_text()).root
    assert root.all("h1")[0].text == "<b>.npz"
    verdict = root.all("main")[0].children[0]
    assert verdict.attributes["class"] == "verdict above"
    assert verdict.all("p")[1].text in " ".join(result.stdout.split())
    figures = {row["what"]: row["proven"] for row in read(of_caption(root, "In figures"))}
    assert (
        figures["relative excess that its own multipliers prove"]
        == "nothing: it has no multipliers"
    )
    assert "optimum" in root.all("desc")[0].text
    assert [shlex.split(code.text) for code in root.all("code")] == [["equimargin", *command]]
    refused = RUN.invoke(app, [*command[:-1], str(tmp_path / "missing" / "page.html")])
    assert (refused.exit_code, refused.stdout) == (2, "")
