"""Folder of public data, and a mark of tests that need some of them."""

import pytest

from equimargin.data import data_folder
from places import ROOT

SHARED = data_folder(ROOT.parent / "shared" / "data")
"""Folder of public data: next to the checkout, or that of `equimargin data fetch`."""


def needs_data(*files: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test if one of these public files is absent."""
    absent = ", ".join(file for file in files if not (SHARED / file).exists())
    return pytest.mark.skipif(bool(absent), reason=f"{absent} of public data is absent")
