"""Page of `compare`: text, width in columns, progress, and interrupts."""

from __future__ import annotations

import html
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.cli.commands.compare import _followed
from equimargin.cli.output.screen import Screen
from equimargin.comparison import Comparison, comparisons, job
from equimargin.comparison import compare as run
from equimargin.comparison.allowance import (
    ALLOWED_RATIO,
    LEAST_ALLOWANCE,
    NOT_COMPILED,
    OUT_OF_TIME,
    Allowance,
)
from equimargin.formulations import (
    Declaration,
    Problem,
    classification,
    declare,
    polynomial,
    ranking,
)
from equimargin.formulations.bounds.intervals import MOST_DIGITS, Interval
from equimargin.formulations.numeric.jit import compile_eagerly
from equimargin.proofs import Agreement, Verdict
from equimargin.proofs.referee import Stable
from equimargin.proofs.referee.judgement import Shortage
from equimargin.report.page import Style, block
from equimargin.report.sentences import same_at_every_optimum
from equimargin.report.view import family_view
from equimargin.report.words import EXPLANATION, NO_BREAK
from equimargin.solvers import Answer, Status, solve_declaration
from equimargin.solvers.interrupt import is_work_left
from narrow import present
from places import HANG, ROOT
from schema import faults
from terminal import Terminal, hard_ranking

