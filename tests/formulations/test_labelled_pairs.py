"""Sums over implicit pairs and their proven bounds, against those of listed pairs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from equimargin.formulations import interval, linear, polynomial, ranking, rbf
from equimargin.formulations.bounds.intervals import INWARD, OUTWARD, inner_interval
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows import counted, pair_slacks
from equimargin.formulations.rows import labelled as labelled_pairs
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.loss import HINGE, SQUARED_HINGE, Loss, huberised_hinge
from equimargin.formulations.rows.pair_multipliers import (
    FewMultipliers,
    MixedMultipliers,
    PairMultipliers,
)
from equimargin.solvers import Status, solve
from equimargin.solvers.products import gram_products
from equimargin.testing import ranking_data
from narrow import as_a, present

Array = Any
LOSSES = {
    "squared hinge": SQUARED_HINGE,
    "narrow": huberised_hinge(0.25),
    "wide": huberised_hinge(2.0),
}


@pytest.fixture(autouse=True, scope="module", params=["pair by pair", "sorted"])
def ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run every test with sums pair by pair, where they are used, and with sorted points."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "sorted":
            patch.setattr(counted, "PAIRS_PER_POINT", -1)
        yield


def cases(seed: int, count: int) -> Any:
    """Yield relevances, queries, decision values with ties and margins of 1, and costs."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m = int(rng.integers(1, 40))
        query = rng.integers(0, int(rng.integers(1, 5)), m)
        y = rng.integers(0, int(rng.integers(1, m + 2)), m).astype(float)
        rows = LabelledPairs(y, query)
        f = np.round(rng.normal(size=m) * rng.choice([0.5, 2.0, 20.0]) * 8) / 8
        yield rows, f, rng.uniform(0.5, 2.0, rows.groups), rng


