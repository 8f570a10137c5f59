"""Research framework for the convex programs of max-margin learning.

>>> from equimargin import compare
>>> compare.__module__
'equimargin.comparison'
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equimargin.comparison import compare as compare
    from equimargin.explanation import explain as explain
    from equimargin.judging import judge as judge
    from equimargin.program_bound import bound as bound

__all__ = ["__version__", "bound", "compare", "explain", "judge"]
__version__ = "0.1.0"
# A library logs nothing unless its user adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_LATER = {
    "bound": "program_bound",
    "compare": "comparison",
    "explain": "explanation",
    "judge": "judging",
}
"""Modules of the functions: they need cvxpy, which `import equimargin` must not load."""


def __getattr__(name: str) -> Any:
    """Import a function at its first use."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"equimargin.{_LATER[name]}"), name)
