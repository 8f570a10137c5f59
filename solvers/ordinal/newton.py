"""Newton's method for squared slacks and a linear kernel, on w and all thresholds together.

The objective is quadratic on every set of rows with slack, and its Hessian asks of a point only how many of its thresholds it falls short
of: with D that number, and A the 0-1 matrix of the rows with slack,

    H = [ I + 2 Z' c D Z    -2 Z' c A          ]
        [ -2 A' c Z         2 diag(A' c 1)     ]

so that a step costs what it costs in a classification of the same points. Multipliers are 2 c times the slacks, those of the heavier side
of every threshold scaled down to the balance.

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.ordinal.machine import Machine, OrdinalFit, Run
from equimargin.solvers.solution import Limits

STEPS = 200
"""Newton steps of a run without a limit of its own: 10 are usual."""
DECREASE = 1e-4
"""The part of the promised decrease that a step must bring."""
SHORTEST = 1e-10
"""The shortest part of a Newton step that is tried."""
RIDGE = 1e-12
"""Added to the curvature of a threshold, relative to that of all of them, where no row of it has slack."""


def newton(machine: Machine, limits: Limits) -> OrdinalFit:
    """Solve a machine of squared slacks by Newton's method in features.

    Raises
    ------
    ValueError : slacks that are not squared, or a kernel without explicit features.
    """
    Z = machine.features
    if Z is None or not machine.squared:
        raise ValueError("newton takes squared slacks and a linear kernel; smo takes both losses and every kernel")
    run, S, c = Run(machine, limits, STEPS), machine.S, machine.cost[:, None]
    w, steps = np.zeros(Z.q), 0
    f = Z @ w
    b = machine.thresholds_of(f)
    while True:
        short = np.maximum(1 - S * (f[:, None] - b), 0.0)
        value = float(w @ w) / 2 + float((c * short * short).sum())
        G = _balanced(2 * c * S * short)
        beta = G.sum(axis=1)
        v = Z.rdot(beta)
        dual = float(np.abs(G).sum()) - float(v @ v) / 2 - float((machine.ridge[:, None] * G * G).sum()) / 2
        if run.over(G, w, b, (value, dual), steps):
            break
        gradient = np.concatenate([w - Z.rdot((2 * c * S * short).sum(axis=1)), (2 * c * S * short).sum(axis=0)])
        step = -_solved(machine, short > 0, gradient)
        along, promised, part = Z @ step[: Z.q], float(gradient @ step), 1.0
        while part > SHORTEST:
            w_new, b_new = w + part * step[: Z.q], b + part * step[Z.q :]
            f_new = f + part * along
            if float(w_new @ w_new) / 2 + machine.losses(f_new, b_new) <= value + DECREASE * part * promised:
                break
            part /= 2
        else:
            break
        w, b, f, steps = w_new, b_new, Z @ w_new, steps + 1
    return run.fit()


def _balanced(G: Array) -> Array:
    """Signed multipliers with the heavier side of every column scaled down, so that it sums to 0."""
    up, down = np.maximum(G, 0.0).sum(axis=0), np.maximum(-G, 0.0).sum(axis=0)
    least = np.minimum(up, down)
    scale = [np.divide(least, side, out=np.zeros_like(side), where=side > 0) for side in (up, down)]
    return np.asarray(np.where(G > 0, G * scale[0], G * scale[1]))


def _solved(machine: Machine, active: NDArray[np.bool_], gradient: Array) -> Array:
    """H^-1 times the gradient, with the Hessian H of the rows with slack."""
    Z, weights = machine.features, 2 * machine.cost[:, None] * active
    assert Z is not None
    D = weights.sum(axis=1)
    index = np.flatnonzero(D)
    H = np.zeros((Z.q + machine.thresholds,) * 2)
    H[: Z.q, : Z.q] = Z.gram(index, D[index])
    H[np.arange(Z.q), np.arange(Z.q)] += 1
    H[: Z.q, Z.q :] = -np.stack([Z.rdot(column) for column in weights.T], axis=1)
    H[Z.q :, : Z.q] = H[: Z.q, Z.q :].T
    held = weights.sum(axis=0)
    H[np.arange(Z.q, len(H)), np.arange(Z.q, len(H))] = held + RIDGE * max(float(held.max()), 1.0)
    return np.asarray(cho_solve(cho_factor(H), gradient))
