"""Random programs of machine learning and of degenerate optimisation, by kind.

Data are "integer" grids, "degenerate" (of rank one, repeated points, zero rows and
columns, contradicting or equal labels), "float", or "scaled" by powers of ten from 1e-5
to 1e5. Programs of `HARD` do not depend on these kinds of data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.programs import Program, program_from_arrays

Array = NDArray[np.float64]
Rng = np.random.Generator
DATA = ("integer", "degenerate", "float", "scaled")
"""Kinds of data."""


def made(P: Any, q: Any, A: Any = (), b: Any = (), G: Any = (), h: Any = ()) -> Program:
    """Make the program of arrays; A and G may be empty."""
    n = len(q)
    A, G = (np.asarray(M, dtype=np.float64).reshape(-1, n) for M in (A, G))
    q, b, h = (np.asarray(v, dtype=np.float64) for v in (q, b, h))
    return program_from_arrays(P, q, A, b, G, h)


def at_least_0(n: int, unknowns: range | None = None) -> Array:
    """Return the rows -x_j <= 0."""
    return -np.eye(n)[list(range(n) if unknowns is None else unknowns)]


def points(rng: Rng, m: int, d: int, data: str) -> tuple[Array, Array]:
    """Draw X (m, d) and labels y (m,)."""
    X = (
        rng.normal(size=(m, d))
        if data == "float"
        else rng.integers(-3, 4, (m, d)).astype(np.float64)
    )
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    case = rng.integers(5) if data == "degenerate" else -1
    if case == 0:
        X = np.outer(rng.integers(-2, 3, m), rng.integers(-2, 3, d)).astype(np.float64)
    if case in (1, 4):
        X = X[rng.integers(0, m, m)]
    if case == 2:
        X[rng.integers(m)], X[:, rng.integers(d)] = 0, 0
    if case == 3 and m > 1:
        X[-1], y[-1] = X[0], -y[0]
    if case == 4:
        y[:] = 1
    return (X * 10.0 ** rng.uniform(-5, 5) if data == "scaled" else X), y


def cost(rng: Rng, data: str) -> float:
    return float(10 ** rng.uniform(-5, 5)) if data == "scaled" else float(rng.choice([0.5, 1, 4]))


def squares(size: int, of: int, weight: float = 1.0) -> Array:
    """Return P of weight / 2 times the squares of the first variables."""
    return np.diag([weight] * size + [0.0] * (of - size))


def svm(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min 1/2 |w|^2 + C 1'xi  s.t.  y_i (w'x_i + b) >= 1 - xi_i,  xi >= 0."""
    X, y = points(rng, m, d, data)
    n, slack = d + 1 + m, np.full(m, cost(rng, data))
    margins = np.column_stack([-y[:, None] * X, -y, -np.eye(m)])
    G, h = np.vstack([margins, at_least_0(n, range(d + 1, n))]), np.append(-np.ones(m), np.zeros(m))
    return made(squares(d, n), np.append(np.zeros(d + 1), slack), G=G, h=h)


