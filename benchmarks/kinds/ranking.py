"""RankSVM: CPU seconds to a relative suboptimality, and peak memory.

Our solver and its peers run in turn on one BLAS thread; RBF rows count Gram products.

    python benchmarks/run.py kinds.ranking [--quick] [--only TEXT] [--data DIR]

Our side builds the problem and solves it through the public `solve` with a target as
its tolerance, which its gap reaches. Its peers may stop as soon as their suboptimality
is small enough, and ratios are over our solver "stopped" alike: those of this package
by their callback, CLARABEL (on the declared primal) and scikit-learn's LinearSVC (on
the difference vectors, formed before, every other with its sign and its label flipped)
at the loosest tolerance and the fewest iterations that reach it. Suboptimalities are
measured outside of the clock, from a proven lower bound: of a run at 1e-9 where there
are peers, of our own run otherwise. All sides run in turn (A B A B) in one process; a
figure is the median of their CPU times after a run each to warm up, which is the only
one of a side that is slow. A peer that has not reached the target after its time limit,
or does not take the problem, is a line, too: its ratio is then a lower bound, marked
">", and a requirement is OPEN where that bound is too low. SHORT marks a missed
requirement. Ratios of RBF rows are of Gram products, ours to a proven 1e-6 and tron's
to 1e-3: two for each product with its Hessian, and one for each function it tries.

"proof" is the time of the proven interval after `solve`; "width" is its relative width.
A row that is alone has a process of its own, whose peak memory, data included, is
shown. Rows of files that are not in DIR (mq2008/S1.txt to S3.txt, LETOR 4.0) are
skipped with a message.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from clock import gigabytes, in_turn, timed
from scipy import sparse
from sklearn.svm import LinearSVC
from table import DATA, Benchmark, Line, Table, alone

from equimargin.data import load
from equimargin.formulations import MarginProblem, Point, declare, ranking, rbf
from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers import SOLVERS, Solution, solve, solve_declaration
from equimargin.solvers.newton import in_kernel
from equimargin.solvers.products.gram_products import GramProducts

Array = Any
Data = tuple[Any, Array, Array | None]
"""X, relevances and queries."""
REFERENCE, PATIENCE = 1e-9, 60.0
"""Relative gap of the reference solution, whose lower bound all use; its limit in seconds."""
SLOW_SECONDS = 4.0
"""CPU seconds from which on our first run is not repeated."""
LIMIT, QUICK_LIMIT, SHARE = 10.0, 1.0, 0.2
"""Seconds until a peer times out, and the share above which its first run is not repeated."""
OURS = "ours"
MAX_DIFFERENCE_PAIRS = 100_000
"""Largest number of pairs whose differences are formed."""


@dataclass(frozen=True)
class Target:
    """Accuracy, and the requirements at it.

    Attributes
    ----------
    tol : float
        Relative suboptimality.
    within : float
        CPU seconds of our side.
    proven : bool
        True if both are to hold with the proof, of that width.
    ratios : Mapping[str, float]
        Minimum ratio of a peer's CPU seconds, or Gram products, to this package's.
    """

    tol: float
    within: float = np.inf
    proven: bool = False
    ratios: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """Problem, with its target accuracies and its peers.

    Parameters
    ----------
    data : Callable[[], Data]
        X, relevances and queries.
    C : float
        Cost of a pair, or of all pairs together if `total`.
    gamma : float | None
        Parameter of the RBF kernel, None for the linear.
    peers : tuple[str, ...]
        Names of the peers.
    loose : float | None
        The peers' accuracy if it is not ours; ratios are of Gram products then.
    room : float | None
        Limit in GB of the row's own process, inf for none; None if it has no process of
        its own.
    """

    name: str
    data: Callable[[], Data]
    loss: LossName
    C: float
    targets: tuple[Target, ...]
    peers: tuple[str, ...] = ()
    gamma: float | None = None
    total: bool = False
    loose: float | None = None
    room: float | None = None

    @property
    def title(self) -> str:
        """Title of the row."""
        kernel = "linear" if self.gamma is None else f"RBF {self.gamma:g}"
        return (
            f"{self.name}, {kernel}, {self.loss.replace('_', ' ')}, "
            f"C{' x pairs' if self.total else ''} = {self.C:g}"
        )

    def problem(self) -> MarginProblem:
        """Return the problem, built anew."""
        X, y, queries = self.data()
        built = ranking(
            X, y, queries, self.C, None if self.gamma is None else rbf(self.gamma), self.loss
        )
        return built.with_cost(self.C / built.p) if self.total else built


Run = Callable[[], Any]
"""Solves a problem that it builds; what it returns has a `point`."""


class Counted(GramProducts):
    """Those of the last run: it counts as it goes."""

    last: Counted | None = None

    def __init__(self, gram: Gram, points: Index) -> None:
        super().__init__(gram, points)
        Counted.last = self


@cache
def mq2008(folder: Path, rows: int | None) -> Data:
    """Return the training set of the first fold, or its first rows."""
    parts = [load(folder / "mq2008" / f"S{part}.txt", task="ranking") for part in (1, 2, 3)]
    X = np.vstack([sparse.csr_array(part.X).toarray() for part in parts])[:rows]
    return (
        X,
        np.concatenate([part.y for part in parts])[:rows],
        np.concatenate([part.qid for part in parts])[:rows],
    )


@cache
def many(n: int, kind: str) -> Data:
    """Return n normal points of 20 features and a noisy linear score, of a kind."""
    rng, d = np.random.default_rng(0), 20
    if kind == "sparse":
        columns = np.argpartition(rng.random((n, d), dtype=np.float32), 2, axis=1)[:, :2].astype(
            np.int32
        )
        X = sparse.csr_array(
            (rng.normal(size=2 * n), columns.ravel(), np.arange(0, 2 * n + 1, 2, dtype=np.int32)),
            shape=(n, d),
        )
    else:
        X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 2 * rng.normal(size=n)
    queries = rng.integers(0, int(kind.split()[0]), n) if kind.endswith("queries") else None
    if kind.endswith("levels"):
        levels = int(kind.split()[0])
        y = np.floor(y.argsort().argsort() * levels / n)
    if kind == "ties":
        for array in (X, y):
            np.divide(np.rint(np.multiply(array, 4, out=array), out=array), 4, out=array)
    if kind == "badly scaled":
        X *= 10.0 ** rng.uniform(-2, 2, d)
    return X, y, queries


@cache
def wide() -> Data:
    """Return 3,000 points of 300 features, a third nonzero, in 201 queries.

    Five levels, the higher the rarer.
    """
    rng, m, d = np.random.default_rng(0), 3000, 300
    queries = np.sort(rng.integers(0, 201, m))
    X = np.round(
        np.where(rng.random((m, d)) < 0.35, rng.random((m, d)) ** 2, 0.0) * rng.uniform(0.2, 2, d),
        2,
    )
    score = (X - X.mean(axis=0)) @ rng.normal(size=d)
    score += rng.normal(size=m) * score.std()
    return X, np.digitize(score, np.quantile(score, [0.4, 0.7, 0.88, 0.97])).astype(float), queries


@cache
def correlated() -> Data:
    """Return data as of `wide`, with sparse features computed from 20 factors.

    Such features are hard for conjugate gradients; half of the entries are 0.
    """
    rng, m, d, k = np.random.default_rng(0), 3000, 300, 20
    queries, factors = (
        np.sort(rng.integers(0, 201, m)),
        rng.normal(size=(m, k)) * np.geomspace(3, 0.3, k),
    )
    Z = factors @ rng.normal(size=(k, d)) + 0.1 * rng.normal(size=(m, d))
    X = sparse.csr_matrix(np.round(np.maximum(Z, 0.0) * 10.0 ** rng.uniform(-0.5, 0.5, d), 3))
    score = factors @ rng.normal(size=k)
    score += rng.normal(size=m) * score.std()
    return X, np.digitize(score, np.quantile(score, [0.4, 0.7, 0.88, 0.97])).astype(float), queries


@cache
def tall() -> Data:
    """Return 42,000 points of 46 features in [0, 1], in 1,017 queries of 41 or 42.

    Three levels, with 233,864 pairs.
    """
    rng, m, d = np.random.default_rng(0), 42_000, 46
    X = rng.random((m, d)) ** 2
    queries = np.sort(np.arange(m) % 1017)
    score = X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, [0.84, 0.97])).astype(float), queries


LINEAR = "tron", "coordinate_descent", "CLARABEL", "LinearSVC"
KINKED = "cutting_plane", "coordinate_descent", "CLARABEL", "LinearSVC"
KINDS = "5 levels", "1000 levels", "ties", "100 queries", "10000 queries", "sparse", "badly scaled"


def rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Yield all rows, those with their own process first, while this process is small."""
    yield from many_pairs(quick)
    no_slower = tuple(Target(tol, ratios={"tron": 1}) for tol in (1e-3, 1e-6))
    yield Row("3000 x 300", wide, "squared_hinge", 0.01, no_slower, LINEAR)
    for C in (0.01, 1.0, 100.0):
        yield Row("3000 x 300 of 20 factors", correlated, "squared_hinge", C, no_slower, ("tron",))
    if not (folder / "mq2008").is_dir():
        print(f"{folder} has no folder mq2008: its rows are left out")
    else:
        yield from letor(folder, quick)
    if not quick:
        for C in (1 / 16, 1.0):
            yield Row(
                "42000 x 46",
                tall,
                "squared_hinge",
                C,
                (Target(1e-3, proven=True),),
                gamma=0.25,
                room=16,
            )


