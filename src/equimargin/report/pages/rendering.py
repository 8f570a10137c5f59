"""A page from its template: everything escaped, one file with all that it needs.

Names of files, columns and classes may hold anything, and come out as text. A policy in
the page's head lets the browser run the page's own script and use its own style sheet,
both named by their digests, and load nothing at all. What is not ASCII becomes a
character reference, so that the page reads the same whatever a pipe or a server takes
its encoding for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from equimargin.report.pages.drawing import Picture
from equimargin.report.records import plain

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = "templates"
"""The folder of the templates, the style sheet and the script, beside this file."""


def rendered(
    template: str,
    command: str,
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    **parts: Any,
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    template : str
        Its name in the folder.
    command : str
        What runs it again in a shell; empty where it was run from Python.
    settings : Mapping[str, Any]
        What was asked for.
    versions : Mapping[str, str]
        Versions of what it was computed with.
    parts : Any
        What the template shows.
    """
    environment = templates(_text)
    style, script = _text("style.css"), _text("page.js")
    text = environment.get_template(template).render(
        style=style,
        script=script,
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src "
        f"{_digest(style)}; script-src {_digest(script)}",
        command=command,
        settings=list(_spelled(plain(settings))),
        posed=_posed(settings),
        versions=versions,
        **parts,
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()


def drawn(picture: Picture, macro: str = "picture") -> str:
    """Return a picture as HTML.

    Parameters
    ----------
    picture : Picture
        The picture.
    macro : str
        "picture" with its caption, or "svg" alone.
    """
    return str(
        getattr(templates(_text).get_template("pictures.html").module, macro)(picture)
    ).strip()


def templates(text: Callable[[str], str]) -> Environment:
    """Return where templates are filled, with everything escaped.

    Parameters
    ----------
    text : Callable[[str], str]
        The text of a template by its name.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> str:
    """Return a file of the folder."""
    return (files("equimargin.report.pages") / FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the name of a script or style sheet in a policy: its digest, as the browser computes it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _posed(settings: Mapping[str, Any]) -> str:
    """Return the kernel and the cost of the problems, for the head of a page.

    Empty where the settings do not say them.
    """
    said = []
    if settings.get("kernel"):
        parameters = ", ".join(
            f"{name} = {value:.6g}" for name, value in settings["kernel"].items() if name != "name"
        )
        said.append(
            f"{settings['kernel']['name']} kernel{f' with {parameters}' if parameters else ''}"
        )
    if settings.get("C") is not None:
        said.append(f"C = {settings['C']:g}")
    return ", ".join(said)


def _spelled(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield settings as words."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield (
                name,
                ", ".join(
                    str(each) if key == "name" else f"{key} {each}" for key, each in value.items()
                ),
            )
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        else:
            yield name, "not given" if value is None else str(value)
