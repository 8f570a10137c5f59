"""Options on the rows of the data, and the loaded rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import typer

from equimargin.cli.options.names import flag, named
from equimargin.cli.options.shared import DATA, PROBLEM

if TYPE_CHECKING:
    from equimargin.data import Data, ReadOptions


ScaleOption = Annotated[
    bool, flag("--scale", "Standardise every feature to mean 0 and deviation 1.", DATA)
]
COLUMNS_AND_WORDS = (
    "target",
    "query",
    "weight",
    "drop",
    "header",
    "sep",
    "decimal",
    "missing",
    "na",
    "categorical",
    "best",
)
"""Names of the options that are passed to `data.load` unchanged."""


@dataclass(frozen=True)
class ReadFields:
    """Options on the rows and their columns."""

    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Target column of a table; by default label, target, relevance, class or y, "
            "else the last.",
            rich_help_panel=DATA,
        ),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Query column of a table; by default qid, query or query_id; '' for none.",
            rich_help_panel=DATA,
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of row weights (factors of C); by default sample_weight, or weight if "
            "the target or query column has a default name; '' for none.",
            rich_help_panel=DATA,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column to leave out; may be given again.", rich_help_panel=DATA
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="First row of a table: column names or data; by default inferred.",
            rich_help_panel=DATA,
        ),
    ] = None
    sep: Annotated[
        str | None,
        typer.Option(
            metavar="MARK",
            help="Separator of a table's fields: one character, tab or whitespace.",
            rich_help_panel=DATA,
        ),
    ] = None
    decimal: Annotated[
        str,
        typer.Option(
            metavar="MARK", help="Decimal point of a table: . or a comma.", rich_help_panel=DATA
        ),
    ] = "."
    missing: Annotated[
        str | None,
        named(
            ("drop", "mean"),
            "Treatment of missing entries: {} (drop the rows, or use the mean of the feature); by "
            "default refused.",
            DATA,
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Word for a missing entry; may be given again. By default NA, N/A, nan, null, "
            "none, ?, - and . are such words; '' for no word. "
            "An empty entry is always missing.",
            rich_help_panel=DATA,
        ),
    ] = None
    categorical: Annotated[
        str | None,
        named(
            ("one-hot", "codes", "drop"),
            "Columns of words: {} (an indicator per word, its alphabetical position, or "
            "dropped); by default refused.",
            DATA,
        ),
    ] = None
    best: Annotated[
        str | None,
        named(("highest", "lowest"), "Best label of a ranking: {}; by default highest.", PROBLEM),
    ] = None
    preferences: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Pairs of rows in place of the target: preferred, other[, query][, weight]; "
            "rows by DATA's column id, or from 0.",
            rich_help_panel=DATA,
        ),
    ] = None
    scale: ScaleOption = False
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of random rows; for a ranking whole queries, the last one truncated.",
            rich_help_panel=DATA,
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed of the sample.", rich_help_panel=DATA)
    ] = 0

    @property
    def how(self) -> ReadOptions:
        """Options on columns, words and labels as keyword arguments of `data.load`."""
        return cast("ReadOptions", {name: getattr(self, name) for name in COLUMNS_AND_WORDS})


def loaded(
    source: str, reading: ReadFields, task: str | None, kernel: str, levels: str | None = None
) -> Data:
    """Load the data that the options name, unscaled.

    Parameters
    ----------
    source : str
        Bundled name or file.
    reading : ReadFields
        Options on the rows.
    task : str or None
        Task of the options.
    kernel : str
        Name of the kernel.
    levels : str, optional
        Labels of an ordinal regression, comma-separated.

    Returns
    -------
    Data
        Rows, sampled if requested.

    Raises
    ------
    ValueError
        If the options exclude each other, or the sample has not all classes.
    """
    from equimargin.data import load

    ordered = None if levels is None else [level.strip() for level in levels.split(",")]
    data = load(source, task=task, preferences=reading.preferences, levels=ordered, **reading.how)
    if kernel == "precomputed" and (reading.scale or reading.sample is not None):
        raise ValueError(
            "--scale and --sample do not apply to --kernel precomputed, whose Gram matrix is "
            "used unchanged; leave them out"
        )
    if reading.sample is not None:
        data = data.sampled(reading.sample, reading.seed)
    if data.task == "classification" and len(set(data.y.tolist())) < 2:
        raise ValueError(
            f"the {len(data.y)} sampled rows are of one class, and one class cannot be "
            f"classified; sample more rows"
        )
    if data.has_many_classes and len(set(data.y.tolist())) < len(data.classes or ()):
        raise ValueError(
            f"the {len(data.y)} sampled rows are not of all {len(data.classes or ())} classes; "
            f"sample more rows"
        )
    return data
