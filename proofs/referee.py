"""The referee: one family, many answers, three questions to each, one verdict.

    claim      is the value that the answer declares the family's optimum?
    point      are the f, b and alpha that it supplies near-optimal, after exact repair?
    accuracy   how well did the backend solve its own problem, recomputed from its raw vectors?

All figures are absolute differences on the family's value scale over S = max(|lower|, |upper|, 1e-4 P(0)). No status and no objective
that anybody reports is believed. Weak duality puts any repaired point into a true interval, so the interval alone never says yes; and
a disagreement is proven: our own rounding is never held against an answer.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

import numpy as np

from equimargin.formulations import REGISTRY
from equimargin.formulations.bounds.evaluate import arithmetic
from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval
from equimargin.formulations.bounds.multipliers_from_f import dual_from
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.solvers.backends.solve import Answer
from equimargin.solvers.backends.standard_form import StandardForm
from equimargin.solvers.registry import SOLVERS
from equimargin.solvers.solution import Solution, Status

FAILED = 1e-3
"""An answer whose recomputed accuracy is worse than this has not solved its own problem."""
CLAIM_FACTOR, POINT_FACTOR = 10.0, 30.0
"""An honest answer of accuracy eps claims within 10 eps, and its point, by 1/2 |f - f*|^2 <= gap, lies within 30 sqrt(eps), its losses by
the length of f - f* and 1/2 |f|^2 by the square."""
RAY = 1e-6
"""A ray counts if it satisfies its conditions to this, relative to the objective along it."""
REACH = 100.0
"""A ray contradicts a finite optimum if the objective along it passes so many S before the conditions are off by RAY of their size."""
BEYOND = 1e8
"""A hard family's proven lower bound of this many times p / mean K_ii is no finite optimum's: f would need margins below 1e-4 / sqrt(p)."""


class Agreement(StrEnum):
    """What the referee says of one answer."""

    AGREES = "agrees"
    INACCURATE = "inaccurate"
    DISAGREES = "disagrees"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What the referee says of a family."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Evidence:
    """What one answer shows before the family is looked at: absolute figures on the family's value scale.

    formulation : id of the declaration, None for a specialised solver.  control : wrong on purpose.  value : the declared objective,
    mapped; +-inf where a verified ray says so.  mismatch : the larger of |declared - printed| objective and of what the violations of
    the declared and of the printed constraints are worth.  cancellation : how far its 1/2 beta'K beta may be off as printed and as
    declared, or its value as computed.  lower, upper : the interval of the answer's own point.  inner_lower, inner_upper : what exact
    arithmetic cannot pass at that point.  has_f, has_alpha : which sides it supplied.  shadow : the one that is the multipliers of a linear
    program.  derived_lower : proven from multipliers that we made from its f.  infeasible : whether it proves that no point is feasible.
    residual : of its own problem, in units of the objective, auxiliary variables eliminated too.  normwise : the largest relative residual,
    likewise.  arithmetic : what float64 makes of margins in any solver.  reach : how far its ray goes.  point : what it supplied.
    raised : the exception that took the answer's place, and where; empty if there was none.
    """

    family: str
    formulation: str | None
    solver: str
    control: bool
    status: Status
    reason: str
    value: float = float("nan")
    mismatch: float = float("inf")
    lower: float = -np.inf
    upper: float = np.inf
    has_f: bool = False
    has_alpha: bool = False
    derived_lower: float = -np.inf
    shadow: Literal["f", "alpha"] | None = None
    infeasible: bool = False
    inner_lower: float = -np.inf
    inner_upper: float = np.inf
    cancellation: float = 0.0
    residual: float = float("inf")
    normwise: float = float("inf")
    arithmetic: float = 0.0
    ray: bool = False
    reach: float = 0.0
    skipped: bool = False
    raised: str = ""
    compile_seconds: float | None = None
    solve_seconds: float | None = None
    iterations: int | None = None
    point: CanonicalPoint | None = field(default=None, repr=False, compare=False)

    @property
    def rounding(self) -> float:
        """The larger share that rounding has in a side of [lower, upper] that it supplied."""
        sides = ((self.has_f, self.upper, self.inner_upper), (self.has_alpha, self.inner_lower, self.lower))
        return max((larger - smaller for supplied, larger, smaller in sides if supplied and larger > smaller), default=0.0)


@dataclass(frozen=True)
class Judgement:
    """The evidence with the three numbers and what follows from them.

    claim, off, accuracy : design's three numbers, relative to S.  relative_width : of [lower, upper] with the family's lower bound where
    the answer supplied no alpha; lower_kind says which ("own" or "family").
    """

    evidence: Evidence
    agreement: Agreement
    claim: float
    off: float
    accuracy: float
    lower: float
    upper: float
    lower_kind: str | None
    relative_width: float


@dataclass(frozen=True)
class Family:
    """A family's verdict, with all its judgements."""

    id: str
    interval: Interval
    verdict: Verdict
    reason: str
    judgements: tuple[Judgement, ...]
    feasible: bool = True

    def count(self, agreement: Agreement) -> int:
        """How many answers, controls apart, came out so."""
        return sum(j.agreement is agreement for j in self.judgements if not j.evidence.control)