def test_sums_by_blocks_of_levels_are_those_of_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and sums of u agree bit for bit, sums of squares within rounding error.

    Queries have one level or many.
    """
    monkeypatch.setattr(counted, "PAIRS_PER_POINT", -1)
    for rows, f, costs, _ in cases(1, 60):
        whole, blocks = rows.slacks(f, costs), rows.slacks(f, costs)
        for tau in (1.0, 2.0, -0.5) if rows.p else ():
            grid = whole.on_grid(tau)
            one = whole.within(grid)
            with monkeypatch.context() as patch:
                patch.setattr(counted, "LEVELS_IN_CACHE", 0)
                other = blocks.within(grid)
            assert "_blocks" in vars(blocks)
            assert "_blocks" not in vars(whole)
            for name in ("degree", "balance", "pull", "pairs"):
                assert (getattr(other, name) == getattr(one, name)).all()
            assert other.total == pytest.approx(one.total, rel=1e-14)
            assert other.square == pytest.approx(one.square, rel=1e-12, abs=1e-14)


def test_sums_pair_by_pair_are_those_of_sorted_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and A'u agree bit for bit, other sums within rounding error."""
    for rows, f, costs, rng in cases(2, 60):
        monkeypatch.setattr(counted, "PAIRS_PER_POINT", np.inf)
        pair_by_pair = rows.slacks(f, costs)
        monkeypatch.setattr(counted, "PAIRS_PER_POINT", -1)
        by_sweeps = rows.slacks(f, costs)
        unit = pair_by_pair.unit / by_sweeps.unit
        for tau in (1.0, 2.0, -0.5) if rows.p else ():
            one, other = (way.within(way.on_grid(tau)) for way in (pair_by_pair, by_sweeps))
            for name in ("degree", "balance"):
                assert (
                    pair_by_pair.scattered(getattr(one, name))
                    == by_sweeps.scattered(getattr(other, name))
                ).all()
            assert (
                pair_by_pair.scattered(one.pull) * unit == by_sweeps.scattered(other.pull)
            ).all()
            assert (one.pairs == other.pairs).all()
            assert one.total == pytest.approx(other.total, rel=1e-14)
            assert one.square == pytest.approx(other.square, rel=1e-12, abs=1e-14)
        v = rng.normal(size=rows.m)
        for phi in LOSSES.values():
            one, other = (way.expanded(phi).D for way in (pair_by_pair, by_sweeps))
            assert one.hess_vec(v) == pytest.approx(other.hess_vec(v), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_sums_over_pairs_that_are_not_listed(name: str) -> None:
    """Loss, multipliers, gradient, Hessian and slopes agree.

    f is a multiple of an eighth, so that many pairs are exactly a margin of 1 apart.
    """
    phi = LOSSES[name]
    for rows, f, costs, rng in cases(0, 60):
        listed, slacks = rows.listed(), rows.slacks(f, costs)
        one_by_one = listed.slacks(f, rows.spread(costs))
        seen, expected = slacks.expanded(phi), one_by_one.expanded(phi)
        alpha: PairMultipliers = seen.alpha
        assert seen.loss == pytest.approx(expected.loss)
        assert seen.loss + seen.conjugate == pytest.approx(expected.loss + expected.conjugate)
        assert slacks.hinge() == pytest.approx(one_by_one.hinge())
        found, violated = slacks.within(slacks.on_grid(1.0)), listed.slack(f) > 0.0
        touched = listed.preferred[violated], listed.other[violated]
        assert int(found.pairs.sum()) == int(violated.sum())
        assert (
            slacks.scattered(found.degree)
            == sum(np.bincount(points, minlength=rows.m) for points in touched)
        ).all()
        assert alpha.to_array() == pytest.approx(expected.alpha)
        assert alpha.sum() == pytest.approx(expected.alpha.sum())
        assert rows.rdot(alpha) == pytest.approx(listed.rdot(expected.alpha), abs=1e-9)
        if rows.p:
            pair = int(rng.integers(rows.p))
            assert alpha.at(rows.preferred[pair], rows.other[pair]) == pytest.approx(
                expected.alpha[pair]
            )
        h, X = rng.normal(size=rows.m), rng.normal(size=(rows.m, 3))
        line, same = slacks.along(h), one_by_one.along(h)
        assert line.slope(phi, 0.3) == pytest.approx(same.slope(phi, 0.3), abs=1e-9)
        assert line.curvature(phi, 0.3) == pytest.approx(same.curvature(phi, 0.3), abs=1e-9)
        # No margin is at a kink, where the curvature is a choice.
        moved = rows.curvature(line.to(0.3).expanded(phi).D)
        D = listed.curvature(same.to(0.3).expanded(phi).D)
        assert moved.weight() == pytest.approx(D.weight())
        assert moved.hess_vec(h) == pytest.approx(D.hess_vec(h), abs=1e-9)
        Z = Explicit(X, False)
        assert moved.gram(Z) == pytest.approx(D.gram(Z), abs=1e-9)


def test_a_line_is_followed_back_and_forth() -> None:
    """The slacks are those of the requested point, behind the last one or beyond it."""
    for rows, f, costs, rng in cases(3, 10):
        h = rng.normal(size=rows.m)
        line, same = (
            rows.slacks(f, costs).along(h),
            rows.listed().slacks(f, rows.spread(costs)).along(h),
        )
        for t in (0.7, 0.3, -0.4, 0.3):
            assert line.slope(SQUARED_HINGE, t) == pytest.approx(
                same.slope(SQUARED_HINGE, t), abs=1e-9
            )


def test_the_pairs_of_a_subset_are_those_that_are_counted() -> None:
    """Pairs with a margin of exactly 1 are in neither."""
    kinks = 0
    for rows, f, costs, _ in cases(13, 60):
        subset = rows.slacks(f, costs).violated()
        listed = subset.listed()
        margins = f[rows.preferred] - f[rows.other]
        assert (listed == (margins < 1.0)).all()
        assert int(subset.pairs.sum()) == listed.sum()
        kinks += int((margins == 1.0).sum())
    assert kinks > 0


def test_a_ridge_is_at_the_costs_that_are_asked_for() -> None:
    """The multipliers keep the costs of their construction.

    A pair that must be met has no ridge.
    """
    for rows, f, costs, rng in cases(17, 40):
        alpha = PairMultipliers(rows.slacks(f, costs), SQUARED_HINGE)
        asked = costs * rng.choice([0.5, 1.0, 3.0, np.inf], rows.groups)
        assert alpha.ridge(asked) == pytest.approx(
            float((alpha.to_array() ** 2 / (4 * rows.spread(asked))).sum()), rel=1e-9, abs=1e-12
        )


def test_sums_of_multipliers_of_a_steep_loss_keep_all_digits() -> None:
    """The sum of c slope ((high - m)_+ - (low - m)_+) over the pairs, in fractions."""
    steep = 0
    for rows, f, costs, rng in cases(23, 60):
        # Margins of 1 lie on the steep part.
        alpha = PairMultipliers(
            rows.slacks(f + 1e-9 * rng.normal(size=rows.m), costs),
            huberised_hinge(10.0 ** rng.uniform(-10, -6)),
        )
        slacks = alpha.slacks
        z, unit = slacks.scattered(slacks.points.z), Fraction(slacks.unit)
        exact, slope = Fraction(0), Fraction(alpha.phi.slope)
        for i, j in zip(rows.preferred, rows.other, strict=True):
            margin, cost = int(z[i]) - int(z[j]), Fraction(costs[rows.query[i]])
            steep += alpha.low < margin < alpha.high
            u = max(alpha.high - margin, 0) - max(alpha.low - margin, 0)
            exact += cost * slope * unit * u
        lower, upper = (alpha.proven(HINGE, (costs, costs), way)[0] for way in (OUTWARD, INWARD))
        assert Fraction(lower) <= exact <= Fraction(upper)
        assert upper - lower <= 1e-13 * upper + 1e-200
    assert steep > 20


def test_multipliers_at_other_costs_have_their_own_sums() -> None:
    for rows, f, costs, _ in cases(4, 5):
        slacks = rows.slacks(f, costs)
        pull = PairMultipliers(slacks, SQUARED_HINGE).pull()
        other = PairMultipliers(slacks.at_costs(2.0 * costs), SQUARED_HINGE).pull()
        assert (other == 2.0 * pull).all()


def test_a_hessian_by_buckets_is_nearly_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spectrum of the approximate Hessian is relative to the exact one.

    4,000 points, labels real or of three levels, features far from 0.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5)) + 1e4
    score = (X - 1e4) @ rng.normal(size=5)
    for y in (score + rng.normal(size=4000), np.digitize(score, [-1.0, 1.0]).astype(float)):
        rows = LabelledPairs(y, None)
        for phi in (SQUARED_HINGE, huberised_hinge(0.25)):
            D = rows.slacks(0.4 * score, np.ones(1)).expanded(phi).D
            exact = rows.curvature(D).gram(Explicit(X, False))
            monkeypatch.setattr(pair_slacks, "POINTS_BY_BUCKETS", 100)
            near = rows.curvature(D).gram(Explicit(X, False))
            monkeypatch.undo()
            ratio = np.linalg.eigvals(np.linalg.solve(exact, near)).real
            assert 0.9 < ratio.min() <= ratio.max() < 1.1


