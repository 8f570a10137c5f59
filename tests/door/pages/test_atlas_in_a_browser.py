"""Atlas in headless Chromium: accessible pages, a linked graph, and certificates.

The certificates are checked by Python in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from browser import Browser, chromium
from equimargin.atlas import write_atlas
from equimargin.atlas.writing import PYODIDE as PYODIDE_FILES
from equimargin.atlas.writing import write_checker
from equimargin.formulations import classification
from equimargin.proofs import certificate, write_certificate
from equimargin.solvers import solve
from places import ROOT

PYODIDE = ROOT / ".pytest_cache" / "pyodide" / "node_modules" / "pyodide"
"""Python for browsers; .ci/run installs it."""
NESTED = "[" * 200_000
"""File whose parsing needs more stack than a browser has."""


class Quiet(SimpleHTTPRequestHandler):
    """Silent file server."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the atlas, with Python for browsers if it is installed."""
    folder = tmp_path_factory.mktemp("atlas") / "atlas"
    write_atlas(folder, PYODIDE if PYODIDE.is_dir() else None)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield one browser for all tests of this file."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def address(atlas: Path) -> Iterator[str]:
    """Yield the address of the atlas on a local server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(atlas)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def accepted(tmp_path: Path) -> Path:
    """Return a certificate that the checker accepts."""
    problem = classification(
        np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([-1.0, -1.0, 1.0])
    )
    file = tmp_path / "accepted.json"
    write_certificate(certificate(solve(problem)), file)
    return file


PAGES = (
    *("index.html", "duality.html", "certificates.html"),
    *("links.html", "families/rank.l1.html", "theorems/svm.html"),
)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_a_page_fits_and_can_be_used_by_everybody(
    browser: Browser, atlas: Path, page: str, width: int, scheme: str
) -> None:
    browser.open(atlas / page, width, scheme)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.violations() == []
    assert browser.said() == []


@pytest.mark.slow
def test_every_page_fits_a_narrow_screen(browser: Browser, atlas: Path) -> None:
    pages = sorted(atlas.rglob("*.html"))
    assert len(pages) > 50
    widths = {}
    for page in pages:
        browser.open(page, 400)
        widths[page.relative_to(atlas).as_posix()] = browser.run(
            "return document.documentElement.scrollWidth"
        )
    assert {page: width for page, width in widths.items() if width > 400} == {}


def test_names_and_lines_of_the_graph_lead_on(browser: Browser, atlas: Path) -> None:
    pressed = "document.querySelector(`.picture a[aria-label^=${JSON.stringify(arguments[0])}]`)"
    pressed += ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
    heading = "return document.querySelector(':target + h3').textContent"
    browser.open(atlas / "index.html")
    browser.run(pressed, "svm.soft.dual")
    assert browser.driver.title.startswith("svm.soft -")
    assert browser.run(heading) == "svm.soft.dual"
    browser.open(atlas / "index.html")
    browser.run(pressed, "not equivalent: svm.nobias.primal")
    assert browser.driver.title.startswith("Links between formulations -")
    assert browser.run(heading) == "svm.nobias.primal ≠ svm.soft.primal"


def test_the_first_key_leads_past_the_navigation(browser: Browser, atlas: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(atlas / "families" / "svm.soft.html")
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.driver.switch_to.active_element.text == "Skip to the content"


def test_a_counterexample_is_shown_by_its_button(browser: Browser, atlas: Path) -> None:
    browser.open(atlas / "links.html")
    shown = (
        "return [...document.querySelectorAll('details pre')].map((each) => each.checkVisibility())"
    )
    assert not any(browser.run(shown))
    browser.run("document.querySelector('details summary').click()")
    assert browser.run(shown)[0]


def test_a_page_read_from_a_file_says_that_it_needs_a_server(
    browser: Browser, accepted: Path, tmp_path: Path
) -> None:
    from selenium.webdriver.common.by import By

    page = tmp_path / "pages"
    page.mkdir()
    without_python = tmp_path / "pyodide"
    without_python.mkdir()
    for name in PYODIDE_FILES:
        (without_python / name).touch()
    write_checker(page, without_python)
    browser.open(page / "certificates.html")
    assert "python3 -m http.server" in browser.driver.find_element(By.ID, "state").text
    browser.driver.find_element(By.ID, "files").send_keys(str(accepted))
    assert (
        "not checked; this page has to be read from a web server"
        in browser.driver.find_element(By.ID, "results").text
    )
    assert browser.said() == []


def test_certificates_are_checked_in_the_browser(
    browser: Browser, address: str, accepted: Path, tmp_path: Path
) -> None:
    if not PYODIDE.is_dir():
        pytest.skip(f"pyodide is not in {PYODIDE.relative_to(ROOT)}: .ci/run installs it")
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    wrong = json.loads(accepted.read_text(encoding="utf-8"))
    wrong["problem"]["C"] = [2, 1]
    tampered, nested, hostile = (
        tmp_path / "tampered.json",
        tmp_path / "nested.json",
        tmp_path / "<img src=x onerror=alert(1)>.json",
    )
    tampered.write_text(json.dumps(wrong), encoding="utf-8")
    nested.write_text(NESTED, encoding="utf-8")
    hostile.write_text('"<script>document.title = 1</script>"', encoding="utf-8")
    browser.driver.get(f"{address}/certificates.html")
    files = [accepted, tampered, nested, hostile, accepted]
    browser.driver.find_element(By.ID, "files").send_keys("\n".join(map(str, files)))
    answers = By.CSS_SELECTOR, "#results li"
    WebDriverWait(browser.driver, 300).until(
        lambda driver: len(driver.find_elements(*answers)) == len(files)
    )
    found = [
        (each.get_attribute("class"), each.text)
        for each in reversed(browser.driver.find_elements(*answers))
    ]
    assert [kind for kind, _ in found] == [
        "accepted",
        "rejected",
        "rejected",
        "rejected",
        "accepted",
    ]
    assert "ACCEPTED: svm.soft: the optimum is in [" in found[0][1]
    assert "REJECTED: digests_match" in found[1][1]
    assert "not checked" in found[2][1] or "REJECTED" in found[2][1]
    assert found[3][1].startswith("<img src=x onerror=alert(1)>.json: REJECTED")
    assert browser.driver.title.startswith("Check a certificate")
