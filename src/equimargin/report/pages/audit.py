"""HTML page of an audit: proven distance of a third-party model from its optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from equimargin.formulations.numeric.decimals import format_range, format_upper
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.proofs.audit import Audit, MachinesAudit, format_ends
from equimargin.report.pages.drawing import PICTURE_WIDTH, Element, Picture, across, symbol, text
from equimargin.report.pages.intervals import bar, center
from equimargin.report.pages.rendering import rendered
from equimargin.report.pages.scales import FINEST, SignedScale

AS_GOOD_AS_OPTIMAL = 1e-6
"""Relative excess up to which a model is called optimal: the default `--agree-tol`."""
LEFT, ROW, TOP = 122.0, 30.0, 8.0
"""Width of the names, height of an interval and top margin, in picture units."""


def audit_page(
    found: Audit | MachinesAudit,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """Return the HTML text of the page.

    Parameters
    ----------
    found : Audit or MachinesAudit
        Result of the audit.
    data : mapping of str to object
        Record of the data and the model.
    settings : mapping of str to object
        Settings of the command.
    versions : mapping of str to str
        Versions of the libraries used.
    command : str, default ""
        Shell command that repeats the audit; empty if it was run from Python.

    Returns
    -------
    str
        Page.
    """
    kind, sentence = verdict(found)
    return rendered(
        "audit.html",
        command,
        settings,
        versions,
        name=data.get("model", ""),
        read_as=data.get("read_as", ""),
        kind=kind,
        verdict=sentence,
        said=str(found).splitlines(),
        picture=_picture(found) if isinstance(found, Audit) else None,
        figures=list(found.figures.items()),
        problem=list(_problem(found).items()),
    )


def verdict(found: Audit | MachinesAudit) -> tuple[str, str]:
    """Return the verdict on a model as a word (agree, undecided or above) and as a sentence.

    Parameters
    ----------
    found : Audit or MachinesAudit
        Result of the audit; all machines of a classifier have one verdict.

    Returns
    -------
    tuple of (str, str)
        Word and sentence.
    """
    least, most = found.relative_excess
    if most <= AS_GOOD_AS_OPTIMAL:
        return (
            "agree",
            f"Optimal to {AS_GOOD_AS_OPTIMAL:g}: at most {format_upper(most, 2)} above the "
            f"optimum, relative to it, proven.",
        )
    if least > 0:
        how_far = format_range(least, most, 2)
        return "above", f"Not optimal: {how_far} above the optimum, relative to it, proven."
    return (
        "undecided",
        f"At most {format_upper(most, 2)} above the optimum, relative to it; the bounds do not "
        f"exclude that the model is optimal.",
    )


def _problem(found: Audit | MachinesAudit) -> dict[str, str]:
    """Return the problem that the model claims to solve; of machines, that of the first."""
    if isinstance(found, MachinesAudit):
        first = next(iter(found.machines.values()))
        own = _problem(first) | {"model": f"{found.source}, {len(found.machines)} machines"}
        return {name: own[name] for name in ("model", "family", "features", "kernel")}
    problem = found.problem
    if not isinstance(problem, MarginProblem):
        return {"model": found.source, "family": problem.family, "C": f"{found.C:g}"}
    kernel = ", ".join(
        f"{name} {getattr(value, 'name', value)}" for name, value in vars(problem.kernel).items()
    )
    facts = {
        "model": found.source,
        "family": problem.family,
        "rows": f"{problem.m:,}",
        "features": f"{problem.X.shape[1]:,}",
        "kernel": f"{problem.kernel.name}{f', {kernel}' if kernel else ''}",
        "C": f"{problem.C:g}",
    }
    facts |= {"support vectors": found.vectors} if found.vectors else {}
    return facts | ({"assumed, as the model lacks it": found.assumed} if found.assumed else {})


def _picture(found: Audit) -> Picture:
    """Return the picture of the optimum, the model, and the bounds from its own multipliers.

    The scale is in powers of ten around the optimum.
    """
    optimum, size = found.optimum, found.optimum.size
    # Distances are relative to the size of the optimum.
    middle = center(optimum) or 0.0
    rows = [("optimum", optimum), ("this model", found.objective)]
    rows += [("its own proof", found.own)] if math.isfinite(found.own.lower) else []
    ends = [
        abs(side - middle) / size
        for _, interval in rows
        for side in (interval.lower, interval.upper)
        if math.isfinite(side)
    ]
    exponents = [math.floor(math.log10(end)) for end in ends if end > 0] or [FINEST]
    scale = SignedScale.of(min(exponents), max(exponents) + 1, LEFT, PICTURE_WIDTH - 18)
    bottom = TOP + ROW * len(rows)
    elements: list[Element] = [*across(scale, TOP, bottom, "relative distance from the optimum")]
    for k, (name, interval) in enumerate(rows):
        y = TOP + ROW * (k + 0.5)
        description = f"{name}: {format_ends(interval)}"
        elements.append(text(name, LEFT - 10, y + 3.5, "row", "end", description))
        if interval is found.objective:
            elements.append(
                symbol(
                    ("diamond", True),
                    scale.place((interval.upper - middle) / size),
                    y,
                    "c0",
                    description,
                )
            )
        elements += bar(
            (interval.lower - middle) / size,
            (interval.upper - middle) / size,
            scale,
            y,
            title=description,
        )
    description = "; ".join(f"{name} in {format_ends(interval)}" for name, interval in rows)
    caption = (
        "Bars are proven intervals; right is above the optimum. An arrow marks a bar that "
        "continues outside the picture."
    )
    return Picture(
        "excess", "The model and the optimum", description, bottom + 34, elements, caption
    )
