"""Selection along a path against rational arithmetic and brute force, and folds.

Folds keep queries whole and classes in their shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import ConvexHull

from equimargin.formulations import (
    MarginProblem,
    OneNormProblem,
    classification,
    linear,
    one_norm_classification,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.problem.construct import make_family_problem
from equimargin.metrics import (
    PerQuery,
    average_precision,
    kendall_tau,
    mean_ndcg,
    ndcg,
    pairwise_accuracy,
    precision,
    recall,
)
from equimargin.selection.along_path import Curve, NothingToChoose, best, score_along
from equimargin.selection.costs import cost_grid
from equimargin.selection.grids import grid, make_folds
from equimargin.selection.roc import Frontier, roc_frontier
from equimargin.solvers import OneNormPath, RegularizationPath, regularization_path, solve
from equimargin.solvers.path.result import Alphas

Array = NDArray[np.float64]


def path_of(problem: MarginProblem, lambdas: Any, G: Any, level: float = 0.0) -> RegularizationPath:
    """Return a path on which lambda f has given values G (T, n) at n points.

    The points are the rows of the identity.
    """
    lambdas, G = np.asarray(lambdas, dtype=float), np.asarray(G, dtype=float)
    T, zeros = len(lambdas), np.zeros(len(lambdas))
    nothing = Alphas.of(
        np.zeros(problem.p), np.zeros(T, np.int64), np.zeros(0, np.int64), zeros[:0]
    )
    none = np.zeros(0, np.int64)
    return RegularizationPath(
        problem,
        lambdas,
        nothing,
        betas=G,
        w=np.zeros((T, 0)),
        values_at_anchor=G[:, 0],
        level=level,
        gaps=zeros,
        midpoint_gaps=zeros[1:],
        margins=none,
        event_breakpoints=none,
        event_rows=none,
        event_kinds=none.astype(np.int8),
        stopped="given",
        complete=True,
        seconds=0.0,
    )


def problems(n: int, y: Any) -> dict[str, MarginProblem]:
    K = np.eye(n)
    return {
        "ranking": ranking(K, y, kernel=precomputed()),
        "classification": classification(
            K, np.where(np.asarray(y) > 0, 1, -1), kernel=precomputed()
        ),
        "regression": regression(K, y, kernel=precomputed(), epsilon=0.25),
    }


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[int], list[list[int]], list[int], list[int]]:
    """Draw breakpoints, values of lambda f there, labels and queries.

    They are small integers, so that lines meet, in points and at breakpoints.
    """
    n, T = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    lambdas = draw(st.lists(st.integers(1, 12), min_size=T, max_size=T, unique=True))
    G = draw(st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=T, max_size=T))
    y = [1, 0, *draw(st.lists(st.integers(-1, 2), min_size=n - 2, max_size=n - 2))]
    qid = [0, 0, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    return sorted(lambdas, reverse=True), G, y, qid


Line = tuple[Fraction, Fraction, list[Fraction], list[Fraction]]


def segments(lambdas: list[int], G: list[list[int]]) -> list[Line]:
    exact = [[Fraction(v) for v in g] for g in G]
    if len(lambdas) == 1:
        return [(Fraction(lambdas[0]), Fraction(lambdas[0]), exact[0], exact[0])]
    return [
        (Fraction(a), Fraction(b), ga, gb)
        for (a, ga), (b, gb) in pairwise(zip(lambdas, exact, strict=True))
    ]


def at(line: Line, lam: Fraction) -> list[Fraction]:
    """Return f at lambda."""
    a, b, ga, gb = line
    share = (a - lam) / (a - b) if a > b else Fraction(0)
    return [(u + share * (v - u)) / lam for u, v in zip(ga, gb, strict=True)]


def pieces(line: Line) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Return every interval in which no sign and no order of points changes.

    An entry is high, low and a lambda inside.
    """
    a, b, ga, gb = line
    cuts = {a, b}
    for u, v in [
        *zip(ga, gb, strict=True),
        *((ga[i] - ga[j], gb[i] - gb[j]) for i, j in combinations(range(len(ga)), 2)),
    ]:
        if u * v < 0:
            cuts.add(a + (b - a) * u / (u - v))
    edges = sorted(cuts, reverse=True)
    return (
        [(high, low, (high + low) / 2) for high, low in pairwise(edges)]
        if len(edges) > 1
        else [(a, a, a)]
    )


def right_pairs(f: list[Fraction], y: list[int], qid: list[int]) -> Fraction:
    pairs = [
        (i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j] and qid[i] == qid[j]
    ]
    return sum((Fraction((f[i] > f[j]) + (f[i] >= f[j]), 2) for i, j in pairs), Fraction(0)) / len(
        pairs
    )


def right_signs(f: list[Fraction], y: list[int]) -> Fraction:
    return Fraction(sum((v >= 0) == (label > 0) for v, label in zip(f, y, strict=True)), len(y))


def value_of(curve: Curve, lam: Fraction) -> set[float]:
    """Return the scores of the pieces that contain lambda."""
    knots = zip(
        curve.lambdas[::2].tolist(),
        curve.lambdas[1::2].tolist(),
        curve.scores[::2].tolist(),
        strict=True,
    )
    return {score for high, low, score in knots if low <= lam <= high}


