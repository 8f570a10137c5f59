"""How it is minimised fast: specialised algorithms and the cvxpy backends."""

if __name__ != "equimargin.solvers":  # a second copy of every class would exist under the bare name
    raise ImportError("use: from equimargin.solvers import ...")

from equimargin.solvers.convex import BACKENDS, Answer, solve_declaration
from equimargin.solvers.exact import ExactOptimum, exact_optimum, given_gram
from equimargin.solvers.grid import solve_grid
from equimargin.solvers.one_vs_one import one_vs_one
from equimargin.solvers.registry import SOLVERS, solve
from equimargin.solvers.solution import Limits, Solution, Status

__all__ = [
    "BACKENDS",
    "SOLVERS",
    "Answer",
    "ExactOptimum",
    "Limits",
    "Solution",
    "Status",
    "exact_optimum",
    "given_gram",
    "one_vs_one",
    "solve",
    "solve_declaration",
    "solve_grid",
]
