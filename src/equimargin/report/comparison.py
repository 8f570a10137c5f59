"""The result of `compare`, whole or as far as it has come: records, certificates, pages."""

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
from equimargin.formulations.problem import AnyProblem, Problem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.levels import Levels
from equimargin.proofs import FamilyVerdict, Verdict
from equimargin.proofs.certificates.problem import certificate_of_family
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.proofs.certificates.writing import write_certificate
from equimargin.report.page import Style, block, closing, name_columns
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
from equimargin.report.view import ComparisonView, comparison_view
from equimargin.report.words import PAGE_COLUMNS


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare`: the families with their judgements. Printing it shows the page."""

    families: tuple[FamilyVerdict, ...]
    """One verdict each."""
    problems: tuple[AnyProblem, ...] = ()
    """One for every family, in the same order."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Record of the data."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Record of the settings."""
    planned: tuple[int, ...] = ()
    """Number of answers that each family is to have, and has once the comparison is through."""
    left_out: tuple[str, ...] = ()
    """Sentences about what was not even planned."""
    seconds: float = 0.0
    """Seconds of wall time so far."""
    interrupted: str = ""
    """Reason of an early end; empty otherwise."""

    @property
    def total(self) -> int:
        """Number of answers that were to be had."""
        return sum(self.planned)

    @property
    def done(self) -> int:
        """Number of answers that there are."""
        return sum(len(family.judgements) for family in self.families)

    @property
    def agree(self) -> bool:
        """True if every family's verdict is agree, and nothing that was run disagrees.

        Controls, which are wrong on purpose, do not count.
        """
        return bool(self.families) and self.exit_code == 0

    @cached_property
    def view(self) -> ComparisonView:
        """All that is said of it, for the page, the wide table and the page of HTML."""
        return comparison_view(
            self.families, self.planned, self.left_out, self.seconds, self.interrupted
        )

    @property
    def exit_code(self) -> int:
        """0 all families agree; 1 one disagrees; 3 nothing was solved; 4 one is undecided."""
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
        """One flat record an answer, finite numbers or None."""
        return [record(family, j) for family in self.families for j in family.judgements]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as report/schema.json describes them."""
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
            "agree": self.agree,
        }

    def certify(self, folder: str | os.PathLike[str]) -> dict[str, Path | str]:
        """Write a certificate of every family, FAMILY.json, from the best points of its answers.

        That of its second problem is FAMILY-2.json. That of a user-defined family is of its definition as
        a program, proven without any answer.

        Returns
        -------
        dict[str, Path | str]
            The file of every problem, by its name without .json, or a sentence on why it has none: its
            answers prove nothing, its kernel is not positive semidefinite, it is too large.

        Raises
        ------
        OSError
            If the folder cannot be made, or a file cannot be written.
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
        """All of it as JSON text, as report/schema.json describes it."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """The answers as CSV text with a header."""
        answers = self.answers
        return csv_text(list(answers[0]) if answers else ["family"], answers)

    def to_html(self, command: str = "") -> str:
        """Return all of it as one page of HTML: the verdict, pictures, and a table of all answers.

        It loads nothing else.

        Parameters
        ----------
        command : str
            Command that runs it again in a shell; empty where it was run from Python.
        """
        return comparison_page(
            self.view, self.data, self.settings, {"equimargin": __version__} | versions(), command
        )

    def __str__(self) -> str:
        return "\n".join(self.page(PAGE_COLUMNS))

    def page(self, width: int = PAGE_COLUMNS, ascii: bool = False) -> list[str]:
        """Return the lines of the page: a block a family, then skips and the meaning of the marks.

        Parameters
        ----------
        width : int, default 80
            Columns that no line exceeds.
        ascii : bool, default False
            True if only ASCII may be used.
        """
        style = Style(width, ascii, name_columns(self.families))
        return [
            line for family in self.view.families for line in (*block(family, style), "")
        ] + closing(self.view, style)


def _certificate(problem: AnyProblem, family: FamilyVerdict) -> dict[str, Any]:
    """Return the certificate of a canonical problem, or of a definition as a program.

    Raises
    ------
    ValueError
        If it has none.
    """
    if not family.judgements:
        raise ValueError("it has no answer yet")
    has_levels = isinstance(problem, MarginProblem) and isinstance(problem.rows, Levels)
    return (
        certificate_of_family(problem, family)
        if isinstance(problem, Problem) and not has_levels
        else certificate_of_definition(problem)
    )
