"""The verdict on a family, from the evidence of all its answers.

Every answer is compared with the interval that all of them prove together. An answer
*agrees* if its claim and its point are within the tolerance of that interval. Otherwise
it is *inaccurate* if its own recomputed accuracy explains the difference, *failed* if
it has not solved its own problem or has no claim, and it *disagrees* in all other
cases. A specialised solver has no problem of its own but the family's: if it says that
it has come to its end, and its point is proven to be far from the optimum, it disagrees
too.
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
"""Accuracy relative to S: an answer whose recomputed accuracy is worse has not solved its own problem."""
CLAIM_FACTOR = 10.0
"""Multiple of an answer's accuracy by which its claim may be off: the residual is the error of the objective up to a small factor."""
POINT_FACTOR = 30.0
"""Multiple of the square root of an answer's accuracy, relative to S, by which its point may be off: 1/2 |f - f*|^2 <= gap, and the losses
change in proportion to |f - f*|.
"""
CONTRADICTING_REACH = 100.0
"""Multiple of S: a ray along which the objective goes at least so far contradicts a finite optimum. Rounding makes shorter rays."""


USUAL_RULE = "a declaration and a specialised solver agree"
"""The rule by which most families agree, in a clause; a page names any other."""


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
class Judgement:
    """The judgement of one answer beside the others: three figures, and what follows from them."""

    evidence: Evidence
    """What the answer shows by itself."""
    agreement: Agreement
    """What the referee says of the answer."""
    claim: float
    """How far its claim is from the family's interval, its mismatch included, relative to S; NaN if it was skipped."""
    off: float
    """How far what its point proves is from the family's interval, relative to S; NaN if it was skipped."""
    accuracy: float
    """How far it is from having solved its own problem, relative to S; NaN if it was skipped."""
    lower: float
    """A lower bound, on the family's scale: the answer's own if it is finite, else the derived one, else the family's."""
    upper: float
    """The upper bound of its own point, on the family's scale; inf without one."""
    lower_kind: str | None
    """Whose `lower` is: "own", "derived" or "family"; None where there is none at all."""
    relative_width: float
    """(upper - lower) / S of the two bounds."""
    explained: float | None = None
    """Largest proven difference, relative to S, that roundings explain; None: they do not.

    The roundings are those of its own numbers and of the definition's.
    """
    unequal: float = 0.0
    """Proven difference of its optimum from the family's, relative to S.

    It is 0 where rounding explains the difference.
    """

    @property
    def ground(self) -> str:
        """Reason why the answer does not agree, as a clause.

        It is the answer's own reason, and in addition to that what was computed of it.
        """
        said, accuracy = self.evidence.run.reason, self.evidence.accuracy
        if (
            self.agreement in (Agreement.AGREES, Agreement.SKIPPED)
            or self.evidence.claim is None
            or accuracy is None
        ):
            return said
        if self.explained is not None:
            whose = "of its own numbers and of those of the definition"
            return (
                f"{said}; it is off by {self.off:.1e}, and roundings {whose} explain up to "
                f"{self.explained:.1e}: that proves no error"
            )
        if self.unequal and self.agreement is Agreement.INACCURATE:
            return (
                f"{said}; {self.unequal:.1e} is within the tolerance, and more than roundings "
                f"of its numbers explain"
            )
        if accuracy.arithmetic > MAX_RELATIVE_RESIDUAL:
            return f"{said}, but float64 tells margins apart to {accuracy.arithmetic:.1e} only"
        if self.agreement is Agreement.FAILED and self.evidence.claim.of_ray:
            return (
                f"{said}, but its ray is too short, or rounded too much, to contradict the "
                f"proven interval"
            )
        if self.agreement is Agreement.FAILED and self.accuracy > MAX_RELATIVE_RESIDUAL:
            return f"{said}, but its own conditions are missed by {self.accuracy:.1e}"
        return (
            f"{said}, and is off by {worst(self.claim, self.off):.1e} at an accuracy of "
            f"{self.accuracy:.1e}"
        )


@dataclass(frozen=True)
class FamilyVerdict:
    """A family's verdict, with all its judgements."""

    id: str
    """Id of the family."""
    interval: Interval
    """What all its answers but the controls prove of the optimum."""
    verdict: Verdict
    """What the referee says of it."""
    reason: str
    """The same in a sentence."""
    judgements: tuple[Judgement, ...]
    """One an answer, in the order of the evidence."""
    feasible: bool = True
    """False where an answer proves that no point is feasible, and no answer has a point that is proven feasible."""
    note: str = ""
    """How the numbers are read of which all this is proven, a clause; empty where they are read as they are."""
    doubt: str = ""
    """Why the interval is not proven although it says so, a clause; empty where it is."""
    has_features: bool = True
    """Whether its problem is made of features, which may be scaled, and of points, of which fewer may be taken."""
    stable: Stable | None = None
    """What is the same at every optimum; None where nobody has asked yet, or where nothing is proven."""

    @property
    def unbounded(self) -> bool:
        """Whether the objective is proven to have no bound: no lower one of a minimum, no upper one of a maximum."""
        return (
            self.feasible
            and bool(np.isinf(self.interval.lower))
            and self.interval.lower == self.interval.upper
        )

    @property
    def advice(self) -> str:
        """What stands in spite of a verdict other than agree, and what to do about it, in sentences; empty where all agree."""
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
                "The interval is proven all the same: what is missing is an answer of the "
                "other kind that agrees."
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
        """Number of answers with this agreement; controls are not counted."""
        return sum(j.agreement is agreement for j in self.judgements if not j.evidence.run.control)


