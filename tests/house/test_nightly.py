"""Nightly tables (`make nightly`): instances, counts, and scripts.

A script rebuilds its instance bit for bit.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaigns import nightly
from campaigns.runner import At, Check, Trial, tried
from campaigns.shrunk import script
from equimargin.comparison import compare
from equimargin.formulations import MarginProblem, classification, polynomial, rbf, regression
from equimargin.proofs import judge
from equimargin.solvers import Status
from equimargin.testing import CANONICAL, draw_problem, sample_problem
from narrow import present


def test_a_seed_always_draws_the_same_instances() -> None:
    first, again, others = (
        [draw_problem("rank.l1", seed, k) for k in range(5)] for seed in (3, 3, 4)
    )
    assert [p.C for p in first] == [p.C for p in again]
    assert all(
        np.array_equal(p.X, q.X) and np.array_equal(p.rows.y, q.rows.y)
        for p, q in zip(first, again, strict=True)
    )
    assert [p.C for p in first] != [p.C for p in others]


@pytest.mark.parametrize("family", CANONICAL)
def test_a_script_rebuilds_its_instance(family: str) -> None:
    for problem in (draw_problem(family, 0, k) for k in range(4)):
        names: dict[str, object] = {}
        exec(script(problem, ["what happened"]).split("print(")[0], names)
        rebuilt = names["problem"]
        assert type(rebuilt) is type(problem)
        assert rebuilt.family == problem.family
        assert (rebuilt.kernel, rebuilt.C) == (problem.kernel, problem.C)
        assert np.array_equal(rebuilt.X, problem.X)
        assert np.array_equal(rebuilt.rows.t, problem.rows.t)
        assert (rebuilt.rows.matrix != problem.rows.matrix).nnz == 0
        if isinstance(problem, MarginProblem):
            assert np.array_equal(rebuilt.costs, problem.costs)


def test_the_branches_of_an_instance() -> None:
    X = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
    found = nightly.branches(
        classification(X, np.array([1.0, -1.0, 1.0]), 1e5, sample_weight=[1.0, 0.0, np.inf])
    )
    there = {name for name, here in found.items() if here}
    assert there == {
        "duplicated rows", "contradicting duplicates", "zero rows", "zero columns", "singular Gram",
        "rank one", "integer grid",
        "C >= 1e4", "zero weights", "infinite weights",
    }  # fmt: skip
    assert found["ties"] is None


@pytest.mark.slow
def test_where_our_own_solvers_have_no_excuse() -> None:
    X, y = np.array([[1.0], [2.0]]), np.array([1.0, -1.0])

    def must(problem: MarginProblem) -> bool:
        return bool(nightly.must_succeed(problem, nightly.judged(problem).kept.family))

    assert must(classification(X, y, 1e7, rbf(1.0)))
    assert not must(classification(X, y, 1e7, polynomial(3, 10.0, 1.0)))
    assert must(classification(X, y, np.inf))
    assert not must(classification(np.array([[1.0], [1.0 + 1e-6]]), y, np.inf))
    assert not must(regression(X, y, np.inf, 0.0))


def test_what_is_held_against_an_answer_ends_in_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver makes a wrong claim: the family's report names it and counts a failure."""
    problem = sample_problem("svm.soft")
    found = nightly.judged(problem)
    assert found.said == []
    evidence = [j.evidence for j in found.kept.family.judgements]
    wrong = [
        replace(e, claim=replace(present(e.claim), value=2 * e.value))
        if e.run.solver == "smo"
        else e
        for e in evidence
    ]
    (failure,) = nightly.complaints(problem, judge("svm.soft", wrong, problem.scale))
    assert failure.startswith("solver by smo disagrees")
    lie = Check("svm.soft", lambda problem, at: Trial([failure]), lambda at: problem)
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    assert (
        replace(nightly.CAMPAIGN, checks=lambda _: [lie], start=lambda: None).main(
            ["--examples", "1"], lines.append
        )
        == 1
    )
    assert failure in lines[0]
    assert (tmp_path / "build" / "nightly" / "nightly-svm.soft-0-0-1.py").is_file()


def test_limits_count_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that timed out on a busy core is run once more, for longer.

    A solver that had a core alone is not.
    """
    problem, limits = sample_problem("svm.soft"), []
    whole = compare(problem, solvers=["CLARABEL", "smo"])
    (family,) = whole.families
    evidence = [j.evidence for j in family.judgements]
    ran_out = [
        replace(e, run=replace(e.run, status=Status.TIME_LIMIT)) if e.run.solver == "smo" else e
        for e in evidence
    ]
    late = replace(whole, families=(judge("svm.soft", ran_out, problem.scale),))
    times = iter([0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 1.0, 1.0])

    def scripted(problem: MarginProblem, time_limit: float, patient: bool) -> object:
        assert patient
        limits.append(time_limit)
        return late if len(limits) != 2 else whole

    monkeypatch.setattr(nightly, "compare", scripted)
    monkeypatch.setattr(time, "process_time", lambda: next(times))
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    assert nightly._compared(problem, 5.0) is family
    assert limits == [5.0, 100.0]
    assert nightly._compared(problem, 5.0) is late.families[0]
    assert limits == [5.0, 100.0, 5.0]


def test_a_hang_and_an_exception_are_failures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The limit is on CPU time.

    An answer's exception does not take a hang for its own; an exception that an answer
    makes of another one counts against it.
    """
    problem = sample_problem("svm.soft")

    def spins(*_: object, **__: object) -> None:
        while True:
            pass

    def raises(*_: object, **__: object) -> None:
        raise ZeroDivisionError("float division by zero")

    module = sys.modules["equimargin.comparison.job"]
    monkeypatch.chdir(tmp_path)
    check = Check("svm.soft", nightly.judged, lambda at: problem)
    monkeypatch.setattr(module, "examine_solution", spins)
    assert tried(replace(check, limit=0.3), At(0, 0, 0)).said == ["Hang: no end after 0.3 s"]
    monkeypatch.setattr(module, "examine_solution", raises)
    failures = tried(check, At(0, 0, 0)).said
    assert any(
        "solver by smo raised ZeroDivisionError: float division by zero (test_nightly.py, line"
        in said
        for said in failures
    )
