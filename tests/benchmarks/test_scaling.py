"""Scaling benchmark: its exponents, and a report that names a missing package.

The other packages are measured all the same.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest

from places import ROOT


@pytest.fixture
def scaling(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("scaling")


def test_the_exponent_of_a_power_is_its_exponent(scaling: Any) -> None:
    assert scaling.exponent({n: 3e-9 * n**1.5 for n in (10, 100, 10_000)}) == pytest.approx(1.5)
    assert math.isnan(scaling.exponent({10: 1.0}))


def test_the_page_has_what_was_measured_and_the_exponents(scaling: Any) -> None:
    found = [
        scaling.measured(scaling.KERNEL, scaling.OURS, n, 1e-6 * n**2, 0.0) for n in (1000, 2000)
    ]
    text = scaling.page([*found, scaling.measured(scaling.KERNEL, "slow", 1000, 61.0, 61.0)], [])
    assert "| 1,000 | 1 s | 61 s |\n| 2,000 | 4 s | - |\n| exponent | 2.00 | - |" in text
    assert "](static/scaling.svg)" in text


def test_a_second_exponent_is_that_of_many_points(scaling: Any) -> None:
    """The time jumps by a factor of 4 from 40,000 to 60,000 points: the exponent shows it."""
    seconds = {1000: 0.01, 10_000: 0.3, 40_000: 2.4, 60_000: 18.0}
    text = scaling.page(
        [scaling.measured(scaling.KERNEL, scaling.OURS, n, s, s) for n, s in seconds.items()], []
    )
    large = {n: s for n, s in seconds.items() if n >= 10_000}
    assert f"| exponent from 10,000 on | {scaling.exponent(large):.2f} |" in text
    assert scaling.exponent(large) > 2.0 > 1.5


def test_sizes_include_more_points_than_float32_was_given_up_at(scaling: Any) -> None:
    assert max(scaling.KERNEL_SIZES) == 100_000
    assert scaling.LOOSE_GAP == 1e-3


def test_a_missing_package_is_named_and_the_others_go_on(
    scaling: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = scaling.Package(
        "Missing", "missing-package", "no_such_module", "svc", (1e-2, 1e-3, 1e-6), {"rbf hinge": {}}
    )
    there = [
        package
        for package in scaling.packages()
        if package.name in ("equimargin", "scikit-learn SVC")
    ]
    monkeypatch.setattr(scaling, "packages", lambda: [missing, *there])
    measured = list(scaling.kernel_machines((60, 120)))
    assert [(one["side"], one["n"]) for one in measured] == [
        (side, n)
        for n in (60, 120)
        for side in ("equimargin", "equimargin, 0.001", "scikit-learn SVC")
    ]
    assert "Missing is left out: missing-package is not installed" in capsys.readouterr().out
