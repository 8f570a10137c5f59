"""Declared problems through backends: cvxpy's CLARABEL, SCS, OSQP, HIGHS, or any other.

A backend's status is reported, but no proof relies on it. An `Answer` therefore stores
the backend's input and output in its standard form,

    min 1/2 x'Px + q'x + offset
    s.t. h - Gx in {0}^zero x R+^nonneg x cones,  lower <= x <= upper,

with the raw vectors x and z (Px + q + G'z = 0, z in the dual cone), from which the
referee recomputes its residuals.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.declarations.declaration import Declaration
from equimargin.formulations.declarations.symbols import cp
from equimargin.formulations.numeric.arguments import check_count, format_error, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.formulations.programs.compiled import COMPILED_FOR, as_result
from equimargin.formulations.programs.standard_form import (
    StandardForm,
    copy_vector,
    find_columns,
    make_standard_form,
    with_stated_bounds,
)
from equimargin.solvers.backends.form import GRACE_SECONDS, OVERTIME_RATIO, read_status, run_backend
from equimargin.solvers.backends.installed import find_backend
from equimargin.solvers.backends.table import Backend
from equimargin.solvers.interrupt import interruptible, unheard
from equimargin.solvers.solution import Status

Options = Callable[[float], dict[str, Any]]
"""Options of a backend as a function of its time limit in seconds."""
NOT_POLISHED = "polishing did not bring the approximate result to the requested accuracy"
"""Reason of an attempt whose result is not accepted."""
LATE = "the time limit passed during compilation"
"""Reason of a run that does not begin."""


@dataclass(frozen=True, eq=False)
class BackendResult:
    """Input and output of a backend, in its standard form."""

    form: StandardForm
    """Problem passed to the backend, with n variables and r rows."""
    columns: Mapping[str, slice] = field(default_factory=dict)
    """Slices of x by names of the declaration's variables; without those cvxpy replaced."""
    x: Array | None = None
    """Variables, shape (n,)."""
    z: Array | None = None
    """Multipliers of the rows, shape (r,)."""
    primal_ray: Array | None = None
    """Ray certifying that the problem is unbounded, shape (n,); None if not reported."""
    dual_ray: Array | None = None
    """Multipliers certifying infeasibility, shape (r,); None if not reported."""


@dataclass(frozen=True, eq=False)
class BackendValues:
    """Values of the declaration's variables and constraints after the run, by name."""

    objective: float
    """Objective evaluated from its expression tree, in the declaration's units."""
    values: Mapping[str, Any]
    """Values of variables and parameters."""
    multipliers: Mapping[str, Array | None]
    """Multipliers of the constraints, in cvxpy's signs."""
    violations: Mapping[str, Array]
    """Violations of the constraints, 0 if satisfied."""
    point: CanonicalPoint
    """Canonical point of the variables."""
    eliminated: float = float("inf")
    """Largest relative violation with bounds and auxiliary equations satisfied exactly.

    Every variable is moved to its bounds if it violates them, and every auxiliary
    variable v is computed from its equation v == A'u.
    """
    eliminated_objective: float = float("nan")
    """Declared objective at the point of `eliminated`."""
    eliminated_violations: Mapping[str, Array] = field(default_factory=dict)
    """Violations of the constraints at the point of `eliminated`, 0 if satisfied."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Result of a backend for a declaration, copied at once.

    Later changes of the declaration do not affect it.
    """

    declaration: Declaration
    """Declaration that was solved."""
    backend: str
    """Name of the backend."""
    status: Status
    """Status that the backend reports."""
    reason: str
    """Status as a sentence."""
    raw: BackendResult | None = None
    """Backend's own problem and vectors; None if it did not run or failed."""
    reading: BackendValues | None = None
    """Values in the declaration's terms; None without values or with a certificate."""
    parameters: Mapping[str, Any] | None = None
    """Parameter values of the declaration at the solution; None means the present ones."""
    compile_seconds: float = 0.0
    """Wall time of cvxpy's compilation in seconds."""
    solve_seconds: float = 0.0
    """Wall time of the backend in seconds."""
    iterations: int | None = None
    """Iterations, as the backend counts them; None if it counts none."""

    def __post_init__(self) -> None:
        if self.parameters is None:
            object.__setattr__(self, "parameters", self.declaration.parameter_values)

    def __repr__(self) -> str:
        """Return one line: the formulation, the backend and the status."""
        return (
            f"<Answer by {self.backend} to {self.declaration.id or 'a declaration'}: "
            f"{self.status}, objective {self.objective:.6g}>"
        )

    @property
    def problem(self) -> Problem:
        """Canonical problem of the declaration when it was solved."""
        return self.declaration.canonical_at(self.parameters or {})

    def on_family_scale(self, objective: float) -> float:
        """Convert a declared objective value to the objective that its family shares.

        Parameters
        ----------
        objective : float
            Value in the declaration's units.
        """
        return self.declaration.value(objective, self.parameters or {})

    @property
    def objective(self) -> float:
        """Declared objective in the declaration's units; NaN without values."""
        return float("nan") if self.reading is None else self.reading.objective

    @property
    def value(self) -> float:
        """Value of the objective that the family shares; NaN without values."""
        return self.on_family_scale(self.objective)

    @property
    def values(self) -> Mapping[str, Any] | None:
        """Values of variables and parameters by name; None without values."""
        return None if self.reading is None else self.reading.values

    @property
    def point(self) -> CanonicalPoint | None:
        """Canonical point of the variables; None without values."""
        return None if self.reading is None else self.reading.point


