"""Options that take one of a few names: any case, any beginning that only one of them has; and flags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import typer


def match_prefix(text: str, names: Sequence[str]) -> str:
    """Return the one of some names that a text is, or is the beginning of, in any case.

    Raises
    ------
    typer.BadParameter
        None of them, or several.
    """
    found = [name for name in names if name == text.lower()] or [
        name for name in names if name.startswith(text.lower())
    ]
    if len(found) != 1:
        from equimargin.formulations.numeric.arguments import did_you_mean, one_of_these

        maybe = f"; did you mean {one_of_these(found)}?" if found else did_you_mean(text, names)
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(names)}{maybe}")
    return found[0]


def choices(names: Iterable[str]) -> str:
    """Return some names as the help lists them."""
    *first, last = names
    return f"{', '.join(first)} or {last}"


def named(names: Sequence[str], help: str, panel: str | None = None) -> Any:
    """Return an option that takes one of a few names: "poly" is polynomial where nothing else begins so.

    The help lists the names where its text has {}.

    Parameters
    ----------
    names
        Names in small letters.
    help
        Help text with {} where the names stand.
    panel
        Panel of the help in which the option stands; None for "Options".
    """
    return typer.Option(
        parser=lambda text: match_prefix(text, names),
        metavar="NAME",
        help=help.format(choices(names)),
        rich_help_panel=panel,
        autocompletion=lambda incomplete: [name for name in names if name.startswith(incomplete)],
    )


def flag(name: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option without a value, in a panel of the help.

    Parameters
    ----------
    name : str
        Name of the option.
    help : str
        Help text.
    panel : str, optional
        Panel of the help in which the option stands; None for "Options".
    more
        Further arguments of `typer.Option`.
    """
    return typer.Option(name, metavar="", help=help, rich_help_panel=panel, **more)
