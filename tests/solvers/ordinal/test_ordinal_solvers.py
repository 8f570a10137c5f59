"""Solvers of ordinal regression: exact optima, mutual agreement, proven intervals."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import numpy as np
import pytest

from equimargin.formulations import Kernel, MarginProblem, classification, linear, ordinal, rbf
from equimargin.formulations.documents.ordered_thresholds import explicit
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.proofs.program import optimum
from equimargin.solvers import SOLVERS, Limits, Solution, Status, solve
from equimargin.solvers.ordinal.machine import with_all_thresholds, with_intervals, with_neighbours
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.ordinal.ordered_thresholds import CLOSE, OrderedRun
from equimargin.solvers.ordinal.smoothed import LossSmoothing
from narrow import present
from proven import exact, proven

LIMITS = Limits(1e-9)
LOSSES: tuple[Literal["hinge", "squared_hinge"], ...] = ("hinge", "squared_hinge")
BOTH = ("columns", "threshold_newton")


def points(seed: int, n: int = 40, levels: int = 4) -> tuple[Array, Array]:
    """Return points on a coarse grid, some equal, and levels, some of them rare."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)) * 2) / 2
    f = X @ np.array([1.0, -1.0, 0.5]) + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(f, np.arange(1, levels) / levels), f).astype(float)


def run(name: str, problem: MarginProblem, limits: Limits = LIMITS) -> Solution:
    solver = SOLVERS[name]
    assert solver.refusal(problem) is None
    found = solver.run(problem, limits, None)
    assert isinstance(found, Solution)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", BOTH)
def test_interval_holds_the_exact_optimum_and_is_narrow(name: str, loss: Any, seed: int) -> None:
    weights = None if seed % 2 else np.resize([1.0, 0.0, 3.0, 0.5], 12)
    problem = ordinal(*points(seed, 12, 3), 1.0, linear(), loss, weights)
    found = run(name, problem)
    assert found.status is Status.OPTIMAL
    assert found.lower <= exact(problem) <= found.upper
    assert found.interval.relative_width < 1e-8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, np.inf])
def test_rows_that_are_all_hard_by_weight_have_a_hard_margin_at_any_cost(
    loss: Any, levels: int, C: float
) -> None:
    y = np.array([0.0, 1.0, 2.0, 2.0]).clip(max=levels - 1)
    problem = ordinal([[0.0], [3.0], [6.0], [10.0]], y, C, None, loss, sample_weight=[np.inf] * 4)
    found = run("hard_levels", problem)
    assert found.lower <= 2 / 9 * (1 + 1e-9)
    assert found.upper >= 2 / 9 * (1 - 1e-9)
    assert found.interval.relative_width <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_columns_reach_the_requested_accuracy(loss: Any, kernel: Kernel, C: float) -> None:
    problem = ordinal(*points(1, 120), C, kernel, loss)
    found = run("columns", problem, Limits(1e-7))
    assert (found.status, found.relative_gap <= 1e-7) == (Status.OPTIMAL, True)
    assert found.interval.relative_width < 2e-7
    assert np.abs(problem.S.T @ np.asarray(found.dual)).max() == 0


def test_blocks_of_columns_reach_what_all_points_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ordinal(*points(2, 150), 1.0, rbf(0.5))
    whole = run("columns", problem, Limits(1e-7))
    monkeypatch.setattr(import_module("equimargin.solvers.dual.columns"), "BLOCK", 24)
    parts = run("columns", problem, Limits(1e-7))
    assert parts.status is Status.OPTIMAL
    assert max(parts.lower, whole.lower) <= min(parts.upper, whole.upper)


