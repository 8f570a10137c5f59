"""The rows A of a margin problem, listed or implicit, and the sums of losses over them."""

from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Pairs, Signed, Tube

__all__ = ["Pairs", "Rows", "Signed", "Tube"]
