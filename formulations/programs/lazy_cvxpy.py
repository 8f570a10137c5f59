"""cvxpy as `cp`, imported on first use.

Ids, sources and LaTeX of formulations are available without it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["cp"]

if TYPE_CHECKING:
    import cvxpy as cp
else:

    class _ImportedAtFirstUse:
        """cvxpy, whose import takes a second."""

        def __getattr__(self, name: str) -> Any:
            if "cvxpy" not in sys.modules:
                _import_without_statistics()
            return getattr(import_module("cvxpy"), name)

    cp = _ImportedAtFirstUse()


class _StatisticsAtFirstUse(ModuleType):
    """scipy.stats, whose import takes longer than that of cvxpy itself.

    cvxpy takes one function from it, the entropy, for an atom of quantum states. Any
    other name imports scipy.stats.
    """

    def entropy(self, *arguments: Any, **options: Any) -> Any:
        """Return scipy.stats.entropy of the arguments."""
        return self.import_itself().entropy(*arguments, **options)

    def import_itself(self) -> Any:
        """Return scipy.stats."""
        self.leave()
        return import_module(self.__name__)

    def leave(self) -> None:
        """Leave the place in `sys.modules` to scipy.stats."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.import_itself(), name)


def _import_without_statistics() -> None:
    """Import cvxpy, but not scipy.stats."""
    name = "scipy.stats"
    spec = None if name in sys.modules else find_spec(name)
    if spec is None:
        import_module("cvxpy")
        return
    place = sys.modules[name] = _StatisticsAtFirstUse(name)
    # Without a path a package has no modules, and `from scipy.stats import` asks for it.
    place.__path__ = spec.submodule_search_locations or []
    try:
        import_module("cvxpy")
    finally:
        place.leave()
