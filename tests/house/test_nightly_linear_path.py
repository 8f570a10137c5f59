"""Campaign of the paths of one-norm programs (`make nightly-path`).

A few of each kind are right, and wrong paths are detected.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from campaigns.exact import nightly_linear_path as campaign
from equimargin.formulations import OneNormProblem, one_norm_ranking, rbf
from equimargin.solvers import OneNormPath, Status, regularization_path


@pytest.mark.slow
@pytest.mark.parametrize("family", campaign.LARGEST)
def test_a_few_paths_of_each_family_are_right(family: str) -> None:
    lines: list[str] = []
    assert campaign.CAMPAIGN.main([family, "--examples", "5"], lines.append) == 0
    assert lines[0].startswith(f"{family:<24}     5 examples, 0 wrong")


WRONG = {
    "values": (1.001, "the costs of x are"),
    "lower": (0.5, "u proves"),
    "lambdas": (1.01, "is not the optimum|the costs of x are|u proves"),
    "gaps": (1e12, "it says itself"),
}
"""Changed field of a path: the factor and the message."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_path_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factor, said = WRONG[name]

    def wrong(problem: OneNormProblem, lambda_min: float) -> OneNormPath:
        path = regularization_path(problem, lambda_min)
        return replace(path, **{name: getattr(path, name) * factor})

    monkeypatch.setattr(campaign, "regularization_path", wrong)
    problem = one_norm_ranking(
        np.random.default_rng(3).normal(size=(9, 2)), np.arange(9.0), kernel=rbf(0.5)
    )
    found = campaign.examined(problem, 1e-3)
    assert any(part in mistake for mistake in found.mistakes for part in said.split("|"))


HARD = {
    ("rank.onenorm", 97): ["stopped early", "it says itself", "piece"],
    ("rank.onenorm", 185): ["stopped early", "piece"],
    ("svm.onenorm", 145): ["stopped early", "piece 31 of 32"],
    ("rvm", 191): [],
}
"""Programs with nearly singular matrices, drawn with seed 1, by family and number.

The values are the beginnings of the mistakes that their paths report.
"""


@pytest.mark.parametrize(("family", "number"), HARD)
def test_a_path_of_a_nearly_singular_program_claims_nothing_that_it_has_not(
    family: str, number: int
) -> None:
    """Answers were once called optimal by their gap in float64.

    Pieces were 4e-7 off, or judged at another matrix.
    """
    found = campaign.followed(campaign.drawn(family, 1, number), number)
    assert not found.silent
    assert found.worst <= 1e-8
    assert all(mistake.startswith(tuple(HARD[family, number])) for mistake in found.mistakes), (
        found.mistakes
    )


def test_a_path_that_claims_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer is called optimal, also where float64 is too coarse."""
    handed = OneNormPath.at
    monkeypatch.setattr(
        OneNormPath, "at", lambda path, lam: replace(handed(path, lam), status=Status.OPTIMAL)
    )
    assert any(
        "called optimal" in word
        for word in campaign.followed(campaign.drawn("svm.onenorm", 1, 145), 145).silent
    )


def test_a_path_that_raises_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "regularization_path", lambda *given: 1 / 0)
    lines: list[str] = []
    assert campaign.CAMPAIGN.main(["rvm", "--examples", "2"], lines.append) == 1
    assert any("ZeroDivisionError" in line for line in lines)