def skipped(family: str, formulation: str | None, solver: str, control: bool, status: Status, reason: str) -> Evidence:
    """The evidence of what was not run, with the reason."""
    return Evidence(family, formulation, solver, control, status, reason, skipped=True)


def failed(family: str, formulation: str | None, solver: str, control: bool, failure: Exception) -> Evidence:
    """The evidence of an exception in an answer's place: it shows nothing, and says what went wrong."""
    last = traceback.extract_tb(failure.__traceback__)[-1]
    words = " ".join(f"{type(failure).__name__}: {failure}".split())
    raised = f"{words[:200]} ({Path(last.filename).name}, line {last.lineno})"
    reason = f"stopped by an exception: {raised}"
    return Evidence(family, formulation, solver, control, Status.NUMERICAL_FAILURE, reason, raised=raised)


@np.errstate(all="ignore")  # what overflows is inaccurate, or no proof
def examine(problem: Problem, answer: Answer, control: bool = False) -> Evidence:
    """What a backend's answer to a declaration shows.

    Parameters
    ----------
    problem : the family's canonical problem, with the true data.  answer : from `solve_declaration`; the parameters of its declaration may
        have been changed since.  control : wrong on purpose.
    """
    with answer.declaration.at(answer.parameters):
        return _examined(problem, answer, control)


def _examined(problem: Problem, answer: Answer, control: bool) -> Evidence:
    declaration = answer.declaration
    known = Evidence(
        problem.family,
        declaration.id,
        answer.backend,
        control,
        answer.status,
        answer.reason,
        compile_seconds=answer.compile_seconds,
        solve_seconds=answer.solve_seconds,
        iterations=answer.iterations,
    )
    if answer.form is None:
        return replace(known, skipped=answer.status is Status.UNSUPPORTED)
    if proves_ray(answer):
        minimised = declaration.objective.NAME == "minimize"
        value = declaration.value(np.inf if minimised == (answer.status is Status.INFEASIBLE) else -np.inf)
        reach = _spread(declaration.value, 0.0, reach_of_ray(answer))
        floor = arithmetic(problem)
        return replace(known, value=value, mismatch=0.0, ray=True, reach=reach, infeasible=value == np.inf, arithmetic=floor)
    if answer.point is None or answer.values is None:
        return known
    objective = answer.objective
    residual, normwise = own_residual(answer.form, answer.x, answer.z, _sizes(answer))
    residual = _worst(residual, abs(answer.eliminated_objective - objective), _unrolled(answer))
    point = _judged_point(problem, answer.problem, answer.point)
    proven, inner = interval(problem, point), inner_interval(problem, point)
    value = declaration.value(objective)
    return replace(
        known,
        value=value,
        mismatch=max(_spread(declaration.value, objective, worth) for worth in _worths(answer)),
        lower=proven.lower,
        upper=proven.upper,
        has_f=point.has_function,
        has_alpha=point.has_multipliers,
        derived_lower=_derived_lower(problem, point),
        shadow=_shadow(problem, answer),
        infeasible=_beyond(problem, value, proven.lower) or (value == np.inf and normwise <= RAY),
        inner_lower=inner.lower,
        inner_upper=inner.upper,
        cancellation=_cancellation(problem, point),
        residual=_spread(declaration.value, objective, residual),
        normwise=max(normwise, answer.eliminated),
        arithmetic=arithmetic(problem, point.multipliers),
        point=point,
    )