@pytest.mark.parametrize("buckets", [False, True])
def test_a_hessian_in_float32_is_that_in_float64_but_for_its_rounding(
    buckets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features far from 0, where float32 keeps three digits of their differences.

    It keeps more if the differences are taken first.
    """
    monkeypatch.setattr(pair_slacks, "POINTS_BY_BUCKETS", 1 if buckets else np.inf)
    rng = np.random.default_rng(1)
    X, queries = rng.normal(size=(600, 5)) + 1e4, np.arange(600) % 3
    rows = LabelledPairs(rng.integers(0, 4, 600).astype(float), queries)
    D: Any = rows.slacks(0.4 * X[:, 0], np.array([1.0, 2.0, 0.0])).expanded(SQUARED_HINGE).D
    exact, single = (D.gram(Explicit(X, False), low) for low in (False, True))
    assert 0 < np.abs(single - exact).max() < 1e-5 * np.abs(exact).max()


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e4]))
def test_a_hessian_of_listed_pairs_is_the_sum_over_their_differences(
    seed: int, offset: float
) -> None:
    """Pairs in any order and twice, weights of either sign and 0.

    Features are dense and sparse, with a constant and without.
    """
    rng = np.random.default_rng(seed)
    m, p = int(rng.integers(2, 300)), int(rng.integers(0, 600))
    preferred = rng.integers(0, m, p)
    rows = Pairs(preferred, (preferred + 1 + rng.integers(0, m - 1, p)) % m, m)
    X, D = rng.normal(size=(m, 3)) + offset, rng.normal(size=p) * rng.integers(0, 2, p)
    for features in (X, sparse.csr_array(X)):
        for constant in (False, True):
            Z = Explicit(features, constant)
            differences = (X[rows.preferred] - X[rows.other]) if p else np.zeros((0, 3))
            expected = np.pad(differences.T @ (D[:, None] * differences), (0, int(constant)))
            assert rows.gram_of_rows(Z, D) == pytest.approx(expected, abs=1e-6 if offset else 1e-10)


def test_a_hessian_of_listed_pairs_may_be_summed_in_float32() -> None:
    """Its error is a few roundings of float32, also far from 0."""
    rng = np.random.default_rng(0)
    preferred = np.sort(rng.integers(0, 300, 900))
    rows = Pairs(preferred, (preferred + 1 + rng.integers(0, 299, 900)) % 300, 300)
    Z, D = Explicit(rng.normal(size=(300, 5)) + 1e4, False), rng.random(900)
    exact, single = (rows.gram_of_rows(Z, D, low) for low in (False, True))
    assert 0 < np.abs(single - exact).max() < 1e-5 * np.abs(exact).max()


def test_pairs_of_one_point_are_summed_in_float64() -> None:
    """In float32 the error of the sum over 50,000 others would be 8."""
    m = 50_001
    X = np.random.default_rng(0).random((m, 45))
    X[0], X[1:, 0] = 0.0, 0.6
    rows = Pairs((np.arange(m - 1) > 0).astype(np.int64), np.arange(1, m), m)
    exact, single = (
        rows.gram_of_rows(Explicit(X, False), np.ones(m - 1), s) for s in (False, True)
    )
    assert np.abs(single - exact).max() < 0.2


@given(st.integers(0, 2**32 - 1))
def test_a_bound_from_sums_that_are_there_is_as_sharp_as_one_by_a_sweep(seed: int) -> None:
    """The multipliers are of the point's f, or of one slightly different.

    The listed pairs are the oracle again.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 30))
    X, query = rng.normal(size=(m, 3)) * 10.0 ** rng.uniform(-2, 2), rng.integers(0, 3, m)
    problem = ranking(
        X,
        rng.integers(0, m, m).astype(float),
        query,
        10.0 ** rng.uniform(-3, 3),
        loss="squared_hinge",
    )
    rows, w = as_a(LabelledPairs, problem.rows), rng.normal(size=3) * 10.0 ** rng.uniform(-2, 2)
    alpha = PairMultipliers(
        rows.slacks((X @ w) * (1 + rng.choice([0.0, 1e-16, 1e-6])), problem.group_costs),
        SQUARED_HINGE,
    )
    point = Point(w=w, alpha=alpha)
    listed = interval(problem, point)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled_pairs, "MANY", -1)
        swept, inner = interval(problem, point), inner_interval(problem, point)
    off = 1e-10 * listed.size
    assert listed.upper - 1e-3 * off <= swept.upper <= listed.upper + off
    assert inner.upper <= swept.upper


