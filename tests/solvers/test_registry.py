"""Selection of solvers by problem, suggestions in refusals, and registration."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cvxpy as cp
import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin import compare
from equimargin.cli.app import app
from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    MarginProblem,
    Point,
    Problem,
    classification,
    declare,
    one_norm_ranking,
    polynomial,
    ranking,
    ranking_from_pairs,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.rows.levels import Levels
from equimargin.own import Family
from equimargin.solvers import (
    SOLVERS,
    Limits,
    Refusal,
    Requirements,
    Solution,
    Status,
    exact_optimum,
    solve,
    solver,
)
from equimargin.solvers.solution import finished
from equimargin.testing import CANONICAL, check_solver, margin_problems, sample_problem
from places import HANG, ROOT, example

LINE = np.array([[0.0], [1.0], [3.0]])


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    """Sample a problem of any family, or a variant of one.

    Variants have a hard margin without a bias, a penalised bias, or a kernel that is
    not positive semidefinite.
    """
    problem = draw(margin_problems(draw(st.sampled_from(list(CANONICAL))), max_points=5))
    changes: dict[str, Any] = {}
    if isinstance(problem, MarginProblem):
        # The huberised hinge has a free bias and no hard rows.
        others = problem.delta is None
        levels = isinstance(problem.rows, Levels)  # their thresholds are free
        if others and problem.bias and not levels and draw(st.booleans()):
            changes["bias"] = False
        if others and draw(st.integers(0, 3)) == 0:
            changes["C"] = np.inf
        if draw(st.integers(0, 3)) == 0:
            changes["kernel"] = sigmoid(1.0, -1.0)
    return replace(problem, **changes)


def too_large(size: int) -> MarginProblem:
    """Return a ranking too large for every solver.

    Nearly all points are in a query whose pairs are hard, with squared slacks.
    """
    X = np.arange(float(size))[:, None]
    y, qid = np.append(X[2:, 0], [0.0, 1.0]), np.append(np.zeros(size - 2), [1, 1])
    return ranking(X, y, qid, 1.0, loss="squared_hinge", query_weight={0: np.inf})


def tube_with_a_hard_row() -> MarginProblem:
    """Return a regression for which declarations with ids of four parts are suggested."""
    problem = regression(
        np.zeros((5, 6)), np.zeros(5), C=1.0, epsilon=0.1, sample_weight=[np.inf, 1, 1, 1, 1]
    )
    return replace(problem, bias=False)


@hypothesis.example(tube_with_a_hard_row())
@given(any_problems())
def test_a_refusal_names_who_takes_the_problem_or_says_that_nobody_does(problem: Problem) -> None:
    taking = [name for name, solver in SOLVERS.items() if solver.refusal(problem) is None]
    for name in ("auto", *(name for name in SOLVERS if name not in taking)):
        if name == "auto" and any(not SOLVERS[other].reference for other in taking):
            continue
        with pytest.raises(ValueError, match=problem.family) as refused:
            solve(problem, name)
        said = str(refused.value)
        why, _, advice = said.rpartition("; ")
        assert advice, said
        assert name == "auto" or not any(
            re.search(rf"\b{other}\b", why.removeprefix(name)) for other in SOLVERS
        ), said
        if taking:
            assert advice == f"try {', '.join(taking)}"
        else:
            assert advice.startswith("no specialised solver takes it")
            for id in re.findall(r"\b\w+(?:\.\w+){2,}\b", advice):
                declare(id, problem)
            if "exact_optimum" in advice:
                assert exact_optimum(problem, max_iter=1).reason


@pytest.fixture
def without_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the solver of hard rows with squared slacks: some problems then have none."""
    monkeypatch.setattr(
        SOLVERS, "_values", {name: SOLVERS[name] for name in SOLVERS if name != "penalty"}
    )


