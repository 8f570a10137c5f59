"""Document P around its path: graphs, ties, boundaries, other methods, and sizes of systems."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from random import Random

from equimargin.proofs.claims.instances import Vector, dot, minus, points
from equimargin.proofs.claims.statement import statement
from equimargin.proofs.claims.statements.paths import Levels, levels
from equimargin.proofs.claims.statements.rankings import incidence, labelled, multiplied, rank, transposed


@dataclass(frozen=True)
class Steps:
    """A number, and how far it is moved to both sides."""

    u: Fraction
    step: int


def _steps(random: Random) -> Steps:
    """Draw a number near 1, where the hinge bends, or further away."""
    return Steps(Fraction(random.randint(-12, 16), 2), random.randint(1, 3))


@statement("P.figure1", _steps)
def the_hinge_is_piecewise_linear_and_the_square_is_not(at: Steps) -> bool:
    """Second differences of max(0, 1 - u) are 0 but across u = 1, where they are above 0; those of u^2 are 2 step^2 everywhere."""
    low, high = at.u - at.step, at.u + at.step
    of_hinge = max(Fraction(0), 1 - low) - 2 * max(Fraction(0), 1 - at.u) + max(Fraction(0), 1 - high)
    of_square = low**2 - 2 * at.u**2 + high**2
    return (of_hinge > 0) == (low < 1 < high) and of_hinge >= 0 and of_square == 2 * at.step**2


@dataclass(frozen=True)
class Graph:
    """Relevances and queries of documents, and edges to less relevant ones."""

    y: tuple[int, ...]
    q: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]


def _graph(random: Random) -> Graph:
    """Draw documents of one or two queries."""
    drawn = labelled(random)
    return Graph(drawn.y, drawn.q, drawn.pairs)


@statement("P.figure2", _graph)
def a_query_induces_an_acyclic_graph(at: Graph) -> bool:
    """Edges are of one query, and documents without an edge to them can be taken away until none is left: there is no circle."""
    left = set(range(len(at.y)))
    while left and (sources := left - {j for i, j in at.edges if i in left}):
        left -= sources
    return not left and all(at.q[i] == at.q[j] for i, j in at.edges)


@dataclass(frozen=True)
class Scores:
    """Relevances of a few documents, and their scores, with equal ones among them."""

    y: tuple[int, ...]
    f: tuple[int, ...]


def _scores(random: Random) -> Scores:
    """Draw two to five documents."""
    n = random.randint(2, 5)
    return Scores(tuple(random.randint(0, 2) for _ in range(n)), tuple(random.randint(0, 2) for _ in range(n)))


@statement("P.3.ties", _scores)
def a_tie_that_is_resolved_at_random_violates_half_a_pair(at: Scores) -> bool:
    """Over all permutations sorted by f, the mean of violated preferences is those that f has the wrong way round and half of its ties."""
    n = range(len(at.y))
    pairs = [(i, j) for i in n for j in n if at.y[i] > at.y[j]]
    # a permutation lists the documents from the first to the last place
    orders = [p for p in permutations(n) if all(at.f[a] >= at.f[b] for a, b in pairwise(p))]
    violated = sum(order.index(i) > order.index(j) for order in orders for i, j in pairs)
    wrong, tied = sum(at.f[i] < at.f[j] for i, j in pairs), sum(at.f[i] == at.f[j] for i, j in pairs)
    return Fraction(violated, len(orders)) == wrong + Fraction(tied, 2)


@dataclass(frozen=True)
class TwoClasses:
    """Points of two classes, both there, and scores."""

    y: tuple[bool, ...]
    f: tuple[int, ...]

    def _errors(self, threshold: int) -> int:
        """Count the points on the wrong side of a threshold."""
        return sum((f > threshold) != y for y, f in zip(self.y, self.f, strict=True))

    def _place(self, threshold: int) -> tuple[Fraction, Fraction]:
        """Return the shares of negative and of positive points above a threshold."""
        above = [[f > threshold for y, f in zip(self.y, self.f, strict=True) if y == wanted] for wanted in (False, True)]
        return Fraction(sum(above[0]), len(above[0])), Fraction(sum(above[1]), len(above[1]))


def _two_classes(random: Random) -> TwoClasses:
    """Draw scores that are higher for positive points as a rule, moved by any number."""
    y, moved = (False, True, *(random.random() < 0.5 for _ in range(random.randint(1, 6)))), random.randint(-4, 4)
    return TwoClasses(y, tuple(random.randint(-3, 3) + 2 * wanted + moved for wanted in y))


@statement("P.6.roc", _two_classes)
def the_roc_curve_has_the_best_boundary(at: TwoClasses) -> bool:
    """Errors are n_- (false positives) + n_+ (1 - true positives) at a place of the curve: the best place has no more than zero has."""
    positive = sum(at.y)
    negative = len(at.y) - positive
    places = {threshold: at._place(threshold) for threshold in (min(at.f) - 1, *at.f)}
    errors = {threshold: negative * false + positive * (1 - true) for threshold, (false, true) in places.items()}
    return all(at._errors(threshold) == count for threshold, count in errors.items()) and min(errors.values()) <= at._errors(0)


@dataclass(frozen=True)
class Magnitudes:
    """Points, and labels that a direction w has: y_i = w.x_i."""

    x: tuple[Vector, ...]
    y: Vector
    w: Vector

    def _cost(self, w: Vector) -> Fraction:
        """Sum the squared differences of w.(x_i - x_j) and y_i - y_j, the loss of MPRank."""
        pairs = [(i, j) for i in range(len(self.y)) for j in range(i)]
        return sum(((dot(w, minus(self.x[i], self.x[j])) - self.y[i] + self.y[j]) ** 2 for i, j in pairs), Fraction(0))


def _magnitudes(random: Random) -> Magnitudes:
    """Draw points with two different labels at least."""
    while True:
        x, w = points(random, random.randint(3, 5)), points(random, 1)[0]
        y = tuple(dot(w, point) for point in x)
        if len(set(y)) > 1:
            return Magnitudes(x, y, w)


@statement("P.intro.mprank", _magnitudes)
def a_loss_of_magnitudes_asks_for_more_than_the_order(at: Magnitudes) -> bool:
    """w has the labels' order and costs nothing; 2w has the same order, and costs the sum of all squared distances of labels."""
    apart = sum(((a - b) ** 2 for i, a in enumerate(at.y) for b in at.y[:i]), Fraction(0))
    return at._cost(at.w) == 0 < apart == at._cost(tuple(2 * v for v in at.w))


