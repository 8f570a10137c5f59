"""Verdict on a problem family from the evidence of all its answers.

Every answer is compared with the intersection of all proven intervals. Its agreement is

- AGREES if its value and its point are within the tolerance of that interval;
- INACCURATE if its own recomputed residual explains the difference;
- FAILED if it has not solved its own problem or has no value;
- DISAGREES otherwise.

A specialised solver has no declared problem of its own. It also disagrees if it reports
convergence at a point that is proven to be far from the optimum.

All errors are relative to S, the size of the interval (`Interval.size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.proofs.referee.evidence import Claim, Evidence, PointProof, SolveAccuracy, worst
from equimargin.proofs.referee.rays import RAY_TOLERANCE
from equimargin.proofs.referee.stable import Stable
from equimargin.proofs.referee.ways import Availability

MAX_RELATIVE_RESIDUAL = 1e-3
"""Relative residual above which an answer has not solved its own problem."""
CLAIM_FACTOR = 10.0
"""Multiple of its residual by which an answer's value may differ.

The residual equals the error of the objective up to a small factor.
"""
POINT_FACTOR = 30.0
"""Multiple of the root of its relative residual by which a point may differ.

By strong convexity 1/2 |f - f*|^2 <= gap, and the losses are Lipschitz in f.
"""
CONTRADICTING_REACH = 100.0
"""Decrease of the objective along a ray, in units of S, that refutes a finite optimum.

Rays of smaller reach can be rounding error.
"""


USUAL_RULE = "a declaration and a specialised solver agree"
"""Rule by which most families agree, as text; a page names any other rule."""


class Agreement(StrEnum):
    """Classification of one answer."""

    AGREES = "agrees"
    INACCURATE = "inaccurate"
    DISAGREES = "disagrees"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """Verdict on a family."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Judgement:
    """Errors and agreement of one answer."""

    evidence: Evidence
    """Evidence of the answer."""
    agreement: Agreement
    """Agreement of the answer."""
    claim: float
    """Error of the answer's value plus mismatch, relative to S; NaN if skipped."""
    off: float
    """Error of the answer's point, relative to S; NaN if skipped."""
    accuracy: float
    """Residual of the answer in its own problem, relative to S; NaN if skipped."""
    lower: float
    """Lower bound on the family's scale, from the source `lower_kind`."""
    upper: float
    """Upper bound of the answer's own point, on the family's scale; inf without one."""
    lower_kind: str | None
    """Source of `lower`, the first that is finite; None if none is.

    "own" is the answer's own bound, "derived" that of multipliers derived from its f,
    "family" that of the family.
    """
    relative_width: float
    """(upper - lower) / S."""
    explained: float | None = None
    """Largest proven difference that roundings explain, relative to S; None if they do not.

    The roundings are those of its own numbers and of the definition's.
    """
    unequal: float = 0.0
    """Proven difference of its optimum from the family's, relative to S.

    It is 0 where rounding explains the difference.
    """

    @property
    def ground(self) -> str:
        """Reason why the answer does not agree: its own, and the computed figures."""
        own_reason, accuracy = self.evidence.run.reason, self.evidence.accuracy
        if (
            self.agreement in (Agreement.AGREES, Agreement.SKIPPED)
            or self.evidence.claim is None
            or accuracy is None
        ):
            return own_reason
        # The first cause that applies is named, in the order of its strength.
        if self.explained is not None:
            sources = "of its own numbers and of those of the definition"
            return (
                f"{own_reason}; it is off by {self.off:.1e}, and roundings {sources} explain "
                f"up to {self.explained:.1e}: that proves no error"
            )
        if self.unequal and self.agreement is Agreement.INACCURATE:
            return (
                f"{own_reason}; {self.unequal:.1e} is within the tolerance, and more than "
                f"roundings of its numbers explain"
            )
        if accuracy.arithmetic > MAX_RELATIVE_RESIDUAL:
            return (
                f"{own_reason}, but float64 distinguishes margins to {accuracy.arithmetic:.1e} only"
            )
        if self.agreement is Agreement.FAILED and self.evidence.claim.of_ray:
            return (
                f"{own_reason}, but its ray is too short, or rounded too much, to contradict the "
                f"proven interval"
            )
        if self.agreement is Agreement.FAILED and self.accuracy > MAX_RELATIVE_RESIDUAL:
            return f"{own_reason}, but its own conditions are missed by {self.accuracy:.1e}"
        return (
            f"{own_reason}, and is off by {worst(self.claim, self.off):.1e} at an accuracy of "
            f"{self.accuracy:.1e}"
        )


