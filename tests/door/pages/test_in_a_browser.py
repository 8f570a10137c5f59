"""Pages in headless Chromium: mouse, keyboard, widths, dark mode, print, hostile names."""

from __future__ import annotations

import csv
import math
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from browser import Browser, chromium
from equimargin.cli.app import app
from equimargin.comparison import compare
from equimargin.formulations import classification, polynomial

RUN = CliRunner()
PAGES = ("controls", "compare", "path", "rbf", "audit", "study")
"""Names of the pages."""
HOSTILE = (
    *("<script>hacked = 1</script>", '"><img src=x onerror=hacked=1>', "javascript:hacked=1"),
    *("{{ 7 * 7 }}", "</style><svg onload=hacked=1>"),
)
"""Names that would run a script if a page did not escape them."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield headless Chromium."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def written() -> Callable[..., Path]:
    """Return a function that runs a command with --html and returns the page."""

    def write(folder: Path, *command: str) -> Path:
        page = folder / f"{command[0]}.html"
        result = RUN.invoke(app, [*command, "--html", str(page)])
        assert page.exists(), result.output
        return page

    return write


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, written: Callable[..., Path]
) -> dict[str, Path]:
    """Return one page per kind.

    They are a comparison with controls, an interrupted one, paths of two kernels, an
    audit, and a study.
    """
    folder = tmp_path_factory.mktemp("pages")
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]), np.array([-1.0, 1, 1, -1, -1])
    found = compare(
        [
            classification(X, y, 0.1, polynomial(2, 1, 1), loss)
            for loss in ("hinge", "squared_hinge")
        ],
        include_controls=True,
    )
    (folder / "controls.html").write_text(found.to_html(), encoding="utf-8")
    np.savez(folder / "model.npz", kind="LinearSVC", intercept=[0.1], coef=[[0.5, -0.2]], C=1.0)
    np.savez(
        folder / "rows.npz",
        X=np.array([[0.0, 1], [1, 0], [2, 1], [3, 3]]),
        y=np.array([-1, 1, 1, -1]),
    )
    named = {
        "compare": ("compare", "xor", "--total-time", "1e-9"),
        "path": ("path", "iris", "--lambda-min", "0.01", "--validate", "3"),
    }
    named |= {"audit": ("audit", str(folder / "model.npz"), "--data", str(folder / "rows.npz"))}
    plan = folder / "plan.toml"
    plan.write_text(
        '[grid]\nC = [0.1, 1]\nfamily = "svm.*"\n[[data]]\nsource = "xor"\n', encoding="utf-8"
    )
    assert RUN.invoke(app, ["study", str(plan)]).exit_code == 0
    named |= {"study": ("study", str(plan))}
    of_commands = {name: written(folder, *command) for name, command in named.items()}
    rbf = tmp_path_factory.mktemp("rbf")
    kernel = written(
        rbf, "path", "iris", "--sample", "40", "--kernel", "rbf", "--lambda-min", "0.1"
    )
    return {"controls": folder / "controls.html", "rbf": kernel, **of_commands}


def column(browser: Browser, head: str) -> list[str]:
    """Return the keys of a column in the table of all answers, from top to bottom."""
    heads = "[...document.querySelectorAll('table.sortable')].at(-1).tHead.rows[0].cells"
    script = (
        f"const at = [...{heads}].findIndex((head) => head.textContent === arguments[0]);"
        "return "
        "[...[...document.querySelectorAll('table.sortable')].at(-1).tBodies[0].rows].map((row) "
        "=> row.cells[at].dataset.key)"
    )
    return list(browser.run(script, head))


def button(browser: Browser, head: str) -> Any:
    """Return the button that sorts the table of all answers by a column."""
    script = (
        "return "
        "[...[...document.querySelectorAll('table.sortable')].at(-1).querySelectorAll('thead "
        "button')]"
        ".find((each) => each.textContent === arguments[0])"
    )
    return browser.run(script, head)


def sorted_by(browser: Browser) -> list[list[str]]:
    """Return the heads marked as sorted, each with its direction."""
    return list(
        browser.run(
            "return [...document.querySelectorAll('th[aria-sort]')].map((h) => "
            "[h.textContent, h.ariaSort])"
        )
    )


@pytest.mark.slow
def test_a_click_sorts_by_a_column_and_another_turns_it_round(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["controls"])
    browser.run(
        "[...document.querySelectorAll('table.sortable')].at(-1)"
        ".tBodies[0].rows[0].cells[8].dataset.key "
        ""
        ""
        "= ''"
    )
    before = column(browser, "solve s")
    button(browser, "solve s").click()
    rising = column(browser, "solve s")
    figures = [float(key) for key in rising if key]
    assert (
        figures
        == sorted(float(key) for key in before if key)
        != [float(key) for key in before if key]
    )
    assert set(rising[len(figures) :]) == {""}
    assert sorted_by(browser) == [["solve s", "ascending"]]
    button(browser, "solve s").click()
    assert [float(key) for key in column(browser, "solve s") if key] == figures[::-1]
    assert column(browser, "solve s")[-1] == ""
    assert sorted_by(browser) == [["solve s", "descending"]]
    button(browser, "solver").click()
    names = column(browser, "solver")
    assert names == sorted(names, key=str.lower)
    assert sorted_by(browser) == [["solver", "ascending"]]
    assert (
        browser.run("return document.getElementById('status').textContent")
        == "sorted by solver, ascending"
    )


@pytest.mark.slow
def test_infinite_widths_are_larger_than_all_others(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["controls"])
    button(browser, "width").click()
    widths = [float(key) for key in column(browser, "width") if key]
    assert widths == sorted(widths)
    assert math.isfinite(widths[0])


@pytest.mark.parametrize("key", ["\ue007", " "])
def test_the_keyboard_sorts_as_well(browser: Browser, pages: dict[str, Path], key: str) -> None:
    browser.open(pages["controls"])
    head = button(browser, "value")
    browser.run("arguments[0].focus()", head)
    head.send_keys(key)
    figures = [float(each) for each in column(browser, "value") if each]
    assert figures == sorted(figures)
    assert browser.run("return document.activeElement === arguments[0]", head)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_tab_key_goes_through_the_page_in_its_order(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    body = browser.driver.find_element("tag name", "body")
    places = browser.run(
        "window.all = [...document.querySelectorAll('a[href], button, [tabindex]')]; return "
        "all.length"
    )
    visited: list[int] = []
    for _ in range(places):
        (body if not visited else browser.driver.switch_to.active_element).send_keys("\ue004")
        seen = (
            "const at = document.activeElement, box = at.getBoundingClientRect(); return "
            "[all.indexOf(at), box.width, box.height]"
        )
        at, width, height = browser.run(seen)
        assert width > 8
        assert height > 8
        visited.append(at)
    assert visited == list(range(places))
    browser.open(pages[name])
    browser.driver.find_element("tag name", "body").send_keys("\ue004")
    assert browser.run("return document.activeElement.textContent") == "Skip to the verdict"
    outline = browser.run(
        "const style = getComputedStyle(document.activeElement); return "
        "[style.outlineStyle, style.outlineWidth]"
    )
    assert outline == ["solid", "3px"]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_loaded_and_the_console_is_silent(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    assert (
        browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        == []
    )
    assert browser.said() == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 400, 768, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_never_scrolls_sideways_but_its_boxes_do(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.open(pages[name], width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    script = (
        "return [...document.querySelectorAll('*')].filter((each) => each.scrollWidth > "
        "each.clientWidth + 1 && "
    )
    script += (
        "getComputedStyle(each).overflowX === 'auto').map((each) => [each.tabIndex, "
        "each.getAttribute('role')])"
    )
    assert all(box == [0, "region"] for box in browser.run(script))


def test_a_long_table_scrolls_below_its_heads(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["study"])
    script = """const box = [...document.querySelectorAll('.wide:has(table.sortable)')].at(-1);
      box.scrollTop = 400;
      const of_box = box.getBoundingClientRect(), \
