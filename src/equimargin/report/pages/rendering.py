"""Rendering of a page from its template as one self-contained file, with all text escaped.

Names of files, columns and classes may have any content, and are shown as text. A
policy in the page's head lets the browser run the page's own script and use its own
style sheet, both named by their digests, and load nothing else. Characters outside
ASCII become references, so that the page does not depend on the encoding that a pipe or
a server assumes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from equimargin.formulations.programs.extras import OptionalModule
from equimargin.report.pages.drawing import Picture
from equimargin.report.records import plain

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = "templates"
"""Folder of the templates, the style sheet and the script, next to this file."""


def rendered(
    template: str,
    command: str,
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    **parts: Any,
) -> str:
    """Return the HTML text of a page.

    Parameters
    ----------
    template : str
        Name of the template in the folder.
    command : str
        Shell command that repeats the computation; empty if it was run from Python.
    settings : mapping of str to object
        Settings of the command.
    versions : mapping of str to str
        Versions of the libraries used.
    **parts : object
        Variables of the template.
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
        Picture to draw.
    macro : str, default "picture"
        "picture" with its caption, or "svg" alone.
    """
    return str(
        getattr(templates(_text).get_template("pictures.html").module, macro)(picture)
    ).strip()


def templates(text: Callable[[str], str]) -> Environment:
    """Return a template environment that escapes everything.

    Parameters
    ----------
    text : callable
        Function from the name of a template to its text.
    """
    jinja2 = OptionalModule("jinja2")
    environment: Environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment


def _text(name: str) -> str:
    """Read a file of the folder."""
    return (files("equimargin.report.pages") / FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the digest of a script or style sheet, as a policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _posed(settings: Mapping[str, Any]) -> str:
    """Return the kernel and the cost of the problems, for the head of a page.

    Empty if the settings lack them.
    """
    parts = []
    if settings.get("kernel"):
        parameters = ", ".join(
            f"{name} = {value:.6g}" for name, value in settings["kernel"].items() if name != "name"
        )
        parts.append(
            f"{settings['kernel']['name']} kernel{f' with {parameters}' if parameters else ''}"
        )
    if settings.get("C") is not None:
        parts.append(f"C = {settings['C']:g}")
    return ", ".join(parts)


def _spelled(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield settings as text."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield (
                name,
                ", ".join(
                    str(item) if key == "name" else f"{key} {item}" for key, item in value.items()
                ),
            )
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        else:
            yield name, "not given" if value is None else str(value)
