"""CPU seconds of equimargin and of other packages on every kind of problem.

    python benchmarks/run.py side_by_side [--rows 1 2 8] [--data DIR]

The two sides run in turn on one thread. A peer, another package, runs at the second of
its three tolerances in `trust/packages.toml`, with many points at the third, too. The
relative gap of its multipliers, or for linear machines the distance of its w above a
proven lower bound, is measured without being timed, and is the tolerance of equimargin.
A ratio is the peer's time over ours; SHORT marks a ratio below the requirement. For
rankings pip installs no other package: the baselines are this package's implementations
of TRON and of cutting planes, as in Kuo, Lee and Lin (2014), and `make bench-against`
compares with an earlier checkout. Missing peers and data are named. Everything runs on
one processor except the row of two threads. It takes about an hour on a quiet
machine, without row 18, the largest problems, which takes about two hours: `--rows 18`.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scaling
import start_up
from clock import against, timed
from kinds import path, ranking, svm
from table import DATA, Benchmark, Line, Table, alone, on_one_processor
from trust import instances
from trust.fits import FITS, Fit, Model, Task
from trust.runs import Package, packages
from trust.worker import printed

from equimargin.formulations import MarginProblem, classification, rbf
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import solve

Array = Any
LOWER_TOL, PATIENCE = 1e-11, 60.0
"""Relative gap of the solutions that give lower bounds, and their limit in wall seconds."""
TIGHTEST = 1e-12
"""Minimum tolerance of equimargin."""


@dataclass(frozen=True)
class Row:
    """Problem and its required ratios, by the peers' names in packages.toml.

    `level` is the place of the peers' tolerance: 0 loose, 1 usual, 2 tight.
    """

    number: int
    name: str
    data: Callable[[], tuple[Any, Array]]
    problem: str
    C: float
    must: Mapping[str, float]
    level: int = 1


def line(
    number: int,
    name: str,
    peer: str,
    seconds: float | None,
    theirs: float | None = None,
    accuracy: float | None = None,
    must: float | None = None,
    said: str = "",
) -> Line:
    """Return a line: a peer's accuracy, CPU seconds of both sides, and the required ratio.

    A missing value is None.
    """
    ratio = theirs / seconds if theirs and seconds else None
    found = {
        "row": number,
        "work": name,
        "peer": peer,
        "reached": accuracy,
        "peer s": theirs,
        "ours s": seconds,
        "ratio": ratio,
    }
    return found | {
        "must": must,
        "": "SHORT" if must and ratio is not None and ratio < must else "",
        "said": said,
    }


def with_ones(name: str) -> tuple[Any, Array]:
    """Return clusters with a column of ones."""
    X, y = svm.classes(name)
    return instances.with_ones(X), y


def texts() -> tuple[Any, Array]:
    """Return 20,000 rows of 47,000 features, 75 or fewer of them not 0, as in RCV1."""
    return instances.texts(20_000, 47_000, 75, 1.2)


MANY_POINTS: dict[str, Callable[[], tuple[Any, Array]]] = {
    "adult's shape 16281 x 6": instances.census,
    "20000 x 20": partial(svm.classes, "20000 x 20"),
    "50000 x 20": partial(svm.classes, "50000 x 20"),
    "cover 50000 x 54": partial(instances.cover, 50_000),
    "images 10000 x 784": partial(instances.images, 10_000),
}
"""Problems of many points, C = 1."""
MOST_POINTS: dict[str, Callable[[], tuple[Any, Array]]] = {
    "100000 x 20": partial(svm.classes, "100000 x 20"),
    "images 50000 x 784": partial(instances.images, 50_000),
}
"""Those on which peers take minutes, and some a quarter of an hour."""
LOOSE, TIGHT = 1e-3, 1e-6
"""Requested gaps whose times are compared."""


def rows() -> Iterator[Row]:
    """Yield rows 1 to 4 and 7 to 9: a problem, fitted by peers and by equimargin."""
    # The mapping of a row has the required ratio of each peer's time to equimargin's.
    for name, C, libsvm, sklearnex in (("5000 x 784", 1.0, 5, 2), ("10000 x 100", 10.0, 6, 3)):
        yield Row(
            1,
            f"RBF {name}, C = {C:g}",
            partial(svm.classes, name),
            "rbf hinge",
            C,
            {"LIBSVM": libsvm, "sklearnex SVC": sklearnex},
        )
    for name in ("5000 x 20", "10000 x 20", "20000 x 20"):
        for C in (0.1, 1.0, 10.0, 100.0):
            asked = {"LIBSVM": 7, "sklearnex SVC": 6, "thundersvm": 6}
            yield Row(
                2, f"RBF {name}, C = {C:g}", partial(svm.classes, name), "rbf hinge", C, asked
            )
    for name in ("100 x 20", "breast_cancer", "digits", "1000 x 20"):
        for C in (1.0, 100.0):
            yield Row(
                3,
                f"RBF {name}, C = {C:g}",
                partial(svm.classes, name),
                "rbf hinge",
                C,
                {"LIBSVM": 3, "scikit-learn SVC": 3},
            )
    for n in (50, 100, 200):
        data = partial(with_ones, f"{n} x 5")
        yield Row(
            4,
            f"linear {n} x 5, squared hinge",
            data,
            "linear squared_hinge",
            1.0,
            {"scikit-learn LinearSVC": 1.5},
        )
    for loss, first in (("hinge", "LIBLINEAR dual"), ("squared_hinge", "LIBLINEAR primal")):
        for C in (1.0, 100.0):
            yield Row(
                7,
                f"texts 20000 x 47000, {loss}, C = {C:g}",
                texts,
                f"linear {loss}",
                C,
                {first: 1.5, "snapml": 1.5},
            )
    for name, must in (
        ("10000 x 20", 8),
        ("50000 x 54", 15),
        ("20000 x 100", 12),
        ("3000 x 1000", 6),
    ):
        data = partial(with_ones, name)
        yield Row(
            8,
            f"linear {name}, squared hinge, C = 1",
            data,
            "linear squared_hinge",
            1.0,
            {"LIBLINEAR primal": must},
        )
    for name in ("10000 x 20", "20000 x 100"):
        data = partial(with_ones, name)
        yield Row(
            9,
            f"linear {name}, hinge, C = 0.01",
            data,
            "linear hinge",
            0.01,
            {"LIBLINEAR dual": 10, "snapml": 4},
        )


def rows_of_many_points() -> Iterator[Row]:
    """Yield rows 17 and 18: kernel machines of many points, at two tolerances of the peers."""
    must = {"LIBSVM": 10.0, "sklearnex SVC": 3.0}
    for row, sets in ((17, MANY_POINTS), (18, MOST_POINTS)):
        for name, drawn in sets.items():
            for level, words in ((1, "usual"), (2, "tight")):
                title = f"RBF {name}, C = 1, {words}"
                yield Row(row, title, drawn, "rbf hinge", 1.0, must, level)


def stated(row: Row, X: Any, y: Array) -> MarginProblem:
    """Return the problem of a row."""
    kernel, loss = row.problem.split()
    chosen: LossName = "hinge" if loss == "hinge" else "squared_hinge"
    return classification(
        X, y, row.C, rbf(1 / X.shape[1]) if kernel == "rbf" else None, chosen, bias=kernel == "rbf"
    )


def accuracy(problem: MarginProblem, model: Model, lower: float) -> float:
    """Return the relative gap of the multipliers of a kernel machine.

    For a linear machine return the relative distance of w above a lower bound.
    """
    if model.beta is not None:
        return svm.gap(problem, np.maximum(problem.rows.s * np.ravel(model.beta), 0.0))
    w = np.asarray(model.w, float)
    primal = problem.primal(problem.X @ w, float(w @ w), 0.0)
    return (primal - lower) / primal


def beside(row: Row, there: Mapping[str, Package]) -> Iterator[Line]:
    """Yield the lines of a row, one for each of its peers."""
    X, y = row.data()
    problem = stated(row, X, y)
    lower = (
        0.0
        if row.problem == "rbf hinge"
        else solve(problem, tol=LOWER_TOL, time_limit=PATIENCE).lower
    )
    for name, must in row.must.items():
        if name not in there:
            yield line(row.number, row.name, name, None, must=must, said="not installed")
            continue
        package, loss = there[name], row.problem.split()[1]
        gamma = 1 / X.shape[1] if row.problem == "rbf hinge" else None
        fit: Fit = FITS[package.fit](
            Task(
                X,
                y,
                row.C,
                loss,
                gamma,
                package.tolerances[row.level],
                package.problems[row.problem],
            )
        )
        first, _ = printed(partial(timed, fit.run))
        reached = accuracy(problem, fit.read(first.result, "", False), lower)
        ours = partial(lambda tol: solve(stated(row, X, y), tol=tol), max(reached, TIGHTEST))
        (theirs, own), _ = printed(
            partial(against, first, fit.run, ours)
        )  # what peers print is kept from the table
        yield line(row.number, row.name, name, own.cpu, theirs.cpu, reached, must)


def of_libsvm() -> Iterator[Line]:
    """Yield rows 5 and 6: many classes, and given kernel matrices.

    The construction of the problem is timed, too.
    """
    for C in (1.0, 10.0):
        yield _of_libsvm(5, "one against one", svm.many_classes("digits", C))
    for n in (1000, 5000):
        yield _of_libsvm(
            6,
            "precomputed",
            svm.measured(svm.Contest("", f"{n} x 20", 0, 1.0, 2, 2, 3, points=svm.gram)),
        )


def _of_libsvm(number: int, work: str, found: Line) -> Line:
    sides = found["ours ms"] / 1e3, found["peer ms"] / 1e3
    return line(
        number, f"{work}, {found['problem']}", "scikit-learn SVC", *sides, found["peer gap"], 2
    )


def like_ohsumed() -> ranking.Data:
    """Return data of the shape of OHSUMED: 9,000 points of 45 features in 63 queries.

    They have three levels, about 370,000 pairs, and many duplicates.
    """
    rng, m, d = np.random.default_rng(0), 9000, 45
    queries = np.repeat(np.arange(63), m // 63 + 1)[:m]
    X = np.round(rng.random((m, d)) ** 2, 1)
    X[1::5] = X[::5]
    score = X[:, :5].sum(axis=1) + rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, [0.58, 0.81])).astype(float), queries


def rankings(folder: Path) -> Iterator[Line]:
    """Yield rows 10 to 12: equimargin's solvers against those of Kuo, Lee and Lin."""
    sets: list[tuple[str, Callable[[], ranking.Data]]] = [("OHSUMED's shape", like_ohsumed)]
    if (folder / "mq2008").is_dir():
        sets.append(("MQ2008 fold 1", partial(ranking.mq2008, folder, None)))
    else:
        print(f"{folder} has no folder mq2008: its rows are left out")
    smooth: list[tuple[int, str, Callable[[], ranking.Data], float, float]]
    shapes = (("3000 x 300", ranking.wide), ("3000 x 300 of 20 factors", ranking.correlated))
    smooth = [(10, name, drawn, C, 1e-6) for name, drawn in shapes for C in (0.01, 1.0, 100.0)]
    smooth += [
        (12, name, drawn, C, tol)
        for name, drawn in sets
        for C in (0.01, 1.0, 100.0)
        for tol in (1e-3, 1e-6)
    ]
    for number, name, data, C, tol in smooth:
        yield ranked(number, ranking.Row(name, data, "squared_hinge", C, ()), "tron", tol)
    for name, drawn in sets:
        for C in (0.02, 2.0):
            yield ranked(11, ranking.Row(name, drawn, "hinge", C, ()), "cutting_plane", 1e-3)


