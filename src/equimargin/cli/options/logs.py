"""Option -v of every command: logs on standard error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from equimargin.cli.options.shared import OUTPUT

LOGGER = logging.getLogger("equimargin")
"""Parent of the loggers of all modules."""


class _StandardError(logging.Handler):
    """Handler that writes to standard error as it is when a record comes."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            typer.echo(self.format(record), err=True)
        # As every handler of logging: a log that cannot be written ends no command.
        except Exception:
            self.handleError(record)


def _write_logs(context: typer.Context, count: int) -> int:
    """Write the logs of a command to standard error until its context is closed.

    The number of times that -v is given is 1 for INFO, more for DEBUG.
    """
    if not count or context.resilient_parsing:
        return count
    handler, before = _StandardError(), LOGGER.level
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO if count == 1 else logging.DEBUG)

    def end() -> None:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)

    context.call_on_close(end)
    return count


VerboseOption = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        metavar="",
        show_default=False,
        help="Log the chosen solvers and compilations to standard error; -vv also every gap.",
        rich_help_panel=OUTPUT,
        callback=_write_logs,
        is_eager=True,
    ),
]


def with_logs(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the option -v.

    Parameters
    ----------
    command : callable
        Command that typer can register.
    """
    hints = get_type_hints(command, include_extras=True)
    shown = [
        own.replace(annotation=hints[own.name]) for own in signature(command).parameters.values()
    ]
    option = Parameter("verbose", Parameter.KEYWORD_ONLY, default=0, annotation=VerboseOption)

    @wraps(command)
    def logged(*arguments: Any, verbose: int = 0, **values: Any) -> None:
        command(*arguments, **values)

    # typer reads the signature and the annotations of a command.
    vars(logged)["__signature__"] = signature(command).replace(parameters=[*shown, option])
    logged.__annotations__ = {field.name: field.annotation for field in (*shown, option)}
    return logged
