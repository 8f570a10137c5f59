"""Safe reader of NPZ archives from untrusted sources.

It rejects pickles, and uses no more memory than the file's bytes can expand to fill.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arguments import format_error, format_value

MOST_INFLATED = 1032
"""Maximum ratio of original to compressed size, the limit of deflate.

An archive that declares more has overlapping parts.
"""
LARGEST_CONTENT = 2**32
"""Maximum total size of an archive's arrays, in bytes.

A small file could otherwise fill the memory.
"""
ENDING = ".npy"
"""File name extension of an array within an archive."""
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""Reader of an array's header, by version of its format."""


class Archive(Mapping[str, NDArray[Any]]):
    """Arrays of an NPZ archive by name, each read on access.

    Parameters
    ----------
    content : bytes
        All bytes of the file.

    Raises
    ------
    ValueError
        If the content is no ZIP archive, or declares more than its bytes can hold; on
        access to an array that is damaged or pickled.
    """

    def __init__(self, content: bytes) -> None:
        with _in_a_sentence():
            self._zip = _opened(content)
            self._members = {
                member.filename.removesuffix(ENDING): member for member in self._zip.infolist()
            }
        size = sum(member.file_size for member in self._members.values())
        if size > min(LARGEST_CONTENT, MOST_INFLATED * len(content)):
            raise ValueError(
                f"its arrays would come to {size:,} bytes, more than an archive of "
                f"{len(content):,} bytes may hold"
            )

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._members[name]
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(
                f"{format_value(name)} is compressed in another way than by numpy.savez"
            )
        with _in_a_sentence():
            return self._array(name, member)

    def _array(self, name: str, member: ZipInfo) -> NDArray[Any]:
        with self._zip.open(member) as stream:
            data = stream.read(member.file_size)
        file = io.BytesIO(data)
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(
                f"{format_value(name)} is an array of an unknown version, {version[0]}.{version[1]}"
            )
        shape, by_columns, dtype = HEADERS[version](file)
        if dtype.hasobject:
            raise ValueError(
                f"{format_value(name)} is pickled, and a pickle could run code when read"
            )
        held = len(data) - file.tell()
        if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != held:
            shown = f"shape {format_value(shape)} and type {format_value(str(dtype))}"
            raise ValueError(
                f"{format_value(name)} claims to be of {shown}, and has {held:,} bytes"
            )
        entries = np.frombuffer(data, dtype, math.prod(shape), file.tell())
        return entries.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def _opened(content: bytes) -> ZipFile:
    try:
        return ZipFile(io.BytesIO(content))
    except BadZipFile as damage:
        raise ValueError(
            f"it is no NPZ archive, or only a part of one: {format_error(damage)}"
        ) from None


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """Convert every error of a damaged archive to a ValueError.

    Such errors come from zipfile, zlib, struct and NumPy's header parser.
    """
    try:
        yield
    except Exception as error:
        raise ValueError(format_error(error)) from None
