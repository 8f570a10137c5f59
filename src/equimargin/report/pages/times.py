"""The picture of all answers of a comparison: the time of solving against the relative width of what is proven, a symbol a solver."""

from __future__ import annotations

import math
from collections.abc import Sequence

from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.report.pages.drawing import PICTURE_WIDTH, SYMBOLS, Picture, across, line, symbol, text, upwards
from equimargin.report.pages.scales import Logarithmic

LEFT, TOP, BOTTOM = 58.0, 44.0, 300.0
"""Units at the left and at the top of what is drawn, and where it ends below."""
EDGE = 18.0
"""Units above and below the scale for answers that prove no bound, or the exact optimum: 0 and infinity have no logarithm."""
SHORTEST = 1e-4
"""Seconds: shorter times are drawn as this, because a clock tells them apart no more."""
COLOURS = 6
"""Colours of the style sheet; a symbol has one beside its shape."""
CAPTION = (
    "Down is more accurate, left is faster. A point is an answer: the seconds of its solving, and the relative width of the interval "
    "that it proves; a backend's interval is that of its point after exact repair. Compiling is not counted."
)
"""How the picture is read."""


def times(families: Sequence[FamilyVerdict]) -> Picture | None:
    """The picture; None where no answer has a time."""
    shown = [j for family in families for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    answers = [j for j in shown if j.evidence.run.solve_seconds is not None]
    if not answers:
        return None
    solvers = list(dict.fromkeys(j.evidence.run.solver for j in sorted(answers, key=lambda j: j.evidence.run.formulation is None)))
    right = PICTURE_WIDTH - 14
    widths = [j.relative_width for j in answers]
    x = Logarithmic.of([_seconds(j) for j in answers], LEFT, right)
    y = Logarithmic.of(widths, BOTTOM - EDGE, TOP)
    elements = [*across(x, TOP - EDGE, BOTTOM, "seconds of solving"), *upwards(y, LEFT, right, "relative width of what is proven")]
    for there, where, words in ((0.0 in widths, BOTTOM, "exact"), (math.inf in widths, TOP - EDGE, "no bound")):
        if there:
            elements += [line(LEFT, where, right, where, "edge"), text(words, LEFT - 5, where + 3.5, "tick", "end")]
    for j in answers:
        width = j.relative_width
        where = BOTTOM if width == 0 else TOP - EDGE if math.isinf(width) else y.place(width)
        run = j.evidence.run
        said = f"{run.family}, {run.name}: width {width:.1e} in {_seconds(j):.3g} s, {j.agreement}"
        elements.append(symbol(*_look(solvers.index(run.solver), x.place(_seconds(j)), where), title=said))
    legend = [(symbol(*_look(k, 8, 8)), name) for k, name in enumerate(solvers)]
    said = "; ".join(_of_solver(name, [j for j in answers if j.evidence.run.solver == name]) for name in solvers)
    return Picture("times", "Time against proven width, of every answer", said, BOTTOM + 34, elements, CAPTION, legend)


def _look(k: int, x: float, y: float) -> tuple[tuple[str, bool], float, float, str]:
    """The symbol of a solver by its number, at a place, with its colour."""
    return SYMBOLS[k % len(SYMBOLS)], x, y, f"c{k % COLOURS}"


def _seconds(j: Judgement) -> float:
    return max(j.evidence.run.solve_seconds or 0.0, SHORTEST)


def _of_solver(name: str, answers: Sequence[Judgement]) -> str:
    """What the answers of a solver are like, in words."""
    seconds, widths = [_seconds(j) for j in answers], [j.relative_width for j in answers]
    return f"{name}: {min(seconds):.2g} to {max(seconds):.2g} s, widths from {min(widths):.0e} to {max(widths):.0e}"
