"""What a study has found, whole or as far as it has come: its progress, its answers as records, its problems, and what they are written to.

from equimargin.study import Study
Study("study.sqlite").to_pandas()
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equimargin import __version__
from equimargin.report.records import csv_text, versions
from equimargin.study.database import COLUMNS, Database
from equimargin.study.page import study_page
from equimargin.study.summary import Progress, StudiedProblem, group_by_problem

OF_PROVENANCE = {"equimargin": "TEXT", "code": "TEXT", "machine": "TEXT", "threads": "INTEGER"}
"""What a record says of what its answer was computed with, each with its type in SQL; the page has all of it."""
FEWEST = 5
"""Answers of the processes at work from which the time that is left is estimated: the first ones load libraries and compile kernels."""
KINDS = {
    "key": "TEXT",
    **{name: kind for name, kind in COLUMNS.items() if name != "provenance"},
    **OF_PROVENANCE,
}
"""The types in SQL of what a record says, by their names."""
RECORD = tuple(KINDS)
"""The names in a record, in their order."""


class Study:
    """The results of a study, read anew at every look: other processes may be at work on it.

    Parameters
    ----------
    file : str | Path
        Its database.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)

    def progress(self) -> Progress:
        """How far it is."""
        with Database(self.file) as database:
            holders = database.holders()
            sets = database.counts()
            since = min((row["since"] for row in holders), default=None)
            done = database.answered_since(since) if since else 0
        left = sum(row["asked"] - row["answered"] for row in sets)
        if since is None or done < FEWEST:
            return Progress(sets, holders)
        elapsed = (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()
        return Progress(sets, holders, left * elapsed / done)

    def records(self) -> list[dict[str, Any]]:
        """One flat record an answer, of numbers, texts and None, in the order of the plan."""
        with Database(self.file) as database:
            answers, known = database.answers(), database.provenances()
        return [
            {name: (known.get(row["provenance"], {}) | row).get(name) for name in RECORD}
            for row in answers
        ]

    def problems(self) -> list[StudiedProblem]:
        """The problems, each with its answers and what they prove together."""
        return group_by_problem(self.records())

    def to_csv(self) -> str:
        """The records as CSV text with a header."""
        return csv_text(RECORD, self.records())

    def to_parquet(self, file: str | Path) -> None:
        """Write the records as a Parquet file, whole or not at all.

        Raises
        ------
        ValueError
            Pyarrow is not installed.
        OSError
            The file cannot be written.
        """
        try:
            from pyarrow import Table, float64, int64, schema, string
            from pyarrow.parquet import write_table
        except ImportError:
            advice = "pip install pyarrow, or write CSV"
            raise ValueError(
                f"pyarrow, which writes Parquet files, is not installed; {advice}"
            ) from None
        from equimargin.solvers.problem_file import whole

        types = {"TEXT": string(), "INTEGER": int64(), "REAL": float64()}
        of_columns = schema([(name, types[KINDS[name]]) for name in RECORD])
        with whole(Path(file)) as part:
            write_table(Table.from_pylist(self.records(), of_columns), part)

    def to_pandas(self) -> Any:
        """The records as a data frame of pandas.

        Raises
        ------
        ImportError
            Pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "pandas is not installed; pip install pandas, or take the records: "
                "Study(file).records()"
            ) from None
        return pandas.DataFrame(self.records(), columns=list(RECORD))

    def to_html(self, command: str = "") -> str:
        """All of it as one page of HTML that loads nothing else.

        Parameters
        ----------
        command : str
            What writes it again in a shell; empty where it was written from Python.
        """
        with Database(self.file) as database:
            about, computed_with = database.about(), database.provenances()
        records = self.records()
        used = {"equimargin": __version__} | versions()
        return study_page(
            about,
            self.progress(),
            records,
            group_by_problem(records),
            list(computed_with.values()),
            used,
            command,
        )
