"""Hypothesis strategies for data of every task, with difficult cases on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from equimargin.formulations import Kernel, linear, polynomial, rbf
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs import Program, program_from_arrays

Draw = st.DrawFn


class Classes(NamedTuple):
    """Features X, shape (m, d), and labels y in {-1, +1}, shape (m,)."""

    X: Array
    y: Array


class OrdinalData(NamedTuple):
    """Features X, shape (m, d), and y, shape (m,), in {0, ..., levels - 1}."""

    X: Array
    y: Array
    levels: int


class Targets(NamedTuple):
    """Features X, shape (m, d), targets y, shape (m,), and epsilon >= 0."""

    X: Array
    y: Array
    epsilon: float


class Relevances(NamedTuple):
    """Features X, shape (m, d), relevances y, (m,), and queries qid, (m,), or None."""

    X: Array
    y: Array
    qid: NDArray[np.int64] | None


def scales(tails: bool = True) -> st.SearchStrategy[float]:
    """Return a strategy of positive factors.

    With `tails` they are, with equal probabilities, close to 1, anywhere from 1e-6 to
    1e6, or close to one of these ends.

    Parameters
    ----------
    tails : bool
        False restricts the factors to [0.1, 10].
    """
    near = st.floats(-1, 1)
    exponents = (
        near if not tails else st.one_of(near, st.floats(-6, 6), st.floats(-6, -4), st.floats(4, 6))
    )
    return exponents.map(lambda e: float(10**e))


@st.composite
def programs(draw: Draw, scaled: bool = True) -> Program:
    """Draw a convex quadratic or linear program of one to five variables.

    Feasible, infeasible and unbounded programs are drawn, with equations, repeated and
    zero rows, a P of any rank, and nonunique optima.

    Parameters
    ----------
    scaled : bool
        True to multiply rows and variables by powers of two from 2^-20 to 2^20.

    Returns
    -------
    Program
        Program of `program_from_arrays`.
    """
    n, m, r, rank = (draw(st.integers(*ends)) for ends in ((1, 5), (0, 2), (0, 8), (0, 3)))
    powers = st.sampled_from([0, 0, 0, -20, -3, 3, 20] if scaled else [0])

    def table(height: int) -> Array:
        return _vector(draw, st.integers(-3, 3), height * n).reshape(height, n)

    def factors(size: int) -> Array:
        return np.exp2(_vector(draw, powers, size))

    A, G, B, q = table(m), table(r), table(rank), table(1)[0]
    G = (
        G[draw(st.lists(st.integers(0, r - 1), min_size=r, max_size=r))]
        if r and draw(st.booleans())
        else G
    )
    inside, room = table(1)[0], _vector(draw, st.integers(0, 2), r)
    b, h = (A @ inside, G @ inside + room) if draw(st.integers(0, 3)) else (np.ones(m), room - 1)
    units, rows = factors(n), factors(r)
    return program_from_arrays(
        B.T @ B * np.multiply.outer(units, units),
        q * units,
        A * units,
        b,
        G * units * rows[:, None],
        h * rows,
        draw(st.integers(-2, 2)),
    )


def kernels() -> st.SearchStrategy[Kernel]:
    """Return a strategy of linear, polynomial and RBF kernels.

    All of them are positive semidefinite.
    """
    gammas = st.sampled_from([1.0, 0.5, 0.1, 2.0])
    return st.one_of(
        st.just(linear()),
        gammas.map(rbf),
        st.builds(polynomial, st.integers(1, 3), gammas, st.sampled_from([1.0, 0.0])),
    )


@st.composite
def features(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Array:
    """Draw features X with m up to `max_points`, some of them degenerate.

    Parameters
    ----------
    max_points, min_points : int
        Maximum and minimum number m of points.
    tails : bool
        True for entries as small as 1e-6 and as large as 1e6.

    Returns
    -------
    ndarray of shape (m, d)
        Features, with d up to 4, or m + 1 or m + 2 for small m.
    """
    m, d = draw(st.integers(min_points, max_points)), draw(st.integers(1, 4))
    if m <= 10 and draw(st.booleans()):
        d = m + draw(st.integers(1, 2))
    entries = draw(
        st.sampled_from(
            [st.integers(-3, 3).map(float), st.integers(-4000, 4000).map(lambda k: k / 1000)]
        )
    )
    if draw(st.booleans()) and draw(st.booleans()):
        # The linear Gram matrix has rank one.
        X = np.outer(_vector(draw, entries, m), _vector(draw, entries, d))
    else:
        X = _vector(draw, entries, m * d).reshape(m, d)
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, m - 1), min_size=m, max_size=m))]
    if draw(st.booleans()):
        X[draw(st.integers(0, m - 1))] = 0.0
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = 0.0
    return X * draw(scales(tails)) if tails else X


@st.composite
def classification_data(
    draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1
) -> Classes:
    """Draw features and labels -1 and +1.

    Points are repeated with equal and with contradicting labels; occasionally there is
    a single class.

    Parameters
    ----------
    max_points, tails, min_points
        See `features`.
    """
    X = draw(features(max_points, tails, min_points))
    y = _vector(draw, st.sampled_from([-1.0, 1.0]), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], -y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    return Classes(X, y)


@st.composite
def regression_data(
    draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1
) -> Targets:
    """Draw features, targets and epsilon.

    There are ties, constant targets, repeated points with different targets, and
    epsilon 0.

    Parameters
    ----------
    max_points, tails, min_points
        See `features`.
    """
    X = draw(features(max_points, tails, min_points))
    # A target of 0.001 alone has an optimum of 1e-6, and backends' tolerances are
    # absolute at that size.
    fine = 1000 if tails else 10
    grids = [
        st.integers(-3, 3).map(float),
        st.integers(-3 * fine, 3 * fine).map(lambda k: k / fine),
    ]
    y = _vector(draw, draw(st.sampled_from(grids)), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], y[0] + 1.0
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    epsilon = draw(st.sampled_from([0.1, 0.0, 0.5, 5.0]))
    scale = draw(scales(tails)) if tails else 1.0
    return Targets(X, y * scale, epsilon * scale)


@st.composite
def ordinal_data(
    draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1
) -> OrdinalData:
    """Draw features and two to four levels.

    There are levels without a point, repeated points of other levels, and occasionally
    a single level.

    Parameters
    ----------
    max_points, tails, min_points
        See `features`.
    """
    X, levels = draw(features(max_points, tails, min_points)), draw(st.integers(2, 4))
    y = _vector(draw, st.integers(0, levels - 1).map(float), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], levels - 1 - y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    return OrdinalData(X, y, levels)


@st.composite
def ranking_data(
    draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1
) -> Relevances:
    """Draw features, relevances and queries.

    There are ties, all distinct levels, queries of one level or one row, and
    occasionally no pair at all.

    Parameters
    ----------
    max_points, tails, min_points
        See `features`.
    """
    X = draw(features(max_points, tails, min_points))
    m = len(X)
    levels = draw(st.sampled_from([2, 3, m]))
    y = _vector(draw, st.integers(0, levels - 1).map(float), m)
    if levels == m and draw(st.booleans()):
        y = np.array(draw(st.permutations(range(m))), dtype=np.float64)
    qid = (
        None
        if draw(st.booleans())
        else np.array(draw(st.lists(st.integers(1, 3), min_size=m, max_size=m)), dtype=np.int64)
    )
    if qid is not None and draw(st.booleans()):
        y[qid == qid[0]] = y[0]
    if qid is not None and m > 2 and draw(st.booleans()):
        qid[0] = 4
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    # At least one pair: most small random examples would have none.
    elif m > 1:
        y[-1] = y[-2] + 1
        if qid is not None:
            qid[-1] = qid[-2]
    return Relevances(X, y, qid)


DATA_OF: Mapping[str, Callable[..., st.SearchStrategy[Any]]] = {
    "classification": classification_data,
    "regression": regression_data,
    "ranking": ranking_data,
    "ordinal": ordinal_data,
}
"""Strategies for the data of the tasks."""


@st.composite
def weights(draw: Draw, size: int, tails: bool = True) -> Array | None:
    """Draw factors of C: None in one of three, otherwise around 1 with zeros.

    Parameters
    ----------
    size : int
        Number of factors.
    tails : bool
        True to draw an infinite factor occasionally.

    Returns
    -------
    ndarray of shape (size,) or None
        Factors.
    """
    if draw(st.integers(0, 2)) == 0:
        return None
    w = _vector(draw, st.sampled_from([1.0, 0.5, 3.0]), size)
    if draw(st.booleans()):
        w[draw(st.integers(0, size - 1))] = 0.0
    if tails and draw(st.integers(0, 2)) == 0:
        w[draw(st.integers(0, size - 1))] = np.inf
    return w


def _vector(draw: Draw, entries: st.SearchStrategy[float], size: int) -> Array:
    return np.array(draw(st.lists(entries, min_size=size, max_size=size)), dtype=np.float64)