@dataclass(frozen=True)
class FamilyVerdict:
    """Verdict on a family, with the judgements of all answers."""

    id: str
    """Id of the family."""
    interval: Interval
    """Proven interval of the optimum, from all answers except controls."""
    verdict: Verdict
    """Verdict."""
    reason: str
    """Reason for the verdict, as a sentence."""
    judgements: tuple[Judgement, ...]
    """Judgement of every answer, in the order of the evidence."""
    feasible: bool = True
    """False if an answer proves infeasibility, and no point is proven feasible."""
    note: str = ""
    """Note on the interpretation of floats; empty if they are taken literally."""
    doubt: str = ""
    """Reason why the interval is not proven after all; empty if it is."""
    has_features: bool = True
    """True if the data are a feature matrix that can be scaled and subsampled."""
    stable: Stable | None = None
    """Properties that all optima share; None if not computed or not proven."""
    part: str = ""
    """Part of the data that the problem concerns, such as two classes; empty if all."""

    @property
    def title(self) -> str:
        """Id of the family, and the part of the data."""
        return f"{self.id}, {self.part}" if self.part else self.id

    @property
    def unbounded(self) -> bool:
        """True if the objective is proven unbounded."""
        return (
            self.feasible
            and bool(np.isinf(self.interval.lower))
            and self.interval.lower == self.interval.upper
        )

    @property
    def advice(self) -> str:
        """Advice for an undecided verdict, as sentences; otherwise empty."""
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        if any(j.unequal for j in self.judgements if not j.evidence.run.control):
            return (
                "A formulation with another optimum is another problem, or its numbers are "
                "rounded: state them as they are meant."
            )
        bounded = np.isfinite(self.interval.lower) and np.isfinite(self.interval.upper)
        stands = (
            [
                "The interval is proven all the same; the verdict needs an answer of the other "
                "kind that agrees."
            ]
            if bounded
            else []
        )
        arithmetic = max(
            (
                j.evidence.accuracy.arithmetic
                for j in self.judgements
                if j.evidence.accuracy is not None
            ),
            default=0.0,
        )
        if arithmetic > MAX_RELATIVE_RESIDUAL:
            size = (
                f"C times the largest K_ii is about {arithmetic / UNIT:.0e}, too large for "
                f"backends that compute in float64"
            )
            return " ".join([*stands, f"{size}: scale the features, or lower C."])
        return " ".join(stands)

    def count(self, agreement: Agreement) -> int:
        """Return the number of answers with an agreement, controls excluded.

        Parameters
        ----------
        agreement : Agreement
            Agreement to count.
        """
        return sum(j.agreement is agreement for j in self.judgements if not j.evidence.run.control)


@dataclass(frozen=True)
class _Standard:
    """Interval and tolerance with which the answers of a family are compared."""

    interval: Interval
    """Intersection of all proven intervals."""
    tol: float
    """Tolerance of values and points, relative to S."""
    feasible: bool
    """True if the family counts as feasible."""

    @property
    def S(self) -> float:
        """Size of the interval, the unit of relative errors."""
        return self.interval.size

    def distance(self, value: float) -> float:
        """Return the distance of a value from the interval.

        It is inf for an infinite value, unless the optimum is proven to be infinite.
        """
        if self.interval.lower == value == self.interval.upper:
            return 0.0
        return (
            max(self.interval.lower - value, value - self.interval.upper, 0.0)
            if np.isfinite(value)
            else np.inf
        )

    def contradicted_by(self, claim: Claim) -> bool:
        """Return True if a claim can contradict a finite optimum.

        A point's claim can, and that of a ray of sufficient reach.
        """
        return claim.reach is None or claim.reach >= CONTRADICTING_REACH * self.S


