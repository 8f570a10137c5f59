"""Reciprocal ranks, AP@k, tables by query and the randomisation test.

Oracles are permutations of ties, sums over all signs, and values worked by hand.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from equimargin.estimators import ranking_scorer
from equimargin.metrics import (
    PerQuery,
    average_precision,
    expected_reciprocal_rank,
    mean_ndcg,
    ndcg,
    pairwise_accuracy,
    randomisation_test,
    reciprocal_rank,
    score_queries,
)
from scored import Array, close, small


def cascade(stop: list[float], k: int) -> float:
    """Return the expected 1 / place of the stop, by the definition."""
    total, reach = 0.0, 1.0
    for place, r in enumerate(stop[:k], 1):
        total += reach * r / place
        reach *= 1 - r
    return total


def first_precisions(hits: list[int], k: int) -> float:
    found = [sum(hits[:i]) / i for i in range(1, min(k, len(hits)) + 1) if hits[i - 1]]
    return sum(found) / min(k, sum(hits)) if any(hits) else 0.0


@given(small, st.integers(1, 6))
@example([(1, 0), (1, 0), (0, 0)], 2)
@example([(0, 2), (0, 1)], 1)
@example([(0, 1), (2, 1), (1, 0)], 6)
def test_metrics_of_ties_are_means_over_their_orders(
    documents: list[tuple[int, int]], k: int
) -> None:
    orders = list(permutations(documents))
    ranked = [sorted(order, key=lambda document: -document[1]) for order in orders]
    y, f = zip(*documents, strict=True)
    hits = [[int(level >= 1) for level, _ in order] for order in ranked]
    stops = [[(2**level - 1) / 2**4 for level, _ in order] for order in ranked]
    for found, values in (
        (reciprocal_rank(y, f, k=k), [cascade([float(h) for h in hit], k) for hit in hits]),
        (expected_reciprocal_rank(y, f, k=k), [cascade(stop, k) for stop in stops]),
        (average_precision(y, f, k=k), [first_precisions(hit, k) for hit in hits]),
    ):
        np.testing.assert_allclose(found.mean, np.mean(values), **close)
    rows = sorted(documents, key=lambda document: -document[1])
    hit = [int(level >= 1) for level, _ in rows]
    for metric, value in (
        (reciprocal_rank, cascade([float(h) for h in hit], k)),
        (average_precision, first_precisions(hit, k)),
    ):
        np.testing.assert_allclose(metric(y, f, k=k, ties="ordinal").mean, value, **close)


def test_values_worked_by_hand() -> None:
    y, f = [0, 2, 1, 4], [4.0, 3.0, 2.0, 1.0]
    assert reciprocal_rank(y, f).mean == 1 / 2
    assert reciprocal_rank(y, f, k=1).mean == 0.0
    assert reciprocal_rank(y, f, threshold=4.0).mean == 1 / 4
    R = [0, 3 / 16, 1 / 16, 15 / 16]
    by_hand = R[1] / 2 + (1 - R[1]) * R[2] / 3 + (1 - R[1]) * (1 - R[2]) * R[3] / 4
    assert expected_reciprocal_rank(y, f).mean == pytest.approx(by_hand, abs=1e-15)
    assert average_precision(y, f, k=2).mean == (1 / 2) / 2
    assert average_precision(y, f, k=3).mean == pytest.approx((1 / 2 + 2 / 3) / 3)
    with pytest.raises(ValueError, match="the relevance 5 at row 1, above highest=4; pass"):
        expected_reciprocal_rank([0, 5], [1, 0])


def test_many_ties_need_no_quadratic_time() -> None:
    """Of n documents in random order, r relevant, 1 / place of the first has a known mean."""
    n, r = 200_000, 100_000
    y = np.repeat([1.0, 0.0], [r, n - r])
    chance, wanted = 1.0, 0.0
    for t in range(200):
        wanted += chance * r / (n - t) / (t + 1)
        chance *= (n - r - t) / (n - t)
    assert reciprocal_rank(y, np.zeros(n)).mean == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "metric", [ndcg, mean_ndcg, average_precision, reciprocal_rank, expected_reciprocal_rank]
)
def test_queries_without_a_relevant_document_count_0_or_1_or_not(metric: Any) -> None:
    y, f, qid = [1, 0, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]
    first = metric(y, f, qid).values[0]
    for choice, value, mean in (("zero", 0, first / 2), ("one", 1, (first + 1) / 2)):
        found = metric(y, f, qid, no_relevant=choice)
        assert (found.values.tolist(), found.mean) == ([first, value], pytest.approx(mean))
    skipped = metric(y, f, qid, no_relevant="skip")
    assert np.isnan(skipped.values[1])
    assert skipped.mean == first
    with pytest.raises(ValueError, match="no_relevant must be 'zero' or 'one' or 'skip'"):
        metric(y, f, qid, no_relevant="half")


def test_what_is_not_retrieved_is_relevant_and_has_no_place() -> None:
    y, f = [1, 0, 1, 1], [2.0, 1.0, -np.inf, -np.inf]
    for ties in ("average", "ordinal"):
        assert average_precision(y, f, ties=ties).mean == 1 / 3
        assert reciprocal_rank(y[1:], f[1:], ties=ties).mean == 0
        ideal = 1 + 1 + 1 / np.log2(3)
        assert ndcg(y, f, ties=ties).mean == pytest.approx(1 / ideal)
    assert pairwise_accuracy(y, f).mean == 1 / 3
    with pytest.raises(ValueError, match="f holds NaN or an infinite number at row 0"):
        ndcg(y, [np.inf, 0, 0, 0])


def test_a_table_names_queries_that_differ_in_the_fifth_digit() -> None:
    text = str(score_queries([1, 0, 1, 0], [1, 0, 0, 1], [7.00001, 7.00001, 7.00002, 7.00002]))
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["7.00001", "7.00002"]


def test_a_table_counts_and_names_every_query() -> None:
    y, f, qid = [2, 0, 0, 0, 1], [1, 0, 1, 0, 1], ["a", "a", "b", "b", "c"]
    scores = score_queries(y, f, qid, ["ndcg@1", "map@1", "mrr", "err", "recall", "kendall_tau"])
    assert scores.query.tolist() == ["a", "b", "c"]
    assert (scores.documents.tolist(), scores.relevant.tolist()) == ([2, 2, 1], [1, 0, 1])
    assert scores.without_relevant.tolist() == ["b"]
    assert scores.means["err"] == pytest.approx((3 / 16 + 0 + 1 / 16) / 3)
    columns = scores.columns()
    assert list(columns)[:4] == ["query", "documents", "relevant", "ndcg@1"]
    np.testing.assert_array_equal(columns["recall"], [1.0, np.nan, 1.0])
    text = str(scores)
    assert "without a relevant document: 1 (b)" in text
    assert "recall undefined" in text
    assert "not in the mean of kendall_tau: 2 (b, c)" in text
    many = score_queries(np.zeros(50), np.zeros(50), np.arange(50), {"mine": mean_ndcg})
    assert "... 30 more in columns()" in str(many)
    assert "without a relevant document: 50 (0, 1, " in str(many)
    assert "19 and 30 more)" in str(many)
    for wrong in ("ndgc", "kendall_tau@3", "ndcg@", "ndcg@1@2"):
        with pytest.raises(ValueError, match=f"no ranking metric '{wrong}'; choose one of"):
            score_queries(y, f, qid, [wrong])
        with pytest.raises(ValueError, match="no ranking metric"):
            ranking_scorer(wrong)
    with pytest.raises(ValueError, match=r"metrics must be a list of names, such as \['mrr'\]"):
        score_queries(y, f, qid, "mrr")
    with pytest.raises(ValueError, match=r"metric mine must return an equimargin\.metrics\.PerQ"):
        score_queries(y, f, qid, {"mine": lambda y, f, qid: 0.5})  # type: ignore[dict-item,return-value]
    with pytest.raises(ValueError, match="'ndcg@10' and k=5 are two cut-offs; leave one of them"):
        ranking_scorer("ndcg@10", k=5)


def test_a_threshold_is_that_of_the_counts_and_of_the_metrics() -> None:
    y, f, qid = [1, 0, 2, 1], [1, 2, 3, 4], ["a", "a", "b", "b"]
    scores = score_queries(y, f, qid, ["map@2", "mrr", "recall", "ndcg@2"], threshold=2)
    assert scores.relevant.tolist() == [0, 1]
    assert scores.metrics["map@2"].values.tolist() == [0.0, 1 / 2]
    assert scores.metrics["mrr"].values.tolist() == [0.0, 1 / 2]
    np.testing.assert_array_equal(scores.metrics["recall"].values, [np.nan, 1.0])
    assert scores.metrics["ndcg@2"].values.tolist() == ndcg(y, f, qid, k=2).values.tolist()


def values(numbers: Any) -> PerQuery:
    weight = np.where(np.isnan(numbers), 0.0, 1.0)
    return PerQuery(np.arange(len(numbers)), np.nan_to_num(numbers), weight)


def exact_p(differences: Array) -> float:
    """Return the two-sided p-value over all signs."""
    sums = [abs(np.dot(signs, differences)) for signs in product([-1, 1], repeat=len(differences))]
    return float(np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12))


@pytest.mark.parametrize("seed", range(4))
def test_the_randomisation_test_is_the_sum_over_all_signs(seed: int) -> None:
    """The p-value is a share of independent samples, within five standard deviations."""
    rng = np.random.default_rng(seed)
    a = np.round(rng.uniform(size=9), 1)
    b = np.round(a + rng.normal(0.1 * seed, 0.2, size=9), 1)
    found = randomisation_test(values(a), values(b), samples=40_000, seed=seed)
    wanted = exact_p(a - b)
    assert abs(found.p_value - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / 40_000) + 1e-4
    scipys = permutation_test(
        (a, b), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert wanted == pytest.approx(scipys.pvalue, abs=1e-12)
    assert found.difference == pytest.approx(scipys.statistic, abs=1e-15)
    assert found.p_value == (1 + found.count) / (1 + 40_000)


def test_a_randomisation_test_is_two_sided_and_seeded_and_names_what_it_excludes() -> None:
    a, b = values([0.9, 0.8, 0.7, np.nan]), values([0.1, 0.2, 0.3, 0.5])
    found, other = randomisation_test(a, b, 999, seed=3), randomisation_test(b, a, 999, seed=3)
    assert (found.count, found.p_value) == (other.count, other.p_value)
    assert found.difference == -other.difference == pytest.approx(0.6)
    assert found.count != randomisation_test(a, b, 999, seed=4).count
    assert (found.queries, found.excluded.tolist()) == (3, [3])
    assert str(found).startswith("difference +0.6000 over 3 queries, two-sided p = (1 + ")
    assert str(found).endswith("; undefined in 1 more: 3")
    equal = randomisation_test(a, a, 99)
    assert (equal.difference, equal.p_value) == (0.0, 1.0)
    # Without a tie among 40 queries of one sign the least p-value is reached.
    assert randomisation_test(values(np.ones(40)), values(np.zeros(40)), 999).p_value == 1 / 1000


def test_pairs_weigh_queries_in_a_randomisation_test() -> None:
    y, qid = [2, 1, 0, 1, 0], [0, 0, 0, 1, 1]
    a = pairwise_accuracy(y, [3, 2, 1, 0, 1], qid)
    b = pairwise_accuracy(y, [1, 2, 3, 1, 0], qid)
    assert randomisation_test(a, b, 99).difference == pytest.approx(a.mean - b.mean)


@pytest.mark.parametrize(
    ("a", "b", "samples", "message"),
    [
        (values([1.0]), values([1.0, 0.0]), 9, r"the queries of a and b differ: \[1\] are in one"),
        (values([np.nan]), values([1.0]), 9, "undefined in every query for one of the rankings"),
        (values([1.0]), values([0.0]), 0, "samples must be at least 1 and whole, not 0"),
        (values([1.0]), 0.5, 9, "b must be a PerQuery, such as ndcg"),
        (
            values([1.0]),
            PerQuery(np.arange(1), np.ones(1), np.full(1, 2.0)),
            9,
            "queries of different weights; compute both from the same relevances",
        ),
    ],
)
def test_what_makes_no_pairs_is_a_sentence(a: Any, b: Any, samples: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        randomisation_test(a, b, samples)


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_that_is_none_is_a_sentence(seed: Any) -> None:
    with pytest.raises(ValueError, match=f"seed must be at least 0 and whole, not {seed}"):
        randomisation_test(values([1.0]), values([0.0]), 9, seed)
