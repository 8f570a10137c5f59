"""Derivatives at degenerate optima, where they depend on the direction.

There the optimal multipliers are not unique, or rows on the margin have multipliers at
a bound. Along the direction only optimal multipliers of maximum gain sum_r alpha_r g_r
remain optimal: they solve a linear program over alpha + N z, where the columns of N are
a basis of all changes of alpha without a change of f. The bounds that are active for
all of them bound alpha', which minimises

    1/2 |A'alpha' + beta_i psi|^2 + beta_i (1/2 d^2 f(x) / dx_k^2) - g'alpha'
    [ + the quadratic dual term of the squared hinge ]

where beta_i too is chosen, among the multipliers of maximum gain, if a point moves. The
function's derivative is the same for all solutions.

References
----------
A. Shapiro, as in `tangent`.

J. F. Bonnans, A. Shapiro. Perturbation Analysis of Optimization Problems. 2000, section
5.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Row
from equimargin.solvers.exact.numbers import Fractions, as_fractions, fractions
from equimargin.solvers.exact.program.optimum import Optimum, program_optimum
from equimargin.solvers.exact.sensitivity.base import Rows, SensitivityBase
from equimargin.solvers.exact.sensitivity.direction import ZERO, inner
from equimargin.solvers.exact.sensitivity.tangent import Tangent

ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class OptimalFace:
    """Optimal multipliers alpha + N z of maximum gain along a direction.

    Parameters
    ----------
    rows : Rows
        Rows that may change.
    ways : Fractions of shape (rows, k)
        Basis N.
    low, high : Fractions of shape (rows,)
        Bounds of N z.
    gains : Fractions of shape (k,)
        Gain of each entry of z.
    gain : Fraction
        Maximum of gains'z, attained by every z of the face.
    """

    rows: Rows
    ways: Fractions
    low: Fractions
    high: Fractions
    gains: Fractions
    gain: Fraction

    def limits(self, before: int) -> tuple[list[Row], list[Fraction], list[Row], list[Fraction]]:
        """Return G, h, A, b of the z of the face.

        Parameters
        ----------
        before : int
            Number of variables before z.
        """
        G = [_row(row, before) for row in np.concatenate([self.ways, -self.ways]).tolist()]
        A = [_row(self.gains.tolist(), before)] if any(self.gains) else []
        return G, [*self.high.tolist(), *(-self.low).tolist()], A, [self.gain] * len(A)


def with_gain(tangent: Tangent, seconds: float) -> tuple[Tangent, OptimalFace | None]:
    """Return the tangent for all multipliers of maximum gain, and their face.

    Parameters
    ----------
    tangent : Tangent
        Tangent of one optimal alpha.
    seconds : float
        Time limit in seconds of each linear program.

    Returns
    -------
    tangent : Tangent
        Tangent with the bounds that hold for all of these multipliers.
    face : OptimalFace or None
        None if the multipliers are unique.
    """
    base = tangent.base
    rows = np.flatnonzero((tangent.u == 0) & (base.c > 0))
    ways = None if base.squared else _ways(base, rows)
    if ways is None:
        return tangent, None
    gains = np.asarray(tangent.g[rows] @ ways)
    face = OptimalFace(
        rows, ways, -base.alpha[rows], base.c[rows] - base.alpha[rows], fractions(len(gains)), ZERO
    )
    found = [_farthest(face, gains, seconds)]
    face = replace(face, gains=gains, gain=inner(gains, found[0]))
    # For each bound that is active at all z so far, search for a z that leaves it.
    for k in range(len(rows)):
        for end, way in ((face.low, 1), (face.high, -1)):
            if all((ways[k] @ z) == end[k] for z in found):
                found.append(_farthest(face, way * ways[k], seconds))
    falls, rises = tangent.falls.copy(), tangent.rises.copy()
    falls[rows] = [
        any((way @ z) > low for z in found) for way, low in zip(ways, face.low, strict=True)
    ]
    rises[rows] = [
        any((way @ z) < high for z in found) for way, high in zip(ways, face.high, strict=True)
    ]
    return Tangent(base, tangent.way, tangent.u, falls, rises), face


def by_quadratic_program(
    tangent: Tangent, face: OptimalFace | None, seconds: float
) -> tuple[Fractions, Fraction]:
    """Return alpha', (p,), and beta_i of the moving point, or 0 if none moves.

    Parameters
    ----------
    tangent : Tangent
        Tangent with the bounds that hold for all multipliers of maximum gain.
    face : OptimalFace or None
        These multipliers; None if they are unique.
    seconds : float
        Time limit in seconds.

    Raises
    ------
    ArithmeticError
        If the program is too large to be solved in time.
    """
    base, moved, numbers = tangent.base, tangent.way.moved, tangent.base.numbers
    rows = np.concatenate([tangent.free, tangent.edge])
    n = len(rows)
    P = as_fractions(
        [Fraction(int(v), numbers.unit) for v in numbers.block(rows, rows).ravel()]
    ).reshape(n, n)
    q = -tangent.right(rows)
    k = 0 if face is None or moved is None else face.ways.shape[1]
    G, h = _bounds(tangent, rows)
    A = [_row(map(Fraction, numbers.s[rows].tolist()))] if numbers.biased else []
    b = [-inner(numbers.s, tangent.bound)] if numbers.biased else []
    along = fractions(k)
    if face is not None and moved is not None:
        along = np.asarray(moved.entries[face.rows] @ face.ways)
        kappa = numbers.dot(moved.first)
        beside = np.multiply.outer(kappa[rows], along)
        P = np.block([[P, beside], [beside.T, moved.square * np.multiply.outer(along, along)]])
        level = (
            inner(kappa, tangent.bound)
            + base.beta[moved.point] * moved.square
            + inner(moved.bend, base.beta)
        )
        q = np.concatenate([q, level * along])
        more = face.limits(n)
        G, h, A, b = G + more[0], h + more[1], A + more[2], b + more[3]
    x = _least([_row(row) for row in P.tolist()], q.tolist(), A, b, G, h, seconds)
    alpha = tangent.bound.copy()
    alpha[rows] = as_fractions(x[:n])
    return alpha, ZERO if moved is None else base.beta[moved.point] + inner(
        along, as_fractions(x[n:])
    )


def _bounds(tangent: Tangent, rows: Rows) -> tuple[list[Row], list[Fraction]]:
    """Return G and h of the bounds of alpha' in these rows, which are the first variables."""
    G: list[Row] = []
    h: list[Fraction] = []
    squared = tangent.base.squared
    for place, r in enumerate(rows.tolist()):
        if tangent.u[r] == 0 and (squared or not tangent.falls[r]):
            G.append({place: -ONE})
            h.append(ZERO)
        if not squared and not tangent.rises[r]:
            G.append({place: ONE})
            h.append(tangent.way.c[r])
    return G, h


