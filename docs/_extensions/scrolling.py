"""Keyboard access to code and tables, which scroll on a narrow screen."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SCROLLS = re.compile(r'<(?=pre>|div class="table-wrapper)(\w+)')
"""Opening tags of elements that scroll; equations get their attribute in `mathml`."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the change of each page before it is written."""
    app.connect("html-page-context", reach)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def reach(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Make every element that scrolls reachable by the tabulator key."""
    if "body" in context:
        context["body"] = SCROLLS.sub(r'<\1 tabindex="0"', context["body"])
