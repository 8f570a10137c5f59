"""The program `equimargin`, which has all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from equimargin import __version__
from equimargin.cli.compare import compare
from equimargin.cli.listing import graph, list_, show
from equimargin.cli.names import OneSentence
from equimargin.cli.path import path
from equimargin.cli.proof import audit, refute, same, verify
from equimargin.cli.warm_up import warm_up

app = typer.Typer(
    name="equimargin",
    cls=OneSentence,
    help="Formulations of max-margin learning, solved many ways, and proof that the answers agree.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"equimargin {__version__}")
        raise typer.Exit


def root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Formulations of max-margin learning, solved many ways, and proof that the answers agree."""


app.callback()(root)
for command in (compare, same, refute, path, verify, audit, list_, show, graph, warm_up):
    app.command(command.__name__.rstrip("_").replace("_", "-"))(command)


def main() -> None:
    """Run the command line."""
    app()
