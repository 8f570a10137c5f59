"""Bounds on the derivatives of the optimal value, from the gap of one point.

By Danskin's theorem these derivatives are values at an optimum, so that bounds on the
slacks u_r of all optima bound them:

    in C            sum_r weight_r loss(u_r)
    in weight_r     C loss(u_r)
    in t_r          alpha_r: 0 where u_r < 0, c_r (squared hinge: 2 c_r u_r) where u_r > 0,
                    between them elsewhere

The derivatives to the left and to the right both lie in their interval, also at a
nondifferentiable point.

References
----------
J. M. Danskin, The theory of max-min (1966).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.bounds.stability import Stability
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import round_toward

Bounds = tuple[Array, Array]
"""Lower and upper bounds of all rows, (p,) each."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Intervals of the derivatives of the optimal value, to the left and to the right.

    Parameters
    ----------
    cost : tuple[float, float]
        Derivative in C.
    weights : Bounds
        Derivative in the weight of each row.
    targets : Bounds
        Derivative in the t of each row: the row's multiplier at all optima.
    """

    cost: tuple[float, float]
    weights: Bounds
    targets: Bounds


# An overflow gives an infinite bound, which proves nothing.
@np.errstate(all="ignore")
def sensitivity(ball: Stability) -> Sensitivity:
    """Return the derivative intervals that a ball around all optimal functions proves.

    Parameters
    ----------
    ball : Stability
        Ball around all optimal functions, of any eps.

    Returns
    -------
    Sensitivity
        Intervals in C, in the weights and in the targets.

    Raises
    ------
    ValueError
        If there are hard rows, whose multipliers have no bound, or too many pairs to list
        them.
    """
    problem = ball.problem
    if np.isinf(problem.costs).any():
        raise ValueError(
            "hard rows have no derivative in general, as a change may make them infeasible; "
            "give finite costs"
        )
    # Slacks and losses are at least 0: outward rounding below 0 is clipped.
    ends = [np.maximum(u, 0.0) for u in ball.slacks()]
    costs = [problem.rows.spread(c) for c in problem.group_costs_within]
    losses = [
        round_toward(u * u, way) if problem.squared else u
        for u, way in zip(ends, (-1, 1), strict=True)
    ]
    least, most = (np.maximum(loss, 0.0) for loss in losses)
    weights = (
        np.maximum(round_toward(problem.C * least, -1), 0.0),
        round_toward(problem.C * most, 1),
    )
    weight = problem.unit_weights
    # A row of weight 0 adds nothing, even if its loss is unbounded: 0 * inf is NaN.
    shares = (
        np.maximum(round_toward(weight * least, -1), 0.0),
        np.where(weight > 0, round_toward(weight * most, 1), 0.0),
    )
    low, high = (
        float(round_toward(math.fsum(share), way))
        for share, way in zip(shares, (-1, 1), strict=True)
    )
    if problem.squared:
        targets = [
            round_toward(2 * c * u, way) for c, u, way in zip(costs, ends, (-1, 1), strict=True)
        ]
    else:
        rows = ball.rows()
        targets = [np.where(rows > 0, costs[0], 0.0), np.where(rows < 0, 0.0, costs[1])]
    below, above = (np.where(problem.free, 0.0, target) for target in targets)
    return Sensitivity((max(low, 0.0), high), weights, (np.maximum(below, 0.0), above))
