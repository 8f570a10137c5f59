"""The schedule of a comparison: one queue of jobs by one priority, one allowance each.

The solver that `solve` would choose goes first in every family, because an optimum is
proven soonest by it, and then one declaration of each: verdicts need no more. Then come
all others, family by family: its declarations by the same backend, its other solvers,
its declarations by the other backends, solvers that are there to be compared with, and
the controls.

Whatever happens, these hold. No job is begun once the total time is over, and the step
at work then is stopped or waited for, as `ComparisonRequest.total_time` says. A job
that fails is a failed answer and ends nothing, not even where it ends its process: all
that was at work then is run again, each job in a process by itself. What a verdict
waits for is bounded by the time limit of an answer alone. Once the optimum is proven,
as far as answers are compared with it, no answer may take much longer than what has
proven it, and a backend that did is not asked for what others have answered. Once a
verdict stands, its further answers share what is left of TOGETHER. There is a
comparison after every answer, so that an interrupt leaves the last one.

Small problems run kernels as Python. Kernels that a verdict waits for are compiled
whatever that takes, all others in what these leave of COMPILED_AT_ONCE: a solver whose
code would take longer waits until `equimargin warm-up` has compiled it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
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
"""A family, and the place of a job among those of the family."""
Start = tuple[int, int, Job, Allowance | Refusal | str]
"""A place, the job that is begun there, and its allowance or why it is not run."""


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
    at_work: set[Place] = field(default_factory=set)
    """Jobs that were begun and are not answered."""

    def comparisons(self) -> Iterator[Comparison]:
        """Yield the comparison before the first answer and after each.

        The last is marked if time was over before all answers were there.
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
            found.run.reason == OUT_OF_TIME
            for family in self.families
            for found in family.evidence.values()
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
        """Yield the answers as they come, of this process or of several."""
        starts = self._starts()
        if self.request.jobs == 1:
            yield from (run_job(*start) for start in starts)
            return
        while True:
            try:
                yield from _in_processes(starts, self.request.jobs)
                return
            except (
                BrokenExecutor
            ):  # one of those at work has ended its process, and which one shows when each is alone
                yield from (
                    self._alone(start)
                    for start in self._begun(sorted(self.at_work, key=self._priority))
                )

    def _alone(self, start: Start) -> JobResult:
        """Run a job in a process by itself; where that ends, too, the answer has failed."""
        which, place, job, _ = start
        try:
            (done,) = _in_processes([start], 2)  # joblib takes this process for a single one
        except BrokenExecutor:
            return JobResult(which, place, job.ended_its_process)
        return done

    def _starts(self) -> Iterator[Start]:
        """Return the jobs by their priority."""
        places = (
            (which, place)
            for which, family in enumerate(self.families)
            for place in range(len(family.jobs))
        )
        return self._begun(sorted(places, key=self._priority))

    def _priority(self, at: Place) -> tuple[Any, ...]:
        """Return the sort key of a job.

        A solver of every family, a declaration of every family, then family by family all others.
        """
        which, place = at
        turn = self.families[which].turn(place)
        return min(turn, 2), which, turn, self.families[which].jobs[place].preference, place

    def _begun(self, places: Iterable[Place]) -> Iterator[Start]:
        """Yield jobs, each when its turn has come; none once time is over."""
        for which, place in places:
            family, left = self.families[which], self._left()
            if left <= 0:
                return
            job = family.jobs[place]
            self.at_work.add((which, place))
            yield which, place, job, family.obstacle(job) or self._allowance(which, job, left)

    def _allowance(self, which: int, job: Job, left: float) -> Allowance | str:
        """Return the shortest of all limits of a job, or why it is not begun."""
        share, limit = self._share(which, job), self.families[which].limit_of(job)
        if share <= 0:
            return NOT_BEGUN
        by_name = job.solver.upper() in self.asked
        compiling = inf if limit is None or by_name else max(COMPILED_AT_ONCE - self.compiled, 0.0)
        if job.seconds_to_compile > compiling:
            return NOT_COMPILED
        pace = (
            max(self.taken / self.spent, 1.0) if self.spent else 1.0
        )  # wall seconds of a CPU second, where others want the cores
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


def _in_processes(starts: Iterable[Start], number: int) -> Iterator[JobResult]:
    """Return the results of jobs as they come, of several processes.

    Raises
    ------
    BrokenExecutor
        If a process ends.
    """
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=number, return_as="generator_unordered", pre_dispatch="n_jobs")
    results: Iterator[JobResult] = work(delayed(run_job)(*start) for start in starts)
    return results
