"""Writing of the atlas to a new folder: HTML pages, and the checker of certificates."""

from __future__ import annotations

import posixpath
import re
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from equimargin.atlas.markdown import place
from equimargin.atlas.pages import pages
from equimargin.report.pages.rendering import templates

try:
    from latex2mathml.converter import convert
    from markdown_it import MarkdownIt
    from markupsafe import Markup
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
except ImportError as missing:
    raise ImportError(
        f"the atlas lacks the package {missing.name}: pip install 'equimargin[atlas]'"
    ) from missing

PAGES = files("equimargin.atlas") / "pages"
"""Folder of the templates, the style sheet and the scripts."""
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
"""Files of npm's package `pyodide` that run Python in a browser."""
COPIED = ("certificates.js", "worker.js")
"""Scripts of the page that checks certificates."""
PLACE = re.compile(r"^\((\S+)\)=$", re.MULTILINE)
"""Place in a page."""
LINK = re.compile(r"\[([^\]]*)\]\((?:#([^)]+)|([\w./~-]+)\.md)\)")
"""Text that links to a place, or to a page."""


def write_atlas(folder: Path, pyodide: Path | None = None) -> int:
    """Write the atlas of everything that is registered.

    Parameters
    ----------
    folder : Path
        New or empty folder.
    pyodide : Path, optional
        Folder of npm's package `pyodide`, which the page that checks certificates runs;
        without it the page states what it needs.

    Returns
    -------
    int
        Number of pages.

    Raises
    ------
    ValueError
        If the folder is not empty, or pyodide lacks a file.
    OSError
        If the folder cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder}: it is not empty; name a new folder")
    missing = [name for name in PYODIDE if pyodide is not None and not (pyodide / name).is_file()]
    if missing:
        raise ValueError(
            f"{pyodide}: it has no {', '.join(missing)}; name the folder of npm's package "
            f"pyodide (npm install pyodide)"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".atlas-") as made:
        started = Path(made) / "atlas"
        rendered = html(pages())
        for name, text in rendered.items():
            title = Markup(text[: text.index("</h1>")]).striptags()
            _write(
                started / name, "base.html", root=_way(name, "."), title=title, content=Markup(text)
            )
        write_checker(started, pyodide)
        if folder.exists():
            folder.rmdir()
        started.rename(folder)
    return len(rendered) + 1


def write_checker(folder: Path, pyodide: Path | None = None) -> None:
    """Write the page that checks certificates, the unchanged checker, and its scripts.

    Parameters
    ----------
    folder : Path
        Folder of the atlas.
    pyodide : Path, optional
        Folder of npm's package `pyodide`; None without it.
    """
    _write(folder / "certificates.html", "certificates.html", root=".", checks=pyodide is not None)
    for name in COPIED:
        (folder / name).write_bytes((PAGES / name).read_bytes())
    (folder / "checker.py").write_bytes((files("equimargin.proofs") / "checker.py").read_bytes())
    if pyodide is not None:
        (folder / "pyodide").mkdir(exist_ok=True)
        for name in PYODIDE:
            shutil.copyfile(pyodide / name, folder / "pyodide" / name)


def html(texts: Mapping[str, str]) -> dict[str, str]:
    """Return pages as HTML, by file.

    Parameters
    ----------
    texts : mapping of str to str
        Markdown by file.
    """
    reader = MarkdownIt("commonmark", {"html": True, "highlight": _code}).enable("table")
    reader.use(dollarmath_plugin, renderer=_equation, allow_digits=False)
    files_of = {
        name: file.removesuffix("md") + "html"
        for file, text in texts.items()
        for name in PLACE.findall(text)
    }

    def led(found: re.Match[str], file: str) -> str:
        words, name, page = found.groups()
        if page is not None:
            return f"[{words}]({page}.html)"
        return (
            f"[{words}]({_way(file, files_of[name])}#{place(name)})" if name in files_of else words
        )

    made = {}
    for file, text in texts.items():
        text = LINK.sub(
            partial(led, file=file),
            PLACE.sub(lambda found: f'<div id="{place(found[1])}"></div>\n', text),
        )
        shown = (
            reader.render(text)
            .replace("<table>", '<div class="wide" tabindex="0"><table>')
            .replace("</table>", "</table></div>")
        )
        made[file.removesuffix("md") + "html"] = shown
    return made


def _way(file: str, to: str) -> str:
    """Return the relative path from the page `file` to the page `to`."""
    return posixpath.relpath(to, posixpath.dirname(file) or ".")


def _code(text: str, language: str, more: str) -> str:
    """Return a block of code, or its output; it scrolls, and the keyboard reaches it."""
    shown = highlight(text, get_lexer_by_name(language, stripnl=False), HtmlFormatter(nowrap=True))
    return f'<pre class="{language}" tabindex="0">{shown}</pre>'


def _equation(latex: str, options: Mapping[str, Any]) -> str:
    """Return an equation as MathML.

    A displayed one scrolls, and the keyboard reaches it.
    """
    if not options["display_mode"]:
        return str(convert(latex))
    return (
        f'<div class="wide" tabindex="0" role="group" '
        f'aria-label="Equation">{convert(latex, display="block")}</div>'
    )


def _write(file: Path, template: str, **parts: Any) -> None:
    text = (
        templates(lambda name: (PAGES / name).read_text(encoding="utf-8"))
        .get_template(template)
        .render(**parts)
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.encode("ascii", "xmlcharrefreplace").decode(), encoding="ascii")
