"""Document T, Figures 7 to 10: a ranking vector machine and a ranking SVM
=======================================================================

Section 5.3.1 of Yu and Kim's tutorial draws points in [0, 1]^5, orders them by a random
function, learns that order with both machines, and compares accuracy, training time,
support vectors, and the effect of noise. The ranking vector machine (RVM) is a linear
program, the ranking SVM a quadratic one.

Run it: ``python examples/documents/tutorial_figures.py [--full] [--save FOLDER]``. With
``--full`` sizes, costs and the 30 repeats are as published. Each problem is solved and
timed twice: with solvers like those of the tutorial (``linear_program`` has every pair
as a row, as in CPLEX; ``coordinate_descent`` has a variable for every pair, as in
SVM-light), and with the default solvers of this package (``column_generation``,
``huber``). C has the highest accuracy on the test points, as published, which favours
both machines equally.

The tutorial does not state the distribution of w (uniform in [0, 1] here), gamma (1
here, the width of the learned function), the definition of a support vector (here
points with a coefficient, and pairs with a multiplier), and how neighbours are
switched. The last lines of the table vary the first two. The published
``exp(-|w - x|)^2`` orders points as ``exp(-|w - x|^2)`` does: both decrease with the
distance.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure

from equimargin.formulations import Kernel, Problem, linear, ranking, ranking_vector_machine, rbf
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics import pairwise_accuracy
from equimargin.solvers import Solution, solve

MACHINES: dict[str, Callable[..., Problem]] = {"RVM": ranking_vector_machine, "RankSVM": ranking}
AS_THEN = {"RVM": "linear_program", "RankSVM": "coordinate_descent"}
"""Solvers like those of the tutorial: all pairs as rows, or as variables."""
AS_NOW = {"RVM": "column_generation", "RankSVM": "huber"}
"""Default solvers of this package."""
KINDS = ("linear", "rbf")
"""Kernels, and kinds of the functions that order the points."""
TESTED, DIMENSION = 50, 5
"""Number of test points, and of coordinates; both as published."""
COEFFICIENT = 1e-6
"""Share of the largest coefficient below which a coefficient counts as 0."""


class Size(NamedTuple):
    """Sizes of training sets, costs C, repeats, switched neighbours, and time limit.

    `of` is the number of points of Figure 10.
    """

    points: tuple[int, ...]
    costs: tuple[float, ...]
    repeats: int
    switched: tuple[int, ...]
    of: int
    seconds: float


SMALL = Size((20, 60), (0.1, 10.0, 1000.0), 3, (0, 10), 40, 5.0)
FULL = Size(
    (40, 80, 120, 160, 200),
    tuple(10.0**k for k in range(-5, 6)),
    30,
    (0, 10, 20, 30, 40, 50),
    100,
    20.0,
)


class Trained(NamedTuple):
    """Results of a machine at its best C.

    They are test accuracy, points with a coefficient, pairs with a multiplier, and CPU
    seconds of both solvers.
    """

    accuracy: float
    points: float
    pairs: float
    now: float
    then: float


class Draw(NamedTuple):
    """Training and test points with their orders, and the kernel."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    kernel: Kernel


def draw(
    seed: int, m: int, kind: str, gamma: float = 1.0, law: str = "uniform", switched: int = 0
) -> Draw:
    """Draw points of section 5.3.1.

    `switched` points change places with the next point of the training order.
    """
    random = np.random.default_rng(seed)
    X, X_test = random.random((m, DIMENSION)), random.random((TESTED, DIMENSION))
    w = random.random(DIMENSION) if law == "uniform" else random.normal(size=DIMENSION)
    utility = [
        points @ w if kind == "linear" else -((points - w) ** 2).sum(axis=1)
        for points in (X, X_test)
    ]
    y, y_test = (values.argsort().argsort().astype(float) for values in utility)
    for place in random.permutation(m - 1)[:switched]:
        low, high = np.flatnonzero(y == place), np.flatnonzero(y == place + 1)
        y[low], y[high] = place + 1, place
    return Draw(X, y, X_test, y_test, linear() if kind == "linear" else rbf(gamma))


def solved(
    machine: str, drawn: Draw, C: float, solver: str, limit: float
) -> tuple[Solution, float]:
    """Return the solution and its CPU seconds, problem construction included."""
    begun = time.process_time()
    found = solve(
        MACHINES[machine](drawn.X, drawn.y, C=C, kernel=drawn.kernel),
        solver,
        tol=1e-3,
        time_limit=limit,
    )
    return found, time.process_time() - begun


def large(values: Array) -> float:
    """Return the number of values that are not 0 within rounding error."""
    return float((np.abs(values) > COEFFICIENT * np.abs(values).max(initial=0.0)).sum())


