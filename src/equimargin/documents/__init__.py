"""Families of the five documents that have no canonical shape: they enter by the open protocol, as a family of yours would.

ordinal         ordinal regression with thresholds: all of them, the neighbouring ones, squared slacks, hard margins      O
sum_of_margins  ordinal regression by the sum of the margins between neighbouring levels                                  O
coupling        probabilities of many classes from those of every two                                                     T
general         the SVM whose slacks cost a function F of the sum of their powers                                         W

The next file writes its families with `equimargin.own.family`, as `own_problem.md` says, draws data by `equimargin.own.drawing`, and is
imported below. `list`, `show`, `compare --family` and the campaign `nightly_families` then know them, and `tests/door/test_shipped.py`
asks for one larger instance of each. Specialised solvers that are more than a call of a library live in `equimargin.solvers`.
"""

from equimargin.documents import coupling, general, ordinal, sum_of_margins

__all__ = ["coupling", "general", "ordinal", "sum_of_margins"]
