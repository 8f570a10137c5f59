"""The README's Python runs as it is printed, each block on data of its kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def classified() -> dict[str, Any]:
    """Two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return {"X": X, "y": np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0), "X_new": rng.normal(size=(5, 3))}


def ranked(size: int) -> dict[str, Any]:
    """Three levels in five queries of that size, and the same for validation; a pair i, j of the first query."""
    rng = np.random.default_rng(0)
    X, X_validation = rng.normal(size=(5 * size, 3)), rng.normal(size=(5 * size, 3))
    y, y_validation = (np.digitize(Z[:, 0] + rng.normal(size=5 * size), [-0.5, 0.5]) for Z in (X, X_validation))
    qid = np.repeat(np.arange(5), size)
    i, j = int(y[:size].argmax()), int(y[:size].argmin())
    names = {"X_new": X, "X_validation": X_validation, "y_validation": y_validation, "qid_validation": qid}
    return {"X": X, "y": y, "qid": qid, "i": i, "j": j} | names


def test_every_block_of_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    problems, rankings, paths, proofs = BLOCKS
    first = classified()
    exec(problems, first)
    exec(rankings, ranked(1200))  # more than a million pairs
    exec(paths, ranked(6))
    exec(proofs, first)  # of the first block's problem and solution
    printed = capsys.readouterr().out
    assert "verdict: AGREE" in printed
    assert "above the optimum of the problem it claims to solve" in printed
    assert (tmp_path / "certificate.json").is_file()
