"""Equations as MathML, which browsers render themselves, and derivations, which are Markdown with equations between dollar signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup, escape

MISSING = "the atlas lacks packages: pip install latex2mathml markdown-it-py mdit-py-plugins Pygments"
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
    made = MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=_drawn, allow_digits=False)
    made.add_render_rule("fence", _as_it_is)
    return made


def _as_it_is(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """A block of code, or what it prints; it scrolls, and the keyboard reaches it."""
    return f'<pre tabindex="0">{escape(tokens[index].content)}</pre>\n'


def _drawn(latex: str, options: Mapping[str, Any]) -> str:
    """An equation of a text; one in a line of its own is in a box that scrolls, and that the keyboard reaches."""
    if not options["display_mode"]:
        return mathml(latex)
    return f'<div class="wide" tabindex="0" role="group" aria-label="Equation">{mathml(latex, display=True)}</div>'
