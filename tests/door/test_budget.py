"""CPU time limit of a comparison: answers started, their order, and their time limits.

The costs of answers are simulated, so that no test depends on a clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin import compare
from equimargin.comparison import (
    Comparison,
    allowance,
    comparisons,
    family_progress,
    job,
    job_result,
)
from equimargin.comparison.choice import Choice
from equimargin.comparison.family_progress import FamilyProgress
from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    Family,
    classification,
    linear,
    one_norm_classification,
    ranking,
    rbf,
)
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.problems import make_problems_from_arrays
from equimargin.proofs import Agreement, Evidence, Verdict
from equimargin.proofs.referee import find_available_answers
from equimargin.solvers import SOLVERS, Status, solve_declaration
from places import HANG, ROOT

X, Y = np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0)
Cost = Callable[[Any], tuple[float, float, float]]


@dataclass
class Costs:
    """Simulated costs in seconds (CPU, wall, compilation), and started answers.

    Each started answer is recorded with its limits.
    """

    of: Cost
    clocks: tuple[float, float, float] = (0.0, 0.0, 0.0)
    begun: list[tuple[Any, Any]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the started answers, in their order."""
        return [f"{job.problem.family}: {job.name}" for job, _ in self.begun]


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Costs:
    """Return simulated costs of answers, by default 1 s each."""
    made = Costs(lambda job: (1.0, 1.0, 0.0))
    run = job.Job.run

    def costly(each: Any, allowed: Any) -> Evidence:
        made.begun.append((each, allowed))
        found: Evidence = run(each, replace(allowed, seconds=60.0, left=float("inf")))
        made.clocks = tuple(np.add(made.clocks, made.of(each)))
        return found

    monkeypatch.setattr(job.Job, "run", costly)
    monkeypatch.setattr(job_result, "clocks", lambda: made.clocks)
    monkeypatch.setattr("equimargin.solvers.registry.seconds_to_compile", lambda kernel: 0.0)
    return made


def reasons(found: Comparison) -> dict[str, str]:
    """Return the reasons of answers skipped for lack of time."""
    judged = [
        j
        for family in found.families
        for j in family.judgements
        if j.agreement is Agreement.SKIPPED
    ]
    return {
        f"{j.evidence.run.family}: {j.evidence.run.name}": j.evidence.run.reason
        for j in judged
        if "--patient" in j.evidence.run.reason
    }


def primals_and_duals(families: Sequence[str]) -> list[str]:
    return [f"{family}.{form}" for family in families for form in ("primal", "dual")]


def of_family(names: Sequence[str], family: str) -> list[str]:
    return [name.partition(": ")[2] for name in names if name.startswith(f"{family}: ")]


def test_every_family_has_a_solver_and_a_declaration_before_any_has_more(costs: Costs) -> None:
    costs.of = lambda job: (0.0, 0.0, 0.0)
    problems = make_problems_from_arrays(X, Y)
    families = [problem.family for problem in problems]
    found = compare(problems, formulations=primals_and_duals(families))
    first, second, rest = costs.names[:6], costs.names[6:12], costs.names[12:]
    assert (
        [name.partition(": ")[0] for name in first]
        == [name.partition(": ")[0] for name in second]
        == families
    )
    assert all(": solver by" in name for name in first)
    assert not any(": solver by" in name for name in second)
    assert [name.partition(": ")[0] for name in rest] == sorted(
        (n.partition(": ")[0] for n in rest), key=families.index
    )
    assert of_family(rest, "svm.soft") == [
        *("svm.soft.dual by CLARABEL", "solver by huber"),
        *(
            "svm.soft.primal by SCS",
            "svm.soft.dual by SCS",
            "svm.soft.primal by OSQP",
            "svm.soft.dual by OSQP",
            "solver by homotopy",
        ),
    ]
    assert of_family(costs.names, "svm.onenorm")[:3] == [
        *(
            "solver by linear_program",
            "svm.onenorm.primal by CLARABEL",
            "svm.onenorm.dual by CLARABEL",
        ),
    ]
    assert not reasons(found)


