"""Flags, and options that take one of a few names or a unique prefix, ignoring case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import typer


def match_prefix(text: str, names: Sequence[str]) -> str:
    """Return the name that equals a text or alone begins with it, ignoring case.

    Parameters
    ----------
    text : str
        Text of the user.
    names : sequence of str
        Names in lower case.

    Returns
    -------
    str
        Matching name.

    Raises
    ------
    typer.BadParameter
        If no name or several names match.
    """
    matches = [name for name in names if name == text.lower()] or [
        name for name in names if name.startswith(text.lower())
    ]
    if len(matches) != 1:
        from equimargin.formulations.numeric.arguments import did_you_mean, one_of_these

        maybe = f"; did you mean {one_of_these(matches)}?" if matches else did_you_mean(text, names)
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(names)}{maybe}")
    return matches[0]


def choices(names: Iterable[str]) -> str:
    """Join some names as the help lists them.

    Parameters
    ----------
    names : iterable of str
        Names.

    Returns
    -------
    str
        Names separated by commas, with "or" before the last.
    """
    *first, last = names
    return f"{', '.join(first)} or {last}"


def named(names: Sequence[str], help: str, panel: str | None = None) -> Any:
    """Return an option that takes one of a few names or a unique prefix.

    "poly" selects polynomial if no other name begins with it.

    Parameters
    ----------
    names : sequence of str
        Names in lower case.
    help : str
        Help text with {} in place of the names.
    panel : str, optional
        Panel of the help; None for "Options".
    """
    return typer.Option(
        parser=lambda text: match_prefix(text, names),
        metavar="NAME",
        help=help.format(choices(names)),
        rich_help_panel=panel,
        autocompletion=lambda incomplete: [name for name in names if name.startswith(incomplete)],
    )


def flag(name: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option without a value.

    Parameters
    ----------
    name : str
        Name of the option.
    help : str
        Help text.
    panel : str, optional
        Panel of the help; None for "Options".
    **more : object
        Further arguments of `typer.Option`.
    """
    return typer.Option(name, help=help, rich_help_panel=panel, **more)
