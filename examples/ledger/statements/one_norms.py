"""Document T, section 5: 1-norm rankings and ranking vector machines, (92) to (104).

Statements of document K on them are here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random

from equimargin.formulations import (
    one_norm_ranking,
    polynomial,
    ranking_from_pairs,
    ranking_vector_machine,
)
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.programs.rational import Vector, dot
from ledger.instances import COSTS, Ranked, combined, floats, minus, points, ranked, solved
from ledger.statement import as_printed, statement
from ledger.statements.kernels import k

Pairs = list[tuple[int, int]]


@statement("T.92", ranked)
def scores_are_sums_of_products(at: Ranked) -> bool:
    """F(x_u) > F(x_v) if and only if sum alpha_ij (x_i - x_j).x_u > sum alpha_ij (x_i -
    x_j).x_v.
    """
    scores = [
        sum((a * dot(at.difference(r), x) for r, a in enumerate(at.alpha)), Fraction(0))
        for x in at.x
    ]
    return scores == [dot(at.w, x) for x in at.x]


@statement("T.93", ranked)
def preferences_are_products_of_differences(at: Ranked) -> bool:
    """sum alpha_ij (x_i - x_j).(x_u - x_v) is F(x_u) - F(x_v)."""
    for u, v in at.pairs:
        total = sum(
            (a * dot(at.difference(r), minus(at.x[u], at.x[v])) for r, a in enumerate(at.alpha)),
            Fraction(0),
        )
        if total != dot(at.w, at.x[u]) - dot(at.w, at.x[v]):
            return False
    return True


@dataclass(frozen=True)
class Program:
    """Linear program min 1'a + C 1'xi, M a >= 1 - xi, a and xi >= 0, and its optimum.

    The optimum comes with the multipliers of its rows.
    """

    x: tuple[Vector, ...]
    pairs: tuple[tuple[int, int], ...]
    M: tuple[Vector, ...]
    C: Fraction
    value: Fraction
    a: Vector
    u: Vector

    def margin(self, r: int) -> Fraction:
        """Return (M a)_r."""
        return dot(self.M[r], self.a)

    def xi(self, r: int) -> Fraction:
        """Return the slack of a row."""
        return max(Fraction(0), 1 - self.margin(r))

    @property
    def all(self) -> range:
        """The numbers of the rows."""
        return range(len(self.M))


def program(
    random: Random,
    make: Callable[..., Problem],
    entries: Callable[[tuple[Vector, ...], Pairs], list[Vector]],
) -> Program:
    """Draw a program of the kernel (1 + a.b)^2 on an order of all points, best first."""
    x, C = points(random, random.randint(3, 4)), random.choice(COSTS)
    pairs = list(combinations(range(len(x)), 2))
    X, y = floats(x), list(range(len(x), 0, -1))
    optimum = solved(make(X, y, C=C, kernel=polynomial(2, 1.0, 1.0)))
    return Program(
        x,
        tuple(pairs),
        tuple(entries(x, pairs)),
        Fraction(C),
        optimum.value,
        optimum.beta,
        optimum.alpha,
    )


def of_points(x: tuple[Vector, ...], pairs: Pairs) -> list[Vector]:
    """Return K(x_i, x_u) - K(x_i, x_v) of (103): a row a pair (u, v), a column a point."""
    return [tuple(k(z, x[u]) - k(z, x[v]) for z in x) for u, v in pairs]


def of_pairs(x: tuple[Vector, ...], pairs: Pairs) -> list[Vector]:
    """Return (phi_i - phi_j).(phi_u - phi_v): a row and a column a pair."""
    return [
        tuple(k(x[i], x[u]) + k(x[j], x[v]) - k(x[i], x[v]) - k(x[j], x[u]) for i, j in pairs)
        for u, v in pairs
    ]


def of_differences(x: tuple[Vector, ...], pairs: Pairs) -> list[Vector]:
    """Return K(x_i - x_j, x_u - x_v), as (95) is printed."""
    return [tuple(k(minus(x[i], x[j]), minus(x[u], x[v])) for i, j in pairs) for u, v in pairs]


def vectors(random: Random) -> Program:
    """Draw a ranking vector machine."""
    return program(random, ranking_vector_machine, of_points)


def one_norm(random: Random) -> Program:
    """Draw a 1-norm ranking SVM."""
    return program(random, one_norm_ranking, of_pairs)


def priced(at: Program) -> Fraction:
    """Return 1'a + C 1'xi."""
    return sum(at.a, Fraction(0)) + at.C * sum((at.xi(r) for r in at.all), Fraction(0))


@statement("T.94", one_norm)
def the_value_of_a_one_norm_ranking(at: Program) -> bool:
    """sum alpha_ij + C sum xi_ij is the optimum."""
    return priced(at) == at.value


@statement("T.95", one_norm)
def the_rows_of_a_one_norm_ranking(at: Program) -> bool:
    """Rows are products of phi_i - phi_j and phi_u - phi_v: the multipliers of the rows
    prove the optimum.
    """
    return sum(at.u) == at.value and all(
        dot(at.u, column) <= 1 for column in zip(*at.M, strict=True)
    )


@as_printed("T.95")
def the_rows_have_kernels_of_differences(at: Program) -> bool:
    """Rows K(x_i - x_j, x_u - x_v) with the same multipliers, which then need not be feasible."""
    return all(
        dot(at.u, column) <= 1 for column in zip(*of_differences(at.x, list(at.pairs)), strict=True)
    )


@statement("T.96", one_norm)
def coefficients_and_slacks_are_not_negative(at: Program) -> bool:
    """alpha >= 0, xi >= 0."""
    return all(a >= 0 for a in at.a)


@statement("T.96.program", one_norm)
def a_one_norm_ranking_is_a_linear_program(at: Program) -> bool:
    """Its dual is linear, too, and has its value: max 1'u with M'u <= 1 and 0 <= u <= C."""
    prices = [dot(at.u, column) for column in zip(*at.M, strict=True)]
    return (
        max(prices) <= 1
        and all(0 <= u <= at.C for u in at.u)
        and min(at.a) >= 0
        and sum(at.u) == priced(at)
    )


@statement("T.96.suppress", one_norm)
def a_small_sum_bounds_the_norm(at: Program) -> bool:
    """|w|^2 = sum alpha_r alpha_s M_rs is at most (sum alpha)^2 times the largest M_rr."""
    form = sum((a * dot(row, at.a) for a, row in zip(at.a, at.M, strict=True)), Fraction(0))
    return form <= sum(at.a) ** 2 * max(row[r] for r, row in enumerate(at.M))


@as_printed("T.96.suppress")
def a_small_sum_is_a_small_norm(at: Program) -> bool:
    """Suppressing alpha corresponds to suppressing w: the 1-norm optimum is one of the
    standard SVM, too.
    """
    form = sum((a * dot(row, at.a) for a, row in zip(at.a, at.M, strict=True)), Fraction(0))
    standard = ranking_from_pairs(
        floats(at.x), [list(pair) for pair in at.pairs], float(at.C), polynomial(2, 1.0, 1.0)
    )
    return form / 2 + at.C * sum((at.xi(r) for r in at.all), Fraction(0)) == solved(standard).value


@statement("T.98", ranked)
def the_minimiser_lies_in_the_span(at: Ranked) -> bool:
    """F = sum beta_i K(x_i, .): the optimal w is a combination of the training points."""
    beta = [Fraction(0)] * len(at.x)
    for a, (i, j) in zip(at.alpha, at.pairs, strict=True):
        beta[i], beta[j] = beta[i] + a, beta[j] - a
    return combined(beta, at.x) == at.w


@statement("T.99", vectors)
def scores_are_sums_over_points(at: Program) -> bool:
    """F(x_u) > F(x_v) if and only if sum alpha_i K(x_i, x_u) > sum alpha_i K(x_i, x_v)."""
    F = [sum((a * k(z, x) for a, z in zip(at.a, at.x, strict=True)), Fraction(0)) for x in at.x]
    return all((F[u] > F[v]) == (at.margin(r) > 0) for r, (u, v) in enumerate(at.pairs))


@statement("T.100", vectors)
def margins_are_sums_of_differences_of_kernels(at: Program) -> bool:
    """sum alpha_i (K(x_i, x_u) - K(x_i, x_v))."""
    F = [sum((a * k(z, x) for a, z in zip(at.a, at.x, strict=True)), Fraction(0)) for x in at.x]
    return all(F[u] - F[v] == at.margin(r) for r, (u, v) in enumerate(at.pairs))


@statement("T.101", vectors)
def the_loss_is_the_positive_part(at: Program) -> bool:
    """c = sum (1 - margin)_+ is the sum of the slacks, and gives the optimal value."""
    return (
        sum(at.a) + at.C * sum((max(Fraction(0), 1 - at.margin(r)) for r in at.all), Fraction(0))
        == at.value
    )


@as_printed("T.101")
def the_loss_is_one_minus_the_margin(at: Program) -> bool:
    """c = sum (1 - margin), which margins beyond 1 make negative."""
    return sum(at.a) + at.C * sum((1 - at.margin(r) for r in at.all), Fraction(0)) == at.value


@dataclass(frozen=True)
class Margins:
    """The margins of two pairs, by one function and by another."""

    one: tuple[Fraction, Fraction]
    other: tuple[Fraction, Fraction]


def margins(random: Random) -> Margins:
    """Draw one pair misranked by far, and two misranked by little."""
    return Margins(
        (Fraction(-random.randint(1, 4)), Fraction(2)), (Fraction(-1, 2), Fraction(-1, 2))
    )


def misranked(of: tuple[Fraction, Fraction]) -> int:
    """Return the number of misranked pairs."""
    return sum(margin <= 0 for margin in of)


def loss(of: tuple[Fraction, Fraction]) -> Fraction:
    """Return the sum of the positive parts of 1 - margin."""
    return sum((max(Fraction(0), 1 - margin) for margin in of), Fraction(0))


@statement("T.101.misranked", margins)
def the_loss_bounds_the_misranked_pairs(at: Margins) -> bool:
    """The loss is at least the number of misranked pairs."""
    return misranked(at.one) <= loss(at.one) and misranked(at.other) <= loss(at.other)


@as_printed("T.101.misranked")
def the_loss_rises_with_the_misranked_pairs(at: Margins) -> bool:
    """ "It returns higher values as the number of misranked pairs increases": two
    misranked pairs have a larger loss than one.
    """
    return loss(at.one) < loss(at.other)


@statement("T.102", vectors)
def the_value_of_a_ranking_vector_machine(at: Program) -> bool:
    """sum alpha_i + C sum xi_uv is the optimum, proven by the multipliers of the rows."""
    return priced(at) == at.value == sum(at.u)


@statement("T.103", vectors)
def the_multipliers_of_pairs_price_no_point_above_one(at: Program) -> bool:
    """u'M <= 1 and 0 <= u <= C: with equality on every ranking vector."""
    prices = [dot(at.u, column) for column in zip(*at.M, strict=True)]
    return all(p <= 1 and (p == 1 or a == 0) for p, a in zip(prices, at.a, strict=True)) and all(
        0 <= u <= at.C for u in at.u
    )


