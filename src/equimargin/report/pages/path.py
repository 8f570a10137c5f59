"""HTML page of a regularisation path: verdict, functions, scores, gaps and breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.decimals import format_upper
from equimargin.report.cell import Cell
from equimargin.report.pages.drawing import (
    PICTURE_WIDTH,
    Element,
    Picture,
    across,
    curve,
    line,
    symbol,
    text,
    upwards,
)
from equimargin.report.pages.rendering import rendered
from equimargin.report.pages.scales import LinearScale, LogarithmicScale, Scale
from equimargin.report.path_lines import (
    between_breakpoints,
    coefficients,
    ends,
    labels,
    lambdas,
    margins,
    roundings_of_gaps,
    spread,
    thinned,
    training_scores,
)
from equimargin.report.words import cut
from equimargin.selection.along_path import Curve
from equimargin.solvers.path import AnyPath
from equimargin.solvers.path.result import OPTIMAL_GAP

LEFT, RIGHT, TOP, BOTTOM = 46.0, PICTURE_WIDTH - 14, 24.0, 220.0
"""Edges of the drawing area, in picture units."""
ROOM = 84.0
"""Width of the names at the right of the coefficients, in picture units."""
LETTERS = 14
"""Number of letters of a feature's name that fit there."""
KNOTS = 120
"""Number of lambdas on a curve: as many as a picture of this size resolves."""
NAMED = 8
"""Number of named coefficients, the largest at the end of the path."""
POINTS = 60
"""Maximum number of training points with a curve of decision values."""
APART = 12.0
"""Minimum distance between the names of two curves, in picture units."""
ROWS = 200
"""Maximum number of breakpoints in the table; a longer path is sampled evenly."""
COLUMNS = (
    "breakpoint",
    "lambda",
    "C",
    "bias",
    "gap",
    "gap half way to the next",
    "rows in the margin set",
)
"""Columns of the table."""


def path_page(
    path: AnyPath,
    said: Sequence[str],
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    command: str = "",
    scores: Curve | None = None,
    validated_on: str = "",
    columns: Sequence[str] | None = None,
) -> str:
    """Return the HTML text of the page.

    Parameters
    ----------
    path : AnyPath
        Path with at least one breakpoint.
    said : sequence of str
        Lines that the terminal prints about the path.
    data, settings : mapping of str to object
        Records of the data and of the settings.
    versions : mapping of str to str
        Versions of the libraries used.
    command : str, default ""
        Shell command that repeats the computation; empty if it was run from Python.
    scores : Curve, optional
        Scores on validation points.
    validated_on : str, default ""
        Name of these points.
    columns : sequence of str, optional
        Names of the features, if known.
    """
    kind, sentence = verdict(path)
    pictures: list[Picture] = []
    if (path.lambdas > 0).any():
        pictures += [
            _functions(path, columns),
            *([_scores(path, scores, validated_on)] if scores else []),
            _margins(path),
            _gaps(path),
        ]
    shown = _spread(len(path))
    return rendered(
        "path.html",
        command,
        settings,
        versions,
        name=data.get("name", ""),
        read_as=data.get("read_as", ""),
        kind=kind,
        verdict=sentence,
        said=said,
        best="" if scores is None else _best(scores, validated_on),
        pictures_of=pictures,
        columns=[(name, False) for name in COLUMNS],
        count=len(path),
        table_caption="All breakpoints"
        if len(path) <= ROWS
        else f"{len(shown)} of {len(path):,} breakpoints, spread evenly over all",
        rows=[[*_cells(path, t)] for t in shown],
        between=between_breakpoints(path),
        roundings=roundings_of_gaps(path),
    )


def verdict(path: AnyPath) -> tuple[str, str]:
    """Return the verdict on a path as a word (agree, disagree or unfinished) and a sentence.

    Parameters
    ----------
    path : AnyPath
        Regularisation path.

    Returns
    -------
    tuple of (str, str)
        Word and sentence.
    """
    worst = float(np.max(np.concatenate([path.gaps, path.midpoint_gaps])))
    if not worst <= OPTIMAL_GAP:
        return (
            "disagree",
            f"A relative gap of {worst:.1e} is too large to trust the path; up to "
            f"{OPTIMAL_GAP:g} is called optimal.",
        )
    known = (
        f"from lambda = {path.lambdas[0]:.4g} to {path.lambdas[-1]:.4g}, with relative gaps of "
        f"at most {format_upper(worst, 2)}"
    )
    if not path.complete:
        return "unfinished", f"The path ended early: {path.stopped}. It is known {known}."
    return "agree", f"The whole path is known {known}."


