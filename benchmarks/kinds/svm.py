"""Kernel machines against LIBSVM: CPU time at no larger a gap, threads, memory and the first call.

    python benchmarks/kinds/svm.py [--quick] [--only TEXT] [--json FILE]

Both sides run in one process on one BLAS thread, in turn (A B A B) after a run each to warm up; a figure is the median of their CPU times,
and a ratio is the peer's over ours. The peer's side is its fit, ours is the construction of the problem
(but for given kernel matrices, see `given`) and `solve`. The peer runs at its
default tolerance unless a row says otherwise. Its gap is measured first, outside of the clock, and is the tolerance that ours is asked
for, unless the row fixes one; both gaps are those of the multipliers, repaired, at their best bias, by one function. The worst of the
seeds counts. A row of another kind is a `Contest` or a `Figure` more in `contests` or `figures`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification, make_friedman1
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

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


@dataclass(frozen=True)
class Contest:
    """Two ways to one optimum.

    work : the group whose worst ratio counts.  name : data, seed and C.  problem : built on our clock.  fit : the peer's, at a tolerance.
    multipliers : (p,) of the peer's model.  ours, theirs : tolerances; None is the peer's gap, and its default.  must, aim : ratios.
    """

    work: str
    name: str
    problem: Callable[[], MarginProblem]
    fit: Callable[[float], Any]
    multipliers: Callable[[MarginProblem, Any], Array]
    must: float
    aim: float
    rounds: int = 5
    ours: float | None = None
    theirs: float = 1e-3


@dataclass(frozen=True)
class Outcome:
    """A line of the table: seconds of both sides, their gaps, and the ratio."""

    work: str
    name: str
    peer_seconds: float
    seconds: float
    peer_gap: float
    gap: float
    ratio: float
    must: float
    aim: float
    status: str


@dataclass(frozen=True)
class Figure:
    """A number on its own; `value` is None where it cannot be measured now, and `said` is why, or its circumstances."""

    name: str
    value: float | None
    must: float
    aim: float
    said: str = ""


@cache
def classes(name: str, seed: int = 0) -> tuple[Array, Array]:
    """X standardised and y in {-1, 1}: breast_cancer, digits (even against odd) or "n x d"."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "digits":
        X, y = load_digits(return_X_y=True)
        y = y % 2 == 0
    else:
        n, d = (int(size) for size in name.split(" x "))
        X, y = make_classification(n, d, n_informative=d // 2, class_sep=1, flip_y=0.05, random_state=seed)
    return StandardScaler().fit_transform(X), np.where(y == 1, 1.0, -1.0)


@cache
def targets(name: str, seed: int = 0) -> tuple[Array, Array]:
    """X and y standardised: diabetes or "friedman n"."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = make_friedman1(int(name.split()[1]), 10, noise=1, random_state=seed)
    return StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


@cache
def gram(name: str, seed: int = 0) -> tuple[Array, Array]:
    """The RBF kernel matrix, symmetric to the bit, and y."""
    X, y = classes(name, seed)
    K = rbf(1 / X.shape[1]).block(X, X)
    return (K + K.T) / 2, y


def of_libsvm(problem: MarginProblem, model: Any) -> Array:
    """LIBSVM's multipliers, (p,), repaired."""
    beta = np.zeros(problem.m)
    beta[model.support_] = model.dual_coef_[0]
    return problem.repaired(np.maximum(problem.rows.s * np.tile(beta, problem.p // problem.m), 0.0))


def gap(problem: MarginProblem, alpha: Array) -> float:
    """The relative gap of multipliers at their best bias."""
    return Solution(problem, "", Point(alpha=problem.repaired(alpha)), Status.OPTIMAL, "", 0, 0.0).relative_gap


def contests(quick: bool) -> Iterator[Contest]:
    """Every comparison, the small ones first."""
    seeds = SEEDS[:1] if quick else SEEDS
    for name, seed in [("breast_cancer", 0), ("digits", 0), *(("1000 x 20", seed) for seed in seeds)]:
        for C in (0.1, 1.0, 10.0, 100.0):
            yield svc("RBF SVC, small", name, seed, C, 1.8, 5)
    for name, rounds in [("5000 x 20", 5)] if quick else [("5000 x 20", 5), ("10000 x 20", 3), ("10000 x 54", 3)]:
        for seed in seeds:
            for C in (1.0,) if quick else (0.1, 1.0, 10.0):
                yield svc("RBF SVC, 5k and 10k, C <= 10", name, seed, C, 4, 10, rounds)
                yield svc("RBF SVC, at 1e-6 against LIBSVM's tol 1e-5", name, seed, C, 2, 5, rounds, *TIGHT)
            yield svc("RBF SVC, 5k and 10k, C = 100", name, seed, 100.0, 3, 6, rounds)
    for name, rounds in [("diabetes", 5), ("friedman 2000", 5)] if quick else SVR_ROUNDS:
        for seed in seeds if name != "diabetes" else (0,):
            for C in (1.0, 10.0):
                yield svr(
                    "RBF SVR, small" if name == "diabetes" else "RBF SVR", name, seed, C, 2.4 if name == "diabetes" else 3, 10, rounds
                )
    if not quick:
        yield svc("RBF SVC, 20k", "20000 x 20", 0, 1.0, 8, 12, 3)
        for name in ("5000 x 20", "10000 x 20"):
            for seed in seeds:
                for C in (0.1, 1.0, 10.0):
                    yield given("precomputed kernel", name, seed, C, 2.4, 4)


MANY_CLASSES = [("digits", 1.0), ("digits", 10.0), ("6000 x 50 x 10", 1.0)]
SVR_ROUNDS = [("diabetes", 5), ("friedman 2000", 5), ("friedman 5000", 5), ("friedman 10000", 3)]


def svc(
    work: str, name: str, seed: int, C: float, must: float, aim: float, rounds: int = 5, ours: Any = None, theirs: float = 1e-3
) -> Contest:
    """C-SVC with an RBF kernel of gamma = 1 / d."""

    def fit(tol: float) -> Any:
        X, y = classes(name, seed)
        return SVC(C=C, gamma=1 / X.shape[1], tol=tol, cache_size=2000).fit(X, y)

    def problem() -> MarginProblem:
        X, y = classes(name, seed)
        return classification(X, y, C, rbf(1 / X.shape[1]))

    return Contest(work, f"{name}, seed {seed}, C = {C:g}", problem, fit, of_libsvm, must, aim, rounds, ours, theirs)


def svr(work: str, name: str, seed: int, C: float, must: float, aim: float, rounds: int) -> Contest:
    """Epsilon-SVR with an RBF kernel of gamma = 1 / d, epsilon = 0.1."""

    def fit(tol: float) -> Any:
        X, y = targets(name, seed)
        return SVR(C=C, gamma=1 / X.shape[1], epsilon=0.1, tol=tol, cache_size=2000).fit(X, y)

    def problem() -> MarginProblem:
        X, y = targets(name, seed)
        return regression(X, y, C, 0.1, rbf(1 / X.shape[1]))

    return Contest(work, f"{name}, seed {seed}, C = {C:g}", problem, fit, of_libsvm, must, aim, rounds)


def given(work: str, name: str, seed: int, C: float, must: float, aim: float) -> Contest:
    """C-SVC with a given kernel matrix; the problem is built before, because its proof of definiteness is a Cholesky factorisation of K."""
    built = cache(lambda: classification(*gram(name, seed), C, precomputed()))

    def fit(tol: float) -> Any:
        K, y = gram(name, seed)
        return SVC(C=C, kernel="precomputed", tol=tol, cache_size=2000).fit(K, y)

    return Contest(work, f"{name}, seed {seed}, C = {C:g}", built, fit, of_libsvm, must, aim, 3)


def many_classes(name: str, C: float) -> Outcome:
    """One-against-one classes, RBF, gamma = 1 / d, of digits or "n x d x classes"; the gaps are the largest of any pair."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        n, d, k = (int(size) for size in name.split(" x "))
        X, y = make_classification(n, d, n_informative=d // 2, n_classes=k, n_clusters_per_class=1, flip_y=0.05, random_state=0)
    X = StandardScaler().fit_transform(X)
    gamma = 1 / X.shape[1]

    def fit(X: Array, y: Array) -> Any:
        return SVC(C=C, gamma=gamma, cache_size=2000).fit(X, y)

    rough = one_vs_one(X, y, C, rbf(gamma), solver="smo")
    pairs = [solution.problem for solution in rough if isinstance(solution.problem, MarginProblem)]
    peer_gap = max(gap(pair, of_libsvm(pair, fit(pair.X, pair.rows.y))) for pair in pairs)
    found = one_vs_one(X, y, C, rbf(gamma), solver="smo", tol=peer_gap)
    rounds = [(cpu(lambda: fit(X, y)), cpu(lambda: one_vs_one(X, y, C, rbf(gamma), solver="smo", tol=peer_gap))) for _ in range(5)]
    theirs, ours = median(theirs for theirs, _ in rounds), median(ours for _, ours in rounds)
    reached = max(gap(pair, solution.dual) for pair, solution in zip(pairs, found, strict=True))
    status = next((solution.status for solution in found if not solution.ok), Status.OPTIMAL)
    return Outcome("RBF SVC, many classes", f"{name}, C = {C:g}", theirs, ours, peer_gap, reached, theirs / ours, 1, 3, status)


def run(contest: Contest) -> Outcome:
    """Both sides in turn."""
    problem = contest.problem()
    peer_gap = gap(problem, contest.multipliers(problem, contest.fit(contest.theirs)))
    tol = contest.ours or max(peer_gap, 1e-12)

    def ours() -> Solution:
        return solve(contest.problem(), "smo", tol=tol)

    solution = ours()
    rounds = [(cpu(lambda: contest.fit(contest.theirs)), cpu(ours)) for _ in range(contest.rounds)]
    theirs_s, ours_s = median(theirs for theirs, _ in rounds), median(ours for _, ours in rounds)
    assert solution.dual is not None
    reached = gap(problem, solution.dual)
    return Outcome(
        contest.work, contest.name, theirs_s, ours_s, peer_gap, reached, theirs_s / ours_s, contest.must, contest.aim, solution.status
    )


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def threads(n: int) -> Figure:
    """Wall time of one thread over that of two, unless other processes are at work, beside what the machine gives to plain arithmetic."""
    name = f"two threads over one, RBF {n} x 20, wall"
    load = os.getloadavg()[0]
    if load > 1.3 or (os.cpu_count() or 1) < 2:
        return Figure(name, None, 1.4, 1.8, f"skipped: load {load:.1f}")
    X, y = classes(f"{n} x 20")

    def run(n_jobs: int) -> None:
        solve(classification(X, y, 1.0, rbf(1 / 20)), "smo", tol=3e-5, n_jobs=n_jobs)

    run(2)
    times = [(wall(lambda: run(1)), wall(lambda: run(2))) for _ in range(3)]
    ratio = median(one for one, _ in times) / median(two for _, two in times)
    return Figure(name, ratio, 1.4, 1.8, f"load before {load:.1f}; matrix products on their own {independent():.2f}")


def independent() -> float:
    """How much faster two small matrix products at once are than one after the other: 1 where two processors are one core."""

    def products(_: int) -> None:
        A = np.ones((256, 256), np.float32)
        for _ in range(1000):
            A @ A

    products(0)
    with ThreadPoolExecutor(2) as pool:
        both = median(wall(lambda: list(pool.map(products, range(2)))) for _ in range(3))
    return 2 * median(wall(lambda: products(0)) for _ in range(3)) / both


def wall(work: Callable[[], Any]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


FRESH = """
import time
import numpy as np
from equimargin.formulations import classification, rbf
from equimargin.solvers import solve
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, {d}))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5 + 0.3 * rng.normal(size={n}), 1.0, -1.0)
start = time.perf_counter()
solution = solve(classification(X, y, 1.0, rbf(1 / {d})), "smo", tol=1e-3)
seconds = time.perf_counter() - start
import resource
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, solution.status)
"""


def fresh(n: int, d: int) -> tuple[float, float, str]:
    """Wall seconds of the first solve in a new process, after its imports, the peak memory of the process in GB, and the status."""
    command = [sys.executable, "-c", FRESH.format(n=n, d=d)]
    seconds, memory, status = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout.split()
    return float(seconds), float(memory), status


def figures(quick: bool) -> Iterator[Figure]:
    """What is no ratio to a peer: smaller is better for seconds and GB, larger for threads."""
    fresh(200, 5)
    yield Figure("first solve, 200 x 5, s", median(fresh(200, 5)[0] for _ in range(3)), 0.5, 0.2, "kernels on disk")
    if not quick:
        seconds, memory, status = fresh(50_000, 50)
        yield Figure("peak memory, RBF 50000 x 50, GB", memory, 1.0, 0.4, f"{status} in {seconds:.1f} s")
        yield threads(10_000)
        yield threads(20_000)


def main() -> None:
    """Run, print and keep what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data and one seed: about a minute")
    parser.add_argument("--only", default="", help="contests whose group or name holds this text")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    outcomes, single = [], []
    if not arguments.only:  # first, because a child process inherits the peak memory of its parent
        for figure in figures(arguments.quick):
            single.append(figure)
            shown = "-" if figure.value is None else f"{figure.value:.2f}"
            print(f"{figure.name:44s} {shown:>6s}  must {figure.must:g}, aim {figure.aim:g}  {figure.said}", flush=True)
    with threadpool_limits(1):
        for contest in contests(arguments.quick):
            if arguments.only in f"{contest.work} {contest.name}":
                outcomes.append(run(contest))
                print(line(outcomes[-1]), flush=True)
        for name, C in MANY_CLASSES[:1] if arguments.quick else MANY_CLASSES:
            if arguments.only in f"RBF SVC, many classes {name}":
                outcomes.append(many_classes(name, C))
                print(line(outcomes[-1]), flush=True)
    print()
    for work in dict.fromkeys(outcome.work for outcome in outcomes):
        group = [outcome for outcome in outcomes if outcome.work == work]
        worst = min(group, key=lambda outcome: outcome.ratio)
        print(f"{work:44s} worst {worst.ratio:5.2f}  must {worst.must:g}, aim {worst.aim:g}  ({worst.name}; load {os.getloadavg()[0]:.1f})")
    if arguments.json:
        arguments.json.write_text(json.dumps({"contests": [asdict(o) for o in outcomes], "figures": [asdict(f) for f in single]}, indent=1))


def line(outcome: Outcome) -> str:
    """An outcome for a person."""
    return (
        f"{outcome.work:44s} {outcome.name:32s} peer {1e3 * outcome.peer_seconds:8.2f} ms gap {outcome.peer_gap:.1e}"
        f" | ours {1e3 * outcome.seconds:8.2f} ms gap {outcome.gap:.1e} {outcome.status:10s} | ratio {outcome.ratio:5.2f}"
        f"{'' if outcome.ratio >= outcome.must and outcome.gap <= max(outcome.peer_gap, 1e-6) else '  SHORT'}"
    )


if __name__ == "__main__":
    main()
