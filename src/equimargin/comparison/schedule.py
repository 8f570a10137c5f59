"""Schedule of a comparison: a priority queue of jobs, each with its time limits.

The solver that `solve` would choose goes first in every family, because it proves an
optimum soonest, and then one declaration of each: verdicts need no more. Then follow
the other jobs, family by family: its declarations by the same backend, its other
solvers, its declarations by the other backends, reference solvers, and negative
controls. While a family has no verdict, a library whose next answer is unlikely to
bring one goes after the others, but before reference solvers.

Invariants:

- No job is started once the total time is over, and a running step then is stopped or
  completed, as described in `ComparisonRequest.total_time`.
- A job that fails is a failed answer and ends nothing, even if it ends its process: all
  running jobs are then repeated, each in its own process.
- An answer that a verdict needs is bounded by the time limit of an answer alone.
- Once the optimum is proven to the tolerance of the comparison, no answer may take much
  longer than those that have proven it, and a backend that took longer is not run on
  formulations that other backends have solved.
- Once a verdict stands, further answers share what is left of the budget TOGETHER.
- There is a comparison after every answer, so that an interrupt leaves the last one.

On small problems compiled functions run as Python. Functions that a verdict needs are
always compiled, all others within what is left of COMPILED_AT_ONCE: a solver with a
longer compilation is skipped until `equimargin warm-up` has compiled it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from equimargin.comparison.allowance import (
    COMPILED_AT_ONCE,
    LAST_ALLOWANCE,
    NOT_BEGUN,
    NOT_COMPILED,
    OUT_OF_TIME,
    STOPPED_TOGETHER,
    TOGETHER,
    Allowance,
)
from equimargin.comparison.family_progress import FamilyProgress
from equimargin.comparison.job import Job
from equimargin.comparison.job_result import JobResult, run_job
from equimargin.formulations.problem.refusal import Refusal
from equimargin.report.comparison import Comparison
from equimargin.request import ComparisonRequest

Place = tuple[int, int]
"""Indices of a family, and of a job within the family."""
Start = tuple[int, int, Job, Allowance | Refusal | str]
"""Indices, the job, and its allowance or the reason to skip it."""


@dataclass
class Schedule:
    """Schedule of all families.

    Parameters
    ----------
    families : list of FamilyProgress
        Progress of each problem's family.
    request : ComparisonRequest
        Options of the comparison.
    asked : set of str
        Patterns of solvers in upper case; a solver named in full is always compiled.
    settings, left_out : mapping, tuple of str
        Settings and skipped choices, as the comparison records them.
    """

    families: list[FamilyProgress]
    request: ComparisonRequest
    asked: set[str]
    settings: Mapping[str, Any]
    left_out: tuple[str, ...]
    started: float
    """Value of `time.perf_counter` at the start of the comparison."""
    spent: float = 0.0
    """CPU seconds of all answers so far, without compilation."""
    taken: float = 0.0
    """Wall seconds of all answers so far, without compilation."""
    compiled: float = 0.0
    """Estimated seconds of all compilation so far."""
    at_work: set[Place] = field(default_factory=set)
    """Running jobs."""

    def comparisons(self) -> Iterator[Comparison]:
        """Yield the comparison before the first answer and after each.

        The last one is marked if time ended before all answers.
        """
        for family in self.families:
            family.begin()
        yield self._comparison()
        for done in self._answers():
            self.at_work.remove((done.which, done.place))
            self.spent, self.taken = self.spent + done.cpu, self.taken + done.wall
            self.compiled += done.compiling
            self.families[done.which].enter(done.place, done.evidence, self.request.patient)
            yield self._comparison()
        cut = any(
            evidence.run.reason == OUT_OF_TIME
            for family in self.families
            for evidence in family.evidence.values()
        )
        if cut or any(len(family.evidence) < len(family.jobs) for family in self.families):
            end = f"the total time of {self.request.total_time:g} s is over"
            yield replace(self._comparison(), interrupted=end)

    def _comparison(self) -> Comparison:
        return Comparison(
            tuple(family.verdict for family in self.families),
            tuple(family.problem for family in self.families),
            settings=self.settings,
            planned=tuple(len(family.jobs) for family in self.families),
            left_out=self.left_out,
            seconds=time.perf_counter() - self.started,
        )

    def _answers(self) -> Iterator[JobResult]:
        """Yield the answers as they arrive, from this process or from several."""
        places = (
            (which, place)
            for which, family in enumerate(self.families)
            for place in range(len(family.jobs))
        )
        starts = self._begun(places)
        if self.request.jobs == 1:
            yield from (run_job(*start) for start in starts)
            return
        while True:
            try:
                yield from _in_processes(starts, self.request.jobs)
                return
            # A running job has ended its process; running each alone shows which one.
            except BrokenExecutor:
                yield from (self._alone(start) for start in self._begun([*self.at_work]))

    def _alone(self, start: Start) -> JobResult:
        """Run a job in its own process; if that ends too, the answer has failed."""
        family_index, place, job, _ = start
        try:
            # With one process joblib would use the present one.
            (done,) = _in_processes([start], 2)
        except BrokenExecutor:
            return JobResult(family_index, place, job.ended_its_process)
        return done

    def _priority(self, at: Place) -> tuple[Any, ...]:
        """Return the sort key of a job.

        First a solver of every family, then a declaration of every family, then all
        others by family.
        """
        family_index, place = at
        turn = self.families[family_index].turn(place)
        return (
            min(turn, 2),
            family_index,
            turn,
            self.families[family_index].jobs[place].preference,
            place,
        )

    def _begun(self, places: Iterable[Place]) -> Iterator[Start]:
        """Yield jobs by priority when they start; none once the total time is over.

        A job that was put off keeps its later turn, even if the family agrees by then.
        """
        queue = [(self._priority(at), at) for at in places]
        heapify(queue)
        while queue and (left := self._left()) > 0:
            known, (family_index, place) = heappop(queue)
            # The answers so far may have put the job off.
            present = self._priority((family_index, place))
            if present > known:
                heappush(queue, (present, (family_index, place)))
                continue
            family = self.families[family_index]
            job = family.jobs[place]
            self.at_work.add((family_index, place))
            yield (
                family_index,
                place,
                job,
                family.obstacle(job) or self._allowance(family_index, job, left),
            )

    def _allowance(self, which: int, job: Job, left: float) -> Allowance | str:
        """Return the shortest of all limits of a job, or the reason to skip it."""
        share, limit = self._share(which, job), self.families[which].find_limit(job)
        if share <= 0:
            return NOT_BEGUN
        by_name = job.solver.upper() in self.asked
        compiling = inf if limit is None or by_name else max(COMPILED_AT_ONCE - self.compiled, 0.0)
        if job.seconds_to_compile > compiling:
            return NOT_COMPILED
        # Wall seconds per CPU second exceed 1 if other programs use the cores.
        pace = max(self.taken / self.spent, 1.0) if self.spent else 1.0
        allowed = Allowance(self.request.time_limit, compiling=compiling)
        if limit is not None and pace * limit.seconds < allowed.seconds:
            allowed = replace(allowed, seconds=pace * limit.seconds, reason=limit.reason)
        return allowed.within(left).within(max(share, LAST_ALLOWANCE) * pace, STOPPED_TOGETHER)

    def _share(self, which: int, job: Job) -> float:
        """Return the CPU seconds left for a job; inf for a needed job or a control.

        When a family starts on answers that its verdict does not need, it receives a
        share of the remaining budget in proportion to its number of such answers.
        """
        family = self.families[which]
        if self.request.patient or job.control or not family.agrees:
            return inf
        if family.until is None:
            part = family.waiting / sum(other.waiting for other in self.families[which:])
            family.until = self.spent + max(TOGETHER - self.spent, 0.0) * part
        return family.until - self.spent

    def _left(self) -> float:
        """Return the seconds left of the total time."""
        total = self.request.total_time
        return inf if total is None else total - (time.perf_counter() - self.started)


def _in_processes(starts: Iterable[Start], number: int) -> Iterator[JobResult]:
    """Yield the results of jobs as they arrive from several processes.

    Raises
    ------
    BrokenExecutor
        If a process ends.
    """
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=number, return_as="generator_unordered", pre_dispatch="n_jobs")
    results: Iterator[JobResult] = work(delayed(run_job)(*start) for start in starts)
    return results
