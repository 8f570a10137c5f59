"""Check certificates: python3 -I checker.py FILE...

Exit status 0: every certificate is accepted; 1: one is rejected; 2: a file cannot be
read.

A certificate states a minimisation problem, a point of the problem, multipliers of its
rows, and an interval. Accepting it means: the optimum of the stated problem lies in the
claimed interval. The argument is weak duality: feasible multipliers alpha and a feasible
point (f, b) give L(alpha) <= optimum <= U(f, b), and L and U are recomputed here.
`certificate.md` describes the file, the problems, L and U. In format 1 the problem is
one of the families of max-margin learning, in format 2 any convex program in standard
form. In format 3 it is a family's problem at every lambda = 1 / C of an interval, the
points are those of a path, and the claim bounds the excess of the path's objective over
the optimum.

`certificate.md` also lists the conditions that are checked. Each condition is a
function here, with the name and the position that it has in the list, and its docstring
is the sentence of the list. The function returns nothing, and raises a ValueError with
the condition's name if the condition does not hold. All other functions only compute.
`check` and `check_path` are the whole check; the functions that they call follow in the
order of their use: reading of the file, exact problem, the two bounds of weak duality,
claimed bounds, path, and verdict.

All arithmetic is that of integers and fractions. A list of rationals is stored as a list
of integers and one positive integer, the unit: each rational is its integer divided by
the unit. Floats occur only as the numbers of the file (each an exact rational), in
their products with powers of two, which are exact, as infinities, in the printed
output, and in a proposed matrix factor that is then verified in integers. Only the
standard library of Python 3.10 or later is imported.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any, NamedTuple

# -------------------------------------------------------------------------------------
# Limits. A certificate may come from any source; no file must be able to make the check
# run long or exhaust the memory.
# -------------------------------------------------------------------------------------

LARGEST_FILE = 2**25
"""Longest file that is read, 32 MiB, in bytes.

The values of such a file take little more than a gigabyte of memory, however nested.
"""
MOST_DECIMAL_DIGITS = 4300
"""Digits of the longest decimal integer.

The time to parse grows with the square of the digits, and Python's own limit is 4300.
"""
MOST_HEXADECIMAL_DIGITS = 2**16
"""Digits of the longest hexadecimal integer, 262,144 bits.

The time to parse is linear in the digits, and exact optima need long integers.
"""
MOST_COMMON_BITS = 2**32
"""Maximum of the bits of a common denominator times the count of the numbers over it."""
LEAST_COMMON_COUNT = 2**14
"""Number added to the count of every list before it is compared with MOST_COMMON_BITS.

No common denominator is then longer than 2^18 bits, the length of the longest integer.
"""
BITS_OF_A_COMMON_STEP = 1000
"""Bits of the given denominators that count as one further number.

The time to compute their common multiple depends on the length of the denominators, too.
"""
LARGEST_MODERATE = 2.0**200
"""Largest size of the doubles that `integers_of_doubles` converts.

The smallest is its inverse. Their products with 2^253 are exact, and a file has too few
numbers for their common denominator to violate condition 10.
"""
MOST_NANOSECONDS = 3 * 10**10
"""Nanoseconds of arithmetic of one step of a check, about half a minute.

`arithmetic_is_affordable` estimates them.
"""
NANOSECONDS_OF_AN_OPERATION = 50
"""Nanoseconds of a multiplication and an addition of short integers in Python."""
BITS_OF_A_WORD = 30
"""Bits of a digit of Python's long integers.

A product of two integers of n such digits takes about n^2 additional nanoseconds.
"""
OPERATIONS_OF_A_LISTED_PAIR = 400
"""Operations as which reading and storing one listed pair counts.

At most a million and a half pairs are therefore affordable.
"""
OPERATIONS_OF_A_COMPARISON = 100
"""Operations as which comparing two labels counts, storage of a resulting pair included."""
OPERATIONS_OF_A_ROW_OF_A_PATH = 20
"""Operations as which one row counts at each point of a path.

They are those of the row's multiplier, its share of A'alpha, and its loss.
"""
OPERATIONS_OF_A_KERNEL_VALUE = 100
"""Operations as which one kernel value counts, in addition to one per feature."""
MOST_DEGREE = 32
"""Highest degree of a polynomial kernel.

A kernel value has about 2 x degree times as many bits as a feature.
"""

# -------------------------------------------------------------------------------------
# Precision of values that are irrational (the exponential) or have long exact forms.
# Every rounding lowers L or raises U.
# -------------------------------------------------------------------------------------

EXP_BITS = 96
"""Bits after the binary point of an exponential.

Its error is then far below the rounding error of a double, which has 53 bits.
"""
EXP_ERROR = 2
"""Maximum error of an exponential, in units of 2^-EXP_BITS.

`certificate.md` proves it under "Values of K".
"""
EXP_WORKING_BITS = 128
"""Bits after the binary point during the computation of an exponential.

These are 32 more than in the result; rounding makes at most 20 of them wrong.
"""
EXP_SERIES_BITS = 8
"""k: the argument of the exponential is halved until it is below 2^-k.

17 terms of the series are then enough.
"""
INVERSE_COST_BITS = 1024
"""Bits after the binary point of 1 / (4 c), rounded up in mode proven.

For costs near 1 these are hundreds of bits more than a double has.
"""
PIVOTED_ROWS = 64
"""Rows of the largest matrix that is eliminated without trying a float64 factor first.

The integers of the elimination grow with every pivot.
"""
FACTOR_BITS = 70
"""Bits after the binary point of the factor proposed for a larger Gram matrix.

They are 17 more than a double has.
"""
FACTOR_ROUNDING = 2.0**-54
"""Multiple of n times the trace by which the diagonal is reduced before the factorisation.

The rest K - L L' then covers the rounding of L. A bad value can only reject certificates.
"""
SMALLEST_SQUARED_PIVOT = 2.0**-60
"""Minimum square of a diagonal entry of the factor, for a matrix with largest entry 1.

A bad value can only reject certificates.
"""

# -------------------------------------------------------------------------------------
# Families, kernels and keys
# -------------------------------------------------------------------------------------


class FamilyProperties(NamedTuple):
    """Properties of a family of problems.

    Parameters
    ----------
    task : str
        "svm" has one row per point, and labels -1 and +1; "svr" has two rows per point;
        "rank" has one row per pair of points.
    hard : bool, default False
        True if C is infinite, so that no loss is allowed.
    squared : bool, default False
        True if the loss is squared.
    bias : bool, default False
        True if there is a free bias b.
    unknowns : str, default 'function'
        Variables of the primal problem: "function" in the margin families; in the
        one-norm families coefficients x >= 0, one for each of the "points" or "rows".
    """

    task: str
    hard: bool = False
    squared: bool = False
    bias: bool = False
    unknowns: str = "function"

    @property
    def one_norm(self) -> bool:
        """True if the problem minimises 1'x plus losses, a linear program."""
        return self.unknowns != "function"


FAMILY_OF_NAME: dict[str, FamilyProperties] = {
    "svm.hard": FamilyProperties("svm", hard=True, bias=True),
    "svm.soft": FamilyProperties("svm", bias=True),
    "svm.l2": FamilyProperties("svm", squared=True, bias=True),
    "svm.nobias_hard": FamilyProperties("svm", hard=True),
    "svm.nobias": FamilyProperties("svm"),
    "svm.nobias_l2": FamilyProperties("svm", squared=True),
    "svr.hard": FamilyProperties("svr", hard=True, bias=True),
    "svr.l1": FamilyProperties("svr", bias=True),
    "svr.l2": FamilyProperties("svr", squared=True, bias=True),
    "rank.hard": FamilyProperties("rank", hard=True),
    "rank.l1": FamilyProperties("rank"),
    "rank.l2": FamilyProperties("rank", squared=True),
    "rank.onenorm": FamilyProperties("rank", unknowns="rows"),
    "rvm": FamilyProperties("rank", unknowns="points"),
    "svm.onenorm": FamilyProperties("svm", bias=True, unknowns="rows"),
    "svm.nobias_onenorm": FamilyProperties("svm", unknowns="rows"),
}
"""Families of problems that a certificate may state, by name."""
SCHEMA = "equimargin-certificate/1"
"""Value of the key `schema` if the problem belongs to a family."""
PROGRAM_SCHEMA = "equimargin-certificate/2"
"""Value of the key `schema` if the problem is any convex program in standard form."""
PATH_SCHEMA = "equimargin-certificate/3"
"""Value of the key `schema` in a certificate of a path."""
DOCUMENT_KEYS = ("schema", "mode", "claim", "semidefinite", "problem", "primal", "dual", "digests")
"""Keys of a certificate of an interval."""
PATH_DOCUMENT_KEYS = ("schema", "claim", "semidefinite", "problem", "path", "digests")
"""Keys of a certificate of a path."""
POINT_KEYS = ("lambda", "b", "rows", "numerators")
"""Keys of a point of a path."""
PROBLEM_KEYS = ("family", "kernel", "features", "C", "weights", "labels")
"""Keys of a problem of any task."""
TASK_KEYS: dict[str, tuple[str, ...]] = {
    "svm": (),
    "svr": ("epsilon",),
    "rank": ("queries", "pairs"),
}
"""Further keys of a problem, by its task."""
KERNEL_KEYS = ("name", "constant")
"""Keys of any kernel."""
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "precomputed": ("shift",),
}
"""Further keys of a kernel, by its name: its parameters."""
PROGRAM_KEYS = ("P", "q", "c", "A", "b", "G", "h", "cones")
"""Keys of a problem in standard form."""
COMBINATION_KEYS = ("rows", "numerators", "denominator")
"""Keys of a sparse list of numbers of rows or of points."""

# -------------------------------------------------------------------------------------
# Contents of a certificate, and derived quantities
# -------------------------------------------------------------------------------------


class Document(NamedTuple):
    """Certificate with correct digests: the claimed interval, and JSON values that prove it.

    Parameters
    ----------
    standard_form : bool
        True if the problem is a program in standard form (format 2), not one of a family.
    exact : bool
        True if the mode is "exact", not "proven".
    """

    standard_form: bool
    exact: bool
    lower: Fraction | float
    upper: Fraction | float
    semidefinite: Any
    problem: Any
    primal: Any
    dual: Any


class Features(NamedTuple):
    """One list per point, of integers over the unit.

    It contains the point's features, or its row in the lower triangle of a given Gram
    matrix.
    """

    rows: list[list[int]]
    unit: int


class PointSpace(NamedTuple):
    """The m points in the space of the kernel k, as integers over the unit.

    Parameters
    ----------
    linear : bool
        True if row i is the features z_i, with k(x_i, x_j) = z_i.z_j; False if it is row
        i of the Gram matrix K_ij = k(x_i, x_j).
    error : int
        Maximum error of an entry of K, as an integer over the unit.
    bits : int
        Length of the longest entry.
    first : list of int
        For each point, the first point with equal features, perhaps itself. Empty for a
        linear kernel, whose values have no error.
    """

    linear: bool
    rows: list[list[int]]
    unit: int
    error: int
    bits: int
    first: list[int]


class RowLists(NamedTuple):
    """Rows r of the problem, t_r - (A f)_r - b s_r <= 0, as lists over r.

    Parameters
    ----------
    target : list of int
        t_r, integers over the unit.
    sign : list of int
        s_r.
    plus, minus : list of int
        (A f)_r = f[plus[r]] - f[minus[r]], where f[0] .. f[m - 1] are the values of f at
        the m points and f[m] = 0.
    group : list of int
        Group of row r; all rows of a group have the same cost.
    groups : int
        Number of groups.
    """

    target: list[int]
    unit: int
    sign: list[int]
    plus: list[int]
    minus: list[int]
    group: list[int]
    groups: int


