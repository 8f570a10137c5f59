"""Exact optimum of a convex quadratic or linear program, or an exact ray without one.

A float solution determines which inequalities are tight; the optimum on that face is
computed in rationals and corrected (`face`), or reached from there by exact pivots
(`parametric`), which may also end in a ray. If this finds nothing, two linear programs
decide if the program is infeasible or unbounded (`rays`), and exact pivots find the
optimum of a small one (`criss_cross`). Every result has been checked: a feasible point
and feasible multipliers with equal values, or a ray.

References
----------
R. T. Rockafellar. Convex Analysis. 1970 (the three cases).

G. Gaertner, S. Schoenherr. An efficient, exact, and generic quadratic programming
solver. 2000 (exact optima of small programs).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Vector
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.criss_cross import LARGEST_DICTIONARY, optimum_by_pivots
from equimargin.solvers.exact.program.face import Pair
from equimargin.solvers.exact.program.floats import solve_in_floats
from equimargin.solvers.exact.program.parametric import UnboundedDirection, optimum_near
from equimargin.solvers.exact.program.rays import farkas_ray, recession, violation
from equimargin.solvers.exact.program.semidefinite import semidefinite

Cause = Literal["cones", "not convex", "time", "no face"]
"""Cause of an undecided result.

Second-order cones, a P that is not semidefinite, the time limit, or no face with the
optimum was found.
"""
NO_FACE = (
    "no face of the float solution is optimal, nor any face that pivots from it reach in half "
    "of the time"
)
"""Message for a program whose optimum is not found near a float solution."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Optimum in rational numbers.

    Parameters
    ----------
    value : Fraction
        Optimal value of the program, which is minus that of a problem stated as a
        maximisation.
    x : Vector of shape (n,)
        Optimal point.
    y : Vector of shape (m,)
        Optimal multipliers of the equations.
    z : Vector of shape (r,)
        Optimal multipliers of the inequalities.
    semidefinite : str
        Reason why P is known to be positive semidefinite.
    reason : str
        Method by which it was found.
    """

    value: Fraction = field(repr=False)  # Python prints no integer of thousands of digits
    x: Vector = field(repr=False)
    y: Vector = field(repr=False)
    z: Vector = field(repr=False)
    semidefinite: str
    reason: str


@dataclass(frozen=True, eq=False)
class Infeasible:
    """Certificate that no point is feasible: A'y + G'z = 0, z >= 0 and b'y + h'z < 0.

    Parameters
    ----------
    y : Vector of shape (m,)
        Multipliers of the equations.
    z : Vector of shape (r,)
        Multipliers of the inequalities.
    reason : str
        Method by which it was found.
    """

    y: Vector = field(repr=False)
    z: Vector = field(repr=False)
    reason: str


@dataclass(frozen=True, eq=False)
class UnboundedProgram:
    """Certificate that the objective has no lower bound.

    x is feasible, and P d = 0, A d = 0, G d <= 0 and q'd < 0.

    Parameters
    ----------
    x : Vector of shape (n,)
        Feasible point.
    ray : Vector of shape (n,)
        Direction d.
    reason : str
        Method by which it was found.
    """

    x: Vector = field(repr=False)
    ray: Vector = field(repr=False)
    reason: str


@dataclass(frozen=True)
class Inconclusive:
    """Undecided result.

    Parameters
    ----------
    cause : Cause
        Cause as a word, for counting.
    reason : str
        Cause as a sentence.
    """

    cause: Cause
    reason: str


Outcome = Optimum | Infeasible | UnboundedProgram | Inconclusive
"""Possible results for a program."""


def program_optimum(program: Program, seconds: float = 60.0) -> Outcome:
    """Return the exact optimum of a program, or an exact ray.

    Parameters
    ----------
    program : Program
        Any program; with second-order cones, or a P that is not positive semidefinite,
        it stays undecided.
    seconds : float
        Time limit in seconds.

    Returns
    -------
    Optimum, Infeasible, UnboundedProgram or Inconclusive
        Result with all conditions checked in rational numbers; Inconclusive with the
        reason otherwise.

    Raises
    ------
    ValueError
        If the time limit is not positive.
    """
    clock = Clock(positive(seconds, "seconds"))
    if program.cones:
        return Inconclusive(
            "cones",
            "a program with second-order cones has an irrational optimum in general: bounds "
            "can be proven",
        )
    try:
        return _decided(program, semidefinite(program.P, clock), clock)
    except OutOfTime as reason:
        return Inconclusive("time", str(reason))
    except ValueError as reason:
        return Inconclusive("not convex", str(reason))


def _decided(program: Program, convex: str, clock: Clock) -> Outcome:
    near = _near_floats(program, clock)
    if isinstance(near, Pair):
        return _verified(
            program, near, convex, f"the face of the solution in floats{_mended(near)}"
        )
    if near is not None and program.is_farkas_ray(near.y, near.z):
        return Infeasible(
            near.y,
            near.z,
            "exact pivots from the face of the solution in floats end in a ray of multipliers",
        )
    # The pivots did not decide the program: minimise the violation of its constraints.
    least = _attained(violation(program), clock)
    if least is None:
        return Inconclusive(
            "no face", f"{NO_FACE}, nor one of the least violation of the constraints"
        )
    x = least.x[: program.n]
    if least.x[program.n] > 0:
        y, z = farkas_ray(program, least.z)
        _require(program.is_farkas_ray(y, z))
        return Infeasible(
            y, z, "the multipliers of the least violation of the constraints are a ray"
        )
    if near is not None and program.is_recession_ray(near.x):
        _require(program.is_feasible(x))
        return UnboundedProgram(
            x,
            near.x,
            "a feasible point, and exact pivots from the face of the solution in floats end "
            "in a ray of points",
        )
    steepest = _attained(recession(program), clock)
    if steepest is None:
        return Inconclusive("no face", f"{NO_FACE}, nor one of the steepest ray")
    if program.is_recession_ray(steepest.x):
        _require(program.is_feasible(x))
        return UnboundedProgram(
            x, steepest.x, "a feasible point and a ray along which the objective is unbounded below"
        )
    pair = optimum_by_pivots(program, clock)
    if pair is None:
        size = (
            f"its {program.n} variables and {len(program.b) + len(program.h)} rows are too many "
            f"for exact pivots from any start"
        )
        return Inconclusive(
            "no face", f"{NO_FACE}, and {size} (at most {LARGEST_DICTIONARY} together)"
        )
    return _verified(program, pair, convex, "exact pivots")


def _near_floats(program: Program, clock: Clock) -> Pair | UnboundedDirection | None:
    """Return the optimum near the float solution, the ray that pivots end in, or None."""
    floats = solve_in_floats(program, clock)
    if floats is None or not floats.finite or floats.says_infeasible or floats.says_unbounded:
        return None
    return optimum_near(program, floats, clock)


def _attained(program: Program, clock: Clock) -> Pair | None:
    """Return the optimum of a program that has one, or None if it is not found."""
    near = _near_floats(program, clock)
    return near if isinstance(near, Pair) else optimum_by_pivots(program, clock)


def _verified(program: Program, pair: Pair, convex: str, reason: str) -> Optimum:
    """Return the optimum after checking feasibility and equal primal and dual values."""
    _require(program.is_optimal(pair.x, pair.y, pair.z))
    return Optimum(program.objective(pair.x), pair.x, pair.y, pair.z, convex, reason)


def _mended(pair: Pair) -> str:
    done = (("mended", pair.mendings), ("left by exact pivots", pair.pivots))
    return "".join(
        f", {what} once" if count == 1 else f", {what} {count} times"
        for what, count in done
        if count
    )


def _require(holds: bool) -> None:
    """Raise ArithmeticError if a result is not proven: a fault of the algorithm."""
    if not holds:
        raise ArithmeticError(
            "an exact optimum or ray does not satisfy its conditions: please report the program"
        )
