"""Folders of the tree, its examples, and the data that a checkout may have next to it."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
"""Public data sets that are not in the project.

Tests that need them are skipped with a reason if the folder is missing.
"""

HANG = 600.0
"""Time limit of waiting for another process, in seconds of wall time.

After that the process is taken to hang, even on a busy machine.
"""

ALL_TESTS = "not mutants and not benchmark"
"""Expression of pytest for the tests of `make check-all`."""


def example(name: str) -> ModuleType:
    """Return a module of examples/ by its name, run anew."""
    (file,) = (ROOT / "examples").rglob(f"{name}.py")
    return module_of(file)


def module_of(file: Path) -> ModuleType:
    """Return a module by its file, run anew."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