@given(lines())
@example(([9, 6, 3], [[1, 2, 3], [0, 0, 0], [-1, -2, -3]], [1, 0, 2], [0, 0, 0]))
@example(([4, 2], [[0, 0, 1], [0, 0, 1]], [1, 0, 0], [0, 0, 0]))
def test_shares_are_those_of_rational_arithmetic_on_every_piece(data: Any) -> None:
    lambdas, G, y, qid = data
    some = problems(len(y), y)
    labels = [1 if label > 0 else -1 for label in y]
    shares: dict[str, Callable[[list[Fraction]], Fraction]] = {
        "pairwise_accuracy": lambda f: right_pairs(f, y, qid),
        "accuracy": lambda f: right_signs(f, labels),
    }
    for name, wanted in shares.items():
        path = path_of(
            some["ranking" if name == "pairwise_accuracy" else "classification"], lambdas, G
        )
        held_out = (np.eye(len(y)), y if name == "pairwise_accuracy" else labels, name, qid)
        curve, chosen = score_along(path, *held_out), best(path, *held_out)
        exact = [
            (high, low, wanted(at(line, middle)))
            for line in segments(lambdas, G)
            for high, low, middle in pieces(line)
        ]
        for high, low, score in exact:
            assert value_of(curve, (high + low) / 2) == {float(score)}
        top = max(score for *_, score in exact)
        assert chosen.score == float(top)
        runs = [[high, low] for high, low, score in exact if score == top]
        joined = [runs[0]]
        for high, low in runs[1:]:
            if joined[-1][1] == high:
                joined[-1][1] = low
            else:
                joined.append([high, low])
        high, low = max(joined, key=lambda run: np.log(float(run[0] / run[1])))
        assert np.log(chosen.interval[1] / chosen.interval[0]) == pytest.approx(
            np.log(float(high / low)), abs=1e-12
        )
        assert chosen.interval[0] <= chosen.lam <= chosen.interval[1]
        assert any(
            run[1] <= Fraction(chosen.lam) + Fraction(1, 10**9) and Fraction(chosen.lam) <= run[0]
            for run in joined
        )


def errors(f: Any, y: Any, name: str) -> float:
    r = np.asarray(y, dtype=float) - np.array([float(v) for v in f])
    if name == "mean_squared_error":
        return float(np.mean(r**2))
    return float(np.maximum(np.abs(r) - (0.25 if name == "epsilon_insensitive" else 0.0), 0).mean())


@given(
    lines(), st.sampled_from(["mean_squared_error", "mean_absolute_error", "epsilon_insensitive"])
)
def test_the_least_error_is_attained_and_none_is_less(data: Any, name: str) -> None:
    lambdas, G, y, _ = data
    path = path_of(problems(len(y), y)["regression"], lambdas, G)
    chosen, curve = best(path, np.eye(len(y)), y, name), score_along(path, np.eye(len(y)), y, name)
    least, attained = np.inf, np.inf
    for line in segments(lambdas, G):
        a, b, ga, gb = line
        candidates = [a + (b - a) * Fraction(k, 40) for k in range(41)]
        for shift in (-Fraction(1, 4), Fraction(0), Fraction(1, 4)):
            for u, v, label in zip(ga, gb, y, strict=True):  # where f is label + shift
                low, high = u - a * (label + shift), v - b * (label + shift)
                if low * high < 0:
                    candidates.append(a + (b - a) * low / (low - high))
        least = min([least] + [errors(at(line, lam), y, name) for lam in candidates])
        if b <= chosen.lam <= a:
            attained = min(
                attained, abs(errors(at(line, Fraction(chosen.lam)), y, name) - chosen.score)
            )
    assert chosen.score <= least + 1e-12
    assert attained <= 1e-9
    assert chosen == curve.best
    if name != "mean_squared_error":
        assert chosen.score == pytest.approx(least, abs=1e-12)


def test_lines_that_meet_in_one_point_have_no_orders_in_between() -> None:
    """Rounding puts the crossings of all pairs next to each other, in any order."""
    rng = np.random.default_rng(1)
    slopes, y = rng.normal(size=12), rng.permutation(12)
    path = path_of(problems(12, y)["ranking"], [0.9, 0.2], [0.3 * slopes, -0.7 * slopes])
    curve, start = score_along(path, np.eye(12), y), pairwise_accuracy(y, slopes).mean
    assert curve.scores.tolist() == pytest.approx([start, start, 1 - start, 1 - start])
    assert curve.best.score == max(curve.scores)


def test_points_that_are_the_same_are_tied_at_every_lambda() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(25, 3)), rng.integers(0, 3, 25)
    path = regularization_path(ranking(X, y, kernel=rbf(0.7)))
    twice = np.repeat(rng.normal(size=(1, 3)), 7, axis=0)
    assert set(score_along(path, twice, [0, 1, 2, 0, 1, 2, 3]).scores.tolist()) == {0.5}


