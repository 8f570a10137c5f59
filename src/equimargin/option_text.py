"""Options in messages, written as the caller gives them.

They are keyword arguments in Python, options on the command line, or keys of a study's
plan. A form applies to the thread that sets it; other threads and processes begin with
keyword arguments.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

OptionValue = str | bool | Sequence[str]
"""Value of an option: text, True or False, or several texts."""

OptionForm = Callable[[str, OptionValue], str]
"""Function that writes an option, given its name and its value."""


def format_in_python(name: str, value: OptionValue) -> str:
    """Return an option as a keyword argument.

    Parameters
    ----------
    name : str
        Name of the option.
    value : str, bool or sequence of str
        Value of the option.
    """
    return f"{name}={value!r}"


def format_in_command(name: str, value: OptionValue) -> str:
    """Return an option as written on the command line.

    Parameters
    ----------
    name : str
        Name of the option.
    value : str, bool or sequence of str
        Value of the option. Levels are one word, separated by commas; other options of
        several values are repeated.
    """
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    if name == "levels":
        value = ",".join(value)
    values = [value] if isinstance(value, str) else value
    return " ".join(f"--{name} {shlex.quote(one)}" for one in values)


def format_in_plan(name: str, value: OptionValue) -> str:
    """Return an option as a key in the plan of a study.

    Parameters
    ----------
    name : str
        Name of the option.
    value : str, bool or sequence of str
        Value of the option.
    """
    # JSON and TOML write text, truth values and lists of text alike, except for U+007F.
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


_FORM: ContextVar[OptionForm] = ContextVar("form of options in messages", default=format_in_python)


def format_option(name: str, value: OptionValue) -> str:
    """Return an option for a message, in the form of the caller.

    Parameters
    ----------
    name : str
        Name of the option.
    value : str, bool or sequence of str
        Value of the option.

    Returns
    -------
    str
        drop='id', --drop id, or drop = "id".
    """
    return _FORM.get()(name, value)


@contextmanager
def write_options(form: OptionForm) -> Iterator[None]:
    """Write the options in messages in a form, within a context.

    Parameters
    ----------
    form : OptionForm
        `format_in_python`, `format_in_command` or `format_in_plan`.
    """
    token = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(token)
