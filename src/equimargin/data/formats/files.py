"""Content of a file or of standard input, decompressed, and its format by content."""

from __future__ import annotations

import io
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from equimargin.data.sets import SET_NAMES
from equimargin.data.words import DataError, number, one_line
from equimargin.option_text import format_option

SVMLIGHT_LINE: Final = re.compile(rb"[-+.\deE]+\s+\S*:|[^,;]*(?<!\S)(?:qid|[-+]?\d+):[^,;]*$")
"""Number and a field with a colon, or a line without CSV delimiters that has `index:`.

A malformed first line still matches.
"""

ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a ZIP archive, such as an NPZ file."""

PARQUET: Final = b"PAR1"
"""First and last bytes of a Parquet file."""

PICKLE: Final = "is a pickle, which could run code when read; save X and y with numpy.savez instead"
"""Reason to refuse a pickle."""

FOREIGN: Final = {
    b"\x80": PICKLE,
    b"\x93NUMPY": "holds one NumPy array; save X and y together with numpy.savez instead",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""First bytes of refused files, with the reason."""

SPREADSHEETS: Final = (".xlsx", ".xls", ".ods")
"""Suffixes of spreadsheets, whose content may be a ZIP archive, too."""

TABLE_SUFFIXES: Final = (".csv", ".tsv")
"""Suffixes of text tables."""

COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
"""First bytes of compressed files, with the standard module that opens them."""

EXCEL_SEPARATOR: Final = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n?|\n)', re.IGNORECASE)
"""First line that declares the separator to spreadsheets."""

REMARK: Final = re.compile(r"(?:^|\s)#.*", re.DOTALL)
"""Remark in a row separated by white space: a # that begins a field, and the rest."""