def judge(
    family: str,
    evidence: Sequence[Evidence],
    scale: float,
    tol: float = 1e-6,
    convex: bool = True,
    possible: Availability | None = None,
    constant: float = 0.0,
) -> FamilyVerdict:
    """Return the verdict on a family from all its answers.

    The verdict is AGREE only if

    - a declaration and a specialised solver of other code agree (two declarations if no
      solver was run, by two backends unless the interval is within the tolerance; two
      solvers of different code if the problem is too large to declare),
    - no answer disagrees,
    - no formulation is proven not to be equal, and
    - the proven bounds do not contradict each other.

    Parameters
    ----------
    family : str
        Id of the family.
    evidence : sequence of Evidence
        One entry per answer.
    scale : float
        Primal objective at f = 0, P(0).
    tol : float, default 1e-06
        Relative tolerance of values and points.
    convex : bool, default True
        False if no optimum can be claimed; the family is then undecided.
    possible : Availability, optional
        Result of `find_available_answers`. By default, declarations and specialised
        solvers are available.
    constant : float, default 0.0
        Part of the objective that is equal at every feasible point: S does not count
        it.

    Returns
    -------
    FamilyVerdict
        `interval` is [max lower, min upper] over all answers except controls.
    """
    standard = _standard(
        [e for e in evidence if not e.run.control], Interval(-np.inf, np.inf, scale, constant), tol
    )
    proven = standard.interval
    judgements = _acquitted([_judgement(e, standard) for e in evidence])
    if not convex:
        return FamilyVerdict(
            family,
            proven,
            Verdict.UNDECIDED,
            "the kernel is not positive semidefinite: no optimum is claimed",
            judgements,
        )
    # By weak duality, only a wrong bound can cause this.
    if proven.lower > proven.upper:
        return FamilyVerdict(
            family, proven, Verdict.DISAGREE, "the proven bounds contradict each other", judgements
        )
    verdict, reason = _verdict(judgements, possible or Availability(), proven.relative_width <= tol)
    result = FamilyVerdict(family, proven, verdict, reason, judgements, standard.feasible)
    infinite = (
        ""
        if standard.feasible and not result.unbounded
        else "unbounded: "
        if standard.feasible
        else "infeasible: "
    )
    return replace(result, reason=f"{infinite}{reason}")


def _standard(counted: Sequence[Evidence], nothing: Interval, tol: float) -> _Standard:
    """Return the intersection of all proven intervals.

    A finite upper bound refutes every proof of infeasibility.
    """
    points = [e.point for e in counted if e.point is not None]
    lowers = [
        bound
        for point in points
        for bound in (point.proven.lower, point.derived_lower)
        if not np.isnan(bound)
    ]
    uppers = [point.proven.upper for point in points if not np.isnan(point.proven.upper)]
    proven = replace(nothing, lower=max(lowers, default=-np.inf), upper=min(uppers, default=np.inf))
    standard = _Standard(proven, tol, True)
    # A finite upper bound comes from a feasible point.
    infeasible = any(
        e.claim is not None and e.claim.infeasible and standard.contradicted_by(e.claim)
        for e in counted
    )
    return replace(standard, feasible=bool(np.isfinite(standard.interval.upper)) or not infeasible)


def _judgement(e: Evidence, standard: _Standard) -> Judgement:
    """Return the errors and the agreement of one answer."""
    nan = float("nan")
    if e.run.skipped:
        return Judgement(e, Agreement.SKIPPED, nan, nan, nan, -np.inf, np.inf, None, np.inf)
    claim = (
        np.inf
        if e.claim is None
        else worst(standard.distance(e.claim.value), e.claim.mismatch) / standard.S
    )
    off = np.inf if e.point is None else _off(e.point, standard)
    accuracy = np.inf if e.accuracy is None else _accuracy(e.accuracy, off, standard)
    judged = _agreement if e.point is None or e.point.own is None else _agreement_of_own
    agreement = judged(e, (claim, off, accuracy), standard)
    sides = [(standard.interval.lower, "family")]
    upper = np.inf
    if e.point is not None:
        proven = e.point.proven if e.point.own is None else e.point.own
        sides = [(proven.lower, "own"), (e.point.derived_lower, "derived"), *sides]
        upper = proven.upper
    # The first finite bound: the answer's own, derived from its f, the family's.
    lower, kind = next(
        ((bound, kind) for bound, kind in sides if np.isfinite(bound)), (-np.inf, None)
    )
    width = replace(standard.interval, lower=lower, upper=upper).relative_width
    explained = _explained(e, agreement, accuracy, standard)
    return Judgement(
        e,
        agreement,
        claim,
        off,
        accuracy,
        lower,
        upper,
        kind,
        width,
        explained,
        _unequal(e, standard),
    )


