"""Drawing of the surrogate regret of a ranking along a path."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from equimargin.formulations.programs.extras import OptionalModule
from equimargin.proofs.rankings.surrogate_regret import SurrogateRegret

INK = "#1b5e8c"
"""Colour of the misordered pairs of the optimum."""
MARK = "#b3282d"
"""Colour of the least number of any function."""

__all__ = ["draw_regret", "regret_panel"]


def draw_regret(curve: SurrogateRegret, file: Path, title: str = "") -> None:
    """Draw the misordered pairs of a path, and the least number of any function.

    Parameters
    ----------
    curve : SurrogateRegret
        Proven numbers of pairs.
    file : Path
        File ending in .svg, .png or .pdf.
    title : str, default ""
        Title above the drawing.

    Raises
    ------
    ValueError
        If no number changes above C = 0, so that there is no range of C.
    """
    Figure = OptionalModule("matplotlib.figure").Figure

    from equimargin.solvers.problem_file import whole

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    figure.suptitle(title, fontsize=10)
    regret_panel(figure.subplots(), curve)
    with whole(file) as part:
        figure.savefig(part, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)


def regret_panel(panel: Any, curve: SurrogateRegret) -> None:
    """Draw the numbers of pairs over C into a panel of matplotlib.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Panel; its horizontal axis becomes logarithmic.
    curve : SurrogateRegret
        Proven numbers of pairs.
    """
    low, high = cost_range(curve)
    # The numbers after the last step up to `low` hold until the next step. The lowest C is
    # the first step, and `low` may be a float below this fraction.
    shown = bisect_right(curve.steps, low, lo=1) - 1
    costs = [low, *(float(C) for C in curve.steps[shown + 1 :]), high]
    least, most = zip(*curve.after_steps[shown:], strict=True)
    panel.stairs(most, costs, baseline=least, fill=True, color=INK, alpha=0.35, lw=0)
    panel.stairs(most, costs, baseline=None, color=INK, lw=1.4, label="optimum at C")
    fewest = curve.fewest
    name = f"least of any f: {fewest.least}"
    if fewest.least < fewest.most:
        name += f" to {fewest.most}"
        panel.axhspan(*fewest, color=MARK, alpha=0.25, lw=0)
    panel.axhline(fewest.most, color=MARK, lw=1.2, ls="--", label=name)
    panel.set_xscale("log")
    panel.set_xlim(low, high)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("$C = 1/\\lambda$")
    panel.set_ylabel(f"misordered of {curve.problem.p:,} pairs")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.25, lw=0.5)
    panel.legend(frameon=False, fontsize=8)


def cost_range(curve: SurrogateRegret) -> tuple[float, float]:
    """Return the C between which a drawing shows the steps, with a margin on both sides.

    Parameters
    ----------
    curve : SurrogateRegret
        Proven numbers of pairs.

    Raises
    ------
    ValueError
        If the curve has no C above 0 at which a number changes or a segment ends.
    """
    ends = [segment.low for segment in curve.segments if segment.low > 0]
    above = [float(C) for C in (*curve.steps, *ends) if C > 0]
    if not above:
        raise ValueError("the curve has no breakpoint above C = 0; draw a longer path")
    high = max(above) * 2
    low = max(min(above) / 2, float(curve.low))
    return low, high if curve.high is None else min(high, float(curve.high))