@pytest.mark.usefixtures("without_penalty")
def test_refusals_speak_of_the_solvers_of_a_problems_family_alone() -> None:
    """The other solvers include those of families of the field and of the documents."""
    others = [name for name, entry in SOLVERS.items() if not entry.takes("rank.l2")]
    assert "lasso.coordinate_descent" in others
    for name in ("auto", "cg"):
        with pytest.raises(ValueError, match=r"\bnewton\b") as refused:
            solve(too_large(500), name)
        assert not [
            other
            for other in others
            if re.search(rf"(?<![\w.]){re.escape(other)}\b", str(refused.value))
        ]
    lasso: Any = FAMILIES["lasso"]({"X": LINE, "y": LINE[:, 0], "penalty": 1.0})
    with pytest.raises(
        ValueError,
        match=r"unknown solver 'libsvm'.*; those for lasso: auto, lasso.coordinate_descent$",
    ):
        solve(lasso, "libsvm")


def test_hard_rankings_are_sent_to_who_takes_them() -> None:
    """Three solvers each suggested the next one, and the last suggested the first."""
    with pytest.raises(ValueError, match=r"; try dual_active_set$"):
        solve(ranking(LINE, [0, 1, 2], C=np.inf), "tron")


@pytest.mark.parametrize("kernel", [polynomial(2, 1.0, 1.0), rbf(1.0)], ids=str)
def test_hard_margins_without_a_bias_have_a_solver(kernel: Any) -> None:
    assert (
        solve(classification(LINE[1:], [1, -1], np.inf, kernel, bias=False)).status
        is Status.OPTIMAL
    )


def test_rows_that_are_all_hard_by_their_weights_have_a_solver() -> None:
    """With squared slacks only dual_active_set solves them.

    auto tried it only for problems of an infinite C.
    """
    every: dict[str, MarginProblem] = {
        "pairs": ranking_from_pairs(
            LINE, [[1, 0], [2, 1]], loss="squared_hinge", pair_weight=[np.inf, np.inf]
        ),
        "a query": ranking(
            LINE, [0, 1, 2], [7, 7, 7], loss="squared_hinge", query_weight={7: np.inf}
        ),
        "points": classification(
            LINE[1:] - 2, [-1, 1], bias=False, loss="squared_hinge", sample_weight=[np.inf, np.inf]
        ),
    }
    for name, problem in every.items():
        for one in (problem, replace(problem, loss="hinge")):
            found = solve(one)
            assert found.ok, name
            assert found.value == pytest.approx(0.5, rel=1e-6), name


@pytest.mark.parametrize("size", [400, 500])
@pytest.mark.usefixtures("without_penalty")
def test_what_is_too_large_to_declare_is_not_undeclared(size: int) -> None:
    """Exact arithmetic enumerates some 80,000 hard pairs, but not 125,000.

    The slacks are squared.
    """
    rows = (size - 2) * (size - 3) // 2 + 1
    ending = r", but exact_optimum takes it$" if rows < 100_000 else "$"
    with pytest.raises(
        ValueError, match=rf"it is too large to declare: {rows:,} rows, the limit is 50,000{ending}"
    ):
        solve(too_large(size))


def test_every_family_of_a_solver_exists() -> None:
    for entry in SOLVERS.values():
        for name in entry.families:
            assert any(f"{family}.".startswith(f"{name}.") for family in FAMILIES), (
                entry.name,
                name,
            )


def raw_columns(loss: Any, m: int = 36) -> MarginProblem:
    """Return a ranking of points of different relevance, with columns from 1e-2 to 1e5.

    There are m (m - 1) / 2 labelled pairs.
    """
    rng = np.random.default_rng(0)
    units = 10.0 ** np.linspace(-2, 5, 8)
    return ranking(units * (1 + rng.normal(size=(m, 8))), rng.permutation(m), loss=loss)


def raw_classes() -> MarginProblem:
    """Return a classification with columns from 1e-2 to 1e6 and few points of class +1."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) < 15, 1.0, -1.0)
    X = np.exp(rng.normal(size=(300, 20)) + 0.3 * (y > 0)[:, None]) * 10.0 ** np.linspace(-2, 6, 20)
    return classification(X, y)


def test_auto_of_columns_in_their_own_units_takes_newtons_method_and_ends() -> None:
    """Coordinate descent was at a gap of .26 after 65,661 sweeps of 630 pairs.

    Pair steps went on for half a minute.
    """
    assert raw_columns("hinge").p == 630
    for problem, name in (
        (raw_columns("squared_hinge"), "newton"),
        (raw_columns("hinge"), "huber"),
        (raw_classes(), "huber"),
    ):
        found = solve(problem)
        assert (found.solver, found.ok) == (name, True), found.reason
        assert found.reason.startswith("relative gap")


def test_auto_of_a_small_tube_without_a_bias_ends_within_the_limit_of_linear_svr() -> None:
    """Coordinate descent takes more than 1,000 sweeps for most of these tubes."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 10))
        y = X @ rng.normal(size=10) + rng.standard_t(2, size=200)
        problem = replace(regression(X, y / y.std(), 1.0, 0.0), bias=False)
        found = solve(problem, tol=1e-12, max_iter=1000)
        assert (found.solver, found.ok) == ("huber", True), found.reason


