"""Document P, Tables 1 to 3: pairs, and lambda chosen along the path
===================================================================

Numbers of pairs of four data sets, with and without the reduced graph, and the results
of the choice of lambda along the path.

Document P is Zapien et al. (2009). Its reduced graph (section 4) has O(n) pairs in
place of all O(n^2) pairs of n points.

Run it: ``python examples/documents/path_tables.py [--full] [--save FOLDER]``. With
``--full`` there are ten splits with the reduced graph, as published, and some with all
pairs; without it there are two splits of the smaller sets with the reduced graph. The
files are ``esl-mixture.csv``, ``auto-mpg.csv`` and ``pima.csv`` of ``../shared/data``;
a set whose file is missing is skipped. Cancer is bundled with scikit-learn.

Half of the points are for training, a quarter for validation, and a quarter for tests,
as in Table 2. The document does not state the kernel width, the scaling of the features
and the end of the paths: here features have mean 0 and deviation 1 on the training
points, ``k(x, z) = exp(-|x - z|^2 / d)``, and paths go down to LAMBDA_MIN. All lambdas
of a path are validated, not only its breakpoints. The width is varied.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from equimargin.formulations import (
    Kernel,
    MarginProblem,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.metrics import pairwise_accuracy
from equimargin.selection.along_path import best
from equimargin.solvers import RegularizationPath, regularization_path

LAMBDA_MIN = 1e-2
TIME_LIMIT_SECONDS = 120.0
"""Time limit of a path, in seconds."""
WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of gamma times the number of features; the document does not state its gamma."""
SPLITS = 10
"""Number of splits, as published."""
FEW_SPLITS, SMALLER = 2, ("Mixtures", "Cancer")
"""Without --full: number of splits, and the sets that are used."""


class Printed(NamedTuple):
    """Published figures of a data set: all and reduced pairs of Table 1, and Table 3.

    `splits` is the number of splits with all pairs that are run here.
    """

    full: int
    reduced: int
    error: str
    lam: str
    size: str
    seconds: str
    splits: int


PRINTED = {
    "Mixtures": Printed(10_000, 199, "0.29 (0.12)", "0.02 (0.04)", "69 (18)", "5.92", 10),
    "Auto": Printed(75_245, 656, "0.50 (0.31)", "1.71 (4.37)", "155 (51)", "74.17", 2),
    "Diabetes": Printed(134_000, 767, "0.65 (1e-16)", "0.77 (0.0003)", "384 (0)", "186.79", 1),
    "Cancer": Printed(75_684, 568, "0.63 (0)", "0.79387 (1e-15)", "285 (0)", "0.27", 2),
}


class Points(NamedTuple):
    """X (m, d), y (m,) relevances."""

    X: np.ndarray
    y: np.ndarray

    def part(self, rows: np.ndarray) -> "Points":
        """Return some of the points."""
        return Points(self.X[rows], self.y[rows])


class Split(NamedTuple):
    """Result of one split.

    It has the pairs, breakpoints and CPU seconds of the path, the chosen lambda, and
    its number of points with a coefficient and test error.
    """

    pairs: int
    breakpoints: int
    seconds: float
    lam: float
    size: int
    error: float
    complete: bool


def read(folder: Path) -> dict[str, Points]:
    """Return the data sets whose files are present, without incomplete rows of Auto."""
    cancer = load_breast_cancer()
    found = {"Cancer": Points(cancer.data, cancer.target.astype(float))}
    for name, file in (
        ("Mixtures", "esl-mixture.csv"),
        ("Auto", "auto-mpg.csv"),
        ("Diabetes", "pima.csv"),
    ):
        if not (folder / file).is_file():
            print(f"there is no file {folder / file}: {name} is left out")
            continue
        columns = range(1, 9) if name == "Auto" else None
        table = np.genfromtxt(folder / file, delimiter=",", skip_header=1, usecols=columns)
        table = table[np.isfinite(table).all(axis=1)]
        found[name] = (
            Points(table[:, 1:], table[:, 0])
            if name == "Auto"
            else Points(table[:, :-1], table[:, -1])
        )
    return {name: found[name] for name in PRINTED if name in found}


