"""What document P says around its path: graphs and ties of rankings, boundaries, other methods, and how small its systems stay."""

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


def steps(random: Random) -> Steps:
    """A number near 1, where the hinge bends, or further away."""
    return Steps(Fraction(random.randint(-12, 16), 2), random.randint(1, 3))


@statement("P.figure1", steps)
def the_hinge_is_piecewise_linear_and_the_square_is_not(at: Steps) -> bool:
    """Second differences of max(0, 1 - u) are 0 but across u = 1, where they are above 0; those of u^2 are 2 step^2 everywhere."""
    low, high = at.u - at.step, at.u + at.step
    of_hinge = max(Fraction(0), 1 - low) - 2 * max(Fraction(0), 1 - at.u) + max(Fraction(0), 1 - high)
    of_square = low**2 - 2 * at.u**2 + high**2
    return (of_hinge > 0) == (low < 1 < high) and of_hinge >= 0 and of_square == 2 * at.step**2


@dataclass(frozen=True)
class Graph:
    """Documents with relevances and queries, and the edges from every document to those of its query that are less relevant."""

    y: tuple[int, ...]
    q: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]


def graph(random: Random) -> Graph:
    """Documents of one or two queries."""
    drawn = labelled(random)
    return Graph(drawn.y, drawn.q, drawn.pairs)


@statement("P.figure2", graph)
def a_query_induces_an_acyclic_graph(at: Graph) -> bool:
    """Edges are of one query, and documents without an edge to them can be taken away until none is left: there is no circle."""
    left = set(range(len(at.y)))
    while left and (sources := left - {j for i, j in at.edges if i in left}):
        left -= sources
    return not left and all(at.q[i] == at.q[j] for i, j in at.edges)


@dataclass(frozen=True)
class Scored:
    """Relevances of a few documents, and their scores, with equal ones among them."""

    y: tuple[int, ...]
    f: tuple[int, ...]


def scored(random: Random) -> Scored:
    """Two to five documents."""
    n = random.randint(2, 5)
    return Scored(tuple(random.randint(0, 2) for _ in range(n)), tuple(random.randint(0, 2) for _ in range(n)))


@statement("P.3.ties", scored)
def a_tie_that_is_resolved_at_random_violates_half_a_pair(at: Scored) -> bool:
    """Over all permutations sorted by f, the mean of violated preferences is those that f has the wrong way round and half of its ties."""
    n = range(len(at.y))
    pairs = [(i, j) for i in n for j in n if at.y[i] > at.y[j]]
    orders = [p for p in permutations(n) if all(at.f[a] >= at.f[b] for a, b in pairwise(p))]
    violated = sum(order.index(i) > order.index(j) for order in orders for i, j in pairs)
    wrong, tied = sum(at.f[i] < at.f[j] for i, j in pairs), sum(at.f[i] == at.f[j] for i, j in pairs)
    return Fraction(violated, len(orders)) == wrong + Fraction(tied, 2)


@dataclass(frozen=True)
class Parted:
    """Points of two classes, both there, and scores."""

    y: tuple[bool, ...]
    f: tuple[int, ...]

    def errors(self, threshold: int) -> int:
        """Points on the wrong side of a threshold."""
        return sum((f > threshold) != y for y, f in zip(self.y, self.f, strict=True))

    def place(self, threshold: int) -> tuple[Fraction, Fraction]:
        """The place on the ROC curve: the shares of negative and of positive points above the threshold."""
        above = [[f > threshold for y, f in zip(self.y, self.f, strict=True) if y == wanted] for wanted in (False, True)]
        return Fraction(sum(above[0]), len(above[0])), Fraction(sum(above[1]), len(above[1]))


def parted(random: Random) -> Parted:
    """Scores that are higher for positive points as a rule, moved by any number."""
    y, moved = (False, True, *(random.random() < 0.5 for _ in range(random.randint(1, 6)))), random.randint(-4, 4)
    return Parted(y, tuple(random.randint(-3, 3) + 2 * wanted + moved for wanted in y))


