"""Terminal report of a comparison: family blocks, skips and marks; and wide tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from equimargin.formulations.programs.extras import OptionalModule
from equimargin.proofs import Agreement, FamilyVerdict
from equimargin.report.answers import COLUMNS, WORDS, AnswerView
from equimargin.report.view import ComparisonView, FamilyView
from equimargin.report.words import MARKS, NO_BREAK, cut

INDENT = 4
"""Indentation of the lines of a block, in columns."""
NAME_COLUMNS = 15
"""Minimum width of the name of a family in the head of its block, in columns."""
NARROWEST_SOURCE = 10
"""Minimum width of the sources of formulations, in columns; narrower ones are omitted."""
SEVERITY = ("disagree", "unfinished", "undecided", "agree")
"""Verdicts as words; the first that a problem of a family has is that of the family."""
STYLES = {
    Agreement.DISAGREES: "red",
    Agreement.FAILED: "yellow",
    Agreement.INACCURATE: "yellow",
    Agreement.SKIPPED: "dim",
}
"""Style of a line of a wide table, by the agreement of its answer."""


@dataclass(frozen=True)
class Style:
    """Layout of lines."""

    width: int
    """Maximum number of columns of a line."""
    ascii: bool
    """True if only ASCII may be used."""
    names: int = NAME_COLUMNS
    """Width of the name of a family, in columns."""

    def mark(self, agreement: Agreement) -> str:
        """Return the mark of an agreement.

        Parameters
        ----------
        agreement : Agreement
            Agreement of an answer.

        Returns
        -------
        str
            One character.
        """
        return MARKS[agreement][self.ascii]

    def wrapped(self, text: str, indent: int = 0, hanging: int = 2) -> list[str]:
        """Wrap a text to the width, and replace no-break spaces by spaces.

        Parameters
        ----------
        text : str
            Text of one paragraph.
        indent : int, default 0
            Indentation of the first line, in columns.
        hanging : int, default 2
            Further indentation of the other lines, in columns.

        Returns
        -------
        list of str
            Lines.
        """
        first, rest = " " * indent, " " * (indent + hanging)
        lines = wrap(
            text, self.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
        return [line.replace(NO_BREAK, " ") for line in lines]


def name_columns(families: Iterable[FamilyVerdict]) -> int:
    """Return the width of the longest family name with two spaces after it, in columns.

    Parameters
    ----------
    families : iterable of FamilyVerdict
        Families of the report.

    Returns
    -------
    int
        Number of columns, at least NAME_COLUMNS.
    """
    return max(
        [NAME_COLUMNS, *(len(INDENT * " " * bool(f.part) + (f.part or f.id)) + 2 for f in families)]
    )


def block(family: FamilyView, style: Style) -> list[str]:
    """Return the lines of a family: optimum, verdict, solvers, formulations, remarks.

    Parameters
    ----------
    family : FamilyView
        View of the family.
    style : Style
        Layout of the lines.

    Returns
    -------
    list of str
        Lines.
    """
    lines = _head(family.title, family.optimum, family.standing, style)
    if family.missing and not any(answer.was_run for answer in family.answers):
        return lines
    lines += style.wrapped(
        "   ".join(answer.said(style.ascii) for answer in family.specialised), INDENT, 0
    )
    lines += _formulations({label: cells for label, cells in family.rows.items() if label}, style)
    return lines + [line for sentence in family.remarks for line in style.wrapped(sentence, INDENT)]


def group_block(group: Sequence[FamilyView], style: Style) -> list[str]:
    """Return the lines of a family: those of `block`, or a verdict for every part of the data.

    Parameters
    ----------
    group : sequence of FamilyView
        Views of the problems of a family.
    style : Style
        Layout of the lines.

    Returns
    -------
    list of str
        Lines.
    """
    if len(group) == 1:
        return block(group[0], style)
    kinds = [family.kind for family in group]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    # The family stands as its worst part does.
    worst = min(kinds, key=SEVERITY.index)
    standing = worst.upper()
    if worst == "unfinished":
        late = next(family.standing for family in group if family.missing)
        standing = f"{sum(family.missing for family in group)} {late.partition(' ')[2]}"
    lines = [_with_end(f"{group[0].id}: {len(group)} pairs of classes: {counts}", standing, style)]
    for family in group:
        optimum = family.optimum.partition(" (")[0]
        lines += _head(f"{' ' * INDENT}{family.judged.part}", optimum, family.standing, style)
        lines += [line for text in family.remarks for line in style.wrapped(text, 2 * INDENT)]
    return lines


def closing(view: ComparisonView, style: Style, votes: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the last lines: counts, votes, interpretation of floats, skips, documents, marks.

    Parameters
    ----------
    view : ComparisonView
        View of the comparison.
    style : Style
        Layout of the lines.
    votes : mapping of str to tuple of int
        Points that the pairs of classes vote into their class, and all, by family.

    Returns
    -------
    list of str
        Lines.
    """
    letters = ", ".join(sorted(view.first_documents))
    marks = "  ".join(f"{style.mark(agreement)}{NO_BREAK}{agreement}" for agreement in Agreement)
    sentences = [
        f"{view.counts}   {view.progress}",
        votes_in_words(votes),
        *view.readings,
        f"skipped: {'; '.join(view.skips)}" if view.skips else "",
        f"{letters}: documents with these equations, named by --explain" if letters else "",
        f"{marks}   --explain, --wide",
    ]
    return [line for sentence in sentences for line in style.wrapped(sentence)]


