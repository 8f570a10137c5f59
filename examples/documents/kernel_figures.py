"""Document K, Figures 1 to 3: test performance over training time
==================================================================

The figures show when the test performance of a method reaches that of the optimal
model. At every computation of a method's duality gap its current model ranks the test
queries. Times are CPU times, without those of scoring models.

Run it: ``python examples/documents/kernel_figures.py [--full] [--save FOLDER]``. Kuo,
Lee and Lin (2014) have three sets of LETOR 4.0. MQ2008 is read from
``../shared/data/mq2008``. Random queries with as many levels replace the other two
sets, and MQ2008 if it is missing. Without ``--full`` a set has a few queries, and the
grid four points; with it MQ2008 is the whole first fold, and the grid that of section
4.3.

The document prints the kernel without a square, ``exp(-gamma |x - z|)``, and calls it
RBF. The last lines of the table have both kernels. All methods are implementations of
this package: ``tron`` is the method of the document, ``cutting_plane`` the 1-slack
method of SVMrank, ``coordinate_descent`` solves the dual of SVMlight in its p
variables, and ``linear_program`` the whole program of RV-SVM, which has no model before
its end. ``newton``, ``huber`` and ``column_generation`` are the default solvers of this
package for the three problems.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from experiment import DATA, Outcome, Report, command
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from equimargin.data import load
from equimargin.formulations import Problem, precomputed, ranking, ranking_vector_machine, rbf
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.metrics import mean_ndcg, pairwise_accuracy
from equimargin.solvers import SOLVERS, Check, Solution, Status, Trace, solve

MAKERS: dict[str, Callable[..., Problem]] = {
    "squared hinge": partial(ranking, loss="squared_hinge"),
    "hinge": ranking,
    "1-norm": ranking_vector_machine,
}
"""Constructors of the three problems that the methods solve."""
QUICKEST = {"squared hinge": "newton", "hinge": "huber", "1-norm": "column_generation"}
"""Solvers with which C and gamma are chosen, for all methods of a problem."""
METHODS = {
    "tron": "squared hinge",
    "cutting_plane": "hinge",
    "coordinate_descent": "hinge",
    "linear_program": "1-norm",
    "newton": "squared hinge",
    "huber": "hinge",
    "column_generation": "1-norm",
}
"""Problem of each method: the four of the document, then the defaults of this package."""
PUBLISHED = {
    "tron": "TRON",
    "cutting_plane": "SVMrank",
    "coordinate_descent": "SVMlight",
    "linear_program": "RV-SVM",
}
"""Names of the compared methods in the document."""
CRITERIA: dict[str, Callable[..., Any]] = {
    "pairwise accuracy": partial(pairwise_accuracy, ties="wrong"),
    "mean NDCG": mean_ndcg,
}
SETTLED = 0.002
"""Maximum distance from the optimal model's score of a method that has arrived."""
TOL = 1e-4
"""Relative gap at which a run ends.

The gap of models that choose C and gamma is 100 TOL, that of the optimal model TOL /
10.
"""


class Queries(NamedTuple):
    """Documents X (m, d), relevances y (m,), queries qid (m,)."""

    X: Array
    y: Array
    qid: NDArray[Any]

    def first(self, count: int | None) -> "Queries":
        """Return the documents of the first queries."""
        names = np.unique(self.qid)[:count]
        return Queries(*(part[np.isin(self.qid, names)] for part in self))


class Fold(NamedTuple):
    """Training, validation and test queries of a set of LETOR, or of random queries."""

    name: str
    training: Queries
    validation: Queries
    test: Queries


class Size(NamedTuple):
    """Numbers of queries of MQ2008 (None for all) and of a random set, grid of C and gamma.

    `seconds` is the time limit of a run.
    """

    queries: int | None
    drawn: int
    C: tuple[float, ...]
    gamma: tuple[float, ...]
    seconds: float


SMALL = Size(30, 15, (2.0**-3, 2.0), (2.0**-4, 2.0**-2), 2.0)
FULL = Size(
    None, 40, tuple(2.0**k for k in range(-5, 6)), tuple(2.0**k for k in range(-6, 0)), 200.0
)


