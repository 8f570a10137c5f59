"""Ranking measures against scipy, scikit-learn, all pairs, all orders, and LETOR."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations, product
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from equimargin.metrics import (
    PerQuery,
    average_precision,
    concordance,
    empirical_loss,
    expected_loss,
    kendall_tau,
    mean_ndcg,
    ndcg,
    pairwise_accuracy,
    precision,
    rank_matrix,
    recall,
)
from scored import Array, close, each, rankings, small


@given(rankings())
def test_concordance_counts_all_pairs(data: tuple[Array, Array, Any]) -> None:
    counts = concordance(*data)
    for q, (y, f) in enumerate(each(*data)):
        pairs = [(i, j) for i, j in permutations(range(len(y)), 2) if y[i] > y[j]]
        assert counts.concordant[q] == sum(f[i] > f[j] for i, j in pairs)
        assert counts.discordant[q] == sum(f[i] < f[j] for i, j in pairs)
        assert counts.tied[q] == sum(f[i] == f[j] for i, j in pairs)
        assert counts.apart[q] == sum(f[i] != f[j] for i, j in combinations(range(len(y)), 2))
        assert counts.pairs[q] == len(pairs)


def test_concordance_of_many_points_needs_no_list_of_them() -> None:
    y = np.arange(200_000.0)
    counts = concordance(y, -np.floor(y / 2))
    assert (counts.concordant[0], counts.tied[0]) == (0, 100_000)
    assert counts.discordant[0] == 200_000 * 199_999 // 2 - 100_000


@given(rankings())
def test_pairwise_accuracy_weighs_queries_by_their_pairs(data: tuple[Array, Array, Any]) -> None:
    half, wrong, counts = (
        pairwise_accuracy(*data),
        pairwise_accuracy(*data, ties="wrong"),
        concordance(*data),
    )
    some = counts.pairs > 0
    np.testing.assert_array_equal(np.isnan(half.values), ~some)
    if some.any():
        assert wrong.mean == counts.concordant.sum() / counts.pairs.sum()
        assert half.mean == (counts.concordant.sum() + counts.tied.sum() / 2) / counts.pairs.sum()
    else:
        assert np.isnan(half.mean)


@given(rankings())
def test_pairwise_accuracy_of_two_levels_is_the_area_under_the_roc_curve(
    data: tuple[Array, Array, Any],
) -> None:
    y, f, qid = data
    level = (y > y.min()).astype(float)
    ranks = np.unique(f, return_inverse=True)[1]  # roc_auc_score ignores small differences.
    values = pairwise_accuracy(level, f, qid).values
    for value, (wanted, scores) in zip(values, each(level, ranks, qid), strict=True):
        if len(np.unique(wanted)) == 2:
            np.testing.assert_allclose(value, roc_auc_score(wanted, scores), **close)
        else:
            assert np.isnan(value)


@given(rankings())
def test_kendalls_tau_is_scipys(data: tuple[Array, Array, Any]) -> None:
    tau = kendall_tau(*data)
    for value, (y, f) in zip(tau.values, each(*data), strict=True):
        np.testing.assert_allclose(
            value, kendalltau(y, f).statistic if len(y) > 1 else np.nan, **close
        )
    defined = tau.values[~np.isnan(tau.values)]
    np.testing.assert_allclose(tau.mean, defined.mean() if len(defined) else np.nan, **close)


def test_kendalls_tau_of_the_tutorials_example() -> None:
    """T section 5.3 calls its accuracy of 0.7 tau; W's is 2 x 0.7 - 1."""
    wanted, ranked = [5, 4, 3, 2, 1], [3, 4, 5, 2, 1]
    assert pairwise_accuracy(wanted, ranked).mean == 0.7
    assert kendall_tau(wanted, ranked).mean == pytest.approx(0.4, abs=1e-15)
    assert kendall_tau(wanted, wanted).mean == 1.0


