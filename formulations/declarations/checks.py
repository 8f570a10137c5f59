"""Checks of a family's data, such as `needing(X=matrix, y=classes(2), C=positive)`.

A check is passed as `Family(..., check=...)`, and raises ValueError, with a sentence,
for invalid data. `needing` makes a check from the names that data must have and one
part for each name: a function of a value, its name and all the data, which raises
ValueError. User-defined parts can be combined with the parts of this module.
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
"""Check of one value of the data, called with the value, its name, and all data.

It raises ValueError with a sentence.
"""


def needing(**parts: Part) -> DataCheck:
    """Return the check of a mapping with exactly these names.

    It also tells how the data are read from a table (`equimargin.own.tables`).

    Parameters
    ----------
    **parts : Part
        Checks of the values by name, in the order in which they are called.

    Returns
    -------
    DataCheck
        Check of data, which raises ValueError.
    """
    return DataCheck(parts)


@dataclass(frozen=True)
class DataCheck:
    """Check of a mapping with exactly the names of its parts.

    Parameters
    ----------
    parts : mapping of str to Part
        Checks of the values by name, in the order in which they are called.
    """

    parts: Mapping[str, Part]

    def __call__(self, data: Any) -> None:
        """Check data.

        Parameters
        ----------
        data : object
            Data of a family.

        Raises
        ------
        ValueError
            If they are no such mapping, or a part rejects its value.
        """
        # The first fault raises: type, missing names, unknown names, then values.
        parts, names = self.parts, ", ".join(self.parts)
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


@dataclass(frozen=True)
class Optional:
    """Check of a value that the data may lack.

    Parameters
    ----------
    part : Part
        Check of the value if it is present.
    """

    part: Part

    def __call__(self, value: Any, name: str, data: Mapping[str, Any]) -> None:
        """Check the value of a name that is present.

        Parameters
        ----------
        value : object
            Value of the name.
        name : str
            Name in the data.
        data : mapping
            All data.
        """
        self.part(value, name, data)


@dataclass(frozen=True)
class Labels:
    """Part of the labels of the rows, with the task by which a table is read.

    Parameters
    ----------
    task : {"classification", "ordinal"}
        "classification" for classes in any order, "ordinal" for levels; both are
        counted from 0.
    part : Part
        Check of the labels.
    most : int or None
        Maximum number of classes; None for any number.
    """

    task: str
    part: Part
    most: int | None = None

    def __call__(self, value: Any, name: str, data: Mapping[str, Any]) -> None:
        """Check labels.

        Parameters
        ----------
        value : object
            Labels.
        name : str
            Name in the data.
        data : mapping
            All data.
        """
        self.part(value, name, data)


@dataclass(frozen=True)
class KernelPoints:
    """Part of points that enter a problem through their inner products alone.

    A kernel may therefore give these: see `equimargin.own.tables`.
    """

    def __call__(self, value: Any, name: str, data: Mapping[str, Any]) -> None:
        """Check a matrix of finite numbers, points in rows and features in columns.

        Parameters
        ----------
        value : object
            Matrix of shape (m, d).
        name : str
            Name in the data.
        data : mapping
            All data.
        """
        matrix(value, name, data)


kernel_points = KernelPoints()
"""Check of points whose inner products may be those of a kernel."""


def matrix(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """Check a matrix of finite numbers, points in rows and features in columns, not empty.

    Parameters
    ----------
    value : ndarray of shape (m, d)
        Value of the name.
    name : str
        Name in the data.
    data : mapping
        All data.

    Returns
    -------
    ndarray of shape (m, d)
        The matrix.

    Raises
    ------
    ValueError
        If the value is no such matrix.
    """
    X = _numbers(value, name)
    if X.ndim != 2 or X.size == 0:
        raise ValueError(
            f"{name} must be a matrix with points in rows and features in columns, not of "
            f"shape {np.shape(value)}"
        )
    return X


def vector(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """Check a one-dimensional array of finite numbers, not empty.

    Parameters
    ----------
    value : ndarray of shape (n,)
        Value of the name.
    name : str
        Name in the data.
    data : mapping
        All data.

    Returns
    -------
    ndarray of shape (n,)
        The array.

    Raises
    ------
    ValueError
        If the value is no such array.
    """
    v = _numbers(value, name)
    if v.ndim != 1 or v.size == 0:
        raise ValueError(f"{name} must be a one-dimensional array, not of shape {np.shape(value)}")
    return v


def targets(value: Any, name: str, data: Mapping[str, Any]) -> Array:
    """Check a finite number for every row of X.

    Parameters
    ----------
    value : ndarray of shape (m,)
        Value of the name.
    name : str
        Name in the data.
    data : mapping
        All data, with X of shape (m, d).

    Returns
    -------
    ndarray of shape (m,)
        The targets.

    Raises
    ------
    ValueError
        If the value is no such array.
    """
    y, m = _numbers(value, name), len(data["X"])
    if y.shape != (m,):
        raise ValueError(
            f"{name} must be {m} numbers, one for every row of X, not of shape {np.shape(value)}"
        )
    return y


def classes(k: int | None = None) -> Part:
    """Return a check of the class of every row of X.

    Parameters
    ----------
    k : int or None
        Number of classes, which are 0, ..., k - 1; by default one more than the largest
        class, and each must have a row.

    Returns
    -------
    Part
        Check of the classes.
    """
    wanted = "counted from 0 without a gap" if k is None else " or ".join(map(str, range(k)))

    def check(value: Any, name: str, data: Mapping[str, Any]) -> None:
        labels = np.unique(targets(value, name, data))
        invalid = labels[~np.isin(labels, np.arange(len(labels) if k is None else k))]
        if len(invalid):
            raise ValueError(f"{name} must hold classes, {wanted}, and holds {invalid[0]:g}")

    return Labels("classification", check, k)


def signs(y: Array) -> Array:
    """Return -1 and 1 for the classes 0 and 1.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Classes, as `classes(2)` checks them.
    """
    return 2.0 * np.asarray(y) - 1.0


def real(wanted: str, accepted: Callable[[float], bool]) -> Part:
    """Return a check of one number.

    Parameters
    ----------
    wanted : str
        Condition as text, such as "a number above 0 and below 1".
    accepted : callable
        Predicate of a float; True if it satisfies the condition.

    Returns
    -------
    Part
        Check of the number.
    """

    def check(value: Any, name: str, data: Mapping[str, Any]) -> None:
        check_number(value, name, wanted, accepted)

    return check


positive = real("a positive finite number", lambda v: 0 < v < np.inf)
"""Check of a positive number, such as a cost or a penalty."""
share = real("a number above 0 and at most 1", lambda v: 0 < v <= 1)
"""Check of a share of the points, such as nu."""


def _numbers(value: Any, name: str) -> Array:
    """Check a numpy array of finite numbers.

    Other types are not converted, as functions of families compute with the value
    itself.
    """
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{name} must be a numpy array, not a {type(value).__name__}")
    numbers = check_reals(value, name)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must hold finite numbers")
    return numbers
