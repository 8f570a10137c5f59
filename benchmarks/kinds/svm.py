"""Kernel machines against LIBSVM: CPU time, threads, memory and the first call.

CPU times are compared at no larger a gap.

    python benchmarks/run.py kinds.svm [--quick] [--only TEXT]

Both sides run in one process on one BLAS thread, in turn (A B A B) after a run each to
warm up; a figure is the median of their CPU times, and a ratio is the peer's over ours.
The peer's side is its fit, ours is the construction of the problem and `solve`.
The peer runs at its default tolerance unless a row says otherwise. Its gap is measured
first, outside of the clock, and is our tolerance, unless the row
fixes one; both gaps are those of the multipliers, repaired, at their best bias, by one
function. The worst of the seeds counts. A row of another kind is a `Contest` or a
figure more in `contests` or `figures`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from clock import Timed, in_turn
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_friedman1,
)
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from table import Benchmark, Line, Table

from equimargin.formulations.kernels.kernel import precomputed, rbf
from equimargin.formulations.problem.construct import classification, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.batches.one_vs_one import one_vs_one
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Solution, Status

Array = Any
SEEDS = (0, 1, 2)
TIGHT = 1e-6, 1e-5
"""Our tolerance and the peer's where neither is the default."""
MANY_CLASSES = [("digits", 1.0), ("digits", 10.0), ("6000 x 50 x 10", 1.0)]
SVR_ROUNDS = [("diabetes", 5), ("friedman 2000", 5), ("friedman 5000", 5), ("friedman 10000", 3)]


@cache
def classes(name: str, seed: int = 0) -> tuple[Array, Array]:
    """Return X standardised and y in {-1, 1} of a name.

    Names: breast_cancer, digits (even against odd) or "n x d".
    """
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "digits":
        X, y = load_digits(return_X_y=True)
        y = y % 2 == 0
    else:
        n, d = (int(size) for size in name.split(" x "))
        X, y = make_classification(
            n, d, n_informative=d // 2, class_sep=1, flip_y=0.05, random_state=seed
        )
    return StandardScaler().fit_transform(X), np.where(y == 1, 1.0, -1.0)


@cache
def targets(name: str, seed: int = 0) -> tuple[Array, Array]:
    """Return X and y standardised: diabetes or "friedman n"."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = make_friedman1(int(name.split()[1]), 10, noise=1, random_state=seed)
    return StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


@cache
def gram(name: str, seed: int = 0) -> tuple[Array, Array]:
    """Return the RBF kernel matrix, symmetric bit for bit, and y."""
    X, y = classes(name, seed)
    K = rbf(1 / X.shape[1]).block(X, X)
    return (K + K.T) / 2, y


@dataclass(frozen=True)
class Contest:
    """Two ways to one optimum, with an RBF kernel of gamma = 1 / d.

    Parameters
    ----------
    work : str
        Group whose worst ratio counts.
    data, seed, C
        The problem.
    must, aim : float
        Required and aimed ratio.
    ours, theirs
        Tolerances; None is the peer's gap.
    points : Callable[[str, int], tuple[Array, Array]]
        `classes`, `targets` with epsilon = 0.1, or `gram`.
    """

    work: str
    data: str
    seed: int
    C: float
    must: float
    aim: float
    rounds: int = 5
    ours: float | None = None
    theirs: float = 1e-3
    points: Callable[[str, int], tuple[Array, Array]] = classes

    @property
    def name(self) -> str:
        """Name of the line."""
        return f"{self.data}, seed {self.seed}, C = {self.C:g}"

    def problem(self) -> MarginProblem:
        """State the problem anew."""
        X, y = self.points(self.data, self.seed)
        if self.points is targets:
            return regression(X, y, self.C, 0.1, rbf(1 / X.shape[1]))
        return classification(
            X, y, self.C, precomputed() if self.points is gram else rbf(1 / X.shape[1])
        )

    def fit(self, tol: float | None = None) -> Any:
        """Fit LIBSVM's model."""
        X, y = self.points(self.data, self.seed)
        options: dict[str, Any] = {
            "C": self.C,
            "gamma": 1 / X.shape[1],
            "tol": tol or self.theirs,
            "cache_size": 2000,
        }
        if self.points is targets:
            return SVR(epsilon=0.1, **options).fit(X, y)
        return SVC(kernel="precomputed" if self.points is gram else "rbf", **options).fit(X, y)


