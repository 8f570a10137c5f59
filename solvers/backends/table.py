"""The backends, and the one table that translates a tolerance into the options of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Attempt:
    """One run of a backend.

    Parameters
    ----------
    factor : float
        What the wanted tolerance is multiplied by before the backend is told.
    own : Mapping[str, Any]
        The backend's own options of this attempt.
    accepts : Callable[[float, Any], bool]
        From the tolerance so multiplied and the raw answer to whether an answer that
        the backend calls optimal is accepted as one.
    """

    factor: float
    own: Mapping[str, Any] = field(default_factory=dict)
    accepts: Callable[[float, Any], bool] = lambda tol, raw: True


@dataclass(frozen=True)
class Backend:
    """What the project has to know of one backend.

    Parameters
    ----------
    conic : bool
        Whether it takes second-order cones.
    suited : str
        "any" problem, or the kind it is good at: "quadratic" or "linear".
    ladder : tuple[Attempt, ...]
        Attempts in turn until the backend says optimal and the attempt accepts its
        answer.
    options : Callable[[float, float, int | None], dict[str, Any]]
        From a tolerance, seconds and a limit of iterations (None: the backend's usual
        one) to options by the backend's own names.
    vectors : Callable[[Any], tuple[Any, Any, Any, Any, Any]]
        From its raw answer to (x, z, primal ray, dual ray, iterations).
    largest : float
        The largest entry of P and G that it takes.
    """

    name: str
    conic: bool
    suited: str
    ladder: tuple[Attempt, ...]
    options: Callable[[float, float, int | None], dict[str, Any]]
    vectors: Callable[[Any], tuple[Any, Any, Any, Any, Any]]
    largest: float = np.inf


def _clarabel(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    tolerances = dict.fromkeys(
        ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"), tol
    )
    return {**tolerances, "time_limit": seconds, "max_iter": iterations or 500, "max_threads": 1}


PROXIMITY_OF_SCS = 1e-4
"""How strongly an iteration of SCS is held near the one before, without a unit (its rho_x). With its own default, 1e-6, some linear
programs and duals of rankings take ten times as long, and of 169 declared problems 17
were not solved in 1.5 s instead of 8.
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
    """Whether OSQP's polishing succeeded, and left residuals in units of the problem, and a relative gap, of at most the tolerance."""
    info = raw.info
    figures = (info.prim_res, info.dual_res, abs(info.duality_gap) / (1 + abs(info.obj_val)))
    return bool(info.status_polish == 1 and all(figure <= tol for figure in figures))


LARGEST_OF_HIGHS = 1e15
"""The entry of a matrix that HiGHS takes for infinite (its large_matrix_value). Such an entry in a Hessian crashes the process."""


def _highs(tol: float, seconds: float, iterations: int | None) -> dict[str, Any]:
    feasibility = min(
        max(tol, 1e-10), 1e-7
    )  # HiGHS takes none below 1e-10; its quadratic solver keeps to neither
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
    """Those of HiGHS, whose multipliers of rows have the other sign, and which hands out no rays."""
    info, solution = raw["info"], raw["solution"]
    iterations = max(
        info.simplex_iteration_count, info.ipm_iteration_count, info.qp_iteration_count
    )
    return solution.col_value, -np.array(solution.row_dual), None, None, iterations


ATTEMPTS_OF_CLARABEL = (Attempt(0.01), Attempt(0.1, {"max_step_fraction": 0.9}), Attempt(1.0))
"""Clarabel may stop with "insufficient progress". If it is near the optimum, its point keeps the tolerance and is an answer. If it is far,
shorter steps often get there, where the same steps with a looser tolerance seldom do:
they are the last attempt.
"""

ATTEMPTS_OF_OSQP = (
    Attempt(0.1, {"eps_abs": 1e-4, "eps_rel": 1e-4}, _is_polished),
    Attempt(0.1, {"eps_abs": 1e-5, "eps_rel": 1e-5}, _is_polished),
    Attempt(0.1),
)
"""OSQP's iterations tell early which constraints bind, and go on long until they keep a tight tolerance. From a loose one its polishing,
which solves the equations of the binding constraints, often gets there at once. Where
it does not, the next attempt starts anew.
"""

ONE_ATTEMPT = (Attempt(1.0),)
"""Of a backend that does no better with another tolerance."""

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
"""Every backend by name. It makes the attempts of its ladder in turn, each with options(factor x tol) and the attempt's own options."""
