"""Ordinal regression: what is proven of its families, and how they are linked to classification and to ranking, on exact optima."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from time import process_time, sleep
from typing import Any

import numpy as np
import pytest

from equimargin.comparison import compare
from equimargin.documents.ordinal import explicit, hard, implicit, implicit_l2
from equimargin.documents.sum_of_margins import by_newton, sum_of_margins
from equimargin.estimators import OrdinalClassifier
from equimargin.formulations import REGISTRY, classification, ranking
from equimargin.own import ProgramProblem, optimum
from equimargin.own.data import problem_of
from equimargin.proofs import Agreement, examine_solution, judge
from equimargin.proofs.program.proven_optimum import proven_optimum
from equimargin.proofs.program_certificate import certificate_of_definition
from equimargin.proofs.referee.examination import bounds_for
from equimargin.report.page import skips
from equimargin.solvers import SOLVERS, Limits, Status, exact_optimum
from equimargin.solvers.interrupt import is_work_left
from narrow import present


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_of_margins_is_a_soft_margin_at_another_cost(seed: int) -> None:
    """Theorem 8 of two levels: where v = b - a > 0 is optimal, w_soft = 2 w / v at the cost 2 C / v, and v_soft = 4 (v* + v) / v^2."""
    data = levelled(seed, 2) | {"C": 1.0}
    data["X"][:, 0] += 9 * data["y"]
    problem = sum_of_margins(data)
    values = problem.values_at("ord.sum.primal", present(optimum(problem).x))
    width = Fraction(float(values["b"][0] - values["a"][0]))
    assert width > 0
    soft = classification(data["X"], 2.0 * data["y"] - 1.0, C=float(2 / width))
    due = present(exact_optimum(soft).value)
    assert float(due) == pytest.approx(float(4 * (exact(problem) + width) / width**2), rel=1e-12)


@pytest.mark.parametrize("counts", [(1, 2, 2), (2, 0, 3), (3, 1, 1), (4, 4), (1, 3, 0, 2)])
@pytest.mark.parametrize("C", [0.25, 0.5, 1.0])
def test_the_sum_of_margins_has_an_optimum_where_the_outer_levels_are_dear_enough(counts: tuple[int, ...], C: float) -> None:
    """Theorem 8: finite if and only if C n_0 >= 1 and C n_{L-1} >= 1.

    The solver and the printed form say the same.
    """
    y = np.repeat(np.arange(len(counts)), counts)
    problem = sum_of_margins({"X": np.random.default_rng(1).integers(-3, 4, (len(y), 2)).astype(float), "y": y, "C": C})
    finite = C * min(counts[0], counts[-1]) >= 1
    assert {np.isfinite(optimum(problem, f"ord.sum.{name}").upper) for name in ("primal", "dual")} == {finite}
    assert (REGISTRY["ord.sum.unit_ball"].refusal(problem) is None) == finite
    assert (by_newton(problem) == -np.inf) != finite


@pytest.mark.parametrize("apart", [0, 9])
def test_the_sum_of_margins_is_below_0_where_levels_are_apart(apart: int) -> None:
    """Levels in one place have v = 0 and w = 0.

    Its printed optimum is v where that of the square is -v^2 / 2.
    """
    data = {"X": np.array([[0.0], [apart], [2.0 * apart]]), "y": np.arange(3), "C": 1.0}
    problem = sum_of_margins(data)
    # the widths are |x_1 - x_0| + |x_2 - x_1|
    assert optimum(problem).exact == -Fraction((2 * apart) ** 2, 2)
    printed = optimum(problem, "ord.sum.unit_ball")
    assert printed.lower <= float(-Fraction((2 * apart) ** 2, 2)) + 1e-9
    assert printed.upper >= float(-Fraction((2 * apart) ** 2, 2)) - 1e-9


def test_a_place_of_no_slack_is_no_optimum_while_thresholds_pull() -> None:
    """At w = 0 and a = b = 0 nothing costs anything, and the multipliers of a_0 sum to less than 1: the optimum is -1/2, at w = -1."""
    data = {"X": np.array([[2.0], [1.0], [1.0]]), "y": np.array([0, 1, 1]), "C": 1.0}
    assert exact(sum_of_margins(data)) == Fraction(-1, 2)
    assert by_newton(sum_of_margins(data))["w"] == pytest.approx([-1.0], rel=1e-9)


@pytest.mark.parametrize("family", [implicit, implicit_l2, explicit, sum_of_margins])
def test_a_weight_is_so_many_copies_of_a_point(family: Any) -> None:
    """Weights of 0, 1, 2 and 3, in every form that takes them."""
    data = levelled(3, 3, 6) | {"C": 1.0}
    weights = np.array([1, 2, 3, 0, 1, 2])
    copied = family({"X": np.repeat(data["X"], weights, axis=0), "y": np.repeat(data["y"], weights), "C": 1.0})
    weighed = family(data | {"weights": weights.astype(float)})
    assert exact(weighed) == exact(copied)
    for entry in weighed.formulations.values():
        if entry.refusal(weighed) is None and not entry.control:
            found = optimum(weighed, entry.id)
            assert found.lower - 1e-9 <= float(exact(copied)) <= found.upper + 1e-9, entry.id


@pytest.mark.parametrize("family", [implicit, implicit_l2])
def test_prove_of_any_reading_holds_the_exact_optimum(family: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats such as .7 stand for 7/10 in one proof and for themselves in the other.

    Both optima are in the interval of floats.
    """
    monkeypatch.setattr("equimargin.documents.ordinal.RATIONAL_ROWS", 0)
    rng = np.random.default_rng(0)
    for m in range(4, 12):
        data = levelled(m, 3, m) | {
            "X": rng.integers(-30, 31, (m, 2)) / 10,
            "C": 0.1,
            "weights": rng.choice([0.3, 1.0, 2.0], m),
        }
        problem = family(data)
        entry = problem.definition
        proven = entry.prove(problem.data, 60.0)
        assert proven.relative_width <= 1e-7
        for reading in ("fractions", "exact"):
            exact = present(proven_optimum(replace(entry, reading=reading).program(problem.data), lambda value: value).exact)
            assert Fraction(proven.lower) <= exact <= Fraction(proven.upper), (m, reading)


