"""Drawing of a certified map: its cells over lambda and gamma, coloured by a score."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from equimargin.formulations.programs.extras import OptionalModule
from equimargin.solvers import CertifiedMap, Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE = "#ffffff"
"""Colour of the lines between cells."""

__all__ = ["count_support_vectors", "draw_cells"]


def count_support_vectors(solution: Solution) -> float:
    """Return the number of points with a nonzero coefficient.

    A point of a map mixes the multipliers at the four corners of its cell: the number is
    that of the union of their support vectors, and at least that of an optimum's.

    Parameters
    ----------
    solution : Solution
        Solution of a map.
    """
    return float(np.count_nonzero(np.asarray(solution.beta)))


def draw_cells(
    axes: Axes,
    certified: CertifiedMap,
    score: Callable[[Solution], float] = count_support_vectors,
    label: str = "support vectors",
) -> None:
    """Draw the cells of a map on logarithmic axes, each in the colour of its centre's score.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes of the drawing.
    certified : CertifiedMap
        Map.
    score : callable
        Function of the solution at the centre of a cell, such as its error on validation
        points.
    label : str
        Name of the score, for the colour bar.
    """
    rectangle = OptionalModule("matplotlib.patches").Rectangle
    rectangles = [
        rectangle(
            (cell.lambdas[0], cell.gammas[0]),
            cell.lambdas[1] - cell.lambdas[0],
            cell.gammas[1] - cell.gammas[0],
        )
        for cell in certified.cells
    ]
    scores = np.array([score(certified.at(*cell.centre)) for cell in certified.cells])
    cells = OptionalModule("matplotlib.collections").PatchCollection(
        rectangles, cmap="viridis", edgecolor=EDGE, linewidth=0.4
    )
    cells.set_array(scores)
    axes.add_collection(cells)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=certified.lambdas,
        ylim=certified.gammas,
        xlabel=r"$\lambda = 1/C$",
        ylabel=r"$\gamma$",
    )
    axes.figure.colorbar(cells, ax=axes, label=label, pad=0.02)
