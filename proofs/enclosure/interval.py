"""Proven interval of the optimum of a convex program, from a solution in floats.

    lower <= optimum <= upper

A dual feasible point proves the lower bound, a feasible point the upper one; their
feasibility is checked in rational numbers. Four methods are tried in turn for each
bound: the exact optimum on the active face of the solution; a point on the active face
from which the residual is removed (`lower`, `upper`); a convex combination with an
interior point; and, for the lower bound, bounds on |x_j| that the user knows. A bound
that no method proves is infinite. Programs with second-order cones have no exact
optimum on a face; membership in the cones is tested in rational numbers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Literal, TypeVar

import numpy as np

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.formulations.programs.reading import READINGS, read
from equimargin.proofs.checker import outward
from equimargin.proofs.enclosure import lower, upper
from equimargin.proofs.enclosure.lower import Dual
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import Pair
from equimargin.solvers.exact.program.floats import FloatSolution, floats, on_grid, solve_in_floats
from equimargin.solvers.exact.program.parametric import optimum_near
from equimargin.solvers.exact.program.semidefinite import semidefinite

Way = Literal["exact face", "residual", "slater", "box", "nothing"]
"""Method that proved a bound; "nothing" if none did."""
SHARE = 0.5
"""Share of the remaining time that a method may use."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Proven interval of the optimum of a program.

    Parameters
    ----------
    program : Program
        Program of the optimum. If the user's box |x_j| <= r_j proved the lower bound,
        the rows of the box precede the program's own.
    lower, upper : Fraction or float
        Bounds, -inf and inf if not proven; if lower > upper, no optimal point is in the
        box.
    lower_by : Way
        Method that proved the lower bound.
    upper_by : Way
        Method that proved the upper bound.
    dual : Dual or None
        x, y and z that prove the lower bound, or None.
    primal : Vector or None
        x that proves the upper bound, or None; it may be outside the box.
    semidefinite : str
        Argument that P is positive semidefinite.
    """

    program: Program = field(repr=False)
    # Python prints no integer of thousands of digits.
    lower: Fraction | float = field(repr=False)
    upper: Fraction | float = field(repr=False)
    lower_by: Way
    upper_by: Way
    dual: Dual | None = field(repr=False)
    primal: Vector | None = field(repr=False)
    semidefinite: str

    @property
    def statement(self) -> str:
        """Sentence with the proven interval, its methods, and the interpretation of floats.

        The interval is that of the declared problem, rounded outward.
        """
        return f"{self._proven}; {READINGS[self.program.reading]}"

    @property
    def _proven(self) -> str:
        sign = -1 if self.program.maximised else 1
        least, most = outward(sign * self.lower, -sign), outward(sign * self.upper, sign)
        # Every point of the box is worse than the point that proves the upper bound.
        if self.lower > self.upper:
            side = "least" if self.program.maximised else "most"
            return (
                f"the optimum is at {side} {most} (by {self.upper_by}), and no optimal point is "
                f"within the given box"
            )
        (low, low_by), (high, high_by) = ((least, self.lower_by), (most, self.upper_by))[::sign]
        box = ", if every |x_j| is within the given box" if self.lower_by == "box" else ""
        return f"the optimum is between {low} and {high} (by {low_by} and {high_by}){box}"


def enclosure(
    program: Program,
    point: tuple[Array, Array, Array] | None = None,
    box: Sequence[float | Fraction] | None = None,
    seconds: float = 60.0,
) -> Enclosure:
    """Return the interval of the optimum that points near a float solution prove.

    Parameters
    ----------
    program : Program
        Any convex program.
    point : tuple[Array, Array, Array], optional
        x (n,), y (m,) and z (r,) in floats; Clarabel's by default.
    box : sequence of float or Fraction, of shape (n,), optional
        r such that an optimal x with |x_j| <= r_j exists, as the user knows.
    seconds : float, default 60.0
        Time limit in seconds.

    Returns
    -------
    Enclosure
        Interval with infinite ends if nothing is proven within the time.

    Raises
    ------
    ValueError
        If P is not positive semidefinite, or not proven so in time; if the point or box
        has another size; or if the time limit is not positive.
    """
    clock = Clock(positive(seconds, "seconds"))
    radii = None if box is None else _radii(program, box)
    try:
        convex = semidefinite(program.P, clock)
    except OutOfTime as reason:
        raise ValueError(f"P is not proven to be positive semidefinite: {reason}") from None
    # With second-order cones there is no exact optimum on a face.
    start = _start(program, point, clock)
    face = (
        None if program.cones else _timely(lambda part: optimum_near(program, start, part), clock)
    )
    if isinstance(face, Pair) and program.is_optimal(face.x, face.y, face.z):
        value = program.objective(face.x)
        return Enclosure(
            program,
            value,
            value,
            "exact face",
            "exact face",
            (face.x, face.y, face.z),
            face.x,
            convex,
        )
    dual, lower_by = _first(_lower_ways(program, start), clock)
    bounded = program
    if dual is None and radii is not None:
        bounded = boxed(program, radii)
        start = _within_box(bounded, start, clock) if point is None else start
        dual, lower_by = lower.by_box(program, start), "box"
    primal, upper_by = _first(_upper_ways(program, start), clock)
    return Enclosure(
        bounded,
        -inf if dual is None else bounded.dual_objective(*dual),
        inf if primal is None else program.objective(primal),
        lower_by,
        upper_by,
        dual,
        primal,
        convex,
    )


def boxed(program: Program, box: Sequence[float | Fraction]) -> Program:
    """Return the program with the rows x_j <= r_j and then -x_j <= r_j before its own.

    Parameters
    ----------
    program : Program
        Program of n variables.
    box : sequence of float or Fraction, of shape (n,)
        r, at least 0.

    Raises
    ------
    ValueError
        If the box has another size, or has a negative or infinite number.
    """
    radii, n = _radii(program, box), program.n
    rows = (*({j: Fraction(1)} for j in range(n)), *({j: Fraction(-1)} for j in range(n)))
    return replace(program, G=Matrix((*rows, *program.G.rows), n), h=(*radii, *radii, *program.h))


def _radii(program: Program, box: Sequence[float | Fraction]) -> Vector:
    if len(box) != program.n:
        raise ValueError(
            f"the box has {len(box)} numbers, and the program {program.n} variables: give "
            f"one r_j with |x_j| <= r_j for each"
        )
    radii = tuple(read(r) for r in box)
    if any(r < 0 for r in radii):
        raise ValueError("a number of the box is negative: give r_j with |x_j| <= r_j")
    return radii


def _start(
    program: Program, point: tuple[Array, Array, Array] | None, clock: Clock
) -> FloatSolution:
    """Return the given point, or Clarabel's if none is given; 0 if it is not finite."""
    solution = solve_in_floats(program, clock) if point is None else _with_slack(program, *point)
    if solution is not None and solution.finite:
        return solution
    rows = np.zeros(len(program.h))
    return FloatSolution(np.zeros(program.n), np.zeros(len(program.b)), rows, rows)


