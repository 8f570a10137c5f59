"""A comparison as one page of HTML: what the terminal shows, and the whole table. It loads nothing else, runs nothing, and prints.

The template, `page.html`, is filled in by Jinja with everything escaped: names of files, columns and classes may hold anything. What is not
ASCII becomes a character reference, so that the page reads the same whatever a pipe or a server takes its encoding for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from equimargin.proofs import Agreement, Family
from equimargin.report.page import Style, fastest_first, optimum, remarks, skips, standing, summary
from equimargin.report.records import plain
from equimargin.report.table import COLUMNS, TEXTS, cells

STYLE = Style(width=80, ascii=False)
"""The marks; a browser breaks lines itself."""


def document(
    families: Sequence[Family],
    planned: Sequence[int],
    left_out: Sequence[str],
    seconds: float,
    interrupted: str,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
) -> str:
    """The text of the page.

    Parameters
    ----------
    families, planned, left_out, seconds, interrupted : as in `equimargin.report.page`.  data, settings : those of the record.
    versions : of what it was computed with.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((files("equimargin.report") / "page.html").read_text(encoding="utf-8"))
    counts, how_far = summary(families, planned, seconds, interrupted)
    done = [len(family.judgements) for family in families]
    missing = [wanted - count for wanted, count in zip(planned or done, done, strict=True)]
    text = template.render(
        name=data.get("name", ""),
        read_as=data.get("read_as", ""),
        counts=counts,
        how_far=how_far,
        interrupted=bool(interrupted),
        families=[_section(family, count, bool(interrupted)) for family, count in zip(families, missing, strict=True)],
        columns=[(name, name in TEXTS) for name in COLUMNS],
        skips=skips(families, left_out),
        marks=[(str(agreement), STYLE.mark(agreement)) for agreement in Agreement],
        settings=_spelled(plain(settings)),
        versions=versions,
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _section(family: Family, missing: int, ended: bool) -> dict[str, Any]:
    """What the page says of a family."""
    return {
        "id": family.id,
        "standing": standing(family, missing, ended),
        "optimum": optimum(family) if family.judgements else "",
        "solvers": fastest_first(family, STYLE),
        "remarks": remarks(family, missing),
        "rows": [(str(j.agreement), STYLE.mark(j.agreement), cells(j)) for j in family.judgements],
    }


def _spelled(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Settings as words."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield name, ", ".join(f"{key} {each}" for key, each in value.items())
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        else:
            yield name, "none" if value is None else str(value)
