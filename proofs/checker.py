#!/usr/bin/env python3
"""A checker of equimargin-certificate/1 on its own: python3 -I checker.py FILE...

It needs the standard library alone and shares no code with what writes certificates. Both sides of weak duality, L(alpha) <= optimum <=
U(f, b), are recomputed from the data in integers and fractions. ACCEPTED: the claimed interval holds what they prove; REJECTED: the first
reason why not. `certificate.md` says what a certificate is and what is proved how. Exit status: 0 all accepted, 1 a rejection, 2 bad usage.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any

LARGEST_FILE, LONGEST, MOST_WORK = 2**26, 200_000, 3 * 10**10  # bytes; bits of an integer; about nanoseconds of arithmetic
BITS, GUARD = 96, 32  # exp is enclosed in two units of 2^-BITS
PIVOTS = 64  # a Gram matrix of so many rows is factored in integers, a larger one in float64 with an exact residual
FAMILIES = {"svm": ("hard", "soft", "l2", "nobias_hard", "nobias", "nobias_l2"), "svr": ("hard", "l1", "l2"), "rvm": ("",)}
FAMILIES |= {"rank": ("hard", "l1", "l2", "onenorm")}
KERNELS = {"linear": (), "polynomial": ("degree", "gamma", "coef0"), "rbf": ("gamma",), "precomputed": ("shift",)}
Row = tuple[Fraction, int, int, int, int]  # (t, s, i, j, group of its cost); row r of A f is f_i - f_j, and f_m is 0
Values = tuple[list[int], int, int, Fraction]  # f and a 0, integers over the second, off by the third at most; |f|^2 at most


def check(data: bytes) -> tuple[str, Fraction | float, Fraction | float]:
    """The family of a certificate and the interval that it proves to hold the optimum; ValueError with the first reason if it does not."""
    names = ("schema", "mode", "problem", "positive_semidefinite", "primal", "dual", "claim", "digests")
    schema, mode, given, established, primal, dual, claim, digests = fields(read(data), *names)
    require(schema == "equimargin-certificate/1" and mode in ("proven", "exact"), "the schema or the mode is not known")
    require(fields(digests, "problem", "points") == [sha256(given), sha256([primal, dual])], "a digest is not that of its part")
    lower, upper = map(bound, fields(claim, "lower", "upper"))
    require(lower <= upper and (primal is not None or dual is not None), "it claims nothing, or a lower bound above the upper one")
    problem = Problem(given)
    require(established == problem.established, f"positive semidefiniteness is established {problem.established}, not as it says")
    below = -math.inf if dual is None else problem.lower(dual, mode == "exact")
    above = math.inf if primal is None else problem.upper(primal)
    require(lower <= below, f"the dual point proves {float(below)!r}, less than the claimed lower bound {float(lower)!r}")
    require(above <= upper, f"the primal point proves {float(above)!r}, more than the claimed upper bound {float(upper)!r}")
    require(mode == "proven" or lower == upper, "the mode is exact, and the bounds are not equal")
    return problem.family, lower, upper


class Problem:
    """A margin problem, or a one-norm problem, as the certificate states it."""

    def __init__(self, given: Any) -> None:
        self.family = str(given.get("family")) if isinstance(given, dict) else ""
        task, _, kind = self.family.partition(".")
        require(kind in FAMILIES.get(task, ()), "the family is not known")
        self.one_norm, self.squared = kind in ("", "onenorm"), kind.endswith("l2")
        self.bias = task == "svr" or (task == "svm" and "nobias" not in kind)
        own = {"svm": ["labels"], "svr": ["labels", "epsilon"]}.get(task, ["labels", "queries", "pairs"])
        _, kernel, points, C, weights, labels, *rest = fields(given, "family", "kernel", "features", "C", "weights", *own)
        self.space = Space(kernel, points)
        self.m = m = len(self.space.rows)
        self.y, unit = grid([] if labels is None else array(labels, m))
        self.listed, self.query, one = None, [0] * m, Fraction(1)
        if task == "svr":
            epsilon = rational(rest[0])
            require(epsilon >= 0, "epsilon is negative")
            self.listed = [(Fraction(v, unit) - epsilon, 1, i, m, i) for i, v in enumerate(self.y)]
            self.listed += [(-Fraction(v, unit) - epsilon, -1, m, i, m + i) for i, v in enumerate(self.y)]
        elif task == "svm":
            require(all(abs(v) == unit for v in self.y), "a label is neither -1 nor +1")
            self.listed = [(one, 1, i, m, i) if v > 0 else (one, -1, m, i, i) for i, v in enumerate(self.y)]
        elif labels is None:
            pairs = [[index(i, m) for i in array(pair, 2)] for pair in array(rest[1])]
            self.listed = [(one, 0, i, j, r) for r, (i, j) in enumerate(pairs)]
        elif rest[0] is not None:
            self.query = [index(q, m) for q in array(rest[0], m)]
        self.unit = grid(t for t, *_ in self.listed or ())[1]
        groups, cost = len(self.listed) if self.listed is not None else max(self.query) + 1, bound(C)
        require(cost > 0 and (cost == math.inf) == kind.endswith("hard"), "C is not positive, or not what the family has")
        w = [one] * groups if weights is None else [bound(v) for v in array(weights, groups)]
        require(min(w, default=0) >= 0 and not (weights and self.one_norm), "a weight is negative, or a one-norm problem has one")
        self.costs = [Fraction(0) if v == 0 else math.inf if math.inf in (v, cost) else Fraction(v) * Fraction(cost) for v in w]
        self.established = "not needed" if self.one_norm else self.space.positive_semidefinite()

    def rows(self) -> Iterator[Row]:
        """Every row; of labels every pair of a query with y_i > y_j."""
        queries: dict[int, list[int]] = {}
        for i, q in enumerate(self.query):
            queries.setdefault(q, []).append(i)
        y, one = self.y, Fraction(1)
        affordable(10 * sum(len(points) ** 2 for points in queries.values() if self.listed is None), 1)
        pairs = ((one, 0, i, j, q) for q, points in queries.items() for i in points for j in points if y[i] > y[j])
        return iter(self.listed) if self.listed is not None else pairs

    def row(self, key: Any) -> Row:
        """The row that a certificate calls by its place, or by its two points where pairs come from labels."""
        if self.listed is not None:
            return self.listed[index(key, len(self.listed))]
        i, j = (index(v, self.m) for v in array(key, 2))
        require(self.query[i] == self.query[j] and self.y[i] > self.y[j], "a multiplier is of no pair")
        return Fraction(1), 0, i, j, self.query[i]

    def combined(self, given: Any, points: bool) -> tuple[list[tuple[Row, int]], list[int], int, int]:
        """Numbers x >= 0 of rows or of points; A'x or x, (m,), and sum x, integers over the last."""
        keys, numerators, denominator = fields(given, "rows", "numerators", "denominator")
        (unit, *steps), common = grid([denominator, *array(numerators, len(array(keys)))])
        require(common == 1 and unit > 0 and min(steps, default=0) >= 0, "a multiplier is negative, or no integer over a positive one")
        require(len({str(key) for key in keys}) == len(keys), "a row has two multipliers")
        pull, one = [0] * (self.m + 1), Fraction(1)
        x = [((one, 0, index(key, self.m), self.m, 0) if points else self.row(key), step) for key, step in zip(keys, steps, strict=True)]
        for (_, _, i, j, _), step in x:
            pull[i] += step
            pull[j] -= step
        return x, pull[: self.m], sum(steps), unit

    def lower(self, dual: Any, exact: bool) -> Fraction | float:
        """L of multipliers, which must be feasible; inf for a ray, along which the dual has no bound."""
        alpha, pull, _, unit = self.combined(dual, False)
        squares: dict[Fraction | float, int] = {}
        for (*_, group), step in alpha:
            cost = self.costs[group]
            require(step == 0 or (cost > 0 if self.squared else step <= cost * unit), "a multiplier is above its cost")
            squares[cost] = squares.get(cost, 0) + step * step
        gain = Fraction(sum(step * int(t * self.unit) for (t, *_), step in alpha), unit * self.unit)
        f, scale, error, norm2 = self.space.of_coefficients(pull, unit)
        if self.one_norm:
            prices = f if self.family == "rvm" else (f[i] - f[j] + error for _, _, i, j, _ in self.rows())
            require(max(prices, default=0) + error <= scale, "the multipliers break B'u <= 1")
            return gain
        require(not self.bias or sum(s * step for (_, s, *_), step in alpha) == 0, "the multipliers break s'alpha = 0")
        if gain > 0 == norm2 and set(squares) == {math.inf}:
            return math.inf
        for cost, total in squares.items() if self.squared else ():
            if 0 < cost < math.inf:
                ridge = Fraction(total, unit * unit) / (4 * Fraction(cost))
                gain -= ridge if exact else Fraction(math.ceil(ridge * 2**400), 2**400)  # of many denominators the sum would grow long
        return gain - norm2 / 2

    def upper(self, primal: Any) -> Fraction:
        """U of a function and a bias, which must satisfy the hard rows."""
        b = Fraction(0)
        if self.one_norm:
            _, beta, total, unit = self.combined(primal, self.family == "rvm")
            f, scale, error, _ = self.space.of_coefficients(beta, unit)
            value = Fraction(total, unit)
        else:
            coefficients, bias = fields(primal, "w" if self.space.linear else "beta", "b")
            b, v = rational(bias), grid(array(coefficients))
            require(self.bias or b == 0, "the problem has no bias")
            f, scale, error, norm2 = self.space.of_weights(*v) if self.space.linear else self.space.of_coefficients(*v)
            value = norm2 / 2
        unit = math.lcm(scale, b.denominator, self.unit)
        f, error, shift, losses = [v * (unit // scale) for v in f], 2 * error * (unit // scale), int(b * unit), [0] * len(self.costs)
        for t, s, i, j, group in self.rows():
            u = int(t * unit) + error - s * shift - f[i] + f[j]
            losses[group] += max(u, 0) ** (2 if self.squared else 1)
        for cost, loss in zip(self.costs, losses, strict=True):
            require(loss == 0 or cost < math.inf, "the primal point violates a hard row")
            value += Fraction(loss, unit ** (2 if self.squared else 1)) * Fraction(cost) if loss else 0
        return value


class Space:
    """The kernel's space: `rows` are integer features of a linear kernel, K_ij and a bound on their error of any other."""

    def __init__(self, kernel: Any, features: Any) -> None:
        self.name = str(kernel.get("name")) if isinstance(kernel, dict) else ""
        require(self.name in KERNELS, "the kernel is not known")
        _, constant, *parameters = map(rational, fields({**kernel, "name": 0}, "name", "constant", *KERNELS[self.name]))
        require(constant in (0, 1) and min(parameters, default=0) >= 0, "a parameter of the kernel is negative, or a constant not 0 or 1")
        self.linear, self.error, given, points = self.name == "linear", 0, self.name == "precomputed", array(features)
        d, m = 0 if given or not points else len(array(points[0])), len(points)
        X, self.unit = grid(chain.from_iterable(array(x, i + 1 if given else d) for i, x in enumerate(points)))
        require(len(X) > 0, "there are no features")
        z = [X[i * d : (i + 1) * d] + [self.unit] * int(constant and self.linear) for i in range(m)]
        affordable(0 if self.linear else m * m * (d + 100), longest(X))
        if given:
            unit = math.lcm(self.unit, parameters[0].denominator)
            K = [[v * (unit // self.unit) for v in X[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]] for i in range(m)]
            for row in K:
                row[-1] += int(parameters[0] * unit)
        elif not self.linear:
            degree, gamma, coef0 = parameters if self.name == "polynomial" else (Fraction(1), parameters[0], Fraction(0))
            require(degree in range(1, 33) and gamma > 0, "a degree is not in 1 .. 32, or gamma is 0")
            scale, shift = self.unit**2 * gamma.denominator * coef0.denominator, int(coef0 * self.unit**2 * gamma.denominator)
            K = [[gamma.numerator * sum(map(mul, z[i], z[j])) for j in range(i + 1)] for i in range(m)]
            if self.name == "rbf":
                square = [row[-1] for row in K]
                K, unit = [[exp(square[i] + square[j] - 2 * v, scale) for j, v in enumerate(row)] for i, row in enumerate(K)], 2**BITS
                self.error = 2
            else:
                K, unit = [[(v * coef0.denominator + shift * coef0.denominator) ** int(degree) for v in row] for row in K], scale ** int(degree)
        if not self.linear:
            self.unit, one = unit, int(constant * unit)
            z = [[v + one for v in row] + [K[j][i] + one for j in range(i + 1, m)] for i, row in enumerate(K)]
        self.rows, self.longest = z, max(map(longest, z))

    def of_weights(self, w: Sequence[int], unit: int) -> Values:
        """f = w.z, w integers over `unit`."""
        return [*self.times(w), 0], unit * self.unit, 0, Fraction(sum(map(mul, w, w)), unit**2)

    def of_coefficients(self, beta: Sequence[int], unit: int) -> Values:
        """f = sum_i beta_i k(x_i, .), beta integers over `unit`."""
        if self.linear:
            require(len(beta) == len(self.rows), "there is not one coefficient for every point")
            affordable(len(beta) * len(self.rows[0]), self.longest + longest(beta))
            return self.of_weights([sum(map(mul, column, beta)) for column in zip(*self.rows, strict=True)], unit * self.unit)
        f, size = self.times(beta), sum(map(abs, beta))
        norm2 = Fraction(sum(map(mul, beta, f)) + self.error * size * size, unit * unit * self.unit)
        return [*f, 0], unit * self.unit, self.error * size, norm2

    def times(self, v: Sequence[int]) -> list[int]:
        require(len(v) == len(self.rows[0]), "there is not one coefficient for every point or feature")
        affordable(len(self.rows) * len(v), self.longest + longest(v))
        return [sum(map(mul, row, v)) for row in self.rows]

    def positive_semidefinite(self) -> str:
        """How it is established: by theorem for a kernel by name, by factorisation for given numbers."""
        n = len(self.rows)
        if self.name == "precomputed":
            affordable(n**3, self.longest * (n if n <= PIVOTS else 2))
            require(self.pivots() if n <= PIVOTS else self.dominates(), "the Gram matrix was not proved positive semidefinite")
        return "by factorisation" if self.name == "precomputed" else "by theorem"

    def pivots(self) -> bool:
        """Whether the fraction-free L D L' of K meets no negative pivot, and only zeros beside a pivot that is 0."""
        A, last = [list(row) for row in self.rows], 1
        for k in range(len(A)):
            pivot, column = A[k][k], [row[k] for row in A]
            if pivot < 0 or (pivot == 0 and any(column[k:])):
                return False
            for i in range(k + 1, len(A) if pivot else 0):
                A[i] = [(pivot * v - column[i] * w) // last for v, w in zip(A[i], A[k], strict=True)]
            last = pivot or last
        return True

    def dominates(self) -> bool:
        """Whether K - L L' is diagonally dominant, hence K >= 0, for an L from Cholesky in float64, whose rounding does not matter then."""
        K, n = self.rows, len(self.rows)
        largest, L, steps, off = max(1, *(K[i][i] for i in range(n))), [[0.0]] * n, [[0]] * n, [0] * n
        room = n * 2.0**-54 * sum(K[i][i] / largest for i in range(n))
        for i, row in enumerate(K):
            done: list[float] = []
            for j in range(i):
                done.append((row[j] / largest - sum(map(mul, done, L[j]))) / L[j][j])
            pivot = row[i] / largest - room - sum(map(mul, done, done))
            L[i] = [*done, math.sqrt(max(pivot, 2.0**-60))]
            steps[i] = [round(v * 2.0**70) for v in L[i]]  # in units of 2^-70 sqrt(largest)
            for j in range(i):
                rest = abs((row[j] << 140) - largest * sum(map(mul, steps[i], steps[j])))
                off[i], off[j] = off[i] + rest, off[j] + rest
        return all((K[i][i] << 140) - largest * sum(map(mul, steps[i], steps[i])) >= off[i] for i in range(n))


def exp(numerator: int, denominator: int) -> int:
    """exp(-x) in units of 2^-BITS, off by two at most, for x = numerator / denominator >= 0.

    In units of 2^-P, P = BITS + GUARD: r = x / 2^s < 2^-8 is off by 2, each of at most 17 terms of the series by 1.1, its remainder by 1,
    y = exp(-r) by 24 in all; each of s <= 15 squarings takes the error e to 2 e + 2 at most, in the end 2^15 x 26 < 2^20.
    """
    P = BITS + GUARD
    x = (numerator << P) // denominator
    if x >> P >= BITS:  # exp(-BITS) < 2^-BITS
        return 0
    s, y, term, k = max(0, x.bit_length() - P + 8), 0, 1 << P, 0
    while term:
        y, k = y + (-term if k & 1 else term), k + 1
        term = term * (x >> s) // (k << P)
    for _ in range(s):
        y = y * y >> P
    return y >> GUARD


def read(data: bytes) -> Any:
    """JSON without NaN, infinities, integers of thousands of digits, depths, or keys that occur twice."""
    require(len(data) <= LARGEST_FILE, "the file is too large")
    try:
        return json.loads(data, parse_constant=rational, object_pairs_hook=once)
    except RecursionError:
        raise ValueError("the file is nested too deeply") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), "a key occurs twice")
    return dict(pairs)


def fields(given: Any, *names: str) -> list[Any]:
    require(isinstance(given, dict) and set(given) == set(names), f"there must be an object of {', '.join(names)}")
    return [given[name] for name in names]


def array(given: Any, length: int | None = None) -> list[Any]:
    require(isinstance(given, list) and length in (None, len(given)), f"there must be an array{f' of {length}' if length else ''}")
    return list(given)


def index(v: Any, count: int) -> int:
    require(type(v) is int and 0 <= v < count, "an index is out of range")
    return int(v)


def rational(v: Any) -> Fraction:
    """A number as the rational that its double is, or the text p or p/q of integers, decimal or 0x..."""
    p, q = ([int(part, 0) for part in f"{v}/1".split("/")[:2]]) if isinstance(v, str) else (v, 1)
    require((type(p) is int and p.bit_length() <= LONGEST) or (type(p) is float and math.isfinite(p)), "a number is missing, or infinite")
    require(0 < q < 2**LONGEST, "a denominator is not positive, or too long")
    return Fraction(p) / q


def bound(v: Any) -> Fraction | float:
    return float(v) if v in ("inf", "-inf") else rational(v)


def grid(values: Iterable[Any]) -> tuple[list[int], int]:
    """Numbers as integers over their common denominator."""
    ratios, unit = [(v if isinstance(v, Fraction) else rational(v)).as_integer_ratio() for v in values], 1
    for d in {d for _, d in ratios}:
        unit = math.lcm(unit, d)
        require(unit.bit_length() <= LONGEST, "a common denominator is too long")
    return [n * (unit // d) for n, d in ratios], unit


def longest(values: Iterable[int]) -> int:
    return max(map(abs, values), default=0).bit_length()


def affordable(products: int, bits: int) -> None:
    require(products * (50 + (bits // 60) ** 2) <= MOST_WORK, "this is more arithmetic than the checker does")


def sha256(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def main(paths: Sequence[str]) -> int:
    """Check the files, a line each."""
    status = 0 if paths else 2
    for path in paths:
        try:
            with open(path, "rb") as file:
                family, lower, upper = check(file.read(LARGEST_FILE + 1))
            held = "no point is feasible" if lower == math.inf else f"the optimum is in [{float(lower)!r}, {float(upper)!r}]"
            print(f"{path}: ACCEPTED: {family}: {held}")
        except (ValueError, OverflowError) as reason:
            print(f"{path}: REJECTED: {reason}")
            status = max(status, 1)
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else "usage: python3 -I checker.py FILE...")