def solve_declaration(
    declaration: Declaration,
    backend: str = "CLARABEL",
    tol: float = 1e-8,
    time_limit: float = 60.0,
    max_iter: int | None = None,
    total_time: float = float("inf"),
) -> Answer:
    """Solve a declared problem with a backend.

    Parameters
    ----------
    declaration : Declaration
        Result of `declare`.
    backend : str
        Name in BACKENDS, or of any other installed solver, as `equimargin list solvers`
        names them.
    tol : float
        Tolerance of the value; each backend gets a fraction of it as its own
        tolerances.
    time_limit : float
        Seconds for all attempts in total, without compilation.
    max_iter : int or None
        Maximum number of the backend's iterations; None for a generous default.
    total_time : float
        Seconds, with compilation, after which no attempt starts.

    Returns
    -------
    Answer
        Result of the backend with status and reason, not yet checked by the referee.

    Raises
    ------
    ValueError
        If the backend is unknown, or a tolerance or limit is not positive.
    """
    entry = find_backend(backend)
    tol, time_limit, end = (
        positive(tol, "tol"),
        positive(time_limit, "time_limit"),
        time.perf_counter() + total_time,
    )
    max_iter = None if max_iter is None else check_count(max_iter, "max_iter")
    with warnings.catch_warnings():
        # cvxpy warns of inaccurate solutions and of values computed from them, which
        # the referee recomputes.
        warnings.simplefilter("ignore")
        if not entry.conic and not declaration.problem.is_qp():
            return Answer(
                declaration,
                entry.name,
                Status.UNSUPPORTED,
                f"{entry.name} takes no second-order cones",
            )
        if entry.vectors is None:
            return _in_standard_form(declaration, entry, tol, time_limit, end)
        attempts: list[Answer] = []
        for plan in entry.ladder:
            seconds_left = time_limit - sum(attempt.solve_seconds for attempt in attempts)
            if seconds_left <= 0:
                break
            options = partial(_options, entry, plan.factor * tol, max_iter, plan.own)
            accepts = partial(plan.accepts, plan.factor * tol)
            run = partial(_attempt, declaration, entry, entry.vectors, tol)
            attempts.append(run(options, accepts, seconds_left, end))
            if attempts[-1].status in (
                Status.OPTIMAL,
                Status.INFEASIBLE,
                Status.UNBOUNDED,
                Status.TIME_LIMIT,
            ):
                return _after(attempts, attempts[-1])
        return _after(
            attempts, next((answer for answer in attempts if answer.point is not None), attempts[0])
        )


