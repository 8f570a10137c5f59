"""One-norm rankings by HiGHS: proven intervals, primal from dual multipliers, limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from equimargin.formulations.kernels.kernel import (
    Intercept,
    linear,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    ranking_vector_machine,
)
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint
from equimargin.solvers.lp import linear_program
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Solution, Status
from narrow import as_a, present
from optima import three_levels
from places import HANG, ROOT

MAKERS = (ranking_vector_machine, one_norm_ranking)


def test_highs_prints_nothing(tmp_path: Path) -> None:
    """HiGHS 1.16 prints a banner from C++."""
    model = tmp_path / "model.lp"
    model.write_text("min\n c: x\nst\n r: x >= 1\nend\n")
    code = (
        "from pathlib import Path\n"
        "from equimargin.formulations.programs.model_file import read_model\n"
        "from equimargin.formulations.programs.quiet_highs import quiet_highs\n"
        f"quiet_highs().run(); read_model(Path({str(model)!r}))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=HANG
    )
    assert (answer.stdout, answer.stderr, answer.returncode) == ("", "", 0)


def checked(problem: OneNormProblem, tol: float = 1e-9) -> Solution:
    """Return the feasible solution, its proven interval as requested."""
    solution = solve(problem, "linear_program", tol=tol)
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.interval.relative_width <= 1.01 * tol + 1e-8
    x, u = unknowns(solution), as_a(np.ndarray, solution.dual)
    assert x.shape == (problem.size,)
    assert (x >= 0).all()
    assert (u >= 0).all()
    return solution


def unknowns(solution: Solution) -> Any:
    """Return x of a linear program, (size,)."""
    return present(as_a(OneNormPoint, solution.point).x)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kernel", [linear(), rbf(0.2), polynomial(2, 1.0, 1.0), sigmoid(0.1)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_one_norm_rankings(make: Any, kernel: Any, C: float) -> None:
    checked(make(*three_levels(), C=C, kernel=kernel))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_value_scales(make: Any, scale: float) -> None:
    X, y, qid = three_levels()
    value = checked(make(scale * X, y, qid, C=1 / scale**2)).value
    assert value * scale**2 == pytest.approx(checked(make(X, y, qid)).value, rel=1e-8)


def test_what_is_beyond_highs_has_failed_and_is_not_unbounded() -> None:
    """u <= C K is no limit to HiGHS, which takes 1e20 and more for infinity."""
    twice = [[4e5, 0.0], [0.0, 4e5], [4e5, 0.0]]
    solution = solve(
        one_norm_classification(twice, [1, -1, -1], 2.0, polynomial(2, 2.0, 1.0)), "linear_program"
    )
    assert solution.status is Status.NUMERICAL_FAILURE
    assert "HiGHS: Unbounded" in solution.reason
    # Both classes are at one point: a slack of 2 in total, or of 1 each.
    assert solution.lower <= 4.0 <= solution.upper


def test_the_look_alike_of_document_t_in_one_dimension() -> None:
    """x = 1 preferred to x = 2, linear: x >= 0 cannot rank it.

    Thus x = 0, and the value is C.
    """
    solution = checked(ranking_vector_machine([[1.0], [2.0]], [1, 0], C=3.0))
    assert solution.value == pytest.approx(3.0)
    assert unknowns(solution) == pytest.approx([0.0, 0.0])
    assert checked(one_norm_ranking([[1.0], [2.0]], [1, 0], C=3.0)).value == pytest.approx(1.0)


def test_a_one_norm_ranking_decides_by_its_points() -> None:
    """Its variables belong to pairs, here three of three points.

    f = sum_r x_r (k(x_i, .) - k(x_j, .)).
    """
    X = np.array([[0.0], [1.0], [3.0]])
    problem = one_norm_ranking(X, [0, 1, 2], C=10.0, kernel=rbf(0.5))
    solution = checked(problem)
    xi = np.maximum(1.0 - problem.rows.dot(solution.decision_function(X)), 0.0)
    assert solution.value == pytest.approx(unknowns(solution).sum() + 10.0 * xi.sum())


@pytest.mark.parametrize("make", MAKERS)
def test_no_pairs(make: Any) -> None:
    solution = checked(make(three_levels()[0], np.ones(40)))
    assert solution.value == 0.0


@pytest.mark.parametrize("make", MAKERS)
def test_equations_that_only_define_unknowns_cost_no_steps(make: Any) -> None:
    """With so small a C all multipliers end where they start, at C.

    A'u, Z'A'u and Z Z'A'u need no step of the simplex method.
    """
    solution = checked(make(*three_levels(), C=1e-6))
    assert solution.iterations == 0
    assert (as_a(np.ndarray, solution.dual) == 1e-6).all()


@pytest.mark.parametrize("make", MAKERS)
def test_limits_return_a_point_and_a_reason(make: Any) -> None:
    problem = make(*three_levels(200), kernel=rbf(0.2))
    one = solve(problem, "linear_program", max_iter=1)
    assert one.status is Status.ITERATION_LIMIT
    soon = solve(problem, "linear_program", time_limit=1e-6)
    assert soon.status is Status.TIME_LIMIT
    for solution in (one, soon):
        assert "HiGHS" in solution.reason
        assert np.isfinite([solution.lower, solution.upper]).all()


@pytest.mark.parametrize("limits", [{"max_iter": 1}, {"time_limit": 1e-6}])
def test_a_run_that_a_limit_ended_solves_no_equations(
    limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They took twenty seconds after a limit of ten, for a vertex that was not optimal."""
    monkeypatch.setattr("equimargin.solvers.lp.polish._solved_again", None)
    problem = ranking_vector_machine(*three_levels(200), kernel=rbf(0.2))
    assert not solve(problem, "linear_program", **limits).ok
    with pytest.raises(TypeError, match="not callable"):
        solve(problem, "linear_program")


