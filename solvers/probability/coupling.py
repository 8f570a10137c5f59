"""Probabilities of k classes from pairwise ones, r_ij, with r_ij + r_ji = 1.

    wlw              min over p, 1'p = 1      sum over i < j of (r_ji p_i - r_ij p_j)^2
    bradley_terry    min over theta           sum over i != j of
                                              n_ij r_ij log(1 + exp(theta_j - theta_i)),
                     p_i ~ exp(theta_i)

r_ij is the probability of class i if only i and j are possible. Neither problem
requires p >= 0, and both satisfy it at the optimum.

Source: T. Hastie, R. Tibshirani, Classification by pairwise coupling (1998), T's [13];
T.-F. Wu, C.-J. Lin, R. C. Weng, Probability estimates for multi-class classification by
pairwise coupling (2004), second method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.documents.coupling import of_every_two
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.registry import solver

STEPS = 100
"""Maximum number of Newton steps; about ten are usual."""


def wlw(r: ArrayLike) -> Array:
    """Couple by the method of Wu, Lin and Weng: one linear system with p >= 0.

        [ Q  1 ] [ p ]   [ 0 ]
        [ 1' 0 ] [ b ] = [ 1 ]      Q_ii = sum over s != i of r_si^2,  Q_ij = -r_ji r_ij

    Parameters
    ----------
    r : array-like of shape (..., k, k)
        Probabilities of i against j, in [0, 1]; the diagonal is ignored. Values below
        1e-7 count as 1e-7, and likewise near 1.

    Returns
    -------
    ndarray of shape (..., k)
        Class probabilities.

    Raises
    ------
    ValueError
        If r has another shape, a number outside [0, 1], or r_ij + r_ji other than 1.

    References
    ----------
    Wu, Lin and Weng (2004), section 4.2.
    """
    R = of_every_two(r)
    k = R.shape[-1]
    system = np.zeros((*R.shape[:-2], k + 1, k + 1))
    system[..., :k, :k] = -R * np.swapaxes(R, -1, -2)
    system[..., range(k), range(k)] = (R**2).sum(axis=-2)
    system[..., :k, k] = system[..., k, :k] = 1.0
    right = np.zeros((*R.shape[:-2], k + 1, 1))
    right[..., k, 0] = 1.0
    # p is nonnegative within rounding error.
    p = np.maximum(np.linalg.solve(system, right)[..., :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def bradley_terry(r: ArrayLike, counts: ArrayLike | None = None) -> Array:
    """Couple by the model of Bradley and Terry: fit p_i / (p_i + p_j) to r_ij.

    The fit is in the sense of Kullback and Leibler. At the optimum sum_j n_ij p_i /
    (p_i + p_j) = sum_j n_ij r_ij for every class i. Newton's method in theta = log p.

    Parameters
    ----------
    r : array-like of shape (..., k, k)
        As in `wlw`.
    counts : array-like of shape (k, k) or None
        n_ij = n_ji > 0, the number of points behind r_ij; 1 by default.

    Returns
    -------
    ndarray of shape (..., k)
        Class probabilities.

    Raises
    ------
    ValueError
        As in `wlw`; if counts has another shape, or is not positive, finite and
        symmetric.

    References
    ----------
    Hastie and Tibshirani (1998), section 2.
    """
    # Imported here: no other function of this module needs it, and every comparison
    # imports the module.
    from scipy.special import expit, softmax

    R = of_every_two(r)
    k = R.shape[-1]
    n = np.ones((k, k)) if counts is None else check_reals(counts, "counts").copy()
    np.fill_diagonal(n, 0.0)
    if (
        n.shape != (k, k)
        or not np.isfinite(n).all()
        or not (n[~np.eye(k, dtype=bool)] > 0).all()
        or (n != n.T).any()
    ):
        raise ValueError(f"counts must be a symmetric {k} x {k} matrix of positive finite numbers")
    theta = np.zeros(R.shape[:-1])

    def value(theta: Array) -> Array:
        terms = n * R * np.logaddexp(0.0, theta[..., None, :] - theta[..., :, None])
        return np.asarray(terms.sum(axis=(-2, -1)))

    for _ in range(STEPS):
        mu = expit(theta[..., :, None] - theta[..., None, :])
        gradient = (n * (mu - R)).sum(axis=-1)
        spread = n * mu * (1 - mu)
        H = np.eye(k) * spread.sum(axis=-1)[..., None] - spread
        # The term 1 / k keeps 1'theta = 0, which H leaves open.
        step = -np.linalg.solve(H + 1 / k, gradient[..., None])[..., 0]
        share, now = np.ones(R.shape[:-2]), value(theta)
        while True:
            # A matrix whose step no longer decreases its value is left where it is.
            share = np.where(share > np.finfo(float).eps, share, 0.0)
            rises = (share > 0) & (value(theta + share[..., None] * step) >= now)
            if not rises.any():
                break
            share = np.where(rises, share / 2, share)
        if not share.any():
            break
        theta = theta + share[..., None] * step
    return np.asarray(softmax(theta, axis=-1))


@solver(
    "coupling.wlw.linear_system", "coupling.wlw", algorithm="one linear system of k + 1 equations"
)
def linear_system(problem: ProgramProblem) -> Data:
    """Solve for the probabilities.

    Parameters
    ----------
    problem : ProgramProblem
        Problem with the data r.
    """
    d = problem.data
    return {"p": wlw(d["r"])}
