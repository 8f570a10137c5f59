"""Proofs of the optimum of a formulation, on the scale of its family.

A formulation is compiled to a program in standard form. The optimum is computed exactly,
or enclosed in a proven interval, or an exact ray proves that it is infinite
(`solvers/exact/program`, `proofs/enclosure`). The value map of the formulation converts
it to the family's scale, the common units of the family's values.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, isnan
from sys import float_info
from typing import Any

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.declarations.program_problem import (
    LEAST_SECONDS,
    SECONDS,
    ProgramProblem,
)
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Vector
from equimargin.proofs.checker import outward
from equimargin.proofs.enclosure import Enclosure, enclosure
from equimargin.proofs.program.determined import (
    determined,
    with_pairs_as_equations,
    with_values,
    without_constant,
)
from equimargin.proofs.program.rounding import image_of_move, moved_by_rounding, shortened
from equimargin.solvers.exact.program import Infeasible, Optimum, UnboundedProgram, program_optimum
from equimargin.solvers.exact.program.clock import Clock

SECONDS_OF_A_CONSTANT = 2.0
"""Maximum seconds of the search for the constant part of an objective.

The constant part matters in few programs, and these have few equations.
"""
ULPS_OF_A_MAP = 16
"""Units in the last place by which a value and its image under a float map are widened.

Such maps consist of a few operations.
"""
SHARE_OF_TERMS = 1e-3
"""Ratio of a program's size to the sum of the absolute terms of its objective.

