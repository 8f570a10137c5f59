"""Document W: clicks as part of a ranking
=======================================

Users see a list of documents in some order, and click on documents that they want. A
click means that the document is better than the skipped documents above it, and says
nothing of the others: clicks give a part of all preferences. The experiment measures
the loss of accuracy.

Run it: ``python examples/documents/click_lists.py [--full] [--save FOLDER]``. With
``--full`` there are 30 repeats. Documents have 10 features and a linear utility. One
ranking SVM learns from the whole order of each list, another from the clicks on it;
both rank the documents of new lists. The encyclopedia page on Ranking SVM has no
experiment: sizes, the number of clicks and the errors of users are varied here.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure
from numpy.typing import NDArray

from equimargin.data import preferences
from equimargin.formulations import MarginProblem, ranking_from_pairs
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics import kendall_tau, rank_matrix
from equimargin.solvers import Solution, solve

SHOWN, FEATURES, TESTED = 10, 10, 60
"""Numbers of documents of a list, of features, and of test lists."""
ERRING = {"users never err": 0.0, "a click in five is anywhere": 0.2}
"""Probability of a click on a random document instead of a wanted one."""


class Size(NamedTuple):
    """Numbers of training lists, of wanted documents of a list, and of repeats."""

    lists: tuple[int, ...]
    wanted: tuple[int, ...]
    repeats: int


SMALL = Size((4, 16, 64), (1, 3), 3)
FULL = Size((2, 4, 8, 16, 32, 64, 128), (1, 3, 5), 30)


class Lists(NamedTuple):
    """Documents X (n, d), their lists qid (n,), and their utilities (n,)."""

    X: Array
    utility: Array
    qid: NDArray[np.intp]


def drawn(random: np.random.Generator, w: Array, lists: int) -> Lists:
    """Draw lists of documents, with utilities X w plus noise."""
    qid = np.repeat(np.arange(lists), SHOWN)
    X = random.normal(size=(len(qid), FEATURES))
    return Lists(X, X @ w + 0.3 * random.normal(size=len(qid)), qid)


def of_orders(lists: Lists) -> Solution:
    """Return the solution learned from whole orders, all pairs of each list."""
    pairs = np.argwhere(rank_matrix(lists.utility, lists.qid))
    return learned(ranking_from_pairs(lists.X, pairs, C=cost(lists)))


def of_clicks(
    lists: Lists, wanted: int, errs: float, random: np.random.Generator
) -> tuple[Solution, int]:
    """Return the solution learned from clicks, and the number of pairs.

    The lists are shown in random orders.
    """
    told = []
    for query in np.unique(lists.qid):
        shown = random.permutation(np.flatnonzero(lists.qid == query))
        best = shown[np.argsort(-lists.utility[shown])[:wanted]]
        clicked = np.where(random.random(wanted) < errs, random.permutation(shown)[:wanted], best)
        told.append(preferences(shown.tolist(), np.unique(clicked).tolist()))
    clicks = sum(told[1:], told[0])
    if not len(clicks.pairs):  # every click was on the first document
        clicks = preferences([0, 1], [1])
    return learned(ranking_from_pairs(lists.X, clicks.pairs, C=cost(lists))), len(clicks.pairs)


def cost(lists: Lists) -> float:
    """Return C, which depends on the number of lists only.

    The problems of orders and of clicks therefore differ in their pairs only.
    """
    return 10.0 / len(lists.qid)


def learned(problem: MarginProblem) -> Solution:
    """Solve the problem."""
    return solve(problem, tol=1e-4)


class Told(NamedTuple):
    """Result of one repeat.

    It has tau on new lists by orders and by clicks, the number of pairs from clicks,
    and the optimum with clicks over the optimum with orders.
    """

    orders: float
    clicks: float
    pairs: float
    relaxed: float


def repeated(lists: int, wanted: int, errs: float, seed: int) -> Told:
    """Run one repeat."""
    random = np.random.default_rng([seed, lists])
    w = random.normal(size=FEATURES)
    training, test = drawn(random, w, lists), drawn(random, w, TESTED)
    orders = of_orders(training)
    clicks, pairs = of_clicks(training, wanted, errs, random)
    taus = [
        kendall_tau(test.utility, found.decision_function(test.X), test.qid).mean
        for found in (orders, clicks)
    ]
    return Told(taus[0], taus[1], pairs, clicks.upper / orders.lower)


Table = dict[tuple[str, int, int], Array]
"""Entries of `Told`, (repeats, 4), by users, wanted documents and lists."""


def lines(found: Table) -> Iterator[str]:
    """Yield means of the repeats."""
    yield (
        f"{'users':28s}{'wanted':>7s}{'lists':>7s}{'tau by orders':>15s}{'tau by clicks':>15s}"
        f"{'pairs told':>12s}{'optimum, share':>16s}"
    )
    for (users, wanted, lists), rows in found.items():
        mean = rows.mean(axis=0)
        yield (
            f"{users:28s}{wanted:7d}{lists:7d}{mean[0]:15.3f}{mean[1]:15.3f}{mean[2]:12.0f}"
            f"{mean[3]:16.3f}"
        )


def outcomes(found: Table, size: Size) -> Iterator[Outcome]:
    """Yield outcomes of two claims: clicks give a part of the pairs, and a relaxation."""
    sure = {
        (wanted, lists): rows
        for (users, wanted, lists), rows in found.items()
        if users == "users never err"
    }
    most, wanted = size.lists[-1], size.wanted[-1]
    mean = sure[wanted, most].mean(axis=0)
    share = mean[2] / (most * SHOWN * (SHOWN - 1) / 2)
    part = (
        all(rows[:, 1].mean() <= rows[:, 0].mean() for rows in sure.values())
        and mean[1] > 0.5 * mean[0]
    )
    told = f"clicks on {wanted} of {SHOWN} documents in {most} lists tell {share:.0%} of the pairs"
    yield Outcome(
        "W.clicks",
        bool(part),
        f"{told} and reach a tau of {mean[1]:.3f}, orders one of {mean[0]:.3f}",
    )
    worst = max(rows[:, 3].max() for rows in sure.values())
    yield Outcome(
        "W.clicks.relax",
        bool(worst <= 1 + 1e-4),
        f"where users never err the optimum is at most {worst:.3f} of that of the orders",
    )


def picture(found: Table, size: Size) -> Figure:
    """Draw tau on new lists against the number of training lists."""
    figure, axes = plt.subplots(1, len(ERRING), figsize=(9, 3.6), sharey=True)
    for at, users in zip(axes, ERRING, strict=True):
        for wanted in size.wanted:
            rows = [found[users, wanted, lists].mean(axis=0) for lists in size.lists]
            at.semilogx(
                size.lists,
                [row[1] for row in rows],
                marker=".",
                label=f"clicks on {wanted} of {SHOWN}",
            )
        at.semilogx(size.lists, [row[0] for row in rows], "k--", label="whole orders")
        at.set(title=users, xlabel="lists to learn from")
        at.set_xticks(size.lists, [str(lists) for lists in size.lists])
        at.minorticks_off()
    axes[0].set_ylabel("Kendall's tau on new lists")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Run the experiment with clicks; `data` is not read: all lists are drawn."""
    size = FULL if full else SMALL
    found = {
        (users, wanted, lists): np.array(
            [repeated(lists, wanted, errs, seed) for seed in range(size.repeats)]
        )
        for (users, errs), wanted, lists in product(ERRING.items(), size.wanted, size.lists)
    }
    return Report(list(lines(found)), list(outcomes(found, size)), picture(found, size))


if __name__ == "__main__":
    command("click_lists", main)