def split(points: Points, seed: int) -> tuple[Points, Points, Points]:
    """Return training, validation and test points, with equal shares of every relevance."""
    shuffled = np.random.default_rng(seed).permutation(len(points.y))
    order = shuffled[np.argsort(points.y[shuffled], kind="stable")]
    rest = order[1::2]
    return points.part(order[::2]), points.part(rest[::2]), points.part(rest[1::2])


def scaled(parts: tuple[Points, ...]) -> Iterator[Points]:
    """Scale features by the mean and deviation of the first part."""
    mean, deviation = parts[0].X.mean(axis=0), parts[0].X.std(axis=0)
    return (Points((part.X - mean) / deviation, part.y) for part in parts)


def make_problem(points: Points, kernel: Kernel, reduced: bool) -> MarginProblem:
    """Return RankSVM over all pairs, or over those of the reduced graph."""
    if reduced:
        return ranking_from_pairs(points.X, reduced_preferences(points.y), kernel=kernel)
    return ranking(points.X, points.y, kernel=kernel)


def coefficients(path: RegularizationPath, lam: float) -> int:
    """Return the number of points with a coefficient in f."""
    solution = path.at(lam)
    assert solution.dual is not None
    beta = path.problem.rows.rdot(solution.dual)
    return int((np.abs(beta) > 1e-9 * np.abs(beta).max()).sum())


def run(points: Points, seed: int, reduced: bool, width: float = 1.0) -> Split:
    """Run one split: path, choice, test; `width` is gamma times the number of features."""
    training, validation, test = scaled(split(points, seed))
    problem = make_problem(training, rbf(width / training.X.shape[1]), reduced)
    started = time.process_time()
    path = regularization_path(problem, LAMBDA_MIN, time_limit=TIME_LIMIT_SECONDS)
    seconds = time.process_time() - started
    lam = best(path, validation.X, validation.y).lam
    error = 1 - pairwise_accuracy(test.y, path.decision_function(test.X, lam)).mean
    return Split(problem.p, len(path), seconds, lam, coefficients(path, lam), error, path.complete)


def spread(values: list[float], digits: str) -> str:
    """Return the mean (standard deviation)."""
    return f"{np.mean(values):{digits}} ({np.std(values):{digits}})"


def table_1(sets: dict[str, Points]) -> Iterator[str]:
    """Yield the numbers of pairs."""
    yield "Table 1. Pairs of all points, and of the reduced graph of Figure 3"
    yield (
        f"  {'':9s} {'all':>9s} {'printed':>9s} {'reduced':>9s} {'printed':>9s} {'levels':>7s} "
        f"{'rank of P':>10s}"
    )
    for name, points in sets.items():
        edges, full, printed = (
            reduced_preferences(points.y),
            ranking(points.X, points.y).p,
            PRINTED[name],
        )
        rank = np.linalg.matrix_rank(ranking_from_pairs(points.X, edges).rows.matrix.toarray())
        levels = len(np.unique(points.y))
        yield (
            f"  {name:9s} {full:9,d} {printed.full:9,d} {len(edges):9,d} {printed.reduced:9,d} "
            f"{levels:7d} {rank:10d}"
        )
    yield (
        "The graph orders points of one level, too, which no preference does. With more edges "
        "than the rank of P, as on Auto, P K P' is"
    )
    yield (
        'singular whatever the kernel, where section 4 promises "a non singular Hessian". Two '
        "levels give a tree, as large as its rank."
    )


Splits = dict[tuple[str, str], list[Split]]
"""Splits by data set and kind of pairs, "reduced" or "all"."""


