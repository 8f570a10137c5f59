"""Subsets of pairs over which the 1-slack form, K (2.8), is declared.

They are all subsets of few pairs, otherwise those found by a cutting-plane loop.
"""

from __future__ import annotations

from itertools import product
from weakref import WeakKeyDictionary

import numpy as np

from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.refusal import refuse_size
from equimargin.formulations.programs.extras import clarabel

ALL_SUBSETS = 8
"""Maximum p, in pairs, for which the 1-slack form is declared over every subset."""
MOST_CUTS = 500
"""Maximum number of subsets from the cutting-plane loop.

A problem that needs more raises ValueError.
"""
CUT_TOLERANCE = 1e-9
"""Maximum violation, over 1 + |xi|, of a subset that is not declared."""
_SUBSETS: WeakKeyDictionary[MarginProblem, Array] = WeakKeyDictionary()
"""Declared subsets, by the problem: they are computed once for all backends."""


def has_every_subset(problem: MarginProblem) -> bool:
    """Return True if the form is declared over every subset, so that it holds at any C.

    Parameters
    ----------
    problem : MarginProblem
        Ranking problem.
    """
    return problem.p <= ALL_SUBSETS


def declared_subsets(problem: MarginProblem) -> Array:
    """Return the subsets over which a problem's form is declared.

    Parameters
    ----------
    problem : MarginProblem
        Ranking problem.

    Returns
    -------
    ndarray of shape (subsets, p)
        Indicators, 0 or 1.
    """
    if problem not in _SUBSETS:
        _SUBSETS[problem] = (
            _every_subset(problem.p) if has_every_subset(problem) else _violated_subsets(problem)
        )
    return _SUBSETS[problem]


def _every_subset(p: int) -> Array:
    """Return all of {0,1}^p, (2^p, p)."""
    return np.array(list(product((0.0, 1.0), repeat=p)), dtype=np.float64).reshape(2**p, p)


def _violated_subsets(problem: MarginProblem) -> Array:
    """Return the subsets that solutions over the subsets so far violate most, (cuts, p)."""
    weight = problem.unit_weights
    D = dense(problem.rows.matrix @ problem.features()) * weight[:, None]
    subsets = [np.zeros(len(D)), np.ones(len(D))]
    for _ in range(MOST_CUTS):
        chosen = np.array(subsets)
        w, xi = _over_subsets(chosen @ D, chosen @ weight, problem.C)
        violations = weight - D @ w
        if np.maximum(violations, 0.0).sum() - xi <= CUT_TOLERANCE * (1 + abs(xi)):
            return chosen
        subsets.append((violations > 0).astype(np.float64))
    raise ValueError(str(refuse_size(f"{MOST_CUTS} subsets of the 1-slack form are not enough")))


def _over_subsets(cuts: Array, least: Array, C: float) -> tuple[Array, float]:
    """Solve min 1/2 |w|^2 + C xi s.t. cuts w >= least - xi.

    CLARABEL is called directly, because cvxpy takes longer to compile the problem. An
    inaccurate solution suffices, because the next cut removes its violation.
    """
    # Imported here: no other function of the module needs CLARABEL.
    from scipy import sparse

    k, d = cuts.shape
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = (
        False,
        1e-11,
        1e-11,
        1e-11,
    )
    squares, costs = (
        sparse.diags_array(np.append(np.ones(d), 0.0), format="csc"),
        np.append(np.zeros(d), C),
    )
    rows = sparse.csc_array(np.column_stack([-cuts, -np.ones(k)]))
    answer = clarabel.DefaultSolver(
        squares, costs, rows, -least, [clarabel.NonnegativeConeT(k)], settings
    ).solve()
    if answer.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ValueError(
            "not declared: the problem is too badly scaled for the cutting planes of the "
            "1-slack form"
        )
    x = np.array(answer.x)
    return x[:d], float(x[d])