def test_certificate_of_an_optimum_proven_in_floats_is_refused_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("equimargin.documents.ordinal.RATIONAL_ROWS", 0)
    problem = implicit(levelled(0, 3, 8) | {"C": 1.0})
    assert optimum(problem).is_known
    with pytest.raises(ValueError, match=r"its optimum is proven in floats, .* no certificate"):
        certificate_of_definition(problem)


@pytest.mark.parametrize(("family", "squared"), [(implicit, False), (implicit_l2, True)])
def test_data_of_a_thousand_rows_are_proven_as_the_estimator_proves_them(
    family: Any, squared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like the red wines: 1,599 rows, 11 columns in their own units, 6 levels, most of them in the middle. No fraction is computed."""
    monkeypatch.setattr("equimargin.proofs.program.proven_optimum.proven_optimum", None)
    monkeypatch.setattr("equimargin.proofs.program.worth.completed", None)
    X, y = wines()
    problem = family({"X": X, "y": y, "C": 1.0})
    lower, upper = OrdinalClassifier(loss="squared_hinge" if squared else "hinge").fit(X, y).objective_bounds_
    proven = optimum(problem).interval
    assert proven.relative_width <= 1e-8
    assert max(proven.lower, lower) <= min(proven.upper, upper)
    name = f"{problem.family}.newton"
    found = examine_solution(problem, SOLVERS[name].run(problem, Limits(), None))
    judged = judge(problem.family, [found], bounds_for(problem).scale)
    assert [(j.agreement, j.evidence.run.solver) for j in judged.judgements] == [(Agreement.AGREES, name)]


def wines(m: int = 1599) -> tuple[Any, Any]:
    """Return X (m, 11) and levels from 0 to 5."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(m, 11)) @ (np.eye(11) + 0.3 * rng.normal(size=(11, 11)))
    centre = np.array([8.3, 0.53, 0.27, 2.5, 0.087, 16, 46, 0.9967, 3.31, 0.66, 10.4])
    spread = np.array([1.7, 0.18, 0.19, 1.4, 0.047, 10, 33, 0.0019, 0.15, 0.17, 1.1])
    places = [1, 3, 2, 1, 3, 0, 0, 5, 2, 2, 1]
    X = np.column_stack([np.round(column, k) for column, k in zip((centre + spread * Z).T, places, strict=True)])
    score = 0.5 * Z[:, 10] - 0.4 * Z[:, 1] + rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, [0.006, 0.04, 0.466, 0.865, 0.989]))


