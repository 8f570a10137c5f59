"""Campaign of explained models (`make nightly-explain`): few examples, and wrong answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from campaigns import nightly_explain as campaign
from campaigns.nightly_explain import KINDS, drawn, judged
from campaigns.runner import At
from equimargin import explain
from equimargin.explanation import Explanation
from equimargin.proofs.feasibility import irreducible


@pytest.mark.parametrize("place", range(len(KINDS)))
def test_a_few_models_of_each_kind_are_proven(place: int) -> None:
    for number in range(3):
        at = At(7, place, number)
        assert judged(drawn(KINDS[place], at), at).said == []


@pytest.mark.parametrize("kind", ["planted", "capacity", "many"])
def test_models_are_proven_without_the_search_among_all_rows(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irreducible, "QUICK_SECONDS", 1e-9)
    monkeypatch.setattr(irreducible, "SHARE", 0.0 if kind == "capacity" else 0.25)
    place = [drawn.__name__ for drawn in KINDS].index(kind)
    for number in range(2):
        at = At(8, place, number)
        assert judged(drawn(KINDS[place], at), at).said == []


def without_last(found: Explanation) -> Explanation:
    return replace(found, members=found.members[:-1])


def with_another_weight(found: Explanation) -> Explanation:
    first, *others = found.members
    return replace(found, members=(replace(first, weight=2 * first.weight), *others))


def with_points_of_others(found: Explanation) -> Explanation:
    points = [member.point for member in found.members]
    members = [
        replace(member, point=point)
        for member, point in zip(found.members, points[1:] + points[:1], strict=True)
    ]
    return replace(found, members=tuple(members))


def as_undecided(found: Explanation) -> Explanation:
    return replace(found, verdict="undecided")


def with_another_ray(found: Explanation) -> Explanation:
    return replace(found, ray={name: -v for name, v in found.ray.items()}, rate=-found.rate)


def with_another_point(found: Explanation) -> Explanation:
    return replace(found, point={name: v + 10**9 for name, v in found.point.items()})


def with_another_rate(found: Explanation) -> Explanation:
    return replace(found, rate=found.rate * Fraction(2))


WRONG: tuple[tuple[str, Callable[[Explanation], Explanation], str], ...] = (
    ("cycle", without_last, "do not cancel"),
    ("cycle", with_another_weight, "do not cancel"),
    ("cycle", with_points_of_others, "violates"),
    ("cycle", as_undecided, "undecided"),
    ("unbounded", with_another_ray, "the direction leaves"),
    ("unbounded", with_another_point, "not feasible"),
    ("unbounded", with_another_rate, "was said"),
)
"""Kind of models, wrong answer, and a part of the complaint."""


@pytest.mark.parametrize(("kind", "wrong", "complaint"), WRONG)
def test_a_wrong_answer_is_noticed(
    kind: str,
    wrong: Callable[[Explanation], Explanation],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def explain_wrongly(*given: Any, **options: Any) -> Explanation:
        return wrong(explain(*given, **options))

    monkeypatch.setattr(campaign, "explain", explain_wrongly)
    lines: list[str] = []
    assert campaign.CAMPAIGN.main([kind, "--examples", "3"], lines.append) == 1
    assert any(complaint in line for line in lines), lines
