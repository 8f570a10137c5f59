"""Document T, section 2.3: feature maps and kernels, (35) to (51), and the XOR problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np

from equimargin.formulations import classification, polynomial
from equimargin.formulations.programs.rational import Vector, dot
from equimargin.solvers.exact.optimum import exact_optimum
from equimargin.solvers.solution import Status
from ledger.instances import COSTS, Classes, best_in_box, classes, combined, floats, points, solved
from ledger.statement import as_printed, statement
from ledger.statements.hard_margins import signed

XOR: tuple[Vector, ...] = tuple((Fraction(a), Fraction(b)) for a, b in product((-1, 1), repeat=2))
DESIRED = (-1, 1, 1, -1)
"""Table 1."""
EIGHTH = (Fraction(1, 8),) * 4
"""The optimal multipliers of XOR."""


def k(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return (1 + a.b)^2, the kernel of (45)."""
    return (1 + dot(a, b)) ** 2


@dataclass(frozen=True)
class Mapped:
    """Points on a line, mapped to phi(x) = (x, x^2), and the optimum of the images.

    The kernel is xz + x^2 z^2.
    """

    x: Vector
    of_images: Classes


def phi(x: Fraction) -> Vector:
    """Return (x, x^2)."""
    return x, x * x


def mapped(random: Random) -> Mapped:
    """Draw a soft margin in the feature space."""
    x = tuple(point[0] for point in points(random, random.randint(3, 6), 1))
    y = (1, -1, *(random.choice((-1, 1)) for _ in x[2:]))
    images = tuple(phi(v) for v in x)
    problem = classification(floats(images), list(y), random.choice(COSTS))
    return Mapped(x, classes(problem, images, y))


@statement("T.35", mapped)
def the_boundary_is_linear_in_the_images_alone(at: Mapped) -> bool:
    """w.phi(x) - b has the optimal slacks. Half way between two images it is the mean of
    their values; half way between two inputs it is w_2 (u - v)^2 / 4 below.
    """
    images = at.of_images
    slacks = sum(
        (
            max(Fraction(0), 1 - s * (dot(images.w, phi(x)) - images.b))
            for x, s in zip(at.x, images.y, strict=True)
        ),
        Fraction(0),
    )
    if images.C is None or dot(images.w, images.w) / 2 + images.C * slacks != images.value:
        return False
    for u, v in product(at.x, repeat=2):
        mean = (dot(images.w, phi(u)) + dot(images.w, phi(v))) / 2
        middle = tuple((a + b) / 2 for a, b in zip(phi(u), phi(v), strict=True))
        if (
            dot(images.w, middle) != mean
            or dot(images.w, phi((u + v) / 2)) != mean - images.w[1] * (u - v) ** 2 / 4
        ):
            return False
    return True


@statement("T.36", mapped)
def w_is_a_sum_of_images(at: Mapped) -> bool:
    """w = sum alpha_i y_i phi(x_i)."""
    return at.of_images.w == combined(signed(at.of_images), [phi(v) for v in at.x])


@statement("T.37", mapped)
def the_classifier_needs_products_of_images(at: Mapped) -> bool:
    """F(x) = sum alpha_i y_i phi(x_i).phi(x) - b."""
    z = Fraction(5, 2)
    total = sum(
        (a * dot(phi(v), phi(z)) for a, v in zip(signed(at.of_images), at.x, strict=True)),
        Fraction(0),
    )
    return total == dot(at.of_images.w, phi(z))


@statement("T.38", mapped)
def the_dual_of_the_images_has_a_half(at: Mapped) -> bool:
    """(38) has the 1/2 that (26) and (41) lack: its value is the optimum."""
    alpha = at.of_images.alpha
    return sum(alpha) - at.of_images.quadratic(alpha) / 2 == at.of_images.value


@statement("T.39", mapped)
def the_kernel_is_the_product_of_images(at: Mapped) -> bool:
    """K(u, v) = phi(u).phi(v)."""
    return all(dot(phi(u), phi(v)) == u * v + u**2 * v**2 for u in at.x for v in at.x)


def quadratic_form(x: Sequence[Vector], psi: Sequence[Fraction]) -> Fraction:
    """Return sum_ij K(x_i, x_j) psi_i psi_j, the integrand of (40)."""
    return sum(
        (k(a, b) * p * q for a, p in zip(x, psi, strict=True) for b, q in zip(x, psi, strict=True)),
        Fraction(0),
    )


