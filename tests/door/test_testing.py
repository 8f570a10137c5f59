"""The conformance check of formulations: every registered one passes, wrong ones end in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import REGISTRY, Formulation, Printed, Symbols, linear
from equimargin.testing import CANONICAL, check_formulation, sample_problem
from oracles.own_entries import PRINTED
from places import ROOT, example

EXAMPLE = ROOT / "examples" / "formulations" / "own_formulation.py"


@pytest.fixture
def own() -> Iterator[str]:
    """The example's formulation, entered for one test."""
    example("own_formulation")
    yield "svm.soft.hinge"
    del REGISTRY["svm.soft.hinge"]


@pytest.mark.slow
@pytest.mark.parametrize("id", list(PRINTED))
def test_every_formulation_conforms(id: str) -> None:
    check_formulation(id)


def test_the_example_is_short_and_conforms(own: str) -> None:
    assert len([line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]) < 40
    check_formulation(own)


def test_what_is_wrong_is_said(own: str) -> None:
    right = REGISTRY[own]

    def halved(v: Mapping[str, Any], d: Symbols) -> Printed:
        return Printed((v["w"] @ v["w"] / 2 + v["C"] * d.c @ np.maximum(1 - d.y * (d.X @ v["w"] - v["b"]), 0)) / 2)

    wrong: list[tuple[Formulation, str]] = [
        (replace(right, printed=halved), "its printed formula says"),
        (replace(right, to_canonical=lambda v, d: d.point(v["w"], v["b"])), "disagrees on linear where it must be agrees"),
    ]
    for changed, words in wrong:
        REGISTRY.enter(own, changed, REGISTRY.module_of(own))
        with pytest.raises(AssertionError, match=words):
            check_formulation(own)
    REGISTRY.enter(own, replace(right, family="svr.l1"), REGISTRY.module_of(own))
    with pytest.raises((AssertionError, ValueError)):
        check_formulation(own)


def test_sample_problems_are_of_their_family() -> None:
    for family in CANONICAL:
        assert sample_problem(family, linear(), 3).family == family
    with pytest.raises(ValueError, match="unknown family"):
        sample_problem("svm.soft.primal")
    assert not np.array_equal(sample_problem("rvm", seed=0).X, sample_problem("rvm", seed=1).X)
