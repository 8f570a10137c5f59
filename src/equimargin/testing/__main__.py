"""Command line of the checks: `python -m equimargin.testing [MODULE:]NAME`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from types import ModuleType

from equimargin.formulations import REGISTRY, Kernel
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.formulations.numeric.arguments import did_you_mean, format_error, format_value
from equimargin.solvers import SOLVERS, Solver
from equimargin.testing import check_formulation, check_kernel, check_solver


def main(arguments: Sequence[str]) -> int:
    """Run a check and print one sentence about it.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of the command.

    Returns
    -------
    int
        Exit status: 0 if the check passes, 1 if it fails, 2 if the object is not found
        or cannot be checked.
    """
    needs_help = bool({"-h", "--help"} & set(arguments))
    if needs_help or len(arguments) != 1:
        print(
            "usage: python -m equimargin.testing [MODULE:]NAME - the id of a formulation, "
            "the name of a solver or a kernel, or a class or function without arguments "
            "that makes one"
        )
        return 0 if needs_help else 2
    module, _, name = arguments[0].rpartition(":")
    try:
        with kept_from_quitting():
            check = _named(module, name)
    except (ImportError, LookupError) as error:
        print(f"{arguments[0]} cannot be found: {error}")
        return 2
    except Exception as error:
        print(f"{arguments[0]} cannot be checked: {format_error(error)}")
        return 2
    try:
        refuted = check()
    except AssertionError as wrong:
        print(wrong)
        return 1
    except ValueError as impossible:
        print(f"{arguments[0]} cannot be checked: {impossible}")
        return 2
    print(f"{name} conforms" + (f": it is a control, and {refuted}" if refuted else ""))
    return 0


def _named(module: str, name: str) -> Callable[[], object]:
    """Return the check of a formulation, solver or kernel; import its module first."""
    home = import_module(module) if module else None
    if name in REGISTRY:
        return lambda: check_formulation(name)
    if name in SOLVERS:
        return lambda: check_solver(name)
    if name in KERNELS:
        return lambda: check_kernel(KERNELS[name]())
    target = getattr(home, name, None)
    known = _names_of(home) if home else [*REGISTRY, *SOLVERS, *KERNELS]
    if target is None:
        near = did_you_mean(name, known) or (
            f"; it has {', '.join(known) or 'none'}"
            if home
            else "; one of a module is named MODULE:NAME"
        )
        raise LookupError(
            f"no formulation, solver or kernel{f' of {module}' if module else ''} is called "
            f"{name or repr(name)}{near}"
        )
    # A class, or a function that makes a solver or a kernel, is called; a Solver may be
    # callable itself.
    instance = target
    if isinstance(target, type) or (callable(target) and not isinstance(target, Solver)):
        try:
            signature(target).bind()
        except TypeError as needed:
            raise ValueError(
                f"{name}() is {needed}, and a class or function that makes a solver or a kernel "
                f"takes none; formulations, solvers and kernels of {module}: "
                f"{', '.join(known) or 'none'}"
            ) from None
        instance = target()
    if isinstance(instance, Kernel):
        return lambda: check_kernel(instance)
    if not isinstance(instance, Solver):
        wrapped = (
            "`equimargin.adapters.from_estimator` makes one of it"
            if hasattr(instance, "fit")
            else "see `equimargin.solvers.Solver`"
        )
        raise ValueError(f"{format_value(instance)} is no Solver; {wrapped}")
    return lambda: check_solver(instance)


def _names_of(home: ModuleType) -> list[str]:
    """Return the names of formulations, solvers and kernels that a module registers or has."""
    entered = [id for id, entry in REGISTRY.items() if entry.module == home.__name__]
    entered += [solver.name for solver in SOLVERS.values() if solver.module == home.__name__]
    entered += [name for name in KERNELS if KERNELS.find_module(name) == home.__name__]
    return entered + [
        name
        for name, value in vars(home).items()
        if not name.startswith("_")
        and getattr(value, "__module__", home.__name__) == home.__name__
        and isinstance(value, Solver)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
