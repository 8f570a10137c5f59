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
        (side, n) for n in (60, 120) for side in ("equimargin", "scikit-learn SVC")
    ]
    assert "Missing is left out: missing-package is not installed" in capsys.readouterr().out
