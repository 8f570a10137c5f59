"""Formulations and solvers chosen by patterns, and the jobs of a problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from equimargin.comparison.job import Job
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.numeric.arguments import did_you_mean, format_value, matches_any
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.rows.loss import LOSS_NAMES
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.solvers import BACKENDS, SOLVERS, Requirements, Solver
from equimargin.solvers.backends.installed import find_backend, installed_backends, missing_backends
from equimargin.solvers.backends.table import Backend
from equimargin.solvers.registry import RegisteredSolver

ACCURATE = "CLARABEL"
"""Backend of the negative controls: refuting a misprint requires an accurate solution."""


@dataclass(frozen=True)
class Choice:
    """Formulations and solvers of a comparison.

    Parameters
    ----------
    ids : list of str
        Ids of the formulations.
    backends : list of str
        Names of the backends.
    solvers : dict of str to RegisteredSolver[Any]
        Specialised solvers by name, those passed as objects last.
    asked : set of str
        Patterns of backends and solvers in upper case; a backend that is weak on the
        class of programs runs only if its full name is one of them.
    """

    ids: list[str]
    backends: list[str]
    solvers: dict[str, RegisteredSolver[Any]]
    asked: set[str]

    @classmethod
    def of(cls, formulations: Sequence[str], solvers: Sequence[str | Solver]) -> Choice:
        """Return the choice by patterns, and by solvers in place of patterns.

        Parameters
        ----------
        formulations, solvers : sequence
            As in `ComparisonRequest`.

        Raises
        ------
        ValueError
            If a pattern matches nothing, an object is no solver, or two solvers have
            one name.
        """
        ids = matching(formulations, REGISTRY, "formulation")
        # Objects replace no name: a solver with a known name must be the registered one.
        given = [_registered(item) for item in solvers if not isinstance(item, str)]
        patterns = [item for item in solvers if isinstance(item, str)]
        backends = _backends(patterns)
        names = matching(patterns, [*backends, *SOLVERS], "solver")
        chosen = {name: SOLVERS[name] for name in names if name in SOLVERS}
        for solver in given:
            known = chosen.get(solver.name) or SOLVERS.get(solver.name)
            if solver.name in backends or (known is not None and known is not solver):
                raise ValueError(
                    f"two solvers of a comparison are named {solver.name!r}; give this one "
                    f"another name"
                )
            chosen[solver.name] = solver
        asked = {name.upper() for name in (*patterns, *(solver.name for solver in given))}
        return cls(ids, [name for name in names if name in backends], chosen, asked)

    def jobs(self, problem: AnyProblem, tol: float, controls: bool = False) -> list[Job]:
        """Return the jobs of one problem, in the order of its records in the report.

        Parameters
        ----------
        problem : AnyProblem
            Problem of a family.
        tol : float
            Relative tolerance requested of every solver.
        controls : bool, default False
            True to include the negative controls.
        """
        # Declarations, then specialised solvers, then negative controls.
        entries = [REGISTRY[id] for id in self.ids if REGISTRY[id].family == problem.family]
        backends = [name for name in self.backends if not self._is_weak(name, problem.kind)]
        jobs = [
            Job(problem, entry.id, name, tol, entry.module)
            for entry in entries
            if not entry.control
            for name in backends
        ]
        for name, solver in self.solvers.items():
            if solver.takes(problem.family):
                given = None if SOLVERS.get(name) is solver else solver
                jobs.append(Job(problem, None, name, tol, solver.module, given=given))
        if controls:
            wrong = (entry for entry in entries if entry.control)
            jobs += [
                Job(problem, entry.id, ACCURATE, tol, entry.module, control=True) for entry in wrong
            ]
        return jobs

    def _is_weak(self, backend: str, kind: str) -> bool:
        """Return True for a backend that is weak on a class of programs and not named in full."""
        return backend not in self.asked and find_backend(backend).suited not in ("any", kind)

    def left_out(
        self, problems: Iterable[AnyProblem], jobs: Sequence[Job], formulations: Sequence[str]
    ) -> Iterator[str]:
        """Yield sentences on weak backends, and on choices that apply to none of the problems.

        Such a choice is a formulation by its full name, or a solver by any pattern
        except *.

        Parameters
        ----------
        problems : iterable of AnyProblem
            Problems of the comparison.
        jobs : sequence of Job
            Jobs of all problems.
        formulations : sequence of str
            Patterns of formulations.

        Yields
        ------
        str
            Sentence.
        """
        for kind in dict.fromkeys(problem.kind for problem in problems):
            weak = [name for name in self.backends if self._is_weak(name, kind)]
            yield from (
                f"{name} on {kind} programs (weak there; --solver {name} runs it)" for name in weak
            )
        # The pattern * alone matches solvers of other families by intention.
        compared = dict.fromkeys(job.problem.family for job in jobs)
        answering = {job.solver for job in jobs}
        for name, solver in self.solvers.items():
            asked = name.upper() in self.asked or any(
                fnmatchcase(name.upper(), pattern) for pattern in self.asked - {"*"}
            )
            if asked and name not in answering:
                yield (
                    f"{name} solves {', '.join(solver.families)}, not the compared "
                    f"{', '.join(compared)}"
                )
        wanted = {name.lower() for name in formulations}
        declared = {job.formulation for job in jobs}
        for id, entry in REGISTRY.items():
            if id.lower() in wanted and id not in declared:
                if entry.family not in compared:
                    yield f"{id} declares {entry.family}, not the compared {', '.join(compared)}"
                elif entry.control:
                    yield f"{id} is a negative control (--include-controls)"
                else:
                    yield f"{id} needs a backend, and none was requested"


def _backends(patterns: Iterable[str]) -> dict[str, Backend]:
    """Return the backends of BACKENDS, and others that a pattern names in full.

    Raises
    ------
    ValueError
        If a pattern names a backend that could be installed.
    """
    known = [name.upper() for name in (*BACKENDS, *SOLVERS)]
    others = [
        pattern.upper()
        for pattern in patterns
        if not any(fnmatchcase(name, pattern.upper()) for name in known)
    ]
    if not others:
        return dict(BACKENDS)
    installed, missing = installed_backends(), dict(missing_backends())
    for name in others:
        if name in missing:
            find_backend(name)
    return BACKENDS | {name: installed[name] for name in others if name in installed}


def matching(patterns: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """Return the known names that match any pattern, ignoring case, in their own order.

    Parameters
    ----------
    patterns : sequence of str
        Names, or patterns with * and ?.
    known : iterable of str
        All names; repetitions are left out.
    what : str
        Singular noun for the error message, such as "solver".

    Returns
    -------
    list of str
        Matching names.

    Raises
    ------
    ValueError
        If a pattern matches no name.
    """
    names = list(dict.fromkeys(known))
    for pattern in patterns:
        if not any(matches_any(name, [pattern]) for name in names):
            near = did_you_mean(pattern, names) or f"; known: {', '.join(names)}"
            raise ValueError(f"unknown {what} {pattern!r}{near}")
    return [name for name in names if matches_any(name, patterns)]


def _registered(solver: object) -> RegisteredSolver[Any]:
    """Return a `Solver` object as a registered solver.

    It refuses the problems that the object refuses. Attributes are read once, because
    properties may raise.

    Raises
    ------
    ValueError
        If the object is no solver, or an attribute cannot be read.
    """
    try:
        with kept_from_quitting():
            if isinstance(solver, RegisteredSolver):
                return solver
            if isinstance(solver, Solver):
                requires = Requirements(
                    AnyProblem,  # type: ignore[type-abstract]
                    losses=LOSS_NAMES,
                    thresholds=float("inf"),
                    also=solver.refusal,
                )
                attributes = (
                    solver.name,
                    solver.run,
                    solver.algorithm,
                    tuple(solver.families),
                    requires,
                    solver.reference,
                )
                return RegisteredSolver(
                    *attributes,
                    first=lambda problem: False,
                    library=str(getattr(solver, "library", "")),
                )
    # A user-defined property may raise any exception.
    except Exception as failure:
        kind = type(solver).__name__
        raise ValueError(
            f"a solver of the class {kind} has an attribute that cannot be read: "
            f"{what_was_raised(failure)}"
        ) from failure
    raise ValueError(
        f"{format_value(solver)} is no solver; register a function with @solver, and request it "
        f"by name"
    )
