"""Document O: ordinal regression, its orders, inversions and empirical risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from random import Random

from equimargin.formulations import polynomial, ranking_from_pairs
from equimargin.formulations.programs.rational import Vector, dot
from ledger.instances import COSTS, Ranked, of_pairs, solved
from ledger.statement import statement


@dataclass(frozen=True)
class Predicted:
    """Ranks y of l objects, and the values of a function h."""

    y: tuple[int, ...]
    h: tuple[int, ...]

    def loss(self, i: int, j: int) -> int:
        """Return l_pref: 1 if h inverts the pair, or ties a pair of different ranks."""
        return int(
            (self.y[i] > self.y[j] and self.h[i] <= self.h[j])
            or (self.y[j] > self.y[i] and self.h[j] <= self.h[i])
        )

    @property
    def empirical(self) -> Fraction:
        """R_emp = 1 / l^2 sum_i sum_j l_pref."""
        n = range(len(self.y))
        return Fraction(sum(self.loss(i, j) for i, j in product(n, n)), len(self.y) ** 2)


def predicted(random: Random) -> Predicted:
    """Draw two to five objects with three ranks."""
    size = random.randint(2, 5)
    return Predicted(
        tuple(random.randint(1, 3) for _ in range(size)),
        tuple(random.randint(1, 3) for _ in range(size)),
    )


@statement("O.1", predicted)
def a_function_induces_an_order(at: Predicted) -> bool:
    """x_i above x_j if and only if h(x_i) is above h(x_j): a strict order whose ties are
    transitive.

    The number of objects below x_i has the order of h, and a function that orders two
    objects differently induces another order.
    """
    n = range(len(at.h))
    above = {(i, j) for i, j in product(n, n) if at.h[i] > at.h[j]}
    tied = {(i, j) for i, j in product(n, n) if (i, j) not in above and (j, i) not in above}
    if above & {(j, i) for i, j in above} or tied != {
        (i, j) for i, j in product(n, n) if at.h[i] == at.h[j]
    }:
        return False
    # Both relations have to be transitive.
    if any(
        (i, k) not in related
        for related in (above, tied)
        for i, j in related
        for other, k in related
        if other == j
    ):
        return False
    below = [sum((i, j) in above for j in n) for i in n]
    if any((below[i] > below[j]) != ((i, j) in above) for i, j in product(n, n)):
        return False
    turned = {(i, j) for i, j in product(n, n) if -at.h[i] > -at.h[j]}
    return (turned == above) == (len(set(at.h)) == 1)


@statement("O.pairs", predicted)
def a_pair_has_two_outcomes_or_none(at: Predicted) -> bool:
    """y_1 is above y_2, y_2 above y_1, or neither if they are equal, and then the pair has
    no inversion.
    """
    n = range(len(at.y))
    return all(
        at.loss(i, j) == at.loss(j, i) and (at.y[i] != at.y[j] or at.loss(i, j) == 0)
        for i, j in product(n, n)
    )


@statement("O.risk", predicted)
def the_empirical_risk_is_twice_the_inversions(at: Predicted) -> bool:
    """The sum over all i and j has every inverted pair twice."""
    inverted = sum(at.loss(i, j) for i in range(len(at.y)) for j in range(i))
    return at.empirical == Fraction(2 * inverted, len(at.y) ** 2)


@statement("O.sets", predicted)
def the_new_sample_has_all_pairs_of_different_ranks(at: Predicted) -> bool:
    """S' has every pair of objects of different ranks once, with +1 if the first is
    preferred: R_emp is 2 / l^2 times the number of its errors.
    """
    pairs = [(i, j) for i, j in combinations(range(len(at.y)), 2) if at.y[i] != at.y[j]]
    sample = [(i, j, 1 if at.y[i] > at.y[j] else -1) for i, j in pairs]
    errors = sum(sign * (at.h[i] - at.h[j]) <= 0 for i, j, sign in sample)
    return at.empirical == Fraction(2 * errors, len(at.y) ** 2)


@statement("O.utility", predicted)
def inversions_depend_on_the_order_alone(at: Predicted) -> bool:
    """Any increasing function of h has the risk of h: ranks are intervals of the line."""
    return Predicted(at.y, tuple(v**3 for v in at.h)).empirical == at.empirical


@dataclass(frozen=True)
class Utility:
    """The ranking of points on a line with the kernel (1 + 2xz)^2: its optimum and utility."""

    x: tuple[Fraction, ...]
    pairs: tuple[tuple[int, int], ...]
    C: Fraction
    value: Fraction
    utility: tuple[Fraction, ...]

    def _optimum(self, images: Sequence[Vector]) -> Ranked:
        """Rank the images of the points by a linear function."""
        return of_pairs(tuple(images), self.pairs, float(self.C))


def _utility(random: Random) -> Utility:
    """Draw points that rank by their distance from 0, as no linear utility ranks them."""
    x = [Fraction(0), Fraction(-random.randint(1, 3)), Fraction(random.randint(1, 3))]
    pairs, C = [(1, 0), (2, 0)], random.choice(COSTS)
    optimum = solved(
        ranking_from_pairs(
            [[float(v)] for v in x], [list(pair) for pair in pairs], C, polynomial(2, 2.0, 1.0)
        )
    )
    utility = tuple(
        sum((b * (1 + 2 * v * z) ** 2 for b, v in zip(optimum.beta, x, strict=True)), Fraction(0))
        for z in x
    )
    return Utility(tuple(x), tuple(pairs), Fraction(C), optimum.value, utility)


@statement("O.kernel", _utility)
def a_kernel_makes_the_utility_that_is_linear_in_its_images(at: Utility) -> bool:
    """The ranking that is linear in (1, 2x, 2x^2), whose products are (1 + 2xz)^2, has
    the optimum and the utility of the kernel's.

    The utility is not linear in x, and the optimum of linear utilities is another one.
    """
    images = [(Fraction(1), 2 * v, 2 * v * v) for v in at.x]
    linear, line = at._optimum(images), at._optimum([(v,) for v in at.x])
    utility = [dot(linear.w, image) for image in images]
    moved = [f - at.utility[0] for f in at.utility]
    return linear.value == at.value < line.value and moved == [f - utility[0] for f in utility]


@dataclass(frozen=True)
class Losses:
    """Loss l(y, yhat) of three classes: 0 if they are equal, else any positive number.

    Rows are y.
    """

    table: tuple[tuple[int, ...], ...]

    def renamed(self, names: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return the same loss of classes with other names."""
        return tuple(tuple(self.table[names[a]][names[b]] for b in range(3)) for a in range(3))


def losses(random: Random) -> Losses:
    """Draw a loss, half of the time the same for all pairs of different classes."""
    same, alike = random.randint(1, 4), random.random() < 0.5
    return Losses(
        tuple(
            tuple(0 if a == b else same if alike else random.randint(1, 4) for b in range(3))
            for a in range(3)
        )
    )


@statement("O.nominal", losses)
def a_loss_without_an_order_is_the_zero_one_loss(at: Losses) -> bool:
    """A loss is unchanged by every renaming of the classes if and only if it is a multiple
    of the loss that is 0 for y = yhat and 1 otherwise.
    """
    nominal = all(at.renamed(names) == at.table for names in permutations(range(3)))
    zero_one = [[int(a != b) for b in range(3)] for a in range(3)]
    return nominal == any(
        [[c * v for v in row] for row in zero_one] == [list(row) for row in at.table]
        for c in range(1, 5)
    )
