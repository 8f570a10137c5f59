"""Kernel machines on a graphics card: seconds to a gap, and the proven interval.

    python benchmarks/run.py card [--device cuda] [--seconds 420] [--shrink 1]

First the parts: microseconds of a pair step, and entries of K that a product computes
in a second. Then whole solves, in one process: wall seconds from the arrays in the
computer's memory to the solution, to a relative gap of 1e-3 and of 1e-6, and those of
the proven interval. Data are sampled in other processes meanwhile. Last, 50 costs x 10
folds of one data set by `solve_grid`. No line begins after `--seconds`. `--shrink 100
--device host` tries the benchmark without a card, on a hundredth of the points.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from table import Benchmark, Line, Table

from equimargin.formulations.kernels.kernel import rbf
from equimargin.formulations.problem.construct import classification, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import solve, solve_grid

Sample = tuple[Any, Any]
PLAN: list[tuple[str, int, float, str]] = [
    ("classes", 10_000, 1.0, "hinge"),
    ("classes", 10_000, 10.0, "hinge"),
    ("cover", 10_000, 1.0, "hinge"),
    ("images", 10_000, 1.0, "hinge"),
    ("images", 10_000, 10.0, "hinge"),
    ("classes", 50_000, 1.0, "hinge"),
    ("classes", 50_000, 10.0, "hinge"),
    ("cover", 50_000, 1.0, "hinge"),
    ("images", 50_000, 1.0, "hinge"),
    ("images", 50_000, 10.0, "hinge"),
    ("classes", 50_000, 1.0, "squared_hinge"),
    ("friedman", 50_000, 1.0, "hinge"),
    ("classes", 100_000, 1.0, "hinge"),
    ("classes", 100_000, 10.0, "hinge"),
    ("cover", 100_000, 1.0, "hinge"),
    ("classes", 200_000, 1.0, "hinge"),
    ("friedman", 200_000, 1.0, "hinge"),
    ("cover", 500_000, 1.0, "hinge"),
    ("classes", 1_000_000, 1.0, "hinge"),
    ("images", 200_000, 1.0, "hinge"),
    ("classes", 1_000_000, 10.0, "hinge"),
]
"""Data, points, cost and loss of every solve; friedman is a regression."""
GRIDS = [(10_000, 10), (10_000, 1000)]
"""Points and features of the grids."""
LONGEST_SOLVE = 60.0
"""Time limit of a solve in seconds."""


def classes(n: int, d: int = 20) -> Sample:
    """Return clusters of two classes, with 5 % of the labels flipped."""
    X, y = make_classification(n, d, n_informative=d // 2, class_sep=1, flip_y=0.05, random_state=0)
    return X, np.where(y == 1, 1.0, -1.0)


def cover(n: int) -> Sample:
    """Return 54 columns like covtype's; some 15 % of the labels are noise."""
    rng = np.random.default_rng(0)
    areas, soils = rng.integers(0, 4, n), rng.integers(0, 40, n)
    centres, tilt = rng.normal(size=(40, 10)), rng.normal(size=(4, 10))
    Z = centres[soils] + rng.normal(size=(n, 10))
    score = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + (tilt[areas] * Z).sum(axis=1) / 2
    score += rng.logistic(size=n)
    X = np.zeros((n, 54))
    X[:, :10], X[np.arange(n), 10 + areas], X[np.arange(n), 14 + soils] = Z, 1.0, 1.0
    return X, np.where(score > np.median(score), 1.0, -1.0)


def images(n: int) -> Sample:
    """Return 784 columns like grey images of ten kinds, even against odd ones."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 10, n)
    hidden = rng.normal(size=(10, 24))[kinds] * 0.8 + rng.normal(size=(n, 24))
    X = np.tanh(hidden.astype(np.float32) @ rng.normal(size=(24, 784)).astype(np.float32) / 3)
    X += 0.3 * rng.standard_normal(X.shape, dtype=np.float32)
    return X, np.where((kinds % 2 == 0) ^ (rng.random(n) < 0.03), 1.0, -1.0)


def friedman(n: int) -> Sample:
    """Return Friedman's first regression, 10 columns."""
    X, y = make_friedman1(n, 10, noise=1, random_state=0)
    return X, (y - y.mean()) / y.std()


