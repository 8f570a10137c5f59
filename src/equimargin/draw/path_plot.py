"""Drawing of a regularisation path: functions, validation scores and margin set size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.extras import OptionalModule
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.report.path_lines import (
    coefficients,
    ends,
    labels,
    lambdas,
    margins,
    spread,
    thinned,
    training_scores,
)
from equimargin.selection.along_path import Curve
from equimargin.solvers.path import AnyPath

NAMED = 10
"""Maximum number of coefficients with their own colour and a name in the legend."""
LOGARITHMIC = 10.0
"""Maximum |f(x) + b| on a linear scale.

For larger values the scale is logarithmic, and linear only between -1 and 1.
"""
INK = "#1b5e8c"
"""Colour of the lines and points."""
MARK = "#b3282d"
"""Colour of the best lambda."""
BESIDE: dict[str, Any] = {
    "loc": "center left",
    "bbox_to_anchor": (1.0, 0.5),
    "frameon": False,
    "fontsize": 8,
    "title_fontsize": 8,
}
"""Arguments of a legend at the right of its panel."""

__all__ = ["draw"]


def draw(path: AnyPath, file: Path, title: str = "", curve: Curve | None = None) -> None:
    """Draw a path from large lambda at the left to small at the right, on a logarithmic axis.

    Parameters
    ----------
    path : AnyPath
        Path of `regularization_path`.
    file : Path
        File ending in .svg, .png or .pdf.
    title : str, default ""
        Title above the drawing.
    curve : Curve, optional
        Scores of `score_along` or of a row of `grid`; the best lambda is marked.

    Raises
    ------
    ValueError
        If the path has no lambda above 0.
    """
    Figure = OptionalModule("matplotlib.figure").Figure

    above = path.lambdas[path.lambdas > 0]
    heights = [3.0, 1.6, 1.0] if curve else [3.0, 1.0]
    figure = Figure(figsize=(9, 0.9 + 1.35 * sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    figure.suptitle(title, fontsize=10)
    _functions(axes[0], path)
    if curve:
        _scores(axes[1], path, curve)
    axes[-1].plot(*margins(path), color=INK, lw=0.8, marker=_marker(above))
    axes[-1].set_ylabel("rows in the\nmargin set")
    axes[-1].set_ylim(bottom=0)
    axes[-1].set_xlabel(r"$\lambda = 1/C$")
    axes[-1].set_xscale("log")
    axes[-1].set_xlim(*ends(path))
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25, lw=0.5)
        if curve:
            panel.axvline(curve.best.lam, color=MARK, lw=0.9, ls="--", zorder=3)
    figure.align_ylabels(axes)
    figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)


def _functions(panel: Any, path: AnyPath) -> None:
    """Draw the coefficients of a linear kernel, else the training scores by label."""
    colormaps = OptionalModule("matplotlib").colormaps

    lams = lambdas(path)
    values = coefficients(path, lams)
    if values is not None:
        for j, w in enumerate(values.T):
            color = (
                colormaps["tab10"](j)
                if values.shape[1] <= NAMED
                else colormaps["viridis"](j / (values.shape[1] - 1))
            )
            panel.plot(
                lams,
                w,
                color=color,
                lw=1.2,
                marker=_marker(lams),
                label=str(j + 1) if values.shape[1] <= NAMED else None,
            )
        panel.set_ylabel(r"coefficient $w_j$")
        if values.shape[1] <= NAMED:
            panel.legend(title="feature", **BESIDE)
        else:
            _bar(panel, 1, values.shape[1], "feature")
        return
    _training_scores(panel, path, lams)


def _training_scores(panel: Any, path: AnyPath, lams: Array) -> None:
    Line2D = OptionalModule("matplotlib.lines").Line2D

    # Few labels get a legend, many a colour bar.
    m, rows, y = path.problem.m, path.problem.rows, labels(path)
    shown, values = spread(y), training_scores(path, lams)
    levels = np.unique(y)
    colors = _colors(levels)
    for i in shown:
        panel.plot(
            lams,
            values[:, i],
            color=colors[np.searchsorted(levels, y[i])],
            lw=0.7,
            alpha=0.55,
            marker=_marker(lams),
        )
    if not isinstance(rows, Tube) and np.abs(values[:, shown]).max() > LOGARITHMIC:
        panel.set_yscale("symlog", linthresh=1.0, linscale=1.0)
    some = "" if m == len(shown) else f"\n{len(shown)} of {m:,} training points"
    panel.set_ylabel(
        (
            "$f(x_i)$ - median"
            if rows.invariant
            else "$f(x_i) + b$"
            if path.problem.bias
            else "$f(x_i)$"
        )
        + some
    )
    what = (
        "relevance"
        if isinstance(rows, LabelledPairs)
        else "label"
        if isinstance(rows, Signed)
        else "target"
    )
    if 1 < len(levels) <= NAMED:
        handles = [
            Line2D([], [], color=color, label=f"{level:g}")
            for level, color in zip(levels, colors, strict=True)
        ]
        panel.legend(handles=handles, title=what, **BESIDE)
    elif len(levels) > NAMED:
        _bar(panel, levels[0], levels[-1], what)


def _marker(lams: Array) -> str | None:
    """Return a marker for a line at a single lambda, which is invisible otherwise."""
    return "o" if lams[0] == lams[-1] else None


def _bar(panel: Any, first: float, last: float, label: str) -> None:
    ScalarMappable = OptionalModule("matplotlib.cm").ScalarMappable
    Normalize = OptionalModule("matplotlib.colors").Normalize

    panel.figure.colorbar(
        ScalarMappable(Normalize(first, last), "viridis"), ax=panel, label=label, pad=0.01
    )


def _colors(levels: Array) -> list[Any]:
    """Return a colour per label: fixed ones for at most two, else by value."""
    colormaps = OptionalModule("matplotlib").colormaps

    if len(levels) <= 2:
        return [INK, "#e07b00"][: len(levels)]
    return [
        colormaps["viridis"](place) for place in (levels - levels[0]) / (levels[-1] - levels[0])
    ]


def _scores(panel: Any, path: AnyPath, curve: Curve) -> None:
    selected = curve.best
    panel.plot(*thinned(path, curve.lambdas, curve.scores), color=INK, lw=1.0)
    panel.axvspan(*selected.interval, color=MARK, alpha=0.2, lw=0)
    at = f"{selected.score:.4g} at $\\lambda$ = {selected.lam:.3g}"
    panel.plot([selected.lam], [selected.score], "o", color=MARK, markersize=5, label=at, zorder=4)
    panel.set_ylabel(selected.metric.replace("_", " ").replace(" ", "\n", 1))
    panel.legend(loc="best", frameon=False, fontsize=8)
