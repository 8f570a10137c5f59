"""NPZ archives of numpy.savez, read without pickles.

The array X holds the features; other arrays have the names of roles in tables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.columns.assignment import assign_roles
from equimargin.data.columns.columns import Columns
from equimargin.data.columns.roles import (
    FAINT_TARGET_NAME,
    FAINT_WEIGHT_NAME,
    QUERY_NAMES,
    TARGET_NAMES,
    WEIGHT_NAME,
)
from equimargin.data.formats.files import File
from equimargin.data.formats.frames import read_entries
from equimargin.data.table import Request, Table
from equimargin.data.words import DataError, listed, one_line
from equimargin.option_text import format_option

TARGETS: Final = (*TARGET_NAMES, FAINT_TARGET_NAME)
"""Names, in lower case, of arrays that hold a target."""

WEIGHTS: Final = (WEIGHT_NAME, FAINT_WEIGHT_NAME)
"""Names, in lower case, of arrays that hold weights."""

ROLES: Final = ("target", "query", "weight")
"""Roles that can be requested for an array."""

KNOWN: Final = (*TARGETS, *QUERY_NAMES, *WEIGHTS)
"""Names, in lower case, of arrays with one entry per row."""


def read_npz(file: File, request: Request) -> Table:
    """Read the arrays as columns of a table; those of X are named "X[:, 0]", ....

    Preferences may replace the target.

    Parameters
    ----------
    file : File
        File in memory.
    request : Request
        Options of `load`.

    Returns
    -------
    Table
        Features and targets of the rows.

    Raises
    ------
    DataError
        If the archive is damaged, lacks X or a target, or has unknown arrays or wrong
        shapes.
    """
    where, (arrays, request) = file.where, _arrays(file, request)
    X = arrays.pop("X")
    for name, array in (("X", X), *arrays.items()):
        _check_array(where, name, array, len(np.atleast_1d(X)))
    if not len(X):
        raise DataError(
            f"{where}: there are {X.shape[0]} rows and {X.shape[1]} features; supply at "
            f"least one of each"
        )
    names = (*arrays, *(f"X[:, {j}]" for j in range(X.shape[1])))
    entries = tuple(
        read_entries(where, name, array)
        for name, array in zip(names, (*arrays.values(), *X.T), strict=True)
    )
    columns = Columns(where, names, entries, "row", range(len(X)), na=request.na)
    return assign_roles(columns, request)._replace(columns=None)


def _meant(request: Request, names: list[str]) -> Request:
    """Drop requested roles that the archive lacks, with `like` only; request its weights.

    The column names of a table `like` do not apply to an archive, whose weights are
    never a feature.
    """
    weights = [name for name in names if name.lower() in WEIGHTS]
    if request.like is not None:
        absent: dict[str, Any] = {
            role: None for role in ROLES if getattr(request, role) not in (*names, "")
        }
        request = replace(request, **absent)
    return (
        replace(request, weight=weights[0])
        if request.weight is None and len(weights) == 1 and not request.ranked_by_pairs
        else request
    )


def _arrays(file: File, request: Request) -> tuple[dict[str, NDArray[Any]], Request]:
    """Return the arrays by name, without dropped ones, and the options that apply to them."""
    # Imported here: it imports numba.
    from equimargin.formulations.numeric.archive import Archive

    where = file.where
    try:
        archive = Archive(file.content)
        names = [name for name in archive if name not in request.drop]
        request = replace(
            _meant(request, names), drop=tuple(name for name in request.drop if name not in archive)
        )
        asked = [name for role in ROLES if (name := getattr(request, role))]
        unknown = [
            name
            for name in names
            if name != "X" and name not in asked and name.lower() not in KNOWN
        ]
        arrays = {name: archive[name] for name in names if name not in unknown}
    except ValueError as error:
        raise DataError(
            f"{where}: cannot be read as an NPZ archive of plain arrays "
            f"({one_line(error)}); save numeric arrays X and y with numpy.savez"
        ) from None
    if "X" not in arrays or not (
        request.has_no_target or request.target or any(name.lower() in TARGETS for name in arrays)
    ):
        raise DataError(
            f"{where}: the archive needs the arrays X and y and has "
            f"{listed(names) or 'none'}; save them under these names"
        )
    if unknown:
        raise DataError(
            f"{where}: the arrays {listed(unknown)} have unknown names; give them one of the "
            f"names {', '.join(KNOWN)}, or leave them out "
            f"({format_option('drop', unknown[0])})"
        )
    return arrays, request


def _check_array(where: str, name: str, array: NDArray[Any], rows: int) -> None:
    dimensions = 2 if name == "X" else 1
    if array.ndim != dimensions or array.dtype.kind not in ("biuf" if name == "X" else "biufU"):
        one = "dimension" if array.ndim == 1 else "dimensions"
        wanted = "numbers in 2 dimensions" if name == "X" else "numbers or text in 1 dimension"
        raise DataError(
            f"{where}: the array {name} has {array.ndim} {one} and type {array.dtype}; save "
            f"{wanted}"
        )
    if len(array) != rows:
        raise DataError(
            f"{where}: the array {name} has {len(array)} rows and X has {rows}; save as "
            f"many of each"
        )
