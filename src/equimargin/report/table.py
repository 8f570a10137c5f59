"""The wide table of a family in a terminal: one line an answer, for 150 columns."""

from __future__ import annotations

from typing import Any

from equimargin.proofs import Agreement
from equimargin.report.answers import COLUMNS, FIGURES
from equimargin.report.view import FamilyView

STYLES = {Agreement.DISAGREES: "red", Agreement.FAILED: "yellow", Agreement.INACCURATE: "yellow", Agreement.SKIPPED: "dim"}
"""Style of a line by the agreement of its answer."""


def table(family: FamilyView) -> Any:
    """Return the answers of a family as a table for a rich console, one line each."""
    from rich.table import Table

    table = Table(title=family.id, title_justify="left", title_style="bold", expand=False)
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in FIGURES else "left", overflow="fold")
    for answer in family.answers:
        table.add_row(*(cell.text for cell in answer.cells), style=STYLES.get(answer.agreement, ""))
    return table
