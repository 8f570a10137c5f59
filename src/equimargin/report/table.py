"""The wide table of a family: one line an answer, with its claim, the width of its interval and its times, for 150 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equimargin.formulations import REGISTRY
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.solvers import Status

COLUMNS = ("formulation", "source", "solver", "claim", "width", "agreement", "compile s", "solve s")
"""The heads of the columns, in their order."""
TEXTS = ("formulation", "source", "solver", "agreement")
"""Those that hold words, and not figures."""


def cells(j: Judgement) -> tuple[str, ...]:
    """One answer, a cell a column; an answer that was skipped has no figures."""
    run = j.evidence.run
    entry = None if run.formulation is None else REGISTRY[run.formulation]
    name = "specialised solver" if entry is None else entry.id + (" (control)" if entry.control else "")
    source = "" if entry is None else "; ".join(map(str, entry.sources))
    if j.agreement is Agreement.SKIPPED:
        return name, source, run.solver, "", "", str(j.agreement), "", ""
    figures = f"{j.evidence.value:.10g}", f"{j.relative_width:.1e}"
    return name, source, run.solver, *figures, str(j.agreement), _seconds(run.compile_seconds), _seconds(run.solve_seconds)


def table(family: FamilyVerdict) -> Any:
    """The answers of a family as a table for a rich console, one line each."""
    from rich.table import Table

    styles = {Agreement.DISAGREES: "red", Agreement.FAILED: "yellow", Agreement.INACCURATE: "yellow", Agreement.SKIPPED: "dim"}
    table = Table(title=family.id, title_justify="left", title_style="bold", expand=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in TEXTS else "right", overflow="fold")
    for j in family.judgements:
        table.add_row(*cells(j), style=styles.get(j.agreement, ""))
    return table


def closing_lines(family: FamilyVerdict) -> Iterator[str]:
    """The lines below the table: why answers were skipped, failed or ended early, then the proven interval and the verdict."""
    reasons: dict[str, list[str]] = {}
    for j in family.judgements:
        run = j.evidence.run
        unfinished = j.agreement is Agreement.INACCURATE and (run.status is not Status.OPTIMAL or j.explained is not None)
        if unfinished or j.agreement in (Agreement.SKIPPED, Agreement.FAILED):
            reasons.setdefault(f"{j.agreement}: {j.ground}", []).append(run.name)
    for reason, who in reasons.items():
        yield f"  {reason} ({', '.join(who)})"
    lower, upper = family.interval.lower, family.interval.upper
    if not family.feasible:
        yield "  no point is feasible: every agreeing answer proves it"
    elif family.unbounded:
        yield "  the objective has no bound: an exact ray proves it"
    else:
        proven = "optimum, not proven," if family.doubt else "optimum proven"
        yield f"  {proven} in [{lower:.12g}, {upper:.12g}], relative width {family.interval.relative_width:.1e}"
    yield f"  verdict: {str(family.verdict).upper()} - {family.reason}"
    if family.advice:
        yield f"  {family.advice}"
    if family.doubt:
        yield f"  {family.doubt}"


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"
