"""Whole paths of one-norm programs, every piece judged by HiGHS.

    python -m campaigns exact.nightly_linear_path --seed 1 --examples 200

Where HiGHS disagrees, exact rational arithmetic decides. The problems are rankings with
variables of points or of pairs, and classifications with and without a bias; they have
points on integer grids, equal points, ties, contradictions, several queries, three
kernels, and scales from 1e-4 to 1e4. Half of them have weights, of which some are 0, or
which are from 1e-2 to 1e2. Every second path goes to lambda = 0. At both ends
and in the middle of every piece the primal value of x and the dual value of u must be
within a relative 1e-9 of the optimum, or within 4e-15 times the first lambda over this
lambda if that is more. The program is made from its definition, without code of the
path.

In the middle of every path the proven interval of the point, in the problem with the
float64 Gram matrix as the given matrix, must contain the rational optimum of that
problem, without exception.

If the kernel matrix is nearly singular, or breakpoints nearly coincide, float64 may not
suffice. The path must then stop early or report a gap. A point reported as optimal must
be optimal, without exception. Exit status 1 if any other path is wrong, or if more than
3 % of the paths stop early or report a gap for this reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import highspy as library
import numpy as np

from campaigns.runner import At, Campaign, Check, Trial, at_most
from equimargin.formulations import (
    Kernel,
    OneNormPoint,
    OneNormProblem,
    interval,
    linear,
    one_norm_classification,
    one_norm_ranking,
    polynomial,
    ranking_vector_machine,
    rbf,
)
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.solvers import (
    OneNormPath,
    Solution,
    exact_optimum,
    given_gram,
    regularization_path,
)
from equimargin.solvers.path.result import OPTIMAL_GAP, SMALLEST_LAMBDA
from narrow import as_a, present

highspy: Any = library

WITHIN = 1e-9
"""Relative difference up to which values, bounds and gaps count as optimal."""
ROUNDED = 4e-15
"""Relative difference by rounding at the largest breakpoint.

It increases in proportion to 1 / lambda, because the terms of B'u, which is at most
lambda, cancel.
"""
NOTHING = 1e-12
"""Maximum difference, over the sum of slacks at x = 0, that counts as 0.

A relative difference has no meaning for an optimum of 0.
"""
LARGEST = {"rvm": 16, "rank.onenorm": 14, "svm.onenorm": 32, "svm.nobias_onenorm": 32}
"""Maximum number of points of an instance of each family."""
NEARLY_SINGULAR = (1e-13, 1e-8)
"""Range of eigenvalues of K, relative to the largest, that make K nearly singular.

Smaller eigenvalues count as 0.
"""
APART, NEXT_TO_0 = 1e-7, 1e-11
"""Relative difference up to which breakpoints nearly coincide, or are nearly 0.

