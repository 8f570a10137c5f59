"""Command `data fetch` on public data sets."""

from __future__ import annotations

from typing import Annotated

import typer

from equimargin.cli.output.errors import report_errors


def data() -> None:
    """Fetch public data sets, which other commands take by name."""


def fetch(  # prose-ok: param-section
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Public data set, as `equimargin list data` lists it."),
    ],
    mirror: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address of a copy of the folder of public data; by default EQUIMARGIN_MIRROR.",
        ),
    ] = None,
) -> None:
    """Fetch a public data set, unless it is there, and list its files.

    Every file must have its published bytes. The folder is EQUIMARGIN_DATA, by default
    the folder `data` of the package's cache.
    """
    with report_errors():
        # Imported here: `equimargin --help` imports no numpy.
        from equimargin.data import fetch as fetch_set

        for path in fetch_set(name, mirror):
            typer.echo(path)