def votes_in_words(votes: Mapping[str, tuple[int, int]]) -> str:
    """Return a sentence on the votes of the pairs of classes; empty without any.

    Parameters
    ----------
    votes : mapping of str to tuple of int
        As in `closing`.
    """
    counts = (f"{id} {right:,} of {m:,}" for id, (right, m) in votes.items())
    return f"Rows in their class by votes of the pairs: {', '.join(counts)}." if votes else ""


def wide_table(family: FamilyView) -> Any:
    """Return the answers of a family as a table for a rich console of 150 columns.

    Parameters
    ----------
    family : FamilyView
        View of the family.

    Returns
    -------
    rich.table.Table
        Table.
    """
    table = OptionalModule("rich.table").Table(
        title=family.title, title_justify="left", title_style="bold", expand=False
    )
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in WORDS else "right", overflow="fold")
    for answer in family.answers:
        table.add_row(*(cell.text for cell in answer.cells), style=STYLES.get(answer.agreement, ""))
    return table


def first_proof(family: FamilyView, style: Style) -> list[str]:
    """Return a line on an optimum that is proven before all answers have run.

    It is indented to distinguish it from the head of a block.

    Parameters
    ----------
    family : FamilyView
        View of the family.
    style : Style
        Layout of the lines.

    Returns
    -------
    list of str
        Lines.
    """
    return style.wrapped(
        f"{family.title}: {family.optimum.partition(' (')[0]}; running other solvers", INDENT
    )


def _head(name: str, optimum: str, standing: str, style: Style) -> list[str]:
    """Return name, optimum and standing, on one line if they fit."""
    line = f"{name:<{style.names - 1}} {optimum}"
    if len(line) + 2 + len(standing) <= style.width:
        return [_with_end(line, standing, style)]
    indent = INDENT + len(name) - len(name.lstrip())
    return [_with_end(name, standing, style), *style.wrapped(optimum, indent)]


def _with_end(line: str, end: str, style: Style) -> str:
    """Return a line with a text at its right end."""
    return f"{line}{end:>{max(style.width - len(line), len(end) + 1)}}"


def _formulations(rows: Mapping[str, Mapping[str, AnswerView]], style: Style) -> list[str]:
    """Return a row per formulation with a column per backend, or with a list of backends."""
    # The table becomes lists if its columns exceed the width of the report.
    backends = list(
        dict.fromkeys(
            name for row in rows.values() for name, answer in row.items() if answer.was_run
        )
    )
    rows = {label: row for label, row in rows.items() if row.keys() & set(backends)}
    if not rows:
        return []
    cells = {
        (label, name): _cell(row[name], style)
        for label, row in rows.items()
        for name in backends
        if name in row
    }
    widths = {
        name: 2 + max(len(name), *(len(text) for (_, of), text in cells.items() if of == name))
        for name in backends
    }
    first = max(map(len, rows)) + 2
    room = style.width - INDENT - first - sum(widths.values())
    if room < 0:
        listed = (
            (label, (f"{name} {cells[label, name]}" for name in backends if (label, name) in cells))
            for label in rows
        )
        return [
            line
            for label, parts in listed
            for line in style.wrapped(f"{label}: {', '.join(parts)}", INDENT)
        ]
    sources = {label: _source(row) for label, row in rows.items()}
    room = min(room, max(map(len, sources.values())) + 2) if room >= NARROWEST_SOURCE else 0
    lines = [
        " " * (INDENT + first + room)
        + "".join(f"{name:<{widths[name]}}" for name in backends).rstrip()
    ]
    more = "~" if style.ascii else "…"
    for label, source in sources.items():
        place = f"{cut(source, room - 2, more):<{room}}" if room else ""
        row = "".join(f"{cells.get((label, name), ''):<{widths[name]}}" for name in backends)
        lines.append(f"{' ' * INDENT}{label:<{first}}{place}{row}".rstrip())
    return lines


def _source(row: Mapping[str, AnswerView]) -> str:
    """Return the first published source of the formulation of some answers."""
    return next((str(source) for answer in row.values() for source in answer.sources), "")


def _cell(answer: AnswerView, style: Style) -> str:
    """Return the mark, the seconds and the error of an answer."""
    return " ".join(filter(None, (style.mark(answer.agreement), answer.seconds, answer.figure)))
