"""Exact optima of degenerate integer problems, and proven intervals against them.

    python -m campaigns exact.nightly --seed 1 --examples 1000

For every instance `exact_optimum` must give an optimum or a ray. Its feasibility, the
equality of its primal and dual values, and the ends of its interval of b are checked in
fractions.Fraction. The proven interval of every float solver must contain the optimum,
and proven intervals of random points must contain the exact values of these points,
too. Exit status 1 if anything does not hold. Only the problems and their data are
shared with the code under test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np

from campaigns.runner import Campaign, Check, Trial
from equimargin.formulations import FAMILIES as FAMILY
from equimargin.formulations import (
    OneNormPoint,
    OneNormProblem,
    Point,
    Problem,
    interval,
    linear,
    polynomial,
    precomputed,
    rbf,
)
from equimargin.formulations.bounds.intervals import inner_interval
from equimargin.formulations.kernels.kernel import Intercept, Kernel, Precomputed
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.problem import CanonicalPoint
from equimargin.formulations.rows.listed import Pairs, Tube
from equimargin.solvers import SOLVERS, ExactOptimum, Status, exact_optimum, given_gram, solve
from equimargin.testing.families import ONE_NORM
from narrow import present
from oracles.rationals import entry, fractions

FAMILIES = (
    *(
        "svm.hard",
        "svm.soft",
        "svm.l2",
        "svm.nobias",
        "svm.nobias_l2",
        "svm.nobias_hard",
        "svm.penalized",
        "svm.penalized_l2",
    ),
    *(
        "svr.hard",
        "svr.l1",
        "svr.l2",
        "rank.hard",
        "rank.l1",
        "rank.l2",
        "rank.onenorm",
        "rvm",
        "svm.onenorm",
        "svm.nobias_onenorm",
    ),
)
LARGE_ONE_IN = 10
"""Reciprocal share of the instances with up to 30 points; others have up to 8."""
POINTS = 10
"""Random points per instance."""
TIME_LIMIT = 5.0
"""Time limit of a float solver, in seconds."""
FAR = Fraction(10**6)
"""Distance of the tried bias from the finite end if the other end is infinite."""

Vector = Sequence[Fraction]
Row = dict[int, int]


# Drawing.


def drawn(family: str, number: Sequence[int]) -> Problem:
    """Draw a degenerate problem of a family, with `number` as the seed.

    Its points are on an integer grid, with repetitions, ties and contradictions.
    """
    rng = np.random.default_rng(number)
    m, d = (
        int(rng.integers(1, 9) if rng.integers(LARGE_ONE_IN) else rng.integers(9, 31)),
        int(rng.integers(1, 4)),
    )
    X = rng.integers(-2, 3, (m, d)).astype(np.float64)
    if rng.integers(2):
        X = X[rng.integers(m, size=m)]
    if rng.integers(4) == 0:
        X[rng.integers(m)] = 0.0
    kind, C = (
        family.partition(".")[0],
        inf if family.endswith("hard") else float(rng.choice([0.125, 0.5, 1.0, 4.0, 0.1, 1000.0])),
    )
    kernels: list[Kernel] = [
        linear(),
        polynomial(2, 1.0, 1.0),
        polynomial(3, 0.5, 0.0),
        precomputed(),
        rbf(0.5),
    ]
    kernel = kernels[int(rng.integers(len(kernels)))]
    data: dict[str, Any] = {
        "X": X @ X.T if isinstance(kernel, Precomputed) else X,
        "C": C,
        "kernel": kernel,
    }
    if kind == "svm":
        data["y"] = rng.choice([-1.0, 1.0], m)
    elif kind == "svr":
        data |= {
            "y": rng.integers(-2, 3, m).astype(np.float64),
            "epsilon": float(rng.choice([0.0, 0.5, 1.0, 0.1])),
        }
    else:
        data["y"] = rng.integers(0, int(rng.integers(1, 4)) + 1, m).astype(np.float64)
        data["qid"] = None if rng.integers(2) else rng.integers(0, 2, m)
    ranked = kind in ("rank", "rvm")
    if inf > C:
        names = [0] if data.get("qid") is None else np.unique(data["qid"]).tolist()
        weights = _weights(rng, len(names) if ranked else m)
        # One-norm families have no hard rows.
        if weights is not None and family in ONE_NORM:
            weights = np.where(np.isinf(weights), 2.0, weights)
        by_query = (
            None
            if weights is None or not ranked
            else dict(zip(names, weights.tolist(), strict=True))
        )
        data |= {"query_weight": by_query} if ranked else {"sample_weight": weights}
    if "penalized" in family:
        data["bias"] = "penalized"
    problem: Problem = FAMILY[family.replace("penalized", "nobias")](data)
    return given_gram(problem) if kernel.name == "rbf" else problem


def _weights(rng: np.random.Generator, size: int) -> Any:
    """Draw factors of C with zeros and infinite ones, or None."""
    if rng.integers(3):
        return None
    return rng.choice([1.0, 1.0, 0.5, 3.0, 0.0, inf], size)


# The definitions.


class Definition:
    """Problem made from its data in Fractions: objectives and constraints.

    It has K, rows as mappings from points to coefficients, targets t, bias signs s and
    costs c, where None is infinite.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.m = problem, problem.m
        X = [fractions(row) for row in dense(problem.X)]
        shift = Fraction(problem.gram.shift)
        self.K = kernel_matrix(problem.kernel, X, shift)
        rows = problem.rows
        y = [] if rows.y is None else rows.y.tolist()
        self.rows: list[Row]
        if isinstance(rows, Pairs):
            query = [0] * self.m if rows.query is None else rows.query.tolist()
            pairs = [
                (i, j)
                for i in range(self.m)
                for j in range(self.m)
                if y and query[i] == query[j] and y[i] > y[j]
            ]
            # The preferences are explicit.
            if not y:
                pairs = list(zip(rows.preferred.tolist(), rows.other.tolist(), strict=True))
            self.rows, self.t, self.s = (
                [{i: 1, j: -1} for i, j in pairs],
                [Fraction(1)] * len(pairs),
                [0] * len(pairs),
            )
            groups = [query[i] for i, _ in pairs]
        elif isinstance(rows, Tube):
            self.rows, self.s = (
                [{i: 1} for i in range(self.m)] + [{i: -1} for i in range(self.m)],
                [1] * self.m + [-1] * self.m,
            )
            self.t = [
                s * Fraction(v) - Fraction(rows.epsilon) for s, v in zip(self.s, y + y, strict=True)
            ]
            groups = list(range(2 * self.m))
        else:
            self.rows, self.s, self.t = (
                [{i: int(v)} for i, v in enumerate(y)],
                [int(v) for v in y],
                [Fraction(1)] * self.m,
            )
            groups = list(range(self.m))
        if not problem.bias:
            self.s = [0] * len(self.rows)
        self.squared = problem.phi.is_smooth
        weights = [1.0 if problem.weights is None else float(problem.weights[g]) for g in groups]
        self.c: list[Fraction | None] = [
            Fraction(0)
            if w == 0
            else None
            if inf in (w, problem.C)
            else Fraction(problem.C) * Fraction(w)
            for w in weights
        ]

    def times_K(self, beta: Vector) -> list[Fraction]:
        """Return K beta."""
        return [
            sum((k * v for k, v in zip(row, beta, strict=True) if v), Fraction(0)) for row in self.K
        ]

    def dot(self, f: Vector) -> list[Fraction]:
        """Return A f."""
        return [sum((s * f[i] for i, s in row.items()), Fraction(0)) for row in self.rows]

    def rdot(self, alpha: Vector) -> list[Fraction]:
        """Return A'alpha."""
        beta = [Fraction(0)] * self.m
        for row, a in zip(self.rows, alpha, strict=True):
            for i, s in row.items():
                beta[i] += s * a
        return beta

    def primal(self, beta: Vector, b: Fraction) -> Fraction | None:
        """Return 1/2 beta'K beta + sum_r c_r loss(u_r); None for infinity."""
        f = self.times_K(beta)
        return self.primal_of(f, sum((v * w for v, w in zip(beta, f, strict=True)), Fraction(0)), b)

    def primal_of(self, f: Vector, norm2: Fraction, b: Fraction) -> Fraction | None:
        """Return the primal value of f at the points and |f|^2; None for infinity."""
        total = norm2 / 2
        for margin, t, s, c in zip(self.dot(f), self.t, self.s, self.c, strict=True):
            u = max(t - margin - b * s, Fraction(0))
            if c is None and u > 0:
                return None
            total += 0 if c is None else c * (u**2 if self.squared else u)
        return total

    def dual(self, alpha: Vector) -> Fraction:
        """Return t'alpha - 1/2 beta'K beta [ - sum_r alpha_r^2 / (4 c_r) ], beta = A'alpha."""
        beta = self.rdot(alpha)
        f = self.times_K(beta)
        total = sum((t * a for t, a in zip(self.t, alpha, strict=True)), Fraction(0))
        total -= sum((v * w for v, w in zip(beta, f, strict=True)), Fraction(0)) / 2
        return total - (
            sum(
                (a**2 / (4 * c) for a, c in zip(alpha, self.c, strict=True) if c and a), Fraction(0)
            )
            if self.squared
            else 0
        )

    def feasible(self, alpha: Vector) -> bool:
        """Return True if 0 <= alpha <= box and s'alpha = 0."""
        if sum((s * a for s, a in zip(self.s, alpha, strict=True)), Fraction(0)) != 0:
            return False
        return all(
            a >= 0 and (c is None or (self.squared and c > 0) or a <= c)
            for a, c in zip(alpha, self.c, strict=True)
        )

    def prices(self, u: Vector) -> list[Fraction]:
        """Return B'u, which constraints of a one-norm problem's dual limit to 1."""
        g = self.times_K(self.rdot(u))
        return self.dot(g) if self._over_pairs else g

    def cost(self, x: Vector, b: Fraction = Fraction(0)) -> Fraction:
        """Return the primal value 1'x + sum_r c_r (1 - (B x)_r - b s_r)_+ (one-norm)."""
        margins = self.dot(self.times_K(self.rdot(x) if self._over_pairs else x))
        slacks = (max(1 - v - b * s, Fraction(0)) for v, s in zip(margins, self.s, strict=True))
        return sum(x, Fraction(0)) + sum(
            (present(c) * v for c, v in zip(self.c, slacks, strict=True)), Fraction(0)
        )

    @property
    def _over_pairs(self) -> bool:
        assert isinstance(self.problem, OneNormProblem)
        return self.problem.over == "rows"


