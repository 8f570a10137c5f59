"""Registry of the specialised solvers, and the public `solve`.

A solver is a function of a problem, limits and a start, decorated with `@solver`:

    requires = Requirements(MarginProblem, losses=("hinge",))

    @solver("mine", "svm.soft", algorithm="...", requires=requires)
    def mine(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution: ...

It may omit the start, or limits and start, from its parameters. In place of a Solution
it may return any point that `complete` accepts: w of a linear kernel, (w, b), a mapping
of parts such as {"f": f, "b": b}, or a Point. The bounds proven by that point then
determine the status. For a `ProgramProblem` it returns an objective value of the
family's first formulation; or values of its variables, by name; or the name of another
formulation and values of that one's variables. Missing variables are optimised.

The package's solvers are registered in the same way. Importing all their modules takes
some 20 ms. A module is therefore imported when its solver is first looked up; importing
`equimargin.solvers` imports only the modules that this package needs itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from typing import Any, Generic, Protocol, TypeVar, overload, runtime_checkable

import numpy as np

from equimargin.formulations.bounds.evaluate import resolve_shift
from equimargin.formulations.declarations.family import FAMILIES, Family, check_name
from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.declarations.user_functions import guarded, innermost, kept
from equimargin.formulations.numeric.arguments import did_you_mean, format_value
from equimargin.formulations.numeric.jit import run_seconds, seconds_to_compile
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.registry import Registry
from equimargin.solvers.exact_limits import refusal as exact_refusal
from equimargin.solvers.program_solution import solved
from equimargin.solvers.requirements import P, Requirements
from equimargin.solvers.solution import (
    PROCESSOR,
    AnySolution,
    Callback,
    Limits,
    Solution,
    Status,
    checked,
    finished,
)

LOG = logging.getLogger(__name__)
"""Logger of the chosen solvers and of their ends."""
DEFAULT_ACCURACY = 1e-6
"""Default accuracy that a solver declares, relative to the optimum."""
LEAST_ACCURATE = 1e-3
"""Maximum accuracy that a solver may declare, relative to the optimum.

The referee counts less accurate answers as failed.
"""
ANY_DATA = Requirements(ProgramProblem)
"""Requirements of a solver for all `ProgramProblem`s of its families."""
Run = TypeVar("Run", bound=Callable[..., Any])
"""Solving function of a problem and, optionally, limits and a warm start or None.

The warm start is a point of the problem's kind.
"""


@runtime_checkable
class Solver(Protocol):
    """Interface of a specialised solver.

    Entries of SOLVERS implement it; `equimargin.testing.check_solver` tests any object
    that does.
    """

    @property
    def name(self) -> str:
        """Name under which the solver is requested."""

    @property
    def algorithm(self) -> str:
        """Algorithm, as a phrase."""

    @property
    def families(self) -> tuple[str, ...]:
        """Supported families; "svr" stands for all families whose ids begin with "svr."."""

    @property
    def reference(self) -> bool:
        """True for a reference solver for comparisons; "auto" never chooses it."""

    def refusal(self, problem: Any) -> Refusal | None:
        """Return the reason why the problem is unsupported, or None.

        Parameters
        ----------
        problem : Any
            Problem to solve.
        """

    def run(self, problem: Any, limits: Limits, warm_start: Any) -> Solution:
        """Solve a supported problem.

        Parameters
        ----------
        problem : Any
            Problem that `refusal` accepts.
        limits : Limits
            Limits of the run.
        warm_start : Any
            Initial point, or None.

        Returns
        -------
        Solution
            Always a point, a status and a reason.
        """


def supports_family(solver: Solver, family: str) -> bool:
    """Return True if the solver supports this family.

    Parameters
    ----------
    solver : Solver
        Solver.
    family : str
        Id of a family.
    """
    return f"{family}.".startswith(_beginnings(solver.families))


@cache
def _beginnings(families: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names as prefixes of family ids, each ending in a dot."""
    return tuple(f"{name}." for name in families)


