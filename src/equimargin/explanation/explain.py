"""Verdict on any convex program: infeasible, unbounded, or feasible and bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.explanation.explanation import Explanation, Member
from equimargin.explanation.scales import measure_scales, rounding_of_rows
from equimargin.explanation.stated import ExplainedProgram, state_model, state_problem
from equimargin.formulations.bounds.intervals import MOST_DIGITS
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.formulations.programs.compiled import program_of_form
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.checker import outward
from equimargin.proofs.feasibility import (
    Contradiction,
    LinearConstraints,
    find_contradiction,
    find_ray,
    least_violation,
    make_irreducible,
    measure_excess,
    weights_on,
)
from equimargin.proofs.outward import FormInterval, form_interval
from equimargin.solvers.backends.form import solve_form
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    UnboundedProgram,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.linear_system import solution_near

SOLVER = "CLARABEL"
"""Solver of the answer near which a feasible and bounded program has its interval."""
WIDTH = 1e-6
"""Relative width of the interval at which no further method is tried."""
SHARE = 0.25
"""Share of the time for the interval, and for the search of a ray."""
CONTRADICTION_SHARE = 0.7
"""Share of the remaining time for the search of a contradiction."""
DECIMAL_SECONDS = 5.0
"""Time limit for the weights of constraints in decimals, in seconds."""
SUSPECT = 1e-6
"""Minimum multiplier of a row that is named, relative to the largest one."""
MAX_NAMED_ROWS = 10
"""Maximum number of rows that are named."""
SOLVER_TOLERANCE = 1e-6
"""Violation that solvers accept by default, the largest of the usual ones."""


def explain(problem: Any, *, seconds: float = 60.0) -> Explanation:
    """Return whether a program is infeasible, unbounded, or feasible and bounded.

    Parameters
    ----------
    problem : cvxpy.Problem, str or Path
        Linear, quadratic or second-order cone program, or its file, as in `bound`.
    seconds : float, default 60.0
        Time limit in seconds; a step that has begun is finished.

    Returns
    -------
    Explanation
        Verdict with its proof in rational numbers: the constraints that contradict each
        other, as few as none of them can be left out, or a feasible point and a ray;
        with outward rounding: an interval of the optimum, or of second-order cones the
        least violation; or the reason why the verdict is undecided.

    Raises
    ------
    ValueError
        If the file is not read or has integer variables, or cvxpy does not compile the
        problem.
    OSError
        If the file cannot be opened.
    """
    clock = Clock(positive(seconds, "seconds"))
    stated = (
        state_model(Path(problem)) if isinstance(problem, str | Path) else state_problem(problem)
    )
    undecided = Explanation(
        stated.name,
        "undecided",
        "",
        stated.taken,
        measure_scales(stated),
        "",
    )
    constraints = LinearConstraints.from_form(stated.form)
    interval = _interval(stated.form, clock)
    if interval is not None and isfinite(interval.lower) and isfinite(interval.upper):
        return _bounded(
            undecided, stated, constraints, interval.lower, interval.upper, interval.x.tolist()
        )
    found = None
    if interval is None or interval.upper == inf:
        found = find_contradiction(constraints, Clock(CONTRADICTION_SHARE * clock.left))
    if found is not None:
        return _infeasible(undecided, stated, constraints, found)
    least = _interval(least_violation(stated.form), clock) if stated.form.cones else None
    # Linear constraints alone are decided in rational numbers.
    if least is not None and least.lower > 0:
        return _violated(undecided, stated, constraints, least)
    return _by_rational_numbers(undecided, stated, constraints, interval, clock)


def _interval(form: StandardForm, clock: Clock) -> FormInterval | None:
    """Return the interval near a solver's answer, None without an answer or convexity."""
    limit = max(SHARE * clock.left, 1e-3)
    try:
        x, z = solve_form(form, SOLVER, limit)
        return form_interval(form, x, z, width=WIDTH, seconds=limit, rational=False)
    except ValueError:
        return None


def _violated(
    undecided: Explanation,
    stated: ExplainedProgram,
    constraints: LinearConstraints,
    least: FormInterval,
) -> Explanation:
    """Return the explanation of a contradiction with second-order cones."""
    sizes = np.abs(least.z)
    weighed = np.flatnonzero(sizes > SUSPECT * sizes.max(initial=0.0))
    names = list(dict.fromkeys(stated.rows[i] for i in weighed))
    shown = ", ".join(names[:MAX_NAMED_ROWS])
    more = f" and {len(names) - MAX_NAMED_ROWS} more" * (len(names) > MAX_NAMED_ROWS)
    return replace(
        undecided,
        verdict="infeasible",
        reason=f"every point that satisfies the equations and bounds violates another constraint "
        f"by at least {_in_two_digits(least.lower, ROUND_DOWN)}; multipliers of "
        f"{shown}{more} prove that, in floats rounded outward, and some of "
        f"these rows may not be needed",
        float64=_rounding(constraints, {}, "the origin"),
        violation=least.lower,
    )


