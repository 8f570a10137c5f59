"""Problems of all families of a task on common data, from arrays or loaded data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.data import Data
from equimargin.data.tasks import infer_task, open_question
from equimargin.formulations import Kernel, MarginProblem, Problem, linear, ordinal
from equimargin.formulations.documents.ordered_thresholds import explicit
from equimargin.formulations.numeric.arguments import array
from equimargin.formulations.numeric.arrays import is_sparse
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.choices import LOSSES, LossName
from equimargin.formulations.problem.construct import (
    make_margin_problem,
    make_related_problems,
    make_task_problems,
    ranking_from_pairs,
)
from equimargin.request import ProblemOptions


def make_problems_from_arrays(X: Any, y: ArrayLike, **how: Unpack[ProblemOptions]) -> list[Problem]:
    """Make the problems of every family of a task.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : array-like of shape (m,)
        Labels, targets or relevances; of the two labels of a classification, numbers or
        text, the second in order becomes +1.
    **how : object
        Task, qid, C, kernel and epsilon, as in `ProblemOptions`.

    Returns
    -------
    list of Problem
        Problems of the task with hinge and squared hinge loss, for a classification
        also without an intercept, and the one-norm problems. With infinite cost only
        the hard margins.

    Raises
    ------
    ValueError
        If labels are of one class or of more than two, if the task of y is neither
        named nor clear, or as in the constructors of problems.
    """
    qid, C, kernel, labels = how.get("qid"), how.get("C", 1.0), how.get("kernel"), array(y, "y")
    task = how.get("task") or _inferred_task(labels, qid is not None)
    targets = _signs(labels) if task == "classification" else labels
    return make_task_problems(task, X, targets, C, kernel, epsilon=how.get("epsilon", 0.1), qid=qid)


def make_problems_from_data(
    data: Data,
    C: float = 1.0,
    kernel: Kernel | None = None,
    epsilon: float = 0.1,
    losses: Sequence[LossName] = LOSSES,
    **variant: Any,
) -> list[Problem]:
    """Make the problems of every family of a task from loaded rows or preferences.

    Parameters
    ----------
    data : Data
        Rows whose task is clear and is not ordinal regression.
    C, kernel, epsilon, losses, variant : object
        As in `make_task_problems`; `variant`, such as a bias, is not for preferences.

    Raises
    ------
    ValueError
        If `variant` is passed for preferences, or as in the constructors of problems.
    """
    if data.pairs is not None:
        first = make_margin_problem_from_data(data, C, kernel, epsilon, losses[0], **variant)
        return make_related_problems(first, losses)
    return make_task_problems(
        data.task, data.X, data.y, C, kernel, losses, epsilon, data.qid, **data.weights, **variant
    )


def make_margin_problem_from_data(
    data: Data,
    C: float = 1.0,
    kernel: Kernel | None = None,
    epsilon: float = 0.1,
    loss: LossName = "hinge",
    **variant: Any,
) -> MarginProblem:
    """Make the max-margin problem of a task from loaded rows or preferences.

    Parameters
    ----------
    data : Data
        Rows whose task is clear and is not ordinal regression.
    C, kernel, epsilon, loss, variant : object
        As in `make_margin_problem`; `variant`, such as a bias, is not for preferences.

    Raises
    ------
    ValueError
        As in `make_problems_from_data`.
    """
    if data.pairs is not None:
        if variant:
            raise ValueError(
                f"{data.name} has preferences, and a ranking by preferences has no "
                f"{' and no '.join(variant)}; leave it out"
            )
        return ranking_from_pairs(data.X, data.pairs, C, kernel, loss, data.pair_weight)
    return make_margin_problem(
        data.task, data.X, data.y, C, kernel, loss, epsilon, data.qid, **data.weights, **variant
    )


def make_ordinal_problems(
    X: Any,
    y: NDArray[np.int64],
    C: float = 1.0,
    kernel: Kernel | None = None,
    losses: Sequence[LossName] = LOSSES,
    weights: NDArray[np.float64] | None = None,
) -> list[AnyProblem]:
    """Make the problems of ordinal regression for points with levels.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : ndarray of shape (m,)
        Levels in {0, ..., L - 1}.
    C : float, default 1.0
        Cost of a unit of slack; inf for the hard margin.
    kernel : Kernel, optional
        Kernel, by default linear; ordered thresholds exist for a linear kernel only.
    losses : sequence of str, default LOSSES
        Losses of the problems.
    weights : ndarray of shape (m,), optional
        Factors of C; for a hard margin only zeros matter.

    Returns
    -------
    list of AnyProblem
        Problems.
    """
    # A hard margin has no weights: rows of weight 0 are removed, the others are hard.
    if np.isinf(C):
        kept = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        given = kernel is not None and kernel.given
        return [ordinal(X[np.ix_(kept, kept)] if given else X[kept], y[kept], C, kernel)]
    problems: list[AnyProblem] = [ordinal(X, y, C, kernel, loss, weights) for loss in losses]
    if (
        "hinge" in losses
        and kernel in (None, linear())
        and (weights is None or np.isfinite(weights).all())
    ):
        data = {"X": X.toarray() if is_sparse(X) else X, "y": y, "C": C}
        problems.insert(1, explicit(data | ({} if weights is None else {"weights": weights})))
    return problems


def _inferred_task(labels: NDArray[Any], has_queries: bool) -> str:
    """Return the inferred task of labels.

    Raises
    ------
    ValueError
        If the task is unclear.
    """
    try:
        task = infer_task(labels, has_queries)
    except ValueError as reason:
        raise ValueError(
            f"y {reason}; supply two classes, or name the task (task='regression')"
        ) from None
    levels = "`equimargin compare FILE --task ordinal`"
    question = open_question(labels, levels) if task == "regression" else ""
    if question:
        raise ValueError(
            f"y has {question} If they are numbers or relevances, name the task: "
            f"task='regression' or 'ranking'"
        )
    return task


def _signs(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return -1 for the first of the two labels, +1 for the second."""
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} different labels, and a comparison of classifications "
            f"takes two; keep two of them"
        )
    return np.where(labels == classes[1], 1.0, -1.0)
