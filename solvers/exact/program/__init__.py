"""Exact optima of convex quadratic and linear programs of any kind, or exact rays where there is none."""

from equimargin.solvers.exact.program.optimum import Infeasible, Optimum, Outcome, Unbounded, Undecided, program_optimum

__all__ = ["Infeasible", "Optimum", "Outcome", "Unbounded", "Undecided", "program_optimum"]
