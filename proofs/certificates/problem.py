"""Portable certificate: a problem, its points, and the interval that they prove.

    L(alpha) <= optimum <= U(f, b)

Both bounds are rationals: rounded outwards to doubles (mode "proven"), or exact and
equal (mode "exact"). The document is JSON, schema equimargin-certificate/1, described
in `certificate.md`; `checker.py` checks it without this package. The primal and the
dual point of an answer, which is a solution or an exact optimum, are made exactly
feasible first. Their bounds are computed with the checker's own functions, so that no
certificate claims a bound that the checker rejects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np

from equimargin.formulations.bounds.complete import OneNormCompletion
from equimargin.formulations.bounds.evaluate import coefficients, evaluate, make_point
from equimargin.formulations.bounds.intervals import LARGEST_MULTIPLIER
from equimargin.formulations.bounds.multipliers_from_f import recover_multipliers
from equimargin.formulations.bounds.slater import find_slater_point
from equimargin.formulations.kernels.kernel import (
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
)
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.problem.choices import LOSSES
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.proofs import checker
from equimargin.proofs.certificates.writing import Mode, document, integer, ratio
from equimargin.proofs.referee import FamilyVerdict
from equimargin.solvers.exact.optimum import ExactOptimum
from equimargin.solvers.ray import FarkasRay
from equimargin.solvers.solution import Solution

MOST_ROWS = 1_000_000
"""Rows or pairs of the largest problem that is certified.

Of a larger one, checking the certificate would take longer than solving the problem.
"""
MOST_FEATURE_VALUES = 2_000_000
"""Entries of the largest X that is certified: a certificate contains all of them."""
MOVES_INSIDE = (0.0, 2.0**-50, 2.0**-44, 2.0**-38, 2.0**-30, 2.0**-20)
"""Shares by which a point is moved into the interior of the hard rows, or scaled up.

