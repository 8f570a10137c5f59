"""What document P says of the cost of a path, measured: exponents of n, m and |I|, and breakpoints and seconds over those of one problem.

    python benchmarks/document_p/complexity.py

n points in two levels, of two Gaussians that overlap, ranked with an RBF kernel down to lambda = LAMBDA_MIN: all their m = n^2 / 4
pairs, or those of the reduced graph, m = n - 1. An exponent is the slope of a straight line through logarithms, of CPU seconds with one
BLAS thread, the least of REPEATS. "direct" is one problem (8) at lambda_min, by the solver that `solve` chooses for it. Printed are: two
to three breakpoints a pair; |I|^2, and in another place |I|^3, of a system; m |I| of a breakpoint; and a few times "direct" of all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from equimargin.formulations import MarginProblem, ranking, ranking_from_pairs, rbf, reduced_preferences
from equimargin.solvers import regularization_path, solve

LAMBDA_MIN, REPEATS = 1e-2, 3
SIZES = {"all pairs": (40, 60, 80, 120, 160), "reduced": (100, 200, 400, 800)}
SYSTEMS = (250, 500, 1000, 2000)


def problem_of(n: int, graph: str) -> MarginProblem:
    """n points, half of each level."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + y[:, None]
    kernel = rbf(1.0)
    return ranking(X, y, kernel=kernel) if graph == "all pairs" else ranking_from_pairs(X, reduced_preferences(y), kernel=kernel)


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU seconds of some calls, and what the last of them returns."""
    seconds, found = [], None
    for _ in range(REPEATS):
        start = time.process_time()
        found = run()
        seconds.append(time.process_time() - start)
    return min(seconds), found


def exponent(sizes: ArrayLike, seconds: ArrayLike) -> float:
    """The slope of the line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def again(factor: Any, one: Any) -> None:
    """A system whose factor is known."""
    cho_solve(factor, one)


def systems() -> None:
    """One system of |I| rows solved anew, and solved where the factor is known already."""
    anew, known = [], []
    for k in SYSTEMS:
        A = np.random.default_rng(0).normal(size=(k, k))
        G, one = A @ A.T + k * np.eye(k), np.ones(k)
        factor = cho_factor(G)
        anew.append(cpu(partial(cho_factor, G))[0])
        known.append(cpu(partial(again, factor, one))[0])
    print(f"a system (11) of |I| = {SYSTEMS[0]} to {SYSTEMS[-1]} rows: anew |I|^{exponent(SYSTEMS, anew):.1f}, ", end="")
    print(f"with a factor that was kept |I|^{exponent(SYSTEMS, known):.1f}")


def paths(graph: str) -> None:
    """Whole paths of a graph, line by line, and what they grow by."""
    print(f"\n{graph}\n{'n':>5} {'m':>6} {'breakpoints':>12} {'over m':>7} {'mean |I|':>9} {'path s':>8} {'direct s':>9} {'ratio':>6}")
    lines = []
    for n in SIZES[graph]:
        problem = problem_of(n, graph)
        seconds, path = cpu(partial(regularization_path, problem, LAMBDA_MIN))
        direct, _ = cpu(partial(solve, problem.with_cost(1 / LAMBDA_MIN), tol=1e-6))
        lines.append((n, problem.p, len(path), path.margins.mean(), seconds, direct))
        print(f"{n:5} {problem.p:6} {len(path):12} {len(path) / problem.p:7.2f} {path.margins.mean():9.1f}", end=" ")
        print(f"{seconds:8.3f} {direct:9.3f} {seconds / direct:6.1f}")
    table = np.array(lines)
    names = ("m", "breakpoints", "mean |I|", "seconds of the path")
    print("; ".join(f"{name} n^{exponent(table[:, 0], column):.1f}" for name, column in zip(names, table.T[1:], strict=False)), end="; ")
    print(f"seconds a breakpoint m^{exponent(table[:, 1], table[:, 4] / table[:, 2]):.1f}")


def main() -> None:
    """Everything, with one BLAS thread."""
    with threadpool_limits(1):
        regularization_path(problem_of(20, "all pairs"), lambda_min=LAMBDA_MIN)  # compiles
        solve(problem_of(20, "all pairs"))
        systems()
        for graph in SIZES:
            paths(graph)


if __name__ == "__main__":
    main()
