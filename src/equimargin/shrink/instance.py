"""Instances that can be minimised: constructor, arguments and their common axes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from equimargin import formulations
from equimargin.equivalence.reproduction import Code
from equimargin.formulations import Kernel, MarginProblem, OneNormProblem
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.kernels.registry import kernel_class
from equimargin.formulations.problem.arguments import read_arguments
from equimargin.formulations.problem.base import AnyProblem

Change = Callable[[Any], Any]
"""Function that returns a simpler value."""
Axis = tuple[tuple[str, int], ...]
"""Axes that are shortened jointly: pairs of argument name and axis number."""
POINTS = ("y", "sample_weight", "qid")
"""Arguments with one number per point."""
CONSTRUCTORS = (
    *("classification", "regression", "ranking", "ranking_from_pairs"),
    *("ordinal", "one_norm_classification", "one_norm_ranking", "ranking_vector_machine"),
    "one_norm_ranking_from_pairs",
)
"""Functions of `equimargin.formulations` that make problems from rows of features."""
OPTIONAL = (
    "sample_weight",
    "query_weight",
    "pair_weight",
    "qid",
    "kernel",
    "C",
    "epsilon",
    "loss",
    "bias",
    "delta",
    "levels",
)
"""Arguments that may be omitted, for the constructor's default."""
DIGITS = (1, 2, 3, 4, 6)
"""Numbers of significant decimal digits for rounding, ascending."""
DTYPES = ("bool", "int32", "int64", "float32", "float64")
"""Types of arrays that a file may contain."""
MOST_ENTRIES = 400
"""Maximum number of entries of an array that are simplified one by one."""


