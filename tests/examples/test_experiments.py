"""Experiments of the documents at their small size, against the claims ledger."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ledger import Kind, Verdict, claims
from places import HANG, ROOT, example
from public_data import SHARED

FOLDER = ROOT / "examples" / "documents"
NAMES = sorted(file.stem for file in FOLDER.glob("*_*.py"))
POINTED = {
    name: {row.id: row for row in claims() if row.kind is Kind.EXPERIMENT and row.name == name}
    for name in NAMES
}
BY_SIZE = {
    "T.figure10",
    "T.figure7",
    "T.figure8.linear",
    "O.abstract.better",
    "O.abstract.retrieval",
    "O.curves",
    "K.figure2",
    "K.4.4.fastest",
    "T.table2.time",
    "P.table3.error",
}
"""Claims that depend on the size or on a clock; their small-size outcome may differ."""
HAS_DATA = (SHARED / "ohsumed-queries-1-6.txt").is_file()
"""True if all public data of the experiments are there; this file cannot be fetched."""
CACHE: dict[tuple[str, bool], tuple[ModuleType, Any]] = {}


def run(name: str, absent: bool) -> tuple[ModuleType, Any]:
    """Return the experiment and its report at the small size.

    `absent` runs it without the public data.
    """
    if (name, absent) not in CACHE:
        module = example(name)
        CACHE[name, absent] = module, module.main(data=Path("no such folder") if absent else SHARED)
    return CACHE[name, absent]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_of_its_claims_what_the_ledger_says(name: str) -> None:
    """Without its data it runs on others, and cannot decide the claims about the data."""
    _, report = run(name, absent=not HAS_DATA)
    assert len(report.table) > 3
    assert report.figure.axes
    by_tests = {"click_lists", "path_algorithm"}
    assert POINTED[name] or name in by_tests, "rows of these have statements and tests"
    said = {one.id: one for one in report.outcomes}
    assert set(POINTED[name]) <= set(said) or not HAS_DATA
    for id, row in POINTED[name].items():
        if id in said and id not in BY_SIZE and said[id].reproduced is not None:
            assert said[id].reproduced == (row.verdict is Verdict.REPRODUCED), said[id].because


@pytest.mark.slow
@pytest.mark.parametrize("name", ["path_figure", "path_tables", "tutorial_table", "ordinal_curves"])
def test_without_public_data_an_experiment_says_so_and_goes_on(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    CACHE.pop((name, True), None)
    _, report = run(name, absent=True)
    assert "there is no f" in capsys.readouterr().out
    assert len(report.table) > 3


@pytest.mark.slow
def test_a_command_saves_its_table_and_its_picture(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"}
    command = [
        sys.executable,
        str(FOLDER / "path_figure.py"),
        "--save",
        str(tmp_path / "new"),
        "--data",
        str(tmp_path),
    ]
    answer = subprocess.run(
        command, env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=HANG
    )
    assert answer.returncode == 0, answer.stderr
    assert "P.figure4" in answer.stdout
    assert (tmp_path / "new" / "path_figure.txt").read_text(encoding="utf-8").splitlines()[
        -1
    ] in answer.stdout
    assert (tmp_path / "new" / "path_figure.png").read_bytes().startswith(b"\x89PNG")


def test_sensitivities_are_compared_with_the_effect_and_not_with_one() -> None:
    """T, Fig. 10: neighbours that are switched cost thousandths of the accuracy."""
    comparable = example("tutorial_figures").comparable
    spread = np.linspace(-1.0, 1.0, 30)
    lost = 0.002 + 0.0005 * spread
    assert comparable(lost, 1.5 * lost)
    assert comparable(lost, lost[::-1])
    assert comparable(lost, 3 * lost) is False
    assert comparable(3 * lost, lost) is False
    assert comparable(0.002 * spread, 0.003 * spread) is None


@pytest.mark.slow
def test_methods_for_one_problem_end_at_one_score() -> None:
    """K compares the times at which methods reach the optimal model.

    Methods that end at the requested gap have its score.
    """
    module, _ = run("kernel_figures", absent=True)
    fold = module.Fold("", *(module.drawn(seed, 20, 3) for seed in range(3)))
    for kind in module.MAKERS:
        for done in module.traced(kind, "pairwise accuracy", fold, 1.0, 0.25, 60.0):
            assert done.gap <= module.TOL
            assert done.checks[-1].score == pytest.approx(done.optimum, abs=0.01), done.method
            assert 0.6 < done.optimum <= 1.0
            seconds = [check.seconds for check in done.checks]
            assert seconds == sorted(seconds)


@pytest.mark.slow
def test_a_method_arrives_where_its_score_stays() -> None:
    module, _ = run("kernel_figures", absent=True)
    scores, optimum = [0.5, 0.9, 0.7, 0.8995, 0.9], 0.9
    checks = [module.Check(k, float(k), 0.0, 1.0, score) for k, score in enumerate(scores)]
    assert module.Run("tron", "mean NDCG", 1.0, 1.0, checks, 0.0, optimum).arrived == 3.0
    assert module.Run("tron", "mean NDCG", 1.0, 1.0, checks[:3], 0.0, optimum).arrived == np.inf


def test_neighbours_are_switched_in_the_training_order_alone() -> None:
    module = example("tutorial_figures")
    clean, noisy = (module.draw(3, 40, "rbf", switched=k) for k in (0, 12))
    assert sorted(noisy.y) == list(range(40))
    assert 0 < np.abs(clean.y - noisy.y).sum() <= 2 * 12 + 12
    assert (clean.y_test == noisy.y_test).all()
    utility = np.exp(-np.linalg.norm(clean.X - np.random.default_rng(0).random(5), axis=1))
    assert (np.argsort(utility**2) == np.argsort(utility)).all(), (
        "the printed square changes no order"
    )


def test_rankings_of_users_who_never_err_are_relaxed_by_clicks() -> None:
    module = example("click_lists")
    for seed in range(3):
        told = module.repeated(4, 3, 0.0, seed)
        assert told.relaxed <= 1.0
        assert told.pairs <= 4 * 10 * 9 / 2


def test_queries_of_too_few_documents_are_left_out() -> None:
    """With 56 documents none were left to rank after 40 to learn and 40 to validate.

    The search for some did not end.
    """
    module = example("ordinal_curves")
    few, enough = (module.controlled(np.random.default_rng(m), m, 2, 0.1) for m in (56, 130))
    errors = module.in_reality(module.Size((20, 40), 2), [few, enough])
    assert errors.shape == (2, 2, 3)
    assert ((errors >= 0) & (errors <= 1)).all()