They are tried in turn, until the point satisfies the rows exactly.
"""


def certificate(answer: Solution | ExactOptimum, mode: Mode | None = None) -> dict[str, Any]:
    """Return the certificate of an answer, as plain values.

    Parameters
    ----------
    answer : Solution or ExactOptimum
        Result of `solve`, or of `exact_optimum`.
    mode : Mode, optional
        "exact" needs a result of `exact_optimum`, or a solution with the exact ray of an
        infeasible problem; by default the strongest mode that the answer proves.

    Raises
    ------
    ValueError
        If mode is "exact" and the answer is in floating point or stopped early; also as
        in `certificate_at` and `certificate_of_ray`.
    """
    if mode not in (None, "proven", "exact"):
        raise ValueError(f"the mode of a certificate is 'proven' or 'exact', not {mode!r}")
    if (
        isinstance(answer, Solution)
        and isinstance(answer.problem, MarginProblem)
        and answer.ray is not None
    ):
        return certificate_of_ray(answer.problem, answer.ray, mode or "exact")
    # An exact optimum may have stopped early: it then has neither a value nor a ray.
    exact = isinstance(answer, ExactOptimum) and (
        answer.value is not None or answer.ray is not None
    )
    if mode == "exact" and not exact:
        raise ValueError(
            "an exact certificate needs an exact optimum: certificate(exact_optimum(problem))"
        )
    if exact and mode != "proven":
        assert isinstance(answer, ExactOptimum)
        return _exact(answer)
    return certificate_at(answer.problem, answer.point)


def certificate_at(problem: Problem, point: CanonicalPoint) -> dict[str, Any]:
    """Return the certificate of a point, as plain values.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    point : CanonicalPoint
        f, b and alpha, each if available. Without f, that of alpha is used; without
        alpha, the multipliers recovered from f. For a OneNormProblem: x and u, either
        of them possibly None.

    Raises
    ------
    ValueError
        If the kernel is not positive semidefinite, the problem is too large for a
        certificate, or the point proves no bound.
    """
    stated = state(problem)
    judge = checker.read_problem(stated)
    if isinstance(problem, OneNormProblem):
        own_point = problem.own_point(point)
        duals, primals = _prices(judge, problem, own_point), _unknowns(problem, own_point)
    else:
        completed = _both_sides(problem, problem.own_point(point))
        duals, primals = _multipliers(problem, completed), _functions(problem, completed)
    dual, lower, broken = _first(
        duals, lambda alpha: checker.lower_bound(judge, alpha, False), -math.inf
    )
    primal, upper, violated = _first(primals, lambda f: checker.upper_bound(judge, f), math.inf)
    if primal is None and dual is None:
        raise ValueError(
            f"the point proves nothing: "
            f"{violated or broken or 'it has neither a function nor multipliers'}"
        )
    return _document(
        "proven",
        stated,
        checker.semidefiniteness(judge),
        primal,
        dual,
        _outward(lower, -1),
        _outward(upper, 1),
    )


def certificate_of_ray(
    problem: MarginProblem, ray: FarkasRay, mode: Mode = "exact"
) -> dict[str, Any]:
    """Return the certificate that no function satisfies the hard rows, as plain values.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    ray : FarkasRay
        Weights of hard rows of the problem under which these cancel.
    mode : Mode, default "exact"
        Mode of the certificate.

    Raises
    ------
    ValueError
        If the problem is too large for a certificate, or certificates do not state its
        kernel; if the ray has another form, names rows that are not hard, or does not
        make the rows cancel.
    """
    stated = state(problem)
    judge = checker.read_problem(stated)
    dual = _combination_of_ray(problem, ray)
    if checker.lower_bound(judge, dual, False) < math.inf:
        raise ValueError("the ray proves nothing: its rows do not cancel")
    return _document(mode, stated, checker.semidefiniteness(judge), None, dual, "inf", "inf")


def _combination_of_ray(problem: MarginProblem, ray: FarkasRay) -> dict[str, Any]:
    """Return the weights of a ray as multipliers, by the indices of the rows."""
    # A ray names a row by its points, the certificate by its index.
    rows, hard = problem.rows, np.flatnonzero(np.isinf(problem.costs))
    points = [rows.preferred[hard], rows.other[hard]] if isinstance(rows, Pairs) else [hard]
    number = dict(zip(map(tuple, np.column_stack(points).tolist()), hard.tolist(), strict=True))
    try:
        named, weights = (
            [tuple(map(index, row)) for row in ray.rows],
            [index(weight) for weight in ray.weights],
        )
    except (AttributeError, TypeError):
        raise ValueError(
            "a ray has rows, each a pair (preferred, other) or a point (i,), and a whole "
            "number as weight of each"
        ) from None
    if len(named) != len(weights):
        raise ValueError(
            f"the ray has {len(named)} rows and {len(weights)} weights: there must be a "
            f"weight for each row"
        )
    missing = [row for row in named if row not in number]
    if missing:
        raise ValueError(
            f"the ray names a row of {missing[0]}, which is not a hard row of the problem"
        )
    return {
        "rows": [number[row] for row in named],
        "numerators": [integer(weight) for weight in weights],
        "denominator": 1,
    }


def _both_sides(problem: MarginProblem, point: Point) -> Point:
    """Return the point with both parts: a missing f from alpha, or a missing alpha from f."""
    if not point.has_function and point.alpha is not None:
        return replace(point, beta=problem.rows.rdot(np.asarray(point.alpha)))
    return (
        point.with_multipliers(recover_multipliers(problem, point))
        if point.has_function and not point.has_multipliers
        else point
    )


def certificate_of_family(problem: Problem, family: FamilyVerdict) -> dict[str, Any]:
    """Return one certificate from all answers to a problem.

    It contains an exact ray if an answer has one, otherwise the best points of all answers.

    Parameters
    ----------
    problem : Problem
        Problem to certify.
    family : FamilyVerdict
        Verdict on the family, with its answers.

    Raises
    ------
    ValueError
        As in `certificate_of_ray` and `certificate_at`.
    """
    ray = next((j.evidence.ray for j in family.judgements if j.evidence.ray is not None), None)
    if ray is not None and isinstance(problem, MarginProblem):
        return certificate_of_ray(problem, ray)
    return certificate_at(problem, best_point(problem, family))


def best_point(problem: Problem, family: FamilyVerdict) -> CanonicalPoint:
    """Return f of the smallest upper bound, and multipliers of the greatest lower bound.

    All answers except those of negative controls are compared.

    Parameters
    ----------
    problem : Problem
        Problem to certify.
    family : FamilyVerdict
        Verdict on the family.
    """
    points = [
        j.evidence.point
        for j in family.judgements
        if j.evidence.point is not None and not j.evidence.run.control
    ]
    above = min(
        (point for point in points if point.has_f),
        key=lambda point: point.proven.upper,
        default=None,
    )
    below = max(
        (point for point in points if point.has_alpha),
        key=lambda point: point.proven.lower,
        default=None,
    )
    function = problem.point() if above is None else above.supplied
    return function.with_multipliers(None if below is None else below.supplied.multipliers)


def _check_schema(problem: Problem) -> None:
    """Raise ValueError for a problem that format 1 does not state."""
    if isinstance(problem, MarginProblem) and problem.loss not in LOSSES:
        raise ValueError(
            f"a certificate of format 1 needs the hinge or the squared hinge, not the "
            f"{problem.phi.words}; use `program_certificate` with the program of a formulation"
        )
    if isinstance(problem.rows, Levels):
        raise ValueError(
            "certificates of this schema have no levels and thresholds; certify a "
            "formulation of the problem as a program"
        )
    if isinstance(problem.rows, Signed) and problem.rows.target != 1:
        raise ValueError(
            f"certificates of this schema have the margin 1, and this problem has "
            f"{problem.rows.target:g}; certify a formulation of the problem as a program"
        )


def state(problem: Problem) -> dict[str, Any]:
    """Return the problem as a certificate states it.

    Every number is a double, written in decimals that determine it.

    Parameters
    ----------
    problem : Problem
        Problem to certify.

    Raises
    ------
    ValueError
        If the kernel is not positive semidefinite or has no name in the schema, the
        margin is not 1, or the problem is too large for a certificate.
    """
    problem = problem.proven
    _check_schema(problem)
    # An intercept is the constant of the kernel in the schema.
    kernel = problem.kernel.kernel if isinstance(problem.kernel, Intercept) else problem.kernel
    if not (problem.convex and kernel.positive_semidefinite):
        raise ValueError(
            f"the {kernel.name} kernel is not positive semidefinite: no optimum is certified"
        )
    if kernel.name not in checker.PARAMETERS:
        known = ", ".join(checker.PARAMETERS)
        raise ValueError(
            f"a certificate needs a kernel that its checker computes ({known}), not {kernel.name}"
        )
    if isinstance(kernel, Polynomial) and kernel.degree > checker.MOST_DEGREE:
        raise ValueError(
            f"a certificate holds polynomials of degree {checker.MOST_DEGREE} at most, not "
            f"{kernel.degree}"
        )
    rows = problem.rows
    if rows.p > MOST_ROWS or problem.m * problem.X.shape[1] > MOST_FEATURE_VALUES:
        raise ValueError(
            f"a certificate holds at most {MOST_ROWS:,} rows or pairs and "
            f"{MOST_FEATURE_VALUES:,} features; this problem is larger"
        )
    stated = {
        "family": problem.family,
        "kernel": {
            "name": kernel.name,
            "constant": int(isinstance(problem.kernel, Intercept)),
            **_parameters(kernel, problem.gram.shift),
        },
        "features": _features(problem, kernel),
        "C": _number(problem.C),
        "weights": None if problem.weights is None else [_number(w) for w in problem.weights],
        "labels": None if rows.y is None else rows.y.tolist(),
    }
    if isinstance(rows, LabelledPairs):
        return stated | {
            "queries": rows.query.tolist() if rows.query.any() else None,
            "pairs": None,
        }
    if isinstance(rows, Pairs):
        return stated | {
            "queries": None,
            "pairs": np.column_stack([rows.preferred, rows.other]).tolist(),
        }
    return stated | ({"epsilon": rows.epsilon} if isinstance(rows, Tube) else {})


def _exact(answer: ExactOptimum) -> dict[str, Any]:
    """Return the certificate of an exact optimum, or of an exact ray."""
    stated = state(answer.problem)
    established = checker.semidefiniteness(checker.read_problem(stated))
    if answer.value is None:
        assert answer.ray is not None
        return _document("exact", stated, established, None, _combination(answer.ray), "inf", "inf")
    value, dual = ratio(answer.value), _combination(answer.alpha)
    # The optimal biases are an interval: its first finite endpoint is written.
    b = next((end for end in answer.bias if end is not None), Fraction(0))
    bias = {"b": ratio(b)} if answer.problem.bias else {}
    if isinstance(answer.problem, OneNormProblem):
        return _document(
            "exact", stated, established, _combination(answer.beta) | bias, dual, value, value
        )
    key, coefficients = ("w", answer.w) if answer.w is not None else ("beta", answer.beta)
    primal = {key: [ratio(v) for v in coefficients], "b": ratio(b)}
    return _document("exact", stated, established, primal, dual, value, value)


def _document(
    mode: Mode, stated: Any, established: str, primal: Any, dual: Any, lower: Any, upper: Any
) -> dict[str, Any]:
    return document(
        checker.SCHEMA,
        mode,
        {"lower": lower, "upper": upper},
        established,
        stated,
        {"primal": primal, "dual": dual},
    )


def _first(
    candidates: Iterator[Any], proves: Callable[[Any], Fraction | float], nothing: float
) -> tuple[Any, Fraction | float, str]:
    """Return the first candidate that satisfies its constraints exactly, its bound, and "".

    If none does, return None, `nothing`, and the reason why the last one does not.
    """
    reason = ""
    for candidate in candidates:
        try:
            return candidate, proves(candidate), ""
        except ValueError as refusal:
            reason = str(refusal)
    return None, nothing, reason


def _prices(
    judge: checker.Problem, problem: OneNormProblem, point: OneNormPoint
) -> Iterator[dict[str, Any]]:
    """Yield dual feasible multipliers of a one-norm problem on a grid, close to the point's."""
    if point.u is not None:
        u = np.asarray(point.u, dtype=np.float64)
        yield _affordable_prices(judge, _combination(problem.feasible(u)))


