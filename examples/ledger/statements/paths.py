"""Document P: the ranking SVM with lambda, its singularity, and its regularisation path."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

from equimargin.formulations import reduced_preferences
from equimargin.formulations.programs.rational import Vector, dot
from equimargin.solvers.exact.path import exact_path
from equimargin.testing import ranking_with_a_long_path
from ledger.instances import (
    COSTS,
    Ranked,
    best_in_box,
    combined,
    cost,
    of_pairs,
    points,
    ranked,
    slacks,
)
from ledger.statement import as_printed, statement
from ledger.statements.rankings import coefficients, incidence, multiplied, rank, transposed


def scaled(at: Ranked) -> Vector:
    """Return alpha of (8), between 0 and 1: the alpha of this package over C."""
    return tuple(a / cost(at) for a in at.alpha)


def lambda_of_5(at: Ranked) -> Fraction:
    """Return the lambda of (5) whose solution is that of the cost C: 1 / (2C)."""
    return 1 / (2 * cost(at))


def lambda_of_6(at: Ranked) -> Fraction:
    """Return the lambda of (6) whose solution is that of the cost C: 1 / C."""
    return 1 / cost(at)


@statement("P.1", ranked)
def a_regularised_risk_is_a_priced_margin(at: Ranked) -> bool:
    """V(f) + lambda |f|^2 is 2 lambda times |f|^2 / 2 + C V(f) with C = 1 / (2 lambda)."""
    lam = lambda_of_5(at)
    return slacks(at) + lam * dot(at.w, at.w) == 2 * lam * at.value


@statement("P.5", ranked)
def the_value_of_5(at: Ranked) -> bool:
    """1'zeta + lambda |f|^2 at lambda = 1 / (2C) is the optimum over C."""
    return slacks(at) + lambda_of_5(at) * dot(at.w, at.w) == at.value / cost(at)


@statement("P.6", ranked)
def the_value_of_6(at: Ranked) -> bool:
    """1'zeta + lambda / 2 beta'K beta at lambda = 1 / C is the optimum over C."""
    beta = coefficients(at)
    w = combined(beta, at.x)
    return slacks(at) + lambda_of_6(at) / 2 * dot(w, w) == at.value / cost(at)


@statement("P.6.lambda", ranked)
def the_lambda_of_6_is_twice_that_of_5(at: Ranked) -> bool:
    """(6) at 2 lambda has the solution of (5) at lambda; both have the cost 1 / (2 lambda)."""
    return of_pairs(at.x, at.pairs, float(1 / (2 * lambda_of_5(at)))).w == at.w


@as_printed("P.6.lambda")
def the_lambda_of_6_is_that_of_5(at: Ranked) -> bool:
    """ "Using this notation, a ranking problem (5) can be written as (6)", with one
    lambda, at which the cost of (6) is 1 / lambda.
    """
    return of_pairs(at.x, at.pairs, float(1 / lambda_of_5(at))).w == at.w


@statement("P.5.order", ranked)
def the_other_order_of_a_pair_negates_the_function(at: Ranked) -> bool:
    """With all pairs reversed, as (5) has them in comparison with (6), -f is optimal."""
    turned = of_pairs(at.x, [(j, i) for i, j in at.pairs], float(cost(at)))
    return turned.w == tuple(-v for v in at.w) and turned.value == at.value


@as_printed("P.5.order")
def both_orders_of_a_pair_have_one_function(at: Ranked) -> bool:
    """(5) and (6) with their printed pairs have one solution."""
    return of_pairs(at.x, [(j, i) for i, j in at.pairs], float(cost(at))).w == at.w


@statement("P.7", ranked)
def the_rows_of_pk_are_differences(at: Ranked) -> bool:
    """(P K)_i = k(x_k)' - k(x_l)'."""
    K = [[dot(a, b) for b in at.x] for a in at.x]
    product = multiplied(incidence(at.pairs, len(at.x)), transposed(K))
    return all(
        product[r] == [a - b for a, b in zip(K[i], K[j], strict=True)]
        for r, (i, j) in enumerate(at.pairs)
    )


