"""HTML page of a comparison: verdict, families, times, intervals, answers and links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from equimargin.formulations import REGISTRY
from equimargin.report.answers import COLUMNS, WORDS, AnswerView
from equimargin.report.cell import Cell
from equimargin.report.pages.intervals import intervals
from equimargin.report.pages.link_graph import link_graph, links_between
from equimargin.report.pages.rendering import rendered
from equimargin.report.pages.times import times
from equimargin.report.view import OVERVIEW, ComparisonView
from equimargin.report.words import MARKS, MEANINGS


def comparison_page(
    view: ComparisonView,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """Return the HTML text of the page.

    Parameters
    ----------
    view : ComparisonView
        View of the comparison.
    data, settings : mapping
        Records of the data and of the settings.
    versions : mapping
        Versions of the libraries used.
    command : str, default ""
        Shell command that repeats the comparison; empty if it was run from Python.
    """
    chosen = settings.get("formulations", ())
    shortened = {"formulations": f"all {len(chosen)}"} if set(chosen) == set(REGISTRY) else {}
    return rendered(
        "comparison.html",
        command,
        {**settings, **shortened},
        versions,
        name=data.get("name", ""),
        read_as=data.get("read_as", ""),
        kind=view.kind,
        verdict=view.verdict,
        view=view,
        overview=[(name, name in WORDS) for name in OVERVIEW],
        sections=[
            (f"family-{k}", family, intervals(family, f"family-{k}"))
            for k, family in enumerate(view.families, 1)
            if family.optimum
        ],
        groups=[*_groups(view)],
        times=times(view.families),
        columns=[(name, name in WORDS) for name in ("family", *COLUMNS)],
        answers=[_row(family.id, answer) for family in view.families for answer in family.answers],
        graph=link_graph(view.families),
        links=links_between([family.id for family in view.families]),
        marks={agreement: mark for agreement, (mark, _) in MARKS.items()},
        meanings=MEANINGS,
    )


def _groups(
    view: ComparisonView,
) -> Iterator[tuple[str, list[AnswerView | None], dict[str, list[AnswerView | None]]]]:
    """Yield per family its id, the specialised solvers' answers and each formulation's."""
    for family in view.families:
        rows = {
            label: [row.get(name) for name in view.solvers] for label, row in family.rows.items()
        }
        shown = {label: row for label, row in rows.items() if any(row)}
        if shown:
            yield family.id, shown.pop("", [None] * len(view.solvers)), shown


def _row(family: str, answer: AnswerView) -> list[Cell]:
    """Return the row of an answer, with its mark before the word."""
    marked = f"{MARKS[answer.agreement][0]} {answer.agreement}"
    cells = (
        replace(cell, text=marked) if cell.kind == str(answer.agreement) else cell
        for cell in answer.cells
    )
    return [Cell.word(family), *cells]