@dataclass(frozen=True)
class _Standard:
    """The interval and the tolerance that the answers of a family are compared with."""

    interval: Interval
    """What all of them prove of the optimum."""
    tol: float
    """How far claims and points may be off, relative to S."""
    feasible: bool
    """Whether the family counts as feasible."""

    @property
    def S(self) -> float:
        """The unit of relative figures, on the family's scale."""
        return self.interval.size

    def distance(self, value: float) -> float:
        """How far a value lies outside the interval; inf where it is infinite, unless the optimum is proven to be so."""
        if self.interval.lower == value == self.interval.upper:
            return 0.0
        return (
            max(self.interval.lower - value, value - self.interval.upper, 0.0)
            if np.isfinite(value)
            else np.inf
        )

    def contradicted_by(self, claim: Claim) -> bool:
        """Whether a claim is that of a point, or of a ray that is long enough to contradict a finite optimum."""
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

    Parameters
    ----------
    family : str
        Id of the family.
    evidence : Sequence[Evidence]
        Sequence of Evidence One entry per answer.
    scale : float
        P(0).
    tol : float
        Relative tolerance, for claim and point.
    convex : bool
        False where no optimum can be claimed; the family is undecided then.
    possible : Availability | None
        Ways or None From `ways`; by default some formulation declares the problem and
        some specialised solver takes it.
    constant : float
        Part of the objective that is equal at every feasible point: S does not count it.

    Returns
    -------
    FamilyVerdict
        Its interval is [max lower, min upper] over all answers but the controls. The verdict is
        "agree" only with an agreeing declaration and an agreeing specialised solver of other
        code (two declarations where no solver was run, by two backends unless the interval is
        within the tolerance; two solvers of different code where the problem is too large to
        declare), no disagreement, no formulation that is proven not to be equal, and bounds
        that do not contradict each other.
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
    if proven.lower > proven.upper:
        return FamilyVerdict(
            family, proven, Verdict.DISAGREE, "the proven bounds contradict each other", judgements
        )
    verdict, reason = _verdict(judgements, possible or Availability(), proven.relative_width <= tol)
    found = FamilyVerdict(family, proven, verdict, reason, judgements, standard.feasible)
    infinite = (
        ""
        if standard.feasible and not found.unbounded
        else "unbounded: "
        if standard.feasible
        else "infeasible: "
    )
    return replace(found, reason=f"{infinite}{reason}")


def _standard(counted: Sequence[Evidence], nothing: Interval, tol: float) -> _Standard:
    """Return the standard that the counted answers prove together.

    One finite upper bound refutes every proof that no point is feasible.
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
    excluded = any(
        e.claim is not None and e.claim.infeasible and standard.contradicted_by(e.claim)
        for e in counted
    )
    return replace(standard, feasible=bool(np.isfinite(standard.interval.upper)) or not excluded)


def _judgement(e: Evidence, standard: _Standard) -> Judgement:
    nothing = float("nan")
    if e.run.skipped:
        return Judgement(
            e, Agreement.SKIPPED, nothing, nothing, nothing, -np.inf, np.inf, None, np.inf
        )
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
    """The worst of the figures that say how well an answer's own problem was solved, relative to S."""
    return worst(
        own.normwise, off if own.residual is None else own.residual / standard.S, own.arithmetic
    )