@statement("P.7.kkt", ranked)
def multipliers_are_between_zero_and_one(at: Ranked) -> bool:
    """0 = 1 - alpha - gamma with both at least 0: 0 <= alpha <= 1, and gamma_i zeta_i = 0."""
    return all(0 <= a <= 1 and (1 - a) * at.xi(r) == 0 for r, a in enumerate(scaled(at)))


@statement("P.7.f", ranked)
def the_function_is_a_sum_over_lambda(at: Ranked) -> bool:
    """f(x) = alpha'P k(x) / lambda."""
    over = tuple(
        v / lambda_of_6(at) for v in combined(scaled(at), [at.difference(r) for r in at.all])
    )
    return over == at.w


@statement("P.8", ranked)
def the_dual_of_6(at: Ranked) -> bool:
    """1'alpha - alpha'P K P'alpha / (2 lambda) is the optimum of (6) at an alpha that
    maximises it over 0 <= alpha <= 1; its derivatives are 1 - margin.
    """
    a = scaled(at)
    value = sum(a) - at.quadratic(a) / (2 * lambda_of_6(at))
    return value == at.value / cost(at) and best_in_box(
        a, [1 - at.margin(r) for r in at.all], Fraction(1)
    )


@statement("P.8.size", ranked)
def the_dual_has_a_variable_a_pair(at: Ranked) -> bool:
    """alpha is in R^m, m the number of pairs."""
    return len(at.alpha) == len(at.pairs)


@as_printed("P.8.size")
def the_dual_has_a_variable_a_point(at: Ranked) -> bool:
    """alpha in R^n, n the number of points."""
    return len(at.alpha) == len(at.x)


@statement("P.5.sets.margin", ranked)
def free_multipliers_are_on_the_margin(at: Ranked) -> bool:
    """0 < alpha_i < 1 implies f(x_k) - f(x_l) = 1: I_alpha has these pairs, maybe others."""
    return all(at.margin(r) == 1 for r, a in enumerate(scaled(at)) if 0 < a < 1)


@as_printed("P.5.sets.margin")
def exactly_the_free_multipliers_are_on_the_margin(at: Ranked) -> bool:
    """{f(x_k) - f(x_l) = 1} = {0 < alpha_i < 1}."""
    return all((at.margin(r) == 1) == (0 < a < 1) for r, a in enumerate(scaled(at)))


@statement("P.5.sets.zero", ranked)
def satisfied_pairs_have_no_multiplier(at: Ranked) -> bool:
    """f(x_k) - f(x_l) > 1 implies alpha_i = 0."""
    return all(a == 0 for r, a in enumerate(scaled(at)) if at.margin(r) > 1)


@as_printed("P.5.sets.zero")
def exactly_the_satisfied_pairs_have_no_multiplier(at: Ranked) -> bool:
    """{f(x_k) - f(x_l) > 1} = {alpha_i = 0}."""
    return all((at.margin(r) > 1) == (a == 0) for r, a in enumerate(scaled(at)))


@statement("P.5.sets.one", ranked)
def violated_pairs_have_the_multiplier_one(at: Ranked) -> bool:
    """f(x_k) - f(x_l) < 1 implies alpha_i = 1."""
    return all(a == 1 for r, a in enumerate(scaled(at)) if at.margin(r) < 1)


@as_printed("P.5.sets.one")
def exactly_the_violated_pairs_have_the_multiplier_one(at: Ranked) -> bool:
    """{f(x_k) - f(x_l) < 1} = {alpha_i = 1}."""
    return all((at.margin(r) < 1) == (a == 1) for r, a in enumerate(scaled(at)))


@dataclass(frozen=True)
class Segment:
    """Ranking at three close values of lambda, and P's sets at the outer two."""

    ends: tuple[Ranked, Ranked]
    middle: Ranked

    @property
    def unchanged(self) -> bool:
        """True if every pair is on the same side of the margin at both ends."""
        first, last = self.ends
        return all(side(first, r) == side(last, r) for r in first.all)

    @property
    def share(self) -> Fraction:
        """Place of the middle's lambda between those of the ends."""
        first, last = (lambda_of_6(end) for end in self.ends)
        return (lambda_of_6(self.middle) - first) / (last - first)


