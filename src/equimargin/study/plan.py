"""Plan of a study: its TOML file, checked key by key.

    [study]
    time_limit = 30

    [grid]
    C = [0.1, 1, 10]
    family = ["svm.soft", "svm.l2"]

    [[data]]
    source = "iris"

    [[kernel]]
    name = "rbf"
    gamma = [0.1, 1.0]

An error message names the file, the table and the key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from equimargin.data.loaded import CATEGORICAL
from equimargin.data.sets import SET_NAMES
from equimargin.formulations.kernels.registry import KERNELS, called, list_parameters
from equimargin.formulations.numeric.arguments import check_number, did_you_mean, format_value
from equimargin.formulations.problem.choices import TASKS
from equimargin.request import ComparisonRequest

Read = Callable[[object, str], Any]
"""Reader of the value of a key; raises ValueError with a message about the key."""

MOST_KERNELS = 10_000
"""Maximum number of kernels of one table: three short lists could exceed the memory."""
EPSILON = 0.1
"""Default half width of a regression's tube, in the units of the target."""
USUAL = ComparisonRequest(tol=1e-6)
"""Default formulations, solvers, tolerance and time limit."""


class PlanError(ValueError):
    """A plan is invalid: the file, the table, the key, and what is wrong."""


@dataclass(frozen=True)
class DataPlan:
    """One data set of a study.

    Parameters
    ----------
    source : str
        Bundled name, or path of a file.
    task : str or None
        Learning task; None infers it from the data.
    sample : int or None
        Number of rows sampled by each seed; None takes all.
    scale : bool
        True if features are scaled.
    epsilon : float or None
        Half width of the tube of a regression; None is EPSILON.
    how : mapping
        Keyword arguments of `data.load`.
    """

    source: str
    task: str | None = None
    sample: int | None = None
    scale: bool = False
    epsilon: float | None = None
    how: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KernelPlan:
    """Kernel of a study: its name and its given parameters."""

    name: str = "linear"
    given: Mapping[str, float | str] = field(default_factory=dict)

    def __str__(self) -> str:
        # With all digits, because the tables of a study tell kernels apart by this text.
        parameters = ", ".join(
            f"{name}={str(value).removesuffix('.0')}" for name, value in self.given.items()
        )
        return f"{self.name}({parameters})" if parameters else self.name


@dataclass(frozen=True)
class Plan:
    """Request of a study: all valid combinations of its lists.

    Parameters
    ----------
    name : str
        Name of the study.
    text : str
        Text of the file.
    data : tuple of DataPlan
        Data sets.
    kernels : tuple of KernelPlan
        Kernels.
    costs, seeds
        Values of C, and seeds of samples.
    families : tuple of str
        Names or patterns with * and ?.
    request : ComparisonRequest
        Formulations, solvers, tolerance and time limit of the answers.
    plugins : tuple of str
        Modules that every process loads first.
    file : str
        File from which the plan was read, for error messages.
    """

    name: str
    text: str
    data: tuple[DataPlan, ...]
    kernels: tuple[KernelPlan, ...] = (KernelPlan(),)
    costs: tuple[float, ...] = (1.0,)
    seeds: tuple[int, ...] = (0,)
    families: tuple[str, ...] = ("*",)
    request: ComparisonRequest = USUAL
    plugins: tuple[str, ...] = ()
    file: str = ""

    @property
    def where(self) -> str:
        """Name of the plan in errors: its file, or the name of the study."""
        return self.file or self.name