Terms may cancel, so that the optimum is almost 0. S is then 1e-4 times the size, and a
tolerance of 1e-6 S is 450 units in the last place of the terms, above their rounding.
"""
Number = Fraction | float
"""Exact value, or a float."""


@dataclass(frozen=True, eq=False)
class ProvenOptimum:
    """Proven bounds, lower <= optimum <= upper, on the family's scale.

    Attributes
    ----------
    lower, upper : float
        Bounds; both are the same infinity if an exact ray proves it.
    exact : Fraction or None
        Optimum, if it is known as a rational number.
    reason : str
        Method of the proof, or reason why there is none, as text.
    size : float
        SHARE_OF_TERMS times the sum of the absolute terms of the objective at the
        optimum, in units of the declared objective; 1 if all terms are 0.
    constant : float
        Part of the objective that is equal at every feasible point, on the family's
        scale; `size` does not include it.
    x : Vector or None of shape (n,)
        Feasible point of the program, which proves one bound, or None.
    y : Vector or None of shape (m,)
        Multipliers of the equations, which with z prove the other bound, or None.
    z : Vector or None of shape (r,)
        Multipliers of the rows of G, or None.
    feasible : bool
        False if a ray proves that no point is feasible.
    rounding : float
        Bound of the change of the optimum by roundings of the program's numbers; 0 if x,
        y or z is not known.
    proof : Optimum, Infeasible, UnboundedProgram, Enclosure or None
        Proof of the program's optimum, from which a certificate is made.
    doubt : str
        Reason why the bounds are not proven on the family's scale; empty if they are.
    """

    lower: float
    upper: float
    exact: Fraction | None
    reason: str
    size: float = 1.0
    constant: float = 0.0
    x: Vector | None = field(default=None, repr=False)
    y: Vector | None = field(default=None, repr=False)
    z: Vector | None = field(default=None, repr=False)
    feasible: bool = True
    rounding: float = 0.0
    proof: Optimum | Infeasible | UnboundedProgram | Enclosure | None = field(
        default=None, repr=False
    )
    doubt: str = ""

    @property
    def interval(self) -> Interval:
        """Proven interval."""
        return Interval(self.lower, self.upper, self.size, self.constant)

    @property
    def is_known(self) -> bool:
        """True if both bounds are finite, or both are the same infinity."""
        return self.lower == self.upper or (isfinite(self.lower) and isfinite(self.upper))

    def __str__(self) -> str:
        """Return the exact optimum, or a word for an infinite one, or the interval."""
        if self.exact is not None and len(str(self.exact)) <= 40:
            return f"{self.exact}"
        if self.exact is not None:
            return (
                f"{float(self.exact)!r} (exact)"
                if self.is_known
                else f"in [{self.lower!r}, {self.upper!r}] (exact)"
            )
        if self.lower == self.upper:
            return (
                f"{self.lower} "
                f"({'the objective has no bound' if self.feasible else 'no point is feasible'})"
            )
        return f"[{self.lower!r}, {self.upper!r}]" if self.is_known else "unknown"


def optimum(problem: ProgramProblem, id: str | None = None) -> ProvenOptimum:
    """Return the proven optimum of a formulation, on the family's scale.

    The result is cached in the problem.

    Parameters
    ----------
    problem : ProgramProblem
        Problem, with the time limit of a proof.
    id : str, optional
        Id of the formulation; by default the first of the family.

    Raises
    ------
    ValueError
        If the formulation is no convex quadratic, linear or second-order cone program.
    """
    entry = problem.definition if id is None else problem.formulations[id]
    if entry.key not in problem.optima:
        data = problem.data
        problem.optima[entry.key] = proven_optimum(
            problem.program(entry.id), lambda value: entry.value(value, data), problem.seconds
        )
    proven: ProvenOptimum = problem.optima[entry.key]
    return proven


def stated_rounding(problem: ProgramProblem, id: str | None = None) -> float:
    """Return how far rounded numbers may move apart the optima of two formulations.

    The two are a formulation and the first one of its family.

    Parameters
    ----------
    problem : ProgramProblem
        Problem.
    id : str, optional
        Id of the formulation; None for the first one alone.

    Raises
    ------
    ValueError
        As in `optimum`.
    """
    due = optimum(problem).rounding
    return due if id in (None, problem.definition.id) else due + optimum(problem, id).rounding


def proven_optimum(
    program: Program, value: Callable[[Number], Any], seconds: float = SECONDS
) -> ProvenOptimum:
    """Return the proven optimum of a program.

    Parameters
    ----------
    program : Program
        Any convex program.
    value : callable
        Value map, from the declared objective to the family's scale.
    seconds : float, default SECONDS
        Time limit in seconds.

    Raises
    ------
    ValueError
        If the quadratic term is not positive semidefinite.
    """
    clock = Clock(seconds)
    bounds = enclosure(program, seconds=seconds / 2)
    feasible = True
    proof: Optimum | Infeasible | UnboundedProgram | Enclosure = bounds
    low, high, x, reason = (
        bounds.lower,
        bounds.upper,
        bounds.primal,
        f"proven by {bounds.lower_by} and {bounds.upper_by}",
    )
    _, y, z = bounds.dual or (None, None, None)
    # Without two finite bounds, an exact optimum or ray is sought in the time left.
    if not (_is_finite(low) and _is_finite(high)) and not program.cones:
        outcome = program_optimum(program, max(clock.left, LEAST_SECONDS))
        reason = (
            outcome.reason
            if clock.left
            else f"no proof within the {seconds:.3g} s that it may take: {outcome.reason}"
        )
        proof = outcome if isinstance(outcome, Optimum | Infeasible | UnboundedProgram) else bounds
        if isinstance(outcome, Optimum):
            low, high, x, y, z = outcome.value, outcome.value, outcome.x, outcome.y, outcome.z
        elif isinstance(outcome, Infeasible | UnboundedProgram):
            feasible = isinstance(outcome, UnboundedProgram)
            low = high = -inf if feasible else inf
    ends = [scaled(value, -end if program.maximised else end) for end in (low, high)]
    lower, upper = min(end.lower for end in ends), max(end.upper for end in ends)
    exact = ends[0].exact if low == high else None
    doubt = next((end.doubt for end in ends if end.doubt), "")
    reason = f"{reason}; {doubt}" if doubt else reason
    size, fixed = (
        (1.0, Fraction(0))
        if x is None
        else size_and_constant(program, x, Clock(SECONDS_OF_A_CONSTANT))
    )
    constant = rounding = 0.0
    if fixed:
        # A map may have no value there, such as a logarithm, or a complex one, such as a root.
        with suppress(ArithmeticError, ValueError, TypeError):
            constant = float(value(program.stated(fixed)))
    if x is not None and y is not None and z is not None and isinstance(high, Fraction):
        rounding = image_of_move(value, program.stated(high), moved_by_rounding(program, x, y, z))
    return ProvenOptimum(
        lower,
        upper,
        exact,
        reason,
        size,
        constant if isfinite(constant) else 0.0,
        x,
        y,
        z,
        feasible,
        rounding,
        proof,
        doubt,
    )


@dataclass(frozen=True)
class FamilyValue:
    """Value on the scale of its family, within lower <= value <= upper.

    Parameters
    ----------
    exact : Fraction, optional
        Value, if the map computes in fractions; None if it computes in floats.
    doubt : str, default ""
        Reason why the bounds are not proven, or empty.
    """

    lower: float
    upper: float
    exact: Fraction | None = None
    doubt: str = ""


def scaled(value: Callable[[Number], Any], end: Number) -> FamilyValue:
    """Return the image of an exact or infinite value under a value map.

    The result of a map that computes in floats is not proven. Such a map is evaluated
    slightly below and above the value, too, as it may amplify rounding errors: the map
    v - 2^50 turns the rounding of 2^50 + 1/3 to float64 into an error of the order of
    the result.

    Parameters
    ----------
    value : callable
        Value map, from the program's declared objective to the family's scale.
    end : Number
        Exact or infinite value.
    """
    image = value(end)
    if isinstance(image, Fraction | int):
        return FamilyValue(below(image), above(image), Fraction(image))
    if not _is_finite(end):
        return FamilyValue(below(image), above(image))
    step = ULPS_OF_A_MAP * Fraction(float_info.epsilon)
    images = [image, *(value(end * side) for side in (1 - step, 1 + step))]
    return FamilyValue(
        min(map(below, images)),
        max(map(above, images)),
        doubt="the result of the value map in floats is not proven",
    )


def _is_finite(value: Number) -> bool:
    return isinstance(value, Fraction) or isfinite(value)


def below(value: Number) -> float:
    """Return the largest float that is at most a value; -inf for NaN.

    A float result of a map is widened by ULPS_OF_A_MAP.

    Parameters
    ----------
    value : Number
        Exact value, or a float.
    """
    # The difference is never -0.0.
    return 0.0 - above(-value)


def above(value: Number) -> float:
    """Return the smallest float that is at least a value; inf for NaN.

    A float result of a map is widened by ULPS_OF_A_MAP.

    Parameters
    ----------
    value : Number
        Exact value, or a float.
    """
    if isinstance(value, Fraction | int):
        return outward(Fraction(value), 1)
    if isnan(value):
        return inf
    return (
        float(value) + ULPS_OF_A_MAP * abs(float(np.spacing(value)))
        if isfinite(value)
        else float(value)
    )


def size_and_constant(program: Program, x: Vector, clock: Clock) -> tuple[float, Fraction]:
    """Return the size of the terms of the objective, and its constant part.

    The size is SHARE_OF_TERMS times the sum of |P_ij x_i x_j| / 2 and |q_i x_i|, or 1 if
    all these terms are 0. The constant part is c, plus the terms of variables that the
    equations determine, plus the part of the other linear terms that is equal at all
    feasible points. The sum excludes the constant part.

    Parameters
    ----------
    program : Program
        Any convex program.
    x : Vector
        Point near the optimum.
    clock : Clock
        Time limit of the search for the constant part.
    """
    stated = with_pairs_as_equations(program)
    fixed = determined(stated)
    others = [j for j in range(program.n) if j not in fixed]
    free, sizes = with_values(stated, fixed, others), [shortened(x[j]) for j in others]
    curved = sum(
        abs(v) * sizes[i] * sizes[j] for i, row in enumerate(free.P.rows) for j, v in row.items()
    )
    linear, unchanged = without_constant(free, tuple(sizes), clock)
    constant = program.objective([fixed.get(j, Fraction(0)) for j in range(program.n)]) + unchanged
    terms = curved / 2 + linear
    return SHARE_OF_TERMS * above(terms) if terms else 1.0, constant