def side(at: Ranked, r: int) -> int:
    """Return -1, 0 or 1: within the margin, on it, beyond it."""
    return (at.margin(r) > 1) - (at.margin(r) < 1)


def segment(random: Random) -> Segment:
    """Draw a ranking at C, 65/64 C and 33/32 C."""
    x, C = points(random, random.randint(3, 5)), random.choice(COSTS)
    pairs = list(combinations(range(len(x)), 2))
    first, middle, last = (of_pairs(x, pairs, C * factor) for factor in (1.0, 1.015625, 1.03125))
    return Segment((first, last), middle)


def between(at: Segment, scale: bool) -> bool:
    """Return True if w, or lambda w, is affine in lambda at the three values of a segment.

    Return True, too, if the sets change.
    """
    if not at.unchanged:
        return True
    first, middle, last = (
        tuple((lambda_of_6(p) if scale else 1) * v for v in p.w)
        for p in (at.ends[0], at.middle, at.ends[1])
    )
    return all(
        m == (1 - at.share) * a + at.share * b for a, m, b in zip(first, middle, last, strict=True)
    )


@statement("P.theorem1.function", segment)
def lambda_times_the_function_is_linear(at: Segment) -> bool:
    """Where the sets do not change, lambda f is linear in lambda."""
    return between(at, scale=True)


@as_printed("P.theorem1.function")
def the_function_is_linear(at: Segment) -> bool:
    """f is linear in lambda: Definition 2.2 and Theorem 1."""
    return between(at, scale=False)


@dataclass(frozen=True)
class Curved:
    """Weight lambda, a value of f to compare with, and four values of f in equal steps.

    All are positive.
    """

    lam: Fraction
    f: Fraction
    four: tuple[Fraction, ...]


def curved(random: Random) -> Curved:
    """Draw weights on both sides of 1, above which the solution is 0."""
    start, step = Fraction(random.randint(0, 4), 4), Fraction(random.randint(1, 4), 4)
    four = tuple(start + i * step for i in range(4))
    return Curved(Fraction(random.randint(0, 12), 8), Fraction(random.randint(-8, 8), 4), four)


def bent_loss(f: Fraction) -> Fraction:
    """Return f^4 / 4 - f^3 / 3 + f^2 / 2 - f, convex: its f'' is 3 f^2 - 2 f + 1 > 0."""
    return f**4 / 4 - f**3 / 3 + f**2 / 2 - f


def bent_regulariser(f: Fraction) -> Fraction:
    """Return |f| + |f|^3 / 3, convex."""
    return abs(f) + abs(f) ** 3 / 3


@statement("P.theorem1.necessary", curved)
def a_path_may_be_linear_without_the_conditions(at: Curved) -> bool:
    """V of the fourth degree and Omega of the third have the path f = max(0, 1 -
    lambda): no other f has a smaller V + lambda Omega.
    """
    best = max(Fraction(0), 1 - at.lam)
    return bent_loss(best) + at.lam * bent_regulariser(best) <= bent_loss(
        at.f
    ) + at.lam * bent_regulariser(at.f)


@as_printed("P.theorem1.necessary")
def a_linear_path_needs_the_conditions(at: Curved) -> bool:
    """Then both would be of the second degree at most, and their third differences 0."""
    return all(
        of(at.four[3]) - 3 * of(at.four[2]) + 3 * of(at.four[1]) - of(at.four[0]) == 0
        for of in (bent_loss, bent_regulariser)
    )


@statement("P.5.obtained", segment)
def the_solution_between_is_a_mean(at: Segment) -> bool:
    """Where the sets do not change, the mean of the multipliers of both ends is optimal
    between them, and has the optimal function.
    """
    if not at.unchanged:
        return True
    ends = zip(*(scaled(end) for end in at.ends), strict=True)
    alpha = [(1 - at.share) * a + at.share * b for a, b in ends]
    value = sum(alpha, Fraction(0)) - at.middle.quadratic(alpha) / (2 * lambda_of_6(at.middle))
    f = combined(alpha, [at.middle.difference(r) for r in at.middle.all])
    return value == at.middle.value / cost(at.middle) and f == tuple(
        lambda_of_6(at.middle) * v for v in at.middle.w
    )


