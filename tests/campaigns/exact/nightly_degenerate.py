"""Degenerate instances of couplings, misranking, sparsest optima and other functions.

    python -m campaigns exact.nightly_degenerate --seed 1 --examples 200

The references are Clarabel, HiGHS, rational linear systems and brute force. Instances
have points that are equal or 0, contradictions, one class, probabilities of 0 and 1,
constant values, and any scale. Exit status 1 if a result is wrong. If Clarabel finds no
optimum of a function with exponentials, only the optimality conditions are checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from campaigns.runner import Campaign, by_sentence
from equimargin.comparison import compare
from equimargin.formulations import (
    linear,
    one_norm_classification,
    ranking,
    ranking_vector_machine,
    rbf,
)
from equimargin.formulations.documents.coupling import wlw as wlw_family
from equimargin.formulations.documents.general_machine import POWERS, general
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.listed import Pairs
from equimargin.proofs import (
    Agreement,
    FamilyVerdict,
    Verdict,
    fewest_nonzeros,
    least_reduced_excess,
)
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.exact.misranked import least_misranked
from equimargin.solvers.probability.coupling import bradley_terry, wlw
from equimargin.solvers.probability.sigmoid import platt
from ledger.measures.least import average_precision_bound, average_precision_least
from narrow import as_a
from oracles.brute_force import (
    fewest_columns,
    least_by_directions,
    least_by_orders,
    least_precision,
)
from oracles.reduced_graph import excess_by_choice, excess_of_weights

NEAR = 1e-6
"""Relative difference up to which a backend's optimum equals the proven one."""
CONDITION = 1e-8
"""Maximum violation of the conditions of an optimum, relative to the sums in them."""
SURE = 1e-7
"""Probability that replaces 0 in couplings, as in `documents/coupling.py`."""
TIME_LIMIT = 10.0
"""Time limit of an answer, in seconds."""
UNDECIDED = "nothing is wrong, but too few answers agree"
"""Outcome of an instance whose backends fail at an optimum close to 0; it is counted."""


# Each of these functions draws an instance, and returns a fault as text, or "".


def general_machine(rng: np.random.Generator) -> str:
    """Check that all formulations of `svm.general` and its solvers agree.

    The optimum must be Clarabel's for the problem without slacks, too.
    """
    X, y = _few_points(rng)
    sigma, tau = POWERS[int(rng.integers(len(POWERS)))]
    data = {
        "X": X,
        "y": (y > 0).astype(float),
        "C": float(rng.choice([0.125, 1.0, 4.0])),
        "sigma": sigma,
        "tau": tau,
    }
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    short = cp.norm(cp.pos(1 - cp.multiply(y, X @ w + b)), sigma)
    stated = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + data["C"] * cp.power(short, sigma * tau))
    )
    found = compare(
        general(data), solvers=["CLARABEL", "svm.general.*"], time_limit=TIME_LIMIT
    ).families[0]
    return (
        _disagreement(found)
        or _outside(_by_clarabel(stated), found.interval.lower, found.interval.upper)
        or _undecided(found)
    )


def one_norm(rng: np.random.Generator) -> str:
    """Compare `svm.onenorm`, with and without a bias, with its primal solved by HiGHS.

    Proven intervals of solvers must contain the exact optimum, which must be that of
    HiGHS.
    """
    X, y = _few_points(rng)
    C, bias = float(rng.choice([0.125, 1.0, 1000.0])), bool(rng.integers(2))
    problem, m = one_norm_classification(X, y, C, linear(), bias), len(y)
    margins = (y[:, None] * (X @ X.T)) * y
    rows = np.column_stack([margins, y, -y, np.eye(m)] if bias else [margins, np.eye(m)])
    costs = np.concatenate([np.ones(m), np.zeros(2 * bias), np.full(m, C)])
    by_highs = float(
        linprog(costs, A_ub=-rows, b_ub=-np.ones(m), bounds=(0, None), method="highs").fun
    )
    exact = exact_optimum(problem).value
    if exact is None:
        return "there is no exact optimum"
    for name in ("linear_program", "column_generation"):
        solution = solve(problem, name, tol=1e-9)
        wrong = _outside(float(exact), solution.lower, solution.upper)
        if wrong or solution.interval.relative_width > NEAR:
            return f"{name}'s interval is {solution.interval}: {wrong or solution.reason}"
    return _outside(by_highs, float(exact), float(exact))