def ranked(number: int, row: ranking.Row, solver: str, tol: float) -> Line:
    """Measure equimargin's solver and one of Kuo, Lee and Lin, to equal gaps.

    Both are implementations of this package.
    """
    sides = [
        partial(lambda name: solve(row.problem(), name, tol=tol, time_limit=10), name)
        for name in (solver, "auto")
    ]
    theirs, own = against(timed(sides[0]), *sides)
    return line(number, row.title, f"{solver} (ours)", own.cpu, theirs.cpu, tol)


def many_points() -> Iterator[Line]:
    """Yield row 13: a ranking of a million points by all pairs, in its own process."""
    solved, proof = alone(scaling.ranked, 1_000_000, "auto")
    yield line(
        13,
        "ranking, 1e6 points",
        "none",
        solved["s"],
        said=f"{solved['GB']:.2f} GB, proof {proof['s']:.2f} s",
    )


def paths(folder: Path) -> Iterator[Line]:
    """Yield row 14: whole paths, and 100 fits of LIBSVM."""
    if not (folder / "esl-mixture.csv").is_file():
        print(f"{folder} has no esl-mixture.csv: the paths are left out")
        return
    for n, must in ((100, None), (200, None), (1000, 10.0)):
        found = path.measured(folder, path.Row("mixture", "classification", n, quick=must is None))
        yield line(
            14,
            f"path, {n} points",
            "100 fits of LIBSVM",
            found["path s"],
            found["LIBSVM s"],
            must=must,
        )


