"""Picture of a family: proven interval and reported value of every answer.

The scale is in powers of ten around the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.proofs import Agreement
from equimargin.report.answers import AnswerView
from equimargin.report.pages.drawing import (
    OF_AGREEMENT,
    PICTURE_WIDTH,
    RADIUS,
    Element,
    Picture,
    across,
    line,
    symbol,
    text,
)
from equimargin.report.pages.scales import FINEST, SignedScale
from equimargin.report.view import FamilyView
from equimargin.report.words import cut

ROW = 17.0
"""Height of an answer, in picture units."""
LETTERS = 22
"""Number of letters of a name that fit at the left."""
LEFT = 152.0
"""Width of the names at the left, in picture units."""


def intervals(family: FamilyView, name: str) -> Picture | None:
    """Return the picture of a family; None without an answer, a finite bound or a point.

    Parameters
    ----------
    family : FamilyView
        View of the family.
    name : str
        Name of the family on the page.
    """
    # Positions are distances from the optimum, relative to its size.
    interval = family.judged.interval
    shown = [answer for answer in family.answers if answer.was_run]
    middle = center(interval)
    if not shown or middle is None or not family.judged.feasible:
        return None
    figures = [
        (answer.judgement.lower, answer.judgement.evidence.value, answer.judgement.upper)
        for answer in shown
    ]
    places = [tuple((value - middle) / interval.size for value in values) for values in figures]
    scale = _scale(interval, [place for values in places for place in values])
    bottom = 8 + ROW * len(shown)
    elements = [
        *_shade(interval, middle, scale, bottom),
        *across(scale, 4, bottom, "relative distance from the optimum"),
    ]
    for k, (answer, (lower, claim, upper)) in enumerate(zip(shown, places, strict=True)):
        elements += _answer(answer, lower, claim, upper, scale, 4 + ROW * (k + 0.5) + 2)
    present = [
        agreement
        for agreement in Agreement
        if any(answer.agreement is agreement for answer in shown)
    ]
    verbs = {Agreement.INACCURATE: "is inaccurate"}
    legend = [
        (symbol(OF_AGREEMENT[kind], 8, 8, kind), f"value of an answer that {verbs.get(kind, kind)}")
        for kind in present
    ]
    description = "; ".join(
        f"{_name(answer)} {answer.agreement}, width "
        f"{format_upper(answer.judgement.relative_width, 2)}"
        for answer in shown
    )
    return Picture(
        f"{name}-intervals",
        f"Proven intervals and reported values of {family.title}",
        description,
        bottom + 34,
        elements,
        legend=legend,
    )


def bar(
    lower: float, upper: float, scale: SignedScale, y: float, style: str = "own", title: str = ""
) -> Iterator[Element]:
    """Yield a proven interval, with a cap at each end, or an arrow beyond the picture.

    Parameters
    ----------
    lower, upper : float
        Ends relative to the optimum.
    scale : SignedScale
        Scale of the picture.
    y : float
        Vertical position, from the top.
    style : str, default "own"
        Origin of the lower bound: own, derived from f of the answer, or the family's.
    title : str, default ""
        Text that a pointer shows.
    """
    left, right, middle = (
        scale.place(lower),
        scale.place(upper),
        min(max(scale.place(0.0), scale.place(lower)), scale.place(upper)),
    )
    yield line(left, y, middle, y, f"bar {style}", title)
    yield line(middle, y, right, y, "bar own", title)
    for x, value, arrow in ((left, lower, "left"), (right, upper, "right")):
        if abs(value) > 10.0**scale.high:
            yield symbol((arrow, True), x, y, "end", title, RADIUS * 0.8)
        else:
            yield line(x, y - 3, x, y + 3, "bar own", title)


def center(interval: Interval) -> float | None:
    """Return the midpoint of an interval, or its only finite end; None without one.

    Parameters
    ----------
    interval : Interval
        Proven interval.

    Returns
    -------
    float or None
        Midpoint.
    """
    sides = [side for side in (interval.lower, interval.upper) if math.isfinite(side)]
    return sum(side / len(sides) for side in sides) if sides else None


def _scale(interval: Interval, values: Sequence[float]) -> SignedScale:
    """Return the scale of all finite values, fine enough for the interval."""
    half = interval.relative_width / 2
    least = math.floor(math.log10(half)) if 0 < half < 1 else FINEST
    finite = [abs(value) for value in values if math.isfinite(value) and value != 0]
    most = math.ceil(math.log10(max(finite, default=1.0)))
    return SignedScale.of(least, most, LEFT, PICTURE_WIDTH - 18)


def _shade(
    interval: Interval, middle: float, scale: SignedScale, bottom: float
) -> Iterator[Element]:
    """Yield the shade of the family's proven interval."""
    left, right = (
        scale.place((side - middle) / interval.size) for side in (interval.lower, interval.upper)
    )
    width = max(right - left, 1.0)
    yield Element(
        "rect",
        {
            "x": round(left, 2),
            "y": 4,
            "width": round(width, 2),
            "height": bottom - 4,
            "class": "shade",
        },
    )


def _answer(
    answer: AnswerView, lower: float, claim: float, upper: float, scale: SignedScale, y: float
) -> Iterator[Element]:
    """Yield the row of an answer: name, bar and reported value."""
    j, name = answer.judgement, _name(answer)
    ends = f"{format_lower(j.lower, 12)}, {format_upper(j.upper, 12)}"
    title = (
        f"{name}: proves the optimum in [{ends}], reports {j.evidence.value:.12g}, {j.agreement}"
    )
    yield text(cut(name, LETTERS), LEFT - 8, y + 3.5, "row", "end", title)
    yield from bar(lower, upper, scale, y, j.lower_kind or "family", title)
    if not math.isnan(claim):
        yield symbol(OF_AGREEMENT[j.agreement], scale.place(claim), y, j.agreement, title)


def _name(answer: AnswerView) -> str:
    """Return the name of an answer within its family."""
    return f"{answer.label} {answer.run.solver}".strip()