class Run(NamedTuple):
    """Run of a method, with the test scores of its models.

    Parameters
    ----------
    C, gamma : float
        Values chosen on the validation queries.
    checks : list[Check]
        Computations of the gap, with test scores.
    gap : float
        Last relative gap.
    optimum : float
        Test score of the optimal model.
    """

    method: str
    criterion: str
    C: float
    gamma: float
    checks: list[Check]
    gap: float
    optimum: float

    @property
    def arrived(self) -> float:
        """CPU seconds after which the score stays within SETTLED of the optimal model's.

        They are infinite if it does not.
        """
        far = [
            at for at, check in enumerate(self.checks) if abs(check.score - self.optimum) > SETTLED
        ]
        first = far[-1] + 1 if far else 0
        return self.checks[first].seconds if first < len(self.checks) else np.inf


def drawn(seed: int, queries: int, levels: int) -> Queries:
    """Draw queries of 20 documents with 46 features in [0, 1], with noisy relevance.

    Relevance is a nonlinear function of the features. With few levels, half of the
    documents have the lowest.
    """
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), 20)
    X = random.random((len(qid), 46)) ** 2
    utility = X[:, :5].sum(axis=1) + np.sin(6 * X[:, 5]) + 0.5 * random.normal(size=len(qid))
    cuts = np.quantile(
        utility,
        np.linspace(0.5, 1, levels)[:-1] if levels < 10 else np.linspace(0, 1, levels)[1:-1],
    )
    return Queries(X, np.digitize(utility, cuts).astype(float), qid)


def folds(size: Size, data: Path) -> Iterator[Fold]:
    """Yield MQ2008, and random queries in place of the other sets."""
    if (data / "mq2008").is_dir():
        parts = [load(data / "mq2008" / f"S{part}.txt", task="ranking") for part in range(1, 6)]
        read = [Queries(dense(part.X), part.y, np.asarray(part.qid)) for part in parts]
        training = Queries(*(np.concatenate(pieces) for pieces in zip(*read[:3], strict=True)))
        yield Fold("MQ2008", *(part.first(size.queries) for part in (training, read[3], read[4])))
    else:
        print(f"there is no folder {data / 'mq2008'}: drawn queries stand in the place of MQ2008")
        yield Fold("drawn like MQ2008", *(drawn(seed, size.drawn, 3) for seed in range(3)))
    yield Fold("drawn like MQ2007", *(drawn(10 + seed, size.drawn, 3) for seed in range(3)))
    yield Fold("drawn like MQ2007-list", *(drawn(20 + seed, size.drawn, 1000) for seed in range(3)))


def coefficients(problem: Problem, point: CanonicalPoint) -> Array:
    """Return beta of a point, (m,)."""
    beta = Solution(problem, "", point, Status.FINISHED, "", None, 0.0).beta
    assert beta is not None
    return beta


def chosen(kind: str, fold: Fold, size: Size) -> dict[str, tuple[float, float]]:
    """Return the C and gamma with the best validation score, by criterion."""
    scores: dict[tuple[float, float], dict[str, float]] = {}
    for gamma in size.gamma:
        kernel, before = rbf(gamma), None
        block = kernel.block(fold.validation.X, fold.training.X)
        for C in size.C:
            problem = MAKERS[kind](*fold.training, C=C, kernel=kernel)
            before = solve(
                problem, QUICKEST[kind], tol=100 * TOL, time_limit=size.seconds, warm_start=before
            )
            f = block @ coefficients(problem, before.point)
            scores[C, gamma] = {
                name: score(fold.validation.y, f, fold.validation.qid).mean
                for name, score in CRITERIA.items()
            }
    return {name: max(scores, key=lambda at: scores[at][name]) for name in CRITERIA}