@pytest.fixture
def idle() -> Iterator[list[Limits]]:
    """Register a solver preferred for rankings, which returns 0 without a step.

    The value is the list of limits that it received, one per run.
    """
    seen: list[Limits] = []

    @solver(
        "idle",
        "rank.l1",
        algorithm="none",
        requires=Requirements(MarginProblem, losses=("hinge",)),
        first=lambda problem: True,
    )
    def run(problem: MarginProblem, limits: Limits) -> Point:
        seen.append(limits)
        return Point(beta=np.zeros(problem.m), alpha=np.zeros(problem.p))

    yield seen
    del SOLVERS["idle"]


def test_auto_asks_the_next_where_a_solver_makes_no_progress_and_says_so(
    idle: list[Limits],
) -> None:
    problem = ranking(LINE, [0, 1, 2])
    found = solve(problem, time_limit=60.0)
    assert (found.solver, found.status) == ("coordinate_descent", Status.OPTIMAL)
    said = (
        r"idle passed the problem to coordinate_descent \(it ended after .*\); "
        r"coordinate_descent: relative gap .*"
    )
    assert re.fullmatch(said, found.reason)
    assert idle[0].has_successor
    # A solver requested by its name has no successor.
    assert solve(problem, "idle").status is Status.FINISHED
    assert not idle[1].has_successor


def test_auto_with_a_worse_successor_returns_the_run_of_its_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = ranking(LINE, [0, 1, 2])
    good = replace(
        solve(problem),
        solver="good",
        status=Status.NUMERICAL_FAILURE,
        reason="it slipped",
        iterations=3,
    )
    bad = finished(
        problem,
        "bad",
        Point(beta=np.zeros(problem.m), alpha=np.zeros(problem.p)),
        Limits(1e-6),
        0.0,
    )
    bad = replace(bad, status=Status.TIME_LIMIT, reason="it was late", iterations=4)
    ran = [
        replace(SOLVERS["smo"], name=found.solver, function=lambda *_, found=found: found)
        for found in (good, bad)
    ]
    monkeypatch.setattr("equimargin.solvers.registry._automatic", lambda problem: iter(ran))
    found = solve(problem)
    assert (found.solver, found.status, found.iterations) == ("good", Status.TIME_LIMIT, 7)
    assert found.point is good.point
    assert (
        found.reason
        == "good passed the problem to bad (it slipped); bad: it was late; the point is that "
        "of good"
    )