def trained(
    machine: str, drawn: Draw, costs: Sequence[float], limit: float, timed: bool = True
) -> Trained:
    """Return a machine at the C of the highest test accuracy, the smallest such C.

    If `timed`, the other solver is run at this C, too.
    """
    best: tuple[float, float, Solution, float] | None = None
    for C in costs:
        found, seconds = solved(machine, drawn, C, AS_NOW[machine], limit)
        accuracy = pairwise_accuracy(drawn.y_test, found.decision_function(drawn.X_test)).mean
        if best is None or accuracy > best[0]:
            best = accuracy, C, found, seconds
    assert best is not None
    accuracy, C, found, seconds = best
    assert found.beta is not None
    then = solved(machine, drawn, C, AS_THEN[machine], limit)[1] if timed else np.nan
    return Trained(accuracy, large(found.beta), large(np.asarray(found.dual)), seconds, then)


Table = dict[tuple[str, int, str], Array]
"""Entries of `Trained`, (repeats, 5), by kernel, number of points and machine."""


def repeated(
    kind: str, m: int, size: Size, switched: int = 0, timed: bool = True
) -> Iterator[tuple[str, Array]]:
    """Yield results of both machines on equal draws, in turn.

    Other load of the computer then slows down both.
    """
    draws = [draw(seed, m, kind, switched=switched) for seed in range(size.repeats)]
    pairs = [
        [trained(machine, drawn, size.costs, size.seconds, timed) for machine in MACHINES]
        for drawn in draws
    ]
    for machine, column in zip(MACHINES, zip(*pairs, strict=True), strict=True):
        yield machine, np.array(column)


def compared(size: Size) -> Table:
    """Return Figures 7 to 9."""
    return {
        (kind, m, machine): rows
        for kind, m in product(KINDS, size.points)
        for machine, rows in repeated(kind, m, size)
    }


def disturbed(size: Size) -> Table:
    """Return Figure 10, with the number of switched neighbours in the keys."""
    return {
        (kind, k, machine): rows
        for kind, k in product(KINDS, size.switched)
        for machine, rows in repeated(kind, size.of, size, k, timed=False)
    }