@given(rankings(), st.integers(1, 12))
def test_ndcg_is_scikit_learns(data: tuple[Array, Array, Any], k: int) -> None:
    values = ndcg(*data, k=k, gain="linear", discount="shifted").values
    for value, (y, f) in zip(values, each(*data), strict=True):
        if len(y) > 1:
            ranks = np.unique(f, return_inverse=True)[1]
            np.testing.assert_allclose(value, ndcg_score([y], [ranks], k=k), **close)
        else:
            assert value == float(y[0] > 0)


def letors_ndcg(y: list[float]) -> list[float]:
    """Return NDCG@k for k = 1, ..., l of relevances in the assessed order.

    This is K's section 4.2 with pi-bar in the numerator.
    """
    ratios, best = [], sorted(y, reverse=True)
    for m in range(1, len(y) + 1):
        dcg, ideal = (
            sum((2**r - 1) / log2(max(2, i)) for i, r in enumerate(order[:m], 1))
            for order in (y, best)
        )
        ratios.append(dcg / ideal if ideal > 0 else 0.0)
    return ratios


@given(rankings(), st.integers(1, 12))
def test_ndcg_and_its_mean_are_letors(data: tuple[Array, Array, Any], k: int) -> None:
    at_k, at_all = ndcg(*data, k=k, ties="ordinal"), mean_ndcg(*data, ties="ordinal")
    for q, (y, f) in enumerate(each(*data)):
        ratios = letors_ndcg(y[np.argsort(-f, kind="stable")].tolist())
        np.testing.assert_allclose(at_k.values[q], ratios[min(k, len(y)) - 1], **close)
        np.testing.assert_allclose(at_all.values[q], np.mean(ratios), **close)
    np.testing.assert_allclose(at_k.mean, at_k.values.mean(), **close)


@given(small)
@example([(0, 0)])
@example([(1, 0), (0, 0)])
def test_documents_with_the_same_score_count_the_mean_over_their_orders(
    documents: list[tuple[int, int]],
) -> None:
    y, f = (np.array(column, dtype=float) for column in zip(*documents, strict=True))
    shuffled = [list(order) for order in permutations(range(len(y)))]
    for metric in (
        ndcg,
        mean_ndcg,
        average_precision,
        lambda y, f, **ties: ndcg(y, f, k=2, **ties),
    ):
        over_orders = np.mean([metric(y[o], f[o], ties="ordinal").mean for o in shuffled])
        for o in shuffled[:3]:
            np.testing.assert_allclose(metric(y[o], f[o]).mean, over_orders, **close)


def test_ndcg_as_printed_is_always_one() -> None:
    """K prints the ideal order pi in the numerator and in I_m.

    With the assessed order the ranking has 0.908.
    """
    best, judged = sorted([0.0, 2.0, 1.0], reverse=True), [0.0, 2.0, 1.0]
    assert letors_ndcg(best) == [1.0, 1.0, 1.0]
    assert (
        ndcg(judged, [3, 2, 1]).mean
        == pytest.approx((3 + 1 / log2(3)) / 4)
        == pytest.approx(0.9077, abs=5e-5)
    )
    assert ndcg(judged, judged).mean == 1.0


def test_ndcg_of_a_thousand_levels_does_not_overflow() -> None:
    """2^y overflows from 1,024 on.

    K has no mean NDCG of MQ2007-list, with its 1,268 levels.
    """
    y = np.arange(1268.0)
    assert mean_ndcg(y, y).mean == 1.0
    assert 0 < mean_ndcg(y, -y).mean < 0.1
    assert ndcg([2000.0, 1999.0], [0, 1], k=1).mean == 0.5
    assert ndcg([1e-30, 0.0], [1, 0]).mean == 1.0


@given(rankings(), st.sampled_from([1.0, 2.0, 0.5]))
def test_average_precision_is_scikit_learns(
    data: tuple[Array, Array, Any], threshold: float
) -> None:
    values = average_precision(*data, threshold=threshold, ties="max").values
    for value, (y, f) in zip(values, each(*data), strict=True):
        relevant = y >= threshold
        ranks = np.unique(f, return_inverse=True)[1]
        np.testing.assert_allclose(
            value, average_precision_score(relevant, ranks) if relevant.any() else 0.0, **close
        )