@pytest.mark.parametrize("seed", range(40))
def test_points_that_rounding_alone_tells_apart_are_tied(seed: int) -> None:
    """With symmetric points and few dimensions, f is equal at different points."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (14, 2)).astype(float)
    V = (
        np.concatenate([X, -X, X[:, ::-1]])
        if seed % 2
        else rng.integers(-2, 3, (20, 2)).astype(float)
    )
    y, judged = (
        np.where(rng.normal(size=14) + X[:, 0] > 0, 1.0, -1.0),
        rng.integers(0, 2, len(V)).astype(float),
    )
    y[:2] = -1, 1
    for problem in (
        classification(X, y, kernel=[linear(), rbf(10.0), polynomial(2)][seed % 3]),
        ranking(X, y),
    ):
        path = regularization_path(problem)
        if not (path.lambdas > 0).any():
            continue
        chosen = best(path, V, judged, "pairwise_accuracy")
        f = path.decision_function(V, chosen.lam)
        D = np.subtract.outer(f[judged > 0], f[judged == 0])
        D[np.abs(D) <= 1e-11 * np.abs(f).max()] = 0
        assert chosen.score == pytest.approx(((D > 0) + (D == 0) / 2).mean(), abs=1e-12)


def test_rounding_is_no_sign() -> None:
    """Half of the points are on the line f = 0 up to rounding, on either side of it."""
    noise = np.array([1e-17, -1e-17, 3e-17, -2e-17])
    path = path_of(
        problems(6, [1, 0, 1, 0, 1, 0])["classification"],
        [2, 1],
        [[*noise, 1.0, -1.0], [*-noise, 1.5, -1.5]],
    )
    assert set(score_along(path, np.eye(6), [1, -1, 1, -1, 1, -1]).scores.tolist()) == {4 / 6}


def samples(task: str) -> tuple[MarginProblem, Any, Any, Any]:
    """Return a problem, validation points, their labels and queries."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.4 * rng.normal(size=60)
    qid = np.arange(60) % 3
    a, b = slice(0, 30), slice(30, 60)
    if task == "ranking":
        return ranking(X[a], np.round(y[a]), qid[a], kernel=rbf(1.0)), X[b], np.round(y[b]), qid[b]
    if task == "classification":
        label = np.where(y > 0.7, 1.0, -1.0)
        return classification(X[a], label[a], kernel=rbf(1.0)), X[b], label[b], None
    return regression(X[a], y[a], kernel=rbf(1.0), epsilon=0.2), X[b], y[b], None


RANKED: dict[str, Callable[..., float]] = {
    "mean_ndcg": lambda y, f, qid: mean_ndcg(y, f, qid).mean,
    "ndcg@3": lambda y, f, qid: ndcg(y, f, qid, k=3).mean,
    "average_precision": lambda y, f, qid: average_precision(y, f, qid).mean,
    "precision@1": lambda y, f, qid: precision(y, f, qid, k=1).mean,
    "recall@2": lambda y, f, qid: recall(y, f, qid, k=2).mean,
    "kendall_tau": lambda y, f, qid: kendall_tau(y, f, qid).mean,
}


@given(lines(), st.sampled_from(list(RANKED)))
@example(([9, 6, 3], [[1, 2, 3], [0, 0, 0], [-1, -2, -3]], [1, 0, 2], [0, 0, 0]), "mean_ndcg")
@example(([4, 2], [[0, 0, 1], [0, 0, 1]], [1, 0, 0], [0, 0, 0]), "average_precision")
def test_metrics_of_rankings_are_those_of_the_exact_order_on_every_piece(
    data: Any, name: str
) -> None:
    lambdas, G, labels, qid = data
    y = np.maximum(labels, 0)
    path = path_of(problems(len(y), y)["ranking"], lambdas, G)
    curve = score_along(path, np.eye(len(y)), y, name, qid)
    for line in segments(lambdas, G):
        for high, low, middle in pieces(line):
            f = at(line, middle)
            order = np.unique(np.array(f, dtype=object), return_inverse=True)[1].astype(float)
            found = value_of(curve, (high + low) / 2)
            assert found
            np.testing.assert_allclose(list(found), RANKED[name](y, order, qid), atol=1e-12)


def test_a_metric_of_rankings_may_be_any_function() -> None:
    problem, X, y, qid = samples("ranking")
    y, path = np.maximum(y, 0), regularization_path(problem)

    def first(y: Any, f: Any, qid: Any = None) -> PerQuery:
        return ndcg(y, f, qid, k=1, gain="linear")

    for name in ("first", "pairwise_accuracy"):
        first.__name__ = name
        chosen = best(path, X, y, first, qid)
        assert chosen.metric == name
        assert chosen.score == pytest.approx(
            first(y, path.at(chosen.lam).decision_function(X), qid).mean, abs=1e-12
        )
    for metric, message in (
        ("ndcg@0", "k must be a whole number"),
        ("kendall_tau@3", "does not apply to a rank.l1 problem: choose one of auto,"),
    ):
        with pytest.raises(ValueError, match=message):
            best(path, X, y, metric, qid)
    with pytest.raises(ValueError, match="recall is undefined in every query"):
        best(path, X, np.zeros(len(X)), "recall", qid)


def test_a_function_with_the_name_of_a_metric_is_not_taken_for_it() -> None:
    def accuracy(y: Any, f: Any, qid: Any = None) -> PerQuery:
        return ndcg(y, f, qid, k=1, gain="linear")

    X = np.arange(6.0)[:, None]
    path = regularization_path(classification(X, [-1, 1, -1, 1, -1, 1]))
    with pytest.raises(ValueError, match=r"the function 'accuracy' does not apply to a svm\.soft"):
        best(path, X, [-1, 1, -1, 1, -1, 1], accuracy)


