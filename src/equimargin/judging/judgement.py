"""Answers of several solvers to one program, as a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from equimargin.formulations.markdown import markdown_table, markdown_text
from equimargin.formulations.notebook import notebook_html
from equimargin.judging.answer import AnswerVerdict, ProgramAnswer
from equimargin.program_bound import ProgramBound
from equimargin.report.words import PAGE_COLUMNS

COLUMNS = ("answer", "verdict", "objective", "distance at most", "worst violation")
"""Columns of the table."""
WORDS = ("answer", "verdict", "worst violation")
"""Columns of text; a violation is followed by the name of its constraint."""


@dataclass(frozen=True, eq=False)
class ProgramJudgement:
    """Answers to one program, and the proven interval of its optimum.

    Printing it shows a table.

    Parameters
    ----------
    bound : ProgramBound
        Interval that contains the optimum.
    answers : tuple of ProgramAnswer
        Answers in the order of the solvers, then those that were passed.
    tol : float
        Tolerance of the verdicts, relative to `scale`.
    """

    bound: ProgramBound
    answers: tuple[ProgramAnswer, ...]
    tol: float

    @property
    def agree(self) -> bool:
        """True if every answer agrees."""
        return all(answer.verdict is AnswerVerdict.AGREES for answer in self.answers)

    @property
    def notes(self) -> list[str]:
        """Sentences on the answers that do not agree, and on the tolerance."""
        others = [
            f"{answer.name}: {answer.reason}"
            for answer in self.answers
            if answer.verdict is not AnswerVerdict.AGREES
        ]
        return [
            *others,
            f"Tolerance {self.tol:g} of max(1, |optimum|), and of 1 + the right-hand side of a "
            f"constraint. The interval is proven; objectives and violations are recomputed in "
            f"float64, and no status of a solver is used.",
        ]

    def __str__(self) -> str:
        rows = [COLUMNS, *(answer.cells for answer in self.answers)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        statement, *notes = (
            fill(text, PAGE_COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
            for text in (self.bound.statement, *self.notes)
        )
        return "\n".join([statement, "", *table, "", *notes])

    def _repr_html_(self) -> str:
        """Return the statement, the table and the notes for a notebook."""
        rows = (answer.cells for answer in self.answers)
        return notebook_html(self.bound.statement, rows, COLUMNS, self.notes)

    def to_markdown(self) -> str:
        """Return the interval, the table and the sentences on it as Markdown text."""
        table = markdown_table(COLUMNS, (answer.cells for answer in self.answers), WORDS)
        return markdown_text(self.bound.statement, self.notes, table)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, infinite ones as text."""
        answers = [
            {key: _plain(v) for key, v in vars(answer).items() if key != "values"}
            for answer in self.answers
        ]
        return {
            "bound": self.bound.record(),
            "tol": self.tol,
            "agree": self.agree,
            "answers": answers,
        }

    def to_json(self) -> str:
        """Return the figures as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value for JSON, infinite numbers as text."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