def _after(attempts: Sequence[Answer], answer: Answer) -> Answer:
    """Return the result of one attempt with the total time of all attempts."""
    compiling, solving = (
        sum(getattr(attempt, part) for attempt in attempts)
        for part in ("compile_seconds", "solve_seconds")
    )
    return replace(answer, compile_seconds=compiling, solve_seconds=solving)


def _options(
    backend: Backend, tol: float, max_iter: int | None, own: Mapping[str, Any], time_limit: float
) -> dict[str, Any]:
    """Return the options of an attempt with a time limit in seconds."""
    return {**backend.options(tol, time_limit, max_iter), **own}


def _attempt(
    declaration: Declaration,
    backend: Backend,
    vectors: Callable[[Any], tuple[Any, Any, Any, Any, Any]],
    tol: float,
    options: Options,
    accepts: Callable[[Any], bool],
    time_limit: float,
    ends: float,
) -> Answer:
    """Run a backend once.

    Parameters
    ----------
    declaration : Declaration
        Problem to solve.
    backend : Backend
        Backend to run.
    vectors : callable
        Maps the raw result of the backend to vectors.
    tol : float
        Tolerance of the value.
    options : callable
        Options as a function of the time limit in seconds.
    accepts : callable
        Returns True if a raw result with status optimal is accepted.
    time_limit : float
        Seconds for the backend after compilation.
    ends : float
        End of the total time, on the clock of `time.perf_counter`.
    """
    problem = declaration.problem
    # The backend starts when the compilation has ended; until then it has taken no time.
    started, compiled = time.perf_counter(), np.inf

    def failed(status: Status, reason: str) -> Answer:
        now = time.perf_counter()
        times = (min(now, compiled) - started, max(now - compiled, 0.0))
        return Answer(declaration, backend.name, status, reason, None, None, None, *times)

    try:
        program = _compiled(problem, backend.name, options(time_limit), ends - started)
        time_limit = min(time_limit, ends - time.perf_counter())
        if program is None or time_limit <= 0:
            return failed(Status.TIME_LIMIT, LATE)
        compiled = time.perf_counter()
        data, chain, inverse, form = program
        # np.max, unlike max, propagates a NaN in either matrix.
        largest_entry = float(
            np.max([abs(matrix).max() if matrix.nnz else 0.0 for matrix in (form.P, form.G)])
        )
        if not largest_entry < backend.largest:
            raise ValueError(
                f"matrix entries must be below {backend.largest:.0e}, not {largest_entry:.1e}"
            )
        run_options = options(time_limit)
        raw = _run(
            lambda: chain.solve_via_data(problem, dict(data), False, False, run_options), time_limit
        )
        solved = time.perf_counter()
        status, reason = _unpack(problem, raw, chain, inverse)
        rejected = status is Status.OPTIMAL and not accepts(raw)
        if rejected:
            status, reason = Status.NUMERICAL_FAILURE, NOT_POLISHED
        if (
            status in (Status.ITERATION_LIMIT, Status.NUMERICAL_FAILURE)
            and solved - compiled >= 0.95 * time_limit
        ):
            # cvxpy has one status for limits of every kind, and reports SCS as
            # inaccurate after its time limit.
            status = Status.TIME_LIMIT
    except TimeoutError:
        reason = f"given up: {backend.name} exceeded its limit of {time_limit:.3g} s"
        return failed(Status.TIME_LIMIT, reason)
    except (cp.error.SolverError, ValueError, ArithmeticError) as failure:
        return failed(Status.NUMERICAL_FAILURE, _sentence(backend.name, failure))
    x, z, primal_ray, dual_ray, iterations = vectors(raw)
    if (
        problem.status == cp.OPTIMAL_INACCURATE
        and status is Status.NUMERICAL_FAILURE
        and form.keeps(copy_vector(x), copy_vector(z), tol)
    ):
        status, reason = (
            Status.OPTIMAL,
            f"{reason}, and its point satisfies the tolerance of {tol:.2g}",
        )
    return Answer(
        declaration,
        backend.name,
        status,
        reason,
        BackendResult(
            form,
            find_columns(declaration.variables, data, chain),
            copy_vector(x),
            copy_vector(z),
            copy_vector(primal_ray) if status is Status.UNBOUNDED else None,
            copy_vector(dual_ray) if status is Status.INFEASIBLE else None,
        ),
        None
        if rejected or status in (Status.INFEASIBLE, Status.UNBOUNDED)
        else read_declaration(declaration),
        compile_seconds=compiled - started,
        solve_seconds=solved - compiled,
        iterations=None if iterations is None else int(iterations),
    )


