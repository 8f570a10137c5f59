"""Data of user-defined families from the rows of a table.

A family whose check names its data, `check=needing(X=matrix, y=classes(2), nu=share)`,
reads any table of `equimargin.data.load`: X are the features, y the labels, and
parameters are given by name.

>>> from equimargin.data import load
>>> from equimargin.formulations import FAMILIES, rbf
>>> from equimargin.own.tables import data_from_table, task_of_table
>>> family = FAMILIES["nu_svc"]
>>> rows = load("xor", task=task_of_table(family))
>>> data = data_from_table(family, rows, rbf(1.0), {"nu": 0.5})
>>> data["X"].shape, data["y"].tolist(), data["nu"]
((4, 4), [0, 1, 1, 0], 0.5)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.data import Data
from equimargin.formulations import Family, Kernel, ProgramProblem, classification, linear
from equimargin.formulations.declarations.checks import KernelPoints, Labels, Optional, matrix
from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.formulations.numeric.arrays import Array, dense

COLUMNS = {
    "sample_weight": "weight",
    "weights": "weight",
    "qid": "qid",
    "pairs": "pairs",
    "pair_weight": "pair_weight",
}
"""Names of a family's data, and the attributes of loaded data that they are."""
ROLES = {
    "weight": ("weights", "--weight COLUMN", "--weight ''"),
    "qid": ("queries", "--query COLUMN", "--query ''"),
    "pairs": ("preferences", "--preferences FILE", "without --preferences"),
    "pair_weight": ("weights of pairs", "a column weight of preferences", "without this column"),
}
"""Nouns of roles, and how rows are loaded with them and without, by attribute of data."""


def task_of_table(family: Family[Any]) -> str:
    """Return the task by which a table is read for a family.

    Parameters
    ----------
    family : Family
        Family whose check names its data.

    Returns
    -------
    str
        "unsupervised" if the family has no labels y.

    Raises
    ------
    ValueError
        If the check does not name the data.
    """
    if not family.parts:
        raise ValueError(
            f"{family.id} does not name its data, and reads no table; give it "
            f"check=needing(X=matrix, ...), or load=function"
        )
    if "y" not in family.parts:
        return "ranking" if "pairs" in family.parts else "unsupervised"
    part = family.parts["y"]
    if isinstance(part, Labels):
        return part.task
    return "ranking" if "qid" in family.parts else "regression"


def has_kernel(family: Family[ProgramProblem]) -> bool:
    """Return True if a family's points may be those of a kernel.

    Parameters
    ----------
    family : Family
        Family whose check names its data.
    """
    return isinstance(family.parts.get("X"), KernelPoints)


def data_from_table(
    family: Family[Any],
    rows: Data,
    kernel: Kernel | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the data of a family from the rows of a table and parameters by name.

    A kernel other than the linear one replaces X by a factor L of its Gram matrix, K =
    L L' within rounding error: the problem is that of the floats L. If the family has no X and
    one name is not a parameter, that array is the whole table.

    Parameters
    ----------
    family : Family
        Family whose check names its data.
    rows : Data
        Rows, loaded for `task_of_table(family)`.
    kernel : Kernel, optional
        Kernel, by default linear.
    parameters : mapping of str, optional
        Values of all other names.

    Returns
    -------
    dict of str
        Data, not yet checked.

    Raises
    ------
    ValueError
        If the rows are of another task, have three classes or more and the family two,
        have weights or queries that the family does not have, or lack those that it
        needs, a parameter is missing or unknown, or a kernel is given for a family that
        needs the features themselves.
    """
    task, parts = task_of_table(family), family.parts
    if rows.task != task:
        raise ValueError(
            f"{family.id} reads {task} rows, and {rows.name} was loaded for {rows.task}; load "
            f"it with task={task!r}"
        )
    data = _columns(family, rows)
    if "X" in parts:
        data["X"] = _points(family, rows, kernel)
    if "y" in parts:
        data["y"] = _labels(family, rows)
    # What no column gives is a parameter.
    names = [name for name in parts if name not in ("X", "y", *COLUMNS)]
    unknown = [name for name in parameters or {} if name not in names]
    if unknown:
        known = f"its parameters are {', '.join(names)}" if names else "it has none"
        raise ValueError(
            f"{family.id} has no parameter {unknown[0]}{did_you_mean(unknown[0], names)}; {known}"
        )
    data |= parameters or {}
    return data | _rest(family, rows, [name for name in names if name not in data])


def _columns(family: Family[Any], rows: Data) -> dict[str, Any]:
    """Return the weights, queries and pairs of the rows by the family's names for them."""
    names = {attribute: name for name, attribute in COLUMNS.items() if name in family.parts}
    # Rows and family must have the same roles, except those that the family may lack.
    for attribute, (noun, given, left_out) in ROLES.items():
        name, has = names.get(attribute, ""), getattr(rows, attribute) is not None
        if has and not name:
            raise ValueError(f"{family.id} has no {noun}; leave them out ({left_out})")
        if name and not has and not isinstance(family.parts[name], Optional):
            raise ValueError(f"{family.id} needs {noun}; name them ({given})")
    columns = {name: getattr(rows, attribute) for attribute, name in names.items()}
    return {name: value for name, value in columns.items() if value is not None}


def _rest(family: Family[Any], rows: Data, names: list[str]) -> dict[str, Any]:
    """Return the one array of a family without X, for the names that have no value."""
    missing = [name for name in names if not isinstance(family.parts[name], Optional)]
    if "X" not in family.parts and len(missing) == 1:
        X, is_matrix = dense(rows.X), family.parts[missing[0]] is matrix
        return {missing[0]: X if is_matrix or X.shape[1] > 1 else X[:, 0]}
    if missing:
        raise ValueError(
            f"{family.id} needs {' and '.join(missing)}; give "
            f"{' '.join(f'--parameter {name}=VALUE' for name in missing)}"
        )
    return {}


def _labels(family: Family[Any], rows: Data) -> Array:
    """Return the labels, counted from 0, or the numbers to predict."""
    part = family.parts["y"]
    if not isinstance(part, Labels):
        return rows.y
    many = rows.classes if rows.has_many_classes and rows.classes else ()
    if part.most is not None and len(many) > part.most:
        raise ValueError(
            f"{family.id} has {part.most} classes, and the target of {rows.name} has "
            f"{len(many)}; keep the rows of {part.most} classes"
        )
    # Two classes are loaded as -1 and +1.
    two = rows.task == "classification" and not many
    return np.asarray(rows.y > 0 if two else rows.y, dtype=np.int64)


def _points(family: Family[Any], rows: Data, kernel: Kernel | None) -> Array:
    """Return X, or a factor of the Gram matrix of the kernel."""
    if kernel in (None, linear()):
        return dense(rows.X)
    if not has_kernel(family):
        raise ValueError(
            f"{family.id} has no kernel: it needs the features themselves, and not only their "
            f"inner products; leave the {kernel.name} kernel out"
        )
    problem = classification(rows.X, np.ones(len(rows.y)), kernel=kernel)
    if not problem.convex:
        raise ValueError(
            f"the matrix of the {kernel.name} kernel is not positive semidefinite, and is no "
            f"matrix of inner products; choose another kernel"
        )
    return dense(problem.features())