@dataclass(frozen=True)
class Blocks:
    """A regular symmetric matrix; its leading blocks are those of sets that pairs enter."""

    rows: tuple[Vector, ...]


def _blocks(random: Random) -> Blocks:
    """Draw A A' + 1 of a few integers A."""
    k = random.randint(2, 6)
    A = [list(point) for point in points(random, k, k)]
    product = multiplied(A, transposed(A))
    return Blocks(tuple(tuple(v + (i == j) for j, v in enumerate(row)) for i, row in enumerate(product)))


def _bordered(inverse: list[list[Fraction]], column: list[Fraction], corner: Fraction) -> tuple[list[list[Fraction]], int]:
    """Update an inverse by one row and column, and count the multiplications."""
    count = 0

    def times(a: Fraction, b: Fraction) -> Fraction:
        nonlocal count
        count += 1
        return a * b

    u = [sum((times(a, b) for a, b in zip(row, column, strict=True)), Fraction(0)) for row in inverse]
    over = 1 / (corner - sum((times(a, b) for a, b in zip(u, column, strict=True)), Fraction(0)))
    scaled = [times(over, a) for a in u]
    grown = [[entry + times(a, b) for entry, b in zip(row, scaled, strict=True)] for row, a in zip(inverse, u, strict=True)]
    return [[*row, -a] for row, a in zip(grown, scaled, strict=True)] + [[*(-a for a in scaled), over]], count


@statement("P.5.3.sherman", _blocks)
def an_inverse_is_updated_in_square_time(at: Blocks) -> bool:
    """As a pair enters, the inverse of k + 1 rows comes of that of k by 2 k (k + 1) multiplications, and is the inverse."""
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
    """Pairs that do not depend on each other, those of a regular system (11), are n - 1 at most, of more than twice as many."""
    return 2 * rank(incidence(at.all_pairs, len(at.y))) == 2 * (len(at.y) - 1) < len(at.all_pairs)
