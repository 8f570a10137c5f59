"""Declared problems through cvxpy's backends: CLARABEL, SCS, OSQP and HIGHS.

A backend's status is reported and never believed. An `Answer` therefore keeps what the
backend was given and what it answered in its own standard form,

    min 1/2 x'Px + q'x + offset   s.t.   h - Gx in {0}^zero x R+^nonneg x cones,   lower <= x <= upper,

with the raw vectors x and z (Px + q + G'z = 0, z in the dual cone), from which the
referee recomputes its accuracy.
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
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.formulations.programs.standard_form import (
    StandardForm,
    copy_vector,
    find_columns,
    make_standard_form,
    with_stated_bounds,
)
from equimargin.solvers.backends.table import BACKENDS, Backend
from equimargin.solvers.interrupt import interruptible, unheard
from equimargin.solvers.solution import Status

Options = Callable[[float], dict[str, Any]]
"""The options of a backend that may work for a given number of seconds."""
NOT_POLISHED = "its polishing did not make the accuracy that was asked of an answer of low accuracy"
"""What is said of an attempt whose answer is not accepted."""
GRACE_SECONDS = 1.0
"""Seconds beyond its limit that a backend is waited for: it looks at the clock between its iterations only."""
OVERTIME_RATIO = 1.1
"""Multiple of its limit that a backend is waited for, beside `GRACE_SECONDS`."""


@dataclass(frozen=True, eq=False)
class BackendResult:
    """What a backend was given and what it returned, in its own standard form."""

    form: StandardForm
    """The problem as the backend was given it, of n unknowns and r rows."""
    columns: Mapping[str, slice] = field(default_factory=dict)
    """Where the declaration's variables are in x, by name, as far as cvxpy kept them."""
    x: Array | None = None
    """The unknowns, (n,)."""
    z: Array | None = None
    """The multipliers of the rows, (r,)."""
    primal_ray: Array | None = None
    """The direction, (n,), with which the backend certifies that its problem is unbounded; None where it says no such thing."""
    dual_ray: Array | None = None
    """The multipliers, (r,), with which the backend certifies that its problem is infeasible; None where it says no such thing."""


@dataclass(frozen=True, eq=False)
class BackendValues:
    """What the declaration's variables and constraints held after the run, by the declaration's names."""

    objective: float
    """The declared objective, evaluated from its own expression tree at the variables, in the declaration's units."""
    values: Mapping[str, Any]
    """The values of variables and parameters."""
    multipliers: Mapping[str, Array | None]
    """The multipliers of the constraints, as cvxpy signs them."""
    violations: Mapping[str, Array]
    """By how much the constraints are violated, 0 where they are met."""
    point: CanonicalPoint
    """The canonical point of the variables."""
    eliminated: float = float("inf")
    """The largest relative violation once every variable meets its bounds and every auxiliary one, v of v == A'u, its equation."""
    eliminated_objective: float = float("nan")
    """The declared objective there."""
    eliminated_violations: Mapping[str, Array] = field(default_factory=dict)
    """By how much the constraints are violated there, 0 where they are met."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A backend's answer to a declaration, read back at once: what becomes of the declaration later changes nothing of it."""

    declaration: Declaration
    """What was to be solved."""
    backend: str
    """A name of BACKENDS."""
    status: Status
    """How the backend says that it ended."""
    reason: str
    """The same in a sentence."""
    raw: BackendResult | None = None
    """The backend's own problem and vectors; None where it was never run or broke down."""
    reading: BackendValues | None = None
    """The answer in the declaration's terms; None where the backend returned no values, or a certificate instead of them."""
    parameters: Mapping[str, Any] | None = None
    """The values of the declaration's parameters when it was solved; filled in with the present ones where it is None."""
    compile_seconds: float = 0.0
    """Wall time of cvxpy's compilation."""
    solve_seconds: float = 0.0
    """Wall time of the backend."""
    iterations: int | None = None
    """Iterations of the backend's own kind; None where it does not count any."""

    def __post_init__(self) -> None:
        if self.parameters is None:
            object.__setattr__(self, "parameters", self.declaration.parameter_values)

    def __repr__(self) -> str:
        """One line: the formulation, the backend and how it ended."""
        return (
            f"<Answer by {self.backend} to {self.declaration.id or 'a declaration'}: "
            f"{self.status}, objective {self.objective:.6g}>"
        )

    @property
    def problem(self) -> Problem:
        """The canonical problem that was declared when it was solved."""
        return self.declaration.canonical_at(self.parameters or {})

    def on_family_scale(self, objective: float) -> float:
        """What a value of the declared objective is on the family's scale."""
        return self.declaration.value(objective, self.parameters or {})

    @property
    def objective(self) -> float:
        """The declared objective at the variables, in the declaration's units; NaN without values."""
        return float("nan") if self.reading is None else self.reading.objective

    @property
    def value(self) -> float:
        """The same on the family's scale."""
        return self.on_family_scale(self.objective)

    @property
    def values(self) -> Mapping[str, Any] | None:
        """The values of variables and parameters by name; None without values."""
        return None if self.reading is None else self.reading.values

    @property
    def point(self) -> CanonicalPoint | None:
        """The canonical point of the variables; None without values."""
        return None if self.reading is None else self.reading.point


