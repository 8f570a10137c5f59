"""Problems and data by name: the id of a formulation, or MODULE:NAME."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.proofs.equivalence import Statement


def statement(text: str) -> Statement:
    """Return the problem of a name.

    Parameters
    ----------
    text : str
        Id of a formulation; or MODULE:FUNCTION, a function of data or without parameters
        that returns a cvxpy problem. Modules of the current folder are found, too, and a
        module may be a file that ends in .py.

    Returns
    -------
    str or callable
        Problem.

    Raises
    ------
    ValueError
        If there is no such id, module or function.
    """
    if text in REGISTRY:
        return text
    if ":" not in text:
        near = did_you_mean(text, list(REGISTRY)) or "; `equimargin list` has all of them."
        raise ValueError(
            f"{text!r} is no formulation{near} A function of yours is given as MODULE:FUNCTION "
            f"or FILE.py:FUNCTION."
        )
    function = _member(text)
    if not callable(function):
        raise ValueError(
            f"{text} is no function, but {type(function).__name__}: a problem is a function "
            f"that returns a cvxpy problem"
        )
    return function  # type: ignore[no-any-return]


def strategy(text: str) -> Any:
    """Return the hypothesis strategy of a name.

    Parameters
    ----------
    text : str
        MODULE:STRATEGY.

    Raises
    ------
    ValueError
        If there is no such module or strategy.
    """
    from hypothesis.strategies import SearchStrategy

    if ":" not in text:
        raise ValueError(f"--data {text!r} is not MODULE:STRATEGY")
    value = _member(text)
    if not isinstance(value, SearchStrategy):
        raise ValueError(
            f"{text} must be a hypothesis strategy of the data of both problems, not "
            f"{type(value).__name__}"
        )
    return value


def _member(text: str) -> Any:
    name, _, member = text.rpartition(":")
    module = _imported(name)
    if not hasattr(module, member):
        near = did_you_mean(member, [entry for entry in vars(module) if not entry.startswith("_")])
        raise ValueError(f"the module {name} has no {member!r}{near}")
    return getattr(module, member)


def _imported(name: str) -> Any:
    """Import a module, which may be a file, or a module of the current folder."""
    path = Path(name)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise ValueError(f"the file {name} does not exist")
    folder, module = (str(path.resolve().parent), path.stem) if is_file else ("", name)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with kept_from_quitting():
            imported = import_module(module)
    # A user's module may raise any exception.
    except Exception as failure:
        raise ValueError(
            f"the module {name!r} cannot be imported: {type(failure).__name__}: {failure}"
        ) from failure
    # Python returns the module that was imported first under a name.
    where = getattr(imported, "__file__", None)
    if is_file and (where is None or Path(where).resolve() != path.resolve()):
        raise ValueError(
            f"the file {name} has the name of another module, {where}; rename the file"
        )
    return imported