def test_auto_asks_the_next_within_the_time_limit(
    idle: list[Limits], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock advances by 3 s at every check.

    Of 10 s the next solver gets 4 at most, and of 5 s none continues.
    """
    ticks = iter(range(0, 1000, 3))
    monkeypatch.setattr("equimargin.solvers.registry.run_seconds", lambda: float(next(ticks)))
    problem = ranking(LINE, [0, 1, 2])
    assert solve(problem, time_limit=60.0).solver == "coordinate_descent"
    assert idle[-1].time_limit == 57.0
    assert solve(problem, time_limit=5.0).solver == "idle"
    assert idle[-1].time_limit == 2.0


def test_auto_leaves_a_run_that_the_caller_ends() -> None:
    problem = raw_columns("hinge")
    for found, status in (
        (solve(problem, max_iter=1), Status.ITERATION_LIMIT),
        (solve(problem, callback=lambda *_: True), Status.CALLBACK),
    ):
        assert (found.solver, found.status) == ("huber", status)


def test_the_status_of_several_runs_is_that_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The point of the first is better, and the callback ends the second."""
    problem = ranking(LINE, [0, 1, 2])
    good = replace(solve(problem), status=Status.NUMERICAL_FAILURE, reason="no progress")
    ran = [
        replace(SOLVERS["coordinate_descent"], name="stuck", function=lambda *_: good),
        SOLVERS["coordinate_descent"],
    ]
    monkeypatch.setattr("equimargin.solvers.registry._automatic", lambda problem: iter(ran))
    found = solve(problem, tol=1e-15, callback=lambda *_: True)
    assert (found.status, found.point) == (Status.CALLBACK, good.point)
    assert "the callback ended the run" in found.reason


def test_auto_continues_no_run_of_a_function_that_the_callback_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A function without limits shows its point once, at its end."""
    problem = ranking(LINE, [0, 1, 2])
    function = replace(
        SOLVERS["coordinate_descent"],
        name="origin",
        function=lambda problem, limits, _: finished(
            problem, "origin", problem.origin, limits, 0.0
        ),
    )
    monkeypatch.setattr(
        "equimargin.solvers.registry._automatic",
        lambda problem: iter([function, SOLVERS["coordinate_descent"]]),
    )
    ended = solve(problem, callback=lambda *_: True)
    assert (ended.solver, ended.status) == ("origin", Status.CALLBACK)
    continued = solve(problem, callback=lambda *_: False)
    assert (continued.solver, continued.status) == ("coordinate_descent", Status.OPTIMAL)


EXAMPLE = ROOT / "examples" / "solvers" / "own_solver.py"
WANTED = Requirements(
    MarginProblem, losses=("hinge", "squared_hinge"), no_bias="which is free", most_points=5
)


@pytest.fixture
def own() -> Iterator[str]:
    """Register the example's solver for one test."""
    example("own_solver")
    yield "ascent"
    del SOLVERS["ascent"]


def test_the_example_is_short_and_conforms(own: str) -> None:
    assert (
        len([line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()])
        < 50
    )
    check_solver(own)


def test_a_solver_from_outside_is_one_among_the_others(own: str) -> None:
    problem = sample_problem("svm.nobias", rbf(0.4))
    assert list(SOLVERS)[-1] == own
    assert solve(problem, own).solver == own
    # The other solvers were registered before.
    assert solve(problem).solver != own
    with pytest.raises(
        ValueError, match=rf"newton does not take .*; try coordinate_descent, huber, .*, {own}$"
    ):
        solve(problem, "newton")
    with pytest.raises(
        ValueError,
        match=r"ascent does not take this svm.soft problem: there is a bias, so that multipliers "
        r"cannot",
    ):
        solve(sample_problem("svm.soft"), own)
    result = compare(problem, formulations="svm.nobias.dual", solvers=["CLARABEL", own])
    assert [(answer["solver"], answer["agreement"]) for answer in result.answers] == [
        ("CLARABEL", "agrees"),
        (own, "agrees"),
    ]
    assert result.agree
    listed = CliRunner().invoke(app, ["list", "solvers"]).output.splitlines()
    line = next(line for line in listed if line.startswith(f"{own} "))
    assert line.split(maxsplit=1) == [
        own,
        "dual coordinate ascent, one row after the other   [own_solver]",
    ]
    assert "svm.nobias" in CliRunner().invoke(app, ["show", own]).output


@pytest.mark.slow
def test_other_processes_import_the_module_of_a_solver_or_say_that_they_cannot() -> None:
    """A worker process finds registrations by a module on the path.

    It does not find those of the main script, and other results go on.
    """
    code = """
import own_solver
from equimargin import compare
from equimargin.solvers import SOLVERS, solver
from equimargin.testing import sample_problem

ascent = SOLVERS["ascent"]
registered = solver("lost", *ascent.families, algorithm="as ascent", requires=ascent.requires)
registered(lambda *problem: own_solver.ascent(*problem))
solvers = ["CLARABEL", "ascent", "lost"]
for answer in compare(sample_problem("svm.nobias"), "*.dual", solvers, jobs=2).answers:
    print(answer["solver"], answer["agreement"], answer["reason"])
"""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("examples/solvers", "src"))
    }
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=HANG
    )
    assert answer.stderr == ""
    clarabel, ascent, lost = answer.stdout.splitlines()
    assert clarabel.startswith("CLARABEL agrees")
    assert ascent.startswith("ascent agrees")
    assert lost.startswith("lost failed")
    assert (
        "lost is not registered by importing __main__ in another process; define it in a module"
        in lost
    )


