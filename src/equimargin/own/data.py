"""Data of a user-defined family: read from a file, or drawn from its strategy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations import Family
from equimargin.formulations.declarations.family import program_families
from equimargin.formulations.declarations.program_problem import ProgramProblem, described
from equimargin.formulations.numeric.archive import Archive
from equimargin.formulations.numeric.arguments import format_error


def match_families(patterns: Sequence[str]) -> list[Family[ProgramProblem]]:
    """The families of which nothing but the data is known that any of the patterns names; in the order in which they were entered."""
    return [
        family
        for id, family in program_families().items()
        if any(fnmatchcase(id.lower(), pattern.lower()) for pattern in patterns)
    ]


def list_family_names() -> str:
    """The ids of all families of which nothing but the data is known, for a sentence."""
    return ", ".join(program_families())


def load_problem(
    family: Family[ProgramProblem], file: str | None, seed: int | None
) -> tuple[ProgramProblem, str]:
    """A problem of a family at the data of a file or of a seed, and how the data were got, in a clause.

    Raises
    ------
    ValueError
        Neither or both are given; data that cannot be drawn or read, with the reason.
    """
    if (file is None) == (seed is None):
        raise ValueError(f"the family {family.id} needs data: a file, or --draw SEED to draw some")
    if seed is not None:
        from equimargin.own.instances import drawn

        data, how = drawn(family, seed), f"drawn with seed {seed}"
    else:
        assert file is not None
        data, how = (
            (read(file) if family.load is None else _loaded(family, file)),
            f"read from {file}",
        )
    return family(data), f"{family.id}, {how}: {described(data)}"


def in_json(data: Any) -> str:
    """Data as a JSON file holds them: a mapping of numbers and arrays; other data in a line."""
    try:
        return json.dumps(data, default=lambda array: array.tolist())
    except (TypeError, AttributeError):
        return described(data)


def _loaded(family: Family[ProgramProblem], file: str) -> Any:
    """The data that the family's own function makes of a file."""
    assert family.load is not None
    try:
        return family.load(file)
    except (OSError, ValueError):
        raise
    except Exception as failure:  # somebody else's function may fail in any way
        raise ValueError(
            f"{family.id} cannot read {file}: {type(failure).__name__}: {failure}"
        ) from failure


def read(file: str | Path) -> dict[str, Any]:
    """Numbers and arrays by name, of a JSON object or of an NPZ archive without pickles.

    Raises
    ------
    ValueError
        A file that holds none of these, with the reason.
    FileNotFoundError
        No file.
    """
    path = Path(file)
    try:
        if path.suffix == ".npz":
            found: Any = dict(Archive(path.read_bytes()))
        elif path.suffix == ".json":
            found = json.loads(path.read_text(encoding="utf-8"))
        else:
            raise ValueError(
                "a file of names and numbers ends in .json or .npz; any other needs "
                "family(..., load=function)"
            )
        if not isinstance(found, Mapping):
            raise ValueError("it holds no object, whose names are those of the data")
        return {str(name): _number(name, value) for name, value in found.items()}
    except FileNotFoundError:
        raise
    except Exception as reason:  # JSON and NumPy fail in many ways
        raise ValueError(f"{file} cannot be read: {format_error(reason)}") from None


def _number(name: Any, value: Any) -> Any:
    """A number, a text, or an array of the numbers of nested lists."""
    if not isinstance(value, list | np.ndarray):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is no array of numbers")
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    return array if array.ndim else array.item()
