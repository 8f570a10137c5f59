"""What scrolls on a narrow screen, code and tables, can be reached and scrolled by keyboard."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SCROLLS = re.compile(r'<(?=pre>|div class="table-wrapper)(\w+)')
"""Opening tags of elements that scroll; `mathml` writes equations."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Enter what changes each page before it is written."""
    app.connect("html-page-context", reach)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def reach(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give all that scrolls a place in the order of the tabulator key."""
    if "body" in context:
        context["body"] = SCROLLS.sub(r'<\1 tabindex="0"', context["body"])