def _ways(base: SensitivityBase, rows: Rows) -> Fractions | None:
    """Return a basis of the changes of alpha that change neither f nor s'alpha, or None.

    It has the shape (rows, k).
    """
    if not len(rows):
        return None
    matrix = np.vstack([base.numbers.block(rows, rows), base.numbers.s[None, rows]])
    found, nullity = flint.fmpz_mat(*matrix.shape, matrix.ravel().tolist()).nullspace()
    if not nullity:
        return None
    columns = [[Fraction(int(found[i, j])) for j in range(nullity)] for i in range(len(rows))]
    return as_fractions([v for row in columns for v in row]).reshape(len(rows), nullity)


def _farthest(face: OptimalFace, way: Fractions, seconds: float) -> Fractions:
    """Return a z of the face of largest way'z."""
    G, h, A, b = face.limits(0)
    return as_fractions(_least([{}] * len(way), (-way).tolist(), A, b, G, h, seconds))


def _least(
    P: list[Row],
    q: list[Fraction],
    A: list[Row],
    b: list[Fraction],
    G: list[Row],
    h: list[Fraction],
    seconds: float,
) -> list[Fraction]:
    """Return a solution of min 1/2 x'P x + q'x  s.t.  A x = b,  G x <= h.

    The program must have a solution.
    """
    if not q:
        return []
    quadratic, equations, limits = (Matrix(tuple(rows), len(q)) for rows in (P, A, G))
    program = Program(quadratic, tuple(q), equations, tuple(b), limits, tuple(h))
    outcome = program_optimum(program, seconds)
    if not isinstance(outcome, Optimum):
        raise ArithmeticError(
            f"the quadratic program of a derivative was not solved: {outcome.reason}"
        )
    return list(outcome.x)


def _row(values: Iterable[Fraction], before: int = 0) -> Row:
    """Return a row of these entries, after `before` columns of 0."""
    return {before + j: v for j, v in enumerate(values) if v}