def kernel_matrix(
    kernel: Kernel, X: list[list[Fraction]], shift: Fraction, value: Any = entry
) -> list[list[Fraction]]:
    """Return K + shift I of a given matrix, or K by `value`, a function of two points."""
    one = int(isinstance(kernel, Intercept))
    K = (
        [[v + one for v in row] for row in X]
        if kernel.given
        else [[value(kernel, x, z) for z in X] for x in X]
    )
    return [[v + (shift if i == j else 0) for j, v in enumerate(row)] for i, row in enumerate(K)]


# What does not hold.


def wrong_optimum(at: Definition, found: ExactOptimum) -> Iterator[str]:
    """Yield the violated conditions of an exact optimum."""
    if isinstance(at.problem, OneNormProblem):
        u, x = found.alpha, found.beta
        if found.status is not Status.OPTIMAL or found.value is None:
            yield f"no optimum: {found.reason}"
        elif not (all(v >= 0 for v in x) and at.feasible(u) and all(v <= 1 for v in at.prices(u))):
            yield "a point that is not feasible"
        elif sum(u, Fraction(0)) != found.value:
            yield f"dual {sum(u)}, value {found.value}"
        else:
            yield from _wrong_bias(at, found)
        return
    if not at.feasible(found.alpha) or at.rdot(found.alpha) != list(found.beta):
        yield "multipliers that are not feasible, or whose A'alpha is another"
    elif found.status is Status.INFEASIBLE:
        yield from _wrong_ray(at, found.ray or ())
    elif found.status is not Status.OPTIMAL or found.value is None:
        yield f"no optimum: {found.reason}"
    elif at.dual(found.alpha) != found.value:
        yield f"the dual value is {at.dual(found.alpha)}, not {found.value}"
    else:
        yield from _wrong_bias(at, found)


