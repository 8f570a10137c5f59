"""Packages of extras, most of them of `compare`, imported at their first use.

The core of the package works without them: problems, solvers in floats, intervals,
estimators, audits and the checker of certificates.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from equimargin.formulations.numeric.undisturbed import undisturbed

__all__ = ["OptionalModule", "clarabel", "flint", "highspy"]


class OptionalModule:
    """Module that is imported when one of its names is first used, and then kept.

    It can be copied and pickled without an import.

    Parameters
    ----------
    name : str
        Name of the module.
    extra : str, default "compare"
        Extra of equimargin that installs its package.

    Raises
    ------
    ImportError
        At the use of a name, if the package is not installed; the text has the command
        that installs it.
    """

    def __init__(self, name: str, extra: str = "compare") -> None:
        self._name, self._extra = name, extra

    def __reduce__(self) -> tuple[type[OptionalModule], tuple[str, str]]:
        return OptionalModule, (self._name, self._extra)

    def __getattr__(self, attribute: str) -> Any:
        # Python asks for names such as __deepcopy__, which are those of the object.
        if attribute.startswith("__") and attribute != "__version__":
            raise AttributeError(attribute)
        found = getattr(self._imported(), attribute)
        setattr(self, attribute, found)
        return found

    @undisturbed
    def _imported(self) -> Any:
        """Import the module.

        Native modules turn an interrupt into an ImportError, and cannot be imported again.
        """
        package = self._name.partition(".")[0]
        try:
            return import_module(self._name)
        except ModuleNotFoundError as missing:
            if missing.name != package:
                raise  # The package is there, and one that it needs is not.
            raise ImportError(
                f"{package} is not installed: pip install 'equimargin[{self._extra}]'", name=package
            ) from missing


clarabel: Any = OptionalModule("clarabel")
flint: Any = OptionalModule("flint")
highspy: Any = OptionalModule("highspy")
