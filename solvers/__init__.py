"""How it is minimised fast: specialised algorithms and the cvxpy backends."""

if __name__ != "equimargin.solvers":  # a second copy of every class would exist under the bare name
    raise ImportError("use: from equimargin.solvers import ...")

from equimargin.formulations.refusal import Refusal
from equimargin.solvers.backends.solve import Answer, solve_declaration
from equimargin.solvers.backends.table import BACKENDS
from equimargin.solvers.batches.cost_grid import solve_grid
from equimargin.solvers.batches.one_vs_one import one_vs_one
from equimargin.solvers.exact.misranked import LeastMisranked, least_misranked
from equimargin.solvers.exact.numbers import given_gram
from equimargin.solvers.exact.optimum import ExactOptimum, exact_optimum
from equimargin.solvers.exact.path import ExactPath, ExactPiece, LeftOut, Mistakes, exact_leave_one_out, exact_path
from equimargin.solvers.needs import Needs
from equimargin.solvers.path.concave import ConcaveOptimum, concave_optimum
from equimargin.solvers.path.follow import regularization_path
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.result import RegularizationPath
from equimargin.solvers.registry import SOLVERS, Solver, solve, solver
from equimargin.solvers.solution import Limits, Solution, Status
from equimargin.solvers.trace import Check, Trace

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
    "LeftOut",
    "Limits",
    "Mistakes",
    "Needs",
    "OneNormPath",
    "Refusal",
    "RegularizationPath",
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
