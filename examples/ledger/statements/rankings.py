"""Document T, section 4, (83) to (91), and document K up to (3.18).

The subjects are ranking SVMs, their duals and their structure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb
from random import Random

from equimargin.formulations import classification, polynomial, ranking, ranking_from_pairs
from equimargin.formulations.programs.rational import Vector, dot
from ledger.instances import (
    COSTS,
    Ranked,
    best_in_box,
    combined,
    cost,
    floats,
    minus,
    of_pairs,
    points,
    rankable,
    ranked,
    slacks,
    solved,
)
from ledger.statement import as_printed, statement
from ledger.statements.kernels import k


@statement("T.83", rankable)
def a_ranking_function_has_the_order(at: Ranked) -> bool:
    """w.x_i > w.x_j if and only if x_i is above x_j, in the order in which the points are drawn."""
    n = range(len(at.x))
    return all((dot(at.w, at.x[i]) > dot(at.w, at.x[j])) == (i < j) for i in n for j in n if i != j)


@as_printed("T.83")
def a_point_is_above_itself(at: Ranked) -> bool:
    """w.x_i > w.x_i."""
    return all(dot(at.w, at.x[i]) > dot(at.w, at.x[i]) for i in range(len(at.x)))


@dataclass(frozen=True)
class WeakOrder:
    """Documents with equal relevances among them, and the optimum of their ranking."""

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    C: Fraction
    value: Fraction

    def _optimum(self, above: Callable[[int, int], bool]) -> Fraction:
        """Return the optimum of (84) with a row for every two documents in a relation."""
        pairs = [
            (i, j) for i, j in permutations(range(len(self.y)), 2) if above(self.y[i], self.y[j])
        ]
        return of_pairs(self.x, pairs, float(self.C)).value


def _weak_order(random: Random) -> WeakOrder:
    """Draw a few documents, two of them equal, and two different."""
    x, C = points(random, random.randint(3, 5)), random.choice(COSTS)
    y = (0, 0, 1, *(random.randint(0, 2) for _ in x[3:]))
    optimum = solved(ranking(floats(x), list(y), C=C))
    return WeakOrder(x, y, Fraction(C), optimum.value)


@statement("T.4.weak", _weak_order)
def a_weak_order_is_ranked_by_its_strict_pairs(at: WeakOrder) -> bool:
    """(84) with a row (85) for every two documents, one strictly above the other, has the
    optimum; with another row for equal documents it has not.
    """
    return at._optimum(lambda a, b: a > b) == at.value < at._optimum(lambda a, b: a >= b)


@statement("T.84", ranked)
def the_value_of_a_ranking(at: Ranked) -> bool:
    """w.w / 2 + C sum xi_ij is the optimum."""
    return dot(at.w, at.w) / 2 + cost(at) * slacks(at) == at.value


@statement("T.84.bound", ranked)
def slacks_bound_the_misranked_pairs(at: Ranked) -> bool:
    """sum xi_ij is an upper bound of the number of pairs that are misranked or tied."""
    return sum(at.margin(r) <= 0 for r in at.all) <= slacks(at)


@statement("T.87", ranked)
def a_margin_is_of_a_difference(at: Ranked) -> bool:
    """w.(x_i - x_j) >= 1 - xi_ij is (85): with the smallest slacks that satisfy it, (84)
    has the optimal value.
    """
    least = [max(Fraction(0), 1 - dot(at.w, minus(at.x[i], at.x[j]))) for i, j in at.pairs]
    allowed = all(
        dot(at.w, at.x[i]) >= dot(at.w, at.x[j]) + 1 - xi
        for xi, (i, j) in zip(least, at.pairs, strict=True)
    )
    return allowed and dot(at.w, at.w) / 2 + cost(at) * sum(least) == at.value


@as_printed("T.87")
def a_margin_is_of_nothing(at: Ranked) -> bool:
    """w.(x_i - x_i) >= 1 - xi_ij: the difference of a point and itself."""
    return all(
        dot(at.w, minus(at.x[i], at.x[i])) >= 1 - at.xi(r) for r, (i, _) in enumerate(at.pairs)
    )


def nobias(vectors: list[Vector], C: float) -> Fraction:
    """Return the optimum of the SVM without a bias on vectors all of the class 1."""
    return solved(classification(floats(vectors), [1] * len(vectors), C, bias=False)).value


@statement("T.87.equivalent", ranked)
def a_ranking_is_a_classification_without_a_bias(at: Ranked) -> bool:
    """The classifying SVM without b on the differences, all of the class 1, has the
    optimum of the ranking.
    """
    return nobias([at.difference(r) for r in at.all], float(cost(at))) == at.value


@as_printed("T.87.equivalent")
def a_ranking_is_a_classification_with_a_bias(at: Ranked) -> bool:
    """With b, as (23) has it, w = 0 and b classify vectors of one class at no cost."""
    return at.value == 0


@statement("T.87.support", ranked)
def support_vectors_have_equality(at: Ranked) -> bool:
    """A pair with a multiplier has w.(x_i - x_j) = 1 - xi_ij."""
    return all(at.margin(r) == 1 - at.xi(r) for r in at.all if at.alpha[r] > 0)


@statement("T.87.bounded", ranked)
def pairs_within_the_margin_are_bounded(at: Ranked) -> bool:
    """A pair with a slack has alpha = C, and one that is misranked has xi > 1."""
    return all(
        at.alpha[r] == cost(at) and (at.xi(r) > 1) == (at.margin(r) < 0)
        for r in at.all
        if at.xi(r) > 0
    )


@as_printed("T.87.bounded")
def bounded_pairs_are_within_the_margin(at: Ranked) -> bool:
    """The pairs with alpha = C are those with a slack."""
    return all((at.alpha[r] == cost(at)) == (at.xi(r) > 0) for r in at.all)


@statement("T.87.unbounded", ranked)
def pairs_of_a_free_multiplier_are_on_the_margin(at: Ranked) -> bool:
    """0 < alpha < C implies xi = 0 and a margin of 1."""
    return all(at.xi(r) == 0 and at.margin(r) == 1 for r in at.all if 0 < at.alpha[r] < cost(at))


@as_printed("T.87.unbounded")
def pairs_on_the_margin_have_a_free_multiplier(at: Ranked) -> bool:
    """The unbounded support vectors, 0 < alpha < C, are the pairs on the margin."""
    return all((at.margin(r) == 1) == (0 < at.alpha[r] < cost(at)) for r in at.all)


@statement("T.88", ranked)
def the_dual_of_a_ranking_has_a_half(at: Ranked) -> bool:
    """sum alpha_ij - 1/2 sum sum alpha_ij alpha_uv (x_i - x_j).(x_u - x_v) is the optimum."""
    return sum(at.alpha) - at.quadratic(at.alpha) / 2 == at.value


@as_printed("T.88")
def the_dual_of_a_ranking_has_no_half(at: Ranked) -> bool:
    """Without the half the optimum at C is half of the right one at 2C."""
    return of_pairs(at.x, at.pairs, float(2 * cost(at))).value / 2 == at.value


@statement("T.89", ranked)
def multipliers_of_pairs_are_at_most_the_cost(at: Ranked) -> bool:
    """C >= alpha >= 0, without an equality, because a ranking has no bias: alpha is optimal
    within these bounds; the derivatives of the dual are 1 - margin.
    """
    return best_in_box(at.alpha, [1 - at.margin(r) for r in at.all], cost(at))


@statement("T.90", ranked)
def w_is_a_sum_of_differences_of_points(at: Ranked) -> bool:
    """w = sum alpha_ij (x_i - x_j)."""
    return at.w == combined(at.alpha, [at.difference(r) for r in at.all])


@statement("T.90.support", ranked)
def w_needs_support_vectors_alone(at: Ranked) -> bool:
    """w = sum over alpha_ij > 0."""
    kept = [r for r in at.all if at.alpha[r] > 0]
    return (
        combined([at.alpha[r] for r in kept], [at.difference(r) for r in kept]) == at.w
        if kept
        else not any(at.w)
    )


@statement("T.91", ranked)
def the_ranking_function_has_differences_of_kernels(at: Ranked) -> bool:
    """F(z) = sum alpha_ij (K(x_i, z) - K(x_j, z)) is the product with sum alpha_ij
    (phi(x_i) - phi(x_j)), of which this is the square.
    """
    z = (Fraction(2), Fraction(-1))
    by_pairs = sum(
        (a * (k(at.x[i], z) - k(at.x[j], z)) for a, (i, j) in zip(at.alpha, at.pairs, strict=True)),
        Fraction(0),
    )
    beta = coefficients(at)
    return by_pairs == sum((c * k(x, z) for c, x in zip(beta, at.x, strict=True)), Fraction(0))


@as_printed("T.91")
def the_ranking_function_has_kernels_of_differences(at: Ranked) -> bool:
    """F(z) = sum alpha_ij K(x_i - x_j, z)."""
    z = (Fraction(2), Fraction(-1))
    printed = sum((a * k(at.difference(r), z) for r, a in enumerate(at.alpha)), Fraction(0))
    return printed == sum(
        (c * k(x, z) for c, x in zip(coefficients(at), at.x, strict=True)), Fraction(0)
    )


def coefficients(at: Ranked) -> Vector:
    """Return beta = A'alpha."""
    beta = [Fraction(0)] * len(at.x)
    for a, (i, j) in zip(at.alpha, at.pairs, strict=True):
        beta[i] += a
        beta[j] -= a
    return tuple(beta)