@statement("P.9", segment)
def the_function_changes_with_the_multipliers_of_the_margin(at: Segment) -> bool:
    """lambda f - lambda^t f^t = (alpha - alpha^t)'P k(x)."""
    first, last = at.ends
    change = combined(
        [a - b for a, b in zip(scaled(last), scaled(first), strict=True)],
        [first.difference(r) for r in first.all],
    )
    return all(
        lambda_of_6(last) * b - lambda_of_6(first) * a == c
        for a, b, c in zip(first.w, last.w, change, strict=True)
    )


@statement("P.10", segment)
def the_change_of_lambda_is_that_of_the_margins(at: Segment) -> bool:
    """lambda - lambda^t = (alpha - alpha^t)'P (k(x_k) - k(x_l)) for every pair that is
    on the margin at both ends.
    """
    first, last = at.ends
    change = combined(
        [a - b for a, b in zip(scaled(last), scaled(first), strict=True)],
        [first.difference(r) for r in first.all],
    )
    on = [r for r in first.all if first.margin(r) == 1 == last.margin(r)]
    return all(
        dot(change, first.difference(r)) == lambda_of_6(last) - lambda_of_6(first) for r in on
    )


def few_pairs(random: Random) -> int:
    """Draw a number of pairs."""
    return random.randint(1, 7)


@statement("P.5.3.total", few_pairs)
def a_path_may_have_two_to_the_pairs_breakpoints(pairs: int) -> bool:
    """A path of p pairs may have 2^p - 1 breakpoints; a convex program of p variables is
    solved in a time polynomial in p.
    """
    return len(exact_path(ranking_with_a_long_path(pairs)).breakpoints) + 1 == 1 << pairs


@as_printed("P.5.3.total")
def breakpoints_are_a_few_a_pair(pairs: int) -> bool:
    """The time of a few solutions, here ten, allows at most ten breakpoints for each pair,
    as each is an event.
    """
    return len(exact_path(ranking_with_a_long_path(pairs)).breakpoints) <= 10 * pairs


@statement("P.5.1.alpha", ranked)
def all_multipliers_are_one_where_lambda_is_large(at: Ranked) -> bool:
    """At lambda above max P K P'1 alpha = 1 is optimal, and beta = P'1 / lambda."""
    large = of_pairs(at.x, at.pairs, float(1 / Fraction(2 ** lambda_0(at).__ceil__().bit_length())))
    total = combined([Fraction(1)] * len(at.pairs), [at.difference(r) for r in at.all])
    return large.w == tuple(v / lambda_of_6(large) for v in total)


@as_printed("P.5.1.alpha")
def the_function_is_zero_where_lambda_is_large(at: Ranked) -> bool:
    """ "If lambda is very large, beta = 0 minimizes Problem (6)"."""
    large = of_pairs(at.x, at.pairs, float(1 / Fraction(2 ** lambda_0(at).__ceil__().bit_length())))
    return not any(large.w)


def lambda_0(at: Ranked) -> Fraction:
    """max P K P'1."""
    total = combined([Fraction(1)] * len(at.pairs), [at.difference(r) for r in at.all])
    return max(dot(total, at.difference(r)) for r in at.all)


@statement("P.5.1.lambda0", ranked)
def all_multipliers_are_one_from_lambda_0_on(at: Ranked) -> bool:
    """alpha = 1 is optimal if and only if lambda >= max P K P'1: it has the optimal
    value exactly then.
    """
    ones = [Fraction(1)] * len(at.pairs)
    reached = sum(ones) - at.quadratic(ones) / (2 * lambda_of_6(at)) == at.value / cost(at)
    return reached == (lambda_of_6(at) >= lambda_0(at))