def _wrong_ray(at: Definition, ray: Vector) -> Iterator[str]:
    if len(ray) != len(at.rows) or not all(
        a >= 0 and (a == 0 or c is None) for a, c in zip(ray, at.c, strict=True)
    ):
        yield "a ray that leaves the box"
    elif sum((s * a for s, a in zip(at.s, ray, strict=True)), Fraction(0)) != 0:
        yield "a ray that is not balanced"
    elif (
        any(at.dot(at.times_K(at.rdot(ray))))
        or not sum((t * a for t, a in zip(at.t, ray, strict=True)), Fraction(0)) > 0
    ):
        yield "a ray along which the dual does not rise"


def _wrong_bias(at: Definition, found: ExactOptimum) -> Iterator[str]:
    """Yield the errors in the ends of the optimal b."""
    low, high = found.bias
    for end, other, out in ((low, high, -1), (high, low, 1)):
        b = end if end is not None else (other or Fraction(0)) + out * FAR
        primal = at.cost if isinstance(at.problem, OneNormProblem) else at.primal
        if primal(found.beta, b) != found.value:
            yield f"the primal value at b = {b} is {primal(found.beta, b)}, not {found.value}"
        if (
            end is not None
            and any(at.s)
            and primal(found.beta, end + Fraction(out, 10**9)) == found.value
        ):
            yield f"b = {end} is no end of the optimal ones"