RUN = CliRunner()
QUADRATIC = ("--kernel", "poly", "--degree", "2", "--gamma", "1", "--coef0", "1")
"""Kernel for which four points of XOR have the optimum 0.25."""


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Compare two families on points that no plane separates, controls included."""
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]), np.array([-1.0, 1, 1, -1, -1])
    problems = [
        classification(X, y, 0.1, polynomial(2, 1, 1), loss) for loss in ("hinge", "squared_hinge")
    ]
    return run(problems, include_controls=True)


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("width", [20, 40, 60, 80, 150])
def test_no_line_is_wider_than_asked_for_and_nothing_is_lost(
    found: Comparison, width: int, ascii: bool
) -> None:
    lines = found.page(width, ascii)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.isascii() is ascii
    joined = "".join(text.split())
    for judgement in (j for family in found.families for j in family.judgements):
        run_of = judgement.evidence.run
        assert run_of.solver in joined
        assert (run_of.formulation or "").removeprefix(f"{run_of.family}.") in joined
    for mark in ("ok", "X") if ascii else ("✓", "✗"):
        assert mark in text


def test_the_head_of_a_block_is_the_answer(found: Comparison) -> None:
    for family in found.families:
        head = next(line for line in str(found).splitlines() if line.startswith(f"{family.id} "))
        match = re.fullmatch(
            r"\S+ +optimum (\S+), (\d+|all) digits proven \(width \S+\) +AGREE", head
        )
        assert match
        assert len(head) == 80
        value, half = float(match[1]), 0.5 * 10.0 ** -len(match[1].partition(".")[2])
        assert value - half <= family.interval.lower <= family.interval.upper <= value + half


def test_solvers_stand_first_and_the_fastest_is_first(found: Comparison) -> None:
    for family in found.families:
        alone = [
            j
            for j in family.judgements
            if j.evidence.run.formulation is None and j.agreement is Agreement.AGREES
        ]
        fastest = min(alone, key=lambda j: j.evidence.run.solve_seconds or 0.0).evidence.run.solver
        lines = str(found).splitlines()
        below = lines[
            next(i for i, line in enumerate(lines) if line.startswith(f"{family.id} ")) + 1
        ]
        assert below.split()[0] == fastest


def test_all_faces_say_the_same_sentences_of_a_family(found: Comparison) -> None:
    wide = io.StringIO()
    with redirect_stdout(wide):
        Screen(wide=True).end(found)
    faces = [
        " ".join(text.split())
        for text in (str(found), html.unescape(found.to_html()), wide.getvalue())
    ]
    sentences = [sentence for family in found.view.families for sentence in family.remarks]
    assert any(sentence.startswith("Wrong on purpose") for sentence in sentences)
    assert all(sentence in face for sentence in sentences for face in faces)


@pytest.mark.parametrize(
    ("lower", "upper", "digits"),
    [
        (0.25, 0.25, ("0.25", 15)),
        (0.3, 0.1 + 0.2, ("0.3", 15)),
        (74.021836, 74.021848, ("74.0218", 6)),
        (0.24999, 0.25001, ("0.25", 4)),
        (-1.0, 1.0, ("", 0)),
        (-np.inf, 1.0, ("", 0)),
        (2.0, 1.0, ("", 0)),
        (123456.0, 123458.0, ("1.2346e+05", 5)),
    ],
)
def test_proven_digits_are_those_that_both_ends_round_to(
    lower: float, upper: float, digits: tuple[str, int]
) -> None:
    assert Interval(lower, upper, 1.0).digits == digits


@given(
    middle=st.floats(-1e12, 1e12).filter(lambda v: abs(v) > 1e-12),
    width=st.floats(0.0, 1.0),
    fine=st.integers(0, 16),
)
def test_every_digit_that_is_printed_is_one_of_both_ends(
    middle: float, width: float, fine: int
) -> None:
    """Neither end is further from the number than half a unit of its last digit.

    The check uses exact decimals; no digit is excluded.
    """
    half = abs(middle) * width * 10.0**-fine
    lower, upper = middle - half, middle + half
    text, digits = Interval(lower, upper, 1.0).digits
    if not digits:
        return
    number = Decimal(text)
    unit = Decimal(1).scaleb(number.adjusted() - digits + 1)
    for end in (Decimal(lower), Decimal(upper)):
        assert abs(end - number) <= unit / 2
    if digits < MOST_DIGITS:
        assert f"{lower:.{digits}e}" != f"{upper:.{digits}e}"


@given(width=st.integers(20, 160), ascii=st.booleans())
def test_every_answer_is_one_mark_in_any_width(found: Comparison, width: int, ascii: bool) -> None:
    for family in found.families:
        lines = block(family_view(family), Style(width, ascii))
        assert max(map(len, lines)) <= width
        shown = [
            j
            for j in family.judgements
            if j.evidence.run.formulation or j.agreement is not Agreement.AGREES
        ]
        for agreement in (Agreement.AGREES, Agreement.DISAGREES):
            mark = Style(width, ascii).mark(agreement)
            marks = re.findall(rf"(?<!\S){re.escape(mark)}(?= )", " ".join(lines) + " ")
            assert len(marks) == sum(j.agreement is agreement for j in shown), lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--solver", "smo"),
            "UNDECIDED: no declaration was requested; one specialised solver agrees.* kind .*"
            "that agrees. Request more",
        ),
        (("-C", "0.1", "--include-controls"), "DISAGREE|✗"),
        (
            ("--solver", "CLARABEL", "--kernel", "sigmoid"),
            "UNDECIDED: .* kernel is not positive semidefinite.* Use another kernel",
        ),
    ],
)
def test_a_verdict_other_than_agree_says_why_and_what_to_do(
    arguments: tuple[str, ...], words: str
) -> None:
    output = RUN.invoke(
        app,
        [
            "compare",
            "xor",
            *(() if "--kernel" in arguments else QUADRATIC),
            "--family",
            "svm.soft",
            *arguments,
        ],
    ).output
    assert re.search(words, " ".join(output.split())), output


@pytest.mark.parametrize(
    ("status", "reason", "hint"),
    [
        (
            Status.TIME_LIMIT,
            "the time limit of 60 s was reached",
            "--scale, a looser --tol or a longer --time-limit may decide it.",
        ),
        (
            Status.TIME_LIMIT,
            "stopped: 2 s are allowed, 90 x the .02 s of smo (--patient)",
            "--scale or a looser --tol may decide it.",
        ),
        (
            Status.NUMERICAL_FAILURE,
            "no progress in float64",
            "--scale or a looser --tol may decide it.",
        ),
    ],
)
def test_more_time_is_advised_only_where_the_limit_stopped_an_answer(
    found: Comparison, status: Status, reason: str, hint: str
) -> None:
    """One declaration agrees and no solver does; a solver failed for the given reason."""
    family = found.families[0]
    declared = next(
        j
        for j in family.judgements
        if j.agreement is Agreement.AGREES and j.evidence.run.formulation
    )
    alone = next(j for j in family.judgements if j.evidence.run.formulation is None)
    evidence = replace(
        alone.evidence, run=replace(alone.evidence.run, status=status, reason=reason)
    )
    kept = (declared, replace(alone, evidence=evidence, agreement=Agreement.FAILED))
    undecided = replace(
        family,
        verdict=Verdict.UNDECIDED,
        reason="one declaration agrees; no solver does",
        judgements=kept,
    )
    said = " ".join(" ".join(Comparison((undecided,), planned=(2,), seconds=1.0).page(80)).split())
    assert reason in said
    assert hint in said


@pytest.mark.parametrize(
    ("status", "agreement", "shortages", "hint"),
    [
        (
            Status.TIME_LIMIT,
            Agreement.FAILED,
            (),
            "A longer --time-limit may decide it.",
        ),
        (
            Status.OPTIMAL,
            Agreement.INACCURATE,
            (),
            "A looser --agree-tol makes inaccurate answers",
        ),
        (
            Status.OPTIMAL,
            Agreement.FAILED,
            (Shortage.NOT_SUPPORTED,),
            "Write a second formulation, or a solver",
        ),
    ],
)
def test_a_family_without_features_is_not_advised_to_scale_them(
    found: Comparison,
    status: Status,
    agreement: Agreement,
    shortages: tuple[Shortage, ...],
    hint: str,
) -> None:
    family = found.families[0]
    declared = next(
        j
        for j in family.judgements
        if j.agreement is Agreement.AGREES and j.evidence.run.formulation
    )
    alone = next(j for j in family.judgements if j.evidence.run.formulation is None)
    evidence = replace(alone.evidence, run=replace(alone.evidence.run, status=status))
    kept = (declared, replace(alone, evidence=evidence, agreement=agreement))
    undecided = replace(
        family,
        verdict=Verdict.UNDECIDED,
        reason="one declaration agrees; no solver does",
        judgements=kept,
        has_features=False,
        shortages=frozenset(shortages),
    )
    said = " ".join(" ".join(Comparison((undecided,), planned=(2,), seconds=1.0).page(80)).split())
    assert hint in said
    assert "--scale" not in said
    assert "--sample" not in said


def test_skips_are_one_line_with_the_reason_once() -> None:
    output = " ".join(
        RUN.invoke(app, ["compare", "xor", "--kernel", "sigmoid", "--solver", "S*"]).output.split()
    )
    assert output.count("the kernel matrix is not positive semidefinite") <= 2
    assert "skipped: " in output


def test_columns_are_honoured_without_a_terminal() -> None:
    chosen = [
        "compare",
        "xor",
        *QUADRATIC,
        "--solver",
        "CLARABEL",
        "--solver",
        "smo",
        "--family",
        "svm.soft",
    ]
    for columns in (40, 60, 100):
        lines = RUN.invoke(app, chosen, env={"COLUMNS": str(columns)}).output.splitlines()
        assert max(map(len, lines)) <= columns
        assert any(
            line.startswith("svm.soft ") and line.endswith("AGREE") and len(line) == columns
            for line in lines
        )
    assert max(map(len, RUN.invoke(app, chosen).output.splitlines())) <= 80
    assert "┃ formulation" in RUN.invoke(app, [*chosen, "--wide"]).output


@pytest.mark.parametrize("more", [(), ("--wide",)])
def test_reading_of_numbers_is_printed_once_with_all_its_families(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    file = tmp_path / "levels.csv"
    file.write_text("a,y\n0,0\n1,0\n1,1\n2,1\n2,2\n3,2\n", encoding="utf-8")
    chosen = [
        "compare",
        str(file),
        "--task",
        "ordinal",
        "--solver",
        "CLARABEL",
        "--solver",
        "ord.explicit.newton",
        *more,
    ]
    output = " ".join(RUN.invoke(app, chosen).output.split())
    assert output.count("within 4 units in the last place of a simple fraction") == 1
    assert "Interpretation: in ord.explicit a float within 4 units" in output


def test_wide_tables_say_what_was_left_out() -> None:
    chosen = [
        "--formulation",
        "svm.soft.primal",
        "--formulation",
        "svr.l1.primal",
        "--solver",
        "CLARABEL",
        "--family",
        "svm.soft",
    ]
    output = " ".join(RUN.invoke(app, ["compare", "xor", *chosen, "--wide"]).output.split())
    assert output.endswith("left out: svr.l1.primal declares svr.l1, not the compared svm.soft")


def test_words_are_explained() -> None:
    output = RUN.invoke(app, ["compare", "--explain"]).output
    assert output == EXPLANATION
    assert max(map(len, EXPLANATION.splitlines())) <= 80
    for word in ("AGREE", "DISAGREE", "UNDECIDED", *Agreement):
        assert word in EXPLANATION


# During a run


def test_solvers_are_asked_first_and_every_answer_is_judged_as_it_comes() -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    stages = list(comparisons([problem]))
    assert [stage.done for stage in stages] == list(range(stages[-1].total + 1))
    assert not any(stage.interrupted for stage in stages)
    order: list[str] = []
    for stage in stages:
        names = {j.evidence.run.name for j in stage.families[0].judgements}
        order += sorted(names - set(order))
    assert [name.partition(" by ")[0] for name in order[:3]] == [
        "solver",
        "svm.soft.primal",
        "svm.soft.dual",
    ]
    assert order[-1] == "solver by homotopy"
    assert [stage.families[0].interval.relative_width for stage in stages] == sorted(
        (stage.families[0].interval.relative_width for stage in stages), reverse=True
    )


@pytest.mark.slow
def test_parallel_answers_are_those_of_one_process() -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    one, two = (run(problem, solvers=["CLARABEL", "smo"], jobs=jobs) for jobs in (1, 2))
    keys = ("formulation", "solver", "agreement")
    assert [[answer[key] for key in keys] for answer in one.answers] == [
        [answer[key] for key in keys] for answer in two.answers
    ]
    # A function that is not compiled yet may round in another way in each process.
    assert [answer["value"] for answer in one.answers] == pytest.approx(
        [answer["value"] for answer in two.answers], rel=1e-12
    )


def pairs_of_80_rows() -> Problem:
    """Return a ranking whose pairs take a backend some tenths of a second."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 5))
    return ranking(X, np.digitize(X[:, 0] + random.normal(size=80), [-1, 0, 1]))


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0312, "0.0312"), (9.876, "9.88"), (123.4, "123"), (1234.5, "1234")]
)
def test_seconds_of_hours_are_written_out(seconds: float, said: str) -> None:
    assert Comparison((), seconds=seconds).view.progress == f"0 answers in {said}{NO_BREAK}s"


