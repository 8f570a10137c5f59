"""Document W's bound on average precision over all orders, O's risk over all pairs."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from equimargin.formulations import classification, linear, ranking, ranking_from_pairs, rbf
from equimargin.metrics import average_precision, concordance
from equimargin.proofs import surrogate_regret
from equimargin.solvers import exact_path, regularization_path, solve
from ledger.measures.along import precision_at
from ledger.measures.least import average_precision_bound, average_precision_least
from ledger.measures.proven import proven_average_precision
from ledger.measures.risk import empirical_risk, preference_loss
from scored import Array, close, each, rankings, small


def test_average_precision_is_bounded_by_the_inversions() -> None:
    """W's bound for every ranking of up to 7 documents, equal in 28 of 247.

    With one inversion less than counted the bound is violated.
    """
    equal = broken = 0
    configurations = [c for n in range(1, 8) for c in product([0, 1], repeat=n) if any(c)]
    for relevant in configurations:
        best_first = -np.arange(len(relevant))
        R, Q = sum(relevant), concordance(relevant, best_first).discordant[0]
        precision = average_precision(relevant, best_first).mean
        assert precision >= average_precision_bound(R, Q) * (1 - 1e-12)
        equal += precision <= average_precision_bound(R, Q) * (1 + 1e-12)
        broken += Q > 0 and precision < average_precision_bound(R, Q - 1) * (1 - 1e-12)
    assert (len(configurations), equal) == (247, 28)
    assert broken > 0


@given(small)
def test_the_bound_of_average_precision_holds_with_ties_and_levels(
    documents: list[tuple[int, int]],
) -> None:
    y, f = (np.array(column, dtype=float) for column in zip(*documents, strict=True))
    R = int((y >= 1).sum())
    if R == 0:
        y[0], R = 1.0, 1
    for levels in (y >= 1, y):
        counts = concordance(levels, f)
        discordant, tied = counts.discordant[0], counts.tied[0]
        assert average_precision(y, f).mean >= average_precision_bound(R, discordant + tied / 2) * (
            1 - 1e-12
        )
        for ties in ("ordinal", "max"):
            assert average_precision(y, f, ties=ties).mean >= average_precision_bound(
                R, discordant + tied
            ) * (1 - 1e-12)


def test_the_bound_is_broadcast() -> None:
    bound = average_precision_bound([1, 2], [[0, 0], [3, 3]])
    assert bound.shape == (2, 2)
    assert bound[1, 0] == average_precision_bound(1, 3) == 1 / 4
    # The bound is not attained: a perfect ranking has 1.
    assert average_precision_bound(3, 0) < 1


@pytest.mark.parametrize(("R", "N"), [(1, 4), (2, 3), (3, 3), (4, 2), (5, 3), (3, 5)])
def test_the_least_average_precision_is_that_of_the_worst_ranking(R: int, N: int) -> None:
    """Over all rankings of R relevant and N irrelevant documents."""
    least: dict[int, float] = {}
    for relevant in combinations(range(R + N), R):
        y = np.isin(np.arange(R + N), relevant).astype(float)
        f = -np.arange(R + N, dtype=float)
        inversions = int(concordance(y, f).discordant[0])
        least[inversions] = min(least.get(inversions, 1.0), average_precision(y, f).mean)
    assert sorted(least) == list(range(R * N + 1))
    for inversions, value in least.items():
        np.testing.assert_allclose(average_precision_least(R, inversions, N), value, **close)
        assert value >= average_precision_bound(R, inversions) * (1 - 1e-12)
    assert average_precision_least(R, 0) == 1.0
    falling = [average_precision_least(R, inversions) for inversions in range(30)]
    assert (np.diff(falling) < 0).all()


def test_the_least_average_precision_of_impossible_counts_is_a_sentence() -> None:
    for arguments, message in (
        ((0, 1), "relevant must be a whole number, 1 or more"),
        ((1, 0.5), "inversions must be a whole number"),
        (
            (2, 7, 3),
            "2 relevant and 3 irrelevant documents have 6 pairs, and cannot have 7 inversions",
        ),
        ((10**4, 10**4), "too many partitions"),
        # 29 GB
        (
            (60_000, 60_000, 1),
            "60,000 relevant documents and 60,000 inversions have too many partitions",
        ),
        ((10**9, 1), "relevant documents and 1 inversion have too many partitions"),
        ((2, 1, 1, 0.0), "seconds must be a positive number"),
        ((300, 300, 300, 1e-9), "the partitions take more than 1e-09 s"),
    ):
        with pytest.raises(ValueError, match=message):
            average_precision_least(*arguments)
    assert average_precision_least(10, 10) == pytest.approx(0.798, abs=5e-4)
    assert average_precision_bound(10, 10) == pytest.approx(0.777, abs=5e-4)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_fitted_ranking_proves_its_average_precision(kernel: Any, loss: Any) -> None:
    rng = np.random.default_rng(3)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = np.digitize(X[:, 0] + 0.4 * rng.normal(size=60), [-0.3, 0.8])
    y[qid == 5] = 0
    solution = solve(ranking(X, y, qid, 2.0, kernel, loss))
    proven, f = proven_average_precision(solution), solution.decision_function(X)
    assert proven.query.tolist() == [0, 1, 2, 3, 4]
    worst = average_precision(y, f - 1e-9 * (y >= 1), qid).values[
        :5
    ]  # of tied documents the relevant ones come last
    assert (proven.inversions <= proven.slack).all()
    for lower, upper in pairwise([proven.bound, proven.least_of_slack, proven.least, worst]):
        assert (lower <= upper + 1e-12).all()
    for q in proven.query.tolist():
        mine = qid == q
        above = f[mine][y[mine] >= 1][:, None] - f[mine][y[mine] < 1]
        # Values that are equal but for rounding may count.
        assert (above <= -1e-9).sum() <= proven.inversions[q] <= (above <= 1e-9).sum()
    assert proven.mean == pytest.approx(proven.least.mean())
    with pytest.raises(ValueError, match="must be one of ranking"):
        proven_average_precision(solve(classification(X, np.where(y > 0, 1, -1))))
    nothing: Any = None
    with pytest.raises(ValueError, match="must be one of ranking"):
        proven_average_precision(nothing)


def test_queries_of_too_many_partitions_are_proven_by_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, qid = np.array([[0.0], [1.0], [2.0], [3.0], [0.0], [2.0], [1.0]]), [0, 0, 0, 0, 1, 1, 1]
    solution = solve(ranking(X, [1, 0, 0, 1, 0, 1, 1], qid))
    whole = proven_average_precision(solution)
    assert whole.exact.tolist() == [True, True]
    monkeypatch.setattr("ledger.measures.least.MOST_SUMS", 5)
    limited = proven_average_precision(solution)
    late = proven_average_precision(solution, seconds=1e-9)
    assert limited.exact.tolist() == [False, True]
    assert limited.least[1] == whole.least[1]
    for found in (limited, late):
        bounded = ~found.exact
        assert bounded[0]
        assert (found.least_of_slack[bounded] == found.bound[bounded]).all()
        assert (
            found.least[bounded]
            == average_precision_bound(found.relevant, found.inversions)[bounded]
        ).all()
        assert (found.least <= whole.least + 1e-12).all()


@given(rankings())
def test_the_empirical_risk_is_the_mean_loss_of_all_pairs(data: tuple[Array, Array, Any]) -> None:
    strict, whole, counts = (
        empirical_risk(*data),
        empirical_risk(*data, ties="wrong"),
        concordance(*data),
    )
    for q, (y, h) in enumerate(each(*data)):
        pairs = [(i, j) for i in range(len(y)) for j in range(len(y))]
        inverted = sum(
            (y[i] > y[j] and h[i] < h[j]) or (y[i] < y[j] and h[i] > h[j]) for i, j in pairs
        )
        undone = sum(
            (y[i] > y[j] and h[i] <= h[j]) or (y[i] < y[j] and h[i] >= h[j]) for i, j in pairs
        )
        np.testing.assert_allclose(
            [strict.values[q], whole.values[q]],
            [inverted / len(y) ** 2, undone / len(y) ** 2],
            **close,
        )
        losses = [
            preference_loss(h, h[:, None], y, y[:, None], ties) for ties in ("right", "wrong")
        ]
        np.testing.assert_allclose(
            [loss.mean() for loss in losses], [strict.values[q], whole.values[q]], **close
        )
        assert strict.total[q] == 2 * counts.discordant[q] < len(y) ** 2 == counts.objects[q] ** 2


@given(rankings())
def test_the_loss_of_a_pair_is_that_of_the_pair_turned_round(
    data: tuple[Array, Array, Any],
) -> None:
    y, h, _ = data
    for ties in ("right", "wrong"):
        loss = preference_loss(h, h[::-1], y, y[::-1], ties)
        np.testing.assert_array_equal(loss, preference_loss(h[::-1], h, y[::-1], y, ties))
        np.testing.assert_array_equal(loss, preference_loss(-h, -h[::-1], -y, -y[::-1], ties))
    np.testing.assert_array_equal(preference_loss(y, y[::-1], y, y[::-1], "wrong"), 0.0)


def test_a_constant_prediction_has_no_inversion_and_orders_nothing() -> None:
    """O's words "smallest number of inversions" alone do not exclude it."""
    assert empirical_risk([1, 2, 3], [0, 0, 0]).mean == 0.0
    assert empirical_risk([1, 2, 3], [0, 0, 0], ties="wrong").mean == 6 / 9
    assert preference_loss(0, 0, 1, 2) == 0.0 < preference_loss(0, 0, 1, 2, "wrong") == 1.0
    assert preference_loss(np.nan, 0, 1, 2) == preference_loss(np.nan, 0, 1, 2, "wrong") == 0.0


