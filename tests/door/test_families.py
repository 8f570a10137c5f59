"""Comparison of arrays as problems: the task is inferred from the data or named."""

from __future__ import annotations

import json
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.comparison import compare
from equimargin.data import load
from equimargin.formulations import classification, rbf
from equimargin.problems import (
    make_margin_problem_from_data,
    make_problems_from_arrays,
    make_problems_from_data,
)
from equimargin.request import CompareOptions, ComparisonRequest, ProblemOptions

X = np.random.default_rng(0).normal(size=(12, 2))
FEW: dict[str, Any] = {"solvers": ["CLARABEL", "smo", "coordinate_descent", "linear_program"]}


@pytest.mark.parametrize(
    ("y", "how", "families"),
    [
        (
            np.arange(12) % 2,
            {},
            [
                "svm.soft",
                "svm.nobias",
                "svm.l2",
                "svm.nobias_l2",
                "svm.onenorm",
                "svm.nobias_onenorm",
            ],
        ),
        (np.where(X[:, 0] > 0, "b", "a"), {"C": np.inf}, ["svm.hard", "svm.nobias_hard"]),
        (X[:, 0], {}, ["svr.l1", "svr.l2"]),
        (np.arange(12) % 2, {"task": "regression"}, ["svr.l1", "svr.l2"]),
        (
            np.arange(12) % 3,
            {"qid": np.repeat([0, 1], 6)},
            ["rank.l1", "rank.l2", "rank.onenorm", "rvm"],
        ),
        (np.arange(12) % 3, {"task": "ranking", "C": np.inf}, ["rank.hard"]),
    ],
)
def test_the_task_is_that_of_the_data(y: Any, how: dict[str, Any], families: list[str]) -> None:
    assert [problem.family for problem in make_problems_from_arrays(X, y, **how)] == families


def test_arrays_are_compared_as_the_problems_they_pose() -> None:
    y = np.where(X[:, 0] + X[:, 1] > 0.3, "yes", "no")
    found = compare(X, y=y, kernel=rbf(0.5), C=2.0, **FEW)
    posed = classification(X, np.where(y == "yes", 1.0, -1.0), 2.0, rbf(0.5))
    assert found.agree
    wanted = compare(posed, **FEW).families[0].interval
    assert found.families[0].interval.lower <= wanted.upper
    assert wanted.lower <= found.families[0].interval.upper


def test_arguments_may_come_by_their_places() -> None:
    """The argument after X is y, numbers or words; after problems the order is as before."""
    y, qid = np.arange(12) % 3, np.repeat([0, 1], 6)
    named = compare(X, y=y, qid=qid, **FEW)
    for first in (X, X.tolist()):
        placed = compare(first, y.tolist(), qid=qid, **FEW)
        assert [family.id for family in placed.families] == [
            "rank.l1",
            "rank.l2",
            "rank.onenorm",
            "rvm",
        ]
        assert [family.interval for family in placed.families] == [
            family.interval for family in named.families
        ]
    words = np.where(X[:, 0] > 0, "spam", "ham")
    chosen = compare(X, words.tolist(), formulations="svm.soft.d*", solvers="CLARABEL", tol=1e-7)
    assert {answer["formulation"] for answer in chosen.answers} == {"svm.soft.dual"}
    problems = make_problems_from_arrays(X, words)
    for given in (problems, tuple(problems)):
        old = compare(given, ["svm.soft.d*"], "CLARABEL", 1e-7, 1e-5)
        assert [answer["formulation"] for answer in old.answers] == [
            answer["formulation"] for answer in chosen.answers
        ]
        assert (old.settings["tol"], old.settings["agree_tol"], chosen.settings["agree_tol"]) == (
            1e-7,
            1e-5,
            1e-6,
        )


