"""Benchmark of proofs: what has no certificate is left out, and a rejected one is an error."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification
from equimargin.solvers import Solution, solve
from places import ROOT


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("kinds.bounds")


@pytest.fixture
def found() -> Solution:
    X = np.random.default_rng(0).normal(size=(20, 2))
    return solve(classification(X, np.sign(X[:, 0]), 1.0))


def test_a_certificate_is_written_and_checked(bounds: Any, found: Solution) -> None:
    assert set(bounds.certified(found)) == {"certify s", "check s", "MB"}


@pytest.mark.parametrize("limit", ["LARGEST_FILE", "MOST_NANOSECONDS"])
def test_a_certificate_that_is_too_large_is_left_out(
    bounds: Any, found: Solution, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    written = bounds.certificate(found)
    monkeypatch.setattr(bounds, "certificate", lambda found: written)
    monkeypatch.setattr(bounds.checker, limit, 1)
    assert bounds.certified(found) == {}


def test_a_rejected_certificate_is_an_error(
    bounds: Any, found: Solution, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = bounds.certificate(found) | {"mode": "guessed"}
    monkeypatch.setattr(bounds, "certificate", lambda found: written)
    with pytest.raises(ValueError, match="mode_is_known"):
        bounds.certified(found)
