"""Public constructors: they check data and settings, and return a canonical problem.

A problem has copies of labels, queries, pairs and weights. A dense X of float64 is
stored itself and not copied, because it may take most of the memory: it must not be
changed while the problem or a solution of it is in use. Values, intervals and
predictions are computed from it on demand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.kernels.chi2 import check_nonnegative
from equimargin.formulations.kernels.features import column_names
from equimargin.formulations.kernels.given_matrix import UnprovenShift, asymmetry, find_shift, scan
from equimargin.formulations.kernels.kernel import Intercept, Kernel, linear
from equimargin.formulations.kernels.registry import named_kernel
from equimargin.formulations.numeric.arguments import (
    array,
    check_choice,
    check_count,
    check_number,
    check_reals,
    check_weights,
    cost,
    finite_cost,
    format_value,
    one_of_these,
)
from equimargin.formulations.numeric.arrays import Array, Features, canonical, dense, is_sparse
from equimargin.formulations.problem.choices import (
    BIASES,
    CLASSIFICATION_LOSSES,
    LOSSES,
    TASKS,
    Bias,
    LossName,
)
from equimargin.formulations.problem.labels import numbers, queries, relevances
from equimargin.formulations.problem.limits import (
    check_float64_range,
    check_kernel_range,
    largest_entry,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.formulations.rows.loss import make_loss

MOST_ROWS = 10**9
"""Maximum points times thresholds of an ordinal regression.

