"""Campaigns shrink their failing cases: a planted mistake needs a few numbers.

The printed lines of Python run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns import (
    nightly,
    nightly_bounds,
    nightly_bounds_path,
    nightly_families,
    nightly_path,
    shrunk,
)
from campaigns.exact import nightly as exact
from campaigns.exact import nightly_linear_path as linear_path
from campaigns.runner import At, Campaign, Check, Hang, Trial, at_most, campaign_of, watched
from equimargin.formulations import REGISTRY, classification
from equimargin.own.instances import Refutation
from equimargin.shrink import Shrunk
from places import HANG, ROOT

SMALL = re.compile(
    r"(\S+\.small\.py): from (\d+) rows? x \d+ columns? to (\d+) rows? x 1 column in "
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write all files of a test to its folder."""
    monkeypatch.chdir(tmp_path)


def read(said: str, rows: int) -> Shrunk:
    """Return the shrunk failing case of a campaign; it must have at most `rows` rows."""
    found = SMALL.search(said)
    assert found is not None, said
    assert int(found[3]) <= rows
    return Shrunk.read(Path(found[1]).with_suffix(".json"))


def python(lines: str) -> str:
    """Return the output of a separate Python process that can import the campaigns."""
    code = f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}, {str(ROOT / 'tests')!r}]\n{lines}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def several(problem: Any) -> bool:
    """Return True if a problem has two rows or more."""
    return bool(problem.m >= 2)


def test_the_essence_of_a_complaint_has_no_figures() -> None:
    assert shrunk.essence("rank.l1.dual by SCS disagrees (claim 1e-3)") == shrunk.essence(
        "rank.l1.dual by SCS disagrees (claim 2.0)"
    )
    assert shrunk.essence("ValueError: 3 rows") != shrunk.essence("TypeError: 3 rows")


def test_an_instance_that_does_not_show_it_again_is_said(tmp_path: Path) -> None:
    problem = classification(np.eye(2), [1.0, -1.0])
    said = shrunk.shrunk(problem, lambda _: [], ["something"], tmp_path / "a.py")
    assert said == "not made small: the instance alone does not show it again"


@pytest.mark.slow
def test_the_nightly_makes_small_what_a_solver_does_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        nightly,
        "complaints",
        lambda problem, _: ["smo disagrees (claim 1)"] if several(problem) else [],
    )
    lines: list[str] = []
    arguments = ["svm.soft", "--seed", "3", "--examples", "2", "--processes", "1"]
    assert replace(nightly.CAMPAIGN, start=lambda: None).main(arguments, lines.append) == 1
    small = read(next(line for line in lines if "small: " in line), 2)
    assert "svm.soft" in python(small.python)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["svm.soft", "rank.l1", "rvm", "svr.l2"])
def test_the_exact_campaign(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        exact, "wrong_intervals", lambda problem, _: ["a lie (1)"] if several(problem) else []
    )
    monkeypatch.setattr(exact, "wrong_bounds", lambda *_: [])
    lines: list[str] = []
    assert exact.CAMPAIGN.main([family, "--examples", "3", "--seed", "5"], lines.append) == 1
    small = read(next(line for line in lines if "small: " in line), 2)
    assert python(small.python) == "\n"  # Without the planted fault the campaign is silent.


@pytest.mark.slow
def test_the_campaigns_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        nightly_path, "worst", lambda path: (1.0, 0.0) if several(path.problem) else (0.0, 0.0)
    )
    lines: list[str] = []
    assert nightly_path.CAMPAIGN.main(["--examples", "1", "ranking"], lines.append) == 1
    read(next(line for line in lines if "small: " in line), 2)

    right: Callable[..., Any] = vars(linear_path)["regularization_path"]

    def wrong(problem: Any, lambda_min: float) -> Any:
        path = right(problem, lambda_min)
        return replace(path, values=path.values * 1.001)

    monkeypatch.setattr(linear_path, "regularization_path", wrong)
    lines.clear()
    assert linear_path.CAMPAIGN.main(["--examples", "1", "rvm"], lines.append) == 1
    read(next(line for line in lines if "small: " in line), 3)

    def judged(path: Any, rng: object) -> Iterator[nightly_bounds_path.Judged]:
        yield nightly_bounds_path.Judged(
            "between", 1.0, 0.0, Fraction(1 if several(path.problem) else 0)
        )

    monkeypatch.setattr(nightly_bounds_path, "judged", judged)
    lines.clear()
    assert nightly_bounds_path.CAMPAIGN.main(["--seed", "1", "--examples", "1"], lines.append) == 1
    read(next(line for line in lines if "small: " in line), 2)


@pytest.mark.slow
def test_the_campaign_of_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(watch: Any, problem: Any, *_: object) -> None:
        if several(problem):
            watch.found("a lie about 1", "a sentence", "")

    monkeypatch.setattr(nightly_bounds, "_judge", judge)
    lines: list[str] = []
    campaign = replace(nightly_bounds.CAMPAIGN, start=lambda: None)
    assert campaign.main(["svm.soft", "--seed", "3", "--examples", "6"], lines.append) == 1
    small = read(next(line for line in lines if "small: " in line), 2)
    assert python(small.python) == "\n"


@pytest.mark.slow
def test_the_campaign_of_families(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        nightly_families,
        "value_complaint",
        lambda entry, problem: "other" if len(problem.data["X"]) > 1 else "",
    )
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    monkeypatch.setattr(
        nightly_families,
        "refutation",
        lambda *_: Refutation({"X": X, "y": y, "penalty": 0.5}, "other"),
    )
    id = next(id for id, entry in REGISTRY.items() if entry.family == "lasso" and not entry.control)
    check = nightly_families.check(id, lambda seed: None, 5)
    small = read(
        nightly_families.CAMPAIGN.written(check, At(0, 0, 0), "it does not conform: other"), 2
    )
    assert "lasso" in python(small.python)


def test_a_share_counts_examples_with_a_word_and_not_those_that_name_it() -> None:
    clean, rare = [Trial(counts=Counter({"rare": 0}))] * 97, [Trial(counts=Counter(["rare"]))]
    assert not list(at_most(0.03, "rare", clean + rare * 3))
    assert list(at_most(0.03, "rare", clean + rare * 4)) == ["4 of 101 are rare, more than 3%"]


def test_what_is_spent_within_a_limit_counts_against_the_one_around_it() -> None:
    def spin_for_long() -> None:
        for _ in range(20):
            with watched(10.0):
                end = time.process_time() + 0.2
                while time.process_time() < end:
                    pass

    with pytest.raises(Hang, match=r"after 0\.5 s"), watched(0.5):
        spin_for_long()


def test_no_example_is_refused_and_so_is_a_campaign_that_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    campaign = Campaign("campaigns.none", "", lambda _: [Check("one", lambda rng, at: Trial())], 1)
    with pytest.raises(SystemExit):
        campaign.main(["--examples", "0"])
    assert "--examples must be at least 1, not 0" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="there is no campaign 'faults'"):
        campaign_of("faults")
