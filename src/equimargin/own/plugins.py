"""Plug-ins: modules whose import enters families, formulations, solvers and documents.

An installed package names its modules in the entry-point group "equimargin.plugins";
the command line loads them, and those that `--plugin` names.

    [project.entry-points."equimargin.plugins"]
    mine = "my_package.families"
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from pathlib import Path

from equimargin.formulations.declarations.user_functions import kept_from_quitting

GROUP = "equimargin.plugins"
"""The entry-point group of plug-ins."""
OF_THE_FIELD = ("equimargin.formulations.field.", "equimargin.solvers.field.")
"""How the names of the project's modules begin whose families no document prints."""


@dataclass(frozen=True)
class Plugin:
    """A plug-in: the module, and where it comes from in words.  failure : why it could not be loaded, a sentence; empty if it was."""

    module: str
    origin: str
    failure: str = ""


LOADED: dict[str, Plugin] = {}
"""All plug-ins that were loaded or could not be, by their modules."""


def load_installed() -> Iterator[str]:
    """Load the plug-ins of installed packages, each once.

    Yields
    ------
    A sentence about every plug-in that fails, the others work all the same; or about a package whose entry points cannot be read.
    """
    try:
        points = sorted(entry_points(group=GROUP))
    # Python reads those of all packages at once, and fails in many ways at a damaged
    # file
    except Exception as failure:
        yield (
            f"no installed plug-in is loaded, because {_damaged()} has damaged entry points: "
            f"{_sentence(failure)}; install it anew"
        )
        return
    for point in points:
        origin, module = _origin(point), _module(point)
        if not module:
            yield (
                f"the plug-in {point.name} ({origin}) is left out: {point.value!r} is not the "
                f"name of a module"
            )
        if not module or module in LOADED:
            continue
        try:
            with kept_from_quitting():
                import_module(module)
        except Exception as failure:  # somebody else's module may fail in any way
            LOADED[module] = Plugin(module, origin, _sentence(failure))
            yield f"the plug-in {point.name} ({origin}) is left out: {LOADED[module].failure}"
        else:
            LOADED[module] = Plugin(module, origin)


def installed() -> tuple[str, ...]:
    """The modules of the plug-ins of installed packages that were loaded."""
    try:
        modules = dict.fromkeys(_module(point) for point in sorted(entry_points(group=GROUP)))
    except Exception:  # of a damaged package, of which `load_installed` has spoken
        return ()
    return tuple(module for module in modules if module in LOADED and not LOADED[module].failure)


def load(name: str) -> None:
    """Load a plug-in that is asked for by name.

    Parameters
    ----------
    name : str
        Of a module that can be imported, here or from the present folder; or of a file
        that ends in .py.

    Raises
    ------
    ValueError
        It cannot be loaded; the sentence says why, with file and line.
    """
    path = Path(name)
    folder, module = (
        (path.resolve().parent, path.stem) if path.suffix == ".py" else (Path.cwd(), name)
    )
    if path.suffix == ".py" and not path.is_file():
        raise ValueError(
            f"the plug-in {name} is not there: --plugin takes a module, or a file that ends in .py"
        )
    if str(folder) not in sys.path:
        sys.path.insert(
            0, str(folder)
        )  # other processes get the path, and import the module in the same way
    try:
        with kept_from_quitting():
            found = import_module(module)
    except Exception as failure:  # somebody else's module may fail in any way
        raise ValueError(f"the plug-in {name} cannot be loaded: {_sentence(failure)}") from failure
    where = getattr(found, "__file__", None)
    if path.suffix == ".py" and (where is None or not path.samefile(where)):
        raise ValueError(
            f"the plug-in {name} has the name of another module, {where}: rename the file"
        )
    LOADED.setdefault(module, Plugin(module, f"--plugin {name}"))


def find_sources(name: str) -> list[Path]:
    """The files of a plug-in that was loaded: its own, or those of the package that it belongs to.

    Parameters
    ----------
    name : str
        Of a module, or of a file that ends in .py.
    """
    path = Path(name)
    if path.suffix == ".py":
        return [path]
    file = getattr(sys.modules[name.partition(".")[0]], "__file__", None)
    if file is None:  # a folder without __init__.py
        file = sys.modules[name].__file__
    home = Path(str(file))
    return sorted(home.parent.rglob("*.py")) if home.name == "__init__.py" else [home]


def describe_origin(module: str) -> str:
    """Where what a module enters comes from, in words; empty for what the project has of the documents."""
    parents = [module.rsplit(".", cut)[0] for cut in range(module.count(".") + 1)]
    known = next((LOADED[parent] for parent in parents if parent in LOADED), None)
    if known is not None:
        return known.origin
    if parents[-1] == "equimargin":
        return "comes with equimargin, from the field" if module.startswith(OF_THE_FIELD) else ""
    return module


def _module(point: EntryPoint) -> str:
    """The module that an entry point names; empty where it names none, which Python says otherwise than the package importlib_metadata.

    Once that package is imported, as Dask does, the entry points that Python finds are its own.
    """
    try:
        return point.module
    except (AttributeError, ValueError):
        return ""


def _origin(point: EntryPoint) -> str:
    return point.value if point.dist is None else _package(point.dist)


def _package(installed: Distribution) -> str:
    """The name and the version of an installed package, as far as its metadata can be read."""
    try:
        found = [
            str(installed.metadata[name])
            for name in ("Name", "Version")
            if name in installed.metadata
        ]
    except Exception:  # a file that is no text
        found = []
    return " ".join(found) if len(found) == 2 else "an installed package of damaged metadata"


def _damaged() -> str:
    """The first installed package whose entry points cannot be read."""
    for installed in distributions():
        try:
            list(installed.entry_points)
        except Exception:  # as above
            return _package(installed)
    return "an installed package"


def _sentence(failure: BaseException) -> str:
    """What went wrong, and the line of the plug-in in which it did."""
    frames = [
        frame
        for frame in traceback.extract_tb(failure.__traceback__)
        if "importlib" not in frame.filename
    ]
    where = (
        f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    )
    return f"{type(failure).__name__}: {' '.join(str(failure).split())}{where}"
