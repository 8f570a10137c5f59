"""Ordinal regression: proofs of its families and their relations, on exact optima.

The relations are to classification and to ranking.
"""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from equimargin.comparison import compare
from equimargin.estimators import OrdinalClassifier
from equimargin.formulations import REGISTRY, classification, interval, ordinal, ranking, rbf
from equimargin.formulations.documents.ordered_thresholds import explicit
from equimargin.formulations.documents.sum_of_margins import sum_of_margins
from equimargin.formulations.problem import Point
from equimargin.own import ProgramProblem, optimum
from equimargin.own.data import load_problem
from equimargin.proofs import Agreement, certificate, examine_solution, judge
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.report.sentences import skips
from equimargin.solvers import (
    SOLVERS,
    Limits,
    Solution,
    Status,
    exact_optimum,
    exact_path,
    regularization_path,
    solve,
)
from equimargin.solvers.ordinal.ordered_thresholds import by_newton
from narrow import present
from proven import exact, values


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_of_margins_is_a_soft_margin_at_another_cost(seed: int) -> None:
    """Theorem 8 of two levels, where v = b - a > 0 is optimal.

    w_soft = 2 w / v at the cost 2 C / v, and v_soft = 4 (v* + v) / v^2.
    """
    data = levelled(seed, 2) | {"C": 1.0}
    data["X"][:, 0] += 9 * data["y"]
    problem = sum_of_margins(data)
    values = problem.values_at("ord.sum.primal", present(optimum(problem).x))
    width = Fraction(float(values["b"][0] - values["a"][0]))
    assert width > 0
    soft = classification(data["X"], 2.0 * data["y"] - 1.0, C=float(2 / width))
    due = present(exact_optimum(soft).value)
    assert float(due) == pytest.approx(
        float(4 * (exact_of_data(problem) + width) / width**2), rel=1e-12
    )


@pytest.mark.parametrize("counts", [(1, 2, 2), (2, 0, 3), (3, 1, 1), (4, 4), (1, 3, 0, 2)])
@pytest.mark.parametrize("C", [0.25, 0.5, 1.0])
def test_the_sum_of_margins_has_an_optimum_where_the_outer_levels_are_dear_enough(
    counts: tuple[int, ...], C: float
) -> None:
    """By Theorem 8 it is finite if and only if C n_0 >= 1 and C n_{L-1} >= 1.

    The solver and the published form agree.
    """
    y = np.repeat(np.arange(len(counts)), counts)
    problem = sum_of_margins(
        {"X": np.random.default_rng(1).integers(-3, 4, (len(y), 2)).astype(float), "y": y, "C": C}
    )
    finite = C * min(counts[0], counts[-1]) >= 1
    assert {
        np.isfinite(optimum(problem, f"ord.sum.{name}").upper) for name in ("primal", "dual")
    } == {finite}
    assert (REGISTRY["ord.sum.unit_ball"].refusal(problem) is None) == finite
    assert (by_newton(problem) == -np.inf) != finite


@pytest.mark.parametrize("apart", [0, 9])
def test_the_sum_of_margins_is_below_0_where_levels_are_apart(apart: int) -> None:
    """Levels in one place have v = 0 and w = 0.

    The published optimum is v where that of the square is -v^2 / 2.
    """
    data = {"X": np.array([[0.0], [apart], [2.0 * apart]]), "y": np.arange(3), "C": 1.0}
    problem = sum_of_margins(data)
    # The widths are |x_1 - x_0| + |x_2 - x_1|.
    assert optimum(problem).exact == -Fraction((2 * apart) ** 2, 2)
    printed = optimum(problem, "ord.sum.unit_ball")
    assert printed.lower <= float(-Fraction((2 * apart) ** 2, 2)) + 1e-9
    assert printed.upper >= float(-Fraction((2 * apart) ** 2, 2)) - 1e-9