def score(metric: str, y: Array, f: Array, qid: Any) -> float:
    if metric == "pairwise_accuracy":
        return pairwise_accuracy(y, f, qid).mean
    if metric in RANKED:
        return RANKED[metric](y, f, qid)
    return float(np.mean((f >= 0) == (y > 0))) if metric == "accuracy" else errors(f, y, metric)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("ranking", "pairwise_accuracy"),
        ("ranking", "mean_ndcg"),
        ("ranking", "ndcg@3"),
        ("ranking", "average_precision"),
        ("ranking", "kendall_tau"),
        ("ranking", "recall@2"),
        ("classification", "accuracy"),
        ("classification", "pairwise_accuracy"),
        ("regression", "mean_squared_error"),
        ("regression", "mean_absolute_error"),
    ],
)
def test_no_lambda_of_a_fine_grid_is_better(task: str, metric: str) -> None:
    problem, X, y, qid = samples(task)
    y = np.maximum(y, 0) if metric in RANKED else y
    path = regularization_path(problem)
    chosen, curve = best(path, X, y, metric, qid), score_along(path, X, y, metric, qid)
    lams = np.geomspace(path.lambdas[path.lambdas > 0][-1], path.lambdas[0], 1500)[1:-1]
    scores = np.array([score(metric, y, f, qid) for f in path.decision_function(X, lams)])
    sign = 1 if chosen.larger_is_better else -1
    assert sign * chosen.score >= (sign * scores).max() - 1e-12
    assert score(metric, y, path.at(chosen.lam).decision_function(X), qid) == pytest.approx(
        chosen.score, abs=1e-9
    )
    drawn = np.interp(lams, curve.lambdas[::-1], curve.scores[::-1])
    np.testing.assert_allclose(drawn, scores, atol=1e-12 if chosen.larger_is_better else 0.01)


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("ranking", "pairwise_accuracy"),
        ("classification", "accuracy"),
        ("regression", "mean_squared_error"),
    ],
)
def test_every_task_has_its_metric(task: str, metric: str) -> None:
    problem, X, y, qid = samples(task)
    assert best(regularization_path(problem), X, y, qid=qid).metric == metric


def test_one_class_can_be_classified_but_not_ordered() -> None:
    problem, X, y, _ = samples("classification")
    path = regularization_path(problem)
    chosen = best(path, X, np.ones_like(y))
    assert chosen.score == np.mean(path.predict(X, chosen.lam) == 1) > 0.5
    with pytest.raises(ValueError, match="no pair"):
        best(path, X, np.ones_like(y), "pairwise_accuracy")


def test_what_cannot_be_chosen_from_is_a_sentence() -> None:
    problem, X, y, _ = samples("classification")
    path = regularization_path(problem)
    with pytest.raises(
        ValueError,
        match=r"to a svm\.soft problem: choose one of auto, accuracy, pairwise_accuracy",
    ):
        best(path, X, y, "mean_squared_error")
    with pytest.raises(ValueError, match="labels -1 and"):
        best(path, X, y + 0.5)
    with pytest.raises(ValueError, match="no validation point"):
        best(path, X[:0], [])
    with pytest.raises(ValueError, match=r"shape \(29, 2\), .* not \(30, 2\)"):
        best(path, X, y[1:])
    with pytest.raises(ValueError, match=r"shape \(30, 2\), .* not \(30, 1\)"):
        best(path, X[:, :1], y)
    with pytest.raises(ValueError, match="not finite"):
        best(path, X * np.nan, y)
    with pytest.raises(NothingToChoose, match="no lambda to choose"):
        best(regularization_path(classification(X, np.ones(30))), X, y)
    for arguments, words in (
        ({"folds": 1}, "2 folds or more"),
        ({"folds": 2.5}, "a whole number of folds"),
        ({"folds": "3"}, "a whole number of folds"),
        ({"kernels": ["rbf"]}, "'rbf' is no kernel"),
        ({"kernels": "rbf"}, "'r' is no kernel"),
        ({"folds": 20}, "points of the smallest class, too few for 20 folds"),
        ({"task": "ordering"}, "not 'ordering'"),
        ({"kernels": []}, "kernels must not be empty"),
        ({"task": "ranking", "qid": np.arange(30) % 4}, "4 queries, too few for 5 folds"),
        ({"task": "ranking", "qid": np.zeros(30)}, "^there is 1 query, too few for 5 folds"),
    ):
        with pytest.raises(ValueError, match=words):
            grid(X, y, **arguments)


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_no_points_cannot_be_folded(task: Any) -> None:
    empties: tuple[Any, ...] = (np.zeros((0, 2)), [], sparse.csr_array((0, 2)))
    for empty in empties:
        with pytest.raises(ValueError, match="needs points"):
            grid(empty, [], task=task)


def test_folds_keep_queries_whole_and_classes_in_their_shares() -> None:
    query = np.random.default_rng(0).integers(0, 9, 60)
    parts = make_folds(np.arange(60.0), query, "ranking", 4, 0)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([part.validation for part in parts])), np.arange(60)
    )
    for part in parts:
        assert not set(query[part.training]) & set(query[part.validation])
        assert len(part.training) + len(part.validation) == 60
    y = np.where(np.arange(60) < 20, 1.0, -1.0)
    for part in make_folds(y, None, "classification", 4, 0):
        assert (y[part.validation] > 0).sum() == 5
    again = make_folds(y, None, "classification", 4, 0)
    assert all(
        (a.validation == b.validation).all()
        for a, b in zip(make_folds(y, None, "classification", 4, 0), again, strict=True)
    )
    assert any(
        (a.validation != b.validation).any()
        for a, b in zip(make_folds(y, None, "classification", 4, 1), again, strict=True)
    )


