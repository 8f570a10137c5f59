"""Results in a notebook: a statement, a table and notes as HTML.

The HTML has no script and loads nothing. Colours and fonts are those of the notebook, on
dark and on light ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LEFT = ' style="text-align: left; vertical-align: top"'
"""Style of a cell: notebooks would align its text to the right."""


def notebook_html(
    statement: str,
    rows: Iterable[Sequence[str]],
    columns: Sequence[str] = (),
    notes: Iterable[str] = (),
    folded: Iterable[tuple[str, str]] = (),
) -> str:
    """Return a statement, a table, notes and folded parts as HTML, with all text escaped.

    Parameters
    ----------
    statement : str
        Sentence above the table.
    rows : iterable of sequence of str
        Cells of every row, of which the first is its head.
    columns : sequence of str, default ()
        Heads of the columns; empty for a table of names and values.
    notes : iterable of str, default ()
        Sentences below the table.
    folded : iterable of tuple of (str, str), default ()
        Titles, each with HTML of this function that a click on the title shows.

    Returns
    -------
    str
        HTML.
    """
    heads = "".join(f'<th scope="col"{LEFT}>{escape(name)}</th>' for name in columns)
    lines = [f"<tr>{heads}</tr>"] if heads else []
    for first, *others in rows:
        cells = "".join(f"<td{LEFT}>{escape(text)}</td>" for text in others)
        lines.append(f'<tr><th scope="row"{LEFT}>{escape(first)}</th>{cells}</tr>')
    parts = [f"<p>{escape(statement)}</p>"]
    parts += [f"<table>{''.join(lines)}</table>"] if lines else []
    parts += [f"<p>{escape(note)}</p>" for note in notes]
    parts += [
        f"<details><summary>{escape(title)}</summary>{inside}</details>" for title, inside in folded
    ]
    return f'<div style="overflow-x: auto">{"".join(parts)}</div>'