def read_plan(file: str | Path) -> Plan:
    """Read the plan of a study from a TOML file.

    Parameters
    ----------
    file : str or Path
        Path of the file.

    Raises
    ------
    PlanError
        If the file cannot be read, is not TOML, or has an unknown table or key, or an
        invalid value.
    """
    file = Path(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
        tables = tomllib.loads(text)
    except OSError as reason:
        raise PlanError(
            f"{file} cannot be read: {reason.strerror or reason}; give the TOML file of a study"
        ) from None
    except UnicodeDecodeError:
        raise PlanError(
            f"{file} is no TOML file: it is not in UTF-8; write the plan of a study in TOML"
        ) from None
    # TOMLDecodeError, and Python's limits on digits and nested brackets.
    except (ValueError, RecursionError) as reason:
        raise PlanError(f"{file} is no TOML file: {reason}") from None
    _known(file, "", tables, ("study", "grid", "data", "kernel"), "table")
    settings = _read(file, "[study]", tables.get("study", {}), STUDY) | _read(
        file, "[grid]", tables.get("grid", {}), GRID
    )
    sets = _each(file, "data", tables.get("data"))
    if not sets:
        raise PlanError(
            f"{file}: there is no [[data]], and so nothing to study; add one with a source, "
            f'such as source = "iris"'
        )
    data = tuple(_data(file, f"[[data]] {number}", table) for number, table in enumerate(sets, 1))
    kernels = tuple(
        kernel
        for number, table in enumerate(_each(file, "kernel", tables.get("kernel")), 1)
        for kernel in _kernels(file, f"[[kernel]] {number}", table, settings.get("plugins", ()))
    )
    plugins = settings.get("plugins", ())
    settings["plugins"] = tuple(
        str((file.parent / plugin).absolute()) if plugin.endswith(".py") else plugin
        for plugin in plugins
    )
    requested = settings.keys() & vars(USUAL).keys()
    request = replace(USUAL, **{name: settings.pop(name) for name in requested})
    about = {
        "name": file.stem,
        "text": text,
        "file": str(file),
        "data": data,
        "kernels": kernels or (KernelPlan(),),
    }
    return Plan(request=request, **about | settings)


def _data(file: Path, where: str, table: Mapping[str, Any]) -> DataPlan:
    """Return the data set of a table."""
    values = _read(file, where, table, DATA)
    if "source" not in values:
        raise PlanError(
            f"{file}: {where} has no source; name a data set (`equimargin list data`) or a file"
        )
    options = {key: values.pop(key) for key in HOW if key in values}
    if values["source"] not in SET_NAMES:
        values["source"] = str((file.parent / values["source"]).absolute())
    return DataPlan(**values, how=options)


def _kernels(
    file: Path, where: str, table: Mapping[str, Any], plugins: tuple[str, ...]
) -> list[KernelPlan]:
    """Return the kernels of a table, one per combination of parameter values."""
    found = _read(file, where, table, KERNEL)
    name = found.pop("name", None)
    if name is None:
        raise PlanError(f"{file}: {where} has no name; give one of {', '.join(KERNELS)}")
    is_known = called(name) in KERNELS
    if not is_known and not plugins:
        raise PlanError(
            f"{file}: {where}: name: there is no kernel {name!r}{KERNELS.suggestion(name)}"
        )
    if is_known:
        _known(
            file, f"{where}: the kernel {name}: ", found, tuple(list_parameters(name)), "parameter"
        )
    count = prod(len(values) for values in found.values())
    if count > MOST_KERNELS:
        raise PlanError(
            f"{file}: {where} makes {count:,} kernels, and a study has {MOST_KERNELS:,} at "
            f"most; give fewer values"
        )
    return [
        KernelPlan(name, dict(zip(found, values, strict=True)))
        for values in product(*found.values())
    ]


def _each(file: Path, name: str, tables: object) -> list[Mapping[str, Any]]:
    """Return the tables of an array of tables; empty if there is none."""
    if tables is None:
        return []
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise PlanError(f"{file}: {name} must be written [[{name}]], one table for each")
    return tables


def _read(file: Path, where: str, table: object, readers: Mapping[str, Read]) -> dict[str, Any]:
    """Return the values of a table, by field name."""
    if not isinstance(table, dict):
        raise PlanError(
            f"{file}: {where} must be a table, with a line key = value for each setting"
        )
    _known(file, f"{where}: ", table, tuple(readers), "key")
    values: dict[str, Any] = {}
    for key, value in table.items():
        try:
            values[str(FIELDS.get(key, key))] = readers[key](value, key)
        except ValueError as reason:
            raise PlanError(f"{file}: {where}: {reason}") from None
    return values


def _known(
    file: Path, where: str, table: Mapping[str, Any], known: tuple[str, ...], what: str
) -> None:
    """Raise if a name is unknown."""
    for key in table:
        if key not in known:
            near = did_you_mean(key, list(known)) or f"; known: {', '.join(known) or 'none'}"
            raise PlanError(f"{file}: {where}there is no {what} {key!r}{near}")


def _checked(words: str, accepted: Callable[[Any], bool]) -> Read:
    """Return a reader of values that fulfil a condition, described by `words`."""

    def read(value: object, key: str) -> Any:
        if not accepted(value):
            raise ValueError(f"{key} must be {words}, not {format_value(value)}")
        return value

    return read


def _number(words: str, accepted: Callable[[float], bool]) -> Read:
    """Return a reader of numbers that fulfil a condition, described by `words`."""
    return lambda value, key: check_number(value, key, words, accepted)


def _whole(words: str, least: int) -> Read:
    """Return a reader of whole numbers from `least` on, described by `words`; 2.0 is one."""

    def read(value: object, key: str) -> int:
        number = check_number(
            value, key, words, lambda v: v.is_integer() and least <= v < LARGEST_WHOLE
        )
        return int(number)

    return read


def _gamma(value: object, key: str) -> float | str:
    """Read gamma: a number, or one of scikit-learn's words."""
    if isinstance(value, str) and value in ("scale", "auto"):
        return value
    words = 'a positive, finite number, "scale" or "auto"'
    return check_number(value, key, words, lambda v: 0 < v < float("inf"))


def _one_of(*names: str) -> Read:
    """Return a reader of one of several names."""
    return _checked(f"one of {', '.join(names)}", lambda value: value in names)


def _several(read: Read) -> Read:
    """Return a reader of one value, or of a nonempty list; duplicates are removed."""

    def read_all(value: object, key: str) -> tuple[Any, ...]:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise ValueError(f"{key} must be a value or a list of them, with one at least, not []")
        return tuple(dict.fromkeys(read(entry, key) for entry in values))

    return read_all


LARGEST_WHOLE = 2**32
"""Exclusive upper bound of whole numbers, that of numpy's seeds.

No data set has as many rows.
"""
TEXT = _checked("a text", lambda value: isinstance(value, str) and value != "")
WORD = _checked("a text", lambda value: isinstance(value, str))
TRUTH = _checked("true or false", lambda value: isinstance(value, bool))
POSITIVE = _number("a positive, finite number", lambda v: 0 < v < float("inf"))
COST = _number("a positive number, or inf for hard margins", lambda v: v > 0)
NOT_NEGATIVE = _number("a finite number, at least 0", lambda v: 0 <= v < float("inf"))
FINITE = _number("a finite number", lambda v: abs(v) < float("inf"))

STUDY: Mapping[str, Read] = {
    "name": TEXT,
    "tol": POSITIVE,
    "time_limit": POSITIVE,
    "plugins": _several(TEXT),
}
"""Readers of the keys of [study]."""
GRID: Mapping[str, Read] = {
    "C": _several(COST),
    "seed": _several(_whole("a whole number from 0 to 4294967295", 0)),
    "family": _several(TEXT),
    "formulation": _several(TEXT),
    "solver": _several(TEXT),
}
"""Readers of the keys of [grid]."""
FIELDS = {
    "C": "costs",
    "seed": "seeds",
    "family": "families",
    "formulation": "formulations",
    "solver": "solvers",
}
"""Field names of keys of [grid]."""
HOW: Mapping[str, Read] = {
    "target": TEXT,
    "query": WORD,
    "weight": WORD,
    "drop": _several(TEXT),
    "header": TRUTH,
    "sep": TEXT,
    "decimal": _one_of(".", ","),
    "missing": _one_of("drop", "mean"),
    "na": _several(WORD),
    "categorical": _one_of(*CATEGORICAL),
    "best": _one_of("highest", "lowest"),
}
"""Readers of the keys of [[data]] that are options of `data.load`."""
DATA: Mapping[str, Read] = {
    "source": TEXT,
    "task": _one_of(*TASKS),
    "sample": _whole("a whole number of rows from 1 to 4294967295", 1),
    "scale": TRUTH,
    "epsilon": NOT_NEGATIVE,
    **HOW,
}
"""Readers of the keys of [[data]]."""
KERNEL: Mapping[str, Read] = {
    "name": TEXT,
    "gamma": _several(_gamma),
    "degree": _several(_whole("a whole number, at least 1", 1)),
    "coef0": _several(FINITE),
}
"""Readers of the keys of [[kernel]]."""
