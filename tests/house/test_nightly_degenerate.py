"""Campaign of degenerate instances (`make nightly-degenerate`).

A few of each kind are right, and a wrong answer of each kind is detected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from campaigns.exact import nightly_degenerate as degenerate
from campaigns.exact.nightly_degenerate import SUBJECTS, UNDECIDED
from equimargin.solvers.probability import coupling
from equimargin.solvers.probability.sigmoid import PlattSigmoid


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_few_instances_of_each_are_right(name: str) -> None:
    said = [SUBJECTS[name](np.random.default_rng([0, k])) for k in range(5)]
    assert set(said) <= {"", UNDECIDED}
    assert "" in said


WRONG: dict[str, tuple[str, Any]] = {
    "svm.onenorm": (
        "exact_optimum",
        lambda right: lambda problem: type("Wrong", (), {"value": right(problem).value + 1}),
    ),
    "coupling.wlw": ("wlw", lambda right: lambda r: right(np.asarray(r).T)),
    "bradley_terry": ("bradley_terry", lambda right: lambda r, n: right(r, n**2)),
    "platt": ("platt", lambda right: lambda *data: PlattSigmoid(1.0, 1.0, 0.0, 0.0)),
    "least_misranked": (
        "least_misranked",
        lambda right: (
            lambda problem: type("Wrong", (), {"least": right(problem).least + 1, "proven": True})
        ),
    ),
    "fewest_nonzeros": (
        "fewest_nonzeros",
        lambda right: (
            lambda *data: type("Wrong", (), {"fewest": right(*data).fewest + 1, "proven": True})
        ),
    ),
    "least_reduced_excess": (
        "least_reduced_excess",
        lambda right: lambda problem: replace(right(problem), excess=np.array([-1.0])),
    ),
    "average_precision_least": (
        "average_precision_least",
        lambda right: lambda R, Q, N: right(R, Q, N) * 0.999,
    ),
}
"""Wrong answers: the replaced function, and its replacement made of the right one."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, wrong = WRONG[name]
    monkeypatch.setattr(degenerate, function, wrong(getattr(degenerate, function)))
    lines: list[str] = []
    assert degenerate.CAMPAIGN.main([name, "--examples", "5"], lines.append) == 1
    assert any(line.startswith(f"  ! {name}") for line in lines)


def test_another_optimum_and_another_loss_of_the_machine_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(degenerate, "_by_clarabel", lambda stated: 100.0)
    assert "not within" in SUBJECTS["svm.general"](np.random.default_rng([0, 0]))


def test_an_answer_that_raises_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degenerate, "platt", lambda *data: 1 / 0)
    lines: list[str] = []
    assert (
        degenerate.CAMPAIGN.main(
            ["platt", "average_precision_least", "--examples", "2"], lines.append
        )
        == 1
    )
    assert sum("ZeroDivisionError" in line for line in lines) == 2
    assert "0 wrong" in lines[-2]


def test_a_solver_that_raises_is_wrong_and_not_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupling, "wlw", lambda r: 1 / 0)
    assert "ZeroDivisionError" in SUBJECTS["coupling.wlw"](np.random.default_rng([0, 0]))
