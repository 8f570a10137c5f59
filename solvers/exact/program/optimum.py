"""The exact optimum of a convex quadratic or linear program, or an exact ray where it has none.

A solution in floats says which inequalities are tight; the optimum on that face is
computed in rationals and mended (`face`), or reached from there by exact pivots
(`parametric`), which may also end in a ray. Where all that finds nothing, two linear
programs say whether the program is infeasible or unbounded (`rays`), and exact pivots
find the optimum of a small one (`criss_cross`). Whatever is returned has been checked:
a feasible point and feasible multipliers with equal values, or a ray.

Source: R. T. Rockafellar, Convex Analysis (1970), for the three cases; G. Gaertner, S.
Schoenherr, An efficient, exact, and generic quadratic programming solver (2000), for
exact optima of small programs.
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
"""Why nothing was decided: second-order cones, a P that is not semidefinite, the time limit, or no face with the optimum was found."""
NO_FACE = (
    "no face of the solution in floats is optimal, nor one that pivots from there reach in half "
    "of the time"
)
"""What is said of a program whose optimum is not found near a solution in floats."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """An optimum in rational numbers.

    Parameters
    ----------
    value : Fraction
        The optimum of the program, which is minus that of a problem stated as a
        maximisation.
    x : ndarray of shape (n,)
        An optimal point.
    y, z : ndarray of shape (m,)
        And (r,) optimal multipliers.
    semidefinite : str
        How P is known to be positive semidefinite.
    reason : str
        How it was found.
    """

    value: Fraction = field(repr=False)  # Python prints no integer of thousands of digits
    x: Vector = field(repr=False)
    y: Vector = field(repr=False)
    z: Vector = field(repr=False)
    semidefinite: str
    reason: str


@dataclass(frozen=True, eq=False)
class Infeasible:
    """No point is feasible: A'y + G'z = 0, z >= 0 and b'y + h'z < 0.

    Parameters
    ----------
    y, z : ndarray of shape (m,)
        And (r,).
    reason : str
        How it was found.
    """

    y: Vector = field(repr=False)
    z: Vector = field(repr=False)
    reason: str


@dataclass(frozen=True, eq=False)
class Unbounded:
    """The objective has no lower bound: x is feasible, and P d = 0, A d = 0, G d <= 0 and q'd < 0.

    Parameters
    ----------
    x, ray : ndarray of shape (n,)
        The point and the direction d.
    reason : str
        How it was found.
    """

    x: Vector = field(repr=False)
    ray: Vector = field(repr=False)
    reason: str


@dataclass(frozen=True)
class Inconclusive:
    """Nothing is known of the optimum.  cause : in a word, for counting.  reason : in a sentence."""

    cause: Cause
    reason: str


Outcome = Optimum | Infeasible | Unbounded | Inconclusive
"""What can become of a program."""


def program_optimum(program: Program, seconds: float = 60.0) -> Outcome:
    """The exact optimum of a program, or an exact ray.

    Parameters
    ----------
    program : Program
        Any; one with second-order cones, or with a P that is not positive semidefinite,
        is left undecided.
    seconds : float
        The time limit.

    Returns
    -------
    Optimum, Infeasible or Unbounded, all their conditions checked in rational numbers; Inconclusive with the reason otherwise.

    Raises
    ------
    ValueError
        A time limit that is not positive.
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
        return Unbounded(
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
        return Unbounded(
            x, steepest.x, "a feasible point and a ray along which the objective decreases for ever"
        )
    pair = optimum_by_pivots(program, clock)
    if pair is None:
        size = (
            f"its {program.n} unknowns and {len(program.b) + len(program.h)} rows are too many "
            f"for a dictionary"
        )
        return Inconclusive(
            "no face", f"{NO_FACE}, and {size} (at most {LARGEST_DICTIONARY} together)"
        )
    return _verified(program, pair, convex, "exact pivots")


def _near_floats(program: Program, clock: Clock) -> Pair | UnboundedDirection | None:
    """The optimum on a face near the solution in floats, or some pivots away, or the ray that these end in."""
    floats = solve_in_floats(program, clock)
    if floats is None or not floats.finite or floats.says_infeasible or floats.says_unbounded:
        return None
    return optimum_near(program, floats, clock)


def _attained(program: Program, clock: Clock) -> Pair | None:
    """The optimum of a program that has one; None where it is not found."""
    near = _near_floats(program, clock)
    return near if isinstance(near, Pair) else optimum_by_pivots(program, clock)


def _verified(program: Program, pair: Pair, convex: str, reason: str) -> Optimum:
    """The optimum, once both sides of weak duality have been checked to be feasible and equal."""
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
    """Refuse to return what is not proven: it is a mistake of the algorithm, not of its input."""
    if not holds:
        raise ArithmeticError(
            "an exact optimum or ray does not satisfy its conditions: please report the program"
        )
