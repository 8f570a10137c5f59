"""Problems of all families of a task on common data, from arrays or loaded data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.data import Data
from equimargin.data.tasks import MAX_LEVELS, infer_task, open_question
from equimargin.data.words import format_label, listed
from equimargin.formulations import Kernel, MarginProblem, Problem, linear, ordinal
from equimargin.formulations.documents.coupling import wlw
from equimargin.formulations.documents.ordered_thresholds import explicit
from equimargin.formulations.field.multiclass import crammer_singer
from equimargin.formulations.numeric.arguments import array
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.choices import LOSSES, LossName
from equimargin.formulations.problem.class_pairs import restrict_to_pair
from equimargin.formulations.problem.construct import (
    make_margin_problem,
    make_related_problems,
    make_task_problems,
    ranking_from_pairs,
)
from equimargin.formulations.problem.labels import number_labels
from equimargin.request import ProblemOptions

MAX_LABEL_COLUMNS = 16
"""Maximum width of a class in the name of a pair, in columns; longer names are cut."""


def make_problems_from_arrays(
    X: Any, y: ArrayLike, **how: Unpack[ProblemOptions]
) -> list[AnyProblem]:
    """Make the problems of every family of a task.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : array-like of shape (m,)
        Labels, targets or relevances; of two labels of a classification, numbers or
        text, the second in order becomes +1.
    **how : object
        Task, qid, C, kernel and epsilon, as in `ProblemOptions`.

    Returns
    -------
    list of AnyProblem
        Problems of the task with hinge and squared hinge loss, for a classification
        also without an intercept, and the one-norm problems. With infinite cost only
        the hard margins. For more than two classes, as in `make_class_problems`.

    Raises
    ------
    ValueError
        If labels are of one class, if the task of y is neither named nor clear, or as
        in the constructors of problems.
    """
    qid, C, kernel, targets = how.get("qid"), how.get("C", 1.0), how.get("kernel"), array(y, "y")
    classes, codes = number_labels(targets, targets.size, "y")
    # Text is of one type from here on; a column of a data frame has type object.
    if len(classes) and isinstance(classes[0], str):
        targets = np.array(classes.tolist())[codes]
    task = how.get("task") or _inferred_task(targets, qid is not None)
    if task == "classification":
        if len(classes) < 2:
            raise ValueError(
                f"y has one class ({listed(classes.tolist())}), and a comparison of "
                f"classifications takes two or more; supply rows of another"
            )
        if len(classes) > 2:
            return make_class_problems(X, codes, tuple(classes.tolist()), C, kernel)
        targets = np.where(codes == 1, 1.0, -1.0)
    return [
        *make_task_problems(task, X, targets, C, kernel, epsilon=how.get("epsilon", 0.1), qid=qid)
    ]


def make_class_problems(
    X: Any,
    codes: NDArray[Any],
    classes: Sequence[Any],
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    losses: Sequence[LossName] = LOSSES,
    **variant: Any,
) -> list[AnyProblem]:
    """Make the problems of a classification into three classes or more.

    They are one-versus-one: for every pair of classes the problems of two classes, each
    on the points of the two. The family `crammer_singer`, on all points, is included if
    it has a problem of these options: without a kernel, weights or a choice of the
    bias, and with finite C.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    codes : ndarray of shape (m,)
        Classes of the points, as indices of `classes`.
    classes : sequence
        Names of the classes; a pair without points of both has no problem.
    C, kernel, losses, variant : object
        As in `make_task_problems`, with weights and a bias.

    Returns
    -------
    list of AnyProblem
        Problems by family, and within a family by pair of classes: (0, 1), (0, 2), ...,
        (1, 2), ...; the second of a pair has the label +1.

    Raises
    ------
    ValueError
        If there are more than 20 classes, or as in the constructors of problems.
    """
    wholes = make_task_problems(
        "classification", X, np.ones(len(codes)), C, kernel, losses, **variant
    )
    problems: list[AnyProblem] = [*split_by_classes(wholes, codes, classes)]
    plain = all(given is None for given in variant.values())
    if plain and "hinge" in losses and np.isfinite(C) and wholes[0].kernel == linear():
        points = dense(wholes[0].X)
        whole = np.unique(codes, return_inverse=True)[1].astype(np.float64)
        problems.append(crammer_singer({"X": points, "y": whole, "C": float(C)}))
    return problems


def make_coupling_problem(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | None = None,
    sample_weight: ArrayLike | None = None,
) -> AnyProblem:
    """Make the problem of coupling for the row whose class is the least certain.

    The pairs of classes are solved, also without held-out rows, for Platt's sigmoids.
    Of all rows, that with the least probability of its most probable class has the
    problem `coupling.wlw`.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : array-like of shape (m,)
        Labels of three classes or more.
    C, kernel, sample_weight : object
        As in `classification`.

    Returns
    -------
    AnyProblem
        Problem; its part is the row, from 0.

    Raises
    ------
    ValueError
        As in `MarginClassifier.fit`.
    """
    # Imported here: only these problems need scikit-learn.
    from equimargin.estimators import MarginClassifier
    from equimargin.solvers.probability.coupling import wlw as couple

    model = MarginClassifier(C=C, kernel=kernel or linear(), probability=True)
    r = model.fit(X, y, sample_weight).pairwise_proba(X)
    row = int(couple(r).max(axis=1).argmin())
    problem = wlw({"r": r[row]})
    problem.part = f"row {row}"
    return problem


def split_by_classes(
    wholes: Sequence[Problem], codes: NDArray[Any], classes: Sequence[Any]
) -> list[Problem]:
    """Return the parts of problems of all points for every pair of classes.

    Parameters
    ----------
    wholes : sequence of Problem
        Classifications of all points, whose labels do not matter.
    codes, classes : object
        As in `make_class_problems`.

    Returns
    -------
    list of Problem
        Parts, by problem and then by pair.

    Raises
    ------
    ValueError
        If there are more than 20 classes.
    """
    present = np.unique(codes).tolist()
    if len(present) > MAX_LEVELS:
        raise ValueError(
            f"the target has {len(present)} classes, and a one-versus-one classification takes "
            f"{MAX_LEVELS} at most, {MAX_LEVELS * (MAX_LEVELS - 1) // 2} pairs; keep "
            f"{MAX_LEVELS} of them"
        )
    pairs, names = [], _short_names(classes)
    for first, second in combinations(present, 2):
        part = f"{names[first]} vs {names[second]}"
        of_pair = [
            restrict_to_pair(whole, codes == first, codes == second, part) for whole in wholes
        ]
        # The problems of a pair share its features.
        pairs.append([replace(problem, X=of_pair[0].X) for problem in of_pair])
    return [problem for family in zip(*pairs, strict=True) for problem in family]


def _short_names(classes: Sequence[Any]) -> list[str]:
    """Return a different name of every class, on one line, cut with its number if long."""
    names = [" ".join(format_label(label).split()) for label in classes]
    room = MAX_LABEL_COLUMNS - len(f"~{len(names)}")
    return [
        name if len(name) <= MAX_LABEL_COLUMNS and names.count(name) == 1 else f"{name[:room]}~{at}"
        for at, name in enumerate(names, 1)
    ]


def make_problems_from_data(
    data: Data,
    C: float = 1.0,
    kernel: Kernel | None = None,
    epsilon: float = 0.1,
    losses: Sequence[LossName] = LOSSES,
    **variant: Any,
) -> list[AnyProblem]:
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
    if data.has_many_classes:
        return make_class_problems(
            data.X,
            data.y.astype(int),
            data.classes or (),
            C,
            kernel,
            losses,
            **data.weights,
            **variant,
        )
    if data.pairs is not None:
        first = make_margin_problem_from_data(data, C, kernel, epsilon, losses[0], **variant)
        return [*make_related_problems(first, losses)]
    given = {**data.weights, **variant}
    made = make_task_problems(
        data.task, data.X, data.y, C, kernel, losses, epsilon, data.qid, **given
    )
    return [*made]


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
        Kernel, by default linear; `ord.explicit` is included for a linear kernel only.
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
        data = {"X": dense(X), "y": y, "C": C}
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
    question = (
        open_question(labels, "task='classification'", levels) if task == "regression" else ""
    )
    if question:
        raise ValueError(
            f"y has {question} If they are numbers or relevances, name the task: "
            f"task='regression' or 'ranking'"
        )
    k = len(np.unique(labels)) if labels.dtype.kind in "iu" else 0
    # Many integers that repeat may still be classes, such as letters.
    if task == "regression" and MAX_LEVELS < k <= len(labels) / 2:
        warnings.warn(
            f"y has {k} distinct integers, which are taken as numbers of a regression; name the "
            f"task (task='regression' or 'classification')",
            UserWarning,
            stacklevel=2,
        )
    return task
