"""Minimum number of misordered pairs against enumeration, with its proofs replayed.

The enumeration is of every direction of the plane and every order of few points.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equimargin.formulations import MarginProblem, classification, polynomial, ranking, rbf, sigmoid
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import solve
from equimargin.solvers.exact import hitting_set as hitting_set_module
from equimargin.solvers.exact.hitting_set import (
    Candidate,
    Obstruction,
    disjoint,
    fewest,
    hitting_set,
    is_met_by_fewer,
    packing,
)
from equimargin.solvers.exact.misranked import LeastMisranked, least_misranked
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from narrow import as_a
from oracles.brute_force import least_by_directions, least_by_orders, least_by_sign_patterns


def differences(problem: MarginProblem) -> list[list[Fraction]]:
    X, rows = problem.X, as_a(Pairs, problem.rows)
    return [
        [Fraction(a) - Fraction(b) for a, b in zip(X[i].tolist(), X[j].tolist(), strict=True)]
        for i, j in zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)
    ]


def replayed(found: LeastMisranked, D: list[list[Fraction]]) -> None:
    """Assert that the rays are rays, and that no smaller set of rows meets all of them.

    w misorders exactly the reported rows.
    """
    for ray in found.rays:
        assert all(v > 0 for v in ray.multipliers)
        assert not any(
            sum(v * D[row][k] for row, v in zip(ray.elements, ray.multipliers, strict=True))
            for k in range(len(D[0]))
        )
    if found.lower:
        elements = sorted({row for ray in found.rays for row in ray.elements})
        fewer = combinations(elements, found.lower - 1)
        if len(elements) <= 14:
            assert not any(all(set(few) & set(ray.elements) for ray in found.rays) for few in fewer)
    if found.w is not None:
        wrong = tuple(
            row
            for row, x in enumerate(D)
            if sum(a * b for a, b in zip(x, found.w, strict=True)) <= 0
        )
        assert wrong == found.misranked
        assert len(wrong) == found.least


@settings(max_examples=15)
@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=2, max_size=6))
def test_the_least_number_is_that_of_every_direction_of_the_plane(
    points: list[tuple[int, int, int]],
) -> None:
    X, y = np.array([point[:2] for point in points], dtype=float), [point[2] for point in points]
    problem = ranking(X, y)
    found, D = least_misranked(problem), differences(problem)
    assert found.proven, found.reason
    replayed(found, D)
    assert found.least == least_by_directions(D)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5))
@example([(2, 2), (0, 1), (0, 0), (1, 1), (1, 0)])
def test_with_an_rbf_kernel_it_is_that_of_every_order_of_the_different_points(
    points: list[tuple[int, int]],
) -> None:
    X, y = (
        np.array([[point[0]] for point in points], dtype=float),
        np.array([point[1] for point in points]),
    )
    problem = ranking(X, y, kernel=rbf(1.0))
    found = least_misranked(problem)
    place = np.unique(X[:, 0], return_inverse=True)[1]
    rows = as_a(Pairs, problem.rows)
    # A ray is a circulation: the flow into every point equals the flow out.
    for ray in found.rays:
        of = list(ray.elements)
        assert sorted(place[rows.preferred[of]].tolist()) == sorted(place[rows.other[of]].tolist())
    assert found.proven
    assert found.least == least_by_orders(
        list(zip(place[rows.preferred].tolist(), place[rows.other].tolist(), strict=True))
    )


def test_a_ranking_svm_misorders_no_fewer_and_no_more_than_its_slacks() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 3))
    y = np.round(X @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=15))
    found = least_misranked(ranking(X, y))
    assert found.proven
    replayed(found, differences(ranking(X, y)))
    for C in (0.01, 1.0, 100.0):
        solution = solve(ranking(X, y, C=C))
        rows, f = as_a(Pairs, solution.problem.rows), solution.decision_function(X)
        margin = f[rows.preferred] - f[rows.other]
        assert (
            found.least <= (margin <= 0).sum() <= np.floor(np.maximum(1 - margin, 0).sum() + 1e-9)
        )


def test_smallest_sets_that_meet_all() -> None:
    rng, clock = np.random.default_rng(1), Clock(30.0)
    for _ in range(20):
        sets = [
            frozenset(rng.choice(7, size=rng.integers(1, 4), replace=False).tolist())
            for _ in range(6)
        ]
        least = next(
            k
            for k in range(8)
            if any(all(set(few) & each for each in sets) for few in combinations(range(7), k))
        )
        assert len(hitting_set(sets, clock)) == least
        assert disjoint(sets) <= packing(sets) <= least
        assert [is_met_by_fewer(sets, k, clock) for k in range(1, 8)] == [
            k > least for k in range(1, 8)
        ]


@pytest.mark.parametrize("length", [1, 2])
def test_hundreds_of_disjoint_sets_are_met_one_by_one(length: int) -> None:
    sets = [frozenset(range(length * k, length * (k + 1))) for k in range(1200)]
    # With a triangle in addition, disjoint sets alone do not prove the least number.
    triangle = [frozenset({-1, -2}), frozenset({-2, -3}), frozenset({-1, -3})]
    assert is_met_by_fewer(sets, 1201, Clock(60.0))
    assert not is_met_by_fewer(sets, 1200, Clock(60.0))
    assert is_met_by_fewer([*sets[:300], *triangle], 303, Clock(60.0))
    assert not is_met_by_fewer([*sets[:300], *triangle], 302, Clock(60.0))
    assert not is_met_by_fewer([frozenset(), *sets], 1300, Clock(60.0))
    assert not is_met_by_fewer([], 0, Clock(60.0))


def test_a_set_that_is_no_smallest_one_because_of_the_clock_is_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = [Obstruction((0, 1), (Fraction(1),) * 2), Obstruction((0, 2), (Fraction(1),) * 2)]
    larger = Candidate((1, 2), None)
    monkeypatch.setattr(hitting_set_module, "hitting_set", lambda *_: frozenset({1, 2}))

    def reason_at(clock: Clock) -> str:
        return fewest(larger, 3, lambda *_: larger, clock, known).reason

    assert "HiGHS" in reason_at(Clock(30.0))
    clock = Clock(30.0)

    def met_at_the_end(*_: object) -> bool:
        clock._end = 0.0
        return True

    monkeypatch.setattr(hitting_set_module, "is_met_by_fewer", met_at_the_end)
    assert "time limit" in reason_at(clock)


def test_a_packing_in_fractions_proves_more_than_disjoint_sets() -> None:
    circle = [frozenset({k, (k + 1) % 7}) for k in range(7)]
    assert (disjoint(circle), packing(circle), packing([])) == (3, 4, 0)


def test_with_another_kernel_it_is_that_of_its_explicit_features() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(-2, 3, (7, 1)).astype(float), rng.integers(0, 3, 7)
    problem = ranking(X, y, kernel=polynomial(2, 1.0, 1.0))
    # (1 + x z)^2 has the features 1, x and x^2 up to factors.
    features = np.hstack([X, X**2])
    found, D = least_misranked(problem), differences(ranking(features, y))
    assert found.proven
    assert found.least == least_by_directions(D) == least_by_sign_patterns(D) > 0
    assert found.w is not None
    f = problem.kernel.block(X, X) @ [float(v) for v in found.w]
    rows = as_a(Pairs, problem.rows)
    assert (f[rows.preferred] - f[rows.other] <= 1e-9).sum() == found.least


def test_what_cannot_be_looked_at_is_a_sentence() -> None:
    X, y = np.eye(3), [0, 1, 2]
    for problem, message in (
        (classification(X, [1, -1, 1]), "the problem must be a ranking"),
        (ranking(X, y, kernel=sigmoid(1.0)), "which the sigmoid kernel has not"),
        (ranking(np.zeros((200, 1)), np.arange(200)), "19,900 pairs are too many"),
    ):
        with pytest.raises(ValueError, match=message):
            least_misranked(problem)
    with pytest.raises(OutOfTime, match="no smaller set hits all sets"):
        is_met_by_fewer([frozenset({0, 1})], 2, Clock(1e-9))
    rng = np.random.default_rng(0)
    late = least_misranked(ranking(rng.normal(size=(40, 3)), rng.normal(size=40)), seconds=1e-6)
    assert (late.lower, late.proven) == (0, False)
    assert 2 * late.least <= 780
    assert "time limit" in late.reason


def test_a_time_limit_leaves_a_direction_that_misorders_at_most_half() -> None:
    rng = np.random.default_rng(0)
    problem = ranking(rng.normal(size=(12, 3)), rng.permutation(12))
    found = least_misranked(problem, seconds=1e-9)
    assert found.w is not None
    assert 2 * found.least <= problem.p
    replayed(found, differences(problem))


def test_points_that_are_all_the_same_have_a_w_that_misorders_all() -> None:
    found = least_misranked(ranking(np.ones((3, 2)), [0, 1, 2]))
    assert (found.least, found.lower) == (3, 3)
    assert found.w is not None
    replayed(found, differences(ranking(np.ones((3, 2)), [0, 1, 2])))
