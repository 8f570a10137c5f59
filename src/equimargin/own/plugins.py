"""Plug-ins: modules whose import registers families, formulations, solvers and documents.

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
"""Entry-point group of plug-ins."""
OF_THE_FIELD = ("equimargin.formulations.field.", "equimargin.solvers.field.")
"""Prefixes of the bundled modules whose families are in none of the documents."""


@dataclass(frozen=True)
class Plugin:
    """Plug-in.

    Parameters
    ----------
    module : str
        Name of the module.
    origin : str
        Description of its origin.
    failure : str, default ""
        Reason why it could not be loaded; empty if it was.
    """

    module: str
    origin: str
    failure: str = ""


LOADED: dict[str, Plugin] = {}
"""Plug-ins that were loaded or failed to load, by module."""


def load_installed() -> Iterator[str]:
    """Load the plug-ins of installed packages, each once.

    A plug-in that fails does not affect the others.

    Yields
    ------
    str
        Message on a plug-in that fails, or on a package with unreadable entry points.
    """
    try:
        points = sorted(entry_points(group=GROUP))
    # Python reads the entry points of all packages at once, and raises many exceptions
    # for a damaged file.
    except Exception as failure:
        yield (
            f"no installed plug-in is loaded, because {_damaged()} has damaged entry points: "
            f"{_sentence(failure)}; install it anew"
        )
        return
    for point in points:
        module = _module(point)
        origin = point.value if point.dist is None else _package(point.dist)
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
        # A third-party module may raise any exception.
        except Exception as failure:
            LOADED[module] = Plugin(module, origin, _sentence(failure))
            yield f"the plug-in {point.name} ({origin}) is left out: {LOADED[module].failure}"
        else:
            LOADED[module] = Plugin(module, origin)


def installed() -> tuple[str, ...]:
    """Return the modules of the loaded plug-ins of installed packages."""
    try:
        modules = dict.fromkeys(_module(point) for point in sorted(entry_points(group=GROUP)))
    # `load_installed` has reported the damaged package.
    except Exception:
        return ()
    return tuple(module for module in modules if module in LOADED and not LOADED[module].failure)


def load(name: str) -> None:
    """Load a plug-in by name.

    Parameters
    ----------
    name : str
        Module that can be imported, here or from the present folder; or a file that
        ends in .py.

    Raises
    ------
    ValueError
        If it cannot be loaded; the message has the reason with file and line.
    """
    path = Path(name)
    folder, module = (
        (path.resolve().parent, path.stem) if path.suffix == ".py" else (Path.cwd(), name)
    )
    if path.suffix == ".py" and not path.is_file():
        raise ValueError(
            f"the plug-in {name} does not exist; --plugin takes a module, or a file ending in .py"
        )
    if str(folder) not in sys.path:
        # Other processes receive the path, and import the module from it.
        sys.path.insert(0, str(folder))
    try:
        with kept_from_quitting():
            loaded = import_module(module)
    # A third-party module may raise any exception.
    except Exception as failure:
        raise ValueError(f"the plug-in {name} cannot be loaded: {_sentence(failure)}") from failure
    where = getattr(loaded, "__file__", None)
    if path.suffix == ".py" and (where is None or not path.samefile(where)):
        raise ValueError(
            f"the plug-in {name} has the name of another module, {where}: rename the file"
        )
    LOADED.setdefault(module, Plugin(module, f"--plugin {name}"))


def find_sources(name: str) -> list[Path]:
    """Return the files of a loaded plug-in, or of its package.

    Parameters
    ----------
    name : str
        Module, or file that ends in .py.
    """
    path = Path(name)
    if path.suffix == ".py":
        return [path]
    file = getattr(sys.modules[name.partition(".")[0]], "__file__", None)
    # A folder without __init__.py has no file.
    if file is None:
        file = sys.modules[name].__file__
    home = Path(str(file))
    return sorted(home.parent.rglob("*.py")) if home.name == "__init__.py" else [home]


def describe_origin(module: str) -> str:
    """Describe the origin of a module; empty for bundled families of the documents.

    Parameters
    ----------
    module : str
        Name of a module that registers something.

    Returns
    -------
    str
        Phrase.
    """
    parents = [module.rsplit(".", cut)[0] for cut in range(module.count(".") + 1)]
    known = next((LOADED[parent] for parent in parents if parent in LOADED), None)
    if known is not None:
        return known.origin
    if parents[-1] == "equimargin":
        return "bundled, not in the documents" if module.startswith(OF_THE_FIELD) else ""
    return module


def _module(point: EntryPoint) -> str:
    """Return the module of an entry point; empty if it names none.

    For those, Python raises an error, and the package importlib_metadata another: once
    it is imported, as Dask does, Python returns entry points of its class.
    """
    try:
        return point.module
    except (AttributeError, ValueError):
        return ""


def _package(installed: Distribution) -> str:
    """Return name and version of an installed package, if its metadata can be read."""
    try:
        parts = [
            str(installed.metadata[name])
            for name in ("Name", "Version")
            if name in installed.metadata
        ]
    # The metadata may be no text.
    except Exception:
        parts = []
    return " ".join(parts) if len(parts) == 2 else "an installed package of damaged metadata"


def _damaged() -> str:
    """Return the first installed package whose entry points cannot be read."""
    for installed in distributions():
        try:
            list(installed.entry_points)
        # Damaged files raise many exceptions.
        except Exception:
            return _package(installed)
    return "an installed package"


def _sentence(failure: BaseException) -> str:
    """Return the message of a failure, and the line of the plug-in that raised it."""
    frames = [
        frame
        for frame in traceback.extract_tb(failure.__traceback__)
        if "importlib" not in frame.filename
    ]
    where = (
        f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    )
    return f"{type(failure).__name__}: {' '.join(str(failure).split())}{where}"