def _accuracy(own: SolveAccuracy, off: float, standard: _Standard) -> float:
    """Return the largest residual of an answer in its own problem, relative to S."""
    return worst(
        own.normwise, off if own.residual is None else own.residual / standard.S, own.arithmetic
    )


def _off(point: PointProof, standard: _Standard) -> float:
    """Return the error of the sides that an answer supplied, relative to S.

    It is inf if the answer supplied none. For an answer whose own optimum is proven, it
    is the largest distance of the two optima.
    """
    own, family = point.own, standard.interval
    if own is not None:
        same = (own.lower, own.upper) == (family.lower, family.upper)
        return (
            0.0
            if same
            else worst(own.upper - family.lower, family.upper - own.lower, 0.0) / standard.S
        )
    above = (
        (point.proven.upper - standard.interval.lower) / standard.S
        if point.has_f or point.has_alpha
        else np.inf
    )
    below = (standard.interval.upper - point.proven.lower) / standard.S if point.has_alpha else 0.0
    return worst(above, below, 0.0)


def _agreement(e: Evidence, figures: tuple[float, float, float], standard: _Standard) -> Agreement:
    """Return the agreement that follows from the errors of an answer.

    The figures are the errors of value and point, and the residual, relative to S. If
    no point of the family is proven feasible, an answer can disagree only if the family
    counts as infeasible.
    """
    claim, off, accuracy = figures
    if e.claim is None or e.accuracy is None:
        return Agreement.FAILED
    # Infeasible family: only a verified ray agrees, a finite solution disagrees.
    if not standard.feasible and e.claim.infeasible:
        return Agreement.AGREES
    if not standard.feasible:
        solved = (
            np.isfinite(e.claim.value)
            and e.accuracy.normwise <= RAY_TOLERANCE
            and np.isfinite(accuracy)
        )
        return Agreement.DISAGREES if solved else Agreement.FAILED
    if not np.isfinite(standard.interval.upper):
        return Agreement.FAILED
    # A ray contradicts a finite optimum only if it is long, and not by rounding.
    if e.claim.of_ray and not claim <= standard.tol:
        resolved = max(e.accuracy.arithmetic, e.accuracy.blur * standard.S) <= MAX_RELATIVE_RESIDUAL
        refutes = resolved and standard.contradicted_by(e.claim)
        return Agreement.DISAGREES if refutes else Agreement.FAILED
    if claim <= standard.tol and off <= standard.tol:
        return Agreement.AGREES
    # `not <=` rather than `>`: a NaN residual counts as unsolved.
    if not accuracy <= MAX_RELATIVE_RESIDUAL:
        return Agreement.DISAGREES if _ended_elsewhere(e, standard) else Agreement.FAILED
    explained = e.point is not None and _excused(e.claim, e.point, accuracy, standard)
    return Agreement.INACCURATE if explained else Agreement.DISAGREES


def _ended_elsewhere(e: Evidence, standard: _Standard) -> bool:
    """Return True if a solver reports convergence at a point proven far from the optimum.

    The distance exceeds what float64 arithmetic explains.
    """
    if (
        e.point is None
        or e.accuracy is None
        or not e.run.claims_the_end
        or not e.accuracy.arithmetic <= MAX_RELATIVE_RESIDUAL
    ):
        return False
    above = e.point.inner.upper - standard.interval.upper if e.point.has_f else 0.0
    below = standard.interval.lower - e.point.inner.lower if e.point.has_alpha else 0.0
    return max(above, below) > MAX_RELATIVE_RESIDUAL * standard.S


