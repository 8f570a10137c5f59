"""Cost of a path, measured against the statements of document P.

Exponents of n, m and |I|, and breakpoints and seconds over those of one problem.

    python benchmarks/run.py kinds.document_p

n points in two levels, of two Gaussians that overlap, ranked with an RBF kernel down to
lambda = LAMBDA_MIN: all their m = n^2 / 4 pairs, or those of the reduced graph,
m = n - 1. An exponent is the slope of a straight line through logarithms, of CPU
seconds with one BLAS thread, the least of REPEATS. "direct" is one problem (8) at
lambda_min, by the solver that `solve` chooses for it. Printed are: two to three
breakpoints a pair; |I|^2, and in another place |I|^3, of a system; m |I| of a
breakpoint; and a few times "direct" of all.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from clock import timed
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from table import Benchmark, Line, Table

from equimargin.formulations import (
    MarginProblem,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.solvers import regularization_path, solve

LAMBDA_MIN, REPEATS = 1e-2, 3
SIZES = {"all pairs": (40, 60, 80, 120, 160), "reduced": (100, 200, 400, 800)}
SYSTEMS = (250, 500, 1000, 2000)


def problem_of(n: int, graph: str) -> MarginProblem:
    """Return the problem of n points, half of each level."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + y[:, None]
    kernel = rbf(1.0)
    return (
        ranking(X, y, kernel=kernel)
        if graph == "all pairs"
        else ranking_from_pairs(X, reduced_preferences(y), kernel=kernel)
    )


def least(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU seconds of some calls, and what the last of them returns."""
    found = [timed(run) for _ in range(REPEATS)]
    return min(one.cpu for one in found), found[-1].result


def exponent(sizes: ArrayLike, seconds: ArrayLike) -> float:
    """Return the slope of the line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def systems() -> Iterator[Line]:
    """Yield a system (11) of |I| rows solved anew and with a known factor, and exponents."""
    found = []
    for k in SYSTEMS:
        A = np.random.default_rng(0).normal(size=(k, k))
        G, one = A @ A.T + k * np.eye(k), np.ones(k)
        found.append(
            (least(partial(cho_factor, G))[0], least(partial(cho_solve, cho_factor(G), one))[0])
        )
        yield {"a system (11)": f"|I| = {k}", "anew s": found[-1][0], "kept factor s": found[-1][1]}
    yield {"a system (11)": "exponent of |I|"} | dict(
        zip(
            ("anew s", "kept factor s"),
            (exponent(SYSTEMS, v) for v in zip(*found, strict=True)),
            strict=True,
        )
    )


def paths(graph: str) -> Iterator[Line]:
    """Yield whole paths of a graph, line by line, and print by which powers they grow."""
    found = []
    for n in SIZES[graph]:
        problem = problem_of(n, graph)
        seconds, path = least(partial(regularization_path, problem, LAMBDA_MIN))
        direct, _ = least(partial(solve, problem.with_cost(1 / LAMBDA_MIN), tol=1e-6))
        found.append((n, problem.p, len(path), path.margins.mean(), seconds))
        line = {
            "graph": graph,
            "n": n,
            "m": problem.p,
            "breakpoints": len(path),
            "over m": len(path) / problem.p,
        }
        yield line | {
            "mean |I|": path.margins.mean(),
            "path s": seconds,
            "direct s": direct,
            "ratio": seconds / direct,
        }
    sizes, *columns = np.array(found).T
    names = ("m", "breakpoints", "mean |I|", "seconds of the path")
    print(
        "; ".join(
            f"{name} n^{exponent(sizes, column):.1f}"
            for name, column in zip(names, columns, strict=True)
        ),
        end="; ",
    )
    print(f"seconds a breakpoint m^{exponent(columns[0], columns[3] / columns[1]):.1f}")


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the systems, and the paths of each graph."""
    regularization_path(problem_of(20, "all pairs"), lambda_min=LAMBDA_MIN)  # compiles
    solve(problem_of(20, "all pairs"))
    yield Table({"a system (11)": "16s", "anew s": "8.4f", "kept factor s": "13.6f"}, systems())
    for graph in SIZES:
        yield Table(COLUMNS, paths(graph))


COLUMNS = {
    "graph": "9s",
    "n": "5d",
    "m": "6d",
    "breakpoints": "12d",
    "over m": "7.2f",
    "mean |I|": "9.1f",
    "path s": "8.3f",
}
COLUMNS |= {"direct s": "9.3f", "ratio": "6.1f"}
BENCHMARK = Benchmark(__doc__, tables)
