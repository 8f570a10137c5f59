"""Machines of small tables against the classes of scikit-learn, in turn.

CPU time with one BLAS thread in one warm process, construction and checks included.

    python benchmarks/run.py kinds.small_tables [--quick] [--rounds 15]

The peer's tolerance is divided by 10 until its objective is within 1e-6 of the optimum,
relative. `solve` is then asked for the distance that this point has, and the class of
the peer's name in `equimargin.svm` for the square root of it as `tol`; that class stops
at a gap of 1e-8 at most. Names with an apostrophe are synthetic tables of the shape of
public ones.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sklearn.svm
from clock import in_turn
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification, make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from table import DATA, QUICK, Benchmark, Line, Table, chosen

import equimargin.svm
from equimargin.formulations import MarginProblem, classification, rbf, regression
from equimargin.formulations.problem.choices import LOSSES
from equimargin.solvers import solve

Array = NDArray[np.float64]
GOAL = 1e-6
"""Relative distance above the optimum that the peer has to reach."""
LEAST, REFERENCE_TOL = 1e-12, 1e-12
"""Smallest relative gap that is requested, and that of the optimum."""
EPSILON = 0.1
"""Half width of the tube of regressions."""
MOST_ITERATIONS = 1_000_000
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}


def of_file() -> tuple[Array, Array]:
    """Return pima, 768 x 8."""
    rows = np.loadtxt(DATA / "pima.csv", delimiter=",", skiprows=1)
    return rows[:, :-1], rows[:, -1]


def synthetic(m: int, d: int, share: float, separation: float, flipped: float) -> tuple[Any, Any]:
    """Return clusters, of which a share is in the first class."""
    informative = max(2, d // 3)
    X, y = make_classification(
        m,
        d,
        n_informative=informative,
        n_redundant=min(d // 4, d - informative),
        weights=[share],
        class_sep=separation,
        flip_y=flipped,
        random_state=0,
    )
    return X, y


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "pima 768 x 8": of_file,
    "cancer 569 x 30": partial(load_breast_cancer, return_X_y=True),
    "bcw' 683 x 9": partial(synthetic, 683, 9, 0.65, 1.5, 0.02),
    "ionosphere' 351 x 34": partial(synthetic, 351, 34, 0.36, 1.0, 0.05),
    "sonar' 208 x 60": partial(synthetic, 208, 60, 0.53, 0.7, 0.05),
    "banknote' 1372 x 4": partial(synthetic, 1372, 4, 0.55, 2.0, 0.005),
    "oil' 937 x 49": partial(synthetic, 937, 49, 1 - 41 / 937, 0.8, 0.0),
    "diabetes 442 x 10": partial(load_diabetes, return_X_y=True),
    "friedman 700 x 8": partial(make_friedman1, 700, 8, noise=1.0, random_state=0),
}


@dataclass(frozen=True)
class Row:
    """Line of the table: a kind of machine on a data set.

    `kind` is "hinge", "squared_hinge", "tube", "rbf" or "grid".
    """

    kind: str
    table: str
    C: float = 1.0
    quick: bool = False


OF_CLASSES = [name for name in TABLES if not name.startswith(("diabetes", "friedman"))]
ROWS = [
    *(Row(kind, name) for kind in ("hinge", "squared_hinge") for name in OF_CLASSES),
    *(Row("tube", name, C) for name in list(TABLES)[-2:] for C in (0.1, 1.0)),
    *(Row("rbf", name, C) for name in OF_CLASSES if "sonar" not in name for C in (1.0, 10.0)),
    *(Row("grid", name) for name in ("pima 768 x 8", "ionosphere' 351 x 34")),
]
ROWS[0] = replace(ROWS[0], quick=True)


def data(row: Row) -> tuple[Array, Array]:
    """Return standardised features, and signs or standardised targets."""
    X, y = TABLES[row.table]()
    X, y = StandardScaler().fit_transform(X), np.asarray(y, float)
    return X, (y - y.mean()) / y.std() if row.kind == "tube" else np.where(y > 0, 1.0, -1.0)


def problem_of(row: Row, X: Array, y: Array) -> MarginProblem:
    """Return the problem of a row, whose bias is penalised unless the kernel is RBF."""
    if row.kind == "rbf":
        return classification(X, y, row.C, rbf(1 / (X.shape[1] * X.var())))
    if row.kind == "tube":
        ones = np.ones((len(X), 1))
        return replace(regression(np.hstack([X, ones]), y, row.C, EPSILON), bias=False)
    loss = LOSSES[LOSSES.index(row.kind)]
    return classification(X, y, row.C, None, loss, bias="penalized")


def machine(module: Any, row: Row, tol: float) -> Any:
    """Return the machine of a row in `sklearn.svm` or `equimargin.svm`."""
    if row.kind == "grid":
        return GridSearchCV(module.SVC(), GRID, cv=5)
    given: dict[str, Any] = {"C": row.C, "tol": tol}
    if row.kind == "rbf":
        return module.SVC(**given)
    given |= {"max_iter": MOST_ITERATIONS, "random_state": 0}
    if row.kind == "tube":
        return module.LinearSVR(epsilon=EPSILON, **given)
    return module.LinearSVC(loss=row.kind, dual="auto", **given)


def objective(problem: MarginProblem, model: Any) -> float:
    """Return the primal objective of a fitted machine."""
    if hasattr(model, "dual_coef_"):
        beta = np.zeros(problem.m)
        beta[model.support_] = model.dual_coef_[0]
        f = problem.gram.dense @ beta
        return problem.primal(f, float(beta @ f), problem.bias_at(f))
    w = np.append(np.ravel(model.coef_), model.intercept_)
    # The last column of a tube is 1; a penalised bias has none.
    f = problem.X @ w if problem.X.shape[1] == len(w) else problem.X @ w[:-1] + w[-1]
    return problem.primal(f, float(w @ w), 0.0)


def match(row: Row, problem: MarginProblem, X: Array, y: Array) -> tuple[float, float]:
    """Return the largest tolerance of the peer that reaches the goal, and its distance."""
    optimum = solve(problem, tol=REFERENCE_TOL).upper
    for power in range(1, 13):
        tol = 10.0**-power
        distance = objective(problem, machine(sklearn.svm, row, tol).fit(X, y)) / optimum - 1
        if distance <= GOAL:
            break
    return tol, max(distance, LEAST)


def measured(row: Row, rounds: int) -> Line:
    """Measure the peer, `solve` and the class of the peer's name in turn."""
    X, y = data(row)
    line: Line = {"kind": row.kind, "table": row.table, "C": row.C}
    if row.kind == "grid":
        searches = [
            partial(machine(of, row, 0.0).fit, X, y) for of in (sklearn.svm, equimargin.svm)
        ]
        searches[1]()
        theirs, fitted = (side.cpu for side in in_turn(*searches, rounds=3))
        return line | {"peer ms": 1e3 * theirs, "class": fitted / theirs}
    problem = problem_of(row, X, y)
    tol, gap = match(row, problem, X, y)
    sides = (
        partial(machine(sklearn.svm, row, tol).fit, X, y),
        lambda: solve(problem_of(row, X, y), tol=gap),
        partial(machine(equimargin.svm, row, gap**0.5).fit, X, y),
    )
    in_turn(*sides, rounds=2)
    theirs, solved, fitted = (side.cpu for side in in_turn(*sides, rounds=rounds))
    return line | {
        "tol": tol,
        "gap": gap,
        "peer ms": 1e3 * theirs,
        "solve": solved / theirs,
        "class": fitted / theirs,
    }


COLUMNS = {
    "kind": "14s",
    "table": "22s",
    "C": "4g",
    "tol": "7.0e",
    "gap": "9.1e",
    "peer ms": "9.2f",
    "solve": "7.2f",
    "class": "7.2f",
}
"""`solve` and `class` are our CPU time over the peer's: below 1 ours is shorter."""


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table."""
    yield Table(COLUMNS, (measured(row, asked.rounds) for row in chosen(ROWS, asked)))


BENCHMARK = Benchmark(
    __doc__, tables, QUICK | {"rounds": (15, "rounds of the three sides; the medians count")}
)
