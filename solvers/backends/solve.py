"""Declared problems through cvxpy's backends: CLARABEL, SCS, OSQP and HIGHS.

A backend's status is reported and never believed. What it was given and what it answered, in its own standard form

    min 1/2 x'Px + q'x + offset   s.t.   h - Gx in {0}^zero x R+^nonneg x cones,   lower <= x <= upper,

goes to the referee with the raw vectors x and z (Px + q + G'z = 0, z in the dual cone), so that its accuracy can be recomputed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration
from equimargin.formulations.numeric.arguments import count, positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers.backends.standard_form import StandardForm, columns_of, form_of, vector_of
from equimargin.solvers.backends.table import BACKENDS, Backend
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.solution import Status


@dataclass(frozen=True, eq=False)
class Answer:
    """A backend's answer to a declaration, read back at once.

    objective : the declared objective, evaluated from its own expression tree at the variables (NaN without values).
    values, multipliers, violations : by the declaration's names.  eliminated, eliminated_objective : the largest relative violation and the
    objective once every variable meets its bounds and every auxiliary one (v of v == A'u) its equation.  point : canonical, None without
    values.
    form, x, z : the backend's own problem and raw vectors.  columns : where the declaration's variables are in x.
    primal_ray, dual_ray : its certificates of unboundedness or infeasibility.
    compile_seconds, solve_seconds : wall time of cvxpy's compilation and of the backend.  parameters : their values when it was solved.
    """

    declaration: Declaration
    backend: str
    status: Status
    reason: str
    objective: float = float("nan")
    values: Mapping[str, Any] | None = None
    multipliers: Mapping[str, Array | None] | None = None
    violations: Mapping[str, Array] | None = None
    eliminated: float = float("inf")
    eliminated_objective: float = float("nan")
    point: CanonicalPoint | None = None
    form: StandardForm | None = None
    columns: Mapping[str, slice] = field(default_factory=dict)
    x: Array | None = None
    z: Array | None = None
    primal_ray: Array | None = None
    dual_ray: Array | None = None
    compile_seconds: float = 0.0
    solve_seconds: float = 0.0
    iterations: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The canonical problem that was declared when it was solved."""
        with self.declaration.at(self.parameters):
            return self.declaration.canonical


def solve_declaration(
    declaration: Declaration, backend: str = "CLARABEL", tol: float = 1e-8, time_limit: float = 60.0, max_iter: int | None = None
) -> Answer:
    """Solve a declared problem with one of cvxpy's backends.

    Parameters
    ----------
    declaration : from `declare`.  backend : a name of BACKENDS.  tol : wanted of the value; each backend gets a fraction of it in its own
        terms.  time_limit : seconds for each attempt.  max_iter : of the backend's own iterations; None is a generous default.

    Returns
    -------
    Answer : whatever the backend came to, with its status and reason; the referee judges it.

    Raises
    ------
    ValueError : an unknown backend, or a tolerance or limit that is not positive.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; known: {', '.join(BACKENDS)}")
    tol, time_limit = positive(tol, "tol"), positive(time_limit, "time_limit")
    max_iter = None if max_iter is None else count(max_iter, "max_iter")
    entry = BACKENDS[backend]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's, of inaccurate solutions and of what it computes from them: the referee recomputes that
        if not entry.conic and not declaration.problem.is_qp():
            return Answer(declaration, backend, Status.UNSUPPORTED, f"{backend} takes no second-order cones")
        attempts = []
        for factor in entry.ladder:
            attempts.append(_attempt(declaration, entry, entry.options(factor * tol, time_limit, max_iter), time_limit))
            if attempts[-1].status in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED, Status.TIME_LIMIT):
                return attempts[-1]
        return next((answer for answer in attempts if answer.point is not None), attempts[0])


def _attempt(declaration: Declaration, backend: Backend, options: dict[str, Any], time_limit: float) -> Answer:
    import cvxpy as cp

    problem = declaration.problem
    started = time.perf_counter()
    try:
        data, chain, inverse = problem.get_problem_data(backend.name, solver_opts=dict(options))
        compiled = time.perf_counter()
        form = form_of(data, inverse)
        entry = float(np.max([abs(matrix).max() if matrix.nnz else 0.0 for matrix in (form.P, form.G)]))  # a NaN in either is one here
        if not entry < backend.largest:
            raise ValueError(f"it takes no matrix with an entry of {entry:.1e}")
        raw = interruptible(lambda: chain.solve_via_data(problem, dict(data), False, False, dict(options)))
        solved = time.perf_counter()
        if _interrupted(raw):
            raise KeyboardInterrupt
        status, reason = _unpack(problem, raw, chain, inverse)
        if status is Status.ITERATION_LIMIT and solved - compiled >= 0.95 * time_limit:
            status = Status.TIME_LIMIT  # cvxpy has one word for both
    except (cp.error.SolverError, ValueError, ArithmeticError) as failure:
        return Answer(declaration, backend.name, Status.NUMERICAL_FAILURE, _sentence(backend.name, failure))
    x, z, primal_ray, dual_ray, iterations = backend.vectors(raw)
    return _read_back(
        declaration,
        Answer(
            declaration,
            backend.name,
            status,
            reason,
            form=form,
            columns=columns_of(declaration, data),
            x=vector_of(x),
            z=vector_of(z),
            primal_ray=vector_of(primal_ray) if status is Status.UNBOUNDED else None,
            dual_ray=vector_of(dual_ray) if status is Status.INFEASIBLE else None,
            compile_seconds=compiled - started,
            solve_seconds=solved - compiled,
            iterations=None if iterations is None else int(iterations),
            parameters={name: parameter.value for name, parameter in declaration.parameters.items()},
        ),
    )


def _interrupted(raw: Any) -> bool:
    """Whether the backend took the user's interrupt for its own, as SCS and OSQP do while they run."""
    info = raw.get("info") if isinstance(raw, dict) else getattr(raw, "info", None)
    return (info.get("status") if isinstance(info, dict) else getattr(info, "status", None)) == "interrupted"


def _unpack(problem: Any, raw: Any, chain: Any, inverse: Any) -> tuple[Status, str]:
    """Give the variables their values and name the status; cvxpy's own word is the reason."""
    import cvxpy as cp

    try:
        problem.unpack_results(raw, chain, inverse)
    except cp.error.SolverError as failure:
        return Status.NUMERICAL_FAILURE, _sentence("cvxpy", failure)
    word = str(problem.status)
    statuses: dict[str, Status] = {
        cp.OPTIMAL: Status.OPTIMAL,
        cp.INFEASIBLE: Status.INFEASIBLE,
        cp.UNBOUNDED: Status.UNBOUNDED,
        cp.INFEASIBLE_INACCURATE: Status.INFEASIBLE,
        cp.UNBOUNDED_INACCURATE: Status.UNBOUNDED,
        cp.settings.USER_LIMIT: Status.ITERATION_LIMIT,
    }
    return statuses.get(word, Status.NUMERICAL_FAILURE), f"the backend says {word}"


def _read_back(declaration: Declaration, answer: Answer) -> Answer:
    """The answer with what the declaration's variables hold now."""
    values = declaration.values
    if answer.status in (Status.INFEASIBLE, Status.UNBOUNDED) or any(v is None for v in values.values()):
        return answer
    found = replace(
        answer,
        objective=float(declaration.objective.args[0].value),
        values={name: np.array(v) for name, v in values.items()},
        multipliers={name: declaration.multiplier(name) for name in declaration.constraints},
        violations={name: np.atleast_1d(constraint.violation()) for name, constraint in declaration.constraints.items()},
        point=declaration.point,
    )
    eliminated, objective = _eliminated(declaration)
    return replace(found, eliminated=eliminated, eliminated_objective=objective)


def _eliminated(declaration: Declaration) -> tuple[float, float]:
    """The largest violation, relative to 1 + the right-hand side, and the objective, once the variables meet bounds and equations exactly.

    First every variable is moved to its bounds, then every auxiliary one recomputed from its equation: a residual of u >= 0 or of
    v == A'u looks small beside u and v, and is not where K v <= 1 or 1/2 |v|^2 has a large K.
    """
    import cvxpy as cp

    values, constraints = declaration.values, list(declaration.constraints.values())
    for constraint in constraints:
        left, right = constraint.args[0], constraint.args[-1]
        if isinstance(constraint, cp.constraints.Inequality) and left.is_constant() and isinstance(right, cp.Variable):
            right.value = np.maximum(right.value, left.value)
        elif isinstance(constraint, cp.constraints.Inequality) and isinstance(left, cp.Variable) and right.is_constant():
            left.value = np.minimum(left.value, right.value)
    for constraint in constraints:
        if isinstance(constraint, cp.constraints.Equality) and isinstance(constraint.args[0], cp.Variable):
            constraint.args[0].value = constraint.args[1].value
    worst = max((_relative_violation(constraint) for constraint in constraints), default=0.0)
    objective = float(declaration.objective.args[0].value)
    for name, variable in declaration.variables.items():
        variable.value = values[name]
    return worst, objective


def _relative_violation(constraint: Any) -> float:
    right = np.abs(np.asarray(constraint.args[-1].value, dtype=np.float64)).max(initial=0.0)
    return float(np.max(constraint.violation(), initial=0.0) / (1 + right))


def _sentence(who: str, failure: Exception) -> str:
    text = " ".join(str(failure).split()).rstrip(".")
    return f"{who} failed: {text or type(failure).__name__}"[:200]
