"""Probabilities of k classes from those of every two: r_ij is that of class i where only i and j are possible, r_ij + r_ji = 1.

    wlw              min over p, 1'p = 1      sum over i < j of (r_ji p_i - r_ij p_j)^2
    bradley_terry    min over theta           sum over i != j of n_ij r_ij log(1 + exp(theta_j - theta_i)),      p_i ~ exp(theta_i)

Neither says that p >= 0, and both have it at the optimum.

Source: T. Hastie, R. Tibshirani, Classification by pairwise coupling (1998), T's [13];
T.-F. Wu, C.-J. Lin, R. C. Weng, Probability estimates for multi-class classification by
pairwise coupling (2004), second method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.documents.coupling import of_every_two
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.registry import solver

STEPS = 100
"""Newton steps, at most; about ten are usual."""


def wlw(r: ArrayLike) -> Array:
    """Couple by the method of Wu, Lin and Weng: one linear system, of which the solution is never negative.

        [ Q  1 ] [ p ]   [ 0 ]
        [ 1' 0 ] [ b ] = [ 1 ]      Q_ii = sum over s != i of r_si^2,  Q_ij = -r_ji r_ij

    Parameters
    ----------
    r : ArrayLike
        (..., k, k) probabilities of i against j, in [0, 1]; the diagonal does not
        matter. Below 1e-7 they count as 1e-7, and so beside 1.

    Returns
    -------
    p
        (..., k), the classes' probabilities.

    Raises
    ------
    ValueError
        Another shape, a number outside [0, 1], r_ij + r_ji other than 1.

    Source: Wu, Lin and Weng (2004), section 4.2.
    """
    R = of_every_two(r)
    k = R.shape[-1]
    system = np.zeros((*R.shape[:-2], k + 1, k + 1))
    system[..., :k, :k] = -R * np.swapaxes(R, -1, -2)
    system[..., range(k), range(k)] = (R**2).sum(axis=-2)
    system[..., :k, k] = system[..., k, :k] = 1.0
    right = np.zeros((*R.shape[:-2], k + 1, 1))
    right[..., k, 0] = 1.0
    p = np.maximum(
        np.linalg.solve(system, right)[..., :k, 0], 0.0
    )  # never below 0 but for rounding
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def bradley_terry(r: ArrayLike, counts: ArrayLike | None = None) -> Array:
    """Couple by the model of Bradley and Terry: p_i / (p_i + p_j) is to be near r_ij, in the sense of Kullback and Leibler.

    At the optimum sum_j n_ij p_i / (p_i + p_j) = sum_j n_ij r_ij for every class i. Newton's method in theta = log p.

    Parameters
    ----------
    r : array-like of shape (k, k)
        As in `wlw`.
    counts : ArrayLike | None of shape (k, k)
        n_ij = n_ji > 0, how many points r_ij is from; 1 by default.

    Returns
    -------
    p
        (k,), the classes' probabilities.

    Raises
    ------
    ValueError
        As in `wlw`; counts of another shape, that are not positive and finite or not
        symmetric.

    Source: Hastie and Tibshirani (1998), section 2.
    """
    R = of_every_two(r)
    if R.ndim != 2:
        raise ValueError(f"r must be a square matrix, not of shape {R.shape}")
    k = len(R)
    n = np.ones((k, k)) if counts is None else check_reals(counts, "counts").copy()
    np.fill_diagonal(n, 0.0)
    if (
        n.shape != R.shape
        or not np.isfinite(n).all()
        or not (n[~np.eye(k, dtype=bool)] > 0).all()
        or (n != n.T).any()
    ):
        raise ValueError(f"counts must be a symmetric {k} x {k} matrix of positive finite numbers")
    theta = np.zeros(k)

    def value(theta: Array) -> float:
        return float((n * R * np.logaddexp(0.0, theta[None, :] - theta[:, None])).sum())

    for _ in range(STEPS):
        mu = expit(theta[:, None] - theta[None, :])
        gradient = (n * (mu - R)).sum(axis=1)
        spread = n * mu * (1 - mu)
        H = np.diag(spread.sum(axis=1)) - spread
        step = -np.linalg.solve(H + 1 / k, gradient)  # 1'theta stays 0, which H leaves open
        share, now = 1.0, value(theta)
        while share > np.finfo(float).eps and value(theta + share * step) >= now:
            share /= 2
        if share <= np.finfo(float).eps:
            break
        theta = theta + share * step
    return np.asarray(softmax(theta))


@solver(
    "coupling.wlw.linear_system", "coupling.wlw", algorithm="one linear system of k + 1 equations"
)
def linear_system(problem: ProgramProblem) -> Data:
    """The probabilities."""
    d = problem.data
    return {"p": wlw(d["r"])}
