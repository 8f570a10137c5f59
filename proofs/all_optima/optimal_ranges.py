"""Minimum and maximum of every variable over all optima of a formulation, in rationals.

The optima of min 1/2 x'Px + q'x are the feasible points x with P x = P x* and
q'x = q'x*, for any one optimum x*.

For a positive semidefinite P the gradient is equal at all optima, so that the optimal
set is a polyhedron, and the minimum and maximum of a variable on it are two linear
programs. The variable is unique if its minimum equals its maximum.

References
----------
O. L. Mangasarian, A simple characterization of solution sets of convex programs,
Operations Research Letters 7 (1988).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, dot
from equimargin.proofs.equivalence.stated import SECONDS, stated
from equimargin.solvers.exact.program import Optimum, Outcome, UnboundedProgram, program_optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime


class Range(NamedTuple):
    """Minimum and maximum of a number over all optima; None if infinite."""

    low: Fraction | None
    high: Fraction | None

    @property
    def unique(self) -> bool:
        """True if the number is equal at every optimum."""
        return self.low is not None and self.low == self.high

    def __str__(self) -> str:
        if self.unique:
            return str(self.low)
        return (
            f"{'(-inf' if self.low is None else f'[{self.low}'}, "
            f"{'inf)' if self.high is None else f'{self.high}]'}"
        )


@dataclass(frozen=True)
class OptimalRanges(Mapping[str, tuple[Range, ...]]):
    """Ranges of the variables of a formulation over its optima; `str` gives a line for each.

    Parameters
    ----------
    id : str
        Id of the formulation.
    value : Fraction
        Optimum, in units of the formulation's objective.
    ranges : Mapping[str, tuple[Range, ...]]
        Ranges of the entries of each variable, by its name.
    """

    id: str
    value: Fraction
    ranges: Mapping[str, tuple[Range, ...]]

    def __getitem__(self, name: str) -> tuple[Range, ...]:
        return self.ranges[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ranges)

    def __len__(self) -> int:
        return len(self.ranges)

    def unique(self, name: str) -> bool:
        """Return True if a variable has one value at all optima.

        Parameters
        ----------
        name : str
            Name of the variable.
        """
        return all(range.unique for range in self.ranges[name])

    def __str__(self) -> str:
        return "\n".join(
            f"{name} = {', '.join(map(str, ranges))}" for name, ranges in self.ranges.items()
        )


def optimal_ranges(id: str, problem: Any, seconds: float = SECONDS) -> OptimalRanges:
    """Return the minimum and maximum of every variable over all optima of a formulation.

    Parameters
    ----------
    id : str
        Id of the formulation.
    problem : problem of any kind
        Problem of its family. It must be small, because two exact linear programs are
        solved for every entry of a variable.
    seconds : float, default SECONDS
        Time limit in seconds.

    Returns
    -------
    OptimalRanges
        Ranges of the variables that the formulation declares, by name.

    Raises
    ------
    KeyError
        If the id is unknown.
    ValueError
        If the formulation rejects the data; if the problem has no optimum, or
        second-order cones, whose optima are no polyhedron; or if the time limit does
        not suffice.

    References
    ----------
    Mangasarian (1988), Theorem 1 and Corollary 2.
    """
    clock = Clock(positive(seconds, "seconds"))
    try:
        posed = stated(id, problem, "fractions", clock)
        program, outcome = posed.program, posed.outcome
        if not isinstance(outcome, Optimum):
            raise ValueError(f"{id} has no exact optimum here: {outcome.reason}")
        optima = _optima(program, outcome)
        ends = {
            name: [_range(optima, j, clock) for j in range(program.n)[columns]]
            for name, columns in program.columns.items()
        }
    except OutOfTime as reason:
        raise ValueError(str(reason)) from None
    return OptimalRanges(
        id, program.stated(outcome.value), {name: tuple(ranges) for name, ranges in ends.items()}
    )


def _optima(program: Program, found: Optimum) -> Program:
    """Return a program without objective whose feasible points are the optima of `program`."""
    gradient = [
        (row, value)
        for row, value in zip(program.P.rows, program.P.times(found.x), strict=True)
        if row
    ]
    cost = {j: entry for j, entry in enumerate(program.q) if entry}
    equations = [*gradient, (cost, dot(program.q, found.x))] if cost else gradient
    A = Matrix((*program.A.rows, *(row for row, _ in equations)), program.n)
    b = (*program.b, *(value for _, value in equations))
    zero = Matrix(tuple({} for _ in range(program.n)), program.n)
    return replace(
        program, P=zero, q=(Fraction(0),) * program.n, A=A, b=b, c=Fraction(0), maximised=False
    )


def _range(optima: Program, j: int, clock: Clock) -> Range:
    """Return the range of variable j over a nonempty polyhedron."""
    low, high = (_least(optima, j, sign, clock) for sign in (1, -1))
    return Range(low, None if high is None else -high)


def _least(optima: Program, j: int, sign: int, clock: Clock) -> Fraction | None:
    """Return the minimum of sign x_j over a nonempty polyhedron; None if it is unbounded."""
    clock.ask("the range of a variable")
    objective = tuple(Fraction(sign if i == j else 0) for i in range(optima.n))
    outcome: Outcome = program_optimum(replace(optima, q=objective), clock.left)
    if isinstance(outcome, UnboundedProgram):
        return None
    if not isinstance(outcome, Optimum):
        raise ValueError(f"the range of a variable was not found: {outcome.reason}")
    return outcome.value
