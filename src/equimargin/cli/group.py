"""The group of commands: one style for all errors of usage, and how a command was called."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMAND = "equimargin.command"
"""The name under which the context of a command keeps how it was called."""


def _without_types(params: list[Any]) -> list[Any]:
    """Return the parameters, with no type in the help of flags.

    That holds for the flags of typer, too.
    """
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


class OneCommand(TyperCommand):
    """One of the commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class OneSentence(TyperGroup):
    """The commands, whose errors of usage are a sentence like all others, and which know how they were called."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the whole command as a person would type it into a shell; then parse it."""
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
        """Run a command; exit status 2 with a sentence where it is not used as it should be."""
        try:
            status = super().main(
                args, prog_name, complete_var, False, windows_expand_args, **options
            )
        except Exception as error:
            if not standalone_mode or not hasattr(error, "format_message"):
                raise
            help_asked = type(error).__name__ == "NoArgsIsHelpError"
            if not help_asked:  # the help is printed already
                typer.echo(f"equimargin: {_sentence(error)}", err=True)
            sys.exit(2)
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else 0)


def get_command(context: typer.Context) -> str:
    """How a command was called, as a person would type it into a shell."""
    return str(context.meta.get(COMMAND, ""))


def _sentence(error: Any) -> str:
    """The message of an error of usage, with where to read on."""
    said = " ".join(str(error.format_message()).replace("Value error, ", "").split()).rstrip(".")
    said = said.replace(". Did you mean", "; did you mean")
    command = getattr(getattr(error, "ctx", None), "command_path", "").rpartition("equimargin ")[2]
    command = "" if command.endswith("equimargin") else command
    more = (
        "" if said.endswith("?") else f"; see equimargin {f'{command} ' if command else ''}--help"
    )
    return f"{said[:1].lower()}{said[1:]}{more}"