def _in_standard_form(
    declaration: Declaration, backend: Backend, tol: float, time_limit: float, ends: float
) -> Answer:
    """Run a backend of unknown raw results on the standard form of a declaration.

    Its status is that of the recomputed residuals. Parameters are those of `_attempt`.
    """
    started = time.perf_counter()
    program = _compiled(declaration.problem, COMPILED_FOR, {}, ends - started)
    compiled = time.perf_counter()
    seconds = min(time_limit, ends - compiled)

    def answered(status: Status, reason: str, *parts: Any) -> Answer:
        times = (compiled - started, time.perf_counter() - compiled)
        raw, reading = parts or (None, None)
        return Answer(declaration, backend.name, status, reason, raw, reading, None, *times)

    if program is None or seconds <= 0:
        late, taken = Status.TIME_LIMIT, compiled - started
        return Answer(declaration, backend.name, late, LATE, compile_seconds=taken)
    data, chain, inverse, form = program
    try:
        x, z = run_backend(backend, form, seconds, tol)
    except TimeoutError:
        return answered(
            Status.TIME_LIMIT, f"given up: {backend.name} exceeded its limit of {seconds:.3g} s"
        )
    except ValueError as failure:
        return answered(Status.NUMERICAL_FAILURE, str(failure))
    declaration.problem.unpack_results(as_result(x, z, form.objective(x)), chain, inverse)
    keeps = form.keeps(x, z, tol)
    return answered(
        Status.OPTIMAL if keeps else Status.FINISHED,
        f"its point {'satisfies' if keeps else 'does not satisfy'} the tolerance of {tol:.2g}",
        BackendResult(form, find_columns(declaration.variables, data, chain), x, z),
        read_declaration(declaration),
    )


def _compiled(
    problem: Any, name: str, told: Mapping[str, Any], seconds: float
) -> tuple[Any, Any, Any, StandardForm] | None:
    """Return cvxpy's data, chain, inverse data and standard form, or None if too slow.

    cvxpy cannot be cancelled: if too slow, it continues in an abandoned thread.
    """

    def compiled() -> tuple[Any, Any, Any, StandardForm]:
        data, chain, inverse = problem.get_problem_data(name, solver_opts=dict(told))
        data = with_stated_bounds(problem, data, chain)
        return data, chain, inverse, make_standard_form(data, inverse)

    if seconds <= 0:
        return None
    try:
        return interruptible(compiled, seconds=seconds)
    except TimeoutError:
        return None


def _run(backend: Callable[[], Any], time_limit: float) -> Any:
    """Return the raw result of a backend; wait slightly longer than its time limit.

    Raises
    ------
    KeyboardInterrupt
        If the user interrupts; SCS and OSQP intercept the interrupt while they run.
    TimeoutError
        If the backend exceeds its limit.
    """
    with unheard():
        raw = interruptible(backend, seconds=OVERTIME_RATIO * time_limit + GRACE_SECONDS)
    if read_status(raw) == "interrupted":
        raise KeyboardInterrupt
    return raw


