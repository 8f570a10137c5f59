"""Rows of the ledger (`examples/ledger`) on the equations of a family, for its page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from equimargin.atlas.markdown import plain
from equimargin.formulations import Formulation
from ledger import Kind, claims

NUMBERS = re.compile(r"\(([A-Z]?\.?\d+(?:\.\d+)?)\)(?:-\((\d+)\))?")
"""Equation numbers in a source: one number, or the first and the last of a range."""
EVIDENCE = {
    Kind.STATEMENT: "tested in rational numbers: `python -m ledger show {id}` in `examples`",
    Kind.THEOREM: "machine-checked: `{name}`",
    Kind.FORM: "declared: `{name}`",
    Kind.CONTROL: "declared as a negative control, whose optimum differs: `{name}`",
    Kind.TEST: "tested: `{name}`",
    Kind.EXPERIMENT: "measured again: `make experiments`",
    Kind.NONE: "not tested",
}
"""Text on the evidence of a row of the ledger, by the kind of evidence."""


def write_ledger_rows(formulations: Sequence[Formulation]) -> Iterator[str]:
    """Yield the ledger's rows on these formulations and on the equations that publish them."""
    yield from ("## Claims of the documents, and their verdicts", "")
    # A row belongs to a family by the number of a printed equation, or by the id of a
    # formulation.
    wanted = {
        f"{source.document}.{number}"
        for each in formulations
        for source in each.sources
        for number in _numbers(source.equations)
    }
    own = {each.id for each in formulations}
    found = [
        row
        for row in claims()
        if row.id in wanted or row.name in own or any(row.id.startswith(f"{id}.") for id in wanted)
    ]
    if not found:
        yield "None of the five documents has this problem; its sources are named above."
    for row in found:
        yield (
            f"* **{plain(row.id)}**, {row.verdict}: {plain(row.note or row.says)} "
            f"({EVIDENCE[row.kind].format(id=row.id, name=row.name)})"
        )


def _numbers(equations: str) -> Iterator[str]:
    """Yield the number of every equation that a source names."""
    for first, last in NUMBERS.findall(equations):
        yield from (str(n) for n in range(int(first), int(last) + 1)) if last else (first,)
