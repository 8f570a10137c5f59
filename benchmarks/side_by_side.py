"""Every kind of work beside every peer that pip installs: CPU seconds of one thread, the two sides in turn, and their ratio.

    python benchmarks/side_by_side.py [--rows 1 2 8] [--data DIR]

A peer runs at the middle one of its tolerances in `trust/packages.toml`. What it reaches, the gap of its multipliers or, for linear
machines, the distance of its w above a proven lower bound, is measured outside of the clock and is what ours is asked for. A ratio is the
peer's time over ours, SHORT where it is below what is asked for. For rankings pip installs no peer: document K's TRON and cutting plane,
which are this package's, stand beside, and `make bench-against` compares with an earlier checkout. A peer that is not installed and data
that are not there are named. Everything runs on one processor but the row of two threads, and goes to build/side_by_side.json. It takes
about twenty minutes on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scaling
import start_up
from kinds import path, ranking, svm
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits
from trust import instances
from trust.fits import FITS, Fit, Model, Task
from trust.runs import Package, packages
from trust.worker import printed

from equimargin.formulations import MarginProblem, classification, precomputed, rbf
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import solve

Array = Any
OUT = Path(__file__).resolve().parents[1] / "build" / "side_by_side.json"
SLOW, REPEATS = 2.0, 3
"""CPU seconds from which on the first run of a peer is its figure, and the runs whose median counts otherwise."""
LOWER_TOL, PATIENCE = 1e-11, 60.0
"""Relative gap of the solution whose proven lower bound distances are measured from, and wall seconds that it may take."""
TIGHTEST = 1e-12
"""The smallest tolerance that ours is asked for."""


@dataclass(frozen=True)
class Row:
    """A problem and the ratios that are asked for, by the peers' names in packages.toml."""

    number: int
    name: str
    data: Callable[[], tuple[Any, Array]]
    problem: str
    C: float
    must: Mapping[str, float]


@dataclass(frozen=True)
class Line:
    """A line of the table: what a peer reaches, CPU seconds of both sides, and the ratio that is asked for; None where there is none."""

    number: int
    name: str
    peer: str
    seconds: float | None
    theirs: float | None = None
    accuracy: float | None = None
    must: float | None = None
    said: str = ""
    ratio: float | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", self.theirs / self.seconds if self.theirs and self.seconds else None)


def with_ones(name: str) -> tuple[Any, Array]:
    """Clusters with a column of ones."""
    X, y = svm.classes(name)
    return instances.with_ones(X), y


def texts() -> tuple[Any, Array]:
    """20,000 rows of 47,000 features, 75 or fewer of them not 0, as in RCV1."""
    return instances.texts(20_000, 47_000, 75, 1.2)


def rows() -> Iterator[Row]:
    """Rows 1 to 4 and 7 to 9: one problem, one peer's model, one answer of ours."""
    for name, C, libsvm, sklearnex in (("5000 x 784", 1.0, 5, 2), ("10000 x 100", 10.0, 6, 3)):
        yield Row(1, f"RBF {name}, C = {C:g}", partial(svm.classes, name), "rbf hinge", C, {"LIBSVM": libsvm, "sklearnex SVC": sklearnex})
    for name in ("5000 x 20", "10000 x 20", "20000 x 20"):
        for C in (0.1, 1.0, 10.0, 100.0):
            asked = {"LIBSVM": 7, "sklearnex SVC": 6, "thundersvm": 6}
            yield Row(2, f"RBF {name}, C = {C:g}", partial(svm.classes, name), "rbf hinge", C, asked)
    for name in ("100 x 20", "breast_cancer", "digits", "1000 x 20"):
        for C in (1.0, 100.0):
            yield Row(3, f"RBF {name}, C = {C:g}", partial(svm.classes, name), "rbf hinge", C, {"LIBSVM": 3, "scikit-learn SVC": 3})
    for n in (50, 100, 200):
        data = partial(with_ones, f"{n} x 5")
        yield Row(4, f"linear {n} x 5, squared hinge", data, "linear squared_hinge", 1.0, {"scikit-learn LinearSVC": 1.5})
    for loss, first in (("hinge", "LIBLINEAR dual"), ("squared_hinge", "LIBLINEAR primal")):
        for C in (1.0, 100.0):
            yield Row(7, f"texts 20000 x 47000, {loss}, C = {C:g}", texts, f"linear {loss}", C, {first: 1.5, "snapml": 1.5})
    for name, must in (("10000 x 20", 8), ("50000 x 54", 15), ("20000 x 100", 12), ("3000 x 1000", 6)):
        data = partial(with_ones, name)
        yield Row(8, f"linear {name}, squared hinge, C = 1", data, "linear squared_hinge", 1.0, {"LIBLINEAR primal": must})
    for name in ("10000 x 20", "20000 x 100"):
        data = partial(with_ones, name)
        yield Row(9, f"linear {name}, hinge, C = 0.01", data, "linear hinge", 0.01, {"LIBLINEAR dual": 10, "snapml": 4})


