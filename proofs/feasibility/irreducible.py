"""Irreducible infeasible sets of linear constraints.

Weights w, nonnegative for inequalities, with w'C = 0 and w'c < 0 prove that no point
satisfies C x = c and C x <= c (Farkas). The rows of nonzero weight contradict each
other; without any one of them the others have a common point if every set of one row
less is independent. This holds at a vertex of the weights with w'c = -1, where the rows
(C_i, c_i) of nonzero weight are independent:

1. HiGHS finds vertices with few nonzero weights in floats: sum |w| is minimal, then
   sum |w_i| / (|w_i| of the vertex before + a small number); and again, at higher costs
   of the rows found so far.
2. If it finds none in two seconds, PDLP finds the rows that have weights at the least
   violation (`least_violation`), and the simplex method searches these.
3. On the rows of the smallest vertex the weights are computed in rational numbers. If
   that takes too long, or floats have lost a row, they stay as they are, and bounds on
   the variables get the weights that cancel the rest.
4. While rows are dependent, the weights move along a dependency until one is 0.
5. For every member, the equations of the other members have an exact solution.

References
----------
J. Gleeson, J. Ryan. Identifying minimally infeasible subsystems of inequalities. ORSA
Journal on Computing 2 (1990).

E. J. Candes, M. B. Wakin, S. P. Boyd. Enhancing sparsity by reweighted l1 minimization.
Journal of Fourier Analysis and Applications 14 (2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.rational import Matrix, dot, over_common_denominator
from equimargin.proofs.feasibility.constraints import LinearConstraints
from equimargin.proofs.feasibility.least_violation import row_sizes, weights_of_least_violation
from equimargin.proofs.feasibility.sparse_vertex import sparse_vertex
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.linear_system import independent_rows, solution_near

STARTS = 2
"""Number of searches for a vertex of few weights; each avoids the rows of those before."""
ROUNDS = 3
"""Number of vertices of a search."""
PENALTY = 1e3
"""Factor of the costs of rows that a search avoids."""
SHARE = 0.25
"""Share of the time for a search."""
PDLP_SHARE = 0.5
"""Share of the time for PDLP."""
QUICK_SECONDS = 2.0
"""Time limit of the first search among all rows, in seconds."""
SUSPECT = 1e-6
"""Minimum weight of a constraint in PDLP's solution, relative to the largest weight."""
RELATIVE_FLOOR = 1e-3
"""Number added to the relative weights of a vertex before they are inverted."""
MAX_DENOMINATOR = 10
"""Maximum denominator of weights that are tried first, relative to the largest one."""
NEGLIGIBLE = (1e-9, 0.0)
"""Relative weights that count as 0 in floats, tried in turn."""
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Infeasible set of linear constraints, irreducible if the time sufficed.

    Parameters
    ----------
    weights : mapping of int to Fraction
        Weights w of the members, coprime integers: w'C = 0 and w'c < 0, w > 0 for
        inequalities.
    points : mapping of int to mapping of int to Fraction
        For every member, values of variables that satisfy all other members; a member
        is missing if the time did not suffice.
    excess : Fraction
        -w'c: the members, times their weights, add up to 0 <= -excess.
    unfinished : str
        Reason why the set may not be irreducible; empty if it is.
    """

    weights: Mapping[int, Fraction] = field(repr=False)
    points: Mapping[int, Mapping[int, Fraction]] = field(repr=False)
    excess: Fraction = field(repr=False)
    unfinished: str = ""

    @property
    def violation(self) -> Fraction:
        """Proven lower bound of the largest violation of a member, at every point."""
        return self.excess / sum((abs(w) for w in self.weights.values()), ZERO)


def find_contradiction(constraints: LinearConstraints, clock: Clock) -> Contradiction | None:
    """Return an infeasible set with few members, or None if none is found.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    clock : Clock
        Time limit.
    """
    every = np.arange(len(constraints.c))
    weights = _among(constraints, every, Clock(min(QUICK_SECONDS, SHARE * clock.left)), clock)
    if weights is None:
        weights = _of_least_violation(constraints, clock)
    if weights is None:
        weights = _among(constraints, every, Clock(SHARE * clock.left), clock)
    return None if weights is None else make_irreducible(constraints, weights, clock)


def _among(
    constraints: LinearConstraints, members: Index, search: Clock, clock: Clock
) -> dict[int, Fraction] | None:
    """Return the weights of an infeasible set of some constraints, or None if none is found."""
    for vertex in sorted(_vertices(constraints, members, search), key=len):
        try:
            weights = _simple_weights(constraints, vertex) or weights_on(
                constraints, list(vertex), clock
            )
        except OutOfTime:
            weights = None
        weights = weights or _weights_with_bounds(constraints, vertex)
        if weights is not None:
            return weights
    return None


def _of_least_violation(constraints: LinearConstraints, clock: Clock) -> dict[int, Fraction] | None:
    """Return the weights of an infeasible set near the least violation, or None."""
    near = weights_of_least_violation(constraints, Clock(PDLP_SHARE * clock.left))
    if near is None:
        return None
    suspects = np.flatnonzero(np.abs(near) > SUSPECT * np.abs(near).max())
    found = _among(constraints, suspects, Clock(SHARE * clock.left), clock)
    return found or _weights_with_bounds(
        constraints, dict(zip(suspects.tolist(), near[suspects].tolist(), strict=True))
    )


def make_irreducible(
    constraints: LinearConstraints, weights: Mapping[int, Fraction], clock: Clock
) -> Contradiction:
    """Return an irreducible infeasible set among the constraints of a Farkas ray.

    If the time does not suffice, the set has members that are not proven to be needed.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    weights : mapping of int to Fraction
        Nonzero weights of a Farkas ray, by constraint.
    clock : Clock
        Time limit.
    """
    weights, unfinished = dict(sorted(weights.items())), ""
    try:
        while (dependency := _dependency(constraints, list(weights), clock)) is not None:
            weights = _moved_along(weights, dependency, constraints.equations)
    except OutOfTime as reason:
        unfinished = str(reason)
    members, values = list(weights), over_common_denominator(list(weights.values()))[0]
    # Coprime integers have the fewest digits.
    weights = {i: Fraction(v, gcd(*values)) for i, v in zip(members, values, strict=True)}
    excess = measure_excess(constraints, weights)
    if excess is None:
        raise ArithmeticError(
            "an irreducible set does not satisfy its conditions: please report the program"
        )
    points = {} if unfinished else _points(constraints, members, clock)
    return Contradiction(weights, points, excess, unfinished)


def measure_excess(
    constraints: LinearConstraints,
    weights: Mapping[int, Fraction],
    read: Callable[[float], Fraction] = Fraction,
) -> Fraction | None:
    """Return -w'c if w is a Farkas ray, else None.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    weights : mapping of int to Fraction
        Nonzero weights w.
    read : callable, default Fraction
        Rational number of a float.
    """
    rows, ends, _ = constraints.part(list(weights), read)
    values = list(weights.values())
    excess = -dot(ends, values)
    if excess <= 0 or any(rows.transposed.times(values)):
        return None
    return excess if all(w > 0 or i < constraints.equations for i, w in weights.items()) else None


def _points(
    constraints: LinearConstraints, members: list[int], clock: Clock
) -> dict[int, dict[int, Fraction]]:
    """Return for every member a point that satisfies the others, as far as time suffices."""
    rows, ends, columns = constraints.part(members)
    points = {}
    for k, member in enumerate(members):
        others = [i for i in range(len(members)) if i != k]
        try:
            point = solution_near(
                rows.part(others), [ends[i] for i in others], [ZERO] * len(columns), clock
            )
        except OutOfTime:
            break
        if point is None:
            raise ArithmeticError("a set of independent rows is contradictory: please report it")
        points[member] = dict(zip(columns, point, strict=True))
    return points


def _simple_weights(
    constraints: LinearConstraints, vertex: Mapping[int, float]
) -> dict[int, Fraction] | None:
    """Return the simple fractions near weights in floats if they are a Farkas ray, or None."""
    largest = max(map(abs, vertex.values()))
    found = {i: Fraction(w / largest).limit_denominator(MAX_DENOMINATOR) for i, w in vertex.items()}
    weights = {i: w for i, w in found.items() if w != 0}
    return None if measure_excess(constraints, weights) is None else weights


def _weights_with_bounds(
    constraints: LinearConstraints, vertex: Mapping[int, float]
) -> dict[int, Fraction] | None:
    """Return the weights in floats with those of bounds that make them a Farkas ray, or None.

    An inequality of one variable counts as a bound.
    """
    single = np.diff(constraints.C.indptr) == 1
    single[: constraints.equations] = False
    free = constraints.equations
    weights = {i: Fraction(w) for i, w in vertex.items() if not single[i] and (w > 0 or i < free)}
    if not weights:
        return None
    rows, _, columns = constraints.part(list(weights))
    # The tightest bound of a variable on each side.
    tightest: dict[tuple[int, bool], tuple[float, int, float]] = {}
    for i in np.flatnonzero(single).tolist():
        at = constraints.C.indptr[i]
        j, a = int(constraints.C.indices[at]), float(constraints.C.data[at])
        bound = float(constraints.c[i]) / abs(a), i, abs(a)
        tightest[j, a > 0] = min(bound, tightest.get((j, a > 0), bound))
    for j, pull in zip(columns, rows.transposed.times(list(weights.values())), strict=True):
        if pull != 0 and (j, pull < 0) not in tightest:
            return None
        if pull != 0:
            _, i, size = tightest[j, pull < 0]
            weights[i] = abs(pull) / Fraction(size)
    return None if measure_excess(constraints, weights) is None else weights


def weights_on(
    constraints: LinearConstraints,
    members: list[int],
    clock: Clock,
    read: Callable[[float], Fraction] = Fraction,
) -> dict[int, Fraction] | None:
    """Return the weights of a Farkas ray on some constraints, or None if there are none.

    It is the only one up to its size if the constraints are at a vertex.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    members : list of int
        Constraints that may have weights.
    clock : Clock
        Time limit.
    read : callable, default Fraction
        Rational number of a float.

    Raises
    ------
    OutOfTime
        If the weights would take too long.
    """
    rows, ends, _ = constraints.part(members, read)
    last = {k: v for k, v in enumerate(ends) if v != 0}
    system = Matrix((*rows.transposed.rows, last), len(members))
    found = solution_near(system, [*[ZERO] * rows.width, -ONE], [ZERO] * len(members), clock)
    if found is None:
        return None
    weights = {i: w for i, w in zip(members, found, strict=True) if w != 0}
    return weights if all(w > 0 or i < constraints.equations for i, w in weights.items()) else None


def _scaled(constraints: LinearConstraints, members: Index) -> tuple[Any, Array, Array]:
    """Return the equations M w = right of weights of scaled rows, and the factors of rows."""
    from scipy import sparse

    rows = constraints.C[members]
    # The weights of scaled rows have comparable sizes.
    units = 1 / row_sizes(rows)
    ends = constraints.c[members] * units
    ends *= 2.0 ** -np.frexp(np.abs(ends).max(initial=0.0))[1]
    scaled = sparse.csc_array(sparse.diags_array(units) @ rows)
    used = np.flatnonzero(np.diff(scaled.indptr))
    table = sparse.csc_array(sparse.hstack([scaled[:, used], sparse.csc_array(ends[:, None])]).T)
    right = np.zeros(len(used) + 1)
    right[-1] = -1.0
    return table, right, units


def _vertices(
    constraints: LinearConstraints, members: Index, clock: Clock
) -> Iterator[dict[int, float]]:
    """Yield weights in floats of successive vertices, by constraint, of some constraints."""
    if not len(members):
        return
    table, right, units = _scaled(constraints, members)
    signed, seen = members < constraints.equations, set[bytes]()
    known = np.zeros(len(members), dtype=np.bool_)
    for _ in range(STARTS):
        penalties = np.where(known, PENALTY, 1.0)
        costs = penalties
        for _ in range(ROUNDS):
            weights = sparse_vertex(table, right, right, costs, signed, clock)
            if weights is None or not weights.any():
                return
            relative = np.abs(weights) / np.abs(weights).max()
            for floor in NEGLIGIBLE:
                support = np.flatnonzero(relative > floor)
                if support.tobytes() not in seen:
                    seen.add(support.tobytes())
                    values = (weights * units)[support].tolist()
                    yield dict(zip(members[support].tolist(), values, strict=True))
            costs = penalties / (relative + RELATIVE_FLOOR)
            known |= relative > 0


def _dependency(
    constraints: LinearConstraints, members: list[int], clock: Clock
) -> dict[int, Fraction] | None:
    """Return a nonzero v with v'(C, c) = 0 on some constraints, None if they are independent."""
    rows, ends, columns = constraints.part(members)
    wide = Matrix(
        tuple(
            {**row, **({len(columns): end} if end != 0 else {})}
            for row, end in zip(rows.rows, ends, strict=True)
        ),
        len(columns) + 1,
    )
    kept = independent_rows(wide, clock)
    extra = next((k for k in range(len(members)) if k not in set(kept)), None)
    if extra is None:
        return None
    right = [-wide.rows[extra].get(j, ZERO) for j in range(wide.width)]
    others = wide.part(kept)
    found = solution_near(others.transposed, right, [ZERO] * len(kept), clock)
    if found is None:
        return None
    values = {members[k]: v for k, v in zip(kept, found, strict=True) if v != 0}
    return {**values, members[extra]: ONE}


def _moved_along(
    weights: Mapping[int, Fraction], direction: Mapping[int, Fraction], equations: int
) -> dict[int, Fraction]:
    """Return weights plus a multiple of a direction, at which one of them becomes 0.

    Those of inequalities stay nonnegative.
    """
    steps = {i: -weights[i] / v for i, v in direction.items()}
    signed = [step for i, step in steps.items() if i >= equations]
    step = min(signed or steps.values(), key=abs)
    moved = {i: w + step * direction.get(i, ZERO) for i, w in weights.items()}
    return {i: w for i, w in moved.items() if w != 0}
