"""Equivalence of two problems: verdicts with a proof or the smallest difference.

EQUAL with an equivalence proof, DIFFERENT with the smallest instance found, UNDECIDED
with the evidence.
"""

from equimargin.equivalence.questions import refute, same
from equimargin.equivalence.suggestions import Suggestion, suggest
from equimargin.proofs.equivalence import Difference, Same, exact_value

__all__ = ["Difference", "Same", "Suggestion", "exact_value", "refute", "same", "suggest"]
