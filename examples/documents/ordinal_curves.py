"""Document O: learning curves of ordinal regression
=================================================

Document O is Herbrich, Graepel and Obermayer (1999). Ranks have an order and no
distances. A ranking learns a utility and divides it into intervals; a classification
ignores the order of the ranks, and a regression uses distances. The three methods are
compared by the share of inverted pairs of new points, for several numbers of training
points.

Run it: ``python examples/documents/ordinal_curves.py [--full] [--save FOLDER]``. With
``--full`` there are 30 repeats of seven sizes. The controlled experiment draws points
in the unit square. Their utility 10 (x_1 - 1/2)(x_2 - 1/2) plus noise is divided at -1,
-0.1, 0.25 and 1 into five ranks, and at 0 into two. The real experiment learns from
some documents of a query of OHSUMED and ranks the rest; its file is
``../shared/data/ohsumed-queries-1-6.txt``, and without it the bundled diabetes data are
divided into three ranks.

The document states no sizes, no generator and no kernel. The generator is that of the
authors' later chapter, and its noise is varied. For each method C is chosen on as many
validation points as there are training points.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure

from equimargin.boundaries import boundaries_between
from equimargin.data import load
from equimargin.estimators import MarginClassifier, MarginRanker, MarginRegressor
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.metrics import concordance

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
CUTS = {5: (-1.0, -0.1, 0.25, 1.0), 2: (0.0,)}
"""Thresholds of the utility, by the number of ranks."""
NOISE = {"deviation 0.125": 0.125, "variance 0.125": 0.125**0.5}
"""The two interpretations of N(0, 0.125), as standard deviations."""
FILE = "ohsumed-queries-1-6.txt"
"""File of the real experiment, in the folder of public data."""
DOCUMENTS = "documents of a query"
"""Name of the real experiment."""
METHODS = ("ranking", "classification", "regression")
TEST_POINTS = 500
"""Number of test points of the controlled experiment."""


class Points(NamedTuple):
    """X (m, d), ranks y (m,)."""

    X: Array
    y: Array

    def at(self, rows: Any) -> "Points":
        """Return some of the points."""
        return Points(self.X[rows], self.y[rows])


class Size(NamedTuple):
    """Sizes of training sets, and repeats."""

    sizes: tuple[int, ...]
    repeats: int


SMALL = Size((15, 40), 3)
FULL = Size((10, 15, 20, 30, 50, 80, 120), 30)


def controlled(random: np.random.Generator, m: int, ranks: int, noise: float) -> Points:
    """Draw m points of the unit square, and their ranks."""
    X = random.uniform(size=(m, 2))
    utility = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + noise * random.normal(size=m)
    return Points(X, np.digitize(utility, CUTS[ranks]).astype(float))


def inverted(y: Array, h: Array) -> float:
    """Return the share of pairs of different ranks that the predicted ranks invert.

    A pair of equal predicted ranks counts as one half.
    """
    counts = concordance(y, h)
    return float((counts.discordant + counts.tied / 2).sum() / counts.pairs.sum())


def ranks_by(
    method: str, C: float, kernel: dict[str, Any], learned: Points
) -> Callable[[Array], Array]:
    """Train a method, and return its predictor of ranks."""
    if method == "ranking":
        ranker = MarginRanker(C=C, **kernel).fit(*learned)
        cut = boundaries_between(learned.y, ranker.predict(learned.X))
        return lambda X: cut.rank(ranker.predict(X))
    if method == "classification":
        classifier = MarginClassifier(C=C, **kernel).fit(*learned)
        return lambda X: np.asarray(classifier.predict(X))
    regressor = MarginRegressor(C=C, epsilon=0.1, **kernel).fit(*learned)
    levels = np.unique(learned.y)
    return lambda X: levels[np.abs(regressor.predict(X)[:, None] - levels).argmin(axis=1)]


def error(
    method: str, kernel: dict[str, Any], learned: Points, validated: Points, tested: Points
) -> float:
    """Return the share of inverted test pairs, at the C that is best in validation."""
    best, fewest = None, np.inf
    for C in COSTS:
        predict = ranks_by(method, C, kernel, learned)
        share = inverted(validated.y, predict(validated.X))
        if share < fewest:
            best, fewest = predict, share
    assert best is not None
    return inverted(tested.y, best(tested.X))


def enough(points: Points) -> bool:
    """Return True if there are at least two ranks."""
    return len(np.unique(points.y)) > 1


def in_the_square(size: Size, ranks: int, noise: float) -> Array:
    """Return errors of the controlled experiment, (repeats, sizes, methods)."""
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    errors = np.empty((size.repeats, len(size.sizes), len(METHODS)))
    for repeat in range(size.repeats):
        random = np.random.default_rng(repeat)
        tested = controlled(random, TEST_POINTS, ranks, noise)
        for at, m in enumerate(size.sizes):
            learned, validated = (controlled(random, m, ranks, noise) for _ in range(2))
            while not (enough(learned) and enough(validated)):
                learned, validated = (controlled(random, m, ranks, noise) for _ in range(2))
            errors[repeat, at] = [
                error(method, kernel, learned, validated, tested) for method in METHODS
            ]
    return errors


def real_sets(data: Path) -> list[Points]:
    """Return queries of OHSUMED, or the diabetes data in three ranks."""
    file = data / FILE
    if file.is_file():
        table = load(file, task="ranking")
        X, queries = dense(table.X), np.asarray(table.qid)
        return [
            Points(X[queries == query], np.asarray(table.y, dtype=float)[queries == query])
            for query in np.unique(queries)
        ]
    print(f"there is no file {file}: the diabetes data stand in its place")
    from sklearn.datasets import load_diabetes

    bundle = load_diabetes()
    return [
        Points(
            10 * bundle.data,
            np.digitize(bundle.target, np.quantile(bundle.target, [0.5, 0.8])).astype(float),
        )
    ]


def in_reality(size: Size, sets: list[Points]) -> Array:
    """Return errors of the real experiment, (repeats, sizes, methods).

    Repeats use the sets in turn; test documents are those that neither train nor
    validate.
    """
    kernel = {"kernel": "rbf", "gamma": 0.1}
    sizes = [m for m in size.sizes if m <= 50]
    sets = [
        points for points in sets if len(points.y) >= 3 * max(sizes)
    ]  # a part to learn from, one to validate, and one to rank
    errors = np.empty((size.repeats, len(sizes), len(METHODS)))
    for repeat in range(size.repeats):
        points, random = sets[repeat % len(sets)], np.random.default_rng(repeat)
        for at, m in enumerate(sizes):
            order = random.permutation(len(points.y))
            while not all(
                enough(points.at(rows)) for rows in (order[:m], order[m : 2 * m], order[2 * m :])
            ):
                order = random.permutation(len(points.y))
            parts = [points.at(rows) for rows in (order[:m], order[m : 2 * m], order[2 * m :])]
            errors[repeat, at] = [error(method, kernel, *parts) for method in METHODS]
    return errors


def lines(found: dict[str, Array], size: Size) -> Iterator[str]:
    """Yield mean shares of inverted pairs, and the advantage of ranking.

    The advantage is that over the better of the other methods, with its standard error.
    """
    yield (
        f"{'':34s}{'points':>7s}"
        + "".join(f"{method:>16s}" for method in METHODS)
        + f"{'ranking ahead by':>22s}"
    )
    for name, errors in found.items():
        for at, mean in enumerate(errors.mean(axis=0)):
            by, deviation = mean_and_error(advantage(errors, at))
            cells = "".join(f"{value:16.4f}" for value in mean)
            yield f"{name:34s}{size.sizes[at]:7d}{cells}{by:+13.4f} ({deviation:.4f})"


def advantage(errors: Array, at: int) -> Array:
    """Return the advantage of ranking over the better other method, by repeat."""
    rival = 1 + int(errors[:, at, 1:].mean(axis=0).argmin())
    return np.asarray(errors[:, at, rival] - errors[:, at, 0])


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return the mean of the repeats, and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def better(id: str, found: dict[str, Array]) -> Outcome:
    """Return the outcome of the claim that ranking is better.

    It must be better at most sizes, and in the mean of all sizes by more than two
    standard errors.
    """
    sure, words = True, []
    for name, errors in found.items():
        ahead = np.stack([advantage(errors, at) for at in range(errors.shape[1])])
        (by, deviation), won = mean_and_error(ahead.mean(axis=0)), (ahead.mean(axis=1) > 0).mean()
        sure = sure and bool(won > 0.5 and by > 2 * deviation)
        words.append(
            f"{name}: ahead at {won:.0%} of the sizes, by {by:+.4f} ({deviation:.4f}) of "
            f"the pairs in the mean of all"
        )
    return Outcome(id, sure, "; ".join(words))


def outcomes(found: dict[str, Array], at_hand: bool) -> Iterator[Outcome]:
    """Yield outcomes of two claims: ranking is better, and the curves decrease.

    Ranking must be better for more than two ranks. `at_hand` is True if the file of the
    real experiment is present.
    """
    yield better(
        "O.abstract.better",
        {name: errors for name, errors in found.items() if "five ranks" in name},
    )
    retrieval = better("O.abstract.retrieval", {DOCUMENTS: found[DOCUMENTS]})
    yield retrieval if at_hand else retrieval._replace(reproduced=None)
    falls = {
        name: errors[:, 0, 0].mean() - errors[:, -1, 0].mean() for name, errors in found.items()
    }
    said = "; ".join(f"{name}: {fall:.3f}" for name, fall in falls.items())
    yield Outcome(
        "O.curves",
        min(falls.values()) > 0,
        f"from the smallest to the largest size the inverted share of ranking falls by {said}",
    )


def picture(found: dict[str, Array], size: Size) -> Figure:
    """Draw the learning curves, a panel for each experiment."""
    figure, axes = plt.subplots(1, len(found), figsize=(3.5 * len(found), 3.5), squeeze=False)
    for at, (name, errors) in zip(axes[0], found.items(), strict=True):
        sizes = size.sizes[: errors.shape[1]]
        for place, method in enumerate(METHODS):
            spread = errors[:, :, place].std(axis=0) / np.sqrt(len(errors))
            at.errorbar(
                sizes, errors[:, :, place].mean(axis=0), spread, marker=".", capsize=2, label=method
            )
        at.set(title=name, xlabel="points to learn from", ylabel="share of test pairs inverted")
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Run both experiments."""
    size = FULL if full else SMALL
    found = {f"five ranks, {name}": in_the_square(size, 5, noise) for name, noise in NOISE.items()}
    found["two ranks, deviation 0.125"] = in_the_square(size, 2, 0.125)
    found[DOCUMENTS] = in_reality(size, real_sets(data))
    return Report(
        list(lines(found, size)),
        list(outcomes(found, (data / FILE).is_file())),
        picture(found, size),
    )


if __name__ == "__main__":
    command("ordinal_curves", main)
