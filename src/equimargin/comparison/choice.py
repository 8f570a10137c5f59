"""Formulations and solvers chosen by patterns, and the jobs of a problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from equimargin.comparison.job import Job
from equimargin.comparison.user_solver import UserSolver
from equimargin.formulations import REGISTRY
from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.formulations.problem import AnyProblem
from equimargin.solvers import BACKENDS, SOLVERS, Solver
from equimargin.solvers.registry import RegisteredSolver, supports_family

ACCURATE = "CLARABEL"
"""Name of the backend of controls: refuting a misprint takes an accurate solution."""


@dataclass(frozen=True)
class Choice:
    """Formulations and solvers of a comparison.

    Attributes
    ----------
    ids : list[str]
        Formulations.
    names : list[str]
        Backends and solvers by their names.
    asked : set[str]
        Patterns of backends and solvers, in capital letters: one in full asks for them by name.
    given : list[UserSolver]
        Solvers that were passed as objects.
    """

    ids: list[str]
    names: list[str]
    asked: set[str]
    given: list[UserSolver]

    @classmethod
    def of(cls, formulations: str | Sequence[str], solvers: Sequence[str | Solver]) -> Choice:
        """Return the choice by patterns, and by solvers in place of patterns.

        Parameters
        ----------
        formulations, solvers
            As in `ComparisonRequest`.

        Raises
        ------
        ValueError
            If a pattern matches nothing, something is no solver, or two solvers have one name.
        """
        ids, given = matching(formulations, REGISTRY, "formulation"), _given(solvers)
        patterns = [each for each in solvers if isinstance(each, str)]
        return cls(ids, matching(patterns, [*BACKENDS, *SOLVERS], "solver"), {name.upper() for name in patterns}, given)

    @property
    def solvers(self) -> list[str]:
        """The names of all solvers."""
        return [*self.names, *(solver.name for solver in self.given)]

    def jobs(self, problem: AnyProblem, tol: float, controls: bool = False) -> list[Job]:
        """Return the jobs of one problem in the order of its records, controls last.

        Parameters
        ----------
        problem : AnyProblem
            Problem of a family.
        tol : float
            Relative accuracy asked of every solver.
        controls : bool
            Whether formulations that are wrong on purpose take part.
        """
        entries = [REGISTRY[id] for id in self.ids if REGISTRY[id].family == problem.family]
        backends = [name for name in self.names if name in BACKENDS and not self._is_weak(name, problem.kind)]
        jobs = [Job(problem, entry.id, name, tol, entry.module) for entry in entries if not entry.control for name in backends]
        solving = [SOLVERS[name] for name in self.names if name in SOLVERS and SOLVERS[name].takes(problem.family)]
        jobs += [Job(problem, None, solver.name, tol, solver.module) for solver in solving]
        jobs += [Job(problem, None, solver.name, tol, given=solver) for solver in self.given if supports_family(solver, problem.family)]
        if controls:
            wrong = (entry for entry in entries if entry.control)
            jobs += [Job(problem, entry.id, ACCURATE, tol, entry.module, control=True) for entry in wrong]
        return jobs

    def _is_weak(self, backend: str, kind: str) -> bool:
        """Return True for a backend that is weak on a kind of program and not named in full."""
        return backend not in self.asked and BACKENDS[backend].suited not in ("any", kind)

    def weak(self, problems: Iterable[AnyProblem]) -> Iterator[str]:
        """Yield sentences on backends left out as weak on a kind of program.

        Parameters
        ----------
        problems : Iterable[AnyProblem]
            Problems of the comparison.
        """
        for kind in dict.fromkeys(problem.kind for problem in problems):
            for name in self.names:
                if name in BACKENDS and self._is_weak(name, kind):
                    yield f"{name} on {kind} programs (weak there; --solver {name} runs it)"

    def without_an_answer(self, jobs: Sequence[Job], formulations: str | Sequence[str]) -> Iterator[str]:
        """Yield sentences on chosen solvers and formulations that are for none of the problems.

        Formulations are chosen by their own names, solvers by any pattern but that of all.

        Parameters
        ----------
        jobs : Sequence[Job]
            All jobs of the comparison.
        formulations : str or Sequence[str]
            Patterns of formulations.
        """
        compared = dict.fromkeys(job.problem.family for job in jobs)
        answering = {job.solver for job in jobs}
        by_name = [SOLVERS[name] for name in SOLVERS if any(fnmatchcase(name.upper(), pattern) for pattern in self.asked - {"*"})]
        chosen: list[RegisteredSolver[Any] | UserSolver] = [*by_name, *self.given]
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

    Parameters
    ----------
    patterns : str or Sequence[str]
        Names or patterns with * and ?.
    known : Iterable[str]
        All names.
    what : str
        Kind of the names, for errors.
    """
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    names = list(known)
    for pattern in wanted:
        if not any(fnmatchcase(name.lower(), pattern.lower()) for name in names):
            raise ValueError(f"unknown {what} {pattern!r}{did_you_mean(pattern, names)}; known: {', '.join(names)}")
    return [name for name in names if any(fnmatchcase(name.lower(), pattern.lower()) for pattern in wanted)]


def _given(wanted: Sequence[str | Solver]) -> list[UserSolver]:
    """Return the solvers that were passed as objects, each under a name of its own."""
    given = [UserSolver.of(each) for each in wanted if not isinstance(each, str)]
    taken = {*BACKENDS, *SOLVERS}
    for solver in given:
        if solver.name in taken and SOLVERS.get(solver.name) is not solver.solver:
            raise ValueError(f"two solvers of one comparison are called {solver.name!r}: give this one another name")
        taken.add(solver.name)
    return given