def _unknowns(problem: OneNormProblem, point: OneNormPoint) -> Iterator[dict[str, Any]]:
    """Yield x >= 0 on a grid, close to the point's, and the bias if there is one."""
    if point.x is not None:
        x = np.clip(np.nan_to_num(np.asarray(point.x), nan=0.0, posinf=0.0, neginf=0.0), 0.0, None)
        x = round_to_dyadic_grid(x, np.full(len(x), np.inf), np.zeros(len(x)))
        yield _combination(x) | (
            {"b": OneNormCompletion(problem, OneNormPoint(x, b=point.b)).b} if problem.bias else {}
        )


def _multipliers(problem: MarginProblem, point: Point) -> Iterator[dict[str, Any]]:
    """Yield feasible multipliers on a grid, close to the point's."""
    if point.alpha is None:
        return
    box = problem.exact_box
    alpha = round_to_dyadic_grid(np.asarray(point.alpha, dtype=np.float64), box, problem.bias_signs)
    if np.isinf(problem.C) and (norm2 := problem.norm2(problem.rows.rdot(alpha))) > 0:
        factor = min(
            problem.rows.multipliers(alpha).gain() / norm2, LARGEST_MULTIPLIER / float(alpha.max())
        )
        alpha = round_to_dyadic_grid(factor * alpha, box, problem.bias_signs)
    yield _combination(alpha)


