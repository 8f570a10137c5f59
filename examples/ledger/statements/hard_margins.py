"""Document T, section 2.1: separable classes, (1) to (22)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from random import Random

from equimargin.formulations import classification
from equimargin.formulations.programs.rational import Vector, dot
from equimargin.solvers.exact.optimum import exact_optimum
from equimargin.solvers.solution import Status
from ledger.instances import Classes, combined, floats, of_labels, points, separable
from ledger.statement import as_printed, statement


def lagrangian(at: Classes, w: Vector, b: Fraction, alpha: Vector) -> Fraction:
    """Return J(w, b, alpha) of (8)."""
    margins = (y * (dot(w, x) - b) for x, y in zip(at.x, at.y, strict=True))
    return dot(w, w) / 2 - sum(
        (a * (margin - 1) for a, margin in zip(alpha, margins, strict=True)), Fraction(0)
    )


def signed(at: Classes) -> Vector:
    """Return alpha_i y_i."""
    return tuple(a * y for a, y in zip(at.alpha, at.y, strict=True))


@statement("T.2", separable)
def the_classifier_is_linear(at: Classes) -> bool:
    """F(x) = w.x - b: half way between two points F has the mean of their values, and
    between two of a class y F is at least 1.
    """
    for i, j in combinations(at.all, 2):
        middle = tuple((u + v) / 2 for u, v in zip(at.x[i], at.x[j], strict=True))
        value = dot(at.w, middle) - at.b
        if value != (at.F(i) + at.F(j)) / 2 or (at.y[i] == at.y[j] and at.y[i] * value < 1):
            return False
    return True


@statement("T.3", separable)
def separable_points_have_their_sign(at: Classes) -> bool:
    """y_i (w.x_i - b) > 0 says of every point that F has its sign."""
    return all(at.margin(i) > 0 and (at.F(i) > 0) == (at.y[i] == 1) for i in at.all)


@statement("T.4", separable)
def a_separating_line_can_be_rescaled(at: Classes) -> bool:
    """Any w and b with (3), divided by their smallest margin, satisfy (4), one point with
    equality; tried at a w near the optimal one.
    """
    other = replace(at, w=(1000 * at.w[0] + 1, 1000 * at.w[1] - 1), b=1000 * at.b)
    least = min(other.margin(i) for i in other.all)
    scaled = replace(other, w=tuple(v / least for v in other.w), b=other.b / least)
    return least > 0 and min(scaled.margin(i) for i in scaled.all) == 1


def squared_distance(at: Classes, i: int) -> Fraction:
    """Return the square of |F(x_i)| / |w|, the distance of a point from the line."""
    return at.F(i) ** 2 / dot(at.w, at.w)


@statement("T.4.distance", separable)
def the_distance_of_a_point_is_its_value_over_the_norm(at: Classes) -> bool:
    """x - F(x) w / |w|^2 lies on the line, in the direction of w: its squared distance
    from x is F(x)^2 / |w|^2.
    """
    for i in at.all:
        step = at.F(i) / dot(at.w, at.w)
        foot = tuple(v - step * u for v, u in zip(at.x[i], at.w, strict=True))
        if dot(at.w, foot) != at.b or step**2 * dot(at.w, at.w) != squared_distance(at, i):
            return False
    return True


@statement("T.5", separable)
def the_margin_is_one_over_the_norm(at: Classes) -> bool:
    """The least distance of a point from the optimal line is 1 / |w|, of either class."""
    return all(
        min(squared_distance(at, i) for i in at.all if at.y[i] == y) == 1 / dot(at.w, at.w)
        for y in (-1, 1)
    )


@statement("T.1.margin", separable)
def the_margin_of_5_is_one_distance(at: Classes) -> bool:
    """The margin of (5) is the distance of the closest point."""
    return min(squared_distance(at, i) for i in at.all) == 1 / dot(at.w, at.w)


@as_printed("T.1.margin")
def the_margin_of_5_is_the_sum_of_two_distances(at: Classes) -> bool:
    """The margin of (5) is the sum of the distances of the closest points of both
    classes, which are equal: its square is four times that of one distance.
    """
    return 4 * min(squared_distance(at, i) for i in at.all) == 1 / dot(at.w, at.w)


@statement("T.5.support", separable)
def the_closest_points_meet_4_with_equality(at: Classes) -> bool:
    """The points of least distance are those with y_i F(x_i) = 1."""
    least = min(squared_distance(at, i) for i in at.all)
    return all((squared_distance(at, i) == least) == (at.margin(i) == 1) for i in at.all)


@statement("T.6", separable)
def no_shorter_w_separates(at: Classes) -> bool:
    """Q(w) = |w|^2 / 2 is the optimal value at the optimal w, and a shorter w violates (7)."""
    shorter = replace(at, w=tuple(v * Fraction(99, 100) for v in at.w), b=at.b * Fraction(99, 100))
    return dot(at.w, at.w) / 2 == at.value and min(shorter.margin(i) for i in at.all) < 1


@statement("T.7", separable)
def the_optimum_is_feasible(at: Classes) -> bool:
    """y_i (w.x_i - b) >= 1 at all points."""
    return all(at.margin(i) >= 1 for i in at.all)


@statement("T.7.convex", separable)
def the_objective_is_convex(at: Classes) -> bool:
    """Q is below its chords between any two vectors (the optimal w, the points), and w.x
    is on its chords.
    """
    for one, other in combinations((at.w, *at.x), 2):
        third = tuple((2 * u + v) / 3 for u, v in zip(one, other, strict=True))
        chord = (2 * dot(one, one) + dot(other, other)) / 3
        if dot(third, third) > chord or (dot(third, third) == chord) != (one == other):
            return False
        if any(3 * dot(third, x) != 2 * dot(one, x) + dot(other, x) for x in at.x):
            return False
    return True


@statement("T.8", separable)
def the_lagrangian_bounds_the_objective(at: Classes) -> bool:
    """J(w, b, alpha) <= Q(w) at a feasible point for every alpha >= 0, with equality at
    the optimum: it is a saddle point.
    """
    some = tuple(Fraction(i + 1) for i in at.all)
    optimal = lagrangian(at, at.w, at.b, at.alpha)
    moved = tuple(v + 1 for v in at.w)
    return (
        lagrangian(at, at.w, at.b, some)
        <= optimal
        == at.value
        <= lagrangian(at, moved, at.b + 1, at.alpha)
    )


@statement("T.9", separable)
def the_derivative_in_w_is_zero(at: Classes) -> bool:
    """J is quadratic in w, so that (J(w + e) - J(w - e)) / 2 is its derivative along e."""
    for k in range(len(at.w)):
        up, down = (tuple(v + s * (j == k) for j, v in enumerate(at.w)) for s in (1, -1))
        if lagrangian(at, up, at.b, at.alpha) != lagrangian(at, down, at.b, at.alpha):
            return False
    return True


@statement("T.10", separable)
def the_derivative_in_b_is_zero(at: Classes) -> bool:
    """J is linear in b."""
    return lagrangian(at, at.w, at.b + 1, at.alpha) == lagrangian(at, at.w, at.b - 1, at.alpha)


@statement("T.11", separable)
def w_is_the_sum_of_the_points(at: Classes) -> bool:
    """w = sum alpha_i y_i x_i."""
    return at.w == combined(signed(at), at.x)


@statement("T.12", separable)
def the_multipliers_of_both_classes_have_one_sum(at: Classes) -> bool:
    """sum alpha_i y_i = 0."""
    return sum(signed(at)) == 0


def expanded(at: Classes, sign: int) -> bool:
    """Return True if (8) is (13) with this sign before b sum alpha_i y_i.

    The multipliers need not satisfy (12).
    """
    alpha = tuple(Fraction(i + 1) for i in at.all)
    linear = sum(
        (a * y * dot(at.w, x) for a, y, x in zip(alpha, at.y, at.x, strict=True)), Fraction(0)
    )
    balance = sum((a * y for a, y in zip(alpha, at.y, strict=True)), Fraction(0))
    return lagrangian(at, at.w, at.b, alpha) == dot(
        at.w, at.w
    ) / 2 - linear + sign * at.b * balance + sum(alpha)


@statement("T.13", separable)
def the_expansion_adds_b(at: Classes) -> bool:
    """J = w.w / 2 - sum alpha_i y_i w.x_i + b sum alpha_i y_i + sum alpha_i."""
    return expanded(at, 1)


@as_printed("T.13")
def the_expansion_subtracts_b(at: Classes) -> bool:
    """The printed sign."""
    return expanded(at, -1)


@statement("T.14", separable)
def the_square_of_w_is_a_double_sum(at: Classes) -> bool:
    """w.w = sum alpha_i y_i w.x_i = sum sum alpha_i alpha_j y_i y_j x_i.x_j."""
    single = sum((a * dot(at.w, x) for a, x in zip(signed(at), at.x, strict=True)), Fraction(0))
    terms = list(zip(signed(at), at.x, strict=True))
    double = sum((a * c * dot(x, z) for a, x in terms for c, z in terms), Fraction(0))
    return dot(at.w, at.w) == single == double


@statement("T.15", separable)
def the_dual_function_is_reached(at: Classes) -> bool:
    """Q(alpha) = sum alpha_i - 1/2 sum sum alpha_i alpha_j y_i y_j x_i.x_j is J(w, b,
    alpha) at (11) and (12).
    """
    return sum(at.alpha) - at.quadratic(at.alpha) / 2 == lagrangian(at, at.w, at.b, at.alpha)


@as_printed("T.15")
def the_dual_function_sums_one_index_twice(at: Classes) -> bool:
    """Printed with the index i in both sums: no sum over j is left."""
    squares = sum((a * a * dot(x, x) for a, x in zip(at.alpha, at.x, strict=True)), Fraction(0))
    return sum(at.alpha) - squares / 2 == lagrangian(at, at.w, at.b, at.alpha)


@statement("T.16", separable)
def the_dual_has_the_value_of_the_primal(at: Classes) -> bool:
    """max Q(alpha) = min Q(w)."""
    return sum(at.alpha) - at.quadratic(at.alpha) / 2 == dot(at.w, at.w) / 2


@statement("T.17", separable)
def balanced_multipliers_bound_the_primal_from_below(at: Classes) -> bool:
    """If sum alpha_i y_i = 0 and alpha >= 0, Q(alpha) is at most the optimum; without the
    equation Q may exceed the optimum on data far from the origin.
    """
    half = tuple(a / 2 for a in at.alpha)
    return sum(signed(at)) == 0 and sum(half) - at.quadratic(half) / 2 <= at.value


@statement("T.18", separable)
def multipliers_are_not_negative(at: Classes) -> bool:
    """alpha >= 0."""
    return all(a >= 0 for a in at.alpha)


@as_printed("T.18")
def multipliers_are_positive(at: Classes) -> bool:
    """alpha > 0, as printed once."""
    return all(a > 0 for a in at.alpha)


@statement("T.18.dots", separable)
def only_products_of_points_matter(at: Classes) -> bool:
    """Points turned by a right angle have the same products and the same optimum."""
    turned = tuple((-x[1], x[0]) for x in at.x)
    return of_labels(turned, at.y, float("inf")).value == at.value


@statement("T.19", separable)
def the_optimal_w_comes_of_the_optimal_multipliers(at: Classes) -> bool:
    """w* = sum alpha*_i y_i x_i has every margin at least 1."""
    w = combined(signed(at), at.x)
    return all(y * (dot(w, x) - at.b) >= 1 for x, y in zip(at.x, at.y, strict=True))


@statement("T.20", separable)
def a_multiplier_or_its_slack_is_zero(at: Classes) -> bool:
    """alpha_i (y_i (w.x_i - b) - 1) = 0."""
    return all(at.alpha[i] * (at.margin(i) - 1) == 0 for i in at.all)


def three_points(random: Random) -> Classes:
    """Return (-1, 0) against (1, 0) and (1, 1), scaled.

    Its one optimum has alpha = 0 at (1, 1), which is on the margin.
    """
    scale = Fraction(2) ** random.randint(-2, 2)
    x = tuple(tuple(scale * v for v in point) for point in ((-1, 0), (1, 0), (1, 1)))
    return of_labels(x, (-1, 1, 1), float("inf"))


@statement("T.20.strict", three_points)
def both_may_be_zero(at: Classes) -> bool:
    """A multiplier and the slack of its constraint may be 0 at once."""
    return any(at.alpha[i] == 0 and at.margin(i) == 1 for i in at.all)


@as_printed("T.20.strict")
def one_of_both_is_not_zero(at: Classes) -> bool:
    """Either alpha_i or its constraint must be nonzero."""
    return all(at.alpha[i] != 0 or at.margin(i) != 1 for i in at.all)


@statement("T.20.support", separable)
def only_support_vectors_have_a_multiplier(at: Classes) -> bool:
    """alpha_i is nonzero only where y_i (w.x_i - b) = 1."""
    return all(at.alpha[i] == 0 or at.margin(i) == 1 for i in at.all)


@statement("T.20.others", separable)
def points_without_a_multiplier_may_go(at: Classes) -> bool:
    """The points with alpha_i > 0 have the optimum of all points."""
    kept = [i for i in at.all if at.alpha[i] > 0]
    return (
        of_labels(tuple(at.x[i] for i in kept), tuple(at.y[i] for i in kept), float("inf")).w
        == at.w
    )


@statement("T.20.nonnegative", separable)
def w_depends_on_positive_multipliers(at: Classes) -> bool:
    """w is the sum over the points with positive multipliers."""
    kept = [i for i in at.all if at.alpha[i] > 0]
    return combined([signed(at)[i] for i in kept], [at.x[i] for i in kept]) == at.w


@as_printed("T.20.nonnegative")
def w_depends_on_nonnegative_multipliers_only(at: Classes) -> bool:
    """ "Only on those with nonnegative coefficients" would exclude some coefficients, but
    all are nonnegative.
    """
    return len([i for i in at.all if at.alpha[i] >= 0]) < len(at.y)


def first_positive(at: Classes) -> int:
    """Return a support vector of the class 1."""
    return next(i for i in at.all if at.y[i] == 1 and at.alpha[i] > 0)


@statement("T.21", separable)
def b_is_read_off_with_this_sign(at: Classes) -> bool:
    """b = w.x_i - 1 at a positive support vector."""
    return at.b == dot(at.w, at.x[first_positive(at)]) - 1


@as_printed("T.21")
def b_is_read_off_with_the_other_sign(at: Classes) -> bool:
    """b = 1 - w.x_i."""
    return at.b == 1 - dot(at.w, at.x[first_positive(at)])


@statement("T.22", separable)
def the_classifier_is_a_sum_over_points(at: Classes) -> bool:
    """F(x) = sum alpha_i y_i x_i.x - b, at a point outside the sample."""
    z = (Fraction(5), Fraction(-7))
    return (
        sum((a * dot(x, z) for a, x in zip(signed(at), at.x, strict=True)), Fraction(0)) - at.b
        == dot(at.w, z) - at.b
    )


@dataclass(frozen=True)
class Labelled:
    """Points with labels, and True if the exact hard margin separates them."""

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    feasible: bool


def labelled(random: Random) -> Labelled:
    """Draw three to five points on a line with any labels of both classes.

    Their order shows whether they are separable.
    """
    x = points(random, random.randint(3, 5), 1)
    y = (1, -1, *(random.choice((-1, 1)) for _ in x[2:]))
    status = exact_optimum(classification(floats(x), list(y), float("inf"))).status
    return Labelled(x, y, status is Status.OPTIMAL)


@statement("T.22.separable", labelled)
def there_is_a_solution_where_the_data_are_separable(at: Labelled) -> bool:
    """(6)-(7) has a solution if and only if all of one class lie on one side of all of
    the other.
    """
    up = [x[0] for x, y in zip(at.x, at.y, strict=True) if y == 1]
    down = [x[0] for x, y in zip(at.x, at.y, strict=True) if y == -1]
    return at.feasible == (max(up) < min(down) or max(down) < min(up))


def _least_distances(at: Classes, w: Vector, b: Fraction) -> tuple[Fraction, Fraction]:
    """Return |w| times the least signed distance of either class from w.x = b."""
    F = [dot(w, x) - b for x in at.x]
    return min(f for f, y in zip(F, at.y, strict=True) if y == 1), min(
        -f for f, y in zip(F, at.y, strict=True) if y == -1
    )


@statement("T.figure1", separable)
def many_lines_separate_and_have_smaller_margins(at: Classes) -> bool:
    """Slightly rotated lines classify correctly, too, as L1, L2 and L3 do, and their
    distance from the closest points is smaller.
    """
    across = (-at.w[1], at.w[0])
    for part in (Fraction(-1, 100), Fraction(1, 200), Fraction(1, 100)):
        turned = combined((Fraction(1), part / dot(at.w, at.w)), (at.w, across))
        least = min(_least_distances(at, turned, at.b))
        if not 0 < least**2 / dot(turned, turned) < 1 / dot(at.w, at.w):
            return False
    return True


@statement("T.figure2", separable)
def the_hyperplane_is_as_far_from_both_classes_as_one_can_be(at: Classes) -> bool:
    """The closest points of both classes are at the distance 1 / |w|, and half of the gap
    between the classes in any direction of small integers is at most as large.
    """
    for d in product(map(Fraction, range(-3, 4)), repeat=2):
        half = sum(_least_distances(at, d, Fraction(0))) / 2
        if half > 0 and half**2 * dot(at.w, at.w) > dot(d, d):
            return False
    return set(_least_distances(at, at.w, at.b)) == {1}
