"""Inventories of other packages for intersphinx, which need no network.

An inventory has the addresses of a package's names. These have only the names that our
pages mention.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

ADDRESSES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "cvxpy": "https://www.cvxpy.org/",
}
"""Addresses of the documentation of other packages."""
NAMES = {
    "python": {
        "bool": ("py:class", "library/functions.html#bool"),
        "bltin-boolean-values": ("std:label", "library/stdtypes.html#boolean-type-bool"),
        "callable": ("py:function", "library/functions.html#callable"),
        "dict": ("py:class", "library/stdtypes.html#dict"),
        "False": ("py:data", "library/constants.html#False"),
        "float": ("py:class", "library/functions.html#float"),
        "fractions.Fraction": ("py:class", "library/fractions.html#fractions.Fraction"),
        "int": ("py:class", "library/functions.html#int"),
        "iterable": ("std:term", "glossary.html#term-iterable"),
        "list": ("py:class", "library/stdtypes.html#list"),
        "mapping": ("std:term", "glossary.html#term-mapping"),
        "None": ("py:data", "library/constants.html#None"),
        "object": ("py:class", "library/functions.html#object"),
        "pathlib.Path": ("py:class", "library/pathlib.html#pathlib.Path"),
        "sequence": ("std:term", "glossary.html#term-sequence"),
        "str": ("py:class", "library/stdtypes.html#str"),
        "True": ("py:data", "library/constants.html#True"),
        "tuple": ("py:class", "library/stdtypes.html#tuple"),
    },
    "numpy": {
        "array_like": ("std:term", "glossary.html#term-array_like"),
        "numpy.ndarray": ("py:class", "reference/generated/numpy.ndarray.html"),
    },
    "cvxpy": {"cvxpy.Problem": ("py:class", "api_reference/cvxpy.problems.html")},
}
"""Kind and page of every name, by package."""


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write the inventories, and return the value of `intersphinx_mapping`."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for package, names in NAMES.items():
        file = folder / f"{package}.inv"
        file.write_bytes(inventory(package, names))
        mapping[package] = (ADDRESSES[package], str(file))
    return mapping


def inventory(package: str, names: Mapping[str, tuple[str, str]]) -> bytes:
    """Return an inventory in version 2 of Sphinx's format."""
    head = f"# Sphinx inventory version 2\n# Project: {package}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    lines = (f"{name} {kind} 1 {page} -\n" for name, (kind, page) in names.items())
    return head.encode() + zlib.compress("".join(lines).encode())
