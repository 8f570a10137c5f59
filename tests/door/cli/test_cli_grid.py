"""`equimargin path --grid`: K's choice of C and gamma on a validation file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import CliRunner

from emulated.arrays import emulated_card
from emulated.kernels import needs_a_compiler
from equimargin.cli.app import app
from equimargin.selection import costs
from equimargin.solvers import solve

RUN = CliRunner()
QUERIES, DOCUMENTS = 4, 5


def rows_of(seed: int) -> tuple[Any, Any, Any]:
    """Return documents of queries, their relevances and their queries."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((QUERIES * DOCUMENTS, 2)), 3)
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(len(X))
    return X, np.digitize(score, [-0.5, 0.6]), np.repeat(np.arange(QUERIES), DOCUMENTS)


def write_rows(path: Path, rows: tuple[Any, Any, Any]) -> None:
    """Write rows in the format of LETOR."""
    path.write_text(
        "".join(f"{y} qid:{q + 1} 1:{x[0]} 2:{x[1]}\n" for x, y, q in zip(*rows, strict=True))
    )


def files(tmp_path: Path) -> tuple[str, str]:
    """Write a training and a validation file."""
    for name, seed in (("train", 0), ("held_out", 1)):
        write_rows(tmp_path / f"{name}.txt", rows_of(seed))
    return str(tmp_path / "train.txt"), str(tmp_path / "held_out.txt")


def scores_by_cvxpy(squared: bool, gamma: float, C: float) -> Any:
    """Return scores of the held-out rows: K (1.2) with squared slacks, by its dual."""
    (X, y, query), (Z, _, _) = rows_of(0), rows_of(1)
    distance = [np.linalg.norm(A[:, None] - X, axis=2) for A in (X, Z)]
    K, across = (np.exp(-gamma * (d**2 if squared else d)) for d in distance)
    pairs = np.argwhere((y[:, None] > y) & (query[:, None] == query))
    A = np.zeros((len(pairs), len(X)))
    A[np.arange(len(pairs)), pairs[:, 0]], A[np.arange(len(pairs)), pairs[:, 1]] = 1, -1
    alpha = cp.Variable(len(pairs), nonneg=True)
    L = np.linalg.cholesky(K + 1e-13 * np.eye(len(K)))
    norm = cp.sum_squares(L.T @ A.T @ alpha) / 2
    dual = cp.sum(alpha) - norm - cp.sum_squares(alpha) / (4 * C)
    cp.Problem(cp.Maximize(dual)).solve(solver="CLARABEL")
    return across @ A.T @ alpha.value


def mean_ndcg(scores: Any) -> float:
    """Return the mean over queries of the mean of NDCG@1 to NDCG@n, as K prints it."""
    _, y, query = rows_of(1)
    values = []
    for q in range(QUERIES):
        relevance, order = y[query == q], np.argsort(-scores[query == q])
        # K 4.2: d(1) = d(2) = 1, and 1 / log2(i) from the third place on.
        discount = 1 / np.log2(np.maximum(np.arange(1, len(relevance) + 1), 2))
        gains = [
            np.cumsum((2.0**r - 1) * discount) for r in (relevance[order], np.sort(relevance)[::-1])
        ]
        if gains[1][0] > 0:
            values.append(float(np.mean(gains[0] / gains[1])))
    return float(np.mean(values))


@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
def test_grid_has_the_scores_of_solutions_by_cvxpy(kernel: str, tmp_path: Path) -> None:
    train, held_out = files(tmp_path)
    file = tmp_path / "grid.json"
    how = ["--kernel", kernel, "--validate", held_out, "--metric", "mean_ndcg", "--grid"]
    result = RUN.invoke(app, ["path", train, *how, "--json", str(file)])
    assert result.exit_code == 0, result.output
    found = json.loads(file.read_text())
    costs = {row["C"] for row in found["rows"]}
    gammas = {row["kernel"]["gamma"] for row in found["rows"]}
    assert costs == {2.0**e for e in range(-5, 6)}
    assert gammas == {2.0**e for e in range(-6, 0)}
    assert len(found["rows"]) == len(costs) * len(gammas)
    best = max(found["rows"], key=lambda row: row["score"])
    assert found["best"]["score"] == best["score"]
    assert "<- best" in result.output
    assert f"best mean_ndcg {best['score']:.6g} on {held_out}: at C = " in result.output
    for row in found["rows"][::13]:
        scores = scores_by_cvxpy(kernel == "rbf", row["kernel"]["gamma"], row["C"])
        assert row["score"] == pytest.approx(mean_ndcg(scores), abs=1e-6)
        assert row["gap"] <= 1e-6