@dataclass(frozen=True, eq=False)
class RegisteredSolver(Generic[P]):
    """Entry in SOLVERS; its attributes are the parameters of `solver`."""

    name: str
    function: Callable[..., Any]
    algorithm: str
    families: tuple[str, ...]
    requires: Requirements[P]
    reference: bool
    first: Callable[[P], bool]
    kernel: Callable[..., Any] | None = None
    library: str = ""
    accuracy: float = DEFAULT_ACCURACY
    libraries: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Module whose import registers the solver."""
        return str(innermost(self.function).__module__)

    def takes(self, family: str) -> bool:
        """Return True if the solver supports this family.

        Parameters
        ----------
        family : str
            Id of a family.
        """
        return supports_family(self, family)

    @property
    def seconds_to_compile(self) -> float:
        """Estimated seconds until the compiled function `kernel` is ready."""
        return 0.0 if self.kernel is None else seconds_to_compile(self.kernel)

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return the reason why the problem is unsupported, or None.

        Parameters
        ----------
        problem : AnyProblem
            Problem to solve.
        """
        if (
            isinstance(problem, ProgramProblem)
            and issubclass(ProgramProblem, self.requires.shape)
            and not self.takes(problem.family)
        ):
            return Refusal(
                f"it is of the family {problem.family}, and this solver is for "
                f"{', '.join(self.families)}"
            )
        return self.requires.refusal(problem)

    @cached_property
    def _arguments(self) -> int:
        """Number of arguments of the function: problem, limits, start."""
        kinds = [parameter.kind for parameter in signature(self.function).parameters.values()]
        places = kinds.count(Parameter.POSITIONAL_OR_KEYWORD) + kinds.count(
            Parameter.POSITIONAL_ONLY
        )
        return 3 if Parameter.VAR_POSITIONAL in kinds else places

    def goes_first(self, problem: AnyProblem) -> bool:
        """Return True if "auto" prefers this solver; False if `first` raises.

        Parameters
        ----------
        problem : AnyProblem
            Problem to solve.
        """
        try:
            return isinstance(problem, self.requires.shape) and bool(self._first(problem))
        except Exception:  # A user's function may fail in any way.
            return False

    @cached_property
    def _first(self) -> Callable[[P], bool]:
        """`first`; a user's function is wrapped, so that it cannot exit Python."""
        return guarded(self.first)

    @overload
    def run(
        self, problem: Problem, limits: Limits, warm_start: CanonicalPoint | None
    ) -> Solution: ...

    @overload
    def run(self, problem: AnyProblem, limits: Limits, warm_start: None) -> AnySolution: ...

    # Overflow shows in the gap and the interval of the point.
    @np.errstate(all="ignore")
    def run(
        self, problem: AnyProblem, limits: Limits, warm_start: CanonicalPoint | None
    ) -> AnySolution:
        """Solve a problem of the required class; other requirements are not checked.

        Parameters
        ----------
        problem : AnyProblem
            Problem to solve.
        limits : Limits
            Limits of the run.
        warm_start : CanonicalPoint or None
            Initial point.

        Returns
        -------
        AnySolution
            Result of the function, or its point with the proven status.

        Raises
        ------
        ValueError
            If the problem is of another class, or the function returns no point of the
            problem.
        """
        # Imported here, before the solver's clock starts. At the top of this module,
        # the import would slow down that of the package.
        import scipy.linalg  # noqa: F401

        if not isinstance(problem, self.requires.shape):
            raise ValueError(
                f"{self.name} does not take this {problem.family} problem: {self.refusal(problem)}"
            )
        for module in self.libraries:
            import_module(module)
        given = (problem, limits, warm_start)[: self._arguments]
        solution = self._solution(problem, limits, given)
        LOG.info(
            "%s: %s, %s; %.3f s", self.name, solution.status, solution.reason, solution.seconds
        )
        return solution

    def _solution(self, problem: AnyProblem, limits: Limits, given: tuple[Any, ...]) -> AnySolution:
        """Return the result of the function for the arguments that it takes."""
        if isinstance(problem, ProgramProblem):
            return solved(
                problem,
                self.name,
                lambda: kept(self.function)(*given),
                self.accuracy,
                limits.time_limit,
            )
        started = time.perf_counter()
        answer = self.function(*given)
        if isinstance(answer, AnySolution):
            return answer
        assert isinstance(problem, Problem)
        return finished(problem, self.name, answer, limits, time.perf_counter() - started)