@statement("T.corollary1", rankable)
def support_vectors_are_the_closest_pairs(at: Ranked) -> bool:
    """Pairs with a multiplier have the least w.(x_i - x_j), which is 1."""
    least = min(at.margin(r) for r in at.all)
    return least == 1 and all(at.margin(r) == least for r in at.all if at.alpha[r] > 0)


@statement("T.corollary2", rankable)
def the_least_difference_is_largest(at: Ranked) -> bool:
    """No direction has a larger least difference: (min d.(x_i - x_j))^2 <= |d|^2 /
    |w|^2 of all directions d of small integers.
    """
    for d in product(map(Fraction, range(-3, 4)), repeat=2):
        least = min(dot(d, at.difference(r)) for r in at.all)
        if least > 0 and least**2 * dot(at.w, at.w) > dot(d, d):
            return False
    return True


@statement("T.4.1.difference", rankable)
def a_ranking_difference_is_a_distance_on_w(at: Ranked) -> bool:
    """w.(x_i - x_j) / |w| is the distance of the projections of x_i and x_j onto the line
    along w; a w three times as long gives the same distance.
    """
    for w in (at.w, tuple(3 * v for v in at.w)):
        feet = [tuple(dot(w, x) / dot(w, w) * v for v in w) for x in at.x]
        if any(dot(w, minus(x, foot)) != 0 for x, foot in zip(at.x, feet, strict=True)):
            return False
        for r, (i, j) in enumerate(at.pairs):
            apart = minus(feet[i], feet[j])
            if dot(apart, apart) != dot(w, at.difference(r)) ** 2 / dot(w, w) or dot(apart, w) <= 0:
                return False
    return True