@dataclass(frozen=True)
class Levels:
    """Relevances of points."""

    y: tuple[int, ...]

    @property
    def counts(self) -> list[int]:
        """Points of each level, from the lowest."""
        return [self.y.count(level) for level in sorted(set(self.y))]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The reduced graph of Figure 3."""
        return tuple((int(i), int(j)) for i, j in reduced_preferences(list(self.y)))

    @property
    def all_pairs(self) -> tuple[tuple[int, int], ...]:
        """All preferences."""
        numbers = range(len(self.y))
        return tuple((i, j) for i in numbers for j in numbers if self.y[i] > self.y[j])


def levels(random: Random) -> Levels:
    """Draw three levels of two or three points each."""
    return Levels(tuple(level for level in range(3) for _ in range(random.randint(2, 3))))


def _one_above(random: Random) -> Levels:
    """Draw one point above ten or more equal ones, or two levels of as many points."""
    n = random.randint(10, 20)
    return Levels(
        (1, *(0 for _ in range(n)))
        if random.random() < 0.5
        else (*(1 for _ in range(n)), *(0 for _ in range(n)))
    )


@statement("P.6.size", _one_above)
def preferences_grow_as_the_square_where_shares_stay(at: Levels) -> bool:
    """With twice as many points of every level there are four times as many preferences;
    there are at most n (n - 1) / 2.
    """
    return len(Levels(at.y * 2).all_pairs) == 4 * len(at.all_pairs) <= 4 * comb(len(at.y), 2)


@as_printed("P.6.size")
def preferences_are_of_the_order_of_the_square(at: Levels) -> bool:
    """At least an eighth of the square of n, whatever the levels."""
    return 8 * len(at.all_pairs) >= len(at.y) ** 2


def dependent(pairs: tuple[tuple[int, int], ...], m: int) -> bool:
    """Return True if the rows of P are dependent; P K P' is then singular for every K."""
    return rank(incidence(pairs, m)) < len(pairs)


@statement("P.4.singular", levels)
def the_hessian_of_all_pairs_is_singular(at: Levels) -> bool:
    """Pairs implied by others make P K P' singular, here with one point of each level; so
    do cycles between two levels, whose pairs are not implied.
    """
    first = [at.y.index(level) for level in range(3)]
    chain = tuple((i, j) for i, j in at.all_pairs if i in first and j in first)
    circle = tuple((i, j) for i, j in at.all_pairs if at.y[i] == 1)
    return dependent(chain, len(at.y)) and dependent(circle, len(at.y))


@statement("P.4.regular", levels)
def the_hessian_of_three_reduced_levels_is_singular(at: Levels) -> bool:
    """A graph of three levels has cycles: the number of dependent rows is the number of
    edges less n - 1.
    """
    return (
        len(at.edges) - rank(incidence(at.edges, len(at.y))) == len(at.edges) - (len(at.y) - 1) > 0
    )


@as_printed("P.4.regular")
def the_hessian_of_the_reduced_graph_is_regular(at: Levels) -> bool:
    """ "New graph that will generate a non singular Hessian"."""
    return not dependent(at.edges, len(at.y))


@statement("P.4.size", levels)
def the_reduced_graph_has_the_order_of_n_edges(at: Levels) -> bool:
    """The sum of n_k - 1 over all levels below the highest, plus that of n_k over all
    levels above the lowest, is less than 2n.
    """
    n = at.counts
    return len(at.edges) == sum(c - 1 for c in n[:-1]) + sum(n[1:]) < 2 * len(at.y)


@dataclass(frozen=True)
class Sample:
    """Data set of Table 1: numbers of points of both classes, of pairs, of reduced pairs."""

    negative: int
    positive: int
    pairs: int
    reduced: int


TABLE_1 = (
    Sample(100, 100, 10000, 199),
    Sample(500, 268, 134000, 767),
    Sample(357, 212, 75684, 568),
)
"""Mixtures, Diabetes and Cancer.

The document does not have the numbers of points of each level of Auto.
"""


@statement("P.table1", lambda random: random.choice(TABLE_1))
def the_numbers_of_pairs_of_table_1(at: Sample) -> bool:
    """n_+ n_- pairs, and n_+ + n_- - 1 of the reduced graph."""
    return at.negative * at.positive == at.pairs and at.negative + at.positive - 1 == at.reduced