@given(ranking_data())
@example((np.zeros((1, 1)), np.zeros(1), None))
def test_pairs_are_counted_by_query(data: Any) -> None:
    X, y, qid = data
    rows = as_a(LabelledPairs, ranking(X, y, qid).rows)
    query = np.zeros(len(y), dtype=int) if qid is None else np.unique(qid, return_inverse=True)[1]
    counts = [
        sum(y[i] > y[j] for i in np.flatnonzero(query == q) for j in np.flatnonzero(query == q))
        for q in range(query.max() + 1)
    ]
    assert rows.pairs_of.tolist() == counts
    assert (
        sorted(rows.active.tolist())
        == np.unique(np.concatenate([rows.preferred, rows.other])).tolist()
        == rows.touched.tolist()
    )


@given(st.integers(0, 2**32 - 1))
def test_bounds_by_sweeps_hold_and_are_as_sharp_as_those_of_listed_pairs(seed: int) -> None:
    """The listed pairs' exact repair is the oracle: sweeps prove at most as much.

    They prove only slightly less.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 30))
    y = rng.integers(0, int(rng.integers(2, m + 2)), m).astype(float)
    X, query = rng.normal(size=(m, 3)) * 10.0 ** rng.uniform(-2, 2), rng.integers(0, 3, m)
    squared = bool(rng.integers(2))
    problem = ranking(
        X,
        y,
        query,
        10.0 ** rng.uniform(-3, 3),
        rbf(0.5) if rng.integers(2) else linear(),
        "squared_hinge" if squared else "hinge",
    )
    rows: Any = problem.rows
    phi = SQUARED_HINGE if squared else huberised_hinge(rng.uniform(0.05, 2.0))
    alpha = PairMultipliers(rows.slacks(rng.normal(size=m), problem.group_costs), phi)
    point = Point(beta=rows.rdot(alpha), alpha=alpha)
    listed = interval(problem, point)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled_pairs, "MANY", -1)
        swept, inner = interval(problem, point), inner_interval(problem, point)
    off = 1e-10 * listed.size
    assert listed.lower - off <= swept.lower <= listed.lower + 1e-3 * off
    assert listed.upper - 1e-3 * off <= swept.upper <= listed.upper + off
    assert swept.lower <= inner.lower
    assert inner.upper <= swept.upper


def test_a_bound_says_no_to_multipliers_of_another_cost() -> None:
    """Multipliers of a larger C are truncated to the box before a bound is computed."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 9, 30).astype(float)
    problem = ranking(X, y, None, 0.1)
    dear: Any = problem.with_cost(100.0)
    alpha = PairMultipliers(dear.rows.slacks(X @ np.ones(3), dear.group_costs), SQUARED_HINGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled_pairs, "MANY", -1)
        repaired = problem.repaired(alpha)
        assert interval(problem, Point(alpha=alpha)).lower <= solve(problem, "huber").upper
    assert repaired.to_array().max() <= 0.1