@dataclass(frozen=True)
class Labelled:
    """Points with relevances and queries, and the pairs of (1.1)."""

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    q: tuple[int, ...]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """P = {(i, j): q_i = q_j, y_i > y_j}."""
        numbers = range(len(self.y))
        return tuple(
            (i, j)
            for i in numbers
            for j in numbers
            if self.q[i] == self.q[j] and self.y[i] > self.y[j]
        )


def labelled(random: Random) -> Labelled:
    """Draw documents of one or two queries."""
    while True:
        x = points(random, random.randint(3, 6))
        drawn = Labelled(
            x, tuple(random.randint(0, 2) for _ in x), tuple(random.randint(1, 2) for _ in x)
        )
        if drawn.pairs:
            return drawn


@statement("K.1.1", labelled)
def pairs_are_of_one_query_and_of_different_labels(at: Labelled) -> bool:
    """P has every two documents of one query and different labels once: all l_q (l_q -
    1) / 2 of a query, less those of a label.
    """
    of_queries = sum(comb(at.q.count(q), 2) for q in set(at.q))
    of_labels = sum(comb(count, 2) for count in Counter(zip(at.q, at.y, strict=True)).values())
    return len(at.pairs) == of_queries - of_labels and all(
        (j, i) not in at.pairs for i, j in at.pairs
    )


def _strict_order(random: Random) -> Labelled:
    """Draw documents of one query in a strict order."""
    y = random.sample(range(20), random.randint(2, 20))
    return Labelled(points(random, len(y)), tuple(y), (1,) * len(y))


@statement("K.1.many", _strict_order)
def pairs_may_be_half_a_square(at: Labelled) -> bool:
    """p is l (l - 1) / 2, the number of all pairs, if all documents are of one query and
    no two labels are equal.
    """
    return len(at.pairs) == comb(len(at.y), 2)