def test_answers_beyond_the_verdicts_share_what_is_left_of_the_time(costs: Costs) -> None:
    costs.of = lambda job: (0.31, 0.31, 0.0)
    found = compare(make_problems_from_arrays(X, Y))
    families = [family.id for family in found.families]
    assert {family.verdict for family in found.families} == {Verdict.AGREE}
    assert (
        allowance.TOGETHER <= 0.31 * len(costs.begun) <= allowance.TOGETHER + 0.31 * len(families)
    )
    further = {family: len(of_family(costs.names, family)) - 2 for family in families}
    assert min(further.values()) > 0, further
    assert set(reasons(found).values()) == {allowance.NOT_BEGUN}
    assert found.done == found.total
    assert (
        len(costs.begun) + sum(family.count(Agreement.SKIPPED) for family in found.families)
        == found.total
    )
    assert found.exit_code == 0
    assert (
        f"its share of {allowance.TOGETHER:g} s of CPU time for further answers is over; --patient"
        in " ".join(str(found).split())
    )


def test_the_patient_have_all_answers(costs: Costs) -> None:
    costs.of = lambda job: (100.0, 100.0, 0.0)
    found = compare(classification(X, Y), patient=True)
    assert len(costs.begun) == found.total
    assert not reasons(found)


def test_a_family_without_a_verdict_goes_on(costs: Costs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last declaration alone is solved."""
    costs.of = lambda job: (100.0, 100.0, 0.0)
    solve: Any = solve_declaration

    def failing(declared: Any, name: str, *limits: float, **total: float) -> Any:
        found = solve(declared, name, *limits, **total)
        good = (declared.id, name) == ("svm.soft.primal", "OSQP")
        return (
            found
            if good
            else replace(found, status=Status.NUMERICAL_FAILURE, raw=None, reading=None)
        )

    monkeypatch.setattr(job, "solve_declaration", failing)
    found = compare(classification(X, Y), formulations=primals_and_duals(["svm.soft"]))
    assert of_family(costs.names, "svm.soft")[-1] == "svm.soft.primal by OSQP"
    assert found.families[0].verdict is Verdict.AGREE
    assert list(reasons(found)) == [
        "svm.soft: svm.soft.dual by OSQP",
        "svm.soft: solver by homotopy",
    ]


def test_a_dense_declaration_waits_for_sparse_ones(costs: Costs) -> None:
    """With an RBF kernel A X has a column per point, with a linear one per feature."""
    X = np.arange(60.0)[:, None]
    for kernel, first in ((rbf(0.1), "dual"), (linear(), "primal")):
        costs.begun.clear()
        compare(ranking(X, np.arange(60), kernel=kernel), formulations="rank.l1.*")
        declared = [job.formulation for job, _ in costs.begun if job.formulation]
        assert declared[0] == f"rank.l1.{first}"
        assert "rank.l1.primal" in declared


@pytest.mark.parametrize(
    ("share", "next_answer"), [(1.0, "primal by SCS"), (0.5, "dual by CLARABEL")]
)
def test_without_a_verdict_the_next_library_has_neither_agreed_nor_taken_long(
    share: float, next_answer: str, costs: Costs, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve: Any = solve_declaration

    def failing(declared: Any, name: str, *limits: float, **total: float) -> Any:
        found, seconds = solve(declared, name, *limits, **total), share * allowance.LEAST_ALLOWANCE
        nothing = {"raw": None, "reading": None, "solve_seconds": seconds}
        return replace(found, status=Status.TIME_LIMIT, **nothing) if name == "CLARABEL" else found

    monkeypatch.setattr(job, "solve_declaration", failing)
    found = compare(one_norm_classification(X, Y), formulations=primals_and_duals(["svm.onenorm"]))
    assert of_family(costs.names, "svm.onenorm")[:3] == [
        "solver by linear_program",
        "svm.onenorm.primal by CLARABEL",
        f"svm.onenorm.{next_answer}",
    ]
    assert found.done == found.total


def test_without_a_solver_two_declarations_by_a_slow_library_decide(
    costs: Costs, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve: Any = solve_declaration

    def slow(*declared: Any, **total: float) -> Any:
        return replace(solve(*declared, **total), solve_seconds=allowance.LEAST_ALLOWANCE)

    monkeypatch.setattr(job, "solve_declaration", slow)
    stages = comparisons(classification(X, Y), solvers=["CLARABEL", "SCS", "OSQP"])
    verdict = next(v for v in (stage.families[0] for stage in stages) if v.verdict is Verdict.AGREE)
    assert [judgement.evidence.run.name for judgement in verdict.judgements] == [
        "svm.soft.primal by CLARABEL",
        "svm.soft.dual by CLARABEL",
    ]


def test_an_answer_may_arrive_while_another_thread_reads_the_answers_so_far() -> None:
    """One thread starts jobs, another records answers."""
    problem = classification(X, Y)
    jobs = list(Choice.of(["*.primal"], ["CLARABEL", "SCS"]).jobs(problem, 1e-8))
    family = FamilyProgress(problem, jobs, 1e-6, find_available_answers(problem))
    family.enter(0, jobs[0].ended_its_process, False)
    reading = iter(family.evidence)
    family.enter(1, jobs[1].ended_its_process, False)
    assert list(reading) == [0]
    assert list(family.evidence) == [0, 1]


def test_controls_are_run_whatever_was_spent(costs: Costs) -> None:
    costs.of = lambda job: (100.0, 100.0, 0.0)
    compare(classification(X, Y), include_controls=True)
    wanted = {
        entry.id for entry in REGISTRY.values() if entry.control and entry.family == "svm.soft"
    }
    begun = {job.formulation for job, _ in costs.begun if job.control}
    assert begun == wanted
    assert not [job.name for job, _ in costs.begun[2:] if not job.control]


def test_kernels_that_are_compiled_do_not_count(costs: Costs) -> None:
    costs.of = lambda job: (100.0, 100.0, 100.0)
    assert not reasons(compare(classification(X, Y)))


COLD = """
import json
import numpy as np
from equimargin import compare
from equimargin.formulations import classification
from equimargin.formulations.numeric.jit import seconds_foreseen
X, y = %s
found = compare([classification(X, y), classification(X, y, bias=False)], \
solvers=["CLARABEL", "[a-z_]*"])
skipped = {answer["solver"]: answer["reason"] for answer in found.answers \
if answer["agreement"] == "skipped"}
print(json.dumps([seconds_foreseen(), found.done, found.total, found.exit_code, skipped]))
"""
"""Comparison of some points and the kernels it compiles.

The seconds are estimated from the lengths of kernels, not measured.
"""
XOR = "np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])"
MANY = (
    "(X := np.random.default_rng(0).normal(size=(600, 3))), np.where(X[:, 0] + X[:, 1] ** 2 > "
    "1.0, 1.0, -1.0)"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "least", "most"), [(XOR, 0.0, 0.0), (MANY, 0.1, allowance.COMPILED_AT_ONCE)]
)
def test_a_comparison_compiles_no_more_than_it_may_and_says_who_waits(
    data: str, least: float, most: float, tmp_path: Path
) -> None:
    cold = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = [sys.executable, "-c", COLD % data]
    answer = subprocess.run(
        program, env=cold, capture_output=True, text=True, timeout=600, check=True
    )
    foreseen, done, total, status, skipped = json.loads(answer.stdout)
    assert least <= foreseen <= most
    assert (done, status) == (total, 0)
    assert skipped["homotopy"] == allowance.NOT_COMPILED
    assert "`equimargin warm-up`" in allowance.NOT_COMPILED


def test_an_answer_may_take_what_its_family_has_left_and_is_the_last_if_it_takes_more(
    costs: Costs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second of CPU time takes two of wall time here.

    SCS uses the time that two solvers leave.
    """
    costs.of = lambda job: (2.3, 4.6, 0.0) if job.formulation is None else (0.0, 0.0, 0.0)
    solve: Any = solve_declaration

    def late(declared: Any, name: str, *limits: float, **total: float) -> Any:
        found = solve(declared, name, *limits, **total)
        return (
            replace(found, status=Status.TIME_LIMIT, raw=None, reading=None)
            if name == "SCS"
            else found
        )

    monkeypatch.setattr(job, "solve_declaration", late)
    monkeypatch.setattr(family_progress, "LEAST_ALLOWANCE", 30.0)
    found = compare(classification(X, Y))
    allowed = {each.name: limits for each, limits in costs.begun}
    assert allowed["svm.soft.primal by CLARABEL"].late != allowance.STOPPED_TOGETHER
    assert allowed["solver by huber"].seconds == pytest.approx(2 * (allowance.TOGETHER - 2.3))
    assert allowed["svm.soft.primal by SCS"].seconds == pytest.approx(
        2 * (allowance.TOGETHER - 4.6)
    )
    assert {allowed[name].late for name in ("solver by huber", "svm.soft.primal by SCS")} == {
        allowance.STOPPED_TOGETHER
    }
    assert costs.begun[-1][0].name == "svm.soft.primal by SCS"
    (stopped,) = (
        a for a in found.answers if (a["formulation"], a["solver"]) == ("svm.soft.primal", "SCS")
    )
    assert stopped["reason"] == allowance.STOPPED_TOGETHER
    assert set(reasons(found).values()) == {allowance.NOT_BEGUN}
    assert found.exit_code == 0


def test_an_answer_that_is_begun_has_half_a_second(costs: Costs) -> None:
    costs.of = lambda job: (3.499, 3.499, 0.0) if len(costs.begun) <= 2 else (0.0, 0.0, 0.0)
    compare(classification(X, Y))
    assert len(costs.begun) > 2
    assert {allowed.left for _, allowed in costs.begun[2:]} == {allowance.LAST_ALLOWANCE}


def test_solvers_that_are_asked_first_are_those_of_auto() -> None:
    for problem in make_problems_from_arrays(X, Y):
        family = FamilyProgress(
            problem,
            list(Choice.of(["*"], list(SOLVERS)).jobs(problem, 1e-8)),
            1e-6,
            find_available_answers(problem),
        )
        (first,) = (each for place, each in enumerate(family.jobs) if family.turn(place) == 0)
        assert first.solver == SOLVERS[first.solver].name == _of_auto(problem)


def _of_auto(problem: Any) -> str:
    from equimargin.solvers.registry import _automatic

    return next(_automatic(problem)).name


def test_where_others_want_the_cores_a_backend_has_as_much_more_time_on_the_wall(
    costs: Costs,
) -> None:
    """Otherwise a verdict would depend on the load of the machine."""
    costs.of = lambda job: (0.01, 0.05, 0.0)
    compare(classification(X, Y))
    assert costs.begun[1][1].seconds == 60.0  # The verdict needs this declaration.
    assert {round(allowed.seconds, 9) for _, allowed in costs.begun[2:]} == {
        5 * allowance.LEAST_ALLOWANCE
    }


@pytest.fixture
def sleeping() -> Iterator[tuple[ProgramProblem, list[Any]]]:
    """Yield a problem whose value map takes half a second, and the map's arguments.

    The proof of its optimum calls the map.
    """
    family, called = Family("test.sleeping"), list[Any]()

    def value(number: Any, data: Any) -> Any:
        called.append(number)
        time.sleep(0.5)
        return number

    @family.formulation("primal", value=value)
    def primal(data: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x), [x >= data["end"]])

    yield family({"end": 3.0}), called
    for id in [id for id, entry in REGISTRY.items() if entry.family == family.id]:
        del REGISTRY[id]
    del FAMILIES[family.id]


