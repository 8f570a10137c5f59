"""Public data sets: their files with addresses and digests, and the folder of fetched files.

The file `registry.txt` has a line for each file: its path below the folder, its SHA-256
digest, and its address, absent where no address is known that a program can read. A new
set is an entry of PUBLIC and a line for each file, whose digest `sha256sum` prints.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from equimargin.data.words import DataError, one_line

FOLDER_VARIABLE: Final = "EQUIMARGIN_DATA"
"""Environment variable that names the folder of public data."""

REGISTRY: Final = Path(__file__).with_name("registry.txt")
"""File with the path, the digest and the address of every file."""


class PublicSet(NamedTuple):
    """Public data set.

    Parameters
    ----------
    path : str
        File of the set, or folder of its files with a slash, below the folder of public
        data.
    text : str
        Description in one line.
    task : str or None
        Default task; None if the files hold programs, which `load` does not read.
    page : str
        Web page of the set.
    """

    path: str
    text: str
    task: str | None
    page: str


PUBLIC: Final[Mapping[str, PublicSet]] = {
    "esl_mixture": PublicSet(
        "esl-mixture.csv",
        "200 x 2, the mixture data of Hastie, Tibshirani and Friedman: 0 is -1, 1 is +1",
        "classification",
        "https://hastie.su.domains/ElemStatLearn",
    ),
    "heart_scale": PublicSet(
        "heart_scale",
        "270 x 13, heart disease, scaled to [-1, 1], as LIBLINEAR 2.30 brings it",
        "classification",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
    ),
    "maros_meszaros": PublicSet(
        "maros-meszaros/",
        "44 small quadratic programs of Maros and Meszaros as MATLAB files, all but VALUES convex",
        None,
        "https://github.com/qpsolvers/maros_meszaros_qpbenchmark",
    ),
    "mq2008": PublicSet(
        "mq2008/",
        "15,211 x 46, documents of the 784 queries of LETOR 4.0's MQ2008, for research use",
        "ranking",
        "https://www.microsoft.com/en-us/research/project/"
        "letor-learning-rank-information-retrieval/letor-4-0/",
    ),
    "pima": PublicSet(
        "pima.csv",
        "768 x 8, diabetes within five years: no -1, yes +1",
        "classification",
        "https://github.com/ynad123/Zertifikatskurs_DataAnalytics",
    ),
}
"""Public data sets by name."""


class PublicFile(NamedTuple):
    """File of a public data set: path below the folder, SHA-256 digest, address or ""."""

    path: str
    digest: str
    address: str

    def read(self, folder: Path) -> bytes | None:
        """Return the published bytes of this file; None if a folder does not have them.

        Parameters
        ----------
        folder : Path
            Folder of public data.

        Raises
        ------
        DataError
            If the file cannot be read.
        """
        place = folder / self.path
        try:
            content = place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DataError(
                f"{place}: cannot be read ({one_line(error)}); make it readable, or name another "
                f"folder by {FOLDER_VARIABLE}"
            ) from None
        return content if hashlib.sha256(content).hexdigest() == self.digest else None


def data_folder(preferred: Path | None = None) -> Path:
    """Return the folder of public data.

    Parameters
    ----------
    preferred : Path, optional
        Folder that takes the place of the user's cache if it exists.

    Returns
    -------
    Path
        Value of the environment variable EQUIMARGIN_DATA if it is set; `preferred` if it is
        a folder; else the folder `data` of the package's cache.

    Raises
    ------
    DataError
        If that folder is below a home directory, and there is none.
    """
    try:
        if chosen := os.environ.get(FOLDER_VARIABLE):
            return Path(chosen).expanduser()
        if preferred is not None and preferred.is_dir():
            return preferred
        # Imported here: it imports numba, which reading data does not need.
        from equimargin.formulations.numeric.jit import cache_root

        return cache_root() / "data"
    except RuntimeError as error:
        raise DataError(
            f"there is no folder of public data ({one_line(error)}); name one by {FOLDER_VARIABLE}"
        ) from None


def list_files(name: str) -> tuple[PublicFile, ...]:
    """Return the files of a public data set.

    Parameters
    ----------
    name : str
        Key of PUBLIC.
    """
    rows = (line.split() for line in REGISTRY.read_text(encoding="utf-8").splitlines())
    path = PUBLIC[name].path
    return tuple(
        PublicFile(row[0], row[1], row[2] if len(row) > 2 else "")
        for row in rows
        if row[0] == path or (path.endswith("/") and row[0].startswith(path))
    )


def locate(name: str) -> tuple[Path, ...]:
    """Return the files of a public data set that has been fetched.

    Parameters
    ----------
    name : str
        Key of PUBLIC.

    Raises
    ------
    DataError
        If a file is absent, cannot be read, or has other bytes than the published ones.
    """
    return tuple(_read_files(name))


def _read_files(name: str) -> dict[Path, bytes]:
    """Return the bytes whose digests are right, by the path of their file."""
    folder, contents = data_folder(), {}
    for file in list_files(name):
        place = folder / file.path
        content = file.read(folder)
        if content is None:
            fault = "has other bytes than published" if place.exists() else "is not there"
            raise DataError(
                f"{name}: the file {place} {fault}; fetch the set by `equimargin data fetch {name}`"
            )
        contents[place] = content
    return contents


def is_fetched(name: str) -> bool:
    """Return True if all files of a public data set are there, and as published.

    Parameters
    ----------
    name : str
        Key of PUBLIC.
    """
    try:
        return bool(locate(name))
    except DataError:
        return False


def read_set(name: str) -> bytes:
    """Return the content of a fetched data set, its files one after the other.

    Parameters
    ----------
    name : str
        Key of PUBLIC.

    Raises
    ------
    DataError
        If the set is not fetched, or holds programs.
    """
    if PUBLIC[name].task is None:
        raise DataError(
            f"{name} holds programs, and no rows; read its files, which "
            f"`equimargin data fetch {name}` lists"
        )
    return b"".join(_read_files(name).values())
