"""Requirements of solvers: each has a message, and a problem that meets all is accepted."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import (
    MarginProblem,
    OneNormProblem,
    Problem,
    classification,
    linear,
    one_norm_ranking,
    ordinal,
    ranking,
    rbf,
    sigmoid,
)
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import Refusal, Requirements

LINE = np.array([[0.0], [1.0], [3.0]])
SIGNS = np.array([-1.0, 1.0, 1.0])
ANY = partial(Requirements, MarginProblem, losses=("hinge", "squared_hinge"))
SMOOTH = Requirements(MarginProblem, losses=("squared_hinge",), why={"hinge": "has a kink"})
CLASSES = classification(LINE, SIGNS)
HARD = classification(LINE, SIGNS, np.inf)
RANKS = ranking(LINE, [0, 1, 2])
PAIRS = MarginProblem(LINE, linear(), Pairs(np.array([1, 2]), np.array([0, 0]), 3))
LEVELS = ordinal(LINE, [0, 1, 2])
PROGRAM = one_norm_ranking(LINE, [0, 1, 2])


def peculiar(problem: MarginProblem) -> Refusal | None:
    """Return the refusal of one solver only, for three points."""
    return Refusal("three points are not enough") if problem.m == 3 else None


UNMET: list[tuple[Requirements[Any], Problem, Refusal, Problem]] = [
    (ANY(), PROGRAM, Refusal("it is a linear program"), CLASSES),
    (Requirements(OneNormProblem), CLASSES, Refusal("it is a quadratic problem"), PROGRAM),
    (
        Requirements(MarginProblem),
        CLASSES,
        Refusal("it takes hard margins only, and the loss is the hinge"),
        HARD,
    ),
    (SMOOTH, CLASSES, Refusal("the hinge has a kink"), replace(CLASSES, loss="squared_hinge")),
    (SMOOTH, CLASSES, Refusal("the hinge has a kink"), HARD),
    (
        Requirements(MarginProblem, losses=("hinge",)),
        replace(CLASSES, loss="squared_hinge"),
        Refusal("it takes the hinge, and the loss is the squared hinge"),
        CLASSES,
    ),
    (
        ANY(no_bias="which is free"),
        CLASSES,
        Refusal("there is a bias, which is free"),
        replace(CLASSES, bias=False),
    ),
    (
        ANY(no_bias="which is free"),
        CLASSES,
        Refusal("there is a bias, which is free"),
        replace(RANKS, bias=True),
    ),
    (
        ANY(bias="so that"),
        replace(CLASSES, bias=False),
        Refusal("there is no bias, so that"),
        CLASSES,
    ),
    (ANY(bias="so that"), replace(RANKS, bias=True), Refusal("there is no bias, so that"), CLASSES),
    (
        ANY(no_hard_rows="too steep"),
        HARD,
        Refusal("hard rows (infinite costs), too steep"),
        CLASSES,
    ),
    (
        ANY(no_hard_rows="too steep"),
        classification(LINE, SIGNS, sample_weight=[1.0, np.inf, 1.0]),
        Refusal("hard rows (infinite costs), too steep"),
        CLASSES,
    ),
    (
        ANY(linear=True),
        replace(CLASSES, kernel=rbf(1.0)),
        Refusal("the rbf kernel has no w"),
        CLASSES,
    ),
    (
        ANY(),
        LEVELS,
        Refusal("there are 2 thresholds, and this method supports one bias"),
        ordinal(LINE, [0, 1, 1]),
    ),
    (
        ANY(thresholds=2),
        ordinal(LINE, [0, 1, 3]),
        Refusal("there are 3 thresholds, and this method supports 2 at most"),
        LEVELS,
    ),
    (ANY(single_entries=True), PAIRS, Refusal("rows have more than one entry"), CLASSES),
    (
        ANY(convex=True),
        replace(CLASSES, kernel=sigmoid(1.0, -1.0)),
        Refusal("the kernel matrix is not positive semidefinite"),
        CLASSES,
    ),
    (
        ANY(most_rows=2),
        CLASSES,
        Refusal("3 rows, more than the 2 that are listed one by one", too_large=True),
        PAIRS,
    ),
    (
        ANY(most_rows=2),
        RANKS,
        Refusal("3 pairs, more than the 2 that are listed one by one", too_large=True),
        PAIRS,
    ),
    (
        ANY(most_points=2),
        CLASSES,
        Refusal("3 points, more than the 2 whose Gram matrix is stored", too_large=True),
        classification(LINE[:2], SIGNS[:2]),
    ),
    (
        ANY(most_points=2, features_at_any_size=True),
        replace(CLASSES, kernel=rbf(1.0)),
        Refusal("3 points, more than the 2 whose Gram matrix is stored", too_large=True),
        CLASSES,
    ),
    (
        ANY(also=peculiar),
        CLASSES,
        Refusal("three points are not enough"),
        classification(LINE[:2], SIGNS[:2]),
    ),
]


@pytest.mark.parametrize(("requires", "stranger", "refusal", "met"), UNMET)
def test_every_requirement_has_its_sentence(
    requires: Requirements[Any], stranger: Problem, refusal: Refusal, met: Problem
) -> None:
    assert requires.refusal(stranger) == refusal
    assert met is stranger or requires.refusal(met) is None


def test_a_shape_that_is_no_class_is_a_sentence() -> None:
    with pytest.raises(
        ValueError,
        match=r"Requirements: shape must be a class of problems, such as MarginProblem, not "
        r"'margin'",
    ):
        Requirements("margin")  # type: ignore[arg-type]


def test_losses_in_a_string_are_a_sentence() -> None:
    with pytest.raises(
        ValueError,
        match=r"Requirements: losses must be names of losses, such as \('hinge',\), not 'hinge'",
    ):
        Requirements(MarginProblem, losses="hinge")  # type: ignore[arg-type]


def test_no_requirement_is_left_out() -> None:
    """The table has a case for every argument of Requirements."""
    default = {
        field.name: {} if field.default is MISSING else field.default
        for field in fields(Requirements)
    }
    asked = {
        name
        for requires, *_ in UNMET
        for name, value in default.items()
        if name != "shape" and getattr(requires, name) != value
    }
    assert asked == set(default) - {"shape"}


def test_sizes_are_looked_at_before_the_kernel_matrix() -> None:
    """The check that a given matrix is positive semidefinite takes m^3 operations."""
    problem = replace(CLASSES, kernel=sigmoid(1.0, -1.0))
    found = ANY(convex=True, most_points=2).refusal(problem)
    assert found is not None
    assert found.too_large


def test_a_refusal_is_read_as_its_sentence() -> None:
    assert str(Refusal("it is green")) == "it is green"
    assert str(Refusal("it is green", instead="paint it")) == "it is green; paint it"
