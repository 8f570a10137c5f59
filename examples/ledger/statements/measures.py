"""Statements of documents T, K and W about the quality of a ranking.

Kendall's tau, accuracy, average precision and discounted gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, isqrt
from random import Random

from ledger.statement import as_printed, statement

FIVE = (3, 2, 1, 4, 5)
"""Example of document T, section 5.3, with points numbered in the right order."""


@dataclass(frozen=True)
class Order:
    """Order of n points: `places[i]` is the place of point i, numbered in the right order."""

    places: tuple[int, ...]

    @property
    def concordant(self) -> int:
        """Pairs in the right order."""
        return sum(a < b for a, b in combinations(self.places, 2))

    @property
    def pairs(self) -> int:
        """All pairs."""
        return comb(len(self.places), 2)


def order(random: Random) -> Order:
    """Draw an order of two to six points."""
    places = list(range(random.randint(2, 6)))
    random.shuffle(places)
    return Order(tuple(places))


def five(random: Random) -> Order:
    """Return the printed example, for every `random`."""
    names = list(range(5))
    random.shuffle(names)
    return Order(tuple(FIVE.index(i + 1) for i in range(5)))


@statement("T.5.3.accuracy", five)
def the_accuracy_of_the_example(at: Order) -> bool:
    """The accuracy is 0.7: 3 discordant pairs of 10, {x1, x2}, {x1, x3} and {x2, x3}."""
    discordant = [
        (i + 1, j + 1) for i, j in combinations(range(5), 2) if at.places[i] > at.places[j]
    ]
    return Fraction(at.concordant, at.pairs) == Fraction(7, 10) and discordant == [
        (1, 2),
        (1, 3),
        (2, 3),
    ]


@statement("T.5.3.tau", order)
def tau_is_twice_the_accuracy_minus_one(at: Order) -> bool:
    """tau = (concordant - discordant) / all pairs = 2 accuracy - 1."""
    tau = Fraction(at.concordant - (at.pairs - at.concordant), at.pairs)
    return tau == 2 * Fraction(at.concordant, at.pairs) - 1


@as_printed("T.5.3.tau")
def tau_is_the_accuracy(at: Order) -> bool:
    """Kendall's tau is the number of concordant pairs per the number of pairs."""
    tau = Fraction(at.concordant - (at.pairs - at.concordant), at.pairs)
    return tau == Fraction(at.concordant, at.pairs)


@statement("T.5.3.pairs", order)
def all_pairs_are_concordant_or_discordant(at: Order) -> bool:
    """Of n points in strict orders there are n (n - 1) / 2 pairs, concordant or discordant."""
    n = len(at.places)
    return at.concordant + sum(a > b for a, b in combinations(at.places, 2)) == n * (n - 1) // 2


@statement("W.matrix", order)
def a_ranking_method_is_an_asymmetric_matrix(at: Order) -> bool:
    """The entry of i and j is 1 where i is above j: not both of (i, j) and (j, i) are
    1, and the diagonal is 0.
    """
    n = range(len(at.places))
    above = [[int(at.places[i] < at.places[j]) for j in n] for i in n]
    return all(above[i][j] + above[j][i] == (i != j) for i in n for j in n)


@dataclass(frozen=True)
class Tied:
    """Relevances with ties, a strict order of the documents, and another numbering of them."""

    wanted: tuple[int, ...]
    found: tuple[int, ...]
    numbering: tuple[int, ...]


def tied(random: Random) -> Tied:
    """Draw three to five documents, two of them equally relevant."""
    n = random.randint(3, 5)
    wanted = [1, 1, *(random.randint(0, 2) for _ in range(n - 2))]
    found, numbering = list(range(n)), list(range(n))
    random.shuffle(found)
    random.shuffle(numbering)
    return Tied(tuple(wanted), tuple(found), tuple(numbering))


def printed_tau(wanted: tuple[int, ...], found: tuple[int, ...]) -> Fraction:
    """Return W's tau of two matrices, of the entries above their diagonals."""
    pairs = list(combinations(range(len(wanted)), 2))
    same = sum((wanted[i] > wanted[j]) == (found[i] > found[j]) for i, j in pairs)
    return Fraction(2 * same - len(pairs), len(pairs))


