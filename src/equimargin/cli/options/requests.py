"""Commands with dataclass parameters, of which every field is an option.

Classes named ...Fields are options of the command line, those named ...Options keyword
arguments in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Any, get_args, get_type_hints

import typer

from equimargin.cli.output.errors import report_errors


@dataclass(frozen=True)
class Without:
    """Annotation of a dataclass parameter: these fields have no option, but defaults."""

    names: tuple[str, ...]


def with_requests(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of its dataclass parameters.

    An option of the command with the name of a field replaces the field's option.

    Parameters
    ----------
    command : callable
        Command with the parameters that typer reads, and dataclasses.

    Returns
    -------
    callable
        Command that typer can register.
    """
    own, hints = signature(command).parameters, get_type_hints(command, include_extras=True)
    requests: dict[str, Any] = {
        name: kind
        for name in own
        if is_dataclass(kind := (get_args(hints[name]) or (hints[name],))[0])
    }
    options = {
        name: [field for field in fields(kind) if field.name not in _left_out(hints[name])]
        for name, kind in requests.items()
    }
    replaced = {field.name for of_request in options.values() for field in of_request}

    def parameter(name: str) -> Parameter:
        return own[name].replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])

    def parameters() -> Iterator[Parameter]:
        for name in own:
            for field in options.get(name, []):
                yield parameter(field.name) if field.name in own else _option(field, requests[name])
            if name not in requests and name not in replaced:
                yield parameter(name)

    @wraps(command)
    def filled(**values: Any) -> None:
        given = {name: value for name, value in values.items() if name in own}
        with report_errors():
            for name, kind in requests.items():
                chosen = {field.name: values[field.name] for field in options[name]}
                given[name] = kind(
                    **{option: value for option, value in chosen.items() if value is not None}
                )
        command(**given)

    shown = list(parameters())
    # typer reads the signature and the annotations of a command.
    vars(filled)["__signature__"] = signature(command).replace(parameters=shown)
    filled.__annotations__ = {field.name: field.annotation for field in shown}
    return filled


def _left_out(hint: Any) -> tuple[str, ...]:
    """Return the names of the fields without an option."""
    return next((mark.names for mark in get_args(hint)[1:] if isinstance(mark, Without)), ())


@cache
def _hints(request: type) -> dict[str, Any]:
    """Return the evaluated annotations of a dataclass; evaluation takes milliseconds."""
    return get_type_hints(request, include_extras=True)


def _option(field: Field[Any], request: type) -> Parameter:
    """Return the parameter of a field, from its annotation or its metadata."""
    if not field.metadata:
        hint = _hints(request)[field.name]
        return Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
    option = dict(field.metadata)
    names, kind = option.pop("names"), option.pop("kind")
    default = typer.Option(None if kind else field.default, *names, **option)
    return Parameter(
        field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind or type(field.default)
    )
