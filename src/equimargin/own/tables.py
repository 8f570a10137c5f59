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
from equimargin.formulations import Family, Kernel, classification, linear
from equimargin.formulations.declarations.checks import KernelPoints, Labels, Optional
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
REMEDIES = {
    "weight": "weights; leave their column out (--weight '')",
    "qid": "queries; leave their column out (--query '')",
    "pairs": "preferences; leave them out",
    "pair_weight": "weights of pairs; leave them out",
}
"""Missing roles of a family, with their remedies, by attribute of loaded data."""


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
        have weights or queries that the family does not have, a parameter is missing or
        unknown, or X is no matrix of inner products and the kernel is not linear.
    """
    task, parts = task_of_table(family), family.parts
    if rows.task != task:
        raise ValueError(
            f"{family.id} reads {task} rows, and {rows.name} was loaded for {rows.task}; load "
            f"it with task={task!r}"
        )
    if rows.has_many_classes:
        raise ValueError(
            f"{family.id} has two classes, and {rows.name} has {len(rows.classes or ())}; keep "
            f"two of them"
        )
    data = _columns(family, rows)
    if "X" in parts:
        data["X"] = _points(family, rows, kernel)
    if "y" in parts:
        data["y"] = _labels(parts["y"], rows.y)
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
    columns = {name: of for name, of in COLUMNS.items() if name in family.parts}
    for of, lacking in REMEDIES.items():
        if _has(rows, of) and of not in columns.values():
            raise ValueError(f"{family.id} has no {lacking}")
    return {name: getattr(rows, of) for name, of in columns.items() if _has(rows, of)}


def _rest(family: Family[Any], rows: Data, names: list[str]) -> dict[str, Any]:
    """Return the one array of a family without X, for the names that have no value."""
    missing = [name for name in names if not isinstance(family.parts[name], Optional)]
    if "X" not in family.parts and len(missing) == 1:
        X = dense(rows.X)
        return {missing[0]: X if X.shape[1] > 1 else X[:, 0]}
    if missing:
        raise ValueError(
            f"{family.id} needs {' and '.join(missing)}; give "
            f"{' '.join(f'--parameter {name}=VALUE' for name in missing)}"
        )
    return {}


def _has(rows: Data, attribute: str) -> bool:
    return getattr(rows, attribute) is not None


def _labels(part: Any, y: Array) -> Any:
    """Return the labels as the part counts them: two classes are 0 and 1."""
    if not isinstance(part, Labels):
        return y
    return (y > 0 if part.task == "classification" else y).astype(np.int64)


def _points(family: Family[Any], rows: Data, kernel: Kernel | None) -> Array:
    """Return X, or a factor of the Gram matrix of the kernel."""
    if kernel is None or kernel == linear():
        return dense(rows.X)
    if not isinstance(family.parts["X"], KernelPoints):
        raise ValueError(
            f"{family.id} has no kernel: its points enter not by their inner products alone; "
            f"leave the {kernel.name} kernel out"
        )
    problem = classification(rows.X, np.ones(len(rows.y)), kernel=kernel)
    if not problem.convex:
        raise ValueError(
            f"the matrix of the {kernel.name} kernel is not positive semidefinite, and is no "
            f"matrix of inner products; choose another kernel"
        )
    return dense(problem.features())