def svm_dual(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min 1/2 |w|^2 - 1'a  s.t.  w = sum a_i y_i x_i,  y'a = 0,  0 <= a <= C.

    For integer or degenerate data w is eliminated, and the quadratic form is dense.
    """
    X, y = points(rng, m, d, data)
    Z, box = y[:, None] * X, np.append(np.zeros(m), np.full(m, cost(rng, "integer")))
    if data in ("integer", "degenerate"):
        return made(Z @ Z.T, -np.ones(m), [y], [0.0], np.vstack([-np.eye(m), np.eye(m)]), box)
    A = np.vstack([np.column_stack([-np.eye(d), Z.T]), np.append(np.zeros(d), y)])
    bounds = np.column_stack([np.zeros((2 * m, d)), np.vstack([-np.eye(m), np.eye(m)])])
    return made(
        squares(d, d + m), np.append(np.zeros(d), -np.ones(m)), A, np.zeros(d + 1), bounds, box
    )


def hard_margin(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min 1/2 |w|^2  s.t.  y_i (w'x_i + b) >= 1, separable or not."""
    X, y = points(rng, m, d, data)
    y = np.where(X @ rng.normal(size=d) + 0.1 > 0, 1.0, -1.0) if rng.random() < 0.6 else y
    return made(
        squares(d, d + 1), np.zeros(d + 1), G=np.column_stack([-y[:, None] * X, -y]), h=-np.ones(m)
    )


def one_class(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min 1/2 |w|^2 - rho + 1'xi / (nu m)  s.t.  w'x_i >= rho - xi_i,  xi >= 0."""
    X, _ = points(rng, m, d, data)
    n, nu = d + 1 + m, float(rng.choice([0.25, 0.5, 1]))
    G = np.vstack([np.column_stack([-X, np.ones(m), -np.eye(m)]), at_least_0(n, range(d + 1, n))])
    return made(
        squares(d, n),
        np.concatenate([np.zeros(d), [-1.0], np.full(m, 1 / (nu * m))]),
        G=G,
        h=np.zeros(2 * m),
    )


def lasso(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min |r|^2 + lambda 1'(u + v)  s.t.  r = X (u - v) - t,  u, v >= 0."""
    X, _ = points(rng, m, d, data)
    n, t = m + 2 * d, rng.integers(-3, 4, m).astype(np.float64)
    q = np.append(np.zeros(m), np.full(2 * d, float(rng.choice([0.5, 1, 3]))))
    return made(
        squares(m, n, 2.0),
        q,
        np.column_stack([np.eye(m), -X, X]),
        -t,
        at_least_0(n, range(m, n)),
        np.zeros(2 * d),
    )


def quantile(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min tau 1'u + (1 - tau) 1'v  s.t.  X w + u - v = t,  u, v >= 0."""
    X, _ = points(rng, m, d, data)
    n, tau = d + 2 * m, float(rng.choice([0.25, 0.5, 0.75]))
    q = np.concatenate([np.zeros(d), np.full(m, tau), np.full(m, 1 - tau)])
    A = np.column_stack([X, np.eye(m), -np.eye(m)])
    return made(None, q, A, rng.integers(-3, 4, m), at_least_0(n, range(d, n)), np.zeros(2 * m))


def one_norm_svm(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min |w|_1 + 2 1'xi  s.t.  y_i (w'x_i + b) >= 1 - xi_i,  xi >= 0, w = u - v."""
    X, y = points(rng, m, d, data)
    n, Z = 2 * d + 1 + m, y[:, None] * X
    signed = np.vstack([at_least_0(n, range(2 * d)), at_least_0(n, range(2 * d + 1, n))])
    G, h = (
        np.vstack([np.column_stack([-Z, Z, -y, -np.eye(m)]), signed]),
        np.append(-np.ones(m), np.zeros(2 * d + m)),
    )
    return made(None, np.concatenate([np.ones(2 * d), [0.0], np.full(m, 2.0)]), G=G, h=h)


def least_squares(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min |X w - y|^2 for integer or degenerate data, else a separable quadratic.

    Half of the time 1/2 |w|^2 is added. There are no constraints.
    """
    X, y = points(rng, m, d, data)
    ridge = np.eye(d) if rng.random() < 0.5 else np.zeros((d, d))
    if data in ("integer", "degenerate"):
        return made(2 * X.T @ X + ridge, -2 * X.T @ y)
    return made(np.diag(rng.random(d)) + ridge, np.ones(d))


def no_strict_complementarity(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw min 1/2 |B (x - x0)|^2  s.t.  x >= 0, x0 >= 0: all multipliers are 0."""
    B, x0 = rng.integers(-2, 3, (max(1, d // 2), m)).astype(np.float64), rng.integers(0, 3, m)
    return made(B.T @ B, -B.T @ B @ x0, G=at_least_0(m), h=np.zeros(m))


def any_quadratic(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw small integers, feasible or not, with a lower bound or not."""
    B, k = (
        rng.integers(-2, 3, (int(rng.integers(0, d + 1)), d)).astype(np.float64),
        int(rng.integers(0, 2)),
    )
    A, G = rng.integers(-2, 3, (k, d)), rng.integers(-2, 3, (m, d))
    return made(
        B.T @ B, rng.integers(-3, 4, d), A, rng.integers(-2, 3, k), G, rng.integers(-1, 4, m)
    )


def any_linear(rng: Rng, m: int, d: int, data: str) -> Program:
    """Draw small integers, x >= 0, many rows through the origin."""
    ends = np.append(rng.integers(0, 3, m) * (rng.random(m) < 0.5), np.zeros(d))
    return made(
        None,
        rng.integers(-2, 3, d),
        G=np.vstack([rng.integers(-2, 3, (m, d)), at_least_0(d)]),
        h=ends,
    )


KINDS: tuple[Callable[[Rng, int, int, str], Program], ...] = (
    *(svm, svm_dual, hard_margin, one_class, lasso, quantile, one_norm_svm, least_squares),
    *(no_strict_complementarity, any_quadratic, any_linear),
)
"""Programs with m points or rows and d features or variables."""


def table_rows(a: int, b: int) -> Array:
    """Return the matrix that maps an a x b table to its sums of rows and columns."""
    return np.vstack([np.kron(np.eye(a), np.ones(b)), np.kron(np.ones(a), np.eye(b))])


def transport(rng: Rng) -> Program:
    """Draw min c'x over tables x >= 0 with given sums of rows and columns.

    The sums are linearly dependent.
    """
    a, b = (int(v) for v in rng.integers(2, 6, 2))
    supply = rng.integers(0, 3, a)
    demand = np.bincount(rng.integers(0, b, supply.sum()), minlength=b)
    return made(
        None,
        rng.integers(0, 3, a * b),
        table_rows(a, b),
        np.append(supply, demand),
        at_least_0(a * b),
        np.zeros(a * b),
    )


def assignment(rng: Rng) -> Program:
    """Draw a transport with all sums 1, whose vertices are all degenerate."""
    n = int(rng.integers(2, 7))
    return made(
        None,
        rng.integers(0, 2, n * n),
        table_rows(n, n),
        np.ones(2 * n),
        at_least_0(n * n),
        np.zeros(n * n),
    )


def redundant(rng: Rng) -> Program:
    """Draw an objective over a polyhedral cone with repeated rows, within a box."""
    d = int(rng.integers(2, 6))
    G = rng.integers(-1, 2, (12, d)).astype(np.float64)
    G = np.vstack([G, G, 2 * G[:4], np.eye(d), -np.eye(d)])
    return made(None, rng.integers(-2, 3, d), G=G, h=np.append(np.zeros(28), np.ones(2 * d)))


def tight_at_the_optimum(rng: Rng) -> Program:
    """Draw min 1/2 |B (x - x0)|^2 with n rows active at x0, and multipliers 0."""
    n = int(rng.integers(3, 15))
    B = rng.integers(-2, 3, (int(rng.integers(1, n)), n)).astype(np.float64)
    x0, G = rng.integers(0, 2, n).astype(np.float64), rng.integers(-2, 3, (n, n)).astype(np.float64)
    return made(
        B.T @ B, -B.T @ B @ x0, G=np.vstack([G, at_least_0(n)]), h=np.append(G @ x0, np.zeros(n))
    )


def scaled_unknowns(rng: Rng) -> Program:
    """Draw a quadratic program with variables in units from 2^-20 to 2^20."""
    n = int(rng.integers(3, 10))
    D = np.diag(np.exp2(rng.integers(-20, 20, n)))
    B, G = rng.integers(-3, 4, (n, n)) @ D, rng.integers(-2, 3, (2 * n, n)) @ D
    return made(B.T @ B, rng.integers(-3, 4, n) @ D, G=G, h=rng.integers(0, 4, 2 * n))


def nearly_infeasible(rng: Rng) -> Program:
    """Draw a program with two opposite rows, feasible or not by 2^-8 to 2^-45."""
    n = int(rng.integers(2, 6))
    G, room = (
        rng.integers(-2, 3, (6, n)).astype(np.float64),
        float(rng.choice([-1, 1])) * 2.0 ** -float(rng.integers(8, 45)),
    )
    P = np.eye(n) if rng.random() < 0.5 else None
    rows = np.vstack([G, G[:1], -G[:1], np.eye(n), -np.eye(n)])
    ends = np.concatenate([np.full(6, 2.0), [1.0, -1.0 + room], np.full(2 * n, 3.0)])
    return made(P, rng.integers(-2, 3, n), G=rows, h=ends)


def klee_minty(rng: Rng) -> Program:
    """Return the cube of Klee and Minty, of 2 to 9 variables."""
    n = int(rng.integers(2, 10))
    G = np.vstack(
        [
            np.tril(2.0 ** np.add.outer(np.arange(n), 1 - np.arange(n)), -1) + np.eye(n),
            at_least_0(n),
        ]
    )
    return made(
        None,
        -(2.0 ** np.arange(n - 1, -1, -1)),
        G=G,
        h=np.append(5.0 ** np.arange(1, n + 1), np.zeros(n)),
    )


HARD: tuple[Callable[[Rng], Program], ...] = (
    *(
        transport,
        assignment,
        redundant,
        tight_at_the_optimum,
        scaled_unknowns,
        nearly_infeasible,
        klee_minty,
    ),
)
"""Degenerate and badly scaled programs."""
