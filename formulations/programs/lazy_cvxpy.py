"""cvxpy as `cp`, imported on first use.

Ids, sources and LaTeX of formulations are available without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from equimargin.formulations.programs.extras import OptionalModule

__all__ = ["cp"]


class _Cvxpy(OptionalModule):
    """cvxpy, imported at the first use of a name, without scipy.stats."""

    def _imported(self) -> Any:
        if self._name in sys.modules:
            return super()._imported()
        with _statistics_at_first_use():
            return super()._imported()


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


@contextmanager
def _statistics_at_first_use() -> Iterator[None]:
    """Import scipy.stats in the `with` block only when a name other than entropy is used."""
    name = "scipy.stats"
    spec = None if name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return
    place = sys.modules[name] = _StatisticsAtFirstUse(name)
    # Without a path a package has no modules, and `from scipy.stats import` asks for it.
    place.__path__ = spec.submodule_search_locations or []
    try:
        yield
    finally:
        place.leave()


if TYPE_CHECKING:
    import cvxpy as cp
else:
    cp = _Cvxpy("cvxpy")