class Costs(NamedTuple):
    """Cost of each group of rows: a numerator over the unit, or infinite.

    The numerator of an infinite cost is 0, and not used.

    Parameters
    ----------
    bits : int
        Length of the longest integer among them.
    """

    numerators: list[int]
    unit: int
    infinite: list[bool]
    bits: int


class Problem(NamedTuple):
    """Problem that a certificate states, in exact numbers, with the name of its family.

    Parameters
    ----------
    gram_is_given : bool
        True if the Gram matrix itself is given, which may not be semidefinite.
    """

    name: str
    family: FamilyProperties
    gram_is_given: bool
    space: PointSpace
    rows: RowLists
    costs: Costs


class SparseIntegers(NamedTuple):
    """Nonzero entries of each row, as pairs of a column and an integer over the unit.

    Parameters
    ----------
    bits : int
        Length of the longest integer among them and the unit.
    """

    rows: list[list[tuple[int, int]]]
    unit: int
    bits: int


class Vector(NamedTuple):
    """Vector of numbers, as integers `steps` over the unit."""

    steps: list[int]
    unit: int


class ConicProgram(NamedTuple):
    """min 1/2 x'Px + q'x + c  s.t.  A x = b,  h - Gx in K; A' and G' are `pull_A` and `pull_G`.

    K consists of the vectors v whose first `inequalities` entries are not negative, and
    whose other entries, cut into parts of the lengths `cones`, are in second-order cones:
    |w| <= t for the first entry t of a part and its other entries w.
    """

    P: SparseIntegers
    q: Vector
    c: Fraction
    A: SparseIntegers
    pull_A: SparseIntegers
    b: Vector
    G: SparseIntegers
    pull_G: SparseIntegers
    h: Vector
    inequalities: int
    cones: list[int]


class Combination(NamedTuple):
    """Sparse vector of numbers >= 0, one for each row or point.

    The number of row, or point, indices[k] is steps[k] / unit; all others are 0.
    """

    indices: list[int]
    steps: list[int]
    unit: int


class Function(NamedTuple):
    """Values of f at the m points, and f[m] = 0, as integers over the unit.

    Each integer has an error of at most `error`.

    Parameters
    ----------
    norm2 : Fraction
        Upper bound of |f|^2, the squared norm in the space of the kernel.
    """

    values: list[int]
    unit: int
    error: int
    norm2: Fraction


class Primal(NamedTuple):
    """Primal point of the problem.

    Parameters
    ----------
    size : Fraction
        Objective without losses: |f|^2 / 2, or 1'x in the one-norm families.
    """

    f: Function
    b: Fraction
    size: Fraction


class PathClaim(NamedTuple):
    """Claim of a certificate of a path.

    At every lambda from `low` to `high` the objective is at most (1 + gap) times the
    optimum.
    """

    family: str
    low: Fraction
    high: Fraction
    gap: Fraction


class Knot(NamedTuple):
    """Values computed at a point of a path.

    Parameters
    ----------
    lam : Fraction
        lambda.
    gain : Fraction
        t'alpha.
    pull : list of int
        A'alpha, integers over `pull_unit`, the unit of the multipliers.
    g : Function
        lambda f.
    gap : Fraction
        Upper bound of lambda^2 (U - L).
    lower : Fraction
        Lower bound of lambda^2 L.
    """

    lam: Fraction
    gain: Fraction
    pull: list[int]
    pull_unit: int
    g: Function
    gap: Fraction
    lower: Fraction


# -------------------------------------------------------------------------------------
# The check as a whole
# -------------------------------------------------------------------------------------


def check(data: bytes) -> tuple[str, Fraction | float, Fraction | float]:
    """Return the family, lower and upper bound that a certificate claims, and proves.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Raises
    ------
    ValueError
        If a condition does not hold.
    """
    document = read_document(read_file(data))
    return interval(document)


def interval(document: Document) -> tuple[str, Fraction | float, Fraction | float]:
    """Return the result of `check` for a parsed document.

    Parameters
    ----------
    document : Document
        Certificate.
    """
    name, below, above = (bounds_of_program if document.standard_form else bounds_of_family)(
        document
    )
    lower_bound_is_proved(document.lower, below)
    upper_bound_is_proved(document.upper, above)
    exact_bounds_are_equal(document)
    return name, document.lower, document.upper


def check_path(data: bytes) -> PathClaim:
    """Return the claim of a certificate of a path once it is proven.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Raises
    ------
    ValueError
        If a condition does not hold.
    """
    return path_claim(read_file(data))


def bounds_of_family(document: Document) -> tuple[str, Fraction | float, Fraction | float]:
    """Return the family of a problem, and the bounds that primal and dual point prove.

    The bound of a point that is null is infinite.

    Parameters
    ----------
    document : Document
        Certificate.
    """
    problem = read_problem(document.problem)
    semidefiniteness_is_as_stated(document.semidefinite, semidefiniteness(problem))
    below = (
        -math.inf if document.dual is None else lower_bound(problem, document.dual, document.exact)
    )
    above = math.inf if document.primal is None else upper_bound(problem, document.primal)
    return problem.name, below, above


def require(holds: bool, condition: str, reason: str) -> None:
    """Reject the certificate unless the condition holds.

    Parameters
    ----------
    holds : bool
        True if the condition holds.
    condition : str
        Name of the condition.
    reason : str
        Reason for the rejection.
    """
    if not holds:
        raise ValueError(f"{condition} does not hold: {reason}")


# -------------------------------------------------------------------------------------
# Reading the file: JSON, numbers, arrays, budgets
# -------------------------------------------------------------------------------------


def read_file(data: bytes) -> Any:
    """Return the JSON value of a file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    """
    file_is_not_too_large(data)
    return read_json(data)


def file_is_not_too_large(data: bytes) -> None:
    """1. The file has at most LARGEST_FILE bytes."""
    require(
        len(data) <= LARGEST_FILE,
        "file_is_not_too_large",
        f"it has more than {LARGEST_FILE:,} bytes",
    )


def read_json(data: bytes) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    data : bytes
        JSON text.
    """
    value, fault = None, ""
    try:
        # Python would also read NaN and Infinity: `parse_constant` rejects both.
        value = json.loads(
            data,
            parse_int=read_integer,
            parse_constant=number_is_rational,
            object_pairs_hook=read_object,
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        fault = str(error)
    text_is_json(fault)
    return value


def text_is_json(fault: str) -> None:
    """2. The file is a JSON text, and its values are not nested too deeply to be read."""
    require(fault == "", "text_is_json", fault)


def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dictionary.

    Parameters
    ----------
    pairs : list of (str, JSON value)
        Keys and values of the object, in the order of the file.
    """
    keys_occur_once(pairs)
    return dict(pairs)


def keys_occur_once(pairs: list[tuple[str, Any]]) -> None:
    """3. No object has a key twice."""
    require(len(dict(pairs)) == len(pairs), "keys_occur_once", "an object has a key twice")


def read_integer(text: str) -> int:
    """Return a JSON number that has no point and no exponent.

    Parameters
    ----------
    text : str
        Text of the number.
    """
    if len(text) > MOST_DECIMAL_DIGITS:
        integer_is_not_too_long(text)
    return int(text)


def integer_is_not_too_long(text: str) -> None:
    """4. A JSON integer has at most MOST_DECIMAL_DIGITS digits, besides its sign."""
    # JSON has no other sign.
    digits = len(text.removeprefix("-"))
    require(
        digits <= MOST_DECIMAL_DIGITS,
        "integer_is_not_too_long",
        f"an integer has {digits:,} digits",
    )


_INTEGER = f"(0x[0-9a-f]{{1,{MOST_HEXADECIMAL_DIGITS}}}|[0-9]{{1,{MOST_DECIMAL_DIGITS}}})"
_RATIONAL = re.compile(f"-?{_INTEGER}(/{_INTEGER})?")


def number_is_rational(given: Any) -> None:
    """5. A number is a JSON integer, finite double, or text p or p/q within the digit limits."""
    if isinstance(given, str):
        holds = _RATIONAL.fullmatch(given) is not None
    elif type(given) is float:
        holds = math.isfinite(given)
    else:
        # Booleans are rejected: their type is bool, not int.
        holds = type(given) is int
    require(
        holds,
        "number_is_rational",
        "a number is missing, infinite, not written p or p/q, or too long",
    )


def denominator_is_positive(denominator: int) -> None:
    """6. The q of a text p/q is not 0."""
    require(denominator > 0, "denominator_is_positive", "a number is divided by 0")


def ratio(given: Any) -> tuple[int, int]:
    """Return numerator and positive denominator of a number, in lowest terms.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    """
    # Nearly all numbers are finite floats.
    if type(given) is not float or not math.isfinite(given):
        number_is_rational(given)
    if not isinstance(given, str):
        numerator, denominator = given.as_integer_ratio()
        return numerator, denominator
    before, _, after = given.partition("/")
    divisor = written_integer(after) if after else 1
    denominator_is_positive(divisor)
    return Fraction(written_integer(before), divisor).as_integer_ratio()


def written_integer(text: str) -> int:
    """Return an integer in decimals, or in hexadecimal after 0x.

    Parameters
    ----------
    text : str
        Text of the number.
    """
    return int(text, 16 if "x" in text else 10)


def rational(given: Any) -> Fraction:
    """Return a number as a fraction.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    """
    return Fraction(*ratio(given))


def rational_or_infinite(given: Any) -> Fraction | float:
    """Return a number as a fraction, or an infinity for "inf" or "-inf".

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    """
    return float(given) if given in ("inf", "-inf") else rational(given)


def keys_are_those_listed(given: Any, keys: tuple[str, ...]) -> None:
    """7. An object has the keys that are listed for it, all of them and no other."""
    holds = isinstance(given, dict) and set(given) == set(keys)
    require(
        holds, "keys_are_those_listed", f"there must be an object with the keys {' '.join(keys)}"
    )


def array_has_its_length(given: Any, length: int | None = None) -> None:
    """8. A value that must be an array is one, with an entry for each object that it describes."""
    holds = isinstance(given, list) and (length is None or len(given) == length)
    expected = "an array" if length is None else f"an array of {length}"
    require(holds, "array_has_its_length", f"there must be {expected}")


def indices_are_in_range(given: list[Any], below: int) -> None:
    """9. An index of points, rows or queries is an integer from 0 to below their number."""
    # Booleans are rejected: their type is bool, not int.
    holds = all(type(v) is int and v >= 0 and v < below for v in given)
    require(holds, "indices_are_in_range", f"an index is not one of 0 .. {below - 1}")


