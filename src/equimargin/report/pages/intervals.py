"""The picture of a family: the interval that every answer proves, and its claim, around the optimum, on a scale of powers of ten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from equimargin.formulations.bounds.intervals import Interval
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.report.pages.drawing import OF_AGREEMENT, PICTURE_WIDTH, RADIUS, Element, Picture, across, cut, line, symbol, text
from equimargin.report.pages.scales import Signed

ROW = 17.0
"""Units in height that an answer takes."""
LETTERS = 22
"""Letters of a name that have room at the left."""
LEFT = 152.0
"""Units at the left for names."""
FINEST = -17
"""Exponent of ten of the smallest difference that is drawn: smaller ones are below the precision of float64, relative to the optimum."""
COARSEST = 1
"""Exponent of ten of the largest difference that is drawn in its place, relative to the optimum."""
HOW_TO_READ = (
    "In the pictures of families right is above the optimum, left below, relative to its size; 0 is the middle of what all answers prove "
    "together, which is shaded. "
    "A bar is what an answer proves: a solid end is proven by its own point, a dashed one by multipliers that were derived from it, "
    "a dotted one by other answers. A symbol is the optimum that it claims. An arrow goes on beyond the picture."
)
"""How the pictures of families are read."""


def intervals(family: FamilyVerdict, name: str) -> Picture | None:
    """The picture of a family; None where nothing is proven that a picture could be around."""
    shown = [j for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    middle = _middle(family.interval)
    if not shown or middle is None or not family.feasible:
        return None
    rows = [(_name(family.id, j), (j.lower - middle, j.evidence.value - middle, j.upper - middle), j) for j in shown]
    scale = _scale(family.interval, [value / family.interval.size for _, values, _ in rows for value in values])
    bottom = 8 + ROW * len(rows)
    elements = [*_shade(family.interval, middle, scale, bottom), *across(scale, 4, bottom, "relative distance from the optimum")]
    for k, (row, values, j) in enumerate(rows):
        lower, claim, upper = (value / family.interval.size for value in values)
        elements += _answer(row, (lower, claim, upper), j, scale, 4 + ROW * (k + 0.5) + 2)
    present = [agreement for agreement in Agreement if any(j.agreement is agreement for j in shown)]
    legend = [(symbol(OF_AGREEMENT[each], 8, 8, str(each)), f"claim of an answer that {_words(each)}") for each in present]
    said = "; ".join(f"{_name(family.id, j)} {j.agreement}, width {j.relative_width:.0e}" for j in shown)
    return Picture(f"{name}-intervals", f"Proven intervals and claims of {family.id}", said, bottom + 34, elements, legend=legend)


def bar(lower: float, upper: float, scale: Signed, y: float, style: str = "own", title: str = "") -> Iterator[Element]:
    """A proven interval, with a cap at each end that is in the picture and an arrow at each that is not.

    Parameters
    ----------
    lower, upper : relative to the optimum.  style : how the lower half is proven.
    """
    left, right, middle = scale.place(lower), scale.place(upper), min(max(scale.place(0.0), scale.place(lower)), scale.place(upper))
    yield line(left, y, middle, y, f"bar {style}", title)
    yield line(middle, y, right, y, "bar own", title)
    for x, value, arrow in ((left, lower, "left"), (right, upper, "right")):
        if abs(value) > 10.0**scale.most:
            yield symbol((arrow, True), x, y, "end", title, RADIUS * 0.8)
        else:
            yield line(x, y - 3, x, y + 3, "bar own", title)


def _middle(interval: Interval) -> float | None:
    """What the picture is around: the middle of what is proven, or the one side of it that is finite."""
    sides = [side for side in (interval.lower, interval.upper) if math.isfinite(side)]
    return sum(side / len(sides) for side in sides) if sides else None


def _scale(interval: Interval, values: Sequence[float]) -> Signed:
    """The scale that holds the values that are finite, and tells the interval from its middle."""
    half = interval.relative_width / 2
    least = math.floor(math.log10(half)) if 0 < half < 1 else FINEST
    finite = [abs(value) for value in values if math.isfinite(value) and value != 0]
    most = math.ceil(math.log10(max(finite, default=1.0)))
    least = min(max(least, FINEST), COARSEST - 1)
    return Signed(least, min(max(most, least + 1), COARSEST), LEFT, PICTURE_WIDTH - 18)


def _shade(interval: Interval, middle: float, scale: Signed, bottom: float) -> Iterator[Element]:
    """What all answers prove together."""
    left, right = (scale.place((side - middle) / interval.size) for side in (interval.lower, interval.upper))
    width = max(right - left, 1.0)
    yield Element("rect", {"x": round(left, 2), "y": 4, "width": round(width, 2), "height": bottom - 4, "class": "shade"})


def _answer(name: str, values: tuple[float, float, float], j: Judgement, scale: Signed, y: float) -> Iterator[Element]:
    """The row of an answer: its name, its bar and its claim."""
    lower, claim, upper = values
    said = f"{name}: proven to be in [{j.lower:.12g}, {j.upper:.12g}], claims {j.evidence.value:.12g}, {j.agreement}"
    yield text(cut(name, LETTERS), LEFT - 8, y + 3.5, "row", "end", said)
    yield from bar(lower, upper, scale, y, j.lower_kind or "family", said)
    if not math.isnan(claim):
        yield symbol(OF_AGREEMENT[j.agreement], scale.place(claim), y, str(j.agreement), said)


def _name(family: str, j: Judgement) -> str:
    """An answer in as few letters as tell it from others of its family."""
    run = j.evidence.run
    control = " (control)" if run.control else ""
    return f"{run.formulation.removeprefix(f'{family}.')} {run.solver}{control}" if run.formulation else run.solver


def _words(agreement: Agreement) -> str:
    """What is said of an answer, after "claim that"."""
    return {"inaccurate": "is inaccurate"}.get(str(agreement), str(agreement))
