"""Kernel machines on a graphics card: seconds to a gap, and the proven interval.

    python benchmarks/run.py card [--device cuda] [--seconds 420] [--shrink 1]

First the parts: microseconds of a pair step and of the launches of many machines, and
entries of K that a product computes in a second. Then many machines in lock-step: 50
costs x 10 folds by `solve_grid`, those costs of one fold, also in turn,
and the pairs of ten classes by `one_vs_one`. Then whole solves, in one process: wall
seconds from the arrays in the computer's memory to the solution, to a relative gap of
1e-3 and of 1e-6, and those of the proven interval. Data are sampled in other processes
meanwhile. No line begins after `--seconds`. `--shrink 100 --device host` tries the
benchmark without a card, on a hundredth of the points.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from table import LONGEST, Benchmark, Line, Table

from equimargin.formulations.kernels.kernel import RBF, rbf
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.formulations.problem.construct import classification, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import Solution, one_vs_one, solve, solve_grid
from equimargin.solvers.device import pairs
from equimargin.solvers.device.batch import CardBatch, MachineBatch
from equimargin.solvers.device.card import Card
from equimargin.solvers.device.method import begin, use_device
from equimargin.solvers.device.multiplier import proved_products
from equimargin.solvers.dual.smo import Descent
from equimargin.solvers.dual.smo_problem import PointProblem, ProblemScaling
from equimargin.solvers.solution import Limits

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
    ("images", 200_000, 10.0, "hinge"),
]
"""Data, points, cost and loss of every solve; friedman is a regression."""
GRIDS = [(10_000, 10), (10_000, 1000)]
"""Points and features of the grids: those of TorchKM's table 2."""
CLASSES = [(20_000, 20), (40_000, 20)]
"""Points and features of the problems of ten classes."""
AT_ONCE = (1, 132, 500)
"""Machines whose pair steps are measured together."""
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


def waited(card: Card | None, run: Callable[[], Any]) -> float:
    """Return the seconds of the second of two runs, the card's work included."""
    took = 0.0
    for _ in range(2):
        began = time.perf_counter()
        run()
        if card is not None:
            card.used.synchronize()
        took = time.perf_counter() - began
    return took


def products(card: Card | None, run: Descent, d: int) -> Iterator[Line]:
    """Measure products with half of the columns of K."""
    working, problem = run.working, run.problem.margin
    m, n = problem.m, problem.m // 2
    rows, v, f = (
        working.placed(np.arange(n)),
        working.placed(np.ones(n)),
        working.placed(np.zeros(m)),
    )
    sides: dict[str, Callable[[], Any]] = {
        "float32": partial(working.single.add_product, rows, v, f),
        "float64": partial(working.exact.add_product, rows, v, f),
    }
    if card is not None and isinstance(problem.kernel, RBF):
        given = problem.kernel, problem.X, np.arange(n), np.ones((1, n))
        sides["proven"] = partial(proved_products, card, *given)
    for name, side in sides.items():
        took = waited(card, side)
        line = {"part": f"product {name}", "d": d, "size": m}
        yield line | {"rate": m * n / took, "us": 1e6 * took}


def pair_steps(card: Card | None, run: Descent, q: int, threads: int, dtype: Any) -> Line:
    """Measure 2,000 pair steps from 0 on q points."""
    working, problem = run.working, run.problem
    W = working.placed(np.arange(q))
    working.K = working.single.block(W, W)
    G, a, sides = (-problem.z[W]).astype(dtype), 0.0 * problem.z[W], problem.sides.of(W)
    taken = [1]

    def step() -> None:
        taken[0], _ = working.pair_steps(G.copy(), a.copy(), sides, 1e-10, 1e-9, 2000)

    took = waited(card, step)
    part = f"pair step {np.dtype(dtype).name}, {threads} threads"
    return {"part": part, "d": problem.margin.X.shape[1], "size": q, "us": 1e6 * took / taken[0]}


