"""Faults seeded into every layer: the ordinary tests must detect every one.

    python -m campaigns.faults

They are in faults.toml, for all layers from the rows to the report of `compare`. Each
changes one text of a source in a temporary copy of the tree, where the tests named with
the fault run until the first one fails. Exit status 1 if no test fails with a fault, or
one fails without any fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from places import ALL_TESTS, ROOT

LONGEST = 3600
"""Time limit of the tests of one fault, in seconds of wall time."""
COPIED = (
    "formulations",
    "solvers",
    "proofs",
    "src",
    "tests",
    "examples",
    "conda",
    "pyproject.toml",
    "CHANGELOG.md",
    "Makefile",
    "README.md",
)


@dataclass(frozen=True)
class Fault:
    """Source change, and parts of the file names of the tests that must detect it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def read(name: str) -> tuple[Fault, ...]:
    """Return the faults of a TOML file in the folder of this module.

    A table is a changed file, and an entry of it a name with the text, its replacement,
    and tests.
    """
    table = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return tuple(
        Fault(name, file, old, new, tuple(tests))
        for file, entries in table.items()
        for name, (old, new, *tests) in entries.items()
    )


FAULTS = read("faults.toml")


def first_failure(tree: Path, tests: Sequence[str], caches: Path) -> str | None:
    """Return the first test that fails in a tree, or None; raise for any other error."""
    files = [
        str(path.relative_to(tree))
        for name in tests
        for path in (tree / "tests").rglob(f"test_{name}.py")
    ]
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(caches),
        "PYTHONPATH": str(tree / "src"),
        "EQUIMARGIN_PROFILE": "faults",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-m",
        ALL_TESTS,
        *files,
    ]
    answer = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=LONGEST
    )
    if answer.returncode == 0:
        return None
    found = re.search(r"^FAILED tests/(\S+)", answer.stdout, re.MULTILINE)
    if answer.returncode != 1 or found is None:
        raise RuntimeError(answer.stdout[-2000:] + answer.stderr[-2000:])
    return found[1]


def copied(target: Path) -> Path:
    """Copy the source tree, symbolic links as links, and return its folder."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, target / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(source, target / name)
    return target


def caught(fault: Fault, caches: Path) -> str | None:
    """Return the first test that fails with the fault, or None."""
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        path = tree / fault.file
        path.write_text(
            path.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8"
        )
        return first_failure(tree, fault.tests, caches)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests without any fault, then with each fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", help="only the faults whose files or names contain one of these"
    )
    names = parser.parse_args(arguments).names
    survivors = 0
    with tempfile.TemporaryDirectory() as caches:
        wanted = [
            fault
            for fault in FAULTS
            if not names or any(name in f"{fault.file} {fault.name}" for name in names)
        ]
        if not wanted:
            parser.error(f"no fault has a file or name that contains {' or '.join(names)}")
        tests = sorted({test for fault in wanted for test in fault.tests})
        with tempfile.TemporaryDirectory() as folder:
            broken = first_failure(copied(Path(folder)), tests, Path(caches))
        if broken is not None:
            print(f"without any fault this fails already: {broken}")
            return 1
        for fault in wanted:
            started = time.perf_counter()
            test = caught(fault, Path(caches))
            survivors += test is None
            print(
                f"{fault.file:<32} {fault.name:<52} {test or 'SURVIVES'}  "
                f"({time.perf_counter() - started:.0f} s)",
                flush=True,
            )
    print(f"{len(wanted)} faults, {survivors} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
