"""Selection of lambda and of the kernel on validation points.

All lambdas of a path are compared, not only its breakpoints.

>>> import numpy as np
>>> from equimargin.formulations import ranking, rbf
>>> from equimargin.solvers import regularization_path
>>> X = np.linspace(0, 1, 12)[:, None]
>>> y = np.sin(9 * X[:, 0])
>>> path = regularization_path(ranking(X[::2], y[::2], kernel=rbf(20.0)))
>>> chosen = best(path, X[1::2], y[1::2])
>>> chosen.metric, round(chosen.score, 3)
('pairwise_accuracy', 0.933)
"""

from equimargin.selection.along_path import (
    Curve,
    NoBreakpoint,
    NothingToChoose,
    SameEverywhere,
    SelectionResult,
    best,
    score_along,
    score_votes_along,
)
from equimargin.selection.costs import CostGrid, CostRow, cost_grid
from equimargin.selection.grids import (
    Fold,
    FoldPath,
    Grid,
    GridRow,
    grid,
    make_folds,
    votes_by_folds,
)
from equimargin.selection.roc import Frontier, roc_frontier

__all__ = [
    "CostGrid",
    "CostRow",
    "Curve",
    "Fold",
    "FoldPath",
    "Frontier",
    "Grid",
    "GridRow",
    "NoBreakpoint",
    "NothingToChoose",
    "SameEverywhere",
    "SelectionResult",
    "best",
    "cost_grid",
    "grid",
    "make_folds",
    "roc_frontier",
    "score_along",
    "score_votes_along",
    "votes_by_folds",
]