The second is relative to the largest breakpoint.
"""
EXCUSED = 0.03
"""Maximum share of the paths for which float64 may be insufficient."""
SMALLEST = 1e-5
"""Lambda over the mean of K_ii at which every second path ends."""
IMPRECISE = f"not within {WITHIN:g}"
"""Outcome of a path with a mistake."""


# Drawing.


def drawn(family: str, seed: int, number: int) -> OneNormProblem:
    """Draw an instance, with the seed and the number as seeds."""
    rng = np.random.default_rng([list(LARGEST).index(family), seed, number])
    problem = _unweighted(family, rng)
    groups, kind = problem.rows.groups, int(rng.integers(4))
    if kind < 2:
        return problem
    return replace(
        problem,
        weights=rng.choice([0.0, 0.1, 1.0, 1.0, 3.0], groups)
        if kind == 2
        else 10.0 ** rng.uniform(-2, 2, groups),
    )


def _unweighted(family: str, rng: np.random.Generator) -> OneNormProblem:
    """Draw an instance without weights."""
    X = _points(rng, int(rng.integers(2, LARGEST[family] + 1)))
    kernel, scale = _kernel(rng)
    y = _score(rng, X)
    if family.startswith("svm"):
        labels = np.where(y > np.quantile(y, rng.choice([0.2, 0.5])), 1.0, -1.0)
        return one_norm_classification(
            scale * X, labels, kernel=kernel, bias="nobias" not in family
        )
    levels = int(rng.choice([2, 3, len(X)]))
    relevances = np.floor(levels * np.argsort(np.argsort(y)) / len(X))
    qid = rng.integers(0, 3, len(X)) if rng.integers(3) == 0 else None
    return (ranking_vector_machine if family == "rvm" else one_norm_ranking)(
        scale * X, relevances, qid, kernel=kernel
    )


def _points(rng: np.random.Generator, m: int) -> Array:
    """Draw points on a grid, on a line, in general position, or many of them equal."""
    d, shape = int(rng.integers(1, 4)), int(rng.integers(5))
    if shape < 2:
        return rng.integers(-shape, 3, (m, d)).astype(float)
    if shape == 2:
        return np.arange(float(m))[:, None] * rng.integers(1, 3, d)
    X = rng.normal(size=(m, d))
    return X if shape == 3 else X[rng.integers(0, m // 2 + 1, m)]


def _kernel(rng: np.random.Generator) -> tuple[Kernel, float]:
    """Draw a kernel, and a scale for the points."""
    which = int(rng.integers(5))
    if which < 2:
        return linear(), 1.0 if which else 10.0 ** float(rng.integers(-4, 5))
    return [polynomial(2, 0.5, 1.0), rbf(1.0), rbf(0.05)][which - 2], 1.0


def _score(rng: np.random.Generator, X: Array) -> Array:
    """Draw scores: a linear function of the points, with noise or without, or noise."""
    along = X @ rng.normal(size=X.shape[1])
    return np.asarray(
        along * (rng.integers(3) > 0)
        + rng.normal(size=len(X)) * rng.choice([0.0, 0.3, 1.0]) * np.abs(X).max()
    )


# Judging.


class Program:
    """Program min lambda 1'x + w'xi  s.t.  B x + s b + xi >= 1,  x, xi >= 0.

    The program is made from its definition; HiGHS starts at the basis of the last
    lambda. B and lambda are divided by the unit of the kernel, a power of 2, so that
    the numbers are of size 1.
    """

    def __init__(self, problem: OneNormProblem) -> None:
        A, K = problem.rows.matrix.toarray(), problem.gram.dense
        self.problem, self.unit = problem, 2.0 ** np.rint(np.log2(K.diagonal().mean() or 1.0))
        self.B = (A @ K if problem.over == "points" else A @ K @ A.T) / self.unit
        self.signs = problem.rows.s if problem.bias else np.zeros(problem.p)
        self.w = _weights(problem)
        self.highs = _highs(np.column_stack([self.B, self.signs]), self.w)

    def by_highs(self, lam: float) -> float:
        """Return the optimum at a lambda in the kernel's unit, from the previous basis."""
        n = self.B.shape[1]
        self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), np.full(n, lam))
        self.highs.run()
        return float(self.highs.getInfo().objective_function_value)

    def exact(self, lam: float) -> float:
        """Return the optimum of the rational program at a lambda in the problem's unit."""
        C = 1 / lam
        return float(present(exact_optimum(given_gram(self.problem.with_cost(C))).value) / C)

    def primal(self, x: Array, b: float, lam: float) -> float:
        """Return the primal value of x and b at a lambda in the kernel's unit.

        It is infinite for an x with an entry below 0.
        """
        slacks = np.maximum(1 - self.B @ x - self.signs * b, 0)
        return float(lam * x.sum() + self.w @ slacks) if (x >= 0).all() else np.inf

    def dual(self, u: Array, lam: float) -> float:
        """Return the dual value of u, made feasible, at a lambda in the kernel's unit.

        u is divided by max(B'u) / lambda if that exceeds 1; -inf for a u outside [0,
        w], rounding aside.
        """
        if not ((u >= 0) & (u <= self.w * (1 + 4 * np.finfo(float).eps))).all():
            return -np.inf
        excess = float((self.B.T @ u).max(initial=0.0)) / lam
        return float(u.sum()) / max(excess, 1.0)

    def balance(self, u: Array) -> float:
        """Return |s'u| over the sum of u: 0 without a bias."""
        return float(abs(self.signs @ u) / max(u.sum(), 1.0))


def _weights(problem: OneNormProblem) -> Array:
    """Return the weight of every row: that of the point, of the pair or of the query."""
    if problem.weights is None:
        return np.ones(problem.p)
    rows = problem.rows
    return np.asarray(
        problem.weights[rows.query[rows.preferred]]
        if isinstance(rows, LabelledPairs)
        else problem.weights
    )


