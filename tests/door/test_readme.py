"""README: its statements on multipliers.

Its snippets are run where the package is built (`house/test_packaging.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from equimargin.formulations import Kernel, linear, ranking, rbf
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.pair_multipliers import PairMultipliers
from equimargin.solvers import solve
from narrow import as_a


def ranked(size: int) -> dict[str, Any]:
    """Return three levels in five queries of a size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5 * size, 3))
    return {
        "X": X,
        "y": np.digitize(X[:, 0] + rng.normal(size=5 * size), [-0.5, 0.5]),
        "qid": np.repeat(np.arange(5), size),
    }


def test_what_is_said_of_duals_is_so() -> None:
    """Above a million pairs, and for a linear kernel by newton, the dual is an object.

    Otherwise it is an array in the order of the pairs' ends.
    """
    cases: tuple[tuple[int, Kernel, str, LossName, bool], ...] = (
        (8, linear(), "auto", "squared_hinge", False),
        (8, linear(), "newton", "squared_hinge", True),
        (8, rbf(1.0), "newton", "squared_hinge", False),
        (8, linear(), "huber", "hinge", False),
        (1200, linear(), "newton", "squared_hinge", True),
        (1200, linear(), "huber", "hinge", True),
    )
    for size, kernel, solver, loss, implicit in cases:
        data = ranked(size)
        problem = ranking(data["X"], data["y"], data["qid"], 1e-3, kernel, loss)
        dual, rows = solve(problem, solver).dual, as_a(Pairs, problem.rows)
        assert hasattr(dual, "at") is implicit
        if not implicit:
            assert isinstance(dual, np.ndarray)
        alpha = np.asarray(dual)
        assert alpha.shape == (problem.p,)
        assert (problem.p > 1_000_000) == (size == 1200)
        assert np.all(data["y"][rows.preferred] > data["y"][rows.other])
        if implicit:
            at = int(alpha.argmax())
            assert as_a(PairMultipliers, dual).at(
                rows.preferred[at], rows.other[at]
            ) == pytest.approx(alpha[at])