def _spread(count: int) -> list[int]:
    """Return at most ROWS indices, evenly spaced."""
    return (
        np.unique(np.linspace(0, count - 1, min(count, ROWS)).astype(np.intp)).tolist()
        if count
        else []
    )


def _best(scores: Curve, where: str) -> str:
    """Return a sentence on the best lambda."""
    best = scores.best
    name = best.metric.replace("_", " ")
    return (
        f"The best {name} on {where} is {best.score:.6g}, at C = {1 / best.lam:.6g} (lambda = "
        f"{best.lam:.6g})."
    )


def _cells(path: AnyPath, t: int) -> Iterator[Cell]:
    """Yield the cells of a breakpoint."""
    lam, half_way = (
        float(path.lambdas[t]),
        float(path.midpoint_gaps[t]) if t < len(path.midpoint_gaps) else None,
    )
    yield Cell.of(t + 1, ",")
    yield Cell.of(lam, ".6g")
    yield Cell.of(1 / lam if lam else float("inf"), ".6g")
    yield Cell.of(float(path.bias[t]), ".6g")
    yield Cell.at_most(float(path.gaps[t]))
    yield Cell.at_most(half_way)
    yield Cell.of(int(path.margins[t]), ",")


def _axes(path: AnyPath, y: Scale, name: str, right: float = RIGHT) -> tuple[Scale, list[Element]]:
    """Return the scale of lambda, and the elements of both axes."""
    x = LogarithmicScale.of(ends(path), right, LEFT)
    return x, [*across(x, TOP, BOTTOM, "lambda = 1/C"), *upwards(y, LEFT, right, name)]


def _along(x: Scale, lams: Array, y: Scale, values: Array) -> list[tuple[float, float]]:
    """Return the positions of values at some lambdas."""
    return [(x.place(lam), y.place(value)) for lam, value in zip(lams, values, strict=True)]


def _upwards(values: Array) -> LinearScale:
    """Return the vertical scale of some values."""
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * (high - low) or max(abs(high), 1.0) * 0.1
    return LinearScale(low - margin, high + margin, BOTTOM, TOP)


def _functions(path: AnyPath, columns: Sequence[str] | None) -> Picture:
    """Draw the coefficients of a linear kernel, else the decision values at training points."""
    lams = lambdas(path, KNOTS)
    values = coefficients(path, lams)
    return (
        _decision_values(path, lams)
        if values is None
        else _coefficients(path, lams, values, columns)
    )


def _coefficients(
    path: AnyPath, lams: Array, values: Array, columns: Sequence[str] | None
) -> Picture:
    """Draw the coefficients, and name the largest at the end without overlaps."""
    d = values.shape[1]
    names = (
        list(columns)
        if columns is not None and len(columns) == d
        else [f"feature {j + 1}" for j in range(d)]
    )
    named = np.argsort(-np.abs(values[-1]))[:NAMED].tolist()
    y = _upwards(values)
    x, elements = _axes(path, y, "coefficients", RIGHT - ROOM)
    for j in range(d):
        look = f"c{named.index(j) % 6} dash{named.index(j) % 4}" if j in named else "other"
        elements.append(curve(_along(x, lams, y, values[:, j]), look, names[j]))
    named.sort(key=lambda j: -values[-1, j])
    at = [y.place(values[-1, j]) for j in named]
    for j, end, place in zip(named, at, _apart(at), strict=True):
        elements.append(line(x.place(lams[-1]), end, RIGHT - ROOM + 8, place, "edge"))
        elements.append(
            text(cut(names[j], LETTERS), RIGHT - ROOM + 10, place + 3.5, "row", title=names[j])
        )
    description = "; ".join(f"{names[j]} ends at {values[-1, j]:.4g}" for j in named)
    some = (
        ""
        if d <= NAMED
        else f" The {NAMED} largest at the end are named; the other {d - NAMED} are thin."
    )
    return Picture(
        "functions",
        "Coefficients along the path",
        description,
        BOTTOM + 34,
        elements,
        f"Every coefficient over lambda.{some}",
    )