def test_an_argument_too_many_or_twice_is_refused() -> None:
    y = np.sign(X[:, 0])
    with pytest.raises(TypeError, match="after X compare takes y; pass all else by name"):
        compare(X, y, "svm.soft")
    with pytest.raises(
        TypeError,
        match="after problems compare takes formulations, solvers, tol, agree_tol; "
        "pass all else by name",
    ):
        compare(classification(X, y), "*", "*", 1e-8, 1e-6, 60.0)
    with pytest.raises(TypeError, match="compare received y by position and by name"):
        compare(X, y, y=y)


def test_what_is_neither_a_problem_nor_arrays_is_refused() -> None:
    cases: list[tuple[Any, dict[str, Any]]] = [
        (X, {}),
        ([classification(X, np.sign(X[:, 0]))], {"task": "ranking"}),
        (["wine"], {}),
    ]
    for given, more in cases:
        with pytest.raises(
            ValueError,
            match=r"compare takes a problem, several problems, loaded data, .* compare\(X, y\)",
        ):
            compare(given, **more)
    with pytest.raises(
        ValueError, match="has 21 classes, and a one-versus-one classification takes 20 at"
    ):
        compare(np.zeros((21, 2)), y=np.arange(21), task="classification")
    with pytest.raises(
        ValueError,
        match="task must be 'classification' or 'regression' or 'ranking', not 'sorting'",
    ):
        make_problems_from_arrays(X, np.arange(12), task="sorting")


def test_a_request_has_the_fields_that_are_keyword_arguments_of_compare() -> None:
    requested = [each.name for each in fields(ComparisonRequest)]
    assert requested == [
        name
        for name in CompareOptions.__annotations__
        if name != "y" and name not in ProblemOptions.__annotations__
    ]


def test_numbers_of_a_request_may_be_of_any_type_that_has_a_float() -> None:
    how: dict[str, Any] = {"time_limit": Decimal(60), "patient": True}
    found = compare(classification(X, np.sign(X[:, 0])), "svm.soft.*", "CLARABEL", **how)
    assert (found.settings["time_limit"], found.settings["patient"]) == (60.0, True)
    how = {"total_time": Fraction(1, 10000), "patient": np.bool_(False), "jobs": np.int64(1)}
    cut = compare(classification(X, np.sign(X[:, 0])), **how)
    assert cut.interrupted == "the total time of 0.0001 s is over"
    settings = json.loads(cut.to_json())["settings"]
    assert (settings["total_time"], settings["patient"]) == (1e-4, False)


def test_patterns_may_be_any_iterable() -> None:
    problem = classification(X, np.sign(X[:, 0]))
    wanted = ["svm.soft.primal", "svm.l2.primal"]
    listed, generated = (
        compare(problem, how, (each for each in ["CLARABEL"]))
        for how in (wanted, (each for each in wanted))
    )
    assert "svm.l2.primal declares svm.l2" in " ".join(listed.left_out)
    assert generated.left_out == listed.left_out


@pytest.mark.parametrize(
    ("formulations", "said"), [(None, "None"), ([3], "3"), (["svm.soft.*", None], "None")]
)
def test_formulations_that_are_no_names_are_refused(formulations: Any, said: str) -> None:
    with pytest.raises(
        TypeError, match=f"formulations are names or patterns, such as 'svm.soft.\\*', not {said}; "
    ):
        compare(classification(X, np.sign(X[:, 0])), formulations=formulations)


@pytest.mark.parametrize("make", [make_margin_problem_from_data, make_problems_from_data])
def test_preferences_have_no_variant(make: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n0,1\n1,0\n2,2\n", encoding="utf-8")
    (tmp_path / "pairs.csv").write_text("preferred,other\n0,1\n1,2\n", encoding="utf-8")
    data = load(str(tmp_path / "rows.csv"), preferences=str(tmp_path / "pairs.csv"))
    with pytest.raises(ValueError, match="a ranking by preferences has no per_query; leave it out"):
        make(data, per_query="mean")