@dataclass(frozen=True)
class Weighed:
    """Points and the values of a function psi at them."""

    x: tuple[Vector, ...]
    psi: Vector


def weighed(random: Random) -> Weighed:
    """Draw a function on a few points that is not 0."""
    x = points(random, random.randint(1, 5))
    return Weighed(x, tuple(Fraction(random.choice((-2, -1, 1, 2))) for _ in x))


@statement("T.40", weighed)
def the_form_of_a_kernel_is_not_negative(at: Weighed) -> bool:
    """The sum that (40) integrates is at least 0."""
    return quadratic_form(at.x, at.psi) >= 0


@as_printed("T.40")
def the_form_of_a_kernel_is_not_positive(at: Weighed) -> bool:
    """At most 0, as printed."""
    return quadratic_form(at.x, at.psi) <= 0


@dataclass(frozen=True)
class BilinearForm:
    """Points of a line, 0 among them, where x z + c is a kernel exactly if c >= 0."""

    x: Vector
    c: int

    def _passes(self, functions: Iterable[Vector]) -> bool:
        """Return True if the sum of (40) is at least 0 for all these functions."""
        K = [[a * b + self.c for b in self.x] for a in self.x]
        return all(dot(psi, [dot(row, psi) for row in K]) >= 0 for psi in functions)

    @property
    def functions(self) -> list[Vector]:
        """Functions with values 0 and 1 on the points."""
        return [tuple(map(Fraction, values)) for values in product((0, 1), repeat=len(self.x))]


def _form(random: Random) -> BilinearForm:
    """Draw a kernel, or a function that is none."""
    return BilinearForm(
        (Fraction(0), *(Fraction(v) for v in random.sample((-3, -2, 2, 3), random.randint(1, 3)))),
        random.randint(-2, 1),
    )


@statement("T.40.psi", _form)
def the_functions_of_mercer_have_finite_squares(at: BilinearForm) -> bool:
    """With all functions whose squares have a finite sum (on a few points, all functions)
    the condition distinguishes kernels from other forms.
    """
    return at._passes(at.functions) == (at.c >= 0)


@as_printed("T.40.psi")
def the_functions_of_mercer_have_no_square(at: BilinearForm) -> bool:
    """With functions whose squares have a sum of at most 0, as printed, that is the
    function 0 only, every K satisfies the condition.
    """
    return at._passes(psi for psi in at.functions if dot(psi, psi) <= 0) == (at.c >= 0)


def feature_map(x: Vector) -> tuple[Fraction, ...]:
    """Return the rational parts of (47): the third, fifth and sixth are times sqrt 2."""
    return (Fraction(1), x[0] ** 2, x[0] * x[1], x[1] ** 2, x[0], x[1])


SCALE = (1, 1, 2, 1, 2, 2)
"""The squares of 1, 1, sqrt 2, 1, sqrt 2, sqrt 2, the irrational parts of (47)."""


def inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return the product of two vectors of the feature space.

    Coordinates denote multiples of 1 or of sqrt 2.
    """
    return sum((s * u * v for s, u, v in zip(SCALE, a, b, strict=True)), Fraction(0))


@statement("T.40.map", weighed)
def a_kernel_is_a_product_in_some_space(at: Weighed) -> bool:
    """Mercer's theorem: the kernel of (45) is the product of the images of (47)."""
    return all(k(a, b) == inner(feature_map(a), feature_map(b)) for a in at.x for b in at.x)


@dataclass(frozen=True)
class Curved:
    """A soft margin with the kernel of (45): multipliers, bias of F = ... - b, and value."""

    x: tuple[Vector, ...]
    y: tuple[int, ...]
    C: Fraction
    alpha: Vector
    b: Fraction
    value: Fraction

    @property
    def form(self) -> Fraction:
        """sum sum alpha_i alpha_j y_i y_j K(x_i, x_j)."""
        return quadratic_form(self.x, tuple(a * s for a, s in zip(self.alpha, self.y, strict=True)))

    def F(self, z: Vector) -> Fraction:
        """Return (44)."""
        return (
            sum(
                (a * s * k(x, z) for a, s, x in zip(self.alpha, self.y, self.x, strict=True)),
                Fraction(0),
            )
            - self.b
        )