def stated(row: Row, X: Any, y: Array) -> MarginProblem:
    """The problem of a row."""
    kernel, loss = row.problem.split()
    chosen: LossName = "hinge" if loss == "hinge" else "squared_hinge"
    return classification(X, y, row.C, rbf(1 / X.shape[1]) if kernel == "rbf" else None, chosen, bias=kernel == "rbf")


def accuracy(problem: MarginProblem, model: Model, lower: float) -> float:
    """The relative gap of a kernel machine's multipliers, or the relative distance of w above a lower bound."""
    if model.beta is not None:
        return svm.gap(problem, np.maximum(problem.rows.s * model.beta, 0.0))
    w = np.asarray(model.w, float)
    primal = problem.primal(problem.X @ w, float(w @ w), 0.0)
    return (primal - lower) / primal


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns; what it prints is kept from the table."""

    def timed() -> tuple[float, Any]:
        start = time.process_time()
        result = run()
        return time.process_time() - start, result

    (seconds, result), _ = printed(timed)
    return seconds, result


def beside(row: Row, there: Mapping[str, Package]) -> Iterator[Line]:
    """The lines of a row, one for each of its peers."""
    X, y = row.data()
    problem = stated(row, X, y)
    lower = 0.0 if row.problem == "rbf hinge" else solve(problem, tol=LOWER_TOL, time_limit=PATIENCE).lower
    for name, must in row.must.items():
        if name not in there:
            yield Line(row.number, row.name, name, None, must=must, said="not installed")
            continue
        package, loss = there[name], row.problem.split()[1]
        gamma = 1 / X.shape[1] if row.problem == "rbf hinge" else None
        fit: Fit = FITS[package.fit](Task(X, y, row.C, loss, gamma, package.tolerances[1], package.problems[row.problem]))
        first, raw = cpu(fit.run)
        reached = accuracy(problem, fit.read(raw, "", False), lower)
        ours = partial(lambda tol: solve(stated(row, X, y), tol=tol), max(reached, TIGHTEST))
        ours()
        times = [(first if first > SLOW else cpu(fit.run)[0], cpu(ours)[0]) for _ in range(REPEATS)]
        theirs, seconds = (median(side) for side in zip(*times, strict=True))
        yield Line(row.number, row.name, name, seconds, theirs, reached, must)


def of_libsvm() -> Iterator[Line]:
    """Rows 5 and 6: many classes, and given kernel matrices, the construction of the problem counted."""
    for C in (1.0, 10.0):
        many = svm.many_classes("digits", C)
        yield Line(5, f"one against one, {many.name}", "scikit-learn SVC", many.seconds, many.peer_seconds, many.peer_gap, 2)
    for n in (1000, 5000):
        contest = svm.given("", f"{n} x 20", 0, 1.0, 2, 2)
        K, y = svm.gram(f"{n} x 20", 0)
        outcome = svm.run(replace(contest, problem=partial(classification, K, y, 1.0, precomputed())))
        yield Line(6, f"precomputed {n}, C = 1", "scikit-learn SVC", outcome.seconds, outcome.peer_seconds, outcome.peer_gap, 2)


def like_ohsumed() -> ranking.Data:
    """9,000 points of 45 features in 63 queries, three levels, about 370,000 pairs, many duplicates: the shape of OHSUMED."""
    rng, m, d = np.random.default_rng(0), 9000, 45
    queries = np.repeat(np.arange(63), m // 63 + 1)[:m]
    X = np.round(rng.random((m, d)) ** 2, 1)
    X[1::5] = X[::5]
    score = X[:, :5].sum(axis=1) + rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, [0.58, 0.81])).astype(float), queries


def rankings(folder: Path) -> Iterator[Line]:
    """Rows 10 to 12: ours, and the solvers of document K."""
    sets: list[tuple[str, Callable[[], ranking.Data]]] = [("OHSUMED's shape", like_ohsumed)]
    if (folder / "mq2008").is_dir():
        sets.append(("MQ2008 fold 1", partial(ranking.mq2008, folder, None)))
    else:
        print(f"{folder} has no folder mq2008: its rows are left out")
    smooth: list[tuple[int, str, Callable[[], ranking.Data], float, float]]
    shapes = (("3000 x 300", ranking.wide), ("3000 x 300 of 20 factors", ranking.correlated))
    smooth = [(10, name, drawn, C, 1e-6) for name, drawn in shapes for C in (0.01, 1.0, 100.0)]
    smooth += [(12, name, drawn, C, tol) for name, drawn in sets for C in (0.01, 1.0, 100.0) for tol in (1e-3, 1e-6)]
    for number, name, data, C, tol in smooth:
        yield ranked(number, ranking.Row(name, data, "squared_hinge", C, ()), "tron", tol)
    for name, drawn in sets:
        for C in (0.02, 2.0):
            yield ranked(11, ranking.Row(name, drawn, "hinge", C, ()), "cutting_plane", 1e-3)


def ranked(number: int, row: ranking.Row, solver: str, tol: float) -> Line:
    """Ours and one of document K's, both of this package, to the same gap."""
    sides = [partial(lambda name: solve(row.problem(), name, tol=tol, time_limit=10), name) for name in (solver, "auto")]
    first = cpu(sides[0])[0]
    sides[1]()
    times = [(first if first > SLOW else cpu(sides[0])[0], cpu(sides[1])[0]) for _ in range(REPEATS)]
    theirs, seconds = (median(side) for side in zip(*times, strict=True))
    return Line(number, row.title, f"{solver} (ours)", seconds, theirs, tol)