@pytest.mark.parametrize(("name", "tol"), [("OSQP", 1e-8), ("SCS", 1e-8), ("SCS", 1e-15)])
def test_a_slow_backend_is_stopped_once_the_optimum_is_proven(
    name: str, tol: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OSQP reports a time-out, SCS calls its answer inaccurate.

    No backend reaches the last accuracy.

    CLARABEL solves the first formulation, as the verdict depends on a first
    declaration, which is not stopped. It solves no other: a stopped backend does not
    run on what another has solved.
    """
    problem = pairs_of_80_rows()
    solved: Any = solve_declaration

    def solve_first(declared: Declaration, name: str, *limits: float, **total: float) -> Answer:
        found: Answer = solved(declared, name, *limits, **total)
        late = name == "CLARABEL" and declared.id != "rank.l1.dual"
        return replace(found, status=Status.TIME_LIMIT, reading=None) if late else found

    monkeypatch.setattr("equimargin.comparison.job.solve_declaration", solve_first)
    forms = ["rank.l1.dual", "rank.lambda.primal", "rank.path"]
    asked: dict[str, Any] = {
        "formulations": forms,
        "solvers": ["CLARABEL", name, "coordinate_descent"],
        "tol": tol,
    }
    run(problem, **asked, time_limit=0.01, patient=True)  # compiles
    monkeypatch.setattr("equimargin.comparison.family_progress.LEAST_ALLOWANCE", 0.01)
    monkeypatch.setattr("equimargin.comparison.family_progress.ALLOWED_RATIO", 1e-3)
    first, other, like = (
        answer for answer in run(problem, **asked).answers if answer["solver"] == name
    )
    said = (
        r"stopped: 0.01 s of CPU time are allowed, \S+ x the \S+ s of coordinate_descent "
        r"\(--patient waits\)"
    )
    for answer in (first, other):
        assert re.fullmatch(said, answer["reason"])
        assert answer["status"] == "time_limit"
    assert (like["agreement"], like["reason"]) == (
        "skipped",
        f"{name} was stopped on rank.l1.dual; --patient runs it",
    )
    patient = run(problem, **asked, time_limit=0.01, patient=True).answers
    assert not any("stopped" in answer["reason"] for answer in patient)
    assert {answer["agreement"] for answer in patient}.isdisjoint({"skipped"})


def test_a_stopped_backend_is_not_asked_for_what_another_has_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """OSQP is late on the first formulation.

    It runs on the second one if SCS has not solved that one, and not if CLARABEL has.
    """
    solved: Any = solve_declaration

    def solve_late(declared: Declaration, name: str, *limits: float, **total: float) -> Answer:
        late = name == "OSQP" or (name, declared.id) == ("SCS", "rank.lambda.dual")
        found: Answer = solved(declared, name, *limits, **total)
        return replace(found, status=Status.TIME_LIMIT, reading=None) if late else found

    monkeypatch.setattr("equimargin.comparison.job.solve_declaration", solve_late)
    forms = ["rank.l1.primal", "rank.lambda.dual"]
    problem = ranking(np.arange(6.0)[:, None], np.arange(6) % 3)
    for before, wanted in (("CLARABEL", "skipped"), ("SCS", "failed")):
        answers = run(
            problem, formulations=forms, solvers=[before, "OSQP", "coordinate_descent"]
        ).answers
        (second,) = (
            a for a in answers if (a["formulation"], a["solver"]) == ("rank.lambda.dual", "OSQP")
        )
        assert second["agreement"] == wanted, before
        assert (second["reason"] == "OSQP was stopped on rank.l1.primal; --patient runs it") is (
            wanted == "skipped"
        )


def test_a_solver_whose_kernels_take_longer_than_is_left_waits_for_the_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    chosen: dict[str, Any] = {
        "formulations": "svm.soft.dual",
        "solvers": ["CLARABEL", "smo", "homo*"],
    }

    def homotopy(**how: Any) -> tuple[str, str]:
        (answer,) = (
            answer
            for answer in run(problem, **chosen | how).answers
            if answer["solver"] == "homotopy"
        )
        return answer["agreement"], answer["reason"]

    with compile_eagerly():
        assert homotopy(patient=True)[0] == "agrees"  # and its kernels are compiled now
    monkeypatch.setattr("equimargin.comparison.schedule.COMPILED_AT_ONCE", -1.0)
    assert homotopy()[0] == "agrees"
    monkeypatch.setattr("equimargin.solvers.registry.seconds_to_compile", lambda kernel: 9.0)
    assert homotopy() == ("skipped", NOT_COMPILED)
    assert homotopy(patient=True)[0] == "agrees"
    assert homotopy(solvers=["smo", "homotopy"])[0] == "agrees"
    assert homotopy(solvers="homo*")[0] == "agrees"
    monkeypatch.setattr("equimargin.comparison.schedule.COMPILED_AT_ONCE", 1e9)
    assert homotopy()[0] == "agrees"


def test_an_allowance_is_not_less_than_two_seconds() -> None:
    assert (LEAST_ALLOWANCE, ALLOWED_RATIO) == (2.0, 20.0)


def test_the_total_time_ends_a_comparison_with_what_there_is(tmp_path: Path) -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    cut = run(problem, total_time=1e-3)
    assert cut.done < cut.total
    assert cut.to_dict()["interrupted"] is True
    whole = run(problem, total_time=HANG)
    assert (whole.done, whole.to_dict()["interrupted"]) == (whole.total, False)
    file = tmp_path / "out.json"
    result = RUN.invoke(
        app,
        [
            "compare",
            "xor",
            "--total-time",
            "0.001",
            "--json",
            str(file),
            "--csv",
            str(tmp_path / "out.csv"),
            "--certify",
            str(tmp_path),
        ],
    )
    assert result.exit_code == 130
    assert re.search(r"(\d+) families: \1 unfinished", result.stdout)
    assert "svm.nobias_l2: no certificate: it has no answer yet" in result.stdout
    record = json.loads(file.read_text())
    assert list(faults(record, "compare")) == []
    assert record["interrupted"] is True
    assert len(record["answers"]) < record["planned"]
    assert "interrupted: the total time of 0.001 s is over" in " ".join(result.stdout.split())
    assert (
        f"of {record['planned']} answers, written to {file}, {tmp_path / 'out.csv'}"
        in result.stderr
    )
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("step", ["declare", "get_problem_data"])
def test_the_total_time_ends_a_declaration_that_takes_long(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call continues in a thread that is not joined, and its answer is none."""
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    released = threading.Event()

    def endless(*arguments: Any, **more: Any) -> Any:
        released.wait(20.0)
        raise ValueError("ended by the test")

    monkeypatch.setattr(job if step == "declare" else cp.Problem, step, endless)
    cut = run(problem, "svm.soft.*", "CLARABEL", total_time=0.5)
    assert cut.interrupted == "the total time of 0.5 s is over"
    assert [(answer["agreement"], answer["reason"]) for answer in cut.answers] == [
        ("skipped", OUT_OF_TIME)
    ]
    assert is_work_left()
    released.set()


def test_the_total_time_is_heard_once_a_problem_is_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.5)
        return declare(*arguments)

    monkeypatch.setattr("equimargin.comparison.job.declare", slowly)
    cut = run(problem, "svm.soft.dual", "CLARABEL", total_time=0.4)
    assert "total time of 0.4 s" in cut.interrupted
    assert [(answer["agreement"], answer["reason"]) for answer in cut.answers] in (
        [],
        [("skipped", OUT_OF_TIME)],
    )