def tolerances() -> Iterator[Line]:
    """Yield row 19: equimargin to a loose gap, in turn with itself to a tight one.

    A loose gap is worth its name if it takes at most half of the time.
    """
    for name, drawn in MANY_POINTS.items():
        X, y = drawn()
        problem = classification(X, y, 1.0, rbf(1 / X.shape[1]))
        tight, loose = (
            partial(lambda problem, tol: solve(problem, "smo", tol=tol), problem, tol)
            for tol in (TIGHT, LOOSE)
        )
        tight()  # its functions are loaded or compiled without being timed
        theirs, own = against(timed(tight), tight, loose)
        steps = f"{own.result.iterations:,} of {theirs.result.iterations:,} steps"
        title = f"RBF {name}, C = 1, gap {LOOSE:g}"
        yield line(19, title, f"equimargin, {TIGHT:g}", own.cpu, theirs.cpu, LOOSE, 2.0, steps)


def processes() -> Iterator[Line]:
    """Yield rows 15 and 16: two threads over one, and comparisons from the command line."""
    two = svm.threads(10_000)
    value = "" if two["value"] is None else f"{two['value']:.2f}; "
    yield line(15, two["figure"], "one thread", None, said=value + two["said"])
    with tempfile.TemporaryDirectory() as folder:
        data = dict(start_up.files(Path(folder)))["classification"]
        start_up.timed(data, None)
        warm, cold = start_up.timed(data, None), start_up.timed(data, str(Path(folder) / "kernels"))
    yield line(
        16,
        "compare 200 x 5, kernels compiled before",
        "none",
        warm.cpu,
        said=f"first answer after {warm.first_cpu:.1f} s",
    )
    yield line(
        16,
        "compare 200 x 5, cold",
        "none",
        cold.cpu,
        said=f"first answer after {cold.first_cpu:.1f} s",
    )