def _by_rational_numbers(
    undecided: Explanation,
    stated: ExplainedProgram,
    constraints: LinearConstraints,
    interval: FormInterval | None,
    clock: Clock,
) -> Explanation:
    """Return the verdict of the exact optimum, or of a ray."""
    program = program_of_form(stated.form)
    ray = None if program.cones else find_ray(program, Clock(SHARE * clock.left))
    outcome = ray or program_optimum(program, max(clock.left, 1e-3))
    if isinstance(outcome, Infeasible):
        order = [
            *range(constraints.equations),
            *range(constraints.rows, len(constraints.c)),
            *range(constraints.equations, constraints.rows),
        ]
        weights = {i: w for i, w in zip(order, (*outcome.y, *outcome.z), strict=True) if w != 0}
        found = make_irreducible(
            constraints, weights, Clock(max(clock.left, SHARE * clock.seconds))
        )
        return _infeasible(undecided, stated, constraints, found)
    if isinstance(outcome, UnboundedProgram):
        return _unbounded(undecided, stated, constraints, outcome)
    if isinstance(outcome, Optimum):
        ends = outward(outcome.value, -1), outward(outcome.value, 1)
        return replace(
            _bounded(undecided, stated, constraints, *ends, outcome.x),
            program=program,
            answer=outcome,
        )
    return replace(
        undecided,
        reason=_undecided_because(outcome, interval),
        float64=_rounding(constraints, {}, "the origin"),
    )


def _infeasible(
    undecided: Explanation,
    stated: ExplainedProgram,
    constraints: LinearConstraints,
    found: Contradiction,
) -> Explanation:
    """Return the explanation of an irreducible infeasible set."""
    lines = stated.lines()
    members = []
    for k, weight in found.weights.items():
        kind, name = stated.title(constraints, k)
        places = lines.get((kind, name), ())
        # A bound that is not found in the file is its default only if it is x >= 0.
        is_default = not places and kind == "lower bound" and constraints.c[k] == 0
        origin = stated.default if is_default else ""
        point = found.points.get(k)
        members.append(
            Member(
                kind,
                name,
                stated.text(constraints, k),
                places,
                origin,
                -weight if stated.is_reversed(constraints, k) else weight,
                None if point is None else _named(stated, point),
            )
        )
    # As in the file: rows before bounds, which have lines of their own.
    members.sort(key=lambda member: (member.kind != "row", member.lines))
    size = len(members)
    reason = (
        f"no point satisfies these {size} constraints, and without any one of them the others "
        f"have a common point"
        if size > 1
        else "no point satisfies this constraint"
    )
    if found.unfinished:
        reason = (
            f"no point satisfies these {size} constraints, and some of them may not be needed: "
            f"{found.unfinished}; raise the limit (seconds, --time-limit)"
        )
    form = stated.form
    # A program with second-order cones has no rational certificate without their rows.
    program = None if form.cones else program_of_form(form)
    return replace(
        undecided,
        verdict="infeasible",
        reason=reason,
        float64=_decidable(constraints, found),
        members=tuple(members),
        excess=found.excess,
        violation=outward(found.violation, -1),
        program=program,
        answer=None if program is None else _ray(constraints, found),
    )


def _ray(constraints: LinearConstraints, found: Contradiction) -> Infeasible:
    """Return the weights as a Farkas ray of `program_of_form`."""
    zero = Fraction(0)
    w = [found.weights.get(k, zero) for k in range(len(constraints.c))]
    equations, rows = constraints.equations, constraints.rows
    return Infeasible(tuple(w[:equations]), (*w[rows:], *w[equations:rows]), "irreducible set")


def _unbounded(
    undecided: Explanation,
    stated: ExplainedProgram,
    constraints: LinearConstraints,
    outcome: UnboundedProgram,
) -> Explanation:
    """Return the explanation of a feasible point and a ray."""
    unit = max(abs(v) for v in outcome.ray)
    ray = {j: v / unit for j, v in enumerate(outcome.ray) if v != 0}
    rate = sum((Fraction(float(stated.form.q[j])) * v for j, v in ray.items()), Fraction(0))
    point = {j: v for j, v in enumerate(outcome.x) if v != 0}
    return replace(
        undecided,
        verdict="unbounded",
        reason=f"from a feasible point, the objective {'rises' if stated.maximised else 'falls'} "
        f"without end along a direction that every constraint allows",
        float64=_rounding(constraints, point, "the feasible point"),
        ray=_named(stated, ray),
        point=_named(stated, point),
        rate=-rate if stated.maximised else rate,
        program=program_of_form(stated.form),
        answer=outcome,
    )


