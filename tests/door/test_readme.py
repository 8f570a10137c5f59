"""The README's Python runs as it is printed, each block on data of its kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context

from equimargin.formulations import Kernel, linear, ranking, rbf
from equimargin.formulations.problem.choices import Loss
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.pair_multipliers import PairMultipliers
from equimargin.solvers import solve
from narrow import as_a
from places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def classified() -> dict[str, Any]:
    """Two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return {"X": X, "y": np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0), "X_new": rng.normal(size=(5, 3))}


def ranked(size: int) -> dict[str, Any]:
    """Three levels in five queries of that size, and the same for validation."""
    rng = np.random.default_rng(0)
    X, X_validation = rng.normal(size=(5 * size, 3)), rng.normal(size=(5 * size, 3))
    y, y_validation = (np.digitize(Z[:, 0] + rng.normal(size=5 * size), [-0.5, 0.5]) for Z in (X, X_validation))
    qid = np.repeat(np.arange(5), size)
    names = {"X_new": X, "X_validation": X_validation, "y_validation": y_validation, "qid_validation": qid}
    return {"X": X, "y": y, "qid": qid} | names


def test_every_block_of_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    problems, rankings, paths, estimators, proofs, others = BLOCKS
    first = classified()
    exec(problems, first)
    for size in (8, 1200):  # 40 points, and more than a million pairs
        exec(rankings, ranked(size))
    exec(paths, ranked(6))
    with config_context(enable_metadata_routing=True):  # which the block sets, here for its own time alone
        exec(estimators, ranked(6))
    exec(proofs, first)  # of the first block's problem and solution
    exec(others, first)
    printed = capsys.readouterr().out
    assert re.search(r"^svm\.soft +optimum .* digits proven \(width .*\) +AGREE$", printed, re.MULTILINE)
    assert "above the optimum of the problem it claims to solve" in printed
    assert (tmp_path / "certificate.json").is_file()


def test_what_is_said_of_duals_is_so() -> None:
    """Above a million pairs, and of a linear kernel by newton, an object; else an array in the order of the pairs' ends."""
    cases: tuple[tuple[int, Kernel, str, Loss, bool], ...] = (
        (8, linear(), "auto", "squared_hinge", False),
        (8, linear(), "newton", "squared_hinge", True),
        (8, rbf(1.0), "newton", "squared_hinge", False),
        (8, linear(), "huber", "hinge", False),
        (1200, linear(), "newton", "squared_hinge", True),
        (1200, linear(), "huber", "hinge", True),
    )
    for size, kernel, solver, loss, implicit in cases:
        data = ranked(size)
        problem = ranking(data["X"], data["y"], data["qid"], 1e-3, kernel, loss)
        dual, rows = solve(problem, solver).dual, as_a(Pairs, problem.rows)
        assert hasattr(dual, "at") is implicit
        if not implicit:
            assert isinstance(dual, np.ndarray)
        alpha = np.asarray(dual)
        assert alpha.shape == (problem.p,)
        assert (problem.p > 1_000_000) == (size == 1200)
        assert np.all(data["y"][rows.preferred] > data["y"][rows.other])
        if implicit:
            at = int(alpha.argmax())
            assert as_a(PairMultipliers, dual).at(rows.preferred[at], rows.other[at]) == pytest.approx(alpha[at])
