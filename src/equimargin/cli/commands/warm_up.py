"""Command `warm-up`: compilation of all compiled functions in advance."""

from __future__ import annotations

import time

import typer

from equimargin.cli.output.errors import report_errors, without_warnings_of_trackers
from equimargin.cli.output.waiting import WaitingBar

ROWS = 60
"""Rows of the solved problems; so many that no solver ends at once."""
FEATURES = (3, 40)
"""Features of these problems: few, and as many as sums in float32 need."""
LEVELS = 3
"""Relevance grades of the rankings among them."""
MAX_PROCESSES = 4
"""Maximum number of processes; one solver alone takes two fifths of the time."""
LONGEST = ("homotopy", "coordinate_descent", "newton", "smo")
"""Solvers that compile longest, in this order; they begin first."""


def warm_up() -> None:
    """Compile the code of the solvers, and store it on disk."""
    with report_errors("end other programs, and run this command again"):
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel, cpu_count, delayed

        from equimargin.formulations.numeric.jit import cache_directory
        from equimargin.solvers import SOLVERS

        started = time.perf_counter()
        directory = cache_directory()
        if directory is None:
            raise OSError(
                "no function is compiled in advance, as no folder for the code can be written; set "
                "NUMBA_CACHE_DIR to a folder that can"
            )
        # The processes share the code by its folder.
        names = [*LONGEST, *(name for name in SOLVERS if name not in LONGEST)]
        tasks = [delayed(_compile)(name, SOLVERS[name].module) for name in names]
        without_warnings_of_trackers()
        processes = min(cpu_count(), MAX_PROCESSES)
        try:
            with WaitingBar("compiling") as bar:
                compiled = Parallel(processes, return_as="generator_unordered")(tasks)
                for done, _ in enumerate(compiled, 1):
                    # Without a time left: the first solvers take longest.
                    bar.show(f"{done} of {len(tasks)} solvers compiled")
        except BrokenProcessPool:
            typer.echo(
                "equimargin: a process was killed, perhaps for lack of memory; this one compiles "
                "the rest",
                err=True,
            )
            Parallel(1)(tasks)
        _multiply()
        seconds = time.perf_counter() - started
        typer.echo(f"functions compiled or loaded in {seconds:.1f} s, kept in {directory}")


def _compile(solver: str, module: str) -> None:
    """Compile the functions of a solver, by problems of every family that it supports.

    Importing the module registers the solver, which a plug-in may have done in another
    process alone.
    """
    from importlib import import_module

    import numpy as np

    from equimargin.comparison import compare
    from equimargin.formulations import linear, rbf
    from equimargin.formulations.numeric.jit import compile_eagerly
    from equimargin.problems import make_problems_from_arrays
    from equimargin.solvers import SOLVERS

    import_module(module)
    random = np.random.default_rng(0)
    few, many = (random.normal(size=(ROWS, features)) for features in FEATURES)
    score = few[:, 0] + random.normal(size=ROWS)
    levels, queries = np.arange(ROWS) % LEVELS, np.arange(ROWS) // (ROWS // 5)
    for X, kernel in ((few, linear()), (few, rbf(1.0)), (many, linear())):
        problems = make_problems_from_arrays(
            X, np.sign(score), kernel=kernel
        ) + make_problems_from_arrays(X, score, kernel=kernel, task="regression")
        problems += make_problems_from_arrays(
            X, score * 0 + levels, kernel=kernel, task="ranking", qid=queries
        )
        problems = [problem for problem in problems if SOLVERS[solver].takes(problem.family)]
        if problems:
            with compile_eagerly():
                compare(problems, solvers=[solver], patient=True)


def _multiply() -> None:
    """Compile the products with a large Gram matrix."""
    import math

    import numpy as np

    from equimargin.formulations import rbf
    from equimargin.formulations.kernels.gram import Gram
    from equimargin.formulations.kernels.multiplier import COMPILED_ENTRIES

    points = math.isqrt(COMPILED_ENTRIES) + 1
    X = np.random.default_rng(0).normal(size=(points, FEATURES[0]))
    Gram(rbf(1.0), X).product(np.ones(points))
