"""Document P, Algorithm 1 as printed: wrong solutions and early ends
===================================================================

The algorithm follows all solutions of ranking with the hinge from the first breakpoint
down to the smallest lambda. It is right where events come one by one and the pairs on
the margin are independent, as on a tree of points in general position. Elsewhere it
fails in three ways, each drawn here from the smallest example:

* two events at one lambda: the second is lost, and its multiplier stays where it is;
* a pair that touches the margin and returns to its former side: its multiplier leaves
  [0, 1];
* pairs that depend on each other make the matrix of the step singular.

"The related pair(s) change their set" leaves open whether one of several pairs changes
or all do; both are tried.

Run it: ``python examples/documents/path_algorithm.py [--full] [--save FOLDER]``. With
``--full`` there are 200 draws of each kind of ranking, without it 20.
"""

from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from equimargin.formulations import (
    MarginProblem,
    linear,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers import regularization_path
from ledger.path_as_printed import Ending, PrintedPath, path_as_printed

LAMBDA_MIN = 1e-3
READINGS: tuple[Literal["one", "all"], ...] = ("one", "all")
"""Number of pairs that change their set at an event of several pairs."""
OUTCOMES = ("right", "wrong, unnoticed", "stops")
"""Ends of a run: all solutions right, a wrong one, or a singular matrix before any."""


def above_the_origin(*x: list[float]) -> MarginProblem:
    """Return pairs that prefer each x to 0: P K P' is the Gram matrix of the x."""
    X = np.vstack([np.array(x), np.zeros(len(x[0]))])
    return ranking_from_pairs(X, [[i, len(x)] for i in range(len(x))], kernel=linear())


TIE = above_the_origin([np.sqrt(2), 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
"""P K P' = diag(2, 1, 1): the second and the third pair reach the margin at lambda = 1."""
TOUCH = above_the_origin([1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [-2.0, -2.0, np.sqrt(0.5)])
"""The first two pairs reach the margin at lambda = 1, and the second only touches it."""


ALL_PAIRS = "all pairs of\ntwo levels"
KINDS = {
    "a tree: reduced graph\nof two levels": [5, 5],
    "reduced graph of\nthree levels": [3, 3, 3],
    ALL_PAIRS: [4, 4],
}
"""Kinds of rankings, each with the number of points of every level."""


def sampled(kind: str, seed: int) -> MarginProblem:
    """Return a ranking of points in general position."""
    sizes = KINDS[kind]
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(seed).normal(size=(len(y), 3))
    if kind == ALL_PAIRS:
        return ranking(X, y, kernel=rbf(0.4))
    return ranking_from_pairs(X, reduced_preferences(y), kernel=rbf(0.4))


def outcome(printed: PrintedPath) -> str:
    """Return the outcome of a run."""
    if printed.first_wrong() is not None:
        return OUTCOMES[1]
    return OUTCOMES[2] if printed.ending is Ending.SINGULAR else OUTCOMES[0]


def multipliers(problem: MarginProblem, lambdas: Array) -> Array:
    """Return alpha of the right path in the units of (8), a row per lambda."""
    path = regularization_path(problem, LAMBDA_MIN)
    return np.array([np.asarray(path.at(lam).point.multipliers) * lam for lam in lambdas])


def draw_multipliers(axes: Axes, problem: MarginProblem, title: str) -> None:
    """Draw the multipliers by the algorithm, and the right ones, along lambda."""
    printed = path_as_printed(problem, LAMBDA_MIN, "one")
    lambdas = np.geomspace(LAMBDA_MIN * 1.01, printed.lambdas[0], 200)
    right = multipliers(problem, lambdas)
    for i, colour in enumerate(("C0", "C1", "C2")):
        axes.plot(lambdas, right[:, i], colour, lw=4, alpha=0.3)
        axes.plot(
            printed.lambdas, printed.alphas[:, i], colour, marker="o", ms=4, label=f"pair {i + 1}"
        )
    axes.axhspan(1, max(1.05, 1.05 * printed.alphas.max()), color="0.9")
    axes.set(xlabel="lambda", ylabel="alpha", title=title)
    axes.invert_xaxis()
    axes.legend(title="thin: as printed\nwide: right")


def draw_counts(axes: Axes, counts: dict[tuple[str, str], dict[str, int]]) -> None:
    """Draw the number of runs of each outcome, a bar per kind and reading."""
    names = [f"{kind} ({reading})" for kind, reading in counts]
    left = np.zeros(len(counts))
    for word, colour in zip(OUTCOMES, ("C2", "C3", "0.6"), strict=True):
        width = np.array([of[word] for of in counts.values()])
        axes.barh(names, width, left=left, color=colour, label=word)
        left += width
    axes.invert_yaxis()
    axes.set(xlabel="draws", title="at an event one pair changes its set (one), or all (all)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.3, -0.12), ncols=3, frameon=False)


def main(full: bool = False, data: Path = DATA) -> Report:
    """Run the algorithm on both examples and on draws of three kinds of rankings."""
    draws = 200 if full else 20
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for kind in KINDS:
        for reading in READINGS:
            ends = [
                outcome(path_as_printed(sampled(kind, seed), LAMBDA_MIN, reading))
                for seed in range(draws)
            ]
            counts[kind, reading] = {word: ends.count(word) for word in OUTCOMES}
    lines = [
        f"{kind.replace(chr(10), ' '):34s} {reading:4s}"
        + "".join(f" {number:4d} {word}" for word, number in of.items())
        for (kind, reading), of in counts.items()
    ]
    figure: Figure
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), width_ratios=(3, 3, 4))
    draw_multipliers(axes[0], TIE, "two events at lambda = 1: pair 3 is lost")
    draw_multipliers(axes[1], TOUCH, "pair 2 touches the margin: alpha leaves [0, 1]")
    draw_counts(axes[2], counts)
    figure.tight_layout()
    whole = sum(of[OUTCOMES[0]] for (kind, _), of in counts.items() if kind == ALL_PAIRS)
    because = (
        f"of {2 * draws} runs on all pairs of two levels {whole} give all solutions; the others "
        f"are wrong without notice or stop at a singular matrix"
    )
    return Report(lines, [Outcome("P.alg1", whole == 2 * draws, because)], figure)


if __name__ == "__main__":
    command("path_algorithm", main)
