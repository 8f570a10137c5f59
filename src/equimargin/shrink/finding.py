"""Findings: answers that disagree, fail or are slow, identified by kind and solver.

An answer is what one solver or backend returns for one formulation. A finding on a
smaller instance counts as the original one if kind, formulation and solver are equal. A
slow answer must also stay slow: the ratio of its time to that of the fastest answer
that agrees must not fall below the requested ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from equimargin.comparison import compare
from equimargin.formulations.problem.base import AnyProblem
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.request import ComparisonRequest
from equimargin.solvers import Status

KINDS = (
    "disagrees",
    "proves an untrue interval",
    "raises",
    "fails",
    "runs out of time",
    "is slow",
)
"""Kinds of findings, the most serious first."""
DISAGREES, UNTRUE, RAISES, FAILS, LATE, SLOW = KINDS
SHORTEST = 1e-3
"""Lower bound on compared solve times, in seconds, as clocks and machines are noisy."""
TIMES_SLOW = 3
"""Number of runs in which an answer must be slow."""
SLOWEST_NOISE = 0.02
"""Time, in seconds, up to which no answer is slow: a busy machine delays any by it."""


@dataclass(frozen=True)
class Finding:
    """Fault of an answer.

    Parameters
    ----------
    kind : str
        One of KINDS.
    formulation : str or None
        Formulation; None for a specialised solver.
    solver : str
        Backend or specialised solver.
    raised : str
        Name of the exception, if one was raised.
    ratio : float or None
        Of a slow answer, minimum ratio of its time to that of the fastest.
    """

    kind: str
    formulation: str | None
    solver: str
    raised: str = ""
    ratio: float | None = None

    def __str__(self) -> str:
        answer = self.solver if self.formulation is None else f"{self.formulation} by {self.solver}"
        factor = (
            ""
            if self.ratio is None
            else f": at least {self.ratio:g} times as long as the fastest answer that agrees"
        )
        return f"{answer} {self.kind}{f' {self.raised}' if self.raised else ''}{factor}"


def compared(problem: AnyProblem, asked: ComparisonRequest) -> FamilyVerdict:
    """Run a comparison on one problem, and return the verdict on its family.

    Parameters
    ----------
    problem : AnyProblem
        Problem.
    asked : ComparisonRequest
        Comparison.
    """
    (family,) = compare(problem, **vars(asked)).families
    return family


def findings(family: FamilyVerdict, ratio: float | None = None) -> list[Finding]:
    """Return the faults of a family's answers, the most serious first.

    Parameters
    ----------
    family : FamilyVerdict
        Verdict on the answers.
    ratio : float or None
        Ratio to the time of the fastest answer that agrees, from which an answer is
        slow; None reports no slow answers.

    Returns
    -------
    list of Finding
        Faults, at most one per answer.
    """
    faults = [each for judgement in family.judgements for each in _of(family, judgement, ratio)]
    return sorted(faults, key=lambda each: KINDS.index(each.kind))


def narrowed(
    family: FamilyVerdict, finding: Finding, asked: ComparisonRequest
) -> ComparisonRequest:
    """Reduce a comparison to what reproduces a finding.

    That is its answer and the fastest answers that agree, one of a specialised solver
    and one of a formulation.

    Parameters
    ----------
    family : FamilyVerdict
        Verdict in which the finding was found.
    finding : Finding
        Finding.
    asked : ComparisonRequest
        Comparison that found it.
    """
    runs = [
        judgement.evidence.run
        for judgement in family.judgements
        if judgement.agreement is Agreement.AGREES
    ]
    # Negative controls solve other problems on purpose, so they are no reference.
    agreeing = sorted(
        (run for run in runs if not run.control), key=lambda run: run.solve_seconds or 0.0
    )
    fastest = [
        next((run for run in agreeing if (run.formulation is None) == special), None)
        for special in (True, False)
    ]
    names = dict.fromkeys(
        [finding.formulation, *(run.formulation for run in fastest if run is not None)]
    )
    solvers = dict.fromkeys([finding.solver, *(run.solver for run in fastest if run is not None)])
    formulations = tuple(name for name in names if name is not None) or ("*",)
    return replace(asked, formulations=formulations, solvers=(*solvers,), patient=True)


def shows(problem: AnyProblem, finding: Finding, asked: ComparisonRequest) -> bool:
    """Return True if a problem shows a finding.

    A slow answer must be slow several times, since another program may have delayed it
    once.

    Parameters
    ----------
    problem : AnyProblem
        Problem.
    finding : Finding
        Finding.
    asked : ComparisonRequest
        Comparison.

    Returns
    -------
    bool
        True if the finding is shown.
    """
    times = TIMES_SLOW if finding.kind == SLOW else 1
    return all(finding in findings(compared(problem, asked), finding.ratio) for _ in range(times))


def _of(family: FamilyVerdict, judgement: Judgement, ratio: float | None) -> Iterator[Finding]:
    """Yield the fault of one answer, if it has any."""
    run = judgement.evidence.run
    tests: list[tuple[str, Callable[[], bool]]] = [
        (RAISES, lambda: bool(run.raised)),
        (DISAGREES, lambda: judgement.agreement is Agreement.DISAGREES),
        (UNTRUE, lambda: _is_untrue(family, judgement)),
        (LATE, lambda: judgement.agreement is Agreement.FAILED and run.status is Status.TIME_LIMIT),
        (FAILS, lambda: judgement.agreement is Agreement.FAILED),
        (SLOW, lambda: ratio is not None and _is_slow(family, judgement, ratio)),
    ]
    kind = next((kind for kind, holds in tests if holds()), None)
    if kind is not None:
        raised = run.raised.partition(":")[0] if kind == RAISES else ""
        yield Finding(kind, run.formulation, run.solver, raised, ratio if kind == SLOW else None)


def _is_untrue(family: FamilyVerdict, judgement: Judgement) -> bool:
    """Return True if an answer's point proves bounds that contradict the others'."""
    point = judgement.evidence.point
    if point is None or judgement.evidence.run.control:
        return False
    proven = point.proven
    return not (
        proven.lower <= proven.upper
        and proven.lower <= family.interval.upper
        and family.interval.lower <= proven.upper
    )


def _is_slow(family: FamilyVerdict, judgement: Judgement, ratio: float) -> bool:
    """Return True if an answer takes at least `ratio` times as long as the fastest."""
    agreeing = [
        other.evidence.run.solve_seconds or 0.0
        for other in family.judgements
        if other.agreement is Agreement.AGREES
    ]
    seconds = judgement.evidence.run.solve_seconds or 0.0
    return (
        bool(agreeing)
        and seconds > SLOWEST_NOISE
        and seconds >= ratio * max(min(agreeing), SHORTEST)
    )