@np.errstate(all="ignore")
def examine_solution(problem: Problem, solution: Solution) -> Evidence:
    """What a specialised solver's solution shows: its point has both sides, its claim is its primal value, its accuracy its gap.

    Parameters
    ----------
    problem : the family's canonical problem, with the true data, whatever the solution says that it solved.  solution : from `solve`.
    """
    proven, inner = interval(problem, solution.point), inner_interval(problem, solution.point)
    value = min(solution.value, proven.upper)  # infinite where hard rows are missed by a rounding error, which a repair makes good
    return Evidence(
        problem.family,
        None,
        solution.solver,
        False,
        solution.status,
        solution.reason,
        value=value,
        mismatch=0.0,
        lower=proven.lower,
        upper=proven.upper,
        has_f=True,
        has_alpha=solution.dual is not None,
        infeasible=_beyond(problem, value, proven.lower),
        inner_lower=inner.lower,
        inner_upper=inner.upper,
        cancellation=proven.upper - inner.upper if np.isfinite(proven.upper) else 0.0,
        residual=max(proven.upper - proven.lower, 0.0),
        normwise=0.0,
        arithmetic=arithmetic(problem, solution.dual),
        solve_seconds=solution.seconds,
        iterations=solution.iterations,
        point=solution.point,
    )


@dataclass(frozen=True)
class Ways:
    """Whether anybody takes a family's problem, asked for or not.

    undeclarable : why no formulation of the family declares it, a clause; empty where one does.
    unsolvable : the same of the specialised solvers.  too_large : whether its size is all that keeps it from being declared.
    """

    undeclarable: str = ""
    unsolvable: str = ""
    too_large: bool = False


def ways(problem: Problem) -> Ways:
    """Who takes a problem, by what every formulation of its family and every specialised solver says of it.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.
    """
    refusals = [entry.refusal(problem) for entry in REGISTRY.values() if entry.family == problem.family and not entry.control]
    too_large = bool(refusals) and all(refusal is not None and refusal.too_large for refusal in refusals)
    undeclarable = "the problem is too large to declare" if too_large else "no formulation takes the problem"
    solvable = any(solver.refusal(problem) is None for solver in SOLVERS.values())
    return Ways("" if None in refusals else undeclarable, "" if solvable else "no specialised solver takes the problem", too_large)


def judge(
    family: str, evidence: Sequence[Evidence], scale: float, tol: float = 1e-6, convex: bool = True, possible: Ways = Ways()
) -> Family:
    """The verdict on a family from all its answers.

    Parameters
    ----------
    family : its id.  evidence : one entry an answer.  scale : P(0).  tol : relative, for claim and point.
    convex : False where no optimum can be claimed; the family is undecided then.
    possible : from `ways`; by default somebody declares the problem and somebody solves it.

    Returns
    -------
    Family : interval = [max lower, min upper] over all answers but the controls; agree only with an agreeing declaration and an agreeing
        specialised solver (two declarations where no solver was run; two solvers where the problem is too large to declare), no
        disagreement, and bounds that do not contradict each other.
    """
    counted = [e for e in evidence if not e.control]
    lower = max((bound for e in counted for bound in (e.lower, e.derived_lower) if not np.isnan(bound)), default=-np.inf)
    proven = Interval(lower, min((e.upper for e in counted if not np.isnan(e.upper)), default=np.inf), scale)
    excluded = any(e.infeasible and (not e.ray or e.reach >= REACH * proven.size) for e in counted)
    feasible = bool(np.isfinite(proven.upper)) or not excluded
    judgements = _acquitted([_judgement(e, proven, tol, feasible) for e in evidence])
    if not convex:
        return Family(family, proven, Verdict.UNDECIDED, "the kernel is not positive semidefinite: no optimum is claimed", judgements)
    if proven.lower > proven.upper:
        return Family(family, proven, Verdict.DISAGREE, "the proven bounds contradict each other", judgements)
    verdict, reason = _verdict([j for j in judgements if not j.evidence.control], possible)
    return Family(family, proven, verdict, reason if feasible else f"infeasible: {reason}", judgements, feasible)


