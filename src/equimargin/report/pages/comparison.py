"""The page of a comparison: the verdict, the families, marks, times, intervals, all answers, the links, and how to run it again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from equimargin.formulations import DOCUMENTS, REGISTRY
from equimargin.proofs import Agreement, FamilyVerdict, Judgement, Verdict
from equimargin.report.page import (
    Style,
    fastest_first,
    optimum,
    proven_digits,
    readings,
    remarks,
    same_at_every_optimum,
    skips,
    standing,
    summary,
)
from equimargin.report.pages.intervals import HOW_TO_READ, intervals
from equimargin.report.pages.link_graph import link_graph
from equimargin.report.pages.rendering import Cell, rendered
from equimargin.report.pages.times import times
from equimargin.report.table import COLUMNS, TEXTS, cells

STYLE = Style(width=80, ascii=False)
"""The marks; a browser breaks lines itself."""
MEANINGS = {
    Agreement.AGREES: "the value is the optimum, and the point is near-optimal after exact repair",
    Agreement.INACCURATE: "off by no more than its own accuracy explains",
    Agreement.DISAGREES: "off by more than that: a formulation is wrong, or a solver is",
    Agreement.FAILED: "it did not solve its own problem, or ran out of time",
    Agreement.SKIPPED: "it does not take this problem, or was not asked",
}
"""What every agreement means."""


def comparison_page(
    families: Sequence[FamilyVerdict],
    planned: Sequence[int],
    left_out: Sequence[str],
    seconds: float,
    interrupted: str,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """The text of the page.

    Parameters
    ----------
    families, planned, left_out, seconds, interrupted : as in `equimargin.report.page`.  data, settings : those of the record.
    versions : of what it was computed with.  command : what runs it again in a shell; empty where it was run from Python.
    """
    counts, how_far = summary(families, planned, seconds, interrupted)
    wanted = planned or [len(family.judgements) for family in families]
    missing = [count - len(family.judgements) for family, count in zip(families, wanted, strict=True)]
    kind, said = verdict(families, missing)
    graph = link_graph(families)
    return rendered(
        "comparison.html",
        command,
        _shortened(settings),
        versions,
        name=data.get("name", ""),
        read_as=data.get("read_as", ""),
        counts=counts,
        how_far=how_far,
        kind=kind,
        verdict=said,
        interrupted=interrupted,
        overview=[_overview(family, count, bool(interrupted)) for family, count in zip(families, missing, strict=True)],
        sections=[_section(family, count, f"family-{k + 1}") for k, (family, count) in enumerate(zip(families, missing, strict=True))],
        how_to_read=HOW_TO_READ,
        matrix=_matrix(families),
        times=times(families),
        columns=[("family", True), *((name, name in TEXTS) for name in COLUMNS)],
        answers=[_row(family, j) for family in families for j in family.judgements],
        documents=_documents(families),
        graph=graph,
        skips=skips(families, left_out),
        marks=[(str(agreement), STYLE.mark(agreement), MEANINGS[agreement]) for agreement in Agreement],
    )


def verdict(families: Sequence[FamilyVerdict], missing: Sequence[int]) -> tuple[str, str]:
    """The verdict on all families in a word (agree, disagree, undecided or unfinished) and in a sentence.

    Parameters
    ----------
    missing : how many answers of each are not there.
    """
    finished = [family for family, count in zip(families, missing, strict=True) if not count]
    against = [family.id for family in families if family.verdict is Verdict.DISAGREE]
    open_ones = [family.id for family in finished if family.verdict is Verdict.UNDECIDED]
    agreeing = sum(family.verdict is Verdict.AGREE for family in finished)
    of_all = f"of {len(families)} families"
    if not families:
        return "undecided", "Nothing was compared."
    if len(families) == 1 and not missing[0]:
        said = {Verdict.AGREE: "agree", Verdict.DISAGREE: "do not agree", Verdict.UNDECIDED: "leave its optimum undecided"}
        return str(families[0].verdict), f"The answers of {families[0].id} {said[families[0].verdict]}."
    if against:
        verb = "disagrees" if len(against) == 1 else "disagree"
        return "disagree", f"{len(against)} {of_all} {verb}: {', '.join(against)}."
    if len(finished) < len(families):
        verb = "lacks" if len(families) - len(finished) == 1 else "lack"
        return "unfinished", f"Not finished: {agreeing} {of_all} agree so far, and {len(families) - len(finished)} {verb} answers."
    if open_ones:
        verb = "is" if len(open_ones) == 1 else "are"
        return "undecided", f"{len(open_ones)} {of_all} {verb} undecided: {', '.join(open_ones)}."
    return "agree", f"All {len(families)} families agree."


def _shortened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, in which all formulations are "all" instead of a list of them."""
    chosen = settings.get("formulations", ())
    return {**settings, "formulations": f"all {len(chosen)}"} if set(chosen) == set(REGISTRY) else dict(settings)


