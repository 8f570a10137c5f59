"""Exact regularisation paths: multipliers piecewise linear in C, breakpoints rational."""

from equimargin.solvers.exact.path.follow import exact_path
from equimargin.solvers.exact.path.leave_one_out import (
    LeaveOneOutPath,
    Mistakes,
    exact_leave_one_out,
)
from equimargin.solvers.exact.path.piece import ExactPiece
from equimargin.solvers.exact.path.result import ExactPath

__all__ = [
    "ExactPath",
    "ExactPiece",
    "LeaveOneOutPath",
    "Mistakes",
    "exact_leave_one_out",
    "exact_path",
]