def _verdict(judgements: Sequence[Judgement], possible: Ways) -> tuple[Verdict, str]:
    against = [j.evidence for j in judgements if j.agreement is Agreement.DISAGREES]
    if against:
        names = ", ".join(f"{e.formulation or 'solver'} by {e.solver}" for e in against)
        return Verdict.DISAGREE, f"disagreeing: {names}"
    declared = _Side("declaration", [j for j in judgements if j.evidence.formulation is not None], possible.undeclarable)
    solved = _Side("specialised solver", [j for j in judgements if j.evidence.formulation is None], possible.unsolvable)
    if declared.agreeing and solved.agreeing:
        return Verdict.AGREE, "a declaration and a specialised solver agree"
    if declared.agreeing >= 2 and not solved.run:
        return Verdict.AGREE, f"two declarations agree; {solved.sentence}"
    if solved.agreeing >= 2 and possible.too_large:
        return Verdict.AGREE, "two solvers of different algorithms agree; the problem is too large to declare"
    return Verdict.UNDECIDED, f"{declared.sentence}; {solved.sentence}"


@dataclass(frozen=True)
class _Side:
    """The declarations of a family, or its specialised solvers: what was asked of them, and what came of it.

    kind : "declaration" or "specialised solver".  judgements : of all that were asked for.  impossible : why none takes the problem.
    """

    kind: str
    judgements: Sequence[Judgement]
    impossible: str

    @property
    def run(self) -> bool:
        """Whether any was run."""
        return any(j.agreement is not Agreement.SKIPPED for j in self.judgements)

    @property
    def agreeing(self) -> int:
        """How many formulations agree, by whatever backend, or how many solvers."""
        agreeing = (j.evidence for j in self.judgements if j.agreement is Agreement.AGREES)
        return len({e.formulation or e.solver for e in agreeing})

    @property
    def sentence(self) -> str:
        """What is to be said of them, a clause of its own for every case."""
        if self.agreeing:
            return f"one {self.kind} agrees" if self.agreeing == 1 else f"{self.agreeing} {self.kind}s agree"
        if self.run:
            return f"no {self.kind} that was run agrees"
        if self.impossible:
            return self.impossible
        return f"every {self.kind} that was asked for was skipped" if self.judgements else f"no {self.kind} was asked for"


