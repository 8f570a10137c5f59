"""Plug-ins: modules whose import enters families, formulations, solvers and documents.

An installed package names its modules in the entry-point group "equimargin.plugins"; the command line loads them, and those that `--plugin`
names. The project's own families of this kind, those of the documents and of the field, come in the same way.

    [project.entry-points."equimargin.plugins"]
    mine = "my_package.families"
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

GROUP = "equimargin.plugins"
"""The entry-point group of plug-ins."""
COMING_ALONG = {
    "equimargin.documents": "comes with equimargin, from the documents",
    "equimargin.shipped": "comes with equimargin, from the field",
}
"""The modules that enter families of the project's own as a user's would be, and what is said of where these come from."""


@dataclass(frozen=True)
class Plugin:
    """A plug-in: the module, and where it comes from in words.  failure : why it could not be loaded, a sentence; empty if it was."""

    module: str
    origin: str
    failure: str = ""


LOADED: dict[str, Plugin] = {}
"""All plug-ins that were loaded or could not be, by their modules."""


def load_shipped() -> None:
    """Load the families that come with the project: not with every command, because they are seldom asked for."""
    for module, origin in COMING_ALONG.items():
        import_module(module)
        LOADED[module] = Plugin(module, origin)


def load_installed() -> Iterator[str]:
    """Load the plug-ins of installed packages, each once.

    Yields
    ------
    A sentence about every plug-in that fails: the others work all the same.
    """
    for point in sorted(entry_points(group=GROUP)):
        if point.module in LOADED:
            continue
        origin = _origin(point)
        try:
            import_module(point.module)
        except Exception as failure:  # somebody else's module may fail in any way
            LOADED[point.module] = Plugin(point.module, origin, _sentence(failure))
            yield f"the plug-in {point.name} ({origin}) is left out: {LOADED[point.module].failure}"
        else:
            LOADED[point.module] = Plugin(point.module, origin)


def load(name: str) -> None:
    """Load a plug-in that is asked for by name.

    Parameters
    ----------
    name : of a module that can be imported, here or from the present folder; or of a file that ends in .py.

    Raises
    ------
    ValueError : it cannot be loaded; the sentence says why, with file and line.
    """
    path = Path(name)
    folder, module = (path.resolve().parent, path.stem) if path.suffix == ".py" else (Path.cwd(), name)
    if path.suffix == ".py" and not path.is_file():
        raise ValueError(f"the plug-in {name} is not there: --plugin takes a module, or a file that ends in .py")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))  # other processes get the path, and import the module in the same way
    try:
        found = import_module(module)
    except Exception as failure:  # somebody else's module may fail in any way
        raise ValueError(f"the plug-in {name} cannot be loaded: {_sentence(failure)}") from failure
    where = getattr(found, "__file__", None)
    if path.suffix == ".py" and (where is None or not path.samefile(where)):
        raise ValueError(f"the plug-in {name} has the name of another module, {where}: rename the file")
    LOADED.setdefault(module, Plugin(module, f"--plugin {name}"))


def origin_of(module: str) -> str:
    """Where what a module enters comes from, in words; empty for the project itself."""
    parents = [module.rsplit(".", cut)[0] for cut in range(module.count(".") + 1)]
    known = next((LOADED[parent] for parent in parents if parent in LOADED), None)
    if known is not None:
        return known.origin
    return "" if parents[-1] == "equimargin" else module


def _origin(point: EntryPoint) -> str:
    return point.module if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _sentence(failure: Exception) -> str:
    """What went wrong, and the line of the plug-in in which it did."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if "importlib" not in frame.filename]
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(failure).__name__}: {' '.join(str(failure).split())}{where}"
