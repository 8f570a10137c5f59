"""The program `equimargin`, which has all commands."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from threading import Timer
from typing import TYPE_CHECKING, Annotated

import typer

from equimargin import __version__
from equimargin.cli.claims import check_claims
from equimargin.cli.compare import compare
from equimargin.cli.listing import atlas, graph, list_, show
from equimargin.cli.names import OneSentence
from equimargin.cli.path import path
from equimargin.cli.proof import audit, refute, same, suggest, verify
from equimargin.cli.screen import keep_standard_output
from equimargin.cli.shrink import shrink
from equimargin.cli.study import study
from equimargin.cli.warm_up import warm_up

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

SECONDS_UNTIL_SENT_AGAIN = 0.05
"""Seconds after which a lost interrupt is sent again: a callback that lost it is over by then, and no person notices."""

OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""Objects made before Python looks for garbage: with its own number, 700, it takes a tenth of the time until the first answers for looking
through the libraries that are being imported, where there is none."""

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
for command in (compare, shrink, study, same, refute, suggest, path, verify, audit, check_claims, list_, show, graph, atlas, warm_up):
    app.command(command.__name__.rstrip("_").replace("_", "-"))(command)


def _send_again(lost: UnraisableHookArgs) -> None:
    """Send Ctrl-C once more if it came where Python ignores all errors, such as in a callback of its garbage collector."""
    if lost.exc_type is KeyboardInterrupt:
        timer = Timer(SECONDS_UNTIL_SENT_AGAIN, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()
    else:
        sys.__unraisablehook__(lost)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Interrupt this process as Ctrl-C does, also where Ctrl-C is ignored, as in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    keep_standard_output()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)  # the system takes all memory back: a last look for garbage would take a tenth of a second
    sys.unraisablehook = _send_again
    app()