def _acquitted(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """The judgements, where a disagreement is the backend's failure if a better answer to the same declaration confirms that."""

    def better(this: Judgement, other: Judgement) -> bool:
        agrees = other.agreement is Agreement.AGREES and other.accuracy <= FAILED
        return agrees or (other.agreement is Agreement.INACCURATE and other.accuracy <= CLAIM_FACTOR * this.accuracy)

    def acquitted(this: Judgement) -> bool:
        same = (other for other in judgements if this.evidence.formulation == other.evidence.formulation is not None)
        return this.agreement is Agreement.DISAGREES and any(better(this, other) for other in same)

    return tuple(replace(j, agreement=Agreement.FAILED) if acquitted(j) else j for j in judgements)


def _judgement(e: Evidence, family: Interval, tol: float, feasible: bool) -> Judgement:
    if e.skipped:
        nothing = float("nan")
        return Judgement(e, Agreement.SKIPPED, nothing, nothing, nothing, -np.inf, np.inf, None, np.inf)
    S = family.size
    claim = _worst(_distance(e.value, family), e.mismatch) / S
    above = (e.upper - family.lower) / S if e.has_f or e.has_alpha else np.inf
    below = (family.upper - e.lower) / S if e.has_alpha else 0.0
    off = _worst(above, below, 0.0)
    accuracy = _worst(e.normwise, e.residual / S, e.arithmetic)
    sides = ((e.lower, "own"), (e.derived_lower, "derived"), (family.lower, "family"))
    lower, kind = next(((bound, kind) for bound, kind in sides if np.isfinite(bound)), (-np.inf, None))
    width = Interval(lower, e.upper, family.scale)
    agreement = _agreement(e, claim, off, accuracy, tol, feasible, family)
    return Judgement(e, agreement, claim, off, accuracy, lower, e.upper, kind, width.relative_width)


def _agreement(e: Evidence, claim: float, off: float, accuracy: float, tol: float, feasible: bool, family: Interval) -> Agreement:
    """The verdict on one answer; nothing can be held against any unless some answer's point is proven feasible."""
    if not feasible and e.infeasible:
        return Agreement.AGREES
    if not feasible:
        return Agreement.DISAGREES if np.isfinite(e.value) and e.normwise <= RAY and np.isfinite(accuracy) else Agreement.FAILED
    if not np.isfinite(family.upper):
        return Agreement.FAILED
    if e.ray and not claim <= tol:
        return Agreement.DISAGREES if e.reach >= REACH * family.size and e.arithmetic <= FAILED else Agreement.FAILED
    if claim <= tol and off <= tol:
        return Agreement.AGREES
    if not accuracy <= FAILED:
        return Agreement.FAILED
    return Agreement.INACCURATE if _excused(e, accuracy, tol, family) else Agreement.DISAGREES


def _excused(e: Evidence, accuracy: float, tol: float, family: Interval) -> bool:
    """Whether an answer is as near as its accuracy, and that of the arithmetic in which it was found and is judged, let one expect.

    An f that we derived from its alpha does not count, as the primal rises steeply around the optimum; nor does the multipliers' side of a
    linear program, where a price of 1 stands beside a large K.
    """
    S = family.size
    claim = _worst(_distance(e.value, family), e.mismatch) - e.cancellation
    above = e.inner_upper - family.upper if e.has_f and e.shadow != "f" else 0.0 if e.has_alpha else np.inf
    below = family.lower - e.inner_lower if e.has_alpha and e.shadow != "alpha" else 0.0
    computed = _worst(accuracy, e.cancellation / S)
    evaluated = _worst(computed, e.rounding / S)
    near = POINT_FACTOR * max(evaluated, np.sqrt(evaluated))
    return claim <= S * max(tol, CLAIM_FACTOR * computed) and _worst(above, below) <= S * max(tol, near)


def _sizes(answer: Answer) -> Array | None:
    """|x_i| of the backend's answer, or of the point that its multipliers make where that is larger: a flat direction hides in small x."""
    point, d = answer.point, answer.declaration
    if answer.x is None or point is None or not isinstance(d.canonical, MarginProblem):
        return None
    at = d.canonical.own_point(point)
    alpha = at.alpha if at.has_multipliers or not at.has_function else dual_from(d.canonical, at)
    if alpha is None or len(alpha) != d.canonical.p:  # a declaration of other rows
        return None
    sizes = np.abs(answer.x)
    d.assign(Point(alpha=alpha))
    for name, columns in answer.columns.items():
        value = d.variables[name].value
        if value is not None:
            sizes[columns] = np.maximum(sizes[columns], np.abs(np.ravel(value, order="F")))
    for name, value in (answer.values or {}).items():
        d.variables[name].value = value
    return sizes


def _unrolled(answer: Answer) -> float:
    """How far the declared objective at the variables is from the one that the backend had, at its own x; inf where there is no x.

    The backend's has unknowns of cvxpy's in place of terms: of y = R alpha in 1/2 |y|^2 / C, say. An x that meets that equation to the
    last place that the backend has is right in y and not in alpha where 1 / C is large: the backend cannot resolve alpha.
    """
    form, x = answer.form, answer.x
    if form is None or x is None or x.shape != form.q.shape:
        return np.inf
    sign = 1.0 if answer.declaration.objective.NAME == "minimize" else -1.0
    return abs(sign * form.objective(x) - answer.objective)


def _shadow(problem: Problem, answer: Answer) -> Literal["f", "alpha"] | None:
    if isinstance(problem, MarginProblem):
        return None
    return "f" if REGISTRY[answer.declaration.id].carries == "multipliers" else "alpha"


def _judged_point(problem: Problem, declared: Problem, point: CanonicalPoint) -> CanonicalPoint:
    """The point in the terms of the problem that it is judged by: a look-alike may be declared for another kind of problem."""
    if problem.kind == declared.kind:
        return point
    return problem.point(declared.function(point).beta, point.multipliers)


def _derived_lower(problem: Problem, point: CanonicalPoint) -> float:
    """What multipliers made from the point's f prove, where it brings none of its own."""
    if point.has_multipliers or not point.has_function or isinstance(problem, OneNormProblem):
        return -np.inf
    return interval(problem, Point(alpha=dual_from(problem, problem.own_point(point)))).lower


def _cancellation(problem: Problem, point: CanonicalPoint) -> float:
    """How far 1/2 beta'K beta may be off as it is printed and as it is declared, for beta = A'alpha or the point's own.

    It is printed with the entries of K, rounded; and declared with features L, where K - L L' is what the eigenvalues lose. The optimum
    moves with that by no more than 1/2 beta'(K - L L')beta at the multipliers of the true or of the declared problem.
    """
    if isinstance(problem, OneNormProblem):
        return 0.0
    at = problem.own_point(point)
    alpha = at.alpha if at.alpha is not None else dual_from(problem, at)
    betas = [beta for beta in (at.beta, None if alpha is None else problem.rows.rdot(alpha)) if beta is not None]
    return max(
        (float(np.abs(beta) @ problem.gram.product(beta)[1]) + problem.features_error * float(beta @ beta) / 2 for beta in betas),
        default=0.0,
    )


def _beyond(problem: Problem, claimed: float, proven: float) -> bool:
    """Whether what is claimed of a hard family and the lower bound that is proven are so large that no finite optimum is left."""
    if not np.isinf(problem.group_costs).any():
        return False
    return all(bound * problem.gram.mean_diagonal >= BEYOND * problem.p for bound in (claimed, proven))


def _worst(*figures: float) -> float:
    """The largest of them; inf if one is NaN, which `max` may drop."""
    return np.inf if any(np.isnan(figures)) else max(figures)


def _distance(value: float, family: Interval) -> float:
    """How far a value lies outside the family's interval; inf for NaN."""
    return max(family.lower - value, value - family.upper, 0.0) if np.isfinite(value) else np.inf


def _spread(mapping: Callable[[float], float], at: float, by: float) -> float:
    """How far the mapped value moves when the value moves by `by`, either way."""
    if not np.isfinite(by):
        return np.inf
    return max(abs(mapping(at + by) - mapping(at)), abs(mapping(at - by) - mapping(at)))


def _worths(answer: Answer) -> tuple[float, float, float]:
    """What is wrong with an answer by its own account, in units of its objective: |declared - printed|, and both sets of violations."""
    values, violations, multipliers = answer.values, answer.violations, answer.multipliers
    if values is None or violations is None or multipliers is None:
        return (np.inf, np.inf, np.inf)
    printed = answer.declaration.printed(values)
    default = max(1.0, abs(answer.objective))

    def worth(name: str, violation: Array) -> float:
        weight = multipliers.get(name)
        size = np.atleast_1d(np.maximum(violation, 0.0))
        if weight is None:
            return float(size.sum()) * default
        if np.shape(weight) != np.shape(violation):  # the printed constraints are more than the declared ones of that name, or fewer
            return float(size.sum()) * float(np.abs(weight).sum())
        return float(np.abs(np.atleast_1d(weight)) @ size)

    return (
        abs(float(printed.objective) - answer.objective),
        sum(worth(name, violation) for name, violation in violations.items()),
        sum(worth(name, np.asarray(violation)) for name, violation in printed.violations.items()),
    )


def own_residual(form: StandardForm, x: Array | None, z: Array | None, sizes: Array | None = None) -> tuple[float, float]:
    """How well a backend solved its own problem, from its raw vectors; `sizes` are those of x and of the optimum, as far as it is known.

    Returns
    -------
    |p - d| + |z|'|r_p| + |x|'|r_d| + 1/2 r_d' diag(P)^-1 r_d, about the error of the objective, and the largest normwise relative residual
    (the first is 0 at x = z = 0, the second is not). inf where vectors are missing.
    """
    if x is None or z is None or x.shape != form.q.shape or z.shape != form.h.shape:
        return np.inf, np.inf
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return np.inf, np.inf
    sizes = np.abs(x) if sizes is None else sizes
    s = form.h - form.G @ x
    primal_residual = s - _projected(s, form, dual=False)
    z = _projected(z, form, dual=True)
    Px = form.P @ x
    dual_residual = Px + form.q + form.G.T @ z
    quadratic = float(x @ Px)
    primal = form.objective(x)
    dual = -quadratic / 2 - float(form.h @ z) + form.offset
    for bound, sign in ((form.lower, 1.0), (form.upper, -1.0)):  # bounds on variables are not rows: their multipliers are in the residual
        finite = np.isfinite(bound)
        multiplier = np.where(finite, np.maximum(0.0, sign * dual_residual), 0.0)
        dual_residual = dual_residual - sign * multiplier
        dual += sign * float(multiplier[finite] @ bound[finite])
        outside = np.where(finite, np.maximum(0.0, sign * (np.where(finite, bound, 0.0) - x)), 0.0)
        primal_residual = np.append(primal_residual, outside)
        z = np.append(z, multiplier)
    normwise = max(
        _largest(primal_residual) / (1 + _largest(form.h)),
        _largest(dual_residual) / (1 + _largest(form.q)),
        abs(primal - dual) / (1 + abs(primal)),
    )
    curved = form.P.diagonal() > 0
    second_order = float((dual_residual[curved] ** 2 / form.P.diagonal()[curved]).sum()) / 2
    first_order = abs(primal - dual) + float(np.abs(z) @ np.abs(primal_residual)) + float(sizes @ np.abs(dual_residual))
    return first_order + second_order, normwise


def proves_ray(answer: Answer) -> bool:
    """Whether the backend's raw ray proves what its status says.

    Unbounded: x with Px = 0, -Gx in the cone, q'x < 0. Infeasible (Farkas): z in the dual cone with G'z = 0, h'z < 0. Both to RAY.
    """
    form = answer.form
    if form is None:
        return False
    if answer.status is Status.UNBOUNDED and answer.primal_ray is not None and answer.primal_ray.shape == form.q.shape:
        x = answer.primal_ray / max(_largest(answer.primal_ray), 1e-300)
        s = -(form.G @ x)
        away = [_largest(form.P @ x), _largest(s - _projected(s, form, dual=False))]
        away += [_largest(np.minimum(x[np.isfinite(form.lower)], 0.0)), _largest(np.maximum(x[np.isfinite(form.upper)], 0.0))]
        gain = -float(form.q @ x)
        return bool(gain > 0 and max(away) <= RAY * gain)
    if answer.status is Status.INFEASIBLE and answer.dual_ray is not None and answer.dual_ray.shape == form.h.shape:
        z = _projected(answer.dual_ray, form, dual=True)
        z = z / max(_largest(z), 1e-300)
        gain = -float(form.h @ z)
        return bool(gain > 0 and _largest(form.G.T @ z) <= RAY * gain)
    return False


def reach_of_ray(answer: Answer) -> float:
    """How far the objective goes along a ray that `proves_ray`, until its curvature turns it or a condition is off by RAY of its size."""
    form = answer.form
    if form is None:
        return 0.0
    if answer.status is Status.UNBOUNDED and answer.primal_ray is not None:
        x = answer.primal_ray / _largest(answer.primal_ray)
        gain, curvature, size = -float(form.q @ x), float(x @ (form.P @ x)), _largest(form.h)
        s = -(form.G @ x)
        away = _largest(s - _projected(s, form, dual=False))
    elif answer.dual_ray is not None:
        z = _projected(answer.dual_ray, form, dual=True)
        gain, curvature, size, away = -float(form.h @ z), 0.0, _largest(form.q), _largest(form.G.T @ z)
    else:
        return 0.0
    turn = gain**2 / (2 * curvature) if curvature > 0 else np.inf
    return min(turn, RAY * (1 + size) * gain / away if away > 0 else np.inf)


def _projected(s: Array, form: StandardForm, dual: bool) -> Array:
    """The projection onto {0}^zero x R+^nonneg x second-order cones, or onto its dual (free instead of zero)."""
    out = s.copy()
    k = form.zero
    if not dual:
        out[:k] = 0.0
    out[k : k + form.nonneg] = np.maximum(0.0, s[k : k + form.nonneg])
    k += form.nonneg
    for size in form.cones:
        t, v = s[k], s[k + 1 : k + size]
        r = float(np.linalg.norm(v))
        if r > abs(t):
            out[k], out[k + 1 : k + size] = (r + t) / 2, (r + t) / 2 * v / r
        elif t < 0:
            out[k : k + size] = 0.0
        k += size
    return out


def _largest(v: Array) -> float:
    return float(np.abs(v).max(initial=0.0))
