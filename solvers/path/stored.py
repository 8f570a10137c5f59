"""Checks of a path's file: its arrays fit each other, and its JSON fields have their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.solvers.problem_file import is_number


def check_arrays(
    arrays: Mapping[str, NDArray[Any]],
    kinds: Mapping[str, str],
    shapes: Mapping[str, tuple[int, ...]],
    ends: Mapping[str, int],
    starts: str,
    parts: int,
) -> None:
    """Raise ValueError if arrays of a file do not fit each other, or lambdas increase.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays by name.
    kinds : mapping of str to str
        Types: "f" for float64, "i" for integers of any length, "b" for bool.
    shapes : mapping of str to tuple
        Shapes.
    ends : mapping of str to int
        Ends of indices, which begin at 0.
    starts : str
        Name of the array with the starts of consecutive parts, and last their end.
    parts : int
        Number of entries of all parts.
    """
    for name, shape in shapes.items():
        values, kind = arrays[name], kinds[name]
        if values.shape != shape:
            raise ValueError(f"{name} is of shape {values.shape}, not {shape}")
        if values.dtype.kind != kind or (kind == "f" and values.dtype != np.float64):
            raise ValueError(f"{name} is of type {values.dtype}")
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite")
    lambdas, first = arrays["lambdas"], arrays[starts]
    if not (np.diff(lambdas) <= 0).all() or (lambdas < 0).any():
        raise ValueError("lambdas do not decrease")
    # Differences of integers could overflow.
    if first[0] != 0 or first[-1] != parts or (first[1:] < first[:-1]).any():
        raise ValueError(f"{starts} must go from 0 to {parts} without a decrease")
    for name, end in ends.items():
        if not ((arrays[name] >= 0) & (arrays[name] < end)).all():
            raise ValueError(f"{name} must be in 0 .. {end - 1}")


def read_fields(words: Mapping[str, Any], *numbers: str) -> dict[str, Any]:
    """Return the fields `stopped` and `complete` of a file, and some finite numbers.

    Parameters
    ----------
    words : mapping of str to Any
        JSON data of the file.
    *numbers : str
        Names of the numbers.

    Raises
    ------
    ValueError
        If a field has another type.
    """
    fields = {name: words[name] for name in (*numbers, "stopped", "complete")}
    for name in numbers:
        if not (is_number(fields[name]) and np.isfinite(fields[name])):
            raise ValueError(f"{name} is no finite number: {fields[name]!r}")
    if not isinstance(fields["stopped"], str) or not isinstance(fields["complete"], bool):
        raise ValueError("stopped must be a string, and complete true or false")
    return fields
