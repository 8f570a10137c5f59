"""Attempts of a backend: accepted results, and treatment of all other results."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations import (
    classification,
    declare,
    one_norm_ranking,
    precomputed,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs import examine
from equimargin.solvers import BACKENDS, Status, solve, solve_declaration
from equimargin.solvers.backends import solve as backends
from equimargin.solvers.backends.table import Attempt


def overlapping(rows: int = 100) -> MarginProblem:
    """Return two overlapping classes in three dimensions.

    Most rows bind at a cost of 1.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 3))
    return classification(
        X, np.where(X @ [1.0, -0.5, 0.2] + random.normal(size=rows) > 0, 1, -1), C=1.0
    )


def polished(**others: float) -> SimpleNamespace:
    """Return a raw OSQP result polished to ten digits, with some figures replaced."""
    figures = {
        "status_polish": 1,
        "prim_res": 1e-10,
        "dual_res": 1e-10,
        "duality_gap": -1e-10,
        "obj_val": -1.0,
    }
    return SimpleNamespace(info=SimpleNamespace(**figures | others))


@pytest.mark.parametrize("id", ["svm.soft.primal", "svm.soft.dual", "svm.l2.dual"])
def test_osqp_keeps_the_tolerance_that_was_asked_whichever_attempt_it_is(id: str) -> None:
    problem = (
        overlapping() if id.startswith("svm.soft") else replace(overlapping(), loss="squared_hinge")
    )
    answer = solve_declaration(declare(id, problem), "OSQP", tol=1e-8)
    found = examine(problem, answer)
    assert answer.status is Status.OPTIMAL
    assert found.accuracy is not None
    assert found.accuracy.normwise < 1e-8


def test_a_rough_answer_is_polished_where_iterations_alone_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared, osqp = declare("svm.soft.dual", overlapping(200)), BACKENDS["OSQP"]
    answer = solve_declaration(declared, "OSQP")
    monkeypatch.setitem(BACKENDS, "OSQP", replace(osqp, ladder=osqp.ladder[-1:]))
    alone = solve_declaration(declared, "OSQP")
    assert answer.iterations is not None
    assert alone.iterations is not None
    assert answer.iterations < alone.iterations / 4


@pytest.mark.parametrize(
    "figures",
    [
        {"status_polish": -1},
        {"prim_res": 1e-4},
        {"dual_res": 1e-4},
        {"duality_gap": -1e-4},
        {"obj_val": float("nan")},
    ],
)
def test_an_answer_that_polishing_leaves_inaccurate_is_not_accepted(
    figures: dict[str, float],
) -> None:
    first = BACKENDS["OSQP"].ladder[0]
    assert first.accepts(1e-9, polished())
    assert not first.accepts(1e-9, polished(**figures))


def test_the_next_attempt_follows_one_that_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def never(tol: float, raw: Any) -> bool:
        seen.append((raw, tol))
        return False

    monkeypatch.setitem(
        BACKENDS,
        "OSQP",
        replace(BACKENDS["OSQP"], ladder=(Attempt(1e3, {"polishing": False}, never), Attempt(0.1))),
    )
    answer = solve_declaration(
        declare("svm.l2.dual", replace(overlapping(), loss="squared_hinge")), "OSQP", tol=1e-8
    )
    ((raw, tol),) = seen
    assert tol == pytest.approx(1e-5)
    assert answer.status is Status.OPTIMAL
    assert answer.solve_seconds > raw.info.solve_time
    assert answer.raw is not None
    assert answer.raw.x is not None
    assert np.abs(answer.raw.x - raw.x).max() > 1e-9


def test_a_backend_of_which_no_attempt_is_accepted_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        BACKENDS,
        "OSQP",
        replace(BACKENDS["OSQP"], ladder=(Attempt(1.0, {}, lambda tol, raw: False),)),
    )
    answer = solve_declaration(declare("svm.soft.dual", overlapping(20)), "OSQP")
    assert answer.status is Status.NUMERICAL_FAILURE
    assert (
        answer.reason == "polishing did not bring the approximate result to the requested accuracy"
    )
    assert answer.point is None


