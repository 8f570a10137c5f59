"""Fetching of public data sets: each file is checked before it gets its name.

pooch makes a temporary file in the same folder, and renames it if its digest is the
pinned one. A fetch that is stopped leaves whole files only, and the next one goes on.
If the process is killed, the temporary file, tmp and some letters, may stay.
"""

from __future__ import annotations

import os
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
from equimargin.option_text import format_option

MIRROR_VARIABLE: Final = "EQUIMARGIN_MIRROR"
"""Environment variable with the address of a copy of the folder of public data."""

MAX_SILENCE: Final = 30.0
"""Longest wait for a connection and for the next bytes, in seconds."""

MAX_SECONDS: Final = 600.0
"""Time limit of a file in wall seconds, whatever the server sends."""

MAX_BYTES: Final = 100_000_000
"""Maximum size of a file, more than ten times that of any known one."""

CHUNK_BYTES: Final = 65_536
"""Bytes between two checks of the size."""


def fetch(name: str, mirror: str | None = None) -> tuple[Path, ...]:
    """Fetch a public data set, unless it is there; return its files.

    Needs pooch (`pip install 'equimargin[data]'`) if a file is absent. The folder is
    that of the environment variable EQUIMARGIN_DATA, by default one in the package's
    cache.

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
        If there is no such set, a file cannot be fetched, read or written, or its bytes
        are not the published ones.
    ImportError
        If pooch is needed and not installed.
    """
    if name not in PUBLIC:
        # Imported here: it imports numba, which reading data does not need.
        from equimargin.formulations.numeric.arguments import did_you_mean

        near = did_you_mean(name, list(PUBLIC)) or f"; there are {', '.join(PUBLIC)}"
        raise DataError(f"there is no public data set {name!r}{near}")
    folder, mirror = data_folder(), mirror or os.environ.get(MIRROR_VARIABLE) or None
    absent = [file for file in list_files(name) if file.read(folder) is None]
    if mirror is None and (unknown := [file for file in absent if not file.address]):
        raise DataError(
            f"{name} has no address that a program can read; put "
            f"{listed([Path(file.path).name for file in unknown], str)} from {PUBLIC[name].page} "
            f"into {(folder / unknown[0].path).parent}, or name a mirror "
            f"({format_option('mirror', 'URL')}, {MIRROR_VARIABLE})"
        )
    for file in absent:
        _fetch(file, folder, f"{mirror.rstrip('/')}/{file.path}" if mirror else file.address)
    return locate(name)


def _fetch(file: PublicFile, folder: Path, address: str) -> None:
    """Fetch one file."""
    # Imported here: its package imports numba, which reading data does not need.
    from equimargin.formulations.programs.extras import OptionalModule

    retrieve: Any = OptionalModule("pooch", "data").retrieve
    place = folder / file.path

    def refused(reason: str) -> DataError:
        return DataError(
            f"{address}: cannot be fetched ({reason}); fetch it on another machine, and put it "
            f"here as {place}, or name a mirror ({format_option('mirror', 'URL')}, "
            f"{MIRROR_VARIABLE})"
        )

    def download(_: str, output: str, __: object) -> None:
        try:
            content = _download(address)
        except (OSError, ValueError) as error:
            raise refused(_reason(error)) from None
        # pooch's temporary file is for its owner alone; a new one has the usual mode.
        Path(output).unlink()
        with Path(output).open("xb") as opened:
            opened.write(content)

    try:
        retrieve(address, f"sha256:{file.digest}", place.name, place.parent, downloader=download)
    except DataError:
        raise
    except ValueError:
        raise refused("its bytes are not the published ones") from None
    except OSError as error:
        raise DataError(
            f"{place}: cannot be written ({one_line(error)}); name another folder by "
            f"{FOLDER_VARIABLE}"
        ) from None


def _download(address: str) -> bytearray:
    """Return the content at an address, within the limits."""
    # Imported here: pooch, which is optional, needs requests; and numba is imported.
    import requests

    from equimargin.solvers.interrupt import interruptible

    def read() -> bytearray:
        content = bytearray()
        with requests.get(
            address, stream=True, timeout=MAX_SILENCE, hooks={"response": _skip_body}
        ) as response:
            response.raise_for_status()
            for chunk in response.iter_content(CHUNK_BYTES):
                content += chunk
                if len(content) > MAX_BYTES:
                    raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        return content

    try:
        return interruptible(read, seconds=MAX_SECONDS)
    except TimeoutError:
        raise ValueError(f"it took more than {MAX_SECONDS:g} s") from None


def _skip_body(response: Any, **_: object) -> None:
    """Close a redirect, whose body requests would read to its end."""
    if response.is_redirect:
        response.close()


def _reason(error: Exception) -> str:
    """Return what is wrong with a server or with its answer."""
    # Imported here, as in `_download`; requests needs urllib3.
    from requests import exceptions
    from urllib3.exceptions import ReadTimeoutError

    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"status {error.response.status_code}"
    silence = f"nothing came for {MAX_SILENCE:g} s"
    reasons = {
        exceptions.SSLError: "no secure connection",
        exceptions.ProxyError: "no connection to the proxy",
        exceptions.Timeout: silence,
        # Silence within a content is a ConnectionError about this.
        ReadTimeoutError: silence,
        exceptions.ChunkedEncodingError: "the connection broke off",
        exceptions.ConnectionError: "no connection",
    }
    causes = (error, *error.args)
    return next(
        (reason for kind, reason in reasons.items() if any(isinstance(c, kind) for c in causes)),
        one_line(error),
    )