def curve(x: tuple[Vector, ...], y: tuple[int, ...], C: float) -> Curved:
    """Return labelled points with their exact optimum."""
    optimum = solved(classification(floats(x), list(y), C, polynomial(2, 1.0, 1.0)))
    return Curved(x, y, Fraction(C), optimum.alpha, -optimum.b, optimum.value)


def curved(random: Random) -> Curved:
    """Draw a soft margin with the polynomial kernel."""
    x = points(random, random.randint(3, 5))
    return curve(x, (1, -1, *(random.choice((-1, 1)) for _ in x[2:])), random.choice(COSTS))


@statement("T.41", curved)
def the_kernel_dual_has_a_half(at: Curved) -> bool:
    """sum alpha_i - 1/2 sum sum alpha_i alpha_j y_i y_j K(x_i, x_j) is the optimum."""
    return sum(at.alpha) - at.form / 2 == at.value


@as_printed("T.41")
def the_kernel_dual_has_no_half(at: Curved) -> bool:
    """Without the half, at the optimal multipliers."""
    return sum(at.alpha) - at.form == at.value


@statement("T.42", curved)
def kernel_multipliers_are_balanced(at: Curved) -> bool:
    """sum alpha_i y_i = 0."""
    return sum(a * s for a, s in zip(at.alpha, at.y, strict=True)) == 0


@statement("T.43", curved)
def kernel_multipliers_are_at_most_the_cost(at: Curved) -> bool:
    """C >= alpha >= 0: between these bounds alpha is the best, whose slope is 1 - y_i F(x_i)."""
    return best_in_box(at.alpha, [1 - s * at.F(x) for s, x in zip(at.y, at.x, strict=True)], at.C)


@statement("T.44", curved)
def the_kernel_classifier_prices_its_slacks(at: Curved) -> bool:
    """F(x) = sum alpha_i y_i K(x_i, x) - b has the optimal value: half of its squared norm
    plus C times the sum of its slacks.
    """
    slacks = sum(
        (max(Fraction(0), 1 - s * at.F(x)) for s, x in zip(at.y, at.x, strict=True)), Fraction(0)
    )
    return at.form / 2 + at.C * slacks == at.value


@statement("T.44.largest", weighed)
def a_kernel_is_at_most_the_mean_of_its_squares(at: Weighed) -> bool:
    """K(a, b)^2 <= K(a, a) K(b, b); nothing stronger holds for every kernel."""
    return all(k(a, b) ** 2 <= k(a, a) * k(b, b) for a in at.x for b in at.x)


@as_printed("T.44.largest")
def a_kernel_is_largest_at_equal_arguments(at: Weighed) -> bool:
    """K(a, b) <= K(a, a): "the function output is maximized when the two vectors become
    equivalent".
    """
    return all(k(a, b) <= k(a, a) for a in at.x for b in at.x)


def xor(random: Random) -> Curved:
    """Draw the four points of Table 1, at a cost that no multiplier reaches."""
    return curve(XOR, DESIRED, random.choice((0.5, 1.0, 4.0)))


@statement("T.table1", xor)
def no_line_separates_xor(at: Curved) -> bool:
    """Both classes have their mean at 0, so that w.x - b has one mean over both: it
    cannot be positive on one and negative on the other.
    """
    means = [
        tuple(
            sum(v)
            for v in zip(*(x for x, s in zip(at.x, at.y, strict=True) if s == y), strict=True)
        )
        for y in (-1, 1)
    ]
    return means[0] == means[1] == (0, 0)


@statement("T.46", weighed)
def the_kernel_in_monomials(at: Weighed) -> bool:
    """(1 + x.z)^2 = 1 + x_1^2 z_1^2 + 2 x_1 x_2 z_1 z_2 + x_2^2 z_2^2 + 2 x_1 z_1 + 2 x_2 z_2."""
    for x, z in product(at.x, repeat=2):
        monomials = (
            1
            + x[0] ** 2 * z[0] ** 2
            + 2 * x[0] * x[1] * z[0] * z[1]
            + x[1] ** 2 * z[1] ** 2
            + 2 * x[0] * z[0]
            + 2 * x[1] * z[1]
        )
        if k(x, z) != monomials:
            return False
    return True