A vector of as many floats takes 8 GB.
"""


def classification(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    bias: Bias = True,
    sample_weight: ArrayLike | None = None,
    delta: float | None = None,
) -> MarginProblem:
    """Make the problem of max-margin classification.

    The objective is min 1/2 |f|^2 + C sum_i weight_i loss(1 - y_i (f(x_i) + b)).

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, or (m, m) Gram matrix for `precomputed()`: an array, a sparse matrix,
        or a table, whose column names are stored. A float64 array is stored itself and
        not copied: do not change it while the problem or a solution of it is in use.
    y : array-like of shape (m,)
        Labels in {-1, +1}; a single class is accepted.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : {"hinge", "squared_hinge", "huberised_hinge"}, default "hinge"
        Loss; "huberised_hinge" requires a free bias and finite costs.
    bias : {True, False, "free", "none", "penalized"}, default True
        "free" or True, "none" or False, or "penalized": part of the norm, by the kernel
        k + 1 without a bias.
    sample_weight : array-like of shape (m,), optional
        Factors of C, in [0, inf].
    delta : float, optional
        Parameter of the huberised hinge, above 0: its parabola is on margins from 1 -
        delta to 1 + delta.

    Raises
    ------
    ValueError
        If labels are not -1 and +1, shapes or types do not fit, numbers are not finite
        or too large for float64, or C <= 0.

    References
    ----------
    Documents T (Yu and Kim), (6)-(7), (23)-(28), and K (Kuo, Lee and Lin), (2.3). T
    writes w.x - b, so that its b is minus the present one.
    """
    X, kernel, names = _features(X, kernel)
    labels = numbers(y, X.shape[0], "y")
    if not (np.abs(labels) == 1.0).all():
        raise ValueError("classification: every label must be -1 or +1; encode the two classes so")
    bias = _bias(bias, "classification", "penalized")
    shift = _shift(kernel, X)
    if bias == "penalized":
        kernel, bias = Intercept(kernel), False
    weights = _weights(sample_weight, len(labels), "sample_weight")
    rows, C = Signed(labels), cost(C)
    chosen = check_choice(loss, "loss", CLASSIFICATION_LOSSES)
    check_float64_range(rows, C, make_loss(chosen, delta), weights)
    return MarginProblem(
        X, kernel, rows, C, chosen, bool(bias), weights, delta, shift=shift, feature_names=names
    )


def regression(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    epsilon: float = 0.1,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    sample_weight: ArrayLike | None = None,
) -> MarginProblem:
    """Make the problem of epsilon-insensitive regression.

    The objective is min 1/2 |f|^2 + C sum_i weight_i loss(|y_i - f(x_i) - b| -
    epsilon).

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Targets.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    epsilon : float, default 0.1
        Half the width of the tube, >= 0, in the units of y.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss of a row.
    sample_weight : array-like of shape (m,), optional
        Factors of C, in [0, inf].

    Raises
    ------
    ValueError
        If epsilon is negative, shapes or types do not fit, numbers are not finite or
        too large for float64, or C <= 0.

    References
    ----------
    Document T (Yu and Kim), (57)-(73).
    """
    X, kernel, names = _features(X, kernel)
    targets = numbers(y, X.shape[0], "y")
    half_width = check_number(
        epsilon, "regression: epsilon", "finite and at least 0", lambda v: 0 <= v < np.inf
    )
    with np.errstate(over="ignore"):
        tube = Tube(targets, half_width)
    factors = _weights(sample_weight, len(targets), "sample_weight")
    weights = None if factors is None else np.tile(factors, 2)
    return _with_rows(X, kernel, names, tube, C, loss, True, weights)


def ranking(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    per_query: Literal["sum", "mean"] = "sum",
    query_weight: Mapping[Any, float] | None = None,
) -> MarginProblem:
    """Make the problem of RankSVM from relevance grades.

    The objective is min 1/2 |f|^2 + C sum over pairs (i preferred to j) of weight_ij
    loss(1 - f(x_i) + f(x_j)).

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Relevance grades, higher is better; integers of any size are distinguished.
    qid : array-like of shape (m,), optional
        Queries; pairs are within a query. Data without pairs are accepted.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss of a pair.
    per_query : {"sum", "mean"}, default "sum"
        "sum" of the losses of a query's pairs, or their "mean".
    query_weight : mapping of query to float, optional
        Factor of C of a query, in [0, inf]; 1 if absent.

    Raises
    ------
    ValueError
        If shapes or types do not fit, numbers are not finite or too large for float64,
        C <= 0, or a weight is negative.

    References
    ----------
    Documents T (Yu and Kim), (84)-(86); K (Kuo, Lee and Lin), (1.2), (2.4); P (Zapien
    et al.), (6), (8).
    """
    X, kernel, names = _features(X, kernel)
    rows, query_names = _pairs(X, y, qid)
    weights = _query_weights(rows, query_names, per_query, query_weight)
    return _with_rows(X, kernel, names, rows, C, loss, False, weights)


def ranking_from_pairs(
    X: Any,
    pairs: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    pair_weight: ArrayLike | None = None,
) -> MarginProblem:
    """Make the problem of RankSVM over explicit preferences.

    The objective is min 1/2 |f|^2 + C sum_r weight_r loss(1 - f(x_i(r)) + f(x_j(r))).

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    pairs : array-like of int of shape (p, 2)
        Point indices (preferred, other).
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss of a pair.
    pair_weight : array-like of shape (p,), optional
        Factors of C, in [0, inf], in the order of the pairs; 1 by default. A pair of
        weight 2 costs as much as if it were given twice.

    Raises
    ------
    ValueError
        If an index is outside 0 .. m - 1, a point is preferred to itself, or the number
        of weights differs or one is negative.

    References
    ----------
    Document P (Zapien et al.), (6), its set of preferences; document W (the
    encyclopedia's page on Ranking SVM), the application to clickthrough data, whose r'
    is a set of preferences.
    """
    X, kernel, names = _features(X, kernel)
    rows, weights = _listed(pairs, pair_weight, X.shape[0], "ranking_from_pairs")
    return _with_rows(X, kernel, names, rows, C, loss, False, weights)


def ordinal(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    sample_weight: ArrayLike | None = None,
    levels: int | None = None,
) -> MarginProblem:
    """Make the problem of ordinal regression with all thresholds.

    The objective is min 1/2 |f|^2 + C sum_ik weight_i loss(1 - s_ik (f(x_i) + b_k)),
    where s_ik is 1 if the level of point i is above k, and -1 otherwise. The thresholds
    of f are -b_k; at an optimum they are in order. With two levels the problem is a
    classification, and b is a number.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Levels, integers in {0, ..., L - 1}.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss of a row.
    sample_weight : array-like of shape (m,), optional
        Factors of C of the points, in [0, inf].
    levels : int, optional
        L; by default one more than the largest level.

    Returns
    -------
    MarginProblem
        Problem with L - 1 thresholds.

    Raises
    ------
    ValueError
        If a label is no level, or all labels are 0 without `levels`, and as in
        `classification`.

    References
    ----------
    W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML
    (2005), section 3.
    """
    X, kernel, names = _features(X, kernel)
    labels = numbers(y, X.shape[0], "y")
    if (
        (labels != np.floor(labels)).any()
        or labels.min() < 0
        or (levels is None and labels.max() < 1)
    ):
        raise ValueError(
            "y must hold levels, whole numbers from 0 on, and not only 0: with one level "
            "there is no threshold"
        )
    thresholds = int(labels.max()) if levels is None else check_count(levels, "levels") - 1
    if thresholds < max(labels.max(), 1.0):
        raise ValueError(
            f"levels must be at least 2 and above every level of y, not {levels}; the "
            f"largest level is {labels.max():g}"
        )
    if thresholds * len(labels) > MOST_ROWS:
        raise ValueError(
            f"{len(labels):,} points and {thresholds:g} thresholds make more than {MOST_ROWS:,} "
            f"rows; number the levels of y from 0 without gaps"
        )
    weights = _weights(sample_weight, len(labels), "sample_weight")
    return _with_rows(X, kernel, names, Levels(labels, thresholds), C, loss, True, weights)


def make_margin_problem(
    task: str,
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    loss: LossName = "hinge",
    epsilon: float = 0.1,
    qid: ArrayLike | None = None,
    **weights: Any,
) -> MarginProblem:
    """Make the margin problem of a task given by name.

    Parameters
    ----------
    task : {"classification", "regression", "ranking"}
        Name of the task, as inferred from data.
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Labels, targets or relevance grades.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    loss : str, default "hinge"
        Name of the loss.
    epsilon : float, default 0.1
        Half the width of the tube of a regression.
    qid : array-like of shape (m,), optional
        Queries of a ranking.
    **weights : keyword arguments
        sample_weight and bias, or per_query and query_weight, as the constructor of the
        task accepts them.

    Raises
    ------
    ValueError
        If the task is unknown, and as in its constructor.
    """
    check_choice(task, "task", TASKS)
    if task == "classification":
        return classification(X, y, C, kernel, loss, **weights)
    if task == "regression":
        return regression(X, y, C, epsilon, kernel, loss, **weights)
    return ranking(X, y, qid, C, kernel, loss, **weights)


def make_task_problems(
    task: str,
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    losses: Sequence[LossName] = LOSSES,
    epsilon: float = 0.1,
    qid: ArrayLike | None = None,
    **weights: Any,
) -> list[Problem]:
    """Make the problems of all families of a task.

    They are those of `make_related_problems`, for classification with a bias and
    without one. A bias that is passed applies to all problems.

    Parameters
    ----------
    task : {"classification", "regression", "ranking"}
        Name of the task.
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Labels, targets or relevance grades.
    C : float, default 1.0
        Cost per unit of loss, in (0, inf].
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    losses : sequence of str
        Losses of the margin problems; the one-norm problems, which have the hinge, are
        included if the hinge is.
    epsilon : float, default 0.1
        Half the width of the tube of a regression.
    qid : array-like of shape (m,), optional
        Queries of a ranking.
    **weights : keyword arguments
        As in `make_margin_problem`.

    Raises
    ------
    ValueError
        As in `make_margin_problem`.
    """
    first = make_margin_problem(task, X, y, C, kernel, losses[0], epsilon, qid, **weights)
    both = task == "classification" and "bias" not in weights
    return make_related_problems(first, losses, (True, False) if both else (first.bias,))


def make_related_problems(
    first: MarginProblem, losses: Sequence[LossName] = LOSSES, biases: Sequence[bool] = (False,)
) -> list[Problem]:
    """Make the problems of all families on the rows and costs of a margin problem.

    They are a margin problem for every loss and bias, and the one-norm problems unless
    `refuse_one_norm` has a reason against them. A hard margin, C = inf, has no loss, so
    that there is one problem instead of one per loss.

    Parameters
    ----------
    first : MarginProblem
        Problem with the first of the losses.
    losses : sequence of str
        Losses of the margin problems; the one-norm problems, which have the hinge, are
        included if the hinge is.
    biases : sequence of bool
        True for a free bias, False for none.

    Raises
    ------
    ValueError
        If the loss of f = 0 is too large for float64.
    """
    problems: list[Problem] = []
    # The rows are checked already; the range of each loss is not.
    for loss in losses if np.isfinite(first.C) else LOSSES[:1]:
        check_float64_range(first.rows, first.C, make_loss(loss), first.weights)
        problems += [replace(first, loss=loss, bias=bias) for bias in biases]
    if "hinge" not in losses or refuse_one_norm(first):
        return problems
    if isinstance(first.rows, Pairs):
        return [*problems, make_one_norm(first), make_one_norm(first, over="points")]
    return [*problems, *(make_one_norm(first, bias) for bias in biases)]


def refuse_one_norm(problem: MarginProblem) -> str:
    """Return the reason why no one-norm family has the rows and costs of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Margin problem.

    Returns
    -------
    str
        Reason, after "one-norm families have "; empty without one.
    """
    if not isinstance(problem.rows, Signed | Pairs):
        return "no tube and no thresholds"
    if isinstance(problem.kernel, Intercept):
        return "no penalised bias"
    if np.isinf(problem.C):
        return "no hard margin"
    if problem.weights is not None and np.isinf(problem.weights).any():
        return "no rows of infinite weight"
    return ""


def make_family_problem(
    family: str | None,
    task: str,
    X: Any,
    y: ArrayLike,
    kernel: Kernel | str | None = None,
    epsilon: float = 0.1,
    qid: ArrayLike | None = None,
    **weights: Any,
) -> Problem:
    """Make the problem of one family of a task with the hinge, at C = 1.

    Parameters
    ----------
    family : str or None
        Id, such as "svm.onenorm" or "rvm"; None for the margin problem with a bias.
    task : {"classification", "regression", "ranking"}
        Name of the task.
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Labels, targets or relevance grades.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    epsilon : float, default 0.1
        Half the width of the tube of a regression.
    qid : array-like of shape (m,), optional
        Queries of a ranking.
    **weights : keyword arguments
        As in `make_margin_problem`.

    Raises
    ------
    ValueError
        If the task has no such family with the hinge, and as in `make_margin_problem`.
    """
    first = make_margin_problem(task, X, y, 1.0, kernel, "hinge", epsilon, qid, **weights)
    return first if family is None else find_related_problem(family, first, task, "bias" in weights)


def find_related_problem(
    family: str, first: MarginProblem, task: str, bias_is_given: bool
) -> Problem:
    """Return the problem of a family on the rows and costs of a margin problem.

    Parameters
    ----------
    family : str
        Id of a family with the hinge.
    first : MarginProblem
        Problem with the hinge.
    task : str
        Task of the rows.
    bias_is_given : bool
        True if all problems have the bias of the first; otherwise those of a
        classification have a free one or none.

    Raises
    ------
    ValueError
        If there is no such family; the message has the reason.
    """
    both = task == "classification" and not bias_is_given
    related = make_related_problems(first, ("hinge",), (True, False) if both else (first.bias,))
    problems = {problem.family: problem for problem in related}
    if family not in problems:
        reason = refuse_one_norm(first)
        excluded = f"; one-norm families have {reason}" if reason else ""
        raise ValueError(
            f"a {task} with the hinge has no family {family!r}; choose "
            f"{one_of_these(list(problems))}{excluded}"
        )
    return problems[family]


def one_norm_classification(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    bias: bool = True,
    sample_weight: ArrayLike | None = None,
) -> OneNormProblem:
    """Make the problem of one-norm classification.

    The objective is min 1'x + C sum_i weight_i (1 - y_i (sum_j x_j y_j k(x_j, x_i) +
    b))_+ over x >= 0 and b.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Labels in {-1, +1}.
    C : float, default 1.0
        Cost per unit of loss, positive and finite.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    bias : {True, False, "free", "none"}, default True
        "free" or True, "none" or False.
    sample_weight : array-like of shape (m,), optional
        Factors of C, finite and at least 0.

    Raises
    ------
    ValueError
        If C or a weight is infinite, and as in `classification`.

    References
    ----------
    Document T (Yu and Kim), section 5.1 (no formula).
    O. L. Mangasarian, Generalized support vector machines (2000).
    """
    bias = _bias(bias, "one_norm_classification")
    problem = classification(X, y, finite_cost(C), kernel, bias=bias, sample_weight=sample_weight)
    return make_one_norm(problem, problem.bias)


def ranking_vector_machine(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    per_query: Literal["sum", "mean"] = "sum",
    query_weight: Mapping[Any, float] | None = None,
) -> OneNormProblem:
    """Make the problem of the ranking vector machine.

    The objective is min 1'beta + C sum over pairs weight_r (1 - (A K beta)_r)_+ over
    beta >= 0.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Relevance grades, as in `ranking`.
    qid : array-like of shape (m,), optional
        Queries; pairs are within a query.
    C : float, default 1.0
        Cost per unit of loss, positive and finite.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    per_query, query_weight : object
        As in `ranking`, but finite.

    Raises
    ------
    ValueError
        If C or a weight is infinite, and as in `ranking`.

    References
    ----------
    Documents T (Yu and Kim), (102)-(104), and K (Kuo, Lee and Lin), (2.10).
    """
    problem = ranking(
        X, y, qid, finite_cost(C), kernel, per_query=per_query, query_weight=query_weight
    )
    return make_one_norm(problem, over="points")


def one_norm_ranking(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    per_query: Literal["sum", "mean"] = "sum",
    query_weight: Mapping[Any, float] | None = None,
) -> OneNormProblem:
    """Make the problem of one-norm ranking, with one variable per pair.

    The objective is min 1'x + C sum over pairs weight_r (1 - (A K A' x)_r)_+ over x >=
    0.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    y : array-like of shape (m,)
        Relevance grades, as in `ranking`.
    qid : array-like of shape (m,), optional
        Queries; pairs are within a query.
    C : float, default 1.0
        Cost per unit of loss, positive and finite.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    per_query, query_weight : object
        As in `ranking`, but finite.

    Raises
    ------
    ValueError
        If C or a weight is infinite, and as in `ranking`.

    References
    ----------
    Document T (Yu and Kim), (94)-(96), with phi_ij = phi_i - phi_j.
    """
    problem = ranking(
        X, y, qid, finite_cost(C), kernel, per_query=per_query, query_weight=query_weight
    )
    return make_one_norm(problem)


def one_norm_ranking_from_pairs(
    X: Any,
    pairs: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | str | None = None,
    over: Literal["points", "pairs"] = "points",
    pair_weight: ArrayLike | None = None,
) -> OneNormProblem:
    """Make a one-norm ranking over explicit preferences, such as those of clicks.

    The objective is that of `ranking_vector_machine` if x belongs to points, and that
    of `one_norm_ranking` if it belongs to pairs.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, stored as in `classification`.
    pairs : array-like of int of shape (p, 2)
        Point indices (preferred, other).
    C : float, default 1.0
        Cost per unit of loss, positive and finite.
    kernel : Kernel or str, optional
        Kernel of f, or its name with default parameters; linear by default.
    over : {"points", "pairs"}, default "points"
        Index set of x.
    pair_weight : array-like of shape (p,), optional
        Factors of C, finite and at least 0, in the order of the pairs.

    Raises
    ------
    ValueError
        If C or a weight is infinite, and as in `ranking_from_pairs`.

    References
    ----------
    Documents T (Yu and Kim), (94)-(96) and (102)-(104), over the preferences r' of
    document W (the encyclopedia's page on Ranking SVM).
    """
    chosen = check_choice(over, "one_norm_ranking_from_pairs: over", ("points", "pairs"))
    problem = ranking_from_pairs(X, pairs, finite_cost(C), kernel, pair_weight=pair_weight)
    return make_one_norm(problem, over="points" if chosen == "points" else "rows")


def make_one_norm(
    problem: MarginProblem, bias: bool = False, over: Literal["rows", "points"] = "rows"
) -> OneNormProblem:
    """Make the one-norm problem of the rows and costs of a margin problem.

    Parameters
    ----------
    problem : MarginProblem
        Classification or ranking, with any loss.
    bias : bool, default False
        True for a free bias.
    over : {"rows", "points"}, default "rows"
        Index set of x; "points" for a ranking alone.

    Raises
    ------
    ValueError
        If a weight is infinite.
    """
    return OneNormProblem(
        problem.X,
        problem.kernel,
        cast(Pairs | Signed, problem.rows),
        problem.C,
        over,
        bias,
        problem.weights,
        feature_names=problem.feature_names,
    )


def _features(
    X: Any, given: Kernel | str | None
) -> tuple[Features, Kernel, tuple[str, ...] | None]:
    """Return X as float64, dense or CSR, the kernel, and the column names."""
    names = column_names(X)
    if is_sparse(X):
        X = X.tocsr()
        check_reals(X.data, "X")
        X = canonical(X.astype(np.float64))
    else:
        X = np.ascontiguousarray(check_reals(X, "X"))
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(
            f"X must have two dimensions and at least one row and one column; its shape is "
            f"{X.shape}"
        )
    # One pass finds NaN and infinite entries, an upper bound of max |X_ij|, and whether
    # a Gram matrix is symmetric. A kernel's name is read later: a default may need X.
    is_gram = isinstance(given, Kernel) and given.given and X.shape[0] == X.shape[1]
    square, difference = scan(X) if is_gram and not is_sparse(X) else (None, np.inf)
    largest = largest_entry(X, square)
    if not np.isfinite(largest):
        raise ValueError("X holds NaN or an infinite number; remove or replace such rows first")
    kernel = linear() if given is None else named_kernel(given, X, None, {})
    if kernel.nonnegative:
        check_nonnegative(X)
    if kernel.given:
        X = dense(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel needs the square Gram matrix; this one is "
                f"{X.shape[0]} x {X.shape[1]}"
            )
    check_kernel_range(X, kernel, largest)
    difference = asymmetry(X) if kernel.given and difference > 0 else 0.0
    if difference > 0:
        raise ValueError(
            f"the precomputed Gram matrix is not symmetric (largest difference "
            f"{difference:.3g}); pass (K + K.T) / 2 if that is meant"
        )
    return X, kernel, names


def _bias(bias: Any, where: str, *others: str) -> Any:
    """Return True for a free bias, False for none, or another accepted word."""
    if isinstance(bias, bool | np.bool_):
        return bool(bias)
    words = (*BIASES, *others)
    if not isinstance(bias, str) or bias not in words:
        raise ValueError(
            f"{where}: bias must be {', '.join(map(repr, words))}, True or False, not "
            f"{format_value(bias)}"
        )
    return BIASES.get(bias, bias)


def _pairs(X: Features, y: ArrayLike, qid: ArrayLike | None) -> tuple[LabelledPairs, NDArray[Any]]:
    """Return the pairs, and the names of the queries.

    A single unnamed query is called 0.
    """
    m = X.shape[0]
    relevance = relevances(y, m, "y")
    names, index = (np.zeros(1, dtype=np.int64), None) if qid is None else queries(qid, m)
    return LabelledPairs(relevance, index), names


def _listed(
    pairs: ArrayLike, pair_weight: ArrayLike | None, m: int, where: str
) -> tuple[Pairs, Array | None]:
    """Return explicit pairs of m points in lexicographic order, and their weights."""
    given = array(pairs, f"{where}: pairs")
    if given.size and (
        given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer)
    ):
        raise ValueError(
            f"{where}: pairs must be integers of shape (p, 2), (preferred, other); they are "
            f"{given.dtype} {given.shape}"
        )
    listed = given.astype(np.int64).reshape(-1, 2)
    if listed.size and not (listed.min() >= 0 and listed.max() < m):
        raise ValueError(f"{where}: every index must be in 0 .. {m - 1}")
    if (listed[:, 0] == listed[:, 1]).any():
        raise ValueError(f"{where}: a point cannot be preferred to itself")
    weights = _weights(pair_weight, len(listed), f"{where}: pair_weight")
    # Lexicographic: the last key of lexsort is the first one to sort by.
    order = np.lexsort((listed[:, 1], listed[:, 0]))
    return Pairs(listed[order, 0], listed[order, 1], m), None if weights is None else weights[order]


def _query_weights(
    rows: LabelledPairs,
    names: NDArray[Any],
    per_query: str,
    query_weight: Mapping[Any, float] | None,
) -> Array | None:
    """Return the weights of the pairs of every query, (queries,); None if all are 1."""
    mean = check_choice(per_query, "ranking: per_query", ("sum", "mean")) == "mean"
    if not mean and query_weight is None:
        return None
    weights = np.ones(rows.groups)
    if query_weight is not None:
        if not isinstance(query_weight, Mapping):
            raise ValueError(
                f"ranking: query_weight must map queries to factors of C, not be "
                f"{format_value(query_weight)}"
            )
        unknown = set(query_weight) - set(names.tolist())
        if unknown:
            raise ValueError(
                f"ranking: query_weight names queries that are not in qid: "
                f"{sorted(unknown, key=str)[:5]}"
            )
        weights = check_weights(
            [query_weight.get(name, 1.0) for name in names.tolist()],
            len(names),
            "ranking: the values of query_weight",
        )
    return weights / np.maximum(rows.pairs_of, 1) if mean else weights


def _weights(values: ArrayLike | None, m: int, name: str) -> Array | None:
    """Return the factors of C, (m,); None if all are 1."""
    return None if values is None else check_weights(values, m, name)


def _with_rows(
    X: Features,
    kernel: Kernel,
    names: tuple[str, ...] | None,
    rows: Pairs | Tube | Levels,
    C: object,
    loss: LossName,
    bias: bool,
    weights: Array | None,
) -> MarginProblem:
    """Return the problem of checked rows, with a loss that every task accepts."""
    c, chosen = cost(C), check_choice(loss, "loss", LOSSES)
    check_float64_range(rows, c, make_loss(chosen), weights)
    return MarginProblem(
        X, kernel, rows, c, chosen, bias, weights, shift=_shift(kernel, X), feature_names=names
    )


def _shift(kernel: Kernel, X: Features) -> float | UnprovenShift | None:
    return find_shift(X) if kernel.given else 0.0
