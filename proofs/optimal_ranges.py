"""All optima of a formulation, not one of them: the least and the greatest value of every unknown, in rational numbers.

    The optima of  min 1/2 x'Px + q'x  are the feasible points with  P x = P x*  and  q'x = q'x*,  at any one optimum x*.

For a positive semidefinite P the gradient is the same at all optima, so that what is
optimal is a polyhedron, and the ends of an unknown on it are two linear programs. An
unknown is unique where they are equal.

Source: O. L. Mangasarian, A simple characterization of solution sets of convex
programs, Operations Research Letters 7 (1988).
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
from equimargin.solvers.exact.program import Optimum, Outcome, Unbounded, program_optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime


class Range(NamedTuple):
    """The ends of a number over all optima; None for an end at infinity."""

    low: Fraction | None
    high: Fraction | None

    @property
    def unique(self) -> bool:
        """Whether the number is the same at every optimum."""
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
    """What the unknowns of a formulation may be at its optima: `str` prints a line for each.

    Parameters
    ----------
    id : str
        The formulation.
    value : Fraction
        Its optimum, in its own units.
    ranges : Mapping[str, tuple[Range, ...]]
        Of the numbers of each unknown, by its name.
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
        """Whether an unknown is the same at every optimum."""
        return all(range.unique for range in self.ranges[name])

    def __str__(self) -> str:
        return "\n".join(
            f"{name} = {', '.join(map(str, ranges))}" for name, ranges in self.ranges.items()
        )


def optimal_ranges(id: str, problem: Any, seconds: float = SECONDS) -> OptimalRanges:
    """The ends of every unknown over all optima of a formulation.

    Parameters
    ----------
    id : str
        Of the formulation.
    problem : Any
        Of its family; small, because every number is the unknown of two exact linear
        programs.
    seconds : float
        The time limit.

    Returns
    -------
    OptimalRanges
        The unknowns that the formulation declares, by name.

    Raises
    ------
    KeyError
        An unknown id.
    ValueError
        Data that the formulation refuses; a problem without an optimum, or with
        second-order cones, whose optima are no polyhedron; a time limit that does not
        suffice.

    Source: Mangasarian (1988), Theorem 1 and Corollary 2.
    """
    clock = Clock(positive(seconds, "seconds"))
    try:
        posed = stated(id, problem, "fractions", clock)
        program, found = posed.program, posed.outcome
        if not isinstance(found, Optimum):
            raise ValueError(f"{id} has no exact optimum here: {found.reason}")
        optima = _optima(program, found)
        ends = {
            name: [_range(optima, j, clock) for j in range(program.n)[columns]]
            for name, columns in program.columns.items()
        }
    except OutOfTime as reason:
        raise ValueError(str(reason)) from None
    return OptimalRanges(
        id, program.stated(found.value), {name: tuple(ranges) for name, ranges in ends.items()}
    )


def _optima(program: Program, found: Optimum) -> Program:
    """The program without an objective whose feasible points are all optima of another."""
    gradient = [
        (row, value)
        for row, value in zip(program.P.rows, program.P.times(found.x), strict=True)
        if row
    ]
    cost = {j: entry for j, entry in enumerate(program.q) if entry}
    equations = [*gradient, (cost, dot(program.q, found.x))] if cost else gradient
    A = Matrix((*program.A.rows, *(row for row, _ in equations)), program.n)
    b = (*program.b, *(value for _, value in equations))
    nothing = Matrix(tuple({} for _ in range(program.n)), program.n)
    return replace(
        program, P=nothing, q=(Fraction(0),) * program.n, A=A, b=b, c=Fraction(0), maximised=False
    )


def _range(optima: Program, j: int, clock: Clock) -> Range:
    """The ends of the unknown j over a polyhedron that is not empty."""
    low, high = (_least(optima, j, sign, clock) for sign in (1, -1))
    return Range(low, None if high is None else -high)


def _least(optima: Program, j: int, sign: int, clock: Clock) -> Fraction | None:
    """The least sign x_j over a polyhedron that is not empty, None where there is none."""
    clock.ask("an end of an unknown")
    objective = tuple(Fraction(sign if i == j else 0) for i in range(optima.n))
    outcome: Outcome = program_optimum(replace(optima, q=objective), clock.left)
    if isinstance(outcome, Unbounded):
        return None
    if not isinstance(outcome, Optimum):
        raise ValueError(f"an end of an unknown was not found: {outcome.reason}")
    return outcome.value
