"""The schedule of a comparison: one queue of jobs by one priority, one allowance each.

Whatever happens, these hold. No job is begun once the total time is over, and the step at work then
is stopped or waited for, as `ComparisonRequest.total_time` says. A solver of every family, then a
declaration of every family come before all others. A job that fails is a failed answer and ends
nothing; where it takes its process with it, the comparison ends with the answers so far. What a
verdict waits for is bounded by the time limit of an answer alone; once the optimum is proven, an
answer may not take much longer than what has proven it; once a verdict stands, its further answers
share what is left of TOGETHER. There is a comparison after every answer, so that an interrupt
leaves the last one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
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
from equimargin.formulations.refusal import Refusal
from equimargin.report.comparison import Comparison
from equimargin.request import ComparisonRequest

WORKER_DIED = "a worker process died"
"""Reason of a comparison that ended with a process of a job, which crashed or was killed."""
Start = tuple[int, int, Job, Allowance | Refusal | str]
"""The places of a family and of a job, the job, and its allowance or why it is not run."""


@dataclass
class Schedule:
    """All families at work.

    Attributes
    ----------
    families : list[FamilyProgress]
        One for every problem.
    request : ComparisonRequest
        The request.
    asked : set[str]
        Patterns of solvers in capital letters; kernels of a solver named in full are always compiled.
    settings, left_out
        Records of the comparison.
    """

    families: list[FamilyProgress]
    request: ComparisonRequest
    asked: set[str]
    settings: Mapping[str, Any]
    left_out: tuple[str, ...]
    started: float
    """Reading of `time.perf_counter` from which seconds and the total time count."""
    spent: float = 0.0
    """CPU seconds of all answers so far, compiling excluded."""
    taken: float = 0.0
    """Wall seconds of the same."""
    compiled: float = 0.0
    """Seconds foreseen for all kernels that were compiled."""

    def comparisons(self) -> Iterator[Comparison]:
        """Yield the comparison before the first answer and after each.

        The last is marked if time was over, or another process died, before all answers were there.
        """
        end = f"the total time of {self.request.total_time:g} s is over" if self.request.total_time else ""
        for family in self.families:
            family.begin()
        yield self._comparison()
        try:
            for done in self._answers():
                self.spent, self.taken = self.spent + done.cpu, self.taken + done.wall
                self.compiled += done.compiling
                self.families[done.which].enter(done.place, done.evidence, self.request.patient)
                yield self._comparison()
        except BrokenExecutor:
            end = WORKER_DIED
        cut = any(found.run.reason == OUT_OF_TIME for family in self.families for found in family.evidence.values())
        if cut or any(len(family.evidence) < len(family.jobs) for family in self.families):
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

    def _answers(self) -> Iterable[JobResult]:
        """Return the answers as they come, of this process or of several."""
        if self.request.jobs == 1:
            return (run_job(*start) for start in self._starts())
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=self.request.jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
        results: Iterable[JobResult] = work(delayed(run_job)(*start) for start in self._starts())
        return results

    def _starts(self) -> Iterator[Start]:
        """Yield the jobs by their priority, each when its turn has come; none once time is over."""
        for which, place in sorted(self._places(), key=self._priority):
            family, left = self.families[which], self._left()
            if left <= 0:
                return
            job = family.jobs[place]
            yield which, place, job, family.obstacle(job) or self._allowance(which, job, left)

    def _places(self) -> Iterator[tuple[int, int]]:
        yield from ((which, place) for which, family in enumerate(self.families) for place in range(len(family.jobs)))

    def _priority(self, at: tuple[int, int]) -> tuple[Any, ...]:
        """Return the sort key of a job.

        A solver of every family, a declaration of every family, then family by family all others.
        """
        which, place = at
        turn = self.families[which].turn(place)
        return min(turn, 2), which, turn, self.families[which].jobs[place].preference, place

    def _allowance(self, which: int, job: Job, left: float) -> Allowance | str:
        """Return the shortest of all limits of a job, or why it is not begun."""
        share, limit = self._share(which, job), self.families[which].limit_of(job)
        if share <= 0:
            return NOT_BEGUN
        by_name = job.given is not None or job.solver.upper() in self.asked
        compiling = inf if limit is None or by_name else max(COMPILED_AT_ONCE - self.compiled, 0.0)
        if job.seconds_to_compile > compiling:
            return NOT_COMPILED
        pace = max(self.taken / self.spent, 1.0) if self.spent else 1.0  # wall seconds of a CPU second, where others want the cores
        allowed = Allowance(self.request.time_limit, compiling=compiling)
        if limit is not None and pace * limit.seconds < allowed.seconds:
            allowed = replace(allowed, seconds=pace * limit.seconds, reason=limit.reason)
        return allowed.within(left).within(max(share, LAST_ALLOWANCE) * pace, STOPPED_TOGETHER)

    def _share(self, which: int, job: Job) -> float:
        """Return the CPU seconds left for a job; inf if a verdict needs it, and for controls.

        A family gets its part of what the comparison has left when it begins with answers that its
        verdict does not need: as much as its answers are of all that wait.
        """
        family = self.families[which]
        if self.request.patient or job.control or not family.agrees:
            return inf
        if family.until is None:
            part = family.waiting / sum(each.waiting for each in self.families[which:])
            family.until = self.spent + max(TOGETHER - self.spent, 0.0) * part
        return family.until - self.spent

    def _left(self) -> float:
        """Return the seconds of the total time that are left."""
        total = self.request.total_time
        return inf if total is None else total - (time.perf_counter() - self.started)
