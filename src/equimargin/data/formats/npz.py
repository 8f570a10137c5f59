"""NPZ archives of numpy.savez: the arrays X and y, perhaps qid and weight, read without pickles."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.files import File
from equimargin.data.loaded import Origin
from equimargin.data.table import Request, Table
from equimargin.data.words import DataError, listed, one_line


def read_npz(file: File, request: Request) -> Table:
    """Read the arrays; where preferences rank the rows, y may be absent, and weights are left out."""
    where = file.where
    wanted = ("y", "X", "qid") if request.ranked_by_pairs else ("y", "X", "qid", "weight")
    try:
        with np.load(io.BytesIO(file.content), allow_pickle=False) as archive:
            names = list(archive)
            arrays = {name: np.asarray(archive[name]) for name in wanted if name in names}
    except Exception as error:  # a damaged archive fails in many ways, from zipfile, zlib, struct and NumPy's header parser
        raise DataError(
            f"{where}: cannot be read as an NPZ archive of plain arrays ({one_line(error)}); save numeric arrays X and y with numpy.savez"
        ) from None
    if "X" in arrays and "y" not in arrays and request.ranked_by_pairs:
        arrays["y"] = np.zeros(len(np.atleast_1d(arrays["X"])))
    if "X" not in arrays or "y" not in arrays:
        raise DataError(f"{where}: the archive needs the arrays X and y and has {listed(names) or 'none'}; save them under these names")
    for name, array in arrays.items():
        _check_array(where, name, array, arrays["y"].size)
    weight = _finite(where, "weight", arrays["weight"]) if "weight" in arrays else None
    if weight is not None and (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise DataError(f"{where}: weight[{row}] is {weight[row]:g}, and a weight is at least 0; correct it")
    qid = arrays["qid"].astype(np.int64) if "qid" in arrays else None
    origin = Origin(target_by="format", query=None if qid is None else "qid", weight=None if weight is None else "weight")
    return Table(_finite(where, "X", arrays["X"]), _finite(where, "y", arrays["y"]), qid, weight, origin=origin)


def _check_array(where: str, name: str, array: NDArray[Any], rows: int) -> None:
    kinds, meaning = ("iu", "integers") if name == "qid" else ("biuf", "numbers")
    dimensions = 2 if name == "X" else 1
    if array.dtype.kind not in kinds or array.ndim != dimensions:
        raise DataError(
            f"{where}: the array {name} has {array.ndim} dimensions and type {array.dtype}; save {meaning} in {dimensions} dimensions"
        )
    if len(array) != rows:
        raise DataError(f"{where}: the array {name} has {len(array)} rows and y has {rows}; save as many of each")
    if name == "qid" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{where}: the array qid goes up to {array.max()}, more than int64 holds; renumber the queries")


def _finite(where: str, name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which is refused below
        values = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = ", ".join(str(index) for index in bad[0].tolist())
        raise DataError(f"{where}: {name}[{place}] is {values[tuple(bad[0])]}, which is not a finite number; correct or remove the row")
    return values
