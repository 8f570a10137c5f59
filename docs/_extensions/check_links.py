"""Check of the links inside built pages: `check_links.py FOLDER`.

Links to other sites are not checked; pictures, styles, fonts and scripts must be in
the folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
"""Attribute with the address of what a browser fetches, by element."""
FETCHED_BY_STYLES = re.compile(r"""(?:@import\s+|url\()\s*["']?(https?:)?//""")


class Page(HTMLParser):
    """Anchors of a page, targets of its links, and files that a browser fetches for it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the anchors, the link or the file of an element."""
        said = dict(attrs)
        self.anchors.update(name for name in (said.get("id"), said.get("name")) if name)
        if tag == "a" and said.get("href"):
            self.links.append(str(said["href"]))
        elif said.get(FETCHED.get(tag, "")) and said.get("rel") not in (
            "search",
            "index",
            "next",
            "prev",
            "canonical",
        ):
            self.fetched.append(str(said[FETCHED[tag]]))


def read(file: Path) -> Page:
    """Return a parsed page."""
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults(folder: Path) -> Iterator[str]:
    """Yield a sentence per link without a target, and per file fetched from another site."""
    pages = {file.resolve(): read(file) for file in sorted(folder.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(folder.resolve())
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    yield f"{name}: {link} is fetched from another site"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                yield f"{name}: {link} has no target file"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                yield f"{name}: {link} has no such anchor on its page"
    for style in folder.rglob("*.css"):
        if FETCHED_BY_STYLES.search(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(folder)} fetches from another site"


def main(folder: Path) -> int:
    """Print every fault; the exit status is 1 if there is one, or no page."""
    found = list(faults(folder))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found or not any(folder.rglob("*.html")) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