def test_the_seed_shuffles_queries() -> None:
    query = np.repeat(np.arange(12), 5)
    first, again, other = (
        make_folds(np.arange(60.0), query, "ranking", 4, seed) for seed in (0, 0, 1)
    )
    assert [part.validation.tolist() for part in first] == [
        part.validation.tolist() for part in again
    ]
    assert [part.validation.tolist() for part in first] != [
        part.validation.tolist() for part in other
    ]


def test_folds_that_are_none_are_refused() -> None:
    y, query = np.arange(6.0), np.repeat([7, 8, 9], 2)
    halves = [(np.arange(3), np.arange(3, 6))]
    wrong: tuple[tuple[Any, str], ...] = (
        ([], "needs folds, and there are none"),
        ([([0, 1], [])], "fold 1 must both learn from rows and hold rows out"),
        ([([0], [1]), ([2, 6], [1])], "folds are of rows 0 to 5: index 6"),
        ([([0.5], [1])], "folds are of rows 0 to 5"),
        ([([0], [1]), ([2, 3], [3])], "fold 2 learns from row 3 and holds it out, too"),
    )
    for folds, words in wrong:
        with pytest.raises(ValueError, match=words):
            make_folds(y, None, "regression", folds)
    assert [fold.validation.tolist() for fold in make_folds(y, None, "ranking", halves)] == [
        [3, 4, 5]
    ]
    with pytest.raises(ValueError, match="fold 1 learns from query 8 and holds it out, too"):
        make_folds(y, query, "ranking", halves)


def test_a_query_in_two_folds_is_judged_in_each() -> None:
    problem, _, _, _ = samples("ranking")
    X, y = problem.X, problem.rows.y
    qid = np.arange(len(y)) % 2
    twice = [(np.flatnonzero(qid == 0), np.flatnonzero(qid == 1))] * 2
    once = grid(X, y, task="ranking", qid=qid, folds=twice[:1]).best.selected
    assert grid(X, y, task="ranking", qid=qid, folds=twice).best.selected == once


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array])
def test_a_sparse_gram_matrix_is_chosen_from_as_a_dense_one(form: Any) -> None:
    _, X, y, _ = samples("classification")
    K = X @ X.T
    found, wanted = (grid(each, y, [precomputed()], folds=2).best.selected for each in (form(K), K))
    assert found == wanted


@pytest.mark.parametrize("task", ["ranking", "classification", "regression"])
def test_a_grid_scores_every_point_by_the_path_that_did_not_see_it(task: str) -> None:
    problem, _, _, _ = samples(task)
    X, y = problem.X, problem.rows.y
    qid = problem.rows.query if task == "ranking" else None  # type: ignore[attr-defined]
    kernels = [rbf(0.3), rbf(3.0), linear()]
    with joblib.parallel_config(backend="threading"):
        found = grid(
            X,
            y,
            kernels,
            task,  # type: ignore[arg-type]
            qid,
            folds=3,
            lambda_min=1e-2,
            epsilon=0.2,
            n_jobs=2,
        )
    sign = 1 if found.best.selected.larger_is_better else -1
    assert sign * found.best.selected.score == max(sign * row.selected.score for row in found.rows)
    assert [row.kernel for row in found.rows] == kernels
    assert str(found).count("<- best") == 1
    for row in found.rows:
        curve, paths = row.curve, []
        parts = make_folds(y, qid, task, 3)  # type: ignore[arg-type]
        for part in parts:
            X_, y_ = X[part.training], y[part.training]
            if task == "ranking":
                p = ranking(X_, y_, qid[part.training], kernel=row.kernel)  # type: ignore[index]
            else:
                p = (
                    classification(X_, y_, kernel=row.kernel)
                    if task == "classification"
                    else regression(X_, y_, 1.0, 0.2, row.kernel)
                )
            paths.append(regularization_path(p, 1e-2))
        assert [fold.breakpoints for fold in row.folds] == [len(path) for path in paths]
        groups = np.zeros(len(y), dtype=int)
        for k, part in enumerate(parts):
            groups[part.validation] = k
        # The first lambda is at least those of the other folds, too.
        assert curve.lambdas[0] == max(path.lambdas[0] for path in paths)
        for lam in [
            *np.geomspace(0.999 * curve.lambdas[0], 1.001 * curve.lambdas[-1], 15).tolist(),
            row.selected.lam,
        ]:
            f = np.zeros(len(y))
            for path, part in zip(paths, parts, strict=True):
                f[part.validation] = path.at(lam).decision_function(X[part.validation])
            wanted = score(row.selected.metric, y, f, groups if qid is None else qid)
            drawn = np.interp(lam, curve.lambdas[::-1], curve.scores[::-1])
            assert drawn == pytest.approx(wanted, abs=1e-3 if task == "regression" else 1e-12)
        assert row.selected.score == pytest.approx(wanted, abs=1e-9)


def test_a_precomputed_kernel_is_cut_intofolds_of() -> None:
    problem, _, _, _ = samples("classification")
    plain = grid(problem.X, problem.rows.y, [rbf(1.0)], folds=3).best.selected
    gram = grid(problem.gram.dense, problem.rows.y, [precomputed()], folds=3).best.selected
    assert (gram.score, gram.metric) == (plain.score, plain.metric)
    assert gram.lam == pytest.approx(plain.lam, rel=1e-6)


