"""The problems of all families of a task on the same data, for a `compare` that is given arrays instead of problems."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations import Kernel, Problem
from equimargin.formulations.numeric.arguments import array
from equimargin.formulations.problem.construct import problems_of


class HowToPose(TypedDict, total=False):
    """How arrays become problems.

    task : "classification", "regression" or "ranking"; by default ranking where there are queries, classification where y has two values,
        and regression elsewhere.
    qid : (m,) queries of a ranking.  C : cost of a unit of loss, 1 by default.  kernel : linear by default.
    epsilon : of a regression, 0.1 by default.
    """

    task: str | None
    qid: ArrayLike | None
    C: float
    kernel: Kernel | None
    epsilon: float


def families_of(X: Any, y: ArrayLike, **how: Unpack[HowToPose]) -> list[Problem]:
    """The problems of every family of a task.

    Parameters
    ----------
    X : (m, d) features.
    y : (m,) labels, targets or relevances; of the two labels of a classification, numbers or text, the second in order becomes +1.
    how : task, qid, C, kernel and epsilon, as `HowToPose` says.

    Returns
    -------
    The task's problems with the hinge and with its square, a classification without a bias, too, and the one-norm rankings. A cost of
    infinity leaves the hard margins alone.

    Raises
    ------
    ValueError : labels of one class, or of more than two; the rest as in the constructors of problems.
    """
    qid, C, kernel, labels = how.get("qid"), how.get("C", 1.0), how.get("kernel"), array(y, "y")
    task = how.get("task") or ("ranking" if qid is not None else "classification" if len(np.unique(labels)) == 2 else "regression")
    targets = _signs(labels) if task == "classification" else labels
    return problems_of(task, X, targets, C, kernel, epsilon=how.get("epsilon", 0.1), qid=qid)


def _signs(labels: NDArray[Any]) -> NDArray[np.float64]:
    """-1 for the first of the two labels, +1 for the second."""
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} different labels, and a comparison of classifications takes two; keep two of them")
    return np.where(labels == classes[1], 1.0, -1.0)
