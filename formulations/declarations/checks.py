"""Checks of the data of a family, for `family(..., check=needing(X=matrix, y=classes(2), C=positive))`.

A check raises ValueError, with a sentence, at data that the family does not have.
`needing` makes one of the names that data must have and of a part for each: a function
of a value, its name and all the data, which raises ValueError. Parts of your own stand
beside those here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arguments import (
    check_number,
    check_reals,
    did_you_mean,
    format_value,
)
from equimargin.formulations.numeric.arrays import Array

Part = Callable[[Any, str, Any], object]
"""What looks at one value of the data: it gets the value, its name, and all data; it raises ValueError with a sentence."""


def needing(**parts: Part) -> Callable[[Any], None]:
    """The check of a mapping that has these names, each with a value of its kind, and no other names.

    Parameters
    ----------
    parts : Part
        By name, in the order in which they are looked at.
    """

    def check(data: Any) -> None:
        names = ", ".join(parts)
        if not isinstance(data, Mapping):
            raise ValueError(f"they must be a mapping with {names}, not {format_value(data)}")
        missing = [
            name
            for name, part in parts.items()
            if name not in data and not isinstance(part, Optional)
        ]
        if missing:
            raise ValueError(f"they lack {' and '.join(missing)}; they are {names}")
        unknown = [name for name in data if name not in parts]
        if unknown:
            raise ValueError(
                f"they have {format_value(unknown[0])}, and are "
                f"{names}{did_you_mean(str(unknown[0]), list(parts))}"
            )
        for name, part in parts.items():
            if name in data:
                part(data[name], name, data)

    return check


@dataclass(frozen=True)
class Optional:
    """A part whose name may be left out of the data."""

    part: Part

    def __call__(self, value: Any, name: str, data: Mapping[str, Any]) -> None:
        """Look at the value where it is there."""
        self.part(value, name, data)


def matrix(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """A part: finite numbers, a row for every point and a column for every feature, and one of each at least."""
    found = _numbers(value, name)
    if found.ndim != 2 or found.size == 0:
        raise ValueError(
            f"{name} must be of a row for every point and a column for every feature, and "
            f"is of shape {np.shape(value)}"
        )
    return found


def vector(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """A part: finite numbers in a row, one at least."""
    found = _numbers(value, name)
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"{name} must be numbers in a row, and is of shape {np.shape(value)}")
    return found


def targets(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """A part: a finite number for every row of X."""
    found, m = _numbers(value, name), len(data["X"])
    if found.shape != (m,):
        raise ValueError(
            f"{name} must be {m} numbers, one for every row of X, and is of shape {np.shape(value)}"
        )
    return found


def classes(k: int | None = None) -> Part:
    """A part: the class of every row of X.

    Parameters
    ----------
    k : int | None
        Number of classes, which are 0, ..., k - 1; by default as many as there are, so
        that each has a row.
    """
    wanted = "counted from 0 without a gap" if k is None else " or ".join(map(str, range(k)))

    def check(value: Any, name: str, data: Mapping[str, Any]) -> None:
        found = np.unique(targets(value, name, data))
        wrong = found[~np.isin(found, np.arange(len(found) if k is None else k))]
        if len(wrong):
            raise ValueError(f"{name} must hold classes, {wanted}, and holds {wrong[0]:g}")

    return check


def real(wanted: str, accepted: Callable[[float], bool]) -> Part:
    """A part: one number.

    Parameters
    ----------
    wanted : str
        What it must be, in words, as "a number above 0 and below 1".
    accepted : Callable[[float], bool]
        Whether a float is that.
    """

    def check(value: Any, name: str, data: Mapping[str, Any]) -> None:
        check_number(value, name, wanted, accepted)

    return check


positive = real("a positive finite number", lambda v: 0 < v < np.inf)
"""A part: a number above 0, as a cost or a penalty."""
share = real("a number above 0 and at most 1", lambda v: 0 < v <= 1)
"""A part: a share of the points, as nu."""


def _numbers(value: Any, name: str) -> Array:
    """A numpy array of finite numbers: functions of families compute with it as it is."""
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{name} must be a numpy array, not a {type(value).__name__}")
    found = check_reals(value, name)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must hold finite numbers")
    return found