def _affordable_prices(judge: checker.Problem, dual: dict[str, Any]) -> dict[str, Any]:
    """Return multipliers over a denominator so large that B'u <= 1 holds exactly."""
    u = checker.read_combination(dual, len(judge.rows.target))
    pull = checker.transposed_product(judge.rows, u, len(judge.space.rows))
    prices, scale = checker.prices(judge, checker.function_of_points(judge.space, pull, u.unit))
    most = max(prices, default=0)
    if most <= scale:
        return dual
    return dual | {
        "numerators": [integer(step << 64) for step in u.steps],
        "denominator": integer(-(-(u.unit * most << 64) // scale)),
    }


def _functions(problem: MarginProblem, point: Point) -> Iterator[dict[str, Any]]:
    """Yield functions close to the point's f, each further inside the hard rows."""
    if not point.has_function:
        return
    v = coefficients(problem, point)
    f = evaluate(problem, make_point(problem, v)).f
    b = problem.bias_at(f) if point.b is None or not problem.bias else point.b
    hard = np.isinf(problem.costs)
    if not hard.any():
        yield _function(problem, v, b)
        return
    u = problem.slack(f, b)[hard]
    inside = find_slater_point(problem)
    for room in MOVES_INSIDE:
        if inside is not None:
            v0, b0 = coefficients(problem, inside), inside.b or 0.0
            slack = -problem.slack(evaluate(problem, inside).f, b0)[hard]
            theta = min(
                1.0, room + 2 * float((np.maximum(u, 0.0) / (np.maximum(u, 0.0) + slack)).max())
            )
            yield _function(problem, (1 - theta) * v + theta * v0, (1 - theta) * b + theta * b0)
        elif (margin := float((1 - u).min())) > 0:
            factor = (
                (1 + room) / min(margin, 1.0) if np.isfinite(problem.C) else (1 + room) / margin
            )
            yield _function(problem, factor * v, factor * b)


def _function(problem: MarginProblem, v: Array, b: float) -> dict[str, Any]:
    """Return a function and its bias as in a certificate.

    Coefficients of equal points are added up, as in the computation of intervals.
    """
    if problem.explicit is None:
        return {"beta": problem.gram.merged(v).tolist(), "b": float(b)}
    return {"w": v.tolist(), "b": float(b)}


def _combination(x: Array | Sequence[Fraction]) -> dict[str, Any]:
    """Return the nonzero entries of x, with their indices, as integers over one denominator."""
    values = x.tolist() if isinstance(x, np.ndarray) else x
    kept = [r for r, v in enumerate(values) if v]
    ratios = [values[r].as_integer_ratio() for r in kept]
    unit = math.lcm(*{denominator for _, denominator in ratios})
    return {
        "rows": kept,
        "numerators": [integer(n * (unit // d)) for n, d in ratios],
        "denominator": integer(unit),
    }


def _features(problem: Problem, kernel: Kernel) -> list[list[float]]:
    X = dense(problem.X)
    rows: list[list[float]] = X.tolist()
    return [row[: i + 1] for i, row in enumerate(rows)] if isinstance(kernel, Precomputed) else rows


def _parameters(kernel: Kernel, shift: float) -> dict[str, float]:
    if isinstance(kernel, Linear):
        return {}
    return {"shift": shift} if isinstance(kernel, Precomputed) else dict(vars(kernel))


def _number(v: float) -> float | str:
    return "inf" if math.isinf(v) else float(v)


def _outward(v: Fraction | float, way: int) -> float | str:
    """Return the nearest double below (`way` -1) or above (1) a bound, or equal to it.

    A bound outside the float64 range is returned as a rational.
    """
    if isinstance(v, float):
        return "inf" if v > 0 else "-inf"
    x = checker.outward(v, way)
    return x if math.isfinite(x) else ratio(v)
