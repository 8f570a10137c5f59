"""Points and bounds passed to callbacks, by every solver, and traces.

The clock of a trace stands still while it scores.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from equimargin.formulations import Problem, rbf
from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers import SOLVERS, Trace, solve
from equimargin.solvers.solution import relative_gap
from equimargin.testing import CANONICAL, sample_problem

PROBLEMS = {family: sample_problem(family, rbf(0.4), 1) for family in CANONICAL}
CASES = [
    (family, name)
    for family, problem in PROBLEMS.items()
    for name in SOLVERS
    if SOLVERS[name].refusal(problem) is None
]


@pytest.mark.parametrize(("family", "solver"), CASES)
def test_the_point_that_is_shown_proves_the_bounds_that_are_told(family: str, solver: str) -> None:
    """The bounds agree within the rounding of two computations.

    The proven interval of a point may be closer than its values.
    """
    problem: Problem = PROBLEMS[family]
    far: list[tuple[int, float, float]] = []

    def compare(iterations: int, lower: float, upper: float, point: CanonicalPoint) -> None:
        proven = interval(problem, point)
        beyond = max(proven.upper - upper, 0.0) if np.isfinite(upper) else 0.0
        below = max(lower - proven.lower, 0.0) if np.isfinite(lower) else 0.0
        if max(beyond, below) > 1e-6 * max(abs(lower), abs(upper), 1e-4 * problem.scale):
            far.append((iterations, beyond, below))

    solve(problem, solver, tol=1e-6, callback=compare)
    assert far == []


def test_the_clock_of_a_trace_stands_still_while_it_scores() -> None:
    """Each score takes 0.2 s of CPU time, and the run a thousandth without scores."""
    problem = sample_problem("rank.l2", rbf(0.4), 1)
    # This run compiles the kernels.
    solve(problem, "tron")

    def costly(point: CanonicalPoint) -> float:
        ends = time.process_time() + 0.2
        while time.process_time() < ends:
            pass
        return 0.0

    begun = time.process_time()
    trace = Trace(costly)
    found = solve(problem, "tron", callback=trace)
    spent, seconds = time.process_time() - begun, [check.seconds for check in trace.checks]
    assert len(seconds) == (found.iterations or 0) + 1
    assert spent >= 0.2 * len(seconds)
    assert seconds == sorted(seconds)
    assert 0 <= seconds[0] <= seconds[-1] <= spent - 0.2 * (len(seconds) - 1)


def test_a_trace_without_a_score_keeps_the_bounds() -> None:
    problem = sample_problem("rank.l1", rbf(0.4), 1)
    trace = Trace()
    found = solve(problem, "cutting_plane", tol=1e-6, callback=trace)
    last = trace.checks[-1]
    assert np.isnan(last.score)
    assert relative_gap(last.upper, last.lower, problem.scale) <= 1e-6
    assert last.iterations == found.iterations


def test_points_lead_from_the_start_to_the_solution() -> None:
    """At the end of a run the score of the points is that of the solution.

    The score here is the distance of f from the solution's f.
    """
    problem = sample_problem("rank.l2", rbf(0.4), 1)
    found = solve(problem, "tron", tol=1e-8)
    f = found.decision_function(problem.X)

    def distance(point: CanonicalPoint) -> float:
        own = problem.function(point)
        assert own.beta is not None
        return float(np.linalg.norm(problem.gram @ own.beta - f))

    trace = Trace(distance)
    solve(problem, "tron", tol=1e-8, callback=trace)
    distances = [check.score for check in trace.checks]
    assert distances[0] == pytest.approx(np.linalg.norm(f))
    assert distances[-1] <= 1e-3 * distances[0]