@statement("T.104", vectors)
def coefficients_of_points_are_not_negative(at: Program) -> bool:
    """alpha, xi >= 0."""
    return all(a >= 0 for a in at.a)


@statement("T.104.count", vectors)
def a_ranking_vector_machine_has_a_variable_a_point(at: Program) -> bool:
    """There are m coefficients, and P of the 1-norm ranking."""
    return len(at.a) == len(at.x) and len(at.pairs) == len(at.x) * (len(at.x) - 1) // 2


@dataclass(frozen=True)
class Twice:
    """Point x, of a sample x, 2x in which (1, 0) and (0, 1/2) are coefficients of one f."""

    x: Vector
    share: Fraction


def twice(random: Random) -> Twice:
    """Draw a point other than the origin and a share of its coefficient."""
    return Twice((Fraction(random.choice((1, 2, 3))),), Fraction(random.randint(1, 3), 4))


def linear_norm(coefficients: Vector, x: tuple[Vector, ...]) -> Fraction:
    """Return |f|^2 of f = sum coefficients_i x_i with K(a, b) = a.b."""
    w = combined(coefficients, x)
    return dot(w, w)


@statement("T.102.omega", twice)
def the_sum_of_coefficients_is_no_function_of_the_norm(at: Twice) -> bool:
    """x with the coefficient 1 is 2x with the coefficient 1/2: one function, one norm,
    and two sums of coefficients.
    """
    x = (at.x, tuple(2 * v for v in at.x))
    one, other = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1, 2))
    return linear_norm(one, x) == linear_norm(other, x) and sum(one) != sum(other)