def test_queries_without_a_pair_or_a_relevant_document() -> None:
    """Of three queries one has no pair and one no relevant document.

    LETOR counts 0 for NDCG and average precision there.
    """
    y, f, qid = [2, 2, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]
    np.testing.assert_array_equal(pairwise_accuracy(y, f, qid).values, [np.nan, 1.0, np.nan])
    np.testing.assert_array_equal(kendall_tau(y, f, qid).values, [np.nan, 1.0, np.nan])
    assert pairwise_accuracy(y, f, qid).mean == kendall_tau(y, f, qid).mean == 1.0
    for metric in (ndcg, mean_ndcg, average_precision):
        answer: PerQuery = metric(y, f, qid)
        assert answer.query.tolist() == ["a", "b", "c"]
        assert answer.values.tolist() == [1.0, 1.0, 0.0]
        assert answer.mean == 2 / 3


def test_one_document() -> None:
    assert np.isnan(pairwise_accuracy([1], [0.5]).mean)
    assert np.isnan(kendall_tau([1], [0.5]).mean)
    assert [metric([1], [0.5]).mean for metric in (ndcg, mean_ndcg, average_precision)] == [
        1.0,
        1.0,
        1.0,
    ]
    assert [metric([0], [0.5]).mean for metric in (ndcg, mean_ndcg, average_precision)] == [
        0.0,
        0.0,
        0.0,
    ]


@given(rankings(), st.integers(1, 6))
def test_precision_and_recall_are_means_over_all_orders_of_tied_documents(
    data: tuple[Array, Array, Any], k: int
) -> None:
    found, share = precision(*data, k=k), recall(*data, k=k)
    for q, (y, f) in enumerate(each(*data)):
        if len(y) > 6:
            continue
        orders = [
            order
            for order in permutations(range(len(y)))
            if all(f[i] >= f[j] for i, j in pairwise(order))
        ]
        relevant = [sum(y[i] >= 1 for i in order[:k]) for order in orders]
        np.testing.assert_allclose(found.values[q], np.mean(relevant) / min(k, len(y)), **close)
        if (y >= 1).any():
            np.testing.assert_allclose(share.values[q], np.mean(relevant) / (y >= 1).sum(), **close)
        else:
            assert np.isnan(share.values[q])


@given(rankings())
def test_average_precision_is_the_integral_of_precision_over_recall(
    data: tuple[Array, Array, Any],
) -> None:
    y, f = data[0], np.argsort(np.argsort(data[1], kind="stable")).astype(float)
    if not (y >= 1).any():
        return
    at = [(precision(y, f, k=k).mean, recall(y, f, k=k).mean) for k in range(1, len(y) + 1)]
    gained = np.diff([0.0] + [share for _, share in at])
    np.testing.assert_allclose(
        average_precision(y, f).mean, sum(gained * [found for found, _ in at]), **close
    )


