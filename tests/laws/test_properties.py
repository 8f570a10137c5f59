"""Agreement of right results on any data, and truth of each solver's own report.

The scale is moderate where a backend takes part: at 1e-6 or 1e6 an interior-point
method may honestly fail.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from equimargin.formulations import REGISTRY, MarginProblem, Problem, declare
from equimargin.formulations.bounds.intervals import SIZE_FLOOR
from equimargin.proofs import Agreement, Evidence, Verdict, examine, examine_solution, judge
from equimargin.solvers import BACKENDS, SOLVERS, Status, solve, solve_declaration
from equimargin.solvers.solution import relative_gap
from equimargin.testing import CANONICAL, HARD, margin_problems

DECLARED = [
    family
    for family in CANONICAL
    if family not in HARD and any(e.family == family for e in REGISTRY.values())
]
"""Families without the hard ones, which arbitrary data make infeasible."""
ASKED = ("CLARABEL", "SCS")
"""Backends that run on any data: OSQP and HiGHS are each weak on a kind of program."""
SOLVED = [
    family for family in CANONICAL if any(solver.takes(family) for solver in SOLVERS.values())
]


def answers(problem: Problem) -> list[Evidence]:
    """Return the answers to a problem by all declarations and solvers of its family.

    Two backends run every declaration, an interior-point and a splitting method.
    """
    ids = [
        id for id, entry in REGISTRY.items() if not entry.control and entry.refusal(problem) is None
    ]
    names = [
        name
        for name, solver in SOLVERS.items()
        if solver.takes(problem.family) and solver.refusal(problem) is None
    ]
    declared = [
        examine(problem, solve_declaration(declare(id, problem), backend))
        for id in ids
        for backend in ASKED
    ]
    return declared + [examine_solution(problem, solve(problem, name, tol=1e-8)) for name in names]


def test_the_backends_of_the_laws_are_those_that_take_any_program() -> None:
    """SCS is the splitting method, and Clarabel the interior-point method."""
    assert set(ASKED) == {name for name, backend in BACKENDS.items() if backend.suited == "any"}


@pytest.mark.parametrize("family", DECLARED)
def test_right_answers_agree_on_any_data(family: str) -> None:
    """All results agree, on degenerate data too.

    Where the optimum is 0, backends may end with any accuracy, but none disagrees.

    The backends may both be inaccurate on every form of a family, which is then
    undecided: of one in some hundred runs of Clarabel on the same linear programs, with
    the same data, that is so.
    """

    @given(margin_problems(family, max_points=8, tails=False))
    def check(problem: Problem) -> None:
        found = judge(family, answers(problem), problem.scale)
        seen = {j.agreement for j in found.judgements}
        assert Agreement.DISAGREES not in seen, found
        if found.interval.upper > SIZE_FLOOR * problem.scale:
            assert seen <= {Agreement.AGREES, Agreement.INACCURATE}, found
            declared = any(
                j.agreement is Agreement.AGREES
                for j in found.judgements
                if j.evidence.run.formulation is not None
            )
            assert found.verdict is (Verdict.AGREE if declared else Verdict.UNDECIDED), (
                found.reason,
                found,
            )

    check()


@pytest.mark.slow
@pytest.mark.parametrize("family", SOLVED)
def test_a_solvers_word_is_true_at_any_scale(family: str) -> None:
    """The interval is never empty, and a reported accuracy was reached."""

    @given(margin_problems(family, max_points=8))
    def check(problem: Problem) -> None:
        for name, solver in SOLVERS.items():
            if not solver.takes(family) or solver.refusal(problem) is not None:
                continue
            solution = solve(problem, name, tol=1e-6, time_limit=0.5)
            assert solution.lower <= solution.upper
            assert solution.reason
            assert not np.isnan(solution.value)
            # A linear program's gap is its proven one. Of a gap that is rounding, two
            # evaluations differ; the proven one may be smaller than either.
            if solution.status is Status.OPTIMAL and isinstance(problem, MarginProblem):
                proven = relative_gap(solution.upper, solution.lower, problem.scale)
                assert min(solution.relative_gap, proven) <= 1e-6

    check()


@pytest.mark.slow
@pytest.mark.parametrize("family", SOLVED)
def test_auto_reaches_the_accuracy_where_any_solver_does(family: str) -> None:
    """Columns in their own units, from 1e-2 to 1e6, are included.

    The next solver follows a solver without progress.
    """

    @given(
        margin_problems(family, max_points=8, tails=False),
        st.lists(st.integers(-2, 6), min_size=8, max_size=8),
    )
    def check(problem: Problem, powers: list[int]) -> None:
        units = 10.0 ** np.resize(powers, problem.X.shape[1])
        problem = replace(problem, X=problem.X * units)
        names = [
            name
            for name, solver in SOLVERS.items()
            if solver.takes(family) and solver.refusal(problem) is None
        ]
        found = solve(problem, time_limit=30.0)
        if not found.ok and found.status is not Status.INFEASIBLE:
            others = [
                name
                for name in names
                if not SOLVERS[name].reference and solve(problem, name, time_limit=5.0).ok
            ]
            assert not others, (others, found.reason)

    check()


def test_the_strategies_name_what_they_know() -> None:
    with pytest.raises(ValueError, match=r"unknown family 'svm'; known: .*svm\.hard, svm\.soft"):
        find(margin_problems("svm"), lambda problem: True)


@pytest.mark.slow
@pytest.mark.parametrize("family", CANONICAL)
def test_the_strategies_reach_their_nasty_branches(family: str) -> None:
    """Branches of the strategies: degenerate shapes, labels and scales.

    These are repeated points, rank-deficient Gram matrices, fewer points than
    dimensions, zero rows, one class or no pair, and large scales.
    """
    seen: set[str] = set()

    def look(problem: Problem) -> bool:
        X, m = problem.X, problem.m
        labels = getattr(problem.rows, "y", np.arange(m))
        found = {
            "repeated": len(np.unique(X, axis=0)) < m,
            "wide": m < X.shape[1],
            "zero row": m > 1 and not X.any(axis=1).all(),
            "zero column": not X.any(axis=0).all(),
            "large": np.abs(X).max() > 1e4,
            "small": 0 < np.abs(X).max() < 1e-4,
            "one level": problem.p == 0 or (m > 1 and len(np.unique(labels)) == 1),
            "ordinary": m >= 5 and problem.p > 0 and np.linalg.matrix_rank(X) == X.shape[1],
        }
        assert problem.family == family
        seen.update(name for name, here in found.items() if here)
        return len(seen) == len(found)

    sampled = settings(max_examples=200, phases=[Phase.generate], database=None)
    with suppress(NoSuchExample):
        find(margin_problems(family), look, settings=sampled, random=Random(0))
    assert seen == {
        "repeated",
        "wide",
        "zero row",
        "zero column",
        "large",
        "small",
        "one level",
        "ordinary",
    }
