"""Declared problems through cvxpy's backends, and what is needed to judge their answers."""

from equimargin.solvers.backends.solve import Answer, solve_declaration
from equimargin.solvers.backends.table import BACKENDS

__all__ = ["BACKENDS", "Answer", "solve_declaration"]
