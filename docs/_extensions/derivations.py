"""The derivations, a page for each family: the argument is the atlas's own text, and what stands around it is made of the registries.

`pages()` gives every page's text in MyST by its path below `derivations/`; nothing of Sphinx is needed for that.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from reference import ARROWS, formulation_link, members, plain, shown_families, slug, write

from equimargin.formulations import REGISTRY, families, links
from equimargin.proofs import theorems
from ledger import Claim, Kind, claims

TEXTS = files("equimargin.atlas") / "derivations"
"""The arguments, which the atlas shows too."""
NUMBERS = re.compile(r"\(([A-Z]?\.?\d+(?:\.\d+)?)\)(?:-\((\d+)\))?")
"""Numbers of equations in a source: one, or the first and the last of several."""
EVIDENCE = {
    Kind.STATEMENT: "tried in rational numbers: `python -m ledger show {id}` in `examples`",
    Kind.THEOREM: "machine-checked: `{name}`",
    Kind.FORM: "declared: `{name}`",
    Kind.CONTROL: "declared as a control: `{name}`",
    Kind.TEST: "tested: `{name}`",
    Kind.NONE: "nothing is run for it",
}
"""What shows a row of the ledger, by its kind."""
ROOT = Path(__file__).parents[2]


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx reads its sources."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "derivations", pages()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def pages() -> dict[str, str]:
    """All pages by their paths below `derivations/`."""
    made = {"duality.md": _duality()} | {f"{family}.md": _family(family) for family in shown_families()}
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def _duality() -> Iterator[str]:
    yield from ("(derivation-duality)=", "# Duality, from the beginning", "", _text("duality"))


def _family(family: str) -> Iterator[str]:
    entries = members(family)
    yield from (f"(derivation-{family})=", f"# {family}", "")
    yield from ("Where multipliers and the Lagrangian are new, begin with [duality](duality.md).", "")
    if entries[0].latex:
        yield from ("$$", entries[0].latex, "$$", "")
    yield from ("```text", *entries[0].statement.splitlines(), "```", "", _text(family), "## The forms, and where they stand", "")
    yield from ("| formulation | printed in | declared by |", "| --- | --- | --- |")
    for entry in entries:
        sources = "; ".join(plain(str(source)) for source in entry.sources)
        yield f"| {formulation_link(entry.id)}{' (control)' if entry.control else ''} | {sources} | {_declared(entry)} |"
    yield from ("", "## Links and theorems", "", *_links(entries), "## What the documents say, and what became of it", "")
    yield from (*_rows(entries), "", "## What keeps this page true", "", *_tests(family), "")


def _text(name: str) -> str:
    """A text of the atlas, its headings one level higher, its names of families and formulations as links."""
    text = re.sub(r"^### ", "## ", (TEXTS / f"{name}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    pieces = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(piece if piece.startswith("```") else re.sub(r"`([^`]+)`", _linked, piece) for piece in pieces)


def _linked(found: re.Match[str]) -> str:
    """A name between backticks, as a link where it is a family or a formulation."""
    name = found[1]
    if name in families():
        return f"{{ref}}`{name} <derivation-{name}>`"
    return formulation_link(name) if name in REGISTRY else found[0]


def _declared(entry: Any) -> str:
    """The file and the function that declare a formulation."""
    stated = inspect.unwrap(entry.stated)
    function = inspect.unwrap(stated)
    file = Path(inspect.getsourcefile(function) or "").resolve().relative_to(ROOT.resolve())
    return f"`{file.as_posix()}`, `{function.__name__}`"


def _links(entries: list[Any]) -> Iterator[str]:
    """Every link of a family's formulations, once, with its theorem or its counterexample."""
    own = {entry.id for entry in entries}
    found = [link for link in links.LINKS if own & {link.a, link.b}]
    if not found:
        yield from ("Its forms are linked by their values alone: `equimargin same FAMILY` finds which is the dual of which, and why.", "")
    for link in found:
        where = "" if link.conditions == "always" else f" It holds for {plain(link.conditions)}."
        yield f"* {{ref}}`{link.a} {ARROWS[link.kind]} {link.b} <link-{slug(link)}>`: {plain(link.statement)}{where} {_proof(link)}"
    yield ""


def _proof(link: Any) -> str:
    """What is known of a link's optima."""
    if link.theorem:
        file, _, name = link.theorem.partition(".")
        return f"Theorem `{name}`, `proofs/rocq/{file}.v`, line {theorems.line_of(link.theorem)}."
    if isinstance(link, links.NotEquivalent):
        a, b = (f"{value:.6g}" for value in link.values)
        return f"On its counterexample the optima are {a} and {b}."
    return "Its evidence is numerical."


def _rows(entries: list[Any]) -> Iterator[str]:
    """The ledger's rows of the equations that the formulations are printed as, and of those that these formulations show."""
    wanted = {f"{source.document}.{number}" for entry in entries for source in entry.sources for number in numbers(source.equations)}
    own = {entry.id for entry in entries}
    found = [row for row in claims() if row.id in wanted or row.name in own or any(row.id.startswith(f"{id}.") for id in wanted)]
    if not found:
        yield "The five documents do not print it: its sources are above."
    for row in found:
        yield f"* **{row.id}**, {row.verdict}: {plain(row.note or row.says)} ({_evidence(row)})"


def numbers(equations: str) -> Iterator[str]:
    """The numbers of the equations that a source names, each by itself."""
    for first, last in NUMBERS.findall(equations):
        yield from (str(n) for n in range(int(first), int(last) + 1)) if last else (first,)


def _evidence(row: Claim) -> str:
    return EVIDENCE[row.kind].format(id=row.id, name=row.name)


def _tests(family: str) -> Iterator[str]:
    """The tests of what a page says, by what they look at."""
    yield "* `tests/door/test_derivations.py`: the names, equations and files on this page, its examples, and what it calls unique."
    yield "* `tests/door/test_rules_of_uniqueness.py`: the rules for biases and thresholds, on drawn instances."
    yield "* `tests/formulations/test_links.py`: the links, by their maps and their counterexamples. `make proofs`: the theorems."
    yield "* `make nightly` and `make nightly-families`: the formulations on drawn instances. `make check-claims`: the ledger."
    yield f"* `equimargin same {family}`: which form is the dual of which, found and replayed by machine."
