"""Completeness of the claims ledger, and checks of its statements.

Every numbered equation has an entry, every reference exists, and the statements are
true as recorded and false as printed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from campaigns.claims import named_tests
from equimargin.formulations import REGISTRY
from ledger import Kind, Verdict, chosen, claim, claims
from ledger.__main__ import app
from ledger.check import failure
from ledger.statement import DRAWS, statement
from ledger.statements import STATEMENTS
from places import ROOT

DIFFERENT = [id for id, known in STATEMENTS.items() if known.printed is not None]
NUMBERED = {
    "T": [str(n) for n in range(1, 105) if n != 71],
    "P": [str(n) for n in range(1, 18)],
    "K": [
        *(f"1.{n}" for n in (1, 2)),
        *(f"2.{n}" for n in range(3, 11)),
        *(f"3.{n}" for n in range(11, 19)),
        "4.19",
        "B.1",
        "B.2",
        "B.3",
    ],
    "O": ["1"],
}
"""Numbers of the equations of each document.

The tutorial jumps over 71, and the encyclopedia numbers none.
"""
TESTS = named_tests()
run = CliRunner().invoke


@pytest.mark.parametrize("document", NUMBERED)
def test_every_numbered_equation_has_a_row(document: str) -> None:
    ids = {known.id for known in claims()}
    assert [number for number in NUMBERED[document] if f"{document}.{number}" not in ids] == []


@pytest.mark.parametrize("id", [row.id for row in claims()])
def test_what_a_claim_points_at_exists(id: str) -> None:
    row = claim(id)
    if row.kind is Kind.TEST:
        assert len(TESTS[row.name]) == 1, "a pointer names one test, and no other has its name"
    if row.kind in (Kind.FORM, Kind.CONTROL):
        assert REGISTRY[row.name].control == (row.kind is Kind.CONTROL)
    if row.kind is Kind.STATEMENT:
        assert row.name in STATEMENTS
    if row.kind is Kind.EXPERIMENT:
        assert row.verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED)
        assert (ROOT / "examples" / "documents" / f"{row.name}.py").is_file()
    assert row.kind is Kind.EXPERIMENT or row.verdict not in (
        Verdict.REPRODUCED,
        Verdict.NOT_REPRODUCED,
    )
    assert row.kind is not Kind.NONE or row.note, "a claim that nothing shows says why"
    assert row.kind is not Kind.NONE or row.verdict in (Verdict.UNDECIDED, Verdict.MISPRINT)


def test_every_statement_is_of_a_claim() -> None:
    assert set(STATEMENTS) == {row.name for row in claims() if row.kind is Kind.STATEMENT}
    assert set(STATEMENTS) <= {row.id for row in claims()}


@pytest.mark.parametrize("id", STATEMENTS)
def test_a_claim_is_as_recorded(id: str) -> None:
    assert failure(claim(id)) == ""


@given(st.sampled_from(sorted(STATEMENTS)), st.integers(0, 2**32))
def test_no_drawn_instance_refutes_what_is_recorded_as_right(id: str, seed: int) -> None:
    known = STATEMENTS[id]
    assert known.right(known.draw(Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("id", DIFFERENT)
def test_a_printed_statement_in_the_place_of_the_right_one_fails(id: str) -> None:
    known = STATEMENTS[id]
    assert known.printed is not None
    assert "is recorded as right is wrong" in replace(known, right=known.printed).failure()


@pytest.mark.parametrize("id", ["T.28", "T.43", "T.73", "T.89"])
@pytest.mark.parametrize("times", [Fraction(1, 2), Fraction(2)])
def test_a_bound_of_another_size_is_noticed(id: str, times: Fraction) -> None:
    known = STATEMENTS[id]
    drawn = [known.draw(Random(seed)) for seed in range(DRAWS)]
    assert not all(known.right(replace(instance, C=times * instance.C)) for instance in drawn)


def test_a_right_statement_in_the_place_of_the_printed_one_fails() -> None:
    known = STATEMENTS["T.26"]
    assert "is recorded as wrong, and holds" in replace(known, printed=known.right).failure()


def test_a_claim_has_one_statement() -> None:
    with pytest.raises(ValueError, match=r"T\.26 has a statement already"):
        statement("T.26", Random.random)(bool)


def test_wrong_rows_are_found() -> None:
    row = claim("T.26")
    assert "no statement is called T.260" in failure(replace(row, name="T.260"))
    assert "recorded as holds" in failure(replace(row, verdict=Verdict.HOLDS))
    assert "no printed version" in failure(
        replace(claim("T.12"), verdict=Verdict.REFUTED, note="It does not hold.")
    )
    assert "0 theorems are called svm.nothing" in failure(
        replace(claim("T.12.dual"), name="svm.nothing")
    )
    assert "no note says what is right" in failure(replace(claim("T.83.hard"), note=""))


def test_a_statement_that_cannot_be_tried_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STATEMENTS, "T.26", replace(STATEMENTS["T.26"], draw=lambda random: 1 // 0))
    assert (
        failure(claim("T.26")) == "T.26: it could not be tried, integer division or modulo by zero"
    )


def test_the_readme_counts_the_ledger() -> None:
    rows = claims()
    exact = sum(row.exact for row in rows)
    verdicts = Counter(row.verdict for row in rows)
    wrong = sum(
        verdicts[verdict] for verdict in (Verdict.REFUTED, Verdict.MISPRINT, Verdict.CORRECTED)
    )
    assert f"{len(rows)} claims of the five documents" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )
    assert f"{exact} of them are checked in rational numbers or by a theorem" in (
        ROOT / "README.md"
    ).read_text(encoding="utf-8")
    assert f"{wrong} are found not to be right as printed" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_claims_are_listed_and_shown() -> None:
    listed = run(app, ["list", "--document", "K", "--verdict", "misprint"]).output
    rows = chosen("K", Verdict.MISPRINT)
    assert [line.split()[0] for line in listed.splitlines()[:-1]] == [row.id for row in rows]
    assert f"{len(rows)} claims" in listed
    shown = run(app, ["show", "t.26"]).output
    assert "Verdict  misprint" in shown
    assert "Printed  Without the half" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["list", "--document", "X"], "no document is called 'X'"),
        (["list", "--verdict", "wrong"], "'wrong' is not one of"),
        (["show", "T.260"], "did you mean"),
        (["check", "--document", "X"], "no document is called 'X'"),
    ],
)
def test_wrong_arguments_are_a_sentence(arguments: list[str], says: str) -> None:
    result = run(app, arguments)
    assert result.exit_code != 0
    assert says in result.output


def test_claims_are_checked_on_the_command_line() -> None:
    result = run(app, ["check", "--document", "O", "--draws", "3"])
    assert result.exit_code == 0, result.output
    assert f"{len(chosen('O'))} claims" in result.output
    assert "0 not as recorded" in result.output