def test_a_dual_object_answers_for_pairs() -> None:
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    solution = solve(ranking(X, [0, 1, 1, 0], [0, 0, 0, 1], 1.0, loss="squared_hinge"), "newton")
    alpha: Any = solution.dual
    assert alpha.shape == (2,)
    assert alpha.to_array() == pytest.approx([alpha.at(1, 0), alpha.at(2, 0)])
    assert alpha.sum() == pytest.approx(alpha.to_array().sum())
    assert solution.beta == pytest.approx(alpha.pull())
    for i, j in ((1, 2), (0, 1), (1, 3)):
        with pytest.raises(ValueError, match=f"point {i} is not preferred to point {j}"):
            alpha.at(i, j)


def test_pairs_too_many_to_list_say_so() -> None:
    rows = LabelledPairs(np.arange(5000.0), None)
    assert rows.p == 12_497_500
    with pytest.raises(
        ValueError, match="12,497,500 preference pairs are more than the 10,000,000"
    ):
        _ = rows.preferred
    alpha = rows.slacks(np.zeros(5000), np.ones(1)).expanded(SQUARED_HINGE).alpha
    with pytest.raises(ValueError, match="12,497,500 preference pairs"):
        alpha.to_array()
    assert alpha.sum() == 2.0 * rows.p
    with pytest.raises(ValueError, match="must be at most 8, not 41"):
        rows.slacks(np.zeros(5000), np.ones(1)).expanded(huberised_hinge(40.0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("queries", [1, 7])
def test_more_pairs_than_can_be_listed(loss: Any, queries: int) -> None:
    """5,000 levels: the optimum is proven.

    The gradient of w agrees with sums over the pairs of some of the points.
    """
    rng = np.random.default_rng(queries)
    m = 5000 * queries
    X = rng.normal(size=(m, 4)) * [1.0, 1e-2, 1e2, 1.0]
    y = X @ [1.0, 50.0, 0.01, 0.0] + rng.normal(size=m)
    query = np.arange(m) % queries
    problem = ranking(X, y, query, 1e-4, loss=loss, query_weight={0: 2.0})
    solution = solve(problem, tol=1e-6)
    assert solution.ok
    assert solution.solver == ("huber" if loss == "hinge" else "newton")
    assert solution.interval.relative_width < 1.1e-6
    dual, w = as_a(PairMultipliers, solution.dual), present(solution.w)
    pull = dual.pull()
    # This is a part of the gap.
    assert np.sum((w - X.T @ pull) ** 2) / 2 < 1.1e-6 * solution.interval.size
    f = X @ w
    for i in rng.integers(0, m, 20):
        same = query == query[i]
        u = 1.0 - (f[i] - f) * np.sign(y[i] - y)
        alpha = dual.phi.derivative(u) * 1e-4 * (2.0 if query[i] == 0 else 1.0)
        assert pull[i] == pytest.approx(
            float((alpha * np.sign(y[i] - y))[same].sum()), rel=1e-6, abs=1e-9
        )


def test_a_limit_of_time_leaves_a_proven_point() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    solution = solve(
        ranking(X, X @ np.ones(3) + rng.normal(size=6000), None, 1e-3), tol=1e-12, max_iter=1
    )
    assert solution.status is Status.ITERATION_LIMIT
    assert np.isfinite([solution.lower, solution.upper]).all()


def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat any number of pairs as implicit."""
    monkeypatch.setattr(labelled_pairs, "MANY", -1)


@pytest.mark.parametrize("offset", [1e15, 1e17, 2e18, 1e150])
def test_a_bound_of_an_f_that_is_hardly_known_is_not_sharp_but_true(
    offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constant column: f is known within its rounding only.

    A grid of small margins cannot represent this error.
    """
    many(monkeypatch)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.full(40, offset)])
    for loss in ("hinge", "squared_hinge"):
        problem = ranking(X, rng.integers(0, 5, 40), None, 1.0, loss=loss)
        # f = 0, up to a constant.
        value = problem.p * 1.0
        for way in (interval, inner_interval):
            found = way(problem, Point(w=np.array([0.0, 1.0])))
            assert (
                found.upper >= value if way is interval else found.upper <= value + 0.5 * offset**2
            )
    assert interval(problem, Point(w=np.array([np.nan, 0.0]))).upper == np.inf