def test_more_rows_than_one_step_of_highs_takes_are_generated_column_by_column() -> None:
    """One step over 240,000 pairs took 17 CPU seconds, whatever the time limit was."""
    points = np.random.default_rng(0).normal(size=(460, 3))
    problem = ranking_vector_machine(points, np.arange(460.0), None, 1.0, rbf(0.2))
    assert (
        str(linear_program.REQUIREMENTS.refusal(problem))
        == "too large: 105,570 pairs, the limit is 100,000"
    )
    assert solve(problem, tol=1e-3, time_limit=1e-3).solver == "column_generation"


def test_the_callback_sees_the_end() -> None:
    seen: list[tuple[int, float, float, CanonicalPoint]] = []
    solution = solve(
        ranking_vector_machine(*three_levels()),
        "linear_program",
        callback=lambda *shown: seen.append(shown),
    )
    assert [(iterations, point) for iterations, _, _, point in seen] == [
        (solution.iterations, solution.point)
    ]


def test_refusals() -> None:
    assert "quadratic" in str(
        linear_program.REQUIREMENTS.refusal(classification([[0.0], [1.0]], [1, -1]))
    )
    X = np.random.default_rng(0).normal(size=(7000, 2))
    assert (
        linear_program.REQUIREMENTS.refusal(
            ranking_vector_machine(X[:600], np.repeat([0, 1], 300), None, 1.0, rbf(0.2))
        )
        is None
    )
    many = ranking_vector_machine(X[:2010], np.repeat([0, 1], [2000, 10]), None, 1.0, rbf(0.2))
    assert "too large: 4,120,100 entries for 2,010 points and 20,000 pairs" in str(
        linear_program.REQUIREMENTS.refusal(many)
    )


def test_features_take_the_place_of_k_where_they_are_fewer() -> None:
    """The matrix has 4 p entries and those of Z and Z', or those of K."""
    X, y, qid = three_levels()
    problem = ranking_vector_machine(X, y, qid)
    assert linear_program.entries(problem) == 4 * problem.p + 2 * 40 * 5
    wide = np.hstack([X, np.ones((40, 30))])
    assert linear_program.entries(ranking_vector_machine(wide, y, qid)) == 4 * problem.p + 40**2
    assert linear_program.entries(
        ranking_vector_machine(csr_array(X * (X > 0)), y, qid)
    ) == 4 * problem.p + 2 * np.count_nonzero(X > 0)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("constant", [False, True])
def test_features_and_k_have_one_optimum(make: Any, constant: bool) -> None:
    """The proven intervals meet.

    Features are dense, sparse, with a column of ones, and as a given matrix.
    """
    X, y, qid = three_levels()
    kernel = Intercept(linear()) if constant else linear()
    dense = make(X, y, qid, kernel=kernel)
    sparse = make(csr_array(X), y, qid, kernel=kernel)
    assert dense.explicit is not None
    matrix = make(kernel.block(X, X), y, qid, kernel=precomputed())
    assert matrix.explicit is None
    found = [checked(problem) for problem in (dense, sparse, matrix)]
    assert max(solution.lower for solution in found) <= min(solution.upper for solution in found)


@pytest.mark.parametrize("make", MAKERS)
def test_auto_asks_column_generation_where_the_matrix_is_large(make: Any) -> None:
    small, large = three_levels(), three_levels(600)
    assert solve(make(*small, kernel=rbf(0.2))).solver == "linear_program"
    assert solve(make(*large, kernel=rbf(0.2)), max_iter=1).solver == "column_generation"


@given(st.data())
def test_any_small_ranking(data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 7), "m")
    X = data.draw(st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=m, max_size=m), "X")
    y = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m), "y")
    kernel = data.draw(st.sampled_from([linear(), rbf(0.5)]), "kernel")
    make = data.draw(st.sampled_from(MAKERS), "form")
    checked(make(X, y, C=data.draw(st.sampled_from([0.1, 1.0, 10.0]), "C"), kernel=kernel), 1e-8)


@pytest.mark.parametrize("name", ["linear_program", "column_generation"])
def test_a_slack_of_rounding_is_not_priced_at_a_large_cost(name: str) -> None:
    """The simplex method leaves slacks of 1e-10 or so, each of which costs C.

    The points are of one class, and almost one point.
    """
    X = [
        [1.4251014598402055e-05, 0.0],
        [-2.084098765778901e-06, 0.0],
        [-5.065151430753784e-07, 0.0],
        [1.4251014598402055e-05, 0.0],
    ]
    problem = one_norm_classification(
        X, [1, 1, 1, 1], 616588.0015436955, polynomial(2, 1.0, 1.0), bias=False
    )
    solution = solve(problem, name, tol=1e-8)
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.upper - solution.lower <= 1e-7 * solution.upper
