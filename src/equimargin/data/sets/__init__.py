"""Data sets by name: those of the package, and public ones that are fetched once."""

from typing import Final

from equimargin.data.sets.bundled import BUNDLED
from equimargin.data.sets.published import PUBLIC

__all__ = ["SET_NAMES"]

SET_NAMES: Final = (*BUNDLED, *PUBLIC)
"""Names of all data sets; such a name never denotes a file."""