def test_the_proof_of_an_optimum_counts_from_the_first_comparison_on(
    sleeping: tuple[ProgramProblem, list[Any]],
) -> None:
    """The total time is then over, and no answer is started.

    A comparison that is not iterated proves nothing.
    """
    problem, called = sleeping
    stages = comparisons(problem, total_time=0.1)
    assert not called
    first, *_, last = stages
    assert called
    assert first.seconds >= 0.5
    assert (last.done, last.interrupted) == (0, "the total time of 0.1 s is over")


DYING = """
import os
from equimargin.own import Family, ProgramProblem, solver
import cvxpy as cp

family = Family("test.dying")

@family.formulation("primal")
def primal(data):
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= data["end"]])

@solver("test.dying.at_once", family)
def at_once(problem):
    os._exit(1)

class AtWork:
    name, algorithm, families, reference = "at_work", "made for a test", ("test.dying",), False

    def refusal(self, problem):
        return None

    def run(self, problem, limits, start):
        os._exit(1)
"""
"""Solvers that end their process, one registered and one passed to `compare`."""
ASKING = """
import json
from dying import AtWork, family
from equimargin import compare
found = compare(family({"end": 3.0}), solvers=["*", AtWork()], jobs=2)
print(json.dumps([found.done == found.total, found.interrupted, \
{a["solver"]: [a["agreement"], a["reason"]] for a in found.answers}]))
"""


@pytest.mark.slow
def test_an_answer_that_ends_its_process_has_failed_and_ends_no_other(tmp_path: Path) -> None:
    """The result does not depend on the other answers running at that time."""
    (tmp_path / "dying.py").write_text(DYING, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)])}
    answer = subprocess.run(
        [sys.executable, "-c", ASKING],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    # HiGHS 1.16, called by cvxpy, prints a banner before it.
    complete, interrupted, said = json.loads(answer.stdout.splitlines()[-1])
    assert (complete, interrupted) == (True, ""), answer.stderr
    for name in ("test.dying.at_once", "at_work"):
        assert said.pop(name) == ["failed", allowance.PROCESS_ENDED]
    assert {name for name, (agreement, _) in said.items() if agreement == "agrees"} >= {
        "CLARABEL",
        "SCS",
    }
    assert not [name for name, (agreement, _) in said.items() if agreement == "failed"]
