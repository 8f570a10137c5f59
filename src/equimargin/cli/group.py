"""Command group with one style of usage errors and a record of the command line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMAND = "equimargin.command"
"""Key in the context of a command under which the command line is stored."""


def _without_types(params: list[Any]) -> list[Any]:
    """Remove the type from the help of flags, those of typer included."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


class OneCommand(TyperCommand):
    """Command of the program."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class OneSentence(TyperGroup):
    """Command group that prints usage errors as one sentence and records the command line."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # A command may have two words, as `study merge`.
        two = " ".join(args[:2])
        return super().resolve_command(ctx, [two, *args[2:]] if two in self.commands else args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # Record the whole command line in shell syntax.
        ctx.meta[COMMAND] = shlex.join(["equimargin", *args])
        return super().parse_args(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **options: Any,
    ) -> Any:
        # A usage error is printed as one sentence; the exit status is then 2.
        try:
            status = super().main(
                args, prog_name, complete_var, False, windows_expand_args, **options
            )
        except Exception as error:
            if not standalone_mode or not hasattr(error, "format_message"):
                raise
            help_asked = type(error).__name__ == "NoArgsIsHelpError"
            # After NoArgsIsHelpError the help is printed already.
            if not help_asked:
                typer.echo(f"equimargin: {_sentence(error)}", err=True)
            sys.exit(2)
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else 0)


def get_command(context: typer.Context) -> str:
    """Return the command line of a context in shell syntax.

    Parameters
    ----------
    context : typer.Context
        Context of the command.

    Returns
    -------
    str
        Command line; empty if none is recorded.
    """
    return str(context.meta.get(COMMAND, ""))


def _sentence(error: Any) -> str:
    """Return the message of a usage error with a pointer to the help."""
    text = " ".join(str(error.format_message()).replace("Value error, ", "").split()).rstrip(".")
    text = text.replace(". Did you mean", "; did you mean")
    command = getattr(getattr(error, "ctx", None), "command_path", "").rpartition("equimargin ")[2]
    command = "" if command.endswith("equimargin") else command
    more = (
        "" if text.endswith("?") else f"; see equimargin {f'{command} ' if command else ''}--help"
    )
    return f"{text[:1].lower()}{text[1:]}{more}"