def many_pairs(quick: bool) -> Iterator[Row]:
    """Yield rows with all pairs of many points: 5e9 of 100,000, 8e12 of 4,000,000."""
    costs, smooth = (10.0, 500.0, 25_000.0), Target(1e-6, 3, proven=True)
    n = 100_000 if quick else 1_000_000
    # If `quick`, only the middle cost; only rows of real features have peers.
    for kind in ("real", *KINDS):
        for C in costs[1:2] if quick else costs:
            peers = ("tron",) if kind == "real" else ()
            yield Row(
                f"{n} x 20 {kind}",
                partial(many, n, kind),
                "squared_hinge",
                C,
                (smooth,),
                peers,
                total=True,
                room=1,
            )
    for C in costs[1:2] if quick else costs:
        peers = ("cutting_plane",) if costs[1] == C else ()
        yield Row(
            f"{n} x 20 real",
            partial(many, n, "real"),
            "hinge",
            C,
            (Target(1e-4, 60, proven=True),),
            peers,
            total=True,
            room=np.inf,
        )
    if not quick:
        for C in costs:
            data = partial(many, 4_000_000, "real")
            yield Row(
                "4000000 x 20 real",
                data,
                "squared_hinge",
                C,
                (Target(1e-6, 20, proven=True),),
                total=True,
                room=3,
            )


