"""Campaign of proven intervals (`make nightly-bounds`): closed forms, faults, scripts.

The closed forms are compared with exact arithmetic.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from campaigns import nightly_bounds as campaign
from campaigns.exact.closed_forms import closed_form, exponential
from campaigns.shrunk import essence
from equimargin.formulations import (
    Interval,
    OneNormProblem,
    Point,
    Problem,
    classification,
    rbf,
    regression,
)
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.exact_limits import rational_kernel

SIMPLE = "classification([[1.0], [-1.0]], [1.0, -1.0], C=2.0)"


def _problems(family: str, count: int) -> Iterator[tuple[str, Problem]]:
    """Yield drawn problems that are not refused."""
    for k in range(count):
        text = campaign.drawn(family, [5, k])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem = eval(text, dict(campaign.NAMES))
            except ValueError:
                continue
        yield text, problem


@pytest.mark.parametrize("family", campaign.FAMILIES)
def test_closed_forms_are_the_exact_optima(family: str) -> None:
    """The two methods share the data alone; the pivots start from multipliers of 0."""
    compared = 0
    for text, problem in _problems(family, 40):
        found = closed_form(problem)
        if found is not None and rational_kernel(problem.kernel):
            start = (
                None if isinstance(problem, OneNormProblem) else Point(alpha=np.zeros(problem.p))
            )
            assert exact_optimum(problem, start=start).value == found.lower == found.upper, text
            compared += 1
    assert compared >= 10


def test_closed_forms_of_an_rbf_kernel_enclose_the_optimum() -> None:
    """D = 2 - 2 exp(-1/4): the optimum at C = inf is 2 / D."""
    from math import exp, inf

    found = closed_form(classification([[0.0], [0.5]], [1.0, -1.0], inf, rbf(1.0)))
    assert found is not None
    assert found.lower is not None
    assert found.upper is not None
    assert 0 <= found.upper - found.lower < Fraction(1, 2**1000)
    assert float(found.lower) == pytest.approx(1 / (1 - exp(-0.25)), rel=1e-14)


@given(st.floats(0, 1000))
def test_exponentials_are_enclosed(x: float) -> None:
    low, high = exponential(Fraction(x))
    assert 0 <= low <= high <= 1
    assert high - low < Fraction(1, 2**6000)
    with localcontext() as context:
        context.prec = 800
        assert abs(Fraction((-Decimal(x)).exp()) - low) <= Fraction(1, 10**790) * low


def test_a_seed_always_draws_the_same_problems() -> None:
    for family in campaign.FAMILIES:
        assert campaign.drawn(family, [1, 2]) == campaign.drawn(family, [1, 2])
        assert campaign.drawn(family, [1, 2]) != campaign.drawn(family, [1, 3])


def test_scales_reach_both_ends_of_float64() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([campaign.size(rng) for _ in range(2000)])
    assert (np.isfinite(sizes) & (sizes > 0)).all()
    assert sizes.min() < 1e-315
    assert sizes.max() > 1e295
    assert np.mean((sizes > 1e-7) & (sizes < 1e7)) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("family", campaign.FAMILIES)
@given(st.integers(0, 2**32))
@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])  # numbers do not shrink
def test_intervals_hold_at_every_scale(family: str, number: int) -> None:
    watch, _ = campaign.checked(family, campaign.drawn(family, [number]), [number])
    bounds = ("false", "NaN", "claim", "dual value", "primal value", "exact")
    assert [
        (finding.sentence, watch.text)
        for finding in watch.findings
        if finding.kind.startswith(bounds)
    ] == []


def _kinds(text: str) -> set[str]:
    watch, _ = campaign.checked("svm.soft", text, [0, 0, 0])
    return {finding.kind for finding in watch.findings}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert _kinds(SIMPLE) == set()


@pytest.mark.parametrize(
    ("wrong", "kind"), [(Interval(0.6, 1.0), "false lower"), (Interval(0.0, 0.4), "false upper")]
)
def test_a_false_bound_is_found_and_becomes_a_script(
    wrong: Interval, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The optimum is 1/2."""
    monkeypatch.setattr(campaign, "interval", lambda problem, point: wrong)
    watch, outcome = campaign.checked("svm.soft", SIMPLE, [0, 0, 0])
    assert outcome == "judged"
    finding = next(each for each in watch.findings if each.kind == f"{kind} svm.soft solved")
    exec(finding.script, {})
    assert "Interval(lower=" in capsys.readouterr().out


def test_hangs_foreign_exceptions_and_warnings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any, **__: Any) -> None:
        while True:
            pass

    def foreign(*_: Any, **__: Any) -> None:
        np.linalg.inv(np.zeros((1, 1)))

    def warning(*given: Any, **limits: Any) -> Any:
        np.float64(1.0) / np.float64(0.0)
        return solve(*given, **limits)

    monkeypatch.setattr(campaign, "CPU_SECONDS", 0.1)
    monkeypatch.setattr(campaign, "solve", endless)
    assert any(kind.startswith("hang solve by") for kind in _kinds(SIMPLE))
    monkeypatch.setattr(campaign, "CPU_SECONDS", 10.0)
    monkeypatch.setattr(campaign, "solve", foreign)
    assert any(kind.startswith("LinAlgError solve by") for kind in _kinds(SIMPLE))
    monkeypatch.setattr(campaign, "solve", warning)
    assert any(kind.startswith("warning divide by zero") for kind in _kinds(SIMPLE))


def test_a_refusal_of_our_own_at_construction_is_no_finding() -> None:
    watch, outcome = campaign.checked("svm.soft", SIMPLE.replace("2.0", "-2.0"), [0, 0, 0])
    assert (watch.findings, outcome) == ([], "refused")


def test_an_exact_optimum_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = regression([[1.0]], [1.0])
    monkeypatch.setattr(campaign, "exact_optimum", lambda *_, **__: exact_optimum(problem))
    watch = campaign.Watch("svm.soft", SIMPLE, loop=False)
    campaign.optimum_of(watch, eval(SIMPLE, dict(campaign.NAMES)), True)
    assert [finding.kind for finding in watch.findings] == ["exact svm.soft"]


def test_every_kind_has_one_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "drawn", lambda family, number: SIMPLE)
    monkeypatch.setattr(campaign, "interval", lambda problem, point: Interval(0.6, 1.0))
    lines: list[str] = []
    monkeypatch.chdir(tmp_path)
    assert (
        replace(campaign.CAMPAIGN, start=lambda: None).main(
            ["--examples", "2", "svm.soft"], lines.append
        )
        == 1
    )
    found = [line for line in lines if line.startswith("  ! ")]
    kinds = {essence(line.partition("]: ")[2]) for line in found}
    scripts = [
        file for file in (tmp_path / "build" / "nightly").glob("*.py") if ".small." not in file.name
    ]
    assert "svm.soft                     2 examples, 2 wrong" in lines[-2]
    assert len(found) > len(kinds) == len(scripts)


def test_values_of_any_size_are_told_in_digits() -> None:
    assert campaign.told(Fraction(25, 10**402)) == "2.5e-401"
    assert campaign.told(-(Fraction(10) ** 400)) == "-1e400"
    assert campaign.told(None) == "infinite"
