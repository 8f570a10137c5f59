"""Comparisons of formulations and solvers on a user's own problem: every answer is judged as it comes, and every family gets a verdict.

The solver that `solve` would choose goes first in every family, because an optimum is proven
soonest by it, and then one declaration of each: verdicts need no more. Then come all others, family
by family: its declarations by the same backend, its other solvers, its declarations by the other
backends, solvers that are there to be compared with, and the controls. Once the optimum of a family
is proven, as far as answers are compared with it, none may take much longer than what has proven
it, and a backend that did is not asked for what others have answered. Once its verdict stands, its
further answers share what is left of the CPU time that a comparison may take.

Small problems run kernels as Python. Kernels that a verdict waits for are compiled whatever that
takes. All others are compiled in what these leave of a few seconds: a solver whose code would take
longer waits until `equimargin warm-up` has compiled it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from equimargin.data import Data, load
from equimargin.data.formats.frames import is_frame
from equimargin.families import HowToPose, families_of, families_of_data
from equimargin.formulations import REGISTRY, declare
from equimargin.formulations.numeric.arguments import did_you_mean, number, shown
from equimargin.formulations.numeric.jit import NotCompiled, compiling_within, seconds_foreseen, seconds_of_compiling
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.user_functions import kept_from_quitting
from equimargin.proofs import Agreement, Evidence, FamilyVerdict, Judgement, Verdict, examine, examine_solution, judge
from equimargin.proofs.referee import Ways, failed, skipped, stable, ways
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.report.comparison import Comparison
from equimargin.solvers import BACKENDS, SOLVERS, Limits, Solution, Solver, Status, solve_declaration
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.registry import RegisteredSolver, takes
from equimargin.solvers.threads import one_thread

__all__ = ["Comparison", "HowToCompare", "compare", "comparisons", "matching"]

ACCURATE = "CLARABEL"
"""The name of the backend that runs the controls: a misprint must be solved accurately to be refuted."""
LEAST_ALLOWANCE = 2.0
"""CPU seconds that every backend may take, however fast others were."""
ALLOWED_RATIO = 20.0
"""Multiple of the slowest answer that agreed when the optimum was proven: a backend may take as long as that."""
TOGETHER = 7.0
"""CPU seconds that all answers of a comparison may take, beside kernels that are compiled, as long as no verdict waits for any of them.
With the start of Python, libraries and kernels that are loaded, it is less than ten seconds: the
answers so far have said what there is to say, and nobody waits longer for others who say it, too.
"""
LAST_ALLOWANCE = 0.5
"""CPU seconds that an answer may take, once it is begun, however little its family has left: less would stop most of them for nothing."""
STOPPED = "stopped"
"""Opening of the reason of an answer stopped otherwise than by the time limit of one answer."""
OVER = f"the family agrees, and its share of {TOGETHER:g} s of CPU time for further answers is over"
"""Reason why answers are stopped or not begun once no verdict waits for them."""
STOPPED_TOGETHER = f"{STOPPED}: {OVER} (--patient waits)"
"""What is said of an answer that takes what its family has left."""
NOT_BEGUN = f"{OVER}; --patient runs them"
"""What is said of the answers that are not begun then."""
COMPILED_AT_ONCE = 3.0
"""Maximum compilation time of a comparison, in seconds; kernels of a pending verdict are exempt."""
NOT_COMPILED = "its code is not compiled yet; type `equimargin warm-up`, once, and compare again"
"""Reason for a solver whose code would take longer than that.

