"""Instances whose regularisation paths have exponentially many breakpoints.

A path has at most 3^p segments for p rows: every multiplier is at 0, strictly between
its bounds or at the upper bound, and the C of one such pattern form an interval. Two
families come close to that. Both have an additional row, the anchor, whose multiplier
stays at its upper bound.

For pairs without weights, the multipliers of the other rows close to lambda = 4 are
z_j = max(-s_j, 0) / |a_j|^2, where s_j = lambda (margin of pair j - 1). The
vectors have a_j.a_i = 2 |a_i|^2 for i < j, so that s_j changes sign on both sides of
every sign change of s_(j-1):

    s_1 = 4 - lambda,
    s_j = s_(j-1) + 2 max(-s_(j-1), 0) - 2^(1-j) = |s_(j-1)| - 2^(1-j)

The signs of s_1, ..., s_n change 2^n - 1 times. The effect of z_j on earlier rows,
a_j.a_i z_j = 2 max(-s_j, 0) |a_i|^2 / |a_j|^2, is arbitrarily small if lengths grow
fast enough. With weights the family is the adversarial lasso of Mairal and Yu: its
dual is the nearest point of a zonotope to a point that moves on a ray.

References
----------
J. Mairal, B. Yu, Complexity analysis of the lasso regularization path (2012),
proposition 2; B. Gaertner, M. Jaggi, C. Maria, An exponential lower bound on the
complexity of regularization paths (2012); K. Murty, Computational complexity of
parametric linear complementarity problems (1980).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from equimargin.formulations import MarginProblem, classification, ranking

GROWTH = 8
"""Ratio of the lengths of consecutive vectors, and of consecutive weights."""
LEVEL = 4
"""Lambda around which the signs change."""
ANCHOR = 2.0**60
"""Weight of the anchor; its vector is shorter by this factor."""


def ranking_with_a_long_path(pairs: int) -> MarginProblem:
    """Return a ranking whose path has 2^pairs - 1 breakpoints.

    It has pairs + 1 items, all better than the last one, which is 0.

    Parameters
    ----------
    pairs : int
        Number of pairs, at least 1; the breakpoints were counted exactly up to 11 pairs.
    """
    size = pairs - 1
    vectors: list[list[Fraction]] = []
    squares: list[Fraction] = []
    for j in range(size):
        row: list[Fraction] = []
        for i, earlier in enumerate(vectors):
            row.append((2 * squares[i] - _product(row, earlier)) / earlier[i])
        vectors.append([*row, Fraction(GROWTH ** (j + 1))])
        squares.append(_product(vectors[j], vectors[j]))
    anchor: list[Fraction] = []
    for j, vector in enumerate(vectors):
        anchor.append((LEVEL - 1 + Fraction(1, 2**j) - _product(anchor, vector)) / vector[j])
    X = np.zeros((pairs + 1, max(size, 1)))
    for j, vector in enumerate(vectors):
        X[j, : j + 1] = [float(v) for v in vector]
    X[size, :size] = [float(v) for v in anchor] if size else []
    X[size, 0] = 1.0 if not size else X[size, 0]
    return ranking(X, np.arange(pairs + 1) < pairs)


def classification_with_a_long_path(points: int) -> MarginProblem:
    """Return a classification whose path has (3^(points - 1) - 1) / 2 breakpoints.

    It has weights and no intercept.

    Parameters
    ----------
    points : int
        Number of points, at least 2.
    """
    size = points - 1
    signs = (-1.0) ** np.arange(size)
    inverse = np.triu(2 * np.multiply.outer(signs, signs), 1) + np.eye(size)
    # `inverse` is the inverse of the matrix of columns (2, ..., 2, 1, 0, ..., 0).
    vectors = inverse * inverse.sum(axis=1)[:, None]
    weights = float(GROWTH) ** np.arange(size)
    anchor = -(weights @ vectors) / ANCHOR
    return classification(
        np.vstack([vectors, anchor]),
        np.ones(points),
        bias=False,
        sample_weight=[*2 * weights, ANCHOR],
    )


def _product(a: list[Fraction], b: list[Fraction]) -> Fraction:
    """Return the product of two vectors, the shorter one padded with zeros."""
    return sum((u * v for u, v in zip(a, b, strict=False)), Fraction(0))