def test_the_total_time_is_heard_once_a_problem_is_compiled() -> None:
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    answer = solve_declaration(declare("svm.soft.dual", problem), total_time=1e-9)
    assert (answer.status, answer.reason, answer.solve_seconds) == (
        Status.TIME_LIMIT,
        "the time limit passed during compilation",
        0.0,
    )
    assert answer.compile_seconds > 0


def test_the_shorter_limit_is_the_one_that_is_named() -> None:
    allowed = Allowance(2.0, "slow")
    assert (allowed.within(3.0).seconds, allowed.within(3.0).reason) == (2.0, "slow")
    assert (allowed.within(1.0).seconds, allowed.within(1.0).reason) == (1.0, OUT_OF_TIME)
    assert allowed.within(-1.0).seconds > 0


def test_an_interrupt_tells_the_seconds_until_it_came(found: Comparison) -> None:
    def stream() -> Iterator[Comparison]:
        yield replace(found, seconds=100.0)
        time.sleep(0.2)
        raise KeyboardInterrupt

    ended = _followed(stream(), Screen(False))
    assert ended.interrupted == "by Ctrl-C or SIGTERM"
    assert ended.seconds >= 100.2


def test_problems_of_one_family_have_a_certificate_each(tmp_path: Path) -> None:
    X, y = np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0)
    outcome = run(
        [classification(X, y, C) for C in (1.0, 10.0)], "svm.soft.dual", ["CLARABEL", "smo"]
    ).certify(tmp_path)
    assert outcome == {name: tmp_path / f"{name}.json" for name in ("svm.soft", "svm.soft-2")}
    assert (tmp_path / "svm.soft.json").read_text() != (tmp_path / "svm.soft-2.json").read_text()


