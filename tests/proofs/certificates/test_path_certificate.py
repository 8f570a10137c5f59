"""Certificates of paths: the gap holds at every lambda, and changes are refused."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from campaigns import certificate_mutations as mutant
from equimargin.cli.app import app
from equimargin.data import load
from equimargin.formulations import (
    MarginProblem,
    classification,
    linear,
    one_norm_ranking,
    polynomial,
    ranking,
    rbf,
    regression,
)
from equimargin.proofs import checker, path_certificate, write_certificate
from equimargin.proofs.certificates.problem import state
from equimargin.solvers import RegularizationPath, regularization_path
from equimargin.testing import sample_problem
from narrow import as_a
from places import example
from public_data import SHARED, needs_data


def path_of(problem: MarginProblem, lambda_min: float = 1e-2) -> RegularizationPath:
    return as_a(RegularizationPath, regularization_path(problem, lambda_min))


def of_family(family: str, seed: int = 0) -> MarginProblem:
    """Return a small problem with a path whose exact optima are quickly computed."""
    kernel = polynomial(2, 0.5, 1.0) if seed % 2 else linear()
    return as_a(MarginProblem, sample_problem(family, kernel, n=7, seed=seed))


def proved(document: Any) -> checker.PathClaim:
    """Return the claim that the checker accepts, or raise ValueError."""
    return checker.check_path(json.dumps(document).encode())


@settings(max_examples=20)
@given(
    st.sampled_from(mutant.WITH_A_PATH),
    st.integers(0, 1000),
    st.sampled_from([0.1, 1e-2, 1e-5]),
    st.data(),
)
def test_every_lambda_has_an_objective_near_the_exact_optimum(
    family: str, seed: int, gap: float, data: st.DataObject
) -> None:
    problem = of_family(family, seed)
    if data.draw(st.booleans()):
        count = (
            problem.p if family.startswith("svr") else problem.m if family.startswith("svm") else 1
        )
        problem = replace(
            problem,
            weights=np.array(
                data.draw(
                    st.lists(st.sampled_from([0.5, 1.0, 0.3]), min_size=count, max_size=count)
                )
            ),
        )
    path = path_of(problem)
    if not len(path):
        return
    high = 2.0 * float(path.lambdas[0])
    document = path_certificate(path, 0.05 * high, high, gap)
    claim = proved(document)
    assert tuple(map(float, claim[1:])) == (0.05 * high, high, gap)
    for share in data.draw(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=2)):
        assert mutant.path_holds(document, 1 / (high * 0.05**share))


PROBLEMS: dict[str, Callable[[], MarginProblem]] = {
    "svm.soft": lambda: classification(load("iris").scaled().X, load("iris").y, kernel=rbf(0.5)),
    "svr.l1": lambda: regression(
        load("diabetes").scaled().X[:60], load("diabetes").y[:60], epsilon=10.0, kernel=rbf(0.1)
    ),
    "rank.l1": lambda: ranking(
        load("diabetes_ranking").X[:40], load("diabetes_ranking").y[:40], kernel=linear()
    ),
}


@pytest.mark.parametrize("family", PROBLEMS)
def test_a_smaller_gap_takes_more_points_and_no_more_than_there_are_breakpoints(
    family: str,
) -> None:
    path = path_of(PROBLEMS[family](), 1e-1)
    counts = []
    for gap in (1e-1, 1e-3, 1e-6):
        document = path_certificate(path, gap=gap)
        assert proved(document).gap == checker.rational(gap)
        counts.append(len(document["path"]["points"]))
    assert counts[0] < counts[1] < counts[2] <= len(path)


def test_one_point_is_a_range_too() -> None:
    path = path_of(of_family("svm.soft"))
    lam = float(path.lambdas[len(path) // 2])
    document = path_certificate(path, lam, lam, 1e-6)
    assert (len(document["path"]["points"]), float(proved(document).low)) == (1, lam)


def test_the_objective_of_the_file_is_that_of_the_path() -> None:
    """Its functions are those of the path at the points, so that its predictions are, too."""
    problem = of_family("rank.l1")
    path = path_of(problem)
    document = path_certificate(path, gap=1e-6)
    point = document["path"]["points"][0]
    judge = checker.read_problem(state(problem.with_cost(1.0)))
    knot = next(checker.list_of_knots(judge, document["path"]))
    assert point["lambda"] == path.lambdas[0]
    g = [v / knot.g.unit for v in knot.g.values[:-1]]
    np.testing.assert_allclose(
        np.subtract(g, g[0]), path.g[0] - path.g[0][0], rtol=1e-5, atol=1e-6 * max(map(abs, g))
    )


def tampered(document: dict[str, Any], change: Callable[[Any], None]) -> dict[str, Any]:
    """Return a certificate that is changed and signed again."""
    changed = copy.deepcopy(document)
    change(changed)
    return mutant.signed(changed)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a multiplier": lambda document: document["path"]["points"][2]["numerators"].__setitem__(
        0, document["path"]["denominator"] // 2
    ),
    "a breakpoint": lambda document: document["path"]["points"][2].update(
        {"lambda": 1.1 * document["path"]["points"][2]["lambda"]}
    ),
    "a bias": lambda document: document["path"]["points"][2].update(
        b=document["path"]["points"][2]["b"] + 1.0
    ),
    "a piece": lambda document: document["path"].update(
        points=document["path"]["points"][:2] + document["path"]["points"][6:]
    ),
    "the end": lambda document: document["path"]["points"].pop(),
    "the gap": lambda document: document["claim"].update(gap=document["claim"]["gap"] / 10),
    "the range": lambda document: document["claim"].update({"from": document["claim"]["from"] / 2}),
    "the data": lambda document: document["problem"]["features"][0].__setitem__(0, 3.0),
    "the cost": lambda document: document["problem"].update(C=2.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_tampered_path_is_rejected(name: str) -> None:
    document = path_certificate(path_of(PROBLEMS["svm.soft"](), 1e-1), gap=1e-3)
    assert len(document["path"]["points"]) > 8
    proved(document)
    with pytest.raises(ValueError, match=r" does not hold: "):
        proved(tampered(document, CHANGES[name]))
    with pytest.raises(ValueError, match=r"^digests_match does not hold: "):
        proved(document | {"path": tampered(document, CHANGES["a bias"])["path"]})


@pytest.mark.parametrize("family", mutant.WITH_A_PATH)
def test_no_changed_path_is_accepted_with_a_false_gap(family: str) -> None:
    rng = np.random.default_rng(len(family))
    document = path_certificate(path_of(of_family(family)), gap=1e-2)
    outcomes = [
        mutant.path_outcome(changed, rng) for _, changed in mutant.mutations(document, rng, 60)
    ]
    assert mutant.OUTCOMES[0] in outcomes
    assert mutant.OUTCOMES[2] not in outcomes


def test_a_false_gap_would_be_noticed() -> None:
    """The oracle of the mutations rejects a path with halved multipliers."""
    document = path_certificate(path_of(of_family("svm.nobias")), gap=1e-6)
    for point in document["path"]["points"]:
        point["numerators"] = [numerator // 2 for numerator in point["numerators"]]
    claim = document["claim"]
    assert not mutant.path_holds(document, 1 / math.sqrt(claim["from"] * claim["to"]))


def public(name: str) -> MarginProblem:
    """Return the problem of document P's data, or of the first queries of MQ2008.

    Document P's data have all pairs and an RBF kernel.
    """
    if name == "mq2008":
        data = load(SHARED / "mq2008" / "S1.txt")
        assert data.qid is not None
        kept = np.isin(data.qid, list(dict.fromkeys(data.qid.tolist()))[:20])
        return ranking(data.X[kept], data.y[kept], data.qid[kept])
    tables = example("path_tables")
    points = tables.read(SHARED)[name]
    if name == "Auto":
        (points,) = tables.scaled((points.part(np.random.default_rng(0).permutation(392)[:196]),))
    return ranking(points.X, points.y, kernel=rbf(1 / points.X.shape[1]))


@pytest.mark.slow
@needs_data("mq2008/S1.txt", "esl-mixture.csv", "auto-mpg.csv", "pima.csv")
@pytest.mark.parametrize(
    ("name", "pairs"), [("Mixtures", 10_000), ("Auto", 18_711), ("mq2008", 499)]
)
def test_public_data_have_certified_paths(name: str, pairs: int) -> None:
    problem = public(name)
    assert problem.p == pairs
    path = path_of(problem, 1e-2)
    document = path_certificate(path, gap=1e-2)
    assert len(document["path"]["points"]) < 30 < 1000 < len(path)
    proved(document)
    with pytest.raises(ValueError, match=r"^gap_is_proved_between_points does not hold: "):
        proved(
            tampered(
                document,
                lambda changed: changed["path"].update(
                    points=without_middle(changed["path"]["points"])
                ),
            )
        )


def without_middle(points: list[Any]) -> list[Any]:
    """Return the points without three; the one after them lists their changes, too."""
    middle, later = len(points) // 2, len(points) // 2 + 3
    changes: dict[int, int] = {}
    for point in points[middle : later + 1]:
        changes |= dict(zip(point["rows"], point["numerators"], strict=True))
    return [
        *points[:middle],
        points[later] | {"rows": list(changes), "numerators": list(changes.values())},
        *points[later + 1 :],
    ]


def test_what_has_no_certified_path_is_a_sentence() -> None:
    path = path_of(PROBLEMS["svm.soft"](), 1.0)
    with pytest.raises(ValueError, match=r"a one-norm problem has no certificate"):
        path_certificate(
            regularization_path(
                one_norm_ranking([[0.0], [1.0]], [0, 1], None)  # type: ignore[arg-type]
            )
        )
    with pytest.raises(ValueError, match="the path ends at lambda"):
        path_certificate(path, float(path.lambdas[-1]) / 10)
    with pytest.raises(ValueError, match="is empty"):
        path_certificate(path, 2.0, 1.0)
    with pytest.raises(ValueError, match="gap must be a positive number"):
        path_certificate(path, gap=0.0)
    with pytest.raises(ValueError, match="does not prove a gap of 1e-30"):
        path_certificate(path, gap=1e-30)


def test_the_command_line_certifies_and_checks(tmp_path: Path) -> None:
    runner, file = CliRunner(), tmp_path / "path.json"
    options = ["--sample", "40", "--lambda-min", "0.1", "--certify", str(file)]
    answer = runner.invoke(app, ["path", "iris", *options, "--certify-gap", "0.01"])
    assert answer.exit_code == 0, answer.output
    assert "prove a relative gap of 0.01 at every lambda from 0.1 to " in " ".join(
        answer.output.split()
    )
    answer = runner.invoke(app, ["verify", str(file)])
    assert (
        answer.exit_code,
        "ACCEPTED: svm.soft: for every lambda in [0.1, " in answer.output,
    ) == (0, True)
    file.write_text(file.read_text().replace('"gap":0.01', '"gap":0.001', 1))
    answer = runner.invoke(app, ["verify", str(file)])
    assert (
        answer.exit_code,
        "REJECTED: digests" in answer.output or "REJECTED: gap_is" in answer.output,
    ) == (1, True)
    answer = runner.invoke(app, ["path", "iris", "--family", "svm.onenorm", *options])
    assert (
        answer.exit_code,
        "one-norm problem has no certificate" in " ".join(answer.output.split()),
    ) == (2, True)
    write_certificate(path_certificate(path_of(of_family("rank.l1"))), file)
    assert checker.main([str(file)]) == 0
