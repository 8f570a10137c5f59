"""cvxpy as `cp`, imported on first use.

Ids, sources and LaTeX of formulations are available without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["cp"]

if TYPE_CHECKING:
    import cvxpy as cp
else:

    class _ImportedAtFirstUse:
        """cvxpy, whose import takes a second."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("cvxpy"), name)

    cp = _ImportedAtFirstUse()
