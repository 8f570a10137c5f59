"""Result of `compare`, complete or so far: records, certificates, pages."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from equimargin import __version__
from equimargin.formulations.markdown import markdown_table, markdown_text
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.problem import AnyProblem, Problem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.levels import Levels
from equimargin.proofs import FamilyVerdict, Verdict
from equimargin.proofs.certificates.problem import certificate_of_family
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.proofs.certificates.writing import write_certificate
from equimargin.report.answers import COLUMNS, WORDS
from equimargin.report.page import Style, closing, group_block, name_columns, votes_in_words
from equimargin.report.pages.comparison import comparison_page
from equimargin.report.records import (
    SCHEMA_VERSION,
    csv_text,
    plain,
    record,
    solved,
    summary,
    versions,
)
from equimargin.report.view import OVERVIEW, ComparisonView, comparison_view
from equimargin.report.votes import voted_right
from equimargin.report.words import PAGE_COLUMNS
from equimargin.solvers.solution import counted


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of `compare`: families with their verdicts. Printing it shows the report."""

    families: tuple[FamilyVerdict, ...]
    """Verdicts, one per family."""
    problems: tuple[AnyProblem, ...] = ()
    """Problems of the families, in the same order."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Record of the data."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Record of the settings."""
    planned: tuple[int, ...] = ()
    """Number of planned answers of each family."""
    left_out: tuple[str, ...] = ()
    """Sentences on answers that were not planned."""
    seconds: float = 0.0
    """Wall time so far, in seconds."""
    interrupted: str = ""
    """Reason of an early end; empty otherwise."""

    @property
    def total(self) -> int:
        """Number of planned answers."""
        return sum(self.planned)

    @property
    def done(self) -> int:
        """Number of answers so far."""
        return sum(len(family.judgements) for family in self.families)

    @property
    def agree(self) -> bool:
        """True if every family agrees, and no answer disagrees.

        Negative controls do not count.
        """
        return self.exit_code == 0

    @cached_property
    def view(self) -> ComparisonView:
        """View model of the terminal report, the wide table and the HTML page."""
        return comparison_view(
            self.families, self.planned, self.left_out, self.seconds, self.interrupted
        )

    @cached_property
    def votes(self) -> dict[str, tuple[int, int]]:
        """Points that the pairs of classes vote into their class, and all, by family.

        A family is included once all its pairs agree.
        """
        parts: dict[str, list[tuple[AnyProblem, FamilyVerdict]]] = {}
        # A comparison made of verdicts alone has no problems.
        for problem, family in zip(self.problems, self.families, strict=False):
            if family.part:
                parts.setdefault(family.id, []).append((problem, family))
        counts = {id: voted_right(*zip(*pairs, strict=True)) for id, pairs in parts.items()}
        return {id: count for id, count in counts.items() if count is not None}

    @property
    def exit_code(self) -> int:
        """Exit status: 0 all families agree; 1 one disagrees; 3 nothing solved; 4 one undecided."""
        judgements = [
            j for family in self.families for j in family.judgements if not j.evidence.run.control
        ]
        if any(family.verdict is Verdict.DISAGREE for family in self.families):
            return 1
        if not any(solved(j) for j in judgements):
            return 3
        return 4 if any(family.verdict is not Verdict.AGREE for family in self.families) else 0

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Flat records, one per answer, with finite numbers or None."""
        return [record(family, j) for family in self.families for j in family.judgements]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, as report/schema.json describes them."""
        return {
            "schema": SCHEMA_VERSION,
            "command": "compare",
            "equimargin": __version__,
            "data": dict(self.data),
            "settings": plain(self.settings),
            "interrupted": bool(self.interrupted),
            "stopped": self.interrupted,
            "seconds": self.seconds,
            "planned": self.total,
            "left_out": list(self.left_out),
            "answers": self.answers,
            "families": [summary(family) for family in self.families],
            "votes": {id: list(count) for id, count in self.votes.items()},
            "agree": self.agree,
        }

    def certify(self, folder: str | os.PathLike[str]) -> dict[str, Path | str]:
        """Write a certificate FAMILY.json for every family from the best points of its answers.

        The second problem of a family gets FAMILY-2.json, and so on, also those of pairs
        of classes, in their order. The certificate of a user-defined or ordinal family
        concerns its first formulation as a program, and does not depend on the answers.

        Parameters
        ----------
        folder : str or os.PathLike[str]
            Folder of the files; created if missing.

        Returns
        -------
        dict of str to Path or str
            File of every problem by its name without .json, or a sentence on why it has
            none: its answers prove nothing, its kernel is not positive semidefinite, it
            is too large.

        Raises
        ------
        OSError
            If the folder cannot be created, or a file cannot be written.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        outcome: dict[str, Path | str] = {}
        seen: Counter[str] = Counter()
        for problem, family in zip(self.problems, self.families, strict=True):
            seen[family.id] += 1
            name = family.id if seen[family.id] == 1 else f"{family.id}-{seen[family.id]}"
            path = Path(folder) / f"{name}.json"
            try:
                write_certificate(_certificate(problem, family), path)
                outcome[name] = path
            except ValueError as reason:
                outcome[name] = str(reason)
        return outcome

    def to_json(self) -> str:
        """Return the result as JSON text, as report/schema.json describes it."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """Return the answers as CSV text with a header."""
        answers = self.answers
        return csv_text(list(answers[0]) if answers else ["family"], answers)

    def to_markdown(self) -> str:
        """Return the verdict, tables of families and of all answers, and notes as Markdown text."""
        families = self.view.families
        rows = (
            [family.title, *(cell.text for cell in answer.cells)]
            for family in families
            for answer in family.answers
        )
        return markdown_text(
            f"{self.view.verdict} {self.view.progress}.",
            self._notes,
            markdown_table(OVERVIEW, ([cell.text for cell in f.overview] for f in families), WORDS),
            markdown_table(("family", *COLUMNS), rows, WORDS),
        )

    def to_html(self, command: str = "") -> str:
        """Return the result as one HTML page: verdict, pictures, and a table of all answers.

        The page loads nothing else.

        Parameters
        ----------
        command : str, default ""
            Shell command that repeats the comparison; empty if it was run from Python.
        """
        return comparison_page(
            self.view,
            self.data,
            self.settings,
            {"equimargin": __version__} | versions(),
            command,
            votes_in_words(self.votes),
        )

    def _repr_html_(self) -> str:
        """Return the verdict and the table of families for a notebook, with folded answers."""
        view = self.view
        answers = [
            (
                f"{family.title}: {counted(len(family.answers), 'answer')}",
                notebook_html(
                    family.optimum,
                    ([cell.text for cell in answer.cells] for answer in family.answers),
                    COLUMNS,
                    family.details,
                ),
            )
            for family in view.families
            if family.answers
        ]
        return notebook_html(
            f"{view.verdict} {view.progress}.",
            ([cell.text for cell in family.overview] for family in view.families),
            OVERVIEW,
            self._notes,
            answers,
        )

    @property
    def _notes(self) -> list[str]:
        """Sentences on the families and votes, on the interpretation of floats, and on skips."""
        view = self.view
        remarks = [f"{family.title}: {text}" for family in view.families for text in family.remarks]
        skipped = f"skipped: {'; '.join(view.skips)}" if view.skips else ""
        return [*remarks, *filter(None, [votes_in_words(self.votes), *view.readings, skipped])]

    def __str__(self) -> str:
        return "\n".join(self.page(PAGE_COLUMNS))

    def page(self, width: int = PAGE_COLUMNS, ascii: bool = False) -> list[str]:
        """Return the lines of the report: a block per family, then skips and a legend of marks.

        The block of a family with a problem for every pair of classes has a line for
        each of them.

        Parameters
        ----------
        width : int, default 80
            Maximum number of columns of a line.
        ascii : bool, default False
            True if only ASCII may be used.
        """
        style = Style(width, ascii, name_columns(self.families))
        return [
            line for group in self.view.groups for line in (*group_block(group, style), "")
        ] + closing(self.view, style, self.votes)


def _certificate(problem: AnyProblem, family: FamilyVerdict) -> dict[str, Any]:
    """Return the certificate of a problem, or of its first formulation as a program.

    Raises
    ------
    ValueError
        If there is no certificate.
    """
    if not family.judgements:
        raise ValueError("it has no answer yet")
    has_levels = isinstance(problem, MarginProblem) and isinstance(problem.rows, Levels)
    return (
        certificate_of_family(problem, family)
        if isinstance(problem, Problem) and not has_levels
        else certificate_of_definition(problem)
    )