def rank(rows: list[list[Fraction]]) -> int:
    """Return the rank of a matrix in rationals, by elimination."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            share = rows[i][column] / rows[found][column]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def incidence(pairs: tuple[tuple[int, int], ...], m: int) -> list[list[Fraction]]:
    """Return A, with +1 at the preferred point of a pair and -1 at the other."""
    return [[Fraction((c == i) - (c == j)) for c in range(m)] for i, j in pairs]


def gram(x: tuple[Vector, ...]) -> list[list[Fraction]]:
    """Return Q, with the kernel (1 + a.b)^2."""
    return [[k(a, b) for b in x] for a in x]


def hessian(at: Labelled) -> list[list[Fraction]]:
    """Return Qhat of (2.5), from k alone."""
    return [
        [
            k(at.x[i], at.x[u]) + k(at.x[j], at.x[v]) - k(at.x[i], at.x[v]) - k(at.x[j], at.x[u])
            for u, v in at.pairs
        ]
        for i, j in at.pairs
    ]


def multiplied(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return a product of matrices."""
    return [[dot(row, column) for column in zip(*b, strict=True)] for row in a]


def transposed(a: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return a transposed matrix."""
    return [list(column) for column in zip(*a, strict=True)]


@statement("K.2.5", labelled)
def the_hessian_is_symmetric(at: Labelled) -> bool:
    """Qhat = (phi_ij . phi_uv) is symmetric, with squares on the diagonal."""
    H = hessian(at)
    return transposed(H) == H and all(H[r][r] >= 0 for r in range(len(H)))


@statement("K.2.7", labelled)
def the_hessian_is_of_the_points(at: Labelled) -> bool:
    """Qhat = A Q A'."""
    A = incidence(at.pairs, len(at.x))
    return hessian(at) == multiplied(multiplied(A, gram(at.x)), transposed(A))


def components(at: Labelled) -> int:
    """Return the components of the graph of pairs, points without a pair among them."""
    name = list(range(len(at.x)))
    for i, j in at.pairs:
        name = [name[i] if n == name[j] else n for n in name]
    return len(set(name))


@statement("K.3.1.rank", labelled)
def the_rank_of_the_pairs_is_points_minus_components(at: Labelled) -> bool:
    """rank(Qhat) <= rank(A) = l - #components <= l."""
    A = incidence(at.pairs, len(at.x))
    return rank(hessian(at)) <= rank(A) == len(at.x) - components(at) <= len(at.x)


def tree(random: Random) -> Labelled:
    """Draw a chain of levels, one point each: p = l (l - 1) / 2, and for l = 2 a tree."""
    m = random.randint(2, 3)
    return Labelled(
        tuple((Fraction(i), Fraction(i * i)) for i in range(m)), tuple(range(m)), (1,) * m
    )


@statement("K.3.1.singular", tree)
def the_hessian_is_singular_where_pairs_exceed_the_rank(at: Labelled) -> bool:
    """Qhat is singular wherever p > l - #components."""
    return (rank(hessian(at)) < len(at.pairs)) == (len(at.pairs) > len(at.x) - components(at))


@as_printed("K.3.1.singular")
def the_hessian_is_singular_where_p_is_not_l(at: Labelled) -> bool:
    """ "Qhat tends to be only positive semi-definite because usually p != l": two
    points have p = 1, l = 2, and a regular Qhat.
    """
    return len(at.pairs) == len(at.x) or rank(hessian(at)) < len(at.pairs)


@dataclass(frozen=True)
class Kernelized:
    """A ranking with the kernel (1 + a.b)^2 at its exact optimum, beta and alpha."""

    on: Labelled
    C: Fraction
    value: Fraction
    alpha: Vector
    beta: Vector

    @property
    def f(self) -> Vector:
        """Q beta."""
        return tuple(dot(row, self.beta) for row in gram(self.on.x))

    @property
    def norm(self) -> Fraction:
        """beta'Q beta."""
        return dot(self.beta, self.f)

    def slack(self, r: int) -> Fraction:
        """Return 1 - (Q beta)_i + (Q beta)_j."""
        i, j = self.on.pairs[r]
        return 1 - self.f[i] + self.f[j]


def kernelized(random: Random) -> Kernelized:
    """Draw a small ranking with a kernel."""
    on, C = labelled(random), random.choice(COSTS)
    optimum = solved(
        ranking_from_pairs(
            floats(on.x), [list(pair) for pair in on.pairs], C, polynomial(2, 1.0, 1.0)
        )
    )
    return Kernelized(on, Fraction(C), optimum.value, optimum.alpha, optimum.beta)


def halfway(random: Random) -> Kernelized:
    """Draw a small ranking with half of its optimal beta, for statements on every beta.

    Pairs on the margin have a slack there.
    """
    optimal = kernelized(random)
    return replace(optimal, beta=tuple(b / 2 for b in optimal.beta))


@statement("K.1.2", kernelized)
def the_value_of_a_kernel_ranking(at: Kernelized) -> bool:
    """w.w / 2 + C sum xi_ij is the optimum, with w.w = beta'Q beta."""
    return (
        at.norm / 2
        + at.C * sum((max(Fraction(0), at.slack(r)) for r in range(len(at.alpha))), Fraction(0))
        == at.value
    )


@statement("K.2.4", kernelized)
def the_dual_of_k_is_minus_the_primal(at: Kernelized) -> bool:
    """min alpha'Qhat alpha / 2 - e'alpha is minus the optimum of (1.2), and 0 <= alpha <= C."""
    form = sum(
        (a * dot(row, at.alpha) for a, row in zip(at.alpha, hessian(at.on), strict=True)),
        Fraction(0),
    )
    return form / 2 - sum(at.alpha) == -at.value and all(0 <= a <= at.C for a in at.alpha)


@as_printed("K.2.4")
def the_dual_of_k_is_the_primal(at: Kernelized) -> bool:
    """ "Problem (2.4)" as a minimum has the optimum of (1.2) itself: its sign is the other one."""
    form = sum(
        (a * dot(row, at.alpha) for a, row in zip(at.alpha, hessian(at.on), strict=True)),
        Fraction(0),
    )
    return form / 2 - sum(at.alpha) == at.value


@statement("K.2.6", kernelized)
def w_of_k_is_a_sum_of_pairs(at: Kernelized) -> bool:
    """w = sum alpha_ij phi_ij: with the margins Qhat alpha all conditions of the optimum hold."""
    margins = [dot(row, at.alpha) for row in hessian(at.on)]
    return all(
        (a == 0 or m <= 1) and (a == at.C or m >= 1) for a, m in zip(at.alpha, margins, strict=True)
    )


@statement("K.2.9", kernelized)
def w_of_k_is_a_sum_of_points(at: Kernelized) -> bool:
    """w = sum beta_i phi(x_i), so that w.phi_ij = (Q beta)_i - (Q beta)_j: the optimum
    in beta is that of (1.2).
    """
    return all(
        (at.alpha[r] == 0 or at.slack(r) >= 0) and (at.alpha[r] == at.C or at.slack(r) <= 0)
        for r in range(len(at.alpha))
    )


@statement("K.3.12", kernelized)
def the_value_in_beta(at: Kernelized) -> bool:
    """beta'Q beta / 2 + C sum max(0, 1 - (Q beta)_i + (Q beta)_j) is the optimum."""
    losses = sum((max(Fraction(0), at.slack(r)) for r in range(len(at.alpha))), Fraction(0))
    return at.norm / 2 + at.C * losses == at.value


@statement("K.3.15", kernelized)
def the_multipliers_are_coefficients_of_pairs(at: Kernelized) -> bool:
    """Appendix A: alpha in the place of betahat has the optimum of (3.15)."""
    margins = [dot(row, at.alpha) for row in hessian(at.on)]
    form = dot(at.alpha, margins)
    return (
        form / 2 + at.C * sum((max(Fraction(0), 1 - m) for m in margins), Fraction(0)) == at.value
    )


@statement("K.3.16", kernelized)
def beta_is_a_sum_of_coefficients_of_pairs(at: Kernelized) -> bool:
    """beta = A'betahat has the margins and the norm of betahat, whatever its signs; of
    betahat = alpha, Q beta is the optimal f.
    """
    A, Q, m = incidence(at.on.pairs, len(at.on.x)), gram(at.on.x), len(at.on.pairs)
    # The second betahat has coefficients of both signs.
    for betahat in (at.alpha, tuple(Fraction(r * r - 2) for r in range(m))):
        beta, margins = (
            combined(betahat, [tuple(r) for r in A]),
            [dot(row, betahat) for row in hessian(at.on)],
        )
        f = tuple(dot(row, beta) for row in Q)
        if [f[i] - f[j] for i, j in at.on.pairs] != margins or dot(beta, f) != dot(
            betahat, margins
        ):
            return False
        if betahat == at.alpha and f != at.f:
            return False
    return True


def counts(at: Kernelized) -> tuple[list[int], list[int]]:
    """Return l_i^+ = #{j: (j, i) in SV} and l_i^- = #{j: (i, j) in SV} of (3.17), (3.18)."""
    m = len(at.on.x)
    inside = [pair for r, pair in enumerate(at.on.pairs) if at.slack(r) > 0]
    return [sum(j == i for _, j in inside) for i in range(m)], [
        sum(j == i for j, _ in inside) for i in range(m)
    ]


@statement("K.3.17", halfway)
def the_loss_is_a_sum_over_points(at: Kernelized) -> bool:
    """sum over SV of 1 - (Q beta)_i + (Q beta)_j = sum_i (l_i^+ - l_i^-)(Q beta)_i + l_i^-."""
    plus, less = counts(at)
    over_points = sum(
        ((a - b) * f + b for a, b, f in zip(plus, less, at.f, strict=True)), Fraction(0)
    )
    return over_points == sum(
        (at.slack(r) for r in range(len(at.alpha)) if at.slack(r) > 0), Fraction(0)
    )


@statement("K.3.18", halfway)
def every_violated_pair_is_counted_once_on_either_side(at: Kernelized) -> bool:
    """sum l_i^+ = sum l_i^- = #SV."""
    plus, less = counts(at)
    return sum(plus) == sum(less) == sum(at.slack(r) > 0 for r in range(len(at.alpha)))


@statement("K.B.counts", halfway)
def the_rows_of_violated_pairs_add_up_to_counts(at: Kernelized) -> bool:
    """A_beta'e = l^- - l^+ and p_beta = sum l_i^-; A_beta has a row for every pair in SV."""
    plus, less = counts(at)
    A = incidence(
        tuple(at.on.pairs[r] for r in range(len(at.alpha)) if at.slack(r) > 0), len(at.on.x)
    )
    sums = [sum((row[i] for row in A), Fraction(0)) for i in range(len(at.on.x))]
    return sums == [b - a for a, b in zip(plus, less, strict=True)] and len(A) == sum(less)


def squared(at: Kernelized) -> tuple[Fraction, Fraction, int]:
    """Return the objective of (3.13) pair by pair; (B.1) before p_beta; and p_beta."""
    inside = [r for r in range(len(at.alpha)) if at.slack(r) > 0]
    A = incidence(tuple(at.on.pairs[r] for r in inside), len(at.on.x))
    margins = [dot(row, at.f) for row in A]
    by_pairs = at.norm / 2 + at.C * sum((at.slack(r) ** 2 for r in inside), Fraction(0))
    without = at.norm / 2 + at.C * (
        sum((m * m for m in margins), Fraction(0)) - 2 * sum(margins, Fraction(0))
    )
    return by_pairs, without, len(inside)


@statement("K.B.1", halfway)
def the_constant_of_the_squares_is_priced(at: Kernelized) -> bool:
    """+ C p_beta."""
    by_pairs, without, p = squared(at)
    return by_pairs == without + at.C * p


@as_printed("K.B.1")
def the_constant_of_the_squares_is_not_priced(at: Kernelized) -> bool:
    """+ p_beta."""
    by_pairs, without, p = squared(at)
    return by_pairs == without + p


@statement("K.B.2", halfway)
def the_gradient_of_the_squares(at: Kernelized) -> bool:
    """Q beta - 2 C sum (Q_i - Q_j) max(0, .) = Q beta + 2 C Q (A'A Q beta - A'e), with
    the rows of A that are violated.
    """
    Q, m = gram(at.on.x), len(at.on.x)
    inside = [r for r in range(len(at.alpha)) if at.slack(r) > 0]
    A = incidence(tuple(at.on.pairs[r] for r in inside), m)
    by_pairs = list(at.f)
    for r in inside:
        i, j = at.on.pairs[r]
        by_pairs = [
            v - 2 * at.C * at.slack(r) * (Q[c][i] - Q[c][j]) for c, v in enumerate(by_pairs)
        ]
    inner = (
        combined([dot(row, at.f) - 1 for row in A], [tuple(row) for row in A])
        if A
        else (Fraction(0),) * m
    )
    return by_pairs == [f + 2 * at.C * dot(Q[c], inner) for c, f in enumerate(at.f)]


@statement("K.B.3", halfway)
def the_hessian_products_are_sums_over_points(at: Kernelized) -> bool:
    """The gradient (B.2) of the violated pairs at beta + v, less that at beta, is Q v +
    2 C Q times sums of Q v over points.
    """
    Q, m = gram(at.on.x), len(at.on.x)
    inside = [pair for r, pair in enumerate(at.on.pairs) if at.slack(r) > 0]
    v = tuple(Fraction(i * i - 2) for i in range(m))
    Qv, (plus, less) = [dot(row, v) for row in Q], counts(at)

    def gradient(f: Sequence[Fraction]) -> list[Fraction]:
        shares = [Fraction(0)] * m
        for i, j in inside:
            shares[i] += f[i] - f[j] - 1
            shares[j] -= f[i] - f[j] - 1
        return [value + 2 * at.C * dot(row, shares) for value, row in zip(f, Q, strict=True)]

    # (plus + less)_c counts the violated pairs of point c; A'A Q v is a sum over them.
    both = [*inside, *((j, i) for i, j in inside)]
    sums = [
        (plus[c] + less[c]) * Qv[c] - sum((Qv[j] for i, j in both if i == c), Fraction(0))
        for c in range(m)
    ]
    moved = gradient([f + q for f, q in zip(at.f, Qv, strict=True)])
    change = [a - b for a, b in zip(moved, gradient(at.f), strict=True)]
    return change == [q + 2 * at.C * dot(row, sums) for q, row in zip(Qv, Q, strict=True)]


@dataclass(frozen=True)
class Slack1:
    """A ranking and the subset of pairs of (2.8) that is most violated."""

    on: Kernelized


def oneslack(random: Random) -> Slack1:
    """Draw a small ranking."""
    while True:
        on = kernelized(random)
        if len(on.alpha) <= 7:
            return Slack1(on)


@statement("K.2.8", oneslack)
def one_slack_is_the_sum_of_all(at: Slack1) -> bool:
    """The largest violation of the 2^p subsets is the sum of the xi_ij."""
    slack = [at.on.slack(r) for r in range(len(at.on.alpha))]
    largest = max(
        sum((s for s, c in zip(slack, chosen, strict=True) if c), Fraction(0))
        for chosen in product((0, 1), repeat=len(slack))
    )
    return largest == sum((max(Fraction(0), s) for s in slack), Fraction(0))


@dataclass(frozen=True)
class Plain:
    """A classifying SVM without a bias, and optimal multipliers of its dual."""

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    C: Fraction
    value: Fraction
    alpha: Vector

    def _objective(self, beta: Sequence[Fraction]) -> Fraction:
        """Evaluate (3.14), with Qbar_ij = y_i y_j x_i.x_j."""
        signed = [b * s for b, s in zip(beta, self.y, strict=True)]
        w = combined(signed, self.x)
        margins = [s * dot(w, x) for s, x in zip(self.y, self.x, strict=True)]
        return dot(w, w) / 2 + self.C * sum(
            (max(Fraction(0), 1 - margin) for margin in margins), Fraction(0)
        )


def plain(random: Random) -> Plain:
    """Draw points of both classes."""
    x = points(random, random.randint(2, 5))
    y, C = (-1, 1, *(random.choice((-1, 1)) for _ in x[2:])), random.choice(COSTS)
    optimum = solved(classification(floats(x), list(y), C, bias=False))
    return Plain(x, y, Fraction(C), optimum.value, optimum.alpha)


@statement("K.3.14", plain)
def the_coefficients_of_314_are_the_multipliers(at: Plain) -> bool:
    """betabar = alphabar has in (3.14) the optimum of (2.3)."""
    return at._objective(at.alpha) == at.value


@as_printed("K.3.14")
def the_coefficients_of_314_are_signed_multipliers(at: Plain) -> bool:
    """betabar_i = y_i alphabar_i, which is alphabar_i = y_i betabar_i."""
    return at._objective([a * s for a, s in zip(at.alpha, at.y, strict=True)]) == at.value


@statement("K.3.13.smooth", kernelized)
def the_square_of_a_slack_has_one_slope_where_it_ends(at: Kernelized) -> bool:
    """max(0, u)^2 has the one-sided difference quotients h and 0 at u = 0, with the common
    limit 0; those of max(0, u) are 1 and 0 for every h.
    """
    h = at.C / 1024
    squared_slopes = (max(Fraction(0), h) ** 2 / h, max(Fraction(0), -h) ** 2 / -h)
    slopes = (max(Fraction(0), h) / h, max(Fraction(0), -h) / -h)
    return list(squared_slopes) == [h, 0] and list(slopes) == [1, 0]


@statement("K.3.3.linear", labelled)
def a_product_with_a_linear_gram_matrix_takes_two_products(at: Labelled) -> bool:
    """Q beta = X (X'beta) with Q = X X': if beta_j increases by 1, X (X'beta) increases by
    column j of Q.
    """
    beta = tuple(Fraction(i - 1) for i in range(len(at.x)))
    Q = [[dot(a, b) for b in at.x] for a in at.x]
    f = through_weights(at.x, beta)
    for j in range(len(at.x)):
        moved = through_weights(at.x, (*beta[:j], beta[j] + 1, *beta[j + 1 :]))
        if any(after - before != row[j] for after, before, row in zip(moved, f, Q, strict=True)):
            return False
    return f == [dot(row, beta) for row in Q]


def _wide(random: Random) -> Ranked:
    """Draw a few points of eight features, in a strict order."""
    x = points(random, random.randint(3, 4), 8)
    return of_pairs(x, list(combinations(range(len(x)), 2)), random.choice(COSTS))


@statement("K.3.3.fewer", _wide)
def l_coefficients_do_for_n_weights(at: Ranked) -> bool:
    """Where l < n, (3.12) with the linear kernel has its l variables in place of n, and
    the optimum of (3.11), from which w = X'beta.
    """
    beta = coefficients(at)
    f = through_weights(at.x, beta)
    losses = sum((max(Fraction(0), 1 - f[i] + f[j]) for i, j in at.pairs), Fraction(0))
    return (
        len(beta) < len(at.w)
        and dot(beta, f) / 2 + cost(at) * losses == at.value
        and combined(beta, at.x) == at.w
    )


@dataclass(frozen=True)
class Circle:
    """A ranking of three points with all of its pairs, which depend on each other."""

    of: Ranked
    t: Fraction

    def _objective(self, betahat: Sequence[Fraction]) -> Fraction:
        """Evaluate (3.15)."""
        w = combined(betahat, [self.of.difference(r) for r in self.of.all])
        losses = sum(
            (max(Fraction(0), 1 - dot(w, self.of.difference(r))) for r in self.of.all), Fraction(0)
        )
        return dot(w, w) / 2 + cost(self.of) * losses


def _circle(random: Random) -> Circle:
    """Draw three points, and by how much to move coefficients around the circle."""
    of = of_pairs(points(random, 3), [(0, 1), (0, 2), (1, 2)], random.choice(COSTS))
    return Circle(of, 2 * cost(of) + random.randint(1, 3))


@statement("K.3.1.weaker", _circle)
def an_optimum_in_pairs_need_not_be_one_of_the_dual(at: Circle) -> bool:
    """The multipliers are optimal for (3.15), and stay optimal when changed along the
    cycle of dependent pairs, where they leave the bounds of (2.4).
    """
    moved = [a + at.t * step for a, step in zip(at.of.alpha, (1, -1, 1), strict=True)]
    return at._objective(at.of.alpha) == at._objective(moved) == at.of.value and not all(
        0 <= a <= cost(at.of) for a in moved
    )


def through_weights(x: tuple[Vector, ...], beta: Vector) -> list[Fraction]:
    """Return X (X'beta)."""
    w = combined(beta, x)
    return [dot(a, w) for a in x]


@statement("K.B.subgradient", halfway)
def the_subgradient_is_a_sum_over_points(at: Kernelized) -> bool:
    """Q beta - C sum over SV of (Q_i - Q_j) = Q beta + C sum (l_i^+ - l_i^-) Q_i."""
    Q = gram(at.on.x)
    plus, less = counts(at)
    inside = [at.on.pairs[r] for r in range(len(at.alpha)) if at.slack(r) > 0]
    by_pairs = [
        f - at.C * sum((Q[c][i] - Q[c][j] for i, j in inside), Fraction(0))
        for c, f in enumerate(at.f)
    ]
    shares = [Fraction(a - b) for a, b in zip(plus, less, strict=True)]
    return by_pairs == [f + at.C * dot(shares, Q[c]) for c, f in enumerate(at.f)]


@statement("K.3.1.unique", ranked)
def the_optimal_w_is_unique(at: Ranked) -> bool:
    """The objective of every d exceeds the optimum by at least |d - w|^2 / 2; tried for
    all d of small integers.
    """
    for d in product(map(Fraction, range(-3, 4)), repeat=2):
        losses = sum((max(Fraction(0), 1 - dot(d, at.difference(r))) for r in at.all), Fraction(0))
        away = minus(d, at.w)
        if dot(d, d) / 2 + cost(at) * losses < at.value + dot(away, away) / 2:
            return False
    return True