def test_a_place_of_no_slack_is_no_optimum_while_thresholds_pull() -> None:
    """At w = 0 and a = b = 0 the cost is 0.

    The multipliers of a_0 sum to less than 1: the optimum is -1/2, at w = -1.
    """
    data = {"X": np.array([[2.0], [1.0], [1.0]]), "y": np.array([0, 1, 1]), "C": 1.0}
    assert exact_of_data(sum_of_margins(data)) == Fraction(-1, 2)
    assert by_newton(sum_of_margins(data))["w"] == pytest.approx([-1.0], rel=1e-9)


@pytest.mark.parametrize("family", [explicit, sum_of_margins])
def test_a_weight_is_so_many_copies_of_a_point(family: Any) -> None:
    """Weights are 0, 1, 2 and 3, in every form that supports them."""
    data = levelled(3, 3, 6) | {"C": 1.0}
    weights = np.array([1, 2, 3, 0, 1, 2])
    copied = family(
        {"X": np.repeat(data["X"], weights, axis=0), "y": np.repeat(data["y"], weights), "C": 1.0}
    )
    weighed = family(data | {"weights": weights.astype(float)})
    assert exact_of_data(weighed) == exact_of_data(copied)
    for entry in weighed.formulations.values():
        if entry.refusal(weighed) is None and not entry.control:
            found = optimum(weighed, entry.id)
            assert found.lower - 1e-9 <= float(exact_of_data(copied)) <= found.upper + 1e-9, (
                entry.id
            )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_weight_of_all_thresholds_is_so_many_copies_of_a_point(loss: Any) -> None:
    data, weights = levelled(3, 3, 6), np.array([1, 2, 3, 0, 1, 2])
    copied = ordinal(
        np.repeat(data["X"], weights, axis=0), np.repeat(data["y"], weights), loss=loss
    )
    weighed = ordinal(data["X"], data["y"], loss=loss, sample_weight=weights)
    assert {exact(weighed, name) for name in ("primal", "dual", "beta")} == {exact(copied)}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_optima_of_any_reading_of_the_floats_are_near_the_proven_interval(loss: Any) -> None:
    rng = np.random.default_rng(0)
    for m in range(4, 9):
        X, y = rng.integers(-30, 31, (m, 2)) / 10, levelled(m, 3, m)["y"]
        problem = ordinal(X, y, 0.1, loss=loss, sample_weight=rng.choice([0.3, 1.0, 2.0], m))
        found = solve(problem, tol=1e-10)
        assert float(exact(problem)) == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_estimator_proves_a_narrow_interval_of_a_thousand_rows(loss: Any) -> None:
    """The data are like the red wines.

    They have 1,599 rows, 11 columns in different units, 6 levels, most rows in the
    middle.
    """
    X, y = wines()
    lower, upper = OrdinalClassifier(loss=loss).fit(X, y).objective_bounds_
    problem = ordinal(X, y, loss=loss)
    found = SOLVERS["threshold_newton"].run(problem, Limits(1e-10), None)
    assert found.interval.relative_width <= 1e-8
    assert max(found.lower, lower) <= min(found.upper, upper)
    judged = judge(problem.family, [examine_solution(problem, found)], problem.scale)
    assert [(j.agreement, j.evidence.run.solver) for j in judged.judgements] == [
        (Agreement.AGREES, "threshold_newton")
    ]