def _agreement_of_own(
    e: Evidence, figures: tuple[float, float, float], standard: _Standard
) -> Agreement:
    """Return the agreement of an answer whose own optimum or value is proven.

    It disagrees if that optimum or value is proven to differ. A backend's residual
    plays no role; a solver's declared accuracy and the rounding of stated numbers may
    explain a difference. A declaration whose optimum is proven to differ never agrees,
    at any distance.
    """
    claim, off, accuracy = figures
    assert e.point is not None
    if _differs(e, accuracy, standard, e.point.stated_rounding):
        return Agreement.DISAGREES
    if (
        e.claim is None
        or not accuracy <= MAX_RELATIVE_RESIDUAL
        or not np.isfinite(standard.interval.relative_width)
    ):
        return Agreement.FAILED
    agrees = claim <= standard.tol and off <= standard.tol and not _unequal(e, standard)
    return Agreement.AGREES if agrees else Agreement.INACCURATE


def _unequal(e: Evidence, standard: _Standard) -> float:
    """Return the proven difference of a declaration's own optimum from the family's.

    It is relative to S, and 0 where roundings explain it.
    """
    if e.run.formulation is None or e.point is None or e.point.own is None:
        return 0.0
    apart = _apart(e.point.own, standard.interval)
    return apart / standard.S if apart > e.point.stated_rounding else 0.0


def _apart(own: Interval, family: Interval) -> float:
    """Return the distance of two intervals, negative if they intersect."""
    return (
        0.0
        if (own.lower, own.upper) == (family.lower, family.upper)
        else max(own.lower - family.upper, family.lower - own.upper)
    )


def _differs(e: Evidence, accuracy: float, standard: _Standard, explained: float = 0.0) -> bool:
    """Return True if an answer's own optimum or value is proven to be wrong.

    Its distance is proven to exceed the tolerance, the accuracy that a solver declares,
    and the difference that is explained.
    """
    if e.point is None or e.point.own is None:
        return False
    admitted = accuracy if e.run.formulation is None else 0.0
    return _apart(e.point.own, standard.interval) > max(
        standard.S * max(standard.tol, admitted), explained
    )


def _explained(
    e: Evidence, agreement: Agreement, accuracy: float, standard: _Standard
) -> float | None:
    """Return the error that rounding of stated numbers explains, relative to S.

    None if the answer is not proven to differ, or rounding does not explain it.
    """
    if (
        e.point is None
        or agreement is not Agreement.INACCURATE
        or not _differs(e, accuracy, standard)
    ):
        return None
    return e.point.stated_rounding / standard.S


def _excused(claim: Claim, point: PointProof, accuracy: float, standard: _Standard) -> bool:
    """Return True if an answer's residual and float64 rounding explain its errors.

    Two parts of the point are not tested:

    - an f derived from the answer's alpha, because the primal objective is steep around
      the
    optimum;
    - the side of a linear program's point that its multipliers supply, because its
    constraints compare K u with 1 for any size of K.
    """
    S, family = standard.S, standard.interval
    value_error = worst(standard.distance(claim.value), claim.mismatch) - claim.cancellation
    above = 0.0 if point.has_alpha else np.inf
    if point.has_f and point.lp_multiplier_side != "f":
        above = point.inner.upper - family.upper
    below = (
        family.lower - point.inner.lower
        if point.has_alpha and point.lp_multiplier_side != "alpha"
        else 0.0
    )
    residual = worst(accuracy, claim.cancellation / S)
    point_residual = worst(residual, point.rounding / S)
    point_tolerance = POINT_FACTOR * max(point_residual, np.sqrt(point_residual))
    return value_error <= S * max(standard.tol, CLAIM_FACTOR * residual) and worst(
        above, below
    ) <= S * max(standard.tol, point_tolerance)


