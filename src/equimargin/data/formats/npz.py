"""NPZ archives of numpy.savez: the arrays X, y and perhaps qid, read without pickles."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.table import Table
from equimargin.data.words import DataError, listed, one_line


def read_npz(path: Path, content: bytes) -> Table:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            names = list(archive)
            arrays = {name: np.asarray(archive[name]) for name in ("y", "X", "qid") if name in names}
    except Exception as error:  # a damaged archive fails in many ways, from zipfile, zlib, struct and NumPy's header parser
        raise DataError(
            f"{path}: cannot be read as an NPZ archive of plain arrays ({one_line(error)}); save numeric arrays X and y with numpy.savez"
        ) from None
    if "X" not in arrays or "y" not in arrays:
        raise DataError(f"{path}: the archive needs the arrays X and y and has {listed(names) or 'none'}; save them under these names")
    for name, array in arrays.items():
        _check_array(path, name, array, arrays["y"].size)
    X, y = _finite(path, "X", arrays["X"]), _finite(path, "y", arrays["y"])
    return Table(X, y, arrays["qid"].astype(np.int64) if "qid" in arrays else None)


def _check_array(path: Path, name: str, array: NDArray[Any], rows: int) -> None:
    kinds, meaning = ("iu", "integers") if name == "qid" else ("biuf", "numbers")
    dimensions = 2 if name == "X" else 1
    if array.dtype.kind not in kinds or array.ndim != dimensions:
        raise DataError(
            f"{path}: the array {name} has {array.ndim} dimensions and type {array.dtype}; save {meaning} in {dimensions} dimensions"
        )
    if len(array) != rows:
        raise DataError(f"{path}: the array {name} has {len(array)} rows and y has {rows}; save as many of each")
    if name == "qid" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{path}: the array qid goes up to {array.max()}, more than int64 holds; renumber the queries")


def _finite(path: Path, name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which is refused below
        values = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = ", ".join(str(index) for index in bad[0].tolist())
        raise DataError(f"{path}: {name}[{place}] is {values[tuple(bad[0])]}, which is not a finite number; correct or remove the row")
    return values