def traced(
    kind: str, criterion: str, fold: Fold, C: float, gamma: float, seconds: float
) -> Iterator[Run]:
    """Yield the test scores of the models along the runs of all methods for a problem."""
    kernel = rbf(gamma)
    block = kernel.block(fold.test.X, fold.training.X)
    problem = MAKERS[kind](*fold.training, C=C, kernel=kernel)

    def score(point: CanonicalPoint) -> float:
        f = block @ coefficients(problem, point)
        return float(CRITERIA[criterion](fold.test.y, f, fold.test.qid).mean)

    optimum = score(solve(problem, QUICKEST[kind], tol=TOL / 10, time_limit=seconds).point)
    for method in (name for name, own in METHODS.items() if own == kind):
        problem = MAKERS[kind](
            *fold.training, C=C, kernel=kernel
        )  # a new problem, so that no run uses what another has cached
        refusal = SOLVERS[method].refusal(problem)
        if refusal is not None:
            print(f"{method} does not take {fold.name}: {refusal}")
            continue
        trace = Trace(score)
        found = solve(problem, method, tol=TOL, time_limit=seconds, callback=trace)
        yield Run(method, criterion, C, gamma, trace.checks, found.relative_gap, optimum)


def runs(fold: Fold, size: Size) -> list[Run]:
    """Return the runs of all methods by all criteria on a fold.

    As in the document, NDCG is excluded for MQ2007-list: 2^y is too large for its
    levels.
    """
    best = {kind: chosen(kind, fold, size) for kind in MAKERS}
    criteria = [name for name in CRITERIA if name != "mean NDCG" or fold.training.y.max() < 500]
    return [
        run
        for kind, name in product(MAKERS, criteria)
        for run in traced(kind, name, fold, *best[kind][name], size.seconds)
    ]