@given(rankings())
def test_inversions_of_ranks_are_few_where_the_ranks_are_near(
    data: tuple[Array, Array, Any],
) -> None:
    """m^2 R_emp / 2 <= (m - 1) / 2 sum |h - y|.

    An inverted pair has |h_i - y_i| + |h_j - y_j| >= 2.
    """
    y, h = np.round(data[0]), np.round(np.clip(data[1], -4, 4))
    m = len(y)
    assert empirical_risk(y, h).mean * m**2 <= (m - 1) * np.abs(h - y).sum()


def test_bad_input_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="without a relevant document"):
        average_precision_bound(0, 1)
    with pytest.raises(ValueError, match="inversions"):
        average_precision_bound(1, -1)
    with pytest.raises(ValueError, match="y is empty"):
        empirical_risk([], [])
    with pytest.raises(ValueError, match="qid holds NaN"):
        empirical_risk([1, 0], [1.0, 0.0], [1, np.nan])
    unknown: Any = "half"
    with pytest.raises(ValueError, match="ties must be 'right' or 'wrong', not 'half'"):
        empirical_risk([1, 0], [1.0, 0.0], ties=unknown)


def test_average_precision_along_a_path_is_that_of_its_exact_scores() -> None:
    """At a tie an irrelevant document comes first; W's bound is below at every C."""
    rng = np.random.default_rng(7)
    X = rng.integers(-3, 4, (12, 2)).astype(float)
    y, qid = rng.integers(0, 3, 12), np.repeat([1, 2], 6)
    problem: Any = ranking(X, y, qid)
    path = exact_path(problem)
    right = surrogate_regret(path)
    wide = surrogate_regret(regularization_path(problem))
    costs = [float(a + b) / 2 for a, b in pairwise(right.steps)]
    assert costs
    for C in [0.0, *costs]:
        f = np.unique(np.array(path.f(C)), return_inverse=True)[1]
        # Relevant documents that are tied may have any order.
        scores = f - 0.5 * (y >= 1)
        order = np.lexsort((y >= 1, scores))
        places = np.empty(12)
        places[order] = np.arange(12)
        found = precision_at(right, C)
        assert found.least == found.most
        assert float(found.least) == pytest.approx(average_precision(y, places, qid).mean)
        assert found.bound <= found.least
        around = precision_at(wide, C)
        assert around.least <= found.least <= around.most
        assert around.bound <= found.bound


def test_a_pair_that_is_not_proven_leaves_an_interval_of_average_precision() -> None:
    X = [[0.0, 3.0], [0.0, -3.0], [1.0, 1.0], [-3.0, 0.0], [-1.0, 1.0], [1.0, -3.0]]
    problem: Any = ranking(X, [0, 0, 1, 0, 1, 1])
    # Two documents are tied at this C, which a path in floats cannot prove.
    right = precision_at(surrogate_regret(exact_path(problem)), 0.08)
    around = precision_at(surrogate_regret(regularization_path(problem)), 0.08)
    assert right.bound <= right.least == right.most == around.least < around.most
    assert around.bound == right.bound


def test_what_has_no_average_precision_along_a_path_is_a_sentence() -> None:
    X = [[0.0], [1.0], [3.0]]
    listed = surrogate_regret(exact_path(ranking_from_pairs(X, [(0, 1)])))
    for curve, message in (
        (listed, r"must be that of ranking\(X, y, qid\)"),
        (surrogate_regret(exact_path(ranking(X, [0, 0, 0]))), "no document has a relevance of 1"),
    ):
        with pytest.raises(ValueError, match=message):
            precision_at(curve, 0)