head = box.querySelector('thead').rows[0].cells[0].getBoundingClientRect();
      return [box.scrollTop, of_box.height / window.innerHeight, head.top - of_box.top]"""
    scrolled, height, below = browser.run(script)
    assert scrolled == 400
    assert height <= 0.9
    assert below == pytest.approx(0, abs=1)


@pytest.mark.parametrize("name", PAGES)
def test_words_of_pictures_are_inside_of_them(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    script = """return [...document.querySelectorAll('.picture > svg text')].filter((text) => {
      const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
      return box.x < -0.5 || box.x + box.width > view.width + 0.5 \
|| box.y < -0.5 || box.y + box.height > view.height + 0.5;
    }).map((text) => text.textContent)"""
    assert browser.run(script) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_a_page(
    browser: Browser, pages: dict[str, Path], name: str, scheme: str
) -> None:
    for width in (1280, 400):
        browser.open(pages[name], width, scheme)
        assert browser.violations() == []


def test_the_dark_scheme_is_dark_and_paper_is_white(
    browser: Browser, pages: dict[str, Path]
) -> None:
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    browser.open(pages["controls"], scheme="dark")
    assert max(map(int, browser.run(ground).removeprefix("rgb(").rstrip(")").split(","))) < 60
    browser.open(pages["controls"], scheme="dark", medium="print")
    assert browser.run(ground) == "rgb(255, 255, 255)"
    browser.open(pages["controls"], scheme="light")
    assert browser.run(ground) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_prints_whole(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], 1000, medium="print")
    hidden = (
        "return [...document.querySelectorAll('nav, .skip')].map((each) => "
        "getComputedStyle(each).display)"
    )
    assert set(browser.run(hidden)) <= {"none"}
    boxes = (
        "return [...document.querySelectorAll('.wide')].map((box) => "
        "getComputedStyle(box).overflowX)"
    )
    assert set(browser.run(boxes)) == {"visible"}
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert b64decode(printed["data"]).startswith(b"%PDF-")


def test_hostile_names_are_text(
    browser: Browser, written: Callable[..., Path], tmp_path: Path
) -> None:
    data = tmp_path / "<b>'a\".csv"
    with data.open("w", newline="") as stream:
        rows = [[i % 3, i * i % 5, i % 4, i % 5, i % 7, HOSTILE[i % 2]] for i in range(12)]
        csv.writer(stream).writerows([[*HOSTILE, "label"], *rows])
    commands = (
        ("compare", str(data), "--family", "svm.soft", "--drop", HOSTILE[0]),
        ("path", str(data), "--lambda-min", "0.1"),
    )
    for command in commands:
        page = written(tmp_path, *command)
        browser.open(page)
        time.sleep(0.2)
        assert browser.said() == []
        assert browser.run("return typeof hacked") == "undefined"
        shown = browser.run("return document.body.innerText")
        for name in HOSTILE[:2]:
            assert name in shown
        assert (
            browser.run(
                "return document.querySelectorAll('img, iframe, svg[onload], main script, "
                "main b').length"
            )
            == 0
        )
        links = browser.run(
            "return [...document.querySelectorAll('[href]')].map((link) => "
            "link.getAttribute('href'))"
        )
        assert all(link.startswith("#") for link in links)
        assert browser.run("return document.querySelectorAll('script, style').length") == 2


def test_the_policy_of_a_page_runs_nothing_else(browser: Browser, pages: dict[str, Path]) -> None:
    """A name that was not escaped could still do nothing."""
    browser.open(pages["controls"])
    browser.run(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"x\" "
        'onerror="window.hacked = 1">\')'
    )
    browser.run(
        "document.body.insertAdjacentHTML('beforeend', '<a "
        'href="javascript:window.hacked=1">x</a>\')'
    )
    browser.run("document.querySelector('a[href^=javascript]').click()")
    time.sleep(0.2)
    assert browser.run("return window.hacked") is None
    assert any("Content Security Policy" in sentence for sentence in browser.said())


def test_an_interrupted_comparison_says_so(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["compare"])
    verdict = browser.run("return document.querySelector('.verdict').innerText")
    assert verdict.startswith("Not finished: ")
    assert "The comparison was interrupted: the total time of 1e-09 s is over" in verdict
    assert (
        browser.run(
            "return getComputedStyle(document.querySelector('.interrupted')).borderTopStyle"
        )
        == "dashed"
    )
