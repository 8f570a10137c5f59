"""JSON records of `compare` and `path` follow the schema in the package."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.adapters import from_fit, libsvm
from equimargin.cli.app import app
from equimargin.comparison import compare
from equimargin.formulations import classification
from equimargin.report.records import csv_text
from equimargin.solvers import Limits, Solution
from schema import SCHEMA, faults

RUN = CliRunner()
QUADRATIC = ("--kernel", "poly", "--degree", "2", "--gamma", "1", "--coef0", "1")
"""Kernel for which four points of XOR have the optimum 0.25."""


def record(file: Path, *arguments: str) -> dict[str, Any]:
    """Return the JSON record of a command."""
    result = RUN.invoke(app, [*arguments, "--json", str(file)])
    assert file.exists(), result.output
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "compare",
            "xor",
            *QUADRATIC,
            "--include-controls",
            "--solver",
            "CLARABEL",
            "--solver",
            "smo",
        ),
        ("compare", "xor", "-C", "inf", "--solver", "CLARABEL"),
        ("compare", "diabetes", "--sample", "15", "--solver", "huber", "--scale"),
        ("compare", "xor", "--kernel", "sigmoid", "--solver", "CLARABEL"),
        ("compare", "xor", "--total-time", "0.001"),
        ("path", "xor", "--lambda-min", "0.1"),
        (
            "path",
            "breast_cancer",
            "--sample",
            "40",
            "--lambda-min",
            "0.1",
            "--validate",
            "2",
            "--max-events",
            "5",
        ),
    ],
    ids=" ".join,
)
def test_records_are_as_their_schema_says(arguments: tuple[str, ...], tmp_path: Path) -> None:
    found = record(tmp_path / "out.json", *arguments)
    assert list(faults(found, arguments[0])) == []
    other = {"compare": "path", "path": "compare"}[arguments[0]]
    assert list(faults(found, other)) != []


def test_both_commands_share_their_names(tmp_path: Path) -> None:
    compared = record(
        tmp_path / "a.json", "compare", "xor", "--solver", "smo", "--family", "svm.soft"
    )
    followed = record(tmp_path / "b.json", "path", "xor", "--lambda-min", "0.1")
    shared = {
        "schema",
        "command",
        "equimargin",
        "data",
        "settings",
        "interrupted",
        "stopped",
        "seconds",
    }
    assert compared.keys() & followed.keys() == shared
    assert compared["data"] == followed["data"]
    assert compared["settings"]["kernel"] == followed["settings"]["kernel"]
    for name in shared:
        assert SCHEMA["$defs"]["compare"]["properties"].get(name) is not None
        assert SCHEMA["$defs"]["path"]["properties"].get(name) is not None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.pop("planned"), "$ has no planned"),
        (lambda found: found.update(schema=1), "$.schema is 1, not 2"),
        (lambda found: found.update(interrupted=0), "$.interrupted is 0, not boolean"),
        (
            lambda found: found["answers"][0].update(agreement="right"),
            "$.answers[0].agreement is 'right', none of",
        ),
        (lambda found: found["answers"][0].update(extra=1), "$.answers[0].extra is not known"),
        (
            lambda found: found["families"][0].update(agreeing=-1),
            "$.families[0].agreeing is -1, too small",
        ),
    ],
)
def test_the_validator_finds_faults(change: Any, fault: str, tmp_path: Path) -> None:
    found = record(
        tmp_path / "out.json", "compare", "xor", "--solver", "smo", "--family", "svm.soft"
    )
    change(found)
    assert any(said.startswith(fault) for said in faults(found, "compare"))


def test_iterations_that_nobody_counts_are_null(tmp_path: Path) -> None:
    """A solver that returns a point alone reports no iterations; 0 would be a claim."""
    answers = record(
        tmp_path / "out.json", "compare", "--family", "lasso", "--draw", "1", "--solver", "lasso.*"
    )["answers"]
    assert [answer["iterations"] for answer in answers] == [None]
    problem = classification(np.arange(8.0)[:, None], np.where(np.arange(8) % 3, 1.0, -1.0))
    compared = compare(
        problem, "svm.soft.dual", from_fit(lambda X, y, C: {"alpha": np.zeros(8)}, ["svm.soft"])
    )
    assert [
        answer["iterations"] for answer in compared.answers if answer["formulation"] is None
    ] == [None]
    found = libsvm().run(problem, Limits(), None)
    found.save(tmp_path / "solution.npz")
    assert Solution.load(tmp_path / "solution.npz").iterations is found.iterations is None


@pytest.mark.parametrize(
    "text", ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", " \t-1+1", "\t1"]
)
def test_csv_text_that_a_spreadsheet_would_compute_is_quoted(text: str) -> None:
    (line,) = csv.DictReader(
        io.StringIO(csv_text([text, "value"], [{text: text, "value": -1.5}]), newline="")
    )
    assert line == {f"'{text}": f"'{text}", "value": "-1.5"}


@pytest.mark.parametrize("text", ["-0.5", "+1", "-1e-9", "-inf", "a=1", "a\n-1"])
def test_csv_text_that_a_spreadsheet_would_not_compute_is_kept(text: str) -> None:
    (line,) = csv.DictReader(io.StringIO(csv_text(["name"], [{"name": text}]), newline=""))
    assert line == {"name": text}
