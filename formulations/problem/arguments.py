"""Conversion of a problem back to the arguments of its constructor."""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import Intercept
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube


def read_arguments(problem: MarginProblem | OneNormProblem) -> tuple[str, dict[str, Any]]:
    """Return the name of a problem's constructor and its arguments.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem
        Canonical problem.

    Returns
    -------
    name : str
        Name of the constructor.
    arguments : dict
        Arguments by name.

    Raises
    ------
    ValueError
        If the weights above and below a tube differ, or a margin is not 1.
    """
    if isinstance(problem.rows, Signed) and problem.rows.target != 1:
        raise ValueError(
            f"{problem.family} has the margin 1, and this problem has {problem.rows.target:g}"
        )
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else np.asarray(problem.X)
    rows, kernel = problem.rows, problem.kernel
    penalized = isinstance(kernel, Intercept)
    given: dict[str, Any] = {"X": X}
    if isinstance(rows, Pairs) and rows.query is None:
        # Pairs without queries were given explicitly.
        given["pairs"] = np.column_stack([rows.preferred, rows.other])
    else:
        given["y"] = np.asarray(rows.y)
    if isinstance(rows, Pairs) and rows.query is not None and len(np.unique(rows.query)) > 1:
        given["qid"] = np.asarray(rows.query)
    given |= {
        "C": float(problem.C),
        "kernel": kernel.kernel if isinstance(kernel, Intercept) else kernel,
    }
    if isinstance(rows, Tube):
        given["epsilon"] = float(rows.epsilon)
    given |= _weights(problem)
    if isinstance(problem, OneNormProblem):
        if isinstance(rows, Signed):
            return "one_norm_classification", given | {"bias": problem.bias}
        points = problem.over == "points"
        if "pairs" in given:
            over = {"over": "points" if points else "pairs"}
            return "one_norm_ranking_from_pairs", given | over
        return "ranking_vector_machine" if points else "one_norm_ranking", given
    given["loss"] = problem.loss
    if isinstance(rows, Levels):
        return "ordinal", given | {"kernel": kernel, "levels": rows.T + 1}
    if isinstance(rows, Tube):
        return "regression", given
    if isinstance(rows, Pairs):
        return "ranking_from_pairs" if rows.query is None else "ranking", given
    delta = {} if problem.delta is None else {"delta": problem.delta}
    return "classification", given | delta | {"bias": "penalized" if penalized else problem.bias}


def _weights(problem: MarginProblem | OneNormProblem) -> dict[str, Any]:
    """Return the weights of a problem, as its constructor accepts them."""
    if problem.weights is None:
        return {}
    weights = np.asarray(problem.weights)
    if isinstance(problem.rows, Tube):
        above, below = np.split(weights, 2)
        if not np.array_equal(above, below):
            raise ValueError(
                "the weights above the tube differ from those below; `regression` accepts "
                "equal weights only"
            )
        return {"sample_weight": above}
    if not isinstance(problem.rows, Pairs):
        return {"sample_weight": weights}
    query = problem.rows.query
    if query is None:
        return {"pair_weight": weights}
    present = set(np.asarray(query).tolist())
    named = {name: weight for name, weight in enumerate(weights.tolist()) if name in present}
    return {"query_weight": named if len(named) > 1 else dict(enumerate(named.values()))}
