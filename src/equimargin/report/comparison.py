"""What `compare` found, whole or as far as it has come: its records, its certificates, its page."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equimargin import __version__
from equimargin.formulations.problem import AnyProblem, Problem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.program_problem import ProgramProblem
from equimargin.formulations.rows.levels import Levels
from equimargin.proofs import FamilyVerdict, Verdict
from equimargin.proofs.certificates.problem import certificate_of_family
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.proofs.certificates.writing import write
from equimargin.report.page import page, readings
from equimargin.report.pages.comparison import comparison_page
from equimargin.report.records import SCHEMA_VERSION, csv_text, plain, record, solved, summary, versions
from equimargin.report.table import closing_lines, table

PAGE_COLUMNS = 80
"""Columns of the page where nobody says how many there are."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare`: the families with their judgements. Printing it shows the page.

    Attributes
    ----------
    families : tuple[FamilyVerdict, ...]
        One verdict each.
    problems : tuple[AnyProblem, ...]
        One for every family, in the same order.
    data, settings : Mapping[str, Any]
        What was compared, for the record.
    planned : tuple[int, ...]
        How many answers of each family are wanted; there are as many once the comparison is
        through.
    left_out : tuple[str, ...]
        Sentences about what was not even planned.
    seconds : float
        Seconds of wall time so far.
    interrupted : str
        Why it ended before it was through; empty if it did not.
    """

    families: tuple[FamilyVerdict, ...]
    problems: tuple[AnyProblem, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    planned: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: str = ""

    @property
    def total(self) -> int:
        """How many answers were to be had."""
        return sum(self.planned)

    @property
    def done(self) -> int:
        """How many answers there are."""
        return sum(len(family.judgements) for family in self.families)

    def finished(self, family: FamilyVerdict) -> bool:
        """Whether every planned answer of one of the families is there."""
        return not self.planned or len(family.judgements) == self.planned[self.families.index(family)]

    @property
    def agree(self) -> bool:
        """True if every family's verdict is agree, and nothing that was run disagrees.

        Controls, which are wrong on purpose, do not count.
        """
        return bool(self.families) and self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 every verdict is agree; 1 a family disagrees; 3 nothing was solved; 4 a family is undecided. Controls do not count."""
        judgements = [j for family in self.families for j in family.judgements if not j.evidence.run.control]
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
        """Write a certificate of every family, FAMILY.json, from the best points of its answers; of its second problem FAMILY-2.json.

        That of a user-defined family is of its definition as a program: what is proven of
        that is proven without any answer.

        Returns
        -------
        The file of every problem, by its name without .json, or the sentence why it has none: its
        answers prove nothing, its kernel is not positive semidefinite, it is too large.

        Raises
        ------
        OSError : the folder cannot be made, or a file cannot be written.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        outcome: dict[str, Path | str] = {}
        seen: Counter[str] = Counter()
        for problem, family in zip(self.problems, self.families, strict=True):
            seen[family.id] += 1
            name = family.id if seen[family.id] == 1 else f"{family.id}-{seen[family.id]}"
            path = Path(folder) / f"{name}.json"
            if not family.judgements:
                outcome[name] = "it has no answer yet"
                continue
            try:
                has_levels = isinstance(problem, MarginProblem) and isinstance(problem.rows, Levels)
                if isinstance(problem, Problem) and not has_levels:
                    write(certificate_of_family(problem, family), path)
                elif isinstance(problem, ProgramProblem | MarginProblem):
                    write(certificate_of_definition(problem), path)
                else:
                    raise ValueError(f"nobody has said how a {type(problem).__name__} is certified")
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
        """All of it as one page of HTML that loads nothing else: the verdict, pictures, and every answer in a table that sorts.

        Parameters
        ----------
        command : what runs it again in a shell, for the reader; empty where it was run from Python.
        """
        used = {"equimargin": __version__} | versions()
        far = (self.families, self.planned, self.left_out, self.seconds, self.interrupted)
        return comparison_page(*far, self.data, self.settings, used, command)

    def __str__(self) -> str:
        return "\n".join(self.page(PAGE_COLUMNS))

    def page(self, width: int = PAGE_COLUMNS, ascii: bool = False) -> list[str]:
        """The lines of the page: a block a family, then what was skipped and what the marks mean.

        Parameters
        ----------
        width : columns that no line goes beyond.  ascii : marks in ASCII.
        """
        return page(self.families, self.planned, self.left_out, self.seconds, self.interrupted, width=width, ascii=ascii)

    def show(self, console: Any) -> None:
        """Print the wide table of every family, its proven interval and its verdict, and how numbers are read, to a rich console."""
        for family in self.families:
            console.print(table(family))
            for line in closing_lines(family):
                console.print(line, highlight=False, markup=False)
            console.print()
        for sentence in readings(self.families):
            console.print(sentence, highlight=False, markup=False)
