"""Equations as MathML, which browsers render themselves, and derivations, which are Markdown with equations between dollar signs."""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import Markup

MISSING = "the atlas needs latex2mathml, markdown-it-py and mdit-py-plugins: pip install 'equimargin[atlas]'"
"""What is said where a library of the extra is not installed."""


@cache
def mathml(latex: str, display: bool = False) -> Markup:
    """An equation as MathML.

    Parameters
    ----------
    latex : the equation.  display : whether it stands in a line of its own.

    Raises
    ------
    ValueError : the extra `atlas` is not installed.
    """
    try:
        from latex2mathml.converter import convert
    except ImportError as missing:
        raise ValueError(MISSING) from missing
    return Markup(convert(latex, display="block" if display else "inline"))


def html_of_markdown(text: str) -> Markup:
    """A derivation as HTML: Markdown whose $...$ and $$...$$ are equations; HTML inside it is shown as text.

    Raises
    ------
    ValueError : the extra `atlas` is not installed.
    """
    return Markup(_markdown().render(text))


@cache
def _markdown() -> Any:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError as missing:
        raise ValueError(MISSING) from missing
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    return reader.use(dollarmath_plugin, renderer=lambda latex, options: mathml(latex, options["display_mode"]), allow_digits=False)
