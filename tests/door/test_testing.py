"""The conformance check of formulations: every registered one passes, wrong ones end in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from equimargin.formulations import REGISTRY, Declaration, Point, linear
from equimargin.testing import FAMILIES, check_formulation, sample_problem
from narrow import as_a, present
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

    def halved(problem: object) -> object:
        declared = right.builder(problem)
        return replace(declared, printed=lambda v: replace(declared.printed(v), objective=declared.printed(v).objective / 2))

    def turned(problem: object) -> object:
        declared = right.builder(problem)

        def recover(d: Declaration) -> Point:
            point = as_a(Point, declared.recover(d))
            return replace(point, b=-present(point.b))

        return replace(declared, recover=recover)

    halved.__doc__ = turned.__doc__ = right.statement
    for builder, words in ((halved, "its printed formula says"), (turned, "disagrees on linear where it must be agrees")):
        REGISTRY[own] = replace(right, builder=builder)  # type: ignore[arg-type]
        with pytest.raises(AssertionError, match=words):
            check_formulation(own)
    REGISTRY[own] = replace(right, family="svr.l1")
    with pytest.raises((AssertionError, ValueError)):
        check_formulation(own)


def test_sample_problems_are_of_their_family() -> None:
    for family in FAMILIES:
        assert sample_problem(family, linear(), 3).family == family
    with pytest.raises(ValueError, match="unknown family"):
        sample_problem("svm.soft.primal")
    assert not np.array_equal(sample_problem("rvm", seed=0).X, sample_problem("rvm", seed=1).X)
