"""Document T, section 3: support vector regression, (52) to (82)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from equimargin.formulations import regression
from equimargin.formulations.programs.rational import Vector, dot
from equimargin.solvers.exact.optimum import exact_optimum
from equimargin.solvers.solution import Status
from ledger.instances import Tube, best_in_box, combined, floats, points, solved, tube
from ledger.statement import as_printed, statement


@dataclass(frozen=True)
class Flat:
    """Targets of a linear function up to epsilon, and the flattest function within epsilon."""

    x: tuple[Vector, ...]
    y: Vector
    epsilon: Fraction
    value: Fraction
    w: Vector
    b: Fraction

    def error(self, i: int) -> Fraction:
        """Return y_i - w.x_i - b."""
        return self.y[i] - dot(self.w, self.x[i]) - self.b


def flat(random: Random) -> Flat:
    """Draw a feasible hard tube with w not 0."""
    while True:
        x, w, epsilon = (
            points(random, random.randint(3, 6)),
            points(random, 1)[0],
            Fraction(random.choice((1, 4)), 2),
        )
        y = tuple(2 * dot(w, point) + epsilon * random.randint(-1, 1) for point in x)
        problem = regression(floats(x), [float(v) for v in y], float("inf"), float(epsilon))
        optimum = solved(problem)
        if any(optimum.w):
            return Flat(x, y, epsilon, optimum.value, optimum.w, optimum.b)


@statement("T.53", flat)
def the_bias_of_a_regression_is_added(at: Flat) -> bool:
    """F(x) = w.x + b, as in (54) and later, is within epsilon of the targets."""
    return all(abs(y - dot(at.w, x) - at.b) <= at.epsilon for x, y in zip(at.x, at.y, strict=True))


@as_printed("T.53")
def the_bias_of_a_regression_is_subtracted(at: Flat) -> bool:
    """F(x) = w.x - b."""
    return all(abs(y - dot(at.w, x) + at.b) <= at.epsilon for x, y in zip(at.x, at.y, strict=True))


@statement("T.54", flat)
def no_target_is_above_the_tube(at: Flat) -> bool:
    """y_i - w.x_i - b <= epsilon."""
    return all(at.error(i) <= at.epsilon for i in range(len(at.y)))


@statement("T.55", flat)
def no_target_is_below_the_tube(at: Flat) -> bool:
    """w.x_i + b - y_i <= epsilon."""
    return all(-at.error(i) <= at.epsilon for i in range(len(at.y)))


@statement("T.56", flat)
def the_farthest_target_is_epsilon_over_the_norm_away(at: Flat) -> bool:
    """Of the distances |error| / |w| in the inputs, the largest is epsilon / |w|."""
    return max(at.error(i) ** 2 for i in range(len(at.y))) / dot(at.w, at.w) == at.epsilon**2 / dot(
        at.w, at.w
    )


@as_printed("T.56")
def the_farthest_target_is_one_over_the_norm_away(at: Flat) -> bool:
    """1 / |w|."""
    return max(at.error(i) ** 2 for i in range(len(at.y))) / dot(at.w, at.w) == 1 / dot(at.w, at.w)


@statement("T.57", flat)
def the_flattest_function_has_the_value(at: Flat) -> bool:
    """|w|^2 / 2 is the optimum."""
    return dot(at.w, at.w) / 2 == at.value


@dataclass(frozen=True)
class Narrow:
    """Two targets at one point, and True if a tube of epsilon = 1 contains both."""

    apart: int
    feasible: bool


def narrow(random: Random) -> Narrow:
    """Draw targets 0 and `apart` at one point."""
    apart = random.randint(0, 4)
    status = exact_optimum(
        regression([[1.0], [1.0]], [0.0, float(apart)], float("inf"), 1.0)
    ).status
    return Narrow(apart, status is Status.OPTIMAL)


@statement("T.59.errors", narrow)
def a_hard_tube_allows_no_errors(at: Narrow) -> bool:
    """Two targets at one point that are more than 2 epsilon apart have no solution of (57)-(59)."""
    return at.feasible == (at.apart <= 2)


@statement("T.60", tube)
def slacks_enter_with_their_first_power(at: Tube) -> bool:
    """|w|^2 / 2 + C sum (xi_i + xihat_i) is the optimum of (64) to (73)."""
    return (
        dot(at.w, at.w) / 2 + at.C * sum((at.xi(i) + at.xihat(i) for i in at.all), Fraction(0))
        == at.value
    )


@as_printed("T.60")
def slacks_enter_with_their_squares(at: Tube) -> bool:
    """With their squares."""
    return (
        dot(at.w, at.w) / 2
        + at.C * sum((at.xi(i) ** 2 + at.xihat(i) ** 2 for i in at.all), Fraction(0))
        == at.value
    )


@statement("T.62", tube)
def a_target_may_be_below_by_the_other_slack(at: Tube) -> bool:
    """w.x_i + b - y_i <= epsilon + xihat_i, with equality where it has a multiplier."""
    left = [at.epsilon + at.xihat(i) - (at.F(i) - at.y[i]) for i in at.all]
    return min(left) >= 0 and not any(a * v for a, v in zip(at.alphahat, left, strict=True))


@as_printed("T.62")
def a_target_may_be_below_by_the_slack_of_61(at: Tube) -> bool:
    """w.x_i + b - y_i <= epsilon + xi_i, with the slack of the other side."""
    return all(at.F(i) - at.y[i] <= at.epsilon + at.xi(i) for i in at.all)


def lagrangian(at: Tube, b: Fraction, w: Vector, slack: Vector, slackhat: Vector) -> Fraction:
    """Return (64) with these two vectors in place of the slacks of the constraints.

    xi, xihat and the multipliers are those of the optimum.
    """
    xi, xihat = tuple(at.xi(i) for i in at.all), tuple(at.xihat(i) for i in at.all)
    eta, etahat = tuple(at.C - a for a in at.alpha), tuple(at.C - a for a in at.alphahat)
    total = dot(w, w) / 2 + at.C * (sum(xi) + sum(xihat)) - dot(eta, xi) - dot(etahat, xihat)
    for i in at.all:
        f = dot(w, at.x[i]) + b
        total -= at.alpha[i] * (at.epsilon + slack[i] - at.y[i] + f) + at.alphahat[i] * (
            at.epsilon + slackhat[i] + at.y[i] - f
        )
    return total


@statement("T.64", tube)
def the_lagrangian_has_slacks_in_the_constraints(at: Tube) -> bool:
    """At the saddle point it is the optimum."""
    return (
        lagrangian(
            at, at.b, at.w, tuple(at.xi(i) for i in at.all), tuple(at.xihat(i) for i in at.all)
        )
        == at.value
    )


@as_printed("T.64")
def the_lagrangian_has_multipliers_in_the_constraints(at: Tube) -> bool:
    """With eta and etahat where xi and xihat belong."""
    return (
        lagrangian(
            at, at.b, at.w, tuple(at.C - a for a in at.alpha), tuple(at.C - a for a in at.alphahat)
        )
        == at.value
    )


@statement("T.65", tube)
def the_multipliers_of_slacks_are_not_negative(at: Tube) -> bool:
    """eta, etahat >= 0."""
    return all(at.C - a >= 0 for a in (*at.alpha, *at.alphahat))


@statement("T.66", tube)
def the_multipliers_of_targets_are_not_negative(at: Tube) -> bool:
    """alpha, alphahat >= 0."""
    return all(a >= 0 for a in (*at.alpha, *at.alphahat))


@as_printed("T.66")
def the_multipliers_of_targets_are_positive(at: Tube) -> bool:
    """alpha, alphahat > 0."""
    return all(a > 0 for a in (*at.alpha, *at.alphahat))


@statement("T.66.primal", tube)
def the_saddle_point_is_a_minimum_in_the_primal_variables(at: Tube) -> bool:
    """L is minimised in w, b and the slacks: at the optimal multipliers no other w and b
    has a smaller L.
    """
    zero = tuple(Fraction(0) for _ in at.all)
    moved = tuple(v + 1 for v in at.w)
    return lagrangian(at, at.b + 1, moved, zero, zero) >= lagrangian(at, at.b, at.w, zero, zero)


@as_printed("T.66.primal")
def the_derivatives_are_with_respect_to_multipliers(at: Tube) -> bool:
    """ "Partial derivatives of L with respect to each lagrangian multipliers": that of
    alpha_i is minus a slack, which need not be 0.
    """
    return all(at.epsilon + at.xi(i) - at.y[i] + at.F(i) == 0 for i in at.all)


def slope(at: Tube) -> Fraction:
    """Return dL/db: L is linear in b."""
    zero = tuple(Fraction(0) for _ in at.all)
    return lagrangian(at, at.b + 1, at.w, zero, zero) - lagrangian(at, at.b, at.w, zero, zero)


@statement("T.67", tube)
def both_multipliers_have_one_sum(at: Tube) -> bool:
    """dL/db = sum (alphahat_i - alpha_i) = 0; printed with the other sign, which 0 hides."""
    return slope(at) == -sum(at.differences) == 0


@statement("T.68", tube)
def w_is_a_sum_of_differences(at: Tube) -> bool:
    """w = sum (alpha_i - alphahat_i) x_i."""
    return at.w == combined(at.differences, at.x)


@statement("T.69", tube)
def the_multiplier_of_a_slack_is_what_its_target_leaves(at: Tube) -> bool:
    """etahat_i = C - alphahat_i is at least 0, and etahat_i xihat_i = 0."""
    return all((at.C - at.alphahat[i]) * at.xihat(i) == 0 <= at.C - at.alphahat[i] for i in at.all)


def dual(at: Tube, form: Fraction) -> Fraction:
    """Return (70) with a form in the place of the double sum."""
    return dot(at.y, at.differences) - at.epsilon * (sum(at.alpha) + sum(at.alphahat)) - form / 2


@statement("T.70", tube)
def the_dual_has_two_indices(at: Tube) -> bool:
    """(alpha_i - alphahat_i)(alpha_j - alphahat_j) x_i.x_j."""
    v = combined(at.differences, at.x)
    return dual(at, dot(v, v)) == at.value


@as_printed("T.70")
def the_dual_has_one_index_twice(at: Tube) -> bool:
    """(alpha_i - alphahat_i)(alpha_i - alphahat_i) x_i.x_j."""
    form = sum(
        (d * d * dot(x, z) for d, x in zip(at.differences, at.x, strict=True) for z in at.x),
        Fraction(0),
    )
    return dual(at, form) == at.value


@statement("T.72", tube)
def differences_are_balanced(at: Tube) -> bool:
    """sum (alpha_i - alphahat_i) = 0."""
    return sum(at.differences) == 0


@statement("T.73", tube)
def multipliers_of_both_sides_are_at_most_the_cost(at: Tube) -> bool:
    """0 <= alpha, alphahat <= C: both are optimal within these bounds; the derivatives are
    the distances of the targets beyond the tube.
    """
    above = [at.y[i] - at.F(i) - at.epsilon for i in at.all]
    below = [at.F(i) - at.y[i] - at.epsilon for i in at.all]
    return best_in_box(at.alpha, above, at.C) and best_in_box(at.alphahat, below, at.C)


@statement("T.74", tube)
def the_same_w_again(at: Tube) -> bool:
    """w = sum (alpha_i - alphahat_i) x_i: only points on the tube or outside of it count."""
    kept = [i for i in at.all if abs(at.y[i] - at.F(i)) >= at.epsilon]
    return (
        combined([at.differences[i] for i in kept], [at.x[i] for i in kept]) == at.w
        if kept
        else not any(at.w)
    )


@statement("T.75", tube)
def the_multiplier_of_a_slack_meets_it(at: Tube) -> bool:
    """eta_i = C - alpha_i, with eta_i xi_i = 0."""
    return all((at.C - at.alpha[i]) * at.xi(i) == 0 for i in at.all)


@statement("T.76", tube)
def the_multiplier_of_the_other_slack_meets_it(at: Tube) -> bool:
    """etahat_i = C - alphahat_i, with etahat_i xihat_i = 0."""
    return all((at.C - at.alphahat[i]) * at.xihat(i) == 0 for i in at.all)


def expansion(at: Tube, sign: int) -> bool:
    """Return True if sign times sum (alpha_i - alphahat_i) x_i.x + b is w.x + b.

    It is tested at a point that is not in the sample.
    """
    z = (Fraction(5), Fraction(-7))
    total = sum((d * dot(x, z) for d, x in zip(at.differences, at.x, strict=True)), Fraction(0))
    return sign * total + at.b == dot(at.w, z) + at.b


@statement("T.77", tube)
def the_regression_is_a_sum_over_points(at: Tube) -> bool:
    """F(x) = sum (alpha_i - alphahat_i) x_i.x + b."""
    return expansion(at, 1)


@statement("T.80", tube)
def the_bounds_contain_the_signs(at: Tube) -> bool:
    """(81) says all that (80) says."""
    return all(a >= 0 for a in (*at.alpha, *at.alphahat))


@statement("T.82", tube)
def the_kernel_regression_has_the_sign_of_77(at: Tube) -> bool:
    """F(x) = sum (alpha_i - alphahat_i) K(x_i, x) + b, here with K(a, b) = a.b."""
    return expansion(at, 1)


@as_printed("T.82")
def the_kernel_regression_has_the_other_sign(at: Tube) -> bool:
    """F(x) = sum (alphahat_i - alpha_i) K(x_i, x) + b."""
    return expansion(at, -1)


@statement("T.73.sides", tube)
def one_side_of_a_tube_has_a_multiplier(at: Tube) -> bool:
    """alpha_i alphahat_i = 0 with epsilon > 0."""
    return all(a * b == 0 for a, b in zip(at.alpha, at.alphahat, strict=True))
