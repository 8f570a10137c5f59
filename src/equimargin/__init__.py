"""A research framework for the convex programs of max-margin learning.

`equimargin.compare` is the function of the module of the same name, in every import order:

>>> from equimargin.compare import compare as direct
>>> from equimargin import compare
>>> compare is direct
True
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equimargin.compare import compare as compare

__all__ = ["__version__", "compare"]
__version__ = "0.1.0"


class _Package(ModuleType):
    """The package, whose attribute `compare` is a property: the import system binds the submodule to that very name."""

    @property
    def compare(self) -> Any:
        """The function, imported at its first use: it needs cvxpy, which `import equimargin` must not load."""
        return importlib.import_module("equimargin.compare").compare

    @compare.setter
    def compare(self, module: ModuleType) -> None:
        """Ignore the binding of the submodule, which stays reachable as `from equimargin.compare import ...`."""


sys.modules[__name__].__class__ = _Package