SAMPLES: dict[str, Callable[[int], Sample]] = {
    "classes": classes,
    "cover": cover,
    "images": images,
    "friedman": friedman,
}


def sampled(name: str, n: int, folder: str) -> str:
    """Write standardised data to a folder; return the beginning of the files' names."""
    X, y = SAMPLES[name](n)
    X -= X.mean(axis=0)
    X /= np.maximum(X.std(axis=0), 1e-12)
    start = f"{folder}/{name}_{n}"
    np.save(f"{start}_X.npy", X.astype(np.float64))
    np.save(f"{start}_y.npy", y)
    return start


def problem(start: str, name: str, C: float, loss: Any) -> MarginProblem:
    """Return the problem of the data in a folder."""
    X, y = np.load(f"{start}_X.npy"), np.load(f"{start}_y.npy")
    kernel = rbf(1 / X.shape[1])
    if name == "friedman":
        return regression(X, y, C, 0.1, kernel, loss)
    return classification(X, y, C, kernel, loss)


def parts(device: str, shrink: int) -> Iterator[Line]:
    """Measure pair steps and products."""
    from equimargin.formulations.numeric.workspace import Workspace
    from equimargin.formulations.problem.point import Point
    from equimargin.solvers.device import pairs
    from equimargin.solvers.device.method import begin, on_device
    from equimargin.solvers.solution import Limits

    def waited(run: Callable[[], Any]) -> float:
        run()
        if card is not None:
            card.used.synchronize()
        began = time.perf_counter()
        run()
        if card is not None:
            card.used.synchronize()
        return time.perf_counter() - began

    with on_device(device) as card:
        for d, n in ((20, 50_000), (54, 50_000), (784, 20_000)):
            X, y = classes(n // shrink, d)
            given = classification(X / X.std(axis=0), y, 10.0, rbf(1 / d))
            run = begin(card, given, Point(), Limits(device=device), Workspace())
            working, m = run.working, given.m
            rows = working.placed(np.arange(m // 2))
            for what, tiles in (("float32", working.single), ("float64", working.exact)):
                v, f = working.placed(np.ones(m // 2)), working.placed(np.zeros(m))
                took = waited(lambda: tiles.add_product(rows, v, f))  # noqa: B023
                rate = m * (m // 2) / took
                yield {"part": f"product {what}", "d": d, "size": m, "rate": rate, "us": 1e6 * took}
            support, V = np.arange(m // 2), np.ones((1, m // 2))
            if card is not None:
                from equimargin.solvers.device.multiplier import proved_products

                took = waited(lambda: proved_products(card, rbf(1 / d), given.X, support, V))  # noqa: B023
                yield {
                    "part": "product proven",
                    "d": d,
                    "size": m,
                    "rate": m * (m // 2) / took,
                    "us": 1e6 * took,
                }
            if d != 20:
                continue
            for q in (1024, 2048, 4096):
                for threads in (512, 1024) if card is not None else (0,):
                    pairs.THREADS[q] = threads
                    q = min(q, m)
                    W = working.placed(np.arange(q))
                    working.K = working.single.block(W, W)
                    for dtype in (np.float32, np.float64):
                        state = run.problem
                        G = (-state.z[W]).astype(dtype)
                        a, sides = state.z[W] * 0.0, state.sides.of(W)
                        done = [1]

                        def step() -> None:
                            done[0], _ = working.pair_steps(G, a, sides, 1e-10, 1e-9, 2000)  # noqa: B023

                        took = waited(step)
                        yield {
                            "part": f"pair step {np.dtype(dtype).name}, {threads} threads",
                            "d": d,
                            "size": q,
                            "us": 1e6 * took / max(done[0], 1),
                        }
            pairs.THREADS.update({1024: 512, 2048: 512, 4096: 1024})


def solves(device: str, shrink: int, ended: Callable[[], bool]) -> Iterator[Line]:
    """Solve every problem of the plan to both gaps, and prove its interval."""
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(min(12, os.cpu_count() or 1), mp_context=get_context("spawn")) as pool,
    ):
        data: dict[tuple[str, int], Future[str]] = {}
        for name, n, _, _ in PLAN:
            if (name, n) not in data:
                data[name, n] = pool.submit(sampled, name, n // shrink, folder)
        # Kernels are compiled before anything is timed.
        for name in ("images", "friedman", "cover", "classes"):
            first = next(n for other, n, _, _ in PLAN if other == name)
            for tol in (1e-3, 1e-6):
                given = problem(data[name, first].result(), name, 1.0, "hinge")
                assert solve(given, "smo", tol, time_limit=20.0, device=device).interval
        for name, n, C, loss in PLAN:
            if ended():
                yield {"data": name, "n": n // shrink, "C": C, "loss": "left out: time is over"}
                continue
            given, line = problem(data[name, n].result(), name, C, loss), {}
            for tol in (1e-3, 1e-6):
                began = time.perf_counter()
                found = solve(given, "smo", tol, time_limit=LONGEST_SOLVE, device=device)
                line[f"s to {tol:.0e}"] = (
                    time.perf_counter() - began if found.relative_gap <= tol else None
                )
            began = time.perf_counter()
            width = found.interval.relative_width
            beta = found.beta
            yield {
                "data": name,
                "n": given.m,
                "C": C,
                "loss": loss,
                **line,
                "gap": found.relative_gap,
                "proven": width,
                "proof s": time.perf_counter() - began,
                "SVs": 0 if beta is None else int(np.count_nonzero(beta)),
                "steps": found.iterations,
                "status": str(found.status),
                "reason": found.reason,
                "lower": found.lower,
                "upper": found.upper,
            }


def grids(device: str, shrink: int, ended: Callable[[], bool]) -> Iterator[Line]:
    """Solve 50 costs x 10 folds."""
    for n, d in GRIDS:
        if ended():
            return
        X, y = classes(n // shrink, d)
        given = classification((X - X.mean(axis=0)) / X.std(axis=0), y, 1.0, rbf(1 / d))
        folds = np.arange(given.m) % 10 == np.arange(10)[:, None]
        costs = np.logspace(-2, 2, 50)
        began, solved, worst = time.perf_counter(), 0, 0.0
        for fold in folds:
            if ended():
                break
            found = solve_grid(given, costs.tolist(), fold, tol=1e-5, device=device)
            solved += len(found)
            worst = max(worst, *(solution.relative_gap for solution in found))
        yield {
            "grid": f"{given.m} x {d}",
            "machines": solved,
            "gap": worst,
            "s": time.perf_counter() - began,
        }


def tables(options: Namespace) -> Iterator[Table]:
    """Yield the tables of parts, solves and grids."""
    began = time.perf_counter()

    def ended() -> bool:
        return bool(time.perf_counter() - began > options.seconds)

    device, shrink = options.device, options.shrink
    yield Table(
        {"part": "32s", "d": "4d", "size": "7d", "rate": "9.2e", "us": "9.2f"},
        parts(device, shrink),
    )
    yield Table(
        {
            "data": "9s",
            "n": "8d",
            "C": "4g",
            "loss": "14s",
            "s to 1e-03": "10.3f",
            "s to 1e-06": "10.3f",
            "gap": "8.1e",
            "proven": "8.1e",
            "proof s": "8.3f",
            "SVs": "7d",
            "steps": "9d",
            "status": "12s",
        },
        solves(device, shrink, ended),
    )
    yield Table(
        {"grid": "14s", "machines": "8d", "gap": "8.1e", "s": "8.2f"},
        grids(device, shrink, ended),
    )


BENCHMARK = Benchmark(
    __doc__,
    tables,
    {
        "device": ("cuda", "device of the runs"),
        "seconds": (420.0, "seconds after which no line begins"),
        "shrink": (1, "divisor of all numbers of points"),
    },
)
