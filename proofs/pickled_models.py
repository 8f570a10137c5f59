"""Fitted estimators in files of joblib or pickle, which are read on trust alone: reading a pickle may run any program that it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from equimargin.proofs.foreign_models import Model, of_estimator, read

SUFFIXES = (".joblib", ".pkl", ".pickle")
"""How the names of such files end."""
FIRST_BYTES = b"\x80"
"""The first byte of every pickle of protocol 2 and later, whatever its file is called; a compressed one is known by its name alone."""


def read_trusted(path: str | os.PathLike[str], trust: bool = False) -> Model:
    """The model in a file of any kind that `foreign_models.read` takes, and where it is trusted also in one of joblib or pickle.

    Parameters
    ----------
    trust : bool
        Whether a pickled estimator may be read, with all that its file makes Python do.
        Its packages may warn of their versions.

    Raises
    ------
    ValueError
        The file with the reason why it cannot be used; it is pickled and not trusted.
    OSError
        It cannot be read.
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
        return of_estimator(_unpickled(file))
    except ValueError as reason:
        raise ValueError(f"{file.name}: {reason}") from None


def _unpickled(file: Path) -> Any:
    """The object in a file."""
    import joblib

    try:
        return joblib.load(file)
    except OSError:
        raise
    except Exception as reason:  # unpickling runs code of any package, which may fail in any way
        raise ValueError(f"it cannot be unpickled: {type(reason).__name__}: {reason}") from None
