"""Progress of a family: its jobs, the evidence so far, and the answers its verdict needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from equimargin.comparison.allowance import (
    ALLOWED_RATIO,
    LEAST_ALLOWANCE,
    STOPPED,
    STOPPED_TOGETHER,
    Allowance,
)
from equimargin.comparison.job import Job
from equimargin.formulations import REGISTRY
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.proofs import Agreement, Evidence, FamilyVerdict, Judgement, Verdict, judge
from equimargin.proofs.referee import Availability, stable
from equimargin.proofs.referee.examination import bounds_for
from equimargin.solvers import Status


@dataclass
class FamilyProgress:
    """Jobs of a family, and the evidence so far.

    Parameters
    ----------
    problem : AnyProblem
        Problem of the family.
    jobs : list of Job
        Requested answers.
    agree_tol : float
        Relative tolerance of the referee.
    possible : Availability
        Whether the problem can be declared, and solved by a specialised solver.
    evidence : dict of int to Evidence, optional
        Evidence by job index, in order of arrival.
    """

    problem: AnyProblem
    jobs: list[Job]
    agree_tol: float
    possible: Availability
    evidence: dict[int, Evidence] = field(default_factory=dict)
    allowed: Allowance | None = None
    """Limits of every answer once the optimum is proven; None until then."""
    until: float | None = None
    """CPU seconds of the comparison at which the budget of the family is exhausted.

    None until the family starts on answers that its verdict does not need.
    """
    verdict: FamilyVerdict = field(init=False)
    """Verdict on the evidence so far; set by `begin`."""

    def begin(self) -> None:
        """Judge the family without any answer.

        This may run functions of the user, and prove an optimum.
        """
        self.verdict = self._judged()

    def _judged(self) -> FamilyVerdict:
        """Return the verdict on the evidence so far, in the order of the jobs.

        The properties that all optima share are computed with the last answer.
        """
        evidence = [self.evidence[place] for place in sorted(self.evidence)]
        problem, bounds = self.problem, bounds_for(self.problem)
        verdict = judge(
            problem.family,
            evidence,
            bounds.scale,
            self.agree_tol,
            problem.convex,
            self.possible,
            bounds.constant,
        )
        same = (
            stable(problem, evidence)
            if len(evidence) == len(self.jobs) and not bounds.doubt
            else None
        )
        return replace(
            verdict,
            note=problem.note,
            doubt=bounds.doubt,
            has_features=problem.has_features,
            stable=same,
            part=problem.part,
        )

    def enter(self, place: int, found: Evidence, patient: bool) -> None:
        """Record an answer, and update the verdict.

        The first answer that proves the optimum sets the limits of later ones.

        Parameters
        ----------
        place : int
            Index of the job.
        found : Evidence
            Evidence of the answer.
        patient : bool
            True to set no limit.
        """
        # A new dictionary: a thread that starts jobs may be iterating over the present one.
        self.evidence = {**self.evidence, place: found}
        self.verdict = self._judged()
        if patient:
            return
        if found.run.reason == STOPPED_TOGETHER:
            # The budget of the family is exhausted.
            self.until = 0.0
        if self.allowed is None and self.verdict.interval.relative_width <= max(
            self.jobs[place].tol, self.agree_tol
        ):
            self.allowed = _allowance(self.agreeing)

    @property
    def agreeing(self) -> list[Judgement]:
        """Assessments of all agreeing answers, without negative controls."""
        return [
            j
            for j in self.verdict.judgements
            if j.agreement is Agreement.AGREES and not j.evidence.run.control
        ]

    @property
    def agrees(self) -> bool:
        """True if the verdict is "agree"; further answers can only contradict it."""
        return self.verdict.verdict is Verdict.AGREE

    @property
    def waiting(self) -> int:
        """Number of missing answers that share the CPU budget."""
        return sum(
            place not in self.evidence and not job.control for place, job in enumerate(self.jobs)
        )

    def find_limit(self, job: Job) -> Allowance | None:
        """Return the limits of a job that no verdict needs.

        None denotes the usual limits: for negative controls, and for an answer that the
        verdict needs.

        Parameters
        ----------
        job : Job
            Job of the family.
        """
        return None if job.control or self._is_witness(job) else self.allowed

    def _is_witness(self, job: Job) -> bool:
        """Return True if the verdict needs an answer of the job's kind, declared or not.

        It needs none of a kind of which an answer has reached the full time limit
        without agreeing.
        """
        if self.agrees:
            return False
        # The usual verdict needs a declaration and a solver that run different code.
        runs = [judgement.evidence.run for judgement in self.agreeing]
        solver = job.formulation is None
        missing = all((run.formulation is None) != solver for run in runs)
        alone = len({run.witness for run in runs}) < 2
        return (missing or alone) and not any(
            run.status is Status.TIME_LIMIT
            and not run.reason.startswith(STOPPED)
            and (run.formulation is None) == solver
            for run in (evidence.run for evidence in self.evidence.values())
        )

    def obstacle(self, job: Job) -> Refusal | str | None:
        """Return the reason to skip a job regardless of the time left, or None.

        The job may be impossible; or its backend was stopped on a formulation in equal
        variables, or on any formulation if another backend has solved the job's one.

        Parameters
        ----------
        job : Job
            Job of the family.
        """
        refusal = self._refusal(job)
        if refusal is not None or job.formulation is None or job.control or self.allowed is None:
            return refusal
        # A backend is assumed to exceed its limit again on a program of equal variables.
        runs = [
            evidence.run for evidence in self.evidence.values() if evidence.run.solver == job.solver
        ]
        on = [
            run.formulation for run in runs if run.formulation and run.reason == self.allowed.reason
        ]
        unknowns = REGISTRY[job.formulation].unknowns
        alike = [formulation for formulation in on if REGISTRY[formulation].unknowns == unknowns]
        answered = job.formulation in {
            judgement.evidence.run.formulation for judgement in self.agreeing
        }
        stopped = alike or (on if answered else [])
        return f"{job.solver} was stopped on {stopped[0]}; --patient runs it" if stopped else None

    def _refusal(self, job: Job) -> Refusal | None:
        """Return the known reason why a job cannot be run, or None.

        It is determined once for all backends.
        """
        if job.way in self.possible.refusals:
            return self.possible.refusals[job.way]
        return job.known_refusal

    def turn(self, place: int) -> int:
        """Return the present rank of a job within its family.

        0: the first solver. 1: the first declaration. 2: other declarations by its
        backend. 3: other solvers. 4: declarations by other backends. 5: jobs that are
        unlikely to end the wait for a verdict. 6: reference solvers. 7: negative
        controls.

        Parameters
        ----------
        place : int
            Index of the job.
        """
        job, first = self.jobs[place], self._firsts.get(False)
        if place in self._firsts.values():
            return int(job.formulation is not None)
        if job.control or job.is_reference:
            return 7 if job.control else 6
        # Other libraries are more likely to bring the verdict.
        if self.evidence and not self.agrees and job.library in self._exhausted:
            return 5
        if job.formulation is None:
            return 3
        return 2 if first is not None and job.solver == self.jobs[first].solver else 4

    @property
    def _exhausted(self) -> set[str]:
        """Libraries of which one more answer is unlikely to end the wait for a verdict.

        Either a declaration took its backend LEAST_ALLOWANCE or longer and does not
        agree, or an answer agrees and a solver can run: a verdict then needs two
        libraries, whereas two declarations by one may decide where no solver runs.
        """
        declared = [
            judgement.evidence.run
            for judgement in self.verdict.judgements
            if judgement.evidence.run.formulation and judgement.agreement is not Agreement.AGREES
        ]
        slow = {run.solver for run in declared if (run.solve_seconds or 0.0) >= LEAST_ALLOWANCE}
        agreeing = {judgement.evidence.run.witness for judgement in self.agreeing}
        return slow | agreeing if True in self._firsts else slow

    @cached_property
    def _firsts(self) -> dict[bool, int]:
        """Indices of the first solver (True) and of the first declaration (False) that can run.

        The declaration is solved by another library than the solver's, if there is one:
        two runs of one library are one independent source.
        """
        willing = [
            at for at, job in enumerate(self.jobs) if not job.control and self._refusal(job) is None
        ]
        willing.sort(key=lambda at: (self.jobs[at].is_reference, self.jobs[at].preference, at))
        solver = next((at for at in willing if self.jobs[at].formulation is None), None)
        declared = [at for at in willing if self.jobs[at].formulation is not None]
        declared.sort(
            key=lambda at: solver is not None and self.jobs[at].library == self.jobs[solver].library
        )
        return {
            self.jobs[at].formulation is None: at
            for at in [*declared[:1], solver]
            if at is not None
        }


def _allowance(agreeing: list[Judgement]) -> Allowance | None:
    """Return the limits of answers after the proof of the optimum."""
    runs = [judgement.evidence.run for judgement in agreeing]
    slowest = max(runs, key=lambda run: run.solve_seconds or 0.0, default=None)
    if slowest is None:
        return None
    taken = max(slowest.solve_seconds or 0.0, 1e-3)
    seconds = max(LEAST_ALLOWANCE, ALLOWED_RATIO * taken)
    slowest_name = slowest.solver if slowest.formulation is None else slowest.name
    limit_text = (
        f"{seconds:.3g} s of CPU time are allowed, {seconds / taken:,.0f} x the {taken:.3g} s "
        f"of {slowest_name}"
    )
    return Allowance(seconds, f"stopped: {limit_text} (--patient waits)")