def splits(sets: dict[str, Points], full: bool) -> Splits:
    """Run the choice of lambda along the path, split by split."""
    chosen = list(sets) if full else [name for name in SMALLER if name in sets]
    counts = {(name, "reduced"): SPLITS if full else FEW_SPLITS for name in chosen}
    if full:
        counts |= {(name, "all"): PRINTED[name].splits for name in chosen}
    return {
        (name, kind): [run(sets[name], seed, kind == "reduced") for seed in range(count)]
        for (name, kind), count in counts.items()
    }


def table_3(found: Splits) -> Iterator[str]:
    """Yield the results of the choice of lambda along the path."""
    yield (
        "Table 3. Means over splits (deviations); error: wrong test pairs; A: points with a "
        "coefficient; seconds: CPU, a path"
    )
    head = (
        f"  {'':9s} {'pairs':8s} {'splits':>6s} {'error':>14s} {'lambda':>16s} {'A':>9s} "
        f"{'seconds':>7s}"
    )
    yield f"{head} {'pairs':>7s} {'breakpoints':>11s} {'a pair':>6s}"
    for (name, kind), done in found.items():
        p = PRINTED[name]
        if kind == "reduced":
            yield (
                f"  {name:9s} {'printed':8s} {SPLITS:6d} {p.error:>14s} {p.lam:>16s} "
                f"{p.size:>9s} {p.seconds:>7s}"
            )
        # Means and deviations over the splits, in the order of the head.
        error, lam = (
            spread([one.error for one in done], ".2f"),
            spread([one.lam for one in done], ".3g"),
        )
        size, seconds = (
            spread([one.size for one in done], ".0f"),
            np.mean([one.seconds for one in done]),
        )
        pairs, breakpoints = (
            np.mean([one.pairs for one in done]),
            np.mean([one.breakpoints for one in done]),
        )
        early = sum(not one.complete for one in done)
        line = (
            f"  {name:9s} {kind:8s} {len(done):6d} {error:>14s} {lam:>16s} {size:>9s} "
            f"{seconds:7.3f} {pairs:7,.0f} {breakpoints:11,.0f}"
        )
        yield f"{line} {breakpoints / pairs:6.2f}" + (f"  ({early} ended early)" if early else "")
    yield (
        "The printed numbers are for the reduced graph, which is no equivalent of all pairs: of "
        "two levels it loses little here, of"
    )
    yield (
        "Auto's 127 levels most of what there is to learn; and its lambda weighs |f|^2 against "
        "fewer losses. Seconds are of another"
    )
    yield "machine."
    yield (
        f"Breakpoints a pair are those above lambda = {LAMBDA_MIN:g}, one for all events of one "
        f'lambda; section 7 has "2-3 times" as many'
    )
    yield "as training pairs."


def varied(sets: dict[str, Points], count: int) -> dict[tuple[str, float], list[float]]:
    """Return errors with the reduced graph, by set and gamma times number of features.

    Sets whose published error is that of a constant function are excluded.
    """
    names = [name for name in ("Mixtures", "Auto") if name in sets]
    return {
        (name, width): [run(sets[name], seed, True, width).error for seed in range(count)]
        for name in names
        for width in WIDTHS
    }


