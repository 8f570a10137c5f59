"""Table of the backends, with the options of each for a given tolerance.

A solver without a row, which `installed` finds, has the defaults of `Backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equimargin.formulations.programs.standard_form import StandardForm

FormSolver = Callable[[StandardForm, float, float], tuple[Any, Any]]
"""Function of a program, a tolerance and seconds; returns x and z, which may be None."""


@dataclass(frozen=True)
class Attempt:
    """Settings of one run of a backend.

    Parameters
    ----------
    factor : float
        Factor of the requested tolerance.
    own : mapping of str to Any
        Backend's own options of this attempt.
    accepts : callable
        Maps the scaled tolerance and the raw result to True if a result with status
        optimal is accepted.
    """

    factor: float
    own: Mapping[str, Any] = field(default_factory=dict)
    accepts: Callable[[float, Any], bool] = lambda tol, raw: True


ONE_ATTEMPT = (Attempt(1.0),)
"""Attempt of a backend that gives no better results with another tolerance."""


def _own_defaults(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    """Return no options: the backend keeps its own defaults."""
    return {}


@dataclass(frozen=True)
class Backend:
    """Properties of one backend; the defaults are those of a solver without a row.

    Parameters
    ----------
    name : str
        Name; for a solver of cvxpy, its name there.
    conic : bool
        True if second-order cones are supported.
    suited : str
        Preferred kind of problem: "any", "quadratic" or "linear".
    ladder : tuple of Attempt
        Attempts in turn, until the backend reports optimal and the attempt accepts the
        result.
    options : callable
        Maps a tolerance, seconds and an iteration limit (None for a default) to options
        by the backend's own names.
    vectors : callable or None
        Maps the raw result to (x, z, primal ray, dual ray, iterations). None if the raw
        result is not known: the backend then gets the standard form as its problem, and
        x and z are those of cvxpy, or of `solve`.
    largest : float
        Maximum supported entry of P and G.
    solve : callable or None
        Function that solves a program; None for a solver of cvxpy.
    origin : str
        Package of the backend.
    """

    name: str
    conic: bool = True
    suited: str = "any"
    ladder: tuple[Attempt, ...] = ONE_ATTEMPT
    options: Callable[[float, float, int | None], dict[str, Any]] = _own_defaults
    vectors: Callable[[Any], tuple[Any, Any, Any, Any, Any]] | None = None
    largest: float = np.inf
    solve: FormSolver | None = None
    origin: str = "cvxpy"


def _clarabel(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    tolerances = dict.fromkeys(
        ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"), tol
    )
    return {**tolerances, "time_limit": seconds, "max_iter": iterations or 500, "max_threads": 1}


PROXIMITY_OF_SCS = 1e-4
"""SCS parameter rho_x, without a unit.

It weights the distance to the previous iterate. With the default 1e-6, some linear
programs and ranking duals take ten times as long, and 17 instead of 8 of 169 declared
problems exceed 1.5 s.
"""


def _scs(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    limits = {"time_limit_secs": seconds, "max_iters": iterations or 100_000}
    return {"eps_abs": tol, "eps_rel": tol, "rho_x": PROXIMITY_OF_SCS, **limits}


def _osqp(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    return {
        "eps_abs": tol,
        "eps_rel": tol,
        "time_limit": seconds,
        "max_iter": iterations or 100_000,
        "polishing": True,
    }


def _osqp_vectors(raw: Any) -> tuple[Any, Any, Any, Any, Any]:
    return raw.x, raw.y, raw.dual_inf_cert, raw.prim_inf_cert, raw.info.iter


def _is_polished(tol: float, raw: Any) -> bool:
    """Return True if OSQP's polishing succeeded within the tolerance.

    The residuals, in units of the problem, and the relative gap are at most the
    tolerance.
    """
    info = raw.info
    figures = (info.prim_res, info.dual_res, abs(info.duality_gap) / (1 + abs(info.obj_val)))
    return bool(info.status_polish == 1 and all(figure <= tol for figure in figures))


LARGEST_OF_HIGHS = 1e15
"""Size from which HiGHS treats a matrix entry as infinite (its large_matrix_value).

