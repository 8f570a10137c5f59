"""Program `equimargin` with all commands."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from inspect import getdoc
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin import __version__
from equimargin.cli.commands.compare import compare
from equimargin.cli.commands.data import data, fetch
from equimargin.cli.commands.listing import atlas, graph, list_, show
from equimargin.cli.commands.models import bound, explain
from equimargin.cli.commands.path import path
from equimargin.cli.commands.proof import audit, refute, same, suggest, verify
from equimargin.cli.commands.shrink import shrink
from equimargin.cli.commands.study import study, study_merge
from equimargin.cli.commands.warm_up import warm_up
from equimargin.cli.group import OneCommand, OneSentence
from equimargin.cli.options.logs import with_logs
from equimargin.cli.output.screen import keep_standard_output

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SECONDS_UNTIL_SENT_AGAIN = 0.05
"""Seconds until an interrupt that a callback ignored is sent again.

That callback has ended by then, and the delay is not noticeable.
"""

OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""Objects created between two garbage collections.

With Python's default of 700, collections take a tenth of the time until the first
answers: they search the libraries being imported, which contain no garbage.
"""

MORE = "More"
"""Help panel of the rarely used commands."""

app = typer.Typer(
    name="equimargin",
    cls=OneSentence,
    help="Solve the convex programs of max-margin learning, and prove how far the answers are "
    "from the optimum.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"equimargin {__version__}")
        raise typer.Exit


def root(  # prose-ok: param-section
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version.",
            callback=_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Solve the convex programs of max-margin learning, and prove the error of the answers."""


def _enter(
    command: Callable[..., None], group: typer.Typer = app, name: str = "", **how: Any
) -> None:
    """Register a command of a group, by default under its own name, with the option -v.

    Every paragraph of its docstring becomes one line, which typer wraps.
    """
    paragraphs = [
        " ".join(paragraph.split()) for paragraph in (getdoc(command) or "").split("\n\n")
    ]
    group.command(
        name or command.__name__.rstrip("_").replace("_", "-"),
        cls=OneCommand,
        help="\n\n".join(paragraphs),
        **how,
    )(with_logs(command))


FIRST: Sequence[Callable[..., None]] = (
    compare,
    audit,
    same,
    path,
    study,
    bound,
    explain,
    verify,
    list_,
    show,
)
"""Commands that the help lists first."""
FEW_NEED: Sequence[Callable[..., None]] = (shrink, graph, atlas, warm_up)
"""Commands that the help lists under "More"."""
FORMER: Sequence[Callable[..., None]] = (refute, suggest)
"""Former names of `same A B --counterexample` and of `same FAMILY`."""
app.callback()(root)
for command in FIRST:
    _enter(command)
for command in FEW_NEED:
    _enter(command, rich_help_panel=MORE)
_enter(study_merge, name="study merge", rich_help_panel=MORE)
of_data = typer.Typer(callback=data, no_args_is_help=True)
_enter(fetch, of_data)
app.add_typer(of_data, name="data", rich_help_panel=MORE)
for command in FORMER:
    _enter(command, hidden=True)


def _interrupt() -> None:
    """Send Ctrl-C to this process, from any thread."""
    # On Windows os.kill would end the process.
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


def _send_again(lost: UnraisableHookArgs) -> None:
    """Send Ctrl-C again if it arrived where Python ignores all errors.

    Such a place is a callback of the garbage collector.
    """
    if lost.exc_type is KeyboardInterrupt:
        timer = Timer(SECONDS_UNTIL_SENT_AGAIN, _interrupt)
        timer.daemon = True
        timer.start()
    else:
        sys.__unraisablehook__(lost)


def main() -> None:
    """Run the command line."""
    keep_standard_output()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    # The system frees all memory at exit; a last collection would take 0.1 s.
    atexit.register(gc.freeze)
    sys.unraisablehook = _send_again
    app()
