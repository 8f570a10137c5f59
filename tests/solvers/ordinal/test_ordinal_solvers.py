"""The solvers of ordinal regression against exact optima, against each other, and by the intervals that they prove."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from equimargin.documents.ordinal import explicit, implicit, implicit_l2
from equimargin.formulations import linear, rbf
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.proofs.program import optimum
from equimargin.solvers import Limits, Status
from equimargin.solvers.ordinal.chain import Neighbours, SumOfMargins
from equimargin.solvers.ordinal.machine import AnyMachine, Machine
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.ordinal.smo import smo
from equimargin.solvers.ordinal.smoothed import Smoothed
from narrow import present

LIMITS = Limits(1e-9)


def machine(seed: int, kernel: Kernel, squared: bool, n: int = 40, levels: int = 4, C: float = 1.0) -> Machine:
    """Points on a coarse grid, some of them equal, some levels hardly taken."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)) * 2) / 2
    f = X @ np.array([1.0, -1.0, 0.5]) + rng.normal(size=n)
    return Machine(X, np.searchsorted(np.quantile(f, np.arange(1, levels) / levels), f), np.full(n, C), kernel, squared)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("squared", [False, True])
def test_the_interval_has_the_exact_optimum_in_it_and_is_narrow(seed: int, squared: bool) -> None:
    asked = machine(seed, linear(), squared, n=12, levels=3)
    family = implicit_l2 if squared else implicit
    due = present(optimum(family({"X": asked.X, "y": asked.y, "C": 1.0})).exact)
    for fit in (smo(asked, LIMITS), newton(asked, LIMITS)):
        assert fit.status is Status.OPTIMAL
        assert fit.interval.lower <= due <= fit.interval.upper
        assert fit.interval.relative_width < 1e-8
        assert fit.interval.lower <= fit.dual * (1 + 1e-12)
        assert fit.interval.upper >= fit.primal * (1 - 1e-12)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_steps_of_two_multipliers_end_at_the_accuracy_asked_for(squared: bool, kernel: Kernel, C: float) -> None:
    fit = smo(machine(1, kernel, squared, n=120, C=C), Limits(1e-7))
    assert (fit.status, fit.gap <= 1e-7) == (Status.OPTIMAL, True)
    assert fit.interval.relative_width < 2e-7
    assert np.abs(fit.G.sum(axis=0)).max() < 1e-9 * np.abs(fit.G).sum()


def test_blocks_reach_what_the_whole_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = machine(2, rbf(0.5), False, n=150)
    whole = smo(asked, Limits(1e-7))
    monkeypatch.setattr(import_module("equimargin.solvers.ordinal.smo"), "BLOCK", 24)
    parts = smo(asked, Limits(1e-7))
    assert parts.status is Status.OPTIMAL
    assert parts.interval.intersected(whole.interval).lower <= parts.interval.intersected(whole.interval).upper


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("squared", [False, True])
def test_no_threshold_is_better_than_the_best_ones(seed: int, squared: bool) -> None:
    """Values with ties; both ends of every interval are best, and the next level's interval is never below."""
    rng = np.random.default_rng(seed)
    asked = machine(seed, linear(), squared, n=15)
    asked.cost[:] = rng.choice([0.5, 1.0, 3.0], 15) if seed % 2 else 0.1
    f = np.round(rng.normal(size=15) * 2) / 2
    low, high = asked.best_thresholds(f)
    least = asked.losses(f, low)
    assert asked.losses(f, high) == pytest.approx(least, rel=1e-12)
    for k in range(asked.thresholds):
        for b in np.linspace(-4, 4, 65):
            moved = low.copy()
            moved[k] = b
            assert asked.losses(f, moved) >= least * (1 - 1e-12)
    assert (high[:-1] <= low[1:]).all()


def test_a_level_beyond_which_there_is_nothing_pushes_its_threshold_away() -> None:
    asked = Machine(np.zeros((2, 1)), np.array([1, 1]), np.ones(2), linear())
    low, high = asked.best_thresholds(np.array([0.0, 3.0]))
    assert (low.tolist(), high.tolist()) == ([-np.inf], [-1.0])
    fit = smo(asked, LIMITS)
    assert (fit.status, fit.primal, fit.b.tolist()) == (Status.OPTIMAL, 0.0, [-1.0])


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("solve", [smo, newton])
def test_a_weight_of_2_is_two_copies(solve: Any, squared: bool) -> None:
    once = machine(3, linear(), squared)
    twice = Machine(np.repeat(once.X, 2, axis=0), np.repeat(once.y, 2), np.full(80, 1.0), linear(), squared)
    weighed = Machine(once.X, once.y, np.full(40, 2.0), linear(), squared)
    one, two = solve(twice, LIMITS).interval, solve(weighed, LIMITS).interval
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)


