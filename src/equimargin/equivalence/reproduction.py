"""Lines of Python that recompute both optima of an instance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from inspect import Parameter, signature
from math import isfinite
from typing import Any

import numpy as np

from equimargin.formulations import REGISTRY
from equimargin.proofs.equivalence import Statement, name_statement


class Code:
    """Expressions for data, and the imports that they need."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}

    def of(self, value: Any) -> str:
        """Return an expression of a value.

        Parameters
        ----------
        value : object
            Value.

        Raises
        ------
        ValueError
            If values of this type have no such expression.
        """
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        if isinstance(value, np.generic):
            return self.of(value.item())
        if isinstance(value, float):
            return repr(value) if isfinite(value) else f"float('{value}')"
        if isinstance(value, Fraction):
            return f"{self.name('fractions', 'Fraction')}({value.numerator}, {value.denominator})"
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(f"{self.of(name)}: {self.of(part)}" for name, part in value.items())
                + "}"
            )
        # Named tuples come before tuples, of which they are a subclass.
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._call(type(value), zip(value._fields, value, strict=True))
        if isinstance(value, list):
            return "[" + ", ".join(map(self.of, value)) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.of(part)}, " for part in value).rstrip() + ")"
        return self._call(type(value), _arguments(value))

    def name(self, module: str, name: str) -> str:
        """Add an import, and return the imported name.

        Parameters
        ----------
        module : str
            Module.
        name : str
            Name in the module.
        """
        self.imports.setdefault(module, set()).add(name)
        return name

    def lines(self) -> Iterator[str]:
        """Yield the import lines that the expressions need."""
        for module, names in sorted(self.imports.items()):
            yield f"from {module} import {', '.join(sorted(names))}"

    def _array(self, value: np.ndarray[Any, Any]) -> str:
        kind = "" if value.dtype == np.float64 else f", dtype={str(value.dtype)!r}"
        shape = f".reshape({value.shape})" if value.size == 0 else ""
        return f"{self.name('numpy', 'array')}({self.of(value.tolist())}{kind}){shape}"

    def _call(self, kind: type, parts: Any) -> str:
        arguments = ", ".join(f"{name}={self.of(part)}" for name, part in parts)
        return f"{self.name(kind.__module__, kind.__qualname__)}({arguments})"


def reproduction(a: Statement, b: Statement, data: Any, reading: str) -> str:
    """Return lines of Python that print both exact optima at an instance.

    If the data have no expression, a comment is returned.

    Parameters
    ----------
    a, b : str or callable
        Problems.
    data : object
        Instance.
    reading : str
        Interpretation of the floats.

    Returns
    -------
    str
        Lines of Python.
    """
    code = Code()
    try:
        expression = code.of(data)
    except ValueError as reason:
        return f"# {reason}: draw the data with the strategy and the seed"
    statements = [
        repr(problem)
        if isinstance(problem, str)
        else code.name(_module(problem), name_statement(problem))
        for problem in (a, b)
    ]
    called = code.name("equimargin.equivalence", "exact_value")
    modules = {REGISTRY[id].module for id in (a, b) if isinstance(id, str) and id in REGISTRY}
    registered = [
        f"import {module}" for module in sorted(modules) if not module.startswith("equimargin.")
    ]
    calls = [f"print({called}({statement}, data, {reading!r}))" for statement in statements]
    return "\n".join([*registered, *code.lines(), f"data = {expression}", *calls])


def _module(statement: Any) -> str:
    return str(getattr(statement, "__module__", "__main__"))


def _arguments(value: Any) -> list[tuple[str, Any]]:
    """Return an object's arguments that differ from their defaults.

    Its class must store each argument under the argument's name.

    Raises
    ------
    ValueError
        If it is an object of another kind.
    """
    if type(value).__module__ == "builtins":
        raise ValueError(f"no expression is known for {type(value).__name__}")
    try:
        parameters = signature(type(value)).parameters.values()
        given = [(parameter, getattr(value, parameter.name)) for parameter in parameters]
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"no expression is known for {type(value).__name__}") from None
    return [(parameter.name, part) for parameter, part in given if not _default(parameter, part)]


def _default(parameter: Parameter, value: Any) -> bool:
    """Return True if an argument has its default value."""
    return value is parameter.default or bool(np.ndim(value) == 0 and value == parameter.default)