def many_points() -> Iterator[Line]:
    """Row 13: a million points, all pairs, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
        solved, proof = own.submit(scaling.ranked, 1_000_000, "auto").result(scaling.LONGEST)
    yield Line(13, "ranking, 1e6 points", "nobody", solved.seconds, said=f"{solved.memory:.2f} GB, proof {proof.seconds:.2f} s")


def paths(folder: Path) -> Iterator[Line]:
    """Row 14: whole paths, and 100 fits of LIBSVM."""
    if not (folder / "esl-mixture.csv").is_file():
        print(f"{folder} has no esl-mixture.csv: the paths are left out")
        return
    for n, must in ((100, None), (200, None), (1000, 10.0)):
        measured = path.measured(path.Row("mixture", "classification", n, quick=must is None), folder)
        yield Line(14, f"path, {n} points", "100 fits of LIBSVM", measured.ours, measured.theirs, must=must)


def processes() -> Iterator[Line]:
    """Rows 15 and 16: two threads over one, and comparisons as a person starts them."""
    two = svm.threads(10_000)
    yield Line(15, two.name, "one thread", None, said=two.said if two.value is None else f"{two.value:.2f}; {two.said}")
    with tempfile.TemporaryDirectory() as folder:
        data = dict(start_up.files(Path(folder)))["classification"]
        start_up.timed(data, None)
        warm, cold = start_up.timed(data, None), start_up.timed(data, str(Path(folder) / "kernels"))
    yield Line(16, "compare 200 x 5, kernels compiled before", "nobody", warm.cpu, said=f"first answer after {warm.first_cpu:.1f} s")
    yield Line(16, "compare 200 x 5, cold", "nobody", cold.cpu, said=f"first answer after {cold.first_cpu:.1f} s")


def lines(chosen: set[int], folder: Path) -> Iterator[Line]:
    """All lines whose row is chosen: first those of threads and of processes, then the others, on one processor."""
    if {15, 16} & chosen:
        yield from (line for line in processes() if line.number in chosen)
    scaling.on_one_processor()
    there = {package.name: package for package in packages() if package.present}
    for row in rows():
        if row.number in chosen:
            yield from beside(row, there)
    groups: list[tuple[set[int], Callable[[], Iterator[Line]]]] = [
        ({5, 6}, of_libsvm),
        ({10, 11, 12}, partial(rankings, folder)),
        ({13}, many_points),
        ({14}, partial(paths, folder)),
    ]
    for numbers, group in groups:
        if numbers & chosen:
            yield from (line for line in group() if line.number in chosen)


def shown(line: Line) -> str:
    """A line for a person."""
    figures = [
        f"{'-':>{width}s}" if figure is None else f"{figure:{width}{form}}"
        for figure, width, form in ((line.accuracy, 8, ".1e"), (line.theirs, 9, ".4f"), (line.seconds, 9, ".4f"), (line.ratio, 7, ".2f"))
    ]
    must = "" if line.must is None else f" must {line.must:g}{' SHORT' if line.ratio is not None and line.ratio < line.must else ''}"
    return f"{line.number:3d} {line.name:52s} {line.peer:24s} {' '.join(figures)}{must} {line.said}".rstrip()


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=range(1, 17), help="only these")
    parser.add_argument("--data", type=Path, default=ranking.DATA, help="the folder of public data sets")
    arguments = parser.parse_args()
    for name in sorted({package.package for package in packages() if not package.present}):
        print(f"{name} is not installed: pip install 'equimargin[peers]'")
    print(f"load {os.getloadavg()[0]:.1f}\n{'row':56s} {'peer':24s} {'reached':>8s} {'peer s':>9s} {'ours s':>9s} {'ratio':>7s}")
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for line in lines(set(arguments.rows), arguments.data):
            found.append(line)
            print(shown(line), flush=True)
    short = [line for line in found if line.must and line.ratio is not None and line.ratio < line.must]
    print(f"{len(found)} lines, {len(short)} short of what is asked for")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([asdict(line) for line in found], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
