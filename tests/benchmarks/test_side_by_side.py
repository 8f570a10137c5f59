"""Table of `make bench`: every peer runs at its own accuracy.

A missing peer still has a line.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pytest

from places import ROOT


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("side_by_side")


def test_a_row_has_a_line_for_each_peer_and_names_the_missing(table: Any) -> None:
    there = {
        package.name: package
        for package in table.packages()
        if package.name in ("scikit-learn SVC", "scikit-learn LinearSVC")
    }
    kernel = next(row for row in table.rows() if row.number == 3)
    linear = replace(
        next(row for row in table.rows() if row.number == 4),
        must={"scikit-learn LinearSVC": 1.5, "absent": 2.0},
    )
    missing, measured = table.beside(kernel, there)
    assert (missing["peer"], missing["said"], missing["ratio"]) == ("LIBSVM", "not installed", None)
    # This is a gap.
    assert 0 < measured["reached"] < 1e-3
    assert measured["ratio"] == measured["peer s"] / measured["ours s"]
    measured, missing = table.beside(linear, there)
    # This is a distance from the optimum.
    assert 0 <= measured["reached"] < 1e-3
    assert missing["said"] == "not installed"


def test_a_loose_gap_is_beside_a_tight_one(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MANY_POINTS", {"few": lambda: table.svm.classes("200 x 5")})
    (found,) = table.tolerances()
    assert found["row"] == 19
    assert found["ratio"] == found["peer s"] / found["ours s"]
    loose, tight = (int(text.split()[0].replace(",", "")) for text in found["said"].split(" of "))
    assert loose <= tight


def test_rows_of_many_points_have_two_tolerances_of_two_peers(table: Any) -> None:
    many = list(table.rows_of_many_points())
    assert {row.number for row in many} == {17, 18}
    assert {row.level for row in many} == {1, 2}
    assert all(row.must == {"LIBSVM": 10, "sklearnex SVC": 3} for row in many)
    assert len(many) == 2 * (len(table.MANY_POINTS) + len(table.MOST_POINTS))


@pytest.mark.parametrize(
    ("name", "shape"), [("census", (16_281, 6)), ("cover", (500, 54)), ("images", (50, 784))]
)
def test_drawn_data_have_their_shape(table: Any, name: str, shape: tuple[int, int]) -> None:
    draw = getattr(table.instances, name)
    X, y = draw() if name == "census" else draw(shape[0])
    assert X.shape == shape
    assert 0.1 < (y == 1).mean() < 0.9


def test_a_ratio_below_what_is_asked_for_is_short(table: Any) -> None:
    assert table.line(1, "work", "peer", 2.0, 4.0, 1e-3, 3.0)[""] == "SHORT"
    assert not table.line(1, "work", "peer", 2.0, 4.0, 1e-3, 2.0)[""]
    assert not table.line(1, "work", "peer", None, must=3.0, said="not installed")[""]


def test_every_peer_of_a_row_is_in_the_table_of_packages(table: Any) -> None:
    known = {package.name: package for package in table.packages()}
    rows = [*table.rows(), *table.rows_of_many_points()]
    assert all(row.problem in known[name].problems for row in rows for name in row.must)
