"""Document T, Table 2: documents of three queries
================================================

Section 5.3.2 of Yu and Kim's tutorial learns each of the first three queries of OHSUMED
separately, by a ranking vector machine (RVM) and a ranking SVM, with a linear and an
RBF kernel. It compares accuracy, training time and the number of support vectors.

Run it: ``python examples/documents/tutorial_table.py [--full] [--save FOLDER]``. With
``--full`` C and gamma are 10^-6, ..., 10^6, with three repeats, as published; without
it there are four costs and two widths for the first query. The file is
``../shared/data/ohsumed-queries-1-6.txt`` of LETOR 3.0, with 45 features; the tutorial
has 25. Without the file three random queries are used.

The tutorial does not define its folds and its vectors, but the table shows both. Its
SVM has 92, 102 and 156.66 vectors, two thirds of 138, 153 and 235, the numbers of
documents of these queries in the file. So each query was divided into three folds of
documents, a vector is a document with a coefficient, every training document had one,
and the published sizes 134, 128 and 182 are not those of the data.
"""

import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure

from equimargin.data import load
from equimargin.formulations import Kernel, Problem, linear, ranking, ranking_vector_machine, rbf
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.metrics import pairwise_accuracy
from equimargin.solvers import Solution, solve

MACHINES: dict[str, tuple[Callable[..., Problem], str]] = {
    "RVM": (ranking_vector_machine, "column_generation"),
    "SVM": (ranking, "huber"),
}
PRINTED = {
    ("RVM", "linear"): ((0.5484, 0.23, 1.4), (0.6730, 0.41, 3.83), (0.6611, 1.94, 1.99)),
    ("RVM", "rbf"): ((0.5055, 0.85, 4.3), (0.6637, 0.41, 2.83), (0.6723, 4.71, 1.0)),
    ("SVM", "linear"): ((0.5621, 1.02, 92.0), (0.6723, 1.03, 101.66), (0.6588, 4.24, 156.55)),
    ("SVM", "rbf"): ((0.5490, 3.05, 92.0), (0.6762, 3.50, 102.0), (0.6710, 55.08, 156.66)),
}
"""Accuracy, seconds and vectors of queries 1, 2 and 3.

Those of the first SVM are inferred from a table that is garbled in the available text.
"""
FOLDS = 3
COEFFICIENT = 1e-6
"""Share of the largest coefficient below which a coefficient counts as 0."""


class Query(NamedTuple):
    """Documents X (m, d) of a query and their relevances y (m,)."""

    X: Array
    y: Array


class Size(NamedTuple):
    """Number of queries, costs C, widths gamma, and number of repeats."""

    queries: int
    C: tuple[float, ...]
    gamma: tuple[float, ...]
    repeats: int


SMALL = Size(1, (0.01, 1.0, 100.0), (0.01, 1.0), 1)
FULL = Size(3, tuple(10.0**k for k in range(-6, 7)), tuple(10.0**k for k in range(-6, 7)), 3)


class Cell(NamedTuple):
    """Cell of the table: accuracy, CPU seconds of a fit, points with a coefficient."""

    accuracy: float
    seconds: float
    vectors: float


def queries(data: Path) -> list[Query]:
    """Return the first three queries of the file, or random ones."""
    file = data / "ohsumed-queries-1-6.txt"
    if file.is_file():
        table = load(file, task="ranking")
        X, qid = dense(table.X), np.asarray(table.qid)
        return [
            Query(X[qid == query], np.asarray(table.y, dtype=float)[qid == query])
            for query in np.unique(qid)[:3]
        ]
    print(f"there is no file {file}: queries are drawn")
    random = np.random.default_rng(0)
    found = []
    for m in (138, 153, 235):
        X = random.random((m, 25))
        utility = X[:, :3].sum(axis=1) + random.normal(size=m)
        found.append(
            Query(X, np.digitize(utility, np.quantile(utility, [0.6, 0.85])).astype(float))
        )
    return found


def fitted(machine: str, query: Query, C: float, kernel: Kernel) -> Solution:
    """Fit an RVM or an SVM to documents."""
    make, solver = MACHINES[machine]
    return solve(make(query.X, query.y, C=C, kernel=kernel), solver, tol=1e-3, time_limit=20.0)


def validated(machine: str, query: Query, C: float, kernel: Kernel, seed: int) -> Cell:
    """Return the result of cross-validation over documents.

    The accuracy is that of the pairs of all folds; the other entries are means of the
    fits.
    """
    fold = np.random.default_rng(seed).permutation(len(query.y)) % FOLDS
    right = total = seconds = vectors = 0.0
    for held_out in range(FOLDS):
        rest = fold != held_out
        begun = time.process_time()
        found = fitted(machine, Query(query.X[rest], query.y[rest]), C, kernel)
        seconds += time.process_time() - begun
        assert found.beta is not None
        vectors += (np.abs(found.beta) > COEFFICIENT * np.abs(found.beta).max()).sum()
        of = pairwise_accuracy(query.y[~rest], found.decision_function(query.X[~rest]))
        right, total = right + of.total.sum(), total + of.weight.sum()
    return Cell(right / total, seconds / FOLDS, vectors / FOLDS)