def test_given_gamma_and_kernel_without_gamma_have_one_kernel(tmp_path: Path) -> None:
    train, held_out = files(tmp_path)
    for chosen in (["--kernel", "rbf", "--gamma", "0.5"], ["--kernel", "linear"]):
        file = tmp_path / "grid.json"
        how = ["--validate", held_out, "--grid", "--json", str(file)]
        assert RUN.invoke(app, ["path", train, *chosen, *how]).exit_code == 0
        found = json.loads(file.read_text())
        assert len(found["rows"]) == 11
        assert found["metric"] == "pairwise_accuracy"


def test_grid_by_folds_keeps_queries_whole(tmp_path: Path) -> None:
    train, _ = files(tmp_path)
    result = RUN.invoke(app, ["path", train, "--kernel", "rbf", "--validate", "2", "--grid"])
    assert result.exit_code == 0, result.output
    assert result.output.count("RBF(") == 67
    assert "validated on 2 folds" in result.output


def test_grid_that_a_time_limit_ends_has_the_status_of_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem this small may be solved before any clock is read: a point stands for its end."""
    train, held_out = files(tmp_path)
    limits = []

    def stopped(problem: Any, *, time_limit: float | None, tol: float, **_: Any) -> Any:
        limits.append(time_limit)
        return solve(problem, "coordinate_descent", tol=tol, max_iter=1)

    monkeypatch.setattr(costs, "solve", stopped)
    arguments = ["path", train, "--validate", held_out, "--grid", "--time-limit", "1e-9"]
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 1, result.output
    assert "relative gap at most" in result.output
    assert set(limits) == {1e-9}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--grid"], "add --validate FILE"),
        (["--grid", "--validate", "2", "--lambda-min", "0.1"], "--lambda-min is for a path"),
        (["--grid", "--validate", "2", "--plot", "x.svg"], "--plot is for a path"),
        (["--grid", "--validate", "2", "--family", "rvm"], "--family is for a path"),
        (["--device", "cuda"], "--device is for --grid"),
        (["--grid", "--validate", "2", "--device", "cuda"], "there is no bias"),
    ],
)
def test_grid_refuses_in_a_sentence(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = RUN.invoke(app, ["path", files(tmp_path)[0], *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_grid_refuses_more_than_two_classes(tmp_path: Path) -> None:
    file = tmp_path / "classes.csv"
    file.write_text("x,y\n" + "".join(f"{k},{'abc'[k % 3]}\n" for k in range(12)))
    result = RUN.invoke(app, ["path", str(file), "--grid", "--validate", "3"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--grid supports two classes, not more" in result.stderr


@needs_a_compiler
def test_grid_on_an_emulated_card_has_the_scores_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, _ = rows_of(0)
    data, file = tmp_path / "points.csv", tmp_path / "grid.json"
    lines = [f"{a},{b},{level > 0}\n" for (a, b), level in zip(X, y, strict=True)]
    data.write_text("a,b,y\n" + "".join(lines))
    how = ["--kernel", "rbf", "--gamma", "0.5", "--validate", "2", "--grid", "--json", str(file)]
    on_card = [*how, "--device", "cuda"]
    found = []
    with emulated_card(tmp_path, monkeypatch):
        for arguments in (how, on_card):
            result = RUN.invoke(app, ["path", str(data), *arguments])
            assert result.exit_code == 0, result.output
            found.append(json.loads(file.read_text()))
    assert [one["settings"]["device"] for one in found] == ["cpu", "cuda"]
    scores = [[row["score"] for row in one["rows"]] for one in found]
    assert scores[0] == scores[1]
    assert max(row["gap"] for row in found[1]["rows"]) <= 1e-6
    with emulated_card(tmp_path, monkeypatch, free_bytes=1e4):
        result = RUN.invoke(app, ["path", str(data), *on_card])
    assert result.exit_code == 2
    assert "0.0 GB are free" in result.stderr
