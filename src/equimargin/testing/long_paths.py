"""Instances whose regularisation paths are as long as we can make them: exponentially many breakpoints.

A path has at most 3^p pieces of different functions for p rows: rows are at 0, inside
or at the upper bound, and the C with the same rows at each are an interval. Two
families come near. Both have one row more, the anchor, whose multiplier stays at its
upper bound.

Of pairs without weights, the multipliers of the others near lambda = 4 are
z_j = max(-s_j, 0) / |a_j|^2, where s_j is the slack of pair j times lambda. The vectors
have a_j.a_i = 2 |a_i|^2 for i < j, so that each tent has a tent on both of its sides:

    s_1 = lambda - 4 with the other sign,   s_j = s_(j-1) + 2 max(-s_(j-1), 0) - 2^(1-j) = |s_(j-1)| - 2^(1-j)

The signs of s_1, ..., s_n change 2^n - 1 times. What z_j does to earlier rows is
a_j.a_i z_j = 2 max(-s_j, 0) |a_i|^2 / |a_j|^2, and is as small as one likes where
lengths grow fast enough. With weights the family is that of the lasso's adversary of
Mairal and Yu: its dual is the nearest point of a zonotope to a point that moves on a
ray.

Source: J. Mairal, B. Yu, Complexity analysis of the lasso regularization path (2012),
proposition 2; B. Gaertner, M. Jaggi, C. Maria, An exponential lower bound on the
complexity of regularization paths (2012); K. Murty, Computational complexity of
parametric linear complementarity problems (1980).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from equimargin.formulations import MarginProblem, classification, ranking

GROWTH = 8
"""The ratio of the lengths of two vectors, and of two weights, that follow each other."""
LEVEL = 4
"""lambda around which the tents are."""
ANCHOR = 2.0**60
"""Weight of the anchor, whose vector is as much shorter."""


def ranking_with_a_long_path(pairs: int) -> MarginProblem:
    """A ranking of pairs + 1 items with 2^pairs - 1 breakpoints: all items are better than the last one, which is 0.

    Parameters
    ----------
    pairs : int
        At least 1; the number is that which is counted exactly up to 11 of them.
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
    """A classification without a bias with weights of the points and (3^(points - 1) - 1) / 2 breakpoints.

    Parameters
    ----------
    points : int
        At least 2.
    """
    size = points - 1
    signs = (-1.0) ** np.arange(size)
    inverse = np.triu(2 * np.multiply.outer(signs, signs), 1) + np.eye(size)
    vectors = (
        inverse * inverse.sum(axis=1)[:, None]
    )  # the inverse of columns (2, ..., 2, 1, 0, ..., 0)
    weights = float(GROWTH) ** np.arange(size)
    anchor = -(weights @ vectors) / ANCHOR
    return classification(
        np.vstack([vectors, anchor]),
        np.ones(points),
        bias=False,
        sample_weight=[*2 * weights, ANCHOR],
    )


def _product(a: list[Fraction], b: list[Fraction]) -> Fraction:
    """The product of two vectors, the shorter one with zeros."""
    return sum((u * v for u, v in zip(a, b, strict=False)), Fraction(0))