def wrong_intervals(problem: Problem, value: Fraction | None) -> Iterator[str]:
    """Yield the solvers whose proven interval lacks the optimum; None is infinity."""
    for name, solver in SOLVERS.items():
        if solver.refusal(problem) is None:
            found = solve(problem, name, time_limit=TIME_LIMIT)
            if not _contains(found.lower, found.upper, value):
                yield f"{name} proves [{found.lower!r}, {found.upper!r}], the optimum is {value}"


def _contains(lower: float, upper: float, value: Fraction | None) -> bool:
    below = lower == -inf or value is None or Fraction(lower) <= value
    return below and (upper == inf or (value is not None and value <= Fraction(upper)))


def wrong_bounds(at: Definition, rng: np.random.Generator, found: ExactOptimum) -> Iterator[str]:
    """Yield the random points whose intervals contradict their exact values or the optimum.

    The proven interval of a point must contain the optimum and the exact dual and
    primal values of the point; the inner interval must lie between these values. Every
    second point is the optimum, rounded and slightly moved.
    """
    problem, value = at.problem, found.value
    for k in range(POINTS):
        point = _near(found, rng) if k % 2 else _random_point(problem, rng)
        outer, inner = interval(problem, point), inner_interval(problem, point)
        if not _contains(outer.lower, outer.upper, value):
            yield f"a point proves [{outer.lower!r}, {outer.upper!r}], the optimum is {value}"
        lower, upper = exact_values(at, point)
        if lower is not None and not Fraction(outer.lower) <= lower <= Fraction(inner.lower):
            yield (
                f"a point's dual value {float(lower)!r} is not within [{outer.lower!r}, "
                f"{inner.lower!r}]"
            )
        if upper is not None and not Fraction(inner.upper) <= upper <= Fraction(outer.upper):
            yield (
                f"a point's primal value {float(upper)!r} is not within [{inner.upper!r}, "
                f"{outer.upper!r}]"
            )


