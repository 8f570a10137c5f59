"""Hard margins with thresholds, from the hard ranking of all pairs of levels.

The ranking requires f(x_i) - f(x_j) >= 1 for all y_i > y_j. With thresholds midway
between the levels, 2 f has margins of 1 on both sides of each threshold, and 4 times
the objective of f. The multiplier a of the pair (i, j) becomes 2 a for each of the rows
(i, k) and (j, k) of the threshold k = y_j, so that A'alpha is doubled as well, and
S'alpha = 0.

References
----------
A. Shashua, A. Levin. Ranking with large margin principle: two approaches. NIPS 15
(2003), section 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.links.maps import pairs_of_levels
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import LISTED_PAIRS
from equimargin.solvers.registry import SOLVERS, solver
from equimargin.solvers.requirements import Requirements, without_levels
from equimargin.solvers.solution import Limits, Solution


def _soft_rows(problem: MarginProblem) -> Refusal | None:
    if not isinstance(problem.rows, Levels):
        return without_levels(problem)
    if not np.isinf(problem.group_costs).all():
        return Refusal("some rows are soft; this method needs hard rows only")
    pairs = pairs_of_levels(problem).p
    if pairs > LISTED_PAIRS:
        return Refusal(
            f"{pairs:,} pairs, more than the {LISTED_PAIRS:,} that are listed one by one",
            too_large=True,
        )
    return None


@solver(
    "hard_levels",
    "ord.hard",
    algorithm="the hard ranking of all pairs of levels by its dual active-set method, "
    "with thresholds in the middle",
    requires=Requirements(
        MarginProblem,
        losses=("hinge", "squared_hinge"),
        bias="and thresholds are what this method is for",
        single_entries=True,
        thresholds=np.inf,
        convex=True,
        also=_soft_rows,
    ),
)
def _solve(problem: MarginProblem, limits: Limits) -> Solution:
    """Solve the ranking, and return twice its f, without thresholds."""
    # C may be finite even if all weights are infinite.
    ranked = pairs_of_levels(replace(problem, C=np.inf))
    callback = limits.callback
    if callback is not None:
        limits = replace(
            limits,
            callback=lambda n, low, high, at: callback(
                n, 4 * low, 4 * high, _doubled(problem, ranked, at)
            ),
        )
    solution = SOLVERS["dual_active_set"].run(ranked, limits, None)
    return replace(
        solution,
        problem=problem,
        solver="hard_levels",
        point=_doubled(problem, ranked, solution.point),
        trajectory=(),
    )


def _doubled(problem: MarginProblem, ranked: MarginProblem, point: CanonicalPoint) -> Point:
    """Return the ordinal point, without b, of a point of the ranking."""
    assert isinstance(point, Point)
    w, beta = (None if part is None else 2 * part for part in (point.w, point.beta))
    if point.alpha is None:
        return Point(w=w, beta=beta)
    pairs, multipliers = ranked.rows, np.asarray(point.alpha)
    assert isinstance(pairs, LabelledPairs)
    first = np.asarray(problem.rows.y)[pairs.other].astype(np.int64) * problem.m
    above, below = (
        np.bincount(first + points, 2 * multipliers, problem.p)
        for points in (pairs.preferred, pairs.other)
    )
    return Point(w=w, beta=beta, alpha=np.asarray(above + below))