def wines(m: int = 1599) -> tuple[Any, Any]:
    """Return X (m, 11) and levels from 0 to 5."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(m, 11)) @ (np.eye(11) + 0.3 * rng.normal(size=(11, 11)))
    centre = np.array([8.3, 0.53, 0.27, 2.5, 0.087, 16, 46, 0.9967, 3.31, 0.66, 10.4])
    spread = np.array([1.7, 0.18, 0.19, 1.4, 0.047, 10, 33, 0.0019, 0.15, 0.17, 1.1])
    places = [1, 3, 2, 1, 3, 0, 0, 5, 2, 2, 1]
    X = np.column_stack(
        [np.round(column, k) for column, k in zip((centre + spread * Z).T, places, strict=True)]
    )
    score = 0.5 * Z[:, 10] - 0.4 * Z[:, 1] + rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, [0.006, 0.04, 0.466, 0.865, 0.989]))


@pytest.mark.parametrize("name", ["ord.explicit.newton", "ord.sum.newton"])
def test_solver_without_time_stops_at_once_and_says_why(name: str) -> None:
    family = explicit if name == "ord.explicit.newton" else sum_of_margins
    problem = family(
        {
            "X": np.array([[-3.0], [-2.0], [0.0], [1.0], [3.0], [5.0]]),
            "y": np.array([0, 0, 1, 1, 2, 2]),
            "C": 1.0,
        }
    )
    assert SOLVERS[name].run(problem, Limits(time_limit=60.0), None).status is Status.OPTIMAL
    late = SOLVERS[name].run(problem, Limits(time_limit=1e-9), None)
    assert late.status is Status.TIME_LIMIT
    assert late.reason.startswith("given up: time ran out")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_columns_end_their_work_near_their_limit(loss: Any) -> None:
    started = process_time()
    found = SOLVERS["columns"].run(
        ordinal(*wines(), loss=loss), Limits(1e-12, time_limit=0.5), None
    )
    assert process_time() - started <= 2.0
    assert found.status is Status.TIME_LIMIT
    assert found.lower < found.upper < np.inf


def levelled(seed: int, levels: int, m: int = 8) -> dict[str, Any]:
    """Return points on a grid with every level at least once."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(levels), rng.integers(0, levels, m - levels))
    return {"X": rng.integers(-3, 4, (m, 2)).astype(float), "y": y, "C": 0.5}


def exact_of_data(problem: ProgramProblem) -> Fraction:
    return present(optimum(problem).exact)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_two_levels_are_a_classification(seed: int, loss: Any) -> None:
    """Both have the optimum of svm.soft, or of svm.l2, by the project's exact solver."""
    data = levelled(seed, 2)
    due = present(
        exact_optimum(classification(data["X"], 2.0 * data["y"] - 1.0, C=0.5, loss=loss)).value
    )
    two = ordinal(data["X"], data["y"], 0.5, loss=loss)
    assert {exact(two, name) for name in ("primal", "dual", "beta", "two_levels")} == {due}
    assert loss != "hinge" or exact_of_data(explicit(data)) == due
    assert exact_optimum(two).value == due


@pytest.mark.parametrize("seed", range(4))
def test_the_hard_machine_is_the_hard_ranking_times_4(seed: int) -> None:
    data = levelled(seed, 3)
    data["y"] = np.digitize(data["X"] @ np.array([1.0, 3.0]), [-2.5, 2.5])
    due = present(exact_optimum(ranking(data["X"], data["y"], C=np.inf)).value)
    problem = ordinal(data["X"], data["y"], np.inf)
    assert {exact(problem, name) for name in ("primal", "dual", "neighbours", "rank_hard")} == {
        4 * due
    }


def test_without_their_order_thresholds_may_cross() -> None:
    """Two points of each outer level and one between coincide.

    b_0 rises to 1 and b_1 falls to -1, for 4 C instead of 6 C.
    """
    problem = explicit({"X": np.zeros((5, 1)), "y": np.array([0, 0, 1, 2, 2]), "C": 1.0})
    assert [optimum(problem).exact, optimum(problem, "ord.explicit.unordered").exact] == [6, 4]
    crossed = problem.values_at(
        "ord.explicit.unordered", present(optimum(problem, "ord.explicit.unordered").x)
    )["b"]
    assert crossed.tolist() == [1, -1]


