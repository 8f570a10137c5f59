"""Options in messages are written as the caller gives them."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import DataError, load
from equimargin.option_text import (
    format_in_command,
    format_in_plan,
    format_in_python,
    format_option,
    write_options,
)
from equimargin.study.grid import grid
from equimargin.study.plan import PlanError, read_plan

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)
VALUES = TEXTS | st.booleans() | st.lists(TEXTS, min_size=1, max_size=3)


@given(VALUES)
def test_python_and_toml_read_a_value_back(value: str | bool | list[str]) -> None:
    assert eval(f"dict({format_in_python('drop', value)})") == {"drop": value}
    assert tomllib.loads(format_in_plan("drop", value)) == {"drop": value}


def test_the_command_line_quotes_repeats_and_joins() -> None:
    assert format_in_command("drop", "a b") == "--drop 'a b'"
    assert format_in_command("drop", ["a", "b c"]) == "--drop a --drop 'b c'"
    assert format_in_command("levels", ["low", "high"]) == "--levels low,high"
    assert format_in_command("header", True) == "--header"
    assert format_in_command("header", False) == "--no-header"


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_shell_reads_the_values_back(values: list[str]) -> None:
    words = shlex.split(format_in_command("drop", values))
    assert words == [word for value in values for word in ("--drop", value)]


def test_a_form_ends_with_its_context() -> None:
    with write_options(format_in_command):
        with pytest.raises(KeyError), write_options(format_in_plan):
            raise KeyError(format_option("na", ""))
        assert format_option("na", "") == "--na ''"
    assert format_option("na", "") == "na=''"


def test_each_caller_reads_its_own_form(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n?,3\n3,4.5\n")
    with pytest.raises(DataError, match=r"\(drop='a'\); missing='drop' leaves such rows out"):
        load(tmp_path / "rows.csv")
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "rows.csv")])
    assert result.exit_code == 2
    assert "(--drop a); --missing drop leaves such rows out" in result.output
    plan = tmp_path / "plan.toml"
    plan.write_text('[[data]]\nsource = "rows.csv"\n')
    with pytest.raises(PlanError, match=r'\(drop = "a"\); missing = "drop" leaves such rows out'):
        grid(read_plan(plan))
    result = CliRunner().invoke(app, ["study", str(plan)])
    assert result.exit_code == 2
    assert '(drop = "a"); missing = "drop" leaves such rows out' in result.output