def ignorant(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Raise an error: this solver is never run."""
    raise NotImplementedError


def test_a_module_that_is_loaded_again_enters_its_solver_again() -> None:
    code = """
import importlib
from equimargin.solvers import SOLVERS
before, order = SOLVERS["tron"], list(SOLVERS)
importlib.reload(importlib.import_module(before.module))
assert SOLVERS["tron"] is not before
assert list(SOLVERS) == order
"""
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        timeout=HANG,
    )


def test_a_family_that_is_entered_again_forgets_its_solvers() -> None:
    """Rerunning a notebook cell registers the family again.

    Solvers of the first run are for data of another family.
    """
    id, name = "entered_again", "entered_again.least"
    try:
        for _ in range(2):
            family = Family(id)
            family.formulation("primal")(
                lambda data: cp.Problem(cp.Minimize(cp.square(cp.Variable(name="x") - data)))
            )
            assert name not in SOLVERS
            solver(name, family)(lambda data: {"x": data})
            assert name in SOLVERS
    finally:
        FAMILIES.forget(id)
        REGISTRY.forget(f"{id}.primal")
        SOLVERS.forget(name)


@pytest.mark.parametrize("name", ["smo", "cutting_plane"])
def test_no_name_is_taken_twice(name: str) -> None:
    before = SOLVERS[name]
    sentence = (
        rf"^a solver '{name}' is registered already, by equimargin\.solvers\.dual\.{name}; take "
        rf"another name$"
    )
    with pytest.raises(ValueError, match=sentence):
        solver(name, "svm", algorithm="none", requires=WANTED)(ignorant)
    assert SOLVERS[name] is before


def test_a_name_is_taken_before_its_module_is_loaded() -> None:
    code = """
from equimargin.formulations import MarginProblem
from equimargin.solvers import Requirements, solver
import sys
assert "equimargin.solvers.newton.tron" not in sys.modules
try:
    requires = Requirements(MarginProblem, losses=("hinge",))
    solver("tron", "svm", algorithm="none", requires=requires)(print)
except ValueError as refused:
    print(refused)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        timeout=HANG,
    )
    assert answer.stderr == ""
    assert answer.stdout.startswith(
        "a solver 'tron' is registered already, by equimargin.solvers.newton.tron;"
    )


def test_a_solver_gets_problems_of_its_shape_only() -> None:
    program = one_norm_ranking(LINE, [0, 1, 2])
    with pytest.raises(
        ValueError, match=r"^smo does not take this rank\.onenorm problem: it is a linear program$"
    ):
        SOLVERS["smo"].run(program, Limits(), None)


def test_a_solver_may_go_first() -> None:
    """It may where it declares so, and not where it refuses the problem."""
    heard = []

    def eager(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
        heard.append(problem)
        return SOLVERS["coordinate_descent"].run(problem, limits, warm_start)

    solver("eager", "svm", algorithm="none", requires=WANTED, first=lambda problem: problem.C < 2)(
        eager
    )
    try:
        few, many = (
            classification(LINE, [1, -1, 1], bias=False),
            classification(np.arange(6.0)[:, None], [1, -1] * 3, bias=False),
        )
        for problem in (few.with_cost(3.0), many, one_norm_ranking(LINE, [0, 1, 2]), few):
            solve(problem)
    finally:
        del SOLVERS["eager"]
    assert heard == [few]


def test_the_size_of_a_problem_is_told_apart_from_its_kind() -> None:
    """Every solver and formulation, and the comparison, distinguish the two.

    The wording of the message has no effect.
    """
    pairs = ranking(np.arange(1500.0)[:, None] % 7, np.arange(1500.0))
    reasons = {
        name: solver.refusal(pairs) for name, solver in SOLVERS.items() if solver.takes("rank.l1")
    }
    assert {
        name for name, refusal in reasons.items() if refusal is not None and refusal.too_large
    } == {"homotopy"}
    declared = [
        entry.refusal(pairs)
        for entry in REGISTRY.values()
        if entry.family == "rank.l1" and not entry.control
    ]
    assert all(refusal is not None and refusal.too_large for refusal in declared)
    points = classification(
        np.random.default_rng(0).normal(size=(6001, 2)), np.ones(6001), kernel=rbf(1.0), bias=False
    )
    refusal = SOLVERS["coordinate_descent"].refusal(points)
    assert refusal == Refusal(
        "6,001 points, more than the 6,000 whose Gram matrix is stored", too_large=True
    )
    statuses = {
        answer["solver"]: answer["status"]
        for answer in compare(points, solvers=["HIGHS", "coordinate_descent"]).answers
    }
    assert statuses == {"HIGHS": "too_large", "coordinate_descent": "too_large"}
    hard = classification(LINE, [1, -1, 1], np.inf, rbf(1.0), bias=False)
    refusal = SOLVERS["coordinate_descent"].refusal(hard)
    assert refusal is not None
    assert not refusal.too_large


def test_what_solve_does_not_need_is_imported_when_it_is_asked_for() -> None:
    program = (
        "import sys, equimargin.solvers as s\n"
        "later = [n for n in sys.modules if n.startswith('equimargin.solvers.') and "
        "n.split('.')[2] in ('exact', 'path', 'backends')]\n"
        "assert not later, later\n"
        "assert all(getattr(s, name) is not None for name in s.__all__) and set(s.__all__) "
        "<= set(dir(s))\n"
        "assert 'equimargin.solvers.exact.path' in sys.modules\n"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG
        ).stderr
        == ""
    )