def _apart(places: Sequence[float]) -> list[float]:
    """Shift decreasing positions so that names do not overlap or leave the picture."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + APART) if moved else place)
    lowest = BOTTOM
    for k in reversed(range(len(moved))):
        moved[k] = min(moved[k], lowest)
        lowest = moved[k] - APART
    return moved


def _decision_values(path: AnyPath, lams: Array) -> Picture:
    """Draw the decision values at training points, with line patterns by label."""
    y_of, values = labels(path), training_scores(path, lams)
    shown = spread(y_of, POINTS)
    levels = np.unique(y_of).tolist()
    few = len(levels) <= 4
    y = _upwards(values[:, shown])
    x, elements = _axes(path, y, "decision values")
    for i in shown.tolist():
        k = levels.index(y_of[i]) if few else 0
        elements.append(
            curve(
                _along(x, lams, y, values[:, i]),
                f"c{k} dash{k}" if few else "other",
                f"row {i}, label {y_of[i]:g}",
            )
        )
    legend = (
        [
            (line(0, 8, 16, 8, f"curve c{k} dash{k}"), f"label {level:g}")
            for k, level in enumerate(levels)
        ]
        if few
        else []
    )
    some = (
        "every training point"
        if len(shown) == len(y_of)
        else f"{len(shown)} of {len(y_of):,} training points, spread over the labels"
    )
    less = " The median of all is subtracted." if path.problem.rows.invariant else ""
    description = (
        f"At the end they go from {values[-1, shown].min():.4g} to {values[-1, shown].max():.4g}."
    )
    return Picture(
        "functions",
        "Decision values along the path",
        description,
        BOTTOM + 34,
        elements,
        f"f(x) + b of {some}.{less}",
        legend,
    )


def _scores(path: AnyPath, scores: Curve, where: str) -> Picture:
    """Draw the scores on validation points, with the best lambda."""
    chosen, name = scores.best, scores.metric.replace("_", " ")
    lams, values = thinned(path, scores.lambdas, scores.scores)
    known = np.isfinite(values)
    y = _upwards(values[known])
    x, elements = _axes(path, y, name)
    # Where the metric is undefined, the curve has a gap.
    for run in np.split(np.arange(len(lams)), np.flatnonzero(np.diff(known)) + 1):
        if known[run[0]]:
            elements.append(curve(_along(x, lams[run], y, values[run]), "c0"))
    at = x.place(chosen.lam)
    best = f"best: {chosen.score:.6g} at lambda = {chosen.lam:.4g}"
    elements += [
        line(at, TOP, at, BOTTOM, "edge"),
        symbol(("diamond", True), at, y.place(chosen.score), "disagrees", best),
    ]
    legend = [(symbol(("diamond", True), 8, 8, "disagrees"), best)]
    return Picture(
        "scores",
        f"Scores on {where}",
        best,
        BOTTOM + 34,
        elements,
        f"The {name} on {where} over lambda.",
        legend,
    )


def _margins(path: AnyPath) -> Picture:
    """Draw the number of rows in the margin set."""
    lams, rows = margins(path)
    y = _upwards(np.append(rows.astype(np.float64), 0.0))
    x, elements = _axes(path, y, "rows in the margin set")
    elements.append(curve(_along(x, lams, y, rows), "c0"))
    description = f"At most {path.margins.max():,} rows."
    return Picture(
        "margins",
        "Size of the margin set along the path",
        description,
        BOTTOM + 34,
        elements,
        "Rows that lie exactly on their margin.",
    )


def _gaps(path: AnyPath) -> Picture:
    """Draw the relative gaps at breakpoints and half way between them."""
    here, half_way = path.lambdas > 0, path.lambdas[1:] > 0
    between = np.sqrt(path.lambdas[:-1][half_way] * path.lambdas[1:][half_way])
    kinds = (
        ("at a breakpoint", ("circle", True), "c0", path.lambdas[here], path.gaps[here]),
        ("half way to the next", ("cross", False), "c1", between, path.midpoint_gaps[half_way]),
    )
    y = LogarithmicScale.of(
        [*path.gaps[here], *path.midpoint_gaps[half_way], OPTIMAL_GAP], BOTTOM, TOP
    )
    x, elements = _axes(path, y, f"relative gap, {roundings_of_gaps(path)}")
    elements.append(
        line(
            LEFT,
            y.place(OPTIMAL_GAP),
            RIGHT,
            y.place(OPTIMAL_GAP),
            "edge",
            f"{OPTIMAL_GAP:g}: smaller gaps are called optimal",
        )
    )
    for _, kind, look, lams, gaps in kinds:
        for t in _spread(len(lams)):
            label = f"{format_upper(gaps[t], 2)} at lambda = {lams[t]:.4g}"
            elements.append(symbol(kind, x.place(lams[t]), y.place(gaps[t]), look, label, 2.2))
    legend = [(symbol(kind, 8, 8, look), words) for words, kind, look, _, _ in kinds]
    label = (
        f"At most {format_upper(path.gaps.max(), 2)} at breakpoints and "
        f"{format_upper(path.midpoint_gaps.max(initial=0.0), 2)} half way between them."
    )
    caption = (
        f"The objective at a lambda is within its gap of the optimum. A solution with a gap up to "
        f"{OPTIMAL_GAP:g}, the broken line, is called optimal."
    )
    return Picture(
        "gaps", "Relative gaps along the path", label, BOTTOM + 34, elements, caption, legend
    )