@pytest.mark.parametrize("C", [0.25, 1.0, 64.0])
def test_soft_ordinal_regression_is_no_soft_ranking(C: float) -> None:
    """At 0, 1, 2 of the levels 0, 2, 1 the ordinal w is 0 for every C.

    The w of the ranking is the minimum of 2 C and 1/2.
    """
    problem = ordinal([[0.0], [1.0], [2.0]], [0, 2, 1], C)
    assert exact(problem) == 4 * Fraction(C)
    assert values(problem)["w"].tolist() == [0.0]
    assert values(problem, "rank_l1")["w"].tolist() == [min(2 * C, 0.5)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_thresholds_of_all_rows_are_in_order_by_themselves(loss: Any, seed: int) -> None:
    data = levelled(seed, 4)
    b = values(ordinal(data["X"], data["y"], 0.5, loss=loss))["b"]
    assert (np.diff(b) >= 0).all()
    assert loss == "hinge" or (np.diff(b) > 0).all()


def test_levels_are_whole_numbers_and_more_than_one() -> None:
    for y in ([0, 0], [0, 0.5], [-1, 1]):
        with pytest.raises(ValueError, match="levels, whole numbers from 0 on"):
            ordinal(np.zeros((2, 1)), y)
    with pytest.raises(
        ValueError,
        match="levels must be at least 2 and above every level of y, not 2; the largest level is 2",
    ):
        ordinal(np.zeros((2, 1)), [0, 2], levels=2)
    for y, levels in (([0, 10**12], None), ([0, 1e300], None), ([0, 1], 10**12)):
        with pytest.raises(ValueError, match="thresholds make more than 1,000,000,000 rows"):
            ordinal(np.zeros((2, 1)), y, levels=levels)


def test_thresholds_are_an_array_and_nothing_else() -> None:
    problem = ordinal(np.arange(3.0)[:, None], [0, 1, 2])
    for b in (0.0, np.zeros(3)):
        with pytest.raises(
            ValueError,
            match=r"the point's b must be a number for each threshold, of shape \(2,\), and is of "
            r"shape",
        ):
            interval(problem, Point(w=np.ones(1), b=b))
    found = interval(problem, Point(w=np.ones(1), b=np.array([-0.5, -1.5])))
    assert found.upper == pytest.approx(0.5 + 4 * 0.5)


def test_one_bias_is_what_certificates_and_exact_solvers_know() -> None:
    problem = ordinal(np.arange(3.0)[:, None], [0, 1, 2])
    with pytest.raises(ValueError, match="certificates of this schema have no levels"):
        certificate(solve(problem))
    for use in (exact_optimum, regularization_path, exact_path):
        with pytest.raises(
            ValueError, match="there are 2 thresholds, and this method supports one bias"
        ):
            use(problem)


def test_certificates_of_programs_prove_the_optimum(tmp_path: Path) -> None:
    problem = ordinal([[0.0], [1.0], [3.0]], [0, 1, 2], 0.5)
    document = certificate_of_definition(problem)
    assert document["schema"] == "equimargin-certificate/2"
    with pytest.raises(ValueError, match="needs explicit features, and the rbf kernel has none"):
        certificate_of_definition(ordinal([[0.0], [1.0], [3.0]], [0, 1, 2], 0.5, rbf(1.0)))
    written = compare(problem, solvers=["CLARABEL"]).certify(tmp_path)
    assert written == {"ord.implicit": tmp_path / "ord.implicit.json"}


def test_stability_bounds_thresholds_functions_and_rows() -> None:
    X, y = wines(120)
    problem = ordinal(X / X.std(axis=0), y, levels=6)
    found, other = solve(problem, tol=1e-12), solve(problem, "columns", tol=1e-6)
    ball = other.stability()
    lower, upper = ball.bias
    assert lower.shape == (5,)
    assert (lower <= found.bias + 1e-9).all()
    assert (found.bias - 1e-9 <= upper).all()
    least, most = ball.decisions()
    f = found.decision_function(problem.X)
    assert (least <= f + 1e-9).all()
    assert (f - 1e-9 <= most).all()
    u, signs = problem.slack(f, found.bias), ball.rows()
    assert (u[signs > 0] > 0).all()
    assert (u[signs < 0] < 0).all()
    with pytest.raises(ValueError, match="points have no signs with 5 thresholds"):
        ball.signs()


def test_a_solution_is_read_back_and_predicts_levels(tmp_path: Path) -> None:
    X, y = wines(60)
    found = solve(ordinal(X, y, kernel=rbf(1e-3), sample_weight=np.resize([1.0, 2.0], 60)))
    found.save(tmp_path / "levels.npz")
    again = Solution.load(tmp_path / "levels.npz")
    assert (again.problem.family, again.bias.tolist(), again.interval) == (
        "ord.implicit",
        found.bias.tolist(),
        found.interval,
    )
    f = again.decision_function(X)
    assert again.predict(X).tolist() == (f[:, None] >= -again.bias).sum(axis=1).tolist()
    assert pickle.loads(pickle.dumps(found)).interval == found.interval


def test_rows_without_thresholds_have_one_bias() -> None:
    """Pickles of earlier versions have neither k nor T."""
    rows = classification([[0.0], [1.0]], [-1, 1]).rows
    assert {"k", "T"}.isdisjoint(vars(rows))
    assert (rows.k, rows.T) == (None, 1)


@pytest.mark.parametrize("seed", range(6))
def test_losses_bound_what_the_thresholds_and_the_pairs_cost(seed: int) -> None:
    """sum |h - y| is at most the losses.

    Pairs of margin 2, weighted by their levels, are at most (n - 1) times them.
    """
    data = levelled(seed, 4)
    y, at = data["y"], values(ordinal(data["X"], data["y"], 0.5))
    f, losses = data["X"] @ at["w"], float(at["xi"].sum())
    assert np.abs((f[:, None] >= at["b"]).sum(axis=1) - y).sum() <= losses + 1e-9
    i, j = np.nonzero(np.subtract.outer(y, y) > 0)
    assert ((y[i] - y[j]) * np.maximum(2 - f[i] + f[j], 0)).sum() <= (len(y) - 1) * losses + 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": ...}, "they lack C; they are X, y, C, weights"),
        ({"y": [0, 1, 2, 1]}, "y must be 3 numbers, one for every row of X"),
        ({"X": [0.0, 1.0, 2.0]}, "X must be a matrix with points in rows"),
        ({"X": [], "y": []}, "X must be a matrix with points in rows"),
        (
            {"weight": [1, 1, 1]},
            "they have 'weight', and are X, y, C, weights; did you mean weights",
        ),
        ({"C": 0}, "C must be a positive finite number, not 0"),
        ({"C": -1}, "C must be a positive finite number, not -1"),
        ({"y": [0, 0, 0]}, "with one level there is no threshold"),
        ({"y": [0, 0.5, 1]}, "y must hold levels, whole numbers"),
        ({"weights": [1, 1]}, "weights must be 3 numbers, one for every row of X"),
        ({"weights": [0, 0, 0]}, "weights must not all be 0"),
        ({"weights": [1, 1e400, 1]}, "weights must hold finite numbers"),
    ],
)
def test_data_that_are_no_ordinal_regression_are_a_sentence(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    data = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 2], "C": 1.0} | change
    file = tmp_path / "data.json"
    file.write_text(
        json.dumps({name: value for name, value in data.items() if value is not ...}),
        encoding="utf-8",
    )
    for own in (explicit, sum_of_margins):
        with pytest.raises(ValueError, match=message):
            load_problem(own, str(file), None)


def test_a_formulation_that_is_skipped_alone_is_named() -> None:
    """Of three levels the form for two alone is skipped; the backends solve the others."""
    problem = ordinal([[0.0], [1.0], [3.0]], [0, 1, 2])
    (skip,) = skips(compare(problem, solvers=["CLARABEL"]).families)
    assert (
        skip
        == "CLARABEL on ord.implicit.two_levels (there are 3 levels, and classification has two)"
    )
