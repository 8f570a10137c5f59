"""Exact optima or rays of general convex quadratic and linear programs."""

from equimargin.solvers.exact.program.optimum import (
    Inconclusive,
    Infeasible,
    Optimum,
    Outcome,
    UnboundedProgram,
    program_optimum,
)

__all__ = [
    "Inconclusive",
    "Infeasible",
    "Optimum",
    "Outcome",
    "UnboundedProgram",
    "program_optimum",
]