@dataclass(frozen=True)
class Instance:
    """Problem as a constructor and its arguments.

    Parameters
    ----------
    made_by, module : str
        Constructor of `equimargin.formulations`, or id of a user-defined family and the
        module that registers it. The module of built-in families is empty.
    arguments : mapping of str
        Arrays, numbers, strings, a kernel, weights by query.
    """

    made_by: str
    arguments: Mapping[str, Any]
    module: str = ""

    @classmethod
    def of(cls, problem: AnyProblem) -> Instance:
        """Return the instance of a problem.

        Parameters
        ----------
        problem : AnyProblem
            Problem.

        Raises
        ------
        ValueError
            If the problem's data are not named arrays and numbers.
        """
        if isinstance(problem, ProgramProblem):
            if not isinstance(problem.data, dict):
                raise ValueError(
                    f"the data of {problem.family} are no mapping of numbers and arrays by "
                    f"name, and cannot be made smaller"
                )
            return cls(problem.family, problem.data, problem.module)
        assert isinstance(problem, MarginProblem | OneNormProblem)
        return cls(*read_arguments(problem))

    def problem(self) -> AnyProblem:
        """Return the problem.

        Raises
        ------
        ValueError
            If the arguments are invalid.
        """
        if not self.module:
            try:
                problem: AnyProblem = getattr(formulations, self.made_by)(**self.arguments)
            except TypeError as wrong:
                raise ValueError(str(wrong)) from None
            return problem
        if self.made_by not in FAMILIES:
            raise ValueError(
                f"the family {self.made_by} is not known: name the module that registers it "
                f"(--plugin {self.module})"
            )
        program: AnyProblem = FAMILIES[self.made_by](dict(self.arguments))
        return program

    @cached_property
    def text(self) -> str:
        """Instance as JSON; a shorter text is a simpler instance."""
        return json.dumps(
            {
                "made_by": self.made_by,
                "arguments": _plain(dict(self.arguments)),
                "module": self.module,
            }
        )

    @classmethod
    def from_text(cls, text: str) -> Instance:
        """Read the JSON of `text`.

        Parameters
        ----------
        text : str
            JSON.

        Raises
        ------
        ValueError
            If the text contains no instance.
        """
        held = json.loads(text)
        made_by, module = str(held["made_by"]), str(held["module"])
        if not module and made_by not in CONSTRUCTORS:
            raise ValueError(f"{made_by} makes no problem")
        arguments = _read(held["arguments"])
        if not (isinstance(arguments, dict) and all(isinstance(name, str) for name in arguments)):
            raise ValueError("its arguments have no names")
        return cls(made_by, arguments, module)

    def expression(self, code: Code) -> str:
        """Return a Python expression that makes the problem.

        Parameters
        ----------
        code : Code
            Collects the imports.
        """
        if self.module:
            families = code.name("equimargin.formulations", "FAMILIES")
            return f"{families}[{self.made_by!r}]({code.of(dict(self.arguments))})"
        arguments = ", ".join(f"{name}={code.of(value)}" for name, value in self.arguments.items())
        return f"{code.name('equimargin.formulations', self.made_by)}({arguments})"

    @property
    def size(self) -> str:
        """Size of the instance, as text."""
        X = self.arguments.get("X")
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return f"{_counted(X.shape[0], 'row')} x {_counted(X.shape[1], 'column')}"
        return _counted(sum(np.size(value) for value in self.arguments.values()), "number")

    @property
    def axes(self) -> list[Axis]:
        """Axes that can be shortened: points, columns and pairs.

        For a user-defined family, all axes of equal length.
        """
        if self.module:
            return _axes_of_own(self.arguments)
        points = (("X", 0), *((name, 0) for name in POINTS if name in self.arguments))
        kernel = self.arguments.get("kernel")
        if kernel is not None and kernel.given:
            return [(*points, ("X", 1))]
        pairs = (("pairs", 0), *((name, 0) for name in ("pair_weight",) if name in self.arguments))
        return [points, *([pairs] if "pairs" in self.arguments else []), (("X", 1),)]

    def length(self, axis: Axis) -> int:
        """Return the length of an axis.

        Parameters
        ----------
        axis : tuple
            Axis.
        """
        name, number = axis[0]
        return int(self.arguments[name].shape[number])

    def keeping(self, axis: Axis, kept: np.ndarray[Any, Any]) -> Instance:
        """Return the instance restricted to some places of an axis.

        Pairs with an excluded point are excluded, too.

        Parameters
        ----------
        axis : tuple
            Axis.
        kept : ndarray of int
            Places to keep.
        """
        arguments = dict(self.arguments)
        if ("X", 0) in axis and "pairs" in arguments:
            place = np.full(self.length(axis), -1)
            place[kept] = np.arange(len(kept))
            moved = place[arguments["pairs"]]
            whole = (moved >= 0).all(axis=1)
            arguments["pairs"] = moved[whole]
            if "pair_weight" in arguments:
                arguments["pair_weight"] = arguments["pair_weight"][whole]
        for name, number in axis:
            arguments[name] = np.take(arguments[name], kept, axis=number)
        if "query_weight" in arguments:
            named = set(arguments["qid"].tolist()) if "qid" in arguments else {0}
            arguments["query_weight"] = {
                name: weight for name, weight in arguments["query_weight"].items() if name in named
            }
        return replace(self, arguments=arguments)

    def edits(self) -> Iterator[Edit]:
        """Yield changes that may simplify the instance: digits first, then the rest."""
        arrays = [name for name, value in self.arguments.items() if isinstance(value, np.ndarray)]
        others = [name for name in self.arguments if name not in arrays]
        for name in sorted(arrays, key=lambda name: "weight" in name) + sorted(
            others, key=lambda name: "weight" not in name
        ):
            if not self.module and name in OPTIONAL:
                yield partial(_without, name)
            yield from (
                partial(_changed, name, change) for change in _changes(self.arguments[name])
            )


Edit = Callable[[Instance], Instance]
"""Function that returns a simpler instance."""


def _without(name: str, instance: Instance) -> Instance:
    """Return the instance without an argument."""
    return replace(
        instance,
        arguments={other: value for other, value in instance.arguments.items() if other != name},
    )


def _changed(name: str, change: Change, instance: Instance) -> Instance:
    """Return the instance with a changed argument, if it still has that argument."""
    if name not in instance.arguments:
        return instance
    return replace(
        instance, arguments={**instance.arguments, name: change(instance.arguments[name])}
    )


