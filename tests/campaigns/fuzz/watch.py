"""Monitor of a reader: exceptions, executed events and memory errors."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from campaigns.fuzz.readers import Reader

FORBIDDEN = (
    "pickle.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "subprocess.",
    "socket.",
    "ctypes.dlopen",
)
"""Prefixes of the audit events of Python that no file may trigger.

These events unpickle objects, load libraries, start programs or open connections.
"""
LONGEST_SENTENCE = 2_000
"""Maximum length of an error message in characters, without names from the file."""
QUOTED = 5
"""Factor by which quoting may lengthen a text of the file in a message.

A quotation mark in a quoted shell word takes five characters.
"""

_seen: list[str] | None = None


class Finding(AssertionError):
    """Failing case of a reader."""


def examine(reader: Reader, content: bytes, folder: Path) -> bool:
    """Read a content in every way; return True if every way rejected it.

    Raises
    ------
    Finding
        If an exception is undocumented or its message empty or too long, code was run,
        or memory was insufficient.
    """
    refused = [_refused(reader, way, content, folder) for way in reader.ways]
    return all(refused)


def _refused(reader: Reader, way: Callable[[Path], Any], content: bytes, folder: Path) -> bool:
    file = folder / reader.file
    # SQLite keeps these files next to a database.
    for left in folder.glob(f"{reader.file}-*"):
        left.unlink()
    file.write_bytes(content)
    refusal: Exception | None = None
    with _watched() as events:
        try:
            way(file)
        except reader.refusals as raised:
            refusal = raised
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            # Atheris prints no cause.
            traceback.print_exception(raised)
            raise Finding(f"{type(raised).__name__} is none of its refusals: {raised}") from raised
    if events:
        raise Finding(f"the file made it do {', '.join(sorted(set(events)))}")
    if refusal is not None:
        _check_sentence(refusal, LONGEST_SENTENCE + QUOTED * len(content))
    return refusal is not None


def _check_sentence(refusal: Exception, longest: int) -> None:
    text = str(refusal)
    if not 0 < len(text) <= longest:
        raise Finding(f"the refusal has {len(text)} characters") from refusal
    cause: BaseException | None = refusal
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise Finding(f"the memory was not enough: {text}") from refusal
        cause = cause.__context__


@contextmanager
def _watched() -> Iterator[list[str]]:
    """Yield a list of the forbidden events that Python reports within the `with` block."""
    global _seen
    if _seen is None:
        sys.addaudithook(_heard)
    events: list[str] = []
    _seen = events
    try:
        yield events
    finally:
        _seen = []


def _heard(event: str, _: object) -> None:
    if _seen is not None and event.startswith(FORBIDDEN):
        _seen.append(event)
