"""Options in messages are written as the caller gives them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import DataError, load
from equimargin.option_text import (
    format_option,
    in_command,
    in_plan,
    in_python,
    options_written,
)
from equimargin.study.grid import grid
from equimargin.study.plan import PlanError, read_plan

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)
VALUES = TEXTS | st.booleans() | st.lists(TEXTS, min_size=1, max_size=3)


@given(VALUES)
def test_python_and_toml_read_a_value_back(value: str | bool | list[str]) -> None:
    assert eval(f"dict({in_python('drop', value)})") == {"drop": value}
    assert tomllib.loads(in_plan("drop", value)) == {"drop": value}


def test_the_command_line_quotes_repeats_and_joins() -> None:
    assert in_command("drop", "a b") == "--drop 'a b'"
    assert in_command("drop", ["a", "b c"]) == "--drop a --drop 'b c'"
    assert in_command("levels", ["low", "high"]) == "--levels low,high"
    assert (in_command("header", True), in_command("header", False)) == ("--header", "--no-header")


def test_a_form_ends_with_its_context() -> None:
    with options_written(in_command):
        with pytest.raises(KeyError), options_written(in_plan):
            raise KeyError(format_option("na", ""))
        assert format_option("na", "") == "--na ''"
    assert format_option("na", "") == "na=''"


def test_each_caller_reads_its_own_form(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n?,3\n3,4.5\n")
    with pytest.raises(DataError, match=r"\(drop='a'\); missing='drop' leaves such rows out"):
        load(tmp_path / "rows.csv")
    said = CliRunner().invoke(app, ["compare", str(tmp_path / "rows.csv")])
    assert said.exit_code == 2
    assert "(--drop a); --missing drop leaves such rows out" in said.output
    plan = tmp_path / "plan.toml"
    plan.write_text('[[data]]\nsource = "rows.csv"\n')
    with pytest.raises(PlanError, match=r'\(drop = "a"\); missing = "drop" leaves such rows out'):
        grid(read_plan(plan))
    said = CliRunner().invoke(app, ["study", str(plan)])
    assert said.exit_code == 2
    assert '(drop = "a"); missing = "drop" leaves such rows out' in said.output