def cell(machine: str, kind: str, query: Query, size: Size, seed: int) -> Cell:
    """Return a cell of the table in one repeat, at the C and gamma of the highest accuracy."""
    kernels = [linear()] if kind == "linear" else [rbf(gamma) for gamma in size.gamma]
    return max(validated(machine, query, C, kernel, seed) for C, kernel in product(size.C, kernels))


Table = dict[tuple[str, str], Array]
"""Entries of cells, (queries, repeats, 3), by machine and kernel."""


def lines(found: Table, asked: list[Query]) -> Iterator[str]:
    """Yield the table, with published figures in brackets."""
    for at, query in enumerate(asked):
        yield f"query {at + 1}: {len(query.y)} documents of {query.X.shape[1]} features"
        for (machine, kind), cells in found.items():
            own, printed = cells[at].mean(axis=0), PRINTED[machine, kind][at]
            text = (
                f"accuracy {own[0]:.4f} ({printed[0]:.4f}), seconds {own[1]:.4f} "
                f"({printed[1]:g}), vectors {own[2]:.1f} ({printed[2]:g})"
            )
            yield f"  {machine} {kind:7s} {text}"


def outcomes(found: Table) -> Iterator[Outcome]:
    """Yield outcomes of the two claims of the section."""
    last = {key: cells[-1].mean(axis=0) for key, cells in found.items()}
    of = "; ".join(
        f"{machine} {kind} {own[0]:.4f} with {own[2]:.0f}" for (machine, kind), own in last.items()
    )
    # Interpretation of the claim: no SVM is more accurate, and each has ten times as
    # many vectors.
    fewest = min(
        (own for (machine, _), own in last.items() if machine == "RVM"), key=lambda own: own[2]
    )
    svm = [own for (machine, _), own in last.items() if machine == "SVM"]
    wins = fewest[0] >= max(own[0] for own in svm) and fewest[2] < 0.1 * min(own[2] for own in svm)
    yield Outcome(
        "T.table2",
        bool(wins),
        f"with 45 features in place of 25, of the last query, accuracies and vectors are {of}",
    )
    seconds = {
        machine: np.mean(
            [cells[..., 1].mean() for (own, _), cells in found.items() if own == machine]
        )
        for machine in MACHINES
    }
    gaps = [
        found["SVM", kind][..., 0].mean(axis=1) - found["RVM", kind][..., 0].mean(axis=1)
        for kind in ("linear", "rbf")
    ]
    largest = float(np.abs(gaps).max())
    took = (
        f"a fit takes {1000 * seconds['RVM']:.1f} ms by RVM and {1000 * seconds['SVM']:.1f} ms "
        f"by SVM"
    )
    faster = bool(seconds["RVM"] < seconds["SVM"])
    yield Outcome(
        "T.table2.time",
        faster and largest < 0.03,
        f"{took}, and accuracies differ by {largest:.3f} at most",
    )


def picture(found: Table) -> Figure:
    """Draw accuracy, seconds and vectors of the four machines, query by query.

    Crosses are the published values.
    """
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4))
    for place, (key, cells) in enumerate(found.items()):
        own, printed = cells.mean(axis=1), np.array(PRINTED[key])[: len(cells)]
        for at, column in zip(axes, range(3), strict=True):
            positions = np.arange(len(cells)) + 0.2 * place
            at.bar(positions, own[:, column], 0.18, label=" ".join(key))
            at.plot(positions, printed[:, column], "kx", markersize=4)
    for at, title in zip(
        axes, ("accuracy", "CPU seconds of a fit", "points with a coefficient"), strict=True
    ):
        at.set(
            title=f"{title} (x: printed)",
            xlabel="query",
            xticks=0.3 + np.arange(len(cells)),
            xticklabels=1 + np.arange(len(cells)),
        )
    axes[0].set_ylim(0.4, 0.8)
    axes[1].set_yscale("log")
    axes[2].set_yscale("log")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Make Table 2."""
    size = FULL if full else SMALL
    asked = queries(data)[: size.queries]
    for machine, kind in PRINTED:
        cell(machine, kind, Query(asked[0].X[:30], asked[0].y[:30]), SMALL, 0)  # compiles
    found = {
        (machine, kind): np.array(
            [
                [cell(machine, kind, query, size, seed) for seed in range(size.repeats)]
                for query in asked
            ]
        )
        for machine, kind in PRINTED
    }
    return Report(list(lines(found, asked)), list(outcomes(found)), picture(found))


if __name__ == "__main__":
    command("tutorial_table", main)