def coupling(rng: np.random.Generator) -> str:
    """Compare `wlw` with a rational linear system and Clarabel's least squares.

    The formulations of the family must agree.
    """
    r = _between(rng)
    k, R = len(r), np.clip(r, SURE, 1 - SURE)
    p, exact = wlw(r), _rational_coupling([[Fraction(v) for v in row] for row in R.tolist()])
    off = max(abs(float(v - w)) for v, w in zip(map(Fraction, p.tolist()), exact, strict=True))
    if off > NEAR:
        return f"p = {p.tolist()} is off by {off:.1e}"
    unknown = cp.Variable(k)
    pairs = [(i, j) for i in range(k) for j in range(i)]
    squares = cp.sum_squares(
        cp.hstack([R[j, i] * unknown[i] - R[i, j] * unknown[j] for i, j in pairs])
    )
    least = sum(
        (Fraction(R[j, i]) * exact[i] - Fraction(R[i, j]) * exact[j]) ** 2 for i, j in pairs
    )
    by_clarabel = _by_clarabel(cp.Problem(cp.Minimize(squares), [cp.sum(unknown) == 1]))
    wrong = _outside(by_clarabel, float(least), float(least))
    found = compare(
        wlw_family({"r": R}), solvers=["CLARABEL", "coupling.wlw.*"], time_limit=TIME_LIMIT
    ).families[0]
    return wrong or _disagreement(found) or _undecided(found)


def comparisons(rng: np.random.Generator) -> str:
    """Check the optimality conditions of `bradley_terry` in extended precision.

    Its value must not exceed Clarabel's.
    """
    r = _between(rng)
    k, R = len(r), np.clip(r, SURE, 1 - SURE)
    n = np.exp(rng.uniform(-7, 14, (k, k))) if rng.integers(2) else np.ones((k, k))
    n = np.triu(n, 1) + np.triu(n, 1).T
    p = np.asarray(bradley_terry(r, n + np.eye(k)), dtype=np.longdouble)
    mu = p[:, None] / (p[:, None] + p)
    missed = float(np.abs((n * (mu - R)).sum(axis=1)).max() / n.sum())
    if not missed <= CONDITION:
        return f"its conditions are missed by {missed:.1e}"
    theta = cp.Variable(k)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    terms = cp.hstack([cp.logistic(theta[j] - theta[i]) for i, j in pairs])
    weights = np.array([n[i, j] * R[i, j] for i, j in pairs]) / n.sum()
    value = float(sum(w * np.log1p(p[j] / p[i]) for w, (i, j) in zip(weights, pairs, strict=True)))
    return _larger(value, _by_clarabel(cp.Problem(cp.Minimize(weights @ terms), [theta[0] == 0])))


def sigmoid(rng: np.random.Generator) -> str:
    """Check the optimality conditions of `platt` in extended precision.

    Its value must not exceed Clarabel's.
    """
    n = int(rng.integers(1, 11))
    values = (
        rng.integers(-2, 3, n).astype(float)
        if rng.integers(3)
        else np.full(n, float(rng.integers(-1, 2)))
    )
    second = rng.integers(2, size=n) if rng.integers(3) else np.full(n, rng.integers(2))
    second = (values > 0).astype(int) if rng.integers(4) == 0 else second
    weight = rng.choice([0.0, 1.0, 2.5, 1e4], n) if rng.integers(2) else np.ones(n)
    weight[rng.integers(n)] = 1.0
    scale = 10.0 ** float(rng.integers(-8, 9))
    found = platt(scale * values, second, weight)
    n1, n2 = weight[second == 0].sum(), weight[second == 1].sum()
    first = np.where(second == 1, 1 / (n2 + 2), (n1 + 1) / (n1 + 2))
    z = np.longdouble(found.A) * (scale * values) + np.longdouble(found.B)
    missing = weight * (1 / (1 + np.exp(-z)) - first)
    missed = float(max(abs(missing.sum()), abs(missing @ values)) / weight.sum())
    if not missed <= CONDITION:
        return f"its conditions are missed by {missed:.1e}"
    if np.ptp(values) == 0 and found.A != 0:
        return f"A = {found.A} where all values are equal"
    at = cp.Variable() * values + cp.Variable()
    share = weight / weight.sum()
    stated = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(share, cp.logistic(at) - cp.multiply(first, at))))
    )
    return _larger(found.value / weight.sum(), _by_clarabel(stated))