def _bounded(
    undecided: Explanation,
    stated: ExplainedProgram,
    constraints: LinearConstraints,
    lower: float,
    upper: float,
    x: Sequence[float | Fraction],
) -> Explanation:
    """Return the explanation of a proven interval of the optimum."""
    # Adding 0 removes the sign of a 0.
    low, high = (0.0 - upper, 0.0 - lower) if stated.maximised else (lower + 0.0, upper + 0.0)
    ends = f"[{format_lower(low, MOST_DIGITS)}, {format_upper(high, MOST_DIGITS)}]"
    point = {j: Fraction(v) for j, v in enumerate(x) if v != 0}
    return replace(
        undecided,
        verdict="feasible and bounded",
        reason=f"a feasible point and multipliers prove that the optimum is in {ends}",
        float64=_rounding(constraints, point, "a point of nearly optimal objective"),
        lower=low,
        upper=high,
    )


def _undecided_because(outcome: Inconclusive, interval: FormInterval | None) -> str:
    """Return the reason of an undecided verdict."""
    if interval is not None and interval.upper < inf:
        known = "a point is feasible, and no bound of the objective is proven"
    else:
        known = "neither a feasible point nor a contradiction is proven"
    if outcome.cause == "cones":
        return f"{known}: rational numbers decide linear constraints only, no second-order cones"
    more = {
        "time": "raise the limit (seconds, --time-limit)",
        "no face": "raise the limit (seconds, --time-limit), or rescale the program",
        "not convex": "state a convex objective",
    }
    return f"{known}: {outcome.reason}; {more[outcome.cause]}"


def _named(stated: ExplainedProgram, values: Mapping[int, Fraction]) -> dict[str, Fraction]:
    """Return nonzero entries by the names of their variables."""
    return {stated.form.names[j]: v for j, v in values.items() if v != 0}


def _decidable(constraints: LinearConstraints, found: Contradiction) -> str:
    """Return the sentence on the size of a contradiction, against float64's rounding."""
    members = list(found.weights)
    points = [{}, *found.points.values()]
    rounding = max(rounding_of_rows(constraints, members, point) for point in points)
    noise = _in_two_digits(rounding, ROUND_UP)
    size = outward(found.violation, -1)
    start = (
        f"at every point one of these constraints is violated by at least "
        f"{_in_two_digits(size, ROUND_DOWN)}"
    )
    if size > max(rounding, SOLVER_TOLERANCE):
        sentence = (
            f"{start}: float64 decides that, because it rounds their values by at most {noise}"
        )
    elif size > rounding:
        sentence = (
            f"{start}: float64 decides that, but a solver with a tolerance of "
            f"{SOLVER_TOLERANCE:g} may return a point as feasible"
        )
    else:
        sentence = (
            f"{start}: float64 does not decide that, because it rounds their values by up to "
            f"{noise}, and a solver may return a point as feasible"
        )
    return f"{sentence}{_in_decimals(constraints, found)}"


def _in_decimals(constraints: LinearConstraints, found: Contradiction) -> str:
    """Return what is left of a contradiction for the shortest decimals of its doubles.

    Nothing is said if the decimals contradict each other as the doubles do.
    """
    clock, members = Clock(DECIMAL_SECONDS), list(found.weights)
    if measure_excess(constraints, found.weights, _decimal) is not None:
        return ""
    try:
        if weights_on(constraints, members, clock, _decimal) is not None:
            return ""
        rows, ends, columns = constraints.part(members, _decimal)
        if solution_near(rows, ends, [Fraction(0)] * len(columns), clock) is not None:
            return (
                "; with 0.1 read as 1/10, these constraints have a common point, and only the "
                "rounding of decimals to doubles makes them contradict each other"
            )
    except OutOfTime:
        pass
    return "; with 0.1 read as 1/10, the contradiction is not proven"


def _decimal(v: float) -> Fraction:
    """Return the shortest decimal that denotes a double."""
    return Fraction(repr(v))


def _rounding(constraints: LinearConstraints, point: Mapping[int, Fraction], place: str) -> str:
    """Return the sentence on float64's rounding of the rows at a point."""
    rounding = rounding_of_rows(constraints, list(range(len(constraints.c))), point)
    return (
        f"at {place} float64 rounds the values of the constraints by up to "
        f"{_in_two_digits(rounding, ROUND_UP)}: it does not decide smaller violations"
    )


def _in_two_digits(v: float, direction: str) -> str:
    """Return a number in two digits, rounded in a direction of `decimal`."""
    rounded = Context(prec=2, rounding=direction).create_decimal(Decimal(v))
    return f"{float(rounded):.2g}"
