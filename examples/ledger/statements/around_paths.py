"""Document P on graphs, ties, other methods, and sizes of linear systems."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from random import Random

from equimargin.formulations.programs.rational import Vector
from ledger.instances import points
from ledger.statement import statement
from ledger.statements.paths import Levels, levels
from ledger.statements.rankings import incidence, multiplied, rank, transposed


@dataclass(frozen=True)
class DirectedGraph:
    """Any directed graph of a few documents.

    rows[i][j] is true where i has an edge to j, and is preferred to it.
    """

    rows: tuple[tuple[bool, ...], ...]


def _graph(random: Random) -> DirectedGraph:
    """Draw two to four documents, and edges in both directions."""
    n = range(random.randint(2, 4))
    return DirectedGraph(tuple(tuple(i != j and random.random() < 0.4 for j in n) for i in n))


@statement("P.figure2", _graph)
def relevances_induce_the_graphs_without_a_circle(at: DirectedGraph) -> bool:
    """Relevances with every edge towards a less relevant document exist if and only if no
    walk has as many steps as there are documents.
    """
    n = range(len(at.rows))
    walks = [1 for _ in n]
    for _ in n:
        walks = [sum(walks[j] for j in n if at.rows[i][j]) for i in n]
    return any(
        all(y[i] > y[j] for i in n for j in n if at.rows[i][j]) for y in product(n, repeat=len(n))
    ) == (not any(walks))


@dataclass(frozen=True)
class TiedScores:
    """Relevances of a few documents, and their scores, with equal ones among them."""

    y: tuple[int, ...]
    f: tuple[int, ...]


def _scores(random: Random) -> TiedScores:
    """Draw two to five documents."""
    n = random.randint(2, 5)
    return TiedScores(
        tuple(random.randint(0, 2) for _ in range(n)), tuple(random.randint(0, 2) for _ in range(n))
    )


@statement("P.3.ties", _scores)
def a_tie_that_is_resolved_at_random_violates_half_a_pair(at: TiedScores) -> bool:
    """The mean number of violated preferences over all permutations sorted by f is the
    number that f inverts plus half of the number of its ties.
    """
    n = range(len(at.y))
    pairs = [(i, j) for i in n for j in n if at.y[i] > at.y[j]]
    # a permutation lists the documents from the first to the last place
    orders = [p for p in permutations(n) if all(at.f[a] >= at.f[b] for a, b in pairwise(p))]
    violated = sum(order.index(i) > order.index(j) for order in orders for i, j in pairs)
    wrong, tied = (
        sum(at.f[i] < at.f[j] for i, j in pairs),
        sum(at.f[i] == at.f[j] for i, j in pairs),
    )
    return Fraction(violated, len(orders)) == wrong + Fraction(tied, 2)


@dataclass(frozen=True)
class Magnitudes:
    """Points of a line with any labels, and the w with minimum loss of MPRank.

    The loss is the sum of (w (x_i - x_j) - (y_i - y_j))^2.
    """

    x: tuple[Fraction, ...]
    y: tuple[int, ...]
    w: Fraction

    def _loss(self, w: Fraction) -> Fraction:
        """Sum the squared differences of w (x_i - x_j) and y_i - y_j."""
        pairs = combinations(zip(self.x, self.y, strict=True), 2)
        return sum(((w * (a - b) - (y - z)) ** 2 for (a, y), (b, z) in pairs), Fraction(0))


def _magnitudes(random: Random) -> Magnitudes:
    """Draw points and labels that are correlated, so that w is not 0."""
    while True:
        x = tuple(point[0] for point in points(random, random.randint(3, 5), 1))
        y = tuple(random.randint(-3, 3) for _ in x)
        around = [len(x) * a - sum(x) for a in x]
        if slope := sum(a * b for a, b in zip(around, y, strict=True)):
            return Magnitudes(
                x, y, Fraction(slope) / sum(a * b for a, b in zip(around, x, strict=True))
            )


@statement("P.intro.mprank", _magnitudes)
def a_loss_of_magnitudes_asks_for_more_than_the_order(at: Magnitudes) -> bool:
    """2w and w/2, which order the points as w does, have a larger loss than w: by the sum
    of the squares of w (x_i - x_j), and by a quarter of it.
    """
    apart = sum(((at.w * (a - b)) ** 2 for a, b in combinations(at.x, 2)), Fraction(0))
    more = [at._loss(times * at.w) - at._loss(at.w) for times in (Fraction(2), Fraction(1, 2))]
    return apart > 0 and more == [apart, apart / 4]


@dataclass(frozen=True)
class SymmetricMatrix:
    """A regular symmetric matrix; its leading blocks are those of sets that pairs enter."""

    rows: tuple[Vector, ...]


def _blocks(random: Random) -> SymmetricMatrix:
    """Draw A A' + 1 of a few integers A."""
    k = random.randint(2, 6)
    A = [list(point) for point in points(random, k, k)]
    return SymmetricMatrix(
        tuple(
            tuple(v + (i == j) for j, v in enumerate(row))
            for i, row in enumerate(multiplied(A, transposed(A)))
        )
    )


def _bordered(
    inverse: list[list[Fraction]], column: list[Fraction], corner: Fraction
) -> tuple[list[list[Fraction]], int]:
    """Update an inverse by one row and column, and count the multiplications."""
    count = 0

    def times(a: Fraction, b: Fraction) -> Fraction:
        nonlocal count
        count += 1
        return a * b

    u = [
        sum((times(a, b) for a, b in zip(row, column, strict=True)), Fraction(0)) for row in inverse
    ]
    over = 1 / (corner - sum((times(a, b) for a, b in zip(u, column, strict=True)), Fraction(0)))
    scaled = [times(over, a) for a in u]
    grown = [
        [entry + times(a, b) for entry, b in zip(row, scaled, strict=True)]
        for row, a in zip(inverse, u, strict=True)
    ]
    return [[*row, -a] for row, a in zip(grown, scaled, strict=True)] + [
        [*(-a for a in scaled), over]
    ], count


@statement("P.5.3.sherman", _blocks)
def an_inverse_is_updated_in_square_time(at: SymmetricMatrix) -> bool:
    """When a pair enters, the inverse of k + 1 rows is computed from that of k rows by
    2 k (k + 1) multiplications.
    """
    inverse: list[list[Fraction]] = []
    for k in range(len(at.rows)):
        inverse, count = _bordered(inverse, list(at.rows[k][:k]), at.rows[k][k])
        block = [list(row[: k + 1]) for row in at.rows[: k + 1]]
        identity = [[Fraction(i == j) for j in range(k + 1)] for i in range(k + 1)]
        if count != 2 * k * (k + 1) or multiplied(block, inverse) != identity:
            return False
    return True


@statement("P.7.small", levels)
def regular_systems_have_less_equations_than_points(at: Levels) -> bool:
    """At most n - 1 pairs are linearly independent, as in a regular system (11), of more
    than twice as many pairs.
    """
    return 2 * rank(incidence(at.all_pairs, len(at.y))) == 2 * (len(at.y) - 1) < len(at.all_pairs)
