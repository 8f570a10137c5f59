"""Are these two problems the same?  EQUAL with a reason, DIFFERENT with the smallest instance found, UNDECIDED with the evidence."""

from equimargin.proofs.sameness import exact_value
from equimargin.sameness.suggestions import Suggestion, suggest
from equimargin.sameness.verdict import Difference, Same, refute, same

__all__ = ["Difference", "Same", "Suggestion", "exact_value", "refute", "same", "suggest"]