def test_limits_end_a_run_with_its_best_point() -> None:
    asked = machine(4, rbf(0.5), False, n=100, C=100.0)
    short = smo(asked, Limits(1e-12, max_iter=5))
    assert (short.status, short.iterations) == (Status.ITERATION_LIMIT, 5)
    assert short.interval.lower <= short.interval.upper < np.inf
    assert smo(asked, Limits(1e-12, time_limit=1e-9)).status is Status.TIME_LIMIT


def test_newton_refuses_a_kernel_without_features() -> None:
    with pytest.raises(ValueError, match="newton takes a linear kernel; smo takes every kernel"):
        newton(machine(0, rbf(1.0), True), LIMITS)


@pytest.mark.parametrize("kind", ["squared", "hinge", "neighbours", "sum"])
def test_smoothed_losses_are_the_machine_s_and_their_derivatives_are_those_along_a_line(kind: str) -> None:
    rng = np.random.default_rng(5)
    asked: AnyMachine = machine(5, linear(), kind == "squared")
    if kind in ("neighbours", "sum"):
        of = Neighbours if kind == "neighbours" else SumOfMargins
        asked = of(asked.X, machine(5, linear(), False).y, np.ones(40), linear())
    T = asked.thresholds
    (f, df), (b, db) = rng.normal(size=(2, 40)), rng.normal(size=(2, T))
    phi = Smoothed.of(asked)
    phi = phi.centred(phi.at(f, b).G, phi.order(b))
    sums = phi.at(f, b)
    assert sums.loss == pytest.approx(asked.losses(f, np.maximum.accumulate(b)), rel=1e-12)
    assert np.abs(sums.beta - sums.G.sum(axis=0)).max() < 1e-12
    first, second = phi.along(f, b, df, db)
    by_b = -sums.G.sum(axis=1) - np.append(phi.order(b), 0.0) + np.append(0.0, phi.order(b))
    assert first == pytest.approx(-float(sums.beta @ df) - float(by_b @ db), rel=1e-9)
    t = 1e-7
    assert second == pytest.approx((phi.along(f + t * df, b + t * db, df, db)[0] - first) / t, rel=1e-4)
    A = phi.curvature(f, b)
    curved = float((A * (df - db[:, None]) ** 2).sum())
    assert second >= curved * (1 - 1e-12)
    assert second == pytest.approx(curved + phi.tau * float((phi.order(b) > 0) @ (db[:-1] - db[1:]) ** 2), rel=1e-9)


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(("size", "C"), [(1.0, 1.0), (100.0, 1.0), (1e4, 1.0), (1.0, 1e4), (1e4, 1e-3)])
def test_newton_ends_at_large_features_and_costs(size: float, C: float, n: int) -> None:
    """Steps of two multipliers do not, within millions of them."""
    asked = machine(1, linear(), False, n=n, C=C)
    asked = Machine(size * asked.X, asked.y, asked.cost, linear())
    fit = newton(asked, LIMITS)
    assert fit.status is Status.OPTIMAL
    assert fit.iterations < 100
    assert fit.interval.relative_width < 1e-3  # multipliers on a grid are as coarse as float64 is


@pytest.mark.parametrize("size", [1.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_machines_in_order_have_the_exact_optimum(seed: int, size: float) -> None:
    """Levels drawn out of order, so that thresholds meet; some weights are 0, and a middle level may be empty."""
    rng = np.random.default_rng(seed)
    asked = machine(seed, linear(), False, n=12, levels=4)
    X, y, cost = size * asked.X, rng.permutation(asked.y) if seed % 2 else asked.y, rng.choice([0.0, 1.0, 2.0], 12)
    y[y == 1] += seed == 3
    cost[[y.argmin(), y.argmax()]] = 1.0
    due = optimum(explicit({"X": X, "y": y, "C": 0.5, "weights": cost}))
    fit = newton(Neighbours(X, y, 0.5 * cost, linear()), LIMITS)
    assert fit.status is Status.OPTIMAL
    assert fit.primal == pytest.approx(float(present(due.exact)), rel=1e-8, abs=1e-8)
    assert (np.diff(fit.b) >= 0).all()
    assert not np.isfinite(fit.interval.upper - fit.interval.lower)  # nothing is claimed of what is not proven


@pytest.mark.parametrize("solve", [smo, newton])
@pytest.mark.parametrize("C", [1e-155, 1e-160, 1e-200, 1e-300])
def test_what_underflows_is_counted(solve: Any, C: float) -> None:
    """Squares of multipliers below the smallest float are no zeros: the lower end would lie above the upper one."""
    asked = machine(0, linear(), squared=True, C=C)
    interval = solve(asked, LIMITS).interval
    assert interval.lower <= interval.upper