def test_columns_begin_at_a_warm_start() -> None:
    problem = ordinal(*points(2, 150), 1.0, rbf(0.5))
    first = solve(problem, "columns", tol=1e-6)
    second = solve(problem, "columns", tol=1e-6, warm_start=first)
    assert (second.status, second.iterations) == (Status.OPTIMAL, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", LOSSES)
def test_no_threshold_is_better_than_the_best_ones(loss: Any, seed: int) -> None:
    """Values have ties; both ends of every interval are best."""
    rng = np.random.default_rng(seed)
    X, y = points(seed, 15)
    problem = ordinal(
        X, y, 1.0, linear(), loss, rng.choice([0.5, 1.0, 3.0], 15) if seed % 2 else None
    )
    f = np.round(rng.normal(size=15) * 2) / 2
    lower, upper = problem.best_bias(f)
    least = problem.primal(f, 0.0, lower)
    assert problem.primal(f, 0.0, upper) == pytest.approx(least, rel=1e-12)
    for k in range(problem.T):
        for b in np.linspace(-4, 4, 65):
            moved = lower.copy()
            moved[k] = b
            assert problem.primal(f, 0.0, moved) >= least * (1 - 1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_a_level_without_points_beyond_it_costs_nothing(name: str) -> None:
    found = run(name, ordinal(np.zeros((2, 1)), [1, 1], levels=2))
    assert (found.status, found.value, found.bias_interval) == (Status.OPTIMAL, 0.0, (1.0, 1.0))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", BOTH)
def test_a_weight_of_2_is_two_copies(name: str, loss: Any) -> None:
    X, y = points(3)
    copied = ordinal(np.repeat(X, 2, axis=0), np.repeat(y, 2), 1.0, linear(), loss)
    weighed = ordinal(X, y, 1.0, linear(), loss, np.full(40, 2.0))
    one, two = run(name, copied).interval, run(name, weighed).interval
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)


def test_limits_end_a_run_with_its_best_point() -> None:
    problem = ordinal(*points(4, 100), 100.0, rbf(0.5))
    short = run("columns", problem, Limits(1e-12, max_iter=5))
    assert (short.status, short.iterations) == (Status.ITERATION_LIMIT, 5)
    assert short.lower <= short.upper < np.inf
    for name, late in (("columns", problem), ("threshold_newton", ordinal(*points(4, 100)))):
        assert run(name, late, Limits(1e-12, time_limit=1e-9)).status is Status.TIME_LIMIT


@pytest.mark.parametrize("name", BOTH)
def test_a_callback_sees_points_with_thresholds_and_ends_the_run(name: str) -> None:
    seen = []

    def callback(iterations: int, lower: float, upper: float, point: Any) -> bool:
        seen.append(np.shape(point.b))
        return True

    found = run(name, ordinal(*points(4, 30)), Limits(1e-12, callback=callback))
    assert (found.status, seen) == (Status.CALLBACK, [(3,)])


def test_newton_refuses_kernels_without_features_and_hard_rows() -> None:
    X, y = points(0)
    assert (
        str(SOLVERS["threshold_newton"].refusal(ordinal(X, y, kernel=rbf(1.0))))
        == "the rbf kernel has no w"
    )
    hard = ordinal(X, y, sample_weight=np.append(np.ones(39), np.inf))
    assert [str(SOLVERS[name].refusal(hard)).partition(",")[0] for name in BOTH] == [
        "hard rows (infinite costs)"
    ] * 2


@pytest.mark.parametrize(
    "name",
    [
        "smo",
        "newton",
        "huber",
        "tron",
        "coordinate_descent",
        "homotopy",
        "penalty",
        "dual_active_set",
    ],
)
def test_solvers_of_one_bias_refuse_thresholds(name: str) -> None:
    for problem in (
        ordinal(*points(0)),
        ordinal(*points(0), loss="squared_hinge"),
        ordinal(*points(0), C=np.inf),
    ):
        assert SOLVERS[name].refusal(problem) is not None


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)], ids=["linear", "rbf"])
def test_hard_levels_are_proven(kernel: Kernel) -> None:
    X, _ = points(5)
    problem = ordinal(X, np.digitize(X @ [1.0, 3.0, 0.5], [-2.2, 2.3]), np.inf, kernel)
    found = solve(problem, tol=1e-9)
    assert (found.solver, found.status) == ("hard_levels", Status.OPTIMAL)
    assert found.interval.relative_width < 1e-8
    assert np.abs(problem.S.T @ np.asarray(found.dual)).max() < 1e-9 * np.asarray(found.dual).sum()
    assert found.predict(X).tolist() == np.asarray(problem.rows.y).tolist()


def test_levels_out_of_order_have_a_ray() -> None:
    found = solve(ordinal([[0.0], [1.0], [2.0]], [0, 2, 1], np.inf))
    assert (found.status, found.value) == (Status.INFEASIBLE, np.inf)
    assert found.ray is not None


def test_one_threshold_is_one_bias() -> None:
    """The bias of two levels is a number, with the value and sign of a classification."""
    X, y = points(6, levels=2)
    two, signs = solve(ordinal(X, y), tol=1e-10), solve(classification(X, 2 * y - 1), tol=1e-10)
    assert isinstance(two.bias, float)
    assert two.bias == pytest.approx(signs.bias, abs=1e-3)
    assert two.value == pytest.approx(signs.value, rel=1e-9)
    # One point is on the boundary, where the sign is rounding.
    clear = np.abs(signs.decision_function(X)) > 1e-6
    assert clear.sum() >= 39
    assert two.predict(X)[clear].tolist() == ((signs.predict(X)[clear] + 1) / 2).tolist()