SOLVERS: Registry[RegisteredSolver[Any]] = Registry(
    "solver",
    {
        "smo": "equimargin.solvers.dual.smo",
        "coordinate_descent": "equimargin.solvers.dual.coordinate_descent",
        "newton": "equimargin.solvers.newton.newton",
        "huber": "equimargin.solvers.newton.huber",
        "tron": "equimargin.solvers.newton.tron",
        "linear_program": "equimargin.solvers.lp.linear_program",
        "column_generation": "equimargin.solvers.lp.column_generation",
        "cutting_plane": "equimargin.solvers.dual.cutting_plane",
        "homotopy": "equimargin.solvers.path.homotopy",
        "dual_active_set": "equimargin.solvers.hard.dual_active_set",
        "threshold_newton": "equimargin.solvers.ordinal.threshold_newton",
        "columns": "equimargin.solvers.dual.columns",
        "hard_levels": "equimargin.solvers.ordinal.hard_levels",
        "penalty": "equimargin.solvers.hard.penalty",
        "ord.explicit.newton": "equimargin.solvers.ordinal.ordered_thresholds",
        "ord.sum.newton": "equimargin.solvers.ordinal.ordered_thresholds",
        "svm.general.along_costs": "equimargin.solvers.path.along_costs",
        "coupling.wlw.linear_system": "equimargin.solvers.probability.coupling",
        "lasso.coordinate_descent": "equimargin.solvers.field.lasso",
        "group_lasso.proximal_gradient": "equimargin.solvers.field.lasso",
        "ls_svm.ridge": "equimargin.solvers.field.least_squares",
        "crammer_singer.decomposition": "equimargin.solvers.field.multiclass",
        "crammer_singer.liblinear": "equimargin.solvers.field.multiclass",
        "nu_svc.smo": "equimargin.solvers.field.nu",
        "nu_svc.libsvm": "equimargin.solvers.field.nu",
        "nu_svr.smo": "equimargin.solvers.field.nu",
        "nu_svr.libsvm": "equimargin.solvers.field.nu",
        "one_class.smo": "equimargin.solvers.field.one_class",
        "one_class.libsvm": "equimargin.solvers.field.one_class",
        "one_norm_svm.highs": "equimargin.solvers.field.one_norm_svm",
        "one_norm_svm_l2.sparse_weights": "equimargin.solvers.field.one_norm_svm",
        "quantile.highs": "equimargin.solvers.field.quantile",
    },
)
"""Solvers by name, in the order of "auto": the package's, then those registered later."""


DEVICE_SOLVERS: Registry[RegisteredSolver[Any]] = Registry(
    "solver of a graphics card", {"smo": "equimargin.solvers.device.method"}
)
"""Solvers of SOLVERS that also run on a graphics card, by the same names."""


def device_solver(name: str, requires: Requirements[Any]) -> Callable[[Run], Run]:
    """Register the function by which a solver of SOLVERS runs on a graphics card.

    Parameters
    ----------
    name : str
        Name of the solver.
    requires : Requirements
        Requirements of a card on the problem.

    Returns
    -------
    callable
        Decorator that registers a function and returns it unchanged.
    """

    def enter(function: Run) -> Run:
        entry = replace(SOLVERS[name], function=function, requires=requires)
        DEVICE_SOLVERS.enter(name, entry, entry.module)
        return function

    return enter


def on_device(name: str, device: str) -> RegisteredSolver[Any]:
    """Return a solver of DEVICE_SOLVERS that runs on a device, whatever the limits name.

    Parameters
    ----------
    name : str
        Name of the solver.
    device : str
        Name of the device.
    """
    entry = DEVICE_SOLVERS[name]
    function = partial(_run_on, entry.function, device)
    return replace(entry, name=f"{name} on {device}", function=function)


def _run_on(
    function: Callable[..., Solution],
    device: str,
    problem: Any,
    limits: Limits,
    warm_start: Any,
) -> Solution:
    return function(problem, replace(limits, device=device), warm_start)