def test_the_seconds_of_an_attempt_that_breaks_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def breaks(tol: float, raw: Any) -> bool:
        seen.append(tol)
        time.sleep(0.2)
        raise ArithmeticError("no figure")

    ladder = (Attempt(1.0, {}, breaks), Attempt(1.0, {}, breaks))
    monkeypatch.setitem(BACKENDS, "CLARABEL", replace(BACKENDS["CLARABEL"], ladder=ladder))
    declared = declare("svm.soft.dual", overlapping(20))
    answer = solve_declaration(declared, "CLARABEL", time_limit=0.2)
    assert (len(seen), answer.reason) == (1, "CLARABEL failed: no figure")
    assert answer.solve_seconds >= 0.2


def test_the_seconds_of_a_compilation_that_breaks_are_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*arguments: Any) -> None:
        time.sleep(0.1)
        raise ArithmeticError("no figure")

    monkeypatch.setattr(backends, "_compiled", breaks)
    answer = solve_declaration(declare("svm.soft.dual", overlapping(20)), "CLARABEL")
    assert answer.reason == "CLARABEL failed: no figure"
    assert answer.compile_seconds >= 0.1
    assert answer.solve_seconds == 0.0


@pytest.mark.parametrize("vectors", [BACKENDS["CLARABEL"].vectors, None])
def test_a_backend_that_does_not_start_takes_no_seconds(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS, "CLARABEL", replace(BACKENDS["CLARABEL"], vectors=vectors))
    declared = declare("svm.soft.dual", overlapping(20))
    answer = solve_declaration(declared, "CLARABEL", total_time=1e-9)
    assert (answer.status, answer.solve_seconds) == (Status.TIME_LIMIT, 0.0)
    assert answer.compile_seconds > 0.0


def test_an_inaccurate_answer_that_keeps_the_tolerance_is_one_at_the_first_attempt() -> None:
    """1-norm ranking of 60 points by their Gram matrix.

    Clarabel, with a hundredth of the tolerance, stops with "AlmostSolved".
    """
    random = np.random.default_rng(2)
    X = random.normal(size=(60, 5))
    y = np.digitize(X @ np.linspace(1.0, -0.5, 5) + random.normal(size=60), [-1.0, 0.0, 1.0])
    problem = one_norm_ranking(X @ X.T, y, kernel=precomputed())
    answer = solve_declaration(declare("rank.onenorm.primal", problem), "CLARABEL", tol=1e-8)
    assert answer.status is Status.OPTIMAL
    assert "its point satisfies the tolerance" in answer.reason, (
        "Clarabel solves it outright: take another seed"
    )
    exact = solve(problem, tol=1e-9)
    assert answer.value == pytest.approx(exact.value, rel=2e-8)


def test_a_point_keeps_a_tolerance_only_if_value_rows_and_stationarity_do() -> None:
    """min x1 + x2  s.t.  x >= 1, in standard form; the optimum is 2, with x = z = (1, 1)."""
    form = StandardForm(
        sparse.csr_array((2, 2)),
        np.ones(2),
        -sparse.eye_array(2).tocsr(),
        -np.ones(2),
        0,
        2,
        (),
        np.full(2, -np.inf),
        np.full(2, np.inf),
        0.0,
    )
    right, up, across = np.ones(2), np.array([1e-6, 0.0]), np.array([1e-6, -1e-6])
    assert form.keeps(right, right, 1e-9)
    assert form.keeps(right + 1e-10, right, 1e-9)
    for x, z in (
        (right + up, right),  # the value is too large
        (right + across, right),  # the value is right, and a row is not met
        (right, right + across),  # stationarity is not met
        (0 * right, 0 * right),  # p = d = 0, and neither side is met
        (None, right),
    ):
        assert not form.keeps(x, z, 1e-9)
    assert not replace(form, lower=np.zeros(2)).keeps(right, right, 1e-9)


def test_an_answer_is_shown_in_one_line() -> None:
    """The line states the end of the run, without matrices."""
    problem = classification([[0.0], [1.0], [3.0]], [-1, 1, 1], C=1.0)
    answer = solve_declaration(declare("svm.soft.dual", problem), "CLARABEL")
    assert repr(answer) == "<Answer by CLARABEL to svm.soft.dual: optimal, objective 1.5>"