@pytest.mark.parametrize("kind", ["squared", "hinge", "neighbours", "sum"])
def test_smoothed_losses_are_the_machine_s_and_their_derivatives_are_those_along_a_line(
    kind: str,
) -> None:
    rng = np.random.default_rng(5)
    X, y = points(5)
    Z, cost = Explicit(X, False), np.ones(40)
    asked = with_all_thresholds(Z, y, cost, 3, kind == "squared")
    if kind in ("neighbours", "sum"):
        asked = (with_neighbours if kind == "neighbours" else with_intervals)(
            Z, y.astype(int), cost, 3
        )
    (f, df), (b, db) = rng.normal(size=(2, 40)), rng.normal(size=(2, asked.T))
    phi = LossSmoothing.of(asked)
    phi = phi.centred(phi.at(f, b).G, phi.order(b))
    sums = phi.at(f, b)
    short = np.maximum(asked.margin - asked.S * (f[:, None] - np.maximum.accumulate(b)), 0.0)
    assert sums.loss == pytest.approx(
        float((asked.C * (short**2 if asked.squared else short)).sum()), rel=1e-12
    )
    assert np.abs(sums.beta - sums.G.sum(axis=0)).max() < 1e-12
    first, second = phi.along(f, b, df, db)
    by_b = -sums.G.sum(axis=1) - np.append(phi.order(b), 0.0) + np.append(0.0, phi.order(b))
    assert first == pytest.approx(-float(sums.beta @ df) - float(by_b @ db), rel=1e-9)
    t = 1e-7
    assert second == pytest.approx(
        (phi.along(f + t * df, b + t * db, df, db)[0] - first) / t, rel=1e-4
    )
    A = phi.curvature(f, b)
    curved = float((A * (df - db[:, None]) ** 2).sum())
    assert second >= curved * (1 - 1e-12)
    assert second == pytest.approx(
        curved + phi.tau * float((phi.order(b) > 0) @ (db[:-1] - db[1:]) ** 2), rel=1e-9
    )


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(
    ("size", "C"), [(1.0, 1.0), (100.0, 1.0), (1e4, 1.0), (1.0, 1e4), (1e4, 1e-3)]
)
def test_newton_ends_at_large_features_and_costs(size: float, C: float, n: int) -> None:
    """Steps of two multipliers do not, within millions of them."""
    X, y = points(1, n)
    found = run("threshold_newton", ordinal(size * X, y, C))
    assert found.status is Status.OPTIMAL
    assert present(found.iterations) < 100
    # Multipliers on the dyadic grid are as coarse as float64.
    assert found.interval.relative_width < 1e-3


@pytest.mark.parametrize("size", [1.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_machines_in_order_have_the_exact_optimum(seed: int, size: float) -> None:
    """Levels are sampled out of order, so that thresholds meet.

    Some weights are 0, and a middle level may be empty.
    """
    rng = np.random.default_rng(seed)
    X, y = points(seed, 12)
    X, y, cost = size * X, rng.permutation(y) if seed % 2 else y, rng.choice([0.0, 1.0, 2.0], 12)
    y[y == 1] += seed == 3
    cost[[y.argmin(), y.argmax()]] = 1.0
    due = optimum(explicit({"X": X, "y": y, "C": 0.5, "weights": cost}))
    machine = with_neighbours(Explicit(X, False), y.astype(int), 0.5 * cost, int(y.max()))
    fit = OrderedRun(machine)
    newton(machine, fit)
    assert fit.gap <= CLOSE
    short = np.maximum(1 - machine.S * ((X @ fit.w)[:, None] - fit.b), 0.0)
    assert fit.w @ fit.w / 2 + (machine.C * short).sum() == pytest.approx(
        float(present(due.exact)), rel=1e-8, abs=1e-8
    )
    assert (np.diff(fit.b) >= 0).all()


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("C", [1e-155, 1e-160, 1e-200, 1e-300])
def test_what_underflows_is_counted(name: str, C: float) -> None:
    """Squares of multipliers below the smallest float are no zeros.

    Otherwise the lower end would be above the upper one.
    """
    interval = run(name, ordinal(*points(0), C, loss="squared_hinge")).interval
    assert interval.lower <= interval.upper


def test_every_form_of_hard_levels_out_of_order_has_no_optimum() -> None:
    problem = ordinal([[0.0], [1.0], [2.0]], [0, 2, 1], np.inf)
    assert {
        proven(problem, name).lower for name in ("primal", "dual", "neighbours", "rank_hard")
    } == {np.inf}