def _overview(family: FamilyVerdict, missing: int, ended: bool) -> list[Cell]:
    """The row of a family: what is proven of its optimum, and who was fastest."""
    digits, count = proven_digits(family.interval)
    right = [j for j in family.judgements if j.agreement is Agreement.AGREES and not j.evidence.run.control]
    timed = [j for j in right if j.evidence.run.solve_seconds is not None]
    fastest = min(timed, key=lambda j: j.evidence.run.solve_seconds or 0.0, default=None)
    seconds = None if fastest is None else fastest.evidence.run.solve_seconds
    how = standing(family, missing, ended)
    run = sum(family.count(agreement) for agreement in Agreement if agreement is not Agreement.SKIPPED)
    return [
        Cell(family.id, family.id, "word"),
        Cell(how, how, "unfinished" if missing else str(family.verdict)),
        Cell(digits or (optimum(family) if family.judgements else ""), family.interval.upper if digits else ""),
        Cell(str(count) if count else "", count or ""),
        Cell(f"{family.interval.relative_width:.0e}" if digits else "", family.interval.relative_width if digits else ""),
        Cell(f"{len(right)} of {run}" if run else "", len(right) / run if run else ""),
        Cell(fastest.evidence.run.name.removeprefix("solver by ") if fastest else "", fastest.evidence.run.name if fastest else "", "word"),
        Cell("" if seconds is None else f"{seconds:.3g}", "" if seconds is None else seconds),
    ]


def _section(family: FamilyVerdict, missing: int, name: str) -> dict[str, Any]:
    """What the page says of a family below the tables."""
    return {
        "id": family.id,
        "anchor": name,
        "optimum": optimum(family) if family.judgements else "",
        "solvers": fastest_first(family, STYLE).replace("   ", ", "),
        "remarks": list(filter(None, [same_at_every_optimum(family), *remarks(family, missing), *readings([family])])),
        "against": [sentence for sentence in remarks(family, missing) if family.verdict is not Verdict.AGREE and family.reason in sentence],
        "picture": intervals(family, name),
    }


def _row(family: FamilyVerdict, j: Judgement) -> list[Cell]:
    """The row of an answer in the table of all answers."""
    run, skipped = j.evidence.run, j.agreement is Agreement.SKIPPED
    keys: dict[str, float | None] = {
        "claim": j.evidence.value,
        "width": j.relative_width,
        "compile s": run.compile_seconds,
        "solve s": run.solve_seconds,
    }
    row = [Cell(family.id, family.id, "word")]
    for column, shown in zip(COLUMNS, cells(j), strict=True):
        key = keys.get(column)
        if column == "agreement":
            row.append(Cell(f"{STYLE.mark(j.agreement)} {shown}", list(Agreement).index(j.agreement), str(j.agreement)))
        elif column in TEXTS:
            row.append(Cell(shown, shown, "long" if column == "source" else "word"))
        else:
            row.append(Cell(shown, "" if skipped or key is None or math.isnan(key) else key))
    return row


def _documents(families: Sequence[FamilyVerdict]) -> list[tuple[str, str]]:
    """The letters of documents that the sources in the table of all answers have, each with its title."""
    formulations = {j.evidence.run.formulation for family in families for j in family.judgements}
    letters = {source.document for id in formulations if id is not None for source in REGISTRY[id].sources}
    return [(letter, title) for letter, title in DOCUMENTS.items() if letter in letters]


def _matrix(families: Sequence[FamilyVerdict]) -> dict[str, Any]:
    """Formulations by solvers: a mark and the seconds for every answer; specialised solvers stand in the row of the family itself."""
    shown = [j for family in families for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    declared = dict.fromkeys(j.evidence.run.solver for j in shown if j.evidence.run.formulation is not None)
    solvers = list(declared | dict.fromkeys(j.evidence.run.solver for j in shown))
    groups = []
    for family in families:
        rows: dict[str, dict[str, Cell]] = {}
        for j in family.judgements:
            rows.setdefault(j.evidence.run.formulation or "", {})[j.evidence.run.solver] = _mark(j)
        itself = rows.pop("", {})
        asked = {id: found for id, found in rows.items() if found.keys() & {*solvers}}
        lines = [(_formulation(family.id, id), [found.get(name) for name in solvers]) for id, found in asked.items()]
        groups += [(family.id, [itself.get(name) for name in solvers], lines)] if itself.keys() & {*solvers} or lines else []
    return {"solvers": solvers, "groups": groups}


def _mark(j: Judgement) -> Cell:
    """The mark of an answer and its seconds of solving."""
    seconds = j.evidence.run.solve_seconds
    time = "" if seconds is None or j.agreement is Agreement.SKIPPED else f"{seconds:.2g}"
    return Cell(STYLE.mark(j.agreement), time, str(j.agreement))


def _formulation(family: str, id: str) -> str:
    """The name of a row of marks."""
    return id.removeprefix(f"{family}.") + (" (control)" if REGISTRY[id].control else "")