def misordered(rng: np.random.Generator) -> str:
    """Compare `least_misranked` with all directions of the plane.

    With an RBF kernel it is compared with all orders of the different points.
    """
    curved = bool(rng.integers(2))
    m = int(rng.integers(2, 8))
    X = (
        rng.integers(-1, 2, (m, 1 if curved else 2)).astype(float)
        if rng.integers(3)
        else np.ones((m, 2))
    )
    y, qid = rng.integers(0, 3, m), rng.integers(0, 2, m) if rng.integers(2) else None
    problem = ranking(X, y, qid, kernel=rbf(0.5) if curved else linear())
    found, rows = least_misranked(problem), as_a(Pairs, problem.rows)
    pairs = list(zip(rows.preferred.tolist(), rows.other.tolist(), strict=True))
    if not found.proven:
        return f"it is not proven: {found.reason}"
    if curved:
        place = np.unique(X, axis=0, return_inverse=True)[1].ravel()
        least = least_by_orders([(int(place[i]), int(place[j])) for i, j in pairs])
    else:
        least = least_by_directions([[Fraction(v) for v in X[i] - X[j]] for i, j in pairs])
    return (
        ""
        if found.least == least
        else f"it says {found.least} of {len(pairs)}, and {least} is the least"
    )


def precision(rng: np.random.Generator) -> str:
    """Compare `average_precision_least` with the minimum over all rankings.

    The bound of document W must not exceed it.
    """
    R, N = int(rng.integers(1, 6)), int(rng.integers(0, 7))
    Q = [0, R * N, int(rng.integers(R * N + 1))][int(rng.integers(3))]
    # If there are at least Q documents, their number has no effect.
    given = None if Q <= N and rng.integers(2) else N
    found, least = average_precision_least(R, Q, given), least_precision(R, Q, N)
    if abs(Fraction(found) - least) > Fraction(R + 1, 2**52):
        return f"it says {found!r} for R = {R}, Q = {Q}, N = {given}, and {least} is the least"
    bound = average_precision_bound(R, Q)
    return (
        ""
        if bound <= found * (1 + 1e-15)
        else f"document W's bound {bound!r} is above {found!r} for R = {R}, Q = {Q}"
    )


def vectors(rng: np.random.Generator) -> str:
    """Compare `fewest_nonzeros` of the ranking vector machine with all supports."""
    X, y = _few_points(rng)
    X, y = X[:6], np.asarray(rng.integers(0, 3, min(len(X), 6)))
    C = float(rng.choice([0.125, 0.5, 2.0]))
    found = fewest_nonzeros("rvm.primal", ranking_vector_machine(X, y, C=C), "beta")
    if not found.proven:
        return f"it is not proven: {found.reason}"
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    D = np.array([X[i] - X[j] for i, j in pairs]).reshape(-1, X.shape[1])
    fewest = fewest_columns(D @ X.T, C)
    return "" if found.fewest == fewest else f"it says {found.fewest}, and {fewest} are the fewest"


def excess(rng: np.random.Generator) -> str:
    """Compare `least_reduced_excess` with the exact excess of all choices, and of its own w."""
    X, _ = _few_points(rng)
    y, qid = rng.integers(0, 3, len(X)).tolist(), rng.integers(0, 2, len(X)).tolist()
    C = Fraction(int(rng.integers(1, 9)), 4)
    problem = ranking(X, y, qid, float(C))
    if not problem.p:
        return ""
    found, exact = least_reduced_excess(problem), excess_by_choice(X, y, qid, C)
    own, least = exact[tuple(found.maximum.tolist())], min(exact.values())
    near = Fraction(NEAR * max(float(found.optimum[0]) + float(own), 1.0))
    said = Fraction(float(found.excess[0]))
    proven = excess_of_weights(found.functions[0].w, X, y, qid, C) <= said
    return (
        ""
        if proven and own - near <= said <= least + near
        else f"it says {found.excess[0]!r}, and {float(own)} is right and {float(least)} the least"
    )