@as_printed("T.102.omega")
def the_sum_of_coefficients_is_a_function_of_the_norm(at: Twice) -> bool:
    """Omega(|f|) = sum alpha_i is a strictly increasing function of the norm: equal
    norms have equal sums.
    """
    x = (at.x, tuple(2 * v for v in at.x))
    one, other = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1, 2))
    return linear_norm(one, x) != linear_norm(other, x) or sum(one) == sum(other)


@dataclass(frozen=True)
class Moved:
    """Optima of a linear ranking vector machine and SVM, before and after all points move."""

    vectors: tuple[Fraction, Fraction]
    rankings: tuple[Fraction, Fraction]


def moved(random: Random) -> Moved:
    """Draw points on a line, and the same points further away."""
    x = [point[0] for point in points(random, 3, 1)]
    C, by = random.choice(COSTS), random.choice((-4.0, 4.0))
    y = [3, 2, 1]
    pairs = [[0, 1], [0, 2], [1, 2]]
    values = []
    for shift in (0.0, by):
        X = [[float(v) + shift] for v in x]
        values.append(
            (
                solved(ranking_vector_machine(X, y, C=C)).value,
                solved(ranking_from_pairs(X, pairs, C)).value,
            )
        )
    (first, ranked_first), (second, ranked_second) = values
    assert first is not None
    assert second is not None
    assert ranked_first is not None
    assert ranked_second is not None
    return Moved((first, second), (ranked_first, ranked_second))