def _unpack(problem: Any, raw: Any, chain: Any, inverse: Any) -> tuple[Status, str]:
    """Assign the variables; return the status, and a reason with both status strings."""
    own = read_status(raw)
    try:
        problem.unpack_results(raw, chain, inverse)
    except cp.error.SolverError as failure:
        return (
            Status.NUMERICAL_FAILURE,
            f"the backend found no solution and says {own}" if own else _sentence("cvxpy", failure),
        )
    cvxpy_status = str(problem.status)
    statuses: dict[str, Status] = {
        cp.OPTIMAL: Status.OPTIMAL,
        cp.INFEASIBLE: Status.INFEASIBLE,
        cp.UNBOUNDED: Status.UNBOUNDED,
        cp.INFEASIBLE_INACCURATE: Status.INFEASIBLE,
        cp.UNBOUNDED_INACCURATE: Status.UNBOUNDED,
        cp.settings.USER_LIMIT: Status.ITERATION_LIMIT,
    }
    reason = (
        f"the backend says {cvxpy_status}"
        if cvxpy_status == cp.OPTIMAL or own in ("", cvxpy_status)
        else f"the backend says {cvxpy_status}; its own status is '{own}'"
    )
    return statuses.get(cvxpy_status, Status.NUMERICAL_FAILURE), reason


def read_declaration(declaration: Declaration) -> BackendValues | None:
    """Return the present values of a declaration; None if a variable has no value.

    Parameters
    ----------
    declaration : Declaration
        Declaration that was solved.
    """
    values = declaration.values
    if any(value is None for value in values.values()):
        return None
    result = BackendValues(
        objective=float(declaration.objective.args[0].value),
        values={name: np.array(value) for name, value in values.items()},
        multipliers={name: declaration.multiplier(name) for name in declaration.constraints},
        violations=_violations(declaration),
        point=declaration.point,
    )
    return replace(result, **_eliminated(declaration))


def _eliminated(declaration: Declaration) -> dict[str, Any]:
    """Return the fields of `BackendValues` about the point after repair.

    Repair means: first every variable is moved to its bounds, then every auxiliary one
    is recomputed from its equation. A residual of u >= 0 or of v == A'u that is small
    relative to u and v has a large effect on K v <= 1 or 1/2 |v|^2 if K is large.
    Violations are relative to 1 + the right-hand side.
    """
    values, constraints = declaration.values, list(declaration.constraints.values())
    # cvxpy writes left >= right as right <= left: a bound has its constant on either side.
    for constraint in constraints:
        left, right = constraint.args[0], constraint.args[-1]
        if (
            isinstance(constraint, cp.constraints.Inequality)
            and left.is_constant()
            and isinstance(right, cp.Variable)
        ):
            _give(right, np.maximum(right.value, left.value))
        elif (
            isinstance(constraint, cp.constraints.Inequality)
            and isinstance(left, cp.Variable)
            and right.is_constant()
        ):
            _give(left, np.minimum(left.value, right.value))
    for constraint in constraints:
        if isinstance(constraint, cp.constraints.Equality) and isinstance(
            constraint.args[0], cp.Variable
        ):
            _give(constraint.args[0], constraint.args[1].value)
    repaired = {
        "eliminated": max(map(relative_violation, constraints), default=0.0),
        "eliminated_objective": float(declaration.objective.args[0].value),
        "eliminated_violations": _violations(declaration),
    }
    for name, variable in declaration.variables.items():
        _give(variable, values[name])
    return repaired


def _violations(declaration: Declaration) -> dict[str, Array]:
    """Return the violations of the constraints at the present values, by name."""
    return {
        name: np.atleast_1d(constraint.violation())
        for name, constraint in declaration.constraints.items()
    }


def _give(variable: Any, value: Any) -> None:
    """Assign a value of the variable's shape, even if it violates bounds by rounding."""
    if np.shape(value) == variable.shape:
        variable.save_value(np.asarray(value))


def relative_violation(constraint: Any) -> float:
    """Return the violation of a constraint at the present values, over 1 + its right side.

    Parameters
    ----------
    constraint : cvxpy.constraints.Constraint
        Constraint whose variables have values.
    """
    right = np.abs(np.asarray(constraint.args[-1].value, dtype=np.float64)).max(initial=0.0)
    return float(np.max(constraint.violation(), initial=0.0) / (1 + right))


def _sentence(who: str, failure: Exception) -> str:
    return f"{who} failed: {format_error(failure).rstrip('.')}"