LARGEST_CONTENT: Final = 2**32
"""Maximum size of decompressed content, in bytes; a small file could fill the memory."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
"""Mark that some editors put before UTF-8 text."""


class File(NamedTuple):
    """File in memory.

    Parameters
    ----------
    where : str
        Name of the file in messages.
    name : str
        Name without folders.
    suffix : str
        Suffix of its format, in lower case.
    content : bytes
        Decompressed content.
    """

    where: str
    name: str
    suffix: str
    content: bytes


def open_source(source: str | os.PathLike[str]) -> File:
    """Read a file, or standard input for "-".

    Parameters
    ----------
    source : str or os.PathLike[str]
        Path, or "-".

    Returns
    -------
    File
        Decompressed file.

    Raises
    ------
    DataError
        If the source cannot be read, is damaged or is empty.
    """
    standard = source == "-"
    if standard and sys.stdin is None:
        raise DataError("standard input is closed; name a file, or send the data through a pipe")
    path = Path(source)
    # Standard input has no suffix: its format is inferred from the content alone.
    where = name = "standard input"
    if not standard:
        where, name = str(path), path.name
    content = sys.stdin.buffer.read() if standard else _bytes_of(path)
    suffixes = [] if standard else [suffix.lower() for suffix in path.suffixes]
    for start, module in COMPRESSED.items():
        if content.startswith(start):
            content = _decompressed(where, content, module)
            suffixes = suffixes[:-1] if suffixes[-1:] in ([".gz"], [".bz2"], [".xz"]) else suffixes
            break
    content = content.removeprefix(BYTE_ORDER_MARK)
    if not content or content.isspace():
        raise DataError(
            f"{where}: {'nothing came in' if standard else 'the file is empty'}; supply at "
            f"least one row"
        )
    return File(where, name, suffixes[-1] if suffixes else "", content)


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a directory; name a file in it")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        # Imported here: it imports numba, which reading data does not need.
        from equimargin.formulations.numeric.arguments import did_you_mean

        near = did_you_mean(str(path), list(SET_NAMES)) or f"; there are {', '.join(SET_NAMES)}"
        raise DataError(f"{path}: there is no such file and no such data set{near}") from None
    # A path with a NUL character raises ValueError.
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read ({one_line(error)}); check the path and its permissions"
        ) from None


def _decompressed(where: str, content: bytes, module: str) -> bytes:
    try:
        with import_module(module).open(io.BytesIO(content)) as stream:
            inside: bytes = stream.read(LARGEST_CONTENT + 1)
    # Each of these modules has its own errors, and may be missing in a Python build.
    except Exception as error:
        raise DataError(
            f"{where}: cannot be decompressed by {module} ({one_line(error)}); the file is "
            f"damaged or cut short"
        ) from None
    if len(inside) > LARGEST_CONTENT:
        raise DataError(
            f"{where}: comes to more than {LARGEST_CONTENT:,} bytes when decompressed; "
            f"decompress it first if that is meant"
        )
    return inside


def detect_format(file: File, sep: str | None = None, decimal: str = ".") -> str:
    """Return the format by content; the suffix decides only if the content fits none.

    Parameters
    ----------
    file : File
        File in memory.
    sep, decimal : str, optional
        Options of `ReadOptions`; a separator implies a text table.

    Returns
    -------
    str
        "NPZ", "Parquet", "svmlight", "CSV" or "white space".

    Raises
    ------
    DataError
        If the format is not supported.
    """
    known = _binary_kind(file)
    if known is not None:
        return known
    content, where = file.content, file.where
    if sep is not None or EXCEL_SEPARATOR.match(content[:20].decode("latin-1")):
        return "CSV"
    if decimal == ",":
        content = content.replace(b",", b".")
    line = _telling_line(content)
    if SVMLIGHT_LINE.match(line):
        return "svmlight"
    if re.search(rb"[,;\t]", line):
        return "CSV"
    if _is_spaced(content):
        return "white space"
    if file.suffix in TABLE_SUFFIXES:
        return "CSV"
    if file.suffix in (".svm", ".svmlight", ".libsvm", ".letor"):
        return "svmlight"
    raise DataError(
        f"{where}: the file is neither svmlight (label index:value ...) nor CSV nor NPZ nor "
        f"Parquet nor a table with white space between "
        f"its fields; convert it to one, or name the separator ({format_option('sep', ';')})"
    )


def _binary_kind(file: File) -> str | None:
    """Return the format of a binary file, or None.

    Raises
    ------
    DataError
        If the format is not supported.
    """
    content, where = file.content, file.where
    if file.suffix in SPREADSHEETS:
        raise DataError(f"{where}: the file is a spreadsheet; save the sheet as CSV")
    if content.startswith(ZIP):
        return "NPZ"
    if content.startswith(PARQUET) and content.endswith(PARQUET):
        return "Parquet"
    for start, reason in FOREIGN.items():
        if content.startswith(start):
            raise DataError(f"{where}: the file {reason}")
    if file.suffix in (".pkl", ".pickle", ".joblib"):
        raise DataError(f"{where}: the file {PICKLE}")
    if b"\0" in content:
        raise DataError(
            f"{where}: the file is binary and no NPZ archive; supply svmlight, CSV, NPZ or Parquet"
        )
    return None


def _telling_line(content: bytes) -> bytes:
    """Return the first line that is more than a comment or a lone number.

    A lone number is a svmlight row of zeros.
    """
    for line in io.BytesIO(content):
        text = line.partition(b"#")[0].strip()
        if text and number(text.decode("latin-1")) is None:
            return text
    return b""


def _is_spaced(content: bytes) -> bool:
    """Return True if two rows have equally many spaced fields, and the second a number."""
    rows: list[list[str]] = []
    for line in io.BytesIO(content):
        fields = REMARK.sub("", line.decode("latin-1")).split()
        if fields:
            rows.append(fields)
        if len(rows) == 2:
            first, second = rows
            return len(first) == len(second) > 1 and any(
                number(field) is not None for field in second
            )
    return False
