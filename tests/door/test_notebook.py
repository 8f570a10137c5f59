"""Results in a notebook: proven figures, escaped text, and nothing to load or run."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from equimargin import bound, compare
from equimargin.formulations import Interval, classification, linear
from equimargin.proofs import FamilyVerdict, Verdict, audit
from equimargin.proofs.audit import MachinesAudit
from equimargin.report.comparison import Comparison
from equimargin.report.view import family_view
from equimargin.solvers import Solution, solution, solve

random = np.random.default_rng(8)
X = random.normal(size=(24, 2))
LABELS = np.array(["<i>a</i>", "b & c", "d"])[np.arange(24) % 3]
Y = np.where(X[:, 0] + random.normal(size=24) > 0, 1.0, -1.0)
FEW: dict[str, Any] = {
    "formulations": ["svm.soft.primal", "svm.soft.dual"],
    "solvers": ["CLARABEL", "smo"],
}


class Shown(HTMLParser):
    """Content of a result's HTML: tags with attributes, and rows of all tables as text."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(result._repr_html_())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data

    @property
    def figures(self) -> dict[str, str]:
        """Rows of two cells, by the first."""
        return {row[0]: row[1] for row in self.rows if len(row) == 2}


def solved() -> Solution:
    return solve(classification(X, Y, 2.0, linear()), tol=1e-8)


@pytest.fixture(scope="module")
def compared() -> Any:
    return compare(X, LABELS, task="classification", **FEW)


def test_ends_of_an_interval_are_rounded_outward() -> None:
    for lower, upper in ((0.1, 0.3), (-1 / 3, 1e300 / 7), (29.142891742, 29.142891743)):
        figures = Shown(Interval(lower, upper, 1.0)).figures
        assert Fraction(figures["lower"]) <= Fraction(lower)
        assert Fraction(figures["upper"]) >= Fraction(upper)
        assert float(figures["upper"]) == pytest.approx(upper, rel=1e-14)
    assert Shown(Interval(-np.inf, np.inf)).figures == {
        "lower": "-inf",
        "upper": "inf",
        "relative width": "inf",
    }


def test_a_solution_shows_its_interval_unless_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = solved()
    figures = Shown(found).figures
    assert figures.items() >= found.interval.figures.items()
    assert figures["problem"] == repr(found.problem)
    assert figures["status"].startswith("optimal: ")
    monkeypatch.setattr(solution, "SHOWN_POINTS", 23)
    anew = solved()
    assert "lower" not in Shown(anew).figures
    assert "interval" not in vars(anew)
    assert anew.lower == found.lower
    assert "lower" in Shown(anew).figures


def test_a_comparison_shows_every_family_and_folds_every_answer(compared: Any) -> None:
    shown = Shown(compared)
    overview = [[cell.text for cell in family.overview] for family in compared.view.families]
    answers = [
        [cell.text for cell in answer.cells]
        for family in compared.view.families
        for answer in family.answers
    ]
    assert len(overview) == 3
    assert len(answers) == 9
    assert [row for row in shown.rows if row in overview] == overview
    assert [row for row in shown.rows if row in answers] == answers
    assert [tag for tag, _ in shown.tags].count("details") == 3
    assert compared.view.verdict in shown.text
    assert "Rows in their class by votes of the pairs: svm.soft" in shown.text


def test_markdown_has_the_notes_of_a_notebook(compared: Any) -> None:
    stopped = replace(compared, interrupted="Ctrl-C", left_out=("OSQP: too late",))
    written, shown = stopped.to_markdown().replace("\\", ""), Shown(stopped).text
    for sentence in (
        f"{stopped.view.verdict} interrupted: Ctrl-C; 9 of ",
        "Rows in their class by votes of the pairs: svm.soft",
        "skipped: OSQP: too late",
    ):
        assert sentence in written
        assert sentence in shown


def test_one_answer_is_no_plural(compared: Any) -> None:
    family = replace(compared.families[0], judgements=compared.families[0].judgements[:1])
    assert f"{family.title}: 1 answer" in Shown(Comparison((family,))).text
    assert "1 answers" not in Shown(Comparison((family,))).text


def test_printed_ends_of_a_family_contain_its_interval() -> None:
    interval = Interval(0.12345678912345, 0.9 + 1e-13, 1.0)
    family = FamilyVerdict("f", interval, Verdict.AGREE, "all agree", (), doubt="it is a guess")
    assert family.optimum == "optimum in [0.123456, 0.900001], not proven"
    assert "relative width 0.87" in family_view(family).details[0]
    assert "[0.123456789123, 0.900000000001]" in family_view(family).details[0]
    assert "It is a guess." in Shown(family).text
    open_below = replace(family, interval=Interval(-np.inf, 1 / 3))
    assert open_below.optimum == "optimum at most 0.3333333334, with no lower bound proven"
    narrow = replace(family, interval=Interval(1.0, 1.0 + 2.2e-16, 1.0), doubt="")
    assert narrow.optimum == "optimum 1, all digits proven (width 2.3e-16)"


def test_the_verdict_on_a_family_has_its_interval_and_counts(compared: Any) -> None:
    family = compared.families[0]
    shown = Shown(family)
    assert family.optimum in shown.text
    assert shown.figures["verdict"] == f"AGREE: {family.reason}"
    assert shown.figures["answers"] == "agrees: 3"
    assert shown.figures.items() >= family.interval.figures.items()


def test_a_bound_and_an_audit_state_what_they_print(compared: Any) -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    problem.solve(solver="CLARABEL")
    found = bound(problem)
    shown = Shown(found)
    assert shown.figures == found.figures
    assert Fraction(found.figures["lower"]) <= Fraction(found.lower)
    assert Fraction(found.figures["upper"]) >= Fraction(found.upper)
    assert found.statement in shown.text
    assert shown.text.endswith(found.answer)
    audited = audit(SVC(kernel="linear").fit(X, Y), X, Y)
    assert Shown(audited).figures == audited.figures
    assert str(audited) in Shown(audited).text
    assert str(audited) in audited.to_markdown().replace("\\", "")
    machines = MachinesAudit("SVC", {"a": audited, "b": audited})
    for result in (audited, machines):
        assert result.to_markdown().count("\n| ") == 2 + len(result.figures)


def test_nothing_is_loaded_or_run_and_colours_are_those_of_the_notebook(compared: Any) -> None:
    for result in (compared, compared.families[0], solved(), solved().interval):
        html = result._repr_html_()
        assert {tag for tag, _ in Shown(result).tags} <= {
            *("div", "p", "table", "tr", "th", "td", "details", "summary")
        }
        assert not re.search(r"<script|\son\w+=|https?:|url\(|src=|colou?r|background|font", html)
    assert "<i>a</i> vs b & c" in Shown(compared).text