def without_square(fold: Fold, C: float, gamma: float) -> dict[str, float]:
    """Return test scores of the squared hinge with exp(-gamma |x - z|), as published.

    Also return those with the RBF kernel exp(-gamma |x - z|^2).
    """
    found = {}
    for name, power in (("exp(-gamma |x - z|)", 0.5), ("exp(-gamma |x - z|^2)", 1.0)):

        def block(A: Array, B: Array, power: float = power) -> Array:
            distances = np.maximum(
                (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T, 0.0
            )
            return np.asarray(np.exp(-gamma * distances**power))

        K = block(fold.training.X, fold.training.X)
        problem = ranking((K + K.T) / 2, *fold.training[1:], C, precomputed(), "squared_hinge")
        f = block(fold.test.X, fold.training.X) @ coefficients(
            problem, solve(problem, "newton", tol=TOL).point
        )
        found[name] = pairwise_accuracy(fold.test.y, f, fold.test.qid).mean
    return found


def table(fold: Fold, found: list[Run]) -> list[str]:
    """Return a line for each run."""
    sizes = f"{len(fold.training.y):,} documents of {len(np.unique(fold.training.qid))} queries"
    lines = [f"{fold.name}: {sizes} in training, {len(fold.test.y):,} in test"]
    head = (
        f"  "
        f"{'criterion':18s}{'method':20s}{'log2 C':>7s}{'log2 gamma':>11s}"
        f"{'arrived, s':>11s}{'ended, s':>9s}{'gap':>9s}{'score':>8s}"
    )
    lines.append(head)
    for run in sorted(found, key=lambda run: (run.criterion, run.arrived)):
        line = (
            f"  "
            f"{run.criterion:18s}{run.method:20s}{np.log2(run.C):7.0f}{np.log2(run.gamma):11.0f}"
            f"{run.arrived:11.3f}"
        )
        lines.append(
            f"{line}{run.checks[-1].seconds:9.2f}{run.gap:9.0e}{run.checks[-1].score:8.4f}"
        )
    return lines


def arrivals(found: list[Run]) -> dict[str, dict[str, float]]:
    """Return the time at which each method arrives, by criterion.

    It is infinite for a method that does not support the set.
    """
    criteria = dict.fromkeys(run.criterion for run in found)
    when = {(run.criterion, run.method): run.arrived for run in found}
    return {
        criterion: {method: when.get((criterion, method), np.inf) for method in METHODS}
        for criterion in criteria
    }


def outcome(id: str, fold: Fold, found: list[Run]) -> Outcome:
    """Return the outcome of the claim that TRON is the fastest of four methods.

    It must arrive first by both criteria.
    """
    words, first = [], True
    for criterion, when in arrivals(found).items():
        first &= when["tron"] <= min(when[method] for method in PUBLISHED)
        seconds = (
            f"{method} {when[method]:.2g} s" if np.isfinite(when[method]) else f"{method} never"
            for method in METHODS
        )
        words.append(f"{criterion} {', '.join(seconds)}")
    because = (
        f"on {fold.name} test scores stay within {SETTLED} of the optimal model's after: "
        f"{'; '.join(words)}"
    )
    return Outcome(id, first if fold.name == "MQ2008" else None, because)


def second(fold: Fold, found: list[Run]) -> Outcome:
    """Return the outcome of the claim that cutting planes are second by both criteria."""
    orders = {
        criterion: sorted(PUBLISHED, key=lambda method: when[method])
        for criterion, when in arrivals(found).items()
    }
    reproduced = (
        all(order[1] == "cutting_plane" for order in orders.values())
        if fold.name == "MQ2008"
        else None
    )
    words = (f"{criterion} {', '.join(order)}" for criterion, order in orders.items())
    return Outcome("K.4.4.fastest", reproduced, f"on {fold.name} the order is: {'; '.join(words)}")


def picture(found: dict[str, list[Run]]) -> Figure:
    """Draw score against training time, a column for each set, a row for each criterion.

    The initial model is excluded. Lines are solid for the methods of the document, and
    dashed for the default solvers of this package.
    """
    panels = [
        (name, criterion)
        for name, done in found.items()
        for criterion in dict.fromkeys(run.criterion for run in done)
    ]
    rows, columns = len(CRITERIA), len(found)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows + 1), squeeze=False)
    for at in axes.flat:
        at.set_axis_off()
    for name, criterion in panels:
        at = axes[list(CRITERIA).index(criterion), list(found).index(name)]
        at.set_axis_on()
        for run in found[name]:
            if run.criterion == criterion:
                style = "-" if run.method in PUBLISHED else "--"
                models = run.checks[1:] or run.checks
                seconds = [check.seconds for check in models]
                colour = f"C{list(METHODS).index(run.method)}"
                at.semilogx(
                    seconds,
                    [check.score for check in models],
                    style,
                    color=colour,
                    marker=".",
                    linewidth=1,
                    label=run.method,
                )
        at.set(xlabel="training time, CPU seconds", ylabel=f"{criterion}, test", title=name)
        low, high = np.log10(at.get_xlim())
        at.set_xlim(
            10.0 ** np.floor(low), 10.0 ** np.ceil(high)
        )  # whole decades alone are labelled, and so there are two at least
        at.xaxis.set_minor_formatter(NullFormatter())
    lines = {
        line.get_label(): line for at in axes.flat for line in at.get_lines()
    }  # no set has them all: two methods are for small ones
    shown = [method for method in METHODS if method in lines]
    labels = [
        f"{method} ({'in K ' + PUBLISHED[method] if method in PUBLISHED else METHODS[method]})"
        for method in shown
    ]
    figure.legend([lines[method] for method in shown], labels, loc="lower center", ncols=4)
    figure.tight_layout(rect=(0, 0.11, 1, 1))
    return figure


def main(full: bool = False, data: Path = DATA) -> Report:
    """Make all three figures."""
    size, found, lines = FULL if full else SMALL, {}, []
    folded = list(folds(size, data))
    warm = Fold("", *(drawn(seed, 6, 3) for seed in range(3)))
    for kind in MAKERS:
        list(traced(kind, "mean NDCG", warm, 1.0, 0.25, 10.0))  # compiles
    for fold in folded:
        found[fold.name] = runs(fold, size)
        lines += table(fold, found[fold.name])
    first = found[folded[0].name]
    kernels = without_square(folded[0], first[0].C, first[0].gamma)
    lines += [
        f"  pairwise accuracy of the squared hinge with {kernel}: {score:.4f}"
        for kernel, score in kernels.items()
    ]
    outcomes = [
        outcome(id, fold, found[fold.name])
        for id, fold in zip(("K.figure2", "K.figure1", "K.figure3"), folded, strict=True)
    ]
    return Report(lines, [*outcomes, second(folded[0], first)], picture(found))


if __name__ == "__main__":
    command("kernel_figures", main)
