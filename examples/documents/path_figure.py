"""Document P, Figure 4: the mixture data along the regularisation path
====================================================================

The data are two overlapping classes of 100 points each, and each point of one class is
preferred to each of the other: 10,000 pairs. Four solutions of the path are drawn, from
its first breakpoint to the smallest lambda. Red points are preferred to blue ones. The
score is higher where the picture is darker, and the thick line separates the classes.

Run it: ``python examples/documents/path_figure.py [--full] [--save FOLDER]``. With
``--full`` the ranking has all pairs, as published; without it the 199 pairs of the
reduced graph. The points are read from ``../shared/data/esl-mixture.csv``; without that
file points are drawn as described by Hastie, Tibshirani and Friedman.

Zapien et al. (2009) do not state the kernel, its width, the end of the path, and which
iterations "some" and "more" are. Here the kernel is ``exp(-gamma |x - z|^2)``, lambda
ends at 0.01, and the breakpoints are those at a tenth and at a half of the path. The
table varies gamma. A ranking has no zero at which to draw a contour, as the document
does: the line is at the score with the fewest training points on the wrong side.
"""

from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from equimargin.boundaries import boundaries_between
from equimargin.data import load
from equimargin.formulations import ranking, ranking_from_pairs, rbf, reduced_preferences
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.metrics import pairwise_accuracy
from equimargin.solvers import RegularizationPath, regularization_path

LAMBDA_MIN = 1e-2
WIDTHS = (0.25, 1.0, 4.0)
"""Values of gamma in the table; the picture has the second."""
PANELS = {
    "(a) initialisation": 0.0,
    "(b) some iterations": 0.1,
    "(c) more iterations": 0.5,
    "(d) smallest lambda": 1.0,
}
"""Share of the path's breakpoints before the solution of each panel."""


class Points(NamedTuple):
    """X (m, 2) and classes y (m,), 0 and 1."""

    X: Array
    y: Array


class Panel(NamedTuple):
    """Solution of the path.

    Parameters
    ----------
    lam : float
        Value of lambda.
    ordered : float
        Share of all pairs in the right order.
    beyond : float
        Share of all pairs with a margin of at least 1.
    wrong : int
        Number of points on the wrong side of the line.
    spread : float
        Mean difference of the scores of a pair.
    """

    lam: float
    ordered: float
    beyond: float
    wrong: int
    spread: float


def mixture(data: Path) -> Points:
    """Return the mixture data, or points drawn like them.

    Each class has ten centres, and each point is drawn around one of them.
    """
    if (data / "esl-mixture.csv").is_file():
        table = load(data / "esl-mixture.csv")
        return Points(dense(table.X), (np.asarray(table.y) > 0).astype(float))
    print(f"there is no file {data / 'esl-mixture.csv'}: points are drawn by its recipe")
    random = np.random.default_rng(0)
    centres = [random.normal(size=(10, 2)) + mean for mean in ((1.0, 0.0), (0.0, 1.0))]
    X = np.concatenate(
        [
            own[random.integers(0, 10, 100)] + random.normal(scale=np.sqrt(0.2), size=(100, 2))
            for own in centres
        ]
    )
    return Points(X, np.repeat([0.0, 1.0], 100))


def followed(points: Points, gamma: float, full: bool) -> RegularizationPath:
    """Return the path with all pairs, or with those of the reduced graph."""
    kernel = rbf(gamma)
    whole = ranking(*points, kernel=kernel)
    problem = (
        whole
        if full
        else ranking_from_pairs(points.X, reduced_preferences(points.y), kernel=kernel)
    )
    path = regularization_path(problem, LAMBDA_MIN)
    assert isinstance(path, RegularizationPath)
    return path


def panels(path: RegularizationPath, points: Points) -> dict[str, Panel]:
    """Return the four solutions of a path."""
    found = {}
    for name, share in PANELS.items():
        lam = float(path.lambdas[round(share * (len(path) - 1))])
        f = path.decision_function(points.X, lam)
        apart = f[points.y == 1][:, None] - f[points.y == 0]
        wrong = int((boundaries_between(points.y, f).rank(f) != points.y).sum())
        found[name] = Panel(
            lam,
            pairwise_accuracy(points.y, f).mean,
            float((apart >= 1 - 1e-6).mean()),
            wrong,
            float(apart.mean()),
        )
    return found


def drawn(axes: Axes, path: RegularizationPath, points: Points, name: str, panel: Panel) -> None:
    """Draw a panel: the points, the score, and the line between the classes."""
    low, high = points.X.min(axis=0) - 0.3, points.X.max(axis=0) + 0.3
    across, up = (np.linspace(low[at], high[at], 80) for at in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    score = path.decision_function(grid, panel.lam).reshape(80, 80)
    cut = boundaries_between(points.y, path.decision_function(points.X, panel.lam)).thresholds
    axes.contourf(across, up, score, levels=12, cmap="Greys", alpha=0.5)
    axes.contour(across, up, score, levels=cut, colors="black", linewidths=1.5, linestyles="solid")
    for level, colour, label in ((0, "tab:blue", "to be below"), (1, "tab:red", "to be above")):
        axes.plot(*points.X[points.y == level].T, ".", color=colour, markersize=4, label=label)
    axes.set(title=f"{name}\nlambda = {panel.lam:.3g}, {panel.wrong} wrong", xticks=[], yticks=[])


def picture(path: RegularizationPath, points: Points, found: dict[str, Panel]) -> Figure:
    """Draw Figure 4."""
    figure, axes = plt.subplots(1, 4, figsize=(13, 4))
    for at, (name, panel) in zip(axes, found.items(), strict=True):
        drawn(at, path, points, name, panel)
    cut = Line2D([], [], color="black", label="cut with the fewest points on the wrong side")
    figure.legend(
        handles=[*axes[0].get_lines()[::-1], cut],
        loc="lower center",
        ncols=3,
        title="the darker, the higher is the score",
    )
    figure.tight_layout(rect=(0, 0.14, 1, 1))
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Make Figure 4, also with other widths."""
    points, lines, found = mixture(data), [], {}
    for gamma in WIDTHS:
        path = followed(points, gamma, full)
        found[gamma] = path, panels(path, points)
        lines.append(f"gamma = {gamma:g}: {path.problem.p:,} pairs, {len(path):,} breakpoints")
        for name, panel in found[gamma][1].items():
            shares = (
                f"{panel.ordered:7.1%} of pairs in order, {panel.beyond:6.1%} apart by 1, "
                f"{panel.wrong:3d} of 200 points wrong"
            )
            lines.append(
                f"  {name:20s} lambda {panel.lam:10.4g}: {shares}, mean distance {panel.spread:.3g}"
            )
    path, four = found[WIDTHS[1]]
    first, *_, last = four.values()
    improved = all(
        own["(c) more iterations"].ordered > own["(a) initialisation"].ordered
        for _, own in found.values()
    )
    because = (
        f"with gamma {WIDTHS[1]:g} {first.ordered:.1%} of pairs are in order at first and "
        f"{last.ordered:.1%} at the smallest lambda"
    )
    widths = f"{because}, and for every gamma tried more in (c) than in (a)"
    return Report(lines, [Outcome("P.figure4", improved, widths)], picture(path, points, four))


if __name__ == "__main__":
    command("path_figure", main)
