"""Verdict on a problem family from the evidence of all its answers.

Every answer is compared with the family's interval, the intersection of all proven
intervals. Its agreement is

- AGREES if its value and its point are within the tolerance of that interval;
- INACCURATE if its recomputed residual explains the difference;
- FAILED if it has no value, or its residual shows that its problem is not solved;
- DISAGREES otherwise.

A specialised solver also disagrees if it reports convergence at a point that is proven
to be far from the optimum.

All errors are relative to S, the size of the interval (`Interval.size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from equimargin.formulations.bounds.intervals import MOST_DIGITS, Interval
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.proofs.referee.evidence import Claim, Evidence, PointProof, SolveAccuracy, worst
from equimargin.proofs.referee.rays import RAY_TOLERANCE
from equimargin.proofs.referee.stable import Stable
from equimargin.proofs.referee.ways import Availability

MAX_RELATIVE_RESIDUAL = 1e-3
"""Relative residual above which an answer has not solved its own problem."""
CLAIM_FACTOR = 10.0
"""Multiple of its residual by which an answer's value may differ from the interval.

The residual equals the error of the objective up to a small factor.
"""
POINT_FACTOR = 30.0
"""Multiple of the root of its relative residual by which a point's bounds may be wrong.

By strong convexity 1/2 |f - f*|^2 <= gap, and the losses are Lipschitz in f.
"""
CONTRADICTING_REACH = 100.0
"""Decrease of the objective along a ray, in units of S, that refutes a finite optimum.

Rays of smaller reach can result from rounding.
"""


USUAL_RULE = "a declaration and a specialised solver agree"
"""Rule by which most families agree, as text; reports name the rule if it is another."""


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
    """Error or, if larger, mismatch of the answer's value, relative to S; NaN if skipped."""
    off: float
    """Error of the answer's point, relative to S; NaN if skipped."""
    accuracy: float
    """Residual of the answer in its own problem, relative to S; NaN if skipped."""
    lower: float
    """Lower bound on the family's scale, from the source `lower_kind`."""
    upper: float
    """Upper bound that the answer's point proves, on the family's scale; inf without a point."""
    lower_kind: str | None
    """Source of `lower`: the first of these with a finite bound; None if there is none.

    "own" is the answer's point, "derived" are multipliers derived from its f, "family"
    are all answers.
    """
    relative_width: float
    """(upper - lower) / S."""
    explained: float | None = None
    """Difference that rounded numbers explain, relative to S.

    The numbers are those of the answer's formulation and of the family's first one. None
    if the answer's optimum is not proven to differ, or they do not explain the difference.
    """
    unequal: float = 0.0
    """Proven difference of the formulation's optimum from the family's, relative to S.

    It is 0 if rounding explains the difference.
    """

    @property
    def ground(self) -> str:
        """Reason why the answer does not agree: the one reported, and computed figures."""
        own_reason, accuracy = self.evidence.run.reason, self.evidence.accuracy
        if (
            self.agreement in (Agreement.AGREES, Agreement.SKIPPED)
            or self.evidence.claim is None
            or accuracy is None
        ):
            return own_reason
        # Only the first cause that applies is named; the causes are ordered by strength.
        if self.explained is not None:
            sources = "of its own numbers and of those of the first formulation"
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


class Shortage(StrEnum):
    """Shortage that keeps a family undecided and has a remedy."""

    ONE_SOURCE = "one code computed every answer that agrees"
    NOT_CONVEX = "the kernel is not positive semidefinite"
    NOT_RUN = "declarations or specialised solvers were not requested, or all skipped"
    NOT_SUPPORTED = "no declaration or no specialised solver supports the problem"


