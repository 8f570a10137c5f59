"""Document T, section 2.2: slacks, (23) to (34), and Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from equimargin.formulations import classification
from equimargin.formulations.programs.rational import dot
from equimargin.solvers.exact.optimum import exact_optimum
from ledger.instances import (
    COSTS,
    Classes,
    best_in_box,
    combined,
    cost,
    of_labels,
    points,
    separable,
    slacks,
    soft,
)
from ledger.statement import as_printed, statement
from ledger.statements.hard_margins import signed


@statement("T.23", soft)
def the_value_is_the_norm_and_the_slacks(at: Classes) -> bool:
    """Q_1 = |w|^2 / 2 + C sum xi_i is the optimum."""
    return dot(at.w, at.w) / 2 + cost(at) * slacks(at) == at.value


@statement("T.25.errors", soft)
def slacks_bound_the_errors(at: Classes) -> bool:
    """A slack is 1 or more exactly where F is 0 or has the wrong sign: sum xi_i is at
    least the number of these points.
    """
    wrong = [i for i in at.all if at.margin(i) <= 0]
    return wrong == [i for i in at.all if at.xi(i) >= 1] and len(wrong) <= slacks(at)


@dataclass(frozen=True)
class TwoCosts:
    """Optima of one set of points at a small and at a large cost."""

    low: Classes
    high: Classes


def two_costs(random: Random) -> TwoCosts:
    """Draw points at two different costs."""
    x = points(random, random.randint(3, 6))
    y = (1, -1, *(random.choice((-1, 1)) for _ in x[2:]))
    small, large = sorted(random.sample(COSTS, 2))
    return TwoCosts(of_labels(x, y, small), of_labels(x, y, large))


@statement("T.25.tradeoff", two_costs)
def a_larger_cost_narrows_the_margin(at: TwoCosts) -> bool:
    """A larger C gives a w that is at least as long, and a sum of slacks that is at most as
    large: it trades the size of the margin for errors.
    """
    return dot(at.low.w, at.low.w) <= dot(at.high.w, at.high.w) and slacks(at.low) >= slacks(
        at.high
    )


@statement("T.26", soft)
def the_dual_has_a_half(at: Classes) -> bool:
    """max sum alpha_i - 1/2 sum sum alpha_i alpha_j y_i y_j x_i.x_j is the optimum."""
    return sum(at.alpha) - at.quadratic(at.alpha) / 2 == at.value


@as_printed("T.26")
def the_dual_has_no_half(at: Classes) -> bool:
    """Without the half the optimum at C is half of the right one at 2C, which here must
    be the right one at C.
    """
    return of_labels(at.x, at.y, float(2 * cost(at))).value / 2 == at.value


@statement("T.27", soft)
def soft_multipliers_are_balanced(at: Classes) -> bool:
    """sum alpha_i y_i = 0."""
    return sum(signed(at)) == 0


@statement("T.28", soft)
def soft_multipliers_are_at_most_the_cost(at: Classes) -> bool:
    """C >= alpha >= 0: alpha is optimal within these bounds; derivatives: 1 - y_i F(x_i)."""
    return best_in_box(at.alpha, [1 - at.margin(i) for i in at.all], cost(at))


@statement("T.28.same", soft)
def the_objective_is_that_of_the_separable_case(at: Classes) -> bool:
    """The objective is the same in both cases: (15) at the multipliers is the value of (23)."""
    return sum(at.alpha) - at.quadratic(at.alpha) / 2 == dot(at.w, at.w) / 2 + cost(at) * slacks(at)


@as_printed("T.28.same")
def the_objective_of_26_is_that_of_16(at: Classes) -> bool:
    """As printed (26) lacks the half that (16) has: at the multipliers the two differ."""
    return sum(at.alpha) - at.quadratic(at.alpha) == sum(at.alpha) - at.quadratic(at.alpha) / 2


@statement("T.28.stringent", separable)
def a_cost_above_all_multipliers_changes_nothing(at: Classes) -> bool:
    """If C is at least the largest multiplier of the hard margin, the soft optimum is the
    hard one: the bound C is the only difference.
    """
    above = of_labels(at.x, at.y, float(int(max(at.alpha)) + 1))
    return above.w == at.w and above.value == at.value


@statement("T.29", soft)
def w_is_the_sum_of_the_support_vectors(at: Classes) -> bool:
    """w = sum over alpha_i > 0 of alpha_i y_i x_i."""
    kept = [i for i in at.all if at.alpha[i] > 0]
    return (
        combined([signed(at)[i] for i in kept], [at.x[i] for i in kept]) == at.w
        if kept
        else not any(at.w)
    )


@statement("T.29.bias", soft)
def the_bias_is_read_off_a_free_support_vector(at: Classes) -> bool:
    """b = w.x_i - y_i wherever 0 < alpha_i < C."""
    return all(at.b == dot(at.w, at.x[i]) - at.y[i] for i in at.all if 0 < at.alpha[i] < cost(at))


@as_printed("T.29.bias")
def the_bias_is_read_off_any_support_vector(at: Classes) -> bool:
    """b = w.x_i - y_i for any alpha_i > 0, as for the hard margin."""
    return all(at.b == dot(at.w, at.x[i]) - at.y[i] for i in at.all if at.alpha[i] > 0)


@statement("T.30", soft)
def a_multiplier_times_its_slack_is_zero(at: Classes) -> bool:
    """alpha_i (y_i (w.x_i - b) - 1 + xi_i) = 0."""
    return all(at.alpha[i] * (at.margin(i) - 1 + at.xi(i)) == 0 for i in at.all)


@statement("T.31", soft)
def the_other_multiplier_times_the_slack_is_zero(at: Classes) -> bool:
    """mu_i xi_i = 0 with mu_i = C - alpha_i."""
    return all((cost(at) - at.alpha[i]) * at.xi(i) == 0 for i in at.all)


@statement("T.32", soft)
def both_multipliers_add_up_to_the_cost(at: Classes) -> bool:
    """alpha_i + mu_i = C: with mu_i = C - alpha_i >= 0, and with no other mu, the
    Lagrangian is the optimum, also at larger slacks.
    """
    mu = [cost(at) - a for a in at.alpha]
    best = with_slacks(at, mu, Fraction(0))
    larger, other = (
        with_slacks(at, mu, Fraction(2)),
        with_slacks(at, [v + 1 for v in mu], Fraction(2)),
    )
    return min(mu) >= 0 and best == larger == at.value != other


def with_slacks(at: Classes, mu: Sequence[Fraction], more: Fraction) -> Fraction:
    """Return w.w / 2 + C sum xi - sum alpha (y (w.x - b) - 1 + xi) - sum mu xi.

    The slacks are larger by `more` than the optimal ones.
    """
    xi = [at.xi(i) + more for i in at.all]
    priced = sum(
        (at.alpha[i] * (at.margin(i) - 1 + xi[i]) + mu[i] * xi[i] for i in at.all), Fraction(0)
    )
    return dot(at.w, at.w) / 2 + cost(at) * sum(xi, Fraction(0)) - priced


@statement("T.33", soft)
def no_slack_below_the_cost(at: Classes) -> bool:
    """xi_i = 0 if alpha_i < C."""
    return all(at.xi(i) == 0 for i in at.all if at.alpha[i] < cost(at))


@statement("T.34", soft)
def a_slack_needs_the_whole_cost(at: Classes) -> bool:
    """xi_i > 0 only if alpha_i = C. The printed `xi_i >= 0 if alpha_i = C` is true of
    every number xi_i, and so says nothing.
    """
    return all(at.alpha[i] == cost(at) for i in at.all if at.xi(i) > 0)


@statement("T.figure3.outside", soft)
def points_outside_have_no_multiplier(at: Classes) -> bool:
    """Beyond the margin alpha = 0 and xi = 0."""
    return all(at.alpha[i] == 0 == at.xi(i) for i in at.all if at.margin(i) > 1)


@statement("T.figure3.on", soft)
def points_on_the_margin_have_any_multiplier(at: Classes) -> bool:
    """On the margin xi = 0, and alpha is anything from 0 to C."""
    return all(at.xi(i) == 0 <= at.alpha[i] <= cost(at) for i in at.all if at.margin(i) == 1)


@as_printed("T.figure3.on")
def points_on_the_margin_are_free(at: Classes) -> bool:
    """On the margin C > alpha > 0."""
    return all(0 < at.alpha[i] < cost(at) for i in at.all if at.margin(i) == 1)


@statement("T.figure3.within", soft)
def points_within_have_the_whole_cost(at: Classes) -> bool:
    """Within the margin alpha = C."""
    return all(at.alpha[i] == cost(at) for i in at.all if at.margin(i) < 1)


@statement("T.figure3.errors", soft)
def correct_points_within_have_a_slack_below_one(at: Classes) -> bool:
    """Within the margin, 1 > xi > 0 where F has the right sign, xi > 1 where it has the
    wrong one, and xi = 1 on the line itself.
    """
    for i in at.all:
        if at.margin(i) < 1:
            expected = (
                0 < at.xi(i) < 1
                if at.margin(i) > 0
                else at.xi(i) > 1
                if at.margin(i) < 0
                else at.xi(i) == 1
            )
            if not expected:
                return False
    return True


@dataclass(frozen=True)
class NoFree:
    """x = 0 (+) against x = distance (-) at a cost so low that both multipliers are at C."""

    distance: Fraction
    C: Fraction
    ends: tuple[Fraction, Fraction]


def no_free(random: Random) -> NoFree:
    """Return two points at the bound, and the ends of their biases in the tutorial's sign."""
    distance, C = random.choice((1, 2, 4)), random.choice((1 / 64, 1 / 32))
    low, high = exact_optimum(classification([[0.0], [float(distance)]], [1, -1], C)).bias
    assert low is not None
    assert high is not None
    return NoFree(Fraction(distance), Fraction(C), (-high, -low))


@statement("T.29.interval", no_free)
def without_a_free_support_vector_the_bias_is_an_interval(at: NoFree) -> bool:
    """With w = -C d both points have a slack for every b from -1 to 1 - C d^2, and every
    such b is optimal.
    """
    return list(at.ends) == [-1, 1 - at.C * at.distance**2]


@as_printed("T.29.interval")
def the_bias_is_one_number(at: NoFree) -> bool:
    """b is determined, as in the separable case."""
    return at.ends[0] == at.ends[1]