@pytest.mark.parametrize("metric", ["mean_ndcg", "pairwise_accuracy"])
def test_a_grid_of_costs_scores_the_squared_hinge_on_whole_queries(metric: str) -> None:
    rng = np.random.default_rng(5)
    X, qid = rng.normal(size=(40, 3)), np.repeat(np.arange(8), 5)
    y = np.clip(np.round(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=40)), 0, 2)
    kernels, costs = [linear(), rbf(0.5)], [10.0, 0.1]
    found = cost_grid(X, y, kernels, costs, "ranking", qid, metric, folds=4, tol=1e-9)
    assert [(row.kernel, row.C) for row in found.rows] == [
        (kernel, C) for kernel in kernels for C in (0.1, 10.0)
    ]
    parts = make_folds(y, qid, "ranking", 4)
    assert all(not set(qid[part.training]) & set(qid[part.validation]) for part in parts)
    for row in found.rows:
        f = np.empty(40)
        for train, test in parts:
            problem = ranking(X[train], y[train], qid[train], row.C, row.kernel, "squared_hinge")
            f[test] = solve(problem, tol=1e-9).decision_function(X[test])
        measured = (
            RANKED[metric](y, f, qid) if metric in RANKED else pairwise_accuracy(y, f, qid).mean
        )
        assert row.score == pytest.approx(measured, abs=1e-12)
        assert row.within <= 1e-9
    assert found.best.score == max(row.score for row in found.rows)
    assert str(found).count("<- best") == 1


@pytest.mark.parametrize(
    ("task", "metric", "larger"),
    [("classification", "accuracy", True), ("regression", "mean_squared_error", False)],
)
def test_a_grid_of_costs_is_for_every_task(task: Any, metric: str, larger: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    found = cost_grid(
        X,
        np.sign(y) if task == "classification" else y,
        costs=[1e-6, 1.0],
        task=task,
        folds=3,
        loss="hinge",
    )
    assert (found.metric, found.larger_is_better, found.best.C) == (metric, larger, 1.0)


def test_a_grid_of_no_costs_is_a_sentence() -> None:
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="costs must not be empty"):
        cost_grid(X, y, costs=[], folds=2)
    with pytest.raises(ValueError, match="C must be a positive finite number, not inf"):
        cost_grid(X, y, costs=[np.inf], folds=2)


def test_an_undefined_score_is_never_the_best() -> None:
    """A lambda with constant f on every query has no Kendall's tau."""
    y, qid = np.arange(12) % 3, np.repeat([0, 1, 2], 4)
    path = regularization_path(ranking(np.c_[np.arange(12.0), np.arange(12) * 7 % 5], y, qid))
    with pytest.raises(NothingToChoose, match="kendall_tau is undefined at every lambda"):
        best(path, np.ones((12, 2)), y, "kendall_tau", qid=qid)
    # f constant, or in the wrong order; then constant; then better
    for first in ([0.0, 0.0, 0.0], [3.0, 2.0, 1.0]):
        partly = path_of(
            ranking(np.eye(3), [0, 1, 2], kernel=precomputed()),
            [4.0, 3.0, 2.0, 1.0],
            [first, [0, 0, 0], [0, 0, 0], [0, 1, 2]],
        )
        assert np.isnan(score_along(partly, np.eye(3), [0, 1, 2], "kendall_tau").scores).any()
        found = best(partly, np.eye(3), [0, 1, 2], "kendall_tau")
        assert (found.score, found.interval) == (1.0, (1.0, 2.0))


def test_an_undefined_score_of_a_grid_of_costs_is_said() -> None:
    X, y, qid = (
        np.c_[np.arange(12.0), np.arange(12) * 7 % 5],
        np.arange(12) % 3,
        np.repeat([0, 1, 2], 4),
    )
    with pytest.raises(ValueError, match="kendall_tau is undefined at every kernel and cost"):
        cost_grid(X * 0, y, qid=qid, folds=3, costs=[0.1, 1.0], metric="kendall_tau")
    far_apart = rbf(1e300)  # its f is 0 at every new point
    found = cost_grid(X, y, [far_apart, linear()], [1.0], qid=qid, folds=3, metric="kendall_tau")
    assert found.best.kernel == linear()
    constant, sensible = str(found).splitlines()[1:]
    assert constant.endswith("undefined")
    assert sensible.endswith("<- best")


@pytest.mark.parametrize("function", [grid, cost_grid])
def test_an_unknown_option_of_a_grid_is_refused(function: Any) -> None:
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(
        TypeError,
        match=f"{function.__name__} has no argument 'random_sate'; did you mean random_state",
    ):
        function(X, y, task="ranking", folds=2, random_sate=3)
    with pytest.raises(ValueError, match=f"{function.__name__}: kernels must not be empty"):
        function(X, y, [], task="ranking", folds=2)


def test_a_metric_that_is_none_is_a_sentence() -> None:
    path = regularization_path(ranking(np.eye(3), [0, 1, 2]))
    no_metrics: list[Any] = [3, None]
    for wrong in no_metrics:
        with pytest.raises(ValueError, match=f"metric must be a name or a function, not {wrong}"):
            best(path, np.eye(3), [0, 1, 2], wrong)

    def share(y: Any, f: Any, qid: Any) -> Any:
        return 0.5

    with pytest.raises(
        ValueError, match=r"the metric share must return an equimargin.metrics.PerQuery, not 0.5"
    ):
        best(path, np.eye(3), [0, 1, 2], share)


