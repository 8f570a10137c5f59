"""Results of a study, complete or not: progress, records, problems and exports.

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
from equimargin.study.page import study_markdown, study_page
from equimargin.study.summary import Progress, StudiedProblem, group_by_problem

OF_PROVENANCE = {"equimargin": "TEXT", "code": "TEXT", "machine": "TEXT", "threads": "INTEGER"}
"""Columns of a record that describe provenance, with their types in SQL.

The page has the complete provenance.
"""
FEWEST = 5
"""Minimum, in answers since the start, for an estimate of the remaining time.

The first answers of a process load libraries and compile functions.
"""
KINDS = {
    "key": "TEXT",
    **{name: kind for name, kind in COLUMNS.items() if name != "provenance"},
    **OF_PROVENANCE,
}
"""Types in SQL of the columns of a record, by name."""
RECORD = tuple(KINDS)
"""Names of the columns of a record, in order."""


class Study:
    """Results of a study, read anew by every method since processes may be running.

    Parameters
    ----------
    file : str or Path
        Database of the study.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)

    def progress(self) -> Progress:
        """Return the progress of the study."""
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
        """Return flat records of numbers, texts and None, in the order of the plan.

        One record per answer.
        """
        with Database(self.file) as database:
            answers, provenances = database.answers(), database.provenances()
        return [
            {name: (provenances.get(row["provenance"], {}) | row).get(name) for name in RECORD}
            for row in answers
        ]

    def problems(self) -> list[StudiedProblem]:
        """Return the problems with their answers and the bounds that these prove."""
        return group_by_problem(self.records())

    def to_csv(self) -> str:
        """Return the records as CSV text with a header."""
        return csv_text(RECORD, self.records())

    def to_markdown(self) -> str:
        """Return the verdict and a table of the problems as Markdown text."""
        return study_markdown(self.progress(), self.problems())

    def to_parquet(self, file: str | Path) -> None:
        """Write the records as a Parquet file, atomically.

        Parameters
        ----------
        file : str or Path
            Path of the file.

        Raises
        ------
        ValueError
            If pyarrow is not installed.
        OSError
            If the file cannot be written.
        """
        try:
            from pyarrow import Table, float64, int64, schema, string
            from pyarrow.parquet import write_table
        except ImportError:
            advice = "pip install 'equimargin[tables]', or write CSV"
            raise ValueError(
                f"pyarrow, which writes Parquet files, is not installed; {advice}"
            ) from None
        from equimargin.solvers.problem_file import whole

        types = {"TEXT": string(), "INTEGER": int64(), "REAL": float64()}
        of_columns = schema([(name, types[KINDS[name]]) for name in RECORD])
        with whole(Path(file)) as part:
            write_table(Table.from_pylist(self.records(), of_columns), part)

    def to_pandas(self) -> Any:
        """Return the records as a data frame of pandas.

        Raises
        ------
        ImportError
            If pandas is not installed.
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
        """Return all results as one self-contained HTML page.

        Parameters
        ----------
        command : str
            Shell command that writes the page; empty if it is written from Python.
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
