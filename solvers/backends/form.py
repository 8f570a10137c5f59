"""Programs in floats through any backend: a solver of cvxpy or qpsolvers, or a function."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arguments import format_error
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.solvers.backends.installed import find_backend
from equimargin.solvers.backends.table import Backend
from equimargin.solvers.interrupt import interruptible, unheard

GRACE_SECONDS = 1.0
"""Grace period of a backend in seconds; it checks the clock only between iterations."""
OVERTIME_RATIO = 1.1
"""Multiple of its time limit, plus GRACE_SECONDS, after which a backend is abandoned."""


def solve_form(
    form: StandardForm, name: str, seconds: float, tol: float = 1e-8
) -> tuple[Array, Array]:
    """Return a backend's point and multipliers of the rows, in no way verified.

    Parameters
    ----------
    form : StandardForm
        Program.
    name : str
        Name of an installed backend, of any case.
    seconds : float
        Time limit in seconds, soon after which the backend is abandoned.
    tol : float, default 1e-8
        Tolerance of a backend with options of its own in the table.

    Returns
    -------
    x : ndarray of shape (n,)
        Point.
    z : ndarray of shape (r,)
        Multipliers, with P x + q + G'z = 0 at variables inside their bounds; zeros if
        the backend has none of this shape that are finite.

    Raises
    ------
    ValueError
        If no such backend is installed, it returns no point, or time is out.
    """
    try:
        x, z = run_backend(find_backend(name), form, seconds, tol)
    except TimeoutError:
        raise took_too_long(name, seconds) from None
    return x, np.zeros(len(form.h)) if z is None else z


def took_too_long(name: str, seconds: float) -> ValueError:
    """Return the error of a backend that exceeds its time limit.

    Parameters
    ----------
    name : str
        Name of the backend.
    seconds : float
        Time limit in seconds.
    """
    return ValueError(
        f"{name} took more than {seconds:g} s, and was abandoned; raise the limit "
        f"(seconds, --time-limit), or name another solver"
    )


def run_backend(
    backend: Backend, form: StandardForm, seconds: float, tol: float
) -> tuple[Array, Array | None]:
    """Return the point and multipliers of `solve_form`, None for zeros.

    Parameters
    ----------
    backend : Backend
        Backend.
    form, seconds, tol : object
        As in `solve_form`.

    Raises
    ------
    TimeoutError
        If the backend exceeds its limit.
    ValueError
        If it returns no point.
    """
    # A function that changes its program must not change that of the proof.
    own = form if backend.solve is None else deepcopy(form)

    def solve() -> tuple[Any, Any]:
        if backend.solve is None:
            return _by_cvxpy(backend, own, tol, seconds)
        return backend.solve(own, tol, seconds)

    try:
        with warnings.catch_warnings(), unheard():
            # A backend warns of inaccurate results, which are not trusted anyway.
            warnings.simplefilter("ignore")
            x, z = interruptible(solve, seconds=OVERTIME_RATIO * seconds + GRACE_SECONDS)
        point, multipliers = _vector(x), _vector(z)
        if len(point) != len(form.q):
            raise ValueError(f"its point has {len(point)} numbers, and should have {len(form.q)}")
        if not np.isfinite(point).all():
            raise ValueError("its point has a number that is not finite")
        # cvxpy returns wrong multipliers of some solvers; without them the point remains.
        fit = len(multipliers) == len(form.h) and np.isfinite(multipliers).all()
        return point, multipliers if fit else None
    except TimeoutError:
        raise
    # What a backend or its interface raises is its own; the sentence names it.
    except Exception as reason:
        text = format_error(reason).rstrip(".")
        raise ValueError(f"{backend.name} does not solve the problem: {text}") from None


def _by_cvxpy(
    backend: Backend, form: StandardForm, tol: float, seconds: float
) -> tuple[Array, Array | None]:
    """Return the point and multipliers of a solver of cvxpy."""
    x, zero = cp.Variable(len(form.q)), form.zero
    constraints: list[Any] = []
    if zero:
        constraints.append(form.G[:zero] @ x == form.h[:zero])
    stop = zero + form.nonneg
    if form.nonneg:
        constraints.append(form.G[zero:stop] @ x <= form.h[zero:stop])
    for size in form.cones:
        slack = form.h[stop : stop + size] - form.G[stop : stop + size] @ x
        constraints.append(cp.SOC(slack[0], slack[1:]))
        stop += size
    low, high = np.flatnonzero(np.isfinite(form.lower)), np.flatnonzero(np.isfinite(form.upper))
    boxes = [x[low] >= form.lower[low]] if len(low) else []
    boxes += [x[high] <= form.upper[high]] if len(high) else []
    cost = form.q @ x
    if form.P.nnz:
        # P is known to be positive semidefinite, or is proven to be later.
        cost = cost + cp.quad_form(x, cp.psd_wrap(form.P)) / 2
    problem = cp.Problem(cp.Minimize(cost), [*constraints, *boxes])
    options = backend.options(tol, seconds, None)
    data, chain, inverse = problem.get_problem_data(backend.name, solver_opts=options)
    raw = chain.solve_via_data(problem, data, False, False, options)
    # SCS and OSQP intercept an interrupt while they run.
    if read_status(raw) == "interrupted":
        raise KeyboardInterrupt
    problem.unpack_results(raw, chain, inverse)
    if x.value is None:
        raise ValueError(
            f"it returns no point, and says that the problem is {problem.status}; that is not "
            f"proven: `equimargin explain` (in Python, explain) seeks the constraints or the "
            f"direction that prove it; or name another solver"
        )
    if any(constraint.dual_value is None for constraint in constraints):
        return x.value, None
    parts = [part for constraint in constraints for part in _flat(constraint.dual_value)]
    return x.value, np.concatenate([*parts, np.zeros(0)])


def read_status(raw: Any) -> str:
    """Return the status in a backend's raw result, more specific than cvxpy's, or "".

    Parameters
    ----------
    raw : object
        Result of the backend: an object or a dictionary, or one with such an `info`.
    """
    for holder in (raw, raw.get("info") if isinstance(raw, dict) else getattr(raw, "info", None)):
        word = holder.get("status") if isinstance(holder, dict) else getattr(holder, "status", None)
        if word is not None:
            return str(word)
    return ""


def _vector(values: Any) -> Array:
    """Return a backend's result as a new vector, empty for None."""
    return np.array([] if values is None else values, dtype=np.float64).ravel()


def _flat(dual: Any) -> list[Array]:
    """Return the multipliers of a constraint as vectors."""
    return [np.ravel(part) for part in dual] if isinstance(dual, list) else [np.ravel(dual)]
