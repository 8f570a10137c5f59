"""Documentation built by `make docs`, in headless Chromium.

Pages fit, write nothing to the console, and are accessible.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser, chromium
from places import ROOT

BOOK = ROOT / "build" / "docs"
"""Built documentation; `.ci/run` builds it before it runs the tests."""
KINDS = (
    *(
        "index",
        "tutorial",
        "questions",
        "benchmarks",
        "genindex",
        "search",
        "how_to/own_problem",
        "explanation/linear_svc",
    ),
    *(
        "gallery/index",
        "gallery/questions/dual_coef",
        "reference/commands",
        "atlas/families/svm.soft",
    ),
)
"""One page per kind: axe-core takes two seconds a page, a kind shares its templates."""


@pytest.fixture(scope="module")
def book() -> Path:
    """Return the built documentation; skip the test if it is not built."""
    if not (BOOK / "index.html").exists():
        pytest.skip(f"there is no {BOOK.relative_to(ROOT)}: make docs builds it")
    return BOOK


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield one browser for all tests of this file."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


def test_every_page_fits_a_narrow_screen_and_is_silent(browser: Browser, book: Path) -> None:
    pages = sorted(book.rglob("*.html"))
    assert len(pages) > 150
    wrong = []
    for page in pages:
        browser.open(page, 400)
        width, said = browser.run("return document.documentElement.scrollWidth"), browser.said()
        if width > 400 or said:
            wrong.append((page.relative_to(book).as_posix(), width, said))
    assert wrong == []


@pytest.mark.parametrize("page", KINDS)
def test_a_page_can_be_used_by_everybody(browser: Browser, book: Path, page: str) -> None:
    for width, scheme in ((400, "light"), (1280, "dark")):
        browser.open(book / f"{page}.html", width, scheme)
        assert browser.violations() == []
