"""Construction of a program from arrays, with checked shapes and rational entries."""

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
    """Return the program min 1/2 x'Px + q'x + c  s.t.  A x = b,  h - Gx in K.

    K is R+^k x second-order cones. Matrices are arrays, lists of rows, or scipy's
    sparse ones; numbers are floats, integers or Fractions.

    Parameters
    ----------
    P : array-like of shape (n, n)
        Symmetric matrix; None for a linear program.
    q : array-like of shape (n,)
        Linear term.
    A : array-like of shape (m, n)
        Matrix of the equations; None without equations.
    b : array-like of shape (m,)
        Right-hand side of the equations.
    G : array-like of shape (r, n)
        Matrix of the inequalities; None without inequalities.
    h : array-like of shape (r,)
        Right-hand side of the inequalities.
    c : float or Fraction
        Constant of the objective.
    cones : sequence of int
        Numbers of rows (t, v) of the second-order cones |v| <= t; they are the last
        rows of G.
    reading : Reading
        Interpretation of floats.

    Returns
    -------
    Program
        Program in rational numbers.

    Raises
    ------
    ValueError
        If shapes do not fit, P is not symmetric, a number is not finite, or cones do
        not fit G.
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
    """Return a vector as rational numbers.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers.
    reading : Reading
        Interpretation of floats.
    """
    return tuple(
        read(value, reading)
        for value in (values.tolist() if isinstance(values, np.ndarray) else values)
    )


def matrix(M: Any, height: int, width: int, name: str, reading: Reading) -> Matrix:
    """Return a matrix as rational numbers.

    Parameters
    ----------
    M : array-like or sparse array of shape (height, width)
        Matrix; None for zeros.
    height : int
        Number of rows.
    width : int
        Number of columns.
    name : str
        Name of the argument.
    reading : Reading
        Interpretation of floats.

    Raises
    ------
    ValueError
        If the matrix has another shape.
    """
    if M is None:
        return Matrix(({},) * height, width)
    rows = _sparse_rows(M, reading) if hasattr(M, "tocsr") else _dense_rows(M, reading)
    columns = (
        M.shape[1]
        if hasattr(M, "shape") and len(M.shape) == 2
        else max((len(row) for row in M), default=width)
    )
    if (len(rows), columns) != (height, width) and (len(rows), height) != (0, 0):
        raise ValueError(f"{name} is {len(rows)} x {columns}, and {height} x {width} was expected")
    return Matrix(rows, width)


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