@statement("T.45", weighed)
def the_kernel_of_xor_is_polynomial(at: Weighed) -> bool:
    """K(x, x_i) = (1 + x.x_i)^2 is the package's polynomial kernel of degree 2, and
    separates Table 1: sum_j y_j K(x_i, x_j) = 8 y_i there.

    The point itself has 9 y_i; the other three have the kernel 1, and labels that sum
    to -y_i.
    """
    x = np.array(floats((*at.x, *XOR)))
    values = polynomial(2, 1.0, 1.0).block(x, x)
    points_ = (*at.x, *XOR)
    if any(
        Fraction(float(values[i, j])) != (1 + dot(a, b)) ** 2
        for (i, a), (j, b) in product(enumerate(points_), repeat=2)
    ):
        return False
    sums = [sum((s * k(a, b) for s, b in zip(DESIRED, XOR, strict=True)), Fraction(0)) for a in XOR]
    return sums == [8 * s for s in DESIRED]


@statement("T.47", weighed)
def the_images_have_the_products_of_the_kernel(at: Weighed) -> bool:
    """phi(x) = (1, x_1^2, sqrt 2 x_1 x_2, x_2^2, sqrt 2 x_1, sqrt 2 x_2) has the
    products (1 + x.z)^2.
    """
    return all(inner(feature_map(a), feature_map(b)) == k(a, b) for a in at.x for b in at.x)


@dataclass(frozen=True)
class Multipliers:
    """Any four multipliers of XOR."""

    alpha: Vector


def multipliers(random: Random) -> Multipliers:
    """Draw four small integers."""
    return Multipliers(tuple(Fraction(random.randint(0, 4)) for _ in range(4)))


def xor_form(a: Vector, third: Fraction, fourth: Fraction) -> Fraction:
    """Return the bracket of (48) with two terms for 9 alpha_3^2 and 9 alpha_4^2."""
    crossed = (
        -2 * a[0] * a[1]
        - 2 * a[0] * a[2]
        + 2 * a[0] * a[3]
        + 2 * a[1] * a[2]
        - 2 * a[1] * a[3]
        - 2 * a[2] * a[3]
    )
    return 9 * a[0] ** 2 + 9 * a[1] ** 2 + third + fourth + crossed


@statement("T.48", multipliers)
def the_objective_of_xor_has_four_squares(at: Multipliers) -> bool:
    """9 alpha_3^2 and 9 alpha_4^2."""
    form = quadratic_form(XOR, tuple(a * s for a, s in zip(at.alpha, DESIRED, strict=True)))
    return form == xor_form(at.alpha, 9 * at.alpha[2] ** 2, 9 * at.alpha[3] ** 2)


@as_printed("T.48")
def the_objective_of_xor_as_it_stands(at: Multipliers) -> bool:
    """9 alpha_3 and alpha_4^2."""
    form = quadratic_form(XOR, tuple(a * s for a, s in zip(at.alpha, DESIRED, strict=True)))
    return form == xor_form(at.alpha, 9 * at.alpha[2], at.alpha[3] ** 2)


@statement("T.48.equations", multipliers)
def the_equations_are_the_derivatives(at: Multipliers) -> bool:
    """The left sides of the four equations are half the derivatives of the form: a
    difference quotient of a quadratic is exact.
    """
    rows = ((9, -1, -1, 1), (-1, 9, 1, -1), (-1, 1, 9, -1), (1, -1, -1, 9))
    for i, row in enumerate(rows):
        up, down = (tuple(a + s * (i == j) for j, a in enumerate(at.alpha)) for s in (1, -1))
        forms = [
            quadratic_form(XOR, tuple(a * s for a, s in zip(alpha, DESIRED, strict=True)))
            for alpha in (up, down)
        ]
        if (forms[0] - forms[1]) / 4 != sum(r * a for r, a in zip(row, at.alpha, strict=True)):
            return False
    return True


@statement("T.48.alpha", xor)
def every_multiplier_of_xor_is_an_eighth(at: Curved) -> bool:
    """alpha = 1/8: all four points are support vectors."""
    return at.alpha == EIGHTH


@statement("T.48.value", xor)
def the_optimum_of_xor_is_a_quarter(at: Curved) -> bool:
    """Q(alpha) = 1/4."""
    return at.value == Fraction(1, 4)