@statement("T.104.span", moved)
def a_ranking_svm_does_not_depend_on_the_origin(at: Moved) -> bool:
    """The optimum of the ranking SVM, to which the representer theorem applies, does not
    change if all points move.
    """
    return at.rankings[0] == at.rankings[1]


@as_printed("T.104.span")
def a_ranking_vector_machine_does_not_depend_on_the_origin(at: Moved) -> bool:
    """ "As suggested in the representer theorem": the optimum of a machine that follows
    from it would not change if all points move.
    """
    return at.vectors[0] == at.vectors[1]


@statement("K.2.10", vectors)
def the_linear_program_of_k_is_that_of_t(at: Program) -> bool:
    """e'beta + C e'xi with (Q beta)_i - (Q beta)_j >= 1 - xi_ij and beta >= 0 has rows of A Q."""
    Q = [[k(a, b) for b in at.x] for a in at.x]
    rows = [tuple(a - b for a, b in zip(Q[i], Q[j], strict=True)) for i, j in at.pairs]
    return list(at.M) == rows and min(at.a) >= 0 and priced(at) == at.value


@statement("K.2.10.evaluations", vectors)
def both_programs_take_the_values_of_the_points(at: Program) -> bool:
    """ "If Q can be stored, both approaches require only O(l^2) kernel evaluations":
    every entry is a difference of two of Q's.
    """
    known = {k(a, b) for a in at.x for b in at.x}
    return all(any(entry + value in known for value in known) for row in at.M for entry in row)
