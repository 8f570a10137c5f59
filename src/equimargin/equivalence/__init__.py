"""Equivalence of two problems: verdicts with a proof or the smallest difference.

EQUAL with an equivalence proof, DIFFERENT with the smallest instance found, UNDECIDED
with the evidence. Misprints of a problem, and the evidence that detects each.
"""

from equimargin.equivalence.errata import Mutant, mutants
from equimargin.equivalence.misprints import Misprint, misprints
from equimargin.equivalence.questions import refute, same
from equimargin.equivalence.suggestions import Suggestion, suggest
from equimargin.proofs.equivalence import Difference, Same, exact_value

__all__ = [
    "Difference",
    "Misprint",
    "Mutant",
    "Same",
    "Suggestion",
    "exact_value",
    "misprints",
    "mutants",
    "refute",
    "same",
    "suggest",
]