@pytest.mark.parametrize("option", ["--total-time", "--time-limit"])
def test_a_limit_must_be_positive(option: str) -> None:
    result = RUN.invoke(app, ["compare", "xor", option, "0"])
    assert result.exit_code == 2
    assert "must be a positive, finite number" in result.output


# In a terminal


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 40])
def test_a_terminal_is_filled_and_not_overfilled(columns: int) -> None:
    terminal = Terminal("compare", "xor", *QUADRATIC, "--family", "svm.soft", columns=columns)
    assert terminal.finish() == 0, terminal.output
    lines = terminal.text.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(re.fullmatch(r"svm\.soft .*AGREE", line) and len(line) == columns for line in lines)
    assert "xor: classification, 4 rows" in terminal.text.replace("\n", " ")
    assert "--explain" in terminal.text


def test_ctrl_c_prints_and_writes_what_there_is(tmp_path: Path) -> None:
    data, file = tmp_path / "hard.csv", tmp_path / "out.json"
    data.write_text(hard_ranking())
    terminal = Terminal(
        "compare", str(data), "--task", "ranking", "--patient", "--json", str(file), columns=80
    )
    terminal.read_until(r"[1-9]\d* of \d+ answers")
    os.write(terminal.master, b"\x03")
    assert terminal.finish() == 130, terminal.output
    record = json.loads(file.read_text())
    assert list(faults(record, "compare")) == []
    assert record["interrupted"] is True
    assert 0 < len(record["answers"]) < record["planned"]
    assert len(record["families"]) == 4
    assert "interrupted: by Ctrl-C" in terminal.text
    assert re.search(r"answers, written to .*out\.json", " ".join(terminal.text.split()))
    assert not list(tmp_path.glob(".equimargin-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "sent", "ignored"),
    [
        ("1", signal.SIGINT, False),
        ("2", signal.SIGINT, False),
        ("1", signal.SIGTERM, False),
        ("2", signal.SIGTERM, False),
        ("1", signal.SIGTERM, True),  # in the background, where Ctrl-C is ignored
    ],
)
def test_in_a_pipe_lines_come_while_it_works_and_an_interrupt_ends_it(
    jobs: str, sent: signal.Signals, ignored: bool, tmp_path: Path
) -> None:
    data, file = tmp_path / "hard.csv", tmp_path / "out.json"
    data.write_text(hard_ranking())
    command = [
        sys.executable,
        "-m",
        "equimargin",
        "compare",
        str(data),
        "--task",
        "rank",
        "--patient",
        "--jobs",
        jobs,
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(
        [*command, "--json", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL
        ),
    )
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or "running other solvers" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    process.send_signal(sent)
    rest, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130, errors
    assert "\x1b" not in "".join(lines) + rest
    assert "interrupted: by Ctrl-C" in rest
    assert max(map(len, rest.splitlines())) <= 80
    assert "Traceback" not in errors
    record = json.loads(file.read_text())
    assert list(faults(record, "compare")) == []
    assert record["interrupted"] is True
    assert 0 < len(record["answers"]) < record["planned"]


@pytest.mark.slow
def test_processes_leave_nothing_behind_once_the_time_is_over(tmp_path: Path) -> None:
    data = tmp_path / "hard.csv"
    data.write_text(hard_ranking())
    command = [
        sys.executable,
        "-m",
        "equimargin",
        "compare",
        str(data),
        "--task",
        "rank",
        "--patient",
        "--jobs",
        "2",
        "--total-time",
        "3",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(
        command, capture_output=True, env=environment, text=True, timeout=HANG, check=False
    )
    assert ended.returncode == 130, ended.stderr
    assert re.fullmatch(
        r"equimargin: interrupted \(the total time of 3 s is over\): \d+ of \d+ answers\n",
        ended.stderr,
    )


def test_an_unwritable_output_ends_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("folder", "missing/out.json", "x" * 300):
        result = RUN.invoke(app, ["compare", "xor", "--json", str(tmp_path / name)])
        assert result.exit_code == 2
        assert re.fullmatch(r"equimargin: .* cannot be written: .*\n", result.stderr)
        assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_argument_that_is_none_is_refused() -> None:
    problem = classification(np.arange(4.0)[:, None], np.array([-1.0, 1, -1, 1]))
    with pytest.raises(TypeError, match=r"compare takes no argument time; it takes .*time_limit"):
        run(problem, time=1.0)  # type: ignore[call-arg]


def test_a_terminal_is_drawn_by_one_thread_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second thread would move the cursor over lines of a block being printed."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    before = threading.active_count()
    with Screen(False) as screen:
        assert screen.terminal
        assert threading.active_count() == before


def test_what_is_the_same_at_every_optimum_is_said_once_all_have_answered() -> None:
    """The statement is in the record, and in a sentence of the page for a browser.

    Before the last answer it is absent.
    """
    X, y = np.array([[0.0, 0], [0, 1], [3, 0], [3, 1], [9, 0]]), np.array([-1.0, -1, 1, 1, 1])
    problem = classification(X, y, 10.0)
    *before, last = comparisons(problem)
    assert all(
        family.stable is None for comparison in before[:-1] for family in comparison.families
    )
    assert present(last.families[0].stable).labels == 1.0
    said = {}
    for shares in (last.families[0].stable, Stable(None, 0.0), Stable(0.0, 0.999)):
        said[shares] = (
            same_at_every_optimum(replace(last.families[0], stable=shares))
            .replace(NO_BREAK, " ")
            .partition(": ")[2]
        )
    assert list(said.values()) == [
        "100 % of the labels of the training points and 20 % of the multipliers of the rows.",
        "",
        "99 % of the multipliers of the rows.",
    ]


def test_page_with_a_long_name_sets_all_optima_in_one_column(found: Comparison) -> None:
    family = found.families[0]
    lines = Comparison((family, replace(family, id="a.name_longer_than_the_column"))).page(160)
    heads = [line for line in lines if line.startswith((family.id, "a.name"))]
    assert {line.index("optimum") for line in heads} == {len("a.name_longer_than_the_column") + 2}
