"""The pages of the atlas, written into a folder: Jinja fills the templates of `pages/` with everything escaped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from equimargin.atlas.arcs import by_subject, diagram
from equimargin.atlas.equations import mathml
from equimargin.atlas.family_page import family_page, written
from equimargin.atlas.formulation_page import address, anchor, code, dual_of, multipliers, relations
from equimargin.formulations import REGISTRY, families, links
from equimargin.proofs import theorems
from equimargin.proofs.equivalence.duals import DUAL_OF

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The files of npm's package `pyodide` that run Python in a browser."""
COPIED = ("certificates.js", "worker.js")
"""Scripts of the page that checks certificates."""


def write_atlas(folder: Path, pyodide: Path | None = None) -> int:
    """Write the atlas of everything that is registered.

    Parameters
    ----------
    folder : a new or an empty one.
    pyodide : the folder of npm's package `pyodide`, which the page that checks certificates runs; without it that page says what it needs.

    Returns
    -------
    int : the number of pages.

    Raises
    ------
    ValueError : the folder is not empty; pyodide lacks a file; the extra `atlas` is not installed.  OSError : it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder}: it is not empty; name a new folder")
    missing = [name for name in PYODIDE if pyodide is not None and not (pyodide / name).is_file()]
    if missing:
        raise ValueError(f"{pyodide}: it has no {', '.join(missing)}; name the folder of npm's package pyodide (npm install pyodide)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".atlas-") as place:
        started = Path(place) / "atlas"
        count = 0
        for name, text in _pages(pyodide is not None):
            (started / name).parent.mkdir(parents=True, exist_ok=True)
            (started / name).write_text(text.encode("ascii", "xmlcharrefreplace").decode(), encoding="ascii")
            count += 1
        _copy_checker(started, pyodide)
        if folder.exists():
            folder.rmdir()
        started.rename(folder)
    return count


def _pages(checks: bool) -> Iterator[tuple[str, str]]:
    """Every page: its file and its text."""
    made = _environment()
    subjects = by_subject()
    yield "index.html", made.get_template("index.html").render(root="", subjects=subjects, diagram=diagram(families(), links.LINKS))
    yield "duality.html", made.get_template("duality.html").render(root="", text=written("duality"))
    yield "certificates.html", made.get_template("certificates.html").render(root="", checks=checks)
    for id, entry in REGISTRY.items():
        text = made.get_template("formulation.html").render(
            root="../", entry=entry, code=code(entry), multipliers=multipliers(entry), relations=relations(id), derivation=dual_of(id)
        )
        yield f"formulations/{address(id)}.html", text
    for id in families():
        page = family_page(id)
        duals = [dual_of(primal) for primal in DUAL_OF if REGISTRY[primal].family == id]
        text = made.get_template("family.html").render(root="../", page=page, diagram=diagram([id], links.LINKS), duals=duals)
        yield f"families/{address(id)}.html", text
    for file in theorems.names_of_files():
        yield f"theorems/{file}.html", made.get_template("theorems.html").render(root="../", file=file, text=_coq(file))


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("equimargin.atlas", "pages")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["math"] = mathml
    made.filters["address"] = address
    made.filters["anchor"] = anchor
    made.globals["REGISTRY"] = REGISTRY
    return made


def _coq(file: str) -> Markup:
    """A file of theorems, highlighted, with an anchor at every line."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name("coq", stripnl=False)
    lines = highlight(theorems.text_of(file), lexer, HtmlFormatter(nowrap=True)).splitlines()
    return Markup("\n".join(f'<span id="line-{k}">{line}</span>' for k, line in enumerate(lines, 1)))


def _copy_checker(folder: Path, pyodide: Path | None) -> None:
    """The checker itself, unchanged, the scripts that run it, and Python for the browser."""
    sources = files("equimargin.atlas") / "pages"
    for name in COPIED:
        (folder / name).write_bytes((sources / name).read_bytes())
    (folder / "checker.py").write_bytes((files("equimargin.proofs") / "checker.py").read_bytes())
    if pyodide is not None:
        (folder / "pyodide").mkdir()
        for name in PYODIDE:
            shutil.copyfile(pyodide / name, folder / "pyodide" / name)