SOLVERS_OF_LEVELS = [
    "ord.implicit.newton",
    "ord.implicit.smo",
    "ord.implicit_l2.newton",
    "ord.implicit_l2.smo",
    "ord.explicit.newton",
    "ord.sum.newton",
    "ord.hard.dual_active_set",
]


@pytest.mark.parametrize("name", SOLVERS_OF_LEVELS)
def test_solver_without_time_stops_at_once_and_says_why(name: str) -> None:
    families = {"ord.implicit": implicit, "ord.implicit_l2": implicit_l2, "ord.explicit": explicit, "ord.hard": hard}
    family = families.get(name.rpartition(".")[0], sum_of_margins)
    data = {"X": np.array([[-3.0], [-2.0], [0.0], [1.0], [3.0], [5.0]]), "y": np.array([0, 0, 1, 1, 2, 2])}
    problem = family(data if family is hard else data | {"C": 1.0})
    assert SOLVERS[name].run(problem, Limits(time_limit=60.0), None).status is Status.OPTIMAL
    late = SOLVERS[name].run(problem, Limits(time_limit=1e-9), None)
    assert late.status is Status.TIME_LIMIT
    assert late.reason.startswith("given up: no accurate point")


@pytest.mark.parametrize("family", [implicit, implicit_l2])
def test_smo_ends_its_work_within_one_and_a_half_times_its_limit_and_a_second(family: Any) -> None:
    X, y = wines()
    problem, limit = family({"X": X, "y": y, "C": 1.0}).proven_within(0.5, 60.0), 0.5
    started = process_time()
    found = SOLVERS[f"{family.id}.smo"].run(problem, Limits(time_limit=limit), None)
    while is_work_left() and process_time() - started < 10 * limit:
        sleep(0.01)
    assert process_time() - started <= 1.5 * limit + 1
    assert found.status is Status.TIME_LIMIT
    assert re.fullmatch(r"given up: no accurate point within 0\.\S+ s; the relative gap is \S+", found.reason)


def levelled(seed: int, levels: int, m: int = 8) -> dict[str, Any]:
    """Points on a grid, every level at least once."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(levels), rng.integers(0, levels, m - levels))
    return {"X": rng.integers(-3, 4, (m, 2)).astype(float), "y": y, "C": 0.5}


def exact(problem: ProgramProblem) -> Fraction:
    return present(optimum(problem).exact)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_two_levels_are_a_classification(seed: int, loss: Any) -> None:
    """Both have the optimum of svm.soft, or of svm.l2, as the project's own exact solver finds it."""
    data = levelled(seed, 2)
    due = present(exact_optimum(classification(data["X"], 2.0 * data["y"] - 1.0, C=0.5, loss=loss)).value)
    families = [implicit, explicit] if loss == "hinge" else [implicit_l2]
    assert [exact(family(data)) for family in families] == [due] * len(families)


@pytest.mark.parametrize("seed", range(4))
def test_the_hard_machine_is_the_hard_ranking_times_4(seed: int) -> None:
    data = levelled(seed, 3)
    data["y"] = np.digitize(data["X"] @ np.array([1.0, 3.0]), [-2.5, 2.5])
    due = present(exact_optimum(ranking(data["X"], data["y"], C=np.inf)).value)
    assert exact(hard({"X": data["X"], "y": data["y"]})) == 4 * due


def test_points_out_of_order_have_no_hard_machine() -> None:
    problem = hard({"X": np.array([[0.0], [1.0], [2.0]]), "y": np.array([0, 2, 1])})
    assert {optimum(problem, id).lower for id in problem.formulations} == {float("inf")}


def test_without_their_order_thresholds_may_cross() -> None:
    """Two points of each outer level and one between, all in one place: b_0 goes up to 1 and b_1 down to -1, for 4 C instead of 6 C."""
    problem = explicit({"X": np.zeros((5, 1)), "y": np.array([0, 0, 1, 2, 2]), "C": 1.0})
    assert [optimum(problem).exact, optimum(problem, "ord.explicit.unordered").exact] == [6, 4]
    crossed = problem.values_at("ord.explicit.unordered", present(optimum(problem, "ord.explicit.unordered").x))["b"]
    assert crossed.tolist() == [1, -1]