@dataclass(frozen=True)
class Split:
    """Row of Table 2: "instances" and "constraints" of the training set, and other sizes.

    The others are the size of the test set, for which both are equal, and of all points.
    """

    instances: int
    constraints: int
    test: int
    size: int


TABLE_2 = (
    Split(99, 100, 50, 200),
    Split(305, 196, 98, 392),
    Split(383, 384, 192, 768),
    Split(284, 285, 142, 569),
)
"""Mixtures, Auto, Diabetes and Cancer; the validation set is as large as the test set."""


@statement("P.table2", lambda random: random.choice(TABLE_2))
def the_points_are_those_of_the_column_of_constraints(at: Split) -> bool:
    """ "Constraints" of the training set and twice the test set are all points."""
    return at.constraints + 2 * at.test == at.size


@as_printed("P.table2")
def the_points_are_those_of_the_column_of_instances(at: Split) -> bool:
    """ "Instances" of the training set and twice the test set are all points."""
    return at.instances + 2 * at.test == at.size


@dataclass(frozen=True)
class TestSet:
    """The classes of a test set of Table 2, and its constraints as they are printed."""

    of: Levels
    constraints: int


def _test_set(random: Random) -> TestSet:
    """Draw a split into two classes of the test set of Mixtures, Diabetes or Cancer."""
    size = random.choice((50, 192, 142))
    first = random.randint(1, size - 1)
    return TestSet(Levels((*(0 for _ in range(first)), *(1 for _ in range(size - first)))), size)


@statement("P.table2.test", _test_set)
def a_test_set_of_two_classes_has_one_pair_less_than_points(at: TestSet) -> bool:
    """The reduced pairs of two classes are a tree on the points, for every split."""
    return len(at.of.edges) == len(at.of.y) - 1


@as_printed("P.table2.test")
def a_test_set_has_as_many_pairs_as_points(at: TestSet) -> bool:
    """The printed numbers of points and of pairs are equal."""
    return len(at.of.edges) == at.constraints


@dataclass(frozen=True)
class Share:
    """A data set of Table 3: the larger class, all points, and the printed error in hundredths."""

    larger: int
    size: int
    error: int


@statement(
    "P.table3.shares", lambda random: random.choice((Share(500, 768, 65), Share(357, 569, 63)))
)
def the_error_is_the_share_of_the_larger_class(at: Share) -> bool:
    """Rounded to hundredths."""
    return round(100 * Fraction(at.larger, at.size)) == at.error


@statement("P.table3.size", lambda random: random.choice(((384, 384), (285, 285))))
def every_training_point_is_a_support_vector(at: tuple[int, int]) -> bool:
    """ "Size A" of Table 3 is the number of training points of Table 2."""
    return at[0] == at[1]


@statement("P.breakpoints.errors", segment)
def margin_errors_of_training_data_do_not_change_on_a_segment(at: Segment) -> bool:
    """Where the sets are the same at both ends, every pair is on the same side of the
    margin in between.
    """
    return not at.unchanged or all(side(at.middle, r) == side(at.ends[0], r) for r in at.middle.all)


@statement("P.3", ranked)
def zero_is_a_subgradient_at_the_optimum(at: Ranked) -> bool:
    """lambda f is a sum of the differences of pairs with coefficients in [0, 1], which
    are 1 for margins below 1 and 0 for margins above 1.
    """
    shares = scaled(at)
    total = combined(shares, [at.difference(r) for r in at.all])
    inside = all(
        (a == 1 or at.margin(r) >= 1) and (a == 0 or at.margin(r) <= 1)
        for r, a in enumerate(shares)
    )
    return inside and total == tuple(lambda_of_6(at) * v for v in at.w)


@as_printed("P.3")
def the_gradient_is_zero_at_the_optimum(at: Ranked) -> bool:
    """If no pair had a margin of 1, the gradient would exist: lambda f is the sum of the
    differences with margins below 1.
    """
    shares = [Fraction(at.margin(r) < 1) for r in at.all]
    return combined(shares, [at.difference(r) for r in at.all]) == tuple(
        lambda_of_6(at) * v for v in at.w
    )
