"""Page of a study of 504 answers: short rows, reasons of failures, and limited size."""

from __future__ import annotations

import re
from typing import Any

import pytest

from equimargin.request import ComparisonRequest
from equimargin.study import Study
from equimargin.study.answer import provenance
from equimargin.study.database import Database
from equimargin.study.grid import grid
from equimargin.study.plan import DataPlan, Plan

COSTS = tuple(2.0**k for k in range(-31, 32))
"""Values of C, which give 504 answers to 126 problems."""
FORMS = ("svm.soft.primal", "svm.soft.dual", "svm.l2.primal", "svm.l2.dual")
SOLVED: dict[str, Any] = {
    "status": "optimal",
    "ok": True,
    "agreement": "agrees",
    "value": 1.2345678901,
    "lower": 1.23456789,
}
SOLVED |= {
    "upper": 1.23456790,
    "relative_width": 8.04e-9,
    "cpu_seconds": 0.003,
    "reason": "what nobody asks of an answer that is right",
}
FAILED: dict[str, Any] = {
    "status": "numerical_failure",
    "ok": False,
    "agreement": "failed",
    "reason": "its own conditions are missed",
}
BYTES_OF_THE_REST = 60_000
"""Bytes of the style sheet, the script, the picture, the plan and all words."""
BYTES_OF_A_ROW = 900
"""Bytes of a row of 13 cells, sort keys included."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the page of 504 answers, every seventh of them a failure."""
    families, solvers = ("svm.soft", "svm.l2"), ("CLARABEL", "SCS")
    plan = Plan(
        "many",
        "the plan",
        (DataPlan("xor"),),
        costs=COSTS,
        families=families,
        request=ComparisonRequest(FORMS, solvers, tol=1e-6),
    )
    wanted = grid(plan)
    with Database(tmp_path_factory.mktemp("study") / "study.sqlite", writes=True) as database:
        database.enter("many", "the plan", wanted)
        computed_with = provenance() | {"memory": None}
        with database.held():
            for k, asked in enumerate(wanted):
                assert database.lease() == asked
                database.write(asked, (SOLVED if k % 7 else FAILED) | {"provenance": computed_with})
    return Study(database.file).to_html()


def rows(page: str, table: str) -> list[str]:
    """Return the rows of a table below its head."""
    body = page.split(f'id="{table}-caption"', 1)[1].split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    return re.findall(r"<tr>.*?</tr>", body, re.DOTALL)


def test_widths_of_answers_are_rounded_up(page: str) -> None:
    solved = [row for row in rows(page, "answers") if ">agrees<" in row]
    assert len(solved) == 432
    assert all(">8.1e-09<" in row for row in solved)


def test_every_answer_and_every_problem_has_a_row(page: str) -> None:
    assert "504 of 504 answers: 432 solved, 72 failed, 0 skipped" in page
    answers, problems = rows(page, "answers"), rows(page, "problems-table")
    assert (len(answers), len(problems)) == (504, 126)
    assert {row.count("<td") for row in answers} == {12}
    assert {row.count("<td") for row in problems} == {10}


def test_reasons_are_of_what_was_not_solved(page: str) -> None:
    assert SOLVED["reason"] not in page
    assert sum(FAILED["reason"] in row for row in rows(page, "answers")) == 72
    (reason,) = rows(page, "reasons-table")
    assert f"failed: {FAILED['reason']}" in reason
    assert "72 (CLARABEL, SCS)" in reason


def test_seconds_stand_one_below_the_other(page: str) -> None:
    seconds = [
        found
        for row in rows(page, "answers")
        for found in re.findall(r'data-key="0.003">([^<]*)<', row)
    ]
    assert seconds == 432 * ["0.0030"]


def test_no_limit_of_memory_is_said_in_words(page: str) -> None:
    (memory,) = (row for row in rows(page, "computed-with") if ">memory<" in row)
    assert ">no limit<" in memory


def test_a_page_has_no_more_bytes_than_its_rows_take(page: str) -> None:
    shown = len(rows(page, "answers")) + len(rows(page, "problems-table"))
    assert len(page.encode()) <= BYTES_OF_THE_REST + shown * BYTES_OF_A_ROW
