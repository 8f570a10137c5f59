"""Independent check of equivalence proofs, on programs of rational polynomials.

A proof is a sequence of steps for each of two programs, after which they must be equal.
A polynomial is a dict from sorted tuples of variables to Fractions; () is the constant.
A program is an objective, a list of polynomials that are 0 and a list of polynomials
that are at most 0. The check uses neither the search for proofs nor the `apply` method
of steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from equimargin.formulations.programs import Program
from equimargin.proofs.equivalence import Reason

Polynomial = dict[tuple[int, ...], Fraction]


class Replay:
    """Program as polynomials, with a method that checks and applies each kind of step."""

    def __init__(self, program: Program) -> None:
        rows = [
            *zip(program.A.rows, program.b, strict=True),
            *zip(program.G.rows, program.h, strict=True),
        ]
        affine = [clean({(): -end, **{(j,): v for j, v in row.items()}}) for row, end in rows]
        self.unknowns = list(range(program.n))
        self.equations, self.inequalities = affine[: len(program.b)], affine[len(program.b) :]
        self.objective: Polynomial = clean(
            {(): program.c, **{(j,): v for j, v in enumerate(program.q)}}
        )
        for i, row in enumerate(program.P.rows):
            for j, v in row.items():
                self.objective = plus(self.objective, {tuple(sorted((i, j))): v / 2})
        self.sign, self.fresh = 1, program.n

    def take(self, step: Any) -> None:
        getattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", type(step).__name__).lower())(step)

    def elimination(self, step: Any) -> None:
        x, equation = self.unknowns[step.unknown], self.equations.pop(step.equation)
        pivot = equation[(x,)]
        self._substitute(x, times({m: v for m, v in equation.items() if m != (x,)}, -1 / pivot))
        self.unknowns.remove(x)

    def partial_minimization(self, step: Any) -> None:
        x = self.unknowns[step.unknown]
        assert not any((x,) in row for row in (*self.equations, *self.inequalities))
        curvature = self.objective.get((x, x), Fraction(0))
        slope: Polynomial = {}
        for m, v in self.objective.items():
            if x in m and m != (x, x):
                rest = list(m)
                rest.remove(x)
                slope = plus(slope, {tuple(rest): v})
        assert curvature > 0 or (curvature == 0 and not slope)
        if curvature > 0:
            self._substitute(x, times(slope, -1 / (2 * curvature)))
        self.unknowns.remove(x)

    def dominated_column(self, step: Any) -> None:
        x = self.unknowns[step.unknown]
        assert not any((x,) in row for row in self.equations)
        assert [row for row in self.inequalities if (x,) in row] == [
            row for row in self.inequalities if self._lower(x, row)
        ]
        assert any(self._lower(x, row) and row.get((), 0) == 0 for row in self.inequalities)
        for m, v in self.objective.items():
            if x in m:
                assert v > 0
                assert all(any(self._lower(other, row) for row in self.inequalities) for other in m)
        self.inequalities = [row for row in self.inequalities if (x,) not in row]
        self._substitute(x, {})
        self.unknowns.remove(x)

    def forcing_constraint(self, step: Any) -> None:
        equation = self.equations.pop(step.equation)
        assert equation
        assert () not in equation
        assert len({v > 0 for v in equation.values()}) == 1
        assert all(any(self._lower(x, row) for row in self.inequalities) for (x,) in equation)
        for (x,) in equation:
            self._substitute(x, {})
            self.unknowns.remove(x)

    def projection(self, step: Any) -> None:
        x = self.unknowns[step.unknown]
        assert not any((x,) in row for row in self.equations)
        assert not any(x in m for m in self.objective)
        with_x = [row for row in self.inequalities if (x,) in row]
        self.inequalities = [row for row in self.inequalities if (x,) not in row]
        scaled = [times(row, 1 / abs(row[(x,)])) for row in with_x]
        upper, lower = ([row for row in scaled if row[(x,)] == sign] for sign in (1, -1))
        self.inequalities += [plus(one, other) for one in upper for other in lower]
        self.unknowns.remove(x)

    def empty_row(self, step: Any) -> None:
        assert self.equations.pop(step.equation) == {}

    def redundant_constraint(self, step: Any) -> None:
        rest = self.inequalities[step.row]
        if step.by is not None:
            assert step.by != step.row
            assert number(step.times) > 0
            rest = plus(rest, times(self.inequalities[step.by], -number(step.times)))
        assert set(rest) <= {()}
        assert rest.get((), Fraction(0)) <= 0
        del self.inequalities[step.row]

    def implicit_equality(self, step: Any) -> None:
        row, other = self.inequalities[step.row], self.inequalities[step.other]
        assert number(step.times) > 0
        assert step.row != step.other
        assert plus(other, times(row, number(step.times))) == {}
        self.inequalities = [
            each for r, each in enumerate(self.inequalities) if r not in (step.row, step.other)
        ]
        self.equations.append(row)

    def variable_shift(self, step: Any) -> None:
        x = self.unknowns[step.unknown]
        self._substitute(x, {(x,): Fraction(1), (): number(step.by)})

    def objective_map(self, step: Any) -> None:
        assert number(step.factor) > 0
        self.objective = plus(times(self.objective, number(step.factor)), {(): number(step.offset)})

    def lagrangian_dual(self, step: Any) -> None:
        quadratic: Polynomial = {m: v for m, v in self.objective.items() if len(m) == 2}
        assert_semidefinite(quadratic)
        curved = [x for x in self.unknowns if any(x in m for m in quadratic)]
        multipliers = [self.fresh + k for k in range(len(self.equations) + len(self.inequalities))]
        self.fresh += len(multipliers)
        rows = [*self.equations, *self.inequalities]
        stationary = []
        for x in self.unknowns:
            condition: Polynomial = {(): self.objective.get((x,), Fraction(0))}
            for m, v in quadratic.items():
                if x in m:
                    condition = plus(
                        condition, {(m[0] if m[1] == x else m[1],): v * (2 if m == (x, x) else 1)}
                    )
            for row, z in zip(rows, multipliers, strict=True):
                condition = plus(condition, {(z,): row.get((x,), Fraction(0))})
            stationary.append(clean(condition))
        linear: Polynomial = {
            (z,): -row.get((), Fraction(0)) for row, z in zip(rows, multipliers, strict=True)
        }
        self.objective = plus(quadratic, {**linear, (): -self.objective.get((), Fraction(0))})
        self.unknowns = [*curved, *multipliers]
        self.inequalities = [{(z,): Fraction(-1)} for z in multipliers[len(self.equations) :]]
        self.equations = stationary
        self.sign = -self.sign

    def rename(self, names: Iterable[tuple[int, Fraction]]) -> None:
        """Substitute x_j = scale z_k for the variables, in their order.

        The variables z_k have negative numbers, which no other variable has.
        """
        for x, (k, scale) in zip(list(self.unknowns), names, strict=True):
            assert scale != 0
            self._substitute(x, {(-1 - k,): scale})

    def _lower(self, x: int, row: Polynomial) -> bool:
        """Return True if an inequality is a nonnegative lower bound of x."""
        return (
            set(row) <= {(x,), ()}
            and row.get((x,), Fraction(0)) < 0
            and row.get((), Fraction(0)) >= 0
        )

    def _substitute(self, x: int, by: Polynomial) -> None:
        self.objective = substituted(self.objective, x, by)
        self.equations = [substituted(row, x, by) for row in self.equations]
        self.inequalities = [substituted(row, x, by) for row in self.inequalities]


def assert_replays(reason: Reason, first: Program, second: Program, opposite: bool) -> None:
    """Assert that the steps of a proof make two programs equal.

    `opposite` is True if the optima of the two programs have opposite signs.
    """
    one, other = Replay(first), Replay(second)
    for replay, steps in ((one, reason.first), (other, reason.second)):
        for step in steps:
            replay.take(step)
    assert (one.sign != other.sign) == opposite
    renaming = reason.renaming
    assert sorted(renaming.order) == list(range(len(other.unknowns)))
    one.rename(zip(renaming.order, map(number, renaming.scales), strict=True))
    other.rename((k, Fraction(1)) for k in range(len(other.unknowns)))
    assert one.objective == other.objective
    assert sorted(r for r, _ in renaming.rows) == list(range(len(other.inequalities)))
    for row, (r, factor) in zip(one.inequalities, renaming.rows, strict=True):
        assert number(factor) > 0
        assert row == times(other.inequalities[r], number(factor))
    for combinations, these, those in (
        (renaming.equations, one, other),
        (renaming.back, other, one),
    ):
        for combination, equation in zip(combinations, these.equations, strict=True):
            combined: Polynomial = {}
            for v, each in zip(combination, those.equations, strict=True):
                combined = plus(combined, times(each, number(v)))
            assert combined == equation


def assert_semidefinite(quadratic: Polynomial) -> None:
    """Assert that x'Hx is a sum of squares, by completing squares."""
    while quadratic:
        squares = [m for m in quadratic if m[0] == m[1]]
        assert squares, "a product without squares is negative somewhere"
        x, c = squares[0][0], quadratic[squares[0]]
        assert c > 0
        half = {
            (m[0] if m[1] == x else m[1],): v / 2
            for m, v in quadratic.items()
            if x in m and m != (x, x)
        }
        quadratic = {m: v for m, v in quadratic.items() if x not in m}
        for (i,), v in half.items():
            for (j,), w in half.items():
                quadratic = plus(quadratic, {tuple(sorted((i, j))): -v * w / c})


def substituted(p: Polynomial, x: int, by: Polynomial) -> Polynomial:
    """Substitute an affine expression for x in a polynomial of degree at most 2."""
    found: Polynomial = {m: v for m, v in p.items() if x not in m}
    for m, v in p.items():
        if x not in m:
            continue
        product: Polynomial = {(): v}
        for name in m:
            own: Polynomial = {(name,): Fraction(1)}
            product = multiplied(product, by if name == x else own)
        found = plus(found, product)
    return clean(found)


def multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for m, v in p.items():
        for k, w in q.items():
            found = plus(found, {tuple(sorted((*m, *k))): v * w})
    return found


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    return clean({m: p.get(m, Fraction(0)) + q.get(m, Fraction(0)) for m in {**p, **q}})


def times(p: Polynomial, factor: Fraction) -> Polynomial:
    return clean({m: v * factor for m, v in p.items()})


def clean(p: Polynomial) -> Polynomial:
    return {m: v for m, v in p.items() if v != 0}


def number(v: Any) -> Fraction:
    return Fraction(int(v.p), int(v.q))
