"""Single answer of a comparison: declaration or solver call, solution and examination."""

from __future__ import annotations

import time
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from equimargin.comparison.allowance import NOT_COMPILED, PROCESS_ENDED, Allowance
from equimargin.formulations import REGISTRY, declare
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.numeric.jit import (
    NotCompiled,
    compiling_within,
    measure_compile_seconds,
)
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.problem.base import CanonicalProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.proofs import Evidence, examine, examine_solution
from equimargin.proofs.referee import failed, skipped
from equimargin.proofs.referee.evidence import Run
from equimargin.proofs.referee.ways import find_refusal
from equimargin.solvers import BACKENDS, SOLVERS, Limits, Status, solve_declaration
from equimargin.solvers.backends.installed import find_backend
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.registry import RegisteredSolver
from equimargin.solvers.threads import one_thread

LIBRARIES_OF_LINEAR_PROGRAMS = ("highspy", "scipy.linalg")
"""Libraries that solvers of linear programs import at their first run, before solving."""
DENSE_RATIO = 10.0
"""Ratio of the entries of a declaration in w alone to those of others from which it waits.

A backend takes longer for an entry of a sparse matrix, and has more variables there.
"""


@dataclass(frozen=True)
class Job:
    """Request for one answer: a declaration solved by a backend, or a specialised solver.

    Parameters
    ----------
    problem : AnyProblem
        Problem of a family.
    formulation : str or None
        Id of the declared formulation; None for a specialised solver.
    solver : str
        Name of the backend or specialised solver.
    tol : float
        Relative tolerance requested of the solver.
    module : str, default "equimargin.solvers"
        Module whose import registers the formulation or the solver in another process.
    control : bool, default False
        True if the formulation is a negative control.
    given : RegisteredSolver, optional
        Specialised solver passed as an object; None to look it up by name.
    """

    problem: AnyProblem
    formulation: str | None
    solver: str
    tol: float
    module: str = "equimargin.solvers"
    control: bool = False
    given: RegisteredSolver[Any] | None = None

    @property
    def name(self) -> str:
        """Name of the answer in messages."""
        return f"{self.formulation or 'solver'} by {self.solver}"

    @property
    def specialised(self) -> RegisteredSolver[Any]:
        """Specialised solver of the job."""
        return self.given or SOLVERS[self.solver]

    @property
    def is_reference(self) -> bool:
        """True for a specialised solver that serves as a reference."""
        return self.formulation is None and self.specialised.reference

    @property
    def way(self) -> Formulation | RegisteredSolver[Any]:
        """Formulation or specialised solver of the job."""
        return self.specialised if self.formulation is None else REGISTRY[self.formulation]

    @property
    def library(self) -> str:
        """Library that solves the job: the backend, or the library of a specialised solver.

        Empty if the specialised solver runs its own code.
        """
        return self.solver if self.formulation is not None else self.specialised.library

    @cached_property
    def known_refusal(self) -> Refusal | None:
        """Known reason why the job cannot be run, or None."""
        return find_refusal(self.way, self.problem)

    @property
    def refusal(self) -> Refusal | None:
        """Reason why the job cannot be run, or None."""
        with kept_from_quitting():
            return self.way.refusal(self.problem)

    @property
    def seconds_to_compile(self) -> float:
        """Estimated seconds until the package's functions for the job are compiled."""
        return 0.0 if self.formulation is not None else self.specialised.seconds_to_compile

    @cached_property
    def preference(self) -> tuple[bool, int, bool]:
        """Sort key among jobs of equal priority; the job with the smaller key runs first.

        A solver that "auto" tries first precedes others, and so does a backend that suits
        the program. Of one backend's declarations, dense ones are last.
        """
        if self.formulation is not None:
            suited = find_backend(self.solver).suited == "linear" and self.problem.kind == "linear"
            return not suited, [*BACKENDS, self.solver].index(self.solver), self._is_dense
        return not self.specialised.goes_first(self.problem), 0, False

    @property
    def _is_dense(self) -> bool:
        """True for a formulation in w alone whose matrix A X has DENSE_RATIO times the entries.

        Other formulations of the family have the sparse A, and a factor of K.
        """
        problem, way = self.problem, self.way
        if not (isinstance(way, Formulation) and way.in_features):
            return False
        if not isinstance(problem, CanonicalProblem):
            return False
        features = problem.m if problem.explicit is None else problem.explicit.q
        sparse = 2 * problem.p + problem.m * features
        return bool(problem.p * features > DENSE_RATIO * sparse)

    def answer(self, allowed: Allowance | Refusal | str) -> Evidence:
        """Run the job, or record why it is skipped.

        Parameters
        ----------
        allowed : Allowance, Refusal or str
            Limits of the answer, or the reason to skip it.
        """
        if isinstance(allowed, Refusal):
            return self._skipped(
                Status.TOO_LARGE if allowed.too_large else Status.UNSUPPORTED, str(allowed)
            )
        if isinstance(allowed, str):
            return self._skipped(Status.TIME_LIMIT, allowed)
        return self.run(allowed)

    def run(self, allowed: Allowance) -> Evidence:
        """Solve and examine.

        A job that cannot be run is skipped with its reason, and a job that raises an
        exception is a failed answer.

        Linear algebra has one thread, as backends have: with several, threads wait for
        each other on problems of this size, above all if other programs use the cores,
        and times would not be comparable.

        Parameters
        ----------
        allowed : Allowance
            Limits of the answer.
        """
        try:
            with kept_from_quitting(), one_thread():
                return self._examined(allowed)
        except NotCompiled:
            return self._skipped(Status.TIME_LIMIT, NOT_COMPILED)
        except Exception as failure:
            return failed(*self._who, failure)

    @property
    def _who(self) -> tuple[str, str | None, str, bool]:
        """Family, formulation, solver and control flag, as in `Run`."""
        return self.problem.family, self.formulation, self.solver, self.control

    @property
    def ended_its_process(self) -> Evidence:
        """Evidence of a job whose process ended."""
        return Evidence(Run(*self._who, Status.NUMERICAL_FAILURE, PROCESS_ENDED))

    def _skipped(self, status: Status, reason: str) -> Evidence:
        return skipped(*self._who, status, reason)

    def _examined(self, allowed: Allowance) -> Evidence:
        self._enter()
        refusal = self.refusal
        if refusal is not None:
            return self.answer(refusal)
        if self.formulation is None:
            return self._solved(allowed)
        entry, started = REGISTRY[self.formulation], time.perf_counter()
        try:
            declared = interruptible(lambda: declare(entry.id, self.problem), seconds=allowed.left)
        except TimeoutError:
            return self._skipped(Status.TIME_LIMIT, allowed.late)
        except ValueError as failure:
            return self._skipped(Status.NUMERICAL_FAILURE, str(failure))
        declaring = time.perf_counter() - started
        answer = solve_declaration(
            declared, self.solver, self.tol, allowed.seconds, total_time=allowed.left - declaring
        )
        if answer.status is Status.TIME_LIMIT and not answer.solve_seconds:
            return self._skipped(Status.TIME_LIMIT, allowed.late)
        allowed = allowed.within(allowed.left - declaring - answer.compile_seconds, allowed.late)
        if allowed.reason and answer.status is Status.TIME_LIMIT:
            answer = replace(answer, reason=allowed.reason)
        return examine(
            self.problem,
            replace(answer, compile_seconds=answer.compile_seconds + declaring),
            self.control,
        )

    def _solved(self, allowed: Allowance) -> Evidence:
        """Return the evidence of a specialised solver, with compilation time separated."""
        if self.problem.kind == "linear":
            for library in LIBRARIES_OF_LINEAR_PROGRAMS:
                # A solver that needs no such library runs without it.
                with suppress(ImportError):
                    import_module(library)
        before = measure_compile_seconds()
        with compiling_within(allowed.compiling):
            solution = self.specialised.run(
                self.problem, Limits(self.tol, time_limit=allowed.seconds), None
            )
            compiling = measure_compile_seconds() - before
            evidence = examine_solution(self.problem, solution)
        reason = (
            allowed.reason
            if allowed.reason and solution.status is Status.TIME_LIMIT
            else evidence.run.reason
        )
        inner = "" if solution.solver == self.solver else solution.solver
        within = f" (computed by {inner})" if inner else ""
        library = self.library or (SOLVERS[inner].library if inner in SOLVERS else "") or inner
        named = replace(evidence.run, solver=self.solver, library=library)
        return replace(
            evidence, run=replace(named, reason=f"{reason}{within}", compile_seconds=compiling)
        )

    def _enter(self) -> None:
        """Register the formulation or the solver by importing its module.

        Another process knows only those of this package.

        Raises
        ------
        LookupError
            If importing the module does not register it.
        """
        name = self.formulation or self.solver
        known: Container[str] = REGISTRY if self.formulation else SOLVERS
        if self.given is None and name not in known:
            with suppress(ImportError):
                import_module(self.module)
            if name not in known:
                where = f"{name} is not registered by importing {self.module} in another process"
                raise LookupError(
                    f"{where}; define it in a module that can be imported there, or run one "
                    f"job at a time"
                )