def _off(point: PointProof, standard: _Standard) -> float:
    """How far the supplied sides of a point are from the family's interval, relative to S; inf where it supplied none.

    Of an answer with an optimum of its own, how far that may be from the family's.
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
    """The agreement that follows from an answer's claim, its point's distance and its accuracy, all relative to S.

    No answer disagrees with a family of which no point is proven feasible, unless the family counts as infeasible.
    """
    claim, off, accuracy = figures
    if e.claim is None or e.accuracy is None:
        return Agreement.FAILED
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
    if e.claim.of_ray and not claim <= standard.tol:
        resolved = max(e.accuracy.arithmetic, e.accuracy.blur * standard.S) <= MAX_RELATIVE_RESIDUAL
        held = resolved and standard.contradicted_by(e.claim)
        return Agreement.DISAGREES if held else Agreement.FAILED
    if claim <= standard.tol and off <= standard.tol:
        return Agreement.AGREES
    if not accuracy <= MAX_RELATIVE_RESIDUAL:
        return Agreement.DISAGREES if _ended_elsewhere(e, standard) else Agreement.FAILED
    excused = e.point is not None and _excused(e.claim, e.point, accuracy, standard)
    return Agreement.INACCURATE if excused else Agreement.DISAGREES


def _ended_elsewhere(e: Evidence, standard: _Standard) -> bool:
    """Whether a solver says that it has come to its end, at a point that is proven to be off by more than float64 explains."""
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
    """The agreement of an answer whose own optimum, or own point's value, is proven: it disagrees if that is proven to be another.

    No accuracy of a backend excuses a declaration, and none accuses it. A solver is excused by the accuracy that it admits, and either of
    them by roundings of the numbers that are stated. A declaration whose optimum is proven to be another never agrees, however near it is.
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
    """Return the distance of two intervals, negative where they meet."""
    return (
        0.0
        if (own.lower, own.upper) == (family.lower, family.upper)
        else max(own.lower - family.upper, family.lower - own.upper)
    )


def _differs(e: Evidence, accuracy: float, standard: _Standard, explained: float = 0.0) -> bool:
    """Return True if an answer's own optimum or value is proven to be wrong.

    Its distance is proven to be above the tolerance, the accuracy that it admits, and the
    difference that is explained.
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
    """Up to which difference, relative to S, roundings explain that an answer is proven to be off; None where it is not, or they do not."""
    if (
        e.point is None
        or agreement is not Agreement.INACCURATE
        or not _differs(e, accuracy, standard)
    ):
        return None
    return e.point.stated_rounding / standard.S


def _excused(claim: Claim, point: PointProof, accuracy: float, standard: _Standard) -> bool:
    """Whether an answer is as near as can be expected from its accuracy and from the rounding in float64.

    Two things are left out. An f that we derived from the answer's alpha is not tested, because the primal value rises steeply around the
    optimum. Nor is the side of a linear program's point that its multipliers supply, because its constraints compare K u with 1, however
    large K is.
    """
    S, family = standard.S, standard.interval
    claimed = worst(standard.distance(claim.value), claim.mismatch) - claim.cancellation
    above = 0.0 if point.has_alpha else np.inf
    if point.has_f and point.lp_multiplier_side != "f":
        above = point.inner.upper - family.upper
    below = (
        family.lower - point.inner.lower
        if point.has_alpha and point.lp_multiplier_side != "alpha"
        else 0.0
    )
    computed = worst(accuracy, claim.cancellation / S)
    evaluated = worst(computed, point.rounding / S)
    near = POINT_FACTOR * max(evaluated, np.sqrt(evaluated))
    return claimed <= S * max(standard.tol, CLAIM_FACTOR * computed) and worst(
        above, below
    ) <= S * max(standard.tol, near)


def _acquitted(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """The judgements, with a disagreement turned into a failure of the backend where a better answer to the same declaration agrees."""

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
        which = ", ".join(dict.fromkeys(filter(None, unequal)))
        said = f"the proven optimum of {which} is another than the definition's"
        return Verdict.UNDECIDED, f"not equal, although within the tolerance: {said}"
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
    # An interval proves the optimum by whomever its points were found. Without one, as
    # where rays show that no point is feasible, the answers stand for each other alone.
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
    """The answers of a family's declarations, or those of its specialised solvers.

    Attributes
    ----------
    kind : str
        "declaration" or "specialised solver".
    asked : Sequence[Judgement]
        Sequence of Judgement Judgements of all requested answers, those of controls
        included.
    impossible : str
        Why none of them takes the problem, as text; empty if one does.
    """

    kind: str
    asked: Sequence[Judgement]
    impossible: str

    @property
    def judgements(self) -> list[Judgement]:
        """Those that count: controls decide nothing."""
        return [j for j in self.asked if not j.evidence.run.control]

    @property
    def run(self) -> bool:
        """Whether any was run."""
        return any(j.agreement is not Agreement.SKIPPED for j in self.judgements)

    @property
    def agreeing(self) -> int:
        """How many formulations agree, by whatever backend, or how many solvers."""
        agreeing = (j.evidence.run for j in self.judgements if j.agreement is Agreement.AGREES)
        return len({run.formulation or run.solver for run in agreeing})

    @property
    def witnesses(self) -> set[str]:
        """Names of the code that computed the answers that agree."""
        return {j.evidence.run.witness for j in self.judgements if j.agreement is Agreement.AGREES}

    @property
    def sentence(self) -> str:
        """A clause for the verdict, which says how many of them agree, or why none does."""
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
