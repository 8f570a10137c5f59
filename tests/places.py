"""Folder of the source tree, and imports of examples."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]

HANG = 600.0
"""Wall time after which another process counts as hanging, in seconds.

It is long enough for a busy machine.
"""

ALL_TESTS = "not mutants and not benchmark and not device"
"""Marker expression (`pytest -m`) of the tests of `make check-all`."""


def example(name: str) -> ModuleType:
    """Return a newly executed module of examples/, by its name."""
    (file,) = (ROOT / "examples").rglob(f"{name}.py")
    return find_module(file)


def find_module(file: Path) -> ModuleType:
    """Return a newly executed module, by its file."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
