"""Seeded faults, which must fit the sources: `make faults` applies them."""

from __future__ import annotations

import ast
import tomllib
from difflib import SequenceMatcher

import pytest

from campaigns import faults
from campaigns.statements import statements_by_line
from places import ROOT

SURVIVORS = ROOT / "tests" / "campaigns" / "survivors.toml"


def test_there_are_twenty_of_different_names() -> None:
    assert len({fault.name for fault in faults.FAULTS}) == len(faults.FAULTS) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_one_place_and_leaves_a_program(fault: faults.Fault) -> None:
    source = (ROOT / fault.file).read_text(encoding="utf-8")
    assert source.count(fault.old) == 1
    changed = source.replace(fault.old, fault.new)
    if not fault.file.endswith(".py"):
        # A kernel in CUDA C: its tests compile it.
        assert changed.count("(") - changed.count(")") == source.count("(") - source.count(")")
        return
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_must_notice_exist(fault: faults.Fault) -> None:
    assert fault.tests
    assert all(len(list((ROOT / "tests").rglob(f"test_{name}.py"))) == 1 for name in fault.tests)


def test_a_name_of_no_fault_runs_no_tests(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        faults.main(["no such fault"])
    assert "no fault has a file or name that contains no such fault" in capsys.readouterr().err


@pytest.mark.parametrize(
    "survivor",
    tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"],
    ids=lambda one: one["mutant"],
)
def test_an_argument_is_for_a_change_of_a_statement_that_is_there(survivor: dict[str, str]) -> None:
    file, _, changed = survivor["mutant"].partition(": ")
    statements = set(statements_by_line((ROOT / file).read_text(encoding="utf-8")).values())
    assert changed not in statements
    assert max(SequenceMatcher(None, changed, each).ratio() for each in statements) > 0.95
