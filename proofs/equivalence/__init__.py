"""Equivalence of two declared problems: proofs found by search, and the verdict.

An equivalence proof, a `Reason`, is verified number by number in rationals.
"""

from equimargin.proofs.equivalence.comparison import InstanceComparison, compare_at
from equimargin.proofs.equivalence.parameters import ForAllData, reason_for_all_data
from equimargin.proofs.equivalence.stated import (
    NoProblem,
    StatedProgram,
    Statement,
    exact_value,
    name_statement,
    stated,
    takes_data,
)
from equimargin.proofs.equivalence.steps.reason import Reason, find_reason
from equimargin.proofs.equivalence.verdict import Difference, Same

__all__ = [
    "Difference",
    "ForAllData",
    "InstanceComparison",
    "NoProblem",
    "Reason",
    "Same",
    "StatedProgram",
    "Statement",
    "compare_at",
    "exact_value",
    "find_reason",
    "name_statement",
    "reason_for_all_data",
    "stated",
    "takes_data",
]