def test_families_of_a_solver_may_be_a_list() -> None:
    solver(
        "listed",
        *["svm.soft"],
        algorithm="none",
        requires=Requirements(MarginProblem, losses=("hinge",)),
        reference=True,
    )(lambda problem: problem.origin)
    try:
        assert SOLVERS["listed"].takes("svm.soft")
        assert SOLVERS["listed"].families == ("svm.soft",)
    finally:
        del SOLVERS["listed"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            {"families": ()},
            "wrong: name the families that it is for, as in @solver('wrong', 'svm.soft'), not ()",
        ),
        (
            {"families": (3,)},
            "wrong: name the families that it is for, as in @solver('wrong', 'svm.soft'), not (3,)",
        ),
        (
            {"requires": MarginProblem},
            "wrong: requires must be the solver's requirements, such as "
            "Requirements(MarginProblem, losses=('hinge',)), not ",
        ),
    ],
)
def test_wrong_arguments_of_a_solver_are_sentences(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        solver(
            "wrong",
            *wrong.get("families", ("svm.soft",)),
            requires=wrong.get("requires", Requirements(MarginProblem)),
        )
    assert "wrong" not in SOLVERS


def test_auto_hands_out_the_point_that_proves_most() -> None:
    """The first solver stops with a gap of 0 that is rounding.

    The next one reaches the accuracy; its point was skipped.
    """
    X = np.zeros((7, 8))
    X[3:6, 2] = 3e6, 3e6, -3e6
    found = solve(ranking(X, [1, 0, 0, 0, 0, 0, 0], None, 1.0, polynomial(1, 1.0, 1.0)))
    assert (found.status, found.solver) == (Status.OPTIMAL, "huber")
    assert found.interval.relative_width < 1e-5


@pytest.mark.parametrize("ends", [True, False])
def test_auto_passes_on_a_run_at_the_limit_of_its_solver_unless_the_callback_ended_it(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = ranking(LINE, [0, 1, 2])
    good = solve(problem)

    def limited(problem: Problem, limits: Limits, start: Any) -> Solution:
        assert limits.callback is not None
        if limits.callback(5, good.lower, good.upper, good.point):
            return replace(good, status=Status.CALLBACK, reason="the callback")
        return replace(good, status=Status.ITERATION_LIMIT, reason="the limit of 5 iterations")

    ran = [
        replace(SOLVERS["smo"], name="limited", function=limited),
        replace(SOLVERS["smo"], function=lambda *_: good),
    ]
    monkeypatch.setattr("equimargin.solvers.registry._automatic", lambda problem: iter(ran))
    found = solve(problem, callback=lambda *shown: ends)
    assert found.status is (Status.CALLBACK if ends else Status.OPTIMAL)
    assert found.reason.startswith("limited passed the problem to smo") is not ends
