"""One-norm problems with weights, explicit pairs and query means, against cvxpy.

Every problem is written from document T, (94)-(96) and (102)-(104), and section 5.1, on
matrices and costs made row by row here.
"""

from __future__ import annotations

import json
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from campaigns.certificate_mutations import signed
from equimargin import compare
from equimargin.data import preferences
from equimargin.estimators import OneNormRanker
from equimargin.formulations import (
    REGISTRY,
    Kernel,
    OneNormProblem,
    declare,
    linear,
    one_norm_classification,
    one_norm_ranking,
    one_norm_ranking_from_pairs,
    polynomial,
    ranking_vector_machine,
    rbf,
)
from equimargin.formulations.problem.construct import make_task_problems
from equimargin.proofs import certificate, checker
from equimargin.solvers import exact_optimum, regularization_path, solve
from equimargin.solvers.exact_limits import rational_kernel
from narrow import present

Array = Any
KERNELS = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 1.0, 1.0)}
SOLVERS = ("column_generation", "linear_program", "auto")
M = 9
"""Points of an instance."""
WEIGHTS = np.array([0.0, 0.5, 1.0, 2.25, 3.0])
SEEDS = range(4)


def printed(B: Array, costs: Array, signs: Array | None = None) -> float:
    """Return min 1'x + sum_r c_r xi_r  s.t.  B x + b s >= 1 - xi,  x >= 0,  xi >= 0."""
    x, xi = cp.Variable(B.shape[1], nonneg=True), cp.Variable(len(costs), nonneg=True)
    margins = B @ x if signs is None else B @ x + cp.Variable() * signs
    problem = cp.Problem(cp.Minimize(cp.sum(x) + costs @ xi), [margins >= 1 - xi])
    problem.solve(solver=cp.HIGHS)
    return float(problem.value)


def by_pairs(K: Array, pairs: list[tuple[int, int]], costs: Array, over: str) -> float:
    """Return the optimum of document T, (102) over points or (94) over pairs."""
    A = np.zeros((len(pairs), len(K)))
    for row, (preferred, other) in zip(A, pairs, strict=True):
        row[preferred] += 1
        row[other] -= 1
    return printed(A @ K if over == "points" else A @ K @ A.T, costs)


