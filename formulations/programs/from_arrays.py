"""A program from arrays of numbers: its shapes are checked here, and its floats are read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Row, Vector
from equimargin.formulations.programs.reading import Reading, read


def program_from_arrays(
    P: Any = None,
    q: Any = (),
    A: Any = None,
    b: Any = (),
    G: Any = None,
    h: Any = (),
    c: float | Fraction = 0,
    cones: Sequence[int] = (),
    *,
    reading: Reading = "exact",
) -> Program:
    """The program min 1/2 x'Px + q'x + c  s.t.  A x = b,  h - Gx in R+^k x second-order cones.

    Parameters
    ----------
    P : array-like of shape (n, n)
        Symmetric; None for a linear program.
    q : array-like of shape (n,)
    A : array-like of shape (m, n)
        None without equations.
    b : array-like of shape (m,)
    G : array-like of shape (r, n)
        None without inequalities.
    h : array-like of shape (r,)
    c : float | Fraction
        A constant.
    cones : Sequence[int]
        Numbers of rows (t, v) of the second-order cones |v| <= t; they are the last
        rows of G.
    reading : Reading
        How floats are read, "exact" or "fractions".
    Matrices are arrays, lists of rows, or scipy's sparse ones; numbers are floats, integers or Fractions.

    Returns
    -------
    Program
        In rational numbers.

    Raises
    ------
    ValueError
        Shapes that do not fit, a P that is not symmetric, a number that is not finite,
        cones of other sizes.
    """
    n = len(q)
    return Program(
        matrix(P, n, n, "P", reading),
        vector(q, reading),
        matrix(A, len(b), n, "A", reading),
        vector(b, reading),
        matrix(G, len(h), n, "G", reading),
        vector(h, reading),
        read(c, reading),
        tuple(int(size) for size in cones),
        reading=reading,
    )


def vector(values: Any, reading: Reading) -> Vector:
    """The rational numbers of a vector."""
    return tuple(
        read(value, reading)
        for value in (values.tolist() if isinstance(values, np.ndarray) else values)
    )


def matrix(M: Any, height: int, width: int, name: str, reading: Reading) -> Matrix:
    """The rational numbers of a matrix, None being zeros; ValueError unless it is height x width."""
    if M is None:
        return Matrix(({},) * height, width)
    found = _sparse_rows(M, reading) if hasattr(M, "tocsr") else _dense_rows(M, reading)
    wide = (
        M.shape[1]
        if hasattr(M, "shape") and len(M.shape) == 2
        else max((len(row) for row in M), default=width)
    )
    if (len(found), wide) != (height, width) and (len(found), height) != (0, 0):
        raise ValueError(f"{name} is {len(found)} x {wide}, and {height} x {width} was expected")
    return Matrix(found, width)


def _dense_rows(M: Any, reading: Reading) -> tuple[Row, ...]:
    rows = M.tolist() if isinstance(M, np.ndarray) else M
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the rows of a matrix have different lengths")
    return tuple(
        {j: read(entry, reading) for j, entry in enumerate(row) if entry != 0} for row in rows
    )


def _sparse_rows(M: Any, reading: Reading) -> tuple[Row, ...]:
    rows = M.tocsr().copy()
    rows.sum_duplicates()
    ends, columns, entries = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    return tuple(
        {
            j: read(entry, reading)
            for j, entry in zip(columns[start:stop], entries[start:stop], strict=True)
            if entry != 0
        }
        for start, stop in pairwise(ends)
    )