def varied(size: Size) -> Iterator[str]:
    """Yield Figures 7 and 9 at one size with other distributions of w and other widths."""
    m = size.points[len(size.points) // 2]
    for law, gamma in product(("uniform", "normal"), (0.25, 1.0, 4.0)):
        cells = []
        for machine in MACHINES:
            draws = (draw(seed, m, "rbf", gamma, law) for seed in range(max(size.repeats // 3, 1)))
            mean = np.mean(
                [trained(machine, drawn, size.costs, size.seconds, timed=False) for drawn in draws],
                axis=0,
            )
            cells.append(f"{machine} {mean[0]:.3f} with {mean[1]:.0f} points")
        yield f"  w {law}, gamma {gamma:g}: {'; '.join(cells)}"


def lines(found: Table, noisy: Table) -> Iterator[str]:
    """Yield means of the repeats, with standard errors where outcomes use them."""
    head = (
        f"{'kernel':8s}{'m':>5s} "
        f"{'machine':8s}{'accuracy':>16s}{'points':>8s}{'pairs':>8s}"
        f"{'as now, ms':>14s}{'as then, ms':>14s}"
    )
    yield f"{head}   (means of {len(next(iter(found.values())))}, standard errors in brackets)"
    for (kind, m, machine), rows in found.items():
        mean, error = rows.mean(axis=0), rows.std(axis=0) / np.sqrt(len(rows))
        cells = f"{mean[0]:9.4f} ({error[0]:.4f}){mean[1]:8.1f}{mean[2]:8.0f}"
        times = "".join(
            f"{1000 * mean[at]:8.1f} ({1000 * error[at]:.1f})".rjust(14) for at in (3, 4)
        )
        yield f"{kind:8s}{m:5d} {machine:8s}{cells}{times}"
    yield "accuracy lost where neighbours are switched"
    for (kind, k, machine), rows in noisy.items():
        yield (
            f"{kind:8s}{k:5d} {machine:8s}{lost(noisy, kind, k, machine).mean():9.4f}   "
            f"(accuracy {rows[:, 0].mean():.4f})"
        )


def lost(noisy: Table, kind: str, k: int, machine: str) -> Array:
    """Return the loss of accuracy by k switched neighbours, (repeats,)."""
    return np.asarray(noisy[kind, 0, machine][:, 0] - noisy[kind, k, machine][:, 0])


def comparable(one: Array, other: Array) -> bool | None:
    """Return True if neither machine loses more than twice as much as the other.

    None means that losses are too small: a mean counts as positive if it exceeds two
    standard errors.
    """

    def positive(values: Array) -> bool:
        return bool(values.mean() > 2 * values.std() / np.sqrt(len(values)))

    if not positive(one) and not positive(other):
        return None
    return not positive(one - 2 * other) and not positive(other - 2 * one)


def outcomes(found: Table, noisy: Table, size: Size) -> Iterator[Outcome]:
    """Yield outcomes of Figures 7 to 10, all at the largest training set except Figure 7."""
    small, most, count = size.points[0], size.points[-1], size.repeats

    def ahead(kind: str, m: int) -> tuple[float, float]:
        difference = found[kind, m, "RankSVM"][:, 0] - found[kind, m, "RVM"][:, 0]
        return float(difference.mean()), float(difference.std() / np.sqrt(count))

    gains = {(kind, m): ahead(kind, m) for kind in KINDS for m in (small, most)}
    words = "; ".join(
        f"{kind}, m = {m}: {mean:+.4f} ({error:.4f})" for (kind, m), (mean, error) in gains.items()
    )
    # A difference counts if it exceeds two standard errors.
    first = all(gains[kind, small][0] > 2 * gains[kind, small][1] for kind in KINDS)
    later = all(gains[kind, most][0] < min(0.02, gains[kind, small][0]) for kind in KINDS)
    yield Outcome("T.figure7", first and later, f"accuracy of RankSVM less that of RVM is {words}")

    def times(kind: str) -> tuple[Array, Array]:
        rvm, svm = (found[kind, most, machine][:, 3:5] for machine in MACHINES)
        return np.asarray(1000 * rvm.mean(axis=0)), np.asarray(1000 * svm.mean(axis=0))

    for id, kind in (("T.figure8", "rbf"), ("T.figure8.linear", "linear")):
        rvm, svm = times(kind)
        first_is_faster = rvm < svm if kind == "rbf" else svm < rvm
        then, now = (
            f"RVM {rvm[1]:.1f} ms, RankSVM {svm[1]:.1f} ms",
            f"RVM {rvm[0]:.1f} ms, RankSVM {svm[0]:.1f} ms",
        )
        said = (
            f"at m = {most}, {count} repeats, with all pairs listed as then: {then}; as now: {now}"
        )
        yield Outcome(id, bool(first_is_faster.all()), said)
    vectors = {
        kind: [found[kind, most, machine][:, 1:3].mean(axis=0) for machine in MACHINES]
        for kind in KINDS
    }
    fewer = all(rvm[0] < 0.5 * min(svm) for rvm, svm in vectors.values())
    said = "; ".join(
        f"{kind}: RVM {rvm[0]:.1f} points, RankSVM {svm[0]:.1f} points of {svm[1]:.0f} pairs"
        for kind, (rvm, svm) in vectors.items()
    )
    yield Outcome("T.figure9", fewer, f"at m = {most}, {count} repeats, {said}")
    k = size.switched[-1]
    losses = {kind: [lost(noisy, kind, k, machine) for machine in MACHINES] for kind in KINDS}
    answers = [comparable(rvm, svm) for rvm, svm in losses.values()]
    alike = None if None in answers else all(answers)
    said = "; ".join(
        f"{kind}: RVM {rvm.mean():+.4f}, RankSVM {svm.mean():+.4f}"
        for kind, (rvm, svm) in losses.items()
    )
    yield Outcome(
        "T.figure10", alike, f"{k} switched neighbours of {size.of} cost an accuracy of {said}"
    )


def picture(found: Table, noisy: Table, size: Size) -> Figure:
    """Draw the four figures, the linear kernel dashed."""
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.6))
    titles = (
        "Fig. 7: accuracy",
        "Fig. 8: training time, s",
        "Fig. 9: points with a coefficient",
        "Fig. 10: accuracy with noise",
    )
    for kind, machine in product(KINDS, MACHINES):
        style = {
            "color": "tab:blue" if machine == "RVM" else "tab:orange",
            "linestyle": "--" if kind == "linear" else "-",
            "marker": ".",
        }
        means = np.array([found[kind, m, machine].mean(axis=0) for m in size.points])
        for at, column in ((0, 0), (1, 4), (2, 1)):
            axes[at].plot(size.points, means[:, column], label=f"{machine}, {kind}", **style)
        axes[1].plot(size.points, means[:, 3], **style | {"marker": "x", "linewidth": 0.6})
        axes[3].plot(
            size.switched, [noisy[kind, k, machine][:, 0].mean() for k in size.switched], **style
        )
    for at, title in zip(axes, titles, strict=True):
        at.set(title=title, xlabel="training points")
    axes[1].set_yscale("log")
    axes[1].set_title("Fig. 8: training time, s (x: as now)")
    axes[3].set_xlabel(f"neighbours switched, of {size.of} points")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=4, handlelength=4)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Make all four figures; `data` is not read, because all points are drawn."""
    size = FULL if full else SMALL
    for machine, kind in product(MACHINES, KINDS):
        # This run compiles all functions that the timed runs use.
        trained(machine, draw(0, size.points[-1], kind), size.costs, size.seconds)
    found, noisy = compared(size), disturbed(size)
    return Report(
        [*lines(found, noisy), *varied(size)],
        list(outcomes(found, noisy, size)),
        picture(found, noisy, size),
    )


if __name__ == "__main__":
    command("tutorial_figures", main)