def letor(folder: Path, quick: bool) -> Iterator[Row]:
    """Yield the rows of the first fold of MQ2008."""
    name, data = "MQ2008 fold 1", partial(mq2008, folder, None)
    for C in (0.01, 1.0, 100.0):
        targets = Target(1e-3), Target(1e-6, 0.025, ratios={"tron": 3} if C >= 1 else {})
        yield Row(name, data, "squared_hinge", C, targets, LINEAR)
    for C, within in ((0.02, 0.3), (2.0, 0.45)):
        yield Row(
            name,
            data,
            "hinge",
            C,
            (Target(1e-3), Target(1e-6, within, ratios={"cutting_plane": 3})),
            KINKED,
        )
    first = f"{name}, 1500 rows", partial(mq2008, folder, 1500)
    for named, source in (first,) if quick else (first, (name, data)):
        for C, smooth, kinked in ((1 / 16, 4.0, 6.0), (1.0, 8.0, 25.0)):
            proven = Target(1e-6, smooth, proven=True, ratios={"tron": 10})
            yield Row(
                named, source, "squared_hinge", C, (proven,), ("tron",), gamma=0.25, loose=1e-3
            )
            yield Row(named, source, "hinge", C, (Target(1e-3, kinked, proven=True),), gamma=0.25)


def suboptimality(primal: float, lower: float) -> float:
    """Return (P - lower) / P, or inf if P is not finite."""
    return (primal - lower) / primal if np.isfinite(primal) else np.inf


def primal_of(problem: MarginProblem, point: Any) -> float:
    """Return P at a point's function, or inf if it has none."""
    Z = problem.explicit
    if point is None or not point.has_function:
        return np.inf
    if Z is None:
        f = problem.gram @ point.beta
        return problem.primal(f, float(point.beta @ f), 0.0)
    w = Z.rdot(point.beta) if point.w is None else point.w
    return problem.primal(Z @ w, float(w @ w), 0.0)


def refusal(side: str, problem: MarginProblem) -> Refusal | str | None:
    """Return the reason that a peer does not take the problem, or None."""
    if side == "CLARABEL":
        return REGISTRY[f"{problem.family}.primal"].refusal(problem)
    if side == "LinearSVC":
        return (
            None
            if problem.p <= MAX_DIFFERENCE_PAIRS
            else f"{problem.p:,} differences, more than {MAX_DIFFERENCE_PAIRS:,}"
        )
    return SOLVERS[side].refusal(problem)