def of_libsvm(problem: MarginProblem, model: Any) -> Array:
    """Return LIBSVM's multipliers, (p,), repaired."""
    beta = np.zeros(problem.m)
    beta[model.support_] = model.dual_coef_[0]
    return problem.repaired(np.maximum(problem.rows.s * np.tile(beta, problem.p // problem.m), 0.0))


def gap(problem: MarginProblem, alpha: Array) -> float:
    """Return the relative gap of multipliers at their best bias."""
    return Solution(
        problem, "", Point(alpha=problem.repaired(alpha)), Status.OPTIMAL, "", 0, 0.0
    ).relative_gap


def contests(quick: bool) -> Iterator[Contest]:
    """Yield every comparison, the small ones first."""
    seeds = SEEDS[:1] if quick else SEEDS
    # Arguments after the seed: C, required ratio, aimed ratio, rounds, tolerances.
    for name, seed in [
        ("breast_cancer", 0),
        ("digits", 0),
        *(("1000 x 20", seed) for seed in seeds),
    ]:
        for C in (0.1, 1.0, 10.0, 100.0):
            yield Contest("RBF SVC, small", name, seed, C, 1.8, 5)
    for name, rounds in (
        [("5000 x 20", 5)] if quick else [("5000 x 20", 5), ("10000 x 20", 3), ("10000 x 54", 3)]
    ):
        for seed in seeds:
            for C in (1.0,) if quick else (0.1, 1.0, 10.0):
                yield Contest("RBF SVC, 5k and 10k, C <= 10", name, seed, C, 4, 10, rounds)
                yield Contest(
                    "RBF SVC, at 1e-6 against LIBSVM's tol 1e-5",
                    name,
                    seed,
                    C,
                    2,
                    5,
                    rounds,
                    *TIGHT,
                )
            yield Contest("RBF SVC, 5k and 10k, C = 100", name, seed, 100.0, 3, 6, rounds)
    for name, rounds in [("diabetes", 5), ("friedman 2000", 5)] if quick else SVR_ROUNDS:
        work, must = ("RBF SVR, small", 2.4) if name == "diabetes" else ("RBF SVR", 3.0)
        for seed in seeds if name != "diabetes" else (0,):
            for C in (1.0, 10.0):
                yield Contest(work, name, seed, C, must, 10, rounds, points=targets)
    if not quick:
        yield Contest("RBF SVC, 20k", "20000 x 20", 0, 1.0, 8, 12, 3)
        for name in ("5000 x 20", "10000 x 20"):
            for seed in seeds:
                for C in (0.1, 1.0, 10.0):
                    yield Contest("precomputed kernel", name, seed, C, 2.4, 4, 3, points=gram)


def peer_gap(contest: Contest) -> float:
    """Return the relative gap of LIBSVM's model."""
    problem = contest.problem()
    return gap(problem, of_libsvm(problem, contest.fit()))


def many_classes(name: str, C: float) -> Line:
    """Measure one-against-one classes, RBF, gamma = 1 / d; gaps are the largest of any pair."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        n, d, k = (int(size) for size in name.split(" x "))
        X, y = make_classification(
            n,
            d,
            n_informative=d // 2,
            n_classes=k,
            n_clusters_per_class=1,
            flip_y=0.05,
            random_state=0,
        )
    X = StandardScaler().fit_transform(X)
    gamma = 1 / X.shape[1]
    model, ours = (
        SVC(C=C, gamma=gamma, cache_size=2000),
        partial(one_vs_one, X, y, C, rbf(gamma), solver="smo"),
    )
    pairs = [solution.problem for solution in ours() if isinstance(solution.problem, MarginProblem)]
    reached = max(gap(pair, of_libsvm(pair, model.fit(pair.X, pair.rows.y))) for pair in pairs)
    sides = in_turn(lambda: model.fit(X, y), lambda: ours(tol=reached), rounds=5)
    own = max(
        gap(pair, solution.dual) for pair, solution in zip(pairs, sides[1].result, strict=True)
    )
    status = next(
        (solution.status for solution in sides[1].result if not solution.ok), Status.OPTIMAL
    )
    return line(
        Contest("RBF SVC, many classes", f"{name}, C = {C:g}", 0, C, 1, 3),
        sides,
        reached,
        own,
        status,
    )


def measured(contest: Contest) -> Line:
    """Measure both sides in turn."""
    problem, reached = contest.problem(), peer_gap(contest)
    tol = contest.ours or max(reached, 1e-12)

    def ours() -> Solution:
        return solve(contest.problem(), "smo", tol=tol)

    ours()
    sides = in_turn(contest.fit, ours, rounds=contest.rounds)
    solution = sides[1].result
    return line(contest, sides, reached, gap(problem, solution.dual), solution.status)


def line(contest: Contest, sides: list[Timed], reached: float, own: float, status: str) -> Line:
    """Return the line of two sides, their gaps, and our status."""
    ratio = sides[0].cpu / sides[1].cpu
    name = contest.data if contest.work == "RBF SVC, many classes" else contest.name
    found = {
        "work": contest.work,
        "problem": name,
        "peer ms": 1e3 * sides[0].cpu,
        "peer gap": reached,
    }
    found |= {
        "ours ms": 1e3 * sides[1].cpu,
        "gap": own,
        "status": status,
        "ratio": ratio,
        "must": contest.must,
        "aim": contest.aim,
    }
    return found | {"": "" if ratio >= contest.must and own <= max(reached, 1e-6) else "SHORT"}


def threads(n: int) -> Line:
    """Divide the wall time of one thread by that of two, unless the machine is loaded."""
    load, found = (
        os.getloadavg()[0],
        {
            "figure": f"two threads over one, RBF {n} x 20, wall",
            "value": None,
            "must": 1.4,
            "aim": 1.8,
        },
    )
    if load > 1.3 or (os.cpu_count() or 1) < 2:
        return found | {"said": f"skipped: load {load:.1f}"}
    X, y = classes(f"{n} x 20")

    def run(n_jobs: int) -> None:
        solve(classification(X, y, 1.0, rbf(1 / 20)), "smo", tol=3e-5, n_jobs=n_jobs)

    run(2)
    one, two = in_turn(partial(run, 1), partial(run, 2))
    return found | {
        "value": one.wall / two.wall,
        "said": f"load before {load:.1f}; matrix products on their own {independent():.2f}",
    }


def independent() -> float:
    """Return the speed-up of two small matrix products at once over one after the other.

    It is 1 where two processors are one core.
    """

    def products(_: int) -> None:
        A = np.ones((256, 256), np.float32)
        for _ in range(1000):
            A @ A

    products(0)
    with ThreadPoolExecutor(2) as pool:
        both, one = in_turn(lambda: list(pool.map(products, range(2))), lambda: products(0))
    return 2 * one.wall / both.wall


FRESH = """
import sys, time
import numpy as np
from equimargin.formulations import classification, rbf
from equimargin.solvers import solve
sys.path.append({folder!r})
from clock import gigabytes
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, {d}))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5 + 0.3 * rng.normal(size={n}), 1.0, -1.0)
start = time.perf_counter()
solution = solve(classification(X, y, 1.0, rbf(1 / {d})), "smo", tol=1e-3)
seconds = time.perf_counter() - start
print(seconds, gigabytes(), solution.status)
"""


def fresh(n: int, d: int) -> tuple[float, float, str]:
    """Return wall seconds of the first solve in a new process, peak GB, and the status.

    Seconds are after the imports.
    """
    command = [sys.executable, "-c", FRESH.format(n=n, d=d, folder=str(Path(__file__).parents[1]))]
    seconds, memory, status = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=600
    ).stdout.split()
    return float(seconds), float(memory), status


def figures(quick: bool) -> Iterator[Line]:
    """Yield the figures without a peer: smaller is better for seconds and GB.

    Larger is better for threads.
    """
    fresh(200, 5)
    first = median(fresh(200, 5)[0] for _ in range(3))
    yield {
        "figure": "first solve, 200 x 5, s",
        "value": first,
        "must": 0.5,
        "aim": 0.2,
        "said": "kernels on disk",
    }
    if not quick:
        seconds, memory, status = fresh(50_000, 50)
        said = f"{status} in {seconds:.1f} s"
        yield {
            "figure": "peak memory, RBF 50000 x 50, GB",
            "value": memory,
            "must": 1.0,
            "aim": 0.4,
            "said": said,
        }
        yield from map(threads, (10_000, 20_000))


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the figures, every contest, and the worst of each work."""
    if not asked.only:  # first, because a child process inherits the peak memory of its parent
        yield Table(
            {"figure": "44s", "value": "6.2f", "must": "5g", "aim": "5g", "said": "s"},
            figures(asked.quick),
        )
    found: list[Line] = []

    def lines() -> Iterator[Line]:
        for contest in contests(asked.quick):
            if asked.only in f"{contest.work} {contest.name}":
                found.append(measured(contest))
                yield found[-1]
        for name, C in MANY_CLASSES[:1] if asked.quick else MANY_CLASSES:
            if asked.only in f"RBF SVC, many classes {name}":
                found.append(many_classes(name, C))
                yield found[-1]

    yield Table(COLUMNS, lines())
    groups = [
        [each for each in found if each["work"] == work]
        for work in dict.fromkeys(each["work"] for each in found)
    ]
    worst = (min(group, key=lambda each: each["ratio"]) for group in groups)
    yield Table({"work": "44s", "ratio": "5.2f", "must": "5g", "aim": "5g", "problem": "s"}, worst)


COLUMNS = {
    "work": "44s",
    "problem": "32s",
    "peer ms": "8.2f",
    "peer gap": "8.1e",
    "ours ms": "8.2f",
    "gap": "8.1e",
    "status": "10s",
}
COLUMNS |= {"ratio": "5.2f", "must": "5g", "": "s"}
OPTIONS = {
    "quick": (False, "small data and one seed: about a minute"),
    "only": ("", "contests whose group or name holds this text"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