ONE_NORM = st.sampled_from(["rvm", "rank.onenorm", "svm.onenorm", "svm.nobias_onenorm"])


def one_norm(family: str, X: Array, y: Array, query: NDArray[np.int64]) -> OneNormProblem:
    """Return a one-norm problem of the family with an RBF kernel."""
    if family.startswith("svm"):
        return one_norm_classification(
            X, np.where(y > 0, 1.0, -1.0), kernel=rbf(0.7), bias=family == "svm.onenorm"
        )
    return (ranking_vector_machine if family == "rvm" else one_norm_ranking)(
        X, y, query, kernel=rbf(0.7)
    )


@given(
    seed=st.integers(0, 2**16),
    family=ONE_NORM,
    metric=st.sampled_from(["pairwise_accuracy", "ndcg@3", "average_precision", "accuracy"]),
)
def test_the_best_of_constant_pieces_is_that_of_brute_force(
    seed: int, family: str, metric: str
) -> None:
    rng = np.random.default_rng(seed)
    X, y, query = rng.normal(size=(14, 2)), rng.integers(0, 3, 14).astype(float), np.arange(14) % 2
    X_new, y_new, query_new = rng.normal(size=(12, 2)), np.arange(12) % 3 * 1.0, np.arange(12) // 6
    path = regularization_path(one_norm(family, X, y, query), 1e-3)
    if family.startswith("svm"):
        metric, y_new = (
            "accuracy" if "@" in metric or "precision" in metric else metric,
            np.where(y_new > 0, 1.0, -1.0),
        )
    elif metric == "accuracy":
        metric = "pairwise_accuracy"
    judges: dict[str, Callable[..., PerQuery]] = {
        "ndcg@3": partial(ndcg, k=3),
        "average_precision": average_precision,
    }
    judge = judges.get(metric, pairwise_accuracy)
    scores = []
    for low, high in zip(path.lambdas[1:].tolist(), path.lambdas[:-1].tolist(), strict=True):
        if high - low <= 1e-9 * high:
            continue
        f = path.decision_function(X_new, (low + high) / 2)
        at_once = judge(y_new, np.round(f, 10), query_new) if metric != "accuracy" else None
        scores.append(float(np.mean((f >= 0) == (y_new > 0))) if at_once is None else at_once.mean)
    if not scores:
        with pytest.raises(NothingToChoose):
            best(path, X_new, y_new, metric, query_new)
        return
    found = best(path, X_new, y_new, metric, query_new)
    assert found.score == pytest.approx(max(scores), abs=1e-12)
    low, high = found.interval
    assert path.lambdas[-1] <= low <= found.lam <= high <= path.lambdas[0]


def test_a_grid_follows_the_family_that_is_asked_for() -> None:
    rng = np.random.default_rng(4)
    X, query = rng.normal(size=(30, 3)), np.repeat(np.arange(6), 5)
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=30), [-0.5, 0.5]).astype(float)
    row = grid(X, y, [rbf(0.5)], "ranking", query, "pairwise_accuracy", 3, family="rvm").best
    parts = make_folds(y, query, "ranking", 3)
    right = pairs = 0.0
    for training, held_out in parts:
        path = regularization_path(
            ranking_vector_machine(X[training], y[training], query[training], kernel=rbf(0.5))
        )
        f = path.decision_function(X[held_out], row.selected.lam)
        counted = pairwise_accuracy(y[held_out], f, query[held_out])
        right, pairs = right + float(counted.total.sum()), pairs + float(counted.weight.sum())
    assert row.selected.score == pytest.approx(right / pairs)
    with pytest.raises(ValueError, match=r"a ranking with the hinge has no family 'svm\.soft'"):
        grid(X, y, [rbf(0.5)], "ranking", query, folds=3, family="svm.soft")


def test_the_last_piece_of_a_path_that_reaches_zero_can_be_chosen() -> None:
    """With the point 2 preferred to the point 1, x is 0 above lambda = 2.

    From there to 0 it is (1/2, 0).
    """
    path = regularization_path(ranking_vector_machine([[2.0], [1.0]], [1, 0]), 0.0)
    found = best(path, [[3.0], [1.0]], [1.0, 0.0])
    assert found.score == 1.0
    assert found.interval == (1.0, 2.0)


def swaps(path: RegularizationPath | OneNormPath, X: Array, high: float, low: float) -> list[float]:
    """Return the lambdas at which two points change places, and both breakpoints.

    g = lambda f is linear there.
    """
    first, last = (lam * path.decision_function(X, lam) for lam in (high * (1 - 1e-13), low))
    apart, changed = np.subtract.outer(first, first), np.subtract.outer(last - first, last - first)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = -apart / changed
    inside = shares[(shares > 0) & (shares < 1)]
    return [high, *(high - (high - low) * np.unique(inside)).tolist(), low]


def rates(f: Array, positive: NDArray[np.bool_]) -> set[tuple[float, float]]:
    """Return the false and true positive rates of all thresholds."""
    rounded = np.round(f, 9)
    accepted = [rounded > threshold for threshold in [-np.inf, *np.unique(rounded).tolist()]]
    return {(float(each[~positive].mean()), float(each[positive].mean())) for each in accepted}


