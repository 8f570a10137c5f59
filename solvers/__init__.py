"""Specialised solvers, and cvxpy backends for declared problems.

Names that `solve` does not need are imported on first use. A process that solves one
problem then starts in seven eighths of the time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported as `solvers`, this package would define every class a second time.
if __name__ != "equimargin.solvers":
    raise ImportError("use: from equimargin.solvers import ...")

from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers.registry import SOLVERS, Solver, solve, solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status
from equimargin.solvers.trace import Check, Trace

if TYPE_CHECKING:
    from equimargin.solvers.backends.solve import Answer, solve_declaration
    from equimargin.solvers.backends.table import BACKENDS
    from equimargin.solvers.batches.cost_grid import solve_grid
    from equimargin.solvers.batches.one_vs_one import one_vs_one
    from equimargin.solvers.exact.misranked import LeastMisranked, least_misranked
    from equimargin.solvers.exact.numbers import given_gram
    from equimargin.solvers.exact.optimum import ExactOptimum, exact_optimum
    from equimargin.solvers.exact.path import (
        ExactPath,
        ExactPiece,
        LeaveOneOutPath,
        Mistakes,
        exact_leave_one_out,
        exact_path,
    )
    from equimargin.solvers.path.concave import ConcaveOptimum, concave_optimum
    from equimargin.solvers.path.follow import regularization_path
    from equimargin.solvers.path.linear.result import OneNormPath
    from equimargin.solvers.path.result import RegularizationPath

_LATER = {
    "Answer": "backends.solve",
    "solve_declaration": "backends.solve",
    "BACKENDS": "backends.table",
    "solve_grid": "batches.cost_grid",
    "one_vs_one": "batches.one_vs_one",
    "LeastMisranked": "exact.misranked",
    "least_misranked": "exact.misranked",
    "given_gram": "exact.numbers",
    "ExactOptimum": "exact.optimum",
    "exact_optimum": "exact.optimum",
    "ExactPath": "exact.path",
    "ExactPiece": "exact.path",
    "LeaveOneOutPath": "exact.path",
    "Mistakes": "exact.path",
    "exact_leave_one_out": "exact.path",
    "exact_path": "exact.path",
    "ConcaveOptimum": "path.concave",
    "concave_optimum": "path.concave",
    "regularization_path": "path.follow",
    "OneNormPath": "path.linear.result",
    "RegularizationPath": "path.result",
}
"""Modules of the names that are imported on first use."""

__all__ = [
    "BACKENDS",
    "SOLVERS",
    "Answer",
    "Check",
    "ConcaveOptimum",
    "ExactOptimum",
    "ExactPath",
    "ExactPiece",
    "LeastMisranked",
    "LeaveOneOutPath",
    "Limits",
    "Mistakes",
    "OneNormPath",
    "Refusal",
    "RegularizationPath",
    "Requirements",
    "Solution",
    "Solver",
    "Status",
    "Trace",
    "concave_optimum",
    "exact_leave_one_out",
    "exact_optimum",
    "exact_path",
    "given_gram",
    "least_misranked",
    "one_vs_one",
    "regularization_path",
    "solve",
    "solve_declaration",
    "solve_grid",
    "solver",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