def renumbered(values: tuple[int, ...], numbering: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values in another numbering of the documents."""
    return tuple(values[i] for i in numbering)


@statement("W.tau.ties", tied)
def without_ties_the_numbers_do_not_matter(at: Tied) -> bool:
    """tau of two strict orders is the same in every numbering."""
    strict = tuple(2 * v + (i == 0) + 10 * i for i, v in enumerate(at.wanted))
    return printed_tau(strict, at.found) == printed_tau(
        renumbered(strict, at.numbering), renumbered(at.found, at.numbering)
    )


@as_printed("W.tau.ties")
def with_ties_the_numbers_do_not_matter(at: Tied) -> bool:
    """tau of two orders with equal documents is the same in every numbering."""
    return printed_tau(at.wanted, at.found) == printed_tau(
        renumbered(at.wanted, at.numbering), renumbered(at.found, at.numbering)
    )


@dataclass(frozen=True)
class Retrieved:
    """Relevance of documents, from the first shown to the last; one of them is relevant."""

    relevant: tuple[bool, ...]

    @property
    def R(self) -> int:
        """Relevant documents."""
        return sum(self.relevant)

    @property
    def Q(self) -> int:
        """Pairs of a relevant document below an irrelevant one."""
        return sum(b and not a for a, b in combinations(self.relevant, 2))

    @property
    def average_precision(self) -> Fraction:
        """The mean over the relevant documents of the precision down to each of them."""
        found = [
            Fraction(sum(self.relevant[: i + 1]), i + 1) for i, r in enumerate(self.relevant) if r
        ]
        return sum(found, Fraction(0)) / self.R


def retrieved(random: Random) -> Retrieved:
    """Draw one to eight documents."""
    relevant = [random.random() < 0.5 for _ in range(random.randint(1, 8))]
    relevant[random.randrange(len(relevant))] = True
    return Retrieved(tuple(relevant))


def precision(relevant: set[int], retrieved: set[int]) -> Fraction:
    """Return |relevant and retrieved| / |retrieved|."""
    return Fraction(len(relevant & retrieved), len(retrieved))


@statement("W.precision", retrieved)
def precision_is_the_relevant_share_of_the_retrieved(at: Retrieved) -> bool:
    """Precision is 1 exactly if all retrieved documents are relevant, 0 if none is, and
    the mean of the precisions of two parts, weighted by their sizes.
    """
    relevant, everything = {i for i, r in enumerate(at.relevant) if r}, set(range(len(at.relevant)))
    for n in range(1, len(at.relevant) + 1):
        first, rest = set(range(n)), everything - set(range(n))
        if (precision(relevant, first) == 1) != (first <= relevant) or (
            precision(relevant, first) == 0
        ) != (not first & relevant):
            return False
        parts = [len(part) * precision(relevant, part) for part in (first, rest) if part]
        if sum(parts, Fraction(0)) != len(everything) * precision(relevant, everything):
            return False
    return True


@statement("W.recall", retrieved)
def recall_grows_to_one(at: Retrieved) -> bool:
    """Recall does not fall as more is retrieved, and is 1 when all is."""
    recalls = [Fraction(sum(at.relevant[:n]), at.R) for n in range(1, len(at.relevant) + 1)]
    return recalls == sorted(recalls) and recalls[-1] == 1


@statement("W.average_precision", retrieved)
def average_precision_is_a_sum_over_steps_of_recall(at: Retrieved) -> bool:
    """The integral of precision over recall, recall rising by 1/R at each relevant document."""
    total, before = Fraction(0), Fraction(0)
    for n in range(1, len(at.relevant) + 1):
        recall = Fraction(sum(at.relevant[:n]), at.R)
        total += Fraction(sum(at.relevant[:n]), n) * (recall - before)
        before = recall
    return total == at.average_precision


def squared_root_sum(R: int) -> tuple[Fraction, Fraction]:
    """Return (sum_i sqrt i)^2 from below and from above, by integer square roots."""
    scale = 10**12
    low = sum((Fraction(isqrt(i * scale**2), scale) for i in range(1, R + 1)), Fraction(0))
    return low**2, (low + Fraction(R, scale)) ** 2


@statement("W.bound", retrieved)
def average_precision_is_bounded_by_the_inversions(at: Retrieved) -> bool:
    """AvgPrec >= 1/R (Q + R (R + 1) / 2)^-1 (sum sqrt i)^2, with equality for R = 1;
    for larger R the roots are rounded up.
    """
    square = at.average_precision * at.R * (at.Q + Fraction(at.R * (at.R + 1), 2))
    return square == 1 if at.R == 1 else square >= squared_root_sum(at.R)[1]


@dataclass(frozen=True)
class Inversions:
    """R relevant documents and two numbers of inversions, the first smaller."""

    R: int
    fewer: int
    more: int


def inversions(random: Random) -> Inversions:
    """Draw two different numbers of inversions."""
    fewer, more = sorted(random.sample(range(20), 2))
    return Inversions(random.randint(1, 6), fewer, more)


def bound(R: int, Q: int) -> Fraction:
    """Return the bound of document W, rounded down."""
    return squared_root_sum(R)[0] / (R * (Q + Fraction(R * (R + 1), 2)))


@statement("W.tau.bound", inversions)
def a_larger_tau_raises_the_bound(at: Inversions) -> bool:
    """Fewer inversions, that is a larger tau, give a larger bound."""
    return bound(at.R, at.fewer) > bound(at.R, at.more)


@as_printed("W.tau.bound")
def a_larger_tau_lowers_the_bound(at: Inversions) -> bool:
    """ "Maximizing tau helps to minimize the lower bound of the Average Precision"."""
    return bound(at.R, at.fewer) < bound(at.R, at.more)


@statement("W.bound.perfect", inversions)
def the_bound_of_a_perfect_ranking_is_at_most_one(at: Inversions) -> bool:
    """At Q = 0 the bound is 1 for R = 1 and less than 1 for R > 1, where the average
    precision is 1.
    """
    return (
        bound(at.R, 0) == 1
        if at.R == 1
        else squared_root_sum(at.R)[1] / (at.R * comb(at.R + 1, 2)) < 1
    )


@dataclass(frozen=True)
class Graded:
    """Grades of documents in the order that is evaluated."""

    grades: tuple[int, ...]

    @property
    def ideal(self) -> tuple[int, ...]:
        """Grades in decreasing order."""
        return tuple(sorted(self.grades, reverse=True))


def graded(random: Random) -> Graded:
    """Draw two to six documents, two of which have different grades."""
    return Graded((0, 2, *(random.randint(0, 2) for _ in range(random.randint(0, 4)))))


def gains(grades: tuple[int, ...]) -> list[int]:
    """Return 2^y - 1 by place: the coefficients of the discounts d(i); d(1) = d(2) = 1."""
    return [2**y - 1 for y in grades]


@statement("K.ndcg", graded)
def the_gain_of_a_wrong_order_is_smaller(at: Graded) -> bool:
    """With the evaluated order in the numerator, the gain of the first m places is at most
    that of the ideal order, and smaller for some m.
    """
    wrong, ideal = gains(at.grades), gains(at.ideal)
    return (
        all(sum(wrong[:m]) <= sum(ideal[:m]) for m in range(1, len(ideal) + 1))
        and wrong[0] < ideal[0]
    )


@as_printed("K.ndcg")
def the_gain_is_of_the_ideal_order(at: Graded) -> bool:
    """NDCG@m as printed has the ideal order pi in its numerator, too: it is 1 for every
    evaluated order.
    """
    return gains(at.grades)[0] == gains(at.ideal)[0]


@statement("K.accuracy", order)
def pairwise_accuracy_counts_strict_pairs(at: Order) -> bool:
    """|{(i, j) in P: w.x_i > w.x_j}| / p: one minus the share of discordant pairs in a
    strict order.
    """
    discordant = sum(a > b for a, b in combinations(at.places, 2))
    return Fraction(at.concordant, at.pairs) == 1 - Fraction(discordant, at.pairs)


def _average_precision(grades: tuple[int, ...], threshold: int) -> Fraction:
    """Average the precision at the places of documents with a grade from a threshold on."""
    places = [place for place, grade in enumerate(grades, start=1) if grade >= threshold]
    return sum(
        (Fraction(count, place) for count, place in enumerate(places, start=1)), Fraction(0)
    ) / len(places)


@statement("T.5.3.map", graded)
def average_precision_has_two_classes_and_gains_have_levels(at: Graded) -> bool:
    """Average precision is unchanged by a swap of two documents exactly if both are in one
    of the two classes of a threshold.

    A gain with decreasing discounts, here 1 / place, changes if their grades differ.
    """
    # every swap of two documents is tried with each of two thresholds
    gain = sum(Fraction(2**y - 1, place) for place, y in enumerate(at.grades, start=1))
    for i, j in combinations(range(len(at.grades)), 2):
        other = list(at.grades)
        other[i], other[j] = other[j], other[i]
        for threshold in (1, 2):
            alike = (at.grades[i] >= threshold) == (at.grades[j] >= threshold)
            if (
                _average_precision(tuple(other), threshold)
                == _average_precision(at.grades, threshold)
            ) != alike:
                return False
        if (sum(Fraction(2**y - 1, place) for place, y in enumerate(other, start=1)) == gain) != (
            at.grades[i] == at.grades[j]
        ):
            return False
    return True
