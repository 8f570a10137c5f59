"""Exact paths and leave-one-out errors, against exact optima at single costs.

    python -m campaigns exact.nightly_exact_path --seed 1 --examples 200

The optimum and the optimal biases of every path are compared at costs of all sizes; a
leave-one-out error is compared with one exact optimum per point. Points are floats, or
on integer grids, where some are repeated; kernels are linear, polynomial and given
matrices; some problems have weights. Exit status 1 if a value is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from campaigns.runner import Campaign, by_sentence
from equimargin.formulations import classification, linear, polynomial, ranking, rbf, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import exact_leave_one_out, exact_optimum, exact_path, given_gram
from oracles.left_out import mistakes

COSTS = 3
"""Number of costs at which an instance is evaluated."""
POINTS = 12
"""Maximum number of points of a leave-one-out instance; of a path, twice as many."""


def drawn(task: str, rng: np.random.Generator, most: int) -> MarginProblem:
    """Draw an instance of a task: "svm" with or without a bias, "svr" or "rank"."""
    m, d = int(rng.integers(2, most + 1)), int(rng.integers(1, 4))
    X = rng.integers(-3, 4, (m, d)).astype(float) if rng.integers(2) else rng.normal(size=(m, d))
    kernel = [linear(), polynomial(2), rbf(0.5)][int(rng.integers(3))]
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], m) if rng.integers(3) == 0 else None
    if task == "rank":
        problem: Any = ranking(
            X,
            rng.integers(0, 3, m),
            rng.integers(0, 2, m) if rng.integers(2) else None,
            kernel=kernel,
        )
    elif task == "svr":
        problem = regression(
            X,
            rng.integers(-3, 4, m),
            kernel=kernel,
            epsilon=float(rng.choice([0.0, 0.25, 1.0])),
            sample_weight=weight,
        )
    else:
        problem = classification(
            X,
            rng.choice([-1, 1], m),
            kernel=kernel,
            bias=bool(rng.integers(2)),
            sample_weight=weight,
        )
    return given_gram(problem) if kernel.name == "rbf" else problem  # type: ignore[return-value]


def costs(breakpoints: Sequence[Fraction], rng: np.random.Generator) -> list[float]:
    """Draw costs as floats: close to breakpoints, between them, and rounded breakpoints."""
    middles = [float((low + high) / 2) for low, high in pairwise([Fraction(0), *breakpoints])]
    edges = [float(C) for C in breakpoints if Fraction(float(C)) == C]
    near = [float(C) * 2.0 ** float(rng.normal()) for C in breakpoints]
    return [float(C) for C in rng.choice([*middles, *near, *edges, 1.0], COSTS) if C > 0]


def path(rng: np.random.Generator) -> str:
    """Return the fault in the path of an instance as text, or ""."""
    problem = drawn(str(rng.choice(["svm", "svr", "rank"])), rng, 2 * POINTS)
    found = exact_path(problem)
    if not found.complete:
        return f"the path is not complete: {found.stopped}"
    for old, new in pairwise(found.pieces):
        if old.high != new.low or (old.f(new.low) != new.f(new.low)).any():
            return f"f jumps at C = {new.low}"
    for C in costs(found.breakpoints, rng):
        at = exact_optimum(problem.with_cost(C))
        if (at.value, at.bias) != (found.value(C), found.bias(C)):
            return (
                f"at C = {C!r} the optimum is {at.value} with the biases {at.bias}, not "
                f"{found.value(C)} with {found.bias(C)}"
            )
    return ""


def leave_one_out(rng: np.random.Generator) -> str:
    """Return the fault in the leave-one-out error of an instance as text, or ""."""
    problem = drawn("svm", rng, POINTS)
    found = exact_leave_one_out(problem)
    if found.stopped:
        return f"there is no error: {found.stopped}"
    for C in costs(found.steps[1:], rng):
        least, most = mistakes(problem.with_cost(C))
        if (least, most) != found.at(C):
            return (
                f"at C = {C!r} it is {found.at(C)}, and the optima without each point have "
                f"{least} to {most}"
            )
    return ""


SUBJECTS: dict[str, Callable[[np.random.Generator], str]] = {
    "path": path,
    "leave one out": leave_one_out,
}


CAMPAIGN = Campaign(__name__, __doc__, lambda _: by_sentence(SUBJECTS), 200)
