"""Instances that can be made smaller: what a problem was made with, by name, how it is made of it, and which axes belong together."""

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
"""What makes another value of one."""
Axis = tuple[tuple[str, int], ...]
"""Axes that are shortened together: names of arguments, each with the number of its axis."""
POINTS = ("y", "sample_weight", "qid")
"""The arguments with a number for every point."""
CONSTRUCTORS = (
    *("classification", "regression", "ranking", "ranking_from_pairs"),
    *("ordinal", "one_norm_classification", "one_norm_ranking", "ranking_vector_machine"),
)
"""The functions of `equimargin.formulations` that make problems of rows of features."""
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
"""Arguments that may be left out, for what a constructor takes then."""
DIGITS = (1, 2, 3, 4, 6)
"""Significant decimal digits to which numbers are rounded, the fewest first."""
DTYPES = ("bool", "int32", "int64", "float32", "float64")
"""The kinds of numbers in arrays that a file may hold."""
MOST_ENTRIES = 400
"""Entries of an array up to which each is simplified by itself."""


@dataclass(frozen=True)
class Instance:
    """A problem as the arguments that it is made with.

    Parameters
    ----------
    made_by : str
        A constructor of `equimargin.formulations`, or the id of a user-defined family.
    arguments : Mapping[str, Any]
        By name: arrays, numbers, words, a kernel, weights by query.
    module : str
        Whose import enters the family; empty for the others.
    """

    made_by: str
    arguments: Mapping[str, Any]
    module: str = ""

    @classmethod
    def of(cls, problem: AnyProblem) -> Instance:
        """The instance of a problem.

        Raises
        ------
        ValueError
            A problem that is made of something else than arrays and numbers by name.
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
        """The problem.

        Raises
        ------
        ValueError
            Arguments that make none.
        """
        if not self.module:
            try:
                made: AnyProblem = getattr(formulations, self.made_by)(**self.arguments)
            except TypeError as wrong:
                raise ValueError(str(wrong)) from None
            return made
        if self.made_by not in FAMILIES:
            raise ValueError(
                f"the family {self.made_by} is not known: name the module that enters it "
                f"(--plugin {self.module})"
            )
        posed: AnyProblem = FAMILIES[self.made_by](dict(self.arguments))
        return posed

    @cached_property
    def text(self) -> str:
        """All of it as JSON; the shorter, the simpler."""
        return json.dumps(
            {
                "made_by": self.made_by,
                "arguments": _plain(dict(self.arguments)),
                "module": self.module,
            }
        )

    @classmethod
    def from_text(cls, text: str) -> Instance:
        """What `text` says.

        Raises
        ------
        ValueError
            It says no instance.
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
        """An expression of Python that makes the problem; code : gets the imports."""
        if self.module:
            families = code.name("equimargin.formulations", "FAMILIES")
            return f"{families}[{self.made_by!r}]({code.of(dict(self.arguments))})"
        given = ", ".join(f"{name}={code.of(value)}" for name, value in self.arguments.items())
        return f"{code.name('equimargin.formulations', self.made_by)}({given})"

    @property
    def size(self) -> str:
        """How large it is, in words."""
        X = self.arguments.get("X")
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return f"{_counted(X.shape[0], 'row')} x {_counted(X.shape[1], 'column')}"
        return _counted(sum(np.size(value) for value in self.arguments.values()), "number")

    @property
    def axes(self) -> list[Axis]:
        """What can be made shorter: points, columns and pairs; of somebody's own data all axes of one length."""
        if self.module:
            return _axes_of_own(self.arguments)
        points = (("X", 0), *((name, 0) for name in POINTS if name in self.arguments))
        kernel = self.arguments.get("kernel")
        if kernel is not None and kernel.given:
            return [(*points, ("X", 1))]
        pairs = (("pairs", 0), *((name, 0) for name in ("pair_weight",) if name in self.arguments))
        return [points, *([pairs] if "pairs" in self.arguments else []), (("X", 1),)]

    def length(self, axis: Axis) -> int:
        """How long an axis is."""
        name, number = axis[0]
        return int(self.arguments[name].shape[number])

    def keeping(self, axis: Axis, kept: np.ndarray[Any, Any]) -> Instance:
        """The instance with some places of an axis; pairs of points that are left out are left out, too."""
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
        """Changes that may make it simpler: digits first, then weights, then constants."""
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
"""What makes another instance of one."""


def _without(name: str, instance: Instance) -> Instance:
    """The instance without an argument."""
    return replace(
        instance,
        arguments={other: value for other, value in instance.arguments.items() if other != name},
    )


def _changed(name: str, change: Change, instance: Instance) -> Instance:
    """The instance with another value of an argument, where it still has that one."""
    if name not in instance.arguments:
        return instance
    return replace(
        instance, arguments={**instance.arguments, name: change(instance.arguments[name])}
    )


def _axes_of_own(data: Mapping[str, Any]) -> list[Axis]:
    """Axes of arrays that may belong together: the first ones of a length, the second ones of a length, and all of a length."""
    known = [
        (name, axis)
        for name, value in data.items()
        if isinstance(value, np.ndarray)
        for axis in range(value.ndim)
    ]
    groups: dict[tuple[Any, int], list[tuple[str, int]]] = {}
    for name, axis in known:
        length = data[name].shape[axis]
        groups.setdefault((axis, length), []).append((name, axis))
        groups.setdefault(("any", length), []).append((name, axis))
    return [*dict.fromkeys(tuple(group) for group in groups.values())]


def _changes(value: Any) -> Iterator[Change]:
    """Changes that may make a value simpler: fewer digits, zeros, ones."""
    if isinstance(value, np.ndarray):
        yield from _changes_of_arrays(value)
    elif isinstance(value, float):
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
    """Changes that may make an array simpler: all its numbers with fewer digits, then each by itself."""
    of_floats = value.dtype.kind == "f"
    digits = [partial(_rounded, each) for each in DIGITS] if of_floats else []
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
    """The numbers, each rounded to `digits` significant decimal digits."""
    if not isinstance(value, np.ndarray):
        return float(f"{value:.{digits - 1}e}")
    return np.array([float(f"{number:.{digits - 1}e}") for number in value.ravel()]).reshape(
        value.shape
    )


def _at(
    place: tuple[int, ...], change: Change, value: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """An array with one number changed."""
    changed = value.copy()
    changed[place] = change(value[place])
    return changed


def _entered(name: Any, change: Change, value: dict[Any, Any]) -> dict[Any, Any]:
    """A mapping with one value changed."""
    return {**value, name: change(value[name])}


def _of_kernel(name: str, change: Change, kernel: Any) -> Kernel:
    """A kernel with one parameter changed."""
    changed: Kernel = replace(kernel, **{name: change(getattr(kernel, name))})
    return changed


def _plain(value: Any) -> Any:
    """A value in JSON: an array of numbers is its lists, beside its kind where that is not float64."""
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
    """What `_plain` made, read."""
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