def parts(device: str, shrink: int) -> Iterator[Line]:
    """Measure products and pair steps."""
    before = dict(pairs.THREADS)
    with use_device(device) as card:
        for d, n in ((20, 50_000), (54, 50_000), (784, 20_000)):
            X, y = classes(n // shrink, d)
            problem = classification(X / X.std(axis=0), y, 10.0, rbf(1 / d))
            run = begin(card, problem, None, Limits(device=device), Workspace())
            yield from products(card, run, d)
            for q in before if d == 20 else ():
                for threads in (512, 1024) if card is not None and q > 1024 else (512,):
                    pairs.THREADS[q] = threads
                    for dtype in (np.float32, np.float64):
                        yield pair_steps(card, run, min(q, problem.m), threads, dtype)
                pairs.THREADS[q] = before[q]


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
                given = problem(data[name, first].result(LONGEST), name, 1.0, "hinge")
                assert solve(given, "smo", tol, time_limit=20.0, device=device).interval
        for name, n, C, loss in PLAN:
            if ended():
                yield {"data": name, "n": n // shrink, "C": C, "loss": "left out: time is over"}
                continue
            given, line = problem(data[name, n].result(LONGEST), name, C, loss), {}
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


def together(device: str, shrink: int) -> Iterator[Line]:
    """Measure the launches of a round of many machines."""
    X, y = classes(10_000 // shrink, 20)
    given = classification(X / X.std(axis=0), y, 10.0, rbf(0.05))
    for n in AT_ONCE:
        with use_device(device) as card:
            unit = given.gram.mean_diagonal
            batch = (
                MachineBatch(given.gram, unit, n)
                if card is None
                else CardBatch.fitting(card, given.gram, unit, n)
            )
            if batch is not None and batch.slots == n:
                yield from launches(card, batch, given)


def launches(card: Card | None, batch: MachineBatch, given: MarginProblem) -> Iterator[Line]:
    """Measure 2,000 pair steps from 0 of every machine, and the other launches."""
    n, points = batch.slots, PointProblem.of(given, ProblemScaling.of(given))
    slots, rows = list(range(n)), batch.placed(np.arange(n, dtype=np.int32))
    for slot in slots:
        batch.enter(slot, points)
    batch.choose(slots, batch.look(slots))
    W = batch.W[rows]
    places, sides, taken = (rows[:, None], W), batch.sides(rows, W), [1]
    eps, most = np.full(n, 1e-9), np.full(n, 2000)

    def step() -> None:
        G, a = batch.G[places].astype(np.float32), batch.a[places]
        taken[0] = int(batch.pair_steps(rows, G, a, sides, eps, most)[0, 0])

    took = waited(card, step)
    times = {
        "pair step": took / taken[0],
        "look": waited(card, partial(batch.look, slots)),
        "blocks": waited(card, partial(batch.gather, rows)),
        "follow": waited(card, partial(batch.follow, rows, W, batch.a[places] + 1, batch.G)),
    }
    for part, seconds in times.items():
        yield {"part": f"{part} of {n}", "d": 20, "size": batch.q, "us": 1e6 * seconds}


def grids(device: str, shrink: int, ended: Callable[[], bool]) -> Iterator[Line]:
    """Solve 50 costs x 10 folds and pairs of ten classes in lock-step, and one fold in turn."""
    costs = np.logspace(-2, 2, 50).tolist()
    for n, d in GRIDS:
        X, y = classes(n // shrink, d)
        given = classification((X - X.mean(axis=0)) / X.std(axis=0), y, 1.0, rbf(1 / d))
        folds = np.arange(given.m) % 10 == np.arange(10)[:, None]
        shape = f"{given.m} x {d}"
        runs: dict[str, Callable[[], list[Solution]]] = {
            f"{shape}, 10 folds": partial(solve_grid, given, costs, folds),
            f"{shape}, 1 fold": partial(solve_grid, given, costs, folds[0]),
            f"{shape}, 1 fold, in turn": partial(in_turn, given.with_cost, costs),
        }
        yield from (measured(name, run, device) for name, run in runs.items() if not ended())
    for n, d in CLASSES:
        X, y = make_classification(
            n // shrink, d, n_informative=d, n_redundant=0, n_classes=10, random_state=0
        )
        given_pairs = partial(one_vs_one, X / X.std(axis=0), y, 1.0, rbf(1 / d))
        if not ended():
            yield measured(f"{n // shrink} x {d}, 45 pairs", given_pairs, device)


def in_turn(
    at_cost: Callable[[float], MarginProblem], costs: list[float], **limits: Any
) -> list[Solution]:
    """Solve a problem at every cost, each from 0."""
    return [solve(at_cost(C), "smo", **limits) for C in costs]


def measured(name: str, run: Callable[..., list[Solution]], device: str) -> Line:
    """Measure many machines; their gaps are computed after the clock has stopped."""
    began = time.perf_counter()
    found = run(tol=1e-5, time_limit=LONGEST_SOLVE, device=device)
    took = time.perf_counter() - began
    widths = [solution.interval.relative_width for solution in found[:: len(found) // 5 or 1]]
    steps = sum(solution.iterations or 0 for solution in found)
    counts = {"machines": len(found), "optimal": sum(solution.ok for solution in found)}
    return {"grid": name, **counts, "steps": steps, "proven": max(widths), "s": took}


def tables(options: Namespace) -> Iterator[Table]:
    """Yield the tables of parts, grids and solves."""
    began = time.perf_counter()

    def ended() -> bool:
        return bool(time.perf_counter() - began > options.seconds)

    device, shrink = options.device, options.shrink
    yield Table(
        {"part": "32s", "d": "4d", "size": "7d", "rate": "9.2e", "us": "9.2f"},
        chain(parts(device, shrink), together(device, shrink)),
    )
    yield Table(
        {
            "grid": "30s",
            "machines": "8d",
            "optimal": "8d",
            "steps": "9d",
            "proven": "8.1e",
            "s": "8.2f",
        },
        grids(device, shrink, ended),
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


BENCHMARK = Benchmark(
    __doc__,
    tables,
    {
        "device": ("cuda", "device of the runs"),
        "seconds": (420.0, "seconds after which no line begins"),
        "shrink": (1, "divisor of all numbers of points"),
    },
)
