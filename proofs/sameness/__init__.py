"""Why two declared problems have one optimum: reasons that are found by machine and verified number by number in rationals."""

from equimargin.proofs.sameness.comparison import Finding, compare_at
from equimargin.proofs.sameness.parameters import ForAllData, reason_for_all_data
from equimargin.proofs.sameness.reason import Reason, find_reason
from equimargin.proofs.sameness.stated import NoProblem, Stated, Statement, exact_value, name_of, stated

__all__ = [
    "Finding",
    "ForAllData",
    "NoProblem",
    "Reason",
    "Stated",
    "Statement",
    "compare_at",
    "exact_value",
    "find_reason",
    "name_of",
    "reason_for_all_data",
    "stated",
]