def narrow(sets: dict[str, Points]) -> Iterator[str]:
    """Yield the probable cause of the published numbers of Cancer and Diabetes.

    It is a kernel with k(x, x) = 1 and nearly 0 for any other two points.
    """
    yield (
        "Cancer and Diabetes once more: features as they are, k(x, z) = exp(-|x - z|^2), so "
        "that K is the identity, or nearly so"
    )
    for name in ("Cancer", "Diabetes"):
        if name not in sets:
            continue
        points, p = sets[name], PRINTED[name]
        training, _, test = split(points, 0)
        path = regularization_path(make_problem(training, rbf(1.0), reduced=True), 0.1)
        last = path.events[-1].lam
        largest = np.abs(path.decision_function(test.X, last)).max()
        n, above = len(training.y), int(training.y.sum())
        share = max(points.y.sum(), (1 - points.y).sum()) / len(points.y)
        identity = n / (n + abs(n - 1 - 2 * above))
        yield (
            f"  {name}: last breakpoint {last:.6f}, n / (n + |n_e - n_p|) = {identity:.6f} of K "
            f"= I, printed lambda {p.lam};"
        )
        yield (
            f"    scores of test points at most {largest:.0e}; one class for all is wrong for "
            f"{share:.3f}, printed error {p.error}"
        )
    yield (
        "n_p points are preferred, n_e are others but their maximum. Both look like runs in "
        "which all test points had the score 0,"
    )
    yield (
        "one way or the other up to rounding: an inference from numbers, not from the authors' "
        "code."
    )


def outcomes(
    sets: dict[str, Points], errors: dict[tuple[str, float], list[float]]
) -> Iterator[Outcome]:
    """Yield outcomes of the numbers of pairs, and of the errors of two sets."""
    if "Auto" in sets:
        points, printed = sets["Auto"], PRINTED["Auto"]
        all_pairs, reduced = ranking(points.X, points.y).p, len(reduced_preferences(points.y))
        said = (
            f"its {len(points.y)} complete rows have {all_pairs:,} pairs and {reduced} reduced ones"
        )
        yield Outcome(
            "P.table1.auto", (all_pairs, reduced) == (printed.full, printed.reduced), said
        )
    nearest = {}
    for name in dict.fromkeys(name for name, _ in errors):
        printed_error = float(PRINTED[name].error.split()[0])
        width = min(WIDTHS, key=lambda width: abs(np.mean(errors[name, width]) - printed_error))
        nearest[name] = width, abs(np.mean(errors[name, width]) - printed_error)
    if nearest:
        words = [
            f"{name} {spread(errors[name, width], '.2f')} at {width:g} / d, printed "
            f"{PRINTED[name].error}"
            for name, (width, _) in nearest.items()
        ]
        near = all(off <= 0.05 for _, off in nearest.values())
        yield Outcome(
            "P.table3.error", near, f"of five widths the nearest errors are {'; '.join(words)}"
        )


def picture(found: Splits) -> Figure:
    """Draw errors and seconds of Table 3 next to the published ones."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    names = [name for name, kind in found if kind == "reduced"]
    for at, title, own, printed in (
        (
            axes[0],
            "test error, reduced graph",
            "error",
            [float(PRINTED[name].error.split()[0]) for name in names],
        ),
        (
            axes[1],
            "CPU seconds of a path",
            "seconds",
            [float(PRINTED[name].seconds) for name in names],
        ),
    ):
        values = [[getattr(one, own) for one in found[name, "reduced"]] for name in names]
        at.bar(
            names,
            [np.mean(each) for each in values],
            0.5,
            yerr=[np.std(each) for each in values],
            capsize=3,
        )
        at.plot(names, printed, "kx", label="printed")
        at.set_title(title)
    axes[1].set_yscale("log")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Make Tables 1 and 3, with the splits of Table 2."""
    sets = read(data)
    regularization_path(
        make_problem(Points(np.eye(4), np.arange(4) % 2.0), rbf(1.0), False), 0.1
    )  # compiles
    found = splits(sets, full)
    errors = varied(sets, SPLITS if full else FEW_SPLITS)
    widths = [
        f"  {name}, gamma = {width:g} / d: error {spread(values, '.2f')}"
        for (name, width), values in errors.items()
    ]
    lines = [
        *table_1(sets),
        "",
        *table_3(found),
        "",
        "Other widths, reduced graph",
        *widths,
        "",
        *narrow(sets),
    ]
    return Report(lines, list(outcomes(sets, errors)), picture(found))


if __name__ == "__main__":
    command("path_tables", main)
