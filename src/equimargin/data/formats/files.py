"""The content of a file or of standard input, decompressed, and its format, told by the content rather than by the name."""

from __future__ import annotations

import io
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from equimargin.data.bundled import BUNDLED
from equimargin.data.words import DataError, number, one_line

SVMLIGHT_LINE: Final = re.compile(rb"[-+.\deE]+\s+\S*:|[^,;]*(?<!\S)(?:qid|[-+]?\d+):[^,;]*$")
"""A number and then a colon, or a colon after an index where no delimiter of CSV is about: a first line with a fault still counts."""

ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""How a ZIP archive begins, which an NPZ file is."""

PARQUET: Final = b"PAR1"
"""How a Parquet file begins and ends."""

PICKLE: Final = "is a pickle, which could run code when read; save X and y with numpy.savez instead"
"""Why a pickle is refused."""

FOREIGN: Final = {
    b"\x80": PICKLE,
    b"\x93NUMPY": "holds one NumPy array; save X and y together with numpy.savez instead",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""How files begin that are refused, and why."""

SPREADSHEETS: Final = (".xlsx", ".xls", ".ods")
"""How the names of spreadsheets end; their content may be a ZIP archive, too."""

TABLE_SUFFIXES: Final = (".csv", ".tsv")
"""How the names of tables as text end."""

COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
"""How compressed files begin, and the module of the standard library that opens them."""

EXCEL_SEPARATOR: Final = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n?|\n)', re.IGNORECASE)
"""The first line by which spreadsheets are told what separates the fields."""

REMARK: Final = re.compile(r"(?:^|\s)#.*", re.DOTALL)
"""What is no data in a row between white space: a # that begins a field, and all behind it."""

LARGEST_CONTENT: Final = 2**32
"""Bytes that a compressed file may come to: a small file could otherwise fill the memory."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
"""The mark that some editors put before UTF-8 text."""


class File(NamedTuple):
    """A file that was read.  where : how sentences call it.  suffix : of its format, in lower case.  content : decompressed."""

    where: str
    name: str
    suffix: str
    content: bytes


def open_source(source: str | os.PathLike[str]) -> File:
    """Read a file, or standard input where the source is "-"."""
    standard = source == "-"
    if standard and sys.stdin is None:
        raise DataError("standard input is closed; name a file, or send the data through a pipe")
    path = Path(source)
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
        # Imported here: it brings numba, and data are read without it.
        from equimargin.formulations.numeric.arguments import did_you_mean

        near = did_you_mean(str(path), list(BUNDLED)) or f"; bundled are {', '.join(BUNDLED)}"
        raise DataError(
            f"{path}: there is no such file and no such bundled data set{near}"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataError(
            f"{path}: cannot be read ({one_line(error)}); check the path and its permissions"
        ) from None


def _decompressed(where: str, content: bytes, module: str) -> bytes:
    try:
        with import_module(module).open(io.BytesIO(content)) as stream:
            inside: bytes = stream.read(LARGEST_CONTENT + 1)
    # every one of the modules has errors of its own, and a Python may be built without
    # it
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
    """Tell the format by the content; the extension decides only where the content fits none.

    Parameters
    ----------
    sep, decimal
        As in `ReadOptions`; what separates fields is asked for of a table as text
        alone.
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
        "its fields; convert it to one, or say what separates the fields with --sep"
    )


def _binary_kind(file: File) -> str | None:
    """The format of a file that is no text, or None.

    Raises
    ------
    DataError
        A format that is not read.
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
    """Return the first line that is more than a comment or a lone number (a svmlight row of zeros)."""
    for line in io.BytesIO(content):
        text = line.partition(b"#")[0].strip()
        if text and number(text.decode("latin-1")) is None:
            return text
    return b""


def _is_spaced(content: bytes) -> bool:
    """Whether the first two rows have equally many fields between white space, and the second holds a number."""
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
