"""Declared problems through cvxpy's backends: CLARABEL, SCS, OSQP and HIGHS.

A backend's status is reported and never believed. What it was given and what it answered, in its own standard form

    min 1/2 x'Px + q'x + offset   s.t.   h - Gx in {0}^zero x R+^nonneg x cones,   lower <= x <= upper,

goes to the referee with the raw vectors x and z (Px + q + G'z = 0, z in the dual cone), so that its accuracy can be recomputed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equimargin.formulations.arguments import count, positive
from equimargin.formulations.declaration import Declaration
from equimargin.formulations.kernels import Array
from equimargin.formulations.problem import Point, Problem
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.solution import Status


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The problem as a backend was given it; `cones` are the sizes of its second-order cones."""

    P: Any
    q: Array
    G: Any
    h: Array
    zero: int
    nonneg: int
    cones: tuple[int, ...]
    lower: Array
    upper: Array
    offset: float

    def objective(self, x: Array) -> float:
        """1/2 x'Px + q'x + offset, in float64; x : (n,)."""
        return float(x @ (self.P @ x)) / 2 + float(self.q @ x) + self.offset


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
    point: Point | None = None
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


@dataclass(frozen=True)
class Backend:
    """How one backend is spoken to.

    conic : whether it takes second-order cones.  suited : "any" problem, or the kind it is good at: "quadratic" or "linear".
    ladder : factors of the tolerance, tried in turn until it says optimal.  options : tolerance, time and iteration limit in its own names.
    vectors : (x, z, primal ray, dual ray, iterations) of its raw answer.  largest : the largest entry of P and G that it takes.
    """

    name: str
    conic: bool
    suited: str
    ladder: tuple[float, ...]
    options: Callable[[float, float, int | None], dict[str, Any]]
    vectors: Callable[[Any], tuple[Any, Any, Any, Any, Any]]
    largest: float = np.inf


def _clarabel(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"), tol)
    return {**tolerances, "time_limit": seconds, "max_iter": iterations or 500, "max_threads": 1}


def _scs(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    return {"eps_abs": tol, "eps_rel": tol, "time_limit_secs": seconds, "max_iters": iterations or 100_000}


def _osqp(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    return {"eps_abs": tol, "eps_rel": tol, "time_limit": seconds, "max_iter": iterations or 100_000, "polishing": True}


LARGEST_OF_HIGHS = 1e15
"""An entry of a matrix from which HiGHS takes it for infinite (its large_matrix_value); one of a Hessian brings the process down."""


def _highs(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    feasibility = min(max(tol, 1e-10), 1e-7)  # its smallest; its quadratic solver honours neither
    limits = {} if iterations is None else {"simplex_iteration_limit": iterations, "qp_iteration_limit": iterations}
    tolerances = {"primal_feasibility_tolerance": feasibility, "dual_feasibility_tolerance": feasibility}
    return {"time_limit": seconds, "threads": 1, **tolerances, **limits}


def _highs_vectors(raw: Any) -> tuple[Any, Any, Any, Any, Any]:
    """HiGHS signs the multipliers of rows the other way round, and hands out no rays."""
    info, solution = raw["info"], raw["solution"]
    iterations = max(info.simplex_iteration_count, info.ipm_iteration_count, info.qp_iteration_count)
    return solution.col_value, -np.array(solution.row_dual), None, None, iterations


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("CLARABEL", True, "any", (0.01, 0.1, 1.0), _clarabel, lambda raw: (raw.x, raw.z, raw.x, raw.z, raw.iterations)),
        Backend("SCS", True, "any", (1.0,), _scs, lambda raw: (raw["x"], raw["y"], raw["x"], raw["y"], raw["info"]["iter"])),
        Backend("OSQP", False, "quadratic", (0.1,), _osqp, lambda raw: (raw.x, raw.y, raw.dual_inf_cert, raw.prim_inf_cert, raw.info.iter)),
        Backend("HIGHS", False, "linear", (1.0,), _highs, _highs_vectors, LARGEST_OF_HIGHS),
    )
}
"""The one table of tolerance translation: options(factor x tol) for each factor of the ladder."""


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
        form = _standard_form(data, inverse)
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
            columns=_columns(declaration, data),
            x=_vector(x),
            z=_vector(z),
            primal_ray=_vector(primal_ray) if status is Status.UNBOUNDED else None,
            dual_ray=_vector(dual_ray) if status is Status.INFEASIBLE else None,
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


def standard_form(declaration: Declaration) -> tuple[StandardForm, dict[str, slice]]:
    """A declaration as conic backends are given it, and where its variables are among the unknowns.

    Parameters
    ----------
    declaration : from `declare`.
    """
    data, _, inverse = declaration.problem.get_problem_data("CLARABEL", solver_opts={})
    return _standard_form(data, inverse), _columns(declaration, data)


def _standard_form(data: Mapping[str, Any], inverse: Any) -> StandardForm:
    """Both of cvxpy's forms, conic (A, b, c, dims) and quadratic (A, b, F, G, q), as one."""
    from scipy import sparse

    if "F" in data:
        q, G = data["q"], sparse.vstack([data["A"], data["F"]]).tocsr()
        h, zero, nonneg, cones = np.concatenate([data["b"], data["G"]]), len(data["b"]), len(data["G"]), ()
    else:
        q, G, h, dims = data["c"], sparse.csr_array(data["A"]), data["b"], data["dims"]
        zero, nonneg, cones = dims.zero, dims.nonneg, tuple(dims.soc)
    n = len(q)
    P = data.get("P")
    lower, upper = data.get("lower_bounds"), data.get("upper_bounds")
    return StandardForm(
        sparse.csr_array((n, n)) if P is None else sparse.csr_array(P),
        np.asarray(q, dtype=np.float64),
        G,
        np.asarray(h, dtype=np.float64),
        zero,
        nonneg,
        cones,
        np.full(n, -np.inf) if lower is None else np.asarray(lower, dtype=np.float64),
        np.full(n, np.inf) if upper is None else np.asarray(upper, dtype=np.float64),
        float(inverse[-1].get("offset", 0.0)) if hasattr(inverse[-1], "get") else 0.0,
    )


def _columns(declaration: Declaration, data: Mapping[str, Any]) -> dict[str, slice]:
    """Where the declaration's variables are among the backend's own, as far as cvxpy kept them."""
    starts = data["param_prob"].var_id_to_col
    found = {name: variable for name, variable in declaration.variables.items() if variable.id in starts}
    return {name: slice(starts[variable.id], starts[variable.id] + variable.size) for name, variable in found.items()}


def _vector(v: Any) -> Array | None:
    return None if v is None else np.array(v, dtype=np.float64)


def _sentence(who: str, failure: Exception) -> str:
    text = " ".join(str(failure).split()).rstrip(".")
    return f"{who} failed: {text or type(failure).__name__}"[:200]