@pytest.mark.parametrize("C", [0.25, 1.0, 64.0])
def test_soft_ordinal_regression_is_no_soft_ranking(C: float) -> None:
    """At 0, 1, 2 of the levels 0, 2, 1 the ordinal w is 0 for every C.

    That of the ranking is the lesser of 2 C and 1/2.
    """
    data = {"X": np.array([[0.0], [1.0], [2.0]]), "y": np.array([0, 2, 1]), "C": C}
    problem = implicit(data)
    assert optimum(problem).exact == 4 * Fraction(C)
    assert problem.values_at("ord.implicit.primal", present(optimum(problem).x))["w"].tolist() == [0.0]
    w = problem.values_at("ord.implicit.rank_l1", present(optimum(problem, "ord.implicit.rank_l1").x))["w"]
    assert w.tolist() == [min(2 * C, 0.5)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("family", [implicit, implicit_l2])
def test_thresholds_of_all_rows_are_in_order_by_themselves(family: Any, seed: int) -> None:
    problem = family(levelled(seed, 4))
    b = problem.values_at(f"{family.id}.primal", present(optimum(problem).x))["b"]
    assert (np.diff(b) >= 0).all()
    assert family is implicit or (np.diff(b) > 0).all()


def test_levels_are_whole_numbers_and_more_than_one() -> None:
    for y in ([0, 0], [0, 0.5], [-1, 1]):
        with pytest.raises(ValueError, match="levels, whole numbers from 0 on"):
            optimum(implicit({"X": np.zeros((2, 1)), "y": np.array(y), "C": 1.0}))


@pytest.mark.parametrize("seed", range(6))
def test_losses_bound_what_the_thresholds_and_the_pairs_cost(seed: int) -> None:
    """sum |h - y| is at most the losses, and pairs of margin 2, weighted by their levels, at most (n - 1) times them."""
    data = levelled(seed, 4)
    problem, y = implicit(data), data["y"]
    values = problem.values_at("ord.implicit.primal", present(optimum(problem).x))
    f, losses = data["X"] @ values["w"], float(values["xi"].sum())
    assert np.abs((f[:, None] >= values["b"]).sum(axis=1) - y).sum() <= losses + 1e-9
    i, j = np.nonzero(np.subtract.outer(y, y) > 0)
    assert ((y[i] - y[j]) * np.maximum(2 - f[i] + f[j], 0)).sum() <= (len(y) - 1) * losses + 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": ...}, "the data lack C: ordinal regression takes X, y, C"),
        ({"y": [0, 1, 2, 1]}, "y must have one number for each of the 3 rows"),
        ({"X": [0.0, 1.0, 2.0]}, "X must hold finite numbers, a row for every point"),
        ({"X": [], "y": []}, "X must hold finite numbers, a row for every point"),
        ({"C": 0}, "C must be a positive finite number, not 0"),
        ({"C": -1}, "C must be a positive finite number, not -1"),
        ({"y": [0, 0, 0]}, "with one level there is no threshold"),
        ({"y": [0, 0.5, 1]}, "y must hold levels, whole numbers"),
        ({"weights": [1, 1]}, r"weights must be 3 numbers in \[0, inf\]"),
        ({"weights": [0, 0, 0]}, "weights must be finite, and not all of them 0"),
        ({"weights": [1, 1e400, 1]}, "weights must be finite, and not all of them 0"),
    ],
)
def test_data_that_are_no_ordinal_regression_are_a_sentence(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    data = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 2], "C": 1.0} | change
    file = tmp_path / "data.json"
    file.write_text(json.dumps({name: value for name, value in data.items() if value is not ...}), encoding="utf-8")
    for own in (implicit, implicit_l2, explicit, sum_of_margins, *(() if "C" in change else (hard,))):
        with pytest.raises(ValueError, match=message):
            problem_of(own, str(file), None)


def test_a_formulation_that_is_skipped_alone_is_named() -> None:
    """Of three levels only the form for two is skipped; the backends answer the others."""
    problem = implicit({"X": np.array([[0.0], [1.0], [3.0]]), "y": np.array([0, 1, 2]), "C": 1.0})
    (skip,) = skips(compare(problem, solvers=["CLARABEL"]).families, [])
    assert skip == "CLARABEL on ord.implicit.two_levels (there are 3 levels, and classification has two)"
