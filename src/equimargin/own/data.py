"""Data of a user-defined family, read from a file or sampled from its strategy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations import Family
from equimargin.formulations.declarations.family import program_families
from equimargin.formulations.declarations.program_problem import ProgramProblem, described
from equimargin.formulations.numeric.archive import Archive
from equimargin.formulations.numeric.arguments import format_error, matches_any


def match_families(patterns: Sequence[str]) -> list[Family[ProgramProblem]]:
    """Return the families of programs that match any pattern, in order of registration.

    Parameters
    ----------
    patterns : sequence of str
        Ids, or patterns with * and ?.

    Returns
    -------
    list of Family
        Families.
    """
    return [family for id, family in program_families().items() if matches_any(id, patterns)]


def list_family_names() -> str:
    """Return the ids of all families of programs, separated by commas."""
    return ", ".join(program_families())


def load_problem(
    family: Family[ProgramProblem], file: str | None, seed: int | None
) -> tuple[ProgramProblem, str]:
    """Make a problem of a family from a file or a seed, and describe its data.

    Parameters
    ----------
    family : Family[ProgramProblem]
        Family of the problem.
    file : str or None
        File of the data; None with a seed.
    seed : int or None
        Seed of the data; None with a file.

    Returns
    -------
    tuple of (ProgramProblem, str)
        Problem, and a phrase on its data.

    Raises
    ------
    ValueError
        If the data cannot be sampled or read.
    """
    if seed is not None:
        from equimargin.own.instances import drawn

        data, how = drawn(family, seed), f"sampled with seed {seed}"
    else:
        assert file is not None
        data, how = (
            (read(file) if family.load is None else _loaded(family, file)),
            f"read from {file}",
        )
    return family(data), f"{family.id}, {how}: {described(data)}"


def in_json(data: Any) -> str:
    """Format data as a JSON file; other data than numbers and arrays as one line.

    Parameters
    ----------
    data : object
        Data of a family.

    Returns
    -------
    str
        Text.
    """
    try:
        return json.dumps(data, default=lambda array: array.tolist())
    except (TypeError, AttributeError):
        return described(data)


def _loaded(family: Family[ProgramProblem], file: str) -> Any:
    """Return the data that the family's own function reads from a file."""
    assert family.load is not None
    try:
        return family.load(file)
    except (OSError, ValueError):
        raise
    # A user-defined function may raise any exception.
    except Exception as failure:
        raise ValueError(
            f"{family.id} cannot read {file}: {type(failure).__name__}: {failure}"
        ) from failure


def read(file: str | Path) -> dict[str, Any]:
    """Read numbers and arrays by name from a JSON object, or from an NPZ file without pickles.

    Parameters
    ----------
    file : str or Path
        Name ending in .json or .npz.

    Returns
    -------
    dict
        Values by name.

    Raises
    ------
    ValueError
        If the file does not contain such values, with the reason.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(file)
    try:
        if path.suffix == ".npz":
            content: Any = dict(Archive(path.read_bytes()))
        elif path.suffix == ".json":
            content = json.loads(path.read_text(encoding="utf-8"))
        else:
            raise ValueError(
                "a file of names and numbers ends in .json or .npz; any other needs "
                "family(..., load=function)"
            )
        if not isinstance(content, Mapping):
            raise ValueError("it has no JSON object with the names of the data")
        return {str(name): _number(name, value) for name, value in content.items()}
    except FileNotFoundError:
        raise
    # JSON and NumPy raise many exceptions.
    except Exception as reason:
        raise ValueError(f"{file} cannot be read: {format_error(reason)}") from None


def _number(name: Any, value: Any) -> Any:
    """Return a number or a text unchanged, and nested lists of numbers as an array."""
    if not isinstance(value, list | np.ndarray):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is no array of numbers")
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    return array if array.ndim else array.item()
