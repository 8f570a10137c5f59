"""Fetching of public data sets: each file is checked before it gets its name.

pooch writes to a temporary file in the same folder, and renames it if its digest is the
pinned one. A fetch that is stopped leaves whole files only, and the next one goes on.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

from equimargin.data.sets.published import (
    FOLDER_VARIABLE,
    PUBLIC,
    PublicFile,
    data_folder,
    list_files,
    locate,
)
from equimargin.data.words import DataError, listed, one_line

MIRROR_VARIABLE: Final = "EQUIMARGIN_MIRROR"
"""Environment variable with the address of a copy of the folder of public data."""

MAX_SILENCE: Final = 30.0
"""Longest wait for a connection and for the next bytes, in seconds."""

MAX_SECONDS: Final = 600.0
"""Time limit of a file in wall seconds."""

MAX_BYTES: Final = 100_000_000
"""Maximum size of a file, more than ten times that of any known one."""

REASONS: Final = {
    "timed out": f"nothing came for {MAX_SILENCE:g} s",
    "Connection broken": "the connection broke off",
    "Max retries": "no connection",
    "does not match the known hash": "its bytes are not the published ones",
}
"""Words in the errors of requests and pooch, with what they mean."""

CHUNK_BYTES: Final = 512
"""Bytes between two checks of the limits; a slow server cannot defer a check for long."""


def fetch(name: str, mirror: str | None = None) -> tuple[Path, ...]:
    """Fetch a public data set, unless it is there; return its files.

    Needs pooch (`pip install 'equimargin[data]'`) if a file is absent. The folder is
    that of the environment variable EQUIMARGIN_DATA, by default one in the user's cache.

    Parameters
    ----------
    name : str
        Name of a public data set; `equimargin list data` lists them.
    mirror : str, optional
        Address of a copy of the folder of public data, which replaces the published
        addresses; by default that of the environment variable EQUIMARGIN_MIRROR, if it
        is set.

    Returns
    -------
    tuple of Path
        Files of the set, in the order of their names.

    Raises
    ------
    DataError
        If there is no such set, a file cannot be fetched or written, or its bytes are
        not the published ones.
    ImportError
        If pooch is needed and not installed.
    """
    if name not in PUBLIC:
        # Imported here: it imports numba, which reading data does not need.
        from equimargin.formulations.numeric.arguments import did_you_mean

        near = did_you_mean(name, list(PUBLIC)) or f"; there are {', '.join(PUBLIC)}"
        raise DataError(f"there is no public data set {name!r}{near}")
    folder, mirror = data_folder(), mirror or os.environ.get(MIRROR_VARIABLE) or None
    absent = [file for file in list_files(name) if not file.is_in(folder)]
    if mirror is None and (unknown := [file for file in absent if not file.address]):
        raise DataError(
            f"{name} has no address that a program can read; put "
            f"{listed([Path(file.path).name for file in unknown], str)} from {PUBLIC[name].page} "
            f"into {(folder / unknown[0].path).parent}, or name a mirror (--mirror, "
            f"{MIRROR_VARIABLE})"
        )
    for file in absent:
        _fetch(file, folder, f"{mirror.rstrip('/')}/{file.path}" if mirror else file.address)
    return locate(name)


def _fetch(file: PublicFile, folder: Path, address: str) -> None:
    """Fetch one file."""
    # Imported here: its package imports numba, which reading data does not need.
    from equimargin.formulations.programs.extras import OptionalModule

    pooch: Any = OptionalModule("pooch", "data")
    place = folder / file.path
    try:
        pooch.retrieve(
            address, f"sha256:{file.digest}", place.name, place.parent, downloader=_download
        )
    except (OSError, ValueError) as error:
        if _is_local(error):
            raise DataError(
                f"{place}: cannot be written ({one_line(error)}); name another folder by "
                f"{FOLDER_VARIABLE}"
            ) from None
        raise DataError(
            f"{address}: cannot be fetched ({_reason(error)}); fetch it on another machine, and "
            f"put it here as {place}, or name a mirror (--mirror, {MIRROR_VARIABLE})"
        ) from None


def _download(address: str, output: str, _: object) -> None:
    """Write the content at an address to pooch's temporary file, within the limits."""
    # Imported here, as in `_fetch`.
    from equimargin.formulations.programs.extras import OptionalModule

    # pooch depends on requests.
    requests: Any = OptionalModule("requests", "data")
    end, size = time.monotonic() + MAX_SECONDS, 0
    with (
        requests.get(address, stream=True, timeout=MAX_SILENCE) as response,
        Path(output).open("wb") as file,
    ):
        response.raise_for_status()
        for chunk in response.iter_content(CHUNK_BYTES):
            size += len(chunk)
            if time.monotonic() > end:
                raise TimeoutError(f"it took more than {MAX_SECONDS:g} s")
            if size > MAX_BYTES:
                raise TimeoutError(f"it has more than {MAX_BYTES:,} bytes")
            file.write(chunk)


def _is_local(error: Exception) -> bool:
    """Return True if the disk failed, and not the network or the server."""
    # The errors of requests, too, are OSError; they have no number.
    return isinstance(error, PermissionError) or getattr(error, "errno", None) is not None


def _reason(error: Exception) -> str:
    """Return what is wrong with a server or with its answer."""
    response, text = getattr(error, "response", None), one_line(error)
    if response is not None:
        return f"status {response.status_code}"
    return next((reason for word, reason in REASONS.items() if word in text), text)
