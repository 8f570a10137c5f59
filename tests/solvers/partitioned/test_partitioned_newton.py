"""Newton's method on sums over partitions, with an interval that holds the optimum.

The bits do not depend on the distribution of the points.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.distributed import (
    PartitionedProblem,
    PartitionedSolution,
    classification,
    ranking,
    solve,
)
from equimargin.formulations import classification as classification_here
from equimargin.formulations import ranking as ranking_here
from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.partitions import ranked
from equimargin.formulations.partitions.smooth_loss import SQUARED_HINGE, smoothed_hinge
from equimargin.solvers import Status
from equimargin.solvers import solve as solve_here
from equimargin.solvers.partitioned import LocalExecutor, Lost
from equimargin.solvers.partitioned.newton import STALE_STEPS, PartitionedResult

LOSSES = st.sampled_from(["hinge", "squared_hinge"])
COSTS = st.sampled_from([1e-3, 0.1, 1.0, 30.0])


class Points(NamedTuple):
    """X : (n, d).  y : (n,) labels or relevances.  qid : (n,)."""

    X: Array
    y: Array
    qid: Index

    def cut(self, where: list[Index]) -> tuple[list[Any], ...]:
        """Return the points in partitions."""
        return tuple([values[rows] for rows in where] for values in self)


@st.composite
def points(draw: st.DrawFn, ranks: bool) -> Points:
    """Sample small data with ties, repeated and constant points, and columns of all sizes.

    Some queries have no pairs.
    """
    r = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    X = r.standard_t(3, size=(n, d)) * 10.0 ** r.integers(-2, 3, d)
    if draw(st.booleans()):
        X = np.rint(X)
    if draw(st.booleans()):
        X[r.integers(0, n, n // 2)] = X[0]
    if draw(st.booleans()):
        X[:, 0] = 0.0
    y = (
        np.rint(r.normal(size=n))
        if ranks
        else np.where(r.random(n) < draw(st.sampled_from([0.0, 0.3, 0.5])), -1.0, 1.0)
    )
    return Points(X, y, np.sort(r.integers(0, 6, n)))


def dealt(seed: int, groups: Index, parts: int, shuffled: bool) -> list[Index]:
    """Return the rows of every partition, from groups of rows at random.

    The rows of a partition are in a random order if `shuffled`.
    """
    r = np.random.default_rng(seed)
    names, group = np.unique(groups, return_inverse=True)
    where = r.integers(0, parts, len(names))
    found = [np.flatnonzero(where[group] == k) for k in range(parts)]
    return [r.permutation(rows) if shuffled else rows for rows in found]


def bits(solution: PartitionedSolution) -> bytes:
    return (
        solution.w.tobytes()
        + np.array([solution.bias, solution.lower, solution.upper]).tobytes()
        + solution.reason.encode()
    )


class Forgetful(LocalExecutor):
    """Executor that sends its partitions anew for every question, without memory."""

    def each(self, method: str, *arguments: Any) -> list[Any]:
        self.partitions = pickle.loads(pickle.dumps(self.partitions))
        return super().each(method, *arguments)


class LostAfter(LocalExecutor):
    """Executor that loses its partitions after a number of questions."""

    def __init__(self, here: Any, questions: int) -> None:
        super().__init__(here.partitions)
        self.questions = questions

    def each(self, method: str, *arguments: Any) -> list[Any]:
        self.questions -= 1
        if self.questions < 0:
            raise Lost("the cluster is gone")
        return super().each(method, *arguments)


def check(problem: PartitionedProblem, same: PartitionedProblem, here: Any) -> PartitionedSolution:
    """Check that both problems give the same bits, and an interval consistent with `here`.

    The problem `here` is solved in this process.
    """
    found = solve(problem, max_iter=60)
    assert bits(found) == bits(solve(same, max_iter=60))
    reference = solve_here(here, tol=1e-9).interval
    assert found.lower <= reference.upper
    assert reference.lower <= found.upper
    assert found.ok == (found.interval.relative_width <= 1e-6)
    return found


def objective(X: Array, u: Any, w: Array, C: float, squared: bool) -> Fraction:
    """Return the exact primal value; u : function from exact decision values to slacks."""
    weights = [Fraction(x) for x in w.tolist()]
    f = [
        sum((Fraction(a) * b for a, b in zip(x, weights, strict=True)), Fraction(0))
        for x in X.tolist()
    ]
    losses = (max(slack, Fraction(0)) for slack in u(f))
    return sum((b * b for b in weights), Fraction(0)) / 2 + Fraction(C) * sum(
        (x * x if squared else x for x in losses), Fraction(0)
    )


@given(
    points(ranks=False), st.integers(0, 2**32 - 1), st.integers(1, 7), COSTS, LOSSES, st.booleans()
)
def test_a_classification_has_the_same_bits_and_a_true_interval(
    p: Points, seed: int, parts: int, C: float, loss: Any, bias: bool
) -> None:
    X, y, _ = p.cut(dealt(seed, np.arange(len(p.y)), parts, shuffled=True))
    whole = classification([p.X], [p.y], C, loss, bias)
    found = check(
        whole,
        classification(X, y, C, loss, bias),
        classification_here(p.X, p.y, C=C, loss=loss, bias=bias),
    )

    def slacks(f: list[Fraction]) -> list[Fraction]:
        return [
            1 - Fraction(label) * (value + Fraction(found.bias))
            for label, value in zip(p.y.tolist(), f, strict=True)
        ]

    assert objective(p.X, slacks, found.w, C, loss == "squared_hinge") <= Fraction(found.upper)


@given(points(ranks=True), st.integers(0, 2**32 - 1), st.integers(1, 7), COSTS, LOSSES)
def test_a_ranking_has_the_same_bits_and_a_true_interval(
    p: Points, seed: int, parts: int, C: float, loss: Any
) -> None:
    X, y, qid = p.cut(dealt(seed, p.qid, parts, shuffled=True))
    whole = ranking([p.X], [p.y], [p.qid], C, loss)
    found = check(whole, ranking(X, y, qid, C, loss), ranking_here(p.X, p.y, p.qid, C=C, loss=loss))
    better = [
        (i, j)
        for i in range(len(p.y))
        for j in range(len(p.y))
        if p.qid[i] == p.qid[j] and p.y[i] > p.y[j]
    ]

    def slacks(f: list[Fraction]) -> list[Fraction]:
        return [1 - f[i] + f[j] for i, j in better]

    assert objective(p.X, slacks, found.w, C, loss == "squared_hinge") <= Fraction(found.upper)


def ordinary(ranks: bool, n: int = 2000, d: int = 6) -> Points:
    """Return data of the usual kind."""
    r = np.random.default_rng(3)
    X = r.normal(size=(n, d))
    score = X @ r.normal(size=d) + r.normal(size=n)
    return Points(
        X,
        np.clip(np.rint(score), -2, 2) if ranks else np.where(score > 0.3, 1.0, -1.0),
        np.repeat(np.arange(n // 50), 50),
    )


def make_problem(p: Points, parts: int, loss: Any, ranks: bool) -> PartitionedProblem:
    """Return the problem in partitions of neighbouring rows."""
    queries = np.array_split(np.arange(len(p.y) // 50), parts)
    X, y, qid = p.cut([np.flatnonzero(np.isin(p.qid, chosen)) for chosen in queries])
    return ranking(X, y, qid, 1e-3, loss) if ranks else classification(X, y, 0.1, loss)


@pytest.mark.parametrize("ranks", [False, True], ids=["classification", "ranking"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_two_and_seven_partitions_have_the_same_bits(loss: str, ranks: bool) -> None:
    p = ordinary(ranks)
    found = [solve(make_problem(p, parts, loss, ranks)) for parts in (1, 2, 7)]
    assert found[0].ok, found[0].reason
    assert len({bits(each) for each in found}) == 1
    here = (
        ranking_here(p.X, p.y, p.qid, C=1e-3, loss=loss)  # type: ignore[arg-type]
        if ranks
        else classification_here(p.X, p.y, C=0.1, loss=loss)  # type: ignore[arg-type]
    )
    reference = solve_here(here, tol=1e-9)
    assert found[0].lower <= reference.upper
    assert reference.lower <= found[0].upper
    assert found[0].decision_function(p.X) == pytest.approx(
        reference.decision_function(p.X), rel=1e-2, abs=2e-2
    )


@pytest.mark.parametrize("ranks", [False, True], ids=["classification", "ranking"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_partitions_that_forget_what_they_keep_give_the_same_bits(loss: str, ranks: bool) -> None:
    problem = make_problem(ordinary(ranks), 3, loss, ranks)
    assert isinstance(problem.sums, LocalExecutor)
    forgetful = replace(problem, sums=Forgetful(problem.sums.partitions))
    assert bits(solve(forgetful)) == bits(solve(problem))


def test_partitions_that_are_gone_leave_the_best_point() -> None:
    problem = make_problem(ordinary(ranks=False), 2, "hinge", ranks=False)
    whole = solve(problem)
    found = solve(replace(problem, sums=LostAfter(problem.sums, 20)))
    assert (found.status, found.reason) == (
        Status.NUMERICAL_FAILURE,
        "the cluster is gone; the best point so far is returned",
    )
    assert whole.lower - 1e-6 <= found.upper < problem.whole.at_0
    assert found.lower <= whole.upper
    with pytest.raises(Lost, match="the cluster is gone"):
        solve(replace(problem, sums=LostAfter(problem.sums, 0)))


def test_a_width_that_shrinks_slowly_is_progress_until_it_stays() -> None:
    """The width shrinks by 1 % per step: each step was compared with the best so far."""
    result = PartitionedResult(None, Interval(0.0, 1.0), 0)  # type: ignore[arg-type]
    stale = list[int]()
    for k in range(300):
        proven = Interval(1.0 - 0.99 ** min(k, 200), 1.0)
        result = replace(result, proven=proven).stepped()
        stale.append(result.stale)
    assert max(stale[:200]) < STALE_STEPS <= max(stale)


def test_a_run_ends_at_its_limits() -> None:
    problem = make_problem(ordinary(ranks=False), 2, "hinge", ranks=False)
    few = solve(problem, max_iter=2)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    assert "the limit of 2 iterations" in few.reason
    assert solve(problem, time_limit=1e-9).status is Status.TIME_LIMIT
    exact = solve(problem, tol=1e-300)
    assert exact.status is Status.NUMERICAL_FAILURE
    assert exact.interval.relative_width < 1e-7


@pytest.mark.parametrize("C", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("size", [1e-99, 1.0, 1e99])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_numbers_of_any_size_give_a_true_interval(loss: Any, size: float, C: float) -> None:
    X, y = np.array([[2.0], [1.0], [-1.0], [-3.0]]) * size, np.array([1.0, -1.0, 1.0, -1.0])
    for found in (
        solve(classification([X], [y], C, loss), max_iter=30),
        solve(ranking([X], [y], [[0] * 4], C, loss), max_iter=30),
    ):
        assert -np.inf <= found.lower <= found.upper <= np.inf
        assert found.lower <= 4 * C
        assert found.upper >= 0.0
        assert np.isfinite(found.w).all()


def asked(ranks: bool, loss: Any) -> tuple[Any, Any, list[tuple[Any, ...]]]:
    """Return a separate partition, the sums of its points, and questions to both."""
    p = ordinary(ranks)
    problem = (
        ranking([p.X], [p.y], [p.qid], 1e-3, loss)
        if ranks
        else classification([p.X], [p.y], 1e-3, loss)
    )
    r = np.random.default_rng(0)
    smooth = SQUARED_HINGE if loss == "squared_hinge" else smoothed_hinge(2.0)
    points = [r.normal(size=len(problem.whole.top)) for _ in range(6)]
    partition = pickle.loads(pickle.dumps(problem.sums.partitions[0]))  # type: ignore[attr-defined]
    return (
        partition,
        problem.sums,
        [(question, problem.whole, v, smooth) for v in points for question in ("look", "hessian")],
    )


def same(some: Any, others: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_threads_may_ask_a_partition_at_once(ranks: bool, loss: str) -> None:
    partition, sums, questions = asked(ranks, loss)
    wanted = [
        pickle.loads(pickle.dumps(sums.partitions[0])).answer(*question) for question in questions
    ]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda question: partition.answer(*question), 5 * questions))
    assert all(same(answer, one) for answer, one in zip(answers, 5 * wanted, strict=True))


@pytest.mark.parametrize("broken", ["gathered", "within"])
def test_a_question_that_is_broken_off_leaves_nothing_of_it_behind(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    partition, sums, (first, _, second, *_) = asked(True, "hinge")
    before = partition.answer(*first)
    whole = getattr(ranked, broken)

    def interrupted(*arguments: Any) -> None:
        whole(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ranked, broken, interrupted)
        with pytest.raises(KeyboardInterrupt):
            partition.answer(*second)
    assert same(partition.answer(*second), sums.partitions[0].answer(*second))
    assert same(partition.answer(*first), before)