def efforts(
    side: str, row: Row, problem: MarginProblem, tol: float, lower: float, limit: float
) -> Iterator[Run]:
    """Yield a peer's runs, each with more effort than the one before.

    Parameters
    ----------
    problem : MarginProblem
        The row's problem, for what a peer is given outside of the clock.
    lower : float
        Bound of its optimum.
    limit : float
        Time limit in seconds.
    """
    if side == "CLARABEL":
        for factor in (100.0, 10.0, 1.0):
            yield partial(clarabel, row, problem, factor * tol, limit)
    elif side == "LinearSVC":
        y = np.where(np.arange(problem.p) % 2, -1.0, 1.0)
        D = (problem.rows.matrix @ problem.X) * y[:, None]
        iterations = 1
        while True:
            yield partial(linear_svc, D, y, problem, iterations)
            iterations = max(iterations + 1, iterations * 5 // 4)
    else:
        yield partial(stopped, side, row, tol, lower, limit)


@dataclass(frozen=True)
class Answer:
    """Peer's best primal objective, its reason to stop, and its Gram products if reported."""

    primal: float
    reason: str
    products: int | None = None


def stopped(side: str, row: Row, tol: float, lower: float, limit: float) -> Answer:
    """Run a solver of this package, which ends once its callback gets a low primal value."""
    best = np.inf

    def enough(_: int, dual: float, primal: float, point: CanonicalPoint) -> bool:
        nonlocal best
        best = min(best, primal)
        return suboptimality(best, lower) <= tol

    found = solve(row.problem(), side, tol=tol, time_limit=limit, callback=enough)
    products = (
        2 * found.trajectory[-1].products + found.iterations
        if side == "tron" and row.gamma is not None
        else None
    )
    return Answer(best, found.reason, products)


def clarabel(row: Row, problem: MarginProblem, tol: float, limit: float) -> Answer:
    """Run CLARABEL on the declared primal."""
    found = solve_declaration(
        declare(f"{problem.family}.primal", row.problem()), "CLARABEL", tol=tol, time_limit=limit
    )
    return Answer(primal_of(problem, found.point), found.reason)


def linear_svc(D: Array, y: Array, problem: MarginProblem, iterations: int) -> Answer:
    """Run LIBLINEAR on differences for a given number of iterations."""
    model = LinearSVC(
        C=problem.C,
        loss=problem.loss,
        fit_intercept=False,
        tol=1e-14,
        max_iter=iterations,
        random_state=0,
    )
    return Answer(primal_of(problem, Point(w=model.fit(D, y).coef_[0])), f"{iterations} iterations")


@dataclass(frozen=True)
class Peer:
    """The run to which a peer has come, its CPU seconds and its answer."""

    run: Run
    seconds: float
    answer: Answer


def settled(
    side: str, row: Row, problem: MarginProblem, tol: float, lower: float, limit: float
) -> Peer:
    """Return the first of a peer's runs that reaches the target, or the last within the time."""
    reason = refusal(side, problem)
    peer = Peer(dict, np.nan, Answer(np.inf, str(reason or "")))
    for run in efforts(side, row, problem, tol, lower, limit) if reason is None else ():
        answer, seconds, _ = timed(run)
        peer = Peer(run, seconds, answer)
        if suboptimality(answer.primal, lower) <= tol or seconds > limit:
            break
    return peer


def ours(row: Row, tol: float) -> Solution:
    """Solve a row the public way, from the data on."""
    with patch.object(in_kernel, "GramProducts", Counted):
        return solve(row.problem(), tol=tol)


def measured(row: Row, limit: float) -> list[Line]:
    """Measure all sides at all targets."""
    firsts = []
    for target in row.targets:
        Counted.last = None
        solution, seconds, _ = timed(partial(ours, row, target.tol))
        products = None if Counted.last is None else Counted.last.count
        Counted.last = None
        interval, proof, _ = timed(partial(getattr, solution, "interval"))
        firsts.append((target, seconds, solution, products, proof, interval))
    peak = None if row.room is None else gigabytes()
    problem = row.problem()
    # All suboptimalities of a row have one lower bound; with peers it is that of a
    # more accurate solution, so that no side profits from a loose bound.
    lower = max(interval.lower for *_, interval in firsts)
    if row.peers:
        lower = max(lower, solve(problem, tol=REFERENCE, time_limit=PATIENCE).lower)
    lines = []
    for target, seconds, solution, products, proof, interval in firsts:
        tol = row.loose or target.tol
        alike = (solution.solver,) if row.peers and not row.loose else ()
        peers = {
            side: settled(side, row, problem, tol, lower, limit) for side in (*alike, *row.peers)
        }
        away = {side: suboptimality(peer.answer.primal, lower) for side, peer in peers.items()}
        again = {
            side: peer.run
            for side, peer in peers.items()
            if away[side] <= tol and peer.seconds <= limit * SHARE
        }
        if seconds <= SLOW_SECONDS:
            again[OURS] = partial(ours, row, target.tol)
        warm = (
            dict(zip(again, (one.cpu for one in in_turn(*again.values())), strict=True))
            if again
            else {}
        )
        took = {OURS: seconds, **{side: peer.seconds for side, peer in peers.items()}, **warm}
        reached = suboptimality(primal_of(problem, solution.point), lower)
        line = {
            "row": row.title,
            "side": solution.solver,
            "tol": target.tol,
            "s": took[OURS],
            "subopt.": reached,
            "proof s": proof,
        }
        line |= {
            "width": interval.relative_width,
            "within": bound(target.within),
            "GB": peak,
            "room": bound(row.room),
        }
        line |= {"value": solution.value, "products": products, "said": solution.reason}
        lines.append(line | {"": judged(reached <= target.tol, met(line, target, row.room))})
        for side, peer in peers.items():
            used, must = peer.answer.products, target.ratios.get(side)
            ratio = (
                used / products
                if used and products
                else took[side] / took.get(solution.solver, took[OURS])
            )
            line = {
                "row": row.title,
                "side": f"{side}, stopped" if side in alike else side,
                "tol": tol,
                "s": took[side],
            }
            line |= {
                "subopt.": away[side],
                "products": used,
                "ratio": ratio,
                "must": must,
                "said": peer.answer.reason,
            }
            lines.append(line | {"": judged(away[side] <= tol, must is None or ratio >= must)})
    return lines


def judged(reached: bool, is_met: bool) -> str:
    """Return ">" for lower bounds, of targets not reached, and the word for a miss."""
    return ("" if reached else "> ") + ("" if is_met else "SHORT" if reached else "OPEN")


def bound(at_most: float | None) -> float | None:
    """Return None for inf, which JSON does not know."""
    return None if at_most is None or np.isinf(at_most) else at_most


def met(line: Line, target: Target, room: float | None) -> bool:
    """Return True if our side meets the accuracy, time and memory of the target."""
    seconds, error = line["s"], line["subopt."]
    if target.proven:
        seconds, error = seconds + line["proof s"], max(error, line["width"])
    return error <= target.tol and seconds <= target.within and (room is None or line["GB"] <= room)


def lines(asked: Namespace) -> Iterator[Line]:
    """Yield the lines of all rows, those with a bound of their memory in processes of their own."""
    found: list[Line] = []
    for row in rows(asked.data, asked.quick):
        if asked.only in row.title:
            arguments = row, QUICK_LIMIT if asked.quick else LIMIT
            own = measured(*arguments) if row.room is None else alone(measured, *arguments)
            found += own
            yield from own
    missed = [line for line in found if line[""].strip("> ")]
    print(
        f"{len(found)} lines, {len(missed)} not met"
        + "".join(f"\n  {line['row']}: {line['side']} at {line['tol']:g}" for line in missed)
    )


COLUMNS = {
    "row": "68s",
    "side": "28s",
    "tol": "6.0e",
    "s": "9.4f",
    "subopt.": "8.1e",
    "ratio": "7.1f",
    "must": "4g",
    "within": "6g",
}
COLUMNS |= {
    "proof s": "7.4f",
    "width": "7.1e",
    "GB": "5.2f",
    "room": "4g",
    "products": "8d",
    "value": "14.8g",
    "": "7s",
    "said": "s",
}
OPTIONS = {
    "quick": (False, "fewer points, rows and seconds for the peers: about a minute"),
    "only": ("", "rows whose title holds this text"),
    "data": (DATA, "the folder of mq2008/S1.txt to S3.txt"),
}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, lines(asked))]), OPTIONS)