Such an entry in a Hessian crashes the process.
"""


def _highs(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    # HiGHS accepts no tolerance below 1e-10. Its quadratic solver satisfies neither the
    # primal nor the dual one.
    feasibility = min(max(tol, 1e-10), 1e-7)
    limits = (
        {}
        if iterations is None
        else {"simplex_iteration_limit": iterations, "qp_iteration_limit": iterations}
    )
    tolerances = {
        "primal_feasibility_tolerance": feasibility,
        "dual_feasibility_tolerance": feasibility,
    }
    return {"time_limit": seconds, "threads": 1, **tolerances, **limits}


def _highs_vectors(raw: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return the vectors of HiGHS: row multipliers with the sign changed, no rays."""
    info, solution = raw["info"], raw["solution"]
    iterations = max(
        info.simplex_iteration_count, info.ipm_iteration_count, info.qp_iteration_count
    )
    return solution.col_value, -np.array(solution.row_dual), None, None, iterations


ATTEMPTS_OF_CLARABEL = (Attempt(0.01), Attempt(0.1, {"max_step_fraction": 0.9}), Attempt(1.0))
"""Attempts of Clarabel, which may stop with "insufficient progress".

If that happens close to the optimum, its point satisfies the tolerance and is accepted.
Far from the optimum, the second attempt, with shorter steps, often succeeds. The last
one, with default steps and a looser tolerance, rarely does.
"""

ATTEMPTS_OF_OSQP = (
    Attempt(0.1, {"eps_abs": 1e-4, "eps_rel": 1e-4}, _is_polished),
    Attempt(0.1, {"eps_abs": 1e-5, "eps_rel": 1e-5}, _is_polished),
    Attempt(0.1),
)
"""Attempts of OSQP, with loose tolerances and polishing first.

OSQP's iterations identify the binding constraints early, and take long to satisfy a
tight tolerance. From a loose one, polishing solves the equations of the binding
constraints and often succeeds at once. If not, the next attempt starts anew.
"""

BACKENDS = {
    backend.name: backend
    for backend in (
        Backend(
            "CLARABEL",
            True,
            "any",
            ATTEMPTS_OF_CLARABEL,
            _clarabel,
            lambda raw: (raw.x, raw.z, raw.x, raw.z, raw.iterations),
        ),
        Backend(
            "SCS",
            True,
            "any",
            ONE_ATTEMPT,
            _scs,
            lambda raw: (raw["x"], raw["y"], raw["x"], raw["y"], raw["info"]["iter"]),
        ),
        Backend("OSQP", False, "quadratic", ATTEMPTS_OF_OSQP, _osqp, _osqp_vectors),
        Backend("HIGHS", False, "linear", ONE_ATTEMPT, _highs, _highs_vectors, LARGEST_OF_HIGHS),
    )
}
"""Backends of a comparison that names none.

A backend makes the attempts of its ladder in turn, each with options(factor x tol) and
the attempt's own options.
"""


def _residuals(*names: str) -> Callable[[float, float, int | None], dict[str, Any]]:
    """Return options that are tolerances alone, by their names."""
    return lambda tol, seconds, iterations: dict.fromkeys(names, tol)


def _proxqp(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    return {"eps_abs": tol, "eps_rel": 0.0}


OTHERS = {
    backend.name: backend
    for backend in (
        Backend("CVXOPT", options=_residuals("abstol", "reltol", "feastol")),
        Backend("DAQP", False, options=_residuals("primal_tol", "dual_tol")),
        Backend("ECOS", options=_residuals("abstol", "reltol", "feastol")),
        Backend("PIQP", False, options=_residuals("eps_abs", "eps_rel")),
        Backend("PROXQP", False, options=_proxqp),
    )
}
"""Further backends of known options, which run if named; all others keep their defaults."""
