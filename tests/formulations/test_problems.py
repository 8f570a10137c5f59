"""Weights, penalised bias, sparse features, Gram matrices and infeasible families.

Hard families, and negative controls in the wrong family.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equimargin.comparison import Comparison, compare
from equimargin.formulations import (
    REGISTRY,
    MarginProblem,
    OneNormPoint,
    Point,
    Problem,
    classification,
    declare,
    interval,
    linear,
    links,
    ordinal,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.documents.controls import reduced_pairs
from equimargin.formulations.kernels.kernel import Intercept
from equimargin.formulations.problem.choices import Bias
from equimargin.formulations.problem.construct import make_family_problem, make_task_problems
from equimargin.proofs import Agreement, Verdict, examine, judge
from equimargin.solvers import Status, solve, solve_declaration

SOLVERS = ["CLARABEL", "smo", "coordinate_descent", "linear_program"]
RNG = np.random.default_rng(5)
N = 24
X = RNG.normal(size=(N, 3))
SIGNS = np.where(X[:, 0] + 0.6 * RNG.normal(size=N) > 0.2, 1.0, -1.0)
TARGETS = X[:, 0] + 0.3 * RNG.normal(size=N)
LEVELS = np.digitize(TARGETS, [-0.5, 0.5]).astype(float)
QUERIES = np.repeat([5, 7, 9], 8)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 3.0], size=N)


def agreeing(problem: Problem) -> Comparison:
    """Return the comparison; assert that it agrees with no answer failed."""
    result = compare(problem, solvers=SOLVERS)
    assert result.agree, str(result)
    assert not any(
        j.agreement is Agreement.FAILED for family in result.families for j in family.judgements
    ), str(result)
    return result


def optimum(problem: MarginProblem) -> float:
    return solve(problem, tol=1e-10).value


def test_ordinal_regression_without_free_thresholds_is_refused() -> None:
    with pytest.raises(ValueError, match="bias must be True for ordinal regression"):
        replace(ordinal([[0.0], [1.0]], [1, 2]), bias=False)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [linear(), rbf(0.3)], ids=["linear", "rbf"])
@pytest.mark.parametrize("hardest", [False, True], ids=["finite", "infinite"])
def test_weights_from_zero_to_infinity(hardest: bool, kernel: Any, loss: Any) -> None:
    weights = WEIGHTS.copy()
    if hardest:
        weights[np.argmax(SIGNS * X[:, 0])] = np.inf
    queries = {5: 0.0, 7: 2.0}
    for bias in (True, False, "penalized"):
        agreeing(classification(X, SIGNS, 0.5, kernel, loss, bias, weights))
    agreeing(regression(X, TARGETS, 0.5, 0.2, kernel, loss, weights))
    agreeing(ranking(X, LEVELS, QUERIES, 0.5, kernel, loss, "mean", queries))


def test_infinite_weight_of_a_query_is_a_hard_ranking_of_it() -> None:
    score = X[:, 0] + X[:, 1] ** 2
    agreeing(
        ranking(X, np.digitize(score, [0.3, 1.2]), QUERIES, 0.5, rbf(0.5), query_weight={9: np.inf})
    )


def test_a_weight_of_zero_leaves_a_row_out_and_two_repeats_it() -> None:
    weights = np.ones(N)
    weights[3], weights[4] = 0.0, 2.0
    rows = np.r_[np.delete(np.arange(N), 3), 4]
    assert optimum(classification(X, SIGNS, 0.5, rbf(0.3), sample_weight=weights)) == pytest.approx(
        optimum(classification(X[rows], SIGNS[rows], 0.5, rbf(0.3))), rel=1e-8
    )


def test_the_mean_of_a_query_divides_by_its_pairs() -> None:
    problem = ranking(X, LEVELS, QUERIES, 0.5, per_query="mean")
    assert problem.weights is not None
    of_pair = QUERIES[problem.rows.preferred]  # type: ignore[attr-defined]
    sums = [problem.unit_weights[of_pair == q].sum() for q in np.unique(of_pair)]
    assert sums == pytest.approx([1.0] * len(sums))


def test_a_query_weight_needs_its_query() -> None:
    with pytest.raises(ValueError, match="not in qid"):
        ranking(X, LEVELS, QUERIES, query_weight={6: 2.0})
    with pytest.raises(ValueError, match="per_query"):
        ranking(X, LEVELS, QUERIES, per_query="median")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bias", "families"),
    [
        (None, ["svm.soft", "svm.nobias", "svm.onenorm", "svm.nobias_onenorm"]),
        (True, ["svm.soft", "svm.onenorm"]),
        (False, ["svm.nobias", "svm.nobias_onenorm"]),
        ("penalized", ["svm.nobias"]),
    ],
)
def test_families_of_a_named_bias(bias: Any, families: list[str]) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [1, -1, 1]
    named = {} if bias is None else {"bias": bias}
    assert [
        problem.family
        for problem in make_task_problems("classification", X, y, losses=["hinge"], **named)
    ] == families
    for family in families:
        assert make_family_problem(family, "classification", X, y, **named).family == family
    for other in {"svm.soft", "svm.nobias"} - set(families):
        with pytest.raises(
            ValueError,
            match=f"a classification with the hinge has no family '{other}'; choose {families[0]}",
        ):
            make_family_problem(other, "classification", X, y, **named)


def test_a_penalised_bias_is_an_appended_column_of_ones() -> None:
    penalised = classification(X, SIGNS, 0.5, bias="penalized")
    appended = classification(np.column_stack([X, np.ones(N)]), SIGNS, 0.5, bias=False)
    solution = solve(penalised, tol=1e-10)
    assert solution.value == pytest.approx(optimum(appended), rel=1e-8)
    assert solution.decision_function(X) == pytest.approx(
        solve(appended, tol=1e-10).decision_function(appended.X), abs=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [linear(), rbf(0.3), polynomial()], ids=lambda kernel: kernel.name
)
def test_sparse_features_give_the_dense_optimum(kernel: Any) -> None:
    thin = np.where(RNG.random(X.shape) < 0.4, X, 0.0)
    csr = sparse.csr_array(thin)
    problem = classification(csr, SIGNS, 0.5, kernel)
    agreeing(problem)
    agreeing(ranking(csr, LEVELS, None, 0.5, kernel))
    agreeing(ranking_vector_machine(csr, LEVELS, None, 0.5, kernel))
    assert optimum(problem) == pytest.approx(
        optimum(classification(thin, SIGNS, 0.5, kernel)), rel=1e-8
    )


def _in_parts(dense: Any, shuffle: Any) -> Any:
    """Return CSR rows with two parts of every entry, in any order, under false flags."""
    rows, columns = np.divmod(np.arange(dense.size).repeat(2), dense.shape[1])
    halves = shuffle.integers(-4, 5, dense.size).astype(float)
    entries = np.column_stack([dense.ravel() - halves, halves]).ravel()
    order = np.lexsort((shuffle.random(len(rows)), rows))
    made = sparse.csr_array(
        (entries[order], columns[order], np.arange(0, 2 * dense.size + 1, 2 * dense.shape[1])),
        shape=dense.shape,
    )
    made.has_sorted_indices = made.has_canonical_format = True
    return made


@given(
    st.integers(0, 2**16),
    st.sampled_from([linear(), rbf(0.3), polynomial(2)]),
    st.sampled_from(["hinge", "squared_hinge"]),
)
@settings(max_examples=15)
def test_sparse_features_in_parts_with_stale_flags_are_the_dense_ones(
    seed: int, kernel: Any, loss: Any
) -> None:
    random = np.random.default_rng(seed)
    points = random.integers(-3, 4, (12, 3)).astype(float)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    wanted = solve(classification(points, y, 0.5, kernel, loss), tol=1e-9)
    found = solve(classification(_in_parts(points, random), y, 0.5, kernel, loss), tol=1e-9)
    assert found.interval.lower <= wanted.interval.upper
    assert wanted.interval.lower <= found.interval.upper
    for solution in (wanted, found):
        values = solution.decision_function(_in_parts(points, random))
        assert values == pytest.approx(solution.decision_function(points), abs=1e-9)
    np.testing.assert_allclose(
        kernel.block(_in_parts(points, random), points), kernel.block(points, points), atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_sparse_points_of_another_type_are_evaluated_in_float64(dtype: Any) -> None:
    points = np.array([[100.0, 3.0], [-100.0, 0.0], [7.0, 9.0]])
    solution = solve(classification(points, [1.0, -1.0, 1.0], 1.0, rbf(1e-4)))
    assert solution.decision_function(sparse.csr_array(points.astype(dtype))) == pytest.approx(
        solution.decision_function(points)
    )


def test_a_given_gram_matrix_gives_the_kernels_optimum() -> None:
    right = classification(X, SIGNS, 0.5, rbf(0.3))
    given = classification(right.gram.dense, SIGNS, 0.5, precomputed())
    agreeing(given)
    assert given.shift is not None
    assert given.gram.shift < 1e-10
    assert optimum(given) == pytest.approx(optimum(right), rel=1e-8)


def test_an_indefinite_gram_matrix_gets_no_verdict() -> None:
    K = classification(X, SIGNS, 0.5, rbf(0.3)).gram.dense - 0.5 * np.eye(N)
    for problem in (
        classification(K, SIGNS, 0.5, precomputed()),
        classification(K, SIGNS, 0.5, Intercept(precomputed()), bias=False),
        classification(X, SIGNS, 0.5, sigmoid(2.0, 1.0)),
    ):
        assert not problem.convex
        (family,) = compare(problem, solvers=["CLARABEL", "smo"]).families
        assert family.verdict is Verdict.UNDECIDED
        assert all(
            j.evidence.run.status in (Status.UNSUPPORTED, Status.STATIONARY)
            for j in family.judgements
        )


@pytest.mark.parametrize(
    "problem",
    [
        classification(X[:, :1], np.where(np.arange(N) % 2, SIGNS, -SIGNS), np.inf),
        regression(X, TARGETS, np.inf, 0.01),
        ranking(X[:, :1], LEVELS, None, np.inf),
    ],
    ids=lambda problem: problem.family,
)
def test_infeasible_families_agree_by_proof(problem: MarginProblem) -> None:
    result = compare(problem, solvers=["CLARABEL", "SCS", "smo"])
    (family,) = result.families
    assert result.agree, str(result)
    assert not family.feasible
    assert np.isinf(family.interval.upper)


def test_feasible_hard_families_agree() -> None:
    clean = np.where(X[:, 0] > 0, 1.0, -1.0)
    agreeing(classification(X + 0.2 * np.outer(clean, [1.0, 0.0, 0.0]), clean, np.inf))
    agreeing(
        regression(X, X @ np.array([1.0, 2.0, -1.0]) + 0.02 * RNG.uniform(-1, 1, N), np.inf, 0.05)
    )
    agreeing(ranking(X, np.digitize(X[:, 0], [-0.5, 0.5]), None, np.inf))


def as_member_of(problem: MarginProblem, id: str, other: Problem) -> Agreement:
    """Return the referee's agreement of formulation `id` of another problem.

    The answer is judged among those of this problem.
    """
    members = [
        entry.id
        for entry in REGISTRY.values()
        if entry.family == problem.family and not entry.control
    ]
    honest = [examine(problem, solve_declaration(declare(member, problem))) for member in members]
    stranger = examine(problem, solve_declaration(declare(id, other)))
    family = judge(
        problem.family,
        [*honest, replace(stranger, run=replace(stranger.run, control=True))],
        problem.scale,
    )
    assert family.verdict is Verdict.AGREE, family.reason
    return family.judgements[-1].agreement


def test_look_alikes_disagree_in_the_family_they_resemble() -> None:
    soft = classification(X, SIGNS, 0.5)
    tube = regression(X, TARGETS, 0.5, 0.2)
    order = ranking(X, LEVELS, None, 0.5, rbf(0.5))
    pairs: list[tuple[MarginProblem, str, Problem]] = [
        (soft, "svm.nobias.primal", classification(X, SIGNS, 0.5, bias=False)),
        (soft, "svm.penalized.primal", soft),
        (soft, "svm.l2.primal", replace(soft, loss="squared_hinge")),
        (tube, "svr.l2.primal", replace(tube, loss="squared_hinge")),
        (order, "rank.reduced", order),
        (order, "rank.differences.dual", order),
        (order, "rvm.primal", ranking_vector_machine(X, LEVELS, None, 0.5, rbf(0.5))),
    ]
    for problem, id, other in pairs:
        assert as_member_of(problem, id, other) is Agreement.DISAGREES, id


def test_a_rough_answer_that_a_large_kernel_magnifies_is_no_disagreement() -> None:
    """SCS leaves u just outside its box, and K of some thousands magnifies the error.

    The price is 5 instead of 1: failed, not disagreeing.
    """
    rng = np.random.RandomState(0)
    points = rng.uniform(0, 8, size=(30, 4))
    problem = ranking_vector_machine(
        points, np.digitize(points[:, 0] + rng.normal(size=30), [3.0, 5.0]), None, 1.0, polynomial()
    )
    (family,) = compare(
        problem, "rvm.*", ["CLARABEL", "SCS", "linear_program"], time_limit=20
    ).families
    assert family.verdict is Verdict.AGREE, [
        (j.evidence.run.name, j.agreement) for j in family.judgements
    ]


def test_the_reduced_graph_has_the_edges_of_table_1() -> None:
    """(n - n_1) + (n - n_L - (L - 1)) edges, 199 for two levels of 100."""
    y = np.repeat([0.0, 1.0], 100)
    assert reduced_pairs(ranking(RNG.normal(size=(200, 2)), y)).p == 199
    levels = np.repeat([0.0, 1.0, 2.0, 3.0], [4, 5, 6, 7])
    assert reduced_pairs(ranking(RNG.normal(size=(22, 2)), levels)).p == (22 - 4) + (22 - 7 - 3)
    with pytest.raises(ValueError, match="relevances"):
        reduced_pairs(ranking_from_pairs(X, [[0, 1]]))


def test_the_kernel_of_differences_can_misrank_its_only_pair() -> None:
    """F(x, 0) = k(x_i - x_j, x) of T (91) with k = rbf(1) misranks integers.

    6 of the 42 pairs of integers in -3 .. 3 are not ranked, 4 of them reversed.
    """
    wrong = 0
    for i in range(-3, 4):
        for j in range(-3, 4):
            if i != j:
                scores = rbf(1.0).block(
                    np.array([[float(i)], [float(j)]]), np.array([[float(i - j)]])
                )[:, 0]
                wrong += scores[0] <= scores[1]
    assert wrong == 6


def test_multipliers_made_from_f_prove_its_optimum() -> None:
    for problem in (
        ranking(X, LEVELS, None, 0.5, rbf(0.5)),
        ranking(X, LEVELS, None, 0.5, loss="squared_hinge"),
    ):
        id = f"{problem.family}.beta"
        declared = declare(id, problem)
        evidence = examine(problem, solve_declaration(declared))
        assert evidence.point is not None
        assert not evidence.point.has_alpha
        derived = evidence.point.derived_lower
        assert derived <= evidence.point.proven.upper <= derived * (1 + 1e-6)


def test_a_point_of_hard_rows_is_repaired() -> None:
    clean = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = classification(X + 0.2 * np.outer(clean, [1.0, 0.0, 0.0]), clean, np.inf)
    solution = solve(problem, tol=1e-9)
    assert solution.w is not None
    short = Point(w=solution.w * (1 - 1e-7), b=solution.bias * (1 - 1e-7))
    assert solution.lower <= interval(problem, short).upper <= solution.lower * (1 + 1e-5)
    assert interval(problem, Point(w=-solution.w, b=0.0)).upper == np.inf


def test_the_shift_of_a_given_gram_matrix_is_part_of_it_everywhere() -> None:
    """With a penalised bias too: the matrix, its diagonal and its rows are one."""
    thin = np.round(X[:, :1], 1)
    gram = thin @ thin.T
    biases: tuple[Bias, ...] = (True, "penalized")
    for bias in biases:
        problem = classification(gram, SIGNS, 0.5, precomputed(), bias=bias)
        assert problem.shift
        assert np.array_equal(problem.gram.dense.diagonal(), problem.gram.diagonal)
        assert np.array_equal(gram, thin @ thin.T)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_separable_points_far_from_the_origin_are_not_called_infeasible(offset: float) -> None:
    problem = classification(np.array([[offset], [offset + 1e-3]]), np.array([-1.0, 1.0]), np.inf)
    solution = solve(problem, max_iter=100_000)
    assert solution.status is not Status.INFEASIBLE
    assert solution.lower <= 2e6 * (1 + 1e-3)
    assert solution.upper >= 2e6 * (1 - 1e-3)


def test_rows_of_infinite_weight_that_contradict_each_other_are_infeasible() -> None:
    problem = classification(
        np.zeros((2, 1)), np.array([-1.0, 1.0]), 1.0, sample_weight=[np.inf, np.inf]
    )
    (family,) = compare(problem, solvers=SOLVERS).families
    assert (family.verdict, family.feasible) == (Verdict.AGREE, False)


def test_a_wrong_optimum_of_an_infeasible_family_disagrees() -> None:
    """One changed label makes the points separable.

    The optimum of that problem, solved well, proves nothing.
    """
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = classification(points, np.array([-1.0, 1.0, -1.0, 1.0]), np.inf)
    proofs = [
        examine(problem, solve_declaration(declare(id, problem)))
        for id in ("svm.hard.primal", "svm.hard.dual")
    ]
    other = classification(points, np.array([-1.0, -1.0, -1.0, 1.0]), np.inf)
    wrong = examine(problem, solve_declaration(declare("svm.hard.primal", other)))
    assert (
        judge("svm.hard", [*proofs, wrong], problem.scale).judgements[-1].agreement
        is Agreement.DISAGREES
    )


def test_bad_pairs_and_queries_are_refused() -> None:
    for pairs in ([[0.9, 1.2]], [[0, 1, 2], [1, 2, 0]], [[0, 99]], [[1, 1]]):
        with pytest.raises(ValueError, match="ranking_from_pairs"):
            ranking_from_pairs(X, pairs)
    with pytest.raises(ValueError, match="qid holds NaN"):
        ranking(X, LEVELS, np.full(N, np.nan))
    with pytest.raises(ValueError, match="finite"):
        ranking_vector_machine(X, LEVELS).with_cost(np.inf)


def test_symmetrised_differences_keep_the_weights() -> None:
    """RankSVM as classification of the differences, with means over queries."""
    (link,) = (
        link
        for link in links.LINKS
        if (link.kind, link.a, link.b) == ("equivalence", "rank.l1.primal", "svm.soft.primal")
    )
    assert isinstance(link, links.Equivalence)
    weighted = ranking(X, LEVELS, QUERIES, 0.5, per_query="mean")
    assert optimum(link.problem(weighted)) == pytest.approx(optimum(weighted), rel=1e-7)
    for other in ("svm.hard.primal", "rank.hard.primal"):
        (hard,) = (link for link in links.LINKS if (link.a, link.b) == ("rank.hard.primal", other))
        assert isinstance(hard, links.Equivalence)
        assert not hard.applies(replace(weighted, C=np.inf))


def made(y: Any, weights: Any, queries: Any, pairs: Any) -> dict[str, Problem]:
    """Make a problem of every constructor that keeps data besides X."""
    return {
        "classification": classification(X, y, kernel=rbf(0.5), sample_weight=weights),
        "regression": regression(X, y, kernel=rbf(0.5), sample_weight=weights),
        "ranking": ranking(X, y, queries, kernel=rbf(0.5), loss="squared_hinge"),
        "vector machine": ranking_vector_machine(X, y, queries, kernel=rbf(0.5)),
        "pairs": ranking_from_pairs(X, pairs, kernel=rbf(0.5)),
    }


@pytest.mark.parametrize("name", made(SIGNS, WEIGHTS, QUERIES, np.array([[0, 1], [2, 3]])))
def test_what_is_computed_later_is_of_the_data_as_they_were(name: str) -> None:
    y, weights, queries, pairs = (
        SIGNS.copy(),
        WEIGHTS.copy(),
        QUERIES.copy(),
        np.array([[0, 1], [2, 3]]),
    )
    found = solve(made(y, weights, queries, pairs)[name])
    wanted = solve(made(y, weights, queries, pairs)[name])
    before = wanted.value, wanted.lower, wanted.upper, wanted.bias_interval
    y[:], weights[:], queries[:], pairs[:] = (
        -y,
        weights + 1,
        queries[::-1].copy(),
        pairs[:, ::-1].copy(),
    )
    assert (found.value, found.lower, found.upper, found.bias_interval) == before


def test_sparse_features_are_copied_too() -> None:
    Z = sparse.csr_array(X)
    found = solve(classification(Z, SIGNS))
    Z.data[:] = 0.0
    assert found.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (
            Point(alpha=np.ones(3)),
            r"the point's alpha must be a multiplier for each row, of shape \(24,\), and is "
            r"of shape \(3,\)",
        ),
        (
            Point(beta=np.ones((24, 1))),
            r"the point's beta must be a coefficient .* of shape \(24,\), and is of "
            r"shape \(24, 1\)",
        ),
        (
            Point(w=np.ones(3)),
            "a point of this svm.soft problem has no w: its parts are beta, b, alpha",
        ),
        (
            Point(alpha=["a"] * 24),  # type: ignore[arg-type]
            "the point's alpha must hold numbers, not 'a' at row 0",
        ),
        (
            Point(beta=np.ones(24), b=[1.0, 2.0]),
            r"the point's b must be a number, of shape \(\), and is of shape \(2,\)",
        ),
    ],
)
def test_a_point_of_the_wrong_size_is_refused_in_a_sentence(point: Point, words: str) -> None:
    problem = classification(X, SIGNS, kernel=rbf(0.5))
    for use in (
        partial(interval, problem),
        problem.values,
        partial(solve, problem, "smo", 1e-6, None, None),
    ):
        with pytest.raises(ValueError, match=words):
            use(point)


def test_a_point_of_a_linear_program_of_the_wrong_size_is_refused_in_a_sentence() -> None:
    problem = ranking_vector_machine(X, LEVELS, QUERIES)
    with pytest.raises(
        ValueError,
        match=r"the point's x must be a coefficient for each of the points, of shape \(24,\), and "
        r"is of shape",
    ):
        interval(problem, OneNormPoint(x=np.ones(3)))
    with pytest.raises(
        ValueError,
        match=rf"the point's u must be a multiplier for each pair, of shape \({problem.p},\), and "
        rf"is of shape",
    ):
        problem.values(OneNormPoint(u=np.ones(problem.p + 1)))


def test_a_list_is_as_good_as_an_array() -> None:
    problem = classification(X, SIGNS, kernel=rbf(0.5))
    found = solve(problem)
    alpha = np.asarray(found.dual)
    listed = interval(problem, Point(alpha=alpha.tolist(), b=np.array(found.bias)))
    assert listed == interval(problem, Point(alpha=alpha, b=found.bias))
