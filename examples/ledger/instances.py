"""Instances of statements: small integer problems with their exact optima.

Mathematical symbols and signs are those of the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random

from equimargin.formulations import MarginProblem, classification, ranking_from_pairs, regression
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.programs.rational import Vector, dot
from equimargin.solvers.exact.optimum import exact_optimum
from equimargin.solvers.solution import Status

COSTS = (0.125, 0.25, 0.5, 1.0, 2.0, 8.0)
"""Drawn costs: at small costs most multipliers are at their bound, at large ones few."""
COORDINATES = range(-3, 4)
"""Drawn coordinates: so few that points often coincide, and lie on margins."""


def floats(x: Iterable[Sequence[Fraction]]) -> list[list[float]]:
    """Return points as lists of floats, for constructors of problems."""
    return [[float(v) for v in point] for point in x]


def combined(coefficients: Sequence[Fraction], points: Sequence[Vector]) -> Vector:
    """Return sum_i coefficients_i points_i."""
    return tuple(
        sum((c * v for c, v in zip(coefficients, column, strict=True)), Fraction(0))
        for column in zip(*points, strict=True)
    )


def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return tuple(u - v for u, v in zip(a, b, strict=True))


def points(random: Random, count: int, dimension: int = 2) -> tuple[Vector, ...]:
    """Return points with small integer coordinates."""
    return tuple(
        tuple(Fraction(random.choice(COORDINATES)) for _ in range(dimension)) for _ in range(count)
    )


def best_in_box(
    multipliers: Sequence[Fraction], slopes: Sequence[Fraction], bound: Fraction
) -> bool:
    """Return True if multipliers in [0, bound] maximise a concave function of these slopes.

    A slope may be positive at the bound, and negative at 0. A multiplier at the bound
    with a positive slope is optimal for no larger bound: a positive result determines
    the bound.
    """
    at = zip(multipliers, slopes, strict=True)
    return all(
        0 <= a <= bound and (a == bound or slope <= 0) and (a == 0 or slope >= 0) for a, slope in at
    )


@dataclass(frozen=True)
class RationalOptimum:
    """Exact optimum.

    Parameters
    ----------
    alpha, beta : Vector
        Multipliers and coefficients of `ExactOptimum`.
    w : Vector
        Weights; empty unless the kernel is linear.
    b : Fraction
        Optimal bias; 0 for a problem without a bias.
    """

    value: Fraction
    alpha: Vector
    beta: Vector
    w: Vector
    b: Fraction


def solved(problem: Problem) -> RationalOptimum:
    """Return the exact optimum of a problem that has one.

    Raises
    ------
    ArithmeticError
        If the exact optimum was not found.
    """
    optimum = exact_optimum(problem)
    if optimum.status is not Status.OPTIMAL or optimum.value is None:
        raise ArithmeticError(f"the exact optimum was not found: {optimum.reason}")
    bias = next((end for end in optimum.bias if end is not None), Fraction(0))
    return RationalOptimum(optimum.value, optimum.alpha, optimum.beta, optimum.w or (), bias)


@dataclass(frozen=True)
class Classes:
    """Labelled points with an optimal classifier F(x) = w.x - b, in the tutorial's sign of b.

    Parameters
    ----------
    x, y
        Points and labels.
    C : Fraction | None
        Cost; None for a hard margin.
    value, alpha, w, b
        Optimal value and point.
    """

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    C: Fraction | None
    value: Fraction
    alpha: Vector
    w: Vector
    b: Fraction

    def F(self, i: int) -> Fraction:
        """Return w.x_i - b."""
        return dot(self.w, self.x[i]) - self.b

    def margin(self, i: int) -> Fraction:
        """Return y_i F(x_i)."""
        return self.y[i] * self.F(i)

    def xi(self, i: int) -> Fraction:
        """Return the slack of point i."""
        return max(Fraction(0), 1 - self.margin(i))

    @property
    def all(self) -> range:
        """Indices of the points."""
        return range(len(self.y))

    def quadratic(self, alpha: Sequence[Fraction]) -> Fraction:
        """Return sum_ij alpha_i alpha_j y_i y_j x_i.x_j."""
        v = combined([a * s for a, s in zip(alpha, self.y, strict=True)], self.x)
        return dot(v, v)


def classes(problem: MarginProblem, x: tuple[Vector, ...], y: tuple[int, ...]) -> Classes:
    """Return a classification with its exact optimum."""
    optimum = solved(problem)
    C = None if float("inf") == problem.C else Fraction(problem.C)
    return Classes(x, y, C, optimum.value, optimum.alpha, optimum.w, -optimum.b)


def of_labels(x: tuple[Vector, ...], y: tuple[int, ...], C: float) -> Classes:
    """Return labelled points with their exact optimum."""
    return classes(classification(floats(x), list(y), C), x, y)


def separable(random: Random) -> Classes:
    """Draw a hard margin: points of two classes, and a line between them."""
    while True:
        x, w, b = (
            points(random, random.randint(3, 6)),
            points(random, 1)[0],
            Fraction(random.choice(COORDINATES)),
        )
        F = [dot(w, point) - b for point in x]
        y = tuple(1 if value > 0 else -1 for value in F)
        if 0 not in F and len(set(y)) == 2:
            return of_labels(x, y, float("inf"))


def soft(random: Random) -> Classes:
    """Draw a soft margin: points with labels that need not be separable."""
    x = points(random, random.randint(3, 6))
    y = tuple(random.choice((-1, 1)) for _ in x[2:])
    return of_labels(x, (1, -1, *y), random.choice(COSTS))


@dataclass(frozen=True)
class Tube:
    """Targets with an optimal regression F(x) = w.x + b.

    It has the value, alpha above and alphahat below the tube, w and b.
    """

    x: tuple[Vector, ...]
    y: Vector
    C: Fraction
    epsilon: Fraction
    value: Fraction
    alpha: Vector
    alphahat: Vector
    w: Vector
    b: Fraction

    def F(self, i: int) -> Fraction:
        """Return w.x_i + b."""
        return dot(self.w, self.x[i]) + self.b

    def xi(self, i: int) -> Fraction:
        """Return the excess of y_i above the tube."""
        return max(Fraction(0), self.y[i] - self.F(i) - self.epsilon)

    def xihat(self, i: int) -> Fraction:
        """Return the excess of y_i below the tube."""
        return max(Fraction(0), self.F(i) - self.y[i] - self.epsilon)

    @property
    def all(self) -> range:
        """Indices of the points."""
        return range(len(self.y))

    @property
    def differences(self) -> Vector:
        """alpha - alphahat."""
        return minus(self.alpha, self.alphahat)


def tube(random: Random) -> Tube:
    """Draw a regression on small integers."""
    x = points(random, random.randint(3, 6))
    y = tuple(Fraction(random.randint(-4, 4)) for _ in x)
    C, epsilon = random.choice(COSTS), random.choice((0.25, 0.5, 1.0))
    optimum = solved(regression(floats(x), [float(v) for v in y], C, epsilon))
    m = len(y)
    return Tube(
        x,
        y,
        Fraction(C),
        Fraction(epsilon),
        optimum.value,
        optimum.alpha[:m],
        optimum.alpha[m:],
        optimum.w,
        optimum.b,
    )


@dataclass(frozen=True)
class Ranked:
    """Preferences (i, j), x_i above x_j, with an optimal linear ranking F(x) = w.x.

    It has the value, alpha of every pair, and w.
    """

    x: tuple[Vector, ...]
    pairs: tuple[tuple[int, int], ...]
    C: Fraction | None
    value: Fraction
    alpha: Vector
    w: Vector

    def difference(self, r: int) -> Vector:
        """Return x_i - x_j of pair r."""
        i, j = self.pairs[r]
        return minus(self.x[i], self.x[j])

    def margin(self, r: int) -> Fraction:
        """Return w.(x_i - x_j)."""
        return dot(self.w, self.difference(r))

    def xi(self, r: int) -> Fraction:
        """Return the slack of pair r."""
        return max(Fraction(0), 1 - self.margin(r))

    @property
    def all(self) -> range:
        """Indices of the pairs."""
        return range(len(self.pairs))

    def quadratic(self, alpha: Sequence[Fraction]) -> Fraction:
        """Return sum alpha_ij alpha_uv (x_i - x_j).(x_u - x_v)."""
        v = combined(alpha, [self.difference(r) for r in self.all])
        return dot(v, v)


def of_pairs(x: tuple[Vector, ...], pairs: Sequence[tuple[int, int]], C: float) -> Ranked:
    """Return preferences with their exact optimum."""
    optimum = solved(ranking_from_pairs(floats(x), [list(pair) for pair in pairs], C))
    return Ranked(
        x,
        tuple(pairs),
        None if float("inf") == C else Fraction(C),
        optimum.value,
        optimum.alpha,
        optimum.w,
    )


def ranked(random: Random) -> Ranked:
    """Draw a soft ranking of few points, which a linear function may not attain."""
    x = points(random, random.randint(3, 5))
    return of_pairs(x, list(combinations(range(len(x)), 2)), random.choice(COSTS))


def rankable(random: Random) -> Ranked:
    """Draw a hard ranking: an order along some direction."""
    while True:
        x, w = points(random, random.randint(3, 5)), points(random, 1)[0]
        scores = [dot(w, point) for point in x]
        if len(set(scores)) == len(scores):
            order = sorted(range(len(x)), key=lambda i: -scores[i])
            return of_pairs(
                tuple(x[i] for i in order), list(combinations(range(len(x)), 2)), float("inf")
            )


def cost(at: Classes | Ranked) -> Fraction:
    """Return C of a soft margin."""
    assert at.C is not None
    return at.C


def slacks(at: Classes | Ranked) -> Fraction:
    """Return the sum of all slacks."""
    return sum((at.xi(i) for i in at.all), Fraction(0))