SUBJECTS: dict[str, Callable[[np.random.Generator], str]] = {
    "svm.general": general_machine,
    "svm.onenorm": one_norm,
    "coupling.wlw": coupling,
    "bradley_terry": comparisons,
    "platt": sigmoid,
    "least_misranked": misordered,
    "fewest_nonzeros": vectors,
    "least_reduced_excess": excess,
    "average_precision_least": precision,
}


# Drawing and judging.


def _few_points(rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw up to eight points of an integer grid, and labels in {-1, 1}.

    Points may be repeated, 0 or all equal; labels may be of one class.
    """
    m, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (m, d)).astype(float)
    kind = int(rng.integers(5))
    X = (
        X[rng.integers(m, size=m)]
        if kind == 0
        else X * (rng.random(d) < 0.5)
        if kind == 1
        else np.ones((m, d))
        if kind == 2
        else X
    )
    y = rng.choice([-1.0, 1.0], m) if rng.integers(5) else np.full(m, rng.choice([-1.0, 1.0]))
    return X, y


def _between(rng: np.random.Generator) -> Array:
    """Draw probabilities of every two classes.

    They are eighths, a total order, all 1/2, or come from classes of which some are
    rare.
    """
    k, kind = int(rng.integers(2, 7)), int(rng.integers(4))
    if kind == 3:
        p = 10.0 ** rng.uniform(-6, 0, k)
        r = p[:, None] / (p[:, None] + p)
    else:
        r = [rng.integers(0, 9, (k, k)) / 8, np.ones((k, k)), np.full((k, k), 0.5)][kind]
    above = np.triu(r, 1)
    turned = np.tril(1 - above.T, -1)
    order = rng.permutation(k)
    return np.asarray((above + turned)[np.ix_(order, order)])


def _rational_coupling(R: list[list[Fraction]]) -> list[Fraction]:
    """Return the p with 1'p = 1 and all entries of Q p equal, by elimination.

    Q_ii = sum over s of R_si^2, Q_ij = -R_ji R_ij.
    """
    k = len(R)
    rows = [[-R[j][i] * R[i][j] for j in range(k)] + [Fraction(1), Fraction(0)] for i in range(k)]
    for i in range(k):
        rows[i][i] = sum((R[s][i] ** 2 for s in range(k) if s != i), Fraction(0))
    rows.append([Fraction(1)] * k + [Fraction(0), Fraction(1)])
    for column in range(k + 1):
        pivot = next(i for i in range(column, k + 1) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [v / rows[column][column] for v in rows[column]]
        for i in range(k + 1):
            if i != column and rows[i][column]:
                rows[i] = [
                    v - rows[i][column] * w for v, w in zip(rows[i], rows[column], strict=True)
                ]
    return [row[-1] for row in rows[:k]]


def _by_clarabel(stated: Any) -> float:
    """Return Clarabel's optimum, NaN if it finds none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            stated.solve("CLARABEL")
        except cp.error.SolverError:
            return float("nan")
    return float(stated.value) if stated.status == cp.OPTIMAL else float("nan")


def _disagreement(found: FamilyVerdict) -> str:
    """Return the disagreements within a family, and the exceptions of solvers, as text."""
    runs = [(j.evidence.run, j.agreement) for j in found.judgements]
    wrong = [f"{run.name} disagrees" for run, agreement in runs if agreement is Agreement.DISAGREES]
    return ", ".join(
        wrong
        + [f"{run.name}: {run.reason}" for run, _ in runs if run.raised and run.formulation is None]
    )


def _undecided(found: FamilyVerdict) -> str:
    return "" if found.verdict is Verdict.AGREE else UNDECIDED


def _outside(value: float, lower: float, upper: float) -> str:
    """Return a message if a backend's optimum is outside an interval, else ""."""
    near = NEAR * max(1.0, abs(value))
    return (
        f"the optimum is {value!r}, not within [{lower!r}, {upper!r}]"
        if value < lower - near or value > upper + near
        else ""
    )


def _larger(value: float, other: float) -> str:
    """Return a message if a value is above a backend's, else ""."""
    return (
        f"its value is {value!r}, and Clarabel finds {other!r}"
        if value > other + NEAR * max(1.0, abs(other))
        else ""
    )


CAMPAIGN = Campaign(__name__, __doc__, lambda _: by_sentence(SUBJECTS, UNDECIDED), 200)