def lines(numbers: set[int], folder: Path) -> Iterator[Line]:
    """Yield the lines of the chosen rows: threads and processes, then all others.

    The others run on one processor.
    """
    if {15, 16} & numbers:
        yield from processes()
    on_one_processor()
    there = {package.name: package for package in packages() if package.present}
    for row in chain(rows(), rows_of_many_points()):
        if row.number in numbers:
            yield from beside(row, there)
    groups: dict[tuple[int, ...], Callable[[], Iterator[Line]]]
    groups = {
        (5, 6): of_libsvm,
        (10, 11, 12): partial(rankings, folder),
        (13,): many_points,
        (14,): partial(paths, folder),
        (19,): tolerances,
    }
    for wanted, group in groups.items():
        if numbers.intersection(wanted):
            yield from group()


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table of the chosen rows."""
    for name in sorted({package.package for package in packages() if not package.present}):
        print(f"{name} is not installed: pip install 'equimargin[peers]'")
    numbers, found = set(asked.rows), list[Line]()
    chosen = (each for each in lines(numbers, asked.data) if each["row"] in numbers)
    yield Table(
        COLUMNS,
        (
            found.append(each) or each  # type: ignore[func-returns-value]
            for each in chosen
        ),
    )
    print(
        f"{len(found)} lines, {sum(each[''] == 'SHORT' for each in found)} short of their "
        f"requirement"
    )


COLUMNS = {
    "row": "3d",
    "work": "52s",
    "peer": "24s",
    "reached": "8.1e",
    "peer s": "9.4f",
    "ours s": "9.4f",
    "ratio": "7.2f",
    "must": "4g",
}
COLUMNS |= {"": "5s", "said": "s"}
OPTIONS = {
    "rows": ((*range(1, 18), 19), "only these"),
    "data": (DATA, "the folder of public data sets"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
