"""Drawing of a certified map: a rectangle per cell, in the colour of its score."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from equimargin.draw.map_plot import count_support_vectors, draw_cells
from equimargin.formulations import classification, rbf
from equimargin.solvers import certified_map

X = np.array([[0.0], [1.0], [2.0], [3.5]])
Y = np.array([1.0, -1.0, 1.0, -1.0])


def test_every_cell_is_drawn_with_its_own_score() -> None:
    found = certified_map(classification(X, Y, kernel=rbf(1.0)), (0.2, 3.0), (0.3, 1.0), 0.05)
    axes = Figure().add_subplot()
    draw_cells(axes, found)
    (cells,) = axes.collections
    assert len(cells.get_paths()) == len(found)
    counts = [count_support_vectors(found.at(*cell.centre)) for cell in found.cells]
    assert np.asarray(cells.get_array()).tolist() == counts
    assert all(1 <= count <= 4 for count in counts)
    for cell, path in zip(found.cells, cells.get_paths(), strict=True):
        places = np.asarray(path.vertices)
        low, high = places.min(axis=0), places.max(axis=0)
        assert np.allclose([low[0], high[0]], cell.lambdas)
        assert np.allclose([low[1], high[1]], cell.gammas)
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert axes.get_xlim() == found.lambdas
    figure = axes.figure
    draw_cells(figure.add_subplot(), found, lambda solution: 1.0, "ones")
    assert figure.axes[-1].get_ylabel() == "ones"
