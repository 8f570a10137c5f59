"""Solution of declared problems by cvxpy's backends, with data to check the results."""

from equimargin.solvers.backends.solve import Answer, solve_declaration
from equimargin.solvers.backends.table import BACKENDS

__all__ = ["BACKENDS", "Answer", "solve_declaration"]
