"""Certified maps of (lambda, gamma), against independent solutions and exact optima.

    python -m campaigns nightly_map --seed 1 --examples 100

Small problems of every loss, with and without a bias and weights, regressions, rankings
and ordinal regressions, on random rectangles; every fifth map has a gap of 1e-3, all
others 1e-2. At random points the interval of the map must meet the interval of a
problem that is solved there anew, lie in the interval of its cell, and be as narrow as
the cell's gap. At the corners of the rectangle it must contain the exact optimum of the
float Gram matrix. Exit status 1 on a wrong interval, an unfinished map, or any
exception.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from campaigns.runner import At, Campaign, Check, Trial
from equimargin.formulations import (
    MarginProblem,
    classification,
    ordinal,
    ranking,
    rbf,
    regression,
)
from equimargin.formulations.bounds import Interval
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import CertifiedMap, certified_map, exact_optimum, given_gram, solve
from equimargin.solvers.exact_limits import refusal
from narrow import as_a, present

POINTS = 5
"""Random points of a map that are judged."""
MAX_SOLVES = 1000
"""Solves after which a map is unfinished; a right one needs a quarter of them."""
TIGHT = 1e-9
"""Relative gap of the independent solutions."""
ROUNDED = 1e-10
"""Relative change of an optimum by the rounding of the Gram matrix, at most."""
NOISE = 1e-11
"""Relative width that an interval may have above its cell's gap, by its own rounding."""
KINDS = ("classification", "no bias", "regression", "ranking", "ordinal")
EPS = (1e-2, 1e-2, 1e-2, 1e-2, 1e-3)


@dataclass(frozen=True, eq=False)
class MapTask:
    """Problem, the rectangle of its map, and the gap."""

    problem: MarginProblem
    lambdas: tuple[float, float]
    gammas: tuple[float, float]
    eps: float


def drawn(at: At) -> MapTask:
    """Return an instance, the same for every equal seed and number."""
    rng = at.rng()
    kind = KINDS[at.number % len(KINDS)]
    m, d = int(rng.integers(4, 9)), int(rng.integers(1, 3))
    X = rng.normal(size=(m, d)) if rng.integers(2) else rng.integers(-2, 3, (m, d)).astype(float)
    along = X @ rng.normal(size=d) + 0.5 * rng.normal(size=m)
    loss: LossName = "hinge" if rng.integers(2) else "squared_hinge"
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], m) if rng.integers(3) == 0 else None
    kernel = rbf(1.0)
    y = np.where(along > np.median(along), 1.0, -1.0)
    levels = np.arange(m) % 3
    problem = {
        "classification": lambda: classification(
            X, y, kernel=kernel, loss=loss, sample_weight=weights
        ),
        "no bias": lambda: classification(
            X, y, kernel=kernel, loss=loss, bias=False, sample_weight=weights
        ),
        "regression": lambda: regression(
            X, along, epsilon=0.1, kernel=kernel, loss=loss, sample_weight=weights
        ),
        "ranking": lambda: ranking(X, np.digitize(along, [-0.5, 0.5]), kernel=kernel, loss=loss),
        "ordinal": lambda: ordinal(X, levels, kernel=kernel, loss=loss),
    }[kind]()
    lam, gamma = 10.0 ** rng.uniform(-2, 0.5), 10.0 ** rng.uniform(-1.5, 0.5)
    return MapTask(
        problem,
        (lam, lam * 10.0 ** rng.uniform(0.3, 1.2)),
        (gamma, gamma * 10.0 ** rng.uniform(0.2, 0.8)),
        EPS[at.number // len(KINDS) % len(EPS)],
    )


def complaints(found: CertifiedMap, rng: np.random.Generator) -> Iterator[str]:
    """Yield what is wrong with a map."""
    if not found.complete:
        yield f"not complete: {found.stopped}, gap {found.gap:.1e}"
    for _ in range(POINTS):
        lam, gamma = (
            float(np.exp(rng.uniform(*np.log(ends)))) for ends in (found.lambdas, found.gammas)
        )
        cell, solution = found.cell(lam, gamma), found.at(lam, gamma)
        here = f"at lambda = {lam!r}, gamma = {gamma!r}"
        own = solve(as_a(MarginProblem, solution.problem), tol=TIGHT).interval
        proven = solution.interval
        if not _meet(proven, own):
            yield f"{here}: {proven} misses the solution's {own}"
        if not cell.interval[0] <= proven.lower <= proven.upper <= cell.interval[1]:
            yield f"{here}: {proven} is not in the cell's {cell.interval}"
        if not cell.interval[0] <= own.upper or not own.lower <= cell.interval[1]:
            yield f"{here}: the cell's {cell.interval} misses the solution's {own}"
        if not proven.relative_width <= cell.gap + NOISE:
            yield f"{here}: the gap is {proven.relative_width:.3e}, above {cell.gap:.3e}"
    for lam in found.lambdas:
        for gamma in found.gammas:
            solution = found.at(lam, gamma)
            problem = given_gram(as_a(MarginProblem, solution.problem))
            if refusal(problem) is not None:
                continue
            optimum, proven = float(present(exact_optimum(problem).value)), solution.interval
            slack = ROUNDED * proven.size
            if not proven.lower - slack <= optimum <= proven.upper + slack:
                yield f"corner ({lam!r}, {gamma!r}): {proven} misses the optimum {optimum!r}"


def _meet(one: Interval, other: Interval) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def judged(task: MapTask, at: At) -> Trial:
    """Return the complaints about the map of an instance."""
    found = certified_map(task.problem, task.lambdas, task.gammas, task.eps, MAX_SOLVES)
    name = f"{task.eps:g}"
    counts = Counter(
        {f"solves at {name}": found.solves, f"cells at {name}": len(found), f"maps at {name}": 1}
    )
    worst = {f"solves at {name}": float(found.solves), f"gap at {name}": found.gap}
    return Trial(list(complaints(found, at.rng(1))), counts, worst)


CAMPAIGN = Campaign(
    __name__,
    __doc__,
    lambda _: [Check("maps", judged, drawn, limit=1200.0, problem=lambda task: task.problem)],
    100,
)