def solve_declaration(
    declaration: Declaration,
    backend: str = "CLARABEL",
    tol: float = 1e-8,
    time_limit: float = 60.0,
    max_iter: int | None = None,
    total_time: float = float("inf"),
) -> Answer:
    """Solve a declared problem with one of cvxpy's backends.

    Parameters
    ----------
    declaration : Declaration
        From `declare`.
    backend : str
        A name of BACKENDS.
    tol : float
        Wanted of the value; each backend gets a fraction of it in its own terms.
    time_limit : float
        Seconds that its attempts may take together, compilation apart.
    max_iter : int | None
        Of the backend's own iterations; None is a generous default.
    total_time : float
        Seconds of all, compilation included, after which nothing is begun.

    Returns
    -------
    Answer
        Whatever the backend came to, with its status and reason; the referee judges it.

    Raises
    ------
    ValueError
        An unknown backend, or a tolerance or limit that is not positive.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; known: {', '.join(BACKENDS)}")
    tol, time_limit, ends = (
        positive(tol, "tol"),
        positive(time_limit, "time_limit"),
        time.perf_counter() + total_time,
    )
    max_iter = None if max_iter is None else check_count(max_iter, "max_iter")
    entry = BACKENDS[backend]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
            # cvxpy's, of inaccurate solutions and of what it computes from them: the
            # referee recomputes that
        )
        if not entry.conic and not declaration.problem.is_qp():
            return Answer(
                declaration, backend, Status.UNSUPPORTED, f"{backend} takes no second-order cones"
            )
        attempts: list[Answer] = []
        for planned in entry.ladder:
            left = time_limit - sum(attempt.solve_seconds for attempt in attempts)
            if left <= 0:
                break
            options = partial(_options, entry, planned.factor * tol, max_iter, planned.own)
            accepts = partial(planned.accepts, planned.factor * tol)
            attempts.append(_attempt(declaration, entry, tol, options, accepts, left, ends))
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
    """The answer of one attempt, with the time that all of them took."""
    compiling, solving = (
        sum(getattr(each, part) for each in attempts)
        for part in ("compile_seconds", "solve_seconds")
    )
    return replace(answer, compile_seconds=compiling, solve_seconds=solving)


def _options(
    backend: Backend, tol: float, max_iter: int | None, own: Mapping[str, Any], time_limit: float
) -> dict[str, Any]:
    """All that a backend is told of an attempt that has some seconds."""
    return {**backend.options(tol, time_limit, max_iter), **own}


def _attempt(
    declaration: Declaration,
    backend: Backend,
    tol: float,
    options: Options,
    accepts: Callable[[Any], bool],
    time_limit: float,
    ends: float,
) -> Answer:
    """One run of a backend.

    Parameters
    ----------
    tol : float
        What is asked of the value.
    options : Options
        Its options, as a function of the seconds that it may work.
    accepts : Callable[[Any], bool]
        Whether its raw answer is one if it calls that optimal.
    time_limit : float
        Seconds that it has once the problem is compiled.
    ends : float
        When all must be over, by `time.perf_counter`.
    """
    problem = declaration.problem
    started = time.perf_counter()
    try:
        found = _compiled(problem, backend, options(time_limit), ends - started)
        compiled = time.perf_counter()
        time_limit = min(time_limit, ends - compiled)
        if found is None or time_limit <= 0:
            late = "the time was over while it was compiled"
            return Answer(
                declaration,
                backend.name,
                Status.TIME_LIMIT,
                late,
                compile_seconds=compiled - started,
            )
        data, chain, inverse, form = found
        entry = float(
            np.max([abs(matrix).max() if matrix.nnz else 0.0 for matrix in (form.P, form.G)])
        )  # a NaN in either is one here
        if not entry < backend.largest:
            raise ValueError(f"it takes no matrix with an entry of {entry:.1e}")
        told = options(time_limit)
        raw = _run(
            lambda: chain.solve_via_data(problem, dict(data), False, False, told), time_limit
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
            # cvxpy has one word for limits of every kind, and calls SCS inaccurate
            # where its time is over
            status = Status.TIME_LIMIT
    except TimeoutError:
        reason = f"given up: {backend.name} did not keep to its limit of {time_limit:.3g} s"
        waited = time.perf_counter() - compiled
        return Answer(
            declaration,
            backend.name,
            Status.TIME_LIMIT,
            reason,
            compile_seconds=compiled - started,
            solve_seconds=waited,
        )
    except (cp.error.SolverError, ValueError, ArithmeticError) as failure:
        return Answer(
            declaration, backend.name, Status.NUMERICAL_FAILURE, _sentence(backend.name, failure)
        )
    x, z, primal_ray, dual_ray, iterations = backend.vectors(raw)
    if (
        problem.status == cp.OPTIMAL_INACCURATE
        and status is Status.NUMERICAL_FAILURE
        and form.keeps(copy_vector(x), copy_vector(z), tol)
    ):
        status, reason = Status.OPTIMAL, f"{reason}, and its point keeps the tolerance of {tol:.0e}"
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


def _compiled(
    problem: Any, backend: Backend, told: Mapping[str, Any], seconds: float
) -> tuple[Any, Any, Any, StandardForm] | None:
    """What cvxpy makes of a problem for a backend: its data, its chain, the way back, and the standard form; None where it takes too long.

    cvxpy cannot be asked to end. It then goes on in a thread that nobody waits for.
    """

    def compiled() -> tuple[Any, Any, Any, StandardForm]:
        data, chain, inverse = problem.get_problem_data(backend.name, solver_opts=dict(told))
        data = with_stated_bounds(problem, data, chain)
        return data, chain, inverse, make_standard_form(data, inverse)

    if seconds <= 0:
        return None
    try:
        return interruptible(compiled, seconds=seconds)
    except TimeoutError:
        return None


def _run(backend: Callable[[], Any], time_limit: float) -> Any:
    """The raw answer of a backend, which is waited for a little longer than it may take.

    Raises
    ------
    KeyboardInterrupt
        The user's, which SCS and OSQP take for their own while they run.
    TimeoutError
        It did not keep to its limit.
    """
    with unheard():
        raw = interruptible(backend, seconds=OVERTIME_RATIO * time_limit + GRACE_SECONDS)
    if _own_word(raw) == "interrupted":
        raise KeyboardInterrupt
    return raw


def _own_word(raw: Any) -> str:
    """The status in the backend's own words, which say more than cvxpy's; empty where the backend has none."""
    for holder in (raw, raw.get("info") if isinstance(raw, dict) else getattr(raw, "info", None)):
        word = holder.get("status") if isinstance(holder, dict) else getattr(holder, "status", None)
        if word is not None:
            return str(word)
    return ""


def _unpack(problem: Any, raw: Any, chain: Any, inverse: Any) -> tuple[Status, str]:
    """Give the variables their values and name the status; the words of cvxpy and of the backend are the reason."""
    own = _own_word(raw)
    try:
        problem.unpack_results(raw, chain, inverse)
    except cp.error.SolverError as failure:
        return (
            Status.NUMERICAL_FAILURE,
            f"the backend found no solution and says {own}" if own else _sentence("cvxpy", failure),
        )
    word = str(problem.status)
    statuses: dict[str, Status] = {
        cp.OPTIMAL: Status.OPTIMAL,
        cp.INFEASIBLE: Status.INFEASIBLE,
        cp.UNBOUNDED: Status.UNBOUNDED,
        cp.INFEASIBLE_INACCURATE: Status.INFEASIBLE,
        cp.UNBOUNDED_INACCURATE: Status.UNBOUNDED,
        cp.settings.USER_LIMIT: Status.ITERATION_LIMIT,
    }
    said = (
        f"the backend says {word}"
        if word == cp.OPTIMAL or own in ("", word)
        else f"the backend says {word}, in its own words '{own}'"
    )
    return statuses.get(word, Status.NUMERICAL_FAILURE), said


def read_declaration(declaration: Declaration) -> BackendValues | None:
    """What the variables and constraints of a declaration hold now; None where a variable has no value."""
    values = declaration.values
    if any(value is None for value in values.values()):
        return None
    found = BackendValues(
        objective=float(declaration.objective.args[0].value),
        values={name: np.array(value) for name, value in values.items()},
        multipliers={name: declaration.multiplier(name) for name in declaration.constraints},
        violations={
            name: np.atleast_1d(constraint.violation())
            for name, constraint in declaration.constraints.items()
        },
        point=declaration.point,
    )
    eliminated, objective, violations = _eliminated(declaration)
    return replace(
        found,
        eliminated=eliminated,
        eliminated_objective=objective,
        eliminated_violations=violations,
    )


def _eliminated(declaration: Declaration) -> tuple[float, float, dict[str, Array]]:
    """The largest violation, relative to 1 + the right-hand side, the objective, and all violations, with bounds and equations met exactly.

    First every variable is moved to its bounds, then every auxiliary one recomputed from its equation: a residual of u >= 0 or of
    v == A'u looks small beside u and v, and is not where K v <= 1 or 1/2 |v|^2 has a large K.
    """
    values, constraints = declaration.values, list(declaration.constraints.values())
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
    worst = max((_relative_violation(constraint) for constraint in constraints), default=0.0)
    violations = {
        name: np.atleast_1d(constraint.violation())
        for name, constraint in declaration.constraints.items()
    }
    objective = float(declaration.objective.args[0].value)
    for name, variable in declaration.variables.items():
        _give(variable, values[name])
    return worst, objective, violations


def _give(variable: Any, value: Any) -> None:
    """Let a variable have a value of its shape, which may be outside the variable's own bounds by a rounding error."""
    if np.shape(value) == variable.shape:
        variable.save_value(np.asarray(value))


def _relative_violation(constraint: Any) -> float:
    right = np.abs(np.asarray(constraint.args[-1].value, dtype=np.float64)).max(initial=0.0)
    return float(np.max(constraint.violation(), initial=0.0) / (1 + right))


def _sentence(who: str, failure: Exception) -> str:
    text = " ".join(str(failure).split()).rstrip(".")
    return f"{who} failed: {text or type(failure).__name__}"[:200]