def test_multipliers_of_other_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 4, 20)
    problem, other = ranking(X, y, loss="squared_hinge"), ranking(X, y[::-1], loss="squared_hinge")
    solution = solve(problem, "newton")
    assert interval(ranking(X, y, loss="squared_hinge"), solution.point).relative_width < 2e-6
    with pytest.raises(ValueError, match="belong to other pairs"):
        interval(other, solution.point)


def test_coefficients_of_equal_points_are_put_together_with_their_rounding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two points, each repeated: the exact L of the implicit multipliers is the oracle."""
    many(monkeypatch)
    rng = np.random.default_rng(0)
    X = np.array([[1.0, 2.0], [2.0, 1.0]])[rng.integers(0, 2, 400)]
    y = rng.integers(0, 2, 400)
    for _ in range(20):
        problem = ranking(X, y, None, 10.0 ** rng.uniform(-6, 0), polynomial(2), "squared_hinge")
        rows: Any = problem.rows
        alpha = PairMultipliers(
            rows.slacks(rng.uniform(-1, 1, 2)[(X[:, 0] == 2.0).astype(int)], problem.group_costs),
            SQUARED_HINGE,
        )
        slacks, C = alpha.slacks, Fraction(problem.C)
        z, level, two = slacks.points.z, slacks.points.level, X[slacks.order, 0] == 2.0
        kinds = [
            [t for t in range(400) if two[t] == k and level[t] == v] for v in (0, 1) for k in (0, 1)
        ]
        one, unit = slacks.on_grid(1.0), Fraction(slacks.unit)
        gain, ridge, beta = Fraction(0), Fraction(0), [Fraction(0), Fraction(0)]
        for i, high in enumerate(kinds[2:]):
            for j, low in enumerate(kinds[:2]):
                if high and low:
                    u = max(one - int(z[high[0]]) + int(z[low[0]]), 0) * unit
                    each, pairs = 2 * C * u, len(high) * len(low)
                    gain, ridge = gain + pairs * each, ridge + pairs * each**2 / (4 * C)
                    beta[i] += pairs * each
                    beta[j] -= pairs * each
        K = [[36, 25], [25, 36]]
        exact = gain - ridge - sum(beta[i] * K[i][j] * beta[j] for i in (0, 1) for j in (0, 1)) / 2
        assert Fraction(interval(problem, Point(alpha=alpha)).lower) <= exact


def test_tiny_costs_do_not_make_the_gradient_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    """slope C unit is subnormal where slope C pull is not."""
    many(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * 1e153
    problem = ranking(X, rng.integers(0, 4, 30), None, 5e-302, loss="squared_hinge")
    rows: Any = problem.rows
    alpha = PairMultipliers(rows.slacks(np.zeros(30), problem.group_costs), SQUARED_HINGE)
    assert alpha.pull() == pytest.approx(
        1e-301 * (rows.listed().rdot(np.ones(rows.p))), rel=1e-12, abs=0.0
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("slope", [0.3, 1.0, 1.0 + 1e-9, 2.0, -1.0])
def test_pairs_that_must_be_met_are_swept_over(
    slope: float, loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sweeps prove what the listed pairs prove, on the inner side as well.

    One query is hard, one is soft, and one costs nothing.
    """
    x = np.append(np.arange(6.0), [3.0, 0.0, 1.0, 1.0, 5.0, 2.0])[:, None]
    y, qid = (
        np.append(np.arange(6.0), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]),
        np.repeat([0, 1, 2], [6, 3, 3]),
    )
    problem = ranking(x, y, qid, 0.7, loss=loss, query_weight={0: np.inf, 2: 0.0})
    point = Point(
        w=np.array([slope]), b=0.0, alpha=np.asarray(problem.repaired(np.full(problem.p, 0.01)))
    )
    listed, listed_inner = interval(problem, point), inner_interval(problem, point)
    primal = problem.values(point)[0]
    many(monkeypatch)
    swept, inner = interval(problem, point), inner_interval(problem, point)
    assert swept.lower == listed.lower
    assert swept.upper == pytest.approx(listed.upper, rel=1e-12)
    assert inner.upper <= swept.upper
    assert inner.upper <= listed_inner.upper * (1 + 1e-12)
    assert problem.values(point)[0] == pytest.approx(primal, rel=1e-12)


