"""Certified maps: every pair has a proven gap, limits are kept, and the campaign judges."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from campaigns import nightly_map as campaign
from campaigns.runner import At
from equimargin.formulations import classification, linear, rbf
from equimargin.solvers import CertifiedMap, Status, certified_map, solve

RNG = np.random.default_rng(4)
X = RNG.normal(size=(14, 2))
Y = np.where(X[:, 0] ** 2 + X[:, 1] + 0.5 * RNG.normal(size=14) > 0.5, 1.0, -1.0)
PROBLEM = classification(X, Y, kernel=rbf(1.0))
LAMBDAS, GAMMAS = (0.2, 4.0), (0.3, 1.5)


@pytest.fixture(scope="module")
def found() -> CertifiedMap:
    return certified_map(PROBLEM, LAMBDAS, GAMMAS, 0.02, max_solves=200)


def test_cells_tile_the_rectangle(found: CertifiedMap) -> None:
    def area(lambdas: Any, gammas: Any) -> float:
        return math.log(lambdas[1] / lambdas[0]) * math.log(gammas[1] / gammas[0])

    total = sum(area(cell.lambdas, cell.gammas) for cell in found.cells)
    assert total == pytest.approx(area(LAMBDAS, GAMMAS))
    for _ in range(50):
        lam, gamma = (float(np.exp(RNG.uniform(*np.log(ends)))) for ends in (LAMBDAS, GAMMAS))
        cell = found.cell(lam, gamma)
        assert cell.lambdas[0] * (1 - 1e-15) <= lam <= cell.lambdas[1] * (1 + 1e-15)
        assert cell.gammas[0] <= gamma <= cell.gammas[1]


def test_map_is_complete_with_few_solves(found: CertifiedMap) -> None:
    assert found.complete
    assert found.gap <= found.eps
    # Cells share corners; other directions of halving need about twice as many.
    assert len(found) < found.solves <= 2 * len(found) + 4
    assert found.solves <= 60


def test_smaller_gap_needs_more_solves(found: CertifiedMap) -> None:
    rough = certified_map(PROBLEM, LAMBDAS, GAMMAS, 0.1, max_solves=200)
    assert rough.complete
    assert rough.solves < found.solves


def test_campaign_detects_wrong_maps(found: CertifiedMap) -> None:
    rng = np.random.default_rng(1)
    assert not list(campaign.complaints(found, rng))
    for change, sentence in (
        ({"upper": 0.0}, "misses the solution"),
        ({"gap": 1e-9}, "above"),
        ({"gap": np.inf}, "not complete"),
    ):
        cells = tuple(replace(cell, bound=replace(cell.bound, **change)) for cell in found.cells)
        wrong = replace(found, cells=cells)
        assert any(sentence in said for said in campaign.complaints(wrong, rng))
    turned = tuple(replace(cell, corners=cell.corners[::-1]) for cell in found.cells)
    assert any("above" in said for said in campaign.complaints(replace(found, cells=turned), rng))


def test_limits_end_the_map_and_leave_it_valid() -> None:
    few = certified_map(PROBLEM, LAMBDAS, GAMMAS, 1e-3, max_solves=20)
    assert few.solves <= 20
    assert not few.complete
    assert few.stopped == "the limit of solves ended the map early"
    # The cells with the largest gaps are halved first.
    assert few.gap < 0.2
    solution = few.at(1.0, 1.0)
    assert solution.status in (Status.OPTIMAL, Status.FINISHED)
    assert solution.lower <= solution.upper
    none = certified_map(PROBLEM, LAMBDAS, GAMMAS, 1e-3, time_limit=1e-3)
    assert none.stopped in (
        "the time limit ended the map early",
        "the accuracy of the solutions ended the map early",
    )
    assert json.loads(json.dumps(none.record()))["gap"] is None


def test_corners_that_are_not_solved_end_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "equimargin.solvers.batches.certified_map.solve",
        lambda problem, **options: solve(problem, tol=1e-2, max_iter=1),
    )
    stuck = certified_map(PROBLEM, LAMBDAS, GAMMAS, 1e-4)
    assert not stuck.complete
    assert stuck.stopped == "the accuracy of the solutions ended the map early"
    assert stuck.solves < 100


def test_record_is_json_with_every_cell(found: CertifiedMap) -> None:
    record = json.loads(json.dumps(found.record()))
    assert record["solves"] == found.solves
    assert [cell["gap"] for cell in record["cells"]] == [cell.gap for cell in found.cells]
    assert record["cells"][0]["optimum"] == list(found.cells[0].interval)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": classification(X, Y, kernel=linear())}, "kernel must be rbf"),
        (
            {"problem": classification(X, Y, kernel=rbf(1.0), sample_weight=[math.inf] * 14)},
            "weights must be finite",
        ),
        ({"lambdas": (1.0, 0.5)}, "lambdas must increase, not from 1 to 0.5"),
        ({"lambdas": (1.0,)}, "lambdas must be two numbers, lowest and highest, not 1"),
        ({"gammas": (0.0, 0.5)}, "gammas"),
        ({"gammas": (0.1, math.inf)}, "gammas"),
        ({"eps": 0.0}, "eps must be a number from 1e-6 to 0.5"),
        ({"max_solves": 3}, "max_solves must be at least 4"),
        ({"time_limit": -1.0}, "time_limit"),
    ],
)
def test_bad_arguments_get_a_sentence(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"problem": PROBLEM, "lambdas": LAMBDAS, "gammas": GAMMAS}
    with pytest.raises(ValueError, match=message):
        certified_map(**(arguments | change))


@pytest.mark.parametrize("pair", [(0.1, 1.0), (1.0, 2.0), (math.nan, 1.0)])
def test_pair_outside_the_map_gets_a_sentence(
    found: CertifiedMap, pair: tuple[float, float]
) -> None:
    with pytest.raises(ValueError, match=r"must be from 0\.[23] to (4|1\.5)"):
        found.at(*pair)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(campaign.KINDS)))
def test_map_of_every_kind_holds(number: int) -> None:
    task = campaign.drawn(At(5, 0, number))
    assert not campaign.judged(task, At(5, 0, number)).said
