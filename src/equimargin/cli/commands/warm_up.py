"""Command `warm-up`: compilation of all compiled functions in advance."""

from __future__ import annotations

import typer

from equimargin.cli.output.errors import report_errors

ROWS = 60
"""Rows of the solved problems; so many that no solver ends at once."""
FEATURES = 3
"""Features of these problems."""
LEVELS = 3
"""Relevance grades of the rankings among them."""


def warm_up() -> None:
    """Compile the code of the solvers, and store it on disk."""
    with report_errors():
        import math
        import time

        import numpy as np

        from equimargin.comparison import compare
        from equimargin.formulations import linear, rbf
        from equimargin.formulations.kernels.gram import Gram
        from equimargin.formulations.kernels.multiplier import COMPILED_ENTRIES
        from equimargin.formulations.numeric.jit import (
            cache_directory,
            compile_eagerly,
            measure_compile_seconds,
        )
        from equimargin.problems import make_problems_from_arrays
        from equimargin.solvers import SOLVERS

        started = time.perf_counter()
        random = np.random.default_rng(0)
        X = random.normal(size=(ROWS, FEATURES))
        score = X[:, 0] + random.normal(size=ROWS)
        levels, queries = np.arange(ROWS) % LEVELS, np.arange(ROWS) // (ROWS // 5)
        for kernel in (linear(), rbf(1.0)):
            problems = make_problems_from_arrays(
                X, np.sign(score), kernel=kernel
            ) + make_problems_from_arrays(X, score, kernel=kernel, task="regression")
            problems += make_problems_from_arrays(
                X, score * 0 + levels, kernel=kernel, task="ranking", qid=queries
            )
            with compile_eagerly():
                compare(problems, solvers=list(SOLVERS), patient=True)
        points = math.isqrt(COMPILED_ENTRIES) + 1
        Gram(rbf(1.0), random.normal(size=(points, FEATURES))).product(np.ones(points))
        directory = cache_directory()
        kept = (
            f"kept in {directory}"
            if directory
            else "kept nowhere, as no folder for them can be written"
        )
        typer.echo(
            f"functions compiled or loaded in {measure_compile_seconds():.1f} of "
            f"{time.perf_counter() - started:.1f} s, {kept}"
        )
