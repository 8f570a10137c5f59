"""Votes of the functions of all pairs of classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from equimargin.formulations.numeric.arrays import Array


def count_votes(f: Array, k: int) -> Array:
    """Return the votes of every class, with ties broken by the decision values.

    Parameters
    ----------
    f : ndarray of shape (n, k (k - 1) / 2)
        Decision values of the pairs (0, 1), (0, 2), ..., (1, 2), ...; a value of at
        least 0 is a vote for the second class of the pair.
    k : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n, k)
        Votes, plus a number in (-1/3, 1/3) that increases with the sum of the class's
        decision values.

    References
    ----------
    S. Knerr, L. Personnaz, G. Dreyfus. Single-layer learning revisited (1990).
    """
    votes, sums = np.zeros((len(f), k)), np.zeros((len(f), k))
    for (first, second), values in zip(combinations(range(k), 2), f.T, strict=True):
        votes[:, first] += values < 0
        votes[:, second] += values >= 0
        sums[:, first] -= values
        sums[:, second] += values
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))