def test_the_expected_loss_weighs_queries_and_the_empirical_one_does_not() -> None:
    y, f, qid = [2, 1, 0, 1, 0, 1], [3.0, 2.0, 1.0, 0.0, 1.0, 0.0], ["a", "a", "a", "b", "b", "c"]
    assert empirical_loss(y, f, qid).mean == 0.0  # -1 of a, 1 of b; c has no order
    assert expected_loss(y, f, qid, {"a": 0.75, "b": 0.25, "c": 0.0}).mean == -0.5
    assert expected_loss(y, f, qid, {"a": 2, "b": 2, "c": 9}).mean == empirical_loss(y, f, qid).mean
    wrong: Any
    for wrong, message in (
        ([1, 2, 3], "must map every query"),
        ({"a": 1, "b": 1}, "the queries of probability and of qid differ: \\['c'\\]"),
        ({"a": 1, "b": -1, "c": 1}, "the values of probability must be 3 numbers"),
        ({"a": 1, "b": np.inf, "c": 1}, "must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            expected_loss(y, f, qid, wrong)


@pytest.mark.parametrize("wrong", [None, "1", True, np.nan])
def test_a_threshold_or_a_k_that_is_none_is_a_sentence(wrong: Any) -> None:
    for metric in (precision, recall, average_precision):
        with pytest.raises(ValueError, match="threshold must be a finite number, not"):
            metric([1, 0], [1.0, 0.0], threshold=wrong)
    if wrong is not None:
        with pytest.raises(ValueError, match="k must be a whole number of documents"):
            precision([1, 0], [1.0, 0.0], k=wrong)


@given(rankings())
def test_a_rank_matrix_says_which_document_comes_first(data: tuple[Array, Array, Any]) -> None:
    _, f, qid = data
    r, query = rank_matrix(f, qid), np.zeros(len(f)) if qid is None else np.asarray(qid)
    for i, j in product(range(len(f)), repeat=2):
        assert r[i, j] == (query[i] == query[j] and f[i] > f[j])
    assert not (r & r.T).any()
    assert not (r @ r & ~r).any()
    with pytest.raises(ValueError, match="f holds NaN"):
        rank_matrix(np.append(f, np.nan))


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_kendalls_p_and_q_are_equal_and_different_entries_of_two_rank_matrices(
    y: list[int], f: list[int]
) -> None:
    above = np.triu_indices(6, 1)
    equal = (rank_matrix(y) == rank_matrix(f))[above]
    counts = concordance(y, f)
    assert (equal.sum(), (~equal).sum()) == (counts.concordant[0], counts.discordant[0])
    np.testing.assert_allclose(kendall_tau(y, f).mean, (2.0 * equal.sum() - 15) / 15, **close)


def test_with_ties_the_printed_tau_depends_on_how_documents_are_numbered() -> None:
    """W counts equal and different entries above the diagonal.

    Of two equal documents it takes one for the second.
    """

    def printed(y: Array, f: Array) -> int:
        return int((rank_matrix(y) == rank_matrix(f))[np.triu_indices(len(y), 1)].sum())

    y, f = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    assert (printed(y, f), printed(y[::-1], f[::-1])) == (1, 0)
    assert np.isnan(kendall_tau(y, f).mean)


EVERY = [
    concordance,
    pairwise_accuracy,
    kendall_tau,
    empirical_loss,
    ndcg,
    mean_ndcg,
    average_precision,
    precision,
    recall,
]


@pytest.mark.parametrize("metric", EVERY)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "y is empty"),
        (([1, 0], [1.0]), "f must have one number for each of the 2 rows"),
        (([[1, 0]], [1.0, 0.0]), "y must have one number for each"),
        (([1, np.nan], [1.0, 0.0]), "y holds NaN or an infinite number at row 1"),
        (([1, 0], [np.inf, 0.0]), "f holds NaN or an infinite number at row 0"),
        (([1, 0], [1.0, 0.0], [1]), "qid must have one entry for each of the 2 rows"),
        (([1, 0], [1.0, 0.0], [1, np.nan]), "qid holds NaN"),
    ],
)
def test_bad_input_is_a_sentence(metric: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric(*arguments)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (ndcg, {"k": 0}, "k must be a whole number"),
        (ndcg, {"k": 1.5}, "k must be a whole number"),
        (ndcg, {"gain": "quadratic"}, "gain must be 'exponential' or 'linear', not 'quadratic'"),
        (mean_ndcg, {"discount": "none"}, "discount must be"),
        (ndcg, {"ties": "max"}, "ties must be"),
        (average_precision, {"ties": "half"}, "ties must be"),
        (precision, {"ties": "max"}, "ties must be"),
        (precision, {"k": -1}, "k must be a whole number"),
        (recall, {"threshold": np.inf}, "threshold must be a finite number"),
        (average_precision, {"threshold": np.nan}, "threshold must be a finite number"),
        (pairwise_accuracy, {"ties": "right"}, "ties must be 'half' or 'wrong', not 'right'"),
    ],
)
def test_unknown_options_are_a_sentence(metric: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric([1, 0], [1.0, 0.0], **options)


def test_what_has_no_gain_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="negative relevance at row 1"):
        ndcg([1, -1], [1, 0])