def test_pairs_that_must_be_met_are_never_listed() -> None:
    """There are 2e12 pairs; a function and multipliers of two pairs prove the optimum."""
    n = 2_000_000
    x = np.repeat([0.0, 1.0], n // 2)
    problem = ranking(x[:, None], x, None, np.inf)
    rows = as_a(LabelledPairs, problem.rows)
    alpha = FewMultipliers(rows, np.array([n - 1, n - 2]), np.array([0, 1]), np.array([0.25, 0.75]))
    found = interval(problem, Point(w=np.array([1.0]), b=0.0, alpha=alpha))
    assert found.lower <= 0.5 <= found.upper
    assert found.relative_width < 1e-12
    assert problem.values(Point(w=np.array([1.0]), b=0.0, alpha=alpha)) == (0.5, 0.5)
    assert interval(problem, Point(w=np.array([-1.0]))).upper == np.inf


def test_multipliers_of_a_few_pairs_are_those_of_a_list() -> None:
    for rows, _, costs, rng in cases(5, 60):
        if not rows.p:
            continue
        index = rng.permutation(rows.p)[: int(rng.integers(1, rows.p + 1))]
        alpha = np.zeros(rows.p)
        alpha[index] = rng.uniform(-0.5, 2.0, len(index))
        few = FewMultipliers(rows, rows.preferred[index], rows.other[index], alpha[index])
        np.testing.assert_array_equal(few.to_array(), alpha)
        np.testing.assert_array_equal(
            [few.at(i, j) for i, j in zip(rows.preferred, rows.other, strict=True)], alpha
        )
        for phi in (HINGE, SQUARED_HINGE):
            repaired, listed = (
                few.feasible(rows, phi, costs, False),
                rows.multipliers(alpha).feasible(rows, phi, costs, False),
            )
            other = rows.multipliers(np.asarray(listed))
            np.testing.assert_array_equal(np.asarray(repaired), np.asarray(listed))
            np.testing.assert_array_equal(repaired.pull(), other.pull())
            assert repaired.gain() == pytest.approx(other.gain(), rel=1e-14)
            assert repaired.ridge(costs) == pytest.approx(other.ridge(costs), rel=1e-14)
            for way in (1.0, -1.0):
                assert repaired.proven(phi, (costs, costs), way) == pytest.approx(
                    other.proven(phi, (costs, costs), way), rel=1e-13
                )


@pytest.mark.parametrize("gamma", [1e-6, 1e-2])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_gap_is_never_what_float32_makes_of_it(
    gamma: float, loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a nearly constant kernel float32 keeps no digit; a reported success is one."""
    monkeypatch.setattr(gram_products, "GRAM_IN_CACHE", 0.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    problem = ranking(X, np.round(X[:, 0] + rng.normal(size=1200)), None, 1.0, rbf(gamma), loss)
    solution = solve(
        problem.with_cost(1e5 / problem.p), "huber" if loss == "hinge" else "newton", tol=1e-5
    )
    assert solution.ok
    assert solution.relative_gap <= 1.01e-5


def test_a_start_from_implicit_multipliers_and_no_pairs_at_all() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    problem = ranking(X, np.round(X[:, 0] + rng.normal(size=60)), None, 0.1, loss="squared_hinge")
    start = solve(problem, "newton")
    assert solve(problem, "coordinate_descent", warm_start=start).ok
    for m in (1, 2, 50):
        none = solve(ranking(X[:m], np.zeros(m)))
        assert (none.lower, none.upper) == (0.0, 0.0)


# Terms of the sums.


@pytest.mark.parametrize(
    "phi",
    [SQUARED_HINGE, huberised_hinge(0.25), huberised_hinge(2.0)],
    ids=["squared hinge", "narrow", "wide"],
)
def test_a_smooth_loss_is_the_integral_of_its_derivative(phi: Loss) -> None:
    """The derivative is piecewise linear, and all of its kinks are among the points.

    Trapezoids integrate it exactly.
    """
    u = np.arange(-4.0, 4.0, 0.125)
    slopes = phi.derivative(u)
    integral = np.append(0.0, np.cumsum((slopes[1:] + slopes[:-1]) / 2 * 0.125))
    assert phi.value(u) == pytest.approx(integral, abs=1e-12)


@pytest.mark.parametrize(
    "phi",
    [SQUARED_HINGE, huberised_hinge(0.25), huberised_hinge(2.0)],
    ids=["squared hinge", "narrow", "wide"],
)
def test_a_row_is_curved_where_its_derivative_rises_on_both_sides(phi: Loss) -> None:
    """It is not curved at a kink, neither row by row nor for all rows."""
    u = np.arange(-4.0, 4.0, 0.125)
    rises = phi.derivative(u + 0.0625) - phi.derivative(u - 0.0625)
    curved = rises == phi.slope * 0.125
    assert 0 < curved.sum() < len(u)
    assert (phi.curved(u) == curved).all()
    *_, at_once = phi.expanded(u, np.full(len(u), 3.0))
    assert (at_once == 3.0 * curved).all()


def test_the_least_margin_of_every_query_is_that_of_its_listed_pairs() -> None:
    """The reported pair has this margin; a query without pairs has none."""
    for rows, f, _, _ in cases(7, 200):
        pairs, margins = rows.least_margins(f)
        listed, of = f[rows.preferred] - f[rows.other], rows.query[rows.preferred]
        for query, (i, j), margin in zip(rows.queries, pairs, margins, strict=True):
            assert margin == listed[of == query].min()
            assert margin == f[i] - f[j]
            assert rows.y[i] > rows.y[j]
            assert rows.query[i] == rows.query[j] == query


def test_few_points_of_many_queries_are_taken_as_whole_queries() -> None:
    """Every tenth point of 30 queries of 20 points would leave two points of each.

    There would be almost no pair.
    """
    query = np.repeat(np.arange(30), 20)
    rows = LabelledPairs(np.tile(np.arange(20.0), 30), query)
    chosen, counts = np.unique(query[rows.spaced(10)], return_counts=True)
    assert len(chosen) == 3
    assert (counts == 20).all()
    many = LabelledPairs(np.arange(600.0), np.repeat([0, 1], 300))
    assert len(many.spaced(10)) == 60
    assert len(np.unique(many.query[many.spaced(10)])) == 2


def test_multipliers_of_several_subsets_prove_their_exact_sum() -> None:
    """The outer bound is at most the sum in rational numbers, the inner at least.

    Both are within a few roundings; the listed multipliers have an equal sum.
    """
    seen = 0
    for rows, f, costs, rng in cases(11, 80):
        if not rows.p:
            continue
        subsets = [rows.slacks(f * scale, costs).violated() for scale in (1.0, 0.5, -1.0)]
        alpha = MixedMultipliers(rows, rng.uniform(0.1, 0.3, 3), subsets, costs)
        shares = [zip(costs[rows.queries], subset.pairs, strict=True) for subset in subsets]
        sums = [
            sum((Fraction(cost) * int(pairs) for cost, pairs in share), Fraction(0))
            for share in shares
        ]
        exact = sum(
            (Fraction(mu) * each for mu, each in zip(alpha.mu, sums, strict=True)), Fraction(0)
        )
        below, above = (
            Fraction(alpha.proven(HINGE, (costs, costs), way)[0]) for way in (OUTWARD, INWARD)
        )
        assert below <= exact <= above
        assert above - below <= Fraction(1e-13) * exact + Fraction(1e-300)
        assert alpha.to_array().sum() == pytest.approx(float(exact), rel=1e-12)
        assert alpha.sum() == pytest.approx(float(exact), rel=1e-12)
        seen += 1
    assert seen > 50


def test_squares_of_slacks_that_are_off_are_bounded_by_the_sums_at_hand() -> None:
    """Every pair is met exactly, so that the squares consist of the errors alone."""
    rows = LabelledPairs(np.arange(5.0), None)
    slacks = rows.slacks(np.arange(5.0), np.ones(1))
    neighbours = 4
    for steps in (2**20, 2**40):
        off = float(steps * slacks.unit)
        assert slacks._squares_near(steps, 1.0) >= neighbours * off**2
        assert slacks._squares_near(steps, -1.0) == 0.0


@pytest.mark.parametrize("u", [1.25, 1.5])
def test_what_underflows_in_many_queries_is_counted(u: float) -> None:
    """Every query has one pair of slack u at the smallest positive cost.

    The product is rounded by a quarter of the cost, or by half.
    """
    queries, smallest, slope = 200, 5e-324, 1 / 16
    rows = LabelledPairs(np.tile([0.0, 1.0], queries), np.repeat(np.arange(queries), 2))
    costs = np.full(queries, smallest)
    alpha = PairMultipliers(
        rows.slacks(np.tile([u - 1.0, 0.0], queries), costs),
        Loss("parabola", slope, 0.0, np.inf),
    )
    exact = queries * Fraction(u) * Fraction(smallest) * Fraction(slope)
    below, above = (alpha.proven(HINGE, (costs, costs), way)[0] for way in (OUTWARD, INWARD))
    assert Fraction(below) <= exact <= Fraction(above)