def _acquitted(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Reclassify a disagreement as a failure if its declaration has a better answer.

    If a more accurate answer to the same declaration does not disagree, the backend is
    wrong, not the declaration.
    """

    def better(this: Judgement, other: Judgement) -> bool:
        agrees = other.agreement is Agreement.AGREES and other.accuracy <= MAX_RELATIVE_RESIDUAL
        return agrees or (
            other.agreement is Agreement.INACCURATE
            and other.accuracy <= CLAIM_FACTOR * this.accuracy
        )

    def acquitted(this: Judgement) -> bool:
        same = (
            other
            for other in judgements
            if this.evidence.run.formulation == other.evidence.run.formulation is not None
        )
        return this.agreement is Agreement.DISAGREES and any(better(this, other) for other in same)

    return tuple(replace(j, agreement=Agreement.FAILED) if acquitted(j) else j for j in judgements)


def _verdict(
    judged: Sequence[Judgement], possible: Availability, proven: bool
) -> tuple[Verdict, str]:
    """Return the verdict and its reason; `proven` is True if an interval proves the optimum."""
    judgements = [j for j in judged if not j.evidence.run.control]
    against = [j.evidence.run.name for j in judgements if j.agreement is Agreement.DISAGREES]
    if against:
        return Verdict.DISAGREE, f"disagreeing: {', '.join(against)}"
    unequal = [j.evidence.run.formulation for j in judgements if j.unequal]
    if unequal:
        names = ", ".join(dict.fromkeys(filter(None, unequal)))
        difference = f"the proven optimum of {names} differs from the definition's"
        return Verdict.UNDECIDED, f"not equal, although within the tolerance: {difference}"
    declared = _Side(
        "declaration",
        [j for j in judged if j.evidence.run.formulation is not None],
        possible.undeclarable,
    )
    solved = _Side(
        "specialised solver",
        [j for j in judged if j.evidence.run.formulation is None],
        possible.unsolvable,
    )
    witnesses = declared.witnesses | solved.witnesses
    if declared.agreeing and solved.agreeing and len(witnesses) >= 2:
        return Verdict.AGREE, USUAL_RULE
    # An interval proves the optimum from any source of its points. Without one, as
    # where rays show that no point is feasible, the answers confirm each other alone.
    if declared.agreeing >= 2 and not solved.run and (proven or len(witnesses) >= 2):
        by = f", all by {min(witnesses)}" if len(witnesses) == 1 else ""
        return Verdict.AGREE, f"two declarations agree{by}; {solved.sentence}"
    if len(solved.witnesses) >= 2 and possible.too_large:
        return (
            Verdict.AGREE,
            "two solvers of different algorithms agree; the problem is too large to declare",
        )
    alone = len(witnesses) == 1 and declared.agreeing + solved.agreeing >= 2
    one = (
        f"; {min(witnesses)} computed every answer that agrees: that is one witness"
        if alone
        else ""
    )
    return Verdict.UNDECIDED, f"{declared.sentence}; {solved.sentence}{one}"


@dataclass(frozen=True)
class _Side:
    """Answers of a family's declarations, or of its specialised solvers.

    Attributes
    ----------
    kind : str
        "declaration" or "specialised solver".
    asked : sequence of Judgement
        Judgements of all requested answers, controls included.
    impossible : str
        Reason why none of them applies to the problem; empty if one does.
    """

    kind: str
    asked: Sequence[Judgement]
    impossible: str

    @property
    def judgements(self) -> list[Judgement]:
        """Judgements that count, without those of controls."""
        return [j for j in self.asked if not j.evidence.run.control]

    @property
    def run(self) -> bool:
        """True if any answer was run."""
        return any(j.agreement is not Agreement.SKIPPED for j in self.judgements)

    @property
    def agreeing(self) -> int:
        """Number of agreeing formulations (with any backend) or solvers."""
        agreeing = (j.evidence.run for j in self.judgements if j.agreement is Agreement.AGREES)
        return len({run.formulation or run.solver for run in agreeing})

    @property
    def witnesses(self) -> set[str]:
        """Names of the code that computed the agreeing answers."""
        return {j.evidence.run.witness for j in self.judgements if j.agreement is Agreement.AGREES}

    @property
    def sentence(self) -> str:
        """Clause for the verdict: the number of agreeing answers, or the reason for none."""
        if self.agreeing:
            return (
                f"one {self.kind} agrees"
                if self.agreeing == 1
                else f"{self.agreeing} {self.kind}s agree"
            )
        if self.run:
            return f"no {self.kind} that was run agrees"
        if self.impossible:
            return self.impossible
        if self.judgements:
            return f"every {self.kind} that was asked for was skipped"
        return (
            "only controls were asked for, which decide nothing"
            if self.asked
            else f"no {self.kind} was asked for"
        )
