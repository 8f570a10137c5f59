"""Clock checks in every loop of exact arithmetic, and forecasts of other work."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import MarginProblem, classification, rbf
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.enclosure import lower, upper
from equimargin.proofs.enclosure.mixture import mixed
from equimargin.solvers import Status, exact_optimum, exact_path, given_gram
from equimargin.solvers.exact.numbers import integral, semidefinite
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import optimum_on_face
from equimargin.solvers.exact.program.floats import solve_in_floats
from equimargin.solvers.exact.program.integers import WORK
from equimargin.solvers.exact.program.linear_system import CHECK, check_forecast, solution_near
from equimargin.solvers.exact.program.parametric import optimum_by_parametric_pivots
from narrow import as_a


class Asked(Clock):
    """Clock that counts its checks, and is out of time after a number of them."""

    def __init__(self, until: float = np.inf) -> None:
        super().__init__(1e9)
        self.asked, self.ahead, self.until = Counter[str](), dict[str, float](), until

    def ask(self, work: str, ahead: float = 0.0) -> None:
        self.asked[work] += 1
        self.ahead[work] = ahead
        if self.asked.total() > self.until:
            raise OutOfTime(work)


def soft_margins(m: int) -> Program:
    """Return soft margins of m points on a line."""
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=m), np.where(rng.random(m) < 0.5, 1.0, -1.0)
    margins = np.column_stack([-y * x, -y, -np.eye(m)])
    slacks = np.column_stack([np.zeros((m, 2)), -np.eye(m)])
    P = np.diag([1.0] + [0.0] * (m + 1))
    return program_from_arrays(
        P,
        [0.0, 0.0, *[1.0] * m],
        G=np.vstack([margins, slacks]),
        h=np.append(-np.ones(m), np.zeros(m)),
    )


def test_questions_grow_with_the_system() -> None:
    counts = []
    for m in (10, 20, 40):
        program, clock = soft_margins(m), Asked()
        floats: Any = solve_in_floats(program, Clock(10.0))
        assert optimum_on_face(program, floats, clock) is not None
        counts.append(clock.asked[WORK])
        assert clock.asked[CHECK] >= 1
        assert clock.ahead[CHECK] > 0
    assert counts[1] > 1.5 * counts[0]
    assert counts[2] > 1.5 * counts[1]


@pytest.mark.parametrize(
    "way",
    [
        optimum_on_face,
        optimum_by_parametric_pivots,
        lower.by_slater,
        upper.by_slater,
        lower.by_residual,
    ],
)
def test_a_clock_that_is_out_of_time_ends_the_work_at_its_next_question(way: Any) -> None:
    program = soft_margins(8)
    floats: Any = solve_in_floats(program, Clock(10.0))
    whole = Asked()
    way(program, floats, whole)
    for until in range(0, whole.asked.total(), 5):
        clock = Asked(until)
        with pytest.raises(OutOfTime):
            way(program, floats, clock)
        assert clock.asked.total() == until + 1


def test_a_mixture_asks_before_every_test() -> None:
    clock, tests = Asked(), []

    def holds(x: Any) -> bool:
        tests.append(x)
        return bool(x[0] >= 0)

    assert mixed([Fraction(-1, 2**20)], [Fraction(1)], holds, clock) is not None
    assert clock.asked.total() == len(tests) > 3


def test_a_solution_leaves_the_time_for_its_check() -> None:
    """A solution of many digits is refused if the remaining time is too short.

    The time is that of its substitution into its program.
    """
    program = soft_margins(3)
    long = [Fraction(1, 3**10_000)] * program.n
    assert (
        check_forecast(program.G, long)
        > 100 * check_forecast(program.G, [Fraction(1, 3)] * program.n)
        > 0
    )
    right = program.G.times([Fraction(1, 3**50)] * program.n)
    clock = Asked()
    assert solution_near(program.G, right, [Fraction(0)] * program.n, clock) is not None
    assert clock.ahead[CHECK] > 0


def given_matrix(m: int) -> MarginProblem:
    """Return a soft margin of m points with a given Gram matrix."""
    X = np.random.default_rng(m).normal(size=(m, 2))
    return as_a(
        MarginProblem,
        given_gram(classification(X, np.where(np.arange(m) % 2, 1.0, -1.0), 1.0, rbf(1.0))),
    )


def test_the_proof_that_a_given_matrix_is_positive_semidefinite_is_forecast() -> None:
    """The proof is not interrupted, and takes time in proportion to m^4."""
    ahead = []
    for m in (5, 10, 20):
        problem, clock = given_matrix(m), Asked()
        assert "characteristic polynomial" in semidefinite(problem, integral(problem), clock)
        ((work, count),) = clock.asked.items()
        assert count == 1
        ahead.append(clock.ahead[work])
        with pytest.raises(OutOfTime):
            semidefinite(problem, integral(problem), Asked(0))
    assert ahead[2] > 8 * ahead[1] > 64 * ahead[0] > 0


def test_no_optimum_is_claimed_where_the_time_does_not_suffice_for_that_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = given_matrix(10)
    monkeypatch.setattr(
        "equimargin.solvers.exact.program.semidefinite.forecast", lambda size, bits: 1e9
    )
    found = exact_optimum(problem, time_limit=60.0)
    assert (found.status, found.value, found.pivots, found.bias) == (
        Status.TIME_LIMIT,
        None,
        0,
        (None, None),
    )
    assert (
        "the time limit of 60 s does not suffice for the characteristic polynomial" in found.reason
    )
    assert "not known" in found.semidefinite
    assert not any((*found.alpha, *found.beta))
    path = exact_path(problem, time_limit=60.0)
    assert not path.pieces
    assert "characteristic polynomial" in path.stopped
    # Without a limit the forecast has no effect.
    assert exact_optimum(problem).status is Status.OPTIMAL