def solver(
    name: str,
    *families: str | Family[Any],
    algorithm: str = "",
    requires: Requirements[Any] = ANY_DATA,
    reference: bool | None = None,
    first: Callable[[Any], bool] = lambda problem: False,
    kernel: Callable[..., Any] | None = None,
    library: str = "",
    accuracy: float = DEFAULT_ACCURACY,
    libraries: tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Register a solving function in SOLVERS under a name.

    Parameters
    ----------
    name : str
        Name, not yet registered; by convention FAMILY.NAME for a solver of one family.
    *families : str or Family
        Families whose problems `compare` solves with it; "svr" stands for all families
        whose ids begin with "svr.".
    algorithm : str
        Algorithm, as a phrase; by default the first line of the function's docstring.
    requires : Requirements
        Class of the problems passed to the function, and conditions that they satisfy.
        By default any `ProgramProblem` of these families.
    reference : bool or None
        True if "auto" never chooses it because it serves comparisons; by default True
        for solvers of `ProgramProblem`s.
    first : callable
        Returns True for a problem of the class for which "auto" prefers it.
    kernel : callable or None
        Compiled function that only this solver uses, if it takes seconds to compile.
    library : str
        Library that solves the problem, under its name in BACKENDS if it is a backend;
        empty if the solver's own code does.
    accuracy : float
        Declared accuracy relative to the optimum, for `ProgramProblem`s: above 0, at
        most 1e-3.
    libraries : tuple of str
        Modules that the function itself imports; imported before its clock starts.

    Returns
    -------
    callable
        Decorator that registers a function and returns it unchanged.

    Raises
    ------
    ValueError
        If the name is taken or invalid, a family is unknown, `requires` is no
        `Requirements`, or the accuracy is not above 0 and at most 1e-3.
    """
    check_name(name)
    if not families or not all(isinstance(family, str | Family) for family in families):
        raise ValueError(
            f"{name}: name the families that it is for, as in @solver({name!r}, "
            f"'svm.soft'), not {format_value(families)}"
        )
    if not isinstance(requires, Requirements):
        known = "the solver's requirements, such as Requirements(MarginProblem, losses=('hinge',))"
        raise ValueError(f"{name}: requires must be {known}, not {format_value(requires)}")
    if not 0 < accuracy <= LEAST_ACCURATE:
        raise ValueError(
            f"the accuracy of {name} is {accuracy}: it must be above 0 and at most {LEAST_ACCURATE}"
        )
    unknown = [
        family
        for family in families
        if isinstance(family, str) and not any(f"{id}.".startswith(f"{family}.") for id in FAMILIES)
    ]
    if unknown:
        raise ValueError(
            f"{name}: there is no family "
            f"{format_value(unknown[0])}{did_you_mean(str(unknown[0]), list(FAMILIES))}"
        )
    # Solvers of `ProgramProblem`s are references by default.
    ids = tuple(family if isinstance(family, str) else family.id for family in families)
    reference = issubclass(requires.shape, ProgramProblem) if reference is None else reference

    def enter(function: Run) -> Run:
        description = algorithm or cleandoc(innermost(function).__doc__ or "").partition("\n")[0]
        entry = RegisteredSolver(
            name,
            function,
            description,
            ids,
            requires,
            reference,
            first,
            kernel,
            library,
            accuracy,
            libraries,
        )
        SOLVERS.enter(name, entry, entry.module)
        for family in families:
            if isinstance(family, Family):
                family.when_replaced.append(partial(SOLVERS.forget, name))
        return function

    return enter


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: Solution | CanonicalPoint | None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    device: str = PROCESSOR,
) -> Solution:
    """Solve a problem with a specialised solver.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    solver : str or Solver
        Name in SOLVERS, a user-defined Solver, or "auto": the first that supports the
        problem and is no reference solver. It prefers newton and huber if there are
        many points and few features, or columns in large units, and column_generation
        for large linear programs. If a solver makes no progress, the next one
        continues, and `reason` says so.
    tol : float
        Relative gap to reach.
    max_iter : int or None
        Maximum number of the solver's iterations; None for its default.
    time_limit : float or None
        Time limit in seconds, without the compilation of functions; None for none.
    warm_start : Solution or CanonicalPoint or None
        Initial solution or point, of a similar problem.
    callback : Callback or None
        Called with (iterations, lower, upper, point) at every check of the gap, such as
        a `Trace`; a true return value ends the run with `Status.CALLBACK`. If "auto"
        changes the solver, the next one counts its iterations from 0; those of the
        Solution are the total.
    n_jobs : int
        Threads for a large problem, if the solver can use them.
    device : str
        "cpu", or "cuda" ("cuda:1", ...) to run smo on an NVIDIA card; a card is never
        chosen otherwise.

    Returns
    -------
    Solution
        Point, status, reason, and the interval that the point proves. A given Gram matrix
        is proven to be semidefinite when the interval is first used.

    Raises
    ------
    ValueError
        If the solver is unknown or does not support the problem (the message names the
        reason and alternatives), a tolerance, limit or number of threads is not
        positive, the warm start belongs to another kind of problem, or the device is
        missing, has too little memory or does not support the problem.
    """
    limits = checked(tol, max_iter, time_limit, callback, n_jobs, device)
    problem = resolve_shift(problem, limits.tol)
    given = warm_start.point if isinstance(warm_start, Solution) else warm_start
    start = None if given is None else problem.own_point(given)
    if limits.device != PROCESSOR:
        return _on_device(problem, solver, limits.device).run(problem, limits, start)
    return (
        _in_turn(problem, limits, start)
        if solver == "auto"
        else _willing(problem, solver).run(problem, limits, start)
    )


def _on_device(problem: Problem, solver: str | Solver, device: str) -> RegisteredSolver[Any]:
    """Return the solver, given by name or "auto", that runs a problem on a device."""
    chosen = next(iter(DEVICE_SOLVERS)) if solver == "auto" else _known(problem, solver).name
    if chosen not in DEVICE_SOLVERS:
        raise ValueError(
            f"{chosen} runs on the processor only: leave out device={device!r}, or choose "
            f"{' or '.join(DEVICE_SOLVERS)}"
        )
    refusal = DEVICE_SOLVERS[chosen].refusal(problem)
    if refusal is not None:
        raise ValueError(
            f"{chosen} on device={device!r} does not take this {problem.family} problem: "
            f"{refusal}; leave out device to use the processor"
        )
    return DEVICE_SOLVERS[chosen]


def _in_turn(problem: Problem, limits: Limits, start: CanonicalPoint | None) -> Solution:
    """Return the solution of the first solver of "auto" that does not stall.

    All solvers share the time limit. The solution has the best point of all runs, and
    the status of the last. Iterations and seconds are totals, and the reason names all
    runs.
    """
    # The next solver is looked up before a run: slow progress ends a run only if it has
    # a successor.
    queue, began = _automatic(problem), run_seconds()
    solver, best, handovers, steps = next(queue), None, "", list[int]()
    _log_choice(problem, solver)
    while True:
        successor = next(queue, None)
        left = limits.left(run_seconds() - began)
        run_limits = replace(left, has_successor=successor is not None)
        solution = solver.run(problem, run_limits, start)
        steps += [] if solution.iterations is None else [solution.iterations]
        # A gap in float64 may be rounding: the proven intervals are compared.
        if (
            best is None
            or solution.ray
            or solution.ok
            or solution.interval.relative_width <= best.interval.relative_width
        ):
            best = solution
        out_of_time = limits.time_limit is not None and run_seconds() - began >= limits.time_limit
        if successor is None or out_of_time or not _is_stuck(solution, limits):
            break
        LOG.info("%s passes the problem to %s", solver.name, successor.name)
        handovers += f"{solver.name} passed the problem to {successor.name} ({solution.reason}); "
        solver = successor
    if not handovers:
        return solution
    source = "" if best is solution else f"; the point is that of {best.solver}"
    return replace(
        best,
        status=solution.status,
        reason=f"{handovers}{solver.name}: {solution.reason}{source}",
        iterations=sum(steps) if steps else None,
        seconds=run_seconds() - began,
    )


def _log_choice(problem: Problem, solver: RegisteredSolver[Any]) -> None:
    """Log the first solver of "auto", and the reason of the choice."""
    if LOG.isEnabledFor(logging.INFO):
        why = (
            "preferred for such problems"
            if solver.goes_first(problem)
            else "the first in its order that takes the problem"
        )
        LOG.info("%s, %d rows: auto chooses %s, %s", problem.family, problem.p, solver.name, why)


def _is_stuck(found: Solution, limits: Limits) -> bool:
    """Return True if a solver failed, and no limit of the caller ended the run."""
    failures = (Status.ITERATION_LIMIT, Status.NUMERICAL_FAILURE, Status.FINISHED)
    return found.status in failures and not limits.ended(found.status)


def _automatic(problem: AnyProblem) -> Iterator[RegisteredSolver[Any]]:
    """Yield the solvers that support a problem, at least one, in the order of "auto".

    Solvers for its family come first, preferred ones at the front. A solver for another
    family may be the only one: if weights make all rows hard, that of the hard margin.

    Raises
    ------
    ValueError
        If every solver refuses the problem.
    """
    candidates, all_refuse = [solver for solver in SOLVERS.values() if not solver.reference], True
    for suited in (True, False):
        group = [solver for solver in candidates if solver.takes(problem.family) is suited]
        # The sort is stable: solvers that are not preferred keep their order.
        for solver in sorted(group, key=lambda solver: not solver.goes_first(problem)):
            refusal = solver.refusal(problem)
            if refusal is None:
                all_refuse = False
                yield solver
            elif suited:
                LOG.debug("auto passes over %s: %s", solver.name, refusal)
    if all_refuse:
        reasons = "; ".join(
            f"{solver.name}: {solver.refusal(problem) or 'selected only by its name'}"
            for solver in _of_family(problem)
        )
        why = reasons or "none is for that family"
        raise ValueError(
            f"auto finds no solver for this {problem.family} problem ({why}); {_advice(problem)}"
        )


def _of_family(problem: AnyProblem) -> list[RegisteredSolver[Any]]:
    """Return the solvers for a problem's family."""
    return [solver for solver in SOLVERS.values() if solver.takes(problem.family)]


def _known(problem: AnyProblem, solver: str | Solver) -> Solver:
    """Return the solver, given itself or by name."""
    if isinstance(solver, str) and solver not in SOLVERS:
        known = ", ".join(["auto", *(known.name for known in _of_family(problem))])
        raise ValueError(
            f"unknown solver {solver!r}{SOLVERS.suggestion(solver)}; those for "
            f"{problem.family}: {known}"
        )
    return SOLVERS[solver] if isinstance(solver, str) else solver


def _willing(problem: AnyProblem, solver: str | Solver) -> Solver:
    """Return the solver, given itself or by name, if it supports the problem."""
    chosen = _known(problem, solver)
    refusal = chosen.refusal(problem)
    if refusal is not None:
        raise ValueError(
            f"{chosen.name} does not take this {problem.family} problem: {refusal}; "
            f"{_advice(problem)}"
        )
    return chosen


def _advice(problem: AnyProblem) -> str:
    """Return a suggestion of solvers, formulations or exact arithmetic for a problem.

    If none of these supports the problem, return the reason.
    """
    # Suggest in this order: a solver, a declared formulation, exact arithmetic.
    solvers = [solver.name for solver in SOLVERS.values() if solver.refusal(problem) is None]
    if solvers:
        return f"try {', '.join(solvers)}"
    family = [
        entry for entry in REGISTRY.values() if entry.family == problem.family and not entry.control
    ]
    refusals = {entry.id: entry.refusal(problem) for entry in family}
    declared = [id for id, refusal in refusals.items() if refusal is None]
    if declared:
        return (
            f"no specialised solver takes it, but solve_declaration does: declare "
            f"{' or '.join(declared)}"
        )
    too_large = next(
        (refusal for refusal in refusals.values() if refusal is not None and refusal.too_large),
        None,
    )
    undeclared = "nothing declares it" if too_large is None else f"it is {too_large}"
    if isinstance(problem, Problem) and problem.convex and exact_refusal(problem) is None:
        return f"no specialised solver takes it and {undeclared}, but exact_optimum takes it"
    return f"no specialised solver takes it, and {undeclared}"
