"""Fitted estimators in joblib or pickle files, which are read only if the user trusts them.

Reading a pickle may run any code that it contains.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_machines import AnyModel
from equimargin.proofs.foreign_packages import of_fitted

SUFFIXES = (".joblib", ".pkl", ".pickle")
"""Suffixes of joblib and pickle files."""
FIRST_BYTES = b"\x80"
"""First byte of every pickle of protocol 2 and later, under any file name.

A compressed pickle is recognised by its name alone.
"""


def read_trusted(path: str | os.PathLike[str], trust: bool = False) -> AnyModel:
    """Read a model file of any kind; if trusted also one of joblib or pickle.

    `foreign_files.read` reads the other kinds.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    trust : bool, default False
        True to read a pickled estimator, which may run any code in its file. Packages
        may warn that the file was written by another version.

    Raises
    ------
    ValueError
        If the file cannot be used, or is pickled and not trusted; the message names the
        file and the reason.
    OSError
        If the file cannot be read.
    """
    file = Path(path)
    with file.open("rb") as stream:
        pickled = stream.read(1) == FIRST_BYTES or file.suffix.lower() in SUFFIXES
    if not pickled:
        return read(file)
    if not trust:
        raise ValueError(
            f"{file.name} is a pickled object: reading it can run any program. --trust (in "
            f"Python trust=True) reads it all the same; "
            "the coefficients in an NPZ or JSON file need no trust"
        )
    try:
        return of_fitted(_unpickled(file))
    except ValueError as reason:
        raise ValueError(f"{file.name}: {reason}") from None


def _unpickled(file: Path) -> Any:
    """Return the object in a file."""
    # Imported here: other files are read without joblib.
    import joblib

    try:
        return joblib.load(file)
    except OSError:
        raise
    except Exception as reason:
        # Unpickling runs code of any package, which may fail in any way.
        raise ValueError(f"it cannot be unpickled: {type(reason).__name__}: {reason}") from None
