"""Limits of memory for one answer: an estimate before it starts, and the operating system's own limit while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equimargin.formulations import Problem

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
"""Bytes of a unit by its letter."""
DECLARED_COPIES = 12
"""Numbers of 8 bytes that a declared problem needs for each entry of its largest matrix: those of cvxpy and of the backend with their
indices, and the factors, which are as large again.
"""
SOLVED_COPIES = 2
"""Numbers of 8 bytes that a specialised solver needs for each entry of a Gram matrix that it keeps: in float64 and in float32."""
LARGEST_KEPT = 10**9
"""Bytes above which no specialised solver keeps a Gram matrix: it computes its entries anew, tile by tile."""


def parse_bytes(text: str) -> int:
    """A number of bytes from words such as "500M" or "2G".

    Raises
    ------
    ValueError
        Anything else.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)B?", text.strip(), re.IGNORECASE)
    count = 0 if found is None else int(float(found[1]) * UNITS[found[2].upper()])
    if not count:
        raise ValueError(f"--memory must be a number of bytes such as 500M or 2G, not {text!r}")
    return count


def in_words(count: float) -> str:
    """A number of bytes as people write it."""
    unit = next((unit for unit in "TGMK" if count >= UNITS[unit]), "")
    many = count / UNITS[unit]
    return f"{many:.3g} {unit}B" if many < 100 else f"{many:.0f} {unit}B"


def estimate(problem: Problem, declared: bool) -> int:
    """About the bytes that an answer takes beside the data: of the largest matrix that is made for it.

    Parameters
    ----------
    declared : bool
        Whether it is a formulation for a backend; a specialised solver otherwise.
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
    """Let this process take no more than a number of bytes beside what it has; what asks for more gets a MemoryError.

    None is no limit. The limit is that of data (RLIMIT_DATA), which Linux counts for all private memory; elsewhere nothing is limited.
    """
    taken = _taken()
    if beside is None or taken is None:
        yield
        return
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
    """The bytes of private memory that this process has, where the operating system says so."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    found = re.search(r"^VmData:\s+(\d+) kB", status.read_text(), re.MULTILINE)
    return None if found is None else int(found[1]) * UNITS["K"]
