"""Registry of named objects: families, formulations, kernels and solvers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

from equimargin.formulations.numeric.arguments import did_you_mean

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Values by name, in the order of their registration by imported modules.

    Parameters
    ----------
    kind : str
        Type of the values, such as "solver".
    modules : mapping of str to str or None
        Names of the first values, and the modules whose import registers them. A module
        is imported at the first access to its value.
    """

    def __init__(self, kind: str, modules: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._values: dict[str, T | None] = dict.fromkeys(modules or {})
        self._modules: dict[str, str] = dict(modules or {})

    def __getitem__(self, name: str) -> T:
        value = self._values[name]
        if value is None:
            import_module(self._modules[name])
            value = self._values[name]
        assert value is not None, (
            f"importing {self._modules[name]} registers no {self.kind} {name!r}"
        )
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __delitem__(self, name: str) -> None:
        del self._values[name]
        del self._modules[name]

    def forget(self, name: str) -> None:
        """Remove a value if it is registered.

        Parameters
        ----------
        name : str
            Name of the value.
        """
        if name in self:
            del self[name]

    def find_module(self, name: str) -> str:
        """Return the module whose import registers a value.

        Parameters
        ----------
        name : str
            Name of the value.
        """
        return self._modules[name]

    def enter(self, name: str, value: T, module: str) -> None:
        """Register a value; a module that is loaded again replaces its values.

        Parameters
        ----------
        name : str
            Name of the value.
        value : T
            Value.
        module : str
            Name of the module that registers the value.

        Raises
        ------
        ValueError
            If another module has registered the name.
        """
        if self._modules.get(name, module) != module:
            raise ValueError(
                f"a {self.kind} {name!r} is registered already, by {self._modules[name]}; "
                f"take another name"
            )
        self._values[name], self._modules[name] = value, module

    def suggestion(self, name: str) -> str:
        """Return a question that suggests names close to an unknown one; "" without any.

        Parameters
        ----------
        name : str
            Unknown name.
        """
        return did_you_mean(name, list(self))