def _with_slack(program: Program, x: Array, y: Array, z: Array) -> FloatSolution:
    """Return a point in floats as a solution, with its slack computed from x."""
    sizes = (len(x), len(y), len(z))
    if sizes != (program.n, len(program.b), len(program.h)):
        wanted = f"x, y and z of {program.n}, {len(program.b)} and {len(program.h)} numbers"
        raise ValueError(
            f"the point has {sizes[0]}, {sizes[1]} and {sizes[2]} numbers, and the program "
            f"needs {wanted}"
        )
    return FloatSolution(
        np.asarray(x), np.asarray(y), np.asarray(z), floats(program.slack(on_grid(x)))
    )


def _within_box(bounded: Program, start: FloatSolution, clock: Clock) -> FloatSolution:
    """Return Clarabel's solution of a program with a box, without the rows of the box.

    If Clarabel finds none, return `start`.
    """
    solution, added = solve_in_floats(bounded, clock), 2 * bounded.n
    return (
        start
        if solution is None or not solution.finite
        else FloatSolution(solution.x, solution.y, solution.z[added:], solution.s[added:])
    )


def _lower_ways(
    program: Program, start: FloatSolution
) -> dict[Way, Callable[[Clock], Dual | None]]:
    return {
        "residual": lambda clock: lower.by_residual(program, start, clock),
        "slater": lambda clock: lower.by_slater(program, start, clock),
    }


def _upper_ways(
    program: Program, start: FloatSolution
) -> dict[Way, Callable[[Clock], Vector | None]]:
    return {
        "residual": lambda clock: upper.by_residual(program, start, clock),
        "slater": lambda clock: upper.by_slater(program, start, clock),
    }


def _first(ways: dict[Way, Callable[[Clock], T | None]], clock: Clock) -> tuple[T | None, Way]:
    """Return the result of the first method that has one, and the method's name."""
    for name, way in ways.items():
        result = _timely(way, clock)
        if result is not None:
            return result, name
    return None, "nothing"


def _timely(way: Callable[[Clock], T | None], clock: Clock) -> T | None:
    """Return the result of a method within SHARE of the time left, or None."""
    try:
        return way(Clock(SHARE * clock.left))
    except OutOfTime:
        return None