def drawn(seed: int, kernel: Kernel) -> tuple[np.random.Generator, Array, Array, float]:
    """Draw points, and return them with their Gram matrix and a cost."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M, 2)).round(2)
    return rng, X, kernel.block(X, X), float(rng.choice([0.3, 1.0, 4.0]))


def explicit_pairs(seed: int, kernel: Kernel, over: Any) -> tuple[OneNormProblem, float]:
    """Return a ranking of contradictory, repeated and weighted pairs, and its optimum."""
    rng, X, K, C = drawn(seed, kernel)
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, M, size=(14, 2)) if i != j]
    weights = rng.choice(WEIGHTS, len(pairs))
    problem = one_norm_ranking_from_pairs(X, pairs, C, kernel, over, weights)
    return problem, by_pairs(K, pairs, C * weights, over)


def query_means(seed: int, kernel: Kernel, over: Any) -> tuple[OneNormProblem, float]:
    """Return a ranking by the means of weighted queries, and its optimum."""
    rng, X, K, C = drawn(seed, kernel)
    y, qid = np.arange(M) % 3, rng.permutation(np.repeat([5, 7, 7], M // 3))
    pairs, costs, factor = list[tuple[int, int]](), list[float](), {5: 0.7, 7: 2.0}
    for query in (5, 7):
        of = [
            (i, j) for i in range(M) for j in range(M) if qid[i] == qid[j] == query and y[i] > y[j]
        ]
        pairs += of
        costs += [C * factor[query] / len(of)] * len(of)
    make = ranking_vector_machine if over == "points" else one_norm_ranking
    problem = make(X, y, qid, C, kernel, per_query="mean", query_weight=factor)
    return problem, by_pairs(K, pairs, np.array(costs), over)


def classes(seed: int, kernel: Kernel, bias: Any) -> tuple[OneNormProblem, float]:
    """Return a weighted classification of document T, section 5.1, and its optimum."""
    rng, X, K, C = drawn(seed, kernel)
    y, weights = np.where(np.arange(M) % 3 == 0, 1.0, -1.0), rng.choice(WEIGHTS, M)
    problem = one_norm_classification(X, y, C, kernel, bias, weights)
    return problem, printed(np.outer(y, y) * K, C * weights, y if bias else None)


CASES = [
    pytest.param(make, kernel, variant, id=f"{make.__name__}-{variant}-{kernel}")
    for make, variants in (
        (explicit_pairs, ("points", "pairs")),
        (query_means, ("points", "pairs")),
        (classes, (True, False)),
    )
    for variant in variants
    for kernel in KERNELS
]


@pytest.mark.parametrize(("make", "kernel", "variant"), CASES)
def test_solvers_and_formulations_have_the_printed_optimum(
    make: Any, kernel: str, variant: Any
) -> None:
    for seed in SEEDS:
        problem, value = make(seed, KERNELS[kernel], variant)
        room = 1e-6 * max(1.0, value)
        for name in SOLVERS:
            found = solve(problem, name, tol=1e-9)
            assert found.lower - room <= value <= found.upper + room, name
            assert found.upper - found.lower <= room, name
        for id, entry in REGISTRY.items():
            if entry.family == problem.family and not entry.control:
                declared = declare(id, problem).problem
                declared.solve(solver=cp.HIGHS)
                assert declared.value == pytest.approx(value, abs=room), id
        if rational_kernel(problem.kernel):
            exact = exact_optimum(problem)
            assert float(present(exact.value)) == pytest.approx(value, abs=room)
            for b in exact.bias if problem.bias else ():
                if b is not None:
                    x = np.array([float(v) for v in exact.beta])
                    assert problem.primal(x, float(b)) == pytest.approx(value, abs=room)


@pytest.mark.parametrize(("make", "kernel", "variant"), CASES)
def test_certificates_enclose_the_printed_optimum(make: Any, kernel: str, variant: Any) -> None:
    for seed in SEEDS:
        problem, value = make(seed, KERNELS[kernel], variant)
        document = certificate(solve(problem, tol=1e-9))
        family, lower, upper = checker.check(json.dumps(document).encode())
        assert (family, document["schema"]) == (problem.family, checker.SCHEMA)
        assert lower <= value + 1e-6 * max(1.0, value)
        assert upper >= value - 1e-6 * max(1.0, value)
        assert upper - lower <= 1e-6 * max(1.0, value)
        if rational_kernel(problem.kernel):
            exact = certificate(exact_optimum(problem))
            assert exact["mode"] == "exact"
            assert lower <= checker.check(json.dumps(exact).encode())[1] <= upper


@pytest.mark.parametrize(("make", "kernel", "variant"), CASES)
def test_forged_weights_and_values_are_rejected(make: Any, kernel: str, variant: Any) -> None:
    problem, _ = make(1, KERNELS[kernel], variant)
    found = solve(problem, tol=1e-9)
    document, point = certificate(found), problem.own_point(found.point)
    # The sum of the multipliers of a weight, and the slacks that it multiplies.
    groups = problem.rows.groups
    of = problem.rows.spread(np.arange(groups, dtype=float)).astype(int)
    u = np.bincount(of, np.asarray(point.u), groups)
    f = problem.gram @ problem.coefficients(point.x)
    b = problem.bias_at(f) if problem.bias else 0.0
    margins = problem.rows.dot(f) + b * problem.bias_signs
    slacks = np.bincount(of, np.maximum(1.0 - margins, 0.0), groups)

    def check_rejection(condition: str, **parts: Any) -> None:
        with pytest.raises(ValueError, match=f"^{condition} does not hold"):
            checker.check(json.dumps(signed(document | parts)).encode())

    def weighted(k: int, weight: float | str) -> dict[str, Any]:
        weights = list(document["problem"]["weights"])
        weights[k] = weight
        return {**document["problem"], "weights": weights}

    largest, worst = int(np.argmax(u)), int(np.argmax(slacks))
    assert u[largest] > 1e-3 < slacks[worst]
    check_rejection("multipliers_are_within_costs", problem=weighted(largest, 0.0))
    heavier = problem.weights[worst] + 1.0
    check_rejection("upper_bound_is_proved", problem=weighted(worst, heavier))
    check_rejection("weights_are_not_negative", problem=weighted(worst, -1.0))
    check_rejection("one_norm_weights_are_finite", problem=weighted(worst, "inf"))
    claim = document["claim"]
    above = {"lower": claim["upper"] * (1 + 1e-9), "upper": claim["upper"] * (1 + 2e-9)}
    below = {"lower": claim["lower"] * (1 - 2e-9), "upper": claim["lower"] * (1 - 1e-9)}
    check_rejection("lower_bound_is_proved", claim=above)
    check_rejection("upper_bound_is_proved", claim=below)


def test_an_infinite_weight_of_a_query_without_pairs_is_no_infinite_weight_of_a_row() -> None:
    X, y, qid = np.arange(4.0)[:, None], [0, 0, 0, 1], [0, 0, 1, 1]
    problem = ranking_vector_machine(X, y, qid, 2.0, linear(), query_weight={0: 1.0, 1: 0.5})
    document = certificate(solve(problem, tol=1e-9))
    stated = document["problem"]
    for weights, accepted in (([1.0, 0.5], True), (["inf", 0.5], True), ([1.0, "inf"], False)):
        forged = json.dumps(signed(document | {"problem": stated | {"weights": weights}})).encode()
        if accepted:
            assert checker.check(forged)[0] == "rvm"
        else:
            with pytest.raises(ValueError, match="one_norm_weights_are_finite"):
                checker.check(forged)


def test_a_weight_of_2_is_a_pair_twice() -> None:
    X, pairs = np.random.default_rng(0).normal(size=(6, 2)), [[0, 1], [2, 1], [3, 4], [5, 0]]
    weighted = one_norm_ranking_from_pairs(X, pairs, 2.0, rbf(1.0), pair_weight=[1, 2, 1, 0])
    repeated = one_norm_ranking_from_pairs(X, [*pairs[:2], pairs[1], pairs[2]], 2.0, rbf(1.0))
    first, second = (solve(problem, tol=1e-10).interval for problem in (weighted, repeated))
    assert first.lower <= second.upper + 1e-8
    assert second.lower <= first.upper + 1e-8


def test_clicks_train_a_ranking_vector_machine() -> None:
    X = np.random.default_rng(1).normal(size=(5, 2))
    clicks = preferences([0, 1, 2, 3], [2]) + preferences([4, 1, 2, 0], [2, 0])
    ranker = OneNormRanker(C=3.0, kernel="rbf", gamma=0.5).fit_preferences(X, clicks)
    K = rbf(0.5).block(X, X)
    value = by_pairs(K, [tuple(pair) for pair in clicks.pairs], 3.0 * clicks.weight, "points")
    lower, upper = ranker.objective_bounds_
    assert lower - 1e-6 <= value <= upper + 1e-6
    assert upper - lower <= 1e-6
    assert ranker.n_queries_ == 1
    with pytest.raises(ValueError, match="per_query must be 'sum', not 'mean': preferences have"):
        ranker.set_params(per_query="mean").fit_preferences(X, clicks)


@pytest.mark.parametrize("over", ["points", "pairs"])
def test_rankers_weigh_rows_and_queries(over: Any) -> None:
    rng, X, K, _ = drawn(3, linear())
    y, qid, v = np.arange(M) % 3, np.arange(M) % 2, rng.choice([0.0, 1.0, 2.0], M)
    for mean in ("sum", "mean"):
        pairs, costs = list[tuple[int, int]](), list[float]()
        for query in (0, 1):
            of = [
                (i, j)
                for i in range(M)
                for j in range(M)
                if qid[i] == qid[j] == query and y[i] > y[j]
            ]
            total = sum(v[i] * v[j] for i, j in of) if mean == "mean" else 1.0
            pairs += of
            costs += [v[i] * v[j] / total if total else 0.0 for i, j in of]
        ranker = OneNormRanker(C=1.0, over=over, per_query=mean).fit(X, y, qid, v)
        # Pairs of weight 0 have no variable in the ranker's problem.
        used = [k for k, cost in enumerate(costs) if cost > 0]
        value = by_pairs(K, [pairs[k] for k in used], np.array(costs)[used], over)
        assert ranker.objective_bounds_ == pytest.approx((value, value), abs=1e-6)


def test_all_families_of_weighted_data_agree() -> None:
    rng, X, _, _ = drawn(5, linear())
    y, w = np.where(np.arange(M) % 2, 1.0, -1.0), rng.choice(WEIGHTS, M)
    problems = make_task_problems("classification", X, y, sample_weight=w)
    assert [p.family for p in problems if isinstance(p, OneNormProblem)] == [
        "svm.onenorm",
        "svm.nobias_onenorm",
    ]
    assert compare(problems, solvers=["CLARABEL", "HIGHS", "column_generation"]).agree


def test_hard_rows_are_refused() -> None:
    X, y = [[0.0], [1.0]], [-1, 1]
    with pytest.raises(ValueError, match="one-norm problems have no hard rows: all weights must"):
        one_norm_classification(X, y, sample_weight=[1.0, np.inf])
    families = [
        problem.family
        for problem in make_task_problems("classification", X, y, sample_weight=[1.0, np.inf])
    ]
    assert not [family for family in families if "onenorm" in family]


@pytest.mark.parametrize(("make", "kernel", "variant"), CASES)
def test_paths_have_the_printed_and_the_exact_optimum_at_random_costs(
    make: Any, kernel: str, variant: Any
) -> None:
    for seed in SEEDS:
        problem, _ = make(seed, KERNELS[kernel], variant)
        path = regularization_path(problem, 1e-3)
        assert path.complete, path.stopped
        assert path.gaps.max() <= 1e-9
        for C in 10.0 ** np.random.default_rng(seed).uniform(-2, 2.5, 4):
            found, at_cost = path.at(1 / C), problem.with_cost(float(C))
            A, K = problem.rows.matrix.toarray(), problem.gram.dense
            value = printed(
                A @ K if problem.over == "points" else A @ K @ A.T,
                C * problem.unit_weights,
                problem.rows.s if problem.bias else None,
            )
            assert found.ok, found.reason
            assert found.value == pytest.approx(value, rel=1e-7)
            if rational_kernel(problem.kernel):
                exact = present(exact_optimum(at_cost).value)
                assert found.lower <= exact * (1 + 1e-12)
                assert exact <= found.upper * (1 + 1e-12)
                assert found.upper - found.lower <= 1e-8 * float(exact)


def test_groups_of_rows_with_different_costs() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3)).round(2)
    kernel, C = rbf(0.3), 0.2
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, 60, size=(1500, 2)) if i != j]
    weights = rng.choice([0.0, 0.01, 1.0, 20.0], len(pairs))
    value = by_pairs(kernel.block(X, X), pairs, C * weights, "points")
    problem = one_norm_ranking_from_pairs(X, pairs, C, kernel, pair_weight=weights)
    found = solve(problem, "column_generation", tol=1e-8)
    assert found.lower <= value * (1 + 1e-6)
    assert found.upper >= value * (1 - 1e-6)
    assert found.upper - found.lower <= 1e-7 * value