@given(
    seed=st.integers(0, 2**16),
    family=st.sampled_from(["svm.soft", "svm.nobias", "rank.l1", "rvm", "svm.onenorm"]),
    grids=st.booleans(),
)
# At a jump a point has as many points below it as before, and other points above it.
@example(seed=4, family="rvm", grids=False)
@example(seed=256, family="svm.onenorm", grids=True)
def test_the_frontier_of_rates_is_the_hull_of_what_all_lambdas_and_thresholds_reach(
    seed: int, family: str, grids: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (12, 2)).astype(float) if grids else rng.normal(size=(12, 2))
    y, X_new = np.arange(12) % 2 * 1.0, np.concatenate([rng.normal(size=(9, 2)), X[:2]])
    positive = np.append(rng.permutation(9) < 4, [True, False])
    task, given = (
        ("classification", np.where(y > 0, 1.0, -1.0))
        if family.startswith("svm")
        else ("ranking", y)
    )
    path = regularization_path(make_family_problem(family, task, X, given, rbf(0.5)), 1e-2)
    reached = {(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)}
    for high, low in pairwise(path.lambdas[path.lambdas > 0].tolist()):
        for above, below in pairwise(swaps(path, X_new, high, low)):
            if above - below > 1e-8 * above:
                reached |= rates(path.decision_function(X_new, (above + below) / 2), positive)
    try:
        frontier = roc_frontier(path, X_new, np.where(positive, 5.0, 2.0))
    except NothingToChoose:
        assert len(path) < 2 or path.lambdas[0] - path.lambdas[-1] <= 1e-9 * path.lambdas[0]
        return
    assert frontier.area == pytest.approx(ConvexHull(sorted(reached)).volume, abs=1e-12)
    corners = [
        frontier.false_positive_rate,
        frontier.true_positive_rate,
        frontier.lambdas,
        frontier.thresholds,
    ]
    for false, true, lam, threshold in zip(*(each.tolist() for each in corners), strict=True):
        accepted = path.decision_function(X_new, lam) > threshold
        assert (accepted[~positive].mean(), accepted[positive].mean()) == (false, true)
    slopes = np.diff(frontier.true_positive_rate) / np.maximum(
        np.diff(frontier.false_positive_rate), 1e-300
    )
    assert (np.diff(slopes) < 0).all()
    assert (frontier.intervals[:, 0] <= frontier.lambdas).all()
    assert (frontier.lambdas <= frontier.intervals[:, 1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_frontier_has_the_fewest_errors_of_all_levels_and_zero_has_more(seed: int) -> None:
    """P section 6: a decision at zero "can still be improved".

    The improvement is "by observing the generated ROC curve at each level".
    """
    rng = np.random.default_rng(seed)
    positive = np.arange(20) % 2 > 0
    X, X_new = (rng.normal(size=(20, 2)) + positive[:, None] for _ in range(2))
    path = regularization_path(ranking(X, positive * 1.0, kernel=linear()), 1e-2)
    frontier = roc_frontier(path, X_new, positive * 1.0)

    def errors(f: Array, threshold: float) -> int:
        return int(((f > threshold) != positive).sum())

    def fewest(found: Frontier) -> int:
        corners = zip(found.lambdas.tolist(), found.thresholds.tolist(), strict=True)
        return min(
            errors(path.decision_function(X_new, lam), threshold) for lam, threshold in corners
        )

    spans = [
        span
        for ends in pairwise(path.lambdas[path.lambdas > 0].tolist())
        for span in pairwise(swaps(path, X_new, *ends))
    ]
    levels = [
        path.decision_function(X_new, (high + low) / 2)
        for high, low in spans
        if high - low > 1e-8 * high
    ]
    least = min(errors(f, threshold) for f in levels for threshold in [-np.inf, *f.tolist()])
    assert fewest(frontier) == least < min(errors(f, 0.0) for f in levels)
    assert fewest(replace(frontier, thresholds=np.zeros(len(frontier)))) > least, (
        "a frontier that decides on zero is found out"
    )


def test_roc_thresholds_are_of_decision_values_with_their_bias() -> None:
    """f alone, which is below all thresholds, would accept no point."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    path = regularization_path(classification(X - 9, y, kernel=linear()), 1e-2)
    frontier = roc_frontier(path, X - 9, y)
    (corner,) = np.flatnonzero(
        (frontier.true_positive_rate == 1) & (frontier.false_positive_rate == 0)
    )
    lam, threshold = float(frontier.lambdas[corner]), frontier.thresholds[corner]
    assert ((path.decision_function(X - 9, lam) > threshold) == (y > 0)).all()
    assert not (path.decision_function(X - 9, lam) - path.at(lam).bias > threshold).any()


def test_the_frontier_of_one_path_is_above_the_curves_of_its_lambdas() -> None:
    """There are two positive points and a negative one.

    The negative point is the lowest at first and the highest at last, after one of them
    and then the other.
    """
    path = path_of(
        ranking(np.eye(3), [1.0, 1.0, 0.0], kernel=precomputed()),
        [3.0, 1.0],
        [[3.0, 1.5, 0.0], [0.0, -1.0, 1.0]],
    )
    frontier = roc_frontier(path, np.eye(3), [1.0, 1.0, 0.0])
    assert (frontier.false_positive_rate.tolist(), frontier.true_positive_rate.tolist()) == (
        [0.0, 1.0],
        [1.0, 1.0],
    )
    assert frontier.area == 1.0
    with pytest.raises(
        ValueError, match=r"needs points of two levels, and y has 3: \[0.0, 1.0, 2.0\]"
    ):
        roc_frontier(path, np.eye(3), [0.0, 1.0, 2.0])