@dataclass(frozen=True)
class FamilyVerdict:
    """Verdict on a family, with the judgements of all answers."""

    id: str
    """Id of the family."""
    interval: Interval
    """Proven interval of the optimum, from all answers except negative controls."""
    verdict: Verdict
    """Verdict."""
    reason: str
    """Reason for the verdict, as a sentence."""
    judgements: tuple[Judgement, ...]
    """Judgement of every answer, in the order of the evidence."""
    feasible: bool = True
    """False if an answer proves infeasibility, and no point is proven feasible."""
    note: str = ""
    """Note on the interpretation of floats; empty if they have their exact values."""
    doubt: str = ""
    """Reason why the interval is not proven; empty if it is."""
    has_features: bool = True
    """True if the data are a feature matrix that can be scaled and subsampled."""
    stable: Stable | None = None
    """Properties that all optima share; None if not computed or not proven."""
    shortages: frozenset[Shortage] = frozenset()
    """Shortages that keep it undecided, for the advice."""
    part: str = ""
    """Part of the data that the problem concerns, such as two classes; empty if all."""

    @property
    def title(self) -> str:
        """Id of the family, and the part of the data."""
        return f"{self.id}, {self.part}" if self.part else self.id

    @property
    def caveat(self) -> str:
        """Reason why the interval is not proven, as a sentence; empty if it is."""
        return f"{self.doubt[0].upper()}{self.doubt[1:]}." if self.doubt else ""

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
                "kind (declaration or specialised solver) that agrees."
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

    @property
    def optimum(self) -> str:
        """Phrase on the proven optimum without a final period, in digits if both ends share any."""
        lower, upper = self.interval.lower, self.interval.upper
        if not self.feasible:
            return "no point is feasible, proven"
        if self.unbounded:
            return "the objective has no bound, proven"
        digits, count = self.interval.digits
        proven = "not proven" if self.doubt else "proven"
        if count:
            many = "all digits" if count == MOST_DIGITS else f"{count} digit{'s' * (count != 1)}"
            width = format_upper(self.interval.relative_width, 2)
            return f"optimum {digits}, {many} {proven} (width {width})"
        if np.isfinite(lower) and np.isfinite(upper):
            ends = f"[{format_lower(lower, 6)}, {format_upper(upper, 6)}]"
            return f"optimum in {ends}, {proven}"
        return (
            f"optimum at most {format_upper(upper, 10)}, with no lower bound proven"
            if np.isfinite(upper)
            else "nothing proven about the optimum"
        )

    def _repr_html_(self) -> str:
        """Return the verdict, the interval and the number of answers for a notebook."""
        counts = {agreement: self.count(agreement) for agreement in Agreement}
        answers = ", ".join(f"{agreement}: {n}" for agreement, n in counts.items() if n)
        figures = {
            "verdict": f"{self.verdict.upper()}: {self.reason}",
            **self.interval.figures,
            "answers": answers or "none",
        }
        notes = filter(None, (self.note, self.caveat, self.advice))
        return notebook_html(f"{self.title}: {self.optimum}", figures.items(), notes=notes)

    def count(self, agreement: Agreement) -> int:
        """Return the number of answers with an agreement, negative controls excluded.

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

        It is inf for an infinite value, unless the optimum is proven to be this infinity.
        """
        if self.interval.lower == value == self.interval.upper:
            return 0.0
        return (
            max(self.interval.lower - value, value - self.interval.upper, 0.0)
            if np.isfinite(value)
            else np.inf
        )

    def contradicted_by(self, claim: Claim) -> bool:
        """Return True if a value can contradict a finite optimum.

        The value of a point can, and that of a ray if its reach is large enough.
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

    - a declaration and a specialised solver that does not use its backend agree. If no
      solver was run, two declarations suffice, by two backends unless the interval is
      within the tolerance; if the problem is too large to declare, two solvers with
      different code suffice,
    - no answer disagrees,
    - no formulation is proven to have another optimum, and
    - the proven bounds do not contradict each other.

    Parameters
    ----------
    family : str
        Id of the family.
    evidence : sequence of Evidence
        One entry per answer.
    scale : float
        P(0), the primal objective at f = 0, or `Bounds.scale`.
    tol : float, default 1e-06
        Relative tolerance of values and points.
    convex : bool, default True
        False if the problem is not convex; the verdict is then UNDECIDED.
    possible : Availability, optional
        Result of `find_available_answers`. By default, formulations and specialised
        solvers are available.
    constant : float, default 0.0
        Part of the objective that is equal at every feasible point; S excludes it.

    Returns
    -------
    FamilyVerdict
        `interval` is [max lower, min upper] over all answers except negative controls.
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
            shortages=frozenset({Shortage.NOT_CONVEX}),
        )
    # By weak duality, only a wrong bound can cause this.
    if proven.lower > proven.upper:
        return FamilyVerdict(
            family, proven, Verdict.DISAGREE, "the proven bounds contradict each other", judgements
        )
    verdict, reason, shortages = _verdict(
        judgements, possible or Availability(), proven.relative_width <= tol
    )
    result = FamilyVerdict(
        family, proven, verdict, reason, judgements, standard.feasible, shortages=shortages
    )
    infinite = (
        ""
        if standard.feasible and not result.unbounded
        else "unbounded: "
        if standard.feasible
        else "infeasible: "
    )
    return replace(result, reason=f"{infinite}{reason}")


def _standard(counted: Sequence[Evidence], nothing: Interval, tol: float) -> _Standard:
    """Return the intersection of all proven intervals, and the feasibility of the family.

    A finite upper bound overrules every ray of infeasibility.
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
    # Every finite upper bound is proven by a feasible point.
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
    # The first finite bound counts, in the order of `sides`.
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
    """Return the error of the f and alpha that an answer supplied, relative to S.

    It is inf if the answer supplied neither. If the optimum of the answer's formulation
    has a proven interval, it is the largest possible difference of this optimum and the
    family's.
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
    no point is proven feasible, an answer disagrees only if it is finite and the family
    counts as infeasible.
    """
    claim, off, accuracy = figures
    if e.claim is None or e.accuracy is None:
        return Agreement.FAILED
    # In an infeasible family only proofs of infeasibility agree; solved finite ones disagree.
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
    # A ray contradicts a finite optimum only if it is long, and rounding does not explain it.
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

    Rounding in float64 must not explain the distance.
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
    """Return the agreement of an answer with a proven interval of its own.

    The interval is that of the formulation's optimum, or of a solver's value. The answer
    disagrees if this is proven to differ from the family's optimum, and neither the
    rounding of declared numbers nor a solver's declared accuracy explains that. A
    backend's residual does not. A formulation whose optimum is proven to differ never
    agrees, however small the difference.
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
    """Return the proven difference of a formulation's optimum from the family's.

    It is relative to S, and 0 if roundings explain it.
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
    """Return True if the formulation's optimum or the solver's value is proven to be wrong.

    Its distance from the family's interval is proven to exceed the tolerance, a solver's
    declared accuracy, and the difference `explained` by roundings.
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
    """Return the difference that rounding of declared numbers explains, relative to S.

    None if the answer is not proven to differ, or rounding does not explain that.
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
      the optimum;
    - the part of a linear program's point that its multipliers supply, because its
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
    """Return the judgements, disagreements replaced by failures where a backend is wrong.

    If a more accurate answer to the same formulation does not disagree, the backend is
    wrong, and not the formulation.
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
) -> tuple[Verdict, str, frozenset[Shortage]]:
    """Return the verdict, its reason and its shortages.

    `proven` is True if an interval proves the optimum.
    """
    none: frozenset[Shortage] = frozenset()
    judgements = [j for j in judged if not j.evidence.run.control]
    against = [j.evidence.run.name for j in judgements if j.agreement is Agreement.DISAGREES]
    if against:
        return Verdict.DISAGREE, f"disagreeing: {', '.join(against)}", none
    unequal = [j.evidence.run.formulation for j in judgements if j.unequal]
    if unequal:
        names = ", ".join(dict.fromkeys(filter(None, unequal)))
        difference = (
            f"the proven optimum of {names} differs from that of the family's first formulation"
        )
        reason = f"not equal, although within the tolerance: {difference}"
        return Verdict.UNDECIDED, reason, none
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
        return Verdict.AGREE, USUAL_RULE, none
    # A narrow interval proves the optimum, whichever code computed its points. Without
    # one, for example if the problem is infeasible, only answers of two codes confirm it.
    if declared.agreeing >= 2 and not solved.run and (proven or len(witnesses) >= 2):
        by = f", all by {min(witnesses)}" if len(witnesses) == 1 else ""
        return Verdict.AGREE, f"two declarations agree{by}; {solved.sentence}", none
    if len(solved.witnesses) >= 2 and possible.too_large:
        return (
            Verdict.AGREE,
            "two solvers of different algorithms agree; the problem is too large to declare",
            none,
        )
    alone = len(witnesses) == 1 and declared.agreeing + solved.agreeing >= 2
    one = (
        f"; {min(witnesses)} computed every answer that agrees: that is one source" if alone else ""
    )
    # A problem that is only too large would not be declared by other code either.
    undeclared = None if possible.too_large else declared.shortage
    shortages = {undeclared, solved.shortage, Shortage.ONE_SOURCE if alone else None}
    return (
        Verdict.UNDECIDED,
        f"{declared.sentence}; {solved.sentence}{one}",
        frozenset(shortage for shortage in shortages if shortage is not None),
    )


@dataclass(frozen=True)
class _Side:
    """Answers of a family's declarations, or of its specialised solvers.

    Attributes
    ----------
    kind : str
        "declaration" or "specialised solver".
    asked : sequence of Judgement
        Judgements of all requested answers, negative controls included.
    impossible : str
        Reason why no declaration, or no solver, supports the problem; empty if one does.
    """

    kind: str
    asked: Sequence[Judgement]
    impossible: str

    @property
    def judgements(self) -> list[Judgement]:
        """Judgements of all requested answers except negative controls."""
        return [j for j in self.asked if not j.evidence.run.control]

    @property
    def run(self) -> bool:
        """True if any answer was computed."""
        return any(j.agreement is not Agreement.SKIPPED for j in self.judgements)

    @property
    def agreeing(self) -> int:
        """Number of formulations with an agreeing answer of any backend, or of such solvers."""
        agreeing = (j.evidence.run for j in self.judgements if j.agreement is Agreement.AGREES)
        return len({run.formulation or run.solver for run in agreeing})

    @property
    def witnesses(self) -> set[str]:
        """Names of the code that computed the agreeing answers."""
        return {j.evidence.run.witness for j in self.judgements if j.agreement is Agreement.AGREES}

    @property
    def shortage(self) -> Shortage | None:
        """Shortage that explains why no answer was computed; None if one was."""
        if self.run:
            return None
        return Shortage.NOT_SUPPORTED if self.impossible else Shortage.NOT_RUN

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
            return f"every {self.kind} that was requested was skipped"
        return (
            "only negative controls were requested, which decide nothing"
            if self.asked
            else f"no {self.kind} was requested"
        )
