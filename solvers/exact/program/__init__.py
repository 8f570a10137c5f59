"""Exact optima of convex quadratic and linear programs of any kind, or exact rays where there is none."""

from equimargin.solvers.exact.program.optimum import (
    Inconclusive,
    Infeasible,
    Optimum,
    Outcome,
    Unbounded,
    program_optimum,
)

__all__ = ["Inconclusive", "Infeasible", "Optimum", "Outcome", "Unbounded", "program_optimum"]
