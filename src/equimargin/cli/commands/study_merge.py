"""Command `study merge`: one database from those of the parts of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equimargin.cli.options.shared import PluginOption
from equimargin.cli.output.errors import report_errors


def study_merge(  # prose-ok: param-section
    parts: Annotated[
        list[Path], typer.Argument(metavar="DATABASE", help="Databases of the parts.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Merged database, a new file.")
    ],
    plugin: PluginOption = None,
) -> None:
    """Merge the databases of a study's parts.

    The parts may be of one plan, or of plans that divide its lists. An answer that
    several parts have is one. If its rows contradict each other, nothing is written,
    and a sentence names both. `study PLAN --database FILE --resume` runs what is
    missing.

    Exit status: 0 the database is written; 2 bad usage or input, or a contradiction.
    """
    with report_errors():
        from equimargin.study import Study
        from equimargin.study.merging import merge

        several = merge(parts, output)
        typer.echo(
            f"{output}: {Study(output).progress().sentence}; {several} of them in several parts"
        )