def common_denominator(ratios: Iterable[tuple[int, int]]) -> tuple[list[int], int]:
    """Return fractions as integers over one unit, and the unit.

    The unit is the least common multiple of the denominators.

    Parameters
    ----------
    ratios : iterable of tuple[int, int]
        Numerator and positive denominator of each fraction.
    """
    fractions = list(ratios)
    given_bits = sum(denominator.bit_length() for _, denominator in fractions)
    count = len(fractions) + given_bits // BITS_OF_A_COMMON_STEP + LEAST_COMMON_COUNT
    unit = 1
    # A set of the denominators would be slow: a file can make their hashes collide.
    for _, denominator in fractions:
        if unit % denominator != 0:
            unit = math.lcm(unit, denominator)
            common_denominator_is_short(unit, count)
    return [numerator * (unit // denominator) for numerator, denominator in fractions], unit


def integers_over_unit(numbers: list[Any]) -> tuple[list[int], int]:
    """Return numbers as integers over their least common denominator, and the denominator.

    The integers may be the given list itself, which no function changes.

    Parameters
    ----------
    numbers : list of JSON values
        Numbers in the certificate, of which none is NaN (condition 5).
    """
    types = set(map(type, numbers))
    if types == {int}:
        return numbers, 1
    if types == {float}:
        sizes = [size for size in map(abs, numbers) if size > 0]
        least = min(sizes, default=1.0)
        if least >= 1 / LARGEST_MODERATE and max(sizes, default=1.0) <= LARGEST_MODERATE:
            return integers_of_doubles(numbers, least)
    return common_denominator(map(ratio, numbers))


def integers_of_doubles(doubles: list[float], least: float) -> tuple[list[int], int]:
    """Return doubles as integers over their least common denominator, a power of two.

    This is `common_denominator` for doubles so moderate that no product is rounded.

    Parameters
    ----------
    doubles : list of float
        Doubles.
    least : float
        Lower bound of the sizes of those that are not 0.
    """
    # With least = f 2^e and 1/2 <= f < 1, the doubles are multiples of 2^(e - 53).
    bits = max(0, 53 - math.frexp(least)[1])
    steps = [int(math.ldexp(v, bits)) for v in doubles]
    divisor = math.gcd(1 << bits, *steps)
    if divisor > 1:
        steps = [step // divisor for step in steps]
    return steps, (1 << bits) // divisor


def common_denominator_is_short(unit: int, count: int) -> None:
    """10. The bits of a common denominator, times its numbers, are at most MOST_COMMON_BITS."""
    holds = unit.bit_length() * count <= MOST_COMMON_BITS
    require(
        holds, "common_denominator_is_short", "the common denominator of some numbers is too long"
    )


def arithmetic_is_affordable(operations: int, bits: int = 0) -> None:
    """11. No step, estimated from its operations and longest product, exceeds MOST_NANOSECONDS."""
    words = bits // BITS_OF_A_WORD
    nanoseconds = operations * (NANOSECONDS_OF_AN_OPERATION + words**2)
    require(
        nanoseconds <= MOST_NANOSECONDS,
        "arithmetic_is_affordable",
        "this is more arithmetic than the checker does",
    )


def longest(integers: Iterable[int]) -> int:
    """Return the length of the longest integer, in bits.

    Parameters
    ----------
    integers : iterable of int
        Integers.
    """
    return max(map(int.bit_length, integers), default=0)


def dot(v: Iterable[Any], w: Iterable[Any]) -> Any:
    """Return the inner product of two lists, the longer one truncated.

    Parameters
    ----------
    v : iterable of numbers
        First list.
    w : iterable of numbers
        Second list.
    """
    return sum(map(mul, v, w))


# -------------------------------------------------------------------------------------
# Reading the file: the document
# -------------------------------------------------------------------------------------


def read_document(document: Any) -> Document:
    """Return the parts of a certificate of an interval, and its claim.

    Parameters
    ----------
    document : JSON value
        Certificate.
    """
    keys_are_those_listed(document, DOCUMENT_KEYS)
    schema_is_known(document["schema"], SCHEMA, PROGRAM_SCHEMA)
    mode_is_known(document["mode"])
    digests_match(document["digests"], document["problem"], [document["primal"], document["dual"]])
    claim = document["claim"]
    keys_are_those_listed(claim, ("lower", "upper"))
    lower, upper = rational_or_infinite(claim["lower"]), rational_or_infinite(claim["upper"])
    claim_is_an_interval(lower, upper)
    a_point_is_given(document["primal"], document["dual"])
    parts = (document[key] for key in ("semidefinite", "problem", "primal", "dual"))
    return Document(
        document["schema"] == PROGRAM_SCHEMA, document["mode"] == "exact", lower, upper, *parts
    )


def schema_is_known(schema: Any, *known: str) -> None:
    """12. The schema is equimargin-certificate/1 or /2; that of a path equimargin-certificate/3."""
    require(schema in known, "schema_is_known", f"the schema is not {' or '.join(known)}")


def mode_is_known(mode: Any) -> None:
    """13. The mode is "proven" or "exact"."""
    require(mode in ("proven", "exact"), "mode_is_known", "the mode is neither proven nor exact")


def digests_match(digests: Any, problem: Any, points: Any) -> None:
    """14. The two digests are those of the problem, and of primal and dual point or of the path."""
    keys_are_those_listed(digests, ("problem", "points"))
    holds = digests["problem"] == sha256(problem) and digests["points"] == sha256(points)
    require(holds, "digests_match", "a digest is not that of its part")


def sha256(part: Any) -> str:
    """Return the digest of a part of the document, from a canonical form of its JSON.

    Parameters
    ----------
    part : JSON value
        Part of the certificate.
    """
    return hashlib.sha256(
        json.dumps(part, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def claim_is_an_interval(lower: Fraction | float, upper: Fraction | float) -> None:
    """15. The claimed lower bound is not above the upper one."""
    require(
        lower <= upper, "claim_is_an_interval", "the claimed lower bound is above the upper one"
    )


def a_point_is_given(primal: Any, dual: Any) -> None:
    """16. The primal or the dual is not null."""
    require(
        primal is not None or dual is not None,
        "a_point_is_given",
        "there is neither a primal nor a dual point",
    )


# -------------------------------------------------------------------------------------
# The problem
# -------------------------------------------------------------------------------------


def read_problem(given: Any) -> Problem:
    """Return the stated problem; prove K >= 0 if weak duality needs it.

    Parameters
    ----------
    given : JSON value
        Problem in the certificate.
    """
    family_is_known(given)
    family = FAMILY_OF_NAME[given["family"]]
    keys_are_those_listed(given, PROBLEM_KEYS + TASK_KEYS[family.task])
    space = read_space(given["kernel"], given["features"])
    rows = read_rows(given, family.task, len(space.rows))
    costs = read_costs(given["C"], given["weights"], family, rows.groups)
    one_norm_weights_are_finite(family, rows, costs)
    problem = Problem(
        given["family"], family, given["kernel"]["name"] == "precomputed", space, rows, costs
    )
    if semidefiniteness(problem) == "by factorisation":
        gram_matrix_is_semidefinite(space.rows, space.bits)
    return problem


def family_is_known(given: Any) -> None:
    """17. The problem is an object, and its family is one of those listed."""
    name = given.get("family") if isinstance(given, dict) else None
    require(
        isinstance(name, str) and name in FAMILY_OF_NAME,
        "family_is_known",
        "the family is not known",
    )


# -------------------------------------------------------------------------------------
# The problem: the kernel and the features
# -------------------------------------------------------------------------------------


def read_space(kernel: Any, given: Any) -> PointSpace:
    """Return the points in the space of the kernel.

    Parameters
    ----------
    kernel : JSON value
        Kernel of the problem.
    given : JSON value
        Features in the certificate.
    """
    kernel_is_known(kernel)
    name = kernel["name"]
    keys_are_those_listed(kernel, KERNEL_KEYS + PARAMETERS[name])
    given_constant = rational(kernel["constant"])
    parameters = {key: rational(kernel[key]) for key in PARAMETERS[name]}
    constant_is_zero_or_one(given_constant)
    parameters_are_not_negative(parameters)
    degree_is_admitted(parameters)
    gamma_is_positive(parameters)
    constant = int(given_constant)
    features = read_features(given, triangular=name == "precomputed")
    if name == "linear":
        unit = features.unit
        rows = [row + [unit] * constant for row in features.rows]
    else:
        triangle, unit = lower_triangle(name, features, parameters)
        rows = symmetric(triangle, constant * unit)
    error = EXP_ERROR if name == "rbf" else 0
    largest = longest(chain.from_iterable(rows))
    first = [] if name == "linear" else first_equal(features.rows)
    return PointSpace(name == "linear", rows, unit, error, largest, first)


def first_equal(rows: Sequence[list[int]]) -> list[int]:
    """Return, for each row, the index of the first row that equals it, perhaps itself.

    Equal rows are neighbours after a stable sort.

    Parameters
    ----------
    rows : sequence of list of int
        Rows to compare.
    """
    first = list(range(len(rows)))
    order = sorted(first, key=rows.__getitem__)
    for k in range(1, len(order)):
        before, i = order[k - 1], order[k]
        if rows[i] == rows[before]:
            first[i] = first[before]
    return first


def kernel_is_known(kernel: Any) -> None:
    """18. The kernel is an object, and its name is linear, polynomial, rbf or precomputed."""
    name = kernel.get("name") if isinstance(kernel, dict) else None
    require(
        isinstance(name, str) and name in PARAMETERS, "kernel_is_known", "the kernel is not known"
    )


def constant_is_zero_or_one(constant: Fraction) -> None:
    """19. The constant added to every value of the kernel is 0 or 1."""
    require(
        constant in (0, 1),
        "constant_is_zero_or_one",
        "the constant of the kernel is neither 0 nor 1",
    )


def parameters_are_not_negative(parameters: dict[str, Fraction]) -> None:
    """20. No parameter of the kernel is negative."""
    holds = all(v >= 0 for v in parameters.values())
    require(holds, "parameters_are_not_negative", "a parameter of the kernel is negative")


def degree_is_admitted(parameters: dict[str, Fraction]) -> None:
    """21. The degree of a polynomial kernel is an integer from 1 to MOST_DEGREE."""
    holds = "degree" not in parameters or parameters["degree"] in range(1, MOST_DEGREE + 1)
    require(holds, "degree_is_admitted", f"the degree is not one of 1 .. {MOST_DEGREE}")


def gamma_is_positive(parameters: dict[str, Fraction]) -> None:
    """22. The gamma of a polynomial or RBF kernel is not 0."""
    require("gamma" not in parameters or parameters["gamma"] > 0, "gamma_is_positive", "gamma is 0")


def read_features(given: Any, triangular: bool) -> Features:
    """Return the features, one array per point.

    All arrays are as long as the first; if triangular, array i has i + 1 entries.

    Parameters
    ----------
    given : JSON value
        Features in the certificate.
    triangular : bool
        True for the lower triangle of a Gram matrix.
    """
    array_has_its_length(given)
    features_are_given(given)
    array_has_its_length(given[0])
    numbers, lengths = [], []
    for i, row in enumerate(given):
        length = i + 1 if triangular else len(given[0])
        array_has_its_length(row, length)
        numbers += row
        lengths.append(length)
    integers, unit = integers_over_unit(numbers)
    rows, start = [], 0
    for length in lengths:
        rows.append(integers[start : start + length])
        start += length
    return Features(rows, unit)


def features_are_given(given: list[Any]) -> None:
    """23. There is a point, and it has a feature."""
    require(len(given) > 0 and given[0] != [], "features_are_given", "there are no features")


def lower_triangle(
    name: str, features: Features, parameters: dict[str, Fraction]
) -> tuple[list[list[int]], int]:
    """Return K_ij for j <= i without the constant, integers over a unit, and the unit.

    Parameters
    ----------
    name : str
        Name of the kernel.
    features : Features
        Features of the points.
    parameters : dict[str, Fraction]
        Parameters of the kernel, by name.
    """
    m, d = len(features.rows), len(features.rows[0])
    parts = [part for v in parameters.values() for part in v.as_integer_ratio()]
    bits = max(longest(parts), longest(chain.from_iterable(features.rows)))
    power = int(parameters["degree"]) if name == "polynomial" else 2
    arithmetic_is_affordable(m**2 * (d + OPERATIONS_OF_A_KERNEL_VALUE), power * bits)
    if name == "polynomial":
        return polynomial_triangle(features, power, parameters["gamma"], parameters["coef0"])
    if name == "rbf":
        return rbf_triangle(features, parameters["gamma"])
    return shifted_triangle(features, parameters["shift"])


def inner_products(features: Features) -> list[list[int]]:
    """Return x_i.x_j for j <= i, as integers over the square of the unit.

    Parameters
    ----------
    features : Features
        Features of the points.
    """
    return [[dot(x, z) for z in features.rows[: i + 1]] for i, x in enumerate(features.rows)]


def polynomial_triangle(
    features: Features, degree: int, gamma: Fraction, coef0: Fraction
) -> tuple[list[list[int]], int]:
    """Return (gamma x.z + coef0)^degree for all pairs of points, and the unit.

    Parameters
    ----------
    features : Features
        Features of the points.
    degree : int
        Degree of the polynomial.
    gamma : Fraction
        Parameter gamma.
    coef0 : Fraction
        Parameter coef0.
    """
    unit = features.unit**2 * gamma.denominator * coef0.denominator
    factor = gamma.numerator * coef0.denominator
    summand = int(coef0 * unit)
    return [
        [(factor * v + summand) ** degree for v in row] for row in inner_products(features)
    ], unit**degree


def rbf_triangle(features: Features, gamma: Fraction) -> tuple[list[list[int]], int]:
    """Return exp(-gamma |x - z|^2) for all pairs of points, and the unit.

    Here |x - z|^2 = x.x + z.z - 2 x.z.

    Parameters
    ----------
    features : Features
        Features of the points.
    gamma : Fraction
        Parameter gamma.
    """
    inner = inner_products(features)
    norms = [row[-1] for row in inner]
    factor, unit = gamma.numerator, features.unit**2 * gamma.denominator
    triangle = []
    for i, row in enumerate(inner):
        triangle.append(
            [exp(factor * (norms[i] + norms[j] - 2 * v), unit) for j, v in enumerate(row)]
        )
    return triangle, 2**EXP_BITS


def shifted_triangle(features: Features, shift: Fraction) -> tuple[list[list[int]], int]:
    """Return the given numbers with the shift added to the diagonal, and the unit.

    Parameters
    ----------
    features : Features
        Features of the points.
    shift : Fraction
        Number added to the diagonal.
    """
    unit = math.lcm(features.unit, shift.denominator)
    triangle = [[v * (unit // features.unit) for v in row] for row in features.rows]
    for i, row in enumerate(triangle):
        row[i] += int(shift * unit)
    return triangle, unit


def symmetric(triangle: list[list[int]], summand: int) -> list[list[int]]:
    """Return the full matrix of a lower triangle, with the summand added to each entry.

    Parameters
    ----------
    triangle : list of list of int
        Entries (i, j) for j <= i.
    summand : int
        Number added to every entry.
    """
    m = len(triangle)
    lower = [[v + summand for v in row] for row in triangle]
    return [row + [lower[j][i] for j in range(i + 1, m)] for i, row in enumerate(lower)]


def exp(numerator: int, denominator: int) -> int:
    """Return exp(-x) in units of 2^-EXP_BITS, with an error of at most EXP_ERROR units.

    The argument is x = numerator / denominator >= 0.

    Parameters
    ----------
    numerator : int
        Numerator.
    denominator : int
        Positive denominator.
    """
    x = (numerator << EXP_WORKING_BITS) // denominator
    # For x > EXP_BITS, exp(-x) is less than 2^-EXP_BITS.
    x = min(x, EXP_BITS << EXP_WORKING_BITS)
    halvings = max(0, x.bit_length() - EXP_WORKING_BITS + EXP_SERIES_BITS)
    small = x >> halvings
    value, k = 0, 0
    term = 1 << EXP_WORKING_BITS
    while term > 0:
        value += term if k % 2 == 0 else -term
        k += 1
        term = term * small // (k << EXP_WORKING_BITS)
    for _ in range(halvings):
        value = value**2 >> EXP_WORKING_BITS
    return value >> (EXP_WORKING_BITS - EXP_BITS)


# -------------------------------------------------------------------------------------
# The problem: the rows
# -------------------------------------------------------------------------------------


def read_rows(given: dict[str, Any], task: str, m: int) -> RowLists:
    """Return the rows of the problem, in the order that `certificate.md` defines.

    Parameters
    ----------
    given : dict
        Problem in the certificate.
    task : str
        Task of the family.
    m : int
        Number of points.
    """
    if task == "svm":
        return classification_rows(read_vector(given["labels"], m))
    if task == "svr":
        return tube_rows(read_vector(given["labels"], m), rational(given["epsilon"]))
    pairs_stand_alone(given)
    if given["pairs"] is not None:
        return listed_pairs(given["pairs"], m)
    return labelled_pairs(read_vector(given["labels"], m).steps, given["queries"])


def classification_rows(labels: Vector) -> RowLists:
    """Return the rows 1 - y_i (f(x_i) + b) <= 0, one per point, each with its own cost.

    Parameters
    ----------
    labels : Vector
        Label of each point.
    """
    labels_are_signs(labels)
    m = len(labels.steps)
    return RowLists(
        target=[1] * m,
        unit=1,
        sign=labels.steps,
        plus=[i if y > 0 else m for i, y in enumerate(labels.steps)],
        minus=[m if y > 0 else i for i, y in enumerate(labels.steps)],
        group=list(range(m)),
        groups=m,
    )


def labels_are_signs(labels: Vector) -> None:
    """24. Every label of a classification is -1 or +1."""
    holds = labels.unit == 1 and all(y in (-1, 1) for y in labels.steps)
    require(holds, "labels_are_signs", "a label is neither -1 nor +1")


def tube_rows(labels: Vector, epsilon: Fraction) -> RowLists:
    """Return the rows y_i - epsilon - f(x_i) - b <= 0, then -y_i - epsilon + f(x_i) + b <= 0.

    Each row has its own cost.

    Parameters
    ----------
    labels : Vector
        Target of each point.
    epsilon : Fraction
        Half the width of the tube.
    """
    epsilon_is_not_negative(epsilon)
    m = len(labels.steps)
    points, none = list(range(m)), [m] * m
    values = [Fraction(y, labels.unit) for y in labels.steps]
    targets = [y - epsilon for y in values] + [-y - epsilon for y in values]
    target, unit = common_denominator(v.as_integer_ratio() for v in targets)
    return RowLists(
        target=target,
        unit=unit,
        sign=[1] * m + [-1] * m,
        plus=points + none,
        minus=none + points,
        group=list(range(2 * m)),
        groups=2 * m,
    )


def epsilon_is_not_negative(epsilon: Fraction) -> None:
    """25. Half the width of the tube is not negative."""
    require(epsilon >= 0, "epsilon_is_not_negative", "epsilon is negative")


def pairs_stand_alone(given: dict[str, Any]) -> None:
    """26. Labels and queries are null where pairs are given."""
    holds = given["pairs"] is None or (given["labels"] is None and given["queries"] is None)
    require(holds, "pairs_stand_alone", "there are pairs, and labels or queries too")


def listed_pairs(pairs: Any, m: int) -> RowLists:
    """Return the row 1 - f(x_i) + f(x_j) <= 0 for every given pair (i, j).

    Each pair has its own cost.

    Parameters
    ----------
    pairs : JSON value
        Pairs in the certificate.
    m : int
        Number of points.
    """
    array_has_its_length(pairs)
    arithmetic_is_affordable(OPERATIONS_OF_A_LISTED_PAIR * len(pairs))
    for pair in pairs:
        array_has_its_length(pair, 2)
    plus, minus = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    indices_are_in_range(plus, m)
    indices_are_in_range(minus, m)
    return pair_rows(plus, minus, group=list(range(len(pairs))), groups=len(pairs))


def labelled_pairs(labels: list[int], queries: Any) -> RowLists:
    """Return the rows 1 - f(x_i) + f(x_j) <= 0 for all i, j of one query with y_i > y_j.

    The rows are ordered by i and then by j; each has the cost of its query.

    Parameters
    ----------
    labels : list of int
        Label of each point, times a positive number.
    queries : JSON value
        Query of each point; None if there is one query only.
    """
    m = len(labels)
    query = [0] * m if queries is None else read_indices(queries, m, m)
    # The pairs of a query are those of its members.
    members: dict[int, list[int]] = {}
    for i, q in enumerate(query):
        members.setdefault(q, []).append(i)
    arithmetic_is_affordable(
        OPERATIONS_OF_A_COMPARISON * sum(len(points) ** 2 for points in members.values())
    )
    pairs = [(i, j) for i in range(m) for j in members[query[i]] if labels[i] > labels[j]]
    plus, minus = [i for i, _ in pairs], [j for _, j in pairs]
    return pair_rows(plus, minus, group=[query[i] for i in plus], groups=max(query) + 1)


def pair_rows(plus: list[int], minus: list[int], group: list[int], groups: int) -> RowLists:
    """Return the rows 1 - f[plus] + f[minus] <= 0, in which a bias would cancel.

    Parameters
    ----------
    plus : list of int
        Index i of each pair.
    minus : list of int
        Index j of each pair.
    group : list of int
        Group of each row.
    groups : int
        Number of groups.
    """
    p = len(plus)
    return RowLists(
        target=[1] * p, unit=1, sign=[0] * p, plus=plus, minus=minus, group=group, groups=groups
    )


def read_indices(given: Any, length: int, below: int) -> list[int]:
    """Return an array of integers from 0 to below - 1.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    length : int
        Required length.
    below : int
        Upper limit of the integers, exclusive.
    """
    array_has_its_length(given, length)
    indices_are_in_range(given, below)
    return list(given)


# -------------------------------------------------------------------------------------
# The problem: the costs
# -------------------------------------------------------------------------------------


def read_costs(C: Any, given_weights: Any, family: FamilyProperties, groups: int) -> Costs:
    """Return C times the weight of each group.

    A weight of 0 gives the cost 0, even if C is infinite.

    Parameters
    ----------
    C : JSON value
        Cost C of the problem.
    given_weights : JSON value
        Weights in the certificate.
    family : FamilyProperties
        Family of the problem.
    groups : int
        Number of groups.
    """
    factor = rational_or_infinite(C)
    cost_fits_the_family(factor, family)
    weights = read_weights(given_weights, groups)
    numerator, denominator = finite_ratio(factor, Fraction(1))
    arithmetic_is_affordable(groups, 2 * max(weights.bits, longest([numerator, denominator])))
    products = [numerator * step for step in weights.numerators]
    unit = denominator * weights.unit
    bits = longest([*products, unit])
    if factor == math.inf:
        infinite = [v > 0 or w for v, w in zip(products, weights.infinite, strict=True)]
        return Costs([0] * groups, unit, infinite, bits)
    return Costs(products, unit, weights.infinite, bits)


def finite_ratio(v: Fraction | float, instead: Fraction) -> tuple[int, int]:
    """Return numerator and denominator of v, or of `instead` if v is infinite.

    Parameters
    ----------
    v : Fraction or float
        Number, or infinity.
    instead : Fraction
        Value used if v is infinite.
    """
    return instead.as_integer_ratio() if v == math.inf else v.as_integer_ratio()


def cost_fits_the_family(factor: Fraction | float, family: FamilyProperties) -> None:
    """27. C is positive, infinite in the hard families, and finite in the others."""
    holds = factor > 0 and (factor == math.inf) == family.hard
    require(
        holds,
        "cost_fits_the_family",
        "C is not positive, or infinite where the family is not hard, or finite where it is",
    )


def read_weights(given: Any, groups: int) -> Costs:
    """Return the weight of every group, its cost for C = 1.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    groups : int
        Number of groups.
    """
    if given is None:
        return Costs([1] * groups, 1, [False] * groups, 1)
    array_has_its_length(given, groups)
    weights = [rational_or_infinite(v) for v in given]
    weights_are_not_negative(weights)
    steps, unit = common_denominator(finite_ratio(weight, Fraction(0)) for weight in weights)
    return Costs(steps, unit, [weight == math.inf for weight in weights], longest([*steps, unit]))


def weights_are_not_negative(weights: list[Fraction | float]) -> None:
    """28. No weight is negative."""
    require(
        all(weight >= 0 for weight in weights), "weights_are_not_negative", "a weight is negative"
    )


def one_norm_weights_are_finite(family: FamilyProperties, rows: RowLists, costs: Costs) -> None:
    """29. No row of a one-norm problem has an infinite weight."""
    require(
        not (family.one_norm and any(costs.infinite[g] for g in rows.group)),
        "one_norm_weights_are_finite",
        "a row of a one-norm problem has an infinite weight",
    )


# -------------------------------------------------------------------------------------
# The problem: K >= 0
# -------------------------------------------------------------------------------------


def semidefiniteness(problem: Problem) -> str:
    """Return how K is established as positive semidefinite: value of key `semidefinite`.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    """
    if problem.family.one_norm:
        return "not needed"
    return "by factorisation" if problem.gram_is_given else "by theorem"


def gram_matrix_is_semidefinite(K: list[list[int]], bits: int) -> None:
    """30. A given Gram matrix with shift is proved positive semidefinite if K >= 0 is needed."""
    require(
        is_semidefinite(K, bits),
        "gram_matrix_is_semidefinite",
        "the Gram matrix was not proved positive semidefinite",
    )


def is_semidefinite(K: list[list[int]], bits: int) -> bool:
    """Return True if one of two methods proves a symmetric matrix positive semidefinite.

    Parameters
    ----------
    K : list of list of int
        Symmetric matrix of integers.
    bits : int
        Bits of the longest entry.
    """
    n = len(K)
    if n > PIVOTED_ROWS:
        arithmetic_is_affordable(n**3, 2 * bits)
        if has_a_dominant_remainder(K):
            return True
    return has_no_negative_pivot(K)


def has_no_negative_pivot(K: list[list[int]]) -> bool:
    """Return True if fraction-free Gaussian elimination (Bareiss) has no negative pivot.

    If a pivot is 0, its row must be 0. The number of other pivots is the rank, so that a
    large matrix of low rank is affordable.

    Parameters
    ----------
    K : list of list of int
        Gram matrix, integers over a unit.
    """
    rest, last, operations = K, 1, 0
    while rest:
        pivot, *beside = rest[0]
        if pivot < 0 or (pivot == 0 and any(beside)):
            return False
        below = rest[1:]
        if pivot == 0:
            rest = [row[1:] for row in below]
        else:
            operations += len(rest) ** 2
            arithmetic_is_affordable(operations, 2 * longest(v for row in rest for v in row))
            # The entries are minors of K, so that the division leaves no remainder.
            rest = [
                [(pivot * v - row[0] * w) // last for v, w in zip(row[1:], beside, strict=True)]
                for row in below
            ]
            last = pivot
    return True


def has_a_dominant_remainder(K: list[list[int]]) -> bool:
    """Return True if K - L L' is diagonally dominant for the proposed L.

    Then K - L L', and with it K, is positive semidefinite, whatever L is.

    Parameters
    ----------
    K : list of list of int
        Gram matrix, integers over a unit.
    """
    n = len(K)
    largest = max(1, *(K[i][i] for i in range(n)))
    try:
        L = proposed_factor(K, largest)
    except (OverflowError, ValueError):
        # A float is infinite or no number: there is no proposal.
        return False
    # Sums of |K - L L'| off the diagonal, in units of 2^-(2 FACTOR_BITS).
    off_diagonal = [0] * n
    for i in range(n):
        for j in range(i):
            rest = abs((K[i][j] << 2 * FACTOR_BITS) - largest * dot(L[i], L[j]))
            off_diagonal[i] += rest
            off_diagonal[j] += rest
    return all(
        (K[i][i] << 2 * FACTOR_BITS) - largest * dot(L[i], L[i]) >= off_diagonal[i]
        for i in range(n)
    )


def proposed_factor(K: list[list[int]], largest: int) -> list[list[int]]:
    """Return the rows of a lower triangular L such that L L' is about K / largest.

    L is computed by Cholesky factorisation in float64, and returned as integers in units
    of 2^-FACTOR_BITS.

    Parameters
    ----------
    K : list of list of int
        Gram matrix, integers over a unit.
    largest : int
        Largest diagonal entry, at least 1.
    """
    n = len(K)
    spare = n * FACTOR_ROUNDING * sum(K[i][i] / largest for i in range(n))
    L: list[list[float]] = []
    for i in range(n):
        row: list[float] = []
        for j in range(i):
            row.append((K[i][j] / largest - dot(row, L[j])) / L[j][j])
        square = K[i][i] / largest - spare - dot(row, row)
        row.append(math.sqrt(max(square, SMALLEST_SQUARED_PIVOT)))
        L.append(row)
    return [[round(v * 2.0**FACTOR_BITS) for v in row] for row in L]


def semidefiniteness_is_as_stated(stated: Any, established: str) -> None:
    """31. The document states how K, or P, is established as positive semidefinite."""
    holds = stated == established
    require(
        holds,
        "semidefiniteness_is_as_stated",
        f"positive semidefiniteness is established {established}, not as the document says",
    )


# -------------------------------------------------------------------------------------
# The two bounds of weak duality: numbers of rows or points, and functions
# -------------------------------------------------------------------------------------


def read_combination(given: Any, count: int) -> Combination:
    """Return a sparse vector of numbers >= 0, one for each row or point.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    count : int
        Number of rows or of points.
    """
    keys_are_those_listed(given, COMBINATION_KEYS)
    indices, numerators = given["rows"], given["numerators"]
    array_has_its_length(indices)
    array_has_its_length(numerators, len(indices))
    indices_are_in_range(indices, count)
    steps, step_unit = integers_over_unit(numerators)
    unit = rational(given["denominator"])
    multipliers_are_natural(steps, step_unit, unit)
    rows_occur_once(indices)
    return Combination(indices, steps, int(unit))


def multipliers_are_natural(steps: list[int], step_unit: int, unit: Fraction) -> None:
    """32. Numerators are integers and not negative; their denominator is a positive integer."""
    holds = (
        step_unit == 1 and all(step >= 0 for step in steps) and unit > 0 and unit.denominator == 1
    )
    require(
        holds,
        "multipliers_are_natural",
        "a multiplier is negative or no integer, or their denominator is not positive",
    )


def rows_occur_once(indices: list[int]) -> None:
    """33. No row, or point, is listed twice."""
    require(len(set(indices)) == len(indices), "rows_occur_once", "a row has two multipliers")


def transposed_product(rows: RowLists, combination: Combination, m: int) -> list[int]:
    """Return A'alpha, one number per point.

    Parameters
    ----------
    rows : RowLists
        Rows of the problem.
    combination : Combination
        Numbers of the rows.
    m : int
        Number of points.
    """
    pull = [0] * (m + 1)
    plus, minus = rows.plus, rows.minus
    for r, step in zip(combination.indices, combination.steps, strict=True):
        pull[plus[r]] += step
        pull[minus[r]] -= step
    return pull[:m]


def function_of_points(space: PointSpace, beta: Sequence[int], unit: int) -> Function:
    """Return f = sum_i beta_i k(x_i, .), with beta over the unit.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    beta : sequence of int
        Coefficient of each point, integers over the unit.
    unit : int
        Unit of the integers.
    """
    if space.linear:
        return linear_function(space, weights_of_features(space, beta), unit * space.unit)
    coefficients_fit(beta, len(space.rows))
    product_is_affordable(space, beta)
    values = [dot(row, beta) for row in space.rows]
    size = size_of_distinct(space, beta)
    norm2 = Fraction(dot(beta, values) + space.error * size**2, unit**2 * space.unit)
    return Function([*values, 0], unit * space.unit, space.error * size, norm2)


def squared_norm(space: PointSpace, beta: Sequence[int], unit: int) -> Fraction:
    """Return an upper bound of |f|^2 for f = sum_i beta_i k(x_i, .), with beta over the unit.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    beta : sequence of int
        Coefficient of each point, integers over the unit.
    unit : int
        Unit of the integers.
    """
    if not space.linear:
        return function_of_points(space, beta, unit).norm2
    w = weights_of_features(space, beta)
    return Fraction(dot(w, w), (unit * space.unit) ** 2)


def weights_of_features(space: PointSpace, beta: Sequence[int]) -> list[int]:
    """Return sum_i beta_i z_i for the features z_i of a linear kernel.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    beta : sequence of int
        Coefficient of each point, integers over a unit.
    """
    coefficients_fit(beta, len(space.rows))
    product_is_affordable(space, beta)
    return [dot(column, beta) for column in zip(*space.rows, strict=True)]


def size_of_distinct(space: PointSpace, beta: Sequence[int]) -> int:
    """Return sum_i |beta_i|, after coefficients of equal points have been added up.

    Adding them up leaves f unchanged. The sum is a factor of the error of K; it is 0 for a
    linear kernel, which has none.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    beta : sequence of int
        Coefficient of each point, integers over the unit.
    """
    together = [0] * len(beta)
    # `coefficients_fit` has checked the length; for a linear kernel `first` is empty.
    for i, step in zip(space.first, beta, strict=False):
        together[i] += step
    return sum(map(abs, together))


def function_of_features(space: PointSpace, w: Sequence[int], unit: int) -> Function:
    """Return f = w.z for the features z of a linear kernel, with w over the unit.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    w : sequence of int
        Coefficient of each feature, integers over the unit.
    unit : int
        Unit of the integers.
    """
    coefficients_fit(w, len(space.rows[0]))
    product_is_affordable(space, w)
    return linear_function(space, w, unit)


def linear_function(space: PointSpace, w: Sequence[int], unit: int) -> Function:
    """Return f = w.z and |f|^2 = w.w, with w over the unit.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    w : sequence of int
        Coefficient of each feature, integers over the unit.
    unit : int
        Unit of the integers.
    """
    values = [dot(row, w) for row in space.rows]
    return Function([*values, 0], unit * space.unit, 0, Fraction(dot(w, w), unit**2))


def product_is_affordable(space: PointSpace, v: Sequence[int]) -> None:
    """Check that the matrix of the points times v is within the budget.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    v : sequence of int
        Vector, integers.
    """
    arithmetic_is_affordable(len(space.rows) * len(space.rows[0]), 2 * max(space.bits, longest(v)))


def coefficients_fit(v: Sequence[int], length: int) -> None:
    """34. There is one coefficient for every point, or for every feature of a linear kernel."""
    require(
        len(v) == length,
        "coefficients_fit",
        f"there are {len(v)} coefficients, not {length}: one for every point or feature",
    )


# -------------------------------------------------------------------------------------
# The two bounds of weak duality: the lower bound
# -------------------------------------------------------------------------------------


def lower_bound(problem: Problem, dual: Any, exact: bool) -> Fraction | float:
    """Return L(alpha), or infinity if alpha proves that no point is feasible.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    dual : JSON value
        Dual point in the certificate.
    exact : bool
        True in mode exact.
    """
    rows, space = problem.rows, problem.space
    alpha = read_combination(dual, len(rows.target))
    arithmetic_is_affordable(len(alpha.steps), 2 * max(alpha.unit.bit_length(), problem.costs.bits))
    multipliers_are_within_costs(problem, alpha)
    pull = transposed_product(rows, alpha, len(space.rows))
    gain = Fraction(
        sum(step * rows.target[r] for r, step in zip(alpha.indices, alpha.steps, strict=True)),
        alpha.unit * rows.unit,
    )
    multipliers_are_balanced(problem, alpha)
    if problem.family.one_norm:
        prices_are_at_most_one(*prices(problem, function_of_points(space, pull, alpha.unit)))
        return gain
    norm2 = squared_norm(space, pull, alpha.unit)
    if is_ray(problem, alpha, gain, norm2):
        return math.inf
    value = gain - norm2 / 2
    if problem.family.squared:
        value -= ridge(problem.costs, squares(problem, alpha), alpha.unit, exact)
    return value


def multipliers_are_within_costs(problem: Problem, alpha: Combination) -> None:
    """35. alpha_r <= c_r; where the loss is squared, only alpha_r = 0 if c_r = 0."""
    costs, group = problem.costs, problem.rows.group

    def within(r: int, step: int) -> bool:
        cost = costs.numerators[group[r]]
        if step == 0 or costs.infinite[group[r]]:
            return True
        return cost > 0 if problem.family.squared else step * costs.unit <= cost * alpha.unit

    holds = all(within(r, step) for r, step in zip(alpha.indices, alpha.steps, strict=True))
    require(holds, "multipliers_are_within_costs", "a multiplier is above its cost")


def prices(problem: Problem, f: Function) -> tuple[list[int], int]:
    """Return upper bounds of B'u in a one-norm problem, as integers over a unit, and the unit.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    f : Function
        Function of the coefficients A'u.
    """
    if problem.family.unknowns == "points":
        return [v + f.error for v in f.values], f.unit
    pairs = zip(problem.rows.plus, problem.rows.minus, strict=True)
    return [f.values[i] - f.values[j] + 2 * f.error for i, j in pairs], f.unit


def prices_are_at_most_one(numerators: list[int], unit: int) -> None:
    """36. B'u <= 1 in a one-norm problem."""
    require(
        all(v <= unit for v in numerators),
        "prices_are_at_most_one",
        "the multipliers break B'u <= 1",
    )


def multipliers_are_balanced(problem: Problem, alpha: Combination) -> None:
    """37. s'alpha = 0 where there is a free bias."""
    sign = problem.rows.sign
    total = sum(step * sign[r] for r, step in zip(alpha.indices, alpha.steps, strict=True))
    require(
        total == 0 or not problem.family.bias,
        "multipliers_are_balanced",
        "the multipliers break s'alpha = 0",
    )


def is_ray(problem: Problem, alpha: Combination, gain: Fraction, norm2: Fraction) -> bool:
    """Return True if L grows without bound along alpha.

    The conditions are t'alpha > 0, |A'alpha|_K = 0, and infinite costs of all rows with
    alpha_r > 0.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    alpha : Combination
        Multipliers of the rows.
    gain : Fraction
        t'alpha.
    norm2 : Fraction
        Upper bound of |f|^2.
    """
    infinite, group = problem.costs.infinite, problem.rows.group
    only_hard = all(
        step == 0 or infinite[group[r]] for r, step in zip(alpha.indices, alpha.steps, strict=True)
    )
    return gain > 0 and norm2 == 0 and only_hard


def squares(problem: Problem, alpha: Combination) -> list[int]:
    """Return each group's sum of squared multipliers, as integers over the squared unit.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    alpha : Combination
        Multipliers of the rows.
    """
    group = problem.rows.group
    sums = [0] * problem.rows.groups
    for r, step in zip(alpha.indices, alpha.steps, strict=True):
        sums[group[r]] += step**2
    return sums


def ridge(costs: Costs, sums: list[int], unit: int, exact: bool) -> Fraction:
    """Return sum_r alpha_r^2 / (4 c_r) over the rows of finite cost.

    Parameters
    ----------
    costs : Costs
        Costs of the groups.
    sums : list of int
        Sums of alpha_r^2 per group, over unit^2.
    unit : int
        Unit of the integers.
    exact : bool
        True in mode exact.
    """
    paid = [g for g, total in enumerate(sums) if total > 0 and not costs.infinite[g]]
    inverse = [inverse_cost(costs.numerators[g], costs.unit, exact) for g in paid]
    steps, over = common_denominator(v.as_integer_ratio() for v in inverse)
    arithmetic_is_affordable(len(paid), 2 * longest([over, unit]))
    return Fraction(dot(steps, [sums[g] for g in paid]), over * unit**2)


def inverse_cost(numerator: int, unit: int, exact: bool) -> Fraction:
    """Return 1 / (4 c) for c = numerator / unit.

    It is rounded up in mode proven, because the common denominator of many such numbers
    may be long.

    Parameters
    ----------
    numerator : int
        Numerator.
    unit : int
        Unit of the integers.
    exact : bool
        True in mode exact.
    """
    if exact:
        return Fraction(unit, 4 * numerator)
    # // rounds the negative number down, and so its negation up.
    negative = -(unit << INVERSE_COST_BITS) // (4 * numerator)
    return Fraction(-negative, 1 << INVERSE_COST_BITS)


# -------------------------------------------------------------------------------------
# The two bounds of weak duality: the upper bound
# -------------------------------------------------------------------------------------


def upper_bound(problem: Problem, primal: Any) -> Fraction:
    """Return U(f, b): |f|^2 / 2, or 1'x in one-norm families, plus costs times losses.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    primal : JSON value
        Primal point in the certificate.
    """
    read = read_coefficients if problem.family.one_norm else read_function
    f, b, size = read(problem, primal)
    unit = math.lcm(f.unit, b.denominator, problem.rows.unit)
    arithmetic_is_affordable(
        len(problem.rows.target), 2 * max(unit.bit_length(), problem.costs.bits)
    )
    sums = losses(problem, f, int(b * unit), unit)
    hard_rows_are_met(problem.costs, sums)
    power = 2 if problem.family.squared else 1
    return size + Fraction(dot(problem.costs.numerators, sums), problem.costs.unit * unit**power)


def read_coefficients(problem: Problem, primal: Any) -> Primal:
    """Return the point of a one-norm family: coefficients x >= 0 of points or rows.

    It has a bias if the family has one.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    primal : JSON value
        Primal point in the certificate.
    """
    m = len(problem.space.rows)
    b = Fraction(0)
    if problem.family.bias:
        keys_are_those_listed(primal, (*COMBINATION_KEYS, "b"))
        b = rational(primal["b"])
        primal = {key: primal[key] for key in COMBINATION_KEYS}
    if problem.family.unknowns == "points":
        x = read_combination(primal, m)
        beta = [0] * m
        for i, step in zip(x.indices, x.steps, strict=True):
            beta[i] = step
    else:
        x = read_combination(primal, len(problem.rows.target))
        beta = transposed_product(problem.rows, x, m)
    f = function_of_points(problem.space, beta, x.unit)
    return Primal(f, b, Fraction(sum(x.steps), x.unit))


def read_function(problem: Problem, primal: Any) -> Primal:
    """Return the point of a margin family: a function and a bias.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    primal : JSON value
        Primal point in the certificate.
    """
    key = "w" if problem.space.linear else "beta"
    keys_are_those_listed(primal, (key, "b"))
    b = rational(primal["b"])
    bias_belongs_to_the_family(b, problem.family)
    array_has_its_length(primal[key])
    coefficients, unit = integers_over_unit(primal[key])
    make = function_of_features if problem.space.linear else function_of_points
    f = make(problem.space, coefficients, unit)
    return Primal(f, b, f.norm2 / 2)


def bias_belongs_to_the_family(b: Fraction, family: FamilyProperties) -> None:
    """38. b = 0 where there is no free bias."""
    require(
        b == 0 or family.bias,
        "bias_belongs_to_the_family",
        "the problem has no bias, and b is not 0",
    )


def losses(problem: Problem, f: Function, b: int, unit: int) -> list[int]:
    """Return an upper bound of sum_r max(t_r - (A f)_r - b s_r, 0) for each group.

    The bounds are integers over the unit. For a squared loss they bound the sums of
    squares, and are integers over the square of the unit.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    f : Function
        Function.
    b : int
        Bias, an integer over the unit.
    unit : int
        Unit of the integers.
    """
    rows = problem.rows
    values = [v * (unit // f.unit) for v in f.values]
    # (A f)_r is the difference of two values of f.
    noise = 2 * f.error * (unit // f.unit)
    target_unit = unit // rows.unit
    sums = [0] * rows.groups
    for t, s, i, j, g in zip(
        rows.target, rows.sign, rows.plus, rows.minus, rows.group, strict=True
    ):
        excess = t * target_unit - values[i] + values[j] - s * b + noise
        if excess > 0:
            sums[g] += excess**2 if problem.family.squared else excess
    return sums


def hard_rows_are_met(costs: Costs, sums: list[int]) -> None:
    """39. A row of infinite cost has no loss."""
    holds = all(
        total == 0 for total, infinite in zip(sums, costs.infinite, strict=True) if infinite
    )
    require(holds, "hard_rows_are_met", "the primal point violates a hard row")


# -------------------------------------------------------------------------------------
# Any convex program in standard form: format 2
# -------------------------------------------------------------------------------------


def bounds_of_program(document: Document) -> tuple[str, Fraction | float, Fraction | float]:
    """Return "program", and the bounds that primal and dual point prove.

    The bound of a point that is null is infinite.

    Parameters
    ----------
    document : Document
        Certificate.
    """
    program = read_program(document.problem)
    semidefiniteness_is_as_stated(document.semidefinite, semidefiniteness_of_program(program.P))
    quadratic_part_is_semidefinite(program.P)
    below = -math.inf if document.dual is None else lower_bound_of_program(program, document.dual)
    above = (
        math.inf if document.primal is None else upper_bound_of_program(program, document.primal)
    )
    return "program", below, above


def read_program(given: Any) -> ConicProgram:
    """Return the stated program.

    Parameters
    ----------
    given : JSON value
        Problem in the certificate.
    """
    keys_are_those_listed(given, PROGRAM_KEYS)
    q, b, h = (read_vector(given[key]) for key in ("q", "b", "h"))
    n = len(q.steps)
    below_diagonal = read_triples(given["P"], n, n)
    entries_are_below_the_diagonal(below_diagonal)
    mirrored = below_diagonal + [(j, i, v) for i, j, v in below_diagonal if i != j]
    A, G = read_triples(given["A"], len(b.steps), n), read_triples(given["G"], len(h.steps), n)
    array_has_its_length(given["cones"])
    indices_are_in_range(given["cones"], len(h.steps) + 1)
    cones_fit(given["cones"], len(h.steps))
    return ConicProgram(
        P=matrix(mirrored, n),
        q=q,
        c=rational(given["c"]),
        A=matrix(A, len(b.steps)),
        pull_A=matrix(transposed(A), n),
        b=b,
        G=matrix(G, len(h.steps)),
        pull_G=matrix(transposed(G), n),
        h=h,
        inequalities=len(h.steps) - sum(given["cones"]),
        cones=given["cones"],
    )


def read_vector(given: Any, length: int | None = None) -> Vector:
    """Return an array of numbers as a vector.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    length : int, optional
        Required length; any by default.
    """
    array_has_its_length(given, length)
    return Vector(*integers_over_unit(given))


def read_triples(given: Any, height: int, width: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Return the entries of a matrix: row, column, and numerator and denominator of each.

    Parameters
    ----------
    given : JSON value
        Value in the certificate.
    height : int
        Number of rows.
    width : int
        Number of columns.
    """
    array_has_its_length(given)
    for entry in given:
        array_has_its_length(entry, 3)
    indices_are_in_range([entry[0] for entry in given], height)
    indices_are_in_range([entry[1] for entry in given], width)
    triples = [(entry[0], entry[1], ratio(entry[2])) for entry in given]
    entries_occur_once(triples)
    return triples


def entries_occur_once(triples: list[tuple[int, int, tuple[int, int]]]) -> None:
    """40. No entry of a matrix is given twice."""
    places = {(row, column) for row, column, _ in triples}
    require(
        len(places) == len(triples), "entries_occur_once", "an entry of a matrix is given twice"
    )


def entries_are_below_the_diagonal(triples: list[tuple[int, int, tuple[int, int]]]) -> None:
    """41. The entries of P are given on and below its diagonal only."""
    holds = all(row >= column for row, column, _ in triples)
    require(holds, "entries_are_below_the_diagonal", "an entry of P is above the diagonal")


def cones_fit(cones: list[int], rows: int) -> None:
    """42. Every second-order cone has a row of G, and all together have no more than there are."""
    holds = all(size > 0 for size in cones) and sum(cones) <= rows
    require(holds, "cones_fit", "the second-order cones do not fit the rows of G")


def transposed(
    triples: list[tuple[int, int, tuple[int, int]]],
) -> list[tuple[int, int, tuple[int, int]]]:
    """Return the entries of the transposed matrix.

    Parameters
    ----------
    triples : list[tuple[int, int, tuple[int, int]]]
        Row, column, and numerator and denominator of each entry.
    """
    return [(column, row, v) for row, column, v in triples]


def matrix(triples: list[tuple[int, int, tuple[int, int]]], height: int) -> SparseIntegers:
    """Return the matrix with the given entries, over their common denominator.

    Parameters
    ----------
    triples : list[tuple[int, int, tuple[int, int]]]
        Row, column, and numerator and denominator of each entry.
    height : int
        Number of rows.
    """
    steps, unit = common_denominator(v for _, _, v in triples)
    rows: list[list[tuple[int, int]]] = [[] for _ in range(height)]
    for (row, column, _), step in zip(triples, steps, strict=True):
        rows[row].append((column, step))
    return SparseIntegers(rows, unit, longest([*steps, unit]))


def semidefiniteness_of_program(P: SparseIntegers) -> str:
    """Return how P is established as positive semidefinite: value of key `semidefinite`.

    Parameters
    ----------
    P : SparseIntegers
        Quadratic part of the program.
    """
    entries = [
        (row, column, v) for row, entries in enumerate(P.rows) for column, v in entries if v != 0
    ]
    if entries == []:
        return "not needed"
    diagonal = all(row == column and v > 0 for row, column, v in entries)
    return "by form" if diagonal else "by factorisation"


def quadratic_part_is_semidefinite(P: SparseIntegers) -> None:
    """43. P is 0, diagonal and nonnegative, or proved positive semidefinite as a Gram matrix is."""
    if semidefiniteness_of_program(P) == "by factorisation":
        used = [i for i, row in enumerate(P.rows) if row != []]
        arithmetic_is_affordable(len(used) ** 3)
        holds = is_semidefinite(dense_part(P, used), P.bits)
        require(holds, "quadratic_part_is_semidefinite", "P was not proved positive semidefinite")


def dense_part(P: SparseIntegers, used: list[int]) -> list[list[int]]:
    """Return the dense matrix of P's used rows and columns; all other entries are 0.

    Parameters
    ----------
    P : SparseIntegers
        Quadratic part of the program.
    used : list of int
        Rows and columns that have entries.
    """
    position = {i: k for k, i in enumerate(used)}
    table = [[0] * len(used) for _ in used]
    for i in used:
        for j, v in P.rows[i]:
            table[position[i]][position[j]] = v
    return table


def product(M: SparseIntegers, x: Vector) -> Vector:
    """Return M x.

    Parameters
    ----------
    M : SparseIntegers
        Matrix.
    x : Vector
        Vector.
    """
    entries = sum(len(row) for row in M.rows)
    arithmetic_is_affordable(
        entries + len(M.rows), 2 * max(M.bits, longest(x.steps), x.unit.bit_length())
    )
    return Vector([sum(v * x.steps[j] for j, v in row) for row in M.rows], M.unit * x.unit)


def inner(x: Vector, y: Vector) -> Fraction:
    """Return x'y.

    Parameters
    ----------
    x : Vector
        Vector.
    y : Vector
        Vector.
    """
    arithmetic_is_affordable(len(x.steps), 2 * max(longest(x.steps), longest(y.steps)))
    return Fraction(dot(x.steps, y.steps), x.unit * y.unit)


def combined(*terms: tuple[int, Vector]) -> Vector:
    """Return the sum of factors times vectors of one length.

    Parameters
    ----------
    *terms : tuple[int, Vector]
        Factor and vector of each term.
    """
    unit = math.lcm(*(v.unit for _, v in terms))
    arithmetic_is_affordable(len(terms) * len(terms[0][1].steps), 2 * unit.bit_length())
    scaled = [[factor * (unit // v.unit) * step for step in v.steps] for factor, v in terms]
    return Vector([sum(steps) for steps in zip(*scaled, strict=True)], unit)


def is_in_cone(program: ConicProgram, v: Vector) -> bool:
    """Return True if v is in K.

    Parameters
    ----------
    program : ConicProgram
        Program that the certificate states.
    v : Vector
        Vector.
    """
    arithmetic_is_affordable(len(v.steps), 2 * longest(v.steps))
    if any(step < 0 for step in v.steps[: program.inequalities]):
        return False
    start = program.inequalities
    for size in program.cones:
        t, *w = v.steps[start : start + size]
        if t < 0 or dot(w, w) > t**2:
            return False
        start += size
    return True


def upper_bound_of_program(program: ConicProgram, primal: Any) -> Fraction | float:
    """Return 1/2 x'Px + q'x + c at a feasible x.

    Return minus infinity if a direction d proves that the objective is unbounded below.

    Parameters
    ----------
    program : ConicProgram
        Program that the certificate states.
    primal : JSON value
        Primal point in the certificate.
    """
    keys = ("x",) if isinstance(primal, dict) and "d" not in primal else ("x", "d")
    keys_are_those_listed(primal, keys)
    n = len(program.q.steps)
    x = read_vector(primal["x"], n)
    equations_are_met(combined((1, product(program.A, x)), (-1, program.b)))
    slack_is_in_the_cone(program, combined((1, program.h), (-1, product(program.G, x))))
    if "d" in keys:
        direction_descends_for_ever(program, read_vector(primal["d"], n))
        return -math.inf
    return inner(x, product(program.P, x)) / 2 + inner(program.q, x) + program.c


def equations_are_met(rest: Vector) -> None:
    """44. A x = b."""
    require(
        all(step == 0 for step in rest.steps),
        "equations_are_met",
        "the primal point violates an equation",
    )


def slack_is_in_the_cone(program: ConicProgram, slack: Vector) -> None:
    """45. h - Gx is in K."""
    require(
        is_in_cone(program, slack),
        "slack_is_in_the_cone",
        "the primal point violates an inequality or a cone",
    )


def direction_descends_for_ever(program: ConicProgram, d: Vector) -> None:
    """46. P d = 0, A d = 0, -G d is in K and q'd < 0, where a direction is given."""
    level = all(step == 0 for M in (program.P, program.A) for step in product(M, d).steps)
    holds = (
        level
        and is_in_cone(program, combined((-1, product(program.G, d))))
        and inner(program.q, d) < 0
    )
    require(
        holds,
        "direction_descends_for_ever",
        "the direction leaves the feasible points, or the objective does not decrease along it",
    )


def lower_bound_of_program(program: ConicProgram, dual: Any) -> Fraction | float:
    """Return -1/2 x'Px - b'y - h'z + c.

    Return infinity if y and z are given without x, and prove that no point is feasible.

    Parameters
    ----------
    program : ConicProgram
        Program that the certificate states.
    dual : JSON value
        Dual point in the certificate.
    """
    keys = ("x", "y", "z") if isinstance(dual, dict) and "x" in dual else ("y", "z")
    keys_are_those_listed(dual, keys)
    y, z = (
        read_vector(dual["y"], len(program.b.steps)),
        read_vector(dual["z"], len(program.h.steps)),
    )
    multipliers_are_in_the_cone(program, z)
    pull = combined((1, product(program.pull_A, y)), (1, product(program.pull_G, z)))
    gain = -inner(program.b, y) - inner(program.h, z)
    if "x" not in keys:
        multipliers_separate(pull, gain)
        return math.inf
    x = read_vector(dual["x"], len(program.q.steps))
    Px = product(program.P, x)
    gradient_vanishes(combined((1, Px), (1, program.q), (1, pull)))
    return gain - inner(x, Px) / 2 + program.c


def multipliers_are_in_the_cone(program: ConicProgram, z: Vector) -> None:
    """47. z is in K."""
    require(
        is_in_cone(program, z),
        "multipliers_are_in_the_cone",
        "a multiplier is negative, or those of a cone are not in it",
    )


def multipliers_separate(pull: Vector, gain: Fraction) -> None:
    """48. A'y + G'z = 0 and b'y + h'z < 0, where y and z are given without an x."""
    holds = all(step == 0 for step in pull.steps) and gain > 0
    require(holds, "multipliers_separate", "the multipliers do not prove that no point is feasible")


def gradient_vanishes(gradient: Vector) -> None:
    """49. P x + q + A'y + G'z = 0."""
    require(
        all(step == 0 for step in gradient.steps),
        "gradient_vanishes",
        "P x + q + A'y + G'z is not 0",
    )


# -------------------------------------------------------------------------------------
# The claimed bounds
# -------------------------------------------------------------------------------------


def lower_bound_is_proved(claimed: Fraction | float, proved: Fraction | float) -> None:
    """50. The claimed lower bound is at most L(alpha), or -inf where there is no dual point."""
    reason = (
        f"the dual point proves {outward(proved, -1)}, less than the claimed lower bound "
        f"{outward(claimed, 1)}"
    )
    require(claimed <= proved, "lower_bound_is_proved", reason)


def upper_bound_is_proved(claimed: Fraction | float, proved: Fraction | float) -> None:
    """51. The claimed upper bound is at least U(f, b), or inf where there is no primal point."""
    reason = (
        f"the primal point proves {outward(proved, 1)}, more than the claimed upper bound "
        f"{outward(claimed, -1)}"
    )
    require(claimed >= proved, "upper_bound_is_proved", reason)


def exact_bounds_are_equal(document: Document) -> None:
    """52. The two claimed bounds are equal in mode exact."""
    holds = document.lower == document.upper or not document.exact
    require(
        holds, "exact_bounds_are_equal", "the mode is exact, and the claimed bounds are not equal"
    )


# -------------------------------------------------------------------------------------
# A path: format 3
# -------------------------------------------------------------------------------------


def path_claim(document: Any) -> PathClaim:
    """Return the claim of a certificate of a path once its points prove it.

    Parameters
    ----------
    document : JSON value
        Certificate.
    """
    keys_are_those_listed(document, PATH_DOCUMENT_KEYS)
    schema_is_known(document["schema"], PATH_SCHEMA)
    digests_match(document["digests"], document["problem"], document["path"])
    claim = document["claim"]
    keys_are_those_listed(claim, ("from", "to", "gap"))
    low, high, gap = rational(claim["from"]), rational(claim["to"]), rational(claim["gap"])
    claim_is_a_range_and_a_gap(low, high, gap)
    problem = read_problem(document["problem"])
    family_has_a_path(problem.family)
    costs_are_weights(problem.costs, document["problem"]["C"])
    semidefiniteness_is_as_stated(document["semidefinite"], semidefiniteness(problem))
    prove_gap(problem.space, list_of_knots(problem, document["path"]), low, high, gap)
    return PathClaim(problem.name, low, high, gap)


def claim_is_a_range_and_a_gap(low: Fraction, high: Fraction, gap: Fraction) -> None:
    """53. The range of lambda begins above 0 and is not empty; the claimed gap is not negative."""
    holds = low > 0 and low <= high and gap >= 0
    require(
        holds,
        "claim_is_a_range_and_a_gap",
        "the range of lambda is empty, or begins at 0 or below, or the gap is negative",
    )


def family_has_a_path(family: FamilyProperties) -> None:
    """54. The family of a path has the hinge: svm.soft, svm.nobias, svr.l1 or rank.l1."""
    holds = not (family.hard or family.squared or family.one_norm)
    require(holds, "family_has_a_path", "the certificate is of a path, and the family has none")


def costs_are_weights(costs: Costs, C: Any) -> None:
    """55. The C of a path is 1, as lambda takes its place, and no weight is infinite."""
    holds = rational(C) == 1 and not any(costs.infinite)
    require(
        holds,
        "costs_are_weights",
        "the certificate is of a path, and C is not 1, or a weight is infinite",
    )


def prove_gap(
    space: PointSpace, knots: Iterable[Knot], low: Fraction, high: Fraction, gap: Fraction
) -> None:
    """Check the claimed gap at every lambda of the range, at points and between them.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    knots : iterable of Knot
        Points of the path, by decreasing lambda.
    low : Fraction
        Least lambda of the range.
    high : Fraction
        Largest lambda of the range.
    gap : Fraction
        Claimed gap, relative to the optimum.
    """
    lambdas: list[Fraction] = []
    before = None
    for knot in knots:
        lambdas_decrease(knot.lam, lambdas)
        lambdas.append(knot.lam)
        gap_is_proved_at_points(excess(knot, gap), knot.lam)
        if before is not None:
            gap_is_proved_between_points(
                excess(before, gap),
                excess(knot, gap),
                curvature(space, before, knot, gap),
                knot.lam,
            )
        before = knot
    path_covers_the_range(lambdas, low, high)


def lambdas_decrease(lam: Fraction, before: list[Fraction]) -> None:
    """56. The lambdas of a path's points are positive, and each is less than the one before."""
    holds = lam > 0 and (before == [] or lam < before[-1])
    require(
        holds,
        "lambdas_decrease",
        "a lambda of the path is not positive, or not less than the one before",
    )


def gap_is_proved_at_points(excess: Fraction, lam: Fraction) -> None:
    """57. At every point of a path lambda^2 (U - L) is at most the claimed gap times lambda^2 L."""
    require(
        excess <= 0,
        "gap_is_proved_at_points",
        f"the claimed gap is not proved at lambda = {outward(lam, -1)}",
    )


def gap_is_proved_between_points(
    first: Fraction, second: Fraction, curvature: Fraction, lam: Fraction
) -> None:
    """58. (1 - x) u + x v + x (1 - x) c <= 0 on [0, 1]: u, v neighbours' excesses, c curvature."""
    # As u, v <= 0, it holds if and only if c <= (sqrt(-u) + sqrt(-v))^2.
    rest = curvature + first + second
    holds = rest <= 0 or rest**2 <= 4 * first * second
    require(
        holds,
        "gap_is_proved_between_points",
        f"the claimed gap is not proved above lambda = {outward(lam, -1)}",
    )


def path_covers_the_range(lambdas: list[Fraction], low: Fraction, high: Fraction) -> None:
    """59. A path's first lambda is at least the claimed range's end, its last at most the start."""
    holds = lambdas != [] and lambdas[0] >= high and lambdas[-1] <= low
    require(
        holds,
        "path_covers_the_range",
        "the points of the path do not cover the claimed range of lambda",
    )


def list_of_knots(problem: Problem, path: Any) -> Iterator[Knot]:
    """Yield the values computed at each point of a path, in order.

    A point lists the multipliers that differ from those of the point before.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    path : JSON value
        Path in the certificate.
    """
    keys_are_those_listed(path, ("denominator", "points"))
    array_has_its_length(path["points"])
    steps = [0] * len(problem.rows.target)
    for point in path["points"]:
        keys_are_those_listed(point, POINT_KEYS)
        listed = {
            "rows": point["rows"],
            "numerators": point["numerators"],
            "denominator": path["denominator"],
        }
        changed = read_combination(listed, len(steps))
        lam, b = rational(point["lambda"]), rational(point["b"])
        path_is_affordable(
            problem,
            len(path["points"]),
            [changed.unit, *lam.as_integer_ratio(), *b.as_integer_ratio()],
        )
        multipliers_are_within_costs(problem, changed)
        for r, step in zip(changed.indices, changed.steps, strict=True):
            steps[r] = step
        used = [r for r, step in enumerate(steps) if step > 0]
        yield make_knot(problem, lam, b, Combination(used, [steps[r] for r in used], changed.unit))


def path_is_affordable(problem: Problem, points: int, numbers: list[int]) -> None:
    """Check that all points of the path together are within the budget of one step.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    points : int
        Number of points.
    numbers : list of int
        Numerators and denominators of a point, whose lengths count.
    """
    rows, space = problem.rows, problem.space
    entries = len(space.rows) * len(space.rows[0])
    bits = max(longest(numbers), problem.costs.bits, space.bits, rows.unit.bit_length())
    arithmetic_is_affordable(
        points * (entries + OPERATIONS_OF_A_ROW_OF_A_PATH * len(rows.target)), 2 * bits
    )


def make_knot(problem: Problem, lam: Fraction, b: Fraction, alpha: Combination) -> Knot:
    """Return the values computed at a point of a path.

    Parameters
    ----------
    problem : Problem
        Problem that the certificate states.
    lam : Fraction
        lambda.
    b : Fraction
        Bias times lambda.
    alpha : Combination
        Multipliers of the rows.
    """
    rows = problem.rows
    multipliers_are_balanced(problem, alpha)
    bias_belongs_to_the_family(b, problem.family)
    pull = transposed_product(rows, alpha, len(problem.space.rows))
    g = function_of_points(problem.space, pull, alpha.unit)
    gain = Fraction(
        sum(step * rows.target[r] for r, step in zip(alpha.indices, alpha.steps, strict=True)),
        alpha.unit * rows.unit,
    )
    times = rows._replace(
        target=[t * lam.numerator for t in rows.target], unit=rows.unit * lam.denominator
    )
    unit = math.lcm(g.unit, b.denominator, times.unit)
    sums = losses(problem._replace(rows=times), g, int(b * unit), unit)
    loss = Fraction(dot(problem.costs.numerators, sums), problem.costs.unit * unit)
    return Knot(
        lam, gain, pull, alpha.unit, g, g.norm2 + loss - lam * gain, lam * gain - g.norm2 / 2
    )


def excess(knot: Knot, gap: Fraction) -> Fraction:
    """Return the excess of lambda^2 (U - L) over the claimed gap times lambda^2 L.

    Parameters
    ----------
    knot : Knot
        Point of the path.
    gap : Fraction
        Claimed gap, relative to the optimum.
    """
    return knot.gap - gap * knot.lower


def curvature(space: PointSpace, before: Knot, after: Knot, gap: Fraction) -> Fraction:
    """Return an upper bound of the curvature c of the excess between two points.

    The excess is at most (1 - x) u + x v + x (1 - x) c from one point to the next.

    Parameters
    ----------
    space : PointSpace
        Points in the space of the kernel.
    before : Knot
        Point of the path before the segment.
    after : Knot
        Point of the path after the segment.
    gap : Fraction
        Claimed gap, relative to the optimum.
    """
    change = [v - w for v, w in zip(before.pull, after.pull, strict=True)]
    values = [v - w for v, w in zip(before.g.values, after.g.values, strict=True)]
    noise = space.error * size_of_distinct(space, change) ** 2
    norm2 = Fraction(dot(change, values) - noise, before.pull_unit * before.g.unit)
    product = (before.lam - after.lam) * (before.gain - after.gain)
    return (1 + gap) * product - (1 + gap / 2) * norm2


# -------------------------------------------------------------------------------------
# The verdict
# -------------------------------------------------------------------------------------


def outward(v: Fraction | float, way: int) -> float:
    """Return v rounded to a double, down or up; it may be infinite.

    This is the largest double that is not above v (way -1), or the smallest that is not
    below v (way 1).

    Parameters
    ----------
    v : Fraction or float
        Number, or infinity.
    way : int
        -1 to round down, 1 to round up.
    """
    if isinstance(v, float):
        return v
    largest = Fraction(sys.float_info.max)
    nearest = float(max(-largest, min(v, largest)))
    is_inside = nearest < v if way > 0 else nearest > v
    return math.nextafter(nearest, way * math.inf) if is_inside else nearest


def verdict(path: str) -> tuple[int, str]:
    """Return the exit status and the sentence for a file.

    The certificate is also rejected if Python reaches its limits of memory or recursion.

    Parameters
    ----------
    path : str
        Path of the file.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
        proved = statement(read_file(data))
    except OSError as reason:
        return 2, f"cannot be read: {reason.strerror or reason}; give the path of a certificate"
    except MemoryError:
        return 1, "REJECTED: out of memory"
    except (ValueError, ArithmeticError, RecursionError) as reason:
        return 1, f"REJECTED: {reason}"
    return 0, f"ACCEPTED: {proved}"


def statement(document: Any) -> str:
    """Return the statement that a certificate proves, as text.

    Parameters
    ----------
    document : JSON value
        Certificate.

    Raises
    ------
    ValueError
        If a condition does not hold.
    """
    if isinstance(document, dict) and document.get("schema") == PATH_SCHEMA:
        claim = path_claim(document)
        low, high, gap = outward(claim.low, 1), outward(claim.high, -1), outward(claim.gap, 1)
        return (
            f"{claim.family}: for every lambda in [{low}, {high}] the path's objective is above "
            f"the optimum by at most {gap} of it"
        )
    family, lower, upper = interval(read_document(document))
    return f"{family}: {describe_interval(lower, upper)}"


def describe_interval(lower: Fraction | float, upper: Fraction | float) -> str:
    """Return the statement that the optimum is between two bounds, as text.

    Parameters
    ----------
    lower, upper : Fraction or float
        Bounds.
    """
    if lower == math.inf:
        return "no point is feasible"
    if upper == -math.inf:
        return "the objective has no lower bound"
    low, high = outward(lower, -1), outward(upper, 1)
    if lower == -math.inf and upper == math.inf:
        return "no bound of the optimum is claimed"
    if lower == -math.inf:
        return f"the optimum is at most {high}"
    if upper == math.inf:
        return f"the optimum is at least {low}"
    return f"the optimum is in [{low}, {high}]"


def main(paths: Sequence[str]) -> int:
    """Print a sentence for every file, in ASCII; return the worst exit status.

    Parameters
    ----------
    paths : sequence of str
        Paths of the files.
    """
    worst = 0
    for path in paths:
        status, sentence = verdict(path)
        print(f"{path}: {sentence}".encode("ascii", "backslashreplace").decode())
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(__doc__ if sys.argv[1:] in ([], ["-h"], ["--help"]) else main(sys.argv[1:]))