def _random_point(problem: Problem, rng: np.random.Generator) -> CanonicalPoint:
    scale = 10.0 ** rng.uniform(-3, 3)
    top = problem.box
    top = np.where(np.isfinite(top), top, scale)
    alpha = np.clip(top * rng.uniform(-0.5, 1.5, problem.p), 0.0, top)
    if isinstance(problem, OneNormProblem):
        return OneNormPoint(
            scale * np.maximum(rng.normal(size=problem.size), 0.0),
            alpha,
            scale * rng.normal() if problem.bias else None,
        )
    b = scale * rng.normal() if problem.bias else 0.0
    if problem.explicit is not None:
        return Point(w=scale * rng.normal(size=problem.explicit.q), b=b, alpha=alpha)
    return Point(beta=scale * rng.normal(size=problem.m), b=b, alpha=alpha)


def _near(found: ExactOptimum, rng: np.random.Generator) -> CanonicalPoint:
    """Return the optimal point in float64, with random relative errors."""
    rounded, size = found.point, 10.0 ** rng.uniform(-17, -3)

    def moved(v: Any) -> Any:
        return v * (1 + size * rng.normal(size=np.shape(v)))

    if isinstance(rounded, OneNormPoint):
        return OneNormPoint(
            moved(rounded.x),
            moved(rounded.u),
            None if rounded.b is None else float(moved(rounded.b)),
        )
    assert isinstance(rounded, Point)
    b = float(moved(rounded.b))
    if found.w is not None:
        return Point(
            w=moved(np.array([float(v) for v in found.w])), b=b, alpha=moved(rounded.alpha)
        )
    return Point(beta=moved(rounded.beta), b=b, alpha=moved(rounded.alpha))


def exact_values(at: Definition, point: Any) -> tuple[Fraction | None, Fraction | None]:
    """Return the dual value and the primal value of a point, as defined by `interval`.

    They are None if `interval` uses another point because rows are hard. Multipliers
    are rounded to their grid, and coefficients of equal points are summed in float64.
    """
    problem = at.problem
    if isinstance(problem, OneNormProblem):
        u = fractions(round_to_dyadic_grid(point.u, problem.exact_box, problem.bias_signs))
        x = (
            point.x
            if problem.over == "points"
            else round_to_dyadic_grid(point.x, np.full(problem.p, inf), np.zeros(problem.p))
        )
        lower = sum(u, Fraction(0)) / max([Fraction(1), *at.prices(u)])
        return lower, None if problem.bias and point.b is None else at.cost(
            fractions(x), Fraction(point.b or 0.0)
        )
    if None in at.c:
        return None, None
    lower, b = at.dual(fractions(problem.repaired(point.alpha))), Fraction(point.b)
    if problem.explicit is None:
        return lower, at.primal(fractions(problem.gram.merged(point.beta)), b)
    # `interval` rounds a w made from beta, which is not computed here.
    if point.w is None:
        return lower, None
    w, Z = fractions(point.w), [fractions(row) for row in dense(problem.explicit.stored)]
    f = [sum((z * v for z, v in zip(row, w, strict=True)), Fraction(0)) for row in Z]
    return lower, at.primal_of(f, sum((v**2 for v in w), Fraction(0)), b)


# The run.


def judged(problem: Problem, number: Sequence[int]) -> Trial:
    """Return the complaints about an instance, solved exactly and by every solver."""
    at, found = Definition(problem), exact_optimum(problem)
    rng = np.random.default_rng([*number, 1])
    said = [
        *wrong_optimum(at, found),
        *wrong_intervals(problem, found.value),
        *wrong_bounds(at, rng, found),
    ]
    counts = Counter({str(found.status): 1, "needed exact pivots": int(found.pivots > 0)})
    return Trial(said, counts, {"pivots": found.pivots})


CAMPAIGN = Campaign(
    __name__,
    __doc__,
    lambda _: (Check(family, judged, partial(drawn, family)) for family in FAMILIES),
    160,
    shared=True,
)
