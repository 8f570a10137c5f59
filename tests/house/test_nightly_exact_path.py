"""Campaign of exact paths (`make nightly-exact`).

A few instances are right, and a wrong answer of each kind is detected.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from campaigns.exact import nightly_exact_path as campaign
from equimargin.proofs import PairCount, surrogate_regret
from equimargin.solvers import Mistakes, exact_leave_one_out, exact_path


def ran(name: str, lines: list[str]) -> int:
    return campaign.CAMPAIGN.main([name, "--examples", "4"], lines.append)


@pytest.mark.parametrize("name", campaign.SUBJECTS)
def test_a_few_instances_are_right(name: str) -> None:
    lines: list[str] = []
    assert ran(name, lines) == 0
    assert lines[0].startswith(f"{name:<24}     4 examples, 0 wrong")


def of_another_slope(problem: Any) -> Any:
    """Return a path whose multipliers increase by too much."""
    right = exact_path(problem)
    pieces = [replace(piece, slope=tuple(2 * v for v in piece.slope)) for piece in right.pieces]
    return replace(right, pieces=tuple(pieces))


def that_jumps(problem: Any) -> Any:
    """Return a path whose last f is wrong."""
    right = exact_path(problem)
    last = replace(
        right.pieces[-1], f_constant=tuple(v + Fraction(1) for v in right.pieces[-1].f_constant)
    )
    return replace(right, pieces=(*right.pieces[:-1], last))


def by_one_more(problem: Any) -> Any:
    """Return an error that counts one point too many."""
    right = exact_leave_one_out(problem)
    return replace(
        right, after_steps=tuple(Mistakes(v.least, v.most + 1) for v in right.after_steps)
    )


def regret_of_one_more(path: Any) -> Any:
    """Return a curve that counts one pair too many everywhere but at C = 0."""
    right = surrogate_regret(path)
    after = tuple(PairCount(least + 1, most + 1) for least, most in right.after_steps)
    return replace(right, after_steps=after)


def least_of_one_less(path: Any) -> Any:
    """Return a curve of a search that finds one pair less than the least number."""
    right = surrogate_regret(path)
    number = right.search.least - 1
    return replace(right, search=replace(right.search, least=number, lower=number))


@pytest.mark.parametrize(
    ("name", "replaced", "wrong", "sentence"),
    [
        ("path", "exact_path", of_another_slope, "the optimum is"),
        ("path", "exact_path", that_jumps, "f jumps at C"),
        ("leave one out", "exact_leave_one_out", by_one_more, "the optima without each point have"),
        ("regret", "surrogate_regret", regret_of_one_more, "is right"),
        ("regret", "surrogate_regret", least_of_one_less, "is the least"),
        ("leave one out", "exact_leave_one_out", lambda problem: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_answer_is_noticed(
    name: str, replaced: str, wrong: Any, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, replaced, wrong)
    lines: list[str] = []
    assert ran(name, lines) == 1
    assert any(line.startswith(f"  ! {name}") and sentence in line for line in lines)
