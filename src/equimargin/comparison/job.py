"""One answer of a comparison: declared or passed to a solver, solved, and examined."""

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
from equimargin.formulations.problem.refusal import Refusal
from equimargin.proofs import Evidence, examine, examine_solution
from equimargin.proofs.referee import failed, skipped
from equimargin.proofs.referee.evidence import Run
from equimargin.proofs.referee.ways import find_refusal
from equimargin.solvers import BACKENDS, SOLVERS, Limits, Status, solve_declaration
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.registry import RegisteredSolver
from equimargin.solvers.threads import one_thread

LIBRARIES_OF_LINEAR_PROGRAMS = ("highspy", "scipy.linalg")
"""Libraries that solvers of linear programs import at their first run, before solving."""


@dataclass(frozen=True)
class Job:
    """One answer that is wanted: a declaration solved by a backend, or a specialised solver (formulation None).

    Attributes
    ----------
    problem : AnyProblem
        Problem of a family.
    formulation : str or None
        Id of the formulation that is declared.
    solver : str
        Name of the backend or specialised solver.
    tol : float
        Relative accuracy asked of it.
    module : str
        The module whose import registers the formulation or the solver, for a process that does not
        know it yet.
    control : bool
        Whether the formulation is wrong on purpose.
    given : RegisteredSolver[Any] | None
        RegisteredSolver or None The specialised solver itself, where it is not looked
        up by its name.
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
        """Name of the answer in sentences."""
        return f"{self.formulation or 'solver'} by {self.solver}"

    @property
    def specialised(self) -> RegisteredSolver[Any]:
        """The specialised solver."""
        return self.given or SOLVERS[self.solver]

    @property
    def is_reference(self) -> bool:
        """True if it is a specialised solver that serves as a reference."""
        return self.formulation is None and self.specialised.reference

    @property
    def way(self) -> Formulation | RegisteredSolver[Any]:
        """The formulation or the specialised solver, which knows what problems it takes."""
        return self.specialised if self.formulation is None else REGISTRY[self.formulation]

    @property
    def library(self) -> str:
        """Library whose code solves it, by a backend's name where it is one.

        Empty where that is the code of a specialised solver itself.
        """
        return self.solver if self.formulation is not None else self.specialised.library

    @cached_property
    def known_refusal(self) -> Refusal | None:
        """Reason why it cannot be run, as far as that is known, or None."""
        return find_refusal(self.way, self.problem)

    @property
    def refusal(self) -> Refusal | None:
        """Reason why it cannot be run, or None."""
        with kept_from_quitting():
            return self.way.refusal(self.problem)

    @property
    def seconds_to_compile(self) -> float:
        """About how many seconds it waits until a kernel of the project's own is compiled."""
        return 0.0 if self.formulation is not None else self.specialised.seconds_to_compile

    @cached_property
    def preference(self) -> tuple[bool, int]:
        """What its place among its like is by: the solver that "auto" asks before others, and the backend that is good at its program."""
        if self.formulation is not None:
            suited = BACKENDS[self.solver].suited == "linear" and self.problem.kind == "linear"
            return not suited, list(BACKENDS).index(self.solver)
        return not self.specialised.goes_first(self.problem), 0

    def answer(self, allowed: Allowance | Refusal | str) -> Evidence:
        """Run the job, or say why it is not run.

        Parameters
        ----------
        allowed : Allowance | Refusal | str
            Allowance or Refusal or str Limits of the answer, or the reason why there is
            none.
        """
        if isinstance(allowed, Refusal):
            return self._skipped(
                Status.TOO_LARGE if allowed.too_large else Status.UNSUPPORTED, str(allowed)
            )
        return (
            self._skipped(Status.TIME_LIMIT, allowed)
            if isinstance(allowed, str)
            else self.run(allowed)
        )

    def run(self, allowed: Allowance) -> Evidence:
        """Solve and examine.

        A job that cannot be run is skipped with its reason, and an exception makes a failed answer.

        Linear algebra has one thread, as backends have: several spend more time waiting for each
        other on problems of this size, above all where other programs want the cores, and times of
        answers could not be compared.

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
        """The family, the formulation, the solver, and whether it is a control, as `Run` has them."""
        return self.problem.family, self.formulation, self.solver, self.control

    @property
    def ended_its_process(self) -> Evidence:
        """The evidence of a job whose process ended."""
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
        """Return the evidence of a specialised solver, seconds of compiling apart from solving."""
        if self.problem.kind == "linear":
            for library in LIBRARIES_OF_LINEAR_PROGRAMS:
                import_module(library)
        before = measure_compile_seconds()
        with compiling_within(allowed.compiling):
            solution = self.specialised.run(
                self.problem, Limits(self.tol, time_limit=allowed.seconds), None
            )
            compiling = measure_compile_seconds() - before
            found = examine_solution(self.problem, solution)
        reason = (
            allowed.reason
            if allowed.reason and solution.status is Status.TIME_LIMIT
            else found.run.reason
        )
        inner = "" if solution.solver == self.solver else solution.solver
        within = f" (computed by {inner})" if inner else ""
        library = self.library or (SOLVERS[inner].library if inner in SOLVERS else "") or inner
        named = replace(found.run, solver=self.solver, library=library)
        return replace(
            found, run=replace(named, reason=f"{reason}{within}", compile_seconds=compiling)
        )

    def _enter(self) -> None:
        """Register the formulation or the solver by importing its module: another process knows only those of the project.

        Raises
        ------
        LookupError
            Importing the module does not register it.
        """
        name = self.formulation or self.solver
        known: Container[str] = REGISTRY if self.formulation else SOLVERS
        if self.given is None and name not in known:
            with suppress(ImportError):
                import_module(self.module)
            if name not in known:
                where = f"{name} is not entered by importing {self.module} in another process"
                raise LookupError(
                    f"{where}: put it into a module that can be imported there, or run one "
                    f"job at a time"
                )