@statement("T.48.norm", xor)
def the_norm_of_xor_is_a_root_of_a_half(at: Curved) -> bool:
    """|w|^2 / 2 = 1/4, so that |w| = 1 / sqrt 2."""
    return at.form / 2 == Fraction(1, 4)


@statement("T.49", xor)
def w_of_xor_has_one_coordinate(at: Curved) -> bool:
    """w = (0, 0, -1 / sqrt 2, 0, 0, 0): in multiples of the irrational parts, -1/2."""
    w = combined(
        [a * s for a, s in zip(at.alpha, at.y, strict=True)], [feature_map(x) for x in at.x]
    )
    return list(w) == [0, 0, Fraction(-1, 2), 0, 0, 0]


PRINTED_IMAGES = (
    (1, 1, 1, 1, -1, 1, -1),
    (1, 1, -1, 1, 1, 1),
    (1, 1, 1, -1, 1, 1, -1),
    (1, 1, 1, 1, 1, 1, 1),
)
"""The columns that (49) prints, sqrt 2 as 1: three of them have a coordinate too many,
and the second has a wrong sign.
"""


@as_printed("T.49")
def w_of_xor_from_the_printed_columns(at: Curved) -> bool:
    """The printed columns are the images of the four points."""
    return all(
        tuple(Fraction(v) for v in printed) == feature_map(x)
        for printed, x in zip(PRINTED_IMAGES, at.x, strict=True)
    )


@statement("T.49.bias", curved)
def the_first_coordinate_of_w_says_nothing(at: Curved) -> bool:
    """The first coordinate of w is sum alpha_i y_i, which (42) makes 0 whatever b is."""
    return sum(a * s for a, s in zip(at.alpha, at.y, strict=True)) == 0


@as_printed("T.49.bias")
def the_bias_is_zero_because_the_first_coordinate_is(at: Curved) -> bool:
    """ "The bias b is 0 because the first element of w is 0"."""
    return sum(a * s for a, s in zip(at.alpha, at.y, strict=True)) != 0 or at.b == 0


@statement("T.50", xor)
def the_hyperplane_of_xor_is_through_the_origin(at: Curved) -> bool:
    """w.phi(x) = 0 on the boundary, so that b = 0; the last entry is sqrt 2 x_2,
    printed without the x.
    """
    return at.b == 0


@statement("T.51", xor)
def the_classifier_of_xor_is_minus_the_product(at: Curved) -> bool:
    """F(x) = -x_1 x_2 for every x."""
    return all(
        at.F((Fraction(u), Fraction(v))) == -u * v for u in range(-3, 4) for v in range(-3, 4)
    )


@statement("T.51.outputs", xor)
def equal_coordinates_are_in_the_class_minus_one(at: Curved) -> bool:
    """y = -1 where x_1 = x_2, as in Table 1."""
    return all((at.F(x) < 0) == (x[0] == x[1]) for x in at.x)


@as_printed("T.51.outputs")
def equal_coordinates_are_in_the_class_one(at: Curved) -> bool:
    """y = 1 where x_1 = x_2, as printed after (51)."""
    return all((at.F(x) > 0) == (x[0] == x[1]) for x in at.x)


@dataclass(frozen=True)
class OnALine:
    """Three points of a line with the middle one in another class, and four alternating."""

    first: Fraction


def on_a_line(random: Random) -> OnALine:
    """Draw the place of the first of the points."""
    return OnALine(Fraction(random.randint(-3, 3)))


def separated(images: Sequence[Vector], y: Sequence[int]) -> bool:
    """Return True if a plane separates the images: the hard margin has an optimum."""
    problem = classification(floats(images), list(y), float("inf"))
    return exact_optimum(problem).status is Status.OPTIMAL


@statement("T.2.3.separable", on_a_line)
def a_feature_space_may_separate_what_a_line_does_not(at: OnALine) -> bool:
    """(x, x^2) separates the middle one of three points of a line, which no point of
    the line does.
    """
    x = [at.first + i for i in range(3)]
    return separated([phi(v) for v in x], (1, -1, 1)) and not separated(
        [(v,) for v in x], (1, -1, 1)
    )


@as_printed("T.2.3.separable")
def a_feature_space_separates_everything(at: OnALine) -> bool:
    """ "Where the training data can be linearly separated": four points of a line whose
    classes alternate are not separated by (x, x^2).
    """
    return separated([phi(at.first + i) for i in range(4)], (1, -1, 1, -1))