@statement("P.6.roc", parted)
def the_roc_curve_has_the_best_boundary(at: Parted) -> bool:
    """Errors are n_- (false positives) + n_+ (1 - true positives) at a place of the curve: the best place has no more than zero has."""
    positive = sum(at.y)
    negative = len(at.y) - positive
    places = {threshold: at.place(threshold) for threshold in (min(at.f) - 1, *at.f)}
    errors = {threshold: negative * false + positive * (1 - true) for threshold, (false, true) in places.items()}
    return all(at.errors(threshold) == count for threshold, count in errors.items()) and min(errors.values()) <= at.errors(0)


@dataclass(frozen=True)
class Magnitudes:
    """Points, and labels that a direction w has: y_i = w.x_i."""

    x: tuple[Vector, ...]
    y: Vector
    w: Vector

    def cost(self, w: Vector) -> Fraction:
        """The loss of MPRank: sum over pairs of the squared difference of w.(x_i - x_j) and y_i - y_j."""
        pairs = [(i, j) for i in range(len(self.y)) for j in range(i)]
        return sum(((dot(w, minus(self.x[i], self.x[j])) - self.y[i] + self.y[j]) ** 2 for i, j in pairs), Fraction(0))


def magnitudes(random: Random) -> Magnitudes:
    """Points of which two differ in their labels at least."""
    while True:
        x, w = points(random, random.randint(3, 5)), points(random, 1)[0]
        y = tuple(dot(w, point) for point in x)
        if len(set(y)) > 1:
            return Magnitudes(x, y, w)


@statement("P.intro.mprank", magnitudes)
def a_loss_of_magnitudes_asks_for_more_than_the_order(at: Magnitudes) -> bool:
    """w has the labels' order and costs nothing; 2w has the same order, and costs the sum of all squared distances of labels."""
    apart = sum(((a - b) ** 2 for i, a in enumerate(at.y) for b in at.y[:i]), Fraction(0))
    return at.cost(at.w) == 0 < apart == at.cost(tuple(2 * v for v in at.w))


@dataclass(frozen=True)
class Growing:
    """A regular symmetric matrix, whose leading blocks are those of the sets I_alpha as pairs enter."""

    rows: tuple[Vector, ...]


def growing(random: Random) -> Growing:
    """A A' + 1, of a few integers A."""
    k = random.randint(2, 6)
    A = [list(point) for point in points(random, k, k)]
    product = multiplied(A, transposed(A))
    return Growing(tuple(tuple(v + (i == j) for j, v in enumerate(row)) for i, row in enumerate(product)))


def bordered(inverse: list[list[Fraction]], column: list[Fraction], corner: Fraction) -> tuple[list[list[Fraction]], int]:
    """The inverse of a matrix with one row and column more, from that without them, and the multiplications that it took."""
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


@statement("P.5.3.sherman", growing)
def an_inverse_is_updated_in_square_time(at: Growing) -> bool:
    """As a pair enters, the inverse of k + 1 rows comes of that of k by 2 k (k + 1) multiplications, and is the inverse."""
    inverse: list[list[Fraction]] = []
    for k in range(len(at.rows)):
        inverse, count = bordered(inverse, list(at.rows[k][:k]), at.rows[k][k])
        block = [list(row[: k + 1]) for row in at.rows[: k + 1]]
        identity = [[Fraction(i == j) for j in range(k + 1)] for i in range(k + 1)]
        if count != 2 * k * (k + 1) or multiplied(block, inverse) != identity:
            return False
    return True


@statement("P.7.small", levels)
def regular_systems_have_less_equations_than_points(at: Levels) -> bool:
    """Pairs that do not depend on each other, those of a regular system (11), are n - 1 at most, of more than twice as many."""
    return 2 * rank(incidence(at.all_pairs, len(at.y))) == 2 * (len(at.y) - 1) < len(at.all_pairs)
