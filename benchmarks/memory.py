"""Memory of solves: the peak of a process, and what stays when a solve has ended.

    python benchmarks/run.py memory [--quick] [--only TEXT]

Every row has a process of its own, which runs its solves one after the other, proven
intervals included. "before" is its memory with all imports, loaded functions and the
data, "peak" the largest memory until the end of a solve, and "kept" what is above
"before" when the solution has been deleted, without a garbage collection. "seconds"
are those of the CPU.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from clock import gigabytes, timed
from kinds import ranking, svm
from table import Benchmark, Line, Table, alone

from equimargin.formulations import MarginProblem, classification, rbf
from equimargin.solvers import solve

SMALL = 20
"""Divisor of the sizes of the problems that are solved first, to load all functions."""
COST = 500.0
"""C times the number of pairs of a ranking."""


def kernel_machine(points: int, columns: int) -> MarginProblem:
    """Return a classification by an RBF kernel."""
    X, y = svm.classes(f"{points} x {columns}")
    return classification(X, y, 1.0, rbf(1 / columns))


def all_pairs(points: int, loss: Any) -> MarginProblem:
    """Return a ranking by all pairs of one query."""
    row = ranking.Row("", partial(ranking.many, points, "real"), loss, COST, (), total=True)
    return row.problem()


def solves(quick: bool) -> dict[str, tuple[Callable[..., MarginProblem], int, Any, float]]:
    """Return problems by name: their functions and sizes, and the tolerance."""
    few, many = (4_000, 100_000) if quick else (10_000, 1_000_000)
    return {
        f"RBF {few} x 100": (kernel_machine, few, 100, 1e-3),
        f"ranking {many} x 20": (all_pairs, many, "squared_hinge", 1e-6),
        f"ranking {many} x 20, hinge": (all_pairs, many, "hinge", 1e-4),
    }


def solved(make: Callable[..., MarginProblem], points: int, kind: Any, tol: float) -> float:
    """Make and solve a problem, prove its interval, and return the relative width."""
    return solve(make(points, kind), tol=tol).interval.relative_width


def measured(quick: bool, names: list[str]) -> list[Line]:
    """Solve problems in turn in this process; return a line for each."""
    chosen, lines = [solves(quick)[name] for name in names], list[Line]()
    for make, points, kind, tol in chosen:
        solved(make, points // SMALL, kind, tol)
        make(points, kind)  # draws the data
    before = gigabytes("VmRSS")
    for name, (make, points, kind, tol) in zip(names, chosen, strict=True):
        width, seconds, _ = timed(partial(solved, make, points, kind, tol))
        line = {"solve": name, "before": before, "peak": gigabytes()}
        line |= {"kept": gigabytes("VmRSS") - before, "seconds": seconds, "width": width}
        lines.append(line | {"first": "" if name == names[0] else f"after {names[0]}"})
    return lines


def lines(asked: Namespace) -> Iterator[Line]:
    """Yield the lines of every problem alone, and of all in one process."""
    names = [name for name in solves(asked.quick) if asked.only in name]
    if not names:
        every = ", ".join(solves(asked.quick))
        raise SystemExit(f"no problem has {asked.only!r} in its name; there are {every}")
    for together in (*([name] for name in names), *([names] if len(names) > 1 else [])):
        # The first run compiles functions, which takes memory.
        alone(measured, asked.quick, together)
        yield from alone(measured, asked.quick, together)


COLUMNS = {"solve": "32s", "before": "6.2f", "peak": "6.2f", "kept": "6.3f", "seconds": "8.2f"}
COLUMNS |= {"width": "8.1e", "first": "s"}
OPTIONS = {
    "quick": (False, "4,000 and 100,000 points in place of 10,000 and 1,000,000"),
    "only": ("", "problems whose name holds this text"),
}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, lines(asked))]), OPTIONS)