It says code, because a kernel would be taken for one of the problem.
"""
OUT_OF_TIME = "stopped as the total time was over"
"""What is said of the answer that was at work then."""
LIBRARIES_OF_LINEAR_PROGRAMS = ("highspy", "scipy.linalg")
"""What solvers of linear programs import at their first run: time that is not spent solving."""
SHORTEST_LIMIT = 0.01
"""Seconds: the shortest limit that an answer is asked for with, where hardly any time is left in all."""


class HowToCompare(HowToPose, total=False):
    """What `compare` compares, how it goes about its work, and what belongs to X where arrays are compared, as keyword arguments.

    Attributes
    ----------
    formulations, solvers
        Names or patterns with * and ?. Families without a chosen formulation are left out where
        others have one. A backend that is weak on a kind of program (OSQP on linear, HIGHS on
        quadratic ones) takes part there only if it is asked for by its full name. A solver may also
        be passed itself, entered or not: any `Solver`, such as those of `equimargin.adapters`;
        `["*", mine]` compares it with all others.
    tol : float
        Relative accuracy asked of every solver, 1e-8 by default.
    agree_tol : float
        Relative tolerance of the referee, 1e-6 by default.
    time_limit : float
        Seconds an answer, and the proof of an optimum of one's own formulation, 60 by default.
    total_time : float or None
        Seconds in all, None for any; what there is then is the result. A step that is at work, such
        as a proof or the compilation of a kernel, is waited for; the compilation of a declaration
        is not.
    patient : bool
        Whether all answers are waited for: backends may go on to the time limit although the
        optimum is proven, and answers are begun that no verdict waits for, however long the
        comparison has taken.
    jobs : int
        Processes; -1 is all cores. Above 1, formulations and solvers of one's own must be entered
        by modules that other processes can import; the answers of those that are not are failed
        ones, and say so.
    include_controls : bool
        Also declare the formulations that are wrong on purpose.
    y : ArrayLike
        (m,) labels, targets or relevances of the rows of X; beside it task, qid, C, kernel and
        epsilon, as in `families_of`.
    """

    y: ArrayLike
    formulations: str | Sequence[str]
    solvers: str | Solver | Sequence[str | Solver]
    tol: float
    agree_tol: float
    time_limit: float
    total_time: float | None
    patient: bool
    jobs: int
    include_controls: bool


POSED = {"y", *HowToPose.__annotations__}
"""The names of the arguments that belong to X."""
KNOWN = POSED | {*HowToCompare.__annotations__}
"""The names of all arguments that say how."""
BEHIND_PROBLEMS = ("formulations", "solvers", "tol", "agree_tol")
"""The names of the arguments that may follow problems without being named, in their order."""
BEHIND_FEATURES = ("y",)
"""Those that may follow X."""


@dataclass(frozen=True)
class Allowance:
    """How long an answer may take.

    Attributes
    ----------
    seconds : float
        Seconds of solving.
    reason : str
        Reason of an answer that is stopped then; empty for the usual word on a time limit.
    left : float
        Seconds in which declaring and compiling count, too.
    late : str
        Reason of an answer that is stopped at their end.
    compiling : float
        Seconds in which kernels of a specialised solver are compiled.
    """

    seconds: float
    reason: str = ""
    left: float = float("inf")
    late: str = OUT_OF_TIME
    compiling: float = float("inf")

    def within(self, left: float, late: str = OUT_OF_TIME) -> Allowance:
        """The allowance when a given number of seconds is left in all: the shortest of the times ends an answer, in its own words."""
        if left >= self.left:
            return self
        if left >= self.seconds:
            return replace(self, left=left, late=late)
        return Allowance(max(left, SHORTEST_LIMIT), late, left, late, self.compiling)


@dataclass(frozen=True)
class _UserSolver:
    """A solver of the user with its attributes, read once: properties may compute them, and fail."""

    name: str
    algorithm: str
    families: tuple[str, ...]
    reference: bool
    library: str
    solver: Solver

    @classmethod
    def of(cls, solver: Any) -> _UserSolver:
        """Read the attributes of a solver.

        Raises
        ------
        ValueError
            If it is no solver, or an attribute cannot be read.
        """
        try:
            with kept_from_quitting():
                if isinstance(solver, Solver):
                    library = str(getattr(solver, "library", ""))
                    return cls(solver.name, solver.algorithm, tuple(solver.families), solver.reference, library, solver)
        except Exception as failure:  # a property of the user's may fail in any way
            kind = type(solver).__name__
            raise ValueError(f"a solver of the class {kind} has an attribute that cannot be read: {what_was_raised(failure)}") from failure
        raise ValueError(f"{shown(solver)} is no solver: a function is entered by @solver and asked for by its name")

    def refusal(self, problem: Any) -> Refusal | None:
        """Return what the problem lacks for the solver, or None."""
        return self.solver.refusal(problem)

    def run(self, problem: Any, limits: Limits, warm_start: Any) -> Solution:
        """Solve a problem that is not refused."""
        return self.solver.run(problem, limits, warm_start)


@dataclass(frozen=True)
class Job:
    """One answer that is wanted: a declaration solved by a backend, or a specialised solver (formulation None).

    Attributes
    ----------
    module : str
        The module whose import registers the formulation or the solver, for a process that does not
        know it yet.
    control : bool
        Whether the formulation is wrong on purpose.
    given : _UserSolver or None
        The specialised solver itself, where it was handed to `compare` and is not looked up by its
        name.
    """

    problem: AnyProblem
    formulation: str | None
    solver: str
    tol: float
    module: str = "equimargin.solvers"
    control: bool = False
    given: _UserSolver | None = None

    @property
    def name(self) -> str:
        """What the answer is called in sentences."""
        return f"{self.formulation or 'solver'} by {self.solver}"

    @property
    def is_reference(self) -> bool:
        """Whether it is a specialised solver that is there to be compared with."""
        return self.formulation is None and self.specialised.reference

    @property
    def specialised(self) -> RegisteredSolver[Any] | _UserSolver:
        """The specialised solver."""
        return SOLVERS[self.solver] if self.given is None else self.given

    @property
    def library(self) -> str:
        """Library whose code solves it, by a backend's name where it is one.

        Empty where that is the code of a specialised solver itself.
        """
        return self.solver if self.formulation is not None else self.specialised.library

    @property
    def known_refusal(self) -> Refusal | None:
        """Reason why it cannot be run, as far as that is known, or None.

        One whose functions fail says so when it is run.
        """
        try:
            return self.refusal
        except Exception:  # a user's function may fail in any way
            return None

    @property
    def refusal(self) -> Refusal | None:
        """Reason why it cannot be run, or None."""
        with kept_from_quitting():
            return self._refusal()

    def _refusal(self) -> Refusal | None:
        return self.specialised.refusal(self.problem) if self.formulation is None else REGISTRY[self.formulation].refusal(self.problem)

    @property
    def preference(self) -> tuple[bool, int]:
        """What its place among its like is by: the solver that "auto" asks before others, and the backend that is good at its program."""
        if self.formulation is not None:
            suited = BACKENDS[self.solver].suited == "linear" and self.problem.kind == "linear"
            return not suited, list(BACKENDS).index(self.solver)
        return not (self.given is None and SOLVERS[self.solver].goes_first(self.problem)), 0

    def run(self, allowed: Allowance) -> Evidence:
        """Solve and examine.

        A job that cannot be run is skipped with its reason, and an exception makes a failed answer.

        Linear algebra has one thread, as backends have: several spend more time waiting for each
        other on problems of this size, above all where other programs want the cores, and times of
        answers could not be compared.
        """
        try:
            with kept_from_quitting(), one_thread():
                return self._examined(allowed)
        except NotCompiled:
            return self.skipped(Status.TIME_LIMIT, NOT_COMPILED)
        except Exception as failure:
            return failed(self.problem.family, self.formulation, self.solver, self.control, failure)

    def skipped(self, status: Status, reason: str) -> Evidence:
        """The evidence of not running it."""
        return skipped(self.problem.family, self.formulation, self.solver, self.control, status, reason)

    def refused(self, refusal: Refusal) -> Evidence:
        """Return the evidence of a job that cannot be run.

        Parameters
        ----------
        refusal : Refusal
            Reason why it cannot be run.
        """
        return self.skipped(Status.TOO_LARGE if refusal.too_large else Status.UNSUPPORTED, str(refusal))

    def _examined(self, allowed: Allowance) -> Evidence:
        self._enter()
        entry = None if self.formulation is None else REGISTRY[self.formulation]
        refusal = self.refusal
        if refusal is not None:
            return self.refused(refusal)
        if entry is None:
            return self._solved(allowed)
        started = time.perf_counter()
        try:
            declared = interruptible(lambda: declare(entry.id, self.problem), seconds=allowed.left)
        except TimeoutError:
            return self.skipped(Status.TIME_LIMIT, allowed.late)
        except ValueError as failure:
            return self.skipped(Status.NUMERICAL_FAILURE, str(failure))
        declaring = time.perf_counter() - started
        answer = solve_declaration(declared, self.solver, self.tol, allowed.seconds, total_time=allowed.left - declaring)
        if answer.status is Status.TIME_LIMIT and not answer.solve_seconds:
            return self.skipped(Status.TIME_LIMIT, allowed.late)
        allowed = allowed.within(allowed.left - declaring - answer.compile_seconds, allowed.late)
        if allowed.reason and answer.status is Status.TIME_LIMIT:
            answer = replace(answer, reason=allowed.reason)
        return examine(self.problem, replace(answer, compile_seconds=answer.compile_seconds + declaring), self.control)

    def _solved(self, allowed: Allowance) -> Evidence:
        """The evidence of a specialised solver, the time in which its kernels were compiled or loaded apart from that of solving."""
        if self.problem.kind == "linear":
            for library in LIBRARIES_OF_LINEAR_PROGRAMS:
                import_module(library)
        before = seconds_of_compiling()
        with compiling_within(allowed.compiling):
            solution = self.specialised.run(self.problem, Limits(self.tol, time_limit=allowed.seconds), None)
            compiling = seconds_of_compiling() - before
            found = examine_solution(self.problem, solution)
        reason = allowed.reason if allowed.reason and solution.status is Status.TIME_LIMIT else solution.reason
        inner = "" if solution.solver == self.solver else solution.solver
        within = f" (computed by {inner})" if inner else ""
        named = replace(found.run, solver=self.solver, library=self.library or _library_of(inner) or inner)
        return replace(found, run=replace(named, reason=f"{reason}{within}", compile_seconds=compiling))

    def _enter(self) -> None:
        """Register the formulation or the solver by importing its module: another process knows only those of the project.

        Raises
        ------
        LookupError : importing the module does not register it.
        """
        if self.given is not None:
            return
        name = self.formulation or self.solver
        known: Container[str] = REGISTRY if self.formulation else SOLVERS
        if name not in known:
            with suppress(ImportError):
                import_module(self.module)
        if name not in known:
            where = f"{name} is not entered by importing {self.module} in another process"
            raise LookupError(f"{where}: put it into a module that can be imported there, or run one job at a time")


def compare(
    problem: Any, *more: Any, progress: Callable[[Comparison], object] = lambda found: None, **how: Unpack[HowToCompare]
) -> Comparison:
    """Solve a problem's formulations by several backends and specialised solvers, and judge every answer.

        compare(problem), compare(problem, formulations, solvers, tol, agree_tol), compare(X, y), compare(X, y, qid=qid)
        compare(load(file))

    Parameters
    ----------
    problem : Any
        One problem, or several; each is a family. Or X, (m, d) features, with y behind it, for all
        families of their task; or what `equimargin.data.load` returns, or a data frame that it
        takes.
    more : Any
        Behind problems formulations, solvers, tol and agree_tol, behind X its y; all of them may be
        named instead.
    progress : Callable[[Comparison], object]
        Called with the comparison as far as it has come, before the first answer and after each.
    how : Unpack[HowToCompare]
        As in `HowToCompare`.

    Returns
    -------
    Comparison : `.agree`, `.families`, `.answers`, `.to_json()`, and a page when printed; `.interrupted` if `total_time` was over before
        all answers were there.

    Raises
    ------
    ValueError
        A pattern that matches nothing, a tolerance or limit that is not positive.
    TypeError
        Arguments that it does not have.
    """
    for found in comparisons(problem, *more, **how):
        progress(found)
    return found


def comparisons(problem: Any, *more: Any, **how: Unpack[HowToCompare]) -> Iterator[Comparison]:
    """The comparison as far as it has come, before the first answer and after each: the last one is what `compare` returns.

    Parameters and errors are those of `compare`; errors of arguments are raised at once.
    """
    asked_for = _named(problem, more, how)
    formulations, solvers = asked_for.get("formulations", "*"), asked_for.get("solvers", "*")
    tol, agree_tol = asked_for.get("tol", 1e-8), asked_for.get("agree_tol", 1e-6)
    total_time, time_limit = asked_for.get("total_time"), asked_for.get("time_limit", 60.0)
    limits = {"tol": tol, "agree_tol": agree_tol, "time_limit": time_limit, "total_time": 1.0 if total_time is None else total_time}
    for name, limit in limits.items():
        number(limit, name, "a positive, finite number", lambda v: 0 < v < np.inf)
    processes = "a whole number of processes from 1 on, or -1 for all cores"
    jobs = int(number(asked_for.get("jobs", 1), "jobs", processes, lambda v: v % 1 == 0 and v != 0))
    posed = _problems(problem, {name: value for name, value in asked_for.items() if name in POSED})
    ids = matching(formulations, REGISTRY, "formulation")
    total = np.inf if total_time is None else float(total_time)
    problems = [problem.proven_within(float(time_limit), total) for problem in _meant(posed, ids)]
    wanted = list(solvers) if isinstance(solvers, Iterable) and not isinstance(solvers, str) else [solvers]
    patterns, given = [each for each in wanted if isinstance(each, str)], _given(wanted)
    names = matching(patterns, [*BACKENDS, *SOLVERS], "solver")
    asked = {name.upper() for name in patterns}
    controls = asked_for.get("include_controls", False)
    planned = [(p, list(jobs_of(p, ids, suited(p, names, asked), given, float(tol), controls))) for p in problems]
    groups = [_Group(p, each, float(agree_tol), ways(p)) for p, each in planned if each]
    if not groups:
        raise ValueError(f"none of the chosen formulations and solvers is for {', '.join(p.family for p in posed)}")
    settings: dict[str, Any] = {"tol": float(tol), "agree_tol": float(agree_tol), "time_limit": float(time_limit), "total_time": total_time}
    compared = [*names, *(solver.name for solver in given)]
    settings |= {"patient": asked_for.get("patient", False), "formulations": sorted(ids), "solvers": compared}
    left_out = (*_left_out(problems, names, asked), *_without_an_answer(groups, formulations, asked, given))
    return _Work(groups, settings, asked, left_out).results(jobs)


def _named(first: Any, more: Sequence[Any], how: HowToCompare) -> HowToCompare:
    """All arguments by name: those that came by their places, too.

    Raises
    ------
    TypeError : an argument that `compare` does not have, too many of them, or one twice.
    """
    unknown = how.keys() - KNOWN
    if unknown:
        raise TypeError(f"compare takes no argument {', '.join(sorted(unknown))}; it takes {', '.join(sorted(KNOWN))}")
    several = isinstance(first, Sequence) and len(first) > 0 and all(isinstance(each, AnyProblem) for each in first)
    places = BEHIND_PROBLEMS if several or isinstance(first, AnyProblem | Data) else BEHIND_FEATURES
    if len(more) > len(places):
        raise TypeError(f"behind {'problems' if places is BEHIND_PROBLEMS else 'X'} compare takes {', '.join(places)}; name all else")
    by_place = dict(zip(places, more, strict=False))
    twice = sorted(by_place.keys() & how.keys())
    if twice:
        raise TypeError(f"compare was given {' and '.join(twice)} by place and by name; leave one of them out")
    return cast(HowToCompare, {**how, **by_place})


def _problems(given: Any, data: dict[str, Any]) -> list[AnyProblem]:
    """The problems that were given, or those of the arrays X and y that were."""
    if "y" in data:
        return [*families_of(given, data.pop("y"), **data)]
    if is_frame(given):
        given = load(given, task=data.pop("task", None))
    if isinstance(given, Data):
        return [*families_of_data(given, **data)]
    problems: list[Any] = [given] if isinstance(given, AnyProblem) else list(given) if isinstance(given, Iterable) else []
    if data or not problems or not all(isinstance(problem, AnyProblem) for problem in problems):
        raise ValueError(
            "compare takes a problem, several problems, loaded data, a data frame, or arrays: compare(X, y), with a task, qid or kernel if "
            "need be"
        )
    return problems


def _meant(problems: Sequence[AnyProblem], ids: Sequence[str]) -> list[AnyProblem]:
    """The problems that formulations are chosen of; all of them where all formulations are, or where no problem has any."""
    families = {REGISTRY[id].family for id in ids} if len(ids) < len(REGISTRY) else {problem.family for problem in problems}
    return [problem for problem in problems if problem.family in families] or list(problems)


def _given(wanted: Sequence[str | Solver]) -> list[_UserSolver]:
    """The solvers that were handed in themselves, each under a name of its own."""
    given = [_UserSolver.of(each) for each in wanted if not isinstance(each, str)]
    taken = {*BACKENDS, *SOLVERS}
    for solver in given:
        if solver.name in taken and SOLVERS.get(solver.name) is not solver.solver:
            raise ValueError(f"two solvers of one comparison are called {solver.name!r}: give this one another name")
        taken.add(solver.name)
    return given


@dataclass
class _Group:
    """A family at work: what is to be had of it, and the evidence so far, by the places of the jobs."""

    problem: AnyProblem
    jobs: list[Job]
    agree_tol: float
    possible: Ways
    evidence: dict[int, Evidence] = field(default_factory=dict)
    allowed: Allowance | None = None
    """What backends get once the optimum is proven; None until then."""
    stopped: dict[tuple[str, str], str] = field(default_factory=dict)
    """Backends that were stopped and the unknowns of the formulation, with its name."""
    answered: set[str] = field(default_factory=set)
    """The formulations that a backend has an agreeing answer to."""
    solved: bool = False
    """Whether a specialised solver agrees."""
    agreeing: list[Judgement] = field(default_factory=list)
    """The judgements of all answers that agree, controls left out."""
    agrees: bool = False
    """Whether the verdict is that all agree, which further answers can only contradict."""
    waited_for: set[bool] = field(default_factory=set)
    """Kinds of which one has had the whole time limit of an answer without agreeing.

    False is a declaration, True a solver.
    """
    until: float | None = None
    """CPU seconds of the comparison at which its part of them is used up.

    None until it has begun with further answers.
    """

    def judged(self) -> FamilyVerdict:
        """Return the verdict on what there is, in the order of the jobs.

        With the last answer comes what is the same at every optimum.
        """
        found = [self.evidence[place] for place in sorted(self.evidence)]
        problem = self.problem
        verdict = judge(problem.family, found, problem.scale, self.agree_tol, problem.convex, self.possible, problem.constant)
        same = stable(problem, found) if len(found) == len(self.jobs) and not problem.doubt else None
        return replace(verdict, note=problem.note, doubt=problem.doubt, has_features=problem.has_features, stable=same)

    def enter(self, place: int, found: Evidence, patient: bool) -> FamilyVerdict:
        """Return the verdict with one answer more.

        The first that proves the optimum sets what backends are allowed from then on.
        """
        self.evidence[place] = found
        family, job = self.judged(), self.jobs[place]
        self.agrees = family.verdict is Verdict.AGREE
        self.agreeing = [j for j in family.judgements if j.agreement is Agreement.AGREES and not j.evidence.run.control]
        self.solved = any(j.evidence.run.formulation is None for j in self.agreeing)
        self.answered = {j.evidence.run.formulation or "" for j in self.agreeing}
        if patient:
            return family
        if found.run.status is Status.TIME_LIMIT and not found.run.reason.startswith(STOPPED):
            self.waited_for.add(job.formulation is None)
        if found.run.reason == STOPPED_TOGETHER:
            self.until = 0.0  # what it had left is used up
        if self.allowed is not None and job.formulation and found.run.reason == self.allowed.reason:
            self.stopped.setdefault((job.solver, REGISTRY[job.formulation].unknowns), job.formulation)
        if self.allowed is None and family.interval.relative_width <= max(job.tol, self.agree_tol):
            self.allowed = _allowance(family)
        return family

    def limit_of(self, job: Job) -> Allowance | None:
        """Return the limits of a job that no verdict waits for.

        None for the usual limits: of controls, and of an answer without which there is no verdict.
        """
        return None if job.control or self._is_witness(job) else self.allowed

    def _is_witness(self, job: Job) -> bool:
        """Return True if the verdict waits for an answer of the job's kind.

        It does not wait once one of that kind has had the whole time limit without agreeing.
        """
        solver = job.formulation is None
        missing = not (self.solved if solver else self.answered - {""})
        alone = len({j.evidence.run.witness for j in self.agreeing}) < 2
        return not self.agrees and (missing or alone) and solver not in self.waited_for

    def turn(self, place: int) -> int:
        """When it is a job's turn among those of its family.

        0 the first solver, 1 the first declaration; 2 the others by that backend, 3 other solvers,
        4 the other backends; 5 solvers that are there to be compared with, 6 controls.
        """
        job, first = self.jobs[place], self._firsts.get(False)
        if place in self._firsts.values():
            return int(job.formulation is not None)
        if job.control or job.is_reference:
            return 6 if job.control else 5
        if job.formulation is None:
            return 3
        return 2 if first is not None and job.solver == self.jobs[first].solver else 4

    @cached_property
    def _firsts(self) -> dict[bool, int]:
        """The places of the first solver (True) and of the first declaration (False), as far as any can be run.

        That is a declaration by another library than the solver's, where there is one: two runs of
        one library are one witness.
        """
        willing = [at for at, job in enumerate(self.jobs) if not job.control and job.known_refusal is None]
        willing.sort(key=lambda at: (self.jobs[at].is_reference, self.jobs[at].preference, at))
        solver = next((at for at in willing if self.jobs[at].formulation is None), None)
        declared = [at for at in willing if self.jobs[at].formulation is not None]
        declared.sort(key=lambda at: solver is not None and self.jobs[at].library == self.jobs[solver].library)
        return {self.jobs[at].formulation is None: at for at in [*declared[:1], solver] if at is not None}

    @property
    def waiting(self) -> int:
        """How many answers are still to come that share the CPU time."""
        return sum(place not in self.evidence and not job.control for place, job in enumerate(self.jobs))

    def stopped_on(self, job: Job) -> str:
        """The formulation that the job's backend was stopped on, for which it is not asked for the job's; else nothing.

        That is one of the same unknowns; and any, if another backend has answered the job's.
        """
        if job.formulation is None or job.control:
            return ""
        alike = self.stopped.get((job.solver, REGISTRY[job.formulation].unknowns), "")
        others = (formulation for (solver, _), formulation in self.stopped.items() if solver == job.solver)
        return alike or (next(others, "") if job.formulation in self.answered else "")


def _allowance(family: FamilyVerdict) -> Allowance | None:
    """What a backend is allowed beside the answers that have proven the optimum."""
    agreeing = [j.evidence.run for j in family.judgements if j.agreement is Agreement.AGREES and not j.evidence.run.control]
    slowest = max(agreeing, key=lambda run: run.solve_seconds or 0.0, default=None)
    if slowest is None:
        return None
    taken = max(slowest.solve_seconds or 0.0, 1e-3)
    seconds = max(LEAST_ALLOWANCE, ALLOWED_RATIO * taken)
    who = slowest.solver if slowest.formulation is None else slowest.name
    much = f"{seconds:.3g} s of CPU time are allowed, {seconds / taken:,.0f} x the {taken:.3g} s of {who}"
    return Allowance(seconds, f"stopped: {much} (--patient waits)")


@dataclass
class _Work:
    """All families at work."""

    groups: list[_Group]
    settings: dict[str, Any]
    asked: set[str]
    left_out: tuple[str, ...]
    started: float = field(default_factory=time.perf_counter)
    spent: float = 0.0
    """CPU seconds of all answers so far, beside kernels that were compiled."""
    taken: float = 0.0
    """Wall seconds of the same."""
    compiled: float = 0.0
    """Seconds foreseen for all kernels that were compiled."""

    def results(self, processes: int) -> Iterator[Comparison]:
        """Yield the comparison before the first answer and after each.

        The last is marked if time was over before all answers were there.
        """
        families = [group.judged() for group in self.groups]
        yield self._found(families)
        for done in self._answers(processes):
            self.spent, self.taken = self.spent + done.cpu, self.taken + done.wall
            self.compiled += done.compiling
            families[done.which] = self.groups[done.which].enter(done.place, done.evidence, self.settings["patient"])
            yield self._found(families)
        cut = any(found.run.reason == OUT_OF_TIME for group in self.groups for found in group.evidence.values())
        if cut or any(len(group.evidence) < len(group.jobs) for group in self.groups):
            yield replace(self._found(families), interrupted=f"the total time of {self.settings['total_time']:g} s is over")

    def _found(self, families: Sequence[FamilyVerdict]) -> Comparison:
        return Comparison(
            tuple(families),
            tuple(group.problem for group in self.groups),
            settings=self.settings,
            planned=tuple(len(group.jobs) for group in self.groups),
            left_out=self.left_out,
            seconds=time.perf_counter() - self.started,
        )

    def _answers(self, processes: int) -> Iterator[_Done]:
        if processes == 1:
            yield from (_answer(*started) for started in self._starts())
            return
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=processes, return_as="generator_unordered", pre_dispatch="n_jobs")
        yield from work(delayed(_answer)(*started) for started in self._starts())

    def _starts(self) -> Iterator[tuple[int, int, Job, Allowance | Refusal | str]]:
        """Jobs in the order of work with what each is allowed, told when it starts, or why it is not run; none once time is over."""
        for which, place in sorted(self._places(), key=self._turn):
            group = self.groups[which]
            job = group.jobs[place]
            left = self._left()
            if left <= 0:
                return
            refusal = job.known_refusal
            if refusal is not None:
                yield which, place, job, refusal
                continue
            formulation = group.stopped_on(job)
            if formulation:
                yield which, place, job, f"{job.solver} was stopped on {formulation}; --patient runs it"
                continue
            room = self._room(which, job)
            if room <= 0:
                yield which, place, job, NOT_BEGUN
                continue
            limited = group.limit_of(job)
            compiling = self._compiling(job) if limited is not None else float("inf")
            if job.formulation is None and job.given is None and SOLVERS[job.solver].seconds_to_compile > compiling:
                yield which, place, job, NOT_COMPILED
                continue
            allowed = Allowance(self.settings["time_limit"], compiling=compiling)
            pace = max(self.taken / self.spent, 1.0) if self.spent else 1.0  # wall seconds of a CPU second, where others want the cores
            if limited is not None and pace * limited.seconds < allowed.seconds:
                allowed = replace(limited, seconds=pace * limited.seconds, compiling=compiling)
            yield which, place, job, allowed.within(left).within(max(room, LAST_ALLOWANCE) * pace, STOPPED_TOGETHER)

    def _room(self, which: int, job: Job) -> float:
        """CPU seconds that a job's family has left for it; inf where its verdict waits for it, and for controls.

        A family gets its part of what the comparison has left when it begins with answers that its
        verdict does not need: as much as its answers are of all that wait.
        """
        group = self.groups[which]
        if self.settings["patient"] or job.control or not group.agrees:
            return float("inf")
        if group.until is None:
            part = group.waiting / sum(each.waiting for each in self.groups[which:])
            group.until = self.spent + max(TOGETHER - self.spent, 0.0) * part
        return group.until - self.spent

    def _compiling(self, job: Job) -> float:
        """Return the seconds left for compiling a solver's kernels for which no verdict waits.

        They are inf for a solver that the user named by itself.
        """
        asked = job.given is not None or job.solver.upper() in self.asked
        return float("inf") if asked else max(COMPILED_AT_ONCE - self.compiled, 0.0)

    def _places(self) -> Iterator[tuple[int, int]]:
        yield from ((which, place) for which, group in enumerate(self.groups) for place in range(len(group.jobs)))

    def _turn(self, at: tuple[int, int]) -> tuple[Any, ...]:
        """What the order of work is by: a solver of every family, a declaration of every family, then family by family all others."""
        which, place = at
        turn = self.groups[which].turn(place)
        return min(turn, 2), which, turn, self.groups[which].jobs[place].preference, place

    def _left(self) -> float:
        """Seconds of the total time that are left."""
        total = self.settings["total_time"]
        return float("inf") if total is None else float(total) - (time.perf_counter() - self.started)


@dataclass(frozen=True)
class _Done:
    """The evidence of a job, its places, its seconds beside those in which kernels were compiled or loaded, and those of compiling.

    compiling
        As it was foreseen of the kernels that were compiled.
    """

    which: int
    place: int
    evidence: Evidence
    cpu: float = 0.0
    wall: float = 0.0
    compiling: float = 0.0


def _answer(which: int, place: int, job: Job, allowed: Allowance | Refusal | str) -> _Done:
    """Do a job; a refusal or a sentence in place of an allowance is why it is not run.

    Compiling has as large a share of the CPU time as of the time on the wall.
    """
    if isinstance(allowed, str):
        return _Done(which, place, job.skipped(Status.TIME_LIMIT, allowed))
    if isinstance(allowed, Refusal):
        return _Done(which, place, job.refused(allowed))
    before, foreseen = clocks(), seconds_foreseen()
    found = job.run(allowed)
    cpu, wall, compiling = (after - at for at, after in zip(before, clocks(), strict=True))
    at_work = max(wall - compiling, 0.0)
    return _Done(which, place, found, cpu * at_work / wall if wall else cpu, at_work, seconds_foreseen() - foreseen)


def clocks() -> tuple[float, float, float]:
    """CPU seconds of this process and of the programs that it has waited for, wall seconds, and those of compiling or loading kernels."""
    return time.process_time() + sum(os.times()[2:4]), time.perf_counter(), seconds_of_compiling()


def _library_of(solver: str) -> str:
    """Return the library of the solver of that name; empty for its own code, or an unknown name."""
    return SOLVERS[solver].library if solver in SOLVERS else ""


def jobs_of(
    problem: AnyProblem, ids: Sequence[str], names: Sequence[str], given: Sequence[_UserSolver], tol: float, controls: bool
) -> Iterator[Job]:
    """The answers that are wanted for one family, in the order of its records, controls last."""
    entries = [REGISTRY[id] for id in ids if REGISTRY[id].family == problem.family]
    for entry in entries:
        if not entry.control:
            yield from (Job(problem, entry.id, name, tol, entry.module) for name in names if name in BACKENDS)
    for name in names:
        if name in SOLVERS and SOLVERS[name].takes(problem.family):
            yield Job(problem, None, name, tol, SOLVERS[name].module)
    yield from (Job(problem, None, solver.name, tol, given=solver) for solver in given if takes(solver, problem.family))
    if controls:
        wrong = (entry for entry in entries if entry.control)
        yield from (Job(problem, entry.id, ACCURATE, tol, entry.module, control=True) for entry in wrong)


def suited(problem: AnyProblem, names: Sequence[str], asked: set[str]) -> list[str]:
    """The solvers without the backends that are weak on this kind of problem, unless they are asked for by name."""
    return [name for name in names if name not in BACKENDS or name in asked or BACKENDS[name].suited in ("any", problem.kind)]


def _left_out(problems: Sequence[AnyProblem], names: Sequence[str], asked: set[str]) -> tuple[str, ...]:
    """What is said of backends that are weak on a kind of program."""
    kinds = dict.fromkeys(problem.kind for problem in problems)
    weak = [(next(p for p in problems if p.kind == kind), kind) for kind in kinds]
    return tuple(
        f"{name} on {kind} programs (weak there; --solver {name} runs it)"
        for problem, kind in weak
        for name in names
        if name not in suited(problem, names, asked)
    )


def _without_an_answer(
    groups: Sequence[_Group], formulations: str | Sequence[str], asked: set[str], given: Sequence[_UserSolver]
) -> Iterator[str]:
    """Yield why chosen solvers and formulations are for none of the problems.

    Formulations are chosen by their own names, solvers by any pattern but that of all.
    """
    jobs = [job for group in groups for job in group.jobs]
    compared = dict.fromkeys(group.problem.family for group in groups)
    answering = {job.solver for job in jobs}
    by_name = [SOLVERS[name] for name in SOLVERS if any(fnmatchcase(name.upper(), pattern) for pattern in asked - {"*"})]
    chosen: list[RegisteredSolver[Any] | _UserSolver] = [*by_name, *given]
    for solver in chosen:
        if solver.name not in answering:
            yield f"{solver.name} is for {', '.join(solver.families)}, and compared is {', '.join(compared)}"
    wanted = {name.lower() for name in ([formulations] if isinstance(formulations, str) else formulations)}
    declared = {job.formulation for job in jobs}
    for id, entry in REGISTRY.items():
        if id.lower() in wanted and id not in declared:
            if entry.family not in compared:
                yield f"{id} declares {entry.family}, and compared is {', '.join(compared)}"
            else:
                yield f"{id} is {'a control (--include-controls)' if entry.control else 'for backends, and none was asked for'}"


def matching(patterns: str | Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """Return the known names that match any of the patterns, in their own order.

    Upper and lower case are the same.
    """
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    names = list(known)
    for pattern in wanted:
        if not any(fnmatchcase(name.lower(), pattern.lower()) for name in names):
            raise ValueError(f"unknown {what} {pattern!r}{did_you_mean(pattern, names)}; known: {', '.join(names)}")
    return [name for name in names if any(fnmatchcase(name.lower(), pattern.lower()) for pattern in wanted)]
