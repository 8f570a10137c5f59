"""Findings: answers that disagree, fail or are slow, told from each other by their kind and by who gave them.

What counts as the same finding on a smaller instance is the kind, the formulation and
the solver. A slow answer must also stay slow: the ratio of its time to that of the
fastest answer that agrees must not fall below the ratio that the user asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from equimargin.comparison import compare
from equimargin.formulations.problem.base import AnyProblem
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.request import ComparisonRequest
from equimargin.solvers import Status

DISAGREES, UNTRUE, RAISES, FAILS, LATE, SLOW = (
    "disagrees",
    "proves an untrue interval",
    "raises",
    "fails",
    "runs out of time",
    "is slow",
)
"""The kinds of findings, the gravest first."""
KINDS = (DISAGREES, UNTRUE, RAISES, FAILS, LATE, SLOW)
"""All of them, in that order."""
SHORTEST = 1e-3
"""Seconds: shorter answers count as this long, because clocks and loaded machines tell them apart no more."""
TIMES_SLOW = 3
"""Runs in which an answer must be slow."""
SLOWEST_NOISE = 0.02
"""Seconds up to which no answer is called slow: a busy machine takes as much from any answer."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with an answer.

    Parameters
    ----------
    kind : str
        One of KINDS.
    formulation : str | None
        None for a specialised solver.
    solver : str
        A backend or a specialised solver.
    raised : str
        The name of the exception, where one was raised.
    ratio : float | None
        Of a slow answer, how many times as long as the fastest it takes.
    """

    kind: str
    formulation: str | None
    solver: str
    raised: str = ""
    ratio: float | None = None

    def __str__(self) -> str:
        who = self.solver if self.formulation is None else f"{self.formulation} by {self.solver}"
        much = (
            ""
            if self.ratio is None
            else f": at least {self.ratio:g} times as long as the fastest answer that agrees"
        )
        return f"{who} {self.kind}{f' {self.raised}' if self.raised else ''}{much}"


def compared(problem: AnyProblem, asked: ComparisonRequest) -> FamilyVerdict:
    """Return the family of a problem, judged."""
    (family,) = compare(problem, **vars(asked)).families
    return family


def findings(family: FamilyVerdict, ratio: float | None = None) -> list[Finding]:
    """What is wrong with the answers of a family, the gravest first.

    Parameters
    ----------
    ratio : float | None
        How many times as long as the fastest answer that agrees a slow one takes; None:
        no answer is called slow.
    """
    found = [each for judgement in family.judgements for each in _of(family, judgement, ratio)]
    return sorted(found, key=lambda each: KINDS.index(each.kind))


def narrowed(
    family: FamilyVerdict, finding: Finding, asked: ComparisonRequest
) -> ComparisonRequest:
    """What is enough to see a finding again: its answer, and beside it the fastest ones that agree, of each sort."""
    runs = [
        judgement.evidence.run
        for judgement in family.judgements
        if judgement.agreement is Agreement.AGREES
    ]
    known = sorted(
        (run for run in runs if not run.control), key=lambda run: run.solve_seconds or 0.0
    )
    beside = [
        next((run for run in known if (run.formulation is None) == special), None)
        for special in (True, False)
    ]
    names = dict.fromkeys(
        [finding.formulation, *(run.formulation for run in beside if run is not None)]
    )
    solvers = dict.fromkeys([finding.solver, *(run.solver for run in beside if run is not None)])
    formulations = tuple(name for name in names if name is not None) or ("*",)
    return replace(asked, formulations=formulations, solvers=(*solvers,), patient=True)


def shows(problem: AnyProblem, finding: Finding, asked: ComparisonRequest) -> bool:
    """Whether a problem shows a finding; a slow answer must be slow several times, because another program may have held up one."""
    times = TIMES_SLOW if finding.kind == SLOW else 1
    return all(finding in findings(compared(problem, asked), finding.ratio) for _ in range(times))


def _of(family: FamilyVerdict, judgement: Judgement, ratio: float | None) -> Iterator[Finding]:
    """What is wrong with one answer: one kind at most."""
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
    """Whether what an answer's own point proves does not meet what the others prove."""
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
    """Whether an answer takes at least `ratio` times as long as the fastest one that agrees."""
    agreeing = [
        each.evidence.run.solve_seconds or 0.0
        for each in family.judgements
        if each.agreement is Agreement.AGREES
    ]
    seconds = judgement.evidence.run.solve_seconds or 0.0
    return (
        bool(agreeing)
        and seconds > SLOWEST_NOISE
        and seconds >= ratio * max(min(agreeing), SHORTEST)
    )