def _highs(M: Array, w: Array) -> Any:
    """Return the program with the matrix (B, s) and weights at lambda = 0, in HiGHS."""
    p, n = M.shape[0], M.shape[1] - 1
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = p, n + 1 + p
    program.col_cost_ = np.append(np.zeros(n + 1), w)
    program.col_lower_, program.col_upper_ = (
        np.zeros(n + 1 + p),
        np.full(n + 1 + p, highspy.kHighsInf),
    )
    program.col_lower_ = np.concatenate([np.zeros(n), [-highspy.kHighsInf], np.zeros(p)])
    program.row_lower_, program.row_upper_ = np.ones(p), np.full(p, highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(p + 1, dtype=np.int32) * (n + 2)
    program.a_matrix_.index_ = (
        np.column_stack([np.tile(np.arange(n + 1), (p, 1)), n + 1 + np.arange(p)])
        .astype(np.int32)
        .ravel()
    )
    program.a_matrix_.value_ = np.column_stack([M, np.ones(p)]).ravel()
    highs = highspy.Highs()
    precise = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for option, value in (
        {"output_flag": False, "threads": 1, "presolve": "off", "solver": "simplex"} | precise
    ).items():
        highs.setOptionValue(option, value)
    highs.passModel(program)
    return highs


@dataclass
class Found:
    """Result of a path.

    Parameters
    ----------
    pieces : int
        Number of pieces.
    worst : float
        Worst relative difference from the optimum.
    by_exact : int
        Number of times that HiGHS disagreed.
    mistakes : list[str]
        All faults, as text.
    silent : list[str]
        Faults of answers reported as optimal.
    """

    pieces: int
    excused: bool = False
    """True if the path is so degenerate that float64 may be insufficient."""
    worst: float = 0.0
    by_exact: int = 0
    mistakes: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def examined(problem: OneNormProblem, lambda_min: float) -> Found:
    """Follow the path of a problem down to lambda_min, and judge every piece of it."""
    path = regularization_path(problem, lambda_min)
    found = Found(len(path), nearly_singular(problem.gram.dense) or nearly_coincide(path.lambdas))
    if not path.complete:
        found.mistakes.append(f"stopped early after {len(path)} pieces: {path.stopped}")
    if not len(path):
        return found
    within = [_within(path, lam) for lam in path.lambdas.tolist()]
    if not (path.gaps <= within).all():
        found.mistakes.append(
            f"it says itself that a gap is {path.gaps[~(path.gaps <= within)].max():.1e}"
        )
    if not (np.diff(path.lambdas) < 0).all():
        found.mistakes.append("its lambdas do not fall")
    program, ends = Program(problem), np.concatenate([[2 * path.lambdas[0] or 1.0], path.lambdas])
    for t in range(len(path)):
        # No point exists at lambda = 0.
        low = max(ends[t + 1], ends[t] * 1e-3)
        high = max(ends[t] * (1 - 1e-12), low)
        for lam in (high, (high + low) / 2, low):
            said = _judged(path, program, t, float(lam), found)
            if said:
                found.mistakes.append(f"piece {t} of {len(path)}, lambda = {lam:.6g}: {said}")
    outside = _outside(problem, path, float(np.median(ends)))
    if outside:
        found.silent.append(outside)
    return found


def _outside(problem: OneNormProblem, path: OneNormPath, lam: float) -> str:
    """Return a message if a proven interval on the path lacks the optimum, else "".

    Both are of the problem with its float64 Gram matrix as the given matrix; intervals
    with the kernel itself hold for the matrix without rounding.
    """
    lam = max(lam, float(path.lambdas[-1]), SMALLEST_LAMBDA)
    given = as_a(OneNormProblem, given_gram(problem.with_cost(1 / lam)))
    proven, optimum = (
        interval(given, as_a(OneNormPoint, path.at(lam).point)),
        present(exact_optimum(given).value),
    )
    if proven.lower <= optimum <= proven.upper:
        return ""
    return (
        f"the interval [{proven.lower!r}, {proven.upper!r}] at lambda = {lam:.6g} does not hold "
        f"the optimum {optimum}"
    )


def nearly_singular(K: Array) -> bool:
    """Return True if a kernel matrix has an eigenvalue in the range NEARLY_SINGULAR."""
    sizes = np.abs(np.linalg.eigvalsh(K))
    least, most = (share * sizes.max(initial=0.0) for share in NEARLY_SINGULAR)
    return bool(((sizes > least) & (sizes < most)).any())


def nearly_coincide(lambdas: Array) -> bool:
    """Return True if two breakpoints nearly coincide, or one nearly does with lambda = 0."""
    close = -np.diff(lambdas) < APART * lambdas[:-1]
    return bool(close.any() or ((lambdas > 0) & (lambdas < NEXT_TO_0 * lambdas[:1].sum())).any())


def _claimed(
    path: OneNormPath, solution: Solution, lam: float, optimum: float, off: float, found: Found
) -> None:
    """Note a solution that is reported as optimal and is not.

    A solution is one of the problem with the kernel itself. If its value is far from
    the optimum of the rounded Gram matrix, its proven interval must be narrow, and its
    proven interval in the problem of that matrix must contain that optimum.

    Parameters
    ----------
    off : float
        Absolute difference of the primal value of x from the optimum.
    """
    lower, size, nothing = (
        lam * solution.lower,
        lam * solution.interval.size,
        NOTHING * float(_weights(path.problem).sum()),
    )
    off = max(off, optimum - lower) - nothing
    if solution.ok:
        found.worst = max(found.worst, off / max(abs(optimum), nothing))
        far, wide = (
            off > (OPTIMAL_GAP + WITHIN) * size,
            solution.interval.relative_width > OPTIMAL_GAP + WITHIN,
        )
        outside = (
            _outside(path.problem, path, lam)
            if far and not wide
            else "its interval is wide"
            if far
            else ""
        )
        if outside:
            found.silent.append(
                f"what is called optimal at lambda = {lam:.6g} is {off / size:.1e} of the "
                f"optimum away from it: {outside}"
            )


def _within(path: OneNormPath, lam: float) -> float:
    """Return the relative tolerance of a solution at a lambda of the path."""
    return max(WITHIN, ROUNDED * float(path.lambdas[0]) / lam) if lam > 0 else np.inf


def _judged(path: OneNormPath, program: Program, t: int, lam: float, found: Found) -> str:
    """Return the fault in the solution at a lambda of the piece t as text, or ""."""
    if path.piece(lam) != t:
        return f"it is of piece {path.piece(lam)}"
    solution, unit = path.at(lam), program.unit
    point = as_a(OneNormPoint, solution.point)
    x, u = present(point.x) * unit, present(point.u) * lam
    primal, dual = program.primal(x, point.b or 0.0, lam / unit), program.dual(u, lam / unit)
    optimum = program.by_highs(lam / unit)
    nothing, within = NOTHING * float(program.w.sum()), _within(path, lam)
    if max(abs(primal - optimum), abs(optimum - dual)) > WITHIN * abs(optimum) + nothing:
        optimum = program.exact(lam)
        found.by_exact += 1
    _claimed(path, solution, lam, optimum, abs(primal - optimum), found)
    if abs(primal - optimum) > within * optimum + nothing:
        return f"the costs of x are {primal:.15g}, and the optimum {optimum:.15g}"
    if optimum - dual > within * optimum + nothing:
        return f"u proves {dual:.15g}, and the optimum is {optimum:.15g}"
    if program.balance(u) > WITHIN:
        return f"s'u is {program.balance(u):.1e} of the sum of u"
    return ""


# The campaign.


def followed(problem: OneNormProblem, number: int) -> Found:
    """Follow and judge the path of an instance; every second path goes to lambda = 0."""
    return examined(
        problem, 0.0 if number % 2 else SMALLEST * float(problem.gram.dense.diagonal().mean())
    )


def judged(problem: OneNormProblem, at: At) -> Trial:
    """Return the complaints about the path of an instance."""
    found = followed(problem, at.number)
    said = [*found.silent, *([] if found.excused else found.mistakes)]
    counts = Counter(
        {
            "pieces": found.pieces,
            IMPRECISE: int(bool(found.mistakes)),
            "judged by exact arithmetic": found.by_exact,
        }
    )
    return Trial(said, counts, {"off where it is called optimal": found.worst})


def checks(_: int) -> list[Check]:
    """Return the check of each family."""
    few = partial(at_most, EXCUSED, IMPRECISE)
    return [
        Check(
            family,
            judged,
            lambda at, family=family: drawn(family, at.seed, at.number),  # type: ignore[misc]
            wrong=few,
        )
        for family in LARGEST
    ]


CAMPAIGN = Campaign(__name__, __doc__, checks, 200)
