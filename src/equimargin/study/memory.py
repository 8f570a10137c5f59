"""Memory limits per answer: an estimate before it starts, and a system limit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equimargin.formulations import Problem

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
"""Bytes of a unit, by its letter."""
DECLARED_COPIES = 12
"""Number of 8-byte numbers of a declared problem per entry of its largest matrix.

The numbers are the entries and indices in cvxpy and in the backend, and the factors,
which are as large again.
"""
SOLVED_COPIES = 2
"""Number of 8-byte numbers of a specialised solver per cached Gram entry.

The entry is cached in float64 and in float32.
"""
LARGEST_KEPT = 10**9
"""Size in bytes above which no specialised solver caches a Gram matrix.

Its entries are then recomputed blockwise.
"""


def parse_bytes(text: str) -> int:
    """Convert a text such as "500M" or "2G" to a number of bytes.

    Parameters
    ----------
    text : str
        Number with an optional unit K, M, G or T.

    Returns
    -------
    int
        Number of bytes.

    Raises
    ------
    ValueError
        If the text is anything else.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)B?", text.strip(), re.IGNORECASE)
    count = 0 if match is None else int(float(match[1]) * UNITS[match[2].upper()])
    if not count:
        raise ValueError(f"--memory must be a number of bytes such as 500M or 2G, not {text!r}")
    return count


def in_words(count: float) -> str:
    """Return a number of bytes as text with a unit.

    Parameters
    ----------
    count : float
        Number of bytes.

    Returns
    -------
    str
        Text such as "2 GB".
    """
    unit = next((unit for unit in "TGMK" if count >= UNITS[unit]), "")
    scaled = count / UNITS[unit]
    return f"{scaled:.3g} {unit}B" if scaled < 100 else f"{scaled:.0f} {unit}B"


def estimate(problem: Problem, declared: bool) -> int:
    """Estimate the memory of an answer in bytes, from its largest matrix.

    Parameters
    ----------
    problem : Problem
        Problem; its data are not counted.
    declared : bool
        True for a formulation and a backend, False for a specialised solver.

    Returns
    -------
    int
        Approximate number of bytes.
    """
    points, rows = problem.m, problem.p
    with_features = problem.explicit is not None
    width = min(points, problem.X.shape[1]) if with_features else points
    if declared:
        return 8 * DECLARED_COPIES * max(rows, points) * width
    gram = 8 * SOLVED_COPIES * points * width
    return gram if with_features else min(gram, LARGEST_KEPT)


@contextmanager
def limited(beside: int | None) -> Iterator[None]:
    """Limit the memory of this process in a context; larger requests raise MemoryError.

    The limit is that of data (RLIMIT_DATA), which Linux counts for all private memory;
    on other systems nothing is limited.

    Parameters
    ----------
    beside : int or None
        Limit in bytes, in addition to what the process has; None is unlimited.
    """
    taken = _taken()
    if sys.platform == "win32" or beside is None or taken is None:
        yield
        return
    # Imported here: the module exists on Unix only.
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = taken + beside
    resource.setrlimit(
        resource.RLIMIT_DATA,
        (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard),
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _taken() -> int | None:
    """Return the bytes of private memory of this process, None if unknown."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    match = re.search(
        r"^VmData:\s+(\d+) kB", status.read_text(encoding="utf-8", errors="replace"), re.MULTILINE
    )
    return None if match is None else int(match[1]) * UNITS["K"]