def _axes_of_own(data: Mapping[str, Any]) -> list[Axis]:
    """Return the axes of arrays that may belong together.

    They are first axes of equal length, second axes of equal length, and all axes of
    equal length.
    """
    axes = [
        (name, axis)
        for name, value in data.items()
        if isinstance(value, np.ndarray)
        for axis in range(value.ndim)
    ]
    groups: dict[tuple[Any, int], list[tuple[str, int]]] = {}
    for name, axis in axes:
        length = data[name].shape[axis]
        groups.setdefault((axis, length), []).append((name, axis))
        groups.setdefault(("any", length), []).append((name, axis))
    return [*dict.fromkeys(tuple(group) for group in groups.values())]


def _changes(value: Any) -> Iterator[Change]:
    """Yield changes that may simplify a value: fewer digits, zeros, ones."""
    if isinstance(value, np.ndarray):
        yield from _changes_of_arrays(value)
    elif isinstance(value, float):
        # Constants come first: they simplify more than rounding does.
        yield from (partial(_constant, number) for number in (1.0, 0.0))
        yield from (partial(_rounded, digits) for digits in DIGITS)
    elif isinstance(value, dict):
        yield from (
            partial(_entered, name, change)
            for name, part in value.items()
            for change in _changes(part)
        )
    elif isinstance(value, Kernel):
        yield from (
            partial(_of_kernel, name, change)
            for name, part in vars(value).items()
            for change in _changes(part)
        )


def _changes_of_arrays(value: np.ndarray[Any, Any]) -> Iterator[Change]:
    """Yield changes that may simplify an array: all numbers rounded, then each one."""
    of_floats = value.dtype.kind == "f"
    digits = [partial(_rounded, count) for count in DIGITS] if of_floats else []
    yield from digits
    if value.size <= MOST_ENTRIES and value.dtype.kind in "fiu":
        for place in np.ndindex(value.shape):
            yield from (partial(_at, place, partial(_constant, number)) for number in (0, 1))
            yield from (partial(_at, place, change) for change in digits)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _constant(number: float, _: Any) -> float:
    return number


def _rounded(digits: int, value: Any) -> Any:
    """Round numbers to `digits` significant decimal digits."""
    if not isinstance(value, np.ndarray):
        return float(f"{value:.{digits - 1}e}")
    return np.array([float(f"{number:.{digits - 1}e}") for number in value.ravel()]).reshape(
        value.shape
    )


def _at(
    place: tuple[int, ...], change: Change, value: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return an array with one number changed."""
    changed = value.copy()
    changed[place] = change(value[place])
    return changed


def _entered(name: Any, change: Change, value: dict[Any, Any]) -> dict[Any, Any]:
    """Return a mapping with one value changed."""
    return {**value, name: change(value[name])}


def _of_kernel(name: str, change: Change, kernel: Any) -> Kernel:
    """Return a kernel with one parameter changed."""
    changed: Kernel = replace(kernel, **{name: change(getattr(kernel, name))})
    return changed


def _plain(value: Any) -> Any:
    """Convert a value to JSON; an array becomes nested lists with dtype and shape."""
    if isinstance(value, np.ndarray):
        nested = _plain(value.tolist())
        return {"array": nested, "dtype": value.dtype.name, "shape": list(value.shape)}
    if isinstance(value, Kernel):
        return {"kernel": value.name, "given": _plain(vars(value))}
    if isinstance(value, dict):
        return {"names": [*value], "values": [_plain(part) for part in value.values()]}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    return value


def _read(value: Any) -> Any:
    """Convert the JSON of `_plain` to a value."""
    if isinstance(value, list):
        return [_read(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "array" in value:
        if value["dtype"] not in DTYPES:
            raise ValueError(f"an array of {value['dtype']} holds no numbers")
        return np.array(_read(value["array"]), dtype=value["dtype"]).reshape(value["shape"])
    if "kernel" in value:
        kind = kernel_class(value["kernel"])
        return kind(**_read(value["given"]))
    return dict(zip(value["names"], _read(value["values"]), strict=True))
