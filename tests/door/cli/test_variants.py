"""`--per-query` and `--bias`: their problems, records, pages and refusals."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from schema import faults

RUN = CliRunner()
QUICK = ("--solver", "huber", "--solver", "tron", "--solver", "linear_program")
LABELS = {1: (2, 1, 0), 2: (1, 0, 0, 2, 1, 0, 1, 2)}
"""Relevances of two queries, with three pairs and 21 pairs."""


def run(*arguments: str) -> str:
    """Return the output of a command that ends without a usage error."""
    result = RUN.invoke(app, [*arguments])
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code in (0, 4), result.output
    return " ".join(result.output.split())


def record(file: Path, *arguments: str) -> dict[str, Any]:
    """Return the JSON record of a command."""
    run(*arguments, "--json", str(file))
    found: dict[str, Any] = json.loads(file.read_text())
    assert list(faults(found, arguments[0])) == []
    return found


def refusal(*arguments: str) -> str:
    """Return the one sentence of a refused command."""
    result = RUN.invoke(app, [*arguments])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output
    return result.stderr


def optima(found: dict[str, Any]) -> dict[str, float]:
    """Return the proven upper bounds of a comparison's optima."""
    return {family["family"]: family["upper"] for family in found["families"]}


def settings(page: Path) -> set[tuple[str, str]]:
    """Return the names and values of two columns of a page."""
    return set(re.findall(r"<tr><th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td></tr>", page.read_text()))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Write documents of two queries and their weights; return the file.

    The weight of a query is one over the number of its pairs.
    """
    random = np.random.default_rng(0)
    file = tmp_path / "documents.csv"
    rows = ["qid,target,a,b,fair"]
    for query, labels in LABELS.items():
        pairs = sum(first > second for first in labels for second in labels)
        rows += [
            f"{query},{label},{random.random():.3f},{random.random():.3f},{1 / pairs!r}"
            for label in labels
        ]
    file.write_text("\n".join(rows) + "\n")
    return file


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    """Write rows of two overlapping classes with a column of ones; return the file."""
    random = np.random.default_rng(1)
    file = tmp_path / "classes.csv"
    rows = [
        f"{random.normal() + sign + 2:.3f},{random.normal():.3f},1,{sign}" for sign in (-1, 1) * 10
    ]
    file.write_text("\n".join(["a,b,one,label", *rows]) + "\n")
    return file


@pytest.mark.parametrize("command", ["compare", "path"])
def test_means_are_sums_weighted_by_the_pairs_of_their_queries(
    command: str, documents: Path, tmp_path: Path
) -> None:
    more = QUICK if command == "compare" else ("--lambda-min", "0.001")
    means = record(
        tmp_path / "a.json", command, str(documents), "--drop", "fair", "--per-query", "mean", *more
    )
    weighted = record(
        tmp_path / "b.json",
        command,
        str(documents),
        "--weight",
        "fair",
        "--per-query",
        "sum",
        *more,
    )
    sums = record(tmp_path / "c.json", command, str(documents), "--drop", "fair", *more)
    said = [found["settings"]["per_query"] for found in (means, weighted, sums)]
    assert said == ["mean", "sum", None]
    if command == "path":
        assert means["breakpoints"]["lambda"] == pytest.approx(
            weighted["breakpoints"]["lambda"], rel=1e-9
        )
        assert means["breakpoints"]["lambda"][0] != pytest.approx(
            sums["breakpoints"]["lambda"][0], rel=1e-3
        )
    else:
        assert set(optima(means)) == {"rank.l1", "rank.l2", "rank.onenorm", "rvm"}
        assert optima(means) == pytest.approx(optima(weighted), rel=1e-6)
        assert optima(means)["rank.l1"] != pytest.approx(optima(sums)["rank.l1"], rel=1e-3)


def test_a_penalised_bias_is_the_weight_of_a_column_of_ones(classes: Path, tmp_path: Path) -> None:
    penalised = record(
        tmp_path / "a.json", "compare", str(classes), "--drop", "one", "--bias", "penalized", *QUICK
    )
    with_ones = record(
        tmp_path / "b.json",
        "compare",
        str(classes),
        "--bias",
        "none",
        "--family",
        "svm.nobias*",
        *QUICK,
    )
    assert set(optima(penalised)) == {"svm.nobias", "svm.nobias_l2"}
    for family, optimum in optima(penalised).items():
        assert optimum == pytest.approx(optima(with_ones)[family], rel=1e-6)
    followed = record(
        tmp_path / "c.json", "path", str(classes), "--drop", "one", "--bias", "penalized"
    )
    by_ones = record(tmp_path / "d.json", "path", str(classes), "--bias", "none")
    assert followed["breakpoints"]["lambda"] == pytest.approx(
        by_ones["breakpoints"]["lambda"], rel=1e-6, abs=1e-9
    )
    assert (followed["settings"]["kernel"], followed["settings"]["bias"]) == (
        {"name": "linear"},
        "penalized",
    )


def test_families_are_those_with_the_bias_that_was_asked_for(tmp_path: Path) -> None:
    all_of_them = set(optima(record(tmp_path / "a.json", "compare", "xor", *QUICK)))
    free = set(optima(record(tmp_path / "b.json", "compare", "xor", "--bias", "free", *QUICK)))
    none = set(optima(record(tmp_path / "c.json", "compare", "xor", "--bias", "none", *QUICK)))
    assert free | none == all_of_them
    assert none == {name for name in all_of_them if "nobias" in name}
    assert not free & none


def test_headings_and_pages_say_the_choice(documents: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ["compare", str(documents), "--per-query", "mean", *QUICK, "--html", str(page)]
    output = run(*asked)
    assert "linear kernel, the mean of the losses of a query's pairs, C=1" in output
    (command,) = re.findall("<code>(.*?)</code>", page.read_text())
    assert shlex.split(unescape(command)) == ["equimargin", *asked]
    assert {("per_query", "mean"), ("bias", "not given")} <= settings(page)
    drawn = tmp_path / "path.svg"
    assert "linear kernel, a penalised bias" in run(
        "path", "xor", "--bias", "penalized", "--html", str(page), "--plot", str(drawn)
    )
    assert {("kernel", "linear"), ("bias", "penalized")} <= settings(page)
    assert "one-norm families have no penalised bias" in run(
        "compare", "xor", "--bias", "penalized", *QUICK
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "compare xor --per-query mean",
            "--per-query is for a ranking by query, and the task is classification",
        ),
        ("compare diabetes_ranking --per-query mean", "--per-query: the data have no queries"),
        (
            "compare diabetes_ranking --bias penalized",
            "--bias is for classification: a ranking has no bias",
        ),
        (
            "compare diabetes --bias none",
            "--bias is for classification: a regression has a free bias",
        ),
        (
            "compare iris_ranking --task ordinal --bias free",
            "--bias is for classification: an ordinal regression has thresholds",
        ),
        ("compare --family lasso --draw 1 --bias none", "--bias does not apply to lasso"),
        (
            "compare xor --bias free --family svm.nobias",
            "svm.nobias: a classification with a free bias has no such family; choose svm.soft,",
        ),
        ("compare xor --bias some", "'some' is not one of free, none, penalized"),
        ("path diabetes --bias none", "--bias is for classification: a regression has a free bias"),
        ("path diabetes_ranking --per-query mean", "--per-query: the data have no queries"),
        (
            "path xor --bias penalized --family svm.nobias",
            "--bias penalized: --family svm.nobias determines the bias",
        ),
        (
            "path xor --bias penalized --validate 2",
            "--validate 2: folds do not support --bias penalized",
        ),
        ("compare iris_ranking --task ordinal --delta 0.5", "which is compared for two classes"),
        ("compare diabetes --delta 0.5", "which is compared for two classes"),
    ],
)
def test_what_makes_no_sense_is_refused_by_the_name_of_its_option(
    arguments: str, said: str
) -> None:
    assert said in refusal(*arguments.split())


def test_preferences_have_no_mean(documents: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("preferred,other\n0,1\n3,4\n")
    said = refusal("compare", str(documents), "--preferences", str(pairs), "--per-query", "mean")
    assert (
        "--per-query is for labels, and the pairs of --preferences have their own weights" in said
    )


def test_folds_are_followed_without_a_bias_where_it_is_asked_for(tmp_path: Path) -> None:
    more = ("iris", "--sample", "30", "--validate", "3", "--lambda-min", "0.01")
    asked = record(tmp_path / "a.json", "path", *more, "--bias", "none")
    named = record(tmp_path / "b.json", "path", *more, "--family", "svm.nobias")
    assert asked["selected"] == named["selected"]
