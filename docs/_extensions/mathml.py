"""Equations as MathML, which browsers draw without scripts, fonts or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer that `html_math_renderer = "mathml"` names."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(self: Any, node: nodes.math) -> None:
    """Write an equation within a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed(self: Any, node: nodes.math_block) -> None:
    """Write a displayed equation, which scrolls on a narrow screen."""
    self.body.append(
        f'<div class="equation" tabindex="0">{convert(node.astext(), display="block")}</div>'
    )
    raise nodes.SkipNode
