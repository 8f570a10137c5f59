"""Folders of the source tree and of public data, and imports of examples."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from equimargin.data import data_folder

ROOT = Path(__file__).resolve().parents[1]
SHARED = data_folder(ROOT.parent / "shared" / "data")
"""Folder of public data: next to the checkout, or that of `equimargin data fetch`."""

HANG = 600.0
"""Wall time after which another process counts as hanging, in seconds.

It is long enough for a busy machine.
"""

ALL_TESTS = "not mutants and not benchmark and not device"
"""Marker expression (`pytest -m`) of the tests of `make check-all`."""


def needs_data(*files: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test if one of these public files is absent."""
    absent = ", ".join(file for file in files if not (SHARED / file).exists())
    return pytest.mark.skipif(bool(absent), reason=f"{absent} of public data is absent")


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
