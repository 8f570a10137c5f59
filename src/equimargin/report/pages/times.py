"""Picture of all answers of a comparison: time against proven width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from equimargin.formulations.numeric.decimals import format_upper
from equimargin.proofs import Judgement
from equimargin.report.pages.drawing import (
    PICTURE_WIDTH,
    SYMBOLS,
    Picture,
    across,
    line,
    symbol,
    text,
    upwards,
)
from equimargin.report.pages.scales import LogarithmicScale
from equimargin.report.view import FamilyView

LEFT, TOP, BOTTOM = 58.0, 44.0, 300.0
"""Left, top and bottom of the drawing area, in picture units."""
EDGE = 18.0
"""Height for answers without a bound, or with the exact optimum, in picture units.

Their widths, infinity and 0, have no logarithm.
"""
SHORTEST_SECONDS = 1e-4
"""Minimum drawn time in seconds; a clock does not distinguish shorter ones."""
COLOURS = 6
"""Number of colours of the style sheet; a symbol has one in addition to its shape."""
CAPTION = (
    "Down is more accurate, left is faster. A symbol is an answer, at its seconds of solving "
    "and the relative width of the interval that it proves. The interval of a backend's answer "
    "is computed after its point is made exactly feasible. Compiling is not counted."
)
"""Explanation of the picture."""


def times(families: Sequence[FamilyView]) -> Picture | None:
    """Return the picture; None if no answer has a time.

    Parameters
    ----------
    families : sequence of FamilyView
        Views of the families.

    Returns
    -------
    Picture or None
        Picture.
    """
    answers = [
        (family.title, answer) for family in families for answer in family.answers if answer.seconds
    ]
    if not answers:
        return None
    solvers = list(
        dict.fromkeys(
            answer.run.solver for _, answer in sorted(answers, key=lambda each: not each[1].label)
        )
    )
    # Widths 0 and infinity lie outside the logarithmic scale, in the margins EDGE.
    right = PICTURE_WIDTH - 14
    widths = [answer.judgement.relative_width for _, answer in answers]
    x = LogarithmicScale.of([_seconds(answer.judgement) for _, answer in answers], LEFT, right)
    y = LogarithmicScale.of(widths, BOTTOM - EDGE, TOP)
    elements = [
        *across(x, TOP - EDGE, BOTTOM, "seconds of solving"),
        *upwards(y, LEFT, right, "relative width of the proven interval"),
    ]
    for there, where, words in (
        (0.0 in widths, BOTTOM, "exact"),
        (math.inf in widths, TOP - EDGE, "no bound"),
    ):
        if there:
            elements += [
                line(LEFT, where, right, where, "edge"),
                text(words, LEFT - 5, where + 3.5, "tick", "end"),
            ]
    looks = {name: (SYMBOLS[k % len(SYMBOLS)], f"c{k % COLOURS}") for k, name in enumerate(solvers)}
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in solvers}
    for (family, answer), width in zip(answers, widths, strict=True):
        seconds, (shape, colour) = _seconds(answer.judgement), looks[answer.run.solver]
        where = BOTTOM if width == 0 else TOP - EDGE if math.isinf(width) else y.place(width)
        at_most = format_upper(width, 2)
        label = f"{family}, {answer.name}: width {at_most} in {seconds:.3g} s, {answer.agreement}"
        elements.append(symbol(shape, x.place(seconds), where, colour, label))
        results[answer.run.solver].append((seconds, width))
    legend = [(symbol(shape, 8, 8, colour), name) for name, (shape, colour) in looks.items()]
    label = "; ".join(
        _of_solver(name, *zip(*pairs, strict=True)) for name, pairs in results.items()
    )
    return Picture(
        "times",
        "Time against proven width, of every answer",
        label,
        BOTTOM + 34,
        elements,
        CAPTION,
        legend,
    )


def _seconds(j: Judgement) -> float:
    """Return the solve time to draw, in seconds."""
    return max(j.evidence.run.solve_seconds or 0.0, SHORTEST_SECONDS)


def _of_solver(name: str, seconds: Sequence[float], widths: Sequence[float]) -> str:
    """Return the ranges of the times and widths of a solver as text."""
    return (
        f"{name}: {min(seconds):.2g} to {max(seconds):.2g} s, widths from "
        f"{format_upper(min(widths), 2)} to {format_upper(max(widths), 2)}"
    )
